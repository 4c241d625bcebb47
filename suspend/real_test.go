package suspend

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// TestRealAPIServer: the same against a kube-apiserver, where KUBECONFIG names one. It leaves the schema of Flux's Kustomization there if it was
// missing, and nothing else. No controller of Flux needs to run; one that runs ignores the source that is not there.
func TestRealAPIServer(t *testing.T) {
	if os.Getenv("KUBECONFIG") == "" {
		t.Skip("KUBECONFIG names no API server")
	}
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
	const namespace, name = "default", "sluice-test-suspend"
	install(t, client)
	objects := client.Resource(kustomizations).Namespace(namespace)
	create := func() {
		t.Helper()
		if _, err := objects.Create(t.Context(), kustomization(namespace, name), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	remove := func() { // t.Context has ended when it cleans up
		if err := objects.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
	t.Cleanup(remove)
	create()

	clock := time.Now()
	file := "version: 1\ntimezone: UTC\nwindows:\n  day: {dates: [{from: " + clock.UTC().Add(-time.Hour).Format("2006-01-02T15:04") + ", until: " +
		clock.UTC().Add(time.Hour).Format("2006-01-02T15:04") + "}]}\n"
	shut := "version: 1\ntimezone: UTC\nwindows:\n  day: {dates: [{from: 2020-01-01T00:00, until: 2020-01-02T00:00}]}\n"
	w := (&world{file: shut}).with(t, time.Now, namespace+"/"+name+"=day", namespace+"/sluice-test-missing=day")
	w.API = api
	pass := func(want bool) {
		t.Helper()
		if out := w.Pass(t.Context()); !out.Refused || out.Unusable {
			t.Errorf("%+v", out)
		}
		got, err := objects.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if s, _, _ := unstructured.NestedBool(got.Object, "spec", "suspend"); s != want {
			t.Errorf("suspended %t: %s", s, w.said())
		}
		managers := map[string]bool{}
		for _, m := range got.GetManagedFields() {
			managers[m.Manager] = true
		}
		if want && !managers[manager] {
			t.Errorf("managers %v", managers)
		}
	}
	pass(true)
	w.file = file
	pass(false)
	w.file = shut
	pass(true)
	remove()
	create()
	pass(true)
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
	data, err := os.ReadFile("../test/flux/crds/kustomize.toolkit.fluxcd.io_kustomizations.yaml")
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
