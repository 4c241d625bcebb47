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
	"strings"
	"time"

	"github.com/sluicegate/sluice/graph"
)

// Entry is an entry point to build, as Flux would: the directory (all YAML below it if it has no kustomization.yaml, sub-directories that have one as
// units), then what the Flux Kustomization adds.
type Entry struct {
	ID                                      string // the caller's
	Path                                    string // a directory of the tree
	Components                              []string
	Patches                                 []graph.Patch
	TargetNamespace, NamePrefix, NameSuffix string
	// Variables are filled into names, namespaces, and a Flux Kustomization's path and source after the build.
	Variables graph.Variables
	Ignore    string // spec.ignore of its GitRepository
}

// Object is one object that an entry makes.
type Object struct {
	Group, Kind, Namespace, Name string
	File                         string `json:",omitempty"` // of the tree that it comes from; of a generated one the kustomization.yaml; "": not known
	Path                         string `json:",omitempty"` // spec.path of a Flux Kustomization, cleaned as in [graph.Kustomization]
	Source                       string `json:",omitempty"` // kind/namespace/name of its sourceRef
	Digest                       string // of the whole object
}

// Result is what became of an entry.
type Result struct {
	ID      string
	Objects []Object // in the order in which kustomize gives them
	Err     string   // why there are none; "": it was built
	Remote  bool     // Err says what it needs from elsewhere, which is never fetched
}

// Limits bounds a [Run]. What is 0 has its default.
type Limits struct {
	Entry   time.Duration // processor time for one entry; by the clock it may take a few times as long
	All     time.Duration // for all of them
	Memory  int64         // bytes, for each child
	Files   int           // that are sent
	File    int64         // bytes of one file
	Bytes   int64         // of all files
	Read    int64         // bytes that one entry reads, a file counted as often as it is read
	Objects int           // of one entry
}

// The defaults of [Limits].
const (
	DefaultEntry   = 10 * time.Second
	DefaultAll     = 2 * time.Minute
	DefaultMemory  = 1 << 30
	DefaultFiles   = 50_000
	DefaultFile    = graph.MaxFile
	DefaultBytes   = graph.MaxBytes
	DefaultRead    = 32 << 20
	DefaultObjects = 5000
)

func (l Limits) filled() Limits {
	fill(&l.Entry, DefaultEntry)
	fill(&l.All, DefaultAll)
	fill(&l.Memory, DefaultMemory)
	fill(&l.Files, DefaultFiles)
	fill(&l.File, DefaultFile)
	fill(&l.Bytes, DefaultBytes)
	fill(&l.Read, DefaultRead)
	fill(&l.Objects, DefaultObjects)
	return l
}

func fill[T ~int | ~int64](field *T, otherwise T) {
	if *field <= 0 {
		*field = otherwise
	}
}

// Entries is the entry points of a cluster that read this repository: its root, whose ID is "root", and its Flux Kustomizations, whose ID is
// namespace/name and path. One whose path has a variable without a value is none.
func Entries(c graph.Cluster) []Entry {
	root := Entry{ID: "root", Path: c.Path}
	var out []Entry
	known, self := map[string]bool{}, false
	for _, k := range c.Kustomizations {
		e := Entry{
			ID: k.Namespace + "/" + k.Name + " " + k.Path, Path: k.Path, Components: k.Components, Patches: k.Patches,
			TargetNamespace: k.TargetNamespace, NamePrefix: k.NamePrefix, NameSuffix: k.NameSuffix, Variables: k.Variables(),
		}
		if k.Source != nil {
			e.Ignore = k.Source.Ignore
		}
		switch {
		case k.Path == c.Path:
			if adds := len(k.Patches)+len(k.Components)+len(k.TargetNamespace+k.NamePrefix+k.NameSuffix) > 0 || !e.Variables.None() || e.Ignore != ""; adds && !self {
				e.ID = root.ID
				self, root = true, e
			}
		case k.Here && !known[e.ID] && !strings.Contains(k.Path, "${"):
			known[e.ID] = true
			out = append(out, e)
		}
	}
	return append([]Entry{root}, out...)
}
