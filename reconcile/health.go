package reconcile

import (
	"context"
	"errors"
	"time"

	"github.com/sluicegate/sluice/store"
)

// health is what Ready tells.
type health struct {
	started bool          // the store's repositories and GitHub's list were read once
	reads   error         // the store's last word on a read; nil: it works
	store   error         // the store's last word on a write: one that can still be read is not well for it
	setup   string        // what is wrong with GitHub's address, the way to it or the App's key, for everybody; "": nothing
	logged  string        // what the log said last of the list of repositories; "": it is well
	list    lag           // of the list of repositories
	skew    time.Duration // our clock minus GitHub's, as the last look saw it
}

// Ready gives the reasons for which nothing can be done for anybody, or nothing be noted; none: it can. What fails for some is in
// [Loop.Lags].
func (l *Loop) Ready() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return wordsOfHealth(l.health)
}

// stored notes the store's last word on a write, and gives it back.
func (l *Loop) stored(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.health.store = err
	return err
}

// recalled notes the store's last word on a read, and gives it back. One that was only interrupted by our own stopping says
// nothing.
func (l *Loop) recalled(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if was := l.health.reads; err != nil && (was == nil || store.Cause(err) != store.Cause(was)) {
		l.log.Error("the database cannot be read", "error", err)
	} else if err == nil && was != nil {
		l.log.Info("the database can be read again")
	}
	l.health.reads = err
	return err
}

// unkept notes a failure of a call that writes only now and then, and gives it back. Its success proves nothing.
func (l *Loop) unkept(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return l.stored(err)
}

// degraded reports whether the last write to the store failed.
func (l *Loop) degraded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.health.store != nil
}
