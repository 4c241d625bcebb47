package build

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"
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

// BenchmarkLarge is a repository of 1,763 files and 74 entry points: as before, one entry after the other; then by all processors, and what is kept of it, when
// nothing, one file of one team, and the base that all apps read has changed. It gives the seconds, how many times as fast as before that is, and the
// most memory that this process and its children had together.
func BenchmarkLarge(b *testing.B) {
	j := large(b)
	once := func() {
		results, err := j.Run(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for i, r := range results {
			if r.Err != "" || len(r.Objects) == 0 {
				b.Fatalf("%s: %d objects, %s", j.Entries[i].Path, len(r.Objects), r.Err)
			}
		}
	}
	was := runtime.GOMAXPROCS(1) // one child
	before := measure(once)
	runtime.GOMAXPROCS(was)
	b.Logf("one after the other, nothing kept: %+v", before)
	j.Cache = NewCache(filepath.Join(b.TempDir(), "c"), used)
	defer j.Cache.Close()
	tree := j.Tree.(fstest.MapFS)
	for _, step := range []struct{ name, change string }{
		{"cold", ""}, {"warm", ""}, {"one-team", "apps/team-001/env-0/app-0.yaml"}, {"warm-again", ""}, {"base-of-all", "apps/common/account.yaml"},
	} {
		b.Run(step.name, func(b *testing.B) {
			if f := tree[step.change]; f != nil {
				tree[step.change] = &fstest.MapFile{Data: append(slices.Clone(f.Data), "# changed\n"...), Mode: 0o644}
			}
			is := measure(once)
			b.ReportMetric(is.seconds, "s")
			b.ReportMetric(is.processor, "processor-s")
			b.ReportMetric(before.seconds/is.seconds, "times-as-fast")
			b.ReportMetric(before.processor/max(is.processor, 0.001), "times-as-cheap")
			b.ReportMetric(float64(is.mebibytes), "MiB")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// taken is what something takes: by the clock, of the processors, and the most memory that this process and its children had together at one time.
type taken struct {
	seconds, processor float64
	mebibytes          int64
}

// measure is what something takes, as far as the system says so.
func measure(run func()) (c taken) {
	done, found := make(chan struct{}), make(chan int64)
	go func() {
		var most int64
		for {
			select {
			case <-done:
				found <- most
				return
			case <-time.After(10 * time.Millisecond):
				most = max(most, resident())
			}
		}
	}()
	start, before := time.Now(), spent()
	run()
	c.seconds, c.processor = time.Since(start).Seconds(), (spent() - before).Seconds()
	close(done)
	c.mebibytes = <-found >> 20
	return c
}

// resident is the memory of this process and its children, in bytes.
func resident() (sum int64) {
	self := fmt.Sprint(os.Getpid())
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		text, _ := os.ReadFile(file)
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after)
		if len(fields) < 22 || fields[1] != self && path.Base(path.Dir(file)) != self {
			continue
		}
		pages, _ := strconv.ParseInt(fields[21], 10, 64)
		sum += pages * int64(os.Getpagesize())
	}
	return sum
}
