package layout

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

// hostileRules is as many rules as a file may have, near enough, of a shape: # is the number of the rule.
func hostileRules(shape string) []string {
	var out []string
	written := 0
	for i := range MaxRules - 10 {
		glob := strings.ReplaceAll(strings.ReplaceAll(shape, "#", fmt.Sprint(i)), "@", string(rune(0x4e00+i)))
		if written += len(glob); written > MaxWritten {
			break
		}
		out = append(out, glob)
	}
	return out
}

// deepPath is a path of so many directories of a name.
func deepPath(name string, depth int) string {
	return strings.TrimSuffix(strings.Repeat(name+"/", depth), "/")
}

// What one path costs is bounded whatever the rules are and however long it is; where the bound is met, the path is unclear, never live.
func TestWorkIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		shape, path string
		bounded     bool
	}{
		"wildcards between `**`":    {"**/*#z*/**/*-rw", deepPath("abab", 128), true},
		"wildcards in the middle":   {"**/a*#*b/**/*-rw", deepPath("abab", 128), true},
		"many `**`":                 {strings.Repeat("**/*[ab@]*/", 31) + "zz", deepPath("abab", 128), true},
		"long names":                {"*" + strings.Repeat("?", 40) + "[@]*", strings.Repeat("a", maxPath), true},
		"captures that repeat":      {"**/{a}/**/{a}/**/{b}/**/{b}/*[@]", deepPath("a/b/c/d", 63), true},
		"captures within names":     {"{a}-{b}/**/{b}-{a}/**", deepPath("x-y", 64), true},
		"shallow paths":             {"**/*#z*/**/*-rw", deepPath("abab", 15), false},
		"no `**`":                   {"*/*#z*/*/*-rw", deepPath("abab", 4), false},
		"one `**` and a beginning":  {"**/a-#*/**/*-rw", deepPath("a-1", 128), false},
		"long names with captures":  {"{a}-{b}/{b}-{a}", deepPath(strings.Repeat("x-", 1000)+"y", 2), true},
		"short names with captures": {"{a}-{b}/{b}-{a}#", "x-y/x-z", false},
		"captures":                  {"{a}/{b}/*#z*/{a}/*", deepPath("abab", 5), false},
	} {
		t.Run(name, func(t *testing.T) {
			spec := Spec{Windows: []string{"w"}, Unmatched: []Release{Live}}
			for _, g := range hostileRules(c.shape) {
				spec.Rules = append(spec.Rules, Rule{Paths: []string{g}, Releases: []string{"w"}})
			}
			l, problems := New(spec)
			if l == nil {
				t.Fatal(problems)
			}
			got := l.Classify(c.path)
			if unclear := slices.Contains(got.Releases, Unclear); unclear != c.bounded {
				t.Errorf("%v", got)
			}
			s := l.scratches.Get().(*scratch)
			defer l.scratches.Put(s)
			if !s.read(c.path) {
				t.Fatal("no path")
			}
			l.decide(s)
			if s.work < -maxWork/10 {
				t.Errorf("it went on for %d after the bound of %d", -s.work, maxWork)
			}
		})
	}
}

// BenchmarkDeepPaths is 990 rules and deep paths, one operation for one path: as long as a path may be and, beside it, doublestar rule by rule; and
// of a depth that trees have.
func BenchmarkDeepPaths(b *testing.B) {
	globs := hostileRules("**/*#z*/**/*-rw")
	for _, depth := range []int{15, 128, 250} {
		path := deepPath("abab", depth)
		b.Run(fmt.Sprintf("trie/depth=%d", depth), func(b *testing.B) {
			l := benchLayout(b, globs)
			for b.Loop() {
				l.Classify(path)
			}
		})
		b.Run(fmt.Sprintf("doublestar/depth=%d", depth), func(b *testing.B) {
			for b.Loop() {
				for _, g := range globs {
					if doublestar.MatchUnvalidated(g, path) {
						break
					}
				}
			}
		})
	}
}

// BenchmarkCaptures is paths against rules whose captures are part of segments, one operation for one path: one that such a rule decides,
// one that costs all that a path may, and beside them one that rules with exceptions and one that rules without decide.
func BenchmarkCaptures(b *testing.B) {
	for name, c := range map[string]struct{ shape, path string }{
		"usual":   {"clusters/c#/{env:prod,stg}/values-{env}.yaml", "clusters/c77/prod/values-prod.yaml"},
		"out":     {"clusters/c#/**/*.yaml !clusters/c#/docs/** !**/test-*", "clusters/c77/prod/values-prod.yaml"},
		"none":    {"clusters/c#/**/*.yaml", "clusters/c77/prod/values-prod.yaml"},
		"hostile": {"{a}-{b}/**/{b}-{a}/**", deepPath("x-y", 64)},
		"long":    {"{a}-{b}/{b}-{a}", deepPath(strings.Repeat("x-", 1000)+"y", 2)},
	} {
		b.Run(name, func(b *testing.B) {
			l := benchLayout(b, hostileRules(c.shape))
			for b.Loop() {
				l.Classify(c.path)
			}
		})
	}
}

// Whatever is done for captures that stand twice counts as work: comparing what they stand for, and writing down each choice of it.
func TestCapturesThatRepeatCountAsWork(t *testing.T) {
	spent := func(glob, path string) int {
		l := benchLayout(t, []string{glob})
		s := l.scratches.Get().(*scratch)
		defer l.scratches.Put(s)
		if !s.read(path) {
			t.Fatal("no path")
		}
		l.decide(s)
		return maxWork - int(s.work)
	}
	const depth = 100
	var a, b []string
	for i := range depth {
		a, b = append(a, fmt.Sprintf("a%d", i)), append(b, fmt.Sprintf("b%d", i))
	}
	if got, want := spent("**/{x}/**/{x}", strings.Join(append(a, b...), "/")), depth*depth; got < want {
		t.Errorf("%d steps for %d names that are compared with each other", got, want)
	}

	var names, values []string
	for i := range 64 {
		names, values = append(names, fmt.Sprintf("{n%d}", i)), append(values, fmt.Sprint("v", i))
	}
	join := func(all []string) string { // four in a segment
		var out []string
		for part := range slices.Chunk(all, 4) {
			out = append(out, strings.Join(part, "-"))
		}
		return strings.Join(out, "/")
	}
	x := strings.Join(a[:60], "/")
	glob, path := "**/{x}/**/{x}/**/q/"+join(names)+"/"+join(names), x+"/"+x+"/q/"+join(values)+"/"+join(values)
	l := benchLayout(t, []string{glob})
	if got := testing.AllocsPerRun(1, func() { l.Classify(path) }); got > 10_000 {
		t.Errorf("%.0f allocations for one path", got)
	}
}

// A bracket that nothing closes is refused before a pattern's alternations are written out: to look for its end in each of them took time in
// proportion to their number and to the square of the length.
func TestOpenBracketIsRefusedAtOnce(t *testing.T) {
	for _, glob := range []string{
		strings.Repeat("[", 900) + strings.Repeat("{a,b}", 6),
		strings.Repeat("{a,b}", 6) + strings.Repeat("[", 900),
		"{a," + strings.Repeat("[", 900) + "}",
	} {
		_, err := compileGlob(glob)
		if err == nil || !strings.Contains(err.message, "a [class] does not end") {
			t.Errorf("%v", err)
		}
		if got := testing.AllocsPerRun(1, func() { _, _ = compileGlob(glob) }); got > 50 {
			t.Errorf("%.0f allocations for %.20s…", got, glob)
		}
	}
}

// Lint's look for rules that never match costs little where many rules of one shape have exceptions.
func TestLintOfExceptionsAllocatesLittle(t *testing.T) {
	allocs := func(n int) float64 {
		spec := Spec{Windows: []string{"w"}}
		for i := range n {
			spec.Rules = append(spec.Rules, Rule{Paths: []string{"a/{b}/**", fmt.Sprintf("!b%d*/**", i), fmt.Sprintf("!**/d*%d/**", i)}, Releases: []string{"w"}})
		}
		l, problems := New(spec)
		if l == nil {
			t.Fatal(problems)
		}
		return testing.AllocsPerRun(1, func() { l.Lint([]string{"a/b/c"}) })
	}
	if few, many := allocs(40), allocs(160); many > 8*few {
		t.Errorf("%.0f allocations for 40 rules, %.0f for 160", few, many)
	}
}
