package plan

import "time"

// Bound is a lower bound on reads: how GitHub's webhook says that something stood. A read that shows less is older than the event, as
// GitHub's reads lag its webhooks. One of its parts is set, or none: then there is nothing to compare a read with.
type Bound struct {
	Pull  PullState   // Number is 0 in none
	Push  Push        // Branch is "" in none
	Check CheckResult // SHA is "" in none

	Comment CommentState // ID is 0 in none
}

// CommentState is whether a comment says something to sluice, as its author wrote it.
type CommentState struct {
	ID   int64
	Pull int
	Says bool // false: it was edited or deleted since
}

// PullState is how a pull request stood at an instant of GitHub's clock, whose seconds are whole.
type PullState struct {
	Number      int
	UpdatedAt   time.Time
	Head        SHA
	Base        Branch
	Open, Draft bool
	Labels      LabelSet
}

// Push is one move of a branch: Before "" made it, After "" deleted it.
type Push struct {
	Branch        Branch
	Before, After SHA
}

// CheckResult is what was reported on a commit under a context, at an instant of GitHub's clock.
type CheckResult struct {
	SHA     SHA
	Context Context
	At      time.Time
	State   CheckState
}

// LabelSet names what people hold a pull request by, a set of labels with what its text says: two are equal if these are, as far as a hash tells.
// Labels themselves may be long, and are not kept.
type LabelSet uint64

// LabelSetOf names a set of labels, in whatever order, and what the text beside them says.
func LabelSetOf(labels []string, says NotBefore) LabelSet {
	var sum uint64
	for _, label := range append(labels[:len(labels):len(labels)], notBeforeKey+string(says)) {
		h := uint64(14695981039346656037) // FNV-1a; package hash is not for packages that only compute
		for i := range len(label) {
			h = (h ^ uint64(label[i])) * 1099511628211
		}
		sum += h
	}
	return LabelSet(sum)
}

// MetBy reports whether a read that shows a pull request so is no older than the event that announced it: it is later, or of the same
// second and the same.
func (s PullState) MetBy(read PullState) bool {
	later := read.UpdatedAt.Compare(s.UpdatedAt)
	read.UpdatedAt = s.UpdatedAt // one instant may be written in several ways
	return later > 0 || later == 0 && read == s
}
