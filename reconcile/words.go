package reconcile

import (
	"fmt"
	"strings"

	"github.com/sluicegate/sluice/plan"
)

// What people read: in statuses, on the page, in the history and as the reasons for not being ready.
const (
	wordVoid           = "superseded by a newer event; reconciling again"
	wordLate           = "the deadline passed; reconciling again"
	wordCrowded        = "no more green statuses could be withdrawn before the close; reconciling again"
	wordStopped        = "the service is stopping; the next start continues"
	wordBroken         = "internal error in sluice; reconciling again"
	wordGaveUp         = "given up: "
	wordUnmoved        = "the branch did not move there"
	wordOlder          = "GitHub does not show its latest change yet"
	wordStatusesSpent  = "this commit is close to GitHub's limit of statuses"
	wordLeft           = "skipped: another move failed; reconciling again"
	wordNoInstallation = "ignoring deliveries for a repository where the App is not installed; does it have a webhook of its own with the App's secret?"
	verbDelete         = "delete-branch"
)

// wordOfMove is what a move of a branch did.
func wordOfMove(m plan.Move) string {
	switch {
	case m.Override != "":
		return fmt.Sprintf("%s moved from %s to %s: %s", m.Branch, m.Old.Short(), m.New.Short(), m.Override)
	case m.Restores:
		return fmt.Sprintf("%s restored at %s, where it was last seen", m.Branch, m.New.Short())
	case m.Old == "":
		return fmt.Sprintf("%s created at %s", m.Branch, m.New.Short())
	}
	return fmt.Sprintf("%s moved from %s to %s", m.Branch, m.Old.Short(), m.New.Short())
}

// wordOfMany is for what happened to many branches at once.
func wordOfMany(n int, what string) string { return fmt.Sprintf("%d branches: %s", n, what) }

// because appends a reason to the beginning of a description.
func because(beginning, why string) string {
	if beginning = strings.TrimRight(beginning, ": "); beginning != "" {
		why = beginning + ": " + why
	}
	return plan.Fit(plan.Clean(why))
}

// warnings are what operators should know of a repository's bases.
func warnings(p plan.Plan) []string {
	var all []string
	for _, n := range p.Notes {
		all = append(all, n.About+": "+n.Says)
	}
	return all
}
