package survey

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/graph"
)

// The words for people that a draft and its notes have; those behind a field on its line stand in file.go beside the field.

// Notes on clusters, branches, rules and paths.
const (
	noteCluster      = "the file cannot have the cluster %s: its path is %q"
	noteGuessed      = "the root is a guess (%s): nothing in the tree says which directory Flux is pointed at; correct `clusters` above and remove the # before it"
	noteApart        = "clusters share files, and their windows are never open together (%s): these files wait for %s alone. For each cluster to receive them in its own window, let each track a branch: docs/windowed-branches.md"
	noteMoreWindows  = "Flux Kustomization %s in %s has more than one window, and here it has one schedule: %s counts, and %s does not"
	noteNotHeld      = "no rules can hold all that windows were found for: they are too many or too long, or a name is none that a pattern can have"
	noteTwoWindows   = "cluster %s tracks %s, too, and its window is %s: the branch moves in %s alone, so give the cluster a branch of its own"
	noteElsewhere    = "%s tracks %s, a branch of this repository, for a path that this tree does not have: so it is not windowed"
	noteManyBranches = "more than %d branches are tracked: the rest is not in the file, and the window holds what reads them"
	noteBranchName   = "%s tracks %q, which the file cannot have, as it is no name that is allowed here or differs from another one by case alone: the window holds what reads it"
	noteGone         = "a job suspends the Flux Kustomization %s, which is in no file that a cluster is known to read"
	noteSuspend      = "%s: Kustomization %s sets suspend: %s; Flux reverts what a CronJob or `sluice suspend` sets instead: leave the field out of Git"
	notePath         = "no rule was written for a path with characters that do not show: %q"
	noteManyRules    = "%d rules were found, and a file has at most %d: the rest is not in it"
)

// Notes on windows.
const (
	noteManyJobs    = "%s has more than %d CronJobs that open and close windows: the rest was not looked at"
	noteNoClose     = "%s: CronJob %s opens a window, and nothing closes it"
	noteNoOpen      = "%s: CronJob %s closes a window, and nothing opens it"
	noteZones       = "%s: the jobs that open and close are in two time zones, %q and %q"
	notePair        = "%s: open %q, close %q: %s"
	noteSchedule    = "%s: schedule of %s: cron %q, window %q: %s"
	noteSecond      = "%s: %s is open then, too, and a window here has one schedule: cron %q, timeZone %q, window %q"
	noteManyWindows = "more than %d windows, which is what a file may have: the clusters of the rest wait for an example"
	noteNobody      = "%s: CronJob %s opens or closes a window, and no cluster is known to apply it: it was not looked at"
)

// What a CronJob is whose note begins with its place and name.
const (
	jobSuspended = "is suspended: it opens and closes nothing"
	jobVariable  = "has a schedule with a variable: %s"
	jobCommand   = "is called as if it opened or closed a window, and what it runs was not understood: check that it does"
	jobOpposite  = "does the opposite of what it is called: its name counts here, check which is meant"
)

// Comments of the draft.
const (
	wordHead       = "# Which paths of this repository may change, and when. `sluice init` generated it from the tree: review it."
	wordExample    = "An example: %s says when changes may reach %s. Put your hours in, or `duration: 8h` instead of a close."
	wordFlux       = "Or by what Flux reads: these lines instead of rules and unmatched. They hold what is added later, too. See docs/graph.md."
	wordReferences = "By what Flux reads. See docs/graph.md."
	wordBare       = "Nothing more could be derived from this tree:"
)

// Codes of the findings without which no file is right. docs/spec lists them with those of package config.
const (
	codeDefault = "default-branch-not-tracked" // no source tracks the default branch
	codeNoFlux  = "no-flux"
	codeNotHeld = "not-held"
)

const (
	wordNotByReferences = "references cannot say what was found: nothing is windowed, or the graph does not know enough of a cluster (sluice graph); without --flux there are rules by paths"
	wordNoFlux          = "no cluster, Flux Kustomization or source was found, and no directories such as apps-rt and apps-rw: run it in the repository that Flux reads"
	wordNotHeld         = "the file would not hold %s, for which a window was found: write it by hand"
)

// wordDefault says that it is not known which of several branches Flux reads live; tracked is where each is tracked.
func wordDefault(main, cluster string, tracked map[string]string) string {
	var at []string
	for _, b := range slices.Sorted(maps.Keys(tracked)) {
		at = append(at, oneLine(fmt.Sprintf("%s (%s)", b, tracked[b])))
	}
	if main == "" {
		return fmt.Sprintf("the default branch is not known, and in %s Flux tracks %s: run it in a clone of the repository", oneLine(cluster), list(at, 4))
	}
	return fmt.Sprintf("in %s Flux tracks %s, and not %s, the default branch of this clone: rename the branch or correct the sources; "+
		"if another one is the default branch: git remote set-head origin --auto", oneLine(cluster), list(at, 4), oneLine(main))
}

// foundWords is how a cluster was found.
func foundWords(c graph.Cluster) string {
	if c.Place.File == "" {
		return oneLine(c.Found)
	}
	return oneLine(c.Found + ": " + c.Place.String())
}

// reason is what a rule's comment says.
func (s *survey) reason(n needs) string {
	switch {
	case n.ignore:
		return "Flux itself, where no window holds anything: people merge it"
	case len(n.windows) > 0 && !s.evidence && len(s.clusters) == 1:
		return "all that reaches the cluster; put a rule before this one for what may change at any time"
	case len(n.windows) > 0 && !s.evidence:
		return "what reaches " + list(s.windows[0].clusters, 6)
	case len(n.windows) > 0:
		return "what the windowed side reads, and the files that define it: Flux applies those at once"
	case len(n.branches) > 0:
		return "merged at once; these branches hold it, each until its window"
	}
	return "nothing of the windowed side reads this"
}

// list names a few things.
func list(names []string, most int) string {
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
