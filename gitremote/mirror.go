package gitremote

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1" //nolint:gosec // git's own
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"

	"github.com/sluicegate/sluice/plan"
)

// Bounds of a mirror.
const (
	mirrorHaves = 64  // commits that the server is told of, the newest: what is near one of them comes as the difference
	mirrorPacks = 200 // packs of a mirror, each of one fetch; one more begins it anew
	unfinished  = "tmp-"
)

var errFull = errors.New("the mirror is full")

// Mirror fetches commits with their files, without their histories, into the bare repository in dir, which is made if there is none.
// [Open] reads it; the commits that are there are its shallow ones. What is there is not asked for again, and of a commit near
// one that is there only the difference comes. Files of more than maxTreeFile bytes are left out: reading one is ErrIncomplete.
//
// At most most bytes are kept. Where more would be, or what is there cannot be read, the mirror begins anew with the first of these commits, and goes on with the
// others; where they are more, the first alone stays, or nothing if that is more, and the error is ErrTooLarge. So whoever has the last of them cannot have the first one
// fetched without end. A commit that came without its tree is ErrIncomplete. After any other error, and wherever the process ended, the mirror has what it had before, or
// the first commit or nothing if it began anew. A mirror has one caller at a time, and nobody reads it meanwhile.
func (r *Remote) Mirror(ctx context.Context, dir string, most int64, wants ...plan.SHA) (err error) {
	defer r.fault("mirror", &err)
	r.cost.ctx = ctx
	var all []plumbing.Hash
	for _, sha := range wants {
		h, err := hash(sha)
		if err != nil {
			return err
		}
		if !slices.Contains(all, h) {
			all = append(all, h)
		}
	}
	m, err := openMirror(r.cost, dir, most)
	r.cost.room = dir // an image of nothing but the binary has no directory for temporary files
	if err != nil {
		return err
	}
	return r.update(ctx, m, all)
}

// update fetches what is missing.
func (r *Remote) update(ctx context.Context, m *mirror, wants []plumbing.Hash) error {
	err := r.grow(ctx, m, wants)
	// Perhaps it is the mirror's fault. What is too large, and a full disk, are not.
	broken := err != nil && m.received && ctx.Err() == nil && r.cost.meter.Err() == nil && !errors.Is(err, ErrTooLarge) && !errors.Is(err, syscall.ENOSPC)
	if broken && m.size > 0 || errors.Is(err, errFull) && (m.packs != 1 || !slices.Equal(m.commits, wants[:1])) {
		if err := m.clear(); err != nil {
			return err
		}
		for _, some := range [][]plumbing.Hash{wants[:1], wants} {
			if err = r.grow(ctx, m, some); err != nil {
				break
			}
		}
	}
	if errors.Is(err, errFull) {
		err = fmt.Errorf("%w: "+sayMirror, ErrTooLarge, m.most)
		if len(m.commits) == 0 {
			err = errors.Join(err, os.RemoveAll(m.dir))
		}
	}
	return err
}

// grow adds what is missing, as long as there is room.
func (r *Remote) grow(ctx context.Context, m *mirror, wants []plumbing.Hash) error {
	missing := slices.DeleteFunc(slices.Clone(wants), func(h plumbing.Hash) bool { return slices.Contains(m.commits, h) })
	if len(missing) == 0 {
		return nil
	}
	if m.packs >= mirrorPacks || m.size >= m.most {
		return errFull
	}
	haves := m.commits[max(0, len(m.commits)-mirrorHaves):]
	err := r.extend(ctx, m, missing, haves)
	if errors.Is(err, errNoBase) && len(haves) > 0 { // upon a file that was too large for the mirror
		err = r.extend(ctx, m, missing, nil)
	}
	return err
}

// extend makes one request, and adds what comes to the mirror.
func (r *Remote) extend(ctx context.Context, m *mirror, wants, haves []plumbing.Hash) (err error) {
	if r.up == nil {
		if _, err := r.connect(ctx); err != nil {
			return err
		}
	}
	if !r.caps.Supports(capability.Shallow) {
		return fmt.Errorf("%w: %s", errUnsupported, sayNoShallow)
	}
	a := ask{wants: wants, haves: haves, depth: 1, shallow: haves}
	p, err := r.fetch(ctx, a, packp.FilterBlobLimit(maxTreeFile+1, packp.BlobLimitPrefixNone))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	m.received = true
	return m.add(p, wants)
}

// mirror is a bare repository of commits without histories.
type mirror struct {
	dir     string
	cost    *account
	commits []plumbing.Hash // that are there, in the order in which they came
	most    int64           // bytes that its packs and their indexes may have
	size    int64           // that they have
	packs   int

	received bool // whole, from the server: what goes wrong then is a matter of the pack, or of the mirror
}

// openMirror makes a mirror where there is none, and removes what a process left that ended amid a call.
func openMirror(cost *account, dir string, most int64) (m *mirror, err error) {
	m = &mirror{dir: dir, cost: cost, most: most}
	err = errors.Join(os.MkdirAll(m.at("objects/pack"), 0o700), os.MkdirAll(m.at("refs"), 0o700), os.Chmod(dir, 0o700))
	if err == nil {
		err = m.sweep()
	}
	if _, none := os.Lstat(m.at("HEAD")); err == nil && none != nil {
		err = m.write(".", "HEAD", "ref: refs/heads/main\n") // which makes it a repository
	}
	if err == nil {
		m.commits, err = readShallow(cost, dir)
	}
	return m, err
}

// sweep counts the packs, and removes what is unfinished: temporary files, and packs without an index.
func (m *mirror) sweep() error {
	for _, dir := range []string{m.dir, m.at("objects/pack")} {
		found, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range found {
			path := filepath.Join(dir, e.Name())
			base, isPack := strings.CutSuffix(path, ".pack")
			_, alone := os.Lstat(base + ".idx")
			if isPack && alone != nil || strings.HasPrefix(e.Name(), unfinished) {
				if err := os.Remove(path); err != nil {
					return err
				}
				continue
			}
			if info, err := e.Info(); err == nil && dir != m.dir {
				m.size += info.Size()
			}
			if isPack {
				m.packs++
			}
		}
	}
	return nil
}

// at is the path of a file of the mirror.
func (m *mirror) at(name string) string { return filepath.Join(m.dir, name) }

// clear takes everything out. The list of commits goes first: it never names one whose objects are gone.
func (m *mirror) clear() error {
	if err := m.write(".", "shallow", ""); err != nil {
		return err
	}
	m.commits, m.size, m.packs = nil, 0, 0
	return errors.Join(os.RemoveAll(m.at("objects/pack")), os.Mkdir(m.at("objects/pack"), 0o700))
}

// add adds the objects of a received pack, with the wanted commits, none of which is there.
func (m *mirror) add(p *pack, wants []plumbing.Hash) (err error) {
	objects, err := openObjects(&account{ctx: m.cost.ctx, meter: m.cost.meter}, m.at("objects"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, objects.Close()) }()
	name := "pack-" + wants[0].String()
	var index bytes.Buffer
	var size int64
	err = m.put("objects/pack", name+".pack", func(f *os.File) error {
		z, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // fails for levels that do not exist
		w := &packWriter{file: f, z: z, at: packHead, most: m.most - m.size}
		if err := p.rewrite(w, objects, wants); err != nil {
			return err
		}
		size = w.at + nameSize
		return w.finish(&index)
	})
	if err == nil {
		err = m.write("objects/pack", name+".idx", index.String())
	}
	all := slices.Concat(m.commits, wants)
	var list strings.Builder
	for _, h := range all {
		list.WriteString(h.String() + "\n")
	}
	if err == nil {
		err = m.write(".", "shallow", list.String())
	}
	if err == nil {
		m.commits, m.size, m.packs = all, m.size+size+int64(index.Len()), m.packs+1
	}
	return err
}

// write puts a file into a directory of the mirror.
func (m *mirror) write(dir, name, text string) error {
	return m.put(dir, name, func(f *os.File) error {
		_, err := f.WriteString(text)
		return err
	})
}

// put puts a file that fill writes into a directory of the mirror, in the place of what stands there. Nobody reads it before it is whole and on the
// disk.
func (m *mirror) put(dir, name string, fill func(*os.File) error) error {
	dir = m.at(dir)
	f, err := os.CreateTemp(dir, unfinished)
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	at, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(at.Sync(), at.Close())
}

// rewrite copies a received pack, each object whole and under the hash of its content, without files that are too large: a pack whose deltas are based
// on what is elsewhere, which may be in known, needs no completing then. The wanted commits and their root trees must be in one of the two.
func (p *pack) rewrite(out *packWriter, known *objects, wants []plumbing.Hash) error {
	trees := map[plumbing.Hash]plumbing.Hash{} // of the wanted commits that came
	defer func() { p.cost.drop(int(out.count), 0) }()
	came, err := p.each(plumbing.AnyObject, maxTree, known.read, func(h plumbing.Hash, kind plumbing.ObjectType, content []byte) error {
		switch {
		case kind == plumbing.TagObject, kind == plumbing.BlobObject && len(content) > maxTreeFile:
			return nil // no part of a tree, or left out of it
		case kind == plumbing.CommitObject && len(content) > maxCommit:
			return fmt.Errorf("%w: a %s of %d bytes", ErrTooLarge, kind, len(content))
		case kind == plumbing.CommitObject && slices.Contains(wants, h):
			c, err := decodeCommit(content)
			if err != nil {
				return err
			}
			trees[h] = c.TreeHash
		}
		if err := p.cost.hold(1, 0, sentPack); err != nil { // what the index says of it
			return err
		}
		return out.add(h, kind, content)
	})
	if err != nil {
		return err
	}
	for _, commit := range wants {
		tree, ok := trees[commit]
		if !ok {
			return fmt.Errorf("read objects: %w: commit %s", ErrIncomplete, commit)
		}
		if _, ok := came[tree]; !ok {
			_, _, err := known.read(tree, maxTree)
			if errors.Is(err, plumbing.ErrObjectNotFound) {
				err = fmt.Errorf("%w: tree %s of commit %s", ErrIncomplete, tree, commit)
			}
			if err != nil {
				return fmt.Errorf("read objects: %w", err)
			}
		}
	}
	return nil
}

// packWriter writes a pack without deltas.
type packWriter struct {
	file  *os.File
	buf   bytes.Buffer // one object
	z     *zlib.Writer
	at    int64
	most  int64 // bytes of the pack and its index
	count uint32
	index idxfile.Writer
}

// packHead is what a pack begins with: magic, version, and how many objects there are.
const packHead = 12

// add adds an object; errFull: it would be too much.
func (w *packWriter) add(h plumbing.Hash, kind plumbing.ObjectType, content []byte) error {
	w.buf.Reset()
	first := byte(kind)<<4 | byte(len(content)&15)
	for rest := len(content) >> 4; rest > 0; rest >>= 7 {
		w.buf.WriteByte(first | 0x80)
		first = byte(rest & 0x7f)
	}
	w.buf.WriteByte(first)
	w.z.Reset(&w.buf)
	_, _ = w.z.Write(content) // writing to memory cannot fail
	_ = w.z.Close()
	w.count++
	index := indexHead + int64(w.count)*(nameSize+crcSize+placeSize) + 2*nameSize
	if w.at+int64(w.buf.Len())+nameSize+index > w.most {
		return errFull
	}
	if _, err := w.file.WriteAt(w.buf.Bytes(), w.at); err != nil {
		return err
	}
	w.index.Add(h, uint64(w.at), crc32.ChecksumIEEE(w.buf.Bytes()))
	w.at += int64(w.buf.Len())
	return nil
}

// finish writes what begins and ends the pack, and its index.
func (w *packWriter) finish(to io.Writer) error {
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), w.count)
	if _, err := w.file.WriteAt(head, 0); err != nil {
		return err
	}
	digest := sha1.New() //nolint:gosec // git's own
	if _, err := io.Copy(digest, io.NewSectionReader(w.file, 0, w.at)); err != nil {
		return err
	}
	sum := plumbing.Hash(digest.Sum(nil))
	if _, err := w.file.WriteAt(sum[:], w.at); err != nil {
		return err
	}
	if err := w.index.OnFooter(sum); err != nil {
		return err
	}
	index, err := w.index.Index()
	if err == nil {
		_, err = idxfile.NewEncoder(to).Encode(index)
	}
	return err
}
