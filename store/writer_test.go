package store

import (
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
