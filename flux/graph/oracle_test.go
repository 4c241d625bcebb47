package graph_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/internal/race"
)

// unbuilt is the entry points that kustomize cannot build from the tree alone, and why. What they read is in the trees' own expectations.
var unbuilt = map[string]string{
	"unreached prod/flux-system/vendor":          "a base in another repository",
	"fields prod/flux-system/helm":               "helm is not run",
	"builds prod/flux-system/apps-rw":            "it must not build",
	"duplicates-remote prod/flux-system/apps-rt": "a base in another repository",
	"duplicates-remote prod/flux-system/apps-rw": "a base in another repository",
	"builds-ignored prod/flux-system/plain":      "kustomize knows no .sourceignore, and graph reads what it leaves out all the same",
}

// TestOracle: an entry point reads a file exactly if kustomize builds something else, or nothing, without the file or with another text in
// its place. In every tree, for every entry point.
func TestOracle(t *testing.T) {
	quiet(t)
	n := 0
	fluxtrees.Each(t, func(t *testing.T, name string) { n += oracles(t, name, fluxtrees.Tree(t, name), nil) })
	fluxtrees.Graphs(t, func(t *testing.T, g fluxtrees.Graph) {
		n += oracles(t, g.Name, g.Tree, roots(g))
		if g.Base != nil {
			n += oracles(t, g.Name, g.Base, nil)
		}
	})
	if n < 150 {
		t.Errorf("only %d entry points were built", n)
	}
}

// roots is the clusters that a tree expects to be named.
func roots(g fluxtrees.Graph) []graph.Root {
	var out []graph.Root
	for _, line := range g.Expect("graph") {
		if w := strings.Fields(line); w[0] == "cluster" && len(w) == 5 {
			out = append(out, graph.Root{Name: w[1], Path: w[2], Branch: w[3]})
		}
	}
	return out
}

// oracles asks kustomize about every entry point of a tree, and gives how many it built.
func oracles(t *testing.T, name string, tree fs.FS, named []graph.Root) int {
	t.Helper()
	o, g, built := newOracle(t, tree), read(t, tree), map[string]bool{}
	clusters := g.Clusters(named)
	for i := range clusters {
		for _, e := range clusters[i].Entries() {
			s := specOf(e)
			key := fmt.Sprint(s)
			if built[key] || unbuilt[name+" "+entryName(e)] != "" || !o.fs.IsDir("/"+s.path) {
				continue
			}
			built[key] = true
			want, err := o.reads(s, e.Files())
			if err != nil {
				t.Errorf("%s does not build: %v", entryName(e), err)
				continue
			}
			differ(t, name, entryName(e), e.Files(), want)
		}
	}
	return len(built)
}

// differ says of which files graph and kustomize do not agree.
func differ(t *testing.T, name, entry string, got, want []string) {
	t.Helper()
	for _, file := range got {
		if !slices.Contains(want, file) {
			t.Errorf("%s: %s: graph says that it reads %s; whatever happens to that, kustomize builds the same", name, entry, file)
		}
	}
	for _, file := range want {
		if !slices.Contains(got, file) {
			t.Errorf("%s: %s: kustomize reads %s, and graph does not say so", name, entry, file)
		}
	}
}

// entryName is an entry point as the expectations name it.
func entryName(e graph.Entry) string {
	if e.Kustomization == nil {
		return e.Cluster.Name + "/root"
	}
	return e.Cluster.Name + "/" + e.Kustomization.Namespace + "/" + e.Kustomization.Name
}

// spec is what of a Flux Kustomization decides what is built.
type spec struct {
	path, namespace string
	components      []string
	patches         []manifest.Patch
}

// specOf is the spec of an entry point. A root has that of its own Kustomization, if it applies one.
func specOf(e graph.Entry) spec {
	s := spec{path: e.Path()}
	k := e.Kustomization
	for i := 0; k == nil && i < len(e.Cluster.Kustomizations); i++ {
		if own := e.Cluster.Kustomizations[i]; own.Path == e.Cluster.Path {
			k = own
		}
	}
	if k != nil {
		s.namespace, s.components, s.patches = k.TargetNamespace, k.Components, k.Patches
	}
	return s
}

// oracle builds entry points of a tree as kustomize-controller does.
type oracle struct {
	fs     filesys.FileSystem
	texts  map[string][]byte
	agreed int // files that graph says are read, and kustomize read
}

// left out of what source-controller hands on, whatever a repository says.
var ignored = []string{".sops.yaml", ".flux.yaml", ".goreleaser.yml", ".travis.yml", ".gitlab-ci.yml", "appveyor.yml", ".drone.yml", ".gitignore"}

func newOracle(t *testing.T, tree fs.FS) *oracle {
	t.Helper()
	o := &oracle{fs: filesys.MakeFsInMemory(), texts: map[string][]byte{}}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, ".github/") || slices.Contains(ignored, path.Base(name)) {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		o.texts[name] = data
		return errors.Join(err, o.fs.WriteFile("/"+name, data))
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// garbage is no YAML, no JSON and no list of variables, and another text than any file has.
const garbage = "\t{ sluice: [ \x01 = }\n"

// reads is the files without which something else is built, sorted. A file of which kustomize reads nothing, and of which nobody says that it does,
// is not tried; of those of which both say so the race detector leaves time for the first of a tree, and then every fourth.
func (o *oracle) reads(s spec, also []string) ([]string, error) {
	record := &recorder{FileSystem: o.fs}
	whole, err := build(record, s)
	if err != nil {
		return nil, err
	}
	var out []string
	slices.Sort(record.read)
	for _, file := range slices.Sorted(maps.Keys(o.texts)) {
		_, known := slices.BinarySearch(record.read, "/"+file)
		said := slices.Contains(also, file)
		if !known && !said {
			continue
		}
		if known && said {
			if o.agreed++; race.Enabled && o.agreed%4 != 1 {
				out = append(out, file)
				continue
			}
		}
		differs := o.differs(s, whole, func() error { return o.fs.RemoveAll("/" + file) }) ||
			o.differs(s, whole, func() error { return o.fs.WriteFile("/"+file, []byte(garbage)) })
		if err := o.fs.WriteFile("/"+file, o.texts[file]); err != nil {
			return nil, err
		}
		if differs {
			out = append(out, file)
		}
	}
	slices.Sort(out)
	return out, nil
}

// differs reports whether something else is built after a change of the tree, or nothing.
func (o *oracle) differs(s spec, whole string, change func() error) bool {
	if err := change(); err != nil {
		return true
	}
	now, err := build(o.fs, s)
	return err != nil || now != whole
}

// recorder remembers what is read.
type recorder struct {
	filesys.FileSystem
	read []string
}

// ReadFile implements filesys.FileSystem.
func (r *recorder) ReadFile(name string) ([]byte, error) {
	r.read = append(r.read, path.Clean(name))
	return r.FileSystem.ReadFile(name)
}

// build builds a directory as Flux does: the directory's kustomization.yaml, or one over all YAML files below it, with what the Flux
// Kustomization adds.
func build(tree filesys.FileSystem, s spec) (out string, err error) {
	dir := path.Join("/", s.path)
	file, own, fields, err := kustomization(tree, dir)
	if err != nil {
		return "", err
	}
	fields.add("components", toAny(s.components)...)
	for _, p := range s.patches {
		t := map[string]any{}
		for key, value := range map[string]string{"group": p.Target.Group, "version": p.Target.Version, "kind": p.Target.Kind, "namespace": p.Target.Namespace,
			"name": p.Target.Name, "labelSelector": p.Target.LabelSelector, "annotationSelector": p.Target.AnnotationSelector} {
			if value != "" {
				t[key] = value
			}
		}
		patch := map[string]any{"patch": p.Text}
		if len(t) > 0 {
			patch["target"] = t
		}
		fields.add("patches", patch)
	}
	if s.namespace != "" {
		fields["namespace"] = s.namespace
	}
	data, err := yaml.Marshal(fields)
	if err != nil {
		return "", err
	}
	if err := errors.Join(local(tree, dir, 0), tree.WriteFile(file, data)); err != nil {
		return "", err
	}
	defer func() {
		if own == nil {
			err = errors.Join(err, tree.RemoveAll(file))
			return
		}
		err = errors.Join(err, tree.WriteFile(file, own))
	}()
	return runKustomize(tree, dir)
}

// runKustomize runs kustomize, which panics at a broken schema and keeps schemas from one run to the next.
func runKustomize(tree filesys.FileSystem, dir string) (out string, err error) {
	known := openapi.GetSchemaVersion()
	defer func() {
		p := recover()
		if p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if p != nil || openapi.GetSchemaVersion() != known {
			openapi.ResetOpenAPI() // costs more than a build: not each time
		}
	}()
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsNone // as kustomize-controller has it
	made, err := krusty.MakeKustomizer(options).Run(tree, dir)
	if err != nil {
		return "", err
	}
	text, err := made.AsYaml()
	return string(text), err
}

// quiet keeps kustomize's warnings of old fields out of what a test prints.
func quiet(t *testing.T) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stderr
	os.Stderr = null
	t.Cleanup(func() {
		os.Stderr = before
		_ = null.Close() // nothing of it is kept
	})
}

// fields is what stands in a kustomization.yaml.
type fields map[string]any

// add adds entries to a list.
func (f fields) add(key string, entries ...any) {
	if len(entries) > 0 {
		list, _ := f[key].([]any)
		f[key] = append(list, entries...)
	}
}

func toAny(texts []string) []any {
	var out []any
	for _, t := range texts {
		out = append(out, t)
	}
	return out
}

// kustomization is what a directory is built of: its file, the text of that and what it says; nil text: there is none, and every YAML file
// below is listed, a directory that has one being a unit.
func kustomization(tree filesys.FileSystem, dir string) (file string, text []byte, f fields, err error) {
	if file = kfile(tree, dir); file != "" {
		if text, err = tree.ReadFile(file); err == nil {
			err = yaml.Unmarshal(text, &f)
		}
		if f == nil {
			f = fields{}
		}
		return file, text, f, err
	}
	f = fields{"apiVersion": types.KustomizationVersion, "kind": types.KustomizationKind}
	err = scan(tree, dir, dir, f)
	return dir + "/kustomization.yaml", nil, f, err
}

func kfile(tree filesys.FileSystem, dir string) string {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if file := path.Join(dir, name); tree.Exists(file) && !tree.IsDir(file) {
			return file
		}
	}
	return ""
}

// scan lists the YAML files below a directory.
func scan(tree filesys.FileSystem, top, dir string, f fields) error {
	names, err := tree.ReadDir(dir)
	slices.Sort(names)
	for _, name := range names {
		p := path.Join(dir, name)
		switch {
		case !tree.IsDir(p) && (path.Ext(p) == ".yaml" || path.Ext(p) == ".yml"):
			f.add("resources", strings.TrimPrefix(p, top+"/"))
		case tree.IsDir(p) && kfile(tree, p) != "":
			f.add("resources", strings.TrimPrefix(p, top+"/"))
		case tree.IsDir(p):
			err = errors.Join(err, scan(tree, top, p, f))
		}
	}
	return err
}

// local refuses what kustomize would fetch or run.
func local(tree filesys.FileSystem, dir string, depth int) error {
	_, _, f, err := kustomization(tree, dir)
	if err != nil {
		return err
	}
	if depth > kustomize.MaxDepth {
		return fmt.Errorf("%s: lists lead too deep", dir)
	}
	if f["helmCharts"] != nil {
		return fmt.Errorf("%s: helm is not run", dir)
	}
	for _, key := range []string{"resources", "bases", "components"} {
		list, _ := f[key].([]any)
		for _, entry := range list {
			r := fmt.Sprint(entry)
			switch p := path.Join(dir, r); {
			case !tree.Exists(p):
				return fmt.Errorf("%s: %s: %w", dir, r, os.ErrNotExist)
			case tree.IsDir(p) && kfile(tree, p) != "":
				if err := local(tree, p, depth+1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// FuzzOracle: graph and kustomize agree about trees that are made of a seed.
func FuzzOracle(f *testing.F) {
	for seed := range race.Or(uint64(8), 20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		quiet(t)
		tree := files(random{rand.New(rand.NewPCG(seed, 1)), map[string]string{}}.tree())
		o, g := newOracle(t, tree), read(t, tree)
		clusters := g.Clusters([]graph.Root{{Name: "k", Path: "k"}})
		e := clusters[0].Entries()[1]
		want, err := o.reads(specOf(e), e.Files())
		if err != nil {
			t.Error(err)
		}
		differ(t, fmt.Sprint("seed ", seed), "k", e.Files(), want)
		for file, text := range o.texts {
			if t.Failed() {
				t.Logf("-- %s --\n%s", file, text)
			}
		}
	})
}

// random makes a tree of a few directories. Each of them but the first may be named by one before it; those with an odd number are components.
type random struct {
	*rand.Rand
	texts map[string]string
}

func (r random) tree() map[string]string {
	const dirs = 6
	bare := min(1, r.IntN(5)) // 0: the first directory has no kustomization.yaml
	named := map[int]fields{}
	var components []string // of the Flux Kustomization
	for d := range dirs {
		k := fields{"kind": types.KustomizationKind, "apiVersion": types.KustomizationVersion}
		if d%2 == 1 {
			k = fields{"kind": types.ComponentKind, "apiVersion": types.ComponentVersion}
		}
		named[d] = k
		r.texts[fmt.Sprintf("d%d/below/f.yaml", d)] = object(d, 0)
		r.file(d, ".yaml", object(d, 1)) // that nobody names
		k.add("resources", r.file(d, ".yaml", object(d, 2)))
		for range r.IntN(5) * min(1, d+bare) {
			r.field(k, d)
		}
		switch from := r.IntN(d + 1); {
		case d > 0 && from < d && r.IntN(5) > 0:
			key := []string{"resources", "components"}[d%2]
			named[from].add(key, fmt.Sprintf("../d%d", d))
		case d%2 == 1:
			components = append(components, strings.Repeat("../", 1+r.IntN(4))+fmt.Sprintf("d%d", d)) // ../ ends at the root
		}
	}
	r.texts["d0/unit/kustomization.yaml"] = "resources: [f.yaml]\n"
	r.texts["d0/unit/f.yaml"], r.texts["d0/unit/g.yaml"] = object(0, 3), object(0, 4)
	r.texts["k/ks.yaml"] = fmt.Sprintf(`apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: k, namespace: flux-system}
spec:
  path: ./d0/
  components: [%s]
  targetNamespace: k
  patches:
    - target: {kind: ConfigMap}
      patch: |
        - {op: add, path: /data/k, value: x}
`, strings.Join(components, ", "))
	for d, k := range named {
		if d+bare == 0 {
			continue
		}
		data, _ := yaml.Marshal(k) // texts and lists of texts
		r.texts[fmt.Sprintf("d%d/%s", d, konfig.RecognizedKustomizationFileNames()[d%3])] = string(data)
	}
	return r.texts
}

func object(d, n int) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm-%d-%d}\ndata: {a: b}\n", d, n)
}

// file adds a file to a directory and gives its name.
func (r random) file(d int, ext, text string) string {
	name := fmt.Sprintf("f%d%s", len(r.texts), ext)
	r.texts[fmt.Sprintf("d%d/%s", d, name)] = text
	return name
}

// field adds something to a kustomization.yaml that names a file.
func (r random) field(k fields, d int) {
	n := len(r.texts)
	switch r.IntN(10) {
	case 0:
		k.add("patches", map[string]any{"target": map[string]any{"kind": "ConfigMap"}, "path": r.file(d, ".yaml", fmt.Sprintf("- {op: add, path: /data/p%d, value: x}\n", n))})
	case 1:
		k.add("configMapGenerator", map[string]any{"name": fmt.Sprint("gen-", n), "files": []any{r.file(d, ".txt", "a"), "key=" + r.file(d, ".txt", "b")}})
	case 2:
		k.add("secretGenerator", map[string]any{"name": fmt.Sprint("secret-", n), "envs": []any{r.file(d, ".env", "A=1\n")}})
	case 3:
		k.add("transformers", r.file(d, ".yaml", fmt.Sprintf("apiVersion: builtin\nkind: AnnotationsTransformer\nmetadata: {name: t%d}\nannotations: {a%d: b}\nfieldSpecs: [{path: metadata/annotations, create: true}]\n", n, n)))
	case 4:
		made := r.file(d, ".txt", "made")
		k.add("generators", r.file(d, ".yaml", fmt.Sprintf("apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: made-%d}\nfiles: [%s]\n", n, made)))
	case 5:
		k.add("patchesJson6902", map[string]any{"target": map[string]any{"version": "v1", "kind": "ConfigMap", "name": fmt.Sprintf("cm-%d-2", d)},
			"path": r.file(d, ".yaml", fmt.Sprintf("- {op: add, path: /data/j%d, value: x}\n", n))})
	case 6:
		k.add("replacements", map[string]any{"path": r.file(d, ".yaml", fmt.Sprintf("source: {kind: ConfigMap, name: cm-%d-2, fieldPath: data.a}\ntargets: []\n", d))})
	case 7:
		k.add("configurations", r.file(d, ".yaml", "nameReference:\n  - kind: ConfigMap\n    version: v1\n    fieldSpecs: [{path: data/a, kind: ConfigMap}]\n"))
	case 8:
		k.add("crds", r.file(d, ".json", `{"com.example.Widget": {"Schema": {"properties": {"kind": {"type": "string"}}}}}`))
	case 9:
		k.add("patchesStrategicMerge", r.file(d, ".yaml", fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm-%d-2}\ndata: {m%d: x}\n", d, n)))
	}
}
