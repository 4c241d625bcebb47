package manifest

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Variables is what Flux fills in for variables in what a Kustomization makes, as far as it is known: of `substitute` and of what `substituteFrom` names.
type Variables struct {
	Values  map[string]string
	Unknown map[string]bool // that are set, and to what is not known or not shown: they are encrypted, too long, or stand in a Secret
	Open    bool            // any other variable may be set as well
	Always  bool            // Flux fills in what has no value though none of them is set

	Secret map[string]string // of Secrets, among those that are unknown
}

// none reports whether Flux would fill in nothing.
func (v *Variables) none() bool {
	return v == nil || len(v.Values)+len(v.Unknown) == 0 && !v.Open && !v.Always
}

// Expand fills variables into a text as Flux would, as far as their values are known and short; others stay as they are. A value is not looked
// at again, and where all of them together would be longer than any name or path that matters here, none is filled in.
func (v *Variables) Expand(s string) string {
	if v.none() || !strings.Contains(s, "${") || len(s) > maxExpanded {
		return s
	}
	if out := v.fill(s, 0); len(out) <= maxExpanded {
		return out
	}
	return s
}

// expandLines fills variables into a text of any length, line by line; ok is false where a line, or all of them, would be too long.
func (v *Variables) expandLines(s string) (text string, ok bool) {
	if v.none() || !strings.Contains(s, "${") {
		return s, true
	}
	var out strings.Builder
	for line := range strings.Lines(s) {
		if out.WriteString(v.Expand(line)); out.Len() > 8*len(s) || len(line) > maxExpanded && strings.Contains(line, "${") {
			return s, false
		}
	}
	return out.String(), true
}

// Expanded is how many bytes variables make of the texts of a document that have any.
func (d *Doc) Expanded() (bytes int) {
	var add func(*Node)
	add = func(n *Node) {
		if strings.Contains(n.Value, "${") {
			lines, _ := d.Vars.expandLines(n.Value) // as a patch has it
			bytes += max(len(lines), len(d.Vars.Expand(n.Value)))
		}
		for _, child := range n.Content {
			add(child)
		}
	}
	if !d.Vars.none() {
		add(d.Node)
	}
	return bytes
}

// maxExpanded is how long a text with its variables may be, and what one of them stands for, in bytes.
const maxExpanded = 4 * MaxWord

// fill fills in what stands in a text. ${X}, which nothing sets, stays too, where Flux would put nothing: a path without it leads elsewhere.
func (v *Variables) fill(s string, depth int) string {
	var out strings.Builder
	for s != "" && out.Len() <= maxExpanded {
		i := strings.IndexByte(s, '$')
		if i < 0 {
			break
		}
		out.WriteString(s[:i])
		s = s[i:]
		end := closing(s)
		switch {
		case strings.HasPrefix(s, "$${"):
			out.WriteString("${")
			s = s[3:]
		case !strings.HasPrefix(s, "${") || end < 0:
			out.WriteByte('$')
			s = s[1:]
		default:
			if value, ok := v.eval(s[2:end], depth); ok {
				out.WriteString(value)
			} else {
				out.WriteString(s[:end+1])
			}
			s = s[end+1:]
		}
	}
	out.WriteString(s)
	return out.String()
}

// closing is where the brace that a text begins with ends; -1: nowhere.
func closing(s string) int {
	open := 0
	for i := range len(s) {
		switch {
		case s[i] == '{' && i > 0 && s[i-1] == '$':
			open++
		case s[i] == '}':
			if open--; open <= 0 {
				return i
			}
		}
	}
	return -1
}

// expression takes apart what stands between the braces. What else may stand there, such as to cut or to replace, is not followed: the value is not known.
var expression = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)(=|:[-=?+]|$)((?s:.*))$`)

// eval is the value of an expression; ok is false if it is not known.
func (v *Variables) eval(text string, depth int) (value string, ok bool) {
	m := expression.FindStringSubmatch(text)
	if m == nil || depth > MaxNested {
		return "", false
	}
	value, set := v.Values[m[1]]
	if !set && (v.Unknown[m[1]] || v.Open) {
		return "", false // nobody knows whether it is set, or to what
	}
	if value == "" && m[2] != "" {
		value = v.fill(m[3], depth+1)
		return value, !strings.Contains(value, "${")
	}
	return value, set
}

// Unset is the problem of a text that still has a variable, and what it is of; without a [Problem.Variable] if it has none.
func Unset(at Place, field, text, of string) Problem {
	name := Unfilled(text)
	if name == "" {
		return Problem{}
	}
	return Problem{Place: at, Text: wordUnknown(field, text, name), Variable: name, Of: of}
}

// Unfilled is the name of the first variable that a text still has; "" if there is none.
func Unfilled(s string) string {
	_, rest, found := strings.Cut(s, "${")
	if !found {
		return ""
	}
	if in, _, open := strings.Cut(rest, ">>"); open && strings.HasPrefix(rest, "<<") {
		return in + ">>"
	}
	rest = strings.TrimPrefix(rest, "#")
	return rest[:min(len(rest), max(1, len(variableName.FindString(rest))))]
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)

// sections are fields of Flux's objects that are no texts, and that lead to something.
var sections = []string{
	"spec", "sourceRef", "postBuild", "substitute", "substituteFrom", "components", "patches", "patchesStrategicMerge", "patchesJson6902", "decryption", "kubeConfig",
	"secretRef", "configMapRef", "certSecretRef", "proxySecretRef", "chartRef", "valuesFrom", "valuesFiles", "ref", "include", "repository", "sparseCheckout", "verify",
	"sources", "artifacts", "copy", "values", "postRenderers", "commonMetadata", "recurseSubmodules", "inputs", "inputsFrom",
}

// lists are the sections that are lists of others, not of texts.
var lists = []string{"postBuild", "substituteFrom", "patches", "patchesJson6902", "valuesFrom", "include", "sources", "artifacts", "copy", "inputs", "inputsFrom", "resources"}

// references are the sections in which a kind, an alias or a path leads to something, and leads is what these are called.
var (
	references = []string{"sourceRef", "chartRef", "substituteFrom", "valuesFrom", "sources", "copy", "include"}
	leads      = []string{"kind", "alias", "from", "to", "strategy", "fromPath", "toPath"}
)

// Refilled is a document with what variables make of it that is more than a text: Flux fills them into YAML, and reads that again. What it may have by one
// whose value is not known is a problem.
func (w *Work) Refilled(d *Doc, of string) *Doc {
	out := d
	if !d.Vars.none() {
		variables := d.Variables(true)
		if len(variables) == 0 || w.Spent(0, d.Nodes) {
			return d
		}
		out = d.Copy()
		out.filled = variables
		w.refill(out.Vars, out.Node)
		out.Weigh()
	} else if At(d.Node, keySOPS) == nil {
		return d
	}
	w.Doubts(out, of)
	return out
}

// Doubts says what a document may have by a variable without a value that is more than a text.
func (w *Work) Doubts(d *Doc, of string) {
	group := GroupOf(d.Node)
	flux := strings.Contains(group, ".toolkit.fluxcd.io") || group == GroupArtifacts
	for _, key := range []string{"apiVersion", "kind"} {
		if n := At(d.Node, key); n != nil && (flux || group == "" || Unfilled(group) != "") { // it may be anything that is read
			if p := Unset(d.At(n), key, d.Text(key), ""); p.Variable != "" {
				w.Note(p)
			}
		}
	}
	if flux {
		w.open(d, d.Node, "", of)
	}
}

// open says where in a section of a document, under a key, a variable without a value may be more than a text.
func (w *Work) open(d *Doc, n *Node, in, of string) {
	for i, child := range n.Content {
		key := child
		if n.Kind == MappingNode && i%2 == 1 {
			key = n.Content[i-1]
		}
		field := key.Value
		if n.Kind == SequenceNode {
			field = "one of " + in
		} else if key == child {
			field = "a key"
		}
		switch p := Unset(d.At(child), field, child.Value, of); {
		case child.Kind == ScalarNode && strings.HasPrefix(unclosed(child.Value), "${"):
			w.Note(Problem{Place: d.At(child), Text: wordUnknown(field, child.Value, "what ends it"), Variable: "${", Of: d.titleOr(of)})
		case child.Kind != ScalarNode:
			within := key.Value
			if n.Kind == SequenceNode {
				within = in
			}
			if within != "metadata" && within != "commonMetadata" && within != "substitute" {
				w.open(d, child, within, of)
			} else {
				w.openKeys(d, child, of)
			}
		case n.Kind == SequenceNode && p.Variable != "" && (strings.HasPrefix(child.Value, "${<<") && slices.Contains(sections, in) || slices.Contains(lists, in)):
			p.Of = d.titleOr(of)
			w.Note(p)
		case p.Variable != "" && n.Kind == MappingNode && (key == child || slices.Contains(sections, key.Value) || key.Value == "chart" && in == "spec" && At(n, "sourceRef") == nil || slices.Contains(references, in) && slices.Contains(leads, key.Value)):
			p.Of = d.titleOr(of)
			w.Note(p)
		}
	}
}

// openKeys says where in a section whose keys are anybody's a key has a variable without a value: it may be one that decides something.
func (w *Work) openKeys(d *Doc, n *Node, of string) {
	for i, child := range n.Content {
		if p := Unset(d.At(child), "a key", child.Value, d.titleOr(of)); n.Kind == MappingNode && i%2 == 0 && p.Variable != "" {
			w.Note(p)
		}
		w.openKeys(d, child, of)
	}
}

// titleOr is what a Flux Kustomization is called; what is given for another object, and of a source nothing: it is for whatever reads it.
func (d *Doc) titleOr(of string) string {
	switch group := GroupOf(d.Node); {
	case group == GroupSource, group == GroupArtifacts:
		return ""
	case d.Text("kind") == "Kustomization":
		return d.Text("metadata", "namespace") + "/" + d.Text("metadata", "name")
	}
	return of
}

// unclosed is what of a text is the beginning of a variable that does not end there; Flux may find the end in another one.
func unclosed(s string) string {
	for i := strings.Index(s, "${"); i >= 0; i = strings.Index(s, "${") {
		s = s[i:]
		end := closing(s)
		if end < 0 {
			return s
		}
		s = s[end:]
	}
	return ""
}

// refill fills variables in where they are a key, or where what they make of a text is no text as it stands there.
func (w *Work) refill(v *Variables, n *Node) {
	for i, child := range n.Content {
		text := v.Expand(child.Value)
		switch {
		case child.Kind != ScalarNode:
			w.refill(v, child)
		case text == child.Value || strings.Contains(text, "\n"):
		case n.Kind == MappingNode && i%2 == 0:
			key := *child
			key.Value = text
			n.Content[i] = &key
		default:
			was, is := bare(n, child.Value), bare(n, text)
			if nodes, _ := weight(is); w.Spent(1, nodes) {
				return
			}
			if was != nil && was.Value == child.Value && is != nil && (is.Kind != ScalarNode || is.Value != text || is.Tag == "!!null") {
				relined(is, int(child.Line))
				n.Content[i] = is
			}
		}
	}
}

// bare is what a text is that stands in a section or a list without quotes; nil: no YAML.
func bare(in *Node, text string) *Node {
	before := "k: "
	if in.Kind == SequenceNode {
		before = "k:\n- "
	}
	root, err := ParseDocument([]byte(before + text))
	n := At(root, "k")
	if n != nil && in.Kind == SequenceNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	if err != nil || n == nil {
		return nil
	}
	return n
}

// Apart is what an object says by which Flux may not apply it as it is written; "": nothing. In spec.commonMetadata it says so of what it applies.
func (d *Doc) Apart(in ...string) string {
	for _, says := range [][2]string{{GroupKustomize + "/reconcile", "disabled"}, {GroupOperator + "/reconcile", "disabled"}, {GroupKustomize + "/ssa", "Ignore"}, {GroupKustomize + "/ssa", "IfNotPresent"}} {
		for _, section := range []string{"annotations", "labels"} {
			text := d.Text(append(slices.Clone(in), section, says[0])...)
			if strings.EqualFold(text, says[1]) || Unfilled(text) != "" {
				return says[0] + ": " + Printable(text)
			}
		}
	}
	return ""
}

// Disabled reports whether an object says that nothing is to be filled in.
func (d *Doc) Disabled() bool {
	const key = GroupKustomize + "/substitute"
	return Scalar(At(d.Node, "metadata", "annotations", key)) == "disabled" || Scalar(At(d.Node, "metadata", "labels", key)) == "disabled"
}

// Encrypted reports whether a value is what SOPS makes of one.
func Encrypted(value string) bool { return strings.HasPrefix(value, sopsText) }

// encrypted is how such a variable begins.
const encrypted = "${encrypted["

// keySOPS is what a document has that SOPS has encrypted some of, once it was built; sopsText is how a text of it begins.
const (
	keySOPS  = "sops"
	sopsText = "ENC["
)

// sealed makes of each text of a document that is encrypted one with a variable that nothing sets. Of a ConfigMap or a Secret single values are hidden.
func sealed(root *Node) {
	if root == nil {
		return
	}
	plain := (&Doc{Node: root}).Plain()
	var seal func(n *Node)
	seal = func(n *Node) {
		if n.Kind == ScalarNode && Encrypted(n.Value) {
			n.Value = encrypted + hashOf([]byte(n.Value))[:16] + "]}"
		}
		for i, child := range n.Content {
			if n != root || i%2 == 0 || !plain || n.Content[i-1].Value != "data" && n.Content[i-1].Value != "stringData" {
				seal(child)
			}
		}
	}
	seal(root)
}

// decoded is a value of a Secret's data.
func decoded(value string) (string, bool) {
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value))
	return string(text), err == nil && utf8.Valid(text) && !slices.Contains(text, 0)
}

// Values is what a ConfigMap or Secret says: hidden is the keys of what is encrypted, or no text, and unread says that there may be others.
func (d *Doc) Values() (out map[string]string, hidden map[string]bool, unread bool) {
	out, hidden, unread = map[string]string{}, map[string]bool{}, At(d.Node, keyUnread) != nil || d.Vague
	open := false // the name of one is not known
	read := func(section string, decode bool) {
		n := unpacked(At(d.Node, section))
		if n == nil || n.Kind != MappingNode {
			unread = unread || Unfilled(Scalar(n)) != ""
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			open = open || Unfilled(n.Content[i].Value) != ""
			key, value, ok := n.Content[i].Value, d.Vars.Expand(Scalar(n.Content[i+1])), true
			if decode {
				value, ok = decoded(value)
			}
			if delete(out, key); !ok || Encrypted(value) || n.Content[i+1].Tag == tagLong || strings.Contains(value, "${") {
				hidden[key] = true
				continue
			}
			delete(hidden, key)
			out[key] = value
		}
	}
	read("data", d.Text("kind") == "Secret")
	read("stringData", false)
	if open { // it may be called as one of the others
		for key := range out {
			hidden[key] = true
		}
		clear(out)
	}
	return out, hidden, unread || open
}
