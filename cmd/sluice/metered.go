package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
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

// most is what a run may hold, whatever it was charged: with the garbage that comes beside it less than 512 MiB. An honest tree of 20,000 files takes 82.
const most = 288 << 20

// watch ends a run that holds more. A process of several runs is not watched.
func (e *env) watch() {
	if e.alone {
		e.meter.Watch(most)
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
		e.watch()
		e.stdout = &until{ctx: cmd.Context(), to: e.stdout}
		cmd.SetContext(e.meter.Context())
		err := run(cmd, args)
		var bound *meter.Error
		if ended := e.meter.Err(); ended != nil && err != nil && !errors.Is(err, errNo) && !errors.As(err, &bound) {
			return ended // which says more than that a context is done
		}
		return err
	}
	return cmd
}

// until is a writer that takes nothing more once its context is done: an answer may have any number of lines.
type until struct {
	ctx context.Context
	to  io.Writer
}

func (w *until) Write(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.to.Write(p)
}

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
