package survey

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/layout"
)

// Bounds of how patterns are put together.
const (
	// fewPatterns is how many patterns stay as they are: below it each says more than one for all of them.
	fewPatterns = 3
	// maxGeneral is how many patterns with a * are tried, those for most directories first: each is compared with every path of the tree.
	maxGeneral = 64
	// maxBraces is how long a pattern with alternatives may be, so that people can read it.
	maxBraces = 100
)

// plainSegment is a part of a path that means nothing else in a pattern or between braces.
var plainSegment = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// shorten puts patterns of one release together: first those that differ by one directory, where a * for it matches no other path but some that
// need the same (apps/*/overlays/production/**), then those of one directory by alternatives (apps/{demo,dev,qa}/**). Whatever stands at the root says
// nothing of another directory there, so that no * for it makes anything live. What is ignored is Flux's own, after all that is held.
func (s *survey) shorten(patterns []string, n needs) []string {
	if n.ignore && len(patterns) >= fewPatterns {
		return []string{"**/flux-system/**"}
	}
	first := 0
	if len(n.windows) == 0 {
		first = 1
	}
	left := map[string]bool{}
	for _, p := range patterns {
		left[p] = true
	}
	each := func(groups []group, instead func(g group) []string) {
		for _, g := range groups {
			g.members = slices.DeleteFunc(g.members, func(p string) bool { return !left[p] })
			if len(g.members) < fewPatterns {
				continue
			}
			short := instead(g)
			for _, p := range g.members {
				delete(left, p)
			}
			for _, p := range short {
				left[p] = true
			}
		}
	}
	inner := groups(patterns, func(steps []string, i int) bool { return i >= first && i+1 < len(steps) && steps[i+1] != "**" })
	each(inner[:min(len(inner), maxGeneral)], func(g group) []string {
		if s.matchesMore(g, n.key()) {
			return g.braces()
		}
		return []string{g.general()}
	})
	last := groups(slices.Sorted(maps.Keys(left)), func(steps []string, i int) bool { return i+1 == len(steps) || steps[i+1] == "**" })
	each(last, group.braces)
	return slices.Sorted(maps.Keys(left))
}

// group is patterns that are alike but for one part.
type group struct {
	before, after string // it
	members       []string
}

// general is a pattern for whatever stands in that part.
func (g group) general() string { return g.before + "*" + g.after }

// groups is patterns by what they have in common but for a part, the most first.
func groups(patterns []string, part func(steps []string, i int) bool) []group {
	found := map[[2]string][]string{}
	for _, p := range patterns {
		steps := strings.Split(p, "/")
		for i, step := range steps {
			if part(steps, i) && plainSegment.MatchString(step) && !slices.Contains(steps, "flux-system") {
				at := len(strings.Join(steps[:i], "/"))
				if i > 0 {
					at++
				}
				around := [2]string{p[:at], p[at+len(step):]}
				found[around] = append(found[around], p)
			}
		}
	}
	var out []group
	for around, members := range found {
		if len(members) >= fewPatterns {
			out = append(out, group{around[0], around[1], members})
		}
	}
	slices.SortFunc(out, func(a, b group) int {
		return cmp.Or(len(b.members)-len(a.members), strings.Compare(a.general(), b.general()))
	})
	return out
}

// matchesMore reports whether the pattern of a group matches a path that its members do not, and that does not need the same.
func (s *survey) matchesMore(g group, key string) bool {
	l, _ := layout.New(layout.Spec{Windows: []string{"window"}, Rules: []layout.Rule{
		{Paths: g.members, Ignore: true}, {Paths: []string{g.general()}, Releases: []string{"window"}},
	}})
	return l == nil || slices.ContainsFunc(s.paths, func(p string) bool {
		n, known := s.needs[p]
		return s.spent(p, 0, 1) || len(l.Classify(p).Releases) > 0 && (!known || s.expressible(n).key() != key)
	})
}

// braces is the members as alternatives, in as many patterns as people can read.
func (g group) braces() (out []string) {
	var names []string
	flush := func() {
		if len(names) == 1 {
			out = append(out, g.before+names[0]+g.after)
		} else if len(names) > 1 {
			out = append(out, g.before+"{"+strings.Join(names, ",")+"}"+g.after)
		}
		names = nil
	}
	for _, m := range g.members {
		name := m[len(g.before) : len(m)-len(g.after)]
		if len(g.before)+len(g.after)+len(strings.Join(append(names, name), ",")) > maxBraces || len(names) == layout.MaxAlternatives {
			flush()
		}
		names = append(names, name)
	}
	flush()
	return out
}
