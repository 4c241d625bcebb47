package branches

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// basesPage is how many bases are asked for in one query, once the pull requests are known. They cost GitHub no points, so as many are
// read as pull requests may have.
const basesPage = 100

// rulesFile is what became of a file's text. It is remembered by blob.
type rulesFile struct {
	policy   *config.Policy
	Findings []config.Finding
}

// KeepBase keeps a base.
func (l *Reader) KeepBase(raw *RawBase) error {
	if raw.Target == nil || raw.Target.Typename != "Commit" || raw.Target.Oid == "" {
		return client.Unreadable(nil)
	}
	name := plan.Branch(raw.Name)
	if err := l.SawTip(name, plan.SHA(raw.Target.Oid)); err != nil {
		return err
	}
	l.Bases[name] = raw
	l.keepLine(raw)
	return nil
}

// KeepNamed keeps a base that was asked for by alias. One that is gone is left out: its pull requests are closed. One that GitHub does not show
// is unknown.
func (l *Reader) KeepNamed(ctx context.Context) func(string, *RawBase, error) error {
	return func(name string, raw *RawBase, err error) error {
		switch {
		case err != nil:
		case raw == nil:
			l.absent[plan.Branch(name)] = true
			return nil
		case raw.Name != name:
			err = client.Unreadable(nil)
		default:
			err = l.KeepBase(raw)
		}
		if errors.Is(err, ErrMoved) {
			return err
		}
		return l.noBase(ctx, name, err)
	}
}

// noBase notes that a base could not be read, if there is an error.
func (l *Reader) noBase(ctx context.Context, name string, err error) error {
	u, ends := l.Note(ctx, l.Key(partBase, name), whatBase, err)
	if err != nil {
		l.lose(plan.Branch(name), u)
	}
	return ends
}

// ReadBases reads the bases that no look has seen before.
func (l *Reader) ReadBases(ctx context.Context, used map[plan.Branch]bool) error {
	wanted := map[plan.Branch]bool{}
	for name := range l.tips {
		wanted[name] = true
	}
	for name := range used {
		wanted[name] = true
	}
	var missing []string
	for name := range wanted {
		if l.Bases[name] != nil || l.absent[name] || l.Unread[name].Is() {
			continue
		}
		if u := l.Rests(l.Key(partBase, string(name))); u.Is() {
			l.lose(name, u)
			continue
		}
		missing = append(missing, string(name))
	}
	slices.Sort(missing)
	ask := func(some []string) *look.Query { return basesQuery(l.Repo.Owner, l.Repo.Name, some) }
	if err := look.AskEach(ctx, l.Look, missing, basesPage, ask, "b", l.KeepNamed(ctx)); err != nil {
		return err
	}
	for name := range l.tips {
		if l.Bases[name] != nil || l.Unread[name].Is() {
			continue
		}
		if !l.Final {
			return ErrMoved // a pull request saw it, and now it is gone
		}
		l.lose(name, plan.Unread{Reason: wordBaseMoved, Passing: true})
		l.AskAgain(l.Now().Add(look.PartFirst))
	}
	return nil
}

// Base is a base as plan has it, but for its rules.
func (l *Reader) Base(name plan.Branch, raw *RawBase) plan.Base {
	b := plan.Base{
		Tip: plan.SHA(raw.Target.Oid), TipAt: raw.Target.CommittedDate.UTC(),
	}
	if raw.Target.Status != nil {
		b.Ours = l.Ours(plan.ContextFor(name), raw.Target.Status.Contexts)
	}
	if e := raw.Target.File; e != nil {
		b.File = plan.SHA(e.Oid)
		p := l.policy(*e)
		b.Policy, b.Findings = p.policy, p.Findings
	}
	return b
}

// policy is what a tip's entry for the file says. What stands at the path and is no plain text of bearable size is an
// invalid file, never an absent one.
func (l *Reader) policy(e rawEntry) rulesFile {
	if e.Type != "blob" || !regular(e.Mode) {
		return refused(codeNotAFile, sayNotAFile)
	}
	return l.parse(e.Object, plan.SHA(e.Oid))
}

// regular reports whether a mode is a plain file's, executable or not, rather than a symbolic link's or a submodule's.
func regular(mode int) bool { return mode&0o170000 == 0o100000 }

// parse is what an object's text says, parsed once for each blob of a repository: whoever fills one repository's part keeps no other from its own.
func (l *Reader) parse(o *look.RawObject, blob plan.SHA) rulesFile {
	if refusal, bad := Unparsable(o); bad {
		return refusal
	}
	if p, ok := keptPolicies.Get(l.Memory, blob); ok {
		return p
	}
	var p rulesFile
	p.policy, p.Findings = config.Parse([]byte(*o.Text))
	keptPolicies.Put(l.Memory, blob, p)
	return p
}

// Unparsable reports whether an object is no text that may be parsed, and what is said of it then.
func Unparsable(o *look.RawObject) (rulesFile, bool) {
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
	return rulesFile{Findings: []config.Finding{{
		Severity: config.Error, Code: code, Message: config.File + " " + says,
	}}}
}

const (
	partBase   look.PartKind = "base"   // by its name
	partRules  look.PartKind = "rules"  // of a branch, by its name
	partBranch look.PartKind = "branch" // a windowed one, by its name
	partTip    look.PartKind = "tip"    // how a windowed branch's commit stands to the line, by the commit
)

// SawTip holds a tip against what was seen of the same branch before. Whoever may push to a branch can move it all the time: after
// the second try it is that branch that is unknown. The default branch is the repository's own.
func (l *Reader) SawTip(branch plan.Branch, tip plan.SHA) error {
	if before, ok := l.tips[branch]; ok && before != tip {
		if !l.Final || l.Home == "" || branch == l.Home {
			return ErrMoved
		}
		l.lose(branch, plan.Unread{Reason: wordBaseMoved, Passing: true})
		l.AskAgain(l.Now().Add(look.PartFirst))
	}
	l.tips[branch] = tip
	return nil
}

// lose notes that a base could not be read.
func (l *Reader) lose(branch plan.Branch, u plan.Unread) { l.Unread[branch] = u }

// ErrMoved says that two reads of one observation saw different states.
var ErrMoved = errors.New(look.WordMoved)
