package branches

import (
	"context"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

const (
	// landingAge is how long a snapshot goes on naming what came.
	landingAge = 24 * time.Hour
	// maxLandings is how many commits of one base are looked into at once, and how many are named.
	maxLandings = 5
	// maxMade is how many merges of ours between two looks are followed back without a comparison.
	maxMade = 100
	// landingWait is how long a comparison is tried again: GitHub does not have a new tip everywhere at once.
	landingWait = 10 * time.Minute
)

// tipMemory is where a base stood at the last look, and what came to it otherwise than by our merges.
type tipMemory struct {
	sha      plan.SHA
	at       time.Time
	landings []plan.Landing
}

// AddLandings names what reached each base otherwise than by our own merges, by the comparison that tells what a push changed. A windowed
// branch is no such base: commits reach it by promotion. What cannot be compared for long costs a line of the log, and so does what came while
// sluice did not run.
func (l *Reader) AddLandings(ctx context.Context, s *plan.Snapshot) error {
	for name, b := range s.Bases {
		if l.seen.isWindowed(name) || b.Unread.Is() {
			continue
		}
		seen, _ := keptTips.Get(l.Memory, name)
		now := tipMemory{sha: b.Tip, at: l.At}
		b.Landings = nil
		if seen.sha != "" && seen.sha != b.Tip && b.Policy != nil {
			fresh, err := l.landingsSince(ctx, seen, b.Tip)
			switch {
			case err == nil:
				b.Landings = fresh
			case look.EndsLook(ctx, err):
				return err
			case l.At.Sub(seen.at) < landingWait:
				now = seen // a later look tries again
			}
		}
		for _, c := range seen.landings {
			if l.At.Sub(c.At) < landingAge && len(b.Landings) < maxLandings {
				b.Landings = append(b.Landings, c)
			}
		}
		now.landings = b.Landings
		keptTips.Put(l.Memory, name, now)
		s.Bases[name] = b
	}
	return nil
}

// landingsSince lists what moved a base from where it was seen to its tip, the newest first, our own merges left out.
func (l *Reader) landingsSince(ctx context.Context, seen tipMemory, tip plan.SHA) (landings []plan.Landing, err error) {
	if l.madeAll(seen.sha, tip) {
		return nil, nil
	}
	whole, err := l.between(ctx, seen.sha, tip)
	if err != nil {
		return nil, err
	}
	unknown := plan.Landing{SHA: tip, At: l.At}
	if look.Ancestry(whole.Status) != look.AncestryAhead { // rewritten: what it brought cannot be told apart
		return []plan.Landing{unknown}, nil
	}
	line, reached := firstParents(whole, seen.sha, tip)
	for _, c := range line {
		if _, ours := KeptMade.Get(l.Memory, plan.SHA(c.SHA)); ours {
			continue
		}
		if len(landings) == maxLandings {
			return landings, nil
		}
		diff := whole // of the only commit there is, if there is one alone
		if len(line) != 1 {
			if diff, err = l.compared(ctx, plan.SHA(c.Parents[0].SHA), plan.SHA(c.SHA), 1); err != nil {
				return landings, err
			}
		}
		landings = append(landings, l.landingOf(c, seen.at, diff))
	}
	if !reached && len(landings) < maxLandings { // more than is read
		landings = append(landings, unknown)
	}
	return landings, nil
}

// madeAll reports whether merges of ours are known to be all that brought a base from one tip to another: what became of them is asked for
// anyway (Ask.Merged), and says on what each came down.
func (l *Reader) madeAll(from, to plan.SHA) bool {
	for range maxMade {
		if to == from {
			return true
		}
		parent, ours := KeptMade.Get(l.Memory, to)
		if !ours || parent == "" {
			return false
		}
		to = parent
	}
	return false
}

// firstParents is the line of commits that a branch went, the newest first, and whether it was seen back to its start.
func firstParents(c *look.Comparison, from, tip plan.SHA) (line []*look.RestCommit, reached bool) {
	known := map[string]*look.RestCommit{}
	for i, one := range c.Commits {
		known[one.SHA] = &c.Commits[i]
	}
	for at := string(tip); at != string(from); {
		one := known[at]
		if one == nil || len(one.Parents) == 0 {
			return line, false
		}
		line = append(line, one)
		at = one.Parents[0].SHA
	}
	return line, true
}

// landingOf is one commit with what it changed. Its date is its author's word, so it counts only as far as it lies between the look
// that did not see the commit and the one that does.
func (l *Reader) landingOf(c *look.RestCommit, after time.Time, diff *look.Comparison) plan.Landing {
	landing := plan.Landing{SHA: plan.SHA(c.SHA), By: plan.Login(c.Author.Login), At: c.Commit.Committer.Date.UTC()}
	if landing.By == "" {
		landing.Name = client.OneLine(c.Commit.Author.Name)
	}
	if landing.At.Before(after) {
		landing.At = after
	}
	if landing.At.After(l.At) {
		landing.At = l.At
	}
	landing.Files, landing.Complete = look.ComparedFiles(diff, landing.SHA)
	return landing
}
