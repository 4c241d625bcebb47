package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// parseText turns bytes into the file's one document, or reports why it cannot and returns nil. Nothing is expanded:
// an alias stays a node of its own.
func parseText(data []byte, r *report) *yaml.Node {
	tags, ok := readable(data, r)
	if !ok {
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	doc, err := next(decoder)
	switch {
	case errors.Is(err, io.EOF), err == nil && blank(doc):
		r.fail(start(), emptyFile())
		return nil
	case err != nil:
		r.fail(badSyntax(data, err))
		return nil
	}
	markTags(doc, tags)
	second, err := next(decoder)
	switch {
	case errors.Is(err, io.EOF):
		return doc.Content[0]
	case err != nil:
		r.fail(badSyntax(data, err))
	default:
		r.fail(of(second), secondDocument())
	}
	return nil
}

// markTags marks what a bare ! stands before as tagged. The library drops that one tag, and a path that somebody takes out of a rule
// without quotes, with a space, would be one of the rule's own.
func markTags(n *yaml.Node, tags []place) {
	for _, child := range n.Content {
		if _, tagged := slices.BinarySearchFunc(tags, of(child), place.compare); tagged && child.Style&yaml.TaggedStyle == 0 {
			child.Style, child.Tag = child.Style|yaml.TaggedStyle, "!"
		}
		markTags(child, tags)
	}
}

// blank reports whether a document holds nothing, as one of comments alone does.
func blank(doc *yaml.Node) bool {
	return len(doc.Content) != 1 || doc.Content[0].Tag == "!!null"
}

// next reads one document. The library panics on what it calls internal errors; the file is hostile, so that must not
// reach the caller.
func next(decoder *yaml.Decoder) (doc *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			doc, err = nil, fmt.Errorf("yaml: %v", p)
		}
	}()
	doc = new(yaml.Node)
	err = decoder.Decode(doc)
	return doc, err
}

// readable reports whether the bytes are text of a sane size, and reports the first place where they are not. The YAML
// library would find most of this too, but without a place. Tags are the places where a tag may stand, in order.
func readable(data []byte, r *report) (tags []place, ok bool) {
	switch {
	case len(data) > MaxBytes:
		r.fail(start(), tooLarge(len(data)))
		return nil, false
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		r.fail(start(), byteOrderMark())
		return nil, false
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		r.fail(start(), utf16())
		return nil, false
	}
	at, directives := start(), 0
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		if c == '%' && at.column == 1 {
			directives++
		}
		switch {
		case directives > maxDirectives:
			r.fail(at, manyDirectives())
			return nil, false
		case c == utf8.RuneError && size == 1:
			r.fail(at, notUTF8(data[i]))
			return nil, false
		case hidden(c):
			r.fail(at, controlCharacter(c))
			return nil, false
		case c == '!':
			tags = append(tags, at)
		}
		crlf := c == '\r' && i+1 < len(data) && data[i+1] == '\n'
		at = at.after(c, crlf)
		i += size
	}
	return tags, true
}

// after is the place behind the character c.
func (p place) after(c rune, crlf bool) place {
	if c == '\n' || c == '\r' && !crlf {
		return place{p.line + 1, 1}
	}
	return place{p.line, p.column + 1}
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.line, q.line), cmp.Compare(p.column, q.column))
}

// hidden reports whether a character has no business in a text that people review: it is binary, breaks a line where
// editors show none, or changes the order in which text is shown.
func hidden(c rune) bool {
	switch {
	case c == '\t', c == '\n', c == '\r':
		return false
	case c < ' ', c >= 0x7f && c <= 0x9f: // control characters; among them NUL and NEL
		return true
	case c == 0x2028, c == 0x2029, c == 0xfeff, c == 0xfffe, c == 0xffff: // line breaks, byte order marks, no characters
		return true
	case c >= 0x202a && c <= 0x202e, c >= 0x2066 && c <= 0x2069: // order of display
		return true
	}
	return false
}

// syntaxError takes the library's message apart: "yaml: line 3: did not find expected key".
func syntaxError(err error) (line int, problem string) {
	parts := regexp.MustCompile(`^yaml: (?:line (\d{1,9}): )?(.*)$`).FindStringSubmatch(err.Error())
	if parts == nil {
		return 0, err.Error()
	}
	line, _ = strconv.Atoi(parts[1]) // no number: 0
	return line, parts[2]
}

// badSyntax finds the place that the library's message is about. Its lines count from 1 for what its scanner finds and
// from 0 for what its parser finds, and a 0 is not printed; it never names a column.
func badSyntax(data []byte, err error) (place, says) {
	line, problem := syntaxError(err)
	if anchor, ok := strings.CutPrefix(problem, "unknown anchor '"); ok {
		anchor, _, _ = strings.Cut(anchor, "'")
		return find(data, "*"+anchor), aliasUsed(anchor)
	}
	if fromParser(problem) {
		line++
	}
	line = max(line, 1)
	text := lineOf(data, line)
	content := strings.TrimLeft(text, " ")
	at := place{line, len(text) - len(content) + 1}
	if value, column := plainValue(text); value != "" && strings.ContainsAny(value[:1], "*&@%`!") {
		return place{line, column}, quoteIt(value)
	}
	if at := regexp.MustCompile("[\\[, ]![^\\s,\\]}'\"]").FindStringIndex(text); at != nil {
		value, _, _ := strings.Cut(text[at[0]+1:], ",")
		return place{line, utf8.RuneCountInString(text[:at[0]+1]) + 1}, quoteIt(strings.TrimRight(value, " ]}"))
	}
	if strings.HasPrefix(content, "\t") {
		return at, tabIndent()
	}
	return at, badYAML(problem)
}

// fromParser reports whether a message is of the library's parser, and not of its scanner.
func fromParser(problem string) bool {
	return strings.HasPrefix(problem, "did not find expected") && !strings.Contains(problem, "alphabetic") &&
		!strings.Contains(problem, "comment or line break") && !strings.Contains(problem, "whitespace") ||
		strings.HasPrefix(problem, "found duplicate %") || strings.HasPrefix(problem, "found incompatible") ||
		strings.HasPrefix(problem, "found undefined tag handle")
}

// plainValue is the value that follows the first ": " or "- " of a line, with its column.
func plainValue(line string) (string, int) {
	loc := regexp.MustCompile(`^ *(?:- +)*(?:[A-Za-z0-9_.-]+: +)?`).FindStringIndex(line)
	return line[loc[1]:], loc[1] + 1
}

// lineOf is a line of the text, from 1, without its end.
func lineOf(data []byte, line int) string {
	lines := strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	if line > len(lines) {
		return ""
	}
	return lines[line-1]
}

// find is where a text first occurs.
func find(data []byte, text string) place {
	before, _, found := strings.Cut(string(data), text)
	if !found {
		return start()
	}
	line := strings.Count(before, "\n") + 1
	return place{line, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1}
}
