package build

import (
	"path"
	"slices"

	"github.com/sluicegate/sluice/flux/kustomize"
)

// ignored is what the source of an entry leaves out of its directory and those above, and of some below.
func (l *lookup) ignored(e Entry, below []string) kustomize.Ignores {
	dirs := []string{clean(e.Path)}
	for dirs[0] != "." {
		dirs = slices.Insert(dirs, 0, path.Dir(dirs[0]))
	}
	var out kustomize.Ignores
	for _, dir := range append(dirs, below...) {
		text, _ := l.text(path.Join(dir, kustomize.SourceIgnore))
		out = out.Add(string(text), dir)
	}
	return out.Add(e.Ignore, ".")
}

// below is the directories below one.
func (l *lookup) below(dir string, depth int) []string {
	var out []string
	for _, name := range l.list(dir) {
		if l.directory(name) && depth < kustomize.MaxDepth {
			out = append(append(out, name), l.below(name, depth+1)...)
		}
	}
	return out
}
