package survey

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sluicegate/sluice/escape"
)

// yamlText is the file in the making. Whatever comes from the tree goes through package escape, or through comment: names in a repository are
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
	text = escape.Text(text)
	if utf8.RuneCountInString(text) > maxComment {
		text = string([]rune(text)[:maxComment-1]) + "…"
	}
	return text
}

// values is a list of texts on one line.
func values(texts []string) string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = escape.YAML(text)
	}
	return "[" + strings.Join(out, ", ") + "]"
}
