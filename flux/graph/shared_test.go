package graph_test

import (
	"reflect"
	"testing"
	"testing/fstest"

	"github.com/sluicegate/sluice/flux/graph"
)

// Two clusters apply one shared Kustomization; a file below its path changes.
func TestAgainShared(t *testing.T) {
	ks := "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: infra, namespace: flux-system}\nspec:\n  path: ./infra\n  sourceRef: {kind: GitRepository, name: flux-system}\n"
	sync := func(p string) string {
		return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {url: https://example.org/r, ref: {branch: main}}\n---\n" +
			"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\nspec:\n  path: " + p + "\n  sourceRef: {kind: GitRepository, name: flux-system}\n"
	}
	f := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	before := fstest.MapFS{
		"clusters/a/kustomization.yaml":         f("resources: [../../shared, flux-system]\n"),
		"clusters/b/kustomization.yaml":         f("resources: [../../shared, flux-system]\n"),
		"clusters/a/flux-system/gotk-sync.yaml": f(sync("./clusters/a")),
		"clusters/b/flux-system/gotk-sync.yaml": f(sync("./clusters/b")),
		"shared/kustomization.yaml":             f("resources: [ks.yaml]\n"),
		"shared/ks.yaml":                        f(ks),
		"infra/kustomization.yaml":              f("resources: [../more]\n"),
		"more/kustomization.yaml":               f("resources: [y.yaml]\n"),
		"more/z.yaml":                           f("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: z}\n"),
		"infra/x.yaml":                          f("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"),
		"more/y.yaml":                           f("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\n"),
	}
	after := fstest.MapFS{}
	for n, d := range before {
		after[n] = d
	}
	after["more/kustomization.yaml"] = f("resources: [y.yaml, z.yaml]\n")
	old, err := graph.Read(before)
	if err != nil {
		t.Fatal(err)
	}
	roots := []graph.Root{{Name: "a", Path: "clusters/a"}, {Name: "b", Path: "clusters/b"}}
	old.Clusters(roots)
	again, err := old.Again(after, []string{"more/kustomization.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	fresh, _ := graph.Read(after)
	files := func(g *graph.Tree, roots []graph.Root) (out [][]string) {
		for _, c := range g.Clusters(roots) {
			for _, e := range c.Entries() {
				out = append(out, append([]string{c.Name + " " + e.Path()}, e.Files()...))
			}
		}
		return out
	}
	for _, roots := range [][]graph.Root{roots} {
		x, y := files(again, roots), files(fresh, roots)
		if !reflect.DeepEqual(x, y) {
			t.Errorf("Again:\n%q\nRead:\n%q", x, y)
		}
	}
}
