package suspend

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
)

// want compares what a pass wrote and said.
func (w *world) want(t *testing.T, writes, lines string) {
	t.Helper()
	if got := w.cluster.written(); got != writes {
		t.Errorf("wrote %q, want %q", got, writes)
	}
	if got := w.drain(); got != lines {
		t.Errorf("said\n%s\nwant\n%s", got, lines)
	}
}

// TestPass: what is not releasable is suspended, what is releasable is not, the cutoff counts as closed, and only a change is written.
func TestPass(t *testing.T) {
	w := newWorld(t, "2026-11-23T07:59:59", "flux-system/apps=day", "flux-system/both=day,night", "infra/dns=live")
	w.Pass(t.Context())
	w.want(t, "2026-11-23T07:59:59Z flux-system/apps true\n2026-11-23T07:59:59Z flux-system/both true",
		"c-1: flux-system/apps suspended: held by day until Mon 23 Nov 2026 08:00 UTC\n"+
			"c-1: flux-system/both suspended: held by day and night: no opening scheduled\n"+
			"c-1: infra/dns is not suspended: released by live")
	w.Pass(t.Context())
	w.want(t, "", "")
	w.set(t, "2026-11-23T08:00:00")
	if out := w.Pass(t.Context()); out.Refused || out.Unusable || !out.Next.Equal(time.Date(2026, 11, 23, 16, 50, 0, 0, time.UTC)) {
		t.Errorf("%+v", out)
	}
	w.want(t, "2026-11-23T08:00:00Z flux-system/apps false",
		"c-1: flux-system/apps resumed: released by day until Mon 23 Nov 2026 16:50 UTC\n"+
			"c-1: flux-system/both is suspended: held by night: no opening scheduled")
	w.set(t, "2026-11-23T16:50:00")
	w.Pass(t.Context())
	w.want(t, "2026-11-23T16:50:00Z flux-system/apps true",
		"c-1: flux-system/apps suspended: held by day until Tue 24 Nov 2026 08:00 UTC: inside the cutoff before the close\n"+
			"c-1: flux-system/both is suspended: held by day and night: no opening scheduled")
	w.file += "freezes:\n  - {name: year-end, from: 2026-11-24T00:00, until: 2026-11-25T00:00}\n"
	w.set(t, "2026-11-24T09:00:00")
	w.Pass(t.Context())
	w.want(t, "", "c-1: flux-system/apps is suspended: held by day, frozen by year-end until Wed 25 Nov 2026 08:00 UTC\n"+
		"c-1: flux-system/both is suspended: held by day and night, frozen by year-end: no opening scheduled")
}

// TestObserve: a file that only observes changes nothing, and says what it would change.
func TestObserve(t *testing.T) {
	w := newWorld(t, "2026-11-23T07:00:00", "flux-system/apps=day")
	w.file += "mode: observe\n"
	w.Pass(t.Context())
	w.Pass(t.Context())
	w.want(t, "", "c-1: flux-system/apps would be suspended: held by day until Mon 23 Nov 2026 08:00 UTC")
}

// TestOthersGoOn: one that is missing, forbidden or in conflict is said, once, and the others are set; so is one whose answer never comes.
func TestOthersGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := (&world{file: text}).with(t, time.Now, "a/missing=day", "a/forbidden=day", "a/patch-forbidden=day", "a/conflict=day", "a/hangs=day", "a/good=day")
		delete(w.cluster.objects, "a/missing")
		w.cluster.refuse = map[string]int{"GET a/forbidden": 403, "PATCH a/patch-forbidden": 403, "PATCH a/conflict": 409}
		out := w.Pass(t.Context()) // a bubble begins at midnight: closed
		if !out.Refused || out.Unusable {
			t.Errorf("%+v", out)
		}
		if !w.cluster.suspended("a/good") {
			t.Error("the last one was not suspended")
		}
		w.cluster.written()
		got := w.drain()
		for _, line := range []string{
			"c-1: a/missing unchanged: not found: ", "c-1: a/forbidden unchanged: forbidden: ", "c-1: a/patch-forbidden unchanged: forbidden: ",
			"c-1: a/conflict unchanged: in conflict: ", "c-1: a/good suspended: ",
		} {
			if !strings.Contains(got+"\n", line) {
				t.Errorf("%q is not in\n%s", line, got)
			}
		}
		if strings.Contains(got, "\x1b") {
			t.Errorf("the API server's words move the cursor: %q", got)
		}
		w.cluster.change(func() { w.cluster.hang["GET a/hangs"] = true; w.cluster.objects["a/good"]["suspend"] = false })
		if out := w.Pass(t.Context()); !out.Unusable {
			t.Errorf("%+v", out)
		}
		w.want(t, "2000-01-01T00:00:00Z a/good true", "c-1: a/hangs unchanged: Get \"http://cluster.test/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/a/kustomizations/hangs\": context deadline exceeded\n"+
			"c-1: a/good suspended: held by day until Sat 1 Jan 2000 08:00 UTC")
	})
}

// TestHangingOnesKeepNobody: a CronJob's pass has 50 s. However many Kustomizations hang before it, up to as many as are asked for at once,
// the last is set in time.
func TestHangingOnesKeepNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		for n := range atOnce {
			names = append(names, fmt.Sprintf("a/%d=day", n))
		}
		w := (&world{file: text}).with(t, time.Now, append(names, "a/last=day")...)
		for n := range atOnce {
			w.cluster.hang[fmt.Sprintf("GET a/%d", n)] = true
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		if w.Pass(ctx); !w.cluster.suspended("a/last") {
			t.Error("the last one is open")
		}
	})
}

// TestComesBack: a Kustomization that was deleted and came back, which it does unsuspended, is suspended by the next pass.
func TestComesBack(t *testing.T) {
	w := newWorld(t, "2026-11-23T07:00:00", "flux-system/apps=day")
	w.Pass(t.Context())
	spec := w.cluster.objects["flux-system/apps"]
	delete(w.cluster.objects, "flux-system/apps")
	w.Pass(t.Context())
	delete(spec, "suspend")
	w.cluster.objects["flux-system/apps"] = spec
	w.cluster.written()
	w.drain()
	w.Pass(t.Context())
	w.want(t, "2026-11-23T07:00:00Z flux-system/apps true", "c-1: flux-system/apps suspended: held by day until Mon 23 Nov 2026 08:00 UTC")
}

// TestFileGone: a file that becomes invalid, vanishes or loses the window releases nothing, in a process that knew it and in a new one.
func TestFileGone(t *testing.T) {
	for name, c := range map[string]struct{ file, reason string }{
		"vanished": {"", "held: open sluice.yaml: no such file or directory"},
		"invalid":  {strings.ReplaceAll(text, "0 8", "0 88"), "held: sluice.yaml:4: "},
		"unknown":  {strings.ReplaceAll(text, "day:", "days:"), `held: the file has no window "day"; did you mean days?`},
		"empty":    {"\n", "held: sluice.yaml:"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "2026-11-23T09:00:00", "flux-system/apps=day")
			w.Pass(t.Context())
			w.drain()
			w.file = c.file
			if out := w.Pass(t.Context()); !out.Unusable {
				t.Errorf("%+v", out)
			}
			if got := w.drain(); !w.cluster.suspended("flux-system/apps") || !strings.Contains(got, c.reason) {
				t.Errorf("said %s", got)
			}
			w.forget() // as in a new process
			if w.Pass(t.Context()); !w.cluster.suspended("flux-system/apps") {
				t.Error("resumed")
			}
			w.drain()
			w.file = text
			w.Pass(t.Context())
			w.cluster.written()
			if got := w.drain(); got != "c-1: flux-system/apps resumed: released by day until Mon 23 Nov 2026 16:50 UTC" {
				t.Errorf("said %s", got)
			}
		})
	}
}

// TestClock: with a clock more than 30 s off the API server's, and where that does not say what time it is, nothing is resumed.
func TestClock(t *testing.T) {
	for name, c := range map[string]struct {
		off    time.Duration
		noDate bool
		open   bool
	}{
		"right": {0, false, true}, "30 s ahead": {-30 * time.Second, false, true}, "30 s behind": {30 * time.Second, false, true},
		"32 s ahead": {-32 * time.Second, false, false}, "31 s behind": {31 * time.Second, false, false}, "an hour": {time.Hour, false, false},
		"no date": {0, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "2026-11-23T09:00:00", "flux-system/apps=day")
			w.cluster.objects["flux-system/apps"]["suspend"] = true
			w.cluster.now, w.cluster.noDate = func() time.Time { return w.clock.Add(c.off) }, c.noDate
			out := w.Pass(t.Context())
			if w.cluster.suspended("flux-system/apps") == c.open || out.Unusable == c.open {
				t.Errorf("%+v: %s", out, w.drain())
			}
			if got := w.drain(); !c.open && !strings.Contains(got, "is suspended: held: th") {
				t.Errorf("said %s", got)
			}
		})
	}
}

// TestRun: again and again, and at the very instant at which the window changes; a signal ends it at once, also while the API server is silent.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := (&world{file: text}).with(t, time.Now, "flux-system/apps=day")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); w.Run(ctx, 37*time.Second) }()
		time.Sleep(24*time.Hour - time.Minute) // until 23:59
		w.want(t, "2000-01-01T00:00:00Z flux-system/apps true\n2000-01-01T08:00:00Z flux-system/apps false\n2000-01-01T16:50:00Z flux-system/apps true",
			"c-1: flux-system/apps suspended: held by day until Sat 1 Jan 2000 08:00 UTC\n"+
				"c-1: flux-system/apps resumed: released by day until Sat 1 Jan 2000 16:50 UTC\n"+
				"c-1: flux-system/apps suspended: held by day until Sun 2 Jan 2000 08:00 UTC: inside the cutoff before the close\n"+
				"c-1: flux-system/apps is suspended: held by day until Sun 2 Jan 2000 08:00 UTC")
		w.cluster.change(func() { w.cluster.objects["flux-system/apps"]["suspend"] = false }) // by hand, or as it came back
		time.Sleep(37 * time.Second)
		synctest.Wait()
		if !w.cluster.suspended("flux-system/apps") {
			t.Error("it was not suspended again")
		}
		w.cluster.change(func() { w.cluster.hang["GET flux-system/apps"] = true })
		time.Sleep(38 * time.Second)
		w.drain()
		end := time.Now()
		cancel()
		<-done
		if waited := time.Since(end); waited != 0 || w.drain() != "" {
			t.Errorf("it ended after %s and said %s", waited, w.drain())
		}
	})
}

// TestLateResumption: a resumption that the API server does not answer is given up at the close.
func TestLateResumption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(16*time.Hour + 49*time.Minute + 57*time.Second)
		w := (&world{file: text}).with(t, time.Now, "flux-system/apps=day")
		w.cluster.objects["flux-system/apps"]["suspend"] = true
		w.cluster.hang["PATCH flux-system/apps"] = true
		start := time.Now()
		w.Pass(t.Context())
		if waited := time.Since(start); waited != 3*time.Second {
			t.Errorf("it waited for %s", waited)
		}
	})
}

// TestOverHTTP: the same over a connection, and without a server that answers.
func TestOverHTTP(t *testing.T) {
	w := newWorld(t, "2026-11-23T07:00:00", "flux-system/apps=day")
	server := httptest.NewServer(w.cluster)
	api, err := Dial(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	w.API = api
	if out := w.Pass(t.Context()); out.Unusable || out.Refused || !w.cluster.suspended("flux-system/apps") {
		t.Errorf("%+v %s", out, w.drain())
	}
	server.Close()
	if out := w.Pass(t.Context()); !out.Unusable {
		t.Errorf("%+v", out)
	}
	if got := w.drain(); !strings.Contains(got, "flux-system/apps unchanged: ") {
		t.Errorf("said %s", got)
	}
}

// TestServerErrors: what is about the server is not taken for an answer about one Kustomization.
func TestServerErrors(t *testing.T) {
	for _, code := range []int{http.StatusUnauthorized, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		w := newWorld(t, "2026-11-23T07:00:00", "flux-system/apps=day")
		w.cluster.refuse["GET flux-system/apps"] = code
		if out := w.Pass(t.Context()); !out.Unusable || out.Refused {
			t.Errorf("%d: %+v", code, out)
		}
	}
}

// TestParseTarget: names as Kubernetes has them, and nothing else: they stand in the address of a request.
func TestParseTarget(t *testing.T) {
	if got, err := ParseTarget("flux-system/apps.rw-1=day,night"); err != nil || got.String() != "flux-system/apps.rw-1" || len(got.Windows) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{
		"", "a", "a/b", "a/b=", "=w", "/b=w", "a/=w", "a=w", "a/b/c=w", "A/b=w", "a/B=w", "a/..=w", "../b=w", "a/b=w,", "a/b=,w", "a.b/c=w", "a/b?=w", "-a/b=w",
		strings.Repeat("a", 64) + "/b=w", "a/" + strings.Repeat("b", 254) + "=w",
	} {
		if got, err := ParseTarget(bad); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}
