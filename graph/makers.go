package graph

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// elsewhere finds in a chart that it makes something in a namespace, which may be another one than its release's.
var elsewhere = regexp.MustCompile(`namespace["']?:[ \t]*[^ \t\r\n][^\r\n]*`)

// makers finds what may make the ConfigMaps and Secrets that something of a cluster refers to and that stand in no file that is read: a ResourceSet, what
// such a one may lead to, and a HelmRelease whose chart stands in the tree. Each stands for such an object, whose content is not known then. It reports
// whether there is any.
func (w *walk) makers(c *Cluster) bool {
	missing := map[Ref]bool{}
	for _, refs := range c.refs {
		for r := range refs {
			if (r.Kind == "ConfigMap" || r.Kind == "Secret") && c.index.find(r, Object{}) == nil {
				missing[r] = true
			}
		}
	}
	if len(missing) == 0 {
		return false
	}
	makers := slices.Clone(c.sets)
	for _, r := range c.releases {
		if r.made == nil {
			continue // its chart stands elsewhere
		}
		if slices.ContainsFunc(r.made.files, w.elsewhere) {
			r.into = ""
		}
		makers = append(makers, r)
	}
	if len(c.sets) > 0 {
		makers = append(makers, w.tree.plain()...)
	}
	found := false
	for _, m := range makers {
		for _, r := range slices.SortedFunc(maps.Keys(missing), Ref.compare) {
			if m.data != nil && (m.Kind != r.Kind || m.Name != r.Name) || m.into != "" && r.Namespace != "" && m.into != r.Namespace || w.spent(1, 0) {
				continue
			}
			s := &thing{Object: m.Object, digest: m.digest, names: m.names, made: m.made, unread: true, by: m}
			s.Kind, s.Namespace, s.Name = r.Kind, r.Namespace, r.Name
			c.file(w.tree, s)
			found = true
		}
	}
	return found
}

// plain is the ConfigMaps and Secrets of the tree, whoever reads them.
func (t *Tree) plain() []*thing {
	t.watch.look(".", true)
	var all []*doc
	for _, file := range sortedKeys(t.contents) {
		all = append(all, t.docs(file)...)
		if b := t.contents[file].build; b != nil {
			all = append(all, b.generated...)
		}
	}
	var out []*thing
	for _, d := range all {
		o := Object{Place: d.place, Kind: d.text("kind"), Namespace: d.text("metadata", "namespace"), Name: d.text("metadata", "name")}
		if d.plain() && o.Name != "" {
			out = append(out, &thing{Object: o, digest: digest(d), data: d, into: o.Namespace, made: d.made})
		}
	}
	return out
}

// elsewhere reports whether a file of a chart says a namespace that is not that of the release.
func (w *walk) elsewhere(file string) bool {
	w.tree.raw[file] = true
	text, err := ReadFile(w.tree.fs, file, MaxFile)
	return err != nil || w.spent(1+len(text)>>10, 0) || slices.ContainsFunc(elsewhere.FindAllString(string(text), -1), func(line string) bool {
		return !strings.Contains(line, "Release.Namespace")
	})
}
