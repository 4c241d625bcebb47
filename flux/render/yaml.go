package render

import (
	"fmt"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/sluicegate/sluice/escape"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/plan"
)

// maxProblems is how many problems of the tree are written out: a reviewer sees that there are some.
const maxProblems = 10

// quote is a text as YAML reads it back, on one line.
func quote(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", fmt.Errorf("%q is not UTF-8", text)
	}
	return escape.YAML(text), nil
}

// block is a file as a block of YAML below a key that is indented by two, so that a reviewer can read it; quoted where a block would not
// give it back byte for byte, or where somebody would obey a line of it.
func block(text string) (string, error) {
	body, ended := strings.CutSuffix(text, "\n")
	if !ended || body == "" || strings.HasSuffix(body, "\n") || strings.Contains(body, "\t") || !escape.Shows(text) ||
		strings.TrimSpace(body[strings.LastIndex(body, "\n")+1:]) == "" {
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
func comment(text string) string { return "# " + escape.Text(text) }

// notes are the lines above a cluster's manifests that say what is not in them.
func notes(left []Omission, problems []manifest.Problem) []string {
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
