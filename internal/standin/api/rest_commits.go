package api

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/sluicegate/sluice/internal/standin"
)

// Limits of a comparison: https://docs.github.com/en/rest/commits/commits#compare-two-commits
const (
	maxCompareFiles   = 300
	maxCompareCommits = 250
)

func createStatus(c *call, r *standin.Repo, ask struct {
	State, Context, Description string
	TargetURL                   string `json:"target_url"`
}) (answer, error) {
	s, err := r.AddStatus(standin.Status{
		SHA: c.r.PathValue("sha"), Context: ask.Context, State: ask.State, Description: ask.Description, TargetURL: ask.TargetURL, By: c.who.actor,
	})
	return answer{status: http.StatusCreated, body: c.s.statusJSON(s)}, err
}

func listStatuses(c *call, r *standin.Repo) (answer, error) {
	sha := c.r.PathValue("ref") // no client asks by another name
	if _, err := r.Git().Commit(sha); err != nil {
		return answer{}, standin.Refuse(http.StatusUnprocessableEntity, msgNoCommit, sha)
	}
	return listed(c, r.Statuses(sha), c.s.statusJSON)
}

// compare compares two commits, which no client names otherwise than by their SHAs.
// https://docs.github.com/en/rest/commits/commits#compare-two-commits
func compare(c *call, r *standin.Repo) (answer, error) {
	base, head, _ := strings.Cut(c.r.PathValue("basehead"), "...")
	baseCommit, noBase := r.Git().Commit(base)
	_, noHead := r.Git().Commit(head)
	if err := cmp.Or(noBase, noHead); err != nil {
		return answer{}, err
	}
	shared, err := r.Git().MergeBase(base, head)
	switch {
	case err != nil:
		return answer{}, err
	case shared == "":
		return answer{}, standin.Refuse(http.StatusNotFound, msgNoAncestor, base, head)
	}
	ahead, noAhead := r.Git().Between(base, head)
	behind, noBehind := r.Git().Between(head, base)
	changes, noChanges := r.Git().Diff(shared, head)
	sharedCommit, err := r.Git().Commit(shared)
	if err := errors.Join(noAhead, noBehind, noChanges, err); err != nil {
		return answer{}, err
	}
	status := "diverged"
	switch {
	case base == head:
		status = "identical"
	case len(behind) == 0:
		status = "ahead"
	case len(ahead) == 0:
		status = "behind"
	}
	list, link := ahead[:min(len(ahead), maxCompareCommits)], ""
	q := c.r.URL.Query()
	if q.Has("page") || q.Has("per_page") {
		list, link = page(c, ahead)
	}
	files := []object{}
	if intOf(q.Get("page")) <= 1 { // files stand on the first page only
		files = each(changes[:min(len(changes), maxCompareFiles)], func(f standin.FileChange) object { return c.s.fileJSON(r, f, head) })
	}
	return answer{status: http.StatusOK, link: link, body: object{
		"base_commit":       c.s.commitJSON(baseCommit),
		"merge_base_commit": c.s.commitJSON(sharedCommit), "status": status, "ahead_by": len(ahead), "behind_by": len(behind),
		"total_commits": len(ahead), "commits": each(list, c.s.commitJSON), "files": files,
	}}, nil
}
