package build

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// Cache keeps on the disk what entries made: a content-addressed cache. A file in it is for one entry and one program that builds, and says for what
// answers of a tree it holds: all that the build asked for, also what was not there. If a tree gives the same answers, the build would ask the same
// again and make the same. Commits, times and other files have no part in it.
//
// Only what was built is kept: what failed is built anew each time. How it fails: as if nothing were kept. A file that is broken, too large or not one
// of ours is no more than one that is not there, and what cannot be written is not kept. Several processes may use one directory; in one of them it is
// for one job at a time. Where there is no directory, a process remembers: what a change leaves as it was is built once.
type Cache struct {
	dir  string
	used time.Time // what is read or written now was used then

	open    sync.Once
	root    *os.Root // nil: it is remembered
	memory  map[sum][]byte
	bytes   int         // of memory
	command []string    // of the last job
	file    fs.FileInfo // its program
	program sum         // the hash of both
}

// Bounds of what is kept.
const (
	// maxCache is how many bytes all files may take; what was not used for the longest time goes first.
	maxCache = 64 << 20
	// maxKept is how many bytes one of them may have.
	maxKept = 8 << 20
	// maxMemory is how many bytes are remembered where there is no directory.
	maxMemory = 16 << 20
	// maxTrees is for how many trees a file says what an entry makes: a branch and what it comes from, of two people or two working trees.
	maxTrees = 4
	// maxAsked is how many questions may be kept; an entry of 10,000 files asks some 50,000.
	maxAsked = 200_000
	// maxListed is how many files of the directory are looked at, where somebody filled it.
	maxListed = 100_000
	// block is what a small file takes on the disk, in bytes.
	block = 4 << 10
)

// NewCache is the cache in a directory; now is when it is used, until [Cache.Use]. The directory is made for the user alone, when first something is built. One that cannot
// be made, or that belongs to others or may be changed by them, and none, are not used.
func NewCache(dir string, now time.Time) *Cache {
	return &Cache{dir: dir, used: now, memory: map[sum][]byte{}}
}

// Use says when what is read or written from here on is used.
func (c *Cache) Use(now time.Time) { c.used = now }

// ready reports whether the directory is used.
func (c *Cache) ready() bool {
	c.open.Do(func() {
		if c.dir == "" || os.MkdirAll(c.dir, 0o700) != nil {
			return
		}
		root, err := os.OpenRoot(c.dir)
		if err != nil {
			return
		}
		if info, err := root.Stat("."); err != nil || !private(info) {
			_ = root.Close()
			return
		}
		c.root = root
	})
	return c.root != nil
}

// Close ends the use of the directory.
func (c *Cache) Close() {
	if c == nil {
		return
	}
	c.open.Do(func() {}) // it is not opened for this
	if c.root != nil {
		_ = c.root.Close()
	}
}

// get is what is kept of an entry and holds for a tree.
func (c *Cache) get(key sum, tree *answers) (outcome, bool) {
	if c == nil {
		return outcome{}, false
	}
	for _, o := range c.read(key) {
		if len(o.Asked) > 0 && o.keeps() && tree.digest(o.Asked) == o.Digest {
			if c.root != nil {
				_ = c.root.Chtimes(fileOf(key), c.used, c.used)
			}
			return o, true
		}
	}
	return outcome{}, false
}

// put keeps what an entry made of a tree, before what it made of others.
func (c *Cache) put(key sum, o outcome, tree *answers) {
	// The child says to what it built by. Were that not the tree of who asks, the wrong one would be compared ever after.
	if c == nil || !o.keeps() || len(o.Asked) == 0 || len(o.Asked) > maxAsked || tree.digest(o.Asked) != o.Digest {
		return
	}
	all := []outcome{o}
	for _, k := range c.read(key) {
		if k.Digest != o.Digest && len(all) < maxTrees {
			all = append(all, k)
		}
	}
	for ; len(all) > 0; all = all[:len(all)-1] {
		if text, err := json.Marshal(all); err == nil && len(text) <= maxKept-sha256.Size {
			c.write(key, text)
			return
		}
	}
}

func fileOf(key sum) string { return hex.EncodeToString(key[:]) }

// read is what is kept of an entry; nothing, if it is not what was written, as a whole.
func (c *Cache) read(key sum) (out []outcome) {
	data := c.memory[key]
	if c.ready() {
		data = c.readFile(fileOf(key))
	}
	if len(data) < sha256.Size || len(data) > maxKept || sha256.Sum256(data[sha256.Size:]) != sum(data[:sha256.Size]) {
		return nil
	}
	if json.Unmarshal(data[sha256.Size:], &out) != nil {
		return nil
	}
	return out
}

// readFile is what stands in a file.
func (c *Cache) readFile(name string) []byte {
	if info, err := c.root.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxKept {
		return nil
	}
	f, err := c.root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(f, maxKept+1))
	if err != nil {
		return nil
	}
	return data
}

// write replaces a file at once, by one that is already written, or remembers what would stand there.
func (c *Cache) write(key sum, text []byte) {
	hash := sha256.Sum256(text)
	text = append(hash[:], text...)
	if !c.ready() {
		if more := len(text) - len(c.memory[key]); c.bytes+more <= maxMemory {
			c.memory[key], c.bytes = text, c.bytes+more
		}
		return
	}
	name := "new-" + rand.Text()
	f, err := c.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if err = cmp.Or(err, f.Close()); err == nil {
		_ = c.root.Chtimes(name, c.used, c.used)
		err = c.root.Rename(name, fileOf(key))
	}
	if err != nil {
		_ = c.root.Remove(name)
	}
}

// trim removes what was not used for the longest time, until the rest is no more than it may be.
func (c *Cache) trim() {
	if !c.ready() {
		return // it is bounded as it is
	}
	dir, err := c.root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()                             //nolint:errcheck // only read
	entries, _ := dir.ReadDir(maxListed)          // what it gives before an error counts
	files := make([]fs.FileInfo, 0, len(entries)) // nothing else stands there
	var bytes int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			files, bytes = append(files, info), bytes+onDisk(info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, f := range files {
		if bytes <= maxCache {
			return
		}
		if c.root.Remove(f.Name()) == nil {
			bytes -= onDisk(f)
		}
	}
}

func onDisk(f fs.FileInfo) int64 { return (f.Size() + block - 1) / block * block }

// identity is the hash of the program that builds: another one builds otherwise, as far as anybody knows. ok is false if it cannot be read, or nothing is
// kept. It is read once as long as its file stays as it is: many jobs follow each other where each builds little.
func (c *Cache) identity(command []string) (id sum, ok bool) {
	if c == nil || !c.ready() {
		return id, c != nil // it is the same program as long as it is remembered
	}
	file, err := os.Stat(command[0])
	if err != nil {
		return id, false
	}
	if c.file == nil || !os.SameFile(c.file, file) || !c.file.ModTime().Equal(file.ModTime()) || c.file.Size() != file.Size() || !slices.Equal(c.command, command) {
		program, ok := hashOf(command)
		if !ok {
			return id, false
		}
		c.program, c.command, c.file = program, command, file
	}
	return c.program, true
}

func hashOf(command []string) (id sum, ok bool) {
	f, err := os.Open(command[0])
	if err != nil {
		return id, false
	}
	defer f.Close() //nolint:errcheck // only read
	h := sha256.New()
	write(h, command[1:]...)
	if _, err := io.Copy(h, f); err != nil {
		return id, false
	}
	return sum(h.Sum(nil)), true
}

// keyOf is what an entry is kept by: the program, what is built, and the limit that refuses what is built. The others only say when to give up.
func keyOf(program sum, entry []byte, l Limits) sum {
	objects, err := json.Marshal(l.Objects)
	if err != nil {
		panic(err) // it is a number
	}
	h := sha256.New()
	write(h, string(program[:]), string(entry), string(objects))
	return sum(h.Sum(nil))
}
