package reconcile

import (
	"time"

	"github.com/sluicegate/sluice/plan"
)

// A look reads the details of those pull requests alone that are new or look different. What is not seen from outside, because our own
// pending status hides it or GitHub changes no date for it, is asked for by name: what rests on checks and reviews, when an event may have
// been about it ([event.Log] Named) and at each resync, as events are lost; and what falls due.

// attention is what the next looks read in full, as the last plan shows it.
type attention struct {
	lively []int // that wait for checks or reviews, or are released as long as these stay
	due    []due
}

// due is a pull request that is held until an instant.
type due struct {
	pull int
	at   time.Time
}

// attentionTo is what a plan shows.
func attentionTo(p plan.Plan) attention {
	var a attention
	for _, v := range p.Verdicts {
		switch {
		case v.Subject.Pull == 0:
		case v.Kind == plan.Waiting, v.Kind == plan.Release, v.Kind == plan.Overridden:
			a.lively = append(a.lively, v.Subject.Pull)
		case v.Kind == plan.Held && !v.Until.IsZero():
			a.due = append(a.due, due{v.Subject.Pull, v.Until})
		}
	}
	return a
}

// full lists what a look at an instant reads in full, what is due first.
func (a attention) full(at time.Time, lively bool) []int {
	var all []int
	for _, d := range a.due {
		if !d.at.After(at) {
			all = append(all, d.pull)
		}
	}
	if lively {
		all = append(all, a.lively...)
	}
	return all
}
