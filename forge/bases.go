package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// maxBases is how many different bases a look reads.
const maxBases = 400

// parsed is what became of a file's text. It is remembered by blob.
type parsed struct {
	policy   *config.Policy
	findings []config.Finding
}

// takeBase keeps a base.
func (l *look) takeBase(raw *rawBase) error {
	if raw.Target == nil || raw.Target.Typename != "Commit" {
		return transient(wordUnreadable, nil)
	}
	name := plan.Branch(raw.Name)
	if err := l.sawTip(name, plan.SHA(raw.Target.Oid)); err != nil {
		return err
	}
	l.bases[name] = raw
	l.takeLine(raw)
	return nil
}

// takeBases keeps the bases that were asked for by alias. One that is gone is left out: its pull requests are closed.
func (l *look) takeBases(named map[string]json.RawMessage, names []string) error {
	for i := range names {
		var raw *rawBase
		if err := json.Unmarshal(named[fmt.Sprintf("b%d", i)], &raw); err != nil {
			return transient(wordUnreadable, err)
		}
		if raw == nil {
			l.absent[plan.Branch(names[i])] = true
			continue
		}
		if err := l.takeBase(raw); err != nil {
			return err
		}
	}
	return nil
}

// readBases reads the bases that no look has seen before.
func (l *look) readBases(ctx context.Context) error {
	var missing []string
	for name := range l.tips {
		if l.bases[name] == nil {
			missing = append(missing, string(name))
		}
	}
	slices.Sort(missing)
	if len(missing) > maxBases {
		return transient(wordTooMany, nil)
	}
	for names := range slices.Chunk(missing, maxKnownBases) {
		r, err := l.c.ask(ctx, basesQuery(l.repo.Owner, l.repo.Name, names))
		if err != nil {
			return err
		}
		l.cost += r.cost
		var named map[string]json.RawMessage
		if err := r.into(&named); err != nil {
			return err
		}
		if err := l.takeBases(named, names); err != nil {
			return err
		}
	}
	for name := range l.tips {
		if l.bases[name] == nil {
			return errMoved // a pull request saw it, and now it is gone
		}
	}
	return nil
}

// base is a base as plan has it, but for its rules.
func (l *look) base(name plan.Branch, raw *rawBase) plan.Base {
	b := plan.Base{
		Tip: plan.SHA(raw.Target.Oid), TipAt: raw.Target.CommittedDate.UTC(), Protected: raw.RefUpdateRule != nil,
	}
	if raw.Target.Status != nil {
		b.Ours = l.ours(plan.ContextFor(name), raw.Target.Status.Contexts)
	}
	if e := raw.Target.File; e != nil {
		b.File = plan.SHA(e.Oid)
		p := l.f.policy(*e)
		b.Policy, b.Findings = p.policy, p.findings
	}
	return b
}

// policy is what a tip's entry for the file says. What stands at the path and is no plain text of bearable size is an
// invalid file, never an absent one.
func (f *Forge) policy(e rawEntry) parsed {
	if e.Type != "blob" || !regular(e.Mode) {
		return refused(codeNotAFile, sayNotAFile)
	}
	return f.parse(e.Object, plan.SHA(e.Oid))
}

// regular tells a plain file's mode, executable or not, from a symbolic link's and a submodule's.
func regular(mode int) bool { return mode&0o170000 == 0o100000 }

// parse is what an object's text says, parsed once for each blob.
func (f *Forge) parse(o *rawObject, blob plan.SHA) parsed {
	switch {
	case o == nil:
		return refused(codeUnread, sayUnread)
	case o.Typename != "Blob":
		return refused(codeNotAFile, sayNotAFile)
	case o.ByteSize > config.MaxBytes || o.IsTruncated:
		return refused(codeTooLarge, fmt.Sprintf(sayTooLarge, config.MaxBytes))
	case o.Text == nil, o.IsBinary != nil && *o.IsBinary:
		return refused(codeNotText, sayNotText)
	}
	if p, ok := f.policies.get(blob); ok {
		return p
	}
	var p parsed
	p.policy, p.findings = config.Parse([]byte(*o.Text))
	f.policies.put(blob, p)
	return p
}

// refused is a file that is invalid for what it is, not for what it says.
func refused(code, says string) parsed {
	return parsed{findings: []config.Finding{{
		Severity: config.Error, Code: code, Message: config.File + " " + says,
	}}}
}

// ours are the statuses under a context of ours, whoever set them. GitHub folds the case of contexts.
func (l *look) ours(context plan.Context, contexts []rawContext) []plan.Status {
	var out []plan.Status
	for _, c := range contexts {
		if context.Is(plan.Context(c.Context)) {
			out = append(out, l.status(context, c))
		}
	}
	slices.SortStableFunc(out, func(a, b plan.Status) int { return b.At.Compare(a.At) })
	return out
}

// status is one status under our context.
func (l *look) status(context plan.Context, c rawContext) plan.Status {
	s := plan.Status{
		Context: context, State: plan.StatusState(strings.ToLower(c.State)), By: l.login(c.Creator), At: c.CreatedAt.UTC(),
	}
	if c.Description != nil {
		s.Description = *c.Description
	}
	return s
}

// login is an account's login as plan has it. A person may have the login that our App's bot has; such a one gets a name
// that no bot can have, lest their statuses pass for ours.
func (l *look) login(a *actor) plan.Login {
	if a == nil {
		return ""
	}
	name := trimBot(a.Login)
	if a.Typename != "Bot" && strings.EqualFold(name, string(l.us)) {
		return plan.Login("@" + name)
	}
	return plan.Login(name)
}
