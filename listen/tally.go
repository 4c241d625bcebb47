package listen

import (
	"sync"
	"time"
)

// TallyQuiet is the least pause between two log lines about what strangers can cause as often as they like.
const TallyQuiet = 10 * time.Second

// Tally counts what is not worth a log line each time. Its zero value is ready for use.
type Tally struct {
	mu   sync.Mutex
	n    int
	last time.Time
}

// Count counts one, and gives how many there were since it last gave a number; 0: it is too early for a line.
func (t *Tally) Count(now time.Time) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	if since := now.Sub(t.last); since >= 0 && since < TallyQuiet {
		return 0
	}
	n := t.n
	t.n, t.last = 0, now
	return n
}
