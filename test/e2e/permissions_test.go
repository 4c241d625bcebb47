package e2e

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

const notGranted = "Resource not accessible by integration"

// withheld makes GitHub answer some requests as it does an App that lacks a permission.
func (w *world) withheld(method, path string) {
	w.t.Helper()
	w.github.Fault(api.Fault{Method: method, Path: path, Status: http.StatusForbidden, Body: `{"message":"` + notGranted + `"}`, Times: -1})
}

// withoutWrites are the lines of the table of permissions in docs/install.md for which the App asks GitHub nothing that a test could refuse, each with the reason.
var withoutWrites = map[string]string{
	"Metadata":     "GitHub grants it to every App",
	"Checks":       "they are read with pull requests: forge TestGraphQLErrors has what is refused amid an answer",
	"Merge queues": "it lets GitHub send the event merge_group, no more",
}

// TestPermissionsThatAreNotGranted: each line of the table of permissions in docs/install.md: what an owner has not granted is named, and the rest works.
func TestPermissionsThatAreNotGranted(t *testing.T) {
	t.Parallel()
	live := func(w *world) { // what needs none of it
		w.t.Helper()
		w.merged(w.open("live", "apps/z-rt/x"))
	}
	says := func(w *world, p *process, what string) { // on the page of the repository, or of its first pull request
		w.t.Helper()
		w.eventually("the page says "+what, func() bool {
			at := strings.TrimSuffix(p.page, "/") + "/acme/fleet"
			_, body := get(w.t, at)
			_, first := get(w.t, at+"/pull/1")
			return strings.Contains(body+first, what)
		})
	}
	cases := map[string]func(w *world){
		"Pull requests": func(w *world) {
			w.repo.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}, Strict: true})
			w.withheld(http.MethodPut, "/repos/{owner}/{repo}/pulls/{pull_number}/update-branch")
			w.serve()
			behind := w.openBehind("behind", "apps/a-rt/x")
			w.eventually("its status names it", func() bool { return strings.Contains(w.status(behind), notGranted) })
			live(w)
		},
		"Contents": func(w *world) {
			w.withheld(http.MethodPut, "/repos/{owner}/{repo}/pulls/{pull_number}/merge")
			w.serve()
			n, held := w.open("live", "apps/a-rt/x"), w.open("held", "apps/a-rw/x")
			w.eventually("its status names it", func() bool {
				return strings.Contains(w.status(n), "pending: ") && strings.Contains(w.status(n), notGranted)
			})
			w.hasStatus(held, "pending: held by w")
		},
		"Commit statuses": func(w *world) {
			w.withheld(http.MethodPost, "/repos/{owner}/{repo}/statuses/{sha}")
			p := w.serve()
			w.open("held", "apps/a-rw/x")
			says(w, p, notGranted)
			says(w, p, "held by w until ")
		},
		"Issues": func(w *world) {
			w.write(rules(shutForYears) + byAlice)
			w.withheld(http.MethodGet, "/repos/{owner}/{repo}/issues/comments")
			p := w.serve()
			n := w.open("held", "apps/a-rw/x")
			w.hasStatus(n, "pending: held by w")
			says(w, p, "cannot read comments, so nobody can release what is closed: the App needs Issues: read")
			live(w)
			w.stillHeld(n)
		},
		"Members": func(w *world) {
			w.write(rules(shutForYears) + byAlice)
			w.github.SetTeam("acme/sre", []string{"sam"}, nil)
			w.repo.SetPermission("sam", standin.Write)
			w.withheld(http.MethodGet, "/orgs/{org}/teams/{team_slug}/memberships/{username}")
			p := w.serve()
			n := w.open("held", "apps/a-rw/x")
			line := w.releaseLine(n, "now")
			w.noticed(n)
			w.says(n, "sam", line)
			says(w, p, "it could not be found out whether they may")
			live(w)
			w.stillHeld(n)
			w.says(n, "alice", line)
			w.merged(n)
		},
		"Workflows": func(w *world) {
			w.write(following(openForYears, "rw/a"))
			start := w.tip("main")
			w.plant(start, "rw/a")
			w.github.Fault(api.Fault{Path: "/graphql", Contains: "updateRefs", Times: -1, Errors: []api.GraphQLError{{Type: "FORBIDDEN", Message: notGranted}}})
			w.serve()
			w.summed(w.push("main", "apps/a-rw/x"), "failure: ")
			if got := w.planned(1)["rw/a"]; !strings.Contains(got.Reason, notGranted) {
				w.t.Errorf("%+v", got)
			}
			live(w)
			w.stand(start, "rw/a")
		},
	}
	page, err := os.ReadFile("../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)\| permission \|.*?\n\n`).FindString(string(page))
	var lines []string
	for _, m := range regexp.MustCompile(`(?m)^ *\| ([A-Z][a-z ]+)`).FindAllStringSubmatch(table, -1) {
		lines = append(lines, strings.TrimSuffix(strings.TrimSpace(m[1]), " "))
	}
	for _, line := range lines {
		if withoutWrites[line] == "" && cases[line] == nil {
			t.Errorf("no case for %q", line)
		}
	}
	for name, tried := range cases {
		if !slices.Contains(lines, name) {
			t.Errorf("the table has no line %q: %q", name, lines)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tried(newWorld(t, rules(shutForYears)))
		})
	}
}

// openBehind opens a pull request from a commit before the tip of main.
func (w *world) openBehind(head, path string) int {
	w.t.Helper()
	before := w.tip("main")
	w.push("main", "apps/before-rt/x")
	n, err := w.repo.OpenPull(standin.NewPull{By: "alice", Head: head, Change: &standin.Change{From: before, Write: map[string]string{path: "x\n"}}})
	w.must(err)
	return n
}
