package build

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/meter"
)

// How many child processes build at once, where there are as many processors, and the memory that each of several has at least: each has the tree.
const (
	maxChildren = 8
	childMemory = 64 << 20
	// forAll is what the process that has others build and these have together, in bytes: it holds what its run was charged.
	forAll = 480 << 20
)

// children is how many child processes build at once. kustomize itself uses one processor.
func (r *run) children() int {
	return max(1, min(runtime.GOMAXPROCS(0), maxChildren, int(r.memory/childMemory)))
}

// Job is entries of a tree to build.
type Job struct {
	Command []string // starts a child process; see [Child]
	Tree    fs.FS
	Files   []string // of the tree: those that are sent
	Entries []Entry
	Limits  Limits
	Cache   *Cache       // nil: nothing is kept
	Meter   *meter.Meter // of the run that the job is a part of; nil: it is one of its own, with the time that its limits say
	// Progress, if there is one, is called at the start and after each build with how many of them are done: entries that make the same are one, and
	// what is kept is none. No two calls at a time.
	Progress func(done, all int)
}

// Run builds entries of a tree, of which it reads the files that are named, in child processes that a command starts. There is a result for each
// entry, in their order.
func Run(ctx context.Context, command []string, tree fs.FS, files []string, entries []Entry, limits Limits) ([]Result, error) {
	return Job{Command: command, Tree: tree, Files: files, Entries: entries, Limits: limits}.Run(ctx)
}

// Run builds the entries in child processes. There is a result for each of them, in their order.
func (j Job) Run(ctx context.Context) ([]Result, error) {
	r := &run{Job: j}
	r.Limits = j.Limits.filled()
	if r.Meter == nil {
		r.Meter = meter.New(ctx, meter.Limits{meter.Time: -1})
		defer r.Meter.Close()
	}
	defer r.free()
	if err := r.load(); err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	if err := r.plan(); err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	if err := r.build(ctx); err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	return r.results(), nil
}

// run is the builds of one tree.
type run struct {
	Job
	header header
	texts  [][]byte
	bytes  int     // of them
	nodes  int     // of what was built
	tasks  []*task // one for all entries that make the same
	of     []*task // by entry
	queue  []*task // those that are not kept
	greedy []*task // those that need more memory than their part
	memory int64   // bytes, for all child processes: what the run leaves of their limit

	mu      sync.Mutex
	done    int
	all     int      // that are not kept
	answers *answers // nil: nothing is kept
}

// task is what is built for one or more entries.
type task struct {
	entry Entry
	key   sum
	outcome
	without string // a file that it asked for and is not known to read
}

// charge charges what is held of a task until the run ends.
func (r *run) charge(t *task) error {
	bytes := len(t.Text) + len(t.Err)
	for _, o := range t.Objects {
		bytes += len(o.Group) + len(o.Kind) + len(o.Namespace) + len(o.Name) + len(o.File) + len(o.Path) + len(o.Source)
	}
	r.nodes += len(t.Objects)
	return cmp.Or(r.Meter.Take(meter.Nodes, len(t.Objects), t.entry.Path), r.Meter.Take(meter.Bytes, bytes, t.entry.Path))
}

// missed finds what a build asked for of the tree and is not known to read. What it asked for is not kept any longer.
func (t *task) missed() {
	for _, q := range t.Asked {
		name, file := strings.CutPrefix(string(q), string(askFile))
		if file && t.entry.Misses != nil && path.Base(name) != kustomize.SourceIgnore && t.entry.Misses(name) {
			t.without = name
			break
		}
	}
	t.Asked = nil
}

// free gives back what is held no longer once the results are the caller's.
func (r *run) free() {
	r.Meter.Give(meter.Bytes, r.bytes)
	r.Meter.Give(meter.Nodes, r.nodes)
}

// load reads the tree's files.
func (r *run) load() error {
	r.header.Limits = r.Limits
	if err := r.Meter.Err(); err != nil {
		return err
	}
	if len(r.Files) > maxFiles {
		return errors.New(wordManyFiles())
	}
	for _, name := range r.Files {
		r.add(r.Tree, name)
	}
	return r.Meter.Err()
}

// add reads a file, or notes that it is in the tree and was not read.
func (r *run) add(tree fs.FS, name string) {
	text, err := kustomize.ReadFile(tree, name, min(maxFile, maxBytes-r.bytes))
	size := int64(len(text))
	if err != nil {
		text, size = nil, -1
	}
	r.bytes += len(text)
	if r.Meter.Take(meter.Bytes, len(text), name) != nil {
		return
	}
	r.header.Files, r.texts = append(r.header.Files, sent{name, size}), append(r.texts, text)
}

// plan finds which entries make the same, and which of them are kept.
func (r *run) plan() error {
	program := r.open()
	known := map[sum]*task{}
	for _, e := range r.Entries {
		e.Variables = manifest.Variables{} // they are filled in afterwards
		e.Patches = slices.Clone(e.Patches)
		for i := range e.Patches {
			e.Patches[i].Place = manifest.Place{}
		}
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		key := keyOf(program, text, r.Limits)
		t := known[key]
		if t == nil {
			t = &task{entry: e, key: key}
			known[key], r.tasks = t, append(r.tasks, t)
			if r.answers == nil {
				r.queue = append(r.queue, t)
			} else if o, ok := r.Cache.get(key, r.answers); ok {
				t.outcome = o
				if t.missed(); r.charge(t) != nil {
					return r.Meter.Err()
				}
			} else {
				r.queue = append(r.queue, t)
			}
		}
		r.of = append(r.of, t)
	}
	return nil
}

// open gives the program that builds, and prepares the tree to be compared with what is kept, if anything is.
func (r *run) open() sum {
	program, ok := r.Cache.identity(r.Command)
	if !ok {
		return sum{}
	}
	tree := newFiles()
	for i, f := range r.header.Files {
		tree.add(f.Name, r.texts[i], f.Size < 0)
	}
	tree.sort()
	r.answers = newAnswers(tree)
	return program
}

// build builds what is not kept.
func (r *run) build(ctx context.Context) error {
	if len(r.queue) == 0 {
		return ctx.Err()
	}
	r.all = len(r.queue)
	r.progress()
	within, cancel := context.WithTimeout(ctx, r.Limits.All)
	defer cancel()
	defer context.AfterFunc(r.Meter.Context(), cancel)()
	r.memory = min(r.Limits.Memory, max(childMemory, forAll-r.Meter.Held()))
	err := r.share(within, cancel, min(r.children(), len(r.queue)))
	if r.queue = r.greedy; len(r.queue) > 0 && err == nil { // each has all the memory that there is
		err = r.share(within, cancel, 1)
	}
	if r.answers != nil {
		r.Cache.trim()
	}
	return cmp.Or(r.Meter.Err(), ctx.Err(), err)
}

// share has some child processes build the queue. They share the memory.
func (r *run) share(within context.Context, cancel func(), n int) error {
	r.header.Limits.Memory, r.greedy = r.memory/int64(n), nil
	next, errs := make(chan *task), make(chan error, n)
	var wait sync.WaitGroup
	for range n {
		wait.Go(func() {
			if err := r.work(within, next); err != nil {
				errs <- err
				cancel()
			}
		})
	}
	for _, t := range r.queue {
		select {
		case next <- t:
		case <-within.Done():
			t.Err = r.late()
		}
	}
	close(next)
	wait.Wait()
	close(errs)
	return <-errs
}

// late is why an entry was not built in time.
func (r *run) late() string {
	if err := r.Meter.Err(); err != nil {
		return wordEnded(err)
	}
	return wordLate(r.Limits.All)
}

// perBuild is how much longer a run may take for each entry that was built: twice what most take on a busy machine.
const perBuild = 250 * time.Millisecond

// finish keeps what was built, and says how far the builds are.
func (r *run) finish(t *task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers != nil {
		r.Cache.put(t.key, t.outcome, r.answers)
	}
	if t.missed(); r.charge(t) != nil {
		t.outcome = outcome{Err: r.late()}
	}
	if t.Err == "" {
		r.Meter.Extend(perBuild)
	}
	r.done++
	r.progress()
}

func (r *run) progress() {
	if r.Progress != nil {
		r.Progress(r.done, r.all)
	}
}

// results is what the tasks made, with each entry's variables filled in.
func (r *run) results() []Result {
	out, seen := make([]Result, len(r.of)), map[*task]bool{}
	for i, t := range r.of {
		out[i].Text, out[i].Err, out[i].Remote, out[i].Missed = t.Text, t.Err, t.Remote, t.without
		if seen[t] && r.charge(t) != nil {
			out[i] = Result{Err: r.late()}
			continue
		}
		seen[t] = true
		out[i].Objects = slices.Grow(out[i].Objects, len(t.Objects))
		for _, o := range t.Objects {
			out[i].Objects = append(out[i].Objects, o.filled(r.Entries[i].Variables))
		}
	}
	return out
}

// work builds entries until there are no more. It fails if no child can be started.
func (r *run) work(ctx context.Context, next <-chan *task) error {
	runtime.LockOSThread() // on Linux a child ends with the thread that started it
	defer runtime.UnlockOSThread()
	var c *child
	defer func() { c.end() }()
	for t := range next {
		if c == nil {
			var err error
			if c, err = r.start(ctx); err != nil {
				if ctx.Err() == nil {
					return err
				}
				t.Err = r.late()
				continue
			}
		}
		var err error
		if t.outcome, err = c.build(t.entry, r.Limits.Entry); err != nil {
			c.end()
			why, memory := c.why(err)
			if memory && r.header.Limits.Memory < r.memory {
				r.put(t)
				c = nil
				continue
			}
			if ctx.Err() != nil && !memory {
				why = r.late()
			}
			t.outcome = outcome{Err: cmp.Or(why, wordSlow(r.Limits.Entry))}
			c = nil
		}
		r.finish(t)
	}
	return nil
}

// child is a process that builds.
type child struct {
	*Process
	out    *bufio.Reader
	stderr *tail
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
		return nil, fmt.Errorf("%s: %w%s", r.Command[0], err, c.stderr.reason())
	}
	return c, nil
}

// launch starts a child.
func (r *run) launch(ctx context.Context, network bool) (*child, error) {
	c := &child{stderr: &tail{}}
	var err error
	if c.Process, err = start(ctx, r.Command, c.stderr, network); err == nil {
		c.out = bufio.NewReader(c.Out)
	}
	return c, err
}

func (c *child) send(r *run) error {
	w := bufio.NewWriterSize(c.In, 1<<16)
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
func (c *child) build(e Entry, limit time.Duration) (outcome, error) {
	timer := time.AfterFunc(patience*limit, c.Stop)
	var result outcome
	err := writeFrame(c.In, e, maxEntry)
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
	c.End()
}

// put keeps a task for when it has more memory.
func (r *run) put(t *task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.greedy = append(r.greedy, t)
}

// why says why a child ended that should not have: "" where it was too slow, and whether it needed more memory.
func (c *child) why(err error) (why string, memory bool) {
	switch {
	case errors.Is(err, errSlow) || c.cmd.ProcessState.ExitCode() == exitSlow:
		return "", false
	case c.cmd.ProcessState.ExitCode() == exitMemory || bytes.Contains(c.stderr.text, []byte("out of memory")):
		return wordMemory, true
	}
	return wordDied + c.stderr.reason(), false
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
