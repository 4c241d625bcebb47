package layout

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	benchPaths = 3_000
	benchRules = 500
)

// sampleRules is rules of the sample's shape: clusters, each with its live and windowed directories.
func sampleRules() []string {
	var out []string
	for i := 0; len(out) < benchRules; i++ {
		out = append(out,
			fmt.Sprintf("clusters/cluster-%d/infra/**", i),
			fmt.Sprintf("clusters/cluster-%d/apps/apps-rw/**", i),
			fmt.Sprintf("clusters/cluster-%d/apps/apps-rt/**", i),
			fmt.Sprintf("clusters/cluster-%d/apps/*-rw/**", i),
			fmt.Sprintf("apps/team-%d/*-rw/**", i))
	}
	return out[:benchRules]
}

// deepRules is rules that all have two `**` and share no beginning that a trie could use.
func deepRules() []string {
	out := make([]string, 0, benchRules)
	for i := range benchRules {
		out = append(out, fmt.Sprintf("**/%s-%d*/**/*-rw", []string{"cluster", "team", "app"}[i%3], i))
	}
	return out
}

// samplePaths is files of a tree that the sample's rules speak of, with some that nothing matches.
func samplePaths() []string {
	out := make([]string, 0, benchPaths)
	for i := range benchPaths {
		switch i % 3 {
		case 0:
			out = append(out, fmt.Sprintf("clusters/cluster-%d/apps/%s/app-%d/deployment.yaml", i%120, []string{"apps-rw", "apps-rt", "db-rw"}[i/3%3], i))
		case 1:
			out = append(out, fmt.Sprintf("apps/team-%d/nginx-rw/overlays/prod/patch-%d.yaml", i%120, i))
		default:
			out = append(out, fmt.Sprintf("docs/area-%d/page-%d.md", i%40, i))
		}
	}
	return out
}

// benchLayout is a layout of rules with a window, the paths of each with spaces between.
func benchLayout(tb testing.TB, globs []string) *Layout {
	tb.Helper()
	spec := Spec{Windows: []string{"w"}}
	for _, g := range globs {
		spec.Rules = append(spec.Rules, Rule{Paths: strings.Fields(g), Releases: []string{"w"}})
	}
	l, problems := New(spec)
	if l == nil {
		tb.Fatal(problems)
	}
	return l
}

// BenchmarkClassify is 3,000 paths × 500 rules, one operation for all paths: the trie, and doublestar rule by rule beside it.
func BenchmarkClassify(b *testing.B) {
	for _, set := range []struct {
		name  string
		globs []string
	}{{"sample", sampleRules()}, {"deep", deepRules()}} {
		paths := samplePaths()
		b.Run(set.name+"/trie", func(b *testing.B) {
			l := benchLayout(b, set.globs)
			b.ReportAllocs()
			for b.Loop() {
				for _, p := range paths {
					l.Classify(p)
				}
			}
		})
		b.Run(set.name+"/doublestar", func(b *testing.B) {
			for b.Loop() {
				for _, p := range paths {
					for _, g := range set.globs {
						if doublestar.MatchUnvalidated(g, p) {
							break
						}
					}
				}
			}
		})
	}
}

// BenchmarkNew is compiling 500 rules.
func BenchmarkNew(b *testing.B) {
	globs := sampleRules()
	for b.Loop() {
		benchLayout(b, globs)
	}
}

// BenchmarkLint is linting 500 rules against 3,000 files.
func BenchmarkLint(b *testing.B) {
	l, paths := benchLayout(b, sampleRules()), samplePaths()
	for b.Loop() {
		l.Lint(paths)
	}
}
