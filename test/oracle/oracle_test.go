package oracle

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var (
	trees   = flag.Int("trees", 100, "how many trees are drawn")
	leave   = flag.String("without", "", "features that no tree has, with commas between them")
	seed    = flag.Uint64("seed", 1, "the seed of the first")
	smaller = flag.Bool("shrink", false, "make trees that fail smaller")
	only    = flag.String("only", "", "show trees of causes that have this text")
	into    = flag.String("into", "", "a directory for trees that fail")
	prefix  = flag.String("prefix", "", "what their names begin with")
	keep    = flag.Int("keep", 1, "how many trees that fail are shown, of each cause")
)

// TestOracle draws trees.
func TestOracle(t *testing.T) {
	quiet(t)
	without = strings.Split(*leave, ",")
	stats := map[string]int{}
	had, failed := map[string]int{}, map[string]int{}
	for n := range uint64(*trees) {
		w := draws(&draw{rnd: rand.New(rand.NewPCG(*seed+n, 0))})
		j := newJudge(w)
		if j.check.panics != "" {
			t.Errorf("seed %d: check panics: %s\n%s", *seed+n, j.check.panics, show(w))
			continue
		}
		if j.check.policy == nil {
			t.Fatalf("seed %d: %v", *seed+n, j.check.errors)
		}
		count(stats, j)
		for _, f := range w.features {
			had[f]++
		}
		found := j.misses(1)
		for _, wrong := range j.b.wrong {
			t.Errorf("seed %d: %s", *seed+n, wrong)
		}
		if len(j.late) > 0 {
			stats["error with builds "+j.late[0].Code]++
		}
		if len(found) == 0 {
			continue
		}
		stats["FAILED"]++
		for _, f := range w.features {
			failed[f]++
		}
		stats["FAILED "+found[0].cause()]++
		if stats["FAILED "+found[0].cause()] <= *keep && (*only == "" || strings.Contains(found[0].cause(), *only)) {
			small := w
			if *smaller {
				small = shrink(w, found[0])
			}
			out := fmt.Sprintf("seed %d: %v\n%s", *seed+n, found[0], show(small))
			if t.Error(out); *into != "" {
				name := strings.NewReplacer("/", "_", " ", "-", "#", "N").Replace(*prefix + found[0].cause())
				if err := os.WriteFile(filepath.Join(*into, name+".txtar"), []byte(out), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, f := range slices.Sorted(maps.Keys(had)) {
		t.Logf("%4d of %4d trees with %s failed", failed[f], had[f], f)
	}
	for _, key := range slices.Sorted(maps.Keys(stats)) {
		t.Logf("%5d %s", stats[key], key)
	}
}

// count counts what became of a tree.
func count(stats map[string]int, j *judge) {
	stats["trees"]++
	stats["builds"] += j.b.count
	if len(j.failed) > 0 {
		stats["with something that does not build"]++
		_, cause, _ := strings.Cut(j.failed[0], ": ")
		stats["not built: "+cause[:min(len(cause), 150)]]++
	}
	if len(j.check.errors) > 0 {
		stats["errors of check"]++
		stats["error "+j.check.errors[0].Code]++
	}
	stats["windowed entry points"] += len(j.subjects())
}

// show is a world as txtar.
func show(w *world) string {
	a := &txtar.Archive{}
	for _, f := range w.facts {
		a.Comment = append(a.Comment, fmt.Sprintf("cluster %s: root %s, applied by hand: %v %s\n", f.Name, f.Path, f.Hand, text(toAny(objects(f.Own))))...)
	}
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(w.files[name])})
	}
	return string(txtar.Format(a))
}

// quiet keeps kustomize's warnings of old fields out of what a test prints.
func quiet(t testing.TB) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stderr
	os.Stderr = null
	t.Cleanup(func() {
		os.Stderr = before
		_ = null.Close() // nothing of it is kept
	})
}
