package web_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/login"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/web"
)

// house is the pages behind a door, over TCP.
type house struct {
	*testing.T
	*httptest.Server
}

// newHouse lets in whoever is called as the code that they bring.
func newHouse(t *testing.T, o web.Options, site func(who string) login.Site) house {
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"access_token":%q,"token_type":"bearer"}`, r.FormValue("code"))
	}))
	t.Cleanup(github.Close)
	var h http.Handler
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, r) }))
	t.Cleanup(s.Close)
	var err error
	if o.Door, err = login.New(login.Options{GitHub: github.URL, Page: s.URL, ID: "x", Secret: "y", Site: func(token string) (login.Site, error) { return site(token), nil }}); err != nil {
		t.Fatal(err)
	}
	h = web.New(o)
	return house{t, s}
}

// enter is a browser of somebody who logged in.
func (h house) enter(who string) *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.Fatal(err)
	}
	c := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	_, head, _ := h.get(c, "/login")
	at, err := url.Parse(head.Get("Location"))
	if err != nil {
		h.Fatal(err)
	}
	if code, _, body := h.get(c, "/login/callback?code="+who+"&state="+at.Query().Get("state")); code != http.StatusSeeOther {
		h.Fatalf("%s: %d %s", who, code, body)
	}
	return c
}

func (h house) get(c *http.Client, path string) (int, http.Header, string) {
	resp, err := c.Get(h.URL + path)
	if err != nil {
		h.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		h.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

// reader may read some repositories; who is slow waits for nobody but themselves.
type reader struct {
	who   string
	reads map[string]int64
	slow  chan struct{} // nil: not at all
	wrote *[]string
}

func (r reader) Login(context.Context) (string, error) { return r.who, nil }

func (r reader) Readable(ctx context.Context, repos []plan.Repo) ([]int64, error) {
	if r.slow != nil {
		select {
		case <-r.slow:
		case <-ctx.Done():
		}
		return nil, errors.New("no answer")
	}
	ids := make([]int64, len(repos))
	for i, in := range repos {
		ids[i] = r.reads[strings.ToLower(in.String())]
	}
	return ids, nil
}

func (r reader) Comment(_ context.Context, owner, repo string, pull int, text string) (string, error) {
	if r.wrote == nil {
		return "", errors.New("nobody writes here")
	}
	*r.wrote = append(*r.wrote, fmt.Sprint(owner, "/", repo, "#", pull, ": ", text))
	return "", nil
}

// TestHistoryOfOnesOwn: whoever is logged in sees the history of what they may read, all of it, and nothing of any other, not even that there is one or that a name was another's.
func TestHistoryOfOnesOwn(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "sluice.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	mine, secret := plan.Repo{ID: 1, Owner: "acme", Name: "open", Installation: 1}, plan.Repo{ID: 2, Owner: "acme", Name: "secret", Installation: 1}
	passed, now := plan.Repo{ID: 3, Owner: "acme", Name: "fleet", Installation: 1}, plan.Repo{ID: 4, Owner: "acme", Name: "fleet", Installation: 1}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Know(t.Context(), []plan.Repo{mine, secret, passed}, time.Now()))
	at := time.Now().Add(-time.Hour)
	for i := range 150 {
		must(s.Record(t.Context(), store.Act{Repo: secret, At: at.Add(time.Duration(i) * time.Second), Verb: "merge", Pull: 7, Outcome: store.Done, Reason: "SECRET"}))
		must(s.Record(t.Context(), store.Act{Repo: mine, At: at.Add(time.Duration(i) * time.Second), Verb: "merge", Pull: 7, Outcome: store.Done, Reason: fmt.Sprintf("own %03d.", i)}))
	}
	must(s.Record(t.Context(), store.Act{Repo: passed, At: at, Verb: "release", Pull: 7, Outcome: store.Done, Reason: "SECRET of who had the name"}))
	must(s.Forget(t.Context(), passed))
	must(s.Know(t.Context(), []plan.Repo{now}, time.Now()))
	h := newHouse(t, web.Options{Source: s}, func(who string) login.Site {
		return reader{who: who, reads: map[string]int64{"acme/open": 1, "acme/fleet": 4}}
	})
	bob := h.enter("bob")
	seen := map[string]bool{}
	for path := "/history"; path != ""; {
		_, _, body := h.get(bob, path)
		for _, m := range regexp.MustCompile(`own \d+\.`).FindAllString(body, -1) {
			seen[m] = true
		}
		if strings.Contains(body, "SECRET") {
			t.Fatalf("%s: %s", path, body)
		}
		next := regexp.MustCompile(`<a href="(\?[^"]*)" rel="next">`).FindStringSubmatch(body)
		if path = ""; next != nil {
			path = "/history" + strings.ReplaceAll(next[1], "&amp;", "&")
		}
	}
	if len(seen) != 150 {
		t.Errorf("%d of 150 acts", len(seen))
	}
	_, _, none := h.get(bob, "/history?repo=acme/none&pull=7")
	if _, _, hidden := h.get(bob, "/history?repo=acme/secret&pull=7"); times.ReplaceAllString(strings.ReplaceAll(hidden, "secret", "none"), "") != times.ReplaceAllString(none, "") {
		t.Errorf("what there is can be told from what there is not:\n%s\n%s", hidden, none)
	}
	if code, _, body := h.get(bob, "/acme/fleet/pull/7"); code != http.StatusNotFound || strings.Contains(body, "SECRET") {
		t.Errorf("who had the name: %d %s", code, body)
	}
	if code, _, body := h.get(bob, "/acme/open/pull/7"); code != http.StatusOK || !strings.Contains(body, "own 149.") {
		t.Errorf("one's own: %d %s", code, body)
	}
}

var times = regexp.MustCompile(`<time .*</time>`)

// TestNobodyWaitsForOthers: while GitHub keeps one person waiting, the others get their pages.
func TestNobodyWaitsForOthers(t *testing.T) {
	slow := map[string]chan struct{}{"eve": make(chan struct{})}
	h := newHouse(t, web.Options{Source: night()}, func(who string) login.Site { return reader{who: who, slow: slow[who]} })
	alice, eve := h.enter("alice"), h.enter("eve")
	done := make(chan int)
	go func() {
		code, _, _ := h.get(eve, "/")
		done <- code
	}()
	for range 20 {
		if code, _, _ := h.get(alice, "/"); code != http.StatusOK {
			t.Errorf("alice: %d", code)
		}
		select {
		case code := <-done:
			t.Fatalf("eve was answered %d: nobody had to wait", code)
		default:
		}
	}
	close(slow["eve"])
	if code := <-done; code != http.StatusServiceUnavailable {
		t.Errorf("eve: %d", code)
	}
}

// TestForms: what is sent is read of nobody but who is logged in, and little of it; what it asks for is written about repositories that they may read, and they come back below
// whatever stands before our paths.
func TestForms(t *testing.T) {
	var wrote []string
	src := night()
	src[0].Repo.ID = 7
	h := newHouse(t, web.Options{Source: src}, func(who string) login.Site {
		return reader{who: who, reads: map[string]int64{"acme/fleet-infra": 7}, wrote: &wrote}
	})
	send := func(c *http.Client, path, kind string, body io.Reader) (int, string) {
		resp, err := c.Post(h.URL+path, kind, body)
		if err != nil {
			return 0, err.Error()
		}
		defer resp.Body.Close() //nolint:errcheck // it is not read
		return resp.StatusCode, resp.Header.Get("Location")
	}
	const form, pull = "application/x-www-form-urlencoded", "/acme/fleet-infra/release"
	heap := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := heap()
	long := func() io.Reader {
		return io.MultiReader(strings.NewReader("--B\r\nContent-Disposition: form-data; name=\"reason\"\r\n\r\n"), io.LimitReader(zeros{}, 30<<20), strings.NewReader("\r\n--B--\r\n"))
	}
	for range 4 {
		send(http.DefaultClient, pull, "multipart/form-data; boundary=B", long())
	}
	if grew := heap() - before; grew > 20<<20 {
		t.Errorf("strangers' forms took %d bytes", grew)
	}
	bob := h.enter("bob")
	for name, c := range map[string]struct {
		path, body string
		want       int
		at         string
	}{
		"as it is": {pull, "pull=482&sha=2222222&reason=the+shop++is+down", 303, "../fleet-infra/pull/482"},
		"a branch": {pull, "pull=%23482&sha=ddddddd&branch=rw/cluster-1&reason=now", 303, "../fleet-infra/branch/rw/cluster-1"},
		"too long": {pull, "pull=482&sha=2222222&reason=" + strings.Repeat("x", 1<<20), 400, ""}, "no reason": {pull, "pull=482&sha=2222222&reason=++", 400, ""}, "with much beside it": {pull, "pull=482&sha=2222222&reason=x&y=" + strings.Repeat("x", 5000), 400, ""},
		"another repository": {"/acme/tools/release", "pull=3&sha=2222222&reason=x", 404, ""}, "none": {"/%2e%2e/gists%3Fx/release", "pull=3&sha=2222222&reason=x", 404, ""},
		"a branch among the digits": {pull, "pull=482&sha=2222222+--branch+rw/a&reason=x", 400, ""}, "a branch of two words": {pull, "pull=482&sha=2222222&branch=rw/a+b&reason=x", 400, ""},
		"no number": {pull, "pull=x&sha=2222222&reason=x", 400, ""}, "two lines": {pull, "pull=482&sha=2222222&reason=a%0A/sluice+undo", 400, ""},
	} {
		if code, at := send(bob, c.path, form, strings.NewReader(c.body)); code != c.want && (name != "too long" || code != 0) || at != c.at && code != 0 {
			t.Errorf("%s: %d %s", name, code, at)
		}
	}
	for _, path := range []string{pull, "/logout"} {
		r, err := http.NewRequest(http.MethodPost, h.URL+path, strings.NewReader("pull=482&sha=2222222&reason=x"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", form)
		r.Header.Set("Origin", "https://evil.example")
		if resp, err := bob.Do(r); err != nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("another page's %s: %v %v", path, resp, err)
		}
	}
	slices.Sort(wrote)
	if len(wrote) != 2 || wrote[0] != "acme/fleet-infra#482: /sluice release 2222222 the shop is down" || wrote[1] != "acme/fleet-infra#482: /sluice release ddddddd --branch rw/cluster-1 now" {
		t.Errorf("%q", wrote)
	}
	for path, want := range map[string]string{"/acme/fleet-infra/pull/482": `name="pull" value="482">`, "/acme/fleet-infra/branch/rw/cluster-1": `name="branch" value="rw/cluster-1">`} {
		if _, _, body := h.get(bob, path); !strings.Contains(body, want) || !strings.Contains(body, "Write that comment as bob") {
			t.Errorf("%s has no form:\n%s", path, body)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// TestStreamsOfOne: one person has a few streams; they tell of what that person may read alone, and end with the session.
func TestStreamsOfOne(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "sluice.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	mine, secret := plan.Repo{ID: 1, Owner: "acme", Name: "open", Installation: 1}, plan.Repo{ID: 2, Owner: "acme", Name: "secret", Installation: 1}
	if err := s.Know(t.Context(), []plan.Repo{mine, secret}, time.Now()); err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, web.Options{Source: s}, func(who string) login.Site { return reader{who: who, reads: map[string]int64{"acme/open": 1}} })
	bob := h.enter("bob")
	act := func(in plan.Repo) {
		if err := s.Record(t.Context(), store.Act{Repo: in, At: time.Now(), Verb: "merge", Outcome: store.Done}); err != nil {
			t.Error(err)
		}
	}
	before := s.News(store.Only(1))
	act(secret)
	if got := s.News(store.Only(1)); got != before {
		t.Error("another repository is news")
	}
	var open []*http.Response
	for range 6 {
		resp, err := bob.Get(h.URL + "/events")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close() //nolint:errcheck // it is over
		if resp.StatusCode == http.StatusOK {
			open = append(open, resp)
		}
	}
	if len(open) != 4 {
		t.Fatalf("%d streams", len(open))
	}
	act(mine)
	told := make([]byte, len("data:\n\ndata:\n\n"))
	if _, err := io.ReadFull(open[0].Body, told); err != nil || string(told) != "data:\n\ndata:\n\n" {
		t.Errorf("%q %v", told, err)
	}
	resp, err := bob.Post(h.URL+"/logout", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	for _, o := range open {
		if _, err := io.ReadAll(o.Body); err != nil { // each ends
			t.Error(err)
		}
	}
}
