package layout

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sluicegate/sluice/internal/race"
)

// captures are what the oracle does not know: to it they are any characters of one segment, at least one; and limited ones are
// alternatives.
var (
	captures = regexp.MustCompile(`\{[a-z0-9]+\}`)
	limited  = regexp.MustCompile(`\{[a-z0-9]+:([a-z,-]+)\}`)
)

// forOracle writes a pattern as doublestar takes it.
func forOracle(pattern string) string {
	return captures.ReplaceAllString(limited.ReplaceAllString(pattern, "{$1,$1}"), "?*")
}

// chooser makes patterns and paths from a stream of numbers, so that a fuzzer can steer it.
type chooser struct{ data []byte }

func (c *chooser) n(limit int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % limit
}

func (c *chooser) of(options ...string) string { return options[c.n(len(options))] }

// name is a segment of a path from few letters, so that patterns meet it.
func (c *chooser) name() string {
	return c.of("a", "b", "ab", "a-rw", "b-rt", "aab", "abab", "é", "a.b", "x")
}

func (c *chooser) path() string {
	parts := make([]string, 1+c.n(5))
	for i := range parts {
		parts[i] = c.name()
	}
	return strings.Join(parts, "/")
}

// guarded puts a path into a protected directory.
func (c *chooser) guarded(path string) string {
	return c.of("", ".github/", "flux-system/", "a/flux-system/") + path + c.of("", "/flux-system")
}

// paths is the paths of one rule: a pattern, and often another one that takes paths out.
func (c *chooser) paths(guard func(string) string) []string {
	out := []string{guard(c.pattern())}
	if c.n(3) == 0 {
		out = append(out, "!"+guard(forOracle(c.pattern()))) // nothing is captured there
	}
	return out
}

// spec is a few rules, some of them about protected directories.
func (c *chooser) spec() Spec {
	spec := Spec{Windows: []string{"w"}}
	for range 2 + c.n(5) {
		rule := Rule{Paths: c.paths(c.guarded)}
		switch c.n(4) {
		case 0:
			rule.Ignore = true
		case 1:
			rule.Releases = []string{"live"}
		case 2:
			rule.Releases = []string{"branch:*"}
		default:
			rule.Releases = []string{"w"}
		}
		spec.Rules = append(spec.Rules, rule)
	}
	return spec
}

// TestProtectedOracle: in a protected directory the first rule that matches holds if it windows the path, as doublestar has it; else
// nothing but a rule that writes the directory out counts there.
func TestProtectedOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	held, left := 0, 0
	for range race.Or(1_000, 5_000) {
		data := make([]byte, 300)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		c := &chooser{data}
		spec := c.spec()
		l, _ := New(spec)
		if l == nil {
			continue
		}
		for range 8 {
			path := c.guarded(c.path())
			got, first := l.Classify(path), oracle(t, spec.Rules, path)
			switch {
			case first >= 0 && slices.Equal(spec.Rules[first].Releases, []string{"w"}):
				if held++; !slices.Equal(got.Releases, []Release{"w"}) {
					t.Fatalf("%+v: %s is not held: %+v", spec.Rules, path, got)
				}
			case got.Protected:
				if left++; len(got.Releases) > 0 {
					t.Fatalf("%+v: %s is people's, and %+v", spec.Rules, path, got)
				}
			}
		}
	}
	if most := race.Or(200, 1000); held < most || left < most {
		t.Errorf("%d held, %d left to people: too few to mean anything", held, left)
	}
}

func (c *chooser) segment(depth int) string {
	switch c.n(12) {
	case 0, 1:
		return "**"
	case 10:
		part := c.of("a@", "@b", "@-rw", "a@b", "@.b", "?@", "*b@", "@é", "[ab]@", "a@b@")
		return strings.Replace(strings.Replace(part, "@", fmt.Sprintf("{c%d}", c.data1()), 1), "@", fmt.Sprintf("{d%d}", c.data1()), 1)
	case 11:
		return fmt.Sprintf("%s{c%d:%s}%s", c.of("", "a", "*"), c.data1(), c.of("a", "a,ab", "b,x,a-rw"), c.of("", "-rw", "*", "b"))
	case 2:
		return "*"
	case 3:
		return fmt.Sprintf("{c%d}", c.data1())
	case 4:
		return c.of("*-rw", "a*", "*b", "a*b*", "?", "?b", "[ab]", "[!a]b", "a[a-c]", "*a*b", "[^b]*", "\\a", "a\\b", "*?")
	case 5:
		if depth > 0 {
			return "{" + c.name() + "," + strings.ReplaceAll(c.segment(depth-1), "**", "*b") + "}"
		}
	case 6:
		if depth > 0 {
			return "{" + c.name() + "/" + c.name() + "," + c.name() + "}" + c.of("", "-rw", "*")
		}
	}
	return c.name()
}

// data1 is a number that no capture had before, so that no capture stands twice.
func (c *chooser) data1() int { return len(c.data) }

// pattern is a pattern on which doublestar and this package agree: doublestar takes a/**/** for less than a/**, where here
// they are the same.
func (c *chooser) pattern() string {
	parts := make([]string, 1+c.n(5))
	for i := range parts {
		parts[i] = c.segment(2)
		if i > 0 && strings.Contains(parts[i], "**") && strings.Contains(parts[i-1], "**") {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}

// oracle is the first rule that doublestar matches and takes nothing out of, or -1.
func oracle(t *testing.T, rules []Rule, path string) int {
	t.Helper()
	return slices.IndexFunc(rules, func(r Rule) bool {
		in := false
		for _, p := range r.Paths {
			rest, except := strings.CutPrefix(p, "!")
			if ok := oracleMatches(t, rest, path); ok && except {
				return false
			} else if ok {
				in = true
			}
		}
		return in
	})
}

// oracleMatches is doublestar's answer. A trailing /** is tried as no segment by hand: doublestar matches a*/** with ab but not with a,
// because it does not let the star take nothing there.
func oracleMatches(t *testing.T, pattern, path string) bool {
	t.Helper()
	plain := forOracle(pattern)
	for _, way := range []string{plain, strings.TrimSuffix(plain, "/**")} {
		ok, err := doublestar.Match(way, path)
		if err != nil {
			t.Fatalf("doublestar refuses %q, the layout does not: %v", pattern, err)
		}
		if ok {
			return true
		}
	}
	return false
}

// same compares a layout of rules that hold with the oracle.
func same(t *testing.T, rules []Rule, paths []string) {
	t.Helper()
	l, problems := New(Spec{Windows: []string{"w"}, Rules: rules})
	if l == nil {
		if problems[0].Code == codeTooMany {
			return // alternations beyond the bound
		}
		t.Fatalf("%+v: %v", rules, problems)
	}
	for _, path := range paths {
		want := "unmatched: ignore"
		if i := oracle(t, rules, path); i >= 0 {
			want = fmt.Sprintf("rule %d: %s", i+1, rules[i].Paths[0])
		}
		if got := l.Classify(path).Rule; got != want {
			t.Fatalf("rules %+v, path %q:\n got %s\nwant %s", rules, path, got, want)
		}
	}
}

// round makes one set of rules and paths, and compares.
func round(t *testing.T, c *chooser) {
	t.Helper()
	rules := make([]Rule, 1+c.n(6))
	for i := range rules {
		rules[i] = Rule{Paths: c.paths(func(p string) string { return p }), Releases: []string{"w"}}
	}
	paths := make([]string, 8)
	for i := range paths {
		paths[i] = c.path()
	}
	same(t, rules, paths)
}

// caseRound: what differs by case alone from a path that is taken out of a live rule is not live by it.
func caseRound(t *testing.T, c *chooser) {
	t.Helper()
	rule := Rule{Paths: []string{"**", "!" + forOracle(c.pattern())}, Releases: []string{"live"}}
	l, _ := New(Spec{Rules: []Rule{rule}})
	if l == nil {
		return // alternations beyond the bound
	}
	for range 8 {
		path := c.path()
		if oracle(t, []Rule{rule}, path) >= 0 {
			continue
		}
		for _, other := range []string{path, strings.ToUpper(path), strings.ToUpper(path[:1]) + path[1:]} {
			if l.Classify(other).live() {
				t.Fatalf("%q: %s is live, and %s is taken out", rule.Paths, other, path)
			}
		}
	}
}

// TestOracle compares the trie with doublestar, rule by rule in the list's order, on many small worlds.
func TestOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range race.Or(1_000, 5_000) {
		data := make([]byte, 300)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		round(t, &chooser{data})
		captureRound(t, &chooser{data})
		caseRound(t, &chooser{data})
	}
}

func FuzzOracle(f *testing.F) {
	f.Add([]byte("first match wins across the whole list"))
	f.Fuzz(func(t *testing.T, data []byte) {
		round(t, &chooser{data})
		captureRound(t, &chooser{data})
		caseRound(t, &chooser{data})
	})
}

// FuzzClassify gives any layout any path: it never panics, is deterministic, and fails closed on what git cannot hold.
func FuzzClassify(f *testing.F) {
	for how, seed := range [][3]string{
		{"clusters/{cluster}/**/{cluster}/**", "**", "clusters/a/b/a/c"},
		{"{a,b/{c,d}}/[!x-z]*", "*/**", "b/c/\xff"},
		{"\\{x\\}/**/y", "../a", "a//b"},
		{".github/**", "**/flux-system/**", ".github/flux-system/x\n"},
		{"{c}-{d}/x{c}.yaml", "!a-*/**", "a-b/xa.yaml"},
		{"{c:a,w}/**/{c:w,b}-{d}", "**/{c}.b", "w/w-b"},
		{"**", "!{a,b}/[!c]*", "A/d"},
	} {
		f.Add(seed[0], seed[1], seed[2], byte(how))
		f.Add(seed[0], seed[1], seed[2], byte(how+8))
	}
	f.Fuzz(func(t *testing.T, first, second, path string, how byte) {
		spec := Spec{
			Rules: []Rule{
				{Paths: []string{first}, Releases: []string{"w"}},
				{Paths: []string{second}, Releases: []string{"live"}},
			},
			Preset:    []Preset{NoPreset, RTRW, RTMW, LiveWindow}[how%4],
			Side:      []Release{"w"},
			Unmatched: []Release{"live"},
			Windows:   []string{"w", "a"},
		}
		if how&4 != 0 {
			spec.Rules[0].Releases, spec.Unmatched = []string{"{c}"}, []Release{"branch:*"}
		}
		if how&8 != 0 {
			spec.Rules = []Rule{{Paths: []string{first, "!" + second}, Releases: spec.Rules[0].Releases}}
		}
		l, problems := New(spec)
		if l == nil {
			for _, p := range problems {
				if p.Code == "" || p.Message == "" || !p.Warning && (p.Rule < 0 || p.Path < 0 && p.Code != codeTooMany && p.Code != codeNoPaths) {
					t.Fatalf("a problem without its place: %+v", p)
				}
			}
			return
		}
		got := l.Classify(path)
		if again := l.Classify(path); fmt.Sprint(again) != fmt.Sprint(got) || got.Rule == "" {
			t.Fatalf("%q: %v, then %v", path, got, again)
		}
		if got.live() && (odd(path) || path == "" || strings.Contains("/"+path+"/", "//") || strings.Contains("/"+path+"/", "/../")) {
			t.Fatalf("%q is live: %v", path, got)
		}
		l.Lint([]string{path})
	})
}
