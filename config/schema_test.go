package config

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"

	"github.com/sluicegate/sluice/window"
)

// TestSchemaIsTheTable compares the schema that people read with the one that the decoder's tables of keys give: every key,
// type, word, bound and default. Only words for people may be more.
func TestSchemaIsTheTable(t *testing.T) {
	var want, got any
	derived, err := json.Marshal(newDocument().file().schema)
	if err != nil {
		t.Fatal(err)
	}
	for data, into := range map[string]*any{string(derived): &want, string(Schema()): &got} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, withoutWords(t, "", got)); diff != "" {
		t.Errorf("docs/spec/sluice.schema.json (-decoder +file):\n%s", diff)
	}
}

// withoutWords takes away what a schema says for people alone, and demands a description of every property.
func withoutWords(t *testing.T, at string, s any) any {
	switch s := s.(type) {
	case []any:
		for i := range s {
			s[i] = withoutWords(t, at, s[i])
		}
	case map[string]any:
		for k, v := range s {
			if k == "properties" {
				for name, p := range v.(map[string]any) {
					if p.(map[string]any)["description"] == nil && name != "branches" {
						t.Errorf("%s.%s has no description", at, name)
					}
					withoutWords(t, at+"."+name, p)
				}
				continue
			}
			s[k] = withoutWords(t, at, v)
		}
		if _, isDefinition := s["type"]; isDefinition || s["enum"] != nil || s["const"] != nil || s["oneOf"] != nil || s["$schema"] != nil {
			for _, k := range []string{"$schema", "$id", "title", "description", "examples"} {
				if _, isText := s[k].(string); isText || k == "examples" {
					delete(s, k)
				}
			}
		}
	}
	return s
}

// TestSchemaAgreesWithParse gives the schema every file of testdata: it takes what Parse takes, and refuses what Parse
// refuses for a key, a type, a word or a bound.
func TestSchemaAgreesWithParse(t *testing.T) {
	schema := compileSchema(t)
	refusals, acceptances := 0, 0
	for name, data := range allFiles(t) {
		value, ok := decodeAny(data)
		if !ok {
			continue
		}
		policy, findings := Parse(data)
		err := schema.Validate(value)
		switch {
		case policy != nil:
			acceptances++
			if err != nil {
				t.Errorf("%s: Parse takes it, the schema does not: %v", name, err)
			}
		case slices.ContainsFunc(findings, structural):
			refusals++
			if err == nil {
				t.Errorf("%s: Parse refuses it, the schema takes it:\n%s", name, listing(findings))
			}
		}
	}
	if refusals < 20 || acceptances < 5 {
		t.Errorf("only %d refusals and %d acceptances were compared", refusals, acceptances)
	}
}

// structural tells the findings that a schema can know.
func structural(f Finding) bool {
	return slices.Contains([]string{
		codeUnknownKey, codeMissingKey, codeWrongType, codeEmptyText, codeUnknownWord, codeTooMany, codeTooFew,
		window.CodeBadName,
	}, f.Code)
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sluice.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sluice.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// decodeAny gives a file as an editor sees it: dates are text there. What JSON cannot hold is left to Parse.
func decodeAny(data []byte) (any, bool) {
	var node yaml.Node
	if err := yaml.Unmarshal(data, &node); err != nil {
		return nil, false
	}
	datesAreText(&node)
	var value any
	if err := node.Decode(&value); err != nil {
		return nil, false
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, false
	}
	value, err = jsonschema.UnmarshalJSON(bytes.NewReader(text))
	return value, err == nil
}

func datesAreText(n *yaml.Node) {
	if n.Tag == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, c := range n.Content {
		datesAreText(c)
	}
}

// allFiles is every file of testdata/findings.
func allFiles(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{"example": exampleFile(t)}
	archives, err := filepath.Glob("testdata/findings/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, archive := range archives {
		a, err := txtar.ParseFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, ".yaml") {
				out[filepath.Base(archive)+"/"+f.Name] = f.Data
			}
		}
	}
	return out
}
