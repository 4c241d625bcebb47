package client

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// testKey is an App's key, made once for all tests. It is short because the race detector watches how a key is made, and each signature.
var testKey = sync.OnceValue(func() []byte {
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
})

const (
	testToken = "ghs_FAKEtokenFAKEtokenFAKEtokenFAKEtoken"
	appID     = 7
	install   = 11
)

// at is when the tests take place.
var at = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// answerOf is what the fake GitHub says to one request.
type answerOf struct {
	code   int
	header map[string]string
	body   string
	err    error
}

// fake is a GitHub of single answers.
type fake struct {
	t  testing.TB
	mu sync.Mutex
	// say answers a request; a zero answer leaves it to the defaults.
	say    func(r *http.Request, body string) answerOf
	sent   []string // METHOD PATH; without tokens and the App itself
	tokens int
	heads  http.Header // of the last request
}

func isToken(r *http.Request) bool { return isTokenPath(r.URL.Path) }

// RoundTrip implements http.RoundTripper.
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	f.heads = r.Header
	if isToken(r) {
		f.tokens++
	} else if r.URL.Path != "/app" {
		f.sent = append(f.sent, r.Method+" "+r.URL.Path)
	}
	var a answerOf
	if f.say != nil {
		a = f.say(r, string(body))
	}
	switch {
	case a.err != nil:
		return nil, a.err
	case a.code != 0:
	case isToken(r):
		a = answerOf{code: 201, body: fmt.Sprintf(`{"token":%q,"expires_at":%q}`, testToken, time.Now().Add(time.Hour).Format(time.RFC3339))}
	case r.URL.Path == "/app":
		a = answerOf{code: 200, body: `{"id":7,"slug":"sluice"}`}
	default:
		f.t.Errorf("unexpected request: %s %s", r.Method, r.URL.Path)
		a = answerOf{code: 500}
	}
	resp := &http.Response{
		StatusCode: a.code, Status: fmt.Sprintf("%d %s", a.code, http.StatusText(a.code)), Request: r, Proto: "HTTP/1.1",
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body)),
	}
	for k, v := range map[string]string{ // as on every answer of GitHub's
		"Date": at.Format(http.TimeFormat), "X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "4999",
		"X-RateLimit-Reset": fmt.Sprint(time.Now().Add(time.Hour).Unix()),
	} {
		resp.Header.Set(k, v)
	}
	for k, v := range a.header {
		resp.Header.Set(k, v)
	}
	return resp, nil
}

// app makes an App that speaks to the fake.
func (f *fake) app(change func(*Options)) *App {
	f.t.Helper()
	o := Options{AppID: appID, PrivateKey: testKey(), Transport: f, Now: func() time.Time { return at }}
	if change != nil {
		change(&o)
	}
	a, err := New(o)
	if err != nil {
		f.t.Fatal(err)
	}
	return a
}

// took gives what was sent since the last time, sorted.
func (f *fake) took() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sent
	f.sent = nil
	slices.Sort(s)
	return s
}

// wasSet is GitHub's answer to a status.
const wasSet = `{"state":"pending","context":"sluice/main"}`

// status sets a status by the tests' installation.
func (f *App) status() error { return f.Installation(install).status() }

func (c *Installation) status() error {
	body := map[string]string{"context": "sluice/main", "state": "pending", "description": "held"}
	_, err := c.Send(context.Background(), http.MethodPost, "repos/acme/fleet/statuses/"+sha(1), body, &struct{ State string }{})
	return err
}

// merge merges a pull request.
func (c *Installation) merge() error {
	_, err := c.Send(context.Background(), http.MethodPut, "repos/acme/fleet/pulls/1/merge", map[string]string{"sha": sha(1)}, &struct{ SHA string }{})
	return err
}

// look asks a query.
func (f *App) look() error {
	_, err := f.Installation(install).Ask(context.Background(), Query{Name: "look", Text: "query look { rateLimit { cost } }"})
	return err
}

func sha(n int) string { return fmt.Sprintf("%040x", n) }

// kindOf is the kind of an error; "": none, "?": it has none.
func kindOf(err error) Kind {
	var e *Error
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &e):
		return "?"
	}
	return e.Kind
}
