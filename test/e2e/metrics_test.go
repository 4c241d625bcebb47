package e2e

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// TestMetricsListener: an address of their own shows the metrics, under whatever name, and nothing else; then the page's address does not.
func TestMetricsListener(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	p := w.serve("SLUICE_METRICS_LISTEN=127.0.0.1:0")
	if !strings.HasSuffix(p.metrics, "/metrics") {
		t.Fatalf("the metrics are at %q", p.metrics)
	}
	base := strings.TrimSuffix(p.metrics, "/metrics")
	for _, c := range []struct {
		method, url string
		code        int
		says        string
	}{
		{http.MethodGet, p.metrics, http.StatusOK, "\nsluice_build_info{"},
		{http.MethodHead, p.metrics, http.StatusOK, ""},
		{http.MethodPost, p.metrics, http.StatusMethodNotAllowed, ""},
		{http.MethodGet, base + "/", http.StatusNotFound, ""},
		{http.MethodGet, base + "/style.css", http.StatusNotFound, ""},
		{http.MethodPost, base + "/webhook", http.StatusNotFound, ""},
		{http.MethodGet, base + "/readyz", http.StatusNotFound, ""},
		{http.MethodGet, p.page + "/metrics", http.StatusNotFound, ""},
		{http.MethodGet, p.base() + "/metrics", http.StatusNotFound, ""},
	} {
		r, err := http.NewRequest(c.method, c.url, nil)
		w.must(err)
		if !strings.HasPrefix(c.url, p.page) {
			r.Host = "sluice.monitoring.svc"
		}
		answer, err := http.DefaultClient.Do(r)
		w.must(err)
		body, err := io.ReadAll(answer.Body)
		w.must(errors.Join(err, answer.Body.Close()))
		if answer.StatusCode != c.code || !strings.Contains(string(body), c.says) {
			t.Errorf("%s %s: %d %s", c.method, c.url, answer.StatusCode, body)
		}
	}
	p.stop(syscall.SIGTERM)
}

// TestMetrics: what the service did and what it has before it is read from the page's address, and names no repository.
func TestMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	p := w.serve()
	w.hasStatus(w.open("held", "apps/a-rw/x"), "pending: held by w")
	w.merged(w.open("live", "apps/a-rt/x"))
	var text string
	w.eventually("the metrics have both", func() bool {
		resp, err := http.Get(p.page + "/metrics")
		if err != nil {
			return false
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		text = string(body)
		for _, line := range []string{
			`sluice_verdicts{kind="held",of="pull request"} 1`, `sluice_window_held{window="w"} 1`, `sluice_window_open{window="w"} 0`, "sluice_due_to_done_seconds_count 1", "sluice_ready 1", "sluice_oldest_due_seconds 0",
			`sluice_github_requests_total{code="200",route="PUT /repos/*/*/pulls/*/merge"} 1`,
			`sluice_webhook_requests_total{code="202",event="pull_request"}`, `resource="core"} 5000`, `resource="graphql"} 5000`, "sluice_event_to_status_seconds_count",
		} {
			if !strings.Contains(text, line) {
				return false
			}
		}
		return err == nil
	})
	for _, name := range []string{"acme", "fleet"} {
		if strings.Contains(text, name) {
			t.Errorf("the metrics name %q:\n%s", name, text)
		}
	}
}
