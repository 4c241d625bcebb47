package reconcile

import (
	"context"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// still is a GitHub and a store in which nothing happens.
type still struct{ repos []plan.Repo }

func (s still) KeySkew() time.Duration { return 0 }

func (s still) Confirm(_ context.Context, _ plan.Repo, b plan.Bound) (plan.Bound, error) {
	return b, nil
}

func (s still) Repositories(context.Context) ([]plan.Repo, error) { return s.repos, nil }
func (s still) Observe(_ context.Context, r plan.Repo, ask forge.Ask) (plan.Snapshot, error) {
	return plan.Snapshot{Repo: r, At: ask.At}, nil
}
func (s still) SetStatus(context.Context, plan.Repo, plan.SHA, plan.Status) error { return nil }
func (s still) Merge(context.Context, plan.Repo, plan.Merge) (plan.SHA, error)    { return "", nil }
func (s still) Update(context.Context, plan.Repo, plan.Update) error              { return nil }
func (s still) DeleteBranch(context.Context, plan.Repo, plan.Branch, plan.SHA) error {
	return nil
}
func (s still) Owe(_ context.Context, _ plan.Repo, _ time.Time, d ...plan.Debt) ([]plan.Debt, error) {
	return d, nil
}
func (s still) Acquit(context.Context, ...int64) error           { return nil }
func (s still) Unpaid(context.Context, int64, int, string) error { return nil }
func (s still) Sent(int64, time.Time, int, bool)                 {}
func (s still) SentSince(context.Context, time.Time, time.Time, ...string) ([]store.Sent, error) {
	return nil, nil
}
func (s still) Debts(context.Context) ([]store.DebtRow, error) { return nil, nil }
func (s still) CountStatuses(context.Context, plan.Repo, plan.SHA, plan.Context) (int, error) {
	return 0, nil
}
func (s still) Budgets(int64) budget.Quotas {
	return budget.Quotas{REST: budget.Quota{Left: 1 << 30}, Content: budget.Quota{Left: 1 << 30}}
}
func (s still) HoldHour(int64, int, int) {}
func (s still) HoldMinute(int64, int) budget.Minute {
	return budget.Minute{Room: math.MaxInt, Again: never}
}
func (s still) LookCost(plan.Repo) int                             { return 1 }
func (s still) Know(context.Context, []plan.Repo, time.Time) error { return nil }
func (s still) Forget(context.Context, plan.Repo) error            { return nil }
func (s still) Repos(context.Context) ([]store.Due, error)         { return nil, nil }
func (s still) Record(context.Context, ...store.Act) error         { return nil }
func (s still) Untold(context.Context, plan.Repo, []plan.Fact) ([]store.News, error) {
	return nil, nil
}
func (s still) Tell(context.Context, plan.Repo, time.Time, []store.News) error { return nil }
func (s still) RulesOrigin(context.Context, plan.Repo, plan.SHA, plan.SHA) (plan.RulesOrigin, error) {
	return plan.RulesOrigin{}, nil
}
func (s still) MoveBranches(context.Context, plan.Repo, []plan.Move) error {
	return nil
}
func (s still) MoveEach(context.Context, plan.Repo, []plan.Move) ([]error, error) {
	return nil, nil
}
func (s still) SeeBranches(context.Context, plan.Repo, map[plan.Branch]plan.SHA, time.Time) error {
	return nil
}
func (s still) Looked(context.Context, plan.Repo, store.Look) error { return nil }
func (s still) Recall(context.Context, plan.Repo, time.Time) (store.Memory, error) {
	return store.Memory{}, nil
}
func (s still) SeePulls(context.Context, plan.Repo, map[int]plan.Seen, time.Time) (map[int]plan.Seen, error) {
	return nil, nil
}

const crowd = 10_000

// crowded is a loop that knows 10,000 repositories, each of which sleeps until an opening.
func crowded() *Loop {
	var s still
	for id := range int64(crowd) {
		s.repos = append(s.repos, repository(id+1, id%50))
	}
	l := New(Options{Forge: s, Store: s, Decide: func(s plan.Snapshot) plan.Plan { return plan.Plan{Wake: s.At.Add(time.Hour)} }})
	l.adoptList(s.repos)
	for _, e := range l.queue.repos {
		e.resync = time.Hour
		e.wake = l.began.Add(time.Hour)
		l.queue.reckon(e)
	}
	return l
}

func BenchmarkPoke(b *testing.B) {
	l := crowded()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l.Poke(repository(int64(i%crowd)+1, 0), event.Changed, plan.Mention{})
	}
}

// BenchmarkIdle tells what 10,000 sleeping repositories cost in memory, and what it takes to see that nobody is due.
func BenchmarkIdle(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	l := crowded()
	runtime.GC()
	runtime.ReadMemStats(&after)
	for b.Loop() {
		l.start(context.Background())
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/crowd, "B/repository")
	runtime.KeepAlive(l)
}

// BenchmarkClockJump tells what it takes to reckon 10,000 alarms anew.
func BenchmarkClockJump(b *testing.B) {
	l := crowded()
	now := l.now()
	for i := 1; b.Loop(); i++ {
		l.queue.drift(instant{Tick: now.Tick, Wall: now.Wall.Add(time.Duration(i) * time.Minute)})
	}
}

// BenchmarkLook is a look at a repository in which nothing happens: what the loop itself adds to GitHub's time.
func BenchmarkLook(b *testing.B) {
	l := crowded()
	e := l.queue.repos[plan.RepoKey{ID: 1}]
	b.ReportAllocs()
	for b.Loop() {
		l.mu.Lock()
		l.queue.sleep(e)
		l.queue.begin(e, l.now())
		k := l.newLook(e, l.now())
		l.mu.Unlock()
		_ = k.run(context.Background())
	}
}
