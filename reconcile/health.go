package reconcile

import "time"

// health is what Ready tells.
type health struct {
	started      bool          // the store's repositories and GitHub's list were read once
	store        error         // the last word of the store; nil: it works
	unauthorized error         // GitHub does not take the App's key
	skew         time.Duration // our clock minus GitHub's, as the last look saw it
}

// Ready gives the reasons for which the service cannot do its work; none: it can.
func (l *Loop) Ready() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return wordsOfHealth(l.health)
}

// stored notes the store's last word, and gives it back.
func (l *Loop) stored(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.health.store = err
	return err
}
