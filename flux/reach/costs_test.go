package reach

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/meter"
)

// crowd is a repository of which one file has so many readers.
func crowd(readers int) string {
	var out strings.Builder
	out.WriteString(repository() + "-- clusters/prod/crowd.yaml --\n")
	for i := range readers {
		out.WriteString(ks(fmt.Sprint("crowd", i), "./apps/crowd", "rw"))
	}
	return out.String() + "-- apps/crowd/x.yaml --\n" + configMap
}

// TestManyReaders: what a file needs is summed up once, however many read it and however often it is asked.
func TestManyReaders(t *testing.T) {
	p := parse(t, file)
	g := New(p, clusters(t, p, crowd(400)))
	if got := needs(g, "apps/crowd/x.yaml"); got != "[@rw/a] apps/crowd/x.yaml ← apps/crowd (rw/a) and 399 more" {
		t.Error(got)
	}
	if n := testing.AllocsPerRun(10, func() { g.Reads("apps/crowd/x.yaml") }); n > 50 {
		t.Errorf("to ask once allocates %.0f times", n)
	}
}

// TestUnreadBeyondABound: a path that is asked for once the run has ended is held, whoever reads it.
func TestUnreadBeyondABound(t *testing.T) {
	p := parse(t, file)
	m := meter.New(t.Context(), meter.Limits{meter.Time: -1})
	tree, err := graph.ReadBy(m, fluxtrees.Parse([]byte(crowd(600))))
	if err != nil {
		t.Fatal(err)
	}
	g := New(p, tree.Clusters(p.Clusters))
	if got := needs(g, "clusters/prod/cm.yaml"); !strings.HasPrefix(got, "[live] ") {
		t.Fatal(got)
	}
	left := m.Readings()[meter.Steps]
	if err := m.Take(meter.Steps, int(left.Limit-left.Used)-1, "somewhere"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"apps/crowd/x.yaml", "apps/rt/x.yaml", "apps/nobody/x.yaml"} {
		if got := needs(g, path); !strings.HasPrefix(got, "[unread references] ") {
			t.Errorf("%s: %s", path, got)
		}
	}
	if g.Err() == nil {
		t.Error("nobody learns of it")
	}
	if got := needs(g, "clusters/prod/cm.yaml"); !strings.HasPrefix(got, "[live] ") {
		t.Errorf("what was found before: %s", got)
	}
}

// TestCharged: what is made of references is charged to the run that read the trees, before it is made, and whoever asks learns of its end.
func TestCharged(t *testing.T) {
	p := parse(t, file)
	for _, kind := range []meter.Kind{meter.Nodes, meter.Steps} {
		read := func(limit int64) (*Graph, int64) {
			l := meter.Limits{meter.Time: -1}
			l[kind] = limit
			m := meter.New(t.Context(), l)
			tree, err := graph.ReadBy(m, fluxtrees.Parse([]byte(crowd(300))))
			if err != nil {
				t.Fatal(err)
			}
			found := tree.Clusters(p.Clusters)
			if m.Err() != nil {
				t.Fatal(m.Err())
			}
			used := m.Readings()[kind].Used
			return New(p, found), used
		}
		whole, used := read(-1)
		if whole.Err() != nil {
			t.Error(whole.Err())
		}
		if part, _ := read(used + 300); part.Err() == nil || !strings.Contains(part.Err().Error(), "more than") {
			t.Errorf("%v: %v", kind, part.Err())
		}
	}
}
