package reach

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// parse is a file that has no errors.
func parse(t *testing.T, text string) *config.Policy {
	t.Helper()
	p, findings := config.Parse([]byte(text))
	if p == nil {
		t.Fatal(findings)
	}
	return p
}

// clusters is those of a tree in txtar.
func clusters(t *testing.T, p *config.Policy, text string) []graph.Cluster {
	t.Helper()
	tree, err := graph.Read(fluxtrees.Parse([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return tree.Clusters(p.Clusters)
}

// file is a policy for the trees of these tests.
const file = `
version: 1
timezone: UTC
windows:
  night: {open: "0 22 * * *", duration: 4h}
  weekend: {open: "0 6 * * SAT", duration: 24h}
layout:
  flux: true
  entrypoints:
    - {cluster: other, where: "**", release: weekend}
    - {where: flux-system/held, release: weekend}
    - {where: ./apps/by-path, release: night}
    - {where: flux-system/held, release: night}
branches:
  - {name: rw/a, from: main, window: night}
  - {name: "rw/{b,c}", from: main, window: weekend}
clusters:
  - {name: prod, path: clusters/prod, branch: main}
`

// ks is a Flux Kustomization of the repository, and gitRepository a source for it.
func ks(name, path, source string) string {
	return fmt.Sprintf(`---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %s, namespace: flux-system}
spec: {path: %s, sourceRef: {kind: GitRepository, name: %s}}
`, name, path, source)
}

func gitRepository(name, branch string) string {
	return fmt.Sprintf(`---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: %s, namespace: flux-system}
spec: {url: "https://example.com/acme/fleet", ref: {branch: %q}}
`, name, branch)
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n"

// repository is a tree with one windowed entry by a branch, one by entrypoints, and live ones.
func repository() string {
	return "-- clusters/prod/main.yaml --\n" + gitRepository("flux-system", "main") +
		"-- clusters/prod/rw.yaml --\n" + gitRepository("rw", "rw/a") +
		"-- clusters/prod/odd.yaml --\n" + gitRepository("odd", "rw/{b,c}") +
		"-- clusters/prod/tenant.yaml --\n" + gitRepository("tenant", "tenant") +
		"-- clusters/prod/apps-rw.yaml --\n" + ks("apps-rw", "./apps/rw", "rw") +
		"-- clusters/prod/apps-rt.yaml --\n" + ks("apps-rt", "./apps/rt", "flux-system") +
		"-- clusters/prod/held.yaml --\n" + ks("held", "./apps/held", "flux-system") +
		"-- clusters/prod/by-path.yaml --\n" + ks("path", "./apps/by-path", "flux-system") +
		"-- clusters/prod/odd-ks.yaml --\n" + ks("odd", "./apps/odd", "odd") +
		"-- clusters/prod/tenant-ks.yaml --\n" + ks("tenant", "./apps/tenant", "tenant") +
		"-- clusters/prod/cm.yaml --\n" + configMap +
		"-- apps/rw/kustomization.yaml --\nresources: [x.yaml, ../shared]\n" +
		"-- apps/rw/x.yaml --\n" + configMap +
		"-- apps/rt/kustomization.yaml --\nresources: [x.yaml, ../shared, ../rt-base]\n" +
		"-- apps/rt/x.yaml --\n" + configMap +
		"-- apps/rt-base/kustomization.yaml --\nresources: [x.yaml]\n" +
		"-- apps/rt-base/x.yaml --\n" + configMap +
		"-- apps/shared/kustomization.yaml --\nresources: [x.yaml]\n" +
		"-- apps/shared/x.yaml --\n" + configMap +
		"-- apps/held/kustomization.yaml --\nresources: [x.yaml, ../rt-base]\n" +
		"-- apps/held/x.yaml --\n" + configMap +
		"-- apps/by-path/x.yaml --\n" + configMap +
		"-- apps/odd/x.yaml --\n" + configMap +
		"-- apps/tenant/x.yaml --\n" + configMap +
		"-- apps/nobody/x.yaml --\n" + configMap
}

// needs is what references say of a path: "night | CHAIN".
func needs(g *Graph, path string) string {
	c, ok := g.Reads(path)
	if !ok {
		return "-"
	}
	return strings.ReplaceAll(fmt.Sprint(c.Releases), "branch:", "@") + " " + c.Rule
}

func TestReads(t *testing.T) {
	p := parse(t, file)
	g := New(p, clusters(t, p, repository()))
	for path, want := range map[string]string{
		// Its source tracks a windowed branch: the branch.
		"apps/rw/x.yaml": "[@rw/a] apps/rw/x.yaml ← apps/rw (rw/a)",
		// The first of entrypoints that fits, by name or by path.
		"apps/held/x.yaml":    "[weekend] apps/held/x.yaml ← apps/held (weekend)",
		"apps/by-path/x.yaml": "[night] apps/by-path/x.yaml ← apps/by-path (night)",
		// Else live; the root too.
		"apps/rt/x.yaml":        "[live] apps/rt/x.yaml ← apps/rt (live)",
		"clusters/prod/cm.yaml": "[live] clusters/prod/cm.yaml ← clusters/prod (live)",
		// live beside branches stays, live beside a window has no effect; who holds it is named first.
		"apps/shared/x.yaml":  `[@rw/a live] apps/shared/x.yaml ← apps/rw (rw/a) and 1 more`,
		"apps/rt-base/x.yaml": `[weekend] apps/rt-base/x.yaml ← apps/held (weekend) and 1 more`,
		// The pattern of a branch matches that branch alone.
		"apps/odd/x.yaml": `[@rw/\{b\,c\}] apps/odd/x.yaml ← apps/odd (rw/\{b\,c\})`,
		// Of another branch of the repository, and of nobody.
		"apps/tenant/x.yaml": "-",
		"apps/nobody/x.yaml": "-",
		// What defines a live entry point is live; a windowed one, or its source: the window.
		"clusters/prod/apps-rt.yaml": "[live] clusters/prod/apps-rt.yaml ← clusters/prod (live: defines Kustomization flux-system/apps-rt)",
		"clusters/prod/apps-rw.yaml": "[night] clusters/prod/apps-rw.yaml ← clusters/prod (night: defines Kustomization flux-system/apps-rw)",
		"clusters/prod/rw.yaml":      "[night] clusters/prod/rw.yaml ← clusters/prod (night: source GitRepository flux-system/rw of Kustomization flux-system/apps-rw)",
		"clusters/prod/held.yaml":    "[weekend] clusters/prod/held.yaml ← clusters/prod (weekend: defines Kustomization flux-system/held)",
		// What defines an entry point that reads another branch is its reader's.
		"clusters/prod/tenant-ks.yaml": "[live] clusters/prod/tenant-ks.yaml ← clusters/prod (live: defines Kustomization flux-system/tenant)",
	} {
		if got := needs(g, path); got != want {
			t.Errorf("%s\n got %s\nwant %s", path, got, want)
		}
	}
}

// TestMayRead: what the controller of an object reads of a source is not known. A live entry point makes nothing live by that, a windowed one holds it all;
// and of what another branch's entry point applies nothing is said by this tree.
func TestMayRead(t *testing.T) {
	p := parse(t, file)
	terraform := func(name string) string {
		return object("infra.contrib.fluxcd.io/v1alpha2", "Terraform", name, "{path: ./tf, sourceRef: {kind: GitRepository, name: flux-system}}")
	}
	tree := repository() + "-- tf/main.tf --\nx\n-- modules/m.tf --\nx\n"
	for _, c := range []struct{ tree, path, want string }{
		{tree + "-- apps/rt-base/tf.yaml --\n" + terraform("unlisted"), "modules/m.tf", "-"},
		{tree + "-- clusters/prod/tf.yaml --\n" + terraform("live"), "modules/m.tf", "-"},
		{tree + "-- clusters/prod/tf.yaml --\n" + terraform("live"), "tf/main.tf", "[live] tf/main.tf ← clusters/prod/tf.yaml ← clusters/prod (live)"},
		{tree + "-- clusters/prod/tf.yaml --\n" + terraform("live"), "clusters/prod/held.yaml", "[weekend] clusters/prod/held.yaml ← clusters/prod (weekend: defines Kustomization flux-system/held)"},
		{tree + "-- apps/by-path/tf.yaml --\n" + terraform("held"), "modules/m.tf", "[night] modules/m.tf ← apps/by-path/tf.yaml ← apps/by-path (night)"},
		{tree + "-- apps/tenant/ks.yaml --\n" + heldKs("./apps/held", "GitRepository", "flux-system"), "apps/tenant/ks.yaml", "-"},
	} {
		if got := needs(New(p, clusters(t, p, c.tree)), c.path); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.path, got, c.want)
		}
	}
}
