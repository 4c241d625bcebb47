package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/internal/fluxtrees"
)

const renderRules = `version: 1
timezone: UTC
windows: {day: {open: '0 8 * * *', close: '0 17 * * *'}}
layout: {rules: [{paths: ["**/*-rw/**"], release: day}], unmatched: live}
`

// ruledDir is a repository without Flux objects, with rules.
func ruledDir(t *testing.T, rules string) string {
	t.Helper()
	dir := fluxtrees.Dir(t, "windows-rw")
	if err := os.MkdirAll(filepath.Join(dir, ".github"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".github/sluice.yaml"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRender: the exit codes, and which URL counts: --url, else what the tree says, else origin.
func TestRender(t *testing.T) {
	dir := ruledDir(t, renderRules)
	for call, want := range map[string]string{
		"render sus":                               "unknown command \"sus\"; `sluice render --help` lists them",
		"render suspend --kind Pod " + dir:         `--kind "Pod": want Deployment or CronJob`,
		"render suspend " + dir + "/README.md":     dir + "/README.md is not a directory",
		"render suspend --cluster c1 " + dir:       "--cluster \"c1\": there is none of this name; known are cluster-1, cluster-2",
		"render suspend --cluster cluster1 " + dir: `--cluster "cluster1": there is none of this name; did you mean cluster-1?`,
		"render flux " + dir:                       "cluster cluster-1: neither a root's GitRepository nor the remote origin gives this repository's URL: set it with --url",
		"render flux --url nowhere " + dir:         `"nowhere" is not a repository's URL`,
	} {
		if stdout, stderr, code := sluice(strings.Fields(call)...); code != 2 || stderr != "sluice: "+want+"\n" || stdout != "" {
			t.Errorf("%s: code %d, says %q", call, code, stderr)
		}
	}
	stdout, stderr, code := sluice("render", "suspend", dir, "--cluster", "cluster-1", "--image", "example.com/sluice:v9")
	if code != 0 || stderr != "" || !strings.Contains(stdout, "- --kustomization=flux-system/apps-rw=day\n") || !strings.Contains(stdout, "image: example.com/sluice:v9\n") ||
		strings.Contains(stdout, "cluster-2") {
		t.Errorf("code %d, says %q, prints\n%s", code, stderr, stdout)
	}
	if _, stderr, code := sluice("render", "suspend", dir); code != 0 || stderr != "sluice: REGISTRY/sluice:VERSION is only a placeholder: set your image with --image, or nothing runs\n" {
		t.Errorf("code %d, says %q", code, stderr)
	}
	for _, args := range [][]string{{"init", "-q"}, {"remote", "add", "origin", "https://user:secret@git.example.com/acme/fleet.git"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	for url, want := range map[string]string{"": "url: https://git.example.com/acme/fleet.git\n", "git@example.com:a/b": "url: ssh://git@example.com/a/b\n"} {
		stdout, stderr, code := sluice("render", "flux", dir, "--url", url)
		if code != 0 || stderr != "" || !strings.Contains(stdout, want) || strings.Contains(stdout, "secret@") {
			t.Errorf("code %d, says %q, prints\n%s", code, stderr, stdout)
		}
	}
}

// TestSuspendInGit: `check` warns where Git says anything of suspend of a windowed Kustomization, and `render suspend` answers no.
func TestSuspendInGit(t *testing.T) {
	dir := ruledDir(t, renderRules)
	const entry = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps-rw, namespace: flux-system}\n" +
		"spec: {path: ./clusters/cluster-1/apps/apps-rw, interval: 10m, prune: true, suspend: false, sourceRef: {kind: GitRepository, name: fleet}}\n"
	if err := os.WriteFile(filepath.Join(dir, "clusters/cluster-1/apps-rw.yaml"), []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "clusters/cluster-1/apps-rw.yaml:4 sets suspend: false on the Flux Kustomization flux-system/apps-rw, which is windowed: " +
		"Flux restores that whenever it is changed in the cluster; remove it from Git"
	if stdout, _, code := sluice("check", dir); code != 0 || !strings.Contains(stdout, "sluice.yaml: warning: "+want+" (suspend-in-git)\n") {
		t.Errorf("code %d, prints %s", code, stdout)
	}
	if stdout, stderr, code := sluice("render", "suspend", dir, "--image", "example.com/sluice:v9"); code != 1 || stderr != "sluice: "+want+"\n" || !strings.Contains(stdout, "\n# ERROR: "+want+"\n") {
		t.Errorf("code %d, says %q, prints\n%s", code, stderr, stdout)
	}
}

// TestRenderReadsNothing: what is windowed and reads nothing may be missing in the manifests, and so may what an entry was to match.
func TestRenderReadsNothing(t *testing.T) {
	const variable = "sluice: flux-system/apps-rw of one is windowed and reads no file: the value of WHERE is not known from the tree, so it holds nothing\n"
	const unmatched = "sluice: layout.entrypoints#2.where: matches no Flux Kustomization and no root in the tree, so it holds nothing\n"
	more := boundedFile + "    - {where: flux-system/gone, release: nights}\n"
	for name, c := range map[string]struct {
		path, file, want string
	}{
		"fine":                  {"./apps/rw", boundedFile, ""},
		"a variable":            {"./apps/${WHERE}", boundedFile, variable},
		"an entry":              {"./apps/rw", more, unmatched},
		"both":                  {"./apps/${WHERE}", more, unmatched + variable},
		"no more than warnings": {"./apps/${WHERE}", more + "consistency: {followed: warn}\n", ""},
	} {
		dir := bounded(t, map[string]string{".github/sluice.yaml": c.file, "clusters/one/apps.yaml": entryOf("apps-rw", c.path, "")})
		for _, call := range [][]string{{"suspend", "--image", "x"}, {"flux"}} {
			stdout, stderr, code := sluice(append(append([]string{"render"}, call...), dir)...)
			if code != min(len(c.want), 1) || stderr != c.want || stdout == "" {
				t.Errorf("%s, %s: code %d, says %s", name, call[0], code, stderr)
			}
		}
	}
}

// TestRenderShared: a live Flux Kustomization is no matter of render, also where windowed ones read its files.
func TestRenderShared(t *testing.T) {
	for _, call := range []string{"suspend --image x", "flux"} {
		stdout, stderr, code := sluice(append(append([]string{"render"}, strings.Fields(call)...), fluxtrees.ReadGraph(t, "names-lie").Dir(t))...)
		if code != 0 || strings.Contains(stdout, "apps-rt (clusters") {
			t.Errorf("%s: code %d, says %s%s", call, code, stderr, stdout)
		}
	}
}

// TestImageTag: a release has an image of its version; what was built otherwise has none.
func TestImageTag(t *testing.T) {
	for version, want := range map[string]string{"v1.2.3": "v1.2.3", "v0.0.0-20261122160000-abcdef123456+dirty": "VERSION", "(devel)": "VERSION", "": "VERSION"} {
		if got := imageTag(&debug.BuildInfo{Main: debug.Module{Version: version}}, true); got != want {
			t.Errorf("%q: %q", version, got)
		}
	}
}
