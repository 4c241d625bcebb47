package forge

import (
	"cmp"
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

// MoveBranches moves branches from their old values to their new ones, forward only, in one request: all of them or none. An
// Old of "" makes the branch. Whoever moved one of them meanwhile, or a rule against one, makes it Refused as a whole. After
// Transient it is not known whether they were moved.
func (f *Forge) MoveBranches(ctx context.Context, repo plan.Repo, moves []plan.Move) error {
	if len(moves) == 0 {
		return nil
	}
	op, c := fmt.Sprintf("move branches of %s", repo), f.client(repo.Installation)
	id, err := f.movable(ctx, c, repo, moves)
	if err == nil {
		err = c.mutate(ctx, "updateRefs", moveMutation, refUpdates(id, moves))
	}
	if err == nil {
		f.noteMoved(repo, moves)
		return nil
	}
	f.noteDemands(repo, moves, judge(err))
	return wrap(ctx, op, err)
}

// MoveEach is MoveBranches for at most MovesApart branches, each of them for itself: GitHub carries out one after the other, whatever became of
// those before. It gives an error for each: nil if it was moved, Refused if GitHub says so of that branch, Transient if the answer says
// neither: then it is not known. An error beside that is one of all of them: Refused or Limited if none was moved, Transient if that is not
// known.
func (f *Forge) MoveEach(ctx context.Context, repo plan.Repo, moves []plan.Move) ([]error, error) {
	op, c := fmt.Sprintf("move branches of %s one by one", repo), f.client(repo.Installation)
	id, err := f.movable(ctx, c, repo, moves)
	if err != nil {
		return nil, wrap(ctx, op, err)
	}
	each, err := c.mutateEach(ctx, id, moves)
	if err != nil {
		return nil, wrap(ctx, op, err)
	}
	var moved []plan.Move
	for i, m := range moves {
		if each[i] == nil {
			moved = append(moved, m)
			continue
		}
		f.noteDemands(repo, moves[i:i+1], judge(each[i]))
		each[i] = wrap(ctx, op, each[i])
	}
	f.noteMoved(repo, moved)
	return each, nil
}

// isCommit reports whether a name is a commit's: a branch that is moved to zeros is deleted.
func isCommit(sha plan.SHA) bool {
	return fullSHA.MatchString(string(sha)) && strings.Trim(string(sha), "0") != ""
}

// movable gives the name of a repository where moves can be asked for; else Refused.
func (f *Forge) movable(ctx context.Context, c *client, repo plan.Repo, moves []plan.Move) (id string, err error) {
	for _, m := range moves {
		if !isCommit(m.New) || m.Old != "" && !isCommit(m.Old) || m.Branch == "" {
			return "", &Error{Kind: Refused, Reason: wordNoMove}
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
func (f *Forge) nodeID(ctx context.Context, c *client, repo plan.Repo) (string, error) {
	if m, ok := keptLook.get(f.memory.of(repo), struct{}{}); ok && m.id != "" {
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
	m, ok := keptLook.get(f.memory.of(repo), struct{}{})
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
	keptLook.put(f.memory.of(repo), struct{}{}, m)
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
			keptDemands.put(f.memory.of(repo), m.Branch, f.now().Add(demandKept))
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
	until, ok := keptDemands.get(f.memory.of(repo), branch)
	return ok && f.now().Before(until)
}

// operationMove is the one mutation that is sent, once or several times in a request.
const operationMove = "updateRefs"

// mutationsKey is where a context holds how many mutations its request carries.
type mutationsKey struct{}

func withMutations(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, mutationsKey{}, n)
}

func mutationsOf(r *http.Request) int {
	n, _ := r.Context().Value(mutationsKey{}).(int)
	return max(n, 1)
}

// mutationAnswer is what GitHub says to mutations: what each gave, by its alias, and what went wrong.
type mutationAnswer struct {
	Data   map[string]json.RawMessage
	Errors []graphError
}

// gave reports whether a mutation has its payload.
func (a mutationAnswer) gave(alias string) bool {
	payload := string(a.Data[alias])
	return payload != "" && payload != "null"
}

// about is the first error with a mutation's path; nil: there is none.
func (a mutationAnswer) about(alias string) *graphError {
	i := slices.IndexFunc(a.Errors, func(e graphError) bool { return len(e.Path) > 0 && e.Path[0] == alias })
	if i < 0 {
		return nil
	}
	return &a.Errors[i]
}

// sendMutations sends so many mutations in one text, which GitHub carries out one after the other.
func (c *client) sendMutations(ctx context.Context, mutations int, text string, variables map[string]any) (mutationAnswer, http.Header, error) {
	var a mutationAnswer
	body, err := json.Marshal(map[string]any{"query": text, "variables": variables})
	if err != nil {
		return a, nil, err
	}
	data, header, err := c.post(withMutations(withQuery(ctx, operationMove), mutations), body)
	if err != nil {
		return a, nil, err
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return a, nil, transient(wordUnreadable, err).from(header)
	}
	return a, header, nil
}

// mutate sends a mutation with one input. It was done if GitHub gives its payload without any error. What was sent and not
// answered may be done all the same: that is Transient.
func (c *client) mutate(ctx context.Context, field, text string, input map[string]any) error {
	a, header, err := c.sendMutations(ctx, 1, text, map[string]any{"input": input})
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	if err := c.sortOutMutation(a.Errors, header); err != nil {
		return err
	}
	if !a.gave(field) {
		return transient(wordEmpty, nil).from(header)
	}
	return nil
}

// mutateEach sends a mutation for each move. What has its payload is done, what has an error with its path is refused, and of what has
// neither, or both, nothing is known; but where GitHub did not understand the text, or its limit came before all of it, nothing was done.
func (c *client) mutateEach(ctx context.Context, id string, moves []plan.Move) ([]error, error) {
	variables := make(map[string]any, len(moves))
	for i := range moves {
		variables[moveAlias(i)] = refUpdates(id, moves[i:i+1])
	}
	a, header, err := c.sendMutations(ctx, len(moves), moveEachMutation(len(moves)), variables)
	if err != nil {
		return nil, err
	}
	whole := c.sortOutMutation(a.Errors, header)
	limited := whole != nil && judge(whole).Kind == Limited
	each, known := make([]error, len(moves)), false
	for i := range moves {
		e := a.about(moveAlias(i))
		switch {
		case e == nil && a.gave(moveAlias(i)):
		case e == nil, a.gave(moveAlias(i)), limited:
			each[i] = transient(wordEmpty, nil).from(header)
		default:
			each[i] = cmp.Or(c.sortOutMutation([]graphError{*e}, header), error(transient(wordEmpty, nil)))
		}
		known = known || each[i] == nil || judge(each[i]).Kind == Refused
	}
	if !known && (limited || errors.As(whole, new(noField))) {
		return nil, whole
	}
	return each, nil
}

// sortOutMutation sorts the errors of a mutation's answer. What GitHub says of the mutation itself is its refusal, whatever type
// it gives or does not give it, unless it is known for a fault.
func (c *client) sortOutMutation(errs []graphError, header http.Header) error {
	_, err := c.sortOut(errs, header)
	c.schema.learn(operationMove, err)
	var answer *Error
	if err == nil || !errors.As(err, &answer) {
		return err
	}
	return asRefusal(answer)
}

// asRefusal is the error of a mutation as its refusal, unless it is a limit or a fault. Only here it is known what would help, so the way out is
// part of the reason: whoever shows it adds nothing.
func asRefusal(e *Error) *Error {
	if e.Kind == Limited || errors.Is(e, errHeavy) {
		return e
	}
	refused := &Error{Kind: Refused, Reason: e.Reason, Err: e.Err, Request: e.Request}
	if !errors.As(e, new(noField)) { // who may push changes nothing there
		refused.Reason = sayAllowPush(e.Reason)
	}
	return refused
}
