package render

import (
	"fmt"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// All words that people read, the templates' apart.

const (
	wordBadName      = "it has no namespace, or a name that Kubernetes does not accept"
	wordRoot         = "it applies the cluster's root, and Flux itself with it: that is never suspended"
	wordReadsNothing = "no file that it reads is known"
)

func wordMixed(all, other int, example, release string) string {
	return fmt.Sprintf("%d of the %d files that it reads are not held by a window, for example %s (%s): split it, or window them",
		other, all, plan.Clean(example), plan.Clean(release))
}

func wordTooMany(c graph.Cluster, n int) string {
	return fmt.Sprintf("cluster %s: %d Flux Kustomizations are windowed; at most %d are held", plan.Clean(c.Name), n, maxHeld)
}

func wordManyRuns(c graph.Cluster, n int) string {
	return fmt.Sprintf("cluster %s: what is held stands in %d namespaces; at most %d are held", plan.Clean(c.Name), n, maxRuns)
}

func wordNamespace(name string) string {
	return fmt.Sprintf("--namespace %q: want the name of a namespace", name)
}

func wordOfCluster(c graph.Cluster, sentence string) string {
	return "cluster " + plan.Clean(c.Name) + ": " + sentence
}

// wordHome says what whoever may write where it runs could do.
func wordHome(runs []run, home string) string {
	var all []string
	for _, r := range runs {
		for _, h := range r.Held {
			all = append(all, h.ID())
		}
	}
	return fmt.Sprintf("whoever may write to the namespace %s, where this runs, may change the windows, and patch everything that is held: %s", home, few(all))
}

// wordTenant says what whoever may write to one namespace could do.
func wordTenant(r run) string {
	var all []string
	for _, h := range r.Held {
		all = append(all, h.ID())
	}
	return fmt.Sprintf("whoever may write to the namespace %s may resume what is held there, or take the RoleBinding away: %s; nothing elsewhere", r.Of, few(all))
}

// few names some of them.
func few(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func wordManyAssumed() string {
	return fmt.Sprintf("no Flux Kustomization is in Git, and more than %d directories could be one", maxAssumed)
}

func wordOtherRepository(c graph.Cluster) string {
	if c.URL == "" {
		return "its source is another repository than this one"
	}
	return "its source is another repository than the cluster's, " + shown(c.URL)
}

func wordTwice(other *graph.Kustomization) string {
	return "it is also defined in " + place(other) + ", where it is not windowed as a whole: remove one of them"
}

func wordRootReads(n, all int, example string) string {
	return fmt.Sprintf("Left out: %d of the %d files that the cluster's root reads are windowed, for example %s. What applies the root applies Flux itself, too, and is never "+
		"suspended: put them behind a Flux Kustomization of their own", n, all, plan.Clean(example))
}

func wordWhichBranch(r layout.Release, n int) string {
	glob, _ := r.BranchGlob()
	return fmt.Sprintf("%d branches match %s, and which one is this cluster's does not follow from its name", n, glob)
}

// Contradiction says what is wrong where Git says something of its suspend.
func (h Hold) Contradiction() string {
	return fmt.Sprintf("%s sets suspend: %s on the Flux Kustomization %s, which is windowed: Flux restores that whenever it is changed in the cluster; remove it from Git",
		plan.Clean(h.Suspend.Place.String()), plan.Clean(h.Suspend.Value), plan.Clean(h.ID()))
}

func wordLeft(l Omission) string {
	return "Left out: " + plan.Clean(id(l.Kustomization)) + " (" + place(l.Kustomization) + "): " + l.Why
}

// place is where a Kustomization stands, or what it is assumed from.
func place(k *graph.Kustomization) string {
	if assumed(k) {
		return plan.Clean("./" + k.Path)
	}
	return plan.Clean(k.String())
}

func wordProblem(p manifest.Problem) string {
	return "Not read: " + plan.Clean(p.Place.String()+" "+p.Text)
}

func joined(names []window.Name) string { return strings.Join(config.Strings(names), ",") }

const (
	wordElsewhere = "it is in no file that was read: Flux's bootstrap or operator creates it"
	wordSuspend   = "suspend is removed: the branch holds it."
	wordReady     = "readyExpr: of what is live only that it was applied once; otherwise a live change that reconciles or fails would close the window."
	wordAssumed   = "No manifest of it is in Git: its name is the directory's."
	wordShared    = "Other clusters use this document, too, and need another one: leave it as it stands, and set what is different by a patch of this cluster."
	wordMade      = "Its document could not be taken over as it stands; only what is known of it is here. Compare."
)

func wordNoBranch(h Hold) string {
	return plan.Clean(h.ID()) + " is held on pull requests by " + joined(h.Windows) + ", not by a branch: its source stays as it is"
}

func wordOtherSource(k *graph.Kustomization) string {
	return plan.Clean(id(k)) + " (" + plan.Clean(k.String()) + ") is made of another branch, tag or commit: it stays as it is"
}

func wordInSet(k *graph.Kustomization) string {
	return plan.Clean(id(k)) + " (" + plan.Clean(k.String()) + ") is made by a ResourceSet: change its source there"
}

func wordWaits(live, windowed string) string {
	return plan.Clean(live) + " is live and depends on " + plan.Clean(windowed) + ", which is windowed: it waits for the window where that was never applied"
}
