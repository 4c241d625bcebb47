package reach

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/window"
)

// Check is what the first tree shows of contradictions: built is what its entry points make, paths is every file of it.
func (g *Graph) Check(built []Build, paths []string) []config.Note {
	levels := g.policy.Consistency
	notes := slices.Concat(g.roots(), g.unconfirmed(), g.guessed())
	notes = append(notes, at(levels.Layers, g.layers(paths))...)
	notes = append(notes, at(levels.Duplicates, g.duplicates(built, nil))...)
	notes = append(notes, at(levels.Builds, g.builds(built))...)
	notes = append(notes, at(levels.Enforced, g.enforced())...)
	notes = append(notes, g.Unfollowed(g.policy.Branches)...)
	notes = append(notes, g.Nothing(built)...)
	notes = append(notes, g.unmatched()...)
	return append(notes, g.definitions()...)
}

// at gives notes the level of their check. Some are no more than a warning.
func at(level config.Level, notes []config.Note) []config.Note {
	if level == config.LevelOff {
		return nil
	}
	for i := range notes {
		if notes[i].Level != config.LevelWarn {
			notes[i].Level = level
		}
	}
	return notes
}

// tally is how often a cause occurs, with the first of it.
type tally struct {
	note  config.Note
	first string
	count int
}

// causes is findings by their causes, in the order in which they were found.
type causes struct {
	order []string
	by    map[string]*tally
}

// add counts one more of a cause; of the first of it the note is made.
func (c *causes) add(cause string, note func() (config.Note, string)) {
	if c.by == nil {
		c.by = map[string]*tally{}
	}
	if c.by[cause] == nil {
		n, first := note()
		c.order, c.by[cause] = append(c.order, cause), &tally{note: n, first: first}
	}
	c.by[cause].count++
}

// notes is a note for each cause; its message takes what was found first, with how many more there are.
func (c *causes) notes(one, many string) []config.Note {
	var out []config.Note
	for _, cause := range c.order {
		t := c.by[cause]
		t.note.Message = strings.Replace(t.note.Message, placeholder, t.first+moreOf(t.count-1, one, many), 1)
		out = append(out, t.note)
	}
	return out
}

// roots says where there is nothing to read.
func (g *Graph) roots() []config.Note {
	var out []config.Note
	if g.policy.Flux && len(g.trees[0].entries) == 0 {
		out = append(out, config.Note{Level: config.LevelHold, Code: codeNoRoot, Message: wordNoRoot, Way: []any{"layout", "flux"}})
	}
	return out
}

// guessed warns of clusters whose root is only guessed.
func (g *Graph) guessed() []config.Note {
	var c causes
	for _, e := range g.trees[0].entries {
		if e.Kustomization == nil && e.Guessed() {
			c.add("", func() (config.Note, string) {
				return config.Note{Level: config.LevelWarn, Code: codeGuessed, Message: wordGuessed, Way: []any{"clusters"}}, clip(e.Cluster.Name)
			})
		}
	}
	return c.notes("1 more cluster", "%d more clusters")
}

// content is the entry points that are known to read a path as their own.
func (g *Graph) content(path string) (out []Reader) {
	for _, r := range g.Why(path) {
		if r.Influence == nil && !r.Entry.May(path) {
			out = append(out, r)
		}
	}
	return out
}

// layers is rules, and without `flux: true` the preset, that say otherwise than what reads a path.
func (g *Graph) layers(paths []string) []config.Note {
	var c causes
	for _, path := range paths {
		if g.spent(path, 0, 1) {
			break
		}
		rule, class := g.policy.Layout.Rule(path), g.policy.Layout.Classify(path)
		readers := g.content(path)
		if rule < 0 && (g.policy.Flux || len(class.Releases) == 0) || class.Protected && len(class.Releases) == 0 {
			continue
		}
		level, message := g.disagree(class.Releases, readers)
		if message == "" {
			level, message, readers = g.opens(path, class.Releases)
		}
		if message == "" {
			continue
		}
		way := []any{"layout", "rules", rule, "release"}
		if rule < 0 {
			way = []any{"layout", "preset"}
		}
		c.add(class.Rule+message, func() (config.Note, string) {
			return config.Note{Level: level, Code: codeLayers, Message: class.Rule + " " + message, Way: way}, readers[0].Chain(path)
		})
	}
	return c.notes("1 more file", "%d more files")
}

// MadeLive is what a windowed entry point reads after a change of these files, and none did before it, and a rule opens: the first of it.
func (g *Graph) MadeLive(files []string) []config.Note {
	fresh := map[string]Reader{}
	for path, r := range ofHeld(g.trees[1].among(g.touched(files))) {
		if g.opened(path, r) != "" {
			fresh[path] = r
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	before := ofHeld(g.trees[0].entries)
	for _, path := range slices.Sorted(maps.Keys(fresh)) {
		if _, was := before[path]; !was {
			says := strings.Replace(g.opened(path, fresh[path]), placeholder, fresh[path].Chain(path), 1)
			return at(g.policy.Consistency.Layers, []config.Note{{Code: codeLayers, Message: says}})
		}
	}
	return nil
}

// opened is what a rule does to a path that a windowed entry point reads; "": it holds it, or there is none.
func (g *Graph) opened(path string, by Reader) string {
	class := g.policy.Layout.Classify(path)
	if g.policy.Layout.Rule(path) < 0 || class.Protected && len(class.Releases) == 0 {
		return ""
	}
	if level, message := g.disagree(class.Releases, []Reader{by}); level == config.LevelHold {
		return class.Rule + " " + message
	}
	return ""
}

// ofHeld is what those of some entry points that are windowed are known to read as their own, with one of them.
func ofHeld(entries []known) map[string]Reader {
	out := map[string]Reader{}
	for _, e := range entries {
		if isLive(e.releases) || e.elsewhere {
			continue
		}
		for _, path := range e.Content() {
			if !e.May(path) {
				out[path] = Reader{e.Entry, nil, e.releases}
			}
		}
	}
	return out
}

// disagree is what is wrong with what a rule gives a path; "": nothing. Of a cluster without a windowed entry point, or whose root is guessed,
// it is not known that what is windowed there is read by none. That a window holds what only live ones read is no danger, and without `flux: true` a rule needs
// no reason for it.
func (g *Graph) disagree(releases []layout.Release, readers []Reader) (config.Level, string) {
	live := func(r Reader) bool { return isLive(r.Releases) }
	held := slices.ContainsFunc(readers, func(r Reader) bool { return !live(r) })
	unknown := func(r Reader) bool { return !g.layered[r.Entry.Cluster.Name] || r.Entry.Guessed() }
	switch {
	case len(releases) == 0 && held:
		return config.LevelWarn, wordLeavesOut // it says that this is nothing of ours
	case isLive(releases) && held:
		return config.LevelHold, wordMakesLive
	case !slices.ContainsFunc(releases, layout.Release.IsWindow) && slices.ContainsFunc(readers, func(r Reader) bool { return slices.ContainsFunc(r.Releases, layout.Release.IsWindow) }):
		return config.LevelHold, wordToBranches
	case len(readers) == 0 || held || isLive(releases) || slices.ContainsFunc(readers, unknown):
		return "", ""
	case !slices.ContainsFunc(releases, layout.Release.IsWindow):
		return config.LevelHold, wordHeldByBranches
	case g.policy.Flux:
		return config.LevelWarn, wordHeldByWindow
	}
	return "", ""
}

// opens is what is wrong with what a rule gives a path that defines something that an entry of entrypoints windows; "": nothing.
func (g *Graph) opens(path string, releases []layout.Release) (config.Level, string, []Reader) {
	if slices.ContainsFunc(releases, layout.Release.IsWindow) || len(g.policy.EntryPoints) == 0 {
		return "", "", nil
	}
	for _, r := range g.Why(path) {
		if r.Influence == nil || !r.Influence.Defines() || !slices.ContainsFunc(g.release(r.Influence.Of), layout.Release.IsWindow) {
			continue
		}
		if len(releases) == 0 {
			return config.LevelWarn, wordOpens, []Reader{r}
		}
		return config.LevelHold, wordOpens, []Reader{r}
	}
	return "", "", nil
}

// owner is an entry point that makes an object, and the file that it comes from.
type owner struct {
	*known // of all that it makes
	file   string
}

// made is an object in the cluster that it is made for.
type made struct {
	cluster, values string
	identity
}

func madeBy(e graph.Entry, o Object) made { return made{e.Target(), valuesOf(e, o), o.id()} }

// duplicates is objects that two entry points of one cluster make, with different releases: all, or some.
func (g *Graph) duplicates(built []Build, some map[made]bool) []config.Note {
	owners, order := map[made][]owner{}, []made{}
	for _, b := range built {
		seen, by := map[identity]bool{}, &known{Entry: b.Entry, releases: g.release(b.Entry)}
		for _, o := range b.Objects {
			k := madeBy(b.Entry, o)
			if seen[o.id()] || some != nil && !some[k] {
				continue
			}
			if g.spent(o.File, 1, 1) {
				return nil
			}
			seen[o.id()] = true
			if len(owners[k]) == 1 {
				order = append(order, k)
			}
			owners[k] = append(owners[k], owner{by, o.File})
		}
	}
	var c causes
	for _, k := range order {
		a, b, ok := apart(owners[k])
		if !ok {
			continue
		}
		cause := strings.Join([]string{name(a.Entry), name(b.Entry), path.Dir(a.file), path.Dir(b.file)}, "\x00")
		c.add(cause, func() (config.Note, string) {
			return config.Note{Code: codeDuplicates, Message: wordDuplicate(a, b), Way: []any{"consistency", codeDuplicates}}, k.String()
		})
	}
	return c.notes("1 more object", "%d more objects")
}

// valuesOf is the values of an entry point's variables, where an object's name has one whose value is not known: two such names are one where
// all that is known is the same.
func valuesOf(e graph.Entry, o Object) string {
	if e.Kustomization == nil || !strings.Contains(o.Namespace+o.Name, "${") {
		return ""
	}
	var out strings.Builder
	values := e.Kustomization.Variables().Values
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out.WriteString(strconv.Quote(name) + strconv.Quote(values[name]))
	}
	return out.String()
}

// apart is two owners whose releases differ, if there are such.
func apart(owners []owner) (a, b owner, ok bool) {
	for _, o := range owners[1:] {
		if !slices.Equal(o.releases, owners[0].releases) {
			return owners[0], o, true
		}
	}
	return a, b, false
}

// Moving is what people are to know of moves, once for each pair of entry points and what Flux does: the first object, and how many more.
func (g *Graph) Moving(moves []Move) []config.Note {
	var c causes
	type one struct{ what, from, to string }
	moved := map[one]bool{}
	for _, m := range moves {
		of := one{m.What, key(m.From), key(m.To)}
		said := moved[of]
		if moved[of] = said || !m.Copied; moved[of] && (m.Copied || said && m.Takes) {
			continue // it is said already that it comes from there, or goes
		}
		c.add(strings.Join([]string{key(m.From), key(m.To), m.does()}, "\x00"), func() (config.Note, string) {
			return config.Note{Level: config.LevelWarn, Code: codeMoves, Message: placeholder + ": " + m.does() + m.keep(), Way: []any{"consistency", codeMoves}}, m.way()
		})
	}
	return at(g.policy.Consistency.Moves, c.notes("so does 1 more object", "so do %d more objects"))
}

// builds is entry points that cannot be built, and such as kustomize builds otherwise than the graph has read them. Where an error says already that not
// all was read, it is why.
func (g *Graph) builds(built []Build) []config.Note {
	var c causes
	hides := g.hides(built)
	for _, b := range built {
		if b.failed() && !hides(b.Entry) {
			c.add(b.Err, func() (config.Note, string) {
				return config.Note{Code: codeBuilds, Message: wordNotBuilt(b.Err), Way: []any{"consistency", codeBuilds}}, wordEntry(b.Entry)
			})
		}
		for _, message := range g.otherwise(b) {
			c.add(message, func() (config.Note, string) {
				return config.Note{Code: codeBuilds, Message: placeholder + ": " + message, Way: []any{"consistency", codeBuilds}}, wordEntry(b.Entry)
			})
		}
	}
	return c.notes("1 more entry point", "%d more entry points")
}

// Elsewhere is what needs something from elsewhere to be built, which is traced without building, by cause.
func Elsewhere(built []Build) []string {
	var c causes
	for _, b := range built {
		if b.Err != "" && b.Remote {
			c.add(b.Err, func() (config.Note, string) { return config.Note{Message: wordNotBuilt(b.Err)}, wordEntry(b.Entry) })
		}
	}
	var out []string
	for _, n := range c.notes("1 more entry point", "%d more entry points") {
		out = append(out, n.Message)
	}
	return out
}

// otherwise is what kustomize says of an entry point that the graph does not.
func (g *Graph) otherwise(b Build) (out []string) {
	if b.Missed != "" {
		out = append(out, wordMissed(b.Missed))
	}
	for _, o := range b.Objects {
		if message := g.differs(b.Entry, o); message != "" {
			out = append(out, message)
		}
	}
	return out
}

// differs is what kustomize says otherwise of where an object leads Flux than the graph; "": nothing.
func (g *Graph) differs(by graph.Entry, o Object) string {
	ref := manifest.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
	switch plain := o.Group == "" && (o.Kind == "ConfigMap" || o.Kind == "Secret"); {
	case strings.Contains(o.Namespace+o.Name+o.Path+o.Source, "${"):
		return ""
	case plain && o.Namespace != "" && by.Target() == by.Root().Target():
		return g.holdsOther(by.Cluster, ref, o)
	case !manifest.Leads(o.Group, o.Kind):
		if manifest.Refers(o.Group, o.Kind) && o.Namespace != "" && !by.Cluster.Knows(ref) {
			return wordNotRead(o)
		}
		return ""
	}
	all, known := by.Cluster.Led(ref)
	if known && len(all) == 0 && o.Namespace != "" {
		return wordNotRead(o)
	}
	says := ""
	for _, led := range all {
		switch {
		case g.spent(o.File, 0, 1) || strings.Contains(led.Path+led.Source, "${"): // which is said already
			return ""
		case led.Path != o.Path && led.Path != asYAML(o.Path):
			says = wordPathDiffers(o, led.Path)
		case led.Source != o.Source:
			says = wordSourceDiffers(o, led.Source)
		default: // one of those that are called so
			return ""
		}
	}
	return says
}

// holdsOther is differs of a ConfigMap or a Secret that something refers to.
func (g *Graph) holdsOther(c *graph.Cluster, ref manifest.Ref, o Object) string {
	files, values, known := c.Plain(ref)
	switch {
	case !known || g.spent(o.File, 0, len(files)):
		return ""
	case len(files) == 0:
		return wordNotRead(o)
	case o.File != "" && !slices.Contains(files, o.File):
		return wordFileDiffers(o, files[0])
	case o.Source != "" && len(values) > 0 && !slices.Contains(values, o.Source):
		return wordValuesDiffer(o)
	}
	return ""
}

// asYAML is a path as Flux reads it where variables were filled in, which is in the text of its document.
func asYAML(path string) string {
	node, err := manifest.ParseDocument([]byte("path: " + path))
	if err != nil || strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r > '~' }) { // which is written in quotes
		return path
	}
	return manifest.Clean(manifest.Scalar(manifest.At(node, "path")))
}

// unenforcedEntry is an entry point that an entry of `entrypoints` windows, and that reads a branch of which nothing holds what is merged.
type unenforcedEntry struct {
	known
	by     int // the index of the entry
	branch string
}

// unenforced is those of a tree: they do not follow a windowed branch, and sluice does not hold pull requests. why says so.
func (g *Graph) unenforced(t tree) (out []unenforcedEntry, why string) {
	switch {
	case g.policy.Mode == config.Observe:
		why = wordObserved
	case g.policy.PullRequests.Window == config.Status:
		why = wordStatusOnly
	default:
		return nil, ""
	}
	for _, e := range t.all() {
		if windowed(g.policy, e.Branch()) || !slices.ContainsFunc(e.releases, layout.Release.IsWindow) {
			continue // what is merged reaches such a one's definition, wherever it reads
		}
		by := slices.IndexFunc(g.policy.EntryPoints, func(p config.EntryPoint) bool { return p.Fits(e.Cluster.Name, names(e.Entry)...) })
		branch := g.follow[e.Cluster]
		if !e.elsewhere {
			branch = cmp.Or(e.Branch(), branch)
		}
		if by >= 0 && branch != "" {
			out = append(out, unenforcedEntry{e, by, branch})
		}
	}
	return out, why
}

// enforced is what is not held of the first tree.
func (g *Graph) enforced() []config.Note {
	var c causes
	all, why := g.unenforced(g.trees[0])
	for _, e := range all {
		c.add(strconv.Itoa(e.by)+e.branch, func() (config.Note, string) { return e.note(why), wordEntry(e.Entry) })
	}
	return c.notes("1 more entry point", "%d more entry points")
}

func (e unenforcedEntry) note(why string) config.Note {
	return config.Note{Code: codeEnforced, Message: wordEnforced(e.branch, why), Way: []any{"layout", "entrypoints", e.by}}
}

// Unenforced is what is not held after a change, and was held or not windowed before it: the first of it.
func (g *Graph) Unenforced() []config.Note {
	before, _ := g.unenforced(g.trees[0])
	was := map[string]bool{}
	for _, e := range before {
		was[key(e.Entry)] = true
	}
	after, why := g.unenforced(g.trees[1])
	for _, e := range after {
		if !was[key(e.Entry)] {
			n := e.note(why)
			n.Message = strings.Replace(n.Message, placeholder, wordEntry(e.Entry), 1)
			return at(g.policy.Consistency.Enforced, []config.Note{n})
		}
	}
	return nil
}

// definitions warns of files that say what a windowed branch is for and that no window holds, once for each file and branch. What a branch is
// for stands in the GitRepository that tracks it, and in the Kustomizations that are made of that. Flux reads these from where the cluster's own
// root stands, mostly the default branch, and at once: whoever changes `ref` there takes the cluster past the window of every branch. So
// the window itself is to hold such files. A branch cannot.
func (g *Graph) definitions() []config.Note {
	var out []config.Note
	layout, seen := g.policy.With(g).Layout, map[[2]string]bool{}
	add := func(c *graph.Cluster, s *graph.Source, o graph.Object, patched ...manifest.Place) {
		if s == nil || !c.Reads(s) {
			return // of another repository
		}
		i := slices.IndexFunc(g.policy.Branches, func(b config.Branch) bool { return b.Name == s.Follows() && b.Window != window.Live })
		by := graph.Entry{Cluster: c}
		if o.Entry != nil && o.Entry.Source != nil {
			by.Kustomization = o.Entry
		}
		held := func(b config.Branch) bool { return b.Name == by.Branch() && b.Window != window.Live }
		fixed := by.Branch() == "" && (by.Kustomization != nil || g.follow[c] == "") // a tag, a commit or an artifact, which no merge reaches
		if i < 0 || fixed || slices.ContainsFunc(g.policy.Branches, held) {
			return // or a windowed branch brings it there
		}
		for _, o.Place = range append([]manifest.Place{o.Place}, patched...) {
			state, key := unheld(layout.Classify(o.File).Releases), [2]string{s.Follows(), o.File}
			if o.File == "" || state == "" || seen[key] {
				continue
			}
			seen[key] = true
			out = append(out, config.Note{
				Level: config.LevelWarn, Code: codeDefinition, Message: wordDefinition(o, state, g.policy.Branches[i].Window), Way: []any{"branches", i, "name"},
			})
		}
	}
	for _, e := range g.trees[0].entries {
		if e.Kustomization != nil {
			continue
		}
		for _, s := range e.Cluster.Sources {
			add(e.Cluster, s, s.Object, s.RefLine)
		}
		for _, k := range e.Cluster.Kustomizations {
			add(e.Cluster, k.Source, k.Object, k.PathLine, k.SourceLine)
		}
	}
	return out
}

// unheld is how a path that needs these may change although every window is closed, for people; "": it may not.
func unheld(releases []layout.Release) string {
	switch {
	case slices.ContainsFunc(releases, layout.Release.IsWindow):
		return ""
	case slices.Contains(releases, layout.Live):
		return wordLive
	case len(releases) > 0:
		return wordByBranches
	}
	return wordIgnored
}

// Unreached is the paths that nothing is known to read, and that change nothing that is read.
func (g *Graph) Unreached(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p == config.File || len(g.sum(p).readers) > 0 })
}
