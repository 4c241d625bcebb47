package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/build"
	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/graph"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reach"
)

// treeGraph is what the reference graph of one tree says.
type treeGraph struct {
	files    fs.FS
	tree     *graph.Tree
	clusters []graph.Cluster
}

// readGraph reads the reference graph of a tree, of the clusters at some roots, or of all that are found. Every command reads it here. Fail closed:
// one that was not read whole is an error.
func readGraph(ctx context.Context, roots []graph.Root, files fs.FS, read func(fs.FS) (*graph.Tree, error)) (treeGraph, error) {
	files = untilDone{ctx, files}
	tree, err := read(files)
	if err != nil {
		return treeGraph{}, fmt.Errorf("the reference graph was not read: %w", err)
	}
	tree.Builder = builder(ctx, files)
	f := treeGraph{files, tree, tree.Clusters(roots)}
	if bound := tree.Beyond(); bound != "" {
		return f, fmt.Errorf("the reference graph was not read whole: %s", bound)
	}
	return f, ctx.Err()
}

// builder builds the entry points of a tree that cannot be read, all of them in no more time than other builds have.
func builder(ctx context.Context, files fs.FS) func(string, *graph.Kustomization, []string) ([]byte, error) {
	until := time.Now().Add(build.DefaultAll)
	return func(dir string, adds *graph.Kustomization, read []string) ([]byte, error) {
		program, err := os.Executable()
		if err != nil {
			return nil, err
		}
		limits := build.Limits{All: max(time.Until(until), time.Millisecond)}
		results, err := build.Run(ctx, []string{program, "build"}, files, read, []build.Entry{build.NewWhole(dir, adds)}, limits)
		if err != nil {
			return nil, err
		}
		if results[0].Err != "" {
			return nil, errors.New(results[0].Err)
		}
		return results[0].Text, nil
	}
}

// graphOf reads a tree of the repository that has a URL, as far as it is known.
func graphOf(url string) func(fs.FS) (*graph.Tree, error) {
	return func(files fs.FS) (*graph.Tree, error) {
		tree, err := graph.Read(files)
		if tree != nil {
			tree.URL = url
		}
		return tree, err
	}
}

// knowsFlux reports whether a policy says what Flux Kustomizations need.
func knowsFlux(p *config.Policy) bool { return p.Flux || len(p.Branches)+len(p.EntryPoints) > 0 }

// referred is a policy with the references of the trees of a change, as far as these were read.
type referred struct {
	policy *config.Policy
	graph  *reach.Graph // nil: they were not read
	moves  []reach.Move
}

// refer is a policy with the references of one tree.
func refer(ctx context.Context, policy *config.Policy, files fs.FS, read func(fs.FS) (*graph.Tree, error)) (referred, error) {
	f, err := readGraph(ctx, policy.Clusters, files, read)
	if err != nil {
		return referred{policy: policy}, err
	}
	g := reach.New(policy, f.clusters)
	return referred{policy: policy.With(g), graph: g}, nil
}

// change is a change with the trees around it: those of the merge base and of the head, and the base's where that went on.
type change struct {
	policy *config.Policy
	url    string // of the repository; "": not known
	files  []plan.File
	trees  []treeVersion
}

// treeVersion is one of these trees, and the paths in which it differs from the first.
type treeVersion struct {
	files   fs.FS
	changed []string
}

// refer is the policy with the references before and after the change, and what moves between live and windowed entry points where that is no more
// than a warning.
func (c change) refer(ctx context.Context) (referred, error) {
	out := referred{policy: c.policy}
	levels := c.policy.Consistency
	moves := knowsFlux(c.policy) && levels.Moves != config.LevelOff
	if !c.policy.Flux && !moves && (len(c.policy.Branches) == 0 || levels.Followed == config.LevelOff) {
		return out, nil
	}
	read, clusters := []treeGraph{}, [][]graph.Cluster{}
	for i, v := range c.trees {
		again := func(files fs.FS) (*graph.Tree, error) { return read[0].tree.Again(files, v.changed) }
		if i == 0 {
			again = graphOf(c.url)
		}
		f, err := readGraph(ctx, c.policy.Clusters, v.files, again)
		if err != nil {
			return out, err
		}
		read, clusters = append(read, f), append(clusters, f.clusters)
	}
	g := reach.New(c.policy, clusters...)
	g.HoldChanged(c.names())
	out.policy, out.graph = c.policy.With(g), g
	if !moves {
		return out, nil
	}
	var err error
	if out.moves, err = c.moves(ctx, g, read); err == nil && levels.Moves == config.LevelHold {
		g.Hold(out.moves)
	}
	return out, err
}

// names is every path that the change touches.
func (c change) names() []string {
	var out []string
	for _, f := range c.files {
		out = append(out, bothNames(f)...)
	}
	return out
}

// moves is what the change moves, and what it adds to live entry points while windowed ones make it.
func (c change) moves(ctx context.Context, g *reach.Graph, read []treeGraph) ([]reach.Move, error) {
	var changes []reach.Change
	for _, f := range c.files {
		switch f.Kind {
		case plan.Deleted:
			changes = append(changes, reach.Change{Left: f.Path})
		case plan.Added, plan.Copied:
			changes = append(changes, reach.Change{Added: f.Path})
		case plan.Renamed:
			changes = append(changes, reach.Change{Left: f.Old, Added: f.Path})
		}
	}
	before, after := g.Affected(c.names())
	if len(after) == 0 {
		return nil, nil
	}
	was, err := read[0].build(ctx, before, build.Limits{})
	if err != nil {
		return nil, err
	}
	is, err := read[1].build(ctx, after, build.Limits{})
	if err != nil {
		return nil, err
	}
	held, err := read[0].build(ctx, g.Windowed(was, is), build.Limits{})
	return append(g.Moves(was, is, changes), g.Copies(held, was, is)...), err
}

// wordApart is why an entry point is not built whose source is put together of several places of the tree.
const wordApart = "its source puts together several places of the repository, which is traced and not built"

// build makes the objects of some entry points. One whose path has a variable without a value is none, and of a guessed root it is not known what it
// makes.
func (f treeGraph) build(ctx context.Context, entries []graph.Entry, limits build.Limits) ([]reach.Build, error) {
	var out, guessed []reach.Build
	var asked []build.Entry
	files := map[string]bool{}
	for _, e := range entries {
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
	program, err := os.Executable()
	if err != nil || len(asked) == 0 {
		return guessed, err
	}
	results, err := build.Run(ctx, []string{program, "build"}, f.files, slices.Sorted(maps.Keys(files)), asked, limits)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		out[i].Err, out[i].Remote = r.Err, r.Remote || out[i].Entry.Foreign()
		for _, o := range r.Objects {
			out[i].Objects = append(out[i].Objects, reach.Object(o))
		}
	}
	return append(out, guessed...), nil
}

// referencesView is the JSON of what the reference graph shows of a tree.
type referencesView struct {
	Clusters []clusterRow `json:"clusters"`
	// The others are given with flux: true alone, where they count.
	Unreached int      `json:"unreached"`         // files that nothing is known to read
	Example   string   `json:"unreached_example"` // the first of them
	Leaves    []string `json:"leaves"`            // where the graph ends, and what was not built for it
}

// clusterRow is a cluster, and how it was found.
type clusterRow struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Branch string `json:"branch"` // "": not known
	Found  string `json:"found"`
}

// consistency is what the reference graph of a tree shows, with what its entry points make if that is asked for.
func (f treeGraph) consistency(ctx context.Context, g *reach.Graph, policy *config.Policy, paths []string, builds bool) ([]config.Note, *referencesView, error) {
	var built []reach.Build
	if levels := policy.Consistency; builds && (levels.Builds != config.LevelOff || levels.Duplicates != config.LevelOff) {
		var err error
		if built, err = f.build(ctx, g.Entries(), build.Limits{All: checkTime}); err != nil {
			return nil, nil, err
		}
	}
	view := &referencesView{Clusters: []clusterRow{}, Leaves: []string{}}
	for _, c := range f.clusters {
		view.Clusters = append(view.Clusters, clusterRow{c.Name, c.Path, c.Branch, c.Found})
	}
	if policy.Flux {
		if lost := g.Unreached(paths); len(lost) > 0 {
			view.Unreached, view.Example = len(lost), lost[0]
		}
		for _, l := range graph.Leaves(f.clusters) {
			view.Leaves = append(view.Leaves, l.String())
		}
		view.Leaves = append(view.Leaves, reach.Elsewhere(built)...)
	}
	return append(g.Check(built, paths), g.Problems(f.tree.Problems, built)...), view, nil
}

// print shows how the clusters were found, and where the graph ends.
func (v *referencesView) print(w io.Writer) {
	if len(v.Clusters)+v.Unreached > 0 {
		fmt.Fprintln(w)
	}
	for _, c := range v.Clusters {
		branch := ""
		if c.Branch != "" {
			branch = " at " + shown(c.Branch)
		}
		fmt.Fprintf(w, "cluster %s: %s%s (%s)\n", shown(c.Name), shown(c.Path), branch, shown(c.Found))
	}
	if v.Unreached > 0 {
		fmt.Fprintf(w, "nothing reads %s%s: preset and unmatched decide\n", shown(v.Example), counted(v.Unreached-1, " and 1 more file", " and %d more files"))
	}
	for i, leaf := range v.Leaves {
		if i == maxLeaves {
			fmt.Fprintf(w, "and %d more that are not in this tree\n", len(v.Leaves)-i)
			break
		}
		fmt.Fprintf(w, "not in this tree: %s\n", shown(leaf))
	}
}

// checkTime is how long check may build: it builds every entry point, and nobody waits for it.
const checkTime = 10 * time.Minute

// maxLeaves is how many ends of the graph are shown to people.
const maxLeaves = 20
