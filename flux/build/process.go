package build

import (
	"context"
	"io"
	"os/exec"
	"time"
)

// Process is this program as a child process, with nothing of this one's environment. Where the system allows it, it ends with this one.
type Process struct {
	In  io.WriteCloser // its standard input
	Out io.Reader      // its standard output
	cmd *exec.Cmd
	// Stop kills it.
	Stop context.CancelFunc
}

// Start starts a process by a command. It is killed when ctx ends.
func Start(ctx context.Context, command []string) (*Process, error) {
	return start(ctx, command, nil, false)
}

// start starts a process, if asked to in a network of its own.
func start(ctx context.Context, command []string, stderr io.Writer, network bool) (_ *Process, err error) {
	ctx, stop := context.WithCancel(ctx)
	p := &Process{Stop: stop, cmd: exec.CommandContext(ctx, command[0], command[1:]...)} //nolint:gosec // it is this program
	defer func() {
		if err != nil {
			stop()
		}
	}()
	p.cmd.Env, p.cmd.Dir, p.cmd.Stderr, p.cmd.WaitDelay = []string{}, "/", stderr, time.Second
	alone(p.cmd, network)
	if p.In, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.Out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	return p, p.cmd.Start()
}

// End kills it and waits for that.
func (p *Process) End() {
	p.Stop()
	_ = p.cmd.Wait() // it was killed
}
