package store

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestShortWritesGoFirst: of the writes that wait, the short ones share the next transaction with one of those that may be long, and of
// these alone there are few in one, so that a short one that comes meanwhile does not wait for all of them.
func TestShortWritesGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Store{ops: make(chan *op), first: make(chan *op)}
		short := &op{}
		for range 3 * longMost {
			go func() { s.ops <- &op{} }()
		}
		for range 10 {
			go func() { s.first <- short }()
		}
		synctest.Wait()
		for _, want := range [][2]int{{1, 10}, {longMost, 0}, {longMost, 0}, {longMost - 1, 0}, {0, 0}} {
			var got [2]int
			for _, o := range s.gather(nil) {
				if o == short {
					got[1]++
				} else {
					got[0]++
				}
			}
			if got != want {
				t.Errorf("%d that may be long and %d short ones in one transaction, want %d and %d", got[0], got[1], want[0], want[1])
			}
		}
	})
}

// Who leaves while his write is under way gets nothing of it, and shares no variable with it (seen by the race detector).
func TestWhoLeavesSharesNothing(t *testing.T) {
	s, wrote := &Store{first: make(chan *op)}, make(chan error)
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		o := <-s.first
		leave()
		wrote <- o.do(t.Context(), nil)
	}()
	got, err := doFirst(ctx, s, func(context.Context, *session) (bool, error) { return true, nil })
	if got || !errors.Is(err, context.Canceled) {
		t.Errorf("%t, %v", got, err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}
