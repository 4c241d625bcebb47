package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/plan"
)

// What is wrong with the address, the way to it or the key is said as what it is, for the service as a whole: by who the App is, and by the
// list of its installations. What may be over in a moment says nothing of these.
func TestSetup(t *testing.T) {
	const url = "https://ghe.example.com/api"
	noAPI, silent := fmt.Sprintf(setupNoAPI, url), fmt.Sprintf(setupSilent, url)
	json := map[string]string{"Content-Type": "application/json"}
	for name, tt := range map[string]struct {
		answer answerOf
		want   string
	}{
		"HTML, 404":            {answerOf{code: 404, body: "<!DOCTYPE html><title>Page not found</title>"}, noAPI},
		"HTML, 200":            {answerOf{code: 200, body: "<!DOCTYPE html><title>Sign in</title>"}, noAPI},
		"HTML, 401":            {answerOf{code: 401, body: "<h1>Authorization Required</h1>"}, noAPI},
		"HTML, 406":            {answerOf{code: 406}, noAPI},
		"to a login elsewhere": {answerOf{code: 302, header: map[string]string{"Location": "https://sso.example.com/login"}}, noAPI},
		"other JSON":           {answerOf{code: 200, body: `{"hello":"world"}`, header: json}, noAPI},
		"a list":               {answerOf{code: 200, body: `[]`, header: json}, noAPI},
		"no such path":         {answerOf{code: 404, body: `{"message":"Not Found"}`, header: json}, noAPI},
		"no such App":          {answerOf{code: 404, body: `{"message":"Integration not found"}`, header: json}, setupKey},
		"wrong key":            {answerOf{code: 401, body: `{"message":"A JSON web token could not be decoded"}`, header: json}, setupKey},
		"no connection":        {answerOf{err: &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}}, silent},
		"no such host":         {answerOf{err: &net.DNSError{Err: "no such host", Name: "ghe.example.com"}}, silent},
		"fault":                {answerOf{code: 502, body: "<h1>Bad Gateway</h1>"}, ""},
		"limited":              {answerOf{code: 429}, ""},
		"forbidden":            {answerOf{code: 403, body: `{"message":"Your IP address is not on the list"}`, header: json}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			hub := &fake{t: t, say: func(*http.Request, string) answerOf { return tt.answer }}
			f := hub.app(func(o *Options) { o.URL = url })
			_, self := f.Self(t.Context())
			_, list := f.Repositories(t.Context())
			hub = &fake{t: t, say: func(r *http.Request, _ string) answerOf {
				if strings.HasSuffix(r.URL.Path, "/app") {
					return answerOf{code: 200, body: `{"id":7,"slug":"sluice"}`}
				}
				return tt.answer
			}}
			_, later := hub.app(func(o *Options) { o.URL = url }).Repositories(t.Context())
			for _, err := range []error{self, list, later} {
				var e *Error
				if name == "a list" && err == nil {
					continue // there are no installations
				}
				if !errors.As(err, &e) || e.Setup != tt.want {
					t.Errorf("%v, set up: %q, want %q", err, e.Setup, tt.want)
				}
			}
		})
	}
}

// TestErrorsBesideACode: what GraphQL says in an answer that is not 200 is not lost.
func TestErrorsBesideACode(t *testing.T) {
	for _, tt := range []struct {
		code   int
		body   string
		kind   Kind
		reason string
		heavy  bool
	}{
		{400, `{"errors":[{"message":"is no OID","type":"UNPROCESSABLE"}]}`, Refused, "is no OID", false},
		{400, `{"message":"Problems parsing JSON"}`, Refused, "Problems parsing JSON", false},
		{400, `<html>`, Refused, "400 Bad Request", false},
		{500, `{"data":null,"errors":[{"message":"a fault"}]}`, Transient, "a fault", false},
		{500, `{"errors":[{"message":"Something went wrong while executing your query."}]}`, Transient, "Something went wrong while executing your query.", true},
		{401, `{"message":"Bad credentials","errors":[{"message":"other"}]}`, Unauthorized, "Bad credentials", false},
	} {
		hub := &fake{t: t, say: func(r *http.Request, _ string) answerOf {
			if isToken(r) {
				return answerOf{}
			}
			return answerOf{code: tt.code, body: tt.body}
		}}
		_, err := hub.app(nil).Installation(install).Ask(context.Background(), Query{Name: "id", Text: "query id { rateLimit { cost } }"})
		var e *Error
		if !errors.As(err, &e) || e.Kind != tt.kind || e.Reason != tt.reason || errors.Is(err, ErrHeavy) != tt.heavy {
			t.Errorf("%d %s: %v", tt.code, tt.body, err)
		}
	}
}

func TestRepositories(t *testing.T) {
	hub := &fake{t: t}
	hub.say = func(r *http.Request, _ string) answerOf {
		switch {
		case strings.HasSuffix(r.URL.Path, "/3/access_tokens"):
			return answerOf{code: 404}
		case strings.HasSuffix(r.URL.Path, "/4/access_tokens"):
			return answerOf{code: 500}
		case r.URL.Path == "/app/installations":
			return answerOf{code: 200, body: `[{"id":1},{"id":2,"suspended_at":"2026-01-01T00:00:00Z"},{"id":3},{"id":4}]`}
		case r.URL.Path == "/installation/repositories" && r.URL.Query().Get("page") == "1":
			return answerOf{
				code: 200, header: map[string]string{"Link": `<https://api.github.com/installation/repositories?page=2>; rel="next"`},
				body: `{"repositories":[{"id":10,"name":"a","owner":{"login":"acme"}},{"id":11,"name":"old","archived":true,"owner":{"login":"acme"}}]}`,
			}
		case r.URL.Path == "/installation/repositories":
			return answerOf{code: 200, body: `{"repositories":[{"id":12,"name":"b","owner":{"login":"acme"}}]}`}
		}
		return answerOf{}
	}
	got, err := hub.app(nil).Repositories(context.Background())
	want := []plan.Repo{{Owner: "acme", Name: "a", ID: 10, Installation: 1}, {Owner: "acme", Name: "b", ID: 12, Installation: 1}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err == nil || !strings.Contains(err.Error(), "installation 3: gone") || !strings.Contains(err.Error(), "installation 4: temporary error") {
		t.Errorf("an installation that could not be read is not told of: %v", err)
	}
	if some := (*PartialListError)(nil); !errors.As(err, &some) || !slices.Equal(some.Installations, []int64{3, 4}) {
		t.Errorf("%v", err)
	}
}

// Pages shift while they are read, and the list lacks a repository, or has one twice: fewer than GitHub counts are not all. It is read again;
// if it lacks one for good, that is said, and spoils no other installation and no start.
func TestAListThatLacksSome(t *testing.T) {
	for name, c := range map[string]struct {
		lacks int // so many lists do
		reads int
	}{"none": {0, 1}, "once": {1, 2}, "for ever": {9, 2}} {
		hub := &fake{t: t}
		lists := 0
		hub.say = func(r *http.Request, _ string) answerOf {
			switch {
			case r.URL.Path == "/app/installations":
				return answerOf{code: 200, body: `[{"id":1}]`}
			case r.URL.Path == "/installation/repositories" && r.URL.Query().Get("page") == "1":
				lists++
				return answerOf{
					code: 200, header: map[string]string{"Link": `<https://api.github.com/installation/repositories?page=2>; rel="next"`},
					body: `{"total_count":3,"repositories":[{"id":10,"name":"a","owner":{"login":"acme"}},{"id":11,"name":"old","archived":true,"owner":{"login":"acme"}}]}`,
				}
			case r.URL.Path == "/installation/repositories" && lists <= c.lacks:
				return answerOf{code: 200, body: `{"total_count":3,"repositories":[{"id":10,"name":"a","owner":{"login":"acme"}}]}`}
			case r.URL.Path == "/installation/repositories":
				return answerOf{code: 200, body: `{"total_count":3,"repositories":[{"id":10,"name":"a","owner":{"login":"acme"}},{"id":12,"name":"b","owner":{"login":"acme"}}]}`}
			}
			return answerOf{}
		}
		got, err := hub.app(nil).Repositories(context.Background())
		var some *PartialListError
		lacks := errors.As(err, &some) && slices.Equal(some.Installations, []int64{1}) && kindOf(err) == Transient
		want := []plan.Repo{{Owner: "acme", Name: "a", ID: 10, Installation: 1}, {Owner: "acme", Name: "b", ID: 12, Installation: 1}}
		if c.lacks > 1 {
			want = want[:1]
		}
		if d := cmp.Diff(want, got); d != "" || lists != c.reads || lacks != (c.lacks > 1) || !lacks && err != nil {
			t.Errorf("%s: %d lists, %v\n%s", name, lists, err, d)
		}
	}
}

// A null is no list: whoever took it for an empty one would forget every repository, or fall over it.
func TestNullIsNoListOfRepositories(t *testing.T) {
	for _, null := range []string{"null", "[null]", `{"repositories":null}`, `{"repositories":[null]}`} {
		for _, path := range []string{"/app/installations", "/installation/repositories"} {
			if (path == "/app/installations") != (null == "null" || null == "[null]") && null != "null" {
				continue // of another shape
			}
			hub := &fake{t: t}
			hub.say = func(r *http.Request, _ string) answerOf {
				switch r.URL.Path {
				case path:
					return answerOf{code: 200, body: null}
				case "/app/installations":
					return answerOf{code: 200, body: `[{"id":1}]`}
				}
				return answerOf{}
			}
			if got, err := hub.app(nil).Repositories(context.Background()); len(got) > 0 || kindOf(err) != Transient {
				t.Errorf("%s to %s: %v, %v", null, path, got, err)
			}
		}
	}
}

func TestRepository(t *testing.T) {
	hub := &fake{t: t}
	hub.say = func(r *http.Request, _ string) answerOf {
		if r.URL.Path == "/repos/acme/fleet/installation" {
			return answerOf{code: 200, body: `{"id":11}`}
		}
		return answerOf{code: 404, body: `{"message":"Not Found"}`}
	}
	f := hub.app(nil)
	got, err := f.Repository(context.Background(), "acme", "fleet")
	if err != nil || got != (plan.Repo{Owner: "acme", Name: "fleet", Installation: 11}) {
		t.Error(got, err)
	}
	for _, name := range []string{"other", "../../app", "a/b", "a?b", ""} {
		if _, err := f.Repository(context.Background(), "acme", name); kindOf(err) != Gone {
			t.Errorf("%q: %v", name, err)
		}
	}
	if d := cmp.Diff([]string{"GET /repos/acme/fleet/installation", "GET /repos/acme/other/installation"}, hub.took()); d != "" {
		t.Error(d)
	}
}

func TestSelf(t *testing.T) {
	hub := &fake{t: t}
	f := hub.app(nil)
	for range 2 {
		if us, err := f.Self(context.Background()); us != "sluice" || err != nil {
			t.Error(us, err)
		}
	}
	hub.say = func(*http.Request, string) answerOf { return answerOf{code: 200, body: `{}`} }
	if _, err := hub.app(nil).Self(context.Background()); err == nil {
		t.Error("an App without a name")
	}
}

func TestWords(t *testing.T) {
	if got := OneLine("a\nb\x00c\u2028d  ghs_abc123 " + strings.Repeat("x", 400)); !strings.HasPrefix(got, "a b c d *** x") ||
		len([]rune(got)) != maxReason {
		t.Error(got)
	}
	e := &Error{Kind: Limited, Until: time.Date(2026, 11, 21, 13, 0, 0, 0, time.FixedZone("x", 3600)), Reason: "r"}
	if e.Error() != "rate limited until 2026-11-21T12:00:00Z: r" {
		t.Error(e)
	}
}
