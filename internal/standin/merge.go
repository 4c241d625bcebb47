package standin

import (
	"errors"
	"fmt"
	"strings"
	"time"

	gitobject "github.com/go-git/go-git/v5/plumbing/object"
)

// Method is how a pull request is merged, in REST's words.
type Method string

// The merge methods.
const (
	Merge  Method = "merge"
	Squash Method = "squash"
	Rebase Method = "rebase"
)

// mergeResult is the outcome of a trial merge.
type mergeResult struct {
	tree     string
	conflict bool
}

// mergeTrees makes the tree of a three-way merge of two commits.
func (d *Git) mergeTrees(ours, theirs string) (mergeResult, error) {
	return d.merges.Get([2]string{ours, theirs}, func() (mergeResult, error) {
		if !fullSHA.MatchString(ours) || !fullSHA.MatchString(theirs) {
			return mergeResult{}, fmt.Errorf("merge %q and %q: %w", ours, theirs, ErrNotFound)
		}
		if d.memory != nil {
			return d.mergeInMemory(ours, theirs)
		}
		out, err := d.run("merge-tree", "--write-tree", "--no-messages", "--name-only", ours, theirs)
		var failed *gitError
		if errors.As(err, &failed) && failed.code == 1 { // git merge-tree(1): 1 is a conflict, more is a failure
			return mergeResult{conflict: true}, nil
		}
		if err != nil {
			return mergeResult{}, err
		}
		tree, _, _ := strings.Cut(string(out), "\n")
		if !fullSHA.MatchString(tree) {
			return mergeResult{}, fmt.Errorf("git merge-tree: no tree in %q", out)
		}
		return mergeResult{tree: tree}, nil
	})
}

// webFlow signs what GitHub commits itself.
func webFlow(at time.Time) gitobject.Signature {
	return gitobject.Signature{Name: "GitHub", Email: "noreply@github.com", When: at}
}

func signature(a Actor, at time.Time) gitobject.Signature {
	return gitobject.Signature{Name: a.RESTLogin(), Email: mailOf(a.RESTLogin()), When: at}
}

// mergeJob is what a merge is made of.
type mergeJob struct {
	base, head string // commits
	by         Actor
	author     Actor // of the pull request: a squash is theirs
	message    string
	at         time.Time
}

// errConflict: git found no merge. errRebase: some commit does not apply.
var (
	errConflict = errors.New("merge conflict")
	errRebase   = errors.New("cannot be rebased")
)

// make makes the commit, or the line of commits, that a merge adds to the base, and moves no ref.
func (d *Git) make(method Method, j mergeJob) (string, error) {
	if method == Rebase {
		return d.rebase(j)
	}
	m, err := d.mergeTrees(j.base, j.head)
	if err != nil {
		return "", err
	}
	if m.conflict {
		return "", errConflict
	}
	c := Commit{Tree: m.tree, Message: j.message, Committer: webFlow(j.at)}
	c.Parents, c.Author = []string{j.base, j.head}, signature(j.by, j.at)
	if method == Squash {
		c.Parents, c.Author = []string{j.base}, signature(j.author, j.at)
	}
	return d.Write(c)
}

// rebase puts the head's own commits on top of the base, one by one, merges left out as GitHub does.
func (d *Git) rebase(j mergeJob) (string, error) {
	list, err := d.Between(j.base, j.head)
	if err != nil {
		return "", err
	}
	tip := j.base
	for _, c := range list {
		if len(c.Parents) != 1 {
			continue
		}
		if tip, err = d.pick(c, tip, j.at); err != nil {
			return "", err
		}
	}
	return tip, nil
}

// pick applies one commit to another. git 2.39 has no merge-tree --merge-base: three commits made up for the purpose, whose
// trees are those of the commit's parent, the tip and the commit itself, have the wanted merge base.
func (d *Git) pick(c *Commit, tip string, at time.Time) (string, error) {
	parent, err := d.Commit(c.Parents[0])
	if err != nil {
		return "", err
	}
	onto, err := d.Commit(tip)
	if err != nil {
		return "", err
	}
	us := webFlow(time.Unix(0, 0).UTC()) // fixed, so that the same pick makes the same objects
	scratch := func(tree string, parents ...string) string {
		var sha string
		if err == nil {
			sha, err = d.Write(Commit{Tree: tree, Parents: parents, Message: "scratch", Author: us, Committer: us})
		}
		return sha
	}
	root := scratch(parent.Tree)
	ours := scratch(onto.Tree, root)
	theirs := scratch(c.Tree, root)
	if err != nil {
		return "", err
	}
	m, err := d.mergeTrees(ours, theirs)
	if err != nil {
		return "", err
	}
	if m.conflict {
		return "", errRebase
	}
	return d.Write(Commit{Tree: m.tree, Parents: []string{tip}, Message: c.Message, Author: c.Author, Committer: webFlow(at)})
}
