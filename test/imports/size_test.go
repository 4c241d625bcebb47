package imports

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// largest is how many lines a package may have without its tests: what is larger holds more than one idea (docs/adr/0025).
const largest = 5000

// TestSize: no package is larger.
func TestSize(t *testing.T) {
	found := 0
	for _, r := range direction {
		files, err := filepath.Glob(filepath.Join("../..", r.pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(text, []byte("\n"))
		}
		if found += lines; lines > largest {
			t.Errorf("%s has %d lines", r.pkg, lines)
		}
	}
	if found == 0 {
		t.Error("no package was found")
	}
}
