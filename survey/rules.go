package survey

import (
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/graph"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/window"
)

// firstRule is a rule of the layout.
type firstRule struct {
	comment string
	paths   []string
	needs   needs
	last    bool // after those of single directories, in the order in which they were made
}

// findRules turns what each file needs into rules over directories.
func (s *survey) findRules() {
	root, flux := &folder{below: map[string]*folder{}}, &folder{below: map[string]*folder{}}
	shared := false // a directory that is no cluster's own is windowed by its name
	for _, file := range s.paths {
		if windowed, live := s.bySuffix(file); windowed || live {
			root.add(strings.Split(file, "/"), needs{preset: true})
			delete(s.needs, file)
			shared = shared || windowed && !slices.ContainsFunc(s.clusters, func(c graph.Cluster) bool {
				return strings.HasPrefix(file, dirOfCluster(c.Path)+"/")
			})
		}
	}
	s.sides(shared)
	for _, file := range slices.Sorted(maps.Keys(s.needs)) {
		n := s.expressible(s.needs[file])
		if !utf8.ValidString(file) || strings.ContainsFunc(file, func(c rune) bool { return c != ' ' && !unicode.IsPrint(c) }) {
			s.note(notePath, file)
			continue
		}
		if dir, ok := protectedDir(file); ok {
			flux.add(strings.Split(dir, "/"), n)
			continue
		}
		root.add(strings.Split(file, "/"), n)
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
		if len(n.windows)+len(n.branches) == 0 {
			n = needs{ignore: true} // people merge it, as they would without a rule
		}
		give(dir+"/**", n)
	})
	for _, key := range slices.Sorted(maps.Keys(found)) {
		r := found[key]
		slices.Sort(r.paths)
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

// order puts what is held before what is live.
func (r firstRule) order() string {
	switch {
	case r.last:
		return "4"
	case r.needs.ignore:
		return "0"
	case len(r.needs.windows) > 0:
		return "1" + r.needs.key()
	case len(r.needs.branches) > 0:
		return "2" + r.needs.key()
	}
	return "3"
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

// expressible is needs that one rule can have: windows, or branches, or live. What windows and branches hold waits for the windows of all.
// What no two windows would ever let through together, branches hold: each takes it at its own window.
func (s *survey) expressible(n needs) needs {
	if len(n.windows) > 0 {
		n.windows = slices.Compact(slices.Sorted(slices.Values(s.windowsOfNeeds(n))))
		n.branches = nil
	}
	if len(n.windows) > 1 && (len(n.windows) > config.MaxReleases || s.neverTogether(n.windows)) {
		for _, w := range n.windows {
			n.branches = append(n.branches, s.branchFor(w))
		}
		n.windows = nil
	}
	if len(n.branches) > config.MaxReleases {
		n.branches = []string{allBranches}
	}
	slices.Sort(n.branches)
	return n
}

// branchFor is a branch that moves in a window: one that there is, else one to make.
func (s *survey) branchFor(w string) string {
	for _, b := range s.branches {
		if b.window == w {
			return b.name
		}
	}
	s.branches = append(s.branches, firstBranch{name: "rw/" + w, from: s.mainBranch(), window: w})
	return "rw/" + w
}

// mainBranch is the branch that a branch to make follows: the default branch, as far as it is known.
func (s *survey) mainBranch() string {
	if s.main != "" && validBranch("rw/x", s.main) {
		return s.main
	}
	for _, c := range s.clusters {
		if c.Branch != "" && validBranch("rw/x", c.Branch) {
			return c.Branch
		}
	}
	return "main"
}

// neverTogether reports whether windows are never open at one time.
func (s *survey) neverTogether(names []string) bool {
	key := strings.Join(names, ",")
	never, known := s.together[key]
	if !known {
		never = s.apart(names)
		s.together[key] = never
	}
	return never
}

// apart reports whether windows are never open at one time, worked out anew.
func (s *survey) apart(names []string) bool {
	var y yamlText
	y.line(0, "version: 1\ntimezone: UTC")
	s.writeWindows(&y)
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

// sides writes rules for the preset's windowed side where clusters differ: each cluster's own directories have its own window or branches,
// and what they share has those of all. Where they do not differ the preset says it.
func (s *survey) sides(shared bool) {
	if s.preset == layout.NoPreset {
		return
	}
	all := needs{}
	for _, c := range s.clusters {
		side := s.sideOf(c)
		all.windows, all.branches = append(all.windows, side.windows...), append(all.branches, side.branches...)
	}
	all = all.sorted()
	several := len(all.windows)+len(all.branches) > 1
	if several && !shared && len(all.windows) > 0 {
		all = needs{windows: all.windows[:1]} // the rules of the clusters say all there is
	}
	all = s.expressible(all)
	s.side = all
	if !several {
		return
	}
	for _, c := range s.clusters {
		if dir := dirOfCluster(c.Path); dir != "." {
			at := layout.Literal(dir) + "/"
			s.rules = append(s.rules, firstRule{comment: "the windowed side of " + c.Name, paths: s.sidePaths(at), needs: s.expressible(s.sideOf(c)), last: true})
		}
	}
	if len(all.windows) < 2 {
		return // the preset says it
	}
	s.rules = append(s.rules, firstRule{comment: "the windowed side that clusters share", paths: s.sidePaths(""), needs: all, last: true})
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

// sidePaths is the patterns of the preset's windowed side below a directory.
func (s *survey) sidePaths(at string) []string {
	switch s.preset {
	case layout.RTRW:
		return []string{at + "**/*-rw/**"}
	case layout.RTMW:
		return []string{at + "**/*-mw/**"}
	}
	return []string{at + "**/{*-window,window-*}/**", "!" + at + "**/{*-live,live-*}/**"}
}

// dirOfCluster is the directory that is a cluster's own: its root, without what only Flux's own directories add.
func dirOfCluster(root string) string {
	for slices.Contains([]string{"flux", "flux-system"}, path.Base(root)) && path.Dir(root) != "." {
		root = path.Dir(root)
	}
	return root
}
