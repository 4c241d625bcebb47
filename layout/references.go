package layout

import (
	"slices"
	"strings"
)

// References says what a path needs by what reads it in the repository, whatever its name. Classes have at least one release, and as their
// rule the chain of files that leads to the reader.
type References interface {
	// Reads is what the readers of a path need; false: nothing reads it.
	Reads(path string) (Class, bool)
	// Holds is the windows that a path needs whatever decides it; false: none.
	Holds(path string) (Class, bool)
}

// Answers is what was found of the references of some paths, as a value. Of any other path nobody has read anything: it needs [Unread], whatever rule decides
// it.
type Answers map[string]Answer

// Answer is what references say of one path: nil where they say nothing.
type Answer struct {
	Reads *Class `json:"reads,omitempty"`
	Holds *Class `json:"holds,omitempty"`
}

// Ask is what references say of some paths.
func Ask(r References, paths []string) Answers {
	out := make(Answers, len(paths))
	for _, path := range paths {
		var a Answer
		if c, ok := r.Reads(path); ok {
			a.Reads = &c
		}
		if c, ok := r.Holds(path); ok {
			a.Holds = &c
		}
		out[path] = a
	}
	return out
}

// Reads implements References.
func (a Answers) Reads(path string) (Class, bool) {
	found, asked := a[path]
	switch {
	case !asked:
		return unread{}.Reads(path)
	case found.Reads == nil:
		return Class{}, false
	}
	return *found.Reads, true
}

// Holds implements References.
func (a Answers) Holds(path string) (Class, bool) {
	found, asked := a[path]
	switch {
	case !asked:
		return unread{}.Reads(path)
	case found.Holds == nil:
		return Class{}, false
	}
	return *found.Holds, true
}

// With is the layout with the references of a tree, or of several. Of a layout whose [Spec] asks for them Reads decides what no rule
// matches, before the preset and what is unmatched; of any layout Holds is added to what decides.
func (l *Layout) With(r References) *Layout {
	out := *l
	out.references = r
	return &out
}

// Until is the layout for as long as it may be asked: stop is given each path before it is compared with so many patterns, and reports whether that is too
// much. From then on it knows nothing: what was found with it is a part, and must not be decided by.
func (l *Layout) Until(stop func(path string, patterns int) bool) *Layout {
	patterns := 0
	for _, r := range l.rules {
		patterns += len(r.patterns) + len(r.except)
	}
	out := *l
	out.stop = func(path string) bool { return stop(path, patterns) }
	return &out
}

// unread stands for references that nobody has read: no path is known not to be read by a windowed entry point.
type unread struct{}

// Reads implements References. Nothing below .github/ is part of a deployment.
func (unread) Reads(path string) (Class, bool) {
	return Class{Releases: []Release{Unread}, Rule: saysUnread}, !strings.HasPrefix(path, gitHubDir+"/")
}

// Holds implements References.
func (unread) Holds(string) (Class, bool) { return Class{}, false }

// reads is what references say of a path that no rule decides.
func (l *Layout) reads(s *scratch) (Class, bool) {
	if !l.asks || l.references == nil {
		return Class{}, false
	}
	return l.references.Reads(s.path)
}

// contradicted is c, what a rule says of a path, which says so if it is live and something reads it that is not.
func (l *Layout) contradicted(s *scratch, c Class) Class {
	if !c.live() {
		return c
	}
	if r, ok := l.reads(s); ok && !r.live() && !slices.Contains(r.Releases, Unread) {
		c.Rule = saysButReads(c.Rule, r.Rule)
	}
	return c
}

// held is c with the windows that hold a path whatever decides it. People merge a protected path.
func (l *Layout) held(s *scratch, c Class) Class {
	if l.references == nil {
		return c
	}
	h, ok := l.references.Holds(s.path)
	if !ok {
		return c
	}
	rule := h.Rule
	if len(c.Releases) == 0 && c.Protected {
		rule = saysProtected(rule)
	}
	releases := slices.DeleteFunc(slices.Concat(c.Releases, h.Releases), func(r Release) bool { return r == Live })
	return Class{Releases: sorted(releases), Rule: saysHeld(c.Rule, rule), Protected: c.Protected, Pruned: h.Pruned}
}
