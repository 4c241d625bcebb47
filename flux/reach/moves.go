package reach

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/meter"
)

// Object is one object that an entry point makes.
type Object struct {
	Group, Kind, Namespace, Name string
	File                         string // of the tree that it comes from; "": not known
	Path, Source                 string // where it leads Flux, as in [manifest.Led]; of what others go with Source is what makes it another one, and Path a hash of all of it
	Kept                         bool   // Flux does not delete it where it leaves an entry point
}

// identity is what Kubernetes knows an object by.
type identity struct{ Group, Kind, Namespace, Name string }

func (o Object) id() identity { return identity{o.Group, o.Kind, o.Namespace, o.Name} }

// moving is what an object is known by that moves: of one that kustomize generates the name without the hash of what stands in it.
func (o Object) moving() identity {
	out := o.id()
	if (o.Kind == "ConfigMap" || o.Kind == "Secret") && kustomize.IsBuild(o.File) {
		out.Name = cmp.Or(manifest.Unhashed(out.Name), out.Name)
	}
	return out
}

// Build is what an entry point makes.
type Build struct {
	Entry   graph.Entry
	Objects []Object // of what needs something from elsewhere those that it makes without that
	Err     string   // why it was not built; "": it was, unless the entry point is a guessed root, which is never built
	Remote  bool     // Err says what it needs from elsewhere
	Missed  string   // a file that kustomize asks for, and that the entry point is not known to read; "": none
}

// Move is an object that a change moves from one entry point to another of the same cluster. Where it would be away until a window opens, or both
// would have it until then and one of them is live, windows hold it.
type Move struct {
	What     string // the object, or the last name of a file where it was not built
	From, To graph.Entry
	Left     string // the file in which it was; "": not known
	Appears  string // the file in which it is then
	Back     bool   // it comes to To before it leaves From: To is live, or From's branch brings the rest later
	Within   bool   // both are live, or both windowed in one way
	Kept     bool   // Flux does not delete it where it leaves From
	Copied   bool   // From makes it, too
	Takes    bool   // it moves nowhere: From does not make it any more, and what To makes goes with it

	windows []layout.Release
}

// maxMoves is how many moves are looked at: what one change moves beyond is held by those before.
const maxMoves = 1000

// Change is a file that a change takes away, and one that it adds; of a renamed file both.
type Change struct{ Left, Added string }

// Affected is the entry points of the two trees of [New] that a change of these files may concern, before and after it. None, if nothing
// can move, be added or be taken: one of them must lack a window of its cluster, or one read fewer files than before and another one more.
func (g *Graph) Affected(files []string) (before, after []graph.Entry) {
	if len(g.trees) < 2 {
		return nil, nil
	}
	windows := map[string][]layout.Release{} // of clusters
	for _, e := range slices.Concat(g.trees[0].all(), g.trees[1].all()) {
		if !isLive(e.releases) && !g.spent(e.Path(), 0, 1) {
			windows[e.Cluster.Name] = union(windows[e.Cluster.Name], Windows(g.policy, e.releases))
		}
	}
	touched, lacks := g.touched(files), map[string]bool{}
	pick := func(t tree) (out []graph.Entry) {
		for _, e := range t.among(touched) {
			all := windows[e.Cluster.Name]
			lacks[e.Cluster.Name] = lacks[e.Cluster.Name] || g.policy.Layout.Waits() || len(all) > 0 && !slices.Equal(all, Windows(g.policy, e.releases))
			out = append(out, e.Entry)
		}
		return out
	}
	before, after = pick(g.trees[0]), pick(g.trees[1])
	shifted := g.shifted(touched)
	never := func(e graph.Entry) bool {
		c := e.Cluster.Name
		return !lacks[c] && (len(windows[c]) == 0 || !shifted[c])
	}
	return slices.DeleteFunc(before, never), slices.DeleteFunc(after, never)
}

// Touched is the entry points of the two trees of [New] that a change of these files concerns, before and after it.
func (g *Graph) Touched(files []string) (before, after []graph.Entry) {
	touched := g.touched(files)
	pick := func(t tree) (out []graph.Entry) {
		for _, e := range t.among(touched) {
			out = append(out, e.Entry)
		}
		return out
	}
	return pick(g.trees[0]), pick(g.trees[1])
}

// among is the entry points of a tree that are some of those.
func (t tree) among(keys map[string]bool) (out []known) {
	for _, e := range t.entries {
		if keys[key(e.Entry)] && !e.elsewhere {
			out = append(out, e)
		}
	}
	return out
}

// Broken is what cannot be built after a change, or is built otherwise than the graph has read it: the first entry point of which that was not so before it,
// or that was not there.
func (g *Graph) Broken(before, after []Build) []config.Note {
	failed, said := map[string]bool{}, map[string]bool{}
	for _, b := range before {
		failed[key(b.Entry)] = b.Err != ""
		for _, message := range g.otherwise(b) {
			said[message] = true
		}
	}
	for _, b := range after {
		if b.failed() && !failed[key(b.Entry)] {
			return at(g.policy.Consistency.Builds, []config.Note{{Code: codeBuilds, Message: wordEntryNotBuilt(b)}})
		}
		for _, message := range g.otherwise(b) {
			if !said[message] {
				return at(g.policy.Consistency.Builds, []config.Note{{Code: codeBuilds, Message: wordEntry(b.Entry) + ": " + message}})
			}
		}
	}
	return nil
}

// arrived is what entry points make after a change, and did not before it or where that is not known.
func (g *Graph) arrived(before, after []Build) map[made]bool {
	was, out := g.made(before), map[made]bool{}
	for _, b := range after {
		for _, o := range b.Objects {
			if !was[key(b.Entry)][o.moving()] {
				out[madeBy(b.Entry, o)] = true
			}
		}
	}
	return out
}

// Beside is the other entry points of the second tree that may make what some make after a change, and did not before it.
func (g *Graph) Beside(before, after []Build) (out []graph.Entry) {
	clusters, known := map[string]bool{}, map[string]bool{}
	for m := range g.arrived(before, after) {
		clusters[m.cluster] = true
	}
	for _, b := range after {
		known[key(b.Entry)] = true
	}
	for _, e := range g.trees[1].entries {
		if clusters[e.Target()] && !known[key(e.Entry)] && !e.elsewhere {
			out = append(out, e.Entry)
		}
	}
	return out
}

// Duplicated is what two entry points of one cluster make after a change, with different releases, and one of them did not before it: the first of it. beside is
// what [Graph.Beside] makes.
func (g *Graph) Duplicated(before, after, beside []Build) []config.Note {
	arrived := g.arrived(before, after)
	if len(arrived) == 0 {
		return nil
	}
	all := g.duplicates(slices.Concat(after, beside), arrived)
	return at(g.policy.Consistency.Duplicates, all[:min(1, len(all))])
}

// shifted is the clusters where one of the entry points that a change concerns reads fewer files after it, and another one more.
func (g *Graph) shifted(touched map[string]bool) map[string]bool {
	reads := [2]map[string]map[string]bool{{}, {}} // by tree and entry point
	cluster := map[string]string{}
	for i, t := range g.trees[:2] {
		for _, e := range t.entries {
			if k := key(e.Entry); touched[k] && !e.elsewhere {
				reads[i][k], cluster[k] = map[string]bool{}, e.Cluster.Name
				for _, f := range e.Files() {
					reads[i][k][f] = true
				}
			}
		}
	}
	lacks := func(a, b map[string]bool) bool {
		for f := range b {
			if !a[f] {
				return true
			}
		}
		return false
	}
	fewer, more := map[string][]string{}, map[string][]string{}
	for k, c := range cluster {
		if lacks(reads[1][k], reads[0][k]) {
			fewer[c] = append(fewer[c], k)
		}
		if lacks(reads[0][k], reads[1][k]) {
			more[c] = append(more[c], k)
		}
	}
	out := map[string]bool{}
	for c, from := range fewer {
		to := more[c]
		out[c] = len(to) > 1 || len(to) == 1 && (len(from) > 1 || from[0] != to[0])
	}
	return out
}

// touched is the entry points that a change of these files may concern, by key.
func (g *Graph) touched(files []string) map[string]bool {
	changed, ignores := map[string]bool{}, false
	for _, f := range files {
		changed[f], ignores = true, ignores || path.Base(f) == kustomize.SourceIgnore
	}
	touched, was, gone := map[string]bool{}, map[string]graph.Entry{}, map[string]bool{}
	for i, t := range g.trees[:2] {
		for _, e := range t.entries {
			k := key(e.Entry)
			if i == 1 { // what its charts, sources and variables say may stand anywhere
				before, there := was[k]
				touched[k] = touched[k] || !there || before.Digest() != e.Digest() || before.Fills() != e.Fills() || before.Owners() != e.Owners() || !e.ReadsAs(before)
			}
			touched[k] = touched[k] || e.ReadsAny(changed) || ignores && slices.ContainsFunc(e.Files(), func(f string) bool { return leavesOut(changed, f) })
			was[k] = e.Entry
			if i == 0 {
				gone[k] = true
			} else {
				delete(gone, k)
			}
		}
	}
	maps.Copy(touched, gone)
	return touched
}

// Windowed is the windowed entry points of the first tree, of the clusters where a live one makes what it did not make before.
func (g *Graph) Windowed(before, after []Build) []graph.Entry {
	in := map[string]bool{}
	before, after = g.live(before), g.live(after)
	m := mover{Graph: g, was: g.made(before)}
	defer g.forget(before)
	for _, all := range m.arrivals(after) {
		for _, a := range all {
			in[a.entry.Cluster.Name] = true
		}
	}
	for _, e := range m.broken(after) {
		in[e.Cluster.Name] = true
	}
	var out []graph.Entry
	for _, e := range g.trees[0].entries {
		if in[e.Cluster.Name] && !e.elsewhere && !isLive(e.releases) {
			out = append(out, e.Entry)
		}
	}
	return out
}

// live is what live entry points make.
func (g *Graph) live(all []Build) []Build {
	return slices.DeleteFunc(slices.Clone(all), func(b Build) bool { return !isLive(g.release(b.Entry)) })
}

// broken is entry points that cannot be built any more, or come new and cannot be built: what they make is not known.
func (m *mover) broken(after []Build) (out []graph.Entry) {
	for _, b := range after {
		if was, existed := m.was[key(b.Entry)]; b.Err != "" && (was != nil || !existed) {
			out = append(out, b.Entry)
		}
	}
	return out
}

// Copies is what windowed entry points make and what a change adds to live ones: before and after is what these make.
func (g *Graph) Copies(windowed, before, after []Build) []Move {
	before, after = g.live(before), g.live(after)
	m := mover{Graph: g, was: g.made(before), count: map[bool]int{}}
	defer g.forget(before)
	arrivals, broken := m.arrivals(after), m.broken(after)
	for _, b := range windowed {
		for _, e := range broken {
			m.move(Move{What: wordUnknown, From: b.Entry, To: e})
		}
		for _, o := range b.Objects {
			for _, a := range arrivals[o.id()] {
				m.add(o, b.Entry, a.entry, a.file)
			}
		}
	}
	for i := range m.moves {
		m.moves[i].Copied = true
	}
	return m.moves
}

// Moves is what a change moves between entry points of the clusters that have windowed ones: what was made before by one and not by the other, and
// after the change the other way round. Between two of which one was not built and that do not have it at one time, a file that leaves the one
// and appears in the other under the same last name counts. A deletion is no move.
func (g *Graph) Moves(before, after []Build, changes []Change) []Move {
	m := mover{Graph: g, was: g.made(before), is: g.made(after), count: map[bool]int{}}
	defer g.forget(slices.Concat(before, after))
	m.byObject(before, after)
	m.byName(before, after, changes)
	return m.moves
}

// Hold holds the paths that moves change, by the windows of the entry point that is windowed; files are all of the change.
func (g *Graph) Hold(moves []Move, files []string) {
	for _, m := range moves {
		if m.Takes {
			g.holdLoss(m, files)
			continue
		}
		for entry, file := range map[graph.Entry]string{m.From: m.Left, m.To: m.Appears} {
			files := []string{file}
			for _, edge := range entry.Chain(file) {
				files = append(files, edge.File)
			}
			if file == "" {
				files = entry.Files() // fail closed
			}
			if m.Back && entry == m.To {
				files = append(files, entry.Way()...)
			}
			for _, f := range files {
				g.hold(f, m.windows, m.String())
				if h, ok := g.holds[f]; ok && m.prunes() {
					h.pruned = true
					g.holds[f] = h
				}
			}
		}
		if m.What == wordUnknown { // what it does not read any more may be why
			g.holdBroken(m, files)
		}
	}
}

// mover looks for moves.
type mover struct {
	*Graph
	was, is map[string]map[identity]bool // by entry point: what it makes; nil: it is there, and that is not known
	moves   []Move
	count   map[bool]int // of moves, by whether they hold nothing: such take no room from the others
}

// made is what entry points make, by key; nil: they are there, and it is not known.
func (g *Graph) made(all []Build) map[string]map[identity]bool {
	out := map[string]map[identity]bool{}
	for _, b := range all {
		if g.spent(b.Entry.Path(), b.nodes(), 1+len(b.Objects)) {
			break
		}
		objects := out[key(b.Entry)]
		if b.Err == "" {
			objects = make(map[identity]bool, len(b.Objects))
			for _, o := range b.Objects {
				objects[o.moving()] = true
			}
		}
		out[key(b.Entry)] = objects
	}
	return out
}

// forget gives back what [Graph.made] took.
func (g *Graph) forget(all []Build) {
	for _, b := range all {
		if g.meter != nil {
			g.meter.Give(meter.Nodes, b.nodes())
		}
	}
}

// nodes is how many of the meter's nodes it takes to know of each object that it is made.
func (b Build) nodes() int { return 1 + Nodes(len(b.Objects)) }

// Nodes is how many of the meter's nodes so many objects take.
func Nodes(objects int) int { return (2*objects + 2) / 3 }

// keptBy reports whether an object stays where it leaves an entry point, by what it says.
func (o Object) keptBy(e graph.Entry) bool {
	k := e.Applied()
	return o.Kept && (k == nil || !k.Prunes)
}

// add adds a move of an object.
func (m *mover) add(o Object, from, to graph.Entry, appears string) {
	m.move(Move{What: o.String(), From: from, To: to, Left: o.File, Appears: appears, Kept: o.keptBy(from)})
}

// move adds a move, with the windows that hold it.
func (m *mover) move(move Move) {
	if move.From.Target() != move.To.Target() {
		return
	}
	if k := move.From.Applied(); k != nil && k.Keeps {
		move.Kept = true
	}
	if m.spent(move.Appears, 1, 1) {
		return
	}
	was, is := m.release(move.From), m.release(move.To)
	away, back := direction(was, is)
	move.Back, move.Within = back, !away && !back
	switch {
	case move.Within && key(move.From) == key(move.To):
		return
	case away:
		move.windows = Windows(m.policy, is)
	case back && isLive(is):
		move.windows = Windows(m.policy, was)
	}
	m.put(move)
}

// put adds a move with its windows, as far as there is room.
func (m *mover) put(move Move) {
	free := len(move.windows) == 0
	if m.count[free]++; m.count[free] <= maxMoves {
		m.moves = append(m.moves, move)
	}
}

// within reports whether both of two entry points are live, or both windowed in one way.
func (m *mover) within(from, to graph.Entry) bool {
	away, back := direction(m.release(from), m.release(to))
	return !away && !back
}

// direction is what becomes of an object that moves between two releases. It is away where it leaves at the merge and comes back later: to what
// is windowed from what is live, or to a branch from what reads the base itself. Where it comes at the merge and leaves later it comes back.
func direction(was, is []layout.Release) (away, back bool) {
	branches := func(rs []layout.Release) bool {
		return slices.ContainsFunc(rs, func(r layout.Release) bool { _, ok := r.BranchGlob(); return ok })
	}
	away = isLive(was) && !isLive(is) || !branches(was) && branches(is)
	back = !isLive(was) && isLive(is) || branches(was) && !branches(is)
	return away, back
}

// arrival is an object that an entry point makes after the change and did not make before.
type arrival struct {
	entry graph.Entry
	file  string
}

// arrivals is what entry points make after the change and did not make before, by object.
func (m *mover) arrivals(after []Build) map[identity][]arrival {
	arrivals := map[identity][]arrival{}
	for _, b := range after {
		old, existed := m.was[key(b.Entry)]
		if b.Err != "" || existed && old == nil {
			continue
		}
		for _, o := range b.Objects {
			if id := o.moving(); !old[id] && !m.spent(o.File, 1, 1) {
				arrivals[id] = append(arrivals[id], arrival{b.Entry, o.File})
			}
		}
	}
	return arrivals
}

func (m *mover) byObject(before, after []Build) {
	arrivals := m.arrivals(after)
	for _, b := range before {
		left, exists := m.is[key(b.Entry)]
		if b.Err != "" || exists && left == nil {
			continue // it is not known what it makes
		}
		for _, o := range b.Objects {
			if left[o.moving()] {
				continue
			}
			for _, a := range arrivals[o.moving()] {
				m.add(o, b.Entry, a.entry, a.file)
			}
		}
	}
}

// byName looks at the entry points that were not built, in one of the trees at least.
func (m *mover) byName(before, after []Build, changes []Change) {
	broken := map[string]bool{}
	for _, b := range slices.Concat(before, after) {
		broken[key(b.Entry)] = broken[key(b.Entry)] || b.Err != ""
	}
	reads := func(e graph.Entry, file string) bool { return !m.spent(file, 0, 1) && e.Reads(file) && e.Holds(file) }
	added := map[string][]string{} // by the last name
	for _, c := range changes {
		if c.Added != "" && !kustomize.IsBuild(c.Added) {
			added[path.Base(c.Added)] = append(added[path.Base(c.Added)], c.Added)
		}
	}
	for _, c := range changes {
		if c.Left == "" || kustomize.IsBuild(c.Left) {
			continue
		}
		for _, from := range before {
			if !reads(from.Entry, c.Left) {
				continue
			}
			for _, to := range after {
				for _, file := range added[path.Base(c.Left)] {
					if !m.within(from.Entry, to.Entry) && (broken[key(from.Entry)] || broken[key(to.Entry)]) && reads(to.Entry, file) {
						m.move(Move{What: path.Base(file), From: from.Entry, To: to.Entry, Left: c.Left, Appears: file})
					}
				}
			}
		}
	}
}
