package gitremote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/utils/sync"
)

// Bounds of a clone's object database.
const (
	maxAlternates = 5        // directories of objects that lead to each other, as git has it
	maxDirs       = 64       // directories of objects in all
	maxPacks      = 10_000   // packs in all; git gc leaves 50 at most
	maxHeader     = 32       // bytes of a loose object's type and size
	cacheBytes    = 32 << 20 // objects kept in memory
	packShift     = 40       // bits of a place in a pack: the places of several packs share one cache
)

// objects is the object database of a clone: loose objects, packs, and those of the directories that it names as alternates.
// go-git's own has no bounds: what it is asked for it inflates, whatever that is. Every object is read against a meter, no further
// than a limit, and given only if its content has its name.
type objects struct {
	meter  meter
	dirs   []string
	packs  []*diskPack
	opened bool // packs were looked for
	cache  *cache.BufferLRU

	indexed int64 // objects that the packs' indexes name
}

// diskPack is a pack with its index.
type diskPack struct {
	file   *os.File
	index  *index
	deltas *deltas
}

// openObjects opens the directory of objects at a path.
func openObjects(ctx context.Context, dir string) (*objects, error) {
	o := &objects{meter: meter{ctx, &budget{}}, cache: cache.NewBufferLRU(cacheBytes)}
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
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
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
	o.packs, o.opened, o.indexed = nil, false, 0
	return errors.Join(errs...)
}

// read is an object of at most limit bytes, and its type. plumbing.ErrObjectNotFound: there is none of that name.
func (o *objects) read(h plumbing.Hash, limit int64) ([]byte, plumbing.ObjectType, error) {
	if err := o.meter.spend(stepCost); err != nil {
		return nil, plumbing.InvalidObject, err
	}
	content, kind, err := o.packed(h, limit)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		content, kind, err = o.loose(h, limit)
	}
	if err == nil && plumbing.ComputeHash(kind, content) != h {
		err = fmt.Errorf("%w: the content of %s is not that object's", packfile.ErrMalformedPackFile, h)
	}
	if err == nil {
		err = o.meter.spend(len(content)) // what is kept costs too: it may be asked for without end
	}
	return content, kind, err
}

// loose reads an object that is a file of its own.
func (o *objects) loose(h plumbing.Hash, limit int64) (content []byte, kind plumbing.ObjectType, err error) {
	name := h.String()
	for _, dir := range o.dirs {
		f, err := openRegular(filepath.Join(dir, name[:2], name[2:]), maxObject)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, plumbing.InvalidObject, err
		}
		if info, err := f.Stat(); err == nil {
			o.meter.spent.received += info.Size()
		}
		content, kind, err = o.inflate(bufio.NewReader(f), limit)
		return content, kind, errors.Join(err, f.Close())
	}
	return nil, plumbing.InvalidObject, plumbing.ErrObjectNotFound
}

// inflate reads a loose object: its type, its size, and its content. Nothing in it is believed before it was read.
func (o *objects) inflate(from io.Reader, limit int64) ([]byte, plumbing.ObjectType, error) {
	z, err := sync.GetZlibReader(from)
	if err != nil {
		return nil, plumbing.InvalidObject, err
	}
	defer sync.PutZlibReader(z)
	var raw bytes.Buffer
	if _, err := io.Copy(io.MultiWriter(o.meter, &raw), io.LimitReader(z.Reader, maxHeader+limit+1)); err != nil {
		return nil, plumbing.InvalidObject, err
	}
	header, content, _ := bytes.Cut(raw.Bytes(), []byte{0})
	word, size, ok := strings.Cut(string(header[:min(len(header), maxHeader)]), " ")
	kind, err := plumbing.ParseObjectType(word)
	n, bad := strconv.ParseInt(size, 10, 64)
	switch {
	case err != nil || bad != nil || !ok:
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
	for _, p := range o.packs {
		at, err := p.index.find(h)
		if err == nil {
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
	if err := o.openPacks(); err != nil {
		return errors.Join(err, o.Close())
	}
	o.opened = true
	return nil
}

func (o *objects) openPacks() error {
	for _, dir := range o.dirs {
		entries, err := os.ReadDir(filepath.Join(dir, "pack"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			base, ok := strings.CutSuffix(e.Name(), ".idx")
			if !ok || !strings.HasPrefix(base, "pack-") {
				continue
			}
			if err := o.openPack(filepath.Join(dir, "pack", base)); err != nil {
				return err
			}
		}
	}
	return nil
}

// openPack opens one pack. One whose index or content went meanwhile was repacked by a git that runs at once.
func (o *objects) openPack(base string) error {
	if len(o.packs) >= maxPacks {
		return fmt.Errorf("%w: %d packs; git gc makes one of them", ErrTooLarge, maxPacks)
	}
	index, err := openIndex(base + ".idx")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		if o.indexed += index.total[256]; o.indexed > maxIndexed {
			err = errors.Join(fmt.Errorf("%w: "+sayIndexed, ErrTooLarge, maxIndexed), index.file.Close())
		}
	}
	if err != nil {
		return fmt.Errorf("read %s.idx: %w", filepath.Base(base), err)
	}
	pack, err := openRegular(base+".pack", 1<<packShift)
	if err != nil {
		if err = errors.Join(err, index.file.Close()); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	if info, err := pack.Stat(); err == nil {
		o.meter.spent.received += info.Size()
	}
	d := &deltas{scan: packfile.NewScanner(pack), find: index.find, meter: o.meter, cache: o.cache, shift: int64(len(o.packs)) << packShift}
	o.packs = append(o.packs, &diskPack{pack, index, d})
	return nil
}

// beginning is the names of the objects that begin so, in hexadecimal.
func (o *objects) beginning(prefix string) (found []plumbing.Hash, err error) {
	first, err := hex.DecodeString(prefix[:2])
	if err == nil {
		err = o.open()
	}
	if err != nil {
		return nil, err
	}
	keep := func(h plumbing.Hash) {
		if strings.HasPrefix(h.String(), prefix) {
			found = append(found, h)
		}
	}
	for _, dir := range o.dirs {
		entries, err := os.ReadDir(filepath.Join(dir, prefix[:2]))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if name := prefix[:2] + e.Name(); plumbing.IsHash(name) {
				keep(plumbing.NewHash(name))
			}
		}
	}
	for _, p := range o.packs {
		names, err := p.index.names(first[0])
		if err != nil {
			return nil, err
		}
		for name := range slices.Chunk(names, nameSize) {
			keep(plumbing.Hash(name))
		}
	}
	plumbing.HashesSort(found)
	return slices.Compact(found), nil
}
