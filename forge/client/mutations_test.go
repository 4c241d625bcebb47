package client

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/budget"
)

// TestMutationsOfOneRequest: several mutations in one request cost as if each went alone, and are limited as one.
func TestMutationsOfOneRequest(t *testing.T) {
	const done = `{"clientMutationId":null}`
	for name, tt := range map[string]struct {
		body  string
		each  [3]Kind
		whole Kind
	}{
		"done":                     {body: `{"data":{"m0":` + done + `,"m1":` + done + `,"m2":` + done + `}}`},
		"a limit amid it":          {body: `{"data":{"m0":` + done + `,"m1":null,"m2":null},"errors":[{"type":"RATE_LIMITED","message":"slow down"}]}`, each: [3]Kind{"", Transient, Transient}},
		"a limit at the beginning": {body: `{"errors":[{"type":"RATE_LIMITED","message":"slow down"}]}`, whole: Limited},
		"no data":                  {body: `{}`, each: [3]Kind{Transient, Transient, Transient}},
	} {
		hub := &fake{t: t, say: func(r *http.Request, body string) answerOf {
			if isToken(r) || !strings.Contains(body, "mutation move") {
				return answerOf{}
			}
			return answerOf{code: 200, body: tt.body}
		}}
		f := hub.app(func(o *Options) { o.Pace = 900 })
		c := f.Installation(install)
		each, err := c.MutateEach(t.Context(), "mutation move", []string{"m0", "m1", "m2"}, nil)
		if kindOf(err) != tt.whole {
			t.Errorf("%s: %v", name, err)
		}
		for i := range each {
			if kindOf(each[i]) != tt.each[i] {
				t.Errorf("%s: %d: %v, want %q", name, i, each[i], tt.each[i])
			}
		}
		if spent := c.limits.Spent(budget.GraphQL, at); spent != 3*pointsWrite {
			t.Errorf("%s: %v points", name, spent)
		}
		_, until, cause := c.limits.Reserve(budget.Price{Of: budget.GraphQL, Class: budget.Debt}, at)
		if strings.Contains(name, "limit") != (cause == budget.GitHubs) {
			t.Errorf("%s: the limit is remembered until %v", name, until)
		}
		if until.IsZero() {
			until = at
		}
		if pause := Judge(c.limits.see(answered429(), until)).Until.Sub(until); pause > 2*minPause {
			t.Errorf("%s: it counts as several: the next one's pause is %s", name, pause)
		}
	}
}
