// Package gitremote is the only package that speaks git (besides the stand-in), with go-git; ADR 12 says where go-git is not enough, and why.
//
// A [Repo] is one clone on disk, to read: commits, files, trees, merge bases and what changed between two commits. It may have
// a working directory, be bare, or be a linked worktree. Only what is committed counts; the working directory, the index and
// the environment are never looked at. No program is run to read it, whatever the clone's configuration names.
//
// A [Remote] and a [Clone] are places where windowed branches stand: one that is reached by git's protocol, and one on disk.
// Both are first looked at (the default branch and one file of its tip), then tracked (how branches stand to those that they
// follow) and then moved. Histories are read as deep as that needs, and memory does not grow with files: of what a server sends
// only commits are kept. A Remote can also mirror the files of commits into a bare repository, which a Repo then reads (see mirror.go).
// It runs git's own programs for file URLs, with this process's environment and the hooks that stand
// there, and `git credential` where a server wants a password: in no repository, with [Environ]. A Clone runs `git update-ref`, which
// sees of the clone its refs and logs alone.
//
// Servers and clones are somebody else's. What reading them takes is charged to the run's meter before it is taken (see costs.go), which others that
// read the same tree share: a path at its full length, an object as large as it inflates, a directory at each place where it is looked into. Whatever is
// read asks it and the caller's context; what is no file is not opened, and nothing is written through a link.
//
// None of them is safe for concurrent use.
//
// Paths are bytes, as git has them: spaces, quotes, newlines and bytes that are no UTF-8 stay as they are. Every changed
// path is listed, a rename by its old and its new name.
//
// Invariants: a branch is moved only from the value that was observed, and never by force; ancestry is proved by commits that were
// read, each under the hash of its content, or it is an error; tags and notes with a branch's name do not count; no error and no
// refusal shows credentials.
//
// How it fails: an answer is whole, or it is an error. A shallow or partial clone that lacks an object which the answer
// depends on is an error that names it, never "no merge base" or "absent". What git itself would refuse to check out (an
// entry named "..", a name with a slash, two entries of one name) is an error too, because a path would not mean one thing. A
// branch that could not be moved is returned with the reason, and stops no other.
package gitremote

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// Bounds of single objects. What all of them may cost is charged to the run.
const (
	maxFile = 1 << 20 // bytes of one file
	maxTag  = 16      // tags of tags of a commit
)

// Errors that callers distinguish.
var (
	ErrNotFound   = errors.New("no such revision")                                       // by Resolve
	ErrUnrelated  = errors.New("no common commit")                                       // by MergeBase and Changes: the histories are whole, and have none
	ErrIncomplete = errors.New("the clone lacks it")                                     // shallow, partial or broken: the answer is unknown
	ErrNotAFile   = errors.New("not a regular file")                                     // by File: a directory, symbolic link or submodule stands there
	ErrTooLarge   = errors.New("more than is read")                                      // a bound of this package was hit
	ErrNotMerged  = errors.New("was changed on both sides: bring the branch up to date") // by Merged: not in two places that are clearly apart
)

// Errors that no caller does anything about.
var (
	errUnsupported = errors.New("unsupported format") // a repository format that is not read here
	errNoRepo      = errors.New("no git repository")
	errMalformed   = errors.New("a malformed tree")
)

// Repo is one clone on disk. Close it.
type Repo struct {
	dir     string // as the caller named it, for errors
	at      location
	storage storer.ReferenceStorer
	objects *objects
	shallow bool // commits' parents are missing
	settings
	trees

	diffs map[[2]plumbing.Hash]map[string]change // trees that were compared
	texts map[plumbing.Hash][]byte               // of files that were merged
}

// Open opens the clone that dir is in: the directory itself or the nearest one above it that is a repository, as git does.
// What reads it is charged to a run, and ends with an error once that does.
func Open(m *meter.Meter, dir string) (_ *Repo, err error) {
	defer wrap(&err, "open %s", dir)
	at, err := locate(dir)
	if err != nil {
		return nil, err
	}
	cost := &account{ctx: m.Context(), meter: m}
	fs := billy.Filesystem(fence{osfs.New(at.git), cost})
	if at.common != at.git {
		fs = dotgit.NewRepositoryFilesystem(fs, fence{osfs.New(at.common), cost})
	}
	r := &Repo{
		dir: dir, at: at, storage: filesystem.NewStorage(fs, nil),
		diffs: map[[2]plumbing.Hash]map[string]change{}, texts: map[plumbing.Hash][]byte{},
	}
	r.trees = trees{cost: cost, get: r.content, listings: map[plumbing.Hash][]object.TreeEntry{}}
	if r.objects, err = openObjects(cost, filepath.Join(at.common, "objects")); err != nil {
		return nil, err
	}
	if r.settings, err = readSettings(cost, filepath.Join(at.common, "config")); err != nil {
		return nil, fmt.Errorf("read its config: %w", err)
	}
	if r.unsupported != "" {
		return nil, fmt.Errorf("%w: %s", errUnsupported, r.unsupported)
	}
	shallow, err := readShallow(cost, at.common)
	if err != nil {
		return nil, fmt.Errorf("read its shallow file: %w", err)
	}
	r.shallow = len(shallow) > 0
	return r, nil
}

// wrap says what was done when an error came up, if one did.
func wrap(err *error, doing string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(doing, args...), *err)
	}
}

// Close lets go of the repository's files.
func (r *Repo) Close() error { return r.objects.Close() }

// location is where the parts of a repository stand.
type location struct {
	git    string // HEAD
	common string // objects and refs; the same but for linked worktrees
	bare   bool
}

// locate finds the repository that dir is in.
func locate(dir string) (location, error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return location{}, err
	}
	if info, err := os.Stat(at); err != nil {
		return location{}, err
	} else if !info.IsDir() {
		return location{}, fmt.Errorf("%w: not a directory", errNoRepo)
	}
	for ; ; at = filepath.Dir(at) {
		git := filepath.Join(at, ".git")
		info, err := os.Stat(git)
		if err == nil && !info.IsDir() {
			if git, err = leads(git, "gitdir: "); err != nil {
				return location{}, err
			}
		}
		switch {
		case err == nil:
			return common(git)
		case !errors.Is(err, os.ErrNotExist):
			return location{}, err
		case isGitDir(at):
			return location{git: at, common: at, bare: true}, nil
		case at == filepath.Dir(at):
			return location{}, fmt.Errorf("%w here or above", errNoRepo)
		}
	}
}

// leads is the path that a file of git's names after a word, from where the file stands.
func leads(file, word string) (string, error) {
	text, err := readSmall(file)
	if err != nil {
		return "", err
	}
	to, ok := strings.CutPrefix(text, word)
	if !ok {
		return "", fmt.Errorf("%w: %s does not say where it is", errNoRepo, file)
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(file), to)
	}
	return to, nil
}

// common is the location of a git directory, which a linked worktree shares with others.
func common(git string) (location, error) {
	to, err := leads(filepath.Join(git, "commondir"), "")
	if errors.Is(err, os.ErrNotExist) {
		if !isGitDir(git) {
			return location{}, fmt.Errorf("%w: %s is none", errNoRepo, git)
		}
		to, err = git, nil
	}
	return location{git: git, common: to}, err
}

// isGitDir reports whether a directory has what makes it a repository.
func isGitDir(dir string) bool {
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil
}

// File is the content of one file at a commit; ok is false where nothing stands at that path. A directory, symbolic link
// or submodule is ErrNotAFile, more than maxFile bytes is ErrTooLarge.
func (r *Repo) File(sha plan.SHA, name string) (data []byte, ok bool, err error) {
	defer wrap(&err, "file %q at %s", name, sha.Short())
	root, err := r.root(sha)
	if err == nil {
		_, data, err = r.fileAt(root, name)
	}
	return data, data != nil, err
}

// root is the tree of a commit.
func (r *Repo) root(sha plan.SHA) (plumbing.Hash, error) {
	h, err := hash(sha)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	c, err := r.commit(h)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return c.TreeHash, nil
}

// Tree is the files of a commit.
func (r *Repo) Tree(sha plan.SHA) (_ *Tree, err error) {
	defer wrap(&err, "tree of %s", sha.Short())
	root, err := r.root(sha)
	return r.tree(root), err
}

// content is an object of one kind; what has another one is missing. More than limit bytes are ErrTooLarge.
func (r *Repo) content(kind plumbing.ObjectType, h plumbing.Hash, limit int64) ([]byte, error) {
	if text, ok := r.texts[h]; ok && kind == plumbing.BlobObject && int64(len(text)) <= limit {
		return text, nil
	}
	content, is, err := r.objects.read(h, limit)
	if err == nil && is != kind {
		err = plumbing.ErrObjectNotFound
	}
	switch {
	case errors.Is(err, errLarge):
		return nil, fmt.Errorf("%w: "+sayLarge, ErrTooLarge, kind, h, limit)
	case err != nil:
		return nil, r.lacking(kind.String()+" "+h.String(), err)
	}
	return content, nil
}

// lacking is err, put so that a person can act on it where an object is missing.
func (r *Repo) lacking(what string, err error) error {
	switch {
	case !errors.Is(err, plumbing.ErrObjectNotFound):
		return fmt.Errorf("read %s: %w", what, err)
	case r.shallow:
		return fmt.Errorf("%w: %s: the clone is shallow; git fetch --unshallow makes it whole", ErrIncomplete, what)
	case r.partial:
		return fmt.Errorf("%w: %s: the clone is partial, and sluice fetches nothing; clone without --filter", ErrIncomplete, what)
	}
	return fmt.Errorf("%w: %s: object not found", ErrIncomplete, what)
}

// hash is the object that a SHA names.
func hash(sha plan.SHA) (plumbing.Hash, error) {
	if !plumbing.IsHash(string(sha)) {
		return plumbing.ZeroHash, fmt.Errorf("not a commit's name: %q", string(sha))
	}
	return plumbing.NewHash(string(sha)), nil
}
