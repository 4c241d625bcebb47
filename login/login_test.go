package login_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/login"
	"github.com/sluicegate/sluice/person"
	"github.com/sluicegate/sluice/plan"
)

// world is a door before the stand-in, with a browser.
type world struct {
	*testing.T
	github *api.Server
	door   *login.Door
	page   *httptest.Server
	skip   atomic.Int64 // by how much time has gone on
	asked  atomic.Int64 // requests of GitHub
}

func newWorld(t *testing.T) *world {
	w := &world{T: t}
	key, err := rsa.GenerateKey(rand.Reader, 1024) //nolint:gosec // it guards nothing
	w.must(err)
	mux := http.NewServeMux()
	mux.HandleFunc("/login", func(rw http.ResponseWriter, r *http.Request) { w.door.Begin(rw, r) })
	mux.HandleFunc("/login/callback", func(rw http.ResponseWriter, r *http.Request) {
		if err := w.door.Arrive(rw, r); err != nil {
			http.Error(rw, err.Error(), http.StatusForbidden)
		}
	})
	mux.HandleFunc("/logout", func(rw http.ResponseWriter, r *http.Request) { w.door.Leave(rw, r) })
	mux.HandleFunc("/", func(rw http.ResponseWriter, r *http.Request) {
		p := w.door.Person(r)
		if p == nil {
			http.Error(rw, "nobody", http.StatusUnauthorized)
			return
		}
		may, err := p.Reads(r.Context(), w.repos()...)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(rw, p.Login, " ", r.URL.RequestURI())
		for _, repo := range w.repos() {
			if may[repo.ID] {
				fmt.Fprint(rw, " ", repo.Name)
			}
		}
	})
	w.page = httptest.NewServer(mux)
	t.Cleanup(w.page.Close)
	w.github, err = api.New(api.Options{Dir: t.TempDir(), AppID: 7, AppKey: &key.PublicKey, Memory: true})
	w.must(err)
	w.github.LetLogIn("Iv1.abc", "hunter2", w.page.URL+"/login/callback")
	hub := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.asked.Add(1); w.github.Handler().ServeHTTP(rw, r) }))
	t.Cleanup(func() { hub.Close(); w.github.Close() })
	w.github.SetURL(hub.URL)
	w.github.Install("acme")
	for _, name := range []string{"open", "secret"} {
		r, err := w.github.CreateRepo("acme", name, map[string]string{"README.md": "x"})
		w.must(err)
		if name == "secret" {
			r.SetPermission("bob", "none")
		}
	}
	w.door, err = login.New(login.Options{
		GitHub: hub.URL, Page: w.page.URL, ID: "Iv1.abc", Secret: "hunter2", Now: func() time.Time { return time.Now().Add(time.Duration(w.skip.Load())) },
		Site: func(token string) (login.Site, error) { return person.NewSite(hub.URL+"/api/v3", "", token, nil) },
	})
	w.must(err)
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) repos() (all []plan.Repo) {
	for _, name := range []string{"open", "secret"} {
		all = append(all, plan.Repo{Owner: "acme", Name: name, ID: w.github.Repo("acme", name).ID()})
	}
	return append(all, plan.Repo{Owner: "acme", Name: "gone", ID: 4711}, plan.Repo{Owner: "acme", Name: "open", ID: 4712}) // a name that passed on
}

// browser is one that keeps cookies; it says at GitHub that it is somebody.
func (w *world) browser(who string) *http.Client {
	jar, err := cookiejar.New(nil)
	w.must(err)
	return &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasSuffix(r.URL.Path, "/authorize") && who != "" {
			q := r.URL.Query()
			q.Set("login", who)
			r.URL.RawQuery = q.Encode()
		}
		return nil
	}}
}

func (w *world) get(c *http.Client, path string) (int, string) {
	w.Helper()
	if strings.HasPrefix(path, "/") {
		path = w.page.URL + path
	}
	resp, err := c.Get(path)
	w.must(err)
	defer resp.Body.Close() //nolint:errcheck // it was read
	var body strings.Builder
	_, err = fmt.Fprint(&body, read(resp))
	w.must(err)
	return resp.StatusCode, body.String()
}

func read(r *http.Response) string {
	var b strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := r.Body.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			return strings.TrimSpace(b.String())
		}
	}
}

// TestLogIn: each sees what GitHub lets them read, asked once in a minute, until they leave, the session ends, or GitHub ends it.
func TestLogIn(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.browser("alice"), w.browser("bob")
	if code, _ := w.get(alice, "/"); code != http.StatusUnauthorized {
		t.Errorf("before: %d", code)
	}
	if code, body := w.get(alice, "/login?to="+url.QueryEscape("/acme/open?q=%23")); code != http.StatusOK || body != "alice /acme/open?q=%23 open secret" {
		t.Errorf("%d %s", code, body)
	}
	if _, body := w.get(bob, "/login?to=//evil.example"); body != "bob //evil.example open" && body != "bob /evil.example open" { // of our own host
		t.Errorf("%s", body)
	}
	if _, body := w.get(bob, "/login?to=https://evil.example"); body != "bob / open" {
		t.Errorf("%s", body)
	}
	w.github.Repo("acme", "open").SetPermission("bob", "none")
	asked := w.asked.Load()
	if _, body := w.get(bob, "/"); body != "bob / open" || w.asked.Load() != asked {
		t.Errorf("within a minute: %s, %d more questions", body, w.asked.Load()-asked)
	}
	w.skip.Store(int64(61 * time.Second))
	if _, body := w.get(bob, "/"); body != "bob /" || w.asked.Load() != asked+1 {
		t.Errorf("after a minute: %s, %d more questions", body, w.asked.Load()-asked)
	}
	w.must(second(alice.Post(w.page.URL+"/logout", "", nil)))
	if code, _ := w.get(alice, "/"); code != http.StatusUnauthorized {
		t.Errorf("after they left: %d", code)
	}
	w.github.RevokeLogins()
	w.skip.Store(int64(3 * time.Minute))
	if code, body := w.get(bob, "/"); code != http.StatusServiceUnavailable || body != login.ErrOver.Error() {
		t.Errorf("after GitHub ended it: %d %s", code, body)
	}
	carol := w.browser("carol")
	w.get(carol, "/login")
	w.skip.Store(int64(9 * time.Hour))
	if code, _ := w.get(carol, "/"); code != http.StatusUnauthorized {
		t.Errorf("after its time: %d", code)
	}
}

func second(r *http.Response, err error) error {
	if err == nil {
		err = r.Body.Close()
	}
	return err
}

// TestForgedLogIns: whoever did not begin here, brings another's code or state, or a cookie that we did not write, is let in nowhere.
func TestForgedLogIns(t *testing.T) {
	w := newWorld(t)
	// Mallory's code, which she stops at, for a browser that began something else: the state is another.
	var code, state string
	mallory := w.browser("mallory")
	follow := mallory.CheckRedirect
	mallory.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if r.URL.Path == "/login/callback" {
			code, state = r.URL.Query().Get("code"), r.URL.Query().Get("state")
			return http.ErrUseLastResponse
		}
		return follow(r, via)
	}
	w.get(mallory, "/login")
	victim := w.browser("")
	w.get(victim, "/login") // and stays at GitHub
	callback := func(c *http.Client, code, state string) int {
		got, _ := w.get(c, "/login/callback?code="+code+"&state="+state)
		return got
	}
	if code == "" || state == "" {
		t.Fatal("nobody came back")
	}
	for name, got := range map[string]int{
		"one's own code with another state": callback(mallory, code, state+"x"), // which ends what was begun
		"another's state":                   callback(victim, code, state), "no state": callback(victim, code, ""), "never begun": callback(w.browser(""), code, state),
	} {
		if got != http.StatusForbidden {
			t.Errorf("%s: %d", name, got)
		}
	}
	// The victim's own state and mallory's code: the challenge is another's.
	var own string
	begun := w.browser("")
	begun.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		own = r.URL.Query().Get("state")
		return http.ErrUseLastResponse
	}
	w.get(begun, "/login")
	begun.CheckRedirect = nil
	if got := callback(begun, code, own); own == "" || got != http.StatusForbidden {
		t.Errorf("another's code: %d", got)
	}
	for _, cookie := range []string{"x", "MTc2NDM4", strings.Repeat("A", 3000)} {
		r, err := http.NewRequest(http.MethodGet, w.page.URL+"/", nil)
		w.must(err)
		r.AddCookie(&http.Cookie{Name: "sluice", Value: cookie})
		if resp, err := http.DefaultClient.Do(r); err != nil || resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("a cookie of somebody's: %v %v", resp, err)
		}
	}
	// What is at GitHub for too long.
	late := w.browser("alice")
	go1 := late.CheckRedirect
	late.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if r.URL.Path == "/login/callback" {
			w.skip.Store(int64(11 * time.Minute))
		}
		return go1(r, via)
	}
	if got, body := w.get(late, "/login"); got != http.StatusForbidden {
		t.Errorf("late: %d %s", got, body)
	}
}

// TestBounds: of one person few sessions are kept, the newest; and few codes are tried in a minute.
func TestBounds(t *testing.T) {
	w := newWorld(t)
	var all []*http.Client
	for range 7 {
		all = append(all, w.browser("alice"))
		w.skip.Add(int64(time.Second))
		if code, body := w.get(all[len(all)-1], "/login"); code != http.StatusOK {
			t.Fatalf("%d %s", code, body)
		}
	}
	for i, c := range all {
		if code, _ := w.get(c, "/"); (code == http.StatusOK) != (i >= 2) {
			t.Errorf("session %d: %d", i, code)
		}
	}
	for range 100 { // whoever brings codes that are none keeps nobody out
		c := w.browser("mallory")
		c.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
			if strings.HasSuffix(r.URL.Path, "/authorize") {
				return http.ErrUseLastResponse
			}
			return nil
		}
		resp, err := c.Get(w.page.URL + "/login")
		w.must(err)
		at, err := resp.Location()
		w.must(err)
		_ = resp.Body.Close()
		if code, _ := w.get(c, "/login/callback?code=none&state="+at.Query().Get("state")); code != http.StatusForbidden {
			t.Fatalf("%d", code)
		}
	}
	if code, body := w.get(w.browser("bob"), "/login"); code != http.StatusOK {
		t.Errorf("bob: %d %s", code, body)
	}
}

// TestSecretGoesNowhereElse: what answers in GitHub's place with a redirect does not get the App's secret sent on.
func TestSecretGoesNowhereElse(t *testing.T) {
	var reached atomic.Bool
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached.Store(true)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"x","token_type":"bearer"}`))
	}))
	defer evil.Close()
	github := httptest.NewServer(http.RedirectHandler(evil.URL, http.StatusTemporaryRedirect))
	defer github.Close()
	d, err := login.New(login.Options{GitHub: github.URL, Page: "http://sluice.example.com", ID: "x", Secret: "hunter2", Site: func(string) (login.Site, error) { return silent{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	d.Begin(rec, httptest.NewRequest(http.MethodGet, "/login", nil))
	at, err := url.Parse(rec.Header().Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/login/callback?code=c&state="+at.Query().Get("state"), nil)
	r.AddCookie(rec.Result().Cookies()[0]) //nolint:bodyclose // a recorder's
	if err := d.Arrive(httptest.NewRecorder(), r); err == nil || reached.Load() || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v, and the other was reached: %t", err, reached.Load())
	}
}

// silent is a GitHub that answers nothing.
type silent struct{}

func (silent) Login(context.Context) (string, error) { return "alice", nil }
func (silent) Readable(context.Context, []plan.Repo) ([]int64, error) {
	return nil, errors.New("no answer")
}
func (silent) Comment(context.Context, string, string, int, string) (string, error) {
	return "", errors.New("no answer")
}

// TestCookies: what a browser keeps cannot be read by scripts, is not sent along from elsewhere, goes over TLS alone where the page does, and holds no secret that can be read.
func TestCookies(t *testing.T) {
	d, err := login.New(login.Options{GitHub: "https://github.com", Page: "https://sluice.example.com/x", ID: "Iv1.abc", Secret: "hunter2", Site: func(string) (login.Site, error) { return silent{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	d.Begin(rec, httptest.NewRequest(http.MethodGet, "/login?to=/acme", nil))
	c := rec.Result().Cookies()[0] //nolint:bodyclose // a recorder's
	if c.Name != "__Host-sluice-login" || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || strings.Contains(c.Value, "acme") {
		t.Errorf("%+v", c)
	}
	at, err := url.Parse(rec.Header().Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	q := at.Query()
	if at.Host != "github.com" || q.Get("redirect_uri") != "https://sluice.example.com/x/login/callback" || q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) < 40 || len(q.Get("state")) < 20 ||
		strings.Contains(at.String(), "hunter2") {
		t.Errorf("%s", at)
	}
}
