package forge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/sluicegate/sluice/forge/branches"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// Ask is what an observation should show beside the open pull requests.
type Ask struct {
	At     time.Time    // the snapshot's instant; zero: just before the first read
	Groups []plan.Group // merge groups that wait for our answer: Base, BaseSHA and Head are read
	Rules  bool         // read the rules of every base anew
	// Rulesets asks of each ruleset of what is read anew whether it lets our App pass, where that is not known or was long ago: a request each.
	Rulesets bool
	Roster   plan.Roster // the newest that could be read, for while the file cannot be
	Merged   []int       // that we merged since the last look, at most MaxPulls: what became of them is read with the first page
	Debts    []plan.Debt // whose pull requests are looked up where they are not open
	// Forgotten asks for our statuses on what pull requests left behind that were closed, merged, retargeted or pushed to since an instant of
	// GitHub's clock; zero: as far back as that is read.
	Forgotten bool
	Since     time.Time

	Pulls []int // only these pull requests, at most MaxPulls; those not open are left out; nil: all open ones, empty: none

	// Full and Heads are pull requests, by number or by head, whose details are read again whatever is kept of them.
	Full  []int
	Heads []plan.SHA
}

// MaxPulls is how many pull requests may be asked for by number in one observation.
const MaxPulls = 50

// maxTries is how often an observation is begun because the repository changed meanwhile.
const maxTries = 2

// Observe reads a repository. The snapshot holds everything but what the store remembers.
//
// Reads of one observation are not atomic on GitHub. What belongs together is compared: every page and every base must have seen
// the same tips. If they did not, it begins once more; then a base that still moved is unknown, and if it is the default branch the
// error is Transient.
//
// What is wrong with a part of the repository makes that part unknown (parts.go). Gone is said of the repository only by the query
// about itself, or of the whole installation; once is no proof.
func (f *Forge) Observe(ctx context.Context, repo plan.Repo, ask Ask) (plan.Snapshot, error) {
	op := "observe " + repo.String()
	if len(ask.Pulls) > MaxPulls {
		return plan.Snapshot{}, fmt.Errorf("%s: too much asked at once", op)
	}
	if _, err := f.Self(ctx); err != nil {
		return plan.Snapshot{}, fmt.Errorf("%s: %w", op, ofTheWhole(err))
	}
	ask.Groups = askable(ask.Groups)
	for try := range maxTries {
		l := f.newObservation(repo, ask, client.LogOf(ctx, f.log.With("repository", repo.String())))
		l.Final = try == maxTries-1
		s, err := l.run(ctx)
		if errors.Is(err, branches.ErrMoved) {
			continue
		}
		if err != nil {
			return plan.Snapshot{}, fmt.Errorf("%s: %w", op, ofTheWhole(err))
		}
		return s, nil
	}
	return plan.Snapshot{}, fmt.Errorf("%s: %w", op, client.NewTransient(look.WordMoved, branches.ErrMoved))
}

// ofTheWhole is the error of an observation: what does not show a part of a repository does not say that the repository is gone.
func ofTheWhole(err error) error {
	if client.KindOf(err) == client.Gone && !errors.Is(err, client.ErrRepository) && !errors.Is(err, client.ErrInstallation) {
		return client.NewTransient(client.Judge(err).Reason, err)
	}
	return err
}

// askable leaves out groups that are named by no SHA: GitHub would refuse the whole observation for them.
func askable(groups []plan.Group) []plan.Group {
	return slices.DeleteFunc(slices.Clone(groups), func(g plan.Group) bool {
		return !look.IsSHA(g.Head) || !look.IsSHA(g.BaseSHA)
	})
}

// observation is what one call of Observe has read so far.
type observation struct {
	*branches.Reader
	f    *Forge
	ask  Ask
	last lastLook

	pageLists, wholeLists listRoom

	once      rawRepo                  // what there is once, from the first page
	frozen    plan.Freeze              // likewise
	own       []plan.Branch            // bases under whose contexts statuses are asked for with the pull requests
	full      map[int]*rawPull         // details that came with the first page
	there     map[plan.Branch]*pathSet // what is known of the paths at bases' tips
	named     client.Answers           // what was asked for by alias, from the first page
	asked     branches.Ask             // of windowed branches, with the first page
	pulls     []*rawPull
	raws      map[int]*rawPull
	heads     map[plan.SHA]*look.RawCommitStatus // what was reported on heads that were asked for by name; nil: not there
	forgotten *look.Connection[rawClosure]       // not open, from the last page; nil: they did not come with it
	owing     []plan.Branch                      // bases that are read for the sake of debts

	earlierRead []int // pull requests whose earlier heads were read
	skew        time.Duration
	total       int // open pull requests, as the first page counts them; it may be wrong
}

func (f *Forge) newObservation(repo plan.Repo, ask Ask, log *slog.Logger) *observation {
	at := ask.At
	if at.IsZero() {
		at = f.now().Round(0)
	}
	l := &observation{
		Reader: branches.NewReader(&look.Look{
			Client: f.Installation(repo.Installation), Repo: repo, Us: f.Us(), App: f.app, Log: log, Now: f.now, RulesTTL: f.rulesTTL,
			Memory: f.memory.Of(repo), At: at, Began: f.now(),
		}),
		f: f, ask: ask, pageLists: listRoom{most: f.listsMost}, wholeLists: listRoom{most: f.listsMost}, there: map[plan.Branch]*pathSet{},
		full: map[int]*rawPull{}, raws: map[int]*rawPull{}, heads: map[plan.SHA]*look.RawCommitStatus{},
	}
	l.RulesAnew, l.Rulesets, l.Roster = ask.Rules, ask.Rulesets, ask.Roster
	l.last, _ = keptLook.Get(l.Memory, struct{}{})
	return l
}

// run does the reads in their order: each step asks only for what the steps before could not tell.
func (l *observation) run(ctx context.Context) (plan.Snapshot, error) {
	l.owing = l.basesOfDebts()
	if err := l.readPages(ctx); err != nil {
		return plan.Snapshot{}, err
	}
	if l.Repo.ID != 0 && l.once.DatabaseID != 0 && l.Repo.ID != l.once.DatabaseID {
		return plan.Snapshot{}, &client.Error{Kind: client.Gone, Reason: wordOtherRepo, Err: client.ErrRepository}
	}
	if l.once.IsArchived || l.once.IsDisabled { // nothing can be written there, and lists leave it out
		return plan.Snapshot{}, &client.Error{Kind: client.Gone, Reason: wordArchived, Err: client.ErrRepository}
	}
	if err := l.readDetails(ctx); err != nil {
		return plan.Snapshot{}, err
	}
	if err := l.ReadBases(ctx, l.used()); err != nil {
		return plan.Snapshot{}, err
	}
	s := l.frame()
	for _, raw := range l.pulls {
		p := l.pull(raw)
		if !raw.thin && !p.Unread.Is() {
			p.Unread = l.Rests(l.pullKey(&p))
		}
		s.Pulls = append(s.Pulls, p)
	}
	for _, step := range []func(context.Context, *plan.Snapshot) error{
		l.addMore, l.addMergeBases, l.addFiles, l.addMoved, l.addChanges, l.AddRules, l.addGroups, l.AddRoster, l.AddBranches,
		l.addApps, l.AddLandings, l.addClosed, l.addForgotten, l.addCommands,
	} {
		if err := step(ctx, &s); err != nil {
			return plan.Snapshot{}, err
		}
	}
	for i := range s.Pulls {
		p := &s.Pulls[i]
		if p.Unread.Is() { // what was kept may be what it was to be read anew for
			keptDetails.Forget(l.Memory, p.Number)
			continue
		}
		l.WasRead(l.pullKey(p))
		l.keep(l.raws[p.Number])
	}
	s.Again = l.Again
	l.rememberLook(s)
	s.Freeze(l.frozen)
	return s, nil
}

// frame is the snapshot without its pull requests and groups.
func (l *observation) frame() plan.Snapshot {
	s := plan.Snapshot{
		Repo: l.Repo, Default: l.Home, At: l.At, Skew: l.skew, Us: l.Us, App: l.App, Methods: l.once.methods(),
		Bases: map[plan.Branch]plan.Base{}, Budget: l.f.WritesPerMinute(),
	}
	s.Repo.ID = l.once.DatabaseID
	for name := range l.used() {
		if u := l.Unread[name]; u.Is() {
			s.Bases[name] = plan.Base{Unread: u}
		} else if raw := l.Bases[name]; raw != nil {
			s.Bases[name] = l.Base(name, raw)
		}
	}
	return s
}
