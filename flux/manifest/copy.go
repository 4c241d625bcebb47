package manifest

import (
	"slices"
	"strings"

	"github.com/sluicegate/sluice/meter"
)

// Perhaps is a document that something may change, unless the run has ended. What is collected of what was collected before would grow by itself: each place counts once.
func (d *Doc) Perhaps(w *Work, places ...Place) *Doc {
	if all := len(d.Patched) + len(places); w.Spent(1+all>>6, 1+all>>3) {
		return d
	}
	with := *d
	with.Patched, with.Vague = Once(d.Patched, places), true
	return &with
}

// Once is places, each of them once.
func Once(lists ...[]Place) (out []Place) {
	seen := map[Place]bool{}
	for _, list := range lists {
		for _, at := range list {
			if !seen[at] {
				seen[at], out = true, append(out, at)
			}
		}
	}
	return out
}

// Placed is a document that was built, with the places of one that was read; nil: of none.
func (d *Doc) Placed(at Place, read *Doc) *Doc {
	out := *d
	out.Place, out.set = at, map[string]Place{}
	if read != nil {
		out.Place, out.Patched = read.Place, read.Patched
		for _, keys := range tracked {
			if place := read.Line(keys...); place.File != "" {
				out.set[strings.Join(keys, ".")] = place
			}
		}
		if read.Made != nil {
			out.Made = &Generator{File: read.Made.File, Files: read.Made.Files}
		}
	}
	relined(out.Node, out.Place.Line)
	return &out
}

// tracked is the fields of which it counts where they were set.
var tracked = [][]string{{"spec", "path"}, {"spec", "suspend"}, {"spec", "schedule"}, {"spec", "timeZone"}, {"spec", "ref"}, {"spec", "sourceRef"}}

// Copy is a document that may be changed.
func (d *Doc) Copy() *Doc {
	out := *d
	out.Node = clone(d.Node)
	return &out
}

// Head is how many of the meter's nodes a copy takes, where it is kept, with its metadata and the names that it had.
func (d *Doc) Head() int {
	pointers := len(d.Node.Content) + 6*len(d.before) + 3*len(d.Patched)
	if metadata := At(d.Node, "metadata"); metadata != nil {
		pointers += len(metadata.Content)
	}
	return 3 + pointers*8/meter.NodeBytes
}

// CopyHead is a document of which whole sections may be put in the place of what it has.
func (d *Doc) CopyHead() *Doc {
	out := *d
	out.Node = shallow(d.Node)
	return &out
}

// section is a section of a copy, which has it to itself from then on, and not what is in it. Where there is none it is made.
func (d *Doc) section(keys ...string) *Node {
	n := d.Node
	for _, key := range keys {
		is := &Node{Kind: MappingNode, Tag: "!!map", Line: int32(d.Place.Line)}
		if k := slot(n, key); k >= 0 && n.Content[k+1].Kind == MappingNode {
			is = shallow(n.Content[k+1])
		}
		assign(n, Mapping(is.Line, key, "").Content[0], is)
		n = is
	}
	return n
}

// restore puts back what a key was; nil takes it away.
func (*Doc) restore(into *Node, key string, was *Node) {
	switch k := slot(into, key); {
	case k < 0 && was != nil:
		into.Content = append(into.Content, Mapping(was.Line, key, "").Content[0], was)
	case k >= 0 && was == nil:
		into.Content = slices.Delete(into.Content, k, k+2)
	case k >= 0:
		into.Content[k+1] = was
	}
}

// shallow copies a node, and not what is in it.
func shallow(n *Node) *Node {
	out := *n
	out.Content = slices.Clone(n.Content)
	return &out
}

// clone copies a node and what is in it. What an alias stands for is not copied.
func clone(n *Node) *Node {
	out := *n
	out.Content = make([]*Node, len(n.Content))
	for i, child := range n.Content {
		out.Content[i] = clone(child)
	}
	return &out
}

// assign sets a key of a section, and gives where it stands.
func assign(into, key, value *Node) int {
	k := slot(into, key.Value)
	if k < 0 {
		into.Content = append(into.Content, key, value)
		return len(into.Content) - 2
	}
	into.Content[k+1] = value
	return k
}

// slot is where a key stands in a section; -1: nowhere.
func slot(n *Node, key string) int {
	for i := 0; n.Kind == MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// Mapping is a section of texts.
func Mapping[Line int | int32](line Line, pairs ...string) *Node {
	n := &Node{Kind: MappingNode, Tag: "!!map", Line: int32(line)}
	for _, text := range pairs {
		n.Content = append(n.Content, &Node{Kind: ScalarNode, Tag: "!!str", Value: text, Line: int32(line)})
	}
	return n
}

// Pairs is labels or annotations that a kustomization.yaml adds. All objects share their nodes.
type Pairs struct {
	section string
	Content []*Node // keys and values in turns, by keys
}

// NewPairs is values for the labels or the annotations of objects. line is where they stand.
func NewPairs(section string, line int, values map[string]string) Pairs {
	p := Pairs{section: section}
	for _, key := range SortedKeys(values) {
		p.Content = append(p.Content, Mapping(line, key, values[key]).Content...)
	}
	return p
}

// Add adds labels or annotations to a copy, which weighs more then.
func (d *Doc) Add(p Pairs) {
	if len(p.Content) == 0 {
		return
	}
	into := d.section("metadata", p.section)
	for i := 0; i < len(p.Content); i += 2 {
		assign(into, p.Content[i], p.Content[i+1])
	}
}

// Adding is how many of the meter's nodes that takes.
func (d *Doc) Adding(all []Pairs) (nodes int) {
	for _, p := range all {
		pointers := len(p.Content)
		if into := At(d.Node, "metadata", p.section); into != nil {
			pointers += len(into.Content)
		}
		nodes += 1 + pointers*8/meter.NodeBytes
	}
	return nodes
}

// Rename sets namespace and name of a copy.
func (d *Doc) Rename(namespace, prefix, suffix string) {
	name := Scalar(At(d.Node, "metadata", "name"))
	d.before = d.IDs()
	if namespace != "" {
		d.Put("namespace", namespace)
	}
	if prefix+suffix != "" && name != "" {
		d.Put("name", prefix+name+suffix)
	}
}

// Put sets a text of the metadata of a copy.
func (d *Doc) Put(key, value string) {
	pair := Mapping(d.Place.Line, key, value).Content
	assign(d.section("metadata"), pair[0], pair[1])
}

// Weigh says what a document weighs.
func (d *Doc) Weigh() { d.Nodes, d.Size = weight(d.Node) }

// weight is how many of the meter's nodes a node takes, with what is in it, and how many bytes all of them say.
func weight(n *Node) (nodes, bytes int) {
	count := 0
	var add func(*Node)
	add = func(n *Node) {
		count, bytes = count+1, bytes+len(n.Value)
		for _, child := range n.Content {
			add(child)
		}
	}
	if n != nil {
		add(n)
	}
	return Charged(count), bytes
}

// Charged is how many of the meter's nodes so many of documents take.
func Charged(count int) int { return (count*nodeBytes + meter.NodeBytes - 1) / meter.NodeBytes }

// Listed is how many of the meter's nodes the lists of a document take.
func (d *Doc) Listed() int {
	count := 0
	var add func(n *Node, in bool)
	add = func(n *Node, in bool) {
		if in {
			count++
		}
		for _, child := range n.Content {
			add(child, in || n.Kind == SequenceNode)
		}
	}
	add(d.Node, false)
	return Charged(count)
}
