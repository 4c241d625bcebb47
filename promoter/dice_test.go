package promoter_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// dice draws a world from the bytes that the fuzzer mutates: each byte is one choice.
type dice struct{ bytes []byte }

func (d *dice) roll(n int) int {
	if len(d.bytes) == 0 {
		return 0
	}
	b := int(d.bytes[0])
	d.bytes = d.bytes[1:]
	return b % n
}

// rare is true once in n.
func (d *dice) rare(n int) bool { return d.roll(n) == n-1 }

func oneOf[T any](d *dice, choices ...T) T { return choices[d.roll(len(choices))] }

const fuzzFile = `version: 1
timezone: Europe/Berlin
windows:
  week: {open: "0 8 * * MON", close: "0 17 * * THU", cutoff: 10m}
  night: {open: "30 2 * * *", duration: 90m, cutoff: 1m}
  migration: {dates: [{from: 2026-12-05T22:00, until: 2026-12-06T02:00}], cutoff: 0s}
freezes:
  - {name: year-end, from: 2026-12-19T00:00, until: 2027-01-04T08:00, windows: [week, live]}
layout: {preset: rt-rw, window: week}
pull_requests: {checks_ignore: ["slow/*"]}
branches:
  - {name: rw/a, from: main, window: week}
  - {name: rw/b, from: main, window: night, checks: all}
  - {name: rw/c, from: main, window: live, checks: none}
  - {name: rw/d, from: main, window: migration}
  - {name: rw/e, from: next, window: night}
  - {name: rw/f, from: next, window: live, checks: all}
`

// fuzzPolicies is one file in both modes, enforce more often than not.
var fuzzPolicies = sync.OnceValue(func() []*config.Policy {
	var out []*config.Policy
	for _, more := range []string{"", "", "", "mode: observe\n"} {
		p, findings := config.Parse([]byte(fuzzFile + more))
		if p == nil {
			panic(fmt.Sprint(findings))
		}
		out = append(out, p)
	}
	return out
})

func (d *dice) snapshot() plan.Snapshot {
	start := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	s := plan.Snapshot{
		Us: us, App: app, Default: "main", Sources: map[plan.Branch]plan.Source{},
		At:   start.Add(time.Duration(d.roll(256))*6*time.Hour + time.Duration(d.roll(256))*time.Minute + time.Duration(d.roll(60))*time.Second),
		Skew: oneOf(d, 0, 0, 0, 0, 29*time.Second, 31*time.Second),
	}
	policy := oneOf(d, fuzzPolicies()...)
	s.Bases = map[plan.Branch]plan.Base{"main": {Tip: "7190", File: "f11e", Policy: policy}}
	for _, name := range []plan.Branch{"main", "next"} {
		if !d.rare(12) {
			s.Sources[name] = d.source(s, name)
		}
	}
	for _, e := range policy.Branches {
		if d.rare(16) {
			continue
		}
		s.Branches = append(s.Branches, d.tracked(s, plan.Branch(e.Name), plan.Branch(e.From)))
		if d.rare(40) {
			s.Branches = append(s.Branches, d.tracked(s, plan.Branch(e.Name), plan.Branch(e.From)))
		}
	}
	for _, t := range s.Branches {
		if d.rare(3) {
			s.Stuck = append(s.Stuck, plan.Stuck{
				Branch: t.Name, Old: t.Tip, New: oneOf(d, t.Seen, "m0", "m1", "n0"), At: s.At.Add(-time.Duration(d.roll(90)) * time.Minute),
				Count: d.roll(12), Reason: oneOf(d, "because", "why not"),
			})
		}
	}
	for range d.roll(12) {
		s.Repairs = append(s.Repairs, plan.Repair{
			SHA: oneOf[plan.SHA](d, "m0", "m0", "m1"), Context: oneOf(d, plan.PromoteContext, "sluice/promote/rw/a", "Sluice/promote/rw/a"), By: oneOf[plan.Login](d, "mallory", "eve"),
			At: s.At.Add(-time.Duration(d.roll(70)) * time.Minute),
		})
	}
	return s
}

func (d *dice) source(s plan.Snapshot, name plan.Branch) plan.Source {
	if d.rare(16) {
		return plan.Source{Rules: true}
	}
	src := plan.Source{Whole: d.rare(2), Blind: d.rare(12), Rules: !d.rare(12)}
	for i := range 1 + d.roll(6) {
		src.Line = append(src.Line, d.commit(s, plan.SHA(fmt.Sprintf("%c%d", name[0], i))))
	}
	src.Tip = src.Line[0].SHA
	if d.rare(20) {
		src.Tip = "torn"
	}
	for range d.roll(3) {
		src.Checks = append(src.Checks, plan.Required{Context: oneOf[plan.Context](d, "ci/build", "lint", "sluice/main", "slow/e2e"), App: oneOf[int64](d, 0, 0, 7)})
	}
	src.Ours = d.statuses(s, plan.PromoteContext)
	return src
}

func (d *dice) commit(s plan.Snapshot, sha plan.SHA) plan.Commit {
	c := plan.Commit{SHA: sha, Subject: "change", At: s.At.Add(time.Duration(2-d.roll(50)) * time.Hour), Read: !d.rare(8), ChecksAll: !d.rare(10)}
	if !c.Read {
		return c
	}
	c.Checks = d.checks()
	if d.rare(3) {
		c.Head = &plan.Head{Pull: 1, SHA: "e", Checks: d.checks(), ChecksAll: !d.rare(8)}
	}
	if d.rare(3) {
		for _, name := range []plan.Context{"rw/a", "RW/a", "rw/b", "rw/c", "rw/e", "rw/gone"} {
			c.Ours = append(c.Ours, d.statuses(s, plan.PromoteContext+"/"+name)...)
		}
	}
	return c
}

func (d *dice) checks() []plan.Check {
	var out []plan.Check
	for range d.roll(4) {
		out = append(out, plan.Check{
			Context: oneOf[plan.Context](d, "ci/build", "ci/build", "CI/build", "lint", "slow/e2e", "kustomization/x", "sluice/main"), App: oneOf[int64](d, 7, 7, 0, 9),
			State: oneOf(d, plan.CheckGreen, plan.CheckGreen, plan.CheckGreen, plan.CheckPending, plan.CheckRed),
		})
	}
	return out
}

func (d *dice) statuses(s plan.Snapshot, context plan.Context) []plan.Status {
	var out []plan.Status
	for range d.roll(3) {
		out = append(out, plan.Status{
			Context: context, State: oneOf(d, plan.Success, plan.Success, plan.Pending, plan.Failure), By: oneOf[plan.Login](d, us, us, "mallory"),
			Description: oneOf(d, "old", "older"), At: s.At.Add(-time.Duration(d.roll(3)) * time.Minute),
		})
	}
	return out
}

// tracked is a branch somewhere on its source's line, or not, and now and then one about which the observation contradicts itself.
func (d *dice) tracked(s plan.Snapshot, name, from plan.Branch) plan.Tracked {
	t := plan.Tracked{Name: name, Demands: d.rare(3)}
	line := s.Sources[from].Line
	if len(line) > 0 && !d.rare(4) {
		t.Tip = line[d.roll(len(line))].SHA
	} else {
		t.Tip = oneOf[plan.SHA](d, "", "", "side", "old")
	}
	at := place(&s, from, t.Tip)
	t.Relation, t.Reach = at.relation, at.reach
	if t.Relation == plan.Diverged {
		t.Relation, t.Reach = oneOf(d, plan.Diverged, plan.Behind, plan.Beyond, plan.RelationUnknown), d.roll(len(line)+1)
	}
	if d.rare(12) {
		t.Relation, t.Reach = oneOf(d, plan.Absent, plan.Behind, plan.Level, plan.Beyond, plan.Diverged, plan.Relation(17)), d.roll(9)-1
	}
	if d.rare(20) {
		t.Unread = plan.Unread{Reason: "cannot read the tip of the branch: not found on GitHub"}
	}
	if d.rare(2) {
		t.Seen = oneOf[plan.SHA](d, "m1", "side", "n1")
	}
	if d.rare(20) {
		t.Twin = "RW/twin"
	}
	for range d.roll(4) {
		t.Reports = append(t.Reports, plan.Report{
			SHA: oneOf(d, t.Tip, t.Tip, "m1"), Object: oneOf(d, "apps", "infra"), Branch: oneOf(d, "", name, "rw/z"), Says: oneOf(d, "", "x"),
			State: oneOf(d, plan.CheckGreen, plan.CheckGreen, plan.CheckPending, plan.CheckRed), At: s.At.Add(-time.Duration(d.roll(3)) * time.Minute),
		})
	}
	if d.rare(3) {
		t.Moved = &plan.Moved{Branch: name, New: oneOf(d, t.Tip, "m1"), At: s.At.Add(-time.Hour), Due: s.At.Add(-time.Duration(d.roll(3)) * time.Hour)}
	}
	return t
}

// seeds gives the fuzzer worlds to begin with, and the plain test run some to look at.
func seeds(f *testing.F) {
	state := uint64(1)
	for range 600 {
		b := make([]byte, 700)
		for i := range b {
			state = state*6364136223846793005 + 1442695040888963407
			b[i] = byte(state >> 56)
		}
		f.Add(b)
	}
}

// passes is an independent reading of whether a branch that asks for some checks may go to a commit.
func passes(checks config.Checks, src plan.Source, c plan.Commit) bool {
	if checks == config.ChecksNone {
		return true
	}
	if !src.Rules || src.Blind || !c.Read || !c.ChecksAll {
		return false
	}
	never := []plan.Context{"sluice/main", "slow/e2e", "kustomization/x"}
	own, head := map[plan.Context][]plan.Check{}, map[plan.Context][]plan.Check{}
	sort := func(into map[plan.Context][]plan.Check, all []plan.Check) {
		for _, v := range all {
			if v.Context == "CI/build" {
				v.Context = "ci/build"
			}
			if !slices.Contains(never, v.Context) {
				into[v.Context] = append(into[v.Context], v)
			}
		}
	}
	sort(own, c.Checks)
	if c.Head != nil {
		if !c.Head.ChecksAll {
			return false
		}
		sort(head, c.Head.Checks)
	}
	green := func(all []plan.Check) bool {
		return !slices.ContainsFunc(all, func(v plan.Check) bool { return v.State != plan.CheckGreen })
	}
	anyRed := func(all []plan.Check) bool {
		return slices.ContainsFunc(all, func(v plan.Check) bool { return v.State == plan.CheckRed })
	}
	ask := slices.Clone(src.Checks)
	if checks == config.ChecksAll {
		for _, of := range []map[plan.Context][]plan.Check{own, head} {
			for context := range of {
				ask = append(ask, plan.Required{Context: context})
			}
		}
	}
	ask = slices.DeleteFunc(ask, func(r plan.Required) bool { return slices.Contains(never, r.Context) })
	if len(ask) == 0 {
		return checks == config.ChecksRequired
	}
	for _, r := range ask {
		by := func(all []plan.Check) []plan.Check {
			return slices.DeleteFunc(slices.Clone(all), func(v plan.Check) bool { return r.App != 0 && v.App != r.App })
		}
		here, there := by(own[r.Context]), by(head[r.Context])
		counts := here
		if len(here) == 0 {
			counts = there
		}
		if len(counts) == 0 || !green(counts) || anyRed(there) {
			return false
		}
	}
	return true
}
