package forge

import (
	"encoding/json"
	"time"

	"github.com/sluicegate/sluice/forge/branches"
	"github.com/sluicegate/sluice/forge/client"
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
	Freeze             json.RawMessage
}

// frozen is the freeze that the repository shows; null: none. That of a tip that is not shown has no end.
func (r *rawRepo) frozen() (plan.Freeze, error) {
	var ref *struct {
		Target *struct {
			Oid, Message string
			Author       gitActor
		}
	}
	if err := json.Unmarshal(r.Freeze, &ref); err != nil {
		return plan.Freeze{}, client.Unreadable(err)
	}
	switch {
	case ref == nil:
		return plan.Freeze{}, nil
	case ref.Target == nil:
		return plan.FreezeOf("?", ""), nil
	}
	f := plan.FreezeOf(plan.SHA(ref.Target.Oid), ref.Target.Message)
	f.Author = ref.Target.Author.login()
	return f, nil
}

// gitActor is whom a commit names, and the account that GitHub takes them for: whoever made the commit may have named anybody.
type gitActor struct {
	User *struct{ Login string }
}

// login is the account; "" if there is none.
func (a gitActor) login() plan.Login {
	if a.User == nil {
		return ""
	}
	return plan.Login(a.User.Login)
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
	Body              *body
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

// body is the text of a pull request, as far as it matters: it may have 64 KiB.
type body struct{ plan.NotBefore }

// UnmarshalJSON reads a text.
func (b *body) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	b.NotBefore = plan.NotBeforeOf(text)
	return nil
}

// notBefore is what the text says, of details that are known; a text that is not shown cannot be read.
func (raw *rawPull) notBefore() plan.NotBefore {
	switch {
	case raw.thin:
		return ""
	case raw.Body == nil:
		return unshown
	}
	return raw.Body.NotBefore
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
