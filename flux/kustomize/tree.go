// Package kustomize says what kustomize makes of a directory of a repository, as far as that can be read without building it.
//
// A [Tree] is the files of a repository and the documents in them. A [Walk] answers a [Request]: what stands in a directory, or what its kustomization.yaml makes of
// that and of what it names: lists of resources, bases and components, patches, labels and annotations, the namespace. Whatever else it names is
// read as a file. Where kustomize may make other objects of Flux than that, they are built, by somebody else; what nobody could build the [Result]
// is unsure of. What a remote base holds is not fetched: where what is read ends is a [Leaf].
//
// A tree of which some files changed is read by [Tree.Again]: what no changed file touches is shared with the tree before it, and never written to
// but for what is looked up once. Trees that share are for one goroutine.
//
// How it fails: the tree is hostile, and every bound is a constant of limits.go, or of the [meter.Meter] of the run. What is not read, because it is too large or
// beyond a bound, is a [manifest.Problem] with its place, and the rest is read all the same.
package kustomize

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/meter"
)

// Tree is what the files of a repository say.
type Tree struct {
	manifest.Reader

	fs     fs.FS
	sorted []string // files, once they were asked for
	// submodules is the directories of submodules, once they were asked for.
	submodules []string
	ignored    map[string]Ignores  // by directory, once they were asked for
	results    map[string]*Result  // what entry points read, from the last time that clusters were found
	older      map[string]*Result  // those of the tree that was read before, whatever has changed
	Contents   map[string]*Content // what YAML files say
	raw        map[string]bool     // files of which every byte may count for results and found: patches, and what generators load
	unaltered  bool                // each file says what it said in the tree before
	watch      *Watch              // what is found now
	Builds     map[string]*Build   // what kustomization.yaml says, by directory
	Dirs       map[string]bool     // every directory that has a file in it or below
	Files      map[string]bool     // every file
	Links      map[string]bool     // symbolic links that are called .sourceignore: Flux follows them
	patterned  map[string]bool     // files called so that have a pattern
	Inside     map[string][]string // the files directly in a directory, sorted
	Below      map[string][]string // the directories directly in a directory, sorted
}

// Read reads the YAML files of a tree as a part of a run. It fails only if the tree cannot be listed; what else is wrong is a problem of the tree. Symbolic links
// are not followed, as Flux does not copy them, and what it leaves out of every repository that says nothing else is not read.
func Read(m *meter.Meter, tree fs.FS) (*Tree, error) {
	t := empty(m, tree)
	if err := t.traverse(t.readContent); err != nil {
		return nil, err
	}
	t.named()
	t.gather()
	t.Stopped()
	return t, nil
}

// empty is a tree of which nothing was read.
func empty(m *meter.Meter, tree fs.FS) *Tree {
	return &Tree{
		Reader: manifest.NewReader(m), fs: tree, Contents: map[string]*Content{}, Builds: map[string]*Build{},
		Dirs: map[string]bool{".": true}, Files: map[string]bool{}, Inside: map[string][]string{}, Below: map[string][]string{},
		results: map[string]*Result{}, raw: map[string]bool{}, ignored: map[string]Ignores{},
		Links: map[string]bool{}, patterned: map[string]bool{},
	}
}

// traverse lists the files, and has those read that are read for what they say.
func (t *Tree) traverse(read func(name string) *Content) error {
	return fs.WalkDir(t.fs, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case t.Meter().Take(meter.Files, 1, name) != nil || t.Hold(name, 0, nameBytes+len(name)):
			return fs.SkipAll
		}
		if !entry.Type().IsRegular() {
			t.link(name, entry.Type())
			return nil
		}
		t.add(name)
		t.patterns(name)
		if isRead(name) {
			t.put(name, read(name))
		}
		return nil
	})
}

// IsManifest reports whether Flux applies a file of a directory without a kustomization.yaml.
func IsManifest(name string) bool { return IsYAML(name) && !LeftOut(name) }

// IsBuild reports whether kustomize takes a file for what a directory is built of.
func IsBuild(name string) bool { return slices.Contains(BuildNames(), path.Base(name)) }

// BuildNames is what kustomize takes for what a directory is built of, in the order in which it looks for it.
func BuildNames() []string {
	return []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}
}

// isRead reports whether a file is read for what it says.
func isRead(name string) bool { return (IsYAML(name) || IsBuild(name)) && !LeftOut(name) }

// ReadFile reads a regular file of no more bytes than a limit.
func ReadFile(tree fs.FS, name string, limit int) ([]byte, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, errors.New(wordUnreadable)
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.New(wordIrregular)
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	switch {
	case err != nil:
		return nil, errors.New(wordUnreadable)
	case len(data) > limit:
		return nil, errors.New(wordLargeFile(limit))
	}
	return data, nil
}

// ReadWhole reads a file of the tree of which every byte may count from now on.
func (t *Tree) ReadWhole(name string, limit int) ([]byte, error) {
	t.raw[name] = true
	return ReadFile(t.fs, name, limit)
}

// Docs is the documents of a file that were read, in its order.
func (t *Tree) Docs(file string) []*manifest.Doc {
	if c := t.Contents[file]; c != nil {
		return c.Docs
	}
	return nil
}

// filesOfStep is how many files of a list are a step.
const filesOfStep = 16

// Within is the files of directories, and those of some others that there are.
func (t *Tree) Within(dirs, others []string) []string {
	if t.sorted == nil {
		t.sorted = manifest.SortedKeys(t.Files)
	}
	var out []string
	for _, dir := range dirs {
		t.Look(dir, true)
		at, end := 0, len(t.sorted)
		if dir != "." {
			at, _ = slices.BinarySearch(t.sorted, dir+"/")
			end, _ = slices.BinarySearch(t.sorted, dir+"0") // which comes next to the slash
		}
		if t.Step(dir, 1+(end-at)/filesOfStep) {
			return nil
		}
		out = append(out, t.sorted[at:end]...)
	}
	for _, file := range others {
		file = manifest.Clean(file)
		if t.Look(file, false); t.Files[file] {
			out = append(out, file)
		}
	}
	return out
}
