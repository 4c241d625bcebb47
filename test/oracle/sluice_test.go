package oracle

import (
	"maps"
	"slices"
	"testing/fstest"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/graph"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/reach"
)

// checked is a tree as sluice sees it.
type checked struct {
	policy   *config.Policy // nil: the file is not valid
	clusters []graph.Cluster
	tree     *graph.Tree
	errors   []config.Finding // of `sluice check`, as far as nothing is built
}

// check does what `sluice check` does.
func check(files map[string]string) checked {
	data := []byte(files[config.File])
	policy, findings := config.Parse(data)
	out := checked{policy: policy}
	if policy != nil {
		tree, err := graph.Read(treeOf(files))
		if err != nil {
			return checked{errors: []config.Finding{{Code: "graph-not-read", Message: err.Error()}}}
		}
		out.tree, out.clusters = tree, tree.Clusters(policy.Clusters)
		in := config.CheckInput{At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), DefaultBranch: mainBranch, Paths: slices.Sorted(maps.Keys(files))}
		if bound := tree.Beyond(); bound != "" {
			in.Notes = append(in.Notes, config.Note{Level: config.LevelHold, Code: "graph-not-read", Message: bound})
		}
		g := reach.New(policy, out.clusters)
		in.Notes = append(in.Notes, g.Check(nil, in.Paths)...)
		findings = append(findings, config.Check(policy.With(g), data, in)...)
	}
	for _, f := range findings {
		if f.Severity == config.Error {
			out.errors = append(out.errors, f)
		}
	}
	return out
}

func treeOf(files map[string]string) fstest.MapFS {
	out := make(fstest.MapFS, len(files))
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return out
}

// classify is what `sluice classify` says of a path in a tree, as long as it does not change.
func (c checked) classify() *layout.Layout {
	return c.policy.With(reach.New(c.policy, c.clusters)).Layout
}

// change is what `sluice classify --base --head` says of the only path in which a tree differs from another one.
func (c checked) change(head map[string]string, file string) []layout.Release {
	tree, err := c.tree.Again(treeOf(head), []string{file})
	if err != nil {
		return []layout.Release{"not read"}
	}
	clusters := tree.Clusters(c.policy.Clusters)
	if tree.Beyond() != "" {
		return []layout.Release{"not read whole"}
	}
	g := reach.New(c.policy, c.clusters, clusters)
	g.HoldChanged([]string{file})
	return c.policy.With(g).Layout.Classify(file).Releases
}
