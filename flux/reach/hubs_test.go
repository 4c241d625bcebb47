package reach

import (
	"strings"
	"testing"
)

// TestHubs: what is applied to another cluster by a kubeConfig refers to what stands in that, whoever put it there, its own Flux as well as a hub.
func TestHubs(t *testing.T) {
	const policy = "clusters:\n  - {name: prod, path: clusters/prod, branch: main}\n  - {name: hub, path: clusters/hub, branch: main}\n"
	own := func(name string) string {
		return "-- clusters/" + name + "/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/"+name, "flux-system")
	}
	far := func(name, path, to string) string {
		return strings.Replace(ks(name, path, "flux-system"), "spec: {", "spec: {kubeConfig: {secretRef: {name: "+to+"}}, ", 1)
	}
	filled := func(path string) string {
		return strings.Replace(heldKs(path, "GitRepository", "flux-system"), "spec: {", "spec: {postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}, ", 1)
	}
	values := func(dir string) string {
		return strings.Replace(configMap, "name: cm", "name: vars, namespace: flux-system", 1) + "data: {DIR: " + dir + "}\n"
	}
	both := own("prod") + own("hub") + "-- apps/a.yaml --\n" + configMap
	two := own("hub") + "-- clusters/hub/far.yaml --\n" + far("far-a", "./far", "a") + far("far-b", "./far", "b") + far("vars-a", "./vars/a", "a") + far("vars-b", "./vars/b", "b") +
		"-- far/up.yaml --\n" + strings.Replace(filled("./up"), "name: held", "name: up", 1) + "-- up/held.yaml --\n" + heldKs("\"./apps/${DIR}\"", "GitRepository", "flux-system") +
		"-- vars/a/vars.yaml --\n" + values("one") + "-- vars/b/vars.yaml --\n" + values("two") + "-- apps/one/a.yaml --\n" + configMap + "-- apps/two/a.yaml --\n" + configMap
	before, _, _ := strings.Cut(sourcesFile, "clusters:")
	for name, c := range map[string]struct{ tree, file, want string }{
		"of the hub, by what its own Flux applies": {both + "-- clusters/hub/far.yaml --\n" + far("far", "./far", "prod") + "-- far/held.yaml --\n" + filled("./apps") + "-- clusters/prod/vars.yaml --\n" + values("x"), "clusters/prod/vars.yaml", "weekend"},
		"the same, where the hub has one, too":     {both + "-- clusters/hub/far.yaml --\n" + far("far", "./far", "prod") + "-- far/held.yaml --\n" + filled("./apps") + "-- clusters/prod/vars.yaml --\n" + values("x") + "-- clusters/hub/vars.yaml --\n" + values("y"), "clusters/prod/vars.yaml", "weekend"},
		"of its own Flux, by what the hub applies": {both + "-- clusters/hub/far.yaml --\n" + far("far", "./far", "prod") + "-- clusters/prod/held.yaml --\n" + filled("./apps") + "-- far/vars.yaml --\n" + values("x"), "far/vars.yaml", "weekend"},
		"of its own Flux, where there is no hub":   {both + "-- clusters/prod/held.yaml --\n" + filled("./apps") + "-- clusters/hub/vars.yaml --\n" + values("x"), "clusters/hub/vars.yaml", "-"},
		"a source of its own Flux": {own("prod") + strings.Replace(own("hub"), "main", "rw/a", 1) + "-- clusters/hub/far.yaml --\n" + far("far", "./far", "prod") + "-- far/inner.yaml --\n" + ks("inner", "./inner", "flux-system") +
			"-- inner/a.yaml --\n" + configMap + "-- apps/a.yaml --\n" + configMap + "-- clusters/hub/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system"), "inner/a.yaml", "error"},
		"a list that names it": {both + "-- clusters/hub/far.yaml --\n" + far("far", "./far", "prod") + "-- far/held.yaml --\n" + filled("./apps") + "-- clusters/prod/kustomization.yaml --\nresources: [a.yaml, more]\n-- clusters/prod/more/kustomization.yaml --\nresources: [vars.yaml]\n-- clusters/prod/more/vars.yaml --\n" + values("x"),
			"clusters/prod/more/kustomization.yaml", "weekend"},
		"one of two clusters, by its own variables": {two, "apps/one/a.yaml", "weekend"},
		"the other one, by its own":                 {two, "apps/two/a.yaml", "weekend"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := silentBy(t, before+policy, c.tree, c.file); got != c.want {
				t.Errorf("%s: %s, want %s", c.file, got, c.want)
			}
		})
	}
}
