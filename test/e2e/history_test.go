package e2e

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// TestHistoryOfTheNight: what people and the service did in a night stands in the history with who and why, in the order in which it happened, for the
// command and the page: a release by comment, a change of the rules by a pull request, a push past the service, a freeze, and what the service did by each.
func TestHistoryOfTheNight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears)+byAlice)
	p := w.serve(noResync)
	n, waiting := w.open("fix", "apps/a-rw/x"), w.open("waiting", "apps/b-rw/x")
	line := w.releaseLine(n, "the shop is down")
	w.hasStatus(waiting, "pending: held by w")
	w.noticed(n)
	w.says(n, "alice", line)
	w.merged(n)

	opening := opening{from: time.Now().Add(-time.Hour).Truncate(time.Second)}
	opening.until = opening.from.Add(48 * time.Hour)
	change, err := w.repo.OpenPull(standin.NewPull{By: "bob", Head: "open", Change: &standin.Change{Write: map[string]string{".github/sluice.yaml": rules(dates(time.Minute, opening)) + byAlice}}})
	w.must(err)
	w.hasStatus(change, "success: changes the rules")
	_, err = w.repo.Merge(change, standin.MergeOrder{By: standin.Person("alice")})
	w.must(err)
	w.merged(waiting)
	says, code := w.by("alice", "freeze", "--now", "the database is down", "acme/fleet")
	if code != 0 {
		t.Fatal(says)
	}
	has := func(what string) {
		t.Helper()
		w.eventually("the history has "+what, func() bool {
			says, _, code = w.run("history", "acme/fleet")
			return code == 0 && strings.Contains(says, what)
		})
	}
	has(" freeze sluice/freeze ")
	w.commit("main", standin.Change{By: "eve", Write: map[string]string{"apps/c-rw/x": "by hand\n"}})
	has(" outside-sluice ")
	if says, code := w.by("alice", "freeze", "--end", "acme/fleet"); code != 0 {
		t.Fatal(says)
	}

	want := []string{
		`@alice release #N \S{7}: the shop is down`,
		`sluice merge #N main \S{7}: released by alice until .*: the shop is down`,
		`@bob rules #CHANGE main \S{7}: opened w until .*`,
		`sluice merge #WAITING main \S{7}: .*`,
		`@alice freeze sluice/freeze \S{7}: sluice/freeze: the database is down`,
		`@?eve outside-sluice main \S{7}: .* reached main outside sluice on .* while w was closed: apps/c-rw/x`,
		`somebody unfreeze sluice/freeze: .*`,
	}
	has(" unfreeze ")
	rest := says
	for _, one := range want {
		one = strings.NewReplacer("#N", "#"+strconv.Itoa(n), "#CHANGE", "#"+strconv.Itoa(change), "#WAITING", "#"+strconv.Itoa(waiting)).Replace(one)
		at := regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ ` + one + `$`).FindStringIndex(rest)
		if at == nil {
			t.Errorf("there is no %q in\n%s", one, rest)
			continue
		}
		rest = rest[at[1]:]
	}
	if _, body := get(t, p.page); !strings.Contains(body, `<ul class="windows"`) || !strings.Contains(body, `role="img" aria-label="open `) {
		t.Errorf("the page shows no windows: %s", body)
	}
	if _, body := get(t, strings.TrimSuffix(p.page, "/")+"/acme/fleet/pull/"+strconv.Itoa(n)); !strings.Contains(body, "What was done") || !strings.Contains(body, "@alice") {
		t.Errorf("the page of #%d has\n%s", n, body)
	}
	if _, body := get(t, strings.TrimSuffix(p.page, "/")+"/history?repo=acme/fleet"); !strings.Contains(body, "the database is down") || !strings.Contains(body, "@bob") {
		t.Errorf("the page has\n%s", body)
	}
	if out, _, code := w.run("history", "--export", "--since", "1h"); code != 0 || strings.Count(out, "\n") < len(want) || !strings.Contains(out, `"by":"@alice","act":"release"`) {
		t.Errorf("exported with code %d:\n%s", code, out)
	}
}

// TestNotBefore: a line in the description holds what is live, from when it is opened until that is over, or somebody takes the line back.
func TestNotBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.serve(noResync)
	later := func(head, body string) int {
		n, err := w.repo.OpenPull(standin.NewPull{By: "alice", Head: head, Body: body, Change: &standin.Change{Write: map[string]string{"apps/" + head + "-rt/x": "x\n"}}})
		w.must(err)
		return n
	}
	soon, unreadable := later("soon", "Not-before: 2030-01-01"), later("never", "Not-before: some day")
	w.hasStatus(soon, "pending: held by Not-before in its description until Tue 1 Jan 2030 00:00 UTC")
	w.hasStatus(unreadable, `pending: held: cannot read "Not-before: some day"`)
	at := time.Now().UTC().Add(5 * time.Second).Truncate(time.Second)
	w.must(w.repo.Describe(soon, "alice", "Not-before: "+at.Format(time.RFC3339)))
	w.merged(soon)
	if merged := w.pull(soon).ClosedAt; merged.Before(at) {
		t.Errorf("merged at %s, before %s", merged, at)
	}
	w.must(w.repo.Describe(unreadable, "alice", "as soon as you like"))
	w.merged(unreadable)
}
