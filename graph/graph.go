// Package graph says where by references: which clusters a repository is for, which Flux objects each of them has, and what its Flux
// Kustomizations read.
//
// A [Tree] is the Flux objects of a repository as they stand in its files. [Tree.Clusters] finds the clusters: a cluster is a root, the
// directory that Flux is pointed at, and whatever follows from it: the objects below the root, and those that the paths of its Flux
// Kustomizations lead to. On the way a few things that kustomize and Flux would do are done as far as they decide that: lists of resources,
// bases and components, patches of Flux Kustomizations and CronJobs, the namespace, and variables whose values stand in `postBuild.substitute`.
// Nothing is built: what generators and transformers make is not seen, and what a remote base holds is not fetched.
//
// The package is pure over an [fs.FS] and knows no file of ours.
//
// How it fails: the tree is hostile, and every bound is a constant of limits.go. What is not read, because it is too large, no YAML or
// beyond a bound, is a [Problem] with its place, and the rest is read all the same; whoever must not miss anything looks at the problems.
// Aliases are never expanded: one that stands for a short text is read as that text, any other as nothing, with a problem.
package graph

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Place is where something stands in the repository.
type Place struct {
	File string // relative to the root, with slashes
	Line int    // from 1
}

// String is the place as compilers print one; "" for no place.
func (p Place) String() string {
	if p.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Problem is something that was not read, and why.
type Problem struct {
	Place
	Text string
}

// String is the problem as compilers print one.
func (p Problem) String() string { return strings.TrimPrefix(p.Place.String()+": "+p.Text, ": ") }

// Tree is what the files of a repository say.
type Tree struct {
	Problems []Problem // at most MaxProblems

	fs      fs.FS
	kept    int                 // documents
	parsed  int                 // bytes of documents, as they are kept, and of patches
	sorted  []string            // files, once they were asked for
	skimmed int                 // bytes of documents
	docs    map[string][]*doc   // by file, in its order
	others  map[string]bool     // files with documents that are not among docs
	builds  map[string]*build   // what kustomization.yaml says, by directory
	dirs    map[string]bool     // every directory that has a file in it or below
	files   map[string]bool     // every file
	inside  map[string][]string // the files directly in a directory, sorted
	below   map[string][]string // the directories directly in a directory, sorted
}

// Read reads the YAML files of a tree. It fails only if the tree cannot be listed; what else is wrong is a problem of the tree. Hidden
// directories are not looked into, symbolic links not followed.
func Read(tree fs.FS) (*Tree, error) {
	t := &Tree{
		fs:   tree,
		docs: map[string][]*doc{}, others: map[string]bool{}, builds: map[string]*build{}, dirs: map[string]bool{".": true}, files: map[string]bool{},
		inside: map[string][]string{}, below: map[string][]string{},
	}
	entries, read, bytes := 0, 0, 0
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entries >= MaxEntries:
			t.problem(Place{}, wordManyFiles())
			return fs.SkipAll
		}
		entries++
		if entry.IsDir() {
			return nil
		}
		t.add(name)
		if !entry.Type().IsRegular() || !isManifest(name) && !isBuild(name) {
			return nil
		}
		if read >= MaxYAML || bytes >= MaxBytes {
			t.problem(Place{File: name}, wordMuchYAML())
			return nil
		}
		data, err := readFile(tree, name)
		if err != nil {
			t.problem(Place{File: name}, err.Error())
			return nil
		}
		read, bytes = read+1, bytes+len(data)
		t.parse(name, data)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// add notes a file and the directories that it is in.
func (t *Tree) add(name string) {
	t.files[name] = true
	dir := path.Dir(name)
	t.inside[dir] = append(t.inside[dir], name)
	for dir != "." && !t.dirs[dir] {
		t.dirs[dir] = true
		above := path.Dir(dir)
		t.below[above] = append(t.below[above], dir)
		dir = above
	}
}

// problem keeps what is wrong, as long as it is not too much.
func (t *Tree) problem(at Place, text string) {
	if len(t.Problems) < MaxProblems && !slices.Contains(t.Problems, Problem{at, text}) {
		t.Problems = append(t.Problems, Problem{at, text})
	}
}

// isManifest reports whether Flux applies a file of a directory without a kustomization.yaml.
func isManifest(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// isBuild reports whether kustomize takes a file for what a directory is built of.
func isBuild(name string) bool {
	base := path.Base(name)
	return base == "kustomization.yaml" || base == "kustomization.yml" || base == "Kustomization"
}

// readFile reads a file no further than it may be long.
func readFile(tree fs.FS, name string) ([]byte, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, errors.New(wordUnreadable)
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.New(wordIrregular)
	}
	data, err := readAll(f, MaxFile+1)
	switch {
	case err != nil:
		return nil, errors.New(wordUnreadable)
	case len(data) > MaxFile:
		return nil, errors.New(wordLargeFile())
	}
	return data, nil
}

// Objects is every Flux object and CronJob as it stands in its file, by file and line: nothing is patched, and variables are as written.
func (t *Tree) Objects() Objects {
	var out Objects
	for _, file := range sortedKeys(t.docs) {
		for _, d := range t.docs[file] {
			out.add(t, d)
		}
	}
	out.link(0)
	return out
}
