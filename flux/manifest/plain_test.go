package manifest

import "testing"

// FuzzPlain: asked line by line, the expressions find what they find in the whole text.
func FuzzPlain(f *testing.F) {
	for _, text := range []string{
		"kind: ConfigMap\n", "kind: Secret", "kind: \"Secret\" # s\r\n", "kind:\n", "kind: C\n", "a:\nkind: Config\nxkind: Job\n", "'kind' : Job", "kind: ConfigMap\n---\nkind: Job\n",
		"data:\n  kind: Job\nkind: ConfigMap\n", "kind: ConfigMap\nmykind: x", "\nkind:\tSecret\n\n", "kind: Secret\nkind:",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, want := isPlain(text), plainKind.Match(text) && !other.Match(text); got != want {
			t.Errorf("%q: %v, of the whole text %v", text, got, want)
		}
	})
}
