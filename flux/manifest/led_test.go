package manifest

import "testing"

// TestMayTake: a text may make a Namespace or a CustomResourceDefinition if it speaks of one, as YAML, as JSON, or as a template of either.
func TestMayTake(t *testing.T) {
	for text, want := range map[string]bool{
		"apiVersion: v1\nkind: Namespace\n":                  true,
		"{{- if .a }}\n- kind:   'Namespace' # x\n{{ end }}": true,
		`{"apiVersion": "v1", "kind": "Namespace"}`:          true,
		"{kind: CustomResourceDefinition, metadata: {}}":     true,
		"kind: NamespaceList\n":                              true,
		"kind: NamespaceX\n":                                 false,
		"kind: Service\nmetadata: {namespace: a}\n":          false,
		"kind : &k Namespace\n":                              true,
		"kind: {{ \"Namespace\" }}\n":                        true,
		"{{ $k := \"Namespace\" }}kind: {{ $k }}\n":          true,
		"namespace: {{ .Release.Namespace }}\n":              false,
	} {
		if MayTake([]byte(text)) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// TestMayLeave: a template may make something in another namespace than its release's if it says any.
func TestMayLeave(t *testing.T) {
	for text, want := range map[string]bool{
		"metadata: {name: a}\n":                                                                  false,
		"namespace: {{ .Release.Namespace }}\n":                                                  false,
		"namespace: {{ .Release.Namespace }}\n---\nnamespace: {{ .Values.a }}\n":                 true,
		"namespace: shop\n":                                                                      true,
		"namespace: {{ .Values.a | default .Release.Namespace }}\n":                              true,
		"namespace: {{ .Release.Namespace }}-a\n":                                                true,
		"namespace: \"{{- $.Release.Namespace | quote }}\" # x\n":                                false,
		"namespace : shop\n":                                                                     true,
		"{a: {namespace: {{ .Release.Namespace }}}, b: {namespace: shop}}\n":                     true,
		"{a: {namespace: {{ .Release.Namespace }}}, b: {namespace: {{ .Release.Namespace }}}}\n": false,
		"namespaceOverride: shop\n":                                                              true,
	} {
		if MayLeave([]byte(text)) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
