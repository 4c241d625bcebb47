package reach

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/layout"
)

// figures compares what rules say of a repository's files with what reads them.
type figures struct {
	files, differ  int // files, and those to which rules and graph give other releases
	entries, mixed int // entry points, and those of whose files rules hold some and not the others, and the graph does not
	each           int // files that several branches hold, each by its own window, which as windows would have to be open at one time
}

// BenchmarkFigures gives the figures for the repositories that have a file with rules beside one that leaves all to the graph.
func BenchmarkFigures(b *testing.B) {
	for _, name := range []string{"layout-rw", "layout-mw", "layout-sets"} {
		b.Run(name, func(b *testing.B) {
			g := fluxtrees.ReadGraph(b, name)
			var f figures
			for b.Loop() {
				f = compare(b, g.Tree)
			}
			b.ReportMetric(float64(f.files), "files")
			b.ReportMetric(100*float64(f.differ)/float64(f.files), "%differ")
			b.ReportMetric(float64(f.entries), "entries")
			b.ReportMetric(float64(f.mixed), "mixed-by-rules-alone")
			b.ReportMetric(float64(f.each), "each-at-its-window")
		})
	}
}

func compare(t testing.TB, tree fs.FS) figures {
	rules, flux := fileOf(t, tree, config.File), fileOf(t, tree, graphFile)
	read, err := graph.Read(tree)
	if err != nil {
		t.Fatal(err)
	}
	g := New(flux, read.Clusters(flux.Clusters))
	graphed := flux.With(g).Layout
	var f figures
	err = fs.WalkDir(tree, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(path, ".github/") {
			return err
		}
		f.files++
		by, is := rules.Layout.Classify(path).Releases, graphed.Classify(path).Releases
		if !slices.Equal(by, is) {
			f.differ++
		}
		branches := 0
		for _, r := range is {
			if _, ok := r.BranchGlob(); ok {
				branches++
			}
		}
		if branches > 1 && !slices.ContainsFunc(is, layout.Release.IsWindow) {
			f.each++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range g.Entries() {
		f.entries++
		if mixed(rules.Layout, e) && !mixed(graphed, e) {
			f.mixed++
		}
	}
	return f
}

// mixed reports whether some of an entry point's files wait for something and others do not.
func mixed(l *layout.Layout, e graph.Entry) bool {
	now, later := false, false
	for _, file := range e.Content() {
		if isLive(l.Classify(file).Releases) {
			now = true
		} else {
			later = true
		}
	}
	return now && later
}

func fileOf(t testing.TB, tree fs.FS, name string) *config.Policy {
	data, err := fs.ReadFile(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	p, findings := config.Parse(data)
	if p == nil {
		t.Fatal(findings)
	}
	return p
}

// BenchmarkNew is the references of 500 entry points that read forty files each, and what they say of all of them.
func BenchmarkNew(b *testing.B) {
	p := fileOf(b, fluxtrees.ReadGraph(b, "layout-rw").Tree, graphFile)
	all := manyClusters(b)
	files := map[string]bool{}
	for _, c := range all {
		for _, file := range c.Files() {
			files[file] = true
		}
	}
	b.ResetTimer()
	for b.Loop() {
		g := New(p, all, all)
		for path := range files {
			g.Reads(path)
		}
		b.ReportMetric(float64(len(files)), "files")
	}
}

// manyClusters is 25 clusters of 20 entry points, each with 34 files of its own and ten that all clusters share.
func manyClusters(b *testing.B) []graph.Cluster {
	var text strings.Builder
	file := func(name, content string) { fmt.Fprintf(&text, "-- %s --\n%s", name, content) }
	for e := range 20 {
		for i := range 10 {
			file(fmt.Sprintf("base/b%d/f%d.yaml", e, i), configMap)
		}
	}
	for c := range 25 {
		file(fmt.Sprintf("clusters/c%d/sources.yaml", c), gitRepository("flux-system", "main")+gitRepository("rw", "rw/cluster-1"))
		for e := range 20 {
			dir, source := fmt.Sprintf("apps/c%d/e%d", c, e), "flux-system"
			if e%4 == 0 {
				source = "rw"
			}
			file(fmt.Sprintf("clusters/c%d/e%d.yaml", c, e), ks(fmt.Sprintf("e%d", e), dir, source))
			list := fmt.Sprintf("resources: [../../../base/b%d", e)
			for i := range 34 {
				file(fmt.Sprintf("%s/f%d.yaml", dir, i), configMap)
				list += fmt.Sprintf(", f%d.yaml", i)
			}
			file(dir+"/kustomization.yaml", list+"]\n")
		}
	}
	tree, err := graph.Read(fluxtrees.Parse([]byte(text.String())))
	if err != nil {
		b.Fatal(err)
	}
	return tree.Clusters(nil)
}
