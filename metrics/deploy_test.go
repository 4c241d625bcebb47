package metrics_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/metrics"
)

// TestWhatReadsThem: the alert rules, the dashboard and the guide name metrics that there are, and the guide names all of ours.
func TestWhatReadsThem(t *testing.T) {
	s := metrics.New("v1", func() metrics.State {
		return metrics.State{Budgets: []metrics.Budget{{Resource: "core", Renewed: time.Unix(1, 0)}}, Verdicts: map[metrics.Verdict]int{{Of: "branch", Kind: "held"}: 1},
			Warnings: map[string]int{"not-enforced": 1}, Windows: map[string]metrics.Window{"night": {}}}
	})
	s.Request("GET /app", 200)
	s.Delivery("push", 202)
	s.Look("done", 0)
	text := scrape(t, s)
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (sluice_\w+) `).FindAllStringSubmatch(text, -1) {
		known[m[1]] = true
	}
	name := regexp.MustCompile(`\bsluice_\w+`)
	for _, file := range []string{"../deploy/prometheus/alerts.yaml", "../deploy/grafana/sluice.json", "../docs/operate.md"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range name.FindAllString(string(data), -1) {
			n = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(n, "_bucket"), "_count"), "_sum")
			if !known[n] {
				t.Errorf("%s names %s, which there is not", file, n)
			}
		}
		if strings.HasSuffix(file, ".md") {
			for n := range known {
				if !strings.Contains(string(data), "`"+n) {
					t.Errorf("%s lacks %s", file, n)
				}
			}
		}
	}
}
