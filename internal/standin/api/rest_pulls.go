package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/internal/standin"
)

// maxFiles is how many files of a pull request REST lists in all.
// https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files
const maxFiles = 3000

// listPulls lists pull requests, the latest first: those that are open, unless another state is asked for. No client asks for another
// order.
func listPulls(c *call, r *standin.Repo) (answer, error) {
	var list []standin.Pull
	q := c.r.URL.Query()
	state, base := q.Get("state"), q.Get("base")
	for _, p := range slices.Backward(r.Pulls()) {
		if (state == "all" || p.Open == (state != "closed")) && (base == "" || p.Base == base) {
			list = append(list, p)
		}
	}
	return listed(c, list, func(p standin.Pull) object { return c.s.pullJSON(r, &p) })
}

func createPull(c *call, r *standin.Repo, ask struct {
	Title, Head, Base string
	Draft             bool
}) (answer, error) {
	fork, _, _ := strings.Cut(ask.Head, ":")
	if err := mayWrite(c.who, r); err != nil && !strings.EqualFold(fork, c.who.actor.Login) {
		return answer{}, err
	}
	p, err := r.Open(standin.NewPull{Title: ask.Title, By: c.who.actor.Login, Base: ask.Base, Head: ask.Head, Draft: ask.Draft})
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusCreated, body: c.s.onePullJSON(r, &p, detail{mergeable: unknown, state: unknown})}, nil
}

func getPull(c *call, p *pullRequest) (answer, error) {
	d, err := p.detail()
	return answer{status: http.StatusOK, body: c.s.onePullJSON(p.repo.r, &p.Pull, d)}, err
}

func listFiles(c *call, p *pullRequest) (answer, error) {
	p.HeadSHA = p.repo.r.ListedHead(p.Pull)
	files, err := p.changes()
	if err != nil {
		return answer{}, err
	}
	return listed(c, files[:min(len(files), maxFiles)], func(f standin.FileChange) object { return c.s.fileJSON(p.repo.r, f, p.HeadSHA) })
}

// maxPullCommits is how many commits of a pull request REST lists in all.
// https://docs.github.com/en/rest/pulls/pulls#list-commits-on-a-pull-request
const maxPullCommits = 250

func listPullCommits(c *call, p *pullRequest) (answer, error) {
	list, err := p.own()
	if err != nil {
		return answer{}, err
	}
	return listed(c, list[:min(len(list), maxPullCommits)], c.s.commitJSON)
}

func putMerge(c *call, r *standin.Repo, ask struct {
	SHA    string         `json:"sha"`
	Method standin.Method `json:"merge_method"`
}) (answer, error) {
	sha, err := r.Merge(c.number(), standin.MergeOrder{By: c.who.actor, Method: ask.Method, SHA: ask.SHA})
	return answer{status: http.StatusOK, body: object{"sha": sha, "merged": true, "message": msgMerged}}, err
}

func putUpdateBranch(c *call, r *standin.Repo, ask struct {
	Expected string `json:"expected_head_sha"`
}) (answer, error) {
	p, err := r.Pull(c.number())
	if err != nil {
		return answer{}, err
	}
	// Writing to the head takes write on the head's repository, which an App on the base has not.
	if !strings.EqualFold(p.HeadOwner, r.Owner()) && !strings.EqualFold(p.HeadOwner, c.who.actor.Login) {
		return answer{}, standin.Refuse(http.StatusForbidden, msgNoIntegration)
	}
	url := fmt.Sprintf("%s/%s/pull/%d", c.s.URL(), r, p.Number)
	return answer{status: http.StatusAccepted, body: object{"message": msgUpdating, "url": url}}, r.UpdateBranch(p.Number, c.who.actor, ask.Expected)
}
