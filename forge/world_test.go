package forge

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/test/githubapi"
)

// world is a Forge before a stand-in with one repository, in memory if nothing else is said. Whatever they say to each other is held
// against GitHub's own descriptions.
type world struct {
	*testing.T
	hub   *api.Server
	r     *standin.Repo
	forge *Forge
	repo  plan.Repo
	check *githubapi.Checker

	options client.Options
}

// unlimited forgets what is known of limits.
func (w *world) unlimited() {
	w.Helper()
	app, err := client.New(w.options)
	w.must(err)
	w.forge.App, w.forge.Mover.App = app, app
}

// policyText is a file that is valid.
const policyText = "version: 1\ntimezone: UTC\nwindows:\n  night: {open: \"0 22 * * *\", duration: 4h}\n"

func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	return newWorldWith(t, files, api.Options{Memory: true})
}

// newWorldWith is a world before a GitHub of another kind.
func newWorldWith(t *testing.T, files map[string]string, o api.Options) *world {
	t.Helper()
	o.Dir, o.AppID, o.AppKey = t.TempDir(), appID, publicKey(t)
	hub, err := api.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	hub.SetMergeability(standin.AtOnce)
	check := githubapi.New(t)
	w := &world{T: t, hub: hub, check: check}
	w.options = client.Options{URL: "http://github.invalid/api/v3", AppID: appID, PrivateKey: testKey(), Transport: check.Transport(hub.Transport())}
	w.forge, err = New(Options{Options: w.options})
	w.must(err)
	began := time.Now()
	w.forge.now = func() time.Time { return began } // or, on a busy machine, what a test read at one instant grows old
	all := map[string]string{config.File: policyText, "README.md": "hello\n"}
	maps.Copy(all, files)
	if w.r, err = hub.CreateRepo("acme", "fleet", all); err != nil {
		t.Fatal(err)
	}
	if w.repo, err = w.forge.Repository(context.Background(), "acme", "fleet"); err != nil {
		t.Fatal(err)
	}
	return w
}

// must fails the test on an error.
func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// open opens a pull request that writes a file.
func (w *world) open(head, path string) int {
	w.Helper()
	n, err := w.r.OpenPull(standin.NewPull{Head: head, By: "alice", Change: &standin.Change{Write: map[string]string{path: head + "\n"}}})
	w.must(err)
	return n
}

// look observes, and gives the requests that it took, tokens and the App apart.
func (w *world) look(ask Ask) (plan.Snapshot, map[string]int) {
	w.Helper()
	w.hub.ResetRequests()
	s, err := w.forge.Observe(context.Background(), w.repo, ask)
	w.must(err)
	return s, w.requests()
}

// requests are those sent since the last reset, by METHOD ROUTE.
func (w *world) requests() map[string]int {
	sent := w.hub.Requests()
	maps.DeleteFunc(sent, func(name string, _ int) bool {
		return strings.HasSuffix(name, "/access_tokens") || strings.HasSuffix(name, " /app")
	})
	return sent
}

func (w *world) pull(s plan.Snapshot, number int) plan.Pull {
	w.Helper()
	for _, p := range s.Pulls {
		if p.Number == number {
			return p
		}
	}
	w.Fatalf("no pull request %d", number)
	return plan.Pull{}
}

func sum(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// The figure: 50 pull requests opened at once, each gets its status.
func TestRequestsFromOpenedToPending(t *testing.T) {
	w := newWorld(t, nil)
	w.look(Ask{}) // as it was before: the rules are known
	w.hub.ResetRequests()
	for i := range 50 {
		w.open(fmt.Sprint("b", i), fmt.Sprintf("apps/%d.yaml", i))
	}
	s, err := w.forge.Observe(context.Background(), w.repo, Ask{})
	w.must(err)
	for _, p := range s.Pulls {
		w.must(w.forge.SetStatus(context.Background(), w.repo, p.Head, pending))
	}
	got := w.requests()
	t.Logf("50 opened: %v", got)
	if n := sum(got); len(s.Pulls) != 50 || n > 60 {
		t.Errorf("%d requests for %d pull requests: %v", n, len(s.Pulls), got)
	}
	s, got = w.look(Ask{})
	if n := sum(got); n != 1 || len(s.Pulls) != 50 {
		t.Errorf("a quiet look took %v", got)
	}
	for _, p := range s.Pulls {
		if len(p.Ours) != 1 || p.Ours[0].By != s.Us || p.Ours[0].State != plan.Pending || len(p.Checks) != 0 || !p.Complete {
			t.Fatalf("%+v", p)
		}
	}
	if rest, graph := w.check.Checked(); rest == 0 || graph == 0 {
		t.Error("nothing was checked")
	}
}

func TestOneAlone(t *testing.T) {
	w := newWorld(t, nil)
	w.look(Ask{})
	n := w.open("b", "apps/x.yaml")
	s, got := w.look(Ask{})
	if len(got) != 1 || sum(got) != 1 {
		t.Errorf("one look took %v", got)
	}
	p, at := w.pull(s, n), w.r.Pulls()[n-1].UpdatedAt
	want := plan.Pull{
		Number: n, Title: "b", Author: "alice", CreatedAt: p.CreatedAt, UpdatedAt: at.UTC().Truncate(time.Second), Read: s.At, Base: "main", Head: plan.SHA(w.r.Tip("b")), HeadRef: "b",
		MergeBase: plan.SHA(w.r.Tip("main")), Replays: true, SameRepo: true, Mergeable: plan.MergeableYes,
		Files: []plan.File{{Path: "apps/x.yaml", Kind: plan.Added}}, Complete: true, ChecksAll: true,
	}
	if d := cmp.Diff(want, p); d != "" {
		t.Error(d)
	}
	b := s.Bases["main"]
	if b.Policy == nil || b.Tip != want.MergeBase || b.File == "" || !b.Rules || s.Default != "main" || s.Us != "sluice" ||
		len(s.Methods) != 3 || s.Repo.ID != w.r.ID() || b.TipAt.IsZero() {
		t.Errorf("%+v", s)
	}
}

func TestRenamesAndMovedPaths(t *testing.T) {
	w := newWorld(t, map[string]string{"apps/nginx-rt/x": "x\ny\nz\n", "apps/nginx-rw/y": "1\n2\n3\n4\n", "apps/z": "zzz\n"})
	n, err := w.r.OpenPull(standin.NewPull{Head: "mv", Change: &standin.Change{Move: map[string]string{"apps/nginx-rt/x": "apps/nginx-rw/x"}}})
	w.must(err)
	m, err := w.r.OpenPull(standin.NewPull{Head: "edit", Change: &standin.Change{Write: map[string]string{"apps/z": "new\n", "apps/new": "n\n"}}})
	w.must(err)
	w.look(Ask{Pulls: []int{m}}) // the rules are known from here on
	s, got := w.look(Ask{})
	if sum(got) != 2 {
		t.Errorf("a rename took %v", got)
	}
	want := []plan.File{{Path: "apps/nginx-rw/x", Old: "apps/nginx-rt/x", Kind: plan.Renamed}}
	if d := cmp.Diff(want, w.pull(s, n).Files); d != "" || !w.pull(s, n).Complete {
		t.Error(d)
	}
	if _, got = w.look(Ask{}); sum(got) != 1 {
		t.Errorf("the same rename took %v", got)
	}
	_, err = w.r.Commit("main", standin.Change{Move: map[string]string{"apps/z": "elsewhere/z"}})
	w.must(err)
	s, got = w.look(Ask{})
	if sum(got) != 3 { // the paths at the new tip, and what came to it
		t.Errorf("after the base moved: %v", got)
	}
	if p := w.pull(s, m); !slices.Equal(p.Moved, []string{"apps/z"}) || p.MergeBase == s.Bases["main"].Tip {
		t.Errorf("%+v", p)
	}
	if p := w.pull(s, n); len(p.Moved) != 0 {
		t.Errorf("%+v", p)
	}
	if _, got = w.look(Ask{}); sum(got) != 1 {
		t.Errorf("the look after: %v", got)
	}
}

func TestForksReviewsAndChecks(t *testing.T) {
	w := newWorld(t, nil)
	n, err := w.r.OpenPull(standin.NewPull{Head: "mallory:b", Draft: true, Labels: []string{"hold"},
		Change: &standin.Change{Write: map[string]string{"a": "b\n"}}})
	w.must(err)
	w.r.SetPermission("bob", standin.Write)
	w.must(w.r.Review(n, "bob", standin.Approved))
	w.must(w.r.Review(n, "carol", standin.ChangesRequested))
	head := w.r.Tip("mallory:b")
	ci := standin.Actor{Login: "ci", App: 77}
	w.must(w.r.SetCheck(standin.Check{SHA: head, Name: "build", Status: "completed", Conclusion: "success", App: ci}))
	w.must(w.r.SetCheck(standin.Check{SHA: head, Name: "slow", Status: "in_progress", App: ci}))
	w.must(w.r.SetStatus(standin.Status{SHA: head, Context: "lint", State: "error", By: standin.Actor{Login: "bob"}}))
	w.must(w.r.SetStatus(standin.Status{SHA: head, Context: "sluice/main", State: "success", By: standin.Actor{Login: "bob"}}))
	s, _ := w.look(Ask{})
	p := w.pull(s, n)
	if p.SameRepo || !p.Draft || !slices.Equal(p.Labels, []string{"hold"}) || !p.Complete {
		t.Errorf("%+v", p)
	}
	slices.SortFunc(p.Reviews, func(a, b plan.Review) int { return strings.Compare(string(a.By), string(b.By)) })
	reviews := []plan.Review{{By: "bob", On: plan.SHA(head), Approved: true, CanWrite: true}, {By: "carol", On: plan.SHA(head)}}
	if d := cmp.Diff(reviews, p.Reviews); d != "" {
		t.Error(d)
	}
	slices.SortFunc(p.Checks, func(a, b plan.Check) int { return strings.Compare(string(a.Context), string(b.Context)) })
	checks := []plan.Check{
		{Context: "build", App: 77, By: "ci", State: plan.CheckGreen}, {Context: "lint", By: "bob", State: plan.CheckRed},
		{Context: "slow", App: 77, By: "ci"},
	}
	if d := cmp.Diff(checks, p.Checks, undated); d != "" || !p.ChecksAll {
		t.Error(d)
	}
	if len(p.Ours) != 1 || p.Ours[0].By != "bob" || p.Ours[0].State != plan.Success {
		t.Errorf("%+v", p.Ours)
	}
}

func TestProtectedBases(t *testing.T) {
	w := newWorld(t, nil)
	w.r.Protect("main", standin.Rules{
		Checks: []standin.RequiredCheck{{Context: "sluice/main", App: appID}, {Context: "ci"}}, Strict: true, Reviews: 1,
		Other: []standin.Rule{{Type: "copilot_code_review"}},
	})
	w.must(w.r.Push("alice", "old", w.r.Tip("main")))
	w.r.Protect("old", standin.Rules{Checks: []standin.RequiredCheck{{Context: "ci", App: 77}}, Classic: true})
	n := w.open("b", "x")
	_, err := w.r.OpenPull(standin.NewPull{Head: "c", Base: "old", Change: &standin.Change{Write: map[string]string{"y": "y\n"}}})
	w.must(err)
	s, got := w.look(Ask{})
	t.Logf("the first look at two bases with rules: %v", got)
	main := s.Bases["main"]
	if required, bound := main.Enforced("main", appID); !required || !bound || !main.Strict || !main.Rules || main.Queue {
		t.Errorf("%+v", main)
	}
	if w.pull(s, n).Decision != plan.ReviewRequired {
		t.Errorf("%+v", w.pull(s, n))
	}
	old := s.Bases["old"]
	if d := cmp.Diff([]plan.RequiredCheck{{Context: "ci", App: 77}}, old.Required); d != "" || !old.Rules {
		t.Errorf("%s %+v", d, old)
	}
	if _, got = w.look(Ask{}); sum(got) != 1 {
		t.Errorf("a quiet look: %v", got)
	}
}

func TestInvalidAndChangedFiles(t *testing.T) {
	w := newWorld(t, map[string]string{config.File: "version: 7\n"})
	n := w.open("mend", config.File)
	m, err := w.r.OpenPull(standin.NewPull{Head: "fix", Change: &standin.Change{Write: map[string]string{config.File: policyText}}})
	w.must(err)
	d, err := w.r.OpenPull(standin.NewPull{Head: "rm", Change: &standin.Change{Delete: []string{config.File}}})
	w.must(err)
	s, _ := w.look(Ask{})
	if b := s.Bases["main"]; b.Policy != nil || len(b.Findings) == 0 || b.File == "" {
		t.Errorf("%+v", b)
	}
	if r := w.pull(s, n).Rules; r == nil || r.Outline != nil || len(r.Findings) == 0 {
		t.Errorf("%+v", r)
	}
	if r := w.pull(s, m).Rules; r == nil || r.Outline == nil {
		t.Errorf("%+v", r)
	}
	if r := w.pull(s, d).Rules; r == nil || !r.Deleted {
		t.Errorf("%+v", r)
	}
	if _, got := w.look(Ask{}); sum(got) != 1 {
		t.Errorf("a quiet look: %v", got)
	}
}

func (w *world) merge(n int, sha plan.SHA) (plan.SHA, error) {
	return w.forge.Merge(context.Background(), w.repo, plan.Merge{Pin: plan.Pin{SHA: sha}, Pull: n, Base: "main", Method: config.Squash})
}

func TestMergesForReal(t *testing.T) {
	w := newWorld(t, nil)
	n := w.open("b", "x")
	head := plan.SHA(w.r.Tip("b"))
	if _, err := w.merge(n, plan.SHA(w.r.Tip("main"))); kindOf(err) != client.Transient {
		t.Errorf("another head: %v", err)
	}
	w.hub.ResetRequests()
	sha, err := w.merge(n, head)
	w.must(err)
	if got := w.requests(); sum(got) != 1 || sha != plan.SHA(w.r.Tip("main")) {
		t.Errorf("%s after %v", sha, got)
	}
	s, sent := w.look(Ask{Merged: []int{n}, Debts: []plan.Debt{{SHA: head, For: plan.ForPull, Subject: plan.Subject{Pull: n, Base: "main"}}}})
	if want := (plan.Closure{Subject: plan.Subject{Pull: n, Base: "main"}, SHA: head, Merged: true}); sent["POST /graphql"] != 1 || len(s.Closed) != 1 || s.Closed[0] != want {
		t.Errorf("what became of it: %v after %v", s.Closed, sent)
	}
	if again, err := w.merge(n, head); kindOf(err) != client.AlreadyMerged || again != sha {
		t.Errorf("again: %s, %v", again, err)
	}
	into, err := w.r.OpenPull(standin.NewPull{Head: "c", Base: "b", By: "alice", Change: &standin.Change{Write: map[string]string{"y": "y\n"}}})
	w.must(err)
	if err := w.forge.DeleteBranch(context.Background(), w.repo, "b", head); kindOf(err) != client.Refused || w.r.Tip("b") == "" {
		t.Errorf("the base of #%d: %v", into, err)
	}
	w.must(w.r.ClosePull(into, "alice"))
	w.must(w.forge.DeleteBranch(context.Background(), w.repo, "b", head))
	if w.r.Tip("b") != "" {
		t.Error("the branch is still there")
	}
	w.must(w.forge.DeleteBranch(context.Background(), w.repo, "b", head)) // gone is fine
	if err := w.forge.DeleteBranch(context.Background(), w.repo, "main", head); kindOf(err) != client.Refused || w.r.Tip("main") == "" {
		t.Errorf("a branch that moved on: %v", err)
	}
}

// The answer to a merge is lost: the second try finds it done.
func TestLostMerge(t *testing.T) {
	w := newWorld(t, nil)
	n := w.open("b", "x")
	w.hub.Fault(api.Fault{Method: "PUT", Path: "/repos/{owner}/{repo}/pulls/{pull_number}/merge", Status: 502, Body: "<html>", Done: true})
	if _, err := w.merge(n, plan.SHA(w.r.Tip("b"))); kindOf(err) != client.Transient {
		t.Errorf("first: %v", err)
	}
	sha, err := w.merge(n, plan.SHA(w.r.Tip("b")))
	if kindOf(err) != client.AlreadyMerged || sha != plan.SHA(w.r.Tip("main")) {
		t.Errorf("second: %s, %v", sha, err)
	}
}

func TestRefusedMerges(t *testing.T) {
	w := newWorld(t, map[string]string{"x": "1\n"})
	w.r.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "ci"}}})
	n := w.open("b", "x")
	_, err := w.merge(n, plan.SHA(w.r.Tip("b")))
	if kindOf(err) != client.Refused || client.Judge(err).Reason == "" {
		t.Errorf("a missing check: %v", err)
	}
	w.r.Unprotect("main")
	_, err = w.r.Commit("main", standin.Change{Write: map[string]string{"x": "2\n"}})
	w.must(err)
	if _, err = w.merge(n, plan.SHA(w.r.Tip("b"))); kindOf(err) != client.Refused {
		t.Errorf("a conflict: %v", err)
	}
	if s, _ := w.look(Ask{}); w.pull(s, n).Mergeable != plan.MergeableConflict {
		t.Errorf("%+v", w.pull(s, n))
	}
}

// A head that is brought up to date has the tip for its merge base, told without a request; when the base moves on, one
// comparison tells which of the two merge bases it is.
func TestUpdatedHead(t *testing.T) {
	w := newWorld(t, nil)
	n := w.open("b", "x")
	w.look(Ask{})
	_, err := w.r.Commit("main", standin.Change{Write: map[string]string{"y": "1\n"}})
	w.must(err)
	u := plan.Update{Pin: plan.Pin{SHA: plan.SHA(w.r.Tip("b"))}, Pull: n}
	w.must(w.forge.Update(context.Background(), w.repo, u))
	if err := w.forge.Update(context.Background(), w.repo, u); kindOf(err) != client.Refused {
		t.Errorf("a head that moved: %v", err)
	}
	updated := plan.SHA(w.r.Tip("main"))
	s, got := w.look(Ask{})
	if p := w.pull(s, n); p.MergeBase != updated || len(p.Files) != 1 || sum(got) != 2 { // what came to the base
		t.Errorf("%+v after %v", p, got)
	}
	_, err = w.r.Commit("main", standin.Change{Write: map[string]string{"y": "2\n"}})
	w.must(err)
	for i, want := range []int{3, 1} { // x is added, so no path need be looked up; what came to the base
		if s, got = w.look(Ask{}); w.pull(s, n).MergeBase != updated || sum(got) != want {
			t.Errorf("look %d: %+v after %v", i, w.pull(s, n), got)
		}
	}
	_, err = w.r.Commit("main", standin.Change{Write: map[string]string{"y": "3\n"}})
	w.must(err)
	if s, got = w.look(Ask{}); w.pull(s, n).MergeBase != updated || sum(got) != 2 {
		t.Errorf("the base moved on again: %v", got)
	}
}

func TestGroupsOfTheQueue(t *testing.T) {
	w := newWorld(t, nil)
	w.r.Protect("main", standin.Rules{Queue: true})
	n := w.open("b", "x")
	g, err := w.r.Enqueue(n, "alice")
	w.must(err)
	ask := Ask{Groups: []plan.Group{{Base: plan.Branch(g.Base), BaseSHA: plan.SHA(g.BaseSHA), Head: plan.SHA(g.Head)}}}
	s, _ := w.look(ask)
	if !s.Bases["main"].Queue || len(s.Groups) != 1 || !s.Groups[0].Complete ||
		!slices.Equal(s.Groups[0].Files, []plan.File{{Path: "x", Kind: plan.Added}}) {
		t.Errorf("%+v", s)
	}
	w.must(w.forge.SetStatus(context.Background(), w.repo, plan.SHA(g.Head), pending))
	s, got := w.look(ask)
	if len(s.Groups[0].Ours) != 1 || sum(got) != 1 {
		t.Errorf("%+v after %v", s.Groups, got)
	}
}

// TestGroupsThatStack: what a group changes is what differs from the one that it stands on, and where those below it do not lead down to the
// base's tip, from that tip as well.
func TestGroupsThatStack(t *testing.T) {
	w := newWorld(t, nil)
	w.r.Protect("main", standin.Rules{Queue: true})
	var groups []plan.Group
	for _, name := range []string{"a", "b", "c"} {
		g, err := w.r.Enqueue(w.open(name, name), "alice")
		w.must(err)
		groups = append(groups, plan.Group{Base: "main", BaseSHA: plan.SHA(g.BaseSHA), Head: plan.SHA(g.Head)})
	}
	tip := w.r.Tip("main")
	expect := func(about string, compared int, ask []plan.Group, want ...[2]string) { // the files of each, and its net ones; -1: others compare, too
		t.Helper()
		s, got := w.look(Ask{Groups: ask})
		paths := func(files []plan.File) (all string) {
			for _, f := range files {
				all += f.Path
			}
			if files == nil {
				return "unknown"
			}
			return all
		}
		slices.SortFunc(s.Groups, func(a, b plan.Group) int { return strings.Compare(paths(a.Files), paths(b.Files)) })
		for i, g := range s.Groups {
			if i == len(want) || !g.Complete || [2]string{paths(g.Files), paths(g.Net)} != want[i] || g.Unread.Is() {
				t.Errorf("%s: %+v", about, g)
			}
		}
		if n := got["GET /repos/{owner}/{repo}/compare/{basehead}"]; len(s.Groups) != len(want) || compared >= 0 && n != compared {
			t.Errorf("%s: %d groups after %v", about, len(s.Groups), got)
		}
	}
	stacked := [][2]string{{"a", "unknown"}, {"b", "unknown"}, {"c", "unknown"}}
	expect("the events about those below were lost", 2, groups[2:], [2]string{"c", "abc"})
	expect("all stand on the tip", 2, groups, stacked...)
	expect("again", 0, groups, stacked...)
	w.must(w.r.Dequeue(w.r.Queue("main")[1], "merged"))
	expect("the base has the first two", -1, groups[1:], stacked[1:]...)
	expect("the event about the first's end is late", -1, groups[:1], [2]string{"a", ""})
	_, err := w.r.Commit("main", standin.Change{Write: map[string]string{"x": "1\n"}})
	w.must(err)
	expect("the base has another commit", -1, groups[2:], [2]string{"c", "unknown"})
	w.must(w.r.Push("acme", "main", tip))
	expect("the tip is older than what the lowest stands on", -1, groups[2:], [2]string{"c", "abc"})
}

func TestOnlySomePulls(t *testing.T) {
	w := newWorld(t, nil)
	n, m, closed := w.open("a", "x"), w.open("b", "y"), w.open("c", "z")
	w.must(w.r.ClosePull(closed, "alice"))
	s, _ := w.look(Ask{Pulls: []int{m, closed}})
	if len(s.Pulls) != 1 || s.Pulls[0].Number != m {
		t.Errorf("%d and %d: %+v", n, m, s.Pulls)
	}
}

func TestManyPages(t *testing.T) {
	const many = fewPulls + leastPage + 1
	w := newWorld(t, nil)
	for i := range many {
		w.open(fmt.Sprint("b", i), fmt.Sprint("f", i))
	}
	w.hub.Fault(api.Fault{Path: "/graphql", Contains: fmt.Sprintf(`"first":%d,`, many-fewPulls), Status: 504, Times: 1})
	s, got := w.look(Ask{})
	if len(s.Pulls) != many || sum(got) != 6 { // a small page, one too heavy with details, two without them, the details, and the rules
		t.Errorf("%d after %v", len(s.Pulls), got)
	}
	w.hub.Fault(api.Fault{Path: "/graphql", Contains: fmt.Sprintf(`"first":%d,`, many+roomToGrow), Status: 504, Times: -1})
	for range 2 { // the form is remembered: two pages, and what may have changed
		if s, got = w.look(Ask{}); len(s.Pulls) != many || sum(got) != 3 {
			t.Errorf("%d after %v", len(s.Pulls), got)
		}
	}
}

// TestNewPullsComeWithTheirDetails: where none was known, those beyond the first page come in full, and not once thinly before.
func TestNewPullsComeWithTheirDetails(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 27 {
		w.open(fmt.Sprint("b", i), fmt.Sprint("f", i))
	}
	s, got := w.look(Ask{})
	if len(s.Pulls) != 27 || sum(got) != 3 { // two pages and the rules
		t.Errorf("%d after %v", len(s.Pulls), got)
	}
	for _, p := range s.Pulls {
		if !p.Complete || len(p.Files) != 1 {
			t.Errorf("%+v", p)
		}
	}
}

// TestThinPages: where GitHub cannot show a page whole, it shows what each pull request is, and the rest of them by their numbers.
func TestThinPages(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 27 {
		w.open(fmt.Sprint("b", i), fmt.Sprint("f", i))
	}
	w.must(w.forge.SetStatus(context.Background(), w.repo, plan.SHA(w.r.Tip("b3")), plan.Status{Context: "sluice/main", State: plan.Success}))
	w.hub.Fault(api.Fault{Path: "/graphql", Contains: fmt.Sprintf(`"first":%d,`, fewPulls), Status: 504, Times: -1})
	w.hub.Fault(api.Fault{Path: "/graphql", Contains: `":4}`, Status: 504, Times: -1}) // #4, asked for with others or alone
	w.hub.Fault(api.Fault{Path: "/graphql", Contains: `":4,`, Status: 504, Times: -1})
	for range 2 {
		s, got := w.look(Ask{})
		if len(s.Pulls) != 27 {
			t.Fatalf("%d after %v", len(s.Pulls), got)
		}
		for _, p := range s.Pulls {
			if p.Unread.Is() != (p.Number == 4) || p.Complete == (p.Number == 4) || (len(p.Ours) == 1) != (p.Number == 4) {
				t.Errorf("%+v", p)
			}
		}
	}
}

func TestFaults(t *testing.T) {
	w := newWorld(t, nil)
	w.open("b", "x")
	limit := api.SecondaryLimit(429, time.Second)
	limit.Path = "/graphql"
	for name, tt := range map[string]struct {
		fault api.Fault
		want  client.Kind
	}{
		"cut":       {api.Fault{Path: "/graphql", Cut: 300}, client.Transient},
		"forbidden": {api.Fault{Path: "/graphql", Errors: []api.GraphQLError{{Type: "FORBIDDEN", Message: "no"}}}, client.Refused},
		"500":       {api.Fault{Path: "/graphql", Status: 500}, client.Transient},
		"limited":   {limit, client.Limited},
	} {
		w.hub.Fault(tt.fault)
		if _, err := w.forge.Observe(context.Background(), w.repo, Ask{}); kindOf(err) != tt.want {
			t.Errorf("%s: %v", name, err)
		}
		w.unlimited()
		w.look(Ask{})
	}
}

func TestTokensEnd(t *testing.T) {
	w := newWorld(t, nil)
	w.look(Ask{})
	w.hub.RevokeTokens()
	if _, got := w.look(Ask{}); sum(got) != 2 { // the refused one and the second
		t.Errorf("after the token was revoked: %v", got)
	}
	w.hub.Suspend("acme")
	if _, err := w.forge.Observe(context.Background(), w.repo, Ask{}); kindOf(err) != client.Gone {
		t.Errorf("suspended: %v", err)
	}
	w.hub.Resume("acme")
	w.look(Ask{})
	w.hub.Uninstall("acme")
	if _, err := w.forge.Observe(context.Background(), w.repo, Ask{}); kindOf(err) != client.Gone {
		t.Errorf("uninstalled: %v", err)
	}
	repos, err := w.forge.Repositories(context.Background())
	if len(repos) != 0 || err != nil {
		t.Error(repos, err)
	}
}

func TestRepositoriesForReal(t *testing.T) {
	w := newWorld(t, nil)
	repos, err := w.forge.Repositories(context.Background())
	w.must(err)
	want := []plan.Repo{{Owner: "acme", Name: "fleet", ID: w.r.ID(), Installation: w.repo.Installation}}
	if d := cmp.Diff(want, repos); d != "" {
		t.Error(d)
	}
}

// publicKey is the public half of testKey.
func publicKey(t *testing.T) *rsa.PublicKey {
	t.Helper()
	block, _ := pem.Decode(testKey())
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return &key.PublicKey
}
