package reach

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// sourcesFile windows entry points that track no windowed branch.
const sourcesFile = `
version: 1
timezone: UTC
windows:
  night: {open: "0 22 * * *", duration: 4h}
  weekend: {open: "0 6 * * SAT", duration: 24h}
layout:
  flux: true
  entrypoints:
    - {where: flux-system/held, release: weekend}
branches:
  - {name: rw/a, from: main, window: night}
clusters:
  - {name: prod, path: clusters/prod, branch: main}
`

// object is a Flux object of flux-system.
func object(api, kind, name, spec string) string {
	return fmt.Sprintf("---\napiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: flux-system}\nspec: %s\n", api, kind, name, spec)
}

func sourceObject(kind, name, spec string) string {
	return object("source.toolkit.fluxcd.io/v1", kind, name, spec)
}

// heldKs is a Flux Kustomization that entrypoints windows.
func heldKs(path, kind, source string) string {
	return object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "held", fmt.Sprintf("{path: %s, sourceRef: {kind: %s, name: %s}}", path, kind, source))
}

func secret(name string) string {
	return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: " + name + ", namespace: flux-system}\nstringData: {password: x}\n"
}

const fleet = `url: "https://example.com/acme/fleet"`

// TestSources: whatever the kind of its source, what a windowed entry point is made of waits for its window: its definition, its source, what that refers
// to, and what it reads of this repository.
func TestSources(t *testing.T) {
	generator := func(sources, artifacts string) string {
		return object("source.extensions.fluxcd.io/v1beta1", "ArtifactGenerator", "generator", "{sources: ["+sources+"], artifacts: ["+artifacts+"]}")
	}
	const (
		weekend = "weekend"
		live    = "live"
		none    = "-"
	)
	for name, c := range map[string]struct {
		tree map[string]string // besides the root's source
		want map[string]string // releases by file
	}{
		"an OCIRepository, and what it refers to": {
			map[string]string{
				"clusters/prod/ks.yaml":    heldKs("./", "OCIRepository", "apps"),
				"clusters/prod/oci.yaml":   sourceObject("OCIRepository", "apps", "{url: oci://example.com/apps, ref: {tag: v1}, secretRef: {name: pull}, verify: {provider: cosign, secretRef: {name: keys}}, certSecretRef: {name: ca}, proxySecretRef: {name: proxy}}"),
				"clusters/prod/pull.yaml":  secret("pull"),
				"clusters/prod/keys.yaml":  secret("keys"),
				"clusters/prod/ca.yaml":    secret("ca"),
				"clusters/prod/proxy.yaml": secret("proxy"),
				"clusters/prod/other.yaml": secret("other"),
			},
			map[string]string{
				"clusters/prod/ks.yaml": weekend, "clusters/prod/oci.yaml": weekend, "clusters/prod/pull.yaml": weekend, "clusters/prod/keys.yaml": weekend,
				"clusters/prod/ca.yaml": weekend, "clusters/prod/proxy.yaml": weekend, "clusters/prod/other.yaml": live,
			},
		},
		"another repository, at a branch that is called as one of ours": {
			map[string]string{
				"clusters/prod/ks.yaml":  heldKs("./apps", "GitRepository", "apps"),
				"clusters/prod/git.yaml": sourceObject("GitRepository", "apps", "{url: https://example.com/acme/apps, ref: {branch: rw/a}}"),
				"clusters/prod/cm.yaml":  configMap,
			},
			map[string]string{"clusters/prod/ks.yaml": weekend, "clusters/prod/git.yaml": weekend, "clusters/prod/cm.yaml": live},
		},
		"a live one of another repository": {
			map[string]string{
				"clusters/prod/ks.yaml":  strings.Replace(heldKs("./", "GitRepository", "apps"), "name: held", "name: free", 1),
				"clusters/prod/git.yaml": sourceObject("GitRepository", "apps", "{url: https://example.com/acme/apps, ref: {branch: rw/a}}"),
			},
			map[string]string{"clusters/prod/ks.yaml": live, "clusters/prod/git.yaml": live},
		},
		"a bucket": {
			map[string]string{
				"clusters/prod/ks.yaml":     heldKs("./", "Bucket", "apps"),
				"clusters/prod/bucket.yaml": sourceObject("Bucket", "apps", "{bucketName: x, endpoint: e, sts: {provider: ldap, secretRef: {name: sts}}}"),
				"clusters/prod/sts.yaml":    secret("sts"),
			},
			map[string]string{"clusters/prod/ks.yaml": weekend, "clusters/prod/bucket.yaml": weekend, "clusters/prod/sts.yaml": weekend},
		},
		"an artifact of another repository": {
			map[string]string{
				"clusters/prod/ks.yaml":       heldKs("./", "ExternalArtifact", "apps"),
				"clusters/prod/artifact.yaml": generator("{alias: oci, kind: OCIRepository, name: apps}", `{name: apps, copy: [{from: "@oci/**", to: "@artifact/"}]}`),
				"clusters/prod/oci.yaml":      sourceObject("OCIRepository", "apps", "{url: oci://example.com/apps, ref: {tag: v1}}"),
				"deploy/a.yaml":               configMap,
			},
			map[string]string{"clusters/prod/ks.yaml": weekend, "clusters/prod/artifact.yaml": weekend, "clusters/prod/oci.yaml": weekend, "deploy/a.yaml": none},
		},
		"an artifact of a windowed branch": {
			map[string]string{
				"clusters/prod/ks.yaml":       ks("copied", "./", "x"),
				"clusters/prod/artifact.yaml": generator("{alias: repo, kind: GitRepository, name: rw}", `{name: x, copy: [{from: "@repo/deploy/**", to: "@artifact/"}]}`),
				"clusters/prod/rw.yaml":       gitRepository("rw", "rw/a"),
				"deploy/a.yaml":               configMap,
			},
			map[string]string{"clusters/prod/ks.yaml": "night", "clusters/prod/artifact.yaml": "night", "clusters/prod/rw.yaml": "night", "deploy/a.yaml": "branch:rw/a"},
		},
		"an artifact of a windowed branch, from a directory that is not there": {
			map[string]string{
				"clusters/prod/ks.yaml":       ks("copied", "./", "x"),
				"clusters/prod/artifact.yaml": generator("{alias: repo, kind: GitRepository, name: rw}", `{name: x, copy: [{from: "@repo/deploy/**", to: "@artifact/"}]}`),
				"clusters/prod/rw.yaml":       gitRepository("rw", "rw/a"),
			},
			map[string]string{"clusters/prod/ks.yaml": "night", "clusters/prod/artifact.yaml": "night", "clusters/prod/rw.yaml": "night"},
		},
		"an artifact of two branches and another repository, some of it in one place": {
			map[string]string{
				"clusters/prod/ks.yaml": ks("copied", "./", "x"),
				"clusters/prod/artifact.yaml": generator("{alias: rw, kind: GitRepository, name: rw}, {alias: main, kind: GitRepository, name: flux-system}, {alias: other, kind: GitRepository, name: other}",
					`{name: x, copy: [{from: "@rw/deploy/**", to: "@artifact/"}, {from: "@main/more/*.yaml", to: "@artifact/"}, {from: "@other/foreign/**", to: "@artifact/"}, {from: "@rw/envs/prod.yaml", to: "@artifact/values.yaml"}]}`),
				"clusters/prod/rw.yaml":    gitRepository("rw", "rw/a"),
				"clusters/prod/other.yaml": sourceObject("GitRepository", "other", "{url: https://example.com/acme/other, ref: {branch: main}}"),
				"deploy/a.yaml":            configMap, "more/b.yaml": configMap, "foreign/c.yaml": configMap, "envs/prod.yaml": "a: b\n", "envs/test.yaml": "a: b\n",
			},
			map[string]string{
				"deploy/a.yaml": "branch:rw/a", "envs/prod.yaml": "branch:rw/a", "envs/test.yaml": none, "more/b.yaml": "branch:rw/a night", "foreign/c.yaml": none,
				"clusters/prod/other.yaml": "night", "clusters/prod/artifact.yaml": "night",
			},
		},
		"a generator that stands in what is read later": {
			map[string]string{
				"clusters/prod/ks.yaml":  heldKs("./", "ExternalArtifact", "apps") + ks("sources", "./sources", "flux-system"),
				"sources/artifact.yaml":  generator("{alias: repo, kind: GitRepository, name: flux-system}", `{name: apps, copy: [{from: "@repo/deploy/", to: "@artifact"}]}`),
				"deploy/a.yaml":          configMap,
				"sources/unrelated.yaml": configMap,
			},
			map[string]string{"clusters/prod/ks.yaml": weekend, "sources/artifact.yaml": weekend, "deploy/a.yaml": weekend, "sources/unrelated.yaml": live},
		},
		"an artifact of an artifact": {
			map[string]string{
				"clusters/prod/ks.yaml": heldKs("./web", "ExternalArtifact", "second"),
				"clusters/prod/artifact.yaml": generator("{alias: repo, kind: GitRepository, name: flux-system}, {alias: first, kind: ExternalArtifact, name: first}",
					`{name: first, copy: [{from: "@repo/apps/", to: "@artifact/"}]}, {name: second, copy: [{from: "@first/apps/**", to: "@artifact/"}]}`),
				"apps/web/a.yaml": configMap, "apps/db/a.yaml": configMap,
			},
			map[string]string{"apps/web/a.yaml": weekend, "apps/db/a.yaml": none},
		},
		"what a source includes": {
			map[string]string{
				"clusters/prod/ks.yaml":     heldKs("./vendor/base", "GitRepository", "apps"),
				"clusters/prod/source.yaml": sourceObject("GitRepository", "apps", "{"+fleet+", ref: {branch: main}, include: [{repository: {name: base}, fromPath: lib, toPath: vendor}, {repository: {name: other}}]}"),
				"clusters/prod/base.yaml":   sourceObject("GitRepository", "base", "{"+fleet+", ref: {branch: rw/a}}"),
				"clusters/prod/other.yaml":  sourceObject("GitRepository", "other", "{url: https://example.com/acme/other, ref: {tag: v1}}"),
				"lib/base/a.yaml":           configMap, "lib/b.yaml": configMap,
			},
			map[string]string{
				"clusters/prod/ks.yaml": "night", "clusters/prod/source.yaml": "night", "clusters/prod/base.yaml": "night", "clusters/prod/other.yaml": "night",
				"lib/base/a.yaml": "branch:rw/a", "lib/b.yaml": none,
			},
		},
		"a commit: the pin waits, what stands in the tree does not reach the cluster": {
			map[string]string{
				"clusters/prod/ks.yaml":     heldKs("./deploy", "GitRepository", "apps"),
				"clusters/prod/source.yaml": sourceObject("GitRepository", "apps", "{"+fleet+", ref: {branch: main, commit: 0123456789012345678901234567890123456789}}"),
				"deploy/a.yaml":             configMap,
			},
			map[string]string{"clusters/prod/ks.yaml": weekend, "clusters/prod/source.yaml": weekend, "deploy/a.yaml": none},
		},
		"a tag, which may be set to what is merged": {
			map[string]string{
				"clusters/prod/ks.yaml":     heldKs("./deploy", "GitRepository", "apps"),
				"clusters/prod/source.yaml": sourceObject("GitRepository", "apps", "{"+fleet+", ref: {semver: '>=1.0.0'}}"),
				"deploy/a.yaml":             configMap,
			},
			map[string]string{"clusters/prod/source.yaml": weekend, "deploy/a.yaml": weekend},
		},
		"submodules": {
			map[string]string{
				"clusters/prod/ks.yaml":      heldKs("./deploy", "GitRepository", "apps"),
				"clusters/prod/source.yaml":  sourceObject("GitRepository", "apps", "{"+fleet+", ref: {branch: main}, recurseSubmodules: true}"),
				"deploy/kustomization.yaml":  "resources: [../vendor/lib/base]\n",
				".gitmodules":                "[submodule \"lib\"]\n\tpath = vendor/lib\n\turl = https://example.com/acme/lib\n[submodule \"doc\"]\n\tpath = \"vendor/doc\"\n\turl = ../doc\n",
				"clusters/prod/decrypt.yaml": secret("x"),
			},
			map[string]string{".gitmodules": weekend, "vendor/lib": weekend, "vendor/doc": none},
		},
		"charts with dependencies and values, one of the whole repository's": {
			map[string]string{
				"clusters/prod/ks.yaml": heldKs("./apps", "GitRepository", "flux-system"),
				"apps/r.yaml": object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r",
					"{chart: {spec: {chart: ./charts/web, valuesFiles: [values/prod.yaml], sourceRef: {kind: GitRepository, name: flux-system}}}}"),
				"charts/web/Chart.yaml":        "name: web\ndependencies:\n  - {name: lib, repository: file://../lib}\n  - {name: remote, repository: 'https://example.com'}\n",
				"charts/lib/Chart.yaml":        "name: lib\n",
				"charts/lib/requirements.yaml": "dependencies: [{name: deep, repository: 'file://../deep/'}, {name: web, repository: 'file://../web'}]\n",
				"charts/deep/values.yaml":      "a: b\n",
				"charts/other/values.yaml":     "a: b\n",
				"values/prod.yaml":             "a: b\n",
			},
			map[string]string{
				"charts/web/Chart.yaml": weekend, "charts/lib/Chart.yaml": weekend, "charts/deep/values.yaml": weekend, "values/prod.yaml": weekend, "charts/other/values.yaml": none,
			},
		},
		"a chart at the root of the repository": {
			map[string]string{
				"clusters/prod/ks.yaml": heldKs("./apps", "GitRepository", "flux-system"),
				"apps/r.yaml":           object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chart: {spec: {chart: ./, sourceRef: {kind: GitRepository, name: flux-system}}}}"),
				"Chart.yaml":            "name: root\n",
				"templates/a.yaml":      configMap,
				".github/a.yaml":        configMap,
			},
			map[string]string{"Chart.yaml": weekend, "templates/a.yaml": weekend, ".github/a.yaml": none},
		},
		"a chart of a windowed branch that no Flux Kustomization tracks": {
			map[string]string{
				"clusters/prod/ks.yaml":  ks("apps", "./apps", "flux-system"),
				"clusters/prod/rw.yaml":  gitRepository("rw", "rw/a"),
				"apps/r.yaml":            object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chart: {spec: {chart: charts/web, sourceRef: {kind: GitRepository, name: rw}}}}"),
				"charts/web/values.yaml": "a: b\n",
			},
			map[string]string{"charts/web/values.yaml": "branch:rw/a", "clusters/prod/rw.yaml": "night", "apps/r.yaml": "night", "clusters/prod/ks.yaml": live},
		},
		"a chart of a windowed branch for two releases, with variables": {
			map[string]string{
				"clusters/prod/ks.yaml":   strings.Replace(ks("apps", "./apps", "flux-system"), "spec: {", "spec: {postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}, ", 1),
				"clusters/prod/rw.yaml":   gitRepository("rw", "rw/a"),
				"clusters/prod/vars.yaml": strings.Replace(configMap, "name: cm", "name: vars, namespace: flux-system", 1) + "data: {TAG: a}\n",
				"apps/r.yaml":             object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{values: {tag: \"${TAG}\"}, chart: {spec: {chart: charts/web, sourceRef: {kind: GitRepository, name: rw}}}}"),
				"apps/s.yaml":             object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "s", "{chart: {spec: {chart: charts/web, sourceRef: {kind: GitRepository, name: rw}}}}"),
				"charts/web/values.yaml":  "a: b\n",
			},
			map[string]string{"charts/web/values.yaml": "branch:rw/a", "apps/r.yaml": "night", "apps/s.yaml": "night", "clusters/prod/vars.yaml": "night"},
		},
		"a chart of a source that somebody else makes": {
			map[string]string{
				"clusters/prod/ks.yaml":  heldKs("./apps", "GitRepository", "flux-system"),
				"apps/r.yaml":            object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chart: {spec: {chart: charts/web, sourceRef: {kind: GitRepository, name: made}}}}"),
				"charts/web/values.yaml": "a: b\n",
			},
			map[string]string{"charts/web/values.yaml": weekend},
		},
		"a chart of a source that somebody else makes, in a windowed branch": {
			map[string]string{
				"clusters/prod/ks.yaml":  ks("apps", "./apps", "rw"),
				"clusters/prod/rw.yaml":  gitRepository("rw", "rw/a"),
				"apps/r.yaml":            object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{chart: {spec: {chart: charts/web, sourceRef: {kind: GitRepository, name: made}}}}"),
				"charts/web/values.yaml": "a: b\n",
			},
			map[string]string{"charts/web/values.yaml": "branch:rw/a night", "apps/r.yaml": "branch:rw/a"},
		},
		"a windowed branch laid over another one": {
			map[string]string{
				"clusters/prod/ks.yaml":     ks("apps", "./apps", "both"),
				"clusters/prod/source.yaml": sourceObject("GitRepository", "both", "{"+fleet+", ref: {branch: main}, include: [{repository: {name: rw}, fromPath: lib, toPath: apps/lib}]}"),
				"clusters/prod/rw.yaml":     gitRepository("rw", "rw/a"),
				"apps/kustomization.yaml":   "resources: [a.yaml, lib/b.yaml]\n",
				"apps/a.yaml":               configMap, "lib/b.yaml": configMap, "lib/c.yaml": configMap,
			},
			map[string]string{
				"clusters/prod/ks.yaml": "night", "clusters/prod/source.yaml": "night", "clusters/prod/rw.yaml": "night",
				"apps/a.yaml": "branch:rw/a night", "lib/b.yaml": "branch:rw/a", "lib/c.yaml": none,
			},
		},
		"what a Flux Kustomization refers to itself": {
			map[string]string{
				"clusters/prod/ks.yaml":  object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "held", "{path: ./apps, sourceRef: {kind: GitRepository, name: flux-system}, decryption: {provider: sops, secretRef: {name: age}}}"),
				"clusters/prod/age.yaml": secret("age"),
				"apps/a.yaml":            configMap,
			},
			map[string]string{"clusters/prod/age.yaml": weekend, "apps/a.yaml": weekend},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system")
			for file, content := range c.tree {
				if strings.HasPrefix(name, "an artifact of ") {
					content = strings.Replace(content, "sourceRef: {kind: GitRepository, name: x}", "sourceRef: {kind: ExternalArtifact, name: x}", 1)
				}
				text += "-- " + file + " --\n" + content
			}
			p := parse(t, sourcesFile)
			g := New(p, clusters(t, p, text))
			for file, want := range c.want {
				got := none
				if c, ok := g.Reads(file); ok {
					var names []string
					for _, r := range c.Releases {
						names = append(names, string(r))
					}
					slices.Sort(names)
					got = strings.Join(names, " ")
				}
				if got != want {
					t.Errorf("%s: %s, want %s", file, got, want)
				}
			}
		})
	}
}

// TestRedefinedElsewhere: what takes the definition of a windowed entry point that reads elsewhere away, or the state that a live parent reads, waits, too.
func TestRedefinedElsewhere(t *testing.T) {
	p := parse(t, sourcesFile)
	base := "-- clusters/prod/main.yaml --\n" + gitRepository("flux-system", "main") +
		"-- clusters/prod/oci.yaml --\n" + sourceObject("OCIRepository", "apps", "{url: oci://example.com/apps}") +
		"-- clusters/prod/parent.yaml --\n" + ks("parent", "./parent", "team") +
		"-- clusters/prod/team.yaml --\n" + gitRepository("team", "main") +
		"-- parent/ks.yaml --\n" + heldKs("./", "OCIRepository", "apps")
	list := "-- clusters/prod/kustomization.yaml --\nresources: [main.yaml, oci.yaml, parent.yaml, team.yaml]\n"
	patched := func(version string) string {
		return list + "patchesJson6902: [{target: {name: parent, version: " + version + "}, patch: '[{\"op\": \"replace\", \"path\": \"/spec/path\", \"value\": \"./none\"}]'}]\n"
	}
	for name, c := range map[string]struct{ before, after, file string }{
		"it is in no list any more":       {base + list, base + strings.Replace(list, "parent.yaml, ", "", 1), "clusters/prod/kustomization.yaml"},
		"a patch is for another version":  {base + patched("v1"), base + patched("v1beta2"), "clusters/prod/kustomization.yaml"},
		"its parent reads another branch": {base, strings.Replace(base, gitRepository("team", "main"), gitRepository("team", "next"), 1), "clusters/prod/team.yaml"},
	} {
		g := New(p, clusters(t, p, c.before), clusters(t, p, c.after))
		if h, ok := g.Holds(c.file); !ok || fmt.Sprint(h.Releases) != "[weekend]" {
			t.Errorf("%s: %v %v", name, h, ok)
		}
	}
}

// TestLeafChecks: an entry of entrypoints may name an entry point that reads elsewhere; its definition is what nothing holds then.
func TestLeafChecks(t *testing.T) {
	tree := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system") +
		"-- clusters/prod/oci.yaml --\n" + sourceObject("OCIRepository", "apps", "{url: oci://example.com/apps}") + heldKs("./deploy", "OCIRepository", "apps")
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"by its name":     {sourcesFile, nil},
		"not by its path": {strings.Replace(sourcesFile, "flux-system/held", "deploy", 1), []string{"entry-point-matches-nothing"}},
		"unheld":          {strings.Replace(sourcesFile, "version: 1", "version: 1\nmode: observe", 1), []string{"enforced"}},
	} {
		p := parse(t, c.file)
		var got []string
		for _, n := range New(p, clusters(t, p, tree)).Check(nil, nil) {
			if n.Code != codeUnfollowed && n.Code != codeUnmatched {
				got = append(got, n.Code)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
