package graph

// Edge is a file that an entry point reads, and why.
type Edge struct {
	File string
	By   string // the file that names it; "": the entry point itself
	Why  string // the field that names it, such as resources or configMapGenerator; "": it stands in the entry point's directory
}

// Entry is an entry point into the tree: a Flux Kustomization of a cluster, or its root.
type Entry struct {
	Cluster       *Cluster
	Kustomization *Kustomization // nil: the root
}

// Entries is the entry points of a cluster that read this repository: the root, then its Kustomizations.
func (c *Cluster) Entries() []Entry {
	out := []Entry{{Cluster: c}}
	for _, k := range c.Kustomizations {
		if k.Here && k.Path != c.Path {
			out = append(out, Entry{c, k})
		}
	}
	return out
}

// Path is the directory that the entry point reads.
func (e Entry) Path() string {
	if e.Kustomization == nil {
		return e.Cluster.Path
	}
	return e.Kustomization.Path
}

// Branch is the branch that the entry point's source follows; "": none, or not known.
func (e Entry) Branch() string {
	if e.Kustomization == nil {
		return e.Cluster.Branch
	}
	if e.Kustomization.Source == nil {
		return ""
	}
	return e.Kustomization.Source.Follows()
}

func (e Entry) edges() map[string]Edge {
	if e.Kustomization == nil {
		return e.Cluster.edges
	}
	return e.Kustomization.edges
}

// Files is the files that the entry point is known to read, sorted.
func (e Entry) Files() []string { return sortedKeys(e.edges()) }

// Content is those of its files that hold something other than definitions of Flux Kustomizations and of the sources they use, sorted:
// what such a file defines is another entry point's business.
func (e Entry) Content() []string { return e.Files() }

// Chain is why the entry point reads a file: the file's own edge first, then that of the file that names it, and so on; nil: it does not
// read it.
func (e Entry) Chain(file string) []Edge {
	var out []Edge
	for len(out) <= MaxDepth*2 {
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

// Influence is a file that one entry point applies and that changes what another one is or makes.
type Influence struct {
	Edge       // of By; Why says how: defines, patches, source, variables, or the object and field that refer to it
	By   Entry // applies the file
	Of   Entry // is changed by it
	At   Place // of the object in the file
}

// Influences is what entry points depend on in files that others apply.
func (c *Cluster) Influences() []Influence {
	var out []Influence
	by := func(o Object) Entry { return Entry{c, o.Entry} }
	for _, of := range c.Entries()[1:] {
		k := of.Kustomization
		out = append(out, Influence{Edge{File: k.File, Why: "defines"}, by(k.Object), of, k.Place})
		if s := k.Source; s != nil {
			out = append(out, Influence{Edge{File: s.File, Why: "source"}, by(s.Object), of, s.Place})
		}
	}
	return out
}

// Digest tells whether an entry point's definition and source are the same as in another tree.
func (e Entry) Digest() string { return "" }
