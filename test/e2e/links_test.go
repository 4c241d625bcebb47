package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
)

// target is where the latest status under a context links to, and how many there are.
func (w *world) target(sha, context string) (url string, statuses int) {
	for _, s := range w.repo.Statuses(sha) { // the latest first
		if s.Context == context {
			if statuses++; statuses == 1 {
				url = s.TargetURL
			}
		}
	}
	return url, statuses
}

// linksTo sees that the latest status under a context links to a line of the rules as they stand at a commit, whose text begins like that.
func (w *world) linksTo(sha, context, at, text string) {
	w.t.Helper()
	url, _ := w.target(sha, context)
	var line int
	if _, err := fmt.Sscanf(strings.TrimPrefix(url, w.url+"/acme/fleet/blob/"+at+"/.github/sluice.yaml"), "#L%d", &line); err != nil {
		w.t.Errorf("%s links to %q, want the rules at %s", context, url, at)
		return
	}
	lines := strings.Split(w.git("show", at+":.github/sluice.yaml"), "\n")
	if line < 1 || line > len(lines) || !strings.HasPrefix(strings.TrimSpace(lines[line-1]), text) {
		w.t.Errorf("%s links to line %d, want the one with %q of\n%s", context, line, text, strings.Join(lines, "\n"))
	}
}

// TestStatusLinks: a status links to the line of the rules that it rests on, and with public_url to its pull request on the page. No status is
// written anew for the sake of its link: not when the base moves, nor when public_url is set.
func TestStatusLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	p := w.serve()
	first := w.open("first", "apps/a-rw/x")
	w.hasStatus(first, "pending: held by w")
	before := w.tip("main")
	w.linksTo(w.pull(first).HeadSHA, "sluice/main", before, "w:")

	group, err := w.repo.Enqueue(first, "alice")
	w.must(err)
	w.eventually("the group has its answer", func() bool { _, n := w.target(group.Head, "sluice/main"); return n > 0 })
	w.linksTo(group.Head, "sluice/main", before, "w:")
	w.must(w.repo.Dequeue(group, "dequeued"))

	broken := w.open("broken", ".github/sluice.yaml")
	w.hasStatus(broken, "failure: ")
	w.linksTo(w.pull(broken).HeadSHA, "sluice/main", w.pull(broken).HeadSHA, "broken")

	_, was := w.target(w.pull(first).HeadSHA, "sluice/main")
	tip := w.push("main", "README.md")
	w.must(w.github.Settle(t.Context())) // the next pull request is not known before the push is
	second := w.open("second", "apps/b-rw/x")
	w.hasStatus(second, "pending: held by w")
	w.linksTo(w.pull(second).HeadSHA, "sluice/main", tip, "w:")

	p.stop(syscall.SIGTERM)
	p = w.serve("SLUICE_PUBLIC_URL=https://sluice.example.com/page")
	third := w.open("third", "apps/c-rw/x")
	w.hasStatus(third, "pending: held by w")
	place := fmt.Sprintf("acme/fleet/pull/%d", third)
	if url, _ := w.target(w.pull(third).HeadSHA, "sluice/main"); url != "https://sluice.example.com/page/"+place {
		t.Errorf("with public_url it links to %q", url)
	}
	p.stop(syscall.SIGTERM)
	p = w.serve()
	w.eventually("that is its page", func() bool {
		_, body := get(t, strings.TrimSuffix(p.page, "/")+"/"+place)
		return strings.Contains(body, "held by w until")
	})
	if _, now := w.target(w.pull(first).HeadSHA, "sluice/main"); now != was {
		t.Errorf("a status was written %d times anew", now-was)
	}
}

// TestBranchStatusLinks: the sum of windowed branches links to the entry of the first that waits, and what lets one move to its own.
func TestBranchStatusLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fleet{
		windows: map[string]string{"w1": openForYears, "w2": shutForYears},
		entries: []entry{{name: "rw/a", window: "w1"}, {name: "rw/b", window: "w2"}},
	}.String())
	before := w.tip("main")
	w.plant(before, "rw/a", "rw/b")
	w.repo.Protect("rw/a", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/promote/rw/a", App: app}}})
	w.serve()
	tip := w.push("main", "apps/a-rw/x")
	w.reach(tip, "rw/a")
	w.linksTo(tip, "sluice/promote/rw/a", tip, "- {name: rw/a")
	w.summed(tip, "pending: 1 branch waits; next: rw/b on "+openDay)
	w.linksTo(tip, summary, tip, "- {name: rw/b")
}
