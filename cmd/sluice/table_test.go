package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/report"
)

// TestTablesAreAsLongAsTheirText: one long name makes its own line long, and none of the others.
func TestTablesAreAsLongAsTheirText(t *testing.T) {
	const rows = 1000
	long := strings.Repeat("a", 100_000)
	paths := []report.Path{{Path: long, Rule: "r"}}
	cluster := report.GraphCluster{Entries: []report.GraphEntry{{Name: "a/b", Path: long}}}
	tree := report.Tree{Shares: []config.Share{{Kind: config.ShareNever, Example: long, Reason: "r"}}}
	for range rows {
		paths = append(paths, report.Path{Path: "a", Rule: "r"})
		cluster.Entries = append(cluster.Entries, report.GraphEntry{Name: "a/b", Path: "c"})
		tree.Shares = append(tree.Shares, config.Share{Kind: config.ShareLive, Example: "a"})
	}
	for name, print := range map[string]func(io.Writer) error{
		"paths":        func(w io.Writer) error { return showPaths(w, paths) },
		"entry points": func(w io.Writer) error { return printCluster(w, cluster) },
		"releases":     func(w io.Writer) error { return printTree(w, &tree) },
	} {
		var out bytes.Buffer
		if err := print(&out); err != nil || out.Len() > len(long)+rows*3*maxColumn {
			t.Errorf("%s: %d bytes, %v", name, out.Len(), err)
		}
	}
}

// TestDotIsCharged: what is drawn for Graphviz is charged by what is held for it and by what is written, and ends with the run.
func TestDotIsCharged(t *testing.T) {
	read, err := graph.ReadBy(meter.Unhurried(), os.DirFS(bounded(t, trees(100, "clusters/one/#.yaml", entryOf("e#", "./apps/rw", "")))))
	if err != nil {
		t.Fatal(err)
	}
	clusters := read.Clusters([]graph.Root{{Name: "one", Path: "clusters/one", URL: "https://github.com/acme/fleet"}})
	tree := report.NewReferences(nil, nil, clusters, nil)
	for limits, ends := range map[meter.Limits]bool{{}: false, {meter.Nodes: 4}: true, {meter.Bytes: 4}: true, {meter.Steps: 4}: true} {
		run := meter.New(t.Context(), limits)
		err := dotGraph(run, io.Discard, tree, report.Graph{})
		if bound := (*meter.Error)(nil); errors.As(err, &bound) != ends || !ends && err != nil {
			t.Errorf("%v: %v", limits, err)
		}
		run.Close()
	}
}
