package reach

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
)

// AnswersOtherwise is what classify says where the service, which reads the reference graph with `flux: true` alone, gives a change another verdict.
func AnswersOtherwise(verdict string) config.Note {
	return config.Note{Level: config.LevelWarn, Code: codeUnserved, Message: wordAnswersOtherwise(verdict)}
}

// Unfollowed is those of some windowed branches that no cluster tracks, after the change where the trees are those around one: what they are to
// hold reaches the clusters from another branch. Nothing is known of it where no cluster has a Flux object in the tree. What tracks a branch may
// stand in another repository, so that it is an error with `flux: true` alone, which lets the references of this one decide.
func (g *Graph) Unfollowed(asked []config.Branch) []config.Note {
	f := g.follows()
	if len(f.clusters) == 0 {
		return nil
	}
	var out []config.Note
	for i, b := range g.policy.Branches {
		if f.used[b.Name] || !slices.ContainsFunc(asked, func(a config.Branch) bool { return a.Name == b.Name }) {
			continue
		}
		level := config.LevelHold
		if !g.policy.Flux || f.unclear || f.idle[b.Name] != nil {
			level = config.LevelWarn
		}
		out = append(out, config.Note{
			Level: level, Code: codeUnfollowed, Message: f.wordUnfollowed(b.Name), Way: []any{"branches", i, "name"},
		})
	}
	return at(g.policy.Consistency.Followed, out)
}

// following is which branches the clusters track.
type following struct {
	clusters []clusterFollows
	used     map[string]bool          // by branch: something is made of it
	idle     map[string]*graph.Source // by branch: a source that tracks it, and that nothing is known to use
	unclear  bool                     // more may be tracked than is known
}

// clusterFollows is a cluster and the branches of this repository that it tracks, sorted.
type clusterFollows struct {
	name     string
	branches []string
}

func (g *Graph) follows() following {
	f := following{used: map[string]bool{}, idle: map[string]*graph.Source{}}
	for _, e := range g.trees[min(1, len(g.trees)-1)].entries {
		if f.unclear = f.unclear || len(e.Unsure()) > 0 || e.Sourceless(); e.Kustomization == nil {
			f.unclear = f.unclear || e.Guessed() // Flux may be pointed somewhere else
			f.add(e.Cluster)
		}
	}
	return f
}

// add adds what a cluster tracks. More is possible where a branch has a variable without a value.
func (f *following) add(c *graph.Cluster) {
	if c.Branch == "" && len(c.Kustomizations)+len(c.Sources) == 0 {
		f.unclear = true
		return
	}
	root := rootBranch(c)
	branches := []string{root}
	f.used[root] = true
	for _, s := range c.Sources {
		branch := s.Follows()
		if branch == "" || !c.Reads(s) {
			continue // of another repository, or no branch
		}
		f.unclear = f.unclear || strings.Contains(branch, "${")
		if !c.Uses(s) {
			f.idle[branch] = s
			continue
		}
		f.used[branch] = true
		branches = append(branches, branch)
	}
	slices.Sort(branches)
	if branches = slices.Compact(branches); branches[0] == "" {
		branches = branches[1:]
	}
	f.clusters = append(f.clusters, clusterFollows{c.Name, branches})
}

// rootBranch is the branch that a cluster's root follows, in words where it is not known; "": it follows a tag or a commit, so that nothing that is merged
// reaches it.
func rootBranch(c *graph.Cluster) string {
	if c.Branch == "" && slices.ContainsFunc(c.Roots(), func(k *graph.Kustomization) bool { return k.Source != nil && k.Source.Follows() == "" }) {
		return ""
	}
	return cmp.Or(c.Branch, wordDefaultBranch)
}
