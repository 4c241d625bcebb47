package render

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/escape"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
)

// entry is a Flux Kustomization with the source that is its side's. Everything else stays as its document has it: patches, decryption, comments.
func (in drawing) entry(k *graph.Kustomization, to *side, around surrounding) (entry, error) {
	out := entry{Name: k.Name, Namespace: k.Namespace, Place: k.String()}
	doc, err := in.document(k)
	switch {
	case assumed(k):
		doc, out.Notes = made(k), []string{wordAssumed}
	case err != nil:
		doc, out.Notes = made(k), []string{wordMade}
	}
	// What stands there stays, with its variables: another cluster may share it, and patches come after it.
	if get(doc, "metadata", "namespace") == nil {
		put(doc, k.Namespace, "metadata", "namespace")
	}
	if get(doc, "spec", "path") == nil {
		put(doc, "./"+strings.TrimPrefix(k.Path, "."), "spec", "path")
	}
	if r := k.SourceRef; r.Kind != "GitRepository" || r.Name != to.Name || cmp.Or(r.Namespace, k.Namespace) != to.Namespace || get(doc, "spec", "sourceRef") == nil {
		put(doc, "GitRepository", "spec", "sourceRef", "kind")
		put(doc, to.Name, "spec", "sourceRef", "name")
		if to.Namespace != k.Namespace || get(doc, "spec", "sourceRef", "namespace") != nil {
			put(doc, to.Namespace, "spec", "sourceRef", "namespace")
		}
	}
	held := around.held[k] != nil
	if held && k.Suspend.Set() {
		drop(get(doc, "spec"), "suspend")
		out.Notes = append(out.Notes, wordSuspend)
	}
	for _, d := range sequence(get(doc, "spec", "dependsOn")) {
		on := around.dependency(k, d)
		switch {
		case on == nil || (around.held[on] != nil) == held:
		case held && get(d, "readyExpr") == nil:
			put(d, "has(dep.status.lastAppliedRevision)", "readyExpr")
			out.Notes = append(out.Notes, wordReady)
		case !held:
			out.Notes = append(out.Notes, wordWaits(id(k), id(on)))
		}
	}
	slices.Sort(out.Notes)
	out.Notes = slices.Compact(out.Notes)
	if out.Text, err = written(doc); err != nil {
		out.Notes = append(out.Notes, "It cannot be written: "+err.Error())
	}
	// it is counted, too, and written
	return out, in.charge(out.Place, 1, 4, 4*len(out.Text))
}

// written is a document as YAML, without a last line break. What somebody would obey, or would not see, stands between quotes.
func written(doc *yaml.Node) (string, error) {
	show(doc)
	var b strings.Builder
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(doc), enc.Close()); err != nil {
		return "", err
	}
	return escape.Quoted(strings.TrimSuffix(b.String(), "\n")), nil
}

// show puts between quotes what is not printed as it stands; comments are made to be.
func show(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && !escape.Shows(n.Value) {
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, c := range []*string{&n.HeadComment, &n.LineComment, &n.FootComment} {
		lines := strings.Split(*c, "\n")
		for i := range lines {
			lines[i] = escape.Text(lines[i])
		}
		*c = strings.Join(lines, "\n")
	}
	for _, c := range n.Content {
		show(c)
	}
}

// surrounding is the Kustomizations of a cluster: by ID, the first of each, and those that a branch holds.
type surrounding struct {
	byID map[string]*graph.Kustomization
	held map[*graph.Kustomization]*config.Branch
}

// dependency is the Kustomization of the cluster that an item of dependsOn names; nil: it has none of that name.
func (s surrounding) dependency(k *graph.Kustomization, item *yaml.Node) *graph.Kustomization {
	namespace := k.Namespace
	if n := get(item, "namespace"); n != nil {
		namespace = text(n)
	}
	return s.byID[namespace+"/"+text(get(item, "name"))]
}

var errNoDocument = errors.New("no such document")

// manuscripts is the documents of files that were looked through, each file once: as text, which takes a hundredth of what it takes parsed.
type manuscripts map[string]manuscript

// manuscript is the documents of one file, and of one kind.
type manuscript struct {
	docs map[string][]passage // by name, in their order
	err  error
}

// passage is where a document stands, and its text.
type passage struct {
	line int
	text string
}

// document is the YAML of a Kustomization as it stands in its file. What follows it in its passage is not looked at.
func (in drawing) document(k *graph.Kustomization) (*yaml.Node, error) {
	m, ok := in.manuscripts[k.File+"\x00"+k.Kind]
	if !ok {
		m = in.manuscript(k.File, k.Kind)
		in.manuscripts[k.File+"\x00"+k.Kind] = m
	}
	all := m.docs[k.Name]
	if m.err != nil || len(all) == 0 {
		return nil, cmp.Or(m.err, errNoDocument)
	}
	after, _ := slices.BinarySearchFunc(all, k.Line+2, func(p passage, line int) int { return cmp.Compare(p.line, line) })
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(all[max(after-1, 0)].text), &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode || odd(doc.Content[0], 0) ||
		text(get(doc.Content[0], "kind")) != k.Kind || text(get(doc.Content[0], "metadata", "name")) != k.Name {
		return nil, errNoDocument
	}
	doc.Content[0].HeadComment = ""
	return doc.Content[0], nil
}

// manuscript looks through a file for the documents of a kind.
func (in Input) manuscript(file, kind string) manuscript {
	data, err := kustomize.ReadFile(in.Tree, file, manifest.MaxFile)
	if err != nil {
		return manuscript{err: err}
	}
	// its text, its lines, and its passages
	if err := in.charge(file, 1+len(data)>>10, bytes.Count(data, []byte("\n"))/8, 2*len(data)); err != nil {
		return manuscript{err: err}
	}
	out := manuscript{docs: map[string][]passage{}}
	lines := linesOf(string(data))
	var names []string // of the passages so far
	var found []passage
	for dec := yaml.NewDecoder(reading{in.Clusters[0].Meter().Context(), bytes.NewReader(data)}); ; {
		var doc yaml.Node
		err := cmp.Or(in.charge(file, 1, 1, 0), dec.Decode(&doc))
		if err != nil && !errors.Is(err, io.EOF) {
			return manuscript{err: err}
		}
		end := len(lines)
		if err == nil && len(doc.Content) > 0 {
			end = begin(lines, doc.Content[0].Line-1)
		}
		if err != nil || len(doc.Content) > 0 {
			if n := len(found) - 1; n >= 0 && found[n].text == "" {
				found[n].text = strings.Join(lines[begin(lines, found[n].line-1):end], "")
			}
		}
		if err != nil {
			break
		}
		if len(doc.Content) > 0 && text(get(doc.Content[0], "kind")) == kind {
			names, found = append(names, text(get(doc.Content[0], "metadata", "name"))), append(found, passage{line: doc.Content[0].Line})
		}
	}
	for i, name := range names {
		out.docs[name] = append(out.docs[name], found[i])
	}
	return out
}

// reading is what can be read until a context ends.
type reading struct {
	ctx  context.Context
	from io.Reader
}

// Read implements io.Reader.
func (r reading) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// linesOf is the lines of a text, with their ends: what YAML 1.1 takes for one, by which its parser counts.
func linesOf(text string) (lines []string) {
	for len(text) > 0 {
		end := strings.IndexAny(text, "\r\n\u0085\u2028\u2029")
		if end < 0 {
			return append(lines, text)
		}
		_, n := utf8.DecodeRuneInString(text[end:])
		if strings.HasPrefix(text[end:], "\r\n") {
			n = 2
		}
		lines, text = append(lines, text[:end+n]), text[end+n:]
	}
	return lines
}

// begin is where the comments above a line begin.
func begin(lines []string, at int) int {
	at = min(at, len(lines)) // fail closed: another document is no Kustomization of that name
	for at > 0 && strings.HasPrefix(lines[at-1], "#") {
		at--
	}
	return at
}

// maxDepth is how deep a document may be; none of Flux's is near it.
const maxDepth = 50

// odd reports whether a node has what does not stand for itself: aliases, anchors, tags of its own; or a key twice, of which kustomize builds nothing.
func odd(n *yaml.Node, depth int) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 || depth > maxDepth {
		return true
	}
	keys := map[string]bool{}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			keys[c.Value] = true
		}
		if odd(c, depth+1) {
			return true
		}
	}
	return n.Kind == yaml.MappingNode && 2*len(keys) < len(n.Content)
}

// made is a Kustomization from what is known of it.
func made(k *graph.Kustomization) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode}
	put(out, "kustomize.toolkit.fluxcd.io/v1", "apiVersion")
	put(out, "Kustomization", "kind")
	put(out, k.Name, "metadata", "name")
	put(out, duration(k.Interval, "10m"), "spec", "interval")
	put(out, "1m", "spec", "retryInterval")
	put(out, duration(k.Timeout, "3m"), "spec", "timeout")
	for _, key := range []string{"prune", "wait"} {
		put(out, "", "spec", key)
		*get(out, "spec", key) = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"}
	}
	return out
}

// get is the value at keys of a mapping; nil: there is none. What is written again has its comments and its form, so it is the library's nodes,
// not those that graph keeps; of a key that stands twice the last counts for both, as for kustomize in a kustomization.yaml.
func get(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		i := index(n, key)
		if i < 0 {
			return nil
		}
		n = n.Content[i+1]
	}
	return n
}

// index is where a key of a mapping stands; -1: nowhere.
func index(n *yaml.Node, key string) int {
	if n == nil || n.Kind != yaml.MappingNode {
		return -1
	}
	for i := len(n.Content) - 2; i >= 0; i -= 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// put sets the text at keys, with the mappings that lead there. What stands there already as that text keeps its form.
func put(n *yaml.Node, value string, keys ...string) {
	for _, key := range keys {
		i := index(n, key)
		if i < 0 {
			if n.Kind != yaml.MappingNode {
				*n = yaml.Node{Kind: yaml.MappingNode}
			}
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"})
			i = len(n.Content) - 2
		}
		n = n.Content[i+1]
	}
	if text(n) != value {
		n.SetString(value)
		n.Tag, n.Style, n.Content = "!!str", 0, nil
	}
}

// drop takes a key out of a mapping.
func drop(n *yaml.Node, key string) {
	if i := index(n, key); i >= 0 {
		n.Content = slices.Delete(n.Content, i, i+2)
	}
}

// text is a scalar's; "" of anything else.
func text(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// sequence is the items of a list.
func sequence(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}
