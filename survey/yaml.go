package survey

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// yamlText is the file in the making. Whatever comes from the tree goes through value, or through comment: names in a repository are
// hostile, and must end neither their line nor their quotes.
type yamlText struct{ strings.Builder }

// line writes a line.
func (y *yamlText) line(indent int, format string, args ...any) {
	y.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(y, format, args...)
	y.WriteByte('\n')
}

// maxComment is how long a comment of the file may be, in characters.
const maxComment = 400

// comment writes a comment on lines of its own.
func (y *yamlText) comment(indent int, format string, args ...any) {
	y.line(indent, "# %s", oneLine(fmt.Sprintf(format, args...)))
}

// oneLine is text that ends no comment and moves no cursor.
func oneLine(text string) string {
	text = strings.ToValidUTF8(text, "?")
	text = strings.Map(func(c rune) rune {
		if c != ' ' && !strconv.IsPrint(c) {
			return '?'
		}
		return c
	}, text)
	if utf8.RuneCountInString(text) > maxComment {
		text = string([]rune(text)[:maxComment-1]) + "…"
	}
	return text
}

var (
	plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._/-]*$`)
	yamlWord  = regexp.MustCompile(`(?i)^(null|true|false|yes|no|on|off|y|n|inf|nan)$`)
)

// value is a text as YAML has it, in quotes where it could be read as anything else.
func value(text string) string {
	if plainText.MatchString(text) && !yamlWord.MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}

// values is a list of texts on one line.
func values(texts []string) string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = value(text)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// length is a duration as YAML has it: one that is none stays a text of its own, which the file then refuses.
func length(duration string) string {
	if plainLength.MatchString(duration) {
		return duration
	}
	return strconv.Quote(duration)
}

var plainLength = regexp.MustCompile(`^[0-9][0-9.a-z]*$`)
