package edit

import (
	"bytes"
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// file is a file with its nodes, and what is to be replaced in it.
type file struct {
	src     []byte
	root    *yaml.Node
	lines   []int  // where each begins
	newline string // as the file has it
	splices []splice
	want    Fields // of the entry; nil: it goes
	keeps   bool   // the section stays without an entry
}

// splice puts a text in the place of the bytes [from, until).
type splice struct {
	from, until int
	text        string
}

// open reads a valid file.
func open(src []byte) (*file, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.Join(errByHand(1), err)
	}
	f := &file{src: src, root: doc.Content[0], lines: []int{0}, newline: "\n"}
	for i, c := range src {
		if c == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	if bytes.Contains(src, []byte("\r\n")) {
		f.newline = "\r\n"
	}
	return f, nil
}

// spliced is the file with all that is to be replaced.
func (f *file) spliced() []byte {
	slices.SortStableFunc(f.splices, func(a, b splice) int { return cmp.Compare(a.from, b.from) })
	var out []byte
	at := 0
	for _, s := range f.splices {
		out = append(append(out, f.src[at:max(at, s.from)]...), s.text...)
		at = max(at, s.until)
	}
	return append(out, f.src[at:]...)
}

func (f *file) put(from, until int, text string) {
	f.splices = append(f.splices, splice{from, until, text})
}

// lineOf is the line of an entry, or of its section.
func (f *file) lineOf(e Entry) int {
	if _, n := f.entry(e); n != nil {
		return n.Line
	}
	if key, _ := pair(f.root, string(e.Section)); key != nil {
		return key.Line
	}
	return 1
}

// pair is a key of a section with its value; nil: there is none.
func pair(section *yaml.Node, key string) (k, v *yaml.Node) {
	if section.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(section.Content); i += 2 {
		if section.Content[i].Value == key {
			return section.Content[i], section.Content[i+1]
		}
	}
	return nil, nil
}

func isFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// set gives an entry its fields.
func (f *file) set(e Entry, was, now Fields) error {
	_, section := pair(f.root, string(e.Section))
	_, entry := f.entry(e)
	switch {
	case isFlow(f.root):
		return errByHand(1)
	case entry != nil:
		return f.setFields(e.Section, entry, was, now)
	case section == nil:
		f.addSection(e, now)
		return nil
	case isFlow(section):
		return f.addInline(section, f.inline(e, now))
	}
	end, err := f.end(section, 0)
	if err != nil {
		return err
	}
	f.after(end, f.block(e, now, section.Column-1, step(section)))
	return nil
}

// fields is an entry's fields but those that others have: on one line, or each on one that begins with some blanks.
func (f *file) fields(section Section, now, others Fields, flow bool, blanks string) string {
	var out []string
	for _, k := range ordered(now, keys[section]...) {
		switch _, had := others[k]; {
		case had:
		case flow:
			out = append(out, field(k, now[k]))
		default:
			out = append(out, blanks+f.lined(k, now[k], blanks))
		}
	}
	if flow {
		return strings.Join(out, ", ")
	}
	return strings.Join(out, f.newline)
}

// inline is a new entry on one line.
func (f *file) inline(e Entry, now Fields) string {
	if e.Section == Windows {
		return text(e.Name) + ": {" + f.fields(e.Section, now, nil, true, "") + "}"
	}
	return "{" + f.fields(e.Section, now, nil, true, "") + "}"
}

// block is a new entry, a field on a line, in a section that begins after so many blanks; its own begin so many further.
func (f *file) block(e Entry, now Fields, indent, further int) string {
	blanks := strings.Repeat(" ", indent)
	if e.Section == Windows {
		return blanks + text(e.Name) + ":" + f.newline + f.fields(e.Section, now, nil, false, blanks+strings.Repeat(" ", further))
	}
	return blanks + "- " + strings.TrimLeft(f.fields(e.Section, now, nil, false, blanks+"  "), " ")
}

// lined is a field in a section whose lines begin with some blanks; a list of sections has each on a line.
func (f *file) lined(key string, v any, blanks string) string {
	list, _ := v.([]any)
	if len(list) == 0 || !slices.ContainsFunc(list, func(v any) bool { _, section := v.(map[string]any); return section }) {
		return field(key, v)
	}
	var out strings.Builder
	out.WriteString(text(key) + ":")
	for _, item := range list {
		out.WriteString(f.newline + blanks + "  - " + write(item))
	}
	return out.String()
}

// step is how much further than its name the fields of a window stand, as the file has it.
func step(section *yaml.Node) int {
	if section.Kind == yaml.MappingNode && len(section.Content) > 1 {
		if first := section.Content[1]; !isFlow(first) && first.Column > section.Column {
			return first.Column - section.Column
		}
	}
	return 2
}

// addSection writes the entry's section behind what stands before it in the format.
func (f *file) addSection(e Entry, now Fields) {
	before := []string{"version", "mode", "timezone", "windows"}
	at := 0
	for i := 0; i+1 < len(f.root.Content); i += 2 {
		if key := f.root.Content[i]; slices.Contains(before, key.Value) && key.Value != string(e.Section) {
			if end, err := f.end(f.root.Content[i+1], 0); err == nil {
				at = max(at, end)
			}
		}
	}
	blank := ""
	if end := f.lineEnd(at); f.blankAt(end) {
		blank = f.newline
	}
	f.after(at, blank+string(e.Section)+":"+f.newline+f.block(e, now, 2, 2))
}

// blankAt reports whether after the line that ends there comes a blank one; after the last line, whether the file has any.
func (f *file) blankAt(end int) bool {
	next := f.next(end)
	if next == len(f.src) {
		return bytes.Contains(f.src, []byte(f.newline+f.newline))
	}
	return f.lineEnd(next) == next
}

// setFields changes the fields of an entry that are others.
func (f *file) setFields(section Section, entry *yaml.Node, was, now Fields) error {
	last := -1 // of those that stay
	for i := 0; i+1 < len(entry.Content); i += 2 {
		key, v := entry.Content[i], entry.Content[i+1]
		is, stays := now[key.Value]
		if !stays {
			continue
		}
		if last = i; !reflect.DeepEqual(is, was[key.Value]) {
			if err := f.replace(key, v, is); err != nil {
				return err
			}
		}
	}
	if last < 0 {
		return f.rewrite(section, entry, now)
	}
	for i := 0; i+1 < len(entry.Content); i += 2 {
		if _, stays := now[entry.Content[i].Value]; !stays {
			if err := f.removePair(entry, i, last); err != nil {
				return err
			}
		}
	}
	added := f.fields(section, now, was, isFlow(entry), strings.Repeat(" ", entry.Column-1))
	if added == "" {
		return nil
	}
	end, err := f.end(entry.Content[last+1], entry.Column-1)
	switch {
	case err != nil:
		return err
	case isFlow(entry):
		f.put(end, end, ", "+added)
	default:
		f.after(end, added)
	}
	return nil
}

// rewrite gives an entry fields of which it has none.
func (f *file) rewrite(section Section, entry *yaml.Node, now Fields) error {
	end, err := f.end(entry, entry.Column-1)
	if err != nil {
		return err
	}
	all := f.fields(section, now, nil, isFlow(entry), strings.Repeat(" ", entry.Column-1))
	if isFlow(entry) {
		f.put(f.offset(entry), end, "{"+all+"}")
	} else {
		f.put(f.lineStart(f.offset(entry)), f.lineEnd(end), all)
	}
	return nil
}

// replace puts a value in the place of another one.
func (f *file) replace(key, was *yaml.Node, is any) error {
	end, err := f.end(was, key.Column-1)
	if err != nil {
		return err
	}
	list, _ := is.([]any)
	switch {
	case was.Kind == yaml.ScalarNode || isFlow(was):
		f.put(f.offset(was), end, like(was, is))
		return nil
	case was.Kind != yaml.SequenceNode || len(list) == 0: // lines become a value behind the key
		from, err := f.end(key, 0)
		if err != nil {
			return err
		}
		f.put(from+1+bytes.IndexByte(f.src[from:], ':'), end, " "+write(is))
		return nil
	}
	old, _ := value(was).([]any)
	same := 0
	for same < len(old) && same < len(list) && reflect.DeepEqual(old[same], list[same]) {
		same++
	}
	blanks := strings.Repeat(" ", was.Column-1)
	var lines []string
	for _, item := range list[same:] {
		lines = append(lines, blanks+"- "+write(item))
	}
	if same == len(old) {
		f.after(end, strings.Join(lines, f.newline))
		return nil
	}
	from := f.lineStart(f.offset(was.Content[same]))
	if len(lines) == 0 {
		f.cut(from, end)
		return nil
	}
	f.put(from, f.lineEnd(end), strings.Join(lines, f.newline))
	return nil
}

// remove takes an entry away.
func (f *file) remove(e Entry) error {
	key, section := pair(f.root, string(e.Section))
	i, each := 0, 2
	if e.Section == Freezes {
		each = 1
		i = slices.IndexFunc(section.Content, func(item *yaml.Node) bool { return nameOf(item) == e.Name })
	} else {
		name, _ := pair(section, e.Name)
		i = slices.Index(section.Content, name)
	}
	switch {
	case isFlow(f.root):
		return errByHand(1)
	case isFlow(section):
		f.keeps = true
		last := len(section.Content) - each
		if i == last {
			last -= each
		}
		return f.removeInline(section, i, each, last)
	case len(section.Content) == each:
		end, err := f.end(section, 0)
		if err != nil {
			return err
		}
		from := f.lineStart(f.offset(key))
		if before := f.previous(from); f.blankAt(f.lineEnd(end)) && from > 0 && f.lineStart(before) == before {
			from = before
		}
		f.cut(from, end)
		return nil
	case e.Section == Windows:
		return f.removePair(section, i, -1)
	}
	end, err := f.end(section.Content[i], section.Column-1)
	if err != nil {
		return err
	}
	from := f.lineStart(f.offset(section.Content[i]))
	if f.src[min(len(f.src)-1, from+section.Column-1)] != '-' {
		return errByHand(section.Content[i].Line)
	}
	f.cut(from, end)
	return nil
}

// removePair takes a key with its value out of a section, of which nothing stays behind the pair that is named last.
func (f *file) removePair(section *yaml.Node, i, last int) error {
	if isFlow(section) {
		return f.removeInline(section, i, 2, last)
	}
	key := section.Content[i]
	end, err := f.end(section.Content[i+1], key.Column-1)
	if err != nil {
		return err
	}
	from := f.offset(key)
	start := f.lineStart(from)
	if len(bytes.TrimSpace(f.src[start:from])) == 0 {
		f.cut(start, end)
		return nil
	}
	if i+2 >= len(section.Content) { // it shares its line with what stands before it, and has it alone
		return errByHand(key.Line)
	}
	f.put(from, f.offset(section.Content[i+2]), "")
	return nil
}

// cut takes away the lines from one that begins there to the one in which something ends.
func (f *file) cut(from, end int) {
	until := f.next(f.lineEnd(end))
	if f.lineEnd(end) == len(f.src) {
		from = f.previous(from)
	}
	f.put(from, until, "")
}

// after writes lines behind the line in which something ends, whose own line break stays.
func (f *file) after(end int, lines string) {
	at := f.lineEnd(end)
	if at == len(f.src) {
		f.put(at, at, f.newline+lines)
		return
	}
	f.put(f.next(at), f.next(at), lines+f.newline)
}

// addInline adds to a list or section on one line.
func (f *file) addInline(n *yaml.Node, what string) error {
	if len(n.Content) == 0 {
		at := f.offset(n) + 1
		f.put(at, at, what)
		return nil
	}
	end, err := f.end(n.Content[len(n.Content)-1], 0)
	if err != nil {
		return err
	}
	f.put(end, end, ", "+what)
	return nil
}

// removeInline takes what has so many nodes out of a list or section on one line. If nothing behind it stays, what stays last is named; negative: nothing does.
func (f *file) removeInline(n *yaml.Node, i, each, last int) error {
	end, err := f.end(n.Content[i+each-1], 0)
	if err != nil {
		return err
	}
	from := f.offset(n.Content[i])
	switch {
	case i < last:
		end = f.offset(n.Content[i+each])
	case last >= 0:
		if from, err = f.end(n.Content[last+each-1], 0); err != nil {
			return err
		}
	}
	f.put(from, end, "")
	return nil
}

// --- where things stand

// offset is where a node begins.
func (f *file) offset(n *yaml.Node) int {
	at := f.lines[min(n.Line, len(f.lines))-1]
	for range n.Column - 1 { // of characters
		at++
		for at < len(f.src) && f.src[at]&0xc0 == 0x80 {
			at++
		}
	}
	return min(at, len(f.src))
}

func (f *file) lineStart(at int) int {
	i, found := slices.BinarySearch(f.lines, at)
	if !found {
		i--
	}
	return f.lines[i]
}

// lineEnd is where the line ends in which something stands, without its line break.
func (f *file) lineEnd(at int) int {
	n := bytes.IndexByte(f.src[at:], '\n')
	if n < 0 {
		return len(f.src)
	}
	if n > 0 && f.src[at+n-1] == '\r' {
		n--
	}
	return at + n
}

// next is where the line after an end begins, previous where the line before a beginning ends. Lines of one file may end differently.
func (f *file) next(end int) int {
	rest := bytes.TrimPrefix(f.src[end:], []byte("\r"))
	return len(f.src) - len(bytes.TrimPrefix(rest, []byte("\n")))
}

func (f *file) previous(start int) int {
	before := bytes.TrimSuffix(f.src[:start], []byte("\n"))
	return len(bytes.TrimSuffix(before, []byte("\r")))
}

// end is where a node ends, in a section whose keys begin after so many blanks.
func (f *file) end(n *yaml.Node, indent int) (int, error) {
	at := f.offset(n)
	switch {
	case n.Kind == yaml.ScalarNode:
		return f.scalarEnd(n, at, indent)
	case isFlow(n):
		return f.flowEnd(n, at)
	case len(n.Content) == 0:
		return 0, errByHand(n.Line)
	}
	return f.end(n.Content[len(n.Content)-1], n.Column-1)
}

// flowEnd is behind the bracket that closes a list or section.
func (f *file) flowEnd(n *yaml.Node, at int) (int, error) {
	at++
	if len(n.Content) > 0 {
		var err error
		if at, err = f.end(n.Content[len(n.Content)-1], 0); err != nil {
			return 0, err
		}
	}
	for at < len(f.src) {
		switch f.src[at] {
		case '}', ']':
			return at + 1, nil
		case ' ', '\t', '\r', '\n', ',':
			at++
		case '#':
			at = f.lineEnd(at)
		default:
			return 0, errByHand(n.Line)
		}
	}
	return 0, errByHand(n.Line)
}

func (f *file) scalarEnd(n *yaml.Node, at, indent int) (int, error) {
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for at++; at < len(f.src) && f.src[at] != '"'; at++ {
			if f.src[at] == '\\' {
				at++
			}
		}
		return min(at+1, len(f.src)), nil
	case n.Style&yaml.SingleQuotedStyle != 0:
		for at++; at < len(f.src); at++ {
			if f.src[at] != '\'' {
				continue
			}
			if at+1 == len(f.src) || f.src[at+1] != '\'' {
				return at + 1, nil
			}
			at++
		}
		return len(f.src), nil
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return f.blockEnd(at, indent), nil
	}
	return f.plainEnd(n, at)
}

// blockEnd is where a text of several lines ends: with the last line that is further in than its key.
func (f *file) blockEnd(at, indent int) int {
	end := f.lineEnd(at)
	for start := f.next(end); start < len(f.src); start = f.next(f.lineEnd(start)) {
		line := f.src[start:f.lineEnd(start)]
		content := bytes.TrimLeft(line, " ")
		if len(content) > 0 && len(line)-len(content) <= indent {
			break
		}
		if len(content) > 0 {
			end = start + len(line)
		}
	}
	return end
}

// plainEnd is where a text without quotes ends: what folds into a blank or a line break is any run of them.
func (f *file) plainEnd(n *yaml.Node, at int) (int, error) {
	for _, word := range strings.Fields(n.Value) {
		for at < len(f.src) && strings.IndexByte(" \t\r\n", f.src[at]) >= 0 {
			at++
		}
		if !bytes.HasPrefix(f.src[at:], []byte(word)) {
			return 0, errByHand(n.Line)
		}
		at += len(word)
	}
	return at, nil
}
