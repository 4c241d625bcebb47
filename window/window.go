// Package window says when: is window w open at instant t, and until when does that hold?
//
// A window is a named set of half-open intervals of time, [from, until). It comes from a recurring schedule (a cron for
// the opening with a cron for the closing or a duration), from dates written out, or from both. Freezes are subtracted
// from it. A cutoff shortens what may be released, never what is open.
//
// The package is pure: it reads no clock, no file and no environment. Time is an argument, and zones come from data that
// is embedded in the binary. It knows no YAML: package config gives it Specs.
//
// Schedules run on the wall clock of the window's zone. A reading inside a daylight-saving gap happens as the clock jumps;
// a reading that occurs twice happens once, the first time. So a schedule runs on a wall clock without gaps and folds, and
// two functions carry questions to it and answers back: the highest reading shown up to an instant, and the first instant
// at which a reading or a higher one is shown.
//
// Invariants: an answer depends on the calendar and the instant alone, never on what was asked before or on the machine; a
// state holds until the instant that it names, and changes there; what is releasable is open, and what is open is not frozen.
//
// How it fails: closed. Nothing compiles halfway: [New] gives a calendar or the problems, each with the field that it is
// about. A name that no calendar knows is closed for ever, and so is every window beyond the year 9999. The text of a file
// is bounded and never makes anything here panic.
package window

import "time"

// Name is the name of a window as the repository's file spells it; case counts.
type Name string

// Live is the reserved window that is always open. Only a freeze that names it closes it.
const Live Name = "live"

// DefaultCutoff is how long before its close a window stops releasing when its file does not say.
const DefaultCutoff = 5 * time.Minute

// Spec is one window as a person declared it.
type Spec struct {
	Name        Name
	Description string
	Zone        *time.Location // of the schedule and of dates without an offset; from LoadZone
	Open        string         // five-field cron on the wall clock; "" if the window has only dates
	Close       string         // likewise; exactly one of Close and Duration goes with Open
	Duration    time.Duration  // elapsed time, not wall clock
	Nth         []int          // only these weekdays of the month: 1 is the first, -1 the last
	Dates       []Span         // one-off openings
	Cutoff      time.Duration  // releases nothing in the last Cutoff before a close
}

// Span is an interval as a person wrote it.
type Span struct{ From, Until Moment }

// Freeze is an interval in which windows are closed whatever their schedule.
type Freeze struct {
	Name, Reason string
	Zone         *time.Location // of instants without an offset
	Span         Span
	Windows      []Name // nil: every window but Live
}

// Interval is a half-open interval of time, [From, Until). A zero Until means that no end is in sight (see Horizon).
type Interval struct{ From, Until time.Time }

// State is all that can be asked of one window at one instant. Instants are UTC.
type State struct {
	Open             bool
	Since            time.Time // when the present open interval began; zero while closed, and out of sight
	Until            time.Time // the next change of Open; zero: none in sight
	Releasable       bool      // open, not frozen, and more than the cutoff before the close
	ReleasableChange time.Time // the next change of Releasable: its end while it holds, else when it begins; zero: none in sight
	FrozenBy         string    // the freeze that covers the instant, if any
	Next             time.Time // the next instant at which Open, Releasable or FrozenBy differs; zero: none in sight
}

// Joint is what can be asked of several windows together at one instant: a change that needs them all.
type Joint struct {
	Releasable bool      // every one is releasable
	Until      time.Time // the next change of Releasable; zero: none within the horizon
	Closed     []Name    // those that are not releasable at the instant, in the order asked
}
