package manifest

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// action is what the Flux Operator fills in by Go's templates; input is one that is a value of the inputs alone.
	action = regexp.MustCompile(`(?s)<<(-?)\s*(.*?)\s*(-?)>>`)
	input  = regexp.MustCompile(`^inputs\.([\w.]+)(\s*\|\s*quote)?$`)
	// alone is one on lines of its own; control is one that puts nothing in place of itself.
	alone   = regexp.MustCompile(`(?m)^[ \t]*<<-?\s*([^<>]*?)\s*-?>>[ \t]*$`)
	control = regexp.MustCompile(`^(?:if|else|end|range|with|define|template|block|break|continue)\b|^/\*|^\$\w+\s*:?=`)
	words   = regexp.MustCompile(`[\w.]+`)
	// asWritten is a value that a template and YAML show as it is written.
	asWritten = regexp.MustCompile(`^[-\w./:@+${}]*$`)
	number    = regexp.MustCompile(`^(?:0|[1-9][0-9]*|true|false)$`)
)

// inputs is one set of inputs of a ResourceSet: the values of its fields, and what else is filled in then is called by.
type inputs struct {
	values map[string]string
	name   string
}

// inputsOf is the sets of inputs of a ResourceSet, as far as they stand in it: of those from elsewhere, or that are put together of each other, one stands for
// all. Without any its objects are made once.
func inputsOf(d *Doc) []inputs {
	spec := At(d.Node, "spec")
	named := func(n int) string {
		return d.Text("metadata", "namespace") + "/" + d.Text("metadata", "name") + " " + strconv.Itoa(n)
	}
	list, from, strategy := At(spec, "inputs"), At(spec, "inputsFrom"), At(spec, "inputStrategy")
	var out []inputs
	if list != nil && list.Kind == SequenceNode && (strategy == nil || d.Text("spec", "inputStrategy", "name") == "Flatten") {
		for i, n := range list.Content {
			in := inputs{map[string]string{}, named(i)}
			in.take(n, "")
			out = append(out, in)
		}
	}
	if len(out) == 0 || from != nil && (from.Kind != SequenceNode || len(from.Content) > 0) {
		out = append(out, inputs{name: named(-1)})
	}
	return out
}

// take keeps the values of a section, by their keys with dots. What YAML or a template may show otherwise than it is written is not known.
func (in *inputs) take(n *Node, key string) {
	for i := 0; n.Kind == MappingNode && i+1 < len(n.Content); i += 2 {
		if name := n.Content[i].Value; !strings.Contains(name, ".") {
			in.take(n.Content[i+1], strings.TrimPrefix(key+"."+name, "."))
		}
	}
	if n.Kind == ScalarNode && len(n.Value) <= MaxWord && (n.Tag == "!!str" && asWritten.MatchString(n.Value) || number.MatchString(n.Value)) {
		in.values[key] = n.Value
	}
}

// fill fills in a text: what is not known is a variable that nothing sets.
func (in *inputs) fill(text string) string {
	if !strings.Contains(text, "<<") {
		return text
	}
	return action.ReplaceAllStringFunc(text, func(s string) string {
		m := action.FindStringSubmatch(s)
		if known := input.FindStringSubmatch(m[2]); known != nil && m[1]+m[3] == "" {
			switch value, ok := in.values[known[1]]; {
			case ok && known[2] != "":
				return strconv.Quote(value)
			case ok:
				return value
			}
		}
		shown := strings.Join(words.FindAllString(m[2][:min(len(m[2]), MaxWord)], -1), " ")
		return "${" + cmp.Or(shown, "inputs") + " " + hashOf([]byte(in.name + "\x00" + m[2]))[:8] + "}"
	})
}

// object fills in an object, and gives a copy.
func (in *inputs) object(n *Node) *Node {
	out := *n
	out.Value = in.fill(n.Value)
	if text := bare(&Node{Kind: MappingNode}, out.Value); out.Value != n.Value && text != nil && text.Kind == ScalarNode {
		out.Value = text.Value // without quotes
	}
	out.Content = make([]*Node, len(n.Content))
	for i, child := range n.Content {
		out.Content[i] = in.object(child)
	}
	return &out
}

// Made is the Flux Kustomizations and their sources that the Flux Operator makes of a ResourceSet, as documents of its file. What they have that stands in no
// file, such as the inputs of a ResourceSetInputProvider, is a variable without a value; and what may be such an object and is not read is a problem.
func (w *Work) Made(d *Doc, of string) (out []*Doc) {
	spec := At(d.Node, "spec")
	sections := []*Node{spec}
	if steps := At(spec, "steps"); steps != nil {
		sections = append(sections, steps.Content...)
	}
	add := func(n *Node, template string) {
		if w.Spent(1, 0) || n.Kind != MappingNode || !w.makes(d, n) {
			return
		}
		if cases(template) {
			w.Problem(d.At(n), wordCases)
		}
		made := &Doc{Place: d.At(n), Node: n, Vars: d.Vars, Patched: d.Patched, Vague: d.Vague}
		if made.Weigh(); w.Spent(0, made.Nodes) {
			return
		}
		w.doubts(made, of)
		out = append(out, made)
	}
	for _, in := range inputsOf(d) {
		for _, s := range sections {
			if resources := At(s, "resources"); resources != nil {
				for _, n := range resources.Content {
					add(in.object(n), "")
				}
			}
			template := At(s, "resourcesTemplate")
			for _, n := range w.template(d, &in, template) {
				add(n, Scalar(template))
			}
		}
	}
	return out
}

// makes reports whether an object of a ResourceSet is one that is read, or may be; what another one leads to is said not to be.
func (w *Work) makes(d *Doc, n *Node) bool {
	group, kind := GroupOf(n), Scalar(At(n, "kind"))
	switch {
	case group == GroupKustomize && kind == "Kustomization", group == GroupArtifacts, group == GroupSource && (kind == "GitRepository" || kind == "OCIRepository"):
		return true
	case group == GroupOperator && (kind == "ResourceSet" || kind == "FluxInstance"), kind == "" && len(n.Content) > 0 && Unfilled(n.Content[0].Value) != "":
		w.Problem(d.At(n), wordUnmade(kind))
	}
	return Unfilled(Scalar(At(n, "apiVersion"))+kind) != ""
}

// template is the documents of a template, filled in. A line of its own may bring any fields, which are a key with a variable.
func (w *Work) template(d *Doc, in *inputs, template *Node) (out []*Node) {
	text := Scalar(template)
	if text == "" || w.Spent(1+len(text)>>8, 0) {
		return nil
	}
	text = alone.ReplaceAllStringFunc(text, func(line string) string {
		if control.MatchString(alone.FindStringSubmatch(line)[1]) {
			return ""
		}
		return in.fill(strings.Replace(line, "<<", "\"<<", 1)) + "\":"
	})
	for _, made := range w.Inline(d.At(template), in.fill(text)) {
		out = append(out, made.Node)
	}
	return out
}

// cases reports whether a template has several texts for one place: what stands there is not told from what does not.
func cases(template string) bool {
	return slices.ContainsFunc(action.FindAllStringSubmatch(template, -1), func(m []string) bool { return strings.HasPrefix(m[2], "else") })
}
