package reach

import (
	"slices"
	"strings"
	"testing"
)

// rootFile windows an entry point that has a source of its own, beside the root; the first text is more of its entrypoints, the second more of the file.
func rootFile(entries, more string) string {
	return `
version: 1
timezone: UTC
windows:
  weekend: {open: "0 6 * * SAT", duration: 24h}
  night: {open: "0 22 * * *", duration: 4h}
layout:
  flux: true
  unmatched: ignore
  entrypoints:
    - {where: flux-system/held, release: weekend}` + entries + `
branches:
  - {name: rw/a, from: main, window: night}
` + more
}

// TestRoot: everything in a cluster hangs on what its root is: what defines, generates, patches or lists the root's own Flux Kustomization and source
// waits for every windowed entry point; so does what makes one that leads to it another one.
func TestRoot(t *testing.T) {
	const (
		named = "clusters:\n  - {name: prod, path: clusters/prod, branch: main}\n"
		list  = "-- clusters/prod/kustomization.yaml --\nresources: [held.yaml, flux-system/gotk-sync.yaml]\n"
		night = "\n    - {where: flux-system/flux-system, release: night}"
	)
	root := func(spec string) string {
		return "-- clusters/prod/flux-system/gotk-sync.yaml --\n" + sourceObject("GitRepository", "flux-system", spec) + ks("flux-system", "./clusters/prod", "flux-system")
	}
	held := "-- clusters/prod/held.yaml --\n" + sourceObject("GitRepository", "own", "{"+fleet+", ref: {branch: main}}") + heldKs("./apps", "GitRepository", "own") + "-- apps/a.yaml --\na: b\n"
	gotk := root("{"+fleet+", ref: {branch: main}}") + held
	operator := func(more string) string {
		return "-- clusters/prod/flux-system/gotk-sync.yaml --\n" + object("fluxcd.controlplane.io/v1", "FluxInstance", "flux", "{sync: {kind: GitRepository, "+fleet+", ref: refs/heads/main, path: clusters/prod}"+more+"}") + held
	}
	outside := strings.NewReplacer("clusters/prod/flux-system/gotk-sync.yaml", "bootstrap/prod.yaml")
	live := "-- clusters/prod/live.yaml --\n" + ks("live", "./live", "own") + "-- live/a.yaml --\na: b\n"
	parent := root("{"+fleet+", ref: {branch: main}}") + "-- clusters/prod/parent.yaml --\n" + ks("parent", "./parent", "flux-system") +
		strings.Replace(held, "clusters/prod/held.yaml", "parent/held.yaml", 1)
	for name, c := range map[string]struct {
		policy        string
		before, after string
		file, want    string // what holds the file, or what it needs
	}{
		"left out by Flux": {rootFile("", ""), gotk, gotk + "-- clusters/prod/flux-system/.sourceignore --\n*.yaml\n", "clusters/prod/flux-system/.sourceignore", "weekend"},
		"another URL of a named root": {rootFile("", named), gotk, strings.Replace(gotk, fleet, `url: "https://example.com/acme/other"`, 1),
			"clusters/prod/flux-system/gotk-sync.yaml", "weekend"},
		"another branch of a named root": {rootFile("", named), gotk, strings.Replace(gotk, "branch: main", "branch: other", 1),
			"clusters/prod/flux-system/gotk-sync.yaml", "night weekend"},
		"another URL, outside of a named root": {rootFile("", named), outside.Replace(gotk), outside.Replace(strings.Replace(gotk, fleet, `url: "https://example.com/acme/other"`, 1)),
			"bootstrap/prod.yaml", "weekend"},
		"another interval": {rootFile("", named), gotk, strings.Replace(gotk, "./clusters/prod,", "./clusters/prod, interval: 5m,", 1), "clusters/prod/flux-system/gotk-sync.yaml", "live"},
		"another path that a FluxInstance syncs": {rootFile("", named), operator(""), strings.Replace(operator(""), "path: clusters/prod", "path: live", 1) + live,
			"clusters/prod/flux-system/gotk-sync.yaml", "weekend"},
		"another branch that a FluxInstance syncs": {rootFile("", named), operator(""), strings.Replace(operator(""), "refs/heads/main", "refs/heads/other", 1),
			"clusters/prod/flux-system/gotk-sync.yaml", "night weekend"},
		"a list without the FluxInstance": {rootFile("", ""), operator("") + list, operator("") + strings.Replace(list, ", flux-system/gotk-sync.yaml", "", 1),
			"clusters/prod/kustomization.yaml", "weekend"},
		"another namespace of the FluxInstance": {rootFile("", ""), operator(""), operator("") + "-- clusters/prod/flux-system/kustomization.yaml --\nnamespace: x\nresources: [gotk-sync.yaml]\n",
			"clusters/prod/flux-system/kustomization.yaml", "weekend"},
		"a patch gives the root another path": {rootFile("", ""), gotk + list + "patches: [{path: patch.yaml, target: {name: held}}]\n-- clusters/prod/patch.yaml --\n" + ks("held", "./apps", "own"),
			gotk + list + "patches: [{path: patch.yaml, target: {kind: Kustomization}}]\n-- clusters/prod/patch.yaml --\n" + ks("held", "./apps", "own"),
			"clusters/prod/kustomization.yaml", "weekend"},
		"a parent of another name": {rootFile("", ""), parent, strings.Replace(parent, "name: parent", "name: other", 1), "clusters/prod/parent.yaml", "weekend"},
		"the root by its name, made by a FluxInstance": {rootFile(night, ""), operator("") + live, operator("") + live,
			"clusters/prod/live.yaml", "night"},
		"the root by its name, outside": {rootFile(night, named), outside.Replace(gotk) + live, outside.Replace(gotk) + live, "clusters/prod/live.yaml", "night"},
		"a live one defines the source of a windowed root": {rootFile(night, ""), gotk + live,
			gotk + live + "-- live/b.yaml --\n" + sourceObject("GitRepository", "flux-system", "{"+fleet+", ref: {branch: main}}"), "live/b.yaml", "night"},
		"a live one defines a root that stands nowhere": {rootFile("\n    - {where: clusters/prod, release: night}", named), held + live,
			held + live + "-- live/b.yaml --\n" + ks("flux-system", "./elsewhere", "flux-system"), "live/b.yaml", "night weekend"},
	} {
		p := parse(t, c.policy)
		g := New(p, clusters(t, p, c.before), clusters(t, p, c.after))
		var got []string
		if class, ok := g.Reads(c.file); ok {
			for _, r := range class.Releases {
				got = append(got, string(r))
			}
		}
		if class, ok := g.Holds(c.file); ok {
			for _, r := range class.Releases {
				got = append(got, string(r))
			}
		}
		slices.Sort(got)
		if got = slices.Compact(got); len(got) > 1 {
			got = slices.DeleteFunc(got, func(s string) bool { return s == "live" })
		}
		if now := strings.Join(got, " "); now != c.want {
			t.Errorf("%s: %s needs %s, want %s", name, c.file, now, c.want)
		}
	}
}

// TestRootBeside: the source of a root that stands outside of it is the one of its own file, where another cluster's is called the same beside it.
func TestRootBeside(t *testing.T) {
	p := parse(t, rootFile("", "clusters:\n  - {name: dev, path: clusters/dev, branch: main}\n  - {name: prod, path: clusters/prod, branch: main}\n"))
	root := func(name, more string) string {
		return "-- bootstrap/" + name + ".yaml --\n" + sourceObject("GitRepository", "flux-system", "{"+fleet+", ref: {branch: main}"+more+"}") + ks("flux-system", "./clusters/"+name, "flux-system")
	}
	tree := root("dev", "") + root("prod", ", ignore: /clusters/prod/kustomization.yaml") + "-- clusters/dev/a.yaml --\n" + configMap + "-- clusters/prod/kustomization.yaml --\nresources: []\n" +
		"-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "flux-system") + "-- apps/a.yaml --\n" + configMap
	if got := needs(New(p, clusters(t, p, tree)), "apps/a.yaml"); got != "[weekend] apps/a.yaml ← apps (weekend)" {
		t.Error(got)
	}
}
