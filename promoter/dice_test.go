package promoter_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/internal/scenario"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/promoter"
)

// dice draws a world.
type dice struct{ *scenario.Dice }

var fuzzed = scenario.Decider{
	Decide: promoter.Decide, Render: render, Seeds: 600, Size: 700,
	Draw: func(d *scenario.Dice) plan.Snapshot { return dice{d}.snapshot() },
}

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
	for _, more := range []string{"", "override: {by: [\"user:alice\", \"user:bob\"], expires: 4h}\n", "override: {by: [\"user:alice\", \"user:bob\"], expires: 20h, approvals: 2}\n", "mode: observe\n"} {
		p, findings := config.Parse([]byte(fuzzFile + more))
		if p == nil {
			panic(fmt.Sprint(findings))
		}
		out = append(out, p)
	}
	return out
})

// building is each of them with what makes builds count.
var building = sync.OnceValue(func() map[config.Mode]*config.Policy {
	out := map[config.Mode]*config.Policy{}
	for _, mode := range []config.Mode{config.Enforce, config.Observe} {
		p, findings := config.Parse([]byte(strings.ReplaceAll(fuzzFile, "{preset: rt-rw, window: week}", "{flux: true, unmatched: live}") + "mode: " + string(mode) + "\n"))
		if p == nil {
			panic(fmt.Sprint(findings))
		}
		out[mode] = p
	}
	return out
})

func (d dice) snapshot() plan.Snapshot {
	start := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	s := plan.Snapshot{
		Us: scenario.Us, App: scenario.App, Default: "main", Sources: map[plan.Branch]plan.Source{},
		At:   start.Add(time.Duration(d.Roll(256))*6*time.Hour + time.Duration(d.Roll(256))*time.Minute + time.Duration(d.Roll(60))*time.Second),
		Skew: scenario.OneOf(d, 0, 0, 0, 0, 29*time.Second, 31*time.Second),
	}
	policy := scenario.OneOf(d, fuzzPolicies()...)
	s.Bases = map[plan.Branch]plan.Base{"main": {Tip: "7190", File: "f11e", Policy: policy}}
	for _, name := range []plan.Branch{"main", "next"} {
		if !d.Rare(12) {
			s.Sources[name] = d.source(s, name)
		}
	}
	for _, e := range policy.Branches {
		if d.Rare(16) {
			continue
		}
		s.Branches = append(s.Branches, d.tracked(s, plan.Branch(e.Name), plan.Branch(e.From)))
		if d.Rare(40) {
			s.Branches = append(s.Branches, d.tracked(s, plan.Branch(e.Name), plan.Branch(e.From)))
		}
	}
	for _, t := range s.Branches {
		if d.Rare(3) {
			s.Stuck = append(s.Stuck, plan.Stuck{
				Branch: t.Name, Old: t.Tip, New: scenario.OneOf(d, t.Seen, "m0", "m1", "n0"), At: s.At.Add(-time.Duration(d.Roll(90)) * time.Minute),
				Count: d.Roll(12), Reason: scenario.OneOf(d, "because", "why not"),
			})
		}
	}
	for range d.Roll(12) {
		s.Repairs = append(s.Repairs, plan.Repair{
			SHA: scenario.OneOf[plan.SHA](d, "m0", "m0", "m1"), Context: scenario.OneOf(d, plan.PromoteContext, "sluice/promote/rw/a", "Sluice/promote/rw/a"), By: scenario.OneOf[plan.Login](d, "mallory", "eve"),
			At: s.At.Add(-time.Duration(d.Roll(70)) * time.Minute),
		})
	}
	for i := range d.Roll(8) {
		s.Commands = append(s.Commands, plan.Command{
			ID: int64(i + 1), Pull: 1 + d.Roll(3), By: scenario.OneOf[plan.Login](d, "alice", "alice", "bob", "Alice"), At: s.At.Add(-time.Duration(d.Roll(60)) * 10 * time.Minute).Truncate(time.Second),
			Permit: scenario.OneOf(d, plan.Permitted, plan.Permitted, plan.Permitted, plan.Permitted, plan.Forbidden, plan.PermitUnknown),
			Order: plan.Order{
				Verb: scenario.OneOf(d, plan.ToRelease, plan.ToRelease, plan.ToRelease, plan.ToRelease, plan.ToUndo), SHA: scenario.OneOf[plan.SHA](d, "m0", "m0", "m1", "n0"),
				Branch: scenario.OneOf[plan.Branch](d, "rw/a", "rw/a", "rw/b", "rw/e", ""), Reason: "the shop is down",
			},
		})
	}
	if d.Rare(3) {
		base := s.Bases["main"]
		base.Policy = building()[policy.Mode]
		s.Bases["main"] = base
		for name, src := range s.Sources {
			s.Sources[name] = d.built(src)
		}
	}
	return s
}

// built is a source of which something is known of what can be built.
func (d dice) built(src plan.Source) plan.Source {
	src.Builds = map[plan.SHA]plan.Builds{}
	for _, c := range src.Line {
		if d.Rare(4) {
			continue
		}
		b := plan.Builds{Of: map[plan.Branch]plan.Build{}}
		for _, name := range []plan.Branch{"rw/a", "rw/c", "rw/e"} {
			if d.Rare(3) {
				b.Of[name] = plan.Build{Broken: scenario.OneOf(d, "", "it breaks"), Tracks: []string{"one/flux-system/apps"}}
			}
		}
		if d.Rare(6) {
			b.Unread.Reason = "it is being read"
		}
		src.Builds[c.SHA] = b
	}
	return src
}

func (d dice) source(s plan.Snapshot, name plan.Branch) plan.Source {
	if d.Rare(16) {
		return plan.Source{Rules: true}
	}
	d.Roll(2) // drawn for nothing: worlds that a fuzzer found stay the same
	src := plan.Source{NoChecks: d.Rare(12), Rules: !d.Rare(12)}
	for i := range 1 + d.Roll(6) {
		src.Line = append(src.Line, d.commit(s, plan.SHA(fmt.Sprintf("%c%d", name[0], i))))
	}
	src.Tip = src.Line[0].SHA
	if d.Rare(20) {
		src.Tip = "torn"
	}
	for range d.Roll(3) {
		src.Checks = append(src.Checks, plan.RequiredCheck{Context: scenario.OneOf[plan.Context](d, "ci/build", "lint", "sluice/main", "slow/e2e"), App: scenario.OneOf[int64](d, 0, 0, 7)})
	}
	src.Ours = d.statuses(s, plan.PromoteContext)
	return src
}

func (d dice) commit(s plan.Snapshot, sha plan.SHA) plan.Commit {
	c := plan.Commit{SHA: sha, Subject: "change", At: s.At.Add(time.Duration(2-d.Roll(50)) * time.Hour), Read: !d.Rare(8), ChecksAll: !d.Rare(10)}
	if !c.Read {
		return c
	}
	c.Checks = d.checks()
	if d.Rare(3) {
		c.Head = &plan.Head{Pull: 1, SHA: "e", Checks: d.checks(), ChecksAll: !d.Rare(8)}
	}
	if d.Rare(3) {
		for _, name := range []plan.Context{"rw/a", "RW/a", "rw/b", "rw/c", "rw/e", "rw/gone"} {
			c.Ours = append(c.Ours, d.statuses(s, plan.PromoteContext+"/"+name)...)
		}
	}
	return c
}

func (d dice) checks() []plan.Check {
	var out []plan.Check
	for range d.Roll(4) {
		out = append(out, plan.Check{
			Context: scenario.OneOf[plan.Context](d, "ci/build", "ci/build", "CI/build", "lint", "slow/e2e", "kustomization/x", "sluice/main"), App: scenario.OneOf[int64](d, 7, 7, 0, 9),
			State: scenario.OneOf(d, plan.CheckGreen, plan.CheckGreen, plan.CheckGreen, plan.CheckPending, plan.CheckRed),
		})
	}
	return out
}

func (d dice) statuses(s plan.Snapshot, context plan.Context) []plan.Status {
	var out []plan.Status
	for range d.Roll(3) {
		out = append(out, plan.Status{
			Context: context, State: scenario.OneOf(d, plan.Success, plan.Success, plan.Pending, plan.Failure), By: scenario.OneOf[plan.Login](d, scenario.Us, scenario.Us, "mallory"),
			Description: scenario.OneOf(d, "old", "older"), At: s.At.Add(-time.Duration(d.Roll(3)) * time.Minute),
		})
	}
	return out
}

// tracked is a branch somewhere on its source's line, or not, and now and then one about which the observation contradicts itself.
func (d dice) tracked(s plan.Snapshot, name, from plan.Branch) plan.WindowedBranch {
	t := plan.WindowedBranch{Name: name, Demands: d.Rare(3), Unguarded: d.Rare(5)}
	line := s.Sources[from].Line
	if len(line) > 0 && !d.Rare(4) {
		t.Tip = line[d.Roll(len(line))].SHA
	} else {
		t.Tip = scenario.OneOf[plan.SHA](d, "", "", "side", "old")
	}
	at := place(&s, from, t.Tip)
	t.Relation, t.Reach = at.relation, at.reach
	if t.Relation == plan.Diverged {
		t.Relation, t.Reach = scenario.OneOf(d, plan.Diverged, plan.Behind, plan.Beyond, plan.RelationUnknown), d.Roll(len(line)+1)
	}
	if d.Rare(12) {
		t.Relation, t.Reach = scenario.OneOf(d, plan.Absent, plan.Behind, plan.Level, plan.Beyond, plan.Diverged, plan.Relation(17)), d.Roll(9)-1
	}
	if d.Rare(20) {
		t.Unread = plan.Unread{Reason: "cannot read the tip of the branch: not found on GitHub"}
	}
	if d.Rare(2) {
		t.Seen = scenario.OneOf[plan.SHA](d, "m1", "side", "n1")
	}
	if d.Rare(20) {
		t.CaseConflict = "RW/twin"
	}
	for range d.Roll(4) {
		t.Reports = append(t.Reports, plan.Report{
			SHA: scenario.OneOf(d, t.Tip, t.Tip, "m1"), Object: scenario.OneOf(d, "apps", "infra"), Branch: scenario.OneOf(d, "", name, "rw/z"), Says: scenario.OneOf(d, "", "x"),
			State: scenario.OneOf(d, plan.CheckGreen, plan.CheckGreen, plan.CheckPending, plan.CheckRed), At: s.At.Add(-time.Duration(d.Roll(3)) * time.Minute),
		})
	}
	if d.Rare(3) {
		t.Moved = &plan.MoveRecord{Branch: name, New: scenario.OneOf(d, t.Tip, "m1"), At: s.At.Add(-time.Hour), Due: s.At.Add(-time.Duration(d.Roll(3)) * time.Hour)}
	}
	return t
}

// builds is an independent reading of whether what tracks a branch can be built at a commit, where that counts.
func builds(p *config.Policy, src plan.Source, c plan.Commit, of plan.Branch) bool {
	b, known := src.Builds[c.SHA]
	return !p.Flux || src.NoChecks || known && b.Unread.Reason == "" && b.Of[of].Broken == ""
}

// passes is an independent reading of whether a branch that asks for some checks may go to a commit.
func passes(checks config.Checks, src plan.Source, c plan.Commit) bool {
	if checks == config.ChecksNone {
		return true
	}
	never := []plan.Context{"sluice/main", "slow/e2e", "kustomization/x"}
	if !src.Rules || src.NoChecks {
		return false
	}
	if checks == config.ChecksRequired && !slices.ContainsFunc(src.Checks, func(r plan.RequiredCheck) bool { return !slices.Contains(never, r.Context) }) {
		return true
	}
	if !c.Read || !c.ChecksAll {
		return false
	}
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
				ask = append(ask, plan.RequiredCheck{Context: context})
			}
		}
	}
	ask = slices.DeleteFunc(ask, func(r plan.RequiredCheck) bool { return slices.Contains(never, r.Context) })
	if len(ask) == 0 {
		return false // all, and none reported
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
