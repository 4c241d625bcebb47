package oracle

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/build"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/reach"
	"github.com/sluicegate/sluice/layout"
)

// checked is a tree as sluice sees it.
type checked struct {
	files    map[string]string
	policy   *config.Policy // nil: the file is not valid
	clusters []graph.Cluster
	tree     *graph.Tree
	panics   string           // what it panicked with
	errors   []config.Finding // of `sluice check`, as far as nothing is built
	warnings []config.Finding
}

// check does what `sluice check` does in a clone of an origin.
func check(files map[string]string, origin string) (out checked) {
	defer func() {
		if p := recover(); p != nil {
			out = checked{panics: fmt.Sprint(p), errors: []config.Finding{{Code: "PANIC"}}}
		}
	}()
	data := []byte(files[config.File])
	policy, findings := config.Parse(data)
	out = checked{files: files, policy: policy}
	if policy != nil {
		tree, err := graph.Read(treeOf(files))
		if err != nil {
			return checked{policy: policy, errors: []config.Finding{{Code: "graph-not-read", Message: err.Error()}}}
		}
		tree.URL, tree.Builder = origin, wholeBuilder(files)
		out.tree, out.clusters = tree, tree.Clusters(policy.Clusters)
		findings = append(findings, out.findings(nil)...)
	}
	out.errors = errorsOf(findings)
	out.warnings = slices.DeleteFunc(findings, func(f config.Finding) bool { return f.Severity == config.Error })
	return out
}

func errorsOf(findings []config.Finding) (out []config.Finding) {
	for _, f := range findings {
		if f.Severity == config.Error {
			out = append(out, f)
		}
	}
	return out
}

// findings is what check finds of a valid file, with what was built.
func (c checked) findings(built []reach.Build) []config.Finding {
	in := config.CheckInput{At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), DefaultBranch: mainBranch, Paths: slices.Sorted(maps.Keys(c.files))}
	if bound := c.tree.Beyond(); bound != "" {
		in.Notes = append(in.Notes, config.Note{Level: config.LevelHold, Code: "graph-not-read", Message: bound})
	}
	g := reach.New(c.policy, c.clusters)
	in.Notes = append(in.Notes, g.Check(built, in.Paths)...)
	in.Notes = append(in.Notes, g.Problems(c.tree.Problems, built)...)
	return config.Check(c.policy.With(g), []byte(c.files[config.File]), in)
}

// wholeBuilder builds what package graph cannot read, as the commands do.
func wholeBuilder(files map[string]string) func(string, *graph.Kustomization, []string) ([]byte, error) {
	return func(dir string, adds *graph.Kustomization, read []string) ([]byte, error) {
		entry := build.NewWhole(dir, adds)
		h := sha256.New()
		fmt.Fprintf(h, "%+v\n", entry)
		for _, name := range read {
			fmt.Fprintf(h, "%q %q\n", name, files[name])
		}
		key := [sha256.Size]byte(h.Sum(nil))
		made, known := wholes[key]
		if !known {
			results, err := build.Run(context.Background(), []string{os.Args[0], asChild}, treeOf(files), read, []build.Entry{entry}, build.Limits{})
			if err != nil {
				return nil, err
			}
			made = results[0]
			if len(wholes) > mostWholes {
				clear(wholes)
			}
			wholes[key] = made
		}
		if made.Err != "" {
			return nil, errors.New(made.Err)
		}
		return made.Text, nil
	}
}

// mostWholes is how many builds are remembered: those of a tree and of its changes are mostly the same.
const mostWholes = 2000

var wholes = map[[sha256.Size]byte]build.Result{}

// asChild is the argument by which this test's binary is the child process that builds.
const asChild = "build"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == asChild {
		if err := build.Child(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// whole is the errors of check with what sluice itself builds, as the command has it. It takes a process: only trees that fail are built.
func (c checked) whole() []config.Finding {
	var out []reach.Build
	var asked []build.Entry
	for _, e := range reach.New(c.policy, c.clusters).Entries() {
		if !e.Guessed() && !e.Apart() && !strings.Contains(e.Path(), "${") {
			out, asked = append(out, reach.Build{Entry: e}), append(asked, build.NewEntry(e))
		}
	}
	results, err := build.Run(context.Background(), []string{os.Args[0], asChild}, treeOf(c.files), slices.Sorted(maps.Keys(c.files)), asked, build.Limits{})
	if err != nil {
		return []config.Finding{{Code: "builds", Message: err.Error()}}
	}
	for i, r := range results {
		out[i].Err, out[i].Remote = r.Err, r.Remote || out[i].Entry.Foreign()
		for _, o := range r.Objects {
			out[i].Objects = append(out[i].Objects, reach.Object(o))
		}
	}
	return errorsOf(c.findings(out))
}

func treeOf(files map[string]string) fstest.MapFS {
	out := make(fstest.MapFS, len(files))
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return out
}

// classify is what `sluice classify` says of a path in a tree, as long as it does not change.
func (c checked) classify() *layout.Layout {
	return c.policy.With(reach.New(c.policy, c.clusters)).Layout
}

// change is what `sluice classify --base --head` says of the only path in which a tree differs from another one.
func (c checked) change(head map[string]string, file string) (releases []layout.Release) {
	defer func() {
		if p := recover(); p != nil {
			releases = []layout.Release{layout.Release(fmt.Sprintf("PANIC: %v", p))}
		}
	}()
	tree, err := c.tree.Again(treeOf(head), []string{file})
	if err != nil {
		return []layout.Release{"not read"}
	}
	tree.URL, tree.Builder = c.tree.URL, wholeBuilder(head)
	clusters := tree.Clusters(c.policy.Clusters)
	if tree.Beyond() != "" {
		return []layout.Release{"not read whole"}
	}
	g := reach.New(c.policy, c.clusters, clusters)
	g.HoldChanged([]string{file})
	return c.policy.With(g).Layout.Classify(file).Releases
}
