package gate

import (
	"cmp"
	"slices"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// maxSteps bounds how many paths a verdict explains one by one.
const maxSteps = 20

// maxUnnamed bounds how many releases that are no window's name are kept: each alone holds for good, and the author of a pull request can
// make any number of them.
const maxUnnamed = 20

// need is what the paths of a change ask for: the union over them.
type need struct {
	releases  []layout.Release // sorted
	windows   []window.Name    // those of releases that are windows, live among them
	branches  []layout.Release // those of releases that are windowed branches
	uproots   []layout.Release // those of branches to which something moves that Flux reads from the base itself
	pruned    []layout.Release // those of paths by whose change Flux deletes something until it is released
	unknown   []window.Name    // windows that the file does not have
	unnamed   int              // of releases that are no window's name
	live      bool
	windowed  bool // by windows; what branches hold is not
	managed   int  // paths with a release
	ignored   int  // paths without one, the file itself not counted
	dropped   int  // those of them that a rule ignores
	protected int  // paths that people merge, with a release or without; the latter are not among ignored
	complete  bool
	steps     []plan.Step
}

// needOf classifies every path of a change, a rename by both names. With an incomplete list every window of the file is
// asked for as well: a path that is not known may stand anywhere.
func needOf(p *config.Policy, paths []string, complete bool) need {
	n := need{complete: complete}
	classified := 0
	for _, path := range paths {
		if path == config.File {
			continue
		}
		class := p.Layout.Classify(path)
		n.count(class)
		if len(class.Releases) == 0 && !class.Protected && p.Layout.Rule(path) >= 0 {
			n.dropped++
		}
		n.add(class.Releases...)
		if class.Pruned {
			n.pruned = append(n.pruned, class.Releases...)
		}
		if classified++; classified <= maxSteps {
			n.steps = append(n.steps, sayPath(path, class, p.LineOf(path)))
		}
	}
	if classified > maxSteps {
		n.steps = append(n.steps, rest(sayMore, classified-maxSteps))
	}
	if !complete {
		// Fail closed: what is not listed is windowed, by every window there is.
		for _, w := range p.Calendar.Names() {
			n.add(layout.Release(w))
		}
		n.windowed = true
		n.steps = append(n.steps, rest(sayIncomplete))
	}
	n.sortOut(p.Calendar)
	return n
}

func (n *need) count(c layout.Class) {
	if len(c.Releases) > 0 {
		n.managed++
	} else if !c.Protected {
		n.ignored++
	}
	if c.Protected {
		n.protected++
	}
}

// add adds releases to the union. The file bounds how many different ones it names, and maxUnnamed the others.
func (n *need) add(rs ...layout.Release) {
	for _, r := range rs {
		_, _, unnamed := r.NoWindow()
		if unnamed && n.unnamed == maxUnnamed || slices.Contains(n.releases, r) {
			continue
		}
		n.releases = append(n.releases, r)
		if unnamed {
			n.unnamed++
		}
	}
}

func (n *need) sortOut(cal *window.Calendar) {
	slices.Sort(n.releases)
	for _, r := range n.releases {
		if _, ok := r.BranchGlob(); ok {
			n.branches = append(n.branches, r)
			continue
		}
		name := window.Name(r)
		n.live = n.live || name == window.Live
		n.windowed = n.windowed || name != window.Live
		n.windows = append(n.windows, name)
		if !cal.Has(name) {
			n.unknown = append(n.unknown, name)
		}
	}
}

// names lists every name that a change touches, sorted, each once.
func names(files []plan.File) []string {
	out := make([]string, 0, len(files))
	for _, f := range files {
		out = append(out, f.Names()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// byNumber orders cases as GitHub numbers their pull requests.
func byNumber(a, b *pullCase) int { return cmp.Compare(a.pull.Number, b.pull.Number) }
