package forge

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/branches"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// A pull request's version of the file is anybody's text. It is checked as soon as it was read, one text at a time in the process, and
// dropped: what is kept is the outcome, bounded. So strangers cost one text's check, however many pull requests they open.

// proposed is what a head makes of the rules file. A head's text never changes; what it changes does, with the base's file and with time.
type proposed struct {
	blob   plan.SHA
	change *plan.RulesChange
	base   plan.SHA // the file of the base that it was compared with
	week   int64    // that it was compared in
}

// changeKey is a head and what it is to be merged into.
type changeKey struct {
	head plan.SHA
	base plan.Branch
}

// addChanges reads what pull requests make of the repository's file: those that are seen to touch it, and those of whose
// files not all are known but whose head has another text than the base.
func (l *observation) addChanges(ctx context.Context, s *plan.Snapshot) error {
	var read, stale []int
	for i := range s.Pulls {
		p := &s.Pulls[i]
		if p.Unread.Is() {
			continue
		}
		touches, deletes := touchesRules(p.Files)
		switch seen, known := keptChanges.Get(l.Memory, changeKey{p.Head, p.Base}); {
		case deletes:
			p.Rules = &plan.RulesChange{Deleted: true}
		case (touches || !p.Complete) && known:
			fresh := seen.fresh(s, p.Base)
			if !fresh {
				seen.change = seen.change.Uncompared()
			}
			if seen.addTo(p, s.Bases[p.Base].File); p.Rules != nil && !fresh { // else there is nothing to compare
				stale = append(stale, i)
			}
		case touches || !p.Complete:
			read = append(read, i)
		}
	}
	read = append(read, stale[:min(len(stale), maxStale)]...) // the others with the next looks, so that each costs four points at most
	return look.InHalves(read, maxTexts, func(some []int) error { return l.readChanges(ctx, s, some) })
}

// maxTexts is how many texts are asked for in one query: an answer has a megabyte at most. maxStale is how many are read again in one look
// because the base has another file, or a week began.
const (
	maxTexts = 4
	maxStale = 4 * maxTexts
)

// touchesRules reports whether the repository's file is among the changed ones, and whether nothing remains of it.
func touchesRules(files []plan.File) (touches, deletes bool) {
	for _, f := range files {
		switch {
		case f.Path == config.File && f.Kind == plan.Deleted:
			deletes = true
		case f.Path == config.File:
			touches = true
		case f.Old == config.File && f.Kind == plan.Renamed:
			deletes = true
		}
	}
	return touches, deletes && !touches
}

// readChanges reads the file at some heads. That a head has none is known only beside its tree.
func (l *observation) readChanges(ctx context.Context, s *plan.Snapshot, some []int) error {
	names := make([]string, 2*len(some))
	for n, i := range some {
		names[n], names[len(some)+n] = string(s.Pulls[i].Head)+":"+config.File, look.TreeOf(s.Pulls[i].Head)
	}
	named, err := l.AskNamed(ctx, look.ObjectsQuery(l.Repo.Owner, l.Repo.Name, names, look.ObjectText))
	if l.Divides(ctx, err, len(some)) {
		return err
	}
	for n, i := range some {
		p, bad := &s.Pulls[i], err
		var o *look.RawObject
		if bad == nil {
			o, bad = client.Find[look.RawObject](named, fmt.Sprintf("o%d", n))
		}
		if bad == nil && o == nil {
			bad = look.Shown(named, fmt.Sprintf("o%d", len(some)+n))
		}
		if bad == nil {
			l.addChange(s, p, o)
			continue
		}
		if p.Rules != nil { // known from an earlier look
			continue
		}
		var ends error
		if p.Unread, ends = l.Failed(ctx, l.pullKey(p), whatText, bad); ends != nil {
			return ends
		}
	}
	return nil
}

// addChange notes what one head makes of the file. That a head has none is asked again.
func (l *observation) addChange(s *plan.Snapshot, p *plan.Pull, o *look.RawObject) {
	touches, _ := touchesRules(p.Files)
	base := s.Bases[p.Base]
	switch {
	case o != nil:
		seen := proposed{plan.SHA(o.Oid), l.f.verify(o, base.Policy, s.At), base.File, weekOf(s, p.Base)}
		keptChanges.Put(l.Memory, changeKey{p.Head, p.Base}, seen)
		seen.addTo(p, base.File)
	case touches:
		p.Rules = l.f.verify(nil, nil, s.At)
	default:
		proposed{change: &plan.RulesChange{Deleted: true}}.addTo(p, base.File)
	}
}

// fresh reports whether what was compared is what would be compared now. What is invalid is compared with nothing.
func (c proposed) fresh(s *plan.Snapshot, base plan.Branch) bool {
	return c.change.Outline == nil || c.base == s.Bases[base].File && c.week == weekOf(s, base)
}

func weekOf(s *plan.Snapshot, base plan.Branch) int64 {
	return plan.Foreseen(s.At, s.Bases[base].Policy).From.Unix()
}

// addTo notes what a pull request makes of the file, unless its list is not whole and the file is the base's.
func (c proposed) addTo(p *plan.Pull, atTip plan.SHA) {
	if touches, _ := touchesRules(p.Files); touches || c.blob != atTip {
		p.Rules = c.change
	}
}

// verify checks a proposed text. Of what is wrong the first error is kept: nobody is shown more.
func (f *Forge) verify(o *look.RawObject, base *config.Policy, at time.Time) *plan.RulesChange {
	if refusal, bad := branches.Unparsable(o); bad {
		return &plan.RulesChange{Findings: refusal.Findings}
	}
	f.verifying.Lock()
	defer f.verifying.Unlock()
	outline, findings := config.Verify([]byte(*o.Text), base, plan.Foreseen(at, base))
	o.Text = nil
	if outline != nil {
		return &plan.RulesChange{Outline: outline}
	}
	first := slices.IndexFunc(findings, config.Finding.IsError)
	return &plan.RulesChange{Findings: slices.Clone(findings[first : first+1])}
}
