// Package person does what people tell sluice at GitHub, by its REST API with a person's own token: GitHub decides whether that person may, and shows who did. It
// writes the comments by which somebody releases what is closed, and makes and removes the branch that freezes a repository, plan.FreezeBranch.
//
// That branch has a history of its own and one file that says what it is for, so that its push starts nothing of the repository's CI, and nothing of the repository
// can be lost by it. What it means is package plan's (FreezeOf).
//
// How it fails: closed. A freeze that stands is moved to the new one, never removed in between, and one that could not be made is an error. No error holds the token.
package person

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
	"golang.org/x/sync/errgroup"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// Site is GitHub, for one person.
type Site struct {
	Waits   func(time.Duration) // is told when GitHub wants to be left alone for that long; nil: nobody is
	rest    *github.Client
	graphQL string
}

// most is how long a request may take. Somebody is waiting.
const most = 30 * time.Second

// NewSite is GitHub at the address of its REST API, and of its GraphQL if that does not follow from it ("": it does), for who has a token; over what carries
// requests (nil: [http.DefaultTransport]).
func NewSite(rest, graphQL, token string, over http.RoundTripper) (*Site, error) {
	at, err := url.Parse(strings.TrimSuffix(rest, "/") + "/")
	if err != nil {
		return nil, err
	}
	c := github.NewClient(&http.Client{Transport: over, Timeout: most, CheckRedirect: sameHost}).WithAuthToken(token)
	c.BaseURL = at
	if graphQL == "" {
		graphQL, err = client.GraphQL(rest)
	}
	return &Site{rest: c, graphQL: graphQL}, err
}

// sameHost follows a repository that was renamed, and takes the token nowhere else.
func sameHost(r *http.Request, via []*http.Request) error {
	if len(via) > 3 || r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}

// ref is the branch as REST names it.
const ref = "heads/" + config.FreezeBranch

// explains is what stands in the branch's only file.
const explains = "While this branch is there, sluice releases nothing of this repository, until the instant after `Until:` in the message of its last commit, if there\n" +
	"is one. Delete the branch to end the freeze, or run `sluice freeze --end OWNER/REPO`.\n"

// Begin freezes a repository, also one that is frozen already. What the message says is what the service will read.
func (s *Site) Begin(ctx context.Context, owner, repo string, f plan.Freeze) error {
	if got := plan.FreezeOf("?", f.Message()); got.Reason != f.Reason || !got.Until.Equal(f.Until.Truncate(time.Second)) {
		return fmt.Errorf("the reason %q would be read as %q: use one line of at most %d characters, without Until at its beginning", f.Reason, got.Reason, plan.MaxText)
	}
	file := &github.TreeEntry{Path: github.String("README.md"), Mode: github.String("100644"), Type: github.String("blob"), Content: github.String(explains)}
	var tree *github.Tree
	if err := s.patiently(ctx, func() (err error) {
		tree, _, err = s.rest.Git.CreateTree(ctx, owner, repo, "", []*github.TreeEntry{file})
		return shown(err, tree.GetSHA() != "")
	}); err != nil {
		return said(err)
	}
	var commit *github.Commit
	if err := s.patiently(ctx, func() (err error) {
		commit, _, err = s.rest.Git.CreateCommit(ctx, owner, repo, &github.Commit{Message: github.String(f.Message()), Tree: tree}, nil)
		return shown(err, commit.GetSHA() != "")
	}); err != nil {
		return said(err)
	}
	at := &github.Reference{Ref: github.String("refs/" + ref), Object: &github.GitObject{SHA: commit.SHA}}
	return said(s.patiently(ctx, func() error {
		made, _, err := s.rest.Git.CreateRef(ctx, owner, repo, at)
		if status(err) == http.StatusUnprocessableEntity { // it may be there
			made, _, err = s.rest.Git.UpdateRef(ctx, owner, repo, at, true)
		}
		return shown(err, made.GetObject().GetSHA() == commit.GetSHA())
	}))
}

// How long GitHub is waited for, and how often: it takes 80 requests a minute that make something, and three are needed for each repository.
const (
	waitMost  = 2 * time.Minute
	waitsMost = 3
)

// patiently tries again after GitHub's secondary limit.
func (s *Site) patiently(ctx context.Context, try func() error) error {
	for n := 0; ; n++ {
		err := try()
		var limited *github.AbuseRateLimitError
		if n == waitsMost || !errors.As(err, &limited) {
			return err
		}
		wait := time.Minute
		if limited.RetryAfter != nil {
			wait = min(*limited.RetryAfter, waitMost)
		}
		if s.Waits != nil {
			s.Waits(wait)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// End ends the freeze of a repository, and reports whether there was one.
func (s *Site) End(ctx context.Context, owner, repo string) (bool, error) {
	_, err := s.rest.Git.DeleteRef(ctx, owner, repo, ref)
	if status(err) == http.StatusUnprocessableEntity { // it is not there, or may not be deleted
		if _, _, there := s.rest.Git.GetRef(ctx, owner, repo, ref); status(there) == http.StatusNotFound {
			return false, nil
		}
	}
	return err == nil, said(err)
}

// managed asks for the repositories of an owner, and whether they have the file.
const managed = `query managed($owner: String!, $after: String, $file: String!) {
  repositoryOwner(login: $owner) {
    repositories(first: 100, after: $after, ownerAffiliations: OWNER) {
      nodes { name isArchived isDisabled object(expression: $file) { oid } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`

// Comment writes a comment on a pull request, and gives its address.
func (s *Site) Comment(ctx context.Context, owner, repo string, pull int, text string) (at string, err error) {
	err = s.patiently(ctx, func() error {
		c, _, err := s.rest.Issues.CreateComment(ctx, owner, repo, pull, &github.IssueComment{Body: &text})
		at = c.GetHTMLURL()
		return shown(err, c.GetID() != 0)
	})
	return at, said(err)
}

// Managed is the repositories of an organization, or a person, that have the file, those that are archived left out.
func (s *Site) Managed(ctx context.Context, owner string) (names []string, err error) {
	variables := map[string]any{"owner": owner, "file": "HEAD:" + config.File}
	for {
		var answer struct {
			Errors []struct{ Message string }
			Data   struct {
				RepositoryOwner *struct {
					Repositories struct {
						Nodes []struct {
							Name                   string
							IsArchived, IsDisabled bool
							Object                 *struct{ OID string }
						}
						PageInfo struct {
							HasNextPage bool
							EndCursor   string
						}
					}
				}
			}
		}
		ask, err := s.rest.NewRequest(http.MethodPost, s.graphQL, map[string]any{"query": managed, "variables": variables})
		if err != nil {
			return nil, err
		}
		if _, err := s.rest.Do(ctx, ask, &answer); err != nil {
			return nil, said(err)
		}
		found := answer.Data.RepositoryOwner
		switch {
		case len(answer.Errors) > 0: // some of them may be left out
			return nil, fmt.Errorf("GitHub answered: %s", plan.Text(plan.Clean(answer.Errors[0].Message)))
		case found == nil:
			return nil, errors.New("GitHub shows nobody of that name")
		}
		for _, r := range found.Repositories.Nodes {
			if !r.IsArchived && !r.IsDisabled && r.Object != nil {
				names = append(names, r.Name)
			}
		}
		page := found.Repositories.PageInfo
		if !page.HasNextPage || page.EndCursor == variables["after"] {
			return names, nil
		}
		variables["after"] = page.EndCursor
	}
}

// Standing is what a person may do in a repository.
type Standing struct {
	ID            int64 // of the repository, by which it is known whatever it is called
	Reads, Writes bool
}

// ErrToken is the error of a token that GitHub does not know, or knows no more.
var ErrToken = errors.New("GitHub does not know this token")

const standing = `query standing($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { databaseId viewerPermission } }`

// May asks what the person may do in a repository; the zero value where GitHub shows them none.
func (s *Site) May(ctx context.Context, owner, repo string) (v Standing, err error) {
	var found *struct {
		DatabaseID       int64
		ViewerPermission string
	}
	if err := s.repository(ctx, standing, owner, repo, nil, &found); err != nil || found == nil {
		return v, err
	}
	v.ID = found.DatabaseID
	v.Writes = slices.Contains([]string{"ADMIN", "MAINTAIN", "WRITE"}, found.ViewerPermission)
	v.Reads = v.Writes || found.ViewerPermission == "READ" || found.ViewerPermission == "TRIAGE"
	return v, nil
}

// Login is the person's own.
func (s *Site) Login(ctx context.Context) (string, error) {
	var found struct{ Viewer struct{ Login string } }
	err := s.query(ctx, "query who { viewer { login } }", nil, &found)
	return found.Viewer.Login, err
}

const (
	askedAtOnce = 100 // repositories in one request, for one point
	sideBySide  = 8   // such requests
)

// Readable gives GitHub's numbers of those of some repositories that the person may read, in their order; 0: GitHub shows them none of that name.
func (s *Site) Readable(ctx context.Context, repos []plan.Repo) ([]int64, error) {
	ids := make([]int64, len(repos))
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(sideBySide)
	for from := 0; from < len(repos); from += askedAtOnce {
		some := ids[from:min(from+askedAtOnce, len(ids))]
		all.Go(func() error { return s.readable(ctx, repos[from:from+len(some)], some) })
	}
	return ids, all.Wait()
}

func (s *Site) readable(ctx context.Context, repos []plan.Repo, ids []int64) error {
	var takes, asks strings.Builder
	variables := map[string]any{}
	for i, r := range repos {
		fmt.Fprintf(&takes, "$o%d: String!, $n%d: String!, ", i, i)
		fmt.Fprintf(&asks, "r%d: repository(owner: $o%d, name: $n%d) { databaseId viewerPermission } ", i, i, i)
		variables[fmt.Sprintf("o%d", i)], variables[fmt.Sprintf("n%d", i)] = r.Owner, r.Name
	}
	found := map[string]*struct {
		DatabaseID       int64
		ViewerPermission string
	}{}
	if err := s.query(ctx, "query readable("+takes.String()+") { "+asks.String()+"}", variables, &found); err != nil {
		return err
	}
	for i := range ids {
		r, there := found[fmt.Sprintf("r%d", i)]
		if !there { // null is an answer, and nothing is none
			return errors.New("GitHub does not say what the person may read")
		}
		if r != nil && slices.Contains([]string{"ADMIN", "MAINTAIN", "WRITE", "TRIAGE", "READ"}, r.ViewerPermission) {
			ids[i] = r.DatabaseID
		}
	}
	return nil
}

// repository asks about a repository. What is not shown to the person leaves into as it is.
func (s *Site) repository(ctx context.Context, query, owner, repo string, more map[string]any, into any) error {
	variables := map[string]any{"owner": owner, "name": repo}
	maps.Copy(variables, more)
	return s.query(ctx, query, variables, &struct{ Repository any }{into})
}

// query asks GitHub's GraphQL. What is not shown to the person leaves what it was to be read into as it is.
func (s *Site) query(ctx context.Context, query string, variables map[string]any, into any) error {
	var answer struct {
		Errors []struct{ Type, Message string }
		Data   any
	}
	answer.Data = into
	ask, err := s.rest.NewRequest(http.MethodPost, s.graphQL, map[string]any{"query": query, "variables": variables})
	if err != nil {
		return err
	}
	switch _, err = s.rest.Do(ctx, ask, &answer); {
	case status(err) == http.StatusUnauthorized:
		return ErrToken
	case err != nil:
		return said(err)
	}
	for _, e := range answer.Errors {
		if e.Type != "NOT_FOUND" && e.Type != "FORBIDDEN" {
			return fmt.Errorf("GitHub answered: %s", plan.Text(plan.Clean(e.Message)))
		}
	}
	return nil
}

// status is the status of an answer that is an error; 0: there was none.
func status(err error) int {
	var answer *github.ErrorResponse
	if errors.As(err, &answer) && answer.Response != nil {
		return answer.Response.StatusCode
	}
	return 0
}

// Refusal is GitHub's answer to what it did not do, in few words: without the address that was asked.
type Refusal struct {
	Status int // of HTTP
	Says   string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Says }

// said is an error in few words, if it is GitHub's answer.
func said(err error) error {
	var answer *github.ErrorResponse
	switch {
	case !errors.As(err, &answer) || answer.Response == nil:
		return err
	case status(err) == http.StatusNotFound:
		return &Refusal{status(err), "GitHub shows no such repository to the owner of this token, or does not let them write there"}
	}
	return &Refusal{status(err), fmt.Sprintf("GitHub answered %s: %s", answer.Response.Status, plan.Text(plan.Clean(answer.Message)))}
}

// errUnshown is the error of an answer that does not show what was asked for: whether that was done is not known.
var errUnshown = errors.New("GitHub does not say what became of it")

// shown is an error, or that there was none and the answer does not show what was asked for.
func shown(err error, is bool) error {
	if err == nil && !is {
		return errUnshown
	}
	return err
}
