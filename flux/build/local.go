package build

import (
	"bytes"
	"maps"
	"slices"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/sluicegate/sluice/flux/kustomize"
)

// local builds what of an entry stands in the tree. It is not all that the entry makes, and where a patch is for an object from elsewhere nothing is built.
func (b *builder) local(l *lookup, e Entry) (out []made) {
	defer func() {
		if recover() != nil {
			out = nil // what is left is not known
		}
	}()
	if b.left == nil {
		b.left = newBuilder(b.tree.local(), b.limits)
	}
	e.Components = slices.DeleteFunc(slices.Clone(e.Components), kustomize.Remote)
	// Of a file without what it lists from elsewhere nothing else is known than of the file: the questions are the same.
	without := &lookup{b.left.tree, l.asked}
	u := undertaking{without, b.limits, newWalk(without, b.limits, b.left.texts)}
	out, _, _ = u.objects(e) // what is left of one that fails is not known
	return out
}

// local is the tree without what its kustomization.yaml files list from elsewhere.
func (f *files) local() *files {
	out := *f
	out.text = maps.Clone(f.text)
	for name, text := range f.text {
		if kustomize.IsBuild(name) {
			out.text[name] = withoutRemote(text)
		}
	}
	return &out
}

// withoutRemote is a kustomization.yaml without the bases and components that it lists from elsewhere. One that may not be parsed stays as it is.
func withoutRemote(text []byte) []byte {
	if len(text) > maxKustomization || !bytes.ContainsAny(text, ":@/") || tame(text) != nil {
		return text
	}
	var k types.Kustomization
	if yaml.Unmarshal(text, &k) != nil {
		return text
	}
	removed := false
	for _, list := range []*[]string{&k.Resources, &k.Bases, &k.Components} { //nolint:staticcheck // deprecated fields are read all the same
		all := len(*list)
		*list = slices.DeleteFunc(*list, kustomize.Remote)
		removed = removed || len(*list) < all
	}
	if !removed {
		return text
	}
	k.BuildMetadata = append(k.BuildMetadata, types.OriginAnnotations) // as the entry's own has it: kustomize refuses a file that says nothing
	out, err := yaml.Marshal(k)
	if err != nil {
		return text
	}
	return out
}
