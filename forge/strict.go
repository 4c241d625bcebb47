package forge

import (
	"time"

	"github.com/sluicegate/sluice/plan"
)

// Classic protection does not show an App whether heads must be up to date. GitHub shows it in two ways: it calls a head
// BEHIND, but not while a required check is pending, as our own mostly is; and it refuses to merge one. Both are remembered.

const (
	// strictKept is how long a base counts as strict after GitHub last showed it. A base that is strict no more costs
	// updates that were not needed until then; one that is forgotten too early costs a refused merge.
	strictKept = 24 * time.Hour
)

// noteStrict notes that GitHub showed a base to be strict.
func (f *Forge) noteStrict(repo plan.Repo, base plan.Branch) {
	keptStrict.put(f.memory.of(repo), base, f.now().Add(strictKept))
}

// provedStrict reports whether GitHub has shown a base to be strict.
func (f *Forge) provedStrict(repo plan.Repo, base plan.Branch) bool {
	until, ok := keptStrict.get(f.memory.of(repo), base)
	return ok && f.now().Before(until)
}
