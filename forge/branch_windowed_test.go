package forge

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/promoter"
)

// windowedText is a file with windowed branches that follow main.
func windowedText(checks string, names ...string) string {
	var b strings.Builder
	b.WriteString(policyText + "branches:\n")
	for _, name := range names {
		fmt.Fprintf(&b, "  - {name: %q, from: main, window: night, checks: %s}\n", name, checks)
	}
	return b.String()
}

func manyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("rw/cluster-%d", i)
	}
	return names
}

// newWindowed is a world whose file names windowed branches.
func newWindowed(t *testing.T, checks string, names ...string) *world {
	t.Helper()
	return newWorld(t, map[string]string{config.File: windowedText(checks, names...)})
}

// newOnDisk is likewise, for a test that runs git in the stand-in's repository.
func newOnDisk(t *testing.T, checks string, names ...string) *world {
	t.Helper()
	return newWorldWith(t, map[string]string{config.File: windowedText(checks, names...)}, api.Options{})
}

// put moves a branch for somebody, by force.
func (w *world) put(branch, sha string) {
	w.Helper()
	w.must(w.r.Push("alice", branch, sha))
}

// push adds a commit to a branch and gives it.
func (w *world) push(branch, path string) string {
	w.Helper()
	sha, err := w.r.Commit(branch, standin.Change{Message: "write " + path, Write: map[string]string{path: path + "\n"}})
	w.must(err)
	return sha
}

// git runs git in the stand-in's repository, which is on disk.
func (w *world) git(stdin string, args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(context.Background(), "git", append([]string{"-C", w.r.Dir()}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// line puts n commits upon main at once, and gives them, the newest first.
func (w *world) line(n int) []string {
	w.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "commit refs/scratch/line\ncommitter A <a@b> %d +0000\ndata 4\nc%03d\n", 1_700_000_000+i, i)
		if i == 0 {
			fmt.Fprintf(&b, "from %s\n", w.r.Tip("main"))
		}
	}
	w.git(b.String(), "fast-import", "--quiet", "--force")
	shas := strings.Fields(w.git("", "rev-list", "--first-parent", "refs/scratch/line"))
	w.put("main", shas[0])
	return shas
}

func (w *world) branch(s plan.Snapshot, name plan.Branch) plan.WindowedBranch {
	w.Helper()
	for _, b := range s.Branches {
		if b.Name == name {
			return b
		}
	}
	w.Fatalf("no branch %s", name)
	return plan.WindowedBranch{}
}

// Where some branches went and others stayed, the look after the move knows beforehand which commits to ask for.
func TestTheLookAfterSomeMoved(t *testing.T) {
	names := manyNames(10)
	w := newOnDisk(t, "none", names...)
	old := w.r.Tip("main")
	w.push("main", "a")
	w.push("main", "b")
	for _, name := range names {
		w.git("", "update-ref", "refs/heads/"+name, old)
	}
	w.look(Ask{})
	s, _ := w.look(Ask{})
	var moves []plan.Move
	for _, b := range s.Branches[5:] {
		moves = append(moves, plan.Move{Branch: b.Name, Old: b.Tip, New: s.Sources["main"].Line[1].SHA})
	}
	w.must(w.forge.MoveBranches(context.Background(), w.repo, moves))
	if _, after := w.look(Ask{}); sum(after) != 1 {
		t.Errorf("the look after took %v", after)
	}
}

// However many windowed branches there are, a quiet look is one request.
func TestRequestsForWindowedBranches(t *testing.T) {
	for _, n := range []int{1, 100, race.Or(300, 1000)} {
		names := manyNames(n)
		w := newOnDisk(t, "required", names...)
		old := w.r.Tip("main")
		w.push("main", "a")
		var refs strings.Builder
		for _, name := range names {
			fmt.Fprintf(&refs, "create refs/heads/%s %s\n", name, old)
		}
		w.git(refs.String(), "update-ref", "--stdin")
		_, first := w.look(Ask{})
		s, quiet := w.look(Ask{})
		if sum(quiet) != 1 || len(s.Branches) != n {
			t.Errorf("%d branches: a quiet look took %v", n, quiet)
		}
		cost := w.forge.LookCost(w.repo)
		w.forge.now = func() time.Time { return time.Now().Add(2 * rulesTTL) }
		_, due := w.look(Ask{})
		dear := w.forge.LookCost(w.repo)
		if due["POST /graphql"] != 1 || dear > cost+(n+50)/100 {
			t.Errorf("%d branches with their rulesets: %v of %d points, %d without", n, due, dear, cost)
		}
		w.forge.now = time.Now
		if last := s.Branches[n-1]; last.Relation != plan.Behind || last.Reach != 1 || last.Tip != plan.SHA(old) {
			t.Errorf("%+v", last)
		}
		w.hub.ResetRequests()
		moves := make([]plan.Move, n)
		for i, b := range s.Branches {
			moves[i] = plan.Move{Branch: b.Name, Old: b.Tip, New: s.Sources["main"].Tip}
		}
		w.must(w.forge.MoveBranches(context.Background(), w.repo, moves))
		moved := w.requests()
		s, after := w.look(Ask{})
		if sum(moved) != 1 || sum(after) != 1 || s.Branches[0].Relation != plan.Level || s.Branches[n-1].Relation != plan.Level {
			t.Errorf("%d moved by %v, and then looked at by %v: %+v", n, moved, after, s.Branches[0])
		}
		t.Logf("%d branches: first look %v, quiet look %v of %d points, with rulesets %v of %d, move %v, the look after %v",
			n, first, quiet, cost, due, dear, moved, after)
	}
}

func TestHowBranchesStand(t *testing.T) {
	names := []string{"level", "behind", "side", "diverged", "beyond", "absent", "tagged"}
	w := newOnDisk(t, "none", names...)
	root := w.r.Tip("main")
	w.put("behind", root)
	n := w.open("feature", "x")
	w.put("side", w.r.Tip("feature"))
	_, err := w.r.MergePull(n, "alice", standin.Merge)
	w.must(err)
	w.put("tip", w.r.Tip("main"))
	w.put("level", w.r.Tip("main"))
	w.put("diverged", root)
	w.push("diverged", "y")
	w.put("beyond", w.r.Tip("main"))
	w.push("beyond", "z")
	w.git("", "update-ref", "refs/tags/absent", root)
	w.git("", "update-ref", "refs/notes/absent", root)
	w.git("", "update-ref", "refs/tags/tagged", root)
	w.put("tagged", w.r.Tip("main"))
	s, _ := w.look(Ask{})
	want := map[plan.Branch]plan.WindowedBranch{
		"level": {Relation: plan.Level}, "behind": {Relation: plan.Behind, Reach: 1}, "side": {Relation: plan.Behind, Reach: 1},
		"diverged": {Relation: plan.Diverged}, "beyond": {Relation: plan.Beyond}, "absent": {Relation: plan.Absent},
		"tagged": {Relation: plan.Level},
	}
	for i, b := range s.Branches {
		tip := plan.SHA(w.r.Tip(string(b.Name)))
		if names[i] != string(b.Name) || b.Relation != want[b.Name].Relation || b.Reach != want[b.Name].Reach || b.Tip != tip {
			t.Errorf("%+v, want %+v at %s", b, want[b.Name], tip)
		}
	}
	main := s.Sources["main"]
	if len(main.Line) != 2 || main.Line[0].SHA != main.Tip || main.Line[1].SHA != plan.SHA(root) || !main.Rules {
		t.Errorf("the line goes by first parents: %+v", main)
	}
	if main.Line[0].Read || main.Line[0].At.IsZero() || main.Line[0].Subject == "" {
		t.Errorf("%+v", main.Line[0])
	}
	if _, got := w.look(Ask{}); sum(got) != 1 {
		t.Errorf("a quiet look took %v", got)
	}
	w.push("main", "more")
	s, got := w.look(Ask{})
	t.Logf("after a push: %v", got)
	if b := w.branch(s, "side"); b.Relation != plan.Behind || b.Reach != 2 {
		t.Errorf("%+v", b)
	}
	if got["GET /repos/{owner}/{repo}/compare/{base}...{head}"] > 3 { // what came to main, and the two that are no ancestors
		t.Errorf("what is an ancestor once stays one: %v", got)
	}
}

// Sources that are forced back, missing, or others than the default branch.
func TestSources(t *testing.T) {
	text := policyText + "branches:\n  - {name: a, from: main, window: night}\n  - {name: b, from: stable, window: night}\n" +
		"  - {name: c, from: nowhere, window: night}\n"
	w := newWorld(t, map[string]string{config.File: text})
	root := w.r.Tip("main")
	w.put("stable", root)
	w.push("stable", "s")
	tip := w.push("main", "m")
	for _, name := range []string{"b", "c"} {
		w.put(name, root)
	}
	w.put("a", tip)
	w.r.Protect("stable", standin.Rules{Checks: []standin.RequiredCheck{{Context: "ci", App: 77}}})
	s, _ := w.look(Ask{})
	if b := w.branch(s, "b"); b.Relation != plan.Behind || b.Reach != 1 {
		t.Errorf("%+v", b)
	}
	if b := w.branch(s, "c"); b.Relation != plan.RelationUnknown || b.Tip != plan.SHA(root) || s.Sources["nowhere"].Tip != "" {
		t.Errorf("%+v from %+v", b, s.Sources["nowhere"])
	}
	stable := s.Sources["stable"]
	if d := cmp.Diff([]plan.RequiredCheck{{Context: "ci", App: 77}}, stable.Checks); d != "" || !stable.Rules || len(stable.Line) != 2 {
		t.Errorf("%s%+v", d, stable)
	}
	if _, ok := s.Bases["stable"]; ok {
		t.Error("a source is no base")
	}
	if _, got := w.look(Ask{}); sum(got) != 1 {
		t.Errorf("a quiet look took %v", got)
	}
	w.put("main", root) // forced back
	s, _ = w.look(Ask{})
	if b := w.branch(s, "a"); b.Relation != plan.Beyond || b.Reach != 0 {
		t.Errorf("%+v", b)
	}
}

// A line longer than a page is read on only if a branch was not found on it, and only once.
func TestLongLines(t *testing.T) {
	w := newOnDisk(t, "none", "a", "b")
	shas := w.line(600)
	w.put("a", shas[50])
	w.put("b", shas[150])
	s, got := w.look(Ask{})
	t.Logf("the first look: %v", got)
	if a, b := w.branch(s, "a"), w.branch(s, "b"); a.Reach != 50 || b.Reach != 150 || b.Relation != plan.Behind {
		t.Errorf("%+v %+v", a, b)
	}
	if n := len(s.Sources["main"].Line); n < 151 || n > maxLine {
		t.Errorf("%d commits", n)
	}
	if _, got = w.look(Ask{}); sum(got) != 1 {
		t.Errorf("a quiet look took %v", got)
	}
	w.put("b", shas[580]) // deeper than any line goes
	s, got = w.look(Ask{})
	if b := w.branch(s, "b"); b.Relation != plan.Behind || b.Reach != maxLine || len(s.Sources["main"].Line) != maxLine {
		t.Errorf("%+v after %v", b, got)
	}
	if _, got = w.look(Ask{}); sum(got) != 1 {
		t.Errorf("a quiet look took %v", got)
	}
	w.push("main", "x")
	w.look(Ask{Rules: true})
	w.push("main", "y")
	s, got = w.look(Ask{})
	if b := w.branch(s, "b"); b.Reach != maxLine || got["GET /repos/{owner}/{repo}/compare/{base}...{head}"] > 1 {
		t.Errorf("%+v after %v: what lies deep lies deep", b, got)
	}
	if d := cmp.Diff("c598", s.Sources["main"].Line[3].Subject); d != "" {
		t.Error(d)
	}
}

// TestPriceOfAQuietLine: where a source's line is known, a look asks for its newest commits alone, for which GitHub takes no further point;
// what came beyond those is read apart, once.
func TestPriceOfAQuietLine(t *testing.T) {
	w := newOnDisk(t, "none", "a")
	shas := w.line(60)
	w.put("a", shas[50])
	w.look(Ask{})
	if s, got := w.look(Ask{}); sum(got) != 1 || w.forge.LookCost(w.repo) != 1 || len(s.Sources["main"].Line) < 51 || w.branch(s, "a").Reach != 50 {
		t.Errorf("%v of %d points, %d commits, %+v", got, w.forge.LookCost(w.repo), len(s.Sources["main"].Line), w.branch(s, "a"))
	}
	w.line(linePage)
	if s, got := w.look(Ask{}); w.branch(s, "a").Reach != 50+linePage || got["POST /graphql"] > 2 {
		t.Errorf("%v, %d commits, %+v", got, len(s.Sources["main"].Line), w.branch(s, "a"))
	}
	if _, got := w.look(Ask{}); sum(got) != 1 || w.forge.LookCost(w.repo) != 1 {
		t.Errorf("%v of %d points", got, w.forge.LookCost(w.repo))
	}
}

// A branch at the side of the line: the oldest commit of the line that descends from it is found by halving.
func TestReachIsProved(t *testing.T) {
	w := newOnDisk(t, "none", "a")
	w.push("feature", "f") // from main's tip
	side := w.r.Tip("feature")
	below := w.line(20)
	n, err := w.r.OpenPull(standin.NewPull{Head: "feature"})
	w.must(err)
	_, err = w.r.MergePull(n, "alice", standin.Merge)
	w.must(err)
	w.line(30)
	w.put("a", side)
	s, got := w.look(Ask{})
	a := w.branch(s, "a")
	line := s.Sources["main"].Line
	if a.Relation != plan.Behind || a.Reach != 31 || line[a.Reach].SHA != plan.SHA(below[0]) {
		t.Errorf("%+v after %v", a, got)
	}
	if n := got["GET /repos/{owner}/{repo}/compare/{base}...{head}"]; n > 9 {
		t.Errorf("found by %d comparisons", n)
	}
	w.line(7)
	s, got = w.look(Ask{})
	if a = w.branch(s, "a"); a.Reach != 38 || got["GET /repos/{owner}/{repo}/compare/{base}...{head}"] > 1 {
		t.Errorf("%+v after %v", a, got)
	}
}

func (w *world) status(sha, context, state string, by standin.Actor) {
	w.Helper()
	w.must(w.r.SetStatus(standin.Status{SHA: sha, Context: context, State: state, By: by, Description: "says " + context}))
}

func TestChecksOfTheLine(t *testing.T) {
	w := newWindowed(t, "all", "far", "near")
	ci := standin.Actor{Login: "ci", App: 77}
	old := w.r.Tip("main")
	w.put("far", old)
	n := w.open("feature", "x")
	head := w.r.Tip("feature")
	w.must(w.r.SetCheck(standin.Check{SHA: head, Name: "build", Status: "completed", Conclusion: "success", App: ci}))
	w.status(head, "sluice/main", "success", standin.Actor{Login: "alice"})
	squashed, err := w.r.MergePull(n, "alice", standin.Squash)
	w.must(err)
	w.put("near", squashed)
	tip := w.push("main", "y")
	w.status(tip, "lint", "failure", ci)
	w.status(tip, "SLUICE/Promote/NEAR", "success", standin.Actor{Login: "mallory"})
	w.status(tip, "sluice/promote", "pending", standin.Actor{Login: "mallory"})
	w.must(w.forge.SetStatus(context.Background(), w.repo, plan.SHA(tip), plan.Status{Context: "sluice/promote/far", State: plan.Success}))
	s, first := w.look(Ask{})
	t.Logf("the first look: %v", first)
	line := s.Sources["main"].Line
	want := []plan.Commit{
		{
			SHA: plan.SHA(tip), Subject: "write y", Read: true, ChecksAll: true,
			Checks: []plan.Check{{Context: "lint", By: "ci", Bot: true, State: plan.CheckRed}},
			Ours: []plan.Status{
				{Context: "sluice/promote/far", State: plan.Success, By: "sluice"},
				{Context: "sluice/promote/near", State: plan.Success, By: "mallory", Description: "says SLUICE/Promote/NEAR"},
			},
		},
		{
			SHA: plan.SHA(squashed), Read: true, ChecksAll: true, Head: &plan.Head{
				Pull: n, SHA: plan.SHA(head), ChecksAll: true, Checks: []plan.Check{{Context: "build", App: 77, By: "ci", State: plan.CheckGreen}},
			},
		},
	}
	slices.SortFunc(line[0].Ours, func(a, b plan.Status) int { return strings.Compare(string(a.Context), string(b.Context)) })
	ignore := []cmp.Option{cmpopts.IgnoreFields(plan.Commit{}, "At"), cmpopts.IgnoreFields(plan.Status{}, "At"), undated}
	line[1].Subject = ""
	if d := cmp.Diff(want, line[:2], ignore...); d != "" {
		t.Error(d)
	}
	if ours := s.Sources["main"].Ours; len(ours) != 1 || ours[0].By != "mallory" || ours[0].Context != plan.PromoteContext {
		t.Errorf("%+v", ours)
	}
	if _, got := w.look(Ask{}); sum(got) != 1 {
		t.Errorf("a quiet look took %v", got)
	}
	w.push("main", "z")
	s, got := w.look(Ask{})
	if line := s.Sources["main"].Line; !line[0].Read || !line[1].Read || !line[2].Read || got["POST /graphql"] != 1 {
		t.Errorf("after a push: %v", got)
	}
}

// All commits newer than the branch that is farthest behind are judged, and no others beyond the newest few.
func TestJudgedCommits(t *testing.T) {
	w := newOnDisk(t, "required", "a", "b")
	shas := w.line(90)
	w.put("a", shas[40])
	w.put("b", shas[3])
	s, got := w.look(Ask{})
	t.Logf("the first look: %v", got)
	for i, c := range s.Sources["main"].Line {
		if c.Read != (i < 40) {
			t.Errorf("commit %d: %v", i, c.Read)
		}
	}
	if _, got = w.look(Ask{}); sum(got) != 1 {
		t.Errorf("a quiet look took %v", got)
	}
	t.Logf("40 commits behind: %d points", w.forge.LookCost(w.repo))
}

// A commit that many branches stood at bears hundreds of Flux's reports: they hide no check, and cost no request of their own.
func TestFloodedCommits(t *testing.T) {
	w := newWindowed(t, "required", "far", "near")
	w.put("far", w.r.Tip("main"))
	promoted := w.push("main", "x")
	w.put("near", promoted)
	w.push("main", "y")
	for i := range 2*look.MaxChecks + 10 {
		w.status(promoted, fmt.Sprintf("kustomization/apps/%03d", i), "success", standin.Actor{Login: "flux"})
	}
	w.status(promoted, "zz", "failure", standin.Actor{Login: "ci"})
	w.must(w.r.SetCheck(standin.Check{SHA: promoted, Name: "build", Status: "completed", Conclusion: "success", App: standin.Actor{Login: "ci", App: 77}}))
	_, first := w.look(Ask{})
	s, got := w.look(Ask{})
	c := s.Sources["main"].Line[1]
	names := map[plan.Context]plan.CheckState{}
	for _, check := range c.Checks {
		names[check.Context] = check.State
	}
	if !c.ChecksAll || names["zz"] != plan.CheckRed || names["build"] != plan.CheckGreen || len(names) != 2*look.MaxChecks+12 {
		t.Errorf("%v, %d checks", c.ChecksAll, len(names))
	}
	if t.Logf("the first look %v", first); sum(got) != 1 {
		t.Errorf("a quiet look took %v", got)
	}
}

func TestReports(t *testing.T) {
	w := newWindowed(t, "none", "rw", "rw/a", "rw/b")
	tip := w.r.Tip("main")
	for _, name := range []string{"rw/a", "rw/b"} {
		w.put(name, tip)
	}
	flux := standin.Actor{Login: "flux"}
	w.status(tip, "kustomization/apps-rw/1a2b", "success", flux)
	w.status(tip, "Kustomization/rw/a/apps/x", "failure", flux)
	w.status(tip, "kustomization/RW/B/apps", "pending", flux)
	w.status(tip, "kustomization/", "failure", flux)
	w.status(tip, "other/rw/a/x", "failure", flux)
	s, got := w.look(Ask{})
	common := plan.Report{SHA: plan.SHA(tip), Object: "apps-rw/1a2b", State: plan.CheckGreen, Says: "says kustomization/apps-rw/1a2b"}
	want := [][]plan.Report{nil, {
		{SHA: plan.SHA(tip), Object: "rw/a/apps/x", Branch: "rw/a", State: plan.CheckRed, Says: "says Kustomization/rw/a/apps/x"}, common,
	}, {{SHA: plan.SHA(tip), Object: "RW/B/apps", Branch: "rw/b", Says: "says kustomization/RW/B/apps"}, common}}
	for i, b := range s.Branches {
		if d := cmp.Diff(want[i], b.Reports, cmpopts.IgnoreFields(plan.Report{}, "At")); d != "" {
			t.Errorf("%s after %v: %s", b.Name, got, d)
		}
	}
	// They part: who bore the statuses for both bears its own alone, and what nobody bears is asked for once.
	next := w.push("main", "n")
	w.status(next, "kustomization/apps-rw/1a2b", "failure", flux)
	w.put("rw/b", next)
	s, _ = w.look(Ask{})
	if a, b := w.branch(s, "rw/a"), w.branch(s, "rw/b"); len(a.Reports) != 2 || len(b.Reports) != 1 {
		t.Errorf("%+v and %+v", a.Reports, b.Reports)
	}
	s, got = w.look(Ask{})
	if b := w.branch(s, "rw/b"); len(b.Reports) != 1 || b.Reports[0].State != plan.CheckRed || len(w.branch(s, "rw/a").Reports) != 2 || sum(got) != 1 {
		t.Errorf("%+v after %v", b, got)
	}
}

func TestDemandsAndTwins(t *testing.T) {
	w := newOnDisk(t, "none", "rw/a", "rw/b", "rw/c")
	tip := w.r.Tip("main")
	for _, name := range []string{"rw/a", "rw/b", "RW/b", "Rw/C"} {
		w.put(name, tip)
	}
	w.r.Protect("rw/a", standin.Rules{Checks: []standin.RequiredCheck{{Context: "Sluice/promote/RW/a"}}, Classic: true})
	s, _ := w.look(Ask{})
	for i, want := range []plan.WindowedBranch{{Demands: true}, {CaseConflict: "RW/b"}, {CaseConflict: "Rw/C"}} {
		if b := s.Branches[i]; b.Demands != want.Demands || b.CaseConflict != want.CaseConflict {
			t.Errorf("%+v", b)
		}
	}
	if s, got := w.look(Ask{}); sum(got) != 1 || s.Branches[1].CaseConflict != "RW/b" {
		t.Errorf("%+v after %v", s.Branches, got)
	}
	w.forge.now = func() time.Time { return time.Now().Add(11 * time.Minute) } // people were told to delete it
	w.put("rw/other", tip)
	w.git("", "update-ref", "-d", "refs/heads/RW/b")
	if s, _ := w.look(Ask{}); s.Branches[1].CaseConflict != "" || s.Branches[2].CaseConflict != "Rw/C" {
		t.Errorf("%+v", s.Branches)
	}
}

// A file that is invalid, gone, or somewhere else names no branches; one that changes is followed.
func TestTheFileDecides(t *testing.T) {
	w := newWindowed(t, "none", "a")
	w.put("a", w.r.Tip("main"))
	w.look(Ask{})
	write := func(branch, text string) {
		_, err := w.r.Commit(branch, standin.Change{Write: map[string]string{config.File: text}})
		w.must(err)
	}
	write("other", windowedText("none", "a", "evil"))
	_, err := w.r.OpenPull(standin.NewPull{Head: "feature", Base: "other", Change: &standin.Change{Write: map[string]string{"x": "y\n"}}})
	w.must(err)
	if s, _ := w.look(Ask{}); len(s.Branches) != 1 {
		t.Errorf("%+v", s.Branches)
	}
	write("main", windowedText("none", "a", "b"))
	if s, _ := w.look(Ask{}); len(s.Branches) != 2 || s.Branches[0].Relation != plan.Behind || s.Branches[1].Relation != plan.Absent {
		t.Errorf("%+v", s.Branches)
	}
	write("main", "version: 7\n")
	if s, _ := w.look(Ask{}); s.Branches != nil || s.Sources != nil {
		t.Errorf("%+v", s.Branches)
	}
	w.look(Ask{})
	write("main", windowedText("none", "b"))
	if s, _ := w.look(Ask{}); len(s.Branches) != 1 || s.Branches[0].Name != "b" {
		t.Errorf("%+v", s.Branches)
	}
	if _, got := w.look(Ask{}); sum(got) != 1 {
		t.Errorf("a quiet look took %v", got)
	}
}

// What comes to a windowed branch comes by promotion: it is not told as having come past the gate. A look at some pull requests
// alone shows the branches, too.
func TestPullsIntoWindowedBranches(t *testing.T) {
	w := newWindowed(t, "none", "a")
	root := w.r.Tip("main")
	w.put("a", root)
	n, err := w.r.OpenPull(standin.NewPull{Head: "b", Base: "a", Change: &standin.Change{Write: map[string]string{"x": "y\n"}}})
	w.must(err)
	w.look(Ask{})
	tip := w.push("main", "m")
	w.look(Ask{})
	w.must(w.move(w.moveTo("a", tip)))
	s, got := w.look(Ask{})
	if len(s.Bases["a"].Landings) != 0 || s.Branches[0].Relation != plan.Level || len(s.Bases["main"].Landings) != 1 {
		t.Errorf("%+v after %v", s.Bases["a"].Landings, got)
	}
	s, got = w.look(Ask{Pulls: []int{n}})
	if len(s.Pulls) != 1 || len(s.Branches) != 1 || sum(got) != 1 {
		t.Errorf("%+v after %v", s.Branches, got)
	}
}

// A new entry is looked up among all names at once: it may be the twin of a branch that stands.
func TestANewEntrysTwin(t *testing.T) {
	w := newOnDisk(t, "none", "rw/a")
	w.put("rw/a", w.r.Tip("main"))
	w.put("RW/new", w.r.Tip("main"))
	w.look(Ask{})
	var refs strings.Builder
	for i := range 2 * namesPage {
		fmt.Fprintf(&refs, "create refs/heads/AA/%d %s\n", i, w.r.Tip("main"))
	}
	w.git(refs.String(), "update-ref", "--stdin")
	_, err := w.r.Commit("main", standin.Change{Write: map[string]string{config.File: windowedText("none", "rw/a", "rw/new")}})
	w.must(err)
	s, got := w.look(Ask{})
	if b := w.branch(s, "rw/new"); b.Relation != plan.Absent || b.CaseConflict != "RW/new" {
		t.Errorf("%+v after %v", b, got)
	}
	if s, got = w.look(Ask{}); s.Branches[1].CaseConflict != "RW/new" || sum(got) != 1 {
		t.Errorf("%+v after %v", s.Branches, got)
	}
}

// However few commits a branch is behind, so many of its source are read that package promoter can tell whether CI runs there, and
// a quiet look stays one request.
func TestSilentSources(t *testing.T) {
	for name, merged := range map[string]bool{"straight": false, "merged": true} {
		w := newOnDisk(t, "all", "a")
		shas := w.line(40)
		if merged { // a page of history shows side commits, too: the newest of the line are not all among them
			for i := range 15 {
				branch := fmt.Sprint("side", i)
				n := w.open(branch, branch)
				w.push(branch, branch+"/more")
				_, err := w.r.MergePull(n, "alice", standin.Merge)
				w.must(err)
			}
			shas = strings.Fields(w.git("", "rev-list", "--first-parent", "refs/heads/main"))
		}
		w.put("a", shas[0])
		s, _ := w.look(Ask{})
		if line := s.Sources["main"].Line; line[recentPage].Read || merged && line[recentPage-1].Read { // what comes with a line comes
			t.Errorf("%s: a branch that has nowhere to go has commits judged", name)
		}
		w.look(Ask{})
		level := w.forge.LookCost(w.repo)
		w.put("a", shas[1])
		w.status(shas[5], "kustomization/apps/1a2b", "success", standin.Actor{Login: "flux"})
		w.look(Ask{})
		s, quiet := w.look(Ask{})
		if sum(quiet) != 1 || s.Branches[0].Reach != 1 {
			t.Errorf("%s: %+v after %v", name, s.Branches[0], quiet)
		}
		if cost := w.forge.LookCost(w.repo); cost > level+1 || cost > level && !merged {
			t.Errorf("%s: a quiet look costs %d points while a branch waits, else %d", name, cost, level)
		}
		v := promoter.Decide(s).Branches[0]
		if v.Kind != plan.Blocked || !strings.Contains(v.Reason, "CI does not run on main") {
			t.Errorf("%s: %+v", name, v)
		}
		w.status(shas[recentPage-1], "ci", "success", standin.Actor{Login: "ci"})
		if s, quiet = w.look(Ask{}); sum(quiet) != 1 || promoter.Decide(s).Branches[0].Kind == plan.Blocked {
			t.Errorf("%s: %+v after %v", name, promoter.Decide(s).Branches[0], quiet)
		}
	}
}
