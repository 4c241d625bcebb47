package promoter_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluicegate/sluice/internal/scenario"
	"github.com/sluicegate/sluice/plan"
)

// render writes a plan as people would note it down.
func render(p plan.Plan) string {
	var b strings.Builder
	for _, v := range p.Branches {
		fmt.Fprintf(&b, "%s (%s) %s%s: %s\n", v.Name, path(v.Old, v.New), v.Kind, scenario.Instant(" until ", v.Until), v.Reason)
		if v.Whole != "" {
			fmt.Fprintf(&b, "  whole: %s\n", v.Whole)
		}
		if v.Waiting > 0 {
			fmt.Fprintf(&b, "  %d wait%s:", v.Waiting, scenario.Instant(", the oldest of ", v.Oldest))
			for _, c := range v.Commits {
				fmt.Fprintf(&b, " %s %q", scenario.Nick(c.SHA), c.Subject)
			}
			b.WriteString("\n")
		}
		for _, w := range v.Why {
			fmt.Fprintf(&b, "  %s: %s\n", w.About, w.Says)
		}
	}
	for _, a := range p.Actions {
		b.WriteString(action(p, a))
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "note %s: %s\n", n.About, n.Says)
	}
	b.WriteString(strings.TrimPrefix(scenario.Instant("\nwake ", p.Wake)+scenario.Instant("\nlook ", p.Look), "\n"))
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func path(from, to plan.SHA) string {
	if to == "" {
		return scenario.Nick(from)
	}
	return scenario.Nick(from) + " => " + scenario.Nick(to)
}

func action(p plan.Plan, a plan.Action) string {
	switch a := a.(type) {
	case plan.SetStatus:
		more := ""
		if a.Repairs != "" {
			more = fmt.Sprintf(", putting right what %s set", a.Repairs)
		}
		if a.Withdraws {
			more += ", withdrawing"
		}
		return fmt.Sprintf("status %s %s on %s%s: %s\n", a.Context, a.State, scenario.Nick(a.SHA), more, a.Description)
	case plan.MoveBranches:
		var b strings.Builder
		for _, m := range a.Moves {
			b.WriteString(move(p, m))
		}
		return b.String()
	}
	return fmt.Sprintf("%#v\n", a)
}

func move(p plan.Plan, m plan.Move) string {
	text := fmt.Sprintf("move %s (%s)", m.Branch, path(m.Old, m.New))
	switch {
	case m.Before.IsZero():
		text += " whenever"
	case !m.Before.Equal(p.At.Add(30 * time.Second)):
		text += fmt.Sprintf(" within %s", m.Before.Sub(p.At))
	}
	text += scenario.Instant(", due since ", m.Due)
	if m.Restores {
		text += ", restoring"
	}
	if m.Unlock {
		text += fmt.Sprintf(", unlocking %q or %q", m.Says, m.Withdrawn)
	}
	if m.Unlocked {
		text += ", unlocked already"
	}
	return text + "\n"
}
