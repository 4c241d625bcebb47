package reach

import (
	"strings"
	"testing"
)

// TestFilled: what fills the variables of something that a windowed entry point is made of waits with it, however many objects stand in between, or is
// an error of check.
func TestFilled(t *testing.T) {
	const broken = "error" // of check, instead of a window
	root := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system")
	postBuild := func(text, spec string) string {
		return strings.Replace(text, "spec: {", "spec: {postBuild: {"+spec+"}, ", 1)
	}
	between := func(vars, spec, value string) string { // a ConfigMap that stands between variables and what is windowed
		cm := strings.Replace(configMap, "name: cm", "name: vals, namespace: flux-system", 1)
		return root + "-- clusters/prod/vars.yaml --\n" + ks("vars", "./vars", "flux-system") + "-- vars/a.yaml --\n" + vars +
			"-- clusters/prod/infra.yaml --\n" + postBuild(ks("infra", "./infra", "flux-system"), spec) + "-- infra/vals.yaml --\n" + cm + value
	}
	secretVars := strings.Replace(secret("variables"), "password", "X", 1)
	longVars := strings.Replace(configMap, "name: cm", "name: variables, namespace: flux-system", 1) + "data: {X: \"" + strings.Repeat("y", 300) + "\"}\n"
	values := "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system") + "-- apps/r.yaml --\n" +
		object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chart: {spec: {chart: x, sourceRef: {kind: HelmRepository, name: x}}}, valuesFrom: [{kind: ConfigMap, name: vals}]}")
	variables := "-- clusters/prod/held.yaml --\n" + postBuild(heldKs("./apps", "GitRepository", "flux-system"), "substituteFrom: [{kind: ConfigMap, name: vals}]") + "-- apps/a.yaml --\n" + configMap
	const fromSecret, fromMap, uses = "substituteFrom: [{kind: Secret, name: variables}]", "substituteFrom: [{kind: ConfigMap, name: variables}]", "data: {host: \"app.${X}\"}\n"
	made := strings.Replace(between(secretVars, "substitute: {X: y}", ""), "-- infra/vals.yaml --", "-- infra/kustomization.yaml --\n"+
		"configMapGenerator: [{name: vals, namespace: flux-system, files: [v.yaml]}]\n-- infra/v.yaml --\nhost: ${X}\n-- infra/x.md --", 1)
	patched := func(spec, patch string) string { // what is windowed, as a patch with a variable has it
		held := strings.Replace(heldKs("./none", "GitRepository", "flux-system"), "metadata: {", "metadata: {labels: {in: prod}, ", 1)
		return root + "-- clusters/prod/up.yaml --\n" + postBuild(ks("up", "./up", "flux-system"), spec) +
			"-- up/mid.yaml --\n" + strings.Replace(ks("mid", "./mid", "flux-system"), "spec: {", "spec: {patches: ["+patch+"], ", 1) +
			"-- mid/held.yaml --\n" + held + "-- apps/a.yaml --\n" + configMap
	}
	defaults := "-- clusters/prod/up.yaml --\n" + postBuild(ks("up", "./up", "flux-system"), "substituteFrom: [{kind: ConfigMap, name: vals}]") + "-- up/held.yaml --\n" +
		heldKs("\"./${DIR:=none}\"", "GitRepository", "flux-system") + "-- apps/a.yaml --\n" + configMap + "-- none/a.yaml --\n" + configMap
	lines := func(spec, lines string) string { // what is windowed, as variables have its lines
		return root + "-- clusters/prod/up.yaml --\n" + postBuild(ks("up", "./up", "flux-system"), spec) + "-- clusters/prod/live.yaml --\n" + ks("live", "./live", "flux-system") +
			"-- live/vals.yaml --\n" + strings.Replace(configMap, "name: cm", "name: vals, namespace: flux-system", 1) + "-- live/own.yaml --\n" + gitRepository("own", "main") +
			"-- comp/kustomization.yaml --\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [a.yaml]\n-- comp/a.yaml --\n" + strings.Replace(configMap, "name: cm", "name: more", 1) +
			"-- apps/a.yaml --\n" + configMap + "-- up/held.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: held, namespace: flux-system}\n" +
			strings.Replace(lines, "spec:\n", "spec:\n  path: ./apps\n  sourceRef: {kind: GitRepository, name: flux-system}\n", 1)
	}
	const operation, known, hidden = `patch: '[{"op": "replace", "path": "/spec/path", "value": "./apps"}]'}`, "substitute: {X: held, Y: apps, Z: prod}", "substituteFrom: [{kind: Secret, name: variables}]"
	release := func(spec string) string {
		return root + "-- clusters/prod/held.yaml --\n" + postBuild(heldKs("./apps", "GitRepository", "flux-system"), hidden) + "-- apps/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{"+spec+"}")
	}
	for name, c := range map[string]struct{ tree, file, want string }{
		"a patch":                            {patched(known, "{target: {name: held}, "+operation), "apps/a.yaml", "weekend"},
		"a variable in a patch's target":     {patched(known, "{target: {name: \"${X}\"}, "+operation), "apps/a.yaml", "weekend"},
		"a variable in a selector":           {patched(known, "{target: {labelSelector: \"in=${Z}\"}, "+operation), "apps/a.yaml", "weekend"},
		"a variable in a patch":              {patched(known, `{target: {name: held}, patch: '[{"op": "replace", "path": "/spec/path", "value": "./${Y}"}]'}`), "apps/a.yaml", "weekend"},
		"a variable in a patch's name":       {patched(known, `{patch: "kind: Kustomization\napiVersion: kustomize.toolkit.fluxcd.io/v1\nmetadata: {name: '${X}', namespace: flux-system}\nspec: {path: ./apps}"}`), "apps/a.yaml", "weekend"},
		"a hidden one in its target":         {patched(hidden, "{target: {name: \"${X}\"}, "+operation), "apps/a.yaml", broken},
		"a hidden one in its selector":       {patched(hidden, "{target: {labelSelector: \"in=${X}\"}, "+operation), "apps/a.yaml", broken},
		"a variable that is a section":       {lines("substitute: {X: \"{substituteFrom: [{kind: ConfigMap, name: vals}]}\"}", "spec:\n  postBuild: ${X}\n"), "live/vals.yaml", "weekend"},
		"one that is a list":                 {lines("substitute: {X: \"[{kind: ConfigMap, name: vals}]\"}", "spec:\n  postBuild: {substituteFrom: \"${X}\"}\n"), "live/vals.yaml", "weekend"},
		"one that is an entry of a list":     {lines("substitute: {X: \"{kind: ConfigMap, name: vals}\"}", "spec:\n  postBuild: {substituteFrom: [\"${X}\"]}\n"), "live/vals.yaml", "weekend"},
		"one with a comment":                 {lines("substitute: {X: \"vals # x\"}", "spec:\n  postBuild: {substituteFrom: [{kind: ConfigMap, name: \"${X}\"}]}\n"), "live/vals.yaml", "weekend"},
		"one in quotes":                      {lines("substitute: {X: \"'vals'\"}", "spec:\n  postBuild: {substituteFrom: [{kind: ConfigMap, name: \"${X}\"}]}\n"), "live/vals.yaml", "weekend"},
		"one that is a key":                  {lines("substitute: {X: postBuild}", "spec:\n  ${X}: {substituteFrom: [{kind: ConfigMap, name: vals}]}\n"), "live/vals.yaml", "weekend"},
		"one that is all of it":              {lines("substitute: {X: \"{path: ./apps, sourceRef: {kind: GitRepository, name: own}}\"}", "spec: ${X}\n"), "live/own.yaml", "weekend"},
		"one that is components":             {lines("substitute: {X: \"[../comp]\"}", "spec:\n  components: ${X}\n"), "comp/a.yaml", "weekend"},
		"a section that is hidden":           {lines(hidden, "spec:\n  postBuild: ${X}\n"), "live/vals.yaml", broken},
		"all of it, hidden":                  {lines(hidden, "spec: ${X}\n"), "live/vals.yaml", broken},
		"a key of annotations":               {lines(hidden, "spec:\n  interval: ${X}\n---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: Bucket\nmetadata: {name: x, annotations: {\"${X}\": x}}\n"), "live/vals.yaml", broken},
		"a key that is hidden":               {lines(hidden, "spec:\n  ${X}: {substituteFrom: [{kind: ConfigMap, name: vals}]}\n"), "live/vals.yaml", broken},
		"a key of substitute":                {lines(hidden, "spec:\n  postBuild: {substitute: {ref: \"${X}\", \"${X}\": x}}\n"), "live/vals.yaml", broken},
		"a value that is hidden":             {lines(hidden, "spec:\n  postBuild: {substitute: {ref: \"${X}\"}}\n"), "live/vals.yaml", "-"},
		"an entry of a list that is hidden":  {lines(hidden, "spec:\n  postBuild: {substituteFrom: [\"${X}\"]}\n"), "live/vals.yaml", broken},
		"metadata for all that is hidden":    {lines(hidden, "spec:\n  commonMetadata: ${X}\n"), "live/vals.yaml", broken},
		"a release's values that are hidden": {release("values: \"${X}\""), "README.md", broken},
		"a release's field that is hidden":   {release("\"${X}\": [{kind: ConfigMap, name: vals}]"), "README.md", broken},
		"a release's chart that is hidden":   {release("chart: \"${X}\""), "README.md", broken},
		"a release that is known":            {release("values: {a: \"${X}\"}"), "README.md", "-"},
		"where an artifact has it that is hidden": {root + "-- clusters/prod/up.yaml --\n" + postBuild(ks("up", "./up", "flux-system"), hidden) + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "ExternalArtifact", "made") + "-- apps/a.yaml --\n" + configMap + "-- up/ag.yaml --\n" +
			object("source.extensions.fluxcd.io/v1beta1", "ArtifactGenerator", "made", "{sources: [{alias: r, kind: GitRepository, name: flux-system}], artifacts: [{name: made, copy: [{from: \"@r/apps/**\", to: \"@artifact/apps/\"}, {from: \"@r/live/**\", to: \"@artifact/${X}/\"}]}]}"), "README.md", broken},
		"a text that is hidden":                 {lines(hidden, "spec:\n  interval: ${X}\n"), "live/vals.yaml", "-"},
		"data that is a variable":               {between("", "substitute: {X: \"{DIR: apps}\"}", "data: ${X}\n") + defaults, "apps/a.yaml", broken},
		"a key of data":                         {between("", "substitute: {X: DIR}", "data: {\"${X}\": apps}\n") + defaults, "apps/a.yaml", broken},
		"a key of data that is hidden":          {between(secretVars, fromSecret, "data: {DIR: apps, \"${X}\": none}\n") + defaults, "apps/a.yaml", broken},
		"another key of data":                   {between("", "substitute: {X: DIR}", "data: {A: \"${X}\"}\n") + defaults, "apps/a.yaml", "-"},
		"a kind":                                {strings.Replace(between("", "substitute: {X: ConfigMap}", ""), "kind: ConfigMap", "kind: ${X}", 1) + variables, "infra/vals.yaml", "weekend"},
		"a Secret's kind":                       {strings.Replace(between("", "substitute: {X: Secret}", ""), "kind: ConfigMap", "kind: ${X}", 1) + strings.Replace(values, "kind: ConfigMap, name: vals", "kind: Secret, name: vals", 1), "infra/vals.yaml", "weekend"},
		"an account's kind":                     {strings.Replace(between("", "substitute: {X: ServiceAccount}", ""), "kind: ConfigMap", "kind: ${X}", 1) + "-- clusters/prod/held.yaml --\n" + strings.Replace(heldKs("./apps", "GitRepository", "flux-system"), "spec: {", "spec: {serviceAccountName: vals, ", 1) + "-- apps/a.yaml --\n" + configMap, "infra/vals.yaml", "weekend"},
		"half of a kind":                        {strings.Replace(between("", "substitute: {X: Map}", ""), "kind: ConfigMap", "kind: Config${X}", 1) + variables, "infra/vals.yaml", "weekend"},
		"a variable of values":                  {between(secretVars, fromSecret, uses) + values, "vars/a.yaml", "weekend"},
		"a variable of values, in a definition": {between(secretVars, "substitute: {X: y}", uses) + values, "clusters/prod/infra.yaml", "weekend"},
		"what names a variable's object":        {between(secretVars, fromSecret, uses) + values, "clusters/prod/infra.yaml", "weekend"},
		"what names one in no file":             {between(secret("other"), fromSecret, uses) + variables, "clusters/prod/infra.yaml", "weekend"},
		"what fills no variable of values":      {between(secretVars, "substitute: {Y: y}", uses) + values, "clusters/prod/infra.yaml", "-"},
		"a variable of variables":               {between(secretVars, fromSecret, uses) + variables, "vars/a.yaml", "weekend"},
		"a long variable of variables":          {between(longVars, fromMap, uses) + variables, "vars/a.yaml", "weekend"},
		"a long variable of values":             {between(longVars, fromMap, uses) + values, "vars/a.yaml", "weekend"},
		"a variable of a variable":              {strings.Replace(between(secretVars, "substitute: {X: \"${X}\"}", uses), ks("flux-system", "./clusters/prod", "flux-system"), postBuild(ks("flux-system", "./clusters/prod", "flux-system"), fromSecret), 1) + values, "vars/a.yaml", "weekend"},
		"a variable of generated values":        {made + values, "clusters/prod/infra.yaml", "weekend"},
		"the same, from a Secret":               {strings.Replace(made, "substitute: {X: y}", fromSecret, 1) + values, "vars/a.yaml", "weekend"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := silent(t, c.tree, c.file); got != c.want {
				t.Errorf("%s: %s, want %s", c.file, got, c.want)
			}
		})
	}
}
