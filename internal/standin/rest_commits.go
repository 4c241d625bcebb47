package standin

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
)

// Limits of a comparison: https://docs.github.com/en/rest/commits/commits#compare-two-commits
const (
	maxCompareFiles   = 300
	maxCompareCommits = 250
)

func createStatus(c *call, r *Repo) (answer, error) {
	var ask struct {
		State, Context, Description string
		TargetURL                   string `json:"target_url"`
	}
	if err := c.read(&ask); err != nil {
		return answer{}, err
	}
	s, err := r.setStatus(Status{
		SHA: c.r.PathValue("sha"), Context: ask.Context, State: ask.State, Description: ask.Description, TargetURL: ask.TargetURL, By: c.who.actor,
	})
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusCreated, body: r.statusJSON(s)}, nil
}

func listStatuses(c *call, r *Repo) (answer, error) {
	sha := c.r.PathValue("ref") // no client asks by another name
	if _, err := r.git.commit(sha); err != nil {
		return answer{}, refuse(http.StatusUnprocessableEntity, msgNoCommit, sha)
	}
	list := slices.Clone(r.statuses[sha])
	slices.Reverse(list)
	return listed(c, list, r.statusJSON)
}

// compare compares two commits, which no client names otherwise than by their SHAs.
// https://docs.github.com/en/rest/commits/commits#compare-two-commits
func compare(c *call, r *Repo) (answer, error) {
	base, head, _ := strings.Cut(c.r.PathValue("basehead"), "...")
	baseCommit, noBase := r.git.commit(base)
	_, noHead := r.git.commit(head)
	if err := cmp.Or(noBase, noHead); err != nil {
		return answer{}, err
	}
	shared, err := r.git.mergeBase(base, head)
	if err != nil {
		return answer{}, err
	}
	if shared == "" {
		return answer{}, refuse(http.StatusNotFound, msgNoAncestor, base, head)
	}
	return r.comparison(c, baseCommit, head, shared)
}

func (r *Repo) comparison(c *call, baseCommit *commit, head, shared string) (answer, error) {
	base := baseCommit.sha
	ahead, noAhead := r.git.between(base, head)
	behind, noBehind := r.git.between(head, base)
	changes, noChanges := r.git.diff(shared, head)
	sharedCommit, err := r.git.commit(shared)
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
	first := true
	if q := c.r.URL.Query(); q.Has("page") || q.Has("per_page") {
		first = intOf(q.Get("page")) <= 1
		list, link = page(c, ahead)
	}
	files := []object{}
	if first { // files stand on the first page only
		files = objects(changes[:min(len(changes), maxCompareFiles)], func(f fileChange) object { return r.fileJSON(f, head) })
	}
	return answer{status: http.StatusOK, link: link, body: object{
		"base_commit":       commitJSON(baseCommit),
		"merge_base_commit": commitJSON(sharedCommit), "status": status, "ahead_by": len(ahead), "behind_by": len(behind),
		"total_commits": len(ahead), "commits": objects(list, commitJSON), "files": files,
	}}, nil
}
