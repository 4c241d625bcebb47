package window

// Calendar is the compiled windows and freezes of one file. It is immutable and safe for concurrent use.
type Calendar struct{}
