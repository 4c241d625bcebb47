package survey

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/escape"
	"github.com/sluicegate/sluice/layout"
)

// text is the file.
func (s *survey) text() string {
	var y yamlText
	y.line(0, wordHead)
	y.line(0, "version: 1")
	y.line(0, "mode: observe # statuses say what would be held, and nothing is held; enforce holds, and merges what may go")
	y.line(0, "%s", s.zoneLine())
	y.line(0, "# pull_requests: {live: status, window: status} # under enforce: people merge, and sluice only says what may go")
	y.line(0, "")
	s.writeWindows(&y)
	y.line(0, "")
	s.writeLayout(&y)
	s.writeClusters(&y)
	s.writeBranches(&y)
	s.writeNotes(&y)
	return y.String()
}

// bare is a file that says as little as one can, where the tree's own would be invalid.
func (s *survey) bare(findings []config.Finding) string {
	var y yamlText
	y.line(0, "version: 1")
	y.line(0, "mode: observe")
	y.comment(0, wordBare)
	for _, f := range findings {
		y.comment(0, "  %s", f.Message)
	}
	return y.String()
}

// zoneLine is the file's zone: the one that most windows have.
func (s *survey) zoneLine() string {
	zone, most := "", 0
	for _, w := range s.windows {
		n := 0
		for _, o := range s.windows {
			if o.zone == w.zone {
				n++
			}
		}
		if n > most && w.zone != "" {
			zone, most = w.zone, n
		}
	}
	s.zone = zone
	switch {
	case zone != "":
		return "timezone: " + escape.YAML(zone)
	case !slices.ContainsFunc(s.windows, func(w firstWindow) bool { return !w.placeholder }):
		return "timezone: UTC # put yours in, such as Europe/Berlin"
	}
	s.zone = "UTC"
	return "timezone: UTC # a CronJob without timeZone runs in that of kube-controller-manager, which is UTC in most clusters: look whether it is in yours"
}

func (s *survey) writeWindows(y *yamlText) {
	y.line(0, "windows:")
	for _, w := range s.windows {
		if w.placeholder {
			y.comment(1, wordExample, s.source(w), s.reached(w))
		}
		for i, from := range w.from {
			if i == maxSources {
				y.comment(1, "and %d more", len(w.from)-i)
				break
			}
			y.comment(1, "%s", from)
		}
		w.write(y, s.zone)
	}
}

// source is what says nothing of a window's hours.
func (s *survey) source(w firstWindow) string {
	if len(w.from) > 0 {
		return "nothing that was understood"
	}
	return "nothing in the tree"
}

// reached is what a window without hours is for.
func (s *survey) reached(w firstWindow) string {
	if len(s.windows) == 1 {
		return "a cluster"
	}
	return list(w.clusters, 6)
}

// maxSources is how many places a comment of a window names.
const maxSources = 4

// write writes a window. A zone that is the file's own is left out.
func (w firstWindow) write(y *yamlText, zone string) {
	y.line(1, "%s:", escape.YAML(w.name))
	y.line(2, "open: %s", escape.Quote(w.open))
	if w.duration != "" {
		y.line(2, "duration: %s", escape.YAML(w.duration))
	} else {
		y.line(2, "close: %s", escape.Quote(w.close))
	}
	if w.cutoff != "" {
		y.line(2, "cutoff: %s # the default would leave nothing of it", w.cutoff)
	}
	if w.zone != "" && w.zone != zone {
		y.line(2, "timezone: %s", escape.YAML(w.zone))
	} else if w.zone == "" && zone != "" && zone != "UTC" && !w.placeholder {
		y.line(2, "timezone: UTC # its jobs name none: that of kube-controller-manager, which is UTC in most clusters")
	}
}

func (s *survey) writeLayout(y *yamlText) {
	y.line(0, "layout:")
	if len(s.byReferences) > 0 {
		y.comment(1, wordReferences)
		for _, line := range s.byReferences {
			y.line(1, "%s", line)
		}
		return
	}
	if s.preset != layout.NoPreset {
		y.line(1, "preset: %s # by the names of directories", s.preset)
		if len(s.side.branches) > 0 {
			y.line(1, "branches: %s # windowed changes are merged at once; these branches hold them", values(branchGlobs(s.side.branches)))
		} else {
			more := ""
			if len(s.rules) > 0 && s.rules[len(s.rules)-1].last {
				more = " # where the rules say nothing else"
			}
			y.line(1, "window: %s%s", escape.YAML(s.side.windows[0]), more)
		}
	}
	if len(s.rules) == 0 {
		y.line(1, "rules: []")
	} else {
		y.line(1, "rules: # the first that matches a path counts")
	}
	for _, r := range s.rules {
		y.comment(2, "%s", r.comment)
		if len(r.paths) == 1 {
			y.line(2, "- paths: %s", quotedList(r.paths))
		} else {
			y.line(2, "- paths:")
			for _, p := range r.paths {
				y.line(4, "- %s", escape.Quote(p))
			}
		}
		y.line(3, "release: %s", r.needs.release())
	}
	if len(s.unmatched.windows) > 0 {
		y.line(1, "unmatched: %s", s.unmatched.release())
	} else {
		y.line(1, "unmatched: ignore # sluice does not manage the rest")
	}
	s.writeFlux(y)
}

// release is needs as the file has them.
func (n needs) release() string {
	switch {
	case len(n.windows) == 1:
		return escape.YAML(n.windows[0])
	case len(n.windows) > 1:
		return values(n.windows) + " # all of them must be open"
	case len(n.branches) > 0:
		return "{branches: " + values(branchGlobs(n.branches)) + "}"
	case n.ignore:
		return "ignore"
	}
	return "live"
}

// allBranches is the pattern for more branches than a rule may name.
const allBranches = "**"

// branchGlobs is patterns that mean branches.
func branchGlobs(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		if out[i] = name; name != allBranches { // which is no name that a branch may have
			out[i] = layout.Literal(name)
		}
	}
	return out
}

func (s *survey) writeClusters(y *yamlText) {
	if len(s.clusters) == 0 {
		return
	}
	y.line(0, "")
	line := y.line
	if len(s.guessed()) > 0 { // named they would be known
		s.note(noteGuessed, list(s.guessed(), 6))
		line = func(depth int, format string, args ...any) { y.comment(0, strings.Repeat("  ", depth)+format, args...) }
	}
	line(0, "clusters: # what Flux is pointed at in each")
	for _, c := range s.clusters {
		entry := fmt.Sprintf("name: %s, path: %s", escape.YAML(c.Name), escape.YAML(c.Path))
		if whole := entry + ", branch: " + escape.YAML(c.Branch); c.Branch != "" && valid("clusters: [{"+whole+"}]") {
			entry = whole
		}
		if !valid("clusters: [{" + entry + "}]") {
			s.note(noteCluster, c.Name, c.Path)
			continue
		}
		line(1, "- {%s} # %s", entry, foundWords(c))
	}
}

// guessed is the clusters whose root is a guess.
func (s *survey) guessed() (names []string) {
	for _, c := range s.clusters {
		if c.Guessed {
			names = append(names, oneLine(c.Name))
		}
	}
	return names
}

func (s *survey) writeBranches(y *yamlText) {
	if len(s.branches) == 0 {
		return
	}
	y.line(0, "")
	y.line(0, "branches:")
	for _, b := range s.branches {
		y.comment(1, "%s", b.at)
		y.line(1, "- {name: %s, from: %s, window: %s}", escape.YAML(b.name), escape.YAML(b.from), escape.YAML(b.window))
	}
}

func (s *survey) writeNotes(y *yamlText) {
	for _, t := range s.gone {
		s.note(noteGone, t)
	}
	if len(s.notes) == 0 {
		return
	}
	y.line(0, "")
	y.line(0, "# To look at:")
	for i, n := range s.notes {
		if i == maxNotes {
			y.comment(0, "- and %d more", len(s.notes)-i)
			break
		}
		y.comment(0, "- %s", n)
	}
}

// maxNotes is how many notes the file has.
const maxNotes = 50

func quotedList(texts []string) string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = escape.Quote(t)
	}
	return "[" + strings.Join(out, ", ") + "]"
}
