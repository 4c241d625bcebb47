package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// Section "When" of docs/traps.md: changes, clocks and closes at the wrong moment.

const wallLayout = "2006-01-02T15:04:05"

// opening is an interval of a window, rounded down to seconds.
type opening struct{ from, until time.Time }

// dates is a window of these intervals.
func dates(cutoff time.Duration, all ...opening) string {
	var list []string
	for _, o := range all {
		list = append(list, fmt.Sprintf("{from: %s, until: %s}", o.from.UTC().Format(wallLayout), o.until.UTC().Format(wallLayout)))
	}
	return fmt.Sprintf("{dates: [%s], cutoff: %s}", strings.Join(list, ", "), cutoff)
}

// asked is the file with a window and more of what it asks of pull requests.
func asked(window, more string) string {
	return strings.Replace(rules(window), "  settle: 0s\n", more, 1)
}

// write commits the file on main, as its people do.
func (w *world) write(file string) {
	w.t.Helper()
	if _, err := w.repo.Commit("main", standin.Change{By: "acme", Message: "Rules", Write: map[string]string{".github/sluice.yaml": file}}); err != nil {
		w.t.Fatal(err)
	}
}

// openDraft opens a pull request that has everything but its readiness.
func (w *world) openDraft(head string, paths ...string) int {
	w.t.Helper()
	files := map[string]string{}
	for _, path := range paths {
		files[path] = head + "\n"
	}
	n, err := w.repo.OpenPull(standin.NewPull{By: "alice", Head: head, Draft: true, Change: &standin.Change{Message: head, Write: files}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.hasStatus(n, "pending: waiting: this is a draft")
	return n
}

// ready makes a draft due.
func (w *world) ready(n int) {
	w.t.Helper()
	w.must(w.repo.MarkReady(n, "alice"))
}

// told waits until the service was told of everything that happened.
func (w *world) told() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	w.must(w.github.Settle(ctx))
}

// after waits until an instant has passed.
func (w *world) after(at time.Time) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("it is after %s", at), func() bool { return time.Now().After(at) })
}

// statusOn is the latest status on a commit under a context: "pending: …".
func (w *world) statusOn(sha, name string) string {
	for _, s := range w.repo.Statuses(sha) {
		if s.Context == name {
			return s.State + ": " + s.Description
		}
	}
	return ""
}

// wasGreen reports whether a commit ever had our success.
func (w *world) wasGreen(sha string) bool {
	return slices.ContainsFunc(w.repo.Statuses(sha), func(s standin.Status) bool { return s.Context == "sluice/main" && s.State == "success" })
}

// wasTold reports whether a commit ever had a pending status that begins so.
func (w *world) wasTold(sha, reason string) bool {
	return slices.ContainsFunc(w.repo.Statuses(sha), func(s standin.Status) bool {
		return s.Context == "sluice/main" && s.State == "pending" && strings.HasPrefix(s.Description, reason)
	})
}

// meanwhile is something that changes between a look and the write that it led to.
type meanwhile struct {
	name    string
	change  func(w *world, n int) error
	context string // of the status that tells of it; "" is sluice/main
	status  string // that the pull request has in the end
	undo    func(w *world, n int) error
}

const frozen = "freezes: [{name: alarm, from: 2020-01-01T00:00, until: 2098-01-01T00:00}]\nlayout:"

func meanwhiles() []meanwhile {
	commit := func(w *world, file string) error {
		_, err := w.repo.Commit("main", standin.Change{By: "acme", Write: map[string]string{".github/sluice.yaml": file}})
		return err
	}
	return []meanwhile{
		{"head", func(w *world, n int) error {
			_, err := w.repo.Commit(w.pull(n).Head, standin.Change{By: "alice", Write: map[string]string{"closed/x": "more\n"}})
			return err
		}, "", "failure: closed and w are never open together", nil},
		{"label", func(w *world, n int) error { return w.repo.Label(n, "alice", "do-not-merge") }, "",
			"pending: held by the label do-not-merge", func(w *world, n int) error { return w.repo.Unlabel(n, "alice", "do-not-merge") }},
		{"draft", func(w *world, n int) error { return w.repo.MarkDraft(n, "alice") }, "",
			"pending: waiting: this is a draft", func(w *world, n int) error { return w.repo.MarkReady(n, "alice") }},
		{"base", func(w *world, n int) error { return w.repo.Retarget(n, "alice", "calm") }, "sluice/calm",
			"pending: held by w", func(w *world, n int) error { return w.repo.Retarget(n, "alice", "main") }},
		{"review", func(w *world, n int) error { return w.repo.Review(n, "carol", standin.ChangesRequested) }, "",
			"pending: waiting: carol requested changes", func(w *world, n int) error { return w.repo.Review(n, "carol", standin.Approved) }},
		{"freeze", func(w *world, _ int) error { return commit(w, strings.Replace(meanwhileRules, "layout:", frozen, 1)) }, "",
			"pending: held by w, frozen by alarm", func(w *world, _ int) error { return commit(w, meanwhileRules) }},
	}
}

// meanwhileRules has a window that is open, and one that is not.
var meanwhileRules = strings.Replace(rules(openForYears), "layout:\n", "  closed: "+shutForYears+"\nlayout:\n  rules: [{paths: [\"closed/**\"], release: closed}]\n", 1)

// TestWhatChangesBetweenLookAndWrite: what was decided is void once the repository changed. Before the success nothing turns
// green; after it the success is taken back; and nothing is merged until it may be.
func TestWhatChangesBetweenLookAndWrite(t *testing.T) {
	t.Parallel()
	for _, m := range meanwhiles() {
		for _, looked := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/before_success_%v", m.name, looked), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, meanwhileRules)
				w.repo.SetPermission("carol", standin.Write)
				_, err := w.repo.Commit("calm", standin.Change{By: "acme", Write: map[string]string{".github/sluice.yaml": rules(shutForYears)}})
				w.must(err)
				s := newTurnstile(w)
				w.serve(s.env())
				n := w.openDraft("x", "apps/x-rw/x")
				head := w.pull(n).HeadSHA
				w.told()

				one := &stop{t: t, method: http.MethodPost, path: "/statuses/" + head, body: `"success"`}
				if looked {
					one = &stop{t: t, method: http.MethodPost, path: "/graphql", answered: true}
				}
				s.arm(one)
				w.ready(n)
				one.wait()
				w.must(m.change(w, n))
				w.told()
				one.letGo()

				name := "sluice/main"
				if m.context != "" {
					name = m.context
				}
				w.eventually("the status says "+m.status, func() bool { return strings.HasPrefix(w.statusOn(w.pull(n).HeadSHA, name), m.status) })
				if now := w.statusOn(head, "sluice/main"); strings.HasPrefix(now, "success") {
					t.Errorf("the head is left with %q", now)
				}
				if looked && w.wasGreen(head) {
					t.Error("the head was green on an observation that was void")
				}
				w.unmerged(n)
				if m.undo == nil {
					return
				}
				w.must(m.undo(w, n))
				w.merged(n)
			})
		}
	}
}

// TestWhatChangesUnheardBetweenLookAndWrite: no webhook tells of the change. What names the head is refused by GitHub, and the
// success is taken back.
func TestWhatChangesUnheardBetweenLookAndWrite(t *testing.T) {
	t.Parallel()
	for _, m := range meanwhiles() {
		if m.name != "head" && m.name != "draft" {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, meanwhileRules)
			s := newTurnstile(w)
			w.serve(s.env())
			n := w.openDraft("x", "apps/x-rw/x")
			head := w.pull(n).HeadSHA
			w.told()
			one := s.arm(&stop{t: t, method: http.MethodPut, path: "/merge"})
			w.ready(n)
			one.wait()
			w.told()
			w.github.Deliver(api.Fate{Drop: true})
			w.must(m.change(w, n))
			one.letGo()
			w.eventually("the success is taken back", func() bool { return strings.HasPrefix(w.statusOn(head, "sluice/main"), "pending") })
			w.eventually("the next look tells", func() bool { return strings.HasPrefix(w.statusOn(w.pull(n).HeadSHA, "sluice/main"), m.status) })
			w.unmerged(n)
		})
	}
}

// TestWindowClosesBetweenLookAndWrite: what was decided while the window was open is void once it is too close to its end,
// before the success and between the success and the merge, also when GitHub makes us try again.
func TestWindowClosesBetweenLookAndWrite(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		arm   func(n int, head string) *stop
		fault bool
		green bool // it may have been green for a moment
	}{
		{"look", func(int, string) *stop { return &stop{method: http.MethodPost, path: "/graphql", answered: true} }, false, false},
		{"success", func(_ int, head string) *stop {
			return &stop{method: http.MethodPost, path: "/statuses/" + head, body: `"success"`}
		}, false, true},
		{"try again", nil, true, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, rules(openForYears))
			s := newTurnstile(w)
			w.serve(s.env())
			n := w.openDraft("x", "apps/x-rw/x")
			head := w.pull(n).HeadSHA
			until := time.Now().Add(20 * time.Second).Truncate(time.Second)
			w.write(rules(dates(2*time.Second, opening{until.Add(-time.Hour), until})))
			w.told()
			w.hasStatus(n, "pending: waiting: this is a draft")
			var one *stop
			if c.arm != nil {
				one = c.arm(n, head)
				one.t = t
				s.arm(one)
			}
			if c.fault {
				w.github.Fault(api.Fault{
					Method: http.MethodPut, Path: "/repos/{owner}/{repo}/pulls/{pull_number}/merge", Times: -1, Status: http.StatusMethodNotAllowed,
					Body: `{"message":"Base branch was modified. Review and try the merge again."}`,
				})
			}
			w.ready(n)
			if one != nil {
				one.wait()
				w.after(until.Add(-2 * time.Second))
				one.letGo()
			}
			w.after(until.Add(-2 * time.Second))
			w.hasStatus(n, "pending: held by w: no opening scheduled")
			w.unmerged(n)
			if w.wasGreen(head) && !c.green {
				t.Error("it turned green")
			}
			for _, at := range w.repo.Statuses(head) {
				if at.State == "success" && at.At.After(until) {
					t.Errorf("it turned green at %s, after the close", at.At)
				}
			}
		})
	}
}

// TestCutoff: an open window releases nothing in the last minutes before its end, and says so; the next opening does.
func TestCutoff(t *testing.T) {
	t.Parallel()
	// A machine that is too slow for one lead has another try, with a longer one.
	for lead := 10 * time.Second; !cutoff(t, lead); lead *= 2 {
		if lead > patience {
			t.Fatal("it never said that the window is inside the cutoff before the close")
		}
	}
}

// cutoff gives false if the reason was not told in the time before the close.
func cutoff(t *testing.T, lead time.Duration) bool {
	t.Helper()
	w := newWorld(t, rules(shutForYears))
	w.serve()
	now := time.Now().Truncate(time.Second)
	ended, next := now.Add(lead), now.Add(lead+3*time.Second)
	w.write(rules(dates(time.Hour, opening{now.Add(-2 * time.Hour), ended}, opening{next, next.Add(3 * time.Hour)})))
	n := w.open("x", "apps/x-rw/x")
	w.within(lead+patience, "it is merged", func() bool { return w.pull(n).Merged })
	p := w.pull(n)
	if p.ClosedAt.Before(next) {
		t.Errorf("merged at %s, the next opening is at %s", p.ClosedAt, next)
	}
	at := next.UTC().Format("Mon 2 Jan 2006 15:04:05 MST")
	if next.Second() == 0 {
		at = next.UTC().Format("Mon 2 Jan 2006 15:04 MST")
	}
	return w.wasTold(p.HeadSHA, "held by w until "+at+": inside the cutoff before the close")
}

// TestClockIsOff: a service whose clock is off GitHub's by more than half a minute does not know whether a window is open: it
// releases nothing, windowed or live, says so on the pull request and to the operator, and goes on once the clock is right.
func TestClockIsOff(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{45 * time.Second, -2 * time.Minute} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			var skew atomic.Int64
			w := newWorldAt(t, rules(openForYears), func() time.Time { return time.Now().Add(time.Duration(skew.Load())) })
			p := w.serve("SLUICE_RESYNC=1s")
			w.merged(w.open("before", "apps/before-rw/x"))
			skew.Store(int64(-off)) // ours is off by as much
			windowed, live := w.open("windowed", "apps/a-rw/y"), w.open("live", "apps/a-rt/y")
			for _, n := range []int{windowed, live} {
				w.hasStatus(n, "pending: sluice's clock is more than 30 s off GitHub's")
			}
			ready := strings.TrimSuffix(p.hook, "/webhook") + "/readyz"
			w.eventually("readiness says so", func() bool {
				code, body := get(t, ready)
				return code == http.StatusServiceUnavailable && strings.Contains(body, "the clock is ")
			})
			w.unmerged(windowed, live)
			skew.Store(0) // it is set right: a jump
			w.merged(windowed)
			w.merged(live)
		})
	}
}

// TestClockAnHourAhead: such a clock makes GitHub refuse the App's very key. A window that is open by our clock alone releases
// nothing, and the operator is told of the clock, not of the key.
func TestClockAnHourAhead(t *testing.T) {
	t.Parallel()
	var skew atomic.Int64
	now := time.Now().Truncate(time.Second)
	// Open by our clock; by GitHub's, which is an hour behind, not yet.
	skew.Store(int64(-time.Hour - 2*time.Second)) // what a look proves of it is a little less
	w := newWorldAt(t, rules(dates(time.Second, opening{now.Add(-time.Minute), now.Add(time.Hour)})), func() time.Time {
		return time.Now().Add(time.Duration(skew.Load()))
	})
	p := w.serve("SLUICE_RESYNC=1s")
	n := w.open("x", "apps/x-rw/x")
	ready := strings.TrimSuffix(p.hook, "/webhook") + "/readyz"
	w.eventually("readiness names the clock", func() bool {
		code, body := get(t, ready)
		return code == http.StatusServiceUnavailable && strings.Contains(body, "the clock is 1h0m") && strings.Contains(body, "ahead of GitHub's")
	})
	w.unmerged(n)
	skew.Store(0)
	w.merged(n)
}

// TestDownOverTheWholeWindow: a service that was down from before the opening until after the close releases nothing of it.
func TestDownOverTheWholeWindow(t *testing.T) {
	t.Parallel()
	// A machine that is too slow for one lead has another try, with a longer one.
	for lead := 10 * time.Second; !downOverTheWholeWindow(t, lead); lead *= 2 {
		if lead > patience {
			t.Fatal("the machine is too slow for this test")
		}
	}
}

// downOverTheWholeWindow gives false if the service could not be ended before the opening.
func downOverTheWholeWindow(t *testing.T, lead time.Duration) bool {
	t.Helper()
	w := newWorld(t, rules(shutForYears))
	p := w.serve()
	n := w.open("x", "apps/x-rw/x")
	w.hasStatus(n, "pending: held by w")
	from := time.Now().Add(lead).Truncate(time.Second)
	until := from.Add(2 * time.Second)
	w.write(rules(dates(0, opening{from, until}, opening{until.Add(time.Hour), until.Add(2 * time.Hour)})))
	known := "pending: held by w until " + from.UTC().Format("Mon 2 Jan 2006 15:04")
	for !strings.HasPrefix(w.status(n), known) && time.Now().Before(from) {
		time.Sleep(20 * time.Millisecond)
	}
	p.stop(syscall.SIGKILL)
	if !time.Now().Before(from) {
		return false
	}
	w.after(until)
	w.serve()
	w.hasStatus(n, "pending: held by w until "+until.Add(time.Hour).UTC().Format("Mon 2 Jan 2006 15:04"))
	w.unmerged(n)
	if w.wasGreen(w.pull(n).HeadSHA) {
		t.Error("it was green outside of the window")
	}
	return true
}
