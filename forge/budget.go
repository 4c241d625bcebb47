package forge

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/plan"
)

type logKey struct{}

// WithLog gives a context whose calls write to a log that says what they are for.
func WithLog(ctx context.Context, log *slog.Logger) context.Context {
	return context.WithValue(ctx, logKey{}, log)
}

// logOf is the log of a context, or another one if it has none.
func logOf(ctx context.Context, other *slog.Logger) *slog.Logger {
	if log, ok := ctx.Value(logKey{}).(*slog.Logger); ok {
		return log
	}
	return other
}

// count counts what a request costs.
func (p price) count(ctx context.Context) {
	if p.of == budget.REST {
		budget.Spend(ctx, p.hour, 0)
	} else {
		budget.Spend(ctx, 0, p.hour)
	}
}

// resources are GitHub's names of the accounts.
var resources = [budget.Accounts]string{"core", "graphql"}

// price is what a request costs.
type price struct {
	of      budget.Account
	class   budget.Class
	points  float64 // of the minute
	hour    int     // of the hour
	content bool    // it makes what people are notified of
}

// waits reports whether a request is paid from the part of REST's pace that is spent evenly.
func (p price) waits() bool { return p.of == budget.REST && p.class < budget.Opening }

// Budgets gives what is left of an installation's budgets by GitHub's last word, less what is under way.
func (f *Forge) Budgets(installation int64) budget.Quotas {
	l, now := f.client(installation).limits, f.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	return budget.Quotas{REST: l.hours[budget.REST].Quota(now), GraphQL: l.hours[budget.GraphQL].Quota(now), Content: l.content.Quota(now)}
}

// Hold keeps so many requests of an installation's present hour for debts: nothing else takes them.
func (f *Forge) Hold(installation int64, requests int) {
	l := f.client(installation).limits
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hours[budget.REST].Held = requests
}

// LookCost is how many of GraphQL's points of an hour the last look at a repository cost; 1 before the first.
func (f *Forge) LookCost(repo plan.Repo) int {
	m, _ := keptLook.get(f.memory.of(repo), struct{}{})
	return max(m.cost, 1)
}

// said is what an answer says of an hour.
func (a answer) said(now time.Time) (q budget.Quota) {
	q.Limit, _ = strconv.Atoi(a.header.Get("X-RateLimit-Limit")) // 0: it does not
	left, err := strconv.Atoi(a.header.Get("X-RateLimit-Remaining"))
	reset, none := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
	if err == nil && none == nil {
		q.Left, q.Renewed = left, now.Add(min(time.Unix(reset, 0).Sub(a.date(now))+budget.Margin, maxReset))
	}
	return q
}

// makesContent reports whether a request makes what people are notified of: a merge, or a merge of the base into a head. Whether
// statuses count as such GitHub does not say; they are not counted, and if they do it says so.
func makesContent(r *http.Request) bool { return r.Method == http.MethodPut }
