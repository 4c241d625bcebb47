package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/window"
)

const foreseenFile = `version: 1
timezone: Europe/Berlin
windows:
  nights: {open: "0 22 * * MON-THU", duration: 4h, cutoff: 10m}
  patch: {dates: [{from: 2026-12-05T22:00, until: 2026-12-06T02:00}]}
layout: {preset: rt-rw, window: nights}
branches:
  - {name: rw/a, from: main, window: nights}
  - {name: rw/b, from: main, window: patch}
  - {name: rw/c, from: main, window: nights}
`

func TestForeseenIsAWeek(t *testing.T) {
	berlin, err := window.LoadZone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	base := &config.Policy{Zone: berlin}
	for at, want := range map[string]string{
		"2026-11-22T22:59:59Z": "Mon 16 Nov 2026 00:00 CET to Mon 15 Feb 2027 00:00 CET", // Sunday's last second
		"2026-11-22T23:00:00Z": "Mon 23 Nov 2026 00:00 CET to Mon 22 Feb 2027 00:00 CET",
		"2026-11-26T12:00:00Z": "Mon 23 Nov 2026 00:00 CET to Mon 22 Feb 2027 00:00 CET",
		"2026-09-02T12:00:00Z": "Mon 31 Aug 2026 00:00 CEST to Mon 30 Nov 2026 00:00 CET", // over a change of clocks
	} {
		instant, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		i := Foreseen(instant, base)
		if got := Clock(i.From, berlin) + " to " + Clock(i.Until, berlin); got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
	if i := Foreseen(time.Date(2026, 11, 29, 23, 30, 0, 0, time.UTC), nil); i.From.Day() != 23 {
		t.Errorf("without a policy the week is UTC's: %s", i.From)
	}
}

func TestShift(t *testing.T) {
	until := time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC)
	for want, d := range map[string]window.Difference{
		"3 openings come, 1 goes until Mon 1 Feb 2027":       {Comes: 3, Goes: 1},
		"1 opening goes, 2 move until Mon 1 Feb 2027":        {Goes: 1, Moves: 2},
		"no opening changes until Mon 1 Feb 2027":            {},
		"1 opening comes until Mon 1 Feb 2027 09:30 UTC":     {Comes: 1, During: window.Interval{Until: until.Add(9*time.Hour + 30*time.Minute)}},
		"2 openings come, 2 go, 2 move until Mon 1 Feb 2027": {Comes: 2, Goes: 2, Moves: 2},
		"1 opening moves until Mon 1 Feb 2027":               {Moves: 1},
	} {
		if d.During.Until.IsZero() {
			d.During.Until = until
		}
		if got := Shift(d, nil); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestForesee: the verdict on a pull request that changes the rules lists the openings that are others, and what of all that is held it would release at once.
func TestForesee(t *testing.T) {
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC) // Thursday, 13:00 CET
	policy := policyOf(t, foreseenFile)
	changed := func(was, is string) *RulesChange {
		return &RulesChange{Outline: policyOf(t, strings.Replace(foreseenFile, was, is, 1)).Proposed(policy, Foreseen(at, policy))}
	}
	nights := `nights: {open: "0 22 * * MON-THU", duration: 4h, cutoff: 10m}`
	opened := changed(nights, nights[:len(nights)-1]+`, dates: [{from: 2026-11-26T10:00, until: 2026-11-26T14:00}, {from: 2026-11-23T10:00, until: 2026-11-23T11:00}]}`)
	s := Snapshot{At: at, Default: "main", Bases: map[Branch]Base{"main": {Policy: policy}, "other": {Policy: policy}, "broken": {}}, Pulls: []Pull{
		{Number: 1}, {Number: 2}, {Number: 3}, {Number: 4}, {Number: 5},
		{Number: 9, Rules: opened},
		{Number: 10, Rules: changed(", cutoff: 10m", ", cutoff: 20m")},
		{Number: 11, Rules: changed("22:00, until", "23:00, until")},
		{Number: 12, Rules: &RulesChange{Deleted: true}},
		{Number: 13, Rules: opened}, // into a base whose file is broken
		{Number: 14, Rules: changed(nights, `nights: {dates: [{from: 2026-11-26T10:00, until: 2026-11-26T13:05}], cutoff: 10m}`)},
	}}
	about := func(n int, base Branch, closed ...window.Name) Verdict {
		return Verdict{Subject: Subject{n, base}, Closed: closed, Why: []Step{{About: "x", Says: "y"}}[:1:1]}
	}
	p := Plan{
		Verdicts: []Verdict{
			about(1, "main", "nights"), about(2, "main", "nights", "patch"), about(3, "other", "nights"), about(4, "main", "patch"), about(5, "main"),
			about(9, "main"), about(10, "main"), about(11, "main"), about(12, "main"), about(13, "broken"), about(14, "main"),
		},
		Branches: []BranchVerdict{{Name: "rw/a", Kind: Held, Waiting: 3}, {Name: "rw/b", Kind: Held, Waiting: 1}, {Name: "rw/c", Kind: Blocked, Waiting: 2}},
	}
	steps := func(p Plan, i int) (says []string) {
		for _, step := range p.Verdicts[i].Why[1:] {
			says = append(says, step.About+": "+step.Says)
		}
		return says
	}
	got := Foresee(s, p)
	want := []string{
		"once it is merged: releases at once: #1, rw/a (3 commits)",
		"nights: comes: Thu 26 Nov 2026 10:00 until 14:00 CET (releases until 13:50)",
	}
	if d := cmp.Diff(want, steps(got, 5)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	moved := steps(got, 6)
	if len(moved) != config.MostChanges-2 || moved[0] != "nights: moves: Thu 26 Nov 2026 22:00 until Fri 27 Nov 2026 02:00 CET (releases until 01:50) "+
		"becomes Thu 26 Nov 2026 22:00 until Fri 27 Nov 2026 02:00 CET (releases until 01:40)" ||
		moved[len(moved)-1] != "…: 34 more openings change until Mon 22 Feb 2027" {
		t.Errorf("%d steps: %s", len(moved), strings.Join(moved, "\n"))
	}
	if says := steps(got, 7); len(says) != 1 || !strings.HasPrefix(says[0], "patch: moves: Sat 5 Dec 2026 22:00 until") {
		t.Error(says)
	}
	for _, i := range []int{0, 8, 9} {
		if says := steps(got, i); len(says) != 0 {
			t.Errorf("%d: %s", i, says)
		}
	}
	// What is past its cutoff releases nothing, and neither does anything that is frozen.
	if says := strings.Join(steps(got, 10), "\n"); strings.Contains(says, "at once") {
		t.Error(says)
	}
	s.Frozen = Freeze{Tip: "f1"}
	if says := strings.Join(steps(Foresee(s, p), 5), "\n"); strings.Contains(says, "at once") {
		t.Error(says)
	}
	if len(p.Verdicts[5].Why) != 1 {
		t.Error("a plan that was given has other steps")
	}
	s.Frozen, p.Verdicts = Freeze{}, p.Verdicts[5:]
	p.Branches = nil
	if says := strings.Join(steps(Foresee(s, p), 0), "\n"); !strings.HasPrefix(says, "once it is merged: releases at once: nothing that waits now\n") {
		t.Error(says)
	}
}
