package standin

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// gitNode is GraphQL's GitObject: a commit, a tree or a blob.
type gitNode struct {
	repo *repository
	o    gitObject
}

// read gives something of a commit.
func (n *gitNode) read(what func(*commit) any) (any, error) {
	c, err := n.repo.r.git.commit(n.o.sha)
	if err != nil {
		return nil, err
	}
	return what(c), nil
}

// How GitHub cuts a long headline, in characters: of each that people have shown in public, 69 are left and an ellipsis. The
// rest begins the body, after another ellipsis.
const (
	maxHeadline = 72
	cutHeadline = 69
)

// headline is the first line of the message, cut if it is long.
func (c *commit) headline() string {
	line, _, _ := strings.Cut(strings.TrimSpace(c.message), "\n")
	line = strings.TrimSuffix(line, "\r")
	if runes := []rune(line); len(runes) > maxHeadline {
		return string(runes[:cutHeadline]) + "…"
	}
	return line
}

func (n *gitNode) parents(a arguments) (*connection, error) {
	c, err := n.repo.r.git.commit(n.o.sha)
	if err != nil {
		return nil, err
	}
	return n.repo.commits("parents", a, c.parents)
}

// commits is a page of commits.
func (r *repository) commits(name string, a arguments, list []string) (*connection, error) {
	c, err := cut(name, a, list)
	if err != nil {
		return nil, err
	}
	for i, sha := range c.nodes {
		c.nodes[i] = r.commit(sha.(string))
	}
	return c, nil
}

// history is the commit and all its ancestors "in the same order as git log": by date, a merge's other sides among them. It does not
// tell first parents apart. https://docs.github.com/en/graphql/reference/commits#commit
func (n *gitNode) history(a arguments) (*connection, error) {
	path := strings.TrimSuffix(a.text("path"), "/")
	if path != "" && !validPath(path) {
		return nil, unresolved("file for path '%s'.", path)
	}
	list, err := n.repo.r.git.history(historyKey{n.o.sha, path})
	if err != nil {
		return nil, err
	}
	return n.repo.commits("history", a, list)
}

// historyKey names a history: of all, or of what a path holds.
type historyKey struct{ sha, path string }

// history lists the commits that can be reached from one, as git log orders and filters them: every ancestor by date, or those that
// made a path what it is. The list is shared: it must not be written to.
func (d *gitDir) history(l historyKey) ([]string, error) {
	return d.logs.get(l, func() ([]string, error) {
		var list []string
		seen, queue := map[string]bool{}, []*commit{}
		push := func(sha string) error {
			if seen[sha] {
				return nil
			}
			seen[sha] = true
			c, err := d.commit(sha)
			queue = append(queue, c)
			return err
		}
		err := push(l.sha)
		for err == nil && len(queue) > 0 {
			c := queue[0]
			queue = queue[1:]
			parents, same := d.follow(c, l.path)
			if !same {
				list = append(list, c.sha)
			}
			for _, p := range parents {
				err = errors.Join(err, push(p))
			}
			slices.SortStableFunc(queue, func(a, b *commit) int { return b.committer.When.Compare(a.committer.When) })
		}
		return list, err
	})
}

// follow gives the commits where the history of a path goes on, and whether the commit changed nothing of it: git's
// simplification takes a parent that has the same, if there is one.
func (d *gitDir) follow(c *commit, path string) (parents []string, same bool) {
	if path == "" {
		return c.parents, false
	}
	mine, _ := d.entryAt(c.sha, path) // that it is not there is an answer too
	for _, p := range c.parents {
		if theirs, _ := d.entryAt(p, path); theirs.sha == mine.sha {
			return []string{p}, true
		}
	}
	return c.parents, len(c.parents) == 0 && mine.sha == ""
}

// file is one entry below the commit's tree. GitHub answers a path that is not there with null and an error beside the data.
func (n *gitNode) file(a arguments) (*entryNode, error) {
	missing := unresolved("file for path '%s'.", a.text("path"))
	if !validPath(a.text("path")) {
		return nil, missing
	}
	e, err := n.repo.r.git.entryAt(n.o.sha, a.text("path"))
	if errors.Is(err, ErrNotFound) {
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	return &entryNode{n.repo, e}, nil
}

// entryNode is GraphQL's TreeEntry.
type entryNode struct {
	repo *repository
	treeEntry
}

// mode is the octal mode read as a number, as GitHub has it: 33188 for 100644.
func (n *entryNode) mode() any {
	mode, err := strconv.ParseInt(n.treeEntry.mode, 8, 32)
	if err != nil {
		return 0
	}
	return mode
}

const (
	maxText    = 512 << 10 // how much of a blob's text GitHub gives
	binaryHead = 8000      // how far git looks for a zero byte to know a binary file
)

func (n *gitNode) data() (data []byte, binary bool, err error) {
	data, err = n.o.content()
	return data, bytes.IndexByte(data[:min(len(data), binaryHead)], 0) >= 0 || !utf8.Valid(data), err
}

func (n *gitNode) binary() (any, error) {
	_, binary, err := n.data()
	return binary, err
}

func (n *gitNode) text() (any, error) {
	data, binary, err := n.data()
	if err != nil || binary {
		return nil, err
	}
	return string(data[:min(len(data), maxText)]), nil
}

// commitStatus is GraphQL's Status.
type commitStatus struct{ list []Status }

// status is null if the commit has none; check runs are not in it.
func (n *gitNode) status() *commitStatus {
	r := n.repo.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if latest := r.reportsAt(n.o.sha, n.repo.view.at).latest(n.o.sha); len(latest) > 0 {
		return &commitStatus{latest}
	}
	return nil
}

func (s *commitStatus) of(context string) any {
	if at := slices.IndexFunc(s.list, func(o Status) bool { return strings.EqualFold(o.Context, context) }); at >= 0 {
		return s.list[at]
	}
	return nil
}

// rollup is GraphQL's StatusCheckRollup: a commit's statuses and check runs combined.
type rollup struct {
	on       *gitNode
	state    string
	statuses []Status
	checks   []Check
}

// checkRun is GraphQL's CheckRun, and its CheckSuite.
type checkRun struct{ Check }

// rollup is null if nothing was reported.
func (n *gitNode) rollup() *rollup {
	r := n.repo.r
	r.mu.Lock()
	defer r.mu.Unlock()
	r = r.reportsAt(n.o.sha, n.repo.view.at)
	state := r.rollup(n.o.sha)
	if state == "" {
		return nil
	}
	return &rollup{on: n, state: state, statuses: r.latest(n.o.sha), checks: r.checks[n.o.sha]}
}

func (r *rollup) contexts(a arguments) (*connection, error) {
	list := []any{}
	for _, c := range r.checks {
		list = append(list, &checkRun{c})
	}
	for _, s := range r.statuses {
		list = append(list, s)
	}
	c, err := cut("contexts", a, list)
	if err == nil {
		c.checks, c.statuses = len(r.checks), len(r.statuses)
	}
	return c, err
}
