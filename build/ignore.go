package build

import (
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/sluicegate/sluice/graph"
)

// Bounds of what leaves files out: how many patterns count, and how long one may be, in bytes. What is beyond leaves nothing out.
const (
	maxPatterns = 1000
	maxPattern  = 1024
)

// ignoreList is what a source leaves out: by .sourceignore files, then by its own spec.ignore. The last pattern that fits decides.
type ignoreList []gitignore.Pattern

// ignored is what the source of an entry leaves out.
func (l *lookup) ignored(e Entry) ignoreList {
	var out ignoreList
	for dir := clean(e.Path); ; dir = path.Dir(dir) {
		out = append(l.listed(dir), out...)
		if dir == "." {
			break
		}
	}
	return append(out, l.below(clean(e.Path), 0)...).add(e.Ignore, ".")
}

// below is what stands in the directories below one.
func (l *lookup) below(dir string, depth int) ignoreList {
	var out ignoreList
	for _, name := range l.list(dir) {
		if l.directory(name) && depth < graph.MaxDepth {
			out = append(append(out, l.listed(name)...), l.below(name, depth+1)...)
		}
	}
	return out
}

// listed is what the .sourceignore of a directory says.
func (l *lookup) listed(dir string) ignoreList {
	text, _ := l.text(path.Join(dir, graph.SourceIgnore))
	return ignoreList(nil).add(string(text), dir)
}

// add adds the patterns of a text, which are about a directory.
func (i ignoreList) add(text, dir string) ignoreList {
	var domain []string
	if dir != "." {
		domain = strings.Split(dir, "/")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" || len(line) > maxPattern || len(i) >= maxPatterns {
			continue
		}
		i = append(i, gitignore.ParsePattern(line, domain))
	}
	return i
}

// has reports whether a file is left out.
func (i ignoreList) has(name string) bool {
	return len(i) > 0 && gitignore.NewMatcher(i).Match(strings.Split(name, "/"), false)
}
