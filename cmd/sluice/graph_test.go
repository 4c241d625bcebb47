package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/internal/golden"
)

// TestGraph: what is printed of some of the trees, in each form.
func TestGraph(t *testing.T) {
	for name, c := range map[string]struct{ tree, call string }{
		"layout":       {"layout-rw", ""},
		"path":         {"layout-rw", "--path apps/nginx/base/cm.yaml --path ./clusters/cluster-1/flux/ --path README.md"},
		"path-json":    {"layout-rw", "--json --path apps/nginx/base/cm.yaml --path clusters/cluster-1/flux/sources.yaml"},
		"path-dot":     {"layout-rw", "--dot --path apps/nginx/base/cm.yaml --path clusters/cluster-1/flux/sources.yaml"},
		"layout-dot":   {"layout-mw", "--dot"},
		"sources":      {"sources", ""},
		"sources-json": {"sources", "--json"},
		"objects":      {"objects", "--path charts --path values"},
		"named":        {"root-elsewhere", ""},
		"fields":       {"fields", "--path fields/app --path fields/shared"},
		"unreached":    {"unreached", ""},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := sluice(append([]string{"graph", fluxtrees.ReadGraph(t, c.tree).Dir(t)}, strings.Fields(c.call)...)...)
			if code != 0 || stderr != "" {
				t.Fatalf("code %d, says %s", code, stderr)
			}
			golden.File(t, filepath.Join("testdata", "graph", name+".txt"), []byte(stdout))
		})
	}
}

// TestGraphRefuses: what cannot be meant, or read, ends with 2 and says what is wrong.
func TestGraphRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	lay(t, []txtar.File{
		{Name: "a.yaml", Data: []byte("a: b\n")}, {Name: "broken/.github/sluice.yaml", Data: []byte("version: x\n")},
		{Name: "empty/README.md"},
	}, "")
	if err := os.Chdir("repo"); err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]string{
		"missing":                "missing",
		"a.yaml":                 "a.yaml is not a directory",
		". .":                    "accepts at most 1 arg(s), received 2",
		". --path b.yaml":        "--path b.yaml: there is no such file",
		". --path ../x":          "--path ../x: there is no such file",
		". --path=":              "--path: it is empty",
		". --file missing.yaml":  "missing.yaml",
		". --json --dot":         "--json and --dot cannot be combined",
		"broken":                 "broken/.github/sluice.yaml:1",
		". --pth x":              "did you mean --path?",
		"missing --json":         "missing",
		". --json --path b.yaml": "--path b.yaml",
	} {
		stdout, stderr, code := sluice(append([]string{"graph"}, strings.Fields(call)...)...)
		if code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: code %d, says %q, want %q", call, code, stderr, want)
		}
		var v struct{ Error string }
		if strings.Contains(call, "--json") && (json.Unmarshal([]byte(stdout), &v) != nil || v.Error == "") {
			t.Errorf("%s: prints %s", call, stdout)
		}
	}
	if stdout, _, code := sluice("__complete", "graph", ""); code != 0 || stdout != ":16\n" {
		t.Errorf("completion of DIR: code %d, %q; want directories alone", code, stdout)
	}
	if stdout, _, code := sluice("graph", "empty"); code != 0 || stdout != "No cluster found: list them under `clusters` in .github/sluice.yaml.\nNo cluster reads 1 of 1 files:\n  README.md\n" {
		t.Errorf("a tree without clusters: code %d, prints %s", code, stdout)
	}
}

// TestGraphRootAtTag: of a root that follows no branch its source is shown.
func TestGraphRootAtTag(t *testing.T) {
	dir := bounded(t, map[string]string{"clusters/one/flux/gotk-sync.yaml": strings.Replace(fmt.Sprintf(boundedSync, "./clusters/one"), "branch: main", "tag: v1", 1)})
	if stdout, stderr, code := sluice("graph", dir); code != 0 || !regexp.MustCompile(`the root +clusters/one +GitRepository/flux-system/flux-system +live; nights +live +`).MatchString(stdout) {
		t.Errorf("code %d, says %s%s", code, stdout, stderr)
	}
}

// TestGraphHostileNames: whatever files and objects are called, a terminal gets no control characters, and Graphviz one text for each.
func TestGraphHostileNames(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a\x1b[2Jb.yaml", `q"];x[label="y.yaml`, "line\nbreak.yaml", `back\slash\.yaml`, "ünïcode.yaml", "<b>.yaml", "\xff.yaml"}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("kind: ConfigMap\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ks.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: \"n\\\"];\\e[2J\", namespace: \"x\\ny\"}\nspec: {path: \"\"}\n")
	write("rules.yaml", "version: 1\nclusters: [{name: c, path: ., branch: main}]\n")
	rules := "--file=" + filepath.Join(dir, "rules.yaml")
	for _, form := range []string{"--json=false", "--dot", "--json"} {
		for _, of := range []string{"--file=" + filepath.Join(dir, "rules.yaml"), "--path=."} {
			stdout, stderr, code := sluice("graph", dir, rules, form, of)
			if code != 0 {
				t.Fatalf("%s: code %d, %s", form, code, stderr)
			}
			if i := strings.IndexFunc(stdout, func(c rune) bool { return c < ' ' && c != '\n' || c == 0x7f || c == 0xfffd }); i >= 0 && form != "--json" {
				t.Errorf("%s: prints %q", form, stdout[i:])
			}
			if form == "--dot" {
				graphviz(t, stdout)
			}
		}
	}
}

// graphvizLine is a node, an arrow or the beginning of a cluster.
var graphvizLine = regexp.MustCompile(`^(?:n\d+(?: -> n\d+)?(?: \[(?:style=dashed, )?label="(?:[^"\\\n]|\\["\\])*"(?:, shape=ellipse)?\])?;|subgraph cluster_\d+ \{|label="(?:[^"\\\n]|\\["\\])*";)$`)

// graphviz demands that each line of a graph is a node, an arrow or one of the lines around them, its texts quoted.
func graphviz(t *testing.T, text string) {
	t.Helper()
	fixed := []string{"digraph sluice {", "rankdir=LR;", "}", `node [shape=box, fontname="sans-serif"];`, `edge [fontname="sans-serif", fontsize=10];`}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if slices.Contains(fixed, line) || graphvizLine.MatchString(line) {
			continue
		}
		t.Errorf("not a line of Graphviz: %s", line)
	}
}
