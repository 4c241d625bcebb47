package branches

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

const (
	// demandKept is how long a branch counts as demanding our status after GitHub last refused a move for its lack. One that
	// demands it no more costs a status that was not needed.
	demandKept = 24 * time.Hour

	// MovesApart is how many branches MoveEach moves in one request. GitHub ends a request after 10 s, with what it did until then done:
	// large ones end so, half done (Skydio/revup#1).
	MovesApart = 10

	refHeads = "refs/heads/"
)

// refUpdate is one ref of the mutation.
type refUpdate struct {
	Name   string `json:"name"`
	Before string `json:"beforeOid"`
	After  string `json:"afterOid"`
	Force  bool   `json:"force"`
}

// Mover moves branches.
type Mover struct {
	App    *client.App
	Memory *look.Memory
	Now    func() time.Time
}

// MoveBranches moves branches from their old values to their new ones, forward only, in one request: all of them or none. An
// Old of "" makes the branch. Whoever moved one of them meanwhile, or a rule against one, makes it Refused as a whole. After
// Transient it is not known whether they were moved.
func (f *Mover) MoveBranches(ctx context.Context, repo plan.Repo, moves []plan.Move) error {
	if len(moves) == 0 {
		return nil
	}
	op, c := fmt.Sprintf("move branches of %s", repo), f.App.Installation(repo.Installation)
	id, err := f.movable(ctx, c, repo, moves)
	if err == nil {
		err = c.Mutate(ctx, "updateRefs", moveMutation, refUpdates(id, moves))
	}
	if err == nil {
		f.noteMoved(repo, moves)
		return nil
	}
	f.noteDemands(repo, moves, client.Judge(err))
	return client.Wrap(ctx, op, err)
}

// MoveEach is MoveBranches for at most MovesApart branches, each of them for itself: GitHub carries out one after the other, whatever became of
// those before. It gives an error for each: nil if it was moved, Refused if GitHub says so of that branch, Transient if the answer says
// neither: then it is not known. An error beside that is one of all of them: Refused or Limited if none was moved, Transient if that is not
// known.
func (f *Mover) MoveEach(ctx context.Context, repo plan.Repo, moves []plan.Move) ([]error, error) {
	op, c := fmt.Sprintf("move branches of %s one by one", repo), f.App.Installation(repo.Installation)
	id, err := f.movable(ctx, c, repo, moves)
	if err != nil {
		return nil, client.Wrap(ctx, op, err)
	}
	aliases, inputs := make([]string, len(moves)), map[string]any{}
	for i := range moves {
		aliases[i] = fmt.Sprintf("m%d", i)
		inputs[aliases[i]] = refUpdates(id, moves[i:i+1])
	}
	each, err := c.MutateEach(ctx, moveEachMutation(aliases), aliases, inputs)
	if err != nil {
		return nil, client.Wrap(ctx, op, err)
	}
	var moved []plan.Move
	for i, m := range moves {
		if each[i] == nil {
			moved = append(moved, m)
			continue
		}
		f.noteDemands(repo, moves[i:i+1], client.Judge(each[i]))
		each[i] = client.Wrap(ctx, op, each[i])
	}
	f.noteMoved(repo, moved)
	return each, nil
}

// isCommit reports whether a name is a commit's: a branch that is moved to zeros is deleted.
func isCommit(sha plan.SHA) bool {
	return look.IsSHA(sha) && strings.Trim(string(sha), "0") != ""
}

// movable gives the name of a repository where moves can be asked for; else Refused.
func (f *Mover) movable(ctx context.Context, c *client.Installation, repo plan.Repo, moves []plan.Move) (id string, err error) {
	for _, m := range moves {
		if !isCommit(m.New) || m.Old != "" && !isCommit(m.Old) || m.Branch == "" {
			return "", &client.Error{Kind: client.Refused, Reason: wordNoMove}
		}
	}
	return f.nodeID(ctx, c, repo)
}

// refUpdates is the input of the mutation that moves branches of a repository.
func refUpdates(id string, moves []plan.Move) map[string]any {
	updates := make([]refUpdate, len(moves))
	for i, m := range moves {
		updates[i] = refUpdate{Name: refHeads + string(m.Branch), Before: string(m.Old), After: string(m.New)}
		if m.Old == "" {
			updates[i].Before = strings.Repeat("0", len(m.New))
		}
	}
	return map[string]any{"repositoryId": id, "refUpdates": updates}
}

// nodeID is the name that mutations know a repository by, from the last look.
func (f *Mover) nodeID(ctx context.Context, c *client.Installation, repo plan.Repo) (string, error) {
	if m, ok := keptBranches.Get(f.Memory.Of(repo), struct{}{}); ok && m.id != "" {
		return m.id, nil
	}
	r, err := c.Ask(ctx, idQuery(repo.Owner, repo.Name).Operation())
	if err != nil {
		return "", err
	}
	var answer struct{ ID string }
	if err := r.Into(&answer); err != nil {
		return "", err
	}
	if answer.ID == "" {
		return "", client.Empty()
	}
	return answer.ID, nil
}

// noteMoved remembers where branches went, so that the next look asks at once for what is said of the commits where they stand.
func (f *Mover) noteMoved(repo plan.Repo, moves []plan.Move) {
	m, ok := keptBranches.Get(f.Memory.Of(repo), struct{}{})
	if !ok {
		return
	}
	to := make(map[string]plan.SHA, len(moves))
	for _, v := range moves {
		to[string(v.Branch)] = v.New
	}
	m.tips = slices.Clone(m.tips)
	for i, name := range m.entries {
		if tip, ok := to[name]; ok {
			m.tips[i] = tip
		}
	}
	keptBranches.Put(f.Memory.Of(repo), struct{}{}, m)
}

// noteDemands remembers the branches whose move was refused for the lack of our status: a look does not read the rulesets of a branch
// that is not there. GitHub names the context in its refusal, and what names it is remembered,
// whatever the words around it.
func (f *Mover) noteDemands(repo plan.Repo, moves []plan.Move, e *client.Error) {
	if e.Kind != client.Refused {
		return
	}
	for _, m := range moves {
		if namesContext(e.Reason, string(plan.PromoteContextFor(m.Branch))) {
			keptDemands.Put(f.Memory.Of(repo), m.Branch, f.Now().Add(demandKept))
		}
	}
}

// namesContext reports whether a reason names a context, and not a longer one that begins like it.
func namesContext(reason, context string) bool {
	low, want := strings.ToLower(reason), strings.ToLower(context)
	for {
		at := strings.Index(low, want)
		if at < 0 {
			return false
		}
		low = low[at+len(want):]
		if low == "" || strings.ContainsRune("\"'` ,;:)", rune(low[0])) || low == "." {
			return true
		}
	}
}
