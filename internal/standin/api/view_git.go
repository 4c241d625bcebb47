package api

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluicegate/sluice/internal/standin"
)

// gitNode is GraphQL's GitObject: a commit, a tree or a blob.
type gitNode struct {
	repo *repository
	o    standin.Object
}

// How GitHub cuts a long headline, in characters: of each that people have shown in public, 69 are left and an ellipsis. The
// rest begins the body, after another ellipsis.
const (
	maxHeadline = 72
	cutHeadline = 69
)

// headline is the first line of the message, cut if it is long.
func headline(c *standin.Commit) string {
	line, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	line = strings.TrimSuffix(line, "\r")
	if runes := []rune(line); len(runes) > maxHeadline {
		return string(runes[:cutHeadline]) + "…"
	}
	return line
}

func (n *gitNode) parents(a arguments) (*connection, error) {
	c, err := n.repo.r.Git().Commit(n.o.SHA)
	if err != nil {
		return nil, err
	}
	return cutAs("parents", a, c.Parents, n.repo.commit)
}

// history is the commit and all its ancestors "in the same order as git log": by date, a merge's other sides among them. It does not
// tell first parents apart. https://docs.github.com/en/graphql/reference/commits#commit
func (n *gitNode) history(a arguments) (*connection, error) {
	list, err := n.repo.r.Git().History(n.o.SHA, strings.TrimSuffix(a.text("path"), "/"))
	if err != nil {
		return nil, err
	}
	return cutAs("history", a, list, n.repo.commit)
}

// file is one entry below the commit's tree. GitHub answers a path that is not there with null and an error beside the data.
func (n *gitNode) file(a arguments) (*entryNode, error) {
	e, err := n.repo.r.Git().Entry(n.o.SHA, a.text("path"))
	if errors.Is(err, standin.ErrNotFound) {
		return nil, unresolved("file for path '%s'.", a.text("path"))
	}
	if err != nil {
		return nil, err
	}
	return &entryNode{n.repo, e}, nil
}

// entryNode is GraphQL's TreeEntry.
type entryNode struct {
	repo *repository
	standin.TreeEntry
}

// mode is the octal mode read as a number, as GitHub has it: 33188 for 100644.
func (n *entryNode) mode() (int64, error) { return strconv.ParseInt(n.Mode, 8, 32) }

const (
	maxText    = 512 << 10 // how much of a blob's text GitHub gives
	binaryHead = 8000      // how far git looks for a zero byte to know a binary file
)

func (n *gitNode) data() (data []byte, binary bool, err error) {
	data, err = n.o.Content()
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
type commitStatus struct{ list []standin.Status }

// status is null if the commit has none; check runs are not in it.
func (n *gitNode) status() *commitStatus {
	if on := n.repo.r.Reports(n.o.SHA, n.repo.view.at); len(on.Statuses) > 0 {
		return &commitStatus{on.Statuses}
	}
	return nil
}

func (s *commitStatus) of(context string) any {
	if at := slices.IndexFunc(s.list, func(o standin.Status) bool { return strings.EqualFold(o.Context, context) }); at >= 0 {
		return s.list[at]
	}
	return nil
}

// rollup is GraphQL's StatusCheckRollup: a commit's statuses and check runs combined.
type rollup struct {
	standin.Reports
	on    *gitNode
	state string
}

// checkRun is GraphQL's CheckRun, and its CheckSuite.
type checkRun struct{ standin.Check }

// rollup is null if nothing was reported.
func (n *gitNode) rollup() *rollup {
	on := n.repo.r.Reports(n.o.SHA, n.repo.view.at)
	state := on.Rollup()
	if state == "" {
		return nil
	}
	return &rollup{on, n, state}
}

func (r *rollup) contexts(a arguments) (*connection, error) {
	list := []any{}
	for _, c := range r.Checks {
		list = append(list, &checkRun{c})
	}
	for _, s := range r.Statuses {
		list = append(list, s)
	}
	c, err := cut("contexts", a, list)
	if err == nil {
		c.checks, c.statuses = len(r.Checks), len(r.Statuses)
	}
	return c, err
}
