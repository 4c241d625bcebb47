package forge

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/plan"
)

// restart gives the world a Forge that remembers nothing.
func (w *world) restart() {
	w.Helper()
	f, err := New(Options{Options: w.options})
	w.must(err)
	w.forge = f
}

// unlock sets the status that a branch's rules demand, and moves the branch.
func (w *world) unlock(branch, sha string) error {
	w.Helper()
	green := plan.Status{Context: plan.PromoteContextFor(plan.Branch(branch)), State: plan.Success}
	w.must(w.forge.SetStatus(context.Background(), w.repo, plan.SHA(sha), green))
	return w.move(w.moveTo(branch, sha))
}

func demanding(branch string) standin.Rules {
	return standin.Rules{Checks: []standin.RequiredCheck{{Context: string(plan.PromoteContextFor(plan.Branch(branch))), App: appID}}}
}

// A ruleset that requires our status is known from the first look on, so that the first move after a start is not refused.
func TestRulesetsAreToldWithALook(t *testing.T) {
	w := newWindowed(t, "none", "rw/1", "rw/10", "rw/new")
	root := w.r.Tip("main")
	w.put("rw/1", root)
	w.put("rw/10", root)
	w.r.Protect("rw/10", demanding("rw/10"))
	w.r.Protect("rw/new", demanding("rw/new"))
	w.r.Protect("rw/*", standin.Rules{NoForce: true, Checks: []standin.RequiredCheck{{Context: "ci"}}, Bypass: []string{"sluice"}})
	demands := func(s plan.Snapshot, want ...bool) bool {
		for i, b := range s.Branches {
			if b.Demands != want[i] {
				return false
			}
		}
		return true
	}
	for range 2 {
		w.restart()
		tip := w.push("main", fmt.Sprint("x", time.Now().UnixNano()))
		s, first := w.look(Ask{})
		if !demands(s, false, true, false) || first["POST /graphql"] != 3 { // the page, which tells of the file; the branches; what stands on the line
			t.Errorf("%+v after %v", s.Branches, first)
		}
		w.hub.ResetRequests()
		w.must(w.unlock("rw/10", tip))
		if got := w.requests(); sum(got) != 2 || w.r.Tip("rw/10") != tip {
			t.Errorf("unlocked and moved by %v", got)
		}
		if s, got := w.look(Ask{}); !demands(s, false, true, false) || sum(got) != 1 {
			t.Errorf("%+v after %v", s.Branches, got)
		}
	}
	// What is made is asked about as soon as it was seen; what is deleted stays known.
	w.put("rw/new", root)
	w.look(Ask{})
	if s, got := w.look(Ask{}); !demands(s, false, true, true) || sum(got) != 1 {
		t.Errorf("%+v after %v", s.Branches, got)
	}
	w.put("rw/10", "")
	if s, got := w.look(Ask{}); !demands(s, false, true, true) || s.Branches[1].Relation != plan.Absent || sum(got) != 1 {
		t.Errorf("%+v after %v", s.Branches, got)
	}
	w.r.Unprotect("rw/10")
	w.r.Unprotect("rw/new")
	w.put("rw/10", root)
	w.look(Ask{})
	if s, got := w.look(Ask{}); !demands(s, false, false, true) || sum(got) != 1 { // rw/new is not asked about yet
		t.Errorf("%+v after %v", s.Branches, got)
	}
	w.forge.now = func() time.Time { return time.Now().Add(2 * rulesTTL) }
	if s, got := w.look(Ask{}); !demands(s, false, false, false) || got["POST /graphql"] != 1 {
		t.Errorf("%+v after %v", s.Branches, got)
	}
}

// TestUnguardedBranches: a branch that no ruleset gives the second lock is told from one that has it, or may have it. To restrict who may update it is not
// enough: our App may, and GitHub merges what was retargeted.
func TestUnguardedBranches(t *testing.T) {
	w := newWindowed(t, "none", "rw/1", "rw/2", "rw/3", "rw/4", "rw/new")
	for _, name := range []string{"rw/1", "rw/2", "rw/3", "rw/4"} {
		w.put(name, w.r.Tip("main"))
	}
	w.r.Protect("rw/*", standin.Rules{NoForce: true, NoDelete: true})
	w.r.Protect("rw/2", standin.Rules{Restrict: true, Bypass: []string{"sluice"}})
	w.r.Protect("rw/3", demanding("rw/3"))
	w.r.Protect("rw/4", standin.Rules{Classic: true, Restrict: true})
	s, _ := w.look(Ask{})
	for i, want := range []bool{true, true, false, false, false} {
		if b := s.Branches[i]; b.Unguarded != want {
			t.Errorf("%s: unguarded %v", b.Name, b.Unguarded)
		}
	}
}

// rulePart is a rule that requires checks; a context of "" stands for parameters that are not shown.
func rulePart(contexts ...string) obj {
	checks := []any{}
	for _, c := range contexts {
		if c == "" {
			return obj{"type": "REQUIRED_STATUS_CHECKS", "parameters": nil}
		}
		checks = append(checks, obj{"context": c})
	}
	return obj{"type": "REQUIRED_STATUS_CHECKS", "parameters": obj{"requiredStatusChecks": checks}}
}

func rulesPart(name string, more bool, rules ...any) obj {
	return obj{"name": name, "rules": connectionPart(more, rules...)}
}

// rulesHub is a fake of one branch at the source's tip.
func rulesHub(t *testing.T) *branchesHub {
	h := newBranchesHub(t, sourcePart("none", []string{"a"}, linkPart(tipSHA, -1, "x")), map[string]obj{"a": tipPart("a", tipSHA)})
	h.rules = map[string]any{}
	return h
}

// What an answer does not show takes back nothing that was known; what it shows counts.
func TestRulesetsThatAreNotShown(t *testing.T) {
	other := obj{"type": "UPDATE", "parameters": obj{}}
	ours := rulePart("ci", "Sluice/promote/A")
	for name, tt := range map[string]struct {
		rules  any
		fresh  bool // Demands with nothing known before
		before bool // Demands with the demand known before
	}{
		"demands":             {rulesPart("a", false, other, ours), true, true},
		"none":                {rulesPart("a", false), false, false},
		"others":              {rulesPart("a", false, other, rulePart("sluice/promote/ab", "sluice/promote", "ci")), false, false},
		"no branch":           {nil, false, true},
		"no list":             {obj{"name": "a", "rules": nil}, false, true},
		"no rules":            {obj{"name": "a", "rules": obj{"nodes": nil, "pageInfo": obj{}}}, false, true},
		"null":                {rulesPart("a", false, nil, other), false, true},
		"null beside":         {rulesPart("a", false, nil, ours), true, true},
		"no parameters":       {rulesPart("a", false, rulePart("")), false, true},
		"no list of checks":   {rulesPart("a", false, obj{"type": "REQUIRED_STATUS_CHECKS", "parameters": obj{}}), false, true},
		"more than a page":    {rulesPart("a", true, other), false, true},
		"another branch":      {rulesPart("A", false, ours), false, true},
		"another branch's no": {rulesPart("b", false), false, true},
	} {
		h := rulesHub(t)
		now := &clock{now: at}
		f := h.forge(func(o *Options) { o.Now = now.read })
		h.rules["a"] = tt.rules
		if got := observe(t, f, Ask{}).Branches[0].Demands; got != tt.fresh {
			t.Errorf("%s: %v", name, got)
		}
		f = h.forge(func(o *Options) { o.Now = now.read })
		h.rules["a"] = rulesPart("a", false, ours)
		observe(t, f, Ask{})
		h.rules["a"] = tt.rules
		if !observe(t, f, Ask{}).Branches[0].Demands {
			t.Errorf("%s: asked again at once", name)
		}
		now.pass(rulesTTL)
		h.took()
		for range 2 {
			if got := observe(t, f, Ask{}).Branches[0].Demands; got != tt.before {
				t.Errorf("%s: %v after the demand was known", name, got)
			}
		}
		if got := h.took(); len(got) != 3 { // two looks, and the rules of the base, which are due too
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Errors within a list of rules leave it unknown, and the rest of the answer counts; others make the branch unknown, or end the look.
func TestErrorsWithinRules(t *testing.T) {
	within := `"path":["repository","r0","rules"]`
	for fault, want := range map[string]client.Kind{
		`{"type":"FORBIDDEN","message":"Resource not accessible by integration",` + within + `}`:                      "",
		`{"type":"INTERNAL","message":"oops","path":["repository","r0","rules","nodes",3,"parameters"]}`:              "",
		`{"message":"Something went wrong",` + within + `}`:                                                           "",
		`{"type":"RATE_LIMITED","message":"API rate limit exceeded",` + within + `}`:                                  client.Limited,
		`{"type":"FORBIDDEN","message":"no","path":["repository","r0"]}`:                                              "",
		`{"type":"FORBIDDEN","message":"no","path":["repository","t0","refUpdateRule","rules"]}`:                      "unknown",
		`{"message":"no","path":["query","repository","rules"],"extensions":{"code":"argumentLiteralsIncompatible"}}`: "unknown",
	} {
		h := rulesHub(t)
		h.say = func(r *http.Request, body string) answerOf {
			a := h.answer(r, body)
			if operation(body) == "branches" {
				a.body = strings.Replace(a.body, `{"data"`, `{"errors":[`+fault+`],"data"`, 1)
			}
			return a
		}
		s, err := h.forge(nil).Observe(context.Background(), testRepo, Ask{})
		if want == "unknown" && err == nil && s.Branches[0].Unread.Is() && s.Branches[0].Relation == plan.RelationUnknown {
			continue
		}
		if kindOf(err) != want || err == nil && (s.Branches[0].Relation != plan.Level || s.Branches[0].Demands) {
			t.Errorf("%s: %v, %+v", fault, err, s.Branches)
		}
	}
}

// A page that is too heavy with the rulesets is a small one that once; they are read apart, and given up if even a few are too heavy.
func TestHeavyRulesets(t *testing.T) {
	names := manyNames(race.Or(2*rulesetsApart+2, 4*rulesetsApart)) // halved, they are taken; and not yet given up
	h := newBranchesHub(t, sourcePart("none", names, linkPart(tipSHA, -1, "x")), map[string]obj{})
	h.rules = map[string]any{}
	for _, name := range names {
		h.tips[name] = tipPart(name, tipSHA)
		h.rules[name] = rulesPart(name, false)
	}
	last := names[len(names)-1]
	h.rules[last] = rulesPart(last, false, rulePart("sluice/promote/"+last))
	most := 2 * rulesetsApart
	h.say = func(r *http.Request, body string) answerOf {
		if n := strings.Count(body, "...rulesets"); n > most || n > 0 && operation(body) == "look" {
			return answerOf{code: 502}
		}
		return h.answer(r, body)
	}
	now := &clock{now: at}
	f := h.forge(func(o *Options) { o.Now = now.read })
	for i, want := range []int{
		7,       // the page, all branches at once, without their rulesets, those, their halves; the rules of the base
		1, 8, 1, // due: the page twice, the branches with and without rulesets, those, their halves; the rules of the base
		12, 1, // given up: the page twice, the branches twice, seven tries; the rules of the base
	} {
		if i == 2 || i == 4 {
			now.pass(rulesTTL)
		}
		if i == 4 {
			most = 0
		}
		s := observe(t, f, Ask{})
		if b := s.Branches[len(names)-1]; !b.Demands || b.Relation != plan.Level || s.Branches[0].Demands {
			t.Errorf("look %d: %+v", i, b)
		}
		if got := h.took(); len(got) > want {
			t.Errorf("look %d: %v", i, got)
		}
	}
}

// A branch that is not there is not asked about again and again: each list costs.
func TestRulesetsOfWhatIsNotThere(t *testing.T) {
	h := rulesHub(t)
	delete(h.tips, "a")
	lists := 0
	h.say = func(r *http.Request, body string) answerOf {
		lists += strings.Count(body, "{ ...rulesets }")
		return h.answer(r, body)
	}
	f := h.forge(nil)
	for i, want := range []int{1, 1, 1, 2, 2} {
		if i == 2 {
			h.tips["a"] = tipPart("a", tipSHA)
		}
		if observe(t, f, Ask{}); lists != want {
			t.Errorf("look %d: %d lists so far, want %d", i, lists, want)
		}
	}
}

// What is too heavy together is asked for apart before anything is given up.
func TestRulesetsApartFromTheRest(t *testing.T) {
	h := rulesHub(t)
	h.rules["a"] = rulesPart("a", false, rulePart("sluice/promote/a"))
	h.say = func(r *http.Request, body string) answerOf {
		if strings.Contains(body, "{ ...rulesets }") && strings.Contains(body, "{ ...bearer }") {
			return answerOf{code: 502}
		}
		return h.answer(r, body)
	}
	if s := observe(t, h.forge(nil), Ask{}); !s.Branches[0].Demands || s.Branches[0].Relation != plan.Level {
		t.Errorf("%+v", s.Branches[0])
	}
}
