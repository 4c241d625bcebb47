package reach

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/layout"
)

// around is the references before and after a change of the repository: what replaces what.
func around(t *testing.T, p *config.Policy, replace ...string) *Graph {
	t.Helper()
	after := strings.NewReplacer(replace...).Replace(repository())
	if len(replace) > 0 && after == repository() {
		t.Fatal("nothing was replaced")
	}
	return New(p, clusters(t, p, repository()), clusters(t, p, after))
}

// held is the paths that are held whatever decides them: "PATH [WINDOWS] WHY".
func held(g *Graph) []string {
	var out []string
	for path := range g.holds {
		if kustomize.IsBuild(path) && len(g.Why(path)) == 0 {
			continue // there is none
		}
		c, _ := g.Holds(path)
		names := []string{}
		for _, r := range c.Releases {
			names = append(names, string(r))
		}
		out = append(out, path+" ["+strings.Join(names, " ")+"] "+c.Rule)
	}
	slices.Sort(out)
	return out
}

// TestRedefined: where the definition of a windowed entry point differs, what leads to it needs its window.
func TestRedefined(t *testing.T) {
	p := parse(t, file)
	listed := "-- clusters/prod/kustomization.yaml --\nresources: [main.yaml, rw.yaml, apps-rw.yaml, apps-rt.yaml]\n"
	for name, c := range map[string]struct {
		replace []string
		want    []string
	}{
		"nothing":    {nil, nil},
		"content":    {[]string{"resources: [x.yaml, ../shared]\n-- apps/rw/x", "resources: [x.yaml]\n-- apps/rw/x"}, nil},
		"a live one": {[]string{ks("apps-rt", "./apps/rt", "flux-system"), ks("apps-rt", "./apps/new", "flux-system")}, nil},
		"its path": {[]string{ks("apps-rw", "./apps/rw", "rw"), ks("apps-rw", "./apps/new", "rw")}, []string{
			"clusters/prod/apps-rw.yaml [night] the definition of flux-system/apps-rw in prod changes",
			"clusters/prod/rw.yaml [night] the definition of flux-system/apps-rw in prod changes",
		}},
		"its branch": {[]string{gitRepository("rw", "rw/a"), gitRepository("rw", "main")}, []string{
			"clusters/prod/apps-rw.yaml [night] the definition of flux-system/apps-rw in prod changes",
			"clusters/prod/rw.yaml [night] the definition of flux-system/apps-rw in prod changes",
		}},
		"a list without it": {[]string{"-- apps/nobody", listed[:len(listed)-1] + "\n-- apps/nobody"}, []string{
			"clusters/prod/by-path.yaml [night] the definition of flux-system/path in prod changes",
			"clusters/prod/held.yaml [weekend] the definition of flux-system/held in prod changes",
			"clusters/prod/kustomization.yaml [night weekend] the definition of flux-system/held in prod changes",
			"clusters/prod/main.yaml [night weekend] the definition of flux-system/held in prod changes",
			"clusters/prod/odd-ks.yaml [weekend] the definition of flux-system/odd in prod changes",
			"clusters/prod/odd.yaml [weekend] the definition of flux-system/odd in prod changes",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, held(around(t, p, c.replace...))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRedefinedList: a list that no longer has a windowed entry point in it needs its window.
func TestRedefinedList(t *testing.T) {
	p := parse(t, file)
	list := "-- clusters/prod/kustomization.yaml --\nresources: [main.yaml, rw.yaml, apps-rt.yaml"
	g := New(p, clusters(t, p, repository()+list+", apps-rw.yaml]\n"), clusters(t, p, repository()+list+"]\n"))
	if c, _ := g.Holds("clusters/prod/kustomization.yaml"); len(c.Releases) != 1 || c.Releases[0] != "night" {
		t.Errorf("%v", held(g))
	}
}

// entry is an entry point of the first or the second tree.
func entry(t *testing.T, g *Graph, tree int, name string) graph.Entry {
	t.Helper()
	for _, e := range g.trees[tree].entries {
		if e.Kustomization != nil && e.Kustomization.Name == name {
			return e.Entry
		}
	}
	t.Fatal(name)
	return graph.Entry{}
}

// makes is what entry points make: "NAME: OBJECT@FILE OBJECT!@FILE", the second of which Flux keeps, and "NAME: !" for one that was not built.
func makes(t *testing.T, g *Graph, tree int, lines ...string) []Build {
	t.Helper()
	var out []Build
	for _, line := range lines {
		name, objects, _ := strings.Cut(line, ":")
		b := Build{Entry: entry(t, g, tree, name)}
		for _, word := range strings.Fields(objects) {
			if word == "!" {
				b.Err = "broken"
				continue
			}
			object, file, _ := strings.Cut(word, "@")
			name, kept := strings.CutSuffix(object, "!")
			b.Objects = append(b.Objects, Object{Kind: "ConfigMap", Name: name, File: file, Kept: kept})
		}
		out = append(out, b)
	}
	return out
}

func TestMoves(t *testing.T) {
	p := parse(t, file)
	const prunes = "ConfigMap a moves from flux-system/apps-rt to flux-system/apps-rw: Flux deletes it now and creates it again when rw/a moves"
	const back = "ConfigMap a moves from flux-system/apps-rw to flux-system/apps-rt: Flux applies it from flux-system/apps-rt now, and from both until rw/a moves"
	for name, c := range map[string]struct {
		before, after []string
		changes       []Change
		want          []string
	}{
		"to the window":         {[]string{"apps-rt: a@apps/rt/x.yaml", "apps-rw:"}, []string{"apps-rt:", "apps-rw: a@apps/rw/x.yaml"}, nil, []string{prunes}},
		"back":                  {[]string{"apps-rt:", "apps-rw: a@apps/rw/x.yaml"}, []string{"apps-rt: a@apps/rt/x.yaml", "apps-rw:"}, nil, []string{back}},
		"deleted":               {[]string{"apps-rt: a@apps/rt/x.yaml", "apps-rw:"}, []string{"apps-rt:", "apps-rw:"}, nil, nil},
		"another one":           {[]string{"apps-rt: a", "apps-rw:"}, []string{"apps-rt:", "apps-rw: b"}, nil, nil},
		"it was in both before": {[]string{"apps-rt: a", "apps-rw: a"}, []string{"apps-rt:", "apps-rw: a"}, nil, nil},
		"it is in both now":     {[]string{"apps-rt: a", "apps-rw:"}, []string{"apps-rt: a", "apps-rw: a"}, nil, nil},
		"between live ones": {[]string{"apps-rt: a", "tenant:"}, []string{"apps-rt:", "tenant: a"}, nil, []string{
			"ConfigMap a moves from flux-system/apps-rt to flux-system/tenant: Flux deletes it, unless flux-system/tenant applies it first, and creates it again",
		}},
		"annotated before": {[]string{"apps-rt: a!@apps/rt/x.yaml", "apps-rw:"}, []string{"apps-rt:", "apps-rw: a@apps/rw/x.yaml"}, nil, []string{
			"ConfigMap a moves from flux-system/apps-rt to flux-system/apps-rw: Flux keeps it as it is until rw/a moves",
		}},
		"annotated by the move itself": {[]string{"apps-rt: a@apps/rt/x.yaml", "apps-rw:"}, []string{"apps-rt:", "apps-rw: a!@apps/rw/x.yaml"}, nil, []string{prunes}},
		"annotated, between live ones": {[]string{"apps-rt: a!", "tenant:"}, []string{"apps-rt:", "tenant: a"}, nil, []string{
			"ConfigMap a moves from flux-system/apps-rt to flux-system/tenant: Flux keeps it",
		}},
		"between windowed ones, away until the branch moves": {[]string{"held: a", "apps-rw:"}, []string{"held:", "apps-rw: a"}, nil, []string{
			"ConfigMap a moves from flux-system/held to flux-system/apps-rw: Flux deletes it now and creates it again when rw/a moves",
		}},
		"between windowed ones, from a branch": {[]string{"apps-rw: a", "held:"}, []string{"apps-rw:", "held: a"}, nil, []string{
			"ConfigMap a moves from flux-system/apps-rw to flux-system/held: Flux applies it from flux-system/held now, and from both until rw/a moves",
		}},
		"between branches": {[]string{"apps-rw: a", "odd:"}, []string{"apps-rw:", "odd: a"}, nil, []string{
			"ConfigMap a moves from flux-system/apps-rw to flux-system/odd: Flux deletes it, unless flux-system/odd applies it first, and creates it again",
		}},
		"between live ones, not built": {
			[]string{"apps-rt: !", "tenant:"},
			[]string{"apps-rt:", "tenant:"},
			[]Change{{Left: "apps/rt/x.yaml"}, {Added: "apps/tenant/x.yaml"}},
			nil,
		},
		"to a new one": {[]string{"apps-rt: a@apps/rt/x.yaml"}, []string{"apps-rt:", "apps-rw: a@apps/rw/x.yaml"}, nil, []string{prunes}},
		"not built, by the name": {
			[]string{"apps-rt: !", "apps-rw:"},
			[]string{"apps-rt:", "apps-rw:"},
			[]Change{{Left: "apps/rt/x.yaml"}, {Added: "apps/rw/x.yaml"}},
			[]string{"x.yaml moves from flux-system/apps-rt to flux-system/apps-rw: Flux deletes it now and creates it again when rw/a moves"},
		},
		"not built, another name": {
			[]string{"apps-rt: !", "apps-rw:"},
			[]string{"apps-rt:", "apps-rw:"},
			[]Change{{Left: "apps/rt/y.yaml"}, {Added: "apps/rw/x.yaml"}},
			nil,
		},
		"not built, a list": {
			[]string{"apps-rt: !", "apps-rw:"},
			[]string{"apps-rt:", "apps-rw:"},
			[]Change{{Left: "apps/rt/kustomization.yaml"}, {Added: "apps/rw/kustomization.yaml"}},
			nil,
		},
		"built, so names do not count": {
			[]string{"apps-rt: a", "apps-rw:"},
			[]string{"apps-rt:", "apps-rw: b"},
			[]Change{{Left: "apps/rt/x.yaml"}, {Added: "apps/rw/x.yaml"}},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := around(t, p)
			var got []string
			for _, m := range g.Moves(makes(t, g, 0, c.before...), makes(t, g, 1, c.after...), c.changes) {
				got = append(got, m.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMoving: people are told once for each pair of entry points what Flux does, and the lines that make it keep what moves.
func TestMoving(t *testing.T) {
	const keep = "; to keep it, first merge a change that only adds metadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}} to "
	for name, c := range map[string]struct {
		before, after []string
		want          []string
	}{
		"three objects": {
			[]string{"apps-rt: a@apps/rt/x.yaml b@apps/rt/y.yaml c", "apps-rw:"}, []string{"apps-rt:", "apps-rw: a b c"},
			[]string{"ConfigMap a moves from flux-system/apps-rt to flux-system/apps-rw and so do 2 more objects: Flux deletes it now and creates it again when rw/a moves" +
				keep + "apps/rt/x.yaml, and let flux-system/apps-rt apply it"},
		},
		"one of them annotated before": {
			[]string{"apps-rt: a!@apps/rt/x.yaml b", "apps-rw:"}, []string{"apps-rt:", "apps-rw: a b"},
			[]string{
				"ConfigMap a moves from flux-system/apps-rt to flux-system/apps-rw: Flux keeps it as it is until rw/a moves",
				"ConfigMap b moves from flux-system/apps-rt to flux-system/apps-rw: Flux deletes it now and creates it again when rw/a moves" +
					keep + "its manifest, and let flux-system/apps-rt apply it",
			},
		},
		"generated": {
			[]string{"apps-rt: a@apps/rt/kustomization.yaml", "tenant:"}, []string{"apps-rt:", "tenant: a"},
			[]string{"ConfigMap a moves from flux-system/apps-rt to flux-system/tenant: Flux deletes it, unless flux-system/tenant applies it first, and creates it again" +
				"; to keep it, first merge a change that only adds generatorOptions: {annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}} to apps/rt/kustomization.yaml, and let flux-system/apps-rt apply it"},
		},
		"back": {
			[]string{"apps-rt:", "apps-rw: a@apps/rw/x.yaml"}, []string{"apps-rt: a", "apps-rw:"},
			[]string{"ConfigMap a moves from flux-system/apps-rw to flux-system/apps-rt: Flux applies it from flux-system/apps-rt now, and from both until rw/a moves, and may delete it then" +
				keep + "apps/rw/x.yaml, and let flux-system/apps-rw apply it"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := around(t, parse(t, file))
			var got []string
			for _, n := range g.Moving(g.Moves(makes(t, g, 0, c.before...), makes(t, g, 1, c.after...), nil)) {
				if got = append(got, n.Message); n.Level != config.LevelWarn {
					t.Errorf("%+v", n)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMovesWithinTakeNoRoom: however many objects move between live entry points, what moves to a windowed one is held.
func TestMovesWithinTakeNoRoom(t *testing.T) {
	g := around(t, parse(t, file))
	live := "apps-rt:"
	for i := range maxMoves + 1 {
		live += fmt.Sprintf(" x%d", i)
	}
	moves := g.Moves(makes(t, g, 0, live+" a@apps/rt/x.yaml", "tenant:", "apps-rw:"), makes(t, g, 1, "apps-rt:", strings.Replace(live, "apps-rt", "tenant", 1), "apps-rw: a"), nil)
	if len(moves) != maxMoves+1 {
		t.Errorf("%d moves", len(moves))
	}
	if g.Hold(moves, nil); len(g.holds["apps/rt/x.yaml"].windows) == 0 {
		t.Errorf("%v", held(g))
	}
}

// TestHoldFromAWindow: what leaves an entry point that a window holds, and is away until a branch moves, is held by the branch's window as well.
func TestHoldFromAWindow(t *testing.T) {
	g := around(t, parse(t, file))
	g.Hold(g.Moves(makes(t, g, 0, "held: a@apps/held/x.yaml", "apps-rw:"), makes(t, g, 1, "held:", "apps-rw: a@apps/rw/x.yaml"), nil), nil)
	for _, path := range []string{"apps/held/x.yaml", "apps/rw/x.yaml"} {
		if c, _ := g.Holds(path); !slices.Equal(c.Releases, []layout.Release{"night"}) {
			t.Errorf("%s: %v", path, c)
		}
	}
}

// TestHold: a move holds the files in which the object was and is, and what leads to them, by the window of the branch.
func TestHold(t *testing.T) {
	p := parse(t, file)
	g := around(t, p)
	g.Hold(g.Moves(makes(t, g, 0, "apps-rt: a@apps/rt-base/x.yaml", "apps-rw:"), makes(t, g, 1, "apps-rt:", "apps-rw: a@apps/rw/x.yaml"), nil), nil)
	var got []string
	for _, h := range held(g) {
		path, _, _ := strings.Cut(h, " [night] ConfigMap a moves")
		got = append(got, path)
	}
	want := []string{
		"apps/rt-base/kustomization.yaml", "apps/rt-base/x.yaml", "apps/rt/kustomization.yaml", "apps/rw/kustomization.yaml", "apps/rw/x.yaml",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c, _ := g.Holds(want[1]); !c.Pruned {
		t.Errorf("%s: Flux deletes the object, and that is not said", want[1])
	}
	back := around(t, p)
	back.Hold(back.Moves(makes(t, back, 0, "apps-rt:", "apps-rw: a@apps/rw/x.yaml"), makes(t, back, 1, "apps-rt: a@apps/rt-base/x.yaml", "apps-rw:"), nil), nil)
	if c, ok := back.Holds("apps/rw/x.yaml"); !ok || c.Pruned {
		t.Errorf("what goes back: %+v, %v", c, ok)
	}
}

// oneWindow is the file with one window for all that is windowed in a cluster.
var oneWindow = strings.NewReplacer("release: weekend", "release: night", "window: weekend", "window: night").Replace(file)

// TestAffected: only what changes is built, and nothing where nothing can move, be added to a live one, or take what has another window.
func TestAffected(t *testing.T) {
	p := parse(t, oneWindow)
	g := around(t, p)
	names := func(files ...string) (out []string) {
		before, after := g.Affected(files)
		for _, e := range before {
			out = append(out, e.Kustomization.Name)
		}
		if len(after) != len(before) {
			t.Errorf("%s: %d before and %d after", files, len(before), len(after))
		}
		slices.Sort(out)
		return out
	}
	for files, want := range map[string]string{
		"apps/rt/x.yaml":                "apps-rt",
		"apps/rw/x.yaml":                "",
		"apps/rt/x.yaml apps/rw/x.yaml": "apps-rw apps-rt",
		"apps/shared/x.yaml":            "apps-rw apps-rt",
		"README.md":                     "",
	} {
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		if got := names(strings.Fields(files)...); !slices.Equal(got, wanted) {
			t.Errorf("%s: %v, want %v", files, got, wanted)
		}
	}
	nothing := strings.NewReplacer("flux-system/held", "flux-system/none", "./apps/by-path", "./apps/none", "rw/a", "zz/a", "rw/{b,c}", "zz/b").Replace(oneWindow)
	if g = around(t, parse(t, nothing)); len(names("apps/rt/x.yaml")) > 0 {
		t.Error("something is built in a cluster where nothing is windowed")
	}
	for name, text := range map[string]string{
		"another window":        file,
		"a rule with a window":  strings.Replace(oneWindow, "layout:", "layout:\n  rules: [{paths: [x/**], release: night}]", 1),
		"a preset without Flux": strings.NewReplacer("flux: true", "preset: rt-rw\n  window: night").Replace(oneWindow),
	} {
		if g = around(t, parse(t, text)); !slices.Equal(names("apps/rw/x.yaml"), []string{"apps-rw"}) {
			t.Errorf("%s: it is not built", name)
		}
	}
}

// TestAffectedWithoutLive: windowed ones are built where something may leave one of them for another.
func TestAffectedWithoutLive(t *testing.T) {
	p := parse(t, oneWindow)
	const more = "resources: [x.yaml, ../shared]\n"
	for name, c := range map[string]struct {
		replace []string
		want    int
	}{
		"one reads more":                       {[]string{more, "resources: [x.yaml, ../shared, y.yaml]\n", "-- apps/held/x.yaml", "-- apps/rw/y.yaml --\n" + configMap + "-- apps/held/x.yaml"}, 0},
		"one reads less":                       {[]string{more, "resources: [../shared]\n"}, 0},
		"one reads another file":               {[]string{more, "resources: [y.yaml, ../shared]\n", "-- apps/rw/x.yaml", "-- apps/rw/y.yaml"}, 0},
		"what one does not read the other has": {[]string{more, "resources: [../shared]\n", "-- apps/rw/x.yaml", "-- apps/by-path/y.yaml"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := around(t, p, c.replace...).Affected([]string{"apps/rw/kustomization.yaml", "apps/rw/x.yaml", "apps/rw/y.yaml", "apps/by-path/y.yaml"})
			if len(before) != c.want || len(after) != c.want {
				t.Errorf("%d before, %d after, want %d", len(before), len(after), c.want)
			}
		})
	}
}
