package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// reads is what the root of a tree's one cluster reads: FILE WHY BY.
func reads(t *testing.T, archive string) (*graph.Tree, graph.Cluster, []string) {
	t.Helper()
	g := read(t, fluxtrees.Parse([]byte(archive)))
	c := g.Clusters([]graph.Root{{Name: "k", Path: "k", URL: "https://example.org/acme/fleet"}})[0]
	e := c.Entries()[0]
	var out []string
	for _, file := range e.Files() {
		edge := e.Chain(file)[0]
		out = append(out, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", file, edge.Why, edge.By)), " "))
	}
	return g, c, out
}

// TestNames: whatever field of a kustomization.yaml names a file, it is read, and the edge says why.
func TestNames(t *testing.T) {
	const any = "-- k/x.txt --\nx\n-- k/a.yaml --\na: b\n-- base/kustomization.yaml --\nresources: [b.yaml]\n-- base/b.yaml --\na: b\n" +
		"-- com/kustomization.yaml --\nkind: Component\n-- k/charts/web/Chart.yaml --\na: b\n-- k/charts/web/templates/t.tpl --\nx\n-- k/charts/other/Chart.yaml --\na: b\n"
	const base = "base/b.yaml resources base/kustomization.yaml; base/kustomization.yaml %s k/kustomization.yaml"
	for text, want := range map[string]string{
		"resources: [a.yaml, ../base]":                                                  fmt.Sprintf(base, "resources") + "; k/a.yaml resources k/kustomization.yaml",
		"bases: [../base/]":                                                             fmt.Sprintf(base, "bases"),
		"resources: [../../../../base]":                                                 fmt.Sprintf(base, "resources"),
		"components: [../com, ../com]":                                                  "com/kustomization.yaml components k/kustomization.yaml",
		"crds: [x.txt]":                                                                 "k/x.txt crds k/kustomization.yaml",
		"configurations: [./x.txt]":                                                     "k/x.txt configurations k/kustomization.yaml",
		"openapi: {path: x.txt}":                                                        "k/x.txt openapi k/kustomization.yaml",
		"generators: [../base]":                                                         fmt.Sprintf(base, "generators"),
		"transformers: [a.yaml]":                                                        "k/a.yaml transformers k/kustomization.yaml",
		"validators: [a.yaml]":                                                          "k/a.yaml validators k/kustomization.yaml",
		"patches: [{path: x.txt}]":                                                      "k/x.txt patches k/kustomization.yaml",
		"patchesStrategicMerge: [x.txt]":                                                "k/x.txt patchesStrategicMerge k/kustomization.yaml",
		"patchesJson6902: [{path: x.txt, target: {kind: X}}]":                           "k/x.txt patchesJson6902 k/kustomization.yaml",
		"replacements: [{path: x.txt}]":                                                 "k/x.txt replacements k/kustomization.yaml",
		"configMapGenerator: [{name: a, files: [x.txt]}]":                               "k/x.txt configMapGenerator k/kustomization.yaml",
		"configMapGenerator: [{name: a, files: [key=x.txt]}]":                           "k/x.txt configMapGenerator k/kustomization.yaml",
		"secretGenerator: [{name: a, envs: [x.txt]}]":                                   "k/x.txt secretGenerator k/kustomization.yaml",
		"secretGenerator: [{name: a, env: ../k/x.txt}]":                                 "k/x.txt secretGenerator k/kustomization.yaml",
		"helmCharts: [{name: none, repo: x, valuesFile: x.txt}]":                        "k/x.txt helmCharts k/kustomization.yaml",
		"helmCharts: [{repo: x, additionalValuesFiles: [x.txt]}]":                       "k/x.txt helmCharts k/kustomization.yaml",
		"helmCharts: [{name: web}]":                                                     "k/charts/web/Chart.yaml helmCharts k/kustomization.yaml; k/charts/web/templates/t.tpl helmCharts k/kustomization.yaml",
		"helmGlobals: {chartHome: charts/web}\nhelmCharts: [{name: templates}]":         "k/charts/web/templates/t.tpl helmCharts k/kustomization.yaml",
		"helmChartInflationGenerator: [{chartName: x, chartRepoUrl: y, values: x.txt}]": "k/x.txt helmChartInflationGenerator k/kustomization.yaml",
		"transformers:\n  - |-\n    apiVersion: builtin\n    kind: PatchTransformer\n    metadata: {name: x}\n    path: x.txt\n":        "k/x.txt transformers k/kustomization.yaml",
		"transformers:\n  - |-\n    apiVersion: builtin\n    kind: ReplacementTransformer\n    replacements: [{path: x.txt}]\n":         "k/x.txt transformers k/kustomization.yaml",
		"transformers:\n  - |-\n    apiVersion: builtin\n    kind: PatchStrategicMergeTransformer\n    paths: [x.txt]\n":                "k/x.txt transformers k/kustomization.yaml",
		"generators:\n  - |-\n    apiVersion: builtin\n    kind: ConfigMapGenerator\n    metadata: {name: x}\n    files: [key=x.txt]\n": "k/x.txt generators k/kustomization.yaml",
	} {
		g, _, got := reads(t, "-- k/kustomization.yaml --\n"+text+"\n"+any)
		got = slices.DeleteFunc(got, func(s string) bool { return s == "k/kustomization.yaml" })
		if strings.Join(got, "; ") != want || len(g.Problems) > 0 {
			t.Errorf("%s\n got %s\nwant %s\n%v", text, strings.Join(got, "; "), want, g.Problems)
		}
	}
}

// TestMissing: what is named and is not there, what leads back, and what is of the wrong kind are problems with their places; what is not of
// the tree is where the graph ends.
func TestMissing(t *testing.T) {
	const any = "-- k/a.yaml --\na: b\n-- dir/a.yaml --\na: b\n-- com/kustomization.yaml --\nkind: Component\n-- base/kustomization.yaml --\nnamespace: x\n-- k/github.com/a/b/kustomization.yaml --\nkind: Component\n-- up/kustomization.yaml --\nresources: [../k]\n"
	for text, want := range map[string]string{
		"resources:\n  - none.yaml\n":                  `k/kustomization.yaml:2: resources names "none.yaml", which is not in the repository`,
		"resources: [/k/a.yaml]":                       `k/kustomization.yaml:1: resources names "/k/a.yaml", which is not in the repository`,
		"resources: [../dir]":                          `k/kustomization.yaml:1: resources names "../dir", a directory without a kustomization.yaml`,
		"resources: [../com]":                          `k/kustomization.yaml:1: resources names "../com", whose kind is Component`,
		"components: [../base]":                        `k/kustomization.yaml:1: components names "../base", whose kind is not Component`,
		"resources: [../up]":                           `up/kustomization.yaml:1: resources names "../k", which leads back to this file`,
		"patches: [{path: none}]":                      `k/kustomization.yaml:1: patches names "none", which is not in the repository`,
		"configMapGenerator:\n- files:\n  - k=none":    `k/kustomization.yaml:3: configMapGenerator names "none", which is not in the repository`,
		"x: &x {files: [a]}\nconfigMapGenerator: [*x]": `k/kustomization.yaml:2: configMapGenerator names "a", which is not in the repository`,
		"helmCharts: [{name: none}]": `k/kustomization.yaml:1: helmCharts names "charts/none", which is not in the repository; ` +
			`leaf chart k/kustomization.yaml:1: the chart "none" is built with helm, which Flux does not do here: what it makes is not known`,
		"resources: [https://example.com/x, 'https://example.com/x']": `leaf remote k/kustomization.yaml:1: resources names "https://example.com/x", which is fetched from elsewhere: it was not read`,
		"components: ['git@example.com:a/b?ref=c']":                   `leaf remote k/kustomization.yaml:1: components names "git@example.com:a/b?ref=c", which is fetched from elsewhere: it was not read`,
		"components: [github.com/a/b]":                                `leaf remote k/kustomization.yaml:1: components names "github.com/a/b", which is fetched from elsewhere: it was not read`,
		"resources: [github.com/a/b]":                                 `leaf remote k/kustomization.yaml:1: resources names "github.com/a/b", which is fetched from elsewhere: it was not read`,
		"resources: ['github.com:a/b', 'x:y']": `k/kustomization.yaml:1: resources names "x:y", which is not in the repository; ` +
			`leaf remote k/kustomization.yaml:1: resources names "github.com:a/b", which is fetched from elsewhere: it was not read`,
		"resources: ['x?ref=v1', x@y]": `k/kustomization.yaml:1: resources names "x?ref=v1", which is not in the repository; ` +
			`k/kustomization.yaml:1: resources names "x@y", which is not in the repository`,
		"transformers: [a.yaml]": `leaf plugin k/kustomization.yaml:1: transformers names "a.yaml", a plugin that is not part of kustomize: what it makes or reads is not known`,
		"generators:\n  - |\n    apiVersion: example.com/v1\n    kind: X\n": `leaf plugin k/kustomization.yaml:3: generators has a plugin that is not part of kustomize: what it makes or reads is not known`,
	} {
		g, c, _ := reads(t, "-- k/kustomization.yaml --\n"+text+"\n"+any)
		var got []string
		for _, p := range g.Problems {
			got = append(got, p.String())
		}
		for _, l := range c.Leaves {
			got = append(got, "leaf "+l.Kind+" "+l.String())
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s\n got %s\nwant %s", text, strings.Join(got, "; "), want)
		}
	}
}

// TestInNoFile: a ConfigMap or Secret of values that stands in no file is where the graph ends, whoever may make it. What lets something be read is not said: it
// is mostly made by hand.
func TestInNoFile(t *testing.T) {
	const release = "-- k/r.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: web}\nspec: {chart: {spec: {chart: x, sourceRef: {kind: HelmRepository, name: x}}}, valuesFrom: [{kind: Secret, name: hand}, {kind: ConfigMap, name: cm, optional: true}]}\n" +
		"-- k/x.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: x, namespace: web}\nspec: {url: https://example.org/charts, secretRef: {name: login}}\n"
	leaf := func(what string) string {
		return "object k/r.yaml:1: " + what + ", which HelmRelease web/r refers to, stands in no file"
	}
	for text, want := range map[string][]string{
		release: {leaf("ConfigMap web/cm"), leaf("Secret web/hand")},
		release + "-- k/s.yaml --\napiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: hand, namespace: web}\n": {leaf("ConfigMap web/cm"), leaf("Secret web/hand")},
		release + "-- k/s.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: hand, namespace: web}\n":                             {leaf("ConfigMap web/cm")},
	} {
		_, c, _ := reads(t, text)
		var got []string
		for _, l := range c.Leaves {
			got = append(got, l.Kind+" "+l.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}

// TestTwice: a component that several units name changes each of them; a unit that is named for two variants is in both; one that makes no
// difference counts once.
func TestTwice(t *testing.T) {
	const tree = `-- k/kustomization.yaml --
resources: [../a, ../b, ../base, ../base]
-- a/kustomization.yaml --
namePrefix: a-
resources: [../base]
components: [../com]
-- b/kustomization.yaml --
namePrefix: b-
resources: [../base]
components: [../com]
-- base/kustomization.yaml --
resources: [job.yaml]
-- base/job.yaml --
apiVersion: batch/v1
kind: CronJob
metadata: {name: job}
spec: {schedule: '1 1 * * *'}
-- com/kustomization.yaml --
kind: Component
patches:
  - target: {kind: CronJob}
    patch: "spec: {schedule: '2 2 * * *'}"
`
	_, c, _ := reads(t, tree)
	var got []string
	for _, j := range c.CronJobs {
		got = append(got, j.Name+" "+j.Schedule.Value)
	}
	if want := "a-job 2 2 * * *, b-job 2 2 * * *, job 1 1 * * *"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
}
