package build

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"
	"sync/atomic"
)

// Child is what the child process does: it reads a tree, gives up what it could do, and builds what it is sent until in ends, which ends the
// process even in the middle of a build: then the parent is gone.
func Child(in io.Reader, out io.Writer) error {
	b, in, err := receive(in)
	if err != nil {
		return err
	}
	log.SetOutput(io.Discard)
	http.DefaultTransport = b.away
	var began atomic.Int64
	if err := confine(b.limits, &began); err != nil {
		return err
	}
	if err := writeFrame(out, struct{}{}, maxResult); err != nil {
		return err
	}
	next := make(chan Entry)
	go func() {
		for {
			var e Entry
			if readFrame(in, &e, maxEntry) != nil {
				os.Exit(0)
			}
			next <- e
		}
	}()
	for e := range next {
		began.Store(int64(processor()))
		if err := reply(out, b.build(e)); err != nil {
			return err
		}
	}
	return nil
}

// reply sends an outcome, or why it is too long to be sent.
func reply(out io.Writer, o outcome) error {
	err := writeFrame(out, o, maxResult)
	if errors.Is(err, errLarge) && o.Asked != nil {
		o.Asked = nil // then it is not kept
		err = writeFrame(out, o, maxResult)
	}
	if errors.Is(err, errLarge) {
		return writeFrame(out, outcome{Err: wordLarge}, maxResult)
	}
	return err
}

// receive reads the tree, and gives what comes after it.
func receive(in io.Reader) (*builder, io.Reader, error) {
	r := bufio.NewReaderSize(in, 1<<16)
	var h header
	if err := readFrame(r, &h, maxHeader); err != nil {
		return nil, nil, fmt.Errorf("read the request: %w", err)
	}
	if len(h.Files) > maxFiles {
		return nil, nil, fmt.Errorf("read the request: %d files", len(h.Files))
	}
	tree, total := newFiles(), int64(0)
	for _, f := range h.Files {
		total += max(f.Size, 0)
		if !fs.ValidPath(f.Name) || f.Name == "." || f.Size > maxFile || total > maxBytes {
			return nil, nil, fmt.Errorf("read the request: %s has %d bytes", f.Name, f.Size)
		}
		text := make([]byte, max(f.Size, 0))
		if _, err := io.ReadFull(r, text); err != nil {
			return nil, nil, fmt.Errorf("read the request: %w", err)
		}
		tree.add(f.Name, text, f.Size < 0)
	}
	tree.sort()
	return newBuilder(tree, h.Limits), r, nil
}

// refusing is what HTTP is spoken with: not at all. It keeps that something was asked for: kustomize makes words of what it is told.
type refusing struct{ asked atomic.Bool }

// remoteError is what an entry needs from elsewhere.
type remoteError struct{ what string }

func (e *remoteError) Error() string { return wordRemote(e.what) }

// RoundTrip implements http.RoundTripper.
func (f *refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	f.asked.Store(true)
	return nil, &remoteError{r.URL.String()}
}
