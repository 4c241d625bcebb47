package config

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sluicegate/sluice/internal/golden"
)

// TestFindings reads testdata/findings: each NAME.yaml is followed by NAME.findings, what Parse must say of it.
func TestFindings(t *testing.T) {
	golden.Archives(t, "testdata/findings/*.txtar", 1, func(t *testing.T, a *golden.Archive) {
		var out []txtar.File
		for _, f := range a.Files {
			name, ok := strings.CutSuffix(f.Name, ".yaml")
			if !ok {
				continue
			}
			policy, findings := Parse(f.Data)
			got := listing(findings)
			out = append(out, f, txtar.File{Name: name + ".findings", Data: []byte(got)})
			if (policy == nil) != strings.Contains(got, " error ") {
				t.Errorf("%s: policy is %v with findings\n%s", name, policy, got)
			}
		}
		a.Files = out
	})
}

func listing(findings []Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%d:%d %s %s: %s\n", f.Line, f.Column, f.Severity, f.Code, f.Message)
	}
	return b.String()
}
