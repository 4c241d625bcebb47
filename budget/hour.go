package budget

import (
	"math"
	"time"
)

const (
	// HourlyDefault is what GitHub grants in an hour at least.
	HourlyDefault = 5000
	sameHour      = time.Minute // ends that differ by less are of one hour: GitHub names them to the second, on its clock
)

// Account is what a request is paid from. Each has an hour of its own: when one is spent the other goes on, and a status is taken back
// although no look can be paid.
type Account int

// The accounts, and how many there are.
const (
	REST Account = iota
	GraphQL
	accounts = 2
)

// Quota is one of GitHub's budgets of an hour.
type Quota struct {
	Limit   int       // of a whole hour
	Left    int       // of this one; the largest number where GitHub did not say
	Renewed time.Time // when the next hour begins; zero where GitHub did not say
}

// Quotas are what an installation may still send.
type Quotas struct {
	REST    Quota // requests
	GraphQL Quota // points
	Content Quota // merges and updates of a minute or an hour, whichever leaves less; Renewed is when many are free again
}

// hour is what GitHub grants in an hour from one account.
type hour struct {
	limit   int       // by GitHub's last word; 0: not heard
	left    int       // likewise, of this hour
	renewed time.Time // when that ends, and left says nothing more
	flying  int       // what requests under way cost
	held    int       // what is kept for debts
}

// quota is what is left of it.
func (h *hour) quota(now time.Time) Quota {
	b := Quota{Limit: h.limit, Left: math.MaxInt}
	if h.limit == 0 {
		b.Limit = HourlyDefault
	}
	if now.Before(h.renewed) {
		b.Left, b.Renewed = max(0, h.left-h.flying), h.renewed
	}
	return b
}

// hear takes in what an answer says of an hour, of which the limit may not be known, or the rest. Answers come in any order: within an hour the
// least is right.
func (h *hour) hear(said Quota, now time.Time) {
	if said.Limit > 0 {
		h.limit = said.Limit
	}
	if said.Renewed.IsZero() {
		return
	}
	if now.Before(h.renewed) && said.Renewed.Sub(h.renewed).Abs() < sameHour {
		said.Left = min(said.Left, h.left)
	} else if !h.renewed.IsZero() {
		h.held = 0 // it was of the hour before
	}
	h.left, h.renewed = said.Left, said.Renewed
}
