package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// obeyed is what a terminal or a CI that keeps the log would obey, and what turns the reader's line around.
var obeyed = regexp.MustCompile(`(?m)^[ \t]*::.*|.*##[A-Za-z]*\[.*|.*[^\PC\n\t].*|.*[\p{Zl}\p{Zp}].*`)

// commandingTree is a repository in which whatever can be named is called as something that a terminal or a CI obeys.
func commandingTree(t *testing.T) string {
	t.Helper()
	const name, turned = "::set-output name=verdict::release", "a\u202eb\u0085\u009b2J##[add-path]c"
	entry := func(name, path, more string) string {
		return entryOf(name, path, more) + "# ##[group]\u202e\n#::x\n"
	}
	file := strings.Replace(boundedFile, "layout:\n", "branches: [{name: rw, from: main, window: nights}]\nlayout:\n", 1) +
		"  preset: rt-rw\n  window: nights\n  rules:\n    - {paths: [\"apps/rw/::**\"], release: {branches: [rw]}}\n    - {paths: [\"##[[]group]/**\"], release: nights}\n" +
		"# a\n  # ::error::b\n#::x\n# ##[error]\n"
	file = strings.Replace(file, "duration: 4h", `duration: 4h, description: "::notice::x ##[x]"`, 1)
	quoted := strconv.QuoteToASCII(turned) // YAML has no control characters
	return bounded(t, map[string]string{
		".github/sluice.yaml":                      file,
		"apps/rw/" + name:                          "x",
		name + "/" + turned + "/" + name + ".yaml": "kind: List\n@",
		"::warning::x":                             "x",
		"##[group]/" + turned + ".yaml":            configMap("b"),
		"clusters/" + turned + "/gotk-sync.yaml":   strings.ReplaceAll(boundedSync, "%s", "./clusters/one"),
		"apps/rw/kustomization.yaml":               "resources: [cm.yaml, \"" + name + "\"]\n",
		"clusters/one/apps.yaml": entry("apps-rw", "./apps/rw", ", patches: [{patch: \"a: b\\n::add-mask::x\\n##[x]\"}], dependsOn: [{name: "+quoted+"}]") +
			entry("::stop-commands::x", "./"+name, ", suspend: true") + entry("live", "./apps/live", ", targetNamespace: "+quoted+", patches:\n    - patch: |\n        ::x::\n\n        ##[y]"),
		"clusters/one/rw.yaml": strings.NewReplacer("flux-system, namespace", "rw, namespace", "branch: main", "branch: rw", "%s", "./apps/rw").Replace(boundedSync),
	})
}

// TestNothingIsObeyed: no line of what a command prints is obeyed by a CI or a terminal, in text, JSON and YAML, whatever a tree is made of.
func TestNothingIsObeyed(t *testing.T) {
	t.Chdir(commandingTree(t))
	gitOut(t, ".", "init", "-q", "-b", "main")
	gitOut(t, ".", "add", "-A")
	gitOut(t, ".", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "::error::x\u202e")
	gitOut(t, ".", "branch", "rw")
	for _, call := range [][]string{
		{"check"}, {"graph"}, {"graph", "--path", "apps/rw/::set-output name=verdict::release"}, {"graph", "--path", "::warning::x"}, {"graph", "--dot"},
		{"classify", "."}, {"classify", "::warning::x", "##[group]/a"}, {"classify", "--base", "main", "--head", "::error::x\u202e"}, {"windows"}, {"windows", "::x::"},
		{"init", "--file", "-"}, {"init"}, {"promote", "--repo", ".", "--dry-run"}, {"render", "suspend"}, {"render", "flux"}, {"render", "flux", "--url", "::x\u202e"},
		{"check", "::x::\u202e"}, {"::x::"}, {"plan", "::x::\u202e"}, {"suspend", "--file", ".github/sluice.yaml", "--cluster", "::x", "--kustomization", "::x"},
	} {
		for _, form := range []string{"", "--json"} {
			stdout, stderr, code := sluice(append(call, strings.Fields(form)...)...)
			if found := obeyed.FindString(stdout + "\n" + stderr); found != "" {
				t.Errorf("%q %s: %q", call, form, found)
			}
			if strings.Contains(stderr, "unknown flag: --json") {
				continue
			}
			if form != "" && !json.Valid([]byte(stdout)) {
				t.Errorf("%q: code %d, no JSON: %s%s", call, code, stdout, stderr)
			}
		}
	}
}

// pieces counts what is written at once.
type pieces struct {
	bytes.Buffer
	most int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.most = max(p.most, len(b))
	return p.Buffer.Write(b)
}

// TestJSONInPieces: JSON is what the library makes with an indent, and handed on in pieces: an answer may have a hundred megabytes.
func TestJSONInPieces(t *testing.T) {
	type empty struct{}
	for _, v := range []any{
		nil, 1, "a", true, []int{}, map[string]int{}, empty{}, []any{empty{}, []int{}, "[{,:\"\\", nil}, map[string]any{"a": []int{1, 2}, "b\\\"": map[string]any{"c": "<&>\u2028"}},
		json.RawMessage("{ \"a\" : [ 1 , {} ] }"), []any{[]any{[]any{}}}, strings.Repeat("x\\\"", 50_000), slices.Repeat([]string{"one", "two"}, 200_000),
	} {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		var got pieces
		if err := printJSON(&got, v); err != nil || got.String() != want.String() || got.most > 1<<18 { // a text is not divided
			t.Errorf("%v, at most %d bytes at once: %.300s, want %.300s", err, got.most, got.String(), want.String())
		}
	}
	shut := &door{}
	shut.closed.Store(true)
	if err := printJSON(&until{ctx: t.Context(), door: shut}, []int{1}); err == nil {
		t.Error("nobody says that it could not be written")
	}
}
