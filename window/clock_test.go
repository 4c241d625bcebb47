package window

import (
	"strings"
	"testing"
	"time"
)

// TestClockChanges is what schedules do where clocks change. Each line reads: zone, open, close or duration, the day from
// which two days are shown, and the intervals in UTC. What robfig/cron's own Next makes of the same is in the last column.
func TestClockChanges(t *testing.T) {
	const table = `
	# Berlin leaves out 02:00 to 03:00 on 28 March 2027 (at 01:00Z), and shows it twice on 31 October (until 01:00Z).
	Europe/Berlin       | 30 2 * * *   | 30 4 * * *   | 2027-03-27 | 27 01:30 – 27 03:30, 28 01:00 – 28 02:30 | the 28th skipped
	Europe/Berlin       | 30 2 * * SUN | 30 4 * * SUN | 2027-03-27 | 28 01:00 – 28 02:30                      | open for 169 h, or not at all
	Europe/Berlin       | 0 22 * * *   | 30 2 * * *   | 2027-03-27 | 26 21:00 – 27 01:30, 27 21:00 – 28 01:00, 28 20:00 – 29 00:30 | open for 27.5 h
	Europe/Berlin       | 0 22 * * *   | 5h           | 2027-03-27 | 26 21:00 – 27 02:00, 27 21:00 – 28 02:00, 28 20:00 – 29 01:00 | the same
	Europe/Berlin       | 10 2 * * *   | 50 2 * * *   | 2027-03-27 | 27 01:10 – 27 01:50                      | the 28th skipped
	Europe/Berlin       | 50 2 * * *   | 10 2 * * *   | 2027-03-27 | 26 01:50 – 27 01:10, 27 01:50 – 28 01:00 | the 28th skipped
	Europe/Berlin       | 30 2 * * *   | 40 2 * * *   | 2027-10-30 | 30 00:30 – 30 00:40, 31 00:30 – 31 00:40 | twice on the 31st
	Europe/Berlin       | 0 1 * * *    | 30 2 * * *   | 2027-10-31 | 30 23:00 – 31 00:30, 01 00:00 – 01 01:30 | the same
	Europe/Berlin       | 30 2 * * *   | 30 3 * * *   | 2027-10-31 | 31 00:30 – 31 02:30, 01 01:30 – 01 02:30 | opens twice
	Europe/Berlin       | 0 0 * * *    | 24h          | 2027-10-31 | … – 31 22:00, 31 23:00 – …               | the same: 31 October has 25 hours
	Europe/Berlin       | * * * * *    | 1m           | 2027-10-31 | … – 31 01:00, 31 02:00 – …               | open all the time
	Europe/Berlin       | @hourly      | 60m          | 2027-03-28 | … – …                                    | the same
	# New York leaves out 02:00 to 03:00 on 14 March 2027 (at 07:00Z), and shows 01:00 to 02:00 twice on 7 November.
	America/New_York    | 30 2 * * *   | 1h           | 2027-03-13 | 13 07:30 – 13 08:30, 14 07:00 – 14 08:00 | the 14th skipped
	America/New_York    | 30 1 * * *   | 15m          | 2027-11-06 | 06 05:30 – 06 05:45, 07 05:30 – 07 05:45 | twice on the 7th
	America/New_York    | 30 2 * * *   | 15m          | 2027-11-07 | 07 07:30 – 07 07:45, 08 07:30 – 08 07:45 | the same
	America/New_York    | 0 22 * * SAT | 30 2 * * SUN | 2027-03-13 | 14 03:00 – 14 07:00                      | open for 171.5 h
	# Midnight does not exist in Santiago on 5 September 2027, in Beirut on 28 March 2027, in Cairo on 30 April 2027.
	America/Santiago    | 0 0 * * *    | 1h           | 2027-09-05 | 05 04:00 – 05 05:00, 06 03:00 – 06 04:00 | the 5th skipped
	Asia/Beirut         | 0 0 * * *    | 1h           | 2027-03-27 | 27 22:00 – 27 23:00, 28 21:00 – 28 22:00 | the 28th skipped
	Asia/Beirut         | 0 12 28 * *  | 1h           | 2027-03-28 | 28 09:00 – 28 10:00                      | missed
	Africa/Cairo        | 0 22 * * FRI | 1h           | 2027-04-30 | 30 19:00 – 30 20:00                      | missed
	Africa/Cairo        | 30 23 * * *  | 1h           | 2027-10-28 | 28 20:30 – 28 21:30, 29 21:30 – 29 22:30 | twice on the 28th
	# Lord Howe moves by half an hour: it leaves out 02:00 to 02:30 on 3 October, and shows 01:30 to 02:00 twice on 4 April.
	Australia/Lord_Howe | 0 0 * * *    | 1h           | 2027-10-02 | 02 13:30 – 02 14:30, 03 13:00 – 03 14:00 | some missed
	Australia/Lord_Howe | 10 2 * * *   | 1h           | 2027-10-02 | 02 15:30 – 02 16:30, 03 15:10 – 03 16:10 | the 3rd skipped
	Australia/Lord_Howe | 45 1 * * *   | 1h           | 2027-04-03 | 03 14:45 – 03 15:45, 04 15:15 – 04 16:15 | twice on the 4th
	# Kwajalein had no 21 August 1993: what opened that day opens as the clock jumps to the 22nd.
	Pacific/Kwajalein   | 0 12 21 8 *  | 2h           | 1993-08-21 | 21 12:00 – 21 14:00                      | skipped`
	for _, line := range strings.Split(table, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		spec := Spec{Name: "w", Zone: zone(t, cells[0]), Open: cells[1]}
		if d, err := time.ParseDuration(cells[2]); err == nil {
			spec.Duration = d
		} else {
			spec.Close = cells[2]
		}
		if got := inTwoDays(t, spec, cells[3]); got != cells[4] {
			t.Errorf("%s\n got %s", line, got)
		}
	}
}

// inTwoDays are the intervals of a window within two days of UTC, in the table's words.
func inTwoDays(t *testing.T, spec Spec, from string) string {
	t.Helper()
	c, problems := New([]Spec{spec}, nil)
	if c == nil {
		t.Fatal(problems)
	}
	start, err := time.Parse(time.DateOnly, from)
	if err != nil {
		t.Fatal(err)
	}
	text := func(at time.Time) string {
		if at.Before(start.AddDate(0, 0, -4)) || at.After(start.AddDate(0, 0, 4)) {
			return "…" // also out of sight
		}
		return at.Format("02 15:04")
	}
	var out []string
	for v := range c.Intervals("w", start, start.AddDate(0, 0, 2)) {
		out = append(out, text(v.From)+" – "+text(v.Until))
	}
	return strings.Join(out, ", ")
}
