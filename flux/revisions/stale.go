package revisions

import (
	"errors"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/analysis"
	"github.com/sluicegate/sluice/gitremote"
	"github.com/sluicegate/sluice/plan"
)

// stale is what changed live on the base since a held change began, and belongs to what that changes. It is asked anew at each tip: of what is kept of a change nothing
// says it.
func (r *reader) stale(run analysis.Run, repo *gitremote.Repo, policy *config.Policy, of change, f *finding) ([]config.Note, error) {
	if of.before == r.tip {
		return nil, nil
	}
	_, changed, err := repo.Merged(of.before, of.before, r.tip)
	if err != nil {
		return nil, err
	}
	at := func(sha plan.SHA) func(string) ([]byte, error) {
		return func(name string) ([]byte, error) {
			text, _, err := repo.File(sha, name)
			switch {
			case errors.Is(err, gitremote.ErrNotAFile):
				return nil, nil
			case errors.Is(err, gitremote.ErrTooLarge), errors.Is(err, gitremote.ErrIncomplete): // a mirror has no large ones
				return nil, analysis.ErrUncompared
			}
			return text, err
		}
	}
	return run.Stale(policy.With(f.answers), r.kept, analysis.Since{Files: f.files, Changed: changed, Before: at(of.before), Tip: at(r.tip), Head: at(of.head)})
}
