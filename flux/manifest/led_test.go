package manifest

import "testing"

// TestMayTake: a text may make a Namespace or a CustomResourceDefinition if it says so, as YAML, as JSON, or as a template of either.
func TestMayTake(t *testing.T) {
	for text, want := range map[string]bool{
		"apiVersion: v1\nkind: Namespace\n":                  true,
		"{{- if .a }}\n- kind:   'Namespace' # x\n{{ end }}": true,
		`{"apiVersion": "v1", "kind": "Namespace"}`:          true,
		"{kind: CustomResourceDefinition, metadata: {}}":     true,
		"kind: NamespaceList\n":                              false,
		"kind: Service\nmetadata: {namespace: a}\n":          false,
		"# kind: Namespace\n":                                false,
	} {
		if MayTake([]byte(text)) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
