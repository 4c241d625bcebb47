package layout

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of a layout. Hostile files hit them; no real one should.
const (
	MaxRules        = 1000      // rules of one layout
	MaxGlob         = 1024      // bytes of one glob
	MaxDepth        = 64        // segments of one glob
	MaxAlternatives = 64        // patterns that the alternations of one glob may stand for
	MaxPatterns     = 4000      // patterns of one layout, alternations written out
	MaxWritten      = 256 << 10 // bytes of these together: alternations make a layout no larger than a file may be without them
	MaxReleases     = 100       // releases of one rule
)

// Spec is a layout as a person declared it.
type Spec struct {
	Rules     []Rule
	Preset    Preset
	Side      []Release // of the preset's windowed side
	Unmatched []Release // of a path that no rule and no preset knows; none: it is ignored
	// References: what no rule decides is what reads a path, as [Layout.With] says. Without it such a path needs [Unread].
	References bool
	Windows    []string // the names that a release or a captured segment may stand for, without live
}

// Rule is one rule as a person declared it. A path that one of Paths matches, and none of those that begin with "!", needs all of
// Releases.
type Rule struct {
	Paths    []string
	Ignore   bool     // then there are no Releases
	Releases []string // "live", a window, "{capture}" or "branch:GLOB"
}

// Preset names a convention for directory names.
type Preset string

// The presets.
const (
	NoPreset   Preset = "none"
	RTRW       Preset = "rt-rw"       // -rw is windowed, else -rt is live
	RTMW       Preset = "rt-mw"       // -mw is windowed, else -rt is live
	LiveWindow Preset = "live-window" // -live, live-*, -window, window-*: the deepest decides
)

// Problem is one thing that is wrong with a layout, or strange about it, and where. Indices count from 0; -1: none.
type Problem struct {
	Rule    int    // index in Spec.Rules
	Path    int    // index in that rule's Paths
	Release int    // index in that rule's Releases, or with Rule -1 in the Spec's list that Field names
	Field   string // "paths", "release", "rules", "preset", "window" (the preset's side) or "unmatched"
	Warning bool   // the layout works nevertheless
	Code    string // kebab-case, stable
	Message string
}

// New compiles a layout. It never panics; the layout is nil when any problem is an error.
func New(spec Spec) (*Layout, []Problem) {
	c := newCompiler(spec)
	rules := make([]rule, 0, min(len(spec.Rules), MaxRules))
	c.check(func(r rule) { rules = append(rules, r) })
	if slices.ContainsFunc(c.problems, func(p Problem) bool { return !p.Warning }) {
		return nil, c.problems
	}
	return c.layout(rules), c.problems
}

// Check gives the problems that New gives, and compiles no layout: it needs no more memory than one rule.
func Check(spec Spec) []Problem {
	c := newCompiler(spec)
	c.check(func(rule) {})
	return c.problems
}

// compiler gathers the problems of one Spec.
type compiler struct {
	spec     Spec
	windows  map[string]bool
	patterns int
	written  int // bytes of these
	problems []Problem
}

func newCompiler(spec Spec) *compiler {
	c := &compiler{spec: spec, windows: map[string]bool{}}
	for _, w := range spec.Windows {
		if w != string(Live) {
			c.windows[w] = true
		}
	}
	return c
}

// check finds the problems of the whole Spec, and gives the rules one by one.
func (c *compiler) check(give func(rule)) {
	if len(c.spec.Rules) > MaxRules {
		c.fail(-1, -1, -1, "rules", codeTooMany, wordsTooManyRules(len(c.spec.Rules)))
		return
	}
	for i := range c.spec.Rules {
		give(c.rule(i))
		if c.patterns > MaxPatterns {
			c.fail(i, -1, -1, "paths", codeTooMany, wordsTooManyPatterns())
			break
		}
		if c.written > MaxWritten {
			c.fail(i, -1, -1, "paths", codeTooMany, wordsTooLongPatterns())
			break
		}
	}
	c.presetAndUnmatched()
}

// fail notes an error.
func (c *compiler) fail(rule, path, release int, field, code, message string) {
	c.problems = append(c.problems, Problem{Rule: rule, Path: path, Release: release, Field: field, Code: code, Message: message})
}

// warn notes a warning.
func (c *compiler) warn(rule, path, release int, field, code, message string) {
	c.fail(rule, path, release, field, code, message)
	c.problems[len(c.problems)-1].Warning = true
}

// rule compiles the rule at index i.
func (c *compiler) rule(i int) rule {
	spec := c.spec.Rules[i]
	out := rule{windows: c.windows}
	if !slices.ContainsFunc(spec.Paths, func(glob string) bool { return !strings.HasPrefix(glob, exception) }) {
		c.fail(i, -1, -1, "paths", codeNoPaths, wordsNoPaths(len(spec.Paths)))
	}
	for k, glob := range spec.Paths {
		c.rulePath(i, k, glob, &out)
	}
	c.ruleReleases(i, &out)
	out.bound = out.bound || len(out.captures) > 0
	return out
}

// exception begins a path of a rule that takes paths out of it.
const exception = "!"

// rulePath compiles one path of the rule at index i.
func (c *compiler) rulePath(i, k int, glob string, out *rule) {
	rest, except := strings.CutPrefix(glob, exception)
	compile := compileGlob
	if except {
		compile = compilePlain
	}
	ps, err := compile(rest)
	if except && strings.HasPrefix(rest, " ") {
		err = badGlob(glob, "a space follows the !; write \\ before it if the name begins with it")
	}
	if err != nil {
		c.fail(i, k, -1, "paths", err.code, err.Error())
		return
	}
	c.patterns += len(ps)
	for _, p := range ps {
		c.written += p.written
		p.path, p.text = k, saysRule(i, glob)
		out.bound = out.bound || p.repeats
	}
	if except {
		out.except = append(out.except, ps...)
	} else {
		out.patterns = append(out.patterns, ps...)
	}
}

// ruleReleases compiles the releases of the rule at index i.
func (c *compiler) ruleReleases(i int, out *rule) {
	spec := c.spec.Rules[i]
	switch {
	case spec.Ignore && len(spec.Releases) > 0:
		c.fail(i, -1, 0, "release", codeMixesIgnore, wordsMixesIgnore)
		return
	case !spec.Ignore && len(spec.Releases) == 0:
		c.fail(i, -1, -1, "release", codeNoRelease, wordsNoRelease)
		return
	case len(spec.Releases) > MaxReleases:
		c.fail(i, -1, -1, "release", codeTooMany, wordsTooManyReleases())
		return
	}
	for k, text := range spec.Releases {
		if slices.Contains(spec.Releases[:k], text) {
			c.warn(i, -1, k, "release", codeTwice, wordsTwice(text))
			continue
		}
		if name, ok := captureRelease(text); ok {
			c.captureRelease(i, k, name, out)
			continue
		}
		if problem := c.release(text); problem != nil {
			c.fail(i, -1, k, "release", problem.code, problem.Error())
			continue
		}
		out.releases = append(out.releases, Release(text))
	}
	slices.Sort(out.releases)
}

// captureRelease is the name between the braces of a release that is one capture.
func captureRelease(text string) (name string, ok bool) {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return "", false
	}
	return text[1 : len(text)-1], true
}

// captureRelease compiles "{name}" as a release: every pattern of the rule must capture that name.
func (c *compiler) captureRelease(i, k int, name string, out *rule) {
	for _, p := range out.patterns {
		if !slices.Contains(p.captures, name) {
			c.fail(i, p.path, k, "release", codeUnknownCapture, wordsUnknownCapture(name, c.spec.Rules[i].Paths[p.path]))
			return
		}
	}
	out.captures = append(out.captures, name)
}

// release tells what is wrong with a release that is no capture; nil: nothing.
func (c *compiler) release(text string) *globError {
	glob, branch := strings.CutPrefix(text, branchPrefix)
	switch {
	case branch:
		if _, err := ParseGlob(glob); err != nil {
			return &globError{code: codeBadBranch, message: wordsBadBranch(glob, err)}
		}
		return nil
	case text == "ignore":
		return &globError{code: codeMixesIgnore, message: wordsMixesIgnore}
	case strings.ContainsAny(text, "{}"):
		return &globError{code: codeCaptureNotWhole, message: wordsReleaseNotWhole(text)}
	case text == string(Live) || c.windows[text]:
		return nil
	}
	return &globError{code: codeUnknownWindow, message: wordsUnknownWindow(text)}
}

// presetAndUnmatched checks what comes after the rules.
func (c *compiler) presetAndUnmatched() {
	switch c.spec.Preset {
	case "", NoPreset:
		if len(c.spec.Side) > 0 {
			c.warn(-1, -1, -1, "window", codeSideUnused, wordsSideUnused)
		}
	case RTRW, RTMW, LiveWindow:
		if len(c.spec.Side) == 0 {
			c.fail(-1, -1, -1, "preset", codeNoSide, wordsNoSide(c.spec.Preset))
		}
	default:
		c.fail(-1, -1, -1, "preset", codeUnknownPreset, wordsUnknownPreset(c.spec.Preset))
	}
	for k, r := range c.spec.Side {
		if r == Live {
			c.fail(-1, -1, k, "window", codeSideLive, wordsSideLive)
			continue
		}
		c.plain(k, "window", r)
	}
	for k, r := range c.spec.Unmatched {
		c.plain(k, "unmatched", r)
	}
}

// plain checks a release outside the rules, where there are no captures.
func (c *compiler) plain(k int, field string, r Release) {
	problem := c.release(string(r))
	if name, ok := captureRelease(string(r)); ok {
		problem = &globError{codeUnknownCapture, wordsNoCaptureOutside(name)}
	}
	if problem != nil {
		c.fail(-1, -1, k, field, problem.code, problem.Error())
	}
}

// layout puts the parts together.
func (c *compiler) layout(rules []rule) *Layout {
	l := &Layout{
		rules: rules, asks: c.spec.References,
		preset:    newPreset(c.spec.Preset, c.spec.Side),
		unmatched: Class{Releases: sorted(c.spec.Unmatched), Rule: saysUnmatched(c.spec.Unmatched)},
		trie:      newTrie(), folded: newTrie(), except: newTrie(), exceptFolded: newTrie(),
	}
	// Only references, a preset or `unmatched` let through what no rule names: without them there are no near misses to look for.
	near := l.preset.kind != NoPreset || l.unmatched.open() || l.asks
	if l.asks {
		l.references = unread{} // fail closed
	}
	rank := 0
	for i := range rules {
		r := &rules[i]
		r.rank = rank
		for _, p := range r.patterns {
			l.trie.add(&end{rule: i, rank: rank, pattern: p, holds: r.holds(), except: len(r.except) > 0})
			rank++
		}
		for _, p := range r.except {
			p.folded = p.fold()
			if r.live() {
				l.exceptFolded.add(&end{rule: i, rank: rank, pattern: p.folded})
			} else {
				l.except.add(&end{rule: i, rank: rank, pattern: p})
			}
			rank++
		}
	}
	// Fail closed: what a window would hold but for case is not merged for branches to hold, whichever rule comes first.
	for _, holds := range []bool{true, false} {
		for i := range rules {
			for _, p := range rules[i].patterns {
				if r := &rules[i]; near && r.windowed() && r.holds() == holds {
					l.folded.add(&end{rule: i, rank: rank, pattern: p.fold(), holds: holds, except: len(r.except) > 0})
					rank++
				}
			}
		}
	}
	l.scratches = newScratches(max(l.trie.nodes, l.folded.nodes, l.except.nodes, l.exceptFolded.nodes), len(rules))
	return l
}

// windowed reports whether a path of this rule must wait for something.
func (r *rule) windowed() bool {
	return len(r.captures) > 0 || slices.ContainsFunc(r.releases, func(r Release) bool { return r != Live })
}

// live reports whether every path of the rule is live.
func (r *rule) live() bool { return len(r.captures) == 0 && Class{Releases: r.releases}.live() }

// holds reports whether a window holds every path of the rule.
func (r *rule) holds() bool { return len(r.captures) > 0 || Class{Releases: r.releases}.windowed() }

// sorted is a sorted copy without duplicates.
func sorted(releases []Release) []Release {
	out := slices.Clone(releases)
	slices.Sort(out)
	return slices.Compact(out)
}

// String is the problem as one line, for tests and logs.
func (p Problem) String() string {
	return fmt.Sprintf("%s[%d].%d.%d %s: %s", p.Field, p.Rule, p.Path, p.Release, p.Code, p.Message)
}
