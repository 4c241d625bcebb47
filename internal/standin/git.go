package standin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/memory"
)

// Git is one bare repository. Git gets validated object names and full ref names, or on
// standard input, so that no value can become an option.
type Git struct {
	dir string

	memory *memory.Storage // without git: see memory.go
	mu     sync.Mutex
	store  store // go-git's are not safe for concurrent use

	commits Memo[string, *Commit]
	bases   Memo[[2]string, string]
	diffs   Memo[[2]string, []FileChange]
	merges  Memo[[2]string, mergeResult]
	lines   Memo[[2]string, []*Commit]
	reach   Memo[string, map[string]bool]
	trees   Memo[string, []TreeEntry]
	logs    Memo[historyKey, []string]
}

// Bounds on what is kept in memory of immutable objects, in entries; a full memo is emptied.
const (
	maxCommits = 200_000
	maxBases   = 100_000
	maxDiffs   = 5_000
	maxMerges  = 10_000
	maxLines   = 10_000
	maxTrees   = 50_000
	maxReach   = 64 // each holds a whole history
	maxLogs    = 64 // likewise

	cachedObjects = 8 * cache.MiByte // of one repository, as git has them
)

// gitTimeout bounds every run of git; a repository of the demo needs milliseconds.
const gitTimeout = time.Minute

var fullSHA = regexp.MustCompile(`^[0-9a-f]{40}$`)

// ZeroSHA stands for no commit.
const ZeroSHA = "0000000000000000000000000000000000000000"

// The first git whose merge-tree can write a tree: https://git-scm.com/docs/git-merge-tree
const leastMajor, leastMinor = 2, 38

// checkGit reports whether there is a git that can do what the stand-in needs.
func checkGit(dir string) error {
	out, err := (&Git{dir: dir}).run("version")
	if err != nil {
		return err
	}
	return newEnough(string(out))
}

func newEnough(version string) error {
	var major, minor int
	if _, err := fmt.Sscanf(version, "git version %d.%d", &major, &minor); err != nil {
		return fmt.Errorf("git version: cannot read %q", version)
	}
	if major < leastMajor || major == leastMajor && minor < leastMinor {
		return fmt.Errorf("git %d.%d is too old: %d.%d or newer is needed", major, minor, leastMajor, leastMinor)
	}
	return nil
}

// initGit makes a bare repository in dir with the default branch main, or one in memory.
func (g *GitHub) initGit(dir string) (*Git, error) {
	d := &Git{dir: dir}
	d.commits.Max, d.bases.Max, d.diffs.Max, d.merges.Max = maxCommits, maxBases, maxDiffs, maxMerges
	d.lines.Max, d.reach.Max, d.trees.Max, d.logs.Max = maxLines, maxReach, maxTrees, maxLogs
	if g.opts.Memory {
		d.memory = memory.NewStorage()
		d.store = d.memory
		return d, nil
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	if _, err := d.run("init", "--quiet", "--bare", "--initial-branch="+DefaultBranch, dir); err != nil {
		return nil, err
	}
	if err := d.configure(); err != nil {
		return nil, err
	}
	d.store = filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRU(cachedObjects))
	return d, nil
}

// settings keep git from tidying up behind the stand-in's back, and from keeping packs: go-git looks for those once. They stand in the
// repository, for whoever runs git in it.
const settings = "[gc]\n\tauto = 0\n[receive]\n\tautogc = false\n[transfer]\n\tunpackLimit = 1000000000\n[core]\n\tlogAllRefUpdates = false\n"

func (d *Git) configure() error {
	f, err := os.OpenFile(filepath.Join(d.dir, "config"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(settings)
	return errors.Join(err, f.Close())
}

// gitError is a run of git that failed.
type gitError struct {
	verb string
	code int // the exit code; -1 if it was killed
	text string
}

func (e *gitError) Error() string {
	return fmt.Sprintf("git %s: exit %d: %s", e.verb, e.code, strings.TrimSpace(e.text))
}

// run runs git and gives its standard output.
func (d *Git) run(args ...string) ([]byte, error) { return d.runIn(nil, args...) }

// runIn runs git with an input.
func (d *Git) runIn(in io.Reader, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), gitTimeout)
	defer cancel()
	if d.memory != nil {
		return nil, errors.New("a repository in memory is not git's")
	}
	cmd := d.Command(ctx, args...)
	cmd.Stdin = in
	var out, text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &text
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return out.Bytes(), &gitError{verb: args[0], code: exit.ExitCode(), text: text.String()}
		}
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out.Bytes(), nil
}

// Command is git in this repository, isolated from the settings of the user who runs the stand-in.
func (d *Git) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...) // the arguments are the caller's literals and validated names
	cmd.Dir = d.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + d.dir,
		"GIT_DIR=" + d.dir,
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_TERMINAL_PROMPT=0",
		"LC_ALL=C",
		"TZ=UTC",
	}
	return cmd
}

// maxRefName is how long a full ref name may be, in bytes.
const maxRefName = 255

// validRef reports whether a full ref name is one that git would take; git check-ref-format says what the rules are. go-git's own are
// narrower: it knows no branch "-x", and no part of a name that is "@".
func validRef(ref string) bool {
	if !strings.HasPrefix(ref, "refs/") || strings.HasSuffix(ref, ".") || len(ref) > maxRefName {
		return false
	}
	if strings.Contains(ref, "..") || strings.Contains(ref, "@{") || strings.ContainsAny(ref, " ~^:?*[\\\x7f") {
		return false
	}
	if strings.ContainsFunc(ref, func(c rune) bool { return c < ' ' }) {
		return false
	}
	for part := range strings.SplitSeq(ref, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}

// Tip is what a full ref name points to; "" if it does not exist.
func (d *Git) Tip(ref string) (string, error) {
	if !validRef(ref) {
		return "", nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	found, err := d.store.Reference(plumbing.ReferenceName(ref))
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("ref %s: %w", ref, err)
	}
	return found.Hash().String(), nil
}

// errMoved is the error for a ref that is not where the caller saw it.
var errMoved = errors.New("ref moved")

// refMove sets a ref from one value to another; "" is none.
type refMove struct{ name, from, to string }

// move sets refs that still are where the caller saw them: all, or none of them.
func (d *Git) move(moves ...refMove) error {
	var script strings.Builder
	for _, m := range moves {
		if !validRef(m.name) || (m.to != "" && !fullSHA.MatchString(m.to)) || (m.from != "" && !fullSHA.MatchString(m.from)) {
			return fmt.Errorf("move %q to %q: not a valid name", m.name, m.to)
		}
		fmt.Fprintf(&script, "update %s\x00%s\x00%s\x00", m.name, orZero(m.to), orZero(m.from))
	}
	if d.memory != nil {
		return d.moveInMemory(moves)
	}
	_, err := d.runIn(strings.NewReader(script.String()), "update-ref", "-z", "--stdin")
	var failed *gitError
	if errors.As(err, &failed) && strings.Contains(failed.text, "cannot lock ref") {
		return fmt.Errorf("%w: %s", errMoved, strings.TrimSpace(failed.text))
	}
	return err
}

// Ref is a branch and where it points.
type Ref struct{ Name, SHA string }

// Branches lists all branches, by name.
func (d *Git) Branches() ([]Ref, error) {
	if d.memory != nil {
		return d.listInMemory(), nil
	}
	out, err := d.run("for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads/")
	if err != nil {
		return nil, err
	}
	var list []Ref
	for line := range strings.Lines(string(out)) {
		if name, sha, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			list = append(list, Ref{name, sha})
		}
	}
	return list, nil
}

// shaOf is "" for a hash of zeros, which stands for no commit.
func shaOf(h plumbing.Hash) string {
	if h.IsZero() {
		return ""
	}
	return h.String()
}

func orZero(sha string) string { return cmp.Or(sha, ZeroSHA) }
