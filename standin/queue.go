package standin

import (
	"fmt"
	"net/http"
)

// Group is a group of the merge queue: one pull request on top of its base.
type Group struct {
	Pull    int
	Base    string
	BaseSHA string
	Head    string // the group's commit
	HeadRef string // gh-readonly-queue/BASE/pr-N-BASESHA
}

// Enqueue puts a pull request into the merge queue as a group of its own and asks for checks on its commit.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
func (r *Repo) Enqueue(n int, by string) (Group, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.pull(n)
	if err != nil {
		return Group{}, err
	}
	tip, err := r.git.tip("refs/heads/" + p.Base)
	if err != nil {
		return Group{}, err
	}
	sha, err := r.git.make(Merge, mergeJob{
		base: tip, head: p.HeadSHA, by: person(by), message: mergeMessage(p, Merge), at: r.g.now(),
	})
	if err != nil {
		return Group{}, fmt.Errorf("enqueue pull request %d: %w", n, err)
	}
	g := Group{
		Pull: n, Base: p.Base, BaseSHA: tip, Head: sha,
		HeadRef: fmt.Sprintf("gh-readonly-queue/%s/pr-%d-%s", p.Base, n, tip),
	}
	if err := r.git.move(refMove{"refs/heads/" + g.HeadRef, "", sha}); err != nil {
		return Group{}, err
	}
	r.edit(p, person(by), "enqueued", func(*Pull) object { return nil })
	r.sendGroup("checks_requested", "", person(by), g)
	return g, nil
}

// MergeGroup does what the queue does once the checks that the base requires are green on the group's commit, and refuses before.
func (r *Repo) MergeGroup(g Group) error {
	r.mu.Lock()
	var bad []badCheck
	for _, rules := range r.rulesOf(g.Base, anybody) {
		bad = append(bad, r.missing(rules.Checks, g.Head)...)
	}
	r.mu.Unlock()
	if len(bad) > 0 {
		return refuse(http.StatusMethodNotAllowed, "%s", lackOfChecks(bad, len(bad)))
	}
	return r.Dequeue(g, "merged")
}

// Dequeue removes a group from the queue, with GitHub's reason for it: merged, invalidated or dequeued. A merged group moves
// its base.
func (r *Repo) Dequeue(g Group, reason string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.pull(g.Pull)
	if err != nil {
		return err
	}
	if reason == "merged" && p.Base != g.Base { // GitHub takes such a pull request out of the queue
		return refuse(http.StatusMethodNotAllowed, msgNotMergeable)
	}
	if err := r.git.move(refMove{"refs/heads/" + g.HeadRef, g.Head, ""}); err != nil {
		return err
	}
	if reason != "merged" {
		r.edit(p, p.Author, "dequeued", func(*Pull) object { return object{"reason": "MANUAL"} })
	} else if err := r.land(p, p.Author, g.BaseSHA, g.Head); err != nil {
		return err
	}
	r.sendGroup("destroyed", reason, p.Author, g)
	return nil
}

func (r *Repo) sendGroup(action, reason string, by Actor, g Group) {
	rest := object{"merge_group": object{
		"head_sha": g.Head, "head_ref": "refs/heads/" + g.HeadRef, "base_sha": g.BaseSHA, "base_ref": "refs/heads/" + g.Base,
	}}
	if reason != "" {
		rest["reason"] = reason
	}
	r.send("merge_group", action, by, rest)
}
