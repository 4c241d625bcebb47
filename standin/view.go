package standin

import (
	"fmt"
	"slices"
	"strings"
)

// view is what one query sees: every branch is read once, so that all of the answer is of one piece.
type view struct {
	g   *GitHub
	who caller
	cost
	tips   map[string]string         // by repository and full ref name
	coming map[string]*introductions // by repository
}

func newView(g *GitHub, who caller, c cost) *view {
	return &view{g: g, who: who, cost: c, tips: map[string]string{}, coming: map[string]*introductions{}}
}

func (l *view) tip(r *Repo, name string) (string, error) {
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

// repository finds a repository that the caller sees.
func (l *view) repository(a arguments) (*repository, error) {
	r := l.g.find(a.text("owner"), a.text("name"))
	if r == nil || !l.g.sees(l.who, r) {
		return nil, unresolved("to a Repository with the name '%s/%s'.", a.text("owner"), a.text("name"))
	}
	return &repository{l, r, r.id}, nil
}

// repository is GraphQL's Repository; of the fork that a head stands in it has the base's content, which no client reads.
type repository struct {
	view *view
	r    *Repo
	id   int64
}

// ref finds a ref by its full name, or a branch by its own as GitHub allows.
func (r *repository) ref(a arguments) (*branchRef, error) {
	name := a.text("qualifiedName")
	if !strings.HasPrefix(name, "refs/") {
		name = "refs/heads/" + name
	}
	return r.branch(name)
}

func (r *repository) branch(name string) (*branchRef, error) {
	if hidden(name) {
		return nil, nil
	}
	sha, err := r.view.tip(r.r, name)
	if err != nil || sha == "" {
		return nil, err
	}
	return &branchRef{repo: r, name: name, sha: sha}, nil
}

// refs lists refs below a prefix, by name.
func (r *repository) refs(a arguments) (*connection, error) {
	prefix := a.text("refPrefix")
	refs, err := r.r.git.refs(prefix)
	if err != nil || !validRef(strings.TrimSuffix(prefix, "/")) {
		return nil, err
	}
	var list []*branchRef
	for _, one := range refs {
		if !hidden(one.name) {
			list = append(list, &branchRef{repo: r, name: one.name, sha: one.sha})
		}
	}
	return cut("refs", a, list)
}

// pull finds a pull request by its number.
func (r *repository) pull(a arguments) (*pullRequest, error) {
	n, _ := a.number("number")
	p, err := r.r.Pull(n)
	if err != nil {
		return nil, unresolved("to a PullRequest with the number of %d.", n)
	}
	return &pullRequest{repo: r, Pull: p}, nil
}

// pulls lists pull requests in the order in which they were opened, unless asked otherwise.
func (r *repository) pulls(a arguments) (*connection, error) {
	list, states := []*pullRequest{}, a["states"]
	for _, p := range r.r.Pulls() {
		one := &pullRequest{repo: r, Pull: p}
		if some, many := states.([]any); states == nil || states == one.state() || many && slices.Contains(some, any(one.state())) {
			list = append(list, one)
		}
	}
	order, _ := a["orderBy"].(map[string]any)
	if order["field"] == "UPDATED_AT" {
		slices.SortStableFunc(list, func(a, b *pullRequest) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	}
	if order["direction"] == "DESC" {
		slices.Reverse(list)
	}
	return pagePulls(a, list)
}

// pagePulls pages by number: an open pull request that closes between two pages must not shift the others.
func pagePulls(a arguments, list []*pullRequest) (*connection, error) {
	if after := a.text("after"); after != "" {
		n := place(after)
		at := slices.IndexFunc(list, func(p *pullRequest) bool { return p.Number == n })
		if at < 0 { // the one itself has gone
			at = len(list) - 1
			if behind := slices.IndexFunc(list, func(p *pullRequest) bool { return p.Number > n }); behind >= 0 {
				at = behind - 1
			}
		}
		a["after"] = fmt.Sprint(at)
	}
	c, err := cut("pullRequests", a, list)
	if err == nil && len(c.nodes) > 0 {
		c.end = fmt.Sprint(c.nodes[len(c.nodes)-1].(*pullRequest).Number)
	}
	return c, err
}

// find gives a git object by its name or by an expression such as "main:README.md"; null if there is none.
func (r *repository) find(a arguments) (*gitNode, error) {
	if oid := a.text("oid"); oid != "" {
		return r.object(oid)
	}
	return r.object(a.text("expression"))
}

func (r *repository) object(name string) (*gitNode, error) {
	o, err := r.r.git.find(name)
	if err != nil || o.sha == "" {
		return nil, err
	}
	return &gitNode{repo: r, o: o}, nil
}

// commit is a commit that is known to be there; nil of none.
func (r *repository) commit(sha string) *gitNode {
	if sha == "" {
		return nil
	}
	return &gitNode{repo: r, o: gitObject{sha: sha, kind: "commit"}}
}

// branchRef is GraphQL's Ref.
type branchRef struct {
	repo *repository
	name string // full
	sha  string
}

// branch is the branch's name; false of another ref.
func (b *branchRef) branch() (string, bool) { return strings.CutPrefix(b.name, "refs/heads/") }

func (b *branchRef) short() string {
	for _, p := range []string{"refs/heads/", "refs/tags/", "refs/pull/"} {
		if short, found := strings.CutPrefix(b.name, p); found {
			return short
		}
	}
	return strings.TrimPrefix(b.name, "refs/")
}

// updateRule is the branch protection of old as it binds the viewer; rulesets are not in it.
func (b *branchRef) updateRule() *Rules {
	r := b.repo.r
	r.mu.Lock()
	defer r.mu.Unlock()
	branch, isBranch := b.branch()
	for _, rules := range r.rulesOf(branch, b.repo.view.who.actor) {
		if rules.Classic && isBranch {
			return &rules
		}
	}
	return nil
}

func (rules *Rules) contexts() []string {
	list := []string{}
	for _, c := range rules.Checks {
		list = append(list, c.Context)
	}
	return list
}
