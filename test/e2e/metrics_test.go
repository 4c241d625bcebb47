package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

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
			`sluice_verdicts{kind="held"} 1`, "sluice_due_to_done_seconds_count 1", "sluice_ready 1", "sluice_oldest_due_seconds 0",
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
