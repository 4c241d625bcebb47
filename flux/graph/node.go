package graph

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// doc is one YAML document of a file, or one item of a List. It is never written to: what patches it makes a copy.
type doc struct {
	place Place
	node  *node // a mapping
	nodes int   // of it
	size  int   // bytes of what they say
	vars  *Variables
	set   map[string]Place // where a patch has set a field, for the fields of tracked

	gone    bool       // a patch deletes it
	patched []Place    // the patches that changed it
	before  []Ref      // namespaces and names that it had, where a kustomization.yaml has changed them, as written first
	vague   bool       // it may say something else than what was read
	renamed bool       // it may be called otherwise
	made    *generator // that makes it; nil: it stands in the file itself
	filled  []string   // the variables that it had before [walk.refilled]
}

// The API groups that matter here.
const (
	fluxKustomize = "kustomize.toolkit.fluxcd.io"
	fluxSource    = "source.toolkit.fluxcd.io"
	fluxOperator  = "fluxcd.controlplane.io"
	fluxArtifacts = "source.extensions.fluxcd.io"
	fluxHelm      = "helm.toolkit.fluxcd.io"
)

// What acts for an object in the cluster, and brings the Secrets that it names.
const serviceAccount, accountName = "ServiceAccount", "serviceAccountName"

// wantedKinds is the kinds of the documents that say something here: the others are not parsed.
var wantedKinds = map[string]bool{
	"Kustomization": true, "Component": true, "GitRepository": true, "OCIRepository": true, "HelmRepository": true, "HelmChart": true, "Bucket": true,
	"HelmRelease": true, "FluxInstance": true, "ExternalArtifact": true, "ResourceSet": true, "ResourceSetInputProvider": true, "ArtifactGenerator": true, "CronJob": true,
	"ConfigMap": true, "Secret": true, serviceAccount: true, "List": true,
}

// IsRead reports whether objects of a kind are read for what they say.
func IsRead(kind string) bool { return wantedKinds[kind] || makes(kind) }

// values finds what may be the values of the chart of a FluxInstance.
var values = regexp.MustCompile(`(?m)^ {0,6}instance:[ \t]*(?:#|$)`)

// escaped finds a key that may be "kind" with an escape in it.
var escaped = regexp.MustCompile(`"[kind]{0,3}\\[xuU\r\n]`)

// aliasKey finds a key that is an alias.
var aliasKey = regexp.MustCompile(`\*[^\s,{}\[\]]+\s+:`)

// wants reports whether a document may say something here, however YAML has it written.
func wants(text []byte) bool { return states(text, IsRead) }

// leading is the same without what operators make Secrets of.
func leading(text []byte) bool {
	return states(text, func(word string) bool { return wantedKinds[word] })
}

func states(text []byte, is func(kind string) bool) bool {
	builtin := func(word string) bool { return word == "builtin" }
	return field(text, "kind", is) || escaped.Match(text) || bytes.IndexByte(text, '*') >= 0 && aliasKey.Match(text) || field(text, "apiVersion", builtin) || bytes.Contains(text, []byte("instance:")) && values.Match(text)
}

// field reports whether a key stands anywhere in a text with a value that begins with a word of a kind.
func field(text []byte, key string, is func(word string) bool) bool {
	const space = " \t\r\n\f"
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(key))
		if i < 0 {
			return false
		}
		at += i
		before, rest := at, text[at+len(key):]
		at += len(key)
		if before > 0 && !bytes.ContainsAny(text[before-1:before], "\n{, \t\r\f\"'-") && text[before-1] < 0x80 { // which a byte order mark ends with, and line breaks of Unicode
			continue
		}
		rest = bytes.TrimLeft(bytes.TrimLeft(rest, `"'`), space)
		if unusual(rest) {
			return true
		}
		rest, colon := bytes.CutPrefix(rest, []byte(":"))
		if !colon {
			continue
		}
		rest = bytes.TrimLeft(rest, space)
		if bytes.HasPrefix(rest, []byte("!!binary")) || bytes.HasPrefix(rest, []byte("!<")) {
			return true
		}
		for range 4 { // tags and anchors
			if len(rest) == 0 || rest[0] != '!' && rest[0] != '&' {
				break
			}
			end := bytes.IndexAny(rest[:min(len(rest), MaxAlias)], space)
			if end < 0 {
				return len(rest) > MaxAlias // it may say anything
			}
			rest = bytes.TrimLeft(rest[end:], space)
		}
		if unusual(rest) || len(rest) > 0 && strings.ContainsRune("!&*|>$", rune(rest[0])) {
			return true
		}
		rest = bytes.TrimLeft(rest, `"'`)
		rest = rest[:min(len(rest), MaxAlias)]
		if end := bytes.IndexFunc(rest, func(r rune) bool { return r > 'z' || r < 'A' || r > 'Z' && r < 'a' }); end >= 0 {
			if rest[end] == '\\' || rest[end] == '$' {
				return true // an escape, or a variable
			}
			rest = rest[:end]
		}
		if is(string(rest)) {
			return true
		}
	}
}

// unusual reports whether what stands between a key and its value, or where that begins, is more than space: who parses it knows what it is.
func unusual(rest []byte) bool {
	return len(rest) > 0 && (rest[0] == '#' || rest[0] == '\\' || rest[0] >= 0x80)
}

// Parse takes a file apart and has each document kept that may have something to say; all: whatever it seems to say. others: there are more than these; unread: kustomize may find others. What is wrong is a problem of the reader.
func (r *Reader) Parse(name string, data []byte, all bool, keep func(*doc)) (others, unread bool) {
	line := 1
	unread = foreign(data)
	for _, text := range documents(data) {
		if r.step(name, 1) {
			return others, unread
		}
		at := Place{name, line}
		line += bytes.Count(text, []byte("\n"))
		if !all && !wants(text) {
			others = others || !blank(text)
			continue
		}
		text = shorten(text)
		if len(text) > MaxDoc {
			others = true
			r.problem(at, wordLargeDocument())
			continue
		}
		if r.step(name, len(text)>>8) {
			return others, unread
		}
		node, err := parseDocument(text)
		prune(node)
		d := &doc{place: Place{name, at.Line}, node: node}
		if d.weigh(); r.hold(name, d.nodes, d.size) {
			return others, unread
		}
		switch {
		case err != nil && (isPlain(text) || !leading(text)): // a chart's template
		case err != nil:
			r.problem(at, wordNoYAML(err))
		case node != nil && wide(node):
			r.problem(at, wordWide())
		case node != nil:
			shift(node, at.Line-1)
			keep(d)
			continue
		}
		others = true
	}
	return others, unread
}

// Inline reads a text of a document that holds documents itself.
func (r *Reader) Inline(at Place, text string) []*doc {
	out, line := []*doc{}, at.Line
	for _, text := range documents([]byte(text)) {
		node, err := parseDocument(text)
		switch {
		case err != nil:
			r.problem(at, wordNoYAML(err))
		case node != nil:
			shift(node, line-1)
			out = append(out, &doc{place: Place{at.File, int(node.Line)}, node: node, size: len(text)})
		}
		line += strings.Count(string(text), "\n")
	}
	return out
}

// foreign reports whether kustomize may find other documents in a file than we do: it ends one at every line that begins with ---, whatever follows, and
// a text that is not UTF-8 has no such lines.
func foreign(data []byte) bool {
	for rest := data; ; {
		i := bytes.Index(rest, []byte("\n---"))
		if i < 0 {
			break
		}
		if rest = rest[i+4:]; len(rest) > 0 && !bytes.ContainsAny(rest[:1], " \t\r\n") {
			return true
		}
	}
	return bytes.IndexByte(data, 0) >= 0 || bytes.HasPrefix(data, []byte("\xFE\xFF")) || bytes.HasPrefix(data, []byte("\xFF\xFE"))
}

// documents cuts a file where YAML documents begin. That --- at the beginning of a line ends even a block of text is YAML's own rule.
func documents(data []byte) [][]byte {
	var out [][]byte
	start := 0
	for at := 0; at < len(data); {
		end := bytes.IndexByte(data[at:], '\n')
		next := len(data)
		if end >= 0 {
			next = at + end + 1
		}
		if line := data[at:next]; at > start && (bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("..."))) {
			if len(line) == 3 || strings.ContainsRune(" \t\r\n", rune(line[3])) {
				out, start = append(out, data[start:at]), at
			}
		}
		at = next
	}
	return append(out, data[start:])
}

// parseDocument parses one document; nil if it is no mapping. The library panics on what it calls internal errors.
func parseDocument(text []byte) (root *node, err error) {
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, errors.New(wordBroken)
		}
	}()
	text = bytes.TrimPrefix(text, []byte("..."))
	var n yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&n); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(n.Content) != 1 || n.Content[0].Kind != yaml.MappingNode {
		return nil, nil
	}
	if bytes.Contains(text, []byte("binary")) {
		unpack(n.Content[0])
	}
	return expand(n.Content[0])
}

// unpack decodes what a document has in base64, as kustomize reads it.
func unpack(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!binary" {
		if text, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Value), "")); err == nil {
			n.Value, n.Tag = string(text), "!!str"
		}
	}
	for _, child := range n.Content {
		unpack(child)
	}
}

// wide reports whether a section has more keys than patches are to look through.
func wide(n *node) bool {
	return n.Kind == mappingNode && len(n.Content) > 2*MaxKeys || slices.ContainsFunc(n.Content, wide)
}

// shift puts the lines of a document to those of its file.
func shift(n *node, lines int) {
	if lines == 0 {
		return
	}
	n.Line += int32(lines)
	for _, child := range n.Content {
		shift(child, lines)
	}
}

// relined puts every line of a document where it was read.
func relined(n *node, line int) {
	n.Line = int32(line)
	for _, child := range n.Content {
		relined(child, line)
	}
}

// at goes down from a node by keys; nil if there is nothing.
func at(n *node, keys ...string) *node {
	for _, key := range keys {
		if n == nil || n.Kind != mappingNode {
			return nil
		}
		var value *node
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key && n.Content[i].Kind == scalarNode {
				value = n.Content[i+1]
			}
		}
		n = value
	}
	return n
}

// scalar is the text of a node; "" for what is none.
func scalar(n *node) string {
	if n == nil || n.Kind != scalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

// text is a text of the document with its variables filled in.
func (d *doc) text(keys ...string) string { return d.vars.Expand(scalar(at(d.node, keys...))) }

// list is the entries of a list, no more than MaxList.
func (r *Reader) list(d *doc, keys ...string) []*node {
	n := at(d.node, keys...)
	switch {
	case n == nil || n.Kind == scalarNode:
		return nil
	case n.Kind != sequenceNode:
		return nil
	case len(n.Content) > MaxList:
		r.tooLong(d.at(n), strings.Join(keys, "."))
		return n.Content[:MaxList]
	}
	return n.Content
}

// texts is the texts of a list.
func (r *Reader) texts(d *doc, keys ...string) []string {
	var out []string
	for _, n := range r.list(d, keys...) {
		if s := d.vars.Expand(scalar(n)); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// pairs is the keys of a section whose values are texts.
func (d *doc) pairs(keys ...string) map[string]string {
	n := at(d.node, keys...)
	if n == nil || n.Kind != mappingNode {
		return nil
	}
	out := map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		out[n.Content[i].Value] = d.vars.Expand(scalar(n.Content[i+1]))
	}
	return out
}

// at is where a node of the document stands.
func (d *doc) at(n *node) Place { return Place{d.place.File, int(n.Line)} }

// line is where a field stands: as a patch has set it, or in the document itself.
func (d *doc) line(keys ...string) Place {
	if p, ok := d.set[strings.Join(keys, ".")]; ok {
		return p
	}
	if n := at(d.node, keys...); n != nil {
		return d.at(n)
	}
	return Place{}
}

// groupOf is the API group of an object, without its version.
func groupOf(n *node) string {
	group, _, found := strings.Cut(scalar(at(n, "apiVersion")), "/")
	if !found {
		return ""
	}
	return group
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// stated is a field with its place.
func (d *doc) stated(keys ...string) Statement {
	place := d.line(keys...)
	if place.File == "" {
		return Statement{}
	}
	return Statement{d.text(keys...), place}
}

func ref(d *doc, n *node) Ref {
	of := func(key string) string { return d.vars.Expand(scalar(at(n, key))) }
	return Ref{of("kind"), of("namespace"), of("name")}
}
