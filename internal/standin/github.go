package standin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options are what GitHub's state is made of. All but Memory are needed.
type Options struct {
	Dir    string           // bare repositories live here; the caller removes it after Close
	AppID  int64            // the one App that there is from the start
	Memory bool             // repositories are kept in memory and no git is run, see memory.go: cheap, but nobody can clone
	Now    func() time.Time // the clock
	Notify func(Event)      // hears what the App is to be notified of, in the order of the changes and under the repository's lock
}

// GitHub is the state of one GitHub with one App. It is safe for concurrent use.
type GitHub struct {
	opts Options

	mergeability atomic.Int64 // a Mergeability
	lag          atomic.Int64 // of what reads show, a time.Duration

	mu            sync.Mutex
	url           string
	ids           map[string]int64 // of accounts and Apps, by lower-case name
	apps          map[string]Actor // that reported something, by lower-case slug
	lastID        int64
	repos         []*Repo
	installations []Installation
	teams         map[string]map[string]string // OWNER/TEAM → login → state, in lower case
	closed        bool
	jobs          int       // under way in the background
	idle          sync.Cond // of mu: there are none
}

// New makes a GitHub without repositories.
func New(opts Options) (*GitHub, error) {
	dir, err := filepath.Abs(opts.Dir) // git is run from other directories
	if err != nil {
		return nil, fmt.Errorf("start stand-in: %w", err)
	}
	opts.Dir = dir
	if !opts.Memory {
		if err := errors.Join(os.MkdirAll(dir, 0o750), checkGit(dir)); err != nil {
			return nil, fmt.Errorf("start stand-in: %w", err)
		}
	}
	g := &GitHub{opts: opts, url: "http://github.invalid", ids: map[string]int64{}, lastID: firstID, apps: map[string]Actor{}, teams: map[string]map[string]string{}}
	g.idle.L = &g.mu
	g.meet(g.Bot())
	return g, nil
}

// firstID is where numbers of accounts, repositories and so on start: none of them is mistaken for a pull request's.
const firstID = 1000

// Close waits for what runs in the background; nothing is begun any more. What Options.Dir holds stays.
func (g *GitHub) Close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	_ = g.Settle(context.Background()) // fails only with the context
}

// SetURL sets the URL at which people and programs reach this GitHub.
func (g *GitHub) SetURL(url string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.url = strings.TrimSuffix(url, "/")
}

// URL is what SetURL set, without a slash at its end.
func (g *GitHub) URL() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.url
}

// Now is the time, in UTC.
func (g *GitHub) Now() time.Time { return g.opts.Now().UTC() }

// nextID gives a number that nothing else has.
func (g *GitHub) nextID() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lastID++
	return g.lastID
}

// IDOf gives an account's number, the same each time.
func (g *GitHub) IDOf(login string) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := strings.ToLower(login)
	if g.ids[key] == 0 {
		g.lastID++
		g.ids[key] = g.lastID
	}
	return g.ids[key]
}

// Later runs work that GitHub does in the background; Close waits for it. After Close it does nothing.
func (g *GitHub) Later(work func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	g.jobs++
	go func() {
		defer g.jobDone()
		work()
	}()
}

func (g *GitHub) jobDone() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.jobs--; g.jobs == 0 {
		g.idle.Broadcast()
	}
}

// Settle waits until every job in the background is done and every webhook that is due has been sent.
func (g *GitHub) Settle(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.idle.Broadcast()
	})
	defer stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.jobs > 0 {
		if ctx.Err() != nil {
			return fmt.Errorf("wait for the stand-in to settle: %w", ctx.Err())
		}
		g.idle.Wait()
	}
	return nil
}

// Actor is who does something: a person, or an App's bot when App is set.
type Actor struct {
	Login string // of an App: its slug
	App   int64
}

// Person is the account with that login.
func Person(login string) Actor { return Actor{Login: login} }

// slug is our App's name in addresses, and in its bot's login.
const slug = "sluice"

// Bot is our App's bot.
func (g *GitHub) Bot() Actor { return Actor{Login: slug, App: g.opts.AppID} }

// meet remembers an App by its slug.
func (g *GitHub) meet(a Actor) {
	if a.App == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.apps[strings.ToLower(a.Login)] = a
}

// App finds an App by its slug: ours, and any other that has reported something here.
func (g *GitHub) App(slug string) (a Actor, known bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a, known = g.apps[strings.ToLower(slug)]
	return a, known
}

// RESTLogin is the login as REST and webhooks spell it. GraphQL leaves the suffix out.
func (a Actor) RESTLogin() string {
	if a.App != 0 {
		return a.Login + "[bot]"
	}
	return a.Login
}

// Mail is the address that GitHub gives to accounts that hide theirs.
func (a Actor) Mail() string { return mailOf(a.RESTLogin()) }

// ErrNotFound is the error for a repository, branch, commit or pull request that does not exist.
var ErrNotFound = errors.New("not found")

// CreateRepo makes a repository with one commit of files on its default branch main, in the reach of the App. The App is
// installed on owner if it was not. Owner and name become directories as they are.
func (g *GitHub) CreateRepo(owner, name string, files map[string]string) (*Repo, error) {
	if g.Repo(owner, name) != nil {
		return nil, fmt.Errorf("create repository %s/%s: there is one already", owner, name)
	}
	dir, err := g.initGit(filepath.Join(g.opts.Dir, owner, name+".git"))
	if err != nil {
		return nil, fmt.Errorf("create repository %s/%s: %w", owner, name, err)
	}
	r := newRepo(g, owner, name, dir)
	change := Change{By: owner, Message: "Initial commit", Write: files}
	first, err := dir.apply(change, "", g.Now())
	if err == nil {
		err = dir.move(refMove{"refs/heads/" + DefaultBranch, "", first})
	}
	if err != nil {
		return nil, fmt.Errorf("create repository %s: %w", r, err)
	}
	g.Install(owner)
	g.mu.Lock()
	g.repos = append(g.repos, r)
	g.mu.Unlock()
	if i := g.Installed(owner); i != nil {
		g.opts.Notify(Event{Name: "installation_repositories", Action: "added", To: *i, By: Person(i.Owner), Added: r})
	}
	return r, nil
}

// Repos lists all repositories, the oldest first.
func (g *GitHub) Repos() []*Repo {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.repos)
}

// Repo gives the repository of that name, or nil.
func (g *GitHub) Repo(owner, name string) *Repo {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.repos {
		if strings.EqualFold(r.owner, owner) && strings.EqualFold(r.name, name) {
			return r
		}
	}
	return nil
}
