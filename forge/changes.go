package forge

import (
	"context"
	"fmt"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// headKey names what a head makes of the rules file. A head's text never changes.
type headKey struct {
	repo repoKey
	head plan.SHA
}

// addChanges reads what pull requests make of the repository's file: those that are seen to touch it, and those of whose
// files not all are known but whose head has another text than the base.
func (l *observation) addChanges(ctx context.Context, s *plan.Snapshot) error {
	var read []int
	for i := range s.Pulls {
		p := &s.Pulls[i]
		if p.Unread.Is() {
			continue
		}
		touches, deletes := touchesRules(p.Files)
		switch change, known := l.f.changes.get(headKey{keyOf(l.repo), p.Head}); {
		case deletes:
			p.Rules = &plan.RulesChange{Deleted: true}
		case touches && known && change != nil:
			p.Rules = change
		case touches || !p.Complete:
			read = append(read, i)
		}
	}
	return inHalves(read, maxTexts, func(some []int) error { return l.readChanges(ctx, s, some) })
}

// maxTexts is how many texts are asked for in one query.
const maxTexts = 50

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
		names[n], names[len(some)+n] = string(s.Pulls[i].Head)+":"+config.File, treeOf(s.Pulls[i].Head)
	}
	named, err := l.askNamed(ctx, objectsQuery(l.repo.Owner, l.repo.Name, names, objectText))
	if l.divides(ctx, err, len(some)) {
		return err
	}
	for n, i := range some {
		p, bad := &s.Pulls[i], err
		var o *rawObject
		if bad == nil {
			o, bad = find[rawObject](named, fmt.Sprintf("o%d", n))
		}
		if bad == nil && o == nil {
			bad = shown(named, fmt.Sprintf("o%d", len(some)+n))
		}
		if bad == nil {
			l.addChange(p, s.Bases[p.Base].File, o)
			continue
		}
		var ends error
		if p.Unread, ends = l.failed(ctx, l.pullKey(p), whatText, bad); ends != nil {
			return ends
		}
	}
	return nil
}

// addChange notes what one head makes of the file.
func (l *observation) addChange(p *plan.Pull, atTip plan.SHA, o *rawObject) {
	touches, _ := touchesRules(p.Files)
	var blob plan.SHA
	if o != nil {
		blob = plan.SHA(o.Oid)
	}
	if !touches && blob == atTip {
		return // the list is not whole, but the file is the base's
	}
	change := &plan.RulesChange{Deleted: o == nil && !touches}
	if !change.Deleted {
		parsed := l.f.parse(o, blob)
		change.Policy, change.Findings = parsed.policy, parsed.findings
	}
	p.Rules = change
	if touches && o != nil {
		l.f.changes.put(headKey{keyOf(l.repo), p.Head}, change)
	}
}
