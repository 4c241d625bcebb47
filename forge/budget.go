package forge

import (
	"context"
	"log/slog"
	"net/http"

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
func count(ctx context.Context, p budget.Price) {
	if p.Of == budget.REST {
		budget.Spend(ctx, p.Hour, 0)
	} else {
		budget.Spend(ctx, 0, p.Hour)
	}
}

// Budgets gives what is left of an installation's budgets by GitHub's last word, less what is under way.
func (f *Forge) Budgets(installation int64) budget.Quotas {
	return f.client(installation).limits.Quotas(f.now())
}

// Hold keeps so many requests of an installation's present hour for debts: nothing else takes them.
func (f *Forge) Hold(installation int64, requests int) {
	f.client(installation).limits.Hold(budget.REST, requests)
}

// LookCost is how many of GraphQL's points of an hour the last look at a repository cost; 1 before the first.
func (f *Forge) LookCost(repo plan.Repo) int {
	m, _ := keptLook.get(f.memory.of(repo), struct{}{})
	return max(m.cost, 1)
}

// makesContent reports whether a request makes what people are notified of: a merge, or a merge of the base into a head. Whether
// statuses count as such GitHub does not say; they are not counted, and if they do it says so.
func makesContent(r *http.Request) bool { return r.Method == http.MethodPut }
