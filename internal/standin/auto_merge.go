package standin

import (
	"net/http"
)

// Auto-merge: a person asks that GitHub merges a pull request once the base's rules allow it.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/automatically-merging-a-pull-request

// ArmAutoMerge enables auto-merge, which anybody may who may write. A pull request that could be merged at once is refused, as GitHub does:
// it could be merged by hand.
func (r *Repo) ArmAutoMerge(n int, by string, method Method) error {
	if err := r.MustWrite(Person(by)); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.pull(n)
	if err != nil {
		return err
	}
	tip, err := r.git.Tip("refs/heads/" + p.Base)
	if err != nil {
		return err
	}
	if r.refuseMerge(p, tip, MergeOrder{By: Person(by), Method: method}) == nil {
		return Refuse(http.StatusUnprocessableEntity, msgCleanStatus)
	}
	r.edit(p, Person(by), "auto_merge_enabled", func(p *Pull) object {
		p.AutoMerge = &AutoMerge{By: Person(by), Method: method}
		return nil
	})
	return nil
}

// DisarmAutoMerge cancels it.
func (r *Repo) DisarmAutoMerge(n int, by string) error {
	return r.editAs(by, n, "auto_merge_disabled", func(p *Pull) object { p.AutoMerge = nil; return nil })
}

// autoMerge merges whatever is armed and may be merged now: at once, as quick as GitHub can be; the caller holds r.mu.
func (r *Repo) autoMerge() {
	for _, p := range r.pulls {
		if a := p.AutoMerge; p.Open && a != nil {
			_, _ = r.merge(p.Number, MergeOrder{By: a.By, Method: a.Method, SHA: p.HeadSHA}) // refused: it stays armed
		}
	}
}
