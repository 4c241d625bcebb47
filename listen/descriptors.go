package listen

import (
	"errors"
	"log/slog"
	"sync"
	"syscall"
	"time"
)

// lackQuiet is how long no call may have lacked a descriptor before the lack is over. Whoever asks over a connection of his own needs one:
// asked at once, it would always be over.
const lackQuiet = 30 * time.Second

// Descriptors watches for calls that fail for want of a file descriptor. Its zero value and nil watch in silence.
type Descriptors struct {
	Freed func()       // called once the lack is over; may be nil
	Log   *slog.Logger // nil: nothing is logged

	mu   sync.Mutex
	last time.Time
	over *time.Timer // runs while there is a lack
}

// See learns how a call went that needs a descriptor.
func (d *Descriptors) See(err error) {
	if d == nil || !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = time.Now()
	if d.over != nil {
		return
	}
	d.over = time.AfterFunc(lackQuiet, d.end)
	if d.Log != nil {
		d.Log.Error(logsLack, "error", err, "most", Limit())
	}
}

// end ends a lack, unless some call met it since.
func (d *Descriptors) end() {
	d.mu.Lock()
	if rest := lackQuiet - time.Since(d.last); rest > 0 {
		d.over.Reset(rest)
		d.mu.Unlock()
		return
	}
	d.over = nil
	d.mu.Unlock()
	if d.Log != nil {
		d.Log.Info(logsNoLack)
	}
	if d.Freed != nil {
		d.Freed()
	}
}

// Lack gives a line for people while descriptors lack, or did a moment ago; none: they do not.
func (d *Descriptors) Lack() []string {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over == nil {
		return nil
	}
	return []string{wordOfLack(d.last)}
}
