package revisions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/gitremote"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// Options is what a Keeper needs. Dir, Remote and Command are required.
type Options struct {
	Dir    string // where mirrors are kept, private to this process
	Most   int64  // bytes of one mirror on disk
	All    int64  // bytes of all of them: what was not used for longest goes
	Remote func(context.Context, plan.Repo) (Remote, error)
	// Command starts a child process; see [Child].
	Command []string
	// Found is told that something is known of changes that was not before.
	Found func(plan.Repo, []plan.Mention)
	Log   *slog.Logger
}

// Remote is where git's protocol reaches a repository.
type Remote struct {
	URL   string // as people see the repository; with .git at its end as git fetches it
	Token string // secret
}

// The times of an answer.
const (
	soon      = 10 * time.Second // an answer that takes no longer is not worth a status
	retryMost = time.Hour        // between two tries of what could not be read
	retry     = 30 * time.Second // after the first; it doubles
	unused    = 30 * time.Minute // an answer that nobody asked for is forgotten
	turn      = 3 * time.Second  // of a repository, in which further answers cost less: its tree is read
	fetchMost = 2 * time.Minute  // of a fetch
	await     = 2 * time.Second  // for answers on which something rests that stands
	tell      = time.Second      // between two times that a repository's news is told: each costs a look
)

// How many bytes of answers are kept of one repository, about: what was not used for longest goes, and is asked for again.
const (
	maxBytes   = 16 << 20
	leastBytes = 1 << 10 // of an answer, whatever it is
	pathBytes  = 200     // of a path in one, beside texts
)

// Keeper answers, for the service, what changes mean by references. It is for any number of goroutines.
type Keeper struct {
	o     Options
	wake  chan struct{}
	child *child // that answers; nil: none. Whoever runs the Keeper has it, as the next
	// renewed is when mirrors were last fetched anew since they could not be read.
	renewed map[string]time.Time

	mu       sync.Mutex
	answered chan struct{} // closed by the next answer
	repos    map[plan.RepoKey]*repository
	// Start-time fair queueing, in turns of some seconds: next is who was served the least.
	turns  []*repository // that wait for an answer, each once
	last   *repository   // whose turn it is
	ends   time.Duration // what last was served when its turn is over
	served time.Duration // what it was when its turn began, from which whoever begins to wait counts: who asked for nothing saves nothing
	began  time.Time     // the last question
}

// repository is what is known of one.
type repository struct {
	repo    plan.Repo
	branch  plan.Branch // the default branch
	answers map[plan.Asked]*answer
	waiting []*answer      // in the order in which they were asked for, the slow ones last
	slow    map[int]bool   // pull requests whose last answer took longer than a turn
	news    []plan.Mention // of which something is known, and nobody was told
	told    time.Time      // when somebody was
	bytes   int            // of answers
	served  time.Duration  // the time that its answers took, or should have
}

// answer is what is known of one change.
type answer struct {
	question
	about []plan.Mention
	found *reply    // nil: there is none
	err   error     // of the last try; nil also once it is to be tried again
	says  string    // err, without where things stand on this machine
	tries int       // that failed
	since time.Time // when it was asked for; after a failure, when it is tried again
	used  time.Time
	bytes int // 0: it waits
}

// NewKeeper makes a Keeper; Run answers.
func NewKeeper(o Options) *Keeper {
	return &Keeper{o: o, wake: make(chan struct{}, 1), answered: make(chan struct{}), renewed: map[string]time.Time{}, repos: map[plan.RepoKey]*repository{}}
}

// Fill gives each pull request of a snapshot what is known of its references, where the base's rules ask for that, and asks for what is not. It never waits:
// of what is not known yet the pull request is unread.
func (k *Keeper) Fill(s *plan.Snapshot, now time.Time) {
	if len(k.o.Command) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range s.Pulls {
		p := &s.Pulls[i]
		base := s.Bases[p.Base]
		switch {
		case !asks(base, p.Files) || !p.Complete || p.Unread.Is():
		case p.MergeBase == "":
			p.Unread = plan.Unread{Reason: "its merge base is not known"}
		default:
			q := question{Asked: p.Asked(&base), Files: p.Files}
			p.References, p.Unread = k.references(s, q, plan.Mention{Pull: p.Number}, now)
		}
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		files := slices.Concat(g.Files, g.Net)
		if base := s.Bases[g.Base]; asks(base, files) && g.Complete && !g.Unread.Is() {
			q := question{Asked: g.Asked(&base), Files: files}
			g.References, g.Unread = k.references(s, q, plan.Mention{SHA: g.Head}, now)
		}
	}
	k.fillSources(s, now)
	k.forget(s.Repo, now)
}

// Answered is a snapshot with all that Fill would give it in time.
func (k *Keeper) Answered(ctx context.Context, s plan.Snapshot, now time.Time) plan.Snapshot {
	ask := s
	ask.Pulls, ask.Groups = slices.Clone(s.Pulls), slices.Clone(s.Groups)
	k.Fill(&ask, now)
	defer k.rest()
	for r, a := k.next(now); a != nil; r, a = k.next(now) {
		found, err := k.look(ctx, r, a)
		k.done(r, a, found, err, now)
	}
	k.Fill(&s, now)
	return s
}

// Await asks what Fill will ask, and waits a moment for the answers if a success of ours stands on a pull request: each move of the base would take it back
// and give it again, and a commit takes a thousand statuses.
func (k *Keeper) Await(ctx context.Context, s plan.Snapshot, now time.Time) {
	green := func(p plan.Pull) bool { l, ok := plan.Latest(p.Ours); return ok && l.State == plan.Success }
	if !slices.ContainsFunc(s.Pulls, green) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, await)
	defer cancel()
	for {
		ask := s
		ask.Pulls, ask.Groups = slices.Clone(s.Pulls), slices.Clone(s.Groups)
		answered := k.hears()
		k.Fill(&ask, now)
		waits := false
		for i, p := range ask.Pulls {
			waits = waits || green(p) && p.Unread.Passing && !s.Pulls[i].Unread.Is()
		}
		if !waits {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-answered:
		}
	}
}

// hears is closed when the next answer is there, or the next try has failed.
func (k *Keeper) hears() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.answered
}

// asks reports whether the rules of a base ask what refers to some files. Of the rules file itself nothing is asked: it mends what keeps all else from being read.
func asks(b plan.Base, files []plan.File) bool {
	return !b.Unread.Is() && b.Policy != nil && b.Policy.Flux && b.Tip != "" &&
		slices.ContainsFunc(files, func(f plan.File) bool {
			return slices.ContainsFunc(f.Names(), func(n string) bool { return n != config.File })
		})
}

// fillSources gives each source of windowed branches what is known of how its newest commits build, as far back as a branch may go or stands, where the rules ask
// for that.
func (k *Keeper) fillSources(s *plan.Snapshot, now time.Time) {
	base := s.Bases[s.Default]
	if base.Unread.Is() || base.Policy == nil || !base.Policy.Flux || base.Tip == "" {
		return
	}
	from, back := map[plan.Branch]plan.Branch{}, map[plan.Branch]int{}
	for _, b := range base.Policy.Branches {
		from[plan.Branch(b.Name)] = plan.Branch(b.From)
	}
	for _, b := range s.Branches {
		n := b.Reach
		switch b.Relation {
		case plan.Absent:
			n = plan.BuiltBack
		case plan.Level:
			n = 1 // where it stands
		case plan.RelationUnknown, plan.Behind, plan.Beyond, plan.Diverged:
		}
		back[from[b.Name]] = max(back[from[b.Name]], n)
	}
	s.Sources = maps.Clone(s.Sources)
	for name, src := range s.Sources {
		src.Builds = map[plan.SHA]plan.Builds{}
		for _, c := range src.Line[:min(len(src.Line), back[name], plan.BuiltBack)] {
			q := question{Asked: plan.Asked{Rules: base.File, Before: c.SHA, Head: c.SHA}, Default: base.Tip}
			found, unread := k.fill(s, q, plan.Mention{SHA: c.SHA}, now)
			if found != nil {
				src.Builds[c.SHA] = plan.Builds{Of: found.Tracked}
			} else {
				src.Builds[c.SHA] = plan.Builds{Unread: unread}
			}
		}
		s.Sources[name] = src
	}
}

// references is what refers to the files of a change, or why that is not known.
func (k *Keeper) references(s *plan.Snapshot, q question, about plan.Mention, now time.Time) (*plan.References, plan.Unread) {
	found, unread := k.fill(s, q, about, now)
	if found == nil {
		return nil, unread
	}
	return &plan.References{Asked: q.Asked, Answers: found.Answers, Broken: found.Broken, Told: found.Told}, unread
}

// fill is what is known of a change or commit, or why nothing is.
func (k *Keeper) fill(s *plan.Snapshot, q question, about plan.Mention, now time.Time) (*reply, plan.Unread) {
	a := k.answer(s, q, about, now)
	if a.found != nil {
		return a.found, plan.Unread{}
	}
	if again := a.again(); again.After(now) {
		s.Again = plan.Soonest(s.Again, again)
	}
	return nil, a.unread(about, now)
}

// answer is what is known of a change, which is asked for if it is not known, or worth another try.
func (k *Keeper) answer(s *plan.Snapshot, q question, about plan.Mention, now time.Time) *answer {
	r := k.repos[s.Repo.Key()]
	if r == nil {
		r = &repository{answers: map[plan.Asked]*answer{}, slow: map[int]bool{}}
		k.repos[s.Repo.Key()] = r
	}
	if r.repo.String() != s.Repo.String() { // by its name it is known which sources are it
		r.answers, r.bytes = map[plan.Asked]*answer{}, 0
	}
	r.repo, r.branch = s.Repo, s.Default
	a := r.answers[q.Asked]
	if a == nil {
		r.supersede(about)
		q.Files = slices.Clone(q.Files)
		a = &answer{question: q, since: now, about: []plan.Mention{about}}
		r.answers[q.Asked] = a
		k.line(r, a)
	}
	a.used = now
	if !slices.Contains(a.about, about) {
		a.about = append(a.about, about)
	}
	if a.err != nil && !now.Before(a.since) {
		r.bytes, a.bytes = r.bytes-a.bytes, 0
		a.err, a.since, a.Files = nil, now, slices.Clone(q.Files)
		k.line(r, a)
	}
	return a
}

// supersede drops what waits and is about nothing but a change that is in another state by now.
func (r *repository) supersede(about plan.Mention) {
	r.waiting = slices.DeleteFunc(r.waiting, func(a *answer) bool {
		gone := len(a.about) == 1 && a.about[0] == about
		if gone {
			delete(r.answers, a.Asked)
		}
		return gone
	})
}

// line puts a question in its turn. Who opens pull requests that take a minute delays these.
func (k *Keeper) line(r *repository, a *answer) {
	at := len(r.waiting)
	for at > 0 && !r.isSlow(a) && r.isSlow(r.waiting[at-1]) {
		at--
	}
	r.waiting = slices.Insert(r.waiting, at, a)
	if !slices.Contains(k.turns, r) {
		k.turns, r.served = append(k.turns, r), max(r.served, k.served)
	}
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// isSlow reports whether the last answer about any of the pull requests took long.
func (r *repository) isSlow(a *answer) bool {
	return slices.ContainsFunc(a.about, func(m plan.Mention) bool { return r.slow[m.Pull] })
}

// unread says that there is no answer about a change, and why. A merge group waits however long it is read: a failure would take it out of its queue.
func (a *answer) unread(about plan.Mention, now time.Time) plan.Unread {
	recent, builds := now.Sub(a.since) < soon, a.Default != ""
	switch {
	case builds && a.err != nil:
		return plan.Unread{Reason: a.says}
	case builds:
		return plan.Unread{Reason: "it is being read", Passing: recent}
	case a.err != nil:
		return plan.Unread{Reason: "cannot read what refers to its files: " + a.says}
	}
	return plan.Unread{Reason: "what refers to its files is being read", Passing: about.Pull == 0 || recent}
}

// again is when the answer is worth another look.
func (a *answer) again() time.Time {
	if a.err != nil {
		return a.since
	}
	return a.since.Add(soon)
}

// forget drops the answers of a repository that nobody asked for in a while.
func (k *Keeper) forget(repo plan.Repo, now time.Time) {
	if r := k.repos[repo.Key()]; r != nil {
		for asked, a := range r.answers {
			if now.Sub(a.used) > unused && !slices.Contains(r.waiting, a) {
				r.bytes -= a.bytes
				delete(r.answers, asked)
			}
		}
	}
}

// Run answers until a context ends: one question at a time, repositories in turn, each for as long as the others.
func (k *Keeper) Run(ctx context.Context) {
	defer k.rest()
	for ctx.Err() == nil {
		r, a := k.next(time.Now())
		if a == nil {
			select {
			case <-ctx.Done():
			case <-k.wake:
			case <-time.After(idle):
				k.rest()
			}
			continue
		}
		found, err := k.look(ctx, r, a)
		if ctx.Err() != nil {
			return
		}
		if news := k.done(r, a, found, err, time.Now()); len(news) > 0 {
			k.o.Found(r.repo, news)
		}
	}
}

// next takes the question whose turn it is; nil: none waits. What it gives is a copy of what is known of its repository.
func (k *Keeper) next(now time.Time) (repository, *answer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.turns = slices.DeleteFunc(k.turns, func(r *repository) bool { return len(r.waiting) == 0 })
	if len(k.turns) == 0 {
		return repository{}, nil
	}
	if k.last == nil || len(k.last.waiting) == 0 || k.last.served >= k.ends {
		k.last = slices.MinFunc(k.turns, func(a, b *repository) int { return cmp.Compare(a.served, b.served) })
		k.served, k.ends = k.last.served, k.last.served+turn
	}
	r := k.last
	a := r.waiting[0]
	r.waiting, k.began = r.waiting[1:], now
	return repository{repo: r.repo, branch: r.branch}, a
}

// done notes what became of a question, and gives what is to be told now.
func (k *Keeper) done(of repository, a *answer, found *reply, err error, now time.Time) []plan.Mention {
	k.mu.Lock()
	defer k.mu.Unlock()
	defer func(was chan struct{}) { close(was) }(k.answered)
	k.answered = make(chan struct{})
	a.found, a.err, a.since = found, err, now
	if err != nil {
		k.o.Log.Warn("cannot read what refers to the files of a change", "repository", of.repo.String(), "sha", a.Asked.Head, "error", err)
		a.since = now.Add(min(retry<<min(a.tries, 20), retryMost))
		a.tries++
		a.says = strings.ReplaceAll(err.Error(), k.o.Dir, "trees.directory")
	}
	r := k.repos[of.repo.Key()]
	if r == nil {
		return nil // it is gone
	}
	r.served += now.Sub(k.began)
	for _, m := range a.about {
		if delete(r.slow, m.Pull); m.Pull != 0 && now.Sub(k.began) > turn {
			r.slow[m.Pull] = true
		}
	}
	if r.answers[a.Asked] != a {
		return nil // or known by another name
	}
	r.keep(a)
	r.news = append(r.news, a.about...)
	if len(r.waiting) > 0 && now.Sub(r.told) < tell {
		return nil
	}
	news := r.news
	r.news, r.told = nil, now
	return news
}

// keep counts an answer, and drops others beyond the bound. Its files were read; before another try there are others.
func (r *repository) keep(a *answer) {
	a.Files, a.bytes = nil, leastBytes+len(a.says)
	if a.found != nil {
		a.bytes += sizeOfAnswers(a.found)
	}
	for r.bytes += a.bytes; r.bytes > maxBytes; {
		oldest := a
		for _, other := range r.answers {
			if other.bytes > 0 && other != a && (oldest == a || other.used.Before(oldest.used)) {
				oldest = other
			}
		}
		if oldest == a {
			return
		}
		r.bytes -= oldest.bytes
		delete(r.answers, oldest.Asked)
	}
}

// sizeOfAnswers is how many bytes what was found takes, about.
func sizeOfAnswers(found *reply) int {
	n := len(found.Broken)
	for _, told := range found.Told {
		n += pathBytes + len(told.Says)
	}
	for branch, b := range found.Tracked {
		n += pathBytes + len(branch) + len(b.Broken)
		for _, name := range b.Tracks {
			n += 16 + len(name) // a string
		}
	}
	for path, one := range found.Answers {
		n += pathBytes + len(path)
		for _, c := range []*layout.Class{one.Reads, one.Holds} {
			if c != nil {
				n += len(c.Rule)
				for _, release := range c.Releases {
					n += len(release)
				}
			}
		}
	}
	return n
}

// look fetches what a question needs, and has a child process answer it. A panic is an error of this repository alone.
func (k *Keeper) look(ctx context.Context, r repository, a *answer) (found *reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			found, err = nil, fmt.Errorf("panic: %v", p)
			k.o.Log.Error("panic", "repository", r.repo.String(), "panic", p, "stack", string(debug.Stack()))
		}
	}()
	remote, err := k.remote(ctx, r.repo)
	if err != nil {
		return nil, err
	}
	defer func() {
		if k.isGone(r.repo) { // meanwhile: what was fetched since goes, too
			err = errors.Join(err, k.Forget(r.repo))
		}
	}()
	q := a.question
	q.place = place{Mirror: k.mirror(r.repo), Builds: filepath.Join(k.o.Dir, "builds"), URL: remote.URL, Branch: string(r.branch)}
	for {
		if err := k.fetch(ctx, remote, q.Mirror, q.commits()); err != nil {
			return nil, err
		}
		found, err := k.ask(ctx, q)
		now, broken := time.Now(), (*unreadableError)(nil)
		if !errors.As(err, &broken) || now.Sub(k.renewed[q.Mirror]) < retryMost {
			return found, err
		}
		if err := os.RemoveAll(q.Mirror); err != nil {
			return nil, err
		}
		k.renewed[q.Mirror] = now // as often as a stranger makes a tree that cannot be read, the whole does not come again
	}
}

// remote is where a repository is reached.
func (k *Keeper) remote(ctx context.Context, repo plan.Repo) (Remote, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchMost)
	defer cancel()
	return k.o.Remote(ctx, repo)
}

// mirror is the directory of a repository's mirror.
func (k *Keeper) mirror(repo plan.Repo) string {
	return filepath.Join(k.o.Dir, strconv.FormatInt(repo.ID, 10)+".git")
}

// fetch brings the mirror up to date.
func (k *Keeper) fetch(ctx context.Context, from Remote, mirror string, commits []plan.SHA) error {
	ctx, cancel := context.WithTimeout(ctx, fetchMost)
	defer cancel()
	if err := os.MkdirAll(k.o.Dir, 0o700); err != nil {
		return err
	}
	m := meter.New(ctx, meter.Limits{meter.Time: int64(fetchMost)})
	defer m.Close()
	remote, err := gitremote.Dial(gitremote.Options{URL: from.URL + ".git", Token: from.Token, Meter: m})
	if err != nil {
		return err
	}
	err = remote.Mirror(ctx, mirror, k.o.Most, commits...)
	if err = errors.Join(err, remote.Close()); err != nil {
		return err
	}
	return k.makeRoom(mirror, time.Now())
}

// makeRoom notes that a mirror is used, and removes others that were not used for longest until all take no more than they may.
func (k *Keeper) makeRoom(used string, now time.Time) error {
	if err := os.Chtimes(used, now, now); err != nil {
		return err
	}
	entries, err := os.ReadDir(k.o.Dir)
	if err != nil {
		return err
	}
	type kept struct {
		path  string
		bytes int64
		used  time.Time
	}
	var all []kept
	total := int64(0)
	for _, e := range entries {
		m := kept{path: filepath.Join(k.o.Dir, e.Name())}
		info, err := e.Info()
		if err != nil || !strings.HasSuffix(e.Name(), ".git") {
			continue // it went meanwhile, or is no mirror
		}
		if m.bytes, err = sizeOf(m.path); err != nil {
			return err
		}
		m.used = info.ModTime()
		all, total = append(all, m), total+m.bytes
	}
	slices.SortFunc(all, func(a, b kept) int { return a.used.Compare(b.used) })
	for _, m := range all {
		if total <= k.o.All || m.path == used {
			continue
		}
		if err := os.RemoveAll(m.path); err != nil {
			return err
		}
		total -= m.bytes
	}
	return nil
}

// sizeOf is how many bytes the files below a directory have.
func sizeOf(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				n += info.Size()
			}
		}
		return err
	})
	return n, err
}

// isGone reports whether nothing was asked of a repository since it was forgotten.
func (k *Keeper) isGone(repo plan.Repo) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.repos[repo.Key()] == nil
}

// Forget removes what is kept of a repository that is no longer ours.
func (k *Keeper) Forget(repo plan.Repo) error {
	k.mu.Lock()
	if r := k.repos[repo.Key()]; r != nil {
		r.waiting = nil
	}
	delete(k.repos, repo.Key())
	k.mu.Unlock()
	if err := os.RemoveAll(k.mirror(repo)); err != nil {
		return fmt.Errorf("forget the mirror of %s: %w", repo, err)
	}
	return nil
}
