package gate

import (
	"slices"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// Our approving review is a success at a place of its own ([plan.ApprovalOf]), beside the status and for as long: a debt like it, decided by the same ruling,
// taken back at the same instant. It is given to what nothing but people keeps from being merged, and to one head. A review's commit is what it is about and no
// condition, so while ours stands on another head, whatever that is, it is taken back.

// overdueMost is how long an approval may be due before no other is given in its repository: GitHub seems not to let us dismiss any.
const overdueMost = time.Minute

// approves reports whether sluice approves the head. A review is of one pull request: another one's ruling gives none, as it merges none.
func (d *pullCase) approves() bool {
	return d.ruling.released() && d.ruling.people == wordPeopleApproved && !d.ruling.shared && d.policy.Mode == config.Enforce
}

// unapproved is why sluice does not approve what the file has it approve; "": it does.
func (d *pullCase) unapproved() string {
	again, reason := d.refusal()
	switch {
	case d.base.Keeps:
		return phrase(sayKeepsReviews, d.pull.Base)
	case d.s.Us != "" && d.pull.Author == d.s.Us:
		return wordOwnPull
	case d.pull.Approval != plan.Approval{On: d.pull.Head, Stands: true} && slices.ContainsFunc(d.s.Debts, func(o plan.Debt) bool { return overdue(o, d.at) }):
		return wordApprovalOverdue
	case d.at.Before(again):
		return phrase(sayUnapproved, plan.Clean(reason))
	}
	return ""
}

func overdue(o plan.Debt, at time.Time) bool {
	_, approval := o.Context.Approves()
	return approval && o.Due(at) && at.Sub(o.Ends) > overdueMost
}

// approval is the debt of our approval of the head.
func (d *pullCase) approval() plan.Debt {
	debt := d.debt()
	debt.Context = plan.ApprovalOf(d.pull.Number)
	return debt
}

// approvals are the reviews of ours that are not what they should be, also where no file is any more by which they were given.
func (j *judge) approvals(cases []*pullCase) (out []plan.SetStatus) {
	of := map[int]*pullCase{}
	for _, d := range cases {
		of[d.pull.Number] = d
	}
	for i := range j.s.Pulls {
		p, d := &j.s.Pulls[i], of[j.s.Pulls[i].Number]
		if d != nil && d.ruling.released() && d.handling() == config.Approve {
			again, _ := d.refusal()
			j.alarm.WakeAt(again)
		}
		out = append(out, j.approvalsOf(p, d, d != nil && d.approves())...)
	}
	if slices.ContainsFunc(j.s.Debts, func(o plan.Debt) bool { return overdue(o, j.s.At) }) {
		j.alarm.LookAt(j.s.At.Add(plan.LookAgain))
	}
	return out
}

// approvalsOf is approvals of one pull request; d is nil of one that is not decided on.
func (j *judge) approvalsOf(p *plan.Pull, d *pullCase, wants bool) (out []plan.SetStatus) {
	context, have := plan.ApprovalOf(p.Number), p.Approval
	dismiss := func(sha plan.SHA) {
		set := plan.SetStatus{Pin: plan.Pin{SHA: sha}, Pulls: []int{p.Number}, Context: context, State: plan.Pending, Description: wordNoRules, Withdraws: true}
		if sha != p.Head {
			set.Description = plan.Brief(sayOtherHead(p.Head))
		} else if d != nil {
			_, says := d.wanted()
			set.Description = plan.Brief(says)
		}
		j.decided[plan.PlaceOf(sha, context)] = true
		out = append(out, set)
	}
	if have.Stands && have.On != p.Head {
		dismiss(have.On)
		if wants { // once that is done
			j.alarm.LookAt(j.s.At.Add(mergeabilityFirst))
			return out
		}
	}
	here := have.Stands && have.On == p.Head
	switch {
	case wants && here:
		j.standing = append(j.standing, d.approval())
	case wants:
		out = append(out, plan.SetStatus{
			Pin: d.releasePin(), Pulls: []int{p.Number}, Context: context, State: plan.Success, Description: plan.Brief(d.ruling.reason), Debt: d.approval(),
		})
	case here, slices.ContainsFunc(j.s.Debts, func(o plan.Debt) bool {
		return plan.PlaceOf(o.SHA, o.Context) == plan.PlaceOf(p.Head, context) && !o.Due(j.s.At) // it may stand: it is not seen where reviews were not read
	}):
		dismiss(p.Head)
	}
	j.decided[plan.PlaceOf(p.Head, context)] = true
	return out
}
