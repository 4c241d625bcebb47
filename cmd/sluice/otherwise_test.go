package main

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// TestReadOtherwise: where kustomize gives an object that leads Flux otherwise than it was read, whichever of its ways that is, check says so. So nothing that a windowed
// entry point reads is live in silence.
func TestReadOtherwise(t *testing.T) {
	const (
		list    = "clusters/one/kustomization.yaml"
		listed  = "resources: [flux/gotk-sync.yaml, apps.yaml, in.yaml]\n"
		in      = "clusters/one/in.yaml"
		content = "apps/rw/kustomization.yaml"
		source  = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: own, namespace: flux-system#}\nspec: {url: \"https://github.com/acme/fleet\", ref: {branch: main}}\n"
		branch  = "[{\"op\": \"replace\", \"path\": \"/spec/ref/branch\", \"value\": \"rw\"}]"
		release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: flux-system#}\nspec: {chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: flux-system}}}}\n"
		chart   = "[{\"op\": \"replace\", \"path\": \"/spec/chart/spec/chart\", \"value\": \"./charts/two\"}]"
		vars    = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: vars, namespace: flux-system#}\ndata: {DIR: rw}\n"
		before  = ", annotations: {internal.config.kubernetes.io/previousNames: old, internal.config.kubernetes.io/previousNamespaces: flux-system, internal.config.kubernetes.io/previousKinds: "
		made    = "kustomize makes ConfigMap flux-system/vars, which the graph has not read"
		moved   = "kustomize gives GitRepository.source.toolkit.fluxcd.io flux-system/own the source https://github.com/acme/fleet branch rw"
		noted   = "what kustomize notes of objects in annotations of its own decides here, which is not followed"
		renamed = "the path charts/two, but the graph has read charts/web"
	)
	plain := func(text, more string) string { return strings.Replace(text, "#", more, 1) }
	charts := map[string]string{"charts/web/Chart.yaml": "name: web\nversion: 1.0.0\n", "charts/two/Chart.yaml": "name: two\nversion: 1.0.0\n"}
	released := func(list, more string) map[string]string {
		return with(map[string]string{content: list, "apps/rw/r.yaml": plain(release, more)}, charts)
	}
	varied := map[string]string{"clusters/one/apps.yaml": entryOf("apps-rw", "./apps/rw", ", postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}"), "apps/rw/cm.yaml": configMap("a") + "data: {X: \"${DIR}\"}\n"}
	filled := func(files map[string]string) map[string]string { return with(files, varied) }
	foo := strings.Replace(plain(vars, ""), "ConfigMap", "Foo", 1)
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"by an annotation that kustomize adds": {map[string]string{in: plain(source, ""), list: listed + "buildMetadata: [originAnnotations]\npatches: [{target: {name: own, annotationSelector: config.kubernetes.io/origin}, patch: '" + branch + "'}]\n"}, noted},
		"by a name from before":                {map[string]string{in: plain(source, before+"GitRepository}"), list: listed + "patches: [{path: p.yaml}]\n", "clusters/one/p.yaml": strings.NewReplacer("#", "", "name: own", "name: old", "branch: main", "branch: rw").Replace(source)}, moved},
		"components, by such an annotation":    {map[string]string{list: "resources: [flux/gotk-sync.yaml, apps.yaml]\nbuildMetadata: [originAnnotations]\npatches: [{target: {name: apps-rw, annotationSelector: config.kubernetes.io/origin}, patch: '[{\"op\": \"add\", \"path\": \"/spec/components\", \"value\": [\"../live\"]}]'}]\n", "apps/live/kustomization.yaml": "kind: Component\n"}, noted},
		"what is left out, with a variable": {map[string]string{in: plain(source, ""), list: listed + "buildMetadata: [originAnnotations]\npatches: [{target: {name: own, annotationSelector: config.kubernetes.io/origin}, patch: '[{\"op\": \"add\", \"path\": \"/spec/ignore\", \"value\": \"${x:=apps}\"}]'}]\n",
			"clusters/one/flux/gotk-sync.yaml": strings.Replace(fmt.Sprintf(boundedSync, "./clusters/one"), "  path: ", "  postBuild: {substitute: {y: z}}\n  path: ", 1)}, noted},
		"values, by a name from before": {filled(map[string]string{in: plain(vars, before+"ConfigMap}"), list: listed + "patches: [{path: p.yaml}]\n",
			"clusters/one/p.yaml": strings.NewReplacer("#", "", "name: vars", "name: old", "DIR: rw", "DIR: live").Replace(vars)}), "kustomize gives ConfigMap flux-system/vars other values than the graph has read"},
		"a chart, by such an annotation":          {released("resources: [r.yaml]\nbuildMetadata: [originAnnotations]\npatches: [{target: {annotationSelector: config.kubernetes.io/origin}, patch: '"+chart+"'}]\n", ""), noted},
		"a chart, as a whole":                     {released("resources: [r.yaml]\npatches: [{target: {kind: HelmRelease}, patch: '[{\"op\": \"replace\", \"path\": \"\", \"value\": "+strings.NewReplacer("'", "\"").Replace("{'apiVersion': 'helm.toolkit.fluxcd.io/v2', 'kind': 'HelmRelease', 'metadata': {'name': 'web', 'namespace': 'flux-system'}, 'spec': {'chart': {'spec': {'chart': './charts/two', 'sourceRef': {'kind': 'GitRepository', 'name': 'flux-system'}}}}}")+"}]'}]\n", ""), renamed},
		"a release that is local until a patch":   {released("resources: [r.yaml]\npatches: [{target: {kind: HelmRelease}, patch: '[{\"op\": \"remove\", \"path\": \"/metadata/annotations\"}]'}]\n", ", annotations: {config.kubernetes.io/local-config: \"true\"}"), "kustomize makes HelmRelease.helm.toolkit.fluxcd.io flux-system/web, which the graph has not read"},
		"a large ConfigMap in another form":       {filled(map[string]string{list: listed, in: "apiVersion: v1\nkind: ConfigMap\n\"metadata\":\n  name: vars\n  namespace: flux-system\ndata:\n" + many(80, "  A#: \""+strings.Repeat("x", 70)+"\"\n")}), made},
		"a replacement of the name":               {filled(map[string]string{list: listed + "replacements: [{source: {kind: Foo, name: a, fieldPath: to}, targets: [{select: {kind: ConfigMap, name: in}}]}]\n", in: strings.Replace(plain(vars, ""), "name: vars", "name: in", 1) + "---\napiVersion: v1\nkind: Foo\nmetadata: {name: a}\nto: vars\n"}), "vars"},
		"a kind that a transformer changes":       {filled(map[string]string{list: listed + "transformers: [t.yaml]\n", in: foo, "clusters/one/t.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\ntarget: {kind: Foo}\noptions: {allowKindChange: true}\npatch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: vars}}'\n"}), "ConfigMap flux-system/vars"},
		"a kind by a path without a slash":        {filled(map[string]string{list: listed + "patches: [{target: {kind: Foo}, patch: '[{\"op\": \"replace\", \"path\": \"x/kind\", \"value\": \"ConfigMap\"}]'}]\n", in: foo}), made},
		"a ConfigMap that is local until a patch": {filled(map[string]string{list: listed + "patches: [{target: {kind: ConfigMap}, patch: '[{\"op\": \"remove\", \"path\": \"/metadata/annotations\"}]'}]\n", in: plain(vars, ", annotations: {config.kubernetes.io/local-config: \"true\"}")}), made},
		"a name that is copied from a value":      {filled(map[string]string{list: listed + "patches: [{target: {kind: ConfigMap}, patch: '[{\"op\": \"copy\", \"from\": \"/data/n.x\", \"path\": \"/metadata/name\"}]'}]\n", in: strings.NewReplacer("#", "", "name: vars", "name: in", "{DIR", "{n.x: vars, DIR").Replace(vars)}), made},
		"a field in two spellings, beside something from elsewhere": {map[string]string{content: "resources: [cm.yaml, \"https://github.com/other/thing//deploy?ref=v1\"]\npatches: [{path: p1.yaml, Path: p2.yaml}]\n",
			"apps/rw/cm.yaml": configMap("a"), "apps/rw/p1.yaml": configMap("a") + "data: {a: b}\n", "apps/rw/p2.yaml": configMap("a")}, "kustomize reads apps/rw/p1.yaml, which the graph has not read"},
		"what a pattern takes in": {map[string]string{"clusters/one/apps.yaml": entryOf("apps-rw", "./plain", ""), "plain/cm.yaml": configMap("a"), "plain/cloudbuild.yaml": entryOf("hidden", "./apps/rt", ""), "docs/.sourceignore": "*.md\n"}, "kustomize makes Kustomization.kustomize.toolkit.fluxcd.io flux-system/hidden, which the graph has not read"},
		"all, beside something from elsewhere": {map[string]string{content: "resources: [cm.yaml, \"https://github.com/other/thing//deploy?ref=v1\"]\npatches: [{path: p1.yaml}]\n",
			"apps/rw/cm.yaml": configMap("a"), "apps/rw/p1.yaml": configMap("a") + "data: {a: b}\n"}, ""},
		"nothing": {filled(with(map[string]string{list: listed, in: plain(vars, "") + "---\n" + plain(source, "")}, released("resources: [r.yaml]\n", ""))), ""},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := sluice("check", bounded(t, maps.Clone(c.files)))
			said := strings.Contains(stdout, "kustomize gives") || strings.Contains(stdout, "kustomize makes") || strings.Contains(stdout, "kustomize reads")
			if c.want == "" && (said || code != 0) || c.want != "" && (code != 1 || !strings.Contains(stdout, c.want)) {
				t.Errorf("code %d, says %s%s", code, stdout, stderr)
			}
		})
	}
}
