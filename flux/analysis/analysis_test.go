package analysis

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/meter"
)

// TestURL: every tree of a run knows the repository by its URL, and so does one of which so much changed that it is read as a whole.
func TestURL(t *testing.T) {
	m := meter.New(t.Context(), meter.Limits{})
	defer m.Close()
	run, files := Run{Meter: m, URL: "https://example.com/fleet"}, fstest.MapFS{"a.yaml": {}}
	before, err := run.Read(t.Context(), files, nil)
	if err != nil {
		t.Fatal(err)
	}
	var changed []string
	for i := range graph.MaxChanged + 1 {
		changed = append(changed, fmt.Sprint(i))
	}
	for _, paths := range [][]string{changed[:1], changed} {
		after, err := run.read(t.Context(), files, nil, func(files fs.FS) (*graph.Tree, error) { return before.Graph.Again(files, paths) })
		if err != nil || after.Graph.URL != run.URL {
			t.Errorf("%d paths: %q, %v", len(paths), after.Graph.URL, err)
		}
	}
}

// TestEnded: a tree that was not read whole is an error, and says of which bound.
func TestEnded(t *testing.T) {
	m := meter.New(t.Context(), meter.Limits{meter.Files: 1})
	defer m.Close()
	_, err := Run{Meter: m}.Read(t.Context(), fstest.MapFS{"a.yaml": {}, "b.yaml": {}}, nil)
	if bound := (*meter.Error)(nil); !errors.As(err, &bound) {
		t.Error(err)
	}
}
