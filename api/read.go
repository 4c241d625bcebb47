package api

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/report"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/window"
)

// repository is what was decided at the last look.
func (s *server) repository(_ *http.Request, p store.Page) (any, error) {
	v := report.Standing{
		Repository: p.Repo.String(), Plan: report.PlanOf(plan.Plan{At: p.Looked, Wake: p.Wake, Verdicts: p.Verdicts, Branches: p.Branches}, plan.Snapshot{}),
		Next: report.Instant{Time: p.Due}, More: p.More + p.MoreBranches, Warnings: append([]string{}, p.Warnings...),
	}
	return v, nil
}

// pull is one pull request, with how its verdict came about, and what its windows say at an instant that is asked about.
func (s *server) pull(r *http.Request, p store.Page) (any, error) {
	number, err := strconv.Atoi(r.PathValue("number"))
	if err != nil {
		return nil, errNone
	}
	i := slices.IndexFunc(p.Verdicts, func(v plan.Verdict) bool { return v.Subject.Pull == number && number > 0 })
	if i < 0 {
		return nil, errNone
	}
	one := report.PlanOf(plan.Plan{Verdicts: p.Verdicts[i : i+1]}, plan.Snapshot{})
	v := report.Explained{Pull: one.Pulls[0], At: report.Instant{Time: p.Looked}, Title: p.Verdicts[i].Title, Whole: p.Verdicts[i].Text(), Steps: []report.Step{}}
	for _, step := range p.Verdicts[i].Why {
		v.Steps = append(v.Steps, report.Step{About: step.About, Says: step.Says})
	}
	if !r.URL.Query().Has("at") {
		return v, nil
	}
	at, err := s.instant(r)
	if err != nil {
		return nil, err
	}
	c, err := s.calendar(p.Repo)
	if err != nil {
		return nil, err
	}
	v.Then = report.ThenOf(c, p.Verdicts[i].Releases, at)
	return v, nil
}

// instant is what ?at= names; now, if there is none.
func (s *server) instant(r *http.Request) (time.Time, error) {
	text := r.URL.Query().Get("at")
	if text == "" {
		return s.Now().UTC(), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, wrong("at %q: want RFC 3339 with an offset, such as 2026-11-23T08:00:00Z", text)
	}
	return at, nil
}

// calendar is that of a repository's default branch.
func (s *server) calendar(repo plan.Repo) (*window.Calendar, error) {
	if s.Calendar != nil {
		if c := s.Calendar(repo); c != nil {
			return c, nil
		}
	}
	return nil, problem{code: http.StatusConflict, says: "the file of the default branch is missing or invalid, or was not read since the service began"}
}

// branches is the windowed branches.
func branches(_ *http.Request, p store.Page) (any, error) {
	return report.Branches{Branches: report.BranchesOf(p.Branches)}, nil
}

// daysMost is for how many days a calendar is asked, daysUsual where nobody says.
const (
	daysMost  = 400
	daysUsual = 14
)

// windows is when the windows are open.
func (s *server) windows(r *http.Request, p store.Page) (any, error) {
	at, err := s.instant(r)
	if err != nil {
		return nil, err
	}
	days := daysUsual
	if text := r.URL.Query().Get("days"); text != "" {
		if days, err = strconv.Atoi(text); err != nil || days < 1 || days > daysMost {
			return nil, wrong("days %q: want 1 to %d", text, daysMost)
		}
	}
	c, err := s.calendar(p.Repo)
	if err != nil {
		return nil, err
	}
	run := meter.New(r.Context(), meter.Limits{meter.Nodes: windowNodes})
	defer run.Close()
	v, err := report.WindowsOf(run, c, c.Names(), at, days)
	if err != nil {
		return nil, wrong("too many openings for one answer: ask for fewer days")
	}
	return v, nil
}

// windowNodes bounds an answer about windows: some 100,000 openings.
const windowNodes = 500_000

// historyMost is how many acts one answer has.
const historyMost = 100

// history is who did what, the newest first.
func (s *server) history(r *http.Request, p store.Page) (any, error) {
	q := r.URL.Query()
	asked := store.Asked{Owner: p.Repo.Owner, Name: p.Repo.Name, Sight: store.Only(p.Repo.ID), Branch: plan.Branch(q.Get("branch")), Statuses: q.Get("statuses") == "true", Newest: true, Most: historyMost + 1}
	var err error
	if text := q.Get("pull"); text != "" {
		if asked.Pull, err = strconv.Atoi(text); err != nil || asked.Pull < 1 {
			return nil, wrong("pull %q: want the number of a pull request", text)
		}
	}
	if text := q.Get("since"); text != "" {
		if asked.Since, err = time.Parse(time.RFC3339, text); err != nil {
			return nil, wrong("since %q: want RFC 3339 with an offset, such as 2026-11-23T08:00:00Z", text)
		}
	}
	if text := q.Get("after"); text != "" {
		if asked.After, err = store.ParsePlace(text); err != nil {
			return nil, wrong("after %q: want the next of the page before", text)
		}
	}
	found, err := s.Source.History(r.Context(), asked)
	if err != nil {
		return nil, err
	}
	v := report.HistoryPage{History: report.History{Acts: []report.Act{}}}
	if len(found) > historyMost {
		found = found[:historyMost]
		next := found[historyMost-1].Place().String()
		v.Next = &next
	}
	for _, a := range found {
		v.Acts = append(v.Acts, ActOf(a))
	}
	return v, nil
}

// ActOf is an act as commands and the API show it.
func ActOf(a store.Act) report.Act {
	out := report.Act{At: report.Instant{Time: a.At}, Repository: a.Repo.String(), Act: a.Verb, Outcome: string(a.Outcome), Reason: a.Reason}
	for _, to := range []struct {
		at   **string
		text string
	}{{&out.By, string(a.By)}, {&out.Branch, string(a.Branch)}, {&out.SHA, string(a.SHA)}} {
		if to.text != "" {
			*to.at = &to.text
		}
	}
	if a.Pull != 0 {
		out.PullRequest = &a.Pull
	}
	return out
}
