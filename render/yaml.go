package render

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"github.com/sluicegate/sluice/graph"
	"github.com/sluicegate/sluice/plan"
)

// maxProblems is how many problems of the tree are written out: a reviewer sees that there are some.
const maxProblems = 10

// plain is what stands in YAML without quotes and is a text for readers of YAML old and new.
var plain = regexp.MustCompile(`^((--)?[A-Za-z][A-Za-z0-9._/:@=,-]*[A-Za-z0-9]|[a-z]|\./[A-Za-z0-9._/-]*|[0-9]+[smh])$`)

// words that YAML, old or new, takes for something else than a text.
var words = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

// quote is a text as YAML reads it back, on one line. What Go does not print, and what would turn the reader's line around, YAML reads by the
// same escapes.
func quote(text string) (string, error) {
	switch {
	case plain.MatchString(text) && !slices.Contains(words, strings.ToLower(text)):
		return text, nil
	case !utf8.ValidString(text):
		return "", fmt.Errorf("%q is not UTF-8", text)
	}
	return strconv.Quote(text), nil
}

// block is a file as a block of YAML below a key that is indented by two, so that a reviewer can read it; quoted where a block would not
// give it back byte for byte.
func block(text string) (string, error) {
	readable := func(r rune) bool { return r == '\n' || unicode.IsPrint(r) }
	body, ended := strings.CutSuffix(text, "\n")
	if !ended || body == "" || strings.HasSuffix(body, "\n") || !utf8.ValidString(text) ||
		strings.ContainsFunc(text, func(r rune) bool { return !readable(r) }) || strings.TrimSpace(body[strings.LastIndex(body, "\n")+1:]) == "" {
		return quote(text)
	}
	var out strings.Builder
	out.WriteString("|2")
	for line := range strings.SplitSeq(body, "\n") {
		out.WriteString("\n")
		if line != "" {
			out.WriteString("    " + line)
		}
	}
	return out.String(), nil
}

// comment is a text as lines of comment: whatever it is, it stays one.
func comment(text string) string { return "# " + plan.Clean(text) }

// notes are the lines above a cluster's manifests that say what is not in them.
func notes(left []Omission, problems []graph.Problem) []string {
	var out []string
	for _, l := range left {
		out = append(out, wordLeft(l))
	}
	for i, p := range problems {
		if i == maxProblems {
			out = append(out, fmt.Sprintf("Not read: and %d more places of the tree.", len(problems)-maxProblems))
			break
		}
		out = append(out, wordProblem(p))
	}
	return out
}

func parsed(name, text string) *template.Template {
	return template.Must(template.New(name).Funcs(template.FuncMap{"q": quote, "file": block, "comment": comment, "clean": plan.Clean}).Parse(text))
}
