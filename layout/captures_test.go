package layout

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// readings is every way to read a path by a pattern, naively: what the captures stand for in each.
func readings(pattern, path string) []map[string]string {
	var out []map[string]string
	for _, way := range writtenOut(pattern) {
		readSegments(strings.Split(way, "/"), strings.Split(path, "/"), nil, func(b []bound) {
			values := map[string]string{}
			for _, one := range b {
				values[one.name] = one.value
			}
			out = append(out, values)
		})
	}
	return out
}

// bound is one capture and what it stands for.
type bound struct{ name, value string }

// writtenOut writes out alternations; limited captures stay.
func writtenOut(pattern string) []string {
	for open := range len(pattern) {
		if pattern[open] != '{' {
			continue
		}
		depth, options, start := 0, []string(nil), open+1
		end := open
		for ; ; end++ {
			switch pattern[end] {
			case '{':
				depth++
			case '}':
				depth--
			}
			if depth == 0 || depth == 1 && pattern[end] == ',' {
				options, start = append(options, pattern[start:end]), end+1
			}
			if depth == 0 {
				break
			}
		}
		if len(options) == 1 || strings.Contains(options[0], ":") {
			continue
		}
		var out []string
		for _, option := range options {
			out = append(out, writtenOut(pattern[:open]+option+pattern[end+1:])...)
		}
		return out
	}
	return []string{pattern}
}

func readSegments(pattern, path []string, b []bound, give func([]bound)) {
	switch {
	case len(pattern) == 0:
		if len(path) == 0 {
			give(b)
		}
	case pattern[0] == "**":
		for n := range len(path) + 1 {
			readSegments(pattern[1:], path[n:], b, give)
		}
	case len(path) > 0:
		readName(pattern[0], path[0], b, func(b []bound) { readSegments(pattern[1:], path[1:], b, give) })
	}
}

// readName reads one segment: letters, `*`, `?`, captures.
func readName(pattern, name string, b []bound, give func([]bound)) {
	if pattern == "" {
		if name == "" {
			give(b)
		}
		return
	}
	_, first := utf8.DecodeRuneInString(name)
	switch pattern[0] {
	case '{':
		end := strings.IndexByte(pattern, '}')
		capture, limits, isLimited := strings.Cut(pattern[1:end], ":")
		for n := first; n > 0 && n <= len(name); {
			value := name[:n]
			known := slices.IndexFunc(b, func(one bound) bool { return one.name == capture })
			if (known < 0 || b[known].value == value) && (!isLimited || slices.Contains(strings.Split(limits, ","), value)) {
				readName(pattern[end+1:], name[n:], append(slices.Clone(b), bound{capture, value}), give)
			}
			_, more := utf8.DecodeRuneInString(name[n:])
			if more == 0 {
				break
			}
			n += more
		}
	case '*':
		readName(pattern[1:], name, b, give)
		if name != "" {
			readName(pattern, name[first:], b, give)
		}
	case '?':
		if name != "" {
			readName(pattern[1:], name[first:], b, give)
		}
	default:
		if name != "" && name[0] == pattern[0] {
			readName(pattern[1:], name[1:], b, give)
		}
	}
}

// capturing is a pattern with captures, some of which stand twice.
func (c *chooser) capturing() string {
	parts := make([]string, 1+c.n(4))
	for i := range parts {
		parts[i] = c.of("{p}", "{q}", "{p}", "**", "*", "a", "ab", "a*", "{p}.b", "a{p}", "{p}b{q}", "{p}-{q}", "?{p}", "*b{p}", "{p}é",
			"{p:a,ab}", "{q:b,x}-rw", "{p:ab,b}{q:a,b}", "{a,{p}}", "{{p},x}b", "{p}b*", "a{p}b{p}")
	}
	return strings.Join(parts, "/")
}

// captureRound compares what a capture stands for in some paths with the naive reading: all of its values count, and no others.
func captureRound(t *testing.T, c *chooser) {
	t.Helper()
	pattern := c.capturing()
	l, _ := New(Spec{Windows: []string{"a", "ab"}, Rules: []Rule{{Paths: []string{pattern}, Releases: []string{"{p}"}}}})
	if l == nil {
		return // {p} is not in it, or no path can match
	}
	for range 8 {
		path := c.path()
		want := []Release{}
		for _, values := range readings(pattern, path) {
			switch v := values["p"]; v {
			case "a", "ab":
				want = append(want, Release(v))
			default:
				want = append(want, Release("{p}="+v))
			}
		}
		slices.Sort(want)
		got := l.Classify(path)
		if d := cmp.Diff(slices.Compact(want), append([]Release{}, got.Releases...)); d != "" {
			t.Fatalf("%s on %s (-naive +layout):\n%s", pattern, path, d)
		}
	}
}

// TestCaptures: a capture is a whole segment or part of one, at least one character; limited, it is one of those names; and every way
// to read a path counts.
func TestCaptures(t *testing.T) {
	table(t, Spec{
		Windows: []string{"prod", "stg", "eu", "prod-eu"},
		Rules: []Rule{
			{Paths: []string{"envs/{env}.yaml", "envs/prefix-{env}-x/**"}, Releases: []string{"{env}"}},
			{Paths: []string{"apps/*/{env:prod,stg}/**", "apps/*/values-{env:prod,stg}.yaml"}, Releases: []string{"{env}"}},
			{Paths: []string{"two/{env}-{region}/**"}, Releases: []string{"{env}", "{region}"}},
			{Paths: []string{"same/{env}/{env}.yaml"}, Releases: []string{"{env}"}},
			{Paths: []string{"mixed/{env}/**/{env:prod,stg}.yaml"}, Releases: []string{"{env}"}},
			{Paths: []string{"any/**/{env:prod,stg}/**"}, Releases: []string{"{env}"}},
			{Paths: []string{"in/{env:prod,stg}*/{d:a,b}"}, Releases: []string{"{env}"}},
		},
	}, `
		envs/prod.yaml            => prod | rule 1: envs/{env}.yaml
		envs/prod.eu.yaml         => {env}=prod.eu | rule 1: envs/{env}.yaml
		envs/.yaml                => - | unmatched: ignore
		envs/prod.yml             => - | unmatched: ignore
		envs/prefix-stg-x/f       => stg | rule 1: envs/prefix-{env}-x/**
		envs/prefix--x/f          => - | unmatched: ignore
		envs/prefix-é-x/f         => {env}=é | rule 1: envs/prefix-{env}-x/**
		apps/a/prod/f             => prod | rule 2: apps/*/{env:prod,stg}/**
		apps/a/dev/f              => - | unmatched: ignore
		apps/a/values-stg.yaml    => stg | rule 2: apps/*/values-{env:prod,stg}.yaml
		apps/stg/prod/f           => prod | rule 2: apps/*/{env:prod,stg}/**
		two/prod-eu/f             => eu prod | rule 3: two/{env}-{region}/**
		two/prod-eu-1/f           => prod prod-eu {region}=1 {region}=eu-1 | rule 3: two/{env}-{region}/**
		same/prod/prod.yaml       => prod | rule 4: same/{env}/{env}.yaml
		same/prod/stg.yaml        => - | unmatched: ignore
		mixed/prod/a/prod.yaml    => prod | rule 5: mixed/{env}/**/{env:prod,stg}.yaml
		mixed/prod/a/stg.yaml     => - | unmatched: ignore
		mixed/eu/eu.yaml          => - | unmatched: ignore
		any/prod/stg/f            => prod stg | rule 6: any/**/{env:prod,stg}/**
		in/prod-eu/b              => prod | rule 7: in/{env:prod,stg}*/{d:a,b}
		in/prod-eu/c              => - | unmatched: ignore
	`)
}

// TestTooManyReadings: a name in which a capture can stand for more than is tried is held, and not given to the next rule.
func TestTooManyReadings(t *testing.T) {
	l := must(t, Spec{Windows: []string{"a"}, Rules: []Rule{
		{Paths: []string{"*-{c}-*"}, Releases: []string{"{c}"}},
		{Paths: []string{"**"}, Releases: []string{"live"}},
	}})
	if got := l.Classify("x-a-y"); !slices.Equal(got.Releases, []Release{"a"}) {
		t.Errorf("got %v", got)
	}
	if got := l.Classify(strings.Repeat("b-", maxBindings+3)); !slices.Equal(got.Releases, []Release{Unclear}) {
		t.Errorf("got %v, want %s", got, Unclear)
	}
}

// TestExceptions: a path after a ! takes paths out of its rule, wherever it stands in it, and the next rule is asked. Out of a rule that
// is live it also takes what differs by case alone; out of others, what is written.
func TestExceptions(t *testing.T) {
	spec := Spec{
		Windows:   []string{"w", "v"},
		Unmatched: []Release{Live},
		Rules: []Rule{
			{Paths: []string{"!apps/{dev,test}/**", "apps/**", "!**/*.md"}, Releases: []string{"w"}},
			{Paths: []string{"apps/**", "!apps/dev/secret/**"}, Releases: []string{"live"}},
			{Paths: []string{"apps/dev/**"}, Releases: []string{"v"}},
			{Paths: []string{"c/{c}/**", "!c/v/x"}, Releases: []string{"{c}"}},
			{Paths: []string{"b/**", "!b/out/**"}, Releases: []string{"branch:rw/*"}},
			{Paths: []string{`\!odd/**`}, Releases: []string{"v"}},
			{Paths: []string{"infra/**", "!infra/flux-system/out/**", "!infra/*/gone"}, Releases: []string{"w"}},
		},
	}
	table(t, spec, `
		apps/prod/x             => w | rule 1: apps/**
		apps/dev/x              => live | rule 2: apps/**
		apps/prod/x.md          => live | rule 2: apps/**
		apps/Dev/x              => w | rule 1: apps/**
		apps/dev/secret/x       => v | rule 3: apps/dev/**
		apps/dev/Secret/x       => v | rule 3: apps/dev/**
		apps/test/secret/x      => live | rule 2: apps/**
		Apps/prod/x             => w | rule 1: apps/** (but for upper and lower case)
		Apps/dev/x              => w | rule 1: apps/** (but for upper and lower case)
		c/v/x                   => live | unmatched: live
		c/v/y                   => v | rule 4: c/{c}/**
		c/v/X                   => v | rule 4: c/{c}/**
		b/x                     => branch:rw/* | rule 5: b/**
		b/Out/x                 => branch:rw/* | rule 5: b/**
		b/out/x                 => live | unmatched: live
		!odd/x                  => v | rule 6: \!odd/**
		infra/flux-system/x     => w | rule 7: infra/**; protected: people merge it
		infra/flux-system/out/x => - | built in: in a flux-system/ directory
		infra/flux-system/gone  => - | built in: in a flux-system/ directory
		infra/a/gone            => live | unmatched: live
	`)
	spec.Unmatched = nil
	table(t, spec, `
		b/out/x                 => - | unmatched: ignore
		infra/a/gone            => - | unmatched: ignore
	`)
}

// What a rule that is live leaves out but for case is not live by it: the preset and `unmatched` are asked, as for what is spelt alike.
func TestNearMissOfAnException(t *testing.T) {
	table(t, Spec{
		Windows: []string{"w"}, Preset: RTRW, Side: []Release{"w"}, Unmatched: []Release{"w"},
		Rules: []Rule{{Paths: []string{"apps/**", "!apps/prod-[a-c]/**"}, Releases: []string{"live"}}},
	}, `
		apps/prod-d/x       => live | rule 1: apps/**
		apps/prod-a/x       => w | unmatched: w
		apps/Prod-B/x       => w | unmatched: w
		apps/Prod-B/x-rt/y  => live | preset rt-rw: a directory ends in -rt
	`)
}

// TestUnmatchedBranches: what no rule knows may be held by windowed branches; what differs from a windowed rule or a protected directory by
// case alone is not merged by that.
func TestUnmatchedBranches(t *testing.T) {
	table(t, Spec{
		Windows: []string{"w"}, Unmatched: []Release{"branch:rw/*"},
		Rules: []Rule{{Paths: []string{"apps/**"}, Releases: []string{"w"}}},
	}, `
		x/y                 => branch:rw/* | unmatched: branch:rw/*
		apps/y              => w | rule 1: apps/**
		Apps/y              => w | rule 1: apps/** (but for upper and lower case)
		x/flux-system/y     => - | built in: in a flux-system/ directory
		x/Flux-System/y     => - | built in: in a flux-system/ directory (but for upper and lower case)
		.github/y           => - | built in: below .github/
		.GitHub/y           => - | built in: below .github/ (but for upper and lower case)
		a\\xff              => branch:rw/* | unmatched: branch:rw/*
	`)
}

// No path after a ! has captures, in none of its alternatives: it would take out more than what stands for the same text in the rule.
func TestExceptionsHaveNoCaptures(t *testing.T) {
	for _, glob := range []string{"!{env}/x", "!{a,{env}}/x", "!{a,b-{env}}/x", "!{a,{env:b,c}}/x"} {
		_, problems := New(Spec{Rules: []Rule{{Paths: []string{"{env}/**", glob}, Releases: []string{"live"}}}})
		if len(problems) != 1 || problems[0].Code != codeBadGlob || problems[0].Path != 1 {
			t.Errorf("%s: %v", glob, problems)
		}
	}
}

// What differs from a windowed rule by case alone is not merged for branches to hold, even if it differs so from an earlier rule of branches that
// the path is taken out of as it is spelt in the rules.
func TestNearMissOfAWindowedRuleAfterBranches(t *testing.T) {
	spec := Spec{
		Windows: []string{"w"}, Unmatched: []Release{Live},
		Rules: []Rule{
			{Paths: []string{"apps/**", "!apps/db/**"}, Releases: []string{"branch:rw/*"}},
			{Paths: []string{"apps/db/**"}, Releases: []string{"w"}},
		},
	}
	rows := `
		apps/x    => branch:rw/* | rule 1: apps/**
		Apps/x    => branch:rw/* | rule 1: apps/** (but for upper and lower case)
		apps/db/x => w | rule 2: apps/db/**
		Apps/db/x => w | rule 2: apps/db/** (but for upper and lower case)
		APPS/DB/X => w | rule 2: apps/db/** (but for upper and lower case)
	`
	table(t, spec, rows)
	spec.Unmatched = []Release{"branch:rw/*"}
	table(t, spec, rows)
}

// A space after the comma of a limit is a typing error, and refused: the rule would not hold what it is written for.
func TestLimitsHaveNoSpaceAround(t *testing.T) {
	for _, glob := range []string{"apps/{env:prod, stg}/**", "apps/{env: prod,stg}/**", "apps/{env:prod ,stg}/**"} {
		_, problems := New(Spec{Windows: []string{"prod", "stg"}, Rules: []Rule{{Paths: []string{glob}, Releases: []string{"{env}"}}}})
		if len(problems) != 1 || problems[0].Code != codeBadGlob {
			t.Errorf("%s: %v", glob, problems)
		}
	}
	must(t, Spec{Windows: []string{"a"}, Rules: []Rule{{Paths: []string{"{dir:with space,other}/**"}, Releases: []string{"a"}}}})
}

// A space after a ! is a typing error, and refused: what is meant to be taken out of a live rule would be live.
func TestExceptionsBeginWithNoSpace(t *testing.T) {
	_, problems := New(Spec{Rules: []Rule{{Paths: []string{"**", "! apps/db/**"}, Releases: []string{"live"}}}})
	if len(problems) != 1 || problems[0].Code != codeBadGlob || problems[0].Path != 1 {
		t.Errorf("%v", problems)
	}
	must(t, Spec{Rules: []Rule{{Paths: []string{"**", `!\ apps/**`}, Releases: []string{"live"}}}})
}
