package report

import "slices"

// Freezes is what `sluice freeze` did.
type Freezes struct {
	Repositories []Freeze `json:"repositories"`
}

// Freeze is what became of one repository.
type Freeze struct {
	Repository string  `json:"repository"`
	Frozen     bool    `json:"frozen"`
	Until      Instant `json:"until"` // null: until somebody ends it, or it is not frozen
	Ended      bool    `json:"ended"` // it was frozen, and is no longer
	Error      *string `json:"error"` // null: it was done
}

// FreezeFailed is a repository of which nothing is known but why.
func FreezeFailed(name string, err error) Freeze {
	text := err.Error()
	return Freeze{Repository: name, Error: &text}
}

// Failed reports whether one was not done.
func (v Freezes) Failed() bool {
	return slices.ContainsFunc(v.Repositories, func(f Freeze) bool { return f.Error != nil })
}

// Comment is what `sluice override` wrote.
type Comment struct {
	PullRequest int    `json:"pull_request"`
	URL         string `json:"url"`
}
