package plan

// Target is what a status is about, for a link to where people read more. The zero value is the repository as a whole.
type Target struct {
	Subject Subject // a pull request, or a base alone
	Branch  Branch  // a windowed branch
	Origin  Origin  // the line of the rules that it rests on
}

// Target is what one of a plan's statuses is about, by where it stands; bases are those that it was decided on.
func (p Plan) Target(sha SHA, c Context, bases map[Branch]Base) Target {
	for _, v := range p.Verdicts {
		if v.SHA == sha && ContextFor(v.Subject.Base).Is(c) {
			return Target{Subject: v.Subject, Origin: v.Origin}
		}
	}
	for _, b := range p.Branches {
		rests := b.Kind == Current || b.Kind == Applied
		switch {
		case PromoteContextFor(b.Name).Is(c):
			return Target{Branch: b.Name, Origin: b.Origin}
		case PromoteContext.Is(c) && !rests: // the sum of all is about the first that waits
			return Target{Origin: b.Origin}
		}
	}
	for name, base := range bases {
		if ContextFor(name).Is(c) {
			return Target{Subject: Subject{Base: name}, Origin: Origin{SHA: base.Tip}}
		}
	}
	return Target{}
}

// Target is what the status is about that pays a debt.
func (d Debt) Target() Target {
	if d.For == ForMove {
		return Target{Branch: d.Subject.Base}
	}
	return Target{Subject: d.Subject}
}
