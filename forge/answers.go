package forge

import (
	"encoding/json"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// What GitHub answers to the queries of queries.go, field by field. Pointers are what may be null.

type connection[T any] struct {
	TotalCount int
	Nodes      []T
	PageInfo   pageInfo
}

type pageInfo struct {
	HasNextPage bool
	EndCursor   string
}

type actor struct {
	Typename string `json:"__typename"`
	Login    string
}

type rawRepo struct {
	ID                 string
	DatabaseID         int64 `json:"databaseId"`
	IsArchived         bool
	IsDisabled         bool
	MergeCommitAllowed bool
	SquashMergeAllowed bool
	RebaseMergeAllowed bool
	DefaultBranchRef   *rawBase
}

type rawBase struct {
	Name          string
	RefUpdateRule *struct {
		RequiredStatusCheckContexts  []string
		RequiredApprovingReviewCount int
		RequiresCodeOwnerReviews     bool
	}
	Target *struct {
		Typename      string `json:"__typename"`
		Oid           string
		CommittedDate commitDate
		File          *rawEntry
		Status        *rawStatus
		History       *connection[rawParent]       // of a source
		Recent        *connection[rawCommitChecks] // of a source, if asked for
	}
}

type rawStatus struct{ Contexts []rawContext }

type rawParent struct {
	Oid             string
	CommittedDate   commitDate
	MessageHeadline string
	Parents         connection[struct{ Oid string }]
}

// rawRulesets is a branch with the rules that rulesets put on it. Of parameters only those of required checks are asked for.
type rawRulesets struct {
	Name  string
	Rules *connection[*struct {
		Type       string
		Parameters *struct {
			RequiredStatusChecks []struct{ Context string }
		}
	}]
}

type rawHistory struct {
	Oid     string
	History *connection[rawParent]
}

type rawCommitChecks struct {
	Oid                    string
	StatusCheckRollup      *rawRollup
	AssociatedPullRequests *connection[rawBecame]
}

type rawRollup struct {
	Contexts struct {
		connection[rawContext]
		CheckRunCount      int
		StatusContextCount int
	}
}

// rawBecame is a pull request that a commit is said to come from.
type rawBecame struct {
	Number            int
	Merged            bool
	BaseRefName       string
	HeadRefOid        string
	MergeCommit       *struct{ Oid string }
	StatusCheckRollup *rawRollup
}

type rawEntry struct {
	Oid    string
	Type   string
	Mode   int
	Object *rawObject
}

type rawObject struct {
	Typename    string `json:"__typename"`
	Oid         string
	ByteSize    int
	IsBinary    *bool
	IsTruncated bool
	Text        *string
}

type rawCommitStatus struct {
	Oid    string
	Status *rawStatus
}

type rawPull struct {
	thin       bool        // its details are not known
	fresh      bool        // they are this look's
	holed      bool        // nor all of the rest: what is not shown may look like an absence
	unread     plan.Unread // why they could not be read
	read       time.Time   // the snapshot's instant for which they were
	began      time.Time   // when that look began, by a clock that nobody sets
	detail     *rawPull    // that is to be kept; nil: it is kept, or not known
	ours       *rawContext // the status under our context, if it was asked for by name
	statusRead bool        // it was

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
	Author            *actor
	HeadRepository    *struct{ ID string }
	AutoMergeRequest  *struct{ MergeMethod string }
	BaseRef           *struct{ Target *struct{ Oid string } }
	Labels            *connection[struct{ Name string }]
	Files             *rawFiles
	Reviews           *connection[rawReview] `json:"latestOpinionatedReviews"`
	Commits           connection[rawCommit]
	StatusCheckRollup *rawReports
}

// rawReports is what was reported on a head: of details all of it, else what is asked for by name.
type rawReports struct {
	State  string
	Commit *struct {
		Oid    string
		Status map[string]*rawContext
	}
	Contexts connection[rawContext]
}

type rawFile struct {
	Path       string
	ChangeType string
}

type rawReview struct {
	State                     string
	AuthorCanPushToRepository bool
	Author                    *actor
	Commit                    *struct{ Oid string }
}

type rawCommit struct {
	Commit struct {
		Oid     string
		Parents connection[struct{ Oid string }]
	}
}

// rawContext is a commit status or a check run; Typename tells which.
type rawContext struct {
	Typename string `json:"__typename"`

	Context     string
	State       string
	Description *string
	CreatedAt   time.Time
	Creator     *actor

	Name        string
	Status      string
	Conclusion  *string
	StartedAt   *time.Time
	CompletedAt *time.Time
	CheckSuite  *struct {
		App *struct {
			DatabaseID *int64 `json:"databaseId"`
			Slug       string
		}
	}
}

// commitDate is when a commit was made, as its author's git says: hostile. A date that is none, or that JSON cannot write again, is
// the zero time, and no reason to understand nothing.
type commitDate struct{ time.Time }

// UnmarshalJSON reads a date.
func (d *commitDate) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return nil //nolint:nilerr // not even a text: as good as none
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Year() < 1 || t.Year() > 9999 {
		t = time.Time{}
	}
	d.Time = t
	return nil
}
