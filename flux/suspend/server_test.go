package suspend

import (
	"context"
	"encoding/json"
	"flag"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// onCluster lets TestAPIServer use the cluster that KUBECONFIG names. Nobody who has that variable set for other work runs it there unasked.
var onCluster = flag.Bool("on-cluster", false, "use the API server that KUBECONFIG names, not one in memory")

// server is an API server with one Kustomization, and the means to look at it past what is tested.
type server struct {
	API
	create, remove func()
	state          func() (suspended, ours bool) // ours: the manager is sluice
}

// TestAPIServer: passes through the client as it is used in a cluster, against an API server in memory over HTTP, or (-on-cluster) against a
// kube-apiserver.
func TestAPIServer(t *testing.T) {
	const object = "default/sluice-test-suspend"
	now := time.Now().UTC()
	open := "version: 1\ntimezone: UTC\nwindows:\n  day: {dates: [{from: " + now.Add(-time.Hour).Format("2006-01-02T15:04") + ", until: " +
		now.Add(time.Hour).Format("2006-01-02T15:04") + "}]}\n"
	closed := "version: 1\ntimezone: UTC\nwindows:\n  day: {dates: [{from: 2020-01-01T00:00, until: 2020-01-02T00:00}]}\n"
	w := (&world{file: closed}).with(t, time.Now, object+"=day", "default/sluice-test-missing=day")
	s := w.inMemory(object)
	if *onCluster {
		s = inCluster(t, object)
	}
	w.API = s
	s.create()
	pass := func(want bool) {
		t.Helper()
		if out := w.Pass(t.Context()); !out.Refused || out.Unusable {
			t.Errorf("%+v", out)
		}
		if suspended, ours := s.state(); suspended != want || want && !ours {
			t.Errorf("suspended %t, by us %t: %s", suspended, ours, w.drain())
		}
	}
	pass(true)
	w.file = open
	pass(false)
	w.file = closed
	pass(true)
	s.remove()
	s.create()
	pass(true)
}

// inMemory is the world's own cluster, over HTTP; it refuses what is written under another manager's name.
func (w *world) inMemory(object string) server {
	w.cluster.t.Helper()
	listener := httptest.NewServer(w.cluster)
	w.cluster.t.Cleanup(listener.Close)
	api, err := Dial(&rest.Config{Host: listener.URL})
	if err != nil {
		w.cluster.t.Fatal(err)
	}
	w.cluster.change(func() { w.cluster.objects = map[string]map[string]any{} })
	return server{
		API:    api,
		create: func() { w.cluster.change(func() { w.cluster.objects[object] = map[string]any{"path": "./"} }) },
		remove: func() { w.cluster.change(func() { delete(w.cluster.objects, object) }) },
		state:  func() (bool, bool) { return w.cluster.suspended(object), true },
	}
}

// inCluster is the API server that KUBECONFIG names. It leaves the schema of Flux's Kustomization there if it was missing, and nothing else.
// No controller of Flux needs to run; one that runs ignores the source that is not there.
func inCluster(t *testing.T, object string) server {
	t.Helper()
	reach, err := InCluster()
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(reach)
	if err != nil {
		t.Fatal(err)
	}
	api, err := Dial(reach)
	if err != nil {
		t.Fatal(err)
	}
	install(t, client)
	namespace, name, _ := strings.Cut(object, "/")
	objects := client.Resource(kustomizations).Namespace(namespace)
	s := server{API: api}
	s.create = func() {
		t.Helper()
		if _, err := objects.Create(t.Context(), kustomization(namespace, name), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	s.remove = func() { // t.Context has ended when it cleans up
		if err := objects.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
	s.state = func() (suspended, ours bool) {
		t.Helper()
		got, err := objects.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		suspended, _, _ = unstructured.NestedBool(got.Object, "spec", "suspend")
		return suspended, slices.ContainsFunc(got.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool { return m.Manager == manager })
	}
	t.Cleanup(s.remove)
	return s
}

func kustomization(namespace, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
		"metadata": map[string]any{"namespace": namespace, "name": name},
		"spec": map[string]any{
			"interval": "10m", "path": "./", "prune": false, "sourceRef": map[string]any{"kind": "GitRepository", "name": "sluice-test-missing"},
		},
	}}
}

// install makes the API server know Kustomizations.
func install(t *testing.T, client dynamic.Interface) {
	t.Helper()
	data, err := os.ReadFile("../../test/flux/crds/kustomize.toolkit.fluxcd.io_kustomizations.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd map[string]any
	if err := yaml.Unmarshal(data, &crd); err != nil {
		t.Fatal(err)
	}
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	object := &unstructured.Unstructured{}
	if err := roundTrip(crd, &object.Object); err != nil {
		t.Fatal(err)
	}
	if _, err := definitions.Create(t.Context(), object, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil { // it is served a moment later
		_, err := client.Resource(kustomizations).Namespace("default").List(ctx, metav1.ListOptions{Limit: 1})
		if err == nil {
			return
		}
		if !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	t.Fatal("the API server does not serve Kustomizations")
}

// roundTrip makes of what YAML gives what JSON does: int64 where that has int.
func roundTrip(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}
