package oracle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// top is where an artifact lies in the file system that it is built over.
const top = "/artifact"

// overlay is an artifact that can be written over, and that remembers what it was asked. What is written is no part of the artifact.
type overlay struct {
	files   map[string]string // by absolute path
	dirs    map[string][]string
	written map[string]string
	trace   trace
}

// trace is what was asked of an artifact, and what it answered.
type trace []probe

// probe is one question. The answers of a tree that gives the same ones to all of a build's questions make the same build.
type probe struct{ op, path, answer string }

// newOverlay is an artifact by paths in it.
func newOverlay(files map[string]string) *overlay {
	o := &overlay{files: make(map[string]string, len(files)), dirs: map[string][]string{"/": {path.Base(top)}, top: nil}, written: map[string]string{}}
	for name, text := range files {
		p := path.Join(top, name)
		o.files[p] = text
		for child, dir := p, path.Dir(p); ; child, dir = dir, path.Dir(dir) {
			_, known := o.dirs[dir]
			if !slices.Contains(o.dirs[dir], path.Base(child)) {
				o.dirs[dir] = append(o.dirs[dir], path.Base(child))
			}
			if known {
				break
			}
		}
	}
	for _, names := range o.dirs {
		sort.Strings(names)
	}
	return o
}

// inside is a path of the file system as one of the artifact's; "": it is none.
func inside(p string) string {
	if p == top {
		return "."
	}
	rel, ok := strings.CutPrefix(p, top+"/")
	if !ok {
		return ""
	}
	return rel
}

func clean(p string) string { return path.Join("/", p) }

// ask answers a question, and remembers it.
func (o *overlay) ask(op, p string) string {
	answer := o.answer(op, p)
	o.trace = append(o.trace, probe{op, p, answer})
	return answer
}

// The answers to questions about what is not there, and the questions.
const (
	nothing = "\x00nothing"
	isFile  = "\x00file"
	isDir   = "\x00dir"
	opRead  = "read"
	opStat  = "stat"
	opList  = "list"
)

func (o *overlay) answer(op, p string) string {
	text, file := o.files[p]
	names, dir := o.dirs[p]
	switch {
	case op == opRead && file:
		return text
	case op == opStat && file:
		return isFile
	case op == opStat && dir:
		return isDir
	case op == opList && dir:
		return strings.Join(names, "\n")
	}
	return nothing
}

// agrees reports whether another artifact gives the same answers.
func (t trace) agrees(o *overlay) bool {
	for _, p := range t {
		if o.answer(p.op, p.path) != p.answer {
			return false
		}
	}
	return true
}

// read is the files of the artifact that were read.
func (t trace) read() []string {
	var out []string
	for _, p := range t {
		if name := inside(p.path); p.op == opRead && p.answer != nothing && name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var errReadOnly = errors.New("kustomize writes no such thing")

// Create implements [filesys.FileSystem].
func (o *overlay) Create(string) (filesys.File, error) { return nil, errReadOnly }

// Mkdir implements [filesys.FileSystem].
func (o *overlay) Mkdir(string) error { return errReadOnly }

// MkdirAll implements [filesys.FileSystem].
func (o *overlay) MkdirAll(string) error { return errReadOnly }

// RemoveAll implements [filesys.FileSystem].
func (o *overlay) RemoveAll(string) error { return errReadOnly }

// Open implements [filesys.FileSystem].
func (o *overlay) Open(string) (filesys.File, error) { return nil, errReadOnly }

// WriteFile implements [filesys.FileSystem].
func (o *overlay) WriteFile(p string, data []byte) error {
	o.written[clean(p)] = string(data)
	return nil
}

// IsDir implements [filesys.FileSystem].
func (o *overlay) IsDir(p string) bool {
	p = clean(p)
	if _, ok := o.written[p]; ok {
		return false
	}
	return o.ask(opStat, p) == isDir
}

// Exists implements [filesys.FileSystem].
func (o *overlay) Exists(p string) bool {
	p = clean(p)
	if _, ok := o.written[p]; ok {
		return true
	}
	return o.ask(opStat, p) != nothing
}

// ReadFile implements [filesys.FileSystem].
func (o *overlay) ReadFile(p string) ([]byte, error) {
	p = clean(p)
	if text, ok := o.written[p]; ok {
		o.ask(opRead, p) // what it stands for counts
		return []byte(text), nil
	}
	if text := o.ask(opRead, p); text != nothing {
		return []byte(text), nil
	}
	return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
}

// ReadDir implements [filesys.FileSystem].
func (o *overlay) ReadDir(p string) ([]string, error) {
	p = clean(p)
	names := o.ask(opList, p)
	switch names {
	case nothing:
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
	case "":
		return nil, nil
	}
	return strings.Split(names, "\n"), nil
}

// CleanedAbs implements [filesys.FileSystem].
func (o *overlay) CleanedAbs(p string) (filesys.ConfirmedDir, string, error) {
	p = clean(p)
	if _, ok := o.written[p]; ok {
		return filesys.ConfirmedDir(path.Dir(p)), path.Base(p), nil
	}
	if p != top && inside(p) == "" {
		return "", "", fmt.Errorf("%s is not in the artifact", p) // as Flux's file system on disk has it
	}
	switch o.ask(opStat, p) {
	case isDir:
		return filesys.ConfirmedDir(p), "", nil
	case isFile:
		return filesys.ConfirmedDir(path.Dir(p)), path.Base(p), nil
	}
	return "", "", &fs.PathError{Op: "lstat", Path: p, Err: fs.ErrNotExist}
}

// Glob implements [filesys.FileSystem]. Kustomize asks for names without a pattern only, or for what does not exist.
func (o *overlay) Glob(pattern string) ([]string, error) {
	dir := clean(path.Dir(pattern))
	names, err := o.ReadDir(dir)
	if err != nil {
		return nil, nil //nolint:nilerr // as filepath.Glob
	}
	var out []string
	for _, name := range names {
		ok, err := filepath.Match(clean(pattern), path.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, path.Join(dir, name))
		}
	}
	return out, nil
}

// Walk implements [filesys.FileSystem].
func (o *overlay) Walk(p string, visit filepath.WalkFunc) error {
	p = clean(p)
	err := o.walk(p, visit)
	if errors.Is(err, filepath.SkipDir) || errors.Is(err, filepath.SkipAll) {
		return nil
	}
	return err
}

func (o *overlay) walk(p string, visit filepath.WalkFunc) error {
	what := o.ask(opStat, p)
	if what == nothing {
		return visit(p, nil, &fs.PathError{Op: "lstat", Path: p, Err: fs.ErrNotExist})
	}
	err := visit(p, info{path.Base(p), what == isDir}, nil)
	if errors.Is(err, filepath.SkipDir) && what == isDir {
		return nil
	}
	if err != nil || what == isFile {
		return err
	}
	names, err := o.ReadDir(p)
	if err != nil {
		return err
	}
	for _, name := range names {
		err := o.walk(path.Join(p, name), visit)
		if errors.Is(err, filepath.SkipDir) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// info is what a walk says of a file.
type info struct {
	name string
	dir  bool
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return 0 }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.dir }
func (i info) Sys() any           { return nil }
func (i info) Mode() os.FileMode {
	if i.dir {
		return os.ModeDir | 0o755
	}
	return 0o644
}
