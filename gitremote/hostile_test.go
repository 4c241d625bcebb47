package gitremote

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// packed is a pack that is made object by object, with what git would not write.
type packed struct {
	t    testing.TB
	data bytes.Buffer
	at   map[plumbing.Hash]int
}

func newPacked(t testing.TB) *packed { return &packed{t: t, at: map[plumbing.Hash]int{}} }

// add adds an object, or a delta whose base begins so far back, as that of a name.
func (p *packed) add(h plumbing.Hash, kind plumbing.ObjectType, back int, content []byte) plumbing.Hash {
	if _, there := p.at[h]; there {
		return h
	}
	p.at[h] = p.data.Len() + 12
	first, size := byte(kind)<<4|byte(len(content)&15), len(content)>>4
	for ; size > 0; size >>= 7 {
		p.data.WriteByte(first | 0x80)
		first = byte(size & 0x7f)
	}
	p.data.WriteByte(first)
	if kind == plumbing.OFSDeltaObject {
		places := []byte{byte(back & 0x7f)}
		for back >>= 7; back > 0; back >>= 7 {
			back--
			places = append([]byte{0x80 | byte(back&0x7f)}, places...)
		}
		p.data.Write(places)
	}
	z := stored()
	z.Reset(&p.data)
	if _, err := z.Write(content); err != nil || z.Close() != nil {
		p.t.Fatal(err)
	}
	return h
}

func (p *packed) put(kind plumbing.ObjectType, content []byte) plumbing.Hash {
	return p.add(plumbing.ComputeHash(kind, content), kind, 0, content)
}

// upon adds what begins as another object does, and ends so: by a delta upon that one.
func (p *packed) upon(base plumbing.Hash, kind plumbing.ObjectType, was []byte, keep int, end string) (plumbing.Hash, []byte) {
	is := slices.Concat(was[:keep], []byte(end))
	delta := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(was))), uint64(len(is)))
	for at := 0; at < keep; at += 0xffff {
		n := min(keep-at, 0xffff)
		delta = append(delta, 0x80|0x3f, byte(at), byte(at>>8), byte(at>>16), byte(at>>24), byte(n), byte(n>>8))
	}
	for len(end) > 0 {
		n := min(len(end), 127)
		delta, end = append(append(delta, byte(n)), end[:n]...), end[n:]
	}
	h := plumbing.ComputeHash(kind, is)
	return p.add(h, plumbing.OFSDeltaObject, p.data.Len()+12-p.at[base], delta), is
}

// before adds an object by a delta of all of it upon another one, which is named and may come later.
func (p *packed) before(base plumbing.Hash, kind plumbing.ObjectType, was, is []byte) {
	delta := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(was))), uint64(len(is)))
	for rest := range slices.Chunk(is, 127) {
		delta = append(append(delta, byte(len(rest))), rest...)
	}
	p.at[plumbing.ComputeHash(kind, is)] = p.data.Len() + 12
	first, size := byte(plumbing.REFDeltaObject)<<4|byte(len(delta)&15), len(delta)>>4
	for ; size > 0; size >>= 7 {
		p.data.WriteByte(first | 0x80)
		first = byte(size & 0x7f)
	}
	p.data.WriteByte(first)
	p.data.Write(base[:])
	z := stored()
	z.Reset(&p.data)
	if _, err := z.Write(delta); err != nil || z.Close() != nil {
		p.t.Fatal(err)
	}
}

// tree adds a directory of entries.
func (p *packed) tree(entries ...string) plumbing.Hash {
	return p.put(plumbing.TreeObject, []byte(strings.Join(entries, "")))
}

// commit adds a commit of a tree.
func (p *packed) commit(tree plumbing.Hash, parents ...plumbing.Hash) plumbing.Hash {
	const who = "a <a@example.com> 1700000000 +0000"
	text := fmt.Sprintf("tree %s\n", tree)
	for _, h := range parents {
		text += fmt.Sprintf("parent %s\n", h)
	}
	return p.put(plumbing.CommitObject, fmt.Appendf(nil, "%sauthor %s\ncommitter %s\n\nx\n", text, who, who))
}

// pack is all of them as a pack.
func (p *packed) pack() []byte {
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(p.at)))
	all := slices.Concat(head, p.data.Bytes())
	sum := sha1.Sum(all)
	return append(all, sum[:]...)
}

// in puts the pack into a repository, with its index.
func (p *packed) in(w *world) {
	p.t.Helper()
	var names []plumbing.Hash
	for h := range p.at {
		names = append(names, h)
	}
	plumbing.HashesSort(names)
	raw := []byte("\xfftOc\x00\x00\x00\x02")
	for i := range 256 {
		n := 0
		for n < len(names) && int(names[n][0]) <= i {
			n++
		}
		raw = binary.BigEndian.AppendUint32(raw, uint32(n))
	}
	for _, h := range names {
		raw = append(raw, h[:]...)
	}
	raw = append(raw, make([]byte, crcSize*len(names))...)
	for _, h := range names {
		raw = binary.BigEndian.AppendUint32(raw, uint32(p.at[h]))
	}
	raw = append(raw, make([]byte, 2*nameSize)...)
	w.write(map[string]string{".git/objects/pack/pack-0.pack": string(p.pack()), ".git/objects/pack/pack-0.idx": string(raw)})
}

// entryText is an entry of a directory.
func entryText(mode, name string, h plumbing.Hash) string {
	return mode + " " + name + "\x00" + string(h[:])
}

// wide is the entries of so many files.
func wide(n int, name string, h plumbing.Hash) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(entryText("100644", fmt.Sprintf(name+"%06d", i), h))
	}
	return out.String()
}

// shaped draws two commits of one kind of hostile tree: so many of something, each so long. more is in the deepest place of the newer one alone.
func shaped(t testing.TB, w *world, kind, many, long int, more []byte) (base, head plan.SHA) {
	p := newPacked(t)
	x := p.put(plumbing.BlobObject, []byte("x"))
	leaf := func(more []byte) plumbing.Hash {
		return p.tree(entryText("100644", "f", p.put(plumbing.BlobObject, more)))
	}
	word := strings.Repeat("n", long+1)
	tree := func(more []byte) plumbing.Hash {
		below := leaf(more)
		switch kind % 7 {
		case 0: // files below a long name
			return p.tree(entryText("40000", word, p.tree(wide(many, string(more[:min(1, len(more))])+"f", x), entryText("40000", "z", below))))
		case 1: // directories within each other
			for range many {
				below = p.tree(entryText("40000", word[:min(long+1, 200)], below))
			}
		case 2: // each wide
			for range min(many, 20) {
				below = p.tree(wide(long, "a", x), entryText("40000", "b", below))
			}
		case 3: // one directory in ever more places
			for range min(many, 40) {
				below = p.tree(entryText("40000", "a", below), entryText("40000", "b", below), entryText("40000", "c", below))
			}
		case 4: // a wide one in many places
			one := p.tree(wide(long, "a", x), entryText("40000", "b", below))
			var all []string
			for i := range many {
				all = append(all, entryText("40000", fmt.Sprintf("d%06d", i), one))
			}
			return p.tree(all...)
		case 5: // directories that deltas make, each upon the one before
			was := []byte(wide(long, "a", x))
			h, keep := p.put(plumbing.TreeObject, was), len(was)
			var all []string
			for i := range many {
				h, was = p.upon(h, plumbing.TreeObject, was, keep, entryText("100644", fmt.Sprintf("b%06d", i), x))
				all = append(all, entryText("40000", fmt.Sprintf("d%06d", i), h))
			}
			return p.tree(append(all, entryText("40000", "z", below))...)
		case 6: // files that are long
			var all []string
			for i := range many {
				all = append(all, entryText("100644", fmt.Sprintf("a%06d", i), p.put(plumbing.BlobObject, bytes.Repeat([]byte{byte(i)}, 64*long))))
			}
			return p.tree(append(all, entryText("40000", "b", below))...)
		}
		return below
	}
	b := p.commit(tree(nil))
	h := p.commit(tree(append([]byte("x"), more...)), b)
	p.in(w)
	return plan.SHA(b.String()), plan.SHA(h.String())
}

// FuzzCosts: whatever trees are drawn, deep, wide, repeated, of long names or made by deltas, what the process holds is no more than twice what is counted.
func FuzzCosts(f *testing.F) {
	for kind := range 7 {
		f.Add(kind, 10, 100, []byte("x"))
	}
	f.Fuzz(func(t *testing.T, kind, many, long int, more []byte) {
		w := bare(t)
		base, head := shaped(t, w, kind&0xff, many&0x1ff, long&0x7ff, more)
		_ = looked(t, w.dir, base, head, few)
	})
}

// TestHostile: each shape ends at a bound of the run, which names the place, or costs nothing that matters.
func TestHostile(t *testing.T) {
	draw := func(kind, many, long int) func(*testing.T, *world) error {
		return func(t *testing.T, w *world) error {
			base, head := shaped(t, w, kind, many, long, []byte("y"))
			return looked(t, w.dir, base, head, few)
		}
	}
	alone := func(kind, many, long int, do func(r *Repo, base, head plan.SHA) error) func(*testing.T, *world) error {
		return func(t *testing.T, w *world) error {
			base, head := shaped(t, w, kind, many, long, []byte("y"))
			r, err := Open(meter.New(t.Context(), few), w.dir)
			if err == nil {
				err = errors.Join(do(r, base, head), r.Close())
			}
			return err
		}
	}
	differ := func(r *Repo, base, head plan.SHA) error {
		_, err := r.Differ(base, head)
		return err
	}
	walk := func(r *Repo, _, head plan.SHA) error {
		files, err := r.Tree(head)
		if err == nil {
			err = fs.WalkDir(files, ".", func(_ string, _ fs.DirEntry, err error) error { return err })
		}
		return err
	}
	clone := func(l meter.Limits, files func(w *world)) func(*testing.T, *world) error {
		return func(t *testing.T, w *world) error {
			files(w)
			c, err := OpenClone(meter.New(t.Context(), l), w.dir)
			if err == nil {
				_, err = c.Overview(t.Context(), file)
				err = errors.Join(err, c.Close())
			}
			return err
		}
	}
	server := func(l meter.Limits, fill func(p *packed)) func(*testing.T, *world) error {
		return func(t *testing.T, _ *world) error {
			p := newPacked(t)
			fill(p)
			got, err := sent(t, p, l)
			if err == nil {
				err = got.commits(newGraph(got.cost))
			}
			if err == nil {
				_, err = got.find(plumbing.BlobObject, plumbing.ZeroHash, 1)
			}
			return err
		}
	}
	text := func(name, line string, n int) func(w *world) {
		return func(w *world) {
			var all strings.Builder
			for i := range n {
				fmt.Fprintf(&all, line, i)
			}
			w.write(map[string]string{".git/" + name: all.String()})
		}
	}
	for name, c := range map[string]struct {
		do   func(*testing.T, *world) error
		want string
	}{
		"files below a long name":               {draw(0, 500, 100_000), "n…: more than 8 MiB of text"},
		"a few below a long name":               {draw(0, 20, 100_000), ""},
		"deep":                                  {draw(1, 5000, 0), ": more than 8 MiB of text"},
		"deep, compared":                        {alone(1, 5000, 0, differ), "/…: more than 8 MiB of text"},
		"one directory in many places, walked":  {alone(3, 40, 0, walk), "more than 100,000 objects, refs and directory entries"},
		"deep, of an honest tree":               {draw(1, 60, 20), ""},
		"wide at each level":                    {draw(2, race.Or(5, 20), 30_000), "b/: more than 100,000 objects, refs and directory entries"},
		"3^40 directories":                      {draw(3, 40, 0), "more than 100,000 objects, refs and directory entries"},
		"a wide one in many places":             {draw(4, 4000, 2000), "d003755/: more than"},
		"deltas upon each other":                {draw(5, 400, 5000), "pack-0.pack: more than"},
		"long files":                            {draw(6, 20, 1000), ""},
		"refs in one file":                      {clone(meter.Limits{meter.Nodes: 1000}, text("packed-refs", "%040x refs/heads/a\n", 2000)), "packed-refs: more than 1,000 objects, refs and directory entries"},
		"refs in one file, looked up":           {clone(meter.Limits{meter.Steps: 50}, text("packed-refs", "%040x refs/heads/a\n", 2000)), "packed-refs: more than 50 steps"},
		"long refs in one file":                 {clone(meter.Limits{meter.Bytes: 100 << 10}, text("packed-refs", "1%039x refs/heads/"+strings.Repeat("n", 200)+"%[1]d\n", 2000)), "refs/heads: more than 100 KiB of text"},
		"refs in files":                         {clone(meter.Limits{meter.Files: 100}, manyFiles("refs/heads/%d", strings.Repeat("1", 40), 200)), "refs/heads: more than 100 files"},
		"refs in files, read":                   {clone(meter.Limits{meter.Steps: 1000}, manyFiles("refs/heads/%d", strings.Repeat("1", 40), 200)), "refs/heads: more than 1,000 steps"},
		"what is no ref among those":            {clone(meter.Limits{meter.Nodes: 100}, manyFiles("refs/heads/%d.lock", "x", 200)), "refs/heads: more than 100 objects, refs and directory entries"},
		"packs":                                 {clone(meter.Limits{meter.Nodes: 1000}, manyPacks(20)), "more than 1,000 objects, refs and directory entries"},
		"a config of many sections":             {clone(meter.Limits{meter.Steps: 1000}, text("config", "[a \"%d\"]\n", 2000)), "config: more than 1,000 steps"},
		"a config of many URLs":                 {clone(meter.Limits{meter.Nodes: 1000}, text("config", "[url \"%d\"]\ninsteadOf = a\n", 2000)), "config: more than 1,000 objects, refs and directory entries"},
		"an index of names that begin alike":    {alike, ".pack: more than 1,000 objects, refs and directory entries"},
		"a config of many lines":                {clone(meter.Limits{meter.Bytes: 1 << 20}, text("config", "\n#%d", 100_000)), "config: more than 1 MiB of text"},
		"a shallow file":                        {clone(meter.Limits{meter.Nodes: 1000}, text("shallow", "%040x\n", 2000)), "shallow: more than 1,000 objects, refs and directory entries"},
		"an index that claims 18,000,000 names": {hollow, "object not found"},
		"loose objects that begin alike":        {abbreviated, "objects/ab: more than 100 files"},
		"a server's tiny objects":               {server(meter.Limits{meter.Steps: 1000}, func(p *packed) { blobs(p, 2000) }), "the server's pack: more than 1,000 steps"},
		"a server's objects that are looked at": {server(meter.Limits{meter.Nodes: 1000}, func(p *packed) { blobs(p, 2000) }), "the server's pack: more than 1,000 objects, refs and directory entries"},
		"a server's long commits":               {longCommits, "the server's pack: more than 1,000 steps"},
		"a server's commits":                    {server(meter.Limits{meter.Nodes: 1000}, func(p *packed) { chain(p, 2000) }), "more than 1,000 objects, refs and directory entries"},
		"a server's blob of zeroes":             {server(meter.Limits{meter.Steps: 1000}, func(p *packed) { p.put(plumbing.BlobObject, make([]byte, 4<<20)) }), "the server's pack: more than 1,000 steps"},
		"a server's deltas":                     {server(meter.Limits{meter.Steps: 10_000}, growing), "the server's pack: more than 10,000 steps"},
		"a server's merges of everything":       {server(meter.Limits{meter.Bytes: 1 << 18}, merges), "the history: more than 256 KiB of text"},
		"a server's list of refs":               {listing, "the server's list of refs: more than 1,000 objects, refs and directory entries"},
		"a history that is walked again":        {walked, "the history: more than 50,000 steps"},
		"long names in a few directories":       {longNames, "more than 8 MiB of text"},
		"parents that are missing":              {missing, "objects: more than 2,000 steps"},
		"a file of zeroes in many places":       {zeroes, "more than 50,000 steps"},
		"branches of one long history":          {compared, "the history: more than 1,000 steps"},
		"many changed paths, kept":              {changed(meter.Limits{meter.Nodes: 25_000}), "more than 25,000 objects, refs and directory entries"},
		"many changed paths":                    {changed(meter.Limits{meter.Steps: 1500}), "the changed paths: more than 1,500 steps"},
		"a history that is crossed":             {crossed, "more than 300 steps"},
	} {
		if !race.Some(3) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := bare(t)
			err := c.do(t, w)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
		})
	}
}

// manyFiles is files of one text.
func manyFiles(name, text string, n int) func(*world) {
	return func(w *world) {
		for i := range n {
			w.write(map[string]string{".git/" + fmt.Sprintf(name, i): text})
		}
	}
}

// manyPacks is packs of nothing, and a branch of which they have no commit.
func manyPacks(n int) func(*world) {
	return func(w *world) {
		newPacked(w.t).in(w)
		for i := range n {
			for _, form := range []string{".pack", ".idx"} {
				from := filepath.Join(w.dir, ".git/objects/pack/pack-0")
				if err := os.Link(from+form, fmt.Sprintf("%s%d%s", from, i, form)); err != nil {
					w.t.Fatal(err)
				}
			}
		}
		w.write(map[string]string{".git/refs/heads/main": strings.Repeat("1", 40)})
	}
}

// hollow looks for what no index has: files with holes in them cost whoever made them nothing.
func hollow(t *testing.T, w *world) error {
	hollowPacks(t, w)
	missing := plan.SHA(strings.Repeat("01", 20))
	return looked(t, w.dir, missing, missing, few)
}

// alike looks for what all names of an index begin with.
func alike(t *testing.T, w *world) error {
	hollowPacks(t, w)
	r, err := Open(meter.New(t.Context(), meter.Limits{meter.Nodes: 1000}), w.dir)
	if err == nil {
		_, err = r.Resolve("0000")
	}
	return err
}

func hollowPacks(t *testing.T, w *world) {
	t.Helper()
	const names = 18 << 20
	raw := []byte("\xfftOc\x00\x00\x00\x02")
	for range 256 {
		raw = binary.BigEndian.AppendUint32(raw, names)
	}
	for i := range 3 {
		path := filepath.Join(w.dir, ".git/objects/pack/pack-"+string(rune('a'+i)))
		if err := errors.Join(os.WriteFile(path+".pack", nil, 0o600), os.WriteFile(path+".idx", raw, 0o600), os.Truncate(path+".idx", indexHead+names*(nameSize+crcSize+placeSize)+2*nameSize)); err != nil {
			t.Fatal(err)
		}
	}
}

// abbreviated looks for a commit among many files.
func abbreviated(t *testing.T, w *world) error {
	w.mkdir("objects/ab")
	for i := range 200 {
		w.touch(fmt.Sprintf("objects/ab/%038x", i))
	}
	r, err := Open(meter.New(t.Context(), meter.Limits{meter.Files: 100}), w.dir)
	if err == nil {
		_, err = r.Resolve("abcd")
	}
	return err
}

// blobs is many that are small.
func blobs(p *packed, n int) {
	for i := range n {
		p.put(plumbing.BlobObject, fmt.Append(nil, i))
	}
}

// chain is commits, each upon the one before.
func chain(p *packed, n int) plumbing.Hash {
	h := p.commit(plumbing.ZeroHash)
	for range n {
		h = p.commit(plumbing.ZeroHash, h)
	}
	return h
}

// growing is commits that deltas make of one long one.
func growing(p *packed) {
	was := fmt.Appendf(nil, "tree %s\nauthor a <a@example.com> 1 +0000\ncommitter a <a@example.com> 1 +0000\n\n%s", plumbing.ZeroHash, strings.Repeat("x", maxCommit-1000))
	h, keep := p.put(plumbing.CommitObject, was), len(was)
	for i := range 50 {
		h, was = p.upon(h, plumbing.CommitObject, was, keep, fmt.Sprintf("%06d", i))
	}
}

// sent is what a server sent, in a run of its own that a pack allows no more.
func sent(t *testing.T, p *packed, l meter.Limits) (*pack, error) {
	t.Helper()
	got, err := spool(&account{ctx: t.Context(), meter: meter.New(t.Context(), l), packs: maxReceived}, strings.NewReader(""))
	if err == nil {
		got.bytes, got.size = bytes.NewReader(p.pack()), int64(len(p.pack()))
	}
	return got, err
}

// longCommits reads few that say much.
func longCommits(t *testing.T, _ *world) error {
	p := newPacked(t)
	for i := range 4 {
		p.put(plumbing.CommitObject, fmt.Appendf(nil, "tree %s\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\n%d%s", plumbing.ZeroHash, i, strings.Repeat("x", 500<<10)))
	}
	got, err := sent(t, p, meter.Limits{meter.Steps: 1000})
	if err == nil {
		err = got.commits(newGraph(got.cost))
	}
	return err
}

// merges is commits, each of all that came before.
func merges(p *packed) {
	var all []plumbing.Hash
	for range 500 {
		all = append(all, p.commit(plumbing.ZeroHash, all...))
	}
}

// listing is a server's answer of many lines.
func listing(t *testing.T, _ *world) error {
	a := &account{ctx: t.Context(), meter: meter.New(t.Context(), meter.Limits{meter.Nodes: 1000})}
	_, err := io.Copy(io.Discard, &limitedBody{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("x", 100_000))), left: maxListing, cost: a})
	return err
}

// walked reads a history that is read already, as each look does that reads deeper.
func walked(t *testing.T, w *world) error {
	p := newPacked(t)
	tip := chain(p, 6000)
	p.in(w)
	r, err := Open(meter.New(t.Context(), few), w.dir)
	if err != nil {
		return err
	}
	defer r.Close()            //nolint:errcheck // only read
	r.cost.packs = maxReceived // the pack allows no more
	g := newGraph(r.cost)
	for range 100 {
		if _, err := r.newest([]plumbing.Hash{tip}, math.MaxInt, g); err != nil {
			return err
		}
	}
	return nil
}

// longNames walks through directories that few entries make large.
func longNames(t *testing.T, w *world) error {
	p := newPacked(t)
	var dirs []string
	for i := range 3 {
		name := fmt.Sprint("d", i)
		dirs = append(dirs, entryText("40000", name, p.tree(wide(30, strings.Repeat("n", 100_000)+name, p.put(plumbing.BlobObject, nil)))))
	}
	head := p.commit(p.tree(dirs...))
	p.in(w)
	r, err := Open(meter.New(t.Context(), few), w.dir)
	if err != nil {
		return err
	}
	files, err := r.Tree(plan.SHA(head.String()))
	if err == nil {
		err = fs.WalkDir(files, ".", func(_ string, _ fs.DirEntry, err error) error { return err })
	}
	return errors.Join(err, r.Close())
}

// missing looks for a commit's parents, none of which is there.
func missing(t *testing.T, w *world) error {
	text := fmt.Sprintf("tree %s\n", plumbing.ZeroHash)
	for i := range 5000 {
		text += fmt.Sprintf("parent %s\n", numbered(i))
	}
	h := w.put(plumbing.CommitObject, []byte(text+"author a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n"))
	r, err := Open(meter.New(t.Context(), meter.Limits{meter.Steps: 2000}), w.dir)
	if err == nil {
		_, err = r.newest([]plumbing.Hash{h}, math.MaxInt, newGraph(r.cost))
	}
	return err
}

// zeroes asks again and again for what is larger than may be, as who reads a tree does that has it in many places.
func zeroes(t *testing.T, w *world) error {
	h := w.put(plumbing.BlobObject, make([]byte, maxTreeFile+1))
	r, err := Open(meter.New(t.Context(), meter.Limits{meter.Steps: 50_000}), w.dir)
	for range 50 {
		if err == nil {
			_, _ = r.content(plumbing.BlobObject, h, maxTreeFile)
			err = r.cost.meter.Err()
		}
	}
	return err
}

// compared asks how many branches stand to one that has all of their history.
func compared(t *testing.T, _ *world) error {
	g := newGraph(&account{ctx: t.Context(), meter: meter.New(t.Context(), meter.Limits{meter.Steps: 1000})})
	const long = 5000
	for i := range long {
		if err := g.add(&object.Commit{Hash: numbered(i + 1), ParentHashes: []plumbing.Hash{numbered(i)}}); err != nil {
			return err
		}
	}
	k := &survey{graph: g, follow: map[plumbing.Hash]*source{}, of: map[pair]standing{}}
	for i := range 100 {
		if err := g.add(&object.Commit{Hash: numbered(long + 1 + i), ParentHashes: []plumbing.Hash{numbered(long - 1)}}); err != nil {
			return err
		}
		k.follow[numbered(long)], k.of[pair{numbered(long), numbered(long + 1 + i)}] = nil, standing{}
	}
	return k.ask()
}

// changed lists what a change adds that is wide and says nothing: it is read once.
func changed(l meter.Limits) func(*testing.T, *world) error {
	return func(t *testing.T, w *world) error {
		base, head := shaped(t, w, 0, 5000, 1, []byte("y"))
		r, err := Open(meter.New(t.Context(), l), w.dir)
		if err == nil {
			r.cost.packs = maxReceived // the pack allows no more
			_, _, err = r.Changes(base, head)
		}
		return err
	}
}

// TestMovesEndWithTheRun: nothing is paired for a run that has ended.
func TestMovesEndWithTheRun(t *testing.T) {
	all := map[string]change{"a": {was: object.TreeEntry{Mode: filemode.Regular}}, "b": {is: object.TreeEntry{Mode: filemode.Regular}}}
	m := meter.New(t.Context(), meter.Limits{})
	cost := &account{ctx: m.Context(), meter: m}
	if got, _ := moves(cost, all, []string{"a", "b"}); got["b"] != "a" {
		t.Errorf("moves are %v", got)
	}
	m.Close()
	if got, _ := moves(cost, all, []string{"a", "b"}); len(got) != 0 {
		t.Errorf("moves of a run that ended are %v", got)
	}
}

// crossed asks how two histories stand to each other that have each other's commits as parents, again and again.
func crossed(t *testing.T, w *world) error {
	p := newPacked(t)
	a, b := p.commit(p.tree()), p.commit(p.tree(entryText("40000", "a", p.tree())))
	var all []plumbing.Hash
	for range 100 {
		all = append(all, a, b)
		a, b = p.commit(p.tree(), append(all, b)...), p.commit(p.tree(), append(all, a, b)...)
	}
	p.in(w)
	r, err := Open(meter.New(t.Context(), meter.Limits{meter.Steps: 300}), w.dir)
	if err == nil {
		r.cost.packs = maxReceived // the pack allows no more
		_, err = r.mergeBases(plan.SHA(a.String()), plan.SHA(b.String()))
	}
	return err
}

// TestHonest: a repository of 20,000 files, 600 directories and 500 commits, of which a change touches 500, is nowhere near a bound.
func TestHonest(t *testing.T) {
	w := bare(t)
	p := newPacked(t)
	tree := func(text string) plumbing.Hash {
		var apps []string
		for app := range 600 {
			var files []string
			for i := range 34 {
				content := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a%d-%d}\n%s", app, i, strings.Repeat("# some text\n", 30))
				if app < 500 && i == 0 {
					content += text
				}
				files = append(files, entryText("100644", fmt.Sprintf("config-map-of-some-length-%02d.yaml", i), p.put(plumbing.BlobObject, []byte(content))))
			}
			apps = append(apps, entryText("40000", fmt.Sprintf("an-app-of-some-team-%03d", app), p.tree(files...)))
		}
		return p.tree(entryText("40000", "apps", p.tree(apps...)))
	}
	base := p.commit(tree("a"))
	for i := range 500 {
		base = p.commit(p.tree(entryText("100644", fmt.Sprint(i), plumbing.ZeroHash)), base)
	}
	base = p.commit(tree("a"), base)
	head := p.commit(tree("b"), base)
	p.in(w)
	m := unhurried(t)
	r, err := Open(m, w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only a test
	changed, _, err := r.Changes(plan.SHA(base.String()), plan.SHA(head.String()))
	if err != nil || len(changed) != 500 {
		t.Fatal(len(changed), err)
	}
	for _, sha := range []plumbing.Hash{base, head} {
		files, err := r.Tree(plan.SHA(sha.String()))
		if err == nil {
			err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					_, err = fs.ReadFile(files, name)
				}
				return err
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, reading := range m.Readings() {
		if t.Log(reading); reading.Limit > 0 && reading.Used > reading.Limit/10 {
			t.Errorf("it takes %s", reading)
		}
	}
}
