package flux

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	deploy "github.com/sluicegate/sluice/deploy/flux"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// program is sluice as it is built.
func program(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "sluice")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", out, "../../cmd/sluice")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// call runs it; the answer must be that all is fine.
func call(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("%q: %v\n%s%s", args[1:], err, &stdout, &stderr)
	}
	return stdout.Bytes()
}

// TestInitCheckRender: on every shape of repository `init` writes a file that `check` accepts, and what `render` makes of it builds with kustomize
// and fits the schemas of Flux and Kubernetes.
func TestInitCheckRender(t *testing.T) {
	sluice := program(t)
	s := load(t)
	objects := map[string]int{}
	repository := func(t *testing.T, dir string) {
		for _, kind := range []string{"Deployment", "CronJob"} {
			for _, text := range renderedClusters(t, sluice, dir, "suspend", "--kind", kind) {
				count(objects, valid(t, s, text))
			}
		}
		for _, text := range renderedClusters(t, sluice, dir, "flux", "--url", "https://github.com/acme/fleet") {
			count(objects, valid(t, s, text))
		}
	}
	fluxtrees.Each(t, func(t *testing.T, name string) {
		dir := fluxtrees.Dir(t, name)
		call(t, sluice, "init", dir)
		call(t, sluice, "check", dir)
		repository(t, dir)
	})
	t.Run("sample", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.CopyFS(dir, deploy.Sample()); err != nil {
			t.Fatal(err)
		}
		repository(t, dir)
	})
	t.Run("the sample's own objects", func(t *testing.T) { sampleIsTheSample(t, sluice) })
	for _, kind := range []string{"Deployment", "CronJob", "Role", "RoleBinding", "ServiceAccount", "ConfigMap", "GitRepository", "Kustomization", "Receiver", "Provider", "Alert"} {
		if objects[kind] == 0 {
			t.Errorf("no %s was made", kind)
		}
	}
}

func count(into map[string]int, objects []object) {
	for _, o := range objects {
		into[o.text("kind")]++
	}
}

// renderedClusters is what render prints, cut into clusters: each is for a cluster of its own. It is the same each time, and with --cluster.
func renderedClusters(t *testing.T, sluice, dir string, args ...string) [][]byte {
	t.Helper()
	all := call(t, append([]string{sluice, "render", args[0], dir}, args[1:]...)...)
	var out [][]byte
	for i, part := range bytes.Split(all, []byte("# Cluster ")) {
		if i == 0 {
			continue
		}
		out = append(out, []byte("# Cluster "+strings.TrimSuffix(string(part), "---\n")))
	}
	if len(out) == 0 {
		t.Errorf("%q: nothing in\n%s", args, all)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(string(out[0]), "# Cluster "), "\n")
	if one := call(t, append([]string{sluice, "render", args[0], dir, "--cluster", name}, args[1:]...)...); !bytes.Equal(one, out[0]) {
		t.Errorf("%q --cluster %s prints\n%s\nwant\n%s", args, name, one, out[0])
	}
	return out
}

// valid builds a cluster's manifests and holds each object against its schema.
func valid(t *testing.T, s schemas, text []byte) []object {
	t.Helper()
	f := &tree{FileSystem: newTree(t, os.DirFS(t.TempDir())).FileSystem}
	objects, err := decode(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	objects = slices.DeleteFunc(objects, func(o object) bool { return o == nil })
	if len(objects) == 0 {
		return nil // comments alone
	}
	kustomization, err := yaml.Marshal(map[string]any{"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": []string{"all.yaml"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"/c/all.yaml": text, "/c/kustomization.yaml": kustomization} {
		if err := f.WriteFile(name, data); err != nil {
			t.Fatal(err)
		}
	}
	built, err := f.build("c")
	if err != nil || len(built) != len(objects) {
		t.Errorf("%d objects, %d built: %v\n%s", len(objects), len(built), err, text)
	}
	for _, o := range objects {
		if strings.Contains(o.text("apiVersion"), ".toolkit.fluxcd.io/") {
			if err := s.validate(o); err != nil {
				t.Errorf("%s: %v", o.id(), err)
			}
			continue
		}
		for _, bad := range unknownFields(o) {
			t.Errorf("%s: no field %s", o.id(), bad)
		}
	}
	return built
}

// sampleIsTheSample: of the sample's own file and tree `render flux` makes the sample's own objects.
func sampleIsTheSample(t *testing.T, sluice string) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, deploy.Sample()); err != nil {
		t.Fatal(err)
	}
	all := cluster(t)
	names := []string{
		"GitRepository/fleet", "GitRepository/fleet-rw", "Kustomization/infra", "Kustomization/apps-rt", "Kustomization/apps-rw",
		"Receiver/github-push", "Provider/github-status", "Alert/github-status",
	}
	for _, bare := range []bool{false, true} {
		if bare { // what they were made of: the same without Flux's objects
			if err := os.RemoveAll(filepath.Join(dir, "clusters/cluster-1/flux")); err != nil {
				t.Fatal(err)
			}
		}
		got := map[string]object{}
		rendered, err := decode(call(t, sluice, "render", "flux", dir, "--url", "ssh://git@github.com/acme/fleet"))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range rendered {
			got[o.name()] = o
		}
		for _, name := range names {
			want, have := all[name], got[name]
			for _, path := range [][]string{
				{"apiVersion"}, {"metadata", "namespace"}, {"spec", "url"}, {"spec", "ref", "branch"}, {"spec", "path"}, {"spec", "sourceRef", "name"}, {"spec", "prune"}, {"spec", "wait"},
				{"spec", "interval"}, {"spec", "timeout"}, {"spec", "retryInterval"}, {"spec", "secretRef", "name"}, {"spec", "address"}, {"spec", "commitStatusExpr"}, {"spec", "type"},
			} {
				if a, b := fmt.Sprint(have.at(path...)), fmt.Sprint(want.at(path...)); a != b {
					t.Errorf("bare %t: %s: %v is %s, want %s", bare, name, path, a, b)
				}
			}
		}
		if !bare {
			if a, b := got["Kustomization/apps-rw"].at("spec"), all["Kustomization/apps-rw"].at("spec"); fmt.Sprint(a) != fmt.Sprint(b) {
				t.Errorf("apps-rw is %v, want %v", a, b)
			}
		}
	}
}
