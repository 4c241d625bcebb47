package manifest

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"
)

// filler fills in a template of Go as the Flux Operator does, as far as the values are known. It runs nothing of the template: what is not known, such as
// what a function gives, is a variable that nothing sets, and of several cases that are not told apart each counts.
type filler struct {
	*Work
	file   string
	parsed map[string]*parse.ListNode // by text; nil: it is no template
	inputs *Node                      // nil: nothing is known of them
	name   string                     // by which what is not known of these inputs is told from what is not known of others
	lines  bool                       // some of these are texts of several lines
	scope  []variable
	dot    *Node
	out    []byte
	loose  bool // what was filled in last may be other fields, objects or documents than stand there
	cases  bool // it has some of which it is not known which are there
}

// variable is one of a template; a nil value is not known.
type variable struct {
	name  string
	value *Node
}

// fill is a text, filled in.
func (f *filler) fill(text string) string {
	if !strings.Contains(text, "<<") {
		return text
	}
	list, known := f.parsed[text]
	if !known {
		if f.Spent(1+len(text)>>6, len(text)>>5) {
			return text
		}
		tree, all := parse.New(templateName), map[string]*parse.Tree{}
		tree.Mode = parse.SkipFuncCheck
		if _, err := tree.Parse(text, "<<", ">>", all); err == nil && !jumps.MatchString(text) && all[templateName] != nil {
			list = all[templateName].Root
		}
		f.parsed[text] = list
	}
	f.out, f.scope, f.dot, f.loose, f.cases = f.out[:0], nil, nil, list == nil, false
	if list == nil {
		return f.unknown(text)
	}
	f.list(list)
	return string(f.out)
}

// templateName is what the operator calls a template.
const templateName = "resourceset"

// unknown is the variable that stands for an expression.
func (f *filler) unknown(expression string) string {
	shown := strings.Join(shownIn.FindAllString(expression[:min(len(expression), 60)], -1), " ")
	return "${<<" + shown + ">>#" + hashOf([]byte(f.name + "\x00" + expression))[:8] + "}"
}

var (
	shownIn = regexp.MustCompile(`[\w.$|-]+`)
	jumps   = regexp.MustCompile(`<<-?\s*(?:break|continue)\b`)
	// indented is how deep the lines of an expression stand, and whether they begin on a line of their own.
	indented = regexp.MustCompile(`\b(n?)indent (\d{1,2})`)
)

// list fills in what stands one behind the other.
func (f *filler) list(l *parse.ListNode) {
	if l == nil {
		return
	}
	for i, n := range l.Nodes {
		if len(f.out) > MaxDoc || f.Spent(1, 0) {
			f.loose = true
			return
		}
		last := i+1 == len(l.Nodes)
		alone := last || begins(l.Nodes[i+1], "\n")
		switch n := n.(type) {
		case *parse.TextNode:
			f.write(string(n.Text))
		case *parse.ActionNode:
			v := f.pipe(n.Pipe)
			if len(n.Pipe.Decl) > 0 {
				f.set(n.Pipe, v)
				continue
			}
			if text, ok := shows(v); ok {
				f.write(text)
				continue
			}
			f.open(n.Pipe.String(), alone)
		case *parse.IfNode:
			f.branch(&n.BranchNode, false, last || begins(l.Nodes[i+1], "\n---"))
		case *parse.WithNode:
			f.branch(&n.BranchNode, true, last || begins(l.Nodes[i+1], "\n---"))
		case *parse.RangeNode:
			f.each(n, last || begins(l.Nodes[i+1], "\n---"))
		case *parse.TemplateNode:
			f.open(n.String(), alone)
		}
	}
}

// begins reports whether a node is a text that begins with something, blanks apart.
func begins(n parse.Node, with string) bool {
	text, ok := n.(*parse.TextNode)
	return ok && strings.HasPrefix(strings.TrimLeft(string(text.Text), " \t\r"), with)
}

// open writes what is not known: on lines of its own it may be any fields, which are a key with a variable.
func (f *filler) open(expression string, last bool) {
	p := f.unknown(expression)
	line := string(f.out[bytes.LastIndexByte(f.out, '\n')+1:])
	depth := indented.FindStringSubmatch(expression)
	switch alone := last && strings.TrimSpace(line) == ""; {
	case depth != nil && (alone || depth[1] != ""):
		n, _ := strconv.Atoi(depth[2])
		f.write("\n" + strings.Repeat(" ", n) + `"` + p + `":`)
	case alone:
		f.write(`"` + p + `":`)
	default:
		f.write(p)
	}
	f.loose = f.loose || depth == nil && (several.MatchString(expression) || f.lines && strings.Contains(expression, " "))
}

// several is what gives texts of several lines.
var several = regexp.MustCompile(`toYaml|toPrettyJson|\\n`)

// branch fills in one of two cases, or where it is not known which both. whole reports whether a document ends where it does.
func (f *filler) branch(b *parse.BranchNode, with, whole bool) {
	scope, was, before := len(f.scope), f.dot, len(f.out)
	v := f.pipe(b.Pipe)
	f.set(b.Pipe, v)
	is, known := truth(v)
	inner := len(f.scope)
	if !known || is {
		if with {
			f.dot = v
		}
		f.list(b.List)
	}
	if f.scope, f.dot = f.scope[:inner], was; !known || !is {
		f.list(b.ElseList)
	}
	if f.scope = f.scope[:scope]; !known {
		f.either(before, "if "+b.Pipe.String(), b.ElseList != nil, whole)
	}
}

// either says of what was written from somewhere on that it is not known whether, or which of it, is there: beside lines stands a key with a variable, in place
// of a part of a line a variable. Whole documents are all there.
func (f *filler) either(before int, expression string, other, whole bool) {
	both := string(f.out[before:])
	if f.cases = true; f.Spent(1+len(both)>>6, 0) {
		return
	}
	text, p := strings.TrimLeft(both, "\n"), f.unknown(expression+both)
	documents := strings.HasPrefix(text, "---") || strings.HasPrefix(both, "\napiVersion:") && strings.Contains(both, "\nkind:")
	switch {
	case !strings.Contains(both, "\n"):
		f.out = append(f.out[:before], p...)
	case documents && whole && (!other || strings.Contains(both, "\n---")):
	default:
		f.loose = f.loose || strings.Contains("\n"+both, "\n---")
		line := text[:len(text)-len(strings.TrimLeft(text, " "))] + `"` + p + `":` + "\n"
		if item := strings.TrimLeft(text, " "); strings.HasPrefix(item, "- ") {
			line = text[:len(text)-len(item)] + `- "` + p + `"` + "\n"
		}
		f.write("\n" + line)
	}
}

func (f *filler) write(text string) { f.out = append(f.out, text...) }

// each fills in what stands there for each of a list or section; once where that is not known.
func (f *filler) each(r *parse.RangeNode, whole bool) {
	scope, was, before := len(f.scope), f.dot, len(f.out)
	v := f.pipe(r.Pipe)
	if r.Pipe.IsAssign {
		f.set(r.Pipe, nil)
	}
	keys, items := []*Node{nil}, []*Node{nil}
	is, known := truth(v)
	if known = known && v.Kind != ScalarNode; known {
		keys, items = entries(v)
	}
	for i, item := range items {
		if f.Spent(1, 0) {
			return
		}
		f.dot = item
		for n, d := range r.Pipe.Decl {
			value := item
			if n+1 < len(r.Pipe.Decl) {
				value = keys[i]
			}
			f.scope = append(f.scope, variable{d.Ident[0], value})
		}
		f.list(r.List)
		f.scope, f.dot = f.scope[:scope], was
	}
	if !known || !is {
		for _, d := range r.Pipe.Decl {
			f.scope = append(f.scope, variable{d.Ident[0], nil})
		}
		f.list(r.ElseList)
		f.scope = f.scope[:scope]
	}
	if !known {
		f.either(before, "range "+r.Pipe.String(), r.ElseList != nil, whole)
	}
}

// entries is the keys and values of a list, or of a section by its keys.
func entries(n *Node) (keys, values []*Node) {
	if n.Kind == SequenceNode {
		for i := range n.Content {
			keys = append(keys, &Node{Tag: "!!int", Value: strconv.Itoa(i)})
		}
		return keys, n.Content
	}
	under := map[string]*Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		under[n.Content[i].Value] = n.Content[i+1]
	}
	for _, key := range SortedKeys(under) {
		keys, values = append(keys, &Node{Tag: "!!str", Value: key}), append(values, under[key])
	}
	return keys, values
}

// set sets the variable that a pipeline declares, or changes it. What changes in a case that may not be is not known.
func (f *filler) set(p *parse.PipeNode, v *Node) {
	for _, d := range p.Decl {
		if !p.IsAssign {
			f.scope = append(f.scope, variable{d.Ident[0], v})
			continue
		}
		for i := range f.scope {
			if f.scope[i].name == d.Ident[0] {
				f.scope[i].value = nil
			}
		}
	}
}

// pipe is the value of a pipeline; nil: it is not known.
func (f *filler) pipe(p *parse.PipeNode) *Node {
	var v *Node
	for i, c := range p.Cmds {
		args := c.Args
		fn, called := args[0].(*parse.IdentifierNode)
		if called = called && fn.Ident != "inputs"; !called {
			if len(args) != 1 || i > 0 {
				return nil
			}
			v = f.operand(args[0])
			continue
		}
		var values []*Node
		for _, a := range args[1:] {
			values = append(values, f.operand(a))
		}
		if i > 0 {
			values = append(values, v)
		}
		v = call(fn.Ident, values)
	}
	return v
}

// operand is the value of one word.
func (f *filler) operand(n parse.Node) *Node {
	switch n := n.(type) {
	case *parse.StringNode:
		return &Node{Tag: "!!str", Value: n.Text}
	case *parse.NumberNode: // which is no number of JSON, and compared with none
		return &Node{Tag: "!!number", Value: n.Text}
	case *parse.BoolNode:
		return &Node{Tag: "!!bool", Value: strconv.FormatBool(n.True)}
	case *parse.IdentifierNode:
		if n.Ident == "inputs" {
			return f.inputs
		}
	case *parse.PipeNode:
		return f.pipe(n)
	case *parse.DotNode:
		return f.dot
	case *parse.FieldNode:
		return under(f.dot, n.Ident)
	case *parse.ChainNode:
		return under(f.operand(n.Node), n.Field)
	case *parse.VariableNode:
		for _, v := range slices.Backward(f.scope) {
			if v.name == n.Ident[0] {
				return under(v.value, n.Ident[1:])
			}
		}
	}
	return nil
}

// under is what stands under keys of a value.
func under(n *Node, keys []string) *Node {
	for _, key := range keys {
		if n == nil || n.Kind != MappingNode {
			return nil
		}
		n = At(n, key)
	}
	return n
}

// call is what a function gives, as far as that is simple; nil: it is not known.
func call(name string, args []*Node) *Node {
	if slices.Contains(args, nil) || len(args) == 0 {
		return nil
	}
	boolean := func(is bool) *Node { return &Node{Tag: "!!bool", Value: strconv.FormatBool(is)} }
	last := args[len(args)-1]
	text, isText := shows(last)
	is, known := truth(last)
	switch name {
	case "quote":
		if isText && len(args) == 1 {
			return &Node{Tag: "!!str", Value: strconv.Quote(text)}
		}
	case "lower", "slugify", "trim", "toString":
		if isText && len(args) == 1 && len(text) < 64 && plainName.MatchString(text) { // which stays as it is
			return &Node{Tag: "!!str", Value: text}
		}
	case "printf":
		parts := strings.Split(args[0].Value, "%s")
		for i, a := range args[1:] {
			text, ok := shows(a)
			if !ok || a.Tag != "!!str" || len(parts) != len(args) || strings.Contains(args[0].Value, "%%") {
				return nil
			}
			parts[i] += text
		}
		if text := strings.Join(parts, ""); !strings.Contains(args[0].Value, "%%") && strings.Count(args[0].Value, "%") == len(parts)-1 {
			return &Node{Tag: "!!str", Value: text}
		}
	case "eq", "ne":
		first, ok := shows(args[0])
		equal := false
		for _, a := range args[1:] {
			text, shown := shows(a)
			ok = ok && shown && args[0].Tag == a.Tag
			equal = equal || text == first
		}
		if ok && (len(args) == 2 || name == "eq" && len(args) > 2) {
			return boolean(equal == (name == "eq"))
		}
	case "not", "empty":
		if known && len(args) == 1 {
			return boolean(!is)
		}
	case "and", "or":
		for _, a := range args {
			switch does, sure := truth(a); {
			case !sure:
				return nil
			case does == (name == "or"):
				return a
			}
		}
		return last
	case "default":
		if known && len(args) == 2 {
			return cmp.Or(map[bool]*Node{true: last}[is], args[0])
		}
	}
	return nil
}

// plainName is what an object may be called.
var plainName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// shows is how a template shows a value, if that is known.
func shows(n *Node) (string, bool) {
	if n == nil || n.Kind != ScalarNode || len(n.Value) > MaxDoc>>4 {
		return "", false
	}
	switch n.Tag {
	case "!!str":
		return n.Value, true
	case "!!bool", "!!int":
		return n.Value, asShown.MatchString(n.Value)
	}
	return "", false
}

var (
	// asShown is numbers that are shown as they are written: those of JSON have a fraction, and larger ones an exponent.
	asShown = regexp.MustCompile(`^(?:0|-?[1-9][0-9]{0,5}|true|false)$`)
	// ambiguous is texts that YAML once took for true or false, as Flux and kustomize do, unless they stand in quotes.
	ambiguous = regexp.MustCompile(`^(?i:y|yes|n|no|on|off)$`)
)

// truth is whether a template takes a value as true.
func truth(n *Node) (is, known bool) {
	if n != nil && n.Kind != ScalarNode {
		return len(n.Content) > 0, n.Kind != packedNode
	}
	text, ok := shows(n)
	switch {
	case n != nil && n.Tag == "!!str":
		return n.Value != "", true
	case !ok:
		return false, n != nil && n.Tag == "!!null"
	}
	return text != "0" && text != "false", true
}
