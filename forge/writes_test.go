package forge

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

func TestSetStatusCutsTheDescription(t *testing.T) {
	hub := &fake{t: t}
	var sent map[string]string
	hub.say = func(r *http.Request, body string) answerOf {
		if isToken(r) {
			return answerOf{}
		}
		if err := json.Unmarshal([]byte(body), &sent); err != nil {
			t.Fatal(err)
		}
		return answerOf{code: 201, body: wasSet}
	}
	s := pending
	s.Description = strings.Repeat("ö\n", 200)
	if err := hub.forge(nil).SetStatus(context.Background(), testRepo, "abc", s); err != nil {
		t.Fatal(err)
	}
	if got := []rune(sent["description"]); len(got) != plan.MaxReason || strings.Contains(sent["description"], "\n") {
		t.Errorf("%d runes", len(got))
	}
	delete(sent, "description")
	if d := cmp.Diff(map[string]string{"state": "pending", "context": "sluice/main"}, sent); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"POST /repos/acme/fleet/statuses/abc"}, hub.took()); d != "" {
		t.Error(d)
	}
}

// TestMerge: what was merged before us is a merge only if GitHub shows that the head became part of the base that was meant. Whoever may
// edit the pull request may retarget it just before: then the head was merged elsewhere, and our success on it still opens the base. Of
// our own merge the next look sees that.
func TestMerge(t *testing.T) {
	const (
		yes       = `{"merged":true,"merge_commit_sha":"m1","head":{"sha":"head"},"base":{"ref":"main"}}`
		elsewhere = `{"merged":true,"merge_commit_sha":"m1","head":{"sha":"head"},"base":{"ref":"bare"}}`
		other     = `{"merged":true,"merge_commit_sha":"m1","head":{"sha":"pushed"},"base":{"ref":"main"}}`
		no        = `{"merged":false,"head":{"sha":"head"},"base":{"ref":"main"}}`
	)
	for name, tt := range map[string]struct {
		answer answerOf
		now    string // what the pull request says afterwards
		sha    plan.SHA
		kind   client.Kind
		sent   int
	}{
		"merged":                {answerOf{code: 200, body: `{"sha":"m1","merged":true,"message":"ok"}`}, "", "m1", "", 1},
		"empty":                 {answerOf{code: 200}, "", "", client.Transient, 1},
		"base moved":            {answerOf{code: 405, body: `{"message":"Base branch was modified. Review and try the merge again."}`}, "", "", client.Transient, 1},
		"rule":                  {answerOf{code: 405, body: `{"message":"Required status check \"ci\" is expected."}`}, no, "", client.Refused, 2},
		"conflict":              {answerOf{code: 405, body: `{"message":"Pull Request is not mergeable"}`}, no, "", client.Refused, 2},
		"merged before":         {answerOf{code: 405, body: `{"message":"Pull Request is not mergeable"}`}, yes, "m1", client.AlreadyMerged, 2},
		"elsewhere before":      {answerOf{code: 405, body: `{"message":"Pull Request is not mergeable"}`}, elsewhere, "", client.Refused, 2},
		"another head before":   {answerOf{code: 409, body: `{"message":"Head branch was modified."}`}, other, "", client.Refused, 2},
		"head moved":            {answerOf{code: 409, body: `{"message":"Head branch was modified. Review and try the merge again."}`}, no, "", client.Transient, 2},
		"out of date":           {answerOf{code: 409, body: `{"message":"Head branch is out of date. Review and try the merge again."}`}, no, "", client.Refused, 2},
		"merged, branch gone":   {answerOf{code: 409, body: `{"message":"Head branch was modified."}`}, yes, "m1", client.AlreadyMerged, 2},
		"gone":                  {answerOf{code: 404, body: `{"message":"Not Found"}`}, "", "", client.Gone, 1},
		"refused, then a fault": {answerOf{code: 405, body: `{"message":"no"}`}, "<html>", "", client.Refused, 2},
	} {
		t.Run(name, func(t *testing.T) {
			hub := &fake{t: t}
			var sent map[string]string
			hub.say = func(r *http.Request, body string) answerOf {
				switch r.Method + " " + r.URL.Path {
				case "PUT /repos/acme/fleet/pulls/5/merge":
					if err := json.Unmarshal([]byte(body), &sent); err != nil {
						t.Fatal(err)
					}
					return tt.answer
				case "GET /repos/acme/fleet/pulls/5":
					return answerOf{code: 200, body: tt.now}
				}
				return answerOf{}
			}
			sha, err := hub.forge(nil).Merge(context.Background(), testRepo,
				plan.Merge{Pin: plan.Pin{SHA: "head"}, Pull: 5, Base: "main", Method: config.Squash})
			if sha != tt.sha || kindOf(err) != tt.kind || len(hub.took()) != tt.sent {
				t.Errorf("%q, %v", sha, err)
			}
			if d := cmp.Diff(map[string]string{"sha": "head", "merge_method": "squash"}, sent); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	for name, tt := range map[string]struct {
		answer answerOf
		kind   client.Kind
		reason string
	}{
		"accepted": {answerOf{code: 202, body: `{"message":"Updating pull request branch."}`}, "", ""},
		"moved":    {answerOf{code: 422, body: `{"message":"expected head sha didn’t match current head ref."}`}, client.Refused, "expected head sha didn’t match current head ref."},
		"conflict": {answerOf{code: 422, body: `{"message":"merge conflict between base and head"}`}, client.Refused, "merge conflict between base and head"},
		"fork":     {answerOf{code: 403, body: `{"message":"no\nway"}`}, client.Refused, "no way"},
	} {
		t.Run(name, func(t *testing.T) {
			hub := &fake{t: t}
			hub.say = func(r *http.Request, body string) answerOf {
				if isToken(r) {
					return answerOf{}
				}
				if d := cmp.Diff(`{"expected_head_sha":"head"}`, strings.TrimSpace(body)); d != "" {
					t.Error(d)
				}
				return tt.answer
			}
			err := hub.forge(nil).Update(context.Background(), testRepo, plan.Update{Pin: plan.Pin{SHA: "head"}, Pull: 5})
			if kindOf(err) != tt.kind || err != nil && client.Judge(err).Reason != tt.reason {
				t.Errorf("got %v", err)
			}
			if d := cmp.Diff([]string{"PUT /repos/acme/fleet/pulls/5/update-branch"}, hub.took()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestDeleteBranch(t *testing.T) {
	says := func(branch string) answerOf { return answerOf{code: 200, body: branch} }
	there, none := says(`{"name":"renovate/a b","commit":{"sha":"head"},"protected":false}`), says(`[]`)
	for name, tt := range map[string]struct {
		get, pulls, del answerOf
		kind            client.Kind
		sent            int
	}{
		"deleted":     {there, none, answerOf{code: 204}, "", 3},
		"gone":        {answerOf{code: 404, body: `{"message":"Not Found"}`}, none, answerOf{}, "", 1},
		"moved on":    {says(`{"name":"renovate/a b","commit":{"sha":"other"},"protected":false}`), none, answerOf{}, client.Refused, 1},
		"quicker":     {there, none, answerOf{code: 422, body: `{"message":"Reference does not exist"}`}, "", 3},
		"protected":   {says(`{"name":"renovate/a b","commit":{"sha":"head"},"protected":true}`), none, answerOf{}, client.Refused, 1},
		"not said":    {says(`{"name":"renovate/a b","commit":{"sha":"head"}}`), none, answerOf{}, client.Refused, 1},
		"renamed":     {says(`{"name":"kept","commit":{"sha":"head"},"protected":false}`), none, answerOf{}, client.Refused, 1},
		"a base":      {there, says(`[{"number":9}]`), answerOf{}, client.Refused, 2},
		"base fault":  {there, answerOf{code: 500}, answerOf{}, client.Transient, 2},
		"base null":   {there, says(`null`), answerOf{}, client.Transient, 2},
		"no list":     {there, answerOf{code: 404, body: `{"message":"Not Found"}`}, answerOf{}, client.Gone, 2},
		"refused":     {there, none, answerOf{code: 422, body: `{"message":"Cannot delete a protected branch"}`}, client.Refused, 3},
		"fault":       {answerOf{code: 500}, none, answerOf{}, client.Transient, 1},
		"late fault":  {there, none, answerOf{code: 500}, client.Transient, 3},
		"no such SHA": {says(`{}`), none, answerOf{}, client.Refused, 1},
	} {
		t.Run(name, func(t *testing.T) {
			hub := &fake{t: t}
			hub.say = func(r *http.Request, _ string) answerOf {
				switch {
				case isToken(r):
					return answerOf{}
				case r.Method == http.MethodGet && r.URL.EscapedPath() == "/repos/acme/fleet/branches/renovate/a%20b":
					return tt.get
				case r.Method == http.MethodGet && r.URL.Path == "/repos/acme/fleet/pulls" && r.URL.Query().Get("base") == "renovate/a b" &&
					r.URL.Query().Get("state") == "open":
					return tt.pulls
				case r.Method == http.MethodDelete && r.URL.EscapedPath() == "/repos/acme/fleet/git/refs/heads/renovate/a%20b":
					return tt.del
				}
				t.Error(r.Method, r.URL.EscapedPath())
				return answerOf{code: 500}
			}
			err := hub.forge(nil).DeleteBranch(context.Background(), testRepo, "renovate/a b", "head")
			if kindOf(err) != tt.kind || len(hub.took()) != tt.sent {
				t.Errorf("got %v", err)
			}
		})
	}
}

// An archived or disabled repository is gone by its own answer, as it is gone from lists: nothing can be written there.
func TestArchivedIsGone(t *testing.T) {
	for _, field := range []string{"isArchived", "isDisabled"} {
		hub := &fake{t: t}
		hub.say = func(r *http.Request, body string) answerOf {
			part := repoPart(pullPart(1))
			part[field] = true
			return sayRepo(part)(r, body)
		}
		if _, err := hub.forge(nil).Observe(context.Background(), testRepo, Ask{}); kindOf(err) != client.Gone {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestAStatusThatGitHubDoesNotShowIsNotSet: an answer of success without the status is none. Who took it for one would forget a debt.
func TestAStatusThatGitHubDoesNotShowIsNotSet(t *testing.T) {
	for _, a := range []answerOf{
		{code: 200, body: "null"}, {code: 201, body: "null"}, {code: 201, body: "{}"}, {code: 201}, {code: 200, body: wasSet},
		{code: 201, body: `{"state":"success","context":"sluice/main"}`}, {code: 201, body: `{"state":"pending","context":"sluice/dev"}`},
	} {
		hub := &fake{t: t}
		hub.say = func(r *http.Request, _ string) answerOf {
			if strings.Contains(r.URL.Path, "/statuses/") {
				return a
			}
			return answerOf{}
		}
		if err := hub.forge(nil).status(); kindOf(err) != client.Transient {
			t.Errorf("%d %q: %v", a.code, a.body, err)
		}
	}
}
