package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sluicegate/sluice/window"
)

// hostile are inputs that somebody would write to do harm, or that a broken tool writes, with the code that each must give.
func hostile() map[string]struct {
	data []byte
	code string
} {
	type input = struct {
		data []byte
		code string
	}
	fill := func(s string) []byte { return bytes.Repeat([]byte(s), (MaxBytes-64)/len(s)) }
	after := func(head string, data []byte) []byte { return append([]byte(head), data...) }
	return map[string]input{
		"megabytes":              {bytes.Repeat([]byte("version: 1\n"), 1<<19), codeTooLarge},
		"one byte too many":      {bytes.Repeat([]byte(" "), MaxBytes+1), codeTooLarge},
		"nothing but spaces":     {bytes.Repeat([]byte(" "), MaxBytes), codeEmpty},
		"nothing but lines":      {fill("\n"), codeEmpty},
		"comments":               {fill("#\n"), codeEmpty},
		"NUL":                    {[]byte("version: 1\nmode: \x00"), codeControl},
		"escape":                 {[]byte("version: 1 # \x1b[2J"), codeControl},
		"order of display":       {[]byte("version: 1 # \u202e"), codeControl},
		"line separator":         {[]byte("version: 1 # \u2028mode: observe"), codeControl},
		"binary":                 {[]byte("\x7fELF\x02\x01\x01"), codeControl},
		"latin-1":                {[]byte("version: 1\n# gr\xfc\xdfe\n"), codeEncoding},
		"half a character":       {[]byte("version: 1 # \xe2\x82"), codeEncoding},
		"surrogate":              {[]byte("version: 1 # \xed\xa0\x80"), codeEncoding},
		"byte order mark":        {[]byte("\ufeffversion: 1"), codeEncoding},
		"UTF-16 LE":              {[]byte("\xff\xfev\x00e\x00"), codeEncoding},
		"UTF-16 BE":              {[]byte("\xfe\xff\x00v\x00e"), codeEncoding},
		"deep lists":             {fill("["), codeSyntax},
		"deep sections":          {fill("{"), codeSyntax},
		"deep flow sections":     {fill("{a: "), codeSyntax},
		"deep block lists":       {fill("- "), codeSyntax},
		"deep keys":              {fill("? "), codeSyntax},
		"closed deep lists":      {slices.Concat(bytes.Repeat([]byte("["), 9000), bytes.Repeat([]byte("]"), 9000)), codeTooDeep},
		"deep indentation":       {indented(), codeTooDeep},
		"one long word":          {after("version: 1\nmode: ", fill("x")), codeTooLong},
		"many keys":              {after("version: 1\n", lines("key%d: 1\n")), codeTooMany},
		"one key often":          {fill("a:\n"), codeTooMany},
		"many windows":           {after("version: 1\nwindows:\n", lines("  w%d: {}\n")), codeTooMany},
		"many rules":             {after("version: 1\nlayout:\n  rules:\n", fill("  - {paths: [a], release: live}\n")), codeTooMany},
		"many paths":             {after("version: 1\nlayout:\n  rules:\n  - release: live\n    paths: [a", after(string(fill(",a")), []byte("]"))), codeTooMany},
		"a long limit":           {after("version: 1\nlayout: {rules: [{paths: ['{c:", append(bytes.Repeat([]byte("x"), 1000), "*}'], release: live}]}\n"...)), codeBadGlob},
		"a long capture":         {after("version: 1\nlayout: {rules: [{paths: [a, '!{", append(bytes.Repeat([]byte("x"), 1000), "}'], release: live}]}\n"...)), codeBadGlob},
		"many limits":            {after("version: 1\nlayout: {rules: [{paths: ['{c:a", append(bytes.Repeat([]byte(",a"), 400), "}'], release: live}]}\n"...)), codeBadGlob},
		"open brackets":          {after("version: 1\nlayout:\n  rules:\n", fill("  - {release: live, paths: ['"+strings.Repeat("[", 900)+strings.Repeat("{a,b}", 6)+"']}\n")), codeBadGlob},
		"many branches":          {after("version: 1\nbranches:\n", fill("- {name: a, from: b, window: c}\n")), codeTooMany},
		"many anchors":           {bytes.Repeat([]byte("- &a a\n"), 1000), codeMoreFindings},
		"many aliases":           {after("- &a a\n", bytes.Repeat([]byte("- *a\n"), 1000)), codeMoreFindings},
		"comments between items": {fill("- a #x\n#y\n"), codeTooMany},
		"commented keys":         {fill("a: 1 #c\n# d\n"), codeTooMany},
		"quotes":                 {after("version: \"", fill("\\n")), codeSyntax},
		"billion laughs":         {laughs(), codeAlias},
		"documents":              {fill("---\n"), codeEmpty},
		"directives":             {append(lines("%%TAG !a%d! b\n"), "---\nversion: 1\n"...), codeSyntax},
		"zone in the file tree":  {[]byte("version: 1\ntimezone: ../../etc/passwd\n"), codeBadZone},
		"absolute zone":          {[]byte("version: 1\ntimezone: /etc/localtime\n"), codeBadZone},
	}
}

func lines(format string) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < MaxBytes-256; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.Bytes()
}

func indented() []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < MaxBytes-1024; i++ {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.Bytes()
}

func laughs() []byte {
	var b bytes.Buffer
	b.WriteString("a0: &a0 lol\n")
	for i := 1; i < 60; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return b.Bytes()
}

// tooSlow is far above what any input takes (some tenths of a second at most), so that a busy machine with the race detector
// passes; what takes time out of proportion takes minutes.
const tooSlow = 30 * time.Second

func TestHostile(t *testing.T) {
	for name, in := range hostile() {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			policy, findings := Parse(in.data)
			if took := time.Since(begin); took > tooSlow {
				t.Errorf("took %s", took)
			}
			if policy != nil {
				t.Error("gives a policy")
			}
			if !slices.ContainsFunc(findings, func(f Finding) bool { return f.Code == in.code }) {
				t.Errorf("no finding %s among\n%s", in.code, listing(findings))
			}
			checkFindings(t, policy, findings)
		})
	}
}

// TestCostly reads files that are well-formed and would take minutes if every opening were looked at.
func TestCostly(t *testing.T) {
	const head = "version: 1\ntimezone: Europe/Berlin\nwindows:\n"
	const even = "{open: '*/2 * * * *', close: '1-59/2 * * * *', cutoff: 0s"
	const odd = "{open: '1-59/2 * * * *', close: '*/2 * * * *', cutoff: 0s"
	repeat := func(line string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(line, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	for name, data := range map[string]string{
		"releases nothing": head + repeat("  w#: {open: '*/2 * * * *', close: '1-59/2 * * * *', cutoff: 168h}\n", MaxWindows),
		"never together":   head + "  a: " + even + "}\n  b: " + odd + "}\nlayout:\n  rules:\n" + repeat("  - {paths: [a#], release: [a, b]}\n", MaxRules),
		"always open":      head + repeat("  w#: {open: '* * * * *', duration: 8000h}\n", MaxWindows),
		"leap days":        head + repeat("  w#: {open: '0 0 29 2 *', duration: 1s, cutoff: 168h}\n", MaxWindows),
		"zones":            head + repeat("  w#: "+even+", timezone: America/New_York}\n", MaxWindows),
		"branches": "version: 1\nlayout:\n  rules:\n" + repeat("  - {paths: [a#], release: {branches: [b#, '**/*a*/**/*b*#/**', '**/*#a*/*']}}\n", MaxRules) +
			"branches:\n" + repeat("- {name: a/a/ab/a/a/a/a/ab/a/ab/a/a/a/a/a/b#, from: m, window: live}\n", MaxBranches),
		"globs": "version: 1\nlayout:\n  rules:\n" + repeat("  - {paths: ['**/*a*/**/*b*/**/*c*#*/**/**/*'], release: live}\n", MaxRules),
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			policy, findings := Parse([]byte(data))
			if policy != nil {
				findings = append(findings, Check(policy, []byte(data), CheckInput{At: begin})...)
			}
			if took := time.Since(begin); took > tooSlow {
				t.Errorf("took %s and found\n%s", took, listing(findings))
			}
		})
	}
}

// checkFindings checks what must hold of the findings of every input.
func checkFindings(t *testing.T, policy *Policy, findings []Finding) {
	t.Helper()
	failed := slices.ContainsFunc(findings, func(f Finding) bool { return f.Severity == Error })
	if failed != (policy == nil) {
		t.Errorf("policy is %v with findings\n%s", policy, listing(findings))
	}
	if len(findings) > 2*MaxFindings+1 {
		t.Errorf("%d findings", len(findings))
	}
	last := Finding{}
	for _, f := range findings {
		if f.Line < 1 || f.Column < 1 || f.Code == "" || f.Message == "" || len(f.Message) > 1000 {
			t.Errorf("finding %+v has no place or no sane words", f)
		}
		if strings.ContainsFunc(f.Message, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			t.Errorf("finding %+v holds a control character", f)
		}
		if f.Line < last.Line || f.Line == last.Line && f.Column < last.Column {
			t.Errorf("finding %+v comes after %+v", f, last)
		}
		last = f
	}
}

// TestPlaces counts lines and columns as editors do.
func TestPlaces(t *testing.T) {
	for data, want := range map[string][2]int{
		"version: 1\n# \x01":                                {2, 3},
		"version: 1\r\n# \x01":                              {2, 3},
		"version: 1\r# \x01":                                {2, 3},
		"version: 1\n# äöü\x01":                             {2, 6},
		"# größe\nversion: 1\nmode: x":                      {3, 7},
		"version: 1\r\nmode: x":                             {2, 7},
		"version: 1\nlayout: {unmatched: größe, preset: x}": {2, 36},
	} {
		_, findings := Parse([]byte(data))
		if len(findings) == 0 || [2]int{findings[len(findings)-1].Line, findings[len(findings)-1].Column} != want {
			t.Errorf("%q: want %v, got\n%s", data, want, listing(findings))
		}
	}
}

// TestWarningsDoNotHideErrors fills the report with warnings first.
func TestWarningsDoNotHideErrors(t *testing.T) {
	r := newReport()
	for range 3 * MaxFindings {
		r.warn(start(), tooFew())
	}
	r.fail(place{9, 9}, emptyFile())
	out := r.sorted()
	if !slices.ContainsFunc(out, func(f Finding) bool { return f.Severity == Error }) {
		t.Errorf("the error is lost:\n%s", listing(out))
	}
}

// FuzzParse feeds Parse whatever comes, and changes of whole files.
func FuzzParse(f *testing.F) {
	f.Add(exampleFile(f))
	for _, in := range hostile() {
		if len(in.data) < 4096 {
			f.Add(in.data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		policy, findings := Parse(data)
		checkFindings(t, policy, findings)
		again, same := Parse(data)
		if (again == nil) != (policy == nil) || !cmp.Equal(findings, same) {
			t.Fatalf("a second look differs: %s", cmp.Diff(findings, same))
		}
		base, _ := Parse(exampleFile(t))
		during := window.Interval{From: time.Unix(1_800_000_000, 0), Until: time.Unix(1_808_000_000, 0)}
		outline, verified := Verify(data, base, during)
		if (outline == nil) != (policy == nil) || !cmp.Equal(findings, verified) {
			t.Fatalf("a proposed file is judged differently: %s", cmp.Diff(findings, verified))
		}
		if policy != nil {
			if is := policy.Proposed(base, during); !cmp.Equal(outline, is) {
				t.Fatalf("its outline differs: %s", cmp.Diff(is, outline))
			}
			if same := policy.Proposed(policy, during); len(same.Changed) > 0 || same.Openings.Any() {
				t.Fatalf("it differs from itself: %+v", same)
			}
			found := Check(policy, data, CheckInput{Paths: []string{"a/b-rw/c", ""}, DefaultBranch: "main", At: time.Unix(1800000000, 0)})
			if slices.ContainsFunc(found, func(f Finding) bool { return f.Line < 1 }) {
				t.Fatalf("no place:\n%s", listing(found))
			}
		}
	})
}

func BenchmarkParseExample(b *testing.B) {
	data := exampleFile(b)
	b.ReportAllocs()
	for b.Loop() {
		if p, _ := Parse(data); p == nil {
			b.Fatal("invalid")
		}
	}
}

func BenchmarkParseHostile(b *testing.B) {
	for name, in := range hostile() {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				Parse(in.data)
			}
		})
	}
}

// TestAThousandBranches: a fleet with a rule and an entry for each of a thousand clusters is within the bounds; more than a
// thousand, or as many patterns with wildcards, is not.
func TestAThousandBranches(t *testing.T) {
	fleet := func(n int, glob string) string {
		var b strings.Builder
		b.WriteString("version: 1\ntimezone: Europe/Berlin\nwindows:\n  no-deploy-friday: {open: '0 8 * * MON', close: '0 17 * * THU'}\nlayout:\n  rules:\n")
		for i := range min(n, MaxRules) {
			fmt.Fprintf(&b, "    - paths: ['clusters/production-eu-%04d/apps/apps-rw/**']\n      release: {branches: ['"+glob+"']}\n", i, i)
		}
		b.WriteString("branches:\n")
		for i := range n {
			fmt.Fprintf(&b, "  - name: rw/production-eu-%04d\n    from: main\n    window: no-deploy-friday\n    checks: all\n", i)
		}
		return b.String()
	}
	const named, wild = "rw/production-eu-%04d", "rw/*-%04d"
	for name, c := range map[string]struct {
		data string
		want string
	}{
		"a thousand":              {fleet(MaxBranches, named), ""},
		"one more":                {fleet(MaxBranches+1, named), codeTooMany},
		"as many wildcards":       {fleet(MaxBranchGlobs, wild), ""},
		"one more with wildcards": {fleet(MaxBranchGlobs+1, wild), codeTooMany},
	} {
		policy, findings := Parse([]byte(c.data))
		if (policy != nil) != (c.want == "") || len(findings) > 1 || (c.want != "" && (len(findings) != 1 || findings[0].Code != c.want)) {
			t.Errorf("%s, %d bytes:\n%s", name, len(c.data), listing(findings))
		}
		if policy != nil && len(policy.MatchingFrom("branch:rw/production-eu-0007", "main")) != 1 {
			t.Errorf("%s: no entry for rw/production-eu-0007", name)
		}
	}
}
