package web

import (
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

// urgency is a verdict's place on the page.
func urgency(k plan.Kind) int { return slices.Index(byUrgency, k) }

// frame is what every page has.
type frame struct {
	Title      string
	Root       string // the way to the page of all
	Now        moment
	Reload     int      // seconds
	Troubles   []string // why the service is not ready
	Late       []string // what is not as it should be although it is
	Person     string   // who is logged in; "": nobody has to be
	Wrong      string   // why there is no more than this
	Unpaid     []unpaid // of what is shown
	MoreUnpaid int
}

// moment is an instant, ready to be shown.
type moment struct{ Machine, Text, Distance string }

// unpaid is a success that GitHub refuses to take back.
type unpaid struct {
	In, SHA, Link, Context, Reason string
	Since                          *moment
	Tries                          int
}

type commit struct {
	SHA, Link, Subject string
	Pull, Place        string // "" : not known
	At                 moment
}

type act struct {
	At                 moment
	By                 string // "": nobody knows
	Verb, Reason, Link string
	Subject, SHA       string
	Outcome            store.Outcome
}

func (s *site) unpaid(in plan.Repo, o store.DebtRow, now time.Time) unpaid {
	what := plain(string(o.Debt.Context))
	if n, ok := o.Debt.Context.Approves(); ok {
		what = fmt.Sprintf("approval of #%d", n)
	}
	return unpaid{
		In: plain(in.String()), SHA: o.Debt.SHA.Short(), Link: s.link(in, "commit", string(o.Debt.SHA)), Context: what,
		Reason: plain(o.Reason), Since: optional(o.Debt.Ends, now), Tries: o.Tries,
	}
}

func (s *site) act(in plan.Repo, a store.Act, now time.Time) act {
	shown := act{At: momentOf(a.At, now, time.UTC), By: plain(string(a.By)), Verb: a.Verb, Reason: plain(a.Reason), Outcome: a.Outcome, SHA: a.SHA.Short()}
	switch {
	case a.Pull != 0:
		shown.Subject, shown.Link = fmt.Sprintf("#%d", a.Pull), s.link(in, "pull", fmt.Sprint(a.Pull))
	case a.Branch != "":
		shown.Subject, shown.Link = plain(string(a.Branch)), s.link(in, "tree", string(a.Branch))
	}
	return shown
}

// PlaceOf is where the pages have something of a repository, from the page of all on: a pull request, else a windowed branch, else the repository.
func PlaceOf(in plan.Repo, pull int, branch plan.Branch) string {
	place := url.PathEscape(in.Owner) + "/" + url.PathEscape(in.Name)
	switch {
	case pull != 0:
		place += "/pull/" + strconv.Itoa(pull)
	case branch != "":
		parts := strings.Split(string(branch), "/")
		for i := range parts {
			parts[i] = url.PathEscape(parts[i])
		}
		place += "/branch/" + strings.Join(parts, "/")
	}
	return place
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

// momentOf is an instant in a zone.
func momentOf(t, now time.Time, zone *time.Location) moment {
	return moment{Machine: t.UTC().Format(time.RFC3339), Text: plan.Clock(t, zone), Distance: wordsOfDistance(t, now)}
}

// optionalIn is a moment that may be absent.
func optionalIn(t, now time.Time, zone *time.Location) *moment {
	if t.IsZero() {
		return nil
	}
	m := momentOf(t, now, zone)
	return &m
}

// optional is optionalIn where no window gives a zone.
func optional(t, now time.Time) *moment { return optionalIn(t, now, time.UTC) }
