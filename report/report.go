// Package report is what commands show, and what a page or an API can: values, and their JSON, which others run scripts by. It
// reads nothing and decides nothing.
package report

import (
	"encoding/json"
	"time"
)

// Instant is an instant in JSON: RFC 3339 in UTC, null if there is none.
type Instant struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t Instant) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(t.UTC().Format(time.RFC3339))
}
