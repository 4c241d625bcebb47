package graph

import (
	"errors"
	"slices"

	"go.yaml.in/yaml/v3"
)

// expand gives a document without aliases and << keys, as kustomize reads it: what an alias stands for is copied, and a key of the section itself
// wins over one that << brings. What all of them stand for is no longer than a document may be.
func expand(n *yaml.Node) (*yaml.Node, error) {
	if !aliased(n) {
		return n, nil
	}
	e := expansion{open: map[*yaml.Node]bool{}}
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
	open map[*yaml.Node]bool // that is being copied
	err  error
}

// node copies a node; line is where the alias stands that leads to it, 0 for none.
func (e *expansion) node(n *yaml.Node, line int) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		if line == 0 {
			line = n.Line
		}
		n = n.Alias
	}
	out := *n
	out.Anchor, out.Alias, out.Content = "", nil, nil
	if line > 0 {
		out.Line = line
	}
	if e.size += 2 + len(n.Value); e.size > MaxDoc || e.open[n] {
		e.err = errors.New(wordAlias)
	}
	if e.err != nil || n.Kind == yaml.ScalarNode {
		return &out
	}
	e.open[n] = true
	defer delete(e.open, n)
	var merged []*yaml.Node
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
			if slot(&out, m.Content[i].Value) < 0 {
				out.Content = append(out.Content, m.Content[i], m.Content[i+1])
			}
		}
	}
	return &out
}

// merged is the sections that a << key stands for.
func (e *expansion) merged(n *yaml.Node, line int) []*yaml.Node {
	value := e.node(n, line)
	all := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		all = value.Content
	}
	if e.err == nil && slices.ContainsFunc(all, func(n *yaml.Node) bool { return n.Kind != yaml.MappingNode }) {
		e.err = errors.New(wordMerge)
	}
	return all
}
