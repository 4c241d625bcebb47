package forge

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/plan"
)

// Two kinds of a test's entries.
var (
	numbered = kind[int, string]{name: "numbered"}
	named    = kind[string, string]{name: "named"}
)

// unit is what an entry of the tests' kinds takes beside its text.
func unit() int { return numbered.bytes(0, "x") - 1 }

// text is a value that makes an entry of so many units.
func text(units int) string { return strings.Repeat("x", (units-1)*unit()) }

// contentOf is a memory whose quota of what is no note is of so many bytes.
func contentOf(most int) (*memory, *quota) {
	m := newMemory(0)
	m.content = newQuota(most)
	return m, &m.content
}

func TestMemory(t *testing.T) {
	m, q := contentOf(repositoryShare * 4 * unit())
	a := m.of(plan.Repo{Owner: "acme", Name: "a"})
	for i := range 4 {
		numbered.put(a, i, text(1))
	}
	numbered.get(a, 0)
	numbered.put(a, 4, text(1))
	_, used := numbered.get(a, 0)
	_, unused := numbered.get(a, 1)
	if !used || unused || q.sum > q.share {
		t.Errorf("used: %t, unused: %t, %d bytes of %d", used, unused, q.sum, q.share)
	}
	numbered.put(a, 5, "y")
	if v, _ := numbered.get(a, 5); v != "y" {
		t.Errorf("%q", v)
	}
	if _, ok := numbered.get(m.of(plan.Repo{Owner: "acme", Name: "b"}), 5); ok {
		t.Error("another repository has it")
	}
	if _, ok := (kind[int, string]{name: "other"}).get(a, 5); ok {
		t.Error("another kind has it")
	}
	numbered.put(a, 5, text(9)) // larger than a repository may hold
	if _, ok := numbered.get(a, 5); ok {
		t.Error("an old value is left where a new one finds no room")
	}
	for i := range 6 {
		numbered.forget(a, i)
	}
	if q.sum != 0 || len(q.tenants) != 0 {
		t.Errorf("%d bytes, %d tenants are left", q.sum, len(q.tenants))
	}
}

// TestARepositoryEvictsItselfAlone: whatever is put for one repository, and however much, another one's stays; also where all together are
// above the bound of the process, as long as it holds less than the others.
func TestARepositoryEvictsItselfAlone(t *testing.T) {
	m, q := contentOf(repositoryShare * 100 * unit())
	quiet := m.of(plan.Repo{Owner: "acme", Name: "quiet"})
	for i := range 20 {
		numbered.put(quiet, i, text(1))
	}
	for i := range 10_000 {
		named.put(m.of(plan.Repo{Owner: "acme", Name: fmt.Sprint("busy", i%10)}), fmt.Sprint(i), text(1+i%7))
	}
	if q.sum > q.most {
		t.Errorf("%d bytes of %d", q.sum, q.most)
	}
	for i := range 20 {
		if _, ok := numbered.get(quiet, i); !ok {
			t.Fatalf("%d was evicted by another repository", i)
		}
	}
}

// TestQuotaKeepsCount: after anything that may happen, no repository and not all of them hold more than they may, and what is counted is what
// is there. What is there is what was put last.
func TestQuotaKeepsCount(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		m, q := contentOf((5 + r.IntN(200)) * unit())
		kinds := []kind[int, string]{numbered, {name: "other"}}
		for range 2000 {
			c, k, repo := kinds[r.IntN(2)], r.IntN(100), m.of(plan.Repo{Owner: "acme", Name: fmt.Sprint(r.IntN(12))})
			switch r.IntN(4) {
			case 0:
				c.get(repo, k)
			case 1:
				c.forget(repo, k)
			default:
				v := text(1 + r.IntN(12))
				c.put(repo, k, v)
				got, ok := c.get(repo, k)
				if fits := c.bytes(k, v) <= q.share; ok && (!fits || got != v) {
					t.Fatalf("seed %d: there: %t, fits: %t", seed, ok, fits)
				}
			}
			q.count(t)
		}
	}
}

// count holds what a quota counts against what it holds.
func (q *quota) count(t *testing.T) {
	t.Helper()
	all := 0
	for repo, tenant := range q.tenants {
		sum := 0
		for key, e := range tenant.at {
			h := e.Value.(held)
			if k := h.key.(entryKey[int, string]); h.key != key || h.bytes != k.of.bytes(k.key, h.value.(string)) {
				t.Fatalf("%d bytes of %d under %v", h.bytes, h.key, key)
			}
			sum += h.bytes
		}
		if tenant.sum != sum || tenant.sum > q.share || tenant.repo != repo || len(tenant.at) != tenant.entries.Len() || sum == 0 {
			t.Fatalf("%s holds %d of %d, counted as %d", tenant.repo.name, sum, q.share, tenant.sum)
		}
		all += sum
	}
	if all != q.sum || all > q.most {
		t.Fatalf("%d bytes of %d, counted as %d", all, q.most, q.sum)
	}
}

// TestSizes: what a value is counted as is what the heap says of it, within a factor of two.
func TestSizes(t *testing.T) {
	var rules strings.Builder
	rules.WriteString(policyText + "layout:\n  preset: rt-rw\n  window: night\n  rules:\n")
	for i := range 500 {
		fmt.Fprintf(&rules, "  - {release: night, paths: [a%d/*/b-*/c, '{x,y}/d%d/**']}\n", i, i)
	}
	for name, make := range map[string]func() any{
		"policy": func() any {
			p, findings := config.Parse([]byte(rules.String()))
			if p == nil {
				t.Fatal(findings)
			}
			return p
		},
		"details": func() any {
			raw := &rawPull{Files: &rawFiles{}}
			for i := range 5000 {
				raw.Files.Nodes = append(raw.Files.Nodes, rawFile{Path: strings.Clone(fmt.Sprintf("%0200d", i))})
			}
			return raw
		},
		"paths": func() any {
			s := &pathSet{there: map[string]bool{}}
			for i := range 5000 {
				s.there[fmt.Sprintf("%0200d", i)] = true
			}
			return s
		},
	} {
		before := inUse()
		v := make()
		took := inUse() - before
		counted := sizeOf(reflect.ValueOf(v))
		if counted > 2*took || took > 2*counted {
			t.Errorf("%s: %d bytes count as %d", name, took, counted)
		}
		runtime.KeepAlive(v)
	}
}

// inUse is how many bytes of the heap are.
func inUse() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// evictAll forgets all that may be forgotten.
func (m *memory) evictAll() {
	for _, t := range m.content.tenants {
		for t.entries.Len() > 0 {
			m.content.evict(t)
		}
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
	w.forge.memory.evictAll()
	got, cold := w.look(Ask{})
	same("everything was evicted", got)
	if sum(cold) <= sum(warm) {
		t.Errorf("%d requests with memory, %d without: nothing was evicted", sum(warm), sum(cold))
	}
	w.forge.memory = newMemory(1)
	got, _ = w.look(Ask{})
	same("nothing is remembered", got)
	if n := w.forge.memory.content.sum + w.forge.memory.notes.sum; n != 0 {
		t.Errorf("%d bytes are remembered", n)
	}
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
// again, and what is remembered stays within its bound.
func TestStrangersEvictTheirOwnRepositoryAlone(t *testing.T) {
	w := newWorld(t, nil)
	w.forge.memory = newMemory(1 << 20)
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
	if q, of := w.forge.memory.content, w.forge.memory.of(w.repo).repo; q.sum > q.most || q.tenants[of].sum > q.share {
		t.Errorf("%d bytes, %d of one repository", q.sum, q.tenants[of].sum)
	}
	if after := look(where); after != before {
		t.Errorf("%d requests, before it were %d", after, before)
	}
}

// TestSinceWhenMergeabilityIsUnknown: of all pull requests of one repository it is remembered since when GitHub does not know whether they can
// be merged, so that it is asked ever less often, whatever other repositories have.
func TestSinceWhenMergeabilityIsUnknown(t *testing.T) {
	at := time.Now()
	f := &Forge{memory: newMemory(defaultMemory)}
	since := func(repo string, n int) time.Duration {
		l := &observation{reader: &reader{look: &look{memory: f.memory.of(plan.Repo{Owner: "acme", Name: repo}), at: at}}}
		return l.at.Sub(l.unknownSince(&plan.Pull{Number: n, Head: plan.SHA(sha(n))}))
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
	repo := newMemory(defaultMemory).of(testRepo)
	raw := &rawPull{Files: &rawFiles{Nodes: make([]rawFile, 30)}}
	n := 0
	for b.Loop() {
		n++
		keptDetails.get(repo, n/2)
		keptDetails.put(repo, n, raw)
	}
}
