package look

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

var numbered = Kind[int, string]{Name: "numbered"}

// Two kinds of a test's entries.
var (
	named = Kind[string, string]{Name: "named"}
)

// unit is what an entry of the tests' kinds takes beside its text.
func unit() int { return numbered.bytes(0, "x") - 1 }

// text is a value that makes an entry of so many units.
func text(units int) string { return strings.Repeat("x", (units-1)*unit()) }

// contentOf is a memory whose quota of what is no note is of so many bytes.
func contentOf(most int) (*Memory, *quota) {
	m := NewMemory(1)
	m.content = newQuota(most)
	return m, &m.content
}

func TestMemory(t *testing.T) {
	m, q := contentOf(repositoryShare * 4 * unit())
	a := m.Of(plan.Repo{Owner: "acme", Name: "a"})
	for i := range 4 {
		numbered.Put(a, i, text(1))
	}
	numbered.Get(a, 0)
	numbered.Put(a, 4, text(1))
	_, used := numbered.Get(a, 0)
	_, unused := numbered.Get(a, 1)
	if !used || unused || q.sum > q.share {
		t.Errorf("used: %t, unused: %t, %d bytes of %d", used, unused, q.sum, q.share)
	}
	numbered.Put(a, 5, "y")
	if v, _ := numbered.Get(a, 5); v != "y" {
		t.Errorf("%q", v)
	}
	if _, ok := numbered.Get(m.Of(plan.Repo{Owner: "acme", Name: "b"}), 5); ok {
		t.Error("another repository has it")
	}
	if _, ok := (Kind[int, string]{Name: "other"}).Get(a, 5); ok {
		t.Error("another kind has it")
	}
	numbered.Put(a, 5, text(9)) // larger than a repository may hold
	if _, ok := numbered.Get(a, 5); ok {
		t.Error("an old value is left where a new one finds no room")
	}
	for i := range 6 {
		numbered.Forget(a, i)
	}
	if q.sum != 0 || len(q.tenants) != 0 {
		t.Errorf("%d bytes, %d tenants are left", q.sum, len(q.tenants))
	}
}

// TestARepositoryEvictsItselfAlone: whatever is put for one repository, and however much, another one's stays; also where all together are
// above the bound of the process, as long as it holds less than the others.
func TestARepositoryEvictsItselfAlone(t *testing.T) {
	m, q := contentOf(repositoryShare * 100 * unit())
	quiet := m.Of(plan.Repo{Owner: "acme", Name: "quiet"})
	for i := range 20 {
		numbered.Put(quiet, i, text(1))
	}
	for i := range 10_000 {
		named.Put(m.Of(plan.Repo{Owner: "acme", Name: fmt.Sprint("busy", i%10)}), fmt.Sprint(i), text(1+i%7))
	}
	if q.sum > q.most {
		t.Errorf("%d bytes of %d", q.sum, q.most)
	}
	for i := range 20 {
		if _, ok := numbered.Get(quiet, i); !ok {
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
		kinds := []Kind[int, string]{numbered, {Name: "other"}}
		for range 2000 {
			c, k, repo := kinds[r.IntN(2)], r.IntN(100), m.Of(plan.Repo{Owner: "acme", Name: fmt.Sprint(r.IntN(12))})
			switch r.IntN(4) {
			case 0:
				c.Get(repo, k)
			case 1:
				c.Forget(repo, k)
			default:
				v := text(1 + r.IntN(12))
				c.Put(repo, k, v)
				got, ok := c.Get(repo, k)
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
	rules.WriteString("version: 1\ntimezone: UTC\nwindows:\n  night: {open: \"0 22 * * *\", duration: 4h}\n" + "layout:\n  preset: rt-rw\n  window: night\n  rules:\n")
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
			raw := &struct{ files []RawContext }{}
			for i := range 5000 {
				raw.files = append(raw.files, RawContext{Context: strings.Clone(fmt.Sprintf("%0200d", i))})
			}
			return raw
		},
		"paths": func() any {
			there := map[string]bool{}
			for i := range 5000 {
				there[fmt.Sprintf("%0200d", i)] = true
			}
			return there
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
