// Package health says what does not work, since when and why: of the service as a whole ([Service]), and of installations ([Lags]).
//
// The service is not ready only where nothing can be done for anybody: out of its Kubernetes Service it would lose everybody's deliveries. What
// fails for some is a [Lag] of theirs. Whoever reaches the webhook's address reads both: they name no repository, and quote nobody.
package health

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// Service is what is known of the service as a whole. It is safe for concurrent use.
type Service struct {
	log *slog.Logger

	mu      sync.Mutex
	started bool          // the store's repositories and GitHub's list were read once
	reads   error         // the store's last word on a read; nil: it works
	writes  error         // the store's last word on a write: one that can still be read is not well for it
	setup   string        // what is wrong with GitHub's address, the way to it or the App's key, for everybody; "": nothing
	logged  string        // what the log said last of the list of repositories; "": it is well
	list    Lag           // of the list of repositories
	skew    time.Duration // our clock minus GitHub's, as the last look saw it
}

// New is a service that starts.
func New(log *slog.Logger) *Service { return &Service{log: log} }

// Ready gives the reasons for which nothing can be done for anybody, or nothing be noted; none: it can.
func (h *Service) Ready() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var why []string
	switch {
	case h.setup != "":
		why = append(why, h.setup)
	case !h.started && h.list.Kind != "":
		why = append(why, "starting: repositories not listed yet: "+h.list.Kind)
	case !h.started:
		why = append(why, "starting: repositories not listed yet")
	}
	if fails := cmp.Or(h.writes, h.reads); fails != nil {
		why = append(why, "database error: "+store.Cause(fails))
	}
	if h.skew.Abs() > plan.MaxSkew {
		why = append(why, wordOfSkew(h.skew))
	}
	return why
}

// List is the lag of the list of repositories, but for what Ready says.
func (h *Service) List() Lag {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.setup != "" || !h.started {
		return Lag{}
	}
	return h.list
}

// Skew is our clock minus GitHub's, as the last look saw it.
func (h *Service) Skew() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.skew
}

// Skewed notes it, and logs that it has become too large.
func (h *Service) Skewed(skew time.Duration, log *slog.Logger) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if skew.Abs() > plan.MaxSkew && h.skew.Abs() <= plan.MaxSkew {
		log.Warn(wordOfSkew(skew))
	}
	h.skew = skew
}

// Started notes that as many repositories were listed once.
func (h *Service) Started(repositories int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.started {
		h.started = true
		h.log.Info("started", "repositories", repositories)
	}
}

// Listed notes how the list of repositories went, and what is wrong for everybody; keySkew is our clock minus GitHub's where that refused our key
// for its times. It is logged when that is another thing than the last time.
func (h *Service) Listed(ctx context.Context, now time.Time, keySkew time.Duration, err error) {
	level, says, key := slog.LevelError, cmp.Or(client.SetupOf(err), "repositories cannot be listed"), string(client.KindOf(err))
	var some *client.PartialListError
	if errors.As(err, &some) {
		says, key = "repositories of some installations cannot be listed", fmt.Sprint(some.Installations)
	}
	if limit := client.LimitOf(err); limit != nil && limit.Foreseen {
		level = slog.LevelInfo // it is our own doing, and passes
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.setup = client.SetupOf(err)
	if h.setup != "" && client.KindOf(err) == client.Unauthorized {
		h.skew = cmp.Or(keySkew, h.skew) // a key carries times
	}
	if h.started && client.KindOf(err) == client.Transient {
		h.setup = "" // it worked before, and what is due may be done as soon as GitHub answers: that is a lag
	}
	before := h.logged
	if h.logged = says + key; err == nil {
		h.list, h.logged = Lag{}, ""
		if before != "" {
			h.log.Info("repositories are listed again")
		}
		return
	}
	h.list.Add(now, err)
	if h.logged != before {
		h.log.Log(ctx, level, says, "error", err)
	}
}

// Stored notes the store's last word on a write, and gives it back.
func (h *Service) Stored(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes = err
	return err
}

// Recalled notes the store's last word on a read, and gives it back. One that was only interrupted by our own stopping says
// nothing.
func (h *Service) Recalled(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if was := h.reads; err != nil && (was == nil || store.Cause(err) != store.Cause(was)) {
		h.log.Error("the database cannot be read", "error", err)
	} else if err == nil && was != nil {
		h.log.Info("the database can be read again")
	}
	h.reads = err
	return err
}

// Unkept notes a failure of a call that writes only now and then, and gives it back. Its success proves nothing.
func (h *Service) Unkept(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return h.Stored(err)
}

// Degraded reports whether the last write to the store failed.
func (h *Service) Degraded() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.writes != nil
}

// wordOfSkew is for a clock that is too far off.
func wordOfSkew(skew time.Duration) string {
	side := "ahead of"
	if skew < 0 {
		side = "behind"
	}
	return fmt.Sprintf("the clock is %s %s GitHub's; nothing is released", skew.Abs().Round(time.Second), side)
}
