package person

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// Rules is the rules file at the tip of the default branch.
type Rules struct {
	Branch string   // the default branch
	Tip    plan.SHA // its tip
	Blob   plan.SHA // of the file; "": there is none
	Text   []byte
}

const rulesFile = `query rules($owner: String!, $name: String!, $file: String!) {
  repository(owner: $owner, name: $name) {
    defaultBranchRef { name target { oid ... on Commit { file(path: $file) { oid object { ... on Blob { text isTruncated } } } } } }
  }
}`

// Rules reads the rules file. A repository that GitHub does not show the person has none.
func (s *Site) Rules(ctx context.Context, owner, repo string) (v Rules, err error) {
	var found *struct {
		DefaultBranchRef *struct {
			Name   string
			Target *struct {
				OID  string
				File *struct {
					OID    string
					Object *struct {
						Text        *string
						IsTruncated bool
					}
				}
			}
		}
	}
	err = s.repository(ctx, rulesFile, owner, repo, map[string]any{"file": config.File}, &found)
	if err != nil || found == nil || found.DefaultBranchRef == nil || found.DefaultBranchRef.Target == nil {
		return v, err
	}
	at := found.DefaultBranchRef
	v.Branch, v.Tip = at.Name, plan.SHA(at.Target.OID)
	if f := at.Target.File; f != nil && f.Object != nil {
		if f.Object.Text == nil || f.Object.IsTruncated {
			return v, fmt.Errorf("%s is not a text of at most %d bytes", config.File, config.MaxBytes)
		}
		v.Blob, v.Text = plan.SHA(f.OID), []byte(*f.Object.Text)
	}
	return v, nil
}

// Paths is every file of a commit's tree.
func (s *Site) Paths(ctx context.Context, owner, repo string, at plan.SHA) ([]string, error) {
	tree, _, err := s.rest.Git.GetTree(ctx, owner, repo, string(at), true)
	switch {
	case err != nil:
		return nil, said(err)
	case tree.GetTruncated() || tree.Entries == nil:
		return nil, errors.New("GitHub does not list it whole")
	}
	paths := []string{}
	for _, e := range tree.Entries {
		if e.GetType() != "tree" {
			paths = append(paths, e.GetPath())
		}
	}
	return paths, nil
}

// Change is what became of an edit.
type Change struct {
	Commit plan.SHA
	Branch string // that has it
	Pull   int    // 0: it is on the default branch
	URL    string // of the pull request
}

// ErrMoved is the error of a branch that moved while something was made to follow its tip.
var ErrMoved = errors.New("the default branch moved meanwhile")

// undoMost is how long it may take to take a branch back.
const undoMost = 10 * time.Second

// ChangeRules commits another text of the rules file on the tip at which it was read: in a pull request, or on the default branch at once, where GitHub lets the person.
func (s *Site) ChangeRules(ctx context.Context, owner, repo string, was Rules, text []byte, title, branch string, atOnce bool) (c Change, err error) {
	file := &github.TreeEntry{Path: github.String(config.File), Mode: github.String("100644"), Type: github.String("blob"), Content: github.String(string(text))}
	tree, _, err := s.rest.Git.CreateTree(ctx, owner, repo, string(was.Tip), []*github.TreeEntry{file})
	if err := said(shown(err, tree.GetSHA() != "")); err != nil {
		return c, err
	}
	tip := &github.Commit{SHA: github.String(string(was.Tip))}
	commit, _, err := s.rest.Git.CreateCommit(ctx, owner, repo, &github.Commit{Message: github.String(title), Tree: tree, Parents: []*github.Commit{tip}}, nil)
	if err := said(shown(err, commit.GetSHA() != "")); err != nil {
		return c, err
	}
	c = Change{Commit: plan.SHA(commit.GetSHA()), Branch: was.Branch}
	to := func(branch string) *github.Reference {
		return &github.Reference{Ref: github.String("refs/heads/" + branch), Object: &github.GitObject{SHA: commit.SHA}}
	}
	if atOnce {
		at, _, err := s.rest.Git.UpdateRef(ctx, owner, repo, to(was.Branch), false)
		if status(err) == http.StatusUnprocessableEntity {
			if now, failed := s.Rules(ctx, owner, repo); failed == nil && now.Tip != was.Tip {
				return Change{}, ErrMoved
			}
		}
		return c, said(shown(err, at.GetObject().GetSHA() == commit.GetSHA()))
	}
	c.Branch = branch + "-" + c.Commit.Short()
	made, _, err := s.rest.Git.CreateRef(ctx, owner, repo, to(c.Branch))
	if code := status(err); code >= 400 && code < 500 {
		return Change{}, said(err)
	}
	err = said(shown(err, made.GetRef() != ""))
	var p *github.PullRequest
	if err == nil {
		p, _, err = s.rest.PullRequests.Create(ctx, owner, repo, &github.NewPullRequest{Title: &title, Head: &c.Branch, Base: &was.Branch})
		err = said(shown(err, p.GetNumber() != 0))
	}
	if err != nil { // a branch that nobody asked for goes, also where the caller's time is over
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoMost)
		defer cancel()
		_, gone := s.rest.Git.DeleteRef(ctx, owner, repo, strings.TrimPrefix(to(c.Branch).GetRef(), "refs/"))
		return Change{}, errors.Join(err, said(gone))
	}
	c.Pull, c.URL = p.GetNumber(), p.GetHTMLURL()
	return c, nil
}
