package reach

import (
	"strings"
	"testing"
)

// TestSets: what a Flux Kustomization of a ResourceSet reads counts as that of any other, and its source as any other's.
func TestSets(t *testing.T) {
	const broken = "error" // of check, instead of a window
	root := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") + "-- apps/a.yaml --\n" + configMap + "-- tenants/a/x.yaml --\n" + configMap +
		"-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system")
	bare := strings.ReplaceAll(root, "name: held,", "name: other,")
	set := func(spec string) string {
		return "-- clusters/prod/set.yaml --\n" + object("fluxcd.controlplane.io/v1", "ResourceSet", "set", spec)
	}
	made := func(name, path, source string) string {
		return "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: " + name + ", namespace: flux-system}, spec: {path: \"" + path + "\", sourceRef: {kind: GitRepository, name: \"" + source + "\"}}}"
	}
	git := func(name, spec string) string {
		return "{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: \"" + name + "\", namespace: flux-system}, spec: {" + spec + "}}"
	}
	const (
		inputs = "inputs: [{tenant: a, name: held}, {tenant: b, name: free, n: {m: tenants}}], "
		from   = "inputsFrom: [{name: more}], "
		id     = "\"x-<< inputs.id >>\""
	)
	template := func(text string) string {
		return set("\n  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n")
	}
	const object = `
    apiVersion: kustomize.toolkit.fluxcd.io/v1
    kind: Kustomization
    metadata:
      name: << inputs.name | quote >>
      namespace: flux-system
    spec:
      path: ./tenants/<< inputs.tenant >>
      sourceRef:
        kind: GitRepository
        name: flux-system
`
	for name, c := range map[string]struct{ tree, file, want string }{
		"nothing made":                              {root + set("{resources: []}"), "tenants/a/x.yaml", "-"},
		"without inputs":                            {bare + set("{resources: ["+made("held", "./tenants/a", "flux-system")+"]}"), "tenants/a/x.yaml", "weekend"},
		"its definition":                            {bare + set("{resources: ["+made("held", "./tenants/a", "flux-system")+"]}"), "clusters/prod/set.yaml", "weekend"},
		"a step":                                    {bare + set("{steps: [{name: s, resources: ["+made("held", "./tenants/a", "flux-system")+"]}]}"), "tenants/a/x.yaml", "weekend"},
		"inputs":                                    {bare + set("{"+inputs+"resources: ["+made("<< inputs.name >>", "./tenants/<< inputs.tenant >>", "flux-system")+"]}"), "tenants/a/x.yaml", "weekend"},
		"inputs in sections":                        {bare + set("{inputs: [{n: {m: tenants}}], resources: ["+made("held", "./<< inputs.n.m >>/a", "flux-system")+"]}"), "tenants/a/x.yaml", "weekend"},
		"the other inputs":                          {bare + set("{"+inputs+"resources: ["+made("<< inputs.name >>", "./tenants/<< inputs.tenant >>", "flux-system")+"]}") + "-- tenants/b/x.yaml --\n" + configMap, "tenants/b/x.yaml", "-"},
		"quoted":                                    {bare + set("{"+inputs+"resources: ["+made("<< inputs.name | quote >>", "./tenants/<< inputs.tenant >>", "flux-system")+"]}"), "tenants/a/x.yaml", "weekend"},
		"a variable of Flux":                        {bare + set("{inputs: [{tenant: \"${T:=a}\"}], resources: ["+made("held", "./tenants/<< inputs.tenant >>", "flux-system")+"]}"), "tenants/a/x.yaml", broken},
		"a variable of Flux with a value":           {strings.Replace(bare, "{path: ./clusters", "{postBuild: {substitute: {T: a}}, path: ./clusters", 1) + set("{inputs: [{tenant: \"${T}\"}], resources: ["+made("held", "./tenants/<< inputs.tenant >>", "flux-system")+"]}"), "tenants/a/x.yaml", "weekend"},
		"a template":                                {bare + template(inputs[:len(inputs)-2]+"\nresourcesTemplate: |"+object), "tenants/a/x.yaml", "weekend"},
		"a template's second document":              {bare + template(inputs[:len(inputs)-2]+"\nresourcesTemplate: |\n    ---\n    apiVersion: v1\n    kind: Namespace\n    ---"+object), "tenants/a/x.yaml", "weekend"},
		"a template with a condition":               {bare + template(inputs[:len(inputs)-2]+"\nresourcesTemplate: |\n    <<- if inputs.name >>"+object+"    <<- end >>\n"), "tenants/a/x.yaml", "weekend"},
		"a template with cases":                     {bare + template(inputs[:len(inputs)-2]+"\nresourcesTemplate: |"+object+"    <<- if inputs.x >>\n      suspend: true\n    <<- else >>\n      suspend: false\n    <<- end >>\n"), "live/a.yaml", broken},
		"cases of something else":                   {root + template("resourcesTemplate: |\n    kind: ConfigMap\n    data:\n    <<- if inputs.x >>\n      a: b\n    <<- else >>\n      a: c\n    <<- end >>\n"), "live/a.yaml", "-"},
		"fields of an input":                        {root + template("resourcesTemplate: |\n    kind: Deployment\n    metadata:\n      labels:\n        << inputs.labels | toYaml | nindent 8 >>\n"), "live/a.yaml", "-"},
		"a section of an input":                     {bare + template("resourcesTemplate: |"+strings.Replace(object, "path: ./tenants/<< inputs.tenant >>", "<< inputs.spec | toYaml >>", 1)), "live/a.yaml", broken},
		"an object of an input":                     {bare + template("resourcesTemplate: |\n    << inputs.object | toYaml >>\n"), "live/a.yaml", broken},
		"a template that is no YAML":                {bare + template("resourcesTemplate: |\n    a: b: c\n"), "live/a.yaml", broken},
		"a kind of an input":                        {root + set("{resources: [{apiVersion: << inputs.api >>, kind: << inputs.kind >>}]}"), "live/a.yaml", broken},
		"a kind of another group":                   {root + set("{resources: [{apiVersion: apps/v1, kind: << inputs.kind >>}]}"), "live/a.yaml", "-"},
		"a path from elsewhere":                     {root + set("{"+from+"resources: ["+made("x", "./tenants/<< inputs.tenant >>", "flux-system")+"]}"), "live/a.yaml", "-"},
		"a path of a windowed one":                  {bare + set("{"+from+"resources: ["+made("held", "./tenants/<< inputs.tenant >>", "flux-system")+"]}"), "live/a.yaml", broken},
		"whose it is":                               {bare + set("{inputs: [{n: 1}], resources: ["+made("held", "./tenants/a", "<< inputs.provider.namespace >>")+"]}"), "tenants/a/x.yaml", "weekend"},
		"a path of a function":                      {bare + set("{"+inputs+"resources: ["+made("held", "./tenants/<< inputs.tenant | trunc 1 >>", "flux-system")+"]}"), "live/a.yaml", broken},
		"a path of a function that changes nothing": {bare + set("{"+inputs+"resources: ["+made("<< inputs.name | default \\\"x\\\" >>", "./<< printf \\\"%s/%s\\\" \\\"tenants\\\" (lower inputs.tenant) >>", "flux-system")+"]}"), "tenants/a/x.yaml", "weekend"},
		"the first of its name":                     {bare + set("{resources: ["+made("held", "./tenants/a", "flux-system")+", "+made("held", "./none", "flux-system")+"]}"), "tenants/a/x.yaml", "weekend"},
		"the second of its name":                    {bare + set("{resources: ["+made("held", "./apps", "flux-system")+", "+made("held", "./tenants/a", "flux-system")+"]}"), "tenants/a/x.yaml", "-"},
		"a case that is none":                       {bare + template(inputs[:len(inputs)-2]+"\nresourcesTemplate: |\n    <<- if eq inputs.name \"free\" >>"+object+"    <<- end >>\n"), "tenants/a/x.yaml", broken},
		"the other case":                            {bare + template(inputs[:len(inputs)-2]+"\nresourcesTemplate: |\n    <<- if eq inputs.name \"free\" >>\n    ---\n    <<- else >>"+object+"    <<- end >>\n"), "tenants/a/x.yaml", "weekend"},
		"each of a list":                            {bare + template("inputs: [{name: held, all: [b, a]}]\nresourcesTemplate: |\n    <<- range $i, $t := inputs.all >>\n    ---"+strings.NewReplacer("inputs.tenant", "$t", "<< inputs.name | quote >>", "<< if eq $t \"a\" >><< inputs.name >><< else >>other<< end >>").Replace(object)+"    <<- end >>\n"), "tenants/a/x.yaml", "weekend"},
		"fields at the margin":                      {bare + template(inputs[:len(inputs)-2]+"\nresourcesTemplate: |"+strings.Replace(object, "    spec:\n", "    spec:\n      dependsOn:\n    << inputs.deps | toYaml | indent 4 >>\n", 1)), "tenants/a/x.yaml", "weekend"},
		"a value with odd letters":                  {bare + set("{inputs: [{u: \"https://dev.example.com/a/My%20Project/_git/x\", v: \">=1.0.0\"}], resources: ["+git("far", `url: << inputs.u >>, ref: {semver: << inputs.v | quote >>}`)+", "+made("held", "./deploy", "far")+"]}"), "live/a.yaml", "-"},
		"the root's own instance":                   {root + set("{"+from+"resources: [{apiVersion: fluxcd.controlplane.io/v1, kind: FluxInstance, metadata: {name: flux}, spec: {distribution: {version: << inputs.v >>}, sync: {kind: GitRepository, "+fleet+", ref: refs/heads/main, path: clusters/prod}}}]}"), "live/a.yaml", "-"},
		"another instance":                          {root + set("{resources: [{apiVersion: fluxcd.controlplane.io/v1, kind: FluxInstance, metadata: {name: flux}, spec: {sync: {kind: GitRepository, "+fleet+", ref: refs/heads/main, path: clusters/other}}}]}"), "live/a.yaml", broken},
		"beside what stands in it":                  {bare + set("{"+inputs+from+"resources: ["+made("<< inputs.name >>", "./tenants/<< inputs.tenant >>", "flux-system")+"]}"), "tenants/a/x.yaml", "weekend"},
		"of another repository":                     {root + set("{"+from+"resources: ["+git("x-<< inputs.id >>", `url: "https://example.com/other/app", ref: {commit: << inputs.sha >>}`)+", "+made(id, "./deploy/<< inputs.id >>", "x-<< inputs.id >>")+"]}"), "live/a.yaml", "-"},
		"of what may be any":                        {root + set("{"+from+"resources: ["+git("x-<< inputs.id >>", `url: "<< inputs.url >>", ref: {commit: << inputs.sha >>}`)+", "+made(id, "./deploy", "x-<< inputs.id >>")+"]}"), "live/a.yaml", broken},
		"a source that follows a branch":            {root + set("{inputs: [{b: rw/prod}], resources: ["+git("rw", fleet+", ref: {branch: << inputs.b >>}")+", "+made("x", "./tenants/a", "rw")+"]}"), "tenants/a/x.yaml", "-"},
		"a variable as its resources":               {root + set("{resources: \"${X}\"}"), "live/a.yaml", broken},
		"a ResourceSet in it":                       {root + set("{resources: [{apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSet, metadata: {name: in}}]}"), "live/a.yaml", broken},
		"one that is put off":                       {root + set("{"+inputs+"resources: [{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: held, namespace: flux-system, annotations: {fluxcd.controlplane.io/reconcile: disabled}}, spec: {path: ./none, sourceRef: {kind: GitRepository, name: flux-system}}}]}"), "live/a.yaml", "-"},
		"a release, whoever fills it in":            {root + "-- apps/set.yaml --\n" + strings.TrimPrefix(set("{"+from+"resources: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: x-<< inputs.id >>}, spec: {chart: {spec: {chart: x, sourceRef: {kind: GitRepository, name: x-<< inputs.id >>}}}}}]}"), "-- clusters/prod/set.yaml --\n"), "live/a.yaml", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := silent(t, c.tree, c.file); got != c.want {
				t.Errorf("%s is %s, want %s", c.file, got, c.want)
			}
		})
	}
}

// TestMadeByCharts: where a chart or values make objects of Flux, what these lead to is said not to be known, if a windowed entry point applies them. So is a branch
// of a cluster that the tree says otherwise.
func TestMadeByCharts(t *testing.T) {
	const broken = "error" // of check, instead of a window
	root := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system")
	release := func(dir, spec string) string {
		return "-- " + dir + "/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", spec)
	}
	live := "-- clusters/prod/live.yaml --\n" + ks("live", "./live", "flux-system")
	chart := func(dir, template string) string {
		return release(dir, "{chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: flux-system}}}}") + "-- charts/web/Chart.yaml --\nname: web\n-- charts/web/templates/x.yaml --\n" + template
	}
	values := func(dir, values string) string {
		return release(dir, "{chart: {spec: {chart: x, sourceRef: {kind: HelmRepository, name: x}}}, values: "+values+"}") + "-- " + dir + "/h.yaml --\n" + sourceObject("HelmRepository", "x", "{url: \"https://charts.example.com\"}")
	}
	kustomization := "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: {{ .Release.Name }}}\n"
	for name, c := range map[string]struct{ tree, want string }{
		"a chart":                        {root + chart("apps", kustomization), broken},
		"of one that is live":            {root + live + chart("live", kustomization) + "-- apps/a.yaml --\n" + configMap, "-"},
		"a chart of something else":      {root + chart("apps", "apiVersion: v1\nkind: ConfigMap\nmetadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}}\n"), "-"},
		"a chart of releases":            {root + chart("apps", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nspec: {chart: {spec: {sourceRef: {kind: GitRepository}}}}\n"), broken},
		"a chart of releases, elsewhere": {root + chart("apps", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nspec: {chart: {spec: {sourceRef: {kind: HelmRepository}}}}\n"), "-"},
		"objects in values":              {root + values("apps", "{resources: [{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization}]}"), broken},
		"a text in values":               {root + values("apps", "{extra: [\"apiVersion: source.toolkit.fluxcd.io/v1\"]}"), broken},
		"kinds in a list":                {root + values("apps", "{exclude: [kustomize.toolkit.fluxcd.io/v1/Kustomization]}"), "-"},
		"a chart that asks for them":     {root + chart("apps", "# apiVersion: kustomize.toolkit.fluxcd.io/v1\n{{- if .Capabilities.APIVersions.Has \"source.toolkit.fluxcd.io/v1\" }}\nkind: ClusterRole\n{{- end }}\n"), "-"},
		"of the root, which is live":     {root + chart("clusters/prod", kustomization) + "-- apps/a.yaml --\n" + configMap, "-"},
		"kinds to watch":                 {root + values("apps", "{resources: [{groupVersionKind: {group: kustomize.toolkit.fluxcd.io, version: v1, kind: Kustomization}}]}"), "-"},
		"flux2-sync":                     {root + values("apps", "{kustomization: {spec: {path: ./x}}}"), broken},
		"a branch that the tree denies":  {strings.ReplaceAll(root, `branch: "main"`, `branch: "prod"`) + "-- apps/a.yaml --\n" + configMap, broken},
	} {
		t.Run(name, func(t *testing.T) {
			if got := silent(t, c.tree, "README.md"); got != c.want {
				t.Errorf("it is %s, want %s", got, c.want)
			}
		})
	}
}
