package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/reach"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// treeGraph is what the reference graph of one tree says.
type treeGraph struct {
	files    fs.FS
	tree     *graph.Tree
	clusters []graph.Cluster
	builds   builds
}

// readGraph reads the reference graph of a tree, of the clusters at some roots, or of all that are found. Every command reads it here. Fail closed:
// one that was not read whole is an error.
func (b builds) readGraph(ctx context.Context, roots []graph.Root, files fs.FS, read func(*meter.Meter, fs.FS) (*graph.Tree, error)) (treeGraph, error) {
	if b.meter == nil { // a run of its own
		b.meter = meter.New(ctx, meter.Limits{})
	}
	files = untilDone{ctx, files}
	tree, err := read(b.meter, files)
	if err != nil {
		return treeGraph{}, fmt.Errorf("the reference graph was not read: %w", err)
	}
	if err := b.meter.Err(); err != nil {
		return treeGraph{}, fmt.Errorf("the reference graph was not read whole: %w", err)
	}
	tree.Builder = b.builder(ctx, files)
	f := treeGraph{builds: b, files: files, tree: tree, clusters: tree.Clusters(roots)}
	if err := b.meter.Err(); err != nil {
		return f, fmt.Errorf("the reference graph was not read whole: %w", err)
	}
	if bound := tree.Beyond(); bound != "" {
		return f, fmt.Errorf("the reference graph was not read whole: %s", bound)
	}
	return f, ctx.Err()
}

// graphOf reads a tree of the repository that has a URL, as far as it is known.
func graphOf(url string) func(*meter.Meter, fs.FS) (*graph.Tree, error) {
	return func(m *meter.Meter, files fs.FS) (*graph.Tree, error) {
		tree, err := graph.ReadBy(m, files)
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
func (b builds) refer(ctx context.Context, policy *config.Policy, files fs.FS, read func(*meter.Meter, fs.FS) (*graph.Tree, error)) (referred, error) {
	f, err := b.readGraph(ctx, policy.Clusters, files, read)
	if err != nil {
		return referred{policy: policy}, err
	}
	g := reach.New(policy, f.clusters)
	return referred{policy: policy.With(g), graph: g}, g.Err()
}

// change is a change with the trees around it: those of the merge base and of the head, and the base's where that went on.
type change struct {
	policy *config.Policy
	url    string // of the repository; "": not known
	files  []plan.File
	trees  []treeVersion
	builds builds
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
		again := func(_ *meter.Meter, files fs.FS) (*graph.Tree, error) { return read[0].tree.Again(files, v.changed) }
		if i == 0 {
			again = graphOf(c.url)
		}
		f, err := c.builds.readGraph(ctx, c.policy.Clusters, v.files, again)
		if err != nil {
			return out, err
		}
		read, clusters = append(read, f), append(clusters, f.clusters)
	}
	g := reach.New(c.policy, clusters...)
	g.HoldChanged(c.names())
	out.policy, out.graph = c.policy.With(g), g
	if !moves {
		return out, g.Err()
	}
	var err error
	if out.moves, err = c.moves(ctx, g, read); err == nil && levels.Moves == config.LevelHold {
		g.Hold(out.moves)
	}
	return out, cmp.Or(err, g.Err())
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
	was, err := read[0].build(ctx, before)
	if err != nil {
		return nil, err
	}
	is, err := read[1].build(ctx, after)
	if err != nil {
		return nil, err
	}
	held, err := read[0].build(ctx, g.Windowed(was, is))
	return append(g.Moves(was, is, changes), g.Copies(held, was, is)...), err
}

// wordApart is why an entry point is not built whose source is put together of several places of the tree.
const wordApart = "its source puts together several places of the repository, which is traced and not built"

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

// consistency is what the reference graph of a tree shows, and what its entry points make, as far as that is asked for.
func (f treeGraph) consistency(ctx context.Context, g *reach.Graph, policy *config.Policy, paths []string) ([]config.Note, *referencesView, error) {
	built, err := f.build(ctx, g.Needed())
	if err != nil {
		return nil, nil, err
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
	return append(g.Check(built, paths), g.Problems(f.tree.Problems, built)...), view, g.Err()
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

// maxLeaves is how many ends of the graph are shown to people.
const maxLeaves = 20
