package config

import "go.yaml.in/yaml/v3"

// inspectFile inspects the whole file, section by section.
func inspectFile(root *yaml.Node, r *report) bool {
	if root.Kind != yaml.MappingNode || len(root.Content) > MaxEntries {
		return inspect(root, 1, r)
	}
	refuseMagic(root, r)
	inspectKeys(root, r)
	shallow := true
	for i := 0; i+1 < len(root.Content) && shallow; i += 2 {
		refuseMagic(root.Content[i], r)
		r.within(root.Content[i].Value, func() { shallow = inspect(root.Content[i+1], 2, r) })
	}
	return shallow
}

// inspect reports what YAML allows anywhere and this file nowhere: aliases, anchors, explicit tags, merge keys, duplicate
// keys, keys that are not text, deep nesting and hosts of entries. It gives false if a further look would be pointless.
func inspect(n *yaml.Node, depth int, r *report) bool {
	if depth > MaxDepth {
		r.fail(of(n), tooDeep())
		return false
	}
	if len(n.Content) > MaxEntries {
		r.fail(of(n), tooMany(len(n.Content), MaxEntries))
		return false
	}
	refuseMagic(n, r)
	if n.Kind == yaml.MappingNode {
		inspectKeys(n, r)
	}
	for _, child := range n.Content {
		if !inspect(child, depth+1, r) {
			return false
		}
	}
	return true
}

// refuseMagic reports a node that is more than it seems.
func refuseMagic(n *yaml.Node, r *report) {
	switch {
	case n.Kind == yaml.AliasNode:
		r.fail(of(n), aliasUsed(n.Value))
	case n.Anchor != "":
		r.fail(of(n), anchorUsed(n.Anchor))
	case n.Style&yaml.TaggedStyle != 0:
		r.fail(of(n), tagUsed(n.Tag))
	case len(n.Value) > MaxText:
		r.fail(of(n), tooLong())
	}
}

// inspectKeys reports what is wrong with the keys of a section.
func inspectKeys(n *yaml.Node, r *report) {
	first := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		before, seen := first[key.Value]
		switch {
		case magic(key):
		case key.Tag == "!!merge":
			r.fail(of(key), mergeKey())
		case key.Kind != yaml.ScalarNode || key.Tag != "!!str":
			r.fail(of(key), keyNotText(key))
		case seen:
			r.fail(of(key), duplicateKey(key.Value, before.Line))
		default:
			first[key.Value] = key
		}
	}
}

// magic reports whether inspect has refused a node: whoever reads it later says nothing more about it.
func magic(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 || len(n.Value) > MaxText
}

// locate walks from a node down to what steps name: a string is a key, an int an index. It gives the key and the value;
// where a step leads nowhere, the last that was found. The key of a list's item is the item.
func locate(n *yaml.Node, steps ...any) (key, value *yaml.Node) {
	key, value = n, n
	for _, step := range steps {
		k, v := child(value, step)
		if v == nil {
			return key, key
		}
		key, value = k, v
	}
	return key, value
}

func child(n *yaml.Node, step any) (key, value *yaml.Node) {
	switch step := step.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && step >= 0 && step < len(n.Content) {
			return n.Content[step], n.Content[step]
		}
	case string:
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i], n.Content[i+1]
			}
		}
	}
	return nil, nil
}
