package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/meter"
)

// runTime is how long a command on a tree may take, unless its caller says otherwise.
const runTime = 30 * time.Second

// From how much memory on Go takes more time to free it: what of 512 MiB the child processes leave, and the program's own pages, which some count once
// for each process. One that holds more than that collects garbage without end.
const (
	runMemory   = 256 << 20 // of a process that has others build
	aloneMemory = 384 << 20 // of one that has no child processes: a million commits take 220 MiB
)

// What a run may hold, whatever it was charged: an honest tree of 20,000 files takes 82 MiB.
const (
	most = 288 << 20
	// beyond is how much more than frugal says a process may have: what grows while garbage is collected. With 192 MiB of child processes, and the program's own
	// pages, it is 512 MiB.
	beyond = 32 << 20
)

// watch ends a run that holds more, in a process that is frugal. A process of several runs is not watched.
func (e *env) watch(memory int64) {
	if e.alone {
		e.meter.Watch(most, memory+beyond)
	}
}

// frugal has Go free memory before the process has much of it.
func frugal(limit int64) {
	if debug.SetMemoryLimit(-1) > limit {
		debug.SetMemoryLimit(limit)
	}
}

// metered gives each run of a command on a tree a meter, whose end is the command's.
func (e *env) metered(cmd *cobra.Command) *cobra.Command { return e.meteredIn(runMemory, cmd) }

func (e *env) meteredIn(memory int64, cmd *cobra.Command) *cobra.Command {
	run, limit := cmd.RunE, runTime
	cmd.Flags().DurationVar(&limit, "timeout", runTime, "give up after this time, and fail")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if limit <= 0 {
			return fmt.Errorf("--timeout %v: must be positive", limit)
		}
		frugal(memory)
		e.meter = meter.New(cmd.Context(), meter.Limits{meter.Time: int64(limit)})
		defer e.meter.Close()
		e.watch(memory)
		asked, said := cmd.Context(), &door{}
		e.stdout, e.stderr = &until{asked, said, e.meter, e.stdout}, &until{context.WithoutCancel(asked), said, e.meter, e.stderr}
		cmd.SetContext(e.meter.Context())
		done := make(chan error, 1)
		go func() { done <- run(cmd, args) }()
		err, late := e.ended(asked, done, limit)
		if late {
			said.closed.Store(true)
		}
		var bound *meter.Error
		if ended := e.meter.Err(); ended != nil && err != nil && !errors.Is(err, errNo) && !errors.As(err, &bound) {
			return ended // which says more than that a context is done
		}
		return err
	}
	return cmd
}

// How long a run that has ended may take to come back, before the process ends without it: what does not ask the meter is no longer waited for.
const (
	asksToEnd = 300 * time.Millisecond // after a signal, or after it held too much, as it may go on to grow; and at least
	overtime  = 30                     // after its time is over: so many parts of that
)

// ended waits for a run of so much time. late: it did not come back after its end, and goes on, which nobody sees.
func (e *env) ended(asked context.Context, done <-chan error, limit time.Duration) (err error, late bool) {
	select {
	case err = <-done:
		return err, false
	case <-e.meter.Context().Done():
	}
	if asked.Err() == nil {
		wait := max(limit/overtime, asksToEnd)
		var bound *meter.Error
		if errors.As(e.meter.Err(), &bound) && bound.Kind == meter.Memory {
			wait = asksToEnd
		}
		select {
		case err = <-done:
			return err, false
		case <-asked.Done():
		case <-time.After(wait):
			return e.meter.Err(), true
		}
	}
	select {
	case err = <-done:
		return err, false
	case <-time.After(asksToEnd):
		return e.meter.Err(), true
	}
}

// until is a writer that takes nothing more once its context is done, as an answer may have any number of lines, or its door is closed. Who reads it has
// all the time that he takes: the run's clock stands still meanwhile.
type until struct {
	ctx context.Context
	*door
	meter *meter.Meter
	to    io.Writer
}

func (w *until) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed.Load() || w.ctx.Err() != nil {
		return 0, cmp.Or(context.Cause(w.ctx), errLate)
	}
	defer w.meter.Pause()()
	return w.to.Write(p)
}

// door is what all that a run says goes through, one after the other, until it is closed. What is under way then stays so: it may be that nobody reads it.
type door struct {
	mu     sync.Mutex
	closed atomic.Bool
}

var errLate = errors.New("the command has ended")

// patternsOfStep is how many patterns a path is compared with in a step.
const patternsOfStep = 32

// within is a policy that is asked for as long as the command may run, which is charged for it, if it could be parsed.
func (e *env) within(policy *config.Policy, err error) (*config.Policy, error) {
	if e.meter == nil || err != nil {
		return policy, err
	}
	return policy.Until(func(path string, patterns int) bool {
		return e.meter.Take(meter.Steps, 1+patterns/patternsOfStep, path) != nil
	}), nil
}
