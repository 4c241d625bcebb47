package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// byUrgency is the order of verdicts on the page: what needs a person first.
var byUrgency = []plan.Kind{
	plan.Blocked, plan.Failed, plan.Waiting, plan.Overridden, plan.Release, plan.Due, plan.Held, plan.Ignored, plan.Current, plan.Applied,
}

// moment is an instant, ready to be shown.
type moment struct{ Machine, Text, Distance string }

// next is the change that time alone brings first.
type next struct {
	Repo string
	At   moment
}

type count struct {
	Kind  plan.Kind
	N     int
	Means string
}

type repo struct {
	Name, Link string
	Looked     *moment
	Due        *moment
	Wake       *moment
	Warnings   *roll
	Green      int
	GreenUntil *moment
	Windows    *roll
	Unpaid     *roll
	Verdicts   *roll
	Branches   *roll
	Acts       *roll
}

type verdict struct {
	Anchor, Place       string // on the page of all, and its own page
	Subject, Base, Link string
	Title               string
	Kind                plan.Kind
	Reason              string
	Until               *moment
	Releases            string
	SHA                 string
	Why                 []plan.Step
}

// unpaid is a success that GitHub refuses to take back.
type unpaid struct {
	SHA, Link, Context, Reason string
	Since                      *moment
	Tries                      int
}

// branch is a windowed branch.
type branch struct {
	Anchor           string
	Name, From, Link string
	Kind             plan.Kind
	Reason           string
	Until            *moment
	Old, New         string
	Waiting          int
	Oldest           *moment
	Commits          []commit // the first few that wait
	Unnamed          int      // that wait beside them
	Why              []plan.Step
}

type commit struct {
	SHA, Link, Subject string
	At                 moment
}

type act struct {
	At                 moment
	By                 string // "": nobody knows
	Verb, Reason, Link string
	Subject, SHA       string
	Outcome            store.Outcome
}

// repo draws the lists of a repository, each in the order of urgency.
func (s *site) repo(p store.Page, now time.Time, windows []windowRow) (r repo, err error) {
	r = repo{
		Name: plain(p.Repo.String()), Link: s.link(p.Repo),
		Looked: optional(p.Looked, now), Due: optional(p.Due, now), Wake: optional(p.Wake, now),
		Green: p.Green, GreenUntil: optional(p.GreenUntil, now),
	}
	slices.SortStableFunc(p.Verdicts, compare)
	slices.SortStableFunc(p.Branches, func(a, b plan.BranchVerdict) int { // else in the file's order
		return cmp.Or(cmp.Compare(urgency(a.Kind), urgency(b.Kind)), a.Until.Compare(b.Until))
	})
	for _, l := range []struct {
		to      **roll
		name    string
		n, more int
		row     func(int) any
	}{
		{&r.Warnings, "line", len(p.Warnings), 0, func(i int) any { return plain(p.Warnings[i]) }},
		{&r.Windows, "window", len(windows), 0, func(i int) any { return windows[i] }},
		{&r.Unpaid, "unpaid", len(p.Unpaid), p.MoreUnpaid, func(i int) any { return s.unpaid(p.Repo, p.Unpaid[i], now) }},
		{&r.Verdicts, "verdict", len(p.Verdicts), p.More, func(i int) any { return s.verdict(p.Repo, p.Verdicts[i], now) }},
		{&r.Branches, "branch", len(p.Branches), p.MoreBranches, func(i int) any { return s.branch(p.Repo, p.Branches[i], now) }},
		{&r.Acts, "act", len(p.Acts), 0, func(i int) any { return s.act(p.Repo, p.Acts[i], now) }},
	} {
		if *l.to, err = s.list(l.name, l.n, l.more, l.row); err != nil {
			return repo{}, err
		}
	}
	return r, nil
}

func (s *site) unpaid(in plan.Repo, o store.DebtRow, now time.Time) unpaid {
	what := plain(string(o.Debt.Context))
	if n, ok := o.Debt.Context.Approves(); ok {
		what = fmt.Sprintf("approval of #%d", n)
	}
	return unpaid{
		SHA: o.Debt.SHA.Short(), Link: s.link(in, "commit", string(o.Debt.SHA)), Context: what,
		Reason: plain(o.Reason), Since: optional(o.Debt.Ends, now), Tries: o.Tries,
	}
}

// urgency is a verdict's place on the page.
func urgency(k plan.Kind) int { return slices.Index(byUrgency, k) }

// compare orders verdicts by urgency, then by when they change, then by number.
func compare(a, b plan.Verdict) int {
	return cmp.Or(
		cmp.Compare(urgency(a.Kind), urgency(b.Kind)),
		a.Until.Compare(b.Until),
		cmp.Compare(a.Subject.Pull, b.Subject.Pull),
		cmp.Compare(a.Subject.Base, b.Subject.Base),
	)
}

func (s *site) verdict(in plan.Repo, d plan.Verdict, now time.Time) verdict {
	v := verdict{
		Subject: saysTip, Base: plain(string(d.Subject.Base)), Kind: d.Kind, Reason: plain(d.Text()),
		Until: optional(d.Until, now), SHA: d.SHA.Short(), Why: plainSteps(d.Why), Title: plain(d.Title),
	}
	if d.Subject.Pull != 0 {
		v.Subject, v.Link = fmt.Sprintf("#%d", d.Subject.Pull), s.link(in, "pull", fmt.Sprint(d.Subject.Pull))
		v.Anchor, v.Place = Anchor(in, d.Subject.Pull, ""), PlaceOf(in, d.Subject.Pull)
	}
	names := make([]string, len(d.Releases))
	for i, r := range d.Releases {
		names[i] = plain(string(r))
	}
	v.Releases = strings.Join(names, ", ")
	return v
}

func (s *site) branch(in plan.Repo, b plan.BranchVerdict, now time.Time) branch {
	shown := branch{
		Anchor: Anchor(in, 0, b.Name),
		Name:   plain(string(b.Name)), From: plain(string(b.From)), Link: s.link(in, "tree", string(b.Name)),
		Kind: b.Kind, Reason: plain(b.Text()), Until: optional(b.Until, now), Old: b.Old.Short(), New: b.New.Short(),
		Waiting: b.Waiting, Oldest: optional(b.Oldest, now), Unnamed: max(0, b.Waiting-len(b.Commits)), Why: plainSteps(b.Why),
	}
	for _, c := range b.Commits {
		shown.Commits = append(shown.Commits, commit{
			SHA: c.SHA.Short(), Link: s.link(in, "commit", string(c.SHA)), Subject: plain(c.Subject), At: momentOf(c.At, now),
		})
	}
	return shown
}

// plainSteps is steps with their texts made plain.
func plainSteps(steps []plan.Step) []plan.Step {
	var out []plan.Step
	for _, step := range steps {
		out = append(out, plan.Step{About: plain(step.About), Says: plain(step.Says)})
	}
	return out
}

func (s *site) act(in plan.Repo, a store.Act, now time.Time) act {
	shown := act{At: momentOf(a.At, now), By: plain(string(a.By)), Verb: a.Verb, Reason: plain(a.Reason), Outcome: a.Outcome, SHA: a.SHA.Short()}
	switch {
	case a.Pull != 0:
		shown.Subject, shown.Link = fmt.Sprintf("#%d", a.Pull), s.link(in, "pull", fmt.Sprint(a.Pull))
	case a.Branch != "":
		shown.Subject, shown.Link = plain(string(a.Branch)), s.link(in, "tree", string(a.Branch))
	}
	return shown
}

// Anchor is where on the page something stands, for the fragment of its URL: a pull request, else a windowed branch, else what is shown of the
// repository. What is left out of the page has none: then a browser shows its beginning.
func Anchor(in plan.Repo, pull int, branch plan.Branch) string {
	name := in.String()
	switch {
	case pull != 0:
		name += "/pull/" + strconv.Itoa(pull)
	case branch != "":
		name += "/tree/" + string(branch)
	}
	return plain(name)
}

// plain shows characters that would not be seen, or would turn the text around them, as what they are: a label that is named
// backwards must not read as another one. It also bounds the text.
func plain(text string) string { return plan.Clean(text) }

// link is where people see something of a repository; "" if it is not known where GitHub is.
func (s *site) link(in plan.Repo, more ...string) string {
	if s.GitHub == "" {
		return ""
	}
	parts := append([]string{in.Owner, in.Name}, more...)
	return strings.TrimSuffix(s.GitHub, "/") + (&url.URL{Path: "/" + strings.Join(parts, "/")}).EscapedPath()
}

func momentOf(t, now time.Time) moment {
	return moment{Machine: t.UTC().Format(time.RFC3339), Text: wordsOfInstant(t), Distance: wordsOfDistance(t, now)}
}

// optional is a moment that may be absent.
func optional(t, now time.Time) *moment {
	if t.IsZero() {
		return nil
	}
	m := momentOf(t, now)
	return &m
}
