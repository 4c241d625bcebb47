package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

const (
	// verdictsShown is how many verdicts of one repository stand on the page.
	verdictsShown = 200
	// actsShown is how many of the latest actions of one repository stand open; the others unfold.
	actsShown = 3
	// reposShown is how many repositories with something to say stand on the page.
	reposShown = 300
	// branchesShown is how many windowed branches of one repository stand on the page.
	branchesShown = 200
	// quietShown is how many quiet repositories are named.
	quietShown = 1000
	// freshFor is how long an action keeps a repository without anything open among those that have something to say.
	freshFor = 24 * time.Hour
)

// byUrgency is the order of verdicts on the page: what needs a person first.
var byUrgency = []plan.Kind{
	plan.Blocked, plan.Failed, plan.Waiting, plan.Overridden, plan.Release, plan.Due, plan.Held, plan.Ignored, plan.Current, plan.Applied,
}

// view is all that the template shows.
type view struct {
	Now      moment
	Troubles []string // of the service itself
	Counts   []count
	Repos    []repo // that have something to say
	More     int    // of them that are left out
	Quiet    []repo // without verdicts, warnings or recent actions
	Unnamed  int    // quiet ones that are not named
	Total    int
	Next     *next
	Refresh  int // seconds; 0: not by itself
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
	Name, Link    string
	Looked        *moment
	Due           *moment
	Wake          *moment
	Warnings      []string
	Green         int
	GreenUntil    *moment
	Unpaid        []unpaid
	MoreUnpaid    int // that are left out
	Verdicts      []verdict
	More          int // verdicts that are left out
	Branches      []branch
	MoreBranches  int // branches that are left out
	Acts, Earlier []act
	Fresh         bool // the latest action is not long ago
}

type verdict struct {
	Subject, Base, Link string
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
	Verb, Reason, Link string
	Subject, SHA       string
	Outcome            store.Outcome
}

// view draws up what the page shows at an instant.
func (s *site) view(pages []store.Page, now time.Time) view {
	v := view{Now: momentOf(now, now), Total: len(pages)}
	if s.Ready != nil {
		v.Troubles = s.Ready()
	}
	counts := map[plan.Kind]int{}
	var first time.Time
	for _, p := range pages {
		for _, d := range p.Verdicts {
			counts[d.Kind]++
		}
		for _, b := range p.Branches {
			counts[b.Kind]++
		}
		if !p.Wake.IsZero() && p.Wake.After(now) && (first.IsZero() || p.Wake.Before(first)) {
			first, v.Next = p.Wake, &next{Repo: p.Repo.String(), At: momentOf(p.Wake, now)}
		}
		v.add(s.repo(p, now))
	}
	for _, kind := range byUrgency {
		if counts[kind] > 0 {
			v.Counts = append(v.Counts, count{Kind: kind, N: counts[kind], Means: wordsOfKind[kind]})
		}
	}
	return v
}

// add puts a repository where it belongs.
func (v *view) add(r repo) {
	quiet := len(r.Verdicts) == 0 && len(r.Branches) == 0 && len(r.Warnings) == 0 && len(r.Unpaid) == 0 && !r.Fresh
	switch {
	case quiet && len(v.Quiet) < quietShown:
		v.Quiet = append(v.Quiet, r)
	case quiet:
		v.Unnamed++
	case len(v.Repos) < reposShown:
		v.Repos = append(v.Repos, r)
	default:
		v.More++
	}
}

func (s *site) repo(p store.Page, now time.Time) repo {
	r := repo{
		Name: p.Repo.String(), Link: s.link(p.Repo), More: p.More,
		Looked: optional(p.Looked, now), Due: optional(p.Due, now), Wake: optional(p.Wake, now),
		Green: p.Green, GreenUntil: optional(p.GreenUntil, now), MoreUnpaid: p.MoreUnpaid,
	}
	for _, o := range p.Unpaid {
		r.Unpaid = append(r.Unpaid, unpaid{
			SHA: o.Debt.SHA.Short(), Link: s.link(p.Repo, "commit", string(o.Debt.SHA)), Context: plain(string(o.Debt.Context)),
			Reason: plain(o.Reason), Since: optional(o.Debt.Ends, now), Tries: o.Tries,
		})
	}
	if s.Lag != nil {
		if late := s.Lag(p.Repo); late != "" {
			r.Warnings = append(r.Warnings, plain(late))
		}
	}
	for _, w := range p.Warnings {
		r.Warnings = append(r.Warnings, plain(w))
	}
	verdicts := slices.Clone(p.Verdicts)
	slices.SortStableFunc(verdicts, compare)
	for i, d := range verdicts {
		if i == verdictsShown {
			r.More += len(verdicts) - i
			break
		}
		r.Verdicts = append(r.Verdicts, s.verdict(p.Repo, d, now))
	}
	s.addBranches(&r, p, now)
	r.Fresh = len(p.Acts) > 0 && now.Sub(p.Acts[0].At) < freshFor
	for i, a := range p.Acts {
		shown := s.act(p.Repo, a, now)
		if i < actsShown {
			r.Acts = append(r.Acts, shown)
		} else {
			r.Earlier = append(r.Earlier, shown)
		}
	}
	return r
}

// addBranches puts a repository's windowed branches in the order of urgency, else in the file's.
func (s *site) addBranches(r *repo, p store.Page, now time.Time) {
	branches := slices.Clone(p.Branches)
	slices.SortStableFunc(branches, func(a, b plan.BranchVerdict) int {
		return cmp.Or(cmp.Compare(urgency(a.Kind), urgency(b.Kind)), a.Until.Compare(b.Until))
	})
	r.MoreBranches = p.MoreBranches
	if over := len(branches) - branchesShown; over > 0 {
		branches = branches[:branchesShown]
		r.MoreBranches += over
	}
	for _, b := range branches {
		r.Branches = append(r.Branches, s.branch(p.Repo, b, now))
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
		Subject: saysTip, Base: plain(string(d.Subject.Base)), Kind: d.Kind, Reason: plain(d.Reason),
		Until: optional(d.Until, now), SHA: d.SHA.Short(), Why: plainSteps(d.Why),
	}
	if d.Subject.Pull != 0 {
		v.Subject, v.Link = fmt.Sprintf("#%d", d.Subject.Pull), s.link(in, "pull", fmt.Sprint(d.Subject.Pull))
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
		Name: plain(string(b.Name)), From: plain(string(b.From)), Link: s.link(in, "tree", string(b.Name)),
		Kind: b.Kind, Reason: plain(b.Reason), Until: optional(b.Until, now), Old: b.Old.Short(), New: b.New.Short(),
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
	shown := act{At: momentOf(a.At, now), Verb: a.Verb, Reason: plain(a.Reason), Outcome: a.Outcome, SHA: a.SHA.Short()}
	switch {
	case a.Pull != 0:
		shown.Subject, shown.Link = fmt.Sprintf("#%d", a.Pull), s.link(in, "pull", fmt.Sprint(a.Pull))
	case a.Branch != "":
		shown.Subject, shown.Link = plain(string(a.Branch)), s.link(in, "tree", string(a.Branch))
	}
	return shown
}

// plain shows characters that would not be seen, or would turn the text around them, as what they are: a label that is named
// backwards must not read as another one.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

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
