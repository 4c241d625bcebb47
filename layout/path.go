package layout

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Bounds of a path. git itself has none; file systems stop far below.
const (
	maxPath     = 4096 // bytes
	maxSegments = 256

	// maxWork bounds what matching one path against all rules may cost, in nodes entered, matchers asked and their steps: about a
	// millisecond. A thousand rules such as `**/*name*/**` need a fiftieth of it for each directory that a path is in; without `**`
	// before a wildcard it is hardly ever reached.
	maxWork = 150_000
)

// work is what is left of maxWork. Where it is used up the answer is not known.
type work int

// spent takes n from it and reports whether it is used up.
func (w *work) spent(n int) bool {
	*w -= work(n)
	return *w < 0
}

// affords is spent the other way round, and spends nothing that is not there: it is for work that is not begun then.
func (w *work) affords(n int) bool {
	if int(*w) < n {
		*w = -1
		return false
	}
	return !w.spent(n)
}

// dirs is a set of the directories that protect what is in them: a rule does not mean it unless it names them.
type dirs uint8

const (
	belowGitHub  dirs = 1 << iota // .github/ at the root: GitHub's own, and the file that sluice reads
	inFluxSystem                  // any flux-system/: what flux bootstrap writes
)

const (
	gitHubDir = ".github"
	fluxDir   = "flux-system"
)

// protectedDir is the set that a directory of this name is in.
func protectedDir(name string) dirs {
	switch name {
	case gitHubDir:
		return belowGitHub
	case fluxDir:
		return inFluxSystem
	}
	return 0
}

// protected is the protected directories that a path is in, or that its last name would be: a submodule or a symbolic link cannot be
// told from a file.
func protected(segments []string) dirs {
	var out dirs
	for i, s := range segments {
		if d := protectedDir(s); d == inFluxSystem || i == 0 {
			out |= d
		}
	}
	return out
}

// protectedFold is protected, whatever the case of the names.
func protectedFold(segments []string) dirs {
	var out dirs
	for i, s := range segments {
		if i == 0 && strings.EqualFold(s, gitHubDir) {
			out |= belowGitHub
		}
		if strings.EqualFold(s, fluxDir) {
			out |= inFluxSystem
		}
	}
	return out
}

// unprintable reports whether a character must not stand in a glob: controls, and what GitHub's API puts in place of bytes
// that are no UTF-8.
func unprintable(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }

// scratch is what one Classify works on. It is reused, so that classifying a path allocates next to nothing.
type scratch struct {
	path     string
	segments []string
	folded   []string
	needs    dirs // the protected directories that it is in
	work     work
	odd      bool // control characters, or bytes that are no UTF-8
	active   []*node
	next     []*node
	seen     []uint32 // by node: the step in which it was last added
	step     uint32
	out      []uint32 // by rule: the count of the last path that was taken out of it
	count    uint32
}

// newScratches keeps scratches for reuse. It holds no state of the layout.
func newScratches(nodes, rules int) *sync.Pool {
	return &sync.Pool{New: func() any { return &scratch{seen: make([]uint32, nodes), out: make([]uint32, rules)} }}
}

// nextPath begins a path: it has been taken out of no rule. When the count wraps around, what is left of old paths is cleared.
func (s *scratch) nextPath() {
	if s.count++; s.count == 0 {
		clear(s.out)
		s.count = 1
	}
}

// read cuts a path into segments. It is false for what git cannot hold: an empty segment, "." or "..", a NUL, a slash at
// either end; and for what is beyond the bounds.
func (s *scratch) read(path string) bool {
	s.path, s.segments, s.work = path, s.segments[:0], maxWork
	if len(path) > maxPath || strings.IndexByte(path, 0) >= 0 {
		return false
	}
	for rest, more := path, true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		if segment == "" || segment == "." || segment == ".." || len(s.segments) == maxSegments {
			return false
		}
		s.segments = append(s.segments, segment)
	}
	s.needs = protected(s.segments)
	s.odd = odd(path)
	return true
}

// odd reports whether a path holds controls or anything that is not UTF-8, or may have held it before GitHub's API replaced it.
func odd(path string) bool {
	for i := 0; i < len(path); i++ {
		if c := path[i]; c < 0x20 || c >= 0x7f {
			return strings.ContainsFunc(path, unprintable)
		}
	}
	return false
}

// fold is the segments in lower case.
func (s *scratch) fold() []string {
	s.folded = s.folded[:0]
	for _, segment := range s.segments {
		s.folded = append(s.folded, strings.ToLower(segment))
	}
	return s.folded
}
