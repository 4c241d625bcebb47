package forge

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

func TestABaseThatShowedItselfStrictIsStrictForADay(t *testing.T) {
	for name, show := range map[string]func(t *testing.T, f *Forge, head obj){
		"a head is called behind": func(t *testing.T, f *Forge, head obj) {
			head["mergeStateStatus"] = "BEHIND"
			observe(t, f, Ask{})
			head["mergeStateStatus"] = "BLOCKED" // by our own pending status
		},
		"a merge is refused": func(t *testing.T, f *Forge, _ obj) {
			_, err := f.Merge(context.Background(), testRepo, plan.Merge{Pin: plan.Pin{SHA: "head"}, Pull: 1, Base: "main"})
			if kindOf(err) != client.Refused {
				t.Errorf("got %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			head := pullPart(1)
			head["mergeStateStatus"] = "BLOCKED"
			repo := repoPart(head)
			now := at
			hub := &fake{t: t}
			hub.say = func(r *http.Request, body string) answerOf {
				if r.Method == http.MethodPut {
					return answerOf{code: 409, body: `{"message":"Head branch is out of date. Review and try the merge again."}`}
				}
				if r.URL.Path == "/repos/acme/fleet/pulls/1" {
					return answerOf{code: 200, body: `{"merged":false}`}
				}
				return sayRepo(repo)(r, body)
			}
			f := hub.forge(func(o *Options) { o.Now = func() time.Time { return now } })
			strict := func() bool { return observe(t, f, Ask{Rules: true}).Bases["main"].Strict }
			if strict() {
				t.Error("strict before anything showed it")
			}
			show(t, f, head)
			if now = at.Add(23 * time.Hour); !strict() {
				t.Error("forgotten")
			}
			if now = at.Add(25 * time.Hour); strict() {
				t.Error("strict for ever")
			}
		})
	}
}
