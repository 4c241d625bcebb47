package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Digest is a hash of texts.
type Digest struct{ text bytes.Buffer }

// Add adds texts, each with its end.
func (h *Digest) Add(texts ...string) {
	for _, s := range texts {
		h.text.WriteString(s + "\x00")
	}
}

// Empty reports whether there are no texts.
func (h *Digest) Empty() bool { return h.text.Len() == 0 }

func (h *Digest) String() string { return hashOf(h.text.Bytes()) }

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// node adds what a node says. An alias is its name: what it stands for is added where it stands.
func (h *Digest) node(n *Node, vars *Variables) {
	switch n = unpacked(n); n.Kind {
	case MappingNode:
		keys := map[string]*Node{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			keys[n.Content[i].Value] = n.Content[i+1]
		}
		h.Add("{")
		for _, key := range SortedKeys(keys) {
			h.Add(key)
			h.node(keys[key], vars)
		}
		h.Add("}")
	case SequenceNode:
		h.Add("[")
		for _, child := range n.Content {
			h.node(child, vars)
		}
		h.Add("]")
	default:
		h.Add(n.Tag, vars.Expand(n.Value))
	}
}

// Digest is a hash of what a document says, with variables.
func (d *Doc) Digest() string {
	h := &Digest{}
	for i := 0; i+1 < len(d.Node.Content); i += 2 {
		if key := d.Node.Content[i].Value; slices.Contains([]string{"kind", "metadata", "spec", "data", "stringData"}, key) {
			h.Add(key)
			h.node(d.Node.Content[i+1], d.Vars)
		}
	}
	return h.String()
}

// Whole is a hash of all that a document says.
func (d *Doc) Whole() string {
	h := &Digest{}
	h.node(d.Node, d.Vars)
	return h.String()
}

// Variables is the names of the variables in what a document says that a Flux Kustomization applies. One that nothing fills in has none.
func (d *Doc) Variables(applied bool) []string {
	out := map[string]bool{}
	for _, name := range d.filled {
		out[name] = true
	}
	in := func(text string) {
		for i := strings.Index(text, "${"); i >= 0; i = strings.Index(text, "${") {
			out[Unfilled(text)] = true
			text = text[i+len("${"):]
		}
	}
	var visit func(n *Node)
	visit = func(n *Node) {
		if n.Kind == packedNode {
			for text := range strings.SplitSeq(n.Value, packedEnd) {
				in(text)
			}
			return
		}
		in(n.Value)
		for _, child := range n.Content {
			visit(child)
		}
	}
	if !d.Vars.none() || applied {
		visit(d.Node)
		if d.Made != nil || d.Vague {
			out[AnyVariable] = true // its files are not read for them, nor what it may have from elsewhere
		}
	}
	return SortedKeys(out)
}

// AnyVariable stands among the names of variables for those that are not known.
const AnyVariable = "*"
