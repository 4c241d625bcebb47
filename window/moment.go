package window

import (
	"errors"
	"strings"
	"time"
)

// Moment is an instant as a person wrote it: a reading of a wall clock, or exact with an offset. The zero Moment is the
// wall clock's 1970-01-01T00:00.
type Moment struct {
	reading wall
	exact   bool  // the offset was written
	offset  int64 // seconds east of UTC
}

// The years that a Moment may have: later than any clock that is set wrong, and four digits.
const (
	minMomentYear = 1970
	maxMomentYear = 9999
)

// maxOffset bounds a written offset. The world's are between -12:00 and +14:00.
const maxOffset = 14 * 60 * 60

// errMoment says what a Moment looks like.
var errMoment = errors.New(wordsMoment)

// ParseMoment reads 2026-12-05T22:00, with seconds or without, followed by nothing, "Z" or an offset such as +01:00.
func ParseMoment(text string) (Moment, error) {
	const minutes, seconds = "2006-01-02T15:04", "2006-01-02T15:04:05"
	clock, offset, exact, ok := cutOffset(text)
	if !ok {
		return Moment{}, errMoment
	}
	layout := minutes
	if len(clock) == len(seconds) {
		layout = seconds
	}
	// time.Parse takes fractions and one-digit hours that the layout does not show; the length refuses both.
	at, err := time.Parse(layout, clock)
	if err != nil || len(clock) != len(layout) || at.Year() < minMomentYear || at.Year() > maxMomentYear {
		return Moment{}, errMoment
	}
	return Moment{reading: wall(at.Unix()), exact: exact, offset: offset}, nil
}

// cutOffset splits "Z", +hh:mm or -hh:mm from the end of a text.
func cutOffset(text string) (clock string, offset int64, exact, ok bool) {
	if rest, found := strings.CutSuffix(text, "Z"); found {
		return rest, 0, true, true
	}
	const form = "+hh:mm"
	at := len(text) - len(form)
	if at <= len("2006-01-02") || (text[at] != '+' && text[at] != '-') {
		return text, 0, false, true
	}
	hm, err := time.Parse("15:04", text[at+1:])
	if err != nil {
		return "", 0, false, false
	}
	offset = int64(hm.Hour())*3600 + int64(hm.Minute())*60
	if text[at] == '-' {
		offset = -offset
	}
	return text[:at], offset, true, offset >= -maxOffset && offset <= maxOffset
}

// Exact reports whether the moment was written with an offset, so that it means the same in every zone.
func (m Moment) Exact() bool { return m.exact }

// String is the moment as a person would write it.
func (m Moment) String() string {
	at := time.Unix(int64(m.reading), 0).UTC()
	if !m.exact {
		return at.Format("2006-01-02T15:04:05")
	}
	return at.Add(-time.Duration(m.offset) * time.Second).In(time.FixedZone("", int(m.offset))).Format(time.RFC3339)
}

// In is the instant of a moment in a zone, as schedules read the wall clock: what a clock change skips happens as the clock jumps, what
// it repeats the first time.
func (m Moment) In(zone *time.Location) time.Time {
	s := search{zone: zone}
	return m.earliest(&s).time()
}

// Latest is the last instant of a moment in a zone: of what a clock change repeats the second time.
func (m Moment) Latest(zone *time.Location) time.Time {
	s := search{zone: zone}
	return m.latest(&s).time()
}

// earliest and latest are the instants that the moment may mean: they differ where the wall clock reads it twice.
// A reading in a gap happens as the clock jumps.
func (m Moment) earliest(s *search) instant {
	if m.exact {
		return instant(int64(m.reading) - m.offset)
	}
	return s.firstReading(m.reading)
}

func (m Moment) latest(s *search) instant {
	if m.exact {
		return instant(int64(m.reading) - m.offset)
	}
	return s.lastReading(m.reading)
}
