package build

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// TestTrees: every entry of every repository is built, and a Flux Kustomization that is built leads to where graph says it does. A path that is not in the tree is one of another branch or repository.
func TestTrees(t *testing.T) {
	built, compared := 0, 0
	fluxtrees.Each(t, func(t *testing.T, name string) {
		tree := fluxtrees.Tree(t, name)
		g, err := graph.Read(tree)
		if err != nil {
			t.Fatal(err)
		}
		clusters, entries := g.Clusters(nil), []Entry(nil)
		for _, c := range clusters {
			entries = append(entries, entriesOf(c)...)
		}
		results, err := Run(t.Context(), command(), tree, all(t, tree), entries, Limits{All: time.Hour})
		if err != nil || len(results) != len(entries) {
			t.Fatalf("%d results for %d entries, %v", len(results), len(entries), err)
		}
		for _, c := range clusters {
			known := map[string]bool{}
			for _, k := range c.Kustomizations {
				known[k.Namespace+"/"+k.Name+" "+k.Path] = k.SourceRef.Kind == "GitRepository"
			}
			own := len(entriesOf(c)) // the first of what is left
			for i, r := range results[:own] {
				built += len(r.Objects)
				_, err := fs.Stat(tree, entries[i].Path)
				if (r.Err != "") != (err != nil) {
					t.Errorf("%s: %s: %s", c.Name, entries[i].Path, r.Err)
				}
				for _, o := range r.Objects {
					if _, err := fs.Stat(tree, o.File); err != nil || o.Kind == "" || o.Name == "" {
						t.Errorf("%s: %s: %+v, %v", c.Name, entries[i].Path, o, err)
					}
					if strings.HasPrefix(o.Source, "GitRepository/") {
						if compared++; !known[o.Namespace+"/"+o.Name+" "+o.Path] {
							t.Errorf("%s: %s: graph does not know %+v of %v", c.Name, entries[i].Path, o, known)
						}
					}
				}
			}
			results, entries = results[own:], entries[own:]
		}
	})
	if built < 50 || compared < 20 {
		t.Errorf("%d objects, %d compared", built, compared)
	}
}

// archive is an archive as a tree.
func archive(text string) fstest.MapFS { return fluxtrees.Parse([]byte(text)) }

// all is every file of a tree but links.
func all(t testing.TB, tree fs.FS) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			out = append(out, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// entriesOf is what is built for the entry points of a cluster.
func entriesOf(c graph.Cluster) []Entry {
	var out []Entry
	for _, e := range c.Entries() {
		out = append(out, NewEntry(e))
	}
	return out
}

// one builds one entry.
func one(t *testing.T, tree fs.FS, e Entry) Result {
	t.Helper()
	results, err := Run(t.Context(), command(), tree, all(t, tree), []Entry{e}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return results[0]
}

// lines is a result on lines, for people.
func lines(r Result) string {
	var out strings.Builder
	for _, o := range r.Objects {
		fmt.Fprintf(&out, "%s %s/%s < %s", o.Kind, o.Namespace, o.Name, o.File)
		if o.Path != "" {
			fmt.Fprintf(&out, " > %s of %s", o.Path, o.Source)
		}
		out.WriteByte('\n')
	}
	if r.Err != "" {
		fmt.Fprintf(&out, "error: %s\n", r.Err)
	}
	return out.String()
}

const (
	configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n"
	plainFile = "-- app/kustomization.yaml --\nresources: [a.yaml]\n-- app/a.yaml --\n" + configMap
	fluxFile  = `-- app/flux.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  path: ./${cluster}/../../apps
  sourceRef: {kind: GitRepository, name: fleet}
`
)

// TestBuild: what Flux would make of an entry.
func TestBuild(t *testing.T) {
	for name, c := range map[string]struct {
		files string
		entry Entry
		want  string
	}{
		"a kustomization.yaml": {plainFile, Entry{}, "ConfigMap /a < app/a.yaml\n"},
		"what the entry adds": {
			plainFile + "-- more/kustomization.yaml --\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [b.yaml]\n" +
				"-- more/b.yaml --\n" + strings.ReplaceAll(configMap, "name: a", "name: b"),
			Entry{
				Components: []string{"../more"}, TargetNamespace: "shop", NamePrefix: "x-", NameSuffix: "-y",
				Patches: []manifest.Patch{{Target: manifest.Target{Kind: "ConfigMap", Name: "b"}, Text: `[{"op": "replace", "path": "/kind", "value": "Other"}]`}},
			},
			"ConfigMap shop/x-a-y < app/a.yaml\nOther shop/x-b-y < more/b.yaml\n",
		},
		"a merge without a target": {
			plainFile, Entry{Patches: []manifest.Patch{{Text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n$patch: delete\n"}}}, "",
		},
		"no kustomization.yaml: all YAML, and directories that have one as units": {
			"-- app/z.yml --\n" + configMap + "-- app/deep/down/b.yaml --\n" + strings.ReplaceAll(configMap, "name: a", "name: b") +
				"-- app/unit/kustomization.yaml --\nnamePrefix: unit-\nresources: [c.yaml]\n-- app/unit/c.yaml --\n" + configMap +
				"-- app/unit/unused.yaml --\n:\n-- app/.sops.yaml --\n:\n-- app/.github/x.yaml --\n:\n-- app/README.md --\n:\n",
			Entry{},
			"ConfigMap /b < app/deep/down/b.yaml\nConfigMap /unit-a < app/unit/c.yaml\nConfigMap /a < app/z.yml\n",
		},
		"a kustomization.yaml that is left out": {
			"-- app/kustomization.yaml --\nresources: [a.yaml]\n-- app/a.yaml --\n" + configMap + "-- app/b.yaml --\n" + strings.ReplaceAll(configMap, "name: a", "name: b"),
			Entry{Ignore: "kustomization.yaml"}, "ConfigMap /a < app/a.yaml\nConfigMap /b < app/b.yaml\n",
		},
		"what Flux leaves out by default, taken in": {
			"-- app/.sops.yaml --\n" + configMap + "-- app/.sourceignore --\n!.sops.yaml\n", Entry{}, "ConfigMap /a < app/.sops.yaml\n",
		},
		"out of the tree is its root": {
			"-- app/kustomization.yaml --\nresources: [../../../base]\n-- base/kustomization.yaml --\nresources: [a.yaml]\n-- base/a.yaml --\n" + configMap,
			Entry{Path: "../../app"}, "ConfigMap /a < base/a.yaml\n",
		},
		"a generator": {
			"-- app/Kustomization --\nconfigMapGenerator: [{name: g, files: [k=../v.txt], options: {disableNameSuffixHash: true}}]\n-- v.txt --\nv\n",
			Entry{}, "ConfigMap /g < app/Kustomization\n",
		},
		"variables": {
			"-- app/${n}.yaml --\n" + strings.ReplaceAll(configMap, "name: a", "name: \"a-${n:=none}\", namespace: \"${n}\"") + fluxFile,
			Entry{Variables: manifest.Variables{Values: map[string]string{"n": "one", "cluster": "eu"}}},
			"ConfigMap one/a-one < app/${n}.yaml\nKustomization flux-system/apps < app/flux.yaml > apps of GitRepository/flux-system/fleet\n",
		},
		"variables that an object refuses": {
			"-- app/a.yaml --\n" + strings.ReplaceAll(configMap, "name: a", "name: \"a-${n}\", labels: {kustomize.toolkit.fluxcd.io/substitute: disabled}"),
			Entry{Variables: manifest.Variables{Values: map[string]string{"n": "one"}}}, "ConfigMap /a-${n} < app/a.yaml\n",
		},
		"a list is its objects": {
			"-- app/a.yaml --\napiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Secret, metadata: {name: a}}, {apiVersion: v1, kind: Secret, metadata: {name: b}}]\n",
			Entry{}, "Secret /a < app/a.yaml\nSecret /b < app/a.yaml\n",
		},
		"no such directory":         {plainFile, Entry{Path: "other"}, "error: the path is not a directory of the tree\n"},
		"a file is no directory":    {plainFile, Entry{Path: "app/a.yaml"}, "error: the path is not a directory of the tree\n"},
		"a file that is not there":  {"-- app/kustomization.yaml --\nresources:\n  - b.yaml\n", Entry{}, "error: app/kustomization.yaml:2: app/b.yaml is not in the tree\n"},
		"a directory without a way": {"-- app/kustomization.yaml --\nresources:\n  - ../b\n-- b/a.yaml --\n", Entry{}, "error: app/kustomization.yaml:2: b is not a directory with a kustomization.yaml\n"},
		"a component that is not there": {
			plainFile, Entry{Components: []string{"../more"}}, "error: app/kustomization.yaml: more is not a directory with a kustomization.yaml\n",
		},
		"a component that may be missing": {
			plainFile, Entry{Components: []string{"../more"}, Optional: true}, "ConfigMap /a < app/a.yaml\n",
		},
		"one that may be, and is there": {
			plainFile + "-- more/kustomization.yaml --\nkind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nnamePrefix: x-\n", Entry{Components: []string{"../more"}, Optional: true}, "ConfigMap /x-a < app/a.yaml\n",
		},
		"an absolute path": {"-- app/kustomization.yaml --\nresources: [/app/a.yaml]\n-- app/a.yaml --\n" + configMap, Entry{}, "error: app/kustomization.yaml:1: /app/a.yaml is an absolute path\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.entry.Path == "" {
				c.entry.Path = "app"
			}
			if got := lines(one(t, archive(c.files), c.entry)); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// TestPlaced: what kustomize says is wrong begins with the file that it is wrong in, as compilers do.
func TestPlaced(t *testing.T) {
	const top, base = "-- app/kustomization.yaml --\nresources: [../base]\n", "-- base/kustomization.yaml --\n"
	const patch = "patches: [{patch: '{kind: ConfigMap, apiVersion: v1, metadata: {name: other}}'}]\n"
	const unknown = `no resource matches strategic merge patch "ConfigMap.v1.[noGrp]/other.[noNs]": `
	twice := "-- app/b.yaml --\n" + configMap + "-- app/a.yaml --\n" + configMap
	const again = "app/b.yaml: may not add resource with an already registered id: ConfigMap.v1.[noGrp]/a.[noNs]\n"
	for name, c := range map[string]struct{ files, want string }{
		"no YAML":                       {"-- app/kustomization.yaml --\nresources: [a.yaml]\n-- app/a.yaml --\na: [\n", "app/a.yaml: yaml: line 1: did not find expected node content\n"},
		"no YAML, in no list":           {"-- app/x/a.yaml --\na: [\n", "app/x/a.yaml: yaml: line 1: did not find expected node content\n"},
		"no YAML, below":                {top + base + "resources: [x/a.yaml]\n-- base/x/a.yaml --\na: [\n", "base/x/a.yaml: yaml: line 1: did not find expected node content\n"},
		"no object":                     {"-- app/kustomization.yaml --\nresources: [a.yaml]\n-- app/a.yaml --\na: b\n", "app/a.yaml: missing Resource metadata\n"},
		"one object twice":              {"-- app/kustomization.yaml --\nresources: [a.yaml, b.yaml]\n" + twice, again},
		"one object twice, in no list":  {twice, again},
		"a patch for nothing":           {"-- app/kustomization.yaml --\nresources: [a.yaml]\n" + patch + twice, "app/kustomization.yaml: " + unknown},
		"a patch for nothing, below":    {top + base + "resources: [../down]\n-- down/kustomization.yml --\n" + patch + "resources: [a.yaml]\n-- down/a.yaml --\n" + configMap, "down/kustomization.yml: " + unknown},
		"a patch for nothing, a part":   {"-- app/kustomization.yaml --\ncomponents: [../c]\n-- c/kustomization.yaml --\nkind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n" + patch, "c/kustomization.yaml: " + unknown},
		"a patch for nothing, no list":  {"-- app/x/kustomization.yaml --\n" + patch, "app/x/kustomization.yaml: " + unknown},
		"one object twice, of parts":    {"-- app/kustomization.yaml --\nresources: [../base, ../more]\n" + base + "resources: [a.yaml]\n-- base/a.yaml --\n" + configMap + "-- more/kustomization.yaml --\nresources: [a.yaml]\n-- more/a.yaml --\n" + configMap, "more/kustomization.yaml: may not add resource with"},
		"a name that says something":    {"-- app/kustomization.yaml --\nresources: [\"a in File: b': must build at directory: .yaml\"]\n-- app/a in File: b': must build at directory: .yaml --\na: [\n", "app/"},
		"a kustomization.yaml as wrong": {"-- app/kustomization.yaml --\nresources: a\n", "app/kustomization.yaml: "},
	} {
		if r := one(t, archive(c.files), Entry{Path: "app"}); !strings.HasPrefix(r.Err+"\n", c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, r.Err, c.want)
		}
	}
}

// TestKept: what an object says that Flux leaves in the cluster, by annotation or label, whoever writes it there.
func TestKept(t *testing.T) {
	const made = "-- app/kustomization.yaml --\n"
	for text, want := range map[string]bool{
		"-- app/a.yaml --\n" + configMap: false,
		"-- app/a.yaml --\n" + strings.ReplaceAll(configMap, "name: a", "name: a, annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}"):                                              true,
		"-- app/a.yaml --\n" + strings.ReplaceAll(configMap, "name: a", "name: a, annotations: {kustomize.toolkit.fluxcd.io/prune: enabled}"):                                               false,
		"-- app/a.yaml --\n" + strings.ReplaceAll(configMap, "name: a", "name: a, labels: {kustomize.toolkit.fluxcd.io/prune: disabled}"):                                                   true,
		"-- app/a.yaml --\n" + strings.ReplaceAll(configMap, "name: a", "name: a, annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}"):                                          false, // which never gets there
		"-- app/a.yaml --\n" + strings.ReplaceAll(configMap, "name: a", "name: a, annotations: {kustomize.toolkit.fluxcd.io/prune: disabled, kustomize.toolkit.fluxcd.io/ssa: ignore}"):     false,
		"-- app/a.yaml --\n" + strings.ReplaceAll(configMap, "name: a", "name: a, annotations: {kustomize.toolkit.fluxcd.io/prune: disabled, kustomize.toolkit.fluxcd.io/ssa: \"${ssa}\"}"): false,
		made + "resources: [a.yaml]\ncommonAnnotations: {kustomize.toolkit.fluxcd.io/prune: disabled}\n-- app/a.yaml --\n" + configMap:                                                      true,
		made + "configMapGenerator: [{name: g, literals: [a=b]}]\ngeneratorOptions: {annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}}\n":                                         true,
	} {
		r := one(t, archive(text), Entry{Path: "app"})
		if len(r.Objects) != 1 || r.Objects[0].Kept != want {
			t.Errorf("%s: %+v", text, r)
		}
	}
}

// TestScope: what has no namespace in Kubernetes has none here, whatever is written.
func TestScope(t *testing.T) {
	for kind, want := range map[string]string{"rbac.authorization.k8s.io/v1\nkind: ClusterRole": "", "rbac.authorization.k8s.io/v1\nkind: Role": "a", "acme.example/v1\nkind: ClusterThing": "a"} {
		r := one(t, archive("-- app/a.yaml --\napiVersion: "+kind+"\nmetadata: {name: a, namespace: a}\n"), Entry{Path: "app"})
		if len(r.Objects) != 1 || r.Objects[0].Namespace != want {
			t.Errorf("%s: %+v", kind, r)
		}
	}
}

// TestKinds: a variable in a kind or an apiVersion is filled in, too.
func TestKinds(t *testing.T) {
	for api, want := range map[string]string{
		"v1": "", "${api}": "acme.example", "${group}/v1": "acme.example", "${core}": "", "${none}": "${none}", "${none}/v1": "${none}", "apps/${version}": "apps",
	} {
		vars := map[string]string{"api": "acme.example/v1", "group": "acme.example", "core": "v1", "version": "v1", "kind": "Namespace"}
		r := one(t, archive("-- app/a.yaml --\napiVersion: "+api+"\nkind: ${kind}\nmetadata: {name: a}\n"), Entry{Path: "app", Variables: manifest.Variables{Values: vars}})
		if len(r.Objects) != 1 || r.Objects[0].Group != want || r.Objects[0].Kind != "Namespace" {
			t.Errorf("%s: %+v", api, r)
		}
	}
}

// TestDefinition: of a CustomResourceDefinition what cannot be changed of it counts beside its name.
func TestDefinition(t *testing.T) {
	crd := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: shops.acme.example}\nspec: {group: acme.example, scope: \"${scope}\", names: {kind: Shop, plural: shops}}\n"
	r := one(t, archive("-- app/r.yaml --\n"+crd), Entry{Path: "app", Variables: manifest.Variables{Values: map[string]string{"scope": "Cluster"}}})
	if len(r.Objects) != 1 || r.Objects[0].Source != "Cluster Shop" || r.Objects[0].Path == "" {
		t.Errorf("%+v", r)
	}
	forced := one(t, archive("-- app/r.yaml --\n"+strings.Replace(crd, "metadata: {", "metadata: {annotations: {kustomize.toolkit.fluxcd.io/force: enabled}, ", 1)), Entry{Path: "app"})
	if len(forced.Objects) != 1 || forced.Objects[0].Source != "${scope} Shop "+forced.Objects[0].Path {
		t.Errorf("%+v", forced)
	}
}

// TestNewEntry: the root has what its own Kustomization adds, and every Flux Kustomization that reads this repository what it adds itself.
func TestNewEntry(t *testing.T) {
	patch := []manifest.Patch{{Text: "x"}}
	k := func(name, path string, here bool) *graph.Kustomization {
		return &graph.Kustomization{Object: graph.Object{Namespace: "ns", Name: name}, SourceRef: manifest.Ref{Namespace: "flux-system", Name: "flux-system"}, Path: path, Here: here}
	}
	own := k("flux-system", "clusters/a", true)
	own.Patches = patch
	c := graph.Cluster{Root: graph.Root{Path: "clusters/a"}}
	c.Kustomizations = []*graph.Kustomization{own, k("a", "a", true), k("a", "b", true), k("b", "b", false)}
	var got []string
	for _, e := range entriesOf(c) {
		got = append(got, fmt.Sprintf("%s %d", e.Path, len(e.Patches)))
	}
	if want := []string{"clusters/a 1", "a 0", "b 0"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestNames: what a Flux Kustomization says of prefix and suffix names what it makes, here and in the graph.
func TestNames(t *testing.T) {
	tree := archive("-- clusters/a/ks.yaml --\n" + flux("apps", "namePrefix: x-, nameSuffix: -y, path: ./apps") + "-- apps/ks.yaml --\n" + flux("child", "path: ./child") + "-- child/cm.yaml --\n" + configMap)
	g, err := graph.Read(tree)
	if err != nil {
		t.Fatal(err)
	}
	c := g.Clusters(nil)[0]
	results, err := Run(t.Context(), command(), tree, all(t, tree), entriesOf(c), Limits{})
	if err != nil || len(results) != 3 || len(c.Kustomizations) != 2 {
		t.Fatal(results, c.Kustomizations, err)
	}
	if built, read := results[1].Objects[0].Name, c.Kustomizations[1].Name; built != "x-child-y" || read != built {
		t.Errorf("built %q, read %q", built, read)
	}
}

func flux(name, spec string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\nspec: {" + spec +
		", sourceRef: {kind: GitRepository, name: flux-system}}\n"
}
