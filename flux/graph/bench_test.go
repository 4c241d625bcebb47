package graph_test

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluicegate/sluice/flux/graph"
)

// fleet is a repository of 25 clusters with 20 entry points each, and bases that they share: 20,000 files.
func fleet() fstest.MapFS {
	texts := map[string]string{}
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-%d\n  labels: {app: web}\nspec:\n  replicas: 2\n  selector:\n    matchLabels: {app: web}\n" +
		"  template:\n    metadata:\n      labels: {app: web}\n    spec:\n      containers:\n        - name: web\n          image: registry/web:1.2.3\n          ports:\n            - containerPort: 8080\n" +
		"          env:\n            - {name: A, value: b}\n          resources:\n            limits: {cpu: 100m, memory: 100Mi}\n            requests: {cpu: 100m, memory: 100Mi}\n"
	const service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web-%d\nspec:\n  selector: {app: web}\n  ports:\n    - port: 80\n      targetPort: 8080\n"
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web-%d\ndata:\n  a: b\n  c: d\n  file.conf: |\n    listen 80;\n    root /srv;\n    index index.html;\n"
	const helm = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: web-%d\nspec:\n  interval: 10m\n  chart:\n    spec:\n      chart: web\n      version: 1.2.3\n" +
		"      sourceRef: {kind: HelmRepository, name: charts, namespace: flux-system}\n  values:\n    replicas: 2\n    ingress:\n      enabled: true\n      hosts: [a.example.com, b.example.com]\n    resources:\n      limits: {cpu: 100m}\n"
	kinds := []string{deployment, service, config, deployment, service, helm, deployment, service, config, "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: web-%d}\nrules:\n  - apiGroups: ['']\n    resources: [pods]\n    verbs: [get, list]\n"}
	unit := func(dir string, n int, head string) {
		var list strings.Builder
		list.WriteString(head + "resources:\n")
		for i := range n {
			fmt.Fprintf(&list, "  - f%d.yaml\n", i)
			texts[fmt.Sprintf("%s/f%d.yaml", dir, i)] = fmt.Sprintf(kinds[i%len(kinds)], i)
		}
		texts[dir+"/kustomization.yaml"] = list.String()
	}
	for b := range 100 {
		unit(fmt.Sprintf("base/b%d", b), 10, "")
	}
	for c := range 25 {
		var ks strings.Builder
		for e := range 20 {
			fmt.Fprintf(&ks, "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: e%d, namespace: flux-system}\nspec:\n  interval: 10m\n  path: ./deploy/c%d/e%d\n  prune: true\n"+
				"  sourceRef: {kind: GitRepository, name: flux-system}\n  postBuild:\n    substitute: {cluster: c%d}\n---\n", e, c, e, c)
			unit(fmt.Sprintf("deploy/c%d/e%d", c, e), 34, fmt.Sprintf("namespace: n%d\nbases: [../../../base/b%d, ../../../base/b%d, ../../../base/b%d]\npatches:\n  - path: p.txt\n    target: {kind: HelmRelease}\nconfigMapGenerator:\n  - name: x\n    files: [x.txt]\n",
				e, e, (e+c)%100, (e+c+50)%100))
			texts[fmt.Sprintf("deploy/c%d/e%d/p.txt", c, e)] = "spec:\n  interval: 5m\n"
			texts[fmt.Sprintf("deploy/c%d/e%d/x.txt", c, e)] = "a=b\n"
		}
		texts[fmt.Sprintf("clusters/c%d/apps.yaml", c)] = ks.String()
		texts[fmt.Sprintf("clusters/c%d/flux-system/gotk-sync.yaml", c)] = fmt.Sprintf("apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {url: 'https://github.com/acme/fleet', ref: {branch: main}}\n---\n"+
			"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {path: ./clusters/c%d, sourceRef: {kind: GitRepository, name: flux-system}}\n", c)
	}
	return files(texts)
}

// BenchmarkCold is a tree that is read, and its clusters.
func BenchmarkCold(b *testing.B) {
	tree := newMemory(fleet())
	for b.Loop() {
		g, err := graph.Read(tree)
		if err != nil || len(g.Clusters(nil)) != 25 || len(g.Problems) > 0 {
			b.Fatal(err, g.Problems)
		}
	}
	b.ReportMetric(float64(len(tree.MapFS)), "files")
}

func BenchmarkRead(b *testing.B) {
	tree := newMemory(fleet())
	for b.Loop() {
		g, err := graph.Read(tree)
		if err != nil || len(g.Problems) > 0 {
			b.Fatal(err, g.Problems)
		}
	}
}

func BenchmarkClusters(b *testing.B) {
	tree := newMemory(fleet())
	for b.Loop() {
		b.StopTimer()
		g, _ := graph.Read(tree)
		b.StartTimer()
		if clusters := g.Clusters(nil); len(clusters) != 25 || len(g.Problems) > 0 {
			b.Fatal(len(clusters), g.Problems)
		}
	}
}

// BenchmarkHeld is the memory that a tree and its clusters hold.
func BenchmarkHeld(b *testing.B) {
	tree := newMemory(fleet())
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		g, _ := graph.Read(tree)
		clusters := g.Clusters(nil)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB-held")
		runtime.KeepAlive(clusters)
		runtime.KeepAlive(g)
	}
}

// BenchmarkAgain is one file that changes: of one entry point, of a base that many share, with and without a change of what is known of it, of a
// cluster's definitions, and a new one.
func BenchmarkAgain(b *testing.B) {
	for name, change := range map[string]func(string) string{
		"deploy/c3/e4/f5.yaml":       func(s string) string { return "\n" + s },
		"base/b7/f1.yaml":            func(s string) string { return "\n" + s },
		"base/b7/kustomization.yaml": func(s string) string { return s + "nameSuffix: -x\n" },
		"clusters/c9/apps.yaml":      func(s string) string { return "\n" + s },
		"deploy/c3/e4/new.yaml":      func(string) string { return "# new\n" },
	} {
		b.Run(name, func(b *testing.B) {
			tree := newMemory(fleet())
			g, err := graph.Read(tree)
			if err != nil {
				b.Fatal(err)
			}
			g.Clusters(nil)
			tree.set(name, change(string(tree.text(name))))
			for b.Loop() {
				next, err := g.Again(tree, []string{name})
				if err != nil || len(next.Clusters(nil)) != 25 || len(next.Problems) > 0 {
					b.Fatal(err, next.Problems)
				}
			}
		})
	}
}

// memory is a tree in memory that lists a directory without looking at all others.
type memory struct {
	fstest.MapFS
	dirs map[string][]fs.DirEntry
}

func newMemory(files fstest.MapFS) *memory {
	m := &memory{files, map[string][]fs.DirEntry{}}
	seen := map[string]bool{".": true}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		dir := path.Dir(name)
		m.dirs[dir] = append(m.dirs[dir], fs.FileInfoToDirEntry(info(path.Base(name))))
		for ; !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			m.dirs[path.Dir(dir)] = append(m.dirs[path.Dir(dir)], fs.FileInfoToDirEntry(folder{info(path.Base(dir))}))
		}
	}
	for _, list := range m.dirs {
		slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return m
}

func (m *memory) text(name string) []byte {
	if f := m.MapFS[name]; f != nil {
		return f.Data
	}
	return nil
}

func (m *memory) set(name, text string) {
	m.MapFS = maps.Clone(m.MapFS)
	if m.MapFS[name] == nil {
		m.dirs[path.Dir(name)] = append(m.dirs[path.Dir(name)], fs.FileInfoToDirEntry(info(path.Base(name))))
	}
	m.MapFS[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
}

// ReadDir lists a directory.
func (m *memory) ReadDir(name string) ([]fs.DirEntry, error) { return m.dirs[name], nil }

// info is a file's.
type info string

func (i info) Name() string     { return string(i) }
func (info) Size() int64        { return 0 }
func (info) Mode() fs.FileMode  { return 0o644 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return false }
func (info) Sys() any           { return nil }

// folder is a directory's.
type folder struct{ info }

func (folder) Mode() fs.FileMode { return fs.ModeDir | 0o755 }
func (folder) IsDir() bool       { return true }
