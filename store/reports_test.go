package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

func TestReports(t *testing.T) {
	const pending, green, red = plan.CheckPending, plan.CheckGreen, plan.CheckRed
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	type arrival struct {
		r    plan.Report
		news bool
	}
	says := func(text string, r plan.Report) plan.Report {
		r.Says = text
		return r
	}
	for _, c := range []struct {
		name string
		all  []arrival
		want []plan.Report
	}{
		{"from progress to the end", []arrival{{report("rw/a", "1", pending, at(0)), true}, {report("rw/a", "1", green, at(1)), true}},
			[]plan.Report{report("rw/a", "1", green, at(1))}},
		{"the same again", []arrival{{report("rw/a", "1", green, at(0)), true}, {report("rw/a", "1", green, at(10)), false}, {says("next run in 9m", report("rw/a", "1", green, at(20))), false}},
			[]plan.Report{report("rw/a", "1", green, at(0))}},
		{"a new commit", []arrival{{report("rw/a", "1", green, at(0)), true}, {report("rw/a", "2", green, at(10)), true}},
			[]plan.Report{report("rw/a", "2", green, at(10))}},
		{"an old one late, or replayed", []arrival{{report("rw/a", "2", green, at(10)), true}, {report("rw/a", "1", green, at(9)), false}, {report("rw/a", "2", red, at(9)), false}},
			[]plan.Report{report("rw/a", "2", green, at(10))}},
		{"a replay of the same second", []arrival{{report("rw/a", "1", red, at(0)), true}, {report("rw/a", "1", green, at(0)), false}},
			[]plan.Report{report("rw/a", "1", red, at(0))}},
		{"the end within the second of progress", []arrival{{report("rw/a", "1", pending, at(0)), true}, {report("rw/a", "1", green, at(0)), true}, {report("rw/a", "1", pending, at(0)), false}},
			[]plan.Report{report("rw/a", "1", green, at(0))}},
		{"a failure with another text", []arrival{{report("rw/a", "1", red, at(0)), true}, {says("other", report("rw/a", "1", red, at(9))), false}, {says("other", report("rw/a", "1", red, at(10))), true}},
			[]plan.Report{says("other", report("rw/a", "1", red, at(10)))}},
		{"back from a failure", []arrival{{report("rw/a", "1", red, at(0)), true}, {report("rw/a", "1", green, at(1)), true}},
			[]plan.Report{report("rw/a", "1", green, at(1))}},
		{"two branches", []arrival{{report("rw/a", "1", green, at(0)), true}, {report("rw/b", "1", red, at(0)), true}},
			[]plan.Report{report("rw/a", "1", green, at(0)), report("rw/b", "1", red, at(0))}},
		{"a branch that is not windowed", []arrival{{report("main", "1", green, at(0)), false}, {report("RW/a", "1", green, at(0)), false}, {report("", "1", green, at(0)), false}}, nil},
		{"from a clock that is ahead", []arrival{{report("rw/a", "1", red, at(9999)), true}, {report("rw/a", "1", green, at(61)), true}},
			[]plan.Report{report("rw/a", "1", green, at(61))}},
		{"from long ago", []arrival{{report("rw/a", "1", green, noon.Add(-31*24*time.Hour)), false}}, nil},
		{"a long text", []arrival{{says(strings.Repeat("ä", 999), report("rw/a", "1", red, at(0))), true}},
			[]plan.Report{says(strings.Repeat("ä", store.ReportBytes/2), report("rw/a", "1", red, at(0)))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fresh(t)
			see(t, s, values{"rw/a": "1", "rw/b": "1"}, noon)
			ok(t, s.Looked(t.Context(), acme, store.Look{At: noon, Due: noon.Add(240 * time.Hour)}))
			news := 0
			for i, x := range c.all {
				now := noon.Add(time.Hour).Add(time.Duration(i) * time.Minute)
				same(t, fmt.Sprint("news ", i), hear(t, s, x.r, now), x.news)
				if x.news {
					news++
				}
			}
			same(t, "kept", recall(t, s.Reader, acme, noon.Add(2*time.Hour)).Reports, c.want)
			due := repos(t, s.Reader)[0]
			same(t, "noted", due.Notes, int64(news))
			same(t, "due", due.At.Equal(noon.Add(time.Hour)), news > 0)
		})
	}
}

func TestReportsOfUnknownRepositories(t *testing.T) {
	s := fresh(t)
	see(t, s, values{"rw/a": "1"}, noon)
	for _, name := range []string{"fleets", ""} {
		_, _, err := s.NoteReport(t.Context(), plan.Repo{Owner: "acme", Name: name}, report("rw/a", "1", plan.CheckGreen, noon), noon)
		if !errors.Is(err, store.ErrUnknown) {
			t.Errorf("%q: %v", name, err)
		}
	}
	ok(t, s.Forget(t.Context(), acme))
	_, _, err := s.NoteReport(t.Context(), acme, report("rw/a", "1", plan.CheckGreen, noon), noon)
	if !errors.Is(err, store.ErrUnknown) {
		t.Errorf("forgotten: %v", err)
	}
	same(t, "in sight", len(repos(t, s.Reader)), 0)
}

// A report that is repeated stays; one that is not goes, and what came before it cannot come back.
func TestReportsAge(t *testing.T) {
	s := fresh(t)
	see(t, s, values{"rw/a": "1"}, noon)
	repeated := report("rw/a", "1", plan.CheckGreen, noon)
	silent := repeated
	silent.Object = "eu/flux-system/apps-rw"
	hear(t, s, repeated, noon)
	hear(t, s, silent, noon)
	for d := time.Duration(0); d < 40; d += 4 {
		now := noon.Add(d * 24 * time.Hour)
		again := repeated
		again.At = now
		same(t, "news", hear(t, s, again, now), false)
		ok(t, s.Looked(t.Context(), acme, store.Look{At: now}))
	}
	now := noon.Add(40 * 24 * time.Hour)
	same(t, "kept", recall(t, s.Reader, acme, now).Reports, []plan.Report{repeated})
	same(t, "a replay of what went", hear(t, s, silent, now), false)
}

// What was acknowledged is there after the next start.
func TestRestartKeepsBranchesAndReports(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sluice.db")
	s := open(t, path)
	see(t, s, values{"rw/a": "1"}, noon)
	hear(t, s, report("rw/a", "1", plan.CheckGreen, noon), noon)
	moved := plan.MoveRecord{Branch: "rw/a", Old: "1", New: "2", At: noon, Due: noon}
	ok(t, s.Record(t.Context(), store.Act{Repo: acme, At: noon, Moved: &moved, Stuck: &plan.Stuck{Branch: "rw/b", At: noon}}))
	before := recall(t, s.Reader, acme, noon)
	ok(t, s.Close())
	s = open(t, path)
	same(t, "memory", recall(t, s.Reader, acme, noon), before)
	same(t, "parts", []int{len(before.Branches), len(before.Moves), len(before.Stuck), len(before.Reports)}, []int{1, 1, 1, 1})
}

func TestPagesOfBranches(t *testing.T) {
	s := fresh(t)
	know(t, s, acme)
	wake := noon.Add(20 * time.Hour)
	v := plan.BranchVerdict{Name: "rw/a", From: "main", Old: "1", New: "2", Kind: plan.Held, Reason: "held", Until: wake, Waiting: 3,
		Commits: make([]plan.Commit, store.PageCommits+2), Oldest: noon, Why: make([]plan.Step, store.WhySteps+5)}
	v.Commits[0] = plan.Commit{SHA: "2", At: noon, Subject: "a \"subject\"\n"}
	p := plan.Plan{At: noon, Branches: []plan.BranchVerdict{v}}
	ok(t, s.Looked(t.Context(), acme, store.Look{At: noon, Plan: p}))
	page := pages(t, s)[0]
	v.Commits, v.Why = v.Commits[:store.PageCommits], v.Why[:store.WhySteps]
	same(t, "branches", page.Branches, []plan.BranchVerdict{v})
	p.Branches = make([]plan.BranchVerdict, store.PageBranches+3)
	ok(t, s.Looked(t.Context(), acme, store.Look{At: noon, Plan: p}))
	page = pages(t, s)[0]
	same(t, "kept and told of", []int{len(page.Branches), page.MoreBranches}, []int{store.PageBranches, 3})
}
