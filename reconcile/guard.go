package reconcile

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// panicError is a panic as an error.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// guard turns a panic of f into an error: one poisoned repository must not stop the others.
func guard(f func() error) (err error) {
	defer func() { caught(recover(), &err) }()
	return f()
}

// caught makes what was recovered, if anything was, the error of what panicked.
func caught(fault any, err *error) {
	if fault != nil {
		*err = &panicError{value: fault, stack: debug.Stack()}
	}
}

// lasting is a context for what must be done although the service was told to stop: bounded by itself alone.
func lasting(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), most)
}

// inHand is a context for one write: bounded by writeMost, and once the service is told to stop by graceMost.
func inHand(ctx context.Context) (context.Context, context.CancelFunc) {
	c, cancel := lasting(ctx, writeMost)
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-c.Done():
		case <-time.After(graceMost):
			cancel()
		}
	})
	return c, func() {
		stop()
		cancel()
	}
}
