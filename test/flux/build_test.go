package flux

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	deploy "github.com/sluicegate/sluice/deploy/flux"
)

// object is one Kubernetes object as YAML gives it.
type object map[string]any

// at gives the value at a path of keys, nil where there is none.
func (o object) at(keys ...string) any {
	var v any = map[string]any(o)
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

// text is the value at a path of keys where that is text, else "".
func (o object) text(keys ...string) string {
	s, _ := o.at(keys...).(string)
	return s
}

// id tells one object of a cluster from another.
func (o object) id() string {
	return strings.Join([]string{o.text("apiVersion"), o.text("kind"), o.text("metadata", "namespace"), o.text("metadata", "name")}, " ")
}

// name is what other Flux objects call it by.
func (o object) name() string { return o.text("kind") + "/" + o.text("metadata", "name") }

// decode reads every document of a YAML file.
func decode(data []byte) ([]object, error) {
	var out []object
	for dec := yaml.NewDecoder(strings.NewReader(string(data))); ; {
		var o map[string]any // not object: the decoder would give nested maps that type too
		switch err := dec.Decode(&o); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		}
		out = append(out, o)
	}
}

// tree is a repository in memory that remembers what is read of it.
type tree struct {
	filesys.FileSystem
	read []string
}

// ReadFile implements filesys.FileSystem.
func (t *tree) ReadFile(name string) ([]byte, error) {
	data, err := t.FileSystem.ReadFile(name)
	if err == nil {
		t.read = append(t.read, strings.TrimPrefix(name, "/"))
	}
	return data, err
}

// newTree copies files into memory, each below the root.
func newTree(t *testing.T, from fs.FS) *tree {
	t.Helper()
	out := &tree{FileSystem: filesys.MakeFsInMemory()}
	for _, name := range paths(t, from) {
		data, err := fs.ReadFile(from, name)
		if err != nil {
			t.Fatal(err)
		}
		if err := out.WriteFile("/"+name, data); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// paths lists every file, sorted.
func paths(t *testing.T, from fs.FS) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(from, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// build makes what Flux would apply of a directory. One without a kustomization.yaml has every YAML file below it, as
// kustomize-controller does.
func (f *tree) build(dir string) ([]object, error) {
	dir = "/" + path.Clean(dir)
	file := dir + "/kustomization.yaml"
	if !f.Exists(file) {
		if err := f.generate(dir); err != nil {
			return nil, err
		}
		defer func() { _ = f.RemoveAll(file) }()
	}
	if err := f.local(dir); err != nil {
		return nil, err
	}
	f.read = nil
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(f, dir)
	if err != nil {
		return nil, err
	}
	var out []object
	for _, r := range built.Resources() {
		m, err := r.Map()
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// generate writes the kustomization.yaml that kustomize-controller would.
func (f *tree) generate(dir string) error {
	k := types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind}}
	err := f.Walk(dir, func(p string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() && path.Ext(p) == ".yaml" {
			k.Resources = append(k.Resources, strings.TrimPrefix(p, dir+"/"))
		}
		return err
	})
	if err != nil {
		return err
	}
	data, err := yaml.Marshal(map[string]any{"apiVersion": k.APIVersion, "kind": k.Kind, "resources": k.Resources})
	if err != nil {
		return err
	}
	return f.WriteFile(dir+"/kustomization.yaml", data)
}

// local refuses a kustomization that names what is no file of the tree: kustomize would look for it on the network.
func (f *tree) local(dir string) error {
	data, err := f.ReadFile(dir + "/kustomization.yaml")
	if err != nil {
		return err
	}
	var k types.Kustomization
	if err := k.Unmarshal(data); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	for _, r := range slices.Concat(k.Resources, k.Components, k.Crds) {
		p := path.Join(dir, r)
		switch {
		case !f.Exists(p):
			return fmt.Errorf("%s: %s is not in the tree", dir, r)
		case f.IsDir(p):
			if err := f.local(p); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestKustomizationsBuild(t *testing.T) {
	for root, from := range map[string]fs.FS{"sample": deploy.Sample(), "deploy/flux": os.DirFS("../../deploy/flux")} {
		f := newTree(t, from)
		n := 0
		for _, p := range paths(t, from) {
			if path.Base(p) != "kustomization.yaml" {
				continue
			}
			n++
			built, err := f.build(path.Dir(p))
			if err != nil {
				t.Errorf("%s: %v", root, err)
			} else if len(built) == 0 {
				t.Errorf("%s: %s builds nothing", root, p)
			}
			for _, o := range built {
				for _, bad := range unknownFields(o) {
					t.Errorf("%s: %s: %s: no field %s", root, p, o.id(), bad)
				}
			}
		}
		if n < 5 {
			t.Errorf("%s: %d kustomizations", root, n)
		}
	}
}

// TestBadKustomizationsFail: what the test above is for.
func TestBadKustomizationsFail(t *testing.T) {
	const head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
	for name, text := range map[string]string{
		"a field that kustomize does not know": head + "resource:\n  - pages.yaml\n",
		"a file that is not there":             head + "resources:\n  - page.yaml\n",
		"a base elsewhere":                     head + "resources:\n  - https://github.com/acme/base\n",
		"another kind":                         "apiVersion: v1\nkind: Kustomize\nresources:\n  - pages.yaml\n",
		"nothing":                              head,
	} {
		f := newTree(t, deploy.Sample())
		const dir = "clusters/cluster-1/apps/nginx-rt"
		if err := f.WriteFile("/"+dir+"/kustomization.yaml", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := f.build(dir); err == nil {
			t.Errorf("%s: it builds", name)
		}
	}
}
