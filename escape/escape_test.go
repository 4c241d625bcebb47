package escape

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestWriter: what is printed, in whatever pieces, is nothing that a terminal or a CI obeys; everything else stays.
func TestWriter(t *testing.T) {
	for text, want := range map[string]string{
		"apps/web.yaml  live\n":                         "apps/web.yaml  live\n",
		"::set-output name=verdict::release":            `\u003a:set-output name=verdict::release`,
		"a\n \t::add-mask::x\n":                         "a\n \t\\u003a:add-mask::x\n",
		"a ::warning::b\n":                              "a ::warning::b\n",
		"a ##[set-env name=x]b\n":                       "a \\u0023#[set-env name=x]b\n",
		"###vso[task.setvariable]\n##teamcity[x]\n":     "#\\u0023#vso[task.setvariable]\n\\u0023#teamcity[x]\n",
		"## a [b]\n":                                    "## a [b]\n",
		"a\r::warning::b":                               `a\r::warning::b`,
		"a\u202eb\u0085\u2028\x7f\x1b[2J\U000e0001\xff": `a\u202eb\u0085\u2028\u007f\u001b[2J\udb40\udc01\xff`,
		"\x1b[32mé … ←\x1b[0m":                          "\x1b[32mé … ←" + `\u001b[0m`,
		"a\u3164b\u115f\u2800\u034f\U000e0141 ⚠\ufe0f":  `a\u3164b\u115f\u2800\u034f\udb40\udd41 ⚠` + "\ufe0f",
		"": "",
	} {
		for _, step := range []int{1, 2, 1000} {
			var out bytes.Buffer
			w := NewWriter(&out, "\x1b[32m")
			for rest := []byte(text); len(rest) > 0; rest = rest[min(step, len(rest)):] {
				if n, err := w.Write(rest[:min(step, len(rest))]); err != nil || n == 0 {
					t.Fatal(n, err)
				}
			}
			if err := w.Close(); err != nil || out.String() != want {
				t.Errorf("%q by %d: %v, %q, want %q", text, step, err, out.String(), want)
			}
		}
	}
	if got := Quote("a\u3164\U000e0141"); got != `"a\u3164\U000e0141"` {
		t.Errorf("%q", got)
	}
	if got := Text("a\n::b\tc"); got != `a\n::b\tc` {
		t.Errorf("%q", got)
	}
	for text, shows := range map[string]bool{"a\n  b: ::c\n": true, "a\n  ::b\n": false, "a\r\n": false, "##[x]": false, "": true} {
		if Shows(text) != shows {
			t.Errorf("%q", text)
		}
	}
}

// FuzzEscape: what is printed of any text is harmless, printed again it stays, and JSON and YAML mean what they meant.
func FuzzEscape(f *testing.F) {
	for _, seed := range []string{"::a", "a\n ::b", "##[a]", "##vso[a]", "a\u202eb", "\U000e0001", "\xff", "a: b", "true", "1m", "\r::a", "--a", "y", "a,b", "\ufeffa", "\\u003a"} {
		f.Add(seed)
	}
	obeyed := regexp.MustCompile(`(?m)^[ \t]*::|##[A-Za-z]{0,20}\[|[^\PC\n\t]|\p{Cf}|\p{Zl}|\p{Zp}`)
	f.Fuzz(func(t *testing.T, text string) {
		print := func(s string) string {
			var out bytes.Buffer
			w := NewWriter(&out)
			if _, err := w.Write([]byte(s)); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		once := print(text)
		if obeyed.MatchString(once) || print(once) != once || strings.Contains(Text(text), "\n") || obeyed.MatchString("x"+Text(text)) {
			t.Errorf("%q is printed as %q, again as %q, on one line as %q", text, once, print(once), Text(text))
		}
		valid := strings.ToValidUTF8(text, "\ufffd")
		data, err := json.Marshal(map[string]string{"a": valid})
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]string
		if err := json.Unmarshal([]byte(print(string(data))), &back); err != nil || back["a"] != valid {
			t.Errorf("%q: JSON %q, %v", valid, print(string(data)), err)
		}
		for _, form := range []string{"a: " + YAML(valid), "{a: " + YAML(valid) + "}", "a: " + Quote(valid)} {
			var back map[string]string
			if err := yaml.Unmarshal([]byte(print(form+"\n")), &back); err != nil || back["a"] != valid {
				t.Errorf("%q: YAML %q, %v", valid, print(form), err)
			}
		}
	})
}

// most is a writer that knows how much came at once.
type most int

func (m *most) Write(p []byte) (int, error) {
	*m = max(*m, most(len(p)))
	return len(p), nil
}

// TestPieces: what is printed at once is handed on in pieces of whole lines, so that nobody holds all of it again.
func TestPieces(t *testing.T) {
	var m most
	long := strings.Repeat("x", 100_000) + "\n"
	for text, want := range map[string]most{strings.Repeat("a line\n", 100_000): 64 << 10, strings.Repeat(long, 5): most(len(long))} {
		m = 0
		if n, err := NewWriter(&m).Write([]byte(text)); err != nil || n != len(text) || m > want {
			t.Errorf("%d bytes of %d, %v; %d at once", n, len(text), err, m)
		}
	}
}
