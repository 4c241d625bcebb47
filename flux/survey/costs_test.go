package survey

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/meter"
)

// TestStops: each loop of a draft charges the run that read the tree, whose end ends it wherever it comes. How many steps there are is written
// down, so that a loop that charges none any more is noticed.
func TestStops(t *testing.T) {
	texts := map[string]string{"apps/a-rw/x.yaml": "a: b\n", "apps/a-rt/x.yaml": "a: b\n", "apps/b/x.yaml": "a: b\n"}
	texts["clusters/one/all.yaml"] = kustomization("rw", "./apps/a-rw", "rw") + kustomization("b", "./apps/b", "main") + windowJobs(8, "b") +
		"---\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSetInputProvider\nmetadata: {name: p}\nspec: {schedule: [{cron: '0 1 * * *', window: 2h}, {cron: '0 9 * * *', window: 2h}, {cron: x}]}\n" +
		"---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: other}\nspec: {jobTemplate: {spec: {template: {spec: {containers: [{args: [" + strings.Repeat("x", 64*commandStep) + "]}]}}}}}\n"
	took := func(limits meter.Limits) (*meter.Meter, [2]int64, error) {
		limits[meter.Time] = -1
		m := meter.New(t.Context(), limits)
		tree, err := graph.ReadBy(m, files(texts))
		if err != nil {
			t.Fatal(err)
		}
		tree.Clusters(nil)
		before := m.Readings()
		_, err = New(tree, slices.Sorted(maps.Keys(texts)), "main", false)
		return m, [2]int64{m.Readings()[meter.Nodes].Used - before[meter.Nodes].Used, m.Readings()[meter.Steps].Used - before[meter.Steps].Used}, err
	}
	m, all, err := took(meter.Limits{meter.Time: -1})
	if want := [2]int64{75, 116}; err != nil || all != want {
		t.Errorf("it takes %d nodes and steps, want %d; %v", all, want, err)
	}
	for i, kind := range []meter.Kind{meter.Nodes, meter.Steps} {
		whole := m.Readings()[kind].Used
		for n := range all[i] {
			limits := meter.Limits{meter.Time: -1}
			limits[kind] = whole - n - 1
			var bound *meter.Error
			if _, _, err := took(limits); !errors.As(err, &bound) {
				t.Errorf("%d of kind %d before the end: %v", n+1, kind, err)
			} else if _, there := texts[bound.Place]; !there {
				t.Errorf("%d of kind %d before the end: at %q, which is no file of the tree", n+1, kind, bound.Place)
			}
		}
	}
}
