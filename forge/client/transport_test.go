package client

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestEveryRequestSaysWhoItIs(t *testing.T) {
	hub := &fake{t: t, say: func(r *http.Request, _ string) answerOf {
		if isToken(r) {
			return answerOf{}
		}
		return answerOf{code: 200, body: `{"data":{"repository":{}}}`}
	}}
	if err := hub.app(nil).look(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"User-Agent": userAgent, "X-Github-Api-Version": apiVersion, "Authorization": "token " + testToken,
	} {
		if got := hub.heads.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A token that GitHub does not take (any more) is replaced once, with the whole request behind it.
func TestFreshTokenAfter401(t *testing.T) {
	for _, tt := range []struct {
		refusals, requests, tokens int
		kind                       Kind
	}{{0, 1, 1, ""}, {1, 2, 2, ""}, {9, 2, 2, Unauthorized}} {
		hub := &fake{t: t}
		refused := 0
		hub.say = func(r *http.Request, body string) answerOf {
			if isToken(r) {
				return answerOf{}
			}
			if !strings.Contains(body, "sluice/main") {
				t.Errorf("the request lost its body: %q", body)
			}
			if refused++; refused <= tt.refusals {
				return answerOf{code: 401, body: `{"message":"Bad credentials"}`}
			}
			return answerOf{code: 201, body: wasSet}
		}
		err := hub.app(nil).status()
		if kindOf(err) != tt.kind || len(hub.took()) != tt.requests || hub.tokens != tt.tokens {
			t.Errorf("%d refusals: %v after %d tokens", tt.refusals, err, hub.tokens)
		}
	}
}

func TestTokenIsRenewedBeforeItsEnd(t *testing.T) {
	hub := &fake{t: t}
	hub.say = func(r *http.Request, _ string) answerOf {
		if isToken(r) {
			return answerOf{code: 201, body: `{"token":"x","expires_at":"` + time.Now().Add(30*time.Second).Format(time.RFC3339) + `"}`}
		}
		return answerOf{code: 201, body: wasSet}
	}
	f := hub.app(nil)
	for range 3 {
		if err := f.status(); err != nil {
			t.Fatal(err)
		}
	}
	if hub.tokens != 3 { // each of them ends within the minute
		t.Errorf("%d tokens", hub.tokens)
	}
}

func TestNoToken(t *testing.T) {
	for name, tt := range map[string]struct {
		answer answerOf
		want   Kind
	}{
		"uninstalled":   {answerOf{code: 404, body: `{"message":"Not Found"}`}, Gone},
		"suspended":     {answerOf{code: 403, body: `{"message":"This installation has been suspended"}`}, Gone},
		"wrong key":     {answerOf{code: 401, body: `{"message":"A JSON web token could not be decoded"}`}, Unauthorized},
		"limited":       {answerOf{code: 403, header: map[string]string{"Retry-After": "5"}}, Limited},
		"limited, 429":  {answerOf{code: 429}, Limited},
		"fault":         {answerOf{code: 503}, Transient},
		"no connection": {answerOf{err: io.ErrUnexpectedEOF}, Transient},
		"cut body":      {answerOf{code: 201, body: `{"token":"ghs_cut`}, Transient},
		"null":          {answerOf{code: 201, body: `null`}, Transient},
		"no token":      {answerOf{code: 200, body: `{}`}, Transient},
		"a list":        {answerOf{code: 201, body: `[]`}, Transient},
		"forbidden":     {answerOf{code: 403, body: `{"message":"Resource not accessible"}`}, Refused},
	} {
		t.Run(name, func(t *testing.T) {
			hub := &fake{t: t}
			hub.say = func(r *http.Request, _ string) answerOf {
				if isToken(r) {
					return tt.answer
				}
				t.Error("sent without a token:", r.URL.Path)
				return answerOf{code: 500}
			}
			if err := hub.app(nil).status(); kindOf(err) != tt.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestKindsOfAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		answer answerOf
		want   Kind
	}{
		"not there":     {answerOf{code: 404, body: `{"message":"Not Found"}`}, Gone},
		"gone":          {answerOf{code: 410}, Gone},
		"invalid":       {answerOf{code: 422, body: `{"message":"Validation Failed"}`}, Refused},
		"forbidden":     {answerOf{code: 403, body: `{"message":"Resource not accessible by integration"}`}, Refused},
		"suspended":     {answerOf{code: 403, body: `{"message":"This installation has been suspended"}`}, Gone},
		"HTML 502":      {answerOf{code: 502, body: `<html>Unicorn!</html>`}, Transient},
		"500":           {answerOf{code: 500}, Transient},
		"cut body":      {answerOf{code: 201, body: `{"state":"pend`}, Transient},
		"no JSON":       {answerOf{code: 201, body: `<html>`}, Transient},
		"no connection": {answerOf{err: errors.New("connection refused")}, Transient},
		"other host":    {answerOf{code: 307, header: map[string]string{"Location": "https://evil.example/x"}}, Refused},
		"plain http":    {answerOf{code: 307, header: map[string]string{"Location": "http://api.github.com/x"}}, Refused},
	} {
		t.Run(name, func(t *testing.T) {
			hub := &fake{t: t}
			hub.say = func(r *http.Request, _ string) answerOf {
				switch {
				case isToken(r):
					return answerOf{}
				case r.URL.Host != "api.github.com" || r.URL.Scheme != "https":
					t.Errorf("the token went to %s", r.URL)
				}
				return tt.answer
			}
			if err := hub.app(nil).status(); kindOf(err) != tt.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A repository that was renamed answers with a redirect, which keeps method and body.
func TestRedirectOfARenamedRepository(t *testing.T) {
	hub := &fake{t: t}
	hub.say = func(r *http.Request, body string) answerOf {
		switch {
		case isToken(r):
			return answerOf{}
		case strings.HasPrefix(r.URL.Path, "/repositories/42/") && r.Method == http.MethodPost && body != "":
			return answerOf{code: 201, body: wasSet}
		}
		return answerOf{code: 307, header: map[string]string{"Location": "https://api.github.com/repositories/42/statuses/x"}}
	}
	if err := hub.app(nil).status(); err != nil {
		t.Error(err)
	}
}

// endless is a body that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestEndlessAnswer(t *testing.T) {
	b := &boundedBody{body: io.NopCloser(endless{}), left: 1000}
	got, err := io.ReadAll(b)
	if len(got) != 1000 || !errors.Is(err, errTooLong) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if e := Judge(err); e.Kind != Transient || !errors.Is(e, ErrHeavy) {
		t.Error(e)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"no App":        func(o *Options) { o.AppID = 0 },
		"no key":        func(o *Options) { o.PrivateKey = nil },
		"half a key":    func(o *Options) { o.PrivateKey = o.PrivateKey[:200] },
		"web site":      func(o *Options) { o.URL = "https://github.com" },
		"no scheme":     func(o *Options) { o.URL = "ghe.example.com/api/v3" },
		"with password": func(o *Options) { o.URL = "https://me:hunter2@ghe.example.com/api/v3" },
		"bad GraphQL":   func(o *Options) { o.GraphQLURL = "ftp://x" },
		"bad address":   func(o *Options) { o.URL = "https://a b/%zz" },
	} {
		o := Options{AppID: appID, PrivateKey: testKey()}
		change(&o)
		_, err := New(o)
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "MII") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for in, want := range map[string][2]string{
		"":                                {"https://api.github.com/", "https://api.github.com/graphql"},
		"https://api.github.com":          {"https://api.github.com/", "https://api.github.com/graphql"},
		"https://ghe.example.com/api/v3":  {"https://ghe.example.com/api/v3/", "https://ghe.example.com/api/graphql"},
		"https://ghe.example.com/api/v3/": {"https://ghe.example.com/api/v3/", "https://ghe.example.com/api/graphql"},
		"https://x.example/git/api/v3":    {"https://x.example/git/api/v3/", "https://x.example/git/api/graphql"},
		"https://api.acme.ghe.com":        {"https://api.acme.ghe.com/", "https://api.acme.ghe.com/graphql"},
		"http://127.0.0.1:3000":           {"http://127.0.0.1:3000/", "http://127.0.0.1:3000/graphql"},
	} {
		got, err := locate(in, "")
		if err != nil || got.rest.String() != want[0] || got.graphQL.String() != want[1] {
			t.Errorf("%q: %v %v", in, got, err)
		}
	}
	got, err := locate("https://ghe.example.com/api/v3", "https://graph.example.com/q")
	if err != nil || got.graphQL.String() != "https://graph.example.com/q" {
		t.Error(got, err)
	}
}

// A key that GitHub does not take because our clock is off: what people read names the clock.
func TestRefusedKeyOfAClockThatIsOff(t *testing.T) {
	for _, tt := range []struct {
		off   time.Duration
		token bool // the installation's token is refused, not the App's key
		want  string
	}{
		{time.Hour, false, "unauthorized: no (our clock is 59m59s ahead of GitHub's)"},
		{-time.Hour, true, "unauthorized: no (our clock is 1h0m0s behind GitHub's)"},
		{20 * time.Second, false, "unauthorized: no"},
	} {
		hub := &fake{t: t, say: func(*http.Request, string) answerOf {
			return answerOf{code: 401, body: `{"message":"no"}`, header: map[string]string{"Date": at.Add(-tt.off).Format(http.TimeFormat)}}
		}}
		f := hub.app(nil)
		_, err := f.Self(t.Context())
		if tt.token {
			err = f.status()
		}
		if kindOf(err) != Unauthorized || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("off by %s: %v", tt.off, err)
		}
	}
}

func TestSkew(t *testing.T) {
	date := at.Truncate(time.Second)
	for _, tt := range []struct {
		sent, got, want time.Duration // after GitHub's date
	}{
		{0, time.Second, 0},
		{900 * time.Millisecond, 1900 * time.Millisecond, 0}, // the date is cut to the second
		{-10 * time.Second, 5 * time.Second, 0},              // a slow answer proves nothing
		{31 * time.Second, 32 * time.Second, 30 * time.Second},
		{-40 * time.Second, -35 * time.Second, -35 * time.Second},
	} {
		r := Reply{sent: date.Add(tt.sent), got: date.Add(tt.got), date: date}
		if got := r.Skew(); got != tt.want {
			t.Errorf("sent %s, got %s: skew %s, want %s", tt.sent, tt.got, got, tt.want)
		}
	}
}
