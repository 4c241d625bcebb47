package render

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/escape"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/internal/golden"
	"github.com/sluicegate/sluice/meter"
)

const head = `version: 1
timezone: Europe/Berlin
windows:
  cluster-1: {open: "0 8 * * MON", close: "0 17 * * THU"}
  cluster-2: {open: "0 22 * * TUE", duration: 6h}
`

// files are rules for trees of package fluxtrees.
var files = map[string]string{
	"branches": head + `branches:
  - {name: rw/cluster-1, from: main, window: cluster-1}
  - {name: rw/cluster-2, from: main, window: cluster-2}
layout: {preset: rt-rw, branches: ["rw/*"]}
`,
	"windows-rw": head + `layout:
  preset: rt-rw
  window: cluster-1
  rules:
    - {paths: ["clusters/{cluster}/**/*-rw/**"], release: "{cluster}"}
    - {paths: ["**/*-rw/**"], release: [cluster-1, cluster-2]}
`,
	"two-clusters": head + `layout:
  rules:
    - {paths: ["apps/**"], release: cluster-1}
    - {paths: ["infrastructure/configs/**"], release: cluster-2}
  unmatched: live
`,
	"tenants": head + `branches: [{name: windowed, from: main, window: cluster-2}]
layout: {rules: [{paths: ["tenants/**"], release: {branches: ["windowed"]}}]}
`,
}

// input is rules and a tree.
func input(t *testing.T, rules string, tree fs.FS) Input {
	t.Helper()
	return inputBy(t, meter.Unhurried(), rules, tree)
}

// inputBy is input as a part of a run.
func inputBy(t *testing.T, m *meter.Meter, rules string, tree fs.FS) Input {
	t.Helper()
	policy, findings := config.Parse([]byte(rules))
	if policy == nil {
		t.Fatal(findings)
	}
	g, err := graph.ReadBy(m, tree)
	if err != nil {
		t.Fatal(err)
	}
	return Input{Policy: policy, File: []byte(rules), Tree: tree, Graph: g, Clusters: g.Clusters(policy.Clusters)}
}

// suspended is what Suspend writes, and whether Git says nothing of it.
func suspended(t *testing.T, in Input, call Call) ([]byte, bool, error) {
	t.Helper()
	out, err := Suspend(in, call)
	return out.Manifests, out.Clean, err
}

const image = "registry.example.com/sluice:v1.2.3"

// TestGoldens: what is written for repositories of several shapes, twice the same.
func TestGoldens(t *testing.T) {
	for name, rules := range files {
		in := input(t, rules, fluxtrees.Tree(t, name))
		var out bytes.Buffer
		for _, again := range []string{"", "again"} {
			var b bytes.Buffer
			for _, kind := range []Kind{Deployment, CronJob} {
				out, err := Suspend(in, Call{Kind: kind, Image: image})
				if err != nil || !out.Clean {
					t.Errorf("%s: %v %t", name, err, out.Clean)
				}
				b.Write(out.Manifests)
				b.WriteString("=====\n")
			}
			text, err := Flux(in, "", "git@github.com:acme/fleet.git")
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			b.Write(text)
			if again != "" && !bytes.Equal(out.Bytes(), b.Bytes()) {
				t.Errorf("%s: twice not the same", name)
			}
			out = b
		}
		golden.File(t, filepath.Join("testdata", name+".txt"), out.Bytes())
	}
}

// decoded is every document of some YAML.
func decoded(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var out []map[string]any
	for dec := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var o map[string]any
		switch err := dec.Decode(&o); {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			t.Fatalf("%v\n%s", err, text)
		case o != nil:
			out = append(out, o)
		}
	}
}

const entryText = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  interval: 10m
  path: ./apps
  prune: true
  sourceRef: {kind: GitRepository, name: fleet}
`

const sourceText = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {url: https://github.com/acme/fleet, ref: {branch: main}}
`

const windowed = head + "layout: {rules: [{paths: [\"apps/**\"], release: cluster-1}]}\n"

// simple is one cluster whose entry reads one file.
func simple(change ...string) fstest.MapFS {
	text := strings.NewReplacer(change...)
	return fstest.MapFS{
		"clusters/c/apps.yaml": {Data: []byte(text.Replace(entryText + "---\n" + sourceText))},
		"apps/web.yaml":        {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n")},
	}
}

// TestSuspendInGit: where Git says anything of suspend, which Flux would put back, the answer is no, with the place.
func TestSuspendInGit(t *testing.T) {
	for _, value := range []string{"true", "false"} {
		in := input(t, windowed, simple("  prune: true\n", "  prune: true\n  suspend: "+value+"\n"))
		out, clean, err := suspended(t, in, Call{Kind: Deployment, Image: image})
		want := "clusters/c/apps.yaml:8 sets suspend: " + value + " on the Flux Kustomization flux-system/apps"
		if err != nil || clean || !strings.Contains(string(out), "\n# ERROR: "+want) {
			t.Errorf("%t %v\n%s", clean, err, out)
		}
		if all, err := Contradictions(in); err != nil || len(all) != 1 || !strings.HasPrefix(all[0].Contradiction(), want) {
			t.Errorf("%+v", all)
		}
	}
	if _, clean, err := suspended(t, input(t, windowed, simple()), Call{Kind: Deployment, Image: image}); !clean || err != nil {
		t.Error(clean, err)
	}
}

// TestMixed: a Kustomization that reads a file which no window holds is left out, and the comment says which.
func TestMixed(t *testing.T) {
	tree := simple()
	tree["apps/kustomization.yaml"] = &fstest.MapFile{Data: []byte("resources: [web.yaml, ../base]\n")}
	tree["base/kustomization.yaml"] = &fstest.MapFile{Data: []byte("resources: [db.yaml]\n")}
	tree["base/db.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\n")}
	out, _, err := suspended(t, input(t, windowed, tree), Call{Kind: Deployment, Image: image})
	want := "# Left out: flux-system/apps (clusters/c/apps.yaml:1): 2 of the 4 files that it reads are not held by a window, for example base/db.yaml (ignored): split it, or window them\n"
	if err != nil || !strings.Contains(string(out), want) || len(decoded(t, out)) != 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestShared: a definition that two clusters share stays as it stands, with its variables. Where they need different ones that is said. So does a
// source that both have.
func TestShared(t *testing.T) {
	const sync = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: all, namespace: flux-system}\n" +
		"spec: {path: ./shared, postBuild: {substitute: {cluster: CLUSTER, source: fleet}}, sourceRef: {kind: GitRepository, name: fleet}}\n---\n" + sourceText
	rw := strings.NewReplacer("name: fleet", "name: moved", "branch: main", "branch: \"rw/${cluster}\"").Replace(sourceText)
	tree := fstest.MapFS{
		"shared/apps.yaml": {Data: []byte(strings.NewReplacer("./apps", "./apps/${cluster}", "name: fleet", "name: \"${source}\"", ", namespace: flux-system", "").Replace(entryText) +
			"  targetNamespace: x\n")},
		"shared/kustomization.yaml": {Data: []byte("namespace: flux-system\nresources: [apps.yaml, rw.yaml]\n")},
		"shared/rw.yaml":            {Data: []byte(rw)},
	}
	for _, c := range []string{"a", "b"} {
		tree["clusters/"+c+"/all.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(sync, "CLUSTER", c, 1))}
		tree["apps/"+c+"/web.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n")}
	}
	branch := func(name string) string { return "  - {name: rw/" + name + ", from: main, window: cluster-1}\n" }
	rule := func(name string) string {
		return "    - {paths: [\"apps/" + name + "/**\"], release: {branches: [rw/" + name + "]}}\n"
	}
	both := head + "branches:\n" + branch("a") + branch("b") + "layout:\n  rules:\n" + rule("a") + rule("b")
	for rules, said := range map[string]bool{both: false, strings.Replace(both, rule("b"), "", 1): true} {
		out, err := Flux(input(t, rules, tree), "https://github.com/acme/fleet", "")
		if err != nil {
			t.Fatal(err)
		}
		if want := "# GitRepository flux-system/moved stays as it is (shared/rw.yaml:1). It must follow rw/a."; !strings.Contains(string(out), want) {
			t.Errorf("want %s\n%s", want, out)
		}
		entries := 0
		for _, o := range decoded(t, out) {
			if spec, _ := o["spec"].(map[string]any); spec["targetNamespace"] == "x" {
				if entries++; spec["path"] != "./apps/${cluster}" {
					t.Errorf("%v", spec)
				}
			}
		}
		if (entries == 1) != said || strings.Contains(string(out), wordShared) != said {
			t.Errorf("%d, want the note: %t\n%s", entries, said, out)
		}
	}
}

// TestKeyTwice: of a key that a document has twice the last counts, as in graph. kustomize builds no such document: it is made anew.
func TestKeyTwice(t *testing.T) {
	for _, twice := range []string{"path: ./apps", "prune: true"} {
		key, _, _ := strings.Cut(twice, ":")
		tree := simple(twice, key+": ./x\n  "+twice)
		rules := head + "branches: [{name: rw, from: main, window: cluster-1}]\nlayout: {rules: [{paths: [\"apps/**\"], release: {branches: [rw]}}]}\n"
		out, err := Flux(input(t, rules, tree), "https://github.com/acme/fleet", "")
		if err != nil || !strings.Contains(string(out), wordMade) {
			t.Errorf("%v\n%s", err, out)
		}
		for _, o := range decoded(t, out) {
			if spec, _ := o["spec"].(map[string]any); o["kind"] == "Kustomization" && (spec["path"] != "./apps" || spec["prune"] != true) {
				t.Errorf("%s: %v", twice, spec)
			}
		}
	}
}

// TestTag: a live side that follows a tag goes on doing so, whatever the file calls its branch.
func TestTag(t *testing.T) {
	tree := simple("branch: main", "tag: v1")
	tree["clusters/c/rw.yaml"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(entryText, "apps", "rw") + "---\n" + strings.NewReplacer("name: fleet", "name: rw", "branch: main", "branch: rw").Replace(sourceText))}
	tree["clusters/c/rw.yaml"].Data = bytes.Replace(tree["clusters/c/rw.yaml"].Data, []byte("GitRepository, name: fleet"), []byte("GitRepository, name: rw"), 1)
	tree["rw/web.yaml"] = tree["apps/web.yaml"]
	out, err := Flux(input(t, head+"branches: [{name: rw, from: main, window: cluster-1}]\nlayout: {rules: [{paths: [\"rw/**\"], release: {branches: [rw]}}]}\n", tree), "", "https://github.com/acme/fleet")
	for _, want := range []string{
		"what is live comes from a tag or a commit, what is windowed", "# GitRepository flux-system/fleet stays as it is (clusters/c/apps.yaml:10).\n", "    branch: rw\n",
	} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v, want %s\n%s", err, want, out)
		}
	}
	if strings.Contains(string(out), "branch: main") {
		t.Errorf("%s", out)
	}
}

// TestHostile: whatever a tree is made of, what comes out is YAML, names nothing that Kubernetes refuses, and its texts stay texts.
func TestHostile(t *testing.T) {
	for name, tree := range map[string]fstest.MapFS{
		"a name":       simple("name: apps", `name: "apps\nkind: ClusterRoleBinding"`),
		"a word":       simple("name: apps", `name: "true"`),
		"a number":     simple("name: apps", `name: "123"`),
		"a namespace":  simple("namespace: flux-system", `namespace: "a: b #"`),
		"a branch":     simple("branch: main", `branch: "x\n---\nkind: Secret"`),
		"a source":     simple("name: fleet", `name: "x: {{.Image}}"`),
		"an interval":  simple("interval: 10m", `interval: "1m\n  suspend: true"`),
		"a path":       simple("path: ./apps", `path: "./apps\u2028x"`),
		"an alias":     simple("prune: true", "prune: &a true\n  wait: *a"),
		"a tag":        simple("prune: true", "prune: !!str true"),
		"a comment":    simple("prune: true", "prune: true # ]}>\n  # --- x"),
		"obeyed":       simple("prune: true", "prune: true # ##[x]\n  # ##[y]\n  patches: [{patch: \"a\\n::x::\\n\"}, '##[z]', \"\\u202ea\\U000e0001\"]\n  ##[w]\n  \"::x\\u202e\": \"\\u0085\"\n  a: |\n    ::stop::x\n  b: >-\n    x##[y]"),
		"a depth":      simple("prune: true", "patches: "+strings.Repeat("[", 90)+strings.Repeat("]", 90)),
		"a cluster":    {"clusters/a\n---\nkind: Secret/apps.yaml": simple()["clusters/c/apps.yaml"], "apps/web.yaml": simple()["apps/web.yaml"]},
		"a turn":       {"clusters/a\u202eb'\"/apps.yaml": simple()["clusters/c/apps.yaml"], "apps/web.yaml": simple()["apps/web.yaml"]},
		"a file":       {"clusters/c/x\n- y: \x1b[2J.yaml": simple()["clusters/c/apps.yaml"], "apps/web.yaml": simple()["apps/web.yaml"]},
		"a directory":  {"clusters/c/apps/a\n: b-rw/kustomization.yaml": simple()["apps/web.yaml"], "clusters/c/apps/-/kustomization.yaml": simple()["apps/web.yaml"]},
		"variables":    simple("path: ./apps", `path: "./${x}/apps"`),
		"no source":    simple("sourceRef:", "sourceRefs:"),
		"odd spec":     simple("spec:\n  interval: 10m", "spec:\n  dependsOn: [1, {name: [x]}, {name: apps}]\n  interval: 10m"),
		"odd metadata": simple("metadata: {name: apps, namespace: flux-system}", "metadata: [name, apps]"),
	} {
		for _, rules := range []string{windowed, files["branches"] + "  # 'x'\n", strings.ReplaceAll(files["tenants"], "tenants/", "")} {
			in := input(t, rules, tree)
			for _, kind := range []Kind{Deployment, CronJob} {
				out, _, err := suspended(t, in, Call{Kind: kind, Image: image})
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				harmless(t, name, out)
			}
			if out, err := Flux(in, "https://github.com/acme/fleet", ""); err != nil {
				t.Errorf("%s: %v", name, err)
			} else {
				harmless(t, name, out)
			}
		}
	}
}

func harmless(t *testing.T, name string, out []byte) {
	t.Helper()
	kinds := []string{"ServiceAccount", "Role", "RoleBinding", "ConfigMap", "Deployment", "CronJob", "GitRepository", "Kustomization", "Receiver", "Provider", "Alert"}
	for _, o := range decoded(t, out) {
		meta, _ := o["metadata"].(map[string]any)
		object, _ := meta["name"].(string)
		namespace, _ := meta["namespace"].(string)
		if kind, _ := o["kind"].(string); !slices.Contains(kinds, kind) || !named(namespace, object) {
			t.Errorf("%s: %v\n%s", name, o, out)
		}
	}
	var printed bytes.Buffer
	w := escape.NewWriter(&printed)
	if _, err := w.Write(append(out, '\n')); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decoded(t, out), decoded(t, printed.Bytes())); diff != "" || bytes.ContainsAny(out, "\x1b\u202e\u2028\u0085\U000e0001") || !utf8.Valid(out) {
		t.Errorf("%s: printed it is another one: %s\n%q", name, diff, out)
	}
}

// TestURL: addresses as Flux takes them, and never with a token.
func TestURL(t *testing.T) {
	for text, want := range map[string]string{
		"git@github.com:acme/fleet.git":                "ssh://git@github.com/acme/fleet.git",
		"github.com:acme/fleet":                        "ssh://git@github.com/acme/fleet",
		"ssh://deploy@git.example.com:2222/a/b":        "ssh://deploy@git.example.com:2222/a/b",
		"ssh://git:secret@github.com/a/b":              "ssh://git@github.com/a/b",
		"https://x-access-token:secret@github.com/a/b": "https://github.com/a/b",
		"https://github.com/acme/fleet":                "https://github.com/acme/fleet",
		"":                                             "",
		"/srv/git/fleet":                               "",
		"file:///srv/git/fleet":                        "",
		"https://":                                     "",
		"https://github.com/a b":                       "",
		"https://github.com/a\nkind: Secret":           "",
		"ext::sh -c 'echo'":                            "",
		"https://x:secret@github.com/a b":              "",
		"git+https://x:sec@secret@github.com/a":        "",
		"https://github.com/a b?token=secret":          "",
		"ftp://github.com/a?token=secret#secret":       "",
		"https://github.com/a/b?token=secret#secret":   "https://github.com/a/b",
	} {
		got, err := repositoryURL(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		if err != nil && text != "" && strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
	}
	in := input(t, files["windows-rw"], fluxtrees.Tree(t, "windows-rw"))
	if _, err := Flux(in, "", ""); !errors.Is(err, ErrNoURL) {
		t.Error(err)
	}
	in = input(t, files["branches"], fluxtrees.Tree(t, "branches"))
	for want, call := range map[string][2]string{
		"url: ssh://git@github.com/acme/fleet\n": {"", "https://other.example.com/x"}, "url: https://gitlab.example.com/x\n": {"https://gitlab.example.com/x", ""},
	} {
		if out, err := Flux(in, call[0], call[1]); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%q: %v\n%s", call, err, out)
		}
	}
}

// FuzzQuote: a text comes back from YAML as the text that it was, quoted or as a block.
func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"", "a", "true", "1", "1e3", "1m", "a: b", "- a", "a\n", " a\n", "a\n\n", "a\n  \n", "\ta\n", "#\n", "a\r\n", "\u2028\n", "\U000e0001", "a #b", "--x=y", "---\n", "...\n", "a\u0085b\n", "\ufeffa\n", "%YAML\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, form := range []func(string) (string, error){quote, block} {
			written, err := form(text)
			if err != nil {
				if utf8.ValidString(text) {
					t.Errorf("%q: %v", text, err)
				}
				continue
			}
			var back struct{ Data map[string]any }
			if err := yaml.Unmarshal([]byte("data:\n  key: "+written+"\n"), &back); err != nil || back.Data["key"] != text {
				t.Errorf("%q is written %q and read %q, %v", text, written, back.Data["key"], err)
			}
		}
	})
}
