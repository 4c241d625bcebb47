package build

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/sluicegate/sluice/flux/manifest"
)

// files is the tree in memory. Nobody writes to it.
type files struct {
	text map[string][]byte   // by path from the root
	left map[string]bool     // that are in the tree, and were not read
	dirs map[string]bool     // every directory that has a file in it or below
	in   map[string][]string // what stands directly in a directory, by path, sorted
}

func newFiles() *files {
	return &files{text: map[string][]byte{}, left: map[string]bool{}, dirs: map[string]bool{".": true}, in: map[string][]string{}}
}

// add puts a file into the tree; one without a text is in it, and was not read.
func (f *files) add(name string, text []byte, left bool) {
	if left {
		f.left[name] = true
	} else {
		f.text[name] = text
	}
	for above := path.Dir(name); ; name, above = above, path.Dir(above) {
		f.in[above] = append(f.in[above], name)
		if f.dirs[above] {
			return
		}
		f.dirs[above] = true
	}
}

func (f *files) sort() {
	for _, names := range f.in {
		slices.Sort(names)
	}
}

// clean is a path below the root, however the system writes it.
func clean(name string) string { return manifest.Clean(filepath.ToSlash(name)) }

// view is the tree as kustomize sees it: read-only, with one file laid over it.
type view struct {
	filesys.FileSystem // none: what is not below is never asked for
	*lookup
	over    string
	content []byte
}

// ReadFile implements filesys.FileSystem.
func (v view) ReadFile(name string) ([]byte, error) {
	name = clean(name)
	if name == v.over {
		return v.content, nil
	}
	text, ok := v.text(name)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return text, nil
}

// CleanedAbs implements filesys.FileSystem.
func (v view) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	name = clean(name)
	if v.directory(name) {
		return filesys.ConfirmedDir(path.Join("/", name)), "", nil
	}
	if _, file := v.text(name); file || name == v.over {
		return filesys.ConfirmedDir(path.Join("/", path.Dir(name))), path.Base(name), nil
	}
	return "", "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

var errReadOnly = errors.New("the tree is only read")

// Exists implements filesys.FileSystem.
func (v view) Exists(name string) bool {
	_, _, err := v.CleanedAbs(name)
	return err == nil
}

// IsDir implements filesys.FileSystem.
func (v view) IsDir(name string) bool { return v.directory(clean(name)) }

// RemoveAll implements filesys.FileSystem.
func (view) RemoveAll(string) error { return errReadOnly }

// WriteFile implements filesys.FileSystem.
func (view) WriteFile(string, []byte) error { return errReadOnly }
