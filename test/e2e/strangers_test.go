package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// Strangers hold all that they can get of both listeners, and come again as soon as something is taken from them.

const (
	asksHealth = "GET /healthz HTTP/1.1\r\nHost: sluice\r\n\r\n"
	asksStyle  = "GET /style.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
	halfHeader = "GET / HTTP/1.1\r\nHost: sluice\r\n"
	// slowBody is signed by nobody and promises what never comes.
	slowBody = "POST /webhook HTTP/1.1\r\nHost: sluice\r\nX-Hub-Signature-256: sha256=0000000000000000000000000000000000000000000000000000000000000000\r\n" +
		"Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
	// again is how long a stranger waits before he comes again, or the machine would do nothing else.
	again = 200 * time.Millisecond
)

// serveLimited starts the service with so many file descriptors.
func (w *world) serveLimited(descriptors int, more ...string) *process {
	w.t.Helper()
	return w.serveAs(exec.Command("/bin/sh", "-c", fmt.Sprintf("ulimit -n %d; exec %s serve", descriptors, binary)), more...)
}

// besiege has strangers hold connections until the test ends, each with what he sends first. It returns once each came once.
func (w *world) besiege(url string, many int, from net.IP, sends string) {
	w.t.Helper()
	ctx, end := context.WithCancel(w.t.Context())
	var all, first sync.WaitGroup
	for range many {
		first.Add(1)
		all.Go(func() {
			came := sync.OnceFunc(first.Done)
			defer came()
			for ctx.Err() == nil {
				holdOne(ctx, strings.TrimPrefix(url, "http://"), from, sends, came)
				select {
				case <-ctx.Done():
				case <-time.After(again):
				}
			}
		})
	}
	w.t.Cleanup(func() {
		end()
		all.Wait()
	})
	first.Wait()
}

// holdOne holds one connection until it is closed.
func holdOne(ctx context.Context, address string, from net.IP, sends string, came func()) {
	c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Timeout: time.Second}).DialContext(ctx, "tcp", address)
	came()
	if err != nil {
		return
	}
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if _, err := io.WriteString(c, sends); err == nil {
		_, _ = io.Copy(io.Discard, c)
	}
}

// TestStrangersWithSockets: while strangers hold all connections that they can get, with a request before or a body that never ends, from
// one address or from many, what is green is withdrawn in time, a live change is merged, and a signed delivery is taken. No resync
// helps: there is none.
func TestStrangersWithSockets(t *testing.T) {
	t.Parallel()
	one, many := []net.IP{net.IPv4(127, 0, 0, 9)}, make([]net.IP, 40)
	for i := range many {
		many[i] = net.IPv4(127, 0, 1, byte(i+1))
	}
	for name, c := range map[string]struct {
		descriptors, strangers int
		from                   []net.IP
		hook, page             string
	}{
		"idle connections":                 {128, 400, one, asksHealth, asksStyle},
		"half a header, many peers":        {128, 400, many, halfHeader, halfHeader},
		"unsigned slow bodies":             {4096, 2100, one, slowBody + strings.Repeat("x", 300), asksStyle},
		"unsigned slow bodies, many peers": {4096, 2100, many, slowBody + strings.Repeat("x", 300), asksStyle},
	} {
		t.Run(name, func(t *testing.T) {
			// GitHub comes with a new connection each time, as any of its many machines does.
			w := newWorldOf(t, asked(shutForYears, statusMode), api.Options{Now: time.Now, WebhookTransport: &http.Transport{DisableKeepAlives: true}})
			p := w.serveLimited(c.descriptors, "SLUICE_RESYNC=1h")
			_, sha, closed := w.greenFor()
			for _, from := range c.from {
				w.besiege(p.base(), c.strangers/len(c.from), from, c.hook)
				w.besiege(p.page, c.strangers/len(c.from)/8, from, c.page)
			}
			taken := func() bool {
				return p.post("push", fmt.Sprint(time.Now().UnixNano()), w.delivery(w.repo)) == http.StatusAccepted
			}
			for n := range 10 {
				if len(c.from) == 1 && !taken() {
					t.Errorf("signed delivery %d is not taken: one address keeps another out", n)
				}
			}
			w.eventually("a signed delivery is taken", taken)
			live := w.open("live", "apps/a-rt/x")
			w.paid(sha, closed)
			w.merged(live)
			if n := strings.Count(p.text(), "too many open files"); n > 0 {
				t.Errorf("no descriptor was left %d times", n)
			}
		})
	}
}

// TestABrokenDeliveryIsMadeUpFor: a delivery broke off before it was read, and GitHub does not send it again. What it was about is looked at
// all the same, long before the next resync.
func TestABrokenDeliveryIsMadeUpFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	p := w.serve("SLUICE_RESYNC=1h")
	w.hasStatus(w.open("held", "apps/a-rw/x"), "pending: held by w")
	w.must(w.github.Settle(t.Context()))
	w.github.SetWebhookURL("")
	n := w.open("live", "apps/a-rt/x")
	c, err := net.Dial("tcp", strings.TrimPrefix(p.base(), "http://"))
	w.must(err)
	_, err = io.WriteString(c, slowBody+"{")
	w.must(err)
	w.must(c.Close())
	w.merged(n)
}

// TestPageConnectionsMissNothing: connections to the page that give way carried no delivery, and cost no look.
func TestPageConnectionsMissNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	p := w.serveLimited(128, "SLUICE_RESYNC=1h")
	w.hasStatus(w.open("held", "apps/a-rw/x"), "pending: held by w")
	w.must(w.github.Settle(t.Context()))
	other, err := w.github.CreateRepo("acme", "other", map[string]string{".github/sluice.yaml": rules(shutForYears), "apps/a-rw/x": "0\n"})
	w.must(err)
	other.SetPermission("alice", standin.Write)
	w.github.ResetRequests()
	w.besiege(p.page, 40, net.IPv4(127, 0, 0, 9), asksStyle)
	w.eventually("some gave way", func() bool { return strings.Contains(p.text(), "closed connections in favor") })
	n, err := other.OpenPull(standin.NewPull{By: "alice", Head: "held", Change: &standin.Change{Message: "held", Write: map[string]string{"apps/a-rw/x": "1\n"}}})
	w.must(err)
	w.eventually("another repository is looked at", func() bool {
		pull, err := other.Pull(n)
		w.must(err)
		return len(other.Statuses(pull.HeadSHA)) > 0
	})
	for _, r := range w.github.RequestLog() {
		if strings.Contains(r.Path, "/acme/fleet/") {
			t.Errorf("it is looked at: %s %s", r.Method, r.Path)
		}
	}
}

// TestABurstFromOneAddress: GitHub delivers two hundred at once from one address, and each connection is open before the first of them has
// shown its signature, as over any distance. All are taken, also while a stranger fills what is left from another address.
func TestABurstFromOneAddress(t *testing.T) {
	t.Parallel()
	const burst = 200
	w := newWorld(t, rules(shutForYears))
	p := w.serve("SLUICE_RESYNC=1h")
	body := w.delivery(w.repo)
	for _, besieged := range []bool{false, true} {
		if besieged {
			w.besiege(p.base(), 800, net.IPv4(127, 0, 0, 9), halfHeader)
		}
		for try := 1; ; try++ {
			began := time.Now()
			refused := p.burstOf(burst, body, fmt.Sprint("burst-", besieged, "-", try, "-"))
			if refused == 0 {
				break
			}
			// Whoever takes longer than that to send what he has to send gives way, as he must: such a machine has another try, and shows nothing.
			took := time.Since(began)
			if took < 3*time.Second {
				t.Errorf("%d of %d are not taken within %s (a stranger beside them: %v)", refused, burst, took, besieged)
				break
			}
			if try == 5 {
				t.Skipf("this machine takes %s to send a burst (a stranger beside it: %v): that all of it is taken shows on a faster one", took, besieged)
			}
		}
	}
}

// burstOf opens so many connections before it delivers over each, and counts what is not taken.
func (p *process) burstOf(burst int, body []byte, guid string) (refused int) {
	p.w.t.Helper()
	all := make([]net.Conn, burst)
	for i := range all {
		c, err := net.Dial("tcp", strings.TrimPrefix(p.base(), "http://"))
		p.w.must(err)
		defer func() { _ = c.Close() }()
		all[i] = c
	}
	for i, c := range all {
		_ = p.signedPost("push", fmt.Sprint(guid, i), body).Write(c) // one that was closed has no answer
	}
	for _, c := range all {
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || answer.StatusCode != http.StatusAccepted {
			refused++
		}
	}
	return refused
}

// TestPaidWithoutADescriptor: no descriptor is left at all. What is green is withdrawn over the connection that it was set over; the log
// says what is lacking, once, and readiness once it can be asked again.
func TestPaidWithoutADescriptor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asked(shutForYears, statusMode))
	p := w.serve()
	_, sha, closed := w.greenFor()
	var before unix.Rlimit
	w.must(unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: 4096}, &before))
	w.besiege(p.base(), 1, net.IPv4(127, 0, 0, 9), asksHealth)
	w.paid(sha, closed)
	w.must(unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 4096, Max: 4096}, nil))
	w.eventually("readiness says so", func() bool {
		_, body := get(t, p.base()+"/readyz")
		return strings.Contains(body, "too many open files")
	})
	const out = "out of file descriptors: "
	p.logs(out)
	if n := strings.Count(p.text(), out); n != 1 {
		t.Errorf("logged %d times", n)
	}
	p.stop(syscall.SIGTERM)
}

// TestAConnectionStaysForWhoHasTheSecret: one delivery after the other comes over one connection; an unsigned one ends it.
func TestAConnectionStaysForWhoHasTheSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	p := w.serve()
	c, err := net.Dial("tcp", strings.TrimPrefix(p.base(), "http://"))
	w.must(err)
	defer func() { _ = c.Close() }()
	answers := bufio.NewReader(c)
	send := func(guid, signature string) (code int, ends bool) {
		req := p.signedPost("push", guid, w.delivery(w.repo))
		if signature != "" {
			req.Header.Set("X-Hub-Signature-256", signature)
		}
		w.must(req.Write(c))
		answer, err := http.ReadResponse(answers, req)
		w.must(err)
		_, err = io.Copy(io.Discard, answer.Body)
		w.must(err)
		return answer.StatusCode, answer.Close
	}
	for i := range 3 {
		if code, ends := send(fmt.Sprint("stays-", i), ""); code != http.StatusAccepted || ends {
			t.Errorf("delivery %d is answered %d, and the connection ends: %v", i, code, ends)
		}
	}
	if code, ends := send("unsigned", "sha256="+strings.Repeat("0", 64)); code != http.StatusUnauthorized || !ends {
		t.Errorf("what nobody signed is answered %d, and the connection ends: %v", code, ends)
	}
	w.must(c.SetReadDeadline(time.Now().Add(patience)))
	if _, err := answers.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("the connection is not closed: %v", err)
	}
}
