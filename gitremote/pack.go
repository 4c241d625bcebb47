package gitremote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicegate/sluice/meter"
)

// Bounds of what is kept of a pack that a server sends; what it may cost is charged to the run.
const (
	maxCommit = 1 << 20 // bytes of one commit
	maxTree   = 8 << 20 // bytes of one directory: some 140,000 files
	keptPack  = 8 << 20 // bytes of a pack that is kept in memory: the commits of some 30,000 changes
)

// pack is a pack that a server sent: in memory if it is small, else a temporary file without a name. It is read from front to
// back, and only the objects of one kind are looked into, so that memory does not grow with it. That is what keeps a server that sends
// whole trees with every history (one without filters, as git is by default) from costing memory.
type pack struct {
	bytes io.ReaderAt
	file  *os.File // nil: it is in memory
	size  int64
	cost  *account
}

// spool receives a pack. It is read as long as somebody waits for it.
func spool(cost *account, from io.Reader) (*pack, error) {
	left := maxReceived - cost.packs
	from = io.LimitReader(from, left+1)
	kept, err := io.ReadAll(io.LimitReader(from, keptPack))
	p := &pack{bytes: bytes.NewReader(kept), size: int64(len(kept)), cost: cost}
	if err == nil && p.size == keptPack {
		err = p.spill(kept, from)
	}
	cost.received(p.size)
	if err == nil && p.size > left {
		err = fmt.Errorf("%w: "+sayReceived, ErrTooLarge, maxReceived>>30)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("receive objects: %w", err), p.Close())
	}
	return p, nil
}

// spill puts what was kept, and what follows, into a temporary file.
func (p *pack) spill(kept []byte, rest io.Reader) error {
	f, err := os.CreateTemp(p.cost.room, "sluice-*.pack")
	if err != nil {
		return fmt.Errorf(sayNoDirectory+": %w", keptPack>>20, err)
	}
	p.bytes, p.file = f, f
	if err := os.Remove(f.Name()); err != nil { // from the directory alone, so that a kill leaves nothing behind
		return err
	}
	p.size, err = io.Copy(f, io.MultiReader(bytes.NewReader(kept), rest))
	return err
}

// Close ends the file, if there is one.
func (p *pack) Close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}

// reading is one pass over a pack for the objects of one kind, or of all.
type reading struct {
	kind   plumbing.ObjectType // AnyObject: of all
	limit  int64               // bytes of one object; larger ones are passed over
	sink   sink
	pack   *pack
	random *deltas                  // reads again what others are based on
	kinds  map[int64]struct{}       // where objects of this kind begin
	places map[plumbing.Hash]int64  // the same by name
	late   []*packfile.ObjectHeader // deltas whose base was not seen yet
	nodes  int                      // that all of these take
}

// sink is who gets the objects of a pack. It ends the pass with errStop, and must not keep the bytes.
type sink func(h plumbing.Hash, kind plumbing.ObjectType, content []byte) error

// sentPack is the place of what a server sent.
const sentPack = "the server's pack"

var (
	errStop   = errors.New("enough")
	errNoBase = errors.New("the server's pack has deltas whose bases are in neither the pack nor the mirror")
)

// each gives every object of a kind to sink, in the pack's order but for deltas that stand before their base, with the hash of its content. It returns
// where each began. Bases of deltas may be elsewhere; nil: they are in the pack. Who wants all kinds gets all but files that are too large, or an error.
func (p *pack) each(kind plumbing.ObjectType, limit int64, elsewhere finder, to sink) (map[plumbing.Hash]int64, error) {
	r := &reading{kind: kind, limit: limit, sink: to, pack: p, kinds: map[int64]struct{}{}, places: map[plumbing.Hash]int64{}}
	r.random = &deltas{
		scan: packfile.NewScanner(io.NewSectionReader(p.bytes, 0, p.size)), cost: p.cost, place: sentPack, cache: cache.NewBufferLRU(cacheBytes),
		elsewhere: elsewhere,
		find: func(h plumbing.Hash) (int64, error) {
			if at, ok := r.places[h]; ok {
				return at, nil
			}
			return 0, plumbing.ErrObjectNotFound
		},
	}
	err := r.run()
	p.cost.drop(r.nodes, 0)
	if err != nil && !errors.Is(err, errStop) {
		return nil, fmt.Errorf("read objects: %w", err)
	}
	return r.places, nil
}

// run is the pass, and then as many looks at the deltas that were late as find a base.
func (r *reading) run() error {
	scan := packfile.NewScanner(io.NewSectionReader(r.pack.bytes, 0, r.pack.size))
	_, count, err := scan.Header()
	if err != nil {
		return err
	}
	for range count {
		h, err := scan.NextObjectHeader()
		if err == nil {
			err = r.visit(h, scan)
		}
		if err != nil {
			return err
		}
	}
	if _, err := scan.Checksum(); err != nil { // which it verifies
		return err
	}
	for before := 0; len(r.late) != before; {
		late := r.late
		before, r.late = len(late), nil
		for _, h := range late {
			if err := r.delta(h); err != nil {
				return err
			}
		}
	}
	if r.kind == plumbing.AnyObject && len(r.late) > 0 {
		return errNoBase
	}
	return nil
}

// visit looks at one object of the pass. All of it is read, so that what it inflates to is counted.
func (r *reading) visit(h *packfile.ObjectHeader, scan *packfile.Scanner) error {
	if err := r.pack.cost.take(meter.Steps, 1, sentPack); err != nil {
		return err
	}
	all := r.kind == plumbing.AnyObject
	fits := h.Length <= r.limit && !h.Type.IsDelta() && (all || h.Type == r.kind)
	var content bytes.Buffer
	to := io.Writer(made{r.pack.cost, sentPack})
	if fits {
		to = io.MultiWriter(to, &content)
	}
	if _, _, err := scan.NextObject(to); err != nil {
		return err
	}
	switch _, ours := r.kinds[h.OffsetReference]; {
	case h.Type == plumbing.OFSDeltaObject && !ours && !all:
		return nil // of another kind
	case h.Type.IsDelta() && ours:
		return r.delta(h)
	case h.Type.IsDelta():
		if err := r.node(); err != nil { // it may be late
			return err
		}
		return r.delta(h)
	case h.Type < plumbing.CommitObject || h.Type > plumbing.TagObject:
		return fmt.Errorf("%w: an object of type %d", packfile.ErrMalformedPackFile, h.Type)
	case fits:
		r.random.keep(h.Offset, h.Type, content.Bytes())
		return r.give(h.Offset, h.Type, content.Bytes())
	case all && h.Type != plumbing.BlobObject:
		return fmt.Errorf("%w: a %s of %d bytes", ErrTooLarge, h.Type, h.Length)
	case all || h.Type == r.kind:
		return r.mark(h.Offset) // what is based on it may be small
	}
	return nil
}

// node charges one more object that is remembered.
func (r *reading) node() error {
	r.nodes++
	return r.pack.cost.hold(1, 0, sentPack)
}

// mark records where an object of the kind begins.
func (r *reading) mark(at int64) error {
	r.kinds[at] = struct{}{}
	return r.node()
}

// delta looks at an object that is kept as a change to another one. One whose base was not seen yet waits for that: it may come, or be of another
// kind. Fail closed: whoever lacks the object finds it missing.
func (r *reading) delta(h *packfile.ObjectHeader) error {
	content, kind, err := r.random.read(h.Offset, r.limit)
	switch {
	case errors.Is(err, plumbing.ErrObjectNotFound):
		r.late = append(r.late, h)
		return nil
	case errors.Is(err, errLarge):
		return r.mark(h.Offset) // passed over, as large ones are that are kept whole
	case err != nil:
		return err
	}
	return r.give(h.Offset, kind, content)
}

// give hands an object on, once.
func (r *reading) give(at int64, kind plumbing.ObjectType, content []byte) error {
	if err := r.mark(at); err != nil {
		return err
	}
	h := plumbing.ComputeHash(kind, content)
	if _, again := r.places[h]; again {
		return nil
	}
	r.places[h] = at
	return r.sink(h, kind, content)
}

// commits adds every commit of the pack to a graph.
func (p *pack) commits(g *graph) error {
	_, err := p.each(plumbing.CommitObject, maxCommit, nil, func(_ plumbing.Hash, _ plumbing.ObjectType, content []byte) error {
		c, err := decodeCommit(content)
		if err != nil {
			return err
		}
		return g.add(c)
	})
	return err
}

// find is one object of the pack.
func (p *pack) find(kind plumbing.ObjectType, want plumbing.Hash, limit int64) (found []byte, err error) {
	_, err = p.each(kind, limit, nil, func(h plumbing.Hash, _ plumbing.ObjectType, content []byte) error {
		if h != want {
			return nil
		}
		found = append([]byte{}, content...)
		return errStop
	})
	if err == nil && found == nil {
		err = fmt.Errorf("%w: %s %s, or it is too large", ErrIncomplete, kind, want)
	}
	return found, err
}

// decodeCommit reads a commit, but for the headers after the first ones, of which nothing is asked: go-git puts a signature together line by line, which takes
// the square of what it has.
func decodeCommit(content []byte) (*object.Commit, error) {
	headers, message := content, []byte{}
	if i := bytes.Index(content, []byte("\n\n")); i >= 0 {
		headers, message = content[:i+1], content[i+1:]
	}
	n := 0 // bytes of the first headers
	for line := range bytes.Lines(headers) {
		key, _, _ := bytes.Cut(bytes.TrimRight(line, "\n"), []byte(" "))
		if !slices.Contains([]string{"tree", "parent", "author", "committer"}, string(key)) {
			break
		}
		n += len(line)
	}
	c := &object.Commit{}
	err := c.Decode(memory(plumbing.CommitObject, slices.Concat(headers[:n], message)))
	c.Hash = plumbing.ComputeHash(plumbing.CommitObject, content)
	return c, err
}

// memory is an object for go-git's decoders.
func memory(kind plumbing.ObjectType, content []byte) plumbing.EncodedObject {
	o := &plumbing.MemoryObject{}
	o.SetType(kind)
	_, _ = o.Write(content) // writing to memory cannot fail
	return o
}
