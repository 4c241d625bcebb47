package web

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
)

// BenchmarkBars draws the windows of a repository: one that opens four nights a week, and one that opens every three minutes.
func BenchmarkBars(b *testing.B) {
	for name, open := range map[string]string{"nights": `{open: "0 22 * * MON-THU", duration: 4h}`, "minutes": `{open: "*/3 * * * *", duration: 1m, cutoff: 10s}`} {
		b.Run(name, func(b *testing.B) {
			p, findings := config.Parse([]byte("version: 1\ntimezone: Europe/Berlin\nwindows: {w: " + open + "}\n"))
			if p == nil {
				b.Fatal(findings)
			}
			now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
			for b.Loop() {
				steps := pageSteps
				if w := drawn(p.Calendar, now, &steps); w.Bar == nil || len(w.Bar.Runs) == 0 {
					b.Fatal(w)
				}
				b.ReportMetric(float64(pageSteps-steps), "steps")
			}
		})
	}
}
