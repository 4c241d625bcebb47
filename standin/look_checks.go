package standin

import (
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// rollup is GraphQL's StatusCheckRollup: a commit's statuses and check runs taken together.
type rollup struct {
	n        *commitNode
	state    string
	statuses []Status
	checks   []Check
}

// rollupOf is null if nothing was reported.
func rollupOf(n *commitNode) *rollup {
	r := n.repo.r
	r.mu.Lock()
	defer r.mu.Unlock()
	state := r.rollup(n.o.sha)
	if state == "" {
		return nil
	}
	return &rollup{n: n, state: state, statuses: r.latest(n.o.sha), checks: r.checks[n.o.sha]}
}

func (r *rollup) ID() graphql.ID { return graphql.ID(nodeID("StatusCheckRollup", r.n.o.sha)) }

func (r *rollup) State() string { return r.state }

func (r *rollup) Commit() *commitNode { return r.n }

// rollupContext is one of the union's two kinds.
type rollupContext struct {
	status *statusContext
	check  *checkRun
}

// ToStatusContext and ToCheckRun tell which kind it is.
func (c *rollupContext) ToStatusContext() (*statusContext, bool) { return c.status, c.status != nil }

func (c *rollupContext) ToCheckRun() (*checkRun, bool) { return c.check, c.check != nil }

type rollupConnection struct {
	Nodes                             *[]*rollupContext
	PageInfo                          pageInfo
	TotalCount                        int32
	CheckRunCount, StatusContextCount int32
}

func (r *rollup) Contexts(args window) (*rollupConnection, error) {
	list := []*rollupContext{}
	for _, c := range r.checks {
		list = append(list, &rollupContext{check: &checkRun{r.n, c}})
	}
	for _, s := range r.statuses {
		list = append(list, &rollupContext{status: &statusContext{r.n, s}})
	}
	c, err := cut("contexts", args, list)
	if err != nil {
		return nil, err
	}
	// a thousand at most
	return &rollupConnection{
		Nodes: c.Nodes, PageInfo: c.PageInfo, TotalCount: c.TotalCount,
		CheckRunCount: int32(len(r.checks)), StatusContextCount: int32(len(r.statuses)),
	}, nil
}

// statusContext is GraphQL's StatusContext.
type statusContext struct {
	n *commitNode
	s Status
}

func (s *statusContext) ID() graphql.ID { return graphql.ID(nodeID("StatusContext", s.s.ID)) }

func (s *statusContext) Commit() *commitNode { return s.n }

func (s *statusContext) Context() string { return s.s.Context }

func (s *statusContext) State() string { return strings.ToUpper(s.s.State) }

func (s *statusContext) Description() *string { return optional(s.s.Description) }

func (s *statusContext) CreatedAt() scalar { return dateTime(s.s.At) }

func (s *statusContext) Creator() *account { return accountOf(s.n.repo.look.g, s.s.By) }

func (s *statusContext) TargetURL() *scalar {
	if s.s.TargetURL == "" {
		return nil
	}
	u := scalar(s.s.TargetURL)
	return &u
}

// whichPull is the pull request that a question of requirement is about.
type whichPull struct {
	PullRequestID     *graphql.ID
	PullRequestNumber *int32
}

func (n *commitNode) required(name string, which whichPull) bool {
	r := n.repo.r
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.pulls {
		byNumber := which.PullRequestNumber != nil && int(*which.PullRequestNumber) == p.Number
		byID := which.PullRequestID != nil && string(*which.PullRequestID) == nodeID("PullRequest", p.ID)
		if !byNumber && !byID {
			continue
		}
		for _, rules := range r.rulesOf(p.Base, anybody) {
			if slices.ContainsFunc(rules.Checks, func(c RequiredCheck) bool { return strings.EqualFold(c.Context, name) }) {
				return true
			}
		}
	}
	return false
}

func (s *statusContext) IsRequired(args whichPull) bool { return s.n.required(s.s.Context, args) }

// checkRun is GraphQL's CheckRun.
type checkRun struct {
	n *commitNode
	c Check
}

func (c *checkRun) ID() graphql.ID { return graphql.ID(nodeID("CheckRun", c.c.ID)) }

func (c *checkRun) DatabaseID() *int32 { return databaseID(c.c.ID) }

func (c *checkRun) Name() string { return c.c.Name }

func (c *checkRun) Status() string { return strings.ToUpper(c.c.Status) }

func (c *checkRun) Conclusion() *string {
	if c.c.Status != "completed" {
		return nil
	}
	return optional(strings.ToUpper(c.c.Conclusion))
}

func (c *checkRun) StartedAt() *scalar { return dateOrNil(c.c.At) }

func (c *checkRun) CompletedAt() *scalar {
	if c.c.Status != "completed" {
		return nil
	}
	return dateOrNil(c.c.At)
}

func (c *checkRun) URL() scalar { return c.n.repo.URL() + scalar("/runs/"+itoa(c.c.ID)) }

func (c *checkRun) DetailsURL() *scalar {
	u := c.URL()
	return &u
}

func (c *checkRun) IsRequired(args whichPull) bool { return c.n.required(c.c.Name, args) }

func (c *checkRun) CheckSuite() *checkSuite { return &checkSuite{c} }

// checkSuite is GraphQL's CheckSuite.
type checkSuite struct{ run *checkRun }

func (s *checkSuite) ID() graphql.ID { return graphql.ID(nodeID("CheckSuite", s.run.c.Suite)) }

func (s *checkSuite) DatabaseID() *int32 { return databaseID(s.run.c.Suite) }

func (s *checkSuite) Status() string { return s.run.Status() }

func (s *checkSuite) Conclusion() *string { return s.run.Conclusion() }

func (s *checkSuite) CreatedAt() scalar { return dateTime(s.run.c.At) }

func (s *checkSuite) UpdatedAt() scalar { return dateTime(s.run.c.At) }

func (s *checkSuite) URL() scalar { return s.run.n.repo.URL() + scalar("/suites/"+itoa(s.run.c.Suite)) }

func (s *checkSuite) App() *app { return &app{s.run.n.repo.look.g, s.run.c.App} }

// app is GraphQL's App.
type app struct {
	g *GitHub
	a Actor
}

func (a *app) ID() graphql.ID { return graphql.ID(nodeID("App", a.a.App)) }

func (a *app) DatabaseID() *int32 { return databaseID(a.a.App) }

func (a *app) Name() string { return a.a.Login }

func (a *app) Slug() string { return a.a.Login }

func (a *app) URL() scalar { return scalar(a.g.web() + "/apps/" + a.a.Login) }
