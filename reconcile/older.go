package reconcile

import (
	"context"

	"github.com/sluicegate/sluice/bound"
	"github.com/sluicegate/sluice/plan"
)

// GitHub's reads lag its webhooks. A read that is older than an event has not answered it: for what that event named, the event counts as
// if it came after the read. So nothing is opened there on it, all else goes on, and it is read again soon (package bound says when).

// announced is how much was announced by now: who reads from now on is to show all of it.
func (k *reading) announced() uint64 {
	k.loop.mu.Lock()
	defer k.loop.mu.Unlock()
	return k.entry.bounds.Known()
}

// compare voids what a read is too old for.
func (k *reading) compare(r bound.Read) {
	k.loop.mu.Lock()
	defer k.loop.mu.Unlock()
	names := k.entry.bounds.Compare(r, k.loop.now().Tick)
	for _, n := range names {
		k.entry.events.Add(n)
		unknown(r.Snapshot, n.Pull)
	}
	if len(names) > 0 {
		k.log.Info("GitHub's answer is older than its webhooks", "parts", len(names))
	}
}

// unknown makes a pull request that a read is too old for unknown, so that it keeps no other from its turn. One that is green stays so
// until it is known whether it may: else each event would cost two statuses.
func unknown(s plan.Snapshot, number int) {
	for i := range s.Pulls {
		p := &s.Pulls[i]
		now, _ := plan.Latest(p.Ours)
		if p.Number == number && !p.Unread.Is() && (now.State != plan.Success || now.By != s.Us) {
			p.Unread = plan.Unread{Reason: wordOlder, Passing: true}
		}
	}
}

// older reports whether the last read was too old for something.
func (k *reading) older() bool {
	k.loop.mu.Lock()
	defer k.loop.mu.Unlock()
	return k.entry.bounds.Older()
}

// confirm asks by REST about what reads have been too old for over and over: then that is the truth. An answer that fails is none.
func (k *reading) confirm(ctx context.Context) {
	l := k.loop
	l.mu.Lock()
	doubts := k.entry.bounds.Doubts(l.now().Tick)
	l.mu.Unlock()
	if len(doubts) > 0 {
		k.log.Warn("GitHub's answers have been older than its webhooks for a minute; asking otherwise", "parts", len(doubts))
	}
	ctx, cancel := context.WithTimeout(ctx, confirmMost)
	defer cancel()
	for _, d := range doubts {
		truth, err := l.forge.Confirm(ctx, k.repo, d)
		if err != nil {
			k.log.Warn("what a webhook said cannot be confirmed", "error", err)
			continue
		}
		l.mu.Lock()
		k.entry.bounds.Answer(d, truth, l.now().Tick)
		l.mu.Unlock()
	}
}

// scheduleOlder asks for another look at what the last read was too old for. The caller holds the lock.
func (k *look) scheduleOlder() {
	e := k.entry
	at, wanted := e.bounds.Again()
	if !wanted || k.at.IsZero() { // of a look that read nothing something else says when to read again
		return
	}
	e.due = min(e.due, at)
	e.eventAt = min(e.eventAt, e.event) // it is not answered
}
