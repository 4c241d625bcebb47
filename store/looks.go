package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// Look is what came of looking at a repository.
type Look struct {
	At       time.Time // of the observation
	Plan     plan.Plan
	Cost     int         // in points of GraphQL's hour
	Due      time.Time   // the next look; zero: the resync's
	Notes    int64       // the count of notes before the observation began, from Recall or Repos
	Roster   plan.Roster // the newest that could be read, where it is another than Recall's; else zero
	Recorded time.Time   // until when, by GitHub's clock, all successes of ours are recorded; zero: as before
	Warnings []string    // for the page: what operators should know of a base, such as "not enforced"
}

// Looked keeps the plan of a look and when the next is due. A note that came in since the look began (there are more than
// l.Notes by now) keeps the repository due; an echo does not. Once an hour it also deletes what is past its age.
func (s *Store) Looked(ctx context.Context, repo plan.Repo, l Look) (err error) {
	defer during(&err, "keep plan of %s", repo)
	body, err := encodePlan(l)
	if err != nil {
		return err
	}
	if err := s.do(ctx, func(ctx context.Context, tx *session) error { return looked(ctx, tx, repo, l, string(body)) }); err != nil {
		return err
	}
	return s.tidy(ctx, l.At)
}

func looked(ctx context.Context, tx *session, repo plan.Repo, l Look, body string) error {
	row, err := findOrInsert(ctx, tx, repo, l.Due)
	if err != nil {
		return err
	}
	if row.forgotten {
		return nil // it went while we looked; nothing is due
	}
	if err := tx.run(ctx, `UPDATE repositories SET looked = ?, wake = ?, cost = ?, recorded = COALESCE(?, recorded),
	    due = CASE WHEN noted = ? THEN ? ELSE due END WHERE id = ?`,
		micros(l.At), micros(l.Plan.Wake), l.Cost, micros(l.Recorded), l.Notes, micros(l.Due), row.id); err != nil {
		return err
	}
	// Most looks find nothing new, and a plan is long: it is written only if it is another one.
	changed, err := tx.change(ctx, `INSERT INTO plans (repo, body) VALUES (?, ?)
	    ON CONFLICT (repo) DO UPDATE SET body = excluded.body WHERE body <> excluded.body`, row.id, body)
	if err != nil {
		return err
	}
	if changed > 0 {
		tx.news.add(repo.ID)
	}
	return keepRoster(ctx, tx, row.id, l.Roster)
}

// keptPlan is what people are shown of a plan.Plan, in JSON.
type keptPlan struct {
	Verdicts     []plan.Verdict       `json:"verdicts"`
	More         int                  `json:"more,omitempty"` // verdicts beyond PageVerdicts
	Branches     []plan.BranchVerdict `json:"branches,omitempty"`
	MoreBranches int                  `json:"more_branches,omitempty"` // beyond PageBranches
	Warnings     []string             `json:"warnings"`
	Wake         time.Time            `json:"wake"`
}

func encodePlan(l Look) ([]byte, error) {
	p := l.Plan
	k := keptPlan{Warnings: l.Warnings, Wake: p.Wake}
	for _, v := range p.Verdicts[:min(len(p.Verdicts), PageVerdicts)] {
		v.Why = keptWhy(v.Why)
		k.Verdicts = append(k.Verdicts, v)
	}
	for _, v := range p.Branches[:min(len(p.Branches), PageBranches)] {
		v.Why = keptWhy(v.Why)
		v.Commits = v.Commits[:min(len(v.Commits), PageCommits)]
		k.Branches = append(k.Branches, v)
	}
	k.More, k.MoreBranches = len(p.Verdicts)-len(k.Verdicts), len(p.Branches)-len(k.Branches)
	return json.Marshal(k)
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
