package forge

import (
	"context"
	"fmt"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/branches"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// originMost is how long an answer is waited for: what the look that asks wants to write waits with it.
const originMost = 3 * time.Second

// rawOrigin is the newest commit that changed the rules file, and its pull request.
type rawOrigin struct {
	Oid     string
	History *look.Connection[struct {
		Oid    string
		Author gitActor
		Pulls  *look.Connection[struct {
			Number int
			Merged bool
			Author *look.Actor
		}]
	}]
}

// RulesOrigin asks how the rules file at a commit came about, and what it was as an earlier blob; "" is none.
func (f *Forge) RulesOrigin(ctx context.Context, repo plan.Repo, at, was plan.SHA) (o plan.RulesOrigin, err error) {
	ctx, cancel := context.WithTimeout(ctx, originMost)
	defer cancel()
	l := &look.Look{Client: f.Installation(repo.Installation)}
	var answer struct {
		Object *rawOrigin
		Was    *look.RawObject
	}
	if err := l.More(ctx, originQuery(repo, at, was), &answer); err != nil {
		return o, fmt.Errorf("ask who changed %s in %s: %w", config.File, repo, err)
	}
	if answer.Object == nil || plan.SHA(answer.Object.Oid) != at || answer.Object.History == nil || len(answer.Object.History.Nodes) == 0 {
		return o, client.Empty()
	}
	commit := answer.Object.History.Nodes[0]
	o.SHA, o.By = plan.SHA(commit.Oid), commit.Author.login()
	if commit.Pulls != nil {
		for _, p := range commit.Pulls.Nodes {
			if p.Merged && o.Pull == 0 {
				o.Pull, o.By = p.Number, l.Login(p.Author)
			}
		}
	}
	if _, bad := branches.Unparsable(answer.Was); !bad && plan.SHA(answer.Was.Oid) == was {
		o.Was, _ = config.Parse([]byte(*answer.Was.Text))
	}
	return o, nil
}

func originQuery(repo plan.Repo, at, was plan.SHA) *look.Query {
	q := look.NewQuery("origin", repo.Owner, repo.Name)
	q.Add("object(oid: %s) { ... on Commit { oid history(first: 1, path: %q) { nodes { oid author { user { login } }"+
		" pulls: associatedPullRequests(first: 5) { nodes { number merged author { ...actor } } } } } } }", q.Let("at", "GitObjectID!", string(at)), config.File)
	if was != "" {
		q.Add("was: object(oid: %s) { ...text }", q.Let("was", "GitObjectID!", string(was)))
	}
	return q
}
