package reach

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
)

// fluxObjects is a source of a repository at a branch and a Kustomization that is made of it, of one name.
func fluxObjects(name, url, branch, path string) string {
	return `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: ` + name + `, namespace: flux-system}
spec: {url: ` + url + `, ref: {branch: ` + branch + `}, interval: 1m}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ` + name + `, namespace: flux-system}
spec: {sourceRef: {kind: GitRepository, name: ` + name + `}, path: ` + path + `, interval: 10m, prune: true}
---
`
}

// TestDefinitions: check warns of a file that says what a windowed branch is for, unless a window holds it, or a windowed branch
// itself brings it to the cluster; and says nothing of another repository's branch of that name.
func TestDefinitions(t *testing.T) {
	const (
		us   = "ssh://git@github.com/acme/fleet"
		root = "clusters/one/flux-system/gotk-sync.yaml"
		rw   = "clusters/one/rw.yaml"
	)
	for name, c := range map[string]struct {
		files map[string]string
		rules string
		want  []string // the places that are warned of
	}{
		"beside a root that follows main": {
			files: map[string]string{root: fluxObjects("flux-system", us, "main", "./clusters/one"), rw: fluxObjects("rw", us, "rw/one", "./apps")},
			want:  []string{rw + ":1[branches 0 name]"},
		},
		"held by the window": {
			files: map[string]string{root: fluxObjects("flux-system", us, "main", "./clusters/one"), rw: fluxObjects("rw", us, "rw/one", "./apps")},
			rules: `{paths: ["clusters/*/*.yaml"], release: w}`,
		},
		"held by another window": {
			files: map[string]string{root: fluxObjects("flux-system", us, "main", "./clusters/one"), rw: fluxObjects("rw", us, "rw/one", "./apps")},
			rules: `{paths: ["clusters/*/*.yaml"], release: [live, v]}`,
		},
		"the root follows the windowed branch": {
			files: map[string]string{root: fluxObjects("flux-system", us, "rw/one", "./clusters/one"), rw: fluxObjects("rw", us, "rw/one", "./apps")},
		},
		"the windowed branch brings another of its own": {
			files: map[string]string{
				root: fluxObjects("flux-system", us, "main", "./clusters/one"), rw: fluxObjects("rw", us, "rw/one", "./apps"),
				"apps/more.yaml": fluxObjects("more", us, "rw/one", "./more"),
			},
			want: []string{rw + ":1[branches 0 name]"},
		},
		"another repository": {
			files: map[string]string{root: fluxObjects("flux-system", us, "main", "./clusters/one"), rw: fluxObjects("rw", "https://github.com/acme/other", "rw/one", "./apps")},
		},
		"the same repository by https": {
			files: map[string]string{root: fluxObjects("flux-system", us, "main", "./clusters/one"), rw: fluxObjects("rw", "https://github.com/acme/fleet.git", "rw/one", "./apps")},
			want:  []string{rw + ":1[branches 0 name]"},
		},
		"a patch that says which branch": {
			files: map[string]string{
				root: fluxObjects("flux-system", us, "main", "./clusters/one"), "base/rw.yaml": fluxObjects("rw", us, "main", "./apps"),
				"base/kustomization.yaml":         "resources: [rw.yaml]\n",
				"clusters/one/kustomization.yaml": "resources: [../../base, flux-system/gotk-sync.yaml]\npatches: [{path: ../../p/ref.yaml, target: {kind: GitRepository, name: rw}}]\n",
				"p/ref.yaml":                      "- {op: replace, path: /spec/ref/branch, value: rw/one}\n",
			},
			rules: `{paths: ["base/**"], release: w}`,
			want:  []string{"p/ref.yaml:1[branches 0 name]"},
		},
		"the root follows a branch whose window is always open": {
			files: map[string]string{root: fluxObjects("flux-system", us, "rw/two", "./clusters/one"), rw: fluxObjects("rw", us, "rw/one", "./apps")},
			want:  []string{rw + ":1[branches 0 name]"},
		},
		"a branch whose window is always open": {
			files: map[string]string{root: fluxObjects("flux-system", us, "main", "./clusters/one"), rw: fluxObjects("rw", us, "rw/two", "./apps")},
		},
	} {
		file := "version: 1\ntimezone: UTC\nwindows:\n  w: {open: \"0 8 * * *\", duration: 1h}\n  v: {open: \"0 8 * * *\", duration: 1h}\n" +
			"layout: {unmatched: live, rules: [" + c.rules + "]}\nbranches:\n  - {name: rw/one, from: main, window: w}\n  - {name: rw/two, from: main, window: live}\n"
		p, findings := config.Parse([]byte(strings.Replace(file, ", rules: []", "", 1)))
		if p == nil {
			t.Fatalf("%s: %v", name, findings)
		}
		tree := fstest.MapFS{}
		for path, text := range c.files {
			tree[path] = &fstest.MapFile{Data: []byte(text)}
		}
		read, err := graph.Read(tree)
		if err != nil || len(read.Problems) != 0 {
			t.Fatal(name, read, err)
		}
		var got []string
		for _, n := range New(p, read.Clusters(nil)).Check(nil, nil) {
			if n.Code != codeDefinition {
				continue
			}
			place, _, _ := strings.Cut(n.Message, ": ")
			got = append(got, fmt.Sprint(place, n.Way))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got: %s", name, diff)
		}
	}
}

// TestDefinitionsOnTheBranch: where what defines an entry point, and what it refers to, follows the same windowed branch, that holds a change of it.
func TestDefinitionsOnTheBranch(t *testing.T) {
	p := parse(t, strings.Replace(sourcesFile, "path: clusters/prod, branch: main", "path: clusters/prod", 1))
	tree := func(branch, source, interval, value string) string {
		return "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", branch) + ks("flux-system", "./clusters/prod", "flux-system") + gitRepository("main", "main") + gitRepository("rw", "rw/a") +
			"-- clusters/prod/live.yaml --\n" + ks("live", "./live", "main") + "-- clusters/prod/web.yaml --\n" +
			strings.Replace(ks("web", "./apps", source), "{path", "{interval: "+interval+", postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}, {kind: ConfigMap, name: more}]}, path", 1) +
			"-- clusters/prod/vars.yaml --\n" + strings.Replace(configMap, "name: cm", "name: vars, namespace: flux-system", 1) + "data: {A: " + value + "}\n-- apps/a.yaml --\n" + configMap +
			"-- live/more.yaml --\n" + strings.Replace(configMap, "name: cm", "name: more, namespace: flux-system", 1) + "data: {B: " + value + "}\n"
	}
	for name, c := range map[string]struct{ branch, source, want string }{
		"the root follows it":            {"rw/a", "flux-system", "live/more.yaml"},
		"the root does, by another name": {"rw/a", "rw", "live/more.yaml"},
		"the root follows main":          {"main", "rw", "clusters/prod/vars.yaml clusters/prod/web.yaml live/more.yaml"},
	} {
		before, after := tree(c.branch, c.source, "5m", "a"), tree(c.branch, c.source, "9m", "b")
		g, got := New(p, clusters(t, p, before), clusters(t, p, after)), ""
		for _, f := range []string{"clusters/prod/vars.yaml", "clusters/prod/web.yaml", "live/more.yaml"} {
			if _, held := g.Holds(f); held {
				got += " " + f
			}
		}
		if strings.TrimSpace(got) != c.want {
			t.Errorf("%s: held are%s, want %s", name, got, c.want)
		}
	}
}
