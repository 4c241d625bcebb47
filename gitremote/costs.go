package gitremote

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"

	"github.com/sluicegate/sluice/meter"
)

// What stands for what in a run's meter, and what no meter counts.
const (
	maxReceived = 2 << 30 // bytes of packs from a server: they lie on the disk; more than all of kubernetes
	perByte     = 32      // bytes that may be inflated besides for each byte of a pack: git's make 3, and are read up to 5 times
	maxChain    = 4095    // deltas upon each other: the most that git writes; it makes 50 unless it is asked for more
	quick       = 16      // entries, names or commits that are compared in the time of one step
	packNodes   = 100     // nodes that an open pack takes: its table of first bytes, and what it is read through
	fileSteps   = 8       // steps that a ref in a file of its own takes: it is looked at twice, opened and read
	pathNodes   = 4       // nodes that a changed path takes: what stood and stands there, its place in the list, and what it is paired with
	refLine     = 43      // bytes of the shortest ref in a list of them
	lineBytes   = 16      // bytes that reading a config takes for each of its bytes: where each of its lines begins is kept
)

// account charges a run for what is read of one repository, for as long as somebody waits for that. Everything that is read asks it, before it is
// taken, so that nothing goes on long after its caller has had enough.
type account struct {
	ctx   context.Context
	meter *meter.Meter
	rest  int    // bytes that were made, and are no step yet
	packs int64  // bytes of all packs
	room  string // directory for what is too large for memory; "": the system's
}

// take charges the run. A place of no name is the root of a tree.
func (a *account) take(k meter.Kind, n int, place string) error {
	if err := a.ctx.Err(); err != nil && a.meter.Err() == nil {
		return err
	}
	return a.meter.Take(k, n, cmp.Or(place, "."))
}

// make charges the run for the time that making so many bytes takes: a step for each KiB.
func (a *account) make(n int, place string) error {
	a.rest += n
	steps := a.rest >> 10
	a.rest &= 1<<10 - 1
	return a.take(meter.Steps, steps, place)
}

// hold charges the run for what is kept.
func (a *account) hold(nodes, bytes int, place string) error {
	if err := a.take(meter.Entries, nodes, place); err != nil {
		return err
	}
	return a.take(meter.Bytes, bytes, place)
}

// drop gives back what was held.
func (a *account) drop(nodes, bytes int) {
	a.meter.Give(meter.Entries, nodes)
	a.meter.Give(meter.Bytes, bytes)
}

// compare charges the run for looking at so many things that stand in memory.
func (a *account) compare(n int, place string) error {
	return a.take(meter.Steps, 1+n/quick, place)
}

// received lets the run inflate what a pack of so many bytes may need; no more for a file of holes than for what a server may send.
func (a *account) received(n int64) {
	n = min(n, maxReceived-a.packs)
	a.packs += n
	a.meter.Allow(meter.Steps, int(n>>10)*perByte)
}

// names gives each name in a directory to visit; one that does not exist is empty. Few are held at once.
func (a *account) names(dir string, visit func(string) error) error {
	const few = 256
	f, err := os.Open(dir)
	if err != nil {
		return unlessAbsent(err)
	}
	defer f.Close() //nolint:errcheck // only read
	for {
		names, err := f.Readdirnames(few)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := a.take(meter.Files, 1, dir); err != nil {
				return err
			}
			if err := visit(name); err != nil {
				return err
			}
		}
	}
}

// made charges for what is written to it: what an object inflates to, as it comes. That it is no longer than its header says is go-git's.
type made struct {
	*account
	place string
}

func (m made) Write(p []byte) (int, error) { return len(p), m.make(len(p), m.place) }
