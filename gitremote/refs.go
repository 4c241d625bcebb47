package gitremote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/sluicegate/sluice/plan"
)

const (
	lockTimeout = 5 * time.Second // for git to let go of its locks once nobody waits for it
	leftoverAge = 24 * time.Hour  // of a git directory of ours that nobody uses any more: a pass ends within 10 minutes

	outsideDirs = "sluice-update-ref-*"     // the names of our git directories
	outsideHead = "ref: refs/none/sluice\n" // git would log what HEAD leads to twice; it also shows that a directory is ours
)

// Move moves branches of the repository itself, each only if it is still where it was observed, and never one that is checked
// out: its working directory would stay behind. It returns those that were not moved, and why, in words for people.
//
// `git update-ref` writes them, so that git and sluice may run at once. It runs in a git directory of our own, which leads to the
// clone's refs and logs and to nothing else of it: no config or hook of the clone is seen, and of its objects only the commits
// that were read here. Where a link or what is no file stands on the way to a ref or its log, nothing is written.
func (c *Clone) Move(ctx context.Context, p Push) (_ map[plan.Branch]string, err error) {
	defer wrap(&err, "move branches of %s", c.repo.dir)
	busy, err := c.busy()
	if err != nil {
		return nil, err
	}
	dir, err := c.outside(p.Now())
	if err != nil {
		return nil, err
	}
	refused := refusals{}
	var fit []plan.Move
	for _, m := range p.Moves {
		if c.fits(m, busy, dir, refused) {
			fit = append(fit, m)
		}
	}
	err = errors.Join(c.write(ctx, dir, p, fit, refused), os.RemoveAll(dir))
	return refused, err
}

// outside makes the git directory that git is run in.
func (c *Clone) outside(now time.Time) (string, error) {
	common := c.repo.at.common
	logs := slices.Contains([]string{"true", "always", "yes", "on", "1"}, c.repo.logs) || c.repo.logs == "" && c.repo.bare != "true" // as git has it
	if logs {
		if err := os.Mkdir(filepath.Join(common, "logs"), 0o777); err != nil && !errors.Is(err, os.ErrExist) {
			return "", err
		}
	}
	removeLeftovers(now)
	dir, err := os.MkdirTemp("", outsideDirs)
	if err == nil {
		dir, err = filepath.Abs(dir) // git is run elsewhere
	}
	if err != nil {
		return "", err
	}
	config := fmt.Sprintf("[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tlogAllRefUpdates = %v\n", logs)
	err = errors.Join(
		os.Mkdir(filepath.Join(dir, "objects"), 0o700),
		os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte(outsideHead), 0o600),
	)
	for _, name := range []string{"refs", "logs", "packed-refs"} {
		err = errors.Join(err, os.Symlink(filepath.Join(common, name), filepath.Join(dir, name)))
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// removeLeftovers removes the git directories of earlier runs that were killed. What they link to stays.
func removeLeftovers(now time.Time) {
	found, _ := filepath.Glob(filepath.Join(os.TempDir(), outsideDirs)) // the pattern is well-formed
	for _, dir := range found {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || now.Sub(info.ModTime()) <= leftoverAge {
			continue
		}
		name := filepath.Join(dir, "HEAD")
		if info, err = os.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(outsideHead)) {
			continue // a pipe of somebody's would be read for ever
		}
		if head, err := os.ReadFile(name); err == nil && string(head) == outsideHead {
			_ = os.RemoveAll(dir) // another user's cannot be
		}
	}
}

// fits reports whether a branch is to be moved; else it is where it should be, or is put down. The commit that it moves to is put
// into dir.
func (c *Clone) fits(m plan.Move, busy map[plan.Branch]string, dir string, refused refusals) bool {
	if !fitForRef(string(m.Branch)) {
		refused.add(m.Branch, wordsBadName)
		return false
	}
	ref := plumbing.NewBranchReferenceName(string(m.Branch))
	barred := cmp.Or(c.barred(ref.String()), c.barred("logs/"+ref.String()))
	now, err := c.current(ref)
	if err == nil {
		err = c.show(m.New, dir)
	}
	switch {
	case busy[m.Branch] != "":
		refused.add(m.Branch, wordsCheckedOut, plan.Clean(busy[m.Branch]))
	case barred != "":
		refused.add(m.Branch, wordsLink, plan.Clean(barred))
	case err != nil:
		refused.add(m.Branch, "%s", plan.Clean(err.Error()))
	default:
		return !refused.done(m, now)
	}
	return false
}

// barred is the first part of a path in the repository that is neither a directory nor a file; "": there is none.
func (c *Clone) barred(way string) string {
	parts := strings.Split(way, "/")
	for i := range parts {
		at := path.Join(parts[:i+1]...)
		info, err := os.Lstat(filepath.Join(c.repo.at.common, filepath.FromSlash(at)))
		if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return at
		}
	}
	return ""
}

// show puts a commit where git sees it.
func (c *Clone) show(sha plan.SHA, dir string) error {
	h, err := hash(sha)
	if err != nil {
		return err
	}
	content, err := c.repo.content(plumbing.CommitObject, h, maxCommit)
	if err != nil {
		return err
	}
	_, err = filesystem.NewStorage(osfs.New(dir), nil).SetEncodedObject(memory(plumbing.CommitObject, content))
	return err
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

// write moves branches at once, or none of them; then each on its own, so that one stops no other.
func (c *Clone) write(ctx context.Context, dir string, p Push, moves []plan.Move, refused refusals) error {
	var due []plan.Move
	var in strings.Builder
	for _, m := range moves {
		if p.late(m) {
			refused.add(m.Branch, wordsLate)
			continue
		}
		due = append(due, m)
		fmt.Fprintf(&in, "update refs/heads/%s %s %s\n", m.Branch, m.New, cmp.Or(m.Old, plan.SHA(plumbing.ZeroHash.String())))
	}
	if len(due) == 0 {
		return nil
	}
	why, err := updateRefs(ctx, dir, in.String(), p.Now())
	if err != nil || why == "" {
		return err
	}
	for i := range due {
		if len(due) == 1 {
			c.judge(due[0], why, refused)
		} else if err := c.write(ctx, dir, p, due[i:i+1], refused); err != nil {
			return err
		}
	}
	return nil
}

// judge puts down what became of a branch that git did not move.
func (c *Clone) judge(m plan.Move, why string, refused refusals) {
	ref := plumbing.NewBranchReferenceName(string(m.Branch))
	now, err := c.current(ref)
	_, locked := os.Lstat(filepath.Join(c.repo.at.common, filepath.FromSlash(ref.String())+".lock"))
	switch _, after, found := strings.Cut(why, fmt.Sprintf("cannot lock ref '%s': ", ref)); {
	case err == nil && refused.done(m, now):
	case locked == nil:
		refused.add(m.Branch, wordsLocked, path.Base(ref.String())+".lock")
	case found:
		refused.add(m.Branch, "%s", plan.Clean(after))
	default:
		refused.add(m.Branch, "%s", plan.Clean(why))
	}
}

// updateRefs runs `git update-ref` on lines of its language. It returns git's objection; "": it is done.
func updateRefs(ctx context.Context, dir, lines string, at time.Time) (string, error) {
	cmd := exec.CommandContext(ctx, "git", "update-ref", "--no-deref", "-m", wordsReflog, "--stdin")
	cmd.Dir = string(filepath.Separator)
	cmd.Env = append(Environ(), "GIT_DIR="+dir, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C",
		"GIT_COMMITTER_NAME=sluice", "GIT_COMMITTER_EMAIL=sluice@localhost", fmt.Sprintf("GIT_COMMITTER_DATE=@%d +0000", at.Unix()))
	cmd.Stdin = strings.NewReader(lines)
	var printed transcript
	cmd.Stderr = &printed
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // killed, it would leave its locks
	cmd.WaitDelay = lockTimeout
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return cmp.Or(strings.TrimPrefix(printed.String(), "fatal: "), exit.Error()), nil
	}
	return "", err
}

// busy is the branches that are checked out, each with where: by the repository's own working directory, by linked ones, and
// by a rebase or bisection that will come back to it.
func (c *Clone) busy() (map[plan.Branch]string, error) {
	out := map[plan.Branch]string{}
	common := c.repo.at.common
	if c.repo.bare != "true" { // where it is not set, a HEAD counts as checked out
		at := cmp.Or(c.repo.worktree, filepath.Dir(common))
		if err := c.checkedOut(common, at, out); err != nil {
			return nil, err
		}
	}
	return out, c.repo.cost.names(filepath.Join(common, "worktrees"), func(name string) error {
		dir := filepath.Join(common, "worktrees", name)
		at, err := readSmall(filepath.Join(dir, "gitdir"))
		if err != nil {
			at = dir // whose directory is gone: git holds its branch all the same until it is pruned
		}
		return c.checkedOut(dir, filepath.Dir(at), out)
	})
}

// checkedOut adds the branches that one working directory holds: of a symbolic one, also the one that it leads to.
func (c *Clone) checkedOut(dir, at string, into map[plan.Branch]string) error {
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
		name := strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(text, "ref:")), "refs/heads/")
		into[plan.Branch(name)] = at
		if to, err := storer.ResolveReference(c.repo.storage, plumbing.NewBranchReferenceName(name)); err == nil {
			into[plan.Branch(to.Name().Short())] = at
		}
	}
	return nil
}
