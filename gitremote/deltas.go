package gitremote

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/sluicegate/sluice/meter"
)

// worthKeeping is how many bytes an object must have to be kept: reading smaller ones again costs less than remembering them, which takes as much
// besides.
const worthKeeping = 256

// errLarge is an object of more bytes than are wanted of it. Others in its pack can be read.
var errLarge = fmt.Errorf("%w: an object", ErrTooLarge)

// deltas reads single objects of a pack with all that they are based on. However long a chain of deltas is, two of its objects
// are held at once, of no more than the limit, and the time that each one takes counts.
type deltas struct {
	scan      *packfile.Scanner
	find      func(plumbing.Hash) (int64, error) // where the object of a name begins
	elsewhere finder                             // reads a base that find does not find; nil: there is none
	cost      *account
	place     string           // the pack, for errors
	cache     *cache.BufferLRU // objects by place, each after a byte that is its type
	shift     int64            // of this pack's places in a cache that several share
}

// finder reads an object of at most limit bytes; plumbing.ErrObjectNotFound: there is none.
type finder func(h plumbing.Hash, limit int64) ([]byte, plumbing.ObjectType, error)

// keep remembers an object for those that are based on it.
func (d *deltas) keep(at int64, kind plumbing.ObjectType, content []byte) {
	if len(content) >= worthKeeping {
		d.cache.Put(d.shift+at, append([]byte{byte(kind)}, content...))
	}
}

// read is the object at a place, and its type. More than limit bytes, of it or of one that it is based on, are errLarge.
func (d *deltas) read(at, limit int64) ([]byte, plumbing.ObjectType, error) {
	var chain []int64
	for len(chain) <= maxChain {
		if kept, ok := d.cache.Get(d.shift + at); ok {
			return d.apply(chain, kept[1:], plumbing.ObjectType(kept[0]), limit)
		}
		h, err := d.seek(at)
		if err != nil {
			return nil, plumbing.InvalidObject, err
		}
		switch h.Type {
		case plumbing.REFDeltaObject:
			chain = append(chain, at)
			if at, err = d.find(h.Reference); errors.Is(err, plumbing.ErrObjectNotFound) && d.elsewhere != nil {
				var content []byte
				var kind plumbing.ObjectType
				if content, kind, err = d.elsewhere(h.Reference, limit); err == nil {
					return d.apply(chain, content, kind, limit)
				}
			}
			if err != nil {
				return nil, plumbing.InvalidObject, fmt.Errorf("the base of a delta: %w", err)
			}
		case plumbing.OFSDeltaObject:
			chain, at = append(chain, at), h.OffsetReference
		case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
			content, err := d.inflate(h, limit)
			if err != nil {
				return nil, plumbing.InvalidObject, err
			}
			d.keep(at, h.Type, content)
			return d.apply(chain, content, h.Type, limit)
		default:
			return nil, plumbing.InvalidObject, fmt.Errorf("%w: an object of type %d", packfile.ErrMalformedPackFile, h.Type)
		}
	}
	return nil, plumbing.InvalidObject, fmt.Errorf("%w: "+sayChain, ErrTooLarge, maxChain)
}

// apply makes the first object of a chain from what the last one is based on.
func (d *deltas) apply(chain []int64, content []byte, kind plumbing.ObjectType, limit int64) ([]byte, plumbing.ObjectType, error) {
	for i := len(chain) - 1; i >= 0; i-- {
		h, err := d.seek(chain[i])
		if err != nil {
			return nil, kind, err
		}
		delta, err := d.inflate(h, limit)
		if err != nil {
			return nil, kind, err
		}
		size := grown(delta)
		if size > uint64(limit) {
			return nil, kind, errLarge
		}
		if err := d.cost.make(int(size), d.place); err != nil {
			return nil, kind, err
		}
		if content, err = packfile.PatchDelta(content, delta); err != nil {
			return nil, kind, err
		}
		d.keep(chain[i], kind, content)
	}
	return content, kind, nil
}

// seek goes to an object.
func (d *deltas) seek(at int64) (*packfile.ObjectHeader, error) {
	if err := d.cost.take(meter.Steps, 1, d.place); err != nil {
		return nil, err
	}
	h, err := d.scan.SeekObjectHeader(at)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return h, err
}

// inflate is what stands at the place that seek went to.
func (d *deltas) inflate(h *packfile.ObjectHeader, limit int64) ([]byte, error) {
	if h.Length > limit {
		return nil, errLarge
	}
	var raw bytes.Buffer
	_, _, err := d.scan.NextObject(io.MultiWriter(made{d.cost, d.place}, &raw))
	return raw.Bytes(), err
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
