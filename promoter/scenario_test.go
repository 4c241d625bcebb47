package promoter_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/internal/golden"
	"github.com/sluicegate/sluice/internal/scenario"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/promoter"
)

//go:generate go run ../internal/scenario/index_gen.go testdata/scenarios

// TestScenarios reads testdata/scenarios as a specification: a file, an instant and what was observed, and the plan that follows.
// The comment above each says why.
func TestScenarios(t *testing.T) { scenario.Run(t, 50, readScene, promoter.Decide, render) }

// world is what was observed, with the dull things defaulted: a line that is read to its end and requires ci/build, which is green.
type world struct {
	now      time.Time
	Skew     time.Duration
	Sources  map[string]source
	Branches []branch
	Stuck    []struct {
		Branch, Old, New, Reason string
		Count                    int
		Ago                      time.Duration
	}
	Repairs []struct {
		Head, Context, By string
		Ago               time.Duration
	}
	Comments []scenario.Comment
}

type source struct {
	Line                   []commit // the newest first
	Required               []string // CONTEXT or CONTEXT@APP
	Blind, Missing, Unread bool     // Unread: its rules
	Tip                    string   // "": the line's first
	Ours                   string   // our status on its tip: "pending: text", "success by mallory: text"
}

type commit struct {
	SHA, Subject    string
	Ago             time.Duration
	Checks, Head    map[string]string // CONTEXT or CONTEXT@APP → green, red, running
	Unread, Partial bool
	HeadUnsure      bool
	Ours            map[string]string // by branch
	Unbuilt         string            // why it is not known what can be built
	Building        bool              // that may be over in a moment
	Builds          map[string]build  // by branch
}

type build struct {
	Broken string
	Tracks []string
}

type branch struct {
	Name, From, At, Seen, Relation, Twin string // From: main
	Unread                               string // it could not be read, and why
	Reach                                *int
	Demands, Unguarded                   bool
	Reports                              []report
	Moved                                *struct {
		Old, New string
		Due      time.Duration // ago
	}
}

type report struct {
	SHA, Object, Branch, State, Says string
	Ago                              time.Duration
}

func readScene(t *testing.T, a *golden.Archive) plan.Snapshot {
	t.Helper()
	w := world{now: scenario.Now(t, a)}
	scenario.Strict(t, a.Section("world"), &w)
	s := w.snapshot(t)
	s.Commands = scenario.Commands(t, w.Comments, w.now)
	for _, f := range a.Files {
		if base, ok := strings.CutSuffix(f.Name, ":"+config.File); ok {
			s.Bases[plan.Branch(base)] = baseOf(f.Data)
		}
	}
	s.Bases["main"] = baseOf(a.Section(config.File))
	return s
}

func baseOf(file []byte) plan.Base {
	b := plan.Base{Tip: "7190", File: "f11e", Rules: true}
	if len(file) == 0 {
		b.File = ""
		return b
	}
	b.Policy, b.Findings = config.Parse(file)
	return b
}

func (w world) snapshot(t *testing.T) plan.Snapshot {
	t.Helper()
	s := plan.Snapshot{
		Repo: plan.Repo{Owner: "acme", Name: "fleet"}, At: w.now, Skew: w.Skew, Us: scenario.Us, App: scenario.App, Default: "main",
		Bases: map[plan.Branch]plan.Base{}, Sources: map[plan.Branch]plan.Source{},
	}
	for name, src := range w.Sources {
		s.Sources[plan.Branch(name)] = w.source(src)
	}
	for _, b := range w.Branches {
		s.Branches = append(s.Branches, w.branch(t, b, s))
	}
	for _, v := range w.Stuck {
		s.Stuck = append(s.Stuck, plan.Stuck{
			Branch: plan.Branch(v.Branch), Old: scenario.SHA(v.Old), New: scenario.SHA(v.New), At: w.now.Add(-v.Ago), Count: cmp.Or(v.Count, 1), Reason: v.Reason,
		})
	}
	for _, r := range w.Repairs {
		s.Repairs = append(s.Repairs, plan.Repair{SHA: scenario.SHA(r.Head), Context: plan.Context(r.Context), By: plan.Login(r.By), At: w.now.Add(-r.Ago)})
	}
	return s
}

func (w world) source(in source) plan.Source {
	if in.Missing {
		return plan.Source{Rules: true}
	}
	out := plan.Source{NoChecks: in.Blind, Rules: !in.Unread, Ours: scenario.Ours(in.Ours, plan.PromoteContext, w.now)}
	if in.Required == nil {
		in.Required = []string{"ci/build"}
	}
	for _, name := range in.Required {
		context, by := scenario.Named(name)
		out.Checks = append(out.Checks, plan.RequiredCheck{Context: context, App: by})
	}
	out.Builds = map[plan.SHA]plan.Builds{}
	for i, c := range in.Line {
		out.Line = append(out.Line, w.commit(c, i))
		if c.Unbuilt != "" || c.Builds != nil {
			of := map[plan.Branch]plan.Build{}
			for name, b := range c.Builds {
				of[plan.Branch(name)] = plan.Build(b)
			}
			out.Builds[out.Line[i].SHA] = plan.Builds{Unread: plan.Unread{Reason: c.Unbuilt, Passing: c.Building}, Of: of}
		}
	}
	out.Tip = out.Line[0].SHA
	if in.Tip != "" {
		out.Tip = scenario.SHA(in.Tip)
	}
	return out
}

func (w world) commit(in commit, place int) plan.Commit {
	out := plan.Commit{
		SHA: scenario.SHA(in.SHA), Subject: cmp.Or(in.Subject, "change "+in.SHA), At: w.now.Add(-cmp.Or(in.Ago, time.Duration(place+1)*time.Hour)),
		Read: !in.Unread, ChecksAll: !in.Partial,
	}
	if in.Unread {
		return out
	}
	out.Checks = scenario.Checks(in.Checks)
	if in.Head != nil {
		out.Head = &plan.Head{Pull: 7, SHA: scenario.SHA("e" + in.SHA), Checks: scenario.Checks(in.Head), ChecksAll: !in.HeadUnsure}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Ours)) {
		out.Ours = append(out.Ours, scenario.Ours(in.Ours[name], plan.PromoteContext+"/"+plan.Context(name), w.now)...) // in whatever case GitHub keeps it
	}
	return out
}

// branch gives a branch that stands on its source's line its relation and reach.
func (w world) branch(t *testing.T, in branch, s plan.Snapshot) plan.WindowedBranch {
	t.Helper()
	out := plan.WindowedBranch{
		Name: plan.Branch(in.Name), Tip: scenario.SHA(in.At), Seen: scenario.SHA(in.Seen), Demands: in.Demands, Unguarded: in.Unguarded, CaseConflict: plan.Branch(in.Twin),
		Unread: plan.Unread{Reason: in.Unread},
	}
	stood := place(&s, plan.Branch(cmp.Or(in.From, "main")), out.Tip)
	out.Relation, out.Reach = stood.relation, stood.reach
	if in.Relation != "" {
		relations := map[string]plan.Relation{"unknown": plan.RelationUnknown, "absent": plan.Absent, "behind": plan.Behind, "level": plan.Level, "beyond": plan.Beyond, "diverged": plan.Diverged}
		relation, ok := relations[in.Relation]
		if !ok {
			t.Fatalf("no relation %q", in.Relation)
		}
		out.Relation, out.Reach = relation, 0
	}
	if in.Reach != nil {
		out.Reach = *in.Reach
	}
	for _, r := range in.Reports {
		out.Reports = append(out.Reports, plan.Report{
			SHA: scenario.SHA(cmp.Or(r.SHA, in.At)), Object: cmp.Or(r.Object, "kustomization/apps"), Branch: plan.Branch(r.Branch), State: scenario.CheckStates()[r.State],
			Says: r.Says, At: w.now.Add(-r.Ago),
		})
	}
	if m := in.Moved; m != nil {
		out.Moved = &plan.MoveRecord{Branch: out.Name, Old: scenario.SHA(m.Old), New: scenario.SHA(m.New), At: w.now.Add(-m.Due), Due: w.now.Add(-m.Due)}
	}
	return out
}

// stands is how a commit stands to a line.
type stands struct {
	relation plan.Relation
	reach    int
}

func place(s *plan.Snapshot, from plan.Branch, at plan.SHA) stands {
	if at == "" {
		return stands{relation: plan.Absent}
	}
	switch i := slices.IndexFunc(s.Sources[from].Line, func(c plan.Commit) bool { return c.SHA == at }); {
	case i == 0:
		return stands{relation: plan.Level}
	case i > 0:
		return stands{plan.Behind, i}
	}
	return stands{relation: plan.Diverged}
}
