package layout

import "slices"

// Lint says what is strange about the rules in a tree: what can never match because earlier rules or the rule's own exceptions take all of
// it, what matches nothing in the tree, what makes live a path that the preset would hold, captures that name no window, and what becomes
// of protected paths. All problems are warnings, in the order of the rules. paths is every file of the tree; none: nothing is said
// about matching nothing.
func (l *Layout) Lint(paths []string) []Problem {
	look := l.look(paths)
	var out []Problem
	for i := range l.rules {
		shadows := l.shadows(i)
		out = append(out, shadows.problems...)
		switch {
		case shadows.whole:
		case len(paths) > 0 && !look.matched[i]:
			out = append(out, warning(i, codeNothing, wordsNothing))
		case look.live[origin(i)].count > 0:
			out = append(out, warning(i, codeMakesLive, wordsMakesLive(look.live[origin(i)], "preset "+string(l.preset.kind))))
		}
		if len(paths) > 0 && !shadows.whole && look.matched[i] {
			out = append(out, look.exceptions(i, l.rules[i].except)...)
		}
		out = append(out, look.unnamed(i, l.rules[i].captures)...)
		out = append(out, look.protectedBy(origin(i))...)
	}
	return append(append(out, look.protectedBy(byPreset)...), look.protectedBy(byUnmatched)...)
}

// warning is a warning about a rule's paths.
func warning(rule int, code, message string) Problem {
	return Problem{Rule: rule, Path: -1, Release: -1, Field: "paths", Warning: true, Code: code, Message: message}
}

// protectedBy says what becomes of the protected paths that something decides.
func (s *sight) protectedBy(by origin) []Problem {
	var out []Problem
	add := func(some tally, code, message string) {
		p := warning(max(int(by), -1), code, message)
		switch by {
		case byPreset:
			p.Field = "preset"
		case byUnmatched:
			p.Field = "unmatched"
		}
		if some.count > 0 {
			out = append(out, p)
		}
	}
	add(s.held[by], codeProtectedHeld, wordsProtectedHeld(s.held[by]))
	add(s.ignored[by], codeProtectedIgnored, wordsProtectedIgnored(s.ignored[by]))
	return out
}

// exceptions says which paths after a ! match nothing.
func (s *sight) exceptions(rule int, except []*pattern) []Problem {
	var out []Problem
	for i, p := range except {
		last := i+1 == len(except) || except[i+1].path != p.path
		if last && !s.excepts[ruleText{rule, p.text}] {
			w := warning(rule, codeExceptNothing, wordsExceptNothing(p.text))
			w.Path = p.path
			out = append(out, w)
		}
	}
	return out
}

// unnamed says which captures that are releases name no window, and for which files.
func (s *sight) unnamed(rule int, captures []string) []Problem {
	var out []Problem
	for _, name := range captures {
		if some := s.captured[ruleText{rule, name}]; some != nil {
			w := warning(rule, codeNoWindow, wordsNoWindow(name, some))
			w.Field = "release"
			out = append(out, w)
		}
	}
	return out
}

// sight is what one look at a tree shows of each rule.
type sight struct {
	matched  []bool                  // it matches some file, whether or not an earlier rule decides it
	excepts  map[ruleText]bool       // a path after a ! matches some file
	captured map[ruleText]*valueList // by capture: what it stands for that is no window
	live     tallies                 // files that it makes live and the preset would hold
	held     tallies                 // protected files that it holds, for people to merge
	ignored  tallies                 // protected files that are ignored, as it would not have held them
}

// ruleText is something that is written in a rule.
type ruleText struct {
	rule int
	text string
}

// valueList is what a capture stands for in the files of a tree, in their order.
type valueList struct {
	values []string
	files  map[string]tally
}

// tallies is files by what decides them.
type tallies map[origin]tally

// tally is how many files there are, and the first of them.
type tally struct {
	count int
	first string
}

func (s tallies) add(by origin, path string) { s[by] = s[by].add(path) }

func (s tally) add(path string) tally {
	if s.count++; s.count == 1 {
		s.first = path
	}
	return s
}

// look classifies every file of a tree.
func (l *Layout) look(paths []string) sight {
	out := sight{make([]bool, len(l.rules)), map[ruleText]bool{}, map[ruleText]*valueList{}, tallies{}, tallies{}, tallies{}}
	s := l.scratches.Get().(*scratch)
	defer l.scratches.Put(s)
	for _, path := range paths {
		if l.stop != nil && l.stop(path) {
			break
		}
		if !s.read(path) {
			continue
		}
		l.markExceptions(s, func(e *end) { out.excepts[ruleText{e.rule, e.pattern.text}] = true })
		l.trie.each(s, s.segments, func(e *end) { out.matched[e.rule] = true })
		s.work = maxWork
		c, by := l.decide(s)
		switch {
		case c.Protected && len(c.Releases) > 0:
			out.held.add(by, path)
		case c.Protected && by != byNothing:
			out.ignored.add(by, path)
		case s.needs == 0 && c.live():
			if c, ok := l.preset.class(s.segments); ok && !c.live() {
				out.live.add(by, path)
			}
		}
		if by >= 0 {
			out.addCaptured(int(by), c, path)
		}
	}
	return out
}

// addCaptured adds what the captures of a rule stand for in a path if that is no window.
func (s *sight) addCaptured(rule int, c Class, path string) {
	for _, r := range c.Releases {
		name, value, ok := r.NoWindow()
		if !ok {
			continue
		}
		at := ruleText{rule, name}
		if s.captured[at] == nil {
			s.captured[at] = &valueList{files: map[string]tally{}}
		}
		list := s.captured[at]
		some, known := list.files[value]
		if !known {
			list.values = append(list.values, value)
		}
		list.files[value] = some.add(path)
	}
}

// shadow is what earlier rules take from one.
type shadow struct {
	whole    bool // everything: the rule never matches
	problems []Problem
}

// shadows finds the paths of the rule at index i that can never match. It says so only where it is certain: one pattern of
// an earlier rule, or one after a ! of its own, takes all that a pattern can match.
func (l *Layout) shadows(i int) shadow {
	r := &l.rules[i]
	out := shadow{whole: true}
	own := r.exceptions()
	for from := 0; from < len(r.patterns); {
		to := from
		var by *end
		all := true
		for ; to < len(r.patterns) && r.patterns[to].path == r.patterns[from].path; to++ {
			e := l.covering(r.rank, r.patterns[to])
			if e == nil {
				e = r.excepting(own, r.patterns[to])
			}
			if e == nil {
				all = false
				continue
			}
			by = e
		}
		if all {
			p := warning(i, codeShadowed, wordsShadowed(r.patterns[from].text, by.pattern.text, by.rank < r.rank))
			p.Path = r.patterns[from].path
			out.problems = append(out.problems, p)
		}
		out.whole = out.whole && all
		from = to
	}
	return out
}

// covering is an end before the given rank whose pattern matches whatever p can match; nil: none was found.
func (l *Layout) covering(rank int, p *pattern) *end {
	c := cover{rules: l.rules, rank: rank, pattern: p, folded: p.fold(), seen: map[place]bool{}, work: maxWork}
	return c.from(l.trie.root, 0)
}

// exceptions is a trie of what takes paths out of the rule, in lower case where case does not count; nil: there is none.
func (r *rule) exceptions() *trie {
	if len(r.except) == 0 {
		return nil
	}
	t := newTrie()
	for k, p := range r.except {
		if r.live() {
			p = p.folded
		}
		// An end that holds, of a rule that none comes before, covers protected paths too: a ! takes them out like others.
		t.add(&end{rank: r.rank + k, pattern: p, holds: true})
	}
	return t
}

// excepting is an end of the rule's exceptions that takes out whatever p can match; nil: none was found.
func (r *rule) excepting(exceptions *trie, p *pattern) *end {
	if exceptions == nil {
		return nil
	}
	if r.live() {
		p = p.fold()
	}
	c := cover{rank: noRank, pattern: p, seen: map[place]bool{}, work: maxWork}
	return c.from(exceptions.root, 0)
}

// cover is one search for a covering pattern: it walks the trie with the segments of a pattern instead of a path's.
type cover struct {
	rules   []rule
	rank    int
	pattern *pattern
	folded  *pattern // pattern in lower case
	seen    map[place]bool
	work    work
}

// place is a node that the first segments of the pattern have led to.
type place struct {
	node    *node
	segment int
}

// from searches below n with the pattern's segments from i on.
func (c *cover) from(n *node, i int) *end {
	if n == nil || n.best >= c.rank || c.seen[place{n, i}] {
		return nil
	}
	c.seen[place{n, i}] = true
	if e := c.from(n.after, i); e != nil {
		return e
	}
	if i == len(c.pattern.segments) {
		return c.ending(n)
	}
	if n.many {
		if e := c.from(n, i+1); e != nil {
			return e
		}
	}
	for _, to := range n.over(&c.pattern.segments[i], &c.work) {
		if e := c.from(to, i+1); e != nil {
			return e
		}
	}
	return nil
}

// ending is an end at n that matches without further conditions.
func (c *cover) ending(n *node) *end {
	for _, e := range n.ends {
		if e.except && slices.ContainsFunc(c.rules[e.rule].except, func(p *pattern) bool { return !p.folded.apart(c.folded) }) {
			continue // it lets something through, perhaps
		}
		if e.rank < c.rank && !e.pattern.repeats && (c.pattern.names&^e.pattern.names == 0 || e.holds && c.first(e)) {
			return e
		}
	}
	return nil
}

// first reports whether e comes before all that could let a protected path pass it: where the first rule that matches does not hold such
// a path, only rules that name its directories are asked (Layout.decide).
func (c *cover) first(e *end) bool {
	for _, r := range c.rules[:e.rule] {
		if !r.holds() && slices.ContainsFunc(r.patterns, func(p *pattern) bool { return !p.apart(c.pattern) }) {
			return false
		}
	}
	return true
}

// apart reports whether no path matches both patterns, where names written out show it: it is false where they may still be apart.
func (p *pattern) apart(q *pattern) bool {
	for i := range min(len(p.segments), len(q.segments)) {
		a, b := p.segments[i], q.segments[i]
		if a.kind == anyMany || b.kind == anyMany {
			return false
		}
		if a.kind == literal && b.kind == literal && a.text != b.text {
			return true
		}
	}
	return false
}

// over is the nodes that a segment leads to whatever it stands for.
func (n *node) over(s *segment, w *work) []*node {
	var out []*node
	if s.kind == anyMany {
		return nil // only a `**` takes all of a `**`
	}
	if to, ok := n.literals[s.text]; ok && s.kind == literal {
		out = append(out, to)
	}
	for _, e := range n.globs.all() {
		if s.kind == wildcard && (e.text == s.text || e.m.covers(s.glob)) || s.kind == literal && e.m.match(s.text, w) {
			out = append(out, e.to)
		}
	}
	return append(out, n.one)
}
