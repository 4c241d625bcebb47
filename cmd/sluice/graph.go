package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/analysis"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/report"
)

const graphHelp = `Shows what Flux reads of the repository in DIR (default: the current directory): the clusters and how each was found, the entry points of each
(its root and its Flux Kustomizations) with the path and source of each, how many files they read, and the files that nobody reads.

With --path it shows who reads a file, or each file of a directory, and why: from the file to the kustomization.yaml that names it, and on to
the entry point. What changes an entry point without being read by it (its definition, its source, values, charts) is shown, too.

The release of a file is what the rules of ` + config.File + ` say, and with flux: true, where they say nothing, the graph. What the graph says by
entrypoints and branches stands beside it where that is something else.

Nothing is fetched. Clusters that ` + config.File + ` names count; otherwise they are looked for.

Exit codes: 0 fine; 2 the call, the file or DIR is unusable.`

// graphCall is what somebody asks `sluice graph`.
type graphCall struct {
	dir, file string
	paths     []string
	json, dot bool
}

// newGraphCommand makes `sluice graph [DIR]`: who reads what, and why.
func newGraphCommand(e *env) *cobra.Command {
	call := graphCall{}
	cmd := &cobra.Command{
		Use:               "graph [DIR]",
		Short:             "show which files Flux reads in each cluster, and why",
		Long:              graphHelp,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeDir,
		RunE: func(cmd *cobra.Command, args []string) error {
			call.dir = dirOf(args)
			return e.graph(cmd.Context(), call)
		},
	}
	cmd.Flags().StringVar(&call.file, "file", "", fileUsage+", instead of DIR/"+config.File)
	cmd.Flags().StringArrayVar(&call.paths, "path", nil, "who reads this file or directory of DIR, and why; may be given several times")
	cmd.Flags().BoolVar(&call.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&call.dot, "dot", false, "print the graph for Graphviz; with --path, what is about these paths")
	return e.metered(cmd)
}

// graph reads a tree and shows what was asked.
func (e *env) graph(ctx context.Context, call graphCall) error {
	if call.json && call.dot {
		return errors.New("--json and --dot cannot be combined")
	}
	tree, err := e.trace(ctx, call)
	if err != nil {
		return err
	}
	about, err := asked(tree, call.paths)
	if err != nil {
		return err
	}
	v, err := tree.Graph(e.meter, about)
	switch {
	case errors.Is(err, report.ErrManyRows):
		return fmt.Errorf("--path: more than %d lines; name fewer files", report.MaxGraphRows)
	case err != nil:
		return err
	case call.dot:
		return dotGraph(e.meter, e.stdout, tree, v)
	case call.json:
		return printJSON(e.stdout, v)
	}
	return printGraph(e.stdout, v)
}

// trace reads a tree and its file.
func (e *env) trace(ctx context.Context, call graphCall) (report.References, error) {
	if err := isDirectory(call.dir); err != nil {
		return report.References{}, err
	}
	var roots []graph.Root
	policy, err := e.loadPolicy(ctx, call.dir, call.file)
	switch {
	case err == nil:
		roots = policy.Clusters
	case errors.Is(err, errBelowRoot):
		return report.References{}, belowRoot(call.dir)
	case call.file != "" || !errors.Is(err, fs.ErrNotExist):
		return report.References{}, err
	}
	tree := os.DirFS(call.dir)
	files, err := analysis.List(ctx, tree)
	if err != nil {
		return report.References{}, fmt.Errorf("read %s: %w", call.dir, err)
	}
	read, err := e.reading(call.dir).Read(ctx, tree, roots)
	if err != nil {
		return report.References{}, fmt.Errorf("read %s: %w", call.dir, err)
	}
	return report.NewReferences(policy, files, read.Clusters, read.Graph.Problems), nil
}

// asked is the files that are meant: a directory stands for all that is in it.
func asked(tree report.References, paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		if p == "" {
			return nil, errors.New("--path: it is empty")
		}
		files := tree.Within(path.Clean(filepath.ToSlash(p)))
		if len(files) == 0 {
			return nil, fmt.Errorf("--path %s: there is no such file in the repository; paths begin at DIR", shown(p))
		}
		out = append(out, files...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
