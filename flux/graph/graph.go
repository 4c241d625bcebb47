// Package graph says where by references: which clusters a repository is for, which Flux objects each of them has, and what its Flux
// Kustomizations read.
//
// A [Tree] is the Flux objects of a repository as they stand in its files. [Tree.Clusters] finds the clusters: a cluster is a root, the
// directory that Flux is pointed at, and whatever follows from it: the objects below the root, and those that the paths of its Flux
// Kustomizations lead to. On the way a few things that kustomize and Flux would do are done as far as they decide that: lists of resources,
// bases and components, patches, labels and annotations, the namespace, and variables whose values stand in `postBuild.substitute`.
// Whatever else a kustomization.yaml names is read as a file. Where kustomize may make other objects of Flux than that, they are built, by somebody
// else ([Tree.Builder]); what nobody could build is what an entry point is unsure of ([Entry.Unsure]). What a remote base holds is not fetched. Where the
// graph ends is a [Leaf].
//
// A tree of which some files changed is read by [Tree.Again]: what no changed file touches is shared with the tree before it, and never written to
// but for what is looked up once. Trees that share are for one goroutine.
//
// The package is pure over an [fs.FS] and knows no file of ours.
//
// How it fails: the tree is hostile, and every bound is a constant of limits.go, or of the [meter.Meter] of the run. What is not read, because it is too large, no YAML or
// beyond a bound, is a [Problem] with its place, and the rest is read all the same; whoever must not miss anything looks at the problems.
// Aliases are read as what they stand for, as far as all of them stand for no more than a document may have.
package graph

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/sluicegate/sluice/meter"
)

// kTree is what the files of a repository say.
type kTree struct {
	Reader

	fs     fs.FS
	sorted []string // files, once they were asked for
	// submodules is the directories of submodules, once they were asked for.
	submodules []string
	ignored    map[string]Ignores  // by directory, once they were asked for
	results    map[string]*result  // what entry points read, from the last time that clusters were found
	older      map[string]*result  // those of the tree that was read before, whatever has changed
	contents   map[string]*content // what YAML files say
	raw        map[string]bool     // files of which every byte may count for results and found: patches, and what generators load
	unaltered  bool                // each file says what it said in the tree before
	watch      *Watch              // what is found now
	builds     map[string]*build   // what kustomization.yaml says, by directory
	dirs       map[string]bool     // every directory that has a file in it or below
	files      map[string]bool     // every file
	links      map[string]bool     // symbolic links that are called .sourceignore: Flux follows them
	inside     map[string][]string // the files directly in a directory, sorted
	below      map[string][]string // the directories directly in a directory, sorted
}

// kRead reads the YAML files of a tree as a part of a run. What is beyond the bounds of that is not read. It fails only if the tree cannot be listed; what
// else is wrong is a problem of the tree. Symbolic links are not followed, as Flux does not copy them, and what it leaves out of every repository that says
// nothing else is not read.
func kRead(m *meter.Meter, tree fs.FS) (*kTree, error) {
	t := empty(m, tree)
	if err := t.traverse(t.readContent); err != nil {
		return nil, err
	}
	t.named()
	t.gather()
	t.stopped()
	return t, nil
}

// empty is a tree of which nothing was read.
func empty(m *meter.Meter, tree fs.FS) *kTree {
	return &kTree{
		Reader: NewReader(m), fs: tree, contents: map[string]*content{}, builds: map[string]*build{},
		dirs: map[string]bool{".": true}, files: map[string]bool{}, inside: map[string][]string{}, below: map[string][]string{},
		results: map[string]*result{}, raw: map[string]bool{}, ignored: map[string]Ignores{},
		links: map[string]bool{},
	}
}

// traverse lists the files, and has those read that are read for what they say.
func (t *kTree) traverse(read func(name string) *content) error {
	return fs.WalkDir(t.fs, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case t.Meter().Take(meter.Files, 1, name) != nil || t.hold(name, 0, nameBytes+len(name)):
			return fs.SkipAll
		}
		if !entry.Type().IsRegular() {
			t.link(name, entry.Type())
			return nil
		}
		t.add(name)
		if isRead(name) {
			t.put(name, read(name))
		}
		return nil
	})
}

// isManifest reports whether Flux applies a file of a directory without a kustomization.yaml.
func isManifest(name string) bool { return isYAML(name) && !leftOut(name) }

// IsBuild reports whether kustomize takes a file for what a directory is built of.
func IsBuild(name string) bool { return slices.Contains(BuildNames(), path.Base(name)) }

// BuildNames is what kustomize takes for what a directory is built of, in the order in which it looks for it.
func BuildNames() []string {
	return []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}
}

// isRead reports whether a file is read for what it says.
func isRead(name string) bool { return (isYAML(name) || IsBuild(name)) && !leftOut(name) }

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
func (t *kTree) ReadWhole(name string, limit int) ([]byte, error) {
	t.raw[name] = true
	return ReadFile(t.fs, name, limit)
}

// docs is the documents of a file that were read, in its order.
func (t *kTree) docs(file string) []*doc {
	if c := t.contents[file]; c != nil {
		return c.docs
	}
	return nil
}
