package kustomize

import (
	"fmt"
	"strings"

	"github.com/sluicegate/sluice/flux/manifest"
)

// What a person reads about what of a kustomization.yaml is not followed.
const (
	wordLinked     = "it is a symbolic link: what Flux leaves out by it is not known"
	wordKinds      = "it may make an object of Flux, or one that such an object refers to, of something else, which is not followed"
	wordOwnNotes   = "what kustomize notes of objects in annotations of its own decides here, which is not followed"
	wordTakenIn    = "Flux leaves a file of this name out, and the source takes it in again: it was not read"
	wordNoBuilder  = "it was not built"
	wordComposed   = "it was not built, for its source does not hand on the tree as it is"
	wordUnreadable = "it cannot be read"
	wordIrregular  = "it is not a regular file"
)

// wordOpaque is what a field may do to an object.
func wordOpaque(field string) string {
	return field + " may change objects of Flux in ways that are not followed"
}

// wordUnsure is what is not known of an object, and why.
func wordUnsure(o manifest.Ref, why string) string {
	return "what is made of " + o.String() + " is not known: " + why
}

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

// wordCovered is what may be read of a file that another copy lies over.
func wordCovered(by string) string {
	return fmt.Sprintf("an artifact has this file where %s may be left out, which is copied over it: only the other one was read", manifest.Printable(by))
}

func wordNoModules(err error) string { return "not valid as git's configuration: " + err.Error() }

func wordRemote(field, name string) string {
	return fmt.Sprintf("%s names %q, which is fetched from elsewhere: it was not read", field, Anonymous(name))
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

func wordManyBuilds() string {
	return fmt.Sprintf("more than %d entry points have to be built for it", MaxBuilds)
}

func wordBuild(err error) string { return "it cannot be built: " + err.Error() }

func wordManyLeaves() string {
	return fmt.Sprintf("more than %d places where the graph ends: the rest is not listed", MaxLeaves-1)
}

func wordLargeFile(limit int) string { return fmt.Sprintf("it has more than %d KiB", limit>>10) }

func wordDeepList() string {
	return fmt.Sprintf("items is nested more than %d deep: the rest was not read", manifest.MaxNested)
}

// Anonymous is a URL without who reads it.
func Anonymous(url string) string {
	scheme, rest, found := strings.Cut(url, "://")
	if !found {
		return url
	}
	authority, after, _ := strings.Cut(rest, "/")
	return scheme + "://" + authority[strings.LastIndexByte(authority, '@')+1:] + strings.TrimSuffix("/"+after, "/")
}
