package gate_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluicegate/sluice/internal/scenario"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
)

func releases(names []string) []layout.Release {
	var out []layout.Release
	for _, n := range names {
		out = append(out, layout.Release(n))
	}
	return out
}

// render writes a plan as people would note it down.
func render(p plan.Plan) string {
	var b strings.Builder
	for _, v := range p.Verdicts {
		fmt.Fprintf(&b, "%s %s%s: %s\n", subject(v), v.Kind, scenario.Instant(" until ", v.Until), v.Reason)
		if v.Whole != "" {
			fmt.Fprintf(&b, "  whole: %s\n", v.Whole)
		}
		for _, step := range v.Why {
			if strings.HasPrefix(step.About, plan.OrderPrefix) {
				fmt.Fprintf(&b, "  %s: %s\n", step.About, step.Says)
			}
		}
	}
	for _, a := range p.Actions {
		fmt.Fprintln(&b, action(p, a))
	}
	for _, d := range p.Debts {
		end := "at no instant"
		switch {
		case d.Ends.Equal(p.At):
			end = "now"
		case !d.Ends.IsZero():
			end = "at " + d.Ends.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(&b, "owe on %s for %s: %s %s: %s\n", scenario.Nick(d.SHA), what(d), end, d.State, d.Description)
	}
	for _, n := range p.Redeemed {
		fmt.Fprintf(&b, "redeemed %d\n", n)
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "note %s: %s\n", n.About, n.Says)
	}
	b.WriteString(strings.TrimPrefix(scenario.Instant("\nwake ", p.Wake)+scenario.Instant("\nlook ", p.Look), "\n"))
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// what is what a debt is for.
func what(d plan.Debt) string {
	if n, approves := d.Context.Approves(); approves {
		return fmt.Sprintf("the approval of #%d", n)
	}
	return string(d.For)
}

func subject(v plan.Verdict) string {
	switch {
	case v.Subject.Pull != 0:
		return fmt.Sprintf("#%d", v.Subject.Pull)
	case v.SHA == tip:
		return string(v.Subject.Base)
	}
	return "group " + scenario.Nick(v.SHA)
}

func action(p plan.Plan, a plan.Action) string {
	pin := a.Pinned()
	left := ""
	if !pin.Before.IsZero() && !pin.Before.Equal(p.At.Add(30*time.Second)) {
		left = fmt.Sprintf(" within %s", pin.Before.Sub(p.At))
	}
	switch a := a.(type) {
	case plan.SetStatus:
		if n, approves := a.Context.Approves(); approves {
			return fmt.Sprintf("%s #%d at %s%s: %s", a.Verb(), n, scenario.Nick(pin.SHA), left, a.Description)
		}
		repairs := ""
		if a.Repairs != "" {
			repairs = fmt.Sprintf(", putting right what %s set", a.Repairs)
		}
		under := ""
		if strings.ContainsAny(string(a.Context), "^~:") { // spelt otherwise than the base
			under = " under " + string(a.Context)
		}
		return fmt.Sprintf("status %s on %s%s%s%s: %s", a.State, scenario.Nick(pin.SHA), under, left, repairs, a.Description)
	case plan.Merge:
		how := "success, then merge"
		switch {
		case a.StatusAfter:
			how = "merge, then success"
		case a.AlreadyGreen:
			how = "merge"
		}
		gone := ""
		if a.DeleteBranch != "" {
			gone = ", then delete " + string(a.DeleteBranch)
		}
		return fmt.Sprintf("merge #%d at %s by %s%s: %s%s (%s)", a.Pull, scenario.Nick(pin.SHA), a.Method, left, how, gone, a.Description)
	case plan.Update:
		return fmt.Sprintf("update #%d at %s%s", a.Pull, scenario.Nick(pin.SHA), left)
	}
	return fmt.Sprintf("%#v", a)
}
