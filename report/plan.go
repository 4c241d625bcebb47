package report

import (
	"slices"

	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
)

// Plan is what the service would do with one repository.
type Plan struct {
	At       Instant  `json:"at"`
	Wake     Instant  `json:"wake"`
	Pulls    []Pull   `json:"pull_requests"`
	Branches []Branch `json:"branches"`

	Groups []plan.Note `json:"-"` // for people: what is decided on merge groups
	Notes  []plan.Note `json:"-"` // likewise: on bases
}

// Pull is what is decided on a pull request.
type Pull struct {
	Number   int              `json:"number"`
	Base     string           `json:"base"`
	Head     string           `json:"head"`
	Verdict  plan.Kind        `json:"verdict"`
	Reason   string           `json:"reason"`
	Until    Instant          `json:"until"`
	Releases []layout.Release `json:"releases"`
	Actions  []string         `json:"actions"`
	Text     string           `json:"-"` // the whole reason
}

// Branches is what became of windowed branches.
type Branches struct {
	Branches []Branch `json:"branches"`
}

// Branch is what is decided on a windowed branch, or what became of it.
type Branch struct {
	Name    string    `json:"name"`
	From    string    `json:"from"`
	Old     *string   `json:"old"` // null: it is not there
	New     *string   `json:"new"` // null: it goes nowhere that is known
	Verdict plan.Kind `json:"verdict"`
	Reason  string    `json:"reason"`
	Until   Instant   `json:"until"`
	Waiting int       `json:"waiting"`
	Text    string    `json:"-"` // the whole reason
}

// BranchesOf is what verdicts say of windowed branches.
func BranchesOf(verdicts []plan.BranchVerdict) []Branch {
	out := []Branch{}
	for _, b := range verdicts {
		out = append(out, Branch{
			Name: string(b.Name), From: string(b.From), Old: optional(string(b.Old)), New: optional(string(b.New)), Verdict: b.Kind,
			Reason: b.Reason, Text: b.Text(), Until: Instant{b.Until}, Waiting: b.Waiting,
		})
	}
	return out
}

// PlanOf is a plan for a snapshot.
func PlanOf(p plan.Plan, s plan.Snapshot) Plan {
	v := Plan{At: Instant{p.At}, Wake: Instant{p.Wake}, Pulls: []Pull{}, Branches: BranchesOf(p.Branches), Notes: p.Notes}
	actions := map[int][]string{}
	for _, a := range p.Actions {
		for _, n := range a.About() {
			actions[n] = append(actions[n], sayAction(a))
		}
	}
	for _, d := range p.Verdicts {
		if d.Subject.Pull == 0 {
			v.Groups = append(v.Groups, plan.Note{About: string(d.Subject.Base) + " " + d.SHA.Short(), Says: string(d.Kind) + ": " + d.Text()})
			continue
		}
		v.Pulls = append(v.Pulls, Pull{
			Number: d.Subject.Pull, Base: string(d.Subject.Base), Head: string(d.SHA), Verdict: d.Kind, Reason: d.Reason, Text: d.Text(),
			Until: Instant{d.Until}, Releases: listed(d.Releases), Actions: append([]string{}, actions[d.Subject.Pull]...),
		})
	}
	if base, ok := s.Bases[s.Default]; ok && base.File == "" {
		v.Notes = append(v.Notes, plan.Note{About: string(s.Default), Says: "no .github/sluice.yaml: not managed by sluice"})
	}
	return v
}

func sayAction(a plan.Action) string {
	if s, ok := a.(plan.SetStatus); ok {
		return "status " + string(s.State)
	}
	return a.Verb()
}

// Stays reports whether the answer to the question whether all goes is no: something is held, waiting or blocked.
func (v Plan) Stays() bool {
	return slices.ContainsFunc(v.Pulls, func(p Pull) bool { return stays(p.Verdict) }) ||
		slices.ContainsFunc(v.Branches, func(b Branch) bool { return stays(b.Verdict) })
}

func stays(k plan.Kind) bool { return k == plan.Held || k == plan.Waiting || k == plan.Blocked }
