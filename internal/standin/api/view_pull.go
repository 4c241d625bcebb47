package api

import (
	"slices"

	"github.com/sluicegate/sluice/internal/standin"
)

// pullRequest is GraphQL's PullRequest: a copy, made when the query began.
type pullRequest struct {
	repo *repository
	standin.Pull

	conflict string // mergeable, found out once a query: all of an answer is of one piece
}

// headRepository is the fork if the head stands in one.
func (p *pullRequest) headRepository() *repository {
	return &repository{p.repo.view, p.repo.r, p.repo.view.s.idAt(p.repo.r, p.HeadOwner)}
}

func (p *pullRequest) base() (string, error) {
	if p.BaseSHA != "" {
		return p.BaseSHA, nil
	}
	return p.repo.view.tip(p.repo.r, p.Base)
}

// mergeable reports whether git can merge the pull request, as far as that is known.
func (p *pullRequest) mergeable() (string, error) {
	if p.conflict != "" {
		return p.conflict, nil
	}
	tip, err := p.base()
	if err != nil {
		return "", err
	}
	p.conflict = p.repo.r.TryMerge(p.Pull, tip)
	return p.conflict, nil
}

// mergeState is mergeStateStatus; REST spells it in lower case.
func (p *pullRequest) mergeState() (string, error) {
	mergeable, err := p.mergeable()
	if err != nil {
		return "", err
	}
	tip, err := p.base()
	return p.repo.r.MergeState(p.Pull, tip, mergeable), err
}

func (p *pullRequest) changes() ([]standin.FileChange, error) {
	base, err := p.base()
	if err != nil || base == "" {
		return nil, err
	}
	return p.repo.r.Changes(base, p.HeadSHA)
}

// changedFiles is the true number, also where lists stop short.
func (p *pullRequest) changedFiles() (any, error) {
	files, err := p.changes()
	return len(files), err
}

func (p *pullRequest) files(a arguments) (*connection, error) {
	files, err := p.changes()
	if err != nil {
		return nil, err
	}
	return cut("files", a, files[:min(len(files), maxFiles)])
}

// own are the commits of the head that the base has not, oldest first.
func (p *pullRequest) own() ([]*standin.Commit, error) {
	base, err := p.base()
	if err != nil || base == "" {
		return nil, err
	}
	return p.repo.r.Git().Between(base, p.HeadSHA)
}

func (p *pullRequest) commits(a arguments) (*connection, error) {
	own, err := p.own()
	if err != nil {
		return nil, err
	}
	return cutAs("commits", a, own, func(c *standin.Commit) *gitNode { return p.repo.commit(c.SHA) })
}

// timeline is the heads that a pull request lost to forced pushes, or the dismissals of its reviews, the oldest first: the only events that are asked for.
func (p *pullRequest) timeline(a arguments) (*connection, error) {
	if types, _ := a["itemTypes"].([]any); len(types) == 0 || types[0] != "REVIEW_DISMISSED_EVENT" {
		return cutAs("timelineItems", a, p.Lost, p.repo.commit)
	}
	var all []dismissal
	for _, v := range p.Reviews {
		if v.DismissedBy != (standin.Actor{}) {
			all = append(all, dismissal{p.review(v)})
		}
	}
	return cut("timelineItems", a, all)
}

// dismissal is GraphQL's ReviewDismissedEvent.
type dismissal struct{ *review }

// review is GraphQL's PullRequestReview.
type review struct {
	repo *repository
	standin.Review
}

func (p *pullRequest) review(v standin.Review) *review { return &review{p.repo, v} }

func (p *pullRequest) opinions(a arguments) (*connection, error) {
	return cutAs("latestOpinionatedReviews", a, p.Opinions(), p.review)
}

// mayPush is the reviewer's permission now, not when the review was made. Of an App nobody has documented it; true is what costs more.
func (v *review) mayPush() any {
	return v.By.App != 0 || v.repo.r.MustWrite(v.By) == nil
}

// introductions are the pull requests that brought each commit, by their places among the repository's. They are read once a query.
type introductions struct {
	merged map[string][]int // what merging put on a base: the pull request's commits, or what squash or rebase made of them
	heads  map[string][]int // the commits of pull requests, merged or open, as their heads have them
}

// introduced reads all pull requests of a repository, once a query.
func (l *view) introduced(r *repository) (*introductions, error) {
	key := r.r.String()
	if in := l.coming[key]; in != nil {
		return in, nil
	}
	in := &introductions{merged: map[string][]int{}, heads: map[string][]int{}}
	for i, p := range r.r.Pulls() {
		if !p.Merged && !p.Open {
			continue
		}
		if err := in.add(i, &pullRequest{repo: r, Pull: p}); err != nil {
			return nil, err
		}
	}
	l.coming[key] = in
	return in, nil
}

func (in *introductions) add(i int, p *pullRequest) error {
	own, err := p.own()
	if err != nil {
		return err
	}
	for _, c := range own {
		in.heads[c.SHA] = append(in.heads[c.SHA], i)
	}
	if !p.Merged {
		return nil
	}
	base, err := p.base()
	if err != nil || base == "" {
		return err
	}
	brought, err := p.repo.r.Git().Between(base, p.MergeSHA)
	for _, c := range brought {
		in.merged[c.SHA] = append(in.merged[c.SHA], i)
	}
	return err
}

// associated are the merged pull requests that brought the commit, into whatever base; of a commit that is not on
// the default branch also those, merged or open, that have it among their commits.
// https://docs.github.com/en/rest/commits/commits#list-pull-requests-associated-with-a-commit
func (n *gitNode) associated(a arguments) (*connection, error) {
	in, err := n.repo.view.introduced(n.repo)
	if err != nil {
		return nil, err
	}
	places := in.merged[n.o.SHA]
	landed, err := n.onDefaultBranch()
	if err != nil {
		return nil, err
	}
	if !landed {
		places = append(slices.Clone(places), in.heads[n.o.SHA]...)
		slices.Sort(places)
		places = slices.Compact(places)
	}
	all := n.repo.r.Pulls()
	return cutAs("associatedPullRequests", a, places, func(i int) *pullRequest { return &pullRequest{repo: n.repo, Pull: all[i]} })
}

func (n *gitNode) onDefaultBranch() (bool, error) {
	tip, err := n.repo.view.tip(n.repo.r, standin.DefaultBranch)
	if err != nil || tip == "" {
		return false, err
	}
	reach, err := n.repo.r.Git().Ancestors(tip)
	return reach[n.o.SHA], err
}
