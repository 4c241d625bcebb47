package reach

import (
	"strings"
	"testing"
)

// TestAsWritten: what an object that decides what Flux reads says beyond what is followed, or what keeps Flux from applying it as it is written, is an error of check, or waits. What decides nothing is neither.
func TestAsWritten(t *testing.T) {
	const broken = "error" // of check, instead of a window
	root := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system")
	apps := "-- apps/a.yaml --\n" + configMap + "-- comp/kustomization.yaml --\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
	held := root + apps + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system")
	says := func(spec string) string {
		return strings.Replace(held, "path: ./apps, ", "path: ./apps, "+spec+", ", 1)
	}
	noted := func(note string) string { return strings.Replace(held, "name: held,", "name: held, "+note+",", 1) }
	ignore := func(rule string) string {
		return strings.Replace(held, "{path: ./clusters", "{ignore: ["+rule+"], path: ./clusters", 1)
	}
	source := func(spec string) string {
		return strings.Replace(held, "name: flux-system}}", "name: own}}", 2) + sourceObject("GitRepository", "own", "{"+fleet+", "+spec+"}")
	}
	artifact := func(path, namespace, spec string) string {
		return root + apps + "-- clusters/prod/held.yaml --\n" + strings.Replace(heldKs(path, "ExternalArtifact", "x"), "name: x", "name: x"+namespace, 1) +
			object("source.extensions.fluxcd.io/v1beta1", "ArtifactGenerator", "gen", "{sources: [{alias: repo, kind: GitRepository, name: flux-system}], "+spec+"}")
	}
	const copies = `copy: [{from: "@repo/apps/**", to: "@artifact/"}]`
	release := func(spec string) string { return object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "shop", spec) }
	chart := "-- charts/shop/Chart.yaml --\nname: shop\n"
	made := object("source.extensions.fluxcd.io/v1beta1", "ArtifactGenerator", "gen",
		`{sources: [{alias: repo, kind: GitRepository, name: flux-system}], artifacts: [{name: shop, copy: [{from: "@repo/charts/shop/**", to: "@artifact/"}]}]}`)
	set := func(inputs string) string {
		return held + "-- apps/set.yaml --\n" + object("fluxcd.controlplane.io/v1", "ResourceSet", "set",
			"{resources: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: r, namespace: flux-system}, spec: {chartRef: {kind: ExternalArtifact, name: shop}}}]}") +
			chart + "-- clusters/prod/gen.yaml --\n" + strings.Replace(made, "{name: shop,", "{name: shop, "+inputs, 1)
	}
	twice := func(spec string) string {
		return held + "-- clusters/prod/more.yaml --\n" + ks("more", "./more", "flux-system") + "-- more/held.yaml --\n" +
			strings.Replace(heldKs("./apps", "GitRepository", "flux-system"), "path: ./apps, ", "path: ./apps, "+spec, 1)
	}
	lived := "-- clusters/prod/live.yaml --\n" + ks("live", "./live", "flux-system")
	const secretText = "ENC[AES256_GCM,data:8QnZ,iv:k1hS,tag:1tYx,type:str]"
	const sops = "sops: {mac: x}\n"
	vals := "-- apps/r.yaml --\n" + release("{chart: {spec: {chart: x, sourceRef: {kind: HelmRepository, name: x}}}, valuesFrom: [{kind: Secret, name: vals}]}") + "-- clusters/prod/vals.yaml --\n" + sourceObject("HelmRepository", "x", "{url: \"https://charts.example.com\"}") + secret("vals")
	external := func(policy string) string {
		return held + vals + "-- live/es.yaml --\n" + object("external-secrets.io/v1", "ExternalSecret", "es", "{target: {name: vals, creationPolicy: "+policy+"}}") +
			"-- clusters/prod/live.yaml --\n" + ks("live", "./live", "flux-system")
	}
	instance := func(more string) string {
		return "-- bootstrap/flux.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "flux",
			"{chartRef: {kind: OCIRepository, name: x}, "+more+"values: {instance: {sync: {kind: GitRepository, path: clusters/prod, "+fleet+", ref: refs/heads/main}}}}") +
			strings.Replace(held, root, "", 1)
	}
	for name, c := range map[string]struct{ tree, file, want string }{
		"nothing":                            {held, "live/a.yaml", "-"},
		"a field":                            {says("onlyFrom: here"), "live/a.yaml", broken},
		"a field of another section":         {says("postBuild: {substituteAll: true}"), "live/a.yaml", broken},
		"a field of what is live":            {held + "-- clusters/prod/live.yaml --\n" + strings.Replace(ks("live", "./live", "flux-system"), "{path", "{onlyFrom: here, path", 1), "live/a.yaml", "-"},
		"each field that is known":           {says("buildMetadata: [], force: true, deletionPolicy: Orphan, wait: true, retryInterval: 1m, images: [], healthCheckExprs: []"), "live/a.yaml", "-"},
		"a source's field":                   {source("ref: {branch: main}, subdirectory: x"), "live/a.yaml", broken},
		"a source's ref":                     {source("ref: {branch: main, latest: true}"), "live/a.yaml", broken},
		"a source":                           {source("ref: {branch: main}"), "live/a.yaml", "-"},
		"a generator's pattern":              {artifact("./envs/prod", "", `pathPattern: "@repo/apps/{app}/envs/{env}", artifacts: [{name: "{app}", `+copies+`}]`), "live/a.yaml", broken},
		"a generator's namespace":            {artifact("./", ", namespace: web", "artifacts: [{name: x, namespace: web, "+copies+"}]"), "apps/a.yaml", "weekend"},
		"a generator's inputs":               {set(`inputsFrom: "@repo/in.yaml", `), "live/a.yaml", broken},
		"an artifact of nobody":              {root + apps + "-- clusters/prod/held.yaml --\n" + heldKs("./bundle", "ExternalArtifact", "x"), "apps/a.yaml", broken},
		"one of nobody that no window names": {held + "-- clusters/prod/live.yaml --\n" + strings.Replace(ks("live", "./bundle", "x"), "kind: GitRepository", "kind: ExternalArtifact", 1), "apps/b.yaml", broken}, // it may be of a windowed branch
		"a chart of nobody":                  {held + "-- apps/r.yaml --\n" + release("{chartRef: {kind: ExternalArtifact, name: shop}}") + chart, "charts/shop/Chart.yaml", broken},
		"a chart of a ResourceSet":           {set(""), "charts/shop/Chart.yaml", "weekend"},
		"the chart of another release":       {held + "-- apps/r.yaml --\n" + release("{chartRef: {kind: HelmChart, name: web-shop, namespace: flux-system}}") + chart + "-- clusters/prod/live.yaml --\n" + ks("live", "./live", "flux-system") + "-- live/r.yaml --\n" + strings.Replace(release("{chart: {spec: {chart: charts/shop, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}}"), "namespace: flux-system", "namespace: web", 1), "live/r.yaml", "weekend"},
		"defined twice":                      {twice("components: [../comp], "), "comp/kustomization.yaml", "weekend"},
		"defined twice, alike":               {twice(""), "comp/kustomization.yaml", "-"},
		"defined in ever more ways": {held + "-- clusters/prod/g.yaml --\n" + strings.Replace(ks("held2", "./g", "flux-system"), "{path", "{postBuild: {substitute: {A: x}}, path", 1) + "-- g/g.yaml --\n" +
			strings.Replace(strings.Replace(heldKs("./g", "GitRepository", "flux-system"), "{path", "{postBuild: {substitute: {A: \"${A}x\"}}, path", 1), "---\n", "", 1), "live/a.yaml", broken},
		"the root's directory, elsewhere":     {held + "-- clusters/prod/spoke.yaml --\n" + strings.Replace(ks("spoke", "./clusters/prod", "flux-system"), "{path", "{kubeConfig: {secretRef: {name: spoke}}, path", 1), "live/a.yaml", broken},
		"an encrypted branch":                 {source("ref: {branch: \""+secretText+"\"}") + sops, "live/a.yaml", broken},
		"an encrypted URL":                    {strings.Replace(source("ref: {branch: main}")+sops, fleet+", ref: {branch: main}", "url: \""+secretText+"\", ref: {branch: main}", 1), "live/a.yaml", broken},
		"an encrypted kind":                   {held + "-- clusters/prod/x.yaml --\napiVersion: " + secretText + "\nkind: " + secretText + "\nmetadata: {name: x}\n" + sops, "live/a.yaml", broken},
		"what encrypts is not there":          {held + "-- clusters/prod/x.yaml --\n" + strings.Replace(ks("x", "./live", "flux-system"), "{path", "{interval: \""+secretText+"\", path", 1), "live/a.yaml", "-"},
		"filled in always":                    {root + apps + "-- clusters/prod/more.yaml --\n" + strings.Replace(ks("more", "./more", "flux-system"), "{path", "{postBuild: {substituteStrategy: Always}, path", 1) + "-- more/held.yaml --\n" + strings.Replace(heldKs("./apps", "GitRepository", "flux-system"), "{path", "{components: [\"${X:=../comp}\"], path", 1), "comp/kustomization.yaml", "weekend"},
		"filled in with variables":            {root + apps + "-- clusters/prod/more.yaml --\n" + ks("more", "./more", "flux-system") + "-- more/held.yaml --\n" + strings.Replace(heldKs("./apps", "GitRepository", "flux-system"), "{path", "{components: [\"${X:=../comp}\"], path", 1), "comp/kustomization.yaml", "-"},
		"applied once":                        {noted("annotations: {kustomize.toolkit.fluxcd.io/ssa: IfNotPresent}"), "live/a.yaml", broken},
		"not applied":                         {noted("labels: {kustomize.toolkit.fluxcd.io/reconcile: Disabled}"), "live/a.yaml", broken},
		"merged":                              {noted("annotations: {kustomize.toolkit.fluxcd.io/ssa: Merge}"), "live/a.yaml", "-"},
		"a path that stays":                   {ignore("{paths: [/spec/suspend, /spec/path]}"), "live/a.yaml", broken},
		"a whole object that stays":           {ignore("{paths: [\"\"], target: {kind: Kustom.*}}"), "live/a.yaml", broken},
		"what stays and decides nothing":      {ignore("{paths: [/spec/suspend, /metadata/annotations/a]}"), "live/a.yaml", "-"},
		"another kind that stays":             {ignore("{paths: [/spec/template], target: {kind: Deployment}}"), "live/a.yaml", "-"},
		"a Secret that something adds to":     {external("Merge"), "live/es.yaml", "weekend"},
		"a Secret that something owns":        {external("Owner"), "live/es.yaml", "-"},
		"an instance with values from a map":  {instance("valuesFrom: [{kind: ConfigMap, name: v}], "), "live/a.yaml", broken},
		"an instance":                         {instance(""), "live/a.yaml", "-"},
		"a release of such an instance":       {held + "-- apps/r.yaml --\n" + release("{chart: {spec: {chart: charts/shop, sourceRef: {kind: GitRepository, name: flux-system}}}, values: {instance: {sync: {path: x}}}}") + chart, "charts/shop/Chart.yaml", "weekend"},
		"a live chart of nobody":              {held + lived + "-- live/r.yaml --\n" + release("{chartRef: {kind: ExternalArtifact, name: shop}}") + chart, "charts/shop/Chart.yaml", "-"},
		"an encrypted kind of no object":      {held + "-- docs/x.yaml --\nkind: " + secretText + "\n" + sops, "live/a.yaml", "-"},
		"an encrypted kind of a reference":    {held + "-- apps/r.yaml --\n" + release("{chart: {spec: {chart: charts/shop, sourceRef: {kind: \""+secretText+"\", name: flux-system}}}}") + sops + chart, "charts/shop/Chart.yaml", broken},
		"a kind by a variable":                {says("postBuild: {substituteFrom: [{kind: Secret, name: none}]}") + "-- apps/r.yaml --\n" + release("{chart: {spec: {chart: charts/shop, sourceRef: {kind: \"${V}\", name: flux-system}}}}") + chart, "charts/shop/Chart.yaml", broken},
		"an encrypted version":                {held + "-- clusters/prod/x.yaml --\n" + strings.Replace(ks("x", "./x", "flux-system"), "kustomize.toolkit.fluxcd.io/v1", secretText, 1) + sops, "x/a.yaml", broken},
		"an encrypted name":                   {held + vals + strings.Replace(secret("vals"), "name: vals", "name: \""+secretText+"\"", 1) + sops, "clusters/prod/vals.yaml", "weekend"},
		"an encrypted branch, by a patch":     {source("ref: {branch: \"" + secretText + "\"}"), "live/a.yaml", broken},
		"a Secret with a merged template":     {external("Owner, template: {mergePolicy: Merge}"), "live/es.yaml", "-"},
		"a release beside one that merges":    {external("Merge") + "-- live/r.yaml --\n" + strings.Replace(release("{chart: {spec: {chart: y, sourceRef: {kind: HelmRepository, name: x}}}}"), "name: shop", "name: vals", 1), "live/r.yaml", "-"},
		"a source of nobody":                  {held + sourceObject("GitRepository", "other", "{url: \"https://example.com/other/x\", subdirectory: x}"), "live/a.yaml", "-"},
		"a kind of any group that stays":      {ignore("{paths: [/spec/path], target: {group: \"(apps)?|.*\", kind: Kustomization}}"), "live/a.yaml", broken},
		"an expression that counts":           {ignore("{paths: [/spec/path], target: {kind: \"(?:.?){1000}#\"}}"), "live/a.yaml", broken},
		"a kind of a check":                   {says("healthCheckExprs: [{apiVersion: x/v1, kind: \"${V}\", current: \"true\"}], postBuild: {substituteFrom: [{kind: Secret, name: none}]}"), "live/a.yaml", "-"},
		"a kind of another group":             {says("postBuild: {substituteFrom: [{kind: Secret, name: none}]}") + "-- apps/i.yaml --\n" + object("cert-manager.io/v1", "\"${V}Issuer\"", "i", "{ref: \"${X}\"}"), "live/a.yaml", "-"},
		"a ClusterExternalSecret that merges": {held + vals + "-- live/es.yaml --\n" + strings.Replace(object("external-secrets.io/v1", "ClusterExternalSecret", "es", "{externalSecretSpec: {target: {name: vals, creationPolicy: Merge}}}"), ", namespace: flux-system", "", 1) + lived, "live/es.yaml", "weekend"},
		"no other sources":                    {strings.Replace(source("ref: {branch: main}"), fleet+", ref: {branch: main}", fleet+", include: [], ref: {branch: main}", 1) + "-- apps/cloudbuild.yaml --\n" + configMap, "apps/cloudbuild.yaml", "-"},
		"values that stay":                    {ignore("{paths: [/data], target: {kind: Secret}}"), "live/a.yaml", "-"},
		"two kinds that stay":                 {ignore("{paths: [/spec/x], target: {kind: (Deployment|StatefulSet)}}"), "live/a.yaml", "-"},
		"a group that stays":                  {ignore("{paths: [/webhooks], target: {group: admissionregistration.k8s.io}}"), "live/a.yaml", "-"},
		"metadata for all":                    {strings.Replace(held, "{path: ./clusters", "{commonMetadata: {annotations: {kustomize.toolkit.fluxcd.io/ssa: Ignore}}, path: ./clusters", 1), "live/a.yaml", broken},
		"other metadata for all":              {strings.Replace(held, "{path: ./clusters", "{commonMetadata: {annotations: {a: Ignore}}, path: ./clusters", 1), "live/a.yaml", "-"},
		"an instance that stays":              {strings.Replace(instance(""), "name: flux,", "name: flux, annotations: {kustomize.toolkit.fluxcd.io/ssa: IfNotPresent},", 1), "live/a.yaml", broken},
		"an instance that is rendered":        {instance("postRenderers: [{kustomize: {patches: []}}], "), "live/a.yaml", broken},
		"submodules, which may have any":      {source("ref: {branch: main}, recurseSubmodules: true") + "-- apps/cloudbuild.yaml --\n" + configMap, "apps/cloudbuild.yaml", "weekend"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := silent(t, c.tree, c.file); got != c.want {
				t.Errorf("%s: %s, want %s", c.file, got, c.want)
			}
		})
	}
}
