package main

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/graph"
	"github.com/sluicegate/sluice/layout"
)

// survey is what a repository's first file is made of.
type survey struct {
	paths    []string
	tree     *graph.Tree
	clusters []graph.Cluster
	windows  []firstWindow
	preset   layout.Preset
	shape    *layout.Layout // the preset alone: what directory names say
	branches []firstBranch
	unclear  bool             // something is about windows, and is not clear
	evidence bool             // something in the tree says what is windowed
	notes    []string         // what was not understood
	needs    map[string]needs // of each file that a cluster reads
	rules    []firstRule
	side     needs           // of the preset
	zone     string          // of the file
	together map[string]bool // whether windows are never open at one time, by their names
	gone     []string        // targets of jobs that stand in no file
}

// firstBranch is a windowed branch: one that a cluster's Kustomizations track already.
type firstBranch struct {
	name, from, window, at string
}

// needs is what must be open for a file: windows, and branches that hold it.
type needs struct {
	windows, branches []string
	live              bool
	preset            bool // the preset says what
	ignore            bool
}

// sorted is needs in order, each once.
func (n needs) sorted() needs {
	slices.Sort(n.windows)
	slices.Sort(n.branches)
	n.windows, n.branches = slices.Compact(n.windows), slices.Compact(n.branches)
	return n
}

// look surveys a repository. main is the default branch.
func look(tree *graph.Tree, paths []string, main string) *survey {
	s := &survey{paths: paths, tree: tree, clusters: tree.Clusters(nil), together: map[string]bool{}}
	s.windows, s.notes = gather(s.withJobs())
	s.unclear = len(s.notes) > 0
	s.preset, s.shape = presetOf(paths)
	s.findBranches(main)
	s.evidence = len(s.windows) > 0 || len(s.branches) > 0 || s.preset != layout.NoPreset
	if len(s.windows) == 0 {
		s.windows = []firstWindow{{name: "maintenance-window", open: "0 8 * * MON", close: "0 16 * * THU", placeholder: true}}
		for _, c := range s.windowed() {
			s.windows[0].clusters = append(s.windows[0].clusters, c.Name)
		}
	}
	for i := range s.branches {
		b := &s.branches[i]
		b.window = s.windowOf(b.window).name
	}
	s.findNeeds()
	s.findRules()
	for _, p := range tree.Problems {
		s.note("%s", p)
	}
	return s
}

// withJobs is the clusters; where none of them applies a CronJob that opens windows, all objects of the tree together count as one's.
func (s *survey) withJobs() []graph.Cluster {
	for _, c := range s.clusters {
		if windows, notes := windowsOf(c); len(windows)+len(notes) > 0 {
			return s.clusters
		}
	}
	return []graph.Cluster{{Objects: s.tree.Objects()}}
}

// presetOf is the preset that windows most of a tree's files, and its layout alone.
func presetOf(paths []string) (layout.Preset, *layout.Layout) {
	best, most, shape := layout.NoPreset, 0, (*layout.Layout)(nil)
	for _, p := range []layout.Preset{layout.RTRW, layout.RTMW, layout.LiveWindow} {
		l, problems := layout.New(layout.Spec{Preset: p, Side: []layout.Release{"window"}, Windows: []string{"window"}})
		if l == nil || len(problems) > 0 {
			continue
		}
		windowed, live := 0, 0
		for _, file := range paths {
			switch releases := l.Classify(file).Releases; {
			case slices.Contains(releases, "window"):
				windowed++
			case slices.Contains(releases, layout.Live):
				live++
			}
		}
		if windowed > most && live > 0 {
			best, most, shape = p, windowed, l
		}
	}
	return best, shape
}

// bySuffix is what the preset says of a path: windowed, live, or nothing.
func (s *survey) bySuffix(p string) (windowed, live bool) {
	if s.shape == nil {
		return false, false
	}
	releases := s.shape.Classify(p).Releases
	return slices.Contains(releases, "window"), slices.Contains(releases, layout.Live)
}

// findBranches finds the branches of this repository that Kustomizations track beside the root's own, where what they read is in this tree: a
// branch with other content, such as a tenant's, is none that anything could be promoted to.
func (s *survey) findBranches(main string) {
	for _, c := range s.clusters {
		from := cmp.Or(c.Branch, main, "main")
		for _, k := range c.Kustomizations {
			if k.Source == nil || !k.Here || c.URL == "" {
				continue
			}
			b := k.Source.Follows()
			at := fmt.Sprintf("%s: GitRepository %s", k.Source.RefLine, k.Source.Name)
			same := func(o firstBranch) bool { return strings.EqualFold(o.name, b) }
			switch {
			case b == "" || strings.EqualFold(b, from) || strings.EqualFold(b, main) || strings.Contains(b, "${") || slices.ContainsFunc(s.branches, same):
			case len(k.Reads) == 0:
				s.note("%s tracks %s, a branch of this repository, for a path that this tree does not have: it is no windowed branch", at, b)
			case len(s.branches) >= config.MaxBranches/2:
				s.note("more than %d branches are tracked: the rest is not in the file", len(s.branches))
			case !validBranch(b, from):
				s.note("%s tracks %q, which is no name that a branch may have here", at, b)
			default:
				s.branches = append(s.branches, firstBranch{name: b, from: from, window: c.Name, at: at})
			}
		}
	}
}

// keptNotes is how many notes are kept; the file has fewer.
const keptNotes = 500

// note keeps something that was not understood, once.
func (s *survey) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); len(s.notes) < keptNotes && !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
	}
}

// validBranch reports whether the file may have a branch.
func validBranch(name, from string) bool {
	return valid(fmt.Sprintf("branches: [{name: %s, from: %s, window: live}]", value(name), value(from)))
}

// valid reports whether a file may have a section.
func valid(section string) bool {
	policy, _ := config.Parse([]byte("version: 1\n" + section + "\n"))
	return policy != nil
}

// windowOf is the window of a cluster: its own first one, else the first of all.
func (s *survey) windowOf(cluster string) firstWindow {
	for _, w := range s.windows {
		if slices.Contains(w.clusters, cluster) {
			return w
		}
	}
	return s.windows[0]
}

// productive finds the names of clusters and directories where what goes wrong is felt.
var productive = regexp.MustCompile(`(?i)(^|[^a-z])(prod|production|prd|live)($|[^a-z])`)

// windowed is the clusters that a file should hold where nothing says so: those that are called production, or all if none is.
func (s *survey) windowed() []graph.Cluster {
	out := slices.DeleteFunc(slices.Clone(s.clusters), func(c graph.Cluster) bool {
		return !productive.MatchString(c.Name) && !productive.MatchString(c.Path)
	})
	if len(out) == 0 {
		return s.clusters
	}
	return out
}

// holder says what holds the entries of a cluster.
type holder struct {
	*survey
	cluster  graph.Cluster
	targets  map[string]string // windows, by what jobs suspend there
	targeted bool              // some of that stands in a file
	own      bool              // the cluster has a window of its own
}

func (s *survey) holderOf(c graph.Cluster) holder {
	h := holder{survey: s, cluster: c, targets: map[string]string{}}
	for _, w := range s.windows {
		own := slices.Contains(w.clusters, c.Name)
		h.own = h.own || own
		for _, t := range w.targets {
			if _, has := h.targets[t]; (own || slices.Contains(w.clusters, "")) && !has {
				h.targets[t] = w.name
			}
		}
	}
	for _, k := range c.Kustomizations {
		h.targeted = h.targeted || h.target(k) != ""
	}
	return h
}

// target is the window of the jobs that suspend a Kustomization; "": none does.
func (h holder) target(k *graph.Kustomization) string {
	return cmp.Or(h.targets[k.Namespace+"/"+k.Name], h.targets[k.Name])
}

// held is what holds an entry; live: nothing does.
func (h holder) held(k *graph.Kustomization) needs {
	if k.Source != nil {
		for _, b := range h.branches {
			if b.name == k.Source.Follows() && k.Here {
				return needs{branches: []string{b.name}}
			}
		}
	}
	if window := h.target(k); window != "" {
		return needs{windows: []string{window}}
	}
	windowed, _ := h.bySuffix(path.Join(k.Path, "x"))
	if windowed || h.own && !h.targeted && h.preset == layout.NoPreset && len(h.branches) == 0 {
		return needs{windows: []string{h.windowOf(h.cluster.Name).name}}
	}
	return needs{live: true}
}

// findNeeds sums up what each file needs: the union over the entries that read it. What a root reads itself, and the files that define or
// patch a windowed entry or its source, are applied from the branch that Flux follows, at once: they need the window, not the branch.
func (s *survey) findNeeds() {
	s.needs = map[string]needs{}
	for _, c := range s.clusters {
		holder, holds := s.holderOf(c), map[string]bool{} // holds: windows of this cluster
		define := map[string]bool{}
		for _, k := range c.Kustomizations {
			h := holder.held(k)
			if k.Path == c.Path {
				continue // the root itself
			}
			s.need(h, k.Reads...)
			if h.live {
				continue
			}
			for _, w := range s.windowsOfNeeds(h) {
				holds[w] = true
			}
			if k.Suspend.Set() && len(h.windows) > 0 {
				s.note("%s: Kustomization %s says suspend: %s; what a CronJob or `sluice suspend` sets instead Flux takes back: leave the field out of Git",
					k.Suspend.Place, k.Name, k.Suspend.Value)
			}
			define[k.File], define[k.PathLine.File] = true, true
			if k.Source != nil {
				define[k.Source.File] = true
			}
		}
		root := needs{windows: slices.Sorted(maps.Keys(holds)), live: len(holds) == 0}
		if len(c.Kustomizations) == 0 {
			root = s.needDirectories(c)
		}
		s.need(root, c.Reads...)
		delete(define, "")
		s.need(root, slices.Sorted(maps.Keys(define))...)
		s.absent(holder)
	}
}

// needDirectories sums up a cluster whose Flux Kustomizations stand in no file: what its windowed directories read needs its window. The rest
// does where nothing else says what is windowed.
func (s *survey) needDirectories(c graph.Cluster) (rest needs) {
	window := needs{windows: []string{s.windowOf(c.Name).name}}
	if s.preset == layout.NoPreset {
		return window
	}
	var dirs []string
	for _, file := range c.Reads {
		if windowed, _ := s.bySuffix(file); windowed && strings.HasPrefix(path.Base(file), "kustomization.y") {
			dirs = append(dirs, path.Dir(file))
		}
	}
	s.need(window, s.tree.Reads(dirs...)...)
	return needs{live: true}
}

// windowsOfNeeds is the windows that hold something, those of its branches among them.
func (s *survey) windowsOfNeeds(n needs) []string {
	out := slices.Clone(n.windows)
	for _, b := range s.branches {
		if slices.Contains(n.branches, b.name) {
			out = append(out, b.window)
		}
	}
	return out
}

// absent notes what a cluster's jobs suspend and no file defines.
func (s *survey) absent(h holder) {
	there := map[string]bool{}
	for _, k := range h.cluster.Kustomizations {
		there[k.Name], there[k.Namespace+"/"+k.Name] = true, true
	}
	for _, t := range slices.Sorted(maps.Keys(h.targets)) {
		if !there[t] && !slices.Contains(s.gone, t) {
			s.gone = append(s.gone, t)
		}
	}
}

// need adds to what files need.
func (s *survey) need(n needs, files ...string) {
	for _, f := range files {
		was := s.needs[f]
		was.windows = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(was.windows), n.windows...))))
		was.branches = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(was.branches), n.branches...))))
		was.live = was.live || n.live
		s.needs[f] = was
	}
}
