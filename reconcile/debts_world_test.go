package reconcile_test

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// ledgerOf is the debts that the world's store keeps, by number.
type ledgerOf struct {
	last  int64
	debts map[int64]store.DebtRow
}

func (l *ledgerOf) owe(r plan.Repo, d plan.Debt) plan.Debt {
	for n, o := range l.debts {
		if o.Repo.ID == r.ID && o.Debt.SHA == d.SHA && o.Debt.Context == d.Context {
			delete(l.debts, n)
		}
	}
	l.last++
	d.Number = l.last
	if l.debts == nil {
		l.debts = map[int64]store.DebtRow{}
	}
	l.debts[d.Number] = store.DebtRow{Repo: r, Debt: d}
	return d
}

func (w *world) Owe(ctx context.Context, r plan.Repo, _ time.Time, debts ...plan.Debt) ([]plan.Debt, error) {
	if _, err := w.enter(ctx, call{op: "owe", repo: r}); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []plan.Debt
	for _, d := range debts {
		out = append(out, w.owed.owe(r, d))
	}
	return out, nil
}

func (w *world) Acquit(ctx context.Context, numbers ...int64) error {
	if _, err := w.enter(ctx, call{op: "acquit"}); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range numbers {
		delete(w.owed.debts, n)
	}
	return nil
}

func (w *world) Unpaid(ctx context.Context, number int64, tries int, reason string) error {
	if _, err := w.enter(ctx, call{op: "unpaid"}); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if o, ok := w.owed.debts[number]; ok {
		o.Tries, o.Reason = tries, reason
		w.owed.debts[number] = o
	}
	return nil
}

func (w *world) Debts(ctx context.Context) ([]store.DebtRow, error) {
	if _, err := w.enter(ctx, call{op: "debts"}); err != nil {
		return nil, err
	}
	return w.debts(), nil
}

// debts are those that the world's store has, by number.
func (w *world) debts() []store.DebtRow {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(maps.Values(w.owed.debts), func(a, b store.DebtRow) int { return cmp.Compare(a.Debt.Number, b.Debt.Number) })
}

func (w *world) CountStatuses(ctx context.Context, r plan.Repo, sha plan.SHA, c plan.Context) (int, error) {
	_, err := w.enter(ctx, call{op: "count", repo: r, context: c})
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.statuses, err
}
