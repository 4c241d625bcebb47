package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"

	"github.com/sluicegate/sluice/graph"
)

// builder builds entries of one tree.
type builder struct {
	tree   *files
	limits Limits
	walk   *walk
	left   *builder // of the tree without what comes from elsewhere; nil: nothing asked for it
}

func newBuilder(tree *files, l Limits) *builder {
	return &builder{tree: tree, limits: l, walk: newWalk(tree, l)}
}

// maxErr is how long an error may be, in bytes: kustomize's may hold the files that it is about.
const maxErr = 2000

// build builds one entry. Whatever goes wrong is said in the result.
func (b *builder) build(e Entry) Result {
	objects, text, err := b.objects(e)
	if err != nil {
		var remote *remoteError
		text := strings.Join(strings.Fields(err.Error()), " ")
		r := Result{Err: strings.ToValidUTF8(text[:min(len(text), maxErr)], ""), Remote: errors.As(err, &remote) || strings.Contains(text, wordAway)}
		if r.Remote && !e.Whole { // who asks for manifests has to know all of them
			r.Objects = b.local(e)
		}
		return r
	}
	return Result{Objects: objects, Text: text}
}

func (b *builder) objects(e Entry) (out []Object, text []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, text, err = nil, nil, errors.New(wordPanic(v))
		}
	}()
	dir := clean(e.Path)
	built, err := b.run(dir, e)
	if err != nil {
		return nil, nil, err
	}
	if e.Whole {
		text, err = manifests(built)
		return nil, text, err
	}
	for _, r := range built.Resources() {
		o, err := object(r, dir, e.Variables)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, o)
	}
	return out, nil, nil
}

// run has kustomize build an entry.
func (b *builder) run(dir string, e Entry) (resmap.ResMap, error) {
	file, k, err := b.top(dir, e)
	if err != nil {
		return nil, err
	}
	if err := b.walk.entry(dir, file, k); err != nil {
		b.walk.units = map[string]*unit{} // a cycle or a depth may be this entry's alone
		return nil, err
	}
	if !e.Whole && !slices.Contains(k.BuildMetadata, types.OriginAnnotations) {
		k.BuildMetadata = append(k.BuildMetadata, types.OriginAnnotations)
	}
	text, err := yaml.Marshal(k)
	if err != nil {
		return nil, err
	}
	options := &krusty.Options{LoadRestrictions: types.LoadRestrictionsNone, PluginConfig: types.DisabledPluginConfig()}
	built, err := krusty.MakeKustomizer(options).Run(view{files: b.tree, over: file, text: text}, path.Join("/", dir))
	if err == nil && built.Size() > b.limits.Objects {
		err = errors.New(wordObjects(b.limits.Objects))
	}
	return built, err
}

// manifests is the objects that package graph reads.
func manifests(built resmap.ResMap) ([]byte, error) {
	var out []byte
	for _, r := range built.Resources() {
		if !graph.IsRead(r.GetKind()) {
			continue
		}
		text, err := r.AsYAML()
		if err != nil {
			return nil, err
		}
		out = append(append(out, "---\n"...), text...)
	}
	return out, nil
}

// top is the kustomization.yaml that Flux would build: what the directory has, or one made for it, with what the entry adds.
func (b *builder) top(dir string, e Entry) (string, *types.Kustomization, error) {
	if !b.tree.dirs[dir] {
		return "", nil, errors.New(wordPath)
	}
	k := &types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind}}
	file := b.tree.kustomization(dir)
	if file == "" {
		file = path.Join(dir, konfig.DefaultKustomizationFileName())
		k.Resources = b.tree.generated(dir, dir, b.tree.ignored(e))
	} else if text, err := b.walk.kustomization(file); err != nil {
		return "", nil, err
	} else if err := yaml.Unmarshal(text, k); err != nil {
		return "", nil, fmt.Errorf("%s: %w", file, err)
	}
	if e.TargetNamespace != "" {
		k.Namespace = e.TargetNamespace
	}
	if e.NamePrefix != "" {
		k.NamePrefix = e.NamePrefix
	}
	if e.NameSuffix != "" {
		k.NameSuffix = e.NameSuffix
	}
	k.Components = append(k.Components, e.Components...)
	for _, p := range e.Patches {
		k.Patches = append(k.Patches, types.Patch{Patch: p.Text, Target: selector(p.Target)})
	}
	return file, k, nil
}

func selector(t graph.Target) *types.Selector {
	if t == (graph.Target{}) {
		return nil
	}
	return &types.Selector{
		ResId:         resid.ResId{Gvk: resid.Gvk{Group: t.Group, Version: t.Version, Kind: t.Kind}, Name: t.Name, Namespace: t.Namespace},
		LabelSelector: t.LabelSelector, AnnotationSelector: t.AnnotationSelector,
	}
}

// kustomization is the file that kustomize builds a directory by; "" if there is none.
func (f *files) kustomization(dir string) string {
	for _, base := range konfig.RecognizedKustomizationFileNames() {
		name := path.Join(dir, base)
		if _, ok := f.text[name]; ok || f.left[name] {
			return name
		}
	}
	return ""
}

// generated is the resources of a directory that has no kustomization.yaml, relative to a base, without what is left out.
func (f *files) generated(dir, base string, left ignoreList) []string {
	var out []string
	for _, name := range f.in[dir] {
		ext, list := path.Ext(name), f.kustomization(name)
		switch {
		case graph.LeftOut(path.Base(name)) || !f.dirs[name] && left.has(name):
		case f.dirs[name] && (list == "" || left.has(list)):
			out = append(out, f.generated(name, base, left)...)
		case f.dirs[name] || ext == ".yaml" || ext == ".yml":
			out = append(out, "./"+strings.TrimPrefix(name, strings.TrimPrefix(base+"/", "./")))
		}
	}
	return out
}

// object is what counts of an object that was built.
func object(r *resource.Resource, dir string, vars graph.Variables) (Object, error) {
	o := Object{Group: r.GetGvk().Group, Kind: r.GetKind(), Namespace: r.GetNamespace(), Name: r.GetName()}
	from, err := r.GetOrigin()
	if err != nil {
		return o, err
	}
	if from != nil && from.Repo == "" {
		file := from.Path
		if file == "" {
			file = from.ConfiguredIn
		}
		o.File = clean(path.Join(dir, file))
	}
	if r.GetAnnotations()[noSubstitution] == "disabled" || r.GetLabels()[noSubstitution] == "disabled" {
		vars = graph.Variables{}
	}
	for _, key := range keepers() {
		o.Kept = o.Kept || r.GetAnnotations()[key] == "disabled" || r.GetLabels()[key] == "disabled"
	}
	o.Namespace, o.Name = vars.Expand(o.Namespace), vars.Expand(o.Name)
	if o.Group != "kustomize.toolkit.fluxcd.io" || o.Kind != "Kustomization" {
		return o, nil
	}
	text, err := r.MarshalJSON()
	if err == nil {
		o.flux(text, vars)
	}
	return o, err
}

// noSubstitution is what an object says that Flux fills no variables into.
const noSubstitution = "kustomize.toolkit.fluxcd.io/substitute"

// keepers is what an object says that kustomize-controller leaves in the cluster when it leaves its Kustomization.
func keepers() []string {
	return []string{"kustomize.toolkit.fluxcd.io/prune", "kustomize.toolkit.fluxcd.io/reconcile"}
}

// flux reads where a Flux Kustomization leads to.
func (o *Object) flux(text []byte, vars graph.Variables) {
	var k struct {
		Spec struct {
			Path      string
			SourceRef struct{ Kind, Namespace, Name string }
		}
	}
	if json.Unmarshal(text, &k) != nil {
		return
	}
	ref := k.Spec.SourceRef
	if ref.Namespace == "" {
		ref.Namespace = o.Namespace
	}
	o.Path = clean(vars.Expand(k.Spec.Path))
	o.Source = vars.Expand(ref.Kind + "/" + ref.Namespace + "/" + ref.Name)
}
