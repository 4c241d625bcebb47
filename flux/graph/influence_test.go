package graph_test

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/meter"
)

//go:embed testdata/objects/*.txtar testdata/repository/*.txtar
var objects embed.FS

// TestObjects: what entry points depend on beside what they read, in the repository github.com/acme/fleet. Each archive has a file `want` with lines that begin with one of the words
// below; of every word that occurs, all lines are there, and of others none is looked for. A word with a ! is looked for and may have no line.
//
//	path ENTRY DIRECTORY BRANCH    what an entry point reads, and of which branch
//	content ENTRY FILE…            what it reads as content
//	chain ENTRY FILE < EDGES       why it reads a file
//	way ENTRY FILE…                what leads to its definition
//	influence FILE:LINE BY OF TEXT
//	problem TEXT
//	unsure ENTRY PROBLEM           what is not known of what it applies
//	root NAME PATH BRANCH FOUND
func TestObjects(t *testing.T) {
	names, err := fs.Glob(objects, "testdata/objects/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(path.Base(name), ".txtar"), func(t *testing.T) {
			data, err := objects.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tree := fluxtrees.Parse(data)
			want := strings.Split(strings.TrimSpace(string(tree["want"].Data)), "\n")
			delete(tree, "want")
			g := read(t, tree)
			g.URL = "https://github.com/acme/fleet"
			got := facts(g, g.Clusters(nil))
			for _, line := range got {
				word, _, _ := strings.Cut(line, " ")
				if asked := func(w string) bool { return w == word+"!" || strings.HasPrefix(w, word+" ") }; slices.ContainsFunc(want, asked) && !slices.Contains(want, line) {
					t.Errorf("not expected: %s", line)
				}
			}
			for _, line := range want {
				if !strings.HasSuffix(line, "!") && !slices.Contains(got, line) {
					t.Errorf("not found: %s", line)
				}
			}
		})
	}
}

// facts is what is known of clusters, in the lines of TestObjects.
func facts(g *graph.Tree, clusters []graph.Cluster) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, strings.TrimSpace(fmt.Sprintf(format, args...))) }
	name := func(e graph.Entry) string {
		if e.Kustomization == nil {
			return "root"
		}
		return e.Kustomization.Name
	}
	for i := range clusters {
		c := &clusters[i]
		add("root %s %s %s %s", c.Name, c.Path, cmp.Or(c.Branch, "-"), c.Found)
		for _, e := range c.Entries() {
			add("path %s %s %s", name(e), e.Path(), cmp.Or(e.Branch(), "-"))
			for _, p := range e.Unsure() {
				add("unsure %s %s", name(e), p)
			}
			add("content %s %s", name(e), strings.Join(e.Content(), " "))
			add("way %s %s", name(e), strings.Join(e.Way(), " "))
			for _, file := range e.Files() {
				line := fmt.Sprintf("chain %s %s", name(e), file)
				for _, edge := range e.Chain(file) {
					line += fmt.Sprintf(" < %s (%s)", edge.By, edge.Why)
				}
				add("%s", line)
			}
		}
		for _, i := range c.Influences() {
			add("influence %s %s %s %s", i.At, name(i.By), name(i.Of), i.Text)
		}
	}
	for _, p := range g.Problems {
		add("problem %s", p)
	}
	return out
}

// objectOf is an object in one line.
func objectOf(api, kind, name, spec string) string {
	return fmt.Sprintf("---\napiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: x}\nspec: %s\n", api, kind, name, spec)
}

const (
	kustomizeAPI = "kustomize.toolkit.fluxcd.io/v1"
	sourceAPI    = "source.toolkit.fluxcd.io/v1"
	helmAPI      = "helm.toolkit.fluxcd.io/v2"
)

// TestManyReleases: however many releases refer to one object, it changes an entry point once.
func TestManyReleases(t *testing.T) {
	texts := map[string]string{
		"clusters/c/ks.yaml": objectOf(kustomizeAPI, "Kustomization", "charts", "{path: charts}") + objectOf(kustomizeAPI, "Kustomization", "apps", "{path: apps}"),
		"charts/a.yaml":      objectOf(sourceAPI, "GitRepository", "a", "{url: https://github.com/acme/fleet, ref: {branch: main}}"),
		"charts/b.yaml":      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: x}\n",
	}
	many := race.Or(1_000, 10_000)
	for i := range many {
		texts[fmt.Sprintf("apps/%d.yaml", i)] = objectOf(helmAPI, "HelmRelease", fmt.Sprint("r", i),
			"{chart: {spec: {chart: templates, sourceRef: {kind: GitRepository, name: a}}}, valuesFrom: [{kind: ConfigMap, name: b}]}")
		texts[fmt.Sprintf("templates/%d.yaml", i)] = "x"
	}
	g := read(t, newMemory(files(texts)))
	c := g.Clusters(nil)[0]
	influences := c.Influences()
	if len(influences) != 4 || len(g.Problems) > 0 {
		t.Fatalf("%d influences, %v", len(influences), g.Problems)
	}
	more := fmt.Sprintf(" and %d more", many-1)
	for _, i := range influences[2:] {
		if !strings.HasSuffix(i.Text, more) {
			t.Error(i.Text)
		}
	}
	if n := len(c.Entries()[2].Files()); n != 2*many {
		t.Errorf("%d files", n)
	}
}

// TestOwnNotes: a patch by what kustomize notes itself influences what it may fit, from where it stands: in a list, or in a file.
func TestOwnNotes(t *testing.T) {
	for patch, where := range map[string]string{"patch: '[]'": "clusters/c/kustomization.yaml", "path: p.yaml": "clusters/c/p.yaml"} {
		c := read(t, files(map[string]string{
			"clusters/c/ks.yaml": objectOf(kustomizeAPI, "Kustomization", "apps", "{path: apps}"), "apps/a.yaml": "kind: A\n", "clusters/c/p.yaml": "[]\n",
			"clusters/c/kustomization.yaml": "resources: [ks.yaml]\npatches: [{target: {name: apps, annotationSelector: config.kubernetes.io/origin}, " + patch + "}]\n",
		})).Clusters(nil)[0]
		var from []string
		for _, i := range c.Influences() {
			if i.Why == "patches" {
				from = append(from, i.At.File)
			}
		}
		if slices.Contains(from, "") || !slices.Contains(from, where) {
			t.Errorf("%s: influences stand in %q", patch, from)
		}
	}
}

// TestControlCharacters: no name makes a terminal do anything.
func TestControlCharacters(t *testing.T) {
	g := read(t, files(map[string]string{
		"clusters/c/ks.yaml": objectOf(kustomizeAPI, "Kustomization", `"a\e[31m\n"`, `{path: "${X\e}/a", sourceRef: {kind: GitRepository, name: "b\r"}}`),
		"clusters/c/s.yaml":  objectOf(sourceAPI, "GitRepository", `"b\r"`, `{url: "https://example.com"}`),
	}))
	clusters := g.Clusters([]graph.Root{{Name: "c", Path: "clusters/c"}, {Name: "d", Path: "none\x1b"}})
	texts := fmt.Sprint(g.Problems)
	for _, i := range clusters[0].Influences() {
		texts += i.Text
	}
	if len(g.Problems) != 2 || !strings.Contains(texts, "defines") || strings.ContainsFunc(texts, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.Errorf("%q", texts)
	}
}

// TestCircles: objects that refer to each other, and entry points that apply each other, end.
func TestCircles(t *testing.T) {
	chart := func(name, of string) string {
		return objectOf(sourceAPI, "HelmChart", name, "{chart: x, sourceRef: {kind: HelmChart, name: "+of+"}}")
	}
	g := read(t, files(map[string]string{
		"clusters/c/ks.yaml": objectOf(kustomizeAPI, "Kustomization", "a", "{path: a, postBuild: {substituteFrom: [{kind: ConfigMap, name: a}]}}"),
		"a/ks.yaml": objectOf(kustomizeAPI, "Kustomization", "b", "{path: b, postBuild: {substituteFrom: [{kind: ConfigMap, name: b}]}}") +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: x}\ndata: {A: '${A}'}\n",
		"b/ks.yaml": objectOf(kustomizeAPI, "Kustomization", "a", "{path: a, postBuild: {substituteFrom: [{kind: ConfigMap, name: a}]}}") +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: x}\ndata: {A: '${A}'}\n",
		"clusters/c/charts.yaml": chart("one", "two") + chart("two", "one") + chart("self", "self") +
			objectOf(helmAPI, "HelmRelease", "r", "{chartRef: {kind: HelmChart, name: one}, valuesFrom: [{kind: HelmRelease, name: r}]}") +
			objectOf(helmAPI, "HelmRelease", "s", "{chartRef: {kind: HelmChart, name: self}}"),
	}))
	c := g.Clusters(nil)[0]
	for _, e := range c.Entries() {
		e.Way()
		e.Content()
	}
	if n := len(c.Influences()); n < 5 || n > 30 {
		t.Errorf("%d influences: %v", n, c.Influences())
	}
}

// TestLargeValues: of a ConfigMap or Secret that is large, has many keys or is the template of a chart nothing is wrong; its name counts.
func TestLargeValues(t *testing.T) {
	object := func(name, data string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n  namespace: x\ndata:\n" + data
	}
	var keys strings.Builder
	for i := range manifest.MaxKeys + 1 {
		keys.WriteString("k" + strconv.Itoa(i) + ": x, ")
	}
	for name, text := range map[string]string{
		"large":       object("v", "  a: |\n"+strings.Repeat("    kind: Kustomization\n", manifest.MaxDoc/10)),
		"many keys":   strings.NewReplacer("\ndata:", "\ndata: {"+keys.String()+"}", "kind", `"kind"`).Replace(object("v", "")),
		"secret":      strings.Replace(object("v", "  a: "+strings.Repeat("x", manifest.MaxDoc)+"\n"), "\ndata", "\nstringData", 1),
		"name at end": "apiVersion: v1\ndata:\n  a: " + strings.Repeat("x", manifest.MaxDoc) + "\nkind: ConfigMap\nmetadata: {name: v, namespace: x}\n",
		"two":         object("w", "  a: "+strings.Repeat("x", manifest.MaxDoc)+"\n") + "---\n" + object("v", "  a: "+strings.Repeat("x", manifest.MaxDoc)+"\n"),
	} {
		g := read(t, files(map[string]string{
			"clusters/c/ks.yaml": objectOf(kustomizeAPI, "Kustomization", "values", "{path: values}") + objectOf(kustomizeAPI, "Kustomization", "apps", "{path: apps}"),
			"values/v.yaml":      text,
			"values/t.yaml":      "{{- if .Values.a }}\nkind: ConfigMap\nmetadata: {name: {{ .Values.name }}}\n",
			"apps/a.yaml":        objectOf(helmAPI, "HelmRelease", "r", "{valuesFrom: [{kind: ConfigMap, name: v}, {kind: Secret, name: v}]}"),
		}))
		influences := g.Clusters(nil)[0].Influences()
		if len(influences) != 3 || influences[2].Why != "values" || influences[2].At.File != "values/v.yaml" {
			t.Errorf("%s: %v", name, influences)
		}
		if name == "two" && influences[2].At.Line != 9 {
			t.Errorf("%s: line %d", name, influences[2].At.Line)
		}
		if len(g.Problems) > 0 {
			t.Errorf("%s: %v", name, g.Problems)
		}
	}
}

// TestSecretValues: no value of a Secret is ever shown, whatever it stands in.
func TestSecretValues(t *testing.T) {
	const secret = "hunter2"
	g := read(t, files(map[string]string{
		"clusters/c/ks.yaml": objectOf(kustomizeAPI, "Kustomization", "a", "{path: a, postBuild: {substituteFrom: [{kind: Secret, name: s}]}}") +
			"---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: x}\nstringData: {S: " + secret + "}\n",
		"a/ks.yaml": objectOf(kustomizeAPI, "Kustomization", `"n${S}"`, `{path: "p/${S}", sourceRef: {kind: GitRepository, name: "g"}}`) +
			objectOf(kustomizeAPI, "Kustomization", `b`, `{path: "b/${S:=x}"}`) +
			objectOf(sourceAPI, "GitRepository", "g", `{url: "https://u:${S}@example.com/${S}", ref: {branch: "${S}"}, secretRef: {name: "${S}"}}`) +
			objectOf(helmAPI, "HelmRelease", `"r${S}"`, `{chartRef: {kind: GitRepository, name: g}}`),
	}))
	clusters := g.Clusters(nil)
	texts := strings.Join(facts(g, clusters), "\n") + summary(g, clusters)
	if strings.Contains(texts, secret) || !strings.Contains(texts, "${S}") {
		t.Error(texts)
	}
}

// TestDigest: what an entry point's definition and source say decides, with patches and variables, and nothing else.
func TestDigest(t *testing.T) {
	base := map[string]string{
		"clusters/c/kustomization.yaml": "resources: [ks.yaml, source.yaml]\npatches: [{path: patch.yaml}]\n",
		"clusters/c/ks.yaml":            objectOf(kustomizeAPI, "Kustomization", "p", "{path: p, postBuild: {substitute: {BRANCH: rw}}}"),
		"clusters/c/source.yaml":        objectOf(sourceAPI, "GitRepository", "g", "{url: https://github.com/acme/fleet, ref: {branch: main}}"),
		"clusters/c/patch.yaml":         objectOf(sourceAPI, "GitRepository", "g", "{ref: {branch: rw}}"),
		"p/ks.yaml":                     objectOf(kustomizeAPI, "Kustomization", "k", "{path: a, prune: true, sourceRef: {kind: GitRepository, name: g}, timeout: '${BRANCH}'}"),
		"a/a.yaml":                      "a: b\n",
	}
	digest := func(file, text string) string {
		tree := map[string]string{}
		for name, text := range base {
			tree[name] = text
		}
		if file != "" {
			tree[file] = text
		}
		for _, e := range read(t, files(tree)).Clusters([]graph.Root{{Name: "c", Path: "clusters/c"}})[0].Entries() {
			if e.Kustomization != nil && e.Kustomization.Name == "k" {
				return e.Digest()
			}
		}
		t.Fatalf("%s: no entry point", file)
		return ""
	}
	want := digest("", "")
	for _, c := range []struct {
		name, file, text string
		same             bool
	}{
		{"a comment", "p/ks.yaml", "# x\n\n" + base["p/ks.yaml"], true},
		{"the order of keys and quotes", "p/ks.yaml", objectOf(kustomizeAPI, `"Kustomization"`, "k", "{timeout: \"${BRANCH}\", sourceRef: {name: g, kind: GitRepository}, prune: true, path: 'a'}"), true},
		{"what it reads", "a/a.yaml", "b: c\n", true},
		{"what the patch covers", "clusters/c/source.yaml", strings.Replace(base["clusters/c/source.yaml"], "main", "other", 1), true},
		{"a field", "p/ks.yaml", strings.Replace(base["p/ks.yaml"], "true", "false", 1), false},
		{"another type", "p/ks.yaml", strings.Replace(base["p/ks.yaml"], "true", "'true'", 1), false},
		{"a variable", "clusters/c/ks.yaml", strings.Replace(base["clusters/c/ks.yaml"], "rw", "ro", 1), false},
		{"the source", "clusters/c/source.yaml", strings.Replace(base["clusters/c/source.yaml"], "fleet", "float", 1), false},
		{"the patch", "clusters/c/patch.yaml", strings.Replace(base["clusters/c/patch.yaml"], "rw", "ro", 1), false},
	} {
		if got := digest(c.file, c.text); (got == want) != c.same {
			t.Errorf("%s: %s, was %s", c.name, got, want)
		}
	}
}

// TestUnread: a variable may be set in what was not read of a large ConfigMap, so what it is by default is not known either.
func TestUnread(t *testing.T) {
	var keys strings.Builder
	for i := range manifest.MaxKeys + 1 {
		keys.WriteString("k" + strconv.Itoa(i) + ": x, ")
	}
	for data, known := range map[string]bool{
		"kind: ConfigMap\ndata: {A: b}\n":                                                 true,
		"\"kind\": ConfigMap\ndata: {" + keys.String() + "}\n":                            false,
		"kind: ConfigMap\ndata:\n  a: " + strings.Repeat("x", manifest.MaxConfig) + "\n":  false,
		"\"kind\": ConfigMap\ndata: {a: " + strings.Repeat("x", manifest.MaxConfig) + "}": true,
	} {
		g := read(t, files(map[string]string{
			"clusters/c/ks.yaml": objectOf(kustomizeAPI, "Kustomization", "p", "{path: p, postBuild: {substituteFrom: [{kind: ConfigMap, name: v}]}}"),
			"clusters/c/v.yaml":  "apiVersion: v1\nmetadata: {name: v, namespace: x}\n" + data,
			"p/ks.yaml":          objectOf(kustomizeAPI, "Kustomization", "k", "{path: '${Q:=q}'}"),
		}))
		if k := g.Clusters(nil)[0].Kustomizations[1]; (k.Path == "q") != known {
			t.Errorf("%.20q: %s", data, k.Path)
		}
	}
}

// TestManySources: sources that are put together out of each other end, with a problem, however deep and wide they are.
func TestManySources(t *testing.T) {
	artifacts := func(depth, times int) string {
		var sources, made strings.Builder
		for i := range depth {
			fmt.Fprintf(&sources, "{alias: a%d, kind: ExternalArtifact, name: a%d},", i+1, i+1)
			fmt.Fprintf(&made, "{name: a%d, copy: [%s]},", i, strings.Repeat(fmt.Sprintf("{from: '@a%d/**', to: '@artifact/'},", i+1), times))
		}
		return objectOf(kustomizeAPI, "Kustomization", "k", "{path: ., sourceRef: {kind: ExternalArtifact, name: a0}}") +
			objectOf("source.extensions.fluxcd.io/v1beta1", "ArtifactGenerator", "g", "{sources: ["+sources.String()+"], artifacts: ["+made.String()+"]}") +
			objectOf("source.extensions.fluxcd.io/v1beta1", "ArtifactGenerator", "last", fmt.Sprintf("{sources: [{alias: r, kind: GitRepository, name: r}, {alias: a0, kind: ExternalArtifact, name: a0}], "+
				"artifacts: [{name: a%d, copy: [{from: '@r/b/**', to: '@artifact/'}, {from: '@a0/**', to: '@artifact/'}]}]}", depth))
	}
	for name, c := range map[string]struct {
		depth, times int
		want         string // of the problems
		reads        int
	}{
		"few":  {3, 2, "", 1},
		"deep": {graph.MaxUses + 1, 1, "sources are put together", 0},
		"wide": {graph.MaxUses - 2, 20, "more than 20,000 steps", -1},
	} {
		g := readBy(t, meter.New(t.Context(), meter.Limits{meter.Time: -1, meter.Steps: 20_000}), files(map[string]string{"clusters/c/ks.yaml": artifacts(c.depth, c.times), "b/b.yaml": "kind: ConfigMap\n"}))
		k := g.Clusters([]graph.Root{{Name: "c", Path: "clusters/c"}})[0].Kustomizations[0]
		if problems := fmt.Sprint(g.Problems); !strings.Contains(problems, c.want) || c.want == "" && len(g.Problems) > 0 || c.reads >= 0 && len(k.Files()) != c.reads {
			t.Errorf("%s: reads %v, %s", name, k.Files(), problems)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	readBy(t, meter.New(t.Context(), meter.Limits{meter.Time: -1}), files(map[string]string{"clusters/c/ks.yaml": artifacts(6, 5), "b/b.yaml": "kind: ConfigMap\n"})).Clusters([]graph.Root{{Name: "c", Path: "clusters/c"}})
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; made > 512<<20 {
		t.Errorf("15,625 parts of a source make %d MiB", made>>20)
	}
}
