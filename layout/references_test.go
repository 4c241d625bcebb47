package layout

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fixed is references by path.
type fixed struct{ reads, holds map[string]Class }

func (f fixed) Reads(path string) (Class, bool) { c, ok := f.reads[path]; return c, ok }
func (f fixed) Holds(path string) (Class, bool) { c, ok := f.holds[path]; return c, ok }

// withReferences is a layout of rules, references and a preset.
func withReferences(asks bool) Spec {
	return Spec{
		Windows: []string{"night", "weekend"}, Preset: RTRW, Side: []Release{"weekend"}, References: asks,
		Rules: []Rule{
			{Paths: []string{"infra/**"}, Releases: []string{"live"}},
			{Paths: []string{"held/**"}, Releases: []string{"night"}},
			{Paths: []string{"held-by-branch/**"}, Releases: []string{"branch:rw/*"}},
			{Paths: []string{"docs/**"}, Ignore: true},
			{Paths: []string{"clusters/a/flux-system/sync.yaml"}, Releases: []string{"live"}},
			{Paths: []string{"clusters/b/**"}, Releases: []string{"live"}},
		},
	}
}

func night(rule string) Class { return Class{Releases: []Release{"night"}, Rule: rule} }
func live(rule string) Class  { return Class{Releases: []Release{Live}, Rule: rule} }

func TestReferences(t *testing.T) {
	refs := fixed{
		reads: map[string]Class{
			"apps/a-rt/x.yaml":                  night("apps/a-rt/x.yaml ← prod (night)"),
			"apps/a-rw/x.yaml":                  live("apps/a-rw/x.yaml ← prod (live)"),
			"infra/x.yaml":                      night("infra/x.yaml ← prod (night)"),
			"infra/y.yaml":                      live("infra/y.yaml ← prod (live)"),
			"held/x.yaml":                       live("held/x.yaml ← prod (live)"),
			"docs/x.yaml":                       night("docs/x.yaml ← prod (night)"),
			"Held/x.yaml":                       live("Held/x.yaml ← prod (live)"),
			"Flux-System/x.yaml":                live("Flux-System/x.yaml ← prod (live)"),
			"clusters/a/flux-system/x.yaml":     live("clusters/a/flux-system/x.yaml ← prod (live)"),
			"clusters/a/flux-system/y.yaml":     night("clusters/a/flux-system/y.yaml ← prod (night)"),
			"clusters/a/flux-system/sync.yaml":  night("sync.yaml ← prod (night)"),
			"clusters/b/flux-system/shift.yaml": night("shift.yaml ← prod (night)"),
			"odd\x01.yaml":                      live("odd ← prod (live)"),
		},
		holds: map[string]Class{
			"infra/moved.yaml":              night("moved"),
			"held/moved.yaml":               {Releases: []Release{"weekend"}, Rule: "moved"},
			"held-by-branch/moved.yaml":     night("moved"),
			"docs/moved.yaml":               night("moved"),
			"nobody/moved.yaml":             night("moved"),
			"clusters/a/flux-system/m.yaml": night("moved"),
		},
	}
	l := must(t, withReferences(true)).With(refs)
	for path, want := range map[string]string{
		"apps/a-rt/x.yaml":                 "night | apps/a-rt/x.yaml ← prod (night)", // before the preset
		"apps/a-rw/x.yaml":                 "live | apps/a-rw/x.yaml ← prod (live)",
		"apps/b-rw/x.yaml":                 "weekend | preset rt-rw: a directory ends in -rw", // nobody reads it
		"README.md":                        "- | unmatched: ignore",
		"infra/x.yaml":                     "live | rule 1: infra/**; but infra/x.yaml ← prod (night) reads it",
		"infra/y.yaml":                     "live | rule 1: infra/**",
		"held/x.yaml":                      "night | rule 2: held/**",
		"docs/x.yaml":                      "- | rule 4: docs/**",
		"Held/x.yaml":                      "night | rule 2: held/** (but for upper and lower case)",
		"Flux-System/x.yaml":               "- | built in: in a flux-system/ directory (but for upper and lower case)",
		"clusters/a/flux-system/x.yaml":    "- | built in: in a flux-system/ directory",
		"clusters/a/flux-system/y.yaml":    "night | clusters/a/flux-system/y.yaml ← prod (night); protected: people merge it",
		"clusters/a/flux-system/sync.yaml": "live | rule 5: clusters/a/flux-system/sync.yaml; but sync.yaml ← prod (night) reads it",
		"odd\x01.yaml":                     "unclear path | " + saysOdd,
		"infra/moved.yaml":                 "night | rule 1: infra/**; moved",
		"held/moved.yaml":                  "night weekend | rule 2: held/**; moved",
		"held-by-branch/moved.yaml":        "branch:rw/* night | rule 3: held-by-branch/**; moved",
		"docs/moved.yaml":                  "night | rule 4: docs/**; moved",
		"nobody/moved.yaml":                "night | unmatched: ignore; moved",
		"clusters/a/flux-system/m.yaml":    "night | built in: in a flux-system/ directory; moved; protected: people merge it",
	} {
		if got := says(l.Classify(path)); got != want {
			t.Errorf("%q\n got %s\nwant %s", path, got, want)
		}
	}
	if c := l.Classify("clusters/a/flux-system/m.yaml"); !c.Protected {
		t.Error("what holds a protected path takes it from the people who merge it")
	}
}

// TestReferencesUnread: without references nothing that no rule decides goes, whatever preset and unmatched say.
func TestReferencesUnread(t *testing.T) {
	spec := withReferences(true)
	spec.Unmatched = []Release{Live}
	l := must(t, spec)
	for path, want := range map[string]string{
		"apps/a-rt/x.yaml":              "unread references | layout.flux: the reference graph was not read",
		"apps/a-rw/x.yaml":              "unread references | layout.flux: the reference graph was not read",
		"README.md":                     "unread references | layout.flux: the reference graph was not read",
		"clusters/c/flux-system/x.yaml": "unread references | layout.flux: the reference graph was not read; protected: people merge it",
		"infra/x.yaml":                  "live | rule 1: infra/**",
		"held/x.yaml":                   "night | rule 2: held/**",
		"docs/x.yaml":                   "- | rule 4: docs/**",
		".github/workflows/ci.yaml":     "- | built in: below .github/",
	} {
		if got := says(l.Classify(path)); got != want {
			t.Errorf("%q\n got %s\nwant %s", path, got, want)
		}
	}
}

// TestReferencesNotAsked: a layout that does not ask for references decides without them, and holds what moves all the same.
func TestReferencesNotAsked(t *testing.T) {
	l := must(t, withReferences(false))
	with := l.With(fixed{
		reads: map[string]Class{"apps/a-rt/x.yaml": night("chain"), "infra/x.yaml": night("chain")},
		holds: map[string]Class{"apps/a-rt/y.yaml": night("moved")},
	})
	for _, path := range []string{"apps/a-rt/x.yaml", "infra/x.yaml", "README.md"} {
		if diff := cmp.Diff(l.Classify(path), with.Classify(path)); diff != "" {
			t.Errorf("%s (-without +with):\n%s", path, diff)
		}
	}
	if got := says(with.Classify("apps/a-rt/y.yaml")); got != "night | preset rt-rw: a directory ends in -rt; moved" {
		t.Error(got)
	}
}

// TestUntil: each path is asked about before it is compared with the patterns, and after the end nothing is live.
func TestUntil(t *testing.T) {
	asked, patterns := 0, 0
	l := must(t, withReferences(false)).Until(func(_ string, n int) bool {
		asked, patterns = asked+1, n
		return asked > 2
	})
	if l.Lint([]string{"infra/a", "infra/b", "infra/c", "infra/d"}); asked != 3 || patterns != 6 {
		t.Errorf("%d of four paths, and %d patterns", asked, patterns)
	}
	if got := says(l.With(fixed{}).Classify("infra/a")); got != says(Class{Releases: []Release{Unclear}, Rule: saysTooLong}) {
		t.Errorf("after the end: %s", got)
	}
}

// TestWaits: a rule with a window counts always, a preset and `unmatched` where nothing asks what reads a path.
func TestWaits(t *testing.T) {
	windows := []string{"night"}
	for name, c := range map[string]struct {
		spec Spec
		want bool
	}{
		"nothing":                   {Spec{}, false},
		"a live rule":               {Spec{Rules: []Rule{{Paths: []string{"a/**"}, Releases: []string{"live"}}}}, false},
		"a rule with a window":      {Spec{Windows: windows, References: true, Rules: []Rule{{Paths: []string{"a/**"}, Releases: []string{"night"}}}}, true},
		"unmatched":                 {Spec{Windows: windows, Unmatched: []Release{"night"}}, true},
		"unmatched, and it is read": {Spec{Windows: windows, Unmatched: []Release{"night"}, References: true}, false},
		"a preset":                  {Spec{Windows: windows, Preset: RTRW, Side: []Release{"night"}}, true},
		"a preset, and it is read":  {Spec{Windows: windows, Preset: RTRW, Side: []Release{"night"}, References: true}, false},
	} {
		l, problems := New(c.spec)
		if len(problems) > 0 || l.Waits() != c.want {
			t.Errorf("%s: %v, %v", name, problems, !c.want)
		}
	}
}
