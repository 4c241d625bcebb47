// Package reach says what the reference graph means for releases: what each path needs by what reads it, and where rules and graph
// contradict each other.
//
// An entry point is a Flux Kustomization of a cluster, or the cluster's root. [Release] is what its files need: the windowed branch that
// its source tracks, else what the file's entrypoints say, else live. A path needs what all of its readers need, in all clusters and in all
// trees; and a file that one entry point applies and that changes what another one is or makes needs that other one's windows, never its
// branch, because it is applied at once. [Graph] is that for one tree, or for those before and after a change; it is the references of a
// [layout.Layout].
//
// The package is pure: what it is given was read and built by others. How it fails: closed, as far as package graph knows who reads a path. What
// nobody is known to read is left to rules, preset and `unmatched`.
package reach

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/meter"
)

// Graph is what reads which path, and what the readers need. It says the same after [New] and [Graph.Hold], is for one goroutine, and implements
// [layout.References].
type Graph struct {
	policy  *config.Policy
	trees   []tree
	sums    map[string]sum // of those paths that were asked for
	needs   map[graph.Entry][]layout.Release
	follow  map[*graph.Cluster]string // the branches of roots, by rootBranch
	holds   map[string]hold
	changes []redefinition
	layered map[string]bool // clusters with a windowed entry point in the first tree
	ruled   map[string][]layout.Release
	spoken  map[string]bool // what was asked of files
	meter   *meter.Meter    // of the run that read the trees
}

// sum is the readers of a path, what all of them need, and how many entry points they are.
type sum struct {
	readers  []Reader // each once, those that hold it first
	releases []layout.Release
	entries  int
	unread   bool // nobody knows: that was more than may be spent
}

// tree is the entry points of one tree.
type tree struct {
	entries    []known
	in         map[string][]*known          // those that read a file of a directory in this state of the repository
	leaves     []known                      // entry points that read nothing of this repository
	influences map[string][]graph.Influence // by file
}

// all is the entry points of a tree, wherever they read.
func (t *tree) all() []known { return slices.Concat(t.entries, t.leaves) }

// known is an entry point with what its files need.
type known struct {
	graph.Entry
	releases  []layout.Release
	elsewhere bool // it reads another branch, a fixed commit, or another repository
}

// Reader is why a path needs something: an entry point that reads it, or one that applies it and changes another one by it.
type Reader struct {
	Entry     graph.Entry
	Influence *graph.Influence // nil: it is content of the entry point
	Releases  []layout.Release // that it gives the path, sorted
}

// redefinition is a windowed entry point, or an object that it refers to, whose definition differs between two trees, with the files that lead to it.
type redefinition struct {
	hold
	files map[string]bool // false: a rule decides
}

// hold is why a path needs windows whatever decides it.
type hold struct {
	windows []layout.Release
	why     string
	pruned  bool // Flux deletes what moves
}

// New is the references of trees: of one, or of those before and after a change, in this order. Further trees add what reads a path there. The run that
// read the trees is charged, for what is asked of the references, too: what was made of them counts only while [Graph.Err] is nil.
func New(policy *config.Policy, trees ...[]graph.Cluster) *Graph {
	g := &Graph{
		policy: policy, sums: map[string]sum{}, needs: map[graph.Entry][]layout.Release{},
		follow: map[*graph.Cluster]string{}, holds: map[string]hold{}, layered: map[string]bool{}, ruled: map[string][]layout.Release{}, spoken: map[string]bool{},
	}
	for _, clusters := range trees {
		if len(clusters) > 0 {
			g.meter = clusters[0].Meter()
		}
		g.add(clusters)
	}
	if len(g.trees) == 0 {
		g.trees = []tree{{}} // nothing is read
	}
	for _, e := range g.trees[0].entries {
		g.layered[e.Cluster.Name] = g.layered[e.Cluster.Name] || !isLive(e.releases)
	}
	if g.Err() != nil {
		return g
	}
	if policy.Flux {
		g.unread()
	}
	if policy.Flux && len(g.trees) > 1 {
		g.redefined(&g.trees[0], &g.trees[1])
		g.referred(&g.trees[0], &g.trees[1])
	}
	return g
}

// Err is why not all is known: the run that read the trees has ended.
func (g *Graph) Err() error {
	if g.meter == nil {
		return nil
	}
	return g.meter.Err()
}

// spent charges the run for what is about to be held and done for a place, and reports whether that is too much.
func (g *Graph) spent(place string, nodes, steps int) bool {
	return g.meter != nil && (g.meter.Take(meter.Nodes, nodes, place) != nil || g.meter.Take(meter.Steps, steps, place) != nil)
}

// release is what the files of an entry point need: each is asked often.
func (g *Graph) release(e graph.Entry) []layout.Release {
	if needs, known := g.needs[e]; known {
		return needs
	}
	return Release(g.policy, e)
}

// find finds what reads a path.
func (g *Graph) find(file string) (out []Reader) {
	for _, t := range g.trees {
		given := t.influences[file]
		for i, in := range given {
			if !OtherBranch(g.policy, in.By) {
				out = append(out, Reader{in.By, &given[i], g.influence(g.release(in.By), g.release(in.Of))})
			}
		}
		for _, e := range t.in[path.Dir(file)] {
			if !e.Reads(file) {
				continue
			}
			// What is live for nobody it may read; and a definition that changes no entry point that is known is what its reader makes of it.
			none := isLive(e.releases) && e.May(file)
			if !e.Holds(file) {
				k := key(e.Entry)
				none = e.May(file) || slices.ContainsFunc(given, func(in graph.Influence) bool { return key(in.By) == k })
			}
			if !none {
				out = append(out, Reader{e.Entry, nil, e.releases})
			}
		}
	}
	return out
}

// lookups is how many entry points are looked into for one of the meter's steps.
const lookups = 256

// sum finds the readers of a path, puts them in order, each once, and sums up what they need, when that is first asked. Beyond what may be spent it is not
// known.
func (g *Graph) sum(file string) sum {
	s, known := g.sums[file]
	if known {
		return s
	}
	near := 0
	for _, t := range g.trees {
		near += len(t.in[path.Dir(file)])
	}
	if g.spent(file, 0, near/lookups) {
		return sum{unread: true}
	}
	readers := g.find(file)
	if g.spent(file, len(readers)/2, 2*len(readers)) {
		return sum{unread: true}
	}
	keys := make(map[graph.Entry]string, len(readers))
	for _, r := range readers {
		if _, known := keys[r.Entry]; !known {
			keys[r.Entry] = key(r.Entry)
		}
	}
	slices.SortStableFunc(readers, func(a, b Reader) int { return cmp.Compare(keys[a.Entry], keys[b.Entry]) })
	readers = slices.CompactFunc(readers, Reader.same)
	for i, r := range readers {
		if i == 0 || keys[r.Entry] != keys[readers[i-1].Entry] {
			s.entries++
		}
		if i == 0 || !slices.Equal(r.Releases, readers[i-1].Releases) {
			s.releases = union(s.releases, r.Releases)
		}
	}
	slices.SortStableFunc(readers, func(a, b Reader) int { return cmp.Compare(order(a), order(b)) })
	s.readers = readers
	g.sums[file] = s
	return s
}

// add adds what a tree has.
func (g *Graph) add(clusters []graph.Cluster) {
	t := tree{in: map[string][]*known{}, influences: map[string][]graph.Influence{}}
	know := func(e graph.Entry) []layout.Release {
		if !g.spent(e.Path(), 1, 1) {
			g.needs[e] = Release(g.policy, e)
		}
		return g.needs[e]
	}
	for i := range clusters {
		c := &clusters[i]
		g.follow[c] = rootBranch(c)
		for _, e := range c.Entries() {
			t.entries = append(t.entries, known{e, know(e), OtherBranch(g.policy, e)})
		}
		for _, e := range c.Elsewhere() {
			t.leaves = append(t.leaves, known{e, know(e), true})
		}
		for _, in := range c.Influences() {
			if !g.spent(in.File, 1, 1) {
				t.influences[in.File] = append(t.influences[in.File], in)
			}
		}
	}
	for i := range t.entries {
		e := &t.entries[i]
		if e.elsewhere {
			continue
		}
		dirs := e.Dirs()
		if g.spent(e.Path(), len(dirs), len(dirs)) {
			break
		}
		for dir := range dirs {
			t.in[dir] = append(t.in[dir], e)
		}
	}
	g.trees = append(g.trees, t)
}

// influence is what a file needs that one entry point applies and that changes another one. That this one is live adds nothing: the file comes as of the
// first one.
func (g *Graph) influence(by, of []layout.Release) []layout.Release {
	if slices.Equal(by, of) || isLive(of) {
		return by
	}
	return union(by, Windows(g.policy, of))
}

// Release is what the files of an entry point need, sorted.
func Release(policy *config.Policy, e graph.Entry) []layout.Release {
	var branches []layout.Release
	for _, branch := range tracks(policy, e) {
		branches = append(branches, layout.BranchRelease(layout.Literal(branch)))
	}
	if len(branches) > 0 {
		return union(branches, nil)
	}
	for _, p := range policy.EntryPoints {
		if p.Fits(e.Cluster.Name, names(e)...) {
			return p.Releases
		}
	}
	return []layout.Release{layout.Live}
}

// tracks is the windowed branches that an entry point tracks.
func tracks(policy *config.Policy, e graph.Entry) []string {
	return slices.DeleteFunc(e.Branches(), func(branch string) bool { return !windowed(policy, branch) })
}

// names is what an entry of entrypoints may call an entry point.
func names(e graph.Entry) []string {
	if k := e.Kustomization; k != nil && !k.Here {
		return []string{k.Namespace + "/" + k.Name} // its path is no directory of this repository
	} else if k != nil {
		return []string{k.Namespace + "/" + k.Name, k.Path}
	}
	out := []string{e.Cluster.Path}
	for _, k := range e.Cluster.Roots() {
		out = append(out, k.Namespace+"/"+k.Name)
	}
	return out
}

func windowed(policy *config.Policy, branch string) bool {
	return slices.ContainsFunc(policy.Branches, func(b config.Branch) bool { return b.Name == branch })
}

// OtherBranch reports whether an entry point is known to read another state of the repository than the one that is looked at: a fixed commit, or a branch
// that is neither windowed, nor what windowed branches follow, nor the root's own. Where that is not known, it is one whose directory is not there.
func OtherBranch(policy *config.Policy, e graph.Entry) bool {
	if e.Pinned() {
		return true
	}
	root, branches := e.Cluster.Branch, e.Branches()
	known := func(branch string) bool {
		return branch == root || windowed(policy, branch) || slices.ContainsFunc(policy.Branches, func(b config.Branch) bool { return b.From == branch })
	}
	if len(branches) == 0 || slices.ContainsFunc(branches, known) {
		return false
	}
	if root == "" || e.Cluster.Doubtful {
		return e.Kustomization != nil && !e.Cluster.Stands(e.Kustomization) && isLive(Release(policy, e))
	}
	return true
}

// Windows is the windows by which releases are held: those that they name, and those of their branches.
func Windows(policy *config.Policy, releases []layout.Release) []layout.Release {
	var out []layout.Release
	for _, r := range releases {
		if _, ok := r.BranchGlob(); !ok {
			out = append(out, r)
			continue
		}
		for _, b := range policy.Matching(r) {
			out = append(out, layout.Release(b.Window))
		}
	}
	return union(out, nil)
}

// union is what both ask for. live has no effect beside a window.
func union(a, b []layout.Release) []layout.Release {
	out := slices.Concat(a, b)
	slices.Sort(out)
	out = slices.Compact(out)
	if slices.ContainsFunc(out, layout.Release.IsWindow) {
		out = slices.DeleteFunc(out, func(r layout.Release) bool { return r == layout.Live })
	}
	return out
}

// isLive reports whether nothing holds what needs this.
func isLive(releases []layout.Release) bool {
	return !slices.ContainsFunc(releases, func(r layout.Release) bool { return r != layout.Live })
}

// key is an entry point, whichever tree it stands in.
func key(e graph.Entry) string {
	if e.Kustomization == nil {
		return e.Cluster.Name + "\x00"
	}
	return e.Target() + "\x00" + e.Kustomization.Namespace + "/" + e.Kustomization.Name
}

// same reports whether two readers are one, in two trees or by two documents of a file.
func (r Reader) same(o Reader) bool {
	switch {
	case key(r.Entry) != key(o.Entry) || !slices.Equal(r.Releases, o.Releases) || (r.Influence == nil) != (o.Influence == nil):
		return false
	case r.Influence == nil:
		return true
	}
	return key(r.Influence.Of) == key(o.Influence.Of) && r.Influence.Why == o.Influence.Why
}

// Why is everything that reads a path, those that hold it first.
func (g *Graph) Why(path string) []Reader { return slices.Clone(g.sum(path).readers) }

func order(r Reader) int {
	if isLive(r.Releases) {
		return 1
	}
	return 0
}

// Entries is the entry points of the first tree that read it.
func (g *Graph) Entries() []graph.Entry {
	var out []graph.Entry
	for _, e := range g.trees[0].entries {
		if !e.elsewhere {
			out = append(out, e.Entry)
		}
	}
	return out
}

// Reads implements [layout.References].
func (g *Graph) Reads(path string) (layout.Class, bool) {
	s := g.sum(path)
	if s.unread {
		return layout.Answers{}.Reads(path)
	}
	if len(s.readers) == 0 {
		return layout.Class{}, false
	}
	return layout.Class{Releases: s.releases, Rule: chainOf(path, s.readers[0], s.entries)}, true
}

// Holds implements [layout.References].
func (g *Graph) Holds(path string) (layout.Class, bool) {
	h, ok := g.holds[path]
	return layout.Class{Releases: h.windows, Rule: h.why, Pruned: h.pruned}, ok
}

// hold adds windows to what a path needs, whatever decides it. The first reason is the one that is shown.
func (g *Graph) hold(path string, windows []layout.Release, why string) {
	windows = slices.DeleteFunc(slices.Clone(windows), func(r layout.Release) bool { return !r.IsWindow() })
	if path == "" || len(windows) == 0 || g.spent(path, 0, 1) {
		return
	}
	h, ok := g.holds[path]
	if !ok {
		if h.why = why; g.spent(path, 1, 0) {
			return
		}
	}
	h.windows = union(h.windows, windows)
	g.holds[path] = h
}

// redefined holds what leads to the definition of a windowed entry point that differs between two trees: it is made, changed or gone at once.
func (g *Graph) redefined(before, after *tree) {
	entries, digests, ways := map[string][]known{}, map[string]*[2]string{}, map[*graph.Cluster][]string{}
	for i, t := range []*tree{before, after} {
		for _, e := range t.all() {
			if g.spent(e.Path(), 0, 1) {
				return
			}
			k := key(e.Entry)
			if digests[k] == nil {
				digests[k] = &[2]string{}
			}
			entries[k] = append(entries[k], e)
			digests[k][i] += e.Digest()
		}
	}
	for _, k := range slices.Sorted(maps.Keys(entries)) {
		both := entries[k]
		if digests[k][0] == digests[k][1] {
			continue
		}
		var windows []layout.Release
		for _, e := range both {
			if comes := g.comes(e.Entry); comes == nil || e.Kustomization == nil || slices.ContainsFunc(e.Appliers(), func(by graph.Entry) bool { return !comes(by) }) {
				windows = union(windows, Windows(g.policy, e.releases))
			}
		}
		r := redefinition{hold{windows: windows, why: wordRedefined(both[0].Entry)}, map[string]bool{}}
		for _, e := range both {
			g.leads(&r, e.Way())
			if root := digests[key(e.Root())]; root != nil && root[0] != root[1] {
				if _, known := ways[e.Cluster]; !known {
					ways[e.Cluster] = e.Root().Way()
				}
				g.leads(&r, ways[e.Cluster])
			}
		}
		g.redefine(r)
	}
}

// addLists adds the lists of the directories that a file is in: one that comes new decides whether the file counts at all.
func addLists(files map[string]bool, file string) {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		for _, name := range kustomize.BuildNames() {
			files[path.Join(dir, name)] = true
		}
		if dir == "." {
			return
		}
	}
}

// HoldChanged holds all files of the change between the first two trees of [New] where it redefines a windowed entry point, and none of the files that
// lead to the definition is among them: the root became another one, or it is not known why.
func (g *Graph) HoldChanged(files []string) {
	for _, r := range g.changes {
		leads := func(f string) bool {
			_, does := r.files[f]
			return does
		}
		if !slices.ContainsFunc(files, leads) {
			for _, f := range files {
				g.hold(f, r.windows, r.why)
			}
		}
	}
}

// untold reports whether the source of an entry point stands in no file, and nothing says what it needs: it may follow a windowed branch, or lead to what
// is windowed.
func (g *Graph) untold(e graph.Entry) bool {
	fits := func(p config.EntryPoint) bool { return p.Fits(e.Cluster.Name, names(e)...) }
	return e.Sourceless() && (len(g.policy.Branches) > 0 || !e.Kustomization.Here) && !slices.ContainsFunc(g.policy.EntryPoints, fits)
}

// unsure holds what an entry point reads where it is not known what it applies, or from where: by the windows of the cluster, and where these are not known
// by those that what is not known may need.
func (g *Graph) unsure(e graph.Entry, windows []layout.Release) {
	if len(e.Unsure()) == 0 && !g.untold(e) {
		return
	}
	if len(windows) == 0 {
		for _, p := range g.policy.EntryPoints {
			if p.In(e.Cluster.Name) {
				windows = union(windows, Windows(g.policy, p.Releases))
			}
		}
	}
	for _, file := range slices.Concat(e.Files(), e.Way()) {
		g.hold(file, windows, wordUnsure(e))
	}
}

// unread holds by the windows of a cluster what its entry points read and what may define anything there, because it was not read whole; and by those of
// an entry point what says which of its files, and of those that lead to it, Flux leaves out. What is windowed and was not found may be in any of them.
func (g *Graph) unread() {
	lost := g.lost()
	for _, t := range g.trees {
		windows := map[string][]layout.Release{}
		for _, e := range t.all() {
			own := Windows(g.policy, e.releases)
			if windows[e.Cluster.Name] = union(windows[e.Cluster.Name], lost); !slices.ContainsFunc(own, layout.Release.IsWindow) {
				continue
			}
			windows[e.Cluster.Name] = union(windows[e.Cluster.Name], own)
			for _, file := range e.Ignores() {
				g.hold(file, own, wordIgnores(e.Entry))
			}
		}
		for _, e := range t.entries {
			if g.Err() != nil {
				return
			}
			for _, file := range e.Unread() {
				g.hold(file, windows[e.Cluster.Name], wordUnread(e.Entry))
			}
		}
		for _, e := range t.all() {
			g.unsure(e.Entry, windows[e.Cluster.Name])
		}
	}
}
