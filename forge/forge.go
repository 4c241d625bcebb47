package forge

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// Options is what a Forge needs to know. AppID and PrivateKey are required.
type Options struct {
	URL        string // REST base; "": github.com's. An Enterprise Server's is https://HOST/api/v3
	GraphQLURL string // "": derived from URL as on GitHub
	AppID      int64
	PrivateKey []byte            // PEM
	Pace       int               // points a minute that an installation may spend on REST; 0: off
	Resync     time.Duration     // rules of bases are remembered for twelve of these unless asked for anew; 0: an hour
	Transport  http.RoundTripper // nil: one of our own, with time-outs
	Lists      FileLists         // nil: old names of renames are remembered in memory only
	Log        *slog.Logger      // nil: nothing is logged
	Now        func() time.Time  // nil: time.Now. Paces, limits and skew are reckoned by it
}

// FileLists remembers the whole file list of a pull request, with the old names of renames, beyond the life of a process.
type FileLists interface {
	// List gives the list that was kept for the diff from merge base to head; false if there is none.
	List(ctx context.Context, repo plan.Repo, base, head plan.SHA) ([]plan.File, bool, error)
	// KeepList keeps a complete list.
	KeepList(ctx context.Context, repo plan.Repo, base, head plan.SHA, files []plan.File) error
}

// Ask is what a look should show beside the open pull requests.
type Ask struct {
	At     time.Time    // the snapshot's instant; zero: just before the first read
	Groups []plan.Group // merge groups that wait for our answer: Base, BaseSHA and Head are read
	Rules  bool         // read the rules of every base anew
	Pulls  []int        // only these pull requests, at most maxPage; nil: all open ones
}

// Forge speaks to one GitHub as one App. It is safe for concurrent use.
type Forge struct{}

var errUnbuilt = errors.New("forge: not built")

// New makes a Forge. It sends nothing.
func New(o Options) (*Forge, error) { return nil, errUnbuilt }

// Self is our App's bot, asked of GitHub once.
func (f *Forge) Self(ctx context.Context) (plan.Login, error) { return "", errUnbuilt }

// Repositories lists the repositories of every installation that is not suspended. With an error it gives those it
// could read.
func (f *Forge) Repositories(ctx context.Context) ([]plan.Repo, error) { return nil, errUnbuilt }

// Repository finds the installation that covers OWNER/NAME.
func (f *Forge) Repository(ctx context.Context, owner, name string) (plan.Repo, error) {
	return plan.Repo{}, errUnbuilt
}

// Observe looks at a repository. The snapshot holds everything but what the store remembers.
func (f *Forge) Observe(ctx context.Context, repo plan.Repo, ask Ask) (plan.Snapshot, error) {
	return plan.Snapshot{}, errUnbuilt
}

// SetStatus sets a commit status: s's Context, State and Description on sha.
func (f *Forge) SetStatus(ctx context.Context, repo plan.Repo, sha plan.SHA, s plan.Status) error {
	return errUnbuilt
}

// Merge merges m.Pull at m.SHA with m.Method, in one try, and gives the merge's commit.
func (f *Forge) Merge(ctx context.Context, repo plan.Repo, m plan.Merge) (plan.SHA, error) {
	return "", errUnbuilt
}

// Update merges the base into u.Pull's head if that is still u.SHA.
func (f *Forge) Update(ctx context.Context, repo plan.Repo, u plan.Update) error { return errUnbuilt }

// DeleteBranch deletes a branch that still stands at a SHA.
func (f *Forge) DeleteBranch(ctx context.Context, repo plan.Repo, b plan.Branch, at plan.SHA) error {
	return errUnbuilt
}

// HourlyBudget is how many requests GitHub grants an installation in an hour, by its last word; 5000 before that.
func (f *Forge) HourlyBudget(installation int64) int { return 0 }
