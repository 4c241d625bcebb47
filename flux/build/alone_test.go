package build

import (
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// things is an API of which kustomize knows only by a schema that its objects are in no namespace.
const things = `{"definitions": {}, "paths": {"/apis/example.com/v1/things/{name}": {"get": {"x-kubernetes-action": "get",
	"x-kubernetes-group-version-kind": {"group": "example.com", "kind": "Thing", "version": "v1"}}}}}`

// containers is a Deployment, a patch for its second container, and what names the object by that one: only who knows the API merges the list.
const containers = `-- containers/list/kustomization.yaml --
resources: [deployment.yaml]
patches:
  - patch: |-
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: a}
      spec: {template: {spec: {containers: [{name: b, image: patched}]}}}
replacements:
  - source: {kind: Deployment, fieldPath: "spec.template.spec.containers.[name=a].image"}
    targets: [{select: {kind: Deployment}, fieldPaths: [metadata.name]}]
-- containers/list/deployment.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec: {template: {spec: {containers: [{name: a, image: one}, {name: b, image: two}]}}}
-- containers/known/kustomization.yaml --
resources: [../list]
-- containers/loaded/kustomization.yaml --
resources: [../list]
openapi: {path: ../../things.json}
`

// TestAlone: what an entry makes does not depend on what was built before it by the same child: neither by the schema that another one loads, nor by
// how deep it stands below one.
func TestAlone(t *testing.T) {
	var deep strings.Builder // above/0 leads to above/1, and so on
	for i := range 60 {
		deep.WriteString("-- deep/" + strings.Repeat("x", i+1) + "/kustomization.yaml --\nresources: [../" + strings.Repeat("x", i+2) + "]\n")
	}
	tree := newFiles()
	for name, file := range archive("-- schema/kustomization.yaml --\nopenapi: {path: ../things.json}\nresources: [../thing]\n-- things.json --\n" + things +
		"\n" + containers + "-- base/kustomization.yaml --\nresources: [../schema]\n-- thing/kustomization.yaml --\nresources: [thing.yaml]\n-- thing/thing.yaml --\n" +
		"apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\n" + deep.String() +
		"-- deep/" + strings.Repeat("x", 61) + "/kustomization.yaml --\nresources: [../../thing]\n") {
		tree.add(name, file.Data, false)
	}
	tree.sort()
	entries := []Entry{{Path: "schema"}, {Path: "base"}, {Path: "deep/" + strings.Repeat("x", 50)}, {Path: "deep/x"}, {Path: "thing"}, {Path: "containers/known"}, {Path: "containers/loaded"}}
	alone := map[string]string{}
	for i := range entries {
		entries[i].TargetNamespace = "here"
		openapi.ResetOpenAPI()
		alone[entries[i].Path] = linesOf(newBuilder(tree, Limits{}.filled()).build(entries[i]))
	}
	if !strings.Contains(alone["schema"], "Thing /a") || !strings.Contains(alone["thing"], "Thing here/a") || !strings.Contains(alone["deep/x"], wordDeep) {
		t.Fatalf("%q", alone)
	}
	for _, first := range entries {
		for _, second := range entries {
			openapi.ResetOpenAPI()
			b := newBuilder(tree, Limits{}.filled())
			b.build(first)
			if got := linesOf(b.build(second)); got != alone[second.Path] {
				t.Errorf("%s after %s: %s, alone: %s", second.Path, first.Path, got, alone[second.Path])
			}
		}
	}
}

// linesOf is an outcome on lines, for people.
func linesOf(o outcome) string {
	r := Result{Err: o.Err}
	for _, m := range o.Objects {
		r.Objects = append(r.Objects, m.Object)
	}
	return lines(r)
}
