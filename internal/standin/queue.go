package standin

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Group is an entry of the merge queue: one pull request on top of the entry below it, or of the base.
type Group struct {
	Pull    int
	Base    string
	BaseSHA string // what it was built on: the head of the entry below it, or the base's tip
	Head    string // the group's commit
	HeadRef string // gh-readonly-queue/BASE/pr-N-BASESHA
}

// Enqueue puts a pull request on top of its base's merge queue and asks for checks on its commit.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
func (r *Repo) Enqueue(n int, by string) (Group, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.pull(n)
	if err != nil {
		return Group{}, err
	}
	g, err := r.build(p, Person(by))
	if err != nil {
		return Group{}, fmt.Errorf("enqueue pull request %d: %w", n, err)
	}
	r.edit(p, Person(by), "enqueued", func(*Pull) object { return nil })
	r.notifyGroup("checks_requested", "", Person(by), g)
	return g, nil
}

// Queue lists the entries of a branch's merge queue, the lowest first.
func (r *Repo) Queue(base string) []Group {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stack(base)
}

func (r *Repo) stack(base string) []Group {
	var all []Group
	for _, g := range r.queue {
		if g.Base == base {
			all = append(all, g)
		}
	}
	return all
}

// build makes the commit of a pull request on top of its base's queue.
func (r *Repo) build(p *Pull, by Actor) (Group, error) {
	on, err := r.git.Tip("refs/heads/" + p.Base)
	if err != nil {
		return Group{}, err
	}
	if below := r.stack(p.Base); len(below) > 0 {
		on = below[len(below)-1].Head
	}
	sha, err := r.git.make(Merge, mergeJob{base: on, head: p.HeadSHA, by: by, message: mergeMessage(p, Merge), at: r.g.Now()})
	if err != nil {
		return Group{}, err
	}
	g := Group{Pull: p.Number, Base: p.Base, BaseSHA: on, Head: sha, HeadRef: fmt.Sprintf("gh-readonly-queue/%s/pr-%d-%s", p.Base, p.Number, on)}
	if err := r.git.move(refMove{"refs/heads/" + g.HeadRef, "", sha}); err != nil {
		return Group{}, err
	}
	r.queue = append(r.queue, g)
	return g, nil
}

// Turn is a turn of a branch's queue: it merges what the checks allow, and removes the lowest entry if that has failed. With
// [Rules.HeadGreen] an entry that failed stays for as long as one above it may turn green. What lost its ground is built anew.
func (r *Repo) Turn(base string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var rules Rules
	for _, one := range r.binding(base, Actor{}, false) {
		rules.Checks, rules.HeadGreen = append(rules.Checks, one.Checks...), rules.HeadGreen || one.HeadGreen
	}
	all := r.stack(base)
	if tip, err := r.git.Tip("refs/heads/" + base); err != nil || len(all) == 0 || all[0].BaseSHA != tip {
		return errors.Join(err, r.rebuild(base, 0))
	}
	if i := slices.IndexFunc(all, r.strayed); i >= 0 {
		return r.remove(all[i], "dequeued")
	}
	states, merged, waits := make([]string, len(all)), 0, false
	for i, g := range all {
		states[i] = worst(r.reports(g.Head, time.Time{}).missing(rules.Checks))
		if states[i] == "" && (rules.HeadGreen || merged == i) {
			merged = i + 1
		}
		waits = waits || states[i] != "" && states[i] != stateFailing
	}
	switch {
	case merged > 0:
		return r.mergeUpTo(all[merged-1])
	case states[0] == stateFailing && (!rules.HeadGreen || !waits):
		return r.remove(all[0], "dequeued")
	}
	return nil
}

// worst is the state of checks together; "": none is missing.
func worst(bad []badCheck) (state string) {
	for _, b := range bad {
		if state != stateFailing {
			state = b.state
		}
	}
	return state
}

// Dequeue removes an entry from the queue, with GitHub's reason for it: merged, invalidated or dequeued. A merged one moves its base, with
// all below it; otherwise those above it are built anew.
func (r *Repo) Dequeue(g Group, reason string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if reason == "merged" {
		return r.mergeUpTo(g)
	}
	return r.remove(g, reason)
}

// upTo lists an entry and those below it, the lowest first; none if it is in no queue.
func (r *Repo) upTo(g Group) []Group {
	all := r.stack(g.Base)
	return all[:slices.Index(all, g)+1]
}

// mergeUpTo moves the base to an entry's commit, in one move.
func (r *Repo) mergeUpTo(g Group) error {
	all := r.upTo(g)
	if len(all) == 0 || slices.ContainsFunc(all, r.strayed) { // GitHub takes such a pull request out of the queue
		return Refuse(http.StatusMethodNotAllowed, msgNotMergeable)
	}
	top, err := r.pull(g.Pull)
	if err != nil {
		return err
	}
	if err := r.land(top, top.Author, all[0].BaseSHA, g.Head); err != nil {
		return err
	}
	for _, one := range all {
		if err := r.dissolve(one, "merged"); err != nil {
			return err
		}
	}
	return nil
}

// strayed reports whether an entry's pull request is closed, or into another branch by now.
func (r *Repo) strayed(g Group) bool {
	p, err := r.pull(g.Pull)
	return err != nil || !p.Open || p.Base != g.Base
}

// remove takes an entry out of the queue, and builds those above it anew.
func (r *Repo) remove(g Group, reason string) error {
	at := len(r.upTo(g)) - 1
	p, err := r.pull(g.Pull)
	if err != nil {
		return err
	}
	if at < 0 {
		return Refuse(http.StatusMethodNotAllowed, msgNotMergeable)
	}
	if err := r.dissolve(g, reason); err != nil {
		return err
	}
	r.edit(p, p.Author, "dequeued", func(*Pull) object { return object{"reason": "MANUAL"} })
	return r.rebuild(g.Base, at)
}

// rebuild builds the entries from a place on anew. What does not merge there is out of the queue.
func (r *Repo) rebuild(base string, from int) error {
	above := r.stack(base)[from:]
	for _, g := range above {
		if err := r.dissolve(g, "invalidated"); err != nil {
			return err
		}
	}
	for _, g := range above {
		p, err := r.pull(g.Pull)
		if err != nil {
			return err
		}
		if err = errConflict; !r.strayed(g) {
			g, err = r.build(p, p.Author)
		}
		if err != nil {
			r.edit(p, p.Author, "dequeued", func(*Pull) object { return object{"reason": "MERGE_CONFLICT"} })
			continue
		}
		r.notifyGroup("checks_requested", "", p.Author, g)
	}
	return nil
}

// dissolve ends an entry.
func (r *Repo) dissolve(g Group, reason string) error {
	if err := r.git.move(refMove{"refs/heads/" + g.HeadRef, g.Head, ""}); err != nil {
		return err
	}
	r.queue = slices.DeleteFunc(r.queue, func(one Group) bool { return one == g })
	p, err := r.pull(g.Pull)
	if err != nil {
		return err
	}
	r.notifyGroup("destroyed", reason, p.Author, g)
	return nil
}

func (r *Repo) notifyGroup(action, reason string, by Actor, g Group) {
	e := Event{Name: "merge_group", Action: action, By: by, Group: &g}
	if reason != "" {
		e.Extra = object{"reason": reason}
	}
	r.notify(e)
}
