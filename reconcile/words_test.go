package reconcile

import (
	"strings"
	"testing"

	"github.com/sluicegate/sluice/plan"
)

func TestWords(t *testing.T) {
	got := strings.Join([]string{wordVoid, wordLate, wordStopped, wordBroken, wordOlder, wordLeft,
		wordOfMove(plan.Move{Branch: "rw/a", Old: "aaaaaaaaaa", New: "bbbbbbbbbb"}), wordOfMove(plan.Move{Branch: "rw/a", New: "bbbbbbbbbb"}),
		wordOfMove(plan.Move{Branch: "rw/a", New: "bbbbbbbbbb", Restores: true}), wordOfMany(3, wordLate),
		because("GitHub refused the merge", "2 reviews are missing"), because("GitHub refused:", "no"), because("", "no")}, "\n")
	const want = `superseded by a newer event; reconciling again
the deadline passed; reconciling again
the service is stopping; the next start continues
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
	notes := plan.Plan{Notes: []plan.Note{{About: "main", Says: "not enforced"}}}
	if w := warnings(notes); len(w) != 1 || w[0] != "main: not enforced" {
		t.Errorf("warnings: %q", w)
	}
}
