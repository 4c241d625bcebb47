package manifest

import (
	"cmp"
	"errors"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Node is a node of a document as it is kept: it takes a third of what a [yaml.Node] takes, which has comments, too.
type Node struct {
	Kind       Kind
	block      bool // a text after | or >
	Line       int32
	Tag, Value string
	Content    []*Node // of a mapping keys and values in turns
}

// nodeBytes is what a node takes, with what points to it. Its text is counted apart.
const nodeBytes = 72

// Kind is what a node is.
type Kind uint8

// Kinds of nodes.
const (
	ScalarNode Kind = iota
	SequenceNode
	MappingNode
	// packedNode is a section of texts that is one text: tags, keys and values, each with its end. Few ConfigMaps are ever asked for their values.
	packedNode
)

// YAML is a node that the library can decode.
func (n *Node) YAML() *yaml.Node {
	out := &yaml.Node{Kind: map[Kind]yaml.Kind{SequenceNode: yaml.SequenceNode, MappingNode: yaml.MappingNode, ScalarNode: yaml.ScalarNode}[n.Kind], Tag: n.Tag, Value: n.Value}
	for _, child := range n.Content {
		out.Content = append(out.Content, child.YAML())
	}
	return out
}

// expand gives a document as it is kept, without aliases and << keys, as kustomize reads it: what an alias stands for is copied, and a key of the section
// itself wins over one that << brings. What all of them stand for is no longer than a document may be.
func expand(n *yaml.Node) (*Node, error) {
	e := expansion{}
	if aliased(n) {
		e.open = map[*yaml.Node]bool{}
	}
	out := e.node(n, 0)
	return out, e.err
}

// aliased reports whether a node has aliases or << keys.
func aliased(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || n.Tag == tagMerge || slices.ContainsFunc(n.Content, aliased)
}

// tagMerge is the tag of a << key.
const tagMerge = "!!merge"

// expansion is the copy of a document without aliases.
type expansion struct {
	size int
	open map[*yaml.Node]bool // that is being copied; nil: there are no aliases
	err  error
}

// node copies a node; line is where the alias stands that leads to it, 0 for none.
func (e *expansion) node(n *yaml.Node, line int) *Node {
	if n.Kind == yaml.AliasNode {
		if line == 0 {
			line = n.Line
		}
		n = n.Alias
	}
	out := &Node{block: n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0, Line: int32(cmp.Or(line, n.Line)), Tag: n.ShortTag(), Value: n.Value}
	switch n.Kind {
	case yaml.MappingNode:
		out.Kind = MappingNode
	case yaml.SequenceNode:
		out.Kind = SequenceNode
	}
	if e.size += 2 + len(n.Value); e.open != nil && (e.size > MaxDoc || e.open[n]) {
		e.err = errors.New(wordAlias)
	}
	if e.err != nil || out.Kind == ScalarNode {
		return out
	}
	if e.open != nil {
		e.open[n] = true
		defer delete(e.open, n)
	}
	out.Content = make([]*Node, 0, len(n.Content))
	var merged []*Node
	for i := 0; i < len(n.Content); i++ {
		if n.Kind == yaml.MappingNode && i%2 == 0 && n.Content[i].Tag == tagMerge {
			merged = append(merged, e.merged(n.Content[i+1], line)...)
			i++
			continue
		}
		out.Content = append(out.Content, e.node(n.Content[i], line))
	}
	for _, m := range merged { // the first of several wins
		if len(out.Content)+len(m.Content) > 2*MaxKeys {
			e.err = errors.New(wordWide())
			break
		}
		for i := 0; i+1 < len(m.Content); i += 2 {
			if slot(out, m.Content[i].Value) < 0 {
				out.Content = append(out.Content, m.Content[i], m.Content[i+1])
			}
		}
	}
	return out
}

// merged is the sections that a << key stands for.
func (e *expansion) merged(n *yaml.Node, line int) []*Node {
	value := e.node(n, line)
	all := []*Node{value}
	if value.Kind == SequenceNode {
		all = value.Content
	}
	if e.err == nil && slices.ContainsFunc(all, func(n *Node) bool { return n.Kind != MappingNode }) {
		e.err = errors.New(wordMerge)
	}
	return all
}
