package forge

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// TestFrozen: the branch that freezes comes with each look and freezes the policies that it shows. An answer that does not say whether it is there is none.
func TestFrozen(t *testing.T) {
	const rules = "version: 1\ntimezone: UTC\nwindows: {w: {open: \"0 8 * * MON\", duration: 8h}}\nlayout: {preset: rt-rw, window: w}\n"
	for name, c := range map[string]struct {
		freeze any
		errs   string
		want   plan.Freeze
		fails  client.Kind
	}{
		"none":                   {freeze: nil},
		"one":                    {freeze: obj{"target": obj{"oid": "f1", "message": "down\n\nmore"}}, want: plan.Freeze{Tip: "f1", Reason: "down"}},
		"a tip that is not seen": {freeze: obj{"target": nil}, want: plan.Freeze{Tip: "?"}},
		"nothing said of it":     {freeze: "missing", fails: client.Transient},
		"odd":                    {freeze: []any{1}, fails: client.Transient},
		"an error about it":      {errs: `{"path":["repository","freeze","target"],"message":"x"}`, fails: client.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, nil)
			l.say = func(_ *http.Request, body string) answerOf {
				if operation(body) != "look" {
					return answerOf{}
				}
				repo := repoPart()
				repo["defaultBranchRef"] = basePart("main", rules)
				if repo["freeze"] = c.freeze; c.freeze == "missing" {
					delete(repo, "freeze")
				}
				a := repoAnswer(repo)
				if c.errs != "" {
					a.body = strings.TrimSuffix(a.body, "}") + `,"errors":[` + c.errs + `]}`
				}
				return a
			}
			for range 2 { // what is remembered is not frozen
				s, err := l.f.Observe(context.Background(), testRepo, Ask{})
				if kindOf(err) != c.fails || s.Frozen != c.want {
					t.Fatalf("%+v, %v", s.Frozen, err)
				}
				if err != nil {
					return
				}
				policy := s.Bases["main"].Policy
				if policy == nil {
					t.Fatalf("no policy: %+v", s.Bases["main"])
				}
				if state := policy.Calendar.At(window.Live, s.At); state.Releasable == c.want.Is() {
					t.Errorf("live is %+v", state)
				}
				c.freeze, c.want = nil, plan.Freeze{}
			}
		})
	}
}
