package build

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/manifest"
)

// eachText sets one text after the other of a kustomization.yaml, each alone.
func eachText(v reflect.Value, name string, then func(name string)) {
	if !v.CanSet() {
		return
	}
	before := reflect.New(v.Type()).Elem()
	before.Set(v)
	defer v.Set(before)
	switch v.Kind() {
	case reflect.String:
		v.SetString("none")
		then(name)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		eachText(v.Elem(), name, then)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		eachText(v.Index(0), name, then)
	case reflect.Map:
		if v.Type().Elem().Kind() == reflect.String {
			v.Set(reflect.ValueOf(map[string]string{"path": "none"}))
			then(name + ".path")
		}
	case reflect.Struct:
		switch of := v.Addr().Interface().(type) { // without these kustomize looks at no file
		case *types.Patch:
			of.Target = &types.Selector{ResId: resid.NewResId(resid.GvkFromString("ConfigMap.v1"), "none")}
		case *types.GeneratorArgs:
			of.Name = "none"
		}
		for i := range v.NumField() {
			eachText(v.Field(i), strings.TrimPrefix(name+"."+v.Type().Field(i).Name, "."), then)
		}
	}
}

// TestFields: whatever field of a kustomization.yaml has kustomize look for a file, the walk that guards it and the one that says who reads what look
// for it, too, and neither looks for more. Charts are left out: of them graph knows more than is built.
func TestFields(t *testing.T) {
	var k types.Kustomization
	named := 0
	eachText(reflect.ValueOf(&k).Elem(), "", func(field string) {
		content, err := yaml.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(field, "Helm") {
			return
		}
		tree := newFiles()
		tree.add("k/kustomization.yaml", content, false)
		guard, kustomize := newLookup(tree), newLookup(tree)
		newWalk(guard, Limits{}, map[string]*text{}).unit("k", nil)
		func() {
			defer func() { _ = recover() }() // of half a patch kustomize makes a panic
			_, _ = krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(view{lookup: kustomize}, "/k")
		}()
		g, err := graph.Read(fstest.MapFS{"k/kustomization.yaml": {Data: content}})
		if err != nil {
			t.Fatal(err)
		}
		c := g.Clusters([]graph.Root{{Name: "k", Path: "k", URL: "https://example.org/acme/fleet"}})
		reads := len(c) == 1 && slices.ContainsFunc(g.Problems, func(p manifest.Problem) bool { return strings.Contains(p.Text, `names "none"`) })
		looks := func(l *lookup) bool {
			return slices.ContainsFunc(l.questions(), func(q question) bool { return strings.Contains(string(q), "k/none") })
		}
		if guards, builds := looks(guard), looks(kustomize); guards != reads || guards != builds {
			t.Errorf("%s: build %t, graph %t, kustomize %t", field, guards, reads, builds)
		} else if guards {
			named++
		}
	})
	if named != 19 {
		t.Errorf("%d fields that name files", named)
	}
}
