package reach

import (
	"fmt"
	"strings"
	"testing"
)

// TestWritten: however YAML, a chart or a value has it written, what a windowed entry point is made of waits for its window.
func TestWritten(t *testing.T) {
	root := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system")
	source := func(kind string) string {
		return root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "own") + "-- apps/a.yaml --\na: b\n" +
			"-- clusters/prod/own.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\n" + kind +
			"\nmetadata: {name: own, namespace: flux-system}\nspec: {url: \"https://example.com/acme/other\", ref: {tag: v1}}\n"
	}
	release := root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system") +
		"-- apps/hr.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "h", "{chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: flux-system}}},"+
		" valuesFrom: [{kind: ConfigMap, name: values}]}") + "-- charts/web/values.yaml --\na: b\n-- charts/lib/values.yaml --\na: b\n" +
		"-- clusters/prod/live.yaml --\n" + strings.Replace(ks("live", "./live", "flux-system"), "spec: {", "spec: {postBuild: {substitute: {X: one}}, ", 1) +
		"-- live/values.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: values, namespace: flux-system}\ndata:\n  values.yaml: |\n    x: ${X}\n"
	for name, c := range map[string]struct{ tree, old, changed, file string }{
		"plain":                  {source("kind: GitRepository"), "tag: v1", "tag: v2", "clusters/prod/own.yaml"},
		"a folded kind":          {source("kind: >-\n  GitRepository"), "tag: v1", "tag: v2", "clusters/prod/own.yaml"},
		"a literal kind":         {source("kind: |-\n  GitRepository"), "tag: v1", "tag: v2", "clusters/prod/own.yaml"},
		"a comment before it":    {source("kind: # this\n  GitRepository"), "tag: v1", "tag: v2", "clusters/prod/own.yaml"},
		"a key of its own":       {source("? kind # this\n: GitRepository"), "tag: v1", "tag: v2", "clusters/prod/own.yaml"},
		"another break":          {source("# this\u2028kind: GitRepository"), "tag: v1", "tag: v2", "clusters/prod/own.yaml"},
		"base64":                 {source("kind: !!binary R2l0UmVwb3NpdG9yeQ=="), "tag: v1", "tag: v2", "clusters/prod/own.yaml"},
		"a name in base64":       {strings.Replace(source("kind: GitRepository"), "name: own, namespace", "name: !!binary b3du, namespace", 1), "tag: v1", "tag: v2", "clusters/prod/own.yaml"},
		"a lock":                 {release + "-- charts/web/Chart.lock --\ndependencies: [{name: lib, repository: \"file://../lib\"}]\n", "lib/values.yaml --\na: b", "lib/values.yaml --\na: c", "charts/lib/values.yaml"},
		"an escape":              {release + "-- charts/web/Chart.yaml --\ndependencies: [{name: lib, repository: \"file://../li%62?x\"}]\n", "lib/values.yaml --\na: b", "lib/values.yaml --\na: c", "charts/lib/values.yaml"},
		"capitals":               {release + "-- charts/web/Chart.yaml --\nDependencies: [{name: lib, Repository: \"file://../lib\"}]\n", "lib/values.yaml --\na: b", "lib/values.yaml --\na: c", "charts/lib/values.yaml"},
		"a variable in a values": {release, "X: one", "X: two", "clusters/prod/live.yaml"},
	} {
		p := parse(t, sourcesFile)
		changed := strings.Replace(c.tree, c.old, c.changed, 1)
		if changed == c.tree {
			t.Fatalf("%s: %q is not in the tree", name, c.old)
		}
		g := New(p, clusters(t, p, c.tree), clusters(t, p, changed))
		reads, _ := g.Reads(c.file)
		holds, _ := g.Holds(c.file)
		if needs := fmt.Sprint(reads.Releases, holds.Releases); !strings.Contains(needs, "weekend") {
			t.Errorf("%s: %s needs %s", name, c.file, needs)
		}
	}
}
