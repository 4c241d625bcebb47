package standin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graph-gophers/graphql-go"
)

// Commit.history is "in the same order as git log": all ancestors by date, a merge's other sides among them. It says nothing
// of first parents. https://docs.github.com/en/graphql/reference/commits#commit

// logged names one list of git rev-list.
type logged struct {
	sha, path    string
	since, until int64 // Unix seconds; 0: no bound
}

// history lists the commits that can be reached from one, as git log orders and filters them. The list is shared: it must not
// be written to.
func (d *gitDir) history(l logged) ([]string, error) {
	return d.logs.get(l, func() ([]string, error) {
		if d.memory != nil {
			return d.memory.history(l), nil
		}
		args := []string{"rev-list"}
		if l.since != 0 {
			args = append(args, "--since="+strconv.FormatInt(l.since, 10))
		}
		if l.until != 0 {
			args = append(args, "--until="+strconv.FormatInt(l.until, 10))
		}
		args = append(args, l.sha, "--")
		if l.path != "" {
			args = append(args, l.path)
		}
		out, err := d.runIn(nil, []string{"GIT_LITERAL_PATHSPECS=1"}, args...)
		return strings.Fields(string(out)), err
	})
}

// historyArgs are what a query may ask of a history.
type historyArgs struct {
	window
	Author *struct {
		Emails *[]string
		ID     *graphql.ID
	}
	Path         *string
	Since, Until *scalar
}

func (args historyArgs) of(sha string) (logged, error) {
	l := logged{sha: sha}
	for _, bound := range []struct {
		text *scalar
		into *int64
	}{{args.Since, &l.since}, {args.Until, &l.until}} {
		if bound.text == nil {
			continue
		}
		at, err := time.Parse(time.RFC3339, string(*bound.text))
		if err != nil {
			return l, &queryError{"UNPROCESSABLE", fmt.Sprintf(msgBadTimestamp, string(*bound.text))}
		}
		*bound.into = at.Unix()
	}
	if args.Path == nil || *args.Path == "" {
		return l, nil
	}
	if l.path = strings.TrimSuffix(*args.Path, "/"); !validPath(l.path) {
		return l, unresolved("file for path '%s'.", *args.Path)
	}
	return l, nil
}

// History is the commit and all its ancestors, in pages.
func (n *commitNode) History(args historyArgs) (*connection[*commitNode], error) {
	if err := n.repo.look.may("contents"); err != nil {
		return nil, err
	}
	l, err := args.of(n.o.sha)
	if err != nil {
		return nil, err
	}
	list, err := n.repo.r.git.history(l)
	if err != nil {
		return nil, err
	}
	if list, err = n.repo.by(args, list); err != nil {
		return nil, err
	}
	w := args.window
	w.After, w.Before = placeInHistory(w.After), placeInHistory(w.Before)
	part, err := cut("history", w, list)
	if err != nil {
		return nil, err
	}
	nodes := make([]*commitNode, len(*part.Nodes))
	for i, sha := range *part.Nodes {
		if nodes[i], err = n.repo.commitNode(sha); err != nil {
			return nil, err
		}
	}
	out := &connection[*commitNode]{Nodes: &nodes, PageInfo: part.PageInfo, TotalCount: part.TotalCount}
	for _, cursor := range []**string{&out.PageInfo.StartCursor, &out.PageInfo.EndCursor} {
		if *cursor != nil {
			*cursor = optional(n.o.sha + " " + **cursor)
		}
	}
	return out, nil
}

// placeInHistory reads a cursor: GitHub's are "SHA PLACE", SHA being where the history begins. Whether GitHub goes on from that
// commit when the query has moved on to another is not known; here the place counts in the history that is asked for.
func placeInHistory(cursor *string) *string {
	if cursor == nil {
		return nil
	}
	_, at, _ := strings.Cut(*cursor, " ")
	return &at
}

// by keeps the commits of the author that is asked for.
func (r *repository) by(args historyArgs, list []string) ([]string, error) {
	if args.Author == nil {
		return list, nil
	}
	var kept []string
	for _, sha := range list {
		c, err := r.r.git.commit(sha)
		if err != nil {
			return nil, err
		}
		byMail := args.Author.Emails != nil && slices.Contains(*args.Author.Emails, c.author.email)
		byID := args.Author.ID != nil && string(*args.Author.ID) == nodeID("User", r.look.g.idOf(c.author.name))
		if byMail || byID {
			kept = append(kept, sha)
		}
	}
	return kept, nil
}
