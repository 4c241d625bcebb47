package standin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// The mutation updateRefs moves, makes and deletes branches, all or none of them.
// https://docs.github.com/en/graphql/reference/git#updaterefs
//
// Older Enterprise Servers lack it: it was a preview until April 2024 (octokit/graphql-schema#934). What GitHub says when it
// refuses is not known from its descriptions: the words are those of REST where REST knows the case, else git's.

// updateRefsField is the mutation in the schema's text.
const updateRefsField = "  updateRefs(input: UpdateRefsInput!): UpdateRefsPayload\n"

// maxRefUpdates bounds one mutation. GitHub tells of no push that moves more than 5,000 branches.
const maxRefUpdates = 5000

// refUpdate is GraphQL's RefUpdate.
type refUpdate struct {
	Name      scalar
	BeforeOID *scalar
	AfterOID  scalar
	Force     bool
}

type updateRefsInput struct {
	ClientMutationID *string
	RepositoryID     graphql.ID
	RefUpdates       []refUpdate
}

type updateRefsPayload struct{ ClientMutationID *string }

// UpdateRefs moves branches atomically.
func (q *queryRoot) UpdateRefs(ctx context.Context, args struct{ Input updateRefsInput }) (*updateRefsPayload, error) {
	if _, err := q.change(ctx, args.Input.RepositoryID, args.Input.RefUpdates); err != nil {
		return nil, err
	}
	return &updateRefsPayload{args.Input.ClientMutationID}, nil
}

type createRefInput struct {
	ClientMutationID *string
	Name             string
	OID              scalar
	RepositoryID     graphql.ID
}

type createRefPayload struct {
	ClientMutationID *string
	Ref              *branchRef
}

// CreateRef makes one branch, which every server has known for long.
func (q *queryRoot) CreateRef(ctx context.Context, args struct{ Input createRefInput }) (*createRefPayload, error) {
	in, none := args.Input, scalar(zeroSHA)
	r, err := q.change(ctx, in.RepositoryID, []refUpdate{{Name: scalar(in.Name), BeforeOID: &none, AfterOID: in.OID}})
	if err != nil {
		return nil, err
	}
	made := &branchRef{repo: &repository{look: lookOf(ctx), r: r}, name: in.Name, sha: string(in.OID)}
	return &createRefPayload{in.ClientMutationID, made}, nil
}

// change updates refs of a repository that the caller may write to.
func (q *queryRoot) change(ctx context.Context, id graphql.ID, updates []refUpdate) (*Repo, error) {
	l := lookOf(ctx)
	r := q.g.findNode(id)
	if r == nil || !q.g.sees(l.who, r) {
		return nil, unresolved(msgNoNode, id)
	}
	var refused *apiError
	if err := r.may(l.who, writeContents); errors.As(err, &refused) {
		return nil, &queryError{"FORBIDDEN", refused.message}
	}
	err := r.updateRefs(l.who.actor, updates)
	if errors.As(err, &refused) {
		return nil, &queryError{"UNPROCESSABLE", strings.TrimSpace(refused.message)}
	}
	return r, err
}

func (g *GitHub) findNode(id graphql.ID) *Repo {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.IndexFunc(g.repos, func(r *Repo) bool { return nodeID("Repository", r.id) == string(id) })
	if at < 0 {
		return nil
	}
	return g.repos[at]
}

// updateRefs does all updates in one transaction of git, and then what follows each.
func (r *Repo) updateRefs(by Actor, updates []refUpdate) error {
	if len(updates) > maxRefUpdates {
		return unfit(msgTooManyRefs, maxRefUpdates)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var moves []move
	seen := map[scalar]bool{}
	for _, u := range updates {
		if seen[u.Name] {
			return unfit(msgUpdatedTwice, u.Name)
		}
		seen[u.Name] = true
		m, err := r.moveOf(by, u)
		if err != nil {
			return err
		}
		if m.before == m.after { // it was compared, and there is nothing to do
			continue
		}
		if err := r.forbids(m); err != nil {
			return err
		}
		moves = append(moves, m)
	}
	err := r.git.moveAll(moves)
	if errors.Is(err, errMoved) {
		return unfit(msgRefMoved)
	}
	if err != nil {
		return err
	}
	for _, m := range moves {
		if err := r.moved(m); err != nil {
			return err
		}
	}
	return nil
}

// moveOf is the move that an update asks for, or why it cannot be. The caller holds r.mu.
func (r *Repo) moveOf(by Actor, u refUpdate) (move, error) {
	name, after := string(u.Name), string(u.AfterOID)
	branch, isBranch := strings.CutPrefix(name, "refs/heads/")
	if !isBranch || !validRef(name) {
		return move{}, unfit(msgBadRef)
	}
	if !fullSHA.MatchString(after) {
		return move{}, unfit(msgBadOID, after)
	}
	tip, err := r.git.tip(name)
	if err != nil {
		return move{}, err
	}
	m := move{by: by, owner: r.owner, branch: branch, before: tip, after: after}
	if err := u.compare(tip); err != nil {
		return move{}, err
	}
	if after == zeroSHA {
		m.after = ""
		return m, r.refuseDelete(m, u)
	}
	if _, err := r.git.commit(after); err != nil {
		return move{}, unfit(msgObjectMissing)
	}
	if tip != "" && !u.Force && !r.forward(m) {
		return move{}, unfit(msgNotFastForward)
	}
	return m, nil
}

// compare holds a ref's value against the one that the update wants it to have; zeros want it not to exist.
func (u refUpdate) compare(tip string) error {
	if u.BeforeOID == nil {
		return nil
	}
	switch want := string(*u.BeforeOID); {
	case !fullSHA.MatchString(want):
		return unfit(msgBadOID, want)
	case want == zeroSHA && tip != "":
		return unfit(msgRefThere, u.Name)
	case want == zeroSHA || want == tip:
		return nil
	case tip == "":
		return unfit(msgRefNotThere, u.Name, want)
	default:
		return unfit(msgRefNotAt, u.Name, tip, want)
	}
}

func (r *Repo) refuseDelete(m move, u refUpdate) error {
	switch {
	case m.branch == defaultBranch:
		return unfit(msgDefaultBranch)
	case m.before == "" && u.BeforeOID == nil:
		return unfit(msgNoReference)
	}
	return nil
}

// unfit refuses a well-formed request.
func unfit(format string, args ...any) error {
	return refuse(http.StatusUnprocessableEntity, format, args...)
}

// moveAll sets branches of this repository from where the caller saw them to where they shall be: all, or none of them.
func (d *gitDir) moveAll(moves []move) error {
	var script strings.Builder
	var inMemory []refMove
	for _, m := range moves {
		name := "refs/heads/" + m.branch
		if !validRef(name) || (m.after != "" && !fullSHA.MatchString(m.after)) || (m.before != "" && !fullSHA.MatchString(m.before)) {
			return fmt.Errorf("move %q to %q: not a valid name", name, m.after)
		}
		inMemory = append(inMemory, refMove{name, m.before, m.after})
		fmt.Fprintf(&script, "update %s\x00%s\x00%s\x00", name, orZero(m.after), orZero(m.before))
	}
	if len(moves) == 0 {
		return nil
	}
	if d.memory != nil {
		return d.memory.move(inMemory...)
	}
	_, err := d.runIn(strings.NewReader(script.String()), nil, "update-ref", "-z", "--stdin")
	var said *gitError
	if errors.As(err, &said) && strings.Contains(said.text, "cannot lock ref") {
		return fmt.Errorf("%w: %s", errMoved, strings.TrimSpace(said.text))
	}
	return err
}
