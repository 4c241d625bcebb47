package graph_test

import (
	"testing"
)

// TestTop: a Flux Kustomization that reads its own definition is the root, whatever it is called and however deep that stands.
func TestTop(t *testing.T) {
	g := read(t, files(map[string]string{
		"kubernetes/flux/config/cluster.yaml": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: home, namespace: flux-system}\n" +
			"spec: {url: https://github.com/acme/home, ref: {branch: main}}\n---\n" +
			"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: cluster, namespace: flux-system}\n" +
			"spec: {path: ./kubernetes/flux, sourceRef: {kind: GitRepository, name: home}}\n",
		"kubernetes/flux/apps.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n" +
			"spec: {path: ./kubernetes/apps, sourceRef: {kind: GitRepository, name: home}}\n",
		"kubernetes/apps/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
	}))
	clusters := g.Clusters(nil)
	if len(clusters) != 1 || clusters[0].Path != "kubernetes/flux" || !clusters[0].Guessed {
		t.Fatalf("%d clusters, %+v", len(clusters), clusters)
	}
	if all := clusters[0].Files(); len(all) != 3 {
		t.Errorf("it reads %v", all)
	}
}

// TestSyncedBranch: what a FluxInstance syncs is a branch where it is one.
func TestSyncedBranch(t *testing.T) {
	for spec, want := range map[string]string{
		"kind: GitRepository, url: https://github.com/acme/fleet, ref: refs/heads/main":  "main",
		"kind: GitRepository, url: https://github.com/acme/fleet, ref: refs/tags/v1.0.0": "",
		"kind: OCIRepository, url: oci://ghcr.io/acme/fleet, ref: latest":                "",
	} {
		g := read(t, files(map[string]string{
			"clusters/c/flux.yaml": "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\n" +
				"spec: {sync: {" + spec + ", path: clusters/c}}\n",
		}))
		if clusters := g.Clusters(nil); len(clusters) != 1 || clusters[0].Branch != want {
			t.Errorf("%s: %+v", spec, clusters)
		}
	}
}
