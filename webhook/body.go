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
	mu    sync.Mutex
	left  int64
	small sync.Pool // of *[]byte: what small bodies were read into
}

func (b *budget) reserve(n int64) bool {
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

// read gives a request's body, and what to call when nothing of it is needed any more, also after an error. A body over most is
// refused by its declared length before anything is read, and where none is declared, as soon as it grows too long.
func (b *budget) read(req *http.Request, most int64) (body []byte, done func(), err error) {
	var held int64
	buf := b.spare()
	done = func() {
		b.give(held)
		if cap(buf) <= smallBody {
			b.small.Put(&buf)
		}
	}
	if req.ContentLength > most {
		return nil, done, errTooLong
	}
	for {
		end, err := fill(&buf, req.Body)
		switch {
		case err != nil:
			return nil, done, err
		case int64(len(buf)) > most:
			return nil, done, errTooLong
		case end:
			return buf, done, nil
		}
		size := min(2*int64(cap(buf)), most+1)
		if size > smallBody {
			if !b.reserve(size) {
				return nil, done, errBusy
			}
			b.give(held)
			held = size
		}
		buf = append(make([]byte, 0, size), buf...)
	}
}

// spare is an empty buffer.
func (b *budget) spare() []byte {
	if buf, ok := b.small.Get().(*[]byte); ok {
		return (*buf)[:0]
	}
	return make([]byte, 0, firstRead)
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
