package config_test

import (
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
)

// TestLines: a window is found by the line of its name, a windowed branch by that of its entry.
func TestLines(t *testing.T) {
	const file = `version: 1
timezone: UTC
windows:
  nights:
    open: "0 22 * * *"
    duration: 4h
  "days": {open: "0 8 * * *", duration: 4h}
branches:
  - name: rw/a
    from: main
    window: nights

  - {window: days, from: main, name: rw/b}
`
	p, findings := config.Parse([]byte(file))
	if p == nil {
		t.Fatal(findings)
	}
	lines := strings.Split(file, "\n")
	for want, line := range map[string]int{
		"  nights:": p.Lines.Windows["nights"], `  "days":`: p.Lines.Windows["days"], "  - name: rw/a": p.Lines.Branches["rw/a"],
		"  - {window: days": p.Lines.Branches["rw/b"], "version: 1": 1,
	} {
		if line < 1 || !strings.HasPrefix(lines[line-1], want) {
			t.Errorf("%q is said to stand on line %d", want, line)
		}
	}
}
