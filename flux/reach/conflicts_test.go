package reach

import (
	"strings"
	"testing"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// TestConflicts: where two entry points of a cluster define one object in different ways, and something windowed is made of it, check has an error that names both.
func TestConflicts(t *testing.T) {
	root := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") +
		"-- clusters/prod/live.yaml --\n" + ks("live", "./live", "flux-system") + "-- apps/a.yaml --\n" + configMap + "-- more/a.yaml --\n" + configMap
	held := root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "own")
	own := func(name, spec string) string { return sourceObject("GitRepository", name, "{"+fleet+spec+"}") }
	const first, second = "-- clusters/prod/one.yaml --\n", "-- live/two.yaml --\n"
	variables := func(dir string) string {
		return strings.Replace(configMap, "name: cm", "name: vars, namespace: flux-system", 1) + "data: {DIR: " + dir + ", HOST: " + dir + "}\n"
	}
	fills := func(name string) string {
		return root + "-- clusters/prod/up.yaml --\n" + strings.Replace(ks(name, "./up", "flux-system"), "spec: {", "spec: {postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}, ", 1)
	}
	artifact := func(dir string) string {
		return object("source.extensions.fluxcd.io/v1beta1", "ArtifactGenerator", "g",
			"{sources: [{alias: repo, kind: GitRepository, name: flux-system}], artifacts: [{name: x, copy: [{from: \"@repo/"+dir+"/**\", to: \"@artifact/apps/\"}]}]}")
	}
	chart := held + own("own", "") + "-- apps/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: charts}}}}")
	elsewhere := strings.NewReplacer("./live, ", "./live, kubeConfig: {secretRef: {name: far}}, ")
	for name, c := range map[string]struct {
		tree string
		want bool
	}{
		"sources that leave out other files":   {held + first + own("own", "") + second + own("own", ", ignore: /x"), true},
		"sources of other branches":            {held + first + own("own", ", ref: {branch: main}") + second + own("own", ", ref: {branch: next}"), true},
		"sources that say the same":            {held + first + own("own", "") + second + own("own", ", interval: 1h"), false},
		"a source and itself":                  {held + first + own("own", ""), false},
		"sources of other names":               {held + first + own("own", "") + second + own("other", ", ignore: /x"), false},
		"sources of other clusters":            {elsewhere.Replace(held + first + own("own", "") + second + own("own", ", ignore: /x")), false},
		"sources of two keys of a kubeConfig":  {strings.Replace(elsewhere.Replace(held+first+own("own", "")+second+own("own", ", ignore: /x")), "name: held, namespace: flux-system}\nspec: {", "name: held, namespace: flux-system}\nspec: {kubeConfig: {secretRef: {name: far, key: own}}, ", 1), false},
		"sources that nothing windowed reads":  {root + "-- clusters/prod/more.yaml --\n" + ks("more", "./more", "own") + first + own("own", "") + second + own("own", ", ignore: /x"), false},
		"sources of a chart":                   {chart + first + own("charts", "") + second + own("charts", ", ref: {branch: next}"), true},
		"artifacts":                            {root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "ExternalArtifact", "x") + first + artifact("apps") + second + artifact("more"), true},
		"artifacts that are copied alike":      {root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "ExternalArtifact", "x") + first + artifact("apps") + second + artifact("apps"), false},
		"what an artifact is copied from":      {root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "ExternalArtifact", "x") + strings.Replace(first+artifact("apps"), "GitRepository, name: flux-system", "GitRepository, name: own", 1) + own("own", "") + second + own("own", ", ignore: /x"), true},
		"variables of what leads to it":        {fills("up") + "-- up/held.yaml --\n" + heldKs("\"./${DIR}\"", "GitRepository", "flux-system") + first + variables("apps") + second + variables("more"), true},
		"variables that are the same":          {fills("up") + "-- up/held.yaml --\n" + heldKs("\"./${DIR}\"", "GitRepository", "flux-system") + first + variables("apps") + second + variables("apps"), false},
		"variables of what nobody windowed is": {fills("up") + "-- up/b.yaml --\n" + configMap + first + variables("apps") + second + variables("more"), false},
	} {
		t.Run(name, func(t *testing.T) {
			p := parse(t, sourcesFile)
			tree, err := graph.Read(fluxtrees.Parse([]byte(c.tree)))
			if err != nil {
				t.Fatal(err)
			}
			notes := New(p, tree.Clusters(p.Clusters)).Hidden(nil)
			if got := len(notes) > 0 && strings.Contains(notes[0].String(), "one.yaml") && strings.Contains(notes[0].String(), "two.yaml"); got != c.want || len(notes) > 0 != c.want {
				t.Errorf("%q, want %t", notes, c.want)
			}
		})
	}
}
