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

// UnmarshalJSON implements json.Unmarshaler.
func (t *Instant) UnmarshalJSON(data []byte) error {
	var at *time.Time
	if err := json.Unmarshal(data, &at); err != nil {
		return err
	}
	t.Time = time.Time{}
	if at != nil {
		t.Time = *at
	}
	return nil
}
