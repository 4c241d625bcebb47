package web_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/web"
)

// BenchmarkPage: what one drawing costs, from a database, when strangers opened 200 pull requests in each repository, each with as many
// odd paths as a verdict explains: 40 bytes each ("short"), or 4,000 ("long"); and with many repositories that are quiet, or as usual.
func BenchmarkPage(b *testing.B) {
	for _, c := range []struct {
		name               string
		repos, pulls, path int
		ask                string
	}{
		{"short/repos=50", 50, 200, 40, "/"}, {"short/repos=300", 300, 200, 40, "/"}, {"long/repos=10", 10, 200, 4000, "/"},
		{"quiet/repos=10000", 10000, 0, 0, "/"}, {"usual/repos=10000", 10000, 3, 0, "/"},
		{"thousand/all", 1, 1000, 0, "/"}, {"thousand/one", 1, 1000, 0, "/acme/r00000"}, {"thousand/last", 1, 1000, 0, "/acme/r00000?page=10"},
		{"thousand/search", 1, 1000, 0, "/acme/r00000?q=%23999"}, {"thousand/pull", 1, 1000, 0, "/acme/r00000/pull/999"},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := hostile(b, c.repos, c.pulls, c.path)
			peak := watchHeap()
			var size int
			for b.Loop() {
				h := web.New(web.Options{Source: s, Local: true, GitHub: "https://github.com", Now: func() time.Time { return now }}) // else the page is sent again
				size = ask(h, c.ask).Body.Len()
			}
			b.ReportMetric(float64(size)/(1<<10), "KB/page")
			b.ReportMetric(peak(), "MB-peak")
		})
	}
}

// hostile is a database with pulls verdicts of each of many repositories, every character of which is longer in HTML; a path of 0 bytes is
// an everyday one.
func hostile(b *testing.B, repos, pulls, path int) *store.Store {
	b.Helper()
	s, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "sluice.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	text := "apps/apps-rw/nginx/a"
	if path > 0 {
		text = strings.Repeat("'", path)
	}
	var all []plan.Repo
	for i := range repos {
		all = append(all, plan.Repo{ID: int64(i + 1), Owner: "acme", Name: fmt.Sprintf("r%05d", i), Installation: 1})
	}
	if err := s.Know(b.Context(), all, now); err != nil {
		b.Fatal(err)
	}
	for _, r := range all {
		var p plan.Plan
		for n := range pulls {
			v := plan.Verdict{Subject: plan.Subject{Pull: n + 1, Base: "main"}, SHA: plan.SHA(strings.Repeat("a", 40)), Kind: plan.Blocked,
				Reason: strings.Repeat("'", plan.MaxReason)}
			for range store.WhySteps {
				v.Why = append(v.Why, plan.Step{About: text, Says: "no-deploy-friday (rule 2: clusters/*/apps/apps-rw/**)"})
			}
			p.Verdicts = append(p.Verdicts, v)
		}
		if err := s.Looked(b.Context(), r, store.Look{At: now, Plan: p}); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// watchHeap samples the heap's objects; what it returns ends that and gives the most that there was beyond the beginning, in MB.
func watchHeap() func() float64 {
	heap := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	first := heap()
	var most atomic.Uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				most.Store(max(most.Load(), heap()))
			}
		}
	}()
	return func() float64 {
		close(stop)
		<-done
		return float64(most.Load()-min(first, most.Load())) / (1 << 20)
	}
}
