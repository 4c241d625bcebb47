package manifest

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

const (
	tagLong   = "!long" // of a value that was not kept
	keyUnread = "\x00"  // a key that says that there may be others
	// KeyObjects says that values may hold whole objects, of any namespace.
	KeyObjects = "\x00objects" // the names of ConfigMaps and Secrets among them, and how values call what the chart makes
	// KeyNamespaces is the namespaces that a HelmRelease says for what its chart makes: "*" is any.
	KeyNamespaces = "\x00namespaces"
	// KeyFlux says that values lead to Flux objects.
	KeyFlux = "\x00flux"
)

var (
	// plainKind finds what a ConfigMap or Secret begins its kind with, other the kinds of what must be read whole.
	plainKind = regexp.MustCompile(`(?m)^kind:[ \t]+["']?(?:ConfigMap|Secret)["']?[ \t\r]*(?:#.*)?$`)
	other     = regexp.MustCompile(`(?m)^[^ \t#]*kind["']?[ \t]*:[ \t]*["']?(?:[^CS"' \t]|C[^o]|S[^e])`)
	// heads is the lines at which the sections of a ConfigMap begin that are kept of a large one.
	heads = regexp.MustCompile(`^(?:apiVersion|kind|metadata)[ \t]*:`)
)

// Generator makes a ConfigMap or a Secret of files.
type Generator struct {
	File    string // the kustomization.yaml
	Loads   []KeyedFile
	Envs    []string
	Files   []string // all of them
	Literal []string

	Behavior string     // merge and replace change what is there already
	Before   *Generator // that it changes
}

// KeyedFile is a file that becomes the value of a key.
type KeyedFile struct{ Key, File string }

// Makes reports whether operators make Secrets or ConfigMaps of objects of a kind, as far as its name says so.
func Makes(kind string) bool {
	switch kind {
	case "Secret":
		return false
	case "Certificate", "OnePasswordItem", "SecretProviderClass", "Bundle":
		return true
	}
	return strings.HasSuffix(kind, "Secret")
}

// shortTexts puts hashes in place of texts that are longer than any name.
func shortTexts(n *Node) {
	if len(n.Value) > MaxWord {
		n.Value = hashOf([]byte(n.Value))
	}
	for _, child := range n.Content {
		shortTexts(child)
	}
}

// Says reports whether a text of a document is this one, or may be by a variable without a value under a key that ends in a field, name or namespace. Of its metadata that field
// counts alone, and a namespace is no name.
func (d *Doc) Says(word, field string) bool {
	var is func(n *Node, key string) bool
	is = func(n *Node, key string) bool {
		if n.Kind == ScalarNode {
			text, key := d.Vars.Expand(n.Value), strings.ToLower(key)
			other := field != "namespace" && strings.HasSuffix(key, "namespace")
			return text == word && !other || strings.HasSuffix(key, field) && key != "commonname" && MayBe(text, word)
		}
		for i, child := range n.Content {
			in := key
			if n.Kind == MappingNode && i%2 == 1 {
				in = n.Content[i-1].Value
			}
			if is(child, in) {
				return true
			}
		}
		return false
	}
	for i := 0; i+1 < len(d.Node.Content); i += 2 {
		key, n := d.Node.Content[i].Value, d.Node.Content[i+1]
		if key == "metadata" {
			key, n = field, At(n, field)
		}
		if n != nil && is(n, key) {
			return true
		}
	}
	return false
}

// MayBe reports whether two names may be one: what stands in the place of a variable without a value, or of a star, may be anything.
func MayBe(name, other string) bool {
	begins, ends, open := constant(name)
	first, last, wide := constant(other)
	switch {
	case name == "" || other == "":
		return false
	case !open && !wide:
		return name == other
	case !open:
		return strings.HasPrefix(name, first) && strings.HasSuffix(name, last)
	case !wide:
		return strings.HasPrefix(other, begins) && strings.HasSuffix(other, ends)
	}
	return (strings.HasPrefix(begins, first) || strings.HasPrefix(first, begins)) && (strings.HasSuffix(ends, last) || strings.HasSuffix(last, ends))
}

// constant is what a name begins and ends with, before and behind what is not known of it.
func constant(name string) (begins, ends string, open bool) {
	from := strings.IndexAny(name, "$*")
	if from < 0 {
		return name, name, false
	}
	return name[:from], name[strings.LastIndexAny(name, "$*}")+1:], true
}

// Copied reports whether a controller is told, by annotations of an object or of what is made of it, to copy something into it.
func (d *Doc) Copied() bool {
	for _, in := range [][]string{{"metadata"}, {"spec", "template", "metadata"}, {"spec", "target", "template", "metadata"}} {
		if notes := At(d.Node, append(slices.Clone(in), "annotations")...); notes != nil {
			for _, n := range notes.Content {
				if strings.Contains(n.Value, "replicat") || strings.Contains(n.Value, "reflect") {
					return true
				}
			}
		}
	}
	return false
}

// Plain reports whether a document is a ConfigMap or a Secret.
func (d *Doc) Plain() bool {
	kind := Scalar(At(d.Node, "kind"))
	return kind == "ConfigMap" || kind == "Secret"
}

// prune takes from a document what says nothing here, and reports whether there was any.
func prune(n *Node) bool {
	switch Scalar(At(n, "kind")) {
	case "HelmRelease":
		spec := At(n, "spec")
		instance := At(spec, "values", "instance")
		chart := Chart(spec)
		Keep(n, "apiVersion", "kind", "metadata", "spec", keySOPS)
		if renders := At(spec, "postRenderers"); renders != nil && At(instance, "sync") != nil { // they may change what is synced, as other values
			spec.Content = append(spec.Content, Mapping(renders.Line, "valuesFrom").Content[0], &Node{Kind: SequenceNode, Line: renders.Line})
		}
		renders, open := At(spec, "postRenderers"), []string{}
		for _, key := range []string{"values", "postRenderers"} {
			if Unfilled(Scalar(At(spec, key))) != "" {
				open = append(open, key)
			}
		}
		Keep(spec, append(open, "chartRef", "chart", "valuesFrom", "releaseName", "targetNamespace", "storageNamespace", "kubeConfig", AccountName)...)
		if spec != nil {
			spec.Content = append(spec.Content, chart.Content...)
		}
		if renders != nil {
			h := &Digest{}
			h.node(renders, nil)
			spec.Content = append(spec.Content, Mapping(renders.Line, "\x00renders", h.String()).Content...)
		}
		if At(instance, "sync") != nil {
			Keep(instance, "sync", "kustomize")
			values := Mapping(instance.Line, "instance")
			values.Content = append(values.Content, instance)
			spec.Content = append(spec.Content, Mapping(instance.Line, "values").Content[0], values)
		}
	case "ConfigMap", "Secret":
		Keep(n, "apiVersion", "kind", "metadata", "data", "stringData", keyUnread)
		for _, section := range []string{"data", "stringData"} {
			if data := At(n, section); data != nil && len(data.Content) > 2*MaxKeys {
				n.Content = append(n.Content, Mapping(n.Line, keyUnread, "").Content...)
			}
			if data := At(n, section); data != nil && LeadsTo(data) && At(n, KeyFlux) == nil {
				n.Content = append(n.Content, Mapping(n.Line, KeyFlux, "").Content...)
			}
			shortValues(At(n, section))
			pack(At(n, section))
		}
	default:
		if !Makes(Scalar(At(n, "kind"))) {
			return false
		}
		shortTexts(n)
	}
	return true
}

// plainNames is the names of the ConfigMaps and Secrets that stand in values, and what values call the objects of a chart.
func plainNames(n *Node) (out []*Node) {
	if n == nil {
		return nil
	}
	if name := At(n, "metadata", "name"); name != nil && (&Doc{Node: n}).Plain() {
		out = append(out, name)
	}
	if name := At(n, "fullnameOverride"); name != nil {
		out = append(out, name)
	}
	for _, child := range n.Content {
		out = append(out, plainNames(child)...)
	}
	return out
}

// Chart is what a HelmRelease says of what its chart makes, under [KeyObjects] and [KeyNamespaces]: as that was kept, with what patches have added.
func Chart(spec *Node) *Node {
	if spec == nil {
		return nil
	}
	out, values := Mapping(spec.Line), At(spec, "values")
	add := func(key string, found []*Node, says bool) {
		kept := At(spec, key)
		if kept != nil {
			found = slices.Concat(kept.Content, found)
		}
		if says || kept != nil || len(found) > 0 {
			out.Content = append(out.Content, Mapping(spec.Line, key).Content[0], &Node{Kind: SequenceNode, Line: spec.Line, Content: found})
		}
	}
	add(KeyObjects, plainNames(values), values != nil && Mentions(values, "kind"))
	add(KeyFlux, nil, values != nil && LeadsTo(values))
	add(KeyNamespaces, append(namespaces(values, false), namespaces(At(spec, "postRenderers"), false)...), false)
	return out
}

// LeadsFlux reports whether a text has objects that say what Flux reads.
func LeadsFlux(text string) bool {
	return strings.Contains(text, "fluxcd") && (fluxObject.MatchString(text) || release.MatchString(text) && strings.Contains(text, "GitRepository"))
}

var (
	fluxObject = regexp.MustCompile(`(?m)^[^#\n]*apiVersion["']?:[ \t]*["']?` + fluxGroups)
	release    = regexp.MustCompile(`(?m)^[^#\n]*apiVersion["']?:[ \t]*["']?helm\.toolkit\.fluxcd\.io/`)
	fluxGroup  = regexp.MustCompile("^" + fluxGroups)
)

const fluxGroups = `(?:(?:kustomize\.toolkit|source\.toolkit|source\.extensions)\.fluxcd\.io|fluxcd\.controlplane\.io)/`

// LeadsTo is the same of values, and those of the chart flux2-sync.
func LeadsTo(n *Node) bool {
	group := Scalar(At(n, "apiVersion"))
	inner := strings.HasPrefix(group, GroupHelm+"/") && (Mentions(n, "GitRepository") || Mentions(n, "HelmChart"))
	return At(n, "gitRepository", "spec") != nil || At(n, "kustomization", "spec") != nil || inner || fluxGroup.MatchString(group) || LeadsFlux(n.Value) || slices.ContainsFunc(n.Content, LeadsTo)
}

// namespaces is what stands under keys of namespaces, said: all of it; a text that speaks of any may say each.
func namespaces(n *Node, said bool) (out []*Node) {
	switch {
	case n == nil:
	case n.Kind == ScalarNode && said:
		out = append(out, n)
	case n.Kind == ScalarNode && strings.Contains(n.Value, "amespace"):
		out = append(out, &Node{Kind: ScalarNode, Value: "*", Line: n.Line})
	case n.Kind == MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			out = append(out, namespaces(n.Content[i+1], said || strings.Contains(n.Content[i].Value, "amespace"))...)
		}
	default:
		for _, child := range n.Content {
			out = append(out, namespaces(child, said)...)
		}
	}
	return out
}

// pack makes one text of a section of texts, which takes a tenth of what its nodes take.
func pack(n *Node) {
	if n == nil || n.Kind != MappingNode || slices.ContainsFunc(n.Content, func(c *Node) bool {
		return c.Kind != ScalarNode || strings.Contains(c.Tag+c.Value, packedEnd)
	}) {
		return
	}
	var b strings.Builder
	for _, c := range n.Content {
		b.WriteString(c.Tag + packedEnd + c.Value + packedEnd)
	}
	*n = Node{Kind: packedNode, Value: b.String(), Line: n.Line}
}

const packedEnd = "\x00"

// packedText is what stands under a key of a packed section; nil: nothing, or it is none.
func packedText(n *Node, key string) *Node {
	if n.Kind != packedNode || !strings.Contains(n.Value, packedEnd+key+packedEnd) {
		return nil
	}
	return At(unpacked(n), key)
}

// unpacked is a node as it was before it was packed.
func unpacked(n *Node) *Node {
	if n == nil || n.Kind != packedNode {
		return n
	}
	out := Mapping(n.Line)
	texts := strings.Split(n.Value, packedEnd)
	for i := 0; i+2 < len(texts); i += 2 {
		out.Content = append(out.Content, &Node{Kind: ScalarNode, Tag: texts[i], Value: texts[i+1], Line: n.Line})
	}
	return out
}

// unpack puts back what a copy of a document has packed, before it is changed.
func (d *Doc) unpack() {
	for i, n := range d.Node.Content {
		d.Node.Content[i] = unpacked(n)
	}
}

// packed is how many nodes [Doc.unpack] makes.
func (d *Doc) packed() (nodes int) {
	for _, n := range d.Node.Content {
		if n.Kind == packedNode {
			nodes += strings.Count(n.Value, packedEnd) / 2
		}
	}
	return nodes
}

// shortValues keeps of a section's values those that a variable may have.
func shortValues(n *Node) {
	if n == nil || n.Kind != MappingNode {
		return
	}
	if len(n.Content) > 2*MaxKeys {
		n.Content = nil
		return
	}
	var content []*Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		named := variableName.FindString(key.Value) == key.Value
		if !named || value.Kind != ScalarNode || len(value.Value) > 2*MaxWord {
			uses := variablesIn(key.Value + value.Value)
			if !named && uses == "" {
				continue // no variable is called so
			}
			value = &Node{Kind: ScalarNode, Tag: tagLong, Value: uses, Line: value.Line}
		}
		content = append(content, key, value)
	}
	n.Content = content
}

// variablesIn is the variables of a text, each once: what it says changes with them. Of very many the first.
func variablesIn(text string) string {
	var out strings.Builder
	for rest := text; out.Len() < 2*MaxWord; {
		i := strings.Index(rest, "${")
		if i < 0 {
			break
		}
		rest = rest[i+2:]
		if v := "${" + variableName.FindString(rest) + "}"; len(v) > 3 && len(v) <= MaxWord && !strings.Contains(out.String(), v) {
			out.WriteString(v)
		}
	}
	return out.String()
}

// Keep takes every other key out of a section.
func Keep(n *Node, keys ...string) {
	if n == nil || n.Kind != MappingNode {
		return
	}
	var content []*Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i].Value; slices.Contains(keys, key) || strings.Contains(key, "${") { // which may be one of them
			content = append(content, n.Content[i], n.Content[i+1])
		}
	}
	n.Content = slices.Clip(content)
}

// blank reports whether a document says nothing.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		line = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), []byte("---")))
		if len(line) > 0 && line[0] != '#' && line[0] != '%' && !bytes.Equal(line, []byte("...")) {
			return false
		}
	}
	return true
}

// isPlain reports whether a document is written as a ConfigMap or Secret, and as nothing else.
func isPlain(text []byte) bool {
	plain := false
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line, []byte("kind")) {
			continue // a large document has few lines that the expressions have to be asked about
		}
		if len(line) > MaxDoc || other.Match(line) { // one of that length takes them half a second
			return false
		}
		plain = plain || plainKind.Match(line)
	}
	return plain
}

// shorten empties the lines of a large ConfigMap or Secret that hold its data: only its name counts.
func shorten(text []byte) []byte {
	if len(text) <= MaxConfig || !isPlain(text) {
		return text
	}
	var out bytes.Buffer
	kept := false
	for line := range bytes.Lines(text) {
		if first := line[0]; !bytes.ContainsRune([]byte(" \t\r\n#-"), rune(first)) {
			kept = heads.Match(line)
		}
		if kept {
			out.Write(line)
		} else {
			out.WriteByte('\n')
		}
	}
	out.WriteString("\n\"\\0\": unread\n")
	return out.Bytes()
}

// Unhashed is a name without the hash that kustomize puts at the end of generated ones; "" if it has none.
func Unhashed(name string) string {
	at := len(name) - 11
	if at < 1 || name[at] != '-' || strings.Trim(name[at+1:], "bcdfghkmt2456789") != "" {
		return ""
	}
	return name[:at]
}

// Mentions reports whether a text stands anywhere in a document.
func Mentions(n *Node, text string) bool {
	return strings.Contains(n.Value, text) || slices.ContainsFunc(n.Content, func(c *Node) bool { return Mentions(c, text) })
}
