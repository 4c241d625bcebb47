package standin

import (
	"net/http"
	"slices"
	"strings"
)

// Limits of a comparison: https://docs.github.com/en/rest/commits/commits#compare-two-commits
const (
	maxCompareFiles   = 300
	maxCompareCommits = 250
)

// commitRoutes are about commits, their statuses and checks. https://docs.github.com/en/rest/commits
func (g *GitHub) commitRoutes() []route {
	return []route{
		g.inRepo("POST /statuses/{sha}", writeStatuses, locked(createStatus)),
		g.inRepo("GET /commits/{ref...}", readMetadata, aboutCommit),
		g.inRepo("GET /compare/{basehead...}", readContents, compare),
	}
}

// splitCommitPath takes what follows /commits/ apart: a ref, which may hold slashes, and what is asked about it.
func splitCommitPath(rest string) (ref, what string) {
	for _, what := range []string{"/statuses", "/status", "/check-runs"} {
		if ref, ok := strings.CutSuffix(rest, what); ok {
			return ref, what
		}
	}
	return rest, ""
}

func aboutCommit(c *call, r *Repo) (answer, error) {
	ref, what := splitCommitPath(c.r.PathValue("ref"))
	needs := map[string]need{"": readContents, "/statuses": readStatuses, "/status": readStatuses, "/check-runs": readChecks}
	if err := r.may(c.who, needs[what]); err != nil {
		return answer{}, err
	}
	sha, err := r.resolve(ref)
	if err != nil {
		return answer{}, err
	}
	if sha == "" {
		return answer{}, noCommit(ref)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch what {
	case "/statuses":
		return listStatuses(c, r, sha)
	case "/status":
		return combined(c, r, sha)
	case "/check-runs":
		return listChecks(c, r, sha)
	}
	one, err := r.git.commit(sha)
	if err != nil {
		return answer{}, err
	}
	return ok(r.commitJSON(one))
}

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

func listStatuses(c *call, r *Repo, sha string) (answer, error) {
	list := slices.Clone(r.statuses[sha])
	slices.Reverse(list)
	cut, link := page(c, list)
	out := make([]object, 0, len(cut))
	for _, s := range cut {
		out = append(out, r.statusJSON(s))
	}
	return answer{status: http.StatusOK, body: out, link: link}, nil
}

// combined is each context's latest status: failure if one is bad, pending if none are there or one is pending.
// https://docs.github.com/en/rest/commits/statuses#get-the-combined-status-for-a-specific-reference
func combined(c *call, r *Repo, sha string) (answer, error) {
	latest := r.latest(sha)
	state := stateExpected
	for _, s := range latest {
		state = worse(state, ofStatus(s.State))
	}
	word := map[string]string{"": "success", stateFailing: "failure"}[state]
	if word == "" {
		word = "pending"
	}
	cut, link := page(c, latest)
	out := make([]object, 0, len(cut))
	for _, s := range cut {
		out = append(out, r.statusJSON(s))
	}
	api := r.g.api() + "/repos/" + r.String() + "/commits/" + sha
	return answer{status: http.StatusOK, link: link, body: object{
		"state": word, "sha": sha, "total_count": len(latest), "statuses": out, "repository": r.repoJSON(r.self()),
		"commit_url": api, "url": api + "/status",
	}}, nil
}

func listChecks(c *call, r *Repo, sha string) (answer, error) {
	all := r.checks[sha]
	cut, link := page(c, all)
	out := make([]object, 0, len(cut))
	for _, one := range cut {
		out = append(out, r.checkJSON(one))
	}
	return answer{status: http.StatusOK, link: link, body: object{"total_count": len(all), "check_runs": out}}, nil
}

// compare tells how two commits lie to each other. https://docs.github.com/en/rest/commits/commits#compare-two-commits
func compare(c *call, r *Repo) (answer, error) {
	left, right, found := strings.Cut(c.r.PathValue("basehead"), "...")
	if !found {
		return answer{}, notFound()
	}
	base, err := r.resolve(left)
	if err != nil {
		return answer{}, err
	}
	head, err := r.resolve(right)
	if err != nil {
		return answer{}, err
	}
	if base == "" || head == "" {
		return answer{}, notFound()
	}
	shared, err := r.git.mergeBase(base, head)
	if err != nil {
		return answer{}, err
	}
	if shared == "" {
		return answer{}, refuse(http.StatusNotFound, msgNoAncestor, left, right)
	}
	return r.comparison(c, base, head, shared)
}

func (r *Repo) comparison(c *call, base, head, shared string) (answer, error) {
	ahead, err := r.git.between(base, head)
	if err != nil {
		return answer{}, err
	}
	behind, err := r.git.between(head, base)
	if err != nil {
		return answer{}, err
	}
	df, err := r.git.diff(shared, head)
	if err != nil {
		return answer{}, err
	}
	baseCommit, err := r.git.commit(base)
	if err != nil {
		return answer{}, err
	}
	sharedCommit, err := r.git.commit(shared)
	if err != nil {
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
	commits, files := []object{}, []object{}
	for _, one := range list {
		commits = append(commits, r.commitJSON(one))
	}
	if first { // files stand on the first page only
		for _, f := range df.files[:min(len(df.files), maxCompareFiles)] {
			files = append(files, r.fileJSON(f, head))
		}
	}
	web := r.g.web() + "/" + r.String() + "/compare/" + base + "..." + head
	return answer{status: http.StatusOK, link: link, body: object{
		"url": r.g.api() + "/repos/" + r.String() + "/compare/" + base + "..." + head, "html_url": web, "permalink_url": web,
		"diff_url": web + ".diff", "patch_url": web + ".patch", "base_commit": r.commitJSON(baseCommit),
		"merge_base_commit": r.commitJSON(sharedCommit), "status": status, "ahead_by": len(ahead), "behind_by": len(behind),
		"total_commits": len(ahead), "commits": commits, "files": files,
	}}, nil
}
