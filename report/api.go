package report

import (
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/window"
)

// Standing is what was decided of a repository at the last look, of which Plan.At is the instant.
type Standing struct {
	Repository string `json:"repository"`
	Plan
	Next     Instant  `json:"next_look"` // null: the resync's
	More     int      `json:"more"`      // verdicts that were not kept
	Warnings []string `json:"warnings"`
}

// Explained is a pull request with how its verdict came about.
type Explained struct {
	Pull
	At    Instant `json:"at"` // of the last look
	Title string  `json:"title"`
	Whole string  `json:"whole_reason"` // where reason shows 140 characters
	Steps []Step  `json:"steps"`
	Then  *Then   `json:"then"` // null: no instant was asked about
}

// Then is what the windows of a pull request say at an instant, as the file of the default branch has them; checks, reviews and labels are not foreseen.
type Then struct {
	At         Instant          `json:"at"`
	Releasable bool             `json:"releasable"` // all of the windows are
	Until      Instant          `json:"until"`      // the next change of that
	Closed     []window.Name    `json:"closed"`
	Other      []layout.Release `json:"other"` // releases that are no windows of that file
}

// ThenOf asks a calendar about some releases.
func ThenOf(c *window.Calendar, releases []layout.Release, at time.Time) *Then {
	v := &Then{At: Instant{at}, Closed: []window.Name{}, Other: []layout.Release{}}
	var names []window.Name
	for _, r := range releases {
		if c.Has(window.Name(r)) {
			names = append(names, window.Name(r))
		} else {
			v.Other = append(v.Other, r)
		}
	}
	j := c.Joint(names, at)
	v.Releasable, v.Until, v.Closed = j.Releasable, Instant{j.Until}, append(v.Closed, j.Closed...)
	return v
}

// Step is one finding on the way to a verdict: a path with its releases and the rule, or a chain, or what else was looked at.
type Step struct {
	About string `json:"about"`
	Says  string `json:"says"`
}

// HistoryPage is some of a history, the newest act first.
type HistoryPage struct {
	History
	Next *string `json:"next"` // to be asked for as after; null: this was the last page
}

// Problem is an answer that is none, by RFC 9457.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// Findings is what is wrong with the file that would be written, with lines and columns of it.
	Findings []config.Finding `json:"errors,omitempty"`
}

// Edited is an edit of the file on GitHub.
type Edited struct {
	Edit
	Blob   string   `json:"blob"` // the file that was edited, for If-Match
	Commit string   `json:"commit"`
	Branch string   `json:"branch"`       // that has the commit
	Pull   *Comment `json:"pull_request"` // null: it is on the default branch, or nothing was written
}
