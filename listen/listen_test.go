package listen_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/sluicegate/sluice/listen"
)

// crowd is a listener to which peers connect as a test says.
type crowd struct{ come chan net.Conn }

func (c *crowd) Accept() (net.Conn, error) {
	select {
	case x := <-c.come:
		return x, nil
	default: // none is left to come
		return nil, net.ErrClosed
	}
}
func (c *crowd) Close() error   { return nil }
func (c *crowd) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080} }

// end is our end of a connection; it notes that it was closed.
type end struct {
	net.Conn
	peer   net.Addr
	mu     sync.Mutex
	closes int
}

func (e *end) RemoteAddr() net.Addr { return e.peer }
func (e *end) Read([]byte) (int, error) {
	return 0, io.EOF
}

func (e *end) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closes++
	return nil
}

func (e *end) closed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closes > 0
}

// hall is a bounded listener and what connected to it.
type hall struct {
	t       *testing.T
	crowd   *crowd
	bounded *listen.Listener
	gaveWay int
}

func newHall(t *testing.T, places, peer int) *hall {
	h := &hall{t: t, crowd: &crowd{make(chan net.Conn, 1)}}
	h.bounded = listen.Bound(h.crowd, listen.Options{Places: places, Peer: peer, GaveWay: func() { h.gaveWay++ }})
	return h
}

// enter connects a peer that is given a place.
func (h *hall) enter(ip string) (theirs *end, ours net.Conn) {
	h.t.Helper()
	theirs = &end{peer: &net.TCPAddr{IP: net.ParseIP(ip), Port: 1}}
	h.crowd.come <- theirs
	ours, err := h.bounded.Accept()
	if err != nil {
		h.t.Fatal(err)
	}
	return theirs, ours
}

// state is which of many connections are open.
func state(all ...*end) string {
	var b strings.Builder
	for _, e := range all {
		if e.closed() {
			b.WriteByte('-')
		} else {
			b.WriteByte('o')
		}
	}
	return b.String()
}

func (h *hall) is(want string, gaveWay int, all ...*end) {
	h.t.Helper()
	if got := state(all...); got != want || h.gaveWay != gaveWay {
		h.t.Errorf("open are %s, %d gave way; want %s and %d", got, h.gaveWay, want, gaveWay)
	}
}

// While all places are in use the stranger who came first gives way to the newest: whoever comes gets in, and no more are open than may
// be. Who leaves makes room.
func TestTheOldestStrangerGivesWay(t *testing.T) {
	h := newHall(t, 3, 0)
	a, _ := h.enter("192.0.2.1")
	b, leaving := h.enter("192.0.2.2")
	c, _ := h.enter("192.0.2.3")
	h.is("ooo", 0, a, b, c)
	d, _ := h.enter("192.0.2.4")
	h.is("-ooo", 1, a, b, c, d)
	if err := leaving.Close(); err != nil {
		t.Fatal(err)
	}
	e, _ := h.enter("192.0.2.5")
	h.is("--ooo", 1, a, b, c, d, e)
}

// One address, which is a /64 of IPv6, has a share. Where there is room it may have more, as GitHub's have in a burst; while all places are
// in use those who have more give way, whoever comes, and nobody else does.
func TestAPeerHasAShare(t *testing.T) {
	for _, same := range [][]string{
		{"192.0.2.1", "192.0.2.1", "::ffff:192.0.2.1"},
		{"2001:db8::1", "2001:db8::2", "2001:db8::ffff:0:0:1"},
	} {
		h := newHall(t, 5, 2)
		other, _ := h.enter("192.0.2.9")
		a, _ := h.enter(same[0])
		b, _ := h.enter(same[1])
		c, _ := h.enter(same[2])
		d, _ := h.enter(same[0])
		h.is("ooooo", 0, other, a, b, c, d)
		far, _ := h.enter("2001:db8:0:1::1")
		h.is("o-oooo", 1, other, a, b, c, d, far)
		e, _ := h.enter(same[1])
		h.is("o--oooo", 2, other, a, b, c, d, far, e)
		near, _ := h.enter("192.0.2.8")
		last, _ := h.enter("192.0.2.7")
		h.is("-o---oooo", 4, other, far, a, b, c, d, e, near, last) // nobody has more than his share any more
	}
}

// Of several that are above their share the one that has most gives way: one address of a stranger's does not drive out a burst of GitHub's.
func TestWhoHasMostGivesWay(t *testing.T) {
	h := newHall(t, 8, 2)
	var all []*end
	for _, ip := range []string{"192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.9", "192.0.2.9", "192.0.2.9", "192.0.2.9"} {
		e, _ := h.enter(ip)
		all = append(all, e)
	}
	h.is("-oooooooo", 1, all...)
}

// Who was answered and may send more gives way first, known before or not, the oldest first. Once he sends he is as any stranger who has just
// come, until he shows the secret again.
func TestWhoIsIdleGivesWay(t *testing.T) {
	known := func(c net.Conn) { listen.Known(listen.Context(context.Background(), c)) }
	h := newHall(t, 3, 0)
	a, _ := h.enter("192.0.2.1")
	b, github := h.enter("192.0.2.2")
	c, again := h.enter("192.0.2.3")
	for _, in := range []net.Conn{github, again} {
		listen.State(in, http.StateActive)
		known(in)
		listen.State(in, http.StateIdle)
	}
	d, other := h.enter("192.0.2.4")
	h.is("o-oo", 1, a, b, c, d)
	listen.State(again, http.StateActive) // from now on it came after the others
	e, _ := h.enter("192.0.2.5")
	h.is("--ooo", 2, a, b, c, d, e)
	known(other)
	f, _ := h.enter("192.0.2.6")
	h.is("---ooo", 3, a, b, c, d, e, f)
	listen.State(github, http.StateActive) // it is closed
	g, _ := h.enter("192.0.2.7")
	h.is("---o-oo", 4, a, b, c, d, e, f, g)
	listen.State(nil, http.StateIdle) // of another listener
}

// A connection is kept for another request while half of the places are free.
func TestRoomForWhoComesAgain(t *testing.T) {
	h := newHall(t, 4, 0)
	for _, room := range []bool{true, true, false, false} {
		_, in := h.enter("192.0.2.1")
		if got := listen.Known(listen.Context(context.Background(), in)); got != room {
			t.Errorf("there is room: %v", got)
		}
	}
}

// Who has the secret gives way to nobody, counts in no share, and where all places are theirs the newest is closed at once.
func TestWhoIsKnownStays(t *testing.T) {
	h := newHall(t, 2, 1)
	known := func(c net.Conn) { listen.Known(listen.Context(context.Background(), c)) }
	a, github := h.enter("192.0.2.1")
	known(github)
	b, again := h.enter("192.0.2.1")
	h.is("oo", 0, a, b)
	c, _ := h.enter("192.0.2.2")
	h.is("o-o", 1, a, b, c)
	_ = again.Close()
	d, second := h.enter("192.0.2.3")
	h.is("o--o", 2, a, b, c, d)
	known(second)
	refused := &end{peer: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 4)}}
	h.crowd.come <- refused
	if _, err := h.bounded.Accept(); err == nil || !refused.closed() {
		t.Errorf("%v; it is closed: %v", err, refused.closed())
	}
	h.is("o--o", 3, a, b, c, d)
	listen.Known(context.Background()) // a request that came otherwise
}
