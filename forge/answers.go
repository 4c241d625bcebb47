package forge

import (
	"time"

	"github.com/sluicegate/sluice/forge/branches"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// What GitHub answers to the queries of queries.go, field by field. Pointers are what may be null.

type rawRepo struct {
	ID                 string
	DatabaseID         int64 `json:"databaseId"`
	IsArchived         bool
	IsDisabled         bool
	MergeCommitAllowed bool
	SquashMergeAllowed bool
	RebaseMergeAllowed bool
	DefaultBranchRef   *branches.RawBase
	Freeze             *struct {
		Target *struct{ Oid, Message string }
	}
}

// frozen is the freeze that the repository shows. That of a tip that is not shown has no end.
func (r *rawRepo) frozen() plan.Freeze {
	switch {
	case r.Freeze == nil:
		return plan.Freeze{}
	case r.Freeze.Target == nil:
		return plan.FreezeOf("?", "")
	}
	return plan.FreezeOf(plan.SHA(r.Freeze.Target.Oid), r.Freeze.Target.Message)
}

type rawPull struct {
	thin       bool             // its details are not known
	fresh      bool             // they are this look's
	holed      bool             // nor all of the rest: what is not shown may look like an absence
	unread     plan.Unread      // why they could not be read
	read       time.Time        // the snapshot's instant for which they were
	began      time.Time        // when that look began, by a clock that nobody sets
	detail     *rawPull         // that is to be kept; nil: it is kept, or not known
	ours       *look.RawContext // the status under our context, if it was asked for by name
	statusRead bool             // it was

	Number            int
	Title             string
	State             string
	CreatedAt         time.Time
	UpdatedAt         time.Time
	IsDraft           bool
	IsCrossRepository bool
	HeadRefName       string
	HeadRefOid        string
	BaseRefName       string
	Mergeable         string
	MergeStateStatus  string
	ReviewDecision    *string
	ChangedFiles      int
	Author            *look.Actor
	HeadRepository    *struct{ ID string }
	AutoMergeRequest  *struct{ MergeMethod string }
	BaseRef           *struct{ Target *struct{ Oid string } }
	Labels            *look.Connection[struct{ Name string }]
	Files             *rawFiles
	Reviews           *look.Connection[rawReview] `json:"latestOpinionatedReviews"`
	Commits           look.Connection[rawCommit]
	StatusCheckRollup *rawReports
}

// rawReports is what was reported on a head: of details all of it, else what is asked for by name.
type rawReports struct {
	State  string
	Commit *struct {
		Oid    string
		Status map[string]*look.RawContext
	}
	Contexts look.Connection[look.RawContext]
}

type rawFile struct {
	Path       string
	ChangeType string
}

type rawReview struct {
	State                     string
	AuthorCanPushToRepository bool
	Author                    *look.Actor
	Commit                    *struct{ Oid string }
}

type rawCommit struct {
	Commit struct {
		Oid     string
		Parents look.Connection[struct{ Oid string }]
	}
}
