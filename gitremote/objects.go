package gitremote

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/utils/sync"

	"github.com/sluicegate/sluice/meter"
)

// Bounds of a clone's object database.
const (
	maxAlternates = 5        // directories of objects that lead to each other, as git has it
	maxDirs       = 64       // directories of objects in all
	maxHeader     = 32       // bytes of a loose object's type and size
	cacheBytes    = 16 << 20 // objects kept in memory
	packShift     = 40       // bits of a place in a pack: the places of several packs share one cache
)

// objects is the object database of a clone: loose objects, packs, and those of the directories that it names as alternates.
// go-git's own has no bounds: what it is asked for it inflates, whatever that is. Every object is charged before it is made, read no further
// than a limit, and given only if its content has its name.
type objects struct {
	cost   *account
	dirs   []string
	packs  []*diskPack // the one that had the last object first
	opened bool        // packs were looked for
	asOf   time.Time   // when packs had last come or gone by then
	cache  *cache.BufferLRU
}

// diskPack is a pack with its index.
type diskPack struct {
	file   *os.File
	index  *index
	deltas *deltas
}

// openObjects opens the directory of objects at a path.
func openObjects(cost *account, dir string) (*objects, error) {
	o := &objects{cost: cost, cache: cache.NewBufferLRU(cacheBytes)}
	return o, o.add(dir, 0)
}

// add adds a directory of objects and those that it leads to. One that does not exist is empty, as in git.
func (o *objects) add(dir string, depth int) error {
	if depth > maxAlternates || len(o.dirs) >= maxDirs {
		return fmt.Errorf("%w: directories of objects that lead to each other", ErrTooLarge)
	}
	if slices.Contains(o.dirs, dir) {
		return nil
	}
	o.dirs = append(o.dirs, dir)
	text, err := readSmall(filepath.Join(dir, "info", "alternates"))
	if err != nil {
		return unlessAbsent(err)
	}
	for line := range strings.Lines(text) {
		to := strings.TrimRight(line, "\r\n")
		if to == "" || to[0] == '#' {
			continue
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		if err := o.add(filepath.Clean(to), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// Close lets go of the packs.
func (o *objects) Close() error {
	var errs []error
	for _, p := range o.packs {
		errs = append(errs, p.file.Close(), p.index.file.Close())
	}
	o.cost.drop(packNodes*len(o.packs), 0)
	o.packs, o.opened = nil, false
	o.cache.Clear() // places of packs that are no more
	return errors.Join(errs...)
}

// read is an object of at most limit bytes, and its type. plumbing.ErrObjectNotFound: there is none of that name.
func (o *objects) read(h plumbing.Hash, limit int64) ([]byte, plumbing.ObjectType, error) {
	content, kind, err := o.packed(h, limit)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		content, kind, err = o.loose(h, limit)
	}
	if errors.Is(err, plumbing.ErrObjectNotFound) && o.repacked().After(o.asOf) { // by a git that runs at once
		if err = o.Close(); err == nil {
			content, kind, err = o.packed(h, limit)
		}
	}
	if err == nil {
		err = o.cost.make(len(content), "objects") // what is kept costs too: it may be asked for without end
	}
	if err == nil && plumbing.ComputeHash(kind, content) != h {
		err = fmt.Errorf("%w: the content of %s is not that object's", packfile.ErrMalformedPackFile, h)
	}
	return content, kind, err
}

// loose reads an object that is a file of its own.
func (o *objects) loose(h plumbing.Hash, limit int64) (content []byte, kind plumbing.ObjectType, err error) {
	name := h.String()
	for _, dir := range o.dirs {
		if err := o.cost.take(meter.Steps, 1, dir); err != nil {
			return nil, plumbing.InvalidObject, err
		}
		f, _, err := openRegular(filepath.Join(dir, name[:2], name[2:]), math.MaxInt64)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, plumbing.InvalidObject, err
		}
		content, kind, err = o.inflate(f, limit)
		return content, kind, errors.Join(err, f.Close())
	}
	return nil, plumbing.InvalidObject, plumbing.ErrObjectNotFound
}

// inflate reads a loose object: its type, its size, and its content. Nothing in it is believed before it was read.
func (o *objects) inflate(from *os.File, limit int64) ([]byte, plumbing.ObjectType, error) {
	z, err := sync.GetZlibReader(bufio.NewReader(from))
	if err != nil {
		return nil, plumbing.InvalidObject, err
	}
	defer sync.PutZlibReader(z)
	var raw bytes.Buffer
	if _, err := io.Copy(io.MultiWriter(made{o.cost, from.Name()}, &raw), io.LimitReader(z.Reader, maxHeader+limit+1)); err != nil {
		return nil, plumbing.InvalidObject, err
	}
	header, content, _ := bytes.Cut(raw.Bytes(), []byte{0})
	word, size, _ := strings.Cut(string(header[:min(len(header), maxHeader)]), " ")
	kind, err := plumbing.ParseObjectType(word)
	n, bad := strconv.ParseInt(size, 10, 64)
	switch {
	case err != nil || bad != nil:
		return nil, kind, fmt.Errorf("%w: a loose object without a header", errMalformed)
	case n > limit:
		return nil, kind, errLarge
	case n != int64(len(content)):
		return nil, kind, fmt.Errorf("%w: a loose object is cut off", errMalformed)
	}
	return content, kind, nil
}

// packed reads an object of a pack.
func (o *objects) packed(h plumbing.Hash, limit int64) ([]byte, plumbing.ObjectType, error) {
	if err := o.open(); err != nil {
		return nil, plumbing.InvalidObject, err
	}
	for i, p := range o.packs {
		if err := o.cost.compare(i, p.deltas.place); err != nil {
			return nil, plumbing.InvalidObject, err
		}
		at, err := p.index.find(h)
		if err == nil {
			copy(o.packs[1:i+1], o.packs[:i])
			o.packs[0] = p
			return p.deltas.read(at, limit)
		}
		if !errors.Is(err, plumbing.ErrObjectNotFound) {
			return nil, plumbing.InvalidObject, err
		}
	}
	return nil, plumbing.InvalidObject, plumbing.ErrObjectNotFound
}

// open opens the packs, once. After a failure none is open: what is read next begins anew.
func (o *objects) open() error {
	if o.opened {
		return nil
	}
	o.opened, o.asOf = true, o.repacked()
	for _, dir := range o.dirs {
		if err := o.cost.names(filepath.Join(dir, "pack"), func(name string) error {
			base, ok := strings.CutSuffix(name, ".idx")
			if !ok || !strings.HasPrefix(base, "pack-") {
				return nil
			}
			return o.openPack(filepath.Join(dir, "pack", base))
		}); err != nil {
			return errors.Join(err, o.Close())
		}
	}
	return nil
}

// repacked is when packs last came or went.
func (o *objects) repacked() (last time.Time) {
	for _, dir := range o.dirs {
		if info, err := os.Stat(filepath.Join(dir, "pack")); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// openPack opens one pack. One whose index or content went meanwhile was repacked by a git that runs at once.
func (o *objects) openPack(base string) error {
	if err := o.cost.hold(packNodes, 0, base); err != nil {
		return err
	}
	index, err := openIndex(base + ".idx")
	if err != nil {
		return unlessAbsent(fmt.Errorf("read %s.idx: %w", filepath.Base(base), err))
	}
	pack, size, err := openRegular(base+".pack", 1<<packShift)
	if err != nil {
		return unlessAbsent(errors.Join(err, index.file.Close()))
	}
	o.cost.received(size)
	d := &deltas{scan: packfile.NewScanner(pack), find: index.find, cost: o.cost, place: base + ".pack", cache: o.cache, shift: int64(len(o.packs)) << packShift}
	o.packs = append(o.packs, &diskPack{pack, index, d})
	return nil
}

// beginning is the names of the objects that begin so, in hexadecimal.
func (o *objects) beginning(prefix string) (found []plumbing.Hash, err error) {
	if err := o.open(); err != nil {
		return nil, err
	}
	first := plumbing.NewHash(prefix + strings.Repeat("0", 2*nameSize-len(prefix)))
	for _, dir := range o.dirs {
		if err := o.cost.names(filepath.Join(dir, prefix[:2]), func(name string) error {
			if name = prefix[:2] + name; plumbing.IsHash(name) && strings.HasPrefix(name, prefix) {
				found = append(found, plumbing.NewHash(name))
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	for _, p := range o.packs {
		at, _, err := p.index.search(first)
		for ; err == nil && at < p.index.total[256]; at++ {
			var h plumbing.Hash
			if h, err = p.index.name(at); !strings.HasPrefix(h.String(), prefix) {
				break
			}
			if err == nil {
				found, err = append(found, h), o.cost.hold(1, 0, p.deltas.place)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	plumbing.HashesSort(found)
	return slices.Compact(found), nil
}
