package gitremote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

const secret = "s3cr3t-t0ken"

// TestUnusable: every way in which a repository cannot be read has words of its own.
func TestUnusable(t *testing.T) {
	made := func(args ...string) *world {
		w := &world{t: t, dir: t.TempDir()}
		w.git(append([]string{"init", "-q", "-b", "main"}, args...)...)
		return w
	}
	empty, wide := made(), made("--object-format=sha256")
	wide.commit(map[string]string{file: "#"})
	full := newWorld(t)
	full.two()
	shallow, partial := full.clone("--depth=1"), full.clone("--filter=blob:none", "--no-checkout")
	unborn := newWorld(t)
	unborn.branch("other", unborn.commit(nil))
	unborn.git("symbolic-ref", "HEAD", "refs/heads/gone")
	unborn.git("update-ref", "-d", "refs/heads/main")
	over := func(w *world) string { return serve(t, w.dir).URL + "/.git" }
	private := httptest.NewUnstartedServer(http.NotFoundHandler())
	private.Config.ErrorLog = log.New(io.Discard, "", 0)
	private.StartTLS()
	t.Cleanup(private.Close)
	for name, c := range map[string]struct {
		url  string // "": the clone in dir
		dir  string
		want string
	}{
		"empty clone":        {dir: empty.dir, want: sayEmpty},
		"empty file":         {url: "file://" + empty.dir, want: sayEmpty},
		"empty http":         {url: over(empty), want: sayEmpty},
		"sha-256 clone":      {dir: wide.dir, want: "objects named by sha256"},
		"sha-256 file":       {url: "file://" + wide.dir, want: saySHA256},
		"sha-256 http":       {url: over(wide), want: saySHA256},
		"shallow clone":      {dir: shallow.dir, want: sayShallow},
		"shallow file":       {url: "file://" + shallow.dir, want: sayRemoteShallow},
		"shallow http":       {url: over(shallow), want: sayRemoteShallow},
		"partial clone":      {dir: partial.dir, want: sayPartial},
		"unborn clone":       {dir: unborn.dir, want: ""},
		"unborn http":        {url: over(unborn), want: sayNoDefault},
		"no repository":      {dir: t.TempDir(), want: "no git repository"},
		"no repository file": {url: "file://" + t.TempDir(), want: sayNotFound},
		"not there http":     {url: serve(t, empty.dir).URL + "/nowhere.git", want: sayNotFound},
		"no server":          {url: "http://127.0.0.1:1/x.git", want: "connection refused"},
		"a private CA":       {url: private.URL + "/x.git", want: "certificate signed by unknown authority"},
		"no protocol":        {url: "ftp://u:" + secret + "@h/x.git", want: `the protocol "ftp" is not supported`},
		"malformed":          {url: "https://u:" + secret + "@h:port/%zz", want: sayBadURL},
		"no host":            {url: "https:///x.git", want: sayBadURL},
		"another's disk":     {url: "file://elsewhere/x.git", want: sayBadURL},
		"a program":          {url: "ext::sh -c true", want: "ot supported"},
	} {
		t.Run(name, func(t *testing.T) {
			var s site
			var err error
			if c.url != "" {
				s, err = Dial(Options{URL: c.url, Meter: unhurried(t)})
			} else {
				s, err = OpenClone(unhurried(t), c.dir)
			}
			if err == nil {
				_, err = s.Overview(t.Context(), file)
			}
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), secret) {
				t.Errorf("error is %v, want %q in it", err, c.want)
			}
		})
	}
}

// guarded is a server that wants a password.
func guarded(t *testing.T, w *world, user, password string) *server {
	t.Helper()
	web := serve(t, w.dir)
	web.allow = func(rw http.ResponseWriter, r *http.Request) bool {
		u, p, _ := r.BasicAuth()
		if u == user && p == password {
			return true
		}
		rw.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		http.Error(rw, "you sent "+r.Header.Get("Authorization")+" "+p, http.StatusUnauthorized)
		return false
	}
	return web
}

// TestCredentials: where they come from, and that no error shows them.
func TestCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		user, password string // that the server wants
		at, token      string // in the URL, in the environment
		helper         string // what a credential helper says
		want           string // error
	}{
		"token":              {user: tokenUser, password: secret, token: secret},
		"token and user":     {user: "bot", password: secret, at: "bot@", token: secret},
		"in the URL":         {user: "bot", password: secret, at: "bot:" + secret + "@"},
		"as the user":        {user: secret, at: secret + "@"},
		"helper":             {user: "bot", password: secret, helper: "username=bot\npassword=" + secret},
		"none":               {user: "bot", password: secret, want: sayNeedsAuth},
		"wrong token":        {user: "bot", password: "other", token: secret, want: sayWrongAuth},
		"wrong in the URL":   {user: "bot", password: "other", at: "bot:" + secret + "@", want: sayWrongAuth},
		"wrong as the user":  {user: "bot", password: "other", at: secret + "@", want: sayWrongAuth},
		"wrong by a helper":  {user: "bot", password: "other", helper: "username=bot\npassword=" + secret, want: sayWrongAuth},
		"helper that is mum": {user: "bot", password: "other", helper: "username=bot", want: sayNeedsAuth},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			old, tip := w.two()
			w.branch("rw/a", old)
			kept := helper(t, c.helper)
			web := guarded(t, w, c.user, c.password)
			r := dial(t, Options{URL: strings.Replace(web.URL, "://", "://"+c.at, 1) + "/.git", Token: c.token})
			_, err := r.Overview(t.Context(), file)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
					t.Errorf("error is %v, want %q in it", err, c.want)
				}
				if c.helper != "" && c.want == sayWrongAuth && !strings.Contains(kept(), "erase") {
					t.Errorf("the helper was told %q", kept())
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if refused, err := r.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: old, New: tip})); err != nil || len(refused) > 0 || w.at("rw/a") != tip {
				t.Error(refused, err)
			}
			if c.helper != "" && !strings.Contains(kept(), "store") {
				t.Errorf("the helper was told %q", kept())
			}
		})
	}
}

// helper sets up a git credential helper that answers so; it gives what the helper was told to do. Nobody is asked: a prompt
// would fail the test by waiting.
func helper(t *testing.T, says string) func() string {
	t.Helper()
	dir := t.TempDir()
	log, program, cfg := filepath.Join(dir, "log"), filepath.Join(dir, "helper"), filepath.Join(dir, "config")
	text := "#!/bin/sh\necho $1 >> " + log + "\n[ $1 != get ] || printf '" + strings.ReplaceAll(says, "\n", `\n`) + "\\n'\n"
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	settings := "[core]\naskPass = " + filepath.Join(dir, "ask") + "\n"
	if says != "" {
		settings += "[credential]\nhelper = " + program + "\n"
	}
	if err := os.WriteFile(cfg, []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	ask := "#!/bin/sh\necho asked >> " + log + "\necho wrong\n"
	if err := os.WriteFile(filepath.Join(dir, "ask"), []byte(ask), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", cfg)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	t.Setenv("GIT_ASKPASS", filepath.Join(dir, "ask"))
	t.Cleanup(func() {
		if data, _ := os.ReadFile(log); strings.Contains(string(data), "asked") {
			t.Error("a person would have been asked")
		}
	})
	return func() string {
		data, _ := os.ReadFile(log) // none: it was not called
		return string(data)
	}
}

// TestRedirect: who has a token is not led to another host, and a redirect on the same one works.
func TestRedirect(t *testing.T) {
	w := newWorld(t)
	w.two()
	web := serve(t, w.dir)
	from := serve(t, w.dir)
	from.allow = func(rw http.ResponseWriter, r *http.Request) bool {
		if _, password, _ := r.BasicAuth(); password != secret {
			t.Error("the first host got no credentials")
		}
		if strings.HasPrefix(r.URL.Path, "/.git") {
			return true
		}
		to, path, _ := strings.Cut(r.URL.RequestURI()[1:], "/")
		http.Redirect(rw, r, map[string]string{"same": "", "other": web.URL}[to]+"/"+path, http.StatusMovedPermanently)
		return false
	}
	_, err := dial(t, Options{URL: from.URL + "/same/.git", Token: secret}).Overview(t.Context(), file)
	if err != nil {
		t.Error(err)
	}
	// Another port is another origin.
	_, err = dial(t, Options{URL: from.URL + "/other/.git", Token: secret}).Overview(t.Context(), file)
	if err == nil || !strings.Contains(err.Error(), sayRedirect) || len(web.asked()) > 0 {
		t.Errorf("%v; the other host was asked %q", err, web.asked())
	}
}

// TestFilterRefused: a server offers filters and does not allow ours.
func TestFilterRefused(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	w.branch("rw/a", old)
	w.git("config", "uploadpack.allowFilter", "true")
	w.git("config", "uploadpackfilter.allow", "false")
	for _, url := range []string{"file://" + w.dir, serve(t, w.dir).URL + "/.git"} {
		r := dial(t, Options{URL: url})
		got, main := track(t, r, "rw/a")
		is(t, got[0], plan.Behind, 1)
		if main.Tip != tip || len(main.Line) != 2 {
			t.Errorf("%+v", main)
		}
	}
}

// TestFiltersUsed: with filters no tree comes with a history.
func TestFiltersUsed(t *testing.T) {
	w := newWorld(t)
	old, _ := w.two()
	w.branch("rw/a", old)
	w.git("config", "uploadpack.allowFilter", "true")
	var bodies []string
	web := serve(t, w.dir)
	web.before = func(r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies = append(bodies, string(data))
		r.Body = io.NopCloser(bytes.NewReader(data))
	}
	track(t, dial(t, Options{URL: web.URL + "/.git"}), "rw/a")
	sent := strings.Join(bodies, "\n")
	if !strings.Contains(sent, "filter tree:3") || !strings.Contains(sent, "filter tree:0") || !strings.Contains(sent, "deepen 251") {
		t.Errorf("requests are %q", bodies)
	}
}

// TestWaitingTakesNoTime: what a server takes to answer is none of the time that a run has for reading.
func TestWaitingTakesNoTime(t *testing.T) {
	w := newWorld(t)
	old, _ := w.two()
	w.branch("rw/a", old)
	web := serve(t, w.dir)
	began, m := time.Now(), meter.New(t.Context(), meter.Limits{})
	t.Cleanup(m.Close)
	track(t, dial(t, Options{URL: web.URL + "/.git", Meter: m}), "rw/a")
	web.mu.Lock()
	defer web.mu.Unlock()
	for _, r := range m.Readings() {
		if all := time.Since(began); r.Kind == meter.Time && time.Duration(r.Used)+web.took > all {
			t.Errorf("it took %s, of %v with %v of the server's", r, all, web.took)
		}
	}
}

// TestCancelled: a server that never answers does not outlast its caller.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	mute := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(mute.Close)
	if _, err := dial(t, Options{URL: mute.URL + "/x.git"}).Overview(ctx, file); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestSSHNeedsAgent: without an agent there are no keys, and that is said.
func TestSSHNeedsAgent(t *testing.T) {
	t.Setenv("SSH_AUTH_SOCK", "")
	if _, err := dial(t, Options{URL: "git@example.com:acme/fleet.git"}).Overview(t.Context(), file); err == nil || !strings.Contains(err.Error(), saySSHAgent) {
		t.Error(err)
	}
}

func TestBoundedAnswers(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write(make([]byte, 2*maxRefusal))
	}))
	defer refusing.Close()
	over := &boundedTransport{cost: paid(t)}
	over.overHTTP()
	res, err := (&http.Client{Transport: over}).Get(refusing.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // only read
	if data, err := io.ReadAll(res.Body); err != nil || len(data) != maxRefusal {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if data, err := io.ReadAll(&limitedBody{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("x", 100))), left: 10, cost: paid(t)}); !errors.Is(err, ErrTooLarge) || len(data) != 10 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// TestListsAreBounded: a list of refs ends at the run's bound however it comes, for who reads and for who moves.
func TestListsAreBounded(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	var all strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&all, "%s refs/heads/%s%04d\n", tip, strings.Repeat("n", 200), i)
	}
	w.write(map[string]string{".git/packed-refs": all.String()})
	for name, url := range map[string]string{"file": w.dir, "http": serve(t, w.dir).URL + "/.git", "ssh": "ssh://git@" + sshServer(t, true) + w.dir} {
		for _, c := range []struct {
			limits meter.Limits
			want   string
		}{
			{meter.Limits{}, ""},
			{meter.Limits{meter.Bytes: 100 << 10}, "refs/heads: more than 100 KiB of text"},
			{meter.Limits{meter.Nodes: 1000}, "the server's list of refs: more than 1,000 objects, refs and directory entries"},
		} {
			open := func() *Remote { return dial(t, Options{URL: url, Meter: meter.New(t.Context(), c.limits)}) }
			r, m := open(), open()
			_, reads := r.Overview(t.Context(), file)
			_, moves := m.Move(t.Context(), push(plan.Move{Branch: "main", Old: old, New: tip}))
			if err := errors.Join(r.Close(), m.Close()); err != nil {
				t.Error(err)
			}
			if strings.HasPrefix(c.want, "refs/heads") {
				moves = reads // who moves keeps no names
			}
			for _, err := range []error{reads, moves} {
				if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("%s: %v, want %q", name, err, c.want)
				}
			}
		}
	}
	if err := (&boundedTransport{}).bound(struct{}{}); !errors.Is(err, errUnsupported) {
		t.Errorf("a session without a bound: %v", err)
	}
}

// TestPacks: however git writes a pack, the same commits come out of it.
func TestPacks(t *testing.T) {
	w := newWorld(t)
	w.long(300)
	var alike []string // messages that are alike make deltas of commits
	for i := range 200 {
		alike = append(alike, strings.Repeat("the same long message\n", 50)+string(rune('a'+i%26)))
	}
	w.onward(alike...)
	var line []plan.SHA
	for s := range strings.FieldsSeq(w.git("rev-list", "main")) {
		line = append(line, plan.SHA(s))
	}
	for name, args := range map[string][]string{
		"offsets": {"--delta-base-offset"}, "names": {}, "no deltas": {"--depth=0"}, "long chains": {"--delta-base-offset", "--depth=4000", "--window=50"},
	} {
		t.Run(name, func(t *testing.T) {
			p := packOf(t, w, append([]string{"-c", "pack.threads=1", "pack-objects", "--stdout", "--revs", "--no-reuse-delta", "-q"}, args...))
			g := newGraph(paid(t))
			if err := p.commits(g); err != nil {
				t.Fatal(err)
			}
			var got []plan.SHA
			for _, h := range g.names {
				if g.has(h) {
					got = append(got, plan.SHA(h.String()))
				}
			}
			slices.Sort(got)
			if want := slices.Sorted(slices.Values(line)); !slices.Equal(got, want) {
				t.Errorf("%d commits, want %d", len(got), len(want))
			}
			if data, err := fileOf(p, plumbing.NewHash(string(line[0]))); err != nil || string(data) != "#\n" {
				t.Errorf("%q %v", data, err)
			}
		})
	}
}

// fileOf is the file at a commit of a pack.
func fileOf(p *pack, commit plumbing.Hash) ([]byte, error) {
	s := survey{heads: map[plan.Branch]plumbing.Hash{"main": commit}}
	o, err := s.overview("main", file, trees{cost: p.cost, get: p.find, listings: map[plumbing.Hash][]object.TreeEntry{}})
	return o.Data, err
}

// packOf is what git packs of main.
func packOf(t testing.TB, w *world, args []string) *pack {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Stdin = w.dir, strings.NewReader("main\n")
	data, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	p, err := spool(paid(t), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestSmallPacksNeedNoDirectory: an image of nothing but the binary has no directory for temporary files. A pack that is larger than
// what is kept in memory needs one, is read the same, and leaves nothing there.
func TestSmallPacksNeedNoDirectory(t *testing.T) {
	read := func(p *pack) []byte {
		t.Helper()
		data, err := io.ReadAll(io.NewSectionReader(p.bytes, 0, p.size))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		return data
	}
	pattern := make([]byte, 251)
	for i := range pattern {
		pattern[i] = byte(i)
	}
	dir := t.TempDir()
	for name, size := range map[string]int{"nothing": 0, "small": 1000, "as much as is kept": keptPack - 1, "more": keptPack + 1, "much more": 2*keptPack + 7} {
		data := bytes.Repeat(pattern, size/len(pattern)+1)[:size]
		t.Setenv("TMPDIR", filepath.Join(dir, "none"))
		p, err := spool(paid(t), bytes.NewReader(data))
		if size >= keptPack {
			if err == nil {
				t.Errorf("%s: it is kept in memory", name)
			}
			t.Setenv("TMPDIR", dir)
			p, err = spool(paid(t), bytes.NewReader(data))
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(read(p), data) {
			t.Errorf("%s: it is not what was sent", name)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// FuzzPack: whatever a server sends, there is an answer or an error, and memory stays small.
func FuzzPack(f *testing.F) {
	w := newWorld(f)
	w.commit(map[string]string{file: "#", "x": strings.Repeat("y", 100)})
	w.commit(map[string]string{"x": strings.Repeat("y", 101)})
	p := packOf(f, w, []string{"pack-objects", "--stdout", "--revs", "-q"})
	data, err := io.ReadAll(io.NewSectionReader(p.bytes, 0, p.size))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(emptyPack))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := spool(paid(t), bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close() //nolint:errcheck // only a test
		g := newGraph(paid(t))
		if err := p.commits(g); err != nil {
			return
		}
		for _, h := range g.names {
			_, _ = fileOf(p, h)
		}
	})
}

// TestWords: what people read.
func TestWords(t *testing.T) {
	m := plan.Move{Branch: "rw/a", Old: "0123456789"}
	elsewhere := func(m plan.Move, now plan.SHA) string {
		r := refusals{}
		if m.New = "fedcba"; !r.done(m, now) || r.done(m, m.Old) {
			t.Error("somebody else moved it, and then nobody did")
		}
		return r[m.Branch]
	}
	refuse := func(b plan.Branch, form string, args ...any) string {
		r := refusals{}
		r.add(b, form, args...)
		return r[b]
	}
	for got, want := range map[string]string{
		elsewhere(m, "abcdef0123"):                                                          "it moved to abcdef0 in the meantime; not moved",
		elsewhere(m, ""):                                                                    "it was deleted in the meantime; not moved",
		elsewhere(plan.Move{Branch: "rw/a"}, "abcdef0123"):                                  "it was created at abcdef0 in the meantime; not moved",
		refuse("rw/a", wordsRefused, "protected"):                                           "the server refused: protected",
		refuse("rw/a", wordsCheckedOut, "/srv/fleet"):                                       "checked out in /srv/fleet: switch to another branch there",
		refuse("rw/a", wordsLate):                                                           "not moved: its window closed, or 30 s passed, in the meantime; run the command again",
		reason("rw/a", "hook declined", "x\nerror: rw/a may not\n"):                         "hook declined: rw/a may not",
		reason("rw/a", "hook declined", "rw/ab no\nx/rw/a no\n"):                            "hook declined",
		reason("rw/a", "hook declined", "error: hook declined to update refs/heads/rw/a\n"): "hook declined to update refs/heads/rw/a",
		reason("rw/a", "hook\x1b declined", "something else"):                               "hook\uFFFD declined",
		plan.Clean("a\u202eb\r\nc\xff"):                                                     "a\uFFFDb c\uFFFD",
		string([]rune(refuse("rw/a", "%s", strings.Repeat("é", 200)))[138:]):                "é…",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
