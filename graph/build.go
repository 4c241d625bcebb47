package graph

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// patch is an entry of a list of patches.
func (d *doc) patch(n *yaml.Node) Patch {
	text := at(n, "patch")
	if text == nil {
		return Patch{d.textAt(n), target(at(n, "target")), ""}
	}
	return Patch{d.textAt(text), target(at(n, "target")), scalar(text)}
}

// textAt is where the text of a node begins: after a | or >, on the next line.
func (d *doc) textAt(n *yaml.Node) Place {
	line := n.Line
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		line++
	}
	return Place{d.place.File, line}
}

// change is a patch that was parsed: a merge, or operations.
type change struct {
	place  Place
	size   int
	nodes  []*yaml.Node // of each document: a mapping to merge, or a list of operations
	means  []*selector  // what each is for: the target, else the patch itself says it
	unread *selector    // of a patch that could not be read: what it is for
	lines  []int        // that stand before the document in the patch's file
}

// parsePatch parses a patch's text, which may hold several documents. where is its first line.
func parsePatch(text []byte, where Place, t Target) (change, error) {
	c := change{place: where, size: len(text)}
	if len(text) > MaxDoc {
		return c, errors.New(wordLargeDocument())
	}
	if t.long() {
		return c, errors.New(wordLongTarget())
	}
	target := t.selector()
	before := 0
	for _, part := range documents(text) {
		var n yaml.Node
		if err := decode(part, &n); err != nil {
			return c, err
		}
		if len(n.Content) == 1 {
			means := target
			if t == (Target{}) {
				means = itself(n.Content[0])
			}
			switch {
			case wide(n.Content[0]):
				return c, errors.New(wordWide())
			case n.Content[0].Kind == yaml.SequenceNode && len(n.Content[0].Content) > MaxList:
				return c, errors.New(wordLongList("patch"))
			}
			c.nodes, c.means, c.lines = append(c.nodes, n.Content[0]), append(c.means, means), append(c.lines, before)
		}
		before += strings.Count(string(part), "\n")
	}
	return c, nil
}

// decode decodes one document into a node; the library may panic.
func decode(text []byte, n *yaml.Node) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New(wordBroken)
		}
	}()
	return yaml.Unmarshal(text, n)
}

// tracked is the fields of which it counts where they were set.
var tracked = [][]string{{"spec", "path"}, {"spec", "suspend"}, {"spec", "schedule"}, {"spec", "timeZone"}, {"spec", "ref"}, {"spec", "sourceRef"}}

// apply gives a document with a change; the same one if the change is not for it.
func (c change) apply(d *doc) *doc {
	if c.unread != nil && c.unread.matches(d) {
		with := *d
		with.patched = append(slices.Clip(d.patched), c.place)
		return &with
	}
	for i, n := range c.nodes {
		if !c.means[i].matches(d) {
			continue
		}
		d = d.copy()
		d.size += c.size
		d.patched = append(slices.Clip(d.patched), Place{c.place.File, c.place.Line + c.lines[i]})
		if n.Kind == yaml.MappingNode {
			name, namespace := at(d.node, "metadata", "name"), at(d.node, "metadata", "namespace")
			d.gone = d.gone || scalar(at(n, directive)) == "delete"
			merge(d.node, n)
			d.restore(name, "name") // a patch that has a target may be called anything
			d.restore(namespace, "namespace")
		} else {
			operate(d.node, n)
		}
		for _, keys := range tracked {
			if line := setAt(n, keys); line > 0 {
				d.set[strings.Join(keys, ".")] = Place{c.place.File, c.place.Line + c.lines[i] + line - 1}
			}
		}
	}
	return d
}

// restore puts a node of the metadata back.
func (d *doc) restore(n *yaml.Node, key string) {
	if n != nil {
		metadata := at(d.node, "metadata")
		metadata.Content[slot(metadata, key)+1] = n
	}
}

// setAt is the line of a patch that sets a field; 0 if none does.
func setAt(n *yaml.Node, keys []string) int {
	if field := at(n, keys...); field != nil {
		return field.Line
	}
	if n.Kind != yaml.SequenceNode {
		return 0
	}
	pointer := "/" + strings.Join(keys, "/")
	for _, op := range n.Content {
		if p := scalar(at(op, "path")); p == pointer || strings.HasPrefix(p, pointer+"/") {
			return op.Line
		}
	}
	return 0
}

// copy is a document that may be changed.
func (d *doc) copy() *doc {
	out := *d
	out.node = clone(d.node)
	out.set = map[string]Place{}
	for k, v := range d.set {
		out.set[k] = v
	}
	return &out
}

// clone copies a node and what is in it. What an alias stands for is not copied.
func clone(n *yaml.Node) *yaml.Node {
	out := *n
	out.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		out.Content[i] = clone(child)
	}
	return &out
}

// directive is the key by which a merge says what is to be done with a section.
const directive = "$patch"

// merge lays a patch over an object: sections are merged, everything else is put in its place, and null takes it away.
func merge(into, patch *yaml.Node) {
	for i := 0; i+1 < len(patch.Content); i += 2 {
		key, value := patch.Content[i], patch.Content[i+1]
		k := slot(into, key.Value)
		switch {
		case key.Value == directive:
		case value.Tag == "!!null" || scalar(at(value, directive)) == "delete":
			if k >= 0 {
				into.Content = append(into.Content[:k:k], into.Content[k+2:]...)
			}
		case k < 0:
			into.Content = append(into.Content, key, clone(value))
		case value.Kind == yaml.MappingNode && into.Content[k+1].Kind == yaml.MappingNode && scalar(at(value, directive)) != "replace":
			merge(into.Content[k+1], value)
		default:
			into.Content[k+1] = clone(value)
		}
	}
}

// slot is where a key stands in a section; -1: nowhere.
func slot(n *yaml.Node, key string) int {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// operate does the operations of a JSON patch that add, replace or remove a key of a section or an entry of a list. Others say nothing of what
// counts here.
func operate(root *yaml.Node, operations *yaml.Node) {
	for _, op := range operations.Content {
		steps := strings.Split(strings.TrimPrefix(scalar(at(op, "path")), "/"), "/")
		into := root
		for _, step := range steps[:len(steps)-1] {
			into = descend(into, unescape(step))
		}
		last, value, verb := unescape(steps[len(steps)-1]), at(op, "value"), scalar(at(op, "op"))
		if into != nil && into.Kind == yaml.SequenceNode {
			operateList(into, last, verb, value)
			continue
		}
		if into == nil || into.Kind != yaml.MappingNode {
			continue
		}
		k := slot(into, last)
		switch {
		case verb == "remove" && k >= 0:
			into.Content = append(into.Content[:k:k], into.Content[k+2:]...)
		case value == nil || verb != "add" && verb != "replace":
		case k >= 0:
			into.Content[k+1] = clone(value)
		default:
			into.Content = append(into.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: last, Line: op.Line}, clone(value))
		}
	}
}

// operateList does an operation on an entry of a list.
func operateList(list *yaml.Node, last, verb string, value *yaml.Node) {
	i, err := strconv.Atoi(last)
	there := err == nil && i >= 0 && i < len(list.Content)
	switch {
	case verb == "remove" && there:
		list.Content = slices.Delete(list.Content, i, i+1)
	case value == nil:
	case verb == "replace" && there:
		list.Content[i] = clone(value)
	case verb == "add" && there:
		list.Content = slices.Insert(list.Content, i, clone(value))
	case verb == "add" && (last == "-" || err == nil && i == len(list.Content)):
		list.Content = append(list.Content, clone(value))
	}
}

// descend goes one step of a JSON pointer down.
func descend(n *yaml.Node, step string) *yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.SequenceNode {
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
		return nil
	}
	return at(n, step)
}

func unescape(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}
