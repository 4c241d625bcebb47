package report

import (
	"time"

	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/window"
)

// Windows is what holds of some windows at an instant, and when they are open in the days after it.
type Windows struct {
	At      Instant  `json:"at"`
	Windows []Window `json:"windows"`
}

// Window is one of them.
type Window struct {
	Name            window.Name `json:"name"`
	Timezone        string      `json:"timezone"`
	Open            bool        `json:"open"`
	Until           Instant     `json:"until"`
	Releasable      bool        `json:"releasable"`
	ReleasableUntil Instant     `json:"releasable_until"`
	FrozenBy        *string     `json:"frozen_by"` // null: it is not frozen
	Intervals       []Interval  `json:"intervals"`
}

// Interval is a stretch of time in which a window is open; Until is null where it lies more than 400 days away.
type Interval struct {
	From  Instant `json:"from"`
	Until Instant `json:"until"`
}

// intervalNodes is the nodes that an interval takes with its JSON, which stands in memory thrice.
const intervalNodes = 5

// WindowsOf asks a calendar for some of its windows, for so many days from an instant on. It fails with the run alone.
func WindowsOf(run *meter.Meter, calendar *window.Calendar, names []window.Name, at time.Time, days int) (Windows, error) {
	v := Windows{At: Instant{at}, Windows: []Window{}}
	for _, n := range names {
		s := calendar.At(n, at)
		w := Window{
			Name: n, Timezone: calendar.Zone(n).String(), Open: s.Open, Until: Instant{s.Until},
			Releasable: s.Releasable, ReleasableUntil: Instant{s.ReleasableChange}, FrozenBy: optional(s.FrozenBy), Intervals: []Interval{},
		}
		for i := range calendar.Intervals(n, at, at.Add(time.Duration(days)*24*time.Hour)) {
			if err := run.Take(meter.Nodes, intervalNodes, "windows."+string(n)); err != nil {
				return v, err
			}
			w.Intervals = append(w.Intervals, Interval{From: Instant{i.From}, Until: Instant{i.Until}})
		}
		v.Windows = append(v.Windows, w)
	}
	return v, nil
}
