package gitremote

import (
	"bytes"
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

	some = 256 // names that are read at once
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

// names is those from a place on, a few.
func (x *index) names(from, to int64) ([]byte, error) {
	names := make([]byte, min(to-from, some)*nameSize)
	_, err := x.file.ReadAt(names, indexHead+from*nameSize)
	return names, err
}

// search is the place of a name among all, or where it would stand. It is looked for by halves, and then among a few.
func (x *index) search(h plumbing.Hash) (at int64, found bool, err error) {
	from, to := x.total[h[0]], x.total[int(h[0])+1]
	for to-from > some {
		at := from + (to-from)/2
		name, err := x.names(at, at+1)
		if err != nil {
			return 0, false, err
		}
		if bytes.Compare(name, h[:]) < 0 {
			from = at + 1
		} else {
			to = at + 1
		}
	}
	names, err := x.names(from, to)
	i, found := sort.Find(len(names)/nameSize, func(i int) int { return bytes.Compare(h[:], names[i*nameSize:][:nameSize]) })
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
