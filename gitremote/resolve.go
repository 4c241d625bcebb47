package gitremote

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"github.com/sluicegate/sluice/plan"
)

// Resolve is the commit that a revision names: a full or abbreviated SHA, HEAD, a branch, a tag, a remote's branch or a
// full ref, with any of ~N, ^N and ^{commit} after it. Where a name is ambiguous, refs win over abbreviated SHAs and tags
// over branches, as in git. What git's other forms (reflogs, searches) name is ErrNotFound.
func (r *Repo) Resolve(rev string) (_ plan.SHA, err error) {
	defer wrap(&err, "resolve %s", strconv.Quote(rev))
	base, steps := rev, ""
	if i := strings.IndexAny(rev, "~^"); i >= 0 {
		base, steps = rev[:i], rev[i:]
	}
	c, err := r.base(base)
	for err == nil && steps != "" {
		form := stepForm.FindStringSubmatch(steps)
		if form == nil {
			return "", fmt.Errorf("%w: %s is not understood", ErrNotFound, strconv.Quote(steps))
		}
		steps = steps[len(form[0]):]
		c, err = r.step(c, form[1], form[2])
	}
	if err != nil {
		return "", err
	}
	return plan.SHA(c.Hash.String()), nil
}

// stepForm is ^{commit}, which every base is already, ~N or ^N.
var stepForm = regexp.MustCompile(`^(?:\^\{commit\}|([~^])([0-9]*))`)

// base is the commit that a revision without steps names.
func (r *Repo) base(name string) (*object.Commit, error) {
	if plumbing.IsHash(name) {
		return r.peel(plumbing.NewHash(name))
	}
	if name == "@" {
		name = "HEAD"
	}
	if fitForRef(name) {
		for _, form := range plumbing.RefRevParseRules { // git's order
			ref := plumbing.ReferenceName(fmt.Sprintf(form, name))
			if !ref.IsSafe() {
				continue // git's own files are no refs
			}
			found, err := storer.ResolveReference(r.storage, ref)
			switch {
			case err == nil:
				return r.peel(found.Hash())
			case !errors.Is(err, plumbing.ErrReferenceNotFound):
				return nil, err
			}
		}
	}
	if c, err := r.abbreviated(name); c != nil || err != nil {
		return c, err
	}
	if remote := plumbing.NewRemoteReferenceName("origin", name); fitForRef(name) {
		if _, err := r.storage.Reference(remote); err == nil {
			return nil, fmt.Errorf("%w; there is origin/%s", ErrNotFound, name)
		}
	}
	return nil, ErrNotFound
}

// fitForRef reports whether a name can be part of a ref. Refs are files: a name that leads elsewhere is never looked up.
func fitForRef(name string) bool { return plumbing.ReferenceName("refs/x/"+name).Validate() == nil }

// abbreviated is the one commit whose SHA begins so; nil: name is no abbreviation, or no commit has it.
func (r *Repo) abbreviated(name string) (*object.Commit, error) {
	const shortest = 4 // git's own minimum
	name = strings.ToLower(name)
	if len(name) < shortest || len(name) > 40 || strings.Trim(name, "0123456789abcdef") != "" {
		return nil, nil
	}
	found, err := r.objects.beginning(name)
	if err != nil {
		return nil, err
	}
	var commit *object.Commit
	for _, h := range found {
		c, err := r.peel(h)
		switch {
		case errors.Is(err, ErrNotFound):
			continue // a tree or file of that name is no revision
		case err != nil:
			return nil, err
		case commit != nil && commit.Hash != c.Hash:
			return nil, fmt.Errorf("%w: several begin so", ErrNotFound)
		}
		commit = c
	}
	return commit, nil
}

// step is the ancestor that one ~N or ^N leads to; without a kind, the commit itself.
func (r *Repo) step(c *object.Commit, kind, digits string) (*object.Commit, error) {
	n, err := strconv.Atoi(cmp.Or(digits, "1"))
	if kind == "" || n == 0 && err == nil {
		return c, nil
	}
	times, parent := n, 1
	if kind == "^" {
		times, parent = 1, n
	}
	for range times {
		if err != nil || parent > len(c.ParentHashes) {
			return nil, fmt.Errorf("%w: it has no such ancestor", ErrNotFound)
		}
		if c, err = r.commit(c.ParentHashes[parent-1]); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// peel is the commit that an object is, or that a tag leads to.
func (r *Repo) peel(h plumbing.Hash) (*object.Commit, error) {
	for range maxTag {
		content, kind, err := r.objects.read(h, maxCommit)
		switch {
		case err != nil && !errors.Is(err, errLarge):
			return nil, r.lacking(h.String(), err)
		case kind != plumbing.CommitObject && kind != plumbing.TagObject:
			return nil, fmt.Errorf("%w: %s is a %s", ErrNotFound, h, kind)
		case err == nil && kind == plumbing.CommitObject:
			return decodeCommit(content)
		}
		tag := &object.Tag{}
		if err == nil {
			err = tag.Decode(memory(kind, content))
		}
		if err != nil {
			return nil, fmt.Errorf("read %s %s: %w", kind, h, err)
		}
		h = tag.Target
	}
	return nil, fmt.Errorf("%w: tags of tags", ErrTooLarge)
}

const maxLinks = 5 // symbolic branches that lead to each other, as git has it

// heads lists the branches: refs/heads alone, loose refs before packed ones, so that no branch is missed that git packs meanwhile.
// As git has it, a symbolic ref to nothing is no branch; one to what is no branch is none here.
func (r *Repo) heads() (map[plan.Branch]plumbing.Hash, error) {
	listed := 0 // nodes of the list that go-git makes of packed-refs
	if info, err := os.Stat(filepath.Join(r.at.common, "packed-refs")); err == nil {
		listed = int(info.Size() / refLine)
	}
	if err := r.cost.hold(listed, 0, "packed-refs"); err != nil {
		return nil, err
	}
	defer r.cost.drop(listed, 0)
	refs, err := r.storage.IterReferences()
	if err != nil {
		return nil, fmt.Errorf("list its branches: %w", err)
	}
	defer refs.Close()
	found, links := map[plan.Branch]plumbing.Hash{}, map[plan.Branch]plan.Branch{}
	err = refs.ForEach(func(ref *plumbing.Reference) error {
		branch, ok := strings.CutPrefix(ref.Name().String(), "refs/heads/")
		name := plan.Branch(branch)
		switch {
		case !ok:
		case ref.Type() == plumbing.SymbolicReference:
			if to, ok := strings.CutPrefix(ref.Target().String(), "refs/heads/"); ok {
				links[name] = plan.Branch(to)
			}
		case ref.Hash().IsZero():
			return fmt.Errorf("the branch %s is broken: it names no commit", plan.Clean(string(name)))
		default:
			found[name] = ref.Hash()
			return r.cost.hold(1, len(name), "refs/heads")
		}
		return nil
	})
	for name, to := range links {
		for hop := 1; hop < maxLinks && links[to] != ""; hop++ {
			to = links[to]
		}
		if h, ok := found[to]; ok && links[to] == "" {
			found[name] = h
		}
	}
	return found, err
}

// DefaultBranch is the default branch as far as a clone knows it; "": it does not. A clone knows what origin's HEAD was
// when it was cloned; a bare repository has its own. Else main or master, or the only branch there is.
func (r *Repo) DefaultBranch() plan.Branch {
	const remote = "refs/remotes/origin/"
	if name := r.named(remote+"HEAD", remote); name != "" {
		return name
	}
	if name := r.named(plumbing.HEAD, "refs/heads/"); name != "" && r.at.bare {
		return name
	}
	for _, name := range []string{"main", "master"} {
		for _, below := range []string{remote, "refs/heads/"} {
			if _, err := r.storage.Reference(plumbing.ReferenceName(below + name)); err == nil {
				return plan.Branch(name)
			}
		}
	}
	if heads, err := r.heads(); err == nil && len(heads) == 1 {
		for name := range heads {
			return name
		}
	}
	return ""
}

// named is the branch below a prefix that a symbolic ref names; "": it names none.
func (r *Repo) named(symbolic plumbing.ReferenceName, below string) plan.Branch {
	if ref, err := r.storage.Reference(symbolic); err == nil && strings.HasPrefix(string(ref.Target()), below) {
		return plan.Branch(ref.Target()[len(below):])
	}
	return ""
}

// Origin is the URL of a clone's remote origin, with whatever credentials stand in it; "": it has none.
func (r *Repo) Origin() string {
	base, rest, longest := "", r.origin, -1
	for to, instead := range r.insteadOf {
		if after, ok := strings.CutPrefix(r.origin, instead); ok && len(instead) > longest {
			base, rest, longest = to, after, len(instead)
		}
	}
	return base + rest
}
