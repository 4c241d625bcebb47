package gitremote

import (
	"context"
	"fmt"
)

// Bounds of what reading one repository may cost: a clone on disk while it is open, a remote for all its requests. What real
// ones have stands beside each: kubernetes/kubernetes has some 1.3 GB and 130,000 commits; a fleet's repository of ten years has
// some hundred MB.
const (
	maxReceived  = 2 << 30   // bytes of packs from a server: more than all of kubernetes, where whole histories are rarely asked for
	maxInflated  = 16 << 30  // bytes that objects inflate to, with those that deltas make, each time that they are read
	freeInflated = 512 << 20 // of them without more ado: all that a fleet's repository needs where the server has filters
	perByte      = 32        // of them for each byte that was received, or that the files read have: git's packs make 3, and are read up to 5 times
	maxObject    = 1 << 30   // bytes of one object that is passed over; GitHub allows no file of more than 100 MB
	maxObjects   = 12 << 20  // objects of one pack; the Linux kernel has 11 million
	maxLooked    = 2 << 20   // objects of one kind that one pass looks into; more than MaxCommits commits are an error anyway
	maxChain     = 4095      // deltas upon each other: the most that git writes; it makes 50 unless it is asked for more
	stepCost     = 256       // bytes that going to an object counts for: without it, small objects upon each other would be free
)

// budget is what was spent of those bounds: bytes received or of the files that were read, and what they inflated to.
type budget struct{ received, inflated int64 }

// meter spends a budget for as long as somebody waits for it: everything that is read asks it, so that nothing goes on long
// after its caller has had enough.
type meter struct {
	ctx   context.Context
	spent *budget
}

// spend counts bytes that an object made. The error ends what is being read.
func (m meter) spend(n int) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	m.spent.inflated += int64(n)
	if at := m.spent.inflated; at > maxInflated || at > freeInflated+perByte*m.spent.received {
		return fmt.Errorf("%w: "+sayInflated, ErrTooLarge, m.spent.received>>20, at>>20)
	}
	return nil
}

// Write counts bytes that are passed over.
func (m meter) Write(p []byte) (int, error) { return len(p), m.spend(len(p)) }
