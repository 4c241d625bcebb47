package window

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestJoint(t *testing.T) {
	c := berlin(t, []Spec{
		{Name: "week", Open: "0 8 * * MON", Close: "0 17 * * THU", Cutoff: 10 * time.Minute},
		{Name: "night", Open: "0 22 * * *", Duration: 4 * time.Hour},
		{Name: "sunday", Open: "0 22 * * SUN", Duration: time.Hour},
		{Name: "leap", Open: "0 0 29 2 *", Duration: 24 * time.Hour},
		{Name: "odd", Open: "1-59/2 * * * *", Duration: time.Minute, Zone: time.UTC},
		{Name: "even", Open: "*/2 * * * *", Duration: time.Minute, Zone: time.UTC},
		{Name: "brief", Open: "55 16 * * THU", Close: "0 17 * * THU"},
	}, Freeze{Name: "all", Span: spans("2026-11-09T00:00/2026-11-10T00:00")[0], Windows: []Name{"live", "week", "night"}})
	const table = `
	                | 2026-11-03T12:00 | releases until -
	live            | 2026-11-03T12:00 | releases until 09T00:00
	live            | 2026-11-09T12:00 | closed until 10T00:00: live
	week            | 2026-11-03T12:00 | releases until 05T16:50
	week live       | 2026-11-03T12:00 | releases until 05T16:50
	week live       | 2026-11-07T12:00 | closed until 10T00:00: week
	week night      | 2026-11-03T12:00 | closed until 03T22:00: night
	night week      | 2026-11-01T12:00 | closed until 02T22:00: night week
	week night week | 2026-11-03T23:00 | releases until 04T02:00
	# overlapping by cutoffs only: the week releases nothing then
	week brief      | 2026-11-03T12:00 | closed until -: brief
	week sunday     | 2026-11-03T12:00 | closed until -: sunday
	odd even        | 2026-11-03T12:00 | closed until -: odd
	# within 400 days of the UTC day, and not beyond
	leap            | 2026-11-03T12:00 | closed until 29T00:00: leap
	leap live       | 2026-11-03T12:00 | closed until -: leap
	leap night      | 2027-01-24T12:00 | closed until -: leap night
	leap night      | 2027-01-25T01:01 | closed until 29T00:00: leap
	leap night      | 2027-01-25T00:59 | closed until -: leap
	# what is open for ever holds nobody back, however far away the other is
	leap live       | 2027-01-24T12:00 | closed until 29T00:00: leap
	# fail closed
	week unknown    | 2026-11-03T12:00 | closed until -: unknown
	unknown         | 2026-11-03T12:00 | closed until -: unknown`
	for _, line := range strings.Split(table, "\n") {
		if line = strings.TrimLeft(line, "\t"); line == "" || line[0] == '#' {
			continue
		}
		cells := strings.SplitN(line, "|", 3)
		var names []Name
		for _, n := range strings.Fields(cells[0]) {
			names = append(names, Name(n))
		}
		for range 2 { // worked out, and remembered
			j := c.Joint(names, local(t, strings.TrimSpace(cells[1])))
			got := "closed until "
			if j.Releasable {
				got = "releases until "
			}
			if j.Until.IsZero() {
				got += "-"
			} else {
				got += j.Until.In(zone(t, "Europe/Berlin")).Format("02T15:04")
			}
			if len(j.Closed) > 0 {
				got += ": " + strings.Trim(fmt.Sprint(j.Closed), "[]")
			}
			if got != strings.TrimSpace(cells[2]) {
				t.Errorf("%s\n%s got %s", line, strings.Repeat(" ", 33), got)
			}
		}
	}
}

func TestEverTogether(t *testing.T) {
	c := berlin(t, []Spec{
		{Name: "week", Open: "0 8 * * MON", Close: "0 17 * * THU"},
		{Name: "weekend", Open: "0 0 * * SAT", Duration: 48 * time.Hour},
		{Name: "night", Open: "0 22 * * *", Duration: 4 * time.Hour},
		{Name: "leap", Open: "0 12 29 2 *", Duration: time.Hour},
		{Name: "monday", Dates: spans("2033-11-07T22:30/2033-11-07T22:45")}, // far from the fixed instant
		{Name: "saturday", Dates: spans("2033-11-05T22:30/2033-11-05T22:45")},
	}, Freeze{Name: "for ever", Span: spans("2020-01-01T00:00/9999-01-01T00:00")[0]})
	for names, want := range map[string]bool{
		"":                   true,
		"live":               true,
		"week":               true, // freezes do not count
		"week night":         true,
		"week weekend":       false,
		"week leap":          true, // Thursday, 29 February 2024
		"weekend leap":       false,
		"monday":             true,
		"week monday":        true,
		"night monday week":  true,
		"weekend monday":     false,
		"monday saturday":    false,
		"saturday weekend":   true,
		"saturday live":      true,
		"week unknown":       false,
		"unknown":            false,
		"week live night":    true,
		"week weekend night": false,
	} {
		var asked []Name
		for _, n := range strings.Fields(names) {
			asked = append(asked, Name(n))
		}
		if got := c.EverTogether(asked); got != want {
			t.Errorf("EverTogether(%s) is %v", names, got)
		}
	}
}
