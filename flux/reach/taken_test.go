package reach

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
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
	crd.Source, crd.Path = "Namespaced Shop", "hash"
	other := crd
	other.Path = "another hash"
	cluster := crd
	cluster.Source = "Cluster Shop"
	in := func(namespace string) Object {
		return Object{Group: "apps", Kind: "Deployment", Namespace: namespace, Name: "web"}
	}
	const shop = "Namespace shop leaves flux-system/apps-rt: Flux may delete it now, and what flux-system/%s makes may go with it"
	const kind = "CustomResourceDefinition.apiextensions.k8s.io shops.acme.example leaves flux-system/apps-rt: Flux may delete it now, and what flux-system/held makes may go with it"
	rw, held := fmt.Sprintf(shop, "apps-rw"), fmt.Sprintf(shop, "held")
	for name, c := range map[string]struct {
		before, after []Object // of apps-rt
		windowed      map[string][]Object
		want          []string
	}{
		"of a branch":                {[]Object{listed}, nil, map[string][]Object{"apps-rw": {in("shop")}}, []string{rw}},
		"of a window":                {[]Object{listed}, nil, map[string][]Object{"held": {in("shop")}}, []string{held}},
		"of both":                    {[]Object{listed}, nil, map[string][]Object{"apps-rw": {in("shop")}, "held": {in("other"), in("shop")}}, []string{rw, held}},
		"another namespace":          {[]Object{listed}, nil, map[string][]Object{"held": {in("other"), in("")}}, nil},
		"on the branch there may be": {[]Object{listed}, nil, map[string][]Object{"apps-rw": {in("other")}}, []string{rw}},
		"it stays":                   {[]Object{listed}, []Object{listed}, map[string][]Object{"apps-rw": {in("shop")}}, nil},
		"in another file":            {[]Object{listed}, []Object{{Kind: "Namespace", Name: "shop", File: "y"}}, map[string][]Object{"apps-rw": {in("shop")}}, nil},
		"it comes":                   {nil, []Object{listed}, map[string][]Object{"apps-rw": {in("shop")}}, nil},
		"it is kept":                 {[]Object{kept}, nil, map[string][]Object{"apps-rw": {in("shop")}}, nil},
		"its name has a variable":    {[]Object{open}, nil, map[string][]Object{"held": {in("shop")}}, []string{strings.Replace(held, " shop ", " ${ns} ", 1)}},
		"it cannot be theirs":        {[]Object{{Kind: "Namespace", Name: "preview-${id}"}}, nil, map[string][]Object{"held": {in("shop"), in("shop-${x}")}}, nil},
		"nor theirs it":              {[]Object{listed}, nil, map[string][]Object{"held": {in("shop-${x}")}}, nil},
		"both may be one":            {[]Object{{Kind: "Namespace", Name: "shop-${id}"}}, nil, map[string][]Object{"held": {in("${x}-a")}}, []string{strings.Replace(held, " shop ", " shop-${id} ", 1)}},
		"theirs has one":             {[]Object{listed}, nil, map[string][]Object{"held": {in("${ns}")}}, []string{held}},
		"the Kustomization is there": {[]Object{{Kind: "Namespace", Name: "flux-system"}}, nil, map[string][]Object{"held": nil}, []string{strings.Replace(held, " shop ", " flux-system ", 1)}},
		"they are not built":         {[]Object{listed}, nil, map[string][]Object{"held": {{Name: "!"}}}, []string{held}},
		"no Namespace":               {[]Object{{Group: "acme.example", Kind: "Namespace", Name: "shop"}, {Kind: "ConfigMap", Name: "shop"}}, nil, map[string][]Object{"held": {in("shop")}}, nil},
		"a kind":                     {[]Object{crd}, nil, map[string][]Object{"held": {{Group: "acme.example", Kind: "Shop", Name: "a"}}}, []string{kind}},
		"another kind":               {[]Object{crd}, nil, map[string][]Object{"held": {{Group: "other.example", Kind: "Shop", Name: "a"}}}, nil},
		"it is another one":          {[]Object{crd}, []Object{other}, map[string][]Object{"held": {{Group: "acme.example", Kind: "Shop", Name: "a"}}}, nil},
		"the kind is another one":    {[]Object{crd}, []Object{cluster}, map[string][]Object{"held": {{Group: "acme.example", Kind: "Shop", Name: "a"}}}, []string{kind}},
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
			files := []string{"README.md", "apps/rt/x.yaml"}
			lost := g.Lost(before, after, files)
			moves := g.Taken(windowed, lost)
			for _, m := range moves {
				got = append(got, m.String())
			}
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(lost) > 0 && len(g.Windowed(before, after, lost)) == 0 {
				t.Error("what windowed ones make is not asked for")
			}
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
			if got := g.Taken([]Build{{Entry: entry(t, g, 0, c.of), Objects: made}}, g.Lost(was, is, nil)); len(got) != c.want {
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
	provided := func(name string) string {
		return strings.Replace(set(one, "<< inputs.tenant >>"), "{inputs: [{name: other}, {name: shop}]", "{inputsFrom: [{kind: ResourceSetInputProvider, name: p}]", 1) + "-- clusters/prod/p.yaml --\n" +
			object("fluxcd.controlplane.io/v1", "ResourceSetInputProvider", "p", "{type: Static, defaultValues: {tenant: "+name+"}}")
	}
	constant := strings.Replace(provided("x"), "name: << inputs.tenant >>", "name: shop", 1)
	template := func(more string) string {
		return strings.Replace(set(one, "x"), "{inputs: ["+one+"], resources: [{apiVersion: v1, kind: Namespace, metadata: {name: x}}]}", "{resourcesTemplate: \"{apiVersion: v1, kind: Namespace, metadata: {name: shop"+more+"}}\"}", 1)
	}
	crds := func(scope string) string {
		return strings.Replace(set(one, "shops.acme.example}, spec: {scope: "+scope+", names: {kind: Shop}"), "apiVersion: v1, kind: Namespace", "apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition", 1)
	}
	disowned := func(tree string) string {
		return strings.NewReplacer("metadata: {name: "+named, "metadata: {annotations: {fluxcd.controlplane.io/prune: disabled}, name: "+named,
			"{inputs", "{commonMetadata: {annotations: {fluxcd.controlplane.io/prune: enabled}}, inputs").Replace(tree)
	}
	prunesNothing := func(tree string) string {
		rt := ks("apps-rt", "./apps/rt", "flux-system")
		return strings.Replace(tree, rt, strings.Replace(rt, "{path", "{prune: false, path", 1), 1)
	}
	for name, c := range map[string]struct {
		before, after string
		want          int
	}{
		"an input goes":                   {set(one, named), set("{name: other}", named), 1},
		"another one goes":                {set(one, named), set("{name: shop}", named), 0},
		"the set goes":                    {set(one, named), repository(), 1},
		"its template changes":            {set(one, named), set(one, named+"-x"), 1},
		"nothing of it changes":           {set(one, named), set(one+", {name: third}", named), 0},
		"another set makes it":            {set(one, named), strings.Replace(set(one, named), "name: tenants", "name: others", 1), 1},
		"its provider says another one":   {provided("shop"), provided("web"), 1},
		"its provider says the same":      {provided("shop"), provided("shop"), 0},
		"the operator keeps it":           {strings.Replace(set(one, named), "metadata: {name: "+named, "metadata: {annotations: {fluxcd.controlplane.io/prune: disabled}, name: "+named, 1), repository(), 0},
		"a template puts it off from now": {template(""), template(", annotations: {fluxcd.controlplane.io/reconcile: disabled}"), 1},
		"it does not":                     {template(""), template(""), 0},
		"its provider goes":               {constant, strings.Replace(constant, "-- clusters/prod/p.yaml", "-- other/p.yaml", 1), 1},
		"nothing of a constant changes":   {constant, constant, 0},
		"its scope changes":               {crds("Cluster"), crds("Namespaced"), 1},
		"the scope is the same":           {crds("Cluster"), crds("Cluster"), 0},
		"its set says that it goes":       {disowned(set(one, named)), repository(), 1},
		"what prunes nothing applies it":  {prunesNothing(set(one, named)), prunesNothing(set("{name: other}", named)), 1},
		"what is not known may be it":     {set(one, "<< inputs.from >>"), repository(), 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(p, clusters(t, p, c.before), clusters(t, p, c.after))
			moves := g.Taken([]Build{{Entry: entry(t, g, 0, "held"), Objects: []Object{{Kind: "Service", Namespace: "shop", Name: "a"}, {Group: "acme.example", Kind: "Shop", Namespace: "x", Name: "a"}}}},
				g.Lost([]Build{{Entry: entry(t, g, 0, "apps-rt")}}, []Build{{Entry: entry(t, g, 1, "apps-rt")}}, nil))
			held := map[string]bool{}
			for _, m := range moves {
				if held[key(m.To)] = true; strings.Contains(m.String(), "#") || m.keep() != "" {
					t.Error(m)
				}
			}
			if len(held) != c.want {
				t.Errorf("%v", moves)
			}
		})
	}
}

// TestTakenByTree: what makes a Namespace may be another owner's, filled in with something else, or handed on in part, though it is built as before; and what is windowed may be known
// by what applies it alone.
func TestTakenByTree(t *testing.T) {
	p := parse(t, file)
	flat := func(more string) string { return repository() + more }
	changed := func(tree string, replace ...string) string {
		out := strings.NewReplacer(replace...).Replace(tree)
		if out == tree {
			t.Fatal("nothing was replaced")
		}
		return out
	}
	rt := ks("apps-rt", "./apps/rt", "flux-system")
	parents := flat("-- clusters/prod/parent.yaml --\n" + ks("parent", "./parent", "flux-system") + "-- parent/cm.yaml --\n" + configMap)
	inParent := changed(parents, "-- clusters/prod/apps-rt.yaml --\n", "-- parent/apps-rt.yaml --\n")
	filled := changed(flat("-- clusters/prod/vars.yaml --\n"+strings.Replace(secret("vars"), "{password: x}", "{ns: shop}", 1)), rt, strings.Replace(rt, "{path", "{postBuild: {substituteFrom: [{kind: Secret, name: vars}]}, path", 1))
	copied := changed(filled, "metadata: {name: vars, ", "metadata: {name: vars, annotations: {replicator.v1.mittwald.de/replicate-from: flux-system/orig}, ") + "-- clusters/prod/orig.yaml --\n" + strings.Replace(secret("orig"), "{password: x}", "{ns: web}", 1)
	own := changed(flat("-- clusters/prod/own.yaml --\n"+gitRepository("own", "main")), rt, ks("apps-rt", "./apps/rt", "own"))
	team := changed(parents, ks("parent", "./parent", "flux-system"), strings.Replace(ks("parent", "./parent", "flux-system"), "namespace: flux-system", "namespace: team", 1),
		"-- clusters/prod/held.yaml --\n", "-- parent/held.yaml --\n")
	held := ks("held", "./apps/held", "flux-system")
	leaf := changed(flat("-- clusters/prod/oci.yaml --\n"+object("source.toolkit.fluxcd.io/v1", "OCIRepository", "oci", "{url: oci://example.com/x}")),
		held, changed(ks("held", "./", "oci"), "GitRepository", "OCIRepository", "{path", "{targetNamespace: shop, path"))
	sources := changed(flat("-- clusters/prod/s.yaml --\n"+strings.Replace(gitRepository("s", "main"), "namespace: flux-system", "namespace: sources", 1)),
		held, strings.Replace(ks("held", "./apps/held", "s"), "name: s}", "name: s, namespace: sources}", 1))
	set := flat("-- apps/held/set.yaml --\n" + object("fluxcd.controlplane.io/v1", "ResourceSet", "web",
		"{inputs: [{in: shop}], resources: [{apiVersion: acme.example/v1, kind: Shop, metadata: {name: web, namespace: << inputs.in >>}}]}"))
	set = changed(set, "resources: [x.yaml, ../rt-base]", "resources: [x.yaml, set.yaml]")
	spoke := []string{rt, strings.Replace(rt, "{path", "{kubeConfig: {secretRef: {name: spoke}}, path", 1)}
	ends := changed(flat(""), rt, strings.Replace(rt, "{path", "{prune: false, deletionPolicy: Delete, path", 1))
	artifact := changed(flat("-- clusters/prod/ag.yaml --\n"+object("source.extensions.fluxcd.io/v1beta1", "ArtifactGenerator", "own",
		"{sources: [{alias: r, kind: GitRepository, name: flux-system}], artifacts: [{name: own, copy: [{from: \"@r/apps/rt/**\", to: \"@artifact/apps/rt/\"}]}]}")), rt,
		strings.Replace(ks("apps-rt", "./apps/rt", "own"), "kind: GitRepository", "kind: ExternalArtifact", 1))
	provided := changed(flat("-- clusters/prod/p.yaml --\n"+object("fluxcd.controlplane.io/v1", "ResourceSetInputProvider", "p", "{type: Static, defaultValues: {a: b}}")), rt,
		strings.Replace(object("fluxcd.controlplane.io/v1", "ResourceSet", "rt", "{inputsFrom: [{kind: ResourceSetInputProvider, name: p}], resources: [")+"{"+
			strings.NewReplacer("---\n", "", "\n", ", ").Replace(strings.TrimSpace(rt))+"}]}\n", "]}\n}]}", "]}", 1))
	gone := func(tree string) string {
		return changed(tree, "-- clusters/prod/apps-rt.yaml --\n", "-- other/apps-rt.yaml --\n")
	}
	shop, variable := Object{Kind: "Namespace", Name: "shop"}, Object{Kind: "Namespace", Name: "${ns}"}
	crd := func(name string) Object {
		return Object{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: name}
	}
	web := []Object{{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}}
	for name, c := range map[string]struct {
		before, after string
		lost          Object
		stays         bool // it is made after the change, too
		windowed      []Object
		want          int
	}{
		"it stays":                          {parents, parents, shop, true, web, 0},
		"another one applies what makes it": {parents, inParent, shop, true, web, 1},
		"a ResourceSet makes what makes it": {flat(""), changed(flat(""), rt, strings.Replace(object("fluxcd.controlplane.io/v1", "ResourceSet", "rt", "{resources: [")+"{"+
			strings.NewReplacer("---\n", "", "\n", ", ").Replace(strings.TrimSpace(rt))+"}]}\n", "]}\n}]}", "]}", 1)), shop, true, web, 1},
		"what provides for the set that makes it goes":              {provided, strings.Replace(provided, "-- clusters/prod/p.yaml", "-- other/p.yaml", 1), shop, true, web, 1},
		"its artifact leaves something out":                         {artifact, changed(artifact, "to: \"@artifact/apps/rt/\"", "exclude: [\"**/x.yaml\"], to: \"@artifact/apps/rt/\""), shop, true, web, 1},
		"its artifact is the same":                                  {artifact, artifact, shop, true, web, 0},
		"its variable has another value":                            {filled, changed(filled, "{ns: shop}", "{ns: other}"), variable, true, web, 1},
		"what its variable is copied from":                          {copied, changed(copied, "{ns: web}", "{ns: other}"), variable, true, web, 1},
		"another variable has":                                      {filled, changed(filled, "{ns: shop}", "{ns: shop, x: y}"), shop, true, web, 0},
		"its source says something else":                            {own, changed(own, "metadata: {name: own, namespace: flux-system}\nspec: {", "metadata: {name: own, namespace: flux-system}\nspec: {interval: 9m, sparseCheckout: [apps], "), shop, true, web, 1},
		"its source hands on a part":                                {own, changed(own, "branch: main}}\n-- clusters/prod/rw", "branch: main}}\n-- clusters/prod/rw", "metadata: {name: own, namespace: flux-system}\nspec: {", "metadata: {name: own, namespace: flux-system}\nspec: {sparseCheckout: [apps/rt/x], "), shop, true, web, 1},
		"what applies the windowed one":                             {team, team, Object{Kind: "Namespace", Name: "team"}, false, nil, 1},
		"its source stands in it":                                   {sources, sources, Object{Kind: "Namespace", Name: "sources"}, false, nil, 1},
		"the kind of its source":                                    {sources, sources, crd("gitrepositories.source.toolkit.fluxcd.io"), false, nil, 1},
		"a source of another repository may make anything anywhere": {leaf, leaf, Object{Kind: "Namespace", Name: "other"}, false, nil, 1},
		"in any namespace":                                          {set, set, Object{Kind: "Namespace", Name: "other"}, false, nil, 1},
		"a ResourceSet may make it in another cluster":              {changed(set, spoke...), changed(set, spoke...), shop, false, nil, 1},
		"nothing else does":                                         {changed(flat(""), spoke...), changed(flat(""), spoke...), shop, false, web, 0},
		"of any kind":                                               {set, set, crd("shops.other.example"), false, nil, 1},
		"the kind of Flux Kustomizations":                           {set, set, crd("kustomizations.kustomize.toolkit.fluxcd.io"), false, nil, 1},
		"it goes with what keeps everything":                        {ends, gone(ends), shop, false, web, 1},
		"it goes from what keeps everything":                        {ends, ends, shop, false, web, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(p, clusters(t, p, c.before), clusters(t, p, c.after))
			was := []Build{{Entry: entry(t, g, 0, "apps-rt"), Objects: []Object{c.lost}}}
			var is []Build
			for _, e := range g.trees[1].entries {
				if e.Kustomization != nil && e.Kustomization.Name == "apps-rt" {
					is = append(is, Build{Entry: e.Entry})
				}
			}
			if c.stays {
				is[0].Objects = was[0].Objects
			}
			var windowed []Build
			for _, e := range g.trees[0].entries {
				if e.Kustomization != nil && e.Kustomization.Name == "held" && !e.elsewhere {
					windowed = append(windowed, Build{Entry: e.Entry, Objects: c.windowed})
				}
			}
			if got := g.Taken(windowed, g.Lost(was, is, nil)); len(got) != c.want {
				t.Errorf("%v", got)
			}
			before, _ := g.Affected(nil)
			if asked := slices.ContainsFunc(before, func(e graph.Entry) bool { return key(e) == key(was[0].Entry) }); c.stays && c.want > 0 && !asked {
				t.Error("what it makes is not asked for")
			}
		})
	}
}

// TestTakenUnknown: where it is not known what goes, or what is in it, all that is windowed there waits, as far as a file says that such is made.
func TestTakenUnknown(t *testing.T) {
	p := parse(t, file)
	changed := func(tree string, replace ...string) string {
		out := strings.NewReplacer(replace...).Replace(tree)
		if out == tree {
			t.Fatal("nothing was replaced")
		}
		return out
	}
	const rtList, heldList, namespace = "resources: [x.yaml, ../shared, ../rt-base]", "resources: [x.yaml, ../rt-base]", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
	release := func(name, spec string) string {
		return object("helm.toolkit.fluxcd.io/v2", "HelmRelease", name, "{"+spec+"chart: {spec: {chart: ./charts/shop, sourceRef: {kind: GitRepository, name: flux-system}}}}")
	}
	chart := changed(repository(), rtList, "resources: [x.yaml, r.yaml]") + "-- apps/rt/r.yaml --\n" + release("r", "") +
		"-- charts/shop/Chart.yaml --\nname: shop\n-- charts/shop/values.yaml --\na: b\n-- charts/shop/templates/ns.yaml --\nkind: Namespace\nmetadata: {name: {{ .Values.x }}}\n-- charts/shop/templates/cm.yaml --\n{{ x }}\n"
	twice := changed(chart, "r.yaml]", "r.yaml, again.yaml]") + "-- apps/rt/again.yaml --\n" + release("again", "")
	listed := changed(repository(), rtList, "resources: [x.yaml, ns.yaml]") + "-- apps/rt/ns.yaml --\n" + namespace
	team := changed(repository(), "name: path, namespace: flux-system", "name: path, namespace: team", "release: night}\n    - {where: flux-system/held", "release: live}\n    - {where: flux-system/held")
	teams := changed(team, "-- apps/by-path/x.yaml --\n"+configMap, "-- apps/by-path/x.yaml --\n"+namespace)
	held := func(spec string) string {
		return changed(repository(), heldList, "resources: [x.yaml, r.yaml]") + "-- apps/held/r.yaml --\n" + object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{"+spec+"chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: b}}}}")
	}
	infra := changed(chart, "name: r, namespace: flux-system", "name: r, namespace: infra", "name: flux-system}}}}", "name: flux-system, namespace: flux-system}}}}")
	const kubeConfig = "kubeConfig: {secretRef: {name: spoke}}, "
	spoke := held("targetNamespace: shop, " + kubeConfig)
	onSpoke := changed(chart, release("r", ""), release("r", kubeConfig), heldList, "resources: [x.yaml, r.yaml]") + "-- apps/held/r.yaml --\n" +
		object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "held", "{"+kubeConfig+"chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: b}}}}")
	onThird := changed(onSpoke, release("r", kubeConfig), release("r", "kubeConfig: {secretRef: {name: third}}, "))
	onValue := changed(onSpoke, release("r", kubeConfig), release("r", "kubeConfig: {secretRef: {name: spoke, key: value}}, "))
	self := changed(listed, "name: apps-rt, namespace: flux-system", "name: apps-rt, namespace: infra")
	helper := chart + "-- charts/shop/templates/_h.tpl --\n{{ h }}\n"
	versioned := changed(chart, "name: shop\n", "name: shop\nversion: 1\n")
	inner := changed(chart, "kind: Namespace", "kind: Service") + "-- charts/shop/templates/crds/a.yaml --\nkind: CustomResourceDefinition\n"
	branched := changed(repository(), rtList, "resources: [x.yaml, r.yaml]") + "-- apps/rt/r.yaml --\n" + strings.Replace(release("r", ""), "name: r, namespace: flux-system", "name: r, namespace: web", 1) + "-- charts/shop/Chart.yaml --\nname: shop\n"
	branched = changed(branched, "name: flux-system}}}}", "name: rw, namespace: flux-system}}}}")
	vars := "-- clusters/prod/vars.yaml --\n" + strings.Replace(configMap, "name: cm", "name: vars, namespace: flux-system", 1) + "data: {ns: a}\n"
	const filled = "{postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}, path"
	tenantVars := changed(repository(), ks("tenant", "./apps/tenant", "tenant"), strings.Replace(ks("tenant", "./apps/tenant", "tenant"), "{path", filled, 1)) + vars
	secretly := strings.NewReplacer(ks("apps-rt", "./apps/rt", "flux-system"), strings.Replace(ks("apps-rt", "./apps/rt", "flux-system"), "{path", "{postBuild: {substituteFrom: [{kind: Secret, name: vars}]}, path", 1), release("r", ""), release("r", "releaseName: \"${n}\", ")).Replace(chart) +
		"-- clusters/prod/vars.yaml --\n" + strings.Replace(secret("vars"), "{password: x}", "{n: a}", 1)
	listedVars := changed(listed, ks("apps-rt", "./apps/rt", "flux-system"), strings.Replace(ks("apps-rt", "./apps/rt", "flux-system"), "{path", filled, 1)) + vars
	valued := changed(chart, release("r", ""), release("r", "valuesFrom: [{kind: ConfigMap, name: v}], "), "r.yaml]", "r.yaml, v.yaml]") + "-- apps/rt/v.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: v, namespace: flux-system}\ndata: {a: b}\n"
	ignored := changed(repository(), ks("apps-rt", "./apps/rt", "flux-system"), strings.Replace(ks("apps-rt", "./apps/rt", "flux-system"), "{path", "{ignore: [{paths: [/metadata/annotations]}], path", 1))
	packed := changed(chart, "kind: Namespace", "kind: Service") + "-- charts/shop/charts/a.tgz --\nx\n"
	charted := changed(chart, "sourceRef: {kind: GitRepository, name: flux-system}}}}", "sourceRef: {kind: GitRepository, name: own}}}}", "-- clusters/prod/rw.yaml --\n", "-- clusters/prod/own.yaml --\n"+gitRepository("own", "main")+"-- clusters/prod/rw.yaml --\n")
	heldSet := func(spec string) string {
		return changed(repository(), heldList, "resources: [x.yaml, set.yaml]") + "-- apps/held/set.yaml --\n" + object("fluxcd.controlplane.io/v1", "ResourceSet", "set",
			"{resources: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: a, namespace: web}, spec: {"+spec+", chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: b}}}}}]}")
	}
	charts := func(first, second string) string { // of a ResourceSet
		of := func(chart string) string {
			return "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: " + chart + ", namespace: flux-system}, spec: {chart: {spec: {chart: ./charts/" + chart + ", sourceRef: {kind: GitRepository, name: flux-system}}}}}"
		}
		return changed(chart, "r.yaml]", "set.yaml]") + "-- apps/rt/set.yaml --\n" + object("fluxcd.controlplane.io/v1", "ResourceSet", "set", "{resources: ["+of(first)+", "+of(second)+"]}") +
			"-- charts/web/Chart.yaml --\nname: web\n-- charts/web/templates/a.yaml --\nkind: Service\n"
	}
	rt := ks("apps-rt", "./apps/rt", "flux-system")
	keeps := func(tree string) string {
		return changed(tree, rt, strings.Replace(rt, "{path", "{prune: false, path", 1))
	}
	gone := func(tree string) string {
		return changed(tree, "-- clusters/prod/apps-rt.yaml", "-- other/apps-rt.yaml")
	}
	tenant := ks("tenant", "./apps/tenant", "tenant")
	keepsTenant := changed(repository(), tenant, strings.Replace(tenant, "{path", "{prune: false, path", 1))
	crds := chart + "-- charts/shop/crds/ns.yaml --\n" + namespace
	own := changed(listed, rt, ks("apps-rt", "./apps/rt", "own"), "-- clusters/prod/rw.yaml --\n", "-- clusters/prod/own.yaml --\n"+gitRepository("own", "main")+"-- clusters/prod/rw.yaml --\n")
	keptTeams := changed(teams, "{path: ./apps/by-path", "{prune: false, path: ./apps/by-path")
	tenants := changed(repository(), "name: tenant, namespace: flux-system}\nspec: {path", "name: tenant, namespace: team}\nspec: {path", "./apps/tenant, sourceRef: {kind: GitRepository, name: tenant", "./apps/tenant, sourceRef: {kind: GitRepository, namespace: flux-system, name: tenant")
	set := func(namespace string) string {
		return "-- apps/by-path/set.yaml --\n" + strings.Replace(object("fluxcd.controlplane.io/v1", "ResourceSet", "set", "{resources: [{apiVersion: v1, kind: Namespace, metadata: {name: other}}]}"), "namespace: flux-system", "namespace: "+namespace, 1)
	}
	teamSet, infraSet := team+set("flux-system"), repository()+set("infra")
	marked := func(section, says string) string {
		return changed(repository(), rt, strings.Replace(rt, "{path", "{commonMetadata: {"+section+": {kustomize.toolkit.fluxcd.io/prune: "+says+"}}, path", 1))
	}
	pruned := marked("annotations", "enabled")
	shop := []Object{{Kind: "Namespace", Name: "shop", File: "apps/rt/x.yaml"}}
	kept := []Object{{Kind: "Namespace", Name: "shop", File: "apps/rt/x.yaml", Kept: true}}
	crd := []Object{{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "shops.acme.example", File: "apps/rt/x.yaml"}}
	for name, c := range map[string]struct {
		before, after string
		files         string
		err           string   // why it was not built before
		lost          []Object // of apps-rt
		want          bool
	}{
		"gone: the release with what prunes":            {chart, gone(chart), "clusters/prod/apps-rt.yaml", "", nil, true},
		"gone: with what keeps everything":              {keeps(chart), gone(keeps(chart)), "clusters/prod/apps-rt.yaml", "", nil, false},
		"gone: a branch with what does":                 {keepsTenant, changed(keepsTenant, "-- clusters/prod/tenant-ks.yaml", "-- other/tenant-ks.yaml"), "clusters/prod/tenant-ks.yaml", "", nil, false},
		"a file of no template goes":                    {crds, changed(crds, "-- charts/shop/crds/ns.yaml", "-- other/ns.yaml"), "charts/shop/crds/ns.yaml", "", nil, false},
		"its source hands on less":                      {own, changed(own, "ref: {branch: \"main\"}}\n-- clusters/prod/rw", "sparseCheckout: [apps/rt/x.yaml], ref: {branch: \"main\"}}\n-- clusters/prod/rw"), "clusters/prod/own.yaml", "broken", nil, true},
		"a file of it is in no list any more":           {listed, changed(listed, "-- apps/rt/ns.yaml", "-- apps/rt/old.yaml"), "README.md", "broken", nil, true},
		"it keeps what it made":                         {keeps(listed), changed(keeps(listed), namespace, configMap), "apps/rt/ns.yaml", "broken", nil, false},
		"what keeps everything stands in it":            {keptTeams, keptTeams, "apps/rt/x.yaml", "", []Object{{Kind: "Namespace", Name: "team"}}, false},
		"a branch is read by what stands in it":         {tenants, tenants, "apps/rt/x.yaml", "", []Object{{Kind: "Namespace", Name: "team"}}, true},
		"a set of what stands in it makes one":          {teamSet, teamSet, "apps/rt/x.yaml", "", []Object{{Kind: "Namespace", Name: "team"}}, true},
		"a set that stands in it makes one":             {infraSet, infraSet, "apps/rt/x.yaml", "", []Object{{Kind: "Namespace", Name: "infra"}}, true},
		"what reads a branch prunes from now":           {keepsTenant, changed(keepsTenant, "{prune: false, path: ./apps/tenant", "{path: ./apps/other"), "clusters/prod/tenant-ks.yaml", "", nil, true},
		"it stands in it itself":                        {self, self, "apps/rt/x.yaml", "", []Object{{Kind: "Namespace", Name: "infra"}}, true},
		"a kind of sets goes":                           {teamSet, teamSet, "apps/rt/x.yaml", "", []Object{{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "resourcesets.fluxcd.controlplane.io"}}, true},
		"its chart is called otherwise":                 {chart, changed(chart, "name: shop\n", "name: web\n"), "charts/shop/Chart.yaml", "", nil, true},
		"its version is another one":                    {versioned, changed(versioned, "version: 1", "version: 2"), "charts/shop/Chart.yaml", "", nil, false},
		"what it is made of changes":                    {versioned, versioned + "-- charts/shop/requirements.yaml --\ndependencies: []\n", "charts/shop/requirements.yaml", "", nil, true},
		"a template in crds goes":                       {inner, strings.Replace(inner, "-- charts/shop/templates/crds/a.yaml", "-- other/a.yaml", 1), "charts/shop/templates/crds/a.yaml", "", nil, true},
		"a helper goes":                                 {helper, strings.Replace(helper, "-- charts/shop/templates/_h.tpl --", "-- other/_h.tpl --", 1), "charts/shop/templates/_h.tpl", "", nil, true},
		"a ConfigMap of its values changes":             {valued, changed(valued, "data: {a: b}", "data: {a: c}"), "apps/rt/v.yaml", "", nil, false},
		"its annotation may be ignored":                 {ignored, ignored, "apps/rt/x.yaml", "", kept, true},
		"a helper changes":                              {helper, changed(helper, "{{ h }}", "{{ i }}"), "charts/shop/templates/_h.tpl", "", nil, true},
		"something is left out from now":                {chart, chart + "-- charts/shop/.helmignore --\ntemplates/ns.yaml\n", "charts/shop/.helmignore", "", nil, true},
		"it is called otherwise":                        {chart, changed(chart, release("r", ""), release("r", "releaseName: web, ")), "apps/rt/r.yaml", "", nil, true},
		"a Secret calls it otherwise":                   {secretly, changed(secretly, "{n: a}", "{n: b}"), "clusters/prod/vars.yaml", "", nil, true},
		"a Secret that it has nothing of changes":       {changed(secretly, "${n}", "n"), changed(secretly, "${n}", "n", "{n: a}", "{n: b}"), "clusters/prod/vars.yaml", "", nil, false},
		"it is rendered otherwise":                      {chart, changed(chart, release("r", ""), release("r", "postRenderers: [{kustomize: {patches: [{patch: x}]}}], ")), "apps/rt/r.yaml", "", nil, true},
		"its source leaves something out":               {charted, changed(charted, "metadata: {name: own, namespace: flux-system}\nspec: {", "metadata: {name: own, namespace: flux-system}\nspec: {ignore: charts/shop/templates/ns.yaml, "), "clusters/prod/own.yaml", "", nil, true},
		"a packed chart goes":                           {packed, strings.Replace(packed, "-- charts/shop/charts/a.tgz --", "-- other/a.tgz --", 1), "charts/shop/charts/a.tgz", "", nil, true},
		"a set's release may be anywhere":               {heldSet("interval: 5m"), heldSet("interval: 5m"), "apps/rt/x.yaml", "", shop, true},
		"a set's release may make any kind":             {heldSet("interval: 5m"), heldSet("interval: 5m"), "apps/rt/x.yaml", "", crd, true},
		"a release of a branch's chart may be anywhere": {branched, branched, "apps/rt/x.yaml", "", []Object{{Kind: "Namespace", Name: "other-web"}}, true},
		"remote: it may be anything":                    {repository(), repository(), "apps/rt/x.yaml", "", shop, true},
		"what people read changes":                      {chart + "-- charts/shop/README.md --\na Namespace\n", chart + "-- charts/shop/README.md --\nno Namespace\n", "charts/shop/README.md", "", nil, false},
		"a variable of a branch is other":               {tenantVars, changed(tenantVars, "{ns: a}", "{ns: b}"), "clusters/prod/vars.yaml", "", nil, true},
		"a variable of what was not built":              {listedVars, changed(listedVars, "{ns: a}", "{ns: b}"), "clusters/prod/vars.yaml", "broken", nil, true},
		"a template of a set's first chart":             {charts("shop", "web"), strings.Replace(charts("shop", "web"), "-- charts/shop/templates/ns.yaml", "-- other/ns.yaml", 1), "charts/shop/templates/ns.yaml", "", nil, true},
		"a template of a set's second chart":            {charts("web", "shop"), strings.Replace(charts("web", "shop"), "-- charts/shop/templates/ns.yaml", "-- other/ns.yaml", 1), "charts/shop/templates/ns.yaml", "", nil, true},
		"a template goes":                               {chart, strings.Replace(chart, "-- charts/shop/templates/ns.yaml", "-- other/ns.yaml", 1), "charts/shop/templates/ns.yaml", "", nil, true},
		"it changes":                                    {chart, strings.Replace(chart, "{{ .Values.x }}", "{{ .Values.y }}", 1), "charts/shop/templates/ns.yaml", "", nil, true},
		"another one does":                              {chart, strings.Replace(chart, "{{ x }}", "{{ y }}", 1), "charts/shop/templates/cm.yaml", "", nil, false},
		"a value does":                                  {chart, strings.Replace(chart, "a: b", "a: c", 1), "charts/shop/values.yaml", "", nil, false},
		"the release goes":                              {chart, changed(chart, "r.yaml]", "x.yaml]"), "apps/rt/kustomization.yaml", "", nil, true},
		"one of two does":                               {twice, changed(twice, "r.yaml, again.yaml]", "again.yaml]"), "apps/rt/kustomization.yaml", "", nil, true},
		"it is installed elsewhere":                     {chart, changed(chart, release("r", ""), release("r", "targetNamespace: web, ")), "apps/rt/r.yaml", "", nil, true},
		"something else of it changes":                  {chart, changed(chart, release("r", ""), release("r", "interval: 5m, ")), "apps/rt/r.yaml", "", nil, false},
		"another chart is taken":                        {chart, changed(chart, "./charts/shop", "./charts/web"), "apps/rt/r.yaml", "", nil, true},
		"no template says one":                          {changed(chart, "kind: Namespace", "kind: Service"), changed(chart, "kind: Namespace", "kind: Service", "r.yaml]", "x.yaml]"), "apps/rt/kustomization.yaml", "", nil, false},
		"it could not be built":                         {listed, changed(listed, namespace, configMap), "apps/rt/ns.yaml", "broken", nil, true},
		"its list changes":                              {listed, changed(listed, "ns.yaml]", "ns.yaml, ../shared]"), "apps/rt/kustomization.yaml", "broken", nil, true},
		"its definition changes":                        {listed, changed(listed, "path: ./apps/rt,", "targetNamespace: x, path: ./apps/rt,"), "clusters/prod/apps-rt.yaml", "broken", nil, true},
		"another file of it changes":                    {listed, changed(listed, "-- apps/rt/x.yaml --\n"+configMap, "-- apps/rt/x.yaml --\n# "+configMap), "apps/rt/x.yaml", "broken", nil, false},
		"nothing of it says one":                        {repository(), changed(repository(), rtList, "resources: [../shared]"), "apps/rt/kustomization.yaml", "broken", nil, false},
		"it reads another branch and goes":              {repository(), changed(repository(), "-- clusters/prod/tenant-ks.yaml", "-- other/tenant-ks.yaml"), "clusters/prod/tenant-ks.yaml", "", nil, true},
		"it reads another branch and stays":             {repository(), repository(), "README.md", "", nil, false},
		"what stands in it makes none":                  {team, team, "apps/rt/x.yaml", "", []Object{{Kind: "Namespace", Name: "team"}}, false},
		"what stands in it makes one":                   {teams, teams, "apps/rt/x.yaml", "", []Object{{Kind: "Namespace", Name: "team"}}, true},
		"what stands in another one makes one":          {teams, teams, "apps/rt/x.yaml", "", []Object{{Kind: "Namespace", Name: "web"}}, false},
		"a release that stands in it makes one":         {infra, infra, "apps/rt/x.yaml", "", []Object{{Kind: "Namespace", Name: "infra"}}, true},
		"one that does not stand in it":                 {infra, infra, "apps/rt/x.yaml", "", []Object{{Kind: "Namespace", Name: "web"}}, false},
		"a release is of another cluster":               {spoke, spoke, "apps/rt/x.yaml", "", shop, false},
		"another cluster's loses it":                    {onSpoke, changed(onSpoke, "kind: Namespace", "kind: Service"), "charts/shop/templates/ns.yaml", "", nil, true},
		"the same one's by its key":                     {onValue, changed(onValue, "kind: Namespace", "kind: Service"), "charts/shop/templates/ns.yaml", "", nil, true},
		"a third cluster's loses it":                    {onThird, changed(onThird, "kind: Namespace", "kind: Service"), "charts/shop/templates/ns.yaml", "", nil, false},
		"a release may make something anywhere":         {held("values: {a: {namespace: web}}, "), held("values: {a: {namespace: web}}, "), "apps/rt/x.yaml", "", shop, true},
		"its chart may make any kind":                   {held(""), held(""), "apps/rt/x.yaml", "", crd, true},
		"it is kept":                                    {repository(), repository(), "apps/rt/x.yaml", "", kept, false},
		"it is kept, says what applies it":              {marked("annotations", "disabled"), marked("annotations", "disabled"), "apps/rt/x.yaml", "", kept, false},
		"it is not kept, says a label of it":            {marked("labels", "enabled"), marked("labels", "enabled"), "apps/rt/x.yaml", "", kept, true},
		"it is not kept, says what applies it":          {pruned, pruned, "apps/rt/x.yaml", "", kept, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(p, clusters(t, p, c.before), clusters(t, p, c.after))
			was := []Build{{Entry: entry(t, g, 0, "apps-rt"), Objects: c.lost, Err: c.err}}
			var is []Build
			if !strings.HasPrefix(name, "gone: ") {
				is = append(is, Build{Entry: entry(t, g, 1, "apps-rt")})
			}
			lost := g.Lost(was, is, []string{c.files})
			in := Object{Group: "apps", Kind: "Deployment", Namespace: "other", Name: "web"}
			if c.lost != nil && c.lost[0].Kept {
				in.Namespace = "shop"
			}
			held := Build{Entry: entry(t, g, 0, "held"), Objects: []Object{in}}
			if held.Remote = strings.HasPrefix(name, "remote: "); held.Remote {
				held.Err = "something is elsewhere"
			}
			moves := g.Taken([]Build{held}, lost)
			g.Hold(moves, []string{c.files})
			asked, _ := g.Affected([]string{c.files})
			if c.want && c.lost == nil && !strings.Contains(name, "branch") && !slices.ContainsFunc(asked, func(e graph.Entry) bool { return key(e) == key(was[0].Entry) }) {
				t.Error("what it makes is not asked for")
			}
			if _, holds := g.Holds(c.files); (len(moves) > 0) != c.want || holds != c.want {
				t.Errorf("it holds %v: %v", holds, moves)
			}
		})
	}
}

// TestTakenByRule: what a rule windows waits as what an entry point windows, whatever reads it; without references, so does what a preset windows.
func TestTakenByRule(t *testing.T) {
	ruled := parse(t, strings.Replace(file, "layout:", "layout:\n  unmatched: weekend\n  rules: [{paths: [apps/rt/x.yaml, apps/rt/r.yaml, apps/tenant/**], release: weekend}]", 1))
	none := parse(t, strings.Replace(file, "layout:", "layout:\n  unmatched: weekend\n  rules: [{paths: [apps/tenant/**], release: weekend}]", 1))
	preset := parse(t, strings.Replace(file, "flux: true", "preset: live-window\n  window: weekend", 1))
	released := strings.Replace(repository(), "resources: [x.yaml, ../shared, ../rt-base]", "resources: [x.yaml, r.yaml]", 1) + "-- apps/rt/r.yaml --\n" +
		object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "r", "{targetNamespace: shop, chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: b}}}}")
	namespace := func(name, file string) Object { return Object{Kind: "Namespace", Name: name, File: file} }
	service := func(namespace, file string) Object {
		return Object{Kind: "Service", Namespace: namespace, Name: "web", File: file}
	}
	shop := namespace("shop", "apps/shared/x.yaml")
	for name, c := range map[string]struct {
		policy *config.Policy
		tree   string
		lost   Object // of path; without a kind: it is not known
		made   Object // by apps-rt
		err    string
		want   int
	}{
		"in it":                               {ruled, repository(), shop, service("shop", "apps/rt/x.yaml"), "", 1},
		"something else by a rule":            {ruled, repository(), shop, service("shop", "apps/rt-base/x.yaml"), "", 1},
		"what applies it stands in it":        {ruled, strings.Replace(repository(), "name: apps-rt, namespace: flux-system", "name: apps-rt, namespace: shop", 1), shop, service("web", "apps/rt-base/x.yaml"), "", 1},
		"by no rule":                          {none, repository(), namespace("shop", ""), service("shop", "apps/rt/x.yaml"), "", 0},
		"in another one":                      {ruled, repository(), shop, service("web", "apps/rt/x.yaml"), "", 0},
		"its file is by a rule, too":          {ruled, repository(), namespace("shop", "apps/tenant/x.yaml"), service("shop", "apps/rt/x.yaml"), "", 1},
		"it was not built":                    {ruled, repository(), shop, Object{}, "broken", 1},
		"what goes is not known":              {ruled, repository(), Object{}, service("web", "apps/rt-base/x.yaml"), "", 1},
		"of a release, which may be anywhere": {ruled, released, namespace("web", ""), Object{}, "", 1},
		"by a preset":                         {preset, strings.ReplaceAll(repository(), "rt-base", "rt-window"), shop, service("shop", "apps/rt-window/x.yaml"), "", 1},
		"the preset makes it live":            {preset, repository(), shop, service("shop", "apps/rt/x.yaml"), "", 0},
		"it is of another cluster":            {ruled, strings.Replace(repository(), "spec: {path: ./apps/by-path", "spec: {kubeConfig: {secretRef: {name: spoke}}, path: ./apps/by-path", 1), shop, service("shop", "apps/rt/x.yaml"), "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(c.policy, clusters(t, c.policy, c.tree), clusters(t, c.policy, c.tree))
			was := []Build{{Entry: entry(t, g, 0, "path"), Objects: []Object{c.lost}}}
			lost := g.Lost(was, []Build{{Entry: entry(t, g, 1, "path")}}, nil)
			if c.lost.Kind == "" {
				lost = []Loss{{from: was[0].Entry, unnamed: true, in: was[0].Entry.Target()}}
			}
			rt := func(e graph.Entry) bool { return e.Kustomization != nil && e.Kustomization.Name == "apps-rt" }
			if slices.ContainsFunc(g.Windowed(nil, nil, nil), rt) || c.policy == ruled && !slices.ContainsFunc(g.Windowed(nil, nil, lost), rt) {
				t.Error("what it makes is not asked for, or where nothing is lost")
			}
			if got := g.Taken([]Build{{Entry: entry(t, g, 0, "apps-rt"), Objects: []Object{c.made}, Err: c.err}}, lost); len(got) != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestTakenUnbuilt: what an entry point makes is not known where its source stands in no file, or where nothing of it could be built without what is elsewhere.
func TestTakenUnbuilt(t *testing.T) {
	p := parse(t, strings.Replace(file, "entrypoints:", "entrypoints:\n    - {where: flux-system/apps-rt, release: live}", 1))
	listed := strings.Replace(repository(), "resources: [x.yaml, ../shared, ../rt-base]", "resources: [x.yaml, ns.yaml]", 1) + "-- apps/rt/ns.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n"
	nowhere := strings.Replace(listed, ks("apps-rt", "./apps/rt", "flux-system"), ks("apps-rt", "./apps/rt", "nowhere"), 1)
	some := []Object{{Kind: "Service", Name: "a", Namespace: "a"}}
	for name, c := range map[string]struct {
		tree string
		of   Build
		want bool
	}{
		"it was built":               {listed, Build{}, false},
		"its source is nowhere":      {nowhere, Build{}, true},
		"nothing of it was built":    {listed, Build{Err: "x", Remote: true}, true},
		"something of it was":        {listed, Build{Err: "x", Remote: true, Objects: some}, false},
		"nobody knows what it makes": {listed, Build{Err: "x"}, true},
	} {
		g := New(p, clusters(t, p, c.tree), clusters(t, p, strings.Replace(c.tree, "kind: Namespace", "kind: Service", 1)))
		c.of.Entry = entry(t, g, 0, "apps-rt")
		lost := g.Lost([]Build{c.of}, []Build{{Entry: entry(t, g, 1, "apps-rt")}}, []string{"apps/rt/ns.yaml"})
		if (len(lost) > 0) != c.want {
			t.Errorf("%s: %v", name, lost)
		}
	}
}

// TestTakenByForce: with force Flux may delete what it cannot change, whatever that is.
func TestTakenByForce(t *testing.T) {
	p := parse(t, file)
	rt := ks("apps-rt", "./apps/rt", "flux-system")
	forced := strings.Replace(repository(), rt, strings.Replace(rt, "{path", "{force: true, path", 1), 1)
	shop := func(hash string) []Object { return []Object{{Kind: "Namespace", Name: "shop", Path: hash}} }
	for name, c := range map[string]struct {
		tree string
		now  string
		want int
	}{
		"it changes":       {repository(), "other", 0},
		"by force":         {forced, "other", 1},
		"nothing by force": {forced, "one", 0},
	} {
		g := New(p, clusters(t, p, c.tree), clusters(t, p, c.tree))
		if got := g.Lost([]Build{{Entry: entry(t, g, 0, "apps-rt"), Objects: shop("one")}}, []Build{{Entry: entry(t, g, 1, "apps-rt"), Objects: shop(c.now)}}, nil); len(got) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
