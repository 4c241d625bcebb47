package client

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/sluicegate/sluice/budget"
)

type logKey struct{}

// WithLog gives a context whose calls write to a log that says what they are for.
func WithLog(ctx context.Context, log *slog.Logger) context.Context {
	return context.WithValue(ctx, logKey{}, log)
}

// LogOf is the log of a context, or another one if it has none.
func LogOf(ctx context.Context, other *slog.Logger) *slog.Logger {
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
func (f *App) Budgets(installation int64) budget.Quotas {
	return f.Installation(installation).limits.Quotas(f.now())
}

// WritesPerMinute is how many writes a minute debts can count on, by the pace of an installation; 0: no pace.
func (f *App) WritesPerMinute() int { return budget.Sustained(f.pace) / pointsWrite }

// HoldHour keeps so many requests of an installation's present hour for debts, and so much of what GitHub takes of content for dismissals: nothing else takes them.
func (f *App) HoldHour(installation int64, requests, dismissals int) {
	limits := f.Installation(installation).limits
	limits.HoldHour(budget.REST, requests)
	limits.HoldContent(dismissals)
}

// HoldMinute has an installation's minute keep room for so many statuses, by which debts have to be paid within it, and gives what it has for those.
func (f *App) HoldMinute(installation int64, statuses int) budget.Minute {
	return f.Installation(installation).limits.HoldMinute(statuses, pointsWrite, f.now())
}

// Sent counts writes of an installation that an earlier process sent at an instant: so many, and one of them what people are notified of, or none.
func (f *App) Sent(installation int64, at time.Time, writes int, content bool) {
	f.Installation(installation).limits.Sent(budget.Price{Points: float64(writes * pointsWrite), Content: content}, at)
}

// makesContent reports whether a request makes what people are notified of: a merge, a merge of the base into a head, a review, or its dismissal. Whether
// statuses count as such GitHub does not say; they are not counted, and if they do it says so.
func makesContent(r *http.Request) bool {
	return r.Method == http.MethodPut || strings.HasSuffix(r.URL.Path, "/reviews")
}
