package window

import (
	"fmt"
	"testing"
	"time"
)

// Whatever stands in a file, reading it as a cron gives a table or an error, and a table runs forward and backward alike.
func FuzzCron(f *testing.F) {
	for _, text := range []string{
		"0 8 * * MON", "*/7 1-5 ? JAN,3 *", "@daily", "@every 1s", "CRON_TZ=Europe/Berlin", "TZ=", "0 0 29 2 *", "0 0 30 2 *", "1/2 * * * *",
		"* * 1-31 * MON", "59 23 31 12 ?", "60 * * * *", ",,,,, * * * *", "\xff * * * *", "0 0 * * 0-6/2",
	} {
		f.Add(text, int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, at int64) {
		c, err := parseCron(text)
		if err != nil {
			if c != nil || len(err.Error()) > 400 {
				t.Fatalf("%q: %v, %v", text, c, err)
			}
			return
		}
		w := wall(at % (400 * 365 * day))
		next, ok := c.next(w)
		if !ok {
			return
		}
		if next <= w || next > w+41*366*day {
			t.Fatalf("%q: after %d comes %d", text, w, next)
		}
		if back, ok := c.prev(next); !ok || back != next {
			t.Fatalf("%q fires at %d, but up to then it is %d", text, next, back)
		}
		if back, ok := c.prev(next - 1); ok && back > w {
			t.Fatalf("%q: %d lies between %d and the next %d", text, back, w, next)
		}
	})
}

func FuzzMoment(f *testing.F) {
	for _, text := range []string{"2026-12-05T22:00", "2026-12-05T22:00:05Z", "2026-12-05T22:00+14:00", "2026-12-05T22:00-00:01", "+01:00", "Z"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMoment(text)
		if err != nil {
			return
		}
		if again, err := ParseMoment(m.String()); err != nil || again != m {
			t.Fatalf("%q is %s, and that is %s, %v", text, m, again, err)
		}
	})
}

// fuzzed is a calendar of two windows made of a fuzzer's numbers; nil if they do not compile.
func fuzzed(t *testing.T, open, closing string, n uint64) *Calendar {
	draw := func(most uint64) int64 {
		v := n % most
		n /= most
		return int64(v)
	}
	loc := zone(t, oracleZones[draw(uint64(len(oracleZones)))])
	date := func(minute int64) Moment { return Moment{reading: wall(sampleStart) + wall(1200*day+minute*60)} }
	spec := Spec{Name: "fuzzed", Zone: loc, Open: open, Close: closing, Cutoff: time.Duration(draw(200)) * time.Minute}
	if closing == "" {
		spec.Duration = time.Duration(1+draw(5000)) * time.Minute
	}
	if k := draw(12); k < 5 {
		spec.Nth = []int{int(k - 2)}
	}
	at := draw(50_000)
	freezes := []Freeze{{Name: "f", Zone: loc, Span: Span{date(at), date(at + draw(10_000))}, Windows: []Name{"fuzzed"}}}
	if at%2 == 0 {
		spec.Dates = []Span{{date(at / 2), date(at/2 + 5000)}, {date(at - 100), date(at + 50)}}
	}
	other := Spec{Name: "other", Zone: zone(t, "America/New_York"), Open: "30 1 * * *", Close: "30 2 * * MON,THU", Cutoff: time.Hour}
	if at%3 == 0 {
		freezes[0].Windows = append(freezes[0].Windows, Live)
	}
	c, _ := New([]Spec{spec, other}, freezes)
	return c
}

// seedCalendars gives a fuzz target schedules to begin with.
func seedCalendars(f *testing.F) {
	for i, spec := range oracleSpecs {
		if spec.Open != "" {
			f.Add(spec.Open, spec.Close, uint64(i)*1_234_567_890_123, int64(i)*4_000_003)
		}
	}
}

// A state holds until the instant it names, and changes there; so do Releasable and Next.
func FuzzState(f *testing.F) {
	seedCalendars(f)
	f.Fuzz(func(t *testing.T, open, closing string, n uint64, offset int64) {
		c := fuzzed(t, open, closing, n)
		if c == nil {
			return
		}
		at := time.Unix(int64(sampleStart)+1200*day+offset%(300*day), 0).UTC()
		for _, name := range []Name{"fuzzed", Live} {
			s := c.At(name, at)
			checkUntil(t, c, name, at, s, s.Until, func(a, b State) bool { return a.Open == b.Open && a.Since.Equal(b.Since) })
			checkUntil(t, c, name, at, s, s.ReleasableChange, func(a, b State) bool { return a.Releasable == b.Releasable })
			checkUntil(t, c, name, at, s, s.Next, func(a, b State) bool {
				return a.Open == b.Open && a.Releasable == b.Releasable && a.FrozenBy == b.FrozenBy
			})
			if s.Releasable && (!s.Open || s.FrozenBy != "" || (!s.Until.IsZero() && s.Until.Sub(at) <= c.Cutoff(name))) {
				t.Fatalf("%s at %s releases: %+v", name, at, s)
			}
			if s.Open && (s.FrozenBy != "" || s.Since.After(at)) {
				t.Fatalf("%s at %s is open: %+v", name, at, s)
			}
		}
	})
}

// checkUntil looks at instants up to a change and at the change.
func checkUntil(t *testing.T, c *Calendar, n Name, at time.Time, s State, until time.Time, same func(a, b State) bool) {
	t.Helper()
	if until.IsZero() {
		return
	}
	if !until.After(at) {
		t.Fatalf("%s at %s: a change at %s, before: %+v", n, at, until, s)
	}
	for _, part := range []time.Duration{7, 3, 2} {
		if between := at.Add(until.Sub(at) / part); !same(s, c.At(n, between)) {
			t.Fatalf("%s at %s: %+v\nbut at %s, before the change: %+v", n, at, s, between, c.At(n, between))
		}
	}
	if last := until.Add(-time.Nanosecond); !same(s, c.At(n, last)) {
		t.Fatalf("%s at %s: %+v\nbut just before the change: %+v", n, at, s, c.At(n, last))
	}
	if same(s, c.At(n, until)) {
		t.Fatalf("%s at %s: %+v\nbut at the change nothing changes: %+v", n, at, s, c.At(n, until))
	}
}

// What several windows say together is what each says alone.
func FuzzJoint(f *testing.F) {
	seedCalendars(f)
	f.Fuzz(func(t *testing.T, open, closing string, n uint64, offset int64) {
		c := fuzzed(t, open, closing, n)
		if c == nil {
			return
		}
		at := time.Unix(int64(sampleStart)+1200*day+offset%(300*day), 0).UTC()
		names := []Name{"fuzzed", "other", Live}
		j := c.Joint(names, at)
		var closed []Name
		for _, name := range names {
			if !c.At(name, at).Releasable {
				closed = append(closed, name)
			}
		}
		if fmt.Sprint(closed) != fmt.Sprint(j.Closed) || j.Releasable != (len(closed) == 0) {
			t.Fatalf("at %s: %+v, but closed are %s", at, j, closed)
		}
		if j.Until.IsZero() {
			return
		}
		if j.Until.Sub(at) > Horizon && len(closed) > 1 {
			t.Fatalf("at %s: %+v is beyond the horizon", at, j)
		}
		for _, step := range []time.Duration{7, 3, 2} {
			if between := at.Add(j.Until.Sub(at) / step); c.Joint(names, between).Releasable != j.Releasable {
				t.Fatalf("at %s: %+v, but not at %s", at, j, between)
			}
		}
		if c.Joint(names, j.Until.Add(-time.Nanosecond)).Releasable != j.Releasable || c.Joint(names, j.Until).Releasable == j.Releasable {
			t.Fatalf("at %s: %+v, but %+v then", at, j, c.Joint(names, j.Until))
		}
	})
}
