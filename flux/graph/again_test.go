package graph_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/internal/race"
)

// everything is all that is said of a tree.
type everything struct {
	Objects    []any
	Clusters   []any
	Files      []string
	Edges      []kustomize.Edge
	Contents   []string
	Digests    []string
	Influences []string
	Leaves     []kustomize.Leaf
	Problems   []manifest.Problem
}

// exported is all that a tree shows. What points from objects to the tree is left out: two trees are two.
func exported(g *graph.Tree, roots []graph.Root) everything {
	var out everything
	out.Objects = flat(g.Objects())
	clusters := slices.Concat(g.Clusters(roots), g.Clusters(nil))
	out.Leaves = graph.Leaves(clusters)
	for _, c := range clusters {
		out.Clusters = append(out.Clusters, c.Root, c.URL, c.Found, c.Place, c.Leaves, flat(c.Objects))
		for _, e := range c.Entries() {
			out.Files = append(out.Files, e.Files()...)
			out.Contents = append(out.Contents, e.Content()...)
			out.Digests = append(out.Digests, e.Digest())
			for _, file := range e.Files() {
				out.Edges = append(out.Edges, e.Chain(file)...)
			}
		}
		for _, i := range c.Influences() {
			out.Influences = append(out.Influences, fmt.Sprint(i.Edge, i.At, i.By.Path(), i.Of.Path()))
		}
	}
	out.Problems = g.Problems
	return out
}

// flat is objects without what points from one to another: that is their places.
func flat(o graph.Objects) []any {
	var out []any
	of := func(k *graph.Kustomization) string {
		if k == nil {
			return ""
		}
		return k.String()
	}
	for _, s := range o.Sources {
		plain, by := *s, of(s.Entry)
		plain.Entry = nil
		out = append(out, plain, by)
	}
	for _, k := range o.Kustomizations {
		plain, by, source := *k, of(k.Entry), ""
		if k.Source != nil {
			source = k.Source.String()
		}
		plain.Entry, plain.Source = nil, nil
		out = append(out, plain, by, source)
	}
	for _, i := range o.Instances {
		plain := *i
		plain.Entry = nil
		out = append(out, plain)
	}
	for _, j := range o.CronJobs {
		plain, by := *j, of(j.Entry)
		plain.Entry = nil
		out = append(out, plain, by)
	}
	for _, p := range o.Inputs {
		plain := *p
		plain.Entry = nil
		out = append(out, plain)
	}
	return out
}

// edit changes a few files of a tree at random, and gives their names.
func edit(r *rand.Rand, tree fstest.MapFS, texts []string, names []string) []string {
	var changed []string
	for range 1 + r.IntN(3) {
		all := slices.Sorted(maps.Keys(tree))
		name := names[r.IntN(len(names))]
		if r.IntN(3) > 0 && len(all) > 0 {
			name = all[r.IntN(len(all))]
		}
		changed = append(changed, name)
		switch r.IntN(4) {
		case 0:
			delete(tree, name)
		case 1:
			if old := tree[name]; old != nil && len(old.Data) > 0 { // a line less
				lines := strings.SplitAfter(string(old.Data), "\n")
				at := r.IntN(len(lines))
				tree[name] = &fstest.MapFile{Data: []byte(strings.Join(slices.Delete(lines, at, at+1), "")), Mode: 0o644}
			}
		default:
			tree[name] = &fstest.MapFile{Data: []byte(texts[r.IntN(len(texts))]), Mode: 0o644}
		}
	}
	return changed
}

// TestAgain: a tree of which some files were read again says what one says that was read afresh, after any edits, and the one before them says what
// it said.
func TestAgain(t *testing.T) {
	fluxtrees.Each(t, func(t *testing.T, name string) {
		tree := fstest.MapFS{}
		maps.Copy(tree, fluxtrees.Tree(t, name).(fstest.MapFS))
		var texts []string
		for _, file := range slices.Sorted(maps.Keys(tree)) {
			texts = append(texts, string(tree[file].Data))
		}
		texts = append(texts, "", "resources: [none.yaml, ../x]\n", "kind: Component\nresources: [.]\n", "{", "resources: [https://example.com/a]\n", "configMapGenerator: [{name: a, files: [a.txt]}]\n")
		names := []string{"a.yaml", "a.txt", "clusters/new/a.yaml", "clusters/new/kustomization.yaml", "x/y/z/kustomization.yml", ".github/a.yaml", ".hidden/a.yaml", "x/y.yaml", "clusters/Kustomization"}
		for _, file := range slices.Sorted(maps.Keys(tree)) {
			names = append(names, path.Join(path.Dir(file), "kustomization.yaml"), path.Join(path.Dir(file), "kustomization.yml"), path.Join(path.Dir(file), "new.yaml"))
		}
		r := rand.New(rand.NewPCG(14, uint64(len(name))))
		g := read(t, tree)
		roots := []graph.Root{{Name: "k", Path: "clusters/production"}, {Name: "x", Path: "x"}}
		before := exported(g, roots)
		for step := range race.Or(6, 25) {
			old := g
			next := maps.Clone(tree)
			changed := edit(r, next, texts, names)
			var err error
			if g, err = old.Again(next, slices.Concat(changed, unchanged(step%2*kustomize.MaxChanged))); err != nil {
				t.Fatal(err)
			}
			fresh := read(t, next)
			if !reflect.DeepEqual(g.Problems, fresh.Problems) {
				t.Fatalf("step %d, %q: problems of reading\n%v\n%v", step, changed, g.Problems, fresh.Problems)
			}
			now := exported(g, roots)
			compare(t, fmt.Sprintf("step %d, %q", step, changed), now, exported(fresh, roots))
			old.Clusters(roots)
			compare(t, "the old tree", exported(old, roots), before)
			if t.Failed() {
				return
			}
			tree, before = next, now
		}
	})
}

// unchanged is names of files that are in no tree.
func unchanged(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint("absent/", i))
	}
	return out
}

// shown is a value with everything that is exported in it.
func shown(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func compare(t *testing.T, where string, got, want everything) {
	t.Helper()
	a, b := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range a.NumField() {
		if reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			continue
		}
		if x, y := shown(t, a.Field(i).Interface()), shown(t, b.Field(i).Interface()); x != y {
			t.Errorf("%s: %s\n got %s\nwant %s", where, a.Type().Field(i).Name, x, y)
		}
	}
}

// TestAgainOthers: what a file says that no document stands in counts, too.
func TestAgainOthers(t *testing.T) {
	const root = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: f}\nspec: {path: b, sourceRef: {kind: GitRepository, name: s}}\n---\n" +
		"apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: s, namespace: f}\nspec: {url: 'https://example.com/a', recurseSubmodules: true, ref: {branch: b}}\n---\n" +
		"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: f}\nspec: {chart: {spec: {chart: charts/c, sourceRef: {kind: GitRepository, name: s}}}}\n"
	for file, texts := range map[string][2]string{
		"charts/c/Chart.yaml": {"name: c\n", "name: c\ndependencies: [{name: d, repository: 'file://../d'}]\n"},
		".gitmodules":         {"[submodule \"x\"]\npath = b/x\n", "[submodule \"x\"]\npath = b/y\n"},
	} {
		before := files(map[string]string{"k/ks.yaml": root, "b/b.yaml": job, "charts/d/values.yaml": "a: b\n", file: texts[0]})
		after := maps.Clone(before)
		after[file] = &fstest.MapFile{Data: []byte(texts[1]), Mode: 0o644}
		roots := []graph.Root{{Name: "k", Path: "k"}}
		old := read(t, before)
		first := shown(t, old.Clusters(roots)[0].Files())
		g, err := old.Again(after, []string{file})
		if err != nil {
			t.Fatal(err)
		}
		want := shown(t, read(t, after).Clusters(roots)[0].Files())
		if got := shown(t, g.Clusters(roots)[0].Files()); got != want || want == first {
			t.Errorf("%s: %s, want %s, which was %s", file, got, want, first)
		}
	}
}

// TestAgainLooks: what an entry point looked for and did not find is part of what it depends on.
func TestAgainLooks(t *testing.T) {
	const ks = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: f}\nspec: {path: %s, sourceRef: {kind: %s, name: s}}\n---\n" +
		"apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: s, namespace: f}\nspec: {url: 'https://example.com/a', ref: {branch: b}}\n---\n"
	const copies = "apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: g, namespace: f}\nspec: {artifacts: [{name: s, copy: [{from: '@r/x/**', to: '@artifact/'}]}]}\n"
	const release = "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: f}\nspec: {chart: {spec: {chart: charts/c, valuesFiles: [v.txt], sourceRef: {kind: GitRepository, name: s}}}}\n"
	for name, c := range map[string]struct{ root, file, text string }{
		"a file that was missing":         {"k/kustomization.yaml: resources: [a.yaml]", "k/a.yaml", job},
		"a directory that was missing":    {"k/kustomization.yaml: resources: [../a]", "a/kustomization.yml", "namespace: x"},
		"a directory without a list":      {"k/kustomization.yaml: resources: [../b]", "b/Kustomization", "namespace: x"},
		"a list that goes before another": {"k/kustomization.yml: namespace: x", "k/kustomization.yaml", "resources: [../b/b.yaml]"},
		"a list where there was none":     {"k/x/y.yaml: " + job, "k/x/kustomization.yaml", "namespace: x"},
		"a file of a generator":           {"k/kustomization.yaml: configMapGenerator: [{files: [k=a.txt]}]", "k/a.txt", "x"},
		"a chart that kustomize builds":   {"k/kustomization.yaml: helmCharts: [{name: c, repo: x}]", "k/charts/c/t.txt", "x"},
		"what an artifact is copied from": {"k/ks.yaml: " + fmt.Sprintf(ks, "y", "ExternalArtifact") + copies, "x/y/a.yaml", job},
		"a file of a release's chart":     {"k/ks.yaml: " + fmt.Sprintf(ks, "b", "GitRepository") + release, "charts/c/Chart.yaml", "name: c"},
		"what a source includes": {"k/ks.yaml: " + fmt.Sprintf(strings.Replace(ks, "url:", "include: [{repository: {name: t}, fromPath: x, toPath: y}], url:", 1), "y", "GitRepository") +
			"---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: t, namespace: f}\nspec: {url: 'https://example.com/a', ref: {branch: c}}\n", "x/a.yaml", job},
		"what is built elsewhere":            {"k/ks.yaml: " + fmt.Sprintf(ks, "y", "ExternalArtifact") + strings.Replace(copies, "to: '@artifact/'}", "to: '@artifact/'}, {from: '@r/b/**', to: '@artifact/y/b'}", 1), "x/y/kustomization.yaml", "resources: [b/b.yaml]"},
		"a chart that a chart depends on":    {"k/ks.yaml: " + fmt.Sprintf(ks, "b", "GitRepository") + release, "charts/c/Chart.yaml", "dependencies: [{name: d, repository: file://../../b}]"},
		"submodules":                         {"k/ks.yaml: " + fmt.Sprintf(strings.Replace(ks, "url:", "recurseSubmodules: true, url:", 1), "b", "GitRepository"), ".gitmodules", "[submodule \"x\"]\npath = b/x"},
		"a directory whose list is left out": {"k/kustomization.yaml: resources: []\x00k/.sourceignore: kustomization.yaml", "k/a.yaml", job},
		"what leaves a list out":             {"k/kustomization.yaml: resources: []\x00k/a.yaml: " + job, ".sourceignore", "kustomization.yaml"},
		"a pattern in any directory":         {"k/a.yaml: " + job + "\x00k/cloudbuild.yaml: " + job, "docs/.sourceignore", "*.md"},
		"values of a release":                {"k/ks.yaml: " + fmt.Sprintf(ks, "b", "GitRepository") + release, "v.txt", "a: b"},
	} {
		tree := map[string]string{"b/b.yaml": job}
		for root := range strings.SplitSeq(c.root, "\x00") {
			file, text, _ := strings.Cut(root, ": ")
			tree[file] = text
		}
		before := files(tree)
		after := maps.Clone(before)
		after[c.file] = &fstest.MapFile{Data: []byte(c.text), Mode: 0o644}
		roots := []graph.Root{{Name: "k", Path: "k", URL: "https://example.com/a"}}
		for way, trees := range map[string][2]fstest.MapFS{"added": {before, after}, "deleted": {after, before}} {
			old := read(t, trees[0])
			first := shown(t, old.Clusters(roots)[0].Files())
			g, err := old.Again(trees[1], []string{c.file})
			if err != nil {
				t.Fatal(err)
			}
			fresh := read(t, trees[1])
			got, want := shown(t, g.Clusters(roots)[0].Files()), shown(t, fresh.Clusters(roots)[0].Files())
			if got != want || shown(t, g.Problems) != shown(t, fresh.Problems) || want == first && c.file != "k/x/kustomization.yaml" {
				t.Errorf("%s, %s: %s, want %s, which was %s; %v", name, way, got, want, first, g.Problems)
			}
		}
	}
}

// TestAgainPatches: a patch of a Flux Kustomization that says something else in the same place is another one.
func TestAgainPatches(t *testing.T) {
	const ks = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: f}\nspec:\n  path: a\n  patches:\n  - target: {kind: CronJob}\n    patch: \"spec: {schedule: '%d 2 * * *'}\"\n"
	tree := files(map[string]string{"k/ks.yaml": fmt.Sprintf(ks, 1), "a/job.yaml": job})
	roots := []graph.Root{{Name: "k", Path: "k"}}
	g := read(t, tree)
	for i := 1; i < 4; i++ {
		if got := g.Clusters(roots)[0].CronJobs[0].Schedule.Value; got != fmt.Sprintf("%d 2 * * *", i) {
			t.Errorf("%d: %s", i, got)
		}
		tree = maps.Clone(tree)
		tree["k/ks.yaml"] = &fstest.MapFile{Data: []byte(fmt.Sprintf(ks, i+1)), Mode: 0o644}
		var err error
		if g, err = g.Again(tree, []string{"k/ks.yaml"}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAgainText: what is read as a text counts to the last byte, although it defines no object; what merely stands there does not.
func TestAgainText(t *testing.T) {
	const ks = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: %s, namespace: x}\nspec: {path: %s, sourceRef: {kind: GitRepository, name: flux-system}, postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}}\n"
	tree := files(map[string]string{
		"k/kustomization.yaml": "namespace: x\nresources: [p.yaml, apps]\n",
		"k/p.yaml":             fmt.Sprintf(ks, "patched", "./none"),
		"k/apps/kustomization.yaml": "resources: [a.yaml, b.yaml, plain.yaml]\npatches: [{path: patch.yaml, target: {name: a}}]\n" +
			"configMapGenerator: [{name: vars, envs: [vars.env], files: [dir=dir.txt], options: {disableNameSuffixHash: true}}]\n",
		"k/apps/a.yaml": fmt.Sprintf(ks, "a", "./none"), "k/apps/b.yaml": fmt.Sprintf(ks, "b", "./${top}/${dir}"),
		"k/apps/patch.yaml": "spec: {path: ./one/a}\n", "k/apps/vars.env": "top=one\n", "k/apps/dir.txt": "a", "k/apps/plain.yaml": "kind: Deployment\n",
		"one/a/x.yaml": job, "one/b/x.yaml": job, "two/a/x.yaml": job,
	})
	roots := []graph.Root{{Name: "k", Path: "k"}}
	for file, text := range map[string]string{
		"k/apps/patch.yaml": "spec: {path: ./two/a}\n", "k/apps/vars.env": "top=two\n", "k/apps/dir.txt": "b", "k/apps/plain.yaml": "kind: Service\n",
	} {
		old := read(t, tree)
		before := exported(old, roots)
		after := maps.Clone(tree)
		after[file] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		g, err := old.Again(after, []string{file})
		if err != nil {
			t.Fatal(err)
		}
		got := exported(g, roots)
		compare(t, file, got, exported(read(t, after), roots))
		if same := reflect.DeepEqual(got, before); same != (file == "k/apps/plain.yaml") {
			t.Errorf("%s: the same as before: %v", file, same)
		}
	}
}

// TestAgainNamed: a file of any name is read while a list names it.
func TestAgainNamed(t *testing.T) {
	texts := map[string]string{
		"sync/gotk-sync.yaml":           fmt.Sprintf(entry, "flux-system", "clusters/a"),
		"clusters/a/kustomization.yaml": "resources: []\n",
		"clusters/a/flux":               fmt.Sprintf(entry, "apps", "apps"),
		"apps/a.yaml":                   job,
	}
	g := read(t, files(texts))
	exported(g, nil)
	for _, change := range [][2]string{
		{"clusters/a/kustomization.yaml", "resources: [flux]\n"},
		{"clusters/a/flux", fmt.Sprintf(entry, "flux-system", "apps")},
		{"sync/gotk-sync.yaml", fmt.Sprintf(entry, "flux-system", "clusters")},
		{"sync/gotk-sync.yaml", fmt.Sprintf(entry, "flux-system", "clusters/a")},
		{"clusters/a/kustomization.yaml", "resources: [sync.json]\n"},
		{"clusters/a/sync.json", fmt.Sprintf(entry, "flux-system", "apps")},
		{"clusters/a/kustomization.yaml", "generators: [gen.conf]\n"},
		{"clusters/a/gen.conf", "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: g}\nfiles: [flux]\n"},
		{"clusters/a/kustomization.yaml", "resources: []\n"},
	} {
		texts[change[0]] = change[1]
		again, err := g.Again(files(texts), []string{change[0]})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := exported(again, nil), exported(read(t, files(texts)), nil); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v\nwant %+v", change[0], got, want)
		}
		g = again
	}
}

// TestAgainLinks: a symbolic link called .sourceignore is a problem of what is read below it, as long as it is there.
func TestAgainLinks(t *testing.T) {
	plain := files(map[string]string{"k/kustomization.yaml": "resources: [../b/c/b.yaml]", "b/c/b.yaml": job, "x": "*"})
	roots := []graph.Root{{Name: "k", Path: "k"}}
	for _, name := range []string{".sourceignore", "k/.sourceignore", "b/.sourceignore", "b/c/.sourceignore"} {
		file, link := maps.Clone(plain), maps.Clone(plain)
		file[name] = &fstest.MapFile{Data: []byte("y\n"), Mode: 0o644}
		link[name] = &fstest.MapFile{Data: []byte("x"), Mode: fs.ModeSymlink}
		for way, trees := range map[string][2]fstest.MapFS{"added": {plain, link}, "deleted": {link, plain}, "made a file": {link, file}, "made a link": {file, link}} {
			old := read(t, trees[0])
			old.Clusters(roots)
			g, err := old.Again(trees[1], []string{name})
			if err != nil {
				t.Fatal(err)
			}
			g.Clusters(roots)
			linked := trees[1][name] != nil && trees[1][name].Mode == fs.ModeSymlink
			if (len(g.Problems) == 1) != linked {
				t.Errorf("%s %s: %v", name, way, g.Problems)
			}
		}
	}
}
