package forge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// basesPage is how many bases are asked for in one query, once the pull requests are known. They cost GitHub no points, so as many are
// read as pull requests may have.
const basesPage = 100

// rulesFile is what became of a file's text. It is remembered by blob.
type rulesFile struct {
	policy   *config.Policy
	findings []config.Finding
}

// keepBase keeps a base.
func (l *reader) keepBase(raw *rawBase) error {
	if raw.Target == nil || raw.Target.Typename != "Commit" || raw.Target.Oid == "" {
		return client.Unreadable(nil)
	}
	name := plan.Branch(raw.Name)
	if err := l.sawTip(name, plan.SHA(raw.Target.Oid)); err != nil {
		return err
	}
	l.bases[name] = raw
	l.keepLine(raw)
	return nil
}

// keepNamed keeps a base that was asked for by alias. One that is gone is left out: its pull requests are closed. One that GitHub does not show
// is unknown.
func (l *reader) keepNamed(ctx context.Context) func(string, *rawBase, error) error {
	return func(name string, raw *rawBase, err error) error {
		switch {
		case err != nil:
		case raw == nil:
			l.absent[plan.Branch(name)] = true
			return nil
		case raw.Name != name:
			err = client.Unreadable(nil)
		default:
			err = l.keepBase(raw)
		}
		if errors.Is(err, errMoved) {
			return err
		}
		return l.noBase(ctx, name, err)
	}
}

// noBase notes that a base could not be read, if there is an error.
func (l *reader) noBase(ctx context.Context, name string, err error) error {
	key := l.key(partBase, name)
	if err == nil {
		l.wasRead(key)
		return nil
	}
	u, err := l.failed(ctx, key, whatBase, err)
	l.lose(plan.Branch(name), u)
	return err
}

// readBases reads the bases that no look has seen before.
func (l *reader) readBases(ctx context.Context, used map[plan.Branch]bool) error {
	wanted := map[plan.Branch]bool{}
	for name := range l.tips {
		wanted[name] = true
	}
	for name := range used {
		wanted[name] = true
	}
	var missing []string
	for name := range wanted {
		if l.bases[name] != nil || l.absent[name] || l.lost[name].Is() {
			continue
		}
		if u := l.rests(l.key(partBase, string(name))); u.Is() {
			l.lose(name, u)
			continue
		}
		missing = append(missing, string(name))
	}
	slices.Sort(missing)
	ask := func(some []string) *query { return basesQuery(l.repo.Owner, l.repo.Name, some) }
	if err := askEach(ctx, l.look, missing, basesPage, ask, "b", l.keepNamed(ctx)); err != nil {
		return err
	}
	for name := range l.tips {
		if l.bases[name] != nil || l.lost[name].Is() {
			continue
		}
		if !l.final {
			return errMoved // a pull request saw it, and now it is gone
		}
		l.lose(name, plan.Unread{Reason: wordBaseMoved, Passing: true})
		l.askAgain(l.now().Add(partFirst))
	}
	return nil
}

// base is a base as plan has it, but for its rules.
func (l *reader) base(name plan.Branch, raw *rawBase) plan.Base {
	b := plan.Base{
		Tip: plan.SHA(raw.Target.Oid), TipAt: raw.Target.CommittedDate.UTC(),
	}
	if raw.Target.Status != nil {
		b.Ours = l.ours(plan.ContextFor(name), raw.Target.Status.Contexts)
	}
	if e := raw.Target.File; e != nil {
		b.File = plan.SHA(e.Oid)
		p := l.policy(*e)
		b.Policy, b.Findings = p.policy, p.findings
	}
	return b
}

// policy is what a tip's entry for the file says. What stands at the path and is no plain text of bearable size is an
// invalid file, never an absent one.
func (l *reader) policy(e rawEntry) rulesFile {
	if e.Type != "blob" || !regular(e.Mode) {
		return refused(codeNotAFile, sayNotAFile)
	}
	return l.parse(e.Object, plan.SHA(e.Oid))
}

// regular reports whether a mode is a plain file's, executable or not, rather than a symbolic link's or a submodule's.
func regular(mode int) bool { return mode&0o170000 == 0o100000 }

// parse is what an object's text says, parsed once for each blob of a repository: whoever fills one repository's part keeps no other from its own.
func (l *reader) parse(o *rawObject, blob plan.SHA) rulesFile {
	if refusal, bad := unparsable(o); bad {
		return refusal
	}
	if p, ok := keptPolicies.get(l.memory, blob); ok {
		return p
	}
	var p rulesFile
	p.policy, p.findings = config.Parse([]byte(*o.Text))
	keptPolicies.put(l.memory, blob, p)
	return p
}

// unparsable reports whether an object is no text that may be parsed, and what is said of it then.
func unparsable(o *rawObject) (rulesFile, bool) {
	switch {
	case o == nil:
		return refused(codeUnread, sayUnread), true
	case o.Typename != "Blob":
		return refused(codeNotAFile, sayNotAFile), true
	case o.ByteSize > config.MaxBytes || o.IsTruncated:
		return refused(codeTooLarge, fmt.Sprintf(sayTooLarge, config.MaxBytes)), true
	case o.Text == nil, o.IsBinary != nil && *o.IsBinary:
		return refused(codeNotText, sayNotText), true
	}
	return rulesFile{}, false
}

// refused is a file that is invalid for what it is, not for what it says.
func refused(code, says string) rulesFile {
	return rulesFile{findings: []config.Finding{{
		Severity: config.Error, Code: code, Message: config.File + " " + says,
	}}}
}

const (
	partBase   partKind = "base"   // by its name
	partRules  partKind = "rules"  // of a branch, by its name
	partBranch partKind = "branch" // a windowed one, by its name
	partTip    partKind = "tip"    // how a windowed branch's commit stands to the line, by the commit
)

// sawTip holds a tip against what was seen of the same branch before. Whoever may push to a branch can move it all the time: after
// the second try it is that branch that is unknown. The default branch is the repository's own.
func (l *reader) sawTip(branch plan.Branch, tip plan.SHA) error {
	if before, ok := l.tips[branch]; ok && before != tip {
		if !l.final || l.home == "" || branch == l.home {
			return errMoved
		}
		l.lose(branch, plan.Unread{Reason: wordBaseMoved, Passing: true})
		l.askAgain(l.now().Add(partFirst))
	}
	l.tips[branch] = tip
	return nil
}

// lose notes that a base could not be read.
func (l *reader) lose(branch plan.Branch, u plan.Unread) { l.lost[branch] = u }

// errMoved says that two reads of one observation saw different states.
var errMoved = errors.New(wordMoved)
