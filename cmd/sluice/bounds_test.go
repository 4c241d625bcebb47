package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/internal/race"
)

// boundedFile is rules by which one Flux Kustomization is windowed, and what nobody is known to read is ignored.
const boundedFile = `version: 1
timezone: UTC
windows:
  nights: {open: "0 22 * * *", duration: 4h}
layout:
  flux: true
  entrypoints:
    - {where: flux-system/apps-rw, release: nights}
`

// boundedSync is a cluster as flux bootstrap writes it.
const boundedSync = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: "https://github.com/acme/fleet", ref: {branch: main}}
---
` + boundedEntry + "\n" + `  name: flux-system
  namespace: flux-system
spec:
  path: %s
  sourceRef: {kind: GitRepository, name: flux-system}
`

const boundedEntry = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:"

// entryOf is a Flux Kustomization, with more of its spec.
func entryOf(name, path, more string) string {
	return fmt.Sprintf("---\n%s {name: %s, namespace: flux-system}\nspec: {path: %q, sourceRef: {kind: GitRepository, name: flux-system}%s}\n", boundedEntry, name, path, more)
}

func configMap(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: a}\n", name)
}

// bounded is a tree with a windowed Flux Kustomization, and whatever else is in it. A file that begins with a line of its size is as
// large, and says nothing.
func bounded(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	all := map[string]string{
		".github/sluice.yaml":              boundedFile,
		"clusters/one/flux/gotk-sync.yaml": fmt.Sprintf(boundedSync, "./clusters/one"),
		"clusters/one/apps.yaml":           entryOf("apps-rw", "./apps/rw", ""),
		"apps/rw/kustomization.yaml":       "resources: [cm.yaml]\n",
		"apps/rw/cm.yaml":                  configMap("a"),
		"clusters/one/kustomization.yaml":  "resources: [flux/gotk-sync.yaml, apps.yaml]\n",
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		size := int64(0)
		if _, err := fmt.Sscanf(text, "size %d", &size); err == nil {
			text = ""
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, max(size, int64(len(text)))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// many is a text for each number up to one.
func many(n int, text string) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(strings.NewReplacer("##", fmt.Sprint(i+1), "#", fmt.Sprint(i)).Replace(text))
	}
	return out.String()
}

// trees is files for each number up to one.
func trees(n int, name, text string) map[string]string {
	out := map[string]string{}
	for i := range n {
		number := strings.NewReplacer("##", fmt.Sprint(i+1), "#", fmt.Sprint(i))
		out[number.Replace(name)] = number.Replace(text)
	}
	return out
}

// TestBounds: what a user sees of a bound that is met, and that what stands behind it is not silently free: all commands that read the
// references refuse the tree, or check has an error, and the file that says more than is read of it is held.
func TestBounds(t *testing.T) {
	const list = "apps/rw/kustomization.yaml"
	for name, c := range map[string]struct {
		files   map[string]string
		want    string // of check
		refused bool   // by every command; else check has an error
		held    string // a file that waits for the window whoever reads it; "": none
	}{
		"entries of a list":            {files: map[string]string{list: "resources:\n" + many(manifest.MaxList, "- cm.yaml\n") + "- more.yaml\n", "apps/rw/more.yaml": configMap("b")}, want: "resources has more than 2000 entries", held: list},
		"entries of a list of objects": {files: map[string]string{"clusters/one/apps.yaml": entryOf("apps-rw", "./apps/rw", ", components: ["+many(manifest.MaxList, "../c, ")+"../d]"), "apps/c/kustomization.yaml": "kind: Component\n", "apps/d/kustomization.yaml": "kind: Component\n"}, want: "spec.components has more than 2000 entries", held: "clusters/one/apps.yaml"},
		"items of a List":              {files: map[string]string{"apps/rw/cm.yaml": "apiVersion: v1\nkind: List\nitems:\n" + many(manifest.MaxList+1, "- {kind: A}\n")}, want: "items has more than 2000 entries", held: "apps/rw/cm.yaml"},
		"a List in a List":             {files: map[string]string{"apps/rw/cm.yaml": strings.Repeat("{apiVersion: v1, kind: List, items: [", manifest.MaxNested+2) + "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}" + strings.Repeat("]}", manifest.MaxNested+2) + "\n"}, want: "items is nested more than 8 deep", held: "apps/rw/cm.yaml"},
		"a kustomization.yaml":         {files: map[string]string{list: "resources: [cm.yaml]\n#" + strings.Repeat("x", manifest.MaxDoc)}, want: "a document has more than 256 KiB", held: list},
		"a kustomization.yaml below":   {files: map[string]string{list: "resources: [../base]\n", "apps/base/kustomization.yaml": "resources: [cm.yaml]\n#" + strings.Repeat("x", manifest.MaxDoc), "apps/base/cm.yaml": configMap("b")}, want: "apps/base/kustomization.yaml:1: a document has more than 256 KiB", held: "apps/base/kustomization.yaml"},
		"a component that is large":    {files: map[string]string{list: "components: [../base]\n", "apps/base/kustomization.yaml": "kind: Component\n#" + strings.Repeat("x", manifest.MaxDoc)}, want: "apps/base/kustomization.yaml:1: a document has more than 256 KiB", held: "apps/base/kustomization.yaml"},
		"a file":                       {files: map[string]string{"apps/rw/cm.yaml": fmt.Sprint("size ", manifest.MaxFile+1)}, want: "it has more than 4096 KiB", held: "apps/rw/cm.yaml"},
		"keys of a section":            {files: map[string]string{"apps/rw/cm.yaml": "kind: HelmRelease\nspec: {chartRef: {a: b}}\nmetadata:\n  labels:\n" + many(manifest.MaxKeys+1, "    a#: b\n")}, want: "a section has more than 1000 keys", held: "apps/rw/cm.yaml"},
		"operations of a patch":        {files: map[string]string{list: "resources: [cm.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n" + many(manifest.MaxList+1, "    - {op: add, path: /data/a, value: b}\n")}, want: "the patch was not read: patch has more than 2000 entries"},
		"a patch":                      {files: map[string]string{list: "resources: [cm.yaml]\npatches: [{path: p.txt, target: {kind: ConfigMap}}]\n", "apps/rw/p.txt": "- {op: test, path: /kind, value: ConfigMap}\n#" + strings.Repeat("x", manifest.MaxDoc)}, want: "the patch was not read: a document has more than 256 KiB"},
		"objects of one name":          {files: map[string]string{"clusters/one/s.yaml": many(graph.MaxClusters+1, "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: rw, namespace: flux-system}\n"), "clusters/one/kustomization.yaml": "resources: [flux/gotk-sync.yaml, apps.yaml, s.yaml]\n"}, want: "more than 500 times"},
		"copies of an artifact":        {files: map[string]string{"apps/rw/cm.yaml": "apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: a, namespace: a}\nspec: {sources: [{alias: a, kind: GitRepository, name: b}], artifacts: [{name: c, copy: [" + many(manifest.MaxList+1, "{from: '@a/#', to: '@artifact/'},") + "]}]}\n"}, want: "copy has more than 2000 entries"},
		"variables that are too many":  {files: map[string]string{"clusters/one/apps.yaml": entryOf("apps-rw", "./apps/${where}", ", postBuild: {substitute: {"+many(manifest.MaxKeys+1, "a#: b, ")+"where: rw}}")}, want: "a section has more than 1000 keys", held: "clusters/one/apps.yaml"},
		"a large ConfigMap of variables": {files: map[string]string{
			"clusters/one/kustomization.yaml": "resources: [flux/gotk-sync.yaml, ks.yaml]\n", "clusters/one/ks.yaml": entryOf("ks", "./ks", ", postBuild: {substituteFrom: [{kind: ConfigMap, name: v}]}"),
			"ks/apps.yaml": entryOf("apps-rw", "./apps/${where}", ""), "ks/v.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: v, namespace: flux-system}\ndata:\n  where: rw\n" + many(manifest.MaxConfig/8, "  a#: bbbb\n"),
		}, want: "flux-system/apps-rw of one is windowed and reads no file: the value of where is not known"},
		"objects that lead to a source": {files: map[string]string{
			"clusters/one/apps.yaml": strings.Replace(entryOf("apps-rw", "./apps/rw", ""), "name: flux-system}}", "name: s0}}", 1) + many(graph.MaxUses+2,
				"---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: s#, namespace: flux-system}\nspec: {url: https://github.com/acme/fleet, ref: {branch: main}, include: [{repository: {name: s##}}]}\n"),
		}, want: "sources are put together"},
		"a URL": {files: map[string]string{
			"clusters/one/apps.yaml": strings.Replace(entryOf("apps-rw", "./apps/rw", ""), "name: flux-system}}", "name: s}}", 1) +
				"---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: s, namespace: flux-system}\nspec: {url: 'https://github.com/acme/fleet?" + strings.Repeat("x", 2048) + "', ref: {branch: main}}\n",
		}, want: "a URL has more than 2048 bytes", held: "apps/rw/cm.yaml"},
		"problems":                     {files: with(trees(manifest.MaxProblems+1, "aaa/#.yaml", "kind: List\n@"), map[string]string{"apps/rw/cm.yaml": "kind: List\n@"}), want: "apps/rw/cm.yaml:1: not valid YAML", held: "apps/rw/cm.yaml"},
		"problems that somebody reads": {files: with(trees(manifest.MaxProblems+1, "apps/rw/#.yaml", "kind: List\n@"), map[string]string{list: "resources:\n" + many(manifest.MaxProblems+1, "- #.yaml\n")}), want: "not valid YAML", held: "apps/rw/200.yaml"},

		"clusters":                         {files: trees(graph.MaxClusters, "fleet/#/gotk-sync.yaml", fmt.Sprintf(boundedSync, "./fleet/#")), want: "more than 500 clusters", refused: true},
		"lists of resources that lead on":  {files: with(trees(kustomize.MaxDepth+2, "deep/#/kustomization.yaml", "resources: [../##]\n"), map[string]string{list: "resources: [../../deep/0]\n"}), want: "more than 50 levels deep", refused: true},
		"Flux Kustomizations that lead on": {files: with(trees(kustomize.MaxDepth+2, "deep/#/ks.yaml", entryOf("ks-#", "./deep/##", "")), map[string]string{"clusters/one/apps.yaml": entryOf("ks", "./deep/0", "")}), want: "more than 50 levels deep", refused: true},
	} {
		if !race.Some(2) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := bounded(t, c.files)
			stdout, stderr, code := sluice("check", dir)
			found := ""
			for line := range strings.Lines(stdout) {
				if strings.Contains(line, ": error: ") && strings.Contains(line, c.want) {
					found = line
				}
			}
			if code != 1 || found == "" {
				t.Errorf("check: code %d, says %s%s", code, stdout, stderr)
			}
			if c.refused {
				for _, call := range [][]string{{"classify", "--repo", dir, "a"}, {"graph", dir}, {"render", "suspend", dir}, {"render", "flux", dir}, {"init", "--force", dir}} {
					if _, stderr, code := sluice(call...); code != 2 || !strings.Contains(stderr, c.want) {
						t.Errorf("%v: code %d, says %s", call, code, stderr)
					}
				}
			}
			if c.held == "" {
				return
			}
			if stdout, stderr, code := sluice("classify", "--repo", dir, c.held); code != 1 || !strings.Contains(stdout, "held") {
				t.Errorf("classify: code %d, says %s%s", code, stdout, stderr)
			}
			if _, stderr, code := sluice("render", "suspend", "--image", "x", dir); code != 1 || !strings.Contains(stderr, c.want) {
				t.Errorf("render suspend: code %d, says %s", code, stderr)
			}
		})
	}
}

// with is the files of both.
func with(a, b map[string]string) map[string]string {
	for name, text := range b {
		a[name] = text
	}
	return a
}
