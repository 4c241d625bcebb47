package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/report"
	"github.com/sluicegate/sluice/store"
)

// recorded is a database with what was done in two repositories.
func recorded(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sluice.db")
	s, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the process ends with it
	noon := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	fleet, web := plan.Repo{Owner: "acme", Name: "fleet", ID: 1}, plan.Repo{Owner: "acme", Name: "web", ID: 2}
	for _, n := range []store.News{
		{Fact: plan.Fact{About: "comment 1", State: "release", Verb: "release", By: "@alice", At: noon, Pull: 7, SHA: "3f2a9c1", Reason: "the shop is down\x1b[2J"}},
		{Fact: plan.Fact{About: "commit c", State: plan.DidMergeOutside, Verb: plan.DidMergeOutside, At: noon.Add(-48 * time.Hour), Branch: "main", SHA: "c", Reason: "reached main outside sluice"}},
	} {
		if err := s.Tell(t.Context(), fleet, noon, []store.News{n}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Record(t.Context(), store.Act{Repo: fleet, At: noon.Add(2 * time.Second), Verb: "merge", Pull: 7, Branch: "main", SHA: plan.SHA(strings.Repeat("3f2a9c1e", 5)), Reason: "released by alice", Outcome: store.Done},
		store.Act{Repo: web, At: noon.Add(-time.Second), Verb: "status", Pull: 3, SHA: "e", Reason: "pending: held", Outcome: store.Done},
		store.Act{Repo: web, At: noon, Verb: "move", Branch: "rw/a", SHA: "d", Reason: "protected", Outcome: store.Refused}); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	lineOutside = "2026-11-21 10:00:00Z somebody outside-sluice main c: reached main outside sluice\n"
	lineRelease = "2026-11-23 10:00:00Z @alice release #7 3f2a9c1: the shop is down\uFFFD[2J\n"
	lineMerge   = "2026-11-23 10:00:02Z sluice merge #7 main 3f2a9c1: released by alice\n"
)

// TestHistory: the history of a repository is in the order of time, whoever did what, with what was asked for alone.
func TestHistory(t *testing.T) {
	database := recorded(t)
	t.Setenv("SLUICE_DATABASE", database)
	for call, want := range map[string]string{
		"acme/fleet":                                      lineOutside + lineRelease + lineMerge,
		"ACME/Fleet --since 24h":                          lineRelease + lineMerge,
		"acme/fleet --since 2026-11-23T10:00:01Z":         lineMerge,
		"acme/fleet --since 2026-11-22":                   lineRelease + lineMerge,
		"acme/fleet --branch main":                        lineOutside + lineMerge,
		"acme/fleet --pull 7 --branch main":               lineMerge,
		"acme/fleet --pull 8":                             "",
		"acme/web":                                        "2026-11-23 10:00:00Z sluice move refused rw/a d: protected\n",
		"acme/web --statuses":                             "2026-11-23 09:59:59Z sluice status #3 e: pending: held\n2026-11-23 10:00:00Z sluice move refused rw/a d: protected\n",
		"acme/web --database " + database + " --since 1s": "",
	} {
		stdout, stderr, code := sluice(append([]string{"history"}, strings.Fields(call)...)...)
		if diff := cmp.Diff(want, stdout); diff != "" || stderr != "" || code != 0 {
			t.Errorf("%s: code %d, says %q (-want +got):\n%s", call, code, stderr, diff)
		}
	}
	stdout, _, _ := sluice("history", "acme/web", "--json")
	var v report.History
	if err := json.Unmarshal([]byte(stdout), &v); err != nil || len(v.Acts) != 1 {
		t.Fatalf("%v: %s", err, stdout)
	}
	if diff := cmp.Diff(`{
  "acts": [
    {
      "at": "2026-11-23T10:00:00Z",
      "repository": "acme/web",
      "by": "sluice",
      "act": "move",
      "pull_request": null,
      "branch": "rw/a",
      "sha": "d",
      "outcome": "refused",
      "reason": "protected"
    }
  ]
}
`, stdout); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
	stdout, _, code := sluice("history", "--export")
	if lines := strings.Split(stdout, "\n"); code != 0 || len(lines) != 6 || !strings.Contains(stdout, `"by":null`) || !strings.HasPrefix(lines[0], `{"at":"2026-11-21T10:00:00Z","repository":"acme/fleet"`) {
		t.Errorf("exported with code %d:\n%s", code, stdout)
	}
}

// TestHistoryRefuses: what cannot be asked for says so, and a database is never made.
func TestHistoryRefuses(t *testing.T) {
	t.Setenv("SLUICE_DATABASE", recorded(t))
	none := filepath.Join(t.TempDir(), "none.db")
	for call, want := range map[string]string{
		"":                              "history needs one repository: OWNER/REPO",
		"acme/fleet acme/web":           "history needs one repository: OWNER/REPO",
		"fleet":                         `"fleet": want OWNER/REPO`,
		"acme/never":                    "acme/never: the database",
		"acme/fleet --pull -1":          "--pull -1: want the number of a pull request",
		"acme/fleet --since yesterday":  `--since "yesterday": want 24h`,
		"acme/fleet --json --export":    "none of the others can be",
		"acme/fleet --database " + none: "there is no database yet",
	} {
		stdout, stderr, code := sluice(append([]string{"history"}, strings.Fields(call)...)...)
		if code != 2 || !strings.Contains(stdout+stderr, want) {
			t.Errorf("%s: code %d, prints %q, says %q, want %q", call, code, stdout, stderr, want)
		}
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a database was made")
	}
}

// TestHistoryIsWhole: of more acts than are read at once each is printed once, in the order of time.
func TestHistoryIsWhole(t *testing.T) {
	path := recorded(t)
	t.Setenv("SLUICE_DATABASE", path)
	s, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	const many = 2*historyPage + 7
	news := make([]store.News, many)
	at := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	for i := range news {
		news[i] = store.News{Fact: plan.Fact{At: at.Add(time.Duration(i/3) * time.Second), Verb: plan.DidMerge, Reason: strings.Repeat("x", i%7)}}
	}
	if err := errors.Join(s.Tell(t.Context(), plan.Repo{Owner: "acme", Name: "many", ID: 3}, at, news), s.Close()); err != nil {
		t.Fatal(err)
	}
	stdout, _, _ := sluice("history", "acme/many")
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if len(lines) != many || !slices.IsSortedFunc(lines, func(a, b string) int { return strings.Compare(a[:20], b[:20]) }) {
		t.Errorf("%d lines, want %d in order", len(lines), many)
	}
	stdout, _, _ = sluice("history", "acme/many", "--json")
	var v report.History
	if err := json.Unmarshal([]byte(stdout), &v); err != nil || len(v.Acts) != many {
		t.Errorf("%d acts in JSON, %v", len(v.Acts), err)
	}
}
