package imports

import (
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// encoders is what makes JSON in a command, with the argument that it is made of.
var encoders = map[string]int{"printJSON": 1, "Encode": 0, "Marshal": 0, "MarshalIndent": 0}

// shown is what code makes JSON of that is no value of report, and what types of its own say of how they are marshalled.
func shown(files []*ast.File, info *types.Info) []string {
	var out []string
	visit := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if n.Tag != nil {
				out = append(out, n.Tag.Value)
			}
		case *ast.CallExpr:
			if at, encodes := encoders[called(n)]; encodes && at < len(n.Args) && !strings.HasPrefix(info.TypeOf(n.Args[at]).String(), module+"report.") {
				out = append(out, info.TypeOf(n.Args[at]).String())
			}
		}
		return true
	}
	for _, f := range files {
		for _, d := range f.Decls {
			in := ""
			if d, ok := d.(*ast.FuncDecl); ok {
				in = d.Name.Name
			}
			if _, encodes := encoders[in]; !encodes { // what printJSON is given is looked at where it is called
				ast.Inspect(d, visit)
			}
			if strings.HasPrefix(in, "Marshal") {
				out = append(out, in)
			}
		}
	}
	return out
}

// called is the name of a function or method that is called.
func called(n *ast.CallExpr) string {
	switch f := ast.Unparen(n.Fun).(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// TestMainShowsReport: commands have no type that is marshalled. What they print as JSON is a value of report, so that a page and an API can show the same.
func TestMainShowsReport(t *testing.T) {
	compiled := exports(t, "./cmd/sluice", "./cmd/sluice-demo")
	for _, p := range packages(t) {
		if strings.HasPrefix(p.name(), "cmd/") {
			_, files, info, err := load(t, compiled, p.Dir, p.GoFiles)
			if err != nil {
				t.Fatal(err)
			}
			for _, what := range shown(files, info) {
				t.Errorf("%s marshals %s", p.name(), what)
			}
		}
	}
	for code, want := range map[string]int{
		"type x struct{ A int `json:\"a\"` }":                                                     1,
		"type x struct{}\nfunc (x) MarshalJSON() ([]byte, error) { return nil, nil }":             1,
		"func printJSON(w, v any) { _, _ = json.Marshal(v) }\nvar _ = func() { printJSON(1, 2) }": 1,
		"var _, _ = json.Marshal(map[string]string{})":                                            1,
		"var _, _ = json.Marshal(report.Version{})":                                               0,
	} {
		dir := t.TempDir()
		text := "package x\nimport (\"encoding/json\"; \"" + module + "report\")\nvar _, _ = json.Valid, report.Version{}\n" + code
		if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, files, info, err := load(t, compiled, dir, []string{"x.go"})
		if got := shown(files, info); err != nil || len(got) != want {
			t.Errorf("%s: %v, %v", code, got, err)
		}
	}
}
