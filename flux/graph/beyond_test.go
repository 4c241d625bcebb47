package graph_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/meter"
)

// TestBeyond: each bound of the whole tree is said by Beyond once the clusters were found, in a tree that is read anew and in one that is read again.
func TestBeyond(t *testing.T) {
	each := func(n int, name, text string) map[string]string {
		out := map[string]string{}
		for i := range n {
			number := strings.NewReplacer("##", fmt.Sprint(i+1), "#", fmt.Sprint(i))
			out[number.Replace(name)] = number.Replace(text)
		}
		return out
	}
	list := func(n int, text string) string { return "resources: [" + strings.Repeat(text+", ", n) + text + "]\n" }
	patched := func(object, patch string, times int) map[string]string {
		return map[string]string{
			"k/kustomization.yaml": "resources: [a.yaml]\npatches:\n" + strings.Repeat("  - {path: p.txt}\n", times), "k/a.yaml": object, "k/p.txt": patch,
		}
	}
	release := "kind: HelmRelease\nspec:\n  values: |\n" + strings.Repeat("    "+strings.Repeat("x", 1000)+"\n", 200)
	for name, c := range map[string]struct {
		texts  map[string]string
		limits meter.Limits
		want   string
	}{
		"nothing":                      {texts: map[string]string{"k/a.yaml": job}, want: ""},
		"files and directories":        {texts: each(20, "k/#.txt", "x"), limits: meter.Limits{meter.Time: -1, meter.Files: 10}, want: "more than 10 files"},
		"bytes of names":               {texts: each(20, "k/#.txt", "x"), limits: meter.Limits{meter.Time: -1, meter.Bytes: 20}, want: "KiB of text"},
		"YAML files":                   {texts: each(30, "k/#.yaml", "a: b\n"), limits: meter.Limits{meter.Time: -1, meter.Steps: 20}, want: "more than 20 steps"},
		"bytes of YAML":                {texts: each(3, "k/#.yaml", strings.Repeat(" ", manifest.MaxFile)), limits: meter.Limits{meter.Time: -1, meter.Steps: 10_000}, want: "more than 10,000 steps"},
		"documents that are parsed":    {texts: each(20, "k/#.yaml", release), limits: meter.Limits{meter.Time: -1, meter.Steps: 10_000}, want: "more than 10,000 steps"},
		"documents that are kept":      {texts: each(20, "k/#.yaml", job+"x: "+strings.Repeat("y", 200_000)+"\n"), limits: meter.Limits{meter.Time: -1, meter.Bytes: 1 << 20}, want: "k/13.yaml: more than 1 MiB of text"},
		"objects":                      {texts: each(60, "k/#.yaml", "kind: List\nitems: ["+strings.Repeat("{kind: A}, ", manifest.MaxList)+"]\n"), limits: meter.Limits{meter.Time: -1, meter.Nodes: 10_000}, want: "more than 10,000 nodes"},
		"objects that are loaded":      {texts: map[string]string{"k/kustomization.yaml": list(20, "a.yaml"), "k/a.yaml": job}, limits: meter.Limits{meter.Time: -1, meter.Steps: 20}, want: "more than 20 steps"},
		"bytes that patches copy":      {texts: patched(job+"x: ["+strings.Repeat("y, ", 10_000)+"]\n", job, 200), limits: meter.Limits{meter.Time: -1, meter.Nodes: 100_000}, want: "k/p.txt: more than 100,000 nodes"},
		"bytes of patches":             {texts: patched(job, "@"+strings.Repeat("x", manifest.MaxDoc-1), 200), limits: meter.Limits{meter.Time: -1, meter.Bytes: 1 << 20}, want: "MiB of text"},
		"lists that lead on":           {texts: each(kustomize.MaxDepth+3, "k/#/kustomization.yaml", "resources: [../##]\n"), want: "more than 50 levels deep"},
		"Flux Kustomizations, further": {texts: each(kustomize.MaxDepth+3, "k/#/ks.yaml", fmt.Sprintf(entry, "ks-#", "k/##")), want: "more than 50 levels deep"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := files(c.texts)
			if _, lists := c.texts["k/0/ks.yaml"]; lists {
				tree["k/kustomization.yaml"] = &fstest.MapFile{Data: []byte("resources: [0/ks.yaml]\n")}
			} else if _, deep := c.texts["k/0/kustomization.yaml"]; deep {
				tree["k/kustomization.yaml"] = &fstest.MapFile{Data: []byte("resources: [\"0\"]\n")}
			}
			g := readBy(t, meter.New(t.Context(), c.limits), tree)
			g.Clusters([]graph.Root{{Name: "k", Path: "k"}})
			changed := maps.Clone(tree)
			changed["README.md"] = &fstest.MapFile{Data: []byte("x")}
			again, err := g.Again(changed, []string{"README.md"})
			if err != nil {
				t.Fatal(err)
			}
			again.Clusters([]graph.Root{{Name: "k", Path: "k"}})
			for _, got := range []string{g.Beyond(), again.Beyond()} {
				if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
					t.Errorf("%q, want %q", got, c.want)
				}
			}
		})
	}
}

// TestManyProblems: the last of the problems and leaves that are kept stands for those that are not, and says whether more may hide there.
func TestManyProblems(t *testing.T) {
	missing := "resources:\n- ../b\n"
	for i := range manifest.MaxProblems + 1 {
		missing += fmt.Sprintf("- missing-%d.yaml\n- https://example.com/%d\n", i, i)
	}
	for name, c := range map[string]struct {
		last    string
		refused bool
	}{
		"kustomize refuses all":     {"", true},
		"one of them is not read":   {"- broken.yaml\n", false},
		"it is read somewhere else": {"- ../c\n", true},
	} {
		g := read(t, files(map[string]string{
			"k/kustomization.yaml": missing + c.last, "k/broken.yaml": "kind: List\n@", "b/kustomization.yaml": "", "c/kustomization.yaml": "",
		}))
		found := g.Clusters([]graph.Root{{Name: "k", Path: "k", URL: "https://example.org/acme/fleet"}})[0]
		if n := len(found.Problems); n != manifest.MaxProblems || found.Problems[n-1].Refused != c.refused || found.Problems[n-1].Text != "more than 199 problems: the rest is not listed" {
			t.Errorf("%s: %d problems, at last %+v", name, n, found.Problems[n-1])
		}
		if n := len(found.Leaves); n != kustomize.MaxLeaves {
			t.Errorf("%s: %d leaves", name, n)
		}
		last := found.Leaves[len(found.Leaves)-1]
		for _, l := range found.Leaves {
			if strings.HasPrefix(l.Text, "more than") {
				last = l
			}
		}
		if last.Text != "more than 199 places where the graph ends: the rest is not listed" {
			t.Errorf("%s: %v", name, last)
		}
	}
}

// TestManyNames: of however many variables an object has, each is known to change it.
func TestManyNames(t *testing.T) {
	names := ""
	for i := range manifest.MaxList + 10 {
		names += fmt.Sprintf("${v%d}", i)
	}
	g := read(t, files(map[string]string{
		"k/ks.yaml": strings.Replace(fmt.Sprintf(entry, "parent", "p"), "spec: {", "spec: {postBuild: {substituteFrom: [{kind: ConfigMap, name: last}]}, ", 1),
		"k/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: last, namespace: flux-system}\ndata: {zz: b}\n",
		"p/ks.yaml": strings.Replace(fmt.Sprintf(entry, "child", "c"), "spec: {", "spec: {interval: \""+names+"${zz}\", ", 1),
		"c/a.yaml":  job,
	}))
	c := g.Clusters([]graph.Root{{Name: "k", Path: "k"}})[0]
	for _, in := range c.Influences() {
		if in.File == "k/cm.yaml" && in.Of.Kustomization != nil && in.Of.Kustomization.Name == "child" {
			return
		}
	}
	t.Errorf("k/cm.yaml changes nothing: %v", c.Influences())
}
