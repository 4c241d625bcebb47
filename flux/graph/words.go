package graph

import (
	"fmt"
	"strconv"

	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
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
func shown(o Object) string {
	return manifest.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}.String()
}

func wordNoSource(r manifest.Ref) string {
	return "its source stands in no file that the cluster reads: which repository and branch " + r.String() + " is, is not known; put it into Git"
}

func wordSourceless(k *Kustomization, r manifest.Ref) string {
	return wordNoSource(r) + ", or say what " + shown(k.Object) + " needs by an entry of `entrypoints`, such as `{where: " + manifest.Printable(k.title()) + ", release: live}` if it is another repository"
}

func wordField(o Object, field string) string {
	return fmt.Sprintf("%s of %s is no field that is known here: what it changes is not followed", manifest.Printable(field), shown(o))
}

func wordApart(o Object, says string) string {
	return fmt.Sprintf("%s has %s: Flux may not apply it as it stands here, and what it is in the cluster is not known", shown(o), says)
}

func wordOtherBranch(r Root, branch string) string {
	return fmt.Sprintf("%s is read from the branch %q by this, and from %q by the file's clusters: which of them it is, is not known", strconv.Quote(r.Path), branch, r.Branch)
}

func wordUnmade(kind string) string {
	if kind == "" {
		return "what a ResourceSet makes here has metadata that do not stand in the file: what it is called is not known"
	}
	return fmt.Sprintf("a ResourceSet makes a %s: what that leads to is not followed", manifest.Printable(kind))
}

func wordReleasesFlux(o Object, by string) string {
	return fmt.Sprintf("%s makes Flux objects by %s: what they lead to is not followed", shown(o), by)
}

func wordKeepsBack(o Object) string {
	return fmt.Sprintf("spec.ignore of %s may keep fields as they are in the cluster that decide what Flux reads: name the kind that it is for, or other paths", shown(o))
}

func wordOwnElsewhere(k *Kustomization) string {
	return fmt.Sprintf("%s applies the directory that the root reads to another cluster: what it makes there is not followed; give it a directory of its own", shown(k.Object))
}

func wordInstanceValues(o Object) string {
	return fmt.Sprintf("valuesFrom, or postRenderers, of %s may say what Flux syncs, and with which patches: write that into its values", shown(o))
}

func wordNotCopied(k *Kustomization) string {
	return fmt.Sprintf("nothing of this repository becomes %s in %s: it reads nothing", manifest.Printable(k.Path), k.SourceRef)
}

func wordNoDirectory(dir string) string {
	return fmt.Sprintf("clusters names %s, which is not a directory of the tree", manifest.Printable(dir))
}

func wordHiddenCluster(dir string) string {
	return fmt.Sprintf("it points Flux at %s, and stands in a hidden directory, where no cluster is looked for: name it in clusters, or move it", manifest.Printable(dir))
}

// wordPatched is how a root was found that a patch changes.
func wordPatched(found string, by manifest.Place) string {
	return found + ", patched by " + by.String()
}

func wordDirectory(above string) string { return wordGuessed + "a directory of " + above + "/" }

func wordManyLike(o Object) string {
	return fmt.Sprintf("%s is defined more than %d times: the rest was not compared", shown(o), MaxClusters)
}

func wordConflict(first, second Object) string {
	return fmt.Sprintf("%s is defined here and in %s, and otherwise there: Flux applies both in turns, and what one of them leads to is not followed; keep one of them",
		shown(first), manifest.Printable(second.String()))
}

func wordManyClusters() string {
	return fmt.Sprintf("more than %d clusters: the rest was not looked at", MaxClusters)
}

func wordManySources() string {
	return fmt.Sprintf("more than %d sources are put together one out of the other: what is behind was not read", MaxUses)
}

func wordCopiesChart(by, chart Object) string {
	return fmt.Sprintf("%s copies from %s, a chart of a Git repository: what of it is copied was not read", shown(by), shown(chart))
}

func wordCopiesBuild(file string) string {
	return fmt.Sprintf("%s is copied to a kustomization.yaml: what that makes of the directory was not read", manifest.Printable(file))
}

func wordCopiesMade(by Object) string {
	return fmt.Sprintf("%s merges or unpacks files: what stands in its artifact then was not read", shown(by))
}

// Where the graph ends.

func wordOwnBase(url string) string {
	return fmt.Sprintf("what is fetched may be this repository, at whatever is there by then: %q; name the directory instead, or a commit or refs/tags/NAME as its ref; if it is another repository, name the URL of this one as `url` under `clusters`", kustomize.Anonymous(url))
}

func wordResourceSet(name string) string {
	return fmt.Sprintf("the ResourceSet %q makes objects in the cluster: other ones than sources and Flux Kustomizations are not known", name)
}

func wordInNoFile(r manifest.Ref, user Object) string {
	return fmt.Sprintf("%s, which %s refers to, stands in no file", r, shown(user))
}

func wordElsewhere(kind, name, url string) string {
	if !isSource(kind) {
		kind = "source"
	}
	if url != "" {
		kind, name = kind+" "+strconv.Quote(name), kustomize.Anonymous(url)
	}
	return fmt.Sprintf("the %s %q is not this repository: what is read from it is not known", kind, name)
}

func wordStranger(dir, url string) string {
	return fmt.Sprintf("what points Flux at %s here is of the repository %s, which is not this one, and stands outside of it: it is no cluster here", strconv.Quote(dir), strconv.Quote(kustomize.Anonymous(url)))
}

func wordLongURL() string {
	return fmt.Sprintf("a URL has more than %d bytes: whose it is, is not known", maxURL)
}
