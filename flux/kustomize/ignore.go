package kustomize

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/sluicegate/sluice/flux/manifest"
)

// Bounds of what leaves files out: how many patterns count, and how long one may be, in bytes.
const (
	maxPatterns = 1000
	maxPattern  = 1024
	// compared is how much of a pattern and of a path a step compares: each byte of the one with each of the other takes some nanoseconds.
	compared = 1024
)

// SourceIgnore is the name of files that say what a source leaves out of its directory.
const SourceIgnore = ".sourceignore"

// Ignores is what a source leaves out: by default, by .sourceignore files from the root on, then by its own spec.ignore. The last pattern that fits decides.
// It is matched by the code that Flux's own began as.
type Ignores struct {
	patterns []pattern
	cut      bool   // there are more than count
	link     string // a file of them that is a symbolic link, which is not followed
}

// pattern is one line, of so many bytes.
type pattern struct {
	gitignore.Pattern
	size int
}

// What Flux leaves out of a repository that has no pattern of its own anywhere, as far as YAML is concerned: hidden names, and others.
const (
	hiddenNames = ".git/\n.github/\n.circleci/\n.sops.yaml\n.flux.yaml\n.goreleaser.yml\n.travis.yml\n.gitlab-ci.yml\n.drone.yml\n"
	otherNames  = "appveyor.yml\ncloudbuild.yaml\ncodeship-services.yml\ncodeship-steps.yml\n"
)

// AnyPattern is a pattern that leaves out nothing else than a source does anyway: where a repository has one, nothing is left out by default.
const AnyPattern = ".git/\n"

// Add adds the patterns of a text, which are about a directory. Those beyond a bound leave nothing out.
func (i Ignores) Add(text, dir string) Ignores {
	var domain []string
	if dir != "." {
		domain = strings.Split(dir, "/")
	}
	i.patterns = slices.Clip(i.patterns)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "":
		case len(line) > maxPattern || len(i.patterns) >= maxPatterns:
			i.cut = true
		default:
			i.patterns = append(i.patterns, pattern{gitignore.ParsePattern(line, domain), len(line)})
		}
	}
	return i
}

// Has reports whether a file is left out. What its patterns cost is told in steps, as long as nothing is spent.
func (i Ignores) Has(file string, spent func(steps int) bool) bool {
	names, work := strings.Split(file, "/"), 0
	if len(i.patterns) == 0 && !i.cut {
		i = ignoresByDefault
	}
	for _, p := range slices.Backward(i.patterns) {
		if work += p.size * len(file); work > compared {
			if spent(work / compared) {
				return false
			}
			work = 0
		}
		if fits := p.Match(names, false); fits != gitignore.NoMatch {
			return fits == gitignore.Exclude
		}
	}
	return false
}

// Free is what [Ignores.Has] costs who is bounded otherwise.
func Free(int) bool { return false }

var ignoresByDefault = Ignores{}.Add(hiddenNames+otherNames, ".")

// LeftOut reports whether a source that says nothing leaves a YAML file out. It is asked of every file, and rarely true.
func LeftOut(name string) bool {
	return (strings.Contains("/"+name, "/.") || strings.Contains(otherNames, path.Base(name)+"\n")) && ignoresByDefault.Has(name, Free)
}

// IsYAML reports whether Flux applies a file of a directory without a kustomization.yaml, if its source hands it on.
func IsYAML(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// listed is what sources leave out of a directory that say nothing themselves.
func (t *Tree) listed(dir string) Ignores {
	if i, known := t.ignored[dir]; known {
		return i
	}
	i := Ignores{}
	if dir != "." {
		i = t.listed(path.Dir(dir))
	}
	name := path.Join(dir, SourceIgnore)
	if t.Links[name] {
		i.cut, i.link = true, name
	}
	if t.Files[name] {
		text, err := t.ReadWhole(name, manifest.MaxDoc)
		each := 192 + 16*strings.Count(dir, "/") // bytes of a pattern, which has its directory name by name
		size := len(text) + each*min(bytes.Count(text, []byte("\n"))+1, maxPatterns)
		if t.Hold(name, len(i.patterns)/8, size) || t.Step(name, len(i.patterns)/8) { // of each directory below, too
			text = nil
		}
		i = i.Add(string(text), dir)
		i.cut = i.cut || err != nil
	}
	t.ignored[dir] = i
	return i
}

// Patterned reports whether any file of the tree has a pattern, or may have one as a link of what sources leave out: then none leaves out anything by default.
func (t *Tree) Patterned() bool { return len(t.patterned)+len(t.Links) > 0 }

// patternedIn reports whether some of these stands in what is checked out; of no directories everything is.
func (t *Tree) patternedIn(sparse []string) bool {
	for _, names := range []map[string]bool{t.patterned, t.Links} {
		for name := range names {
			if t.Step(name, 1) || within(sparse, name) {
				return true
			}
		}
	}
	return false
}

// TakesIn is the files by which a source leaves out nothing by default, sorted, if files stand in some directories that it would leave out.
func (t *Tree) TakesIn(sparse []string, dirs ...string) []string {
	listed := func(dir string) bool { // by a kustomization.yaml, in it or above
		for ; dir != "." && t.Builds[dir] == nil; dir = path.Dir(dir) {
		}
		return t.Builds[dir] != nil
	}
	if !t.Patterned() || !slices.ContainsFunc(t.Within(dirs, nil), func(file string) bool { return IsYAML(file) && LeftOut(file) && !listed(path.Dir(file)) }) {
		return nil
	}
	return slices.DeleteFunc(append(manifest.SortedKeys(t.patterned), manifest.SortedKeys(t.Links)...), func(name string) bool { return !within(sparse, name) })
}

// within reports whether a file is checked out by some prefixes; by none every file is.
func within(sparse []string, name string) bool {
	return len(sparse) == 0 || slices.ContainsFunc(sparse, func(p string) bool { return p == "." || strings.HasPrefix(name, p) })
}

// patterns keeps whether a file has one.
func (t *Tree) patterns(name string) {
	if delete(t.patterned, name); path.Base(name) != SourceIgnore || !t.Files[name] {
		return
	}
	text, err := ReadFile(t.fs, name, manifest.MaxDoc)
	if t.Step(name, 1+len(text)>>10) || err != nil {
		t.patterned[name] = true
	}
	for line := range bytes.Lines(text) {
		if line[0] != '#' && len(bytes.TrimSpace(line)) > 0 {
			t.patterned[name] = true
			break
		}
	}
}

// link keeps a symbolic link by which a source may leave something out.
func (t *Tree) link(name string, mode fs.FileMode) {
	if mode&fs.ModeSymlink != 0 && path.Base(name) == SourceIgnore {
		t.Links[name] = true
	}
}

// Ignores reports whether files of the tree leave something out of what stands in a directory.
func (t *Tree) Ignores(dir string) bool {
	for at := dir; ; at = path.Dir(at) {
		if t.Look(path.Join(at, SourceIgnore), false); at == "." {
			i := t.listed(dir)
			return i.cut || len(i.patterns) > 0
		}
	}
}

// Linked notes where a .sourceignore that is a link may leave some of these files out.
func (t *Tree) Linked(files []string) {
	for _, file := range files {
		if link := t.listed(path.Dir(file)).link; link != "" && t.Ignores(path.Dir(file)) {
			t.Problem(manifest.Place{File: link, Line: 1}, wordLinked)
		}
	}
}

// Leaves reports whether a source may leave a file of the tree out, and whether it does. What one copies from another one says nothing of what is left out there.
func (t *Tree) Leaves(s *Filter, file string) (may, does bool) {
	i, sparse, others := t.listed(path.Dir(file)), false, t.Patterned()
	if s != nil {
		i, others = i.Add(s.Ignore, "."), s.Others || others && t.patternedIn(s.Sparse)
		i.cut = i.cut || manifest.Unfilled(s.Ignore) != ""
		sparse = !within(s.Sparse, file)
	}
	if others && len(i.patterns) == 0 {
		i = i.Add(AnyPattern, ".")
	}
	has := i.Has(file, func(steps int) bool { return t.Step(file, steps) })
	return has || i.cut || sparse, has && !i.cut
}

// lacks reports whether what an entry point reads may lack a file of the tree: then Flux builds its directory without it.
func (l *load) lacks(file string) bool {
	return slices.ContainsFunc(l.sources, func(p Piece) bool {
		_, ok := Inside(p.Dir, file)
		may, _ := l.walk.tree.Leaves(p.Filter, file)
		return ok && (may || p.Partial)
	})
}

// has reports whether what an entry point reads may have a file of the tree that is left out by default.
func (l *load) has(file string) bool {
	return slices.ContainsFunc(l.sources, func(p Piece) bool {
		_, ok := Inside(p.Dir, file)
		_, does := l.walk.tree.Leaves(p.Filter, file)
		return ok && !does
	})
}

// ignores looks for the files that say what counts of a directory, in it and above. What was looked for above one directory is for all that stand there.
func (l *load) ignores(dir string) {
	if _, known := l.ignoring[dir]; known {
		return
	}
	l.ignoring[dir] = false
	if dir != "." {
		l.ignores(path.Dir(dir))
	}
	l.look(path.Join(dir, SourceIgnore))
}

// obeys is ignores, and reads them.
func (l *load) obeys(dir string) {
	if l.ignores(dir); l.ignoring[dir] {
		return
	}
	l.ignoring[dir] = true
	if dir != "." {
		l.obeys(path.Dir(dir))
	}
	if file := path.Join(dir, SourceIgnore); l.walk.tree.Files[file] {
		l.edge(file, "", "")
	}
}
