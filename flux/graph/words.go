package graph

import (
	"fmt"
	"strconv"
	"strings"
)

// Every word that a person reads about a tree stands here.

// How a cluster was found.
const (
	wordNamed     = "named by the file"
	wordInstance  = "spec.sync of the FluxInstance"
	wordChartSync = "values of the chart flux-instance"
	wordSync      = "gotk-sync"
	wordFlux      = "Kustomization flux-system"
	wordTop       = wordGuessed + "a Flux Kustomization that no other one reads"
	wordGuessed   = "a guess: "
)

// How an object depends on another one.
const (
	roleDefines   = "defines"
	rolePatches   = "patches"
	roleChart     = "chart source"
	roleMay       = "may be read by"
	roleValues    = "values"
	roleSource    = "source"
	roleVariables = "variables"
)

func wordDefines(o Object) string { return roleDefines + " " + shown(o) }

func wordPatches(o Object) string { return rolePatches + " " + shown(o) }

// wordUses is what an object is to another one.
func wordUses(role string, what, of Object) string {
	return role + " " + shown(what) + " of " + shown(of)
}

// wordMayMake is said of what may make an object that stands in no file.
const wordMayMake = ", which it may make"

func wordVariablesOf(o Object) string { return roleVariables + " of " + shown(o) }

func wordMore(n int) string { return fmt.Sprintf(" and %d more", n) }

// shown is kind, namespace and name of an object, without what a terminal obeys.
func shown(o Object) string { return Ref{o.Kind, o.Namespace, o.Name}.String() }

// printable is a text without what a terminal obeys.
func printable(s string) string {
	if len(s) > 2*MaxAlias {
		s = s[:2*MaxAlias] + "…"
	}
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

func wordUnknown(field, value, name string) string {
	return fmt.Sprintf("%s is %s: the value of %s is not known from the tree, and what it leads to is not followed", field, printable(value), printable(name))
}

func wordNoSource(r Ref) string {
	return "its source stands in no file that the cluster reads: which repository and branch " + r.String() + " is, is not known; put it into Git"
}

func wordSourceless(k *Kustomization, r Ref) string {
	return wordNoSource(r) + ", or say what " + shown(k.Object) + " needs by an entry of `entrypoints`, such as `{where: " + printable(k.title()) + ", release: live}` if it is another repository"
}

func wordNoDirectory(dir string) string {
	return fmt.Sprintf("clusters names %s, which is not a directory of the tree", printable(dir))
}

func wordHiddenCluster(dir string) string {
	return fmt.Sprintf("it points Flux at %s, and stands in a hidden directory, where no cluster is looked for: name it in clusters, or move it", printable(dir))
}

// wordPatched is how a root was found that a patch changes.
func wordPatched(found string, by Place) string { return found + ", patched by " + by.String() }

func wordDirectory(above string) string { return wordGuessed + "a directory of " + above + "/" }

// What was not read.
const (
	wordUnreadable = "it cannot be read"
	wordIrregular  = "it is not a regular file"
	wordBroken     = "the document is broken"
	wordLinked     = "it is a symbolic link: what Flux leaves out by it is not known"
)

func wordLargeFile(limit int) string { return fmt.Sprintf("it has more than %d KiB", limit>>10) }

func wordLargeDocument() string {
	return fmt.Sprintf("a document has more than %d KiB: it was not read", MaxDoc>>10)
}

func wordWide() string {
	return fmt.Sprintf("a section has more than %d keys: it was not read", MaxKeys)
}

func wordNoYAML(err error) string { return "not valid YAML: " + err.Error() }

const wordAlias = "its YAML aliases stand for themselves, or for too much"

const wordMerge = "a << key has no section as its value"

func wordLongList(field string) string {
	return fmt.Sprintf("%s has more than %d entries: the rest was not read", field, MaxList)
}

func wordDeepList() string {
	return fmt.Sprintf("items is nested more than %d deep: the rest was not read", MaxNested)
}

func wordManyLike(o Object) string {
	return fmt.Sprintf("%s is defined more than %d times: the rest was not compared", shown(o), MaxClusters)
}

func wordConflict(first, second Object) string {
	return fmt.Sprintf("%s is defined here and in %s, and otherwise there: Flux applies both in turns, and what one of them leads to is not followed; keep one of them",
		shown(first), printable(second.String()))
}

func wordManyProblems() string {
	return fmt.Sprintf("more than %d problems: the rest is not listed", MaxProblems-1)
}

func wordManyLeaves() string {
	return fmt.Sprintf("more than %d places where the graph ends: the rest is not listed", MaxLeaves-1)
}

func wordManyClusters() string {
	return fmt.Sprintf("more than %d clusters: the rest was not looked at", MaxClusters)
}

// What of a patch or a kustomization.yaml is not followed.
const (
	wordKinds       = "it may make an object of Flux, or one that such an object refers to, of something else, which is not followed"
	wordVagueTarget = "its target was not understood"
	wordNoJSON      = "what begins with [ has to be JSON"
	wordDirective   = "$patch says something that is not known"
	wordMismatch    = "it puts a section, a list or a text in the place of another kind"
	wordPointer     = "it has an operation for what is not there"
	wordTest        = "a test in it fails"
	wordNoTexts     = "it has labels or annotations that are empty, or no texts"
)

// wordOpaque is what a field may do to an object.
func wordOpaque(field string) string {
	return field + " may change objects of Flux in ways that are not followed"
}

// wordUnsure is what is not known of an object, and why.
func wordUnsure(o Ref, why string) string {
	return "what is made of " + o.String() + " is not known: " + why
}

func wordPatch(problem string) string { return "the patch was not read: " + problem }

func wordMissing(field, name string) string {
	return fmt.Sprintf("%s names %q, which is not in the repository", field, name)
}

func wordNoBuild(field, name string) string {
	return fmt.Sprintf("%s names %q, a directory without a kustomization.yaml", field, name)
}

func wordCycle(field, name string) string {
	return fmt.Sprintf("%s names %q, which leads back to this file", field, name)
}

func wordNoComponent(name string) string {
	return fmt.Sprintf("components names %q, whose kind is not Component", name)
}

func wordComponent(field, name string) string {
	return fmt.Sprintf("%s names %q, whose kind is Component", field, name)
}

func wordManySources() string {
	return fmt.Sprintf("more than %d sources are put together one out of the other: what is behind was not read", MaxUses)
}

func wordCopiesChart(by, chart Object) string {
	return fmt.Sprintf("%s copies from %s, a chart of a Git repository: what of it is copied was not read", shown(by), shown(chart))
}

func wordCopiesBuild(file string) string {
	return fmt.Sprintf("%s is copied to a kustomization.yaml: what that makes of the directory was not read", printable(file))
}

func wordCopiesMade(by Object) string {
	return fmt.Sprintf("%s merges or unpacks files: what stands in its artifact then was not read", shown(by))
}

// wordCovered is what may be read of a file that another copy lies over.
func wordCovered(by string) string {
	return fmt.Sprintf("an artifact has this file where %s may be left out, which is copied over it: only the other one was read", printable(by))
}

const wordTakenIn = "Flux leaves a file of this name out, and the source takes it in again: it was not read"

func wordNoModules(err error) string { return "not valid as git's configuration: " + err.Error() }

// Where the graph ends.

func wordRemote(field, name string) string {
	return fmt.Sprintf("%s names %q, which is fetched from elsewhere: it was not read", field, anonymous(name))
}

func wordOwnBase(url string) string {
	return fmt.Sprintf("what is fetched may be this repository, at whatever is there by then: %q; name the directory instead, or a commit or refs/tags/NAME as its ref; if it is another repository, name the URL of this one as `url` under `clusters`", anonymous(url))
}

func wordApart(field, name string) string {
	return fmt.Sprintf("%s names %q, which is in a submodule or comes from another source: it was not read", field, name)
}

func wordPlugin(field, name string) string {
	return fmt.Sprintf("%s names %q, a plugin that is not part of kustomize: what it makes or reads is not known", field, name)
}

func wordInlinePlugin(field string) string {
	return field + " has a plugin that is not part of kustomize: what it makes or reads is not known"
}

func wordHelm(name string) string {
	return fmt.Sprintf("the chart %q is built with helm, which Flux does not do here: what it makes is not known", name)
}

func wordResourceSet(name string) string {
	return fmt.Sprintf("the ResourceSet %q makes objects in the cluster: they are not known", name)
}

func wordElsewhere(kind, name, url string) string {
	if !isSource(kind) {
		kind = "source"
	}
	if url != "" {
		kind, name = kind+" "+strconv.Quote(name), anonymous(url)
	}
	return fmt.Sprintf("the %s %q is not this repository: what is read from it is not known", kind, name)
}

func wordStranger(dir, url string) string {
	return fmt.Sprintf("what points Flux at %s here is of the repository %s, which is not this one, and stands outside of it: it is no cluster here", strconv.Quote(dir), strconv.Quote(anonymous(url)))
}

// anonymous is a URL without who reads it.
func anonymous(url string) string {
	scheme, rest, found := strings.Cut(url, "://")
	if !found {
		return url
	}
	authority, after, _ := strings.Cut(rest, "/")
	return scheme + "://" + authority[strings.LastIndexByte(authority, '@')+1:] + strings.TrimSuffix("/"+after, "/")
}

// What keeps an object from being built.
const (
	wordNoBuilder = "it was not built"
	wordComposed  = "it was not built, for its source does not hand on the tree as it is"
)

func wordManyBuilds() string {
	return fmt.Sprintf("more than %d entry points have to be built for it", MaxBuilds)
}

func wordBuild(err error) string { return "it cannot be built: " + err.Error() }
