package listen

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// ipv6Peer is how much of an IPv6 address names a peer: providers hand out at least so much to one customer.
const ipv6Peer = 64

// Options is what a Listener needs. Places is required.
type Options struct {
	Places      int          // connections at once
	Peer        int          // of one peer address while all are in use, without those that are Known; 0: as many as there are places
	Descriptors *Descriptors // learns what became of accepting; may be nil
	GaveWay     func()       // called after a connection gave way; must not block; may be nil
	Log         *slog.Logger // nil: nothing is logged
}

// Listener bounds the connections that are open. It is safe for concurrent use.
type Listener struct {
	net.Listener
	o     Options
	quiet Tally

	mu   sync.Mutex
	open []*conn // as they came
}

// Bound puts bounds on a listener. Its server must have [Context] as its ConnContext for anybody to be Known, and [State] as its ConnState if
// it keeps connections for another request.
func Bound(l net.Listener, o Options) *Listener {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Peer <= 0 {
		o.Peer = o.Places
	}
	return &Listener{Listener: l, o: o}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		l.o.Descriptors.See(err)
		if err != nil {
			return nil, err
		}
		in := &conn{Conn: c, of: l, peer: peerOf(c.RemoteAddr())}
		out := l.admit(in)
		if out != nil {
			_ = out.Close() // nobody reads from it any more
			l.gaveWay()
		}
		if out != in {
			return in, nil
		}
	}
}

// admit gives a connection a place, and gives the one that is to be closed for it, which may be itself; nil if there was room.
func (l *Listener) admit(in *conn) (out *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.o.Places {
		if out = l.leastLocked(in); out == in {
			return in
		}
		l.removeLocked(out)
	}
	l.open = append(l.open, in)
	return out
}

// leastLocked is the connection that is to give way to another: the oldest idle one, else the oldest of the peer that is most above its share,
// or of all where none is.
func (l *Listener) leastLocked(in *conn) *conn {
	if i := slices.IndexFunc(l.open, func(c *conn) bool { return c.idle }); i >= 0 {
		return l.open[i]
	}
	has := map[netip.Addr]int{in.peer: 1}
	for _, c := range l.open {
		if !c.known {
			has[c.peer]++
		}
	}
	out, most := in, -1
	for _, c := range l.open {
		if above := max(0, has[c.peer]-l.o.Peer); !c.known && above > most {
			out, most = c, above
		}
	}
	return out
}

func (l *Listener) gaveWay() {
	if n := l.quiet.Count(time.Now()); n > 0 {
		l.o.Log.Warn(logsGaveWay, "address", l.Addr().String(), "connections", n, "most", l.o.Places, "most_of_one_address", l.o.Peer)
	}
	if l.o.GaveWay != nil {
		l.o.GaveWay()
	}
}

func (l *Listener) removeLocked(c *conn) {
	if i := slices.Index(l.open, c); i >= 0 {
		l.open = slices.Delete(l.open, i, i+1)
	}
}

// conn is a connection with a place.
type conn struct {
	net.Conn
	of    *Listener
	peer  netip.Addr
	known bool // guarded by of.mu, as the next
	idle  bool // it had an answer and waits for another request
}

// Close implements net.Conn, and gives the place back.
func (c *conn) Close() error {
	c.of.mu.Lock()
	c.of.removeLocked(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite ends our side alone, where the connection can: net/http does so that an answer to a request which it did not read arrives.
func (c *conn) CloseWrite() error {
	if tcp, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return tcp.CloseWrite()
	}
	return nil
}

// peerOf is the address that a connection counts for. What has none is one peer.
func peerOf(a net.Addr) netip.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	if ip.Is6() {
		if p, err := ip.Prefix(ipv6Peer); err == nil {
			return p.Addr()
		}
	}
	return ip
}

type connKey struct{}

// Context makes a connection known to its requests' contexts, as http.Server's ConnContext.
func Context(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// Known says that whoever sent a request has the secret: its connection gives way to nobody any more. It reports whether there is room for the
// connection to wait for another request: while half of the places are free. A request that came otherwise has room.
func Known(ctx context.Context) (room bool) {
	c, ok := ctx.Value(connKey{}).(*conn)
	if !ok {
		return true
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.known = true
	return 2*len(c.of.open) <= c.of.o.Places
}

// State is http.Server's ConnState: a connection that waits for another request is nobody's who is known, and gives way first. With its next
// request it is as if it had just come.
func State(c net.Conn, state http.ConnState) {
	in, ok := c.(*conn)
	if !ok {
		return
	}
	l := in.of
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case state == http.StateIdle:
		in.idle, in.known = true, false
	case state == http.StateActive && in.idle && slices.Contains(l.open, in):
		in.idle = false
		l.removeLocked(in)
		l.open = append(l.open, in)
	}
}
