package gate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/plan"
)

const oneWindow = "version: 1\ntimezone: UTC\nwindows: {w: {open: \"0 8 * * MON\", duration: 8h}}\nlayout: {preset: rt-rw, window: w}\n"

// TestMovingCounts: 300 checks that finish one after the other are not 300 statuses of the thousand that a commit takes.
func TestMovingCounts(t *testing.T) {
	pol, _ := config.Parse([]byte(oneWindow))
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	var standing []plan.Status
	writes := 0
	for done := range 300 {
		var cs []plan.Check
		for i := range 300 {
			st := plan.CheckPending
			if i >= 300-done {
				st = plan.CheckGreen
			}
			cs = append(cs, plan.Check{Context: plan.Context(fmt.Sprintf("ci/%03d", i)), State: st})
		}
		s := plan.Snapshot{At: at, Us: "sluice", App: 1, Default: "main", Bases: map[plan.Branch]plan.Base{"main": {Tip: "t", File: "f", Policy: pol, Rules: true}},
			Pulls: []plan.Pull{{Number: 1, Base: "main", Head: "h", SameRepo: true, Complete: true, ChecksAll: true, Mergeable: plan.MergeableYes,
				Files: []plan.File{{Path: "a/b-rt/x"}}, Checks: cs, Ours: standing}}}
		for _, a := range gate.Decide(s).Actions {
			if set, ok := a.(plan.SetStatus); ok {
				writes++
				standing = []plan.Status{{Context: set.Context, State: set.State, Description: set.Description, By: "sluice"}}
			}
		}
	}
	if writes > 10 {
		t.Errorf("%d statuses for one run of 300 checks", writes)
	}
}

// TestBudgetOverBases: what can be withdrawn in time is reckoned over all bases together.
func TestBudgetOverBases(t *testing.T) {
	pol, _ := config.Parse([]byte(oneWindow + "pull_requests: {window: status}\n"))
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	s := plan.Snapshot{At: at, Us: "sluice", App: 1, Default: "b0", Budget: 180, Bases: map[plan.Branch]plan.Base{}}
	for b := range 4 {
		base := plan.Branch(fmt.Sprint("b", b))
		s.Bases[base] = plan.Base{Tip: "t", File: "f", Policy: pol, Rules: true, Required: []plan.RequiredCheck{{Context: plan.ContextFor(base), App: 1}}}
		for i := range 450 {
			n := b*1000 + i
			s.Pulls = append(s.Pulls, plan.Pull{Number: n, Base: base, Head: plan.SHA(fmt.Sprint("h", n)), SameRepo: true, Complete: true, ChecksAll: true, Mergeable: plan.MergeableYes,
				Files: []plan.File{{Path: "a/b-rw/x"}}, FirstSeen: at.Add(-time.Hour)})
		}
	}
	green := 0
	for _, a := range gate.Decide(s).Actions {
		if set, ok := a.(plan.SetStatus); ok && set.State == plan.Success {
			green++
		}
	}
	if most := 450; green > most {
		t.Errorf("%d green at once; %d can be withdrawn in half the cutoff", green, most)
	}
}

const (
	toBranches = "version: 1\ntimezone: UTC\nwindows: {w: {open: \"0 8 * * MON\", duration: 8h}}\nlayout: {preset: rt-rw, branches: [\"rw/*\"]}\n"
	onBranch   = toBranches + "branches: [{name: rw/a, from: main, window: w}]\n"
)

// branchWorld is a closed window with some pull requests that the branch rw/a holds.
func branchWorld(pol *config.Policy, pulls int) plan.Snapshot {
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	s := plan.Snapshot{At: at, Us: "sluice", App: 1, Default: "main", Budget: 60, Bases: map[plan.Branch]plan.Base{
		"main": {Tip: "t", File: "f", Policy: pol, Rules: true, Required: []plan.RequiredCheck{{Context: "sluice/main", App: 1}}}}}
	for n := range pulls {
		s.Pulls = append(s.Pulls, plan.Pull{Number: n + 1, Base: "main", Head: plan.SHA(fmt.Sprint("h", n)), SameRepo: true, Complete: true, ChecksAll: true,
			Mergeable: plan.MergeableYes, Files: []plan.File{{Path: "a/b-rw/x"}}, FirstSeen: at.Add(-time.Hour)})
	}
	return s
}

// TestBranchesNeedNoBudget: what only branches hold need not be withdrawn at any close, so any number of it may be green.
func TestBranchesNeedNoBudget(t *testing.T) {
	pol, findings := config.Parse([]byte(onBranch + "pull_requests: {live: status}\n"))
	if pol == nil {
		t.Fatal(findings)
	}
	const many = 2500
	green := 0
	for _, a := range gate.Decide(branchWorld(pol, many)).Actions {
		if set, ok := a.(plan.SetStatus); ok && set.State == plan.Success {
			green++
		}
	}
	if green != many {
		t.Errorf("%d of %d are green", green, many)
	}
}

// TestBranchOfNoWindow: an entry whose window nobody knows would never move. A file that has one is invalid; a policy that came
// about otherwise holds.
func TestBranchOfNoWindow(t *testing.T) {
	parsed, findings := config.Parse([]byte(onBranch))
	if parsed == nil {
		t.Fatal(findings)
	}
	pol := *parsed
	pol.Branches = []config.Branch{{Name: "rw/a", From: "main", Window: "nowhere"}}
	got := gate.Decide(branchWorld(&pol, 1)).Verdicts[0]
	if got.Kind != plan.Held || got.Reason != "held: no windowed branch receives it: .github/sluice.yaml has no entry from main that matches rw/*" {
		t.Errorf("%s: %s", got.Kind, got.Reason)
	}
}

// TestWhyOfBranches: the explanation names the branches that hold a change with their windows, bounded, and what a move does.
func TestWhyOfBranches(t *testing.T) {
	var file strings.Builder
	file.WriteString(toBranches + "branches:\n")
	for i := range 30 {
		fmt.Fprintf(&file, "- {name: rw/%02d, from: main, window: w}\n", i)
	}
	pol, findings := config.Parse([]byte(file.String()))
	if pol == nil {
		t.Fatal(findings)
	}
	s := branchWorld(pol, 2)
	s.Pulls[0].Files = []plan.File{{Path: "a/b-rw/x", Old: "a/b-rt/x", Kind: plan.Renamed}}
	s.Pulls[1].Files = []plan.File{{Path: "a/b-rt/y", Old: "a/b-rw/y", Kind: plan.Renamed}}
	verdicts := gate.Decide(s).Verdicts
	for i, want := range []plan.Step{
		{About: "a/b-rw/x", Says: "moved from a/b-rt/x, which no branch holds: Flux deletes the object at the merge, and restores it only when branch:rw/* moves; " +
			"to keep it, first merge a change that only adds metadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}} to a/b-rt/x, and let Flux apply it"},
		{About: "a/b-rt/y", Says: "moved from a/b-rw/y, which a branch holds: not held for that; Flux applies the object from both until that branch moves, and may delete it then; " +
			"to keep it, first merge a change that only adds metadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}} to a/b-rw/y, and let Flux apply it"},
	} {
		for _, step := range []plan.Step{want, {About: "rw/00", Says: "receives it in the window w"}, {About: "…", Says: "and 10 more branches"}} {
			if !slices.Contains(verdicts[i].Why, step) {
				t.Errorf("#%d: no %+v in %+v", i+1, step, verdicts[i].Why)
			}
		}
	}
}

// TestWhyOfTheWhole: whatever holds it, the explanation says how its checks and reviews stand and when it has its turn, and each path names the line of
// the rule that decides it. However many paths there are, none of that is left out.
func TestWhyOfTheWhole(t *testing.T) {
	pol, findings := config.Parse([]byte(`version: 1
timezone: UTC
windows: {w: {open: "0 8 * * *", duration: 1h}}
layout:
  rules:
    - {paths: ["a/rt/**"], release: live}
    - {paths: ["a/rw/**"], release: w}
pull_requests: {approvals: 2, checks: all}
override: {by: ["user:alice"]}
`))
	if pol == nil {
		t.Fatal(findings)
	}
	s := branchWorld(pol, 3)
	s.At = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	s.Pulls[0].Author = "bob"
	for i := range s.Pulls {
		p := &s.Pulls[i]
		p.CreatedAt, p.ChecksAll, p.Files = s.At.Add(-time.Hour-time.Duration(i)*time.Minute), true, nil
		for n := range 40 {
			p.Files = append(p.Files, plan.File{Path: fmt.Sprintf("a/rw/%02d", n), Kind: plan.Modified})
		}
	}
	s.Pulls[0].Checks = []plan.Check{{Context: "lint", State: plan.CheckRed}, {Context: "e2e", State: plan.CheckGreen}}
	s.Pulls[1].Checks = []plan.Check{{Context: "lint", State: plan.CheckPending}}
	s.Pulls[1].Reviews = []plan.Review{{By: "carol", CanWrite: true}}
	s.Pulls[2].ChecksAll, s.Pulls[2].Decision = false, plan.ReviewRequired
	verdicts := gate.Decide(s).Verdicts
	if v := verdicts[0]; v.Author != "bob" || !v.Opened.Equal(s.At.Add(-time.Hour)) {
		t.Errorf("%+v", v)
	}
	for i, want := range [][3]string{
		{"failed: lint", "0 of 2 approvals by people with write access", "number 3 of 3 pull requests that wait for the same instant"},
		{"in progress: lint", "carol requested changes", "number 2 of 3 pull requests that wait for the same instant"},
		{"could not all be read", "0 of 2 approvals by people with write access; main requires a review", "number 1 of 3 pull requests that wait for the same instant"},
	} {
		why := verdicts[i].Why
		got := []plan.Step{
			{About: plan.AboutChecks, Says: want[0], Whole: true}, {About: plan.AboutReviews, Says: want[1], Whole: true},
			{About: plan.AboutThen, Says: "sluice merges it by itself, unless checks, reviews or a conflict keep it; a new push is decided on anew", Whole: true}, {About: plan.AboutOrder, Says: want[2], Whole: true},
		}
		if verdicts[i].Kind != plan.Held || !slices.Equal(why[1:5], got) || why[0].About != "/sluice release h"+fmt.Sprint(i)+" REASON" || !strings.HasPrefix(why[0].Says, "only a comment of alice releases it: this head") || why[5].Line != 7 || why[5].About != "a/rw/00" {
			t.Errorf("#%d: %+v", i+1, why[:6])
		}
	}
}

// TestWhyOfAMoveBetweenWindows: where no branch holds either side, Flux still prunes what leaves one Kustomization for another. The
// explanation begins with what moves: of a long one only the beginning is kept.
func TestWhyOfAMoveBetweenWindows(t *testing.T) {
	pol, findings := config.Parse([]byte(`version: 1
timezone: UTC
windows: {w: {open: "0 8 * * *", duration: 1h}}
layout:
  rules:
    - {paths: ["a/rt/**"], release: live}
    - {paths: ["a/rw/**"], release: w}
`))
	if pol == nil {
		t.Fatal(findings)
	}
	s := branchWorld(pol, 3)
	s.Pulls[0].Files = []plan.File{{Path: "a/rw/x", Old: "a/rt/x", Kind: plan.Renamed}}
	for i := range 30 {
		s.Pulls[0].Files = append(s.Pulls[0].Files, plan.File{Path: fmt.Sprintf("a/rt/%d", i), Kind: plan.Modified})
	}
	s.Pulls[1].Files = []plan.File{{Path: "a/rt/z", Old: "a/rt/y", Kind: plan.Renamed}}
	s.Pulls[2].Files = []plan.File{{Path: "README.md", Old: "a/rt/y", Kind: plan.Renamed}}
	verdicts := gate.Decide(s).Verdicts
	want := plan.Step{About: "a/rw/x", Says: "moved from a/rt/x: if another Flux Kustomization reads it now, Flux may delete the object before it creates it again; " +
		"to keep it, first merge a change that only adds metadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}} to a/rt/x, and let Flux apply it"}
	if len(verdicts) != 3 || !slices.Contains(verdicts[0].Why[:5], want) {
		t.Errorf("%+v, want first %+v", verdicts[0].Why, want)
	}
	for _, v := range verdicts[1:] {
		for _, step := range v.Why {
			if strings.Contains(step.Says, "moved from") {
				t.Errorf("#%d: %+v", v.Subject.Pull, step)
			}
		}
	}
}

// TestAThousandGreen: of 1,000 that people may merge as many are green as can be withdrawn, at GitHub's pace, in half the
// cutoff; at the cutoff all of these are withdrawn before anything else, and nothing else turns green.
func TestAThousandGreen(t *testing.T) {
	pol, _ := config.Parse([]byte(oneWindow + "pull_requests: {window: status}\n"))
	open := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	const perMinute, most = 120, 300 // in two and a half minutes
	s := plan.Snapshot{At: open, Us: "sluice", App: 1, Default: "main", Budget: perMinute, Bases: map[plan.Branch]plan.Base{
		"main": {Tip: "t", File: "f", Policy: pol, Rules: true, Required: []plan.RequiredCheck{{Context: "sluice/main", App: 1}}}}}
	for n := range 1000 {
		s.Pulls = append(s.Pulls, plan.Pull{Number: n + 1, Base: "main", Head: plan.SHA(fmt.Sprint("h", n)), SameRepo: true, Complete: true, ChecksAll: true,
			Mergeable: plan.MergeableYes, Files: []plan.File{{Path: "a/b-rw/x"}}, FirstSeen: open.Add(-time.Hour)})
	}
	green := map[plan.SHA]bool{}
	standing := map[plan.SHA]plan.Status{}
	for _, a := range gate.Decide(s).Actions {
		set := a.(plan.SetStatus)
		green[set.SHA] = set.State == plan.Success
		standing[set.SHA] = plan.Status{Context: set.Context, State: set.State, Description: set.Description, By: "sluice"}
	}
	count := 0
	for i, p := range s.Pulls {
		if green[p.Head] {
			count++
		}
		s.Pulls[i].Ours = []plan.Status{standing[p.Head]}
	}
	if count != most {
		t.Errorf("%d are green, want %d", count, most)
	}

	s.At = time.Date(2026, 11, 23, 15, 55, 0, 0, time.UTC) // the window closes at 16:00, its cutoff is 5 minutes
	for i, a := range gate.Decide(s).Actions {
		set, ok := a.(plan.SetStatus)
		if !ok || set.State == plan.Success || set.Withdraws != (i < most) || set.Withdraws != green[set.SHA] {
			t.Fatalf("action %d at the cutoff: %+v", i, a)
		}
	}
}

// TestTitle: a verdict carries the pull request's title for the page, fit to be read and of bounded length.
func TestTitle(t *testing.T) {
	pol, _ := config.Parse([]byte(oneWindow))
	s := plan.Snapshot{At: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC), Default: "main", Bases: map[plan.Branch]plan.Base{"main": {Tip: "t", File: "f", Policy: pol}},
		Pulls: []plan.Pull{{Number: 1, Base: "main", Head: "h", Title: "two\nlines \u202eexe.txt" + strings.Repeat("x", 1000)}}}
	got := gate.Decide(s).Verdicts[0].Title
	if !strings.HasPrefix(got, "two lines \uFFFDexe.txt") || len([]rune(got)) != plan.MaxReason {
		t.Errorf("%q", got)
	}
}

// TestUnnamedReleasesAreBounded: what captures stand for is whatever the author of a pull request names directories. However many such names are no
// windows, the verdict keeps a few: each of them holds for good. Comparing all with all took minutes for the files that one pull request may have.
func TestUnnamedReleasesAreBounded(t *testing.T) {
	pol, _ := config.Parse([]byte(strings.Replace(oneWindow, "preset: rt-rw, window: w", "rules: [{paths: ['apps/{team}-{env}/**'], release: '{env}'}]", 1)))
	if pol == nil {
		t.Fatal("no policy")
	}
	var files []plan.File
	for i := range 10 {
		name := fmt.Sprintf("t%d", i)
		for j := range 60 {
			name += fmt.Sprintf("-%d.%d", i, j)
		}
		files = append(files, plan.File{Path: "apps/" + name + "/x"})
	}
	s := plan.Snapshot{At: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), Us: "sluice", App: 1, Default: "main",
		Bases: map[plan.Branch]plan.Base{"main": {Tip: "t", File: "f", Policy: pol, Rules: true}},
		Pulls: []plan.Pull{{Number: 1, Base: "main", Head: "h", SameRepo: true, Complete: true, ChecksAll: true, Mergeable: plan.MergeableYes, Files: files}}}
	got := gate.Decide(s)
	if v := got.Verdicts[0]; v.Kind != plan.Held && v.Kind != plan.Blocked || len(v.Releases) > 100 {
		t.Errorf("%s with %d releases", v.Kind, len(v.Releases))
	}
	for _, a := range got.Actions {
		if _, ok := a.(plan.Merge); ok {
			t.Errorf("merges: %v", a)
		}
	}
	slices.Reverse(s.Pulls[0].Files)
	if again := gate.Decide(s); !slices.Equal(again.Verdicts[0].Releases, got.Verdicts[0].Releases) {
		t.Error("the order of the files changes the verdict")
	}
}

// TestWarningsAreBounded: of any number of pull requests twenty say what only warns, and one says how many more there are.
func TestWarningsAreBounded(t *testing.T) {
	pol, _ := config.Parse([]byte(strings.Replace(oneWindow, "preset: rt-rw, window: w", "flux: true, unmatched: live", 1)))
	base := plan.Base{Tip: "t", File: "f", Policy: pol, Rules: true}
	s := plan.Snapshot{At: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC), Us: "sluice", App: 1, Default: "main", Bases: map[plan.Branch]plan.Base{"main": base}}
	for n := range 300 {
		p := plan.Pull{Number: n + 1, Base: "main", Head: plan.SHA(fmt.Sprint("h", n)), Complete: true, Files: []plan.File{{Path: "x"}}}
		p.References = &plan.References{Asked: p.Asked(&base), Told: []plan.Note{{Code: "builds", Says: "broken"}, {Code: "moves", Says: "moved"}}}
		s.Pulls = append(s.Pulls, p)
	}
	var told []string
	for _, n := range gate.Decide(s).Notes {
		if strings.HasPrefix(n.About, "#") {
			told = append(told, n.Code+" "+n.About+" "+n.Says)
		}
	}
	if len(told) != 41 || told[0] != "builds #1 broken" || told[40] != "more-warnings #21 warnings about this pull request and 279 more" {
		t.Errorf("%d: %q", len(told), told[max(0, len(told)-2):])
	}
}
