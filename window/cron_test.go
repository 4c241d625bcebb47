package window

import (
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
)

// On a clock without changes the table and robfig/cron agree, forward; and backward is the inverse of forward.
func TestCronAgreesWithRobfig(t *testing.T) {
	for _, text := range []string{
		"* * * * *", "*/7 * * * *", "0 8 * * MON", "30 2 * * sun,WED", "0 0 31 * *", "59 23 28-31 2,12 *", "15 */5 * * 1-5",
		"0 0 29 2 *", "1,2,58 0,23 1 1 *", "0 12 * JAN-MAR ?", "@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly",
		"@annually", "  0   8\t* * MON ", "5/20 3/6 * * *", "0 0 */10 * *", "0 0 * */5 */3",
	} {
		ours, err := parseCron(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		theirs, err := cron.ParseStandard(text)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 12, 30, 23, 58, 30, 0, time.UTC)
		for range 300 {
			want := theirs.Next(at)
			if want.IsZero() {
				break // robfig gives up after five years, as before 29 February 2104
			}
			got, ok := ours.next(wall(at.Unix()))
			if !ok || int64(got) != want.Unix() {
				t.Errorf("%q after %s: %v, robfig says %s", text, at, time.Unix(int64(got), 0).UTC(), want)
				break
			}
			for _, later := range []wall{0, 1, 59} {
				if back, ok := ours.prev(got + later); !ok || back != got {
					t.Errorf("%q up to %d s after %s: %s", text, later, want, time.Unix(int64(back), 0).UTC())
				}
			}
			if back, ok := ours.prev(got - 1); ok {
				if again, _ := ours.next(back); again != got {
					t.Errorf("%q before %s: %s, and something between", text, want, time.Unix(int64(back), 0).UTC())
				}
			}
			at = want
		}
	}
}

func TestCronRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "five fields",
		"  ":                                  "five fields",
		"CRON_TZ=Europe/Berlin":               "timezone", // robfig panics
		"CRON_TZ=Europe/Berlin 0 8 * * *":     "timezone",
		"TZ=UTC 0 8 * * *":                    "timezone",
		" TZ=UTC 0 8 * * *":                   "timezone",
		"cron_tz= 0 2 * * *":                  "timezone",
		"@every 1h":                           "@every",
		"@every":                              "@every",
		"@reboot":                             "shorthand",
		"@Daily":                              "shorthand",
		"@daily 0":                            "shorthand",
		"0 0 8 * * MON":                       "seconds",
		"0 8 * *":                             "has 4",
		"0 8":                                 "has 2",
		"* * * * * * *":                       "has 7",
		"0 8 13 * FRI":                        "either",
		"0 8 */2 * FRI":                       "either", // robfig reads */2 as a restriction
		"0 8 1-31 * MON":                      "either", // robfig fires daily
		"60 * * * *":                          "60",
		"0 24 * * *":                          "24",
		"0 0 0 * *":                           "0",
		"0 0 * 13 *":                          "13",
		"0 8 * * 7":                           "7",
		"0 8 * * FRI-MON":                     "beyond",
		"0 8 * * MON#2":                       "MON#2",
		"0 8 L * *":                           "\"L\"",
		"0 8 * * 5L":                          "5L",
		"0 8 * * FOO":                         "FOO",
		"+5 * * * *":                          "+5",
		"-5 * * * *":                          "-5",
		", * * * *":                           "is not a number",
		"1,,2 * * * *":                        "is not a number",
		"*-5 * * * *":                         "*-5",
		"*/0 * * * *":                         "step",
		"1/ * * * *":                          "1/",
		"5-1 * * * *":                         "beyond",
		"\x00 * * * *":                        `\x00`,
		"0 8 * * MON\u202e":                   "is not a number",
		"9999999999999999999 * * * *":         "999",
		strings.Repeat("* ", 1_000_000):       "bytes",
		strings.Repeat("1,", 200) + "1 * * *": "has 4",
	} {
		c, err := parseCron(text)
		if err == nil {
			t.Errorf("%.60q: %+v, want an error", text, c)
			continue
		}
		if !strings.Contains(err.Error(), want) || len(err.Error()) > 300 || strings.ContainsAny(err.Error(), "\x00\u202e") {
			t.Errorf("%.60q: %q, want it to say %q", text, err, want)
		}
	}
}

func TestNth(t *testing.T) {
	for _, tt := range []struct {
		nth  []int
		want string // the Tuesdays and Fridays of November 2026 (from Sunday, 30 days) and of February 2027 (from Monday, 28)
	}{
		{[]int{1}, "Tue 3 Nov, Fri 6 Nov, Tue 2 Feb, Fri 5 Feb"},
		{[]int{2}, "Tue 10 Nov, Fri 13 Nov, Tue 9 Feb, Fri 12 Feb"},
		{[]int{-1}, "Tue 24 Nov, Fri 27 Nov, Tue 23 Feb, Fri 26 Feb"},
		{[]int{5}, ""},
		{[]int{-4, 4}, "Tue 3 Nov, Fri 6 Nov, Tue 24 Nov, Fri 27 Nov, Tue 2 Feb, Fri 5 Feb, Tue 23 Feb, Fri 26 Feb"},
	} {
		c, err := parseCron("0 22 * 2,11 TUE,FRI")
		if err != nil {
			t.Fatal(err)
		}
		c.onlyNth(tt.nth)
		var got []string
		at := wall(time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC).Unix())
		end := wall(time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC).Unix())
		for {
			next, ok := c.next(at)
			if !ok || next > end {
				break
			}
			got, at = append(got, time.Unix(int64(next), 0).UTC().Format("Mon 2 Jan")), next
		}
		if text := strings.Join(got, ", "); text != tt.want {
			t.Errorf("nth %v: %s, want %s", tt.nth, text, tt.want)
		}
	}
}

// The rarest crons: what fires once in 28 or 40 years is found, what never fires is told.
func TestRareCrons(t *testing.T) {
	c, err := parseCron("0 0 * 2 MON")
	if err != nil {
		t.Fatal(err)
	}
	c.onlyNth([]int{5})
	for _, tt := range []struct{ after, want string }{
		{"2026-01-01", "2044-02-29"}, {"2072-03-01", "2112-02-29"},
	} {
		after, err := time.Parse(time.DateOnly, tt.after)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := c.next(wall(after.Unix()))
		if text := time.Unix(int64(got), 0).UTC().Format(time.DateOnly); !ok || text != tt.want {
			t.Errorf("fifth Monday in February after %s: %s, want %s", tt.after, text, tt.want)
		}
	}
	never, err := parseCron("0 0 30 2 *")
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := never.next(0); ok {
		t.Errorf("30 February is %d", at)
	}
	if at, ok := never.prev(0); ok {
		t.Errorf("30 February was %d", at)
	}
}
