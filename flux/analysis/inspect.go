package analysis

import (
	"context"
	"io/fs"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/reach"
	"github.com/sluicegate/sluice/flux/render"
)

// The codes of findings that are about the surroundings of a file. docs/spec lists them with those of package config.
const (
	codeSuspend = "suspend-in-git"
	codeNoGraph = "graph-not-read"
)

// Surroundings is where a repository's file stands.
type Surroundings struct {
	Policy *config.Policy // nil: the file is not valid
	Data   []byte         // the file
	Tree   fs.FS
	At     time.Time
	// Proposed is what is about to be merged of what the tree shows; of none the zero Impact.
	Proposed func(context.Context) (Impact, error)
}

// Inspection is what a file means for its tree.
type Inspection struct {
	Findings []config.Finding
	Shares   []config.Share // nil: the file is not valid, or the tree could not be listed
	Graph    *Coverage      // nil: the file says nothing of Flux, or it was not read
}

// Coverage is what the references of a tree show.
type Coverage struct {
	Clusters []graph.Cluster
	// The others are known with `flux: true` alone, where they count.
	Unreached []string // files that nothing is known to read
	Leaves    []string // where the graph ends, and what was not built for it
}

// Inspect looks at a file in its tree, as far as it is valid.
func (r Run) Inspect(ctx context.Context, s Surroundings) Inspection {
	in := config.CheckInput{At: s.At, DefaultBranch: r.DefaultBranch}
	if in.Paths, in.Missed = List(ctx, s.Tree); in.Missed != nil || s.Policy == nil {
		return Inspection{Findings: config.Check(s.Policy, s.Data, in)}
	}
	out := Inspection{}
	tree, err := r.Read(ctx, s.Tree, s.Policy.Clusters)
	if err == nil && knowsFlux(s.Policy) {
		g := reach.New(s.Policy, tree.Clusters)
		var notes []config.Note
		notes, out.Graph, err = tree.consistency(ctx, g, s.Policy, in.Paths)
		in.Notes = append(in.Notes, notes...)
		if s.Policy.Consistency.Moves != config.LevelOff {
			in.Notes = append(in.Notes, s.proposed(ctx)...)
		}
		if err == nil {
			s.Policy = s.Policy.With(g)
		}
	}
	if ctx.Err() != nil { // nothing more is looked at
		in.Paths = nil
	}
	if err != nil {
		in.Notes = append(in.Notes, config.Note{Level: config.LevelHold, Code: codeNoGraph, Message: err.Error()})
	}
	out.Findings = config.Check(s.Policy, s.Data, in)
	if err == nil {
		out.Findings = append(out.Findings, suspendInGit(s.Policy, tree.Clusters)...)
	}
	if out.Shares = s.Policy.Shares(in.Paths); err == nil && r.Meter.Err() != nil { // of some of them
		return Inspection{Findings: config.CheckInput{Missed: r.Meter.Err()}.Unread(s.Policy)}
	}
	return out
}

// proposed is what moves by what is about to be merged.
func (s Surroundings) proposed(ctx context.Context) []config.Note {
	found, err := s.Proposed(ctx)
	if err != nil { // of the base, perhaps: that makes no file invalid
		return []config.Note{{Level: config.LevelWarn, Code: codeNoGraph, Message: "what moves between Flux Kustomizations is not known: " + err.Error()}}
	}
	return found.Moving()
}

// consistency is what the references of a tree show, and what its entry points make, as far as that is asked for.
func (t Tree) consistency(ctx context.Context, g *reach.Graph, policy *config.Policy, paths []string) ([]config.Note, *Coverage, error) {
	built, err := t.Build(ctx, g.Needed())
	if err != nil {
		return nil, nil, err
	}
	out := &Coverage{Clusters: t.Clusters}
	if policy.Flux {
		out.Unreached = g.Unreached(paths)
		for _, l := range graph.Leaves(t.Clusters) {
			out.Leaves = append(out.Leaves, l.String())
		}
		out.Leaves = append(out.Leaves, reach.Elsewhere(built)...)
	}
	return append(g.Check(built, paths), g.Problems(t.Graph.Problems, built)...), out, g.Err()
}

// suspendInGit is warnings about windowed Flux Kustomizations of whose suspend the tree says something.
func suspendInGit(policy *config.Policy, clusters []graph.Cluster) []config.Finding {
	var out []config.Finding
	wrong, _ := render.Contradictions(render.Input{Policy: policy, Clusters: clusters}) // who called knows that the context ended
	for _, h := range wrong {
		out = append(out, config.Finding{Severity: config.Warning, Code: codeSuspend, Message: h.Contradiction()})
	}
	return out
}
