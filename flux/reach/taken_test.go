package reach

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/flux/graph"
)

// TestTaken: what windowed entry points make goes with a Namespace or a CustomResourceDefinition that another one does not make any more, and waits for their windows.
func TestTaken(t *testing.T) {
	p := parse(t, file)
	listed := Object{Kind: "Namespace", Name: "shop", File: "apps/rt/x.yaml"}
	kept := listed
	kept.Kept = true
	open := listed
	open.Name = "${ns}"
	crd := Object{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "shops.acme.example", File: "apps/rt/x.yaml"}
	in := func(namespace string) Object {
		return Object{Group: "apps", Kind: "Deployment", Namespace: namespace, Name: "web"}
	}
	const shop = "Namespace shop leaves flux-system/apps-rt: Flux deletes it now, and what flux-system/%s makes goes with it"
	rw, held := fmt.Sprintf(shop, "apps-rw"), fmt.Sprintf(shop, "held")
	for name, c := range map[string]struct {
		before, after []Object // of apps-rt
		windowed      map[string][]Object
		want          []string
	}{
		"of a branch":                {[]Object{listed}, nil, map[string][]Object{"apps-rw": {in("shop")}}, []string{rw}},
		"of a window":                {[]Object{listed}, nil, map[string][]Object{"held": {in("shop")}}, []string{held}},
		"of both":                    {[]Object{listed}, nil, map[string][]Object{"apps-rw": {in("shop")}, "held": {in("other"), in("shop")}}, []string{rw, held}},
		"another namespace":          {[]Object{listed}, nil, map[string][]Object{"apps-rw": {in("other"), in("")}}, nil},
		"it stays":                   {[]Object{listed}, []Object{listed}, map[string][]Object{"apps-rw": {in("shop")}}, nil},
		"in another file":            {[]Object{listed}, []Object{{Kind: "Namespace", Name: "shop", File: "y"}}, map[string][]Object{"apps-rw": {in("shop")}}, nil},
		"it comes":                   {nil, []Object{listed}, map[string][]Object{"apps-rw": {in("shop")}}, nil},
		"it is kept":                 {[]Object{kept}, nil, map[string][]Object{"apps-rw": {in("shop")}}, nil},
		"its name has a variable":    {[]Object{open}, nil, map[string][]Object{"apps-rw": {in("shop")}}, []string{strings.Replace(rw, " shop ", " ${ns} ", 1)}},
		"theirs has one":             {[]Object{listed}, nil, map[string][]Object{"apps-rw": {in("${ns}")}}, []string{rw}},
		"a release makes it there":   {[]Object{listed}, nil, map[string][]Object{"held": {{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "flux-system", Name: "r", Into: "shop"}}}, []string{held}},
		"the Kustomization is there": {[]Object{{Kind: "Namespace", Name: "flux-system"}}, nil, map[string][]Object{"held": nil}, []string{strings.Replace(held, " shop ", " flux-system ", 1)}},
		"they are not built":         {[]Object{listed}, nil, map[string][]Object{"held": {{Name: "!"}}}, []string{held}},
		"no Namespace":               {[]Object{{Group: "acme.example", Kind: "Namespace", Name: "shop"}, {Kind: "ConfigMap", Name: "shop"}}, nil, map[string][]Object{"held": {in("shop")}}, nil},
		"a kind": {[]Object{crd}, nil, map[string][]Object{"apps-rw": {in("shop")}, "held": {{Group: "acme.example", Kind: "Shop", Name: "a"}}}, []string{
			"CustomResourceDefinition.apiextensions.k8s.io shops.acme.example leaves flux-system/apps-rt: Flux deletes it now, and what flux-system/held makes goes with it",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := around(t, p)
			before, after := []Build{{Entry: entry(t, g, 0, "apps-rt"), Objects: c.before}}, []Build{{Entry: entry(t, g, 1, "apps-rt"), Objects: c.after}}
			var windowed []Build
			for _, of := range []string{"apps-rw", "held"} {
				if objects, asked := c.windowed[of]; asked {
					b := Build{Entry: entry(t, g, 0, of), Objects: objects}
					if len(objects) == 1 && objects[0].Name == "!" {
						b.Err, b.Objects = "broken", nil
					}
					windowed = append(windowed, b)
				}
			}
			var got []string
			moves := g.Taken(windowed, before, after)
			for _, m := range moves {
				got = append(got, m.String())
			}
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(g.losses(before, after)) > 0 && len(g.Windowed(before, after)) == 0 {
				t.Error("what windowed ones make is not asked for")
			}
			files := []string{"README.md", "apps/rt/x.yaml"}
			g.Hold(moves, files)
			for _, f := range files {
				if h := g.holds[f]; (len(h.windows) > 0) != (len(c.want) > 0 && f != "README.md") || h.pruned {
					t.Errorf("%s is held by %+v", f, h)
				}
			}
		})
	}
}

// TestTakenByWhom: what takes it may be another entry point than before, none, or one that cannot be built; nothing that stays with it waits.
func TestTakenByWhom(t *testing.T) {
	p := parse(t, file)
	shop := []Object{{Kind: "Namespace", Name: "shop", File: "apps/rt/x.yaml"}}
	made := []Object{{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}}
	keeps := strings.Replace(ks("apps-rt", "./apps/rt", "flux-system"), "{path", "{prune: false, path", 1)
	for name, c := range map[string]struct {
		replace       []string
		before, after string // who makes it
		of            string
		change        func(before, after *Build)
		want          int
	}{
		"it moves between live ones": {nil, "apps-rt", "tenant", "held", nil, 1},
		"nobody is there any more":   {[]string{"-- clusters/prod/apps-rt.yaml --\n" + ks("apps-rt", "./apps/rt", "flux-system"), ""}, "apps-rt", "", "held", nil, 1},
		"prune is false":             {[]string{ks("apps-rt", "./apps/rt", "flux-system"), keeps}, "apps-rt", "tenant", "held", nil, 0},
		"one with the same window":   {nil, "odd", "tenant", "held", nil, 0},
		"one with another window":    {nil, "path", "tenant", "held", nil, 1},
		"itself":                     {nil, "held", "tenant", "held", nil, 0},
		"what is live":               {nil, "apps-rt", "tenant", "tenant", nil, 0},
		"it is not built any more":   {nil, "apps-rt", "apps-rt", "held", func(_, after *Build) { after.Err, after.Objects = "broken", nil }, 0},
		"in part": {nil, "apps-rt", "apps-rt", "held", func(before, after *Build) {
			before.Remote, before.Err, after.Remote, after.Err, after.Objects = true, "x", true, "x", nil
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			trees := c.replace
			after := strings.NewReplacer(trees...).Replace(repository())
			first := repository()
			if name == "prune is false" {
				first = after
			}
			g := New(p, clusters(t, p, first), clusters(t, p, after))
			was := []Build{{Entry: entry(t, g, 0, c.before), Objects: shop}}
			var is []Build
			if c.after != "" {
				is = append(is, Build{Entry: entry(t, g, 1, c.after), Objects: shop})
			}
			if c.change != nil {
				c.change(&was[0], &is[0])
			}
			if got := g.Taken([]Build{{Entry: entry(t, g, 0, c.of), Objects: made}}, was, is); len(got) != c.want {
				t.Errorf("%v", got)
			}
			if before, _ := g.Affected([]string{"clusters/prod/apps-rt.yaml"}); len(c.replace) > 0 && c.want > 0 && !slices.ContainsFunc(before, func(e graph.Entry) bool { return e.Kustomization != nil && e.Kustomization.Name == c.before }) {
				t.Error("what it made is not asked")
			}
		})
	}
}

// TestTakenBySet: what a ResourceSet makes counts as well, by its inputs.
func TestTakenBySet(t *testing.T) {
	p := parse(t, file)
	set := func(inputs, name string) string {
		return strings.Replace(repository(), "resources: [x.yaml, ../shared, ../rt-base]", "resources: [x.yaml, set.yaml]", 1) + "-- apps/rt/set.yaml --\n" +
			object("fluxcd.controlplane.io/v1", "ResourceSet", "tenants", "{inputs: ["+inputs+"], resources: [{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}]}")
	}
	const one, named = "{name: other}, {name: shop}", "<< inputs.name >>"
	for name, c := range map[string]struct {
		before, after string
		want          int
	}{
		"an input goes":               {set(one, named), set("{name: other}", named), 1},
		"another one goes":            {set(one, named), set("{name: shop}", named), 0},
		"the set goes":                {set(one, named), repository(), 1},
		"its template changes":        {set(one, named), set(one, named+"-x"), 1},
		"nothing of it changes":       {set(one, named), set(one+", {name: third}", named), 0},
		"what is not known may be it": {set(one, "<< inputs.from >>"), repository(), 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(p, clusters(t, p, c.before), clusters(t, p, c.after))
			moves := g.Taken([]Build{{Entry: entry(t, g, 0, "held"), Objects: []Object{{Kind: "Service", Namespace: "shop", Name: "a"}}}},
				[]Build{{Entry: entry(t, g, 0, "apps-rt")}}, []Build{{Entry: entry(t, g, 1, "apps-rt")}})
			held := map[string]bool{}
			for _, m := range moves {
				held[key(m.To)] = true
			}
			if len(held) != c.want {
				t.Errorf("%v", moves)
			}
		})
	}
}
