package reconcile

import "github.com/sluicegate/sluice/plan"

// Target is what a status is about, for a link to where people read more. The zero value is the repository as a whole.
type Target struct {
	Subject plan.Subject // a pull request, or a base alone
	Branch  plan.Branch  // a windowed branch
	Origin  plan.Origin  // the line of the rules that it rests on
}

// target finds what a status of this look is about, by where it stands.
func (k *reading) target(sha plan.SHA, c plan.Context) Target {
	for _, v := range k.shown.Verdicts {
		if v.SHA == sha && plan.ContextFor(v.Subject.Base).Is(c) {
			return Target{Subject: v.Subject, Origin: v.Origin}
		}
	}
	for _, b := range k.shown.Branches {
		rests := b.Kind == plan.Current || b.Kind == plan.Applied
		switch {
		case plan.PromoteContextFor(b.Name).Is(c):
			return Target{Branch: b.Name, Origin: b.Origin}
		case plan.PromoteContext.Is(c) && !rests: // the sum of all is about the first that waits
			return Target{Origin: b.Origin}
		}
	}
	for name, base := range k.bases {
		if plan.ContextFor(name).Is(c) {
			return Target{Subject: plan.Subject{Base: name}, Origin: plan.Origin{SHA: base.Tip}}
		}
	}
	return Target{}
}

// targetOf is what the status is about that pays a debt.
func targetOf(d plan.Debt) Target {
	if d.For == plan.ForMove {
		return Target{Branch: d.Subject.Base}
	}
	return Target{Subject: d.Subject}
}
