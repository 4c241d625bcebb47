package layout

import (
	"slices"
	"strings"
)

// maxBindings bounds how many ways to read captures are tried: of those that stand twice in one pattern, and of one that is part of a
// segment, in one name.
const maxBindings = 64

// binding is what the captures of a pattern stand for in one path, over all ways to read it.
type binding struct {
	values map[string][]string
	doubt  bool // there are more ways than maxBindings; values is not complete
}

// matches reports whether the pattern matches the path. Where there are too many ways to tell, it says so: a rule that
// repeats a capture is looked at again by bind, which then fails closed.
func (p *pattern) matches(path []string, w *work) bool {
	_, ok := p.bind(path, w)
	return ok
}

// bind is what the pattern's captures stand for in a path; ok is false if the pattern does not match.
func (p *pattern) bind(path []string, w *work) (b binding, ok bool) {
	b.values = map[string][]string{}
	for name, value := range p.fixed {
		b.values[name] = []string{value}
	}
	values, ok := p.read(path, nil, w)
	if !ok || values == nil || !p.repeats {
		b.add(values)
		return b, ok
	}
	assignments, complete := p.assignments(values, w)
	if !complete {
		b.doubt = true
		return b, true
	}
	ok = false
	for _, fixed := range assignments {
		if values, fits := p.read(path, fixed, w); fits {
			ok = true
			b.add(values)
		}
	}
	return b, ok
}

// occurrences is the values of each capture, one list for each place where it stands. nil: there are more than are worth trying.
type occurrences map[string][][]string

// add adds values, without duplicates.
func (b *binding) add(values occurrences) {
	b.doubt = b.doubt || values == nil
	for name, places := range values {
		for _, place := range places {
			for _, v := range place {
				if !slices.Contains(b.values[name], v) {
					b.values[name] = append(b.values[name], v)
				}
			}
		}
	}
}

// choiceWork is what it costs, in steps, to write down that a capture stands for a value.
const choiceWork = 16

// assignments is every choice of values for the captures that stand more than once; false: there are too many, or it would cost too much
// to find out.
func (p *pattern) assignments(values occurrences, w *work) ([]map[string]string, bool) {
	out := []map[string]string{{}}
	for _, name := range p.captures {
		places := values[name]
		if len(places) < 2 {
			continue
		}
		var grown []map[string]string
		for _, v := range common(places, w) {
			for _, f := range out {
				if !w.affords(choiceWork * (len(f) + 1)) {
					return nil, false
				}
				g := map[string]string{name: v}
				for k, value := range f {
					g[k] = value
				}
				grown = append(grown, g)
			}
			if len(grown) > maxBindings {
				return nil, false
			}
		}
		out = grown
	}
	return out, true
}

// common is the values that stand in every place; none where it would cost too much to find out.
func common(places [][]string, w *work) []string {
	var out []string
	if !w.affords(len(places[0]) * len(slices.Concat(places...))) {
		return nil
	}
	for _, v := range places[0] {
		if !slices.ContainsFunc(places[1:], func(p []string) bool { return !slices.Contains(p, v) }) && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// read is what each capture that is not limited can stand for when those in fixed stand for that; ok is false if the pattern does not match.
func (p *pattern) read(path []string, fixed map[string]string, w *work) (values occurrences, ok bool) {
	g, ok := newGrid(len(p.segments), len(path), w,
		func(i int) bool { return p.segments[i].kind == anyMany },
		func(i, j int) bool { return p.segments[i].fits(path[j], fixed, w) })
	if !ok {
		return nil, false
	}
	values = occurrences{}
	for i := range p.segments {
		s := &p.segments[i]
		places := make([][]string, len(s.names))
		for j := 0; len(s.names) > 0 && j < len(path); j++ {
			if !g.from[g.at(i, j)] || !g.until[g.at(i+1, j+1)] || !s.fits(path[j], fixed, w) {
				continue
			}
			if !s.read(path[j], fixed, w, places) {
				return nil, true
			}
		}
		for k, name := range s.names {
			values[name] = append(values[name], places[k])
		}
	}
	return values, true
}

// fits reports whether a segment that is not `**` matches a name when the captures in fixed stand for that.
func (s *segment) fits(name string, fixed map[string]string, w *work) bool {
	if s.kind == capture {
		want, ok := fixed[s.text]
		return !ok || name == want
	}
	if !s.matches(name, w) {
		return false
	}
	if !slices.ContainsFunc(s.names, func(n string) bool { _, ok := fixed[n]; return ok }) {
		return true
	}
	_, _, ok := s.spell(name, fixed, w)
	return ok
}

// read adds what the captures of a segment can stand for in a name that it fits, to one list for each; false: there are more ways to
// read it than are worth trying.
func (s *segment) read(name string, fixed map[string]string, w *work, places [][]string) bool {
	if s.kind == capture {
		places[0] = append(places[0], name)
		return true
	}
	sp, g, ok := s.spell(name, fixed, w)
	for k := 0; ok && k < len(s.names); k++ {
		if ok = sp.read(k, g, w); ok {
			places[k] = append(places[k], sp.values...)
		}
	}
	return ok
}

// spelling is a segment and a name, character by character.
type spelling struct {
	tokens   []token
	captures []slot
	name     string
	chars    []string // a byte that is no UTF-8 is a character
	values   []string // of the capture that was read last
}

// slot is a capture: its first token, the one after it, and what it must stand for, if anything.
type slot struct {
	first, after int
	want         string
}

// spellWork is what it costs, in steps, to lay a segment of ordinary length against a name.
const spellWork = 256

// spell lays a segment against a name; false: it does not fit, or that would cost too much to find out.
func (s *segment) spell(name string, fixed map[string]string, w *work) (*spelling, grid, bool) {
	if !w.affords(spellWork + len(name)) {
		return nil, grid{}, false
	}
	sp := &spelling{name: name, chars: strings.Split(name, "")}
	for i := 0; i < len(s.glob.tokens); i++ {
		t := s.glob.tokens[i]
		if t.name == "" {
			sp.write(t)
			continue
		}
		i++ // the tokenMany
		c := slot{first: len(sp.tokens), want: fixed[t.name]}
		if c.want != "" {
			sp.write(token{kind: tokenText, text: c.want})
		} else {
			sp.write(t)
			sp.write(s.glob.tokens[i])
		}
		c.after = len(sp.tokens)
		sp.captures = append(sp.captures, c)
	}
	g, ok := newGrid(len(sp.tokens), len(sp.chars), w,
		func(i int) bool { return sp.tokens[i].kind == tokenMany },
		func(i, j int) bool { return sp.tokens[i].matchPrefix(sp.chars[j]) > 0 })
	return sp, g, ok
}

// write adds a token, a text as its characters.
func (sp *spelling) write(t token) {
	if t.kind != tokenText {
		sp.tokens = append(sp.tokens, t)
		return
	}
	for _, c := range strings.Split(t.text, "") {
		sp.tokens = append(sp.tokens, token{kind: tokenText, text: c})
	}
}

// read finds the values of the capture at index k, each once; false: there are more than are worth trying.
func (sp *spelling) read(k int, g grid, w *work) bool {
	sp.values = sp.values[:0]
	c, start := sp.captures[k], 0
	for from := range sp.chars {
		end := start
		for to := from; g.from[g.at(c.first, from)] && to < len(sp.chars) && !w.spent(1); to++ {
			end += len(sp.chars[to])
			value := sp.name[start:end]
			if !g.until[g.at(c.after, to+1)] || c.want != "" && value != c.want || slices.Contains(sp.values, value) {
				continue
			}
			if sp.values = append(sp.values, value); len(sp.values) > maxBindings {
				return false
			}
		}
		start += len(sp.chars[from])
	}
	return true
}

// grid answers where the first i parts of a pattern can meet the first j of a path, and likewise from the ends. Parts are segments, or
// the characters of one.
type grid struct {
	width       int
	from, until []bool
}

func (g *grid) at(i, j int) int { return i*g.width + j }

// newGrid fills the two tables: from[i,j], the first i parts of the pattern match the first j of the path; until[i,j], those from i on
// match those from j on. many reports whether a part of the pattern is any number of parts of the path, fits whether another is one. It
// is false if the pattern does not match, or if that would cost too much to find out.
func newGrid(n, m int, w *work, many func(i int) bool, fits func(i, j int) bool) (grid, bool) {
	if !w.affords(2 * (n + 1) * (m + 1)) {
		return grid{}, false
	}
	g := grid{width: m + 1, from: make([]bool, (n+1)*(m+1)), until: make([]bool, (n+1)*(m+1))}
	g.from[g.at(0, 0)], g.until[g.at(n, m)] = true, true
	for i := range n {
		for j := 0; j <= m; j++ {
			if many(i) {
				g.from[g.at(i+1, j)] = g.from[g.at(i, j)] || j > 0 && g.from[g.at(i+1, j-1)]
			} else {
				g.from[g.at(i+1, j)] = j > 0 && g.from[g.at(i, j-1)] && fits(i, j-1)
			}
		}
	}
	if !g.from[g.at(n, m)] {
		return grid{}, false
	}
	for i := n - 1; i >= 0; i-- {
		for j := m; j >= 0; j-- {
			if many(i) {
				g.until[g.at(i, j)] = g.until[g.at(i+1, j)] || j < m && g.until[g.at(i, j+1)]
			} else {
				g.until[g.at(i, j)] = j < m && g.until[g.at(i+1, j+1)] && fits(i, j)
			}
		}
	}
	return g, true
}
