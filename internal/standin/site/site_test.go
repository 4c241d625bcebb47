package site_test

import (
	"crypto/rand"
	"crypto/rsa"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/internal/standin/site"
)

// world is a stand-in with one repository, and its pages.
type world struct {
	t     *testing.T
	repo  *standin.Repo
	pages http.Handler
}

func newWorld(t *testing.T) *world {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	g, err := api.New(api.Options{Dir: t.TempDir(), AppID: 1, AppKey: &key.PublicKey})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	w := &world{t: t, pages: site.New(g.GitHub, g.Handler())}
	w.repo, err = g.CreateRepo("acme", "fleet", map[string]string{"README.md": "# fleet\n", ".github/sluice.yaml": "version: 1\ntimezone: UTC\n"})
	w.must(err)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(path string) (int, string) {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.pages.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
	if kind := rec.Header().Get("Content-Type"); rec.Code == http.StatusOK && kind != "text/html; charset=utf-8" {
		w.t.Errorf("%s is %s", path, kind)
	}
	return rec.Code, rec.Body.String()
}

// says gets a page that holds all these texts.
func (w *world) says(path string, texts ...string) string {
	w.t.Helper()
	code, body := w.get(path)
	if code != http.StatusOK {
		w.t.Fatalf("%s: %d %s", path, code, body)
	}
	for _, text := range texts {
		if !strings.Contains(body, text) {
			w.t.Errorf("%s lacks %q:\n%s", path, text, body)
		}
	}
	return body
}

// TestPages: every link that sluice makes to GitHub leads to a page that shows what it is about.
func TestPages(t *testing.T) {
	w := newWorld(t)
	n, err := w.repo.OpenPull(standin.NewPull{By: "alice", Title: "nginx", Head: "change/1", Labels: []string{"hold"},
		Change: &standin.Change{Message: "nginx\n\nIt serves.", Write: map[string]string{"apps/a b/#1.yaml": "kind: HelmRelease\n"}}})
	w.must(err)
	p, err := w.repo.Pull(n)
	w.must(err)
	w.must(w.repo.SetStatus(standin.Status{SHA: p.HeadSHA, Context: "sluice/main", State: "pending", Description: "held by demo", TargetURL: "http://127.0.0.1:1/x", By: standin.Actor{Login: "sluice", App: 1}}))
	w.says("/acme/fleet", `<a href="/acme/fleet/pull/1">nginx</a>`, ">change/1</a>", "git clone http")
	w.says("/acme/fleet/pull/1", "nginx #1", ">Open<", "<b>alice</b>", "sluice/main", "pending", "held by demo", `href="http://127.0.0.1:1/x"`, ">hold<", "&#43;kind: HelmRelease", "/commit/"+p.HeadSHA)
	w.says("/acme/fleet/commit/"+p.HeadSHA, "It serves.", "&#43;kind: HelmRelease", "/commit/"+w.repo.Tip("main"), "held by demo")
	w.says("/acme/fleet/commit/"+w.repo.Tip("main"), "Initial commit", "&#43;timezone: UTC")
	w.says("/acme/fleet/tree/change/1", `/blob/`+p.HeadSHA+`/apps/a%20b/%231.yaml">apps/a b/#1.yaml</a>`)
	for _, rev := range []string{"main", "HEAD", w.repo.Tip("main"), "change/1"} {
		w.says("/acme/fleet/blob/"+rev+"/.github/sluice.yaml", `id="L2"><td>2</td><td>timezone: UTC</td>`)
	}
	merged, err := w.repo.MergePull(n, "bob", standin.Squash)
	w.must(err)
	w.says("/acme/fleet/pull/1", ">Merged<", "<b>bob</b>", "/commit/"+merged, "&#43;kind: HelmRelease")
	w.says("/Acme/FLEET/pull/1", ">Merged<")
}

// TestNotThere: what is not there is a page in a repository that is there, and the stand-in's own answer elsewhere.
func TestNotThere(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"pull/1", "pull/0", "pull/x", "pull/99999999999999999999", "commit/" + strings.Repeat("0", 40), "commit/x", "tree/x", "blob/main/x",
		"blob/main", "blob/", "settings", "pulls", "", "pull/1/files", "tree/-x", "blob/main/../../x"} {
		if code, body := w.get("/acme/fleet/" + path); code != http.StatusNotFound && code/100 != 3 || code == http.StatusNotFound && !strings.Contains(body, "<h1>Not found</h1>") {
			t.Errorf("%q: %d %s", path, code, body)
		}
	}
	for _, path := range []string{"/", "/acme", "/acme/other/pull/1", "/x/y"} {
		if code, body := w.get(path); code != http.StatusNotFound || !strings.Contains(body, `"message":"Not Found"`) {
			t.Errorf("%q: %d %s", path, code, body)
		}
	}
	for method, path := range map[string]string{http.MethodGet: "/api/v3/repos/acme/fleet/pulls", http.MethodPost: "/acme/fleet/pull/1"} {
		rec := httptest.NewRecorder()
		w.pages.ServeHTTP(rec, httptest.NewRequest(method, path, nil))
		if kind := rec.Header().Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
			t.Errorf("%s %s: %d %s", method, path, rec.Code, kind)
		}
	}
}

// TestHostile: whatever a pull request brings is text on every page, and every link of every page leads somewhere.
func TestHostile(t *testing.T) {
	w := newWorld(t)
	const evil = `"'><script>alert(1)</script><img src=x onerror=alert(1)>{{.Clone}}` + "\u202e\u2066\x00\x1b[31m\xff"
	const path = `a/"'><svg onload=alert(1)>#?%2f&amp;` + "\u202ey"
	const branch = `"'><svg/onload=alert(1)>#%2f&amp;/` + "\u202ex"
	n, err := w.repo.OpenPull(standin.NewPull{By: "mallory", Title: evil, Head: branch, Labels: []string{evil},
		Change: &standin.Change{Message: evil + "\n\n</pre>" + evil, Write: map[string]string{path: "</td></table>" + evil + "\n</style>" + evil, "long": strings.Repeat("<b>x", 100_000)}}})
	w.must(err)
	p, err := w.repo.Pull(n)
	w.must(err)
	for i, url := range []string{"javascript:alert(1)", "data:text/html,<script>alert(1)</script>", `https://x/"><script>alert(1)</script>`, "//evil", " javascript:alert(1)"} {
		w.must(w.repo.SetStatus(standin.Status{SHA: p.HeadSHA, Context: evil[:20+i], State: "success", Description: evil, TargetURL: url, By: standin.Actor{Login: "mallory"}}))
	}
	w.must(w.repo.Review(n, "mallory", standin.Approved))
	ours := strings.Fields("a b body code h1 h2 head header html li meta p pre span style table td title tr ul")
	tag, href := regexp.MustCompile(`<([^\s/>!]+)([^>]*)>`), regexp.MustCompile(` href="([^"]*)"`)
	queue, known := []string{"/acme/fleet"}, map[string]bool{}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		rec := httptest.NewRecorder()
		w.pages.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
		body := rec.Body.String()
		if rec.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, rec.Code, body)
		}
		if policy := rec.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") {
			t.Errorf("%s: %s", path, policy)
		}
		if strings.ContainsAny(body, "\u202e\u2066\x00\x1b") || len(body) > 2<<20 {
			t.Errorf("%s: %d bytes, or what nobody sees", path, len(body))
		}
		for _, m := range tag.FindAllStringSubmatch(body, -1) {
			if !slices.Contains(ours, m[1]) || regexp.MustCompile(`(?i)\bon\w+\s*=|javascript:|data:`).MatchString(href.ReplaceAllString(m[2], "")) {
				t.Errorf("%s: tag %s", path, m[0])
			}
			for _, to := range href.FindAllStringSubmatch(m[2], -1) {
				to := html.UnescapeString(to[1])
				if strings.HasPrefix(to, "/acme/fleet") && !known[to] {
					known[to] = true
					queue = append(queue, to)
				} else if !strings.HasPrefix(to, "/acme/fleet") && !strings.HasPrefix(to, "https://x/") {
					t.Errorf("%s links to %s", path, to)
				}
			}
		}
	}
	if len(known) < 9 {
		t.Errorf("pages: %v", known)
	}
	w.says("/acme/fleet/pull/1", "The rest is not shown")
}
