package forge

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// How the rules file came about: who opened the pull request that brought it, or whom its commit names, and what it was; by one point.
func TestRulesOrigin(t *testing.T) {
	w := newWorld(t, nil)
	origin := func(at, was plan.SHA) plan.RulesOrigin {
		t.Helper()
		w.hub.ResetRequests()
		o, err := w.forge.RulesOrigin(context.Background(), w.repo, at, was)
		w.must(err)
		if n := sum(w.requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
		return o
	}
	s, _ := w.look(Ask{})
	first := s.Bases["main"]
	o := origin(first.Tip, "")
	if o.SHA != first.Tip || o.By != "acme" || o.Pull != 0 || o.Was != nil {
		t.Errorf("as the repository was made: %+v", o)
	}

	n, err := w.r.OpenPull(standin.NewPull{Head: "day", By: "bob", Change: &standin.Change{By: "eve", Write: map[string]string{config.File: policyText + "  day: {open: \"0 8 * * *\", duration: 4h}\n"}}})
	w.must(err)
	s, _ = w.look(Ask{})
	merged, err := w.merge(n, w.pull(s, n).Head)
	w.must(err)
	w.push("main", "apps/later.yaml")
	s, _ = w.look(Ask{})
	o = origin(s.Bases["main"].Tip, first.File)
	if o.By != "bob" || o.Pull != n || o.SHA == "" || o.SHA == s.Bases["main"].Tip || o.Was == nil {
		t.Errorf("by a pull request, merged as %s: %+v", merged, o)
	}
	if diff := cmp.Diff([]window.Name{"day"}, o.Was.Changed(s.Bases["main"].Policy)); diff != "" {
		t.Errorf("windows changed (-want +got):\n%s", diff)
	}
	if o = origin(s.Bases["main"].Tip, plan.SHA("0000000000000000000000000000000000000001")); o.Was != nil || o.Pull != n {
		t.Errorf("of a blob that is gone: %+v", o)
	}

	if _, err := w.forge.RulesOrigin(context.Background(), w.repo, first.File, ""); client.KindOf(err) != client.Transient {
		t.Errorf("at what is no commit: %v", err)
	}
}

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// What a look wants to write waits with the question who changed the rules: it has an end of its own.
func TestRulesOriginIsNotWaitedForLong(t *testing.T) {
	w := newWorld(t, nil)
	s, _ := w.look(Ask{})
	waits, inner := time.Duration(0), w.options.Transport
	w.options.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		if end, is := r.Context().Deadline(); is && !isToken(r) {
			waits = time.Until(end)
		}
		return inner.RoundTrip(r)
	})
	w.unlimited()
	_, err := w.forge.RulesOrigin(context.Background(), w.repo, s.Bases["main"].Tip, "")
	w.must(err)
	if waits <= 0 || waits > originMost {
		t.Errorf("an answer is waited for %s", waits)
	}
}
