package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// BenchmarkNote: how many notes a second become durable.
func BenchmarkNote(b *testing.B) {
	for _, senders := range []int{1, 50} {
		b.Run(fmt.Sprintf("senders=%d", senders), func(b *testing.B) {
			s := fresh(b)
			var next atomic.Int64
			var wg sync.WaitGroup
			b.ResetTimer()
			for range senders {
				wg.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						if _, err := s.Note(b.Context(), store.Delivery{GUID: fmt.Sprintf("%036d", i), Event: "pull_request", Repo: acme,
							Sender: "alice", At: noon}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "notes/s")
		})
	}
}

// BenchmarkRecall: what a look at a repository with 1,000 open heads asks.
func BenchmarkRecall(b *testing.B) {
	s := fresh(b)
	pulls := map[int]plan.Seen{}
	for i := range 1000 {
		pulls[i] = plan.Seen{Proposal: plan.Proposal{Head: plan.SHA(fmt.Sprintf("%040x", i)), Base: "main"}}
	}
	see := func() {
		if _, err := s.SeePulls(b.Context(), acme, pulls, noon); err != nil {
			b.Fatal(err)
		}
	}
	see()
	b.Run("recall", func(b *testing.B) {
		for b.Loop() {
			recall(b, s.Reader, acme, noon.Add(time.Minute))
		}
	})
	b.Run("see-again", func(b *testing.B) {
		for b.Loop() {
			see()
		}
	})
}
