package reconcile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

func TestWords(t *testing.T) {
	got := strings.Join(append(wordsOfHealth(health{
		store: fmt.Errorf("keep plan of acme/fleet: %w: 13", store.ErrFull),
		list:  lag{why: "no answer: dial tcp ghe.internal:443", kind: "GitHub does not answer"},
		skew:  61*time.Minute + 400*time.Millisecond,
	}), wordVoid, wordLate, wordStopped, wordGone, wordBroken, wordOlder, wordLeft,
		wordOfMove(plan.Move{Branch: "rw/a", Old: "aaaaaaaaaa", New: "bbbbbbbbbb"}), wordOfMove(plan.Move{Branch: "rw/a", New: "bbbbbbbbbb"}),
		wordOfMove(plan.Move{Branch: "rw/a", New: "bbbbbbbbbb", Restores: true}), wordOfMany(3, wordLate),
		because("GitHub refused the merge", "2 reviews are missing"), because("GitHub refused:", "no"), because("", "no")), "\n")
	const want = `starting: repositories not listed yet: GitHub does not answer
database error: the database's disk is full
the clock is 1h1m0s ahead of GitHub's; nothing is released
superseded by a newer event; reconciling again
the deadline passed; reconciling again
the service is stopping; the next start continues
the repository is not accessible to the App
internal error in sluice; reconciling again
GitHub does not show its latest change yet
skipped: another move failed; reconciling again
rw/a moved from aaaaaaa to bbbbbbb
rw/a created at bbbbbbb
rw/a restored at bbbbbbb, where it was last seen
3 branches: the deadline passed; reconciling again
GitHub refused the merge: 2 reviews are missing
GitHub refused: no
no`
	if got != want {
		t.Errorf("words:\n%s\nwant:\n%s", got, want)
	}
	if all := wordsOfHealth(health{started: true, skew: plan.MaxSkew}); all != nil {
		t.Errorf("a healthy service says %q", all)
	}
	notes := plan.Plan{Notes: []plan.Note{{About: "main", Says: "not enforced"}}}
	if w := warnings(notes); len(w) != 1 || w[0] != "main: not enforced" {
		t.Errorf("warnings: %q", w)
	}
}
