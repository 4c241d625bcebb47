package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/meter"
)

// TestWhoeverAsksNoMeterIsNotWaitedFor: after a signal a command ends within 300 ms, after its time within a thirtieth of it, whatever it is
// doing; and what that says later nobody sees.
func TestWhoeverAsksNoMeterIsNotWaitedFor(t *testing.T) {
	asked := errors.New("asked to end")
	for name, c := range map[string]struct {
		signal, ends time.Duration
		bound        bool
	}{
		"a signal":             {time.Second, 1300 * time.Millisecond, false},
		"its time":             {time.Hour, 31 * time.Second, true},
		"a signal after that":  {30900 * time.Millisecond, 31200 * time.Millisecond, true},
		"a signal before that": {29900 * time.Millisecond, 30200 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out, errs bytes.Buffer
				e := &env{stdout: &out, stderr: &errs}
				ctx, cancel := context.WithCancelCause(t.Context())
				defer time.AfterFunc(c.signal, func() { cancel(asked) }).Stop()
				hangs := make(chan struct{})
				cmd := e.metered(&cobra.Command{RunE: func(*cobra.Command, []string) error {
					<-hangs
					fmt.Fprint(e.stdout, "late")
					fmt.Fprint(e.stderr, "late")
					return nil
				}})
				cmd.SetContext(ctx)
				began := time.Now()
				err := cmd.RunE(cmd, nil)
				took := time.Since(began)
				close(hangs)
				synctest.Wait()
				var bound *meter.Error
				if took != c.ends || errors.As(err, &bound) != c.bound || errors.Is(err, asked) == c.bound {
					t.Errorf("%v after %v, want %v", err, took, c.ends)
				}
				if out.Len()+errs.Len() > 0 {
					t.Errorf("%s%s", &out, &errs)
				}
			})
		})
	}
}

// TestASignalIsAnswered: who asked for JSON reads there why there is no answer.
func TestASignalIsAnswered(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("asked to end"))
	var out, errs bytes.Buffer
	if code := run(ctx, &env{stdout: &out, stderr: &errs, now: time.Now}, []string{"graph", "--json", "."}); code != 2 {
		t.Errorf("exit code %d", code)
	}
	for _, b := range []*bytes.Buffer{&out, &errs} {
		if !strings.Contains(b.String(), "asked to end") {
			t.Errorf("says %q", b)
		}
	}
}

// slow is an output that is read after a while.
type slow struct {
	bytes.Buffer
	after time.Duration
}

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(s.after)
	return s.Buffer.Write(p)
}

// TestAReaderHasItsTime: who reads the output of a command takes none of its time, and a command ends by a signal although nobody reads.
func TestAReaderHasItsTime(t *testing.T) {
	for name, c := range map[string]struct {
		reads, works, signal, ends time.Duration
		err                        bool
	}{
		"a reader who takes an hour":        {time.Hour, 29 * time.Second, 2 * time.Hour, time.Hour + 29*time.Second, false},
		"a command that takes too long":     {time.Hour, 30500 * time.Millisecond, 2 * time.Hour, time.Hour + 30500*time.Millisecond, true},
		"a signal while nobody reads":       {24 * time.Hour, time.Second, time.Hour, time.Hour + 300*time.Millisecond, true},
		"one that works on after a reading": {time.Hour, time.Minute, 2 * time.Hour, time.Hour + 31*time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := &slow{after: c.reads}
				e := &env{stdout: out, stderr: io.Discard}
				ctx, cancel := context.WithCancelCause(t.Context())
				defer time.AfterFunc(c.signal, func() { cancel(errors.New("asked to end")) }).Stop()
				cmd := e.metered(&cobra.Command{RunE: func(*cobra.Command, []string) error {
					_, _ = fmt.Fprint(e.stdout, "all of it")
					time.Sleep(c.works)
					return e.meter.Err()
				}})
				cmd.SetContext(ctx)
				began := time.Now()
				err := cmd.RunE(cmd, nil)
				if took := time.Since(began); took != c.ends || (err != nil) != c.err {
					t.Errorf("%v after %v, want %v", err, took, c.ends)
				}
				if c.signal > c.reads && out.String() != "all of it" {
					t.Errorf("%q was read", out.String())
				}
				time.Sleep(25 * time.Hour) // what is under way ends
			})
		})
	}
}
