package forge

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// What stands at the file's path and is no file of ours is an invalid file, never an absent one.
func TestFileThatIsNone(t *testing.T) {
	entry := func(change func(e, o obj)) obj {
		repo := repoPart()
		base := basePart("main", "version: 1\n")
		e := base["target"].(obj)["file"].(obj)
		change(e, e["object"].(obj))
		repo["defaultBranchRef"] = base
		return repo
	}
	for name, tt := range map[string]struct {
		repo obj
		code string
	}{
		"directory":       {entry(func(e, o obj) { e["type"], e["mode"], e["object"] = "tree", 0o040000, obj{"__typename": "Tree"} }), "not-a-file"},
		"symbolic link":   {entry(func(e, o obj) { e["mode"] = 0o120000 }), "not-a-file"},
		"submodule":       {entry(func(e, o obj) { e["type"], e["mode"], e["object"] = "commit", 0o160000, nil }), "not-a-file"},
		"too large":       {entry(func(e, o obj) { o["byteSize"] = config.MaxBytes + 1 }), "too-large"},
		"cut short":       {entry(func(e, o obj) { o["isTruncated"] = true }), "too-large"},
		"binary":          {entry(func(e, o obj) { o["isBinary"] = true }), "not-text"},
		"no text":         {entry(func(e, o obj) { o["text"] = nil }), "not-text"},
		"no object":       {entry(func(e, o obj) { e["object"] = nil }), "unreadable"},
		"not even a blob": {entry(func(e, o obj) { o["__typename"] = "Tag" }), "not-a-file"},
	} {
		t.Run(name, func(t *testing.T) {
			b := observe(t, (&fake{t: t, say: sayRepo(tt.repo)}).forge(nil), Ask{}).Bases["main"]
			if b.File == "" || b.Policy != nil || len(b.Findings) != 1 || b.Findings[0].Severity != config.Error ||
				b.Findings[0].Code != tt.code || !strings.HasPrefix(b.Findings[0].Message, config.File) {
				t.Errorf("%+v", b)
			}
		})
	}
}

func TestNoFile(t *testing.T) {
	repo := repoPart()
	repo["defaultBranchRef"] = basePart("main", "")
	b := observe(t, (&fake{t: t, say: sayRepo(repo)}).forge(nil), Ask{}).Bases["main"]
	if b.File != "" || b.Policy != nil || len(b.Findings) != 0 {
		t.Errorf("%+v", b)
	}
}

// A base that no look has seen before costs a query once; then it is asked for beforehand.
func TestOtherBases(t *testing.T) {
	p := pullPart(1)
	p["baseRefName"] = "rw/x"
	hub := &fake{t: t}
	hub.say = func(r *http.Request, body string) answerOf {
		repo := repoPart(p, pullPart(2))
		switch vars := variables(body); {
		case operation(body) == "bases" && vars["b0"] == "refs/heads/rw/x":
			return repoAnswer(obj{"b0": basePart("rw/x", "")})
		case operation(body) == "look" && vars["b0"] == "refs/heads/rw/x":
			repo["b0"] = basePart("rw/x", "")
			return repoAnswer(repo)
		}
		return sayRepo(repo)(r, body)
	}
	f := hub.forge(nil)
	s := observe(t, f, Ask{})
	if len(s.Bases) != 2 || s.Bases["rw/x"].Tip == "" {
		t.Errorf("%+v", s.Bases)
	}
	want := []string{"GET /repos/acme/fleet/rules/branches/main", "GET /repos/acme/fleet/rules/branches/rw/x", "bases", "look"}
	if d := cmp.Diff(want, hub.took()); d != "" {
		t.Error(d)
	}
	observe(t, f, Ask{})
	if d := cmp.Diff([]string{"look"}, hub.took()); d != "" {
		t.Error(d)
	}
}

func TestRulesOfABase(t *testing.T) {
	const rulesets = `[
		{"type":"required_status_checks","parameters":{"strict_required_status_checks_policy":true,"required_status_checks":[
			{"context":"Sluice/Main","integration_id":7},{"context":"ci","integration_id":null},{"context":"any","integration_id":-1}]}},
		{"type":"required_status_checks","parameters":{"strict_required_status_checks_policy":false,"required_status_checks":[{"context":"ci"}]}},
		{"type":"merge_queue","parameters":{"max_entries_to_build":5}},
		{"type":"a_rule_of_the_future","parameters":"not even an object"},
		{"type":"deletion"}]`
	hub := &fake{t: t}
	hub.say = func(r *http.Request, body string) answerOf {
		if strings.Contains(r.URL.Path, "/rules/branches/") {
			return answerOf{code: 200, body: rulesets}
		}
		return sayRepo(repoPart())(r, body)
	}
	b := observe(t, hub.forge(nil), Ask{}).Bases["main"]
	want := []plan.RequiredCheck{{Context: "Sluice/Main", App: 7}, {Context: "ci"}, {Context: "any"}}
	if d := cmp.Diff(want, b.Required); d != "" || !b.Strict || !b.Queue || !b.Rules {
		t.Errorf("%s %+v", d, b)
	}
	if required, bound := b.Enforced("main", appID); !required || !bound {
		t.Error("our context is not taken for required and bound")
	}
}

func TestClassicProtection(t *testing.T) {
	repo := repoPart(pullPart(1))
	repo["defaultBranchRef"].(obj)["refUpdateRule"] = obj{"requiredStatusCheckContexts": []any{"ci", "only-graph"}}
	repo["pullRequests"].(obj)["nodes"].([]obj)[0]["mergeStateStatus"] = "BEHIND"
	hub := &fake{t: t}
	hub.say = func(r *http.Request, body string) answerOf {
		if r.URL.Path == "/repos/acme/fleet/branches/main" {
			return answerOf{code: 200, body: `{"protected":true,"protection":{"enabled":true,"required_status_checks":{
				"contexts":["ci","sluice/main","old"],"checks":[{"context":"ci","app_id":null},{"context":"sluice/main","app_id":7}]}}}`}
		}
		return sayRepo(repo)(r, body)
	}
	b := observe(t, hub.forge(nil), Ask{}).Bases["main"]
	want := []plan.RequiredCheck{{Context: "ci"}, {Context: "sluice/main", App: 7}, {Context: "old"}, {Context: "only-graph"}}
	if d := cmp.Diff(want, b.Required); d != "" || !b.Strict || !b.Rules {
		t.Errorf("%s %+v", d, b)
	}
}

func TestRulesThatCannotBeRead(t *testing.T) {
	for name, tt := range map[string]struct {
		answer answerOf
		kind   client.Kind
	}{
		"forbidden": {answerOf{code: 403, body: `{"message":"Resource not accessible by integration"}`}, ""},
		"not there": {answerOf{code: 404, body: `{"message":"Not Found"}`}, ""},
		"fault":     {answerOf{code: 502, body: `<html>`}, ""},
		"cut":       {answerOf{code: 200, body: `[{"type":"mer`}, ""},
		"empty":     {answerOf{code: 200}, ""},
		"null":      {answerOf{code: 200, body: `null`}, ""},
		"nonsense":  {answerOf{code: 200, body: `[{"type":"required_status_checks","parameters":[]}]`}, ""},
		"no list":   {answerOf{code: 200, body: `[{"type":"required_status_checks","parameters":{"strict_required_status_checks_policy":true}}]`}, ""},
		"nothing":   {answerOf{code: 200, body: `[{"type":"required_status_checks","parameters":null}]`}, ""},
		"no key":    {answerOf{code: 401, body: `{}`}, client.Unauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			hub := &fake{t: t}
			hub.say = func(r *http.Request, body string) answerOf {
				if strings.Contains(r.URL.Path, "/rules/branches/") {
					return tt.answer
				}
				return sayRepo(repoPart())(r, body)
			}
			s, err := hub.forge(nil).Observe(t.Context(), testRepo, Ask{})
			if kindOf(err) != tt.kind || err == nil && s.Bases["main"].Rules {
				t.Errorf("%v %+v", err, s.Bases)
			}
		})
	}
}

func TestPullThatChangesTheRules(t *testing.T) {
	change := withFiles(pullPart(1), config.File, "MODIFIED")
	remove := withFiles(pullPart(2), config.File, "DELETED")
	add := withFiles(pullPart(3), config.File, "ADDED", "x", "ADDED")
	move := withFiles(pullPart(4), "elsewhere.yaml", "RENAMED")
	hub := &fake{t: t}
	hub.say = func(r *http.Request, body string) answerOf {
		switch {
		case r.URL.Path == "/repos/acme/fleet/pulls/4/files":
			return listed(t, restFile("elsewhere.yaml", "renamed", config.File, 4))
		case operation(body) == "objects":
			vars, answer := variables(body), obj{}
			for name, v := range vars {
				switch v {
				case sha(1) + ":" + config.File:
					answer[name] = blobPart("version: 1\nmode: observe\n")
				case sha(3) + ":" + config.File:
					answer[name] = obj{"__typename": "Tree", "oid": sha(3)}
				}
			}
			return repoAnswer(answer)
		}
		return sayRepo(repoPart(change, remove, add, move))(r, body)
	}
	f := hub.forge(nil)
	s := observe(t, f, Ask{})
	for i, want := range []struct{ deleted, policy, findings bool }{
		{false, true, false}, {true, false, false}, {false, false, true}, {true, false, false},
	} {
		got := s.Pulls[i].Rules
		if got == nil || got.Deleted != want.deleted || (got.Outline != nil) != want.policy || (len(got.Findings) > 0) != want.findings {
			t.Errorf("pull %d: %+v", i+1, got)
		}
	}
	hub.took()
	observe(t, f, Ask{})
	if d := cmp.Diff([]string{"look"}, hub.took()); d != "" {
		t.Error("texts of heads are asked for again:", d)
	}
}

func TestGroups(t *testing.T) {
	hub := &fake{t: t}
	compared := `{"status":"ahead","files":[{"filename":"a","status":"renamed","previous_filename":"b"}]}`
	hub.say = func(r *http.Request, body string) answerOf {
		repo := repoPart()
		repo["b0"] = basePart("main", "version: 1\n")
		for name, head := range variables(body) {
			repo[name] = nil
			if head == sha(9) {
				repo[name] = obj{"oid": sha(9), "status": obj{"contexts": []any{statusPart("sluice/main", "SUCCESS", "Bot", "sluice")}}}
			}
		}
		if strings.HasPrefix(r.URL.Path, "/repos/acme/fleet/compare/"+sha(tipSHA)+"...") {
			return answerOf{code: 200, body: compared}
		}
		return sayRepo(repo)(r, body)
	}
	f := hub.forge(nil)
	ask := Ask{Groups: []plan.Group{
		{Base: "main", BaseSHA: plan.SHA(sha(tipSHA)), Head: plan.SHA(sha(9))}, {Base: "main", BaseSHA: plan.SHA(sha(tipSHA)), Head: plan.SHA(sha(10))},
		{Base: "main", BaseSHA: "x", Head: "no SHA at all"},
	}}
	s := observe(t, f, ask)
	if len(s.Groups) != 1 || !s.Groups[0].Complete || len(s.Groups[0].Ours) != 1 ||
		s.Groups[0].Files[0] != (plan.File{Path: "a", Old: "b", Kind: plan.Renamed}) {
		t.Errorf("%+v", s.Groups)
	}
	hub.took()
	observe(t, f, ask)
	if d := cmp.Diff([]string{"look"}, hub.took()); d != "" {
		t.Error("a group is compared again:", d)
	}
	many := make([]string, maxCompared)
	for i := range many {
		many[i] = `{"filename":"f` + sha(i) + `","status":"added"}`
	}
	for name, body := range map[string]string{
		"300 files": `{"status":"ahead","files":[` + strings.Join(many, ",") + `]}`,
		"diverged":  `{"status":"diverged","files":[]}`,
		"no name":   `{"status":"ahead","files":[{"filename":"a","status":"renamed"}]}`,
	} {
		compared = body
		if s := observe(t, hub.forge(nil), ask); s.Groups[0].Complete {
			t.Errorf("%s: complete", name)
		}
	}
}
