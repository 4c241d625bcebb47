package reconcile

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// What people read: in statuses, on the page, in the history and as the reasons for not being ready.
const (
	wordVoid    = "superseded by a newer event; reconciling again"
	wordLate    = "the deadline passed; reconciling again"
	wordCrowded = "no more green statuses could be withdrawn before the close; reconciling again"
	wordStopped = "the service is stopping; the next start continues"
	wordGone    = "the repository is not accessible to the App"
	wordBroken  = "internal error in sluice; reconciling again"
	wordGaveUp  = "given up: "
	wordUnmoved = "the branch did not move there"
	wordOlder   = "GitHub does not show its latest change yet"

	wordStatusesSpent = "this commit is close to GitHub's limit of statuses"

	wordLeft           = "skipped: another move failed; reconciling again"
	wordNoInstallation = "ignoring deliveries for a repository where the App is not installed; does it have a webhook of its own with the App's secret?"
	wordLimited        = "rate limited"
	wordTurn           = "waiting for its turn: too many reconciliations at once"

	wordApart = "reconciling less often to stay within GitHub's hourly rate limit"
	wordLow   = "only %d of %d %s are left until GitHub's rate limit resets, %s"

	wordUnlisted     = "repositories cannot be listed"
	wordSomeUnlisted = "repositories of some installations cannot be listed"
	wordListed       = "repositories are listed again"

	verbDelete = "delete-branch"
)

// wordsOfHealth are the reasons for which the service is not ready. Whoever reaches the webhook's address reads them: they name no
// repository, and quote nobody.
func wordsOfHealth(h health) []string {
	var why []string
	switch {
	case h.setup != "":
		why = append(why, h.setup)
	case !h.started && h.list.kind != "":
		why = append(why, "starting: repositories not listed yet: "+h.list.kind)
	case !h.started:
		why = append(why, "starting: repositories not listed yet")
	}
	if fails := cmp.Or(h.store, h.reads); fails != nil {
		why = append(why, "database error: "+store.Cause(fails))
	}
	if h.skew.Abs() > plan.MaxSkew {
		why = append(why, wordOfSkew(h.skew))
	}
	return why
}

// wordOfFailure is why a look failed, for people.
func wordOfFailure(err error) string {
	if limit := client.LimitOf(err); limit != nil && !limit.Until.IsZero() {
		return because("rate limited until "+wordOfInstant(limit.Until), limit.Reason)
	}
	return because("", client.ReasonOf(err))
}

func wordOfInstant(t time.Time) string { return t.UTC().Format("Mon 2 Jan 2006 15:04:05 UTC") }

func wordOfLag(g lag) string { return "not up to date since " + wordOfInstant(g.since) + ": " + g.why }

// wordsOfLags is a line for the list of repositories and for each installation that lags.
func wordsOfLags(list lag, all map[int64]*group) []string {
	var out []string
	if !list.since.IsZero() {
		out = append(out, "the list of repositories is "+wordOfLag(lag{since: list.since, why: list.kind}))
	}
	for i, g := range sorted(all) {
		if i == lagsMost {
			return append(out, fmt.Sprintf("and %d more installations", len(all)-i))
		}
		what := "1 repository"
		if g.n > 1 {
			what = fmt.Sprintf("%d repositories", g.n)
		}
		out = append(out, wordOfInstallation(g.installation, what+" "+wordOfLag(lag{since: g.worst.since, why: g.worst.kind})))
	}
	return out
}

// wordOfInstallation names an installation.
func wordOfInstallation(id int64, what string) string {
	return fmt.Sprintf("installation %d: %s", id, what)
}

// wordOfKind is why a look failed, in words of our own.
func wordOfKind(err error) string {
	limit := client.LimitOf(err)
	switch kind := client.KindOf(err); {
	case client.SetupOf(err) != "":
		return client.SetupOf(err)
	case limit != nil && !limit.Until.IsZero():
		return "rate limited until " + wordOfInstant(limit.Until)
	case kind == client.Limited:
		return wordLimited
	case kind == client.Transient:
		return "GitHub does not answer, or answers with an error"
	case kind == client.Gone:
		return wordGone
	case kind != "":
		return "GitHub refused the request"
	}
	return "internal error, or database error"
}

// wordOfSkew is for a clock that is too far off.
func wordOfSkew(skew time.Duration) string {
	side := "ahead of"
	if skew < 0 {
		side = "behind"
	}
	return fmt.Sprintf("the clock is %s %s GitHub's; nothing is released", skew.Abs().Round(time.Second), side)
}

// wordOfMove is what a move of a branch did.
func wordOfMove(m plan.Move) string {
	switch {
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
