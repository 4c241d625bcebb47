package survey

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/graph"
	"github.com/sluicegate/sluice/layout"
)

// Draft is the first file of a repository, and what it was made of.
type Draft struct {
	File     []byte // valid
	Policy   *config.Policy
	Findings []config.Finding // about the file alone, and why no right one can be made of the tree
	Clusters []Cluster        // that were found; never nil
	Notes    []string         // what was not understood, each a line of text for people
}

// Cluster is a cluster that was found.
type Cluster struct {
	Name   string `json:"name"`
	Path   string `json:"path"`   // its root
	Branch string `json:"branch"` // that its root follows; "": not known
	Found  string `json:"found"`  // how it was found, and where that stands; one line
}

// New drafts the first file of a repository: tree is its Flux objects, paths are all its files, relative to its root and with slashes, and main
// is its default branch, "" if nobody knows. It fails only if no valid file can be made of the tree at all.
func New(tree *graph.Tree, paths []string, main string) (Draft, error) {
	s := newSurvey(tree, paths, main)
	d := Draft{File: []byte(s.text()), Clusters: []Cluster{}}
	d.Notes = s.notes // those of writing the text among them
	d.Policy, d.Findings = config.Parse(d.File)
	if d.Policy == nil {
		// The tree is hostile: whatever it made of the file, what is given is valid.
		d.File = []byte(s.bare(d.Findings))
		d.Policy, d.Findings = config.Parse(d.File)
	}
	if d.Policy == nil {
		return Draft{}, errors.New("no valid file could be made of this tree")
	}
	d.Findings = append(d.Findings, s.findings...)
	for _, c := range s.clusters {
		d.Clusters = append(d.Clusters, Cluster{c.Name, c.Path, c.Branch, foundWords(c)})
	}
	return d, nil
}

// survey is what a repository's first file is made of.
type survey struct {
	main     string // the default branch; "": not known
	paths    []string
	tree     *graph.Tree
	clusters []graph.Cluster
	windows  []firstWindow
	preset   layout.Preset
	shape    *layout.Layout // the preset alone: what directory names say
	branches []firstBranch
	unclear  bool             // something is about windows, and is not clear
	evidence bool             // something in the tree says what is windowed
	notes    []string         // what was not understood
	findings []config.Finding // without which no file is right
	needs    map[string]needs // of each file that a cluster reads
	rules    []firstRule
	side     needs           // of the preset
	zone     string          // of the file
	together map[string]bool // whether windows are never open at one time, by their names
	gone     []string        // targets of jobs that stand in no file
}

// firstBranch is a windowed branch: one that a cluster's Kustomizations track already.
type firstBranch struct {
	name, from, window, at string
	clusters               []string // that track it
}

// newSurvey looks at a repository. main is the default branch.
func newSurvey(tree *graph.Tree, paths []string, main string) *survey {
	s := &survey{main: main, paths: paths, tree: tree, clusters: tree.Clusters(nil), together: map[string]bool{}}
	s.windows, s.notes = gather(s.withJobs())
	s.unclear = len(s.notes) > 0
	s.preset, s.shape = presetOf(paths)
	s.findBranches()
	s.evidence = len(s.windows) > 0 || len(s.branches) > 0 || s.preset != layout.NoPreset
	if len(s.windows) == 0 {
		s.windows = []firstWindow{{name: "maintenance-window", open: "0 8 * * MON", close: "0 16 * * THU", placeholder: true}}
		for _, c := range s.windowed() {
			s.windows[0].clusters = append(s.windows[0].clusters, c.Name)
		}
	}
	for i := range s.branches {
		b := &s.branches[i]
		b.window = s.windowOf(b.clusters[0]).name
		for _, c := range b.clusters[1:] {
			if w := s.windowOf(c).name; w != b.window {
				s.note(noteTwoWindows, c, b.name, w, b.window)
			}
		}
	}
	s.findNeeds()
	s.findRules()
	for _, p := range tree.Problems {
		s.note("%s", p)
	}
	return s
}

// withJobs is the clusters; where none of them applies a CronJob that opens windows, all objects of the tree together count as one's.
func (s *survey) withJobs() []graph.Cluster {
	for _, c := range s.clusters {
		if windows, notes := windowsOf(c); len(windows)+len(notes) > 0 {
			return s.clusters
		}
	}
	return []graph.Cluster{{Objects: s.tree.Objects()}}
}

// presetOf is the preset that windows most of a tree's files, and its layout alone.
func presetOf(paths []string) (layout.Preset, *layout.Layout) {
	best, most, shape := layout.NoPreset, 0, (*layout.Layout)(nil)
	for _, p := range []layout.Preset{layout.RTRW, layout.RTMW, layout.LiveWindow} {
		l, problems := layout.New(layout.Spec{Preset: p, Side: []layout.Release{"window"}, Windows: []string{"window"}})
		if l == nil || len(problems) > 0 {
			continue
		}
		windowed, live := 0, 0
		for _, file := range paths {
			switch releases := l.Classify(file).Releases; {
			case slices.Contains(releases, "window"):
				windowed++
			case slices.Contains(releases, layout.Live):
				live++
			}
		}
		if windowed > most && live > 0 {
			best, most, shape = p, windowed, l
		}
	}
	return best, shape
}

// bySuffix is what the preset says of a path: windowed, live, or nothing.
func (s *survey) bySuffix(p string) (windowed, live bool) {
	if s.shape == nil {
		return false, false
	}
	releases := s.shape.Classify(p).Releases
	return slices.Contains(releases, "window"), slices.Contains(releases, layout.Live)
}

// findBranches finds the branches of this repository that Kustomizations track beside the root's own, where what they read is in this tree: a
// branch with other content, such as a tenant's, is none that anything could be promoted to. They follow the default branch. Where Flux reads others
// alone, it is not known which of them follows which.
func (s *survey) findBranches() {
	for _, c := range s.clusters {
		from := cmp.Or(c.Branch, s.main, "main")
		tracked, read := map[string]string{}, c.Branch != "" // where that stands, by branch; whether Flux reads what they follow
		for _, k := range c.Kustomizations {
			if k.Source == nil || !k.Here || c.URL == "" {
				continue
			}
			b := k.Source.Follows()
			at := fmt.Sprintf("%s: GitRepository %s", k.Source.RefLine, k.Source.Name)
			known := slices.IndexFunc(s.branches, func(o firstBranch) bool { return strings.EqualFold(o.name, b) })
			switch {
			case b == "" || strings.Contains(b, "${"):
				continue
			case strings.EqualFold(b, from) || strings.EqualFold(b, s.main):
				read = true
				continue
			case known >= 0:
				s.branches[known].clusters = append(s.branches[known].clusters, c.Name)
			case len(k.Files()) == 0:
				s.note(noteElsewhere, at, b)
				continue
			case len(s.branches) >= config.MaxBranches/2:
				s.note(noteManyBranches, len(s.branches))
			case !validBranch(b, from):
				s.note(noteBranchName, at, b)
			default:
				s.branches = append(s.branches, firstBranch{name: b, from: from, at: at, clusters: []string{c.Name}})
			}
			tracked[b] = at
		}
		if c.Branch != "" && s.main != "" && len(tracked) > 0 && !strings.EqualFold(c.Branch, s.main) {
			tracked[c.Branch], read = foundWords(c), false
		}
		if !read && len(tracked) > 1 {
			s.findings = append(s.findings, config.Finding{Severity: config.Error, Code: codeDefault, Message: wordDefault(s.main, c.Name, tracked)})
		}
	}
}

// keptNotes is how many notes are kept; the file has fewer.
const keptNotes = 500

// note keeps something that was not understood, once.
func (s *survey) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); len(s.notes) < keptNotes && !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
	}
}

// validBranch reports whether the file may have a branch.
func validBranch(name, from string) bool {
	return valid(fmt.Sprintf("branches: [{name: %s, from: %s, window: live}]", value(name), value(from)))
}

// valid reports whether a file may have a section.
func valid(section string) bool {
	policy, _ := config.Parse([]byte("version: 1\n" + section + "\n"))
	return policy != nil
}

// windowOf is the window of a cluster: its own first one, else the first of all.
func (s *survey) windowOf(cluster string) firstWindow {
	for _, w := range s.windows {
		if slices.Contains(w.clusters, cluster) {
			return w
		}
	}
	return s.windows[0]
}

// productive finds the names of clusters and directories where what goes wrong is felt.
var productive = regexp.MustCompile(`(?i)(^|[^a-z])(prod|production|prd|live)($|[^a-z])`)

// windowed is the clusters that a file should hold where nothing says so: those that are called production, or all if none is.
func (s *survey) windowed() []graph.Cluster {
	out := slices.DeleteFunc(slices.Clone(s.clusters), func(c graph.Cluster) bool {
		return !productive.MatchString(c.Name) && !productive.MatchString(c.Path)
	})
	if len(out) == 0 {
		return s.clusters
	}
	return out
}
