package forge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/branches"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/plan"
)

// evict fills what one repository may have with something else.
func (w *world) evict() {
	for i := range 50 {
		look.Kind[int, string]{Name: "filler"}.Put(w.forge.memory.Of(w.repo), i, strings.Repeat("x", 1<<20))
	}
}

// TestEvictionChangesNothing: of everything between two looks, and within each look, where nothing finds room. Only requests tell.
func TestEvictionChangesNothing(t *testing.T) {
	text := policyText + "branches:\n  - {name: rw/a, from: main, window: night}\n"
	w := newWorld(t, map[string]string{config.File: text, "apps/a-rw/x": "0\n", "apps/old/x": "0\n", "apps/moved/x": "0\n"})
	_, err := w.r.Commit("rw/a", standin.Change{Write: map[string]string{"aside": "0\n"}})
	w.must(err)
	for i := range 5 {
		w.open(fmt.Sprint("b", i), fmt.Sprintf("apps/%d.yaml", i))
	}
	for head, c := range map[string]*standin.Change{
		"renames": {Move: map[string]string{"apps/old/x": "apps/new/x"}},
		"stale":   {Write: map[string]string{"apps/moved/x": "1\n"}},
		"rules":   {Write: map[string]string{config.File: policyText + "mode: observe\n"}},
		"broken":  {Write: map[string]string{config.File: "version: 7\n"}},
	} {
		_, err := w.r.OpenPull(standin.NewPull{Head: "mallory:" + head, By: "mallory", Change: c})
		w.must(err)
	}
	_, err = w.r.Commit("main", standin.Change{Move: map[string]string{"apps/moved/x": "apps/moved-rw/x"}})
	w.must(err)
	want, _ := w.look(Ask{})
	_, warm := w.look(Ask{})
	same := func(what string, got plan.Snapshot) {
		t.Helper()
		if d := cmp.Diff(want, got, cmp.FilterPath(clocks, cmp.Ignore()), cmp.Comparer(func(a, b *config.Policy) bool { return (a == nil) == (b == nil) })); d != "" {
			t.Errorf("%s: (-want +got):\n%s", what, d)
		}
	}
	w.evict()
	got, cold := w.look(Ask{})
	same("everything was evicted", got)
	if sum(cold) <= sum(warm) {
		t.Errorf("%d requests with memory, %d without: nothing was evicted", sum(warm), sum(cold))
	}
	w.forge.memory = look.NewMemory(1)
	got, _ = w.look(Ask{})
	same("nothing is remembered", got)
}

// clocks are the fields that say when something was read.
func clocks(p cmp.Path) bool {
	switch p.Last().String() {
	case ".At", ".Read", ".Skew", ".Again":
		return true
	}
	return false
}

// TestStrangersEvictTheirOwnRepositoryAlone: pull requests of forks with long names fill one repository. Of the other one nothing is read
// again.
func TestStrangersEvictTheirOwnRepositoryAlone(t *testing.T) {
	w := newWorld(t, nil)
	w.forge.memory = look.NewMemory(1 << 20)
	quiet, err := w.hub.CreateRepo("acme", "quiet", map[string]string{config.File: policyText})
	w.must(err)
	_, err = quiet.OpenPull(standin.NewPull{Head: "b", By: "alice", Change: &standin.Change{Write: map[string]string{"x": "1\n"}}})
	w.must(err)
	where, err := w.forge.Repository(t.Context(), "acme", "quiet")
	w.must(err)
	look := func(repo plan.Repo) int {
		w.hub.ResetRequests()
		_, err := w.forge.Observe(t.Context(), repo, Ask{})
		w.must(err)
		return sum(w.requests())
	}
	look(where)
	before := look(where)
	for i := range 60 {
		files := map[string]string{}
		for j := range 20 {
			files[fmt.Sprintf("%s/%d-%d", strings.Repeat("d", 250), i, j)] = "x"
		}
		_, err := w.r.OpenPull(standin.NewPull{Head: fmt.Sprint("mallory:b", i), By: "mallory", Change: &standin.Change{Write: files}})
		w.must(err)
	}
	for range 3 {
		look(w.repo)
	}
	if after := look(where); after != before {
		t.Errorf("%d requests, before it were %d", after, before)
	}
}

// TestSinceWhenMergeabilityIsUnknown: of all pull requests of one repository it is remembered since when GitHub does not know whether they can
// be merged, so that it is asked ever less often, whatever other repositories have.
func TestSinceWhenMergeabilityIsUnknown(t *testing.T) {
	at := time.Now()
	f := &Forge{memory: look.NewMemory(0)}
	since := func(repo string, n int) time.Duration {
		l := &observation{Reader: &branches.Reader{Look: &look.Look{Memory: f.memory.Of(plan.Repo{Owner: "acme", Name: repo}), At: at}}}
		return l.At.Sub(l.unknownSince(&plan.Pull{Number: n, Head: plan.SHA(sha(n))}))
	}
	for minutes := range time.Duration(3) {
		for n := range maxPulls {
			if got := since("large", n); got != minutes*time.Minute {
				t.Fatalf("#%d: %s", n, got)
			}
		}
		at = at.Add(time.Minute)
	}
	for n := range 20 * maxPulls {
		since("others", n)
	}
	if got := since("large", 7); got != 3*time.Minute {
		t.Errorf("since %s", got)
	}
}

// BenchmarkMemory is one value read and one put, in a quota that is full.
func BenchmarkMemory(b *testing.B) {
	repo := look.NewMemory(0).Of(testRepo)
	raw := &rawPull{Files: &rawFiles{Nodes: make([]rawFile, 30)}}
	n := 0
	for b.Loop() {
		n++
		keptDetails.Get(repo, n/2)
		keptDetails.Put(repo, n, raw)
	}
}
