package metrics_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/sluicegate/sluice/metrics"
)

// scrape gives what Prometheus reads.
func scrape(t *testing.T, s *metrics.Set) string {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("answered %d: %s", w.Code, w.Body)
	}
	text, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestScrape: what is counted and what is read at the scrape stands in the answer, under names that keep Prometheus' conventions.
func TestScrape(t *testing.T) {
	s := metrics.New("v1", func() metrics.State {
		return metrics.State{
			Budgets:  []metrics.Budget{{Installation: 7, Resource: "graphql", Limit: 5000, Left: 72, Renewed: time.Unix(1e9, 0)}},
			Verdicts: map[metrics.Verdict]int{{Of: "branch", Kind: "held"}: 3}, Warnings: map[string]int{"outside-sluice": 1},
			Windows: map[string]metrics.Window{"night": {Open: 2, Held: 5, Waiting: 6}}, Debts: 2, Overdue: 1, OldestDue: time.Minute, Waiting: 4, Skew: -time.Second, Ready: true,
		}
	})
	s.Request("POST graphql", 200)
	s.Request("POST graphql", 0)
	s.Delivery("push", 202)
	s.Look("done", 20*time.Millisecond)
	s.Status(time.Second)
	s.Release(time.Hour, true)
	text := scrape(t, s)
	for _, want := range []string{
		`sluice_build_info{version="v1"} 1`,
		`sluice_github_requests_total{code="200",route="POST graphql"} 1`,
		`sluice_github_requests_total{code="none",route="POST graphql"} 1`,
		`sluice_webhook_requests_total{code="202",event="push"} 1`,
		`sluice_look_duration_seconds_bucket{end="done",le="0.05"} 1`,
		`sluice_event_to_status_seconds_sum 1`,
		`sluice_due_to_done_seconds_bucket{le="3600"} 1`, "sluice_overrides_total 1",
		`sluice_github_budget_remaining{installation="7",resource="graphql"} 72`,
		`sluice_github_budget_limit{installation="7",resource="graphql"} 5000`,
		`sluice_github_budget_reset_timestamp_seconds{installation="7",resource="graphql"} 1e+09`,
		`sluice_verdicts{kind="held",of="branch"} 3`,
		`sluice_warnings{code="outside-sluice"} 1`,
		`sluice_window_open{window="night"} 2`,
		`sluice_window_held{window="night"} 5`,
		`sluice_window_waiting{window="night"} 6`,
		`sluice_greens 2`,
		`sluice_greens_overdue 1`,
		`sluice_oldest_due_seconds 60`,
		`sluice_looks_waiting 4`,
		`sluice_clock_offset_seconds -1`,
		`sluice_ready 1`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("lacks %s", want)
		}
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// stuck is a reader who reads nothing until he is let go.
type stuck struct {
	http.ResponseWriter
	writing chan<- struct{}
	free    <-chan struct{}
}

func (s stuck) Write([]byte) (int, error) {
	s.writing <- struct{}{}
	<-s.free
	return 0, errors.New("he left")
}

// TestSlowReaders: whoever reaches the address may read slowly, and often. He keeps nobody else from reading, and all who ask within a
// second cost one count.
func TestSlowReaders(t *testing.T) {
	counts := 0 // the handler counts for one after the other
	h := metrics.New("v1", func() metrics.State { counts++; return metrics.State{} }).Handler()
	began := time.Now()
	writing, free := make(chan struct{}), make(chan struct{})
	for range 10 {
		go h.ServeHTTP(stuck{httptest.NewRecorder(), writing, free}, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		<-writing
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	close(free)
	if w.Code != http.StatusOK {
		t.Errorf("answered %d", w.Code)
	}
	if most := 1 + int(time.Since(began)/time.Second); counts > most {
		t.Errorf("counted %d times, want %d at most", counts, most)
	}
}
