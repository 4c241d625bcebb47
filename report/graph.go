package report

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/flux/reach"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/meter"
)

// References is a tree whose references were read, with its file of rules.
type References struct {
	Files    []string // all, sorted
	Clusters []graph.Cluster
	Problems []manifest.Problem

	dirs   map[string]bool // every directory that has files
	policy *config.Policy  // nil: there is no file, and the others are nil, too
	reach  *reach.Graph
	rules  *config.Policy // the file with what the graph says, as it decides
}

// NewReferences is a tree of these files with what was read of it, by a policy; nil: there is none.
func NewReferences(policy *config.Policy, files []string, clusters []graph.Cluster, problems []manifest.Problem) References {
	out := References{Files: slices.Sorted(slices.Values(files)), Clusters: clusters, Problems: problems, dirs: map[string]bool{".": true}, policy: policy}
	for _, file := range files {
		for dir := path.Dir(file); !out.dirs[dir]; dir = path.Dir(dir) {
			out.dirs[dir] = true
		}
	}
	if policy != nil {
		out.reach = reach.New(policy, clusters)
		out.rules = policy.With(out.reach)
	}
	return out
}

// Within is the files that a name stands for: the file, or all of a directory; none: there is neither.
func (l References) Within(name string) []string {
	if _, found := slices.BinarySearch(l.Files, name); found {
		return []string{name}
	}
	var out []string
	if l.dirs[name] {
		for _, file := range l.Files {
			if name == "." || strings.HasPrefix(file, name+"/") {
				out = append(out, file)
			}
		}
	}
	return out
}

// Entries is the entry points of a cluster. Those that a file says to read another branch than the one that is looked at are elsewhere.
func (l References) Entries(c *graph.Cluster) (here, elsewhere []graph.Entry) {
	for _, e := range c.Entries() {
		if l.policy != nil && reach.OtherBranch(l.policy, e) {
			elsewhere = append(elsewhere, e)
		} else {
			here = append(here, e)
		}
	}
	return here, elsewhere
}

// needs is what the graph gives a file.
func (l References) needs(file string) []layout.Release {
	if l.reach == nil {
		return nil
	}
	class, _ := l.reach.Reads(file)
	return class.Releases
}

// counts is what files need by rules and graph, for people; "": there is no file.
func (l References) counts(files []string) string {
	var out []string
	if l.rules != nil {
		for _, s := range l.rules.Shares(files) {
			if s.Kind == config.ShareNever {
				out = append(out, s.String())
			} else {
				out = append(out, cmp.Or(reach.Names(s.Releases), string(s.Kind)))
			}
		}
	}
	return strings.Join(out, "; ")
}

// rule is what decides over a file, where that is not the graph.
func (l References) rule(file string) string {
	if l.rules == nil || file == config.File {
		return ""
	}
	class := l.rules.Layout.Classify(file)
	if read, ok := l.reach.Reads(file); ok && read.Rule == class.Rule {
		return ""
	}
	return class.Rule
}

// MaxGraphRows bounds what is shown about paths: a directory of many files that many entry points read is better asked about in parts.
const MaxGraphRows = 500_000

// ErrManyRows is the error of more than MaxGraphRows.
var ErrManyRows = errors.New("too many rows")

// Graph is the JSON of `sluice graph`.
type Graph struct {
	Clusters []GraphCluster `json:"clusters"`
	Files    int            `json:"files"`
	// Unreached is the files that no entry point is known to read, with a directory of which nothing is read as one, ending in a slash.
	Unreached      []graphUnreached `json:"unreached"`
	UnreachedFiles int              `json:"unreached_files"`
	// Leaves is where the graph ends, each cause once.
	Leaves   []graphLeaf    `json:"leaves"`
	Problems []GraphProblem `json:"problems"`
	// Paths is what --path asks for, a row for each file; nil: nothing is asked for.
	Paths []GraphPath `json:"paths"`
}

// GraphCluster is a cluster.
type GraphCluster struct {
	Name   string  `json:"name"`
	Path   string  `json:"path"`
	Branch *string `json:"branch"`
	URL    *string `json:"url"`
	Found  string  `json:"found"`
	At     *string `json:"at"` // FILE:LINE of what it was found by
	// Entries is its entry points, the root first, and the Flux Kustomizations that read something else than this repository.
	Entries []GraphEntry `json:"entries"`
}

// GraphEntry is an entry point.
type GraphEntry struct {
	Name   string  `json:"name"` // NAMESPACE/NAME; "" is the root
	Path   string  `json:"path"`
	Source *string `json:"source"` // KIND/NAMESPACE/NAME
	URL    *string `json:"url"`
	Branch *string `json:"branch"` // that the source follows
	At     *string `json:"at"`     // FILE:LINE of its definition
	Leaf   bool    `json:"leaf"`   // reads nothing of this repository
	Files  int     `json:"files"`
	Note   *string `json:"note"` // why it reads nothing
	// Releases is what its files need by the graph; nil: it is a leaf, or there is no file of rules.
	Releases []layout.Release `json:"releases"`
	// Needs is what counts for them, for people.
	Needs string `json:"-"`
}

// graphUnreached is a file, or a directory, that nothing is known to read.
type graphUnreached struct {
	Path  string `json:"path"`
	Files int    `json:"files"`
}

// graphLeaf is where the graph ends.
type graphLeaf struct {
	GraphProblem
	Kind string `json:"kind"`
}

// GraphProblem is what was not understood, and where.
type GraphProblem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// GraphPath is who reads a file, and what it changes.
type GraphPath struct {
	Path    string        `json:"path"`
	Readers []GraphReader `json:"readers"`
	Changes []graphChange `json:"changes"`
	// Releases is what the graph gives the file; nil: nothing, or there is no file of rules.
	Releases []layout.Release `json:"releases"`
	// Needs and Rule are for people what counts, and by what; "": the graph.
	Needs string `json:"-"`
	Rule  string `json:"-"`
}

// GraphReader is an entry point that reads a file, and the way from the file to it.
type GraphReader struct {
	Cluster string      `json:"cluster"`
	Entry   string      `json:"entry"`
	Branch  *string     `json:"branch"`
	Chain   []graphStep `json:"chain"` // the file first
	Path    string      `json:"-"`     // that the entry point reads
}

// graphStep is a step of the way from a file to an entry point.
type graphStep struct {
	File string  `json:"file"`
	By   *string `json:"by"`  // the file that names it; null: it stands in the directory that the entry point reads
	Why  *string `json:"why"` // the field that names it
}

// graphChange is an entry point that a file changes without being read by it.
type graphChange struct {
	Cluster string `json:"cluster"`
	Entry   string `json:"entry"`
	How     string `json:"how"`  // defines, patches, source, variables, chart source or values
	Text    string `json:"text"` // the same with the objects
	By      string `json:"by"`   // the entry point that applies the file
	Line    int    `json:"line"`
}

// optional is nil for no text.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Graph is what is shown of a tree, with a row for each of these files, which the run is charged.
func (l References) Graph(run *meter.Meter, about []string) (Graph, error) {
	if l.reach != nil && l.reach.Err() != nil {
		return Graph{}, l.reach.Err() // it knows a part
	}
	v := Graph{Clusters: []GraphCluster{}, Files: len(l.Files), Unreached: []graphUnreached{}, Leaves: []graphLeaf{}, Problems: []GraphProblem{}}
	read := map[string]bool{}
	for i := range l.Clusters {
		c := &l.Clusters[i]
		row := GraphCluster{Name: c.Name, Path: c.Path, Branch: optional(c.Branch), URL: optional(c.URL), Found: c.Found, At: optional(c.Place.String())}
		here, elsewhere := l.Entries(c)
		for _, entry := range here {
			files := entry.Files()
			if err := c.Meter().Take(meter.Steps, 1+len(files), entry.Path()); err != nil {
				return v, err
			}
			for _, file := range files {
				read[file] = true
			}
			row.Entries = append(row.Entries, l.entry(entry, files))
		}
		for _, entry := range elsewhere {
			note := noteBranch
			if entry.Pinned() {
				note = notePinned
			}
			row.Entries = append(row.Entries, leafEntry(entry.Kustomization, note))
		}
		for _, k := range c.Kustomizations {
			if !k.Here {
				row.Entries = append(row.Entries, leafEntry(k, noteLeaf))
			}
		}
		if err := row.charge(run); err != nil {
			return v, err
		}
		v.Clusters = append(v.Clusters, row)
	}
	v.Unreached, v.UnreachedFiles = unreached(l.Files, read)
	for _, leaf := range graph.Leaves(l.Clusters) {
		v.Leaves = append(v.Leaves, graphLeaf{GraphProblem{leaf.File, leaf.Line, leaf.Text}, leaf.Kind})
	}
	for _, p := range l.Problems {
		v.Problems = append(v.Problems, GraphProblem{p.File, p.Line, p.Text})
	}
	var err error
	if len(about) > 0 {
		v.Paths, err = l.about(run, about)
	}
	return v, cmp.Or(err, run.Err())
}

// charge charges the run for what is shown of a cluster: the URL of a source is held once, and shown for each that reads it.
func (c GraphCluster) charge(run *meter.Meter) error {
	for _, e := range c.Entries {
		if err := charge(run, e.Path, e.Source, e.URL, e.Branch, e.At, &e.Name, &e.Path); err != nil {
			return err
		}
	}
	return nil
}

// charge charges the run for texts that are shown, each as often as it is.
func charge(run *meter.Meter, place string, texts ...*string) error {
	n := 0
	for _, t := range texts {
		if t != nil {
			n += len(*t)
		}
	}
	return run.Take(meter.Bytes, n, place)
}

// charge charges the run for who reads a file.
func (r GraphReader) charge(run *meter.Meter, file string) error {
	if err := run.Take(meter.Nodes, 1+len(r.Chain), file); err != nil {
		return err
	}
	texts := []*string{&r.Cluster, &r.Entry, r.Branch}
	for i := range r.Chain {
		texts = append(texts, &r.Chain[i].File, r.Chain[i].By, r.Chain[i].Why)
	}
	return charge(run, file, texts...)
}

// EntryName is a Flux Kustomization as rows name it; "" is the root.
func EntryName(k *graph.Kustomization) string {
	if k == nil {
		return ""
	}
	return k.Namespace + "/" + k.Name
}

func (l References) entry(e graph.Entry, files []string) GraphEntry {
	out := GraphEntry{}
	k := e.Kustomization
	if k == nil {
		out.URL, out.At = optional(e.Cluster.URL), optional(e.Cluster.Place.String())
		if own := e.Cluster.Own(); own != nil {
			out.Source = sourceOf(own)
		}
	} else {
		out = definition(k)
	}
	out.Path, out.Branch, out.Files, out.Needs = e.Path(), optional(e.Branch()), len(files), l.counts(files)
	if l.policy != nil {
		out.Releases = reach.Release(l.policy, e)
	}
	switch {
	case len(files) > 0:
	case strings.Contains(out.Path, "${"):
		out.Note = optional(noteVariable)
	case !l.dirs[out.Path]:
		out.Note = optional(noteNoDirectory)
	default:
		out.Note = optional(noteNothing)
	}
	return out
}

// Why an entry point reads nothing here.
const (
	noteVariable    = "its path has a variable whose value is not known"
	noteNoDirectory = "there is no such directory"
	noteNothing     = "nothing there is read"
	noteBranch      = "it reads another branch, which is not windowed"
	notePinned      = "it reads a fixed commit"
	noteLeaf        = "its source is not this repository"
)

// leafEntry is a Flux Kustomization that reads something else.
func leafEntry(k *graph.Kustomization, note string) GraphEntry {
	out := definition(k)
	out.Leaf, out.Note = true, optional(note)
	return out
}

// definition is what a Flux Kustomization says of itself.
func definition(k *graph.Kustomization) GraphEntry {
	out := GraphEntry{Name: EntryName(k), Path: k.Path, At: optional(k.String())}
	out.Source = sourceOf(k)
	if k.Source != nil {
		out.URL, out.Branch = optional(k.Source.URL), optional(k.Source.Follows())
	}
	return out
}

// sourceOf is a Flux Kustomization's source; nil: it names none.
func sourceOf(k *graph.Kustomization) *string {
	if k.SourceRef.Name == "" {
		return nil
	}
	return optional(k.SourceRef.Kind + "/" + cmp.Or(k.SourceRef.Namespace, k.Namespace) + "/" + k.SourceRef.Name)
}

// unreached is the files that are not read, directories of which nothing is read as one, the largest first.
func unreached(files []string, read map[string]bool) ([]graphUnreached, int) {
	above, n := map[string]bool{}, 0 // directories of which something is read
	for file := range read {
		for dir := path.Dir(file); !above[dir]; dir = path.Dir(dir) {
			above[dir] = true
		}
	}
	above["."] = true
	count := map[string]int{}
	for _, file := range files {
		if read[file] {
			continue
		}
		n++
		top := file
		for dir := path.Dir(file); !above[dir]; dir = path.Dir(dir) {
			top = dir + "/"
		}
		count[top]++
	}
	out := []graphUnreached{}
	for p, files := range count {
		out = append(out, graphUnreached{p, files})
	}
	slices.SortFunc(out, func(a, b graphUnreached) int {
		return cmp.Or(cmp.Compare(b.Files, a.Files), cmp.Compare(a.Path, b.Path))
	})
	return out, n
}

// rowNodes is about how many nodes the row of a file takes, with its text.
const rowNodes = 4

// about is who reads some files, and what they change.
func (l References) about(run *meter.Meter, asked []string) ([]GraphPath, error) {
	if err := run.Take(meter.Nodes, rowNodes*len(asked), asked[0]); err != nil {
		return nil, err
	}
	rows := map[string]*GraphPath{}
	out := make([]GraphPath, len(asked))
	for i, file := range asked {
		out[i] = GraphPath{Path: file, Readers: []GraphReader{}, Changes: []graphChange{}, Releases: l.needs(file), Needs: l.counts([]string{file}), Rule: l.rule(file)}
		rows[file] = &out[i]
	}
	n := 0
	for i := range l.Clusters {
		c := &l.Clusters[i]
		here, _ := l.Entries(c)
		for _, e := range here {
			for _, file := range e.Files() {
				if row := rows[file]; row != nil {
					r := reader(e, file)
					if err := r.charge(run, file); err != nil {
						return nil, err
					}
					n += len(r.Chain)
					row.Readers = append(row.Readers, r)
				}
				if n > MaxGraphRows {
					return nil, ErrManyRows
				}
			}
		}
		for _, in := range c.Influences() {
			if row := rows[in.File]; row != nil {
				of, by := EntryName(in.Of.Kustomization), EntryName(in.By.Kustomization)
				if err := cmp.Or(run.Take(meter.Nodes, 1, in.File), charge(run, in.File, &c.Name, &of, &in.Text, &by)); err != nil {
					return nil, err
				}
				row.Changes = append(row.Changes, graphChange{c.Name, of, in.Why, in.Text, by, in.At.Line})
			}
		}
	}
	return out, nil
}

// reader is how an entry point comes to read a file.
func reader(e graph.Entry, file string) GraphReader {
	r := GraphReader{Cluster: e.Cluster.Name, Entry: EntryName(e.Kustomization), Branch: optional(e.Branch()), Path: e.Path()}
	for _, edge := range e.Chain(file) {
		r.Chain = append(r.Chain, graphStep{edge.File, optional(edge.By), optional(edge.Why)})
	}
	return r
}
