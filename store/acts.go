package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluicegate/sluice/plan"
)

// Outcome is how an action ended, in one word.
type Outcome string

// The outcomes of an action.
const (
	Done    Outcome = "done"
	Refused Outcome = "refused" // GitHub said no; Reason is GitHub's
	Failed  Outcome = "failed"  // it could not be told to GitHub, or the answer was lost
	Void    Outcome = "void"    // not tried: its pin had run out, or the observation was void
)

// Act is one action that was done, or was to be done, with its reason, and what is to be remembered of it.
type Act struct {
	ID      int64 // of one that [Reader.History] gives
	Repo    plan.Repo
	At      time.Time
	By      plan.Actor  // "": nobody knows; what is recorded is sluice's
	Verb    string      // of plan.Action, or of plan.Fact
	Pull    int         // 0: about no pull request
	Branch  plan.Branch // the windowed branch or base that it is about; "": none
	SHA     plan.SHA
	Reason  string // for people; text by others is cut
	Outcome Outcome
	Took    time.Duration // for the log: it is not kept

	Overridden bool // people released it although a window is closed; Reason says who, and this is not kept

	Merged  *plan.MergeRecord // remember the merge; it ends the pull request's refusals
	Refusal *plan.Refusal     // count one more refusal of this pull, head and tip; its Count is not read
	Repair  *plan.Repair      // remember that a status was put right
	Moved   *plan.MoveRecord  // remember the move, which is the branch's value last seen from now on; it ends the branch's refusals
	Stuck   *plan.Stuck       // count one more refusal of this branch, old and new value; its Count is not read
	Tallies []Tally           // remember how many statuses stand where some were set
	Acquit  []int64           // the debts that ended with it
}

// Record keeps actions in the history together with what they imply, all of them in one transaction. To record a merge or a move
// twice counts it once.
func (s *Store) Record(ctx context.Context, acts ...Act) (err error) {
	if len(acts) == 0 {
		return nil
	}
	defer during(&err, "record %s of %s", acts[0].Verb, acts[0].Repo)
	return s.do(ctx, func(ctx context.Context, tx *session) error {
		for _, a := range acts {
			if err := record(ctx, tx, a); err != nil {
				return err
			}
		}
		return nil
	})
}

func record(ctx context.Context, tx *session, a Act) error {
	row, err := findOrInsert(ctx, tx, a.Repo, a.At)
	if err != nil {
		return err
	}
	if a.By = plan.BySluice; a.Repair != nil {
		a.Reason = cutTo(a.Reason, TextBytes/2) + "; in place of a status that " + string(plan.ByLogin(a.Repair.By)) + " had set"
	}
	tx.news.add(a.Repo.ID)
	if err := keepAct(ctx, tx, row.id, a, "", ""); err != nil {
		return err
	}
	return imply(ctx, tx, row.id, a)
}

// keepAct adds an act to the history. One of others is a change of what something is about, and to which state.
func keepAct(ctx context.Context, tx *session, id int64, a Act, about, state string) error {
	return tx.run(ctx, `INSERT INTO acts (repo, at, actor, verb, pull, branch, sha, reason, outcome, about, state)
	    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, micros(a.At), string(a.By), a.Verb, a.Pull, string(a.Branch), string(a.SHA), cut(a.Reason), string(a.Outcome), about, state)
}

// imply keeps what follows from an action.
func imply(ctx context.Context, tx *session, id int64, a Act) error {
	if a.Merged != nil {
		if err := keepMerge(ctx, tx, id, *a.Merged); err != nil {
			return err
		}
	}
	if r := a.Refusal; r != nil {
		if err := tx.run(ctx, `INSERT INTO refusals (repo, pull, head, tip, at, count, reason) VALUES (?, ?, ?, ?, ?, 1, ?)
		    ON CONFLICT (repo, pull, head, tip) DO UPDATE SET
		    at = excluded.at, count = refusals.count + 1, reason = excluded.reason`,
			id, r.Pull, string(r.Head), string(r.Tip), micros(r.At), cut(r.Reason)); err != nil {
			return err
		}
	}
	if err := implyBranch(ctx, tx, id, a); err != nil {
		return err
	}
	if err := keepTallies(ctx, tx, id, a.Tallies, a.At); err != nil {
		return err
	}
	if err := acquit(ctx, tx, a.Acquit); err != nil {
		return err
	}
	if r := a.Repair; r != nil {
		return tx.run(ctx, `INSERT INTO repairs (repo, sha, context, login, at) VALUES (?, ?, ?, ?, ?)`,
			id, string(r.SHA), string(r.Context), cut(string(r.By)), micros(r.At))
	}
	return nil
}

// Sent is a write that was sent to GitHub.
type Sent struct {
	Installation int64
	At           time.Time
	Verb         string // of plan.Action
}

// SentSince gives what was sent since an instant, in the order of time, and what of some verbs was since an earlier one. What was under way when a process was killed is
// not known.
func (r *Reader) SentSince(ctx context.Context, since, earlier time.Time, verbs ...string) (all []Sent, err error) {
	defer during(&err, "read what was sent")
	query := `SELECT r.installation, a.at, a.verb FROM acts a JOIN repositories r ON r.id = a.repo
	    WHERE a.at >= ? AND a.actor = ? AND a.outcome <> ? AND (a.at >= ? OR a.verb IN (''` + strings.Repeat(", ?", len(verbs)) + `)) ORDER BY a.at`
	args := []any{micros(earlier), string(plan.BySluice), string(Void), micros(since)}
	for _, v := range verbs {
		args = append(args, v)
	}
	err = each(ctx, r.read, func(rows *sql.Rows) error {
		var s Sent
		err := rows.Scan(&s.Installation, into{&s.At}, &s.Verb)
		all = append(all, s)
		return err
	}, query, args...)
	return all, err
}

func keepMerge(ctx context.Context, tx *session, id int64, m plan.MergeRecord) error {
	releases, err := json.Marshal(m.Releases)
	if err != nil {
		return err
	}
	if err := tx.run(ctx, `INSERT INTO merges (repo, pull, base, sha, at, releases, windowed) VALUES (?, ?, ?, ?, ?, ?, ?)
	    ON CONFLICT (repo, pull, sha) DO NOTHING`,
		id, m.Pull, string(m.Base), string(m.SHA), micros(m.At), string(releases), windowed(m.Releases)); err != nil {
		return err
	}
	return tx.run(ctx, `DELETE FROM refusals WHERE repo = ? AND pull = ?`, id, m.Pull)
}

// cut bounds text by others and leaves it valid UTF-8.
func cut(text string) string { return cutTo(text, TextBytes) }

func cutTo(text string, most int) string {
	if len(text) > most {
		text = text[:most]
		for len(text) > 0 {
			if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size != 1 {
				break
			}
			text = text[:len(text)-1]
		}
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
