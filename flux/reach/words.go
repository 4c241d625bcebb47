package reach

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/window"
)

// All words that a user reads stand in this file.

// maxChain is how many files of a chain are shown, the first and the last ones; maxText how long a text of the repository may be there.
const (
	maxChain = 6
	maxText  = 200
)

// arrow leads from a file to what reads it.
const arrow = " ← "

// chainOf is the first reader's chain, and how many other entry points there are.
func chainOf(file string, first Reader, entries int) string {
	text := first.Chain(file)
	if more := entries - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Chain is the files that lead from a reader to a path, for people: "apps/nginx/base/cm.yaml ← apps/nginx/nginx-rw/kustomization.yaml ←
// clusters/cluster-1/apps/apps-rw (rw/cluster-1)".
func (r Reader) Chain(file string) string {
	text := leads(r.Entry, file)
	needs := Names(r.Releases)
	if r.Influence == nil {
		return fmt.Sprintf("%s (%s)", text, needs)
	}
	return fmt.Sprintf("%s (%s: %s)", text, needs, clip(r.Influence.Text))
}

// leads is the chain without what is needed. A kustomization.yaml beside the file before it, and the entry point's own, go without saying.
func leads(e graph.Entry, file string) string {
	out := []string{file}
	chain := e.Chain(file)
	for i := 1; i < len(chain); i++ {
		next := chain[i].File
		beside := kustomize.IsBuild(next) && path.Dir(next) == path.Dir(chain[i-1].File)
		if own := i == len(chain)-1 && path.Dir(next) == e.Path() && kustomize.IsBuild(next); !own && !beside {
			out = append(out, next)
		}
	}
	if more := len(out) - maxChain; more > 0 {
		out = slices.Concat(out[:maxChain/2], []string{"…"}, out[len(out)-maxChain/2:])
	}
	for i := range out {
		out[i] = clip(out[i])
	}
	return strings.Join(append(out, clip(e.Path())), arrow)
}

// name is an entry point as people call it.
func name(e graph.Entry) string {
	if e.Kustomization == nil {
		return clip(e.Path())
	}
	return clip(e.Kustomization.Namespace + "/" + e.Kustomization.Name)
}

// Names is releases for people: a branch by its name alone.
func Names(releases []layout.Release) string {
	out := make([]string, 0, len(releases))
	for _, r := range releases {
		text := string(r)
		if glob, ok := r.BranchGlob(); ok {
			text = glob
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func wordRedefined(e graph.Entry) string {
	return fmt.Sprintf("the definition of %s in %s changes", name(e), e.Cluster.Name)
}

func wordReferent(r manifest.Ref, e graph.Entry, made bool) string {
	if made {
		return fmt.Sprintf("what may make %s, which %s in %s refers to, changes", r, name(e), e.Cluster.Name)
	}
	return fmt.Sprintf("%s, which %s in %s refers to, changes", r, name(e), e.Cluster.Name)
}

func wordIgnores(e graph.Entry) string {
	return fmt.Sprintf("it excludes files from what %s in %s reads", name(e), e.Cluster.Name)
}

func wordUnread(e graph.Entry) string {
	return fmt.Sprintf("%s in %s reads it, and not all of it was understood", name(e), e.Cluster.Name)
}

func wordUnsure(e graph.Entry) string {
	return fmt.Sprintf("%s in %s reads it, and what that applies is not known", name(e), e.Cluster.Name)
}

// clip is a text of the repository as a terminal may see it, on one line, no longer than maxText.
func clip(text string) string {
	text = strings.Map(func(c rune) rune {
		if !strconv.IsPrint(c) {
			return '\uFFFD'
		}
		return c
	}, text)
	if r := []rune(text); len(r) > maxText {
		return string(r[:maxText-1]) + "…"
	}
	return text
}

// String is the object for people: "ConfigMap apps/pages".
func (o Object) String() string { return o.id().String() }

func (o identity) String() string {
	text := o.Kind
	if o.Group != "" && o.Group != "apps" {
		text += "." + o.Group
	}
	if o.Namespace != "" {
		return clip(text + " " + o.Namespace + "/" + o.Name)
	}
	return clip(text + " " + o.Name)
}

// String is what Flux does with it.
func (m Move) String() string { return m.way() + ": " + m.does() }

// way is what moves, and where.
func (m Move) way() string {
	switch {
	case m.What == wordUnknown:
		return fmt.Sprintf("%s cannot be built after the change", name(m.To))
	case m.What == wordUnnamed:
		return fmt.Sprintf("%s may leave %s", m.What, name(m.From))
	case m.Takes:
		return fmt.Sprintf("%s leaves %s", clip(m.What), name(m.From))
	case m.Copied && key(m.From) == key(m.To):
		return fmt.Sprintf("%s is made by %s, which is live after the change", clip(m.What), name(m.To))
	case m.Copied:
		return fmt.Sprintf("%s is made by %s and appears in %s", clip(m.What), name(m.From), name(m.To))
	}
	return fmt.Sprintf("%s moves from %s to %s", clip(m.What), name(m.From), name(m.To))
}

// prunes reports whether Flux deletes it now, and creates it again when what it moves to is released.
func (m Move) prunes() bool {
	return m.What != wordUnknown && !m.Takes && !m.Copied && !m.Back && !m.Within && !m.Kept
}

// does is what Flux does then.
func (m Move) does() string {
	switch {
	case m.What == wordUnknown:
		return fmt.Sprintf("it may make what %s makes, which is windowed", name(m.From))
	case m.Takes:
		return fmt.Sprintf("Flux may delete it now, and what is windowed in %s may go with it", m.From.Cluster.Name)
	case m.Copied:
		return fmt.Sprintf("Flux applies it from %s now", name(m.To))
	case m.Back:
		return fmt.Sprintf("Flux applies it from %s now, and from both until %s", name(m.To), until(m.From))
	case m.Within && m.Kept:
		return "Flux keeps it"
	case m.Within:
		return fmt.Sprintf("Flux deletes it, unless %s applies it first, and creates it again", name(m.To))
	case m.Kept:
		return fmt.Sprintf("Flux keeps it as it is until %s", until(m.To))
	}
	return fmt.Sprintf("Flux deletes it now and creates it again when %s", until(m.To))
}

// keep is how Flux is made to keep what moves; "": it does.
func (m Move) keep() string {
	if m.Copied || m.Kept || m.Takes && m.Left == "" { // no file has it
		return ""
	}
	lines, file := config.KeepLines, "its manifest"
	if m.Left != "" {
		file = clip(m.Left)
	}
	if kustomize.IsBuild(m.Left) { // which generates it
		lines = "generatorOptions: {annotations: {" + config.Keep + "}}"
	}
	text := "; to keep it, first merge a change that only adds " + lines + " to " + file + ", and let " + name(m.From) + " apply it"
	if m.Back {
		text = ", and may delete it then" + text
	}
	return text
}

// until is what a windowed entry point waits for.
func until(e graph.Entry) string {
	if branch := e.Branch(); branch != "" && branch != e.Cluster.Branch {
		return clip(branch) + " moves"
	}
	return name(e) + " applies it"
}

// wordSourceOf is a source of a cluster, with its place.
func wordSourceOf(s *graph.Source, c *graph.Cluster) string {
	return clip(s.Kind+" "+strings.TrimPrefix(s.Namespace+"/"+s.Name, "/")) + " of " + clip(c.Name) + " (" + clip(s.String()) + ")"
}

func wordRivalsOf(c *graph.Cluster) string {
	return clip(c.Place.String()) + " and " + clip(c.Rival.String()) + " (" + clip(c.Name) + ")"
}

// The codes of findings. docs/spec lists them with those of package config.
const (
	codeDuplicates   = "duplicates"
	codeLayers       = "layers"
	codeBuilds       = "builds"
	codeEnforced     = "enforced"
	codeStale        = "stale"
	codeNoRoot       = "flux-without-root"
	codeGuessed      = "root-guessed"
	codeUnconfirmed  = "repository-unknown"
	codeRivals       = "root-ambiguous"
	codeEntryNothing = "entry-point-matches-nothing"
	codeDefinition   = "branch-definition-open"
	codeMoves        = "moves"
	codeUnfollowed   = "branch-unfollowed"
	codeUnserved     = "flux-not-served"
	codeProblem      = "graph-problem"
	codeReadsNothing = "entry-point-reads-nothing"
	codeUnmatched    = "unmatched-not-held"
)

// placeholder stands in a message for what was found first.
const placeholder = "\x00"

const (
	wordNoRoot       = "no cluster found, so nothing is known to read any path: list them under `clusters`"
	wordGuessed      = "the root is a guess (" + placeholder + "): nothing in the tree says which directory Flux is pointed at; name it under `clusters`"
	wordEntryNothing = "matches no Flux Kustomization and no root in the tree, so it holds nothing"
	likeIt, likeThem = "1 more like it", "%d more like it"
	wordHidden       = "a windowed Flux Kustomization may read more than is known: " + placeholder
	wordUnmatched    = "what nothing is known to read is not held, though the graph may only not know who reads it: " +
		"set unmatched to a window, and add rules for what no cluster reads"
	wordUnconfirmed   = "it is not known whether a source is this repository, so it counts as it: " + placeholder + "; say this repository's URL as `url` under `clusters`"
	wordRivals        = "two files disagree on what Flux reads there: " + placeholder + "; name the cluster under `clusters`"
	wordDefaultBranch = "the default branch"

	wordMakesLive      = "makes live what a windowed Flux Kustomization reads: " + placeholder
	wordLeavesOut      = "ignores what a windowed Flux Kustomization reads: " + placeholder
	wordOpens          = "opens what defines a windowed Flux Kustomization: " + placeholder
	wordToBranches     = "leaves to windowed branches what a window holds by its Flux Kustomization: " + placeholder
	wordHeldByBranches = "is assigned to windowed branches, but only live Flux Kustomizations read it: " + placeholder
	wordHeldByWindow   = "is held by a window, but only live Flux Kustomizations read it (entrypoints can declare them windowed): " + placeholder

	wordUnknown = "what cannot be built"
	wordUnnamed = "a Namespace or CustomResourceDefinition"

	wordIgnored    = "ignored"
	wordLive       = "live"
	wordByBranches = "held by branches alone"

	wordObserved   = "mode: observe holds no pull request"
	wordStatusOnly = "pull_requests.window: status holds none unless the branch requires sluice's status"
)

func wordAnswersOtherwise(verdict string) string {
	return "the service (sluice serve) reads the reference graph with flux: true alone; without it, it says of such a change: " + verdict
}

func wordFollowsOther(branch string) string {
	return fmt.Sprintf("entrypoints leaves %s to windowed branches, but its source follows %s: no branch holds it", placeholder, clip(branch))
}

func wordReadsNothing(why string) string {
	return placeholder + " is windowed and reads no file: " + why + ", so it holds nothing"
}

func wordNoValue(variable string) string {
	return "the value of " + clip(variable) + " is not known from the tree"
}

func wordNoPath(path string) string { return clip(path) + " is not a directory of the tree" }

func wordNoFile(path string) string { return "there is nothing to apply in " + clip(path) }

func moreOf(n int, one, many string) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return " and " + one
	}
	return " and " + fmt.Sprintf(many, n)
}

// wordEntry is an entry point and its cluster.
func wordEntry(e graph.Entry) string {
	if e.Kustomization == nil {
		return "the root of " + e.Cluster.Name
	}
	return name(e) + " of " + e.Cluster.Name
}

func wordDuplicate(a, b owner) string {
	return fmt.Sprintf("%s: made by %s (%s) and by %s (%s), so it flips between two values: %s; %s", placeholder,
		name(a.Entry), Names(a.releases), wordEntry(b.Entry), Names(b.releases), source(a), source(b))
}

// source is the chain to the file that an owner's object comes from.
func source(o owner) string {
	if o.file == "" {
		return clip(o.Path())
	}
	return leads(o.Entry, o.file)
}

// wordEntryNotBuilt says that of one entry point.
func wordEntryNotBuilt(b Build) string {
	return strings.ReplaceAll(wordNotBuilt(b.Err), placeholder, wordEntry(b.Entry))
}

func wordNotBuilt(err string) string { return placeholder + " cannot be built: " + ends(err) }

// ends is a text with its middle left out where it is long: what kustomize says begins with what was built and ends with what is wrong.
func ends(text string) string {
	r := []rune(text)
	if len(r) <= 2*maxText {
		return clip(string(r[:len(r)/2])) + clip(string(r[len(r)/2:]))
	}
	return clip(string(r[:maxText-1])) + "…" + clip(string(r[len(r)-maxText:]))
}

func wordPathDiffers(o Object, path string) string {
	return fmt.Sprintf("kustomize gives %s the path %s, but the graph has read %s", o, clip(o.Path), clip(path))
}

func wordNotRead(o Object) string {
	return fmt.Sprintf("kustomize makes %s, which the graph has not read", o)
}

func wordMissed(file string) string {
	return fmt.Sprintf("kustomize reads %s, which the graph has not read", clip(file))
}

func wordSourceDiffers(o Object, source string) string {
	return fmt.Sprintf("kustomize gives %s the source %s, but the graph has read %s", o, clip(o.Source), clip(source))
}

func wordFileDiffers(o Object, file string) string {
	return fmt.Sprintf("kustomize makes %s of %s, but the graph has read it from %s", o, clip(o.File), clip(file))
}

func wordValuesDiffer(o Object) string {
	return fmt.Sprintf("kustomize gives %s other values than the graph has read", o)
}

const wordUncompared = "more changed since this began than is compared with it: bring the branch up to date"

func wordStale(first string, more int) string {
	switch {
	case more == 1:
		first += ", and 1 more file"
	case more > 1:
		first += fmt.Sprintf(", and %d more files", more)
	}
	return "changed live since this began: " + first + "; bring the branch up to date, and look at both"
}

func wordEnforced(branch, why string) string {
	return fmt.Sprintf("windowed here, but what is merged to %s arrives at once, because %s: %s", clip(branch), why, placeholder)
}

// maxFollows is how many groups of clusters are named that follow the same branches, and how many names of one group.
const maxFollows = 3

// wordUnfollowed names what the clusters follow instead of a branch, and what is to be done.
func (f *following) wordUnfollowed(name string) string {
	branch, idle := clip(name), f.idle[name]
	text := fmt.Sprintf("no cluster tracks %s, so it holds nothing: ", branch)
	todo := fmt.Sprintf("set spec.ref.branch: %s in the GitRepository of what it is to hold, or remove the entry", branch)
	switch {
	case idle != nil:
		text = fmt.Sprintf("GitRepository %s (%s) tracks %s, but no Flux Kustomization uses it, so the branch holds nothing: ",
			clip(idle.Namespace+"/"+idle.Name), clip(idle.String()), branch)
		todo = "name it as the sourceRef of what the branch is to hold"
	case f.unclear:
		text = fmt.Sprintf("no cluster is known to track %s, and if none does, it holds nothing: ", branch)
	}
	return text + wordFollows(f.clusters) + "; " + todo
}

// wordFollows is what clusters follow, those together that follow the same: "production and staging follow main".
func wordFollows(clusters []clusterFollows) string {
	var order []string
	by := map[string][]string{}
	for _, c := range clusters {
		branches := cmp.Or(andMore(c.branches, maxFollows), "no branch")
		if by[branches] == nil {
			order = append(order, branches)
		}
		by[branches] = append(by[branches], c.name)
	}
	var out []string
	for _, branches := range order[:min(maxFollows, len(order))] {
		follow := " follow "
		if len(by[branches]) == 1 {
			follow = " follows "
		}
		out = append(out, andMore(by[branches], maxFollows)+follow+branches)
	}
	if more := len(order) - maxFollows; more > 0 {
		out = append(out, fmt.Sprintf("other clusters follow %d other sets of branches", more))
	}
	return strings.Join(out, ", ")
}

// andMore is names as a list: "a", "a and b", "a, b and 3 more".
func andMore(names []string, most int) string {
	shown := make([]string, 0, most)
	for _, n := range names[:min(most, len(names))] {
		shown = append(shown, clip(n))
	}
	last := len(shown) - 1
	switch more := len(names) - len(shown); {
	case more > 0:
		return fmt.Sprintf("%s and %d more", strings.Join(shown, ", "), more)
	case last > 0:
		return strings.Join(shown[:last], ", ") + " and " + shown[last]
	}
	return strings.Join(shown, "")
}

// wordDefinition is an object that says what a windowed branch is for, in a file that is not held.
func wordDefinition(o graph.Object, state string, held window.Name) string {
	is := "is made of it"
	if o.Kind == "GitRepository" {
		is = "tracks it"
	}
	return fmt.Sprintf("%s: %s %s/%s %s, and the file is %s: a change there reaches the cluster at once, whatever the window; add a rule with release: %s",
		clip(o.String()), clip(o.Kind), clip(o.Namespace), clip(o.Name), is, state, clip(string(held)))
}
