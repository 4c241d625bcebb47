package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestServerIsBelievedLittle: a token goes over TLS or to this machine alone, and nowhere that an answer leads; what is answered is no more than text.
func TestServerIsBelievedLittle(t *testing.T) {
	t.Setenv("GH_TOKEN", "ghp_secret")
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("it was led to %s with %q", r.URL, r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	body, code := "", 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer ghp_secret" {
			t.Errorf("it got %q", r.Header.Get("Authorization"))
		}
		w.Header().Set("Location", elsewhere.URL)
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}))
	defer s.Close()
	for _, c := range []struct {
		server string
		code   int
		body   string
		says   string
	}{
		{"http://sluice.example.com", 0, "", "want https: your token would travel in clear"},
		{"sluice.example.com", 0, "", "want a URL"},
		{"https://user:pw@sluice.example.com", 0, "", "want a URL"},
		{s.URL, 302, "", "answered 302 Found: is this sluice's admin.listen?"},
		{s.URL, 200, "<html>", "answered what is not understood"},
		{s.URL, 404, `{"detail":"no\u001b[31m"}`, "answered 404 Not Found: no"},
		{s.URL, 200, `{"repository":"acme/fleet"}`, "has not looked at acme/fleet yet"},
		{"http://127.0.0.1:1", 0, "", "127.0.0.1:1 does not answer"},
	} {
		body, code = c.body, c.code
		_, stderr, exit := sluice("plan", "acme/fleet", "--server", c.server)
		if exit != 2 || !strings.Contains(stderr, c.says) || strings.Contains(stderr, "\x1b") || strings.Contains(stderr, "secret") || strings.Contains(stderr, "pw") {
			t.Errorf("%s with %d %q: exit %d: %q", c.server, c.code, c.body, exit, stderr)
		}
	}
	if _, stderr, exit := sluice("plan", "acme/fleet", "--server", s.URL, "--at", "2026-11-23"); exit != 2 || !strings.Contains(stderr, "--at") {
		t.Errorf("%d %s", exit, stderr)
	}
}
