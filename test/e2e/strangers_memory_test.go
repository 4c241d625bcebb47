package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/internal/standin"
)

// Strangers open pull requests from forks, of whatever makes the service remember the most. One that the system kills for its memory
// takes no green back.

// spared fails if the service had more memory than it may. With the race detector that tells nothing.
func (p *process) spared(what string, most int64) {
	p.w.t.Helper()
	peak := p.peak() >> 10
	p.w.t.Logf("%s: %d MiB", what, peak)
	if peak > most && !race.Enabled {
		p.w.t.Errorf("%s: %d MiB, more than %d", what, peak, most)
	}
}

// stranger opens a pull request from a fork.
func (w *world) stranger(n int, files map[string]string) int {
	w.t.Helper()
	pull, err := w.repo.OpenPull(standin.NewPull{
		By: "mallory", Head: fmt.Sprintf("mallory:fork-%d", n), Change: &standin.Change{Message: fmt.Sprint("fork ", n), Write: files},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return pull
}

// heavyRules is a valid file of the size that a file may have, whose globs are as costly as globs can be.
func heavyRules(n int) string {
	var b strings.Builder
	b.WriteString(rules(shutForYears))
	fmt.Fprintf(&b, "# %d\n", n)
	text := strings.Replace(b.String(), "  window: w\n", "  window: w\n  rules:\n", 1)
	head, tail, _ := strings.Cut(text, "  rules:\n")
	b.Reset()
	b.WriteString(head + "  rules:\n")
	for i := range 39 {
		fmt.Fprintf(&b, "  - {release: w, paths: [%d-%d", n, i)
		for j := range 99 {
			fmt.Fprintf(&b, ",%s/%d-%d", strings.Repeat("a", 50), i, j)
		}
		b.WriteString("]}\n")
	}
	b.WriteString(tail)
	return b.String()
}

// TestStrangersWithRules: many versions of the rules file, each valid and as long as it may be.
func TestStrangersWithRules(t *testing.T) {
	w := newWorld(t, rules(shutForYears))
	var pulls []int
	for i := range race.Or(3, 24) {
		pulls = append(pulls, w.stranger(i, map[string]string{config.File: heavyRules(i)}))
	}
	p := w.serve()
	for _, n := range pulls {
		w.hasStatus(n, "success: changes the rules")
	}
	p.spared("rules files of strangers", 100)
}

// TestStrangersWithAlternatives: one version of the rules file, valid but for what its alternations stand for, written out.
func TestStrangersWithAlternatives(t *testing.T) {
	w := newWorld(t, rules(shutForYears))
	var b strings.Builder
	b.WriteString("version: 1\nlayout:\n  unmatched: live\n  rules:\n")
	for i := range 62 {
		fmt.Fprintf(&b, "  - {release: live, paths: ['%d{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}%s']}\n", i, strings.Repeat("/?a[ab]*b?[cd]*a", 62))
	}
	n := w.stranger(1, map[string]string{config.File: b.String()})
	p := w.serve()
	w.eventually("the stranger is answered", func() bool { return w.status(n) != "" })
	p.spared("one rules file of a stranger", 100)
	w.hasStatus(n, "failure: .github/sluice.yaml on this pull request is invalid")
}

// TestStrangersWithLongPaths: as many files as GitHub lists, whose names are as long as names can be.
func TestStrangersWithLongPaths(t *testing.T) {
	w := newWorld(t, rules(shutForYears))
	var dir strings.Builder
	for range 15 {
		dir.WriteString(strings.Repeat("d", 250) + "/")
	}
	var pulls []int
	for i := range race.Or(3, 6) {
		files := map[string]string{}
		for j := range race.Or(300, 1000) {
			files[fmt.Sprintf("apps/a-rw/%s%d-%d", dir.String(), i, j)] = "x"
		}
		pulls = append(pulls, w.stranger(i, files))
	}
	held := w.open("held", "apps/a-rw/x")
	p := w.serve()
	w.hasStatus(held, "pending: held by w")
	for _, n := range pulls {
		w.hasStatus(n, "pending: held by w")
	}
	p.spared("long paths of strangers", 85)
}
