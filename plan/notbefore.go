package plan

import (
	"strings"
	"time"

	"github.com/sluicegate/sluice/window"
)

// NotBefore is what lines `Not-before: TIME` of a pull request's text say, each as it was written, one below the other. "": there is none.
type NotBefore string

const (
	notBeforeKey = "not-before:"
	// notBeforeLines and notBeforeMost are how many such lines are kept, and how many characters of each. What is cut cannot be read.
	notBeforeLines = 5
	notBeforeMost  = 100
)

// NotBeforeOf reads the text of a pull request, as people see it: what stands in a comment of HTML or is quoted says nothing, and marks of
// Markdown around the word do not matter.
func NotBeforeOf(body string) NotBefore {
	var found []string
	for line := range strings.Lines(visible(body)) {
		line = strings.TrimLeft(strings.Map(unmarked, line), " \t-+#")
		if len(line) < len(notBeforeKey) || !strings.EqualFold(line[:len(notBeforeKey)], notBeforeKey) {
			continue
		}
		if found = append(found, cut(strings.TrimSpace(line[len(notBeforeKey):]), notBeforeMost)); len(found) == notBeforeLines+1 {
			found[notBeforeLines] = "…"
			break
		}
	}
	for i, text := range found {
		if text == "" {
			found[i] = "?"
		}
	}
	return NotBefore(strings.Join(found, "\n"))
}

// visible is a text without its comments of HTML. One that does not end goes on to the end.
func visible(body string) string {
	var out strings.Builder
	for {
		before, rest, hides := strings.Cut(body, "<!--")
		out.WriteString(before)
		if !hides {
			return out.String()
		}
		_, body, _ = strings.Cut(rest, "-->")
	}
}

// unmarked drops the marks of Markdown that change nothing but how a word looks.
func unmarked(c rune) rune {
	if strings.ContainsRune("*_`\r", c) {
		return -1
	}
	return c
}

// At is the latest of the instants that the lines name: local ones in a zone, where a clock change leaves two the later. It gives the first line that
// cannot be read instead, or that needs a zone where there is none.
func (n NotBefore) At(zone *time.Location) (at time.Time, unreadable string) {
	for text := range strings.SplitSeq(string(n), "\n") {
		m, err := window.ParseMoment(text)
		if err != nil {
			m, err = window.ParseMoment(text + "T00:00")
		}
		if err != nil || !m.Exact() && zone == nil {
			return time.Time{}, text
		}
		if one := m.Latest(zone); one.After(at) {
			at = one
		}
	}
	return at, ""
}
