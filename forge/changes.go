package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

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
func (l *look) addChanges(ctx context.Context, s *plan.Snapshot) error {
	var read []int
	for i := range s.Pulls {
		p := &s.Pulls[i]
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
	for some := range slices.Chunk(read, maxTexts) {
		if err := l.readChanges(ctx, s, some); err != nil {
			return err
		}
	}
	return nil
}

// maxTexts is how many texts are asked for in one query.
const maxTexts = 50

// touchesRules tells whether the repository's file is among the changed ones, and whether nothing remains of it.
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

// readChanges reads the file at some heads.
func (l *look) readChanges(ctx context.Context, s *plan.Snapshot, some []int) error {
	names := make([]string, len(some))
	for i, at := range some {
		names[i] = string(s.Pulls[at].Head) + ":" + config.File
	}
	var named map[string]json.RawMessage
	if err := l.more(ctx, objectsQuery(l.repo.Owner, l.repo.Name, names, objectText), &named); err != nil {
		return err
	}
	for i, at := range some {
		var o *rawObject
		if err := json.Unmarshal(named[fmt.Sprintf("o%d", i)], &o); err != nil {
			return transient(wordUnreadable, err)
		}
		l.addChange(&s.Pulls[at], s.Bases[s.Pulls[at].Base].File, o)
	}
	return nil
}

// addChange notes what one head makes of the file.
func (l *look) addChange(p *plan.Pull, atTip plan.SHA, o *rawObject) {
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
