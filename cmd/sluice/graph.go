package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/reach"
	"github.com/sluicegate/sluice/layout"
)

const graphHelp = `Shows what Flux reads of the repository in DIR (default: the current directory): the clusters and how each was found, the entry points of each
(its root and its Flux Kustomizations) with the path and source of each, how many files they read, and the files that nobody reads.

With --path it shows who reads a file, or each file of a directory, and why: from the file to the kustomization.yaml that names it, and on to
the entry point. What changes an entry point without being read by it (its definition, its source, values, charts) is shown, too.

The release of a file is what the rules of ` + config.File + ` say, and with flux: true, where they say nothing, the graph. What the graph says by
entrypoints and branches stands beside it where that is something else.

Nothing is fetched. Clusters that ` + config.File + ` names count; otherwise they are looked for.

Exit codes: 0 fine; 2 the call, the file or DIR is unusable.`

// maxGraphRows bounds what --path and --dot print: a directory of many files that many entry points read is better asked about in parts.
const maxGraphRows = 500_000

// graphCall is what somebody asks `sluice graph`.
type graphCall struct {
	dir, file string
	paths     []string
	json, dot bool
}

// newGraphCommand makes `sluice graph [DIR]`: who reads what, and why.
func newGraphCommand(e *env) *cobra.Command {
	call := graphCall{}
	cmd := &cobra.Command{
		Use:   "graph [DIR]",
		Short: "show which files Flux reads in each cluster, and why",
		Long:  graphHelp,
		Args:  cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			call.dir = renderDir(args)
			return e.graph(cmd.Context(), call)
		},
	}
	cmd.Flags().StringVar(&call.file, "file", "", fileUsage+", instead of DIR/"+config.File)
	cmd.Flags().StringArrayVar(&call.paths, "path", nil, "who reads this file or directory of DIR, and why; may be given several times")
	cmd.Flags().BoolVar(&call.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&call.dot, "dot", false, "print the graph for Graphviz; with --path, what is about these paths")
	return e.metered(cmd)
}

// graph reads a tree and shows what was asked.
func (e *env) graph(ctx context.Context, call graphCall) error {
	if call.json && call.dot {
		return errors.New("--json and --dot cannot be combined")
	}
	look, err := e.lookAtGraph(ctx, call)
	if err != nil {
		return err
	}
	v, err := look.view(call.paths)
	switch {
	case err != nil:
		return err
	case call.dot:
		return look.dot(e.stdout, v)
	case call.json:
		return printJSON(e.stdout, v)
	}
	return v.print(e.stdout)
}

// graphLook is what was read of a tree.
type graphLook struct {
	files    []string // all, sorted
	clusters []graph.Cluster
	problems []graph.Problem
	policy   *config.Policy  // nil: there is no file
	dirs     map[string]bool // every directory that has files
	reach    *reach.Graph    // nil: there is no file
	rules    *config.Policy  // the file with what the graph says, as it decides; nil: there is no file
}

// entries is the entry points of a cluster. Those that a file says to read another branch than the one that is looked at are elsewhere.
func (l graphLook) entries(c *graph.Cluster) (here, elsewhere []graph.Entry) {
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
func (l graphLook) needs(file string) []layout.Release {
	if l.reach == nil {
		return nil
	}
	class, _ := l.reach.Reads(file)
	return class.Releases
}

// counts is what files need by rules and graph, for people; "": there is no file.
func (l graphLook) counts(files []string) string {
	var out []string
	if l.rules != nil {
		for _, s := range l.rules.Shares(files) {
			if s.Kind == config.ShareNever {
				out = append(out, releaseWords(s))
			} else {
				out = append(out, cmp.Or(reach.Names(s.Releases), string(s.Kind)))
			}
		}
	}
	return strings.Join(out, "; ")
}

// rule is what decides over a file, where that is not the graph.
func (l graphLook) rule(file string) string {
	if l.rules == nil || file == config.File {
		return ""
	}
	class := l.rules.Layout.Classify(file)
	if read, ok := l.reach.Reads(file); ok && read.Rule == class.Rule {
		return ""
	}
	return class.Rule
}

func (e *env) lookAtGraph(ctx context.Context, call graphCall) (graphLook, error) {
	if err := isDirectory(call.dir); err != nil {
		return graphLook{}, err
	}
	var roots []graph.Root
	policy, err := e.loadPolicy(ctx, call.dir, call.file)
	switch {
	case err == nil:
		roots = policy.Clusters
	case errors.Is(err, errBelowRoot):
		return graphLook{}, belowRoot(call.dir)
	case call.file != "" || !errors.Is(err, fs.ErrNotExist):
		return graphLook{}, err
	}
	tree := os.DirFS(call.dir)
	out := graphLook{policy: policy, dirs: map[string]bool{".": true}}
	if out.files, err = listTree(ctx, untilDone{ctx, tree}, maxTreeFiles); err != nil {
		return graphLook{}, fmt.Errorf("read %s: %w", call.dir, err)
	}
	slices.Sort(out.files)
	for _, file := range out.files {
		for dir := path.Dir(file); !out.dirs[dir]; dir = path.Dir(dir) {
			out.dirs[dir] = true
		}
	}
	read, err := e.builds().readGraph(ctx, roots, tree, graphOf(origin(ctx, call.dir)))
	if err != nil {
		return graphLook{}, fmt.Errorf("read %s: %w", call.dir, err)
	}
	out.clusters, out.problems = read.clusters, read.tree.Problems
	if policy != nil {
		out.reach = reach.New(policy, out.clusters)
		out.rules = policy.With(out.reach)
	}
	return out, nil
}

// graphReport is the JSON of `sluice graph`.
type graphReport struct {
	Clusters []graphCluster `json:"clusters"`
	Files    int            `json:"files"`
	// Unreached is the files that no entry point is known to read, with a directory of which nothing is read as one, ending in a slash.
	Unreached      []graphUnreached `json:"unreached"`
	UnreachedFiles int              `json:"unreached_files"`
	// Leaves is where the graph ends, each cause once.
	Leaves   []graphLeaf    `json:"leaves"`
	Problems []graphProblem `json:"problems"`
	// Paths is what --path asks for, a row for each file; nil: nothing is asked for.
	Paths []graphPath `json:"paths"`
}

type graphCluster struct {
	Name   string  `json:"name"`
	Path   string  `json:"path"`
	Branch *string `json:"branch"`
	URL    *string `json:"url"`
	Found  string  `json:"found"`
	At     *string `json:"at"` // FILE:LINE of what it was found by
	// Entries is its entry points, the root first, and the Flux Kustomizations that read something else than this repository.
	Entries []graphEntry `json:"entries"`
}

type graphEntry struct {
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
	needs    string           // what counts
}

type graphUnreached struct {
	Path  string `json:"path"`
	Files int    `json:"files"`
}

type graphLeaf struct {
	graphProblem
	Kind string `json:"kind"`
}

type graphProblem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

type graphPath struct {
	Path    string         `json:"path"`
	Readers []graphReader  `json:"readers"`
	Changes []graphChanges `json:"changes"`
	// Releases is what the graph gives the file; nil: nothing, or there is no file of rules.
	Releases    []layout.Release `json:"releases"`
	needs, rule string           // what counts, and by what
}

// graphReader is an entry point that reads a file, and the way from the file to it.
type graphReader struct {
	Cluster string      `json:"cluster"`
	Entry   string      `json:"entry"`
	Branch  *string     `json:"branch"`
	Chain   []graphStep `json:"chain"` // the file first
	path    string
}

type graphStep struct {
	File string  `json:"file"`
	By   *string `json:"by"`  // the file that names it; null: it stands in the directory that the entry point reads
	Why  *string `json:"why"` // the field that names it
}

// graphChanges is an entry point that a file changes without being read by it.
type graphChanges struct {
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

// view is what is shown of a tree.
func (l graphLook) view(paths []string) (graphReport, error) {
	v := graphReport{Clusters: []graphCluster{}, Files: len(l.files), Unreached: []graphUnreached{}, Leaves: []graphLeaf{}, Problems: []graphProblem{}}
	read := map[string]bool{}
	for i := range l.clusters {
		c := &l.clusters[i]
		row := graphCluster{Name: c.Name, Path: c.Path, Branch: optional(c.Branch), URL: optional(c.URL), Found: c.Found, At: optional(c.Place.String())}
		here, elsewhere := l.entries(c)
		for _, entry := range here {
			files := entry.Files()
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
		v.Clusters = append(v.Clusters, row)
	}
	v.Unreached, v.UnreachedFiles = unreached(l.files, read)
	for _, leaf := range graph.Leaves(l.clusters) {
		v.Leaves = append(v.Leaves, graphLeaf{graphProblem{leaf.File, leaf.Line, leaf.Text}, leaf.Kind})
	}
	for _, p := range l.problems {
		v.Problems = append(v.Problems, graphProblem{p.File, p.Line, p.Text})
	}
	var err error
	if len(paths) > 0 {
		v.Paths, err = l.about(paths)
	}
	return v, err
}

func entryName(k *graph.Kustomization) string {
	if k == nil {
		return ""
	}
	return k.Namespace + "/" + k.Name
}

func (l graphLook) entry(e graph.Entry, files []string) graphEntry {
	out := graphEntry{}
	k := e.Kustomization
	if k == nil {
		out.URL, out.At = optional(e.Cluster.URL), optional(e.Cluster.Place.String())
		if own := e.Cluster.Own(); own != nil {
			out.Source = sourceOf(own)
		}
	} else {
		out = definition(k)
	}
	out.Path, out.Branch, out.Files, out.needs = e.Path(), optional(e.Branch()), len(files), l.counts(files)
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
func leafEntry(k *graph.Kustomization, note string) graphEntry {
	out := definition(k)
	out.Leaf, out.Note = true, optional(note)
	return out
}

// definition is what a Flux Kustomization says of itself.
func definition(k *graph.Kustomization) graphEntry {
	out := graphEntry{Name: entryName(k), Path: k.Path, At: optional(k.String())}
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

// about is who reads what is asked about, and what it changes.
func (l graphLook) about(paths []string) ([]graphPath, error) {
	asked, err := l.asked(paths)
	if err != nil {
		return nil, err
	}
	rows := map[string]*graphPath{}
	out := make([]graphPath, len(asked))
	for i, file := range asked {
		out[i] = graphPath{Path: file, Readers: []graphReader{}, Changes: []graphChanges{}, Releases: l.needs(file), needs: l.counts([]string{file}), rule: l.rule(file)}
		rows[file] = &out[i]
	}
	n := 0
	for i := range l.clusters {
		c := &l.clusters[i]
		here, _ := l.entries(c)
		for _, e := range here {
			for _, file := range e.Files() {
				if row := rows[file]; row != nil {
					r := reader(e, file)
					n += len(r.Chain)
					row.Readers = append(row.Readers, r)
				}
				if n > maxGraphRows {
					return nil, fmt.Errorf("--path: more than %d lines; name fewer files", maxGraphRows)
				}
			}
		}
		for _, in := range c.Influences() {
			if row := rows[in.File]; row != nil {
				row.Changes = append(row.Changes, graphChanges{c.Name, entryName(in.Of.Kustomization), in.Why, in.Text, entryName(in.By.Kustomization), in.At.Line})
			}
		}
	}
	return out, nil
}

// reader is how an entry point comes to read a file.
func reader(e graph.Entry, file string) graphReader {
	r := graphReader{Cluster: e.Cluster.Name, Entry: entryName(e.Kustomization), Branch: optional(e.Branch()), path: e.Path()}
	for _, edge := range e.Chain(file) {
		r.Chain = append(r.Chain, graphStep{edge.File, optional(edge.By), optional(edge.Why)})
	}
	return r
}

// asked is the files that are meant: a directory stands for all that is in it.
func (l graphLook) asked(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		name := path.Clean(filepath.ToSlash(p))
		switch _, found := slices.BinarySearch(l.files, name); {
		case p == "":
			return nil, errors.New("--path: it is empty")
		case found:
			out = append(out, name)
		case !l.dirs[name]:
			return nil, fmt.Errorf("--path %s: there is no such file in the repository; paths begin at DIR", shown(p))
		default:
			for _, file := range l.files {
				if name == "." || strings.HasPrefix(file, name+"/") {
					out = append(out, file)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
