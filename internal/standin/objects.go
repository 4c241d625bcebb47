package standin

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"
)

// commit is a git commit. It is immutable.
type commit struct {
	sha, tree         string
	parents           []string
	author, committer gitobject.Signature
	message           string
}

// commit reads a commit; ErrNotFound if there is none of that name.
func (d *gitDir) commit(sha string) (*commit, error) {
	return d.commits.get(sha, func() (*commit, error) {
		o, err := d.get(sha)
		if err != nil {
			return nil, err
		}
		if !fullSHA.MatchString(sha) || o.kind != "commit" {
			return nil, fmt.Errorf("commit %q: %w", sha, ErrNotFound)
		}
		var raw gitobject.Commit
		if err := raw.Decode(o.raw); err != nil {
			return nil, fmt.Errorf("commit %s: %w", sha, err)
		}
		c := &commit{sha: sha, tree: raw.TreeHash.String(), author: raw.Author, committer: raw.Committer, message: raw.Message}
		for _, p := range raw.ParentHashes {
			c.parents = append(c.parents, p.String())
		}
		return c, nil
	})
}

// write makes a commit object.
func (d *gitDir) write(c commit) (string, error) {
	raw := gitobject.Commit{TreeHash: plumbing.NewHash(c.tree), Author: c.author, Committer: c.committer, Message: c.message}
	for _, p := range c.parents {
		raw.ParentHashes = append(raw.ParentHashes, plumbing.NewHash(p))
	}
	return d.put(raw.Encode)
}

// ancestors is every commit that can be reached from sha, itself included. The map is shared: it must not be written to.
func (d *gitDir) ancestors(sha string) (map[string]bool, error) {
	return d.reach.get(sha, func() (map[string]bool, error) {
		list, err := d.line(nil, sha)
		reached := make(map[string]bool, len(list))
		for _, c := range list {
			reached[c.sha] = true
		}
		return reached, err
	})
}

// mergeBase is the commit that a pull request's changes are counted from; "" if the histories are unrelated.
func (d *gitDir) mergeBase(base, head string) (string, error) {
	return d.bases.get([2]string{base, head}, func() (string, error) {
		if base == head {
			return base, nil
		}
		best, err := d.common(base, head)
		if err != nil || len(best) <= 1 {
			return strings.Join(best, ""), err
		}
		if d.memory != nil {
			return best[0], nil
		}
		out, err := d.run("merge-base", base, head) // a criss-cross: git chooses
		return strings.TrimSpace(string(out)), err
	})
}

// common gives the first commits of head's history that base has too, the parents of its own, unless one lies behind another.
func (d *gitDir) common(base, head string) ([]string, error) {
	theirs, err := d.ancestors(base)
	if err != nil {
		return nil, err
	}
	own, err := d.line(theirs, head)
	if err != nil || len(own) == 0 {
		return []string{head}, err
	}
	var met []string
	for _, c := range own {
		for _, p := range c.parents {
			if theirs[p] && !slices.Contains(met, p) {
				met = append(met, p)
			}
		}
	}
	return d.independent(met)
}

// independent leaves out what can be reached from another of the list.
func (d *gitDir) independent(list []string) ([]string, error) {
	if len(list) < 2 {
		return list, nil
	}
	behind := map[string]bool{}
	for _, sha := range list {
		reach, err := d.ancestors(sha)
		if err != nil {
			return nil, err
		}
		for other := range reach {
			behind[other] = behind[other] || other != sha
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(sha string) bool { return behind[sha] }), nil
}

// between lists the commits of head that base has not, oldest first, as a pull request lists them.
func (d *gitDir) between(base, head string) ([]*commit, error) {
	return d.lines.get([2]string{base, head}, func() ([]*commit, error) {
		theirs, err := d.ancestors(base)
		if err != nil {
			return nil, err
		}
		return d.line(theirs, head)
	})
}

// line lists the commits that can be reached from head but not through others, parents before their children.
func (d *gitDir) line(without map[string]bool, head string) ([]*commit, error) {
	var list []*commit
	listed := map[string]bool{}
	for stack := []string{head}; len(stack) > 0; {
		sha := stack[len(stack)-1]
		if without[sha] || listed[sha] {
			stack = stack[:len(stack)-1]
			continue
		}
		c, err := d.commit(sha)
		if err != nil {
			return nil, err
		}
		before := len(stack)
		for _, p := range slices.Backward(c.parents) {
			if !without[p] && !listed[p] {
				stack = append(stack, p)
			}
		}
		if len(stack) == before {
			list, listed[sha] = append(list, c), true
		}
	}
	return list, nil
}

// fileChange is one changed file, in REST's words. Changed lines are not counted: no client reads them.
type fileChange struct {
	path, old string // old: of a rename
	status    string // added, removed, modified, renamed, changed
	blob      string // of the new side; of the old one if removed
}

// diff lists what changed from one commit's tree to another's, with renames as GitHub finds them: by git's own rule.
func (d *gitDir) diff(from, to string) ([]fileChange, error) {
	return d.diffs.get([2]string{from, to}, func() ([]fileChange, error) {
		if !fullSHA.MatchString(from) || !fullSHA.MatchString(to) {
			return nil, fmt.Errorf("diff %q %q: %w", from, to, ErrNotFound)
		}
		if d.memory != nil {
			return d.diffInMemory(from, to)
		}
		out, err := d.run("diff-tree", "-r", "-z", "-M", "--raw", from, to)
		if err != nil {
			return nil, err
		}
		return parseDiff(string(out))
	})
}

var changeWords = map[byte]string{'A': "added", 'D': "removed", 'M': "modified", 'R': "renamed", 'T': "changed"}

// parseDiff reads ":MODE MODE SHA SHA S", PATH and of a rename NEWPATH, a zero byte after each.
func parseDiff(out string) ([]fileChange, error) {
	var list []fileChange
	fields := strings.Split(out, "\x00")
	for len(fields) > 2 {
		parts := strings.Fields(fields[0])
		if len(parts) != 5 {
			return nil, errors.New("git diff-tree: cannot read the answer")
		}
		f := fileChange{path: fields[1], status: changeWords[parts[4][0]], blob: parts[3]}
		fields = fields[2:]
		switch f.status {
		case "removed":
			f.blob = parts[2]
		case "renamed":
			f.old, f.path = f.path, fields[0]
			fields = fields[1:]
		}
		list = append(list, f)
	}
	return list, nil
}
