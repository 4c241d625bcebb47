package manifest

import (
	"bytes"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"
)

// Made is what the Flux Operator makes of a ResourceSet: each of its objects once for each of its inputs, of those that are called alike the first. What
// they have that stands in no file, such as what a ResourceSetInputProvider finds, is a variable without a value.
func (w *Work) Made(d *Doc) iter.Seq[*Doc] {
	sections := []*Doc{{Place: d.Place, Node: At(d.Node, "spec"), Vars: d.Vars}}
	for _, step := range w.List(d, "spec", "steps") {
		sections = append(sections, &Doc{Place: d.Place, Node: step, Vars: d.Vars})
	}
	for _, s := range sections {
		for _, key := range []string{"inputs", "inputsFrom", "resources", "steps"} {
			if p := Unset(s.Line(key), key, s.Text(key), ""); p.Variable != "" {
				w.Note(p)
			}
		}
	}
	inputs := w.inputsOf(d)
	once := len(inputs) == 1 && inputs[0].inputs == nil && At(d.Node, "spec", "inputsFrom") == nil
	seen, variables := map[Ref]bool{}, d.Variables(true)
	return func(yield func(*Doc) bool) {
		give := func(n *Node, alike, leaves bool) bool {
			made := &Doc{Place: d.At(n), Node: n, Patched: d.Patched, Vague: d.Vague, filled: variables}
			id := Ref{Kind: GroupOf(n) + "/" + made.Text("kind"), Namespace: made.Text("metadata", "namespace"), Name: made.Text("metadata", "name")}
			is, known := left(n)
			made.Open = !known || leaves && !alike
			if is && leaves || seen[id] {
				return true
			}
			seen[id] = alike && known && Unfilled(id.Kind+id.Namespace+id.Name) == "" && id.Name != ""
			made.Weigh()
			return !w.Spent(1+made.Nodes>>4+made.Size>>8, 1) && yield(made)
		}
		for _, s := range sections {
			for _, n := range w.List(s, "resources") {
				nodes, size := weight(n)
				for i := range inputs {
					if w.Spent(1+nodes>>4+size>>6, 0) || !give(inputs[i].object(n, d.Vars), !once, !once) {
						return
					}
				}
			}
			for i := range inputs {
				for _, n := range inputs[i].documents(s, d.Vars) {
					if !give(n, !inputs[i].cases, true) {
						return
					}
				}
			}
		}
	}
}

// documents is those of a section's template, filled in; those of lists one by one. What may bring further ones is a problem.
func (f *filler) documents(s *Doc, vars *Variables) (out []*Node) {
	template := At(s.Node, "resourcesTemplate")
	text, ok := vars.expandLines(Scalar(template))
	if text == "" {
		return nil
	}
	text = f.fill(text)
	if f.Spent(1+len(text)>>6, 0) {
		return nil
	}
	at, anything := s.At(template), !ok || f.loose || otherwise.MatchString(text)
	for _, p := range documents([]byte(text)) {
		err := beyond(p.text)
		var n *Node
		if err == nil {
			n, err = ParseDocument(p.text)
		}
		flux := err != nil && bytes.Contains(p.text, []byte("fluxcd")) || n != nil && strings.Contains(GroupOf(n), "fluxcd")
		switch {
		case err != nil:
			if flux {
				f.Problem(at, wordNoYAML(err))
			}
			continue
		case n == nil:
			anything = anything || bytes.HasPrefix(bytes.TrimSpace(p.text), []byte("${"))
			continue
		}
		if shift(n, at.Line+p.line-1); twice(n, false) || flux && twice(n, true) {
			f.Problem(Place{at.File, int(n.Line)}, wordTwice)
		}
		items := At(n, "items")
		if items == nil {
			items = &Node{Content: []*Node{n}}
		}
		for _, item := range items.Content {
			if item.Kind == MappingNode {
				out = append(out, item)
			}
		}
		anything = anything || unknownIn(n, true) || items.Kind == MappingNode || unknownIn(items, false)
	}
	if anything {
		f.Problem(at, wordAnything)
	}
	return out
}

// otherwise is what makes something else of a text than its lines say: JSON behind JSON, keys that merge, and variables over several lines.
var otherwise = regexp.MustCompile(`(?m)^\{|<<["']?[ \t]*:|\$\{[^}\n]*$`)

// unknownIn reports whether a section, or a list, has something itself that is not known.
func unknownIn(n *Node, keys bool) bool {
	if Unfilled(n.Value) != "" {
		return true
	}
	for i, child := range n.Content {
		if Unfilled(child.Value) != "" && (!keys || i%2 == 0) {
			return true
		}
	}
	return false
}

// twice reports whether a section, or one in it, has a key twice.
func twice(n *Node, within bool) bool {
	seen := map[string]bool{}
	for i := 0; n.Kind == MappingNode && i < len(n.Content); i += 2 {
		if seen[n.Content[i].Value] {
			return true
		}
		seen[n.Content[i].Value] = true
	}
	return within && slices.ContainsFunc(n.Content, func(child *Node) bool { return twice(child, true) })
}

// inputsOf is the sets of inputs of a ResourceSet, as far as they stand in it: of those from elsewhere, or that are put together of each other, one stands for
// all. Without any its objects are made once, as they are written.
func (w *Work) inputsOf(d *Doc) (out []filler) {
	spec := At(d.Node, "spec")
	name, namespace := d.Text("metadata", "name"), d.Text("metadata", "namespace")
	parsed := map[string]*parse.ListNode{}
	add := func(values *Node) {
		out = append(out, filler{Work: w, file: d.Place.File, parsed: parsed, inputs: values, lines: values != nil && ofLines(values), name: namespace + "/" + name + " " + strconv.Itoa(len(out))})
	}
	if At(spec, "inputStrategy") == nil || d.Text("spec", "inputStrategy", "name") == "Flatten" {
		for _, n := range w.List(d, "spec", "inputs") {
			with := settled(d.Vars, n)
			if with.Kind == MappingNode { // and of whom they are
				assign(with, &Node{Value: "provider", Tag: "!!str"}, Mapping(n.Line, "apiVersion", d.Text("apiVersion"), "kind", d.Text("kind"), "name", name, "namespace", namespace))
			}
			add(with)
		}
	}
	if from := At(spec, "inputsFrom"); len(out) == 0 || from != nil && (from.Kind != SequenceNode || len(from.Content) > 0) {
		add(nil)
	}
	return out
}

// ofLines reports whether values have a text of several lines.
func ofLines(n *Node) bool {
	return strings.Contains(n.Value, "\n") || slices.ContainsFunc(n.Content, ofLines)
}

// settled is inputs with what variables make of them. What may be another value then, or where it stands without quotes, is not known.
func settled(vars *Variables, n *Node) *Node {
	out := *n
	if text := vars.Expand(n.Value); text != n.Value {
		out.Value, out.Tag = text, ""
		if is := bare(&Node{Kind: MappingNode}, text); is != nil && is.Kind == ScalarNode {
			out.Value, out.Tag = is.Value, is.Tag
		}
	}
	if n.Kind == ScalarNode && (Unfilled(out.Value) != "" || out.Tag == "!!str" && ambiguous.MatchString(out.Value)) {
		out.Tag = ""
	}
	out.Content = make([]*Node, len(n.Content))
	for i, child := range n.Content {
		out.Content[i] = settled(vars, child)
	}
	return &out
}

// object fills in an object, and gives a copy.
func (f *filler) object(n *Node, vars *Variables) *Node {
	loose := false
	out := f.section(n, vars, &loose)
	if group := GroupOf(out); loose && (strings.Contains(group, "fluxcd") || Unfilled(group+Scalar(At(out, "kind"))) != "") {
		f.Problem(Place{f.file, int(n.Line)}, wordAnything)
	}
	return out
}

// section fills in a part of an object. A key is not filled in: which one it is decides what else counts.
func (f *filler) section(n *Node, vars *Variables, loose *bool) *Node {
	out := *n
	text := vars.Expand(n.Value)
	if out.Value = text; strings.Contains(text, "<<") {
		out.Value = f.scalar(text, n.Line)
		*loose = *loose || f.loose
	}
	out.Content = make([]*Node, len(n.Content))
	for i, child := range n.Content {
		if out.Content[i] = f.section(child, vars, loose); n.Kind == MappingNode && i%2 == 0 && strings.Contains(child.Value, "<<") {
			out.Content[i].Value = f.unknown(child.Value)
		}
	}
	return &out
}

// scalar fills in a text of an object, which stands in YAML as the operator writes it: without quotes, if it needs none before it is filled in.
func (f *filler) scalar(text string, line int32) string {
	before, filled := bare(&Node{Kind: MappingNode}, text), f.fill(text)
	after, several := bare(&Node{Kind: MappingNode}, filled), strings.Contains(text, "\n")
	f.loose = f.loose || strings.Contains(text, "<<-") || strings.Contains(text, "->>") || several && f.lines // it may reach beyond its lines
	switch {
	case !several && strings.Contains(filled, "\n"):
		f.Problem(Place{f.file, int(line)}, wordAnything)
		return f.unknown(text)
	case several:
		return filled // a block of lines
	case !plainASCII.MatchString(text), before == nil || before.Kind != ScalarNode || before.Value != text || after == nil || after.Kind != ScalarNode:
		return f.unknown(text)
	}
	return after.Value
}

// plainASCII is a text that YAML needs no escapes for.
var plainASCII = regexp.MustCompile(`^[ -~]*$`)

// left reports whether the Flux Operator leaves an object out, and whether that is known. Whether it does decides nothing else of it.
func left(n *Node) (is, known bool) {
	const reconcile = GroupOperator + "/reconcile"
	notes := At(n, "metadata", "annotations")
	if notes == nil {
		return false, true
	}
	known = !unknownIn(notes, true) && Unfilled(Scalar(At(notes, reconcile))) == ""
	is = known && Scalar(At(notes, reconcile)) == "disabled"
	if i := slot(notes, reconcile); !is && i >= 0 {
		notes.Content = slices.Delete(notes.Content, i, i+2)
	}
	return is, known
}
