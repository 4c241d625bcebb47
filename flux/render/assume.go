package render

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/kustomize"
)

// maxAssumed bounds the directories of all clusters that are looked at: each is followed as if Flux read it.
const maxAssumed = 2000

// assume gives the clusters of which Git has no Flux Kustomization those that their directories stand for: one for each directory below the
// root that kustomize builds and no other one there reads. They have no place in a file. Fail closed: what is beyond a bound might be windowed.
func (in Input) assume() (Input, error) {
	var dirs []string
	clusters := slices.Clone(in.Clusters)
	for i, c := range clusters {
		if slices.ContainsFunc(c.Kustomizations, func(k *graph.Kustomization) bool { return !root(c, k) }) || in.Graph == nil {
			continue
		}
		if dirs == nil {
			if dirs = in.builds(); len(dirs) > maxAssumed {
				return Input{}, errors.New(wordManyAssumed())
			}
		}
		tops, err := in.tops(c, dirs)
		if err != nil {
			return Input{}, err
		}
		clusters[i].Kustomizations = append(slices.Clone(c.Kustomizations), tops...)
	}
	if err := in.charge("", 0, 0, 0); err != nil {
		return Input{}, err
	}
	if in.Clusters = clusters; in.Graph != nil && in.Graph.Beyond() != "" {
		return Input{}, errors.New(in.Graph.Beyond())
	}
	return in, nil
}

// assumed reports whether a Kustomization stands in no file.
func assumed(k *graph.Kustomization) bool { return k.File == "" }

// builds is every directory of the tree that kustomize builds, sorted; of more than are looked at one more.
func (in Input) builds() []string {
	var out []string
	_ = fs.WalkDir(in.Tree, ".", func(name string, entry fs.DirEntry, err error) error { // what cannot be listed was a problem before
		switch base := path.Base(name); {
		case err != nil || len(out) > maxAssumed:
			return fs.SkipAll
		case entry.IsDir() && (name != "." && strings.HasPrefix(base, ".") || base == fluxNamespace):
			return fs.SkipDir
		case kustomize.IsBuild(base):
			out = append(out, path.Dir(name))
		}
		return nil
	})
	return out
}

// tops is what Flux would be pointed at below a cluster's root.
func (in Input) tops(c graph.Cluster, dirs []string) (all []*graph.Kustomization, err error) {
	read := map[string]string{} // by whom a file is read first
	shared := map[string]bool{} // files that several read
	for _, dir := range dirs {
		if err := in.charge(dir, 1, 2, 0); err != nil {
			return nil, err
		}
		if !strings.HasPrefix(dir, strings.TrimPrefix(c.Path+"/", "./")) || dir == c.Path {
			continue
		}
		k := &graph.Kustomization{
			Object: graph.Object{APIVersion: "kustomize.toolkit.fluxcd.io/v1", Kind: "Kustomization", Namespace: fluxNamespace, Name: slug(path.Base(dir), "entry")},
			Path:   dir, Here: true,
		}
		in.Graph.Follow(k)
		for _, file := range k.Files() {
			if err := in.charge(file, 1, 1, 0); err != nil {
				return nil, err
			}
			if read[file] != "" {
				shared[file] = true
			}
			read[file] = cmp.Or(read[file], dir)
		}
		all = append(all, k)
	}
	below := func(k *graph.Kustomization) bool {
		return slices.ContainsFunc(kustomize.BuildNames(), func(name string) bool { return shared[path.Join(k.Path, name)] })
	}
	all = slices.DeleteFunc(all, below)
	names := map[string]int{}
	for _, k := range all {
		names[k.Name]++
	}
	for _, k := range all {
		if names[k.Name] > 1 { // two of one name: what leads to them tells them apart
			k.Name = slug(strings.TrimPrefix(k.Path, strings.TrimPrefix(c.Path+"/", "./")), "entry")
		}
	}
	return all, nil
}
