package window

import (
	"errors"
	"fmt"
	"math/bits"
	"regexp"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// cronTable is one cron, compiled: what matches within a day, and which days of a month match.
//
// robfig/cron reads the text. Its own Next is not used: it runs on real time and skips or doubles readings around clock
// changes, and it cannot look backward. The table runs on the wall clock dressed as UTC, in both directions.
type cronTable struct {
	hours, minutes uint64
	months         uint64
	// days holds the matching days of a month, bit n for day n, by the weekday of the month's first day and by its
	// length less 28.
	days [7][4]uint32
	// except, if set, takes out the days that it matches too: closings that swallow every opening of theirs.
	except   *cronTable
	weekdays bool // the text names weekdays
}

// maxCron bounds a cron's text. The longest useful ones have about 200 bytes.
const maxCron = 500

// cronFields is how many fields a cron has.
const cronFields = 5

// reachMonths is how far a cron is searched for. A cron that fires at all fires again within 40 years: 29 February falls
// on a given weekday every 28, or 40 across a year like 2100.
const reachMonths = 41 * 12

// starBit is how robfig/cron marks a field that begins with a star.
const starBit = 1 << 63

// shorthands are the names for whole crons. @every is none of them: it is bound to no clock.
var shorthands = map[string]bool{
	"@yearly": true, "@annually": true, "@monthly": true, "@weekly": true, "@daily": true, "@midnight": true, "@hourly": true,
}

// cronItem is one item of a field's list. robfig/cron also takes "*-5" for a star, "+5" for 5, and an empty item for nothing.
var cronItem = regexp.MustCompile(`^([*?]|[0-9]{1,2}|[A-Za-z]{3})(-([0-9]{1,2}|[A-Za-z]{3}))?(/[0-9]{1,4})?$`)

// parseCron reads a five-field cron or a shorthand. It never panics.
func parseCron(text string) (*cronTable, error) {
	if len(text) > maxCron {
		return nil, errors.New(cronTooLong())
	}
	fields := strings.Fields(text)
	if err := checkCron(fields); err != nil {
		return nil, err
	}
	spec, err := readCron(strings.Join(fields, " "))
	if err != nil {
		return nil, errors.New(cronUnreadable(err))
	}
	if spec.Dom&starBit == 0 && spec.Dow&starBit == 0 {
		return nil, errors.New(wordsCronBothDays)
	}
	return compileCron(spec), nil
}

// checkCron refuses what robfig/cron would take, misread or panic at.
func checkCron(fields []string) error {
	if len(fields) == 0 {
		return errors.New(wordsCronEmpty)
	}
	first := strings.ToUpper(fields[0])
	switch {
	case strings.HasPrefix(first, "TZ=") || strings.HasPrefix(first, "CRON_TZ="):
		return errors.New(wordsCronZone)
	case strings.HasPrefix(first, "@EVERY"):
		return errors.New(wordsCronEvery)
	case first[0] == '@':
		if len(fields) > 1 || !shorthands[fields[0]] {
			return errors.New(wordsCronShorthand)
		}
		return nil
	case len(fields) == cronFields+1:
		return errors.New(wordsCronSeconds)
	case len(fields) != cronFields:
		return errors.New(cronFieldCount(len(fields)))
	}
	for _, field := range fields {
		for _, item := range strings.Split(field, ",") {
			if !cronItem.MatchString(item) || (strings.ContainsAny(item[:1], "*?") && strings.Contains(item, "-")) {
				return errors.New(cronBadItem(item))
			}
		}
	}
	return nil
}

// readCron lets robfig/cron read a text. It is recovered: the text is hostile, and the library has panicked before
// (https://github.com/robfig/cron/issues/470).
func readCron(text string) (spec *cron.SpecSchedule, err error) {
	defer func() {
		if p := recover(); p != nil {
			spec, err = nil, fmt.Errorf("unreadable: %v", p)
		}
	}()
	schedule, err := cron.ParseStandard(text)
	if err != nil {
		return nil, err
	}
	spec, ok := schedule.(*cron.SpecSchedule)
	if !ok {
		return nil, fmt.Errorf("not a schedule of the clock: %T", schedule)
	}
	return spec, nil
}

// compileCron turns robfig's bit fields into a table.
func compileCron(spec *cron.SpecSchedule) *cronTable {
	c := &cronTable{
		hours: spec.Hour &^ starBit, minutes: spec.Minute &^ starBit, months: spec.Month &^ starBit,
		weekdays: spec.Dow&starBit == 0,
	}
	for first := range c.days {
		for extra := range c.days[first] {
			for d := 1; d <= 28+extra; d++ {
				weekday := (first + d - 1) % 7
				// One of the two fields is a star: matching both is what cron does.
				if spec.Dom>>d&1 == 1 && spec.Dow>>weekday&1 == 1 {
					c.days[first][extra] |= 1 << d
				}
			}
		}
	}
	return c
}

// onlyNth keeps the days that are the nth of their weekday in the month; -1 is the last.
func (c *cronTable) onlyNth(nth []int) {
	for first := range c.days {
		for extra := range c.days[first] {
			c.days[first][extra] &= nthDays(nth, 28+extra)
		}
	}
}

// nthDays are the days of a month of that length that are the nth of their weekday, whichever weekday it is.
func nthDays(nth []int, length int) uint32 {
	var out uint32
	for d := 1; d <= length; d++ {
		for _, n := range nth {
			if n == (d+6)/7 || -n == (length-d+7)/7 {
				out |= 1 << d
			}
		}
	}
	return out
}

// month is a month of the wall clock.
type month struct {
	year   int
	month  time.Month
	first  int64 // day number of its first day; day 0 is 1970-01-01
	length int
}

// monthOf is the month that a day is in, and the day's number in the month.
func monthOf(dayNumber int64) (month, int) {
	year, m, d := time.Unix(dayNumber*day, 0).UTC().Date()
	return month{year: year, month: m, first: dayNumber - int64(d) + 1, length: monthLength(year, m)}, d
}

// monthLength is how many days a month has.
func monthLength(year int, m time.Month) int {
	switch m {
	case time.February:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case time.April, time.June, time.September, time.November:
		return 30
	default:
		return 31
	}
}

// next is the month after.
func (m month) next() month {
	n := month{year: m.year, month: m.month + 1, first: m.first + int64(m.length)}
	if n.month > time.December {
		n.year, n.month = m.year+1, time.January
	}
	n.length = monthLength(n.year, n.month)
	return n
}

// prev is the month before.
func (m month) prev() month {
	p := month{year: m.year, month: m.month - 1}
	if p.month < time.January {
		p.year, p.month = m.year-1, time.December
	}
	p.length = monthLength(p.year, p.month)
	p.first = m.first - int64(p.length)
	return p
}

// daysIn are the matching days of a month, bit n for day n.
func (c *cronTable) daysIn(m month) uint32 {
	if c.months>>m.month&1 == 0 {
		return 0
	}
	const thursday = 4 // day 0
	days := c.days[floorMod(m.first+thursday, 7)][m.length-28]
	if c.except != nil {
		days &^= c.except.daysIn(m)
	}
	return days
}

// next is the first reading after w at which the cron fires.
func (c *cronTable) next(w wall) (wall, bool) {
	minute := (int64(w) - floorMod(int64(w), 60)) / 60
	inDay := int(floorMod(minute, day/60))
	m, d := monthOf((minute - int64(inDay)) / (day / 60))
	if c.daysIn(m)>>d&1 == 1 {
		if at, ok := c.minuteAfter(inDay); ok {
			return at.on(m, d), true
		}
	}
	for range reachMonths {
		if later := c.daysIn(m) >> (d + 1) << (d + 1); later != 0 {
			return c.firstMinute().on(m, bits.TrailingZeros32(later)), true
		}
		m, d = m.next(), 0
	}
	return 0, false
}

// prev is the last reading up to w, w included, at which the cron fires.
func (c *cronTable) prev(w wall) (wall, bool) {
	minute := (int64(w) - floorMod(int64(w), 60)) / 60
	inDay := int(floorMod(minute, day/60))
	m, d := monthOf((minute - int64(inDay)) / (day / 60))
	if c.daysIn(m)>>d&1 == 1 {
		if at, ok := c.minuteUpTo(inDay); ok {
			return at.on(m, d), true
		}
	}
	for range reachMonths {
		if earlier := c.daysIn(m) & (1<<d - 1); earlier != 0 {
			return c.lastMinute().on(m, bits.Len32(earlier)-1), true
		}
		m = m.prev()
		d = m.length + 1
	}
	return 0, false
}

// lastOfDay is the last reading of w's day at which the cron fires; w is a reading at which it fires.
func (c *cronTable) lastOfDay(w wall) wall {
	return w - wall(floorMod(int64(w), day)) + wall(c.lastMinute())*60
}

// firstOfDay is the first reading of w's day at which the cron fires; w is a reading at which it fires.
func (c *cronTable) firstOfDay(w wall) wall {
	return w - wall(floorMod(int64(w), day)) + wall(c.firstMinute())*60
}

// minuteOfDay is a minute of a day, from 0 to 1439.
type minuteOfDay int

// on is the reading at that minute on day d of a month.
func (at minuteOfDay) on(m month, d int) wall {
	return wall((m.first+int64(d)-1)*day + int64(at)*60)
}

func (c *cronTable) firstMinute() minuteOfDay {
	return minuteOfDay(bits.TrailingZeros64(c.hours)*60 + bits.TrailingZeros64(c.minutes))
}

func (c *cronTable) lastMinute() minuteOfDay {
	return minuteOfDay((bits.Len64(c.hours)-1)*60 + bits.Len64(c.minutes) - 1)
}

// minuteAfter is the day's first minute after m at which the cron fires on a matching day.
func (c *cronTable) minuteAfter(m int) (minuteOfDay, bool) {
	h := m / 60
	if c.hours>>h&1 == 1 {
		if later := c.minutes >> (m%60 + 1) << (m%60 + 1); later != 0 {
			return minuteOfDay(h*60 + bits.TrailingZeros64(later)), true
		}
	}
	if later := c.hours >> (h + 1) << (h + 1); later != 0 {
		return minuteOfDay(bits.TrailingZeros64(later)*60 + bits.TrailingZeros64(c.minutes)), true
	}
	return 0, false
}

// minuteUpTo is the day's last minute up to m, m included, at which the cron fires on a matching day.
func (c *cronTable) minuteUpTo(m int) (minuteOfDay, bool) {
	h := m / 60
	if c.hours>>h&1 == 1 {
		if earlier := c.minutes & (2<<(m%60) - 1); earlier != 0 {
			return minuteOfDay(h*60 + bits.Len64(earlier) - 1), true
		}
	}
	if earlier := c.hours & (1<<h - 1); earlier != 0 {
		return minuteOfDay((bits.Len64(earlier)-1)*60 + bits.Len64(c.minutes) - 1), true
	}
	return 0, false
}
