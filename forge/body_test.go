package forge

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/plan"
)

// What a description says is read with the details: at once when it is new, with the next look after it was written anew, and at no request of its own.
// A description that an answer does not show holds.
func TestNotBeforeIsRead(t *testing.T) {
	h := newHerd(t, 20) // enough for thin looks
	n, err := h.r.OpenPull(standin.NewPull{Head: "later", By: "alice", Body: strings.Repeat("long\n", 10_000) + "Not-before: 2026-12-01",
		Change: &standin.Change{Write: map[string]string{"a.yaml": "a\n"}}})
	h.must(err)
	says := func(what string, most int, want plan.NotBefore) {
		t.Helper()
		s, requests, _ := h.pass(time.Minute)
		if got := h.pull(s, n).NotBefore; got != want || requests > most {
			t.Errorf("%s: %q by %d requests, want %q by %d", what, got, requests, want, most)
		}
	}
	says("new", 2, "2026-12-01")
	says("a minute later", 1, "2026-12-01")
	h.must(h.r.Describe(n, "alice", "Not-before: soon"))
	says("written anew, and no webhook came", 2, "soon")
	h.must(h.r.Describe(n, "alice", "whenever you like"))
	says("taken back", 2, "")

	unread := rawPull{}
	if unread.notBefore() == "" {
		t.Error("details without a description hold nothing")
	}
	if thin := (&rawPull{thin: true}); thin.notBefore() != "" {
		t.Error("what is shown without its details holds as if its description could not be read")
	}
}
