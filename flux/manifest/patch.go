package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Patch is an entry of a list of patches, with its variables filled in: Flux does so before it reads the patches of what it applies.
func (d *Doc) Patch(n *Node) Patch {
	p := Patch{Place: d.TextAt(n), Target: d.Target(At(n, "target"))}
	if text := At(n, "patch"); text != nil {
		p.Place = d.TextAt(text)
		d.fill(&p, Scalar(text))
	}
	return p
}

// InlinePatch is a patch that stands in an object as what it says, and not as a text.
func (d *Doc) InlinePatch(n *Node, t Target, when Stage) Patch {
	p := Patch{Place: d.Place, Target: t, stage: when}
	var says any
	err := n.YAML().Decode(&says)
	text, wrong := json.Marshal(says)
	if d.fill(&p, string(text)); err != nil || wrong != nil {
		p.Target.open = "patch"
	}
	return p
}

// fill gives a patch its text, with variables.
func (d *Doc) fill(p *Patch, text string) {
	filled, ok := d.Vars.expandLines(text)
	if p.Text = filled; !ok {
		p.Target.open = "patch"
	} else if p.Target == (Target{}) && !d.Vars.none() && Unfilled(filled) != "" {
		p.Target.open = openName
	}
}

// TextAt is where the text of a node begins: after a | or >, on the next line.
func (d *Doc) TextAt(n *Node) Place {
	p := d.At(n)
	if n.block {
		p.Line++
	}
	return p
}

// Change is a patch that was parsed: a merge, or operations.
type Change struct {
	Place   Place
	Nodes   []*Node     // of each document: a mapping to merge, or a list of operations
	means   []*Selector // what each is for: the target, else the patch itself says it
	Unread  *Selector   // of a patch that could not be read: what it is for
	why     error       // it could not be read
	lines   []int       // that stand before the document in the patch's file
	weights []int       // how many nodes each is
	Kinds   bool        // it may make one of the kinds that are read of another one
}

// ParsePatch parses a patch's text, which may hold several documents. where is its first line.
func ParsePatch(text []byte, where Place, t Target) (Change, error) {
	c := Change{Place: where}
	if err := beyond(text); err != nil {
		return c, err
	}
	if text = bytes.TrimSpace(text); bytes.HasPrefix(text, []byte("[")) && !json.Valid(text) {
		return c, errors.New(wordNoJSON)
	}
	target := t.Selector()
	if foreign(text) {
		return c, errors.New(wordForeign)
	}
	for _, part := range documents(text) {
		var n yaml.Node
		if err := decode(part.text, &n); err != nil {
			return c, err
		}
		if len(n.Content) == 1 {
			node, err := expand(n.Content[0])
			switch {
			case err != nil:
				return c, err
			case wide(node):
				return c, errors.New(wordWide())
			case node.Kind == SequenceNode && len(node.Content) > MaxList:
				return c, errors.New(wordLongList("patch"))
			}
			if kind := Scalar(At(node, "kind")); At(node, keySOPS) != nil && (kind == "" || Encrypted(kind)) {
				return c, errors.New(wordEncrypted) // it may be any text
			}
			if bytes.Contains(part.text, []byte(sopsText)) {
				sealed(node)
			}
			means := target
			if t == (Target{}) || t == (Target{open: openName}) {
				means = itself(node, t.open)
			}
			c.Kinds = c.Kinds || rekinds(node)
			nodes, _ := weight(node)
			c.weights = append(c.weights, nodes)
			c.Nodes, c.means, c.lines = append(c.Nodes, node), append(c.means, means), append(c.lines, part.line)
		}
	}
	return c, nil
}

// UnreadablePatch is a patch that could not be read: what it is for may be another object than was read.
func UnreadablePatch(p Patch, why error) Change {
	return Change{Place: p.Place, Unread: p.Target.Selector(), why: errors.New(strings.TrimPrefix(why.Error(), "yaml: "))}
}

// Weight is how many of the meter's nodes a patch takes.
func (c Change) Weight() int {
	if c.Unread != nil {
		return c.Unread.Weight
	}
	nodes := 0
	for i, n := range c.weights {
		nodes += n
		if i == 0 || c.means[i] != c.means[i-1] {
			nodes += c.means[i].Weight
		}
	}
	return nodes
}

// rekinds reports whether operations may make one of the kinds that are read of another one.
func rekinds(operations *Node) bool {
	return operations.Kind == SequenceNode && slices.ContainsFunc(operations.Content, func(op *Node) bool {
		value := At(op, "value")
		return Scalar(At(op, "path")) == "/kind" && Scalar(At(op, "op")) != "test" && (value == nil || IsRead(value.Value))
	})
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

// Apply gives a document with a change; the same one if the change is not for it. An error says that it may be another one than kustomize makes.
func (c Change) Apply(d *Doc, w *Work) (*Doc, error) {
	if d.Gone {
		return d, nil
	}
	if c.Unread != nil && c.Unread.matches(d) {
		return d.Perhaps(w, c.Place), c.why
	}
	var failed error
	for i, n := range c.Nodes {
		if w.Spent(0, 0) {
			return d, w.meter.Err()
		}
		if !c.means[i].matches(d) {
			continue
		}
		if c.means[i].vague {
			d, failed = d.Perhaps(w, c.Place), errors.New(wordVagueTarget)
			continue
		}
		merges, cost := n.Kind == MappingNode, d.Nodes
		if merges {
			cost = d.Nodes / 6 // what leads to what is in the sections that are changed
		}
		if w.Spent(0, cost+d.Head()+c.weights[i]+Charged(d.packed())) {
			return d, w.meter.Err()
		}
		if merges {
			d = d.CopyHead()
		} else {
			d = d.Copy()
		}
		d.unpack()
		d.Patched = append(slices.Clip(d.Patched), Place{c.Place.File, c.Place.Line + c.lines[i]})
		if err := d.change(n, w); err != nil {
			failed = err
		}
		d.Weigh()
		set := maps.Clone(d.set)
		for _, keys := range tracked {
			line := setAt(n, keys)
			if line == 0 || set == nil && w.Spent(0, 2) {
				continue
			}
			if set == nil {
				set = map[string]Place{}
			}
			set[strings.Join(keys, ".")] = Place{c.Place.File, c.Place.Line + c.lines[i] + line - 1}
		}
		d.set = set
	}
	return d, failed
}

// change changes a copy as a merge or as operations say. A merge renames nothing: what it calls the object may be anything where it has a target.
func (d *Doc) change(n *Node, w *Work) error {
	if n.Kind != MappingNode {
		d.before = d.IDs()
		return cmp.Or(operate(d, n, w), d.sound())
	}
	switch Scalar(At(n, directive)) {
	case "delete":
		d.Gone = true
		return nil
	case "replace":
		return nil // kustomize changes nothing
	}
	api, kind := At(d.Node, "apiVersion"), At(d.Node, "kind")
	name, namespace := At(d.Node, "metadata", "name"), At(d.Node, "metadata", "namespace")
	err := merge(d.Node, n)
	d.restore(d.Node, "apiVersion", api)
	d.restore(d.Node, "kind", kind)
	metadata := d.section("metadata") // kustomize gives it its name again
	d.restore(metadata, "name", name)
	d.restore(metadata, "namespace", namespace)
	return cmp.Or(err, textual(n))
}

// textual is what is wrong with a merge's labels and annotations where they are something else than texts: kustomize may read null as a text, or not at
// all.
func textual(patch *Node) error {
	for _, section := range []string{"labels", "annotations"} {
		n := At(patch, "metadata", section)
		if n != nil && (len(n.Content) == 0 || slices.ContainsFunc(n.Content, func(c *Node) bool { return c.Tag == "!!null" })) {
			return errors.New(wordNoTexts)
		}
	}
	return nil
}

// sound is what is wrong with the metadata after operations: kustomize drops what it cannot use.
func (d *Doc) sound() error {
	for _, keys := range [][]string{{"metadata"}, {"metadata", "labels"}, {"metadata", "annotations"}} {
		if n := At(d.Node, keys...); n != nil && n.Kind != MappingNode {
			return errors.New(wordMismatch)
		}
	}
	return nil
}

// setAt is the line of a patch that sets a field; 0 if none does.
func setAt(n *Node, keys []string) int {
	if field := At(n, keys...); field != nil {
		return int(field.Line)
	}
	if n.Kind != SequenceNode {
		return 0
	}
	pointer := "/" + strings.Join(keys, "/")
	for _, op := range n.Content {
		if p := Scalar(At(op, "path")); p == pointer || strings.HasPrefix(p, pointer+"/") {
			return int(op.Line)
		}
	}
	return 0
}

// directive is the key by which a merge says what is to be done with a section.
const directive = "$patch"

// merge lays a patch over a section, which is the caller's own, as the sections in it need not be: sections are merged, everything else is put in its place, and null takes it away.
func merge(into, patch *Node) error {
	switch Scalar(At(patch, directive)) {
	case "", "merge":
	case "replace":
		into.Content = nil
	default:
		return errors.New(wordDirective)
	}
	var failed error
	for i := 0; i+1 < len(patch.Content); i += 2 {
		key, value := patch.Content[i], patch.Content[i+1]
		k := slot(into, key.Value)
		switch {
		case key.Value == directive:
		case value.Tag == "!!null" || value.Kind == MappingNode && Scalar(At(value, directive)) == "delete":
			if k >= 0 {
				into.Content = slices.Delete(into.Content, k, k+2)
			}
		case value.Kind == MappingNode:
			if k < 0 || into.Content[k+1].Tag == "!!null" {
				k = assign(into, key, &Node{Kind: MappingNode, Tag: "!!map", Line: value.Line})
			}
			if into.Content[k+1].Kind != MappingNode {
				failed = errors.New(wordMismatch)
				continue
			}
			into.Content[k+1] = shallow(into.Content[k+1])
			failed = cmp.Or(failed, merge(into.Content[k+1], value))
		case k >= 0 && into.Content[k+1].Kind != value.Kind && into.Content[k+1].Tag != "!!null":
			failed = errors.New(wordMismatch)
		default:
			assign(into, key, clone(value))
		}
	}
	return failed
}

// operate does the operations of a JSON patch, as kustomize does them. It stops at the first that fails, unless that may be for what was not kept of the
// object.
func operate(d *Doc, operations *Node, w *Work) error {
	p := pointers{d.Node, MaxDoc, w}
	for _, op := range operations.Content {
		if w.Spent(1, 0) {
			return errors.New(wordLargeDocument())
		}
		err := p.operate(op)
		if err != nil && !d.pruned(op) {
			return err
		}
		d.Vague = d.Vague || err != nil
	}
	return nil
}

// pruned reports whether an operation may be for what was not kept of an object, and for nothing else.
func (d *Doc) pruned(op *Node) bool {
	kind := d.Text("kind")
	return (kind == "HelmRelease" || d.Plain()) && !slices.ContainsFunc([]string{"path", "from"}, func(key string) bool {
		steps := strings.Split(Scalar(At(op, key)), "/")
		return len(steps) > 1 && (steps[1] == "metadata" || len(steps) > 2 && slices.Contains([]string{"chart", "chartRef", "valuesFrom", "kubeConfig", AccountName}, steps[2]))
	})
}

// pointers does operations on a document.
type pointers struct {
	root *Node
	left int // bytes that copies may still take
	work *Work
}

func (p *pointers) operate(op *Node) error {
	value, verb := At(op, "value"), Scalar(At(op, "op"))
	if value == nil {
		value = &Node{Kind: ScalarNode, Tag: "!!null", Value: "null", Line: op.Line}
	}
	if verb == "move" || verb == "copy" {
		into, key, err := p.find(Scalar(At(op, "from")))
		if err != nil {
			return err
		}
		if value = descend(into, key); value == nil {
			return errors.New(wordPointer)
		}
		nodes, size := weight(value)
		if p.left -= 5*nodes + size; p.left < 0 || p.work.Spent(0, nodes) {
			return errors.New(wordLargeDocument())
		}
		if value = clone(value); verb == "move" {
			if err := edit(into, key, "remove", nil); err != nil {
				return err
			}
		}
		verb = "add"
	}
	into, key, err := p.find(Scalar(At(op, "path")))
	if err != nil {
		return err
	}
	if verb == "test" {
		if found := descend(into, key); found != nil {
			nodes, size := weight(found)
			if !p.work.Spent(nodes>>4+size>>10, 0) && equal(found, value) {
				return nil
			}
		}
		return errors.New(wordTest)
	}
	return edit(into, key, verb, clone(value))
}

// find is the section or list that a pointer ends in, and the last key.
func (p *pointers) find(pointer string) (into *Node, key string, err error) {
	steps := strings.Split(pointer, "/")
	if len(steps) < 2 {
		return nil, "", errors.New(wordPointer)
	}
	into = p.root
	for _, step := range steps[1 : len(steps)-1] {
		into = descend(into, unescape(step))
	}
	if into == nil || into.Kind == ScalarNode {
		return nil, "", errors.New(wordPointer)
	}
	return into, unescape(steps[len(steps)-1]), nil
}

// edit adds, replaces or removes a key of a section or an entry of a list. Whether a key is there is nothing to kustomize where it is replaced.
func edit(into *Node, key, verb string, value *Node) error {
	if into.Kind == SequenceNode {
		return editList(into, key, verb, value)
	}
	k := slot(into, key)
	switch {
	case verb == "remove" && k >= 0:
		into.Content = slices.Delete(into.Content, k, k+2)
	case verb == "add" || verb == "replace":
		assign(into, Mapping(value.Line, key, "").Content[0], value)
	default:
		return errors.New(wordPointer)
	}
	return nil
}

func editList(list *Node, key, verb string, value *Node) error {
	last := len(list.Content) - 1
	if verb == "add" {
		last++
	}
	i, ok := entryAt(key, last)
	switch {
	case verb == "add" && key == "-":
		list.Content = append(list.Content, value)
	case !ok:
		return errors.New(wordPointer)
	case verb == "add":
		list.Content = slices.Insert(list.Content, i, value)
	case verb == "replace":
		list.Content[i] = value
	case verb == "remove":
		list.Content = slices.Delete(list.Content, i, i+1)
	default:
		return errors.New(wordPointer)
	}
	return nil
}

// entryAt is the entry of a list that a key means; a negative one counts from the end.
func entryAt(key string, last int) (int, bool) {
	i, err := strconv.Atoi(key)
	if i < 0 {
		i += last + 1
	}
	return i, err == nil && i >= 0 && i <= last
}

// descend goes one step of a JSON pointer down.
func descend(n *Node, step string) *Node {
	if n == nil {
		return nil
	}
	if n.Kind == SequenceNode {
		if i, ok := entryAt(step, len(n.Content)-1); ok {
			return n.Content[i]
		}
		return nil
	}
	return At(n, step)
}

// equal reports whether two nodes say the same.
func equal(a, b *Node) bool {
	var x, y Digest
	x.node(a, nil)
	y.node(b, nil)
	return x.String() == y.String()
}

func unescape(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}

// Patch is a patch of kustomize: a strategic merge, or operations on what Target names.
type Patch struct {
	Place
	Target Target
	Text   string

	stage Stage
}

// Stage is when kustomize applies it.
func (p Patch) Stage() Stage { return p.stage }

// Stage is when kustomize applies a patch: what v1beta2 has as patchesStrategicMerge comes before all patches, and patchesJson6902 after them.
type Stage int

// When kustomize applies a patch.
const (
	AmongPatches  Stage = iota
	BeforePatches       // all patches
	AfterPatches        // all patches
)

// Target is what a patch is for; the texts of names are regular expressions, as kustomize has it.
type Target struct {
	Group, Version, Kind, Namespace, Name, LabelSelector, AnnotationSelector string

	open string // what of it, or of its patch, is not known for want of the value of a variable: it may be for something else
}

// fields is the texts of a target, by their keys.
func (t *Target) fields() map[string]*string {
	return map[string]*string{
		"group": &t.Group, "version": &t.Version, "kind": &t.Kind, "namespace": &t.Namespace, "name": &t.Name,
		"labelSelector": &t.LabelSelector, "annotationSelector": &t.AnnotationSelector,
	}
}

// Target reads what a patch is for.
func (d *Doc) Target(n *Node) Target {
	t := Target{}
	for key, field := range t.fields() {
		*field = d.Vars.Expand(Scalar(At(n, key)))
		if !d.Vars.none() && Unfilled(*field) != "" {
			t.open = "target"
		}
	}
	return t
}
