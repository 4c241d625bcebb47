package standin

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/graph-gophers/graphql-go"
)

// pullRequest is GraphQL's PullRequest: a copy, made when the query began.
type pullRequest struct {
	repo *repository
	p    Pull

	once      sync.Once
	conflict  string // mergeable, found out once a query: all of an answer is of one piece
	unmerging error
}

func (p *pullRequest) ID() graphql.ID { return graphql.ID(nodeID("PullRequest", p.p.ID)) }

func (p *pullRequest) DatabaseID() *int32 { return databaseID(p.p.ID) }

func (p *pullRequest) FullDatabaseID() *scalar { return bigID(p.p.ID) }

func (p *pullRequest) Number() int32 { return int32(p.p.Number) } // counts from 1

func (p *pullRequest) Title() string { return p.p.Title }

func (p *pullRequest) Body() string { return p.p.Body }

func (p *pullRequest) URL() scalar { return p.repo.URL() + scalar(fmt.Sprintf("/pull/%d", p.p.Number)) }

func (p *pullRequest) Author() *account { return accountOf(p.repo.look.g, p.p.Author) }

func (p *pullRequest) AuthorAssociation() string {
	r := p.repo.r
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.association(p.p.Author)
}

func (p *pullRequest) CreatedAt() scalar { return dateTime(p.p.CreatedAt) }

func (p *pullRequest) UpdatedAt() scalar { return dateTime(p.p.UpdatedAt) }

func (p *pullRequest) ClosedAt() *scalar { return dateOrNil(p.p.ClosedAt) }

func (p *pullRequest) MergedAt() *scalar {
	if !p.p.Merged {
		return nil
	}
	return dateOrNil(p.p.ClosedAt)
}

func (p *pullRequest) Closed() bool { return !p.p.Open }

func (p *pullRequest) Merged() bool { return p.p.Merged }

func (p *pullRequest) MergedBy() *account { return accountOf(p.repo.look.g, p.p.MergedBy) }

func (p *pullRequest) MergeCommit() (*commitNode, error) { return p.repo.commitNode(p.p.MergeSHA) }

func (p *pullRequest) AutoMergeRequest() *autoMergeRequest {
	if p.p.AutoMerge == nil {
		return nil
	}
	return &autoMergeRequest{p, *p.p.AutoMerge}
}

// autoMergeRequest is GraphQL's AutoMergeRequest.
type autoMergeRequest struct {
	pull *pullRequest
	a    AutoMerge
}

func (a *autoMergeRequest) EnabledAt() *scalar { return dateOrNil(a.a.At) }

func (a *autoMergeRequest) EnabledBy() *account { return accountOf(a.pull.repo.look.g, a.a.By) }

func (a *autoMergeRequest) MergeMethod() string { return strings.ToUpper(string(a.a.Method)) }

func (a *autoMergeRequest) PullRequest() *pullRequest { return a.pull }

func (p *pullRequest) State() string {
	switch {
	case p.p.Open:
		return "OPEN"
	case p.p.Merged:
		return "MERGED"
	}
	return "CLOSED"
}

func (p *pullRequest) IsDraft() bool { return p.p.Draft }

func (p *pullRequest) Locked() bool { return false }

func (p *pullRequest) MaintainerCanModify() bool { return false }

func (p *pullRequest) Repository() *repository { return p.repo }

func (p *pullRequest) BaseRepository() *repository { return p.repo }

func (p *pullRequest) IsCrossRepository() bool { return p.repo.r.fork(&p.p) }

// HeadRepository is the fork if the head stands in one. It gives names only.
func (p *pullRequest) HeadRepository() *repository {
	if !p.IsCrossRepository() {
		return p.repo
	}
	name := p.repo.r.headRepo(&p.p)
	return &repository{look: p.repo.look, r: p.repo.r, fork: &name}
}

func (p *pullRequest) HeadRepositoryOwner() *account {
	return accountOf(p.repo.look.g, person(p.p.HeadOwner))
}

func (p *pullRequest) BaseRefName() string { return p.p.Base }

func (p *pullRequest) HeadRefName() string { return p.p.Head }

func (p *pullRequest) HeadRefOID() scalar { return scalar(p.p.HeadSHA) }

// BaseRefOID is where the base was when the pull request was closed, or is now.
func (p *pullRequest) BaseRefOID() (scalar, error) {
	base, err := p.base()
	if base == "" {
		base = zeroSHA // the base is gone, but the field is not nullable
	}
	return scalar(base), err
}

func (p *pullRequest) base() (string, error) {
	if p.p.BaseSHA != "" {
		return p.p.BaseSHA, nil
	}
	return p.repo.look.tip(p.repo.r, "refs/heads/"+p.p.Base)
}

func (p *pullRequest) BaseRef() (*branchRef, error) { return p.repo.branch("refs/heads/" + p.p.Base) }

// HeadRef is null once the branch is gone.
func (p *pullRequest) HeadRef() (*branchRef, error) {
	name := p.repo.r.headRef(p.p.HeadOwner, p.p.Head)
	sha, err := p.repo.look.tip(p.repo.r, name)
	if err != nil || sha == "" {
		return nil, err
	}
	return &branchRef{repo: p.HeadRepository(), name: "refs/heads/" + p.p.Head, sha: sha}, nil
}

func (p *pullRequest) Mergeable() (string, error) {
	p.once.Do(func() {
		var base string
		p.conflict = mergeableUnknown
		if base, p.unmerging = p.base(); p.unmerging == nil {
			p.conflict = p.repo.r.mergeable(p.p, base)
		}
	})
	return p.conflict, p.unmerging
}

func (p *pullRequest) MergeStateStatus() (string, error) {
	mergeable, err := p.Mergeable()
	if err != nil {
		return "UNKNOWN", err
	}
	base, err := p.base()
	if err != nil {
		return "UNKNOWN", err
	}
	return p.repo.r.mergeState(p.p, base, mergeable), nil
}

// ReviewDecision is null unless the base demands reviews.
func (p *pullRequest) ReviewDecision() *string {
	r := p.repo.r
	r.mu.Lock()
	defer r.mu.Unlock()
	want := 0
	for _, rules := range r.rulesOf(p.p.Base, anybody) {
		want = max(want, rules.Reviews)
	}
	approvals, objections := r.opinions(&p.p)
	switch {
	case want == 0:
		return nil
	case objections > 0:
		return optional("CHANGES_REQUESTED")
	case approvals >= want:
		return optional("APPROVED")
	}
	return optional("REVIEW_REQUIRED")
}

func (p *pullRequest) IsMergeQueueEnabled() bool { return p.repo.queue(p.p.Base) != nil }

func (p *pullRequest) IsInMergeQueue() bool {
	r := p.repo.r
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.groups, func(g Group) bool { return g.Pull == p.p.Number })
}

func (p *pullRequest) MergeQueue() *mergeQueue { return p.repo.queue(p.p.Base) }

func (p *pullRequest) changes() (*diff, error) {
	base, err := p.base()
	if err != nil || base == "" {
		return &diff{}, err
	}
	return p.repo.r.changes(&p.p, base)
}

func (p *pullRequest) Additions() (int32, error) {
	df, err := p.changes()
	return int32(df.additions), err // lines of a demo
}

func (p *pullRequest) Deletions() (int32, error) {
	df, err := p.changes()
	return int32(df.deletions), err // lines of a demo
}

// ChangedFiles is the true number, also where lists stop short.
func (p *pullRequest) ChangedFiles() (int32, error) {
	df, err := p.changes()
	return int32(len(df.files)), err // files of a demo
}

// changedFile is GraphQL's PullRequestChangedFile, which has no old name of a rename.
type changedFile struct {
	Path, ChangeType     string
	Additions, Deletions int32
}

var patchStatus = map[string]string{
	"added": "ADDED", "removed": "DELETED", "modified": "MODIFIED", "renamed": "RENAMED", "copied": "COPIED", "changed": "CHANGED",
}

func (p *pullRequest) Files(args window) (*connection[*changedFile], error) {
	df, err := p.changes()
	if err != nil {
		return nil, err
	}
	all := df.files[:min(len(df.files), maxFiles)]
	list := make([]*changedFile, len(all))
	for i, f := range all {
		// lines of a demo
		list[i] = &changedFile{f.path, patchStatus[f.status], int32(f.additions), int32(f.deletions)}
	}
	return cut("files", args, list)
}

type pullCommit struct {
	p *pullRequest
	c *commit
}

func (c *pullCommit) ID() graphql.ID {
	return graphql.ID(nodeID("PullRequestCommit", fmt.Sprintf("%d:%s", c.p.p.Number, c.c.sha)))
}

func (c *pullCommit) Commit() *commitNode { return c.p.repo.nodeOf(c.c) }

func (c *pullCommit) PullRequest() *pullRequest { return c.p }

func (c *pullCommit) URL() scalar { return c.p.URL() + scalar("/commits/"+c.c.sha) }

// Commits are the head's own, oldest first.
func (p *pullRequest) Commits(args window) (*connection[*pullCommit], error) {
	base, err := p.base()
	if err != nil {
		return nil, err
	}
	if base == "" {
		return cut("commits", args, []*pullCommit{})
	}
	commits, err := p.repo.r.git.between(base, p.p.HeadSHA)
	if err != nil {
		return nil, err
	}
	list := make([]*pullCommit, len(commits))
	for i, c := range commits {
		list[i] = &pullCommit{p, c}
	}
	return cut("commits", args, list)
}

type label struct {
	ID          graphql.ID
	Name, Color string
	Description *string
}

func (p *pullRequest) Labels(args struct {
	window
	OrderBy struct{ Field, Direction string }
},
) (*connection[*label], error) {
	list := []*label{}
	for _, name := range p.p.Labels {
		list = append(list, &label{ID: graphql.ID(nodeID("Label", name)), Name: name, Color: "ededed"})
	}
	return cut("labels", args.window, list)
}

func (p *pullRequest) reviewNodes(list []Review) []*reviewNode {
	out := []*reviewNode{}
	for _, v := range list {
		out = append(out, &reviewNode{p, v})
	}
	return out
}

func (p *pullRequest) Reviews(args struct {
	window
	Author *string
	States *[]string
},
) (*connection[*reviewNode], error) {
	list := slices.DeleteFunc(slices.Clone(p.p.Reviews), func(v Review) bool {
		return args.Author != nil && !strings.EqualFold(*args.Author, v.By.rest()) ||
			args.States != nil && !slices.Contains(*args.States, string(v.State))
	})
	return cut("reviews", args.window, p.reviewNodes(list))
}

// LatestReviews is each reviewer's latest, whatever it says.
func (p *pullRequest) LatestReviews(args window) (*connection[*reviewNode], error) {
	var list []Review
	for _, v := range p.p.Reviews {
		list = slices.DeleteFunc(list, func(o Review) bool { return strings.EqualFold(o.By.rest(), v.By.rest()) })
		list = append(list, v)
	}
	return cut("latestReviews", args, p.reviewNodes(list))
}

func (p *pullRequest) LatestOpinionatedReviews(args struct {
	window
	WritersOnly bool
},
) (*connection[*reviewNode], error) {
	r := p.repo.r
	r.mu.Lock()
	list := r.opinionated(&p.p)
	if args.WritersOnly {
		list = slices.DeleteFunc(list, func(v Review) bool { return !r.canWrite(v.By) })
	}
	r.mu.Unlock()
	return cut("latestOpinionatedReviews", args.window, p.reviewNodes(list))
}

// reviewNode is GraphQL's PullRequestReview.
type reviewNode struct {
	p *pullRequest
	v Review
}

func (n *reviewNode) ID() graphql.ID { return graphql.ID(nodeID("PullRequestReview", n.v.ID)) }

func (n *reviewNode) DatabaseID() *int32 { return databaseID(n.v.ID) }

func (n *reviewNode) FullDatabaseID() *scalar { return bigID(n.v.ID) }

func (n *reviewNode) Author() *account { return accountOf(n.p.repo.look.g, n.v.By) }

func (n *reviewNode) AuthorAssociation() string {
	r := n.p.repo.r
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.association(n.v.By)
}

// AuthorCanPushToRepository tells of the reviewer's permission now, not when the review was made.
func (n *reviewNode) AuthorCanPushToRepository() bool {
	r := n.p.repo.r
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.canWrite(n.v.By)
}

func (n *reviewNode) Body() string { return n.v.Body }

func (n *reviewNode) State() string { return string(n.v.State) }

func (n *reviewNode) Commit() (*commitNode, error) { return n.p.repo.commitNode(n.v.On) }

func (n *reviewNode) CreatedAt() scalar { return dateTime(n.v.At) }

func (n *reviewNode) UpdatedAt() scalar { return dateTime(n.v.At) }

func (n *reviewNode) SubmittedAt() *scalar { return dateOrNil(n.v.At) }

func (n *reviewNode) PullRequest() *pullRequest { return n.p }

func (n *reviewNode) URL() scalar {
	return n.p.URL() + scalar(fmt.Sprintf("#pullrequestreview-%d", n.v.ID))
}

func (p *pullRequest) StatusCheckRollup() (*rollup, error) {
	n, err := p.repo.commitNode(p.p.HeadSHA)
	if err != nil {
		return nil, err
	}
	return rollupOf(n), nil
}
