package forge

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// FuzzAnswers feeds a look with whatever GitHub might say. It never panics, every failure has a kind, and nothing that is
// not proved whole is called whole.
func FuzzAnswers(f *testing.F) {
	renamed := withFiles(pullPart(2), "new", "RENAMED", "b", "DELETED")
	rules := withFiles(pullPart(3), config.File, "MODIFIED")
	checked := pullPart(4)
	checked["statusCheckRollup"] = rollup(false, statusPart("sluice/main", "SUCCESS", "Bot", "sluice"), runPart("a", "COMPLETED", "SUCCESS", 5, "00"))
	paged := pullPart(5)
	paged["statusCheckRollup"] = rollup(true)
	whole := repoAnswer(repoPart(pullPart(1), renamed, rules, checked, paged)).body
	var history []any
	for i := range 4 {
		history = append(history, linkPart(tipSHA+i, tipSHA+i+1, "x"))
	}
	windowed := repoPart()
	source := sourcePart("all", []string{"a", "b"}, history...)
	source["target"].(obj)["recent"] = connectionPart(false, judgedPart(true,
		[]any{becamePart(9, 11, tipSHA, "main")}, statusPart("sluice/promote/a", "SUCCESS", "User", "x"), runPart("a", "COMPLETED", "SUCCESS", 5, "00")))
	windowed["defaultBranchRef"] = source
	branches := repoAnswer(obj{
		"t0": tipPart("a", tipSHA+2, statusPart("kustomization/a/b", "FAILURE", "User", "flux")), "t1": tipPart("b", 7), "b0": source,
		"names": connectionPart(true, obj{"name": "A"}), "h0": obj{"oid": sha(tipSHA), "history": connectionPart(true, history...)},
		"c0": judgedPart(false, nil), "s0": obj{"oid": sha(7), "status": nil}, "object": judgedPart(true, nil),
	}).body
	f.Add(repoAnswer(windowed).body, `{"status":"ahead"}`, `[]`, branches)
	f.Add(repoAnswer(windowed).body, `{"status":"diverged"}`, `[]`, strings.ReplaceAll(branches, `"oid":`, `"o":`))
	f.Add(repoAnswer(windowed).body, ``, `[]`, strings.ReplaceAll(branches, `"target":`, `"t":`))
	rest := `[{"filename":"new","status":"renamed","previous_filename":"old"},{"filename":"b","status":"removed"}]`
	f.Add(whole, rest, `[{"type":"merge_queue"}]`, `{}`)
	f.Add(strings.ReplaceAll(whole, `"OPEN"`, `null`), rest, `null`, `{}`)
	f.Add(strings.ReplaceAll(whole, `{"oid":`, `{"o":`), `null`, `{}`, `{}`)
	f.Add(`{"data":{"repository":{}},"errors":[{"type":"FORBIDDEN"}]}`, ``, ``, `{}`)
	f.Fuzz(func(t *testing.T, look, files, rulesets, branches string) {
		hub := &fake{t: t}
		hub.say = func(r *http.Request, body string) answerOf {
			switch {
			case operation(body) == "look" && variables(body)["after"] == nil:
				return answerOf{code: 200, body: look}
			case operation(body) == "branches", operation(body) == "contexts", operation(body) == "move":
				return answerOf{code: 200, body: branches}
			case strings.Contains(r.URL.Path, "/compare/"):
				return answerOf{code: 200, body: files}
			case r.URL.Path == "/graphql":
				return answerOf{code: 200, body: `{"data":{"repository":{"pullRequests":{"nodes":[],"pageInfo":{}}}}}`}
			case strings.HasSuffix(r.URL.Path, "/files"):
				return answerOf{code: 200, body: files}
			case strings.Contains(r.URL.Path, "/rules/branches/"):
				return answerOf{code: 200, body: rulesets}
			case isToken(r), r.URL.Path == "/app":
				return answerOf{}
			}
			return answerOf{code: 404, body: files}
		}
		forge := hub.forge(nil)
		move := []plan.Move{{Branch: "a", New: plan.SHA(sha(1))}}
		if err := forge.MoveBranches(context.Background(), testRepo, move); err == nil && !strings.Contains(branches, "updateRefs") {
			t.Fatalf("moved, says %q", branches)
		}
		if each, err := forge.MoveEach(context.Background(), testRepo, move); err == nil && (len(each) != 1 || each[0] == nil && !strings.Contains(branches, "m0")) {
			t.Fatalf("moved by itself, says %q", branches)
		}
		s, err := forge.Observe(context.Background(), testRepo, Ask{})
		if err != nil {
			var e *client.Error
			if !errors.As(err, &e) {
				t.Fatalf("an error without a kind: %v", err)
			}
			return
		}
		checkWhole(t, s, look)
		checkBranches(t, s)
		if again, err := forge.Observe(context.Background(), testRepo, Ask{}); err == nil {
			checkBranches(t, again) // with what was remembered
		}
	})
}

// checkBranches holds what is said of windowed branches against itself.
func checkBranches(t *testing.T, s plan.Snapshot) {
	t.Helper()
	policy := s.Bases[s.Default].Policy
	if policy == nil && (s.Branches != nil || s.Sources != nil) || policy != nil && len(s.Branches) != len(policy.Branches) {
		t.Fatalf("branches out of nothing: %+v", s.Branches)
	}
	for i, b := range s.Branches {
		source, ok := s.Sources[plan.Branch(policy.Branches[i].From)]
		if b.Unread.Is() && b.Relation != plan.RelationUnknown {
			t.Fatalf("unknown, and yet: %+v", b)
		}
		if b.Unread.Is() || !ok && b.Relation != plan.Level && b.Relation != plan.Behind {
			continue
		}
		if !ok || b.Reach < 0 || b.Reach > len(source.Line) || (b.Tip == "") != (b.Relation == plan.Absent) {
			t.Fatalf("%+v of %+v", b, source)
		}
		if b.Relation != plan.Behind && b.Reach != 0 || b.Relation == plan.Level && b.Tip != source.Tip && b.Tip == "" {
			t.Fatalf("%+v of %+v", b, source)
		}
		if b.CaseConflict == b.Name || b.CaseConflict != "" && !strings.EqualFold(string(b.CaseConflict), string(b.Name)) {
			t.Fatalf("no twin: %+v", b)
		}
	}
	for name, source := range s.Sources {
		if (source.Tip == "") != (len(source.Line) == 0) || len(source.Line) > maxLine || source.Tip != "" && source.Line[0].SHA != source.Tip {
			t.Fatalf("the line of %s: %+v", name, source)
		}
		for _, c := range source.Line {
			if !c.Read && (c.Checks != nil || c.ChecksAll || c.Head != nil || c.Ours != nil) {
				t.Fatalf("judged unread: %+v", c)
			}
			for _, check := range c.Checks {
				if check.Context.Ours() && check.App == 0 {
					t.Fatalf("ours among the checks: %+v", c)
				}
			}
		}
	}
}

// checkWhole holds a snapshot against the answer it was made of.
func checkWhole(t *testing.T, s plan.Snapshot, body string) {
	t.Helper()
	var answer struct {
		Data struct {
			Repository struct{ PullRequests look.Connection[*rawPull] }
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("a snapshot out of %q", body)
	}
	raws := map[int]*rawPull{}
	for _, p := range answer.Data.Repository.PullRequests.Nodes {
		if p != nil {
			raws[p.Number] = p
		}
	}
	for _, p := range s.Pulls {
		raw := raws[p.Number]
		if raw == nil || string(p.Head) != raw.HeadRefOid || p.Head == "" {
			t.Fatalf("a pull request out of nothing: %+v", p)
		}
		if _, ok := s.Bases[p.Base]; !ok {
			t.Fatalf("no base for %+v", p)
		}
		if p.SameRepo && (raw.IsCrossRepository || raw.HeadRepository == nil) {
			t.Fatalf("a fork passes for the same repository: %+v", p)
		}
		if p.Complete && (len(p.Files) != raw.ChangedFiles || !look.Distinct(p.Files) || look.RenamesWithoutOld(p.Files)) {
			t.Fatalf("incomplete: %+v", p)
		}
		if r := raw.StatusCheckRollup; p.ChecksAll && r != nil && r.Contexts.PageInfo.HasNextPage {
			t.Fatalf("not all checks: %+v", p)
		}
	}
}
