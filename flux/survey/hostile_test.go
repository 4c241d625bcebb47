package survey

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// kustomization is a Flux Kustomization of this repository, and with a branch its source.
func kustomization(name, path, branch string) string {
	return fmt.Sprintf(`apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s, namespace: flux-system}
spec: {path: %[2]s, sourceRef: {kind: GitRepository, name: %[1]s}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: %[1]s, namespace: flux-system}
spec: {url: https://github.com/acme/fleet, ref: {branch: %[3]s}}
---
`, name, path, branch)
}

// windowJobs is two CronJobs that resume at an hour and suspend two hours later.
func windowJobs(hour int, what string) string {
	var b strings.Builder
	for i, verb := range []string{"resume", "suspend"} {
		fmt.Fprintf(&b, "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: %s-window, namespace: flux-system}\nspec:\n  schedule: 0 %d * * *\n"+
			"  jobTemplate: {spec: {template: {spec: {containers: [{command: [flux, %s, kustomization, %s]}]}}}}\n---\n", verb, hour+2*i, verb, what)
	}
	return b.String()
}

// TestTextsOfATree: no text of a tree becomes more of the file than the value that it is.
func TestTextsOfATree(t *testing.T) {
	d, _ := draftOf(t, files(map[string]string{"clusters/one/inputs.yaml": `apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSetInputProvider
metadata: {name: apps}
spec:
  schedule:
    - cron: "0 8 * * *"
      timeZone: UTC
      window: "6h\nbypass: {label: anyone}\nxwindows:"
    - cron: "0 8 * * *"
      window: "6h\n  evil:\n    open: '0 0 * * *'\n    duration: 24h"
`}))
	for _, odd := range []string{"\nbypass:", "\n  evil:"} {
		if strings.Contains(string(d.File), odd) {
			t.Errorf("%q stands in the file:\n%s", odd, d.File)
		}
	}
}

// TestJobsOfMany: what a job suspends after the first name is held, too.
func TestJobsOfMany(t *testing.T) {
	d, _ := draftOf(t, files(map[string]string{
		"clusters/one/all.yaml": kustomization("apps", "./apps", "main") + kustomization("infra", "./infra", "main") + windowJobs(8, "apps, infra, -n, flux-system"),
		"apps/a.yaml":           "a: b\n", "infra/a.yaml": "a: b\n",
	}))
	for _, file := range []string{"apps/a.yaml", "infra/a.yaml"} {
		if r := fmt.Sprint(d.Policy.Layout.Classify(file).Releases); r != "[maintenance-window]" {
			t.Errorf("%s: %s\n%s", file, r, d.File)
		}
	}
}

// TestBranchOfTwoWindows: a branch that two clusters with different windows track moves in one of them: the file says so.
func TestBranchOfTwoWindows(t *testing.T) {
	texts := map[string]string{"apps/a.yaml": "a: b\n"}
	for i, c := range []string{"one", "two"} {
		texts["clusters/"+c+"/flux-system/gotk-sync.yaml"] = kustomization("flux-system", "./clusters/"+c, "main")
		texts["clusters/"+c+"/rw.yaml"] = kustomization("apps", "./apps", "rw") + windowJobs(8+6*i, "apps")
	}
	d, _ := draftOf(t, files(texts))
	if !slices.ContainsFunc(d.Notes, func(n string) bool { return strings.Contains(n, "two") && strings.Contains(n, "rw") }) {
		t.Errorf("%q\n%s", d.Notes, d.File)
	}
}

// TestPatchedSource: the file whose patch says which branch a source tracks needs the window.
func TestPatchedSource(t *testing.T) {
	d, _ := draftOf(t, files(map[string]string{
		"clusters/one/flux-system/gotk-sync.yaml": kustomization("flux-system", "./clusters/one", "main"),
		"clusters/one/kustomization.yaml":         "resources: [flux-system/gotk-sync.yaml, defs.yaml]\n",
		"clusters/one/defs.yaml":                  kustomization("base", "./base", "main"),
		"base/kustomization.yaml":                 "resources: [rw.yaml]\npatches: [{path: ../patches/ref.yaml}]\n",
		"base/rw.yaml":                            kustomization("apps", "./apps", "main"),
		"patches/ref.yaml":                        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: apps}\nspec: {ref: {branch: rw}}\n",
		"apps/a.yaml":                             "a: b\n",
	}))
	for _, file := range []string{"base/rw.yaml", "patches/ref.yaml"} {
		if got := fmt.Sprint(d.Policy.Layout.Classify(file).Releases); got != "[maintenance-window]" {
			t.Errorf("%s: %s\n%s", file, got, d.File)
		}
	}
}

// TestGuessedRoot: where a cluster's root is a guess, by the directory's name, a file that one of its entries reads is that entry's alone: the
// root would apply what the entries bring already.
func TestGuessedRoot(t *testing.T) {
	d, _ := draftOf(t, files(map[string]string{
		"clusters/one/flux/live.yaml": kustomization("live", "./clusters/one/live", "main") + kustomization("rw", "./clusters/one/held", "rw"),
		"clusters/one/live/a.yaml":    "a: b\n",
		"clusters/one/held/a.yaml":    "a: b\n",
	}))
	for file, want := range map[string]string{"clusters/one/live/a.yaml": "[live]", "clusters/one/flux/live.yaml": "[maintenance-window]"} {
		if got := fmt.Sprint(d.Policy.Layout.Classify(file).Releases); got != want {
			t.Errorf("%s: %s, want %s\n%s", file, got, want, d.File)
		}
	}
	if got := d.Policy.Layout.Classify("clusters/one/held/a.yaml").Releases; len(got) != 1 || !strings.Contains(string(got[0]), "rw") {
		t.Errorf("%v\n%s", got, d.File)
	}
}
