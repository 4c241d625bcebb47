package listen_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/listen"
)

// record is a log that one goroutine writes while another reads.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// A lack of descriptors is said for as long as it lasts, and half a minute: it is logged once, and so is its end, whatever calls meet it.
func TestALackIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log record
		var freed atomic.Int32
		d := &listen.Descriptors{Log: slog.New(slog.NewTextHandler(&log, nil)), Freed: func() { freed.Add(1) }}
		lacks := func(want bool, logged, ended int) {
			t.Helper()
			synctest.Wait()
			if got := len(d.Lack()) == 1; got != want || strings.Count(log.String(), "level=ERROR") != logged || strings.Count(log.String(), "level=INFO") != ended || int(freed.Load()) != ended {
				t.Errorf("lack: %q, freed %d times, log:\n%s", d.Lack(), freed.Load(), &log)
			}
		}
		lack := &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
		d.See(nil)
		d.See(errors.New("connection refused"))
		lacks(false, 0, 0)
		for range 5 {
			d.See(lack)
			d.See(nil)
			time.Sleep(20 * time.Second)
			lacks(true, 1, 0)
		}
		time.Sleep(11 * time.Second)
		lacks(false, 1, 1)
		d.See(&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.ENFILE)})
		lacks(true, 2, 1)
		time.Sleep(time.Minute)
		lacks(false, 2, 2)
	})
	var none *listen.Descriptors
	none.See(syscall.EMFILE)
	if none.Lack() != nil {
		t.Error("nobody watches")
	}
}

// What strangers can cause as often as they like is counted: one line a while, with all since the last one.
func TestATallyCounts(t *testing.T) {
	var tally listen.Tally
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	var got []int
	for range 25 {
		got = append(got, tally.Count(now))
		now = now.Add(time.Second)
	}
	sum := 0
	for i, n := range got {
		if (n > 0) != (i%10 == 0) {
			t.Errorf("%v", got)
		}
		sum += n
	}
	if sum != 21 {
		t.Errorf("%d were counted of 21", sum)
	}
}
