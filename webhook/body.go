package webhook

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// The ends of reading a body, beside the network's own.
var (
	errTooLong = errors.New("body too long")
	errBusy    = errors.New("too many bodies at once")
)

// budget bounds the bytes that are set aside for long bodies at once. Strangers read with it, too: their signature is known to
// be wrong only after the last byte. What is set aside follows what was received, not what was promised: who wants to use it up has to
// send it. Bodies up to smallBody are not counted: connections bound them.
type budget struct {
	mu   sync.Mutex
	left int64
}

func (b *budget) take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left < n {
		return false
	}
	b.left -= n
	return true
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
}

// read gives a request's body, and what to call when it is not needed any more, also after an error. A body over most is
// refused by its declared length before anything is read, and where none is declared, as soon as it grows too long.
func (b *budget) read(req *http.Request, most int64) (body []byte, done func(), err error) {
	var held int64
	done = func() { b.give(held) }
	if req.ContentLength > most {
		return nil, done, errTooLong
	}
	size := int64(firstRead)
	if req.ContentLength >= 0 {
		size = min(req.ContentLength+1, firstRead) // one byte more than declared, so that the end is seen without growing
	}
	buf := make([]byte, 0)
	for {
		if size > smallBody {
			if !b.take(size) {
				return nil, done, errBusy
			}
			b.give(held)
			held = size
		}
		grown := make([]byte, len(buf), size)
		copy(grown, buf)
		buf = grown
		end, err := fill(&buf, req.Body)
		if err != nil || end {
			return buf, done, err
		}
		if int64(len(buf)) > most {
			return nil, done, errTooLong
		}
		size = min(2*size, most+1)
	}
}

// fill reads until buf's capacity is used up or the body ends.
func fill(buf *[]byte, from io.Reader) (end bool, err error) {
	for len(*buf) < cap(*buf) {
		n, err := from.Read((*buf)[len(*buf):cap(*buf)])
		*buf = (*buf)[:len(*buf)+n]
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}
