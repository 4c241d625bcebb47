package budget

import (
	"context"
	"sync/atomic"
)

// Class says what a request is for. Where a budget runs low, those of a higher class go on while the others wait.
type Class int

// The classes, from the one that waits first.
const (
	// Resync is for a look at what nobody is known to have changed.
	Resync Class = iota - 1
	// Event is for what somebody did, and for a context without a class.
	Event
	// Opening is for what an opening needs (its looks, its merges and its moves), and for a look at what stands green and may have to be taken back.
	Opening
	// Debt is for a success that must be taken back, and for the rest of a unit that has begun. It waits for nothing but what GitHub
	// would refuse.
	Debt
)

type classKey struct{}

// WithClass gives a context whose requests are of a class.
func WithClass(ctx context.Context, c Class) context.Context {
	return context.WithValue(ctx, classKey{}, c)
}

// ClassOf is the class of a context's requests.
func ClassOf(ctx context.Context) Class {
	c, _ := ctx.Value(classKey{}).(Class)
	return c
}

// pace is the part of a minute's points that a class may fill: an opening finds room amid any number of events, and a debt amid any
// number of openings.
func (c Class) pace() float64 {
	switch c {
	case Debt:
		return 1
	case Opening:
		return 0.95
	case Event:
		return 0.8
	default:
		return 0.5
	}
}

// Sustained is how many of a minute's points debts can count on, whatever was sent before: what events filled comes free within a minute,
// but not at once.
func Sustained(pace int) int { return pace - pace/3 }

// reserve is how much of an hour a class leaves to those above it.
func (c Class) reserve(limit int) int {
	switch c {
	case Debt, Opening:
		return 0
	case Event:
		return EventReserve(limit)
	default:
		return limit / 4
	}
}

// EventReserve is how much of an hour's budget events leave to openings and debts: a tenth.
func EventReserve(limit int) int { return limit / 10 }

type billKey struct{}

// Bill is what was sent with a context: requests, and points of GraphQL, as far as is known before the answer.
type Bill struct{ Requests, Points atomic.Int64 }

// WithBill gives a context of which it is counted what is sent.
func WithBill(ctx context.Context, s *Bill) context.Context {
	return context.WithValue(ctx, billKey{}, s)
}

// Spend counts what is sent with a context, if it is counted.
func Spend(ctx context.Context, requests, points int) {
	if s, ok := ctx.Value(billKey{}).(*Bill); ok {
		s.Requests.Add(int64(requests))
		s.Points.Add(int64(points))
	}
}
