package window

import (
	"cmp"
	"slices"
	"sort"
)

// covers reports whether x lies in the span.
func (v span) covers(x instant) bool { return v.from <= x && x < v.until }

// union sorts spans and merges those that overlap or touch. Empty ones vanish.
func union(spans []span) []span {
	sorted := slices.Clone(spans)
	slices.SortFunc(sorted, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out []span
	for _, v := range sorted {
		switch last := len(out) - 1; {
		case v.from >= v.until:
		case last >= 0 && v.from <= out[last].until:
			out[last].until = max(out[last].until, v.until)
		default:
			out = append(out, v)
		}
	}
	return out
}

// firstSpan is the first of sorted, separate spans that ends after x.
func firstSpan(spans []span, x instant) (span, bool) {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].until > x })
	if i == len(spans) {
		return span{}, false
	}
	return spans[i], true
}

// frost is a stretch of time in which the same freeze closes a window.
type frost struct {
	span
	by string
}

// frosts flattens freezes, in the order of the file, into sorted, separate stretches. Where freezes overlap, the first
// in the file gives its name.
func frosts(freezes []frost) []frost {
	var borders []instant
	for _, f := range freezes {
		borders = append(borders, f.from, f.until)
	}
	slices.Sort(borders)
	borders = slices.Compact(borders)
	var out []frost
	for i := 0; i+1 < len(borders); i++ {
		by := slices.IndexFunc(freezes, func(f frost) bool { return f.covers(borders[i]) })
		if by < 0 {
			continue
		}
		last := len(out) - 1
		if last >= 0 && out[last].until == borders[i] && out[last].by == freezes[by].by {
			out[last].until = borders[i+1]
			continue
		}
		out = append(out, frost{span{borders[i], borders[i+1]}, freezes[by].by})
	}
	return out
}

// frostAfter is the index of the first stretch that ends after x; len(all) if there is none.
func frostAfter(all []frost, x instant) int {
	return sort.Search(len(all), func(i int) bool { return all[i].until > x })
}
