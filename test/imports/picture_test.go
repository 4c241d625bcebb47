package imports

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/internal/golden"
)

// TestPicture: the picture of the page on the architecture is drawn from the code.
func TestPicture(t *testing.T) {
	const page, begin, end = "../../docs/architecture.md", "<!-- begin picture -->\n", "<!-- end picture -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, began := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !began || !ended {
		t.Fatalf("%s has no place for the picture", page)
	}
	golden.File(t, page, []byte(before+begin+picture(packages(t))+end+after))
}

// picture draws who imports whom, without what is for tests and without the arrows that follow from others.
func picture(all []pkg) string {
	imports := map[string][]string{}
	for _, p := range all {
		if name := p.name(); !forTests(name) {
			for _, path := range p.Imports {
				if other, ours := strings.CutPrefix(path, module); ours {
					imports[name] = append(imports[name], other)
				}
			}
		}
	}
	var out strings.Builder
	out.WriteString("```mermaid\nflowchart TD\n")
	for _, from := range slices.SortedFunc(maps.Keys(imports), cmp.Compare) {
		for _, to := range slices.Sorted(slices.Values(imports[from])) {
			if !slices.ContainsFunc(imports[from], func(by string) bool { return reaches(imports, by, to) }) {
				fmt.Fprintf(&out, "  %s --> %s\n", node(from), node(to))
			}
		}
	}
	out.WriteString("```\n")
	return out.String()
}

// forTests reports whether a package is there for tests alone.
func forTests(name string) bool {
	return strings.HasPrefix(name, "test/") || strings.HasPrefix(name, "internal/") && !strings.HasPrefix(name, "internal/standin")
}

// reaches reports whether a package imports another one, by itself or by others.
func reaches(imports map[string][]string, from, to string) bool {
	return slices.ContainsFunc(imports[from], func(next string) bool { return next == to || reaches(imports, next, to) })
}

// node is a package as mermaid has it: a name without slashes, and what is shown.
func node(name string) string {
	id := strings.NewReplacer("/", "_", "-", "_").Replace(name)
	if id == name {
		return name
	}
	return fmt.Sprintf("%s[%s]", id, name)
}
