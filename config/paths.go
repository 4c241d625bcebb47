package config

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/window"
)

// paths compiles the layout: of its parts those that have no error.
func (c *compiler) paths() {
	l := c.doc.layout
	spec := layout.Spec{Preset: l.preset, Side: l.side(), Windows: c.windowNames(), References: l.flux}
	if l.window != "" && len(l.branches) > 0 {
		c.fail(twoSides(), "layout", "branches")
	}
	if !c.r.sound("layout", "preset") || !c.r.sound("layout", "window") || !c.r.sound("layout", "branches") {
		spec.Preset, spec.Side = layout.NoPreset, nil
	}
	if c.wholeRelease(l.unmatched, "layout", "unmatched") {
		spec.Unmatched, _ = l.unmatched.releases()
	}
	var indices []int
	for i, t := range l.rules {
		if c.wholeRelease(t.release, "layout", "rules", i, "release") && c.wholePaths(t.paths, i) {
			releases, ignore := t.release.releases()
			spec.Rules = append(spec.Rules, layout.Rule{Paths: t.paths, Releases: Strings(releases), Ignore: ignore})
			indices = append(indices, i)
		}
	}
	compiled, problems := c.lay(spec)
	for i := range problems {
		if problems[i].Rule >= 0 {
			problems[i].Rule = indices[problems[i].Rule]
		}
	}
	c.layoutProblems(problems)
	c.points = c.entryPoints()
	if c.r.sound("layout") {
		c.layout = compiled
	}
}

// wholeRelease reports whether a release was read without an error, and says what is wrong with it as a whole.
func (c *compiler) wholeRelease(t releaseText, way ...any) bool {
	if len(t.names) > 1 && slices.Contains(t.names, wordIgnore) {
		c.fail(ignoreInList(), way...)
	}
	return c.r.sound(way...) && len(t.names)+len(t.branches) > 0 && !slices.Contains(t.names, "") && !slices.Contains(t.branches, "")
}

// wholePaths reports whether the paths of a rule were read without an error.
func (c *compiler) wholePaths(paths []string, rule int) bool {
	return c.r.sound("layout", "rules", rule, "paths") && len(paths) > 0 && !slices.Contains(paths, "")
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

// releases is a release as package layout has it.
func (t releaseText) releases() (out []layout.Release, ignore bool) {
	if slices.Equal(t.names, []string{wordIgnore}) {
		return nil, true
	}
	for _, name := range t.names {
		out = append(out, layout.Release(name))
	}
	for _, glob := range t.branches {
		out = append(out, layout.BranchRelease(glob))
	}
	return out, false
}

func (c *compiler) layoutProblems(problems []layout.Problem) {
	for _, p := range problems {
		s, way := says{p.Code, p.Message}, c.layoutSteps(p)
		if p.Code == codeUnknownWindow {
			_, value := locate(c.root, way...)
			s = unknownWindow(value.Value, c.windowNames()) // says which window may be meant
		}
		c.report(s, p.Warning, way...)
	}
}

// layoutSteps is the way to what a problem of the layout is about.
func (c *compiler) layoutSteps(p layout.Problem) []any {
	steps := []any{"layout"}
	if p.Rule < 0 {
		if p.Field == "window" && len(c.doc.layout.branches) > 0 {
			return append(steps, "branches", p.Release)
		}
		steps = append(steps, p.Field)
		if p.Field == "unmatched" && p.Release >= 0 {
			return c.releaseSteps(p.Release, steps)
		}
		return steps
	}
	steps = append(steps, "rules", p.Rule)
	switch {
	case p.Path >= 0:
		return append(steps, "paths", p.Path)
	case p.Release >= 0:
		return c.releaseSteps(p.Release, append(steps, "release"))
	case p.Field != "":
		return append(steps, p.Field)
	}
	return steps
}

// releaseSteps is the way on from a release to one of its parts, whichever form it is written in.
func (c *compiler) releaseSteps(part int, way []any) []any {
	_, value := locate(c.root, way...)
	switch value.Kind {
	case yaml.SequenceNode:
		return append(way, part)
	case yaml.MappingNode:
		return append(way, "branches", part)
	default:
		return way
	}
}

// globs checks that every pattern over branches has an entry to mean.
func (c *compiler) globs() {
	if !c.knowsEntries() {
		return
	}
	c.eachGlob(func(glob string, entries []Branch, way []any) {
		if len(entries) == 0 {
			c.fail(unknownBranch(glob), way...)
		}
	})
}

// knowsEntries reports whether the names and sources of all branches were read: else a pattern may be about one that was not.
func (c *compiler) knowsEntries() bool {
	unknown := func(b Branch) bool { return b.Name == "" || b.From == "" }
	return (c.r.sound("branches") || len(c.doc.branches) > 0) && !slices.ContainsFunc(c.doc.branches, unknown)
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
		case glob == "":
			return // it was not read
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
	c.eachRelease(func(t releaseText, way []any) {
		for k, glob := range t.branches {
			look(glob, append(way, "branches", k)...)
		}
	})
}

// eachRelease visits every release of the layout, with a way to it that is the visitor's to add to.
func (c *compiler) eachRelease(visit func(t releaseText, way []any)) {
	for i, t := range c.doc.layout.rules {
		visit(t.release, []any{"layout", "rules", i, "release"})
	}
	for i, t := range c.doc.layout.entries {
		visit(t.release, []any{"layout", "entrypoints", i, "release"})
	}
	visit(c.doc.layout.unmatched, []any{"layout", "unmatched"})
}

// together checks that what one release asks for is ever open at one time. A release of one window is that window's business, and where
// a window has an error there is no saying.
func (c *compiler) together() {
	calendar, _ := window.New(c.soundWindows(), nil) // freezes do not count
	if calendar == nil {
		return
	}
	var lists [][]window.Name
	var ways [][]any
	c.eachRelease(func(t releaseText, way []any) {
		names := t.windows()
		known := func(name window.Name) bool { return name == window.Live || slices.Contains(calendar.Names(), name) }
		if len(names) > 1 && !slices.ContainsFunc(names, func(n window.Name) bool { return !known(n) }) {
			lists, ways = append(lists, names), append(ways, way)
		}
	})
	for k, never := range calendar.NeverTogether(lists) {
		if never {
			c.fail(neverTogether(Strings(lists[k])), ways[k]...)
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
