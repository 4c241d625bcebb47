package report_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/report"
)

// TestAboutEnds: the rows of many files end at the run's bounds, and with the run.
func TestAboutEnds(t *testing.T) {
	files := []string{"a", "b", "c", "d"}
	tree := report.NewReferences(nil, files, nil, nil)
	small := meter.New(t.Context(), meter.Limits{meter.Nodes: 10})
	defer small.Close()
	_, err := tree.Graph(small, files)
	if bound := (*meter.Error)(nil); !errors.As(err, &bound) || bound.Place != "a" || bound.Kind != meter.Nodes {
		t.Errorf("beyond a bound: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := meter.New(ctx, meter.Limits{})
	defer ended.Close()
	if _, err := tree.Graph(ended, files); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// TestShownTexts: what is held once and shown in many rows is charged for each of them.
func TestShownTexts(t *testing.T) {
	const entry = "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: e%d, namespace: a}\nspec: {path: u, sourceRef: {kind: GitRepository, name: a}}\n"
	dir := strings.Repeat("d", 1000)
	text := "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: a, namespace: a}\nspec: {url: 'https://example.com/" + strings.Repeat("x", 1000) + "'}\n"
	for i := range 100 {
		text += fmt.Sprintf(entry, i)
	}
	files := fstest.MapFS{
		"c/a.yaml": {Data: []byte(text)}, "u/kustomization.yaml": {Data: []byte("resources: [../" + dir + "]\n")},
		dir + "/kustomization.yaml": {Data: []byte("resources: [a.yaml]\n")}, dir + "/a.yaml": {Data: []byte("kind: None\n")},
	}
	roomy := meter.New(t.Context(), meter.Limits{})
	defer roomy.Close()
	read, err := graph.ReadBy(roomy, files)
	if err != nil {
		t.Fatal(err)
	}
	clusters := read.Clusters([]graph.Root{{Name: "c", Path: "c", URL: "https://example.com/" + strings.Repeat("x", 1000)}})
	tree := report.NewReferences(nil, slices.Sorted(maps.Keys(files)), clusters, nil)
	for want, about := range map[int][]string{100 * 1000: nil, 100 * 4 * 1000: {dir + "/a.yaml"}} {
		for _, enough := range []bool{false, true} {
			m := meter.New(t.Context(), meter.Limits{meter.Bytes: int64(want)})
			if enough {
				m.Allow(meter.Bytes, want/2)
			}
			v, err := tree.Graph(m, about)
			if bound := (*meter.Error)(nil); (err == nil) != enough || err != nil && (!errors.As(err, &bound) || bound.Kind != meter.Bytes) {
				t.Errorf("%d rows, %v: %v, %v", len(about), enough, err, m.Readings()[meter.Bytes])
			}
			if text, err := json.Marshal(v); err == nil && enough && len(text) < want {
				t.Errorf("%d bytes are shown: %.300s", len(text), text)
			}
			m.Close()
		}
	}
}
