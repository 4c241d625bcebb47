package gitremote

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git's own
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/sluicegate/sluice/meter"
)

// rewriting copies a received pack, each object whole and under the hash of its content: a pack whose deltas are based on what is
// elsewhere needs no completing then.
type rewriting struct {
	pack   *pack
	out    *packWriter
	random *deltas
	places map[plumbing.Hash]int64         // of objects in the received pack
	wanted map[plumbing.Hash]plumbing.Hash // the trees of the wanted commits, once they were seen
	nodes  int
}

// rewrite copies the pack's objects, without files that are too large, and returns the copy's checksum. Bases of deltas may be in known.
func (p *pack) rewrite(out *packWriter, known *objects, wants []plumbing.Hash) (plumbing.Hash, error) {
	w := &rewriting{pack: p, out: out, places: map[plumbing.Hash]int64{}, wanted: map[plumbing.Hash]plumbing.Hash{}}
	for _, h := range wants {
		w.wanted[h] = plumbing.ZeroHash
	}
	w.random = &deltas{
		scan: packfile.NewScanner(io.NewSectionReader(p.bytes, 0, p.size)), cost: p.cost, place: sentPack,
		cache: cache.NewBufferLRU(cacheBytes), elsewhere: known.read,
		find: func(h plumbing.Hash) (int64, error) {
			if at, ok := w.places[h]; ok {
				return at, nil
			}
			return 0, plumbing.ErrObjectNotFound
		},
	}
	defer func() { p.cost.drop(w.nodes, 0) }()
	late, err := w.whole()
	if err == nil {
		err = w.deltas(late)
	}
	if err == nil {
		err = w.check(known)
	}
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read objects: %w", err)
	}
	return out.finish()
}

// whole copies what is no delta, and returns the places of those.
func (w *rewriting) whole() (late []int64, err error) {
	scan := packfile.NewScanner(io.NewSectionReader(w.pack.bytes, 0, w.pack.size))
	_, count, err := scan.Header()
	if err != nil {
		return nil, err
	}
	for range count {
		h, err := scan.NextObjectHeader()
		if err == nil {
			err = w.pack.cost.take(meter.Steps, 1, sentPack)
		}
		if err != nil {
			return nil, err
		}
		delta := h.Type.IsDelta()
		to, content := io.Writer(made{w.pack.cost, sentPack}), bytes.Buffer{}
		if !delta && h.Length <= maxTree {
			to = io.MultiWriter(to, &content)
		}
		if _, _, err := scan.NextObject(to); err != nil {
			return nil, err
		}
		switch {
		case delta:
			late = append(late, h.Offset)
			err = w.node()
		case h.Length <= maxTree:
			w.random.keep(h.Offset, h.Type, content.Bytes())
			err = w.give(h.Offset, h.Type, content.Bytes())
		case h.Type != plumbing.BlobObject:
			err = fmt.Errorf("%w: a %s of %d bytes", ErrTooLarge, h.Type, h.Length)
		}
		if err != nil {
			return nil, err
		}
	}
	_, err = scan.Checksum() // which it verifies
	return late, err
}

// deltas copies what deltas make. One whose base is named and comes later waits for the next round.
func (w *rewriting) deltas(late []int64) error {
	for len(late) > 0 {
		var waiting []int64
		for _, at := range late {
			content, kind, err := w.random.read(at, maxTree)
			switch {
			case errors.Is(err, plumbing.ErrObjectNotFound):
				waiting = append(waiting, at)
			case errors.Is(err, errLarge): // a file; of a directory whoever looks into it finds that it is missing
			case err != nil:
				return err
			default:
				if err := w.give(at, kind, content); err != nil {
					return err
				}
			}
		}
		if len(waiting) == len(late) {
			return errNoBase
		}
		late = waiting
	}
	return nil
}

// node charges one more object that is remembered: its place, and what the index says of it.
func (w *rewriting) node() error {
	w.nodes += 2
	return w.pack.cost.hold(2, 0, sentPack)
}

// give copies one object.
func (w *rewriting) give(at int64, kind plumbing.ObjectType, content []byte) error {
	switch {
	case kind == plumbing.TagObject, kind == plumbing.BlobObject && len(content) > MaxTreeFile:
		return nil // no part of a tree, or left out of it
	case kind == plumbing.CommitObject && len(content) > maxCommit:
		return fmt.Errorf("%w: a %s of %d bytes", ErrTooLarge, kind, len(content))
	}
	h := plumbing.ComputeHash(kind, content)
	if _, there := w.places[h]; there {
		return nil
	}
	w.places[h] = at
	if err := w.node(); err != nil {
		return err
	}
	if _, wanted := w.wanted[h]; wanted && kind == plumbing.CommitObject {
		c, err := decodeCommit(content)
		if err != nil {
			return err
		}
		w.wanted[h] = c.TreeHash
	}
	return w.out.add(h, kind, content)
}

// check finds the root tree of each wanted commit.
func (w *rewriting) check(known *objects) error {
	for commit, tree := range w.wanted {
		if tree == plumbing.ZeroHash {
			return fmt.Errorf("%w: commit %s", ErrIncomplete, commit)
		}
		if _, came := w.places[tree]; came {
			continue
		}
		_, _, err := known.read(tree, maxTree)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			return fmt.Errorf("%w: tree %s of commit %s", ErrIncomplete, tree, commit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// packWriter writes a pack without deltas.
type packWriter struct {
	file  *os.File
	buf   bytes.Buffer // one object
	z     *zlib.Writer
	at    int64
	most  int64 // bytes of the pack and its index
	count uint32
	index idxfile.Writer
}

// packHead is what a pack begins with: magic, version, and how many objects there are.
const packHead = 12

// newPackWriter begins a pack in an empty file.
func newPackWriter(f *os.File, most int64) *packWriter {
	z, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // fails for levels that do not exist
	return &packWriter{file: f, z: z, at: packHead, most: most}
}

// add adds an object; errFull: it would be too much.
func (w *packWriter) add(h plumbing.Hash, kind plumbing.ObjectType, content []byte) error {
	w.buf.Reset()
	first := byte(kind)<<4 | byte(len(content)&15)
	for rest := len(content) >> 4; rest > 0; rest >>= 7 {
		w.buf.WriteByte(first | 0x80)
		first = byte(rest & 0x7f)
	}
	w.buf.WriteByte(first)
	w.z.Reset(&w.buf)
	if _, err := w.z.Write(content); err != nil {
		return err
	}
	if err := w.z.Close(); err != nil {
		return err
	}
	w.count++
	index := indexHead + int64(w.count)*(nameSize+crcSize+placeSize) + 2*nameSize
	if w.at+int64(w.buf.Len())+nameSize+index > w.most {
		return errFull
	}
	if _, err := w.file.WriteAt(w.buf.Bytes(), w.at); err != nil {
		return err
	}
	w.index.Add(h, uint64(w.at), crc32.ChecksumIEEE(w.buf.Bytes()))
	w.at += int64(w.buf.Len())
	return nil
}

// finish writes what begins and ends the pack, and returns its checksum.
func (w *packWriter) finish() (sum plumbing.Hash, err error) {
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), w.count)
	if _, err := w.file.WriteAt(head, 0); err != nil {
		return sum, err
	}
	digest := sha1.New() //nolint:gosec // git's own
	if _, err := io.Copy(digest, io.NewSectionReader(w.file, 0, w.at)); err != nil {
		return sum, err
	}
	copy(sum[:], digest.Sum(nil))
	if _, err := w.file.WriteAt(sum[:], w.at); err != nil {
		return sum, err
	}
	return sum, w.index.OnFooter(sum)
}

// encodeIndex writes the index of a finished pack.
func (w *packWriter) encodeIndex(to io.Writer) error {
	index, err := w.index.Index()
	if err == nil {
		_, err = idxfile.NewEncoder(to).Encode(index)
	}
	return err
}
