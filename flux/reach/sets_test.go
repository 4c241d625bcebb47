package reach

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/manifest"
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
	provider := object("fluxcd.controlplane.io/v1", "ResourceSetInputProvider", "pull", "{type: Static}")
	inApps := func(spec string) string {
		return "-- apps/set.yaml --\n" + object("fluxcd.controlplane.io/v1", "ResourceSet", "set", spec)
	}
	release := func(spec string) string {
		return "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: r, namespace: flux-system}, spec: {" + spec + ", sourceRef: {kind: GitRepository, name: flux-system}}}}}"
	}
	const (
		inputs = "inputs: [{tenant: a, name: held}, {tenant: b, name: free, n: {m: tenants}}], "
		from   = "inputsFrom: [{name: more}], "
		id     = "\"x-<< inputs.id >>\""
	)
	template := func(text string) string {
		return set("\n  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n")
	}
	const written = `
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
		"a template":                                {bare + template(inputs[:len(inputs)-2]+"\nresourcesTemplate: |"+written), "tenants/a/x.yaml", "weekend"},
		"a template's second document":              {bare + template(inputs[:len(inputs)-2]+"\nresourcesTemplate: |\n    ---\n    apiVersion: v1\n    kind: Namespace\n    ---"+written), "tenants/a/x.yaml", "weekend"},
		"a template with a condition":               {bare + template(inputs[:len(inputs)-2]+"\nresourcesTemplate: |\n    <<- if inputs.name >>"+written+"    <<- end >>\n"), "tenants/a/x.yaml", "weekend"},
		"a template with cases":                     {bare + template(inputs[:len(inputs)-2]+"\nresourcesTemplate: |"+written+"    <<- if inputs.x >>\n      suspend: true\n    <<- else >>\n      suspend: false\n    <<- end >>\n"), "live/a.yaml", broken},
		"cases of something else":                   {root + template("resourcesTemplate: |\n    kind: ConfigMap\n    data:\n    <<- if inputs.x >>\n      a: b\n    <<- else >>\n      a: c\n    <<- end >>\n"), "live/a.yaml", "-"},
		"fields of an input":                        {root + template("resourcesTemplate: |\n    kind: Deployment\n    metadata:\n      labels:\n        << inputs.labels | toYaml | nindent 8 >>\n"), "live/a.yaml", "-"},
		"a section of an input":                     {bare + template("resourcesTemplate: |"+strings.Replace(written, "path: ./tenants/<< inputs.tenant >>", "<< inputs.spec | toYaml >>", 1)), "live/a.yaml", broken},
		"an object of an input":                     {bare + template("resourcesTemplate: |\n    << inputs.object | toYaml >>\n"), "live/a.yaml", broken},
		"a template that is no YAML":                {bare + template("resourcesTemplate: |\n    a: b: c\n"), "live/a.yaml", broken},
		"a kind of an input":                        {root + set("{resources: [{apiVersion: << inputs.api >>, kind: << inputs.kind >>}]}"), "live/a.yaml", broken},
		"a kind of another group":                   {root + set("{resources: [{apiVersion: apps/v1, kind: << inputs.kind >>}]}"), "live/a.yaml", "-"},
		"a path from elsewhere":                     {root + set("{"+from+"resources: ["+made("x", "./tenants/<< inputs.tenant >>", "flux-system")+"]}"), "live/a.yaml", "-"},
		"a path of a windowed one":                  {bare + set("{"+from+"resources: ["+made("held", "./tenants/<< inputs.tenant >>", "flux-system")+"]}"), "live/a.yaml", broken},
		"whose it is":                               {bare + set("{inputs: [{n: 1}], resources: ["+made("held", "./tenants/a", "<< inputs.provider.namespace >>")+"]}"), "tenants/a/x.yaml", "weekend"},
		"a path of a function":                      {bare + set("{"+inputs+"resources: ["+made("held", "./tenants/<< inputs.tenant | trunc 1 >>", "flux-system")+"]}"), "live/a.yaml", broken},
		"a path of a function that changes nothing": {bare + set("{"+inputs+"resources: ["+made("<< inputs.name | default \\\"x\\\" >>", "./<< printf \\\"%s/%s\\\" \\\"tenants\\\" (lower inputs.tenant) >>", "flux-system")+"]}"), "tenants/a/x.yaml", "weekend"},
		"a number of seven digits":                  {bare + set("{inputs: [{n: 1234567}], resources: ["+made("held", "./tenants/<< inputs.n >>", "flux-system")+"]}") + "-- tenants/1234567/x.yaml --\n" + configMap, "live/a.yaml", broken},
		"a number in quotes":                        {bare + set("{inputs: [{n: \"1.10\"}], resources: ["+made("held", "./tenants/v<< inputs.n >>", "flux-system")+"]}") + "-- tenants/v1.10/x.yaml --\n" + configMap, "tenants/v1.10/x.yaml", "weekend"},
		"a number that is shown":                    {bare + set("{inputs: [{n: 12}], resources: ["+made("held", "./tenants/<< inputs.n >>", "flux-system")+"]}") + "-- tenants/12/x.yaml --\n" + configMap, "tenants/12/x.yaml", "weekend"},
		"a provider of its own":                     {bare + set("{inputs: [{provider: {name: a}}], resources: ["+made("held", "./tenants/<< inputs.provider.name >>", "flux-system")+"]}") + "-- tenants/set/x.yaml --\n" + configMap, "tenants/set/x.yaml", "weekend"},
		"a key with a dot":                          {bare + set("{inputs: [{at: {dir: a}, at.dir: b}], resources: ["+made("held", "./tenants/<< inputs.at.dir >>", "flux-system")+"]}"), "tenants/a/x.yaml", "weekend"},
		"a variable that is no text":                {strings.Replace(bare, "{path: ./clusters", "{postBuild: {substitute: {T: \"no\"}}, path: ./clusters", 1) + set("{inputs: [{t: \"${T}\"}], resources: ["+made("held", "./tenants/<< inputs.t >>", "flux-system")+"]}"), "live/a.yaml", broken},
		"a dollar before it":                        {strings.Replace(bare, "{path: ./clusters", "{postBuild: {substitute: {t: a}}, path: ./clusters", 1) + set("{inputs: [{t: \"{t}\"}], resources: ["+made("held", "./tenants/$<< inputs.t >>", "flux-system")+"]}"), "live/a.yaml", broken},
		"a text that needs quotes":                  {bare + set("{inputs: [{t: ./tenants/a}], resources: ["+made("held", "<< inputs.t >> #1", "flux-system")+"]}"), "live/a.yaml", broken},
		"a key that is filled in":                   {bare + set("{inputs: [{k: path}], resources: ["+strings.Replace(made("held", "./apps", "flux-system"), "spec: {", "spec: {\"<< inputs.k >>\": ./tenants/a, ", 1)+"]}"), "live/a.yaml", broken},
		"lines of a text":                           {bare + template("inputs:\n  - note: \"x\\n  path: ./tenants/a\"\nresourcesTemplate: |"+strings.NewReplacer("<< inputs.name | quote >>", "held", "      path: ./tenants/<< inputs.tenant >>\n", "", "        name: flux-system\n", "        name: flux-system\n      # << inputs.note >>\n").Replace(written)), "tenants/a/x.yaml", "weekend"},
		"lines in an object":                        {bare + set("{inputs: [{n: \"x\\nkind: Kustomization\"}], resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: << inputs.n >>}}]}"), "live/a.yaml", broken},
		"a document out of a value":                 {bare + template("inputs: [{sep: ---}]\nresourcesTemplate: |"+strings.NewReplacer("<< inputs.name | quote >>", "held", "<< inputs.tenant >>", "a").Replace(written)+"    << inputs.sep >>\n    kind: ConfigMap\n"), "tenants/a/x.yaml", "weekend"},
		"a comment of Go":                           {bare + template("resourcesTemplate: |"+strings.NewReplacer("<< inputs.name | quote >>", "held", "path: ./tenants/<< inputs.tenant >>", "<</* old: >>\n      path: ./none\n      */>>path: ./tenants/a").Replace(written)), "tenants/a/x.yaml", "weekend"},
		"blanks that are trimmed":                   {bare + template("resourcesTemplate: |"+strings.NewReplacer("<< inputs.name | quote >>", "held", "path: ./tenants/<< inputs.tenant >>", "path: ./tenants/a\n      # was\n      <<- /* */ ->>\n      path: ./none").Replace(written)), "tenants/a/x.yaml", "weekend"},
		"a template in it":                          {bare + template("resourcesTemplate: |\n    <<- define \"common\" >>\n      components: [../b]\n    <<- end >>"+strings.NewReplacer("<< inputs.name | quote >>", "held", "<< inputs.tenant >>", "a").Replace(written)+"    << template \"common\" >>\n"), "live/a.yaml", broken},
		"a list":                                    {bare + template("resourcesTemplate: |\n    kind: List\n    items: ["+made("held", "./tenants/a", "flux-system")+"]\n"), "tenants/a/x.yaml", "weekend"},
		"one of two fields":                         {bare + template("resourcesTemplate: |"+strings.NewReplacer("<< inputs.name | quote >>", "held", "      path: ./tenants/<< inputs.tenant >>\n", "    << if inputs.x >>\n      path: ./none\n    << end >>\n    << if not inputs.x >>\n      path: ./tenants/a\n    << end >>\n").Replace(written)), "live/a.yaml", broken},
		"a field that may be":                       {bare + template("resourcesTemplate: |"+strings.NewReplacer("<< inputs.name | quote >>", "held", "      path: ./tenants/<< inputs.tenant >>\n", "    << if inputs.x >>\n      path: ./tenants/a\n    << end >>\n").Replace(written)), "live/a.yaml", broken},
		"metadata of an input":                      {bare + set("{resources: [{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: << inputs.meta | toYaml | nindent 4 >>, spec: {path: ./tenants/a, sourceRef: {kind: GitRepository, name: flux-system}}}]}"), "live/a.yaml", broken},
		"variables of an input":                     {bare + set("{resources: ["+strings.Replace(made("mid", "./mid", "flux-system"), "spec: {", "spec: {postBuild: {substitute: {\"<< inputs.k >>\": a}}, ", 1)+"]}") + "-- mid/y.yaml --\n" + heldKs("\"./tenants/${dir:=b}\"", "GitRepository", "flux-system"), "live/a.yaml", broken},
		"a component that may be left out":          {bare + set("{resources: ["+strings.Replace(made("held", "./tenants/a", "flux-system"), "spec: {", "spec: {ignoreMissingComponents: true, components: [<< index inputs.c 0 >>], ", 1)+"]}"), "live/a.yaml", broken},
		"a ResourceSet that is put off":             {bare + strings.Replace(set("{resources: ["+made("held", "./tenants/a", "flux-system")+"]}"), "name: set,", "name: set, annotations: {fluxcd.controlplane.io/reconcile: disabled},", 1), "live/a.yaml", broken},
		"an encrypted template":                     {bare + set("{resourcesTemplate: \"ENC[AES256_GCM,data:x,type:str]\"}") + "sops: {mac: x}\n", "live/a.yaml", broken},
		"a template of a variable":                  {bare + set("{resourcesTemplate: \"${T}\"}"), "live/a.yaml", broken},
		"what a provider says":                      {bare + set("{inputsFrom: [{name: more}], resources: ["+strings.Replace(made("held", "./tenants/a", "flux-system"), "spec: {", "spec: {timeout: << inputs.t >>, ", 1)+"]}") + "-- clusters/prod/more.yaml --\n" + strings.Replace(provider, "name: pull", "name: more", 1), "clusters/prod/more.yaml", "weekend"},
		"a release's values":                        {root + inApps("{resources: ["+release("values: {}, chart: {spec: {chart: << inputs.x >>, valuesFiles: [v.yml]")+"]}") + "-- v.yml --\na: b\n", "v.yml", "-"},
		"a release's known values":                  {root + inApps("{resources: ["+release("chart: {spec: {chart: charts/x, valuesFiles: [v.yml]")+"]}") + "-- v.yml --\na: b\n", "v.yml", "weekend"},
		"a release of Flux objects":                 {root + inApps("{resources: ["+release("values: {a: [{apiVersion: kustomize.toolkit.fluxcd.io/v1}]}, chart: {spec: {chart: charts/x")+"]}"), "live/a.yaml", broken},
		"what may be left out":                      {bare + template("resourcesTemplate: |"+strings.Replace(strings.NewReplacer("<< inputs.name | quote >>", "held", "<< inputs.tenant >>", "a").Replace(written), "    spec:", "      annotations:\n        << if contains \"y\" inputs.e >>\n        fluxcd.controlplane.io/reconcile: disabled\n        << end >>\n    spec:", 1)), "tenants/a/x.yaml", "weekend"},
		"one that may be there first":               {bare + template("resourcesTemplate: |\n    << if upper \"x\" >>"+strings.Replace(strings.NewReplacer("<< inputs.name | quote >>", "held", "<< inputs.tenant >>", "a").Replace(written), "tenants/a", "apps", 1)+"    << end >>\n    ---"+strings.NewReplacer("<< inputs.name | quote >>", "held", "<< inputs.tenant >>", "a").Replace(written)), "tenants/a/x.yaml", "weekend"},
		"two of a name, without inputs":             {bare + set("{resources: ["+made("held", "./apps", "flux-system")+", "+made("held", "./tenants/a", "flux-system")+"]}"), "tenants/a/x.yaml", "weekend"},
		"a field as often as a list has":            {bare + template("resourcesTemplate: |"+strings.Replace(strings.NewReplacer("<< inputs.name | quote >>", "held", "<< inputs.tenant >>", "a").Replace(written), "      path: ./tenants/a\n", "    << range list >>\n      path: ./tenants/a\n    << end >>\n", 1)), "live/a.yaml", broken},
		"each of a section":                         {bare + template("inputs: [{m: {one: b, two: a}}]\nresourcesTemplate: |\n    <<- range $k, $v := inputs.m >>\n    ---"+strings.NewReplacer("<< inputs.name | quote >>", "<< if eq $k \"two\" >>held<< else >>other<< end >>", "<< inputs.tenant >>", "<< $v >>").Replace(written)+"    << end >>\n"), "tenants/a/x.yaml", "weekend"},
		"more than is filled in":                    {bare + template("inputs: [{l: ["+strings.Repeat("1, ", 400)+"1]}]\nresourcesTemplate: |\n    << range inputs.l >>\n    # "+strings.Repeat("x", 900)+"\n    ---\n    << end >>"+strings.NewReplacer("<< inputs.name | quote >>", "held", "<< inputs.tenant >>", "a").Replace(written)), "live/a.yaml", broken},
		"a definition of itself":                    {bare + template("resourcesTemplate: |\n    << define \"resourceset\" >>"+strings.NewReplacer("<< inputs.name | quote >>", "held", "<< inputs.tenant >>", "a").Replace(written)+"    << end >>\n"), "tenants/a/x.yaml", "weekend"},
		"JSON behind JSON":                          {bare + template("resourcesTemplate: |\n    {\"kind\": \"ConfigMap\"}\n    {\"kind\": \"Kustomization\"}\n"), "live/a.yaml", broken},
		"an object further in":                      {bare + template("resourcesTemplate: |\n    << toYaml inputs.o | nindent 1 >>\n"), "live/a.yaml", broken},
		"what stands behind such lines":             {bare + template("resourcesTemplate: |\n    kind: ConfigMap\n    data: << toYaml inputs.o >>\n    ---"+strings.NewReplacer("<< inputs.name | quote >>", "held", "<< inputs.tenant >>", "a").Replace(written)), "tenants/a/x.yaml", "weekend"},
		"an item of a list":                         {bare + template("resourcesTemplate: |\n    kind: List\n    items:\n    - << toJson inputs.o >>\n"), "live/a.yaml", broken},
		"lines of a function":                       {bare + template("resourcesTemplate: |\n    kind: ConfigMap\n    data:\n      a: << printf \"x\\n---\\n%s\" (toYaml inputs.o) >>\n"), "live/a.yaml", broken},
		"a case over several fields":                {bare + set("{inputs: [{i: false}], resources: ["+strings.Replace(made("held", "./tenants/a", "flux-system"), "spec: {", "spec: {interval: \"1m << if inputs.i >>\", timeout: \"<< end >>\", ", 1)+"]}"), "live/a.yaml", broken},
		"blanks behind a field":                     {bare + set("{inputs: [{i: \"1m #\"}], resources: ["+strings.Replace(made("held", "./tenants/a", "flux-system"), "spec: {", "spec: {interval: \"<< inputs.i ->>\", ", 1)+"]}"), "live/a.yaml", broken},
		"a case that ends in another document":      {bare + template("resourcesTemplate: |"+strings.Replace(strings.NewReplacer("<< inputs.name | quote >>", "held", "<< inputs.tenant >>", "a").Replace(written), "      sourceRef:", "    << if upper \"x\" >>\n    ---\n    kind: ConfigMap\n    data:\n    << end >>\n      sourceRef:", 1)), "live/a.yaml", broken},
		"a variable over several lines":             {strings.Replace(bare, "{path: ./clusters", "{postBuild: {substitute: {X: z}}, path: ./clusters", 1) + template("resourcesTemplate: |"+strings.Replace(strings.NewReplacer("<< inputs.name | quote >>", "held", "<< inputs.tenant >>", "a").Replace(written), "      path: ./tenants/a\n", "      # ${X:=\n      path: ./tenants/a\n      # }\n", 1)), "live/a.yaml", broken},
		"a variable over several fields":            {strings.Replace(root, "{path: ./clusters", "{postBuild: {substitute: {X: z}}, path: ./clusters", 1) + "-- clusters/prod/x.yaml --\n" + strings.Replace(heldKs("./tenants/a", "GitRepository", "flux-system"), "spec: {", "spec: {interval: \"${X:=\", timeout: \"}\", ", 1), "live/a.yaml", broken},
		"a ResourceSet that puts off":               {bare + set("{commonMetadata: {annotations: {fluxcd.controlplane.io/reconcile: disabled}}, resources: ["+made("held", "./tenants/a", "flux-system")+"]}"), "live/a.yaml", broken},
		"values of Flux objects":                    {root + set("{resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: v}, data: {a: \"apiVersion: kustomize.toolkit.fluxcd.io/v1\"}}]}"), "live/a.yaml", broken},
		"a block of lines with cases":               {root + set("{inputs: [{w: false}], resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: v}, data: {a: \"x\\n<<- if inputs.w >>\\ny\\n<<- end >>\\n\"}}]}"), "live/a.yaml", "-"},
		"what is no YAML, of something else":        {root + template("resourcesTemplate: |\n    kind: RoleBinding\n    subjects: [{name: << . >>}]\n"), "live/a.yaml", "-"},
		"the first of its name":                     {bare + set("{inputs: [{a: b}], resources: ["+made("held", "./tenants/a", "flux-system")+", "+made("held", "./none", "flux-system")+"]}"), "tenants/a/x.yaml", "weekend"},
		"the second of its name":                    {bare + set("{inputs: [{a: b}], resources: ["+made("held", "./apps", "flux-system")+", "+made("held", "./tenants/a", "flux-system")+"]}"), "tenants/a/x.yaml", "-"},
		"a case that is none":                       {bare + template(inputs[:len(inputs)-2]+"\nresourcesTemplate: |\n    <<- if eq inputs.name \"free\" >>"+written+"    <<- end >>\n"), "tenants/a/x.yaml", broken},
		"the other case":                            {bare + template(inputs[:len(inputs)-2]+"\nresourcesTemplate: |\n    <<- if eq inputs.name \"free\" >>\n    ---\n    <<- else >>"+written+"    <<- end >>\n"), "tenants/a/x.yaml", "weekend"},
		"each of a list":                            {bare + template("inputs: [{name: held, all: [b, a]}]\nresourcesTemplate: |\n    <<- range $i, $t := inputs.all >>\n    ---"+strings.NewReplacer("inputs.tenant", "$t", "<< inputs.name | quote >>", "<< if eq $t \"a\" >><< inputs.name >><< else >>other<< end >>").Replace(written)+"    <<- end >>\n"), "tenants/a/x.yaml", "weekend"},
		"fields at the margin":                      {bare + template(inputs[:len(inputs)-2]+"\nresourcesTemplate: |"+strings.Replace(written, "    spec:\n", "    spec:\n      dependsOn:\n    << inputs.deps | toYaml | indent 4 >>\n", 1)), "tenants/a/x.yaml", "weekend"},
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
	from := release("apps", "{chart: {spec: {chart: x, sourceRef: {kind: GitRepository, name: flux-system}}}, valuesFrom: [{kind: ConfigMap, name: v}]}")
	kustomization := "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: {{ .Release.Name }}}\n"
	for name, c := range map[string]struct{ tree, want string }{
		"a chart":                             {root + chart("apps", kustomization), broken},
		"of one that is live":                 {root + live + chart("live", kustomization) + "-- apps/a.yaml --\n" + configMap, "-"},
		"a chart of something else":           {root + chart("apps", "apiVersion: v1\nkind: ConfigMap\nmetadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}}\n"), "-"},
		"a chart of releases":                 {root + chart("apps", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nspec: {chart: {spec: {sourceRef: {kind: GitRepository}}}}\n"), broken},
		"a chart of releases, elsewhere":      {root + chart("apps", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nspec: {chart: {spec: {sourceRef: {kind: HelmRepository}}}}\n"), "-"},
		"objects in values":                   {root + values("apps", "{resources: [{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization}]}"), broken},
		"a release in values":                 {root + values("apps", "{resources: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, spec: {chart: {spec: {sourceRef: {kind: GitRepository}}}}}]}"), broken},
		"a release in values, of a HelmChart": {root + values("apps", "{resources: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, spec: {chartRef: {kind: HelmChart}}}]}"), broken},
		"a release in values, elsewhere":      {root + values("apps", "{resources: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, spec: {chart: {spec: {sourceRef: {kind: HelmRepository}}}}}]}"), "-"},
		"a text in values":                    {root + values("apps", "{extra: [\"apiVersion: source.toolkit.fluxcd.io/v1\"]}"), broken},
		"kinds in a list":                     {root + values("apps", "{exclude: [kustomize.toolkit.fluxcd.io/v1/Kustomization]}"), "-"},
		"a chart that asks for them":          {root + chart("apps", "# apiVersion: kustomize.toolkit.fluxcd.io/v1\n{{- if .Capabilities.APIVersions.Has \"source.toolkit.fluxcd.io/v1\" }}\nkind: ClusterRole\n{{- end }}\n"), "-"},
		"of the root, which is live":          {root + chart("clusters/prod", kustomization) + "-- apps/a.yaml --\n" + configMap, "-"},
		"kinds to watch":                      {root + values("apps", "{resources: [{groupVersionKind: {group: kustomize.toolkit.fluxcd.io, version: v1, kind: Kustomization}}]}"), "-"},
		"values of a ConfigMap":               {root + from + "-- apps/v.yaml --\n" + strings.Replace(configMap, "name: cm", "name: v, namespace: flux-system", 1) + "data:\n  values.yaml: |\n    resources:\n    - apiVersion: kustomize.toolkit.fluxcd.io/v1\n", broken},
		"values of a ConfigMap, others":       {root + from + "-- apps/v.yaml --\n" + strings.Replace(configMap, "name: cm", "name: v, namespace: flux-system", 1) + "data:\n  values.yaml: |\n    resources:\n    - apiVersion: v1\n", "-"},
		"values of a file":                    {root + from + "-- apps/kustomization.yaml --\nresources: [r.yaml]\nconfigMapGenerator: [{name: v, namespace: flux-system, files: [v.yaml]}]\ngeneratorOptions: {disableNameSuffixHash: true}\n-- apps/v.yaml --\nresources:\n- apiVersion: kustomize.toolkit.fluxcd.io/v1\n", broken},
		"a Terraform beside releases":         {root + "-- apps/tf.yaml --\n" + object("infra.contrib.fluxcd.io/v1alpha2", "Terraform", "t", "{path: ./infra, sourceRef: {kind: GitRepository, name: flux-system}}") + "-- infra/main.tf --\nx\n", "-"},
		"flux2-sync":                          {root + values("apps", "{kustomization: {spec: {path: ./x}}}"), broken},
		"a branch that the tree denies":       {strings.ReplaceAll(root, `branch: "main"`, `branch: "prod"`) + "-- apps/a.yaml --\n" + configMap, broken},
	} {
		t.Run(name, func(t *testing.T) {
			if got := silent(t, c.tree, "README.md"); got != c.want {
				t.Errorf("it is %s, want %s", got, c.want)
			}
		})
	}
}

// TestWaits: a Flux Kustomization whose variables stand nowhere is read, whatever else waits for its own.
func TestWaits(t *testing.T) {
	from := func(text, kind, name string) string {
		return strings.Replace(text, "spec: {", "spec: {postBuild: {substituteFrom: [{kind: "+kind+", name: "+name+"}]}, ", 1)
	}
	tree := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") + from(heldKs("./apps", "GitRepository", "flux-system"), "Secret", "hand") +
		"-- clusters/prod/blue.yaml --\n" + sourceObject("GitRepository", "blue", "{url: \"https://example.com/acme/blue\"}") + from(ks("blue", "./deploy", "blue"), "ConfigMap", "later") +
		"-- clusters/prod/infra.yaml --\n" + ks("infra", "./infra", "flux-system") + "-- infra/v.yaml --\n" + strings.Replace(configMap, "name: cm", "name: later, namespace: flux-system", 1) + "-- apps/a.yaml --\n" + configMap
	if got := silent(t, tree, "apps/a.yaml"); got != "weekend" {
		t.Errorf("apps/a.yaml is %s, want weekend", got)
	}
}

// TestCopied: what a controller copies into an object that something windowed has values of waits with that.
func TestCopied(t *testing.T) {
	of := func(kind, name, note string) string {
		return "---\napiVersion: v1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: flux-system" + note + "}\n"
	}
	for name, c := range map[string]struct{ held, copy string }{
		"variables": {strings.Replace(heldKs("./apps", "GitRepository", "flux-system"), "spec: {", "spec: {postBuild: {substituteFrom: [{kind: ConfigMap, name: v}]}, ", 1) + "-- apps/a.yaml --\n" + configMap,
			of("ConfigMap", "v", ", annotations: {replicator.v1.mittwald.de/replicate-from: other/global}") + "-- live/from.yaml --\n" + strings.Replace(of("ConfigMap", "global", ""), "flux-system", "other", 1)},
		"values": {heldKs("./apps", "GitRepository", "flux-system") + "-- apps/a.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{valuesFrom: [{kind: Secret, name: v}]}"),
			of("Secret", "v", ", annotations: {reflector.v1.k8s.emberstack.com/reflects: global}") + "-- live/from.yaml --\n" + of("Secret", "global", "")},
	} {
		tree := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") + ks("live", "./live", "flux-system") + "-- live/x.yaml --\n" + configMap + "-- live/v.yaml --\n" + c.copy + "-- clusters/prod/held.yaml --\n" + c.held
		if got := silent(t, tree, "live/from.yaml"); got != "weekend" {
			t.Errorf("%s: it is %s, want weekend", name, got)
		}
		if got := silent(t, tree, "live/x.yaml"); got != "-" {
			t.Errorf("%s: something else is %s", name, got)
		}
	}
}

// TestReadInPart: what is known of values that were not all read counts.
func TestReadInPart(t *testing.T) {
	tree := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + strings.Replace(ks("flux-system", "./clusters/prod", "flux-system"), "spec: {", "spec: {postBuild: {substituteFrom: [{kind: ConfigMap, name: v}]}, ", 1) +
		heldKs("\"./${DIR}\"", "GitRepository", "flux-system") + "-- clusters/prod/kustomization.yaml --\nresources: [a.yaml]\ngeneratorOptions: {disableNameSuffixHash: true}\n" +
		"configMapGenerator: [{name: v, namespace: flux-system, envs: [v.env], literals: [DIR=apps]}]\n-- clusters/prod/v.env --\n" + strings.Repeat("# more\n", manifest.MaxConfig/7+1) + "-- apps/a.yaml --\n" + configMap
	if got := silent(t, tree, "apps/a.yaml"); got != "weekend" {
		t.Errorf("apps/a.yaml is %s, want weekend", got)
	}
}

// TestReleased: what takes a HelmRelease away from the windowed branch of its chart, or takes the release away, waits.
func TestReleased(t *testing.T) {
	p := parse(t, sourcesFile)
	main := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") + "-- clusters/prod/live.yaml --\n" + ks("live", "./live", "flux-system") + gitRepository("rw", "rw/a") +
		"-- live/web.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "web", "{chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: rw}}}}") + "-- live/x.yaml --\n" + configMap + "-- charts/web/Chart.yaml --\nname: web\n-- live/kustomization.yaml --\n"
	for name, c := range map[string]struct{ after, want string }{
		"another source": {"resources: [web.yaml, x.yaml]\npatches: [{target: {kind: HelmRelease}, patch: '[{\"op\": \"replace\", \"path\": \"/spec/chart/spec/sourceRef/name\", \"value\": \"flux-system\"}]'}]\n", "night"},
		"no release":     {"resources: [x.yaml]\n", "night"},
		"something else": {"resources: [web.yaml]\n", ""},
	} {
		g := New(p, clusters(t, p, main+"resources: [web.yaml, x.yaml]\n"), clusters(t, p, main+c.after))
		got := ""
		if class, ok := g.Holds("live/kustomization.yaml"); ok && strings.Contains(fmt.Sprint(class.Releases), "night") {
			got = "night"
		}
		if got != c.want {
			t.Errorf("%s: the list is held by %q, want %q", name, got, c.want)
		}
	}
}

// TestReleasedUnknown: what is not known of such a release is an error, whatever applies it.
func TestReleasedUnknown(t *testing.T) {
	p := parse(t, sourcesFile)
	vars := func(name, dir string) string {
		return strings.Replace(ks(name, dir, "flux-system"), "{path", "{postBuild: {substituteFrom: [{kind: Secret, name: vars}]}, path", 1)
	}
	tree := func(dir, source string) string {
		return "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + vars("flux-system", "./clusters/prod") + vars("live", "./live") + gitRepository("rw", "rw/a") +
			"-- " + dir + "/web.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "web", "{chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: "+source+"}}}, values: \"${X}\"}") + "-- charts/web/Chart.yaml --\nname: web\n" +
			"-- " + dir + "/x.yaml --\n" + configMap + "-- live/y.yaml --\n" + configMap + "-- " + dir + "/kustomization.yaml --\nresources: [a.yaml, web.yaml, x.yaml]\n"
	}
	for name, c := range map[string]struct {
		tree string
		want bool
	}{
		"of a branch":              {strings.Replace(tree("live", "rw"), "a.yaml, ", "", 1), true},
		"of a branch, by the root": {tree("clusters/prod", "rw"), true},
		"of what is live":          {strings.Replace(tree("live", "flux-system"), "a.yaml, ", "", 1), false},
	} {
		holds := false
		for _, n := range New(p, clusters(t, p, c.tree)).Hidden(nil) {
			holds = holds || strings.Contains(n.String(), "web.yaml") && n.Level == config.LevelHold
		}
		if holds != c.want {
			t.Errorf("%s: an error: %t %v", name, holds, New(p, clusters(t, p, c.tree)).Hidden(nil))
		}
	}
}

// TestSetIsRenamed: what a ResourceSet makes goes with it, though another one makes the same.
func TestSetIsRenamed(t *testing.T) {
	p := parse(t, sourcesFile)
	tree := func(name string) string {
		return "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") + "-- apps/a.yaml --\n" + configMap + "-- clusters/prod/set.yaml --\n" +
			object("fluxcd.controlplane.io/v1", "ResourceSet", name, "{resources: [{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: held, namespace: flux-system}, spec: {path: ./apps, sourceRef: {kind: GitRepository, name: flux-system}}}]}")
	}
	for name, want := range map[string]bool{"one": false, "two": true} {
		g := New(p, clusters(t, p, tree("one")), clusters(t, p, tree(name)))
		if _, held := g.Holds("clusters/prod/set.yaml"); held != want {
			t.Errorf("%s: held: %t", name, held)
		}
	}
}

// TestMixedApplier: what applies a definition from the default branch, too, does not come with the windowed one.
func TestMixedApplier(t *testing.T) {
	p := parse(t, strings.Replace(sourcesFile, "path: clusters/prod, branch: main", "path: clusters/prod", 1))
	tree := func(interval string) string {
		return "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "rw/a") + ks("flux-system", "./clusters/prod", "flux-system") + gitRepository("m", "main") +
			sourceObject("GitRepository", "mix", "{"+fleet+", ref: {branch: rw/a}, include: [{repository: {name: m}, fromPath: child, toPath: inc}]}") + ks("p", "./inc", "mix") +
			"-- child/e.yaml --\n" + strings.Replace(ks("e", "./apps", "flux-system"), "{path", "{interval: "+interval+", path", 1) + "-- apps/a.yaml --\n" + configMap
	}
	if _, held := New(p, clusters(t, p, tree("5m")), clusters(t, p, tree("9m"))).Holds("child/e.yaml"); !held {
		t.Error("a definition that comes from main is left to the branch")
	}
}
