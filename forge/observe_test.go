package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

func TestOneLookIsOneRequest(t *testing.T) {
	pulls := []obj{}
	for n := range 100 {
		pulls = append(pulls, pullPart(n+1))
	}
	hub := &fake{t: t, say: sayRepo(repoPart(pulls...))}
	f := hub.forge(nil)
	s := observe(t, f, Ask{})
	if len(s.Pulls) != 100 || !s.Pulls[99].Complete || s.Pulls[99].MergeBase != plan.SHA(sha(tipSHA)) {
		t.Fatalf("%d pulls, last: %+v", len(s.Pulls), s.Pulls[99])
	}
	if d := cmp.Diff([]string{"GET /repos/acme/fleet/rules/branches/main", "look"}, hub.took()); d != "" {
		t.Error("the first look:", d)
	}
	observe(t, f, Ask{})
	if d := cmp.Diff([]string{"look"}, hub.took()); d != "" {
		t.Error("the second look:", d)
	}
	var sent budget.Bill
	if _, err := f.Observe(budget.WithBill(t.Context(), &sent), testRepo, Ask{Rules: true}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"GET /repos/acme/fleet/rules/branches/main", "look"}, hub.took()); d != "" {
		t.Error("a look at the rules too:", d)
	}
	if n := sent.Requests.Load(); n != 1 {
		t.Errorf("%d requests were counted, those to GraphQL apart", n)
	}
	if hub.tokens != 1 {
		t.Errorf("%d tokens were asked for", hub.tokens)
	}
	if got := f.LookCost(testRepo); got != 15 {
		t.Errorf("cost %d", got)
	}
}

func TestObserveFillsIn(t *testing.T) {
	p := pullPart(5)
	p["isDraft"], p["reviewDecision"], p["mergeable"] = true, "REVIEW_REQUIRED", "CONFLICTING"
	p["labels"] = obj{"nodes": []any{obj{"name": "hold"}}, "pageInfo": obj{"hasNextPage": false}}
	p["latestOpinionatedReviews"] = obj{"pageInfo": obj{"hasNextPage": false}, "nodes": []any{
		obj{"state": "APPROVED", "authorCanPushToRepository": true, "author": obj{"__typename": "User", "login": "bob"}, "commit": obj{"oid": sha(4)}},
		obj{"state": "CHANGES_REQUESTED", "authorCanPushToRepository": false, "author": nil, "commit": nil},
		obj{"state": "DISMISSED", "authorCanPushToRepository": true, "author": nil, "commit": nil},
	}}
	repo := repoPart(p)
	hub := &fake{t: t, say: sayRepo(repo)}
	s := observe(t, hub.forge(func(o *Options) { o.Pace = 900 }), Ask{At: at.Add(-time.Second)})
	want := plan.Pull{
		Number: 5, Title: "t", Author: "alice", CreatedAt: time.Date(2026, 11, 20, 11, 0, 0, 0, time.UTC),
		Base: "main", Head: plan.SHA(sha(5)), HeadRef: "b5", Read: at.Add(-time.Second), MergeBase: plan.SHA(sha(tipSHA)), Replays: true, Draft: true, SameRepo: true,
		Labels: []string{"hold"}, Mergeable: plan.MergeableConflict, Decision: plan.ReviewRequired,
		Files: []plan.File{{Path: "a/5.yaml", Kind: plan.Modified}}, Complete: true, ChecksAll: true,
		Reviews: []plan.Review{{By: "bob", On: plan.SHA(sha(4)), Approved: true, CanWrite: true}, {}},
	}
	if d := cmp.Diff([]plan.Pull{want}, s.Pulls); d != "" {
		t.Error(d)
	}
	if s.Us != "sluice" || s.App != appID || s.Default != "main" || !s.At.Equal(at.Add(-time.Second)) || s.Budget != 120 {
		t.Errorf("%+v", s)
	}
	b := s.Bases["main"]
	if b.Tip != plan.SHA(sha(tipSHA)) || b.File == "" || !b.Rules || b.Strict || b.Queue ||
		!b.TipAt.Equal(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", b)
	}
	if d := cmp.Diff("merge squash", string(s.Methods[0])+" "+string(s.Methods[1])); d != "" {
		t.Error(d)
	}
}

// What may be null is null here. Nothing of it may pass for something good.
func TestObserveNulls(t *testing.T) {
	gone := pullPart(1) // the base was deleted
	gone["baseRef"] = nil
	fork := pullPart(2) // the fork was deleted, and its author
	fork["headRepository"], fork["author"], fork["isCrossRepository"] = nil, nil, true
	nulls := pullPart(3)
	nulls["files"], nulls["labels"], nulls["latestOpinionatedReviews"] = nil, nil, nil
	hub := &fake{t: t}
	hub.say = func(r *http.Request, body string) answerOf {
		switch {
		case operation(body) == "look":
			return repoAnswer(repoPart(gone, fork, nulls))
		case r.URL.Path == "/repos/acme/fleet/pulls/3/files":
			return answerOf{code: 200, body: `[]`}
		case operation(body) == "objects": // the rules file of a head whose files are not known
			return repoAnswer(obj{"o0": blobPart("version: 1\n")})
		}
		return answerOf{}
	}
	s := observe(t, hub.forge(nil), Ask{})
	if len(s.Pulls) != 2 {
		t.Fatalf("%d pulls", len(s.Pulls))
	}
	if p := s.Pulls[0]; p.SameRepo || p.Author != "" || !p.Complete || !p.ChecksAll {
		t.Errorf("fork: %+v", p)
	}
	if p := s.Pulls[1]; p.Complete || p.ChecksAll || p.Rules != nil {
		t.Errorf("blind: %+v", p)
	}
}

func TestObserveEmptyRepository(t *testing.T) {
	repo := repoPart()
	repo["defaultBranchRef"] = nil
	s := observe(t, (&fake{t: t, say: sayRepo(repo)}).forge(nil), Ask{})
	if len(s.Bases) != 0 || len(s.Pulls) != 0 || s.Default != "" {
		t.Errorf("%+v", s)
	}
}

// kindOf is the kind of an error, "" for none and "?" for an error without one.
func kindOf(err error) client.Kind {
	var e *client.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Kind
	}
	return "?"
}

func TestSameNameAnotherRepository(t *testing.T) {
	repo := repoPart()
	repo["databaseId"] = 43
	_, err := (&fake{t: t, say: sayRepo(repo)}).forge(nil).Observe(context.Background(), testRepo, Ask{})
	if kindOf(err) != client.Gone {
		t.Errorf("got %v", err)
	}
}

func TestPagesThatSawDifferentTips(t *testing.T) {
	looks := 0
	hub := &fake{t: t}
	hub.say = func(r *http.Request, body string) answerOf {
		if operation(body) != "look" {
			return answerOf{}
		}
		if variables(body)["after"] == nil {
			looks++
			repo := repoPart(pullPart(1))
			repo["pullRequests"].(obj)["pageInfo"] = obj{"hasNextPage": true, "endCursor": "next"}
			return repoAnswer(repo)
		}
		second := pullPart(2)
		second["baseRef"] = obj{"target": obj{"oid": sha(tipSHA + 1)}}
		return repoAnswer(repoPart(second))
	}
	_, err := hub.forge(nil).Observe(context.Background(), testRepo, Ask{})
	if kindOf(err) != client.Transient || looks != maxTries {
		t.Errorf("%d looks: %v", looks, err)
	}
}

func TestSmallerPages(t *testing.T) {
	heavy := map[string]answerOf{
		"502":      {code: 502, body: "<html>Bad gateway</html>"},
		"504":      {code: 504},
		"time-out": {err: context.DeadlineExceeded},
		"graphql":  {code: 200, body: `{"data":null,"errors":[{"message":"Something went wrong while executing your query. This may be the result of a timeout"}]}`},
		"nodes":    {code: 200, body: `{"errors":[{"type":"MAX_NODE_LIMIT_EXCEEDED","message":"too many"}]}`},
		"resource": {code: 200, body: `{"data":{"repository":{}},"errors":[{"type":"RESOURCE_LIMITS_EXCEEDED","message":"x"}]}`},
	}
	for name, answer := range heavy {
		t.Run(name, func(t *testing.T) {
			var sizes []string
			hub := &fake{t: t}
			hub.say = func(r *http.Request, body string) answerOf {
				if operation(body) != "look" {
					return answerOf{}
				}
				size := variables(body)["first"].(interface{ String() string }).String()
				sizes = append(sizes, size)
				if size != "30" {
					return answer
				}
				return repoAnswer(repoPart())
			}
			f := hub.forge(nil)
			observe(t, f, Ask{})
			observe(t, f, Ask{})
			if d := cmp.Diff([]string{"6", "30", "30"}, sizes); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestUnknownSince: a snapshot says since which look GitHub has not known whether a head can be merged. A process that began later counts
// from its own first look.
func TestUnknownSince(t *testing.T) {
	p := pullPart(5)
	repo := repoPart(p)
	hub := &fake{t: t, say: sayRepo(repo)}
	now := &clock{now: at}
	start := func() *Forge { return hub.forge(func(o *Options) { o.Now = now.read }) }
	f := start()
	for _, step := range []struct {
		mergeable string
		head      int
		restart   bool
		want      time.Duration // after the beginning
	}{
		{"UNKNOWN", 5, false, 0},
		{"UNKNOWN", 5, false, 0},
		{"UNKNOWN", 6, false, 2 * time.Minute}, // pushed
		{"MERGEABLE", 6, false, -1},
		{"UNKNOWN", 6, false, 4 * time.Minute},
		{"UNKNOWN", 6, true, 5 * time.Minute},
	} {
		if step.restart {
			f = start()
		}
		p["mergeable"], p["headRefOid"] = step.mergeable, sha(step.head)
		got := observe(t, f, Ask{At: now.read()}).Pulls[0].Unknown
		if want := at.Add(step.want); step.want >= 0 && !got.Equal(want) || step.want < 0 && !got.IsZero() {
			t.Errorf("%+v: since %s", step, got)
		}
		now.pass(time.Minute)
	}
}

// TestCountThatLies: how many pull requests GitHub counts decides nothing. Where it says too few, or nothing, a look costs no more
// requests than a few for each hundred.
func TestCountThatLies(t *testing.T) {
	const many = 300
	for name, count := range map[string]func(shown int) any{
		"none":      func(int) any { return nil },
		"negative":  func(int) any { return -1 << 40 },
		"no more":   func(shown int) any { return shown },
		"one more":  func(shown int) any { return shown + 1 },
		"very many": func(int) any { return 1 << 40 },
	} {
		requests := 0
		hub := &fake{t: t}
		hub.say = func(_ *http.Request, body string) answerOf {
			if operation(body) != "look" {
				return answerOf{}
			}
			requests++
			from, size := 0, 0
			_, _ = fmt.Sscan(fmt.Sprint(variables(body)["after"]), &from)
			_, _ = fmt.Sscan(fmt.Sprint(variables(body)["first"]), &size)
			to := min(many, from+size)
			var pulls []obj
			for n := from; n < to; n++ {
				pulls = append(pulls, pullPart(n+1))
			}
			repo := repoPart(pulls...)
			repo["pullRequests"].(obj)["pageInfo"] = obj{"hasNextPage": to < many, "endCursor": fmt.Sprint(to)}
			repo["pullRequests"].(obj)["totalCount"] = count(to)
			return repoAnswer(repo)
		}
		s := observe(t, hub.forge(nil), Ask{})
		if most := 2 + many/MaxPulls; len(s.Pulls) != many || requests > most {
			t.Errorf("%s: %d pull requests in %d requests, want at most %d", name, len(s.Pulls), requests, most)
		}
	}
}

// TestUnknownIsNotOfTheFuture: when a clock was set back, it is not known since an instant to come that a head cannot be told.
func TestUnknownIsNotOfTheFuture(t *testing.T) {
	p := pullPart(1)
	p["mergeable"] = "UNKNOWN"
	f := (&fake{t: t, say: sayRepo(repoPart(p))}).forge(nil)
	for _, d := range []time.Duration{0, time.Minute, -time.Hour, -time.Hour + time.Second} {
		s := observe(t, f, Ask{At: at.Add(d)})
		if got := s.Pulls[0].Unknown; got.After(s.At) {
			t.Errorf("at %s it is not known since %s", s.At, got)
		}
	}
}
