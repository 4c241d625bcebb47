package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// News is what others did that the history does not have.
type News struct {
	plan.Fact
	Was string // how it stood before, as far as the history has it; else ""
}

// Untold is those of some facts that are another state than the history has.
func (r *Reader) Untold(ctx context.Context, repo plan.Repo, facts []plan.Fact) (news []News, err error) {
	defer during(&err, "read history of %s", repo)
	row, err := find(ctx, r.read, repo)
	if err != nil {
		return nil, err
	}
	for _, f := range facts {
		was := ""
		if err := one(r.read.QueryRowContext(ctx, `SELECT state FROM acts WHERE repo = ? AND about = ? AND about <> '' ORDER BY id DESC LIMIT 1`,
			row.id, cut(f.About)), &was); err != nil {
			return nil, err
		}
		if was != cut(f.State) {
			news = append(news, News{f, was})
		}
	}
	return news, nil
}

// Tell keeps what others did. What has no instant was found at one.
func (s *Store) Tell(ctx context.Context, repo plan.Repo, found time.Time, news []News) (err error) {
	defer during(&err, "keep history of %s", repo)
	return s.do(ctx, func(ctx context.Context, tx *session) error {
		row, err := findOrInsert(ctx, tx, repo, found)
		if err != nil {
			return err
		}
		for _, n := range news {
			tx.news.add(repo.ID)
			a := Act{At: n.At, By: n.By, Verb: n.Verb, Pull: n.Pull, Branch: n.Branch, SHA: n.SHA, Reason: n.Reason, Outcome: Done}
			if a.At.IsZero() {
				a.At = found
			}
			if err := keepAct(ctx, tx, row.id, a, cut(n.About), cut(n.State)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Keep sets how long acts are kept, before anything is written.
func (s *Store) Keep(age time.Duration) { s.actAge = age }

// Place is where an act stands in the history of all repositories.
type Place struct {
	At time.Time
	ID int64
}

// String is what [ParsePlace] reads.
func (p Place) String() string { return fmt.Sprintf("%d-%d", p.At.UnixMicro(), p.ID) }

// ParsePlace reads where a page of the history begins.
func ParsePlace(text string) (Place, error) {
	at, id, _ := strings.Cut(text, "-")
	micros, err := strconv.ParseInt(at, 10, 64)
	number, bad := strconv.ParseInt(id, 10, 64)
	if err = errors.Join(err, bad); err != nil {
		return Place{}, err
	}
	return Place{time.UnixMicro(micros), number}, nil
}

// Asked is which acts are asked for.
type Asked struct {
	Owner, Name string // "": of every repository
	Sight       Sight  // a name alone may be several repositories', one after the other
	Pull        int    // 0: whatever they are about
	Branch      plan.Branch
	Since       time.Time
	Statuses    bool  // also statuses that were written
	Newest      bool  // the latest first; else in the order of time
	After       Place // those that come after it in that order; zero: all
	Most        int   // so many at most
}

// told is what people are told of without asking for more.
const told = `(a.verb <> 'status' OR a.outcome <> 'done')`

const actColumns = `a.at, a.actor, a.verb, a.pull, a.branch, a.sha, a.reason, a.outcome`

// places are where actColumns are scanned to.
func (a *Act) places() []any {
	return []any{into{&a.At}, &a.By, &a.Verb, &a.Pull, &a.Branch, &a.SHA, &a.Reason, &a.Outcome}
}

// Place is where the act stands in the history that it is read from.
func (a Act) Place() Place { return Place{a.At, a.ID} }

// History is the acts that are asked for, without what they imply. Repositories that are gone from our sight have their history. It gives [ErrUnknown] for a repository that was never
// seen.
func (r *Reader) History(ctx context.Context, q Asked) (found []Act, err error) {
	defer during(&err, "read history")
	where, args := []string{"TRUE"}, []any{}
	add := func(is bool, condition string, values ...any) {
		if is {
			where, args = append(where, condition), append(args, values...)
		}
	}
	if q.Name != "" {
		repos, err := all(ctx, r.read, func(id *any) []any { return []any{id} },
			`SELECT id FROM repositories WHERE lower(owner) = lower(?) AND lower(name) = lower(?)`, q.Owner, q.Name)
		if err != nil {
			return nil, err
		}
		if len(repos) == 0 {
			return nil, ErrUnknown
		}
		add(true, "a.repo IN (0"+strings.Repeat(", ?", len(repos))+")", repos...)
	}
	order, after := "a.at, a.id", ">"
	if q.Newest {
		order, after = "a.at DESC, a.id DESC", "<"
	}
	sees, ids := q.Sight.where()
	add(true, sees, ids...)
	add(!q.Statuses, told)
	add(q.Pull != 0, "a.pull = ?", q.Pull)
	add(q.Branch != "", "a.branch = ?", string(q.Branch))
	add(!q.Since.IsZero(), "a.at >= ?", micros(q.Since))
	add(q.After != Place{}, "(a.at, a.id) "+after+" (?, ?)", micros(q.After.At), q.After.ID)
	return all(ctx, r.read, func(a *Act) []any {
		return append([]any{&a.Repo.ID, &a.Repo.Owner, &a.Repo.Name, &a.ID}, a.places()...)
	}, `SELECT r.github_id, r.owner, r.name, a.id, `+actColumns+` FROM acts a JOIN repositories r ON r.id = a.repo
	    WHERE `+strings.Join(where, " AND ")+` ORDER BY `+order+` LIMIT ?`, append(args, q.Most)...)
}
