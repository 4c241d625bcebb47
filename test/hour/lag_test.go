package hour

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
)

// lag is by how much GitHub's reads lag its webhooks in these tests, and shown within how long after it shows something it is answered:
// reads come twice as far apart each time.
const (
	lag   = 2 * time.Second
	shown = lag + 3*time.Second
)

// lagging runs a world of one repository in whose reads webhooks are shown late, with a window that has been open since before its beginning.
func lagging(t *testing.T, more string, f func(w *world, r *standin.Repo)) {
	t.Helper()
	live(t, 1, -time.Minute, more, func(w *world) {
		w.github.SetMergeability(standin.AtOnce)
		stop := w.run()
		defer stop()
		time.Sleep(time.Minute)
		w.github.SetLag(lag)
		f(w, w.repos[0])
	})
}

// status is the latest status of the service on a head; "" without one.
func status(r *standin.Repo, head string) string {
	if all := ours(r, head); len(all) > 0 {
		return all[0].State
	}
	return ""
}

// wasGreen reports whether the service ever gave a head a success since an instant.
func wasGreen(r *standin.Repo, head string, since time.Time) bool {
	return slices.ContainsFunc(ours(r, head), func(s standin.Status) bool { return s.State == "success" && !s.At.Before(since) })
}

func (w *world) pull(r *standin.Repo, n int) standin.Pull {
	w.t.Helper()
	p, err := r.Pull(n)
	w.must(err)
	return p
}

// byPeople is what makes people merge what is open: it turns green and stands.
const byPeople = ", window: status, live: status"

// inAMinute counts the requests of a minute.
func (w *world) inAMinute() int {
	before := w.requests()
	time.Sleep(time.Minute)
	return w.requests() - before
}

func TestAnArrivalThatReadsDoNotShowYet(t *testing.T) {
	lagging(t, byPeople, func(w *world, r *standin.Repo) {
		n := w.proposeOne(r, "a-rw/1")
		time.Sleep(shown)
		if got := status(r, w.pull(r, n).HeadSHA); got != "success" {
			t.Errorf("%s after it was shown the status is %q", shown-lag, got)
		}
		if sent := w.inAMinute(); sent > 1 {
			t.Errorf("%d requests afterwards", sent)
		}
	})
}

func TestAPushThatReadsDoNotShowYet(t *testing.T) {
	lagging(t, byPeople, func(w *world, r *standin.Repo) {
		n := w.proposeOne(r, "a-rw/1")
		time.Sleep(time.Minute)
		_, err := r.Commit(w.pull(r, n).Head, standin.Change{Write: map[string]string{"a-rw/1": "more"}})
		w.must(err)
		time.Sleep(shown)
		if got := status(r, w.pull(r, n).HeadSHA); got != "success" {
			t.Errorf("the new head's status is %q", got)
		}
	})
}

func TestALabelThatReadsDoNotShowYet(t *testing.T) {
	lagging(t, byPeople, func(w *world, r *standin.Repo) {
		n := w.proposeOne(r, "a-rw/1")
		time.Sleep(time.Minute)
		if got := status(r, w.pull(r, n).HeadSHA); got != "success" {
			t.Fatalf("it is %q", got)
		}
		w.must(r.Label(n, "alice", "hold"))
		time.Sleep(shown)
		if got := status(r, w.pull(r, n).HeadSHA); got != "pending" {
			t.Errorf("it is held and %q", got)
		}
	})
}

// glimpse makes the service look while reads show what was done twice so long ago, but not yet what was done since; and lets a minute pass.
func (w *world) glimpse(r *standin.Repo, since time.Duration) {
	time.Sleep(lag - since/2)
	w.poke(r)
	time.Sleep(time.Minute)
}

// A label holds what became ready a moment before, also within the second of that: GitHub's times do not tell the two apart then.
func TestNothingIsMergedWhoseLabelReadsDoNotShowYet(t *testing.T) {
	for _, after := range []time.Duration{lag / 2, lag / 8} {
		lagging(t, "", func(w *world, r *standin.Repo) {
			n, err := r.OpenPull(standin.NewPull{Head: "x", By: "alice", Draft: true, Change: &standin.Change{Write: map[string]string{"a-rw/1": "x"}}})
			w.must(err)
			time.Sleep(time.Until(time.Now().Add(time.Minute).Truncate(time.Second)))
			w.must(r.MarkReady(n, "alice"))
			time.Sleep(after)
			w.must(r.Label(n, "alice", "hold"))
			w.glimpse(r, after) // that it is ready, not yet that it is held
			p := w.pull(r, n)
			if !p.Open || status(r, p.HeadSHA) != "pending" || wasGreen(r, p.HeadSHA, w.start) {
				t.Errorf("%v after: open %v, %q", after, p.Open, status(r, p.HeadSHA))
			}
		})
	}
}

// frozen is the file of the world with a freeze, for ever.
func frozen(t *testing.T, r *standin.Repo) string {
	t.Helper()
	files, err := r.Files("main")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(files[".github/sluice.yaml"], "windows:\n", "freezes:\n  - {name: stop, from: 2000-01-01T00:00, until: 2100-01-01T00:00}\nwindows:\n", 1)
}

func TestAFreezeThatReadsDoNotShowYet(t *testing.T) {
	lagging(t, byPeople, func(w *world, r *standin.Repo) {
		green := w.proposeOne(r, "a-rw/1")
		time.Sleep(time.Minute)
		_, err := r.Commit("main", standin.Change{Write: map[string]string{".github/sluice.yaml": frozen(t, r)}})
		w.must(err)
		pushed := time.Now()
		time.Sleep(100 * time.Millisecond)
		later := w.proposeOne(r, "a-rw/2")
		time.Sleep(shown)
		for _, n := range []int{green, later} {
			head := w.pull(r, n).HeadSHA
			if got := status(r, head); got != "pending" || wasGreen(r, head, pushed) {
				t.Errorf("#%d is %q, although all is frozen", n, got)
			}
		}
	})
}

// A freeze in the file, and one by the branch that freezes.
func TestNothingIsMergedBeforeReadsShowAFreeze(t *testing.T) {
	for branch, change := range map[string]func(*standin.Repo) standin.Change{
		"main": func(r *standin.Repo) standin.Change {
			return standin.Change{Write: map[string]string{".github/sluice.yaml": frozen(t, r)}}
		},
		"sluice/freeze": func(*standin.Repo) standin.Change { return standin.Change{Message: "down"} },
	} {
		t.Run(branch, func(t *testing.T) { unmergedBeforeAFreezeShows(t, branch, change) })
	}
}

func unmergedBeforeAFreezeShows(t *testing.T, branch string, change func(*standin.Repo) standin.Change) {
	t.Helper()
	lagging(t, "", func(w *world, r *standin.Repo) {
		n, err := r.OpenPull(standin.NewPull{Head: "x", By: "alice", Draft: true, Change: &standin.Change{Write: map[string]string{"a-rw/1": "x"}}})
		w.must(err)
		time.Sleep(time.Minute)
		w.must(r.MarkReady(n, "alice"))
		time.Sleep(lag / 2)
		_, err = r.Commit(branch, change(r))
		w.must(err)
		w.glimpse(r, lag/2)
		if p := w.pull(r, n); !p.Open || status(r, p.HeadSHA) != "pending" || wasGreen(r, p.HeadSHA, w.start) {
			t.Errorf("open %v, %q", p.Open, status(r, p.HeadSHA))
		}
	})
}

// overridable is a world that is frozen, in which alice may release, with one pull request that is not ready and was released.
func overridable(t *testing.T, f func(w *world, r *standin.Repo, n int, line string)) {
	t.Helper()
	lagging(t, "", func(w *world, r *standin.Repo) {
		r.SetPermission("alice", standin.Write)
		_, err := r.Commit("main", standin.Change{Write: map[string]string{".github/sluice.yaml": frozen(t, r) + "override: {by: [\"user:alice\"]}\n"}})
		w.must(err)
		n, err := r.OpenPull(standin.NewPull{Head: "x", By: "alice", Draft: true, Change: &standin.Change{Write: map[string]string{"a-rw/1": "x"}}})
		w.must(err)
		time.Sleep(time.Minute)
		f(w, r, n, "/sluice release "+w.pull(r, n).HeadSHA[:7]+" now")
	})
}

// What somebody releases is merged once reads show it, and what they take back is not, though reads show the release alone.
func TestAReleaseThatReadsDoNotShowYet(t *testing.T) {
	overridable(t, func(w *world, r *standin.Repo, n int, line string) {
		w.must(r.MarkReady(n, "alice"))
		time.Sleep(time.Minute)
		_, err := r.Comment(n, standin.Person("alice"), line)
		w.must(err)
		time.Sleep(shown)
		if p := w.pull(r, n); !p.Merged {
			t.Errorf("it is %q", status(r, p.HeadSHA))
		}
	})
}

func TestNothingIsMergedWhoseUndoReadsDoNotShowYet(t *testing.T) {
	for name, undo := range map[string]func(w *world, r *standin.Repo, n int, c standin.Comment) error{
		"undone": func(_ *world, r *standin.Repo, n int, _ standin.Comment) error {
			_, err := r.Comment(n, standin.Person("alice"), "/sluice undo")
			return err
		},
		"deleted": func(_ *world, r *standin.Repo, _ int, c standin.Comment) error { return r.DeleteComment(c) },
		"edited":  func(_ *world, r *standin.Repo, _ int, c standin.Comment) error { return r.EditComment(c, "never mind") },
	} {
		t.Run(name, func(t *testing.T) {
			overridable(t, func(w *world, r *standin.Repo, n int, line string) {
				c, err := r.Comment(n, standin.Person("alice"), line)
				w.must(err)
				time.Sleep(time.Minute)
				w.must(r.MarkReady(n, "alice"))
				time.Sleep(lag / 2)
				w.must(undo(w, r, n, c))
				w.glimpse(r, lag/2)
				if p := w.pull(r, n); !p.Open || status(r, p.HeadSHA) != "pending" || wasGreen(r, p.HeadSHA, w.start) {
					t.Errorf("open %v, %q", p.Open, status(r, p.HeadSHA))
				}
			})
		})
	}
}

// A push back to an older commit is shown like any other, and costs no wait once it is.
func TestAPushBackToAnOlderCommit(t *testing.T) {
	lagging(t, byPeople, func(w *world, r *standin.Repo) {
		n := w.proposeOne(r, "a-rw/1")
		time.Sleep(time.Minute)
		was := r.Tip("main")
		_, err := r.Commit("main", standin.Change{Write: map[string]string{".github/sluice.yaml": frozen(t, r)}})
		w.must(err)
		time.Sleep(10 * time.Second)
		if got := status(r, w.pull(r, n).HeadSHA); got != "pending" {
			t.Fatalf("it is frozen and %q", got)
		}
		w.must(r.Push("alice", "main", was))
		time.Sleep(shown)
		if got := status(r, w.pull(r, n).HeadSHA); got != "success" {
			t.Errorf("it is %q", got)
		}
		w.must(r.Retitle(n, "alice", "again")) // what was pushed is still known
		time.Sleep(lag - 100*time.Millisecond)
		if sent := w.inAMinute(); sent > 4 {
			t.Errorf("%d requests", sent)
		}
	})
}

// A pull request that is closed is neither merged nor missed.
func TestACloseThatReadsDoNotShowYet(t *testing.T) {
	lagging(t, "", func(w *world, r *standin.Repo) {
		n, err := r.OpenPull(standin.NewPull{Head: "x", By: "alice", Draft: true, Change: &standin.Change{Write: map[string]string{"a-rw/1": "x"}}})
		w.must(err)
		time.Sleep(time.Minute)
		w.must(r.MarkReady(n, "alice"))
		time.Sleep(lag / 2)
		w.must(r.ClosePull(n, "alice"))
		before := w.requests()
		w.glimpse(r, lag/2)
		if p := w.pull(r, n); wasGreen(r, p.HeadSHA, w.start) || w.requests()-before > 8 {
			t.Errorf("%d requests: %+v", w.requests()-before, ours(r, p.HeadSHA))
		}
	})
}

// What GitHub never shows is asked for a minute, ever more rarely, and twice by REST; meanwhile others go on.
func TestAHiddenPullRequestEnds(t *testing.T) {
	lagging(t, "", func(w *world, r *standin.Repo) {
		w.must(r.Push("mallory", "mallory:spam", r.Tip("main")))
		r.HidePull(1)
		n, err := r.OpenPull(standin.NewPull{Head: "mallory:spam", By: "mallory", Change: &standin.Change{Write: map[string]string{"a-rw/1": "x"}}})
		w.must(err)
		if n != 1 {
			t.Fatalf("it is #%d", n)
		}
		time.Sleep(10 * time.Second)
		other := w.proposeOne(r, "a-rw/2")
		time.Sleep(10 * time.Second)
		if w.pull(r, other).Open {
			t.Error("another pull request was not merged")
		}
		time.Sleep(50 * time.Second)
		asked := w.github.Requests()["GET /repos/{owner}/{repo}/pulls/{pull_number}"]
		if sent := w.inAMinute(); asked != 2 || sent > 1 {
			t.Errorf("%d times asked by REST, %d requests afterwards", asked, sent)
		}
	})
}

// What the service merges itself is merged once, and reads that do not show it yet write nothing.
func TestOwnMergesThatReadsDoNotShowYet(t *testing.T) {
	lagging(t, "", func(w *world, r *standin.Repo) {
		w.propose(r, 5)
		time.Sleep(30 * time.Second)
		for _, p := range r.Pulls() {
			all := ours(r, p.HeadSHA)
			greens := slices.DeleteFunc(slices.Clone(all), func(s standin.Status) bool { return s.State != "success" })
			if p.Open || len(greens) != 1 || all[0].State != "success" {
				t.Errorf("#%d: open %v, %d times green of %d", p.Number, p.Open, len(greens), len(all))
			}
		}
		merges := 0
		for _, q := range w.github.RequestLog() {
			if strings.HasSuffix(q.Path, "/merge") {
				merges++
			}
		}
		if merges != 5 {
			t.Errorf("%d merges were asked for", merges)
		}
	})
}

// A report that makes something ready is answered within seconds, too.
func TestACheckThatReadsDoNotShowYet(t *testing.T) {
	lagging(t, "", func(w *world, r *standin.Repo) {
		ci := standin.Actor{Login: "ci", App: 77}
		_, err := r.Commit("x", standin.Change{Write: map[string]string{"a-rw/1": "x"}})
		w.must(err)
		w.must(r.SetCheck(standin.Check{SHA: r.Tip("x"), Name: "test", Status: "in_progress", App: ci}))
		n, err := r.OpenPull(standin.NewPull{Head: "x", By: "alice"})
		w.must(err)
		time.Sleep(time.Minute)
		if !w.pull(r, n).Open {
			t.Fatal("it was merged before its check ended")
		}
		w.must(r.SetStatus(standin.Status{SHA: r.Tip("x"), Context: "lint", State: "failure", By: standin.Actor{Login: "bob"}}))
		w.must(r.SetCheck(standin.Check{SHA: r.Tip("x"), Name: "test", Status: "completed", Conclusion: "success", App: ci}))
		time.Sleep(time.Minute)
		if !w.pull(r, n).Open {
			t.Fatal("it was merged although a check failed")
		}
		w.must(r.SetStatus(standin.Status{SHA: r.Tip("x"), Context: "lint", State: "success", By: standin.Actor{Login: "bob"}}))
		time.Sleep(shown)
		if w.pull(r, n).Open {
			t.Error("it was not merged")
		}
	})
}

// A windowed branch never moves to a commit that its source has left, and moves within seconds once reads show what was pushed.
func TestAPushThatASourceDoesNotShowYet(t *testing.T) {
	inBubble(t, organisation{repos: 1, file: func(w *world, _ int) string {
		return "windows:\n  w:\n" + dates(w.start.Add(-time.Minute)) + layout +
			"branches:\n  - {name: rw/a, from: main, window: w, checks: none}\n"
	}}, func(w *world) {
		r := w.repos[0]
		w.must(r.Push("alice", "rw/a", r.Tip("main")))
		stop := w.run()
		defer stop()
		time.Sleep(time.Minute)
		w.github.SetLag(lag)
		bad, err := r.Commit("main", standin.Change{Write: map[string]string{"a-rw/1": "bad"}})
		w.must(err)
		time.Sleep(lag / 2)
		w.must(r.Push("alice", "main", r.Tip("rw/a"))) // it was a mistake
		w.glimpse(r, lag/2)
		if slices.ContainsFunc(r.Moves(), func(m standin.Moved) bool { return m.Branch == "rw/a" && m.After == bad }) {
			t.Error("it moved to a commit that its source had left")
		}
		good, err := r.Commit("main", standin.Change{Write: map[string]string{"a-rw/1": "good"}})
		w.must(err)
		time.Sleep(shown)
		if got := r.Tip("rw/a"); got != good {
			t.Errorf("it stands at %s", got)
		}
	})
}

// What GitHub does not show of one pull request for a minute keeps no other waiting, not even where one merge comes after the other.
func TestAnOlderReadOfOneKeepsNoOtherWaiting(t *testing.T) {
	live(t, 1, 3*time.Minute, "", func(w *world) {
		r := w.repos[0]
		w.github.SetMergeability(standin.AtOnce)
		r.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}, Strict: true})
		first, second := w.proposeOne(r, "a-rw/1"), w.proposeOne(r, "a-rw/2")
		stop := w.run()
		defer stop()
		time.Sleep(time.Until(w.start.Add(3*time.Minute - 5*time.Second)))
		p := w.pull(r, first)
		w.mu.Lock()
		loop := w.loop
		w.mu.Unlock()
		owner, name, _ := strings.Cut(r.String(), "/")
		state := plan.PullState{Number: first, UpdatedAt: p.UpdatedAt.Add(time.Hour), Head: plan.SHA(p.HeadSHA), Base: "main", Open: true}
		loop.Poke(plan.Repo{Owner: owner, Name: name, ID: r.ID()}, event.Changed, plan.Mention{
			Pull: first, SHA: state.Head, Target: "main", Bound: &plan.Bound{Pull: state},
		})
		time.Sleep(10 * time.Second)
		if w.pull(r, second).Open || !w.pull(r, first).Open {
			t.Errorf("5 s after the opening: #%d open %v, #%d open %v", first, w.pull(r, first).Open, second, w.pull(r, second).Open)
		}
		time.Sleep(2 * time.Minute)
		if w.pull(r, first).Open {
			t.Errorf("#%d is open for good", first)
		}
	})
}

// REST that does not answer about what GitHub never shows makes no opening late, and is not asked by every look.
func TestWhatCannotBeConfirmedKeepsNoOther(t *testing.T) {
	const opens = 10 * time.Minute
	live(t, 1, opens, "", func(w *world) {
		r := w.repos[0]
		w.github.SetMergeability(standin.AtOnce)
		const route = "/repos/{owner}/{repo}/pulls/{pull_number}"
		mend := w.github.Fault(api.Fault{Method: http.MethodGet, Path: route, Times: -1, Latency: 20 * time.Second, Status: http.StatusBadGateway})
		r.HidePull(1)
		w.proposeOne(r, "b-rw/1")
		w.propose(r, 3)
		stop := w.run()
		defer stop()
		w.must(r.Retitle(1, "alice", "again"))
		time.Sleep(opens - time.Since(w.start) - time.Minute)
		before := w.github.Requests()["GET "+route]
		time.Sleep(time.Minute + 15*time.Second)
		if open, _ := w.open(); open != 1 {
			t.Errorf("%d are open 15 s after the opening", open)
		}
		if asked := w.github.Requests()["GET "+route] - before; asked > 3 {
			t.Errorf("asked %d times in about a minute", asked)
		}
		mend()
		time.Sleep(5 * time.Minute)
		if sent := w.inAMinute(); sent > 1 {
			t.Errorf("%d requests once it was answered", sent)
		}
	})
}
