package plan

import "time"

// A green is a debt. GitHub never takes a success back by itself: it satisfies the required check of its name on every branch to
// which anybody brings the commit, for as long as it stands. So each success of ours is recorded before it is written, with what is
// to take its place and when, and is paid back then, whatever became of the pull request, group or look that it was for.

// Debt is one success of ours that stands, or may stand, on a commit. There is one at most for a commit and a context.
type Debt struct {
	Number      int64 // the store's: the later of two has the larger one. 0: not recorded yet
	SHA         SHA
	Context     Context
	For         Purpose
	Subject     Subject       // the pull request; of a group or a branch that moves, Base alone
	File        SHA           // names the blobs of the files by which it was given
	State       StatusState   // of the status that takes its place
	Description string        // of that status
	Ends        time.Time     // from when on it must not stand; zero: no instant ends it
	Cutoff      time.Duration // how long after Ends its window closes: half of that is the time there is to pay it
}

// patience is the time to pay what has no cutoff: more than what has one mostly takes.
const patience = 30 * time.Minute

// Deadline is until when a debt is to be paid that an instant ends. What has no cutoff, as it was called in from where nothing ended it, goes
// after what has one; but not what lets a branch move.
func (d Debt) Deadline() time.Time {
	switch {
	case d.Cutoff > 0:
		return d.Ends.Add(d.Cutoff / 2)
	case d.For == ForMove:
		return d.Ends
	}
	return d.Ends.Add(patience)
}

// CalledIn is the debt with an end at once. Its deadline is no earlier than it was: what many may call in at any time is paid after what has
// less time, for which room was kept.
func (d Debt) CalledIn(at time.Time) Debt {
	if d.Cutoff > 0 && at.Before(d.Ends) {
		d.Cutoff += 2 * d.Ends.Sub(at)
	}
	d.Ends = at
	return d
}

// MaxStatuses is how many statuses on one commit and context leave too few of the thousand that GitHub takes, whoever sets them: a
// success that was the last of them could never be taken back.
const MaxStatuses = 900

// Purpose is what a success was given for.
type Purpose string

// The purposes of a success.
const (
	ForPull  Purpose = "pull"
	ForGroup Purpose = "group"
	ForMove  Purpose = "move" // of a windowed branch
)

// Due reports whether the debt is to be paid at an instant.
func (d Debt) Due(at time.Time) bool { return !d.Ends.IsZero() && !at.Before(d.Ends) }

// SameTerms reports whether two debts of one commit and context are the same but for their numbers.
func (d Debt) SameTerms(other Debt) bool {
	d.Number = other.Number
	return d.Ends.Equal(other.Ends) && d.with(other.Ends) == other
}

// with is the debt with another end.
func (d Debt) with(ends time.Time) Debt {
	d.Ends = ends
	return d
}

// Sooner reports whether the debt ends before another one.
func (d Debt) Sooner(other Debt) bool {
	return !d.Ends.IsZero() && (other.Ends.IsZero() || d.Ends.Before(other.Ends))
}

// Payment is the write that pays the debt.
func (d Debt) Payment() SetStatus {
	return SetStatus{Pin: Pin{SHA: d.SHA}, Context: d.Context, State: d.State, Description: d.Description}
}

// Status is the status that pays the debt.
func (d Debt) Status() Status {
	return Status{Context: d.Context, State: d.State, Description: d.Description}
}

// Closure is a pull request or merge group that is open no more, or stands at another head or base than it did.
type Closure struct {
	Subject Subject
	SHA     SHA  // its head at the end
	Merged  bool // that head was merged into the base
}

// Hour is one of GitHub's budgets of one installation.
type Hour struct {
	Limit   int       // requests of a whole hour; 0: unlimited
	Left    int       // of the present one
	Renewed time.Time // when the next begins; zero: GitHub did not say
}
