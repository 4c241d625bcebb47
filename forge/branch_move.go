package forge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/plan"
)

const (
	// demandKept is how long a branch counts as demanding our status after GitHub last refused a move for its lack. One that
	// demands it no more costs a status that was not needed.
	demandKept = 24 * time.Hour

	refHeads = "refs/heads/"
)

// refUpdate is one ref of the mutation.
type refUpdate struct {
	Name   string `json:"name"`
	Before string `json:"beforeOid"`
	After  string `json:"afterOid"`
	Force  bool   `json:"force"`
}

// MoveBranches moves branches from their old values to their new ones, forward only, in one request: all of them or none. An
// Old of "" makes the branch. Whoever moved one of them meanwhile, or a rule against one, makes it Refused as a whole. After
// Transient it is not known whether they were moved.
func (f *Forge) MoveBranches(ctx context.Context, repo plan.Repo, moves []plan.Move) error {
	if len(moves) == 0 {
		return nil
	}
	op := fmt.Sprintf("move branches of %s", repo)
	for _, m := range moves {
		if !isCommit(m.New) || m.Old != "" && !isCommit(m.Old) || m.Branch == "" {
			return fmt.Errorf("%s: %w", op, &Error{Kind: Refused, Reason: wordNoMove})
		}
	}
	err := f.moveTogether(ctx, f.client(repo.Installation), repo, moves)
	if err == nil {
		f.noteMoved(repo, moves)
		return nil
	}
	f.noteDemands(repo, moves, judge(err))
	return wrap(ctx, op, err)
}

// isCommit reports whether a name is a commit's: a branch that is moved to zeros is deleted.
func isCommit(sha plan.SHA) bool {
	return fullSHA.MatchString(string(sha)) && strings.Trim(string(sha), "0") != ""
}

// moveTogether is the one request.
func (f *Forge) moveTogether(ctx context.Context, c *client, repo plan.Repo, moves []plan.Move) error {
	id, err := f.nodeID(ctx, c, repo)
	if err != nil {
		return err
	}
	updates := make([]refUpdate, len(moves))
	for i, m := range moves {
		updates[i] = refUpdate{Name: refHeads + string(m.Branch), Before: string(m.Old), After: string(m.New)}
		if m.Old == "" {
			updates[i].Before = strings.Repeat("0", len(m.New))
		}
	}
	return c.mutate(ctx, "updateRefs", moveMutation, map[string]any{"repositoryId": id, "refUpdates": updates})
}

// nodeID is the name that mutations know a repository by, from the last look.
func (f *Forge) nodeID(ctx context.Context, c *client, repo plan.Repo) (string, error) {
	if m, ok := f.repos.get(keyOf(repo)); ok && m.id != "" {
		return m.id, nil
	}
	r, err := c.ask(ctx, idQuery(repo.Owner, repo.Name))
	if err != nil {
		return "", err
	}
	var answer struct{ ID string }
	if err := r.into(&answer); err != nil {
		return "", err
	}
	if answer.ID == "" {
		return "", transient(wordEmpty, nil)
	}
	return answer.ID, nil
}

// noteMoved remembers where branches went, so that the next look asks at once for what is said of the commits where they stand.
func (f *Forge) noteMoved(repo plan.Repo, moves []plan.Move) {
	m, ok := f.repos.get(keyOf(repo))
	if !ok {
		return
	}
	to := make(map[string]plan.SHA, len(moves))
	for _, v := range moves {
		to[string(v.Branch)] = v.New
	}
	m.windowed.tips = slices.Clone(m.windowed.tips)
	for i, name := range m.windowed.entries {
		if tip, ok := to[name]; ok {
			m.windowed.tips[i] = tip
		}
	}
	f.repos.put(keyOf(repo), keyOf(repo), m)
}

// noteDemands remembers the branches whose move was refused for the lack of our status: a look does not read the rulesets of a branch
// that is not there. GitHub names the context in its refusal, and what names it is remembered,
// whatever the words around it.
func (f *Forge) noteDemands(repo plan.Repo, moves []plan.Move, e *Error) {
	if e.Kind != Refused {
		return
	}
	for _, m := range moves {
		if namesContext(e.Reason, string(plan.PromoteContextFor(m.Branch))) {
			f.demands.put(keyOf(repo), baseKey{keyOf(repo), m.Branch}, f.now().Add(demandKept))
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

// provedDemand reports whether GitHub has shown that a branch demands our status.
func (f *Forge) provedDemand(repo plan.Repo, branch plan.Branch) bool {
	until, ok := f.demands.get(baseKey{keyOf(repo), branch})
	return ok && f.now().Before(until)
}

// operationMove is the one mutation that is sent.
const operationMove = "updateRefs"

// mutate sends a mutation with one input. It was done if GitHub gives its payload without any error. What was sent and not
// answered may be done all the same: that is Transient.
func (c *client) mutate(ctx context.Context, field, text string, input map[string]any) error {
	body, err := json.Marshal(map[string]any{"query": text, "variables": map[string]any{"input": input}})
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	data, header, err := c.post(withQuery(ctx, operationMove), body)
	if err != nil {
		return err
	}
	var e struct {
		Data   map[string]json.RawMessage
		Errors []graphError
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return transient(wordUnreadable, err).from(header)
	}
	if err := c.sortOutMutation(e.Errors, header); err != nil {
		return err
	}
	if payload := string(e.Data[field]); payload == "" || payload == "null" {
		return transient(wordEmpty, nil).from(header)
	}
	return nil
}

// sortOutMutation sorts the errors of a mutation's answer. What GitHub says of the mutation itself is its refusal, whatever type
// it gives or does not give it, unless it is known for a fault.
func (c *client) sortOutMutation(errs []graphError, header http.Header) error {
	_, err := c.sortOut(errs, header)
	c.schema.learn(operationMove, err)
	var answer *Error
	if err == nil || !errors.As(err, &answer) || answer.Kind == Limited || errors.Is(answer, errHeavy) {
		return err
	}
	return &Error{Kind: Refused, Reason: answer.Reason, Err: answer.Err, Request: answer.Request}
}
