package forge

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
)

// moveTo is a move of a branch from where it stands.
func (w *world) moveTo(branch, sha string) plan.Move {
	return plan.Move{Branch: plan.Branch(branch), Old: plan.SHA(w.r.Tip(branch)), New: plan.SHA(sha)}
}

func (w *world) move(moves ...plan.Move) error {
	return w.forge.MoveBranches(context.Background(), w.repo, moves)
}

func TestMovesAllOrNone(t *testing.T) {
	w := newWindowed(t, "none", "a", "b", "new")
	root := w.r.Tip("main")
	w.put("a", root)
	w.put("b", root)
	tip := w.push("main", "x")
	w.look(Ask{})
	w.hub.ResetRequests()
	made := w.moveTo("new", tip)
	w.must(w.move(w.moveTo("a", tip), w.moveTo("b", tip), made))
	if got := w.requests(); sum(got) != 1 || w.r.Tip("a") != tip || w.r.Tip("b") != tip || w.r.Tip("new") != tip {
		t.Errorf("%v", got)
	}
	for name, spoil := range map[string]func() plan.Move{
		"moved by somebody": func() plan.Move {
			m := w.moveTo("b", tip)
			w.put("b", w.push("elsewhere", "y"))
			return m
		},
		"moved forward by somebody": func() plan.Move {
			m := w.moveTo("b", w.push("main", "z"))
			w.put("b", tip)
			return m
		},
		"is there":    func() plan.Move { return plan.Move{Branch: "new", New: plan.SHA(tip)} },
		"deleted":     func() plan.Move { m := w.moveTo("b", tip); w.put("b", ""); return m },
		"diverged":    func() plan.Move { w.put("b", w.push("aside", "q")); return w.moveTo("b", tip) },
		"no commit":   func() plan.Move { return w.moveTo("b", sha(77)) },
		"protected":   func() plan.Move { w.r.Protect("b", standin.Rules{Restrict: true}); return w.moveTo("b", tip) },
		"to nothing":  func() plan.Move { return w.moveTo("b", strings.Repeat("0", 40)) },
		"by no value": func() plan.Move { return plan.Move{Branch: "b", Old: "main", New: plan.SHA(tip)} },
		"by no name":  func() plan.Move { return plan.Move{Old: plan.SHA(root), New: plan.SHA(tip)} },
	} {
		w.r.Unprotect("b")
		w.put("a", root)
		w.put("b", root)
		bad := spoil()
		before := w.r.Tip("b")
		err := w.move(w.moveTo("a", tip), bad)
		if kindOf(err) != client.Refused || client.Judge(err).Reason == "" || w.r.Tip("a") != root || w.r.Tip("b") != before {
			t.Errorf("%s: %v; a at %s, b at %s", name, err, w.r.Tip("a"), w.r.Tip("b"))
		}
	}
	w.must(w.move())
}

// Each for itself in one request: what GitHub refuses keeps no other, and every refusal is its own branch's.
func TestMovesEachForItself(t *testing.T) {
	w := newWindowed(t, "none", "a", "b", "c", "d", "new")
	root := w.r.Tip("main")
	for _, name := range []string{"a", "b", "c", "d"} {
		w.put(name, root)
	}
	tip := w.push("main", "x")
	w.r.Protect("b", standin.Rules{Restrict: true})
	moves := []plan.Move{w.moveTo("a", tip), w.moveTo("b", tip), w.moveTo("c", tip), w.moveTo("d", tip), w.moveTo("new", tip)}
	w.put("c", w.push("elsewhere", "y"))
	w.look(Ask{})
	w.hub.ResetRequests()
	each, err := w.forge.MoveEach(context.Background(), w.repo, moves)
	w.must(err)
	if got := w.requests(); sum(got) != 1 || w.r.Tip("a") != tip || w.r.Tip("d") != tip || w.r.Tip("new") != tip || w.r.Tip("b") != root || w.r.Tip("c") == tip {
		t.Errorf("%v", got)
	}
	for i, want := range []string{"", "Cannot update this protected ref", "is at", "", ""} {
		if (each[i] == nil) != (want == "") || want != "" && (kindOf(each[i]) != client.Refused || !strings.Contains(client.Judge(each[i]).Reason, want)) {
			t.Errorf("%s: %v", moves[i].Branch, each[i])
		}
	}
	if _, quiet := w.look(Ask{}); sum(quiet) > 2 {
		t.Errorf("where they went is asked for again: %v", quiet)
	}
	if _, err := w.forge.MoveEach(context.Background(), w.repo, []plan.Move{{Branch: "a", New: "main"}}); kindOf(err) != client.Refused {
		t.Error(err)
	}
}

// Answers to several moves: data is moved, an error with the path refused, anything else is not known, unless nothing was done at all.
func TestAnswersToEachMove(t *testing.T) {
	const moved = `{"clientMutationId":null}`
	for name, tt := range map[string]struct {
		body  string
		whole client.Kind
		each  [3]client.Kind
	}{
		"all moved":                {body: `{"data":{"m0":` + moved + `,"m1":` + moved + `,"m2":` + moved + `}}`},
		"one refused":              {body: `{"data":{"m0":` + moved + `,"m1":null,"m2":` + moved + `},"errors":[{"type":"UNPROCESSABLE","message":"no","path":["m1"]}]}`, each: [3]client.Kind{"", client.Refused, ""}},
		"one without type":         {body: `{"data":{"m0":` + moved + `,"m1":null,"m2":` + moved + `},"errors":[{"message":"no","path":["m1"]}]}`, each: [3]client.Kind{"", client.Refused, ""}},
		"one lacks":                {body: `{"data":{"m0":` + moved + `,"m2":` + moved + `}}`, each: [3]client.Kind{"", client.Transient, ""}},
		"ended half done":          {body: `{"data":{"m0":` + moved + `,"m1":null,"m2":null},"errors":[{"message":"Something went wrong while executing your query."}]}`, each: [3]client.Kind{"", client.Transient, client.Transient}},
		"a fault of one":           {body: `{"data":{"m0":` + moved + `,"m1":null,"m2":null},"errors":[{"type":"INTERNAL","message":"x","path":["m1"]}]}`, each: [3]client.Kind{"", client.Transient, client.Transient}},
		"both":                     {body: `{"data":{"m0":` + moved + `,"m1":` + moved + `,"m2":` + moved + `},"errors":[{"message":"no","path":["m1"]}]}`, each: [3]client.Kind{"", client.Transient, ""}},
		"refused as one":           {body: `{"data":{"m0":null,"m1":null,"m2":null},"errors":[{"type":"FORBIDDEN","message":"no"}]}`, each: [3]client.Kind{client.Transient, client.Transient, client.Transient}},
		"a limit amid it":          {body: `{"data":{"m0":` + moved + `,"m1":null,"m2":null},"errors":[{"type":"RATE_LIMITED","message":"slow down"}]}`, each: [3]client.Kind{"", client.Transient, client.Transient}},
		"a limit at the beginning": {body: `{"errors":[{"type":"RATE_LIMITED","message":"slow down"}]}`, whole: client.Limited},
		"old server":               {body: `{"errors":[{"message":"Field 'updateRefs' doesn't exist on type 'Mutation'","extensions":{"code":"undefinedField","typeName":"Mutation","fieldName":"updateRefs"}}]}`, whole: client.Refused},
		"no data":                  {body: `{}`, each: [3]client.Kind{client.Transient, client.Transient, client.Transient}},
		"no JSON":                  {body: `<html>`, whole: client.Transient},
	} {
		hub := &fake{t: t}
		hub.say = func(r *http.Request, body string) answerOf {
			switch {
			case r.URL.Path != "/graphql":
				return answerOf{}
			case strings.Contains(body, "updateRefs"):
				return answerOf{code: 200, body: tt.body}
			}
			return repoAnswer(obj{"id": "R1"})
		}
		f := hub.forge(func(o *Options) { o.Pace = 900 })
		var moves []plan.Move
		for _, b := range []plan.Branch{"a", "b", "c"} {
			moves = append(moves, plan.Move{Branch: b, New: plan.SHA(sha(2))})
		}
		each, err := f.MoveEach(context.Background(), testRepo, moves)
		if kindOf(err) != tt.whole {
			t.Errorf("%s: %v", name, err)
		}
		for i := range each {
			if kindOf(each[i]) != tt.each[i] {
				t.Errorf("%s: %d: %v, want %q", name, i, each[i], tt.each[i])
			}
		}
	}
}

// A repository that no look has seen costs a request more; the answer to a move that is lost says nothing of it.
func TestMovesWithoutALookAndLostAnswers(t *testing.T) {
	w := newWorld(t, nil)
	w.put("a", w.r.Tip("main"))
	tip := w.push("main", "x")
	w.hub.ResetRequests()
	w.must(w.move(w.moveTo("a", tip)))
	if got := w.requests(); sum(got) != 2 {
		t.Errorf("%v", got)
	}
	for name, tt := range map[string]struct {
		fault api.Fault
		want  client.Kind
		done  bool
	}{
		"cut":         {api.Fault{Cut: 5}, client.Transient, true},
		"lost":        {api.Fault{Status: 502, Body: "<html>", Done: true}, client.Transient, true},
		"unavailable": {api.Fault{Status: 503}, client.Transient, false},
		"too heavy": {api.Fault{Errors: []api.GraphQLError{{
			Message: "Something went wrong while executing your query. Please include `X` when reporting this issue."}}}, client.Transient, false},
		"out of points": {api.Fault{Errors: []api.GraphQLError{{Type: "RATE_LIMITED", Message: "API rate limit exceeded"}}}, client.Limited, false},
		"by another name": {api.Fault{Errors: []api.GraphQLError{{
			Type: "RATE_LIMIT", Code: "graphql_rate_limit", Message: "API rate limit already exceeded for installation ID 1."}}}, client.Limited, false},
		"no right":  {api.Fault{Errors: []api.GraphQLError{{Type: "FORBIDDEN", Message: "Resource not accessible by integration"}}}, client.Refused, false},
		"no type":   {api.Fault{Errors: []api.GraphQLError{{Message: "is at 1 but expected 2", Path: []string{"updateRefs"}}}}, client.Refused, false},
		"not found": {api.Fault{Errors: []api.GraphQLError{{Type: "NOT_FOUND", Message: "no node", Path: []string{"updateRefs"}}}}, client.Refused, false},
	} {
		w.look(Ask{})
		old := w.r.Tip("a")
		next := w.push("main", "y"+name)
		tt.fault.Path, tt.fault.Contains = "/graphql", "updateRefs"
		w.hub.Fault(tt.fault)
		err := w.move(w.moveTo("a", next))
		w.unlimited()
		if kindOf(err) != tt.want || (w.r.Tip("a") == next) != tt.done {
			t.Errorf("%s: %v, from %s to %s", name, err, old, w.r.Tip("a"))
		}
	}
}

// A look does not tell the rulesets of a branch that is not there: what refuses to make it for the lack of our status shows that it demands it.
func TestRefusalsTeachDemands(t *testing.T) {
	w := newWorldWith(t, map[string]string{config.File: windowedText("none", "rw/1", "rw/10")}, api.Options{})
	root := w.r.Tip("main")
	w.put("rw/1", root)
	tip := w.push("main", "x")
	w.r.Protect("rw/10", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/promote/rw/10", App: appID}}})
	s, _ := w.look(Ask{})
	if s.Branches[1].Demands {
		t.Errorf("%+v", s.Branches[1])
	}
	if _, quiet := w.look(Ask{}); sum(quiet) != 1 {
		t.Errorf("it was asked for again: %v", quiet)
	}
	err := w.move(w.moveTo("rw/1", tip), w.moveTo("rw/10", tip))
	t.Log(err)
	if kindOf(err) != client.Refused {
		t.Error(err)
	}
	s, _ = w.look(Ask{})
	if s.Branches[0].Demands || !s.Branches[1].Demands {
		t.Errorf("%+v", s.Branches)
	}
	green := plan.Status{Context: plan.PromoteContextFor("rw/10"), State: plan.Success}
	w.must(w.forge.SetStatus(context.Background(), w.repo, plan.SHA(tip), green))
	w.must(w.move(w.moveTo("rw/1", tip), w.moveTo("rw/10", tip)))
	w.forge.now = func() time.Time { return time.Now().Add(48 * time.Hour) }
	if s, _ = w.look(Ask{}); s.Branches[1].Demands {
		t.Error("remembered for ever")
	}

}

// What is sent: every old value, nothing by force; and a mutation costs five points of GraphQL's minute.
func TestWhatAMoveSends(t *testing.T) {
	hub := &fake{t: t}
	var sent struct {
		Variables struct{ Input map[string]any }
	}
	hub.say = func(r *http.Request, body string) answerOf {
		switch {
		case r.URL.Path != "/graphql":
			return answerOf{}
		case strings.Contains(body, "updateRefs"):
			if err := json.Unmarshal([]byte(body), &sent); err != nil {
				t.Fatal(err)
			}
			return answerOf{code: 200, body: `{"data":{"updateRefs":{"clientMutationId":null}}}`}
		}
		return repoAnswer(obj{"id": "R1"})
	}
	f := hub.forge(func(o *Options) { o.Pace = 900 })
	old := plan.SHA(strings.Repeat("a", 64))
	moves := []plan.Move{{Branch: "a", Old: plan.SHA(sha(1)), New: plan.SHA(sha(2))}, {Branch: "b", New: old}}
	if err := f.MoveBranches(context.Background(), testRepo, moves); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"repositoryId": "R1", "refUpdates": []any{
		map[string]any{"name": "refs/heads/a", "beforeOid": sha(1), "afterOid": sha(2), "force": false},
		map[string]any{"name": "refs/heads/b", "beforeOid": strings.Repeat("0", 64), "afterOid": string(old), "force": false},
	}}
	if d := cmp.Diff(want, sent.Variables.Input); d != "" {
		t.Error(d)
	}
}

// Answers to a move that are none.
func TestAnswersToAMove(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		want client.Kind
	}{
		"empty":      {``, client.Transient},
		"no JSON":    {`<html>`, client.Transient},
		"no data":    {`{}`, client.Transient},
		"no payload": {`{"data":{"updateRefs":null}}`, client.Transient},
		"both":       {`{"data":{"updateRefs":{"clientMutationId":null}},"errors":[{"type":"UNPROCESSABLE","message":"no","path":["updateRefs"]}]}`, client.Refused},
		"old server": {`{"errors":[{"message":"Field 'updateRefs' doesn't exist on type 'Mutation'","extensions":{"code":"undefinedField","typeName":"Mutation","fieldName":"updateRefs"}}]}`, client.Refused},
		"hostile":    {`{"errors":[{"type":"UNPROCESSABLE","message":"a\u0007\n\u202eb ghs_abcDEF"}]}`, client.Refused},
	} {
		hub := &fake{t: t}
		hub.say = func(r *http.Request, body string) answerOf {
			switch {
			case r.URL.Path != "/graphql":
				return answerOf{}
			case strings.Contains(body, "updateRefs"):
				return answerOf{code: 200, body: tt.body}
			}
			return repoAnswer(obj{"id": "R1"})
		}
		f := hub.forge(nil)
		err := f.MoveBranches(context.Background(), testRepo, []plan.Move{{Branch: "a", New: plan.SHA(sha(2))}})
		if kindOf(err) != tt.want || (len(f.Lacks()) > 0) != (name == "old server") {
			t.Errorf("%s: %v, %q", name, err, f.Lacks())
		}
		if name == "hostile" && client.Judge(err).Reason != "a b ***; allow sluice's App to push to it" {
			t.Errorf("%q", client.Judge(err).Reason)
		}
	}
	hub := &fake{t: t, say: func(r *http.Request, _ string) answerOf {
		if r.URL.Path == "/graphql" {
			return answerOf{err: errors.New("connection reset")}
		}
		return answerOf{}
	}}
	f := hub.forge(nil)
	if err := f.MoveBranches(context.Background(), testRepo, []plan.Move{{Branch: "a", New: plan.SHA(sha(2))}}); kindOf(err) != client.Transient {
		t.Error(err)
	}
}
