package survey

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/graph"
)

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

func (n needs) equal(other needs) bool {
	return n.live == other.live && slices.Equal(n.windows, other.windows) && slices.Equal(n.branches, other.branches)
}

// holder says what holds the entry points of a cluster.
type holder struct {
	*survey
	cluster graph.Cluster
	targets map[string]string // windows, by what jobs suspend there
	window  string            // of all that has no window of its own; "": that is live
}

// holderOf says what holds a cluster's entry points, by what was found for this cluster alone.
func (s *survey) holderOf(c graph.Cluster) holder {
	h, rest := holder{survey: s, cluster: c, targets: map[string]string{}}, onlyTargets
	own := false
	for _, w := range s.windows {
		if !slices.Contains(w.clusters, c.Name) {
			continue
		}
		own = true
		for _, t := range w.targets {
			if first, has := h.targets[t]; has {
				s.note(noteMoreWindows, t, c.Name, first, w.name)
				continue
			}
			h.targets[t] = w.name
		}
		if w.scope > rest {
			rest, h.window = w.scope, w.name
		}
	}
	if own && rest == onlyTargets && !slices.ContainsFunc(c.Kustomizations, func(k *graph.Kustomization) bool { return h.target(k) != "" }) {
		rest, h.window = unclear, s.windowOf(c.Name).name // what its jobs name stands in no file
	}
	if rest == unclear && (s.namedIn(c) || s.tracksBranch(c)) {
		h.window = ""
	}
	return h
}

// target is the window of the jobs that suspend a Kustomization; "": none does.
func (h holder) target(k *graph.Kustomization) string {
	return cmp.Or(h.targets[k.Namespace+"/"+k.Name], h.targets[k.Name])
}

// held is what holds an entry point; live: nothing does.
func (h holder) held(k *graph.Kustomization) needs {
	var out needs
	for _, branch := range branchesOf(h.cluster, k) {
		if slices.ContainsFunc(h.branches, func(b firstBranch) bool { return b.name == branch }) {
			out.branches = append(out.branches, branch)
		} else if h.left[branch] {
			out.windows = append(out.windows, h.windowOf(h.cluster.Name).name)
		}
	}
	if len(out.branches)+len(out.windows) > 0 {
		return out
	}
	if window := h.target(k); window != "" {
		return needs{windows: []string{window}}
	}
	if h.window != "" {
		return needs{windows: []string{h.window}}
	}
	if windowed, _ := h.bySuffix(path.Join(k.Path, "x")); windowed {
		return needs{windows: []string{h.windowOf(h.cluster.Name).name}}
	}
	return needs{live: true}
}

// findNeeds sums up what each file needs: the union over the entry points that read it. What a root reads itself, and the files that
// change a windowed entry point otherwise, or lead to what does, are applied from the branch that Flux follows, at once: they need the window, not the
// branch.
func (s *survey) findNeeds() {
	s.needs = map[string]needs{}
	for _, c := range s.clusters {
		holder, holds := s.holderOf(c), map[string]bool{} // holds: windows of this cluster
		defining := holder.definitions()
		define := map[string]bool{}
		for _, k := range c.Kustomizations {
			if s.spent(k.File, 0, 1) {
				return
			}
			h := holder.held(k)
			for _, w := range s.windowsOfNeeds(h) {
				holds[w] = true
			}
			if k.Path == c.Path {
				continue // the root itself
			}
			s.need(h, k.Files()...)
			if h.live {
				continue
			}
			if k.Suspend.Set() && len(h.windows) > 0 {
				s.note(noteSuspend,
					k.Suspend.Place, k.Name, k.Suspend.Value)
			}
			for _, file := range defining(k, h) {
				define[file] = true
			}
		}
		if holder.window != "" {
			holds[holder.window] = true
		}
		root := needs{windows: slices.Sorted(maps.Keys(holds)), live: len(holds) == 0}
		if len(c.Kustomizations) == 0 && len(holds) == 0 {
			s.needDirectories(c)
		}
		s.need(root, c.RootFiles()...)
		s.need(root, slices.Sorted(maps.Keys(define))...)
		for _, e := range c.Entries() { // what is windowed may be defined by what was not understood
			if s.need(root, e.Unread()...); len(e.Unsure()) > 0 {
				s.need(root, slices.Concat(e.Files(), e.Way())...)
			}
		}
		s.absent(holder)
	}
}

// definitions gives what a cluster's Kustomization that is held is, made of and read by: files that others apply and that change it, those that lead to them, and
// those by which Flux leaves files out. What is held as it is comes with it.
func (h holder) definitions() func(*graph.Kustomization, needs) []string {
	influences, readers := map[*graph.Kustomization][]graph.Influence{}, map[string][]needs{}
	for _, i := range h.cluster.Influences() {
		influences[i.Of.Kustomization] = append(influences[i.Of.Kustomization], i)
	}
	for _, k := range h.cluster.Kustomizations {
		held := h.held(k)
		for _, file := range k.Files() {
			if h.spent(file, 1, 1) {
				break
			}
			readers[file] = append(readers[file], held)
		}
	}
	return func(k *graph.Kustomization, held needs) []string {
		e := graph.Entry{Cluster: &h.cluster, Kustomization: k}
		leads := e.Way()
		for _, r := range e.Refs() {
			stands, makes := e.Leads(r, nil)
			leads = slices.Concat(leads, stands, makes)
		}
		out := slices.DeleteFunc(leads, func(file string) bool {
			return !slices.ContainsFunc(readers[file], func(n needs) bool { return !n.equal(held) })
		})
		for _, i := range influences[k] {
			if by := i.By.Kustomization; by == nil || !h.held(by).equal(held) {
				out = append(out, i.File)
			}
		}
		return append(out, e.Ignores()...)
	}
}

// needDirectories sums up a cluster whose Flux Kustomizations stand in no file: what its windowed directories read needs its window.
func (s *survey) needDirectories(c graph.Cluster) {
	window := needs{windows: []string{s.windowOf(c.Name).name}}
	var sides []*graph.Kustomization // that stand in no file
	for _, file := range c.RootFiles() {
		if windowed, _ := s.bySuffix(file); windowed && strings.HasPrefix(path.Base(file), "kustomization.y") {
			sides = append(sides, &graph.Kustomization{Path: path.Dir(file)})
		}
	}
	s.tree.Follow(sides...)
	for _, k := range sides {
		s.need(window, k.Files()...)
	}
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
		if s.spent(f, 1, 1) {
			return
		}
		was := s.needs[f]
		was.windows, was.branches = slices.Concat(was.windows, n.windows), slices.Concat(was.branches, n.branches)
		was.live = was.live || n.live
		s.needs[f] = was.sorted()
	}
}
