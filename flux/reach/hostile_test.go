package reach

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sluicegate/sluice/layout"
)

// filesOf is the files of a tree in txtar.
func filesOf(text string) map[string]string {
	out := map[string]string{}
	for _, f := range txtar.Parse([]byte(text)).Files {
		out[f.Name] = string(f.Data)
	}
	return out
}

func textOf(files map[string]string) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		out.WriteString("-- " + name + " --\n" + files[name])
	}
	return out.String()
}

const (
	list    = "clusters/prod/kustomization.yaml"
	all     = "resources: [main.yaml, rw.yaml, apps-rw.yaml, apps-rt.yaml, held.yaml, by-path.yaml]\n"
	long    = "[{op: replace, path: /spec/ref/branch, value: main}]"
	hideout = "apps/rt/hidden.yaml"

	jsonPatch = `[{"op": "replace", "path": "/spec/ref/branch", "value": "main"}]`
)

// padding is more than any name is long.
var padding = strings.Repeat("a", 300)

// hostileChanges is pull requests by which a windowed entry point would apply something else, or another one what it applies: files that are put
// into the repository as it was, and those of the change; "": the file goes.
var hostileChanges = map[string]struct{ before, change map[string]string }{
	"the root is put elsewhere": {
		map[string]string{"clusters/prod/gotk-sync.yaml": ks("flux-system", "./clusters/prod", "flux-system"), "evil/cm.yaml": configMap},
		map[string]string{"clusters/prod/gotk-sync.yaml": ks("flux-system", "./evil", "flux-system")},
	},
	"the root follows another branch": {
		map[string]string{"clusters/prod/gotk-sync.yaml": gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system"), "clusters/prod/main.yaml": configMap},
		map[string]string{"clusters/prod/gotk-sync.yaml": gitRepository("flux-system", "evil") + ks("flux-system", "./clusters/prod", "flux-system")},
	},
	"a planted source makes the repository another one": {nil, map[string]string{
		"clusters/prod/aaa.yaml":  strings.Replace(gitRepository("a", "main"), "acme", "evil", 1) + ks("a", "./apps/nobody", "a"),
		"apps/by-path/extra.yaml": configMap,
	}},
	"a patch in another case":                   {map[string]string{list: all}, map[string]string{list: all + "Patches: [{target: {kind: GitRepository, name: rw}, patch: '" + jsonPatch + "'}]\n"}},
	"a list in another case":                    {nil, map[string]string{"apps/rt/kustomization.yaml": "resources: []\nRESOURCES: [x]\n", "apps/rt/x": gitRepository("rw", "main")}},
	"a patch by a label that a list below adds": {map[string]string{list: "resources: [../base]\n", "clusters/base/kustomization.yaml": "resources: [f.yaml]\ncommonLabels: {by: list}\n", "clusters/base/f.yaml": gitRepository("rw", "rw/a") + ks("apps-rw", "./apps/rw", "rw")}, map[string]string{list: "resources: [../base]\npatches: [{target: {labelSelector: by=list, kind: GitRepository}, patch: '" + jsonPatch + "'}]\n"}},
	"a patch that copies":                       {map[string]string{list: all}, map[string]string{list: all + "patches: [{target: {kind: GitRepository, name: rw}, patch: '[{\"op\": \"copy\", \"from\": \"/kind\", \"path\": \"/spec/ref/branch\"}]'}]\n"}},
	"a patch that moves":                        {map[string]string{list: all}, map[string]string{list: all + "patches: [{target: {kind: Kustomization, name: apps-rw}, patch: '[{\"op\": \"move\", \"from\": \"/metadata/name\", \"path\": \"/spec/path\"}, {\"op\": \"add\", \"path\": \"/metadata/name\", \"value\": \"apps-rw\"}]'}]\n"}},
	"what is left out":                          {nil, map[string]string{".sourceignore": "clusters/prod/apps-rw.yaml\n"}},
	"what is left out, below":                   {nil, map[string]string{"clusters/.sourceignore": "apps-rw.yaml\n"}},
	"what it reads is left out":                 {nil, map[string]string{"apps/held/.sourceignore": "x.yaml\n"}},
	"replacements": {map[string]string{list: all}, map[string]string{
		list: all + "replacements: [{source: {kind: GitRepository, name: flux-system, fieldPath: spec.ref.branch}, targets: [{select: {kind: GitRepository, name: rw}, fieldPaths: [spec.ref.branch]}]}]\n",
	}},
	"replacements in a file": {map[string]string{list: all}, map[string]string{
		list:                   all + "replacements: [{path: r.yaml}]\n",
		"clusters/prod/r.yaml": "source: {kind: GitRepository, name: flux-system, fieldPath: spec.ref.branch}\ntargets: [{select: {kind: GitRepository, name: rw}, fieldPaths: [spec.ref.branch]}]\n",
	}},
	"a transformer": {map[string]string{list: all}, map[string]string{
		list:                   all + "transformers: [t.yaml]\n",
		"clusters/prod/t.yaml": "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: p}\nprefix: x\nfieldSpecs: [{path: spec/ref/branch}]\n",
	}},
	"a configuration": {map[string]string{list: all + "namePrefix: x-\n"}, map[string]string{
		list:                   all + "namePrefix: x-\nconfigurations: [c.yaml]\n",
		"clusters/prod/c.yaml": "namePrefix: [{path: spec/ref/branch}]\n",
	}},
	"a long target": {map[string]string{list: all}, map[string]string{
		list: all + "patches: [{target: {kind: GitRepository, name: \"rw|" + padding + "\"}, patch: \"" + long + "\"}]\n",
	}},
	"a long patch by an alias": {map[string]string{list: all}, map[string]string{
		list: all + "metadata: {annotations: {x: &x \"" + long + " #" + padding + "\"}}\npatches: [{target: {kind: GitRepository, name: rw}, patch: *x}]\n",
	}},
	"patches by an alias": {map[string]string{list: all}, map[string]string{
		list: all + "patches: &p [{target: {kind: GitRepository, name: rw}, patch: \"" + long + "\"}]\npatchesJson6902: *p\n",
	}},
	"a patch that is large": {map[string]string{list: all}, map[string]string{
		list:                   all + "patches: [{path: p.yaml, target: {kind: GitRepository, name: rw}}]\n",
		"clusters/prod/p.yaml": "- {op: replace, path: /spec/ref/branch, value: main}\n" + strings.Repeat("# "+padding+"\n", 1000),
	}},
	"a kind that is escaped":       {nil, map[string]string{hideout: strings.Replace(gitRepository("rw", "main"), "GitRepository", `"Git\u0052epository"`, 1)}},
	"a key that is escaped":        {nil, map[string]string{hideout: strings.Replace(gitRepository("rw", "main"), "kind", `"k\x69nd"`, 1)}},
	"a kind by an alias":           {nil, map[string]string{hideout: strings.Replace(gitRepository("rw", "main"), "kind:", "x: &k GitRepository\nkind: *k #", 1)}},
	"a definition by a merge":      {nil, map[string]string{hideout: "x: &x\n  " + strings.ReplaceAll(strings.TrimPrefix(ks("apps-rw", "./apps/rw", "flux-system"), "---\n"), "\n", "\n  ") + "\n<<: *x\n"}},
	"a document after a separator": {nil, map[string]string{hideout: strings.TrimPrefix(ks("apps-rw", "./apps/rw", "flux-system"), "---\n") + "---x: y\n" + configMap}},
	"UTF-16":                       {nil, map[string]string{hideout: utf16(ks("apps-rw", "./apps/rw", "flux-system"))}},
	"another name before a prefix": {map[string]string{list: "resources: [../base]\n", "clusters/base/kustomization.yaml": "namePrefix: x-\nresources: [f.yaml]\n", "clusters/base/f.yaml": gitRepository("rw", "rw/a") + ks("apps-rw", "./apps/rw", "x-rw")}, map[string]string{list: "resources: [../base]\npatches: [{target: {kind: GitRepository, name: rw}, patch: \"" + long + "\"}]\n"}},
	"a second list of a directory": {nil, map[string]string{"apps/held/kustomization.yml": "resources: []\n"}},
	"a list in a list":             {nil, map[string]string{hideout: listOf(listOf(gitRepository("rw", "main")))}},
	"a list that is very deep":     {nil, map[string]string{hideout: listOf(listOf(listOf(listOf(listOf(listOf(listOf(listOf(listOf(listOf(gitRepository("rw", "main")))))))))))}},
	"a list of a kind":             {nil, map[string]string{hideout: strings.Replace(listOf(gitRepository("rw", "main")), "List", "GitRepositoryList", 1)}},
	"a name of any kind":           {nil, map[string]string{"apps/rt/kustomization.yaml": "resources: [x.json]\n", "apps/rt/x.json": gitRepository("rw", "main")}},
	"a name that Flux leaves out":  {nil, map[string]string{"apps/rt/kustomization.yaml": "resources: [.sops.yaml]\n", "apps/rt/.sops.yaml": gitRepository("rw", "main")}},
	"a second source":              {nil, map[string]string{hideout: gitRepository("rw", "main")}},
	"a named root is put elsewhere": {map[string]string{"clusters/prod/sync.yaml": ks("flux-system", "./clusters/prod", "flux-system")}, map[string]string{
		"clusters/prod/sync.yaml": ks("flux-system", "./apps/nobody", "flux-system"),
	}},
	"a second definition": {nil, map[string]string{hideout: ks("apps-rw", "./apps/rw", "flux-system")}},
}

// listOf is a list of one object.
func listOf(object string) string {
	return "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimPrefix(object, "---\n"), "\n", "\n  ") + "\n"
}

// utf16 is a text as UTF-16, with its mark.
func utf16(text string) string {
	out := "\xFF\xFE"
	for _, c := range []byte(text) {
		out += string([]byte{c, 0})
	}
	return out
}

// TestHostileChanges: none of them is live.
func TestHostileChanges(t *testing.T) {
	for name, c := range hostileChanges {
		t.Run(name, func(t *testing.T) {
			p := parse(t, file)
			if c.before["clusters/prod/gotk-sync.yaml"] != "" {
				unnamed, _, _ := strings.Cut(file, "clusters:\n")
				p = parse(t, unnamed)
			}
			before := filesOf(repository())
			if before["apps/rt/kustomization.yaml"] = ""; c.change[hideout] != "" {
				before["apps/rt/kustomization.yaml"] = "resources: [hidden.yaml]\n"
			}
			maps.Copy(before, c.before)
			after := maps.Clone(before)
			maps.Copy(after, c.change)
			changed := slices.Sorted(maps.Keys(c.change))
			g := New(p, clusters(t, p, textOf(before)), clusters(t, p, textOf(after)))
			g.HoldChanged(changed)
			var releases []layout.Release
			for _, path := range changed {
				releases = union(releases, p.With(g).Layout.Classify(path).Releases)
			}
			if !slices.ContainsFunc(releases, layout.Release.IsWindow) {
				t.Errorf("%v: %v", changed, releases)
			}
		})
	}
}

// TestCopies: what a windowed entry point makes may not be added to a live one.
func TestCopies(t *testing.T) {
	p := parse(t, file)
	g := around(t, p)
	before, after := g.Affected([]string{"apps/rt/x.yaml"})
	if len(before) != 1 || len(after) != 1 || before[0].Kustomization.Name != "apps-rt" {
		t.Fatalf("%v %v", before, after)
	}
	for line, want := range map[string]string{
		"apps-rt: a": "", "apps-rt: a c": "",
		"apps-rt: a b@apps/rt/x.yaml": "ConfigMap b is made by flux-system/apps-rw and appears in flux-system/apps-rt: Flux applies it from flux-system/apps-rt now",
		"apps-rt: !":                  "flux-system/apps-rt cannot be built after the change: it may make what flux-system/apps-rw makes, which is windowed",
	} {
		was, is := makes(t, g, 0, "apps-rt: a"), makes(t, g, 1, line)
		windowed := g.Windowed(was, is)
		if len(windowed) == 0 != (line == "apps-rt: a") {
			t.Errorf("%s: %v", line, windowed)
		}
		copies := g.Copies(makes(t, g, 0, "apps-rw: a b"), was, is)
		var got string
		for _, m := range copies {
			got += m.String()
		}
		if got != want {
			t.Errorf("%s: %s; want %s", line, got, want)
		}
		if g.Hold(copies, nil); want != "" && len(g.holds["apps/rt/x.yaml"].windows)*len(g.holds["clusters/prod/apps-rt.yaml"].windows) == 0 {
			t.Errorf("%v", held(g))
		}
	}
}

// TestCopiesOfItself: an entry point that becomes live adds what it made while it was windowed.
func TestCopiesOfItself(t *testing.T) {
	g := around(t, parse(t, file), ks("apps-rw", "./apps/rw", "rw"), ks("apps-rw", "./apps/rw", "flux-system"))
	was, is := makes(t, g, 0, "apps-rw: a"), makes(t, g, 1, "apps-rw: a")
	if windowed, copies := g.Windowed(was, is), g.Copies(was, was, is); len(windowed) == 0 || len(copies) != 1 {
		t.Errorf("%v, %v", windowed, copies)
	}
}
