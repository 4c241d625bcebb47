package api

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// view is what one query sees: every branch is read once, so that all of the answer is of one piece.
type view struct {
	s   *Server
	who caller
	at  time.Time // that it sees; zero: now
	cost
	tips   map[string]string         // by repository and branch
	coming map[string]*introductions // by repository
}

func newView(s *Server, who caller, c cost) *view {
	return &view{s: s, who: who, at: s.AsOf(), cost: c, tips: map[string]string{}, coming: map[string]*introductions{}}
}

// tip is where a branch was when the query first asked.
func (l *view) tip(r *standin.Repo, branch string) (string, error) {
	key := r.String() + " " + branch
	if sha, ok := l.tips[key]; ok {
		return sha, nil
	}
	sha, err := r.TipAt(branch, l.at)
	if err == nil {
		l.tips[key] = sha
	}
	return sha, err
}

// repository finds a repository that the caller sees.
func (l *view) repository(a arguments) (*repository, error) {
	r := l.s.Repo(a.text("owner"), a.text("name"))
	if r == nil || !l.s.sees(l.who, r) {
		return nil, unresolved("to a Repository with the name '%s/%s'.", a.text("owner"), a.text("name"))
	}
	return &repository{l, r, r.ID()}, nil
}

// owner is GraphQL's Organization.
type owner struct {
	view  *view
	login string
}

// owner finds who has repositories, or had.
func (l *view) owner(a arguments) (*owner, error) {
	o := &owner{l, a.text("login")}
	if len(l.s.reposOf(o.login)) == 0 {
		return nil, nil
	}
	return o, nil
}

// repositories lists what an owner has.
func (o *owner) repositories(a arguments) (*connection, error) {
	list := o.view.s.reposOf(o.login)
	return cutAs("repositories", a, list, func(r *standin.Repo) *repository { return &repository{o.view, r, r.ID()} })
}

// repository is GraphQL's Repository; of the fork that a head stands in it has the base's content, which no client reads.
type repository struct {
	view *view
	r    *standin.Repo
	id   int64
}

// ref finds a branch by its full name; no client asks for another ref.
func (r *repository) ref(a arguments) (*branchRef, error) {
	branch, isBranch := strings.CutPrefix(a.text("qualifiedName"), "refs/heads/")
	if !isBranch {
		return nil, nil
	}
	return r.branch(branch)
}

func (r *repository) branch(name string) (*branchRef, error) {
	sha, err := r.view.tip(r.r, name)
	if err != nil || sha == "" {
		return nil, err
	}
	return &branchRef{repo: r, name: name, sha: sha}, nil
}

// refs lists branches by name; no client asks for other refs.
func (r *repository) refs(a arguments) (*connection, error) {
	if a.text("refPrefix") != "refs/heads/" {
		return nil, nil
	}
	refs, err := r.r.Git().Branches()
	if err != nil {
		return nil, err
	}
	return cutAs("refs", a, refs, func(b standin.Ref) *branchRef { return &branchRef{repo: r, name: b.Name, sha: b.SHA} })
}

// pull finds a pull request by its number.
func (r *repository) pull(a arguments) (*pullRequest, error) {
	n, _ := a.number("number")
	p := r.pullNumbered(n)
	if p == nil {
		return nil, unresolved("to a PullRequest with the number of %d.", n)
	}
	return p, nil
}

// pullNumbered is a pull request as the query sees it; nil if it does not.
func (r *repository) pullNumbered(n int) *pullRequest {
	p, ok := r.r.PullAt(n, r.view.at)
	if !ok {
		return nil
	}
	return &pullRequest{repo: r, Pull: p}
}

// pulls lists pull requests in the order in which they were opened, unless asked otherwise. Their cursor is their number: one that
// closes between two pages must not shift the others.
func (r *repository) pulls(a arguments) (*connection, error) {
	all := r.r.PullsAt(r.view.at)
	order, _ := a["orderBy"].(map[string]any)
	if order["field"] == "UPDATED_AT" {
		slices.SortStableFunc(all, func(a, b standin.Pull) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	}
	if order["direction"] == "DESC" {
		slices.Reverse(all)
	}
	after, states := place(a.text("after")), a["states"]
	list, passed := []*pullRequest{}, 0
	for _, p := range all {
		if some, many := states.([]any); states == nil || states == stateOf(&p) || many && slices.Contains(some, any(stateOf(&p))) {
			list = append(list, &pullRequest{repo: r, Pull: p})
		}
		if p.Number == after {
			passed = len(list)
		}
	}
	a["after"] = strconv.Itoa(passed - 1)
	c, err := cut("pullRequests", a, list)
	if err == nil && len(c.nodes) > 0 {
		c.end = strconv.Itoa(c.nodes[len(c.nodes)-1].(*pullRequest).Number)
	}
	return c, err
}

// find gives a git object by its name or by an expression such as "main:README.md"; null if there is none.
func (r *repository) find(a arguments) (*gitNode, error) {
	if oid := a.text("oid"); oid != "" {
		return r.object(oid)
	}
	name := a.text("expression")
	if path, ok := strings.CutPrefix(name, "HEAD:"); ok {
		name = r.r.Tip(standin.DefaultBranch) + ":" + path
	}
	return r.object(name)
}

func (r *repository) object(name string) (*gitNode, error) {
	o, err := r.r.Git().Find(name)
	if err != nil || o.SHA == "" {
		return nil, err
	}
	return &gitNode{repo: r, o: o}, nil
}

// commit is a commit that is known to be there; nil of none.
func (r *repository) commit(sha string) *gitNode {
	if sha == "" {
		return nil
	}
	return &gitNode{repo: r, o: standin.Object{SHA: sha, Kind: "commit"}}
}

// branchRef is GraphQL's Ref.
type branchRef struct {
	repo      *repository
	name, sha string
}

// updateRule is the branch protection of old as it binds the viewer; rulesets are not in it.
func (b *branchRef) updateRule() *standin.Rules {
	for _, rules := range b.repo.r.RulesOf(b.name, b.repo.view.who.actor) {
		if rules.Classic {
			return &rules
		}
	}
	return nil
}

// contexts are the names of the checks that rules demand.
func contexts(rules *standin.Rules) []string {
	return each(rules.Checks, func(c standin.RequiredCheck) string { return c.Context })
}

// The mutation updateRefs moves, makes and deletes branches, all or none of them.
// https://docs.github.com/en/graphql/reference/git#updaterefs

// updateRefs moves branches atomically; it gives the caller's own word back.
func (l *view) updateRefs(a arguments) (string, error) {
	var input struct {
		ClientMutationID, RepositoryID string
		RefUpdates                     []standin.RefUpdate
	}
	text, err := json.Marshal(a["input"])
	if err == nil {
		err = json.Unmarshal(text, &input)
	}
	if err != nil {
		return "", err
	}
	repos := l.s.Repos()
	at := slices.IndexFunc(repos, func(r *standin.Repo) bool { return nodeID("Repository", r.ID()) == input.RepositoryID })
	if at < 0 || !l.s.sees(l.who, repos[at]) {
		return "", unresolved(msgNoNode, input.RepositoryID)
	}
	r := repos[at]
	var refused *standin.Refusal
	if err := mayWrite(l.who, r); errors.As(err, &refused) {
		return "", GraphQLError{Type: "FORBIDDEN", Message: refused.Message}
	}
	err = r.UpdateRefs(l.who.actor, input.RefUpdates)
	if errors.As(err, &refused) {
		return "", GraphQLError{Type: "UNPROCESSABLE", Message: strings.TrimSpace(refused.Message)}
	}
	return input.ClientMutationID, err
}
