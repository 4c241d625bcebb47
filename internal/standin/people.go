package standin

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// NewPull is a pull request to be opened.
type NewPull struct {
	Title  string // default: the head's name
	Body   string // its description
	By     string // login; default: the repository's owner, or the fork's
	Base   string // default: the default branch
	Head   string // "BRANCH", or "OWNER:BRANCH" for a fork
	Draft  bool
	Labels []string
	Change *Change // committed on Head first, which is made if it does not exist; nil: Head is there already
}

// OpenPull opens a pull request and gives its number.
func (r *Repo) OpenPull(n NewPull) (int, error) {
	owner, branch := r.splitHead(n.Head)
	n.By, n.Base, n.Title = cmp.Or(n.By, owner), cmp.Or(n.Base, DefaultBranch), cmp.Or(n.Title, branch)
	if n.Change != nil {
		c := *n.Change
		c.By, c.From = cmp.Or(c.By, n.By), cmp.Or(c.From, n.Base)
		if _, err := r.Commit(n.Head, c); err != nil {
			return 0, err
		}
	}
	p, err := r.Open(n)
	if err != nil {
		return 0, fmt.Errorf("open pull request from %s: %w", n.Head, err)
	}
	return p.Number, nil
}

// Commit makes a commit on "BRANCH", or "OWNER:BRANCH" of a fork, and pushes it. A branch that does not exist is made.
func (r *Repo) Commit(head string, c Change) (sha string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	owner, branch := r.splitHead(head)
	old, err := r.git.Tip(r.headRef(owner, branch))
	if err != nil {
		return "", err
	}
	c.By = cmp.Or(c.By, owner)
	parent := old
	if old == "" {
		if parent, err = r.start(c.From); err != nil {
			return "", fmt.Errorf("commit on %s: %w", head, err)
		}
	}
	if sha, err = r.git.apply(c, parent, r.g.Now()); err != nil {
		return "", fmt.Errorf("commit on %s: %w", head, err)
	}
	return sha, r.shift(move{by: Person(c.By), owner: owner, branch: branch, before: old, after: sha})
}

// start is the commit that a new branch starts from.
func (r *Repo) start(from string) (string, error) {
	from = cmp.Or(from, DefaultBranch)
	if fullSHA.MatchString(from) {
		return from, nil
	}
	sha, err := r.git.Tip("refs/heads/" + from)
	if err == nil && sha == "" {
		err = fmt.Errorf("branch %s: %w", from, ErrNotFound)
	}
	return sha, err
}

// Push moves "BRANCH" or "OWNER:BRANCH" to a commit that is there already, forced if need be, or makes it. A sha of ""
// deletes it. No rule is asked.
func (r *Repo) Push(by, head, sha string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	owner, branch := r.splitHead(head)
	old, err := r.git.Tip(r.headRef(owner, branch))
	if err != nil || old == sha {
		return err
	}
	return r.shift(move{by: Person(by), owner: owner, branch: branch, before: old, after: sha})
}

// TryPush is Push by a person, whom the rules of the branch bind; the error has GitHub's words.
func (r *Repo) TryPush(by, branch, sha string) error {
	err := r.UpdateRefs(Person(by), []RefUpdate{{Name: "refs/heads/" + branch, AfterOID: orZero(sha), Force: true}})
	if err != nil {
		return fmt.Errorf("push %s: %w", branch, err)
	}
	return nil
}

// Tip is where a branch points; "" if there is none.
func (r *Repo) Tip(branch string) string {
	owner, name := r.splitHead(branch)
	sha, _ := r.git.Tip(r.headRef(owner, name)) // "" if git fails
	return sha
}

// Moved is one move of a branch of the repository, whoever made it and however: a push, a merge, an update by the API.
type Moved struct {
	At            time.Time
	By            Actor
	Branch        string
	Before, After string // Before "" made the branch, After "" deleted it
}

// Moves lists every move of a branch, oldest first. The list must not be written to.
func (r *Repo) Moves() []Moved {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.moves
}

// Changes is what a pull request of a head into a base changes: from their merge base to the head. Both are commits.
func (r *Repo) Changes(base, head string) ([]FileChange, error) {
	shared, err := r.git.MergeBase(base, head)
	if err != nil || shared == "" {
		return nil, err
	}
	return r.git.Diff(shared, head)
}

// Mergeable reports whether git can merge an open pull request now.
func (r *Repo) Mergeable(n int) bool {
	p, err := r.Pull(n)
	if err != nil {
		return false
	}
	m, err := r.git.mergeTrees(r.Tip(p.Base), p.HeadSHA)
	return err == nil && !m.conflict
}

// Contains reports whether one commit can be reached from another; what is not there is not.
func (r *Repo) Contains(sha, ancestor string) bool {
	base, err := r.git.MergeBase(sha, ancestor)
	return err == nil && base == ancestor
}

// rev is the commit that a branch points to, or that is named by itself; "" if there is no such branch.
func (r *Repo) rev(rev string) string {
	if fullSHA.MatchString(rev) {
		return rev
	}
	return r.Tip(rev)
}

// Log is the first-parent line of a branch or commit, newest first.
func (r *Repo) Log(rev string) ([]Commit, error) {
	var list []Commit
	for sha := r.rev(rev); sha != ""; {
		c, err := r.git.Commit(sha)
		if err != nil {
			return nil, fmt.Errorf("log of %s: %w", rev, err)
		}
		list = append(list, *c)
		sha = c.Parent()
	}
	return list, nil
}

// Files is the tree of a branch or commit: path → content.
func (r *Repo) Files(rev string) (map[string]string, error) {
	all, err := r.git.leaves(r.rev(rev))
	files := map[string]string{}
	for path, l := range all {
		if l.mode == submodule {
			continue
		}
		o, unread := r.git.get(l.sha)
		data, cut := o.Content()
		files[path], err = string(data), errors.Join(err, unread, cut)
	}
	if err != nil {
		return nil, fmt.Errorf("files of %s: %w", rev, err)
	}
	return files, nil
}

// Pull gives a copy of a pull request.
func (r *Repo) Pull(n int) (Pull, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.pull(n)
	if err != nil {
		return Pull{}, err
	}
	return *p, nil
}

// Pulls gives copies of all pull requests, by number.
func (r *Repo) Pulls() []Pull {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Pull, len(r.pulls))
	for i, p := range r.pulls {
		list[i] = *p
	}
	return list
}

// edit changes a pull request and sends the event. Slices are replaced, never written to: copies of them are out there.
func (r *Repo) edit(p *Pull, by Actor, action string, change func(p *Pull) object) {
	extra := change(p)
	p.UpdatedAt = r.g.Now()
	r.notifyPull(action, by, p, extra)
}

// editAs is edit by a person.
func (r *Repo) editAs(by string, n int, action string, change func(p *Pull) object) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.pull(n)
	if err == nil {
		r.edit(p, Person(by), action, change)
	}
	return err
}

// Describe writes the description of a pull request anew.
func (r *Repo) Describe(n int, by, body string) error {
	return r.editAs(by, n, "edited", func(p *Pull) object {
		was := p.Body
		p.Body = body
		return object{"changes": object{"body": object{"from": was}}}
	})
}

// Label puts a label on a pull request.
func (r *Repo) Label(n int, by, label string) error {
	if p, err := r.Pull(n); err != nil || slices.Contains(p.Labels, label) {
		return err
	}
	return r.editAs(by, n, "labeled", func(p *Pull) object {
		p.Labels = append(slices.Clone(p.Labels), label)
		return object{"label": label}
	})
}

// Unlabel removes a label from a pull request.
func (r *Repo) Unlabel(n int, by, label string) error {
	if p, err := r.Pull(n); err != nil || !slices.Contains(p.Labels, label) {
		return fmt.Errorf("label %q on pull request %d: %w", label, n, ErrNotFound)
	}
	return r.editAs(by, n, "unlabeled", func(p *Pull) object {
		p.Labels = slices.DeleteFunc(slices.Clone(p.Labels), func(l string) bool { return l == label })
		return object{"label": label}
	})
}

// MarkDraft turns a pull request into a draft.
func (r *Repo) MarkDraft(n int, by string) error {
	return r.editAs(by, n, "converted_to_draft", func(p *Pull) object { p.Draft = true; return nil })
}

// MarkReady ends a draft.
func (r *Repo) MarkReady(n int, by string) error {
	return r.editAs(by, n, "ready_for_review", func(p *Pull) object { p.Draft = false; return nil })
}

// Retitle changes a pull request's title.
func (r *Repo) Retitle(n int, by, title string) error {
	return r.editAs(by, n, "edited", func(p *Pull) object {
		was := p.Title
		p.Title = title
		return object{"changes": object{"title": object{"from": was}}}
	})
}

// Retarget changes the branch that a pull request wants to be merged into.
func (r *Repo) Retarget(n int, by, base string) error {
	if r.Tip(base) == "" {
		return fmt.Errorf("retarget to %s: %w", base, ErrNotFound)
	}
	return r.editAs(by, n, "edited", func(p *Pull) object {
		was := p.Base
		p.Base = base
		return object{"changes": object{"base": object{"ref": object{"from": was}, "sha": object{"from": r.Tip(was)}}}}
	})
}

// ClosePull closes a pull request without a merge.
func (r *Repo) ClosePull(n int, by string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.pull(n)
	if err == nil {
		r.closePull(p, Person(by))
	}
	return err
}

func (r *Repo) closePull(p *Pull, by Actor) {
	if p.Open {
		r.edit(p, by, "closed", func(p *Pull) object {
			p.Open, p.ClosedAt, p.BaseSHA = false, r.g.Now(), r.Tip(p.Base)
			return nil
		})
	}
}

// Reopen opens a closed pull request again.
func (r *Repo) Reopen(n int, by string) error {
	return r.editAs(by, n, "reopened", func(p *Pull) object {
		p.Open, p.ClosedAt, p.BaseSHA = true, time.Time{}, ""
		return nil
	})
}

// SetPermission sets what a person may do: None, Read, Triage, Write, "maintain" or Admin.
func (r *Repo) SetPermission(login, permission string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.permissions[strings.ToLower(login)] = permission
}

// Protect puts rules on the branches whose names match a glob, in place of those it had by that glob.
func (r *Repo) Protect(pattern string, rules Rules) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rules.ID, rules.Pattern = r.g.nextID(), pattern
	r.protections = slices.DeleteFunc(r.protections, func(old Rules) bool {
		if old.Pattern == pattern {
			rules.ID = old.ID // it was edited
		}
		return old.Pattern == pattern
	})
	r.protections = append(r.protections, rules)
}

// Unprotect removes the rules of a glob.
func (r *Repo) Unprotect(pattern string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.protections = slices.DeleteFunc(r.protections, func(rules Rules) bool { return rules.Pattern == pattern })
}

// SetStatus puts a commit status on a commit, reported by s.By.
func (r *Repo) SetStatus(s Status) error {
	_, err := r.AddStatus(s)
	return err
}

// Statuses lists the statuses of a commit, newest first.
func (r *Repo) Statuses(sha string) []Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.Clone(r.statuses[sha])
	slices.Reverse(list)
	return list
}

// ListedHead is the head whose files REST lists: the pull request's, unless ListFilesOf has named another.
func (r *Repo) ListedHead(p Pull) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cmp.Or(r.listed[p.Number], p.HeadSHA)
}

// ListFilesOf makes REST list a pull request's files as of an earlier head of it, whatever its head is, until it is called
// with a sha of "". GitHub's API is eventually consistent, and has served lists from before a push:
// https://github.com/salemove/github-review-helper/pull/33
func (r *Repo) ListFilesOf(n int, sha string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listed[n] = sha
}

// MergePull merges a pull request as a person does with the button, all rules applied.
func (r *Repo) MergePull(n int, by string, method Method) (sha string, err error) {
	return r.Merge(n, MergeOrder{By: Person(by), Method: method})
}
