// Package escape makes text that somebody else decided fit for whoever reads ours: a terminal, the log of a CI, a program that reads JSON, YAML.
//
// A name in a repository may move the cursor, turn the reader's line around, or be a command to the CI that keeps the log: GitHub Actions obeys a line
// that begins with ::, and ##[ wherever it stands; Azure Pipelines and TeamCity have ##vso[ and ##teamcity[. Nothing is dropped and nothing is an error: what
// does not show, and what would be obeyed, is written by the escapes that JSON, and YAML between double quotes, read back. All that is printed goes
// through one [Writer], whoever forgot to escape; what it finds in JSON and in quoted YAML it replaces by what means the same.
package escape

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is a text on one line.
func Text(s string) string {
	var out bytes.Buffer
	line{}.write(&out, []byte(s))
	return out.String()
}

// Shows reports whether a text, of any number of lines, is printed as it stands.
func Shows(s string) bool {
	var out bytes.Buffer
	line{many: true}.write(&out, []byte(s))
	return out.String() == s
}

var (
	// plain is what stands in YAML without quotes, in lists on one line too, and is a text for readers of YAML old and new.
	plain = regexp.MustCompile(`^((--)?[A-Za-z][A-Za-z0-9._/:@=-]*[A-Za-z0-9]|[A-Za-z]|\./[A-Za-z0-9._/-]*|([0-9]+[smh])+)$`)
	// word is what YAML, old or new, takes for something else than a text.
	word = regexp.MustCompile(`(?i)^(null|true|false|yes|no|on|off|y|n|inf|nan)$`)
)

// YAML is a text of UTF-8 as YAML reads it back, on one line, in quotes where it could be read as anything else.
func YAML(s string) string {
	if plain.MatchString(s) && !word.MatchString(s) {
		return s
	}
	return Quote(s)
}

// Quote is YAML that is always in quotes: Go's escapes are YAML's.
func Quote(s string) string { return Quoted(strconv.Quote(s)) }

// Quoted is YAML in which what does not show stands between double quotes, with that escaped.
func Quoted(yaml string) string {
	var out strings.Builder
	for _, r := range yaml {
		switch {
		case r == '\n' || shows(r):
			out.WriteRune(r)
		case strconv.IsPrint(r) && r > 0xffff:
			fmt.Fprintf(&out, `\U%08x`, r)
		case strconv.IsPrint(r):
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return out.String()
}

// shows reports whether a character is seen: what Go takes for a graphic one may be blank all the same, and tell two names apart that look alike.
func shows(r rune) bool {
	const blank, emoji = '\u2800', '\ufe0f' // what makes an emoji of a sign changes what is seen
	return strconv.IsPrint(r) && r != blank && (r == emoji || !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector))
}

// Writer is what a command prints to. It hands on whole lines; what is left without an end [Writer.Close] does. It is for several goroutines.
type Writer struct {
	mu   sync.Mutex
	to   io.Writer
	line line
	rest []byte
}

// NewWriter makes what prints to another one. What is to be kept as it is, such as the codes of colours, is given beside it.
func NewWriter(to io.Writer, keep ...string) *Writer {
	return &Writer{to: to, line: line{many: true, keep: keep}}
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := len(p)
	for len(p) > 0 {
		end := bytes.LastIndexByte(p[:min(len(p), some)], '\n') + 1
		if end == 0 {
			end = bytes.IndexByte(p, '\n') + 1
		}
		if end == 0 {
			w.rest = append(w.rest, p...)
			break
		}
		if err := w.lines(p[:end]); err != nil {
			return all - len(p), err
		}
		p = p[end:]
	}
	return all, nil
}

// some is how many bytes of lines are escaped and handed on at once, where one has no more: an answer of a hundred megabytes is not held once more for each of its writers.
const some = 64 << 10

// Close prints what no line's end followed. It closes nothing: one may go on writing.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lines(nil)
}

// lines prints what is left of before, and lines.
func (w *Writer) lines(p []byte) error {
	var out bytes.Buffer
	w.line.write(&out, append(w.rest, p...))
	w.rest = nil
	_, err := w.to.Write(out.Bytes())
	return err
}

// line says how text is escaped.
type line struct {
	many bool     // line breaks and tabs stay
	keep []string // what stays wherever it stands
}

// command is what a CI obeys wherever it stands.
var command = regexp.MustCompile(`^##[A-Za-z]{0,20}\[`)

// write escapes a text that begins a line.
func (l line) write(out *bytes.Buffer, p []byte) {
	begins := true // nothing but blanks stands before, which those who obey skip
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		if kept := l.kept(p); kept > 0 {
			n = kept
			out.Write(p[:n])
		} else {
			l.rune(out, p, r, n, begins)
		}
		begins = r == '\n' && l.many || begins && (r == ' ' || r == '\t')
		p = p[n:]
	}
}

// kept is how long what is kept is that a text begins with.
func (l line) kept(p []byte) int {
	for _, k := range l.keep {
		if k != "" && bytes.HasPrefix(p, []byte(k)) {
			return len(k)
		}
	}
	return 0
}

// rune writes the first character of a text.
func (l line) rune(out *bytes.Buffer, p []byte, r rune, n int, begins bool) {
	switch {
	case r == utf8.RuneError && n == 1:
		fmt.Fprintf(out, `\x%02x`, p[0]) // no JSON has it
	case l.many && (r == '\n' || r == '\t'):
		out.WriteRune(r)
	case begins && bytes.HasPrefix(p, []byte("::")), r == '#' && command.Match(p):
		fmt.Fprintf(out, `\u%04x`, r)
	case shows(r):
		out.WriteRune(r)
	case strings.ContainsRune("\n\r\t", r):
		out.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
	default:
		for _, u := range utf16.AppendRune(nil, r) { // as JSON has it
			fmt.Fprintf(out, `\u%04x`, u)
		}
	}
}
