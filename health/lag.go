package health

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

const (
	// lagsMost is how many installations that lag are named.
	lagsMost = 20
	// lowShare is the part of an hour's budget below which it is said that it runs low: a quarter.
	lowShare = 4
)

// Why a repository may lag, in words of our own.
const (
	Gone    = "the repository is not accessible to the App"
	Limited = "rate limited"
	Turn    = "waiting for its turn: too many reconciliations at once"
	Apart   = "reconciling less often to stay within GitHub's hourly rate limit"
)

// Lag is since when something is not up to date, and why; zero: it is.
type Lag struct {
	Since time.Time
	Why   string
	Kind  string // why, in words of our own alone: GitHub's may name what is private
}

// Add notes one more failure: the first tells since when, the last why.
func (g *Lag) Add(now time.Time, err error) {
	if g.Since.IsZero() {
		g.Since = now
	}
	g.Why, g.Kind = WhyOf(err), kindOf(err)
}

// String is the lag for people who may read of its repository.
func (g Lag) String() string { return "not up to date since " + wordOfInstant(g.Since) + ": " + g.Why }

// anybody is the lag for whoever asks.
func (g Lag) anybody() string { return Lag{Since: g.Since, Why: g.Kind}.String() }

// Lags is the repositories that lag, by their installation.
type Lags map[int64]*group

// group is those of one installation.
type group struct {
	installation int64
	worst        Lag // the one that lags longest
	n            int
}

// Add counts a repository.
func (all Lags) Add(installation int64, g Lag) {
	of := all[installation]
	if of == nil {
		of = &group{installation: installation}
		all[installation] = of
	}
	if of.n++; of.n == 1 || g.Since.Before(of.worst.Since) || g.Since.Equal(of.worst.Since) && g.Kind < of.worst.Kind {
		of.worst = g
	}
}

// Lines is a line for the list of repositories and for each installation that lags, the longest first: there are at most two more than lagsMost.
func (all Lags) Lines(list Lag) []string {
	var out []string
	if !list.Since.IsZero() {
		out = append(out, "the list of repositories is "+list.anybody())
	}
	sorted := slices.SortedFunc(maps.Values(all), func(a, b *group) int {
		return cmp.Or(a.worst.Since.Compare(b.worst.Since), cmp.Compare(a.installation, b.installation))
	})
	for i, g := range sorted {
		if i == lagsMost {
			return append(out, fmt.Sprintf("and %d more installations", len(all)-i))
		}
		what := "1 repository"
		if g.n > 1 {
			what = fmt.Sprintf("%d repositories", g.n)
		}
		out = append(out, wordOfInstallation(g.installation, what+" "+g.worst.anybody()))
	}
	return out
}

// LowLines is a line for each installation of which a budget runs low, at most lagsMost.
func LowLines(installations []int64, budgets func(int64) budget.Quotas) []string {
	var out []string
	for _, id := range installations {
		if low := Low(budgets(id)); low != "" && len(out) < lagsMost {
			out = append(out, wordOfInstallation(id, low))
		}
	}
	return out
}

// Low says which of an installation's budgets runs low; "": none.
func Low(b budget.Quotas) string {
	for _, x := range []struct {
		of   budget.Quota
		what string
	}{{b.GraphQL, "points of GraphQL"}, {b.REST, "requests"}} {
		if !x.of.Renewed.IsZero() && x.of.Left < x.of.Limit/lowShare {
			return fmt.Sprintf("only %d of %d %s are left until GitHub's rate limit resets, %s", x.of.Left, x.of.Limit, x.what, wordOfInstant(x.of.Renewed))
		}
	}
	return ""
}

// WhyOf is why a look failed, for people.
func WhyOf(err error) string {
	why := client.ReasonOf(err)
	if limit := client.LimitOf(err); limit != nil && !limit.Until.IsZero() {
		why = "rate limited until " + wordOfInstant(limit.Until) + ": " + limit.Reason
	}
	return plan.Fit(plan.Clean(why))
}

// kindOf is why a look failed, in words of our own.
func kindOf(err error) string {
	limit := client.LimitOf(err)
	switch kind := client.KindOf(err); {
	case client.SetupOf(err) != "":
		return client.SetupOf(err)
	case limit != nil && !limit.Until.IsZero():
		return "rate limited until " + wordOfInstant(limit.Until)
	case kind == client.Limited:
		return Limited
	case kind == client.Transient:
		return "GitHub does not answer, or answers with an error"
	case kind == client.Gone:
		return Gone
	case kind != "":
		return "GitHub refused the request"
	}
	return "internal error, or database error"
}

func wordOfInstant(t time.Time) string { return t.UTC().Format("Mon 2 Jan 2006 15:04:05 UTC") }

// wordOfInstallation names an installation.
func wordOfInstallation(id int64, what string) string {
	return fmt.Sprintf("installation %d: %s", id, what)
}
