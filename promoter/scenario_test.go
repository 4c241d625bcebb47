package promoter_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/promoter"
)

var update = flag.Bool("update", false, "write what the promoter says now into the scenarios")

// TestScenarios reads testdata/scenarios as a specification: a file, an instant and what was observed, and the plan that follows.
// The comment above each says why.
func TestScenarios(t *testing.T) {
	paths, err := filepath.Glob("testdata/scenarios/*.txtar")
	if err != nil || len(paths) < 50 {
		t.Fatalf("found %d scenarios, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := render(promoter.Decide(readScenario(t, archive)))
			if *update {
				writeScenario(t, path, archive, got)
				return
			}
			if want := string(section(archive, "plan")); got != want {
				t.Errorf("plan:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

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
}

type source struct {
	Line                            []commit // the newest first
	Required                        []string // CONTEXT or CONTEXT@APP
	Blind, Missing, Partial, Unread bool     // Unread: its rules
	Tip                             string   // "": the line's first
	Ours                            string   // our status on its tip: "pending: text", "success by mallory: text"
}

type commit struct {
	SHA, Subject    string
	Ago             time.Duration
	Checks, Head    map[string]string // CONTEXT or CONTEXT@APP → green, red, running
	Unread, Partial bool
	HeadUnsure      bool
	Ours            map[string]string // by branch
}

type branch struct {
	Name, From, At, Seen, Relation, Twin string // From: main
	Unread                               string // it could not be read, and why
	Reach                                *int
	Demands                              bool
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

const (
	us  plan.Login = "sluice"
	app int64      = 4711
)

func readScenario(t *testing.T, a *txtar.Archive) plan.Snapshot {
	t.Helper()
	var w world
	now, err := time.Parse(time.RFC3339, strings.TrimSpace(string(section(a, "now"))))
	if err != nil {
		t.Fatal(err)
	}
	dec := yaml.NewDecoder(strings.NewReader(string(section(a, "world"))))
	dec.KnownFields(true)
	if err := dec.Decode(&w); err != nil {
		t.Fatal(err)
	}
	w.now = now
	s := w.snapshot(t)
	for _, f := range a.Files {
		if base, ok := strings.CutSuffix(f.Name, ":"+config.File); ok {
			s.Bases[plan.Branch(base)] = baseOf(f.Data)
		}
	}
	s.Bases["main"] = baseOf(section(a, config.File))
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

func section(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func writeScenario(t *testing.T, path string, a *txtar.Archive, got string) {
	t.Helper()
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "plan" })
	a.Files = append(a.Files, txtar.File{Name: "plan", Data: []byte(got)})
	if err := os.WriteFile(path, txtar.Format(a), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w world) snapshot(t *testing.T) plan.Snapshot {
	t.Helper()
	s := plan.Snapshot{
		Repo: plan.Repo{Owner: "acme", Name: "fleet"}, At: w.now, Skew: w.Skew, Us: us, App: app, Default: "main",
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
			Branch: plan.Branch(v.Branch), Old: sha(v.Old), New: sha(v.New), At: w.now.Add(-v.Ago), Count: cmp.Or(v.Count, 1), Reason: v.Reason,
		})
	}
	for _, r := range w.Repairs {
		s.Repairs = append(s.Repairs, plan.Repair{SHA: sha(r.Head), Context: plan.Context(r.Context), By: plan.Login(r.By), At: w.now.Add(-r.Ago)})
	}
	return s
}

func (w world) source(in source) plan.Source {
	if in.Missing {
		return plan.Source{Rules: true}
	}
	out := plan.Source{Whole: !in.Partial, Blind: in.Blind, Rules: !in.Unread, Ours: w.ours(in.Ours, plan.PromoteContext)}
	if in.Required == nil {
		in.Required = []string{"ci/build"}
	}
	for _, name := range in.Required {
		context, by := named(name)
		out.Checks = append(out.Checks, plan.Required{Context: context, App: by})
	}
	for i, c := range in.Line {
		out.Line = append(out.Line, w.commit(c, i))
	}
	out.Tip = out.Line[0].SHA
	if in.Tip != "" {
		out.Tip = sha(in.Tip)
	}
	return out
}

func (w world) commit(in commit, place int) plan.Commit {
	out := plan.Commit{
		SHA: sha(in.SHA), Subject: cmp.Or(in.Subject, "change "+in.SHA), At: w.now.Add(-cmp.Or(in.Ago, time.Duration(place+1)*time.Hour)),
		Read: !in.Unread, ChecksAll: !in.Partial,
	}
	if in.Unread {
		return out
	}
	if in.Checks == nil {
		in.Checks = map[string]string{"ci/build": "green"}
	}
	out.Checks = checks(in.Checks)
	if in.Head != nil {
		out.Head = &plan.Head{Pull: 7, SHA: sha("e" + in.SHA), Checks: checks(in.Head), ChecksAll: !in.HeadUnsure}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Ours)) {
		out.Ours = append(out.Ours, w.ours(in.Ours[name], plan.PromoteContext+"/"+plan.Context(name))...) // in whatever case GitHub keeps it
	}
	return out
}

// branch gives a branch that stands on its source's line its relation and reach.
func (w world) branch(t *testing.T, in branch, s plan.Snapshot) plan.Tracked {
	t.Helper()
	out := plan.Tracked{
		Name: plan.Branch(in.Name), Tip: sha(in.At), Seen: sha(in.Seen), Demands: in.Demands, Twin: plan.Branch(in.Twin),
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
			SHA: sha(cmp.Or(r.SHA, in.At)), Object: cmp.Or(r.Object, "kustomization/apps"), Branch: plan.Branch(r.Branch), State: states[r.State],
			Says: r.Says, At: w.now.Add(-r.Ago),
		})
	}
	if m := in.Moved; m != nil {
		out.Moved = &plan.Moved{Branch: out.Name, Old: sha(m.Old), New: sha(m.New), At: w.now.Add(-m.Due), Due: w.now.Add(-m.Due)}
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

func (w world) ours(text string, context plan.Context) []plan.Status {
	if text == "" {
		return nil
	}
	state, description, _ := strings.Cut(text, ": ")
	state, by, _ := strings.Cut(state, " by ")
	return []plan.Status{{Context: context, State: plan.StatusState(state), Description: description, By: plan.Login(cmp.Or(by, string(us))), At: w.now.Add(-time.Minute)}}
}

var states = map[string]plan.CheckState{"green": plan.CheckGreen, "red": plan.CheckRed, "running": plan.CheckPending}

func checks(in map[string]string) []plan.Check {
	var out []plan.Check
	for _, name := range slices.Sorted(maps.Keys(in)) {
		context, by := named(name)
		out = append(out, plan.Check{Context: context, App: by, By: "ci", State: states[in[name]]})
	}
	return out
}

// named reads CONTEXT@APP.
func named(text string) (context plan.Context, by int64) {
	name, id, ok := strings.Cut(text, "@")
	if ok {
		if _, err := fmt.Sscan(id, &by); err != nil {
			panic(err)
		}
	}
	return plan.Context(name), by
}

// sha pads a nickname to a full SHA: "c7" is c700….
func sha(nick string) plan.SHA {
	if nick == "" {
		return ""
	}
	return plan.SHA(nick + strings.Repeat("0", 40-len(nick)))
}

func nick(s plan.SHA) string { return cmp.Or(strings.TrimRight(string(s), "0"), "-") }
