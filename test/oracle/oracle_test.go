package oracle

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var (
	trees   = flag.Int("trees", 1000, "how many trees are drawn")
	seed    = flag.Uint64("seed", 1, "the seed of the first")
	leave   = flag.String("without", "", "features that no tree has, with commas between them: to leave out what is known to fail shows what else does")
	with    = flag.String("with", "", "features of which each tree that is asked about has one, with commas between them: the others are drawn, too")
	why     = flag.Bool("why", false, "count the errors of check by what they say")
	skip    = flag.String("skip", "", "a regular expression of files that do not count: to leave out what is known to fail shows what else does")
	keep    = flag.Int("keep", 1, "how many trees that fail are shown, of each cause")
	only    = flag.String("only", "", "show trees of causes that have this text")
	smaller = flag.Bool("shrink", false, "make trees smaller before they are shown")
	into    = flag.String("into", "", "a directory into which they are written as well")
)

// TestOracle draws trees, and wants sluice to miss nothing of any.
func TestOracle(t *testing.T) {
	quiet(t)
	without, skipped = strings.Split(*leave, ","), nil
	if *skip != "" {
		skipped = regexp.MustCompile(*skip)
	}
	r := &report{stats: map[string]int{}, drawn: map[string]int{}, had: map[string]int{}, failed: map[string]int{}, shown: map[string]int{}}
	for n := range uint64(*trees) {
		r.judge(t, *seed+n)
	}
	r.sound(t)
	r.log(t)
}

// FuzzOracle is the same for trees that the fuzzer draws.
func FuzzOracle(f *testing.F) {
	quiet(f)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		bytes := make([]byte, 100)
		for i := range bytes {
			bytes[i] = byte(rnd.Uint32())
		}
		f.Add(bytes)
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		w := draws(&draw{bytes: bytes})
		j := newJudge(w)
		if j.check.panics != "" {
			t.Fatalf("check panics: %s\n%s", j.check.panics, show(w))
		}
		if found := j.misses(1); len(found) > 0 {
			t.Fatalf("%v\n%s", found[0], show(shrink(w, found[0])))
		}
		for _, wrong := range j.b.wrong {
			t.Error(wrong)
		}
	})
}

// report is what became of trees.
type report struct {
	stats       map[string]int
	drawn       map[string]int // by feature: trees
	had, failed map[string]int // by feature: trees that are no errors of check, and those of them that failed
	shown       map[string]int // by cause
}

// judge draws one tree and asks about it.
func (r *report) judge(t *testing.T, seed uint64) {
	t.Helper()
	w := draws(&draw{rnd: rand.New(rand.NewPCG(seed, 0))})
	if *with != "" && !slices.ContainsFunc(w.features, func(f string) bool { return slices.Contains(strings.Split(*with, ","), f) }) {
		return
	}
	j := newJudge(w)
	switch {
	case j.check.panics != "":
		t.Errorf("seed %d: check panics: %s\n%s", seed, j.check.panics, show(w))
		return
	case j.check.policy == nil:
		t.Fatalf("seed %d: the grammar's file is not valid: %v", seed, j.check.errors)
	}
	found := j.misses(1)
	for _, wrong := range j.b.wrong {
		t.Errorf("seed %d: %s\n%s", seed, wrong, show(w))
	}
	r.count(j)
	if len(j.late) > 0 { // found by a build alone
		r.stats[fmt.Sprintf("seed %d: %s", seed, j.late[0].Message)]++
	}
	if len(found) == 0 {
		return
	}
	r.stats["FAILED"]++
	for _, f := range w.features {
		r.failed[f]++
	}
	r.show(t, seed, w, found[0])
}

// count counts what became of a tree.
func (r *report) count(j *judge) {
	r.stats["trees"]++
	for _, f := range j.features {
		r.drawn[f]++
	}
	r.stats["builds"] += j.b.count
	r.stats["windowed entry points"] += len(j.subjects())
	if len(j.failed) > 0 && !slices.Contains(j.features, "no-directory") {
		r.stats["with something that does not build"]++
		_, cause, _ := strings.Cut(j.failed[0], ": ")
		r.stats["not built: "+cause[:min(len(cause), 150)]]++
	}
	errors := append(slices.Clone(j.check.errors), j.late...)
	if len(errors) == 0 {
		for _, f := range j.features {
			r.had[f]++
		}
		return
	}
	r.stats["errors of check"]++
	r.stats["error "+errors[0].Code]++
	if *why {
		r.stats["error "+digits.ReplaceAllString(errors[0].Message, "#")]++
	}
}

// show shows a tree that failed, unless enough of its cause were shown.
func (r *report) show(t *testing.T, seed uint64, w *world, m miss) {
	t.Helper()
	cause := m.cause()
	r.stats["FAILED "+cause]++
	if !strings.Contains(cause, *only) || r.shown[cause] >= *keep {
		t.Errorf("seed %d: %v", seed, m)
		return
	}
	r.shown[cause]++
	if *smaller {
		w = shrink(w, m)
	}
	out := fmt.Sprintf("seed %d: %v\n%s", seed, m, show(w))
	if t.Error(out); *into == "" {
		return
	}
	name := strings.NewReplacer("/", "_", " ", "-", "#", "N").Replace(cause)
	if err := os.WriteFile(filepath.Join(*into, fmt.Sprintf("%s-%d.txtar", name, r.shown[cause])), []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sound wants the trees to say something: that they build, that check accepts most of them, and that each feature was asked about.
func (r *report) sound(t *testing.T) {
	t.Helper()
	all := r.stats["trees"]
	if all < 500 {
		return
	}
	if n := r.stats["with something that does not build"]; n > all/20 {
		t.Errorf("%d of %d trees have something that does not build: they ask nothing", n, all)
	}
	if n := r.stats["errors of check"]; n > all/2 {
		t.Errorf("%d of %d trees are errors of check: they ask nothing", n, all)
	}
	if n := r.stats["error builds"]; n > 0 {
		t.Errorf("in %d trees kustomize makes something else than the graph reads", n)
	}
	for _, feature := range refused {
		if r.drawn[feature] == 0 && all >= 1000 && !slices.Contains(without, feature) {
			t.Errorf("no tree has the feature %s", feature)
		}
	}
	for _, feature := range features {
		if r.had[feature] == 0 && !slices.Contains(without, feature) {
			t.Errorf("no tree with the feature %s was asked about: in each of them check finds an error", feature)
		}
	}
}

// log says how much was asked.
func (r *report) log(t *testing.T) {
	t.Helper()
	for _, f := range slices.Sorted(maps.Keys(r.drawn)) {
		t.Logf("%6d trees have %s, %d of them without errors of check; %d failed", r.drawn[f], f, r.had[f], r.failed[f])
	}
	for _, key := range slices.Sorted(maps.Keys(r.stats)) {
		t.Logf("%6d %s", r.stats[key], key)
	}
}

// show is a world as txtar.
func show(w *world) string {
	a := &txtar.Archive{Comment: []byte("clone of " + w.origin + "\n")}
	for _, f := range w.facts {
		a.Comment = append(a.Comment, fmt.Sprintf("cluster %s: root %s, applied by hand: %v %s\n", f.Name, f.Path, f.Hand, text(toAny(objects(f.Own))))...)
	}
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(brief(w.files[name]))})
	}
	return string(txtar.Format(a))
}

// brief is a text as people read it: what meets a bound is mostly one line, or many alike.
func brief(text string) string {
	var out strings.Builder
	before, alike := "", 0
	for line := range strings.Lines(text) {
		if alike++; line != before {
			before, alike = line, 0
		}
		switch {
		case alike == 3:
			out.WriteString("(and so on)\n")
		case alike < 3 && len(line) > 1000:
			fmt.Fprintf(&out, "%s (and so on: %d bytes)\n", line[:100], len(line))
		case alike < 3:
			out.WriteString(line)
		}
	}
	return out.String()
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
