package standin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/graph-gophers/graphql-go"
)

// look is what one query sees: every branch is read once, so that all of the answer is of one piece.
type look struct {
	g   *GitHub
	who caller
	cost
	mu   sync.Mutex
	tips map[string]string // by repository and full ref name

	comingMu sync.Mutex
	coming   map[string]*introduced // by repository
}

type lookKey struct{}

func newLook(g *GitHub, who caller, c cost) *look {
	return &look{g: g, who: who, cost: c, tips: map[string]string{}, coming: map[string]*introduced{}}
}

func lookOf(ctx context.Context) *look {
	l, _ := ctx.Value(lookKey{}).(*look) // serveGraphQL put it there
	return l
}

func (l *look) tip(r *Repo, name string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := r.String() + " " + name
	if sha, ok := l.tips[key]; ok {
		return sha, nil
	}
	sha, err := r.git.tip(name)
	if err == nil {
		l.tips[key] = sha
	}
	return sha, err
}

// may tells whether the caller's token has a permission; persons see everything.
func (l *look) may(permission string) error {
	if l.who.token != nil && l.who.token.permissions[permission] == "" {
		return &queryError{"FORBIDDEN", msgNoIntegration}
	}
	return nil
}

type queryRoot struct{ g *GitHub }

// Viewer is who asks; an App's bot is spelled with its suffix here, and only here.
func (q *queryRoot) Viewer(ctx context.Context) *account {
	a := lookOf(ctx).who.actor
	return &account{g: q.g, actor: person(a.rest())}
}

type rateLimit struct {
	Cost, Limit, NodeCount, Remaining, Used int32
	ResetAt                                 scalar
}

// RateLimit tells of the caller's budget.
func (q *queryRoot) RateLimit(ctx context.Context, _ struct{ DryRun bool }) *rateLimit {
	l := lookOf(ctx)
	b := q.g.limits.peek(limitKey{l.who.id, "graphql"}, q.g.now())
	// all are far below 2^31
	return &rateLimit{
		Cost: int32(l.points()), NodeCount: int32(l.nodes), Limit: int32(b.limit), Remaining: int32(b.remaining), Used: int32(b.used), ResetAt: dateTime(b.reset),
	}
}

// Repository finds a repository that the caller sees.
func (q *queryRoot) Repository(ctx context.Context, args struct {
	Owner, Name   string
	FollowRenames bool
},
) (*repository, error) {
	l := lookOf(ctx)
	r := q.g.find(args.Owner, args.Name)
	if r == nil || !q.g.sees(l.who, r) {
		return nil, unresolved("to a Repository with the name '%s/%s'.", args.Owner, args.Name)
	}
	return &repository{look: l, r: r}, nil
}

func dateTime(t time.Time) scalar { return scalar(t.UTC().Format(time.RFC3339)) }

func dateOrNil(t time.Time) *scalar {
	if t.IsZero() {
		return nil
	}
	s := dateTime(t)
	return &s
}

// databaseID is a number for GraphQL's Int; it has no room for GitHub's largest, which is why there is fullDatabaseId.
func databaseID(id int64) *int32 {
	n := int32(id) // the stand-in's numbers start at 1000
	return &n
}

func bigID(id int64) *scalar {
	s := scalar(fmt.Sprint(id))
	return &s
}

// account is a User, a Bot, an Actor and a RepositoryOwner.
type account struct {
	g     *GitHub
	actor Actor
}

func accountOf(g *GitHub, a Actor) *account {
	if a.Login == "" {
		return nil
	}
	return &account{g, a}
}

func (a *account) kind() string {
	if a.actor.App != 0 {
		return "Bot"
	}
	return "User"
}

// ID and the methods below are fields of the schema.
func (a *account) ID() graphql.ID {
	return graphql.ID(nodeID(a.kind(), a.g.idOf(a.actor.rest())))
}

func (a *account) DatabaseID() *int32 { return databaseID(a.g.idOf(a.actor.rest())) }

// Login is an App's slug without "[bot]", other than in REST.
func (a *account) Login() string { return a.actor.Login }

func (a *account) Name() *string { return nil }

func (a *account) ResourcePath() scalar {
	if a.actor.App != 0 {
		return scalar("/apps/" + a.actor.Login)
	}
	return scalar("/" + a.actor.Login)
}

func (a *account) URL() scalar { return scalar(a.g.web()) + a.ResourcePath() }

// ToUser and ToBot tell which type an Actor is.
func (a *account) ToUser() (*account, bool) { return a, a.actor.App == 0 }

func (a *account) ToBot() (*account, bool) { return a, a.actor.App != 0 }

// repository is GraphQL's Repository.
type repository struct {
	look *look
	r    *Repo
	fork *repoName // of a head in a fork: only its names are known
}

func (r *repository) self() repoName {
	if r.fork != nil {
		return *r.fork
	}
	return r.r.self()
}

func (r *repository) ID() graphql.ID { return graphql.ID(nodeID("Repository", r.self().id)) }

func (r *repository) DatabaseID() *int32 { return databaseID(r.self().id) }

func (r *repository) Name() string { return r.self().name }

func (r *repository) NameWithOwner() string { return r.self().owner + "/" + r.self().name }

func (r *repository) Owner() *account { return &account{r.look.g, person(r.self().owner)} }

func (r *repository) URL() scalar { return scalar(r.look.g.web() + "/" + r.NameWithOwner()) }

func (r *repository) IsFork() bool { return r.fork != nil }

func (r *repository) IsPrivate() bool { return false }

func (r *repository) IsArchived() bool { return false }

func (r *repository) AutoMergeAllowed() bool { return true }

func (r *repository) DeleteBranchOnMerge() bool { return false }

func (r *repository) MergeCommitAllowed() bool { return true }

func (r *repository) SquashMergeAllowed() bool { return true }

func (r *repository) RebaseMergeAllowed() bool { return true }

func (r *repository) CreatedAt() scalar { return dateTime(r.r.created) }

func (r *repository) PushedAt() *scalar {
	r.r.mu.Lock()
	defer r.r.mu.Unlock()
	return dateOrNil(r.r.pushed)
}

func (r *repository) UpdatedAt() scalar { return *r.PushedAt() }

// ViewerPermission is null for an App, which has permissions of another kind.
func (r *repository) ViewerPermission() *string {
	if r.look.who.token != nil {
		return nil
	}
	r.r.mu.Lock()
	defer r.r.mu.Unlock()
	return optional(strings.ToUpper(r.r.permission(r.look.who.actor.Login)))
}

func (r *repository) DefaultBranchRef() (*branchRef, error) {
	return r.branch("refs/heads/" + defaultBranch)
}

// Ref finds a ref by its full name, or a branch by its own as GitHub allows.
func (r *repository) Ref(args struct{ QualifiedName string }) (*branchRef, error) {
	name := args.QualifiedName
	if !strings.HasPrefix(name, "refs/") {
		name = "refs/heads/" + name
	}
	return r.branch(name)
}

func (r *repository) branch(name string) (*branchRef, error) {
	if hidden(name) {
		return nil, nil
	}
	sha, err := r.look.tip(r.r, name)
	if err != nil || sha == "" {
		return nil, err
	}
	return &branchRef{repo: r, name: name, sha: sha}, nil
}

// Refs lists refs below a prefix, by name.
func (r *repository) Refs(args struct {
	window
	RefPrefix string
	Query     *string
	Direction *string
	OrderBy   *struct{ Field, Direction string }
},
) (*connection[*branchRef], error) {
	refs, err := r.r.git.refs(args.RefPrefix)
	if err != nil || !validRef(strings.TrimSuffix(args.RefPrefix, "/")) {
		return nil, err
	}
	var list []*branchRef
	for _, one := range refs {
		if !hidden(one.name) && (args.Query == nil || strings.Contains(one.name, *args.Query)) {
			list = append(list, &branchRef{repo: r, name: one.name, sha: one.sha})
		}
	}
	return cut("refs", args.window, list)
}

// PullRequest finds one by its number.
func (r *repository) PullRequest(args struct{ Number int32 }) (*pullRequest, error) {
	if err := r.look.may("pull_requests"); err != nil {
		return nil, err
	}
	p, err := r.r.Pull(int(args.Number))
	if err != nil {
		return nil, unresolved("to a PullRequest with the number of %d.", args.Number)
	}
	return &pullRequest{repo: r, p: p}, nil
}

// PullRequests lists them in the order in which they were opened, unless asked otherwise.
func (r *repository) PullRequests(args struct {
	window
	States                   *[]string
	BaseRefName, HeadRefName *string
	Labels                   *[]string
	OrderBy                  *struct{ Field, Direction string }
},
) (*connection[*pullRequest], error) {
	if err := r.look.may("pull_requests"); err != nil {
		return nil, err
	}
	list := []*pullRequest{}
	for _, p := range r.r.Pulls() {
		one := &pullRequest{repo: r, p: p}
		switch {
		case args.States != nil && !slices.Contains(*args.States, one.State()):
		case args.BaseRefName != nil && *args.BaseRefName != p.Base:
		case args.HeadRefName != nil && *args.HeadRefName != p.Head:
		case args.Labels != nil && !slices.ContainsFunc(*args.Labels, func(l string) bool { return slices.Contains(p.Labels, l) }):
		default:
			list = append(list, one)
		}
	}
	if o := args.OrderBy; o != nil {
		if o.Field == "UPDATED_AT" {
			slices.SortStableFunc(list, func(a, b *pullRequest) int { return a.p.UpdatedAt.Compare(b.p.UpdatedAt) })
		}
		if o.Direction == "DESC" {
			slices.Reverse(list)
		}
	}
	return pagePulls(args.window, list)
}

// pagePulls pages by number: an open pull request that closes between two pages must not shift the others.
func pagePulls(w window, list []*pullRequest) (*connection[*pullRequest], error) {
	at := func(cursor *string) *string {
		if cursor == nil {
			return nil
		}
		n := place(*cursor)
		for i, p := range list {
			if p.p.Number == n {
				return optional(fmt.Sprint(i))
			}
		}
		behind := slices.IndexFunc(list, func(p *pullRequest) bool { return p.p.Number > n }) // the one itself has gone
		if behind < 0 {
			behind = len(list)
		}
		return optional(fmt.Sprint(behind - 1))
	}
	w.After, w.Before = at(w.After), at(w.Before)
	c, err := cut("pullRequests", w, list)
	if err != nil {
		return nil, err
	}
	if nodes := *c.Nodes; len(nodes) > 0 {
		c.PageInfo.StartCursor = optional(fmt.Sprint(nodes[0].p.Number))
		c.PageInfo.EndCursor = optional(fmt.Sprint(nodes[len(nodes)-1].p.Number))
	}
	return c, nil
}

// Object finds a git object by its name or by an expression such as "main:README.md"; null if there is none.
func (r *repository) Object(args struct {
	Expression *string
	OID        *scalar
},
) (*gitNode, error) {
	if err := r.look.may("contents"); err != nil {
		return nil, err
	}
	name := ""
	switch {
	case args.OID != nil:
		name = string(*args.OID)
	case args.Expression != nil:
		name = *args.Expression
	}
	return r.object(name)
}

func (r *repository) object(name string) (*gitNode, error) {
	o, err := r.r.git.cat.info(name)
	if err != nil || o.sha == "" {
		return nil, err
	}
	return &gitNode{repo: r, o: o}, nil
}

// MergeQueue is null unless the branch has one.
func (r *repository) MergeQueue(args struct{ Branch *string }) *mergeQueue {
	branch := defaultBranch
	if args.Branch != nil {
		branch = *args.Branch
	}
	return r.queue(branch)
}

func (r *repository) queue(branch string) *mergeQueue {
	r.r.mu.Lock()
	defer r.r.mu.Unlock()
	for _, rules := range r.r.rulesOf(branch, anybody) {
		if rules.Queue {
			return &mergeQueue{repo: r, branch: branch}
		}
	}
	return nil
}

type mergeQueue struct {
	repo   *repository
	branch string
}

func (q *mergeQueue) ID() graphql.ID { return graphql.ID(nodeID("MergeQueue", q.branch)) }

func (q *mergeQueue) ResourcePath() scalar {
	return scalar("/" + q.repo.NameWithOwner() + "/queue/" + q.branch)
}

func (q *mergeQueue) URL() scalar { return scalar(q.repo.look.g.web()) + q.ResourcePath() }

func (q *mergeQueue) Repository() *repository { return q.repo }
