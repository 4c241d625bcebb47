package build

import (
	"fmt"
	"path"
	"testing"
	"testing/fstest"
)

// fleet is a tree of entries, each with a kustomization.yaml, so many files of its own, a patch and a generator.
func fleet(entries, files int) (fstest.MapFS, []Entry) {
	tree := fstest.MapFS{}
	put := func(name, text string) { tree[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644} }
	var out []Entry
	for i := range entries {
		dir := fmt.Sprintf("apps/app-%03d", i)
		resources := ""
		for j := range files - 3 {
			file := fmt.Sprintf("object-%02d.yaml", j)
			resources += "  - " + file + "\n"
			put(path.Join(dir, file), objectText(i, j))
		}
		put(path.Join(dir, "patch.yaml"), "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web-0}\nspec: {replicas: 3}\n")
		put(path.Join(dir, "values.yaml"), "a: b\nc: d\n")
		put(path.Join(dir, "kustomization.yaml"), "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n"+resources+
			"patches:\n  - path: patch.yaml\nconfigMapGenerator:\n  - name: values\n    files: [values.yaml]\n")
		out = append(out, Entry{Path: dir, TargetNamespace: fmt.Sprintf("app-%03d", i)})
	}
	return tree, out
}

// objectText is an object of the size that objects have.
func objectText(i, j int) string {
	if j%2 == 1 {
		return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config-%d\n  labels: {app: app-%d}\ndata:\n  a: \"1\"\n  b: |\n    some text\n    and more\n", j, i)
	}
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-%d
  labels: {app: app-%d}
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
        - name: web
          image: registry.example.com/web:1.%d
          ports: [{containerPort: 8080}]
          env:
            - {name: A, value: "1"}
            - name: B
              valueFrom: {configMapKeyRef: {name: values, key: values.yaml}}
          resources:
            requests: {cpu: 100m, memory: 64Mi}
            limits: {memory: 128Mi}
`, j, i, j)
}

// BenchmarkBuild builds all entries of a repository of 20,000 files; the time counts the children from their start to their end.
func BenchmarkBuild(b *testing.B) {
	tree, entries := fleet(500, 40)
	files := all(b, tree)
	for b.Loop() {
		results, err := Run(b.Context(), command(), tree, files, entries, Limits{})
		if err != nil {
			b.Fatal(err)
		}
		for i, r := range results {
			if r.Err != "" || len(r.Objects) != 38 {
				b.Fatalf("%s: %d objects, %s", entries[i].Path, len(r.Objects), r.Err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*len(entries)), "ms/entry")
}

// BenchmarkOne is what one entry of it takes: a child is started, and reads the tree.
func BenchmarkOne(b *testing.B) {
	tree, entries := fleet(500, 40)
	files := all(b, tree)
	for b.Loop() {
		if _, err := Run(b.Context(), command(), tree, files, entries[:1], Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
