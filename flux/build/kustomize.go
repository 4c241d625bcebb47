package build

import (
	"bytes"
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
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"

	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
)

// builder builds entries of one tree.
type builder struct {
	tree    *files
	limits  Limits
	texts   map[string]*text
	answers *answers
	away    *refusing
	left    *builder // of the tree without what comes from elsewhere; nil: nothing asked for it
}

func newBuilder(tree *files, l Limits) *builder {
	return &builder{tree: tree, limits: l, texts: map[string]*text{}, answers: newAnswers(tree), away: &refusing{}}
}

// maxErr is how long an error may be, in bytes: kustomize's may hold the files that it is about.
const maxErr = 2000

// outcome is what a child says of an entry.
type outcome struct {
	Objects []made
	Text    []byte `json:",omitempty"`
	Err     string `json:",omitempty"`
	Remote  bool   `json:",omitempty"`
	// All that the tree was asked for it, sorted, and the hash of its answers; none of what is not kept.
	Asked  []question `json:",omitempty"`
	Digest sum
}

// build builds one entry. Whatever goes wrong is said in the outcome.
func (b *builder) build(e Entry) outcome {
	l := newLookup(b.tree)
	out := b.made(l, e)
	if len(l.asked) <= maxAsked {
		out.Asked = l.questions()
		out.Digest = b.answers.digest(out.Asked)
	}
	return out
}

// keeps reports whether an outcome is kept: that an entry needs something from elsewhere stands in the tree as well as what it makes, while what failed
// may be mended by more than the tree. Manifests with a Secret stay where they are: the file that it was made of may be in no repository.
func (o *outcome) keeps() bool {
	return (o.Err == "" || o.Remote) && !bytes.Contains(o.Text, []byte("\nkind: Secret\n"))
}

// made is what an entry makes of the tree that is asked.
func (b *builder) made(l *lookup, e Entry) outcome {
	u := undertaking{l, b.limits, newWalk(l, b.limits, b.texts)}
	b.away.asked.Store(false)
	objects, text, err := u.objects(e)
	if err == nil {
		return outcome{Objects: objects, Text: text}
	}
	var remote *remoteError
	short := strings.Join(strings.Fields(err.Error()), " ")
	out := outcome{Err: strings.ToValidUTF8(short[:min(len(short), maxErr)], ""), Remote: errors.As(err, &remote) || b.away.asked.Swap(false)}
	if out.Remote && !e.Whole { // who asks for manifests has to know all of them
		out.Objects = b.local(l, e)
	}
	return out
}

// undertaking is the build of one entry.
type undertaking struct {
	*lookup
	limits Limits
	walk   *walk
}

func (u *undertaking) objects(e Entry) (out []made, text []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, text, err = nil, nil, errors.New(wordPanic(v))
		}
	}()
	dir := clean(e.Path)
	built, err := u.run(dir, e)
	if err != nil {
		return nil, nil, err
	}
	if e.Whole {
		text, err = manifests(built)
		return nil, text, err
	}
	for _, r := range built.Resources() {
		o, err := object(r, dir)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, o)
	}
	return out, nil, nil
}

// run has kustomize build an entry.
func (u *undertaking) run(dir string, e Entry) (resmap.ResMap, error) {
	file, k, err := u.top(dir, e)
	if err != nil {
		return nil, err
	}
	if err := u.walk.entry(dir, file, k); err != nil {
		return nil, err
	}
	if !e.Whole && !slices.Contains(k.BuildMetadata, types.OriginAnnotations) {
		k.BuildMetadata = append(k.BuildMetadata, types.OriginAnnotations)
	}
	text, err := yaml.Marshal(k)
	if err != nil {
		return nil, err
	}
	if u.walk.schema {
		// kustomize keeps for the process what it knows of APIs. To parse that anew costs more than most builds.
		openapi.ResetOpenAPI()
		defer openapi.ResetOpenAPI()
	}
	options := &krusty.Options{LoadRestrictions: types.LoadRestrictionsNone, PluginConfig: types.DisabledPluginConfig()}
	built, err := krusty.MakeKustomizer(options).Run(view{lookup: u.lookup, over: file, content: text}, path.Join("/", dir))
	if err != nil {
		return nil, u.placed(dir, err)
	}
	if built.Size() > u.limits.Objects {
		return nil, errors.New(wordObjects(u.limits.Objects))
	}
	return built, nil
}

// manifests is the objects that package graph reads.
func manifests(built resmap.ResMap) ([]byte, error) {
	var out []byte
	for _, r := range built.Resources() {
		if !manifest.IsRead(r.GetKind()) {
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
func (u *undertaking) top(dir string, e Entry) (string, *types.Kustomization, error) {
	if !u.directory(dir) {
		return "", nil, errors.New(wordPath)
	}
	k := &types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind}}
	file := u.kustomization(dir)
	if file == "" || u.ignored(e, nil).Has(file, kustomize.Free) {
		file = path.Join(dir, konfig.DefaultKustomizationFileName())
		k.Resources = u.generated(dir, dir, u.ignored(e, u.below(dir, 0)))
	} else if text, err := u.walk.content(file); err != nil {
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
	for _, c := range e.Components {
		if !e.Optional || u.directory(path.Join(dir, c)) {
			k.Components = append(k.Components, c)
		}
	}
	for _, p := range e.Patches {
		k.Patches = append(k.Patches, types.Patch{Patch: p.Text, Target: selector(p.Target)})
	}
	return file, k, nil
}

func selector(t manifest.Target) *types.Selector {
	if t == (manifest.Target{}) {
		return nil
	}
	return &types.Selector{
		ResId:         resid.ResId{Gvk: resid.Gvk{Group: t.Group, Version: t.Version, Kind: t.Kind}, Name: t.Name, Namespace: t.Namespace},
		LabelSelector: t.LabelSelector, AnnotationSelector: t.AnnotationSelector,
	}
}

// kustomization is the file that kustomize builds a directory by; "" if there is none.
func (l *lookup) kustomization(dir string) string {
	for _, base := range konfig.RecognizedKustomizationFileNames() {
		name := path.Join(dir, base)
		if _, ok := l.text(name); ok || l.left(name) {
			return name
		}
	}
	return ""
}

// generated is the resources of a directory that has no kustomization.yaml, relative to a base, without what is left out.
func (l *lookup) generated(dir, base string, left kustomize.Ignores) []string {
	var out []string
	for _, name := range l.list(dir) {
		ext, list := path.Ext(name), l.kustomization(name)
		switch {
		case !l.directory(name) && left.Has(name, kustomize.Free):
		case l.directory(name) && (list == "" || left.Has(list, kustomize.Free)):
			out = append(out, l.generated(name, base, left)...)
		case l.directory(name) || ext == ".yaml" || ext == ".yml":
			out = append(out, "./"+strings.TrimPrefix(name, strings.TrimPrefix(base+"/", "./")))
		}
	}
	return out
}

// made is an object before Flux fills variables into it.
type made struct {
	Object       // a name, a path and a source as they are written
	Literal bool `json:",omitempty"` // Flux fills nothing in
}

// object is what counts of an object that was built.
func object(r *resource.Resource, dir string) (made, error) {
	o := made{Object: Object{Group: r.GetGvk().Group, Kind: r.GetKind(), Namespace: r.GetNamespace(), Name: r.GetName()}}
	if r.GetGvk().IsClusterScoped() {
		o.Namespace = "" // which Kubernetes takes away
	}
	if api := r.GetApiVersion(); manifest.Unfilled(api) != "" {
		o.Group = api // of which the variables may be more
	}
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
	o.Literal = r.GetAnnotations()[noSubstitution] == "disabled" || r.GetLabels()[noSubstitution] == "disabled"
	says := func(key, value string) bool {
		key = manifest.GroupKustomize + "/" + key
		return strings.EqualFold(r.GetAnnotations()[key], value) || strings.EqualFold(r.GetLabels()[key], value)
	}
	open := func(key string) bool {
		key = manifest.GroupKustomize + "/" + key
		return manifest.Unfilled(r.GetAnnotations()[key]+r.GetLabels()[key]) != ""
	}
	away := says("reconcile", "disabled") || says("ssa", "Ignore") || says("ssa", "IfNotPresent") || open("reconcile") || open("ssa") // then it does not get there
	o.Kept = says("prune", "disabled") && !away
	if o.Group == "" && o.Kind == "ConfigMap" {
		o.Source = manifest.ValuesOf(r.GetDataMap())
	}
	if manifest.Takes(o.Group, o.Kind) { // of a CustomResourceDefinition neither scope nor kind can be changed
		scope, _ := r.GetString("spec.scope")
		kind, _ := r.GetString("spec.names.kind")
		text, err := r.MarshalJSON()
		h := &manifest.Digest{}
		h.Add(string(text))
		if o.Source, o.Path = strings.TrimSpace(scope+" "+kind), h.String(); says("force", "enabled") {
			o.Source += " " + o.Path
		}
		return o, err
	}
	if !manifest.Leads(o.Group, o.Kind) {
		return o, nil
	}
	text, err := r.MarshalJSON()
	if err == nil {
		o.leads(text)
	}
	return o, err
}

// noSubstitution is what an object says that Flux fills no variables into.
const noSubstitution = "kustomize.toolkit.fluxcd.io/substitute"

// leads reads where an object leads Flux. What Flux would refuse leads nowhere.
func (o *Object) leads(text []byte) {
	var k struct {
		Spec struct {
			Path, URL           string
			SourceRef, ChartRef manifest.Ref
			Ref                 manifest.Revision
			Chart               struct {
				Spec struct {
					Chart     string
					SourceRef manifest.Ref
				}
			}
		}
	}
	if json.Unmarshal(text, &k) != nil {
		return
	}
	switch o.Kind {
	case "Kustomization":
		o.Path, o.Source = k.Spec.Path, manifest.LedBy(k.Spec.SourceRef, o.Namespace)
	case "HelmRelease":
		if chart := k.Spec.Chart.Spec; chart.SourceRef.Name != "" {
			o.Path, o.Source = chart.Chart, manifest.LedBy(chart.SourceRef, o.Namespace)
		} else {
			o.Source = manifest.LedBy(k.Spec.ChartRef, o.Namespace)
		}
	default:
		o.Source = k.Spec.Ref.Of(k.Spec.URL)
	}
}

// filled is the object with variables filled in. That costs little, so that entries that differ in their variables alone share a build.
func (o made) filled(vars manifest.Variables) Object {
	if o.Literal {
		vars = manifest.Variables{}
	}
	out := o.Object
	if out.Kind = vars.Expand(o.Kind); manifest.Unfilled(o.Group) != "" {
		group, _, found := strings.Cut(vars.Expand(o.Group), "/")
		if out.Group = group; !found && manifest.Unfilled(group) == "" {
			out.Group = "" // v1
		}
	}
	out.Namespace, out.Name, out.Source = vars.Expand(o.Namespace), vars.Expand(o.Name), vars.Expand(o.Source)
	if o.Source != "" && manifest.Leads(o.Group, o.Kind) {
		out.Path = clean(vars.Expand(o.Path))
	}
	return out
}
