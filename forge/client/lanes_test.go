package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestASuccessIsTakenBackWithoutADescriptor: once a success was written its connection stays, for HTTP/1 and HTTP/2: nothing more can be dialled, every other request
// fails, the token runs out, and a status is written all the same. Whatever else goes on keeps that connection from nobody.
func TestASuccessIsTakenBackWithoutADescriptor(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		var dials, tokens atomic.Int32
		var exhausted atomic.Bool
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, code := wasSet, http.StatusCreated
			switch {
			case isToken(r):
				tokens.Add(1)
				body = `{"token":"x","expires_at":"` + time.Now().Add(30*time.Second).Format(time.RFC3339) + `"}` // renewed each time
			case r.Method != http.MethodPost:
				body, code = `{}`, http.StatusOK
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		}))
		server.EnableHTTP2 = h2
		if h2 {
			server.StartTLS()
		} else {
			server.Start()
		}
		defer server.Close()
		o := Options{AppID: appID, PrivateKey: testKey(), URL: server.URL + "/api/v3", Connections: 8}
		o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if exhausted.Load() {
				return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("socket", syscall.EMFILE)}
			}
			dials.Add(1)
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
		if h2 {
			l := o.transport().(lanes)
			for _, lane := range []http.RoundTripper{l.statuses, l.rest} {
				lane.(*http.Transport).TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
				lane.(*http.Transport).TLSClientConfig.NextProtos = nil
			}
			o.Transport = l
		}
		f, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.status(); err != nil {
			t.Fatal(err)
		}
		if err := f.read(); err != nil {
			t.Fatal(err)
		}
		before := dials.Load()
		exhausted.Store(true)
		f.lanes().rest.(*http.Transport).CloseIdleConnections() // as GitHub may
		for range 3 {
			if err := f.status(); err != nil {
				t.Errorf("without a descriptor: %v", err)
			}
		}
		if err := f.read(); !errors.Is(err, syscall.EMFILE) {
			t.Errorf("another request: %v", err)
		}
		if dials.Load() != before || tokens.Load() < 4 {
			t.Errorf("HTTP/2 %t: %d dials, %d tokens", h2, dials.Load()-before, tokens.Load())
		}
	}
}

// lanes is the transport of a Forge that has one of its own.
func (f *App) lanes() lanes { return f.wire.(wire).next.(lanes) }

// read is a request that is no status.
func (f *App) read() error {
	return f.Installation(install).Get(context.Background(), "repos/acme/fleet/pulls/1", &struct{ Number int }{})
}

// TestABurstOfStatusesSharesItsConnections: without HTTP/2 as many connections are made as there are requests at once, and no more, however
// many follow and however GitHub cuts its answers.
func TestABurstOfStatusesSharesItsConnections(t *testing.T) {
	const atOnce, rounds = 16, 4
	var dials atomic.Int32
	var arrived sync.WaitGroup // of one round: none is answered before all are there
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := `{"token":"x","expires_at":"` + time.Now().Add(time.Hour).Format(time.RFC3339) + `"}`
		if !isToken(r) {
			arrived.Done()
			arrived.Wait()
			body = wasSet
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(body))
		w.(http.Flusher).Flush() // in chunks, whose end follows
	}))
	defer server.Close()
	f, err := New(Options{AppID: appID, PrivateKey: testKey(), URL: server.URL + "/api/v3", Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}})
	if err != nil {
		t.Fatal(err)
	}
	for range rounds {
		arrived.Add(atOnce)
		var all sync.WaitGroup
		for range atOnce {
			all.Go(func() {
				if err := f.status(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	if n := dials.Load(); n > atOnce+1 { // the token's too
		t.Errorf("%d connections for %d requests at once", n, atOnce)
	}
}
