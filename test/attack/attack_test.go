package attack

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicegate/sluice/flux/build"
	"github.com/sluicegate/sluice/flux/revisions"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/meter"
)

var (
	// A world costs ten times as much with the race detector, most of it in SQLite.
	worlds  = flag.Int("worlds", race.Or(25, 100), "how many worlds TestWorlds runs")
	first   = flag.Uint64("seed", 1, "the seed of its first world")
	only    = flag.String("rules", "abcdef", "which invariants are held against")
	skip    = flag.String("skip", "", "a pattern of breaches that are known and not counted")
	shrink  = flag.Bool("shrink", false, "take steps out of a world that fails, for as long as it fails")
	story   = flag.Bool("story", false, "tell the story of every world")
	verbose = flag.Bool("log", false, "show what the service logs")
)

// TestMain lets garbage wait: a world makes much of it, and is soon gone. It is also the process that reads trees, and the one that builds for that.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "references":
		run := meter.New(context.Background(), meter.Limits{meter.Time: -1})
		err = revisions.Child(run.Context(), run, os.Stdin, os.Stdout, func(ctx context.Context, j build.Job) ([]build.Result, error) {
			j.Command = []string{os.Args[0], "build"}
			return j.Run(ctx)
		})
	case len(os.Args) == 2 && os.Args[1] == "build":
		err = build.Child(os.Stdin, os.Stdout)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		os.Exit(2)
	}
}

func checked(rule string) bool { return strings.Contains(*only, rule) }

// known reports whether a breach is left out by -skip.
func known(text string) bool {
	return *skip != "" && regexp.MustCompile(*skip).MatchString(text)
}

// In no world does a change get past its window, a success outlive it, or what is due stay where it is. See oracle.
func TestWorlds(t *testing.T) {
	for n := range *worlds {
		seed := *first + uint64(n)
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			judge(t, seed)
		})
	}
}

// judge lives a world and tells its story if something did not hold.
func judge(t *testing.T, seed uint64) {
	w := live(t, seed, nil)
	if len(w.found) > 0 && *shrink && shrunk.Add(1) <= shrinkMost {
		w = shorter(t, seed, w)
	}
	if *story || len(w.found) > 0 {
		t.Logf("world %d\n%s", seed, strings.Join(w.story, "\n"))
	}
	for _, b := range w.found {
		t.Errorf("(%s) %s", b.rule, b.text)
	}
}

// shrinkMost bounds how many worlds of a run are made shorter: each costs dozens of worlds.
const shrinkMost = 3

var shrunk atomic.Int32

// shorter leaves out the steps that a breach does not need.
func shorter(t *testing.T, seed uint64, found *world) *world {
	without := map[int]bool{}
	for size := steps / 4; size > 0; size /= 2 {
		for n := 1; n <= steps; n += size {
			var tried []int
			for i := n; i < n+size; i++ {
				if !without[i] {
					without[i] = true
					tried = append(tried, i)
				}
			}
			if w := live(t, seed, without); len(tried) > 0 && len(w.found) > 0 && w.found[0].rule == found.found[0].rule {
				found = w
				continue
			}
			for _, i := range tried {
				delete(without, i)
			}
		}
	}
	return found
}

// end ends all faults, and sees that what is due moves and then all is quiet.
func (w *world) end() {
	w.mu.Lock()
	for _, f := range w.faults {
		f.until = earliest(f.until, time.Now())
	}
	w.mute = earliest(w.mute, time.Now())
	clear(w.armed)
	w.mu.Unlock()
	w.say("all faults end")
	if w.oracle.now == nil {
		_, err := w.repo.Commit("main", standin.Change{By: "root", Message: "rules", Write: map[string]string{rules: w.drawn[0].text}})
		w.tried(err, "root puts back the first file")
	}
	if w.repo.Tip(freezes) != "" {
		w.thaw("root")
	}
	w.sleep(time.Until(w.start.Add(lastOpening)))
	w.say("the last opening begins")
	for range 30 {
		w.ciPasses()
		w.sleep(time.Minute)
		if len(w.late()) == 0 || len(w.found) > 0 {
			break
		}
	}
	for _, text := range w.late() {
		w.oracle.once("b", text)
	}
	w.quiet()
}

// ciPasses makes CI pass whatever it did not speak of yet.
func (w *world) ciPasses() {
	heads := []string{w.repo.Tip("main")}
	for _, p := range w.repo.Pulls() {
		if p.Open {
			heads = append(heads, p.HeadSHA)
		}
	}
	for _, sha := range heads {
		if !w.says(sha, "ci/test", "success", ciApp) {
			w.must(w.ciSays(sha, "success"))
		}
	}
}

// says reports whether an App's status stands on a commit.
func (w *world) says(sha, context, state string, by int64) bool {
	for _, s := range w.repo.Statuses(sha) { // newest first
		if strings.EqualFold(s.Context, context) {
			return s.State == state && s.By.App == by
		}
	}
	return false
}

// late lists what is due and has not moved, as far as it is plain that nothing holds it.
func (w *world) late() []string {
	s := w.oracle.now
	if s == nil || s.observe {
		return nil
	}
	var list []string
	for _, p := range w.repo.Pulls() {
		if w.plain(p) {
			list = append(list, fmt.Sprintf("#%d is due and was not merged: %s", p.Number, w.standing(p.HeadSHA)))
		}
	}
	if tip, at := w.repo.Tip("main"), w.repo.Tip("rw/a"); w.repo.Tip("rw/A") == "" && s.branches && at != "" && at != tip && w.oracle.line[at] && w.repo.Contains(tip, at) && s.branchChecks == "none" {
		list = append(list, fmt.Sprintf("rw/a stays at %.7s, main is at %.7s: %s", at, tip, w.summary(tip)))
	}
	return list
}

// summary is our status on branches.
func (w *world) summary(tip string) string {
	for _, s := range w.repo.Statuses(tip) {
		if s.Context == "sluice/promote" {
			return s.State + ": " + s.Description
		}
	}
	return "no status"
}

// standing is our status on a head.
func (w *world) standing(sha string) string {
	for _, s := range w.repo.Statuses(sha) {
		if s.Context == "sluice/main" && ours(s.By) {
			return s.State + ": " + s.Description
		}
	}
	return "no status"
}

// plain reports whether sluice should have merged an open pull request by now: its branch is the repository's own, it changes live paths alone or windowed
// ones alone, and nobody said anything against it.
func (w *world) plain(p standin.Pull) bool {
	s := w.oracle.now
	if !p.Open || p.Base != "main" || p.HeadOwner != "acme" || p.Draft || len(p.Labels) > 0 || p.Body != "" || w.queue || s.window != "merge" || s.live != "merge" {
		return false
	}
	if len(p.Reviews) > 0 || p.Head == "rw/a" || p.Head == "main" {
		return false
	}
	for _, other := range w.repo.Pulls() {
		if other.Open && other.Number != p.Number && other.Base == p.Base && other.HeadSHA == p.HeadSHA {
			return false // they share a status, and so the strictest of their verdicts
		}
	}
	for _, status := range w.repo.Statuses(p.HeadSHA) {
		if !ours(status.By) && status.By.App != ciApp {
			return false // somebody had their hands in it
		}
	}
	paths := w.changed(w.oracle.tip, p.HeadSHA)
	files, err := w.repo.Files(w.oracle.tip)
	w.must(err)
	kinds := map[bool]bool{}
	for _, path := range paths {
		_, there := files[path]
		rw, rt := strings.Contains(path, "-rw/"), strings.Contains(path, "-rt/")
		if strings.Contains(path, "flux-system/") || !rw && !rt || !there && !strings.Contains(path, "/z") {
			return false
		}
		kinds[rw] = true
	}
	return len(kinds) == 1 && w.merges(p) && (s.method != "rebase" || w.replays(p))
}

// replays reports whether a rebase of a pull request makes what a merge makes: one commit, or commits upon the tip, without merges.
func (w *world) replays(p standin.Pull) bool {
	line, err := w.repo.Log(p.HeadSHA)
	w.must(err)
	for own, c := range line {
		if w.repo.Contains(w.oracle.tip, c.SHA) {
			return own == 1 || w.repo.Contains(p.HeadSHA, w.oracle.tip)
		}
		if len(c.Parents) > 1 {
			return false
		}
	}
	return false
}

// changed lists the paths that a pull request from head into base changes, old names of renames too.
func (w *world) changed(base, head string) (paths []string) {
	files, err := w.repo.Changes(base, head)
	w.must(err)
	for _, f := range files {
		if paths = append(paths, f.Path); f.Old != "" {
			paths = append(paths, f.Old)
		}
	}
	return paths
}

// merges reports whether git can merge a pull request, tried on a branch that nobody looks at.
func (w *world) merges(p standin.Pull) bool {
	return w.repo.Mergeable(p.Number)
}

// quiet sees that nothing is written while nothing happens, and that no commit was written on without end.
func (w *world) quiet() {
	var wrote []string
	for range 5 { // a look that failed is tried again after five minutes at most
		w.mu.Lock()
		before := len(w.writes)
		w.mu.Unlock()
		w.sleep(4 * time.Minute)
		w.mu.Lock()
		wrote = w.writes[before:]
		w.mu.Unlock()
		if len(wrote) == 0 {
			break
		}
	}
	if len(wrote) > 0 {
		w.oracle.once("d", "writes without end:\n"+strings.Join(w.writes[max(0, len(w.writes)-12):], "\n"))
	}
	for _, sha := range w.oracle.shas {
		n := 0
		for _, s := range w.repo.Statuses(sha) {
			if ours(s.By) {
				n++
			}
		}
		if n > 80 {
			w.oracle.once("d", fmt.Sprintf("%d statuses of ours on %.7s", n, sha))
		}
	}
}
