package graph

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Root is where Flux is pointed at in a cluster. The repository's file may name them; see [Tree.Clusters].
type Root struct {
	Name   string
	Path   string // a directory of the tree
	Branch string // that Flux follows there; "": not known
}

// Cluster is a root and what follows from it.
type Cluster struct {
	Root
	URL   string // of the source that the root is read from; "": not known
	Found string // how it was found, for people
	Place Place  // of what it was found by; none for a directory, and for a root that was named
	// Objects is what Flux would apply there, in the order in which it comes to it: patched, with what variables stand for, as far as this package follows.
	// The Kustomizations' paths are those of this cluster, and what is applied by one names it as its Entry.
	Objects
	// Reads is the files that the root itself is known to read, sorted.
	Reads []string

	edges map[string]Edge
}

// Clusters finds the clusters of a tree, by name. Roots that are named win: nothing else is looked for. Otherwise a root is what a FluxInstance
// syncs, what a Kustomization flux-system beside its source is for (`gotk-sync.yaml`), a directory below clusters/ that none of these reads, and
// where there is nothing of that, the directories of Flux Kustomizations that no other one reads.
func (t *Tree) Clusters(named []Root) []Cluster {
	w := &walk{tree: t, patches: map[patchKey]change{}}
	if len(named) > 0 {
		var out []Cluster
		for _, r := range named {
			r.Path = clean(r.Path)
			out = append(out, w.follow(Cluster{Root: r, Found: wordNamed}))
		}
		return out
	}
	all := t.Objects()
	var out []Cluster
	follow := func(roots []Cluster) {
		for _, c := range roots {
			if len(out) == MaxClusters {
				t.problem(Place{}, wordManyClusters())
				return
			}
			out = append(out, w.follow(c))
		}
	}
	follow(t.bootstrapped(all))
	follow(t.directories(out))
	if len(out) == 0 {
		follow(t.tops(w, all))
	}
	name(out)
	slices.SortStableFunc(out, func(a, b Cluster) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// bootstrapped is the clusters that say themselves what they read: by a FluxInstance, or by what `flux bootstrap` writes.
func (t *Tree) bootstrapped(all Objects) []Cluster {
	var out []Cluster
	add := func(c Cluster) {
		same := func(o Cluster) bool { return o.Path == c.Path }
		if len(out) <= MaxClusters && t.dirs[c.Path] && !slices.ContainsFunc(out, same) {
			out = append(out, c)
		}
	}
	for _, i := range all.Instances {
		if i.URL == "" {
			continue // it syncs nothing
		}
		branch := strings.TrimPrefix(i.Ref, "refs/heads/")
		add(Cluster{Root: Root{Path: i.Path, Branch: branch}, URL: i.URL, Found: wordInstance, Place: i.Place})
	}
	for _, k := range all.Kustomizations {
		sync := path.Base(k.File) == "gotk-sync.yaml"
		if !sync && (k.Name != "flux-system" || k.Source == nil || k.Source.File != k.File) {
			continue
		}
		c := Cluster{Root: Root{Path: k.Path}, Found: wordSync, Place: k.Place}
		if !sync {
			c.Found = wordFlux
		}
		if k.Source != nil {
			c.URL, c.Branch = k.Source.URL, k.Source.Follows()
		}
		add(c)
	}
	return out
}

// directories is the directories below clusters/ that hold Flux objects or lists of resources, and that no cluster reads.
func (t *Tree) directories(found []Cluster) []Cluster {
	read := map[string]bool{}
	for _, c := range found {
		for _, file := range c.Files() {
			for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
				read[dir] = true
			}
		}
		for dir := c.Path; dir != "."; dir = path.Dir(dir) {
			read[dir] = true
		}
	}
	var out []Cluster
	for _, above := range t.shallowest("clusters") {
		for _, dir := range t.below[above] {
			if !read[dir] && t.holds(dir) {
				out = append(out, Cluster{Root: Root{Path: dir}, Found: wordDirectory(above)})
			}
		}
	}
	return out
}

// shallowest is the directories of a name that are nearest to the root.
func (t *Tree) shallowest(base string) []string {
	level := []string{"."}
	for depth := 0; len(level) > 0 && depth < 3; depth++ {
		var hits, next []string
		for _, dir := range level {
			for _, sub := range t.below[dir] {
				if path.Base(sub) == base {
					hits = append(hits, sub)
				}
				next = append(next, sub)
			}
		}
		if len(hits) > 0 {
			return hits
		}
		level = next
	}
	return nil
}

// holds reports whether Flux objects or lists of resources stand in a directory or below.
func (t *Tree) holds(dir string) bool {
	if t.builds[dir] != nil {
		return true
	}
	for _, file := range t.yaml[dir] {
		if len(t.docs[file]) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(t.below[dir], t.holds)
}

// tops is the directories of Flux Kustomizations that no other one leads to.
func (t *Tree) tops(w *walk, all Objects) []Cluster {
	read := map[string]bool{}
	for _, k := range all.Kustomizations {
		if strings.Contains(k.Path, "$") || k.Path == "." || len(k.Path) > len(k.File) && strings.HasPrefix(k.Path, k.File) {
			continue
		}
		l := w.newLoad()
		l.entry(k.Path)
		for file := range l.edges {
			if file != k.File || path.Dir(k.File) != k.Path {
				read[file] = true
			}
		}
	}
	var out []Cluster
	for _, k := range all.Kustomizations {
		dir := path.Dir(k.File)
		inside := func(c Cluster) bool { return c.Path == dir || strings.HasPrefix(dir, c.Path+"/") || c.Path == "." }
		if len(out) <= MaxClusters && !read[k.File] && !slices.ContainsFunc(out, inside) {
			out = append(out, Cluster{Root: Root{Path: dir}, Found: wordTop, Place: k.Place})
		}
	}
	return out
}

// follow fills in what a cluster has: from its root on, along the paths of its Kustomizations. Where one of them is the root's own, as
// gotk-sync.yaml has it, what it says of patches and variables holds for the root.
func (w *walk) follow(c Cluster) Cluster {
	self := w.read(&c, nil)
	for _, k := range c.Kustomizations {
		if k.Path == c.Path && len(k.Patches)+len(k.Substitute)+len(k.Components)+len(k.TargetNamespace) > 0 {
			c.Objects = Objects{}
			self = w.read(&c, k)
			break
		}
	}
	followed := map[string]bool{}
	for queue := []step{{self, 0}}; len(queue) > 0; queue = queue[1:] {
		for _, k := range queue[0].found {
			key := k.Namespace + "/" + k.Name + "\x00" + k.Path
			if k.Here && k.Path != c.Path && !followed[key] && queue[0].depth < MaxDepth && !strings.Contains(k.Path, "${") &&
				!w.spent(1+len(c.Sources)>>6, 0) { // a source is looked for among all
				followed[key] = true
				queue = append(queue, step{w.read(&c, k), queue[0].depth + 1})
			}
		}
	}
	c.link(0) // a source may be read after what names it
	if c.URL == "" {
		c.rootSource(w.tree)
	}
	for _, k := range c.Kustomizations {
		k.Here = c.here(k)
	}
	return c
}

// step is Kustomizations to follow, and how many lead to them.
type step struct {
	found []*Kustomization
	depth int
}

// read adds what an entry point applies to a cluster, or what its root holds, and gives the Kustomizations among it.
func (w *walk) read(c *Cluster, k *Kustomization) []*Kustomization {
	l, from := w.newLoad(), len(c.Kustomizations)
	dir := c.Path
	if k != nil {
		dir = k.Path
	}
	for _, d := range w.applied(l, dir, k) {
		c.add(w.tree, d)
	}
	if files := sortedKeys(l.edges); dir == c.Path {
		c.Reads, c.edges = files, l.edges
	} else {
		k.Reads, k.edges = files, l.edges
	}
	c.link(from)
	found := c.Kustomizations[from:]
	for _, k := range found {
		if dir, ok := c.origin(w.tree, k); ok {
			k.Path, k.copied = dir, true
		}
		k.Here = c.here(k)
	}
	return found
}

// applied is the documents of a directory as an entry point applies them.
func (w *walk) applied(l *load, dir string, k *Kustomization) []*doc {
	docs := l.entry(dir)
	if k == nil {
		return slices.Clone(docs)
	}
	for _, component := range k.Components {
		if !remote(component) {
			docs = l.build(clean(path.Join(dir, component)), docs, Edge{Why: "spec.components"}, 0)
		}
	}
	docs = slices.Clone(docs)
	for _, p := range k.Patches {
		l.patch(docs, p, dir, "", "")
	}
	if k.TargetNamespace != "" {
		l.rename(docs, &build{namespace: k.TargetNamespace})
	}
	for i, d := range docs {
		with := *d
		with.vars, with.by = k.Substitute, k
		docs[i] = &with
	}
	return docs
}

// here reports whether a Kustomization reads this repository: its source is the root's own, has the URL of that, or is not known.
func (c *Cluster) here(k *Kustomization) bool {
	switch {
	case k.copied:
		return true
	case k.SourceRef.Kind != "GitRepository" && k.SourceRef.Kind != "":
		return k.Source == nil && k.SourceRef.Name == "flux-system"
	case k.Source == nil || c.URL == "":
		return true
	}
	return SameURL(k.Source.URL, c.URL)
}

// rootSource finds the URL of a root that nothing names: the source of its first Kustomization whose path stands in the tree.
func (c *Cluster) rootSource(t *Tree) {
	for _, k := range c.Kustomizations {
		if k.Source != nil && k.Source.Kind == "GitRepository" && t.dirs[k.Path] {
			c.URL = k.Source.URL
			if c.Branch == "" && k.SourceRef.Name == "flux-system" {
				c.Branch = k.Source.Follows()
			}
			return
		}
	}
}

// Files is every file of the tree that the cluster is known to read, sorted.
func (c Cluster) Files() []string {
	out := slices.Clone(c.Reads)
	for _, k := range c.Kustomizations {
		out = append(out, k.Reads...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Reads is the files that a Flux Kustomization with a path would read, sorted, as far as they are known: of directories whose Kustomization
// stands in no file.
func (t *Tree) Reads(dirs ...string) []string {
	w := &walk{tree: t, patches: map[patchKey]change{}}
	var out []string
	for _, dir := range dirs {
		l := w.newLoad()
		l.entry(clean(dir))
		out = append(out, sortedKeys(l.edges)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// scp is how ssh names a repository without a scheme.
var scp = regexp.MustCompile(`^(?:[^@/:]+@)?([^/:]+):([^/].*)$`)

// SameURL reports whether two URLs name one repository: whatever the scheme, the user, the port, the case of the host, and a .git at the end.
func SameURL(a, b string) bool { return a != "" && repository(a) == repository(b) }

// repository is host and path of a URL.
func repository(url string) string {
	_, rest, found := strings.Cut(url, "://")
	if !found {
		if m := scp.FindStringSubmatch(url); m != nil {
			rest = m[1] + "/" + m[2]
		} else {
			rest = url
		}
	}
	host, p, _ := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	host, _, _ = strings.Cut(host, ":")
	p = strings.TrimSuffix(strings.Trim(p, "/"), ".git")
	return strings.ToLower(host + "/" + p)
}

// common is the directories whose names say nothing of a cluster.
var common = []string{"", ".", "clusters", "cluster", "flux", "flux-system", "flux-cd", "fluxcd", "gitops", "kubernetes", "k8s", "bootstrap", "config", "sync"}

// name gives each cluster the name of its directory, or of all directories above it where several would be called alike.
func name(clusters []Cluster) {
	long, short, times := make([]string, len(clusters)), make([]string, len(clusters)), map[string]int{}
	for i, c := range clusters {
		steps := slices.DeleteFunc(strings.Split(c.Path, "/"), func(s string) bool { return slices.Contains(common, s) })
		if len(steps) == 0 {
			steps = []string{"cluster"}
		}
		long[i], short[i] = plain(strings.Join(steps, "-")), plain(steps[len(steps)-1])
		times[short[i]]++
	}
	used := map[string]bool{}
	for i := range clusters {
		base := short[i]
		if times[base] > 1 {
			base = long[i]
		}
		clusters[i].Name = base
		for n := 2; used[clusters[i].Name]; n++ {
			clusters[i].Name = fmt.Sprintf("%s-%d", base, n)
		}
		used[clusters[i].Name] = true
	}
}

// plain is a name without what no name of a cluster holds.
func plain(name string) string {
	name = strings.TrimLeft(odd.ReplaceAllString(name, "-"), "-._")
	return cmp.Or(strings.TrimRight(name[:min(len(name), MaxName)], "-._"), "cluster")
}

// odd is what no name of a cluster holds.
var odd = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
