package layout

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestProblems is every problem in the words that a user reads.
func TestProblems(t *testing.T) {
	live := []string{"live"}
	rule := func(path string) Spec { return Spec{Rules: []Rule{{Paths: []string{path}, Releases: live}}} }
	except := func(path string) Spec { return Spec{Rules: []Rule{{Paths: []string{"a/**", path}, Releases: live}}} }
	releases := func(names ...string) Spec {
		return Spec{Windows: []string{"w"}, Rules: []Rule{{Paths: []string{"a/{c}", "b/{c}/{d}"}, Releases: names}}}
	}
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{rule(""), "paths[0].0.-1 empty-glob: the path is empty; for every path write **"},
		{rule("/a"), "paths[0].0.-1 absolute-glob: /a begins with a slash; paths are relative to the repository's root"},
		{rule("a/../b"), "paths[0].0.-1 dot-dot-glob: a/../b has a segment . or .., which no path of a repository has"},
		{rule("./a"), "paths[0].0.-1 dot-dot-glob: ./a has a segment . or .., which no path of a repository has"},
		{rule(`\./a`), `paths[0].0.-1 dot-dot-glob: \./a has a segment . or .., which no path of a repository has`},
		{rule("a//b"), "paths[0].0.-1 bad-glob: a//b is not a path pattern: it has an empty segment; for all that is below a directory write DIR/**"},
		{rule("a/"), "paths[0].0.-1 bad-glob: a/ is not a path pattern: it has an empty segment; for all that is below a directory write DIR/**"},
		{rule("a/{,b}/c"), "paths[0].0.-1 bad-glob: a/{,b}/c is not a path pattern: it has an empty segment; for all that is below a directory write DIR/**"},
		{rule("a[b"), "paths[0].0.-1 bad-glob: a[b is not a path pattern: a [class] does not end"},
		{rule("a[]b"), "paths[0].0.-1 bad-glob: a[]b is not a path pattern: a [class] is empty"},
		{rule("a[b/c]"), "paths[0].0.-1 bad-glob: a[b/c] is not a path pattern: a [class] holds a slash"},
		{rule("a[z-a]"), "paths[0].0.-1 bad-glob: a[z-a] is not a path pattern: a [class] has a range that runs backwards"},
		{rule(`a\`), `paths[0].0.-1 bad-glob: a\ is not a path pattern: a backslash escapes nothing`},
		{rule("{a,b"), `paths[0].0.-1 bad-glob: {a,b is not a path pattern: a { does not end; write \{ for the character`},
		{rule("a}"), `paths[0].0.-1 bad-glob: a} is not a path pattern: a } closes nothing; write \} for the character`},
		{rule("{}"), "paths[0].0.-1 bad-glob: {} is not a path pattern: {} is not a capture: a name is letters, digits, _ and -"},
		{rule("{a b}/x"), "paths[0].0.-1 bad-glob: {a b}/x is not a path pattern: {a b} is not a capture: a name is letters, digits, _ and -"},
		{rule("{a/b}"), "paths[0].0.-1 bad-glob: {a/b} is not a path pattern: braces without a comma are a capture, and hold one name"},
		{rule("a\nb"), `paths[0].0.-1 bad-glob: "a\nb" is not a path pattern: it has a character that cannot be printed`},
		{rule("a\xff"), `paths[0].0.-1 bad-glob: "a\xff" is not a path pattern: it has a character that cannot be printed`},
		{rule("{c}{d}/a"), "paths[0].0.-1 capture-unclear: in {c}{d}/a it is unclear where a capture of {c}{d} ends: put text between it and the next capture or *, or limit it, {env:prod,stg}"},
		{rule("{c}*/a"), "paths[0].0.-1 capture-unclear: in {c}*/a it is unclear where a capture of {c}* ends: put text between it and the next capture or *, or limit it, {env:prod,stg}"},
		{rule("a/b*{c}"), "paths[0].0.-1 capture-unclear: in a/b*{c} it is unclear where a capture of b*{c} ends: put text between it and the next capture or *, or limit it, {env:prod,stg}"},
		{rule("x-{c d}/a"), "paths[0].0.-1 bad-glob: x-{c d}/a is not a path pattern: {c d} is not a capture: a name is letters, digits, _ and -"},
		{rule("{c:a,,b}"), "paths[0].0.-1 bad-glob: {c:a,,b} is not a path pattern: a capture is limited to names that are written out, as in {env:prod,stg}; {c:a,,b} is not"},
		{rule("{c:}/x"), "paths[0].0.-1 bad-glob: {c:}/x is not a path pattern: a capture is limited to names that are written out, as in {env:prod,stg}; {c:} is not"},
		{rule("{c:a*,b}"), "paths[0].0.-1 bad-glob: {c:a*,b} is not a path pattern: a capture is limited to names that are written out, as in {env:prod,stg}; {c:a*,b} is not"},
		{rule("{c:{a,b}}"), "paths[0].0.-1 bad-glob: {c:{a,b}} is not a path pattern: a capture is limited to names that are written out, as in {env:prod,stg}; {c:{a,b}} is not"},
		{rule("{c:a/b}"), "paths[0].0.-1 bad-glob: {c:a/b} is not a path pattern: a capture is limited to names that are written out, as in {env:prod,stg}; {c:a/b} is not"},
		{rule("{c:a,b,a}"), "paths[0].0.-1 bad-glob: {c:a,b,a} is not a path pattern: the limits of {c} name a twice"},
		{rule("{c:a,b}/{c:d}"), "paths[0].0.-1 bad-glob: {c:a,b}/{c:d} is not a path pattern: the limits of a capture that is used twice have no name in common"},
		{rule("{c:..}/a"), "paths[0].0.-1 dot-dot-glob: {c:..}/a has a segment . or .., which no path of a repository has"},
		{rule("{c:a" + strings.Repeat(",a", 64) + "}"), "paths[0].0.-1 bad-glob: {c:a" + strings.Repeat(",a", 38) + "… is not a path pattern: the limits of {c} name a twice"},
		{rule("{c:" + numbers(65) + "}"), "paths[0].0.-1 too-many: the alternations of {c:" + numbers(65)[:77] + "… stand for more than 64 patterns"},
		{rule("!a"), "paths[0].-1.-1 no-paths: a rule needs at least one path without a !; a ! only excludes paths"},
		{except("!"), "paths[0].1.-1 empty-glob: the path is empty; for every path write **"},
		{except("!/b"), "paths[0].1.-1 absolute-glob: /b begins with a slash; paths are relative to the repository's root"},
		{except("!!b"), `paths[0].1.-1 bad-glob: !b is not a path pattern: a ! takes paths out only once, and of a rule; write \! for the character`},
		{except("!b/{c}"), "paths[0].1.-1 bad-glob: {c} captures nothing here; for alternatives write {a,b}"},
		{except("!b/x-{c:d,e}"), "paths[0].1.-1 bad-glob: {c} captures nothing here; for alternatives write {a,b}"},
		{except("!b["), "paths[0].1.-1 bad-glob: b[ is not a path pattern: a [class] does not end"},
		{rule("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"), "paths[0].0.-1 too-many: the alternations of {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b} stand for more than 64 patterns"},
		{rule(strings.Repeat("a/", 64) + "a"), "paths[0].0.-1 too-many: " + strings.Repeat("a/", 40) + "… has more than 64 segments"},
		{rule(strings.Repeat("a", 1025)), "paths[0].0.-1 too-many: the path pattern has 1025 bytes; at most 1024"},
		{Spec{Rules: []Rule{{Releases: live}}}, "paths[0].-1.-1 no-paths: a rule needs at least one path"},
		{Spec{Rules: make([]Rule, 1001)}, "rules[-1].-1.-1 too-many: 1001 rules; at most 1000"},
		{releases(), "release[0].-1.-1 no-release: a rule needs a release: live, ignore, a window or branches"},
		{releases("w", "{d}"), "release[0].0.1 unknown-capture: the release {d} needs a capture of that name in every path of the rule; a/{c} has none"},
		{releases("{c}", "w", "{c}"), "release[0].-1.2 release-twice: {c} is named twice"},
		{releases("w-{c}"), "release[0].-1.0 capture-not-whole: w-{c}: a capture is a release by itself, {name}, and never part of one"},
		{releases("w", "v"), "release[0].-1.1 unknown-window: there is no window v"},
		{releases("w", ""), `release[0].-1.1 unknown-window: there is no window ""`},
		{releases("ignore", "w"), "release[0].-1.0 mixes-ignore: ignore stands alone: a path is either ignored or needs releases"},
		{releases("branch:/a"), "release[0].-1.0 bad-branch-glob: the branch pattern /a cannot be used: /a begins with a slash; paths are relative to the repository's root"},
		{releases("branch:!rw"), `release[0].-1.0 bad-branch-glob: the branch pattern !rw cannot be used: !rw is not a path pattern: a ! takes paths out only once, and of a rule; write \! for the character`},
		{releases("branch:rw-{c}"), "release[0].-1.0 bad-branch-glob: the branch pattern rw-{c} cannot be used: {c} captures nothing here; for alternatives write {a,b}"},
		{releases("branch:rw/{c}"), "release[0].-1.0 bad-branch-glob: the branch pattern rw/{c} cannot be used: {c} captures nothing here; for alternatives write {a,b}"},
		{releases(make([]string, 101)...), "release[0].-1.-1 too-many: more than 100 releases in one rule"},
		{Spec{Windows: []string{"w"}, Rules: []Rule{{Paths: []string{"a"}, Ignore: true, Releases: live}}}, "release[0].-1.0 mixes-ignore: ignore stands alone: a path is either ignored or needs releases"},
		{Spec{Preset: "rtrw"}, "preset[-1].-1.-1 unknown-preset: rtrw is not a preset; use none, rt-rw, rt-mw or live-window"},
		{Spec{Preset: RTRW}, "preset[-1].-1.-1 preset-without-release: the preset rt-rw needs a window or branches for its windowed side"},
		{Spec{Preset: RTRW, Side: []Release{Live}}, "window[-1].-1.0 preset-live: the preset's windowed side must not be live: name a window"},
		{Spec{Preset: RTRW, Side: []Release{"v"}}, "window[-1].-1.0 unknown-window: there is no window v"},
		{Spec{Windows: []string{"w"}, Side: []Release{"w"}}, "window[-1].-1.-1 release-without-preset: a window or branches without a preset have no effect: name a preset, or use unmatched"},
		{Spec{Unmatched: []Release{"v"}}, "unmatched[-1].-1.0 unknown-window: there is no window v"},
		{Spec{Unmatched: []Release{"{c}"}}, "unmatched[-1].-1.0 unknown-capture: there is no capture {c} here: a rule's paths have captures, and its release may name them"},
	} {
		l, problems := New(c.spec)
		if len(problems) != 1 || problems[0].String() != c.want {
			t.Errorf("got %v\nwant %s", problems, c.want)
			continue
		}
		if (l != nil) != problems[0].Warning {
			t.Errorf("%s: a layout came with it: %v", c.want, l != nil)
		}
	}
}

// numbers is so many different names with commas between.
func numbers(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(i))
	}
	return strings.Join(out, ",")
}

// Each release that is wrong is named, also after another one.
func TestEveryWrongReleaseIsNamed(t *testing.T) {
	l, problems := New(Spec{Windows: []string{"w"}, Rules: []Rule{{Paths: []string{"a"}, Releases: []string{"v", "w", "u"}}}})
	if l != nil || fmt.Sprint(problems) != "[release[0].-1.0 unknown-window: there is no window v release[0].-1.2 unknown-window: there is no window u]" {
		t.Error(problems)
	}
}

// Every pattern counts, alternations written out: too many rules of them are refused before they cost anything.
func TestTooManyPatterns(t *testing.T) {
	spec := Spec{}
	for range MaxPatterns/MaxAlternatives + 1 {
		spec.Rules = append(spec.Rules, Rule{Paths: []string{"{a,b}/{a,b}/{a,b}/{a,b}/{a,b}/{a,b}"}, Releases: []string{"live"}})
	}
	l, problems := New(spec)
	if l != nil || len(problems) != 1 || problems[0].String() != "paths[62].-1.-1 too-many: the rules up to here have more than 4000 paths, alternations written out" {
		t.Error(problems)
	}
}

// TestTooLongPatterns: a file of 30 KB would take hundreds of megabytes, alternations written out.
func TestTooLongPatterns(t *testing.T) {
	spec := Spec{}
	for range 30 {
		spec.Rules = append(spec.Rules, Rule{Paths: []string{"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}" + strings.Repeat("/?a[ab]*b", 60)}, Releases: []string{"live"}})
	}
	l, problems := New(spec)
	if l != nil || len(problems) != 1 || problems[0].String() != "paths[7].-1.-1 too-many: the paths of the rules up to here have more than 262144 bytes, alternations written out" {
		t.Error(problems)
	}
	if d := cmp.Diff(problems, Check(spec)); d != "" {
		t.Error(d)
	}
}

func TestLint(t *testing.T) {
	l := must(t, Spec{
		Windows: []string{"w"},
		Preset:  RTRW,
		Side:    []Release{"w"},
		Rules: []Rule{
			{Paths: []string{"apps/**"}, Releases: []string{"live"}},
			{Paths: []string{"apps/a/**", "apps/{x,y}/z"}, Releases: []string{"w"}},
			{Paths: []string{"apps/flux-system/**"}, Releases: []string{"w"}},
			{Paths: []string{"clusters/*/x/**", "apps/b"}, Releases: []string{"w"}},
			{Paths: []string{"clusters/{c}/x/y"}, Releases: []string{"{c}"}},
			{Paths: []string{"{a,apps}/*-q/**"}, Releases: []string{"w"}},
			{Paths: []string{"nothing/**"}, Ignore: true},
			{Paths: []string{"s/{t}/{t}/**"}, Releases: []string{"w"}},
			{Paths: []string{"s/*/*/**"}, Releases: []string{"w"}},
			{Paths: []string{"s/a*/b/f"}, Releases: []string{"w"}},
		},
	})
	var got []string
	for _, p := range l.Lint([]string{
		"apps/a-rw/f", "bad//path", "apps/b-rw/f", "apps/c/f", "apps/b", "clusters/a/x/y", "a/b-q/f", "s/1/1/f", "s/1/2/f", "apps/flux-system/f",
	}) {
		if !p.Warning {
			t.Errorf("not a warning: %v", p)
		}
		got = append(got, p.String())
	}
	want := []string{
		"paths[0].-1.-1 rule-makes-live: the rule makes live what preset rt-rw would hold: apps/a-rw/f and 1 more",
		"paths[1].0.-1 rule-never-matches: rule 2: apps/a/** can never match: rule 1: apps/** already matches all of it",
		"paths[1].1.-1 rule-never-matches: rule 2: apps/{x,y}/z can never match: rule 1: apps/** already matches all of it",
		"paths[3].1.-1 rule-never-matches: rule 4: apps/b can never match: rule 1: apps/** already matches all of it",
		"paths[4].0.-1 rule-never-matches: rule 5: clusters/{c}/x/y can never match: rule 4: clusters/*/x/** already matches all of it",
		"paths[6].-1.-1 rule-matches-nothing: the rule matches no file of the tree",
		"paths[9].0.-1 rule-never-matches: rule 10: s/a*/b/f can never match: rule 9: s/*/*/** already matches all of it",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, p := range l.Lint(nil) {
		if p.Code == codeNothing {
			t.Errorf("no tree was given: %v", p)
		}
	}
}

// A wildcard takes all of itself, and of the names that it matches; of another wildcard it may take nothing.
func TestLintWildcards(t *testing.T) {
	l := must(t, Spec{Windows: []string{"w"}, Rules: []Rule{
		{Paths: []string{"a/*-q/**"}, Releases: []string{"w"}},
		{Paths: []string{"a/*-q/x", "a/*-r/x", "a/b-q/x", "a/b-r/x"}, Releases: []string{"w"}},
	}})
	var got []string
	for _, p := range l.Lint(nil) {
		got = append(got, p.String())
	}
	want := []string{
		"paths[1].0.-1 rule-never-matches: rule 2: a/*-q/x can never match: rule 1: a/*-q/** already matches all of it",
		"paths[1].2.-1 rule-never-matches: rule 2: a/b-q/x can never match: rule 1: a/*-q/** already matches all of it",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// lints is what Lint says of rules that hold, of a tree.
func lints(t *testing.T, paths [][]string, tree ...string) string {
	t.Helper()
	spec := Spec{Windows: []string{"w"}}
	for _, p := range paths {
		spec.Rules = append(spec.Rules, Rule{Paths: p, Releases: []string{"w"}})
	}
	var out []string
	for _, p := range must(t, spec).Lint(tree) {
		out = append(out, fmt.Sprintf("%d.%d %s: %s", p.Rule, p.Path, p.Code, p.Message))
	}
	return strings.Join(out, "\n")
}

// TestLintParts: a wildcard takes all of another one, or of a capture, where the text at both ends shows it; and of limited captures
// what they are limited to.
func TestLintParts(t *testing.T) {
	for _, c := range []struct{ before, then, want string }{
		{"a/*.yaml", "a/{c}.yaml", "never"},
		{"a/{c}.yaml", "a/{d}.yaml", "never"},
		{"a/{c}.yaml", "a/*.yaml", ""}, // which matches .yaml alone
		{"a/{c}.yaml", "a/x*.yaml", "never"},
		{"a/*-*", "a/{c}-{d}", ""},
		{"a/{c}-{d}", "a/{e}-{f}", "never"},
		{"a/x*", "a/x-{c}", "never"},
		{"a/x-*", "a/x{c}", ""},
		{"a/x-*-y", "a/x-y", ""},
		{"a/*", "a/{c}.b", "never"},
		{"a/{x,y}/**", "a/{c:x,y}/b", "never"},
		{"a/{x,y}/**", "a/{c:x,z}/b", ""},
		{"a/{c:x,y}.b", "a/y.b", "never"},
		{"a/{c}/{c}.b", "a/x/x.b", ""}, // it repeats a capture: nothing is certain
		{"a/{c:x,y}/{c}", "a/x/x", "never"},
	} {
		got := lints(t, [][]string{{c.before}, {c.then}})
		if (got != "") != (c.want != "") {
			t.Errorf("%s after %s: %q, want %q", c.then, c.before, got, c.want)
		}
	}
}

// TestLintExceptions: what a rule leaves out it takes from no later one; what its own exceptions take out whole never matches; and one that
// takes nothing out of the tree may be a typing error.
func TestLintExceptions(t *testing.T) {
	shadowed := "1.0 rule-never-matches: rule 2: a/b/** can never match: rule 1: a/** already matches all of it"
	for _, c := range []struct {
		rules [][]string
		tree  string
		want  string
	}{
		{[][]string{{"a/**", "!a/c/**"}, {"a/b/**"}}, "", shadowed},
		{[][]string{{"a/**", "!A/B/c"}, {"a/b/**"}}, "", ""},
		{[][]string{{"a/**", "!a/b/x"}, {"a/b/**"}}, "", ""},
		{[][]string{{"a/**", "!**/x"}, {"a/b/**"}}, "", ""},
		{[][]string{{"a/**", "!a/*/x"}, {"a/b/**"}}, "", ""},
		{[][]string{{"a/b/**", "c", "!a/**"}}, "", "0.0 rule-never-matches: rule 1: a/b/** can never match: rule 1: !a/** excludes all of it"},
		{[][]string{{"flux-system/**", "!**"}}, "", "0.0 rule-never-matches: rule 1: flux-system/** can never match: rule 1: !** excludes all of it"},
		{[][]string{{"a/{b,c}", "!a/b"}}, "", ""},
		{[][]string{{"a/{b,c}", "!a/{b,c,d}"}}, "", "0.0 rule-never-matches: rule 1: a/{b,c} can never match: rule 1: !a/{b,c,d} excludes all of it"},
		{[][]string{{"a/**", "!a/b/**", "!a/{c,d}/**"}}, "a/x a/b/x a/d/x", ""},
		{[][]string{{"a/**", "!a/b/**", "!a/{c,d}/**"}}, "a/x a/b/x", "0.2 exception-matches-nothing: rule 1: !a/{c,d}/** excludes no file of the tree"},
		{[][]string{{"a/**", "!a/b/**"}}, "a/b/x", "0.-1 rule-matches-nothing: the rule matches no file of the tree"},
	} {
		if d := cmp.Diff(c.want, lints(t, c.rules, strings.Fields(c.tree)...)); d != "" {
			t.Errorf("%v on %s:\n%s", c.rules, c.tree, d)
		}
	}
	// Of a rule that is live an exception takes out what differs by case alone, too.
	l := must(t, Spec{Rules: []Rule{{Paths: []string{"a/B/**", "!A/b/**"}, Releases: []string{"live"}}}})
	if got := fmt.Sprint(l.Lint(nil)); !strings.Contains(got, codeShadowed) {
		t.Errorf("got %s", got)
	}
}

// TestLintCaptures: of each rule's captures that are releases, what they stand for in the tree that is no window.
func TestLintCaptures(t *testing.T) {
	l := must(t, Spec{Windows: []string{"w"}, Rules: []Rule{
		{Paths: []string{"a/{c}/{d}/**"}, Releases: []string{"{c}", "{d}"}},
		{Paths: []string{"b/{c:w,x}.y"}, Releases: []string{"{c}"}},
		{Paths: []string{"c/{c}"}, Releases: []string{"{c}"}},
	}})
	var got []string
	for _, p := range l.Lint([]string{"a/w/w/f", "a/1/w/f", "a/2/3/f", "a/2/4/f", "a/2/5/f", "a/2/6/f", "a/w/7/g", "b/w.y", "b/x.y", "b/z.y", "c/w"}) {
		got = append(got, p.String())
	}
	end := "; limit it, {%s:prod,stg}, or give windows these names"
	if d := cmp.Diff([]string{
		"release[0].-1.-1 capture-names-no-window: {c} names no window in 5 of the tree's files, which are never releasable: 1 (a/1/w/f), 2 (a/2/3/f and 3 more)" + fmt.Sprintf(end, "c"),
		"release[0].-1.-1 capture-names-no-window: {d} names no window in 5 of the tree's files, which are never releasable: 3 (a/2/3/f), 4 (a/2/4/f), 5 (a/2/5/f), and 2 more" + fmt.Sprintf(end, "d"),
		"release[1].-1.-1 capture-names-no-window: {c} names no window in 1 of the tree's files, which are never releasable: x (b/x.y)" + fmt.Sprintf(end, "c"),
	}, got); d != "" {
		t.Error(d)
	}
}

// Whoever writes out a protected directory knows what he makes live there: it is no news.
func TestLintOfANamedDirectory(t *testing.T) {
	l := must(t, Spec{Windows: []string{"w"}, Preset: RTRW, Side: []Release{"w"}, Rules: []Rule{
		{Paths: []string{"flux-system/a-rw/**"}, Releases: []string{"live"}},
	}})
	if got := l.Classify("flux-system/a-rw/f"); !got.live() {
		t.Fatalf("the path is %v: the test proves nothing", got)
	}
	if problems := l.Lint([]string{"flux-system/a-rw/f"}); len(problems) > 0 {
		t.Error(problems)
	}
}

// TestLintProtected: check says which protected paths people merge, and which are ignored although something would make them live. A
// rule that writes the directory out is not spoken of.
func TestLintProtected(t *testing.T) {
	l := must(t, Spec{
		Windows: []string{"w"}, Preset: RTRW, Side: []Release{"branch:rw/*"}, Unmatched: []Release{"w"},
		Rules: []Rule{
			{Paths: []string{"infra/**"}, Releases: []string{"w"}},
			{Paths: []string{"infra/flux-system/**"}, Releases: []string{"live"}},
			{Paths: []string{"apps/**"}, Releases: []string{"live"}},
			{Paths: []string{"clusters/*/flux-system/**"}, Releases: []string{"w"}},
			{Paths: []string{"clusters/**"}, Ignore: true},
		},
	})
	var got []string
	for _, p := range l.Lint([]string{
		".github/workflows/x", "infra/flux-system/a", "infra/flux-system/b", "infra/x", "apps/flux-system/a", "clusters/a/flux-system/x",
		"clusters/a/b/flux-system/x", "x-rw/flux-system/x", "other/flux-system/x",
	}) {
		got = append(got, p.String())
	}
	people, ignored := "this holds protected paths, and people merge them while it is open: ", "protected paths are ignored here, and people merge them: "
	sluice, counts := "; sluice merges them if a rule writes out .github or flux-system", "; a rule that writes out .github or flux-system counts for them"
	if d := cmp.Diff([]string{
		"paths[0].-1.-1 protected-held: " + people + "infra/flux-system/a and 1 more" + sluice,
		"paths[1].0.-1 rule-never-matches: rule 2: infra/flux-system/** can never match: rule 1: infra/** already matches all of it",
		"paths[2].-1.-1 protected-ignored: " + ignored + "apps/flux-system/a" + counts,
		"preset[-1].-1.-1 protected-ignored: " + ignored + "x-rw/flux-system/x" + counts,
		"unmatched[-1].-1.-1 protected-held: " + people + "other/flux-system/x" + sluice,
	}, got); d != "" {
		t.Error(d)
	}
}

// A rule that holds takes a protected path from a later rule that writes its directories out, unless an even earlier one matches and does
// not hold: then only rules that write them out are asked.
func TestLintPassedBy(t *testing.T) {
	rules := []Rule{
		{Paths: []string{"infra/**"}, Releases: []string{"w"}},
		{Paths: []string{"infra/flux-system/**"}, Releases: []string{"live"}},
	}
	never := "paths[%d].0.-1 rule-never-matches: rule %d: infra/flux-system/** can never match: rule %d: infra/** already matches all of it"
	for first, want := range map[string]string{
		"apps/**":      fmt.Sprintf(never, 2, 3, 2),
		"infra/{a,b}":  fmt.Sprintf(never, 2, 3, 2),
		"*/*/x":        "",
		"**/x":         "",
		"apps/*/infra": fmt.Sprintf(never, 2, 3, 2),
	} {
		l := must(t, Spec{Windows: []string{"w"}, Rules: append([]Rule{{Paths: []string{first}, Ignore: true}}, rules...)})
		var got string
		for _, p := range l.Lint(nil) {
			got += p.String()
		}
		if got != want {
			t.Errorf("after %s: %q, want %q", first, got, want)
		}
	}
	l := must(t, Spec{Windows: []string{"w"}, Rules: append([]Rule{{Paths: []string{"*/*/x"}, Ignore: true}}, rules...)})
	if got := l.Classify("infra/flux-system/x"); !got.live() {
		t.Errorf("the rule that writes the directory out does not decide: %v", got)
	}
}

// What Lint calls shadowed never decides a path: checked on the worlds of the oracle.
func FuzzLint(f *testing.F) {
	f.Add([]byte("a rule that can never match"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &chooser{data}
		spec := c.spec()
		l, _ := New(spec)
		if l == nil {
			return
		}
		dead := map[string]bool{}
		for _, p := range l.Lint(nil) {
			if p.Code == codeShadowed {
				dead[fmt.Sprintf("rule %d: %s", p.Rule+1, spec.Rules[p.Rule].Paths[p.Path])] = true
			}
		}
		for range 20 {
			path := c.guarded(c.path())
			if got := l.Classify(path); dead[strings.TrimSuffix(got.Rule, saysProtected(""))] {
				t.Fatalf("%v: %s decides %s, and Lint says it never does", spec.Rules, got.Rule, path)
			}
		}
	})
}
