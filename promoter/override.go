package promoter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// An override lets a branch move to one commit although its window is closed. It takes the place of the window and nothing else: the commit has
// to be one to which the branch could move, with its checks green and what tracks the branch built. All commits up to it go along, so it takes
// the same line twice: the first is answered by what goes along.

// linesOfMove is how often the line has to be written at least.
const linesOfMove = 2

// heed lets an override take the place of a closed window. Of several commits that are named the one counts that was named last.
func (d *branchCase) heed() {
	rules := d.j.policy.Override
	if rules == nil || d.tracked == nil || !d.fits || d.j.observes() {
		return
	}
	mine := slices.DeleteFunc(slices.Clone(d.j.s.Commands), func(c plan.Command) bool { return c.Branch != d.name })
	if d.open.Releasable {
		if len(mine) > 0 { // they may count once it closes
			d.wake = d.open.Next
		}
		return
	}
	slices.SortFunc(mine, plan.Command.Earlier)
	tried := map[int]bool{}
	for _, c := range slices.Backward(mine) {
		place, known := d.named(c)
		if !known || tried[place] {
			continue
		}
		tried[place] = true
		over, told := d.j.s.Override(rules, linesOfMove, func(c plan.Command) (string, bool) { return d.about(c, place) })
		d.wake = plan.Soonest(d.wake, over.Until) // whatever is ruled: what waits is counted up to where the override goes
		if now := d.j.standing(d.line, d.checks, d.name, place); over.Is() && now.State == plan.ChecksPassed {
			o := *d.open
			o.Releasable, o.ReleasableChange, o.Since = true, over.Until, d.j.s.At
			o.Next, o.says = plan.Soonest(o.Next, over.Until), sayOverridden(over, o.zone)
			d.over, d.open, d.goal, d.told = over, &o, &goal{place: place}, nil
			return
		} else if over.Is() {
			told = append(told, saySkipped(d.line.Line[place].SHA, now))
		}
		if over.Lacks != "" && d.over.Lacks == "" {
			d.over.Lacks = over.Lacks
			told = append(told, d.along(place)...)
		}
		if d.told == nil { // anybody may name others
			d.told = told
		}
	}
}

// named is the one commit that a comment names of those to which the branch could move; false if there is none, or several.
func (d *branchCase) named(c plan.Command) (place int, is bool) {
	for i := range d.line.Line {
		if strings.HasPrefix(string(d.line.Line[i].SHA), string(c.SHA)) {
			if is {
				return 0, false
			}
			place, is = i, true
		}
	}
	return place, is && c.SHA != "" && place < d.reach
}

// about reports whether a comment is about the branch and a commit, and why it does not count. What was written before the branch moved was about
// what it held then.
func (d *branchCase) about(c plan.Command, place int) (why string, is bool) {
	if c.Verb == plan.ToUndo {
		return "", slices.ContainsFunc(d.j.s.Commands, func(o plan.Command) bool { return o.Pull == c.Pull && o.Branch == d.name })
	}
	at, known := d.named(c)
	switch {
	case c.Branch != d.name || !known || at != place:
		return "", false
	case d.tracked.Moved != nil && c.At.Before(d.tracked.Moved.At):
		return "the branch has moved since: write it again", true
	}
	return "", true
}

// releaseLine is the comment that lets the branch move, where the file lets somebody.
func (d *branchCase) releaseLine() []plan.Step {
	if d.j.policy.Override == nil || !d.found() || d.j.observes() {
		return nil
	}
	line := plan.Order{Verb: plan.ToRelease, SHA: plan.SHA(d.target().Short()), Branch: d.name, Reason: plan.AnyReason}.Line()
	return []plan.Step{{About: line, Says: plan.Text("only a comment of " + plan.Grantees(d.j.policy.Override) + ", on any pull request and written twice, lets the branch move there now")}}
}

// along is what goes along with a commit.
func (d *branchCase) along(place int) []plan.Step {
	var out []plan.Step
	for i, c := range d.line.show(place, d.reach) {
		says := "would go along: " + c.Subject
		if i == 0 {
			says = "would be released: " + c.Subject
		}
		out = append(out, plan.Step{About: c.SHA.Short(), Says: plan.Fit(says)})
	}
	if more := d.reach - place - len(out); more > 0 {
		out = append(out, plan.Step{About: "…", Says: fmt.Sprintf("and %d more commits", more)})
	}
	return out
}

// standing is how one commit of a line stands by what a branch asks for.
func (j *judge) standing(l *line, checks config.Checks, of plan.Branch, place int) plan.Standing {
	e, known := j.examiner(l, checks)
	if !known {
		return plan.Standing{State: plan.ChecksUnread}
	}
	return j.examine(&e, l, of, place)
}
