package outbox

import (
	"fmt"
	"testing"

	"github.com/sluicegate/sluice/clock"
)

// BenchmarkNext: a write begins and ends in an installation where so many repositories want a merge.
func BenchmarkNext(b *testing.B) {
	for _, repos := range []int{400, 10_000} {
		b.Run(fmt.Sprint(repos), func(b *testing.B) {
			table := NewTable()
			for n := range repos {
				table.Replace(tableRepo(n+1), WritesPaced, everything, []*Write{merging(tableRepo(n+1), 1)})
			}
			one := func(int64, int) Allowance { return Allowance{Opens: true, Content: 1, Ahead: 1, Again: clock.Never} }
			for b.Loop() {
				begun, _, _ := table.Next(noon(1), one)
				for _, w := range begun {
					table.Replace(w.Repo, WritesPaced, everything, []*Write{w})
					table.End(w, nil)
				}
			}
		})
	}
}
