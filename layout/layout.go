// Package layout says where: which releases a path of the repository needs before it may change.
//
// A layout is an ordered list of rules, then a preset that looks at directory names, then what an unmatched path is. The
// first rule of the list that matches a path decides, whatever comes after it; [Class.Rule] names it.
//
// Rules are globs over slash-separated segments: `**` is any number of whole segments, `*`, `?` and `[class]` stay within
// one, `{a,b}` is alternation, `{name}` captures one whole segment. All rules of a layout are compiled into one trie over
// segments, so that a path costs its own length and not the number of rules.
//
// The package is pure: no clock, no file, no environment, and none of our YAML; package config gives it a [Spec].
//
// How it fails: closed. [Layout.Classify] answers for every string of bytes and never panics. A path that cannot stand in
// a git tree needs [Unclear], which never opens; a path with control characters or bytes that are not UTF-8 is never live; a
// capture that names no window gives a release that no calendar knows; and where a path fits a windowed rule or the
// preset's windowed side but for upper and lower case, neither the preset nor `unmatched` makes it live.
package layout

import (
	"slices"
	"strings"
)

// Release is what must be open for a path to change: "live", the name of a window, or "branch:GLOB" for the windowed
// branches whose names GLOB matches.
type Release string

const (
	// Live is the release that is always open.
	Live Release = "live"

	// Unclear is the release of a path that cannot be told. It is no name that a window may have: it never opens.
	Unclear Release = "unclear path"

	// branchPrefix begins the release of windowed branches.
	branchPrefix = "branch:"
)

// BranchRelease is the release of the windowed branches whose names a glob matches.
func BranchRelease(glob string) Release { return Release(branchPrefix + glob) }

// BranchGlob is the glob of a release of windowed branches; ok is false for every other release.
func (r Release) BranchGlob() (glob string, ok bool) {
	return strings.CutPrefix(string(r), branchPrefix)
}

// Class is the answer for one path.
type Class struct {
	Releases []Release // sorted, no duplicates; none: the path is ignored
	Rule     string    // which rule said so, for people: "rule 2: infra/**", "preset rt-rw: a directory ends in -rw"
}

// live tells whether the class lets a path change at any time.
func (c Class) live() bool { return len(c.Releases) == 1 && c.Releases[0] == Live }

// Layout is a compiled layout. It is immutable and safe for concurrent use.
type Layout struct {
	rules     []rule
	trie      *trie
	folded    *trie // the windowed rules in lower case; empty where nothing but a rule can make a path live
	preset    preset
	unmatched Class
	scratches *scratches
}

// rule is one compiled rule.
type rule struct {
	releases []Release // sorted; without those that come from captures
	captures []string  // names of the captures that are releases
	patterns []*pattern
	rank     int  // of the first of patterns
	bound    bool // some pattern must be bound to tell the releases: captures in use, or one that stands twice
	windows  map[string]bool
}

// Classify says which releases a path of the repository needs. The path is as git has it: bytes, slashes, no leading
// slash. It is total: every string has an answer.
func (l *Layout) Classify(path string) Class {
	s := l.scratches.get()
	defer l.scratches.put(s)
	if !s.read(path) {
		// Fail closed: git cannot hold such a path, so whatever it stands for was not understood.
		return Class{Releases: []Release{Unclear}, Rule: saysImpossible}
	}
	c := l.decide(s)
	c.Releases = slices.Clone(c.Releases)
	if s.odd && slices.Contains(c.Releases, Live) {
		// Fail closed: GitHub's API may have changed the bytes on the way, so the rule may have matched another name.
		return Class{Releases: []Release{Unclear}, Rule: saysOdd}
	}
	return c
}

// decide asks the rules, the preset and `unmatched`, in this order.
func (l *Layout) decide(s *scratch) Class {
	if e := l.trie.find(s, s.segments); e != nil {
		return l.rules[e.rule].class(e, s.segments)
	}
	switch {
	case s.needs&belowGitHub != 0:
		return Class{Rule: saysBelowGitHub}
	case s.needs&inFluxSystem != 0:
		return Class{Rule: saysInFluxSystem}
	}
	c, ok := l.preset.class(s.segments)
	if !ok {
		c = l.unmatched
	}
	if slices.Contains(c.Releases, Live) {
		return l.notByCase(s, c)
	}
	return c
}

// notByCase is c, a class with live that no rule gave, unless a difference in case alone keeps the path from being windowed
// or from the directories that are ignored. Rules that match as written have decided before.
func (l *Layout) notByCase(s *scratch, c Class) Class {
	if e := l.folded.find(s, s.fold()); e != nil {
		w := l.rules[e.rule].class(e, s.segments)
		w.Rule = saysButForCase(w.Rule)
		return w
	}
	switch near := protectedFold(s.segments); {
	case near&belowGitHub != 0:
		return Class{Rule: saysButForCase(saysBelowGitHub)}
	case near&inFluxSystem != 0:
		return Class{Rule: saysButForCase(saysInFluxSystem)}
	}
	return c
}

// class is what a rule says of a path that it matched at e.
func (r *rule) class(e *end, segments []string) Class {
	c := Class{Releases: r.releases, Rule: e.text}
	if !r.bound {
		return c
	}
	captured, ok := r.captured(segments)
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
func (r *rule) captured(segments []string) (out []Release, ok bool) {
	for _, p := range r.patterns {
		b, fits := p.bind(segments)
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
