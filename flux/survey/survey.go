package survey

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/escape"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/meter"
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
	Name   string
	Path   string // its root
	Branch string // that its root follows; "": not known
	Found  string // how it was found, and where that stands; one line
}

// New drafts the first file of a repository: tree is its Flux objects, paths are all its files, relative to its root and with slashes, and main
// is its default branch, "" if nobody knows. With flux it is a file by references instead of paths. It fails only if no valid file can be made of the tree
// at all, or with the run that read the tree.
func New(tree *graph.Tree, paths []string, main string, flux bool) (Draft, error) {
	s := newSurvey(tree, paths, main)
	if flux {
		if s.byReferences = s.fluxLines(config.MaxEntryPoints); len(s.byReferences) == 0 {
			s.fail(codeNotHeld, wordNotByReferences)
		}
	}
	d := s.draft()
	if s.loses(d.Policy) != "" {
		s.note(noteNotHeld)
		s.holdAll()
		d = s.draft()
	}
	if d.Policy == nil {
		// The tree is hostile: whatever it made of the file, what is given is valid.
		d.File = []byte(s.bare(d.Findings))
		d.Policy, d.Findings = config.Parse(d.File)
	}
	if d.Policy == nil {
		return Draft{}, errors.New("no valid file could be made of this tree")
	}
	if file := s.loses(d.Policy); file != "" {
		s.fail(codeNotHeld, fmt.Sprintf(wordNotHeld, oneLine(file)))
	}
	d.Findings = append(d.Findings, s.findings...)
	for _, c := range s.clusters {
		d.Clusters = append(d.Clusters, Cluster{c.Name, c.Path, c.Branch, foundWords(c)})
	}
	return d, tree.Meter().Err() // or it was made of a part
}

// spent charges the run for what is about to be held and done for a place, and reports whether that is too much.
func (s *survey) spent(place string, nodes, steps int) bool {
	m := s.tree.Meter()
	return m.Take(meter.Nodes, nodes, place) != nil || m.Take(meter.Steps, steps, place) != nil
}

// draft writes the file.
func (s *survey) draft() (d Draft) {
	d.File, d.Clusters = []byte(s.text()), []Cluster{}
	d.Notes = s.notes // those of writing the text among them
	d.Policy, d.Findings = config.Parse(d.File)
	return d
}

// fail says why no file is right.
func (s *survey) fail(code, message string) {
	s.findings = append(s.findings, config.Finding{Severity: config.Error, Code: code, Message: message})
}

// loses is a file that a policy does not hold as it needs; "": none.
func (s *survey) loses(policy *config.Policy) string {
	for _, file := range slices.Sorted(maps.Keys(s.needs)) {
		if s.spent(file, 0, 1) {
			return file
		}
		if n := s.needs[file]; policy != nil && policy.Flux {
			return "" // what reads it decides, and the service holds it
		} else if len(n.windows)+len(n.branches) > 0 && (policy == nil || !s.holds(policy, file, n)) {
			return file
		}
	}
	return ""
}

// holds reports whether a policy holds a file as it needs: by its windows, by its branches or by the windows of those.
func (s *survey) holds(policy *config.Policy, file string, n needs) bool {
	n = s.expressible(n)
	releases := policy.Layout.Classify(file).Releases
	for _, w := range n.windows {
		if !slices.Contains(releases, layout.Release(w)) {
			return false
		}
	}
	for i, glob := range branchGlobs(n.branches) {
		window := s.windowsOfNeeds(needs{branches: n.branches[i : i+1]})
		if !slices.Contains(releases, layout.BranchRelease(glob)) && (len(window) == 0 || !slices.Contains(releases, layout.Release(window[0]))) {
			return false
		}
	}
	return true
}

// survey is what a repository's first file is made of.
type survey struct {
	main         string // the default branch; "": not known
	paths        []string
	tree         *graph.Tree
	clusters     []graph.Cluster
	windows      []firstWindow
	preset       layout.Preset
	shapes       []shape  // what directory names say: the preset's convention first
	named        []string // the paths that they window, sorted
	unmatched    needs    // of what nothing else decides; none: it is ignored
	byReferences []string // the layout, where rules cannot say it
	branches     []firstBranch
	left         map[string]bool  // branches that are tracked and cannot stand in the file: the window holds what they hold
	evidence     bool             // something in the tree says what is windowed
	notes        []string         // what was not understood
	findings     []config.Finding // without which no file is right
	needs        map[string]needs // of each file that a cluster reads
	rules        []firstRule
	side         needs           // of the preset
	zone         string          // of the file
	together     map[string]bool // whether windows are never open at one time, by their names
	gone         []string        // targets of jobs that stand in no file
}

// firstBranch is a windowed branch: one that a cluster's Kustomizations track already.
type firstBranch struct {
	name, from, window, at string
	clusters               []string // that track it
}

// newSurvey looks at a repository. main is the default branch.
func newSurvey(tree *graph.Tree, paths []string, main string) *survey {
	s := &survey{main: main, paths: paths, tree: tree, clusters: tree.Clusters(nil), together: map[string]bool{}, left: map[string]bool{}}
	s.findWindows()
	s.findNames()
	s.findBranches()
	s.evidence = len(s.windows) > 0 || len(s.branches) > 0 || s.preset != layout.NoPreset
	if len(s.clusters) == 0 && !s.evidence && len(tree.Objects().Kustomizations)+len(tree.Objects().Sources) == 0 {
		s.fail(codeNoFlux, wordNoFlux)
	}
	s.addExample()
	nameWindows(s.windows)
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

// findWindows finds the windows of the clusters; where none of them applies a CronJob that opens windows, those of the tree are all clusters'.
func (s *survey) findWindows() {
	if s.windows, s.notes = s.gather(s.clusters); len(s.windows)+len(s.notes) > 0 {
		s.noteStrays()
		return
	}
	s.windows, s.notes = s.gather([]graph.Cluster{{Objects: s.tree.Objects()}})
	for i := range s.windows {
		s.windows[i].clusters = nil
		for _, c := range s.clusters {
			s.windows[i].clusters = append(s.windows[i].clusters, c.Name)
		}
	}
}

// noteStrays notes the CronJobs that open or close windows and that no cluster is known to apply. A patch of one is none.
func (s *survey) noteStrays() {
	applied := map[string]bool{}
	for _, c := range s.clusters {
		for _, j := range c.CronJobs {
			for _, at := range []manifest.Place{j.Place, j.Schedule.Place, j.TimeZone.Place, j.Suspend.Place} {
				applied[at.File] = true
			}
		}
	}
	for _, j := range s.tree.Objects().CronJobs {
		if applied[j.File] {
			continue
		}
		if w, problem := s.windowJob(j); w.verb != nothing || problem != "" {
			s.note(noteNobody, j.Place, j.Name)
		}
	}
}

// addExample adds a window of which nobody says when it is open, for the clusters that have none: where nothing in the tree says what is windowed, for
// those that a file should hold at all; else for those of which something says so, and for production.
func (s *survey) addExample() {
	w := example()
	w.scope = unclear
	for _, c := range s.windowed() {
		if !s.evidence || productiveCluster(c) {
			w.clusters = append(w.clusters, c.Name)
		}
	}
	for _, c := range s.clusters {
		if !slices.Contains(w.clusters, c.Name) && (s.namedIn(c) || s.tracksBranch(c)) {
			w.clusters = append(w.clusters, c.Name)
		}
	}
	w.clusters = slices.DeleteFunc(w.clusters, s.hasWindow)
	switch {
	case len(s.windows) == config.MaxWindows: // the last is an example for more than it was found for
		s.windows[config.MaxWindows-1].clusters = append(s.windows[config.MaxWindows-1].clusters, w.clusters...)
	case len(w.clusters) > 0 || len(s.windows) == 0:
		s.windows = append(s.windows, w)
	}
}

// hasWindow reports whether a window was found for a cluster.
func (s *survey) hasWindow(cluster string) bool {
	return slices.ContainsFunc(s.windows, func(w firstWindow) bool { return slices.Contains(w.clusters, cluster) })
}

// tracksBranch reports whether a cluster tracks a windowed branch, one that the file cannot have among them.
func (s *survey) tracksBranch(c graph.Cluster) bool {
	return slices.ContainsFunc(c.Kustomizations, func(k *graph.Kustomization) bool {
		return slices.ContainsFunc(branchesOf(c, k), func(b string) bool { return s.left[b] })
	}) || slices.ContainsFunc(s.branches, func(b firstBranch) bool { return slices.Contains(b.clusters, c.Name) })
}

// branchesOf is the branches of this repository that a Kustomization reads.
func branchesOf(c graph.Cluster, k *graph.Kustomization) []string {
	return graph.Entry{Cluster: &c, Kustomization: k}.Branches()
}

// findBranches finds the branches of this repository that Kustomizations track beside the root's own, where what they read is in this tree: a
// branch with other content, such as a tenant's, is none that anything could be promoted to. They follow the default branch. Where Flux reads others
// alone, it is not known which of them follows which.
func (s *survey) findBranches() {
	for _, c := range s.clusters {
		from := cmp.Or(c.Branch, s.main, "main")
		tracked, read := map[string]string{}, c.Branch != "" // where that stands, by branch; whether Flux reads what they follow
		where := map[string]string{c.Branch: foundWords(c)}
		for _, src := range slices.Backward(c.Sources) {
			where[src.Follows()] = fmt.Sprintf("%s: GitRepository %s", src.RefLine, src.Name)
		}
		for _, k := range c.Kustomizations {
			for _, b := range branchesOf(c, k) {
				at := where[b]
				known := slices.IndexFunc(s.branches, func(o firstBranch) bool { return o.name == b })
				switch {
				case strings.EqualFold(b, from) || strings.EqualFold(b, s.main):
					read = true
					continue
				case known >= 0:
					s.branches[known].clusters = append(s.branches[known].clusters, c.Name)
				case len(k.Files()) == 0 && !strings.Contains(k.Path, "${"):
					s.note(noteElsewhere, at, b)
					continue
				case len(s.branches) >= config.MaxBranches/2:
					s.note(noteManyBranches, len(s.branches))
					s.left[b] = true
				case !validBranch(b, from), slices.ContainsFunc(s.branches, func(o firstBranch) bool { return strings.EqualFold(o.name, b) }):
					s.note(noteBranchName, at, b)
					s.left[b] = true
				default:
					s.branches = append(s.branches, firstBranch{name: b, from: from, at: at, clusters: []string{c.Name}})
				}
				tracked[b] = at
			}
		}
		if c.Branch != "" && s.main != "" && len(tracked) > 0 && !strings.EqualFold(c.Branch, s.main) {
			tracked[c.Branch], read = foundWords(c), false
		}
		if !read && len(tracked) > 1 {
			s.fail(codeDefault, wordDefault(s.main, c.Name, tracked))
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
	return valid(fmt.Sprintf("branches: [{name: %s, from: %s, window: live}]", escape.YAML(name), escape.YAML(from)))
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
	out := slices.DeleteFunc(slices.Clone(s.clusters), func(c graph.Cluster) bool { return !productiveCluster(c) })
	if len(out) == 0 {
		return s.clusters
	}
	return out
}

func productiveCluster(c graph.Cluster) bool {
	return productive.MatchString(c.Name) || productive.MatchString(c.Path)
}
