// Package graph says where by references: which clusters a repository is for, which Flux objects each of them has, and what its Flux
// Kustomizations read.
//
// [Tree.Clusters] finds the clusters of a [Tree]: a cluster is a root, the directory that Flux is pointed at, and whatever follows from it: the objects
// below the root, and those that the paths of its Flux Kustomizations lead to. What an entry point is not sure of is [Entry.Unsure].
// Whoever must not miss anything looks at the problems, too.
//
// The package is pure over an [fs.FS] and knows no file of ours. It fails as package kustomize does.
package graph

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/meter"
)

// Tree is what the files of a repository say, and what clusters they are for.
type Tree struct {
	*kustomize.Tree
	// Builder makes the objects of a directory, with what a Flux Kustomization adds to it (nil: nothing), of the files that are read for it: those that
	// [manifest.IsRead], as kustomize makes them, in YAML. It is asked where kustomize may make other objects of Flux than are read. nil: nothing is built.
	Builder func(dir string, adds *Kustomization, files []string) ([]byte, error)
	// URL is what the caller knows this repository by, such as a clone's origin; "": nothing. It is to be set before clusters are looked for.
	URL string

	cut   string            // a bound beyond which clusters were not found; "": none
	found map[string]*found // clusters, from the last time
	leads *leads            // nil: not known
}

// Read reads the YAML files of a tree as a run of its own.
func Read(tree fs.FS) (*Tree, error) { return ReadBy(meter.Unhurried(), tree) }

// ReadBy is Read as a part of a run. What is beyond the bounds of that is not read, and [Tree.Beyond] says so.
func ReadBy(m *meter.Meter, tree fs.FS) (*Tree, error) {
	files, err := kustomize.Read(m, tree)
	if err != nil {
		return nil, err
	}
	return &Tree{Tree: files, found: map[string]*found{}}, nil
}

// Again reads a tree of which some files have changed since t was read: added, modified or deleted. Only these are read. t stays as it is, and what
// has not changed is shared. The result is that of [ReadBy] on the new tree, of which the same run is charged for what has changed alone; where much has, for
// the names of all files, too.
func (t *Tree) Again(tree fs.FS, names []string) (*Tree, error) {
	files, changed, err := t.Tree.Again(tree, names)
	if err != nil {
		return nil, err
	}
	out := &Tree{Tree: files, URL: t.URL, found: map[string]*found{}}
	for key, f := range t.found {
		if !changed.Among(f.Looked) {
			out.found[key] = f
		}
	}
	if !changed.Leads {
		out.leads = t.leads
	}
	return out, nil
}

// hidden reports whether a file stands in a hidden directory, which Flux reads where it is pointed at one, and nobody takes for a cluster's.
func hidden(file string) bool {
	return strings.HasPrefix(file, ".") && strings.Contains(file, "/") || strings.Contains(path.Dir(file), "/.")
}

// Beyond is the bound beyond which files were not read or clusters not followed; "": none. Who must know of every reader has to ask, when all
// clusters were found.
func (t *Tree) Beyond() string {
	if err := t.Meter().Err(); err != nil {
		return err.Error()
	}
	return t.cut
}

// Objects is every Flux object and CronJob as it stands in its file, by file and line: nothing is patched, and variables are as written.
func (t *Tree) Objects() Objects {
	return t.objects(func(file string, _ *kustomize.Content) bool { return !hidden(file) })
}

// leading is the objects that clusters may be found by.
func (t *Tree) leading() *leads {
	if t.leads == nil {
		t.leads = &leads{}
		var watch kustomize.Watch
		t.Watch(&watch)
		t.leads.Objects = t.objects(func(file string, c *kustomize.Content) bool { return c.Leads && !hidden(file) })
		t.leads.hidden = t.objects(func(file string, c *kustomize.Content) bool { return c.Leads && hidden(file) })

		t.leads.hub = slices.ContainsFunc(t.leads.Kustomizations, func(k *Kustomization) bool { return k.KubeConfig != "" })
		t.Watch(nil)
		t.leads.problems = watch.Problems
	}
	for _, p := range t.leads.problems {
		t.Note(p)
	}
	return t.leads
}

// leads is the objects that clusters may be found by. They are never written to.
type leads struct {
	Objects
	hidden   Objects // that stand in hidden directories
	problems []manifest.Problem
	hub      bool // a Flux Kustomization applies things to another cluster than its own
}

// objects is the objects of files of some kind, by file and line.
func (t *Tree) objects(count func(file string, c *kustomize.Content) bool) Objects {
	var files []string
	for file, c := range t.Contents {
		if count(file, c) {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	var out Objects
	for _, file := range files {
		for _, d := range t.Docs(file) {
			out.add(t, d, nil)
		}
	}
	out.link(0)
	return out
}
