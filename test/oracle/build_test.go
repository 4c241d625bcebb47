package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/fluxcd/pkg/kustomize"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// built is what a Flux Kustomization makes of an artifact.
type built struct {
	objects []object
	trace   trace
	err     error
}

// builder builds, and remembers what it built: a build whose questions have the same answers is the same.
type builder struct {
	known map[string][]*built // by the Kustomization's spec and what its variables are
	count int
	whole func(n int) bool // reports whether the nth build is compared with Flux's own
	wrong []string         // how they differed
}

func newBuilder() *builder {
	return &builder{known: map[string][]*built{}, whole: func(n int) bool { return n%50 == 0 }}
}

// build is what a Kustomization makes of an artifact, with the values that its variables' objects have.
func (b *builder) build(artifact *overlay, k object, values values) *built {
	key := fmt.Sprint(k.namespace(), "\x00", text(k.at("spec")), "\x00", text(values))
	for _, was := range b.known[key] {
		if was.trace.agrees(artifact) {
			return was
		}
	}
	made := b.make(artifact, k, values)
	b.known[key] = append(b.known[key], made)
	return made
}

func (b *builder) make(artifact *overlay, k object, values values) *built {
	b.count++
	own := artifact.again()
	dir, err := prepare(own, k)
	out := &built{err: err}
	if err == nil {
		var made resmap.ResMap
		made, out.err = run(own, dir)
		if b.whole(b.count) {
			b.compare(artifact, k, made, out.err, own.trace)
		}
		if out.err == nil {
			out.objects, out.err = substituted(made, k, values)
		}
	}
	out.trace = own.trace
	return out
}

// again is the same artifact, of which nothing was asked yet.
func (o *overlay) again() *overlay {
	return &overlay{files: o.files, dirs: o.dirs, written: map[string]string{}}
}

// prepare has Flux's generator write the kustomization.yaml that is built, and gives its directory.
func prepare(fs filesys.FileSystem, k object) (dir string, err error) {
	defer recovered(&err)
	dir = path.Join(top, path.Join("/", textOf(k.at("spec", "path"))))
	if !fs.IsDir(dir) {
		return dir, fmt.Errorf("%s is no directory", dir)
	}
	g := kustomize.NewGenerator(top, unstructured.Unstructured{Object: k})
	// It takes its file system from the disk, and nothing else sets it.
	field := reflect.ValueOf(g).Elem().FieldByName("fs")
	reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.ValueOf(fs)) //nolint:gosec // the version is pinned
	_, err = g.WriteFile(dir)
	return dir, err
}

func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v", p)
	}
}

// run builds as Flux does, without its lock, and without reading kustomize's schemas again where nothing changed them.
func run(fs filesys.FileSystem, dir string) (made resmap.ResMap, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			openapi.ResetOpenAPI()
		}
	}()
	return krusty.MakeKustomizer(&krusty.Options{LoadRestrictions: types.LoadRestrictionsNone, PluginConfig: types.DisabledPluginConfig()}).Run(fs, dir)
}

// compare builds once more by Flux's own Build, and remembers what differs.
func (b *builder) compare(artifact *overlay, k object, made resmap.ResMap, failed error, asked trace) {
	fs := artifact.again()
	dir, err := prepare(fs, k)
	if err != nil {
		return // it was an error before
	}
	whole, err := kustomize.Build(fs, dir)
	if (err == nil) != (failed == nil) {
		b.wrong = append(b.wrong, fmt.Sprintf("Flux's Build: %v; the quick one: %v", err, failed))
		return
	}
	if !slices.Equal(fs.trace.read(), asked.read()) {
		b.wrong = append(b.wrong, fmt.Sprintf("Flux's Build reads %q, the quick one %q", fs.trace.read(), asked.read()))
	}
	if err == nil && yamlOf(whole) != yamlOf(made) {
		b.wrong = append(b.wrong, "Flux's Build makes something else than the quick one")
	}
}

func yamlOf(made resmap.ResMap) string {
	out, err := made.AsYaml()
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// substituted is the objects of a build, with variables filled in as Flux does.
func substituted(made resmap.ResMap, k object, values values) ([]object, error) {
	var out []object
	for _, res := range made.Resources() {
		if k.at("spec", "postBuild") != nil {
			filled, err := kustomize.SubstituteVariables(context.Background(), getter{values: values}, unstructured.Unstructured{Object: k}, res)
			if err != nil {
				return nil, err
			}
			if filled != nil {
				res = filled
			}
		}
		m, err := res.Map()
		if err != nil {
			return nil, err
		}
		if object(m).namespace() == "" && slices.Contains(inNamespaces, object(m).group()) {
			return nil, fmt.Errorf("%s has no namespace", object(m).id()) // then Flux applies nothing
		}
		out = append(out, object(m))
	}
	return out, nil
}

// inNamespaces is the API groups of whose objects none is the cluster's.
var inNamespaces = []string{"", groupKustomize, groupSource, groupExtension, groupHelm, groupOperator}

// values is what ConfigMaps and Secrets of a cluster hold, by kind/namespace/name.
type values map[string]map[string]string

// getter is a client of a cluster that can only be asked for ConfigMaps and Secrets.
type getter struct {
	client.Client
	values values
}

// Get implements [client.Reader].
func (g getter) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	of := func(kind string) (map[string]string, error) {
		if data, ok := g.values[strings.Join([]string{kind, key.Namespace, key.Name}, "/")]; ok {
			return data, nil
		}
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: kind}, key.Name)
	}
	switch o := into.(type) {
	case *corev1.ConfigMap:
		data, err := of("ConfigMap")
		o.Data = data
		return err
	case *corev1.Secret:
		data, err := of("Secret")
		o.Data = map[string][]byte{}
		for name, value := range data {
			o.Data[name] = []byte(value)
		}
		return err
	}
	return fmt.Errorf("nobody asks for a %T", into)
}

// object is one of Kubernetes' objects.
type object map[string]any

// at is what stands below keys; nil: nothing.
func (o object) at(keys ...string) any {
	var v any = map[string]any(o)
	for _, key := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

func (o object) kind() string      { return textOf(o.at("kind")) }
func (o object) name() string      { return textOf(o.at("metadata", "name")) }
func (o object) namespace() string { return textOf(o.at("metadata", "namespace")) }

// group is the API group; "": the core.
func (o object) group() string {
	group, _, named := strings.Cut(textOf(o.at("apiVersion")), "/")
	if !named {
		return ""
	}
	return group
}

// id names an object of a cluster, whichever version of its API it is written in.
func (o object) id() string {
	return strings.Join([]string{o.group(), o.kind(), o.namespace(), o.name()}, "/")
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

// text is a value as text, the same for equal ones.
func text(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// list is the maps of a list.
func list(v any) []object {
	all, _ := v.([]any)
	var out []object
	for _, item := range all {
		if m, ok := item.(map[string]any); ok {
			out = append(out, object(m))
		}
	}
	return out
}
