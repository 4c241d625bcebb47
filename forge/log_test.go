package forge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// GitHub's id of a request that failed stands in the error for the log, whichever way the answer came, and never in the reason, which people
// read and which must stay the same while nothing changes. What does not look like an id is not repeated.
func TestRequestIDs(t *testing.T) {
	const id = "C0FE:1A2B:3C:4D:65"
	graphQL := func(a answerOf) func(*fake) error {
		return func(hub *fake) error {
			hub.say = func(r *http.Request, _ string) answerOf {
				if r.URL.Path != "/graphql" {
					return answerOf{}
				}
				return a
			}
			_, err := hub.forge(nil).Observe(context.Background(), testRepo, Ask{})
			return err
		}
	}
	status := func(token bool, a answerOf) func(*fake) error {
		return func(hub *fake) error {
			hub.say = func(r *http.Request, _ string) answerOf {
				if isToken(r) != token {
					return answerOf{}
				}
				return a
			}
			return hub.forge(nil).status()
		}
	}
	for name, call := range map[string]func(string) func(*fake) error{
		"refused": func(id string) func(*fake) error {
			return status(false, answerOf{code: 422, body: `{"message":"no"}`, header: map[string]string{"X-GitHub-Request-Id": id}})
		},
		"limited": func(id string) func(*fake) error {
			return status(false, answerOf{code: 429, header: map[string]string{"X-GitHub-Request-Id": id}})
		},
		"token": func(id string) func(*fake) error {
			return status(true, answerOf{code: 401, body: `{"message":"no"}`, header: map[string]string{"X-GitHub-Request-Id": id}})
		},
		"query": func(id string) func(*fake) error {
			return graphQL(answerOf{code: 503, body: `{"message":"no"}`, header: map[string]string{"X-GitHub-Request-Id": id}})
		},
		"error in an answer": func(id string) func(*fake) error {
			return graphQL(answerOf{code: 200, body: `{"errors":[{"message":"no"}]}`, header: map[string]string{"X-GitHub-Request-Id": id}})
		},
		"empty answer": func(id string) func(*fake) error {
			return graphQL(answerOf{code: 200, body: `{}`, header: map[string]string{"X-GitHub-Request-Id": id}})
		},
	} {
		for _, headerID := range []string{id, "evil id", strings.Repeat("A", 101), ""} {
			err := call(headerID)(&fake{t: t})
			var e *client.Error
			if !errors.As(err, &e) || strings.Contains(e.Reason, "request ") {
				t.Fatalf("%s: %v", name, err)
			}
			if got := strings.Contains(err.Error(), "(GitHub's request "+headerID+")"); got != (headerID == id) {
				t.Errorf("%s, %q: %v", name, headerID, err)
			}
		}
	}
}

// Whatever is logged of a look's calls stands in the look's own log: each request with how long it took, and what could not be read. A slow
// request is logged at whatever level.
func TestCallsAreLoggedWhereTheyBelong(t *testing.T) {
	for level, took := range map[slog.Level]time.Duration{slog.LevelDebug: 0, slog.LevelInfo: 5 * time.Second} {
		var out, other strings.Builder
		options := &slog.HandlerOptions{Level: level}
		now := at
		hub := &fake{t: t}
		hub.say = func(r *http.Request, body string) answerOf {
			if r.URL.Path == "/graphql" {
				now = now.Add(took)
			}
			a := sayRepo(repoPart(doubtful(1, "files")))(r, body)
			if strings.HasSuffix(r.URL.Path, "/files") {
				a = answerOf{code: 500}
			}
			a.header = map[string]string{"X-GitHub-Request-Id": "AB:12"}
			return a
		}
		f := hub.forge(func(o *Options) {
			o.Log, o.Now = slog.New(slog.NewTextHandler(&other, options)), func() time.Time { return now }
		})
		log := slog.New(slog.NewTextHandler(&out, options)).With("look", 7)
		if _, err := f.Self(context.Background()); err != nil { // it is nobody's in particular
			t.Fatal(err)
		}
		other.Reset()
		if _, err := f.Observe(client.WithLog(context.Background(), log), testRepo, Ask{}); err != nil {
			t.Fatal(err)
		}
		if other.Len() > 0 {
			t.Errorf("not in the look's log:\n%s", other.String())
		}
		line := fmt.Sprintf(`look=7 route="graphql look" code=200 took=%v github_request=AB:12`, took)
		if !strings.Contains(out.String(), line) || strings.Contains(out.String(), testToken) {
			t.Errorf("%q is not in\n%s", line, out.String())
		}
		if !strings.Contains(out.String(), `msg="a part of a repository was not read" look=7 `) || !strings.Contains(out.String(), "(GitHub's request AB:12)") {
			t.Errorf("what was not read is not in\n%s", out.String())
		}
		if n := strings.Count(out.String(), "msg=request"); level == slog.LevelInfo && n != 1 {
			t.Errorf("%d requests are logged", n)
		}
	}
}

// A status has the link that it was given, unless that is longer than GitHub's texts are; it never fails for it.
func TestStatusTarget(t *testing.T) {
	for target, want := range map[string]bool{"": false, "https://example.com/#a": true, "https://example.com/#" + strings.Repeat("a", maxTarget): false} {
		hub := &fake{t: t}
		hub.say = func(r *http.Request, body string) answerOf {
			if isToken(r) {
				return answerOf{}
			}
			if got := strings.Contains(body, `"target_url":"`+target+`"`); got != want || !want && strings.Contains(body, "target_url") {
				t.Errorf("sent %.200s", body)
			}
			return answerOf{code: 201, body: wasSet}
		}
		s := pending
		s.Target = target
		if err := hub.forge(nil).SetStatus(t.Context(), testRepo, plan.SHA(sha(1)), s); err != nil {
			t.Error(err)
		}
	}
}
