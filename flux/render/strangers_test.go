package render

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// kustomization is a document as simple has it, with another name, path or source.
func kustomization(change ...string) string { return strings.NewReplacer(change...).Replace(entryText) }

// TestLeftOut: what is windowed and not held is said, and of two documents of one name none is held by the windows of one alone.
func TestLeftOut(t *testing.T) {
	rules := head + "layout: {rules: [{paths: [\"apps/**\"], release: cluster-1}, {paths: [\"more/**\", \"**/windowed/**\"], release: cluster-2}], unmatched: live}\n" +
		"branches: [{name: rw/c, from: main, window: cluster-1}]\n"
	more := &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n")}
	for name, c := range map[string]struct {
		add  map[string]string
		want []string
		held string // what stands in the call; "": nothing
	}{
		"two windows": {
			map[string]string{"clusters/c/more.yaml": kustomization("./apps", "./more")}, nil, `"--kustomization=flux-system/apps=cluster-1,cluster-2"`,
		},
		"the same twice": {
			map[string]string{"clusters/c/more.yaml": kustomization()}, nil, "--kustomization=flux-system/apps=cluster-1",
		},
		"another repository first": {
			map[string]string{"clusters/c/a.yaml": kustomization("name: apps", "name: addons", "./apps", "./deploy", "name: fleet", "name: vendor") + "---\n" +
				strings.NewReplacer("name: fleet", "name: vendor", "acme/fleet", "vendor/addons").Replace(sourceText)},
			nil, "--kustomization=flux-system/apps=cluster-1",
		},
		"another repository with a directory that is here, too": {
			map[string]string{"deploy/x.yaml": string(more.Data), "clusters/c/a.yaml": kustomization("name: apps", "name: addons", "./apps", "./deploy", "name: fleet", "name: vendor") + "---\n" +
				strings.NewReplacer("name: fleet", "name: vendor", "acme/fleet", "vendor/addons").Replace(sourceText)},
			nil, "--kustomization=flux-system/apps=cluster-1",
		},
		"one is live": {
			map[string]string{"clusters/c/more.yaml": kustomization("./apps", "./other"), "other/x.yaml": string(more.Data)},
			[]string{"# Left out: flux-system/apps (clusters/c/apps.yaml:1): it is also defined in clusters/c/more.yaml:1, where it is not windowed as a whole"}, "",
		},
		"the root's files": {
			map[string]string{"clusters/c/windowed/x.yaml": string(more.Data)},
			[]string{"# Left out: 1 of the 2 files that the cluster's root reads are windowed, for example clusters/c/windowed/x.yaml."}, "--kustomization=flux-system/apps=cluster-1",
		},
		"the root from the branch": {
			map[string]string{"clusters/c/rw.yaml": kustomization("name: apps", "name: all-rw", "./apps", "./clusters/c", "name: fleet", "name: rw") + "---\n" +
				strings.NewReplacer("name: fleet", "name: rw", "branch: main", "branch: rw/c").Replace(sourceText)},
			[]string{"# Left out: flux-system/all-rw (clusters/c/rw.yaml:1): it applies the cluster's root"}, "--kustomization=flux-system/apps=cluster-1",
		},
	} {
		tree := simple()
		tree["more/x.yaml"] = more
		for file, text := range c.add {
			tree[file] = &fstest.MapFile{Data: []byte(text)}
		}
		out, _, err := suspended(t, input(t, rules, tree), Call{Kind: Deployment, Image: image})
		if err != nil {
			t.Fatal(name, err)
		}
		for _, want := range c.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: not said: %s\n%s", name, want, out)
			}
		}
		_, rest, _ := strings.Cut(string(out), "=c\n            - ")
		if first, _, _ := strings.Cut(rest, "\n"); first != c.held && (c.held != "" || rest != "") {
			t.Errorf("%s: %s, want %s", name, first, c.held)
		}
	}
}

// TestCopiedBranch: what is made of a windowed branch by way of an ArtifactGenerator is held as what tracks it is, whatever the rules say of its files.
func TestCopiedBranch(t *testing.T) {
	rw := strings.NewReplacer("name: fleet", "name: rw", "branch: main", "branch: rw/c").Replace(sourceText)
	const generator = `apiVersion: source.extensions.fluxcd.io/v1beta1
kind: ArtifactGenerator
metadata: {name: copies, namespace: flux-system}
spec:
  sources: [{alias: repo, kind: GitRepository, name: fleet}, {alias: rw, kind: GitRepository, name: rw}]
  artifacts: [{name: copy, copy: [{from: "@repo/apps/**", to: "@artifact/apps/"}, {from: "@rw/more/**", to: "@artifact/apps/"}]}]
`
	tree := simple("kind: GitRepository, name: fleet", "kind: ExternalArtifact, name: copy")
	tree["clusters/c/copy.yaml"] = &fstest.MapFile{Data: []byte(rw + "---\n" + generator)}
	tree["more/x.yaml"] = tree["apps/web.yaml"]
	rules := head + "layout: {unmatched: live}\nbranches: [{name: rw/c, from: main, window: cluster-1}]\n"
	out, _, err := suspended(t, input(t, rules, tree), Call{Kind: Deployment, Image: image})
	if err != nil || !strings.Contains(string(out), "--kustomization=flux-system/apps=cluster-1") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestUnusable: what would not run is said: an image that does not exist, and more Kustomizations than one call takes.
func TestUnusable(t *testing.T) {
	const warning = "# No image is named REGISTRY"
	for name, want := range map[string]bool{"REGISTRY/sluice:v1.2.3": true, image: false} {
		out, _, err := suspended(t, input(t, windowed, simple()), Call{Kind: CronJob, Image: name})
		if err != nil || strings.Contains(string(out), warning) != want {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	in := input(t, windowed, simple())
	c := &in.Clusters[0]
	for i := range maxHeld {
		k := *c.Kustomizations[0]
		k.Name = fmt.Sprint("k-", i)
		c.Kustomizations = append(c.Kustomizations, &k)
	}
	if _, _, err := suspended(t, in, Call{Kind: Deployment, Image: image}); err == nil {
		t.Error("1001 are held by a call that takes 1000")
	}
}

// TestManyAssumed: where no Flux Kustomization is in Git, no more directories are assumed to be one than are looked at, and nothing is left out.
func TestManyAssumed(t *testing.T) {
	tree := fstest.MapFS{}
	for i := range maxAssumed + 1 {
		tree[fmt.Sprintf("clusters/c/%d/kustomization.yaml", i)] = &fstest.MapFile{Data: []byte("resources: []\n")}
	}
	rules := head + "layout: {rules: [{paths: [\"**\"], release: cluster-1}]}\nclusters: [{name: c, path: clusters/c}]\n"
	_, _, suspended := suspended(t, input(t, rules, tree), Call{Kind: Deployment, Image: image})
	_, written := Flux(input(t, rules, tree), "https://example.com/acme/fleet", "")
	for _, err := range []error{suspended, written} {
		if err == nil || !strings.Contains(err.Error(), "more than 2000 directories") {
			t.Error(err)
		}
	}
}
