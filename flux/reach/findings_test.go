package reach

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/manifest"
)

// listing is notes, a line each.
func listing(notes []config.Note) []string {
	var out []string
	for _, n := range notes {
		out = append(out, fmt.Sprintf("%s %s %v: %s", n.Level, n.Code, n.Way, n.Message))
	}
	return out
}

// paths is every file of the repository of these tests.
func paths() []string {
	var out []string
	for line := range strings.Lines(repository()) {
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			out = append(out, strings.TrimSuffix(strings.TrimSpace(name), " --"))
		}
	}
	return out
}

func TestCheck(t *testing.T) {
	held := strings.Replace(file, "  flux: true\n", "  flux: true\n  unmatched: night\n", 1)
	quiet := strings.NewReplacer("    - {cluster: other, where: \"**\", release: weekend}\n", "", "    - {where: flux-system/held, release: night}\n", "").Replace(held)
	rules := func(lines string) string {
		return strings.Replace(quiet, "  flux: true\n", "  flux: true\n  rules:\n"+lines, 1)
	}
	open := func(branch int, file, what, window string) string {
		return fmt.Sprintf("warn branch-definition-open [branches %d name]: clusters/prod/%s:2: %s it, and the file is live: a change there reaches the cluster at once, whatever the window; "+
			"add a rule with release: %s", branch, file, what, window)
	}
	for name, c := range map[string]struct {
		file  string
		built []string
		want  []string
	}{
		"quiet": {file: quiet},
		"an entry that fits nothing": {
			file: held,
			want: []string{"hold entry-point-matches-nothing [layout entrypoints 0 where]: matches no Flux Kustomization and no root in the tree, so it holds nothing"},
		},
		"an entry that fits nothing, which is off": {file: held + "consistency: {followed: \"off\"}\n"},
		"an entry that fits nothing, and no rule of references": {
			file: strings.Replace(held, "  flux: true\n", "", 1),
			want: []string{"warn entry-point-matches-nothing [layout entrypoints 0 where]: matches no Flux Kustomization and no root in the tree, so it holds nothing"},
		},
		"what is not known to be read is ignored": {
			file: strings.Replace(quiet, "  unmatched: night\n", "", 1),
			want: []string{"warn unmatched-not-held [layout unmatched]: what nothing is known to read is not held, though the graph may only not know who reads it: set unmatched to a window, and add rules for what no cluster reads"},
		},
		"what is not known to be read is live": {
			file: strings.Replace(quiet, "unmatched: night", "unmatched: live", 1),
			want: []string{"warn unmatched-not-held [layout unmatched]: what nothing is known to read is not held, though the graph may only not know who reads it: set unmatched to a window, and add rules for what no cluster reads"},
		},
		"a last rule for all": {file: strings.Replace(rules("    - {paths: [\"**\"], release: night}\n"), "  unmatched: night\n", "", 1), want: []string{
			"warn layers [layout rules 0 release]: rule 1: ** is held by a window, but only live Flux Kustomizations read it (entrypoints can declare them windowed): clusters/prod/cm.yaml ← clusters/prod (live) and 2 more files"}},
		"a rule makes live what is windowed, by cause": {
			file: rules("    - {paths: [\"apps/rw/**\", \"apps/rt/**\"], release: live}\n"),
			want: []string{"hold layers [layout rules 0 release]: rule 1: apps/rw/** makes live what a windowed Flux Kustomization reads: " +
				"apps/rw/kustomization.yaml ← apps/rw (rw/a) and 1 more file"},
		},
		"branches for what only live ones read": {
			file: rules("    - {paths: [\"apps/rt/**\"], release: {branches: [\"rw/*\"]}}\n"),
			want: []string{"hold layers [layout rules 0 release]: rule 1: apps/rt/** is assigned to windowed branches, but only live Flux " +
				"Kustomizations read it: apps/rt/kustomization.yaml ← apps/rt (live) and 1 more file"},
		},
		"a window for what only live ones read": {
			file: rules("    - {paths: [\"apps/rt/**\"], release: night}\n"),
			want: []string{"warn layers [layout rules 0 release]: rule 1: apps/rt/** is held by a window, but only live Flux Kustomizations read it (entrypoints can " +
				"declare them windowed): apps/rt/kustomization.yaml ← apps/rt (live) and 1 more file"},
		},
		"rules that agree": {file: rules("    - {paths: [\"apps/rw/**\"], release: night}\n    - {paths: [\"apps/rt/**\"], release: live}\n")},
		"a rule that ignores": {
			file: rules("    - {paths: [\"apps/held/**\"], release: ignore}\n"),
			want: []string{"warn layers [layout rules 0 release]: rule 1: apps/held/** ignores what a windowed Flux Kustomization reads: apps/held/kustomization.yaml ← apps/held (weekend) and 1 more file"},
		},
		"a rule of branches for what a window holds": {
			file: rules("    - {paths: [\"apps/held/**\"], release: {branches: [\"rw/*\"]}}\n"),
			want: []string{"hold layers [layout rules 0 release]: rule 1: apps/held/** leaves to windowed branches what a window holds by its Flux Kustomization: " +
				"apps/held/kustomization.yaml ← apps/held (weekend) and 1 more file"},
		},
		"a rule that opens what defines": {
			file: rules("    - {paths: [\"clusters/**\"], release: live}\n"),
			want: []string{
				"hold layers [layout rules 0 release]: rule 1: clusters/** opens what defines a windowed Flux Kustomization: clusters/prod/held.yaml ← clusters/prod (weekend: " +
					"defines Kustomization flux-system/held) and 1 more file",
				open(1, "odd.yaml", "GitRepository flux-system/odd tracks", "weekend"), open(0, "rw.yaml", "GitRepository flux-system/rw tracks", "night"),
				open(0, "apps-rw.yaml", "Kustomization flux-system/apps-rw is made of", "night"), open(1, "odd-ks.yaml", "Kustomization flux-system/odd is made of", "weekend"),
			},
		},
		"entrypoints that leave what follows main to branches": {
			file: strings.Replace(quiet, "release: night}", "release: {branches: [\"rw/*\"]}}", 1),
			want: []string{"hold entry-point-reads-nothing []: entrypoints leaves flux-system/path of prod to windowed branches, but its source follows main: no branch holds it"},
		},
		"off": {file: rules("    - {paths: [\"apps/rw/**\"], release: live}\n") + "consistency: {layers: \"off\"}\n"},
		"one component in both layers, by cause": {
			file:  quiet,
			built: []string{"apps-rt: a@apps/shared/x.yaml b@apps/shared/x.yaml c@apps/rt/x.yaml", "apps-rw: a@apps/shared/x.yaml b@apps/shared/x.yaml", "odd: d"},
			want: []string{"hold duplicates [consistency duplicates]: ConfigMap a and 1 more object: made by flux-system/apps-rt (live) and by " +
				"flux-system/apps-rw of prod (rw/a), so it flips between two values: apps/shared/x.yaml ← apps/rt; apps/shared/x.yaml ← apps/rw"},
		},
		"twice in one release": {file: quiet, built: []string{"apps-rt: a", "tenant: a"}},
		"one cause for many that are not built": {
			file: quiet, built: []string{"apps-rt: !", "apps-rw: !"},
			want: []string{"hold builds [consistency builds]: flux-system/apps-rt of prod and 1 more entry point cannot be built: broken"},
		},
		"nobody holds what main says": {
			file: strings.Replace(quiet, "version: 1\n", "version: 1\nmode: observe\n", 1),
			want: []string{
				"warn enforced [layout entrypoints 1]: windowed here, but what is merged to main arrives at once, because mode: observe holds no pull request: flux-system/path of prod",
				"warn enforced [layout entrypoints 0]: windowed here, but what is merged to main arrives at once, because mode: observe holds no pull request: flux-system/held of prod",
			},
		},
		"people merge": {
			file: quiet + "pull_requests: {window: status}\nconsistency: {enforced: hold}\n",
			want: []string{
				"hold enforced [layout entrypoints 1]: windowed here, but what is merged to main arrives at once, because pull_requests.window: status holds none unless the branch requires sluice's status: flux-system/path of prod",
				"hold enforced [layout entrypoints 0]: windowed here, but what is merged to main arrives at once, because pull_requests.window: status holds none unless the branch requires sluice's status: flux-system/held of prod",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := parse(t, c.file)
			g := New(p, clusters(t, p, repository()))
			if diff := cmp.Diff(c.want, listing(g.Check(makes(t, g, 0, c.built...), paths()))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestFixedRoot: a root that follows a tag or a commit gets nothing that is merged, so that nobody has to hold it; what follows a branch there does.
func TestFixedRoot(t *testing.T) {
	const entries = "layout:\n  flux: true\n  unmatched: weekend\n  entrypoints:\n    - {where: flux-system/held, release: weekend}\n    - {cluster: prod, where: clusters/prod, release: weekend}\n"
	const zones = "version: 1\nmode: observe\ntimezone: UTC\nwindows:\n  weekend: {open: \"0 6 * * SAT\", duration: 24h}\n"
	const at = "warn enforced [layout entrypoints %d]: windowed here, but what is merged to %s arrives at once, because mode: observe holds no pull request: %s"
	held := fmt.Sprintf(at, 0, "main", "flux-system/held of prod")
	for name, c := range map[string]struct {
		root, source, more string
		want               []string
	}{
		"a branch":              {root: "branch: main", source: "flux-system", want: []string{fmt.Sprintf(at, 1, "main", "the root of prod"), held}},
		"a tag":                 {root: "tag: v1", source: "flux-system"},
		"versions":              {root: "semver: '>=1'", source: "flux-system"},
		"a commit":              {root: "commit: abc", source: "flux-system"},
		"a name":                {root: "name: refs/tags/v1", source: "flux-system"},
		"a branch beside a tag": {root: "tag: v1", source: "own", want: []string{held}},
		"a root that is named":  {root: "tag: v1", source: "flux-system", more: "clusters: [{name: prod, path: clusters/prod}]\n"},
		"a branch that is not followed": {root: "tag: v1", source: "flux-system", more: "branches: [{name: rw, from: main, window: weekend}]\n", want: []string{
			"hold branch-unfollowed [branches 0 name]: no cluster tracks rw, so it holds nothing: prod follows no branch; set spec.ref.branch: rw in the GitRepository of what it is to hold, or remove the entry",
		}},
	} {
		p := parse(t, zones+entries+c.more)
		tree := "-- clusters/prod/flux-system/gotk-sync.yaml --\n" + sourceObject("GitRepository", "flux-system", "{"+fleet+", ref: {"+c.root+"}}") + ks("flux-system", "./clusters/prod", "flux-system") +
			"-- clusters/prod/held.yaml --\n" + gitRepository("own", "main") + ks("held", "./apps", c.source) + "-- apps/a.yaml --\n" + configMap
		if diff := cmp.Diff(c.want, listing(New(p, clusters(t, p, tree)).Check(nil, nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestFixedDefinition: what says what a windowed branch is for is open where a branch brings it, and not where a tag or a commit does.
func TestFixedDefinition(t *testing.T) {
	p := parse(t, "version: 1\ntimezone: UTC\nwindows:\n  weekend: {open: \"0 6 * * SAT\", duration: 24h}\nbranches: [{name: rw, from: main, window: weekend}]\n")
	for root, want := range map[string]int{"branch: main": 2, "tag: v1": 0, "commit: abc": 0} {
		own := sourceObject("GitRepository", "flux-system", "{"+fleet+", ref: {"+root+"}}") + ks("flux-system", "./clusters/prod", "flux-system")
		held := func(dir string) string {
			return "-- " + dir + "/rw.yaml --\n" + gitRepository("rw", "rw") + "-- " + dir + "/held.yaml --\n" + ks("held", "./apps", "rw")
		}
		for name, tree := range map[string]string{
			"of the root": own + held("clusters/prod"),
			"of another":  strings.Replace(own, root, "branch: main", 1) + sourceObject("GitRepository", "own", "{"+fleet+", ref: {"+root+"}}") + ks("ks", "./ks", "own") + held("ks"),
		} {
			got := 0
			for _, n := range New(p, clusters(t, p, "-- clusters/prod/flux-system/gotk-sync.yaml --\n"+tree+"-- apps/a.yaml --\n"+configMap)).Check(nil, nil) {
				if n.Code == codeDefinition {
					got++
				}
			}
			if got != want {
				t.Errorf("%s, %s: %d warnings, want %d", root, name, got, want)
			}
		}
	}
}

// TestNoRoot: where there is no cluster nothing is known to be read, and `flux: true` is wrong.
func TestNoRoot(t *testing.T) {
	p := parse(t, "version: 1\nlayout: {flux: true}\n")
	want := []string{"hold flux-without-root [layout flux]: no cluster found, so nothing is known to read any path: list them under `clusters`"}
	for _, g := range []*Graph{New(p), New(p, nil)} {
		if diff := cmp.Diff(want, listing(g.Check(nil, []string{"README.md"}))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestDiffers: what kustomize says of a Flux Kustomization is what the graph has read, or it is said.
func TestDiffers(t *testing.T) {
	p := parse(t, file)
	g := New(p, clusters(t, p, repository()))
	root := g.Entries()[0]
	object := func(path, source string) Object {
		return Object{Group: manifest.GroupKustomize, Kind: "Kustomization", Namespace: "flux-system", Name: "apps-rw", Path: path, Source: source}
	}
	for _, c := range []struct {
		object Object
		want   string
	}{
		{object("apps/rw", "GitRepository/flux-system/rw"), ""},
		{object("${dir}", "GitRepository/flux-system/rw"), ""},
		{object("\"./apps/rw\"", "GitRepository/flux-system/rw"), ""}, // as a variable filled it in
		{object("apps/rw # x", "GitRepository/flux-system/rw"), ""},
		{object("apps/rw # \U0001F600", "GitRepository/flux-system/rw"), "kustomize gives Kustomization.kustomize.toolkit.fluxcd.io flux-system/apps-rw the path apps/rw # \U0001F600, but the graph has read apps/rw"},
		{object("apps/other", "GitRepository/flux-system/rw"), "kustomize gives Kustomization.kustomize.toolkit.fluxcd.io flux-system/apps-rw the path apps/other, but the graph has read apps/rw"},
		{object("apps/rw", "GitRepository//main"), "kustomize gives Kustomization.kustomize.toolkit.fluxcd.io flux-system/apps-rw the source GitRepository//main, but the graph has read GitRepository/flux-system/rw"},
		{Object{Group: manifest.GroupSource, Kind: "GitRepository", Namespace: "flux-system", Name: "rw", Source: "https://example.com/x branch ${b}"}, ""},
		{Object{Group: manifest.GroupSource, Kind: "GitRepository", Namespace: "flux-system", Name: "none", Source: "https://example.com/x"}, "kustomize makes GitRepository.source.toolkit.fluxcd.io flux-system/none, which the graph has not read"},
		{Object{Group: manifest.GroupSource, Kind: "Bucket", Namespace: "flux-system", Name: "none"}, "kustomize makes Bucket.source.toolkit.fluxcd.io flux-system/none, which the graph has not read"},
		{Object{Group: "bitnami.com", Kind: "SealedSecret", Namespace: "flux-system", Name: "none"}, "kustomize makes SealedSecret.bitnami.com flux-system/none, which the graph has not read"},
		{Object{Group: "apps", Kind: "Deployment", Namespace: "flux-system", Name: "none"}, ""},
		{Object{Kind: "ConfigMap", Namespace: "flux-system", Name: "none"}, ""}, // nothing refers to it
	} {
		if got := g.differs(root, c.object); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestMissed: a change after which kustomize asks for a file that the graph has not read is blocked, once it was not so before.
func TestMissed(t *testing.T) {
	p := parse(t, file)
	g := New(p, clusters(t, p, repository()))
	plain, missed := []Build{{Entry: g.Entries()[0]}}, []Build{{Entry: g.Entries()[0], Missed: "apps/x.yaml"}}
	want := []string{"hold builds []: the root of prod: kustomize reads apps/x.yaml, which the graph has not read"}
	if diff := cmp.Diff(want, listing(g.Broken(plain, missed))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if notes := g.Broken(missed, missed); len(notes) > 0 {
		t.Errorf("said again: %v", notes)
	}
}

// TestUnreached counts what nothing reads; what defines an entry point is read.
func TestUnreached(t *testing.T) {
	p := parse(t, file)
	g := New(p, clusters(t, p, repository()))
	want := []string{"apps/tenant/x.yaml", "apps/nobody/x.yaml"}
	if diff := cmp.Diff(want, g.Unreached(append(paths(), config.File))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNotBuilt: of a long error what it ends with is shown, too, which is what is wrong.
func TestNotBuilt(t *testing.T) {
	long := "accumulating resources: " + strings.Repeat("from /a/b: ", 200) + "yaml: line 2: no value"
	got := wordNotBuilt(long)
	if !strings.Contains(got, "accumulating") || !strings.HasSuffix(got, "line 2: no value") || len(got) > 3*maxText {
		t.Error(got)
	}
	for _, short := range []string{"", "broken", strings.Repeat("ä", 2*maxText)} {
		if got := wordNotBuilt(short); !strings.HasSuffix(got, ": "+short) {
			t.Error(got)
		}
	}
}
