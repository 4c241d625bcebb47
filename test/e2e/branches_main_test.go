package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// TestBothHalvesOfOnePullRequest is the main job of windowed branches: a change with a live and a windowed half is merged at
// once, its status says which branches take it and when; main moves, the branches wait and say so on main's tip, and at the
// opening they move, all in one request.
func TestBothHalvesOfOnePullRequest(t *testing.T) {
	t.Parallel()
	names := []string{"rw/cluster-1", "rw/cluster-2", "rw/cluster-3"}
	w := newWorld(t, following(shutForYears, names...))
	before := w.tip("main")
	w.plant(before, names...)
	w.serve()
	n := w.open("both", "apps/a-rt/x", "apps/a-rw/x")
	w.merged(n)
	if got, want := w.status(n), "success: live; 3 branches receive it, next rw/cluster-1 on "+openDay; got != want {
		t.Errorf("the status is %q, want %q", got, want)
	}
	if live, windowed := w.onMain("apps/a-rt/x"), w.onMain("apps/a-rw/x"); live != "both\n" || windowed != "both\n" {
		t.Errorf("main has %q and %q", live, windowed)
	}
	w.summed(w.tip("main"), "pending: 3 branches wait; next: rw/cluster-1 on "+openDay)
	w.stand(before, names...)

	opening := time.Now().Add(6 * time.Second).Truncate(time.Second)
	tip := w.setFile(following(opensAt(opening), names...))
	w.reach(tip, names...)
	w.summed(tip, "success: all 3 branches are at this commit")
	said := "3 branches wait; next: rw/cluster-1 on " + opening.UTC().Format("Mon 2 Jan 2006 15:04")
	if all := w.repo.Statuses(tip); !slices.ContainsFunc(all, func(s standin.Status) bool {
		return s.Context == summary && s.State == "pending" && strings.HasPrefix(s.Description, said)
	}) {
		t.Errorf("main's tip never had the summary %q: %+v", said, all)
	}
	for _, name := range names {
		for _, m := range w.went(name, before, tip) {
			if m.at.Before(opening) || m.at.After(opening.Add(10*time.Second)) {
				t.Errorf("%s moved at %s, the window opened at %s", name, m.at, opening)
			}
		}
		if got := w.git("show", name+":apps/a-rw/x"); got != "both" {
			t.Errorf("%s has %q", name, got)
		}
	}
	if got := w.mutations(); got != 1 {
		t.Errorf("%d requests moved three branches", got)
	}
}

// TestTwoWindowsOneSource: branches that follow one branch in different windows move each in its own.
func TestTwoWindowsOneSource(t *testing.T) {
	t.Parallel()
	file := func(one, two string) string {
		return fleet{
			windows: map[string]string{"w1": one, "w2": two},
			entries: []entry{{name: "rw/a", window: "w1"}, {name: "rw/b", window: "w2"}},
		}.String()
	}
	w := newWorld(t, file(openForYears, shutForYears))
	before := w.tip("main")
	w.plant(before, "rw/a", "rw/b")
	w.serve()
	first := w.push("main", "apps/a-rw/x")
	w.reach(first, "rw/a")
	w.summed(first, "pending: 1 branch waits; next: rw/b on "+openDay)
	w.stand(before, "rw/b")
	second := w.setFile(file(shutForYears, openForYears))
	w.reach(second, "rw/b")
	w.summed(second, "pending: 1 branch waits; next: rw/a on "+openDay)
	w.stand(first, "rw/a")
	w.went("rw/a", before, first)
	w.went("rw/b", before, second)
}

// TestMoveIntoAWindowedDirectory: what leaves a live directory for a windowed one would be deleted by Flux at the merge and come
// back with the branch alone: the pull request is held until the branch may move, and then both go.
func TestMoveIntoAWindowedDirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, following(shutForYears, "rw/a"))
	w.plant(w.tip("main"), "rw/a")
	w.serve()
	n := w.propose(standin.NewPull{Head: "into", Change: &standin.Change{Move: map[string]string{"apps/a-rt/x": "apps/b-rw/x"}}})
	w.hasStatus(n, "pending: held by w until "+openDay+": Flux prunes what moves unless it has kustomize.toolkit.fluxcd.io/prune: disabled")
	w.unmerged(n)
	w.setFile(following(openForYears, "rw/a"))
	w.merged(n)
	w.reach(w.tip("main"), "rw/a")
	w.summed(w.tip("main"), "success: rw/a is at this commit")
}

// TestPullRequestIntoAWindowedBranch: such a branch moves by promotion alone.
func TestPullRequestIntoAWindowedBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, following(openForYears, "rw/a"))
	w.plant(w.tip("main"), "rw/a")
	w.serve()
	n := w.propose(standin.NewPull{Head: "live", Base: "rw/a", Change: write("live", "apps/a-rt/x")})
	want := "failure: sluice updates this branch; open the pull request against main"
	w.eventually("the status says so", func() bool { return w.statusIn("sluice/rw/a", n) == want })
	w.unmerged(n)
}

// TestHeldAndBranchReleases: what some window holds is held, also beside what a branch would take. Once it is merged the branch
// still waits for its own window.
func TestHeldAndBranchReleases(t *testing.T) {
	t.Parallel()
	file := func(held string) string {
		return fleet{
			windows: map[string]string{"w": shutForYears, "other": held},
			rules:   "  rules: [{paths: [\"held/**\"], release: other}]\n",
			entries: []entry{{name: "rw/a"}},
		}.String()
	}
	w := newWorld(t, file(shutForYears))
	before := w.tip("main")
	w.plant(before, "rw/a")
	w.serve()
	n := w.open("mixed", "held/x", "apps/a-rw/x")
	w.hasStatus(n, "pending: held by other until "+openDay)
	w.unmerged(n)
	w.setFile(file(openForYears))
	w.merged(n)
	w.summed(w.tip("main"), "pending: 1 branch waits; next: rw/a on "+openDay)
	w.stand(before, "rw/a")
}

// TestObservedBranches: in mode observe nothing moves, and the summary says what would.
func TestObservedBranches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "mode: observe\n"+following(openForYears, "rw/a", "rw/b"))
	before := w.tip("main")
	w.plant(before, "rw/a", "rw/b")
	w.serve()
	tip := w.push("main", "apps/a-rw/x")
	w.summed(tip, "success: would move 2 branches")
	w.stand(before, "rw/a", "rw/b")
}

// TestPlanOfBranches: `sluice plan --json` has every branch under the keys of its format, and says no (1) while one is held, waits
// or is blocked.
func TestPlanOfBranches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, following(shutForYears, "rw/a"))
	w.requireCI()
	before := w.tip("main")
	w.plant(before, "rw/a")
	out, stderr, code := w.run("plan", "acme/fleet", "--json")
	if code != 0 {
		t.Errorf("exit code %d: %s%s", code, out, stderr)
	}
	var keyed struct{ Branches []map[string]any }
	w.must(json.Unmarshal([]byte(out), &keyed))
	want := map[string]any{
		"name": "rw/a", "from": "main", "old": before, "new": nil, "verdict": "current", "reason": "up to date with main",
		"until": nil, "waiting": 0.0,
	}
	if len(keyed.Branches) != 1 || len(keyed.Branches[0]) != len(want) {
		t.Fatalf("%s", out)
	}
	for key, value := range want {
		if got, there := keyed.Branches[0][key]; !there || got != value {
			t.Errorf("%s is %v, want %v", key, got, value)
		}
	}

	w.push("main", "apps/a-rw/x")
	tip := w.push("main", "apps/a-rw/x")
	held := w.planned(1)["rw/a"]
	w.verdict(held, "held", "held by w until "+openDay)
	if held.New == nil || *held.New != tip || held.Waiting != 2 || held.Until == nil || *held.Until != "2030-01-01T00:00:00Z" {
		t.Errorf("held: %+v", held)
	}
	w.report(w.setFile(checked(openForYears, "rw/a")), "ci", "")
	w.verdict(w.planned(1)["rw/a"], "waiting", "waiting for checks on ")
	w.commit("rw/a", *write("by hand", "apps/a-rw/x"))
	w.verdict(w.planned(1)["rw/a"], "blocked", "diverged from main: ")
	w.plant(before, "rw/a")
	w.setFile(following(openForYears, "rw/a"))
	w.verdict(w.planned(0)["rw/a"], "due", "open until ")
	w.stand(before, "rw/a") // it was asked, not told
}
