package standin

import (
	"slices"
)

// introduced tells by which pull requests commits came, each by its place among the repository's. It is made once a query.
type introduced struct {
	merged map[string][]int // what merging put on a base: the pull request's commits, or what squash or rebase made of them
	heads  map[string][]int // the commits of pull requests, merged or open, as their heads have them
}

// introduced reads all pull requests of a repository, once a query.
func (l *look) introduced(r *repository) (*introduced, error) {
	l.comingMu.Lock()
	defer l.comingMu.Unlock()
	key := r.r.String()
	if in := l.coming[key]; in != nil {
		return in, nil
	}
	in := &introduced{merged: map[string][]int{}, heads: map[string][]int{}}
	for i, p := range r.r.Pulls() {
		if !p.Merged && !p.Open {
			continue
		}
		if err := in.add(i, &pullRequest{repo: r, p: p}); err != nil {
			return nil, err
		}
	}
	l.coming[key] = in
	return in, nil
}

func (in *introduced) add(i int, p *pullRequest) error {
	base, err := p.base()
	if err != nil || base == "" {
		return err
	}
	commits, err := p.repo.r.git.between(base, p.p.HeadSHA)
	if err != nil {
		return err
	}
	for _, c := range commits {
		in.heads[c.sha] = append(in.heads[c.sha], i)
	}
	if !p.p.Merged {
		return nil
	}
	if commits, err = p.repo.r.git.between(base, p.p.MergeSHA); err != nil {
		return err
	}
	for _, c := range commits {
		in.merged[c.sha] = append(in.merged[c.sha], i)
	}
	return nil
}

// AssociatedPullRequests are the merged pull requests by which the commit came, into whatever base; of a commit that is not on
// the default branch also those, merged or open, that have it among their commits.
// https://docs.github.com/en/rest/commits/commits#list-pull-requests-associated-with-a-commit
func (n *commitNode) AssociatedPullRequests(args struct {
	window
	OrderBy struct{ Field, Direction string }
},
) (*connection[*pullRequest], error) {
	l := n.repo.look
	if err := l.may("pull_requests"); err != nil {
		return nil, err
	}
	in, err := l.introduced(n.repo)
	if err != nil {
		return nil, err
	}
	places := in.merged[n.o.sha]
	landed, err := n.onDefaultBranch()
	if err != nil {
		return nil, err
	}
	if !landed {
		places = append(slices.Clone(places), in.heads[n.o.sha]...)
		slices.Sort(places)
		places = slices.Compact(places)
	}
	all, list := n.repo.r.Pulls(), []*pullRequest{}
	for _, i := range places {
		list = append(list, &pullRequest{repo: n.repo, p: all[i]})
	}
	if args.OrderBy.Field == "UPDATED_AT" {
		slices.SortStableFunc(list, func(a, b *pullRequest) int { return a.p.UpdatedAt.Compare(b.p.UpdatedAt) })
	}
	if args.OrderBy.Direction == "DESC" {
		slices.Reverse(list)
	}
	return cut("associatedPullRequests", args.window, list)
}

func (n *commitNode) onDefaultBranch() (bool, error) {
	tip, err := n.repo.look.tip(n.repo.r, "refs/heads/"+defaultBranch)
	if err != nil || tip == "" {
		return false, err
	}
	reach, err := n.repo.r.git.ancestors(tip)
	return reach[n.o.sha], err
}
