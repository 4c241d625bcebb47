package gate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// Each success says by a debt until when it is true, and what takes its place then. What an instant ends is paid without us; here
// is decided what else ends a debt, which successes stand that nobody has recorded, and how many may stand at once.

// maxCalledIn is how many debts without an end one look calls in because the file is another; the rest follow, as many a minute.
// They are as many as heads were ever green, and must not delay those that an instant ends.
const maxCalledIn = 60

// debt is what a success on the case's head would owe.
func (d *pullCase) debt() plan.Debt {
	debt := plan.Debt{
		SHA: d.pull.Head, Context: d.context, For: plan.ForPull,
		Subject: plan.Subject{Pull: d.pull.Number, Base: d.pull.Base}, File: filesOf(d.s, d.pull.Base),
		State: plan.Pending, Description: wordRulesChanged,
	}
	if d.ends() {
		debt.Ends, debt.Description = d.open.Until, plan.Brief(d.reasonAt(d.open.Until))
		if cutoff := d.shortestCutoff(); cutoff < math.MaxInt64 {
			debt.Cutoff = cutoff
		}
	}
	return debt
}

// hasUnseenDebt reports whether a success of ours is recorded for the case's head and none is seen: where statuses could not be read, it may
// stand all the same.
func (d *pullCase) hasUnseenDebt() bool {
	return len(d.pull.Ours) == 0 && slices.ContainsFunc(d.s.Debts, func(o plan.Debt) bool { return plan.PlaceOf(o.SHA, o.Context) == d.place() })
}

// ends reports whether an instant ends what the case's ruling gives.
func (d *pullCase) ends() bool {
	return d.ruling.released() && d.mode() == config.Enforce && !d.open.Until.IsZero()
}

// filesOf names what a ruling on a base rests on: its own file's blob; on another than the default branch, the default branch's,
// whose `branches` count everywhere; and where what reads the files decides, the tip at which that was read.
func filesOf(s *plan.Snapshot, base plan.Branch) plan.SHA {
	b := s.Bases[base]
	out := b.File
	if base != s.Default {
		out += "+" + s.Bases[s.Default].File
	}
	if b.Policy != nil && b.Policy.Flux && b.Policy.Mode == config.Enforce {
		out += "@" + b.Tip
	}
	return out
}

// reasonAt is the reason of the case at an instant at which its windows are closed.
func (d *pullCase) reasonAt(at time.Time) string {
	later := *d
	later.at, later.open = at, openingOf(d.asks, at)
	if later.open.Releasable {
		return wordRulesChanged
	}
	if later.ruling.ahead {
		return later.sayAhead(later.sayHeld(), later.open.Closed)
	}
	return later.sayHeld()
}

// spent: too few statuses are left for one that could be taken back.
func spent(d *pullCase) (ruling, bool) {
	if d.pull.Statuses < plan.MaxStatuses {
		return ruling{}, false
	}
	return ruling{kind: plan.Blocked, reason: wordStatusesSpent}, true
}

// debts are the debts whose terms are others than those that are recorded, and those that a merge redeemed.
func (j *judge) debts(out *plan.Plan) {
	recorded := map[plan.Place]plan.Debt{}
	for _, d := range j.s.Debts {
		recorded[plan.PlaceOf(d.SHA, d.Context)] = d
	}
	for _, want := range j.standing {
		if have, ok := recorded[plan.PlaceOf(want.SHA, want.Context)]; !ok || have.Number == 0 || !want.SameTerms(have) {
			out.Debts = append(out.Debts, want)
		}
	}
	j.callIn(out)
	j.adopt(out, recorded)
}

// callIn ends the debts of what is closed, retargeted, pushed to or dissolved. What is open is decided on by itself.
func (j *judge) callIn(out *plan.Plan) {
	calledIn := 0
	for _, d := range slices.SortedFunc(slices.Values(j.s.Debts), func(x, y plan.Debt) int { return cmp.Compare(x.Number, y.Number) }) {
		if d.For == plan.ForMove || j.decided[plan.PlaceOf(d.SHA, d.Context)] || d.Due(j.s.At) {
			continue
		}
		over, merged := j.over(d)
		_, approval := d.Context.Approves() // which is about a pull request, where a status is about a commit: what is true of that may stay
		switch {
		case merged && d.Number != 0:
			out.Redeemed = append(out.Redeemed, d.Number)
			continue
		case d.Number == 0 && (merged || !over): // the store could not keep it: it has no number by which to end it yet
			out.Debts = append(out.Debts, d)
			continue
		case over && (approval || !d.Ends.IsZero()):
		case over && j.fileChanged(d) && calledIn < maxCalledIn:
			calledIn++
		case over && j.fileChanged(d):
			j.alarm.LookAt(j.s.At.Add(plan.LookAgain))
			continue
		default:
			continue
		}
		if d.Description = plan.Brief(sayOver(d)); j.fileChanged(d) {
			d.Description = wordRulesChanged
		}
		out.Debts = append(out.Debts, d.CalledIn(j.s.At))
	}
}

// over reports whether what a success was given for is over, and whether it ended with a merge. Neither is assumed: a pull request
// that is not among the open ones has to be known to be closed.
func (j *judge) over(d plan.Debt) (over, merged bool) {
	for _, p := range j.s.Pulls {
		if d.For == plan.ForPull && p.Number == d.Subject.Pull {
			base := j.bases[p.Base]
			return p.Head != d.SHA || p.Base != d.Subject.Base || (base != nil && base.File == "" && !base.Unread.Is()), false
		}
	}
	for _, c := range j.s.Closed {
		if c.Subject.Pull != d.Subject.Pull || (d.For == plan.ForGroup && c.SHA != d.SHA) {
			continue
		}
		return true, c.Merged && c.SHA == d.SHA && c.Subject.Base == d.Subject.Base
	}
	return false, false
}

// fileChanged reports whether the files, or the tip that was read, are known to be others than those by which a success was given.
func (j *judge) fileChanged(d plan.Debt) bool {
	for _, name := range []plan.Branch{d.Subject.Base, j.s.Default} {
		if base, known := j.bases[name]; !known || base.Unread.Is() {
			return false
		}
	}
	return filesOf(&j.s, d.Subject.Base) != d.File
}

// adopt records successes that nobody recorded, on what pull requests left behind.
func (j *judge) adopt(out *plan.Plan, recorded map[plan.Place]plan.Debt) {
	for _, p := range j.s.Forgotten {
		now, stands := plan.Latest(p.Ours)
		at := plan.PlaceOf(p.Head, now.Context)
		if _, known := recorded[at]; known || j.decided[at] || !stands || now.By != j.s.Us || now.State != plan.Success {
			continue
		}
		name, base := j.baseOf(now.Context)
		d := plan.Debt{
			SHA: p.Head, Context: now.Context, For: plan.ForPull,
			Subject: plan.Subject{Pull: p.Number, Base: cmp.Or(name, p.Base)}, State: plan.Pending,
		}
		d.Description = plan.Brief(sayOver(d))
		if base != nil && base.Policy != nil && base.Policy.Mode == config.Observe {
			d.File = filesOf(&j.s, name)
		} else {
			d.Ends = j.s.At
		}
		recorded[at] = d
		out.Debts = append(out.Debts, d)
	}
}

// baseOf is the base that a context names, whatever its pull request targets by now; nil if it is not among those that were read.
func (j *judge) baseOf(context plan.Context) (plan.Branch, *plan.Base) {
	for name, base := range j.bases {
		if context.Is(plan.ContextFor(name)) {
			return name, base
		}
	}
	return "", nil
}

// newRoom counts what stands but for what is decided on anew.
func (j *judge) newRoom(anew map[plan.Place]bool) *plan.Room {
	r := plan.NewRoom(j.s.Terms())
	for _, d := range j.s.Others {
		r.AddOther(d)
	}
	for _, d := range j.s.Debts {
		if !d.Ends.IsZero() && !anew[plan.PlaceOf(d.SHA, d.Context)] {
			r.Add(d)
		}
	}
	return r
}

// crowded takes room for one more success of a case, or says why there is none. A success that stands already gives way to nobody's share.
func (j *judge) crowded(d *pullCase, debt plan.Debt) string {
	short := j.room.Lacks(debt)
	switch {
	case j.s.Budget > 0 && d.shortestCutoff() == 0:
		return wordNoCutoff
	case short == plan.OfHour:
		return wordHourSpent
	case short == plan.OfPace:
		j.lacks = j.lacks || j.room.InShare(debt)
		return wordTooManyGreen
	case short == plan.OfShare && d.isGreen() == 0:
		return wordShareSpent
	}
	j.room.Add(debt)
	return ""
}

// give makes room for those that are green for people to merge, those first that are green already. Those without room are held.
func (j *judge) give(cases []*pullCase) {
	due := pick(cases, func(d *pullCase) bool {
		return d.ends() && d.ruling.people != "" && !d.ruling.shared
	})
	anew := map[plan.Place]bool{}
	for _, d := range due {
		anew[d.place()] = true
		anew[plan.PlaceOf(d.pull.Head, plan.ApprovalOf(d.pull.Number))] = true
	}
	for _, g := range j.s.Groups {
		anew[plan.PlaceOf(g.Head, plan.ContextFor(g.Base))] = true
	}
	j.room = j.newRoom(anew)
	slices.SortStableFunc(due, func(x, y *pullCase) int { return y.isGreen() - x.isGreen() })
	for _, d := range due {
		if why := j.crowded(d, d.debt()); why != "" {
			d.ruling = ruling{kind: plan.Held, reason: why, wake: d.open.next}
		} else if d.approves() && j.crowded(d, d.approval()) != "" {
			d.ruling.people = sayByHand(wordApprovalsFull)
			d.ruling.reason = d.sayReleased(d.ruling.people)
		}
	}
}
