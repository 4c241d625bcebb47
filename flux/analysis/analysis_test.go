package analysis

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/build"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// TestURL: every tree of a run knows the repository by its URL, and so does one of which so much changed that it is read as a whole.
func TestURL(t *testing.T) {
	m := meter.New(t.Context(), meter.Limits{meter.Time: -1})
	defer m.Close()
	run, files := Run{Meter: m, URL: "https://example.com/fleet"}, fstest.MapFS{"a.yaml": {}}
	before, err := run.Read(t.Context(), files, nil)
	if err != nil {
		t.Fatal(err)
	}
	var changed []string
	for i := range kustomize.MaxChanged + 1 {
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
	m := meter.New(t.Context(), meter.Limits{meter.Time: -1, meter.Files: 1})
	defer m.Close()
	_, err := Run{Meter: m}.Read(t.Context(), fstest.MapFS{"a.yaml": {}, "b.yaml": {}}, nil)
	if bound := (*meter.Error)(nil); !errors.As(err, &bound) {
		t.Error(err)
	}
}

// TestNothingBuilds: where nobody can build, the file of a tree whose entry points are to be built has an error, and a change is not compared.
func TestNothingBuilds(t *testing.T) {
	broken := errors.New("no child")
	for name, c := range map[string]func(Run, *config.Policy, fluxtrees.Graph) error{
		"builds": func(r Run, p *config.Policy, g fluxtrees.Graph) error {
			found := r.Inspect(t.Context(), Surroundings{Policy: p, Data: g.Tree[config.File].Data, Tree: g.Tree, At: time.Now(), Proposed: func(context.Context) (Impact, error) { return Impact{}, nil }})
			if slices.ContainsFunc(found.Findings, func(f config.Finding) bool { return f.IsError() && f.Code == codeNoGraph }) {
				return broken
			}
			return nil
		},
		"moves": func(r Run, p *config.Policy, g fluxtrees.Graph) error {
			var change Change
			for file := range g.Base {
				if g.Tree[file] == nil {
					change.Files = append(change.Files, plan.File{Path: file, Kind: plan.Deleted})
				}
			}
			for file := range g.Tree {
				change.Files = append(change.Files, plan.File{Path: file, Kind: plan.Modified})
			}
			change.Trees = []Revision{{Files: g.Base}, {Files: g.Tree, Changed: change.names()}}
			_, err := r.Compare(t.Context(), p, change)
			return err
		},
	} {
		g, m := fluxtrees.ReadGraph(t, name), meter.New(t.Context(), meter.Limits{meter.Time: -1})
		policy, findings := config.Parse(g.Tree[config.File].Data)
		if policy == nil {
			t.Fatal(findings)
		}
		if err := c(Run{Meter: m, Build: func(context.Context, build.Job) ([]build.Result, error) { return nil, broken }}, policy, g); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
		m.Close()
	}
}
