package config

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/window"
)

// paths compiles the layout.
func (c *compiler) paths() {
	if !c.r.sound("layout") {
		return
	}
	l := c.doc.layout
	if l.window != "" && len(l.branches) > 0 {
		c.fail(twoSides(), "layout", "branches")
		return
	}
	spec := layout.Spec{Preset: l.preset, Side: l.side(), Windows: c.windowNames()}
	if l.unmatched != wordIgnore {
		spec.Unmatched = []layout.Release{layout.Release(l.unmatched)}
	}
	for i, t := range l.rules {
		if len(t.release.names) > 1 && slices.Contains(t.release.names, wordIgnore) {
			c.fail(ignoreInList(), "layout", "rules", i, "release")
			return
		}
		spec.Rules = append(spec.Rules, t.rule())
	}
	var problems []layout.Problem
	c.layout, problems = layout.New(spec)
	c.layoutProblems(problems)
}

// side is what the preset's windowed side needs.
func (l layoutText) side() []layout.Release {
	if l.window != "" {
		return []layout.Release{layout.Release(l.window)}
	}
	var side []layout.Release
	for _, glob := range l.branches {
		side = append(side, layout.BranchRelease(glob))
	}
	return side
}

// rule is the rule as package layout takes it.
func (t ruleText) rule() layout.Rule {
	if slices.Equal(t.release.names, []string{wordIgnore}) {
		return layout.Rule{Paths: t.paths, Ignore: true}
	}
	releases := slices.Clone(t.release.names)
	for _, glob := range t.release.branches {
		releases = append(releases, string(layout.BranchRelease(glob)))
	}
	return layout.Rule{Paths: t.paths, Releases: releases}
}

func (c *compiler) layoutProblems(problems []layout.Problem) {
	for _, p := range problems {
		s, way := says{p.Code, p.Message}, c.layoutSteps(p)
		if p.Code == codeUnknownWindow {
			_, value := locate(c.root, way...)
			s = unknownWindow(value.Value, c.windowNames()) // says which window may be meant
		}
		c.tell(s, p.Warning, way...)
	}
}

// layoutSteps is the way to what a problem of the layout is about.
func (c *compiler) layoutSteps(p layout.Problem) []any {
	steps := []any{"layout"}
	if p.Rule < 0 {
		if p.Field == "window" && len(c.doc.layout.branches) > 0 {
			return append(steps, "branches", p.Release)
		}
		return append(steps, p.Field)
	}
	steps = append(steps, "rules", p.Rule)
	switch {
	case p.Path >= 0:
		return append(steps, "paths", p.Path)
	case p.Release >= 0:
		return append(steps, c.releaseSteps(p.Rule, p.Release)...)
	case p.Field != "":
		return append(steps, p.Field)
	}
	return steps
}

// releaseSteps is the way from a rule to one of its releases, whichever form they are written in.
func (c *compiler) releaseSteps(rule, release int) []any {
	_, value := locate(c.root, "layout", "rules", rule, "release")
	switch value.Kind {
	case yaml.SequenceNode:
		return []any{"release", release}
	case yaml.MappingNode:
		return []any{"release", "branches", release}
	default:
		return []any{"release"}
	}
}

// globs checks that every pattern over branches has an entry to mean.
func (c *compiler) globs() {
	if !c.r.sound("layout") || !c.r.sound("branches") {
		return
	}
	c.eachGlob(func(glob string, entries []Branch, way []any) {
		if len(entries) == 0 {
			c.fail(unknownBranch(glob), way...)
		}
	})
}

// globsFrom checks that every pattern over branches has an entry that follows base, the branch that the file is for.
func (c *compiler) globsFrom(base string) {
	c.eachGlob(func(glob string, entries []Branch, way []any) {
		if len(entries) > 0 && len(following(entries, base)) == 0 {
			c.fail(branchFromElsewhere(glob, base, entries[0]), way...)
		}
	})
}

// eachGlob visits every pattern over branches, with the entries that it matches and the way to it. It stops where there are
// more different patterns than MaxBranchGlobs.
func (c *compiler) eachGlob(visit func(glob string, entries []Branch, way []any)) {
	known, byName, left := map[string][]Branch{}, map[string][]Branch{}, MaxBranchGlobs
	for _, b := range c.doc.branches {
		byName[b.Name] = append(byName[b.Name], b)
	}
	look := func(glob string, way ...any) {
		entries, ok := known[glob]
		switch {
		case !wild(glob):
			entries = matching(byName[glob], glob)
		case !ok && left == 0:
			c.fail(tooManyGlobs(), way...)
			left--
			return
		case !ok && left < 0:
			return
		case !ok:
			left--
			entries = matching(c.doc.branches, glob)
			known[glob] = entries
		}
		visit(glob, entries, way)
	}
	for i, glob := range c.doc.layout.branches {
		look(glob, "layout", "branches", i)
	}
	for i, t := range c.doc.layout.rules {
		for k, glob := range t.release.branches {
			look(glob, "layout", "rules", i, "release", "branches", k)
		}
	}
}

// together checks that what one rule asks for is ever open at one time. A rule of one window is that window's business.
func (c *compiler) together() {
	if c.calendar == nil || !c.r.sound("layout") {
		return
	}
	var lists [][]window.Name
	var rules []int
	for i, t := range c.doc.layout.rules {
		if names := t.release.windows(); len(names) > 1 {
			lists, rules = append(lists, names), append(rules, i)
		}
	}
	for k, never := range c.calendar.NeverTogether(lists) {
		if never {
			c.fail(neverTogether(strs(lists[k])), "layout", "rules", rules[k], "release")
		}
	}
}

// windows is the windows that a release names itself.
func (t releaseText) windows() []window.Name {
	var names []window.Name
	for _, name := range t.names {
		if !isCapture(name) {
			names = append(names, window.Name(name))
		}
	}
	return names
}

// Matching is the entries of the file's branches that hold a release of the form "branch:GLOB"; none for another release.
func (p *Policy) Matching(release layout.Release) []Branch {
	glob, ok := release.BranchGlob()
	if !ok {
		return nil
	}
	return matching(p.Branches, glob)
}

// MatchingFrom is the entries of Matching that follow the branch base. What changes base is taken by them alone. Upper and
// lower case count, as they do in git: a branch that is spelled otherwise is another one.
func (p *Policy) MatchingFrom(release layout.Release, base string) []Branch {
	return following(p.Matching(release), base)
}

// following is the entries that follow a branch.
func following(branches []Branch, base string) []Branch {
	return slices.DeleteFunc(slices.Clone(branches), func(b Branch) bool { return b.From != base })
}

// wild reports whether a pattern may match other names than the one that it spells.
func wild(glob string) bool { return strings.ContainsAny(glob, `*?[{\`) }

// matching is the entries whose names a pattern matches. Most patterns of a long file are names, which are found by comparing.
func matching(branches []Branch, glob string) []Branch {
	if !wild(glob) {
		return slices.DeleteFunc(slices.Clone(branches), func(b Branch) bool { return b.Name != glob })
	}
	g, err := layout.ParseGlob(glob)
	if err != nil {
		return nil // fail closed: no branch takes what the pattern holds
	}
	var out []Branch
	for _, b := range branches {
		if g.Match(b.Name) {
			out = append(out, b)
		}
	}
	return out
}
