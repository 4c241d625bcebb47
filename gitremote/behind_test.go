package gitremote

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// TestReadsNoMoreThanIsNeeded: a branch that is little behind costs a little of a long history, and so do merge bases and names.
func TestReadsNoMoreThanIsNeeded(t *testing.T) {
	w := newWorld(t)
	line := w.long(3_000)
	w.branch("rw/a", line[2_700])
	topic := w.commitTree("topic", line[2_990])
	w.git("gc", "-q")
	c, err := OpenClone(unhurried(t), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // only a test
	got, main := track(t, c, "rw/a")
	is(t, got[0], plan.Behind, 250)
	if n := len(c.survey.graph.nodes); n > 2*300 || len(main.Line) != 250 {
		t.Errorf("%d commits were read for a branch that is 299 behind, the line has %d", n, len(main.Line))
	}
	r := open(t, w.dir)
	if got, err := r.Resolve(string(topic[:8])); err != nil || got != topic {
		t.Error(got, err)
	}
	before := used(r.cost.meter, meter.Steps)
	if found, _, err := r.Changes(line[2_999], topic); err != nil || len(found) != 0 {
		t.Error(found, err)
	}
	if n := used(r.cost.meter, meter.Steps) - before; n > 4*fewCommits {
		t.Errorf("%d steps through a history of 3,000 commits for a merge base 10 commits ago", n)
	}
}

// BenchmarkLongHistory: a branch that is 2,000 commits behind, and what `sluice classify` asks, on a repository of 50,000 commits
// and 150,000 objects; beside them git's own programs.
func BenchmarkLongHistory(b *testing.B) {
	w := newWorld(b)
	line := w.long(50_000)
	w.branch("rw/a", line[len(line)-2_001])
	w.branch("topic", line[len(line)-31])
	w.git("gc", "-q")
	git := func(b *testing.B, args ...string) {
		for b.Loop() {
			cmd := exec.CommandContext(b.Context(), "git", append([]string{"-c", "core.commitGraph=false"}, args...)...)
			cmd.Dir = w.dir
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
		}
	}
	b.Run("behind", func(b *testing.B) {
		for b.Loop() {
			c, err := OpenClone(unhurried(b), w.dir)
			if err != nil {
				b.Fatal(err)
			}
			got, _ := track(b, c, "rw/a")
			is(b, got[0], plan.Behind, 250)
			if err := c.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("behind/git rev-list", func(b *testing.B) { git(b, "rev-list", "--count", "main", "^rw/a") })
	repo := func(b *testing.B, use func(r *Repo) error) {
		for b.Loop() {
			r, err := Open(unhurried(b), w.dir)
			if err == nil {
				err = use(r)
			}
			if err == nil {
				err = r.Close()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("resolve", func(b *testing.B) {
		repo(b, func(r *Repo) error { _, err := r.Resolve("main"); return err })
	})
	b.Run("resolve short", func(b *testing.B) {
		repo(b, func(r *Repo) error { _, err := r.Resolve(string(line[17][:12])); return err })
	})
	b.Run("resolve/git rev-parse", func(b *testing.B) { git(b, "rev-parse", "main^{commit}") })
	b.Run("classify", func(b *testing.B) {
		repo(b, func(r *Repo) error {
			base, err := r.Resolve("main")
			if err != nil {
				return err
			}
			head, err := r.Resolve("topic")
			if err != nil {
				return err
			}
			_, _, err = r.Changes(base, head)
			return err
		})
	})
	b.Run("classify/git diff", func(b *testing.B) { git(b, "diff", "--name-status", "main...topic") })
}

// TestIndex: places in packs of more than 2 GB, and indexes that lie.
func TestIndex(t *testing.T) {
	near, far := numbered(1), numbered(2)
	near[0], far[0] = 0x10, 0xf0
	raw := []byte("\xfftOc\x00\x00\x00\x02")
	for i := range 256 {
		raw = binary.BigEndian.AppendUint32(raw, uint32(min(i/0x10, 1)+i/0xf0))
	}
	raw = slices.Concat(raw, near[:], far[:], make([]byte, 2*crcSize))
	raw = binary.BigEndian.AppendUint64(raw, 12<<32|1<<31)
	raw = append(binary.BigEndian.AppendUint64(raw, 1<<33), make([]byte, 2*nameSize)...)
	read := func(raw []byte) (int64, int64, error) {
		path := filepath.Join(t.TempDir(), "x.idx")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := openIndex(path)
		if err != nil {
			return 0, 0, err
		}
		defer x.file.Close() //nolint:errcheck // only read
		if _, err := x.find(numbered(3)); !errors.Is(err, plumbing.ErrObjectNotFound) {
			t.Errorf("error is %v", err)
		}
		a, err := x.find(near)
		b, also := x.find(far)
		return a, b, errors.Join(err, also)
	}
	if a, b, err := read(raw); err != nil || a != 12 || b != 1<<33 {
		t.Errorf("%d %d %v", a, b, err)
	}
	for name, bad := range map[string][]byte{
		"empty": nil, "cut off": raw[:len(raw)-2*nameSize-8], "no names": raw[:indexHead], "version 3": append([]byte("\xfftOc\x00\x00\x00\x03"), raw[8:]...),
		"fewer and fewer": append(append(raw[:8:8], 0, 0, 0, 9), raw[12:]...), "many": append(append(raw[:indexHead-4:indexHead-4], 0xff, 0xff, 0xff, 0xff), raw[indexHead:]...),
		"a place too far": append(append(raw[:len(raw)-2*nameSize-12:len(raw)-2*nameSize-12], 0xff, 0xff, 0xff, 0xff), raw[len(raw)-2*nameSize-8:]...),
		"a place before":  append(append(raw[:len(raw)-2*nameSize-8:len(raw)-2*nameSize-8], 0xff), raw[len(raw)-2*nameSize-7:]...),
	} {
		if a, b, err := read(bad); err == nil {
			t.Errorf("%s: %d %d", name, a, b)
		}
	}
}
