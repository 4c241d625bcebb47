package forge

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
)

// passed is a ruleset that requires our status, and lets our App pass.
func passed() standin.Rules {
	return standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main", App: appID}}, Bypass: []string{"sluice"}}
}

const getRuleset = "GET /repos/{owner}/{repo}/rulesets/{ruleset_id}"

// TestBypass: a ruleset that lets our App pass is named with what it demands of a merge.
func TestBypass(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*standin.Rules)
		want []plan.Ruleset
	}{
		"our status":   {want: []plan.Ruleset{{Demands: []string{"sluice/main"}}}},
		"pulls only":   {edit: func(r *standin.Rules) { r.PullsOnly = true }, want: []plan.Ruleset{{Demands: []string{"sluice/main"}}}},
		"never":        {edit: func(r *standin.Rules) { r.Bypass = []string{"root"} }},
		"protection":   {edit: func(r *standin.Rules) { r.Classic = true }},
		"branch rules": {edit: func(r *standin.Rules) { r.Checks, r.NoForce, r.NoDelete, r.Restrict = nil, true, true, true }},
		"strict": {
			edit: func(r *standin.Rules) { r.Strict = true }, want: []plan.Ruleset{{Demands: []string{"heads that are up to date", "sluice/main"}}},
		},
		"another check": {
			edit: func(r *standin.Rules) { r.Checks = []standin.RequiredCheck{{Context: "ci"}} }, want: []plan.Ruleset{{Demands: []string{"other checks"}}},
		},
		"reviews": {
			edit: func(r *standin.Rules) { r.Reviews = 2 }, want: []plan.Ruleset{{Demands: []string{"reviews", "sluice/main"}, Reviews: 2}},
		},
		"unseen": {
			edit: func(r *standin.Rules) { r.Checks, r.Other = nil, []standin.Rule{{Type: "required_signatures"}} },
			want: []plan.Ruleset{{Demands: []string{"required signatures"}, Unseen: []string{"required signatures"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, rules := newWorld(t, nil), passed()
			if c.edit != nil {
				c.edit(&rules)
			}
			w.r.Protect("main", rules)
			w.r.Protect("mai*", standin.Rules{Reviews: 1}) // one that binds us
			for i := range c.want {
				c.want[i].Name = "main"
			}
			s, _ := w.look(Ask{Rulesets: true})
			if d := cmp.Diff(c.want, s.Bases["main"].Bypassed); d != "" || !s.Bases["main"].Rules {
				t.Errorf("rules %v, bypassed (-want +got):\n%s", s.Bases["main"].Rules, d)
			}
			if s, sent := w.look(Ask{Rules: true}); sent[getRuleset] != 0 || cmp.Diff(c.want, s.Bases["main"].Bypassed) != "" {
				t.Errorf("nobody asked, and it is %+v after %v", s.Bases["main"].Bypassed, sent)
			}
			if _, sent := w.look(Ask{Rules: true, Rulesets: true}); sent[getRuleset] != len(c.want) {
				t.Errorf("rules that are read anew ask of more than what lets us pass: %v", sent)
			}
			rules.Bypass = nil
			w.r.Protect("main", rules)
			if s, _ := w.look(Ask{Rules: true, Rulesets: true}); len(s.Bases["main"].Bypassed) > 0 {
				t.Errorf("it is not seen that it binds us now: %+v", s.Bases["main"].Bypassed)
			}
		})
	}
}

// TestBypassUnread: a ruleset that cannot be read stands as it was known to; one that does not say that it lets our App pass does not.
func TestBypassUnread(t *testing.T) {
	for name, fault := range map[string]api.Fault{
		"fault":     {Status: http.StatusBadGateway},
		"not there": {Status: http.StatusNotFound},
		"silent":    {Status: http.StatusOK, Body: `{"id":ID,"name":"x","source":"acme/fleet","enforcement":"active"}`},
		"another":   {Status: http.StatusOK, Body: `{"id":1,"name":"x","source":"acme/fleet","enforcement":"active","current_user_can_bypass":"never"}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.r.Protect("main", passed())
			w.look(Ask{Rulesets: true})
			var rules []struct {
				ID int64 `json:"ruleset_id"`
			}
			w.must(w.forge.Installation(w.repo.Installation).Get(t.Context(), look.PathOf(w.repo)+"/rules/branches/main", &rules))
			fault.Body = strings.ReplaceAll(fault.Body, "ID", fmt.Sprint(rules[0].ID))
			fault.Path, fault.Method = "/repos/{owner}/{repo}/rulesets/{ruleset_id}", "GET"
			w.hub.Fault(fault)
			w.forge.now = func() time.Time { return time.Now().Add(2 * rulesTTL) }
			s, _ := w.look(Ask{Rules: true, Rulesets: true})
			if b := s.Bases["main"]; len(b.Bypassed) == 0 != (name == "silent") || !b.Rules {
				t.Errorf("%+v", b)
			}
		})
	}
}

// TestBypassLimited: what a limit kept from being read whole is read anew, and nothing of it counts meanwhile.
func TestBypassLimited(t *testing.T) {
	w := newWorld(t, nil)
	w.r.Protect("main", passed())
	w.hub.Fault(api.Fault{Method: "GET", Path: "/repos/{owner}/{repo}/rulesets/{ruleset_id}", Status: http.StatusForbidden, Body: `{"message":"You have exceeded a secondary rate limit."}`})
	if _, err := w.forge.Observe(t.Context(), w.repo, Ask{Rulesets: true}); kindOf(err) != client.Limited {
		t.Fatalf("%v", err)
	}
	w.unlimited()
	if _, sent := w.look(Ask{}); sent["GET /repos/{owner}/{repo}/rules/branches/{branch}"] != 1 {
		t.Errorf("half of the rules is kept: %v", sent)
	}
}
