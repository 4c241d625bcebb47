package webhook_test

import (
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/webhook"
)

const fluxSecret = "of the provider"

const promoted = plan.SHA("731f7eaddfb6af01cb2173e18f0f75b0ba780ef1")

// applied is an event as notification-controller posts it after a reconciliation.
const applied = `{
  "involvedObject": {"kind": "Kustomization", "namespace": "flux-system", "name": "apps-rw",
    "uid": "7d0cdc51-ddcf-4743-b223-83ca5c699632", "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "resourceVersion": "13243"},
  "severity": "info", "timestamp": "2026-11-23T11:59:07Z", "reason": "ReconciliationSucceeded",
  "message": "Reconciliation finished in 1.2s,\nnext run in 10m0s",
  "metadata": {"commit_status": "update", "revision": "rw/cluster-1@sha1:731f7eaddfb6af01cb2173e18f0f75b0ba780ef1"},
  "reportingController": "kustomize-controller", "reportingInstance": "kustomize-controller-7c7b47f5f-8bhrp"}`

// flux is a request as Flux's generic-hmac provider sends it.
func flux(path, body string) *http.Request {
	req := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Signature", "sha256="+sign(sha256.New, fluxSecret, body))
	return req
}

func TestFluxReport(t *testing.T) {
	w := newWorld()
	same(t, "status", w.send(flux("/flux/Acme/fleet", applied)).Code, http.StatusAccepted)
	same(t, "kept", w.reports, []plan.Report{{SHA: promoted, Branch: "rw/cluster-1", Object: "flux-system/apps-rw",
		State: plan.CheckGreen, Says: "Reconciliation finished in 1.2s, next run in 10m0s", At: noon.Add(-53 * time.Second)}})
	same(t, "poked", w.poked, []webhook.Hint{{Repo: fleet, Event: webhook.EventFlux}})
	same(t, "again", w.send(flux("/flux/Acme/fleet", applied)).Code, http.StatusAccepted)
	same(t, "pokes after no news", len(w.poked), 1)
}

func TestWhatFluxSays(t *testing.T) {
	edit := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(applied) }
	const rev = "rw/cluster-1@sha1:" + string(promoted)
	report := func(f func(*plan.Report)) *plan.Report {
		r := plan.Report{SHA: promoted, Branch: "rw/cluster-1", Object: "flux-system/apps-rw", State: plan.CheckGreen,
			Says: "Reconciliation finished in 1.2s, next run in 10m0s", At: noon.Add(-53 * time.Second)}
		f(&r)
		return &r
	}
	for _, c := range []struct {
		name, body string
		want       *plan.Report // nil: nothing
	}{
		{"progress", edit("ReconciliationSucceeded", "Progressing"), report(func(r *plan.Report) { r.State = plan.CheckPending })},
		{"a dependency is not ready", edit("ReconciliationSucceeded", "DependencyNotReady"), report(func(r *plan.Report) { r.State = plan.CheckPending })},
		{"what it deleted as it was deleted itself", edit(`"commit_status": "update", `, "", "Reconciliation finished in 1.2s,\\nnext run in 10m0s", "Deployment/nginx/nginx deleted"), nil},
		{"success of another kind", edit(`"update"`, `"none"`), nil},
		{"the mark with its group", edit(`"commit_status"`, `"kustomize.toolkit.fluxcd.io/commit_status"`), report(func(*plan.Report) {})},
		{"a failure", edit(`"info"`, `"error"`, "ReconciliationSucceeded", "BuildFailed"), report(func(r *plan.Report) { r.State = plan.CheckRed })},
		{"an error is one whatever its reason", edit(`"info"`, `"error"`), report(func(r *plan.Report) { r.State = plan.CheckRed })},
		{"a trace", edit(`"info"`, `"trace"`), nil},
		{"a severity of tomorrow", edit(`"info"`, `"Info"`), nil},
		{"another kind", edit(`"Kustomization"`, `"HelmRelease"`), nil},
		{"a Kustomization of another group", edit("kustomize.toolkit.fluxcd.io/v1", "kustomize.config.k8s.io/v1"), nil},
		{"no group", edit("kustomize.toolkit.fluxcd.io/v1", ""), report(func(*plan.Report) {})},
		{"no name", edit("apps-rw", ""), nil},
		{"no name of Kubernetes", edit("apps-rw", "apps/rw"), nil},
		{"a name without end", edit("apps-rw", strings.Repeat("a", 254)), nil},
		{"no time", edit("2026-11-23T11:59:07Z", "0001-01-01T00:00:00Z"), nil},
		{"a time of another zone", edit("2026-11-23T11:59:07Z", "2026-11-23T12:59:07+01:00"), report(func(*plan.Report) {})},
		{"the key with its group", edit(`"revision"`, `"kustomize.toolkit.fluxcd.io/revision"`), report(func(*plan.Report) {})},
		{"no revision", edit(`"revision"`, `"checksum"`), nil},
		{"an artifact built from a commit", edit(`"revision"`, `"originRevision"`, `"commit_status"`, `"revision": "latest@sha256:1", "commit_status"`), report(func(*plan.Report) {})},
		{"an artifact of another origin", edit(rev, "latest@sha256:"+strings.Repeat("a", 64)), nil},
		{"a commit without a branch", edit(rev, "sha1:"+string(promoted)), nil},
		{"a commit with an empty branch", edit(rev, "@sha1:"+string(promoted)), nil},
		{"the form of long ago", edit(rev, "rw/cluster-1/"+string(promoted)), nil},
		{"a short commit", edit(rev, "rw/cluster-1@sha1:731f7ea"), nil},
		{"a commit in capitals", edit(rev, "rw/cluster-1@sha1:"+strings.ToUpper(string(promoted))), nil},
		{"a reference by its full name", edit("rw/cluster-1@", "refs/heads/rw/cluster-1@"), report(func(*plan.Report) {})},
		{"a branch that looks like a revision", edit("rw/cluster-1@", "a@sha1:b@c@"), report(func(r *plan.Report) { r.Branch = "a@sha1:b@c" })},
		{"a branch without end", edit("rw/cluster-1@", strings.Repeat("b", 256)+"@"), nil},
		{"a cluster", edit(`"commit_status": "update"`, `"commit_status": "update", "cluster": "eu-1"`), report(func(r *plan.Report) { r.Object = "eu-1/flux-system/apps-rw" })},
		{"a cluster by an annotation", edit(`"commit_status": "update"`, `"commit_status": "update", "event.toolkit.fluxcd.io/cluster": "eu-1"`), report(func(r *plan.Report) { r.Object = "eu-1/flux-system/apps-rw" })},
		{"a cluster like two", edit(`"commit_status": "update"`, `"commit_status": "update", "cluster": "eu/\u202e1\n2"`), report(func(r *plan.Report) { r.Object = "eu-1 2/flux-system/apps-rw" })},
		{"a cluster without end", edit(`"commit_status": "update"`, `"commit_status": "update", "cluster": "`+strings.Repeat("ä", 100)+`"`), report(func(r *plan.Report) { r.Object = strings.Repeat("ä", 63) + "/flux-system/apps-rw" })},
		{"a text without end", edit("Reconciliation finished", strings.Repeat("x", 39000)), report(func(r *plan.Report) { r.Says = strings.Repeat("x", 300) })},
		{"a text that turns", edit(`finished in 1.2s,\n`, `\u202efinished\u0007 `), report(func(r *plan.Report) { r.Says = "Reconciliation finished next run in 10m0s" })},
		{"no metadata", edit(`"metadata"`, `"annotations"`), nil},
		{"nothing", "{}", nil},
	} {
		w := newWorld()
		same(t, c.name+": status", w.send(flux("/flux/acme/fleet", c.body)).Code, http.StatusAccepted)
		if c.want == nil {
			same(t, c.name, len(w.reports)+len(w.poked), 0)
			continue
		}
		same(t, c.name, w.reports, []plan.Report{*c.want})
		pokes := 1
		if c.want.State == plan.CheckPending { // the end of the apply is looked at
			pokes = 0
		}
		same(t, c.name+": pokes", len(w.poked), pokes)
	}
}

// One apply is one look, whatever Flux sends of it: that it began, that what it applied is healthy, and its end.
func TestAnApplyIsOnePoke(t *testing.T) {
	w := newWorld()
	for at, reason := range []string{"Progressing", "Progressing", "ReconciliationSucceeded"} {
		body := strings.NewReplacer("ReconciliationSucceeded", reason, "11:59:07", "11:59:0"+string('0'+rune(at))).Replace(applied)
		same(t, reason, w.send(flux("/flux/acme/fleet", body)).Code, http.StatusAccepted)
		same(t, "pokes after "+reason, len(w.poked), at/2)
	}
}

func TestFluxRefusals(t *testing.T) {
	for _, c := range []struct {
		name, path, body string
		edit             func(*http.Request)
		want             int
	}{
		{"as it should be", "/flux/acme/fleet", applied, func(*http.Request) {}, 202},
		{"no signature", "/flux/acme/fleet", applied, func(r *http.Request) { r.Header.Del("X-Signature") }, 401},
		{"GitHub's secret", "/flux/acme/fleet", applied, func(r *http.Request) { r.Header.Set("X-Signature", "sha256="+sign(sha256.New, secret, applied)) }, 401},
		{"under GitHub's header", "/flux/acme/fleet", applied, func(r *http.Request) {
			r.Header.Set("X-Hub-Signature-256", r.Header.Get("X-Signature"))
			r.Header.Del("X-Signature")
		}, 401},
		{"two signatures", "/flux/acme/fleet", applied, func(r *http.Request) { r.Header.Add("X-Signature", r.Header.Get("X-Signature")) }, 401},
		{"SHA-512", "/flux/acme/fleet", applied, func(r *http.Request) { r.Header.Set("X-Signature", "sha512="+strings.Repeat("0", 128)) }, 401},
		{"another body", "/flux/acme/fleet", applied, func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(applied + " ")) }, 401},
		{"an unknown repository", "/flux/acme/fleets", applied, func(*http.Request) {}, 404},
		{"no repository's name", "/flux/acme/..", applied, func(*http.Request) {}, 404},
		{"no owner", "/flux/fleet", applied, func(*http.Request) {}, 404},
		{"another method", "/flux/acme/fleet", applied, func(r *http.Request) { r.Method = http.MethodGet }, 405},
		{"no JSON", "/flux/acme/fleet", "Hello, World!", func(*http.Request) {}, 400},
		{"two events", "/flux/acme/fleet", applied + applied, func(*http.Request) {}, 400},
		{"a list", "/flux/acme/fleet", "[" + applied + "]", func(*http.Request) {}, 400},
		{"null", "/flux/acme/fleet", "null", func(*http.Request) {}, 400},
		{"a time that is none", "/flux/acme/fleet", strings.Replace(applied, "T11:59", " 11:59", 1), func(*http.Request) {}, 400},
		{"metadata of other types", "/flux/acme/fleet", strings.Replace(applied, `"update"`, "1", 1), func(*http.Request) {}, 400},
		{"too long", "/flux/acme/fleet", strings.Repeat(" ", webhook.MaxFluxBody+1), func(*http.Request) {}, 413},
		{"too long, and not declared", "/flux/acme/fleet", strings.Repeat(" ", webhook.MaxFluxBody+1), func(r *http.Request) { r.ContentLength = -1 }, 413},
	} {
		w := newWorld()
		req := flux(c.path, c.body)
		c.edit(req)
		same(t, c.name, w.send(req).Code, c.want)
		same(t, c.name+": kept", len(w.reports), map[bool]int{true: 1}[c.want == 202])
		if strings.Contains(w.log.String(), fluxSecret) {
			t.Errorf("%s: the log tells secrets: %s", c.name, &w.log)
		}
	}
}

func TestFluxIsOffWithoutASecret(t *testing.T) {
	w := newWorld()
	w.Handler = webhook.New(webhook.Options{Secret: []byte(secret), Store: w, Self: func() plan.Login { return "" }, Poke: func(webhook.Hint) {}})
	req := flux("/flux/acme/fleet", applied)
	req.Header.Set("X-Signature", "sha256="+sign(sha256.New, "", applied))
	same(t, "status", w.send(req).Code, http.StatusNotFound)
	same(t, "kept", len(w.reports), 0)
}

func TestFluxWhileTheStoreFails(t *testing.T) {
	w := newWorld()
	w.fails = store.ErrFull
	same(t, "status", w.send(flux("/flux/acme/fleet", applied)).Code, http.StatusServiceUnavailable)
	same(t, "pokes", len(w.poked), 0)
	w.fails = errors.Join(store.ErrReadOnly)
	same(t, "status", w.send(flux("/flux/acme/fleet", applied)).Code, http.StatusServiceUnavailable)
}

// What Flux sets on GitHub makes a look like what it posts to us, and voids as little.
func TestStatusesOfFluxAreReports(t *testing.T) {
	for context, want := range map[string]string{
		"kustomization/apps-rw/7d0cdc51": webhook.EventFlux, "Kustomization/x": webhook.EventFlux,
		"kustomization": "status", "ci/kustomization/x": "status", "": "status",
	} {
		w := newWorld()
		body := `{"context":"` + context + `","repository":{"id":7,"full_name":"acme/fleet"},"sender":{"login":"flux[bot]"}}`
		same(t, context, w.send(delivery("status", "g", body)).Code, http.StatusAccepted)
		same(t, context+": noted as", w.notes[0].Event, "status")
		same(t, context+": poked as", w.poked[0].Event, want)
	}
	w := newWorld()
	w.send(delivery("push", "g", `{"context":"kustomization/x","repository":{"id":7,"full_name":"acme/fleet"}}`))
	same(t, "a push", w.poked[0].Event, "push")
}

// FuzzFlux: whatever is signed is taken or refused for its form, and what is kept is bounded and fit to be shown.
func FuzzFlux(f *testing.F) {
	f.Add([]byte(applied))
	f.Add([]byte(`{"involvedObject":{"kind":"Kustomization","namespace":"a","name":"b"},"metadata":{"cluster":"\u202e/","revision":"a@b@sha1:` + string(promoted) + `"},"timestamp":"2026-11-23T11:59:07Z","severity":"error","message":"\u0000"}`))
	f.Add([]byte(`{"metadata":{"revision":1}}`))
	f.Add([]byte(strings.Repeat(`{"metadata":`, 5000)))
	f.Fuzz(func(t *testing.T, body []byte) {
		w := newWorld()
		code := w.send(flux("/flux/acme/fleet", string(body))).Code
		if code != 202 && code != 400 && (code != 413 || len(body) <= webhook.MaxFluxBody) {
			t.Fatalf("signed: %d", code)
		}
		for _, r := range w.reports {
			if len(r.SHA) != 40 || r.Branch == "" || len(r.Branch) > webhook.MaxBranch || r.At.IsZero() {
				t.Fatalf("kept: %+v", r)
			}
			if n := strings.Count(r.Object, "/"); n < 1 || n > 2 || len(r.Object) > 4*webhook.MaxCluster+2*253+2 {
				t.Fatalf("object %q", r.Object)
			}
			for _, text := range []string{r.Says, r.Object} {
				if !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) }) {
					t.Fatalf("text %q", text)
				}
			}
			if utf8.RuneCountInString(r.Says) > webhook.MaxSays {
				t.Fatalf("%d characters", utf8.RuneCountInString(r.Says))
			}
		}
		req := flux("/flux/acme/fleet", string(body))
		req.Header.Set("X-Signature", "sha256="+strings.Repeat("0", 64))
		if code := w.send(req).Code; code != 401 && code != 413 {
			t.Fatalf("unsigned: %d", code)
		}
	})
}

// Each repository has a token of its own, which speaks for no other: the one that docs/windowed-branches.md derives from the secret. It
// is the same whatever the case of the name, as on GitHub; the secret itself still speaks for all.
func TestFluxTokenOfARepository(t *testing.T) {
	// printf %s acme/fleet | openssl dgst -sha256 -hmac "$SECRET", with fluxSecret.
	const token = "afbbe935a70e3542250e9421accca4c16d315d0dfaede084311b2ae64422992d"
	by := func(path, key string) int {
		req := flux(path, applied)
		req.Header.Set("X-Signature", "sha256="+sign(sha256.New, key, applied))
		return newWorld().send(req).Code
	}
	for _, c := range []struct {
		path, key string
		want      int
	}{
		{"/flux/acme/fleet", token, 202},
		{"/flux/Acme/FLEET", token, 202},
		{"/flux/acme/fleet", sign(sha256.New, fluxSecret, "acme/fleet"), 202},
		{"/flux/acme/other", token, 401},
		{"/flux/acme/other", sign(sha256.New, fluxSecret, "acme/other"), 404}, // signed, and unknown
		{"/flux/acme/fleet", sign(sha256.New, fluxSecret, "acme/other"), 401},
		{"/flux/acme/fleet", sign(sha256.New, fluxSecret, "ACME/fleet"), 401},
		{"/flux/acme/fleet", sign(sha256.New, fluxSecret, ""), 401},
		{"/flux/acme/fleet", sign(sha256.New, secret, "acme/fleet"), 401},
		{"/flux/acme/fleet", sign(sha256.New, token, "acme/fleet"), 401},
		{"/flux/acme/fleet", fluxSecret, 202},
	} {
		same(t, c.path+" signed with "+c.key, by(c.path, c.key), c.want)
	}
}
