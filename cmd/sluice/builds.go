package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sluicegate/sluice/flux/analysis"
	"github.com/sluicegate/sluice/flux/build"
	"github.com/sluicegate/sluice/gitremote"
)

// reading is what a command reads trees of the repository in a directory with, and builds by this program.
func (e *env) reading(dir string) analysis.Run {
	run := analysis.Run{Meter: e.meter, Build: e.build}
	ofClone(e.meter, dir, func(r *gitremote.Repo) { run.URL, run.DefaultBranch = r.Origin(), string(r.DefaultBranch()) })
	return run
}

// buildCache is where the builds of this user are kept, if the system says where such things belong; else they are remembered. Nothing is opened until
// something is built.
func buildCache(now time.Time) *build.Cache {
	dir, err := os.UserCacheDir()
	if err != nil {
		return build.NewCache("", now)
	}
	return build.NewCache(filepath.Join(dir, "sluice", "builds"), now)
}

// build builds a job by this program.
func (e *env) build(ctx context.Context, j build.Job) ([]build.Result, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	j.Command, j.Cache = []string{program, "build"}, cmp.Or(j.Cache, e.cache)
	if e.bar != nil && !j.Entries[0].Whole { // one that is built to be read takes no time that anybody would see
		j.Progress = func(done, all int) { fmt.Fprint(e.bar, progressLine(done, all)) }
		defer fmt.Fprint(e.bar, "\r"+strings.Repeat(" ", progressWidth)+"\r")
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
