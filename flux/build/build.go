// Package build makes the objects of entry points with kustomize, as Flux would, from a tree in memory.
//
// kustomize runs git and asks the network for bases elsewhere, takes no context and has no bounds; what it is given here is what people
// propose. So it runs in a child process ([Run] starts it, [Child] is what it does), which is sent the files and the entries and sends the
// objects back. The child has no environment, opens no file and no socket and starts no process; its time and its memory are limited, and it
// is killed at the end. Before kustomize sees an entry, a walk of our own follows what it refers to and refuses what is no local file of the
// tree, what would run a program, and what is too much.
//
// How it fails: closed, by entry. An entry that is refused, broken, too slow or too large has a [Result] with an Err; the child that it
// spoiled is killed, and a new one builds the rest. [Run] itself fails only if no child can be started.
package build

import (
	"os"
	"time"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
)

// Entry is an entry point to build, as Flux would: the directory (all YAML below it if it has no kustomization.yaml, sub-directories that have one as
// units), then what the Flux Kustomization adds.
type Entry struct {
	Path                                    string // a directory of the tree
	Components                              []string
	Optional                                bool // components that are missing are none
	Patches                                 []manifest.Patch
	TargetNamespace, NamePrefix, NameSuffix string
	// Variables are filled into names, namespaces, and a Flux Kustomization's path and source after the build.
	Variables manifest.Variables
	Ignore    string // spec.ignore of its GitRepository
	// Whole asks for the manifests of the objects that package graph reads, as kustomize makes them, in the place of the objects.
	Whole bool
	// Misses reports whether a file stands in the tree and is not known to be read by the entry; nil: nothing is known.
	Misses func(file string) bool `json:"-"`
}

// Object is one object that an entry makes.
type Object struct {
	Group, Kind, Namespace, Name string
	File                         string `json:",omitempty"` // of the tree that it comes from; of a generated one the kustomization.yaml; "": not known
	Path, Source                 string `json:",omitempty"` // where it leads Flux, as in [manifest.Led]; of what others go with Source is what makes it another one, whatever its name, and Path a hash of all of it
	Kept                         bool   `json:",omitempty"` // Flux does not delete it where it leaves the entry: its annotations or labels say so
}

// Result is what became of an entry.
type Result struct {
	Objects []Object // in the order in which kustomize gives them; of what needs something from elsewhere those that it makes without that
	Text    []byte   `json:",omitempty"` // the manifests, if the entry asks for them
	Err     string   // why these are not all; "": they are
	Remote  bool     // Err says what it needs from elsewhere, which is never fetched
	Missed  string   // a file of the tree that it asked for and is not known to read; "": none
}

// Limits bounds a [Run]. What is 0 has its default.
type Limits struct {
	Entry   time.Duration // processor time for one entry; by the clock it may take a few times as long
	All     time.Duration // for all of them, within the time of the run
	Memory  int64         // bytes, for all child processes together
	Objects int           // of one entry
}

// The defaults of [Limits].
const (
	DefaultEntry   = 10 * time.Second
	DefaultAll     = 2 * time.Minute
	DefaultMemory  = 192 << 20 // and no more than half of what the machine has, or its control group
	DefaultObjects = 5000
)

// Bounds that nobody may choose.
const (
	// maxFiles is how many files are sent.
	maxFiles = 50_000
	// maxFile is the size of one file, in bytes.
	maxFile = manifest.MaxFile
	// maxBytes is that of all files.
	maxBytes = 64 << 20
	// maxRead is how many bytes one entry reads, a file counted as often as it is read.
	maxRead = 32 << 20
)

func (l Limits) filled() Limits {
	fill(&l.Entry, DefaultEntry)
	fill(&l.All, DefaultAll)
	fill(&l.Memory, min(DefaultMemory, machine(os.DirFS("/"))/2))
	fill(&l.Objects, DefaultObjects)
	return l
}

func fill[T ~int | ~int64](field *T, otherwise T) {
	if *field <= 0 {
		*field = otherwise
	}
}

// NewEntry is what is built for an entry point, with what its Flux Kustomization adds; for a root that is its own, as gotk-sync.yaml has it.
func NewEntry(e graph.Entry) Entry {
	out := Entry{Path: e.Cluster.Path}
	if e.Kustomization != nil {
		out = entryOf(e.Kustomization)
	} else if k := e.Cluster.Own(); k != nil && (k.Adds() || k.Source != nil && k.Source.Ignore != "") {
		out = entryOf(k)
	}
	out.Misses = e.Misses
	return out
}

// NewWhole is what is built for [graph.Tree.Builder].
func NewWhole(dir string, adds *graph.Kustomization) Entry {
	e := Entry{}
	if adds != nil {
		e = entryOf(adds)
		e.Variables = manifest.Variables{} // package graph fills them in
	}
	e.Path, e.Whole = dir, true
	return e
}

func entryOf(k *graph.Kustomization) Entry {
	e := Entry{
		Path: k.Path, Components: k.Components, Optional: k.Optional, Patches: k.Patches,
		TargetNamespace: k.TargetNamespace, NamePrefix: k.NamePrefix, NameSuffix: k.NameSuffix, Variables: k.Variables(),
	}
	if k.Source != nil {
		if e.Ignore = k.Source.Ignore; k.Source.Others {
			e.Ignore = kustomize.AnyPattern + e.Ignore
		}
	}
	return e
}
