package gate_test

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/internal/scenario"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// dice draws a world. A calm one is a world in which what is due is merged.
type dice struct{ *scenario.Dice }

var fuzzed = scenario.Decider{
	Decide: gate.Decide, Render: render, Seeds: 400, Size: 300,
	Draw: func(d *scenario.Dice) plan.Snapshot { return dice{d}.snapshot() },
}

const fuzzWindows = `version: 1
timezone: Europe/Berlin
windows:
  week: {open: "0 8 * * MON", close: "0 17 * * THU", cutoff: 10m}
  night: {open: "30 2 * * *", duration: 90m, cutoff: 1m}
  migration: {dates: [{from: 2026-12-05T22:00, until: 2026-12-06T02:00}], cutoff: 0s}
freezes:
  - {name: year-end, from: 2026-12-19T00:00, until: 2027-01-04T08:00, windows: [week, live]}
layout:
  preset: rt-rw
  window: week
  rules:
    - {paths: ["night/**"], release: night}
    - {paths: ["both/**"], release: [week, night]}
    - {paths: ["migration/**"], release: migration}
    - {paths: ["c/{cluster}/**"], release: "{cluster}"}
    - {paths: ["rw/**"], release: {branches: ["rw/*"]}}
    - {paths: ["some/**"], release: {branches: ["rw/night", "*/migration"]}}
    - {paths: ["any/**"], release: {branches: ["*/*"]}}
branches:
  - {name: rw/week, from: main, window: week}
  - {name: rw/night, from: main, window: night}
  - {name: rw/live, from: main, window: live}
  - {name: rel/migration, from: release, window: migration}
  - {name: rel/week, from: release, window: week}
`

// fuzzBranches is what fuzzWindows says of the windowed branches on a base, written out: the windows of those that each of its
// patterns matches and that follow the base.
var fuzzBranches = map[plan.Branch]map[layout.Release][]window.Name{
	"main":    {"branch:rw/*": {"week", "night", "live"}, "branch:rw/night": {"night"}, "branch:*/migration": nil, "branch:*/*": {"week", "night", "live"}},
	"release": {"branch:rw/*": nil, "branch:rw/night": nil, "branch:*/migration": {"migration"}, "branch:*/*": {"migration", "week"}},
}

// fuzzPolicies are files that differ in what they ask of a pull request.
var fuzzPolicies = sync.OnceValue(func() []*config.Policy {
	var out []*config.Policy
	for _, more := range []string{
		"", "pull_requests: {mixed: reject, method: squash, order: ready, settle: 0s}\n",
		"pull_requests: {live: status, window: status}\n", "pull_requests: {checks: required, approvals: 1, max_merges_per_opening: 2}\n",
		"pull_requests: {require_labels: [go], update: never, delete_branch: true}\n", "mode: observe\n",
		"override: {by: [\"user:alice\", \"user:bob\"], expires: 3h}\n",
		"override: {by: [\"user:alice\", \"user:bob\"], expires: 20h, approvals: 2}\npull_requests: {live: status, window: status}\n",
		"pull_requests: {live: approve, window: approve, approvals: 0}\n", "pull_requests: {live: merge, window: approve, approvals: 1}\n",
	} {
		p, findings := config.Parse([]byte(fuzzWindows + more))
		if p == nil {
			panic(fmt.Sprint(findings))
		}
		out = append(out, p)
	}
	return out
})

var fuzzPaths = []string{
	"rw/f", "rw/g", "any/f", "some/f", "a/x-rt/f", "a/y-rt/f", "a/x-rw/f", "night/f", "both/f", "migration/f", "c/week/f", "c/nowhere/f", "README.md",
	".github/sluice.yaml", ".github/workflows/w.yml", "a/z-rt/f", "a/q-rt/f",
}

func (d dice) snapshot() plan.Snapshot {
	d.Calm = d.Roll(2) == 1
	start := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	s := plan.Snapshot{
		Us: scenario.Us, App: scenario.App, Default: "main", Bases: map[plan.Branch]plan.Base{},
		At:     start.Add(time.Duration(d.Roll(256))*6*time.Hour + time.Duration(d.Roll(256))*time.Minute + time.Duration(d.Roll(60))*time.Second),
		Skew:   scenario.OneOf(d, 0, 0, 0, 0, 29*time.Second, 31*time.Second),
		Budget: scenario.OneOf(d, 0, 0, 60),
	}
	for _, name := range []plan.Branch{"main", "release"} {
		s.Bases[name] = d.base(name)
		if d.Rare(40) {
			s.Bases[name] = plan.Base{Unread: plan.Unread{Reason: "cannot read its base: not found on GitHub"}}
		}
	}
	for i := range d.Roll(8) {
		s.Pulls = append(s.Pulls, d.pull(s, i+1))
	}
	for range d.Roll(3) {
		if d.Calm {
			break
		}
		s.Refusals = append(s.Refusals, plan.Refusal{
			Pull: 1 + d.Roll(4), Head: scenario.SHA(fmt.Sprintf("a%d", d.Roll(6))), Tip: scenario.OneOf(d, tip, older), At: s.At.Add(-time.Duration(d.Roll(120)) * time.Minute),
			Count: 1 + d.Roll(25), Reason: "because",
		})
		s.Repairs = append(s.Repairs, plan.Repair{SHA: scenario.SHA(fmt.Sprintf("a%d", d.Roll(3))), Context: "sluice/main", By: "mallory", At: s.At.Add(-time.Duration(d.Roll(70)) * time.Minute)})
		s.Merges = append(s.Merges, plan.MergeRecord{Base: "main", At: s.At.Add(-time.Duration(d.Roll(100)) * time.Hour), Releases: []layout.Release{"week"}})
	}
	s.Commands = d.commands(s)
	if len(s.Pulls) > 0 && d.Rare(12) { // opened from its base's tip, which we said something about
		p := &s.Pulls[0]
		p.Head = tip
		if base := s.Bases[p.Base]; !base.Unread.Is() {
			base.Ours = []plan.Status{{Context: plan.ContextFor(p.Base), State: plan.Failure, By: scenario.Us, Description: "old", At: s.At.Add(-time.Minute)}}
			s.Bases[p.Base], p.Ours = base, base.Ours
		}
	}
	return s
}

// commands draws what people told sluice.
func (d dice) commands(s plan.Snapshot) (all []plan.Command) {
	for i := range d.Roll(6) {
		c := plan.Command{
			ID: int64(1 + i), Pull: 1 + d.Roll(4), By: scenario.OneOf[plan.Login](d, "alice", "alice", "bob", "Alice", "mallory"),
			At:     s.At.Add(-time.Duration(d.Roll(90)) * 20 * time.Minute).Truncate(time.Second),
			Order:  plan.Order{Verb: scenario.OneOf(d, plan.ToRelease, plan.ToRelease, plan.ToRelease, plan.ToUndo, plan.ToRecheck), Reason: "the shop is down"},
			Permit: scenario.OneOf(d, plan.Permitted, plan.Permitted, plan.Permitted, plan.Forbidden, plan.PermitUnknown),
		}
		if c.Verb == plan.ToRelease {
			c.SHA, c.Branch = plan.SHA(scenario.SHA(fmt.Sprintf("a%d", scenario.OneOf(d, c.Pull, c.Pull, d.Roll(6)))).Short()), scenario.OneOf[plan.Branch](d, "", "", "", "rw/week")
		}
		all = append(all, c)
	}
	return all
}

func (d dice) base(name plan.Branch) plan.Base {
	b := plan.Base{Tip: tip, File: "f11e", Policy: scenario.OneOf(d, fuzzPolicies()...), Strict: d.Rare(4), Queue: d.Rare(12), Rules: !d.Rare(12)}
	if d.Rare(8) {
		b.Bypassed = []plan.Ruleset{scenario.OneOf(d, plan.Ruleset{Name: "wide", Demands: []string{"reviews"}, Reviews: 1}, plan.Ruleset{Name: "wide", Demands: []string{"other checks"}},
			plan.Ruleset{Name: "wide", Demands: []string{"required signatures"}, Unseen: []string{"required signatures"}})}
	}
	b.Keeps = d.Rare(8)
	if d.Rare(12) || (name == "main" && d.Roll(8) == 7) { // also in a calm world: other bases go on
		b.Policy, b.Findings = nil, []config.Finding{{Severity: config.Error, Message: "broken", Line: 1, Column: 1}}
	}
	if d.Rare(16) {
		b.Policy, b.File = nil, ""
	}
	if b.Policy == nil {
		b.Last = scenario.OneOf(d, plan.Roster{Known: true}, plan.Roster{}, plan.Roster{Known: true, Entries: []plan.Entry{{Name: "Release", From: "main"}}})
	}
	if !d.Rare(5) {
		b.Required = append(b.Required, plan.RequiredCheck{Context: plan.ContextFor(name), App: scenario.App})
	}
	if d.Rare(4) {
		b.Required = append(b.Required, plan.RequiredCheck{Context: "ci/build"})
	}
	return b
}

func (d dice) pull(s plan.Snapshot, number int) plan.Pull {
	p := plan.Pull{
		Number: number, Base: scenario.OneOf(d, plan.Branch("main"), "main", "main", "release"), Head: scenario.SHA(fmt.Sprintf("a%d", number)), Author: "alice",
		MergeBase: tip, SameRepo: !d.Rare(4), Draft: d.Rare(8), Complete: !d.Rare(10), ChecksAll: !d.Rare(16),
		Mergeable: scenario.OneOf(d, plan.MergeableYes, plan.MergeableYes, plan.MergeableYes, plan.MergeableUnknown, plan.MergeableConflict),
		CreatedAt: s.At.Add(-time.Duration(d.Roll(50)) * time.Hour), FirstSeen: s.At.Add(-time.Duration(d.Roll(200)) * time.Second),
		Decision: scenario.OneOf(d, plan.NoReviewDemanded, plan.NoReviewDemanded, plan.ReviewApproved, plan.ReviewRequired), HeadRef: "topic",
	}
	if d.Rare(8) {
		p.AutoMerge = scenario.OneOf(d, config.MergeCommit, config.Squash)
	}
	if d.Rare(8) {
		p.Head = "a100000000000000000000000000000000000000" // shared with the first
	}
	if d.Rare(4) {
		p.MergeBase = scenario.OneOf(d, older, "")
		p.Crossed = p.MergeBase == "" || d.Rare(4)
	}
	if d.Rare(24) {
		p.Unread = plan.Unread{Reason: "cannot read its list of files: no valid answer from GitHub", Passing: d.Rare(2)}
	}
	for range 1 + d.Roll(3) {
		p.Files = append(p.Files, d.file())
	}
	for range d.Roll(3) {
		p.Checks = append(p.Checks, plan.Check{Context: scenario.OneOf[plan.Context](d, "ci/build", "lint", "Kustomization/x"), State: scenario.OneOf(d, plan.CheckGreen, plan.CheckGreen, plan.CheckPending, plan.CheckRed)})
		p.Reviews = append(p.Reviews, plan.Review{By: scenario.OneOf[plan.Login](d, "bob", "alice", "carol"), On: scenario.OneOf(d, p.Head, older), Approved: !d.Rare(4), CanWrite: !d.Rare(3)})
		p.Labels = append(p.Labels, scenario.OneOf(d, "go", "hold", "x"))
	}
	if d.Rare(10) {
		p.Moved = []string{p.Files[0].Path}
	}
	if d.Rare(8) {
		p.NotBefore = scenario.OneOf[plan.NotBefore](d, "2026-11-01", "2026-12-01T08:00+01:00", "2027-01-01", "later")
	}
	if d.Calm {
		p.Mergeable, p.Decision, p.Checks, p.Reviews, p.Labels = plan.MergeableYes, plan.NoReviewDemanded, scenario.Checks(nil), nil, []string{"go"}
	}
	if d.Roll(2) == 1 {
		p.Ours = []plan.Status{{Context: plan.ContextFor(p.Base), State: scenario.OneOf(d, plan.Pending, plan.Success, plan.Failure), By: scenario.OneOf[plan.Login](d, scenario.Us, scenario.Us, "mallory"), Description: "old", At: s.At.Add(-time.Minute)}}
	}
	if d.Roll(3) == 2 {
		p.Approval = plan.Approval{On: scenario.OneOf(d, p.Head, p.Head, older), Stands: !d.Rare(4)}
	}
	for _, f := range p.Files {
		if f.Path == config.File || f.Old == config.File {
			p.Rules = scenario.OneOf(d, nil, &plan.RulesChange{Outline: fuzzPolicies()[0].Proposed(scenario.OneOf(d, append(fuzzPolicies(), nil)...), plan.Foreseen(s.At, nil))}, &plan.RulesChange{Deleted: true})
		}
	}
	return p
}

func (d dice) file() plan.File {
	f := plan.File{Path: scenario.OneOf(d, fuzzPaths...), Kind: scenario.OneOf(d, plan.Modified, plan.Added, plan.Deleted)}
	switch d.Roll(6) {
	case 4:
		f.Old, f.Kind = scenario.OneOf(d, fuzzPaths...), scenario.OneOf(d, plan.Renamed, plan.Copied)
	case 5: // from what Flux reads from the base itself to what branches hold
		f.Path = scenario.OneOf(d, "rw/f", "any/f", "some/f")
		f.Old, f.Kind = scenario.OneOf(d, "a/x-rt/f", "a/x-rw/f", "night/f"), plan.Renamed
	}
	return f
}

// asks is what a pull request needs.
type asks struct {
	windows  []window.Name // of the base's file
	branches []layout.Release
	back     []window.Name // of the default branch's file: of the branches to which something moves that Flux reads from the base
}

// asksOf is an independent reading of what a pull request needs: straight from the layout, path by path.
func asksOf(p *config.Policy, pull plan.Pull) asks {
	var out asks
	for _, f := range pull.Files {
		is := asksOfPath(p, f.Path)
		out.windows, out.branches = append(out.windows, is.windows...), append(out.branches, is.branches...)
		if f.Kind != plan.Renamed {
			continue
		}
		was := asksOfPath(p, f.Old)
		out.windows, out.branches = append(out.windows, was.windows...), append(out.branches, was.branches...)
		if len(was.windows) > 0 {
			for _, r := range is.branches {
				out.back = append(out.back, fuzzBranches[pull.Base][r]...)
			}
		}
	}
	return out
}

func asksOfPath(p *config.Policy, path string) asks {
	var out asks
	for _, r := range p.Layout.Classify(path).Releases {
		if strings.HasPrefix(string(r), "branch:") {
			out.branches = append(out.branches, r)
		} else {
			out.windows = append(out.windows, window.Name(r))
		}
	}
	return out
}
