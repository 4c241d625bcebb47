// Package analysis says what trees of a repository mean, and changes between them: it reads the references of each tree, compares those before a change
// with those after it, builds the entry points for which that is asked, and looks at the repository's file in its tree. What the parts mean is package
// graph's, reach's and build's; here is the order in which they are asked.
//
// A [Run] is given all that is not a value: each tree is an [fs.FS], wherever it comes from, and whoever has processes and a cache builds. One run is for
// one goroutine, and what was read for it ends with its meter.
//
// How it fails: closed. A tree that was not read whole is an error, which is a finding of [Run.Inspect].
package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/build"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/reach"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// Run is what reads trees of one repository.
type Run struct {
	Meter         *meter.Meter // charged for all that is read, built and asked
	URL           string       // of the repository, as far as it is known; "": not known
	DefaultBranch string       // likewise
	// Build builds in child processes. Who starts them, where builds are kept and who sees progress is its business; the run's meter is in the job.
	Build func(context.Context, build.Job) ([]build.Result, error)
}

// Tree is a tree whose references were read.
type Tree struct {
	Graph    *graph.Tree
	Clusters []graph.Cluster
	Files    fs.FS // until the context ends
	run      Run
}

// Read reads the references of a tree, of the clusters at some roots, or of all that are found. Fail closed: one that was not read whole is an error.
func (r Run) Read(ctx context.Context, files fs.FS, roots []graph.Root) (Tree, error) {
	return r.read(ctx, files, roots, func(files fs.FS) (*graph.Tree, error) { return graph.ReadBy(r.Meter, files) })
}

func (r Run) read(ctx context.Context, files fs.FS, roots []graph.Root, how func(fs.FS) (*graph.Tree, error)) (Tree, error) {
	t := Tree{Files: untilDone{ctx, files}, run: r}
	var err error
	if t.Graph, err = how(t.Files); err != nil {
		return t, fmt.Errorf("the reference graph was not read: %w", err)
	}
	if err := r.Meter.Err(); err != nil {
		return t, fmt.Errorf("the reference graph was not read whole: %w", err)
	}
	t.Graph.URL, t.Graph.Builder = r.URL, t.builder(ctx)
	t.Clusters = t.Graph.Clusters(roots)
	if err := r.Meter.Err(); err != nil {
		return t, fmt.Errorf("the reference graph was not read whole: %w", err)
	}
	if bound := t.Graph.Beyond(); bound != "" {
		return t, fmt.Errorf("the reference graph was not read whole: %s", bound)
	}
	return t, ctx.Err()
}

// Again reads the references of a tree that differs from another one with the same roots; nil: from none.
func (r Run) Again(ctx context.Context, from *Tree, v Revision, roots []graph.Root) (Tree, error) {
	switch {
	case from == nil:
		return r.Read(ctx, v.Files, roots)
	case len(v.Changed) == 0: // not even the file that names the roots
		return Tree{Graph: from.Graph, Clusters: from.Clusters, Files: untilDone{ctx, v.Files}, run: r}, ctx.Err()
	}
	return r.read(ctx, v.Files, roots, func(files fs.FS) (*graph.Tree, error) { return from.Graph.Again(files, v.Changed) })
}

// knowsFlux reports whether a policy says what Flux Kustomizations need.
func knowsFlux(p *config.Policy) bool { return p.Flux || len(p.Branches)+len(p.EntryPoints) > 0 }

// Impact is what a change means by the references of the trees around it, as far as these were read.
type Impact struct {
	Policy *config.Policy // with the references
	Served *config.Policy // as the service has it: with them where the file says `flux: true`
	// Whole is the files of which every byte counted: what was built, and what else is not known by what it says.
	Whole map[string]bool
	// Rootless: no cluster was found in a tree with the change, so that nothing is known to read any file of it.
	Rootless bool
	found    []config.Note // what is wrong with the change that was not before it, where that is asked
	graph    *reach.Graph  // nil: they were not read
	moves    []reach.Move
	notes    []config.Note // why they were not
}

// Refer is what changes of some files of a tree mean by its references, where these count.
func (r Run) Refer(ctx context.Context, policy *config.Policy, tree fs.FS, files []plan.File) (Impact, error) {
	out := Impact{Policy: policy, Served: policy}
	if !policy.Flux && (policy.Consistency.Followed == config.LevelOff || !onBranches(policy, files)) {
		return out, nil
	}
	t, err := r.Read(ctx, tree, policy.Clusters)
	if err == nil {
		out.graph = reach.New(policy, t.Clusters)
		out.with(out.graph)
		err = out.graph.Err()
	}
	if err != nil && !policy.Flux {
		out.notes, err = []config.Note{{Level: config.LevelWarn, Code: codeNoGraph, Message: err.Error()}}, nil
	}
	return out, err
}

// with adds the references.
func (i *Impact) with(g *reach.Graph) {
	i.graph, i.Policy = g, i.Policy.With(g)
	if i.Policy.Flux {
		i.Served = i.Policy
	}
}

// onBranches reports whether windowed branches hold any of some files.
func onBranches(policy *config.Policy, files []plan.File) bool {
	return slices.ContainsFunc(files, func(f plan.File) bool {
		return slices.ContainsFunc(policy.Layout.Classify(f.Path).Releases, func(r layout.Release) bool {
			_, branch := r.BranchGlob()
			return branch
		})
	})
}

// Change is a change with the trees around it: without it, and with it.
type Change struct {
	Files  []plan.File
	Trees  []Revision // two
	Checks bool       // whether it breaks something is asked, too
	Kept   *Tree      // that was read before by the same rules, from which the first differs in its changed paths; nil: there is none
}

// Revision is one of these trees, and the paths in which it differs from the first.
type Revision struct {
	Files   fs.FS
	Changed []string
}

// Compare is what a change means by the references before and after it, with what moves between live and windowed entry points where that is no more
// than a warning.
func (r Run) Compare(ctx context.Context, policy *config.Policy, c Change) (Impact, error) {
	out, levels := Impact{Policy: policy, Served: policy}, policy.Consistency
	moves := knowsFlux(policy) && levels.Moves != config.LevelOff
	if !policy.Flux && !moves && (len(policy.Branches) == 0 || levels.Followed == config.LevelOff) {
		return out, nil
	}
	out.Whole, r.Build = whole(r.Build)
	trees, clusters := []Tree{}, [][]graph.Cluster{}
	for i, v := range c.Trees {
		from := c.Kept
		if i > 0 {
			from = &trees[0]
		}
		t, err := r.Again(ctx, from, v, policy.Clusters)
		if err != nil {
			return out, err
		}
		out.Rootless = i > 0 && len(t.Clusters) == 0
		trees, clusters = append(trees, t), append(clusters, t.Clusters)
	}
	for _, name := range trees[1].Graph.Whole() {
		out.Whole[name] = true
	}
	g := reach.New(policy, clusters...)
	g.HoldChanged(c.names())
	out.with(g)
	var err error
	if c.Checks {
		out.found, err = c.introduces(ctx, g, trees, levels)
	}
	if !moves || err != nil {
		return out, cmp.Or(err, g.Err())
	}
	if out.moves, err = c.moves(ctx, g, trees); err == nil && levels.Moves == config.LevelHold {
		g.Hold(out.moves, c.names())
	}
	return out, cmp.Or(err, g.Err())
}

// whole is a way to build that notes each file that is built.
func whole(do func(context.Context, build.Job) ([]build.Result, error)) (map[string]bool, func(context.Context, build.Job) ([]build.Result, error)) {
	files := map[string]bool{}
	return files, func(ctx context.Context, job build.Job) ([]build.Result, error) {
		for _, name := range job.Files {
			files[name] = true
		}
		return do(ctx, job)
	}
}

// names is every path that the change touches.
func (c Change) names() []string {
	var out []string
	for _, f := range c.Files {
		out = append(out, f.Names()...)
	}
	return out
}

// Tracked is what a tree makes of all that tracks windowed branches, by branch. That no cluster is found is an error.
func (t Tree) Tracked(ctx context.Context, policy *config.Policy) (map[string]reach.Tracked, error) {
	if len(t.Clusters) == 0 {
		return nil, ErrRootless
	}
	g := reach.New(policy, t.Clusters)
	built, err := t.Build(ctx, g.Tracking())
	return g.Tracked(built), cmp.Or(err, g.Err())
}

// ErrRootless is that nothing is known to read any file.
var ErrRootless = errors.New("no cluster is found: list them under clusters in " + config.File)

// introduces is what the change keeps from being built, has a windowed entry point read that a rule makes live, windows though nothing holds it, or has two entry
// points make that did not both make it before. What is held already is not looked at for duplicates, for which all entry points beside are built.
func (c Change) introduces(ctx context.Context, g *reach.Graph, trees []Tree, levels config.Consistency) ([]config.Note, error) {
	before, after := g.Touched(c.names())
	is, err := trees[1].Build(ctx, after)
	if err != nil {
		return nil, err
	}
	was, err := trees[0].Build(ctx, before)
	if err != nil {
		return nil, err
	}
	out := slices.Concat(g.Broken(was, is), g.MadeLive(c.names()), g.Unenforced())
	if levels.Duplicates == config.LevelOff || slices.ContainsFunc(out, holds) {
		return out, nil
	}
	beside, err := trees[1].Build(ctx, g.Beside(was, is))
	return append(out, g.Duplicated(was, is, beside)...), err
}

// holds reports whether what is wrong keeps a change back.
func holds(n config.Note) bool { return n.Level == config.LevelHold }

// Broken is why a change must not be merged; "": nothing is wrong with it.
func (i Impact) Broken() string {
	if at := slices.IndexFunc(i.found, holds); at >= 0 {
		return i.found[at].Message
	}
	return ""
}

// Told is what people are to know of a change that may be merged, or is held for something else.
func (i Impact) Told() []config.Note {
	return slices.DeleteFunc(slices.Concat(i.found, i.Moving()), holds)
}

// moves is what the change moves, and what it adds to live entry points while windowed ones make it.
func (c Change) moves(ctx context.Context, g *reach.Graph, trees []Tree) ([]reach.Move, error) {
	var changes []reach.Change
	for _, f := range c.Files {
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
	if len(before)+len(after) == 0 {
		return nil, nil
	}
	was, err := trees[0].Build(ctx, before)
	if err != nil {
		return nil, err
	}
	is, err := trees[1].Build(ctx, after)
	if err != nil {
		return nil, err
	}
	held, err := trees[0].Build(ctx, g.Windowed(was, is))
	return slices.Concat(g.Moves(was, is, changes), g.Copies(held, was, is), g.Taken(g.Lost(was, is, c.names()))), err
}

// Answers is what the references say of some paths; an error where they were not read.
func (i Impact) Answers(paths []string) (layout.Answers, error) {
	if i.graph == nil {
		return nil, errors.New(wordNotAsked)
	}
	return layout.Ask(i.graph, paths), i.graph.Err()
}

const wordNotAsked = "the rules do not ask for references"

// Moving is what people are to know of what moves.
func (i Impact) Moving() []config.Note {
	if i.graph == nil {
		return nil
	}
	return i.graph.Moving(i.moves)
}

// Warnings is what people are to know beside a verdict by the references: where the service, which has none, gives another one, and what holds less
// than it seems.
func (i Impact) Warnings(verdict, served plan.Verdict) []config.Finding {
	notes := slices.Clone(i.notes)
	if served.Kind != verdict.Kind || !served.Until.Equal(verdict.Until) {
		notes = append(notes, reach.AnswersOtherwise(served.Text()))
	}
	if i.graph != nil {
		var receivers []config.Branch
		for _, r := range verdict.Releases {
			receivers = append(receivers, i.Policy.Matching(r)...)
		}
		notes = append(notes, i.graph.Unfollowed(receivers)...)
	}
	out := []config.Finding{}
	for _, n := range append(notes, i.Moving()...) {
		out = append(out, config.Finding{Severity: config.Warning, Code: n.Code, Message: n.Message})
	}
	return out
}
