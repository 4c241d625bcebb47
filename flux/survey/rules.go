package survey

import (
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/window"
)

// firstRule is a rule of the layout.
type firstRule struct {
	comment string
	paths   []string
	needs   needs
	last    bool           // after those of single directories, in the order in which they were made
	layout  *layout.Layout // of a last one alone
}

// matches reports whether a last rule matches a path.
func (r firstRule) matches(file string) bool {
	return r.layout != nil && len(r.layout.Classify(file).Releases) > 0
}

// findRules turns what each file needs into rules over directories.
func (s *survey) findRules() {
	suffixed := s.decidedByNames()
	root, flux := &folder{below: map[string]*folder{}}, &folder{below: map[string]*folder{}}
	for file := range suffixed {
		root.add(s, file, needs{preset: true})
	}
	for _, file := range slices.Sorted(maps.Keys(s.needs)) {
		if suffixed[file] {
			continue
		}
		n := s.expressible(s.needs[file])
		if !utf8.ValidString(file) || strings.ContainsFunc(file, func(c rune) bool { return c != ' ' && !unicode.IsPrint(c) }) {
			s.note(notePath, file)
			continue
		}
		if dir, ok := protectedDir(file); ok {
			flux.add(s, dir, n)
			continue
		}
		root.add(s, file, n)
	}
	found := map[string]*firstRule{}
	give := func(pattern string, n needs) {
		if n.preset {
			return
		}
		r := found[n.key()]
		if r == nil {
			r = &firstRule{needs: n}
			found[n.key()] = r
		}
		r.paths = append(r.paths, pattern)
	}
	root.rules("", give)
	flux.each("", func(dir string, n needs) {
		if n = s.expressible(n); len(n.windows)+len(n.branches) == 0 {
			n = needs{ignore: true} // people merge it, as they would without a rule
		}
		give(dir+"/**", n)
	})
	s.addRules(found)
}

// decidedByNames writes the rules by directory names, and gives the files for which they and the preset say what is needed.
func (s *survey) decidedByNames() map[string]bool {
	suffixed := map[string]bool{}
	shared := false // a directory that is no cluster's own is windowed by its name
	for _, file := range s.paths {
		windowed, live := s.bySuffix(file)
		if windowed || live {
			if s.spent(file, 1, 1) {
				break
			}
			suffixed[file] = true
		}
		shared = shared || windowed && !slices.ContainsFunc(s.clusters, func(c graph.Cluster) bool {
			return strings.HasPrefix(file, dirOfCluster(c.Path)+"/")
		})
	}
	s.sides(shared)
	byNames := s.withoutNotes()
	maps.DeleteFunc(suffixed, func(file string, _ bool) bool { return byNames == nil || !s.holds(byNames, file, s.needs[file]) })
	left := maps.Clone(suffixed)
	s.rules = slices.DeleteFunc(s.rules, func(r firstRule) bool { // check would warn of one that no path reaches
		n := len(left)
		maps.DeleteFunc(left, func(file string, _ bool) bool { return r.matches(file) })
		return n == len(left)
	})
	return suffixed
}

// addRules adds the rules of single directories, by what they need.
func (s *survey) addRules(found map[string]*firstRule) {
	for _, key := range slices.Sorted(maps.Keys(found)) {
		r := found[key]
		slices.Sort(r.paths)
		if s.preset == layout.NoPreset {
			r.paths = s.shorten(r.paths, r.needs)
		}
		r.comment = s.reason(r.needs)
		for part := range slices.Chunk(r.paths, config.MaxPaths) {
			s.rules = append(s.rules, firstRule{comment: r.comment, paths: part, needs: r.needs})
		}
	}
	slices.SortStableFunc(s.rules, func(a, b firstRule) int { return strings.Compare(a.order(), b.order()) })
	if len(s.rules) > config.MaxRules {
		s.note(noteManyRules, len(s.rules), config.MaxRules)
		s.rules = s.rules[:config.MaxRules]
	}
}

// order puts what is held first, and what is live last.
func (r firstRule) order() string {
	switch {
	case r.last:
		return "5"
	case r.needs.ignore:
		return "3"
	case len(r.needs.windows) > 0:
		return "1" + r.needs.key()
	case len(r.needs.branches) > 0:
		return "2" + r.needs.key()
	}
	return "4"
}

// key tells needs apart.
func (n needs) key() string {
	switch {
	case n.preset:
		return "preset"
	case n.ignore:
		return "ignore"
	}
	return strings.Join(n.windows, ",") + ";" + strings.Join(n.branches, ",")
}

// expressible is needs that one rule can have: windows, or branches, or live. What windows and branches hold waits for the windows of all. What no
// two windows would ever let through together waits for one: no branch holds it that no source tracks.
func (s *survey) expressible(n needs) needs {
	if len(n.windows) > 0 {
		all := slices.Compact(slices.Sorted(slices.Values(s.windowsOfNeeds(n))))
		switch {
		case !s.apart(all):
			n.windows = all
		case !s.apart(n.windows): // the branches hold their part further
		default:
			first := n.windows[max(0, slices.IndexFunc(n.windows, s.forProduction))]
			s.note(noteApart, list(n.windows, 4), first)
			n.windows = []string{first}
		}
		n.branches = nil
	}
	if len(n.branches) > config.MaxReleases {
		n.branches = []string{allBranches}
	}
	return n
}

// forProduction reports whether a window is for a cluster that is called production.
func (s *survey) forProduction(name string) bool {
	return slices.ContainsFunc(s.windows, func(w firstWindow) bool {
		return w.name == name && slices.ContainsFunc(w.clusters, productive.MatchString)
	})
}

// apart reports whether windows cannot hold a path together: they are too many, or never open at one time. When an example is open nobody knows.
func (s *survey) apart(names []string) bool {
	known := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(s.windows, func(w firstWindow) bool { return w.name == name && w.placeholder })
	})
	return len(names) > config.MaxReleases || len(known) > 1 && s.neverTogether(known)
}

// neverTogether reports whether windows are never open at one time.
func (s *survey) neverTogether(names []string) bool {
	key := strings.Join(names, ",")
	never, known := s.together[key]
	if !known {
		never = s.compareWindows(names)
		s.together[key] = never
	}
	return never
}

// compareWindows reports whether windows are never open at one time, worked out anew.
func (s *survey) compareWindows(names []string) bool {
	var y yamlText
	y.line(0, "version: 1\ntimezone: UTC")
	y.line(0, "windows:")
	for _, w := range s.windows {
		if slices.Contains(names, w.name) {
			w.write(&y, "")
		}
	}
	policy, _ := config.Parse([]byte(y.String()))
	if policy == nil {
		return true
	}
	list := make([]window.Name, len(names))
	for i, n := range names {
		list[i] = window.Name(n)
	}
	return policy.Calendar.NeverTogether([][]window.Name{list})[0]
}

// sides writes rules for the windowed sides of names where clusters or conventions differ: each cluster's own directories have its own window or
// branches, and what they share has those of all. Where they do not differ the preset says it.
func (s *survey) sides(shared bool) {
	if s.preset == layout.NoPreset {
		return
	}
	all := needs{}
	var own []graph.Cluster // of which something is windowed
	for _, c := range s.clusters {
		if s.hasWindow(c.Name) {
			side := s.sideOf(c)
			all.windows, all.branches = append(all.windows, side.windows...), append(all.branches, side.branches...)
			own = append(own, c)
		}
	}
	if all = all.sorted(); len(own) == 0 {
		all.windows = []string{s.windows[0].name}
	}
	several := len(all.windows)+len(all.branches) > 1
	if several && !shared && len(all.windows) > 0 {
		all = needs{windows: all.windows[:1]} // the rules of the clusters say all there is
	}
	all = s.expressible(all)
	s.side = all
	for i, shape := range s.shapes {
		if several {
			for _, c := range own {
				if dir := dirOfCluster(c.Path); dir != "." {
					s.addSide("the windowed side of "+c.Name, shape.preset, layout.Literal(dir)+"/", s.expressible(s.sideOf(c)))
				}
			}
		}
		if i > 0 || several && len(all.windows) > 1 { // else the preset says it
			s.addSide("the windowed side that clusters share", shape.preset, "", all)
		}
	}
}

// addSide adds a rule for the windowed side of a convention below a directory, after those of single directories.
func (s *survey) addSide(comment string, p layout.Preset, at string, n needs) {
	r := firstRule{comment: comment, paths: sidePaths(p, at), needs: n, last: true}
	r.layout, _ = layout.New(layout.Spec{Windows: []string{"window"}, Rules: []layout.Rule{{Paths: r.paths, Releases: []string{"window"}}}})
	s.rules = append(s.rules, r)
}

// sideOf is what holds the windowed side of a cluster: the branches that it tracks, else its window.
func (s *survey) sideOf(c graph.Cluster) needs {
	n, holder := needs{}, s.holderOf(c)
	for _, k := range c.Kustomizations {
		n.branches = append(n.branches, holder.held(k).branches...)
	}
	if len(n.branches) == 0 {
		n.windows = []string{s.windowOf(c.Name).name}
	}
	return n.sorted()
}

// sidePaths is the patterns of the windowed side of a convention below a directory.
func sidePaths(p layout.Preset, at string) []string {
	switch p {
	case layout.RTRW:
		return []string{at + "**/*-rw/**"}
	case layout.RTMW:
		return []string{at + "**/*-mw/**"}
	}
	return []string{at + "**/{*-window,window-*}/**", "!" + at + "**/{*-live,live-*}/**"}
}

// holdAll is what is left where the rules do not hold all that they should: references decide; where these cannot
// either, everything waits.
func (s *survey) holdAll() {
	all := needs{}
	for _, n := range s.needs {
		all.windows = append(all.windows, s.windowsOfNeeds(n)...)
	}
	s.preset, s.rules, s.side, s.unmatched = layout.NoPreset, nil, needs{}, s.expressible(all.sorted())
	s.byReferences = s.fluxLines(config.MaxEntryPoints)
}

// withoutNotes is the policy of what was found so far; nil: it is not valid.
func (s *survey) withoutNotes() *config.Policy {
	var y yamlText
	y.line(0, "version: 1\ntimezone: UTC")
	s.writeWindows(&y)
	s.writeLayout(&y)
	s.writeBranches(&y)
	policy, _ := config.Parse([]byte(y.String()))
	return policy
}

// dirOfCluster is the directory that is a cluster's own: its root, without what only Flux's own directories add.
func dirOfCluster(root string) string {
	for slices.Contains([]string{"flux", "flux-system"}, path.Base(root)) && path.Dir(root) != "." {
		root = path.Dir(root)
	}
	return root
}
