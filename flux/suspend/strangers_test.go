package suspend

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
)

// TestPassAcrossTheClose: what was open when a pass came to it, and is closed when the pass ends, is suspended at once, not at the next pass:
// others of the pass may have hung for seconds.
func TestPassAcrossTheClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(16*time.Hour + 49*time.Minute + 55*time.Second)
		w := (&world{file: text}).with(t, time.Now, "a/open=day", "b/hangs=day")
		w.cluster.hang["GET b/hangs"] = true
		out := w.Pass(t.Context()) // until 16:50:05
		if wait := time.Until(out.Next); wait > 0 {
			t.Errorf("a/open, which closes at 16:50:00, is looked at again after %s", wait)
		}
		if w.Pass(t.Context()); !w.cluster.suspended("a/open") {
			t.Error("it is open")
		}
	})
}

// TestFailedAtTheClose: a suspension that failed is tried again soon, however rarely the loop passes otherwise.
func TestFailedAtTheClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(16 * time.Hour)
		w := (&world{file: text}).with(t, time.Now, "a/open=day")
		done := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { defer close(done); w.Run(ctx, time.Hour) }()
		time.Sleep(49 * time.Minute)
		w.cluster.change(func() { w.cluster.refuse["GET a/open"] = http.StatusInternalServerError })
		time.Sleep(2 * time.Minute) // over the close at 16:50
		w.cluster.change(func() { w.cluster.refuse = nil })
		time.Sleep(time.Minute)
		if !w.cluster.suspended("a/open") {
			t.Error("it is open until the next hour")
		}
		cancel()
		<-done
	})
}

// slowly answers every PATCH with "later", as an API server that has too much to do.
type slowly struct{ *cluster }

// RoundTrip implements http.RoundTripper.
func (s slowly) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err // as net/http does: it sends nothing
	}
	if r.Method != http.MethodPatch {
		return s.cluster.RoundTrip(r)
	}
	rec := httptest.NewRecorder()
	s.change(func() { s.writes = append(s.writes, s.now().UTC().Format(time.TimeOnly)) })
	rec.Header().Set("Retry-After", "2")
	rec.WriteHeader(http.StatusTooManyRequests)
	return rec.Result(), nil
}

// TestRetryEndsAtTheClose: what the client tries again by itself it tries before the close alone.
func TestRetryEndsAtTheClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(16*time.Hour + 49*time.Minute + 55*time.Second)
		w := (&world{file: text}).with(t, time.Now, "a/closed=day")
		w.cluster.objects["a/closed"]["suspend"] = true
		api, err := Dial(&rest.Config{Host: "http://cluster.test", Transport: slowly{w.cluster}})
		if err != nil {
			t.Fatal(err)
		}
		w.API = api
		w.Pass(t.Context())
		if got := w.cluster.written(); got != "16:49:55\n16:49:57\n16:49:59" || time.Now().Second() > 0 {
			t.Errorf("sent at %q, given up at %s", got, time.Now().UTC())
		}
	})
}

// TestObservedFileBreaks: a file that only observes and becomes invalid suspends nothing: what it would suspend nobody would resume when
// the file observes again.
func TestObservedFileBreaks(t *testing.T) {
	w := newWorld(t, "2026-11-23T09:00:00", "flux-system/apps=day")
	w.file += "mode: observe\n"
	w.Pass(t.Context())
	w.drain()
	good := w.file
	w.file = strings.ReplaceAll(good, "0 8", "0 88")
	if out := w.Pass(t.Context()); !out.Unusable {
		t.Errorf("%+v", out)
	}
	if got := w.cluster.written(); got != "" || !strings.Contains(w.drain(), "would be suspended: held: sluice.yaml:4") {
		t.Errorf("wrote %q", got)
	}
	w.file = strings.ReplaceAll(good, "observe", "enforce")
	w.set(t, "2026-11-23T07:00:00")
	if w.Pass(t.Context()); !w.cluster.suspended("flux-system/apps") {
		t.Error("a file that enforces suspends nothing")
	}
}

// TestRedirect: an answer that leads elsewhere is none: the token would follow it, and what is set would be set there.
func TestRedirect(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	w := newWorld(t, "2026-11-23T07:00:00", "flux-system/apps=day")
	api, err := Dial(&rest.Config{Host: server.URL, BearerToken: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	w.API = api
	if out := w.Pass(t.Context()); !out.Unusable {
		t.Errorf("%+v", out)
	}
}

// TestOddAnswers: what is no Kustomization, and one of which it cannot be read whether it is suspended, is not called open.
func TestOddAnswers(t *testing.T) {
	const object = `{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"namespace": "flux-system", "name": "apps"}, "spec": {`
	for name, body := range map[string]string{
		"empty": "", "null": "null", "an empty object": "{}", "text": object + `"suspend": "true"}}`, "no end": object, "null in it": object + `"suspend": null}}`,
		"a list": `{"apiVersion": "v1", "kind": "List", "items": []}`, "a status": `{"apiVersion": "v1", "kind": "Status", "status": "Success"}`,
		"huge": object + `"x": "` + strings.Repeat("y", maxAnswer) + `"}}`, "another": strings.Replace(object, `"apps"`, `"other"`, 1) + `"suspend": false}}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "2026-11-23T09:00:00", "flux-system/apps=day")
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Date", w.clock.Format(http.TimeFormat))
				rw.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(rw, body)
			}))
			defer server.Close()
			api, err := Dial(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			w.API = api
			if out := w.Pass(t.Context()); !out.Unusable {
				t.Errorf("%+v %s", out, w.drain())
			}
		})
	}
}
