package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
)

// public is a service behind a proxy, at a public URL, where people log in.
type public struct {
	*world
	*process
	url string
}

// servePublic starts one.
func (w *world) servePublic(env ...string) public {
	w.t.Helper()
	var to atomic.Pointer[url.URL]
	proxy := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to.Load())
		r.Out.Host = r.In.Host
		r.SetXForwarded()
	}})
	w.t.Cleanup(proxy.Close)
	w.github.LetLogIn("Iv1.abc", "correct horse", proxy.URL+"/login/callback")
	p := w.serve(append(env, "SLUICE_PUBLIC_URL="+proxy.URL, "SLUICE_GITHUB_CLIENT_ID=Iv1.abc", "SLUICE_GITHUB_CLIENT_SECRET=correct horse")...)
	page, err := url.Parse(p.page)
	w.must(err)
	to.Store(page)
	return public{w, p, proxy.URL}
}

// browser is one whose owner says at GitHub who they are; "": they never come back from there.
func (p public) browser(login string) *http.Client {
	jar, err := cookiejar.New(nil)
	p.must(err)
	c := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasSuffix(r.URL.Path, "/authorize") {
			r.URL.RawQuery += "&login=" + login
		}
		return nil
	}}
	if login != "" {
		if code, body := p.ask(c, http.MethodGet, "/login?to=/acme/fleet", nil, ""); code >= 500 || code == http.StatusUnauthorized {
			p.t.Fatalf("%s could not log in: %d %s", login, code, body)
		}
	}
	return c
}

func (p public) ask(c *http.Client, method, path string, form url.Values, origin string) (int, string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, strings.NewReader(form.Encode()))
	p.must(err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if origin != "" {
		r.Header.Set("Origin", origin)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	resp, err := c.Do(r)
	p.must(err)
	defer resp.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(resp.Body)
	p.must(err)
	return resp.StatusCode, string(body)
}

// TestLogIn: at a public URL nobody sees anything before GitHub said who they are, each sees what GitHub lets them read, and whom the file names releases by a form:
// the comment is theirs.
func TestLogIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears)+byAlice)
	w.repo.SetPermission("stranger", standin.None)
	w.repo.SetPermission("bob", standin.Write)
	p := w.servePublic(noResync)
	n, other := w.open("fix", "apps/a-rw/x"), w.open("other", "apps/b-rw/x")
	w.hasStatus(n, "pending: held by w")
	w.hasStatus(other, "pending: held by w")
	pull := fmt.Sprintf("/acme/fleet/pull/%d", n)
	release, to := url.Values{"pull": {fmt.Sprint(n)}, "sha": {w.pull(n).HeadSHA[:7]}, "reason": {"the shop is down"}}, "/acme/fleet/release"

	nobody := p.browser("")
	for _, path := range []string{"/", "/acme/fleet", pull, "/acme/fleet/branch/rw/a", "/history", "/events", "/?q=fleet"} {
		if code, body := p.ask(nobody, http.MethodGet, path, nil, ""); code != http.StatusUnauthorized && code != http.StatusForbidden || strings.Contains(body, "fix") || strings.Contains(body, "held by") {
			t.Errorf("nobody, %s: %d\n%s", path, code, body)
		}
		if resp, err := http.Get(strings.TrimSuffix(p.page, "/") + path); err != nil || resp.StatusCode == http.StatusOK { // behind a proxy everybody is this machine
			t.Errorf("past the proxy, %s: %v %v", path, resp, err)
		}
	}
	if code, _ := p.ask(nobody, http.MethodPost, to, release, ""); code != http.StatusForbidden {
		t.Errorf("nobody released: %d", code)
	}

	stranger := p.browser("stranger")
	for path, want := range map[string]int{"/": 200, "/acme/fleet": 404, pull: 404, "/history": 200, "/history?repo=acme/fleet": 200} {
		if code, body := p.ask(stranger, http.MethodGet, path, nil, ""); code != want || strings.Contains(body, "held by") || strings.Contains(body, "status</b>") || path == "/" && !strings.Contains(body, "that you may read") {
			t.Errorf("a stranger, %s: %d\n%s", path, code, body)
		}
	}
	if code, body := p.ask(stranger, http.MethodPost, to, release, ""); code != http.StatusNotFound || !strings.Contains(body, "There is nothing here") {
		t.Errorf("a stranger released: %d %s", code, body)
	}
	bob := p.browser("bob") // may write, and the file does not name him
	if code, _ := p.ask(bob, http.MethodPost, to, release, ""); code != http.StatusOK {
		t.Errorf("bob's comment: %d", code)
	}

	alice := p.browser("alice")
	_, body := p.ask(alice, http.MethodGet, pull, nil, "")
	for _, want := range []string{"Write that comment as alice", "/sluice release " + release.Get("sha") + " REASON", `name="sha" value="` + release.Get("sha"), "none was reported"} {
		if !strings.Contains(body, want) {
			t.Errorf("alice's page has no %q:\n%s", want, body)
		}
	}
	if code, _ := p.ask(alice, http.MethodPost, to, release, "https://evil.example"); code != http.StatusForbidden {
		t.Errorf("another page's form: %d", code)
	}
	for _, bad := range []url.Values{
		{"pull": release["pull"], "sha": {"abc"}, "reason": {"x"}}, {"pull": release["pull"], "sha": release["sha"], "reason": {""}}, {"sha": release["sha"], "reason": {"x"}},
		{"pull": release["pull"], "sha": release["sha"], "reason": {"two\nlines"}}, {"pull": release["pull"], "sha": {"abcdefa --branch rw/a"}, "reason": {"x"}},
	} {
		if code, _ := p.ask(alice, http.MethodPost, to, bad, ""); code != http.StatusBadRequest {
			t.Errorf("%v: %d", bad, code)
		}
	}
	w.stays(n, other)
	w.noticed(n)
	news := p.listen(alice)
	if code, body := p.ask(alice, http.MethodPost, to, release, ""); code != http.StatusOK {
		t.Errorf("alice's comment: %d %s", code, body)
	}
	w.merged(n)
	w.stays(other)
	<-news
	w.eventually("the page says so", func() bool {
		_, body := p.ask(alice, http.MethodGet, pull, nil, "")
		return strings.Contains(body, "@alice")
	})

	w.github.RevokeLogins()
	if code, _ := p.ask(alice, http.MethodPost, to, release, ""); code != http.StatusBadGateway && code != http.StatusUnauthorized { // GitHub refuses, or is asked again who it is
		t.Errorf("after GitHub ended it: %d", code)
	}
	if code, _ := p.ask(alice, http.MethodPost, "/logout", url.Values{}, ""); code != http.StatusUnauthorized {
		t.Errorf("after she left: %d", code)
	}
	files, _ := exec.Command("grep", "-rlaE", "ghu_|correct horse", w.dir).CombinedOutput()
	if text := p.text(); len(files) > 0 || strings.Contains(text, "ghu_") || strings.Contains(text, "correct horse") {
		t.Errorf("a secret stands in the log, or in %s", files)
	}
}

// listen is closed once the second event came: the first says how it is.
func (p public) listen(c *http.Client) <-chan struct{} {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+"/events", nil)
	p.must(err)
	resp, err := c.Do(r)
	p.must(err)
	p.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		p.t.Fatalf("no stream: %d", resp.StatusCode)
	}
	done := make(chan struct{})
	go func() {
		for n, lines := 0, bufio.NewScanner(resp.Body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "data:") {
				if n++; n == 2 {
					close(done)
				}
			}
		}
	}()
	return done
}
