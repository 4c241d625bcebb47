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
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// rewrite copies a received pack, each object whole and under the hash of its content, without files that are too large: a pack whose deltas are based
// on what is elsewhere, which may be in known, needs no completing then. The wanted commits and their root trees must be in one of the two.
func (p *pack) rewrite(out *packWriter, known *objects, wants []plumbing.Hash) error {
	trees := map[plumbing.Hash]plumbing.Hash{} // of the wanted commits that came
	defer func() { p.cost.drop(int(out.count), 0) }()
	came, err := p.each(plumbing.AnyObject, maxTree, known.read, func(h plumbing.Hash, kind plumbing.ObjectType, content []byte) error {
		switch {
		case kind == plumbing.TagObject, kind == plumbing.BlobObject && len(content) > MaxTreeFile:
			return nil // no part of a tree, or left out of it
		case kind == plumbing.CommitObject && len(content) > maxCommit:
			return fmt.Errorf("%w: a %s of %d bytes", ErrTooLarge, kind, len(content))
		case kind == plumbing.CommitObject && slices.Contains(wants, h):
			c, err := decodeCommit(content)
			if err != nil {
				return err
			}
			trees[h] = c.TreeHash
		}
		if err := p.cost.hold(1, 0, sentPack); err != nil { // what the index says of it
			return err
		}
		return out.add(h, kind, content)
	})
	if err != nil {
		return err
	}
	for _, commit := range wants {
		tree, ok := trees[commit]
		if !ok {
			return fmt.Errorf("read objects: %w: commit %s", ErrIncomplete, commit)
		}
		if _, ok := came[tree]; !ok {
			if _, _, err := known.read(tree, maxTree); errors.Is(err, plumbing.ErrObjectNotFound) {
				return fmt.Errorf("read objects: %w: tree %s of commit %s", ErrIncomplete, tree, commit)
			} else if err != nil {
				return fmt.Errorf("read objects: %w", err)
			}
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

// finish writes what begins and ends the pack, and its index.
func (w *packWriter) finish(to io.Writer) error {
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), w.count)
	if _, err := w.file.WriteAt(head, 0); err != nil {
		return err
	}
	digest := sha1.New() //nolint:gosec // git's own
	if _, err := io.Copy(digest, io.NewSectionReader(w.file, 0, w.at)); err != nil {
		return err
	}
	sum := plumbing.Hash(digest.Sum(nil))
	if _, err := w.file.WriteAt(sum[:], w.at); err != nil {
		return err
	}
	if err := w.index.OnFooter(sum); err != nil {
		return err
	}
	index, err := w.index.Index()
	if err == nil {
		_, err = idxfile.NewEncoder(to).Encode(index)
	}
	return err
}
