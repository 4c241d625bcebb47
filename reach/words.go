package reach

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicegate/sluice/graph"
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
func chainOf(file string, readers []Reader) string {
	text := readers[0].Chain(file)
	entries := map[string]bool{}
	for _, r := range readers {
		entries[key(r.Entry)] = true
	}
	if more := len(entries) - 1; more > 0 {
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
		beside := graph.IsBuild(next) && path.Dir(next) == path.Dir(chain[i-1].File)
		if own := i == len(chain)-1 && path.Dir(next) == e.Path() && graph.IsBuild(next); !own && !beside {
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

func wordIgnores(e graph.Entry) string {
	return fmt.Sprintf("it excludes files from what %s in %s reads", name(e), e.Cluster.Name)
}

func wordUnread(e graph.Entry) string {
	return fmt.Sprintf("%s in %s reads it, and not all of it was understood", name(e), e.Cluster.Name)
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
func (o Object) String() string {
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
func (m Move) String() string {
	if m.Copied {
		return fmt.Sprintf("%s is made by %s and appears in %s: Flux applies it from %s now", clip(m.What), name(m.From), name(m.To), name(m.To))
	}
	if m.Back {
		return fmt.Sprintf("%s moves from %s to %s: Flux applies it from %s now, and from both until %s", clip(m.What), name(m.From), name(m.To),
			name(m.To), until(m.From))
	}
	return fmt.Sprintf("%s moves from %s to %s: Flux deletes it now and creates it again when %s", clip(m.What), name(m.From), name(m.To), until(m.To))
}

// until is what a windowed entry point waits for.
func until(e graph.Entry) string {
	if branch := e.Branch(); branch != "" && branch != e.Cluster.Branch {
		return clip(branch) + " moves"
	}
	return name(e) + " applies it"
}

// The codes of findings. docs/spec lists them with those of package config.
const (
	codeDuplicates   = "duplicates"
	codeLayers       = "layers"
	codeBuilds       = "builds"
	codeEnforced     = "enforced"
	codeNoRoot       = "flux-without-root"
	codeGuessed      = "root-guessed"
	codeEntryNothing = "entry-point-matches-nothing"
	codeDefinition   = "branch-definition-open"
)

// placeholder stands in a message for what was found first.
const placeholder = "\x00"

const (
	wordNoRoot        = "no cluster found, so nothing is known to read any path: list them under `clusters`"
	wordGuessed       = "the root is a guess (" + placeholder + "): nothing in the tree says which directory Flux is pointed at; name it under `clusters`"
	wordEntryNothing  = "matches no entry point of the tree"
	wordDefaultBranch = "the default branch"

	wordMakesLive      = "makes live what a windowed Flux Kustomization reads: " + placeholder
	wordHeldByBranches = "is assigned to windowed branches, but only live Flux Kustomizations read it: " + placeholder
	wordHeldByWindow   = "is held by a window, but only live Flux Kustomizations read it (entrypoints can declare them windowed): " + placeholder

	wordUnknown = "what cannot be built"

	wordIgnored    = "ignored"
	wordLive       = "live"
	wordByBranches = "held by branches alone"

	wordObserved   = "mode: observe holds no pull request"
	wordStatusOnly = "pull_requests.window: status holds none unless the branch requires sluice's status"
)

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

func wordSourceDiffers(o Object, source string) string {
	return fmt.Sprintf("kustomize gives %s the source %s, but the graph has read %s", o, clip(o.Source), clip(source))
}

func wordEnforced(branch, why string) string {
	return fmt.Sprintf("windowed here, but what is merged to %s arrives at once, because %s: %s", clip(branch), why, placeholder)
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
