package standin

import (
	"errors"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

// Receive has git carry out a push, unless rules forbid some of it, and does what follows. It gives what they forbid, by ref. Run runs git's
// receive-pack, which must refuse what is no fast-forward if forwardOnly.
func (r *Repo) Receive(by Actor, commands []*packp.Command, run func(forwardOnly bool)) (forbidden map[plumbing.ReferenceName]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	moves := r.pushed(commands, by)
	if forbidden = r.declined(moves); len(forbidden) == 0 {
		run(r.forwardOnly(moves))
		r.followPush(moves)
	}
	return forbidden
}

// pushed are the moves of branches that a push asks for.
func (r *Repo) pushed(commands []*packp.Command, by Actor) []move {
	var list []move
	for _, c := range commands {
		if c.Name.IsBranch() {
			m := move{by: by, owner: r.owner, branch: c.Name.Short(), before: shaOf(c.Old), after: shaOf(c.New)}
			m.unread = m.after != ""
			list = append(list, m)
		}
	}
	return list
}

// declined lists what rules forbid, by ref. Whether an unknown commit is a fast-forward, git decides: see forwardOnly.
func (r *Repo) declined(moves []move) map[plumbing.ReferenceName]string {
	no := map[plumbing.ReferenceName]string{}
	for _, m := range moves {
		var refused *Refusal
		if err := r.forbids(m); errors.As(err, &refused) {
			no[plumbing.NewBranchReferenceName(m.branch)] = refused.Message
		}
	}
	return no
}

func (r *Repo) forwardOnly(moves []move) bool {
	return slices.ContainsFunc(moves, func(m move) bool {
		return slices.ContainsFunc(r.binding(m.branch, m.by, false), func(rules Rules) bool { return rules.NoForce })
	})
}

// followPush does what follows the moves that git carried out.
func (r *Repo) followPush(moves []move) {
	for _, m := range moves {
		now, err := r.git.Tip("refs/heads/" + m.branch)
		if err != nil || now != m.after || m.before == m.after {
			continue
		}
		m.unread = false
		_ = r.moved(m) // the push is done, and nobody is left to tell
	}
}
