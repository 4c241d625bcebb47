package build

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/meter"
)

// TestDocumentsAsKustomize: of whatever kustomize reads, the documents that are read of a file are those that it finds.
func TestDocumentsAsKustomize(t *testing.T) {
	pieces := []string{
		"kind: ConfigMap\n", "kind: Secret", "metadata: {name: a}\n", "---\n", "---", "--- # x\n", "---#\n", "---# x\r\n", "--- \u00A0# x\n", "---x\n", "...\n", "...", "\r\n", "\n", "\r",
		"\uFEFF", "# c\n", "%YAML 1.1\n", " ", "\u2028", "\v", "a: |\n  x\n", "a: '\n", "'\n", "? ", "- b\n", "\t",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	read, found := 0, 0
	for range 50_000 {
		var b strings.Builder
		for range 1 + rnd.IntN(8) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		nodes, err := (&kio.ByteReader{Reader: strings.NewReader(b.String()), OmitReaderAnnotations: true, DisableUnwrapping: true}).Read()
		if err != nil || slices.ContainsFunc(nodes, twice) {
			continue
		}
		var want, got []string
		for _, n := range nodes {
			if n.YNode().Kind == yaml.MappingNode && n.GetKind() != "" {
				want = append(want, n.GetKind()+"/"+n.GetName())
			}
		}
		reader := manifest.NewReader(meter.Unhurried())
		_, other := reader.Parse("a.yaml", []byte(b.String()), true, func(d *manifest.Doc) {
			if d.Text("kind") != "" {
				got = append(got, d.Text("kind")+"/"+d.Text("metadata", "name"))
			}
		})
		if !slices.Equal(got, want) && !other {
			t.Errorf("%q: %q, kustomize finds %q", b.String(), got, want)
		}
		read++
		found += len(want)
	}
	if read < 5_000 || found < 1_000 {
		t.Errorf("of %d texts kustomize found %d documents: they ask nothing", read, found)
	}
}

// twice reports whether a document has a key twice, of which kustomize takes the first.
func twice(n *yaml.RNode) bool {
	seen := map[string]bool{}
	for i := 0; n.YNode().Kind == yaml.MappingNode && i < len(n.YNode().Content); i += 2 {
		key := n.YNode().Content[i].Value
		if seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}
