package e2e

import (
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
)

// A person armed GitHub's auto-merge, which merges as soon as our status is green: with another method than the file's the pull
// request waits until it is disarmed, with the file's own it is merged, by whoever is quicker.
func TestAutoMergeOfAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(openForYears))
	other, same := w.open("other", "apps/a-rw/x"), w.open("same", "apps/a-rt/x")
	w.must(w.repo.ArmAutoMerge(other, "alice", standin.Squash))
	w.must(w.repo.ArmAutoMerge(same, "alice", standin.Merge))
	w.start()
	w.hasStatus(other, "pending: waiting: auto-merge is enabled with the method squash")
	w.merged(same)
	w.stays(other)
	w.must(w.repo.DisarmAutoMerge(other, "alice"))
	w.merged(other)
	w.once(w.repo, "other")
	if by := w.pull(other).MergedBy.Login; by != "sluice" {
		t.Errorf("merged by %s", by)
	}
}
