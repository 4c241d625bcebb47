package forge

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/sluicegate/sluice/plan"
)

const (
	// landingAge is how long a snapshot goes on naming what came.
	landingAge = 24 * time.Hour
	// maxLandings is how many commits of one base are looked into at once, and how many are named.
	maxLandings = 5
	// maxLandingBases is of how many bases that moved a look reads what came to them. The others have their turn at later looks.
	maxLandingBases = 20
	// landingWait is how long a comparison may be missing before its branch counts as rewritten: GitHub does not have a new tip
	// everywhere at once.
	landingWait = 10 * time.Minute
)

// tipMemory is where a base stood at the last look, and what came to it otherwise than by our merges.
type tipMemory struct {
	sha      plan.SHA
	at       time.Time
	landings []plan.Landing
}

// addLandings names what reached each base otherwise than by our own merges. A windowed branch is no such base: commits reach it by
// promotion. It costs a comparison for each tip that moved, and one
// more for each such commit; a quiet look costs nothing. What came while sluice did not run is not seen.
func (l *observation) addLandings(ctx context.Context, s *plan.Snapshot) error {
	var moved []plan.Branch
	for name, b := range s.Bases {
		if l.seen.isWindowed(name) || b.Unread.Is() {
			continue
		}
		if seen := l.seenTip(name, &b); seen.sha != "" && seen.sha != b.Tip && b.Policy != nil {
			moved = append(moved, name)
		} else {
			keptTips.put(l.memory, name, tipMemory{sha: b.Tip, at: l.at, landings: b.Landings})
		}
		s.Bases[name] = b
	}
	slices.Sort(moved)
	order := l.inTurn(partLandings, indices(moved), func(i int) string { return string(moved[i]) })
	for _, i := range order[:min(len(order), maxLandingBases)] {
		if err := l.addLandingsTo(ctx, s, moved[i]); err != nil {
			return err
		}
	}
	return nil
}

// seenTip is where a base stood at the last look. What came lately is filled in.
func (l *observation) seenTip(name plan.Branch, b *plan.Base) tipMemory {
	seen, _ := keptTips.get(l.memory, name)
	b.Landings = nil
	for _, c := range seen.landings {
		if l.at.Sub(c.At) < landingAge && len(b.Landings) < maxLandings {
			b.Landings = append(b.Landings, c)
		}
	}
	return seen
}

// addLandingsTo names what reached one base. Where it cannot be read, the base is held against where it stood then by a later look.
func (l *observation) addLandingsTo(ctx context.Context, s *plan.Snapshot, name plan.Branch) error {
	key, b := l.key(partLandings, string(name)), s.Bases[name]
	if l.rests(key).Is() {
		return nil
	}
	l.hasTurn(partLandings, string(name))
	seen, _ := keptTips.get(l.memory, name)
	fresh, err := l.landingsSince(ctx, seen, b.Tip)
	if err != nil {
		_, err = l.failed(ctx, key, whatLandings, err)
		return err
	}
	l.wasRead(key)
	b.Landings = append(fresh, b.Landings...)[:min(maxLandings, len(fresh)+len(b.Landings))]
	keptTips.put(l.memory, name, tipMemory{sha: b.Tip, at: l.at, landings: b.Landings})
	s.Bases[name] = b
	return nil
}

// landingsSince lists what moved a base from where it was seen to its tip, the newest first, our own merges left out.
func (l *observation) landingsSince(ctx context.Context, seen tipMemory, tip plan.SHA) ([]plan.Landing, error) {
	whole, err := l.between(ctx, seen.sha, tip)
	if errors.Is(err, errNotShown) && l.at.Sub(seen.at) < landingWait {
		return nil, err
	}
	if err != nil && !errors.Is(err, errNotShown) {
		return nil, err
	}
	if whole.GetStatus() != "ahead" { // rewritten: what it brought cannot be told apart
		return []plan.Landing{{SHA: tip, At: l.at}}, nil
	}
	line, reached := firstParents(whole, seen.sha, tip)
	diff := whole // of the only commit there is, if there is one alone
	if len(line) != 1 {
		diff = nil
	}
	var landings []plan.Landing
	for _, c := range line {
		if _, ours := keptMade.get(l.memory, plan.SHA(c.GetSHA())); ours {
			continue
		}
		if len(landings) == maxLandings {
			break
		}
		one, err := l.landingOf(ctx, c, seen.at, diff)
		if err != nil {
			return nil, err
		}
		landings = append(landings, one)
	}
	if !reached && len(landings) < maxLandings { // more than is read
		landings = append(landings, plan.Landing{SHA: tip, At: l.at})
	}
	return landings, nil
}

// firstParents is the line of commits that a branch went, the newest first, and whether it was seen back to its start.
func firstParents(c *github.CommitsComparison, from, tip plan.SHA) (line []*github.RepositoryCommit, reached bool) {
	known := map[string]*github.RepositoryCommit{}
	for _, one := range c.Commits {
		known[one.GetSHA()] = one
	}
	for at := string(tip); at != string(from); {
		one := known[at]
		if one == nil || len(one.Parents) == 0 {
			return line, false
		}
		line = append(line, one)
		at = one.Parents[0].GetSHA()
	}
	return line, true
}

// landingOf is one commit with what it changed. Its date is its author's word, so it counts only as far as it lies between the look
// that did not see the commit and the one that does. diff is what it changed; nil if that is not known yet.
func (l *observation) landingOf(ctx context.Context, c *github.RepositoryCommit, after time.Time, diff *github.CommitsComparison) (plan.Landing, error) {
	landing := plan.Landing{SHA: plan.SHA(c.GetSHA()), By: plan.Login(c.GetAuthor().GetLogin()), At: c.GetCommit().GetCommitter().GetDate().UTC()}
	if landing.By == "" {
		landing.By = plan.Login(oneLine(c.GetCommit().GetAuthor().GetName()))
	}
	if landing.At.Before(after) {
		landing.At = after
	}
	if landing.At.After(l.at) {
		landing.At = l.at
	}
	if diff == nil {
		var err error
		if diff, err = l.compared(ctx, plan.SHA(c.Parents[0].GetSHA()), landing.SHA, 1); err != nil {
			return landing, err
		}
	}
	landing.Files, landing.Complete = comparedFiles(diff, landing.SHA)
	return landing, nil
}
