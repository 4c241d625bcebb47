package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// TestDocsFields holds the tables of docs/spec/sluice-yaml.md against the schema: every key, its default, and an example that
// the schema takes.
func TestDocsFields(t *testing.T) {
	rows := docRows(t, 5)
	var schema map[string]any
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	fields := map[string]map[string]any{}
	collectFields("", schema, fields)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(rows))); diff != "" {
		t.Errorf("fields (-schema +docs):\n%s", diff)
	}
	for name, field := range fields {
		row, ok := rows[name]
		if !ok {
			continue
		}
		checkDefault(t, name, field["default"], row[2])
		checkExample(t, name, field, row[3])
	}
}

// collectFields lists the keys of a schema as the docs name them.
func collectFields(at string, s map[string]any, out map[string]map[string]any) {
	for name, p := range object(s["properties"]) {
		full := strings.TrimPrefix(at+"."+name, ".")
		out[full] = object(p)
		collectFields(full, object(p), out)
	}
	if more := object(s["additionalProperties"]); more != nil {
		collectFields(at+".NAME", more, out)
	}
	if items := object(s["items"]); items != nil {
		collectFields(at+"[]", items, out)
	}
	choices, _ := s["oneOf"].([]any)
	for _, c := range choices {
		collectFields(at, object(c), out)
	}
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func checkDefault(t *testing.T, name string, want any, cell string) {
	t.Helper()
	if want == nil {
		return // the cell says in words what happens, or that the key is required
	}
	var got any
	if err := yaml.Unmarshal([]byte(strings.Trim(cell, "`")), &got); err != nil {
		t.Fatalf("%s: default %s: %v", name, cell, err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: default is %s, the docs say %s", name, fmt.Sprint(want), cell)
	}
}

func checkExample(t *testing.T, name string, field map[string]any, cell string) {
	t.Helper()
	value, ok := decodeAny([]byte(strings.Trim(cell, "`")))
	if !ok {
		t.Errorf("%s: example %s is no YAML", name, cell)
		return
	}
	text, err := json.Marshal(field)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("field.json", doc); err != nil {
		t.Fatal(err)
	}
	if err := c.MustCompile("field.json").Validate(value); err != nil {
		t.Errorf("%s: example %s: %v", name, cell, err)
	}
}

// TestDocsCodes holds the list of codes in docs/spec/sluice-yaml.md against the constants of all packages that give findings.
func TestDocsCodes(t *testing.T) {
	rows := docRows(t, 3)
	documented := slices.Sorted(maps.Keys(rows))
	codes := map[string]bool{}
	for _, dir := range []string{".", "../layout", "../window", "../flux/analysis", "../flux/reach", "../flux/survey", "../cmd/sluice"} {
		collectCodes(t, dir, codes)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(codes)), documented); diff != "" {
		t.Errorf("codes (-code +docs):\n%s", diff)
	}
}

// collectCodes finds the string constants whose names begin with code.
func collectCodes(t *testing.T, dir string, out map[string]bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != len(spec.Names) {
				return true
			}
			for i, ident := range spec.Names {
				lit, ok := spec.Values[i].(*ast.BasicLit)
				if ok && lit.Kind == token.STRING && strings.HasPrefix(strings.ToLower(ident.Name), "code") {
					code, _ := strconv.Unquote(lit.Value)
					out[code] = true
				}
			}
			return true
		})
	}
}

// TestDocsExample keeps the example of the docs, of the tests and of the schema's world one.
func TestDocsExample(t *testing.T) {
	if !strings.Contains(docText(t), "```yaml\n"+string(exampleFile(t))+"```\n") {
		t.Error("docs/spec/sluice-yaml.md does not hold testdata/example.yaml")
	}
}

func docText(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../docs/spec/sluice-yaml.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// docRows gives the rows of the docs' tables with so many columns whose first cell is one word of code, by that word.
func docRows(t *testing.T, columns int) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for line := range strings.Lines(docText(t)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		name := strings.Trim(cells[0], "`")
		if len(cells) != columns || "`"+name+"`" != cells[0] {
			continue
		}
		if rows[name] != nil {
			t.Errorf("%s stands twice in the docs", name)
		}
		rows[name] = cells
	}
	return rows
}
