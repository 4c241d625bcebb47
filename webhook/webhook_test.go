package webhook_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/webhook"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

const secret = "It's a Secret to Everybody"

// world is the handler with what it noted and whom it poked.
type world struct {
	http.Handler
	notes   []store.Delivery
	poked   []webhook.Hint
	reports []plan.Report
	log     bytes.Buffer
	fails   error
	now     time.Time
}

// Note keeps deliveries in memory.
func (w *world) Note(_ context.Context, d store.Delivery) (bool, error) {
	if w.fails != nil {
		return false, w.fails
	}
	for _, old := range w.notes {
		if old.GUID == d.GUID {
			return false, nil
		}
	}
	w.notes = append(w.notes, d)
	return true, nil
}

// NoteReport keeps reports in memory, of the one repository that is known.
func (w *world) NoteReport(_ context.Context, repo plan.Repo, r plan.Report, _ time.Time) (plan.Repo, bool, error) {
	switch {
	case w.fails != nil:
		return plan.Repo{}, false, w.fails
	case !strings.EqualFold(repo.String(), fleet.String()):
		return plan.Repo{}, false, store.ErrUnknown
	case slices.Contains(w.reports, r):
		return fleet, false, nil
	}
	w.reports = append(w.reports, r)
	return fleet, true, nil
}

// fleet is the repository that reports are about.
var fleet = plan.Repo{Owner: "acme", Name: "fleet", ID: 7, Installation: 70}

func newWorld() *world {
	w := &world{now: noon}
	w.Handler = webhook.New(w.options())
	return w
}

func (w *world) options() webhook.Options {
	return webhook.Options{
		Secret: []byte(secret), FluxSecret: []byte(fluxSecret), Store: w, Self: func() plan.Login { return "sluice" }, App: 7, Now: func() time.Time { return w.now },
		Poke: func(h webhook.Hint) { w.poked = append(w.poked, h) },
		Log:  slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// delivery is a request as GitHub sends it, signed.
func delivery(event, guid, body string) *http.Request {
	req := httptest.NewRequest(http.MethodPost, "/webhook", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", event)
	req.Header.Set("X-GitHub-Delivery", guid)
	req.Header.Set("X-Hub-Signature-256", "sha256="+sign(sha256.New, secret, body))
	return req
}

func sign(alg func() hash.Hash, key, body string) string {
	mac := hmac.New(alg, []byte(key))
	mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}

func (w *world) send(req *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, req)
	return rec
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// GitHub's own worked example of a signature, from its page on validating deliveries.
func TestSignatureOfTheDocs(t *testing.T) {
	w := newWorld()
	req := httptest.NewRequest(http.MethodPost, "/webhook", strings.NewReader("Hello, World!"))
	req.Header.Set("X-Hub-Signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")
	req.Header.Set("X-GitHub-Event", "push")
	req.Header.Set("X-GitHub-Delivery", "72d3162e")
	same(t, "status", w.send(req).Code, http.StatusOK) // signed, though no JSON
	if !strings.Contains(w.log.String(), "cannot read a signed delivery") {
		t.Errorf("not logged: %s", &w.log)
	}
}

// examples calls f with every example payload of every event.
func examples(t testing.TB, f func(event string, n int, body []byte)) {
	t.Helper()
	files, err := filepath.Glob("testdata/github/*.json.gz")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		unzip, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		var event struct{ Examples []json.RawMessage }
		if err := json.NewDecoder(unzip).Decode(&event); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		for n, body := range event.Examples {
			f(strings.TrimSuffix(filepath.Base(name), ".json.gz"), n, body)
		}
	}
}

func TestEveryExample(t *testing.T) {
	w := newWorld()
	answers := map[string]map[int]int{}
	examples(t, func(event string, n int, body []byte) {
		guid := fmt.Sprint(event, n)
		req := delivery(event, guid, string(body))
		req.Header.Set("X-Hub-Signature-256", "sha256="+sign(sha256.New, "another", string(body)))
		same(t, guid+" with another's signature", w.send(req).Code, http.StatusUnauthorized)
		if len(w.notes) > 0 && w.notes[len(w.notes)-1].GUID == guid {
			t.Errorf("%s was noted before it was verified", guid)
		}
		code := w.send(delivery(event, guid, string(body))).Code
		if answers[event] == nil {
			answers[event] = map[int]int{}
		}
		answers[event][code]++
	})
	same(t, "answers", answers, map[string]map[int]int{
		"check_run": {202: 9}, "check_suite": {202: 6, 200: 3}, "create": {200: 5}, "delete": {200: 4}, "installation": {202: 7},
		"installation_repositories": {202: 3}, "issue_comment": {200: 9}, "label": {200: 6}, "member": {200: 4}, "merge_group": {202: 2},
		"ping": {200: 4}, "pull_request": {202: 21, 200: 8}, "pull_request_review": {202: 4}, "push": {202: 2, 200: 5},
		"repository": {202: 13}, "status": {202: 4},
	})
	for _, d := range w.notes {
		if d.Repo.Name == "" && !strings.HasPrefix(d.Event, "installation") {
			t.Errorf("%s of no repository", d.GUID)
		}
	}
	same(t, "a merge group", w.notes[indexOf(w.notes, "merge_group0")], store.Delivery{
		GUID: "merge_group0", Event: "merge_group", Action: "checks_requested", Sender: "Codertocat", At: noon,
		Repo: plan.Repo{Owner: "octo-org", Name: "octo-repo", ID: 17273051, Installation: 1},
		Group: &plan.Group{Base: "main", BaseSHA: "380387fbc80638b734a49e1be1c4dfec1c01b33c",
			Head: "2ffea6db159f6b6c47a24e778fb9ef40cf6b1c7d"},
	})
	same(t, "repositories added", w.notes[indexOf(w.notes, "installation_repositories0")].Added,
		[]plan.Repo{{Owner: "Codertocat", Name: "Space", ID: 186853007, Installation: 957387}})
	gone := w.notes[indexOf(w.notes, "installation0")]
	same(t, "uninstalled", []any{gone.Action, gone.Uninstalled, len(gone.Removed)}, []any{"deleted", int64(2), 1})
}

func indexOf(all []store.Delivery, guid string) int {
	for i, d := range all {
		if d.GUID == guid {
			return i
		}
	}
	panic("no " + guid)
}

func TestRefusals(t *testing.T) {
	const body = `{"repository":{"id":7,"full_name":"acme/fleet"}}`
	for _, c := range []struct {
		name string
		edit func(*http.Request)
		want int
	}{
		{"as it should be", func(*http.Request) {}, 202},
		{"no signature", func(r *http.Request) { r.Header.Del("X-Hub-Signature-256") }, 401},
		{"SHA-1 alone", func(r *http.Request) {
			r.Header.Del("X-Hub-Signature-256")
			r.Header.Set("X-Hub-Signature", "sha1="+sign(sha1.New, secret, body))
		}, 401},
		{"SHA-1 under the other name", func(r *http.Request) {
			r.Header.Set("X-Hub-Signature-256", "sha1="+sign(sha1.New, secret, body))
		}, 401},
		{"two signatures", func(r *http.Request) { r.Header.Add("X-Hub-Signature-256", "sha256="+strings.Repeat("0", 64)) }, 401},
		{"a short signature", func(r *http.Request) {
			r.Header.Set("X-Hub-Signature-256", r.Header.Get("X-Hub-Signature-256")[:20])
		}, 401},
		{"no hex", func(r *http.Request) { r.Header.Set("X-Hub-Signature-256", "sha256="+strings.Repeat("z", 64)) }, 401},
		{"one bit off", func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(body[:len(body)-1] + " ")) }, 401},
		{"no event", func(r *http.Request) { r.Header.Del("X-GitHub-Event") }, 400},
		{"no GUID", func(r *http.Request) { r.Header.Del("X-GitHub-Delivery") }, 400},
		{"an endless GUID", func(r *http.Request) { r.Header.Set("X-GitHub-Delivery", strings.Repeat("g", 4000)) }, 400},
		{"unsigned and without GUID", func(r *http.Request) {
			r.Header.Del("X-GitHub-Delivery")
			r.Header.Del("X-Hub-Signature-256")
		}, 401},
		{"GET", func(r *http.Request) { r.Method = http.MethodGet }, 405},
		{"another path", func(r *http.Request) { r.URL.Path = "/webhook/" }, 404},
	} {
		w := newWorld()
		req := delivery("push", "g", body)
		c.edit(req)
		same(t, c.name, w.send(req).Code, c.want)
		same(t, c.name+": notes", len(w.notes) == 1, c.want == 202)
		same(t, c.name+": pokes", len(w.poked) == 1, c.want == 202)
		if strings.Contains(w.log.String(), secret) || strings.Contains(w.log.String(), sign(sha256.New, secret, body)) {
			t.Errorf("%s: the log tells secrets: %s", c.name, &w.log)
		}
	}
}

func TestNoSecretRefusesAll(t *testing.T) {
	w := newWorld()
	h := webhook.New(webhook.Options{Store: w, Poke: func(webhook.Hint) { t.Error("poked") }})
	req := delivery("push", "g", "{}")
	req.Header.Set("X-Hub-Signature-256", "sha256="+sign(sha256.New, "", "{}"))
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	same(t, "status", rec.Code, http.StatusUnauthorized)
}

// endless is a body without end. It counts what was read of it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

func TestBodyIsBounded(t *testing.T) {
	w := newWorld()
	body := &endless{}
	req := delivery("push", "g", "")
	req.Body, req.ContentLength = io.NopCloser(body), webhook.MaxBody+1
	same(t, "declared too long", w.send(req).Code, http.StatusRequestEntityTooLarge)
	same(t, "read of it", body.read, 0)

	req = delivery("push", "g", "")
	req.Body, req.ContentLength = io.NopCloser(body), -1
	same(t, "endless", w.send(req).Code, http.StatusRequestEntityTooLarge)
	if body.read > webhook.MaxBody+1 {
		t.Errorf("read %d bytes of it", body.read)
	}

	long := `{"repository":{"full_name":"acme/fleet"},"x":"` + strings.Repeat("x", webhook.MaxBody-48) + `"}`
	same(t, "length", len(long), webhook.MaxBody)
	same(t, "as long as may be", w.send(delivery("push", "l", long)).Code, http.StatusAccepted)

	req = delivery("push", "c", "{}")
	req.Body = io.NopCloser(io.MultiReader(strings.NewReader("{"), brokenReader{}))
	same(t, "cut", w.send(req).Code, http.StatusBadRequest)
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestBodiesTogetherAreBounded: strangers who send many long bodies at once are refused before they fill the memory, and
// what they held is given back.
func TestBodiesTogetherAreBounded(t *testing.T) {
	w := newWorld()
	const senders = 8 // each holds 16 MiB and waits
	release := make(chan struct{})
	codes := make(chan int, senders)
	reached := make(chan struct{}, senders)
	waiting := 0
	for i := range senders {
		go func() {
			req := delivery("push", fmt.Sprint(i), "")
			req.ContentLength = -1
			req.Body = io.NopCloser(io.MultiReader(io.LimitReader(&endless{}, 16<<20), &gate{reached: reached, release: release}))
			rec := httptest.NewRecorder()
			w.ServeHTTP(rec, req)
			codes <- rec.Code
		}()
		select { // one after the other: eight that share the room evenly are all refused
		case <-reached:
			waiting++
		case code := <-codes:
			same(t, "refused", code, http.StatusServiceUnavailable)
		}
	}
	if most := webhook.MaxReading / (16 << 20); waiting > most || waiting == 0 {
		t.Errorf("%d bodies of 16 MiB were being read at once, at most %d may", waiting, most)
	}
	close(release)
	for range waiting {
		same(t, "a stranger", <-codes, http.StatusUnauthorized)
	}
	long := `{"repository":{"full_name":"acme/fleet"},"x":"` + strings.Repeat("x", 20<<20) + `"}`
	same(t, "afterwards", w.send(delivery("push", "after", long)).Code, http.StatusAccepted)
}

// gate ends a body when it is released.
type gate struct{ reached, release chan struct{} }

func (g *gate) Read([]byte) (int, error) {
	g.reached <- struct{}{}
	<-g.release
	return 0, io.EOF
}

func TestStoreFails(t *testing.T) {
	w := newWorld()
	w.fails = fmt.Errorf("note: %w", store.ErrFull)
	rec := w.send(delivery("push", "g", `{"repository":{"full_name":"acme/fleet"}}`))
	same(t, "status", rec.Code, http.StatusServiceUnavailable)
	same(t, "pokes", len(w.poked), 1)
	if !strings.Contains(w.log.String(), store.ErrFull.Error()) || !strings.Contains(w.log.String(), "level=ERROR") {
		t.Errorf("log: %s", &w.log)
	}
	if strings.Contains(rec.Body.String(), "disk") {
		t.Errorf("a stranger is told of our disk: %s", rec.Body)
	}
	w.fails = nil
	same(t, "sent again", w.send(delivery("push", "g", `{"repository":{"full_name":"acme/fleet"}}`)).Code, http.StatusAccepted)
}

func TestRedelivery(t *testing.T) {
	w := newWorld()
	body := `{"repository":{"full_name":"acme/fleet"}}`
	same(t, "first", w.send(delivery("push", "g", body)).Code, http.StatusAccepted)
	same(t, "again", w.send(delivery("push", "g", body)).Code, http.StatusOK)
	same(t, "pokes", len(w.poked), 1)
}

// leaving is a store whose note outlasts the sender.
type leaving struct{ cancel context.CancelFunc }

func (l leaving) NoteReport(context.Context, plan.Repo, plan.Report, time.Time) (plan.Repo, bool, error) {
	panic("no report was sent")
}

func (l leaving) Note(ctx context.Context, _ store.Delivery) (bool, error) {
	l.cancel()
	return true, ctx.Err()
}

func TestSenderLeaves(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	poked := 0
	h := webhook.New(webhook.Options{Secret: []byte(secret), Store: leaving{cancel}, Poke: func(webhook.Hint) { poked++ }})
	h.ServeHTTP(httptest.NewRecorder(), delivery("push", "g", `{"repository":{"full_name":"acme/fleet"}}`).WithContext(ctx))
	same(t, "pokes", poked, 1)
}

func TestWhatIsNoted(t *testing.T) {
	fleet := plan.Repo{Owner: "acme", Name: "fleet", ID: 7, Installation: 70}
	const at = `"repository":{"id":7,"full_name":"acme/fleet"},"installation":{"id":70},`
	for _, c := range []struct {
		name, event, body string
		want              *store.Delivery // nil: nothing
	}{
		{"a person", "pull_request", `{"action":"opened",` + at + `"sender":{"login":"alice"}}`,
			&store.Delivery{Action: "opened", Repo: fleet, Sender: "alice"}},
		{"our own merge", "push", `{"ref":"refs/heads/main",` + at + `"sender":{"login":"sluice[bot]"}}`,
			&store.Delivery{Repo: fleet, Sender: "sluice", Echo: true}},
		{"a check of what we pushed", "check_run", `{"action":"completed",` + at + `"sender":{"login":"sluice[bot]"}}`,
			&store.Delivery{Action: "completed", Repo: fleet, Sender: "sluice"}},
		{"a person of our name", "push", `{"ref":"refs/heads/main",` + at + `"sender":{"login":"sluice"}}`,
			&store.Delivery{Repo: fleet, Sender: "sluice"}},
		{"our own status", "status", `{"context":"sluice/main",` + at + `"sender":{"login":"sluice[bot]"}}`, nil},
		{"our status, set by somebody else", "status", `{"context":"sluice/main",` + at + `"sender":{"login":"mallory"}}`,
			&store.Delivery{Repo: fleet, Sender: "mallory"}},
		{"another's status", "status", `{"context":"ci",` + at + `"sender":{"login":"ci[bot]"}}`, &store.Delivery{Repo: fleet, Sender: "ci"}},
		{"a tag", "push", `{"ref":"refs/tags/v1",` + at + `"sender":{"login":"alice"}}`, nil},
		{"no installation", "push", `{"ref":"refs/heads/main","repository":{"id":7,"full_name":"acme/fleet"}}`,
			&store.Delivery{Repo: plan.Repo{Owner: "acme", Name: "fleet", ID: 7}}},
		{"no repository", "push", `{"ref":"refs/heads/main"}`, &store.Delivery{}},
		{"a field of another type", "push", `{"ref":7,` + at + `"sender":{"login":"alice"}}`, &store.Delivery{Repo: fleet, Sender: "alice"}},
		{"a name that leads elsewhere", "push", `{"repository":{"id":7,"full_name":"acme/../../orgs"}}`, &store.Delivery{}},
		{"dots for a name", "push", `{"repository":{"id":7,"full_name":"acme/.."}}`, &store.Delivery{}},
		{"a deleted repository", "repository", `{"action":"deleted",` + at + `"sender":{"login":"alice"}}`,
			&store.Delivery{Action: "deleted", Sender: "alice", Removed: []plan.Repo{fleet}}},
		{"a group without SHAs", "merge_group", `{"action":"checks_requested",` + at + `"merge_group":{"head_sha":"x","base_sha":"y","base_ref":"refs/heads/main"}}`,
			&store.Delivery{Action: "checks_requested", Repo: fleet}},
		{"a group on a tag", "merge_group", `{"action":"checks_requested",` + at + `"merge_group":{"head_sha":"` + strings.Repeat("a", 40) +
			`","base_sha":"` + strings.Repeat("b", 64) + `","base_ref":"refs/tags/main"}}`,
			&store.Delivery{Action: "checks_requested", Repo: fleet}},
		{"not JSON", "push", `ref=refs/heads/main`, nil},
		{"a list", "push", `[1]`, nil},
		{"nothing", "push", ``, nil},
		{"an event of tomorrow", "pull_request_merged_by_ai", `{` + at + `"action":"x"}`, nil},
		{"an action of tomorrow", "pull_request", `{` + at + `"action":"blessed"}`, &store.Delivery{Action: "blessed", Repo: fleet}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			code := w.send(delivery(c.event, "g", c.body)).Code
			if c.want == nil {
				same(t, "status", code, http.StatusOK)
				same(t, "notes", len(w.notes), 0)
				return
			}
			c.want.GUID, c.want.Event, c.want.At = "g", c.event, noon
			same(t, "status", code, http.StatusAccepted)
			same(t, "notes", w.notes, []store.Delivery{*c.want})
			w.poked[0].Named = plan.Mention{} // of which another test knows
			same(t, "pokes", w.poked, []webhook.Hint{{Repo: c.want.Repo, Event: c.event, Ours: c.want.Echo}})
		})
	}
}

// TestNamed: an event names what it is about, and the whole repository where that is missing or odd.
func TestNamed(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	pull := func(rest string) string {
		return `"pull_request":{"number":7,"head":{"sha":"` + a + `","ref":"fix"},"base":{"sha":"` + b + `","ref":"main"}` + rest + `}`
	}
	whole := plan.Mention{}
	for _, c := range []struct {
		name, event, body string
		want              plan.Mention
	}{
		{"a pull request", "pull_request", `"action":"labeled","number":7,` + pull(""), plan.Mention{Pull: 7, SHA: plan.SHA(a), Target: "main"}},
		{"one that arrives", "pull_request", `"action":"opened",` + pull(""), plan.Mention{Pull: 7, SHA: plan.SHA(a), Target: "main", Arrival: true}},
		{"its next head", "pull_request", `"action":"synchronize",` + pull(""), plan.Mention{Pull: 7, SHA: plan.SHA(a), Target: "main", Arrival: true}},
		{"one that was merged meanwhile", "pull_request", `"action":"synchronize",` + pull(`,"merged":true`), plan.Mention{Pull: 7, SHA: plan.SHA(a), Target: "main", Branch: "main"}},
		{"one whose base is changed", "pull_request", `"action":"edited",` + pull(""), plan.Mention{Pull: 7, SHA: plan.SHA(a), Target: "main"}},
		{"one that was merged", "pull_request", `"action":"closed",` + pull(`,"merged":true`), plan.Mention{Pull: 7, SHA: plan.SHA(a), Target: "main", Branch: "main"}},
		{"a review", "pull_request_review", `"action":"submitted","review":{"commit_id":"` + b + `"},` + pull(""), plan.Mention{Pull: 7, SHA: plan.SHA(a), Target: "main"}},
		{"no number", "pull_request", `"pull_request":{"head":{"sha":"` + a + `"},"base":{"ref":"main"}}`, whole},
		{"no base", "pull_request", `"pull_request":{"number":7,"head":{"sha":"` + a + `"}}`, whole},
		{"a head that is none", "pull_request", `"pull_request":{"number":7,"head":{"sha":"HEAD"},"base":{"ref":"main"}}`, whole},
		{"a field of another type", "pull_request", `"action":3,` + pull(""), whole},
		{"no pull request", "pull_request", `"number":7`, whole},
		{"a status", "status", `"context":"ci","sha":"` + a + `"`, plan.Mention{SHA: plan.SHA(a)}},
		{"a status of nothing", "status", `"context":"ci"`, whole},
		{"a run", "check_run", `"action":"completed","check_run":{"head_sha":"` + a + `"}`, plan.Mention{SHA: plan.SHA(a)}},
		{"a suite", "check_suite", `"action":"completed","check_suite":{"head_sha":"` + a + `"}`, plan.Mention{SHA: plan.SHA(a)}},
		{"a run of nothing", "check_run", `"action":"completed"`, whole},
		{"a push", "push", `"ref":"refs/heads/release/1.2"`, plan.Mention{Branch: "release/1.2"}},
		{"a push to nothing", "push", `"ref":"main"`, whole},
		{"a merge group", "merge_group", `"action":"checks_requested",` + pull(""), whole},
		{"a renamed repository", "repository", `"action":"renamed"`, whole},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			w.send(delivery(c.event, "g", `{"repository":{"id":7,"full_name":"acme/fleet"},"installation":{"id":70},`+c.body+`}`))
			same(t, "named", w.poked, []webhook.Hint{{Repo: fleet, Named: c.want, Event: c.event}})
		})
	}
}

// TestCommentsMatter: what people say to each other is no news; what they say to sluice on a pull request is, also what they said before it was edited.
func TestCommentsMatter(t *testing.T) {
	for body, want := range map[string]int{
		`"issue":{"number":7,"pull_request":{}},"comment":{"id":3,"body":"/sluice undo"}`:                                          http.StatusAccepted,
		`"issue":{"number":7,"pull_request":{}},"comment":{"id":3,"body":"never mind"},"changes":{"body":{"from":"/sluice undo"}}`: http.StatusAccepted,
		`"issue":{"number":7,"pull_request":{}},"comment":{"id":3,"body":"/sluice release 0123456 --branch rw/a now\r\nand thus"}`: http.StatusAccepted,
		`"issue":{"number":7,"pull_request":{}},"comment":{"id":3,"body":"please /sluice undo"}`:                                   http.StatusOK,
		`"issue":{"number":7,"pull_request":{}},"comment":{"id":3,"body":"> /sluice undo"}`:                                        http.StatusOK,
		`"issue":{"number":7},"comment":{"id":3,"body":"/sluice undo"}`:                                                            http.StatusOK,
		`"issue":{"number":7,"pull_request":null},"comment":{"id":3,"body":"/sluice undo"}`:                                        http.StatusOK,
		`"action":"created"`: http.StatusOK,
	} {
		w := newWorld()
		if code := w.send(delivery("issue_comment", "g", `{"repository":{"id":7,"full_name":"acme/fleet"},`+body+`}`)).Code; code != want {
			t.Errorf("%s: answered %d, want %d", body, code, want)
		}
	}
}

// TestExamplesAreNamed: GitHub's own examples of events about a part of a repository name it.
func TestExamplesAreNamed(t *testing.T) {
	w := newWorld()
	count := map[string]int{}
	examples(t, func(event string, n int, body []byte) {
		w.poked = nil
		w.send(delivery(event, fmt.Sprint(event, n), string(body)))
		if len(w.poked) > 0 && w.poked[0].Named != (plan.Mention{}) {
			count[event]++
		}
	})
	for _, event := range []string{"pull_request", "pull_request_review", "status", "check_run", "check_suite", "push"} {
		if count[event] == 0 {
			t.Errorf("no %s names anything: %v", event, count)
		}
	}
}

func TestGainedRepositoriesArePoked(t *testing.T) {
	w := newWorld()
	w.send(delivery("installation", "g", `{"action":"created","installation":{"id":70},"repositories":[
		{"id":7,"full_name":"acme/fleet"},{"id":8,"full_name":"acme/web"},{"id":9,"full_name":"?"}]}`))
	same(t, "pokes", w.poked, []webhook.Hint{
		{Event: "installation"},
		{Event: "installation", Repo: plan.Repo{Owner: "acme", Name: "fleet", ID: 7, Installation: 70}},
		{Event: "installation", Repo: plan.Repo{Owner: "acme", Name: "web", ID: 8, Installation: 70}},
	})
}

func TestForm(t *testing.T) {
	w := newWorld()
	req := delivery("push", "g", "payload="+url.QueryEscape(`{"repository":{"id":7,"full_name":"acme/fleet"}}`))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	same(t, "status", w.send(req).Code, http.StatusAccepted)
	same(t, "repository", w.notes[0].Repo, plan.Repo{Owner: "acme", Name: "fleet", ID: 7})
}

func TestStrangersDoNotFillTheLog(t *testing.T) {
	w := newWorld()
	req := delivery("push", "g", "{}")
	req.Header.Del("X-Hub-Signature-256")
	for range 500 {
		w.send(req)
	}
	w.now = w.now.Add(time.Minute)
	w.send(req)
	same(t, "lines", strings.Count(w.log.String(), "\n"), 2)
	if !strings.Contains(w.log.String(), "refused=500") {
		t.Errorf("log: %s", &w.log)
	}
}

func TestHealth(t *testing.T) {
	var reasons, lags []string
	h := webhook.New(webhook.Options{Secret: []byte(secret), Ready: func() []string { return reasons }, Lags: func() []string { return lags }})
	get := func(path string) string {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
		return fmt.Sprint(rec.Code, " ", rec.Body)
	}
	same(t, "alive", get("/healthz"), "200 alive\n")
	same(t, "ready", get("/readyz"), "200 ready\n")
	lags = []string{"installation 1: acme/fleet not up to date since noon: no answer", "installation 2: acme/web not up to date since noon: limited"}
	same(t, "ready, and some lag", get("/readyz"), "200 ready\n- "+lags[0]+"\n- "+lags[1]+"\n")
	reasons = []string{"the clock is 61 s off GitHub's", "the database is full"}
	same(t, "not ready", get("/readyz"), "503 not ready\n- the clock is 61 s off GitHub's\n- the database is full\n")
	same(t, "alive still", get("/healthz"), "200 alive\n")
	same(t, "elsewhere", get("/"), "404 not found\n")
}

// panicking is a store with a bug.
type panicking struct{}

func (panicking) NoteReport(context.Context, plan.Repo, plan.Report, time.Time) (plan.Repo, bool, error) {
	panic(errors.New("bug"))
}

func (panicking) Note(context.Context, store.Delivery) (bool, error) { panic(errors.New("bug")) }

func TestPanicIsAnswered(t *testing.T) {
	var log bytes.Buffer
	h := webhook.New(webhook.Options{Secret: []byte(secret), Store: panicking{}, Poke: func(webhook.Hint) {},
		Log: slog.New(slog.NewTextHandler(&log, nil))})
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, delivery("push", "g", `{"repository":{"full_name":"acme/fleet"}}`))
	same(t, "status", rec.Code, http.StatusInternalServerError)
	if !strings.Contains(log.String(), "fault=bug") {
		t.Errorf("log: %s", &log)
	}
}

// FuzzBody: whatever is signed is answered 2xx, whatever is not 401, and what is noted can be asked of GitHub.
func FuzzBody(f *testing.F) {
	examples(f, func(event string, n int, body []byte) {
		if n == 0 && len(body) < 8<<10 {
			f.Add(event, "application/json", body)
		}
	})
	f.Add("push", "application/x-www-form-urlencoded", []byte("payload=%7B%7D"))
	f.Add("merge_group", "application/json", []byte(`{"merge_group":{"head_sha":1}}`))
	f.Add("push", "application/json", bytes.Repeat([]byte(`[`), 20000))
	f.Fuzz(func(t *testing.T, event, contentType string, body []byte) {
		w := newWorld()
		req := delivery(event, "g", string(body))
		req.Header.Set("Content-Type", contentType)
		code := w.send(req).Code
		if code/100 != 2 && (code != 400 || event != "" && len(event) <= webhook.MaxHeader) {
			t.Fatalf("signed: %d", code)
		}
		for _, d := range w.notes {
			for _, repo := range append(append(d.Added, d.Removed...), d.Repo) {
				if repo.Name != url.PathEscape(repo.Name) || repo.Owner != url.PathEscape(repo.Owner) || repo.Name == ".." {
					t.Fatalf("repository %q", repo)
				}
			}
			if d.Group != nil && (len(d.Group.Head) < 40 || d.Group.Base == "") {
				t.Fatalf("group %+v", d.Group)
			}
		}
		req = delivery(event, "h", string(body))
		req.Header.Set("X-Hub-Signature-256", "sha256="+strings.Repeat("0", 64))
		if code := w.send(req).Code; code != 401 {
			t.Fatalf("unsigned: %d", code)
		}
	})
}

// TestWhatCannotBeReadIsLoggedInShort: a field of another type than GitHub documents may be as long as a delivery; its line in the log is not.
func TestWhatCannotBeReadIsLoggedInShort(t *testing.T) {
	for name, body := range map[string]string{
		"odd":    `{"number":1` + strings.Repeat("0", 1<<20) + `}`,
		"unread": `{"number":1` + strings.Repeat("0", 1<<20),
		"a list": `{"repositories":[{"id":1` + strings.Repeat("0", 1<<20) + `}]}`,
	} {
		w := newWorld()
		w.send(delivery("push", "g1", body))
		if n := w.log.Len(); n == 0 || n > 4<<10 {
			t.Errorf("%s: %d bytes of log", name, n)
		}
	}
}
