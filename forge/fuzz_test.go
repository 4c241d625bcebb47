package forge

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
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
	whole := said(repoPart(pullPart(1), renamed, rules, checked, paged)).body
	rest := `[{"filename":"new","status":"renamed","previous_filename":"old"},{"filename":"b","status":"removed"}]`
	f.Add(whole, rest, `[{"type":"merge_queue"}]`)
	f.Add(strings.ReplaceAll(whole, `"OPEN"`, `null`), rest, `null`)
	f.Add(strings.ReplaceAll(whole, `{"oid":`, `{"o":`), `null`, `{}`)
	f.Add(`{"data":{"repository":{}},"errors":[{"type":"FORBIDDEN"}]}`, ``, ``)
	f.Fuzz(func(t *testing.T, look, files, rulesets string) {
		hub := &fake{t: t}
		hub.say = func(r *http.Request, body string) answerOf {
			switch {
			case operation(body) == "look" && variables(body)["after"] == nil:
				return answerOf{code: 200, body: look}
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
		addresses, err := locate("", "")
		if err != nil {
			t.Fatal(err)
		}
		forge := unsigned(Options{AppID: appID, Transport: hub}, addresses)
		forge.us, forge.clients[install] = "sluice", forge.clientOver(forge.wire)
		s, err := forge.Observe(context.Background(), testRepo, Ask{})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("an error without a kind: %v", err)
			}
			return
		}
		checkWhole(t, s, look)
	})
}

// checkWhole holds a snapshot against the answer it was made of.
func checkWhole(t *testing.T, s plan.Snapshot, look string) {
	t.Helper()
	var answer struct {
		Data struct{ Repository rawRepo }
	}
	if err := json.Unmarshal([]byte(look), &answer); err != nil {
		t.Fatalf("a snapshot out of %q", look)
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
		if p.Complete && (len(p.Files) != raw.ChangedFiles || !distinct(p.Files) || renamesWithoutOld(p.Files)) {
			t.Fatalf("incomplete: %+v", p)
		}
		if r := raw.StatusCheckRollup; p.ChecksAll && r != nil && r.Contexts.PageInfo.HasNextPage {
			t.Fatalf("not all checks: %+v", p)
		}
	}
}
