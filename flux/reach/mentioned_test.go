package reach

import (
	"fmt"
	"strings"
	"testing"
)

// TestMentioned: what a ServiceAccount brings, and what a ResourceSet may refer to, waits with the windowed entry point that names or applies it.
func TestMentioned(t *testing.T) {
	root := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") +
		"-- clusters/prod/live.yaml --\n" + ks("live", "./live", "flux-system") + "-- apps/a.yaml --\n" + configMap
	held := root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system")
	account := func(name, more string) string {
		return "-- live/account.yaml --\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: " + name + ", namespace: flux-system}\n" + more + "-- live/x.yaml --\n" + secret("pull")
	}
	as := func(spec string) string {
		return strings.Replace(held, "spec: {path: ./apps", "spec: {"+spec+", path: ./apps", 1)
	}
	oci := root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "OCIRepository", "own") + sourceObject("OCIRepository", "own", "{url: oci://example.com/acme/apps, serviceAccountName: puller}")
	release := held + "-- apps/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{serviceAccountName: puller, chart: {spec: {chart: x, sourceRef: {kind: HelmRepository, name: x}}}}")
	set := func(spec string) string {
		return held + "-- apps/set.yaml --\n" + object("fluxcd.controlplane.io/v1", "ResourceSet", "set", spec) + "-- live/x.yaml --\n"
	}
	resource := func(text string) string { return "{resources: [" + text + "]}" }
	in := func(namespace string) string {
		return strings.Replace(secret("pull"), "namespace: flux-system", "namespace: "+namespace, 1)
	}
	template := func(lines string) string {
		return "\n  resourcesTemplate: |\n    " + strings.ReplaceAll(lines, "\n", "\n    ")
	}
	synced := strings.Replace(held, gitRepository("flux-system", "main")+ks("flux-system", "./clusters/prod", "flux-system"),
		object("fluxcd.controlplane.io/v1", "FluxInstance", "flux", "{sync: {kind: GitRepository, "+fleet+", ref: refs/heads/main, path: clusters/prod, pullSecret: pull}}"), 1)
	far := as("kubeConfig: {configMapRef: {name: far}}") + "-- clusters/prod/far.yaml --\n" + strings.Replace(configMap, "name: cm", "name: far, namespace: flux-system", 1) + "data: {provider: aws, serviceAccountName: puller}\n"
	annotated := func(key, value string) string {
		return resource("{kind: A, metadata: {annotations: {fluxcd.controlplane.io/" + key + ": \"" + value + "\"}}}")
	}
	charted := func(spec string) string { // and an unrelated chart
		return set(spec) + configMap + "-- charts/web/Chart.yaml --\nname: web\n-- charts/web/templates/a.yaml --\nx: y\n-- values/prod.yaml --\na: b\n-- charts/api/Chart.yaml --\nname: api\n"
	}
	const chart = "{kind: HelmRelease, spec: {chart: {spec: {chart: %s, valuesFiles: [%s], sourceRef: {kind: GitRepository, name: flux-system}}}}}"
	provider := object("fluxcd.controlplane.io/v1", "ResourceSetInputProvider", "pull", "{type: Static}")
	for name, c := range map[string]struct{ tree, file, want string }{
		"a Kustomization's account":              {as("serviceAccountName: puller") + account("puller", ""), "live/account.yaml", "weekend"},
		"the Secret that it pulls with":          {as("serviceAccountName: puller") + account("puller", "imagePullSecrets: [{name: pull}]\n"), "live/x.yaml", "weekend"},
		"the Secret that it has":                 {as("serviceAccountName: puller") + account("puller", "secrets: [{name: pull}]\n"), "live/x.yaml", "weekend"},
		"a Secret that it does not have":         {as("serviceAccountName: puller") + account("puller", "secrets: [{name: other}]\n"), "live/x.yaml", "-"},
		"an account of another name":             {as("serviceAccountName: puller") + account("other", ""), "live/account.yaml", "-"},
		"an account that decrypts":               {as("decryption: {provider: sops, serviceAccountName: puller}") + account("puller", ""), "live/account.yaml", "weekend"},
		"an OCIRepository's account":             {oci + account("puller", ""), "live/account.yaml", "weekend"},
		"the Secret of an OCIRepository's":       {oci + account("puller", "imagePullSecrets: [{name: pull}]\n"), "live/x.yaml", "weekend"},
		"a release's account":                    {release + account("puller", ""), "live/account.yaml", "weekend"},
		"a ResourceSet's account":                {set("{serviceAccountName: puller, resources: []}") + configMap + account("puller", ""), "live/account.yaml", "weekend"},
		"the Secret that an instance syncs with": {synced + "-- live/x.yaml --\n" + secret("pull"), "live/x.yaml", "weekend"},
		"the account of a kubeConfig":            {far + account("puller", ""), "live/account.yaml", "weekend"},
		"what is copied from another namespace":  {set(annotated("copyFrom", "web/pull")) + in("web"), "live/x.yaml", "weekend"},
		"what a kubeConfig is made from":         {set(annotated("convertKubeConfigFrom", "flux-system/pull")) + in("flux-system"), "live/x.yaml", "weekend"},
		"what a checksum is of":                  {set(annotated("checksumFrom", "ConfigMap/web/other, Secret/web/pull")) + in("web"), "live/x.yaml", "weekend"},
		"what another checksum is of":            {set(annotated("checksumFrom", "ConfigMap/web/other, Secret/web/more")) + in("web"), "live/x.yaml", "-"},
		"a template's checksum":                  {set(template("kind: A\nmetadata:\n  annotations:\n    fluxcd.controlplane.io/checksumFrom: Secret/web/pull")) + in("web"), "live/x.yaml", "weekend"},
		"a template's address":                   {set(template("kind: A\nspec:\n  url: oci://<< inputs.of >>/pull")) + in("web"), "live/x.yaml", "-"},
		"a template's list of checksums":         {set(template("kind: A\nmetadata:\n  annotations:\n    fluxcd.controlplane.io/checksumFrom: |\n      ConfigMap/web/a,\n      Secret/<< inputs.of >>/pull")) + in("web"), "live/x.yaml", "weekend"},
		"a Secret in resources":                  {set(resource("{kind: A, spec: {secretRef: {name: pull}}}")) + in("flux-system"), "live/x.yaml", "weekend"},
		"another one":                            {set(resource("{kind: A, spec: {secretRef: {name: other}}}")) + in("flux-system"), "live/x.yaml", "-"},
		"one of another namespace":               {set(resource("{kind: A, spec: {secretRef: {name: pull}}}")) + in("web"), "live/x.yaml", "-"},
		"one of a namespace that it names":       {set(resource("{kind: A, metadata: {namespace: web}, spec: {secretRef: {name: pull}}}")) + in("web"), "live/x.yaml", "weekend"},
		"one of a namespace that is filled in":   {set(resource("{kind: A, metadata: {namespace: \"<< inputs.in >>\"}, spec: {secretRef: {name: pull}}}")) + in("web"), "live/x.yaml", "weekend"},
		"a name that is filled in":               {set(resource("{kind: A, spec: {secretRef: {name: \"<< inputs.of >>\"}}}")) + in("flux-system"), "live/x.yaml", "weekend"},
		"a name that is filled in, in part":      {set(resource("{kind: A, spec: {secretName: \"pu<< inputs.of >>\"}}")) + in("flux-system"), "live/x.yaml", "weekend"},
		"another name that is filled in, partly": {set(resource("{kind: A, spec: {secretName: \"other-<< inputs.of >>\"}}")) + in("flux-system"), "live/x.yaml", "-"},
		"a Secret that is filled in":             {set(resource("{kind: A, spec: {existingSecret: \"pu<< inputs.of >>\"}}")) + in("flux-system"), "live/x.yaml", "weekend"},
		"a number that is filled in":             {set(resource("{kind: A, metadata: {name: \"<< inputs.of >>\"}, spec: {replicas: \"<< inputs.many >>\"}}")) + in("flux-system"), "live/x.yaml", "-"},
		"what is copied from":                    {set(resource("{kind: A, metadata: {annotations: {fluxcd.controlplane.io/copyFrom: \"flux-system/pull\"}}}")) + in("flux-system"), "live/x.yaml", "weekend"},
		"what is copied from, filled in":         {set(resource("{kind: A, metadata: {annotations: {fluxcd.controlplane.io/copyFrom: \"flux-system/<< inputs.of >>\"}}}")) + in("flux-system"), "live/x.yaml", "weekend"},
		"an input":                               {set("{inputs: [{of: pull}], resources: []}") + in("flux-system"), "live/x.yaml", "weekend"},
		"a provider by name":                     {set("{inputsFrom: [{name: pull}], resources: []}") + provider, "live/x.yaml", "weekend"},
		"another provider":                       {set("{inputsFrom: [{name: other}], resources: []}") + provider, "live/x.yaml", "-"},
		"a provider whose name has a variable":   {set("{inputsFrom: [{name: pull-a}], resources: []}") + strings.Replace(provider, "name: pull", "name: \"pull-${X}\"", 1), "live/x.yaml", "weekend"},
		"one whose name has another":             {set("{inputsFrom: [{name: other}], resources: []}") + strings.Replace(provider, "name: pull", "name: \"pull-${X}\"", 1), "live/x.yaml", "-"},
		"a provider by labels":                   {set("{inputsFrom: [{kind: ResourceSetInputProvider, selector: {matchLabels: {a: b}}}], resources: []}") + provider, "live/x.yaml", "weekend"},
		"what labels a provider":                 {strings.Replace(set("{inputsFrom: [{kind: ResourceSetInputProvider, selector: {matchLabels: {a: b}}}], resources: []}")+provider, "spec: {path: ./live,", "spec: {commonMetadata: {labels: {a: b}}, path: ./live,", 1), "clusters/prod/live.yaml", "weekend"},
		"what labels no provider":                {strings.Replace(set("{inputsFrom: [{name: other}], resources: []}")+provider, "spec: {path: ./live,", "spec: {commonMetadata: {labels: {a: b}}, path: ./live,", 1), "clusters/prod/live.yaml", "-"},
		"a provider's Secret":                    {set("{inputsFrom: [{name: login}], resources: []}") + in("flux-system") + "-- live/p.yaml --\n" + object("fluxcd.controlplane.io/v1", "ResourceSetInputProvider", "login", "{secretRef: {name: pull}}"), "live/x.yaml", "weekend"},
		"a chart":                                {charted(resource(fmt.Sprintf(chart, "./charts/web", "x.yaml"))), "charts/web/templates/a.yaml", "weekend"},
		"another chart":                          {charted(resource(fmt.Sprintf(chart, "./charts/web", "x.yaml"))), "charts/api/Chart.yaml", "-"},
		"a chart that is filled in":              {charted(resource(fmt.Sprintf(chart, "\"./charts/<< inputs.of >>\"", "x.yaml"))), "charts/web/templates/a.yaml", "weekend"},
		"a chart that is all filled in":          {charted(resource(fmt.Sprintf(chart, "\"<< inputs.of >>\"", "x.yaml"))), "charts/web/templates/a.yaml", "weekend"},
		"another chart that is filled in":        {charted(resource(fmt.Sprintf(chart, "\"./other/<< inputs.of >>\"", "x.yaml"))), "charts/web/templates/a.yaml", "-"},
		"a chart of another source":              {charted(resource(strings.Replace(fmt.Sprintf(chart, "./charts/web", "x.yaml"), "GitRepository, name: flux-system", "HelmRepository, name: x", 1))), "charts/web/templates/a.yaml", "-"},
		"a chart's values":                       {charted(resource(fmt.Sprintf(chart, "./charts/web", "values/prod.yaml"))), "values/prod.yaml", "weekend"},
		"a chart's values, filled in":            {charted(resource(fmt.Sprintf(chart, "./charts/web", "\"values/<< inputs.of >>.yaml\""))), "values/prod.yaml", "weekend"},
		"a chart's other values":                 {charted(resource(fmt.Sprintf(chart, "./charts/web", "values/test.yaml"))), "values/prod.yaml", "-"},
		"a chart of an input":                    {charted("{inputs: [{of: ./charts/web}], resources: [" + fmt.Sprintf(chart, "\"<< inputs.of >>\"", "x.yaml") + "]}"), "charts/web/templates/a.yaml", "weekend"},
		"a template's chart":                     {charted(template("kind: HelmRelease\nspec:\n  chart:\n    spec:\n      chart: ./charts/<< inputs.of >>\n      sourceRef:\n        kind: GitRepository\n        name: flux-system")), "charts/web/templates/a.yaml", "weekend"},
		"a template's chart, in a line":          {charted(template("kind: HelmRelease\nspec: {chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: flux-system}}}}")), "charts/web/templates/a.yaml", "weekend"},
		"a source":                               {set(resource("{kind: Kustomization, spec: {sourceRef: {kind: GitRepository, name: own}}}")) + sourceObject("GitRepository", "own", "{url: https://example.com/x/y}"), "live/x.yaml", "weekend"},
		"a template":                             {set(template("kind: A\nspec:\n  secretRef:\n    name: pull")) + in("flux-system"), "live/x.yaml", "weekend"},
		"a template, in a line":                  {set(template("kind: A\nspec: {secretRef: {name: pull}}")) + in("flux-system"), "live/x.yaml", "weekend"},
		"a template of something else":           {set(template("kind: A\nspec:\n  secretRef:\n    name: other")) + in("flux-system"), "live/x.yaml", "-"},
		"a template with a name to fill in":      {set(template("kind: A\nspec:\n  secretRef:\n    name: << inputs.of >>")) + in("flux-system"), "live/x.yaml", "weekend"},
		"a template with its own name":           {set(template("kind: A\nmetadata:\n  name: << inputs.of >>")) + in("flux-system"), "live/x.yaml", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := silent(t, c.tree, c.file); got != c.want {
				t.Errorf("%s: %s, want %s", c.file, got, c.want)
			}
		})
	}
}
