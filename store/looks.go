package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// Look is what came of looking at a repository.
type Look struct {
	At       time.Time // of the observation
	Plan     plan.Plan
	Due      time.Time   // the next look; zero: the resync's
	Notes    int64       // the count of notes before the observation began, from Recall or Repos
	Roster   plan.Roster // the newest that could be read, where it is another than Recall's; else zero
	Warnings []string    // for the page: what operators should know of a base, such as "not enforced"
}

// Looked keeps the plan of a look and when the next is due. A note that came in since the look began (Noted has grown)
// keeps the repository due; an echo does not. Once an hour it also deletes what is past its age.
func (s *Store) Looked(ctx context.Context, repo plan.Repo, l Look) error {
	body, err := encodePlan(l)
	if err != nil {
		return fmt.Errorf("keep plan of %s: %w", repo, err)
	}
	err = s.do(ctx, func(ctx context.Context, tx *session) error { return looked(ctx, tx, repo, l, string(body)) })
	if err == nil {
		err = s.tidy(ctx, l.At)
	}
	return during(err, "keep plan of %s", repo)
}

func looked(ctx context.Context, tx *session, repo plan.Repo, l Look, body string) error {
	row, err := findOrInsert(ctx, tx, repo, l.Due)
	if err != nil {
		return err
	}
	if row.forgotten {
		return nil // it went while we looked; nothing is due
	}
	if _, err := tx.ExecContext(ctx, `UPDATE repositories SET looked = ?,
	    due = CASE WHEN noted = ? THEN ? ELSE due END WHERE id = ?`,
		micros(l.At), l.Notes, micros(l.Due), row.id); err != nil {
		return err
	}
	// Most looks find nothing new, and a plan is long: it is written only if it is another one.
	if _, err = tx.ExecContext(ctx, `INSERT INTO plans (repo, body) VALUES (?, ?)
	    ON CONFLICT (repo) DO UPDATE SET body = excluded.body WHERE body <> excluded.body`, row.id, body); err != nil {
		return err
	}
	return keepRoster(ctx, tx, row.id, l.Roster)
}

// keptPlan is a plan.Plan in JSON. Actions are kept by what people want to know of them: nothing acts on a kept plan.
type keptPlan struct {
	Verdicts      []plan.Verdict       `json:"verdicts"`
	More          int                  `json:"more,omitempty"` // verdicts beyond PageVerdicts
	Branches      []plan.BranchVerdict `json:"branches,omitempty"`
	MoreBranches  int                  `json:"more_branches,omitempty"` // beyond PageBranches
	PlannedAction []PlannedAction      `json:"planned"`
	Warnings      []string             `json:"warnings"`
	Wake          time.Time            `json:"wake"`
	Look          time.Time            `json:"look"`
}

// PlannedAction is one action of a kept plan.
type PlannedAction struct {
	Verb   string      `json:"verb"`
	Pull   int         `json:"pull,omitempty"`
	Branch plan.Branch `json:"branch,omitempty"` // that is moved
	SHA    plan.SHA    `json:"sha"`
	Before time.Time   `json:"before"`
}

func encodePlan(l Look) ([]byte, error) {
	p := l.Plan
	k := keptPlan{Warnings: l.Warnings, Wake: p.Wake, Look: p.Look}
	for i, v := range p.Verdicts {
		if i == PageVerdicts {
			k.More = len(p.Verdicts) - i
			break
		}
		v.Why = keptWhy(v.Why)
		k.Verdicts = append(k.Verdicts, v)
	}
	k.keepBranches(p.Branches)
	for _, a := range p.Actions {
		k.PlannedAction = append(k.PlannedAction, plannedOf(a)...)
	}
	k.PlannedAction = k.PlannedAction[:min(len(k.PlannedAction), PageVerdicts)]
	return json.Marshal(k)
}

func (k *keptPlan) keepBranches(all []plan.BranchVerdict) {
	for _, v := range all[:min(len(all), PageBranches)] {
		v.Why = keptWhy(v.Why)
		v.Commits = v.Commits[:min(len(v.Commits), PageCommits)]
		k.Branches = append(k.Branches, v)
	}
	k.MoreBranches = len(all) - len(k.Branches)
}

// keptWhy is the beginning of an explanation: WhySteps steps, and of these as many as WhyBytes hold.
func keptWhy(steps []plan.Step) []plan.Step {
	var kept []plan.Step
	room := WhyBytes
	for _, step := range steps[:min(len(steps), WhySteps)] {
		step.About, step.Says = cut(step.About), cut(step.Says)
		if room -= len(step.About) + len(step.Says); room < 0 {
			break
		}
		kept = append(kept, step)
	}
	return kept
}

// plannedOf is what is kept of an action: of the moves of branches one each.
func plannedOf(a plan.Action) []PlannedAction {
	if all, ok := a.(plan.MoveBranches); ok {
		var each []PlannedAction
		for _, m := range all.Moves {
			each = append(each, PlannedAction{Verb: a.Verb(), Branch: m.Branch, SHA: m.New, Before: m.Before})
		}
		return each
	}
	pin := a.Pinned()
	return []PlannedAction{{Verb: a.Verb(), Pull: pullOf(a), SHA: pin.SHA, Before: pin.Before}}
}

func pullOf(a plan.Action) int {
	if pulls := a.About(); len(pulls) > 0 {
		return pulls[0]
	}
	return 0
}
