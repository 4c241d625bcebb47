package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTraps: every test that docs/traps.md names is there, in the package that it names or in this one.
func TestTraps(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/traps.md")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile("(?:\\b(cmd/sluice|test/hour|test/flux|graph|reach|survey|render|suspend|gate|plan|reconcile|forge|store|webhook|config|window|layout|web|promoter|standin|gitremote) )?(?:[^`|;:]*, )?`((?:Test|Fuzz)\\w+)[/`]")
	named := 0
	for _, line := range strings.Split(string(text), "\n") {
		pkg := "" // of a list of names, until the next package or semicolon
		for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == ';' || r == '|' }) {
			pkg = ""
			for _, m := range name.FindAllStringSubmatch(part, -1) {
				if m[1] != "" {
					pkg = m[1]
				}
				named++
				if !declared(t, pkg, m[2]) {
					t.Errorf("package %q has no %s", pkg, m[2])
				}
			}
		}
	}
	if named < 80 {
		t.Errorf("only %d tests are named", named)
	}
}

// declared reports whether a package, "" for this one, declares a test.
func declared(t *testing.T, pkg, name string) bool {
	t.Helper()
	dir := "."
	if pkg != "" {
		dir = "../../" + pkg
	}
	files, err := filepath.Glob(dir + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
