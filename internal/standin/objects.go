package standin

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"
)

// Commit is a git commit. It is immutable.
type Commit struct {
	SHA, Tree         string
	Parents           []string
	Author, Committer gitobject.Signature
	Message           string
}

// Parent is the first of the parents; "" of a root.
func (c *Commit) Parent() string {
	if len(c.Parents) == 0 {
		return ""
	}
	return c.Parents[0]
}

// Commit reads a commit; ErrNotFound if there is none of that name.
func (d *Git) Commit(sha string) (*Commit, error) {
	return d.commits.Get(sha, func() (*Commit, error) {
		o, err := d.get(sha)
		if err != nil {
			return nil, err
		}
		if !fullSHA.MatchString(sha) || o.Kind != "commit" {
			return nil, fmt.Errorf("commit %q: %w", sha, ErrNotFound)
		}
		var raw gitobject.Commit
		if err := raw.Decode(o.raw); err != nil {
			return nil, fmt.Errorf("commit %s: %w", sha, err)
		}
		c := &Commit{SHA: sha, Tree: raw.TreeHash.String(), Author: raw.Author, Committer: raw.Committer, Message: raw.Message}
		for _, p := range raw.ParentHashes {
			c.Parents = append(c.Parents, p.String())
		}
		return c, nil
	})
}

// Write makes a commit object.
func (d *Git) Write(c Commit) (string, error) {
	raw := gitobject.Commit{TreeHash: plumbing.NewHash(c.Tree), Author: c.Author, Committer: c.Committer, Message: c.Message}
	for _, p := range c.Parents {
		raw.ParentHashes = append(raw.ParentHashes, plumbing.NewHash(p))
	}
	return d.put(raw.Encode)
}

// Ancestors is every commit that can be reached from sha, itself included. The map is shared: it must not be written to.
func (d *Git) Ancestors(sha string) (map[string]bool, error) {
	return d.reach.Get(sha, func() (map[string]bool, error) {
		list, err := d.line(nil, sha)
		reached := make(map[string]bool, len(list))
		for _, c := range list {
			reached[c.SHA] = true
		}
		return reached, err
	})
}

// MergeBase is the commit that a pull request's changes are counted from; "" if the histories are unrelated.
func (d *Git) MergeBase(base, head string) (string, error) {
	return d.bases.Get([2]string{base, head}, func() (string, error) {
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
func (d *Git) common(base, head string) ([]string, error) {
	theirs, err := d.Ancestors(base)
	if err != nil {
		return nil, err
	}
	own, err := d.line(theirs, head)
	if err != nil || len(own) == 0 {
		return []string{head}, err
	}
	var met []string
	for _, c := range own {
		for _, p := range c.Parents {
			if theirs[p] && !slices.Contains(met, p) {
				met = append(met, p)
			}
		}
	}
	return d.independent(met)
}

// independent leaves out what can be reached from another of the list.
func (d *Git) independent(list []string) ([]string, error) {
	if len(list) < 2 {
		return list, nil
	}
	behind := map[string]bool{}
	for _, sha := range list {
		reach, err := d.Ancestors(sha)
		if err != nil {
			return nil, err
		}
		for other := range reach {
			behind[other] = behind[other] || other != sha
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(sha string) bool { return behind[sha] }), nil
}

// Between lists the commits of head that base has not, oldest first, as a pull request lists them.
func (d *Git) Between(base, head string) ([]*Commit, error) {
	return d.lines.Get([2]string{base, head}, func() ([]*Commit, error) {
		theirs, err := d.Ancestors(base)
		if err != nil {
			return nil, err
		}
		return d.line(theirs, head)
	})
}

// line lists the commits that can be reached from head but not through others, parents before their children.
func (d *Git) line(without map[string]bool, head string) ([]*Commit, error) {
	var list []*Commit
	listed := map[string]bool{}
	for stack := []string{head}; len(stack) > 0; {
		sha := stack[len(stack)-1]
		if without[sha] || listed[sha] {
			stack = stack[:len(stack)-1]
			continue
		}
		c, err := d.Commit(sha)
		if err != nil {
			return nil, err
		}
		before := len(stack)
		for _, p := range slices.Backward(c.Parents) {
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

// FileChange is one changed file, in REST's words. Changed lines are not counted: no client reads them.
type FileChange struct {
	Path, Old string // old: of a rename
	Status    string // added, removed, modified, renamed, changed
	Blob      string // of the new side; of the old one if removed
}

// Diff lists what changed from one commit's tree to another's, with renames as GitHub finds them: by git's own rule.
func (d *Git) Diff(from, to string) ([]FileChange, error) {
	return d.diffs.Get([2]string{from, to}, func() ([]FileChange, error) {
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
func parseDiff(out string) ([]FileChange, error) {
	var list []FileChange
	fields := strings.Split(out, "\x00")
	for len(fields) > 2 {
		parts := strings.Fields(fields[0])
		if len(parts) != 5 {
			return nil, errors.New("git diff-tree: cannot read the answer")
		}
		f := FileChange{Path: fields[1], Status: changeWords[parts[4][0]], Blob: parts[3]}
		fields = fields[2:]
		switch f.Status {
		case "removed":
			f.Blob = parts[2]
		case "renamed":
			f.Old, f.Path = f.Path, fields[0]
			fields = fields[1:]
		}
		list = append(list, f)
	}
	return list, nil
}

// historyKey names a history: of all, or of what a path holds.
type historyKey struct{ sha, path string }

// History lists the commits that can be reached from one, as git log orders and filters them: every ancestor by date, or those that
// made a path what it is. The list is shared: it must not be written to.
func (d *Git) History(sha, path string) ([]string, error) {
	return d.logs.Get(historyKey{sha, path}, func() ([]string, error) {
		var list []string
		seen, queue := map[string]bool{}, []*Commit{}
		push := func(sha string) error {
			if seen[sha] {
				return nil
			}
			seen[sha] = true
			c, err := d.Commit(sha)
			queue = append(queue, c)
			return err
		}
		err := push(sha)
		for err == nil && len(queue) > 0 {
			c := queue[0]
			queue = queue[1:]
			parents, same := d.follow(c, path)
			if !same {
				list = append(list, c.SHA)
			}
			for _, p := range parents {
				err = errors.Join(err, push(p))
			}
			slices.SortStableFunc(queue, func(a, b *Commit) int { return b.Committer.When.Compare(a.Committer.When) })
		}
		return list, err
	})
}

// follow gives the commits where the history of a path goes on, and whether the commit changed nothing of it: git's
// simplification takes a parent that has the same, if there is one.
func (d *Git) follow(c *Commit, path string) (parents []string, same bool) {
	if path == "" {
		return c.Parents, false
	}
	mine, _ := d.Entry(c.SHA, path) // that it is not there is an answer too
	for _, p := range c.Parents {
		if theirs, _ := d.Entry(p, path); theirs.SHA == mine.SHA {
			return []string{p}, true
		}
	}
	return c.Parents, len(c.Parents) == 0 && mine.SHA == ""
}
