package revisions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/analysis"
	"github.com/sluicegate/sluice/flux/build"
	"github.com/sluicegate/sluice/gitremote"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// question is what a child process is asked: what some files mean that a change of a repository touches.
type question struct {
	place
	Asked plan.Asked
	Files []plan.File
	// Default is the tip of the default branch, whose rules count, if it is asked what tracks windowed branches at Asked.Head: no base is in that question. Else "".
	Default plan.SHA
}

// place is where a repository stands, and what is known of it.
type place struct {
	Mirror string // directory
	Builds string // directory in which builds are kept
	URL    string // of the repository, as people see it
	Branch string // the default branch
}

// tip is the base's.
func (q question) tip() plan.SHA { return cmp.Or(q.Default, q.Asked.Tip) }

// commits is what is read: the base's tip, what the change begins at, and its head.
func (q question) commits() []plan.SHA {
	return []plan.SHA{q.tip(), cmp.Or(q.Asked.Before, q.tip()), q.Asked.Head}
}

// reply is what it answers.
type reply struct {
	Answers layout.Answers
	Broken  string      // what the change breaks; "": nothing
	Told    []plan.Note // what people are to know of it, without whom each is about
	Tracked map[plan.Branch]plan.Build
	Err     string // why there are none; "": there are
	Sure    bool   // Err is a bound of the run, or true of these commits, and not perhaps the mirror's fault
	Over    bool   // it may be for what the process did before: another one may answer
}

// maxQuestion is how many bytes a question, or its answer, may have.
const maxQuestion = 64 << 20

// Child is what the child process does: it answers questions until in ends, or its meter does. build builds as its job says, in processes of its own. What it has
// read of a base's tip is kept for the next question about that repository.
func Child(ctx context.Context, m *meter.Meter, in io.Reader, out io.Writer, run func(context.Context, build.Job) ([]build.Result, error)) error {
	build.Yield() // to the process that takes back on time what is green
	questions, answers := json.NewDecoder(in), json.NewEncoder(out)
	r := &reader{meter: m, build: run, nothing: m.Mark()}
	defer func() { r.cache.Close() }()
	for {
		var q question
		if err := questions.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read the question: %w", err)
		}
		var a reply
		var err error
		if a, err = r.answer(ctx, q); err == nil {
			err = m.Err()
		}
		if err != nil {
			bound := (*meter.Error)(nil)
			a = reply{Err: plan.Text(plan.Clean(err.Error())), Over: m.Err() != nil || !errors.Is(err, gitremote.ErrNotMerged)}
			a.Sure = !a.Over || errors.As(err, &bound)
			if errors.Is(err, gitremote.ErrIncomplete) { // whose words are for people with a clone
				a.Err = "its mirror lacks an object"
			}
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

// reader answers questions.
type reader struct {
	meter *meter.Meter
	build func(context.Context, build.Job) ([]build.Result, error)

	nothing func() // gives back all that was taken

	of    place          // kept is of
	cache *build.Cache   // of builds there; nil: nothing was asked yet
	kept  *analysis.Tree // of the last question: the base's tip without the change; nil: there is none
	tip   plan.SHA       // of kept
	found map[change]*finding
	names int // in found
}

// change is one that was asked about, wherever its base was then.
type change struct{ rules, before, head plan.SHA }

// finding is what was found of a change at the tip that is kept.
type finding struct {
	files   []plan.File // that were asked about
	answers layout.Answers
	broken  string
	told    []plan.Note
	touches []string // paths that differ by the change, and files of which every byte counted, sorted
}

// toldMost is how much is told of one change.
const toldMost = 5

// maxNames is how many paths findings have together: some 8 MiB.
const maxNames = 100_000

// answer reads the trees.
func (r *reader) answer(ctx context.Context, q question) (a reply, err error) {
	if r.of != q.place {
		r.cache.Close()
		r.kept, r.of, r.cache = nil, q.place, build.NewCache(q.Builds, time.Now())
	}
	if r.kept == nil {
		r.nothing()
	} else {
		defer r.meter.Mark()() // what is kept takes the place of what was
	}
	repo, err := gitremote.Open(r.meter, q.Mirror)
	if err != nil {
		return reply{}, err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	data, ok, err := repo.File(q.tip(), config.File)
	if err != nil {
		return reply{}, err
	}
	policy, _ := config.Parse(data)
	if !ok || policy == nil {
		return reply{}, fmt.Errorf("%s of %s has no meaning", config.File, q.tip().Short()) // the caller has read it
	}
	r.cache.Use(time.Now())
	run := analysis.Run{Meter: r.meter, URL: q.URL, DefaultBranch: q.Branch, Build: func(ctx context.Context, j build.Job) ([]build.Result, error) {
		j.Cache = r.cache
		return r.build(ctx, j)
	}}
	if err := r.move(ctx, run, repo, policy, q.tip()); err != nil {
		return reply{}, err
	}
	if q.Default != "" {
		a.Tracked, err = r.tracked(ctx, run, repo, policy, q.Asked.Head)
		return a, err
	}
	of := change{q.Asked.Rules, cmp.Or(q.Asked.Before, q.tip()), q.Asked.Head}
	f := r.found[of]
	if f == nil || !slices.Equal(f.files, q.Files) {
		if f, err = r.find(ctx, run, repo, policy, of, q.Files); err != nil {
			return reply{}, err
		}
		r.keep(of, f)
	}
	stale, err := r.stale(run, repo, policy, of, f)
	return f.reply(stale), err
}

// reply is what was found, with what is stale in it now.
func (f *finding) reply(stale []config.Note) reply {
	out := reply{Answers: f.answers, Broken: f.broken, Told: slices.Clip(f.told)}
	for _, n := range stale {
		if n.Level == config.LevelHold {
			out.Broken = cmp.Or(out.Broken, plan.Clean(n.Message))
		} else {
			out.Told = append(out.Told, toldOf(n))
		}
	}
	return out
}

func toldOf(n config.Note) plan.Note {
	return plan.Note{Code: n.Code, Says: plan.Text(plan.Clean(n.Message))}
}

// tracked reads what tracks windowed branches at a commit. What is kept stays where it is.
func (r *reader) tracked(ctx context.Context, run analysis.Run, repo *gitremote.Repo, policy *config.Policy, at plan.SHA) (map[plan.Branch]plan.Build, error) {
	files, changed, err := repo.Merged(r.tip, r.tip, at)
	if err != nil {
		return nil, err
	}
	t, err := run.Again(ctx, r.kept, analysis.Revision{Files: files, Changed: changed}, policy.Clusters)
	if err != nil {
		return nil, err
	}
	tracked, err := t.Tracked(ctx, policy)
	out := map[plan.Branch]plan.Build{}
	for branch, is := range tracked {
		slices.Sort(is.Names)
		out[plan.Branch(branch)] = plan.Build{Broken: plan.Clean(is.Broken), Tracks: is.Names}
	}
	return out, err
}

// keep keeps what was found of a change. Beyond the bound all that was before it goes: it is found again.
func (r *reader) keep(of change, f *finding) {
	if r.drop(of); r.found == nil || r.names+len(f.touches) > maxNames {
		r.found, r.names = map[change]*finding{}, 0
	}
	r.found[of] = f
	r.names += len(f.touches)
}

// drop forgets what was found of a change.
func (r *reader) drop(of change) {
	if f := r.found[of]; f != nil {
		delete(r.found, of)
		r.names -= len(f.touches)
	}
}

// move brings what is kept to a tip. What was found of a change stays where nothing that is known of any file is another thing at the new tip, and what differs
// touches neither the change nor a file that counts as a whole: then the trees before and after the change say there what they said.
func (r *reader) move(ctx context.Context, run analysis.Run, repo *gitremote.Repo, policy *config.Policy, tip plan.SHA) error {
	if r.kept != nil && r.tip == tip {
		return nil
	}
	from := tip
	if r.kept != nil {
		from = r.tip
	}
	files, changed, err := repo.Merged(from, from, tip)
	var t analysis.Tree
	if err == nil {
		t, err = run.Again(ctx, r.kept, analysis.Revision{Files: files, Changed: changed}, policy.Clusters)
	}
	if err != nil {
		r.kept = nil
		return err
	}
	if r.kept == nil || t.Graph != r.kept.Graph && !t.Graph.Unaltered() {
		r.found, r.names = map[change]*finding{}, 0
	}
	for of, f := range r.found {
		if slices.ContainsFunc(changed, func(path string) bool { _, is := slices.BinarySearch(f.touches, path); return is }) {
			r.drop(of)
		}
	}
	r.kept, r.tip = &t, tip
	return nil
}

// find reads what a change means for what is kept.
func (r *reader) find(ctx context.Context, run analysis.Run, repo *gitremote.Repo, policy *config.Policy, of change, files []plan.File) (*finding, error) {
	c, err := Between(repo, files, r.tip, of.before, of.head)
	if err != nil {
		return nil, err
	}
	_, own, err := repo.Merged(of.before, of.before, of.head)
	if err != nil {
		return nil, err
	}
	c.Kept, c.Checks = r.kept, true
	impact, err := run.Compare(ctx, policy, c)
	if err == nil && impact.Rootless {
		err = analysis.ErrRootless
	}
	if err != nil {
		return nil, err
	}
	f := &finding{files: files, broken: plan.Clean(impact.Broken())}
	told := impact.Told()
	for _, n := range told[:min(toldMost, len(told))] {
		f.told = append(f.told, toldOf(n))
	}
	var names []string
	for _, file := range files {
		names = append(names, file.Names()...)
	}
	for _, path := range slices.Concat(names, own) {
		impact.Whole[path] = true
	}
	f.touches = slices.Sorted(maps.Keys(impact.Whole))
	f.answers, err = impact.Answers(names)
	return f, err
}
