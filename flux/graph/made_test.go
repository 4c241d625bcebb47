package graph_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/internal/race"
)

// outcome is what came of comparing what is read with what kustomize makes.
type outcome int

const (
	same    outcome = iota
	unsure          // the reading says that it does not know
	unmade          // kustomize builds nothing
	another         // the reading says something else
)

// compareMade compares the objects that directory k makes as it is read with those that kustomize makes of it.
func compareMade(t *testing.T, texts map[string]string, adds *graph.Kustomization) (outcome, string) {
	t.Helper()
	tree := files(texts)
	o := newOracle(t, tree)
	s := spec{path: "k"}
	if adds != nil {
		s.namespace, s.components, s.patches = adds.TargetNamespace, adds.Components, adds.Patches
	}
	text, err := build(o.fs, s)
	if err != nil {
		_, _, _ = graph.Made(read(t, tree), "k", adds) // whatever kustomize refuses is read
		return unmade, err.Error()
	}
	want, _, err := graph.Made(read(t, files(map[string]string{"out.yaml": text})), ".", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, problems, err := graph.Made(read(t, tree), "k", adds)
	switch {
	case err != nil:
		t.Fatal(err)
	case len(problems) > 0:
		g := read(t, tree)
		g.Builder = func(string, *graph.Kustomization, []string) ([]byte, error) { return []byte(text), nil }
		if got, problems, err := graph.Made(g, "k", adds); err != nil || len(problems) > 0 || !maps.Equal(got, want) {
			return another, fmt.Sprintf("with a builder: %v, %v, read %v, built %v", problems, err, got, want)
		}
		return unsure, fmt.Sprint(problems)
	case maps.Equal(got, want):
		return same, ""
	}
	var differ strings.Builder
	for name, text := range want {
		if got[name] != text {
			fmt.Fprintf(&differ, "%s\n read  %s\n built %s\n", name, got[name], text)
		}
	}
	for name := range got {
		if want[name] == "" {
			fmt.Fprintf(&differ, "%s is read, and not built\n", name)
		}
	}
	return another, differ.String()
}

const (
	fluxObjects = `-- k/ks.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: a, namespace: flux-system, labels: {app: a}}
spec: {path: ./a, sourceRef: {kind: GitRepository, name: flux-system}, dependsOn: [{name: b}, {name: c}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: b}
spec: {path: ./b, sourceRef: {kind: GitRepository, name: rw}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: rw, namespace: flux-system}
spec: {url: https://github.com/acme/fleet, ref: {branch: rw}}
-- c/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
labels: [{pairs: {from: component}}]
`
	patchAll = "patches: [{target: {kind: Kustomization, %s}, patch: '[{\"op\": \"replace\", \"path\": \"/spec/path\", \"value\": \"new\"}]'}]\n"
	patchOps = "resources: [ks.yaml]\npatches:\n- target: {kind: Kustomization, name: a}\n  patch: |\n"
)

// TestMade: what is read of objects of Flux is what kustomize makes of them.
func TestMade(t *testing.T) {
	quiet(t)
	ops := func(list ...string) string { return patchOps + "    - {" + strings.Join(list, "}\n    - {") + "}\n" }
	merge := func(spec string) string {
		return "resources: [ks.yaml]\npatches: [{patch: '{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: a, namespace: flux-system}, " + spec + "}'}]\n"
	}
	targeted := func(patch string) string {
		return "resources: [ks.yaml]\npatches: [{target: {kind: Kustomization}, patch: '{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, " + patch + "}'}]\n"
	}
	list := "resources: [ks.yaml]\n"
	annotated := "resources: [ks.yaml]\ncommonAnnotations: {app: a}\n"
	for name, c := range map[string]struct {
		k     string
		files string
		want  outcome
	}{
		"labels come after patches":      {list + "labels: [{pairs: {x: z}}]\n" + fmt.Sprintf(patchAll, "labelSelector: x=z"), "", same},
		"common labels, too":             {list + "commonLabels: {x: z}\n" + fmt.Sprintf(patchAll, "labelSelector: x=z"), "", same},
		"labels of a base":               {"resources: [../b]\n" + fmt.Sprintf(patchAll, "labelSelector: x=z"), "-- b/kustomization.yaml --\nresources: [../k/ks.yaml]\nlabels: [{pairs: {x: z}}]\n", same},
		"common labels of a base":        {"resources: [../b]\n" + fmt.Sprintf(patchAll, "labelSelector: 'x in (w, z)'"), "-- b/kustomization.yaml --\nresources: [../k/ks.yaml]\ncommonLabels: {x: z}\n", same},
		"annotations of a base":          {"resources: [../b]\n" + fmt.Sprintf(patchAll, "annotationSelector: x=z"), "-- b/kustomization.yaml --\nresources: [../k/ks.yaml]\ncommonAnnotations: {x: z}\n", same},
		"labels of a component":          {list + "components: [../c]\n" + fmt.Sprintf(patchAll, "labelSelector: from=component"), "", same},
		"JSON patches after labels":      {list + "labels: [{pairs: {x: z}}]\npatchesJson6902: [{target: {version: v1, kind: Kustomization, name: a, labelSelector: x=z}, patch: '- {op: remove, path: /spec/path}'}]\n", "", same},
		"merges before patches":          {list + "patchesStrategicMerge: ['{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: b, labels: {x: z}}}']\n" + fmt.Sprintf(patchAll, "labelSelector: x=z"), "", same},
		"labels in other fields":         {list + "labels: [{pairs: {path: z}, fields: [{path: spec, create: true}]}]\n", "", unsure},
		"a label that another one needs": {list + "labels: [{pairs: {x: w}}, {pairs: {x: z}}]\ncommonAnnotations: {a: b}\n", "", same},
		"the former name":                {"resources: [../b]\n" + fmt.Sprintf(patchAll, "name: a"), "-- b/kustomization.yaml --\nresources: [../k/ks.yaml]\nnamePrefix: p-\n", same},
		"the present name":               {"resources: [../b]\n" + fmt.Sprintf(patchAll, "name: p-b"), "-- b/kustomization.yaml --\nresources: [../k/ks.yaml]\nnamePrefix: p-\n", same},
		"a name in between":              {"resources: [../b]\nnameSuffix: -s\npatchesJson6902: [{target: {kind: Kustomization, version: v1, name: p-a}, patch: '- {op: remove, path: /spec/path}'}]\n", "-- b/kustomization.yaml --\nresources: [../k/ks.yaml]\nnamePrefix: p-\n", same},
		"no namespace is default":        {list + fmt.Sprintf(patchAll, "namespace: default"), "", same},
		"no namespace is not any":        {list + fmt.Sprintf(patchAll, "namespace: flux-.*"), "", same},
		"a namespace comes later":        {list + "namespace: later\n" + fmt.Sprintf(patchAll, "namespace: later"), "", same},
		"another version":                {list + fmt.Sprintf(patchAll, "version: v1beta2"), "", same},
		"a selector of which not all":    {list + fmt.Sprintf(patchAll, "labelSelector: app in (a) x"), "", unmade},
		"move":                           {ops("op: move, from: /spec/path, path: /spec/old"), "", same},
		"move into a list":               {ops("op: move, from: /metadata/labels, path: /spec/dependsOn/0"), "", same},
		"move and add":                   {ops("op: move, from: /spec/sourceRef/name, path: /spec/path", "op: add, path: /spec/sourceRef/name, value: rw"), "", same},
		"copy":                           {ops("op: copy, from: /spec/dependsOn/1/name, path: /spec/path"), "", same},
		"copy a section":                 {ops("op: copy, from: /spec, path: /spec/again", "op: replace, path: /spec/again/path, value: x"), "", same},
		"copy of what is not there":      {ops("op: copy, from: /spec/none, path: /spec/path"), "", unsure},
		"test":                           {ops("op: test, path: /spec/path, value: ./a", "op: replace, path: /spec/path, value: x"), "", same},
		"a test fails":                   {ops("op: test, path: /spec/path, value: ./b", "op: replace, path: /spec/path, value: x"), "", unmade},
		"replace what is not there":      {ops("op: replace, path: /spec/targetNamespace, value: x"), "", same},
		"remove what is not there":       {ops("op: remove, path: /spec/targetNamespace"), "", unmade},
		"add no value":                   {ops("op: add, path: /spec/targetNamespace"), "", same},
		"no slash":                       {ops("op: add, path: spec/path, value: x"), "", same},
		"escapes":                        {ops("op: add, path: /metadata/annotations, value: {}", "op: add, path: /metadata/annotations/a~1b~0c, value: x"), "", same},
		"escapes of escapes":             {ops("op: add, path: /metadata/labels/a~01, value: x"), "", same},
		"the last of a list":             {ops("op: remove, path: /spec/dependsOn/-1"), "", same},
		"the end of a list":              {ops("op: add, path: /spec/dependsOn/-, value: {name: d}"), "", same},
		"another name":                   {ops("op: replace, path: /metadata/name, value: x"), "", same},
		"another source":                 {ops("op: replace, path: /spec/sourceRef, value: {kind: GitRepository, name: rw}"), "", same},
		"a section is replaced":          {merge("spec: {$patch: replace, path: x}"), "", same},
		"a section is deleted":           {merge("spec: {sourceRef: {$patch: delete}}"), "", same},
		"a section is merged":            {merge("spec: {$patch: merge, sourceRef: {$patch: merge, name: rw}}"), "", same},
		"a list is replaced":             {merge("spec: {dependsOn: [{name: x}]}"), "", same},
		"a list with a directive":        {merge("spec: {dependsOn: [{$patch: replace}, {name: x}]}"), "", same},
		"the object is deleted":          {merge("$patch: delete"), "", same},
		"the object is replaced":         {merge("$patch: replace, spec: {path: x}"), "", same},
		"no metadata":                    {targeted("metadata: null, spec: {path: x}"), "", unmade},
		"metadata of no kind":            {targeted("metadata: x, spec: {path: x}"), "", unmade},
		"metadata that is a list":        {targeted("metadata: [x], spec: {path: x}"), "", unmade},
		"empty metadata":                 {targeted("metadata: {}, spec: {path: x}"), "", unmade},
		"metadata is deleted":            {targeted("metadata: {name: z, $patch: delete}, spec: {path: x}"), "", same},
		"metadata is replaced":           {targeted("metadata: {name: z, $patch: replace, labels: {a: b}}, spec: {path: x}"), "", same},
		"no namespace in a patch":        {targeted("metadata: {name: z, namespace: null}"), "", same},
		"a namespace that is none":       {targeted("metadata: {name: z, namespace: [x]}"), "", unsure},
		"labels that are none":           {targeted("metadata: {name: z, labels: x, annotations: null}"), "", unsure},
		"no labels":                      {targeted("metadata: {name: z, labels: null}"), "", unsure},
		"no annotations":                 {annotated + "patches: [{target: {kind: Kustomization}, patch: '{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: z, annotations: null}}'}]\n", "", unsure},
		"annotations are deleted":        {annotated + "patches: [{target: {kind: Kustomization}, patch: '{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: z, annotations: {$patch: delete}}}'}]\n", "", same},
		"labels are deleted":             {targeted("metadata: {name: z, labels: {$patch: delete}}"), "", same},
		"labels are empty":               {targeted("metadata: {name: z, labels: {}}"), "", unsure},
		"labels are replaced":            {targeted("metadata: {name: z, labels: {$patch: replace, x: z}}"), "", same},
		"a label is deleted":             {targeted("metadata: {name: z, labels: {app: null}}"), "", unsure},
		"spec that is none":              {targeted("metadata: {name: z}, spec: x"), "", unmade},
		"no spec":                        {targeted("metadata: {name: z}, spec: null"), "", same},
		"spec is deleted":                {targeted("metadata: {name: z}, spec: {$patch: delete}"), "", same},
		"null":                           {merge("spec: {path: null, new: {a: null, b: {c: null}, d: {$patch: delete}}}"), "", same},
		"a text for a section":           {merge("spec: {sourceRef: x}"), "", unmade},
		"an unknown directive":           {merge("spec: {$patch: retain}"), "", unmade},
		"a merge for another namespace":  {strings.Replace(merge("spec: {path: x}"), ", namespace: flux-system", "", 1), "", unmade},
		"a merge renames nothing":        {list + "patches: [{target: {kind: Kustomization}, patch: '{apiVersion: x, kind: y, metadata: {name: z, namespace: n, labels: {a: b}}}'}]\n", "", same},
		"options": {list + "patches: [{target: {kind: Kustomization, name: a}, options: {allowNameChange: true}, patch: '{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: z}}'}]\n",
			"", unsure},
		"replacements":           {list + "replacements: [{source: {kind: GitRepository, name: rw, fieldPath: spec.ref.branch}, targets: [{select: {kind: Kustomization}, fieldPaths: [spec.path]}]}]\n", "", unsure},
		"replacements of others": {list + "replacements: [{source: {kind: GitRepository, name: rw, fieldPath: spec.ref.branch}, targets: [{select: {kind: Deployment}, fieldPaths: [spec.path]}]}]\n", "", same},
		"transformers":           {list + "transformers: ['{apiVersion: builtin, kind: LabelTransformer, metadata: {name: x}, labels: {path: x}, fieldSpecs: [{path: spec}]}']\n", "", unsure},
		"vars for nothing":       {list + "vars: [{name: X, objref: {apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, name: rw}, fieldref: {fieldpath: spec.url}}]\n", "", same},
		"local config":           {list + "patches: [{target: {kind: Kustomization, name: a}, patch: '- {op: add, path: /metadata/annotations, value: {config.kubernetes.io/local-config: \"true\"}}'}]\n", "", same},
		"JSON":                   {"resources: [ks.json]\n", "-- k/ks.json --\n{\"apiVersion\": \"kustomize.toolkit.fluxcd.io/v1\",\n\t\"kind\": \"Kustomization\", \"metadata\": {\"name\": \"j\"}, \"spec\": {\"path\": \"j\"}}\n", same},
		"another name of a file": {"resources: [flux]\n", "-- k/flux --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: j}\nspec: {path: j}\n", same},
		"aliases": {"resources: [alias.yaml]\n", "-- k/alias.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: &n j, labels: &l {a: &a b}, annotations: *l}\nspec:\n  path: *n\n  *a : c\n" +
			"  one: &one {x: 1, y: 2}\n  two: {<<: *one, x: 3}\n  three: {<<: [{x: 4, z: 5}, *one], w: 6}\n  four: [*one, *l]\n", same},
		"aliases of a kustomization.yaml": {"resources: &r [ks.yaml]\nlabels:\n- &x {pairs: {x: z}}\n- {<<: *x, includeTemplates: true}\n", "", same},
		"aliases of a patch":              {list + "patches:\n- target: {kind: Kustomization}\n  patch: |\n    - &x {op: add, path: /spec/x, value: v}\n    - {<<: *x, path: /spec/z}\n", "", same},
		"fields in another case":          {"Resources: [ks.yaml]\nPATCHES: [{Target: {KIND: Kustomization}, Patch: '[{\"op\": \"remove\", \"path\": \"/spec/path\"}]'}]\ncommonlabels: {X: z}\n", "", same},
		"a field twice":                   {list + "Resources: [alias.yaml]\n", "-- k/alias.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: j}\n", unsure},
		"a key twice":                     {"resources: [two.yaml]\npatches: [{patch: '{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: j}, spec: {path: z}}'}]\n", "-- k/two.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: j}\nspec: {path: x, path: y}\n", unmade},
		"lists":                           {"resources: [list.yaml]\n", "-- k/list.yaml --\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: j}, spec: {path: j}}\n", same},
	} {
		t.Run(name, func(t *testing.T) {
			texts := map[string]string{"k/kustomization.yaml": c.k}
			for file, f := range fluxtrees.Parse([]byte(fluxObjects + c.files)) {
				texts[file] = string(f.Data)
			}
			if got, why := compareMade(t, texts, nil); got != c.want {
				t.Errorf("%d, want %d: %s\n%s", got, c.want, why, c.k)
			}
		})
	}
}

// FuzzMade: what is read of objects of Flux is what kustomize makes of them, or the reading says that it does not know.
func FuzzMade(f *testing.F) {
	for seed := range race.Or(uint64(20), 200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		quiet(t)
		texts, adds := patchwork{rand.New(rand.NewPCG(seed, 2))}.tree()
		if got, why := compareMade(t, texts, adds); got == another {
			t.Errorf("seed %d: %s\nwith %+v", seed, why, adds)
			for _, name := range slices.Sorted(maps.Keys(texts)) {
				t.Logf("-- %s --\n%s", name, texts[name])
			}
		}
	})
}

// TestPatchwork: of the trees of FuzzMade most are read, and some are not.
func TestPatchwork(t *testing.T) {
	quiet(t)
	var counts [4]int
	for seed := range race.Or(uint64(100), 300) {
		texts, adds := patchwork{rand.New(rand.NewPCG(seed, 2))}.tree()
		got, _ := compareMade(t, texts, adds)
		counts[got]++
	}
	if all := counts[same] + counts[unsure]; counts[same] < all/2 || counts[unsure] == 0 || 2*all < counts[unmade] {
		t.Errorf("%d the same, %d unsure, %d unmade", counts[same], counts[unsure], counts[unmade])
	}
}

// patchwork makes a tree of a few directories, each of which names those after it and changes what they make.
type patchwork struct{ *rand.Rand }

func (r patchwork) tree() (map[string]string, *graph.Kustomization) {
	texts := map[string]string{}
	dirs := []string{"k", "b", "c"}
	for i, dir := range dirs {
		k := fields{"kind": "Kustomization", "apiVersion": "kustomize.config.k8s.io/v1beta1"}
		if dir == "c" {
			k = fields{"kind": "Component", "apiVersion": "kustomize.config.k8s.io/v1alpha1"}
		}
		k.add("resources", "ks.yaml")
		texts[dir+"/ks.yaml"] = r.objects(dir)
		if dir == "k" {
			k.add("resources", "../b")
		}
		if dir == r.of("k", "b") {
			k.add("components", "../c")
		}
		for range r.IntN(5) {
			r.field(k, i)
		}
		text, _ := yaml.Marshal(k) // texts and lists of texts
		texts[dir+"/kustomization.yaml"] = string(text)
	}
	if r.IntN(5) == 0 {
		delete(texts, "k/kustomization.yaml")
	}
	return texts, r.adds()
}

// adds is a Flux Kustomization that adds something; nil: none.
func (r patchwork) adds() *graph.Kustomization {
	if r.IntN(2) == 0 {
		return nil
	}
	k := &graph.Kustomization{Path: "k"}
	k.TargetNamespace = r.of("", "n")
	if r.IntN(4) == 0 {
		k.Components = []string{"../c"}
	}
	for range r.IntN(3) {
		t := r.target()
		of := func(key string) string { s, _ := t[key].(string); return s }
		k.Patches = append(k.Patches, manifest.Patch{Text: r.patch(), Target: manifest.Target{
			Group: of("group"), Version: of("version"), Kind: of("kind"), Namespace: of("namespace"), Name: of("name"),
			LabelSelector: of("labelSelector"), AnnotationSelector: of("annotationSelector"),
		}})
	}
	return k
}

func (r patchwork) of(all ...string) string { return all[r.IntN(len(all))] }

func (r patchwork) objects(dir string) string {
	var out strings.Builder
	for i := range 1 + r.IntN(3) {
		fmt.Fprintf(&out, "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: %s%d, %s%s}\nspec: {path: ./%s, sourceRef: {kind: GitRepository, name: %s}, dependsOn: [{name: a}]}\n",
			dir, i, []string{"", "namespace: n, ", "namespace: default, "}[i*(1+r.IntN(2))%3], r.of("labels: {a: x}", "annotations: {a: x}", "labels: {a: y, b: z}"), dir, r.of("rw", "main"))
	}
	fmt.Fprintf(&out, "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: s-%s}\nspec: {url: https://example.com, ref: {branch: %s}}\n", dir, r.of("rw", "main"))
	return out.String()
}

func (r patchwork) field(k fields, i int) {
	pairs := func() map[string]any { return map[string]any{r.of("a", "b", "c"): r.of("x", "y", "z")} }
	switch r.IntN(11) {
	case 0:
		k.add("labels", map[string]any{"pairs": pairs()})
	case 1:
		k["commonLabels"] = pairs()
	case 2:
		k["commonAnnotations"] = pairs()
	case 3:
		k["namespace"] = r.of("n", "m")
	case 4:
		k[r.of("namePrefix", "nameSuffix")] = r.of("p", "q")
	case 5, 6, 7:
		k.add("patches", map[string]any{"target": r.target(), "patch": r.patch()})
	case 8:
		k.add("patchesJson6902", map[string]any{"target": map[string]any{"version": "v1", "kind": "Kustomization", "name": ".*" + r.of("0", "1", "p.*")}, "patch": r.operations()})
	case 9:
		k.add("patchesStrategicMerge", r.merge([]string{"k", "b", "c"}[i]+"0", ""))
	case 10:
		if r.IntN(4) == 0 {
			k.add("replacements", map[string]any{"source": map[string]any{"kind": "GitRepository", "name": "s-b", "fieldPath": "spec.ref.branch"},
				"targets": []any{map[string]any{"select": map[string]any{"kind": "Kustomization"}, "fieldPaths": []any{"spec.path"}}}})
		}
	}
}

func (r patchwork) target() map[string]any {
	t := map[string]any{"kind": r.of("Kustomization", "Kustom.*")}
	switch r.IntN(7) {
	case 0:
		t["name"] = r.of("k.*", ".*0", "p?[bc].*", "b1")
	case 1:
		t["namespace"] = r.of("n", "default", "m|n")
	case 2:
		t["labelSelector"] = r.of("a=x", "a!=x", "b", "!b", "a in (x, z)", "c notin (x)", "a==y,b=z")
	case 3:
		t["annotationSelector"] = r.of("a=x", "a", "!a", "a!=x")
	case 4:
		t["version"], t["group"] = r.of("v1", "v.*"), r.of("kustomize.*", ".*")
	}
	return t
}

func (r patchwork) patch() string {
	if r.IntN(2) == 0 {
		return r.operations()
	}
	return r.merge("any", r.of("", ", namespace: n"))
}

func (r patchwork) merge(name, namespace string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + r.of("", "", ", labels: {b: z}", ", annotations: {a: x}", r.of(", $patch: delete", ", $patch: replace", ", labels: null", ", labels: {a: null}", ", annotations: {}", ", labels: x")) + namespace + "}\n" +
		r.of("", "spec: {path: merged}\n", "spec: {sourceRef: {$patch: replace, name: rw}}\n", "spec: {sourceRef: null, x: {y: null, z: 1}}\n", "spec: {dependsOn: [{name: x}]}\n",
			"spec: {$patch: replace, path: merged}\n", "$patch: delete\n", "spec: {sourceRef: {$patch: delete}}\n", "spec: {dependsOn: [{$patch: delete}]}\n", "spec: {new: {a: {$patch: delete, b: c}, d: [null, {e: null}]}}\n")
}

func (r patchwork) operations() string {
	var out strings.Builder
	pointer := func() string {
		if r.IntN(6) > 0 { // of what is mostly there
			return r.of("/spec/path", "/spec/sourceRef", "/spec/sourceRef/name", "/spec/dependsOn/0", "/spec/dependsOn", "/spec/dependsOn/-1")
		}
		return r.of("/spec/dependsOn/-", "/metadata/labels/a", "/metadata/labels", "/metadata/annotations", "/metadata/name", "/spec/ref/branch", "/metadata/namespace", "/spec", "/metadata/labels/a~1b")
	}
	for range 1 + r.IntN(2) {
		switch r.IntN(9) {
		case 0, 1, 2, 6, 7, 8:
			fmt.Fprintf(&out, "- {op: %s, path: %s, value: %s}\n", r.of("add", "replace"), pointer(), r.of("x", "x", "{name: rw, kind: GitRepository}", "[{name: z}]", "1", "true"))
		case 3:
			fmt.Fprintf(&out, "- {op: remove, path: %s}\n", pointer())
		case 4:
			fmt.Fprintf(&out, "- {op: %s, from: %s, path: %s}\n", r.of("move", "copy"), pointer(), pointer())
		case 5:
			fmt.Fprintf(&out, "- {op: test, path: /spec/sourceRef/name, value: %s}\n", r.of("rw", "main"))
		}
	}
	return out.String()
}
