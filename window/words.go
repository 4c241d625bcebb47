package window

import (
	"fmt"
	"strconv"
	"time"
)

// All words of this package that a user reads stand in this file.

const (
	wordsNoZone       = "the time zone is missing: write Area/City, such as Europe/Berlin, or UTC"
	wordsAbbreviation = "abbreviations and fixed offsets do not follow a place's clock"
	wordsMoment       = "write a date and a time such as 2026-12-05T22:00, with Z or an offset such as +01:00 if it is not local"

	wordsCronEmpty     = "the cron is empty: write five fields such as \"0 8 * * MON\""
	wordsCronZone      = "a cron has no time zone of its own: write it into timezone"
	wordsCronEvery     = "@every is bound to no clock: write five fields such as \"0 */2 * * *\""
	wordsCronShorthand = "unknown shorthand: there are @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually"
	wordsCronSeconds   = "six fields: seconds are not supported, write five fields such as \"0 8 * * MON\""
	wordsCronBothDays  = "day of month and day of week together mean \"either\" in cron: leave one of them *, and use nth for the " +
		"second Tuesday"

	wordsNoTimezone        = "without a time zone: write timezone, or give every date an offset"
	wordsNoOpen            = "close, duration and nth need open"
	wordsNoSchedule        = "never opens: write open with close or duration, or dates"
	wordsBothClosings      = "close and duration exclude each other: keep one"
	wordsNoClosing         = "open needs close or duration"
	wordsNegative          = "must not be negative"
	wordsFraction          = "must be whole seconds"
	wordsNthWithoutWeekday = "nth counts weekdays in the month: name them in open, such as \"0 22 * * TUE\""
	wordsDateOrder         = "ends before it begins: from must be before until"
	wordsDateWithinCutoff  = "not longer than the cutoff: releases nothing"
	wordsWithinCutoff      = "never releases anything: no opening is longer than the cutoff"
	wordsNeverFires        = "never happens: there is no such day"
	wordsNeverOpens        = "never opens: every opening coincides with a closing, and the closing wins"
	wordsAlwaysOpen        = "always open: each opening begins before the previous one ends"
	wordsFreezeName        = "a freeze needs a name, on one line and of at most 64 bytes"
	wordsFreezesNothing    = "freezes nothing: name windows, or leave windows out to freeze all"
	wordsNeverAgain        = "never opens again: all dates are past"
	wordsDatesPast         = "all dates are past"
)

// notAreaCity refuses the name of a zone.
func notAreaCity(name, why string) string {
	text := quote(name) + " is not a time zone of the form Area/City, such as Europe/Berlin, or UTC"
	if why != "" {
		text += ": " + why
	}
	return text
}

// unknownZone refuses the name of a zone, with the name that was likely meant.
func unknownZone(name, near string) string {
	if near != "" {
		return fmt.Sprintf("unknown time zone %s: write %s", quote(name), near)
	}
	return "unknown time zone " + quote(name)
}

func cronTooLong() string { return fmt.Sprintf("a cron has at most %d bytes", maxCron) }

func cronUnreadable(err error) string { return "not a cron: " + shorten(err.Error()) }

func cronFieldCount(n int) string {
	return fmt.Sprintf("a cron has five fields, minute hour day month weekday; this one has %d", n)
}

func cronBadItem(item string) string {
	return "not a cron: " + quote(item) + " is not a number, name, range or star"
}

func tooMany(what string, most int) string { return fmt.Sprintf("too many %s: at most %d", what, most) }

func tooLong(most time.Duration) string {
	return fmt.Sprintf("must not be longer than %.0fh", most.Hours())
}

func duplicateName(n Name) string { return "there are two windows " + quote(string(n)) }

func badName(n Name) string {
	return fmt.Sprintf("%s is not a name for a window: letters, digits, \".\", \"_\" and \"-\", a letter or digit first, at most %d",
		quote(string(n)), MaxName)
}

func reservedName(n Name) string { return quote(string(n)) + " is a reserved name" }

func unknownWindow(n Name) string { return "there is no window " + quote(string(n)) }

func badNth(n int) string {
	return fmt.Sprintf("nth is 1 to %d, or -1 (the last) to -%d, not %d", MaxNth, MaxNth, n)
}

// event is what a change of the clock meets, with what comes of a reading that occurs twice.
type event struct{ what, twice string }

var (
	opening     = event{"opening", "it opens the first time"}
	closing     = event{"closing", "it closes the first time"}
	dateStart   = event{"opening", "it opens the second time"}
	dateEnd     = event{"closing", "it closes the first time"}
	freezeStart = event{"beginning", "the freeze begins the first time"}
	freezeEnd   = event{"end", "the freeze ends the second time"}
)

// surprise says what a change of the clock makes of a reading.
func surprise(e event, c shift, at wall) string {
	reading := time.Unix(int64(at), 0).UTC()
	when := fmt.Sprintf("the %s on %s at %s", e.what, reading.Format("Mon 2 Jan 2006"), reading.Format("15:04"))
	if c.gap() {
		jump := c.at.time().In(c.zone)
		return fmt.Sprintf("%s does not exist in %s: it happens as the clock jumps to %s", when, c.zone, jump.Format("15:04 MST"))
	}
	return fmt.Sprintf("%s occurs twice in %s: %s", when, c.zone, e.twice)
}

// quote is a text of a file in a message, on one line and bounded.
func quote(text string) string { return strconv.Quote(shorten(text)) }

// shorten cuts a text for a message.
func shorten(text string) string {
	const most = 80
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}
