package gitremote

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

const maxTracked = 10_000 // windowed branches

// Overview is what a repository shows before its rules are known.
type Overview struct {
	Default plan.Branch // what HEAD names
	Tip     plan.SHA    // of the default branch
	TipAt   time.Time   // when it was committed
	File    plan.SHA    // the blob of the file that was asked for; "": the tip has none
	Data    []byte      // its content
	Frozen  plan.Freeze
}

// Follower is a windowed branch and the branch that it follows.
type Follower struct{ Name, From plan.Branch }

// survey is what is known of one repository: its branches as they were listed at once, the histories as far as they were
// needed, and what these prove of the sources and of the pairs of branches, each once.
type survey struct {
	heads  map[plan.Branch]plumbing.Hash
	graph  *graph
	follow map[plumbing.Hash]*source
	of     map[pair]standing
	open   []pair // of which nothing is proved
}

// overview reads what a repository shows at the tip of its default branch, and what freezes it.
func (s *survey) overview(name plan.Branch, file string, from trees) (Overview, error) {
	tip := s.heads[name]
	commit, err := from.commit(tip)
	if err != nil {
		return Overview{}, err
	}
	out := Overview{Default: name, Tip: plan.SHA(tip.String()), TipAt: commit.Committer.When.UTC()}
	out.File, out.Data, err = from.fileAt(commit.TreeHash, file)
	wrap(&err, "file %q at %s", file, out.Tip.Short())
	if freeze, ok := s.heads[plan.FreezeBranch]; ok && err == nil {
		if commit, err = from.commit(freeze); err == nil {
			out.Frozen = plan.FreezeOf(plan.SHA(freeze.String()), commit.Message)
		}
	}
	return out, err
}

// pair is a branch's tip and its source's.
type pair struct{ source, tip plumbing.Hash }

// track finds how every wanted branch stands to its source, once learn has read as much of their histories as that needs, and no more.
func (s *survey) track(wanted []Follower, learn func() error) ([]plan.WindowedBranch, map[plan.Branch]plan.Source, error) {
	if len(wanted) > maxTracked {
		return nil, nil, fmt.Errorf("%w: %d windowed branches", ErrTooLarge, len(wanted))
	}
	s.follow, s.of = map[plumbing.Hash]*source{}, map[pair]standing{}
	for _, w := range wanted {
		source, ok := s.heads[w.From]
		if !ok {
			continue
		}
		s.follow[source] = nil
		if tip, ok := s.heads[w.Name]; ok {
			s.of[pair{source, tip}] = standing{}
		}
	}
	err := s.ask()
	if err == nil {
		err = learn()
	}
	if err != nil {
		return nil, nil, err
	}
	return s.tracked(wanted)
}

// ask asks the graph as it is now. Each source and each pair may cost a walk through all of it, and of a source's walk only the
// line is kept: a thousand walks through a million commits would be 4 GB.
func (s *survey) ask() error {
	tips := map[plumbing.Hash][]plumbing.Hash{}
	for p := range s.of {
		tips[p.source] = append(tips[p.source], p.tip)
	}
	s.open = nil
	for h := range s.follow {
		from := s.graph.follow(h)
		for _, tip := range tips[h] {
			if err := s.graph.cost.compare(len(from.unread), "the history"); err != nil {
				return err
			}
			p := pair{h, tip}
			if s.of[p] = from.standing(tip); s.of[p].relation == plan.RelationUnknown {
				s.open = append(s.open, p)
			}
		}
		from.first, from.unread, s.follow[h] = nil, nil, from
		if err := s.graph.cost.take(meter.Steps, 0, "the history"); err != nil {
			return err
		}
	}
	slices.SortFunc(s.open, func(a, b pair) int { // some of them are read apart: the same ones whenever it is tried
		return cmp.Or(bytes.Compare(a.source[:], b.source[:]), bytes.Compare(a.tip[:], b.tip[:]))
	})
	return nil
}

// complete reports whether every branch's place is known.
func (s *survey) complete() bool {
	for _, from := range s.follow {
		if !from.known {
			return false
		}
	}
	return len(s.open) == 0
}

// lined reports whether every source's line is known as far as it is looked at.
func (s *survey) lined() bool {
	for _, from := range s.follow {
		if !from.whole && len(from.line) < maxLine {
			return false
		}
	}
	return true
}

// sources is the tips of the sources.
func (s *survey) sources() []plumbing.Hash { return slices.Collect(maps.Keys(s.follow)) }

// ends is the tips of the sources, and of the branches whose place is not known.
func (s *survey) ends() []plumbing.Hash {
	tips := s.sources()
	for _, p := range s.open {
		tips = append(tips, p.tip)
	}
	return tips
}

// tracked is the branches and the sources as the plan has them, the branches in the order wanted; a source that is not there has no tip. All that could
// be read was, so what is not known of a branch by now is an error, never a relation.
func (s *survey) tracked(wanted []Follower) ([]plan.WindowedBranch, map[plan.Branch]plan.Source, error) {
	alike := map[string][]plan.Branch{} // by their names in lower case
	for _, w := range wanted {
		alike[strings.ToLower(string(w.Name))] = nil
	}
	for name := range s.heads {
		folded := strings.ToLower(string(name))
		if names, ok := alike[folded]; ok {
			alike[folded] = append(names, name)
		}
	}
	branches, sources := make([]plan.WindowedBranch, 0, len(wanted)), map[plan.Branch]plan.Source{}
	for _, w := range wanted {
		source, followed := s.heads[w.From]
		if _, done := sources[w.From]; !done {
			from := plan.Source{NoChecks: true}
			if followed {
				from.Tip, from.Line = plan.SHA(source.String()), s.follow[source].commits()
			}
			sources[w.From] = from
		}
		b := plan.WindowedBranch{Name: w.Name, Relation: plan.Absent}
		names := alike[strings.ToLower(string(w.Name))]
		slices.Sort(names)
		if i := slices.IndexFunc(names, func(n plan.Branch) bool { return n != w.Name }); i >= 0 {
			b.CaseConflict = names[i]
		}
		if tip, ok := s.heads[w.Name]; ok {
			b.Tip, b.Relation = plan.SHA(tip.String()), plan.RelationUnknown
			if followed {
				at := s.of[pair{source, tip}]
				b.Relation, b.Reach = at.relation, at.reach
				if at.relation == plan.RelationUnknown {
					return nil, nil, fmt.Errorf("%w: how %s stands to %s", ErrIncomplete, plan.Clean(string(w.Name)), plan.Clean(string(w.From)))
				}
			}
		}
		branches = append(branches, b)
	}
	return branches, sources, nil
}
