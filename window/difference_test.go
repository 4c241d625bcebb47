package window

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func during(t *testing.T, from, until string) Interval {
	t.Helper()
	return Interval{From: local(t, from), Until: local(t, until)}
}

// listedChanges is changes in words, with instants of Europe/Berlin.
func listedChanges(t *testing.T, d Difference) string {
	t.Helper()
	at := func(all Openings) string {
		day := func(i time.Time) string {
			if i.IsZero() {
				return "?"
			}
			return i.In(zone(t, "Europe/Berlin")).Format("02T15:04")
		}
		if all.All == 0 {
			return "none"
		}
		var out []string
		for _, o := range all.First {
			out = append(out, fmt.Sprintf("%s-%s(%s)", day(o.From), day(o.Until), day(o.Releases)))
		}
		return strings.Join(out, "+")
	}
	out := make([]string, 0, len(d.Changes))
	for _, c := range d.Changes {
		out = append(out, fmt.Sprintf("%s %s→%s", c.Window, at(c.Was), at(c.Is)))
	}
	return fmt.Sprintf("%d come, %d go, %d move: %s", d.Comes, d.Goes, d.Moves, strings.Join(out, "; "))
}

func TestCompare(t *testing.T) {
	daily := Spec{Name: "w", Open: "0 8 * * *", Duration: 2 * time.Hour}
	with := func(change func(*Spec)) []Spec {
		s := daily
		change(&s)
		return []Spec{s}
	}
	frozen := Freeze{Name: "f", Span: Span{moment("2026-12-02T09:00"), moment("2026-12-02T09:30")}}
	all := during(t, "2026-12-01T09:00", "2026-12-04T00:00")
	for _, c := range []struct {
		about    string
		was, is  []Spec
		freezes  []Freeze // of what is
		during   Interval
		expected string
	}{
		{"the same", []Spec{daily}, []Spec{daily}, nil, all, "0 come, 0 go, 0 move: "},
		{"a date more", []Spec{daily}, with(func(s *Spec) { s.Dates = []Span{{moment("2026-12-02T20:00"), moment("2026-12-02T21:00")}} }), nil, all,
			"1 come, 0 go, 0 move: w none→02T20:00-02T21:00(02T21:00)"},
		{"a day less", []Spec{daily}, with(func(s *Spec) { s.Open = "0 8 * * 2,4" }), nil, all,
			"0 come, 1 go, 0 move: w 02T08:00-02T10:00(02T10:00)→none"},
		{"longer", []Spec{daily}, with(func(s *Spec) { s.Duration = 3 * time.Hour }), nil, during(t, "2026-12-02T00:00", "2026-12-03T00:00"),
			"0 come, 0 go, 1 move: w 02T08:00-02T10:00(02T10:00)→02T08:00-02T11:00(02T11:00)"},
		{"a cutoff alone", []Spec{daily}, with(func(s *Spec) { s.Cutoff = time.Hour }), nil, during(t, "2026-12-02T00:00", "2026-12-03T00:00"),
			"0 come, 0 go, 1 move: w 02T08:00-02T10:00(02T10:00)→02T08:00-02T10:00(02T09:00)"},
		{"when it began, once it has", []Spec{daily}, with(func(s *Spec) { s.Open, s.Duration = "30 8 * * *", 90*time.Minute }), nil, during(t, "2026-12-01T09:00", "2026-12-02T00:00"),
			"0 come, 0 go, 0 move: "},
		{"a freeze in between", []Spec{daily}, []Spec{daily}, []Freeze{frozen}, all,
			"0 come, 0 go, 1 move: w 02T08:00-02T10:00(02T10:00)→02T08:00-02T09:00(02T09:00)+02T09:30-02T10:00(02T10:00)"},
		{"one that takes in others", []Spec{daily}, with(func(s *Spec) { s.Dates = []Span{{moment("2026-12-02T09:00"), moment("2026-12-03T09:00")}} }), nil, all,
			"0 come, 0 go, 1 move: w 02T08:00-02T10:00(02T10:00)+03T08:00-03T10:00(03T10:00)→02T08:00-03T10:00(03T10:00)"},
		{"a new one", nil, with(func(s *Spec) { s.Open = "0 8 2 * *" }), nil, all, "1 come, 0 go, 0 move: w none→02T08:00-02T10:00(02T10:00)"},
		{"one that is gone", with(func(s *Spec) { s.Open = "0 8 2 * *" }), nil, nil, all, "0 come, 1 go, 0 move: w 02T08:00-02T10:00(02T10:00)→none"},
	} {
		d := Compare(berlin(t, c.was), berlin(t, c.is, c.freezes...), []Name{"w"}, c.during, 10)
		if got := listedChanges(t, d); got != c.expected {
			t.Errorf("%s:\n got %s\nwant %s", c.about, got, c.expected)
		}
		if !d.During.Until.Equal(c.during.Until) {
			t.Errorf("%s: looked at until %s", c.about, d.During.Until)
		}
	}
}

// TestCompareKeepsTheFirst: the counts are of all, the list is of the first.
func TestCompareKeepsTheFirst(t *testing.T) {
	a, b := Spec{Name: "a", Open: "0 8 * * *", Duration: time.Hour}, Spec{Name: "b", Open: "0 6 * * *", Duration: time.Hour}
	d := Compare(berlin(t, nil), berlin(t, []Spec{a, b}), []Name{"a", "b"}, during(t, "2026-12-01T00:00", "2026-12-11T00:00"), 3)
	if got := listedChanges(t, d); got != "20 come, 0 go, 0 move: b none→01T06:00-01T07:00(01T07:00); a none→01T08:00-01T09:00(01T09:00); b none→02T06:00-02T07:00(02T07:00)" {
		t.Error(got)
	}
}

// TestCompareIsBounded: a window of very many openings is looked at for a shorter time, which the answer names, and within which it is whole.
func TestCompareIsBounded(t *testing.T) {
	each := Spec{Name: "w", Open: "*/2 * * * *", Duration: time.Minute}
	d := Compare(berlin(t, nil), berlin(t, []Spec{each}), []Name{"w"}, during(t, "2026-12-01T00:00", "2027-03-01T00:00"), 10)
	if want := local(t, "2026-12-01T00:00").Add(2 * time.Minute * mostCompared / 2); d.Comes != mostCompared/2 || !d.During.Until.Equal(want) {
		t.Errorf("%d come until %s, want until %s", d.Comes, d.During.Until, want)
	}
}

// FuzzCompare: by what the difference says, one calendar becomes the other.
func FuzzCompare(f *testing.F) {
	f.Add("0 8 * * *", "0 10 * * *", "0 9 * * *", "0 10 * * *", uint64(12345), uint64(54321), int64(1_800_000_000))
	f.Add("*/7 * * * *", "*/11 * * * *", "*/5 * * * *", "*/9 * * * *", uint64(1), uint64(99999999), int64(1_792_900_000))
	f.Fuzz(func(t *testing.T, open, closing, open2, closing2 string, n, m uint64, at int64) {
		was, is := fuzzed(t, open, closing, n), fuzzed(t, open2, closing2, m)
		if was == nil || is == nil {
			return
		}
		from := time.Unix(int64(sampleStart)+1200*day+at%(300*day), 0).UTC()
		d := Compare(was, is, was.Names(), Interval{from, from.Add(9 * 24 * time.Hour)}, mostCompared)
		if len(d.Changes) != d.Comes+d.Goes+d.Moves || Compare(is, is, is.Names(), d.During, 1).Any() {
			t.Fatalf("%d changes of %d, %d, %d", len(d.Changes), d.Comes, d.Goes, d.Moves)
		}
		for _, name := range was.Names() {
			left := slices.DeleteFunc(was.openings(name, d.During), func(o Opening) bool { return hasOpening(d, name, o) })
			for _, c := range d.Changes {
				if c.Window == name {
					left = append(left, c.Is.First...)
				}
				if len(c.Was.First) < c.Was.All || len(c.Is.First) < c.Is.All {
					return // all of it is not kept
				}
			}
			slices.SortFunc(left, func(a, b Opening) int { return a.From.Compare(b.From) })
			want := is.openings(name, d.During)
			if !slices.EqualFunc(left, want, func(a, b Opening) bool { return a.same(b, from) }) {
				t.Fatalf("%s: with the changes\n%v, without\n%v", name, left, want)
			}
		}
	})
}

func hasOpening(d Difference, name Name, o Opening) bool {
	return slices.ContainsFunc(d.Changes, func(c Change) bool { return c.Window == name && slices.Contains(c.Was.First, o) })
}

func BenchmarkCompare(b *testing.B) {
	hourly := func(minute string) *Calendar {
		return berlin(b, []Spec{{Name: "w", Open: minute + " * * * *", Duration: 10 * time.Minute}})
	}
	was, is := hourly("0"), hourly("30")
	from := local(b, "2026-12-01T00:00")
	for b.Loop() {
		if d := Compare(was, is, was.Names(), Interval{from, from.Add(90 * 24 * time.Hour)}, 20); d.Comes == 0 {
			b.Fatal("nothing")
		}
	}
}
