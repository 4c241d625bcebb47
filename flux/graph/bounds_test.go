package graph_test

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/meter"
)

// TestFans: what leads to one thing in many ways costs no more than it is read, and what would double with every step ends at a bound.
func TestFans(t *testing.T) {
	wide := map[string]string{"base/kustomization.yaml": "resources: [job.yaml]\n", "base/job.yaml": job, "k/kustomization.yaml": ""}
	for i := range 5 {
		wide["k/kustomization.yaml"] += fmt.Sprintf("%s- ../list/%d\n", map[bool]string{true: "resources:\n"}[i == 0], i)
		list := "resources:\n"
		for j := range race.Or(manifest.MaxList/10, manifest.MaxList) {
			list += fmt.Sprintf("- ../../unit/%d-%d\n", i, j)
			wide[fmt.Sprintf("unit/%d-%d/kustomization.yaml", i, j)] = "resources: [../../base]\n"
		}
		wide[fmt.Sprintf("list/%d/kustomization.yaml", i)] = list
	}
	components, variants := map[string]string{"k/kustomization.yaml": "resources: [../job.yaml]\ncomponents: [../0]\n", "job.yaml": job}, map[string]string{"k/job.yaml": job}
	cycle := map[string]string{"k/kustomization.yaml": "resources: [../0]\n"}
	for i := range 40 {
		components[fmt.Sprintf("%d/kustomization.yaml", i)] = fmt.Sprintf("kind: Component\ncomponents: [../%d, ../%d]\n", i+1, i+1)
		variants[fmt.Sprintf("a%d/kustomization.yaml", i)] = fmt.Sprintf("namePrefix: a-\nresources: [../a%d, ../b%d]\n", i+1, i+1)
		variants[fmt.Sprintf("b%d/kustomization.yaml", i)] = fmt.Sprintf("namePrefix: b-\nresources: [../a%d, ../b%d]\n", i+1, i+1)
		cycle[fmt.Sprintf("%d/kustomization.yaml", i)] = fmt.Sprintf("resources: [../%d, ../k, ../0]\n", (i+1)%40)
	}
	components["40/kustomization.yaml"] = "kind: Component\n"
	variants["k/kustomization.yaml"] = "resources: [../a0, ../b0]\n"
	for _, dir := range []string{"a40", "b40"} {
		variants[dir+"/kustomization.yaml"] = "resources: [../k/job.yaml]\n"
	}
	for name, c := range map[string]struct {
		texts   map[string]string
		jobs    int
		problem string // "": none
	}{
		"a unit of thousands": {wide, 1, ""},
		"components of two":   {components, -1, "steps"},
		"variants of two":     {variants, -1, "nodes"},
		"cycles":              {cycle, 0, "leads back"},
	} {
		m := meter.New(t.Context(), meter.Limits{meter.Time: -1, meter.Steps: int64(race.Or(50_000, 500_000)), meter.Nodes: int64(race.Or(100_000, 0))})
		g := readBy(t, m, newMemory(files(c.texts)))
		k := g.Clusters([]graph.Root{{Name: "k", Path: "k"}})[0]
		if c.jobs >= 0 && len(k.CronJobs) != c.jobs {
			t.Errorf("%s: %d jobs", name, len(k.CronJobs))
		}
		found := slices.ContainsFunc(g.Problems, func(p manifest.Problem) bool { return strings.Contains(p.Text, c.problem) })
		if found != (c.problem != "") {
			t.Errorf("%s: %v", name, g.Problems[:min(len(g.Problems), 5)])
		}
	}
}

// crowd is a tree of a million files. It counts how often a directory is listed.
type crowd struct{ listed *int }

// thousand is what stands in each directory of a crowd.
func thousand(entry func(i int) fs.FileInfo) []fs.DirEntry {
	var out []fs.DirEntry
	for i := range 1000 {
		out = append(out, fs.FileInfoToDirEntry(entry(i)))
	}
	return out
}

var (
	crowdDirs  = thousand(func(i int) fs.FileInfo { return folder{info(fmt.Sprintf("d%04d", i))} })
	crowdFiles = thousand(func(i int) fs.FileInfo { return info(fmt.Sprintf("f%04d.txt", i)) })
)

// Open opens a directory or a file of the tree.
func (c crowd) Open(string) (fs.File, error) { return nil, fs.ErrNotExist }

// Stat is what a name stands for.
func (c crowd) Stat(name string) (fs.FileInfo, error) { return folder{info(path.Base(name))}, nil }

// ReadDir lists a directory.
func (c crowd) ReadDir(name string) ([]fs.DirEntry, error) {
	*c.listed++
	if name == "." {
		return crowdDirs, nil
	}
	return crowdFiles, nil
}

// TestMillion: of a million files no more are looked at than the bound says, and that is a problem.
func TestMillion(t *testing.T) {
	bound := race.Or(50_000, 100_000)
	c := crowd{new(int)}
	g := readBy(t, meter.New(t.Context(), meter.Limits{meter.Time: -1, meter.Files: int64(bound)}), c)
	if len(g.Problems) != 1 || !strings.Contains(g.Problems[0].Text, fmt.Sprintf("more than %d,000 files", bound/1000)) {
		t.Errorf("%v", g.Problems)
	}
	if again, err := g.Again(c, []string{"d0001/f0001.txt"}); err != nil || len(again.Problems) != 1 {
		t.Errorf("%v %v", err, again.Problems)
	}
	if most := 2 * (bound/1000 + 2); *c.listed > most {
		t.Errorf("directories of a thousand were listed %d times, want at most %d", *c.listed, most)
	}
}

// TestLinks: a link is not followed, wherever it leads; what names one names nothing. Names with control characters are quoted.
func TestLinks(t *testing.T) {
	tree := files(map[string]string{"k/kustomization.yaml": "resources: [out.yaml, in.yaml]\nconfigMapGenerator: [{files: [passwd]}]\n", "job.yaml": job, "k/a\x1b]0;x\a.yaml": "kind: CronJob\n{"})
	for name, to := range map[string]string{"k/out.yaml": "../../../etc/x.yaml", "k/in.yaml": "../job.yaml", "k/passwd": "/etc/passwd", "dir": "/etc"} {
		tree[name] = &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink | 0o777}
	}
	g := read(t, tree)
	c := g.Clusters([]graph.Root{{Name: "k", Path: "k"}})[0]
	if len(g.Problems) != 4 || len(c.CronJobs) != 0 || len(c.Files()) != 1 {
		t.Errorf("%v %v", g.Problems, c.Files())
	}
	for _, p := range g.Problems {
		if strings.ContainsAny(p.String(), "\x1b\a") {
			t.Errorf("%q", p)
		}
	}
}

// TestLongLists: of lists of generators that are longer than any, the rest is a problem.
func TestLongLists(t *testing.T) {
	var generators strings.Builder
	for i := range manifest.MaxList + 1 {
		fmt.Fprintf(&generators, "- {name: a%d, files: [a.txt]}\n", i)
	}
	for field, text := range map[string]string{
		"configMapGenerator": "configMapGenerator:\n" + generators.String(),
		"files":              "secretGenerator:\n- name: a\n  files:\n" + strings.Repeat("  - a.txt\n", manifest.MaxList+1),
		"transformers":       "transformers:\n" + strings.Repeat("- a.txt\n", manifest.MaxList+1),
	} {
		g := read(t, files(map[string]string{"k/kustomization.yaml": text, "k/a.txt": ""}))
		c := g.Clusters([]graph.Root{{Name: "k", Path: "k"}})[0]
		if len(g.Problems) != 1 || !strings.HasPrefix(g.Problems[0].Text, field+" has more than") || len(c.Files()) != 2 {
			t.Errorf("%s: %v %v", field, g.Problems, c.Files())
		}
	}
}

// FuzzKustomization: no kustomization.yaml makes reading it or what it names panic, its bounds hold, and read again it says the same.
func FuzzKustomization(f *testing.F) {
	for _, seed := range []string{
		"generators:\n  - |\n    apiVersion: builtin\n    kind: ConfigMapGenerator\n    files: [a=b.yaml]\n", "transformers: [b.yaml, ../k]\nvalidators: [.]",
		"helmGlobals: {chartHome: ..}\nhelmCharts: [{name: k, valuesFile: b.yaml, repo: x}]\nopenapi: {path: b.yaml}", "components: [../c, ../c, ../k]\nreplacements: [{path: b.yaml}]",
		"configMapGenerator: [{files: [b.yaml, x=b.yaml, =, '']}, {envs: [b.yaml], env: b.yaml}]\ncrds: [b.yaml]\nconfigurations: [/b.yaml, ../../..]",
	} {
		f.Add(seed, "apiVersion: builtin\nkind: PatchTransformer\npath: b.yaml\n", "kind: Component\ncomponents: [../k]\n")
	}
	f.Fuzz(func(t *testing.T, k, b, c string) {
		before := files(map[string]string{"k/kustomization.yaml": "namespace: x", "k/b.yaml": b, "c/kustomization.yaml": c})
		after := files(map[string]string{"k/kustomization.yaml": k, "k/b.yaml": b, "c/kustomization.yaml": c})
		roots := []graph.Root{{Name: "k", Path: "k"}}
		old := read(t, before)
		old.Clusters(roots)
		g, err := old.Again(after, []string{"k/kustomization.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "again", exported(g, roots), exported(read(t, after), roots))
		if len(g.Problems) > manifest.MaxProblems {
			t.Errorf("%d problems", len(g.Problems))
		}
	})
}
