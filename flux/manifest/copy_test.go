package manifest

import (
	"testing"

	"github.com/sluicegate/sluice/meter"
)

// TestPerhaps: what may change a document that it comes from itself is told once, however often, and each copy is paid for.
func TestPerhaps(t *testing.T) {
	m := meter.New(t.Context(), meter.Limits{meter.Time: -1})
	defer m.Close()
	r := NewReader(m)
	w := &Work{Reader: &r}
	d := &Doc{Place: Place{"a.yaml", 1}}
	for range 20 {
		d = d.Perhaps(w, append([]Place{d.Place}, d.Patched...)...)
	}
	if len(d.Patched) != 1 || !d.Vague {
		t.Errorf("%d places, vague %v", len(d.Patched), d.Vague)
	}
	if used := m.Readings()[meter.Nodes].Used; used < 20 {
		t.Errorf("%d nodes for 20 copies", used)
	}
}

// TestDirectives: what the library would look through again and again is not given to it.
func TestDirectives(t *testing.T) {
	m := meter.New(t.Context(), meter.Limits{meter.Time: -1})
	defer m.Close()
	for n, problems := range map[int]int{MaxDirectives: 0, MaxDirectives + 1: 1} {
		text := ""
		for i := range n {
			text += "%TAG !" + string(rune('a'+i%26)) + string(rune('a'+i/26)) + "! b\r"
		}
		text += "---\nkind: ConfigMap\n"
		r := NewReader(m)
		r.Parse("a.yaml", []byte(text), true, func(*Doc) {})
		if _, err := ParsePatch([]byte(text), Place{}, Target{Kind: "ConfigMap"}); len(r.Problems) != problems || (err != nil) != (problems > 0) {
			t.Errorf("%d: %v, %v", n, r.Problems, err)
		}
	}
}
