package standin

import (
	"fmt"
	"slices"
	"strings"
)

// move is a branch that went from one commit to another: before "" made it, after "" deleted it.
type move struct {
	by            Actor
	owner, branch string
	before, after string
	merged        *Pull // whose merge moved the branch; nil for a push
	unread        bool  // after does not exist here yet: whether it is a fast-forward is unknown
}

// shift moves a branch, and does what follows.
func (r *Repo) shift(m move) error {
	if err := r.git.move(refMove{r.headRef(m.owner, m.branch), m.before, m.after}); err != nil {
		return fmt.Errorf("move %s: %w", m.branch, err)
	}
	return r.moved(m)
}

// moved does what follows a moved branch, under the lock of the repository: the push event is sent, pull requests from it get
// their new head, those whose head has come into it count as merged, and those left without a branch are closed.
func (r *Repo) moved(m move) error {
	if strings.EqualFold(m.owner, r.owner) {
		done := Moved{At: r.g.Now(), By: m.by, Branch: m.branch, Before: m.before, After: m.after}
		r.moves = append(r.moves, done)
		r.notify(Event{Name: "push", By: m.by, Move: &done})
		if m.after != "" {
			if err := r.markMerged(m); err != nil {
				return err
			}
		}
	}
	for _, p := range r.pulls {
		if !p.Open {
			continue
		}
		if err := r.follow(p, m); err != nil {
			return err
		}
	}
	return nil
}

// follow brings one open pull request after a moved branch. GitHub closes it when its branch or its base is deleted.
func (r *Repo) follow(p *Pull, m move) error {
	head := strings.EqualFold(p.HeadOwner, m.owner) && p.Head == m.branch
	base := strings.EqualFold(r.owner, m.owner) && p.Base == m.branch
	switch {
	case m.after == "" && (head || base):
		r.closePull(p, m.by)
	case head:
		return r.synchronize(p, m)
	}
	return nil
}

func (r *Repo) synchronize(p *Pull, m move) error {
	if err := r.git.move(refMove{pullRef(p.Number), p.HeadSHA, m.after}); err != nil {
		return fmt.Errorf("synchronize pull request %d: %w", p.Number, err)
	}
	lost := p.Lost
	if !r.Contains(m.after, m.before) {
		lost = append(slices.Clone(lost), m.before)
	}
	r.edit(p, m.by, "synchronize", func(p *Pull) object {
		p.HeadSHA, p.Lost = m.after, lost
		return object{"before": m.before, "after": m.after}
	})
	return nil
}

// pullRef is where GitHub keeps a pull request's head, a fork's too.
func pullRef(n int) string { return fmt.Sprintf("refs/pull/%d/head", n) }

// markMerged closes as merged the pull requests into a branch whose heads have come into it by other ways than their own
// merge. GitHub calls that an indirect merge.
func (r *Repo) markMerged(m move) error {
	var reached map[string]bool
	for _, p := range r.pulls {
		if !p.Open || p == m.merged || p.Base != m.branch || p.HeadSHA == m.before {
			continue
		}
		if reached == nil {
			var err error
			if reached, err = r.git.Ancestors(m.after); err != nil {
				return err
			}
		}
		if reached[p.HeadSHA] {
			p.BaseSHA = m.before
			r.finish(p, m.by, m.after)
		}
	}
	return nil
}

// finish closes a pull request as merged.
func (r *Repo) finish(p *Pull, by Actor, sha string) {
	r.edit(p, by, "closed", func(p *Pull) object {
		p.Open, p.Merged, p.MergedBy, p.MergeSHA, p.ClosedAt = false, true, by, sha, r.g.Now()
		return nil
	})
}

// Open makes a pull request of branches that are there, or refuses as POST /repos/{owner}/{repo}/pulls does.
func (r *Repo) Open(n NewPull) (Pull, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	owner, branch := r.splitHead(n.Head)
	head, err := r.git.Tip(r.headRef(owner, branch))
	if err != nil {
		return Pull{}, err
	}
	base, err := r.git.Tip("refs/heads/" + n.Base)
	if err != nil {
		return Pull{}, err
	}
	if err := r.refusePull(n, base, head); err != nil {
		return Pull{}, err
	}
	now := r.g.Now()
	p := &Pull{
		Number: len(r.pulls) + 1, ID: r.g.nextID(), Title: n.Title, Body: n.Body, Author: Person(n.By), Base: n.Base,
		Head: branch, HeadOwner: owner, HeadSHA: head, Draft: n.Draft, Labels: append([]string(nil), n.Labels...), Open: true,
		CreatedAt: now, UpdatedAt: now,
	}
	if err := r.git.move(refMove{pullRef(p.Number), "", head}); err != nil {
		return Pull{}, err
	}
	r.pulls = append(r.pulls, p)
	r.notifyPull("opened", p.Author, p, nil)
	return *p, nil
}

// refusePull refuses as POST /repos/{owner}/{repo}/pulls does, with 422.
// https://docs.github.com/en/rest/pulls/pulls#create-a-pull-request
func (r *Repo) refusePull(n NewPull, base, head string) error {
	owner, branch := r.splitHead(n.Head)
	switch {
	case n.Title == "":
		return invalidField("PullRequest", "title", "missing_field")
	case base == "":
		return invalidField("PullRequest", "base", "invalid")
	case head == "":
		return invalidField("PullRequest", "head", "invalid")
	}
	for _, p := range r.pulls {
		if p.Open && p.Base == n.Base && p.Head == branch && strings.EqualFold(p.HeadOwner, owner) {
			return invalid("PullRequest", fmt.Sprintf(msgPullExists, owner, branch))
		}
	}
	if r.Contains(base, head) {
		return invalid("PullRequest", fmt.Sprintf(msgNoCommits, n.Base, n.Head))
	}
	shared, err := r.git.MergeBase(base, head)
	if err != nil {
		return err
	}
	if shared == "" {
		return invalid("PullRequest", fmt.Sprintf(msgNoHistory, n.Head, n.Base))
	}
	return nil
}
