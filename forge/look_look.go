package forge

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// look is what one look at a repository reads with, and what it notes of its parts. It is safe for concurrent use.
type look struct {
	c        *client.Installation
	repo     plan.Repo
	us       plan.Login   // our App's bot
	app      int64        // our App
	log      *slog.Logger // says which repository
	now      func() time.Time
	rulesTTL time.Duration // how long counts what is known by time alone
	memory   remembered    // of the repository
	at       time.Time     // the snapshot's instant
	began    time.Time     // by the clock

	mu     sync.Mutex
	again  time.Time // when a part is worth asking for again
	cost   int       // points
	silent atomic.Int32
	heavy  int
}

// more asks a further query of the look.
func (l *look) more(ctx context.Context, q *query, v any) error {
	r, err := l.c.Ask(ctx, q.operation())
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.cost += r.Cost
	l.mu.Unlock()
	return r.Into(v)
}
