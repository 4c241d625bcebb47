package e2e

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// TestReferencesOfLayouts: of each layout, a pull request for each file goes by what was written down by hand for that file, first while the windows are closed, then
// once they open. After each merge kustomize, called as Flux calls it, reads for each entry point what the graph says.
func TestReferencesOfLayouts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"layout-rw", "layout-mw", "layout-sets"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLayout(t, name)
			l.serve()
			held := map[int]string{}
			waits := map[string]bool{}
			for i, line := range l.Expect("release") {
				file, releases, _ := strings.Cut(line, ": ")
				if releases == "none" { // no reader: that is for rules
					continue
				}
				n := l.changed(file, i)
				if releases == "live" || strings.HasPrefix(releases, "branch:") {
					l.goes(n, file)
					l.agrees()
					for _, r := range strings.Fields(releases) {
						waits[strings.TrimPrefix(r, "branch:")] = r != "live"
					}
					continue
				}
				l.hasStatus(n, "pending: held by "+releases+" until ")
				held[n] = file
			}
			maps.DeleteFunc(waits, func(_ string, waits bool) bool { return !waits })
			for branch := range waits {
				l.stand(l.start, branch)
			}
			if len(held) == 0 || len(waits) == 0 && name != "layout-sets" {
				t.Errorf("%d pull requests are held, and %d branches", len(held), len(waits))
			}
			l.unmerged(slices.Collect(maps.Keys(held))...)
			tip := l.setFile(l.file(openForYears))
			for n, file := range held {
				l.goes(n, file)
				tip = l.agrees()
			}
			l.reach(tip, slices.Collect(maps.Keys(waits))...)
		})
	}
}

// laidOut is a world whose repository has one of the layouts, which leaves all to the graph.
type laidOut struct {
	*world
	fluxtrees.Graph
	start string // main's tip, and that of each windowed branch
}

func newLayout(t *testing.T, name string) *laidOut {
	t.Helper()
	l := &laidOut{newGitHub(t, api.Options{Now: time.Now}), fluxtrees.ReadGraph(t, name), ""}
	files := map[string]string{}
	for name, f := range l.Tree {
		files[name] = strings.ReplaceAll(string(f.Data), "https://github.com", l.url)
	}
	files[".github/sluice.yaml"] = l.file(shutForYears)
	l.repo = l.create("acme", "fleet", files)
	l.start = l.tip("main")
	for _, branch := range regexp.MustCompile(`name: ([^ ]+), from: main`).FindAllStringSubmatch(files[".github/sluice.yaml"], -1) {
		l.plant(l.start, branch[1])
	}
	return l
}

// file is the repository's file with such windows.
func (l *laidOut) file(window string) string {
	text := string(l.Tree[".github/sluice.graph.yaml"].Data)
	return regexp.MustCompile(`\{open: [^}]*\}`).ReplaceAllLiteralString(text, window) + "pull_requests: {settle: 0s}\n"
}

// changed opens a pull request that changes a file: a list of resources has one more, which comes with it.
func (l *laidOut) changed(file string, i int) int {
	text := l.onMain(file)
	added := fmt.Sprintf("added-%d.yaml", i)
	write := map[string]string{file: strings.Replace(text, "\nresources:\n", "\nresources:\n  - "+added+"\n", 1)}
	if write[file] == text {
		write[file] += "# changed\n"
	} else {
		write[path.Join(path.Dir(file), added)] = object(fmt.Sprint("added-", i), "0")
	}
	return l.change(fmt.Sprint("change-", i), write)
}

// goes wants a pull request merged, by a person where its file is protected.
func (l *laidOut) goes(n int, file string) {
	l.t.Helper()
	if strings.Contains(file, "/flux-system/") {
		l.eventually("a person may merge it", func() bool { // what is green goes and comes again while the base moves
			_, err := l.repo.Merge(n, standin.MergeOrder{By: standin.Actor{Login: "alice"}, Method: standin.Squash})
			return err == nil
		})
	}
	l.merged(n)
}

// agrees wants the graph of main's tip to be what kustomize reads of it, and gives that tip.
func (l *laidOut) agrees() string {
	l.t.Helper()
	tip := l.tip("main")
	files, err := l.repo.Files(tip)
	l.must(err)
	dir := l.t.TempDir()
	for name, text := range files {
		l.must(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		l.must(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	out, errs, code := l.run("graph", dir, "--path", ".", "--json")
	var says struct {
		Clusters []struct {
			Name    string
			Entries []struct{ Name, Path string }
		}
		Paths []struct {
			Path    string
			Readers []struct{ Cluster, Entry string }
		}
	}
	if err := json.Unmarshal([]byte(out), &says); err != nil || code != 0 {
		l.t.Fatalf("graph: exit %d, %v\n%s%s", code, err, out, errs)
	}
	read := map[[2]string][]string{}
	for _, p := range says.Paths {
		for _, r := range p.Readers {
			entry := [2]string{r.Cluster, r.Entry}
			read[entry] = append(read[entry], p.Path)
		}
	}
	entries := 0
	for _, c := range says.Clusters {
		for _, e := range c.Entries {
			entries++
			kustomize, err := builtAsFluxDoes(files, e.Path)
			if err != nil {
				l.t.Errorf("%s of %s at %s: %v", e.Name, c.Name, tip, err)
			} else if graph := read[[2]string{c.Name, e.Name}]; !slices.Equal(graph, kustomize) {
				l.t.Errorf("%q of %s at %s reads %q, by the graph %q", e.Name, c.Name, tip, kustomize, graph)
			}
		}
	}
	if entries < 3 {
		l.t.Errorf("%d entry points at %s", entries, tip)
	}
	return tip
}

// recorded is a file system that remembers what is read of it.
type recorded struct {
	filesys.FileSystem
	read map[string]bool
}

// ReadFile implements filesys.FileSystem.
func (r recorded) ReadFile(name string) ([]byte, error) {
	data, err := r.FileSystem.ReadFile(name)
	if err == nil {
		r.read[strings.TrimPrefix(name, "/")] = true
	}
	return data, err
}

// builtAsFluxDoes builds a directory as kustomize-controller does and gives the files that are read, sorted: where there is no kustomization.yaml one is made, of all
// manifests below and of the directories that have one.
func builtAsFluxDoes(files map[string]string, dir string) ([]string, error) {
	tree := recorded{filesys.MakeFsInMemory(), map[string]bool{}}
	for name, text := range files {
		if err := tree.WriteFile("/"+name, []byte(text)); err != nil {
			return nil, err
		}
	}
	made := ""
	if !listed(tree, "/"+dir) {
		made = path.Join(dir, "kustomization.yaml")
		var names []string
		if err := tree.Walk("/"+dir, func(name string, info fs.FileInfo, err error) error {
			switch {
			case err != nil || name == "/"+dir:
				return err
			case info.IsDir() && listed(tree, name):
				names = append(names, strings.TrimPrefix(name, "/"+dir+"/"))
				return fs.SkipDir
			case path.Ext(name) == ".yaml":
				names = append(names, strings.TrimPrefix(name, "/"+dir+"/"))
			}
			return nil
		}); err != nil {
			return nil, err
		}
		if err := tree.WriteFile("/"+made, []byte(resources(names...))); err != nil {
			return nil, err
		}
	}
	options := &krusty.Options{LoadRestrictions: types.LoadRestrictionsNone, PluginConfig: types.DisabledPluginConfig()}
	if _, err := krusty.MakeKustomizer(options).Run(tree, "/"+dir); err != nil {
		return nil, err
	}
	delete(tree.read, made)
	return slices.Sorted(maps.Keys(tree.read)), nil
}

// listed reports whether a directory has a kustomization.yaml, by any of its names.
func listed(tree filesys.FileSystem, dir string) bool {
	return slices.ContainsFunc(konfig.RecognizedKustomizationFileNames(), func(name string) bool { return tree.Exists(path.Join(dir, name)) })
}

// TestReferencesOfAMove: an object that goes from a live to a windowed Kustomization is pruned at once and comes back at the opening: it waits for that. One that stays
// with the windowed branch, wherever its file goes, does not.
func TestReferencesOfAMove(t *testing.T) {
	t.Parallel()
	l := newLayout(t, "layout-mw")
	l.serve()
	const live, windowed, base = "apps/shop/shop-rt/prices.yaml", "apps/shop/shop-mw/deployment.yaml", "infra/ingress-base/deployment.yaml"
	goes := l.change("goes", map[string]string{live: object("other", "0"), windowed: l.onMain(windowed) + "---\n" + l.onMain(live)})
	l.hasStatus(goes, "pending: held by maintenance until Tue 1 Jan 2030 00:00 CET: Flux prunes what moves unless it has ")
	l.merged(l.change("stays", map[string]string{windowed: l.onMain(windowed) + "---\n" + l.onMain(base), base: object("other", "1")}))
	l.unmerged(goes)
}
