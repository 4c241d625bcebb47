package api_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/internal/standin"
)

// The way of a pull request: opened, looked at, given a status, merged, told of.
func TestMainPath(t *testing.T) {
	w := newWorld(t)
	w.events()
	n := w.open("feature", map[string]string{"apps/a.yaml": lines("changed")})
	head := w.pull(n).HeadSHA

	var seen struct {
		Repository struct {
			PullRequests struct {
				Nodes []struct {
					Number                int
					HeadRefOid, Mergeable string
					ChangedFiles          int
					Files                 struct {
						Nodes []struct{ Path, ChangeType string }
					}
				}
			}
		}
	}
	errs := w.query(`{repository(owner:"acme",name:"fleet"){pullRequests(first:10,states:OPEN){nodes{
		number headRefOid mergeable changedFiles files(first:100){nodes{path changeType}}}}}}`, &seen)
	if errs != nil {
		t.Fatal(errs)
	}
	p := seen.Repository.PullRequests.Nodes[0]
	if p.Number != n || p.HeadRefOid != head || p.Mergeable != "UNKNOWN" || p.ChangedFiles != 1 || p.Files.Nodes[0].Path != "apps/a.yaml" {
		t.Errorf("looked at %+v", p)
	}

	status := map[string]string{"state": "success", "context": "sluice/main", "description": "open"}
	w.call(http.StatusCreated, "POST", "/repos/acme/fleet/statuses/"+head, w.token, status, nil)
	var merged struct{ SHA string }
	w.call(http.StatusOK, "PUT", "/repos/acme/fleet/pulls/1/merge", w.token, map[string]string{"sha": head, "merge_method": "merge"}, &merged)
	if tip := w.repo.Tip("main"); tip != merged.SHA {
		t.Errorf("main is at %s, merged as %s", tip, merged.SHA)
	}
	files, err := w.repo.Files("main")
	w.must(err)
	if files["apps/a.yaml"] != lines("changed") {
		t.Errorf("main holds %q", files["apps/a.yaml"])
	}
	if p := w.pull(n); p.Open || !p.Merged || p.MergeSHA != merged.SHA || p.MergedBy.Login != "sluice" {
		t.Errorf("merged: %+v", p)
	}
	want := []string{"push", "pull_request opened", "status", "pull_request closed", "push"}
	if diff := cmp.Diff(want, w.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	st := w.repo.Statuses(head)
	if len(st) != 1 || st[0].By != (standin.Actor{Login: "sluice", App: appID}) {
		t.Errorf("statuses: %+v", st)
	}
	if counts := w.github.Requests(); counts["PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge"] != 1 || counts["POST /graphql"] != 1 {
		t.Errorf("requests: %v", counts)
	}
	if slices.Contains(w.events(), "push") {
		t.Error("a push was told twice")
	}
}
