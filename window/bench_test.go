package window

import (
	"fmt"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
)

// benchSpecs are schedules that people write, in the zone of the sample file.
func benchSpecs(t testing.TB) []Spec {
	berlin := zone(t, "Europe/Berlin")
	return []Spec{
		{Name: "week", Zone: berlin, Open: "0 8 * * MON", Close: "0 17 * * THU", Cutoff: 10 * time.Minute},
		{Name: "nightly", Zone: berlin, Open: "0 22 * * *", Duration: 4 * time.Hour, Cutoff: 5 * time.Minute},
		{Name: "patch-tuesday", Zone: berlin, Open: "0 22 * * TUE", Nth: []int{2}, Duration: 4 * time.Hour},
		{Name: "weekdays-all-day", Zone: berlin, Open: "0 0 * * MON-FRI", Duration: 24 * time.Hour},
		{Name: "always", Zone: berlin, Open: "@daily", Duration: 36 * time.Hour},
		{Name: "every-other-minute", Zone: berlin, Open: "*/2 * * * *", Duration: time.Minute},
		{Name: "leap-day", Zone: berlin, Open: "0 0 29 2 *", Close: "0 12 29 2 *"},
		{
			Name: "with-dates", Zone: berlin, Open: "0 22 * * SAT", Duration: 5 * time.Hour,
			Dates: spans("2027-03-27T20:00/2027-03-28T02:30", "2027-04-03T12:00/2027-04-03T22:00"),
		},
	}
}

func benchCalendar(b *testing.B) *Calendar {
	freeze := Freeze{Name: "year-end", Zone: zone(b, "Europe/Berlin"), Span: spans("2027-12-18T00:00/2028-01-03T08:00")[0]}
	c, problems := New(benchSpecs(b), []Freeze{freeze})
	if c == nil {
		b.Fatal(problems)
	}
	return c
}

var benchAt = time.Date(2027, 2, 9, 21, 30, 0, 0, time.UTC) // patch Tuesday

// BenchmarkAsk asks "is it open, and until when?" a second later each time, then again after a day of silence, and what the
// usual algorithm makes of the last.
func BenchmarkAsk(b *testing.B) {
	for _, spec := range benchSpecs(b) {
		c := benchCalendar(b)
		b.Run("again/"+string(spec.Name), func(b *testing.B) {
			b.ReportAllocs()
			at := benchAt
			for b.Loop() {
				benchState = c.At(spec.Name, at)
				if at = at.Add(time.Second); at.Sub(benchAt) > time.Minute {
					at = benchAt
				}
			}
		})
		b.Run("cold/"+string(spec.Name), func(b *testing.B) {
			b.ReportAllocs()
			at := benchAt
			for b.Loop() {
				benchState = c.At(spec.Name, at)
				if at = at.Add(25*time.Hour + 7*time.Minute); at.Year() > 2030 {
					at = benchAt
				}
			}
		})
		b.Run("naive/"+string(spec.Name), func(b *testing.B) { benchNaive(b, spec) })
	}
}

var benchState State

// benchNaive is what others do: let robfig/cron walk from opening to opening, from one duration back, or from a guess where
// there is none. It knows nothing of nth, dates, freezes and openings that run into each other, and is wrong around clock
// changes.
func benchNaive(b *testing.B, spec Spec) {
	open, err := cron.ParseStandard(spec.Open)
	if err != nil {
		b.Fatal(err)
	}
	closing := cron.Schedule(nil)
	if spec.Close != "" {
		if closing, err = cron.ParseStandard(spec.Close); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	at := benchAt
	for b.Loop() {
		benchState = naiveState(open, closing, spec, at.In(spec.Zone))
		if at = at.Add(25*time.Hour + 7*time.Minute); at.Year() > 2030 {
			at = benchAt
		}
	}
}

func naiveState(open, closing cron.Schedule, spec Spec, now time.Time) State {
	back := spec.Duration
	if closing != nil {
		back = 8 * 24 * time.Hour // enough for what happens once a week
	}
	for opened := open.Next(now.Add(-back)); ; {
		if opened.IsZero() || opened.After(now) {
			return State{Until: opened}
		}
		closed := opened.Add(spec.Duration)
		if closing != nil {
			closed = closing.Next(opened)
		}
		if now.Before(closed) {
			return State{Open: true, Since: opened, Until: closed}
		}
		opened = open.Next(opened)
	}
}

// BenchmarkJoint asks for three windows together: what 1,000 pull requests of one look ask.
func BenchmarkJoint(b *testing.B) {
	c := benchCalendar(b)
	names := []Name{"week", "nightly", "patch-tuesday"}
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			benchJoint = c.Joint(names, benchAt)
		}
	})
	b.Run("cold", func(b *testing.B) {
		b.ReportAllocs()
		at := benchAt
		for b.Loop() {
			benchJoint = c.Joint(names, at)
			at = at.Add(25*time.Hour + 7*time.Minute)
		}
	})
	// The worst that a file can ask: two windows that are never open together, each 720 times a day.
	odd := Spec{Name: "odd", Zone: time.UTC, Open: "1-59/2 * * * *", Duration: time.Minute}
	even := Spec{Name: "even", Zone: time.UTC, Open: "*/2 * * * *", Duration: time.Minute}
	worst, problems := New([]Spec{odd, even}, nil)
	if worst == nil {
		b.Fatal(problems)
	}
	b.Run("never", func(b *testing.B) {
		at := benchAt
		for b.Loop() {
			benchJoint = worst.Joint([]Name{"odd", "even"}, at)
			at = at.Add(25 * time.Hour)
		}
	})
}

var benchJoint Joint

// BenchmarkCompile compiles a calendar of ten windows and two freezes, and loads a zone.
func BenchmarkCompile(b *testing.B) {
	specs := append(benchSpecs(b), benchSpecs(b)[:2]...)
	for i := range specs {
		specs[i].Name = Name(fmt.Sprintf("w%d", i))
	}
	freezes := []Freeze{
		{Name: "a", Zone: specs[0].Zone, Span: spans("2027-12-18T00:00/2028-01-03T08:00")[0]},
		{Name: "b", Zone: specs[0].Zone, Span: spans("2028-12-18T00:00/2029-01-03T08:00")[0], Windows: []Name{Live, "w1"}},
	}
	b.Run("10-windows", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if c, problems := New(specs, freezes); c == nil {
				b.Fatal(problems)
			}
		}
	})
	b.Run("zone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := LoadZone("America/New_York"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
