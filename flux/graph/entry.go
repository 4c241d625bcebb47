package graph

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
)

// Entry is an entry point into the tree: a Flux Kustomization of a cluster, or its root.
type Entry struct {
	Cluster       *Cluster
	Kustomization *Kustomization // nil: the root
}

// Entries is the entry points of a cluster that read this repository: the root, then its Kustomizations.
func (c *Cluster) Entries() []Entry {
	out := []Entry{{Cluster: c}}
	for _, k := range c.Kustomizations {
		if k.Here && !c.isOwn(k) {
			out = append(out, Entry{c, k})
		}
	}
	return out
}

// Guessed reports whether it is a guess what the entry point reads: it is a root that is only guessed, or its source stands in no file, or may be a mirror.
func (e Entry) Guessed() bool {
	if e.Kustomization == nil {
		return e.Cluster.Guessed
	}
	return e.Sourceless() || e.Cluster.identified() && e.Cluster.doubtful(e.Kustomization.Source)
}

// Sourceless reports whether the source of a Flux Kustomization stands in no file, and may be this repository.
func (e Entry) Sourceless() bool { return e.Kustomization != nil && e.Kustomization.guess }

// Target is the cluster that the entry point applies its objects to: its own, or that of the nearest kubeConfig on the way to it.
func (e Entry) Target() string {
	return e.Cluster.Name + e.Kustomization.target()
}

// target is what kubeConfigs say of where a Kustomization applies its objects; "": to the cluster of the root. One that another applies to a cluster
// stands there, and its own kubeConfig names one that is known there.
func (k *Kustomization) target() string {
	out := ""
	for n := 0; k != nil && n <= kustomize.MaxDepth; k, n = k.Entry, n+1 {
		if k.KubeConfig != "" {
			out = "\x00" + k.KubeConfig + out
		}
	}
	return out
}

// Elsewhere is the entry points of a cluster that read nothing of this repository as those do that apply them: Flux Kustomizations of others, of which the definition and its source may
// stand here, and HelmReleases whose charts are of another branch, as of that.
func (c *Cluster) Elsewhere() []Entry {
	var out []Entry
	for _, k := range c.Kustomizations {
		if !k.Here {
			out = append(out, Entry{c, k})
		}
	}
	for _, r := range c.readings {
		if r.release != nil && !c.tree.Step(r.user.File, 1+len(r.release.origins)) {
			out = append(out, r.entry(c, r.user))
		}
	}
	return out
}

// Pinned reports whether the entry point reads a fixed commit of this repository: no change reaches it until that is another one.
func (e Entry) Pinned() bool {
	k := e.Kustomization
	if k != nil && len(k.own) > 0 {
		return !slices.ContainsFunc(k.own, func(p piece) bool { return !p.pinned() })
	}
	return k != nil && k.Here && k.Source != nil && k.Source.Commit != ""
}

// Apart reports whether what the entry point reads stands in several places of the tree: the directory of its path is not all of it.
func (e Entry) Apart() bool { return e.Kustomization != nil && e.Kustomization.apart }

// Foreign reports whether names in what the entry point reads may mean something else than in the tree: its source is put together of others, has
// submodules, or hands on some directories alone.
func (e Entry) Foreign() bool {
	k := e.Kustomization
	return k != nil && (k.foreign || len(k.parts) > 1 || k.edges[kustomize.GitModules].File != "" || k.Source != nil && len(k.Source.Sparse) > 0)
}

// Path is the directory that the entry point reads.
func (e Entry) Path() string {
	if e.Kustomization == nil {
		return e.Cluster.Path
	}
	return e.Kustomization.Path
}

// Branch is the branch of this repository that the entry point's source follows; "": none, or not known.
func (e Entry) Branch() string {
	if e.Kustomization == nil {
		return e.Cluster.Branch
	}
	k := e.Kustomization
	switch {
	case !k.Here || k.Source == nil && !e.Cluster.handsOn(k.SourceRef, k.Object):
		return ""
	case k.Source == nil:
		return e.Cluster.Branch
	}
	return k.Source.Follows()
}

// Branches is the branches of this repository that the entry point reads, sorted: more than one where its source is put together of several. None, if none is
// known.
func (e Entry) Branches() []string {
	out := []string{e.Branch()}
	if e.Kustomization != nil {
		for _, p := range e.Kustomization.own {
			out = append(out, p.branch())
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(branch string) bool { return branch == "" || manifest.Unfilled(branch) != "" })
}

func (e Entry) edges() map[string]kustomize.Edge {
	if e.Kustomization == nil {
		return e.Cluster.edges
	}
	return e.Kustomization.edges
}

// add adds a file that an entry point reads, if nothing says so yet.
func (w *walk) add(e Entry, edge kustomize.Edge) {
	edges, added := &e.Cluster.edges, &e.Cluster.added
	if e.Kustomization != nil {
		edges, added = &e.Kustomization.edges, &e.Kustomization.added
	}
	if _, known := (*edges)[edge.File]; known || w.Spent(0, 1) || !*added && w.Spent(0, len(*edges)) {
		return
	}
	if !*added {
		*edges, *added = maps.Clone(*edges), true
	}
	(*edges)[edge.File] = edge
}

// Reads reports whether the entry point is known to read a file.
func (e Entry) Reads(file string) bool {
	_, known := e.edges()[file]
	return known
}

// ReadsAny reports whether the entry point is known to read one of some files.
func (e Entry) ReadsAny(files map[string]bool) bool {
	edges := e.edges()
	if len(files) < len(edges) {
		for file := range files {
			if e.Reads(file) {
				return true
			}
		}
		return false
	}
	for file := range edges {
		if files[file] {
			return true
		}
	}
	return false
}

// ReadsAs reports whether the entry point is known to read the same files as another one.
func (e Entry) ReadsAs(other Entry) bool {
	return maps.EqualFunc(e.edges(), other.edges(), func(kustomize.Edge, kustomize.Edge) bool { return true })
}

// Dirs is the directories of the files that the entry point is known to read.
func (e Entry) Dirs() map[string]bool {
	out := map[string]bool{}
	for file := range e.edges() {
		out[path.Dir(file)] = true
	}
	return out
}

// Misses reports whether a file stands in the tree and the entry point is not known to read it.
func (e Entry) Misses(file string) bool {
	_, reads := e.edges()[file]
	return !reads && e.Cluster.tree.Files[file]
}

// Files is the files that the entry point is known to read, sorted.
func (e Entry) Files() []string { return manifest.SortedKeys(e.edges()) }

// Unread is the files that the entry point reads and that may say more than was read of them, sorted.
func (e Entry) Unread() []string {
	out := map[string]bool{}
	for file, edge := range e.edges() {
		c := e.Cluster.tree.Contents[file]
		if c != nil && !c.Unread {
			continue
		}
		named := edge.Why == "resources" || edge.Why == "bases" // whatever its name, kustomize reads it
		if strings.HasPrefix(edge.Why, roleChart) || e.May(file) {
			continue // it is packaged as it is
		}
		if c != nil || named || edge.Why == "" && kustomize.IsYAML(file) {
			out[file] = true
		}
	}
	return manifest.SortedKeys(out)
}

// May reports whether the entry point is not known to read a file among its own: the controller of an object that it applies may.
func (e Entry) May(file string) bool { return strings.HasPrefix(e.edges()[file].Why, roleMay) }

// Unsure is what is not known of the objects that the entry point applies: kustomize may make others of them than were read, and what these lead to is
// not known.
func (e Entry) Unsure() []manifest.Problem {
	if e.Kustomization == nil {
		return slices.Concat(e.Cluster.doubts, e.Cluster.unsure)
	}
	return e.Kustomization.unsure
}

// Ignores is the files that say to Flux what it leaves out of what the entry point reads, with its charts, and of what leads to it and to what it refers to, sorted.
func (e Entry) Ignores() []string {
	seen, out := map[string]bool{}, map[string]bool{}
	look := func(file string) {
		for dir := path.Dir(file); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			if name := path.Join(dir, kustomize.SourceIgnore); e.Cluster.tree.Files[name] || e.Cluster.tree.Links[name] {
				out[name] = true
			}
		}
	}
	for file := range e.edges() {
		look(file)
	}
	var sparse []string
	if k := e.Kustomization; k != nil && k.Source != nil {
		sparse = k.Source.Sparse
	}
	for _, name := range e.Cluster.tree.TakesIn(sparse, e.Path(), e.Root().Path()) {
		out[name] = true
	}
	for _, file := range slices.Concat(e.Way(), e.Root().Way()) {
		look(file)
	}
	for _, r := range e.Refs() {
		stands, makes := e.Leads(r, nil)
		for _, file := range slices.Concat(stands, makes) {
			look(file)
		}
	}
	for _, r := range e.Cluster.readings { // charts, as of other branches
		if r.of.Kustomization == e.Kustomization {
			for _, file := range r.files {
				look(file)
			}
		}
	}
	return manifest.SortedKeys(out)
}

// Speaks reports whether a file of the tree may say something: it does, or cannot be read, or is a packed chart.
func (e Entry) Speaks(file string, what func(text []byte) bool) bool {
	text, err := e.Cluster.tree.ReadWhole(file, manifest.MaxFile)
	return path.Ext(file) == ".tgz" || err != nil || e.Cluster.tree.Step(file, 1+len(text)>>10) || what(text)
}

// Chain is why the entry point reads a file: the file's own edge first, then that of the file that names it, and so on; nil: it does not
// read it.
func (e Entry) Chain(file string) []kustomize.Edge {
	var out []kustomize.Edge
	for len(out) <= kustomize.MaxDepth*2 {
		edge, ok := e.edges()[file]
		if !ok {
			return out
		}
		if out = append(out, edge); edge.By == "" {
			return out
		}
		file = edge.By
	}
	return out
}

// Stands reports whether a Kustomization's path is a directory of the tree, whether or not the tree is what it reads.
func (c *Cluster) Stands(k *Kustomization) bool { return c.tree.Dirs[k.Path] }

// Adds reports whether the Kustomization makes something else of its directory than what stands there.
func (k *Kustomization) Adds() bool {
	return len(k.Patches)+len(k.Substitute)+len(k.SubstituteFrom)+len(k.Components)+len(k.TargetNamespace+k.NamePrefix+k.NameSuffix) > 0 || k.Always
}
