package look

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// Look is what one look at a repository reads with, and what it notes of its parts. It is safe for concurrent use.
type Look struct {
	Client   *client.Installation
	Repo     plan.Repo
	Us       plan.Login   // our App's bot
	App      int64        // our App
	Log      *slog.Logger // says which repository
	Now      func() time.Time
	RulesTTL time.Duration // how long counts what is known by time alone
	Memory   remembered    // of the repository
	At       time.Time     // the snapshot's instant
	Began    time.Time     // by the clock

	mu     sync.Mutex
	Again  time.Time // when a part is worth asking for again
	Cost   int       // points
	Silent atomic.Int32
	heavy  int
}

// More asks a further query of the look.
func (l *Look) More(ctx context.Context, q *Query, v any) error {
	r, err := l.Client.Ask(ctx, q.Operation())
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.Cost += r.Cost
	l.mu.Unlock()
	return r.Into(v)
}
