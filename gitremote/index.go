package gitremote

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// What a pack's index consists of, in bytes. After them stand 64-bit places and two checksums.
const (
	indexHead = 8 + 4*256 // magic, version, and how many names there are up to each first byte
	nameSize  = 20
	crcSize   = 4
	placeSize = 4
)

// index finds where the objects of a pack begin. Of its file only what is asked for is read, and nothing is kept: go-git's decoder reads all of it,
// which was four fifths of the time of `sluice classify` in a repository of 50,000 commits. Nothing is lost by not checking its sum: an object counts
// only under the hash of its content.
type index struct {
	file  *os.File
	total [257]int64 // names whose first byte is less
}

// openIndex opens a pack's index, whose size must match its numbers.
func openIndex(path string) (*index, error) {
	f, size, err := openRegular(path, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	var raw [indexHead]byte
	_, err = io.ReadFull(f, raw[:])
	x, ok := &index{file: f}, string(raw[:8]) == "\xfftOc\x00\x00\x00\x02"
	for i := range 256 {
		x.total[i+1] = int64(binary.BigEndian.Uint32(raw[8+4*i:]))
		ok = ok && x.total[i] <= x.total[i+1]
	}
	if err == nil && (!ok || size < indexHead+x.total[256]*(nameSize+crcSize+placeSize)+2*nameSize) {
		err = idxfile.ErrMalformedIdxFile
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return x, nil
}

// name is the one at a place.
func (x *index) name(at int64) (h plumbing.Hash, err error) {
	_, err = x.file.ReadAt(h[:], indexHead+at*nameSize)
	return h, err
}

// search is the place of a name among all, or where it would stand.
func (x *index) search(h plumbing.Hash) (at int64, found bool, err error) {
	from := x.total[h[0]]
	i, found := sort.Find(int(x.total[int(h[0])+1]-from), func(i int) int {
		name, bad := x.name(from + int64(i))
		err = cmp.Or(err, bad)
		return bytes.Compare(h[:], name[:])
	})
	return from + int64(i), found, err
}

// find is where an object begins; plumbing.ErrObjectNotFound: not in this pack.
func (x *index) find(h plumbing.Hash) (int64, error) {
	i, found, err := x.search(h)
	if err != nil {
		return 0, err
	}
	if !found {
		return 0, plumbing.ErrObjectNotFound
	}
	all := x.total[256]
	places := indexHead + all*(nameSize+crcSize)
	var raw [8]byte
	if _, err := x.file.ReadAt(raw[:placeSize], places+i*placeSize); err != nil {
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
