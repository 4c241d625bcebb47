package standin

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// DefaultBranch is the default branch of every repository that the stand-in makes.
const DefaultBranch = "main"

// Repo is one repository. Its methods play people, and never ask for permission; see package api for that.
type Repo struct {
	g     *GitHub
	git   *Git
	owner string
	name  string
	id    int64

	mu          sync.Mutex
	permissions map[string]string // by lower-case login
	protections []Rules           // their Patterns differ
	pulls       []*Pull           // number 1 first; see edit
	statuses    map[string][]Status
	checks      map[string][]Check
	moves       []Moved
	queue       []Group            // the merge queues of all branches, the lowest entry first
	testing     map[[2]string]bool // trial merges under way
	listed      map[int]string     // by pull request: the head whose files REST still lists; see ListFilesOf
	past        []pastPull         // pull requests as they were, oldest first; see SetLag
	hidden      map[int]bool       // by pull request
	comments    []Comment          // how each became, oldest first
}

func newRepo(g *GitHub, owner, name string, dir *Git) *Repo {
	return &Repo{
		g: g, git: dir, owner: owner, name: name, id: g.nextID(),
		permissions: map[string]string{strings.ToLower(owner): Admin},
		statuses:    map[string][]Status{},
		checks:      map[string][]Check{},
		testing:     map[[2]string]bool{},
		listed:      map[int]string{},
		hidden:      map[int]bool{},
	}
}

// String is OWNER/NAME.
func (r *Repo) String() string { return r.owner + "/" + r.name }

// ID is GitHub's number of the repository.
func (r *Repo) ID() int64 { return r.id }

// Owner is the account that the repository belongs to.
func (r *Repo) Owner() string { return r.owner }

// Name is the repository's, without its owner's.
func (r *Repo) Name() string { return r.name }

// Git is the repository's git, to read.
func (r *Repo) Git() *Git { return r.git }

// Dir is the bare git repository, to look at; only the stand-in writes to it.
func (r *Repo) Dir() string { return r.git.dir }

// CloneURL is where git clones the repository from, once SetURL was called.
func (r *Repo) CloneURL() string { return r.g.URL() + "/" + r.owner + "/" + r.name + ".git" }

// Pull is a pull request. Values that are handed out are copies; their slices must not be written to.
type Pull struct {
	Number    int
	ID        int64
	Title     string
	Body      string
	Author    Actor
	Base      string // branch
	Head      string // branch, in the repository of HeadOwner
	HeadOwner string // another than the repository's: a fork
	HeadSHA   string
	BaseSHA   string // the base's tip when it was closed; else ""
	Draft     bool
	Labels    []string
	Open      bool
	Merged    bool
	MergedBy  Actor
	MergeSHA  string // what the merge put on the base
	CreatedAt time.Time
	UpdatedAt time.Time
	ClosedAt  time.Time
	Reviews   []Review // oldest first
	AutoMerge *AutoMerge
	Lost      []string // heads that forced pushes replaced, oldest first
}

// AutoMerge is a wish that GitHub merges a pull request as soon as its base's rules allow it.
type AutoMerge struct {
	By     Actor
	Method Method
}

// Status is a commit status.
type Status struct {
	ID          int64
	SHA         string
	Context     string
	State       string // error, failure, pending, success
	Description string
	TargetURL   string
	By          Actor
	At          time.Time
}

// Check is a check run of an App.
type Check struct {
	SHA        string
	Name       string
	Status     string // queued, in_progress, completed
	Conclusion string // with completed: success, failure, neutral, skipped, …
	App        Actor
	At         time.Time
}

// Permissions of a person on a repository, in REST's words. Everybody may read whom nobody shut out.
const (
	None     = "none"
	Read     = "read"
	Triage   = "triage"
	Write    = "write"
	maintain = "maintain"
	Admin    = "admin"
)

// permission is what a person may do; the caller holds r.mu.
func (r *Repo) permission(login string) string {
	if p := r.permissions[strings.ToLower(login)]; p != "" {
		return p
	}
	return Read
}

// MustWrite refuses whose permission is less than write: 403.
func (r *Repo) MustWrite(a Actor) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.canWrite(a) {
		return Refuse(http.StatusForbidden, msgMustHave, Write)
	}
	return nil
}

// canWrite reports whether somebody's permission is write or more. An App's bot has none of its own: its installation's permissions decide
// where that matters. The caller holds r.mu.
func (r *Repo) canWrite(a Actor) bool {
	if a.App != 0 {
		return false
	}
	return slices.Contains([]string{Write, maintain, Admin}, r.permission(a.Login))
}

// pull gives a pull request to read or edit; the caller holds r.mu.
func (r *Repo) pull(n int) (*Pull, error) {
	if n < 1 || n > len(r.pulls) {
		return nil, fmt.Errorf("pull request %d: %w", n, ErrNotFound)
	}
	return r.pulls[n-1], nil
}

// headRef is the full name of the ref behind "BRANCH" or "OWNER:BRANCH". A fork's branches stand in the base's repository,
// as GitHub keeps the objects of a network together.
func (r *Repo) headRef(owner, branch string) string {
	if owner == "" || strings.EqualFold(owner, r.owner) {
		return "refs/heads/" + branch
	}
	return "refs/forks/" + strings.ToLower(owner) + "/" + branch
}

// splitHead reads "BRANCH" or "OWNER:BRANCH".
func (r *Repo) splitHead(head string) (owner, branch string) {
	if owner, branch, ok := strings.Cut(head, ":"); ok {
		return owner, branch
	}
	return r.owner, head
}
