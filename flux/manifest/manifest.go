// Package manifest reads single YAML documents as kustomize and Flux do: what they say, what patches make of them, and what stands for their variables.
//
// A [Doc] is never written to: what changes it makes a copy, which shares what stays as it is. Of what leads to no other object or file little is kept, and few kinds
// are parsed at all: see [IsRead]. Which documents there are, and what is made of them, is not known here.
//
// How it fails: every document is hostile. What is no YAML, or beyond a bound of limits.go or of the [meter.Meter] of the run, is a [Problem] of the [Reader]. Aliases are
// read as what they stand for, as far as all of them stand for no more than a document may have.
package manifest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Doc is one YAML document of a file, or one item of a List. It is never written to: what patches it makes a copy.
type Doc struct {
	Place Place
	Node  *Node // a mapping
	Nodes int   // of it
	Size  int   // bytes of what they say
	Vars  *Variables
	set   map[string]Place // where a patch has set a field, for the fields of tracked

	Gone    bool       // a patch deletes it
	Patched []Place    // the patches that changed it
	before  []Ref      // namespaces and names that it had, where a kustomization.yaml has changed them, as written first
	Vague   bool       // it may say something else than what was read
	Renamed bool       // it may be called otherwise
	Made    *Generator // that makes it; nil: it stands in the file itself
	filled  []string   // the variables that it had before [Work.Refilled]
	Open    bool       // a ResourceSet makes it in a case that is not told apart
}

// The API groups that matter here.
const (
	GroupKustomize = "kustomize.toolkit.fluxcd.io"
	GroupSource    = "source.toolkit.fluxcd.io"
	GroupOperator  = "fluxcd.controlplane.io"
	GroupArtifacts = "source.extensions.fluxcd.io"
	GroupHelm      = "helm.toolkit.fluxcd.io"
)

// What acts for an object in the cluster, and brings the Secrets that it names.
const (
	ServiceAccount = "ServiceAccount"
	AccountName    = "serviceAccountName"
)

// wantedKinds is the kinds of the documents that say something here: the others are not parsed.
var wantedKinds = map[string]bool{
	"Kustomization": true, "Component": true, "GitRepository": true, "OCIRepository": true, "HelmRepository": true, "HelmChart": true, "Bucket": true,
	"HelmRelease": true, "FluxInstance": true, "ExternalArtifact": true, "ResourceSet": true, "ResourceSetInputProvider": true, "ArtifactGenerator": true, "CronJob": true,
	"ConfigMap": true, "Secret": true, ServiceAccount: true, "List": true, "ENC": true, // which may be any
}

// IsRead reports whether objects of a kind are read for what they say.
func IsRead(kind string) bool { return wantedKinds[kind] || Makes(kind) }

// wants reports whether a document may say something here, however YAML has it written.
func wants(text []byte) bool { return states(text, IsRead) }

// leading is the same without what operators make Secrets of.
func leading(text []byte) bool {
	return states(text, func(word string) bool { return wantedKinds[word] })
}

func states(text []byte, is func(kind string) bool) bool {
	builtin := func(word string) bool { return word == "builtin" }
	return field(text, "kind", is) || escaped(text) || aliasKey(text) || field(text, "apiVersion", builtin) || values(text)
}

// values reports whether a text may have the values of the chart of a FluxInstance.
func values(text []byte) bool {
	return each(text, "instance:", func(before, after []byte) bool {
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		rest := bytes.TrimLeft(after, " \t")
		return len(line) <= 6 && len(bytes.Trim(line, " ")) == 0 && (len(rest) == 0 || rest[0] == '#' || rest[0] == '\n')
	})
}

// escaped reports whether a text has a key that may be "kind" with an escape in it.
func escaped(text []byte) bool {
	return each(text, "\\", func(before, after []byte) bool {
		last := before[max(0, len(before)-len("\"kin")):]
		quote := bytes.LastIndexByte(last, '"')
		return len(after) > 0 && strings.IndexByte("xuU\r\n", after[0]) >= 0 && quote >= 0 && len(bytes.Trim(last[quote+1:], "kind")) == 0
	})
}

// aliasKey reports whether a text has a key that is an alias.
func aliasKey(text []byte) bool {
	const space = " \t\r\n\f"
	for {
		i := bytes.IndexByte(text, '*')
		if i < 0 {
			return false
		}
		name := text[i+1:]
		end := bytes.IndexAny(name, space+",{}[]")
		if end < 0 {
			return false
		}
		text = name[end:]
		if rest := bytes.TrimLeft(text, space); end > 0 && len(rest) < len(text) && len(rest) > 0 && rest[0] == ':' {
			return true
		}
	}
}

// each asks about each place of a word in a text, until one is right.
func each(text []byte, word string, is func(before, after []byte) bool) bool {
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(word))
		if i < 0 {
			return false
		}
		before := text[:at+i]
		if at += i + len(word); is(before, text[at:]) {
			return true
		}
	}
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
			end := bytes.IndexAny(rest[:min(len(rest), MaxWord)], space)
			if end < 0 {
				return len(rest) > MaxWord // it may say anything
			}
			rest = bytes.TrimLeft(rest[end:], space)
		}
		if unusual(rest) || len(rest) > 0 && strings.ContainsRune("!&*|>$/", rune(rest[0])) {
			return true
		}
		rest = bytes.TrimLeft(rest, `"'`)
		rest = rest[:min(len(rest), MaxWord)]
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
func (r *Reader) Parse(name string, data []byte, all bool, keep func(*Doc)) (others, unread bool) {
	if unread = foreign(data); unread {
		r.Problem(Place{name, 1}, wordForeign)
	}
	for _, p := range documents(data) {
		if r.Step(name, 1) {
			return others, unread
		}
		at, text := Place{name, 1 + p.line}, p.text
		if !all && !wants(text) {
			others = others || !blank(text)
			continue
		}
		text = shorten(text)
		if err := beyond(text); err != nil {
			others = true
			r.Problem(at, err.Error())
			continue
		}
		if r.Step(name, len(text)>>8) {
			return others, unread
		}
		node, err := ParseDocument(text)
		prune(node)
		d := &Doc{Place: Place{name, at.Line}, Node: node}
		if d.Weigh(); r.Hold(name, d.Nodes, d.Size) {
			return others, unread
		}
		switch {
		case err != nil && (isPlain(text) || !leading(text)): // a chart's template
		case err != nil:
			r.Problem(at, wordNoYAML(err))
		case node != nil && wide(node):
			r.Problem(at, wordWide())
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
func (r *Reader) Inline(at Place, text string) []*Doc {
	out := []*Doc{}
	if foreign([]byte(text)) {
		r.Problem(at, wordForeign)
	}
	for _, p := range documents([]byte(text)) {
		err := beyond(p.text)
		var node *Node
		if err == nil {
			node, err = ParseDocument(p.text)
		}
		switch {
		case err != nil:
			r.Problem(at, wordNoYAML(err))
		case node != nil:
			shift(node, at.Line+p.line-1)
			out = append(out, &Doc{Place: Place{at.File, int(node.Line)}, Node: node, Size: len(p.text)})
		}
	}
	return out
}

// foreign reports whether kustomize may find other documents in a file than we do, or none: a text that is not UTF-8 has no lines to cut at, and it refuses a
// file in which a text follows --- at the beginning of a line.
func foreign(data []byte) bool {
	refused := false
	separators(data, func(line []byte) { refused = refused || len(line) > 0 && line[0] != '#' })
	return refused || bytes.IndexByte(data, 0) >= 0 || bytes.HasPrefix(data, []byte("\xFE\xFF")) || bytes.HasPrefix(data, []byte("\xFF\xFE"))
}

// separators calls a function with what follows --- on each line at which kustomize cuts a file, without blanks, and gives where these lines begin and end.
// The line before a second one in a row was taken by the first.
func separators(data []byte, each func(line []byte)) (at [][2]int) {
	for from := 0; ; {
		i := bytes.Index(data[from:], []byte("\n---"))
		if i < 0 {
			return at
		}
		begin := from + i + 1
		end := bytes.IndexByte(data[begin:], '\n')
		if end < 0 {
			return at
		}
		end += begin + 1
		each(bytes.TrimSpace(data[begin+3 : end]))
		at, from = append(at, [2]int{begin, end}), end
	}
}

// part is a document of a file, and how many lines stand before it.
type part struct {
	text []byte
	line int
}

// documents cuts a file as kustomize does, which takes the first YAML document of each part.
func documents(data []byte) []part {
	var out []part
	start, line := 0, 0
	for _, s := range separators(data, func([]byte) {}) {
		out = append(out, part{data[start:s[0]], line})
		line += bytes.Count(data[start:s[1]], []byte("\n"))
		start = s[1]
	}
	return append(out, part{data[start:], line})
}

// beyond says why a document is not given to the library.
func beyond(text []byte) error {
	directives := 0
	switch {
	case len(text) > MaxDoc:
		return errors.New(wordLargeDocument())
	case bytes.Count(text, []byte("%")) <= MaxDirectives:
	case each(text, "%", func(before, _ []byte) bool {
		if last, _ := utf8.DecodeLastRune(before); len(before) == 0 || strings.ContainsRune("\n\r\u0085\u2028\u2029", last) {
			directives++
		}
		return directives > MaxDirectives
	}):
		return errors.New(wordDirectives())
	}
	return nil
}

// ParseDocument parses one document; nil if it is no mapping. The library panics on what it calls internal errors.
func ParseDocument(text []byte) (root *Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, errors.New(wordBroken)
		}
	}()
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
	if root, err = expand(n.Content[0]); bytes.Contains(text, []byte(sopsText)) {
		sealed(root)
	}
	return root, err
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
func wide(n *Node) bool {
	return n.Kind == MappingNode && len(n.Content) > 2*MaxKeys || slices.ContainsFunc(n.Content, wide)
}

// shift puts the lines of a document to those of its file.
func shift(n *Node, lines int) {
	if lines == 0 {
		return
	}
	n.Line += int32(lines)
	for _, child := range n.Content {
		shift(child, lines)
	}
}

// relined puts every line of a document where it was read.
func relined(n *Node, line int) {
	n.Line = int32(line)
	for _, child := range n.Content {
		relined(child, line)
	}
}

// At goes down from a node by keys; nil if there is nothing.
func At(n *Node, keys ...string) *Node {
	for _, key := range keys {
		if n == nil || n.Kind != MappingNode && n.Kind != packedNode {
			return nil
		}
		value := packedText(n, key)
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key && n.Content[i].Kind == ScalarNode {
				value = n.Content[i+1]
			}
		}
		n = value
	}
	return n
}

// Scalar is the text of a node; "" for what is none.
func Scalar(n *Node) string {
	if n == nil || n.Kind != ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

// Text is a text of the document with its variables filled in.
func (d *Doc) Text(keys ...string) string { return d.Vars.Expand(Scalar(At(d.Node, keys...))) }

// List is the entries of a list, no more than MaxList.
func (r *Reader) List(d *Doc, keys ...string) []*Node {
	n := At(d.Node, keys...)
	switch {
	case n == nil || n.Kind == ScalarNode:
		return nil
	case n.Kind != SequenceNode:
		return nil
	case len(n.Content) > MaxList:
		r.TooLong(d.At(n), strings.Join(keys, "."))
		return n.Content[:MaxList]
	}
	return n.Content
}

// Texts is the texts of a list.
func (r *Reader) Texts(d *Doc, keys ...string) []string {
	var out []string
	for _, n := range r.List(d, keys...) {
		if s := d.Vars.Expand(Scalar(n)); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Pairs is the keys of a section whose values are texts.
func (d *Doc) Pairs(keys ...string) map[string]string {
	n := At(d.Node, keys...)
	if n == nil || n.Kind != MappingNode {
		return nil
	}
	out := map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		out[n.Content[i].Value] = d.Vars.Expand(Scalar(n.Content[i+1]))
	}
	return out
}

// At is where a node of the document stands.
func (d *Doc) At(n *Node) Place { return Place{d.Place.File, int(n.Line)} }

// Line is where a field stands: as a patch has set it, or in the document itself.
func (d *Doc) Line(keys ...string) Place {
	if p, ok := d.set[strings.Join(keys, ".")]; ok {
		return p
	}
	if n := At(d.Node, keys...); n != nil {
		return d.At(n)
	}
	return Place{}
}

// GroupOf is the API group of an object, without its version.
func GroupOf(n *Node) string {
	group, _, found := strings.Cut(Scalar(At(n, "apiVersion")), "/")
	if !found {
		return ""
	}
	return group
}

// SortedKeys is the keys of a map, sorted.
func SortedKeys[V any](m map[string]V) []string {
	out := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(out)
	return out
}

// Stated is a field with its place.
func (d *Doc) Stated(keys ...string) Statement {
	place := d.Line(keys...)
	if place.File == "" {
		return Statement{}
	}
	return Statement{d.Text(keys...), place}
}

// RefOf is the object that a section names.
func RefOf(d *Doc, n *Node) Ref {
	of := func(key string) string { return d.Vars.Expand(Scalar(At(n, key))) }
	return Ref{of("kind"), of("namespace"), of("name")}
}
