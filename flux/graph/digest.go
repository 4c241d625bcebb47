package graph

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// digest is a hash of texts.
type digest struct{ text strings.Builder }

// add adds texts, each with its end.
func (h *digest) add(texts ...string) {
	for _, s := range texts {
		h.text.WriteString(s + "\x00")
	}
}

// empty reports whether there are no texts.
func (h *digest) empty() bool { return h.text.Len() == 0 }

func (h *digest) String() string { return hashOf(h.text.String()) }

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// node adds what a node says. An alias is its name: what it stands for is added where it stands.
func (h *digest) node(n *node, vars *Variables) {
	switch n = unpacked(n); n.Kind {
	case mappingNode:
		keys := map[string]*node{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			keys[n.Content[i].Value] = n.Content[i+1]
		}
		h.add("{")
		for _, key := range sortedKeys(keys) {
			h.add(key)
			h.node(keys[key], vars)
		}
		h.add("}")
	case sequenceNode:
		h.add("[")
		for _, child := range n.Content {
			h.node(child, vars)
		}
		h.add("]")
	default:
		h.add(n.Tag, vars.Expand(n.Value))
	}
}

// digest is a hash of what a document says, with variables.
func (d *doc) digest() string {
	h := &digest{}
	for i := 0; i+1 < len(d.node.Content); i += 2 {
		if key := d.node.Content[i].Value; slices.Contains([]string{"kind", "metadata", "spec", "data", "stringData"}, key) {
			h.add(key)
			h.node(d.node.Content[i+1], d.vars)
		}
	}
	return h.String()
}

// variables is the names of the variables in what a document says that a Flux Kustomization applies. One that nothing fills in has none.
func (d *doc) variables(applied bool) []string {
	out := map[string]bool{}
	for _, name := range d.filled {
		out[name] = true
	}
	var visit func(n *node)
	visit = func(n *node) {
		n = unpacked(n)
		for rest := n.Value; ; rest = rest[len("${"):] {
			i := strings.Index(rest, "${")
			if i < 0 {
				break
			}
			rest = rest[i:]
			out[unfilled(rest)] = true
		}
		for _, child := range n.Content {
			visit(child)
		}
	}
	if !d.vars.none() || applied {
		visit(d.node)
		if d.made != nil {
			out[anyVariable] = true // its files are not read for them
		}
	}
	return sortedKeys(out)
}

// anyVariable stands among the names of variables for those that are not known.
const anyVariable = "*"
