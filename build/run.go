package build

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/sluicegate/sluice/graph"
)

// children is how many child processes build at once.
const children = 2

// Run builds entries of a tree, in child processes that a command starts; see [Child]. Of the tree it sends the files that are named. There is
// a result for each entry, in their order.
func Run(ctx context.Context, command []string, tree fs.FS, files []string, entries []Entry, limits Limits) ([]Result, error) {
	r := &run{command: command, limits: limits.filled(), entries: entries, results: make([]Result, len(entries))}
	if err := r.load(tree, files); err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	within, cancel := context.WithTimeout(ctx, r.limits.All)
	defer cancel()
	next, errs := make(chan int), make(chan error, children)
	var wait sync.WaitGroup
	for range min(children, len(entries)) {
		wait.Go(func() {
			if err := r.work(within, next); err != nil {
				errs <- err
				cancel()
			}
		})
	}
	for i := range entries {
		select {
		case next <- i:
		case <-within.Done():
			r.results[i] = Result{Err: wordLate(r.limits.All)}
		}
	}
	close(next)
	wait.Wait()
	close(errs)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	if err := <-errs; err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	return r.results, nil
}

// run is the builds of one tree.
type run struct {
	command []string
	limits  Limits
	header  header
	texts   [][]byte
	bytes   int // of them
	entries []Entry
	results []Result
}

// load reads the tree's files.
func (r *run) load(tree fs.FS, files []string) error {
	r.header.Limits = r.limits
	if len(files) > maxFiles {
		return errors.New(wordManyFiles())
	}
	for _, name := range files {
		r.add(tree, name)
	}
	return nil
}

// add reads a file, or notes that it is in the tree and was not read.
func (r *run) add(tree fs.FS, name string) {
	text, err := graph.ReadFile(tree, name, min(maxFile, maxBytes-r.bytes))
	size := int64(len(text))
	if err != nil {
		text, size = nil, -1
	}
	r.bytes += len(text)
	r.header.Files, r.texts = append(r.header.Files, sent{name, size}), append(r.texts, text)
}

// work builds entries until there are no more. It fails if no child can be started.
func (r *run) work(ctx context.Context, next <-chan int) error {
	runtime.LockOSThread() // on Linux a child ends with the thread that started it
	defer runtime.UnlockOSThread()
	var c *child
	defer func() { c.end() }()
	for i := range next {
		e := r.entries[i]
		if c == nil {
			var err error
			if c, err = r.start(ctx); err != nil {
				if ctx.Err() == nil {
					return err
				}
				r.results[i] = Result{Err: wordLate(r.limits.All)}
				continue
			}
		}
		result, err := c.build(e, r.limits.Entry)
		if err != nil {
			c.end()
			result = Result{Err: c.why(ctx, err, r.limits)}
			c = nil
		}
		r.results[i] = result
	}
	return nil
}

// child is a process that builds.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *tail
	stop   func()
}

// start starts a child and sends it the tree.
func (r *run) start(ctx context.Context) (*child, error) {
	c, err := r.launch(ctx, true)
	if err != nil {
		c, err = r.launch(ctx, false) // many systems keep users from having a network of their own
	}
	if err != nil {
		return nil, err
	}
	if err := c.send(r); err != nil {
		c.end()
		return nil, fmt.Errorf("%s: %w%s", r.command[0], err, c.stderr.reason())
	}
	return c, nil
}

// launch starts a child.
func (r *run) launch(ctx context.Context, network bool) (*child, error) {
	ctx, stop := context.WithCancel(ctx)
	c := &child{stderr: &tail{}, stop: stop}
	c.cmd = exec.CommandContext(ctx, r.command[0], r.command[1:]...) //nolint:gosec // it is this program
	c.cmd.Env, c.cmd.Dir, c.cmd.Stderr, c.cmd.WaitDelay = []string{}, "/", c.stderr, time.Second
	alone(c.cmd, network)
	in, err := c.cmd.StdinPipe()
	if err != nil {
		stop()
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		stop()
		return nil, err
	}
	c.in, c.out = in, bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		stop()
		return nil, err
	}
	return c, nil
}

func (c *child) send(r *run) error {
	w := bufio.NewWriterSize(c.in, 1<<16)
	if err := writeFrame(w, r.header, maxHeader); err != nil {
		return err
	}
	for _, text := range r.texts {
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	var ready struct{}
	return readFrame(c.out, &ready, maxResult)
}

// errSlow says that an entry took too long.
var errSlow = errors.New("too slow")

// build has the child build an entry. After an error the child is of no more use.
func (c *child) build(e Entry, limit time.Duration) (Result, error) {
	timer := time.AfterFunc(patience*limit, c.stop)
	var result Result
	err := writeFrame(c.in, e, maxEntry)
	if err == nil {
		err = readFrame(c.out, &result, maxResult)
	}
	if !timer.Stop() {
		err = errSlow
	}
	return result, err
}

// end kills the child.
func (c *child) end() {
	if c == nil {
		return
	}
	c.stop()
	_ = c.cmd.Wait()
}

// why says why a child ended that should not have.
func (c *child) why(ctx context.Context, err error, l Limits) string {
	switch {
	case errors.Is(err, errSlow) || c.cmd.ProcessState.ExitCode() == exitSlow:
		return wordSlow(l.Entry)
	case ctx.Err() != nil:
		return wordLate(l.All)
	case c.cmd.ProcessState.ExitCode() == exitMemory || bytes.Contains(c.stderr.text, []byte("out of memory")):
		return wordMemory
	}
	return wordDied + c.stderr.reason()
}

// The exit codes of a child that takes too much memory, or too much time for an entry.
const (
	exitMemory = 3
	exitSlow   = 4
)

// patience is how many times its processor time an entry may take by the clock: others may be at work on the machine.
var patience time.Duration = 6

// tail keeps the end of what a child says.
type tail struct{ text []byte }

// maxTail is how much of it, in bytes.
const maxTail = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	t.text = append(t.text, p[max(0, n-maxTail):]...)
	t.text = append(t.text[:0], t.text[max(0, len(t.text)-maxTail):]...)
	return n, nil
}

// reason is the line by which a program of Go says why it ends, after a colon; "" if there is none.
func (t *tail) reason() string {
	for line := range strings.Lines(string(t.text)) {
		if strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "sluice: ") {
			return ": " + strings.TrimSpace(line)
		}
	}
	return ""
}
