package standin

import (
	"errors"
	"strings"
)

// The mutation updateRefs moves, makes and deletes branches, all or none of them.
// https://docs.github.com/en/graphql/reference/git#updaterefs
//
// What GitHub says when it refuses is not known from its descriptions: the words are those of REST where REST knows the case, else git's.

// RefUpdate is GraphQL's RefUpdate.
type RefUpdate struct {
	Name      string
	BeforeOID *string
	AfterOID  string
	Force     bool
}

// UpdateRefs does all updates in one transaction of git, and then what follows each.
func (r *Repo) UpdateRefs(by Actor, updates []RefUpdate) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var moves []move
	var refs []refMove
	seen := map[string]bool{}
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
		moves, refs = append(moves, m), append(refs, refMove{u.Name, m.before, m.after})
	}
	if len(moves) == 0 {
		return nil
	}
	err := r.git.move(refs...)
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
func (r *Repo) moveOf(by Actor, u RefUpdate) (move, error) {
	name, after := u.Name, u.AfterOID
	branch, isBranch := strings.CutPrefix(name, "refs/heads/")
	if !isBranch || !validRef(name) {
		return move{}, unfit(msgBadRef)
	}
	if !fullSHA.MatchString(after) {
		return move{}, unfit(msgBadOID, after)
	}
	tip, err := r.git.Tip(name)
	if err != nil {
		return move{}, err
	}
	m := move{by: by, owner: r.owner, branch: branch, before: tip, after: after}
	if err := u.compare(tip); err != nil {
		return move{}, err
	}
	if after == ZeroSHA {
		m.after = ""
		return m, r.refuseDelete(m, u)
	}
	if _, err := r.git.Commit(after); err != nil {
		return move{}, unfit(msgObjectMissing)
	}
	if tip != "" && !u.Force && !r.Contains(m.after, m.before) {
		return move{}, unfit(msgNotFastForward)
	}
	return m, nil
}

// compare holds a ref's value against the one that the update wants it to have; zeros want it not to exist.
func (u RefUpdate) compare(tip string) error {
	if u.BeforeOID == nil {
		return nil
	}
	switch want := *u.BeforeOID; {
	case !fullSHA.MatchString(want):
		return unfit(msgBadOID, want)
	case want != orZero(tip):
		return unfit(msgRefNotAt, u.Name, orZero(tip), want)
	}
	return nil
}

func (r *Repo) refuseDelete(m move, u RefUpdate) error {
	switch {
	case m.branch == DefaultBranch:
		return unfit(msgDefaultBranch)
	case m.before == "" && u.BeforeOID == nil:
		return unfit(msgNoReference)
	}
	return nil
}
