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
