package forge

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
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
	if got := []rune(sent["description"]); len(got) != maxDescription || strings.Contains(sent["description"], "\n") {
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
		kind   Kind
		sent   int
	}{
		"merged":                {answerOf{code: 200, body: `{"sha":"m1","merged":true,"message":"ok"}`}, "", "m1", "", 1},
		"empty":                 {answerOf{code: 200}, "", "", Transient, 1},
		"base moved":            {answerOf{code: 405, body: `{"message":"Base branch was modified. Review and try the merge again."}`}, "", "", Transient, 1},
		"rule":                  {answerOf{code: 405, body: `{"message":"Required status check \"ci\" is expected."}`}, no, "", Refused, 2},
		"conflict":              {answerOf{code: 405, body: `{"message":"Pull Request is not mergeable"}`}, no, "", Refused, 2},
		"merged before":         {answerOf{code: 405, body: `{"message":"Pull Request is not mergeable"}`}, yes, "m1", AlreadyMerged, 2},
		"elsewhere before":      {answerOf{code: 405, body: `{"message":"Pull Request is not mergeable"}`}, elsewhere, "", Refused, 2},
		"another head before":   {answerOf{code: 409, body: `{"message":"Head branch was modified."}`}, other, "", Refused, 2},
		"head moved":            {answerOf{code: 409, body: `{"message":"Head branch was modified. Review and try the merge again."}`}, no, "", Transient, 2},
		"out of date":           {answerOf{code: 409, body: `{"message":"Head branch is out of date. Review and try the merge again."}`}, no, "", Refused, 2},
		"merged, branch gone":   {answerOf{code: 409, body: `{"message":"Head branch was modified."}`}, yes, "m1", AlreadyMerged, 2},
		"gone":                  {answerOf{code: 404, body: `{"message":"Not Found"}`}, "", "", Gone, 1},
		"refused, then a fault": {answerOf{code: 405, body: `{"message":"no"}`}, "<html>", "", Refused, 2},
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
		kind   Kind
		reason string
	}{
		"accepted": {answerOf{code: 202, body: `{"message":"Updating pull request branch."}`}, "", ""},
		"moved":    {answerOf{code: 422, body: `{"message":"expected head sha didn’t match current head ref."}`}, Refused, "expected head sha didn’t match current head ref."},
		"conflict": {answerOf{code: 422, body: `{"message":"merge conflict between base and head"}`}, Refused, "merge conflict between base and head"},
		"fork":     {answerOf{code: 403, body: `{"message":"no\nway"}`}, Refused, "no way"},
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
			if kindOf(err) != tt.kind || err != nil && judge(err).Reason != tt.reason {
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
		kind            Kind
		sent            int
	}{
		"deleted":     {there, none, answerOf{code: 204}, "", 3},
		"gone":        {answerOf{code: 404, body: `{"message":"Not Found"}`}, none, answerOf{}, "", 1},
		"moved on":    {says(`{"name":"renovate/a b","commit":{"sha":"other"},"protected":false}`), none, answerOf{}, Refused, 1},
		"quicker":     {there, none, answerOf{code: 422, body: `{"message":"Reference does not exist"}`}, "", 3},
		"protected":   {says(`{"name":"renovate/a b","commit":{"sha":"head"},"protected":true}`), none, answerOf{}, Refused, 1},
		"not said":    {says(`{"name":"renovate/a b","commit":{"sha":"head"}}`), none, answerOf{}, Refused, 1},
		"renamed":     {says(`{"name":"kept","commit":{"sha":"head"},"protected":false}`), none, answerOf{}, Refused, 1},
		"a base":      {there, says(`[{"number":9}]`), answerOf{}, Refused, 2},
		"base fault":  {there, answerOf{code: 500}, answerOf{}, Transient, 2},
		"base null":   {there, says(`null`), answerOf{}, Transient, 2},
		"no list":     {there, answerOf{code: 404, body: `{"message":"Not Found"}`}, answerOf{}, Gone, 2},
		"refused":     {there, none, answerOf{code: 422, body: `{"message":"Cannot delete a protected branch"}`}, Refused, 3},
		"fault":       {answerOf{code: 500}, none, answerOf{}, Transient, 1},
		"late fault":  {there, none, answerOf{code: 500}, Transient, 3},
		"no such SHA": {says(`{}`), none, answerOf{}, Refused, 1},
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

func TestRepositories(t *testing.T) {
	hub := &fake{t: t}
	hub.say = func(r *http.Request, _ string) answerOf {
		switch {
		case strings.HasSuffix(r.URL.Path, "/3/access_tokens"):
			return answerOf{code: 404}
		case strings.HasSuffix(r.URL.Path, "/4/access_tokens"):
			return answerOf{code: 500}
		case r.URL.Path == "/app/installations":
			return answerOf{code: 200, body: `[{"id":1},{"id":2,"suspended_at":"2026-01-01T00:00:00Z"},{"id":3},{"id":4}]`}
		case r.URL.Path == "/installation/repositories" && r.URL.Query().Get("page") == "1":
			return answerOf{
				code: 200, header: map[string]string{"Link": `<https://api.github.com/installation/repositories?page=2>; rel="next"`},
				body: `{"repositories":[{"id":10,"name":"a","owner":{"login":"acme"}},{"id":11,"name":"old","archived":true,"owner":{"login":"acme"}}]}`,
			}
		case r.URL.Path == "/installation/repositories":
			return answerOf{code: 200, body: `{"repositories":[{"id":12,"name":"b","owner":{"login":"acme"}}]}`}
		}
		return answerOf{}
	}
	got, err := hub.forge(nil).Repositories(context.Background())
	want := []plan.Repo{{Owner: "acme", Name: "a", ID: 10, Installation: 1}, {Owner: "acme", Name: "b", ID: 12, Installation: 1}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err == nil || !strings.Contains(err.Error(), "installation 3: gone") || !strings.Contains(err.Error(), "installation 4: temporary error") {
		t.Errorf("an installation that could not be read is not told of: %v", err)
	}
	if some := (*PartialListError)(nil); !errors.As(err, &some) || !slices.Equal(some.Installations, []int64{3, 4}) {
		t.Errorf("%v", err)
	}
}

// Pages shift while they are read, and the list lacks a repository, or has one twice: fewer than GitHub counts are not all. It is read again;
// if it lacks one for good, that is said, and spoils no other installation and no start.
func TestAListThatLacksSome(t *testing.T) {
	for name, c := range map[string]struct {
		lacks int // so many lists do
		reads int
	}{"none": {0, 1}, "once": {1, 2}, "for ever": {9, 2}} {
		hub := &fake{t: t}
		lists := 0
		hub.say = func(r *http.Request, _ string) answerOf {
			switch {
			case r.URL.Path == "/app/installations":
				return answerOf{code: 200, body: `[{"id":1}]`}
			case r.URL.Path == "/installation/repositories" && r.URL.Query().Get("page") == "1":
				lists++
				return answerOf{
					code: 200, header: map[string]string{"Link": `<https://api.github.com/installation/repositories?page=2>; rel="next"`},
					body: `{"total_count":3,"repositories":[{"id":10,"name":"a","owner":{"login":"acme"}},{"id":11,"name":"old","archived":true,"owner":{"login":"acme"}}]}`,
				}
			case r.URL.Path == "/installation/repositories" && lists <= c.lacks:
				return answerOf{code: 200, body: `{"total_count":3,"repositories":[{"id":10,"name":"a","owner":{"login":"acme"}}]}`}
			case r.URL.Path == "/installation/repositories":
				return answerOf{code: 200, body: `{"total_count":3,"repositories":[{"id":10,"name":"a","owner":{"login":"acme"}},{"id":12,"name":"b","owner":{"login":"acme"}}]}`}
			}
			return answerOf{}
		}
		got, err := hub.forge(nil).Repositories(context.Background())
		var some *PartialListError
		lacks := errors.As(err, &some) && slices.Equal(some.Installations, []int64{1}) && kindOf(err) == Transient
		want := []plan.Repo{{Owner: "acme", Name: "a", ID: 10, Installation: 1}, {Owner: "acme", Name: "b", ID: 12, Installation: 1}}
		if c.lacks > 1 {
			want = want[:1]
		}
		if d := cmp.Diff(want, got); d != "" || lists != c.reads || lacks != (c.lacks > 1) || !lacks && err != nil {
			t.Errorf("%s: %d lists, %v\n%s", name, lists, err, d)
		}
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
		if _, err := hub.forge(nil).Observe(context.Background(), testRepo, Ask{}); kindOf(err) != Gone {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// A null is no list: whoever took it for an empty one would forget every repository, or fall over it.
func TestNullIsNoListOfRepositories(t *testing.T) {
	for _, null := range []string{"null", "[null]", `{"repositories":null}`, `{"repositories":[null]}`} {
		for _, path := range []string{"/app/installations", "/installation/repositories"} {
			if (path == "/app/installations") != (null == "null" || null == "[null]") && null != "null" {
				continue // of another shape
			}
			hub := &fake{t: t}
			hub.say = func(r *http.Request, _ string) answerOf {
				switch r.URL.Path {
				case path:
					return answerOf{code: 200, body: null}
				case "/app/installations":
					return answerOf{code: 200, body: `[{"id":1}]`}
				}
				return answerOf{}
			}
			if got, err := hub.forge(nil).Repositories(context.Background()); len(got) > 0 || kindOf(err) != Transient {
				t.Errorf("%s to %s: %v, %v", null, path, got, err)
			}
		}
	}
}

func TestRepository(t *testing.T) {
	hub := &fake{t: t}
	hub.say = func(r *http.Request, _ string) answerOf {
		if r.URL.Path == "/repos/acme/fleet/installation" {
			return answerOf{code: 200, body: `{"id":11}`}
		}
		return answerOf{code: 404, body: `{"message":"Not Found"}`}
	}
	f := hub.forge(nil)
	got, err := f.Repository(context.Background(), "acme", "fleet")
	if err != nil || got != (plan.Repo{Owner: "acme", Name: "fleet", Installation: 11}) {
		t.Error(got, err)
	}
	for _, name := range []string{"other", "../../app", "a/b", "a?b", ""} {
		if _, err := f.Repository(context.Background(), "acme", name); kindOf(err) != Gone {
			t.Errorf("%q: %v", name, err)
		}
	}
	if d := cmp.Diff([]string{"GET /repos/acme/fleet/installation", "GET /repos/acme/other/installation"}, hub.took()); d != "" {
		t.Error(d)
	}
}

func TestSelf(t *testing.T) {
	hub := &fake{t: t}
	f := hub.forge(nil)
	for range 2 {
		if us, err := f.Self(context.Background()); us != "sluice" || err != nil {
			t.Error(us, err)
		}
	}
	hub.say = func(*http.Request, string) answerOf { return answerOf{code: 200, body: `{}`} }
	if _, err := hub.forge(nil).Self(context.Background()); err == nil {
		t.Error("an App without a name")
	}
}

func TestWords(t *testing.T) {
	if got := oneLine("a\nb\x00c\u2028d  ghs_abc123 " + strings.Repeat("x", 400)); !strings.HasPrefix(got, "a b c d *** x") ||
		len([]rune(got)) != maxReason {
		t.Error(got)
	}
	e := &Error{Kind: Limited, Until: time.Date(2026, 11, 21, 13, 0, 0, 0, time.FixedZone("x", 3600)), Reason: "r"}
	if e.Error() != "rate limited until 2026-11-21T12:00:00Z: r" {
		t.Error(e)
	}
}
