package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
)

// What opens rests on details of the last half minute. In a repository with many open pull requests, or where GitHub's pace lets its merges
// go one after the other, they are older by the time that one's turn comes: just those pull requests are read again then, and it is
// decided again with all else as it was read before.

// wholeAsk is what a look at the whole repository asks for: beside what is open, the details of what events have named since the last look that
// answered them, of what falls due, and of what rests on checks and reviews where an event may have been about any of it, where it may go
// now, and at each resync, as events are lost.
func (k *look) wholeAsk() forge.Ask {
	k.loop.mu.Lock()
	defer k.loop.mu.Unlock()
	e := k.entry
	ask := forge.Ask{Rules: k.rules, Rulesets: k.rules && e.bases != nil, Merged: e.merged[:min(len(e.merged), forge.MaxPulls)]}
	ask.Full = e.attention.full(k.loop.now().Wall, k.rules || e.events.Whole > e.answered || e.opening)
	named, heads := e.events.Named()
	ask.Full, ask.Heads = append(ask.Full, named...), heads
	return ask
}

// readBefore is what was read before, if what was decided on it is not done; else the zero value.
func (k *look) readBefore() plan.Snapshot {
	k.loop.mu.Lock()
	defer k.loop.mu.Unlock()
	if k.entry.desired == nil {
		return plan.Snapshot{}
	}
	return k.entry.desired.whole
}

// readPart reads some pull requests again, and gives what was read before with them.
func (k *look) readPart(ctx context.Context, before plan.Snapshot, merged []int) (plan.Snapshot, int64, error) {
	numbers := k.part
	k.loop.mu.Lock()
	for _, n := range numbers { // it may show others than the observation before it did
		delete(k.entry.open, n)
	}
	k.loop.mu.Unlock()
	s, notes, err := k.read(ctx, forge.Ask{Pulls: numbers, Full: k.outdated(before.Pulls, numbers), Merged: merged})
	if err != nil {
		return plan.Snapshot{}, 0, fmt.Errorf("read again: %w", err)
	}
	whole := before
	whole.At, whole.Skew, whole.Refusals, whole.Repairs, whole.Merges = s.At, s.Skew, s.Refusals, s.Repairs, s.Merges
	whole.Debts, whole.Others, whole.Sharers, whole.Lacking, whole.Hour = s.Debts, s.Others, s.Sharers, s.Lacking, s.Hour
	whole.Closed, whole.Forgotten = s.Closed, nil
	if !before.Again.IsZero() && before.Again.Before(s.At) {
		whole.Again = s.At // nobody has asked since
	}
	whole.Again = plan.Soonest(whole.Again, s.Again)
	whole.Bases = maps.Clone(before.Bases)
	maps.Copy(whole.Bases, s.Bases)
	whole.Pulls = slices.Clone(s.Pulls)
	kept := map[int]bool{}
	for _, p := range before.Pulls {
		if !slices.Contains(numbers, p.Number) {
			whole.Pulls, kept[p.Number] = append(whole.Pulls, p), true
		}
	}
	whole.Undone = map[int]int64{}
	maps.Copy(whole.Undone, before.Undone)
	maps.Copy(whole.Undone, s.Undone)
	if s.Overridable() {
		whole.Commands = s.Commands
	}
	if s.Commands != nil { // who may was not asked anew of those on others
		whole.Commands = append(slices.DeleteFunc(slices.Clone(s.Commands), func(c plan.Command) bool { return kept[c.Pull] }),
			slices.DeleteFunc(slices.Clone(before.Commands), func(c plan.Command) bool { return !kept[c.Pull] })...)
	}
	return whole, notes, nil
}

// outdated are those of some pull requests whose details are too old for what is about to be written.
func (k *look) outdated(pulls []plan.Pull, numbers []int) (old []int) {
	for _, p := range pulls {
		if slices.Contains(numbers, p.Number) && !p.Read.IsZero() && k.loop.now().Wall.Sub(p.Read) >= agedAfter {
			old = append(old, p.Number)
		}
	}
	return old
}

// numbersOf is the pull requests that some writes are about, and those that share a head with one of them, as many as may be asked for.
func numbersOf(pulls []plan.Pull, some []*outbox.Write) []int {
	heads := map[plan.SHA]bool{}
	var numbers []int
	for _, w := range some {
		if about := w.Action.About(); len(numbers)+len(about) <= forge.MaxPulls || len(numbers) == 0 {
			heads[w.Action.Pinned().SHA] = true
			numbers = append(numbers, about...)
		}
	}
	numbers = numbers[:min(len(numbers), forge.MaxPulls)] // more than that share one head: the first speak for it
	for _, p := range pulls {
		if heads[p.Head] && !slices.Contains(numbers, p.Number) && len(numbers) < forge.MaxPulls {
			numbers = append(numbers, p.Number)
		}
	}
	return numbers
}
