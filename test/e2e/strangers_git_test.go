package e2e

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	numbers "encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Strangers who have no secret: a server that promote is pointed at, a directory that it is started in, a clone that somebody
// sent. What they send may cost what the bounds say, and runs nothing.

// forEver is when a command is killed that should have ended by itself: on a machine that does much else, too.
const forEver = 4 * time.Minute

// start starts a binary in a directory, with an environment of its own and more.
func start(t *testing.T, binary, dir string, env []string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), forEver)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary, args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, &out, &out, time.Second
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_SYSTEM=" + os.DevNull}, env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, &out
}

// refuses runs the binary as it ships, which must end by itself, exit with 2 and say why. Up to half a gigabyte is read before it does, by one
// goroutine: the race detector would find nothing there, and take a minute for each.
func refuses(t *testing.T, want string, dir string, env []string, args ...string) {
	t.Helper()
	binary, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	cmd, out := start(t, binary, dir, env, args...)
	_ = cmd.Wait() // how it ended is looked at
	if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(out.String(), want) {
		t.Errorf("%s: exit code %d (%v), want 2 and %q in\n%.2000s", args, code, cmd.ProcessState, want, out)
	}
}

// loose writes an object into a repository's directory, and gives its name.
func loose(t *testing.T, dir, kind string, content []byte) string {
	t.Helper()
	raw := append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...)
	name := fmt.Sprintf("%x", sha1.Sum(raw))
	path := filepath.Join(dir, ".git", "objects", name[:2], name[2:])
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, deflated(raw), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// deflated is bytes as git keeps them.
func deflated(raw []byte) []byte {
	var out bytes.Buffer
	z, _ := zlib.NewWriterLevel(&out, zlib.BestSpeed) // the level is right
	_, _ = z.Write(raw)                               // memory takes everything
	_ = z.Close()
	return out.Bytes()
}

// treeEntry is a line of a tree.
func treeEntry(mode, name, object string) []byte {
	sum, _ := hex.DecodeString(object) // the tests' own names
	return append(append([]byte(mode+" "+name), 0), sum...)
}

// commitOf is a commit's text.
func commitOf(tree, parent, message string) []byte {
	who := "acme <a@example.com> 1700000000 +0000"
	if parent != "" {
		parent = "parent " + parent + "\n"
	}
	return fmt.Appendf(nil, "tree %s\n%sauthor %s\ncommitter %s\n\n%s", tree, parent, who, who, message)
}

// hostileClone is a repository whose main has the rules and a tree of somebody's making, on an honest first commit.
func hostileClone(t *testing.T, made func(dir string) []byte) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{".git/objects", ".git/refs/heads"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, ".git", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := loose(t, dir, "blob", []byte(rules(openForYears)+"branches:\n  - {name: rw/a, from: main, window: w}\n"))
	folder := loose(t, dir, "tree", treeEntry("100644", "sluice.yaml", file))
	first := loose(t, dir, "commit", commitOf(loose(t, dir, "tree", treeEntry("40000", ".github", folder)), "", "one"))
	tip := loose(t, dir, "commit", commitOf(loose(t, dir, "tree", made(dir)), first, "two"))
	put("HEAD", "ref: refs/heads/main\n")
	put("config", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
	put("refs/heads/main", tip+"\n")
	put("refs/heads/old", first+"\n")
	return dir
}

// TestHostileTreeIsBounded: a tree that unfolds without end, one of 64 MB in 100 kB, and rules of 64 MB end with a sentence.
func TestHostileTreeIsBounded(t *testing.T) {
	t.Parallel()
	many := hostileClone(t, func(dir string) []byte {
		below := loose(t, dir, "tree", nil)
		var tree []byte
		for range 30 { // 10^30 directories, and no file
			tree = nil
			for i := range 10 {
				tree = append(tree, treeEntry("40000", fmt.Sprint(i), below)...)
			}
			below = loose(t, dir, "tree", tree)
		}
		return tree
	})
	refuses(t, "MiB of text", many, nil, "classify", "--base", "old", "--head", "main")

	var line []byte
	large := hostileClone(t, func(dir string) []byte {
		line = treeEntry("100644", "a", loose(t, dir, "blob", nil))
		return treeEntry("40000", "a", loose(t, dir, "tree", bytes.Repeat(line, 64<<20/len(line))))
	})
	refuses(t, "has more than 8388608 bytes", large, nil, "classify", "--base", "old", "--head", "main")

	file := hostileClone(t, func(dir string) []byte {
		blob := loose(t, dir, "blob", bytes.Repeat([]byte("#"), 64<<20))
		return treeEntry("40000", ".github", loose(t, dir, "tree", treeEntry("100644", "sluice.yaml", blob)))
	})
	refuses(t, "has more than 1048576 bytes", file, nil, "promote", "--repo", file)
}

// TestHostileCloneHasNoPipes: what is no file in a clone is not waited for.
func TestHostileCloneHasNoPipes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"config", "packed-refs", "objects/info/alternates"} {
		dir := hostileClone(t, func(dir string) []byte {
			return treeEntry("100644", "a", loose(t, dir, "blob", nil))
		})
		path := filepath.Join(dir, ".git", name)
		if err := errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o755), syscall.Mkfifo(path, 0o644)); err != nil {
			t.Fatal(err)
		}
		refuses(t, "is no file", dir, nil, "promote", "--repo", dir)
	}
}

// hostileServer answers git's protocol over HTTP with a pack of its own. It has main, and more refs, each "SHA NAME". sent is closed when the pack was sent.
func hostileServer(t *testing.T, tip string, pack []byte, more ...string) (url string, sent chan struct{}) {
	t.Helper()
	line := func(s string) string { return fmt.Sprintf("%04x%s", len(s)+4, s) }
	sent = make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			fmt.Fprint(w, line("# service=git-upload-pack\n"), "0000", line(tip+" HEAD\x00symref=HEAD:refs/heads/main ofs-delta\n"), line(tip+" refs/heads/main\n"))
			for _, ref := range more {
				fmt.Fprint(w, line(ref+"\n"))
			}
			fmt.Fprint(w, "0000")
			return
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		_, _ = io.WriteString(w, line("NAK\n"))
		_, _ = w.Write(pack)
		select {
		case <-sent:
		default:
			close(sent)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/x.git", sent
}

// packObject is one object of a pack: its type and size, for a delta how far back its base begins, and its content.
func packObject(kind byte, size int, back int, content []byte) []byte {
	first := kind<<4 | byte(size&15)
	size >>= 4
	var out []byte
	for size > 0 {
		out = append(out, first|0x80)
		first, size = byte(size&0x7f), size>>7
	}
	out = append(out, first)
	if back > 0 {
		far := []byte{byte(back & 0x7f)}
		for back >>= 7; back > 0; back >>= 7 {
			back--
			far = append(far, byte(back&0x7f)|0x80)
		}
		slices.Reverse(far)
		out = append(out, far...)
	}
	return append(out, content...)
}

// packOf is objects as a pack; it gives where each begins to the next one.
func packOf(n int, object func(i, at int) []byte) []byte {
	out := numbers.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(n))
	for i := range n {
		out = append(out, object(i, len(out))...)
	}
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}

// deltaBomb is 5,000 commits of 1 MB in 150 kB: a chain, and then deltas on all of its places in turn, so that each needs the
// chain once more. The second value is the first one's name.
func deltaBomb() ([]byte, string) {
	base := commitOf(strings.Repeat("0", 40), "", strings.Repeat("x", 1<<20-200))
	size := numbers.AppendUvarint(nil, uint64(len(base)))
	copies := []byte{0xf0, byte(len(base)), byte(len(base) >> 8), byte(len(base) >> 16)} // all of it
	delta := slices.Concat(size, size, copies)
	packed := deflated(delta)
	const links = 2_500
	var places []int
	pack := packOf(2*links, func(i, at int) []byte {
		places = append(places, at)
		switch {
		case i == 0:
			return packObject(1, len(base), 0, deflated(base))
		case i < links:
			return packObject(6, len(delta), at-places[i-1], packed)
		}
		return packObject(6, len(delta), at-places[links-1-(i-links)*7%links], packed)
	})
	return pack, fmt.Sprintf("%x", sha1.Sum(append(fmt.Appendf(nil, "commit %d\x00", len(base)), base...)))
}

// TestHostileServerIsBounded: deltas upon each other, and 3 MB of zeros that are 2.5 GB, end with a sentence.
func TestHostileServerIsBounded(t *testing.T) {
	t.Parallel()
	pack, tip := deltaBomb()
	if len(pack) > 150<<10 {
		t.Fatalf("the bomb has %d bytes", len(pack))
	}
	url, _ := hostileServer(t, tip, pack)
	refuses(t, "steps", t.TempDir(), nil, "promote", "--timeout", "1h", "--remote", url)

	const size = 64 << 20
	zeros := packObject(3, size, 0, deflated(make([]byte, size)))
	url, _ = hostileServer(t, tip, packOf(40, func(int, int) []byte { return zeros }))
	refuses(t, "steps", t.TempDir(), nil, "promote", "--timeout", "1h", "--remote", url)
}

// TestSignalEndsAHostileServer: while a server's objects are read, the first signal ends the command with its own words.
func TestSignalEndsAHostileServer(t *testing.T) {
	t.Parallel()
	pack, tip := deltaBomb()
	url, sent := hostileServer(t, tip, pack)
	cmd, out := start(t, binary, t.TempDir(), nil, "promote", "--remote", url)
	<-sent
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // how it ended is looked at
	if code := cmd.ProcessState.ExitCode(); code != 2 || strings.Contains(out.String(), "steps") {
		t.Errorf("%v: %s", cmd.ProcessState, out)
	}
}

// TestSignalEndsWhoDoesNotLook: a signal ends what does not look at it, here a pipe that nobody writes, too.
func TestSignalEndsWhoDoesNotLook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd, out := start(t, binary, dir, nil, "check", "--file", pipe)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	reads := false // a pipe can be opened to write once somebody reads it; it stays open, so that there is no end to be read
	for {
		select {
		case err := <-ended:
			if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(out.String(), "signal received") {
				t.Errorf("%v: %s", err, out)
			}
			return
		case <-every.C:
			if !reads { // one signal: a second one would kill
				writer, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
				if err != nil {
					continue
				}
				defer writer.Close() //nolint:errcheck // nothing is written
				reads = true
				if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestHostileDirectoryRunsNothing: the working directory's own configuration, and what the environment says of git, name no
// program that promote runs; the user's helper is asked, and sees no secret of sluice.
func TestHostileDirectoryRunsNothing(t *testing.T) {
	t.Parallel()
	guarded := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(guarded.Close)
	dir, marks := t.TempDir(), t.TempDir()
	helper := func(path, mark string) string {
		text := fmt.Sprintf("[credential]\n\thelper = \"!f() { env > %s; pwd >> %s; }; f\"\n", filepath.Join(marks, mark), filepath.Join(marks, mark))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	helper(filepath.Join(dir, ".git", "config"), "directory")
	user := helper(filepath.Join(t.TempDir(), "config"), "user")
	refuses(t, "credentials are needed", dir, []string{
		"SLUICE_GITHUB_WEBHOOK_SECRET=hunter2", "GIT_CONFIG_GLOBAL=" + user, "GIT_DIR=" + filepath.Join(dir, ".git"),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential.helper", "GIT_CONFIG_VALUE_0=!touch " + filepath.Join(marks, "counted"),
	}, "promote", "--remote", guarded.URL+"/x.git")
	for _, mark := range []string{"directory", "counted"} {
		if _, err := os.Stat(filepath.Join(marks, mark)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the helper of the %s ran", mark)
		}
	}
	seen, err := os.ReadFile(filepath.Join(marks, "user"))
	if err != nil || strings.Contains(string(seen), "hunter2") || !strings.HasSuffix(string(seen), "\n/\n") {
		t.Errorf("the user's helper: %v, %s", err, seen)
	}
}

// TestFileRemoteSeesNoSecrets: hooks of a repository that is moved by git's own programs see no secret of sluice.
func TestFileRemoteSeesNoSecrets(t *testing.T) {
	t.Parallel()
	dir := hostileClone(t, func(dir string) []byte {
		file := loose(t, dir, "blob", []byte(rules(openForYears)+"branches:\n  - {name: rw/a, from: main, window: w, checks: none}\n"))
		return treeEntry("40000", ".github", loose(t, dir, "tree", treeEntry("100644", "sluice.yaml", file)))
	})
	old, err := os.ReadFile(filepath.Join(dir, ".git/refs/heads/old"))
	if err != nil {
		t.Fatal(err)
	}
	hook, mark := filepath.Join(dir, ".git/hooks/pre-receive"), filepath.Join(t.TempDir(), "mark")
	if err := errors.Join(os.MkdirAll(filepath.Dir(hook), 0o755), os.MkdirAll(filepath.Join(dir, ".git/refs/heads/rw"), 0o755),
		os.WriteFile(filepath.Join(dir, ".git/refs/heads/rw/a"), old, 0o644), os.WriteFile(hook, []byte("#!/bin/sh\nenv > "+mark+"\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd, out := start(t, binary, t.TempDir(), []string{"SLUICE_GITHUB_WEBHOOK_SECRET=hunter2", "SLUICE_GIT_TOKEN=hunter2"}, "promote", "--remote", "file://"+filepath.Join(dir, ".git"))
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if seen, err := os.ReadFile(mark); err != nil || strings.Contains(string(seen), "hunter2") {
		t.Errorf("the hook: %v, %s", err, seen)
	}
}
