package gitremote

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Bounds of a pack that a server sends.
const (
	maxPack    = 8 << 30  // bytes on disk
	maxObjects = 50 << 20 // its objects, of which nothing is kept
	maxCommit  = 1 << 20  // bytes of one commit
	maxTree    = 16 << 20 // bytes of one directory
	maxChain   = 5_000    // deltas upon each other; git itself makes 50
	maxLate    = 100_000  // deltas that stand before what they are based on
	packCache  = 4 << 20  // bytes of objects kept, because the next ones are often based on them
)

// pack is a pack that a server sent: a temporary file, gone when it is closed. It is read from front to back, and only the
// objects of one kind are looked into, so that memory does not grow with it. That is what keeps a server that sends whole
// trees with every history (one without filters, as git is by default) from costing memory.
type pack struct {
	file *os.File
	size int64
}

// spool takes a pack in.
func spool(from io.Reader) (*pack, error) {
	f, err := os.CreateTemp("", "sluice-*.pack")
	if err != nil {
		return nil, err
	}
	p := &pack{file: f}
	// Gone from the directory at once where the system can do that, so that a kill leaves nothing behind.
	_ = os.Remove(f.Name())
	p.size, err = io.Copy(f, io.LimitReader(from, maxPack+1))
	if err == nil && p.size > maxPack {
		err = fmt.Errorf("%w: a pack of more than %d bytes", ErrTooLarge, int64(maxPack))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("receive objects: %w", err), p.Close())
	}
	return p, nil
}

// Close removes the file.
func (p *pack) Close() error {
	err := p.file.Close()
	if gone := os.Remove(p.file.Name()); gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// reading is one pass over a pack for the objects of one kind.
type reading struct {
	kind   plumbing.ObjectType
	limit  int64 // bytes of one object; larger ones are passed over
	sink   func(plumbing.Hash, []byte) error
	pack   *pack
	random *packfile.Scanner        // reads again what others are based on
	kinds  map[int64]struct{}       // where objects of this kind begin
	hashes map[plumbing.Hash]int64  // the same by name, if the pack names bases so
	late   []*packfile.ObjectHeader // deltas whose base was not seen yet
	cache  *cache.BufferLRU
}

// errStop ends a pass early.
var errStop = errors.New("enough")

// each gives every object of a kind to sink, in the pack's order, with the hash of its content. sink ends the pass with
// errStop; it must not keep the bytes.
func (p *pack) each(kind plumbing.ObjectType, limit int64, sink func(plumbing.Hash, []byte) error) error {
	r := &reading{
		kind: kind, limit: limit, sink: sink, pack: p, random: packfile.NewScanner(io.NewSectionReader(p.file, 0, p.size)),
		kinds: map[int64]struct{}{}, hashes: map[plumbing.Hash]int64{}, cache: cache.NewBufferLRU(packCache),
	}
	if err := r.run(); err != nil && !errors.Is(err, errStop) {
		return fmt.Errorf("read objects: %w", err)
	}
	return nil
}

// run is the pass.
func (r *reading) run() error {
	scan := packfile.NewScanner(io.NewSectionReader(r.pack.file, 0, r.pack.size))
	_, count, err := scan.Header()
	if err != nil {
		return err
	}
	if count > maxObjects {
		return fmt.Errorf("%w: a pack of %d objects", ErrTooLarge, count)
	}
	for range count {
		h, err := scan.NextObjectHeader()
		if err != nil {
			return err
		}
		if err := r.take(h, scan); err != nil {
			return err
		}
	}
	if _, err := scan.Checksum(); err != nil { // which it verifies
		return err
	}
	return r.rest()
}

// take looks at one object as the pass comes to it.
func (r *reading) take(h *packfile.ObjectHeader, scan *packfile.Scanner) error {
	switch h.Type {
	case r.kind:
		r.kinds[h.Offset] = struct{}{}
		if h.Length > r.limit {
			return nil
		}
		var content bytes.Buffer
		if _, _, err := scan.NextObject(&content); err != nil {
			return err
		}
		return r.give(h.Offset, content.Bytes())
	case plumbing.OFSDeltaObject:
		if _, ours := r.kinds[h.OffsetReference]; ours {
			return r.delta(h)
		}
	case plumbing.REFDeltaObject:
		if at, ours := r.hashes[h.Reference]; ours {
			h.OffsetReference = at
			return r.delta(h)
		}
		return r.postpone(h)
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	default:
		return fmt.Errorf("%w: an object of type %d", packfile.ErrMalformedPackFile, h.Type)
	}
	return nil
}

// postpone keeps a delta whose base is named and not seen: it may come, or be of another kind.
func (r *reading) postpone(h *packfile.ObjectHeader) error {
	if len(r.late) >= maxLate {
		return nil // fail closed: whoever lacks the object finds it missing
	}
	r.late = append(r.late, h)
	return nil
}

// rest looks at the postponed deltas as often as that leads on.
func (r *reading) rest() error {
	for again := true; again && len(r.late) > 0; {
		again = false
		left := r.late[:0]
		for _, h := range r.late {
			at, ours := r.hashes[h.Reference]
			if !ours {
				left = append(left, h)
				continue
			}
			h.OffsetReference, again = at, true
			if err := r.delta(h); err != nil {
				return err
			}
		}
		r.late = left
	}
	return nil
}

// delta looks at an object that is kept as a change to another one of its kind.
func (r *reading) delta(h *packfile.ObjectHeader) error {
	r.kinds[h.Offset] = struct{}{}
	content, err := r.content(h.Offset, 0)
	if errors.Is(err, ErrTooLarge) {
		return nil // passed over, as large ones are that are kept whole
	}
	if err != nil {
		return err
	}
	return r.give(h.Offset, content)
}

// content reads an object again, with all that it is based on.
func (r *reading) content(at int64, depth int) ([]byte, error) {
	if kept, ok := r.cache.Get(at); ok {
		return kept, nil
	}
	if depth > maxChain {
		return nil, fmt.Errorf("%w: a chain of deltas", ErrTooLarge)
	}
	h, err := r.random.SeekObjectHeader(at)
	if err != nil {
		return nil, err
	}
	if h.Length > r.limit {
		return nil, fmt.Errorf("%w: an object", ErrTooLarge)
	}
	var raw bytes.Buffer
	if _, _, err := r.random.NextObject(&raw); err != nil {
		return nil, err
	}
	base := h.OffsetReference
	switch h.Type {
	case plumbing.REFDeltaObject:
		var known bool
		if base, known = r.hashes[h.Reference]; !known {
			return nil, fmt.Errorf("%w: a delta on nothing", packfile.ErrMalformedPackFile)
		}
	case plumbing.OFSDeltaObject:
	default:
		return raw.Bytes(), nil
	}
	under, err := r.content(base, depth+1)
	if err != nil {
		return nil, err
	}
	if size := grown(raw.Bytes()); size > uint64(r.limit) {
		return nil, fmt.Errorf("%w: an object", ErrTooLarge)
	}
	return packfile.PatchDelta(under, raw.Bytes())
}

// grown is the size of what a delta makes: the second of the two numbers that it begins with. Few bytes of a delta can ask
// for very many, so the size is looked at first. What is no delta is refused when it is applied.
func grown(delta []byte) uint64 {
	_, n := binary.Uvarint(delta)
	if n <= 0 {
		return 0
	}
	size, _ := binary.Uvarint(delta[n:])
	return size
}

// give hands an object on.
func (r *reading) give(at int64, content []byte) error {
	h := plumbing.ComputeHash(r.kind, content)
	r.hashes[h] = at
	r.cache.Put(at, content)
	return r.sink(h, content)
}

// commits takes every commit of the pack into a graph.
func (p *pack) commits(g *graph) error {
	return p.each(plumbing.CommitObject, maxCommit, func(h plumbing.Hash, content []byte) error {
		c, err := decodeCommit(content)
		if err != nil {
			return err
		}
		return g.add(entryOf(h, c))
	})
}

// find is one object of the pack.
func (p *pack) find(kind plumbing.ObjectType, limit int64, want plumbing.Hash) (found []byte, err error) {
	err = p.each(kind, limit, func(h plumbing.Hash, content []byte) error {
		if h != want {
			return nil
		}
		found = bytes.Clone(content)
		if found == nil {
			found = []byte{}
		}
		return errStop
	})
	if err == nil && found == nil {
		err = fmt.Errorf("%w: %s %s, or it is too large", ErrIncomplete, kind, want)
	}
	return found, err
}

// decodeCommit reads a commit.
func decodeCommit(content []byte) (*object.Commit, error) {
	c := &object.Commit{}
	return c, c.Decode(memory(plumbing.CommitObject, content))
}

// memory is an object for go-git's decoders.
func memory(kind plumbing.ObjectType, content []byte) plumbing.EncodedObject {
	o := &plumbing.MemoryObject{}
	o.SetType(kind)
	_, _ = o.Write(content) // memory takes everything
	return o
}

// entryOf is what a graph keeps of a commit.
func entryOf(h plumbing.Hash, c *object.Commit) entry {
	subject, _, _ := strings.Cut(strings.TrimLeft(c.Message, "\r\n"), "\n")
	if len(subject) > maxWords {
		subject = subject[:maxWords]
	}
	return entry{hash: h, parents: c.ParentHashes, note: note{at: c.Committer.When.UTC(), subject: strings.Clone(subject)}}
}
