package forge

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

func isToken(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/access_tokens") }

func TestGraphQLErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		want client.Kind
	}{
		"not found":      {`{"data":{"repository":null},"errors":[{"type":"NOT_FOUND","path":["repository"],"message":"Could not resolve"}]}`, client.Gone},
		"forbidden":      {`{"data":{"repository":{"id":"R"}},"errors":[{"type":"FORBIDDEN","message":"Resource not accessible by integration"}]}`, client.Refused},
		"both":           {`{"data":null,"errors":[{"type":"FORBIDDEN","message":"x"},{"type":"NOT_FOUND","path":["repository"],"message":"x"}]}`, client.Gone},
		"unknown field":  {`{"errors":[{"message":"Field 'x' doesn't exist","extensions":{"code":"undefinedField"}}]}`, client.Refused},
		"no data":        {`{}`, client.Transient},
		"null data":      {`{"data":null}`, client.Transient},
		"no repository":  {`{"data":{"repository":null}}`, client.Gone},
		"nothing":        {``, client.Transient},
		"cut":            {`{"data":{"repository":{"id":"R1","pullReq`, client.Transient},
		"an array":       {`[]`, client.Transient},
		"no pulls":       {`{"data":{"repository":{"id":"R1","databaseId":42}}}`, client.Transient},
		"null pull":      {`{"data":{"repository":{"id":"R1","databaseId":42,"pullRequests":{"nodes":[null],"pageInfo":{}}}}}`, client.Transient},
		"still cursor":   {`{"data":{"repository":{"id":"R1","databaseId":42,"pullRequests":{"nodes":[],"pageInfo":{"hasNextPage":true}}}}}`, client.Transient},
		"partial beside": {`{"data":{"repository":{"id":"R1","databaseId":42,"pullRequests":{"nodes":[],"pageInfo":{}}}},"errors":[{"message":"a hole"}]}`, client.Transient},
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
