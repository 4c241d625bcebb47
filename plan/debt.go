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

// Withdrawable is how many successes can be taken back within half of a cutoff, at so many statuses a minute.
func Withdrawable(budget int, cutoff time.Duration) int {
	cutoff = min(cutoff, time.Hour) // more than a thousand are open nowhere, and less than that overflows
	return int(cutoff * time.Duration(budget) / (2 * time.Minute))
}
