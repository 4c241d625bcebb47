package gitremote

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// Bounds of one look at windowed branches.
const (
	lineDepth  = maxLine + 1 // commits deep that a history is read: all of a line
	maxApart   = 8           // branches whose way to their source is asked for one by one, before a whole history is read
	maxTracked = 10_000      // windowed branches
)

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

// Refusal is a branch that was not moved, and why: words for people, cleaned, not longer than a reason may be.
type Refusal struct {
	Branch plan.Branch
	Reason string
}

// ask is a part of a history: all that wants descend from, without what haves descend from.
type ask struct {
	wants, haves []plumbing.Hash
	shallow      []plumbing.Hash // of haves: those whose parents are not there; only the difference to their trees comes
	depth        int             // of a server: generations; of a clone: commits, the newest first; 0: all of it
}

// reader gets parts of histories into a graph.
type reader interface {
	read(ctx context.Context, a ask, into *graph) error
	stages() []stage
}

// stage is one part of learning how branches stand, each costing more than the one before it.
type stage struct {
	depth int
	tips  bool // the branches' own histories too, not only their sources'
	apart bool // the way between each branch and its source alone
	lines bool // worth it for a line that is not whole yet, though every branch's place is known
}

// survey is what is known of one repository: its branches as they were listed at once, and the histories as far as they were
// needed.
type survey struct {
	heads map[plan.Branch]plumbing.Hash
	graph *graph
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

// track finds how every wanted branch stands to its source. Histories are read as deep as that needs and no deeper.
func (s *survey) track(ctx context.Context, wanted []Follower, from reader) ([]plan.WindowedBranch, map[plan.Branch]plan.Source, error) {
	if len(wanted) > maxTracked {
		return nil, nil, fmt.Errorf("%w: %d windowed branches", ErrTooLarge, len(wanted))
	}
	known := &standings{follow: map[plumbing.Hash]*source{}, of: map[pair]standing{}}
	for _, w := range wanted {
		source, ok := s.heads[w.From]
		if !ok {
			continue
		}
		known.follow[source] = nil
		if tip, ok := s.heads[w.Name]; ok {
			known.of[pair{source, tip}] = standing{}
		}
	}
	if err := known.ask(s.graph); err != nil {
		return nil, nil, err
	}
	for _, next := range from.stages() {
		if known.complete(next) {
			continue
		}
		if err := s.learn(ctx, next, known, from); err != nil {
			return nil, nil, err
		}
	}
	return s.tracked(wanted, known)
}

// standings is what a graph proves at one time of the sources and of the pairs of branches, each once.
type standings struct {
	follow map[plumbing.Hash]*source
	of     map[pair]standing
	open   []pair // of which it proves nothing
}

// ask asks the graph as it is now. Each source and each pair may cost a walk through all of it, and of a source's walk only the
// line is kept: a thousand walks through a million commits would be 4 GB.
func (k *standings) ask(g *graph) error {
	tips := map[plumbing.Hash][]plumbing.Hash{}
	for p := range k.of {
		tips[p.source] = append(tips[p.source], p.tip)
	}
	k.open = nil
	for h := range k.follow {
		s := g.follow(h)
		for _, tip := range tips[h] {
			if err := g.cost.compare(len(s.unread), "the history"); err != nil {
				return err
			}
			p := pair{h, tip}
			if k.of[p] = s.standing(tip); k.of[p].relation == plan.RelationUnknown {
				k.open = append(k.open, p)
			}
		}
		s.first, s.unread, k.follow[h] = nil, nil, s
		if err := g.cost.take(meter.Steps, 0, "the history"); err != nil {
			return err
		}
	}
	slices.SortFunc(k.open, func(a, b pair) int { // some of them are read apart: the same ones whenever it is tried
		return cmp.Or(bytes.Compare(a.source[:], b.source[:]), bytes.Compare(a.tip[:], b.tip[:]))
	})
	return nil
}

// complete reports whether a stage has nothing to add.
func (k *standings) complete(with stage) bool {
	if len(k.open) > 0 {
		return false
	}
	for _, s := range k.follow {
		if !s.known || (with.lines && !s.whole && len(s.line) < maxLine) {
			return false
		}
	}
	return true
}

// learn reads what a stage adds.
func (s *survey) learn(ctx context.Context, next stage, known *standings, from reader) error {
	if next.apart {
		return s.learnApart(ctx, known, from)
	}
	a := ask{depth: next.depth}
	for h := range known.follow {
		a.wants = append(a.wants, h)
	}
	for _, p := range known.open {
		if next.tips {
			a.wants = append(a.wants, p.tip)
		}
	}
	if err := from.read(ctx, a, s.graph); err != nil {
		return err
	}
	return known.ask(s.graph)
}

// learnApart reads what lies between a branch and its source, both ways: the commits that a branch is behind by may be many,
// and yet few of the history's.
func (s *survey) learnApart(ctx context.Context, known *standings, from reader) error {
	for range maxApart {
		if len(known.open) == 0 {
			return nil
		}
		p := known.open[0]
		if err := from.read(ctx, ask{wants: []plumbing.Hash{p.source}, haves: []plumbing.Hash{p.tip}}, s.graph); err != nil {
			return err
		}
		if at := s.graph.follow(p.source).standing(p.tip); at.relation == plan.RelationUnknown {
			if err := from.read(ctx, ask{wants: []plumbing.Hash{p.tip}, haves: []plumbing.Hash{p.source}}, s.graph); err != nil {
				return err
			}
		}
		if err := known.ask(s.graph); err != nil {
			return err
		}
		if slices.Contains(known.open, p) {
			return nil // their histories cross: only whole ones prove anything
		}
	}
	return nil
}

// tracked is the branches and the sources as the plan has them, the branches in the order wanted; a source that is not there has no tip. All that could
// be read was, so what is not known of a branch by now is an error, never a relation.
func (s *survey) tracked(wanted []Follower, known *standings) ([]plan.WindowedBranch, map[plan.Branch]plan.Source, error) {
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
				from.Tip, from.Line = plan.SHA(source.String()), known.follow[source].commits()
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
				at := known.of[pair{source, tip}]
				b.Relation, b.Reach = at.relation, at.reach
				if at.relation == plan.RelationUnknown {
					return nil, nil, fmt.Errorf("%w: how %s stands to %s", ErrIncomplete, showName(w.Name), showName(w.From))
				}
			}
		}
		branches = append(branches, b)
	}
	return branches, sources, nil
}
