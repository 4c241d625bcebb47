package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the findings that are found into testdata")

// TestFindings reads testdata/findings: each NAME.yaml is followed by NAME.findings, what Parse must say of it.
func TestFindings(t *testing.T) {
	archives, err := filepath.Glob("testdata/findings/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) { testArchive(t, archive) })
	}
}

func testArchive(t *testing.T, archive string) {
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	want, out := map[string]string{}, &txtar.Archive{Comment: a.Comment}
	for _, f := range a.Files {
		want[f.Name] = string(f.Data)
	}
	for _, f := range a.Files {
		name, ok := strings.CutSuffix(f.Name, ".yaml")
		if !ok {
			continue
		}
		policy, findings := Parse(f.Data)
		got := listing(findings)
		out.Files = append(out.Files, f, txtar.File{Name: name + ".findings", Data: []byte(got)})
		if (policy == nil) != strings.Contains(got, " error ") {
			t.Errorf("%s: policy is %v with findings\n%s", name, policy, got)
		}
		if diff := cmp.Diff(want[name+".findings"], got); diff != "" && !*update {
			t.Errorf("%s: findings (-want +got):\n%s", name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(archive, txtar.Format(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func listing(findings []Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%d:%d %s %s: %s\n", f.Line, f.Column, f.Severity, f.Code, f.Message)
	}
	return b.String()
}
