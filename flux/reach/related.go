package reach

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/manifest"
)

// applications is the labels that say of which application an object is, the most exact one first:
// https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/
var applications = []string{"app.kubernetes.io/instance", "app.kubernetes.io/name", "app"}

// part is an object as it stands in a file, by what it may belong to others.
type part struct {
	manifest.Place
	manifest.Ref
	labels map[string]string
	refers map[manifest.Ref]bool // by kind and name, in its own namespace
}

func (p part) String() string { return p.Ref.String() + " in " + manifest.Printable(p.File) }

func partOf(d *manifest.Doc) part {
	p := part{Place: d.Place, labels: d.Pairs("metadata", "labels"), refers: map[manifest.Ref]bool{}}
	p.Kind, p.Namespace, p.Name = d.Text("kind"), d.Text("metadata", "namespace"), d.Text("metadata", "name")
	p.refer("", d.Node)
	return p
}

// refer finds what stands under a key: a name under one that says the kind, such as secretName, configMapRef and serviceAccountName, or a kind with a name.
func (p *part) refer(key string, n *manifest.Node) {
	kind := named(key)
	switch n.Kind {
	case manifest.ScalarNode:
		p.to(kind, n)
	case manifest.MappingNode:
		p.to(kind, manifest.At(n, "name"))
		p.to(manifest.Scalar(manifest.At(n, "kind")), manifest.At(n, "name"))
		for i := 0; i+1 < len(n.Content); i += 2 {
			p.refer(n.Content[i].Value, n.Content[i+1])
		}
	default:
		for _, child := range n.Content {
			p.refer(key, child)
		}
	}
}

func (p *part) to(kind string, name *manifest.Node) {
	if text := manifest.Scalar(name); kind != "" && text != "" {
		p.refers[manifest.Ref{Kind: kind, Name: text}] = true
	}
}

// named is the kind of object whose name stands under a key; "": of none that is looked for.
func named(key string) string {
	key = strings.ToLower(key)
	switch {
	case strings.Contains(key, "configmap"):
		return "ConfigMap"
	case strings.Contains(key, "secret"):
		return "Secret"
	case strings.HasPrefix(key, "serviceaccount"):
		return manifest.ServiceAccount
	case strings.HasPrefix(key, "service"):
		return "Service"
	case key == "claimname":
		return "PersistentVolumeClaim"
	}
	return ""
}

// with says how two objects belong together, as far as their files say; "": they do not. A namespace that one of them does not say may be that of the other.
func (p part) with(o part) string {
	if p.Namespace != "" && o.Namespace != "" && p.Namespace != o.Namespace {
		return ""
	}
	if p.refers[manifest.Ref{Kind: o.Kind, Name: o.Name}] {
		return fmt.Sprintf("%s refers to %s", p, o.Ref)
	}
	if o.refers[manifest.Ref{Kind: p.Kind, Name: p.Name}] {
		return fmt.Sprintf("%s, to which %s refers", p, o.Ref)
	}
	for _, label := range applications {
		if of := p.labels[label]; of != "" && o.labels[label] != "" {
			if of != o.labels[label] || p.Namespace != o.Namespace {
				return ""
			}
			return fmt.Sprintf("%s is of the application of %s", p, o.Ref)
		}
	}
	return ""
}

// Changed is the documents of a file that are others after a change, and those that it takes away. It has no order of its own.
func Changed(before, after []*manifest.Doc) []*manifest.Doc {
	of := func(docs []*manifest.Doc) map[string]*manifest.Doc {
		out := map[string]*manifest.Doc{}
		for _, d := range docs {
			out[d.Whole()] = d
		}
		return out
	}
	was, is := of(before), of(after)
	maps.DeleteFunc(was, func(digest string, _ *manifest.Doc) bool { same := is[digest] != nil; delete(is, digest); return same })
	return slices.Concat(slices.Collect(maps.Values(was)), slices.Collect(maps.Values(is)))
}

// Stale is what changed live since a held change began, and belongs to what that changes: the first of it, and of how many files more. live reports
// whether a file is live, and is asked only of such as belong to it.
func Stale(level config.Level, held, since []*manifest.Doc, live func(file string) bool) []config.Note {
	var all []part
	for _, d := range held {
		all = append(all, partOf(d))
	}
	said := map[string]string{}
	for _, d := range since {
		p := partOf(d)
		for _, h := range all {
			if how := p.with(h); how != "" && (said[p.File] == "" || how < said[p.File]) {
				said[p.File] = how
			}
		}
	}
	maps.DeleteFunc(said, func(file, _ string) bool { return !live(file) })
	files := slices.Sorted(maps.Keys(said))
	if len(files) == 0 {
		return nil
	}
	return at(level, []config.Note{{Code: codeStale, Message: wordStale(said[files[0]], len(files)-1)}})
}

// Uncompared is that more changed than is compared: whether any of it belongs to the change is not known.
func Uncompared(level config.Level) []config.Note {
	return at(level, []config.Note{{Code: codeStale, Message: wordUncompared}})
}
