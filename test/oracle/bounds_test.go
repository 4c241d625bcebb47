package oracle

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// refused is the features that are always errors of check, or almost: what sluice does not read, what it cannot know, and what windows nothing.
var refused = []string{
	"by-hand", "conflict", "hidden-name", "late-value", "mirror", "name-by-hand", "ref-by-hand",
	"no-directory", "unmatched", "untracked",
	"bound-alias", "bound-build", "bound-clusters", "bound-depth", "bound-document", "bound-entries", "bound-file", "bound-keys", "bound-lists",
	"bound-operations", "bound-target", "bound-url", "bound-uses", "bound-value", "bound-values",
}

// bound puts something that an entry point is made of behind a bound of what sluice reads.
func (m *maker) bound(h *home, k doc) {
	spec := k["spec"].(doc)
	name, dir, n := object(k).name(), textOf(spec["path"]), fmt.Sprint(m.id())
	choices := []string{"bound-alias", "bound-build", "bound-depth", "bound-document", "bound-entries", "bound-file", "bound-keys", "bound-lists", "bound-value", "bound-values"}
	if h.list != nil {
		choices = append(choices, "bound-operations", "bound-target")
	}
	annotated := func(annotations doc) { k["metadata"].(doc)["annotations"] = annotations }
	put := doc{"op": "replace", "path": "/spec/path", "value": dir}
	patch := func(target string, operations ...any) {
		spec["path"] = m.wrong()
		h.list["patches"] = append(anyOf(h.list["patches"]), doc{"target": doc{"kind": "Kustomization", "name": target}, "patch": yamlText(operations)})
	}
	switch m.pick(choices...) {
	case "bound-document":
		annotated(doc{"long": strings.Repeat("x", 300<<10)})
	case "bound-keys":
		annotated(many(1001))
	case "bound-alias":
		annotated(doc{"a": "LONG"})
		aliases := "a: &long " + strings.Repeat("x", 10<<10) + "\n"
		for i := range 30 {
			aliases += fmt.Sprintf("    a%d: *long\n", i)
		}
		m.alone(h, k, "alias"+n+".yaml", strings.Replace(yamlText(k), "a: LONG\n", aliases, 1))
	case "bound-file":
		m.alone(h, k, "long"+n+".yaml", strings.Repeat("# "+strings.Repeat("x", 1021)+"\n", 4<<10+1)+yamlText(k))
	case "bound-lists":
		all := doc(maps.Clone(k))
		for range 9 {
			all = doc{"apiVersion": "v1", "kind": "List", "items": []any{all}}
		}
		m.alone(h, k, "lists"+n+".yaml", yamlText(all))
	case "bound-entries":
		m.put("components/empty/kustomization.yaml", "commonAnnotations: {a: b}\n")
		m.yaml(h.root+"/d"+n+"/ks.yaml", maps.Clone(k))
		entries := append(slices.Repeat([]any{up(h.root+"/d") + "components/empty"}, 2000), "ks.yaml")
		m.alone(h, k, "d"+n, "")
		m.yaml(h.root+"/d"+n+"/kustomization.yaml", doc{"resources": entries})
	case "bound-build":
		m.yaml("base/b"+n+"/cm.yaml", configMap("base-"+n, doc{"a": "b"}))
		m.put(dir+"/kustomization.yaml", strings.Repeat("# "+strings.Repeat("x", 1021)+"\n", 300)+"resources: [cm.yaml, ../../base/b"+n+"/cm.yaml]\n")
	case "bound-depth":
		at := path.Clean(dir)
		for range 52 {
			m.put(at+"/kustomization.yaml", "resources: [d]\n")
			at += "/d"
		}
		m.put(at+"/kustomization.yaml", "resources: [cm.yaml]\n")
		m.yaml(at+"/cm.yaml", configMap("deep-"+n, doc{"a": "b"}))
	case "bound-operations":
		patch(name, append(slices.Repeat([]any{doc{"op": "test", "path": "/kind", "value": "Kustomization"}}, 2000), put)...)
	case "bound-target":
		patch(name+strings.Repeat("|"+name, 30), put)
	case "bound-values":
		m.long(h, k, n, doc{"DIR": strings.TrimPrefix(dir, "./apps/"), "long": strings.Repeat("x", 5<<10)})
	case "bound-value":
		m.long(h, k, n, doc{"DIR": strings.Repeat("./", 600) + strings.TrimPrefix(dir, "./apps/")})
	}
}

// many is a section of so many keys.
func many(n int) doc {
	out := doc{}
	for i := range n {
		out[fmt.Sprint("a", i)] = "b"
	}
	return out
}

// alone writes the definition of an entry point into a file of its own, or wherever that leads to.
func (m *maker) alone(h *home, k doc, file, text string) {
	if text != "" {
		m.put(h.root+"/"+file, text)
	}
	h.files = append(h.files, file)
	for key := range k {
		delete(k, key)
	}
	maps.Copy(k, configMap("nothing-"+path.Base(file), doc{"a": "b"}))
}

// long has another entry point apply this one, whose path is a variable of an object that is too long to be read.
func (m *maker) long(h *home, k doc, n string, data doc) {
	m.yaml("apps/wrong/cm.yaml", configMap("wrong", doc{"a": "b"}))
	child, spec := doc(maps.Clone(k)), maps.Clone(k["spec"].(doc))
	spec["path"] = "./apps/${DIR:=wrong}"
	child["spec"] = spec
	m.yaml("parents/p"+n+"/ks.yaml", child)
	parent := kustomization("parent"+n+"-"+h.name, "./parents/p"+n, "flux-system")
	parent["spec"].(doc)["postBuild"] = doc{"substituteFrom": []any{doc{"kind": "ConfigMap", "name": "values" + n}}}
	h.defs = append(h.defs, configMap("values"+n, data))
	for key := range k {
		delete(k, key)
	}
	maps.Copy(k, parent)
}

// chain is sources that each include the next one, the first of them included itself: more than sluice follows. What all of them hand on is the last one's.
func (m *maker) chain(first doc, name string) (out []doc) {
	shared := "shared/" + name
	include := doc{"fromPath": shared, "toPath": shared}
	for i := range 10 {
		next := git(fmt.Sprintf("chain%d-%s", i, name), m.url(), doc{"branch": mainBranch})
		if i == 9 {
			m.yaml("deep/"+name+"/cm.yaml", configMap("deep-"+name, doc{"a": "b"}))
			m.put(shared+"/kustomization.yaml", "resources: [cm.yaml, deep/cm.yaml]\n")
			include = doc{"fromPath": "deep/" + name, "toPath": shared + "/deep"}
		}
		include["repository"] = doc{"name": object(next).name()}
		first["spec"].(doc)["include"] = []any{maps.Clone(include)}
		out, first = append(out, next), next
	}
	return out
}

// examples is as many clusters as sluice follows. None of them is there.
func (m *maker) examples() {
	for i := range 500 {
		name := fmt.Sprintf("b%03d", i)
		m.yaml("b/"+name+"/flux-system/gotk-sync.yaml", git("flux-system", ours[0], doc{"branch": mainBranch}), kustomization("flux-system", "./b/"+name, "flux-system"))
	}
}

// longURL is this repository as nobody would write it.
var longURL = "https://github.com/" + strings.Repeat("./", 1100) + "org/fleet"
