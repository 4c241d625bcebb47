package survey

import (
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/escape"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/layout"
)

// writeFlux proposes what says the same by references as the rules do by paths, where directory names say nothing. It is a comment.
func (s *survey) writeFlux(y *yamlText) {
	patterns, lines := 0, s.fluxLines(maxPoints)
	for _, r := range s.rules {
		patterns += len(r.paths)
	}
	if len(lines) == 0 || patterns < len(lines) || s.preset != layout.NoPreset {
		return
	}
	y.comment(1, wordFlux)
	for _, line := range lines {
		y.comment(1, "%s", line)
	}
}

// fluxLines is the lines that stand for rules and unmatched, with so many entries of entrypoints; none: they would say something else.
func (s *survey) fluxLines(most int) (lines []string) {
	points := s.entryPoints()
	if len(points)+len(s.branches) == 0 || len(points) > most || slices.ContainsFunc(s.clusters, doubtful) {
		return nil
	}
	if lines = append(lines, "flux: true"); len(points) > 0 {
		lines = append(lines, "entrypoints:")
	}
	all := needs{}
	for _, b := range s.branches {
		all.windows = append(all.windows, b.window)
	}
	for _, p := range points {
		clusters := ""
		if names := p.clusters; len(names) < len(s.clusters) {
			clusters = "cluster: " + escape.YAML(oneOf(names)) + ", "
		}
		lines = append(lines, "  - {"+clusters+"where: "+escape.YAML(oneOf(p.where))+", release: "+escape.YAML(p.window)+"}")
		all.windows = append(all.windows, p.window)
	}
	lines = append(lines, "unmatched: "+s.expressible(all.sorted()).release()+" # what nothing is known to read")
	if !s.valid(lines) {
		return nil
	}
	return lines
}

// doubtful reports whether something is not known of a cluster, which may be an error where references decide.
func doubtful(c graph.Cluster) bool {
	unknown := func(p manifest.Problem) bool { return !p.Refused }
	return len(c.Unconfirmed()) > 0 || slices.ContainsFunc(c.Problems, unknown)
}

// valid reports whether a file may have a layout of these lines.
func (s *survey) valid(lines []string) bool {
	var y yamlText
	y.line(0, "version: 1\ntimezone: UTC")
	s.writeWindows(&y)
	y.line(0, "layout:\n  %s", strings.Join(lines, "\n  "))
	s.writeBranches(&y)
	policy, _ := config.Parse([]byte(y.String()))
	return policy != nil
}

// maxPoints is how many entries of entrypoints are proposed: more are no easier to read than rules.
const maxPoints = 40

// point is an entry of entrypoints: Flux Kustomizations of clusters, and their window.
type point struct {
	clusters, where []string
	window          string
}

// entryPoints is the entries that hold what was found to be windowed. Those of single Kustomizations come before that of the rest of their cluster.
func (s *survey) entryPoints() (points []point) {
	var rest []point
	add := func(to *[]point, cluster, window string, where []string) {
		i := slices.IndexFunc(*to, func(p point) bool { return p.window == window && slices.Equal(p.where, where) })
		if i < 0 {
			*to = append(*to, point{where: where, window: window})
			i = len(*to) - 1
		}
		(*to)[i].clusters = append((*to)[i].clusters, layout.Literal(cluster))
	}
	for _, c := range s.clusters {
		h, named := s.holderOf(c), map[string][]string{}
		for _, k := range c.Kustomizations {
			if w := strings.Join(h.held(k).windows, ""); w != "" && w != h.window { // one at most
				named[w] = append(named[w], layout.Literal(k.Namespace+"/"+k.Name))
			}
		}
		for _, w := range s.windows {
			if len(named[w.name]) > 0 {
				slices.Sort(named[w.name])
				add(&points, c.Name, w.name, slices.Compact(named[w.name]))
			}
		}
		if h.window != "" {
			add(&rest, c.Name, h.window, []string{"**"})
		}
	}
	return append(points, rest...)
}

// oneOf is a pattern for any of some.
func oneOf(patterns []string) string {
	if len(patterns) == 1 {
		return patterns[0]
	}
	return "{" + strings.Join(patterns, ",") + "}"
}
