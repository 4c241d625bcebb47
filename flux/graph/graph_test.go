package graph_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/internal/golden"
	"github.com/sluicegate/sluice/meter"
)

func read(t *testing.T, tree fs.FS) *graph.Tree {
	t.Helper()
	return readBy(t, meter.Unhurried(), tree)
}

// readBy reads a tree that can be listed, as part of a run.
func readBy(t testing.TB, m *meter.Meter, tree fs.FS) *graph.Tree {
	t.Helper()
	g, err := graph.ReadBy(m, tree)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestShapes: in every shape of repository the clusters are found, and what Flux applies there and reads.
func TestShapes(t *testing.T) {
	fluxtrees.Each(t, func(t *testing.T, name string) {
		g := read(t, fluxtrees.Tree(t, name))
		golden.File(t, filepath.Join("testdata", name+".txt"), []byte(summary(g, g.Clusters(nil))))
	})
}

// summary is what is known of a tree, for people.
func summary(g *graph.Tree, clusters []graph.Cluster) string {
	var b strings.Builder
	for _, c := range clusters {
		fmt.Fprintf(&b, "%s: %s (%s %s) %s@%s\n", c.Name, c.Path, c.Found, c.Place, c.URL, c.Branch)
		for _, s := range c.Sources {
			fmt.Fprintf(&b, "  %s %s/%s %s %q %s\n", s.Kind, s.Namespace, s.Name, s.URL, s.Follows(), s.RefLine)
		}
		for _, k := range c.Kustomizations {
			by, suspend := "root", ""
			if k.Entry != nil {
				by = k.Entry.Name
			}
			if k.Suspend.Set() {
				suspend = " suspend: " + k.Suspend.Value + " " + k.Suspend.Place.String()
			}
			fmt.Fprintf(&b, "  Kustomization %s/%s %s by %s here=%t reads %d%s %s\n", k.Namespace, k.Name, k.Path, by, k.Here, len(k.Files()), suspend, k.PathLine)
		}
		for _, j := range c.CronJobs {
			fmt.Fprintf(&b, "  CronJob %s/%s %q %q suspend=%s %s: %s\n", j.Namespace, j.Name, j.Schedule.Value, j.TimeZone.Value, j.Suspend.Value, j.Schedule.Place, j.Command)
		}
		for _, i := range c.Inputs {
			fmt.Fprintf(&b, "  %s/%s %v\n", i.Namespace, i.Name, i.Schedule)
		}
	}
	for _, p := range g.Problems {
		fmt.Fprintf(&b, "problem %s %s\n", p.Place, p.Text)
	}
	return b.String()
}
