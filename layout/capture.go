package layout

import "slices"

// maxBindings bounds how many ways to read repeated captures are tried for one path and pattern.
const maxBindings = 64

// binding is what the captures of a pattern stand for in one path, over all ways to read it.
type binding struct {
	values map[string][]string
	doubt  bool // there are more ways than maxBindings; values is not complete
}

// grid answers where the first i segments of a pattern can meet the first j of a path, and likewise from the ends.
type grid struct {
	width       int
	from, until []bool
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
	values, ok := p.values(path, nil, w)
	if !ok || !p.repeats {
		b.values = union(b.values, values)
		return b, ok
	}
	fixed, complete := p.assignments(values)
	if !complete {
		b.doubt = true
		return b, true
	}
	ok = false
	for _, f := range fixed {
		if values, fits := p.values(path, f, w); fits {
			ok = true
			b.values = union(b.values, values)
		}
	}
	return b, ok
}

// occurrences is the values of each capture, one list for each place where it stands.
type occurrences map[string][][]string

// union adds values to sums, without duplicates.
func union(sums map[string][]string, values occurrences) map[string][]string {
	for name, places := range values {
		for _, place := range places {
			for _, v := range place {
				if !slices.Contains(sums[name], v) {
					sums[name] = append(sums[name], v)
				}
			}
		}
	}
	return sums
}

// assignments is every choice of values for the captures that stand more than once; false: there are too many.
func (p *pattern) assignments(values occurrences) ([]map[string]string, bool) {
	out := []map[string]string{{}}
	for _, name := range p.captures {
		places := values[name]
		if len(places) < 2 {
			continue
		}
		var grown []map[string]string
		for _, v := range common(places) {
			for _, f := range out {
				g := map[string]string{name: v}
				for k, w := range f {
					g[k] = w
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

// common is the values that stand in every place.
func common(places [][]string) []string {
	var out []string
	for _, v := range places[0] {
		if !slices.ContainsFunc(places[1:], func(p []string) bool { return !slices.Contains(p, v) }) && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// values is what each capture can stand for when those in fixed stand for that; ok is false if the pattern does not match.
func (p *pattern) values(path []string, fixed map[string]string, w *work) (occurrences, bool) {
	fits := func(s *segment, name string) bool {
		if want, ok := fixed[s.text]; ok && s.kind == capture {
			return name == want
		}
		return s.matches(name, w)
	}
	if w.spent(2 * (len(p.segments) + 1) * (len(path) + 1)) {
		return nil, false
	}
	g := p.grid(path, fits)
	if !g.from[len(g.from)-1] {
		return nil, false
	}
	out := occurrences{}
	for i := range p.segments {
		s := &p.segments[i]
		if s.kind != capture {
			continue
		}
		var place []string
		for j, name := range path {
			if g.from[i*g.width+j] && g.until[(i+1)*g.width+j+1] && fits(s, name) {
				place = append(place, name)
			}
		}
		out[s.text] = append(out[s.text], place)
	}
	return out, true
}

// grid fills the two tables: from[i,j], the first i segments of the pattern match the first j of the path; to[i,j], those
// from i on match those from j on.
func (p *pattern) grid(path []string, fits func(*segment, string) bool) grid {
	n, m := len(p.segments), len(path)
	g := grid{width: m + 1, from: make([]bool, (n+1)*(m+1)), until: make([]bool, (n+1)*(m+1))}
	at := func(i, j int) int { return i*(m+1) + j }
	g.from[at(0, 0)], g.until[at(n, m)] = true, true
	for i := range p.segments {
		s := &p.segments[i]
		for j := 0; j <= m; j++ {
			if s.kind == anyMany {
				g.from[at(i+1, j)] = g.from[at(i, j)] || j > 0 && g.from[at(i+1, j-1)]
			} else {
				g.from[at(i+1, j)] = j > 0 && g.from[at(i, j-1)] && fits(s, path[j-1])
			}
		}
	}
	for i := n - 1; i >= 0; i-- {
		s := &p.segments[i]
		for j := m; j >= 0; j-- {
			if s.kind == anyMany {
				g.until[at(i, j)] = g.until[at(i+1, j)] || j < m && g.until[at(i, j+1)]
			} else {
				g.until[at(i, j)] = j < m && g.until[at(i+1, j+1)] && fits(s, path[j])
			}
		}
	}
	return g
}
