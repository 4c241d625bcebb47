package forge

import (
	"context"
	"fmt"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// What GitHub's REST answers, field by field.

// comparison is how a commit stands to another one.
type comparison struct {
	Status    string               // in the words of ancestry
	Total     int                  `json:"total_commits"`
	MergeBase struct{ SHA string } `json:"merge_base_commit"`
	Commits   []restCommit         // that the other one has, on this page
	Files     []restChange         // on the first page, the first 300
}

type restCommit struct {
	SHA     string
	Parents []struct{ SHA string }
	Author  struct{ Login string } // none: a null
	Commit  struct {
		Author    struct{ Name string }
		Committer struct{ Date commitDate }
	}
}

type restChange struct {
	Filename string
	Status   string
	Previous string `json:"previous_filename"`
	Contents string `json:"contents_url"`
}

// pathOf is where a repository stands in REST.
func pathOf(repo plan.Repo) string { return "repos/" + repo.Owner + "/" + repo.Name }

// pageURL is the address of a page of one of the repository's lists.
func (l *observation) pageURL(page int, format string, args ...any) string {
	return pathOf(l.repo) + "/" + fmt.Sprintf(format, args...) + "?" + client.PageQuery(page)
}

// comparison compares a commit with another one, and gives the number of the next page of its commits; 0: there is none.
func (l *observation) comparison(ctx context.Context, from, to plan.SHA, page int) (c *comparison, next int, err error) {
	c, next, err = l.compareBy(ctx, from, to, client.PageQuery(page))
	if err == nil && c.Status == "" {
		err = client.Empty()
	}
	return c, next, err
}

// compareAlone is comparison without files, which come with the first page, and without most commits.
func (l *observation) compareAlone(ctx context.Context, from, to plan.SHA) (*comparison, error) {
	c, _, err := l.compareBy(ctx, from, to, "per_page=1&page=2")
	return c, err
}

func (l *observation) compareBy(ctx context.Context, from, to plan.SHA, query string) (c *comparison, next int, err error) {
	c = &comparison{}
	next, err = l.c.GetPage(ctx, fmt.Sprintf("%s/compare/%s...%s?%s", pathOf(l.repo), from, to, query), c)
	return c, next, err
}
