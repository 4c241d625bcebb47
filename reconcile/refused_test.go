package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
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
func (w *world) gated(t *testing.T, strict bool, more ...string) {
	const file = "version: 1\ntimezone: UTC\nwindows: {w: {open: \"0 8 * * MON\", duration: 8h}}\nlayout: {preset: rt-rw, window: w}\n"
	policy, findings := config.Parse([]byte(file + strings.Join(more, "")))
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

// TestARefusedApprovalIsLeftAlone: it is tried again less and less often, and the status says that people merge.
func TestARefusedApprovalIsLeftAlone(t *testing.T) {
	for _, kind := range []client.Kind{client.Refused, client.Gone} {
		bubble(t, func(t *testing.T, w *world) {
			w.gated(t, false, approving)
			w.fault = func(c call) error {
				if c.op == "approval" {
					return &client.Error{Kind: kind, Reason: "Resource not accessible by integration"}
				}
				return nil
			}
			stop, from := started(w, reconcile.Options{})
			defer stop()
			w.open(one, pull{number: 1})
			time.Sleep(20 * time.Minute)
			if n := w.count(from, "approval"); n > 6 { // after 1, 2, 4 and 8 minutes
				t.Errorf("%s: %d approvals asked for at the beginning", kind, n)
			}
			time.Sleep(24 * time.Hour)
			if n := w.count(from, "approval"); n < 10 || n > 40 {
				t.Errorf("%s: %d approvals asked for in a day", kind, n)
			}
			w.change(one, func(h *hub) {
				if got := h.pulls[1].status; got.State != plan.Success || !strings.HasSuffix(got.Description, "merge it yourself: sluice's approval was refused: Resource not accessible by integration") {
					t.Errorf("%s: %+v", kind, got)
				}
			})
		}, one)
	}
}

const approving = "pull_requests: {live: approve, approvals: 0}\n"

// TestAnApprovalThatIsNotHeardOf: whether it stands is not known, so it is taken back, and then given anew; and each is one of what GitHub counts as content.
func TestAnApprovalThatIsNotHeardOf(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.gated(t, false, approving)
		var heard []plan.StatusState
		w.after = func(c call) error {
			if c.op != "approval" {
				return nil
			}
			if heard = append(heard, c.state); len(heard) == 1 {
				return &client.Error{Kind: client.Transient, Reason: "502"}
			}
			return nil
		}
		stop, _ := started(w, reconcile.Options{})
		w.open(one, pull{number: 1})
		time.Sleep(10 * time.Minute)
		stop()
		if want := []plan.StatusState{plan.Success, plan.Pending, plan.Success}; !slices.Equal(heard, want) {
			t.Errorf("%v, want %v", heard, want)
		}
	}, one)
}

// TestADismissalThatIsNotHeardOf: it is tried again, and nothing else is; while the approval stands GitHub's content is kept for it.
func TestADismissalThatIsNotHeardOf(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.gated(t, false, approving)
		lost := false
		w.after = func(c call) error {
			if c.op == "approval" && c.state == plan.Pending && !lost {
				lost = true
				return &client.Error{Kind: client.Transient, Reason: "502"}
			}
			return nil
		}
		stop, from := started(w, reconcile.Options{})
		w.open(one, pull{number: 1})
		time.Sleep(10 * time.Minute)
		w.within(func() {
			if w.dismissals != 1 {
				t.Errorf("content is kept for %d dismissals", w.dismissals)
			}
		})
		w.change(one, func(h *hub) { h.pulls[1].hold = true })
		w.note(one)
		time.Sleep(10 * time.Minute)
		stop()
		w.change(one, func(h *hub) {
			if h.pulls[1].approval.Stands || h.pulls[1].status.State != plan.Pending {
				t.Errorf("%+v, %+v", h.pulls[1].approval, h.pulls[1].status)
			}
		})
		for _, c := range w.calls {
			if c.op == "status" && c.sha == "" {
				t.Errorf("%+v", c)
			}
		}
		if n := w.count(from, "approval"); n > 4 || !lost {
			t.Errorf("%d approvals and dismissals, lost: %v", n, lost)
		}
	}, one)
}
