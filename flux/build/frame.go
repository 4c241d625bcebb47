package build

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// What is said between parent and child is frames: their length in four bytes, then so many bytes of JSON. First comes a header, and the
// files that it names follow without a frame. Then entries and results take turns.

// Bounds of frames, in bytes.
const (
	maxHeader = 64 << 20
	maxEntry  = 4 << 20
	maxResult = 8 << 20
)

// header is the first frame of a request. The child answers it with an empty frame when it has read the files.
type header struct {
	Limits Limits
	Files  []sent
}

// sent is a file that is sent.
type sent struct {
	Name string
	Size int64 // -1: it was not read, and is not sent
}

// errLarge says that a frame is longer than it may be.
var errLarge = errors.New("a frame is too long")

func writeFrame(w io.Writer, v any, limit int) error {
	data, err := json.Marshal(v)
	switch {
	case err != nil:
		return err
	case len(data) > limit:
		return fmt.Errorf("%w: %d bytes", errLarge, len(data))
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)) //nolint:gosec // limited above
	return err
}

func readFrame(r io.Reader, v any, limit int) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if int64(n) > int64(limit) {
		return fmt.Errorf("%w: %d bytes", errLarge, n)
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(n))) // it grows with what comes, not with what is announced
	if err == nil && len(data) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}
