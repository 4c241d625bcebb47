package layout

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// must compiles a layout that has no errors.
func must(t *testing.T, spec Spec) *Layout {
	t.Helper()
	l, problems := New(spec)
	if l == nil {
		t.Fatal(problems)
	}
	return l
}

// says is a class in one line: "patch-tuesday week | rule 2: infra/**".
func says(c Class) string {
	names := make([]string, 0, len(c.Releases))
	for _, r := range c.Releases {
		names = append(names, string(r))
	}
	if len(names) == 0 {
		names = []string{"-"}
	}
	return strings.Join(names, " ") + " | " + c.Rule
}

// table is a layout and lines "path => releases | rule"; releases "-" is ignored.
func table(t *testing.T, spec Spec, lines string) {
	t.Helper()
	l := must(t, spec)
	for line := range strings.Lines(lines) {
		path, want, ok := strings.Cut(strings.TrimSpace(line), " => ")
		if !ok {
			continue
		}
		path = strings.NewReplacer(`\n`, "\n", `\x00`, "\x00", `\xff`, "\xff", `\t`, "\t").Replace(strings.TrimRight(path, " "))
		if path == "(empty)" {
			path = ""
		}
		if got := says(l.Classify(path)); got != want {
			t.Errorf("%q\n got %s\nwant %s", path, got, want)
		}
	}
}

// sample is the layout that most tests ask.
func sample() Spec {
	return Spec{
		Windows: []string{"no-deploy-friday", "patch-tuesday", "prod-eu"},
		Preset:  RTRW,
		Side:    []Release{"no-deploy-friday"},
		Rules: []Rule{
			{Paths: []string{"clusters/*/infra/**", "infra/**"}, Releases: []string{"live"}},
			{Paths: []string{"clusters/{cluster}/apps/apps-rw/**"}, Releases: []string{"{cluster}"}},
			{Paths: []string{"clusters/*/shared-rw/**"}, Releases: []string{"patch-tuesday", "no-deploy-friday"}},
			{Paths: []string{"apps/*/*-rw/**"}, Releases: []string{"branch:rw/*"}},
			{Paths: []string{"apps/*/docs/**"}, Ignore: true},
			{Paths: []string{"apps/**"}, Releases: []string{"no-deploy-friday"}},
		},
	}
}

func TestSample(t *testing.T) {
	table(t, sample(), `
		infra/cert-manager.yaml                     => live | rule 1: infra/**
		infra                                       => live | rule 1: infra/**
		clusters/a/infra/x/y.yaml                   => live | rule 1: clusters/*/infra/**
		clusters/prod-eu/apps/apps-rw/kustomization.yaml => prod-eu | rule 2: clusters/{cluster}/apps/apps-rw/**
		clusters/prod-us/apps/apps-rw/kustomization.yaml => {cluster}=prod-us | rule 2: clusters/{cluster}/apps/apps-rw/**
		clusters/live/apps/apps-rw/x                => {cluster}=live | rule 2: clusters/{cluster}/apps/apps-rw/**
		clusters/a/shared-rw/x.yaml                 => no-deploy-friday patch-tuesday | rule 3: clusters/*/shared-rw/**
		apps/shop/nginx-rw/x.yaml                   => branch:rw/* | rule 4: apps/*/*-rw/**
		apps/shop/docs/x.md                         => - | rule 5: apps/*/docs/**
		apps/shop/nginx-rt/x.yaml                   => no-deploy-friday | rule 6: apps/**
		nginx/nginx-rt/x.yaml                       => live | preset rt-rw: a directory ends in -rt
		nginx/nginx-rw/x.yaml                       => no-deploy-friday | preset rt-rw: a directory ends in -rw
		README.md                                   => - | unmatched: ignore
		clusters/prod-eu/apps/kustomization.yaml    => - | unmatched: ignore
	`)
}

func TestFirstRuleWins(t *testing.T) {
	table(t, Spec{
		Windows: []string{"w1", "w2", "w3", "w4"},
		Rules: []Rule{
			{Paths: []string{"**/z", "a/b/c/d"}, Releases: []string{"w1"}},
			{Paths: []string{"a/*/c/**"}, Releases: []string{"w2"}},
			{Paths: []string{"a/**"}, Releases: []string{"w3"}},
			{Paths: []string{"a/b/**", "**"}, Releases: []string{"w4"}},
		},
	}, `
		a/b/c/d   => w1 | rule 1: a/b/c/d
		a/b/c/z   => w1 | rule 1: **/z
		z         => w1 | rule 1: **/z
		a/b/c/e   => w2 | rule 2: a/*/c/**
		a/b/d     => w3 | rule 3: a/**
		a         => w3 | rule 3: a/**
		b         => w4 | rule 4: **
	`)
}

func TestGlobs(t *testing.T) {
	for _, c := range []struct{ glob, yes, no string }{
		{"a/**/b", "a/b a/x/b a/x/y/b", "a b a/x/c ab"},
		{"**/x-rw/**", "x-rw x-rw/f a/b/x-rw/c/f", "ax-rw/f x-rwb/f"},
		{"*", "a .a a-b", "a/b"},
		{"a*b?c", "abxc axxbyc abbéc", "abc ac axbyyc"},
		{"[a-c]x[!0-9]", "axz bxé", "dxz ax1"},
		{"[]a]", "", ""},
		{"{a,b}/x", "a/x b/x", "c/x a,b/x"},
		{"{a/b,c}/x", "a/b/x c/x", "a/x b/x"},
		{"app{,-rw}/{x,{y,z/**}}", "app/x app-rw/y app-rw/z/1/2 app/z", "app/w app-r/x"},
		{`a\{b\}/\*`, "a{b}/*", "ab/* a{b}/x"},
		{"{t}/{t}/x", "a/a/x", "a/b/x"},
		{"{u}/{t}/{t}/x", "q/a/a/x", "q/a/b/x"},
		{"{t}/**/{t}/**", "a/a a/b/a a/b/a/c", "a/b a/b/c"},
		{"{t}/**/{u}/{t}/{u}", "a/b/a/b a/x/b/a/b", "a/b/a/c a/b/b/a"},
		{"a/***/b", "a/x/b", "a/b a/x/y/b"},
		{"**/**/a", "a x/a x/y/a", "b"},
		{"[{,}]/{x,[,]}", "{/x ,/x }/,", "x/x"},
	} {
		l, problems := New(Spec{Rules: []Rule{{Paths: []string{c.glob}, Releases: []string{"live"}}}})
		if l == nil {
			if c.yes != "" {
				t.Errorf("%s: %v", c.glob, problems)
			}
			continue
		}
		for path := range strings.FieldsSeq(c.yes) {
			if !l.Classify(path).live() {
				t.Errorf("%s does not match %s", c.glob, path)
			}
		}
		for path := range strings.FieldsSeq(c.no) {
			if l.Classify(path).live() {
				t.Errorf("%s matches %s", c.glob, path)
			}
		}
	}
}

// Where a path can be read in several ways, every way counts: whoever names directories must not choose the window.
func TestCapturesUnion(t *testing.T) {
	table(t, Spec{
		Windows: []string{"day", "night"},
		Rules: []Rule{
			{Paths: []string{"**/clusters/{c}/**", "teams/*/{c}/x"}, Releases: []string{"{c}"}},
			{Paths: []string{"two/{a}/{b}/**"}, Releases: []string{"{a}", "{b}", "live"}},
			{Paths: []string{"same/{a}/**/{a}/**"}, Releases: []string{"{a}"}},
			{Paths: []string{"same/**"}, Releases: []string{"live"}},
		},
	}, `
		clusters/day/x                       => day | rule 1: **/clusters/{c}/**
		clusters/night/clusters/day/x        => day night | rule 1: **/clusters/{c}/**
		clusters/day/clusters/x              => day {c}=x | rule 1: **/clusters/{c}/**
		teams/clusters/day/x                 => day | rule 1: **/clusters/{c}/**
		two/day/night/x                      => day live night | rule 2: two/{a}/{b}/**
		two/day/day/x                        => day live | rule 2: two/{a}/{b}/**
		two/\xff/day/x                       => unclear path | built in: a name with control characters or bytes that are not UTF-8 is never live
		same/day/x/day/y                     => day | rule 3: same/{a}/**/{a}/**
		same/day/x/night/y                   => live | rule 4: same/**
	`)
}

// A path with more ways to read it than are tried is held, and not given to the next rule.
func TestTooManyBindings(t *testing.T) {
	l := must(t, Spec{Rules: []Rule{
		{Paths: []string{"**/{a}/**/{b}/**/{a}/**/{b}/**"}, Releases: []string{"live"}},
		{Paths: []string{"**"}, Releases: []string{"live"}},
	}})
	var long []string
	for range 4 {
		for c := 'a'; c <= 'z'; c++ {
			long = append(long, string(c))
		}
	}
	got := l.Classify(strings.Join(long, "/"))
	if want := []Release{Unclear}; !cmp.Equal(got.Releases, want) || !strings.HasPrefix(got.Rule, "rule 1:") {
		t.Errorf("got %v, want %v by rule 1", got, want)
	}
}

// A capture that stands once can be read in any number of ways: only what stands twice has to agree with itself.
func TestManyReadingsOfOneCapture(t *testing.T) {
	l := must(t, Spec{Rules: []Rule{{Paths: []string{"{a}/{a}/**/{b}/**"}, Releases: []string{"live"}}}})
	path := "x/x"
	for i := range 2 * maxBindings {
		path += "/" + fmt.Sprint(i)
	}
	if got := l.Classify(path); !got.live() {
		t.Errorf("got %v", got)
	}
}

func TestPresets(t *testing.T) {
	table(t, Spec{Preset: RTRW, Side: []Release{"w"}, Windows: []string{"w"}, Unmatched: []Release{Live}}, `
		a-rt/x-rw/f         => w | preset rt-rw: a directory ends in -rw
		a-rw/x-rt/f         => w | preset rt-rw: a directory ends in -rw
		a-rt/f-rw           => w | preset rt-rw: a directory ends in -rw
		f-rw                => w | preset rt-rw: a directory ends in -rw
		a-rt/f-rw.yaml      => live | preset rt-rw: a directory ends in -rt
		f-rt                => live | unmatched: live
		-rw/f               => w | preset rt-rw: a directory ends in -rw
		rw/f                => live | unmatched: live
		x-rw2/f             => live | unmatched: live
		a-rt/x-RW/f         => w | preset rt-rw: a directory ends in -rw
		a-mw/f              => live | unmatched: live
	`)
	table(t, Spec{Preset: RTMW, Side: []Release{"branch:mw/*"}}, `
		a-rt/x-mw/f         => branch:mw/* | preset rt-mw: a directory ends in -mw
		a-rt/f              => live | preset rt-mw: a directory ends in -rt
		a-RT/f              => - | unmatched: ignore
		a-rw/f              => - | unmatched: ignore
	`)
	table(t, Spec{Preset: LiveWindow, Side: []Release{"w"}, Windows: []string{"w"}, Unmatched: []Release{"w"}}, `
		sets-window/asset-01/app1/1.0-live/x  => live | preset live-window: a directory ends in -live
		sets-live/asset-01/app1/1.0-window/x  => w | preset live-window: a directory ends in -window
		live-1/window-2/x                     => w | preset live-window: a directory begins with window-
		window-1/live-2/x                     => live | preset live-window: a directory begins with live-
		live-window/x                         => w | preset live-window: a directory ends in -window
		window-live/x                         => w | preset live-window: a directory begins with window-
		a-live/b-WINDOW/x                     => w | preset live-window: a directory ends in -window
		a-window/b-LIVE/x                     => w | preset live-window: a directory ends in -window
		a-window/x-live                       => w | preset live-window: a directory ends in -window
		live/window/x                         => w | unmatched: w
	`)
}

// A last name that would make a directory windowed may be a submodule or a symbolic link, which stands for a whole directory.
func TestPresetsAndLinks(t *testing.T) {
	table(t, Spec{Preset: LiveWindow, Side: []Release{"w"}, Windows: []string{"w"}, Unmatched: []Release{Live}}, `
		a-live/1.0-window             => w | preset live-window: a directory ends in -window
		1.0-window                    => w | preset live-window: a directory ends in -window
		a-live/1.0-Window             => w | preset live-window: a directory ends in -window
		a-live/x.yaml-window          => w | preset live-window: a directory ends in -window
		a-live/window-1.0             => w | preset live-window: a directory begins with window-
		a-live/window-2.x             => w | preset live-window: a directory begins with window-
		a-live/window-a               => w | preset live-window: a directory begins with window-
		a-live/window-yaml            => w | preset live-window: a directory begins with window-
		a-live/window-policy.yaml     => live | preset live-window: a directory ends in -live
		a-live/WINDOW-policy.YML      => live | preset live-window: a directory ends in -live
		a-live/x-window.yaml          => live | preset live-window: a directory ends in -live
		a-window/1.0-live             => w | preset live-window: a directory ends in -window
	`)
	table(t, Spec{Preset: RTMW, Side: []Release{"w"}, Windows: []string{"w"}, Unmatched: []Release{Live}}, `
		a-rt/1.0-mw                   => w | preset rt-mw: a directory ends in -mw
		a-rt/x.yaml-MW                => w | preset rt-mw: a directory ends in -mw
		a-mw/1.0-rt                   => w | preset rt-mw: a directory ends in -mw
	`)
}

// Protected paths: what windows one holds it, and people merge it while it is open, unless the rule writes the directory out. What
// would be live there, or held by branches alone, is ignored.
func TestProtectedPaths(t *testing.T) {
	spec := Spec{
		Windows:   []string{"w"},
		Preset:    RTRW,
		Side:      []Release{"w"},
		Unmatched: []Release{"w"},
		Rules: []Rule{
			{Paths: []string{".github/workflows/**"}, Releases: []string{"live"}},
			{Paths: []string{"clusters/{c}/{apps,flux-system}/**"}, Releases: []string{"w"}},
			{Paths: []string{"infra/**"}, Releases: []string{"w"}},
			{Paths: []string{"infra/flux-system/late/**"}, Releases: []string{"live"}},
			{Paths: []string{"teams/**", "[.]github/live/**"}, Releases: []string{"live"}},
			{Paths: []string{"teams/flux-system/out/**"}, Releases: []string{"w"}},
			{Paths: []string{"teams/flux-system/wild*/**"}, Releases: []string{"live"}},
			{Paths: []string{"held/**"}, Releases: []string{"branch:rw/*"}},
			{Paths: []string{"both/**"}, Releases: []string{"live", "branch:rw/*", "w"}},
			{Paths: []string{"none/**"}, Ignore: true},
			{Paths: []string{"by/{c}/**"}, Releases: []string{"{c}"}},
			{Paths: []string{"flux-syste?/**", "[.]github/held/**"}, Releases: []string{"w"}},
		},
	}
	table(t, spec, `
		.github/workflows/ci.yaml               => live | rule 1: .github/workflows/**
		.github/workflows/flux-system/x         => - | built in: below .github/
		.github/held/x                          => w | rule 12: [.]github/held/**; protected: people merge it
		.github/live/x                          => - | built in: below .github/
		.github/x-rw/f                          => w | preset rt-rw: a directory ends in -rw; protected: people merge it
		.github/sluice.yaml                     => - | built in: below .github/
		.github                                 => - | built in: below .github/
		sub/.github/x                           => w | unmatched: w
		clusters/a/flux-system/gotk.yaml        => w | rule 2: clusters/{c}/{apps,flux-system}/**
		clusters/a/apps/flux-system/x           => w | rule 2: clusters/{c}/{apps,flux-system}/**; protected: people merge it
		clusters/flux-system/x                  => w | unmatched: w; protected: people merge it
		clusters/a/x/flux-system                => w | unmatched: w; protected: people merge it
		infra/flux-system/x                     => w | rule 3: infra/**; protected: people merge it
		infra/flux-system/late/x                => w | rule 3: infra/**; protected: people merge it
		teams/flux-system/x                     => - | built in: in a flux-system/ directory
		teams/flux-system                       => - | built in: in a flux-system/ directory
		teams/x-rw/flux-system/x                => - | built in: in a flux-system/ directory
		teams/flux-system/out/x                 => w | rule 6: teams/flux-system/out/**
		teams/flux-system/wilder/x              => live | rule 7: teams/flux-system/wild*/**
		held/flux-system/x                      => - | built in: in a flux-system/ directory
		both/flux-system/x                      => branch:rw/* live w | rule 9: both/**; protected: people merge it
		none/flux-system/x                      => - | built in: in a flux-system/ directory
		by/w/flux-system/x                      => w | rule 11: by/{c}/**; protected: people merge it
		by/x/flux-system/x                      => {c}=x | rule 11: by/{c}/**; protected: people merge it
		flux-system/x                           => w | rule 12: flux-syste?/**; protected: people merge it
		x-rw/flux-system/y                      => w | preset rt-rw: a directory ends in -rw; protected: people merge it
		x-rt/flux-system/y                      => - | built in: in a flux-system/ directory
		x-rt/flux-system/y\n                    => - | built in: in a flux-system/ directory
		x-rw/flux-system/y\n                    => w | preset rt-rw: a directory ends in -rw; protected: people merge it
	`)
	spec.Rules, spec.Unmatched = spec.Rules[:3], []Release{Live}
	table(t, spec, `
		x/flux-system/y                         => - | built in: in a flux-system/ directory
		Infra/flux-system/y                     => w | rule 3: infra/** (but for upper and lower case); protected: people merge it
		Flux-System/y                           => - | built in: in a flux-system/ directory (but for upper and lower case)
		.GitHub/y                               => - | built in: below .github/ (but for upper and lower case)
		y                                       => live | unmatched: live
	`)
	spec.Rules, spec.Unmatched = nil, []Release{Live, "w"}
	table(t, spec, `
		x/flux-system/y                         => live w | unmatched: live, w; protected: people merge it
		Flux-System/y                           => live w | unmatched: live, w
	`)
}

// TestProtectedInOneRule: a rule that writes a protected directory out knows what it does, in whichever of its paths it does so.
func TestProtectedInOneRule(t *testing.T) {
	table(t, Spec{Windows: []string{"w", "v"}, Rules: []Rule{
		{Paths: []string{"a/**", "a/flux-system/**"}, Releases: []string{"w"}},
		{Paths: []string{"a/b/flux-system/**"}, Releases: []string{"v"}},
	}}, `
		a/flux-system/x         => w | rule 1: a/flux-system/**
		a/b/flux-system/x       => w | rule 1: a/**; protected: people merge it
	`)
}

// TestProtected: the class says whether people merge a path, whether it is held or not.
func TestProtected(t *testing.T) {
	l := must(t, Spec{Windows: []string{"w"}, Unmatched: []Release{Live}, Rules: []Rule{
		{Paths: []string{"a/**"}, Releases: []string{"w"}}, {Paths: []string{"b/flux-system/**"}, Releases: []string{"w"}},
	}})
	for path, want := range map[string]bool{
		"a/flux-system/x": true, "b/flux-system/x": false, "c/flux-system/x": true, ".github/x": true, "a/x": false, "Flux-System/x": true, "x": false,
	} {
		if got := l.Classify(path).Protected; got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

// Neither the preset nor `unmatched` makes live what a windowed rule would hold but for case. A rule that matches as written
// decides, whatever its neighbours nearly match.
func TestNearMisses(t *testing.T) {
	spec := Spec{
		Windows:   []string{"w"},
		Preset:    RTRW,
		Side:      []Release{"w"},
		Unmatched: []Release{Live},
		Rules: []Rule{
			{Paths: []string{"apps/*/[a-c]x/**"}, Releases: []string{"w"}},
			{Paths: []string{"Apps/live/**", "clusters/**"}, Releases: []string{"live"}},
			{Paths: []string{"clusters/{c}/prod/**"}, Releases: []string{"{c}"}},
			{Paths: []string{"tenants/{c}/Db-*/**"}, Releases: []string{"{c}"}},
		},
	}
	table(t, spec, `
		Apps/a/ax/f         => w | rule 1: apps/*/[a-c]x/** (but for upper and lower case)
		apps/a-rt/BX/f      => w | rule 1: apps/*/[a-c]x/** (but for upper and lower case)
		Apps/live/f         => live | rule 2: Apps/live/**
		apps/live/ax        => w | rule 1: apps/*/[a-c]x/**
		clusters/a/prod/f   => live | rule 2: clusters/**
		Clusters/w/f        => live | unmatched: live
		Clusters/w/PROD/f   => unclear path | rule 3: clusters/{c}/prod/** (but for upper and lower case)
		Tenants/w/DB-1/f    => unclear path | rule 4: tenants/{c}/Db-*/** (but for upper and lower case)
		apps/a/dx/f         => live | unmatched: live
	`)
}

func TestHostilePaths(t *testing.T) {
	never := "unclear path | " + saysImpossible
	odd := "unclear path | " + saysOdd
	table(t, Spec{
		Windows: []string{"w"},
		Preset:  RTRW, Side: []Release{"w"}, Unmatched: []Release{Live},
		Rules: []Rule{{Paths: []string{"ok/**"}, Releases: []string{"live"}}, {Paths: []string{"no/**"}, Ignore: true}},
	}, strings.NewReplacer("NEVER", never, "ODD", odd).Replace(`
		(empty)             => NEVER
		/ok/x               => NEVER
		ok/x/               => NEVER
		ok//x               => NEVER
		ok/../x             => NEVER
		../ok               => NEVER
		ok/.                => NEVER
		ok/\x00             => NEVER
		ok/a\nb             => ODD
		ok/\t               => ODD
		ok/\xff             => ODD
		\xff-rw/x           => w | preset rt-rw: a directory ends in -rw
		x-rt/\xff           => ODD
		any\xff             => ODD
		no/\xff             => - | rule 2: no/**
		ok/...              => live | rule 1: ok/**
		ok/é {x} "y"        => live | rule 1: ok/**
	`))
	l := must(t, Spec{Unmatched: []Release{Live}})
	for name, path := range map[string]string{
		"replaced bytes": "a/\ufffd",
		"long":           strings.Repeat("a", maxPath+1),
		"deep":           strings.Repeat("a/", maxSegments) + "a",
		"delete":         "a\x7f",
		"C1 control":     "a\u0085b",
	} {
		if c := l.Classify(path); c.live() {
			t.Errorf("%s: %v", name, c)
		}
	}
}

// The answer belongs to the caller: what he does to it does not change the layout.
func TestClassIsACopy(t *testing.T) {
	l := must(t, sample())
	l.Classify("infra/x").Releases[0] = "changed"
	if c := l.Classify("infra/x"); !c.live() {
		t.Error(c)
	}
}

// One layout serves many callers at once.
func TestConcurrent(t *testing.T) {
	l := must(t, sample())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				if c := l.Classify("apps/shop/nginx-rw/x.yaml"); says(c) != "branch:rw/* | rule 4: apps/*/*-rw/**" {
					t.Error(c)
				}
				if c := l.Classify("README.md"); len(c.Releases) != 0 {
					t.Error(c)
				}
			}
		})
	}
	wg.Wait()
}

func TestBranchGlob(t *testing.T) {
	if g, ok := Release("branch:rw/*").BranchGlob(); g != "rw/*" || !ok {
		t.Error(g, ok)
	}
	if _, ok := Live.BranchGlob(); ok {
		t.Error("live is no branch")
	}
	g, err := ParseGlob("rw/{a,b*}")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"rw/a": true, "rw/bc": true, "rw/c": false, "rw": false, "rw//a": false, "rw/a/b": false} {
		if g.Match(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	if _, err := ParseGlob("rw/{cluster}"); err == nil {
		t.Error("a capture outside a path was taken")
	}
}
