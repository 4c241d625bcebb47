package gitremote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicegate/sluice/plan"
)

// Move moves branches of the repository itself, each only if it is still where it was observed, and never one that is checked
// out: its working directory would stay behind. It tells which were not moved, in the order of moves.
//
// A ref is written as git writes it, so that git and sluice may run at once: NAME.lock is made first, the value is compared
// while the lock is held, and the lock file becomes the ref. go-git's own compare-and-set knows nothing of git's locks. Nothing is
// written outside the repository: a directory of refs or logs that is a symbolic link away from it is an error.
func (c *Clone) Move(ctx context.Context, p Push) ([]Refused, error) {
	busy, err := c.busy()
	if err == nil {
		c.root, err = os.OpenRoot(c.repo.at.common)
	}
	if err != nil {
		return nil, fmt.Errorf("move branches of %s: %w", c.repo.dir, err)
	}
	defer c.root.Close() //nolint:errcheck // a directory that was only looked up in
	var out []Refused
	for _, m := range p.Moves {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("move branches of %s: %w", c.repo.dir, err)
		}
		if no := c.move(m, busy, p); no != nil {
			out = append(out, *no)
		}
	}
	return out, nil
}

// move moves one branch; nil: it is done.
func (c *Clone) move(m plan.Move, busy map[plan.Branch]string, p Push) *Refused {
	no := func(form string, args ...any) *Refused {
		r := refuse(m.Branch, form, args...)
		return &r
	}
	switch {
	case !fitForRef(string(m.Branch)):
		return no(wordsBadName)
	case c.symbolic[m.Branch]:
		return no(wordsSymbolic)
	case busy[m.Branch] != "":
		return no(wordsCheckedOut, plan.Clean(busy[m.Branch]))
	}
	to, err := hash(m.New)
	if err == nil {
		_, err = c.repo.commit(to)
	}
	if err != nil {
		return no("%s", plan.Clean(err.Error()))
	}
	if m.Old == "" {
		if other := c.crossing(m.Branch); other != "" {
			return no(wordsCrossed, showName(other))
		}
	}
	return c.swap(m, p)
}

// crossing is the first branch that would have to be a directory, or in one, for a new one to be a file; "": none.
func (c *Clone) crossing(name plan.Branch) plan.Branch {
	var first plan.Branch
	for other := range c.survey.heads {
		crosses := strings.HasPrefix(string(other), string(name)+"/") || strings.HasPrefix(string(name), string(other)+"/")
		if crosses && (first == "" || other < first) {
			first = other
		}
	}
	return first
}

// swap compares and sets one ref under git's lock.
func (c *Clone) swap(m plan.Move, p Push) *Refused {
	no := func(form string, args ...any) *Refused {
		r := refuse(m.Branch, form, args...)
		return &r
	}
	ref := plumbing.NewBranchReferenceName(string(m.Branch))
	path := filepath.FromSlash(ref.String())
	if err := c.root.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return no("%s", plan.Clean(err.Error()))
	}
	lock, err := c.root.OpenFile(path+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, os.ErrExist) {
		return no(wordsLocked, plan.Clean(filepath.Base(path))+".lock")
	}
	if err != nil {
		return no("%s", plan.Clean(err.Error()))
	}
	defer c.root.Remove(path + ".lock") //nolint:errcheck // it is gone when it became the ref
	now, err := c.current(ref)
	if err != nil {
		return c.release(lock, no("%s", plan.Clean(err.Error())))
	}
	if now == m.New {
		return c.release(lock, nil)
	}
	if now != m.Old {
		moved := elsewhere(m, now)
		return c.release(lock, &moved)
	}
	if p.late(m) {
		return c.release(lock, no(wordsLate))
	}
	if err := c.set(lock, path, m, p.Now()); err != nil {
		return no("%s", plan.Clean(err.Error()))
	}
	return nil
}

// current is where a branch is; "": it is not there.
func (c *Clone) current(ref plumbing.ReferenceName) (plan.SHA, error) {
	found, err := c.repo.storage.Reference(ref)
	switch {
	case errors.Is(err, plumbing.ErrReferenceNotFound):
		return "", nil
	case err != nil:
		return "", err
	case found.Type() == plumbing.SymbolicReference:
		return "", errors.New(wordsSymbolic)
	}
	return plan.SHA(found.Hash().String()), nil
}

// release lets a lock go without a change.
func (c *Clone) release(lock *os.File, no *Refused) *Refused {
	_ = lock.Close() // nothing was written
	return no
}

// set makes the lock file the ref. The reflog is written first, as git does: a log of what did not happen is mended by hand, a
// move without a log is not.
func (c *Clone) set(lock *os.File, path string, m plan.Move, at time.Time) error {
	_, err := lock.WriteString(string(m.New) + "\n")
	if err == nil {
		err = lock.Sync()
	}
	if err = errors.Join(err, lock.Close()); err != nil {
		return err
	}
	if info, err := c.root.Lstat(path); err == nil && info.IsDir() {
		if err := c.removeEmpty(path); err != nil {
			return err
		}
	}
	if err := c.log(m, at); err != nil {
		return err
	}
	return c.root.Rename(path+".lock", path)
}

// removeEmpty removes a directory that holds nothing but directories, as branches that were deleted leave them.
func (c *Clone) removeEmpty(dir string) error {
	entries, err := fs.ReadDir(c.root.FS(), filepath.ToSlash(dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := c.removeEmpty(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return c.root.Remove(dir)
}

// log appends to the branch's reflog where git would.
func (c *Clone) log(m plan.Move, at time.Time) error {
	path := filepath.Join("logs", "refs", "heads", filepath.FromSlash(string(m.Branch)))
	if _, err := c.root.Lstat(path); errors.Is(err, os.ErrNotExist) && !c.keepsLogs() {
		return nil
	}
	if err := c.root.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := c.root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	old := string(m.Old)
	if old == "" {
		old = plumbing.ZeroHash.String()
	}
	_, err = fmt.Fprintf(f, "%s %s sluice <sluice@localhost> %d +0000\t%s\n", old, m.New, at.Unix(), wordsReflog)
	return errors.Join(err, f.Close())
}

// keepsLogs tells whether git would begin a reflog for a branch here.
func (c *Clone) keepsLogs() bool {
	cfg, err := c.repo.storage.Config()
	if err != nil {
		return false
	}
	switch strings.ToLower(cfg.Raw.Section("core").Option("logallrefupdates")) {
	case "true", "always", "yes", "on", "1":
		return true
	case "":
		return !cfg.Core.IsBare
	}
	return false
}

// busy is the branches that are checked out, each with where: by the repository's own working directory, by linked ones, and
// by a rebase or bisection that will come back to it.
func (c *Clone) busy() (map[plan.Branch]string, error) {
	out := map[plan.Branch]string{}
	common := c.repo.at.common
	cfg, err := c.repo.storage.Config()
	if err != nil {
		return nil, fmt.Errorf("read its config: %w", err)
	}
	if !cfg.Core.IsBare { // where it is not said, a HEAD counts as checked out
		at := filepath.Dir(common)
		if cfg.Core.Worktree != "" {
			at = cfg.Core.Worktree
		}
		if err := taken(common, at, out); err != nil {
			return nil, err
		}
	}
	linked, err := os.ReadDir(filepath.Join(common, "worktrees"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, e := range linked {
		dir := filepath.Join(common, "worktrees", e.Name())
		at, err := readSmall(filepath.Join(dir, "gitdir"))
		if err != nil {
			at = dir // whose directory is gone: git holds its branch all the same until it is pruned
		}
		if err := taken(dir, filepath.Dir(at), out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// taken notes the branches that one working directory holds.
func taken(dir, at string, into map[plan.Branch]string) error {
	for _, file := range []string{"HEAD", "rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"} {
		path := filepath.Join(dir, filepath.FromSlash(file))
		text, err := os.Readlink(path) // as git once wrote HEAD
		if err != nil {
			text, err = readSmall(path)
		}
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(strings.TrimPrefix(text, "ref: "), "refs/heads/")
		into[plan.Branch(strings.TrimSpace(name))] = at
	}
	return nil
}
