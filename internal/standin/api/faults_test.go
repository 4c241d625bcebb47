package api_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/internal/standin/api"
)

func readAll(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFaults(t *testing.T) {
	w := newWorld(t)
	const path = "/repos/acme/fleet/pulls"
	reset := w.now.Now().Add(time.Minute)
	rows := []struct {
		fault  api.Fault
		status int
		header map[string]string
	}{
		{api.SecondaryLimit(403, 30*time.Second), 403, map[string]string{"Retry-After": "30"}},
		{api.SecondaryLimit(429, 0), 429, map[string]string{"Retry-After": ""}},
		{api.PrimaryLimit(403, reset), 403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1795262460"}},
		{api.PrimaryLimit(429, reset), 429, map[string]string{"X-RateLimit-Remaining": "0"}},
		{api.Fault{Method: "GET", Path: "/repos/{owner}/{repo}/pulls", Status: 502, Body: "<html>"}, 502, nil},
		{api.Fault{Path: "/repos/acme/fleet/pulls", Status: 503}, 503, nil},
		{api.Fault{Path: "/repos/*/fleet/pulls", Status: 503}, 503, nil},
	}
	for _, r := range rows {
		w.github.Fault(r.fault)
		status, header, _ := w.raw("GET", path, w.token, nil)
		if status != r.status {
			t.Errorf("%+v: %d", r.fault, status)
		}
		for name, want := range r.header {
			if header.Get(name) != want {
				t.Errorf("%+v: %s: %q, want %q", r.fault, name, header.Get(name), want)
			}
		}
		w.call(http.StatusOK, "GET", path, w.token, nil, nil) // once only
	}
}

func TestFaultCounts(t *testing.T) {
	w := newWorld(t)
	const path = "/repos/acme/fleet/pulls"
	cancel := w.github.Fault(api.Fault{Path: path, Skip: 1, Times: -1, Status: 500})
	var got []int
	for i := range 4 {
		if i == 3 {
			cancel()
		}
		status, _, _ := w.raw("GET", path, w.token, nil)
		got = append(got, status)
	}
	if got[0] != 200 || got[1] != 500 || got[2] != 500 || got[3] != 200 {
		t.Errorf("statuses %v", got)
	}
	w.github.Fault(api.Fault{Path: "/graphql", Contains: "repository", Errors: []api.GraphQLError{{Type: "RATE_LIMITED", Message: "no"}}})
	if errs := w.query(`{rateLimit{cost}}`, nil); errs != nil {
		t.Errorf("harmed the wrong query: %v", errs)
	}
	if errs := w.query(`{repository(owner:"acme",name:"fleet"){id}}`, nil); len(errs) != 1 || errs[0] != "RATE_LIMITED: no" {
		t.Errorf("errors: %v", errs)
	}
}

// The write is done, its answer is lost.
func TestLostAnswer(t *testing.T) {
	w := newWorld(t)
	w.open("feature", map[string]string{"x": "x"})
	w.github.Fault(api.Fault{Method: "PUT", Status: 502, Done: true})
	if status, _, _ := w.raw("PUT", "/repos/acme/fleet/pulls/1/merge", w.token, nil); status != 502 {
		t.Errorf("status %d", status)
	}
	if !w.pull(1).Merged {
		t.Error("the merge was not done")
	}
}

// An answer breaks off in the middle, over a network and without one. The checker would buffer it whole.
func TestCutBody(t *testing.T) {
	w := newWorld(t)
	w.github.Fault(api.Fault{Cut: 10, Times: 2})
	url := newPlainServer(t, w.github) + "/repos/acme/fleet/branches/main"
	for name, transport := range map[string]http.RoundTripper{"in memory": w.github.Transport(), "network": http.DefaultTransport} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
		w.must(err)
		req.Header.Set("Authorization", "token "+w.token)
		checkCut(t, name, transport, req)
	}
}

func checkCut(t *testing.T, name string, transport http.RoundTripper, req *http.Request) {
	t.Helper()
	answer, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if len(body) != 10 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%s: read %q, %v", name, body, err)
	}
}

// A connection breaks off before anything is done, of some requests by chance.
func TestHungUp(t *testing.T) {
	w := newWorld(t)
	w.open("feature", map[string]string{"x": "x"})
	dice := []bool{false, true, false}
	w.github.Fault(api.Fault{Method: "PUT", Cut: -1, Times: -1, Chance: func() bool {
		is := dice[0]
		dice = dice[1:]
		return is
	}})
	for i, want := range []int{http.StatusConflict, 0, http.StatusOK} {
		sha := w.pull(1).HeadSHA
		if i == 0 {
			sha = strings.Repeat("a", 40)
		}
		status := w.put("/repos/acme/fleet/pulls/1/merge", `{"sha":"`+sha+`"}`)
		if status != want || w.pull(1).Merged != (i == 2) {
			t.Errorf("request %d: status %d, merged: %v", i, status, w.pull(1).Merged)
		}
	}
}

// put gives the status of an answer that nobody checks; 0: there was none.
func (w *world) put(path, body string) int {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), "PUT", newPlainServer(w.t, w.github)+path, strings.NewReader(body))
	w.must(err)
	req.Header.Set("Authorization", "token "+w.token)
	answer, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0
	}
	w.must(answer.Body.Close())
	return answer.StatusCode
}

// Latency passes by the clock of the test.
func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := api.New(api.Options{Dir: t.TempDir(), AppID: appID, AppKey: &appKey().PublicKey})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		g.SetLatency(time.Second)
		g.Fault(api.Fault{Latency: time.Minute})
		for _, want := range []time.Duration{time.Minute + time.Second, time.Second} {
			start := time.Now()
			req, err := http.NewRequestWithContext(t.Context(), "GET", "http://github.test/apps/sluice", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "token ghp_alice")
			answer, err := g.Transport().RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			if body := readAll(t, answer.Body); !strings.Contains(body, "slug") {
				t.Errorf("answer %s", body)
			}
			_ = answer.Body.Close()
			if took := time.Since(start); took != want {
				t.Errorf("took %s, want %s", took, want)
			}
		}
	})
}
