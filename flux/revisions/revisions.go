// Package revisions says what changes between commits of a git repository mean by its references, for commands and for the service.
//
// [Between] is what package analysis is asked of a change: the trees around it. The service asks a [Keeper]: it keeps a mirror of each repository, which git's own
// protocol fills, and has a child process look at it, so that no tree of a stranger is read in the process that holds the key. A question costs nothing of
// GitHub's budgets: the base's tree comes once, and of each further commit what differs.
//
// # Until when an answer is true
//
// An answer names the states of the repository that were read ([plan.Asked]), all of them by the hash of their content, so it is true for ever. What
// decides takes it for those states alone ([plan.Base.Found]): once the base or the head moved, or the rules changed, it is asked anew, and until then nothing is
// known. The child process answers at once what cannot have changed: see [reader.move].
//
// How it fails: closed. What is not answered yet, and what could not be read, is unknown, and holds; why is said, and it is asked again with pauses that grow.
// A child that is killed, a mirror that is lost and a full disk lose nothing: mirrors are fetched again.
package revisions

import (
	"github.com/sluicegate/sluice/flux/analysis"
	"github.com/sluicegate/sluice/gitremote"
	"github.com/sluicegate/sluice/plan"
)

// Between is a change of some files from before to head with the trees of a branch around its merge: at the tip, and with the change.
func Between(repo *gitremote.Repo, files []plan.File, tip, before, head plan.SHA) (analysis.Change, error) {
	with, changed, err := repo.Merged(tip, before, head)
	if err != nil {
		return analysis.Change{}, err
	}
	without, err := repo.Tree(tip)
	return analysis.Change{Files: files, Trees: []analysis.Revision{{Files: without}, {Files: with, Changed: changed}}}, err
}
