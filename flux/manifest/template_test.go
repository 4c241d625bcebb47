package manifest

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"text/template/parse"

	"github.com/sluicegate/sluice/meter"
)

// bounded is a text that a template writes, as far as it is short.
type bounded struct{ strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > 1<<16 {
		return 0, errors.New("too long")
	}
	return b.Builder.Write(p)
}

// byGo is a template as the Flux Operator fills it in, with those of its functions that are known here.
func byGo(text string, inputs map[string]any) (string, error) {
	empty := func(v any) bool {
		is, _ := template.IsTrue(v)
		return !is
	}
	t, err := template.New("").Delims("<<", ">>").Option("missingkey=error").Funcs(template.FuncMap{
		"inputs": func() any { return inputs }, "quote": func(v any) string { return strconv.Quote(toText(v)) }, "empty": empty,
		"default": func(other, v any) any {
			if empty(v) {
				return other
			}
			return v
		},
		"lower": strings.ToLower, "trim": strings.TrimSpace, "toString": toText, "slugify": func(s string) (string, error) { return s, nil },
	}).Parse(text)
	if err != nil {
		return "", err
	}
	var out bounded
	err = t.Execute(&out, nil)
	return out.String(), err
}

func toText(v any) string {
	var b strings.Builder
	_ = template.Must(template.New("").Parse("{{.}}")).Execute(&b, v)
	return b.String()
}

// byUs is the same by us, and whether all of it is known.
func byUs(t *testing.T, text, values string) (out string, known bool) {
	t.Helper()
	n, err := ParseDocument([]byte(values))
	if err != nil || n == nil || twice(n, true) {
		return "", false
	}
	r := NewReader(meter.New(t.Context(), meter.Limits{meter.Time: -1}))
	f := filler{Work: &Work{Reader: &r}, parsed: map[string]*parse.ListNode{}, inputs: n}
	out = f.fill(text)
	return out, r.meter.Err() == nil && !strings.Contains(out, "${<<")
}

// filled is templates with what they are of some inputs; "" is one that is not known.
var filled = [][3]string{
	{`a`, `{}`, `a`},
	{`<< inputs.a >>-<< inputs.b.c >>`, `{"a": "x", "b": {"c": 7}}`, `x-7`},
	{`<< inputs.a | quote >>`, `{"a": "x\"y"}`, `"x\"y"`},
	{`<< inputs.a >>`, `{"a": 1234567}`, ``},
	{`<< inputs.a >>`, `{"a": 1.5}`, ``},
	{`<< inputs.a >>`, `{"a": "two\nlines"}`, "two\nlines"},
	{`<< inputs.b >>`, `{"a": 1}`, ``},
	{`<< if inputs.a >>x<< else >>y<< end >>`, `{"a": false}`, `y`},
	{`<< if inputs.a >>x<< else if inputs.b >>y<< end >>`, `{"a": "", "b": [1]}`, `y`},
	{`<< if eq inputs.a "x" >>1<< end >><< if ne inputs.a "x" >>2<< end >>`, `{"a": "x"}`, `1`},
	{`<< if eq inputs.a 1 >>1<< end >>`, `{"a": 1}`, ``},
	{`<< if and inputs.a (not inputs.b) >>1<< end >>`, `{"a": true, "b": 0}`, `1`},
	{`<< or inputs.a inputs.b >>`, `{"a": "", "b": "z"}`, `z`},
	{`<< with inputs.a >><< .b >><< end >>`, `{"a": {"b": "c"}}`, `c`},
	{`<< range $i, $x := inputs.a >><< $i >><< $x >>,<< end >>`, `{"a": ["b", "c"]}`, `0b,1c,`},
	{`<< $x := "a" >><< range $x = inputs.a >><< end >><< $x >>`, `{"a": ["b", "c"]}`, ``},
	{`<< range inputs.a >><< .b >><< else >>none<< end >>`, `{"a": []}`, `none`},
	{`<< $x := inputs.a >><< $x | default "d" >>`, `{"a": ""}`, `d`},
	{"a\n<<- /* b >> */ ->>\nc", `{}`, `ac`},
	{`<< printf "%s-%s" inputs.a "b" >>`, `{"a": "x"}`, `x-b`},
	{`<< printf "%s" inputs.a >>`, `{"a": 7}`, ``},
	{`<< range inputs.a >><< . >><< break >><< end >>`, `{"a": ["b", "c"]}`, ``},
	{`<< printf "%d" inputs.a >>`, `{"a": "x"}`, ``},
	{`<< inputs.a | lower >>`, `{"a": "ab-c"}`, `ab-c`},
	{`<< inputs.a | lower >>`, `{"a": "AB"}`, ``},
	{`<< define "x" >>y<< end >><< template "x" >>`, `{}`, ``},
	{`<< $x := "a" >><< if inputs.a >><< $x = "b" >><< end >><< $x >>`, `{"a": true}`, ``},
}

// TestFills: a template is filled in as Go does it, or not known.
func TestFills(t *testing.T) {
	for _, c := range filled {
		out, known := byUs(t, c[0], c[1])
		if c[2] == "" && known || c[2] != "" && out != c[2] {
			t.Errorf("%s of %s is %q, want %q", c[0], c[1], out, c[2])
		}
	}
}

// endless is what may take a template for ever: numbers that are counted to, and templates that call each other.
var endless = regexp.MustCompile(`range[^>]*[0-9]|template|block|define|printf[^>]*%[^s]|js|html|call`)

// odd is letters that YAML takes for ends of lines, and JSON does not.
var odd = regexp.MustCompile(`[^ -~\n]`)

// FuzzFill: what is known of a template, Go has written, too, if it writes anything.
func FuzzFill(f *testing.F) {
	for _, c := range filled {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, text, values string) {
		var inputs map[string]any
		if len(text) > 400 || endless.MatchString(text) || strings.Contains(text+values, "${<<") || odd.MatchString(values) || json.Unmarshal([]byte(values), &inputs) != nil {
			return
		}
		want, err := byGo(text, inputs)
		if got, known := byUs(t, text, values); known && err == nil && got != want {
			t.Errorf("%q of %s is %q, and for Go %q", text, values, got, want)
		}
	})
}
