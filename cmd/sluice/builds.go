package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/flux/build"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/reach"
	"github.com/sluicegate/sluice/meter"
)

// builds is what a command builds entry points with; that of no fields keeps nothing and shows nothing.
type builds struct {
	cache *build.Cache // where builds are kept; nil: nowhere
	bar   io.Writer    // where progress is shown; nil: nowhere
	meter *meter.Meter // of the run
}

func (e *env) builds() builds { return builds{e.cache, e.bar, e.meter} }

// buildCache is where the builds of this user are kept, if the system says where such things belong. Nothing is opened until something is built.
func buildCache(now time.Time) *build.Cache {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	return build.NewCache(filepath.Join(dir, "sluice", "builds"), now)
}

// build makes the objects of some entry points, in the time that the run has. One whose path has a variable without a value is none, and of a guessed root it is not known what it
// makes.
func (f treeGraph) build(ctx context.Context, entries []graph.Entry) ([]reach.Build, error) {
	var out, guessed []reach.Build
	var asked []build.Entry
	files := map[string]bool{}
	for _, e := range entries {
		if strings.Contains(e.Path(), "${") {
			continue
		}
		if e.Guessed() {
			guessed = append(guessed, reach.Build{Entry: e, Err: e.Cluster.Found})
			continue
		}
		if e.Apart() {
			guessed = append(guessed, reach.Build{Entry: e, Err: wordApart, Remote: true})
			continue
		}
		out, asked = append(out, reach.Build{Entry: e}), append(asked, build.NewEntry(e))
		for _, file := range e.Files() {
			files[file] = true
		}
	}
	results, err := f.builds.run(ctx, build.Job{Tree: f.files, Files: slices.Sorted(maps.Keys(files)), Entries: asked})
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		out[i].Err, out[i].Remote = r.Err, r.Remote || out[i].Entry.Foreign()
		for _, o := range r.Objects {
			out[i].Objects = append(out[i].Objects, reach.Object(o))
		}
		results[i] = build.Result{}
	}
	return append(out, guessed...), nil
}

// builder builds the entry points of a tree that cannot be read.
func (b builds) builder(ctx context.Context, files fs.FS) func(string, *graph.Kustomization, []string) ([]byte, error) {
	b.bar = nil // each of them takes no time that anybody would see
	return func(dir string, adds *graph.Kustomization, read []string) ([]byte, error) {
		results, err := b.run(ctx, build.Job{
			Tree: files, Files: read, Entries: []build.Entry{build.NewWhole(dir, adds)},
		})
		if err != nil {
			return nil, err
		}
		if results[0].Err != "" {
			return nil, errors.New(results[0].Err)
		}
		return results[0].Text, nil
	}
}

// run builds a job by this program.
func (b builds) run(ctx context.Context, j build.Job) ([]build.Result, error) {
	program, err := os.Executable()
	if err != nil || len(j.Entries) == 0 {
		return nil, err
	}
	j.Command, j.Cache, j.Meter = []string{program, "build"}, b.cache, b.meter
	if b.bar != nil {
		j.Progress = func(done, all int) { fmt.Fprint(b.bar, progressLine(done, all)) }
		defer fmt.Fprint(b.bar, "\r"+strings.Repeat(" ", progressWidth)+"\r")
	}
	return j.Run(ctx)
}

// progressWidth is how many columns a line of progress takes: it fits into any terminal, so that it can be erased.
const progressWidth = 60

// progressLine is a line of progress, in the place of the one before.
func progressLine(done, all int) string {
	const width = 20
	full := width * done / max(all, 1)
	line := fmt.Sprintf("building [%s%s] %d/%d", strings.Repeat("#", full), strings.Repeat(".", width-full), done, all)
	return fmt.Sprintf("\r%-*s", progressWidth, line)
}
