// Package meter bounds what one run may cost: a command, or a look at a repository. Who reads somebody else's tree charges it before it takes
// something, by what it makes and not by what that is made of, so that a small tree cannot become a large process.
//
// A [Meter] belongs to one run, and all that reads, follows, builds and draws in it shares it. It ends once: at the first bound that is reached, when its
// time is over, or with the context that it was made with. From then on nothing can be charged, its own context is done, and [Meter.Err] says why, with
// the place and the bound. So a loop that charges each of its steps ends within one of them. A Meter is for any number of goroutines.
//
// How it fails: closed. Whoever finds that a meter has ended has seen a part, and must not decide by it.
package meter

import (
	"context"
	"fmt"
	"math"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Kind is something that a run takes.
type Kind int

// What a run takes.
const (
	// Bytes is of texts that are held, where they are not what a node says.
	Bytes Kind = iota
	// Nodes is of YAML and of the graph, with the small text that each has: what takes some [NodeBytes] each.
	Nodes
	// Steps is objects that are loaded, looked at, or compared: what takes some microseconds each.
	Steps
	// Files is files and directories that are looked at.
	Files
	// Depth is how deep one thing leads to the next. It does not add up: see [Meter.Reach].
	Depth
	// Time is by the clock, in nanoseconds. Nobody charges it.
	Time
	// Memory is of the process, in bytes, where somebody watches it: see [Meter.Watch]. Nobody charges it.
	Memory
	kinds
	// Entries is what git lists: objects, refs, what stands in directories. They take what nodes do and are counted with those, under their own name.
	Entries = kinds + Nodes
)

// NodeBytes is what a node takes: an object of the graph, or an entry of a map. Smaller things are charged by what they take of it.
const NodeBytes = 192

// Limits is how much of each kind a run may take. 0 is the default, and less is no bound.
type Limits [kinds]int64

// defaults is far beyond what a repository of 20,000 files and 500 entry points takes, and, with what Go keeps beside it, within 512 MiB and 30 seconds.
var defaults = Limits{Bytes: 64 << 20, Nodes: 1_500_000, Steps: 2_000_000, Files: 500_000, Depth: 50, Time: int64(30 * time.Second), Memory: -1}

// Error is the end of a run at a bound.
type Error struct {
	Place string // a file or directory of the tree, or a line of one; "": of the run as a whole
	Kind  Kind
	Limit int64
}

// maxPlace is how many bytes of a place are shown: a name may have millions.
const maxPlace = 256

// Error is the place and the bound, as compilers have it.
func (e *Error) Error() string {
	place := e.Place
	if len(place) > maxPlace {
		place = strings.ToValidUTF8(place[:maxPlace], "") + "…"
	}
	return strings.TrimPrefix(place+": more than "+amount(e.Kind, e.Limit), ": ")
}

// amount is how much of a kind, in words.
func amount(k Kind, n int64) string {
	switch k {
	case Bytes:
		if n < 1<<20 {
			return grouped(n>>10) + " KiB of text"
		}
		return grouped(n>>20) + " MiB of text"
	case Nodes:
		return grouped(n) + " nodes of YAML"
	case Entries:
		return grouped(n) + " objects, refs and directory entries"
	case Steps:
		return grouped(n) + " steps"
	case Files:
		return grouped(n) + " files and directories"
	case Depth:
		return fmt.Sprintf("%d levels deep", n)
	case Memory:
		return grouped(n>>20) + " MiB of memory"
	}
	return time.Duration(n).Round(time.Millisecond).String()
}

// grouped is a number as people read it: 200,000.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// Meter counts what one run takes.
type Meter struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	began  time.Time
	late   *time.Timer // nil: there is no end of time
	time   atomic.Int64
	paused atomic.Int64 // nanoseconds for which the clock stood still

	clock sync.Mutex
	waits int           // pauses that go on
	left  time.Duration // of the time, while the clock stands still

	limits Limits
	more   [kinds]atomic.Int64 // than limits
	used   [kinds]atomic.Int64
	most   [kinds]atomic.Int64
}

// New begins a run that ends with a context, at the latest when its time is over. Close ends it.
func New(ctx context.Context, l Limits) *Meter {
	for k := range l {
		if l[k] == 0 {
			l[k] = defaults[k]
		}
	}
	m := &Meter{began: time.Now(), limits: l}
	m.ctx, m.cancel = context.WithCancelCause(ctx)
	m.time.Store(l[Time])
	if l[Time] > 0 {
		m.late = time.AfterFunc(time.Duration(l[Time]), m.end)
		context.AfterFunc(m.ctx, func() { m.late.Stop() })
	}
	return m
}

// end ends a run whose time is over.
func (m *Meter) end() { m.cancel(&Error{Kind: Time, Limit: m.time.Load()}) }

// Unhurried is a run of its own with the default bounds, which takes the time that it takes.
func Unhurried() *Meter { return New(context.Background(), Limits{Time: -1}) }

// maxExtended is how many times as long a run may become.
const maxExtended = 4

// Extend gives a run more time for what was done well: many that are honest take long together, and one that takes long alone gets none.
func (m *Meter) Extend(d time.Duration) {
	m.clock.Lock()
	defer m.clock.Unlock()
	if m.late == nil || m.time.Load()+int64(d) > maxExtended*m.limits[Time] || m.Err() != nil {
		return
	}
	all := time.Duration(m.time.Add(int64(d)))
	if m.left += d; m.waits == 0 {
		m.late.Reset(all - m.spent())
	}
}

// spent is how much of its time a run took.
func (m *Meter) spent() time.Duration { return time.Since(m.began) - time.Duration(m.paused.Load()) }

// Pause stops the clock of a run that waits for somebody else, who has a time of his own, until the function that it gives is called. Where several wait it
// goes on after the last of them.
func (m *Meter) Pause() (resume func()) {
	m.clock.Lock()
	defer m.clock.Unlock()
	switch {
	case m.late == nil || m.waits == 0 && !m.late.Stop():
		return func() {}
	case m.waits == 0:
		if m.left = time.Duration(m.time.Load()) - m.spent(); m.left <= 0 {
			m.end()
		}
	}
	m.waits++
	return func() {
		m.clock.Lock()
		defer m.clock.Unlock()
		if m.waits--; m.waits == 0 {
			m.paused.Store(int64(time.Since(m.began)) - m.time.Load() + int64(m.left))
			m.late.Reset(m.left)
		}
	}
}

// Allow gives a run more of a kind, for much that came and that it has to read.
func (m *Meter) Allow(k Kind, n int) { m.more[k%kinds].Add(int64(n)) }

// limit is how much of a kind the run may take; less than 0: any.
func (m *Meter) limit(k Kind) int64 {
	if k %= kinds; m.limits[k] < 0 {
		return m.limits[k]
	}
	return m.limits[k] + m.more[k].Load()
}

// watchEach is how often the memory of a process is looked at.
const watchEach = 20 * time.Millisecond

// Watch ends the run once the process holds more than it may, in bytes: what its last collection of garbage has left, or what it has of the machine at all,
// garbage and what grows between two collections among it. It is for a process of one run, and is the net below the charges: whatever is held without being
// charged ends the run all the same, though at no place.
func (m *Meter) Watch(left, has int64) {
	m.limits[Memory] = left
	go func() {
		tick := time.NewTicker(watchEach)
		defer tick.Stop()
		for live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}; m.Err() == nil; {
			metrics.Read(live)
			_ = m.raise(Memory, int64(min(live[0].Value.Uint64(), math.MaxInt64)), "") // it is the meter's end
			if Mapped() > has {
				m.cancel(&Error{Kind: Memory, Limit: has})
			}
			select {
			case <-m.ctx.Done():
			case <-tick.C:
			}
		}
	}()
}

// Mapped is how many bytes of memory the process has, but for those of programs and of C.
func Mapped() int64 {
	of := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(of)
	return int64(min(of[0].Value.Uint64()-of[1].Value.Uint64(), math.MaxInt64))
}

// Drop says that nothing is held any more of what was.
func (m *Meter) Drop() {
	m.used[Bytes].Store(0)
	m.used[Nodes].Store(0)
}

// Close ends the run, and frees what it holds of its context.
func (m *Meter) Close() { m.cancel(context.Canceled) }

// Context is done when the run ends, for what is bounded by a context.
func (m *Meter) Context() context.Context { return m.ctx }

// Err is why the run ended: an [Error], or that of its context; nil: it goes on.
func (m *Meter) Err() error {
	if m.ctx.Err() == nil {
		return nil
	}
	return context.Cause(m.ctx)
}

// Take charges n of a kind for what stands at a place, before it is taken. After an error the run has ended, and nothing may be taken.
func (m *Meter) Take(k Kind, n int, place string) error {
	if err := m.Err(); err != nil {
		return err
	}
	return m.raise(k, m.used[k%kinds].Add(int64(n)), place)
}

// Give gives back what is held no longer.
func (m *Meter) Give(k Kind, n int) { m.used[k%kinds].Add(-int64(n)) }

// Mark is for what is given back together: back takes the run to where it was, whatever it took since.
func (m *Meter) Mark() (back func()) {
	var was [kinds]int64
	for k := range kinds {
		was[k] = m.used[k].Load()
	}
	return func() {
		for k := range kinds {
			m.used[k].Store(was[k])
		}
	}
}

// Reach is Take for what does not add up: a depth.
func (m *Meter) Reach(k Kind, n int, place string) error {
	if err := m.Err(); err != nil {
		return err
	}
	return m.raise(k, int64(n), place)
}

// raise notes how much of a kind there is, and ends the run where that is too much.
func (m *Meter) raise(k Kind, now int64, place string) error {
	high := &m.most[k%kinds]
	for most := high.Load(); now > most && !high.CompareAndSwap(most, now); {
		most = high.Load()
	}
	limit := m.limit(k)
	if limit < 0 || now <= limit {
		return nil
	}
	m.cancel(&Error{place, k, limit})
	return m.Err()
}

// Held is how many bytes the run holds by what it was charged.
func (m *Meter) Held() int64 { return m.used[Bytes].Load() + NodeBytes*m.used[Nodes].Load() }

// Reading is the most that a run took of a kind at once, and how much it may.
type Reading struct {
	Kind        Kind
	Used, Limit int64
}

// String is how near to its bound a run came, such as "12,400 of 500,000 files and directories".
func (r Reading) String() string {
	used, of := strings.TrimSuffix(amount(r.Kind, r.Used), " of text"), amount(r.Kind, r.Limit)
	if _, unit, found := strings.Cut(of, " "); found {
		used = strings.TrimSuffix(used, " "+unit)
	}
	return used + " of " + of
}

// Readings is how near to each of its bounds the run came.
func (m *Meter) Readings() []Reading {
	var out []Reading
	for k := range kinds {
		switch used := m.most[k].Load(); {
		case k == Time:
			out = append(out, Reading{k, int64(m.spent()), m.time.Load()})
		case k != Memory || m.limit(k) > 0: // which nobody may watch
			out = append(out, Reading{k, used, m.limit(k)})
		}
	}
	return out
}
