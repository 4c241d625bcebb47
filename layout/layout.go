// Package layout says where: which releases a path of the repository needs before it may change.
//
// A layout is an ordered list of rules, then a preset that looks at directory names, then what an unmatched path is. The
// first rule of the list that matches a path decides, whatever comes after it; [Class.Rule] names it. Between rules and preset stands what
// reads a path in the repository, for a layout that asks for it; package reach finds that out.
//
// Rules are globs over slash-separated segments: `**` is any number of whole segments, `*`, `?` and `[class]` stay within
// one, `{a,b}` is alternation, `{name}` captures a segment or part of one, `{name:a,b}` one of these names, and `!glob` takes paths out
// of a rule. All rules of a layout are compiled into one trie over segments, so that a path costs its own length and not the number of
// rules; what is taken out stands in a second one, which is asked first. Alternations and limits are written out before.
//
// The package is pure: no clock, no file, no environment, and none of our YAML; package config gives it a [Spec].
//
// How it fails: closed. [Layout.Classify] answers for every string of bytes, at a bounded cost, and never panics. A path that
// cannot stand in a git tree, or whose matching would cost more, needs [Unclear], which never opens; a path with control
// characters or bytes that are not UTF-8 is never live; a capture that names no window gives a release that no calendar knows;
// where a path fits a windowed rule or the preset's windowed side but for upper and lower case, neither the preset nor
// `unmatched` lets it through; what references decide needs [Unread] as long as nobody has read them; and where it fits what is taken out of a live rule but for case, that rule does not make it live.
package layout

import (
	"slices"
	"strings"
	"sync"
)

// Release is what must be open for a path to change: "live", the name of a window, or "branch:GLOB" for the windowed
// branches whose names GLOB matches.
type Release string

const (
	// Live is the release that is always open.
	Live Release = "live"

	// Unclear is the release of a path that cannot be told. It is no name that a window may have: it never opens.
	Unclear Release = "unclear path"

	// Unread is the release of a path that references decide which nobody has read. It never opens either.
	Unread Release = "unread references"

	// branchPrefix begins the release of windowed branches.
	branchPrefix = "branch:"
)

// NoWindow is the capture, and what it stands for, of a release that no calendar knows because that is no window's name; ok is false for
// every other release.
func (r Release) NoWindow() (name, value string, ok bool) {
	rest, capture := strings.CutPrefix(string(r), "{")
	name, value, ok = strings.Cut(rest, "}=")
	return name, value, ok && capture
}

// BranchRelease is the release of the windowed branches whose names a glob matches.
func BranchRelease(glob string) Release { return Release(branchPrefix + glob) }

// BranchGlob is the glob of a release of windowed branches; ok is false for every other release.
func (r Release) BranchGlob() (glob string, ok bool) {
	return strings.CutPrefix(string(r), branchPrefix)
}

// IsWindow reports whether a release holds a pull request: what branches alone hold is merged as a live one is.
func (r Release) IsWindow() bool {
	_, branch := r.BranchGlob()
	return !branch && r != Live
}

// Class is the answer for one path.
type Class struct {
	Releases []Release // sorted, no duplicates; none: the path is ignored
	Rule     string    // which rule said so, for people: "rule 2: infra/**", "preset rt-rw: a directory ends in -rw"
	// Protected: the path stands in a directory that no machine should change by a wildcard, .github/ or flux-system/. Whatever it
	// needs, people merge it.
	Protected bool
	Pruned    bool // an object moves: Flux deletes it at the merge, and creates it again when what it moves to is released
}

// live reports whether the class lets a path change at any time.
func (c Class) live() bool { return len(c.Releases) == 1 && c.Releases[0] == Live }

// open reports whether the class has live, or lets a path be merged at any time, for windowed branches to hold.
func (c Class) open() bool {
	return slices.Contains(c.Releases, Live) || len(c.Releases) > 0 && !c.windowed()
}

// windowed reports whether a window holds the class. Of live and of windowed branches alone none does.
func (c Class) windowed() bool {
	return slices.ContainsFunc(c.Releases, func(r Release) bool {
		_, branch := r.BranchGlob()
		return r != Live && !branch
	})
}

// Layout is a compiled layout. It is immutable and safe for concurrent use.
type Layout struct {
	rules     []rule
	trie      *trie
	folded    *trie // the windowed rules in lower case; empty where a rule alone can let a path through
	preset    preset
	unmatched Class
	scratches *sync.Pool // of *scratch

	asks       bool       // what no rule decides is what references say
	references References // nil: there are none

	stop func(path string) bool // nil: never

	except       *trie // what takes paths out of the rules that are not live
	exceptFolded *trie // and, in lower case, out of those that are: what differs by case alone is out too
}

// rule is one compiled rule.
type rule struct {
	releases []Release // sorted; without those that come from captures
	captures []string  // names of the captures that are releases
	patterns []*pattern
	except   []*pattern // what is taken out of them
	rank     int        // of the first of patterns
	bound    bool       // some pattern must be bound to tell the releases: captures in use, or one that stands twice
	windows  map[string]bool
}

// Classify says which releases a path of the repository needs. The path is as git has it: bytes, slashes, no leading
// slash. It is total: every string has an answer.
func (l *Layout) Classify(path string) Class {
	s := l.scratches.Get().(*scratch)
	defer l.scratches.Put(s)
	if l.stop != nil && l.stop(path) {
		return Class{Releases: []Release{Unclear}, Rule: saysTooLong}
	}
	if !s.read(path) {
		// Fail closed: git cannot hold such a path, so whatever it stands for was not understood.
		return Class{Releases: []Release{Unclear}, Rule: saysImpossible}
	}
	c, _ := l.decide(s)
	if s.work < 0 {
		// Fail closed: which rules match was not found out.
		return Class{Releases: []Release{Unclear}, Rule: saysTooLong}
	}
	c.Releases = slices.Clone(c.Releases)
	if s.odd && slices.Contains(c.Releases, Live) {
		// Fail closed: GitHub's API may have changed the bytes on the way, so the rule may have matched another name.
		return Class{Releases: []Release{Unclear}, Rule: saysOdd}
	}
	return c
}

// Rule is the index of the rule that decides a path; -1: none does.
func (l *Layout) Rule(path string) int {
	s := l.scratches.Get().(*scratch)
	defer l.scratches.Put(s)
	if !s.read(path) {
		return -1
	}
	_, by := l.decide(s)
	return max(int(by), -1)
}

// OpenUnmatched reports whether some path that no rule decides, nothing reads and no preset knows may change at any time: it is ignored, or live.
func (l *Layout) OpenUnmatched() bool {
	all := func(p *pattern) bool { return len(p.segments) == 1 && p.segments[0].kind == anyMany }
	every := func(r rule) bool { return len(r.except) == 0 && slices.ContainsFunc(r.patterns, all) }
	held := func(r Release) bool { return r != Live }
	return !slices.ContainsFunc(l.unmatched.Releases, held) && !slices.ContainsFunc(l.rules, every)
}

// Waits reports whether some path that something reads may have to wait for a window or a branch, whatever reads it.
func (l *Layout) Waits() bool {
	held := func(r Release) bool { return r != Live }
	return slices.ContainsFunc(l.rules, func(r rule) bool { return r.windowed() }) || !l.asks && (l.preset.kind != NoPreset || slices.ContainsFunc(l.unmatched.Releases, held))
}

// Captures reports whether some release is a window that a path names: then what the windows must be depends on the tree.
func (l *Layout) Captures() bool {
	return slices.ContainsFunc(l.rules, func(r rule) bool { return len(r.captures) > 0 })
}

// origin is what decided a path: the index of a rule, or one of these.
type origin int

const (
	byReferences origin = -1 - iota
	byPreset
	byUnmatched
	byNothing
)

// decide classifies a path, and says what decided it. What windows a protected path holds it, and people merge it while it is open. What
// would be live there, or held by branches alone, is ignored. A rule that names the directory decides as it does elsewhere, also
// after one that would not hold the path: a wildcard reaches into such a directory only to hold.
func (l *Layout) decide(s *scratch) (Class, origin) {
	c, by := l.written(s)
	return l.held(s, c), by
}

// written is decide without what holds a path whatever decides it.
func (l *Layout) written(s *scratch) (Class, origin) {
	l.markExceptions(s, func(*end) {})
	c, by, names := l.anywhere(s)
	if names {
		return c, by
	}
	if e := l.trie.find(s, s.segments, s.needs); e != nil && (origin(e.rule) == by || !c.windowed()) {
		return l.contradicted(s, l.rules[e.rule].class(e, s.segments, &s.work)), origin(e.rule)
	}
	if c.windowed() {
		c.Rule, c.Protected = saysProtected(c.Rule), true
		return c, by
	}
	if len(c.Releases) == 0 {
		by = byNothing
	}
	return Class{Rule: saysIgnored(s.needs), Protected: true}, by
}

// markExceptions marks the rules that the path is taken out of, and gives the ends that do so.
func (l *Layout) markExceptions(s *scratch, give func(*end)) {
	if l.except.empty() && l.exceptFolded.empty() {
		return
	}
	s.nextPath()
	mark := func(e *end) {
		s.out[e.rule] = s.count
		give(e)
	}
	l.except.each(s, s.segments, mark)
	if !l.exceptFolded.empty() {
		l.exceptFolded.each(s, s.fold(), mark)
	}
}

// anywhere asks the rules, the references, the preset and `unmatched`, in this order, and says whether the one that decides knows what it does: the
// path is not protected, or the rule names the directories that protect it.
func (l *Layout) anywhere(s *scratch) (c Class, by origin, names bool) {
	if e := l.trie.find(s, s.segments, 0); e != nil {
		return l.contradicted(s, l.rules[e.rule].class(e, s.segments, &s.work)), origin(e.rule), e.pattern.names&s.needs == s.needs
	}
	by = byReferences
	c, ok := l.reads(s)
	if !ok {
		by = byPreset
		c, ok = l.preset.class(s.segments)
	}
	switch {
	case !ok && s.needs&belowGitHub != 0: // GitHub's own, and no part of a deployment that nobody thought of
		c, by = Class{}, byUnmatched
	case !ok:
		c, by = l.unmatched, byUnmatched
	}
	if c.open() {
		c = l.notByCase(s, c)
	}
	return c, by, s.needs == 0
}

// notByCase is c, an open class that no rule gave, unless a difference in case alone keeps the path from being windowed
// or from being protected. Rules that match as written have decided before.
func (l *Layout) notByCase(s *scratch, c Class) Class {
	if e := l.folded.find(s, s.fold(), 0); e != nil {
		w := l.rules[e.rule].class(e, s.segments, &s.work)
		w.Rule = saysButForCase(w.Rule)
		return w
	}
	if near := protectedFold(s.segments); s.needs == 0 && near != 0 && !c.windowed() {
		return Class{Rule: saysButForCase(saysIgnored(near)), Protected: true}
	}
	return c
}

// class is what a rule says of a path that it matched at e.
func (r *rule) class(e *end, segments []string, w *work) Class {
	c := Class{Releases: r.releases, Rule: e.pattern.text}
	if !r.bound {
		return c
	}
	captured, ok := r.captured(segments, w)
	if !ok {
		c.Releases = []Release{Unclear}
		return c
	}
	c.Releases = append(slices.Clone(r.releases), captured...)
	slices.Sort(c.Releases)
	c.Releases = slices.Compact(c.Releases)
	return c
}

// captured is the releases that captures give a path. Where a path can be read in several ways, every way counts. It is
// false where that cannot be told.
func (r *rule) captured(segments []string, w *work) (out []Release, ok bool) {
	for _, p := range r.patterns {
		b, fits := p.bind(segments, w)
		if !fits {
			continue
		}
		if b.doubt {
			return nil, false // fail closed: there are more ways to read the path than are worth trying
		}
		for _, name := range r.captures {
			for _, value := range b.values[name] {
				out = append(out, r.release(name, value))
			}
		}
	}
	// Fail closed: the rule matched, so some pattern must have bound. A near miss in case binds nothing.
	return out, len(out) > 0 || len(r.captures) == 0
}

// release is what a captured segment stands for: the window of that name, or else a release that no calendar knows.
func (r *rule) release(name, value string) Release {
	if r.windows[value] {
		return Release(value)
	}
	// Fail closed: not a window's name, not "live", not "branch:": braces and "=" are in none of them.
	return Release("{" + name + "}=" + shown(value))
}
