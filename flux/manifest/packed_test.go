package manifest

import (
	"slices"
	"testing"
)

// TestPacked: what is packed takes one node, comes back as it was, says the same, and is what no YAML can say.
func TestPacked(t *testing.T) {
	parsed := func(text string) *Doc {
		node, err := ParseDocument([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return &Doc{Node: node}
	}
	const head = "kind: ConfigMap\nmetadata: {name: a}\n"
	for data, nodes := range map[string]int{
		"data: {a: b, c: 'd ${e}', f: 1, g: null, h: ''}\n": 10,
		"data: {}\n":           0,
		"data: {a: \"\\0\"}\n": -1, // it cannot be told from an end
		"data: {a: [b]}\n":     -1,
		"data: !<%00> \"!!str\\0a\\0!!str\\0b\\0\"\n": -1,
	} {
		d, whole := parsed(head+data), parsed(head+data)
		pack(At(d.Node, "data"))
		if packed := d.packed(); packed != max(nodes, 0) || (At(d.Node, "data") == nil) {
			t.Errorf("%q: %d nodes are packed", data, packed)
		}
		if d.Digest() != whole.Digest() || !slices.Equal(d.Variables(false), whole.Variables(false)) {
			t.Errorf("%q says something else", data)
		}
		if kind := At(d.Node, "data").Kind; (kind == packedNode) != (nodes >= 0) {
			t.Errorf("%q: kind %d", data, kind)
		}
		d.unpack()
		before, after := &Digest{}, &Digest{}
		before.node(At(whole.Node, "data"), nil)
		after.node(At(d.Node, "data"), nil)
		if before.String() != after.String() || len(At(d.Node, "data").Content) != len(At(whole.Node, "data").Content) {
			t.Errorf("%q comes back as %q", data, after)
		}
	}
}
