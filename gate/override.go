package gate

import (
	"strings"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// An override releases one head although a window of it is closed, in its cutoff or frozen. It replaces that and nothing else: it is given the
// place of what the calendar says, and every other rule stands. So what rests on an opening that ends (the success, its debt, the merge's pin)
// rests on it alike. A merge group has none.

// heed lets an override take the place of what closed windows say of a case.
func (j *judge) heed(d *pullCase) {
	if _, never := neverTogether(d); never || d.open.Releasable || d.pull.Number == 0 {
		return
	}
	over, told := j.s.Override(d.policy.Override, 1, d.about)
	d.over, d.told, d.open.next = over, told, plan.Soonest(d.open.next, over.Until)
	if over.Is() {
		d.open = opening{Releasable: true, Until: over.Until, next: d.open.next}
	}
}

// about reports whether a comment is about what the case decides on, and why it does not count. What was written before sluice saw this
// head here was about another one: two heads may begin with the same digits, and a pull request may have gone into another base.
func (d *pullCase) about(c plan.Command) (why string, is bool) {
	switch {
	case c.Pull != d.pull.Number || c.Branch != "":
		return "", false
	case c.Verb == plan.ToRelease && !strings.HasPrefix(string(d.pull.Head), string(c.SHA)):
		return "its head is " + d.pull.Head.Short() + " now", true
	case c.Verb == plan.ToRelease && c.At.Before(d.firstSeen().Add(clockError-d.s.Skew)):
		return "sluice saw this head later: write it again", true
	}
	return "", true
}

// rechecked is when somebody asked last who may write to try again what GitHub refused; zero: nobody did.
func (d *pullCase) rechecked() (at time.Time) {
	for _, c := range d.s.Commands {
		if c.Verb == plan.ToRecheck && c.Pull == d.pull.Number && c.Permit == plan.Permitted && c.At.After(at) {
			at = c.At.Add(d.s.Skew)
		}
	}
	return at
}

// clockError is by how much our clock may be further from GitHub's than a read shows: its times are in whole seconds.
const clockError = time.Second
