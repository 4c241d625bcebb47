package reconcile_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// gated makes package gate decide, for a repository whose pull requests are live and ready. A first head is behind its base, and
// that counts on a strict one; every later head is up to date.
func (w *world) gated(t *testing.T, strict bool) {
	const file = "version: 1\ntimezone: UTC\nwindows: {w: {open: \"0 8 * * MON\", duration: 8h}}\nlayout: {preset: rt-rw, window: w}\n"
	policy, findings := config.Parse([]byte(file))
	if policy == nil {
		t.Fatal(findings)
	}
	w.decide = func(s plan.Snapshot) plan.Plan {
		s.App = 1
		base := s.Bases["main"]
		base.File, base.Policy, base.Rules, base.Strict = "blob", policy, true, strict
		base.Required = []plan.RequiredCheck{{Context: "sluice/main", App: 1}}
		s.Bases["main"] = base
		for i := range s.Pulls {
			p := &s.Pulls[i]
			p.Files = []plan.File{{Path: fmt.Sprintf("apps/a-rt/%d", p.Number), Kind: plan.Modified}}
			p.Complete, p.SameRepo, p.ChecksAll, p.Mergeable = true, true, true, plan.MergeableYes
			p.Checks = []plan.Check{{Context: "ci", State: plan.CheckGreen}}
			p.MergeBase = base.Tip
			if p.Head == (&pull{number: p.Number, head: 1}).sha() {
				p.MergeBase = "before"
			}
		}
		return gate.Decide(s)
	}
}

func TestARefusedUpdateKeepsNobodyElseWaiting(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.gated(t, true)
		w.fault = func(c call) error {
			if c.op == "update" && c.pull == 1 {
				return &client.Error{Kind: client.Refused, Reason: "refusing to allow a GitHub App to create or update workflow"}
			}
			return nil
		}
		stop, from := started(w, reconcile.Options{})
		defer stop()
		w.open(one, pull{number: 1})
		w.open(one, pull{number: 2})
		time.Sleep(10 * time.Minute)
		w.want(one, 1, "pending")
		w.want(one, 2, "merged")
		time.Sleep(24 * time.Hour)
		if n := w.count(from, "update"); n > 40 {
			t.Errorf("%d updates asked for in a day", n)
		}
	}, one)
}

// A commit takes a thousand statuses of one context.
func TestARefusedSuccessKeepsNobodyElseWaiting(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.gated(t, true)
		w.fault = func(c call) error {
			if c.op == "status" && c.pull == 1 && c.state == plan.Success {
				return &client.Error{Kind: client.Refused, Reason: "This SHA and context has reached the maximum number of statuses."}
			}
			return nil
		}
		w.change(one, func(h *hub) {
			h.pulls[1] = &pull{number: 1, head: 2}
			h.pulls[2] = &pull{number: 2, head: 2}
		})
		stop, from := started(w, reconcile.Options{})
		defer stop()
		time.Sleep(10 * time.Minute)
		w.want(one, 2, "merged")
		time.Sleep(24 * time.Hour)
		if n := w.count(from, "status"); n > 100 {
			t.Errorf("%d statuses in a day", n)
		}
	}, one)
}
