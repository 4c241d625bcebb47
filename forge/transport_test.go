package forge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
)

func isToken(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/access_tokens") }

func TestEveryRequestSaysWhoItIs(t *testing.T) {
	hub := &fake{t: t, say: sayRepo(repoPart())}
	f := hub.forge(nil)
	observe(t, f, Ask{})
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
		err := hub.forge(nil).status()
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
	f := hub.forge(nil)
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
			if err := hub.forge(nil).status(); kindOf(err) != tt.want {
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
			if err := hub.forge(nil).status(); kindOf(err) != tt.want {
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
	if err := hub.forge(nil).status(); err != nil {
		t.Error(err)
	}
}

func TestGraphQLErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		want Kind
	}{
		"not found":      {`{"data":{"repository":null},"errors":[{"type":"NOT_FOUND","path":["repository"],"message":"Could not resolve"}]}`, Gone},
		"forbidden":      {`{"data":{"repository":{"id":"R"}},"errors":[{"type":"FORBIDDEN","message":"Resource not accessible by integration"}]}`, Refused},
		"both":           {`{"data":null,"errors":[{"type":"FORBIDDEN","message":"x"},{"type":"NOT_FOUND","path":["repository"],"message":"x"}]}`, Gone},
		"unknown field":  {`{"errors":[{"message":"Field 'x' doesn't exist","extensions":{"code":"undefinedField"}}]}`, Refused},
		"no data":        {`{}`, Transient},
		"null data":      {`{"data":null}`, Transient},
		"no repository":  {`{"data":{"repository":null}}`, Gone},
		"nothing":        {``, Transient},
		"cut":            {`{"data":{"repository":{"id":"R1","pullReq`, Transient},
		"an array":       {`[]`, Transient},
		"no pulls":       {`{"data":{"repository":{"id":"R1","databaseId":42}}}`, Transient},
		"null pull":      {`{"data":{"repository":{"id":"R1","databaseId":42,"pullRequests":{"nodes":[null],"pageInfo":{}}}}}`, Transient},
		"still cursor":   {`{"data":{"repository":{"id":"R1","databaseId":42,"pullRequests":{"nodes":[],"pageInfo":{"hasNextPage":true}}}}}`, Transient},
		"partial beside": {`{"data":{"repository":{"id":"R1","databaseId":42,"pullRequests":{"nodes":[],"pageInfo":{}}}},"errors":[{"message":"a hole"}]}`, Transient},
	} {
		t.Run(name, func(t *testing.T) {
			hub := &fake{t: t}
			hub.say = func(r *http.Request, _ string) answerOf {
				if r.URL.Path == "/graphql" {
					return answerOf{code: 200, body: tt.body}
				}
				return answerOf{}
			}
			if _, err := hub.forge(nil).Observe(context.Background(), testRepo, Ask{}); kindOf(err) != tt.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The one error that is an answer: there is no file at the tip.
func TestAbsentFileAsError(t *testing.T) {
	hub := &fake{t: t}
	hub.say = func(r *http.Request, body string) answerOf {
		if operation(body) != "look" {
			return answerOf{}
		}
		repo := repoPart()
		repo["defaultBranchRef"] = basePart("main", "")
		a := repoAnswer(repo)
		a.body = strings.TrimSuffix(a.body, "}") +
			`,"errors":[{"type":"NOT_FOUND","path":["repository","defaultBranchRef","target","file"],"message":"x"}]}`
		return a
	}
	if s := observe(t, hub.forge(nil), Ask{}); s.Bases["main"].File != "" {
		t.Errorf("%+v", s.Bases)
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
	if e := judge(err); e.Kind != Transient || !errors.Is(e, errHeavy) {
		t.Error(e)
	}
}

// What ends the context from outside is not GitHub's fault, and not retried as if it were.
func TestEndedFromOutside(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	hub := &fake{t: t}
	hub.say = func(r *http.Request, _ string) answerOf {
		if isToken(r) {
			return answerOf{}
		}
		cancel()
		return answerOf{err: ctx.Err()}
	}
	if _, err := hub.forge(nil).Observe(ctx, testRepo, Ask{}); !errors.Is(err, context.Canceled) || kindOf(err) != "?" {
		t.Errorf("got %v", err)
	}
}

// Neither errors nor the log ever hold the key, a token or a signed request for one, whatever GitHub or a proxy echoes.
func TestNoSecrets(t *testing.T) {
	var log bytes.Buffer
	var echo string
	hub := &fake{t: t}
	step := 0
	codes := []int{401, 403, 404, 422, 405, 409, 429, 500, 502, 200}
	hub.say = func(r *http.Request, body string) answerOf {
		_, word, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		echo = word
		a := answerOf{code: codes[step%len(codes)], body: `{"message":"you sent ` + word + `","errors":[{"message":"` + word + `"}]}`}
		if isToken(r) && step < 2*len(codes) {
			return answerOf{}
		}
		return a
	}
	f := hub.forge(func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)); o.Now = time.Now })
	key := strings.Split(string(testKey()), "\n")[3]
	for ; step < 3*len(codes); step++ {
		repo := testRepo
		repo.Installation = int64(step + 1)
		ctx := context.Background()
		_, merge := f.Merge(ctx, repo, plan.Merge{Pull: 1, Pin: plan.Pin{SHA: "x"}})
		_, look := f.Observe(ctx, repo, Ask{})
		_, self := f.Self(ctx)
		_, all := f.Repositories(ctx)
		for _, err := range []error{merge, look, self, all, f.SetStatus(ctx, repo, "x", pending)} {
			text := log.String()
			if err != nil {
				text += err.Error()
			}
			for _, s := range []string{testToken, key, echo, "eyJ"} {
				if s != "" && strings.Contains(text, s) {
					t.Fatalf("%q holds %q", text, s)
				}
			}
		}
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
		f := hub.forge(nil)
		_, err := f.Self(t.Context())
		if tt.token {
			err = f.status()
		}
		if kindOf(err) != Unauthorized || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("off by %s: %v", tt.off, err)
		}
	}
}
