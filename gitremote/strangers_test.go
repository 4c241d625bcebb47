package gitremote

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// stored compresses nothing, and is made once: it takes a megabyte.
var stored = sync.OnceValue(func() *zlib.Writer {
	z, err := zlib.NewWriterLevel(nil, zlib.NoCompression)
	if err != nil {
		panic(err)
	}
	return z
})

// put writes an object, whatever git would say of it.
func (w *world) put(kind plumbing.ObjectType, content []byte) plumbing.Hash {
	w.t.Helper()
	h := plumbing.ComputeHash(kind, content)
	var out bytes.Buffer
	z := stored()
	z.Reset(&out)
	_, err := fmt.Fprintf(z, "%s %d\x00", kind, len(content))
	_, also := z.Write(content)
	path := filepath.Join(w.dir, ".git/objects", h.String()[:2], h.String()[2:])
	if err := errors.Join(err, also, z.Close(), os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, out.Bytes(), 0o600)); err != nil {
		w.t.Fatal(err)
	}
	return h
}

// nested is a commit on main whose tree has directories within each other, each with files of its own.
func (w *world) nested(deep, wide int) plan.SHA { return w.nestedOf(deep, wide, "x") }

// nestedOf is that, with a text in its deepest directory.
func (w *world) nestedOf(deep, wide int, text string) plan.SHA {
	w.t.Helper()
	blob := w.put(plumbing.BlobObject, []byte("x"))
	var files bytes.Buffer
	for i := range wide {
		fmt.Fprintf(&files, "100644 z%06d\x00%s", i, blob[:])
	}
	last := w.put(plumbing.BlobObject, []byte(text))
	below := w.put(plumbing.TreeObject, fmt.Appendf(nil, "100644 x\x00%s", last[:]))
	for range deep {
		below = w.put(plumbing.TreeObject, append(fmt.Appendf(nil, "40000 a\x00%s", below[:]), files.Bytes()...))
	}
	who := "a <a@example.com> 1700000000 +0000"
	return plan.SHA(w.put(plumbing.CommitObject, fmt.Appendf(nil, "tree %s\nparent %s\nauthor %s\ncommitter %s\n\nx\n", below, w.at("main"), who, who)).String())
}

// TestTreesAreBounded: a directory is, and a context's end ends it all.
func TestTreesAreBounded(t *testing.T) {
	w := newWorld(t)
	_, base := w.two()
	r := open(t, w.dir)
	if found, _, err := r.Changes(base, w.nested(300, 30)); err != nil || len(found) < 300*30 {
		t.Errorf("%d changes, %v", len(found), err)
	}
	if _, _, err := r.Changes(base, w.nested(1, maxTree/35+1)); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "has more than 8388608 bytes") {
		t.Errorf("error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone, err := Open(meter.New(ctx, meter.Limits{}), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close() //nolint:errcheck // only a test
	cancel()
	if _, _, err := gone.Changes(base, w.nested(1, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// TestObjectsAreTheirNames: an object whose content is another one's is an error, whatever the file is called.
func TestObjectsAreTheirNames(t *testing.T) {
	w := newWorld(t)
	_, tip := w.two()
	other := w.put(plumbing.BlobObject, []byte("other")).String()
	blob := w.git("rev-parse", string(tip)+":"+file)
	objects := filepath.Join(w.dir, ".git/objects")
	data, err := os.ReadFile(filepath.Join(objects, other[:2], other[2:]))
	if err == nil {
		path := filepath.Join(objects, blob[:2], blob[2:])
		err = errors.Join(os.Remove(path), os.WriteFile(path, data, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	if data, _, err := open(t, w.dir).File(tip, file); err == nil {
		t.Errorf("the file is %q", data)
	}
}

// TestAlternates: objects that stand in another repository are read, by a relative path too, and repositories that name each
// other end.
func TestAlternates(t *testing.T) {
	w := newWorld(t)
	_, tip := w.two()
	shared := w.clone("--shared", "--no-checkout")
	if paths, err := open(t, shared.dir).Paths(tip); err != nil || len(paths) == 0 {
		t.Error(paths, err)
	}
	for _, c := range []struct{ of, to string }{{shared.dir, w.dir}, {w.dir, shared.dir}} {
		from, to := filepath.Join(c.of, ".git/objects"), filepath.Join(c.to, ".git/objects")
		path, err := filepath.Rel(from, to)
		if err == nil {
			err = os.WriteFile(filepath.Join(from, "info/alternates"), []byte(path+"\n"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r := open(t, shared.dir)
	if paths, err := r.Paths(tip); err != nil || len(paths) == 0 {
		t.Error(paths, err)
	}
	if _, err := r.Paths("0123456789012345678901234567890123456789"); !errors.Is(err, ErrIncomplete) {
		t.Error(err)
	}
}

// TestNothingIsWrittenOutside: refs and logs that are links to somewhere else are not written through.
func TestNothingIsWrittenOutside(t *testing.T) {
	for _, name := range []string{"refs", "logs"} {
		w := newWorld(t)
		old, tip := w.two()
		w.branch("rw/a", old)
		path, outside := filepath.Join(w.dir, ".git", name), filepath.Join(t.TempDir(), "outside")
		if err := errors.Join(os.Rename(path, outside), os.Symlink(outside, path)); err != nil {
			t.Fatal(err)
		}
		before := tree(t, outside)
		c, err := OpenClone(unhurried(t), w.dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Overview(t.Context(), file); name == "refs" && (err == nil || !strings.Contains(err.Error(), "boundary crossed")) {
			t.Errorf("refs that are elsewhere: %v", err)
		}
		refused, err := c.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: old, New: tip}))
		if err != nil || len(refused) != 1 || !strings.Contains(refused["rw/a"], name+" is a symbolic link") {
			t.Errorf("%s: refused %q, %v", name, reasons(refused), err)
		}
		if after := tree(t, outside); after != before {
			t.Errorf("%s: outside stands\n%s\nand stood\n%s", name, after, before)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// tree is a directory's files with their contents.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	fsys := os.DirFS(dir)
	if err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, path)
		fmt.Fprintf(&out, "%s %q\n", path, data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestMeter: packs allow to inflate more than they have, and not without end; a context's end counts at once.
func TestMeter(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := &account{ctx: ctx, meter: meter.New(t.Context(), meter.Limits{meter.Steps: 1000})}
	for range 2 { // what there are holes of allows no more
		a.received(1 << 40)
	}
	if err := a.make((1000+maxReceived/1024*perByte)<<10, "x"); err != nil {
		t.Error(err)
	}
	if err := a.make(1<<10, "x"); bound(err) == nil {
		t.Errorf("error is %v", err)
	}
	a = &account{ctx: ctx, meter: unhurried(t), packs: maxReceived - 3}
	if _, err := spool(a, strings.NewReader("four")); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "sent more than 2 GiB") {
		t.Errorf("error is %v", err)
	}
	cancel()
	if err := a.make(0, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// bound is the bound that an error is about; nil: none.
func bound(err error) (found *meter.Error) {
	errors.As(err, &found)
	return found
}

// TestChainIsBounded: a delta that is based on itself, by whatever name, ends.
func TestChainIsBounded(t *testing.T) {
	w := newWorld(t)
	w.two()
	p := packOf(t, w, []string{"pack-objects", "--stdout", "--revs", "-q"})
	// An object of type 7 whose base is found where it stands itself.
	raw := append([]byte{7<<4 | 2}, make([]byte, 20)...)
	sent, err := io.ReadAll(io.NewSectionReader(p.bytes, 0, p.size))
	if err != nil {
		t.Fatal(err)
	}
	d := &deltas{
		scan: packfile.NewScanner(bytes.NewReader(append(sent, raw...))), cost: p.cost, cache: cache.NewBufferLRU(0),
		find: func(plumbing.Hash) (int64, error) { return p.size, nil },
	}
	if _, _, err := d.read(p.size, 100); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "a delta chain of more than 4095 objects") {
		t.Errorf("error is %v", err)
	}
}

// BenchmarkMoves is as many moved files as are read, all of one content and each with another name: the worst there is.
func BenchmarkMoves(b *testing.B) {
	all := map[string]change{}
	for i := range 50_000 {
		all[fmt.Sprintf("a/%d", i)] = change{was: object.TreeEntry{Mode: filemode.Regular}}
		all[fmt.Sprintf("b/x%d", i)] = change{is: object.TreeEntry{Mode: filemode.Regular}}
	}
	cost := &account{ctx: b.Context(), meter: meter.Unhurried()}
	for b.Loop() {
		if old, _ := moves(cost, all, slices.Sorted(maps.Keys(all))); len(old) != 50_000 {
			b.Fatal(len(old))
		}
	}
}

// TestMoveRunsNothing: git moves the branches of a clone that would run programs in every way that it knows, and runs none.
func TestMoveRunsNothing(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	w.branch("rw/a", old)
	mark := filepath.Join(t.TempDir(), "mark")
	program := "#!/bin/sh\ntouch " + mark + "\n"
	for _, path := range []string{".git/hooks/reference-transaction", "hooks/reference-transaction", "hooks/run"} {
		w.write(map[string]string{filepath.Dir(path) + "/x": "x", path: program})
		if err := os.Chmod(filepath.Join(w.dir, path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := filepath.Join(w.dir, "hooks/run")
	hooks := fmt.Sprintf("[core]\n\thooksPath = %s\n\tfsmonitor = %s\n\tsshCommand = %s\n\talternateRefsCommand = %s\n[hook \"x\"]\n\tevent = reference-transaction\n\tcommand = %s\n",
		filepath.Dir(run), run, run, run, run)
	config := filepath.Join(w.dir, ".git/config")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	for name, added := range map[string]string{"hooks": "", "config": hooks, "include": "[include]\n\tpath = ../more\n", "pipe": "[include]\n\tpath = ../pipe\n"} {
		w.write(map[string]string{"more": hooks})
		_ = syscall.Mkfifo(filepath.Join(w.dir, "pipe"), 0o600) // it may be there
		if err := os.WriteFile(config, append(text[:len(text):len(text)], added...), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := OpenClone(unhurried(t), w.dir)
		if err != nil {
			t.Fatal(err)
		}
		look(t, c)
		refused, err := c.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: old, New: tip}))
		if err != nil || len(refused) > 0 {
			t.Errorf("%s: refused %q, %v", name, reasons(refused), err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("%s: a program ran", name)
		}
		if err := os.WriteFile(config, text, 0o600); err != nil {
			t.Fatal(err)
		}
		now, err := os.ReadFile(filepath.Join(w.dir, ".git/refs/heads/rw/a"))
		if err != nil || strings.TrimSpace(string(now)) != string(tip) {
			t.Errorf("%s: the branch is at %s, %v", name, now, err)
		}
		if err := os.WriteFile(filepath.Join(w.dir, ".git/refs/heads/rw/a"), []byte(old+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPipesAreNoLogs: a pipe where a branch's log should be is not waited for, and no branch moves without its log.
func TestPipesAreNoLogs(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	w.branch("rw/a", old)
	w.mkdir("logs/refs/heads/rw")
	log := filepath.Join(w.dir, ".git/logs/refs/heads/rw/a")
	if err := errors.Join(os.RemoveAll(log), syscall.Mkfifo(log, 0o600)); err != nil {
		t.Fatal(err)
	}
	c, err := OpenClone(unhurried(t), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // only a test
	refused, err := c.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: old, New: tip}))
	if err != nil || len(refused) != 1 || !strings.Contains(refused["rw/a"], "is a symbolic link, or not a regular file") || w.at("rw/a") != old {
		t.Errorf("refused %q, %v", reasons(refused), err)
	}
}
