package forge

import (
	"fmt"
	"time"
)

// Kind says what a failed call to GitHub means for who made it.
type Kind string

// The kinds of failure.
const (
	// Refused: GitHub understood and says no. The same call on the same state would be refused again.
	Refused Kind = "refused"
	// Transient: the same call may well work in a moment. Whether a write was done is not known.
	Transient Kind = "transient"
	// AlreadyMerged: the pull request was merged before, by whomever; Merge gives the merge's commit beside it if known.
	AlreadyMerged Kind = "already merged"
	// Limited: GitHub's limits or our own pace. Nothing was sent, or GitHub did nothing. Come back at Until.
	Limited Kind = "limited"
	// Gone: what was named is not there (any more), or not for us. From Observe: the repository or the installation.
	Gone Kind = "gone"
	// Unauthorized: GitHub does not take our key or token, a fresh token included.
	Unauthorized Kind = "unauthorized"
)

// Error is a failed call to GitHub. Branch on it with errors.As.
type Error struct {
	Kind   Kind
	Until  time.Time // Limited: when to come back; else zero
	Reason string    // for people, one line; GitHub's own words if it gave any (hostile text)
	Err    error     // what lies below; may be nil
}

// Error implements error.
func (e *Error) Error() string {
	if e.Kind == Limited {
		return fmt.Sprintf("%s until %s: %s", e.Kind, e.Until.UTC().Format(time.RFC3339), e.Reason)
	}
	return fmt.Sprintf("%s: %s", e.Kind, e.Reason)
}

// Unwrap gives what lies below.
func (e *Error) Unwrap() error { return e.Err }
