package reach

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
)

// TestReferred: what takes an object away that a windowed entry point refers to, or changes it, waits, wherever the list or the patch stands that leads to
// it.
func TestReferred(t *testing.T) {
	p := parse(t, sourcesFile)
	const list, root = "clusters/prod/kustomization.yaml", "resources: [a.yaml, ks.yaml, x.yaml"
	main := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") +
		"-- clusters/prod/ks.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system")
	release := func(spec string) string {
		return "-- apps/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", spec)
	}
	repository := sourceObject("HelmRepository", "charts", "{url: https://example.com/charts, secretRef: {name: login}}")
	values := strings.NewReplacer("stringData", "data", "Secret", "ConfigMap").Replace(secret("values"))
	chart := release("{chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: charts}}}}")
	from := release("{valuesFrom: [{kind: ConfigMap, name: values}]}")
	parent := func(path string) string {
		return "-- clusters/prod/parent.yaml --\n" + ks("parent", path, "flux-system")
	}
	source := func(spec string) string {
		return ks("parent", "./parent", "own") + sourceObject("GitRepository", "own", "{"+fleet+", ref: {branch: main}"+spec+"}")
	}
	artifact := func(spec string) string {
		return strings.Replace(ks("parent", "./parent", "x"), "kind: GitRepository", "kind: ExternalArtifact", 1) + object("source.extensions.fluxcd.io/v1beta1", "ArtifactGenerator", "g",
			"{sources: [{alias: repo, kind: GitRepository, name: flux-system}], artifacts: [{name: x, copy: [{from: \"@repo/parent/**\", to: \"@artifact/parent/\""+spec+"}]}]}")
	}
	sealed := func(text string) string {
		return object("bitnami.com/v1alpha1", "SealedSecret", "values", "{encryptedData: {a: "+strings.Repeat(text, 300)+"}}")
	}
	const none = "-"
	for name, c := range map[string]struct {
		tree          string
		file          string // that changes; the list of the root where there is none
		before, after string
		want          string
	}{
		"a chart's source":                    {chart + "-- clusters/prod/x.yaml --\n" + repository, "", root + "]", strings.Replace(root, ", x.yaml", "", 1) + "]", "[weekend]"},
		"that comes new":                      {chart + "-- clusters/prod/x.yaml --\n" + repository, "", strings.Replace(root, ", x.yaml", "", 1) + "]", root + "]", "[weekend]"},
		"the Secret of a chart's source":      {chart + "-- clusters/prod/x.yaml --\n" + repository + "-- clusters/prod/login.yaml --\n" + secret("login"), "", root + ", login.yaml]", root + "]", "[weekend]"},
		"a chart's source of another release": {chart + "-- clusters/prod/x.yaml --\n" + strings.Replace(repository, "charts", "others", 1), "", root + "]", strings.Replace(root, ", x.yaml", "", 1) + "]", none},
		"a prefix":                            {chart + "-- clusters/prod/x.yaml --\n" + repository, "", root + "]\n", root + "]\nnamePrefix: x-\n", "[weekend]"},
		"another file of the list":            {chart + "-- clusters/prod/x.yaml --\n" + repository + "-- clusters/prod/y.yaml --\n" + secret("other"), "", root + "]", root + ", y.yaml]", none},
		"values":                              {from + "-- clusters/prod/x.yaml --\n" + values, "", root + "]", strings.Replace(root, ", x.yaml", "", 1) + "]", "[weekend]"},
		"other values":                        {from + "-- clusters/prod/x.yaml --\n" + values + "-- clusters/prod/y.yaml --\n" + strings.Replace(values, ": x}", ": y}", 1), "", root + "]", strings.Replace(root, "x.yaml", "y.yaml", 1) + "]", "[weekend]"},
		"values of a live entry point":        {"-- apps/cm.yaml --\n" + secret("x") + "-- clusters/prod/x.yaml --\n" + values + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{valuesFrom: [{kind: ConfigMap, name: values}]}"), "", root + "]", strings.Replace(root, ", x.yaml", "", 1) + "]", none},
		"values that it applies itself":       {from + "-- apps/x.yaml --\n" + values + "-- clusters/prod/x.yaml --\n" + secret("x"), "apps/kustomization.yaml", "resources: [r.yaml, x.yaml]", "resources: [r.yaml]", none},
		"what applies a chart's source":       {chart + parent("./parent") + "-- parent/x.yaml --\n" + repository + "-- clusters/prod/x.yaml --\n" + secret("x"), "", root + ", parent.yaml]", root + "]", "[weekend]"},
		"where that is":                       {chart + "-- parent/x.yaml --\n" + repository + "-- other/x.yaml --\n" + secret("y"), "clusters/prod/parent.yaml", ks("parent", "./parent", "flux-system"), ks("parent", "./other", "flux-system"), "[weekend]"},
		"what else that says":                 {chart + "-- parent/x.yaml --\n" + repository, "clusters/prod/parent.yaml", ks("parent", "./parent", "flux-system"), strings.Replace(ks("parent", "./parent", "flux-system"), "path:", "interval: 5m, path:", 1), none},
		"another SealedSecret for values":     {from + "-- clusters/prod/x.yaml --\n" + sealed("x") + "-- clusters/prod/y.yaml --\n" + sealed("y"), "", root + "]", strings.Replace(root, "x.yaml", "y.yaml", 1) + "]", "[weekend]"},
		"what its source leaves out":          {chart + "-- parent/x.yaml --\n" + repository, "clusters/prod/parent.yaml", source(""), source(", ignore: x.yaml"), "[weekend]"},
		"what its source takes":               {chart + "-- parent/x.yaml --\n" + repository, "clusters/prod/parent.yaml", source(""), source(", sparseCheckout: [apps]"), "[weekend]"},
		"what its artifact leaves out":        {chart + "-- parent/x.yaml --\n" + repository, "clusters/prod/parent.yaml", artifact(""), artifact(", exclude: [x.yaml]"), "[weekend]"},
		"what a ResourceSet may make then":    {chart + "-- apps/set.yaml --\n" + object("fluxcd.controlplane.io/v1", "ResourceSet", "set", "{resources: []}") + "-- clusters/prod/x.yaml --\n" + repository, "", root + "]", strings.Replace(root, ", x.yaml", "", 1) + "]", "[weekend]"},
		"its name":                            {chart + "-- parent/x.yaml --\n" + repository, "clusters/prod/parent.yaml", ks("parent", "./parent", "flux-system"), ks("other", "./parent", "flux-system"), "[weekend]"},
	} {
		t.Run(name, func(t *testing.T) {
			file := cmp.Or(c.file, list)
			tree := func(text string) string { return main + c.tree + "-- " + file + " --\n" + text }
			g := New(p, clusters(t, p, tree(c.before)), clusters(t, p, tree(c.after)))
			g.HoldChanged([]string{file})
			got := none
			if h, ok := g.Holds(file); ok {
				got = fmt.Sprint(h.Releases)
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestIgnoresOfCharts: a .sourceignore above a chart, a values file, or what a HelmRelease refers to says what a windowed entry point gets.
func TestIgnoresOfCharts(t *testing.T) {
	p := parse(t, sourcesFile)
	tree := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + gitRepository("rw", "rw/a") + ks("flux-system", "./clusters/prod", "flux-system") +
		ks("apps", "./apps", "rw") + ks("sources", "./sources", "flux-system") +
		"-- apps/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r",
		"{chart: {spec: {chart: charts/web, valuesFile: values/web/v.yaml, sourceRef: {kind: GitRepository, name: flux-system}}}, valuesFrom: [{kind: ConfigMap, name: v}]}") +
		"-- charts/web/Chart.yaml --\nname: web\n-- values/web/v.yaml --\na: b\n" +
		"-- sources/deep/v.yaml --\n" + strings.Replace(secret("v"), "Secret", "ConfigMap", 1) +
		"-- charts/.sourceignore --\n*\n-- values/.sourceignore --\n*\n-- sources/deep/.sourceignore --\n*\n-- docs/.sourceignore --\n*\n"
	g := New(p, clusters(t, p, tree))
	for file, want := range map[string]bool{"charts/.sourceignore": true, "values/.sourceignore": true, "sources/deep/.sourceignore": true, "docs/.sourceignore": false} {
		if h, ok := g.Holds(file); ok != want {
			t.Errorf("%s: %v", file, h)
		}
	}
}

// TestReferredByRule: a rule says of what may make an object that stands in no file that it makes no such thing.
func TestReferredByRule(t *testing.T) {
	tree := func(version string) string {
		return "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") + heldKs("./apps", "GitRepository", "flux-system") + ks("live", "./live", "flux-system") +
			"-- apps/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chart: {spec: {chart: x, sourceRef: {kind: HelmRepository, name: x}}}, valuesFrom: [{kind: Secret, name: values}]}") +
			"-- live/loki.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "loki", "{chart: {spec: {chart: loki, version: "+version+", sourceRef: {kind: HelmRepository, name: x}}}}")
	}
	for rules, want := range map[string]bool{"[]": true, "[{paths: [live/**], release: live}]": false, "[{paths: [other/**], release: live}]": true} {
		p := parse(t, strings.Replace(sourcesFile, "layout:", "layout:\n  rules: "+rules, 1))
		g := New(p, clusters(t, p, tree("1.0.0")), clusters(t, p, tree("1.0.1")))
		g.HoldChanged([]string{"live/loki.yaml"})
		if _, held := g.Holds("live/loki.yaml"); held != want {
			t.Errorf("%s: held: %t", rules, held)
		}
	}
}

// TestReferredByRuleAndFile: it says nothing of what leads to an object that stands in a file before or after.
func TestReferredByRuleAndFile(t *testing.T) {
	p := parse(t, strings.Replace(sourcesFile, "layout:", "layout:\n  rules: [{paths: [live/**], release: live}]", 1))
	tree := func(list string) string {
		return "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") + heldKs("./apps", "GitRepository", "flux-system") + ks("live", "./live", "flux-system") +
			"-- apps/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chart: {spec: {chart: x, sourceRef: {kind: HelmRepository, name: x}}}, valuesFrom: [{kind: Secret, name: values}]}") +
			"-- live/loki.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "loki", "{chart: {spec: {chart: loki, sourceRef: {kind: HelmRepository, name: x}}}}") + "-- live/v.yaml --\n" + secret("values") +
			"-- live/kustomization.yaml --\nresources: [loki.yaml" + list + "]\n"
	}
	g := New(p, clusters(t, p, tree(", v.yaml")), clusters(t, p, tree("")))
	if _, held := g.Holds("live/kustomization.yaml"); !held {
		t.Error("the list that loses it is held by nothing")
	}
}
