package reach

import (
	"strings"
	"testing"
)

// operatorOf is an object of which an operator makes a Secret.
func operatorOf(name string) string {
	return "-- clusters/prod/live.yaml --\n" + ks("live", "./live", "flux-system") + "-- live/s.yaml --\n" + object("external-secrets.io/v1", "ExternalSecret", name, "{}")
}

// TestUnknown: a source, a name or a reader that is not known from the tree holds what it may read, or is an error of check.
func TestUnknown(t *testing.T) {
	const broken = "error" // of check, instead of a window
	const elsewhere = "README.md"
	root := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") +
		"-- apps/a.yaml --\n" + configMap + "-- live/a.yaml --\n" + configMap
	held := root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system")
	live := func(text string) string { return "-- clusters/prod/live.yaml --\n" + text }
	of := func(text, kind string) string { return strings.Replace(text, "kind: GitRepository", "kind: "+kind, 1) }
	open := func(text string) string { // it is applied by what has variables in no file
		parent := strings.Replace(ks("parent", "./parent", "flux-system"), "spec: {", "spec: {postBuild: {substituteFrom: [{kind: Secret, name: hand}]}, ", 1)
		return root + "-- clusters/prod/parent.yaml --\n" + parent + "-- parent/ks.yaml --\n" + text
	}
	variable := func(spec string) string {
		return open(strings.Replace(heldKs("./apps", "GitRepository", "flux-system"), "spec: {", "spec: {"+spec+", ", 1))
	}
	release := func(spec string) string { // its variables are not known
		k := func(text string) string {
			return strings.Replace(text, "spec: {", "spec: {postBuild: {substituteFrom: [{kind: Secret, name: hand}]}, ", 1)
		}
		return root + "-- clusters/prod/held.yaml --\n" + k(heldKs("./apps", "GitRepository", "flux-system")) + "-- apps/r.yaml --\n" +
			object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", spec)
	}
	freed := func(text string) string {
		return strings.ReplaceAll(text, "name: held", "name: free") + live(heldKs("./live", "GitRepository", "flux-system"))
	}
	sets := live(ks("live", "./live", "flux-system")) + "-- live/set.yaml --\n" + object("fluxcd.controlplane.io/v1", "ResourceSet", "set", "{inputsFrom: [{kind: ResourceSetInputProvider, name: p}], resources: []}")
	based := func(url string) string {
		return held + "-- apps/kustomization.yaml --\nresources: [a.yaml, \"" + url + "\"]\n"
	}
	terraform := func(path string) string {
		return held + "-- apps/tf.yaml --\n" + object("infra.contrib.fluxcd.io/v1alpha2", "Terraform", "tf", "{path: "+path+", sourceRef: {kind: GitRepository, name: flux-system}}") +
			"-- tf/main.tf --\nmodule \"m\" { source = \"../modules/m\" }\n-- modules/m/main.tf --\nx\n-- modules/n/main.tf --\nx\n"
	}
	configured := func(text string) string {
		return held + "-- apps/kustomization.yaml --\nresources: [r.yaml]\nconfigurations: [c.yaml]\nnamePrefix: x-\n-- apps/c.yaml --\n" + text + "-- apps/r.yaml --\n" +
			object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chartRef: {kind: OCIRepository, name: chart}}")
	}
	legacy := func(field string) string {
		child := strings.NewReplacer("kustomize.toolkit.fluxcd.io/v1", "kustomize.toolkit.fluxcd.io/v1beta2", "spec: {", "spec: {"+field+", ").Replace(ks("mid", "./mid", "flux-system"))
		return root + live(child) + "-- mid/held.yaml --\n" + heldKs("./none", "GitRepository", "flux-system")
	}
	selected := func(options string) string { // a patch of what has labels
		return root + "-- clusters/prod/held.yaml --\n" + strings.Replace(heldKs("./apps", "GitRepository", "flux-system"), "spec: {", "spec: {postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}, ", 1) +
			"-- clusters/prod/kustomization.yaml --\nresources: [a.yaml, held.yaml]\n" + options + "patches: [{target: {labelSelector: in=prod}, path: p.yaml}]\n" +
			"-- clusters/prod/p.yaml --\n- {op: replace, path: /data/X, value: z}\n"
	}
	composed := func(kind string) string { // of this repository, and of what stands in no file
		return root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "ExternalArtifact", "made") + "-- clusters/prod/ag.yaml --\n" + object("source.extensions.fluxcd.io/v1beta1", "ArtifactGenerator", "made",
			"{sources: [{alias: r, kind: GitRepository, name: flux-system}, {alias: h, kind: "+kind+", name: hand}], artifacts: [{name: made, copy: ["+
				"{from: \"@r/apps/**\", to: \"@artifact/apps/\"}, {from: \"@h/live/**\", to: \"@artifact/apps/\"}]}]}") + "-- apps/a.yaml --\n" + configMap
	}
	chart := held + "-- apps/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: flux-system}}}}") +
		"-- charts/web/Chart.yaml --\nname: web\n"
	named := "-- clusters/prod/mid.yaml --\n" + strings.Replace(ks("mid", "./mid", "flux-system"), "spec: {", "spec: {postBuild: {substituteFrom: [{kind: Secret, name: hand}]}, ", 1) +
		"-- mid/more.yaml --\n" + strings.Replace(ks("more", "./more", "flux-system"), "spec: {", `spec: {patches: [{patch: "kind: Kustomization\napiVersion: kustomize.toolkit.fluxcd.io/v1\nmetadata: {name: '${X}', namespace: flux-system}\nspec: {path: ./apps}"}], `, 1) +
		"-- more/held.yaml --\n" + heldKs("./none", "GitRepository", "flux-system")
	whole := func(kind string) string { return live(of(ks("live", "./", "hand"), kind)) }
	values := func(name string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: flux-system}\ndata: {DIR: apps}\n"
	}
	later := func(entries, inline string) string { // a path whose value an earlier entry sets
		parent := strings.Replace(ks("parent", "./parent", "flux-system"), "spec: {", "spec: {postBuild: {"+inline+"substituteFrom: ["+entries+"]}, ", 1)
		return root + "-- clusters/prod/parent.yaml --\n" + parent + "-- clusters/prod/vars.yaml --\n" + values("vars") +
			"-- parent/ks.yaml --\n" + heldKs("\"./${DIR}\"", "GitRepository", "flux-system")
	}
	const vars, hand = "{kind: ConfigMap, name: vars}", "{kind: Secret, name: hand}"
	const commit = "0123456789abcdef0123456789abcdef01234567"
	module := func(file, text string) string {
		return strings.Replace(terraform("./tf"), "-- tf/main.tf --\nmodule \"m\" { source = \"../modules/m\" }\n", "-- tf/"+file+" --\n"+text+"\n", 1)
	}
	for name, c := range map[string]struct{ tree, file, want string }{
		"a tenant with a source in no file":         {held + whole("GitRepository"), elsewhere, broken},
		"the same, of a file that it would read":    {held + whole("GitRepository") + "-- other/a.yaml --\n" + configMap, "other/a.yaml", broken},
		"a tenant with an artifact in no file":      {held + whole("OCIRepository"), "live/a.yaml", broken},
		"a tenant with a bucket in no file":         {held + whole("Bucket"), elsewhere, "-"},
		"a bucket in no file":                       {held + live(of(ks("live", "./live", "hand"), "Bucket")), elsewhere, "-"},
		"a later entry in no file":                  {later(vars+", "+hand, ""), elsewhere, broken},
		"an earlier entry in no file":               {later(hand+", "+vars, ""), "apps/a.yaml", "weekend"},
		"the same, said so":                         {later(hand+", "+vars, ""), elsewhere, "-"},
		"a later optional entry":                    {later(vars+", {kind: Secret, name: hand, optional: true}", ""), elsewhere, broken},
		"what is inline wins over all":              {later(vars+", "+hand, "substitute: {DIR: apps}, "), "apps/a.yaml", "weekend"},
		"a later entry that something makes":        {later(vars+", "+hand, "") + operatorOf("hand"), elsewhere, broken},
		"a variable in a name":                      {open(strings.Replace(ks("live", "./live", "flux-system"), "name: live", "name: \"${X}\"", 1)), "live/a.yaml", "weekend"},
		"a variable in a name, of another's":        {open(strings.Replace(of(ks("live", "./live", "oci"), "OCIRepository"), "name: live", "name: \"${X}\"", 1)+sourceObject("OCIRepository", "oci", "{url: oci://example.com/x}")) + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system"), elsewhere, broken},
		"a name of another's":                       {open(strings.Replace(of(ks("live", "./live", "oci"), "OCIRepository"), "name: live", "name: other", 1)+sourceObject("OCIRepository", "oci", "{url: oci://example.com/x}")) + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system"), elsewhere, "-"},
		"a variable in a namespace":                 {open(strings.Replace(ks("live", "./live", "flux-system"), "namespace: flux-system", "namespace: \"${X}\"", 1)), elsewhere, broken},
		"a variable in the name of a source":        {open(strings.Replace(gitRepository("own", "main"), "name: own", "name: \"${X}\"", 1)) + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "hand"), "parent/ks.yaml", "weekend"},
		"a variable in the name of values":          {open(values("\"${X}\"")) + "-- clusters/prod/held.yaml --\n" + strings.Replace(heldKs("./apps", "GitRepository", "flux-system"), "spec: {", "spec: {postBuild: {substituteFrom: [{kind: ConfigMap, name: hand}]}, ", 1), "parent/ks.yaml", "weekend"},
		"a base with two refs":                      {based("https://example.com/acme/fleet//live?ref=" + commit + "&ref=main"), elsewhere, broken},
		"a base by git:: and git@":                  {based("git::git@example.com:acme/fleet.git//live?ref=main"), elsewhere, broken},
		"a base at a branch that has a version":     {based("https://example.com/acme/fleet//live?ref=release-1.2.3-x"), elsewhere, broken},
		"a base by /scm/":                           {based("https://example.com/scm/acme/fleet//live?ref=main"), elsewhere, broken},
		"a base by /scm/ with .git":                 {based("https://example.com/scm/acme/fleet.git/live?ref=main"), elsewhere, broken},
		"a base by _git":                            {based("https://example.com/acme/_git/fleet/live?version=GBmain"), elsewhere, broken},
		"a file by the API of a forge":              {based("https://example.com/api/v4/projects/7/repository/files/live%2Fa.yaml/raw?ref=main"), elsewhere, broken},
		"a file by the API of another forge":        {based("https://api.example.com/repos/acme/fleet/contents/live/a.yaml?ref=main"), elsewhere, broken},
		"a base by a mirror":                        {based("https://git.example.org/mirrors/acme-fleet//live?ref=main"), elsewhere, broken},
		"a base by an escape":                       {based("https://example.com/acme/flee%74//live?ref=main"), elsewhere, broken},
		"a base at a tag":                           {based("https://example.com/acme/fleet//live?ref=refs/tags/v1.2.0"), elsewhere, "-"},
		"an archive of a tag":                       {based("https://example.com/acme/fleet/archive/refs/tags/v1.2.0.tar.gz"), elsewhere, "-"},
		"a file at a commit":                        {based("https://example.com/acme/fleet/blob/" + commit + "/live/a.yaml"), elsewhere, "-"},
		"a directory called as a commit":            {based("https://example.com/acme/fleet//blob/" + commit), elsewhere, broken},
		"a file of another repository":              {based("https://raw.githubusercontent.com/other/web/v1.2.0/fleet/a.yaml"), elsewhere, "-"},
		"a file by another host of the forge":       {based("https://media.githubusercontent.com/media/acme/fleet/main/live/a.yaml"), elsewhere, broken},
		"a file by the API of GitHub":               {based("https://api.github.com/repos/acme/fleet/contents/live/a.yaml"), elsewhere, broken},
		"a chart in no file":                        {held + "-- apps/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chartRef: {kind: HelmChart, name: c}}"), elsewhere, broken},
		"an artifact of a chart in no file":         {composed("HelmChart"), elsewhere, broken},
		"an artifact of an artifact in no file":     {composed("ExternalArtifact"), elsewhere, broken},
		"a variable in the name of another source":  {open(strings.Replace(gitRepository("own", "main"), "name: own", "name: \"x${X}\"", 1)) + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system"), elsewhere, broken},
		"a base of the same name elsewhere":         {based("https://github.com/other/tools//fleet?ref=v1"), elsewhere, "-"},
		"a file of tofu":                            {module("main.tofu", "module \"m\" { source = \"../modules/m\" }"), "modules/m/main.tf", "weekend"},
		"a module by a variable":                    {module("main.tf", "module \"m\" { source = \"${var.root}/modules/m\" }"), "modules/m/main.tf", "weekend"},
		"a module by this repository's URL":         {module("main.tf", "module \"m\" { source = \"git::https://example.com/acme/fleet//modules/m\" }"), "modules/m/main.tf", "weekend"},
		"a mirror of another name":                  {held + live(ks("live", "./live", "own")+sourceObject("GitRepository", "own", "{url: https://git.example.org/mirrors/acme-fleet, ref: {branch: main}}")), elsewhere, broken},
		"the same, on this host":                    {held + live(ks("live", "./live", "own")+sourceObject("GitRepository", "own", "{url: https://example.com/mirrors/acme-fleet, ref: {branch: main}}")), elsewhere, broken},
		"a tenant of a mirror":                      {held + live(ks("live", "./", "own")+sourceObject("GitRepository", "own", "{url: https://git.example.org/mirrors/acme-fleet, ref: {branch: main}}")), elsewhere, broken},
		"the same, of what it would read":           {held + live(ks("live", "./", "own")+sourceObject("GitRepository", "own", "{url: https://git.example.org/mirrors/acme-fleet, ref: {branch: main}}")), "live/a.yaml", broken},
		"another repository of the owner":           {held + live(ks("live", "./", "own")+sourceObject("GitRepository", "own", "{url: https://example.com/acme/fleet-2, ref: {branch: main}}")), elsewhere, "-"},
		"a fork on this host":                       {held + live(ks("live", "./live", "own")+sourceObject("GitRepository", "own", "{url: https://example.com/other/fleet, ref: {branch: main}}")), elsewhere, "-"},
		"a source in no file":                       {held + live(ks("live", "./live", "hand")), "live/a.yaml", "weekend"},
		"it says so":                                {held + live(ks("live", "./live", "hand")), elsewhere, broken},
		"the root's own source in no file":          {strings.Replace(held, gitRepository("flux-system", "main"), "", 1) + live(ks("live", "./live", "flux-system")), "live/a.yaml", "-"},
		"a source of something else":                {held + live(ks("live", "./other", "hand")), elsewhere, "-"},
		"the root's release of such a source":       {held + live(object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: hand}}}}")) + "-- charts/web/Chart.yaml --\nname: web\n", "charts/web/Chart.yaml", "weekend"},
		"a release of a chart elsewhere":            {held + live(object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chart: {spec: {chart: ./none, sourceRef: {kind: GitRepository, name: hand}}}}")), elsewhere, "-"},
		"a base at a branch called by number":       {based("https://example.com/acme/fleet//live?ref=release-1.2"), elsewhere, broken},
		"a source that is called as the root's":     {held + live(strings.Replace(ks("live", "./live", "flux-system"), "namespace: flux-system", "namespace: web", 1)), elsewhere, broken},
		"an artifact in no file":                    {held + live(of(ks("live", "./live", "hand"), "OCIRepository")), "live/a.yaml", "weekend"},
		"an artifact of something else":             {held + live(of(ks("live", "./other", "hand"), "OCIRepository")), elsewhere, "-"},
		"an object of another namespace":            {strings.Replace(held, "spec: {path: ./apps", "spec: {postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}, path: ./apps", 1) + live(ks("live", "./live", "flux-system")) + "-- live/vars.yaml --\n" + strings.Replace(configMap, "name: cm", "name: vars, namespace: web", 1), "live/vars.yaml", "weekend"},
		"an object of another name":                 {strings.Replace(held, "spec: {path: ./apps", "spec: {postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}, path: ./apps", 1) + live(ks("live", "./live", "flux-system")) + "-- live/vars.yaml --\n" + strings.Replace(configMap, "name: cm", "name: others, namespace: web", 1), "live/vars.yaml", "-"},
		"a bucket":                                  {held + live(of(ks("live", "./live", "b"), "Bucket")+sourceObject("Bucket", "b", "{bucketName: b, endpoint: e}")), "live/a.yaml", "-"},
		"a chart's source in no file":               {held + live(ks("live", "./live", "flux-system")) + "-- live/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: hand}}}}") + "-- charts/web/Chart.yaml --\nname: web\n", "charts/web/Chart.yaml", "weekend"},
		"a source of a ResourceSet":                 {root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "hand") + sets, "live/set.yaml", "weekend"},
		"the root's own source, and a ResourceSet":  {strings.Replace(held, gitRepository("flux-system", "main"), "", 1) + sets, "live/set.yaml", "-"},
		"a Secret's file, of a source":              {root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "hand") + operatorOf("hand"), "live/s.yaml", broken},
		"a chart's source of a ResourceSet":         {held + sets + "-- apps/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chartRef: {kind: OCIRepository, name: chart}}"), "live/set.yaml", "weekend"},
		"a variable in sourceRef":                   {open(ks("live", "./live", "\"${X}\"")), "live/a.yaml", "weekend"},
		"a variable in a branch":                    {open(ks("live", "./live", "own") + gitRepository("own", "rw/${X}")), "live/a.yaml", "weekend"},
		"a variable in substituteFrom":              {variable("postBuild: {substituteFrom: [{kind: ConfigMap, name: \"${X}\"}]}"), elsewhere, broken},
		"a variable in decryption":                  {variable("decryption: {provider: sops, secretRef: {name: \"${X}\"}}"), elsewhere, broken},
		"a variable in dependsOn":                   {variable("dependsOn: [{name: \"${X}\"}]"), elsewhere, "-"},
		"a variable in valuesFrom":                  {release("{valuesFrom: [{kind: ConfigMap, name: \"${X}-values\"}]}"), elsewhere, broken},
		"a variable in a release's sourceRef":       {release("{chart: {spec: {chart: web, sourceRef: {kind: GitRepository, name: \"${X}\"}}}}"), elsewhere, broken},
		"a variable in chart":                       {release("{chart: {spec: {chart: \"charts/${X}\", sourceRef: {kind: GitRepository, name: flux-system}}}}"), elsewhere, broken},
		"a variable in valuesFiles":                 {release("{chart: {spec: {chart: charts/web, valuesFiles: [\"${X}.yaml\"], sourceRef: {kind: GitRepository, name: flux-system}}}}"), elsewhere, broken},
		"a variable in kubeConfig":                  {release("{kubeConfig: {secretRef: {name: \"${X}\"}}}"), elsewhere, broken},
		"a variable in what is live":                {freed(release("{valuesFrom: [{kind: ConfigMap, name: \"${X}-values\"}]}")), elsewhere, "-"},
		"a variable in the name of a patch":         {root + named, "apps/a.yaml", broken},
		"a base of this repository":                 {based("https://example.com/acme/fleet//live?ref=main"), elsewhere, broken},
		"the same, with a doubled slash":            {based("https://example.com//acme/fleet//live?ref=main"), elsewhere, broken},
		"the same, with another one":                {based("https://example.com/acme//fleet//live?ref=main"), elsewhere, broken},
		"the same, with three":                      {based("https://example.com///acme/fleet//live?ref=main"), elsewhere, broken},
		"a doubled slash in another one":            {based("https://example.com//acme/other//live?ref=main"), elsewhere, "-"},
		"a home directory":                          {based("ssh://git@example.com/~/acme/fleet//live"), elsewhere, broken},
		"the same, without a ref":                   {based("git@example.com:acme/fleet.git//live"), elsewhere, broken},
		"a base where nobody knows the URL":         {strings.Replace(based("https://github.com/acme/fleet//live?ref=main"), gitRepository("flux-system", "main"), "", 1), elsewhere, broken},
		"a file of this repository":                 {based("https://example.com/acme/fleet/raw/main/live/a.yaml"), elsewhere, broken},
		"a base of another repository":              {based("https://example.com/acme/fleet-2//live?ref=main"), elsewhere, "-"},
		"a base at what may be a branch":            {based("https://example.com/acme/fleet//live?ref=v1.2.0"), elsewhere, broken},
		"a base at a commit":                        {based("https://example.com/acme/fleet//live?ref=0123456789abcdef0123456789abcdef01234567"), elsewhere, "-"},
		"a base of what is live":                    {freed(based("https://example.com/acme/fleet//live?ref=main")), elsewhere, broken},
		"a base of what is live, of who knows what": {freed(based("https://example.com/api/v4/projects/7/repository/files/live%2Fa.yaml/raw")), elsewhere, "-"},
		"a Terraform":                               {terraform("./tf"), "tf/main.tf", "weekend"},
		"a module of a Terraform":                   {terraform("./tf"), "modules/m/main.tf", "weekend"},
		"what is beside it":                         {terraform("./tf"), "modules/n/main.tf", "weekend"},
		"a Terraform of everything":                 {terraform("\"\""), "modules/n/main.tf", "weekend"},
		"an ImageUpdateAutomation":                  {held + "-- apps/i.yaml --\n" + object("image.toolkit.fluxcd.io/v1", "ImageUpdateAutomation", "i", "{update: {path: ./live}, sourceRef: {kind: GitRepository, name: flux-system}}"), "live/a.yaml", "-"},
		"names by configurations":                   {configured("nameReference: [{kind: OCIRepository, fieldSpecs: [{path: spec/chartRef/name, kind: HelmRelease}]}]\n"), elsewhere, "-"},
		"more by configurations":                    {configured("namePrefix: [{path: spec/chartRef/name, kind: HelmRelease}]\n"), elsewhere, broken},
		"patchesStrategicMerge of v1beta2":          {legacy("patchesStrategicMerge: [{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: held, namespace: flux-system}, spec: {path: ./apps}}]"), "apps/a.yaml", "weekend"},
		"patchesJson6902 of v1beta2":                {legacy("patchesJson6902: [{target: {kind: Kustomization, name: held}, patch: [{op: replace, path: /spec/path, value: ./apps}]}]"), "apps/a.yaml", "weekend"},
		"labels of generatorOptions":                {selected("generatorOptions: {labels: {in: prod}}\nconfigMapGenerator: [{name: vars, namespace: flux-system, literals: [X=y]}]\n"), "clusters/prod/p.yaml", "weekend"},
		"labels of a generator's options":           {selected("configMapGenerator: [{name: vars, namespace: flux-system, literals: [X=y], options: {labels: {in: prod}}}]\n"), "clusters/prod/p.yaml", "weekend"},
		"other labels of generatorOptions":          {selected("generatorOptions: {labels: {in: test}}\nconfigMapGenerator: [{name: vars, namespace: flux-system, literals: [X=y]}]\n"), "clusters/prod/p.yaml", "-"},
		"a link above a chart":                      {chart + "-- charts/.sourceignore --\n-> ../x\n-- x --\n*\n", "x", broken},
		"a link above no chart":                     {chart + "-- docs/.sourceignore --\n-> ../x\n-- x --\n*\n", "x", "-"},
		"a chart's template of CronJobs":            {chart + live(ks("live", "./live", "flux-system")) + "-- live/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{targetNamespace: web, chart: {spec: {chart: ./charts/api, sourceRef: {kind: GitRepository, name: flux-system}}}}") + "-- charts/api/Chart.yaml --\nname: api\n-- charts/api/templates/job.yaml --\nkind: CronJob\n{{- if .Values.x }}\nx: y\n{{- end }}\n", "charts/api/templates/job.yaml", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := silent(t, c.tree, c.file); got != c.want {
				t.Errorf("%s: %s, want %s", c.file, got, c.want)
			}
		})
	}
}

// TestEnds: what is windowed where the graph ends is held as far as it is defined here, or an error of check.
func TestEnds(t *testing.T) {
	root := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") + "-- apps/a.yaml --\n" + configMap
	held := root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system")
	of := func(kind, spec string) string {
		return root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", kind, "own") + "-- clusters/prod/own.yaml --\n" + sourceObject(kind, "own", spec)
	}
	list := func(field string) string {
		return held + "-- apps/kustomization.yaml --\nresources: [a.yaml]\n" + field + "\n"
	}
	for name, c := range map[string]struct{ tree, file, want string }{
		"another repository":      {of("GitRepository", "{url: https://example.com/acme/other}"), "clusters/prod/own.yaml", "weekend"},
		"an OCIRepository":        {of("OCIRepository", "{url: oci://example.com/apps}"), "clusters/prod/held.yaml", "weekend"},
		"a Bucket":                {of("Bucket", "{bucketName: b, endpoint: e}"), "clusters/prod/own.yaml", "weekend"},
		"a HelmRepository":        {held + "-- apps/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chart: {spec: {chart: x, sourceRef: {kind: HelmRepository, name: own}}}}") + "-- clusters/prod/own.yaml --\n" + sourceObject("HelmRepository", "own", "{url: https://example.com}"), "clusters/prod/own.yaml", "weekend"},
		"a remote base":           {list("components: [\"https://example.com/acme/fleet//c\"]"), "README.md", "error"},
		"a ResourceSet":           {root + "-- clusters/prod/set.yaml --\n" + object("fluxcd.controlplane.io/v1", "ResourceSet", "set", "{resources: []}"), "README.md", "error"},
		"a plugin":                {list("generators: [p.yaml]") + "-- apps/p.yaml --\napiVersion: example.com/v1\nkind: X\nmetadata: {name: x}\n", "apps/p.yaml", "weekend"},
		"helm":                    {list("helmCharts: [{name: c, valuesFile: v.yaml}]") + "-- apps/v.yaml --\na: b\n-- apps/charts/c/Chart.yaml --\nname: c\n", "apps/charts/c/Chart.yaml", "weekend"},
		"a value that is nowhere": {root + "-- clusters/prod/held.yaml --\n" + heldKs("\"./${X}\"", "GitRepository", "flux-system"), "README.md", "error"},
	} {
		if got := silent(t, c.tree, c.file); got != c.want {
			t.Errorf("%s: %s: %s, want %s", name, c.file, got, c.want)
		}
	}
}

// TestUntold: what nothing says the source of is an error, until the file says what it needs. Without windowed branches what is live stays so.
func TestUntold(t *testing.T) {
	tree := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") + heldKs("./apps", "GitRepository", "flux-system") +
		"-- apps/a.yaml --\n" + configMap + "-- live/a.yaml --\n" + configMap
	part, whole := tree+"-- clusters/prod/live.yaml --\n"+ks("live", "./live", "hand"), tree+"-- clusters/prod/live.yaml --\n"+ks("live", "./", "hand")
	says := func(release string) string {
		return strings.Replace(sourcesFile, "  entrypoints:\n", "  entrypoints:\n    - {where: flux-system/live, release: "+release+"}\n", 1)
	}
	plain := strings.Replace(sourcesFile, "branches:\n  - {name: rw/a, from: main, window: night}\n", "", 1)
	for name, c := range map[string]struct{ policy, tree, file, want string }{
		"it may follow a windowed branch":      {sourcesFile, part, "live/a.yaml", "weekend"},
		"there is no windowed branch":          {plain, part, "live/a.yaml", "-"},
		"it may lead to what is windowed":      {plain, whole, "README.md", "error"},
		"the same, of what defines it":         {plain, whole, "clusters/prod/live.yaml", "weekend"},
		"it is said to be live":                {says("live"), part, "live/a.yaml", "-"},
		"it is said to be live, all of it":     {says("live"), whole, "live/a.yaml", "-"},
		"it is said to be windowed":            {says("weekend"), part, "live/a.yaml", "weekend"},
		"it is said to be windowed, all of it": {says("weekend"), whole, "live/a.yaml", "error"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := silentBy(t, c.policy, c.tree, c.file); got != c.want {
				t.Errorf("%s: %s, want %s", c.file, got, c.want)
			}
		})
	}
}

// TestLiveCluster: what is not known of a cluster without windows is an error, and held by none of another cluster.
func TestLiveCluster(t *testing.T) {
	policy := strings.Replace(sourcesFile, "where: flux-system/held", "cluster: prod, where: flux-system/held", 1) + "  - {name: staging, path: clusters/staging, branch: main}\n"
	tree := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + heldKs("./apps", "GitRepository", "flux-system") + ks("rw", "./rw", "rw") + gitRepository("rw", "rw/a") +
		"-- apps/a.yaml --\n" + configMap + "-- rw/a.yaml --\n" + configMap +
		"-- clusters/staging/a.yaml --\n" + gitRepository("flux-system", "main") + ks("live", "./live", "hand") + "-- live/a.yaml --\n" + configMap
	for file, want := range map[string]string{"live/a.yaml": "error", "clusters/staging/a.yaml": "error", "apps/a.yaml": "weekend"} {
		if got := silentBy(t, policy, tree, file); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

// TestHiddenCluster: of a cluster in a hidden directory that the file names it counts what points Flux at it.
func TestHiddenCluster(t *testing.T) {
	policy := strings.Replace(sourcesFile, "path: clusters/prod", "path: .clusters/prod", 1)
	own := strings.Replace(ks("flux-system", "./.clusters/prod", "flux-system"), "spec: {", `spec: {patches: [{target: {name: held}, patch: '[{"op": "replace", "path": "/spec/path", "value": "./apps"}]'}], `, 1)
	tree := "-- .flux/gotk-sync.yaml --\n" + gitRepository("flux-system", "main") + own +
		"-- .clusters/prod/held.yaml --\n" + heldKs("./none", "GitRepository", "flux-system") + "-- apps/a.yaml --\n" + configMap
	if got := silentBy(t, policy, tree, "apps/a.yaml"); got != "weekend" {
		t.Error(got)
	}
}

// TestUnknownClusters: what points Flux at this repository from a place that nothing is looked for in is an error of check.
func TestUnknownClusters(t *testing.T) {
	policy, _, _ := strings.Cut(sourcesFile, "clusters:")
	cluster := func(dir, url string) string {
		return "-- " + dir + "/flux-system/gotk-sync.yaml --\n" + strings.Replace(gitRepository("flux-system", "main"), "https://example.com/acme/fleet", url, 1) + ks("flux-system", "./"+dir, "flux-system")
	}
	const url = "https://example.com/acme/fleet"
	visible := cluster("clusters/prod", url) + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system") + "-- apps/a.yaml --\n" + configMap
	for name, c := range map[string]struct{ tree, want string }{
		"a hidden one of a mirror":    {visible + cluster(".clusters/test", "https://git.example.org/mirrors/acme-fleet"), "error"},
		"a hidden one of other names": {visible + strings.NewReplacer("gotk-sync", "sync", "flux-system", "fleet").Replace(cluster(".clusters/test", url)), "error"},
		"a hidden one of nobody's":    {visible + strings.NewReplacer("gotk-sync", "sync", "flux-system", "fleet").Replace(cluster(".clusters/test", "https://example.com/acme/other")), "-"},
		"a hidden tenant":             {visible + "-- .old/ks.yaml --\n" + ks("old", "./apps", "flux-system"), "-"},
		"a hidden one":                {visible + cluster(".clusters/test", url), "error"},
		"one of another repository":   {visible + cluster(".clusters/test", "https://example.com/acme/other"), "-"},
		"an example of what is there": {visible + strings.Replace(cluster(".clusters/test", url), "./.clusters/test", "./none", 1), "-"},
		"none":                        {visible, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := silentBy(t, policy, c.tree, "README.md"); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestNowhere: what has a source that stands in no file reads this repository where its path does, and is another one's where that is not here either.
func TestNowhere(t *testing.T) {
	p := parse(t, sourcesFile)
	for dir, want := range map[string]bool{"./apps": true, "./deploy": false} {
		tree := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") + ks("team", dir, "team") + "-- apps/a.yaml --\n" + configMap
		reads := false
		for _, e := range New(p, clusters(t, p, tree)).Entries() {
			reads = reads || e.Kustomization != nil && e.Kustomization.Name == "team"
		}
		if reads != want {
			t.Errorf("%s: it reads this repository: %t", dir, reads)
		}
	}
}
