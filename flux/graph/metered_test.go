package graph_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/reach"
	"github.com/sluicegate/sluice/flux/render"
	"github.com/sluicegate/sluice/flux/survey"
	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/meter"
)

// kinds is how many kinds of hostile trees there are.
const kinds = 16

// hostile draws a tree of one kind: so many of something, each so long.
func hostile(kind, many, long int) map[string]string {
	out := map[string]string{"k/kustomization.yaml": "resources: [../u0]\n"}
	unit := func(i int, text string) { out[fmt.Sprintf("u%d/kustomization.yaml", i)] = text }
	word := strings.Repeat("x", max(1, long))
	switch kind % kinds {
	case 0: // names that prefixes make longer and longer
		for i := range many % 48 {
			unit(i, fmt.Sprintf("namePrefix: %s-\nresources: [../u%d]\n", word, i+1))
		}
		unit(many%48, "resources: [j.yaml]\n")
		out[fmt.Sprintf("u%d/j.yaml", many%48)] = strings.Repeat("---\n"+job, 20)
	case 1: // operations that copy what they copied
		ops := "- {op: add, path: /spec/x, value: [" + strings.Repeat("[], ", long) + "[]]}\n"
		for i := range many {
			ops += fmt.Sprintf("- {op: copy, from: /spec/x, path: /spec/y%d}\n", i)
		}
		unit(0, "resources: [../j.yaml]\npatches: [{target: {kind: CronJob}, path: p.txt}]\n")
		out["u0/p.txt"], out["j.yaml"] = ops, strings.Repeat("---\n"+job, 10)
	case 2: // documents of little text and many nodes, for many
		list := "resources: ["
		for i := range many {
			list += fmt.Sprintf("../u%d, ", i+1)
			unit(i+1, fmt.Sprintf("namePrefix: a%d-\ncommonLabels: {a: b}\npatches: [{target: {kind: CronJob}, patch: '{spec: {a: %d}}'}]\nresources: [../j.yaml]\n", i, i))
		}
		unit(0, list+"]\n")
		out["j.yaml"] = job + "x: [" + strings.Repeat("[], ", long) + "[]]\n"
	case 3: // directories within each other
		delete(out, "k/kustomization.yaml")
		dir := "k"
		for range many {
			dir += "/" + word[:min(len(word), 20)]
			out[dir+"/a.yaml"], out[dir+"/.sourceignore"] = job, "a\n"
		}
	case 4: // what leads back, and to two
		for i := range many {
			unit(i, fmt.Sprintf("namePrefix: a-\nresources: [../u%d, ../u%d, ../k]\n", i+1, (i*long+3)%(many+1)))
		}
		unit(many, "resources: [../j.yaml]\n")
		out["j.yaml"] = job
	case 5: // variables
		for i := range many {
			out[fmt.Sprintf("k/%d.yaml", i)] = fmt.Sprintf(entry, fmt.Sprint("e", i), strings.Repeat("${", long)+strings.Repeat("${a}", long))
		}
		delete(out, "k/kustomization.yaml")
	case 6: // entry points that all read the same
		delete(out, "k/kustomization.yaml")
		for i := range many {
			out[fmt.Sprintf("k/%d.yaml", i)] = fmt.Sprintf(entry, fmt.Sprint("e", i), "b")
			out[fmt.Sprintf("b/%d.yaml", i)] = job + "# " + word + "\n"
		}
	case 7: // targets of a few bytes that stand for much
		text := "resources: [../j.yaml]\npatches:\n"
		for i := range many {
			text += fmt.Sprintf("- {target: {kind: '\\pL{%d}', name: '\\pM{%d}'}, patch: '{spec: {a: %d}}'}\n", min(long, 990), min(long, 990), i)
		}
		unit(0, text)
		out["j.yaml"] = job
	case 8: // words that may be names
		delete(out, "k/kustomization.yaml")
		for i := range many {
			var text strings.Builder
			for n := range long {
				fmt.Fprintf(&text, " x%x,", n*many+i)
			}
			out[fmt.Sprintf("k/%d.yaml", i)] = fmt.Sprintf("apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: r%d}\nspec: {resourcesTemplate: 'a: [%s]'}\n", i, text.String())
		}
	case 9: // patterns far down
		delete(out, "k/kustomization.yaml")
		for i := range many {
			dir := fmt.Sprintf("k/%s%d", strings.Repeat("d/", 100), i)
			out[dir+"/a.yaml"], out[dir+"/.sourceignore"] = job, strings.Repeat("b\n", long)
		}
	case 10: // generators that each change what the one before made
		text := "configMapGenerator:\n- {name: a}\n"
		for range 8 * many {
			text += "- {name: a, behavior: merge, files: [" + strings.Repeat("b, ", long) + "b]}\n"
		}
		unit(0, text)
		out["u0/b"] = ""
	case 11: // generators of which each has the labels that are for all
		text := "configMapGenerator:\n" + strings.Repeat("- {name: a}\n", 8*many) + "generatorOptions: {labels: {"
		for i := range min(long, 900) {
			text += fmt.Sprintf("l%d: a, ", i)
		}
		unit(0, text+"a: a}}\n")
	case 12: // files whose directory has a long name, which the name of each begins with
		unit(0, "resources: []\n")
		out[word+"/kustomization.yaml"] = "configMapGenerator: [{name: a, files: [" + strings.Repeat("a, ", 8*many) + "a]}]\n"
	case 13: // and that many entry points read
		delete(out, "k/kustomization.yaml")
		list := ""
		for i := range 100 {
			list += fmt.Sprintf("%d.yaml, ", i)
			out[fmt.Sprintf("%s/%d.yaml", word, i)] = "kind: None\n"
		}
		out[word+"/kustomization.yaml"] = "resources: [" + list + "]\n"
		unit(0, "resources: [../"+word+"]\n")
		for i := range many {
			out[fmt.Sprintf("k/%d.yaml", i)] = fmt.Sprintf(entry, fmt.Sprint("e", i), "u0")
		}
	case 14: // objects that stand in no file, each of which many may make
		delete(out, "k/kustomization.yaml")
		const set = "---\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: s%d, namespace: a}\nspec: {inputs: [{a: b}], resources: [{kind: ConfigMap, metadata: {name: c%d}}]}\n"
		const release = "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r%d, namespace: a}\nspec: {chartRef: {kind: OCIRepository, name: a}, valuesFrom: [{kind: Secret, name: v%d}]}\n"
		for i := range many {
			text := ""
			for n := range min(long, 10) {
				text += fmt.Sprintf(set, 10*i+n, n) + fmt.Sprintf(release, 10*i+n, 10*i+n)
			}
			out[fmt.Sprintf("k/%d.yaml", i)], out[fmt.Sprintf("c/%d/values.yaml", i)] = text, ""
		}
	case 15: // what ResourceSets make of inputs
		delete(out, "k/kustomization.yaml")
		const made = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: a<< inputs.a >>}, spec: {path: << inputs.b >><< inputs.c | x >>}}"
		text := "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: s}\nspec:\n  inputs: [" +
			strings.Repeat("{a: b, b: "+word[:min(len(word), 250)]+"}, ", many) + "{}]\n  resources: [" + strings.Repeat(made+", ", min(long, 1000)) + made + "]\n"
		out["k/0.yaml"], out["k/1.yaml"] = text, text+"  resourcesTemplate: |\n"+strings.Repeat("    ---\n    "+made+"\n", min(long, 1000))
	}
	return out
}

// commands is what commands make of a tree beside its graph.
var commands = map[string]func(*testing.T, *graph.Tree, []graph.Cluster, fstest.MapFS){
	"graph": func(*testing.T, *graph.Tree, []graph.Cluster, fstest.MapFS) {},
	"reach": func(t *testing.T, g *graph.Tree, found []graph.Cluster, tree fstest.MapFS) {
		r := reach.New(windowed(t), found, found)
		paths := slices.Sorted(maps.Keys(tree))
		r.Check(nil, paths)
		r.Problems(g.Problems, nil)
		r.Affected(paths)
		runtime.KeepAlive(r)
	},
	"survey": func(_ *testing.T, g *graph.Tree, _ []graph.Cluster, tree fstest.MapFS) {
		_, _ = survey.New(g, slices.Sorted(maps.Keys(tree)), "main", false)
	},
	"render": func(t *testing.T, g *graph.Tree, found []graph.Cluster, tree fstest.MapFS) {
		in := render.Input{Policy: windowed(t), Tree: tree, Graph: g, Clusters: found}
		_, _ = render.Flux(in, "https://github.com/acme/fleet", "")
		_, _ = render.Suspend(in, render.Call{Kind: render.Deployment, Image: "a"})
	},
}

// windowed is a file that lets references decide.
func windowed(t *testing.T) *config.Policy {
	p, findings := config.Parse([]byte("version: 1\ntimezone: UTC\nlayout: {flux: true, unmatched: w}\nwindows: {w: {open: '0 8 * * MON', duration: 1h}}\nbranches: [{name: rw/a, from: main, window: w}]\n"))
	if p == nil {
		t.Fatal(findings)
	}
	return p
}

// status is a number of bytes that the system says of this process; 0: it does not.
func status(field string) (n int64) {
	text, _ := os.ReadFile("/proc/self/status")
	_, after, _ := strings.Cut(string(text), field+":")
	_, _ = fmt.Sscan(after, &n)
	return n << 10
}

// peaks begins the peak of this process anew; false: the system does not let it.
func peaks() bool { return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil }

// heap is how many bytes stand on the heap.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// grows is by how many bytes the process grows at most while a command reads a tree, and how many its run's meter counts at most.
func grows(t *testing.T, tree fstest.MapFS, command string) (grown, counted int64, m *meter.Meter) {
	m = meter.New(t.Context(), meter.Limits{meter.Time: -1, meter.Nodes: 300_000, meter.Bytes: 16 << 20, meter.Steps: 300_000})
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // what is garbage is no cost of the tree
	debug.FreeOSMemory()
	size := heap // of what is left, where nobody says how much there was
	before := size()
	if peaks() {
		before, size = status("VmRSS"), func() int64 { return status("VmHWM") }
	}
	g := readBy(t, m, tree)
	commands[command](t, g, g.Clusters([]graph.Root{{Name: "k", Path: "k"}}), tree)
	after := size()
	runtime.KeepAlive(g)
	most := m.Readings()
	return after - before, most[meter.Bytes].Used + meter.NodeBytes*most[meter.Nodes].Used, m
}

// slack is what a process grows by whatever it reads: what Go keeps beside the heap, and what one document takes while it is parsed.
const slack = 16 << 20

// TestCosts: what a hostile tree makes a process take at its peak is no more than twice what its meter counts, whatever command reads it, and ends at a bound that names the place.
func TestCosts(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector holds its own")
	}
	for name, c := range map[string]struct {
		kind, many, long int
		want             string // of the end; "": it ends well
	}{
		"long names":     {0, 47, 30_000, "u40/kustomization.yaml: more than 16 MiB of text"},
		"few names":      {0, 3, 10, ""},
		"copies":         {1, 40, 3000, "u0/p.txt: more than 300,000 nodes of YAML"},
		"few copies":     {1, 3, 10, ""},
		"many nodes":     {2, 1000, 20_000, "u224/kustomization.yaml: more than 300,000 nodes of YAML"},
		"deep":           {3, 400, 20, ""},
		"cycles":         {4, 45, 7, ""},
		"variables":      {5, 60, 40_000, "k/10.yaml: more than 16 MiB of text"},
		"the same":       {6, 400, 100, "b/55.yaml: more than 300,000 nodes of YAML"},
		"a few entries":  {6, 20, 100, ""},
		"targets":        {7, 80, 990, "u0/kustomization.yaml: more than 300,000 nodes of YAML"},
		"few targets":    {7, 3, 4, ""},
		"words":          {8, 24, 20_000, "k/21.yaml: more than 300,000 nodes of YAML"},
		"few words":      {8, 4, 20, ""},
		"patterns":       {9, 40, 900, "k/" + strings.Repeat("d/", 100) + "18/.sourceignore: more than 16 MiB of text"},
		"few patterns":   {9, 4, 20, ""},
		"generators":     {10, 100, 80, "u0/kustomization.yaml: more than 300,000 nodes of YAML"},
		"few generators": {10, 2, 8, ""},
		"labels":         {11, 100, 900, "u0/kustomization.yaml: more than 300,000 steps"},
		"few labels":     {11, 2, 8, ""},
		"long":           {12, 200, 100_000, strings.Repeat("x", 256) + "…: more than 16 MiB of text"},
		"few long":       {12, 2, 100, ""},
		"read long":      {13, 100, 10_000, strings.Repeat("x", 256) + "…: more than 300,000 nodes of YAML"},
		"few read long":  {13, 2, 100, ""},
		"sets":           {14, 200, 10, "k/99.yaml: more than 300,000 nodes of YAML"},
		"few sets":       {14, 2, 10, ""},
		"inputs":         {15, 100, 1000, "k/1.yaml: more than 300,000 steps"},
		"few inputs":     {15, 2, 10, ""},
	} {
		for command := range commands {
			grown, counted, m := grows(t, files(hostile(c.kind, c.many, c.long)), command)
			got := ""
			if err := m.Err(); err != nil {
				got = err.Error()
			}
			if got != c.want && (command == "graph" || c.want != "") {
				t.Errorf("%s, %s: %q, want %q", command, name, got, c.want)
			}
			if grown > 2*counted+slack {
				t.Errorf("%s, %s: it grew by %d KiB, and %d are counted", command, name, grown>>10, counted>>10)
			}
		}
	}
}

// FuzzCosts: whatever tree is drawn and whatever command reads it, the process takes at its peak no more than twice what is counted.
func FuzzCosts(f *testing.F) {
	for kind := range kinds {
		f.Add(kind, 10, 100, "patches: [{patch: '- {op: copy, from: /spec, path: /x}', target: {kind: CronJob}}]\n")
	}
	if race.Enabled {
		f.Skip("the race detector holds its own")
	}
	f.Fuzz(func(t *testing.T, kind, many, long int, more string) {
		kind, many, long = kind&0xff, many&0xff, long&0x3fff
		if len(more) > 4000 {
			return
		}
		texts := hostile(kind, many, long)
		texts["u0/kustomization.yaml"] += more
		for command := range commands {
			if grown, counted, m := grows(t, files(texts), command); grown > 2*counted+slack {
				t.Errorf("%s: it grew by %d bytes, and %d are counted; %v", command, grown, counted, m.Err())
			}
		}
	})
}

// TestHonest: a repository of 20,000 files and 500 entry points, larger than any public one, takes a third of each bound at most; and a change of 500 files, one of each
// entry point, reads those, and comes to no bound.
func TestHonest(t *testing.T) {
	if race.Enabled {
		t.Skip("too slow with the race detector")
	}
	texts := fluxtrees.Honest(50)
	m := meter.New(t.Context(), meter.Limits{meter.Time: -1})
	tree := &opened{FS: files(texts)}
	g := readBy(t, m, tree)
	entries := 0
	for _, c := range g.Clusters(nil) {
		entries += len(c.Kustomizations)
	}
	if len(texts) < 20_000 || entries != 500 || len(g.Problems) > 0 {
		t.Fatalf("%d files, %d entry points, %v", len(texts), entries, g.Problems)
	}
	for _, r := range m.Readings() {
		if t.Log(r); r.Limit > 0 && r.Used > r.Limit/3 {
			t.Errorf("it takes %s", r)
		}
	}
	var changed []string
	for app := range 50 {
		for c := range 10 {
			file := fmt.Sprintf("apps/%d/c%d/2.yaml", app, c)
			changed, texts[file] = append(changed, file), strings.Replace(texts[file], "value", "other", 1)
		}
	}
	tree.FS, tree.count = files(texts), 0
	g, err := g.Again(tree, changed)
	if err != nil || tree.count != len(changed) {
		t.Errorf("%d files were read again: %v", tree.count, err)
	}
	for _, c := range g.Clusters(nil) {
		entries -= len(c.Kustomizations)
	}
	for _, r := range m.Readings() {
		if t.Log(r); r.Limit > 0 && r.Used > r.Limit/10*4 || entries != 0 {
			t.Errorf("with the change it takes %s; %d entry points are left", r, entries)
		}
	}
}

// opened is a tree that counts the files that are opened.
type opened struct {
	fs.FS
	count int
}

// Open implements fs.FS.
func (o *opened) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, ".yaml") {
		o.count++
	}
	return o.FS.Open(name)
}

// TestDeepIgnores: what is left out of a directory is asked of the one above it, and not of all above it once more.
func TestDeepIgnores(t *testing.T) {
	m := meter.New(t.Context(), meter.Limits{meter.Time: -1})
	readBy(t, m, files(hostile(3, 200, 1))).Clusters([]graph.Root{{Name: "k", Path: "k"}})
	if r := m.Readings()[meter.Nodes]; r.Used > 15_000 || m.Err() != nil {
		t.Errorf("200 directories within each other take %s; %v", r, m.Err())
	}
}

// TestFollowEnds: each Flux Kustomization of a cluster is a step of what is followed, of which there are as many as before: whoever takes one away has
// a loop that the end of the run does not end.
func TestFollowEnds(t *testing.T) {
	m := meter.New(t.Context(), meter.Limits{meter.Time: -1})
	g := readBy(t, m, files(hostile(6, 50, 1)))
	before := m.Readings()[meter.Steps].Used
	g.Clusters([]graph.Root{{Name: "k", Path: "k"}})
	if took := m.Readings()[meter.Steps].Used - before; took != 7905 {
		t.Errorf("it takes %d steps", took)
	}
}
