package webhook_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/listen"
	"github.com/sluicegate/sluice/webhook"
)

// slow is a body of which only some came.
func slow(guid string, sent int, reached, release chan struct{}) *http.Request {
	req := delivery("push", guid, "")
	req.ContentLength = 1_000_000
	req.Body = io.NopCloser(io.MultiReader(io.LimitReader(&endless{}, int64(sent)), &gate{reached: reached, release: release}))
	return req
}

// TestSlowBodiesRefuseNobody: thousands who promise a long body and send 300 bytes of it keep no delivery out: what is set aside is what came.
func TestSlowBodiesRefuseNobody(t *testing.T) {
	w := newWorld()
	const senders = 2100
	reached, release := make(chan struct{}, senders), make(chan struct{})
	codes := make(chan int, senders)
	for i := range senders {
		go func() {
			rec := httptest.NewRecorder()
			w.ServeHTTP(rec, slow(fmt.Sprint(i), 300, reached, release))
			codes <- rec.Code
		}()
	}
	refused := 0
	for range senders {
		select {
		case <-reached:
		case <-codes:
			refused++
		}
	}
	same(t, "refused", refused, 0)
	same(t, "a delivery", w.send(delivery("push", "g", `{"repository":{"full_name":"acme/fleet"}}`)).Code, http.StatusAccepted)
	close(release)
	for range senders - refused {
		<-codes
	}
}

// TestWhatIsRefusedIsMissed: a delivery that is refused unread, for want of room or because it broke off, is told of each time, since GitHub
// does not send it again; the log has one line for many, and their number. What cannot have been a delivery is not told of.
func TestWhatIsRefusedIsMissed(t *testing.T) {
	w := newWorld()
	missed := 0
	o := w.options()
	o.Missed = func() { missed++ }
	w.Handler = webhook.New(o)
	reached, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	holders := []int{8 << 20, 8 << 20, 8 << 20, 4 << 20, 2 << 20, 1 << 20, 512 << 10, 256 << 10, 128 << 10, 64 << 10, 64 << 10}
	for i, sent := range holders { // of each twice as much is set aside: the whole budget
		go func() {
			req := slow(fmt.Sprint(i), sent+1, reached, release)
			req.ContentLength = -1
			w.ServeHTTP(httptest.NewRecorder(), req)
			ended <- struct{}{}
		}()
		<-reached
	}
	long := `{"repository":{"full_name":"acme/fleet"},"x":"` + strings.Repeat("x", 100<<10) + `"}`
	for i := range 5 {
		same(t, "a long one", w.send(delivery("push", fmt.Sprint("long", i), long)).Code, http.StatusServiceUnavailable)
	}
	same(t, "a small one", w.send(delivery("push", "small", `{"repository":{"full_name":"acme/fleet"}}`)).Code, http.StatusAccepted)
	same(t, "missed", missed, 5)
	same(t, "lines", strings.Count(w.log.String(), "refused a delivery: too many at once"), 1)
	w.now = w.now.Add(time.Minute)
	w.send(delivery("push", "once more", long))
	if !strings.Contains(w.log.String(), "refused=5") {
		t.Errorf("log:\n%s", &w.log)
	}
	close(release)
	for range holders {
		<-ended
	}
	same(t, "once there is room", w.send(delivery("push", "long", long)).Code, http.StatusAccepted)

	missed = 0
	cut := delivery("push", "c", "{}")
	cut.Body = io.NopCloser(io.MultiReader(strings.NewReader("{"), brokenReader{}))
	w.send(cut)
	same(t, "missed that broke off", missed, 1)
	unsigned := delivery("push", "u", "{}")
	unsigned.Header.Set("X-Hub-Signature-256", "sha256="+strings.Repeat("0", 64))
	w.send(unsigned)
	same(t, "missed that nobody signed", missed, 1)
}

// TestAConnectionHasOneAnswer: every answer ends its connection, or strangers would keep it for nothing, but that to a signed delivery.
func TestAConnectionHasOneAnswer(t *testing.T) {
	w := newWorld()
	for _, path := range []string{"/healthz", "/readyz", "/", "/webhook"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			rec := w.send(httptest.NewRequest(method, path, http.NoBody))
			same(t, method+" "+path, rec.Header().Get("Connection"), "close")
		}
	}
	unsigned := delivery("push", "u", "{}")
	unsigned.Header.Set("X-Hub-Signature-256", "sha256="+strings.Repeat("0", 64))
	same(t, "an unsigned delivery", w.send(unsigned).Header().Get("Connection"), "close")
	same(t, "a delivery", w.send(delivery("push", "g", `{"repository":{"full_name":"acme/fleet"}}`)).Header().Get("Connection"), "")
}

// TestAKeptConnectionGivesWay: whoever has the secret keeps his connection while there is room, and it gives way to the next who comes as soon
// as there is none.
func TestAKeptConnectionGivesWay(t *testing.T) {
	w := newWorld()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := webhook.NewServer(w.Handler, time.Hour)
	idle, state := make(chan struct{}, 8), server.ConnState
	server.ConnState = func(c net.Conn, s http.ConnState) {
		if state(c, s); s == http.StateIdle {
			idle <- struct{}{}
		}
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listen.Bound(inner, listen.Options{Places: 4})) // it ends with Close
	}()
	defer func() {
		_ = server.Close()
		<-served
	}()
	come := func() net.Conn {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	deliver := func(c net.Conn, guid string) (ends bool) {
		req := delivery("push", guid, `{"repository":{"full_name":"acme/fleet"}}`)
		req.RequestURI = ""
		if err := req.Write(c); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(c), req)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "a delivery", answer.StatusCode, http.StatusAccepted)
		return answer.Close
	}
	kept := come()
	same(t, "the first one ends", deliver(kept, "a"), false)
	same(t, "the next over it ends", deliver(kept, "b"), false)
	for range 2 {
		<-idle
	}
	for range 3 {
		come()
	}
	late := come()
	same(t, "where there is no room it ends", deliver(late, "c"), true)
	_ = kept.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := kept.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("what was kept did not give way: %v", err)
	}
}
