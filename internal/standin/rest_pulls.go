package standin

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// maxFiles is how many files of a pull request REST lists in all.
// https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files
const maxFiles = 3000

// listPulls lists pull requests, the latest first: those that are open, unless another state is asked for. No client asks for another
// order.
func listPulls(c *call, r *Repo) (answer, error) {
	var list []*Pull
	q := c.r.URL.Query()
	state, base := q.Get("state"), q.Get("base")
	for _, p := range slices.Backward(r.pulls) {
		if (state == "all" || p.Open == (state != "closed")) && (base == "" || p.Base == base) {
			list = append(list, p)
		}
	}
	return listed(c, list, r.pullJSON)
}

func createPull(c *call, r *Repo) (answer, error) {
	var ask struct {
		Title, Head, Base string
		Draft             bool
	}
	if err := c.read(&ask); err != nil {
		return answer{}, err
	}
	owner, _ := r.splitHead(ask.Head)
	if c.who.token == nil && !r.canWrite(c.who.actor) && !strings.EqualFold(owner, c.who.actor.Login) {
		return answer{}, refuse(http.StatusForbidden, msgMustHave, Write)
	}
	p, err := r.open(NewPull{Title: ask.Title, By: c.who.actor.Login, Base: ask.Base, Head: ask.Head, Draft: ask.Draft})
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusCreated, body: r.onePullJSON(p, detail{mergeable: mergeableUnknown, state: "UNKNOWN"})}, nil
}

// viewed gives the pull request that a path names as a query sees it, 404 if there is none.
func viewed(c *call, r *Repo) (*pullRequest, error) {
	p := (&repository{newView(c.g, c.who, cost{}), r, r.id}).pullNumbered(intOf(c.r.PathValue("pull_number")))
	if p == nil {
		return nil, ErrNotFound
	}
	return p, nil
}

// getPull and the like ask git without the repository's lock.
func getPull(c *call, r *Repo) (answer, error) {
	p, err := viewed(c, r)
	if err != nil {
		return answer{}, err
	}
	d, err := p.detail()
	if err != nil {
		return answer{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return ok(r.onePullJSON(&p.Pull, d))
}

func listFiles(c *call, r *Repo) (answer, error) {
	p, err := viewed(c, r)
	if err != nil {
		return answer{}, err
	}
	r.mu.Lock()
	p.HeadSHA = cmp.Or(r.listed[p.Number], p.HeadSHA)
	r.mu.Unlock()
	files, err := p.changes()
	if err != nil {
		return answer{}, err
	}
	return listed(c, files[:min(len(files), maxFiles)], func(f fileChange) object { return r.fileJSON(f, p.HeadSHA) })
}

// maxPullCommits is how many commits of a pull request REST lists in all.
// https://docs.github.com/en/rest/pulls/pulls#list-commits-on-a-pull-request
const maxPullCommits = 250

func listPullCommits(c *call, r *Repo) (answer, error) {
	p, err := viewed(c, r)
	if err != nil {
		return answer{}, err
	}
	list, err := p.own()
	if err != nil {
		return answer{}, err
	}
	return listed(c, list[:min(len(list), maxPullCommits)], commitJSON)
}

func putMerge(c *call, r *Repo) (answer, error) {
	var ask struct {
		SHA    string `json:"sha"`
		Method Method `json:"merge_method"`
	}
	if err := c.read(&ask); err != nil {
		return answer{}, err
	}
	o := mergeOrder{by: c.who.actor, method: ask.Method, sha: ask.SHA, app: c.who.token != nil}
	sha, err := r.merge(intOf(c.r.PathValue("pull_number")), o)
	if err != nil {
		return answer{}, err
	}
	return ok(object{"sha": sha, "merged": true, "message": msgMerged})
}

func putUpdateBranch(c *call, r *Repo) (answer, error) {
	var ask struct {
		Expected string `json:"expected_head_sha"`
	}
	if err := c.read(&ask); err != nil {
		return answer{}, err
	}
	p, err := r.pull(intOf(c.r.PathValue("pull_number")))
	if err != nil {
		return answer{}, err
	}
	// Writing to the head takes write on the head's repository, which an App on the base has not.
	if r.fork(p) && !strings.EqualFold(c.who.actor.Login, p.HeadOwner) {
		return answer{}, refuse(http.StatusForbidden, msgNoIntegration)
	}
	if err := r.updateBranch(p.Number, c.who.actor, ask.Expected); err != nil {
		return answer{}, err
	}
	url := fmt.Sprintf("%s/%s/pull/%d", r.g.web(), r, p.Number)
	return answer{status: http.StatusAccepted, body: object{"message": msgUpdating, "url": url}}, nil
}
