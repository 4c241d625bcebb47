package gitremote

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicegate/sluice/plan"
)

// maxHeads is how many branches one repository may have.
const maxHeads = 1_000_000

// list reads the branches: refs/heads alone. Loose refs come first and packed ones after them, so that no branch is missed that
// git packs meanwhile. go-git's own listing takes the lock files of a git that runs at once for branches.
func (c *Clone) list() error {
	c.survey, c.symbolic = survey{heads: map[plan.Branch]plumbing.Hash{}, graph: newGraph()}, map[plan.Branch]bool{}
	links := map[plan.Branch]plumbing.ReferenceName{}
	if err := c.loose(links); err != nil {
		return fmt.Errorf("list its branches: %w", err)
	}
	if err := c.packed(links); err != nil {
		return fmt.Errorf("list its branches: %w", err)
	}
	for name, to := range links {
		c.symbolic[name] = true
		// As git has it, a link to nothing is no branch. It is never written through.
		if h, ok := c.survey.heads[plan.Branch(strings.TrimPrefix(to.String(), "refs/heads/"))]; ok && to.IsBranch() {
			c.survey.heads[name] = h
		}
	}
	return nil
}

// loose reads the branches that are files of their own.
func (c *Clone) loose(links map[plan.Branch]plumbing.ReferenceName) error {
	root := filepath.Join(c.repo.at.common, "refs", "heads")
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil // git packed or deleted it meanwhile
		case err != nil:
			return err
		case d.IsDir(), strings.HasSuffix(d.Name(), ".lock"):
			return nil
		}
		below, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		text, err := readSmall(path)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name := plan.Branch(filepath.ToSlash(below))
		if to, link := strings.CutPrefix(text, "ref:"); link {
			links[name] = plumbing.ReferenceName(strings.TrimSpace(to))
			return nil
		}
		return c.head(name, strings.TrimSpace(text))
	})
}

// packed reads the branches of packed-refs that are not files of their own.
func (c *Clone) packed(links map[plan.Branch]plumbing.ReferenceName) error {
	f, err := openRegular(filepath.Join(c.repo.at.common, "packed-refs"), wholeFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		sha, ref, ok := strings.Cut(strings.TrimRight(lines.Text(), "\r"), " ")
		branch, ours := strings.CutPrefix(ref, "refs/heads/")
		if !ok || !ours || strings.HasPrefix(sha, "#") {
			continue // a comment, the commit of a tag, or no branch
		}
		name := plan.Branch(branch)
		if _, own := c.survey.heads[name]; own || links[name] != "" {
			continue
		}
		if err := c.head(name, sha); err != nil {
			return err
		}
	}
	return lines.Err()
}

// head notes where a branch is.
func (c *Clone) head(name plan.Branch, sha string) error {
	if !plumbing.IsHash(sha) {
		return fmt.Errorf("the branch %s is broken: it names no commit", showName(name))
	}
	if len(c.survey.heads) >= maxHeads {
		return fmt.Errorf("%w: branches", ErrTooLarge)
	}
	c.survey.heads[name] = plumbing.NewHash(sha)
	return nil
}
