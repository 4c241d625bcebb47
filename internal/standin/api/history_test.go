package api_test

import (
	"fmt"

	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/internal/standin"
)

// history is a page of Commit.history.
type history struct {
	Repository struct {
		Object struct {
			History struct {
				Nodes []struct {
					OID, CommittedDate, MessageHeadline string
					Parents                             struct {
						TotalCount int
						Nodes      []struct{ OID string }
					}
				}
			}
		}
	}
}

func (w *world) history(rev, args string) history {
	w.t.Helper()
	var h history
	errs := w.query(fmt.Sprintf(`{repository(owner:"acme",name:"fleet"){object(expression:%q){... on Commit{history(%s){
		nodes{oid committedDate messageHeadline parents(first:10){totalCount nodes{oid}}}}}}}}`, w.repo.Tip(rev), args), &h)
	if errs != nil {
		w.t.Fatal(errs)
	}
	return h
}

func (h history) oids() []string {
	var list []string
	for _, n := range h.Repository.Object.History.Nodes {
		list = append(list, n.OID)
	}
	return list
}

// busyHistory gives main merges, squashes and commits of two people.
func busyHistory(w *world) {
	w.t.Helper()
	for i, method := range []standin.Method{standin.Merge, standin.Squash, standin.Rebase, standin.Merge} {
		n := w.open(fmt.Sprintf("f%d", i), map[string]string{fmt.Sprintf("apps/f%d", i): "x"})
		w.now.add(time.Minute)
		_, err := w.repo.Commit(fmt.Sprintf("f%d", i), standin.Change{Write: map[string]string{fmt.Sprintf("g%d", i): "x"}, By: "alice"})
		w.must(err)
		w.now.add(time.Minute)
		_, err = w.repo.Commit("main", standin.Change{Write: map[string]string{fmt.Sprintf("m%d", i): "x"}, By: "bob"})
		w.must(err)
		w.now.add(time.Minute)
		_, err = w.repo.MergePull(n, "bob", method)
		w.must(err)
		w.now.add(time.Minute)
	}
}

// A history is what git log lists, merged sides among it.
func TestHistoryIsGitLog(t *testing.T) {
	w := newWorld(t)
	busyHistory(w)
	log := func(args ...string) []string {
		return strings.Fields(git(t, w.repo.Dir(), append([]string{"log", "--format=%H", "main"}, args...)...))
	}
	h := w.history("main", "first:100")
	got := h.oids()
	for _, n := range h.Repository.Object.History.Nodes {
		want := strings.Fields(git(t, w.repo.Dir(), "log", "-1", "--format=%P", n.OID))
		if n.Parents.TotalCount != len(want) || len(want) > 0 && n.Parents.Nodes[0].OID != want[0] {
			t.Errorf("%s has the parents %v, git says %v", n.OID, n.Parents, want)
		}
	}
	if diff := cmp.Diff(log(), got); diff != "" {
		t.Errorf("history (-git +got):\n%s", diff)
	}
	if first := log("--first-parent"); slices.Equal(first, got) {
		t.Error("there is nothing but a line: choose another history")
	}
	for args, want := range map[string][]string{
		"first:2": log()[:2], `first:100,path:"apps"`: log("--", "apps"), `first:100,path:"apps/f0"`: log("--", "apps/f0"), `first:100,path:"no*"`: nil,
	} {
		if diff := cmp.Diff(want, w.history("main", args).oids()); diff != "" || want == nil != strings.Contains(args, "*") {
			t.Errorf("history(%s) (-git +got):\n%s", args, diff)
		}
	}
}

// Headlines are cut as GitHub cuts them: this one is public, with the headline that GitHub gives for it.
func TestHeadline(t *testing.T) {
	w := newWorld(t)
	for message, want := range map[string]string{
		"chore: [CODE-5159] Stop using session/local storage for auth tokens (#5170)...": "chore: [CODE-5159] Stop using session/local storage for auth tokens (…",
		strings.Repeat("ü", 72):            strings.Repeat("ü", 72),
		strings.Repeat("ü", 73):            strings.Repeat("ü", 69) + "…",
		"short\n\n" + lines("with a body"): "short",
	} {
		_, err := w.repo.Commit("main", standin.Change{Message: message, Write: map[string]string{"x": message}})
		w.must(err)
		if got := w.history("main", "first:1").Repository.Object.History.Nodes[0].MessageHeadline; got != want {
			t.Errorf("headline %q, want %q", got, want)
		}
	}
}

// associated asks for the pull requests of each commit, and what was reported on their heads.
func (w *world) associated(rev string) map[string]string {
	w.t.Helper()
	var seen struct {
		Repository struct {
			Object struct {
				History struct {
					Nodes []struct {
						OID                    string
						AssociatedPullRequests struct {
							Nodes []struct {
								Number      int
								Merged      bool
								BaseRefName string
								HeadRefOID  string
								MergeCommit *struct{ OID string }
								Commits     struct {
									Nodes []struct {
										Commit struct {
											OID               string
											StatusCheckRollup *struct{ State string }
										}
									}
								}
							}
						}
					}
				}
			}
		}
	}
	errs := w.query(fmt.Sprintf(`{rateLimit{cost} repository(owner:"acme",name:"fleet"){object(expression:%q){... on Commit{history(first:100){nodes{oid
		associatedPullRequests(first:10){nodes{number merged baseRefName headRefOid mergeCommit{oid}
		commits(last:1){nodes{commit{oid statusCheckRollup{state contexts(first:100){nodes{__typename} pageInfo{hasNextPage endCursor}}}}}}}}}}}}}}`, w.repo.Tip(rev)), &seen)
	if errs != nil {
		w.t.Fatal(errs)
	}
	of := map[string]string{}
	for _, n := range seen.Repository.Object.History.Nodes {
		var says []string
		for _, p := range n.AssociatedPullRequests.Nodes {
			head := p.Commits.Nodes[0].Commit
			if head.OID != p.HeadRefOID {
				w.t.Errorf("the last commit of %d is %s, its head %s", p.Number, head.OID, p.HeadRefOID)
			}
			one := fmt.Sprintf("%d into %s", p.Number, p.BaseRefName)
			if p.Merged {
				one += " as " + short(w, p.MergeCommit.OID)
			}
			if head.StatusCheckRollup != nil {
				one += " " + head.StatusCheckRollup.State
			}
			says = append(says, one)
		}
		of[short(w, n.OID)] = strings.Join(says, ", ")
	}
	return of
}

// short is a commit's headline, for people.
func short(w *world, sha string) string {
	w.t.Helper()
	return strings.TrimSpace(git(w.t, w.repo.Dir(), "log", "-1", "--format=%s", sha))
}

// Whatever the method, what came onto main tells by which pull request; a commit that is not on main tells of open ones.
func TestAssociatedPullRequests(t *testing.T) {
	w := newWorld(t)
	ci := standin.Actor{Login: "ci", App: 9}
	w.must(w.repo.Push("acme", "rw", w.repo.Tip("main")))
	for i, method := range []standin.Method{standin.Merge, standin.Squash, standin.Rebase} {
		name := fmt.Sprintf("f%d", i)
		n := w.open(name, map[string]string{name: "x"})
		_, err := w.repo.Commit(name, standin.Change{Message: "More of " + name, Write: map[string]string{name: "y"}})
		w.must(err)
		w.must(w.repo.SetStatus(standin.Status{SHA: w.repo.Tip(name), Context: "ci", State: "success", By: ci}))
		_, err = w.repo.Commit("main", standin.Change{Message: "Straight " + name, Write: map[string]string{"m" + name: "x"}})
		w.must(err)
		_, err = w.repo.MergePull(n, "bob", method)
		w.must(err)
	}
	n := w.open("indirect", map[string]string{"i": "x"})
	w.must(w.repo.Push("acme", "main", w.pull(n).HeadSHA))
	w.open("waits", map[string]string{"w": "x"})
	w.must(w.repo.ClosePull(w.open("closed", map[string]string{"c": "x"}), "bob"))
	want := map[string]string{
		"Initial commit": "", "Straight f0": "", "Straight f1": "", "Straight f2": "",
		"Change f0": "1 into main as Merge pull request #1 from acme/f0 SUCCESS", "More of f0": "1 into main as Merge pull request #1 from acme/f0 SUCCESS",
		"Merge pull request #1 from acme/f0": "1 into main as Merge pull request #1 from acme/f0 SUCCESS",
		"f1 (#2)":                            "2 into main as f1 (#2) SUCCESS",
		"Change f2":                          "3 into main as More of f2 SUCCESS", "More of f2": "3 into main as More of f2 SUCCESS",
		"Change indirect": "4 into main as Change indirect",
	}
	if diff := cmp.Diff(want, w.associated("main")); diff != "" {
		t.Errorf("main (-want +got):\n%s", diff)
	}
	want["Change waits"] = "5 into main"
	if diff := cmp.Diff(want, w.associated("waits")); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	delete(want, "Change waits")
	if got := w.associated("f1"); got["More of f1"] != "2 into main as f1 (#2) SUCCESS" {
		t.Errorf("a squashed head tells of %q", got["More of f1"])
	}
	want["Change closed"] = ""
	if diff := cmp.Diff(want, w.associated("closed")); diff != "" {
		t.Errorf("closed (-want +got):\n%s", diff)
	}
}

// A thousand branches are looked at in one query, each with what binds us there.
func TestThousandRefs(t *testing.T) {
	w := newWorld(t)
	var query strings.Builder
	tip := w.repo.Tip("main")
	w.repo.Protect("rw/*", standin.Rules{Classic: true, Checks: []standin.RequiredCheck{{Context: "sluice/promote", App: appID}}})
	w.repo.Protect("rw/9*", standin.Rules{Classic: true, Checks: []standin.RequiredCheck{{Context: "ci"}}, Bypass: []string{"sluice"}})
	w.must(w.repo.Push("acme", "rw/7", tip))
	w.must(w.repo.Push("acme", "9", tip))
	for i := range 1000 {
		name := fmt.Sprintf("refs/heads/rw/%d", i)
		if i == 9 {
			name = "refs/heads/9"
		}
		fmt.Fprintf(&query, "b%d: ref(qualifiedName:%q){name target{oid} refUpdateRule{requiredStatusCheckContexts}}\n", i, name)
	}
	var seen struct {
		RateLimit  struct{ Cost int }
		Repository map[string]*struct {
			Name          string
			Target        struct{ OID string }
			RefUpdateRule *struct{ RequiredStatusCheckContexts []string }
		}
	}
	if errs := w.query(`{rateLimit{cost} repository(owner:"acme",name:"fleet"){`+query.String()+`}}`, &seen); errs != nil {
		t.Fatal(errs)
	}
	if len(seen.Repository) != 1000 || seen.RateLimit.Cost != 1 {
		t.Errorf("%d refs for %d points", len(seen.Repository), seen.RateLimit.Cost)
	}
	for alias, ref := range seen.Repository {
		switch {
		case alias == "b7" && (ref == nil || ref.Name != "rw/7" || ref.Target.OID != tip || ref.RefUpdateRule == nil ||
			!slices.Equal(ref.RefUpdateRule.RequiredStatusCheckContexts, []string{"sluice/promote"})):
			t.Errorf("%s: %+v", alias, ref)
		case alias == "b9" && (ref == nil || ref.RefUpdateRule != nil):
			t.Errorf("%s: %+v", alias, ref)
		case alias != "b7" && alias != "b9" && ref != nil:
			t.Errorf("%s is there", alias)
		}
	}
}
