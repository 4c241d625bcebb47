package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin/api"
)

// What cannot work is said. While GitHub is away, or limits us, or refuses every look, the service stays ready, since a pod that is
// taken out of its Service loses everybody's deliveries; readiness and the page say which installation lags, since when, and why,
// until it does not any more. Readiness, which strangers may ask, names no repository; the page does. Another installation is served all the while.
func TestLagIsSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault api.Fault
		kind  string // on the webhook's address
		why   string // on the page
	}{
		"away":    {api.Fault{Status: http.StatusBadGateway}, ": GitHub does not answer", "GitHub timed out"},
		"limited": {api.SecondaryLimit(http.StatusTooManyRequests, 2*time.Second), ": rate limited until ", ": rate limited until "},
		"refused": {api.Fault{Status: http.StatusForbidden, Body: `{"message":"acme/fleet: not accessible"}`}, ": GitHub refused", "acme/fleet: not accessible"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, rules(shutForYears))
			beta := w.neighbour()
			p := w.start()
			ready := p.base() + "/readyz"
			w.hasStatus(w.open("before", "apps/a-rw/before"), "pending: held by w")
			w.eventually("all is well", func() bool { code, body := get(t, ready); return code == http.StatusOK && body == "ready\n" })
			c.fault.Method, c.fault.Path, c.fault.Contains, c.fault.Times = http.MethodPost, "/graphql", `"owner":"acme"`, -1
			healed := w.github.Fault(c.fault)
			n := w.open("during", "apps/a-rw/during")
			w.eventually("readiness says what lags", func() bool {
				code, body := get(t, ready)
				if code != http.StatusOK {
					t.Fatalf("%d %s", code, body)
				}
				return strings.Contains(body, "ready\n- installation ") && strings.Contains(body, ": 1 repository not up to date since ") && strings.Contains(body, c.kind) &&
					!strings.Contains(body, "fleet")
			})
			w.eventually("the page says it", func() bool {
				_, body := get(t, p.page)
				return strings.Contains(body, "not up to date since ") && strings.Contains(body, c.why)
			})
			live := openIn(t, beta, "live", "apps/a-rt/y")
			w.eventually("the other installation is served", func() bool { return pullIn(t, beta, live).Merged })
			healed()
			w.hasStatus(n, "pending: held by w")
			w.eventually("nothing lags any more", func() bool { _, body := get(t, ready); return body == "ready\n" })
		})
	}
}
