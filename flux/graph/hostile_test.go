package graph_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// files is a tree of texts.
func files(texts map[string]string) fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range texts {
		tree[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return tree
}

// TestNamedRoots: roots that are named win, whatever else could be found; a path that leads out of the tree is led back to it.
func TestNamedRoots(t *testing.T) {
	g := read(t, fluxtrees.Tree(t, "two-clusters"))
	clusters := g.Clusters([]graph.Root{{Name: "mine", Path: "./clusters/staging/", Branch: "trunk"}, {Name: "out", Path: "../../nowhere"}})
	if len(clusters) != 2 || clusters[0].Name != "mine" || clusters[0].Branch != "trunk" || len(clusters[0].Kustomizations) != 4 {
		t.Fatalf("%+v", clusters)
	}
	if c := clusters[1]; c.Path != "nowhere" || len(c.Files()) != 0 {
		t.Errorf("%+v", c)
	}
}

// TestAliases: an alias is read as what it stands for.
func TestAliases(t *testing.T) {
	long := strings.Repeat("x", manifest.MaxWord+1)
	g := read(t, files(map[string]string{"ks.yaml": `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: &app echo
  namespace: *app
  labels: &labels
    long: &long ` + long + `
spec:
  path: *app
  targetNamespace: *long
  dependsOn: &deps
    - name: a
  patches: *deps
`}))
	all := g.Objects()
	k := all.Kustomizations[0]
	if k.Name != "echo" || k.Namespace != "echo" || k.Path != "echo" || k.TargetNamespace != long || len(k.DependsOn) != 1 || len(k.Patches) != 1 {
		t.Errorf("%+v", k)
	}
	if len(g.Problems) != 0 {
		t.Errorf("%+v", g.Problems)
	}
}

// TestPlaces: lines are those of the file, whatever document or list an object stands in.
func TestPlaces(t *testing.T) {
	g := read(t, files(map[string]string{"all.yaml": `# a comment
---
apiVersion: v1
kind: ConfigMap
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: a}
spec:
  ref:
    branch: rw/a
---
apiVersion: v1
kind: List
items:
  - apiVersion: kustomize.toolkit.fluxcd.io/v1
    kind: Kustomization
    metadata: {name: b}
    spec:
      path: ./b
      suspend: false
`}))
	all := g.Objects()
	if s := all.Sources[0]; s.Line != 6 || s.RefLine.Line != 11 || s.Follows() != "rw/a" {
		t.Errorf("%+v", s)
	}
	if k := all.Kustomizations[0]; k.Line != 16 || k.PathLine.Line != 20 || k.Suspend.Place.Line != 21 || k.Suspend.Value != "false" {
		t.Errorf("%+v", k)
	}
}

// TestFollows: the branch that a source tracks, as Flux weighs what its ref says.
func TestFollows(t *testing.T) {
	for ref, want := range map[string]string{
		"":                                "master",
		"branch: main":                    "main",
		"branch: main, tag: v1":           "",
		"branch: main, semver: '1'":       "",
		"branch: main, commit: abc":       "",
		"name: refs/heads/x":              "x",
		"name: refs/tags/x":               "",
		"name: refs/heads/x, tag: v1":     "x",
		"commit: abc, name: refs/heads/x": "",
	} {
		g := read(t, files(map[string]string{"s.yaml": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: a}\nspec:\n  ref: {" + ref + "}\n"}))
		if got := g.Objects().Sources[0].Follows(); got != want {
			t.Errorf("%s: %q, want %q", ref, got, want)
		}
	}
}

const (
	entry = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: %s, namespace: flux-system}\nspec: {path: %q}\n"
	job   = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: open-window, labels: {a: b}}\nspec: {schedule: '1 1 * * *'}\n"
)

// TestPatches: what a patch sets is seen where it stands, if it is for the object.
func TestPatches(t *testing.T) {
	for name, c := range map[string]struct{ patch, want string }{
		"merge by name":         {"patches: [{path: p.yaml}]", "2 2 * * * p.yaml:4"},
		"the old list":          {"patchesStrategicMerge: [p.yaml]", "2 2 * * * p.yaml:4"},
		"inline":                {"patches:\n  - target: {kind: CronJob}\n    patch: |\n      - {op: replace, path: /spec/schedule, value: '3 3 * * *'}\n", "3 3 * * * k/kustomization.yaml:4"},
		"another name":          {"patches: [{path: p.yaml, target: {kind: CronJob, name: close-.*}}]", "1 1 * * * job.yaml:4"},
		"a name's beginning":    {"patches: [{path: p.yaml, target: {name: open}}]", "1 1 * * * job.yaml:4"},
		"an expression":         {"patches: [{path: p.yaml, target: {name: open-.*}}]", "2 2 * * * p.yaml:4"},
		"a selector":            {"patches: [{path: p.yaml, target: {labelSelector: 'a in (b, c), !x, a!=y'}}]", "2 2 * * * p.yaml:4"},
		"a selector of others":  {"patches: [{path: p.yaml, target: {labelSelector: 'a notin (b)'}}]", "1 1 * * * job.yaml:4"},
		"an unreadable target":  {"patches: [{path: p.yaml, target: {name: '('}}]", "1 1 * * * job.yaml:4"},
		"a file that is not":    {"patches: [{path: q.yaml}]", "1 1 * * * job.yaml:4"},
		"a file out of the way": {"patches: [{path: ../../../p.yaml}]", "1 1 * * * job.yaml:4"},
		"a component":           {"components: [../c]", "4 4 * * * c/kustomization.yaml:6"},
	} {
		t.Run(name, func(t *testing.T) {
			g := read(t, files(map[string]string{
				"k/kustomization.yaml": c.patch + "\nresources: [../job.yaml, https://example.com/x, ../missing]\n",
				"k/p.yaml":             "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: open-window}\nspec: {schedule: '2 2 * * *'}\n",
				"c/kustomization.yaml": "kind: Component\npatches:\n  - target: {kind: CronJob}\n    patch: |\n      spec:\n        schedule: 4 4 * * *\n",
				"job.yaml":             job,
			}))
			clusters := g.Clusters([]graph.Root{{Name: "k", Path: "k"}})
			if len(clusters[0].CronJobs) != 1 {
				t.Fatal(clusters[0].CronJobs, g.Problems)
			}
			s := clusters[0].CronJobs[0].Schedule
			if got := s.Value + " " + strings.TrimPrefix(s.Place.String(), "k/p"); got != strings.Replace(c.want, " p.yaml", " .yaml", 1) {
				t.Errorf("%s, want %s; %v", got, c.want, g.Problems)
			}
		})
	}
}

// TestLoops: what leads back to itself ends, and what leads to one thing in very many ways is read once for each entry.
func TestLoops(t *testing.T) {
	texts := map[string]string{
		"clusters/a/ks.yaml":            fmt.Sprintf(entry, "a", "loop/0") + "---\n" + fmt.Sprintf(entry, "b", "clusters/a") + "---\n" + fmt.Sprintf(entry, "c", "wide/0"),
		"clusters/a/kustomization.yaml": "resources: [ks.yaml, ../a, ../../clusters/a]\n",
		"loop/0/kustomization.yaml":     "resources: [../1]\ncomponents: [../0]\n",
		"loop/1/kustomization.yaml":     "resources: [../0, ks.yaml]\n",
		"loop/1/ks.yaml":                fmt.Sprintf(entry, "d", "loop/1"),
	}
	for i := range 40 {
		texts[fmt.Sprintf("wide/%d/kustomization.yaml", i)] = fmt.Sprintf("resources: [../%d, ../%d, ../%d/., x.yaml]\n", i+1, i+1, i+1)
		texts[fmt.Sprintf("wide/%d/x.yaml", i)] = job
	}
	g := read(t, files(texts))
	clusters := g.Clusters(nil)
	if len(clusters) != 1 || len(clusters[0].Kustomizations) != 5 || len(clusters[0].CronJobs) != 40 {
		t.Fatalf("%d clusters, %d entries, %d jobs, %v", len(clusters), len(clusters[0].Kustomizations), len(clusters[0].CronJobs), g.Problems)
	}
}

// TestBounds: what is beyond a bound is a problem with its place, and the rest is read.
func TestBounds(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	for name, c := range map[string]struct {
		texts map[string]string
		want  string
	}{
		"a large file":        {map[string]string{"a.yaml": fmt.Sprintf(entry, "a", "a") + strings.Repeat("#", manifest.MaxFile)}, "KiB"},
		"a large document":    {map[string]string{"a.yaml": fmt.Sprintf(entry, "a", "a") + strings.Repeat("#", manifest.MaxDoc)}, "KiB"},
		"no YAML":             {map[string]string{"a.yaml": fmt.Sprintf(entry, "a", "a") + "\t- {"}, "not valid YAML"},
		"a long list":         {map[string]string{"clusters/a/kustomization.yaml": "resources:\n" + strings.Repeat("  - a\n", manifest.MaxList+1)}, "entries"},
		"an alias of a list":  {map[string]string{"clusters/a/kustomization.yaml": "x: &x [a]\nresources: *x\n"}, "names \"a\""},
		"an alias in an item": {map[string]string{"a.yaml": "kind: List\nitems: [&a {kind: CronJob}, *a]\n"}, ""},
		"a bomb":              {map[string]string{"a.yaml": bomb + fmt.Sprintf(entry, "a", "a")}, "aliases"},
		"an alias of itself":  {map[string]string{"a.yaml": "x: &x {y: *x}\n" + fmt.Sprintf(entry, "a", "a")}, "aliases"},
		"a patch that is none": {map[string]string{"clusters/a/kustomization.yaml": "resources: [a.yaml]\npatches: [{patch: '{', target: {kind: CronJob}}]\n",
			"clusters/a/a.yaml": job}, "the patch was not read"},
		"flow deeper than deep": {map[string]string{"a.yaml": "kind: CronJob\nx: " + strings.Repeat("[", 20000)}, "not valid YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			c.texts["clusters/b/ks.yaml"] = fmt.Sprintf(entry, "b", "b")
			g := read(t, files(c.texts))
			clusters := g.Clusters(nil)
			found := ""
			for _, p := range g.Problems {
				found += p.String() + "\n"
			}
			if !strings.Contains(found, c.want) || c.want == "" && found != "" {
				t.Errorf("%q, want %q", found, c.want)
			}
			if b := clusters[len(clusters)-1]; b.Name != "b" || len(b.Kustomizations) != 1 {
				t.Errorf("the rest was not read: %+v", b)
			}
		})
	}
}

// FuzzTree: no file makes reading or following panic, and what is said of it stays bounded.
func FuzzTree(f *testing.F) {
	f.Add("resources: [a.yaml]\npatches: [{path: b.yaml}]", fmt.Sprintf(entry, "a", "${X:=k}"), job)
	f.Add("components: [.]\nnamespace: x\nnamePrefix: y", "kind: List\nitems: [&a {kind: Kustomization}, *a]", "- {op: add, path: /spec/suspend, value: true}")
	f.Fuzz(func(t *testing.T, k, a, b string) {
		g, err := graph.Read(files(map[string]string{"clusters/k/kustomization.yaml": k, "clusters/k/a.yaml": a, "clusters/k/b.yaml": b}))
		if err != nil {
			t.Fatal(err)
		}
		g.Objects()
		g.Clusters(nil)
		if len(g.Problems) > manifest.MaxProblems {
			t.Errorf("%d problems", len(g.Problems))
		}
	})
}

// TestArtifacts: an entry that reads what an ArtifactGenerator copies from this repository reads the files that are copied.
func TestArtifacts(t *testing.T) {
	const generator = `apiVersion: source.extensions.fluxcd.io/v1beta1
kind: ArtifactGenerator
metadata: {name: g, namespace: flux-system}
spec:
  sources: [{alias: repo, kind: GitRepository, name: flux-system}]
  artifacts:
    - name: apps
      copy: [{from: "@repo/docs/**", to: "@artifact/docs/"}, {from: %q, to: %q}]
`
	const ks = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: %q, sourceRef: {kind: ExternalArtifact, name: %q}}
`
	for name, c := range map[string]struct{ from, to, path, artifact, want string }{
		"all below":         {"@repo/apps/**", "@artifact/", "./staging", "apps", "apps/staging"},
		"all below, deeper": {"@repo/apps/**", "@artifact/x/", "./x/staging", "apps", "apps/staging"},
		"a directory":       {"@repo/apps", "@artifact/", "./apps/staging", "apps", "apps/staging"},
		"elsewhere":         {"@repo/apps/**", "@artifact/x/", "./staging", "apps", ""},
		"out of the tree":   {"@repo/../../apps/**", "@artifact/", "../staging", "apps", "apps/staging"},
		"not there":         {"@repo/apps/**", "@artifact/", "./production", "apps", "apps/production"}, // it may be, in the branch that is copied from
		"another artifact":  {"@repo/apps/**", "@artifact/", "./staging", "other", ""},
	} {
		g := read(t, files(map[string]string{
			"clusters/a/ks.yaml":              fmt.Sprintf(ks, c.path, c.artifact),
			"clusters/a/z.yaml":               fmt.Sprintf(generator, c.from, c.to),
			"apps/staging/kustomization.yaml": "resources: [../base]\n",
			"apps/base/kustomization.yaml":    "resources: [a.yaml]\n",
			"apps/base/a.yaml":                "a: b\n",
		}))
		k := g.Clusters(nil)[0].Kustomizations[0]
		reads := 3
		if name == "not there" {
			reads = 0
		}
		switch {
		case c.want == "" && !k.Here && len(k.Files()) == 0:
		case c.want == "" || k.Path != c.want || !k.Here || len(k.Files()) != reads:
			t.Errorf("%s: %s here=%t reads %v", name, k.Path, k.Here, k.Files())
		}
	}
}

// TestBombs: what a small tree would make large, or long to follow, is a problem, or stays as it is written.
func TestBombs(t *testing.T) {
	keys := func(letter string) string {
		var b strings.Builder
		for i := range manifest.MaxKeys + 1 {
			fmt.Fprintf(&b, "  %s%d: x\n", letter, i)
		}
		return "x:\n" + b.String()
	}
	roots := map[string]string{}
	for i := range graph.MaxClusters + 1 {
		roots[fmt.Sprintf("r/%d/gotk-sync.yaml", i)] = fmt.Sprintf(entry, "flux-system", fmt.Sprint("r/", i))
	}
	patched := func(object, patch string, times int) map[string]string {
		return map[string]string{
			"clusters/a/kustomization.yaml": "resources: [ks.yaml]\npatches:\n" + strings.Repeat("  - {path: p.txt}\n", times), "clusters/a/ks.yaml": object, "clusters/a/p.txt": patch,
		}
	}
	for name, c := range map[string]struct {
		texts map[string]string
		want  string
	}{
		"a large patch":        {patched(job, strings.Repeat("a: b\n", manifest.MaxDoc/5+1), 1), "KiB"},
		"a patch of many":      {patched(job+"x: "+strings.Repeat("x", 200_000)+"\n", strings.Repeat("kind: A\nmetadata: {name: b}\n---\n", manifest.MaxDoc/40), 5), "steps"},
		"many keys":            {patched(job+keys("a"), "", 0), "keys"},
		"many keys of a patch": {patched(job, job+keys("b"), 1), "keys"},
		"many roots":           {roots, "clusters"},
	} {
		g := read(t, files(c.texts))
		g.Clusters(nil)
		if !slices.ContainsFunc(g.Problems, func(p manifest.Problem) bool { return strings.Contains(p.Text, c.want) }) {
			t.Errorf("%s: %v, want %q", name, g.Problems, c.want)
		}
	}
}

// TestLongVariables: a variable's value is filled in where it is short, and as long as what comes out of it is.
func TestLongVariables(t *testing.T) {
	for value, want := range map[string]string{
		"x": strings.Repeat("x", 100), strings.Repeat("y", manifest.MaxWord): strings.Repeat("${A}", 100), strings.Repeat("z", 100_000): strings.Repeat("${A}", 100),
	} {
		g := read(t, files(map[string]string{
			"clusters/a/ks.yaml": fmt.Sprintf(entry, "a", "b")[:len(fmt.Sprintf(entry, "a", "b"))-len("spec: {path: \"b\"}\n")] +
				"spec:\n  path: b\n  postBuild:\n    substitute: {A: " + value + "}\n",
			"b/ks.yaml": fmt.Sprintf(entry, "b", strings.Repeat("${A}", 100)),
		}))
		if all := g.Clusters(nil)[0].Kustomizations; len(all) != 2 || all[1].Path != want {
			t.Errorf("%d bytes: %d entries, a path of %d bytes", len(value), len(all), len(all[len(all)-1].Path))
		}
	}
}

// TestNestedVariables: what is filled in for a variable in another one's replacement stays short on the way, too.
func TestNestedVariables(t *testing.T) {
	v, text := manifest.Variables{Values: map[string]string{"A": strings.Repeat("a", manifest.MaxWord)}}, "b"
	for range 3 {
		text = "${A//a/" + text + "}"
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := v.Expand(text)
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; got != text || made > 2<<20 {
		t.Errorf("%d bytes were made for %d", made, len(got))
	}
}

// TestKinds: an object is found however YAML has it written.
func TestKinds(t *testing.T) {
	for _, text := range []string{
		`{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "a"}, "spec": {"path": "b"}}`,
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind : Kustomization\nmetadata: {name: a}\nspec: {path: b}\n",
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\n\"kind\"  :  'Kustomization' # x\nmetadata: {name: a}\nspec: {path: b}\n",
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: !!str Kustomization\nmetadata: {name: a}\nspec: {path: b}\n",
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: &k Kustomization\nmetadata: {name: a}\nspec: {path: b}\n",
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind:\n  Kustomization\nmetadata: {name: a}\nspec: {path: b}\n",
		"--- {apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: a}, spec: {path: b}}\n",
		"\xef\xbb\xbfkind: Kustomization\napiVersion: kustomize.toolkit.fluxcd.io/v1\nmetadata: {name: a}\nspec: {path: b}\n",
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\r\nkind: Kustomization\r\nmetadata: {name: a}\r\nspec: {path: b}\r\n",
		"a: b\n---\tx\n---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {path: b}\n",
	} {
		g := read(t, files(map[string]string{"a.yaml": text}))
		if all := g.Objects().Kustomizations; len(all) != 1 || all[0].Path != "b" {
			t.Errorf("%q: %v", text, g.Problems)
		}
	}
}
