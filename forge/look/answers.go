package look

import (
	"time"

	"encoding/json"
)

// Connection is a page of a list.
type Connection[T any] struct {
	TotalCount int
	Nodes      []T
	PageInfo   pageInfo
}

type pageInfo struct {
	HasNextPage bool
	EndCursor   string
}

// Actor is an account.
type Actor struct {
	Typename string `json:"__typename"`
	Login    string
}

// RawStatus is the statuses of a commit.
type RawStatus struct{ Contexts []RawContext }

// RawContext is a commit status or a check run; Typename tells which.
type RawContext struct {
	Typename string `json:"__typename"`

	Context     string
	State       string
	Description *string
	CreatedAt   time.Time
	Creator     *Actor

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

// RawObject is an object of git.
type RawObject struct {
	Typename    string `json:"__typename"`
	Oid         string
	ByteSize    int
	IsBinary    *bool
	IsTruncated bool
	Text        *string
}

// RawCommitStatus is a commit with its statuses.
type RawCommitStatus struct {
	Oid    string
	Status *RawStatus
}

// CommitDate is when a commit was made, as its author's git says: hostile. A date that is none, or that JSON cannot write again, is
// the zero time, and no reason to understand nothing.
type CommitDate struct{ time.Time }

// UnmarshalJSON reads a date.
func (d *CommitDate) UnmarshalJSON(data []byte) error {
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
