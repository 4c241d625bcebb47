package reach

import (
	"slices"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/layout"
)

// Needed is the entry points of the first tree of which [Graph.Check] has to know what they make. Whether they can be built at all is asked of every one;
// for what two of them make only clusters count where not all need the same, by what they are applied to.
func (g *Graph) Needed() []graph.Entry {
	switch levels := g.policy.Consistency; {
	case levels.Builds != config.LevelOff:
		return g.Entries()
	case levels.Duplicates == config.LevelOff:
		return nil
	}
	first, differ := map[string][]layout.Release{}, map[string]bool{}
	for _, e := range g.trees[0].entries {
		if e.elsewhere {
			continue
		}
		c := e.Target()
		if _, ok := first[c]; !ok {
			first[c] = e.releases
		}
		differ[c] = differ[c] || !slices.Equal(first[c], e.releases)
	}
	return slices.DeleteFunc(g.Entries(), func(e graph.Entry) bool { return !differ[e.Target()] })
}

// Tracking is the entry points of the first tree that track windowed branches.
func (g *Graph) Tracking() (out []graph.Entry) {
	for _, e := range g.trees[0].entries {
		if len(tracks(g.policy, e.Entry)) > 0 && !e.elsewhere {
			out = append(out, e.Entry)
		}
	}
	return out
}

// Tracked is what some of them make of each windowed branch.
func (g *Graph) Tracked(built []Build) map[string]Tracked {
	out := map[string]Tracked{}
	for _, b := range built {
		for _, branch := range tracks(g.policy, b.Entry) {
			t := out[branch]
			if k := b.Entry.Kustomization; k != nil {
				t.Names = append(t.Names, b.Entry.Cluster.Name+"/"+k.Namespace+"/"+k.Name)
			}
			if t.Broken == "" && b.failed() {
				t.Broken = wordEntryNotBuilt(b)
			}
			out[branch] = t
		}
	}
	return out
}

// Tracked is what tracks one windowed branch.
type Tracked struct {
	Names  []string // the Flux Kustomizations, as CLUSTER/NAMESPACE/NAME, in the order of the entry points
	Broken string   // what cannot be built, for people; "": nothing
}
