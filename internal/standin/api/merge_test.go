package api_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/internal/standin"
)

// Every method makes what git itself makes of the same branches in a clone.
func TestMergeMethods(t *testing.T) {
	oracle := map[standin.Method][][]string{
		standin.Merge:  {{"merge", "--no-ff", "-m", "x", "HEAD_OF_PULL"}},
		standin.Squash: {{"merge", "--squash", "HEAD_OF_PULL"}, {"commit", "-m", "x"}},
		standin.Rebase: {{"checkout", "-q", "HEAD_OF_PULL"}, {"rebase", "-q", "main"}, {"checkout", "-q", "-B", "main"}},
	}
	for method, commands := range oracle {
		t.Run(string(method), func(t *testing.T) {
			w := newWorld(t)
			n := w.open("feature", map[string]string{"apps/a.yaml": strings.Replace(lines("a"), "line 2\n", "line two\n", 1)})
			_, err := w.repo.Commit("feature", standin.Change{
				By: "bob", Message: "Second", Move: map[string]string{"apps/b.yaml": "apps/c.yaml"}, Write: map[string]string{"new": "x"},
			})
			w.must(err)
			_, err = w.repo.Commit("main", standin.Change{Write: map[string]string{
				"apps/a.yaml": strings.Replace(lines("a"), "line 17\n", "line seventeen\n", 1), "other": "y",
			}})
			w.must(err)
			before, head := w.repo.Tip("main"), w.pull(n).HeadSHA

			clone := filepath.Join(t.TempDir(), "clone")
			git(t, t.TempDir(), "clone", "-q", w.repo.Dir(), clone)
			git(t, clone, "branch", "HEAD_OF_PULL", head)
			for _, c := range commands {
				git(t, clone, c...)
			}
			want := git(t, clone, "rev-parse", "HEAD^{tree}")

			var merged struct{ SHA string }
			w.call(http.StatusOK, "PUT", "/repos/acme/fleet/pulls/1/merge", w.token, map[string]string{"sha": head, "merge_method": string(method)}, &merged)
			if got := git(t, w.repo.Dir(), "rev-parse", merged.SHA+"^{tree}"); got != want {
				t.Errorf("tree %s, git makes %s:\n%s", got, want, git(t, w.repo.Dir(), "diff", want, got))
			}
			checkShape(t, w, method, before, head)
			git(t, w.repo.Dir(), "fsck", "--strict", "--no-dangling")
		})
	}
}

// checkShape compares the commits that a merge added to main.
func checkShape(t *testing.T, w *world, method standin.Method, before, head string) {
	t.Helper()
	log, err := w.repo.Log("main")
	w.must(err)
	switch method {
	case standin.Merge:
		if diff := cmp.Diff([]string{before, head}, log[0].Parents); diff != "" {
			t.Errorf("parents (-want +got):\n%s", diff)
		}
		if log[0].Message != "Merge pull request #1 from acme/feature\n\nfeature" {
			t.Errorf("message %q", log[0].Message)
		}
	case standin.Squash:
		if diff := cmp.Diff([]string{before}, log[0].Parents); diff != "" {
			t.Errorf("parents (-want +got):\n%s", diff)
		}
		if log[0].Message != "feature (#1)" || log[0].Author.Name != "alice" || log[0].Committer.Name != "GitHub" {
			t.Errorf("commit %+v", log[0])
		}
	case standin.Rebase:
		if log[0].Author.Name != "bob" || log[1].Author.Name != "alice" || log[2].SHA != before {
			t.Errorf("log %+v", log[:3])
		}
	}
}

func TestConflict(t *testing.T) {
	w := newWorld(t)
	w.open("feature", map[string]string{"apps/a.yaml": "mine\n"})
	_, err := w.repo.Commit("main", standin.Change{Write: map[string]string{"apps/a.yaml": "theirs\n"}})
	w.must(err)
	tip := w.repo.Tip("main")
	ask := `{repository(owner:"acme",name:"fleet"){pullRequest(number:1){mergeable mergeStateStatus}}}`
	var seen struct {
		Repository struct {
			PullRequest struct{ Mergeable, MergeStateStatus string }
		}
	}
	for _, want := range []string{"UNKNOWN UNKNOWN", "CONFLICTING DIRTY"} {
		w.query(ask, &seen)
		p := seen.Repository.PullRequest
		if got := p.Mergeable + " " + p.MergeStateStatus; got != want {
			t.Errorf("mergeable: %s, want %s", got, want)
		}
		w.events() // lets the job in the background end
	}
	for _, method := range []string{"merge", "squash", "rebase"} {
		want := "Pull Request is not mergeable"
		w.refused(http.StatusMethodNotAllowed, want, map[string]string{"merge_method": method})
	}
	if w.repo.Tip("main") != tip || !w.pull(1).Open {
		t.Error("a refused merge changed something")
	}
}

// refused wants a merge of pull request 1 to be refused with words.
func (w *world) refused(status int, message string, ask map[string]string) {
	w.t.Helper()
	var a struct{ Message string }
	w.call(status, "PUT", "/repos/acme/fleet/pulls/1/merge", w.token, ask, &a)
	if strings.TrimSpace(a.Message) != strings.TrimSpace(message) {
		w.t.Errorf("refused with %q, want %q", a.Message, message)
	}
}

// A branch whose commits conflict one by one, though not as a whole, merges but does not rebase.
func TestRebaseConflict(t *testing.T) {
	w := newWorld(t)
	w.open("feature", map[string]string{"apps/a.yaml": "for a while\n"})
	_, err := w.repo.Commit("feature", standin.Change{Write: map[string]string{"apps/a.yaml": lines("a"), "new": "x"}})
	w.must(err)
	_, err = w.repo.Commit("main", standin.Change{Write: map[string]string{"apps/a.yaml": strings.Replace(lines("a"), "line 3\n", "line three\n", 1)}})
	w.must(err)
	w.refused(http.StatusMethodNotAllowed, "This branch can't be rebased", map[string]string{"merge_method": "rebase"})
	w.call(http.StatusOK, "PUT", "/repos/acme/fleet/pulls/1/merge", w.token, map[string]string{"merge_method": "squash"}, nil)
}

// Each row is a world in which GitHub refuses, with its status and words.
func TestRefusals(t *testing.T) {
	ours := standin.RequiredCheck{Context: "sluice/main", App: appID}
	rules := func(r standin.Rules) func(*world) { return func(w *world) { w.repo.Protect("main", r) } }
	const violated = "Repository rule violations found\n\n"
	rows := []struct {
		name    string
		setup   func(*world)
		ask     map[string]string
		status  int
		message string
	}{
		{"draft", func(w *world) { w.must(w.repo.MarkDraft(1, "alice")) }, nil, 405, "Pull Request is still a draft"},
		{"closed", func(w *world) { w.must(w.repo.ClosePull(1, "alice")) }, nil, 405, "Pull Request is not mergeable"},
		{"merged", func(w *world) {
			_, err := w.repo.MergePull(1, "acme", standin.Merge)
			w.must(err)
		}, nil, 405, "Pull Request is not mergeable"},
		{"another head", nil, map[string]string{"sha": strings.Repeat("0", 40)}, 409, "Head branch was modified. Review and try the merge again."},
		{"nothing reported", rules(standin.Rules{Checks: []standin.RequiredCheck{ours}}), nil, 405,
			violated + `Required status check "sluice/main" is expected.`},
		{"protection of old", rules(standin.Rules{Classic: true, Checks: []standin.RequiredCheck{ours}}), nil, 405,
			`Required status check "sluice/main" is expected.`},
		{"pending", func(w *world) {
			w.repo.Protect("main", standin.Rules{Classic: true, Checks: []standin.RequiredCheck{ours}})
			w.status(standin.Status{Context: "Sluice/Main", State: "pending", By: standin.Actor{Login: "sluice", App: appID}})
		}, nil, 405, `Required status check "sluice/main" is pending.`},
		{"red", func(w *world) {
			w.repo.Protect("main", standin.Rules{Classic: true, Checks: []standin.RequiredCheck{ours}})
			w.status(standin.Status{Context: "sluice/main", State: "failure", By: standin.Actor{Login: "sluice", App: appID}})
		}, nil, 405, `Required status check "sluice/main" is failing.`},
		{"forged", func(w *world) {
			w.repo.Protect("main", standin.Rules{Classic: true, Checks: []standin.RequiredCheck{ours}})
			w.status(standin.Status{Context: "sluice/main", State: "success", By: standin.Actor{Login: "mallory"}})
		}, nil, 405, `Required status check "sluice/main" is expected.`},
		{"status and check of one name", func(w *world) {
			w.repo.Protect("main", standin.Rules{Classic: true, Checks: []standin.RequiredCheck{{Context: "ci"}}})
			w.status(standin.Status{Context: "ci", State: "success", By: standin.Actor{Login: "ci", App: 9}})
			w.must(w.repo.SetCheck(standin.Check{SHA: w.pull(1).HeadSHA, Name: "ci", Status: "in_progress", App: standin.Actor{Login: "ci", App: 9}}))
		}, nil, 405, `Required status check "ci" is in progress.`},
		{"several", func(w *world) {
			w.repo.Protect("main", standin.Rules{Classic: true, Checks: []standin.RequiredCheck{ours, {Context: "ci"}, {Context: "lint"}}})
			w.status(standin.Status{Context: "lint", State: "success", By: standin.Actor{Login: "ci", App: 9}})
		}, nil, 405, "2 of 3 required status checks are expected."},
		{"several in different states", func(w *world) {
			w.repo.Protect("main", standin.Rules{Classic: true, Checks: []standin.RequiredCheck{ours, {Context: "ci"}, {Context: "lint"}}})
			w.status(standin.Status{Context: "ci", State: "error", By: standin.Actor{Login: "ci", App: 9}})
			w.status(standin.Status{Context: "lint", State: "success", By: standin.Actor{Login: "ci", App: 9}})
		}, nil, 405, "2 of 3 required status checks have not succeeded: 1 expected and 1 failing."},
		{"review", rules(standin.Rules{Reviews: 1}), nil, 405, violated + "At least 1 approving review is required by reviewers with write access."},
		{"review by one who may not write", func(w *world) {
			w.repo.Protect("main", standin.Rules{Reviews: 1})
			w.must(w.repo.Review(1, "passer-by", standin.Approved))
		}, nil, 405, violated + "At least 1 approving review is required by reviewers with write access."},
		{"objection", func(w *world) {
			w.repo.Protect("main", standin.Rules{Reviews: 1})
			w.repo.SetPermission("bob", standin.Write)
			w.must(w.repo.Review(1, "acme", standin.Approved))
			w.must(w.repo.Review(1, "bob", standin.ChangesRequested))
		}, nil, 405, violated + "Changes were requested by a reviewer with write access."},
		{"behind", func(w *world) {
			w.repo.Protect("main", standin.Rules{Strict: true})
			_, err := w.repo.Commit("main", standin.Change{Write: map[string]string{"other": "x"}})
			w.must(err)
		}, nil, 409, "Head branch is out of date. Review and try the merge again."},
		{"queue", rules(standin.Rules{Queue: true}), nil, 405, violated + "Changes must be made through the merge queue"},
		{"restricted", rules(standin.Rules{Restrict: true, Bypass: []string{"promoter"}}), nil, 405, violated + "Cannot update this protected ref."},
		{"no such method", nil, map[string]string{"merge_method": "octopus"}, 422, "Validation Failed"},
		{"base gone", func(w *world) { w.must(w.repo.Push("acme", "main", "")) }, nil, 405, "Pull Request is not mergeable"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			w := newWorld(t)
			w.open("feature", map[string]string{"apps/a.yaml": "new\n"})
			if r.setup != nil {
				r.setup(w)
			}
			tip := w.repo.Tip("main")
			w.refused(r.status, r.message, r.ask)
			if w.repo.Tip("main") != tip {
				t.Error("a refused merge moved main")
			}
		})
	}
}

// What stands in the way can be taken out of it.
func TestRulesFulfilled(t *testing.T) {
	w := newWorld(t)
	w.open("feature", map[string]string{"apps/a.yaml": "new\n"})
	_, err := w.repo.Commit("main", standin.Change{Write: map[string]string{"other": "x"}})
	w.must(err)
	w.repo.SetPermission("bob", standin.Write)
	w.repo.Protect("main", standin.Rules{
		Checks: []standin.RequiredCheck{{Context: "sluice/main", App: appID}, {Context: "ci"}}, Strict: true, Reviews: 1,
	})
	w.call(http.StatusAccepted, "PUT", "/repos/acme/fleet/pulls/1/update-branch", w.token, nil, nil)
	head := w.pull(1).HeadSHA
	status := map[string]string{"state": "success", "context": "sluice/main"}
	w.call(http.StatusCreated, "POST", "/repos/acme/fleet/statuses/"+head, w.token, status, nil)
	w.must(w.repo.SetCheck(standin.Check{SHA: head, Name: "ci", Conclusion: "neutral", App: standin.Actor{Login: "ci", App: 9}}))
	w.must(w.repo.Review(1, "bob", standin.Approved))
	w.call(http.StatusOK, "PUT", "/repos/acme/fleet/pulls/1/merge", w.token, map[string]string{"sha": head}, nil)
}

func (w *world) status(s standin.Status) {
	w.t.Helper()
	s.SHA = w.pull(1).HeadSHA
	w.must(w.repo.SetStatus(s))
}

func TestUpdateBranch(t *testing.T) {
	w := newWorld(t)
	w.open("feature", map[string]string{"apps/a.yaml": "new\n"})
	const path = "/repos/acme/fleet/pulls/1/update-branch"
	w.call(http.StatusUnprocessableEntity, "PUT", path, w.token, nil, nil) // nothing to update
	_, err := w.repo.Commit("main", standin.Change{Write: map[string]string{"other": "x"}})
	w.must(err)
	w.call(http.StatusUnprocessableEntity, "PUT", path, w.token, map[string]string{"expected_head_sha": strings.Repeat("1", 40)}, nil)
	old := w.pull(1).HeadSHA
	w.call(http.StatusAccepted, "PUT", path, w.token, map[string]string{"expected_head_sha": old}, nil)
	p := w.pull(1)
	log, err := w.repo.Log("feature")
	w.must(err)
	if diff := cmp.Diff([]string{old, w.repo.Tip("main")}, log[0].Parents); diff != "" || p.HeadSHA != log[0].SHA {
		t.Errorf("head %s, parents (-want +got):\n%s", p.HeadSHA, diff)
	}
	if log[0].Message != "Merge branch 'main' into feature" {
		t.Errorf("message %q", log[0].Message)
	}
	_, err = w.repo.Commit("main", standin.Change{Write: map[string]string{"apps/a.yaml": "conflict\n"}})
	w.must(err)
	w.call(http.StatusUnprocessableEntity, "PUT", path, w.token, nil, nil)
}
