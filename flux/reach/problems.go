package reach

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/layout"
)

// windows reports whether the policy says that something in the tree is windowed by what reads it.
func (g *Graph) windows() bool { return len(g.policy.Branches)+len(g.policy.EntryPoints) > 0 }

// clusters is those of the first tree.
func (g *Graph) clusters() (out []*graph.Cluster) {
	for _, e := range g.trees[0].entries {
		if e.Kustomization == nil {
			out = append(out, e.Cluster)
		}
	}
	return out
}

// Hidden is the problems of the first tree behind which a windowed entry point may stand that is not known, or what it reads, by cause:
// errors with `flux: true`, where nothing else holds what is there. built is what its entry points make, as far as that is known.
func (g *Graph) Hidden(built []Build) []config.Note {
	notes, _ := g.hidden(outcomes(built))
	return notes
}

// hidden is Hidden, and the problems that were looked at.
func (g *Graph) hidden(files map[string]outcome) ([]config.Note, map[manifest.Problem]bool) {
	level := config.LevelWarn
	if g.policy.Flux && g.windows() {
		level = config.LevelHold
	}
	seen, paths := map[manifest.Problem]bool{}, g.unknownPaths()
	windowed := map[string]bool{}
	for _, e := range g.trees[0].all() {
		if isLive(e.releases) && !g.untold(e.Entry) {
			continue
		}
		by := e.Kustomization
		if by != nil && by.Kind == "HelmRelease" { // whose chart is of a windowed branch
			by = by.Entry
		}
		for k := cmp.Or(by, e.Cluster.Own()); k != nil && !windowed[k.Namespace+"/"+k.Name]; k = k.Entry { // it is what they that apply it make of it
			windowed[k.Namespace+"/"+k.Name] = true
		}
	}
	var values, others causes
	for _, cluster := range g.clusters() {
		for _, p := range cluster.Problems {
			if _, path := paths[p.Place]; p.Refused || p.Variable != "" && path || seen[p] || p.Of != "" && !windowed[p.Of] {
				continue
			}
			seen[p] = true
			c := &others
			if p.Variable != "" {
				c = &values
			} else if files[p.File] == leftOut {
				continue
			}
			c.add(p.Cause(), func() (config.Note, string) {
				return config.Note{Level: level, Code: codeProblem, Message: wordHidden}, ends(p.String())
			})
		}
	}
	return append(others.notes(likeIt, likeThem), at(g.policy.Consistency.Followed, values.notes(likeIt, likeThem))...), seen
}

// hides reports whether an entry point reads a file behind which more may stand, where that is an error.
func (g *Graph) hides(built []Build) func(graph.Entry) bool {
	files := map[string]bool{}
	if notes, seen := g.hidden(outcomes(built)); slices.ContainsFunc(notes, func(n config.Note) bool { return n.Level == config.LevelHold }) {
		for p := range seen {
			files[p.File] = files[p.File] || p.Variable == ""
		}
	}
	return func(e graph.Entry) bool {
		return len(files) > 0 && slices.ContainsFunc(e.Files(), func(file string) bool { return files[file] })
	}
}

// failed reports whether kustomize refuses to build it.
func (b Build) failed() bool { return b.Err != "" && !b.Remote && !b.Entry.Guessed() }

// outcome is what kustomize made of a file where the entry points that read it were built.
type outcome int

const (
	notBuilt outcome = iota
	leftOut          // nothing comes from it, though it counts as a manifest: the source leaves it out, or it says nothing
	used             // something may come from it, or it is why nothing was built
)

// outcomes is what kustomize made of files; of one that some entry point reads that was not built it is not known.
func outcomes(built []Build) map[string]outcome {
	out, made, unknown := map[string]outcome{}, map[string]bool{}, map[string]bool{}
	for _, b := range built {
		for _, o := range b.Objects {
			made[o.File] = true
		}
		for _, file := range b.Entry.Files() {
			unknown[file] = unknown[file] || b.Err != "" && !b.failed()
			if why := b.Entry.Chain(file)[0].Why; b.Err != "" || kustomize.IsBuild(file) || why != "" && why != "resources" && why != "bases" {
				out[file] = used
			}
			out[file] = max(out[file], leftOut)
		}
	}
	for file := range out {
		switch {
		case unknown[file]:
			delete(out, file)
		case made[file]:
			out[file] = used
		}
	}
	return out
}

// unknownPaths is where entry points have a path with a variable without a value, and whether one of them is windowed: what they need is known, and
// what they read is not.
func (g *Graph) unknownPaths() map[manifest.Place]bool {
	out := map[manifest.Place]bool{}
	for _, e := range g.trees[0].entries {
		if e.Kustomization != nil && strings.Contains(e.Path(), "${") {
			out[e.Kustomization.PathLine] = out[e.Kustomization.PathLine] || !isLive(e.releases)
		}
	}
	return out
}

// Problems is what is wrong with the first tree beyond its entry points, by cause: all is what is known of it, built is what its entry points make. What
// keeps one from being built is said there.
func (g *Graph) Problems(all []manifest.Problem, built []Build) []config.Note {
	files, paths := outcomes(built), g.unknownPaths()
	notes, said := g.hidden(files)
	var c causes
	for _, p := range all {
		if said[p] || p.Refused && files[p.File] != notBuilt || p.Variable != "" && paths[p.Place] {
			continue
		}
		c.add(p.Cause(), func() (config.Note, string) {
			return config.Note{Level: config.LevelWarn, Code: codeProblem, Message: placeholder}, ends(p.String())
		})
	}
	return append(notes, c.notes(likeIt, likeThem)...)
}

// Nothing is what the policy says of entry points that are not there, and windowed entry points that read nothing: what they were to hold is
// held by nobody. One that cannot be built is said to be so.
func (g *Graph) Nothing(built []Build) []config.Note {
	level := config.LevelWarn
	if g.policy.Flux {
		level = config.LevelHold
	}
	var out []config.Note
	for i, p := range g.policy.EntryPoints {
		if len(g.trees[0].entries) > 0 && !slices.ContainsFunc(g.clusters(), func(c *graph.Cluster) bool { return stands(p, c) }) {
			out = append(out, config.Note{
				Level: level, Code: codeEntryNothing, Message: wordEntryNothing, Way: []any{"layout", "entrypoints", i, "where"},
			})
		}
	}
	said := map[string]bool{}
	for _, b := range built {
		said[key(b.Entry)] = b.failed() && g.policy.Consistency.Builds == config.LevelHold
	}
	for _, e := range g.trees[0].entries { // applied by several, it stands here for each
		said[key(e.Entry)] = said[key(e.Entry)] || readsAny(e.Entry)
	}
	var c causes
	for _, e := range g.trees[0].entries {
		if isLive(e.releases) || e.elsewhere || said[key(e.Entry)] {
			continue
		}
		why := readsNothing(e.Entry)
		c.add(why, func() (config.Note, string) {
			return config.Note{Level: level, Code: codeReadsNothing, Message: wordReadsNothing(why)}, wordEntry(e.Entry)
		})
	}
	held := func(branch string) bool { return windowed(g.policy, branch) }
	for _, e := range g.trees[0].entries {
		if branch := e.Branch(); branch != "" && !e.elsewhere && !slices.ContainsFunc(e.Branches(), held) && slices.ContainsFunc(e.releases, isBranch) && !slices.ContainsFunc(e.releases, layout.Release.IsWindow) {
			c.add(branch, func() (config.Note, string) {
				return config.Note{Level: level, Code: codeReadsNothing, Message: wordFollowsOther(branch)}, wordEntry(e.Entry)
			})
		}
	}
	return at(g.policy.Consistency.Followed, append(out, c.notes("1 more entry point", "%d more entry points")...))
}

func isBranch(r layout.Release) bool {
	_, is := r.BranchGlob()
	return is
}

// stands reports whether an entry of entrypoints means something in a cluster, whatever it reads.
func stands(p config.EntryPoint, c *graph.Cluster) bool {
	fits := func(k *graph.Kustomization) bool {
		return p.Fits(c.Name, names(graph.Entry{Cluster: c, Kustomization: k})...)
	}
	return fits(nil) || slices.ContainsFunc(c.Kustomizations, fits)
}

// lost is the windows of what the policy windows and no cluster has.
func (g *Graph) lost() (out []layout.Release) {
	for _, p := range g.policy.EntryPoints {
		if !slices.ContainsFunc(g.clusters(), func(c *graph.Cluster) bool { return stands(p, c) }) {
			out = union(out, Windows(g.policy, p.Releases))
		}
	}
	used := g.follows().used
	for _, b := range g.policy.Branches {
		if !used[b.Name] {
			out = union(out, []layout.Release{layout.Release(b.Window)})
		}
	}
	return out
}

// readsAny reports whether an entry point reads a file: components alone, without its directory, make nothing.
func readsAny(e graph.Entry) bool {
	k := e.Kustomization
	if files := e.Files(); len(files) == 0 || k == nil || len(k.Components) == 0 || e.Apart() {
		return len(files) > 0
	}
	return slices.ContainsFunc(e.Files(), func(f string) bool { return k.Path == "." || strings.HasPrefix(f, k.Path+"/") })
}

// readsNothing is why an entry point reads no file.
func readsNothing(e graph.Entry) string {
	path := e.Path()
	if name := manifest.Unfilled(path); name != "" {
		return wordNoValue(name)
	}
	if e.Kustomization != nil && !e.Cluster.Stands(e.Kustomization) {
		return wordNoPath(path)
	}
	return wordNoFile(path)
}

// unmatched warns where what nothing is known to read may change at any time: the graph may only not know who reads it.
func (g *Graph) unmatched() []config.Note {
	if !g.policy.Flux || !g.windows() || !g.policy.Layout.OpenUnmatched() {
		return nil
	}
	return []config.Note{{Level: config.LevelWarn, Code: codeUnmatched, Message: wordUnmatched, Way: []any{"layout", "unmatched"}}}
}
