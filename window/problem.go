package window

// Problem is one thing that is wrong with a window or a freeze, or strange about it.
type Problem struct {
	Window  Name   // the window it is about; "" for a freeze
	Freeze  int    // index of the freeze it is about; -1 for a window
	Field   string // "open", "dates[1].from", "windows[0]"; "" is the window or freeze itself
	Warning bool   // false: nothing compiles
	Code    string // one of the codes below
	Message string // one sentence for people
}

// The codes of problems. They are stable; people filter by them.
const (
	CodeAlwaysOpen      = "always-open" // warning
	CodeBadCron         = "bad-cron"
	CodeBadCutoff       = "bad-cutoff"
	CodeBadDate         = "bad-date"
	CodeBadDuration     = "bad-duration"
	CodeBadFreeze       = "bad-freeze"
	CodeBadName         = "bad-name"
	CodeBadNth          = "bad-nth"
	CodeClockChange     = "clock-change" // warning
	CodeDatesPast       = "dates-past"   // warning
	CodeDuplicateName   = "duplicate-name"
	CodeNeverFires      = "never-fires"
	CodeNeverOpens      = "never-opens"
	CodeNeverReleases   = "never-releases" // an error of a window, a warning of one date
	CodeNoSchedule      = "no-schedule"
	CodeNoTimezone      = "no-timezone"
	CodeReservedName    = "reserved-name"
	CodeTooMany         = "too-many"
	CodeUnknownWindow   = "unknown-window"
	CodeClosingUnclear  = "closing-unclear" // neither or both of close and duration
	CodeScheduleOrphans = "no-open"         // close, duration or nth without open
)

// report collects problems of one window or freeze.
type report struct {
	window   Name
	freeze   int
	problems []Problem
	failed   bool
	samples  *int // how many readings may still be looked for to try out what the file has
}

// fail notes an error.
func (r *report) fail(field, code, message string) {
	r.failed = true
	r.problems = append(r.problems, Problem{Window: r.window, Freeze: r.freeze, Field: field, Code: code, Message: message})
}

// warn notes a warning.
func (r *report) warn(field, code, message string) {
	r.problems = append(r.problems, Problem{
		Window: r.window, Freeze: r.freeze, Field: field, Code: code, Message: message, Warning: true,
	})
}
