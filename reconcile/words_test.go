package reconcile

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

func TestWords(t *testing.T) {
	got := strings.Join(append(wordsOfHealth(health{
		store: fmt.Errorf("keep plan of acme/fleet: %w: 13", store.ErrFull), unauthorized: true,
		list: lag{why: "no answer: dial tcp ghe.internal:443", kind: "GitHub does not answer"},
		skew: 61*time.Minute + 400*time.Millisecond,
	}), wordVoid, wordLate, wordOld, wordSpent, wordStopped, wordGone, wordBroken, wordLeft, wordTogether+"no",
		wordOfMove(plan.Move{Branch: "rw/a", Old: "aaaaaaaaaa", New: "bbbbbbbbbb"}), wordOfMove(plan.Move{Branch: "rw/a", New: "bbbbbbbbbb"}),
		wordOfMove(plan.Move{Branch: "rw/a", New: "bbbbbbbbbb", Restores: true}), wordOfMany(3, wordLate),
		because("GitHub refused the merge", "2 reviews are missing"), because("GitHub refused:", "no"), because("", "no")), "\n")
	const want = `starting: the repositories were not listed yet: GitHub does not answer
the store fails: the disk of the database is full
GitHub does not accept the App: are its id and its private key right?
the clock is 1h1m0s ahead of GitHub's; nothing is released
the repository changed meanwhile; looking again
the time for it ran out; looking again
time changed what is to be done; looking again
GitHub's hourly budget of requests is nearly spent; merging again when it is renewed
the service is stopping; the next start looks again
GitHub does not show the repository to us
an error in sluice; looking again
another move failed first; looking again
refused with others: no
rw/a moved from aaaaaaa to bbbbbbb
rw/a made at bbbbbbb
rw/a put back at bbbbbbb, where it was last seen
3 branches: the time for it ran out; looking again
GitHub refused the merge: 2 reviews are missing
GitHub refused: no
no`
	if got != want {
		t.Errorf("words:\n%s\nwant:\n%s", got, want)
	}
	if all := wordsOfHealth(health{started: true, skew: plan.MaxSkew}); all != nil {
		t.Errorf("a healthy service says %q", all)
	}
	notes := plan.Plan{Notes: []plan.Step{{About: "main", Says: "not enforced"}}}
	if w := warnings(notes); len(w) != 1 || w[0] != "main: not enforced" {
		t.Errorf("warnings: %q", w)
	}
}

func TestADescriptionFitsGitHub(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("ä", 140), strings.Repeat("ä", 141), strings.Repeat("a b\n", 99), "bad \xff\xfe bytes\r\n\tand lines"} {
		got := brief(text)
		if n := utf8.RuneCountInString(got); n > 140 || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\t") {
			t.Errorf("brief(%q) = %q, %d characters", text, got, n)
		}
		if len([]rune(text)) <= 140 && utf8.ValidString(text) && !strings.Contains(text, "\n") && got != text {
			t.Errorf("brief(%q) = %q", text, got)
		}
	}
}
