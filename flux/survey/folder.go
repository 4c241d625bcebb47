package survey

import (
	"slices"
	"strings"

	"github.com/sluicegate/sluice/layout"
)

// folder is a directory with files that need something.
type folder struct {
	below map[string]*folder
	files map[string]needs
	same  bool // everything below needs the same
	needs needs
	known bool
}

// add adds a path with what it needs, of which the run is charged.
func (f *folder) add(s *survey, path string, n needs) {
	for rest := path; !s.spent(path, 0, 1); {
		if !f.known {
			f.known, f.same, f.needs = true, true, n
		} else if f.needs.key() != n.key() {
			f.same = false
		}
		first, below, deeper := strings.Cut(rest, "/")
		if (!deeper || f.below[first] == nil) && s.spent(path, 2, 0) {
			return
		}
		if !deeper {
			if f.files == nil {
				f.files = map[string]needs{}
			}
			was := f.files[first]
			n.windows, n.branches = append(was.windows, n.windows...), append(was.branches, n.branches...)
			f.files[first] = n.sorted()
			return
		}
		if f.below[first] == nil {
			f.below[first] = &folder{below: map[string]*folder{}}
		}
		f, rest = f.below[first], below
	}
}

// protectedDir is the directory of Flux itself that a file is in. Rules reach there only if they name it.
func protectedDir(file string) (string, bool) {
	steps := strings.Split(file, "/")
	i := slices.Index(steps[:len(steps)-1], "flux-system")
	return strings.Join(steps[:i+1], "/"), i >= 0
}

// each gives every path that was added, with all that it needs.
func (f *folder) each(at string, give func(path string, n needs)) {
	for name, n := range f.files {
		give(at+layout.Literal(name), n)
	}
	for name, sub := range f.below {
		sub.each(at+layout.Literal(name)+"/", give)
	}
}

// rules gives the patterns of a directory: one for all of it where it all needs the same, else those of its parts. The root is never one.
func (f *folder) rules(at string, give func(pattern string, n needs)) {
	if f.same && at != "" {
		give(at+"**", f.needs)
		return
	}
	for name, n := range f.files {
		give(at+layout.Literal(name), n)
	}
	for name, sub := range f.below {
		sub.rules(at+layout.Literal(name)+"/", give)
	}
}
