package reach

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
)

// TestTaken: a Namespace or a CustomResourceDefinition that an entry point does not make any more waits for all that is windowed in its cluster.
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
	const shop = "Namespace shop leaves flux-system/apps-rt: Flux may delete it now, and what is windowed in prod may go with it"
	const kind = "CustomResourceDefinition.apiextensions.k8s.io shops.acme.example leaves flux-system/apps-rt: Flux may delete it now, and what is windowed in prod may go with it"
	for name, c := range map[string]struct {
		before, after []Object // of apps-rt
		want          string
	}{
		"it goes":                 {[]Object{listed}, nil, shop},
		"it stays":                {[]Object{listed}, []Object{listed}, ""},
		"in another file":         {[]Object{listed}, []Object{{Kind: "Namespace", Name: "shop", File: "y"}}, ""},
		"it comes":                {nil, []Object{listed}, ""},
		"it is kept":              {[]Object{kept}, nil, ""},
		"its name has a variable": {[]Object{open}, nil, strings.Replace(shop, " shop ", " ${ns} ", 1)},
		"no Namespace":            {[]Object{{Group: "acme.example", Kind: "Namespace", Name: "shop"}, {Kind: "ConfigMap", Name: "shop"}}, nil, ""},
		"a kind":                  {[]Object{crd}, nil, kind},
		"it is another one":       {[]Object{crd}, []Object{other}, ""},
		"the kind is another one": {[]Object{crd}, []Object{cluster}, kind},
	} {
		t.Run(name, func(t *testing.T) {
			g := around(t, p)
			files, got := []string{"README.md", "apps/rt/x.yaml"}, ""
			moves := g.Taken(g.Lost([]Build{{Entry: entry(t, g, 0, "apps-rt"), Objects: c.before}}, []Build{{Entry: entry(t, g, 1, "apps-rt"), Objects: c.after}}, files))
			for _, m := range moves {
				got += m.String()
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			g.Hold(moves, files)
			for _, f := range files {
				if h := g.holds[f]; (len(h.windows) == 2) != (c.want != "" && f != "README.md") || h.pruned {
					t.Errorf("%s is held by %+v", f, h)
				}
			}
		})
	}
}

// TestTakenByWhom: what takes it may be another entry point than before, none, or one that cannot be built; what has all windows of the cluster itself is held by them.
func TestTakenByWhom(t *testing.T) {
	p, night := parse(t, file), parse(t, oneWindow)
	shop := []Object{{Kind: "Namespace", Name: "shop", File: "apps/rt/x.yaml"}}
	keeps := strings.Replace(ks("apps-rt", "./apps/rt", "flux-system"), "{path", "{prune: false, path", 1)
	for name, c := range map[string]struct {
		policy        *config.Policy
		replace       []string
		before, after string // who makes it
		change        func(before, after *Build)
		want          int
	}{
		"it moves between live ones": {p, nil, "apps-rt", "tenant", nil, 1},
		"nobody is there any more":   {p, []string{"-- clusters/prod/apps-rt.yaml --\n" + ks("apps-rt", "./apps/rt", "flux-system"), ""}, "apps-rt", "", nil, 1},
		"prune is false":             {p, []string{ks("apps-rt", "./apps/rt", "flux-system"), keeps}, "apps-rt", "tenant", nil, 0},
		"one with the same window":   {night, nil, "path", "tenant", nil, 0},
		"one with another window":    {p, nil, "path", "tenant", nil, 1},
		"it is not built any more":   {p, nil, "apps-rt", "apps-rt", func(_, after *Build) { after.Err, after.Objects = "broken", nil }, 0},
		"in part": {p, nil, "apps-rt", "apps-rt", func(before, after *Build) {
			before.Remote, before.Err, after.Remote, after.Err, after.Objects = true, "x", true, "x", nil
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			after := strings.NewReplacer(c.replace...).Replace(repository())
			first := repository()
			if name == "prune is false" {
				first = after
			}
			g := New(c.policy, clusters(t, p, first), clusters(t, p, after))
			was := []Build{{Entry: entry(t, g, 0, c.before), Objects: shop}}
			var is []Build
			if c.after != "" {
				is = append(is, Build{Entry: entry(t, g, 1, c.after), Objects: shop})
			}
			if c.change != nil {
				c.change(&was[0], &is[0])
			}
			if got := g.Taken(g.Lost(was, is, nil)); len(got) != c.want {
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
	cases := func(env string) string {
		return strings.Replace(set(one, "x"), "{inputs: ["+one+"], resources: [{apiVersion: v1, kind: Namespace, metadata: {name: x}}]}",
			"{inputs: [{env: "+env+"}], resourcesTemplate: \"<< if hasPrefix `p` inputs.env >>\\n{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\\n<< end >>\"}", 1)
	}
	combined := func(name string) string {
		return strings.Replace(set("{name: "+name+"}", named), "{inputs", "{inputStrategy: {name: Permute}, inputs", 1)
	}
	forces := func(more string) string {
		return set(one, named+", annotations: {fluxcd.controlplane.io/force: enabled, fluxcd.controlplane.io/prune: disabled}"+more)
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
		"a case that is not told apart":   {cases("p"), cases("d"), 1},
		"nothing of such a case changes":  {cases("p"), cases("p"), 0},
		"inputs that are combined":        {combined("shop"), combined("web"), 1},
		"the operator may make it anew":   {forces(""), forces(", labels: {a: b}"), 1},
		"it may, and nothing changes":     {forces(""), forces(""), 0},
		"its scope has a function":        {crds("<< inputs.name | title >>"), strings.Replace(crds("<< inputs.name | title >>"), "{name: shop}", "{name: web}", 1), 1},
		"an input goes":                   {set(one, named), set("{name: other}", named), 1},
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
			moves := g.Taken(g.Lost([]Build{{Entry: entry(t, g, 0, "apps-rt")}}, []Build{{Entry: entry(t, g, 1, "apps-rt")}}, nil))
			for _, m := range moves {
				if strings.Contains(m.String(), "#") || m.keep() != "" {
					t.Error(m)
				}
			}
			if (len(moves) > 0) != (c.want > 0) {
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
	ends := changed(flat(""), rt, strings.Replace(rt, "{path", "{prune: false, deletionPolicy: Delete, path", 1))
	artifact := changed(flat("-- clusters/prod/ag.yaml --\n"+object("source.extensions.fluxcd.io/v1beta1", "ArtifactGenerator", "own",
		"{sources: [{alias: r, kind: GitRepository, name: flux-system}], artifacts: [{name: own, copy: [{from: \"@r/apps/rt/**\", to: \"@artifact/apps/rt/\"}]}]}")), rt,
		strings.Replace(ks("apps-rt", "./apps/rt", "own"), "kind: GitRepository", "kind: ExternalArtifact", 1))
	provided := changed(flat("-- clusters/prod/p.yaml --\n"+object("fluxcd.controlplane.io/v1", "ResourceSetInputProvider", "p", "{type: Static, defaultValues: {a: b}}")), rt,
		strings.Replace(object("fluxcd.controlplane.io/v1", "ResourceSet", "rt", "{inputsFrom: [{kind: ResourceSetInputProvider, name: p}], resources: [")+"{"+
			strings.NewReplacer("---\n", "", "\n", ", ").Replace(strings.TrimSpace(rt))+"}]}\n", "]}\n}]}", "]}", 1))
	cased := func(env string) string {
		return changed(flat(""), rt, object("fluxcd.controlplane.io/v1", "ResourceSet", "rt", "{inputs: [{env: "+env+"}], resourcesTemplate: \"<< if hasPrefix `p` inputs.env >>\\n{apiVersion: kustomize.toolkit.fluxcd.io/v1, "+
			"kind: Kustomization, metadata: {name: apps-rt, namespace: flux-system}, spec: {path: ./apps/rt, sourceRef: {kind: GitRepository, name: flux-system}}}\\n<< end >>\"}"))
	}
	gone := func(tree string) string {
		return changed(tree, "-- clusters/prod/apps-rt.yaml --\n", "-- other/apps-rt.yaml --\n")
	}
	shop, variable := Object{Kind: "Namespace", Name: "shop"}, Object{Kind: "Namespace", Name: "${ns}"}
	for name, c := range map[string]struct {
		before, after string
		lost          Object
		stays         bool // it is made after the change, too
		want          int
	}{
		"it stays":                          {parents, parents, shop, true, 0},
		"another one applies what makes it": {parents, inParent, shop, true, 1},
		"a ResourceSet makes what makes it": {flat(""), changed(flat(""), rt, strings.Replace(object("fluxcd.controlplane.io/v1", "ResourceSet", "rt", "{resources: [")+"{"+
			strings.NewReplacer("---\n", "", "\n", ", ").Replace(strings.TrimSpace(rt))+"}]}\n", "]}\n}]}", "]}", 1)), shop, true, 1},
		"what provides for the set that makes it goes": {provided, strings.Replace(provided, "-- clusters/prod/p.yaml", "-- other/p.yaml", 1), shop, true, 1},
		"a case of a ResourceSet makes what makes it":  {cased("p"), cased("d"), shop, true, 1},
		"nothing of such a case changes":               {cased("p"), cased("p"), shop, true, 0},
		"its artifact leaves something out":            {artifact, changed(artifact, "to: \"@artifact/apps/rt/\"", "exclude: [\"**/x.yaml\"], to: \"@artifact/apps/rt/\""), shop, true, 1},
		"its artifact is the same":                     {artifact, artifact, shop, true, 0},
		"its variable has another value":               {filled, changed(filled, "{ns: shop}", "{ns: other}"), variable, true, 1},
		"what its variable is copied from":             {copied, changed(copied, "{ns: web}", "{ns: other}"), variable, true, 1},
		"another variable has":                         {filled, changed(filled, "{ns: shop}", "{ns: shop, x: y}"), shop, true, 0},
		"its source says something else":               {own, changed(own, "metadata: {name: own, namespace: flux-system}\nspec: {", "metadata: {name: own, namespace: flux-system}\nspec: {interval: 9m, sparseCheckout: [apps], "), shop, true, 1},
		"its source hands on a part":                   {own, changed(own, "branch: main}}\n-- clusters/prod/rw", "branch: main}}\n-- clusters/prod/rw", "metadata: {name: own, namespace: flux-system}\nspec: {", "metadata: {name: own, namespace: flux-system}\nspec: {sparseCheckout: [apps/rt/x], "), shop, true, 1},
		"it goes with what keeps everything":           {ends, gone(ends), shop, false, 1},
		"it goes from what keeps everything":           {ends, ends, shop, false, 0},
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
			if got := g.Taken(g.Lost(was, is, nil)); (len(got) > 0) != (c.want > 0) {
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
	const kubeConfig = "kubeConfig: {secretRef: {name: spoke}}, "
	onSpoke := changed(chart, release("r", ""), release("r", kubeConfig), heldList, "resources: [x.yaml, r.yaml]") + "-- apps/held/r.yaml --\n" +
		object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "held", "{"+kubeConfig+"chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: b}}}}")
	onThird := changed(onSpoke, release("r", kubeConfig), release("r", "kubeConfig: {secretRef: {name: third}}, "))
	onValue := changed(onSpoke, release("r", kubeConfig), release("r", "kubeConfig: {secretRef: {name: spoke, key: value}}, "))
	helper := chart + "-- charts/shop/templates/_h.tpl --\n{{ h }}\n"
	versioned := changed(chart, "name: shop\n", "name: shop\nversion: 1\n")
	inner := changed(chart, "kind: Namespace", "kind: Service") + "-- charts/shop/templates/crds/a.yaml --\nkind: CustomResourceDefinition\n"
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
	marked := func(section, says string) string {
		return changed(repository(), rt, strings.Replace(rt, "{path", "{commonMetadata: {"+section+": {kustomize.toolkit.fluxcd.io/prune: "+says+"}}, path", 1))
	}
	pruned := marked("annotations", "enabled")
	parents := chart + "-- clusters/prod/parent.yaml --\n" + ks("parent", "./parent", "flux-system") + "-- parent/cm.yaml --\n" + configMap
	renamed := changed(keeps(chart), "name: apps-rt,", "name: apps-new,", "./charts/shop", "./charts/web")
	inParent := changed(parents, "-- clusters/prod/apps-rt.yaml --\n", "-- parent/apps-rt.yaml --\n")
	tagged := repository() + "-- clusters/prod/tag.yaml --\n" + sourceObject("GitRepository", "tag", "{"+fleet+", ref: {tag: v1}}") + ks("tagged", "./apps/shared", "tag")
	asCrds := strings.ReplaceAll(changed(chart, "kind: Namespace", "kind: Service"), "charts/shop", "charts/crds") + "-- charts/crds/files/ns.yaml --\nkind: Namespace\n"
	asTemplates := strings.ReplaceAll(chart, "charts/shop", "charts/templates/shop")
	kept := []Object{{Kind: "Namespace", Name: "shop", File: "apps/rt/x.yaml", Kept: true}}
	for name, c := range map[string]struct {
		before, after string
		files         string
		err           string   // why it was not built before
		lost          []Object // of apps-rt
		want          bool
	}{
		"gone: the release with what prunes":         {chart, gone(chart), "clusters/prod/apps-rt.yaml", "", nil, true},
		"gone: with what keeps everything":           {keeps(chart), gone(keeps(chart)), "clusters/prod/apps-rt.yaml", "", nil, false},
		"gone: a branch with what does":              {keepsTenant, changed(keepsTenant, "-- clusters/prod/tenant-ks.yaml", "-- other/tenant-ks.yaml"), "clusters/prod/tenant-ks.yaml", "", nil, false},
		"a file of no template goes":                 {crds, changed(crds, "-- charts/shop/crds/ns.yaml", "-- other/ns.yaml"), "charts/shop/crds/ns.yaml", "", nil, false},
		"its source hands on less":                   {own, changed(own, "ref: {branch: \"main\"}}\n-- clusters/prod/rw", "sparseCheckout: [apps/rt/x.yaml], ref: {branch: \"main\"}}\n-- clusters/prod/rw"), "clusters/prod/own.yaml", "broken", nil, true},
		"a file of it is in no list any more":        {listed, changed(listed, "-- apps/rt/ns.yaml", "-- apps/rt/old.yaml"), "README.md", "broken", nil, true},
		"it keeps what it made":                      {keeps(listed), changed(keeps(listed), namespace, configMap), "apps/rt/ns.yaml", "broken", nil, false},
		"what reads a branch prunes from now":        {keepsTenant, changed(keepsTenant, "{prune: false, path: ./apps/tenant", "{path: ./apps/other"), "clusters/prod/tenant-ks.yaml", "", nil, true},
		"its chart is called otherwise":              {chart, changed(chart, "name: shop\n", "name: web\n"), "charts/shop/Chart.yaml", "", nil, true},
		"its version is another one":                 {versioned, changed(versioned, "version: 1", "version: 2"), "charts/shop/Chart.yaml", "", nil, false},
		"what it is made of changes":                 {versioned, versioned + "-- charts/shop/requirements.yaml --\ndependencies: []\n", "charts/shop/requirements.yaml", "", nil, true},
		"a template in crds goes":                    {inner, strings.Replace(inner, "-- charts/shop/templates/crds/a.yaml", "-- other/a.yaml", 1), "charts/shop/templates/crds/a.yaml", "", nil, true},
		"gone: what keeps all, with a template":      {keeps(chart), gone(strings.Replace(keeps(chart), "-- charts/shop/templates/ns.yaml", "-- other/ns.yaml", 1)), "charts/shop/templates/ns.yaml", "", nil, true},
		"what keeps all is called otherwise":         {keeps(chart), renamed, "apps/rt/r.yaml", "", nil, true},
		"it is, and the chart is the same":           {keeps(chart), changed(renamed, "./charts/web", "./charts/shop"), "clusters/prod/apps-rt.yaml", "", nil, false},
		"another one applies what applies it":        {parents, inParent, "clusters/prod/apps-rt.yaml", "", nil, true},
		"a directory is called as that of kinds":     {asCrds, strings.Replace(asCrds, "-- charts/crds/files/ns.yaml", "-- other/ns.yaml", 1), "charts/crds/files/ns.yaml", "", nil, true},
		"a directory is called as that of templates": {asTemplates, changed(asTemplates, "name: shop\n", "name: web\n"), "charts/templates/shop/Chart.yaml", "", nil, true},
		"its source leaves a file of it out":         {chart, chart + "-- charts/.sourceignore --\nns.yaml\n", "charts/.sourceignore", "", nil, true},
		"it reads a branch, and has another source":  {keepsTenant, changed(keepsTenant, "sourceRef: {kind: GitRepository, name: tenant}", "sourceRef: {kind: GitRepository, name: rw}"), "clusters/prod/tenant-ks.yaml", "", nil, true},
		"a helper goes":                              {helper, strings.Replace(helper, "-- charts/shop/templates/_h.tpl --", "-- other/_h.tpl --", 1), "charts/shop/templates/_h.tpl", "", nil, true},
		"a ConfigMap of its values changes":          {valued, changed(valued, "data: {a: b}", "data: {a: c}"), "apps/rt/v.yaml", "", nil, false},
		"its annotation may be ignored":              {ignored, ignored, "apps/rt/x.yaml", "", kept, true},
		"a helper changes":                           {helper, changed(helper, "{{ h }}", "{{ i }}"), "charts/shop/templates/_h.tpl", "", nil, true},
		"something is left out from now":             {chart, chart + "-- charts/shop/.helmignore --\ntemplates/ns.yaml\n", "charts/shop/.helmignore", "", nil, true},
		"it is called otherwise":                     {chart, changed(chart, release("r", ""), release("r", "releaseName: web, ")), "apps/rt/r.yaml", "", nil, true},
		"a Secret calls it otherwise":                {secretly, changed(secretly, "{n: a}", "{n: b}"), "clusters/prod/vars.yaml", "", nil, true},
		"a Secret that it has nothing of changes":    {changed(secretly, "${n}", "n"), changed(secretly, "${n}", "n", "{n: a}", "{n: b}"), "clusters/prod/vars.yaml", "", nil, false},
		"it is rendered otherwise":                   {chart, changed(chart, release("r", ""), release("r", "postRenderers: [{kustomize: {patches: [{patch: x}]}}], ")), "apps/rt/r.yaml", "", nil, true},
		"its source leaves something out":            {charted, changed(charted, "metadata: {name: own, namespace: flux-system}\nspec: {", "metadata: {name: own, namespace: flux-system}\nspec: {ignore: charts/shop/templates/ns.yaml, "), "clusters/prod/own.yaml", "", nil, true},
		"a packed chart goes":                        {packed, strings.Replace(packed, "-- charts/shop/charts/a.tgz --", "-- other/a.tgz --", 1), "charts/shop/charts/a.tgz", "", nil, true},
		"what people read changes":                   {chart + "-- charts/shop/README.md --\na Namespace\n", chart + "-- charts/shop/README.md --\nno Namespace\n", "charts/shop/README.md", "", nil, false},
		"a variable of a branch is other":            {tenantVars, changed(tenantVars, "{ns: a}", "{ns: b}"), "clusters/prod/vars.yaml", "", nil, true},
		"a variable of what was not built":           {listedVars, changed(listedVars, "{ns: a}", "{ns: b}"), "clusters/prod/vars.yaml", "broken", nil, true},
		"a template of a set's first chart":          {charts("shop", "web"), strings.Replace(charts("shop", "web"), "-- charts/shop/templates/ns.yaml", "-- other/ns.yaml", 1), "charts/shop/templates/ns.yaml", "", nil, true},
		"a template of a set's second chart":         {charts("web", "shop"), strings.Replace(charts("web", "shop"), "-- charts/shop/templates/ns.yaml", "-- other/ns.yaml", 1), "charts/shop/templates/ns.yaml", "", nil, true},
		"a template goes":                            {chart, strings.Replace(chart, "-- charts/shop/templates/ns.yaml", "-- other/ns.yaml", 1), "charts/shop/templates/ns.yaml", "", nil, true},
		"it changes":                                 {chart, strings.Replace(chart, "{{ .Values.x }}", "{{ .Values.y }}", 1), "charts/shop/templates/ns.yaml", "", nil, true},
		"another one does":                           {chart, strings.Replace(chart, "{{ x }}", "{{ y }}", 1), "charts/shop/templates/cm.yaml", "", nil, false},
		"a value does":                               {chart, strings.Replace(chart, "a: b", "a: c", 1), "charts/shop/values.yaml", "", nil, false},
		"the release goes":                           {chart, changed(chart, "r.yaml]", "x.yaml]"), "apps/rt/kustomization.yaml", "", nil, true},
		"one of two does":                            {twice, changed(twice, "r.yaml, again.yaml]", "again.yaml]"), "apps/rt/kustomization.yaml", "", nil, true},
		"it is installed elsewhere":                  {chart, changed(chart, release("r", ""), release("r", "targetNamespace: web, ")), "apps/rt/r.yaml", "", nil, true},
		"something else of it changes":               {chart, changed(chart, release("r", ""), release("r", "interval: 5m, ")), "apps/rt/r.yaml", "", nil, false},
		"another chart is taken":                     {chart, changed(chart, "./charts/shop", "./charts/web"), "apps/rt/r.yaml", "", nil, true},
		"no template says one":                       {changed(chart, "kind: Namespace", "kind: Service"), changed(chart, "kind: Namespace", "kind: Service", "r.yaml]", "x.yaml]"), "apps/rt/kustomization.yaml", "", nil, false},
		"it could not be built":                      {listed, changed(listed, namespace, configMap), "apps/rt/ns.yaml", "broken", nil, true},
		"its list changes":                           {listed, changed(listed, "ns.yaml]", "ns.yaml, ../shared]"), "apps/rt/kustomization.yaml", "broken", nil, true},
		"its definition changes":                     {listed, changed(listed, "path: ./apps/rt,", "targetNamespace: x, path: ./apps/rt,"), "clusters/prod/apps-rt.yaml", "broken", nil, true},
		"another file of it changes":                 {listed, changed(listed, "-- apps/rt/x.yaml --\n"+configMap, "-- apps/rt/x.yaml --\n# "+configMap), "apps/rt/x.yaml", "broken", nil, false},
		"nothing of it says one":                     {repository(), changed(repository(), rtList, "resources: [../shared]"), "apps/rt/kustomization.yaml", "broken", nil, false},
		"it reads another branch and goes":           {repository(), changed(repository(), "-- clusters/prod/tenant-ks.yaml", "-- other/tenant-ks.yaml"), "clusters/prod/tenant-ks.yaml", "", nil, true},
		"it reads another branch and stays":          {repository(), repository(), "README.md", "", nil, false},
		"no branch but another tag is read":          {tagged, changed(tagged, "tag: v1", "tag: v2"), "clusters/prod/tag.yaml", "", nil, true},
		"another cluster's loses it":                 {onSpoke, changed(onSpoke, "kind: Namespace", "kind: Service"), "charts/shop/templates/ns.yaml", "", nil, true},
		"the same one's by its key":                  {onValue, changed(onValue, "kind: Namespace", "kind: Service"), "charts/shop/templates/ns.yaml", "", nil, true},
		"a third cluster's loses it":                 {onThird, changed(onThird, "kind: Namespace", "kind: Service"), "charts/shop/templates/ns.yaml", "", nil, false},
		"it is kept":                                 {repository(), repository(), "apps/rt/x.yaml", "", kept, false},
		"it is kept, says what applies it":           {marked("annotations", "disabled"), marked("annotations", "disabled"), "apps/rt/x.yaml", "", kept, false},
		"it is not kept, says a label of it":         {marked("labels", "enabled"), marked("labels", "enabled"), "apps/rt/x.yaml", "", kept, true},
		"it is not kept, says what applies it":       {pruned, pruned, "apps/rt/x.yaml", "", kept, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(p, clusters(t, p, c.before), clusters(t, p, c.after))
			was := []Build{{Entry: entry(t, g, 0, "apps-rt"), Objects: c.lost, Err: c.err}}
			var is []Build
			if !strings.HasPrefix(name, "gone: ") && !strings.Contains(c.after, "name: apps-new,") {
				is = append(is, Build{Entry: entry(t, g, 1, "apps-rt")})
			}
			lost := g.Lost(was, is, []string{c.files})
			moves := g.Taken(lost)
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
	nothing := strings.NewReplacer("flux-system/held", "flux-system/none", "./apps/by-path", "./apps/none", "rw/a", "zz/a", "rw/{b,c}", "zz/b").Replace(file)
	ruled := func(paths string) *config.Policy {
		return parse(t, strings.Replace(nothing, "layout:", "layout:\n  unmatched: weekend\n  rules: [{paths: ["+paths+"], release: weekend}]", 1))
	}
	preset := parse(t, strings.Replace(nothing, "flux: true", "preset: live-window\n  window: weekend", 1))
	spoke := strings.Replace(repository(), "spec: {path: ./apps/by-path", "spec: {kubeConfig: {secretRef: {name: spoke}}, path: ./apps/by-path", 1)
	for name, c := range map[string]struct {
		policy *config.Policy
		tree   string
		want   int
	}{
		"a rule windows what another one reads": {ruled("apps/rt/**"), repository(), 1},
		"a rule windows what nobody reads":      {ruled("docs/**"), repository(), 0},
		"a preset does":                         {preset, strings.ReplaceAll(repository(), "rt-base", "rt-window"), 1},
		"the preset makes all of it live":       {preset, repository(), 0},
		"it is of another cluster":              {ruled("apps/rt/**"), spoke, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(c.policy, clusters(t, c.policy, c.tree), clusters(t, c.policy, c.tree))
			was := []Build{{Entry: entry(t, g, 0, "path"), Objects: []Object{{Kind: "Namespace", Name: "shop", File: "apps/by-path/x.yaml"}}}}
			if got := g.Taken(g.Lost(was, []Build{{Entry: entry(t, g, 1, "path")}}, nil)); len(got) != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestTakenInClusters: what goes in a cluster takes what is in it, and the Flux objects of those that it leads to; and a ResourceSet, or a release with a kubeConfig, may lead to one.
func TestTakenInClusters(t *testing.T) {
	p := parse(t, strings.NewReplacer("where: flux-system/held, release: weekend", "where: \"*/held\", release: weekend", "where: ./apps/by-path", "where: ./apps/none", "rw/a", "zz/a", "rw/{b,c}", "zz/b").Replace(file))
	const kubeConfig = "kubeConfig: {secretRef: {name: spoke}}, "
	on := func(names ...string) string {
		tree := repository()
		for _, name := range names {
			k := ks(name, "./apps/"+strings.TrimPrefix(name, "apps-"), "flux-system")
			if !strings.Contains(tree, k) {
				t.Fatal(k)
			}
			tree = strings.Replace(tree, k, strings.Replace(k, "{path", "{"+kubeConfig+"path", 1), 1)
		}
		return tree
	}
	with := func(tree, kind, spec string) string {
		return strings.Replace(tree, "resources: [x.yaml, ../rt-base]", "resources: [x.yaml, more.yaml]", 1) + "-- apps/held/more.yaml --\n" + strings.ReplaceAll(object("helm.toolkit.fluxcd.io/v2", kind, "more", spec), "helm.toolkit.fluxcd.io/v2\nkind: ResourceSet", "fluxcd.controlplane.io/v1\nkind: ResourceSet")
	}
	release := "{" + kubeConfig + "chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: b}}}}"
	for name, c := range map[string]struct {
		tree string // in which apps-rt loses it
		want int
	}{
		"in one":                     {on(), 1},
		"in that which leads there":  {on("held"), 0},
		"where its Flux objects are": {strings.ReplaceAll(on("held"), "name: held, namespace: flux-system", "name: held, namespace: shop"), 1},
		"where the root's own is":    {strings.Replace(on("held"), "-- clusters/prod/held.yaml --\n", "-- clusters/prod/own.yaml --\n"+strings.ReplaceAll(ks("own", "./clusters/prod", "flux-system"), "name: own, namespace: flux-system", "name: own, namespace: shop")+"-- clusters/prod/held.yaml --\n", 1), 1},
		"where what fills it may be": {strings.Replace(on("held"), "{"+kubeConfig+"path: ./apps/held", "{"+kubeConfig+"postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}, path: ./apps/held", 1), 1},
		"in that which it leads to":  {on("apps-rt"), 0},
		"in the same other one":      {on("apps-rt", "held"), 1},
		"a release leads there":      {with(on("apps-rt"), "HelmRelease", release), 1},
		"one leads elsewhere":        {with(on("apps-rt"), "HelmRelease", strings.Replace(release, "spoke", "third", 1)), 0},
		"a ResourceSet may":          {with(on("apps-rt"), "ResourceSet", "{resources: []}"), 1},
	} {
		g := New(p, clusters(t, p, c.tree), clusters(t, p, c.tree))
		was := []Build{{Entry: entry(t, g, 0, "apps-rt"), Objects: []Object{{Kind: "Namespace", Name: "shop"}}}}
		if got := g.Taken(g.Lost(was, []Build{{Entry: entry(t, g, 1, "apps-rt")}}, nil)); len(got) != c.want {
			t.Errorf("%s: %v", name, got)
		}
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

// TestTakenByForce: with force Flux may delete what it cannot change, whatever says that it is kept, and whoever made it before.
func TestTakenByForce(t *testing.T) {
	p := parse(t, file)
	rt := ks("apps-rt", "./apps/rt", "flux-system")
	forced := func(says string) string {
		return strings.Replace(repository(), rt, strings.Replace(rt, "{path", "{"+says+"path", 1), 1)
	}
	own := ks("flux-system", "./clusters/prod", "flux-system")
	root := repository() + "-- clusters/prod/own.yaml --\n" + strings.Replace(own, "{path", "{force: true, path", 1)
	shop := func(hash string) []Object { return []Object{{Kind: "Namespace", Name: "shop", Path: hash, Kept: true}} }
	for name, c := range map[string]struct {
		tree   string
		by, of string // who made it, and does
		now    string
		want   int
	}{
		"it changes":               {repository(), "apps-rt", "apps-rt", "other", 0},
		"by force":                 {forced("force: true, "), "apps-rt", "apps-rt", "other", 1},
		"by what may be force":     {forced("force: \"${x}\", "), "apps-rt", "apps-rt", "other", 1},
		"what keeps all, by force": {forced("force: true, prune: false, "), "apps-rt", "apps-rt", "other", 1},
		"nothing by force":         {forced("force: true, "), "apps-rt", "apps-rt", "one", 0},
		"of another one, by force": {forced("force: true, "), "tenant", "apps-rt", "other", 1},
		"by no force":              {forced("force: false, "), "apps-rt", "apps-rt", "other", 0},
		"by commonMetadata":        {forced("commonMetadata: {labels: {kustomize.toolkit.fluxcd.io/force: enabled}}, "), "apps-rt", "apps-rt", "other", 1},
		"by the root's":            {root, "", "", "other", 1},
	} {
		g := New(p, clusters(t, p, c.tree), clusters(t, p, c.tree))
		of := func(tree int, name string) graph.Entry {
			if name == "" {
				return graph.Entry{Cluster: g.trees[tree].entries[0].Cluster}
			}
			return entry(t, g, tree, name)
		}
		if got := g.Lost([]Build{{Entry: of(0, c.by), Objects: shop("one")}}, []Build{{Entry: of(1, c.of), Objects: shop(c.now)}}, nil); len(got) != c.want || c.want > 0 && got[0].File != "" {
			t.Errorf("%s: %v", name, got)
		}
	}
}
