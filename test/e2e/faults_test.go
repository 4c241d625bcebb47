package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

const (
	mergeRoute  = "/repos/{owner}/{repo}/pulls/{pull_number}/merge"
	statusRoute = "/repos/{owner}/{repo}/statuses/{sha}"
	// limitPatience outlasts the minute that GitHub asks for after a limit without an end.
	limitPatience = 100 * time.Second
)

// refusal is GitHub's answer to a merge that it does not want.
func refusal(code int, text string, times int) api.Fault {
	return api.Fault{Method: http.MethodPut, Path: mergeRoute, Status: code, Body: fmt.Sprintf(`{"message":%q,"documentation_url":"https://docs.github.com/rest"}`, text), Times: times}
}

// TestMergeRefused: the merge is refused after our success was set. What is transient is tried again at once, everything
// else goes back to pending with GitHub's words and is not tried again on the same state, however often we look.
func TestMergeRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		code int
		text string
		puts int
	}{
		{"405 final", http.StatusMethodNotAllowed, "Pull Request is not mergeable", 1},
		{"405 transient for ever", http.StatusMethodNotAllowed, "Base branch was modified. Review and try the merge again.", 4},
		{"409", http.StatusConflict, "Head branch was modified. Review and try the merge again.", 4},
		{"422", http.StatusUnprocessableEntity, "Validation Failed", 1},
		{"403 rule", http.StatusForbidden, "You're not authorized to push to this branch.", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, rules(openForYears))
			mend := w.github.Fault(refusal(c.code, c.text, -1))
			w.serve("SLUICE_RESYNC=1s")
			n := w.open("live", "apps/a-rt/x")
			w.hasStatus(n, "pending: GitHub refused the merge: "+c.text)
			w.lookedAgain(5)
			if puts := w.github.Requests()["PUT "+mergeRoute]; puts != c.puts {
				t.Errorf("GitHub was asked %d times to merge, want %d", puts, c.puts)
			}
			if all := w.repo.Statuses(w.pull(n).HeadSHA); len(all) > 4 {
				t.Errorf("%d statuses were set: %+v", len(all), all)
			}
			mend()
			w.push("main", "apps/b-rt/x")
			w.merged(n)
			w.once(w.repo, "live")
		})
	}
}

// TestMergeRefusedForAMoment: the transient 405 is gone with the second or third try, and nobody sees pending in between.
func TestMergeRefusedForAMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(openForYears))
	w.github.Fault(refusal(http.StatusMethodNotAllowed, "Base branch was modified. Review and try the merge again.", 2))
	w.serve()
	n := w.open("live", "apps/a-rt/x")
	w.merged(n)
	w.once(w.repo, "live")
	for _, s := range w.repo.Statuses(w.pull(n).HeadSHA) {
		if strings.Contains(s.Description, "refused") {
			t.Errorf("a transient refusal reached people: %q", s.Description)
		}
	}
}

// TestRefusedOnEveryTip: GitHub refuses a merge for ever, and the base moves all the time. Each new tip is a reason to try again,
// but not for ever: a commit takes no more than 1,000 statuses, and each try costs two.
func TestRefusedOnEveryTip(t *testing.T) {
	t.Parallel()
	const tries = 20 // and then one an hour
	w := newWorld(t, rules(openForYears))
	f := refusal(http.StatusForbidden, "You're not authorized to push to this branch.", -1)
	f.Path = "/repos/acme/fleet/pulls/1/merge"
	w.github.Fault(f)
	w.start()
	n := w.open("live", "apps/a-rt/x")
	w.hasStatus(n, "pending: GitHub refused the merge")
	for i := range tries + 5 {
		w.looked(fmt.Sprintf("moves-%d", i)) // moves the tip
	}
	puts := 0
	for _, r := range w.github.RequestLog() {
		if r.Method == http.MethodPut && r.Path == f.Path {
			puts++
		}
	}
	if puts != tries {
		t.Errorf("GitHub was asked %d times to merge, want %d", puts, tries)
	}
	if all := w.repo.Statuses(w.pull(n).HeadSHA); len(all) > 2*tries+2 {
		t.Errorf("%d statuses were set", len(all))
	}
	w.hasStatus(n, "pending: GitHub refused the merge")
	w.unmerged(n)
}

// loss tells what a lost answer may lead to.
type loss bool

// answers: what was written may be written again, because nobody can know that it was.
const answers loss = true

// trouble is something that goes wrong between GitHub and us for acme alone.
type trouble struct {
	name  string
	env   string
	lost  loss
	begin func(w *world, met func()) (end func())
}

func onQueries(f api.Fault) func(w *world, met func()) func() {
	f.Method, f.Path, f.Contains, f.Times = http.MethodPost, "/graphql", `"owner":"acme"`, -1
	return func(w *world, met func()) func() {
		f.Met = met
		return w.github.Fault(f)
	}
}

func onWrites(f api.Fault) func(w *world, met func()) func() {
	f.Method, f.Path, f.Times = http.MethodPost, "/repos/acme/fleet/statuses/*", -1
	return func(w *world, met func()) func() {
		f.Met = met
		return w.github.Fault(f)
	}
}

func soon() time.Time { return time.Now().Add(2 * time.Second) }

// troubles is what GitHub does on bad days. One worker serves all installations: were it asleep in a request of acme's, it
// would serve nobody. Slow answers are the exception: there two workers are, and acme may have one of them.
func troubles() []trouble {
	html := http.Header{"Content-Type": {"text/html"}}
	const one, two = "SLUICE_WORKERS=1", "SLUICE_WORKERS=2"
	failed := []api.GraphQLError{{Message: "Something went wrong while executing your query. Please include `ABC` when reporting this issue."}}
	limited := api.PrimaryLimit(http.StatusOK, soon())
	limited.Status, limited.Errors = 0, []api.GraphQLError{{Type: "RATE_LIMITED", Message: "API rate limit exceeded"}}
	otherwise := api.PrimaryLimit(http.StatusOK, soon())
	otherwise.Status, otherwise.Errors = 0, []api.GraphQLError{{Type: "RATE_LIMIT", Code: "graphql_rate_limit", Message: "API rate limit already exceeded"}}
	otherwise.Header.Set("X-RateLimit-Remaining", "57")
	return []trouble{
		{"slow", two, !answers, onQueries(api.Fault{Latency: 20 * time.Second})},
		{"slow writes", two, !answers, onWrites(api.Fault{Latency: 20 * time.Second})},
		{"502 with HTML", one, !answers, onQueries(api.Fault{Status: 502, Header: html, Body: "<html>Unicorn!</html>"})},
		{"502 for writes", one, !answers, onWrites(api.Fault{Status: 502, Header: html, Body: "<html>Unicorn!</html>"})},
		{"502 though it was written", one, answers, onWrites(api.Fault{Status: 502, Header: html, Body: "<html>Unicorn!</html>", Done: true})},
		{"cut mid-body", one, !answers, onQueries(api.Fault{Cut: 100})},
		{"cut after a write", one, answers, onWrites(api.Fault{Cut: 20})},
		{"GraphQL error", one, !answers, onQueries(api.Fault{Errors: failed})},
		{"GraphQL limit", one, !answers, onQueries(limited)},
		{"GraphQL limit with points left", one, !answers, onQueries(otherwise)},
		{"primary limit 403", one, !answers, onQueries(api.PrimaryLimit(http.StatusForbidden, soon()))},
		{"primary limit 429", one, !answers, onWrites(api.PrimaryLimit(http.StatusTooManyRequests, soon()))},
		{"secondary limit 403", one, !answers, onWrites(api.SecondaryLimit(http.StatusForbidden, time.Second))},
		{"secondary limit 429", one, !answers, onQueries(api.SecondaryLimit(http.StatusTooManyRequests, time.Second))},
		{"uninstalled", one, !answers, func(w *world, met func()) func() {
			w.github.Uninstall("acme")
			met()
			return func() { w.github.Install("acme") }
		}},
		{"suspended", one, !answers, func(w *world, met func()) func() {
			w.github.Suspend("acme")
			met()
			return func() { w.github.Resume("acme") }
		}},
	}
}

// TestGitHubFails: while GitHub fails acme in every way that it knows, beta is served; once it recovers, acme's change is
// merged, and merged once.
func TestGitHubFails(t *testing.T) {
	t.Parallel()
	for _, c := range troubles() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, rules(shutForYears))
			beta := w.neighbour()
			w.serve(c.env, "SLUICE_RESYNC=1s")
			w.lookedAgain(1)
			var met atomic.Int32
			end := c.begin(w, func() { met.Add(1) })
			n := w.open("live", "apps/a-rt/x")
			m := openIn(t, beta, "neighbour", "apps/a-rt/x")
			w.eventually("the neighbour is merged", func() bool { return pullIn(t, beta, m).Merged })
			w.eventually("acme meets the trouble", func() bool { return met.Load() > 0 })
			if w.pull(n).Merged {
				t.Error("acme's change is merged although GitHub fails")
			}
			end()
			w.within(limitPatience, "acme's change is merged", func() bool { return w.pull(n).Merged })
			w.once(w.repo, "live")
			w.once(beta, "neighbour")
			if c.lost != answers {
				w.noRepeats(n)
			}
			for _, s := range w.repo.Statuses(w.pull(n).HeadSHA) {
				if strings.Contains(s.Description, "http") || strings.Contains(s.Description, "<") {
					t.Errorf("people read %q", s.Description)
				}
			}
		})
	}
}

// TestGraphQLErrorBesideData: GitHub answers 200 with most of what was asked for and an error about the rest, which it leaves out
// as null. What is not there must not be taken for nothing: here it is a writer's "changes requested", or a label that holds.
func TestGraphQLErrorBesideData(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ missing, waits string }{
		{"latestOpinionatedReviews", "pending: waiting: bob requested changes"}, {"labels", "pending: held by the label hold"},
	} {
		t.Run(c.missing, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, rules(openForYears))
			w.repo.SetPermission("bob", standin.Write)
			n := w.open("live", "apps/a-rt/x")
			if c.missing == "labels" {
				w.must(w.repo.Label(n, "bob", "hold"))
			} else {
				w.must(w.repo.Review(n, "bob", standin.ChangesRequested))
			}
			var fails, failed atomic.Int32
			fails.Store(1)
			p := w.serve("SLUICE_RESYNC=1s", w.mirror(func(answer map[string]any) {
				if fails.Load() > 0 && blank(answer, c.missing) {
					failed.Add(1)
					answer["errors"] = []any{map[string]any{"message": "Something went wrong while executing your query.", "path": []any{"repository", c.missing}}}
				}
			}))
			w.within(limitPatience, "GitHub fails three times", func() bool { return failed.Load() >= 3 })
			if w.pull(n).Merged || w.wasGreen(w.pull(n).HeadSHA) {
				t.Error("merged on what GitHub left out")
			}
			p.logs("a part of a repository was not read")
			fails.Store(0)
			w.within(limitPatience, "it is held as it must be", func() bool { return strings.HasPrefix(w.status(n), c.waits) })
			w.unmerged(n)
		})
	}
}

// blank sets a field to null wherever it stands, and tells whether it stood anywhere.
func blank(v any, field string) (found bool) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			found = blank(one, field) || found
		}
	case map[string]any:
		for name, one := range v {
			if name == field {
				v[name], found = nil, true
				continue
			}
			found = blank(one, field) || found
		}
	}
	return found
}

// TestLimitWithoutEnd: a secondary limit that names no end is answered with a minute of silence, 403 or 429, and others go on.
func TestLimitWithoutEnd(t *testing.T) {
	t.Parallel()
	for _, code := range []int{http.StatusForbidden, http.StatusTooManyRequests} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, rules(shutForYears))
			beta := w.neighbour()
			w.serve("SLUICE_WORKERS=1", "SLUICE_RESYNC=1s")
			w.lookedAgain(1)
			f := api.SecondaryLimit(code, 0)
			f.Method, f.Path = http.MethodPost, "/repos/acme/fleet/statuses/*"
			w.github.Fault(f)
			n := w.open("live", "apps/a-rt/x")
			m := openIn(t, beta, "neighbour", "apps/a-rt/x")
			w.eventually("the neighbour is merged", func() bool { return pullIn(t, beta, m).Merged })
			w.within(limitPatience, "acme's change is merged", func() bool { return w.pull(n).Merged })
			limit := w.silence(time.Minute)
			if late := pullIn(t, beta, m).ClosedAt.Sub(limit); late > time.Minute/2 {
				t.Errorf("the neighbour waited %s for it", late)
			}
			w.once(w.repo, "live")
		})
	}
}

// silence sees that after the limit nothing was sent about acme's repository for so long, and gives when GitHub limited us.
func (w *world) silence(least time.Duration) (limit time.Time) {
	w.t.Helper()
	for _, r := range w.github.RequestLog() {
		switch {
		case !strings.HasPrefix(r.Path, "/repos/acme/"):
		case limit.IsZero() && (r.Status == http.StatusForbidden || r.Status == http.StatusTooManyRequests):
			limit = r.At
		case !limit.IsZero() && r.At.Sub(limit) < least:
			w.t.Errorf("%s %s was sent %s after the limit", r.Method, r.Path, r.At.Sub(limit))
		}
	}
	if limit.IsZero() {
		w.t.Error("GitHub limited nothing")
	}
	return limit
}

// TestTokenExpires: GitHub stops taking our tokens; they are asked for again, and nothing is lost.
func TestTokenExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.serve()
	w.hasStatus(w.open("held", "apps/a-rw/x"), "pending: held by w")
	w.github.RevokeTokens()
	w.merged(w.open("live", "apps/a-rt/x"))
	w.once(w.repo, "live")
}

// TestMergeableUnknown: GitHub does not find out whether the head merges. It is asked again, nothing is merged on a guess, and when GitHub
// knows the change goes. When people are told, and how often GitHub is asked, are decisions: see gate's scenarios mergeability-unknown.
func TestMergeableUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.github.SetMergeability(standin.Unknown)
	w.serve("SLUICE_WORKERS=1")
	n := w.open("live", "apps/a-rt/x")
	w.told()
	w.lookedAgain(2)
	if w.pull(n).Merged || w.wasGreen(w.pull(n).HeadSHA) {
		t.Error("merged on a guess")
	}
	w.github.SetMergeability(standin.AtOnce)
	w.merged(n)
	w.once(w.repo, "live")
	w.noRepeats(n)
}

// TestMergeAnswerLost: GitHub merges, but its answer never arrives. The next try finds it merged; it is a success, not a refusal.
func TestMergeAnswerLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault api.Fault
	}{
		{"502", api.Fault{Status: 502, Body: "<html>", Done: true}},
		{"cut", api.Fault{Cut: 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, rules(shutForYears))
			c.fault.Method, c.fault.Path = http.MethodPut, mergeRoute
			w.github.Fault(c.fault)
			p := w.serve("SLUICE_RESYNC=1s")
			n := w.open("live", "apps/a-rt/x")
			w.merged(n)
			w.eventually("the history says so", func() bool { return strings.Contains(p.text(), `"verb":"merge","pull":1`) })
			w.lookedAgain(1)
			w.once(w.repo, "live")
			if got := w.status(n); !strings.HasPrefix(got, "success") {
				t.Errorf("its status is %q", got)
			}
		})
	}
}

// TestKilledAroundTheMerge: kill -9 after the success was set. Whether GitHub then merged or not, the next start puts it right:
// what may go is merged once, what may not go any more is not green any more.
func TestKilledAroundTheMerge(t *testing.T) {
	t.Parallel()
	put := api.Fault{Method: http.MethodPut, Path: mergeRoute, Status: 502, Body: "<html>"}
	before, after := put, put
	before.Latency = time.Minute
	after.Done, after.Linger = true, time.Minute
	for _, c := range []struct {
		name  string
		fault api.Fault
		next  string // the window of the next start
		ends  func(w *world, n int)
	}{
		{"before the merge, still open", before, openForYears, func(w *world, n int) { w.merged(n) }},
		{"before the merge, closed meanwhile", before, shutForYears, func(w *world, n int) {
			w.hasStatus(n, "pending: held by w until Tue 1 Jan 2030")
			if w.pull(n).Merged {
				w.t.Error("merged while closed")
			}
		}},
		{"between merge and record", after, shutForYears, func(w *world, n int) {
			if s := w.status(n); !strings.HasPrefix(s, "success") {
				w.t.Errorf("what is merged has the status %q", s)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, rules(openForYears))
			w.github.Fault(c.fault)
			p := w.serve()
			n := w.open("windowed", "apps/a-rw/x")
			w.hasStatus(n, "success")
			if c.fault.Done {
				w.merged(n)
			}
			p.stop(syscall.SIGKILL)
			w.github.SetWebhookURL("")
			w.rewrite(c.next)
			w.serve("SLUICE_RESYNC=1s")
			w.lookedAgain(2)
			c.ends(w, n)
			if w.pull(n).Merged {
				w.once(w.repo, "windowed")
			}
		})
	}
}
