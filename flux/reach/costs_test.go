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
