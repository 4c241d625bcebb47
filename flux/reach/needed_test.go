package reach

import (
	"slices"
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// TestNeeded: whether they can be built is asked of all entry points, what two of them make only of those in clusters where not all need the same, and
// else nothing is built.
func TestNeeded(t *testing.T) {
	g := fluxtrees.ReadGraph(t, "layout-rw")
	read, err := graph.Read(g.Tree)
	if err != nil {
		t.Fatal(err)
	}
	policy := fileOf(t, g.Tree, graphFile)
	policy.Branches = policy.Branches[:1] // cluster-2 follows none
	for _, c := range []struct {
		builds, duplicates config.Level
		want               []string
	}{
		{config.LevelHold, config.LevelOff, []string{"cluster-1", "cluster-2"}},
		{config.LevelWarn, config.LevelWarn, []string{"cluster-1", "cluster-2"}},
		{config.LevelOff, config.LevelHold, []string{"cluster-1"}},
		{config.LevelOff, config.LevelOff, nil},
	} {
		policy.Consistency.Builds, policy.Consistency.Duplicates = c.builds, c.duplicates
		var got []string
		for _, e := range New(policy, read.Clusters(policy.Clusters)).Needed() {
			if got = append(got, e.Cluster.Name); e.Cluster.Name == "" {
				t.Error(e)
			}
		}
		if got = slices.Compact(got); !slices.Equal(got, c.want) {
			t.Errorf("builds %s, duplicates %s: %v, want %v", c.builds, c.duplicates, got, c.want)
		}
	}
}
