package analysis

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/build"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/reach"
	"github.com/sluicegate/sluice/meter"
)

// wordApart is why an entry point is not built whose source is put together of several places of the tree.
const wordApart = "its source puts together several places of the repository, which is traced and not built"

// Build makes the objects of some entry points, in the time that the run has. One whose path has a variable without a value is none, and of a guessed root it is not known what it
// makes.
func (t Tree) Build(ctx context.Context, entries []graph.Entry) ([]reach.Build, error) {
	var out, guessed []reach.Build
	var asked []build.Entry
	files := map[string]bool{}
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if strings.Contains(e.Path(), "${") {
			continue
		}
		if e.Guessed() {
			guessed = append(guessed, reach.Build{Entry: e, Err: e.Cluster.Found})
			continue
		}
		if e.Apart() {
			guessed = append(guessed, reach.Build{Entry: e, Err: wordApart, Remote: true})
			continue
		}
		out, asked = append(out, reach.Build{Entry: e}), append(asked, build.NewEntry(e))
		for _, file := range e.Files() {
			files[file] = true
		}
	}
	results, err := t.build(ctx, slices.Sorted(maps.Keys(files)), asked...)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		out[i].Err, out[i].Remote, out[i].Missed = r.Err, r.Remote || out[i].Entry.Foreign(), r.Missed
		if err := t.run.Meter.Take(meter.Nodes, reach.Nodes(len(r.Objects)), out[i].Entry.Path()); err != nil {
			return nil, err
		}
		out[i].Objects = make([]reach.Object, 0, len(r.Objects))
		for _, o := range r.Objects {
			out[i].Objects = append(out[i].Objects, reach.Object(o))
		}
		results[i] = build.Result{}
	}
	return append(out, guessed...), nil
}

// build builds entries of these files, of which there may be none.
func (t Tree) build(ctx context.Context, files []string, entries ...build.Entry) ([]build.Result, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	if t.Graph.Patterned() {
		for i := range entries {
			entries[i].Ignore = kustomize.AnyPattern + entries[i].Ignore
		}
	}
	return t.run.Build(ctx, build.Job{Tree: t.Files, Files: files, Entries: entries, Meter: t.run.Meter})
}

// builder builds the entry points of the tree that cannot be read.
func (t Tree) builder(ctx context.Context) func(string, *graph.Kustomization, []string) ([]byte, error) {
	return func(dir string, adds *graph.Kustomization, read []string) ([]byte, error) {
		results, err := t.build(ctx, read, build.NewWhole(dir, adds))
		if err != nil {
			return nil, err
		}
		if results[0].Err != "" {
			return nil, errors.New(results[0].Err)
		}
		return results[0].Text, nil
	}
}
