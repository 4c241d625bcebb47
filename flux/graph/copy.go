package graph

import (
	"slices"
	"strings"

	"github.com/sluicegate/sluice/meter"
)

// perhaps is a document that something may change.
func (d *doc) perhaps(places ...Place) *doc {
	with := *d
	with.patched, with.vague = slices.Concat(d.patched, places), true
	return &with
}

// placed is a document that was built, with the places of one that was read; nil: of none.
func (d *doc) placed(at Place, read *doc) *doc {
	out := *d
	out.place, out.set = at, map[string]Place{}
	if read != nil {
		out.place, out.patched = read.place, read.patched
		for _, keys := range tracked {
			if place := read.line(keys...); place.File != "" {
				out.set[strings.Join(keys, ".")] = place
			}
		}
		if read.made != nil {
			out.made = &generator{file: read.made.file, files: read.made.files}
		}
	}
	relined(out.node, out.place.Line)
	return &out
}

// tracked is the fields of which it counts where they were set.
var tracked = [][]string{{"spec", "path"}, {"spec", "suspend"}, {"spec", "schedule"}, {"spec", "timeZone"}, {"spec", "ref"}, {"spec", "sourceRef"}}

// copy is a document that may be changed.
func (d *doc) copy() *doc {
	out := *d
	out.node = clone(d.node)
	return &out
}

// head is how many of the meter's nodes a copy takes, where it is kept, with its metadata and the names that it had.
func (d *doc) head() int {
	pointers := len(d.node.Content) + 6*len(d.before) + 3*len(d.patched)
	if metadata := at(d.node, "metadata"); metadata != nil {
		pointers += len(metadata.Content)
	}
	return 3 + pointers*8/meter.NodeBytes
}

// copyHead is a document of which whole sections may be put in the place of what it has.
func (d *doc) copyHead() *doc {
	out := *d
	out.node = shallow(d.node)
	return &out
}

// section is a section of a copy, which has it to itself from then on, and not what is in it. Where there is none it is made.
func (d *doc) section(keys ...string) *node {
	n := d.node
	for _, key := range keys {
		is := &node{Kind: mappingNode, Tag: "!!map", Line: int32(d.place.Line)}
		if k := slot(n, key); k >= 0 && n.Content[k+1].Kind == mappingNode {
			is = shallow(n.Content[k+1])
		}
		assign(n, mapping(is.Line, key, "").Content[0], is)
		n = is
	}
	return n
}

// restore puts back what a key was; nil takes it away.
func (*doc) restore(into *node, key string, was *node) {
	switch k := slot(into, key); {
	case k < 0 && was != nil:
		into.Content = append(into.Content, mapping(was.Line, key, "").Content[0], was)
	case k >= 0 && was == nil:
		into.Content = slices.Delete(into.Content, k, k+2)
	case k >= 0:
		into.Content[k+1] = was
	}
}

// shallow copies a node, and not what is in it.
func shallow(n *node) *node {
	out := *n
	out.Content = slices.Clone(n.Content)
	return &out
}

// clone copies a node and what is in it. What an alias stands for is not copied.
func clone(n *node) *node {
	out := *n
	out.Content = make([]*node, len(n.Content))
	for i, child := range n.Content {
		out.Content[i] = clone(child)
	}
	return &out
}

// assign sets a key of a section, and gives where it stands.
func assign(into, key, value *node) int {
	k := slot(into, key.Value)
	if k < 0 {
		into.Content = append(into.Content, key, value)
		return len(into.Content) - 2
	}
	into.Content[k+1] = value
	return k
}

// slot is where a key stands in a section; -1: nowhere.
func slot(n *node, key string) int {
	for i := 0; n.Kind == mappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// mapping is a section of texts.
func mapping[Line int | int32](line Line, pairs ...string) *node {
	n := &node{Kind: mappingNode, Tag: "!!map", Line: int32(line)}
	for _, text := range pairs {
		n.Content = append(n.Content, &node{Kind: scalarNode, Tag: "!!str", Value: text, Line: int32(line)})
	}
	return n
}

// pairs is labels or annotations that a kustomization.yaml adds. All objects share their nodes.
type pairs struct {
	section string
	content []*node // keys and values in turns, by keys
}

func newPairs(section string, line int, values map[string]string) pairs {
	p := pairs{section: section}
	for _, key := range sortedKeys(values) {
		p.content = append(p.content, mapping(line, key, values[key]).Content...)
	}
	return p
}

// add adds labels or annotations to a copy, which weighs more then.
func (d *doc) add(p pairs) {
	if len(p.content) == 0 {
		return
	}
	into := d.section("metadata", p.section)
	for i := 0; i < len(p.content); i += 2 {
		assign(into, p.content[i], p.content[i+1])
	}
}

// adding is how many of the meter's nodes that takes.
func (d *doc) adding(all []pairs) (nodes int) {
	for _, p := range all {
		pointers := len(p.content)
		if into := at(d.node, "metadata", p.section); into != nil {
			pointers += len(into.Content)
		}
		nodes += 1 + pointers*8/meter.NodeBytes
	}
	return nodes
}

// rename sets namespace and name of a copy.
func (d *doc) rename(namespace, prefix, suffix string) {
	name := scalar(at(d.node, "metadata", "name"))
	d.remember()
	if namespace != "" {
		d.put("namespace", namespace)
	}
	if prefix+suffix != "" && name != "" {
		d.put("name", prefix+name+suffix)
	}
}

// remember keeps what an object was called, before that changes.
func (d *doc) remember() {
	d.before = d.ids()
}

// put sets a text of the metadata of a copy.
func (d *doc) put(key, value string) {
	pair := mapping(d.place.Line, key, value).Content
	assign(d.section("metadata"), pair[0], pair[1])
}

// weigh says what a document weighs.
func (d *doc) weigh() { d.nodes, d.size = weight(d.node) }

// weight is how many of the meter's nodes a node takes, with what is in it, and how many bytes all of them say.
func weight(n *node) (nodes, bytes int) {
	count := 0
	var add func(*node)
	add = func(n *node) {
		count, bytes = count+1, bytes+len(n.Value)
		for _, child := range n.Content {
			add(child)
		}
	}
	if n != nil {
		add(n)
	}
	return charged(count), bytes
}

// charged is how many of the meter's nodes so many of documents take.
func charged(count int) int { return (count*nodeBytes + meter.NodeBytes - 1) / meter.NodeBytes }

// listed is how many of the meter's nodes the lists of a document take.
func (d *doc) listed() int {
	count := 0
	var add func(n *node, in bool)
	add = func(n *node, in bool) {
		if in {
			count++
		}
		for _, child := range n.Content {
			add(child, in || n.Kind == sequenceNode)
		}
	}
	add(d.node, false)
	return charged(count)
}
