package render

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluicegate/sluice/escape"
	"github.com/sluicegate/sluice/graph"
)

// entry is a Flux Kustomization with the source that is its side's. Everything else stays as its document has it: patches, decryption, comments.
func (in Input) entry(k *graph.Kustomization, to side, windowed func(*graph.Kustomization) bool, c graph.Cluster) entry {
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
	held := windowed(k)
	if held && k.Suspend.Set() {
		drop(get(doc, "spec"), "suspend")
		out.Notes = append(out.Notes, wordSuspend)
	}
	for _, d := range sequence(get(doc, "spec", "dependsOn")) {
		on := dependency(c, k, d)
		switch {
		case on == nil || windowed(on) == held:
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
	return out
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

// dependency is the Kustomization of the cluster that an item of dependsOn names; nil: it has none of that name.
func dependency(c graph.Cluster, k *graph.Kustomization, item *yaml.Node) *graph.Kustomization {
	namespace, name := k.Namespace, text(get(item, "name"))
	if n := get(item, "namespace"); n != nil {
		namespace = text(n)
	}
	for _, other := range c.Kustomizations {
		if other.Namespace == namespace && other.Name == name {
			return other
		}
	}
	return nil
}

var errNoDocument = errors.New("no such document")

// document is the YAML of a Kustomization as it stands in its file.
func (in Input) document(k *graph.Kustomization) (*yaml.Node, error) {
	f, err := in.Tree.Open(k.File)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(f, graph.MaxFile))
	if err != nil {
		return nil, err
	}
	var found *yaml.Node
	for dec := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var doc yaml.Node
		switch err := dec.Decode(&doc); {
		case errors.Is(err, io.EOF) && found == nil:
			return nil, errNoDocument
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, err
		case len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode:
			continue
		}
		m := doc.Content[0]
		same := text(get(m, "kind")) == k.Kind && text(get(m, "metadata", "name")) == k.Name
		if !same || found != nil && m.Line > k.Line+1 {
			continue
		}
		if odd(m, 0) {
			return nil, errNoDocument
		}
		m.HeadComment = ""
		found = m
	}
}

// maxDepth is how deep a document may be; none of Flux's is near it.
const maxDepth = 50

// odd reports whether a node has what does not stand for itself: aliases, anchors, tags of its own.
func odd(n *yaml.Node, depth int) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 || depth > maxDepth {
		return true
	}
	return slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return odd(c, depth+1) })
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

// get is the value at keys of a mapping; nil: there is none.
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
	for i := 0; i+1 < len(n.Content); i += 2 {
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
