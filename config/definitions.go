package config

import (
	"github.com/sluicegate/sluice/graph"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/window"
)

// What a windowed branch is for stands in Flux objects: the GitRepository that tracks it, and the Kustomizations that are made of that.
// Flux reads these from where the cluster's own root stands, mostly the default branch, and at once: whoever changes `ref` there takes
// the cluster past the window of every branch. So the window itself is to hold such files. A branch cannot.

// definition is an object that says what a windowed branch is for.
type definition struct {
	branch string
	graph.Object
}

// definitions is those of a cluster that no windowed branch brings there.
func definitions(c graph.Cluster, windowed map[string]Branch) []definition {
	var out []definition
	add := func(s *graph.Source, o graph.Object, patched ...graph.Place) {
		if s == nil || c.URL != "" && !graph.SameURL(c.URL, s.URL) {
			return // of another repository
		}
		from := c.Branch
		if o.Entry != nil && o.Entry.Source != nil {
			from = o.Entry.Source.Follows()
		}
		_, named := windowed[s.Follows()]
		if _, held := windowed[from]; named && !held {
			out = append(out, definition{s.Follows(), o})
			for _, p := range patched {
				if p.File != "" && p.File != o.File {
					o.Place = p // a patch says it there
					out = append(out, definition{s.Follows(), o})
				}
			}
		}
	}
	for _, s := range c.Sources {
		add(s, s.Object, s.RefLine)
	}
	for _, k := range c.Kustomizations {
		add(k.Source, k.Object, k.PathLine, k.SourceLine)
	}
	return out
}

// definers warns of files with such objects that no window holds, once for each file and branch.
func (c *compiler) definers(clusters []graph.Cluster) {
	windowed, places := map[string]Branch{}, map[string]int{}
	for i, b := range c.doc.branches {
		if b.Window != window.Live {
			windowed[b.Name], places[b.Name] = b, i
		}
	}
	seen := map[[2]string]bool{}
	for _, cluster := range clusters {
		for _, d := range definitions(cluster, windowed) {
			key := [2]string{d.branch, d.File}
			if state := c.unheld(d.File); state != "" && !seen[key] {
				seen[key] = true
				c.report(definitionOpen(d, state, string(windowed[d.branch].Window)), true, "branches", places[d.branch], "name")
			}
		}
	}
}

// unheld is how a path may change although every window is closed, for people; "": it may not.
func (c *compiler) unheld(path string) string {
	releases, state := c.layout.Classify(path).Releases, wordIgnored
	for _, r := range releases {
		_, branch := r.BranchGlob()
		switch {
		case r == layout.Live:
			state = wordLive
		case !branch:
			return ""
		case state == wordIgnored:
			state = wordByBranches
		}
	}
	return state
}
