package forge

import (
	"time"

	json "github.com/go-json-experiment/json/v1"
)

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

type rawStatus struct{ Contexts []rawContext }

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
