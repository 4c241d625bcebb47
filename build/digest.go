package build

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// digest is a hash of what an object is, however it is written and in whatever order its keys stand.
type digest struct {
	text      bytes.Buffer
	variables bool // something looks like a variable of Flux
}

func newDigest(n *yaml.Node) *digest {
	d := &digest{}
	d.node(n)
	return d
}

// sum is the digest, with what variables stand for where there are any.
func (d *digest) sum(vars map[string]string) string {
	if d.variables {
		values, _ := json.Marshal(vars) // texts, by sorted keys
		d.text.Write(values)
	}
	sum := sha256.Sum256(d.text.Bytes())
	return hex.EncodeToString(sum[:16])
}

// origin is the annotation by which kustomize says which file an object comes from.
const origin = "config.kubernetes.io/origin"

// node writes a node so that nothing else is written alike.
func (d *digest) node(n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		d.text.WriteByte('{')
		keys := make([]int, 0, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			none := n.Content[i].Value == "annotations" && len(n.Content[i+1].Content) == 2 && n.Content[i+1].Content[0].Value == origin
			if n.Content[i].Value != origin && !none {
				keys = append(keys, i)
			}
		}
		slices.SortFunc(keys, func(a, b int) int { return strings.Compare(n.Content[a].Value, n.Content[b].Value) })
		for _, i := range keys {
			d.node(n.Content[i])
			d.node(n.Content[i+1])
		}
		d.text.WriteByte('}')
	case yaml.ScalarNode:
		d.text.WriteString(n.ShortTag())
		d.text.WriteByte(0)
		d.text.WriteString(n.Value)
		d.text.WriteByte(0)
		d.variables = d.variables || strings.Contains(n.Value, "${")
	default:
		d.text.WriteByte('[')
		for _, child := range n.Content {
			d.node(child)
		}
		d.text.WriteByte(']')
	}
}
