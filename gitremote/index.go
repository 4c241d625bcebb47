package gitremote

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

const (
	maxIndex   = 512 << 20 // bytes of one pack's index: 19 million objects
	maxIndexed = 36 << 20  // objects of all packs: their names are kept, 720 MiB at most
)

// What a pack's index consists of, in bytes. After them stand 64-bit places and two checksums.
const (
	indexHead = 8 + 4*256 // magic, version, and how many names there are up to each first byte
	nameSize  = 20
	crcSize   = 4
	placeSize = 4
)

// index finds where the objects of a pack begin. Of its file only what is asked for is read, the names of one first byte at a
// time: go-git's decoder reads all of it, which was four fifths of the time of `sluice classify` in a repository of 50,000 commits.
// Nothing is lost by not checking its sum: an object counts only under the hash of its content.
type index struct {
	file  *os.File
	total [257]int64  // names whose first byte is less
	held  [256][]byte // names by first byte, sorted
}

// openIndex opens a pack's index, whose size must match its numbers.
func openIndex(path string) (*index, error) {
	f, err := openRegular(path, maxIndex)
	if err != nil {
		return nil, err
	}
	x := &index{file: f}
	if err := x.head(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return x, nil
}

// head reads and checks how many names there are.
func (x *index) head() error {
	var raw [indexHead]byte
	if _, err := io.ReadFull(x.file, raw[:]); err != nil {
		return err
	}
	info, err := x.file.Stat()
	if err != nil {
		return err
	}
	ok := string(raw[:8]) == "\xfftOc\x00\x00\x00\x02"
	for i := range 256 {
		x.total[i+1] = int64(binary.BigEndian.Uint32(raw[8+4*i:]))
		ok = ok && x.total[i] <= x.total[i+1]
	}
	if !ok || info.Size() < indexHead+x.total[256]*(nameSize+crcSize+placeSize)+2*nameSize {
		return idxfile.ErrMalformedIdxFile
	}
	return nil
}

// names is those of one first byte.
func (x *index) names(first byte) ([]byte, error) {
	from, n := x.total[first], x.total[int(first)+1]-x.total[first]
	if x.held[first] == nil && n > 0 {
		names := make([]byte, n*nameSize)
		if _, err := x.file.ReadAt(names, indexHead+from*nameSize); err != nil {
			return nil, err
		}
		x.held[first] = names
	}
	return x.held[first], nil
}

// find is where an object begins; plumbing.ErrObjectNotFound: not in this pack.
func (x *index) find(h plumbing.Hash) (int64, error) {
	names, err := x.names(h[0])
	if err != nil {
		return 0, err
	}
	i, found := sort.Find(len(names)/nameSize, func(i int) int { return bytes.Compare(h[:], names[i*nameSize:][:nameSize]) })
	if !found {
		return 0, plumbing.ErrObjectNotFound
	}
	all := x.total[256]
	places := indexHead + all*(nameSize+crcSize)
	var raw [8]byte
	if _, err := x.file.ReadAt(raw[:placeSize], places+(x.total[h[0]]+int64(i))*placeSize); err != nil {
		return 0, err
	}
	at := int64(binary.BigEndian.Uint32(raw[:]))
	if at < 1<<31 {
		return at, nil
	}
	// Packs of more than 2 GB: the number of a 64-bit place.
	if _, err := x.file.ReadAt(raw[:], places+all*placeSize+(at-1<<31)*8); err != nil {
		return 0, err
	}
	if at = int64(binary.BigEndian.Uint64(raw[:])); at < 0 {
		return 0, fmt.Errorf("%w: a place of %d", idxfile.ErrMalformedIdxFile, at)
	}
	return at, nil
}
