package reach

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/layout"
)

// Loss is a Namespace or a CustomResourceDefinition that an entry point does not make any more, or may not: Kubernetes deletes what is in the one, and what is of the other.
type Loss struct {
	from graph.Entry
	Object
	unnamed bool   // which of them is not known
	in      string // the cluster, as of [graph.Entry.Target]
	made    bool   // by a ResourceSet
	owner   string // what Flux deletes it with, and what fills its name where that is not known
}

// Lost is those that entry points made before a change of these files and do not make after it, or that are another one's then, and that Flux may delete.
func (g *Graph) Lost(before, after []Build, files []string) []Loss {
	return slices.Concat(g.named(before, after), g.forced(before, after), g.unnamed(before, files))
}

// named is those of which it is known that they were made. Of what needs something from elsewhere that counts which is known.
func (g *Graph) named(before, after []Build) (out []Loss) {
	type made struct{ by, owner, kind, name, as string }
	still, unknown, keep, defined := map[made]bool{}, map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, b := range before {
		keep[key(b.Entry)] = !deletes(b.Entry)
		defined[key(b.Entry)] = b.Entry.Digest()
	}
	for _, b := range after {
		k := key(b.Entry)
		unknown[k] = unknown[k] || b.Err != "" && !b.Remote
		keep[k] = keeps(b.Entry)
	}
	as := func(l Loss) made { return made{key(l.from), l.owner, l.Kind, l.Name, l.Source} }
	for _, b := range after {
		if was, there := defined[key(b.Entry)]; there && was != b.Entry.Digest() && (b.Entry.Foreign() || b.Entry.Kustomization != nil && b.Entry.Kustomization.Copied) {
			continue // less may be applied than is built
		}
		for _, l := range g.taking(b) {
			still[as(l)] = true
		}
	}
	for _, b := range before {
		k := key(b.Entry)
		if unknown[k] {
			continue
		}
		for _, l := range g.taking(b) {
			kept := l.Kept || !l.made && keep[k] && keeps(b.Entry)
			if !kept && !still[as(l)] {
				out = append(out, l)
			}
		}
	}
	return out
}

// forced is those that are made otherwise by whom Flux lets delete what it cannot change, and make it anew: whatever says that they are kept.
func (g *Graph) forced(before, after []Build) (out []Loss) {
	type made struct{ in, kind, name string }
	was, as := map[made]bool{}, map[made]map[string]bool{}
	of := func(l Loss) made { return made{l.in, l.Kind, l.Name} }
	for _, b := range before {
		for _, l := range g.taking(b) {
			if was[of(l)] = true; as[of(l)] == nil {
				as[of(l)] = map[string]bool{}
			}
			as[of(l)][l.Source+l.Path] = true
		}
	}
	for _, b := range after {
		k := b.Entry.Applied()
		for _, l := range g.taking(b) {
			force := k != nil && k.Force || l.Path != "" && strings.HasSuffix(l.Source, l.Path) // of the object itself
			if force && !l.made && was[of(l)] && !as[of(l)][l.Source+l.Path] {
				l.File = "" // there is no way to keep it
				out = append(out, l)
			}
		}
	}
	return out
}

// keeps reports whether Flux keeps what leaves an entry point.
func keeps(e graph.Entry) bool {
	k := e.Applied()
	return k != nil && k.Keeps
}

// deletes reports whether Flux deletes what an entry point has applied when it goes.
func deletes(e graph.Entry) bool {
	return !keeps(e) || e.Kustomization == nil || e.Kustomization.Ends
}

// unnamed is the entry points that may not make any more what nobody builds, as far as a file says that it makes such: of a chart, or of what could not be built. What reads another
// branch or a fixed commit may make anything.
func (g *Graph) unnamed(before []Build, files []string) (out []Loss) {
	is, changed := map[string]graph.Entry{}, map[string]bool{}
	for _, e := range g.trees[1].entries {
		is[key(e.Entry)] = e.Entry
	}
	for _, f := range files {
		changed[f] = true
	}
	for _, e := range g.trees[0].entries {
		if after, stays := is[key(e.Entry)]; (e.elsewhere || tagged(e.Entry) || stays && tagged(after)) && (deletes(e.Entry) || stays) && (!stays || after.Digest() != e.Digest() || after.Fills() != e.Fills()) {
			out = append(out, Loss{from: e.Entry, unnamed: true, in: e.Target()})
		}
	}
	makers := map[string]maker{}
	if slices.ContainsFunc(before, func(b Build) bool { return len(b.Entry.Makers()) > 0 }) {
		for _, e := range g.trees[1].entries {
			owners := e.Owners()
			for _, m := range e.Makers() {
				if !g.spent(e.Path(), 1, 1) {
					makers[refOf(m)] = maker{m, owners}
				}
			}
		}
	}
	for _, b := range before {
		after, stays := is[key(b.Entry)]
		if g.spent(b.Entry.Path(), 1, 1) {
			break
		}
		files := left(b, after, stays, makers, changed)
		for _, in := range manifest.SortedKeys(files) {
			if g.mayTake(b.Entry, files[in]) {
				out = append(out, Loss{from: b.Entry, unnamed: true, in: in})
			}
		}
	}
	return out
}

// tagged reports whether an entry point reads what stands at a tag.
func tagged(e graph.Entry) bool {
	k := e.Kustomization
	return k != nil && k.Here && k.Source != nil && k.Source.Follows() == "" && k.Source.Commit == ""
}

// left is the files of an entry point that is not built, and of the charts of its HelmReleases, that may say less after a change than before it, by cluster.
func left(b Build, after graph.Entry, stays bool, makers map[string]maker, changed map[string]bool) map[string][]string {
	e, out := b.Entry, map[string][]string{}
	stands := !stays && !deletes(e) // what it applies stays in the cluster
	for _, m := range e.Makers() {
		again, there := makers[refOf(m)]
		same := there && again.owners == e.Owners() || stands
		if stands && !there {
			again.Maker = m // it has its chart from here
		}
		reads := map[string]bool{}
		for _, f := range again.Files {
			reads[f] = true
		}
		in := chartsOf(m.Files, again.Files)
		decides := func(f string) bool {
			return changed[f] && in.makesAny(f) && (path.Base(f) != "Chart.yaml" || !stays || chart(e, f) != chart(after, f)) || leavesOut(changed, f)
		}
		left := m.Files
		if same && again.Fills() == m.Fills() && !slices.ContainsFunc(slices.Concat(m.Files, again.Files), decides) {
			left = slices.DeleteFunc(slices.Clone(left), func(f string) bool { return !changed[f] && reads[f] })
		}
		out[m.Target] = append(out[m.Target], slices.DeleteFunc(slices.Clone(left), in.notMade)...)
	}
	if kept := stays && keeps(e) && keeps(after); stands || kept || !e.Guessed() && (b.Err == "" || b.Remote && len(b.Objects) > 0) {
		return out
	}
	all := !stays || after.Digest() != e.Digest() || after.Fills() != e.Fills()
	for f := range changed {
		all = all || kustomize.IsBuild(f) && e.Reads(f) && !e.Guessed() // which may read what others do
	}
	for _, f := range e.Files() {
		if all || changed[f] || !after.Reads(f) {
			out[e.Target()] = append(out[e.Target()], f)
		}
	}
	return out
}

// chart is what a Chart.yaml says beside versions.
func chart(e graph.Entry, file string) (out string) {
	e.Speaks(file, func(text []byte) bool {
		out = manifest.Unversioned(text)
		return true
	})
	return out
}

// charts is the directories of charts.
type charts map[string]bool

func chartsOf(lists ...[]string) charts {
	out := charts{}
	for _, files := range lists {
		for _, f := range files {
			if path.Base(f) == "Chart.yaml" {
				out[path.Dir(f)] = true
			}
		}
	}
	return out
}

// within is the path of a file in its chart; "": it is of none, as values that stand elsewhere.
func (in charts) within(file string) string {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if in[dir] {
			return strings.TrimPrefix(file, dir+"/")
		}
		if dir == "." {
			return ""
		}
	}
}

// makesAny reports whether a file of a chart decides about others of it: what it is called, what is left out, what others include.
func (in charts) makesAny(file string) bool {
	return path.Ext(file) == ".tpl" || !strings.HasPrefix(in.within(file), "templates/") && !in.notMade(file)
}

// notMade reports whether Helm makes nothing of a file of a chart that it deletes again: of values, of what people read, and of what it installs once.
func (in charts) notMade(file string) bool {
	name := in.within(file)
	return !strings.HasPrefix(name, "templates/") && (name == "" || strings.HasPrefix(path.Base(file), "values") || path.Ext(file) == ".md" || strings.HasPrefix(name, "crds/"))
}

// leavesOut reports whether a file that changes says what Flux leaves out of the directory of another one.
func leavesOut(changed map[string]bool, file string) bool {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if changed[path.Join(dir, kustomize.SourceIgnore)] || dir == "." {
			return changed[path.Join(dir, kustomize.SourceIgnore)]
		}
	}
}

// mayTake reports whether one of some files may make a Namespace or a CustomResourceDefinition. Many releases have one chart.
func (g *Graph) mayTake(e graph.Entry, files []string) bool {
	return slices.ContainsFunc(files, func(f string) bool {
		is, known := g.spoken[f]
		if !known {
			if is = e.Speaks(f, manifest.MayTake); !g.spent(f, 1, 1) {
				g.spoken[f] = is
			}
		}
		return is
	})
}

// maker is a ResourceSet or a HelmRelease, and what Flux deletes it with.
type maker struct {
	graph.Maker
	owners string
}

// refOf is what a ResourceSet or a HelmRelease is called, and of which cluster it is.
func refOf(m graph.Maker) string {
	return m.Target + "\x00" + manifest.Ref{Kind: m.Kind, Namespace: m.Namespace, Name: m.Name}.String()
}

// taking is the objects that an entry point and its ResourceSets make with which others go.
func (g *Graph) taking(b Build) (out []Loss) {
	if g.spent(b.Entry.Path(), 0, 1+len(b.Objects)/lookups) {
		return nil
	}
	owner := b.Entry.Owners()
	filled := owner + b.Entry.Fills()
	add := func(o Object, made bool, known, unknown string) {
		if g.spent(b.Entry.Path(), 1, 1) {
			return
		}
		if manifest.Unfilled(o.Name+o.Source) != "" {
			known = unknown
		}
		out = append(out, Loss{from: b.Entry, Object: o, made: made, owner: known, in: b.Entry.Target()})
	}
	for _, o := range b.Objects {
		if manifest.Takes(o.Group, o.Kind) {
			o.Kept = o.keptBy(b.Entry)
			add(o, false, owner, filled)
		}
	}
	for _, s := range b.Entry.Makers() {
		known := owner + refOf(s) + "\x00"
		unknown := known + s.Fills()
		if s.Asks {
			known = unknown
		}
		for _, t := range s.Takes {
			known := known
			if t.Open {
				known = unknown
			}
			add(Object{Kind: t.Kind, Name: t.Name, Source: t.As}, true, known, unknown)
		}
	}
	return out
}

// Taken is what may go with what is lost: all that is windowed in its cluster, and in those to which that leads by a kubeConfig if their Flux objects may. What else is in a Namespace, of which
// kind a chart makes objects, and what fills the variables of what is windowed is never known whole.
func (g *Graph) Taken(lost []Loss) []Move {
	m := mover{Graph: g, count: map[bool]int{}}
	if len(lost) == 0 {
		return nil
	}
	windowed, wide := map[string][]layout.Release{}, map[string][]layout.Release{} // by cluster; a ResourceSet may lead to others
	stands := map[string]map[string]bool{}                                         // by cluster, the namespaces of the Flux objects of what is windowed there
	for _, e := range g.trees[0].all() {
		windows := Windows(g.policy, e.releases)
		if !e.elsewhere {
			windows = union(windows, g.rulesOf(e.Files()))
		}
		if isLive(windows) || g.spent(e.Path(), 1, 1) {
			continue
		}
		in := e.Target()
		if windowed[in] = union(windowed[in], windows); stands[in] == nil {
			stands[in] = map[string]bool{}
		}
		maps.Copy(stands[in], e.Namespaces())
		for _, maker := range e.Makers() {
			if windowed[maker.Target] = union(windowed[maker.Target], windows); maker.Kind == "ResourceSet" {
				wide[maker.Target] = union(wide[maker.Target], windows)
			}
		}
	}
	for _, l := range lost {
		var windows []layout.Release
		for in, own := range windowed {
			if !g.spent(l.File, 0, 1) && (in == l.in || strings.HasPrefix(in, l.in+"\x00") && l.takes(stands[in])) {
				windows = union(windows, own)
			}
		}
		for in, own := range wide {
			if !g.spent(l.File, 0, 1) && strings.HasPrefix(l.in, in+"\x00") {
				windows = union(windows, own)
			}
		}
		m.take(l, windows)
	}
	return m.moves
}

// takes reports whether Flux objects in some namespaces may go.
func (l Loss) takes(namespaces map[string]bool) bool {
	if l.unnamed || l.Kind != "Namespace" {
		return true
	}
	for namespace := range namespaces {
		if manifest.MayBe(l.Name, namespace) {
			return true
		}
	}
	return false
}

// rulesOf is the windows that hold some files whatever reads them.
func (g *Graph) rulesOf(files []string) (out []layout.Release) {
	if !g.policy.Layout.Waits() {
		return nil
	}
	for _, f := range files {
		windows, known := g.ruled[f]
		if !known && f != "" && !g.spent(f, 1, 1) {
			if !g.policy.Flux || g.policy.Layout.Rule(f) >= 0 {
				windows = Windows(g.policy, g.policy.Layout.Classify(f).Releases)
			}
			g.ruled[f] = windows
		}
		out = union(out, windows)
	}
	return slices.DeleteFunc(out, func(r layout.Release) bool { return !r.IsWindow() })
}

// take adds what is lost, with the windows of what may go with it: those that what is lost has itself hold it already.
func (m *mover) take(l Loss, windows []layout.Release) {
	own := Windows(m.policy, m.release(l.from))
	if m.spent(l.File, 1, 1) || !slices.ContainsFunc(windows, func(w layout.Release) bool { return w.IsWindow() && !slices.Contains(own, w) }) {
		return
	}
	what := wordUnnamed
	if !l.unnamed {
		what = manifest.Printable(l.String())
	}
	m.put(Move{What: what, From: l.from, To: l.from, Left: l.File, Takes: true, windows: windows})
}

// holdLoss holds what of a change may be why something is lost: what its entry point read, and what led to that. Where nothing of the change is known to be either, all of it.
func (g *Graph) holdLoss(m Move, files []string) {
	leads := map[string]bool{}
	for _, f := range slices.Concat(m.From.Way(), m.From.Ignores()) {
		leads[f] = true
	}
	among := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !leads[f] && !m.From.Reads(f) })
	if len(among) == 0 {
		among = files
	}
	for _, f := range among {
		g.hold(f, m.windows, m.String())
	}
}

// holdBroken holds what of a change an entry point read before it that cannot be built after it: what it reads then lacks what was deleted.
func (g *Graph) holdBroken(m Move, files []string) {
	for _, e := range g.trees[0].entries {
		if key(e.Entry) != key(m.To) {
			continue
		}
		for _, f := range files {
			if e.Reads(f) {
				g.hold(f, m.windows, m.String())
			}
		}
	}
}
