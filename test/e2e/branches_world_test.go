package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// What the tests of windowed branches share: the file, where branches stand, and who moved them, as git and GitHub have it.

const (
	// bot is our App as GitHub names it in events.
	bot = "sluice[bot]"
	// summary is the context of the status that sums up the branches on the tip of the branch that they follow.
	summary = "sluice/promote"
	// openDay is how the opening of shutForYears is told.
	openDay = "Tue 1 Jan 2030 00:00 UTC"
)

// entry is a windowed branch of the file; by default it follows main in the window w, whatever the checks.
type entry struct{ name, from, window, checks string }

// fleet is a file by which windowed changes are merged at once: branches hold them.
type fleet struct {
	windows map[string]string
	rules   string // of the layout, before the preset's
	pulls   string // more of pull_requests
	entries []entry
}

func (f fleet) String() string {
	var b strings.Builder
	b.WriteString("version: 1\ntimezone: UTC\nwindows:\n")
	for _, name := range slices.Sorted(maps.Keys(f.windows)) {
		fmt.Fprintf(&b, "  %s: %s\n", name, f.windows[name])
	}
	b.WriteString("layout:\n  preset: rt-rw\n  branches: [\"rw/*\"]\n" + f.rules)
	b.WriteString("pull_requests:\n  settle: 0s\n" + f.pulls + "branches:\n")
	for _, e := range f.entries {
		fmt.Fprintf(&b, "  - {name: %s, from: %s, window: %s, checks: %s}\n",
			e.name, or(e.from, "main"), or(e.window, "w"), or(e.checks, "none"))
	}
	return b.String()
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// following is such a file with one window, in which these branches follow main.
func following(window string, names ...string) string {
	f := fleet{windows: map[string]string{"w": window}}
	for _, name := range names {
		f.entries = append(f.entries, entry{name: name})
	}
	return f.String()
}

// checked is such a file with one window, in which these branches follow main to where its required checks are green.
func checked(window string, names ...string) string {
	return strings.ReplaceAll(following(window, names...), "checks: none", "checks: required")
}

// requireCI makes main require a check of another App's.
func (w *world) requireCI() {
	w.repo.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}, {Context: "ci", App: ci.App}}})
}

// plant makes branches at a commit, as people do.
func (w *world) plant(sha string, names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.must(w.repo.Push("acme", name, sha))
	}
}

// setFile puts a file onto main and gives the commit.
func (w *world) setFile(file string) string {
	w.t.Helper()
	return w.commit("main", standin.Change{Message: "Rules", Write: map[string]string{".github/sluice.yaml": file}})
}

// tip is where git has a branch; "" if it is not there.
func (w *world) tip(branch string) string {
	return w.git("for-each-ref", "--format=%(objectname)", "refs/heads/"+branch)
}

// reach waits until branches stand at a commit.
func (w *world) reach(sha string, branches ...string) {
	w.t.Helper()
	for _, branch := range branches {
		w.eventually(fmt.Sprintf("%s stands at %.7s, now %.7s", branch, sha, w.tip(branch)), func() bool { return w.tip(branch) == sha })
	}
}

// stand sees that branches stand where they should.
func (w *world) stand(sha string, branches ...string) {
	w.t.Helper()
	for _, branch := range branches {
		if now := w.tip(branch); now != sha {
			w.t.Errorf("%s stands at %.7q, want %.7q", branch, now, sha)
		}
	}
}

// summed waits until a commit has a summary that begins so.
func (w *world) summed(sha, prefix string) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%.7s has the summary %q, now %q", sha, prefix, w.statusOn(sha, summary)), func() bool {
		return strings.HasPrefix(w.statusOn(sha, summary), prefix)
	})
}

// moved is one move of a branch as GitHub tells of it.
type moved struct {
	by, from, to string // "" where the branch is not
	at           time.Time
}

// pushed is what happened to every branch, the oldest first.
func (w *world) pushed() map[string][]moved {
	w.t.Helper()
	w.repo.Pulls() // GitHub tells of a move a moment after git has it: this waits for that moment
	w.told()
	all := map[string][]moved{}
	for _, d := range w.github.Deliveries() {
		var p struct {
			Ref, Before, After string
			Sender             struct{ Login string }
		}
		if d.Event != "push" {
			continue
		}
		w.must(json.Unmarshal(d.Payload, &p))
		branch := strings.TrimPrefix(p.Ref, "refs/heads/")
		all[branch] = append(all[branch], moved{p.Sender.Login, present(p.Before), present(p.After), d.At})
	}
	return all
}

func present(sha string) string {
	if strings.Trim(sha, "0") == "" {
		return ""
	}
	return sha
}

// went sees that sluice took a branch along these commits and no others, "" where it was not there, and gives its moves.
func (w *world) went(branch string, path ...string) []moved {
	w.t.Helper()
	var ours []moved
	for _, m := range w.pushed()[branch] {
		if m.by == bot {
			ours = append(ours, m)
		}
	}
	ok := len(ours) == len(path)-1
	for i := 0; ok && i < len(ours); i++ {
		ok = ours[i].from == path[i] && ours[i].to == path[i+1]
	}
	if !ok {
		w.t.Errorf("sluice moved %s: %+v, want along %q", branch, ours, path)
	}
	return ours
}

// mutations counts the requests by which several branches were to move at once.
func (w *world) mutations() int {
	n := 0
	for _, r := range w.github.RequestLog() {
		if r.Route == "/graphql" && strings.HasPrefix(r.Query, "mutation ") {
			n++
		}
	}
	return n
}

// planned is the answer of `sluice plan --json`, as far as it is about branches.
type planned struct {
	At, Wake string
	Branches []branchPlan
}

type branchPlan struct {
	Name, From, Verdict, Reason string
	Old, New, Until             *string
	Waiting                     int
}

// planned asks what the service would do, and sees that the answer is yes (0) or no (1).
func (w *world) planned(code int) map[string]branchPlan {
	w.t.Helper()
	out, stderr, got := w.run("plan", "acme/fleet", "--json")
	if got != code {
		w.t.Errorf("plan ends with %d, want %d: %s%s", got, code, out, stderr)
	}
	var p planned
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	all := map[string]branchPlan{}
	for _, b := range p.Branches {
		all[b.Name] = b
	}
	return all
}

// verdict sees what is said of a branch.
func (w *world) verdict(b branchPlan, kind, reason string) {
	w.t.Helper()
	if b.Verdict != kind || !strings.HasPrefix(b.Reason, reason) {
		w.t.Errorf("%s: %s: %q, want %s: %q", b.Name, b.Verdict, b.Reason, kind, reason)
	}
}

// moveStop stops the request that moves branches.
func moveStop(w *world) *stop {
	return &stop{t: w.t, method: http.MethodPost, path: "/graphql", body: "updateRefs"}
}

// onMoves is what becomes of the next request that moves branches.
func onMoves(f api.Fault) api.Fault {
	f.Method, f.Path, f.Contains = http.MethodPost, "/graphql", "updateRefs"
	return f
}
