package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// What Flux reports of the commits to which windowed branches moved, by statuses and by events of its own.

const fluxSecret = "of the provider"

// fluxStatus sets the status by which a cluster's Flux reports on a commit of a branch.
func (w *world) fluxStatus(sha, branch, state, says string) {
	w.t.Helper()
	w.must(w.repo.SetStatus(standin.Status{
		SHA: sha, Context: "kustomization/" + branch + "/apps-rw", State: state, Description: says, By: standin.Actor{Login: "flux-bot"},
	}))
}

// TestFluxReportsByStatus: what Flux says of a commit is the verdict on the branch that it names, in the plan and on the page; and it
// is no check: a commit that one cluster could not apply still goes to the others.
func TestFluxReportsByStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.ReplaceAll(following(openForYears, "rw/a", "rw/b", "rw/c"), "checks: none", "checks: all"))
	base := w.tip("main")
	w.plant(base, "rw/a", "rw/b", "rw/c")
	p := w.serve()
	tip := w.push("main", "apps/a-rw/x")
	w.report(tip, "ci", "success")
	w.reach(tip, "rw/a", "rw/b", "rw/c")
	w.fluxStatus(tip, "rw/a", "success", "reconciliation succeeded")
	w.fluxStatus(tip, "rw/b", "failure", "health check failed")
	w.eventually("the page says what Flux said", func() bool {
		_, body := get(t, p.page)
		return strings.Contains(body, "applied by Flux on ") && strings.Contains(body, "Flux failed to apply "+tip[:7])
	})
	w.summed(tip, "success: all 3 branches are at this commit; Flux failed to apply it on rw/b")
	branches := w.planned(0)
	w.verdict(branches["rw/a"], "applied", "applied by Flux on ")
	w.verdict(branches["rw/b"], "failed", "Flux failed to apply "+tip[:7]+": rw/b/apps-rw: health check failed")
	w.verdict(branches["rw/c"], "current", "up to date with main")
	w.plant(base, "rw/c")
	w.reach(tip, "rw/c")
}

// TestFluxReportsByEvent: the same by the events that Flux posts to sluice itself. They are taken from whoever knows the secret, and
// about a repository that is known.
func TestFluxReportsByEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, following(openForYears, "rw/a", "rw/b"))
	w.plant(w.tip("main"), "rw/a", "rw/b")
	p := w.serve("SLUICE_FLUX_SECRET=" + fluxSecret)
	tip := w.push("main", "apps/a-rw/x")
	w.reach(tip, "rw/a", "rw/b")
	applied := fluxEvent("rw/a", tip, "info", "ReconciliationSucceeded", "Reconciliation finished in 1.2s")
	for _, c := range []struct {
		name, repo, key string
		want            int
	}{
		{"wrong secret", "acme/fleet", secret, http.StatusUnauthorized},
		{"no signature", "acme/fleet", "", http.StatusUnauthorized},
		{"another repository", "acme/other", fluxSecret, http.StatusNotFound},
	} {
		if code := p.flux(c.repo, c.key, applied); code != c.want {
			t.Errorf("%s: %d, want %d", c.name, code, c.want)
		}
	}
	w.verdict(w.planned(0)["rw/a"], "current", "")
	failed := fluxEvent("rw/b", tip, "error", "HealthCheckFailed", "Deployment/nginx is not ready")
	for _, body := range []string{applied, failed} {
		if code := p.flux("acme/fleet", fluxSecret, body); code != http.StatusAccepted {
			t.Fatalf("an event is answered %d", code)
		}
	}
	branches := w.planned(0) // it is durable before it is answered
	w.verdict(branches["rw/a"], "applied", "applied by Flux on ")
	w.verdict(branches["rw/b"], "failed", "Flux failed to apply "+tip[:7]+": one/flux-system/apps-rw: Deployment/nginx is not ready")
	w.eventually("the page says so", func() bool {
		_, body := get(t, p.page)
		return strings.Contains(body, "applied by Flux on ") && strings.Contains(body, "Deployment/nginx is not ready")
	})
	if strings.Contains(p.text(), fluxSecret) {
		t.Error("the secret stands in the log")
	}
}

// TestFluxWithoutASecret: without the setting there is no address for events, or anybody could say that all is well.
func TestFluxWithoutASecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t, following(openForYears, "rw/a"))
	tip := w.tip("main")
	w.plant(tip, "rw/a")
	p := w.serve()
	w.summed(tip, "success: ")
	if code := p.flux("acme/fleet", "", fluxEvent("rw/a", tip, "info", "ReconciliationSucceeded", "")); code != http.StatusNotFound {
		t.Errorf("an event is answered %d", code)
	}
	w.verdict(w.planned(0)["rw/a"], "current", "up to date with main")
}

// fluxEvent is what the notification-controller of the cluster "one" posts of its Kustomization apps-rw.
func fluxEvent(branch, sha, severity, reason, message string) string {
	return fmt.Sprintf(`{"involvedObject":{"kind":"Kustomization","namespace":"flux-system","name":"apps-rw",`+
		`"apiVersion":"kustomize.toolkit.fluxcd.io/v1"},"severity":%q,"timestamp":%q,"reason":%q,"message":%q,`+
		`"metadata":{"commit_status":"update","revision":"%s@sha1:%s","cluster":"one"},"reportingController":"kustomize-controller"}`,
		severity, time.Now().UTC().Format(time.RFC3339), reason, message, branch, sha)
}

// flux posts an event as Flux's generic-hmac provider does, and gives the answer's code. Without a key it is not signed.
func (p *process) flux(repo, key, body string) int {
	p.w.t.Helper()
	req, err := http.NewRequestWithContext(p.w.t.Context(), http.MethodPost, p.base()+"/flux/"+repo, strings.NewReader(body))
	p.w.must(err)
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		sum := hmac.New(sha256.New, []byte(key))
		sum.Write([]byte(body))
		req.Header.Set("X-Signature", "sha256="+hex.EncodeToString(sum.Sum(nil)))
	}
	answer, err := http.DefaultClient.Do(req)
	p.w.must(err)
	_ = answer.Body.Close()
	return answer.StatusCode
}
