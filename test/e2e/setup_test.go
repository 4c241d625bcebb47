package e2e

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// front stands before the GitHub and counts what comes to it. It may hang up on all of it.
type front struct {
	*httptest.Server
	requests atomic.Int64
	silent   atomic.Bool
}

func (w *world) front() *front {
	w.t.Helper()
	to, err := url.Parse(w.url)
	w.must(err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	f := &front{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		f.requests.Add(1)
		if f.silent.Load() {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(answer, r)
	}))
	w.t.Cleanup(f.Close)
	return f
}

// otherKey is a key of no App.
var otherKey = sync.OnceValue(func() []byte {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
})

// TestWrongSetup: a wrong path of the API, a GitHub that does not answer and a wrong key are each one line of /readyz, and one error in the log
// however often they are tried; once it is well again the log and /readyz say so.
func TestWrongSetup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, says string
		silent     bool
		key        bool
	}{
		"wrong path": {path: "/api/v4", says: "no GitHub API at URL/api/v4; an Enterprise Server's ends in /api/v3"},
		"silent":     {path: "/api/v3", says: "no answer from GitHub at URL/api/v3", silent: true},
		"wrong key":  {path: "/api/v3", says: "GitHub rejects the App: check github.app_id and the private key", key: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, rules(shutForYears))
			f := w.front()
			f.silent.Store(c.silent)
			env := []string{"SLUICE_GITHUB_URL=" + f.URL + c.path}
			if c.key {
				path := filepath.Join(w.dir, "other.pem")
				w.writeFile(path, otherKey())
				env = append(env, "SLUICE_GITHUB_PRIVATE_KEY_FILE="+path)
			}
			p := w.serve(env...)
			want := strings.ReplaceAll(c.says, "URL", f.URL)
			w.eventually("it was tried three times", func() bool { return f.requests.Load() >= 3 })
			code, body := get(t, p.base()+"/readyz")
			if lines := strings.Split(strings.TrimSpace(body), "\n"); code != http.StatusServiceUnavailable || !strings.Contains(body, want) || strings.Count(body, "GitHub") != 1 || len(lines) > 2 {
				t.Errorf("/readyz answers %d:\n%s", code, body)
			}
			p.logs(`"msg":"` + want)
			if text := p.text(); strings.Count(text, `"level":"ERROR"`) != 1 || strings.Count(text, `"msg":"`+want) != 1 || strings.Contains(text, `"level":"WARN"`) {
				t.Errorf("the log:\n%s", text)
			}
			if !c.silent {
				return
			}
			f.silent.Store(false)
			w.eventually("/readyz is 200", func() bool { code, _ := get(t, p.base()+"/readyz"); return code == http.StatusOK })
			const again = "repositories are listed again"
			p.logs(again) // it is read after /readyz
			if text := p.text(); strings.Count(text, `"level":"ERROR"`) != 1 || strings.Count(text, again) != 1 {
				t.Errorf("the log once it is well again:\n%s", text)
			}
		})
	}
}
