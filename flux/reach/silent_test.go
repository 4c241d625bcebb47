package reach

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// TestNeverSilent: what the graph does not follow is held all the same, or an error of check.
func TestNeverSilent(t *testing.T) {
	const broken = "error" // of check, instead of a window
	root := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system")
	listed := "-- apps/kustomization.yaml --\nresources: [a.yaml]\n-- apps/a.yaml --\n" + configMap + "-- apps/b.yaml --\n" + configMap
	held := root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "own")
	own := func(spec string) string {
		return sourceObject("GitRepository", "own", "{"+fleet+", ref: {branch: main}"+spec+"}")
	}
	artifact := func(copies string) string {
		return root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "ExternalArtifact", "x") + object("source.extensions.fluxcd.io/v1beta1", "ArtifactGenerator", "g",
			"{sources: [{alias: repo, kind: GitRepository, name: flux-system}], artifacts: [{name: x, copy: ["+copies+"]}]}")
	}
	modules := func(text string) string {
		return held + own(", recurseSubmodules: true") + "-- apps/kustomization.yaml --\nresources: [../vendor/lib]\n-- .gitmodules --\n" + text
	}
	env := func(file, path string) string {
		vars := strings.Replace(ks("flux-system", "./clusters/prod", "flux-system"), "spec: {", "spec: {postBuild: {substituteFrom: [{kind: ConfigMap, name: v}]}, ", 1)
		return "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + vars + "-- clusters/prod/held.yaml --\n" +
			heldKs("\"./"+path+"\"", "GitRepository", "flux-system") + "-- apps/a.yaml --\n" + configMap + "-- none/a.yaml --\n" + configMap + "-- apps /s/a.yaml --\n" + configMap +
			"-- clusters/prod/v.env --\n" + file + "-- clusters/prod/kustomization.yaml --\nresources: [a.yaml, held.yaml]\n" +
			"generatorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator: [{name: v, namespace: flux-system, envs: [v.env]}]\n"
	}
	parted := func(separator string) string { // a patch of two parts
		return root + listed + "-- clusters/prod/held.yaml --\n" + heldKs("./none", "GitRepository", "flux-system") + "-- clusters/prod/kustomization.yaml --\nresources: [a.yaml, held.yaml]\npatches: [{path: p.yaml}]\n" +
			"-- clusters/prod/p.yaml --\n" + strings.TrimPrefix(ks("flux-system", "./clusters/prod", "flux-system"), "---\n") + separator + strings.TrimPrefix(heldKs("./apps", "GitRepository", "flux-system"), "---\n")
	}
	values := strings.Replace(configMap, "name: cm", "name: v, namespace: flux-system", 1) + "data: {X: none}\n"
	release := root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system") + "-- clusters/prod/live.yaml --\n" + ks("live", "./live", "flux-system") + "-- apps/r.yaml --\n" +
		object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chart: {spec: {chart: x, sourceRef: {kind: HelmRepository, name: x}}}, valuesFrom: [{kind: ConfigMap, name: v}]}")
	optional := func(file string) string {
		vars := strings.Replace(ks("flux-system", "./clusters/prod", "flux-system"), "spec: {", "spec: {postBuild: {substituteFrom: [{kind: ConfigMap, name: v, optional: true}]}, ", 1)
		return "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + vars + "-- clusters/prod/held.yaml --\n" + heldKs("\"./${X:=apps}\"", "GitRepository", "flux-system") +
			"-- apps/a.yaml --\n" + configMap + "-- none/a.yaml --\n" + configMap + "-- clusters/prod/in.yaml --\n" + file
	}
	utf16le := func(text string) string {
		out := "\xFF\xFE"
		for _, c := range text {
			out += string(c) + "\x00"
		}
		return out + "\n"
	}
	chartOf := func(repository string) string {
		return "-- apps/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: own}}}}") +
			"-- charts/web/Chart.yaml --\nname: web\ndependencies: [{name: lib, version: 1.0.0, repository: \"" + repository + "\"}]\n-- live/lib/Chart.yaml --\nname: lib\n"
	}
	remote := func(kind string) string {
		return held + own("") + "-- apps/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{kubeConfig: {"+kind+": {name: far}}}") +
			"-- clusters/prod/live.yaml --\n" + ks("live", "./live", "own") + "-- live/far.yaml --\n" + secret("far") + strings.Replace(secret("far"), "Secret", "ConfigMap", 1) +
			"-- live/near.yaml --\n" + secret("near")
	}
	for name, c := range map[string]struct{ tree, file, want string }{
		"spec.ignore":                   {held + own(", ignore: /apps/kustomization.yaml") + listed, "apps/b.yaml", "weekend"},
		"spec.ignore of something else": {held + own(", ignore: \"/*\\n!/apps\\n\"") + listed, "apps/b.yaml", "-"},
		"spec.ignore with a variable":   {held + own(", ignore: \"${X}\"") + listed, "apps/b.yaml", "weekend"},
		"a source that is read later":   {held + "-- clusters/prod/more.yaml --\n" + ks("more", "./more", "flux-system") + "-- more/own.yaml --\n" + own(", ignore: kustomization.yaml") + listed, "apps/b.yaml", "weekend"},
		".sourceignore":                 {held + own("") + listed + "-- .sourceignore --\nkustomization.yaml\n", "apps/b.yaml", "weekend"},
		".sourceignore, above":          {held + own("") + listed + "-- apps/.sourceignore --\n/kustomization.yaml\n", "apps/b.yaml", "weekend"},
		".sourceignore, beside":         {held + own("") + listed + "-- more/.sourceignore --\nkustomization.yaml\n", "apps/b.yaml", "-"},
		".sourceignore, a lot":          {held + own("") + listed + "-- .sourceignore --\n" + strings.Repeat("x\n", 1001), "apps/b.yaml", "weekend"},
		".sourceignore below":           {held + own("") + "-- apps/sub/kustomization.yaml --\nresources: [a.yaml]\n-- apps/sub/a.yaml --\n" + configMap + "-- apps/sub/b.yaml --\n" + configMap + "-- .sourceignore --\n/apps/*/kustomization.yaml\n", "apps/sub/b.yaml", "weekend"},
		"sparseCheckout":                {held + own(", sparseCheckout: [apps/b]") + listed, "apps/b.yaml", "weekend"},
		"components alone":              {root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps, components: [../lib]", "GitRepository", "own") + own(", sparseCheckout: [lib]") + "-- lib/kustomization.yaml --\n{apiVersion: kustomize.config.k8s.io/v1alpha1, kind: Component}\n", "README.md", broken},
		"sparseCheckout with all of it": {held + own(", sparseCheckout: [apps]") + listed, "apps/b.yaml", "-"},
		"what a source that includes leaves out": {held + own(", ignore: kustomization.yaml, include: [{repository: {name: flux-system}, fromPath: lib, toPath: apps}]") +
			strings.ReplaceAll(listed, "apps/", "lib/"), "lib/b.yaml", "weekend"},
		"what lies where a source includes": {held + own(", include: [{repository: {name: flux-system}, fromPath: lib, toPath: apps/lib}]") + "-- apps/.sourceignore --\nkustomization.yaml\n" +
			strings.ReplaceAll(listed, "apps/", "lib/"), "lib/b.yaml", "weekend"},
		"an included source leaves out": {held + own(", include: [{repository: {name: lib}, fromPath: lib, toPath: apps}]") +
			sourceObject("GitRepository", "lib", "{"+fleet+", ref: {branch: main}, ignore: kustomization.yaml}") + strings.ReplaceAll(listed, "apps/", "lib/"), "lib/b.yaml", "weekend"},
		"exclude":                        {artifact(`{from: "@repo/apps/**", to: "@artifact/apps/", exclude: [kustomization.yaml]}`) + listed, "apps/b.yaml", "weekend"},
		"a pattern":                      {artifact(`{from: "@repo/apps/*[ab].yaml", to: "@artifact/"}`) + listed, "apps/b.yaml", "weekend"},
		"a pattern with all of it":       {artifact(`{from: "@repo/apps/**", to: "@artifact/apps/"}`) + listed, "apps/b.yaml", "-"},
		"an escape in a pattern":         {artifact(`{from: "@repo/ap\\ps/*.yaml", to: "@artifact/"}`) + "-- apps/b.yaml --\n" + configMap, "apps/b.yaml", "weekend"},
		"a file onto a directory":        {artifact(`{from: "@repo/apps/**", to: "@artifact/apps/"}, {from: "@repo/more/b.yaml", to: "@artifact/apps"}`) + listed + "-- more/b.yaml --\n" + configMap, "more/b.yaml", "-"},
		"a file onto one without a list": {artifact(`{from: "@repo/apps/**", to: "@artifact/apps/"}, {from: "@repo/more/b.yaml", to: "@artifact/apps"}`) + "-- apps/a.yaml --\n" + configMap + "-- more/b.yaml --\n" + configMap, "more/b.yaml", "weekend"},
		"a list onto a directory":        {artifact(`{from: "@repo/apps/**", to: "@artifact/apps/"}, {from: "@repo/more/kustomization.yaml", to: "@artifact/apps"}`) + listed + "-- more/kustomization.yaml --\nresources: [b.yaml]\n", "apps/b.yaml", "weekend"},
		"what lies below an exclude":     {artifact(`{from: "@repo/apps/**", to: "@artifact/apps/"}, {from: "@repo/more/**", to: "@artifact/apps/", exclude: [a.yaml]}`) + listed + "-- more/a.yaml --\n" + configMap, "apps/a.yaml", broken},
		"what is merged":                 {artifact(`{from: "@repo/apps/**", to: "@artifact/apps/"}, {from: "@repo/more/a.yaml", to: "@artifact/apps/a.yaml", strategy: Merge}`) + listed + "-- more/a.yaml --\n" + configMap, "apps/a.yaml", broken},
		"what no copy makes":             {artifact(`{from: "@repo/apps/**", to: "@artifact/other/"}`) + listed, "apps/b.yaml", broken},
		"what another source may make": {strings.Replace(artifact(`{from: "@repo/apps/**", to: "@artifact/other/"}, {from: "@far/**", to: "@artifact/"}`), "sources: [", "sources: [{alias: far, kind: OCIRepository, name: far}, ", 1) +
			sourceObject("OCIRepository", "far", "{url: oci://example.com/far, ref: {tag: v1}}") + listed, "apps/b.yaml", "-"},
		"what is unpacked":                   {artifact(`{from: "@repo/apps/x.tgz", to: "@artifact/apps/", strategy: Extract}`) + "-- apps/x.tgz --\nx\n", "apps/x.tgz", broken},
		"what is left out by default":        {held + own("") + "-- apps/a.yaml --\n" + configMap + "-- apps/cloudbuild.yaml --\n" + configMap, "apps/cloudbuild.yaml", "-"},
		"the same, with any pattern":         {held + own(", ignore: \"*.md\"") + "-- apps/a.yaml --\n" + configMap + "-- apps/cloudbuild.yaml --\n" + configMap, "apps/cloudbuild.yaml", "weekend"},
		"a pattern in any directory":         {held + own("") + "-- apps/a.yaml --\n" + configMap + "-- apps/cloudbuild.yaml --\n" + configMap + "-- docs/.sourceignore --\n*.md\n", "apps/cloudbuild.yaml", "weekend"},
		"a link that may have one":           {held + own("") + "-- apps/a.yaml --\n" + configMap + "-- apps/cloudbuild.yaml --\n" + configMap + "-- docs/.sourceignore --\n-> x\n", "apps/cloudbuild.yaml", "weekend"},
		"what takes it in":                   {held + own("") + "-- apps/a.yaml --\n" + configMap + "-- apps/cloudbuild.yaml --\n" + configMap + "-- docs/.sourceignore --\n*.md\n", "docs/.sourceignore", "weekend"},
		"a comment that is none":             {held + own("") + "-- apps/a.yaml --\n" + configMap + "-- apps/cloudbuild.yaml --\n" + configMap + "-- docs/.sourceignore --\n # x\n", "apps/cloudbuild.yaml", "weekend"},
		"what a list leaves out":             {held + own("") + listed + "-- apps/cloudbuild.yaml --\n" + configMap + "-- docs/.sourceignore --\n*.md\n", "docs/.sourceignore", "-"},
		"what is not checked out":            {held + own(", sparseCheckout: [apps]") + "-- apps/a.yaml --\n" + configMap + "-- apps/cloudbuild.yaml --\n" + configMap + "-- docs/.sourceignore --\n*.md\n", "docs/.sourceignore", "-"},
		"what takes nothing in":              {held + own("") + "-- apps/a.yaml --\n" + configMap + "-- docs/.sourceignore --\n*.md\n", "docs/.sourceignore", "-"},
		"a root's pattern that is not there": {strings.Replace(held, "main\"}}", "main\"}, sparseCheckout: [clusters, apps]}", 1) + own("") + "-- apps/a.yaml --\n" + configMap + "-- clusters/prod/cloudbuild.yaml --\n" + configMap + "-- docs/.sourceignore --\n*.md\n", "live/a.yaml", "-"},
		"a pattern that is not there":        {held + own(", sparseCheckout: [apps]") + "-- apps/a.yaml --\n" + configMap + "-- apps/cloudbuild.yaml --\n" + configMap + "-- docs/.sourceignore --\n*.md\n", "apps/cloudbuild.yaml", "-"},
		"a directory like another URL":       {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"x://bar\"]\n-- apps/x:/bar/kustomization.yaml --\nresources: [a.yaml]\n-- apps/x:/bar/a.yaml --\n" + configMap, "apps/x:/bar/a.yaml", "weekend"},
		"a directory out of a URL":           {held + own("") + "-- apps/kustomization.yaml --\nresources: [github.com/foo/x/../../../lib]\n-- apps/lib/kustomization.yaml --\nresources: [a.yaml]\n-- apps/lib/a.yaml --\n" + configMap, "apps/lib/a.yaml", "weekend"},
		"a file without a pattern":           {held + own("") + "-- apps/a.yaml --\n" + configMap + "-- apps/cloudbuild.yaml --\n" + configMap + "-- docs/.sourceignore --\n# none\n", "apps/cloudbuild.yaml", "-"},
		"a chart's, with any pattern":        {held + own(", ignore: \"*.md\"") + chartOf("file://../../live/lib") + "-- charts/web/files/cloudbuild.yaml --\na: b\n", "charts/web/files/cloudbuild.yaml", "weekend"},
		"a directory like a URL":             {held + own("") + "-- apps/kustomization.yaml --\nresources: [redis@7/]\n-- apps/redis@7/kustomization.yaml --\nresources: [a.yaml]\n-- apps/redis@7/a.yaml --\n" + configMap, "apps/redis@7/a.yaml", "weekend"},
		"a component like a URL":             {held + own("") + "-- apps/kustomization.yaml --\ncomponents: [\"git:one\"]\n-- apps/git:one/kustomization.yaml --\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [a.yaml]\n-- apps/git:one/a.yaml --\n" + configMap, "apps/git:one/a.yaml", "weekend"},
		"a plugin of an empty group":         {held + own("") + "-- apps/kustomization.yaml --\nresources: [https://github.com/other/thing]\ngenerators: [g.yaml]\n-- apps/g.yaml --\napiVersion: /builtin\nkind: ConfigMapGenerator\nmetadata: {name: g}\nfiles: [../live/a.txt]\n-- live/a.txt --\nx\n", "live/a.txt", "weekend"},
		"lines that Unicode ends":            {held + own("") + "-- apps/kustomization.yaml --\nresources: [https://github.com/other/thing]\ngenerators: [\"apiVersion: builtin\\u2028kind: ConfigMapGenerator\\u0085metadata:\\u0085  name: g\\u0085files:\\u0085- ../live/a.txt\"]\n-- live/a.txt --\nx\n", "live/a.txt", "weekend"},
		"a file of a value":                  {held + own("") + "-- apps/kustomization.yaml --\nresources: [https://github.com/other/thing]\ntransformers: [t.yaml]\n-- apps/t.yaml --\napiVersion: builtin\nkind: ValueAddTransformer\nmetadata: {name: t}\nvalue: x\ntargetFilePath: ../live/a.yaml\n-- live/a.yaml --\n[]\n", "live/a.yaml", "weekend"},
		"an encrypted patch": {held + own("") + listed + "-- clusters/prod/kustomization.yaml --\nresources: [a.yaml, held.yaml]\npatches: [{path: p.yaml}]\n-- clusters/prod/p.yaml --\n" +
			strings.TrimPrefix(sourceObject("GitRepository", "own", "{ref: {branch: \"ENC[AES256_GCM,data:x,type:str]\"}}"), "---\n") + "sops: {mac: x}\n", "live/a.yaml", broken},
		"a name that Flux leaves out":      {held + own(", ignore: \"!.sops.yaml\"") + "-- apps/.sops.yaml --\n" + configMap, "apps/.sops.yaml", "weekend"},
		"the same, of a live one":          {held + own(", ignore: \"!.sops.yaml\"") + "-- clusters/prod/live.yaml --\n" + ks("live", "./live", "own") + "-- live/.sops.yaml --\n" + configMap, "live/.sops.yaml", "weekend"},
		"the same, left out":               {held + own("") + "-- apps/.sops.yaml --\n" + configMap + "-- apps/a.yaml --\n" + configMap, "apps/.sops.yaml", "-"},
		"a directory that Flux leaves out": {held + own("") + "-- apps/.github/a.yaml --\n" + configMap + "-- .sourceignore --\n!.github/\n", "apps/.github/a.yaml", "weekend"},
		"a file of that, in a list":        {held + own("") + "-- apps/kustomization.yaml --\nresources: [.github/a.yaml]\n-- apps/.github/a.yaml --\n" + configMap + "-- .sourceignore --\n!.github/\n", "apps/.github/a.yaml", "weekend"},
		"the root's list":                  {strings.Replace(held, "main\"}}", "main\"}, ignore: /clusters/prod/kustomization.yaml}", 1) + own("") + "-- clusters/prod/kustomization.yaml --\nresources: [a.yaml]\n", "clusters/prod/held.yaml", "weekend"},
		"the root's list, of a source alone": {strings.Replace(strings.Replace(held, "main\"}}", "main\"}, sparseCheckout: [clusters/prod/h]}", 1), ks("flux-system", "./clusters/prod", "flux-system"), "", 1) + own("") +
			"-- clusters/prod/kustomization.yaml --\nresources: [a.yaml]\n", "clusters/prod/held.yaml", "weekend"},
		"a submodule in quotes":              {modules("[submodule \"lib\"]\n\tpath = \"vendor/lib\" # lib\n\turl = x\n"), "vendor/lib", "weekend"},
		"a submodule and a comment":          {modules("[submodule \"lib\"]\n\tpath = vendor/lib ; lib\n\turl = x\n"), "vendor/lib", "weekend"},
		"a submodule in one line":            {modules("[submodule \"lib\"] path = vendor/lib\n"), "vendor/lib", broken},
		"a submodule in parts":               {modules("[submodule \"lib\"]\n\tpath = vend\"or/l\"ib\n"), "vendor/lib", "weekend"},
		"a release's kubeConfig":             {remote("secretRef"), "live/far.yaml", "weekend"},
		"a kubeConfig of a ConfigMap":        {remote("configMapRef"), "live/far.yaml", "weekend"},
		"beside a kubeConfig":                {remote("secretRef"), "live/near.yaml", "-"},
		"a generator's field in capitals":    {held + own("") + "-- apps/kustomization.yaml --\nresources: [https://github.com/other/thing]\ngenerators: [g.yaml]\n-- apps/g.yaml --\napiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: g}\nFILES: [../live/a.txt]\n-- live/a.txt --\nx\n", "live/a.txt", "weekend"},
		"a transformer's field in capitals":  {held + own("") + "-- apps/kustomization.yaml --\nresources: [https://github.com/other/thing]\ntransformers: [t.yaml]\n-- apps/t.yaml --\napiVersion: builtin\nkind: PatchStrategicMergeTransformer\nmetadata: {name: t}\nPATHS: [../live/a.yaml]\n-- live/a.yaml --\n" + configMap, "live/a.yaml", "weekend"},
		"a name with braces":                 {held + own("") + "-- apps/kustomization.yaml --\nresources: [https://github.com/other/thing]\npatchesStrategicMerge: [\"p{1}.yaml\"]\n-- apps/p{1}.yaml --\n" + configMap, "apps/p{1}.yaml", "weekend"},
		"lines that carriage returns end":    {held + own("") + "-- apps/kustomization.yaml --\nresources: [https://github.com/other/thing]\ngenerators: [\"apiVersion: builtin\\rkind: ConfigMapGenerator\\rmetadata:\\r  name: g\\rfiles:\\r- ../live/a.txt\"]\n-- live/a.txt --\nx\n", "live/a.txt", "weekend"},
		"a generator in any file":            {held + own("") + "-- apps/kustomization.yaml --\nresources: [https://example.com/x/y]\ngenerators: [gen.conf]\n-- apps/gen.conf --\napiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: g}\nfiles: [../files/data.txt]\n-- files/data.txt --\nx\n", "files/data.txt", "weekend"},
		"a link to a .sourceignore":          {held + own("") + listed + "-- apps/.sourceignore --\n-> ../x\n-- x --\nkustomization.yaml\n", "x", broken},
		"such a link itself":                 {held + own("") + listed + "-- apps/.sourceignore --\n-> ../x\n", "apps/.sourceignore", "weekend"},
		"what is beside such a link":         {held + own("") + listed + "-- .sourceignore --\n-> x\n", "apps/b.yaml", "weekend"},
		"such a link elsewhere":              {held + own("") + listed + "-- docs/.sourceignore --\n-> ../x\n", "docs/.sourceignore", "-"},
		"such a link, below":                 {held + own("") + "-- apps/kustomization.yaml --\nresources: [sub/a.yaml]\n-- apps/sub/a.yaml --\n" + configMap + "-- apps/sub/.sourceignore --\n-> ../x\n", "apps/x", broken},
		"an env file with a byte order mark": {env("\uFEFFX=apps\n", "${X:=none}"), "apps/a.yaml", "weekend"},
		"the same, as what leads to it":      {env("\uFEFFX=apps\n", "${X:=none}"), "clusters/prod/v.env", "weekend"},
		"quotes in an env file":              {env("X=\"apps\"\n", "${X}"), "apps/a.yaml", broken},
		"a blank in an env file":             {env("X=apps \n", "${X}/s"), "apps /s/a.yaml", "weekend"},
		"an env file without a value":        {env("X\n", "${X=apps}"), "apps/a.yaml", "weekend"},
		"a definition in UTF-16":             {root + listed + "-- clusters/prod/held.yaml --\n" + utf16le(heldKs("./apps", "GitRepository", "flux-system")), "live/a.yaml", broken},
		"a comment behind ---":               {root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system") + "---#: x\n" + configMap + listed, "apps/a.yaml", "weekend"},
		"the same, of what is live":          {held + own("") + listed + "-- live/a.yaml --\n" + configMap + "---# next\n" + configMap, "live/a.yaml", "-"},
		"the same, in a patch":               {parted("---#: x\n"), "apps/a.yaml", "weekend"},
		"a blank of Unicode behind ---":      {parted("--- \u00A0# x\n"), "apps/a.yaml", "weekend"},
		"a text behind ---":                  {held + own("") + listed + "-- clusters/prod/more.yaml --\n" + configMap + "---x\n" + configMap, "live/a.yaml", broken},
		"a text behind --- in a patch":       {parted("---x\n"), "live/a.yaml", broken},
		"a byte order mark behind ---":       {root + "-- clusters/prod/held.yaml --\n" + configMap + "---\n\uFEFF" + strings.TrimPrefix(heldKs("./apps", "GitRepository", "flux-system"), "---\n") + listed, "apps/a.yaml", "weekend"},
		"what stands behind ...":             {optional(configMap + "...\n" + values), "apps/a.yaml", broken},
		"what stands behind ---":             {optional(configMap + "---\n" + values), "apps/a.yaml", "-"},
		"a value that is no text":            {strings.Replace(env("x\n", "${X}"), "envs: [v.env]", "files: [X=v.env]", 1) + "-- clusters/prod/v.env --\nheld/.\xFF/..\n", "live/a.yaml", broken},
		"values behind a blank of Unicode":   {release + "-- live/v.yaml --\n" + configMap + "--- \u00A0# x\n" + values, "live/v.yaml", "weekend"},
		"a dependency of somebody":           {held + own("") + chartOf("file://u@../../live/lib"), "live/lib/Chart.yaml", "weekend"},
		"a dependency of nobody":             {held + own("") + chartOf("file://@../../live/lib"), "live/lib/Chart.yaml", "weekend"},
		"a dependency beside it":             {held + own("") + chartOf("file://../../live/lib"), "live/lib/Chart.yaml", "weekend"},
		"a URL behind a proxy":               {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://ghproxy.example.com/https://example.com/acme/fleet/raw/main/live/a.yaml\"]\n", "live/a.yaml", broken},
		"a URL behind a proxy, escaped":      {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://ghproxy.example.com/https%3A//example.com/acme/fleet/raw/main/live/a.yaml\"]\n", "live/a.yaml", broken},
		"a URL in a query":                   {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://proxy.example.com/get?url=https://example.com/acme/fleet/raw/main/live/a.yaml\"]\n", "live/a.yaml", broken},
		"a name in a query":                  {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://proxy.example.com/get?repo=acme/fleet&file=live/a.yaml\"]\n", "live/a.yaml", broken},
		"a URL and one in its query":         {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://example.com/acme/fleet//live?ref=main&x=https://x.org/y\"]\n", "live/a.yaml", broken},
		"a URL without a scheme in a query":  {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://proxy.example.com/get?url=example.com/acme/fleet/raw/main/live/a.yaml\"]\n", "live/a.yaml", broken},
		"owner and name in a query":          {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://proxy.example.com/get?owner=acme&repo=fleet&file=live/a.yaml\"]\n", "live/a.yaml", broken},
		"a name with .git in a query":        {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://proxy.example.com/get?repo=acme/fleet.git&file=live/a.yaml\"]\n", "live/a.yaml", broken},
		"a name alone in a query":            {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://proxy.example.com/get?file=live/a.yaml&repo=fleet.git\"]\n", "live/a.yaml", broken},
		"a name as ssh has it in a query":    {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://proxy.example.com/get?url=git@example.com:acme/fleet&file=a\"]\n", "live/a.yaml", broken},
		"a semicolon in a query":             {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://proxy.example.com/get?repo=acme/fleet;file=a\"]\n", "live/a.yaml", broken},
		"a query that is escaped twice":      {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://proxy.example.com/get?url=https%253A%252F%252Fexample.com%252Facme%252Ffleet%252Fraw\"]\n", "live/a.yaml", broken},
		"a file with a ref":                  {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://example.com/acme/fleet/raw/main/live/a.yaml?ref=refs/tags/v1\"]\n", "live/a.yaml", broken},
		"a file with a commit as ref":        {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://example.com/acme/fleet/raw/main/live/a.yaml?ref=0123456789abcdef0123456789abcdef01234567\"]\n", "live/a.yaml", broken},
		"a ref that is called like it":       {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://other.example.com/a/b//live?ref=fleet\"]\n", "live/a.yaml", "-"},
		"a ref in capital letters":           {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://example.com/acme/fleet.git//live?REF=0123456789abcdef0123456789abcdef01234567\"]\n", "live/a.yaml", broken},
		"a query that is none":               {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://example.com/acme/fleet.git//live?ref=0123456789abcdef0123456789abcdef01234567&timeout=%zz\"]\n", "live/a.yaml", broken},
		"a query with a semicolon":           {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://example.com/acme/fleet.git//live?ref=0123456789abcdef0123456789abcdef01234567&a;b\"]\n", "live/a.yaml", broken},
		"a file of JSON with a ref":          {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://example.com/acme/fleet/raw/main/live/a.json?ref=0123456789abcdef0123456789abcdef01234567\"]\n", "live/a.yaml", broken},
		"a file behind a slash":              {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://example.com/acme/fleet/raw/main/live/a.yaml/?ref=0123456789abcdef0123456789abcdef01234567\"]\n", "live/a.yaml", broken},
		"a query that is a name":             {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://proxy.example.com/get?acme/fleet\"]\n", "live/a.yaml", broken},
		"a query of a version":               {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://proxy.example.com/get?version=acme/fleet\"]\n", "live/a.yaml", broken},
		"a query with blanks":                {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://proxy.example.com/get?r=acme%20fleet\"]\n", "live/a.yaml", broken},
		"a word of a query":                  {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://install.example.com/agent.yaml?env=fleet\"]\n", "live/a.yaml", "-"},
		"a file name in a query":             {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://bucket.example.com/x.yaml?response-content-disposition=attachment%3Bfilename%3Dfleet\"]\n", "live/a.yaml", "-"},
		"another repository and a word":      {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://github.com/o/r//base?ref=v1&sub=fleet\"]\n", "live/a.yaml", "-"},
		"a file at a commit, and a ref":      {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://example.com/acme/fleet/raw/0123456789abcdef0123456789abcdef01234567/x.yaml?ref=0123456789abcdef0123456789abcdef01234567\"]\n", "live/a.yaml", "-"},
		"a repository at a commit":           {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://example.com/acme/fleet.git//live?ref=0123456789abcdef0123456789abcdef01234567\"]\n", "live/a.yaml", "-"},
		"URLs without end":                   {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://x.example.com/?" + strings.Repeat("://a", 20_000) + "\"]\n", "live/a.yaml", broken},
		"another name in a query":            {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://proxy.example.com/get?repo=acme/fleet-2&file=live/a.yaml\"]\n", "live/a.yaml", "-"},
		"a commit that a path leaves":        {held + own("") + "-- apps/kustomization.yaml --\nresources: [\"https://example.com/acme/fleet/raw/0123456789abcdef0123456789abcdef01234567/../main/live/a.yaml\"]\n", "live/a.yaml", broken},
		"submodules that cannot be read":     {modules("[submodule \"lib\n\tpath = vendor/lib\n"), "vendor/lib", broken},
	} {
		t.Run(name, func(t *testing.T) {
			if got := silent(t, c.tree, c.file); got != c.want {
				t.Errorf("%s: %s, want %s", c.file, got, c.want)
			}
		})
	}
}

// TestMadeElsewhere: what may make a ConfigMap or Secret that a windowed entry point refers to, and that stands in no file, waits with it.
func TestMadeElsewhere(t *testing.T) {
	root := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") + "-- apps/a.yaml --\n" + configMap
	held := root + "-- clusters/prod/held.yaml --\n" + strings.Replace(heldKs("./apps", "GitRepository", "flux-system"), "spec: {", "spec: {postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}, ", 1)
	values := root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system") + "-- apps/r.yaml --\n" +
		object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chart: {spec: {chart: x, sourceRef: {kind: HelmRepository, name: x}}}, valuesFrom: [{kind: Secret, name: vars}]}")
	list := func(text string) string {
		return held + "-- clusters/prod/kustomization.yaml --\nresources: [a.yaml, held.yaml, src.yaml, other.yaml]\n" + text +
			"-- clusters/prod/src.yaml --\n" + strings.Replace(configMap, "name: cm", "name: src, namespace: flux-system", 1) + "data: {X: y}\n-- clusters/prod/other.yaml --\n" + configMap
	}
	vars := "-- clusters/prod/vars.yaml --\n" + strings.Replace(configMap, "name: cm", "name: vars, namespace: flux-system", 1) + "data: {X: y}\n"
	release := func(spec, chart string) string {
		return "-- clusters/prod/live.yaml --\n" + ks("live", "./live", "flux-system") + "-- live/r.yaml --\n" +
			object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "web", "{"+spec+"chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: flux-system}}}}") +
			"-- charts/web/Chart.yaml --\nname: web\n-- charts/web/templates/a.yaml --\n" + chart
	}
	sets := "-- clusters/prod/live.yaml --\n" + ks("live", "./live", "flux-system") + "-- live/set.yaml --\n" + object("fluxcd.controlplane.io/v1", "ResourceSet", "set", "{inputsFrom: [{kind: ResourceSetInputProvider, name: p}], resources: []}")
	operator := func(api, kind, name, spec string) string {
		return "-- clusters/prod/live.yaml --\n" + ks("live", "./live", "flux-system") + "-- live/s.yaml --\n" + object(api, kind, name, spec)
	}
	charts := "-- clusters/prod/x.yaml --\n" + sourceObject("HelmRepository", "x", "{url: https://example.com/charts}")
	remote := func(spec string) string { return operator("helm.toolkit.fluxcd.io/v2", "HelmRelease", "raw", spec) }
	as := func(spec string) string {
		return root + "-- clusters/prod/held.yaml --\n" + strings.Replace(heldKs("./apps", "GitRepository", "flux-system"), "spec: {", "spec: {"+spec+", ", 1)
	}
	replace := func(source string) string {
		return "replacements: [{source: " + source + ", targets: [{select: {kind: ConfigMap, name: vars}, fieldPaths: [data.X]}]}]\n"
	}
	listed := func(text string) string {
		return strings.Replace(list(text), "held.yaml,", "held.yaml, vars.yaml,", 1) + vars
	}
	carried := strings.NewReplacer("data: {X: y}\n-- clusters/prod/other", "data: {X: \"${V}\"}\n-- clusters/prod/other", ks("flux-system", "./clusters/prod", "flux-system"), ks("live", "./live", "flux-system")+
		strings.Replace(ks("flux-system", "./clusters/prod", "flux-system"), "{path", "{postBuild: {substituteFrom: [{kind: ConfigMap, name: rv}]}, path", 1)).Replace(listed(replace("{kind: ConfigMap, name: src, fieldPath: data.X}"))) +
		"-- live/rv.yaml --\n" + strings.Replace(configMap, "name: cm", "name: rv, namespace: flux-system", 1) + "data: {V: a}\n"
	labelled := strings.Replace(listed(replace("{kind: ConfigMap, name: src, fieldPath: metadata.labels.a}")), "src.yaml,", "src,", 1)
	labelled = strings.Replace(labelled, "-- clusters/prod/src.yaml", "-- clusters/prod/src/kustomization.yaml --\nresources: [src.yaml]\nlabels: [{pairs: {a: b}}]\n-- clusters/prod/src/src.yaml", 1)
	const chartElsewhere = "{chart: {spec: {chart: raw, sourceRef: {kind: HelmRepository, name: x}}}"
	patched := func(patch string) string {
		return remote(chartElsewhere+", targetNamespace: web, values: {c: d}}") + "-- live/kustomization.yaml --\nresources: [s.yaml]\npatches: [{target: {kind: HelmRelease}, patch: \"" +
			strings.Replace(patch, "{", "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: raw}, ", 1) + "\"}]\n"
	}
	const generator = "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: vars, namespace: flux-system}\nenvs: [vars.env]\n"
	for name, c := range map[string]struct{ tree, file, want string }{
		"nothing":                                            {held + "-- clusters/prod/other.yaml --\n" + configMap, "clusters/prod/other.yaml", "-"},
		"a generator":                                        {list("generators: [g.yaml]\n-- clusters/prod/g.yaml --\n" + generator + "-- clusters/prod/vars.env --\nX=y\n"), "clusters/prod/g.yaml", "weekend"},
		"what a generator loads":                             {list("generators: [g.yaml]\n-- clusters/prod/g.yaml --\n" + generator + "-- clusters/prod/vars.env --\nX=y\n"), "clusters/prod/vars.env", "weekend"},
		"a generator in the list":                            {list("generators:\n- |\n  " + strings.ReplaceAll(generator, "\n", "\n  ") + "\n-- clusters/prod/vars.env --\nX=y\n"), "clusters/prod/vars.env", "weekend"},
		"another generator":                                  {list("generators: [g.yaml]\n-- clusters/prod/g.yaml --\n" + strings.Replace(generator, "name: vars", "name: other", 1) + "-- clusters/prod/vars.env --\nX=y\n"), "clusters/prod/vars.env", "-"},
		"a chart":                                            {held + release("", "kind: ConfigMap\n"), "charts/web/templates/a.yaml", "weekend"},
		"a release of a chart":                               {held + release("", "kind: ConfigMap\n"), "live/r.yaml", "weekend"},
		"a chart, for values":                                {values + release("", "kind: ConfigMap\n"), "charts/web/templates/a.yaml", "weekend"},
		"a chart for another namespace":                      {held + release("targetNamespace: web, ", "metadata: {namespace: \"{{ .Release.Namespace }}\"}\n"), "charts/web/templates/a.yaml", "-"},
		"a chart for any namespace":                          {held + release("targetNamespace: web, ", "metadata:\n  namespace: flux-system\n"), "charts/web/templates/a.yaml", "weekend"},
		"a chart with objects as values":                     {held + release("targetNamespace: web, values: {extra: [{kind: ConfigMap}]}, ", "x\n"), "live/r.yaml", "weekend"},
		"a chart with values from others":                    {held + release("targetNamespace: web, valuesFrom: [{kind: ConfigMap, name: v}], ", "x\n") + "-- live/v.yaml --\n" + strings.Replace(configMap, "name: cm", "name: v, namespace: flux-system", 1), "live/v.yaml", "weekend"},
		"a chart elsewhere":                                  {held + remote("{chart: {spec: {chart: raw, sourceRef: {kind: HelmRepository, name: x}}}, values: {a: b}}"), "live/s.yaml", "weekend"},
		"one for another namespace":                          {held + remote(chartElsewhere+", targetNamespace: web, values: {a: b}}"), "live/s.yaml", "-"},
		"one that has stored it here":                        {held + remote(chartElsewhere+", targetNamespace: web, storageNamespace: flux-system}"), "live/s.yaml", "-"},
		"one whose values say where":                         {held + remote(chartElsewhere+", targetNamespace: web, values: {a: [{namespaceOverride: flux-system}]}}"), "live/s.yaml", "weekend"},
		"one that names many":                                {held + remote(chartElsewhere+", targetNamespace: web, values: {namespaces: [web, flux-system]}}"), "live/s.yaml", "weekend"},
		"one that names other ones":                          {held + remote(chartElsewhere+", targetNamespace: web, values: {namespaces: [web, x]}}"), "live/s.yaml", "-"},
		"one that names it by a variable":                    {held + remote(chartElsewhere+", targetNamespace: web, values: {namespace: \"${X}\"}}"), "live/s.yaml", "weekend"},
		"one into a variable":                                {held + remote(chartElsewhere+", targetNamespace: \"${X}\"}"), "live/s.yaml", "weekend"},
		"one with objects as text":                           {held + remote(chartElsewhere+", targetNamespace: web, values: {extra: [\"kind: ConfigMap\\nmetadata: {name: vars, namespace: flux-system}\"]}}"), "live/s.yaml", "weekend"},
		"one that is rendered elsewhere":                     {held + remote(chartElsewhere+", targetNamespace: web, postRenderers: [{kustomize: {patches: [{patch: \"[{op: add, path: /metadata/namespace, value: flux-system}]\"}]}}]}"), "live/s.yaml", "weekend"},
		"one whose values are patched":                       {held + patched("{spec: {values: {a: [{namespaceOverride: flux-system}]}}}"), "live/s.yaml", "weekend"},
		"one whose place is patched":                         {held + patched("{spec: {targetNamespace: flux-system}}"), "live/s.yaml", "weekend"},
		"one whose objects are patched":                      {held + patched("{spec: {values: {resources: [{kind: ConfigMap, metadata: {name: vars}}]}}}"), "live/s.yaml", "weekend"},
		"the patch":                                          {held + patched("{spec: {values: {resources: [{kind: ConfigMap, metadata: {name: vars}}]}}}"), "live/kustomization.yaml", "weekend"},
		"one that is patched by JSON":                        {held + strings.Replace(patched("{}"), "\"{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: raw}, }", "\"[{op: add, path: /spec/values/namespaceOverride, value: flux-system}]", 1), "live/s.yaml", "weekend"},
		"one that is patched otherwise":                      {held + patched("{spec: {values: {a: b}}}"), "live/s.yaml", "-"},
		"one, of what decrypts":                              {as("decryption: {provider: sops, secretRef: {name: vars}}") + remote(chartElsewhere+"}"), "live/s.yaml", "-"},
		"one that has what decrypts":                         {as("decryption: {provider: sops, secretRef: {name: vars}}") + remote(chartElsewhere+", values: {resources: [{kind: Secret, metadata: {name: vars}}]}}"), "live/s.yaml", "weekend"},
		"one that makes a cluster":                           {as("kubeConfig: {secretRef: {name: vc-raw}}") + remote(chartElsewhere+"}"), "live/s.yaml", "weekend"},
		"one that makes another cluster":                     {as("kubeConfig: {secretRef: {name: vc-web}}") + remote(chartElsewhere+"}"), "live/s.yaml", "-"},
		"one beside what stands in a file":                   {listed("") + remote(chartElsewhere+"}"), "live/s.yaml", "-"},
		"one with objects":                                   {held + remote("{chart: {spec: {chart: raw, sourceRef: {kind: HelmRepository, name: x}}}, values: {resources: [{kind: ConfigMap, metadata: {name: vars}}]}}"), "live/s.yaml", "weekend"},
		"one of an artifact":                                 {held + remote("{chartRef: {kind: OCIRepository, name: x}, values: {resources: [{kind: ConfigMap, metadata: {name: vars}}]}}"), "live/s.yaml", "weekend"},
		"one with other objects":                             {held + remote("{targetNamespace: web, chart: {spec: {chart: raw, sourceRef: {kind: HelmRepository, name: x}}}, values: {resources: [{kind: ConfigMap, metadata: {name: other}}]}}"), "live/s.yaml", "-"},
		"one called like it":                                 {held + operator("helm.toolkit.fluxcd.io/v2", "HelmRelease", "va", chartElsewhere+"}"), "live/s.yaml", "weekend"},
		"one whose release is":                               {held + remote(chartElsewhere+", releaseName: vars}"), "live/s.yaml", "weekend"},
		"one named by its namespace":                         {strings.ReplaceAll(held, "name: vars", "name: flux-system-raw-vars") + remote(chartElsewhere+", targetNamespace: flux-system}"), "live/s.yaml", "weekend"},
		"one whose objects are":                              {held + remote(chartElsewhere+", values: {sub: {fullnameOverride: vars}}}"), "live/s.yaml", "weekend"},
		"one by a variable":                                  {held + operator("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r-${X}", chartElsewhere+", releaseName: \"${X}\"}"), "live/s.yaml", "weekend"},
		"one in another namespace":                           {held + remote(chartElsewhere+", releaseName: vars, targetNamespace: web}"), "live/s.yaml", "-"},
		"a ResourceSet by a variable":                        {held + strings.Replace(sets, "name: set", "name: \"s-${X}\"", 1), "live/set.yaml", "weekend"},
		"a release called by a variable":                     {held + strings.Replace(release("", "kind: ConfigMap\n"), "name: web, namespace", "name: \"w-${X}\", namespace", 1), "live/r.yaml", "weekend"},
		"a chart, of a source's Secret":                      {root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "own") + sourceObject("GitRepository", "own", "{"+fleet+", secretRef: {name: vars}}") + release("", "kind: Secret\n"), "live/r.yaml", "-"},
		"the same, of a release's source":                    {strings.Replace(values, "ref: {branch", "secretRef: {name: git}, ref: {branch", 1) + strings.Replace(release("valuesFrom: [{kind: Secret, name: vals}], ", ""), "-- live/r.yaml", "-- live/vals.yaml --\n"+secret("vals")+"-- live/r.yaml", 1) + "-- clusters/prod/vars.yaml --\n" + secret("vars") + sourceObject("HelmRepository", "x", "{url: https://example.com/charts}"), "live/r.yaml", "-"},
		"a chart, of what decrypts":                          {as("decryption: {provider: sops, secretRef: {name: vars}}") + release("valuesFrom: [{kind: Secret, name: vals}], ", "kind: Secret\n"), "live/r.yaml", "-"},
		"a ResourceSet, of what decrypts":                    {as("decryption: {provider: sops, secretRef: {name: vars}}") + sets, "live/set.yaml", "-"},
		"one that says its name":                             {as("decryption: {provider: sops, secretRef: {name: vars}}") + strings.Replace(sets, "resources: []", "resources: [{kind: Secret, metadata: {name: vars}}]", 1), "live/set.yaml", "weekend"},
		"a SealedSecret":                                     {values + operator("bitnami.com/v1alpha1", "SealedSecret", "vars", "{encryptedData: {a: "+strings.Repeat("x", 300)+"}}"), "live/s.yaml", "weekend"},
		"the template of a SealedSecret":                     {values + operator("bitnami.com/v1alpha1", "SealedSecret", "s", "{template: {metadata: {name: vars}}}"), "live/s.yaml", "weekend"},
		"another SealedSecret":                               {values + operator("bitnami.com/v1alpha1", "SealedSecret", "s", "{template: {metadata: {name: other}}}"), "live/s.yaml", "-"},
		"a SealedSecret by a variable":                       {values + operator("bitnami.com/v1alpha1", "SealedSecret", "\"v${X}\"", "{}"), "live/s.yaml", "weekend"},
		"a release beside what makes it":                     {values + charts + remote(chartElsewhere+"}") + "-- live/more.yaml --\n" + object("external-secrets.io/v1", "ExternalSecret", "vars", "{target: {creationPolicy: Owner}}"), "live/s.yaml", "-"},
		"what makes it beside a release":                     {values + charts + remote(chartElsewhere+"}") + "-- live/more.yaml --\n" + object("external-secrets.io/v1", "ExternalSecret", "vars", "{target: {creationPolicy: Owner}}"), "live/more.yaml", "weekend"},
		"a release beside one that makes it by another name": {values + charts + remote(chartElsewhere+"}") + "-- live/more.yaml --\n" + object("external-secrets.io/v1", "ExternalSecret", "x", "{target: {name: vars}}"), "live/s.yaml", "-"},
		"a release beside what adds to it":                   {values + charts + remote(chartElsewhere+"}") + "-- live/more.yaml --\n" + object("external-secrets.io/v1", "ExternalSecret", "vars", "{target: {creationPolicy: Merge}}"), "live/s.yaml", "weekend"},
		"a release beside what makes another":                {values + charts + remote(chartElsewhere+"}") + "-- live/more.yaml --\n" + object("external-secrets.io/v1", "ExternalSecret", "vars", "{target: {name: other}}"), "live/s.yaml", "weekend"},
		"a release beside a manifest":                        {values + charts + remote(chartElsewhere+"}") + "-- live/more.yaml --\n" + object("external-secrets.io/v1", "ExternalSecret", "vars", "{target: {manifest: {kind: ConfigMap}}}"), "live/s.yaml", "weekend"},
		"a release beside what names a template":             {values + charts + remote(chartElsewhere+"}") + "-- live/more.yaml --\n" + object("bitnami.com/v1alpha1", "SealedSecret", "x", "{template: {metadata: {name: vars}}}"), "live/s.yaml", "weekend"},
		"a release beside a sealed one":                      {values + charts + remote(chartElsewhere+"}") + "-- live/more.yaml --\n" + object("bitnami.com/v1alpha1", "SealedSecret", "vars", "{encryptedData: {a: b}}"), "live/s.yaml", "-"},
		"a release beside what is copied into":               {values + charts + remote(chartElsewhere+"}") + "-- live/more.yaml --\n" + object("external-secrets.io/v1", "ExternalSecret", "vars", "{target: {template: {metadata: {annotations: {replicator.v1.mittwald.de/replicate-from: a/b}}}}}"), "live/s.yaml", "weekend"},
		"a release beside what is left out":                  {values + charts + remote(chartElsewhere+"}") + "-- live/more.yaml --\n" + object("external-secrets.io/v1", "ExternalSecret", "vars", "{target: {}}") + "-- live/.sourceignore --\nmore.yaml\n", "live/s.yaml", "weekend"},
		"a release beside another cluster's":                 {values + charts + remote(chartElsewhere+"}") + "-- clusters/prod/far.yaml --\n" + strings.Replace(ks("far", "./far", "flux-system"), "{path", "{kubeConfig: {secretRef: {name: far}}, path", 1) + "-- far/more.yaml --\n" + object("external-secrets.io/v1", "ExternalSecret", "vars", "{target: {}}"), "live/s.yaml", "weekend"},
		"a release beside another branch's":                  {values + charts + remote(chartElsewhere+"}") + "-- clusters/prod/far.yaml --\n" + gitRepository("old", "old") + ks("far", "./far", "old") + "-- far/more.yaml --\n" + object("external-secrets.io/v1", "ExternalSecret", "vars", "{target: {}}"), "live/s.yaml", "weekend"},
		"a copy of what a ResourceSet makes":                 {held + strings.Replace(sets, "{inputsFrom: [{kind: ResourceSetInputProvider, name: p}], resources: []}", "{resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: vars, namespace: other}}]}", 1), "live/set.yaml", "weekend"},
		"a replacement into a SealedSecret": {values + operator("bitnami.com/v1alpha1", "SealedSecret", "vars", "{a: b}") + "-- live/src.yaml --\n" + strings.Replace(configMap, "name: cm", "name: src", 1) + "data: {X: y}\n-- live/kustomization.yaml --\n" +
			"resources: [s.yaml, src.yaml]\nreplacements: [{source: {kind: ConfigMap, name: src, fieldPath: data.X}, targets: [{select: {kind: SealedSecret}, fieldPaths: [spec.a]}]}]\n", "live/src.yaml", "weekend"},
		"a SealedSecret of another one":       {values + operator("bitnami.com/v1alpha1", "SealedSecret", "\"s-${X}\"", "{}"), "live/s.yaml", "-"},
		"one in a namespace called so":        {strings.NewReplacer("name: vars", "name: flux-system", "\n  name: vars", "\n  name: flux-system").Replace(values) + operator("external-secrets.io/v1", "ExternalSecret", "s", "{target: {name: slack}}"), "live/s.yaml", "-"},
		"a template in a namespace called so": {strings.NewReplacer("name: vars", "name: flux-system", "\n  name: vars", "\n  name: flux-system").Replace(values) + operator("bitnami.com/v1alpha1", "SealedSecret", "s", "{template: {metadata: {name: slack, namespace: flux-system}}}"), "live/s.yaml", "-"},
		"one with a variable elsewhere":       {values + operator("cert-manager.io/v1", "Certificate", "s", "{secretName: tls, commonName: \"${X}\", dnsNames: [\"${X}\"]}"), "live/s.yaml", "-"},
		"its target by a variable":            {values + operator("external-secrets.io/v1", "ExternalSecret", "s", "{target: {name: \"v${X}\"}}"), "live/s.yaml", "weekend"},
		"another target by a variable":        {values + operator("external-secrets.io/v1", "ExternalSecret", "s", "{target: {name: \"w${X}\"}}"), "live/s.yaml", "-"},
		"an ExternalSecret":                   {values + operator("external-secrets.io/v1", "ExternalSecret", "vars", "{}"), "live/s.yaml", "weekend"},
		"an ExternalSecret of a source":       {root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "own") + sourceObject("GitRepository", "own", "{"+fleet+", secretRef: {name: vars}}") + operator("external-secrets.io/v1", "ExternalSecret", "vars", "{}"), "live/s.yaml", "weekend"},
		"the target of an ExternalSecret":     {values + operator("external-secrets.io/v1", "ExternalSecret", "s", "{target: {name: vars}}"), "live/s.yaml", "weekend"},
		"one of another namespace":            {values + strings.Replace(operator("external-secrets.io/v1", "ExternalSecret", "vars", "{}"), "name: vars, namespace: flux-system", "name: vars, namespace: web", 1), "live/s.yaml", "-"},
		"one of all namespaces":               {values + strings.Replace(operator("external-secrets.io/v1", "ClusterExternalSecret", "vars", "{}"), ", namespace: flux-system}\nspec: {}", "}\nspec: {}", 1), "live/s.yaml", "weekend"},
		"a Secret and an ExternalSecret":      {values + operator("external-secrets.io/v1", "ExternalSecret", "vars", "{}") + "-- clusters/prod/vars.yaml --\n" + secret("vars"), "live/s.yaml", "-"},
		"a chart's template of one":           {values + operator("external-secrets.io/v1", "ExternalSecret", "other", "{}") + "-- charts/a.yaml --\n{{- if .x }}\nkind: ExternalSecret\n{{- end }}\n", "charts/a.yaml", "-"},
		"a ResourceSet":                       {held + sets, "live/set.yaml", "weekend"},
		"what a ResourceSet may lead to":      {held + sets + "-- tenants/a.yaml --\n" + strings.Replace(configMap, "name: cm", "name: vars", 1), "tenants/a.yaml", "weekend"},
		"a ResourceSet, of what is there":     {listed("") + sets, "live/set.yaml", "-"},
		"one that says all that it makes":     {held + strings.Replace(sets, "{inputsFrom: [{kind: ResourceSetInputProvider, name: p}], resources: []}", "{resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: flux-system}}]}", 1), "live/set.yaml", "-"},
		"one that says it":                    {held + strings.Replace(sets, "{inputsFrom: [{kind: ResourceSetInputProvider, name: p}], resources: []}", "{resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: vars, namespace: flux-system}}]}", 1), "live/set.yaml", "weekend"},
		"one that says it by an input":        {held + strings.Replace(sets, "{inputsFrom: [{kind: ResourceSetInputProvider, name: p}], resources: []}", "{inputs: [{n: vars}], resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: << inputs.n >>, namespace: flux-system}}]}", 1), "live/set.yaml", "weekend"},
		"one that may say it":                 {held + strings.Replace(sets, "{inputsFrom: [{kind: ResourceSetInputProvider, name: p}], resources: []}", "{inputs: [{n: other}], resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: << inputs.n | trunc 4 >>, namespace: flux-system}}]}", 1), "live/set.yaml", "weekend"},
		"one that says no namespace":          {held + strings.Replace(sets, "{inputsFrom: [{kind: ResourceSetInputProvider, name: p}], resources: []}", "{resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}]}", 1), "live/set.yaml", "weekend"},
		"one with a release":                  {held + strings.Replace(sets, "{inputsFrom: [{kind: ResourceSetInputProvider, name: p}], resources: []}", "{resources: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: r, namespace: flux-system}}]}", 1), "live/set.yaml", "weekend"},
		"one with steps":                      {held + strings.Replace(sets, "{inputsFrom: [{kind: ResourceSetInputProvider, name: p}], resources: []}", "{steps: [{name: a, resources: []}]}", 1), "live/set.yaml", "weekend"},
		"a replacement":                       {listed(replace("{kind: ConfigMap, name: src, fieldPath: data.X}")), "clusters/prod/src.yaml", "weekend"},
		"a patch of what a replacement takes": {listed(replace("{kind: ConfigMap, name: src, fieldPath: data.X}") + "patches: [{path: p.yaml}]\n-- clusters/prod/p.yaml --\n" +
			strings.Replace(configMap, "name: cm", "name: src, namespace: flux-system", 1) + "data: {X: z}\n"), "clusters/prod/p.yaml", "weekend"},
		"a variable that a replacement takes": {carried, "live/rv.yaml", "weekend"},
		"labels that a replacement takes":     {labelled, "clusters/prod/src/kustomization.yaml", "weekend"},
		"a replacement into an ExternalSecret": {values + charts + operator("external-secrets.io/v1", "ExternalSecret", "other", "{target: {name: other}}") + "-- live/src.yaml --\n" + configMap + "-- live/kustomization.yaml --\nresources: [s.yaml, src.yaml]\n" +
			"replacements: [{source: {kind: ConfigMap, name: cm, fieldPath: data.a}, targets: [{select: {kind: ExternalSecret}, fieldPaths: [spec.target.name]}]}]\n", "live/s.yaml", "weekend"},
		"a replacement into what makes it": {held + release("", "x\n") + "-- live/src.yaml --\n" + configMap + "-- live/kustomization.yaml --\nresources: [r.yaml, src.yaml]\n" +
			"replacements: [{source: {kind: ConfigMap, name: cm, fieldPath: data.a}, targets: [{select: {kind: HelmRelease}, fieldPaths: [spec.values.a]}]}]\n", "live/src.yaml", "weekend"},
		"what fills what makes it": {strings.Replace(held+release("values: {a: \"${V}\"}, ", "x\n"), ks("live", "./live", "flux-system"), strings.Replace(ks("live", "./live", "flux-system"), "{path", "{postBuild: {substituteFrom: [{kind: ConfigMap, name: rv}]}, path", 1), 1) +
			"-- clusters/prod/rv.yaml --\n" + strings.Replace(configMap, "name: cm", "name: rv, namespace: flux-system", 1), "clusters/prod/rv.yaml", "weekend"},
		"a replacement of something else": {listed(replace("{kind: ConfigMap, name: src, fieldPath: data.X}")), "clusters/prod/other.yaml", "-"},
		"a replacement out of anything":   {listed(replace("{kind: Deployment, name: src, fieldPath: data.X}")), "clusters/prod/other.yaml", "weekend"},
		"a replacement of a name":         {list("replacements: [{source: {kind: ConfigMap, name: src, fieldPath: data.X}, targets: [{select: {kind: ConfigMap, name: cm}, fieldPaths: [metadata.name]}]}]\n"), "clusters/prod/other.yaml", "weekend"},
		"a replacement of no name":        {list("replacements: [{source: {kind: ConfigMap, name: src, fieldPath: data.X}, targets: [{select: {kind: ConfigMap, name: cm}, fieldPaths: [data.X]}]}]\n"), "clusters/prod/other.yaml", "-"},
		"a transformer of names":          {list("transformers: [t.yaml]\n-- clusters/prod/t.yaml --\napiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: p}\nprefix: va\nfieldSpecs: [{path: metadata/name}]\n"), "clusters/prod/other.yaml", "weekend"},
		"a patch that may rename":         {list("patches: [{target: {kind: ConfigMap, name: cm}, options: {allowNameChange: true}, patch: \"{apiVersion: v1, kind: ConfigMap, metadata: {name: vars}}\"}]\n"), "clusters/prod/other.yaml", "weekend"},
		"a patch of a kind":               {list("patches: [{target: {name: x}, patch: '[{\"op\": \"replace\", \"path\": \"/kind\", \"value\": \"ConfigMap\"}]'}]\n"), "clusters/prod/other.yaml", "error"},
		"a patch of a kind that is not":   {list("patches: [{target: {name: x}, patch: '[{\"op\": \"replace\", \"path\": \"/kind\", \"value\": \"Deployment\"}]'}]\n"), "clusters/prod/other.yaml", "-"},
		"a patch that may change kinds":   {list("patches: [{target: {name: x}, options: {allowKindChange: true}, patch: \"{apiVersion: v1, kind: ConfigMap, metadata: {name: vars}}\"}]\n"), "clusters/prod/other.yaml", "error"},
		"a replacement of a kind":         {list("replacements: [{source: {kind: ConfigMap, name: src, fieldPath: data.X}, targets: [{select: {name: x}, fieldPaths: [kind]}]}]\n"), "clusters/prod/other.yaml", "error"},
		"replacements in a file":          {listed("replacements: [{path: r.yaml}]\n-- clusters/prod/r.yaml --\n- {source: {kind: Deployment, name: src}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.X]}]}\n"), "clusters/prod/other.yaml", "weekend"},
		"a replacement as a transformer":  {listed("transformers: [r.yaml]\n-- clusters/prod/r.yaml --\napiVersion: builtin\nkind: ReplacementTransformer\nmetadata: {name: r}\nreplacements: []\n"), "clusters/prod/other.yaml", "weekend"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := silent(t, c.tree, c.file); got != c.want {
				t.Errorf("%s: %s, want %s", c.file, got, c.want)
			}
		})
	}
}

// silent is whether a path waits, or check has an error; "-": neither.
func silent(t *testing.T, text, file string) string {
	t.Helper()
	return silentBy(t, sourcesFile, text, file)
}

func silentBy(t *testing.T, policy, text, file string) string {
	t.Helper()
	p := parse(t, policy)
	files := fluxtrees.Parse([]byte(text))
	for _, f := range files {
		if to, link := strings.CutPrefix(string(f.Data), "-> "); link {
			f.Data, f.Mode = []byte(strings.TrimSpace(to)), fs.ModeSymlink
		}
	}
	tree, err := graph.Read(files)
	if err != nil {
		t.Fatal(err)
	}
	g := New(p, tree.Clusters(p.Clusters))
	reads, _ := g.Reads(file)
	holds, _ := g.Holds(file)
	if strings.Contains(fmt.Sprint(reads.Releases, holds.Releases), "weekend") {
		return "weekend"
	}
	if slices.ContainsFunc(slices.Concat(g.Problems(tree.Problems, nil), g.Nothing(nil), g.unconfirmed()), func(n config.Note) bool { return n.Level == config.LevelHold }) {
		return "error"
	}
	return "-"
}
