package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/analysis"
	"github.com/sluicegate/sluice/flux/survey"
	"github.com/sluicegate/sluice/report"
)

const initHelp = `Looks at the repository in DIR (default: the current directory) and writes its first ` + config.File + `.

What it looks at: directories with -rw, -mw or -window in their names; the clusters, by FluxInstance, gotk-sync.yaml or the directories
below clusters/; what the Flux Kustomizations of each read; branches of this repository that they track; CronJobs that resume and suspend,
with the schedules that patches give them; and schedules of the Flux Operator. Each cluster is held by what was found for it alone. What init
could not understand stands in the file as comments.

The file says ` + "`mode: observe`" + `: statuses say what would be held, and nothing is held. It passes ` + "`sluice check`" + `; where none would, nothing is
written. With --flux what Flux reads decides, in place of paths. Nothing is fetched. A file that is there is not overwritten without --force. In a clone DIR is its root, where alone the file counts.

Exit codes: 0 fine; 1 nothing was written, because it would not pass, or because the tree has nothing of Flux; 2 the call or the directory is
unusable.`

// initCall is what somebody asks `sluice init`.
type initCall struct {
	dir, file   string
	force, json bool
	flux        bool
}

// newInitCommand makes `sluice init [DIR]`: the first file of a repository.
func newInitCommand(e *env) *cobra.Command {
	call := initCall{}
	cmd := &cobra.Command{
		Use:               "init [DIR]",
		Short:             "write the first " + config.File + " for a repository",
		Long:              initHelp,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeDir,
		RunE: func(cmd *cobra.Command, args []string) error {
			call.dir = dirOf(args)
			return e.init(cmd.Context(), call)
		},
	}
	cmd.Flags().StringVar(&call.file, "file", "", "write to this file, or - for standard output, instead of DIR/"+config.File)
	cmd.Flags().BoolVar(&call.force, "force", false, "overwrite a file that is there")
	cmd.Flags().BoolVar(&call.flux, "flux", false, "let what Flux reads decide (layout.flux), instead of rules by paths")
	cmd.Flags().BoolVar(&call.json, "json", false, "print JSON")
	return e.metered(cmd)
}

func (e *env) init(ctx context.Context, call initCall) error {
	if err := isDirectory(call.dir); err != nil {
		return err
	}
	target := filepath.Join(call.dir, filepath.FromSlash(config.File))
	if call.file != "" {
		target = call.file
	}
	_, err := os.Lstat(target)
	if below := belowRoot(call.dir); err != nil && call.file == "" && below != nil {
		return below
	}
	if err == nil && call.file != standardInput && !call.force {
		return fmt.Errorf("%s is there already; --force overwrites it", shown(target))
	}
	view, err := e.draft(ctx, call)
	if err != nil {
		return err
	}
	view.File = target
	if slices.ContainsFunc(view.Findings, config.Finding.IsError) {
		return e.refuse(view, call)
	}
	if call.file != standardInput {
		if err := writePolicy(call.dir, call.file, call.force, []byte(view.Text)); err != nil {
			return err
		}
	}
	return e.showInit(view, call)
}

// draft makes the first file of a repository, and says what the file means for its tree.
func (e *env) draft(ctx context.Context, call initCall) (report.Draft, error) {
	dir := call.dir
	tree := os.DirFS(dir)
	paths, err := analysis.List(ctx, tree)
	if err != nil {
		return report.Draft{}, err
	}
	run := e.reading(dir)
	read, err := run.Read(ctx, tree, nil)
	if err != nil {
		return report.Draft{}, err
	}
	draft, err := survey.New(read.Graph, paths, run.DefaultBranch, call.flux)
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return report.Draft{}, err
	}
	if slices.ContainsFunc(draft.Findings, config.Finding.IsError) {
		return report.DraftOf(draft, analysis.Inspection{}), nil
	}
	e.meter.Drop() // inspect reads the tree anew
	seen, err := e.inspect(ctx, dir, draft.Policy, draft.File)
	return report.DraftOf(draft, seen), err
}

// refuse says why no file is written: what init writes passes check.
func (e *env) refuse(v report.Draft, call initCall) error {
	if call.json {
		v.File, v.Text, v.Notes = "", "", []string{} // which are about the text
		if err := printJSON(e.stdout, v); err != nil {
			return err
		}
		return errNo
	}
	target := shown(v.File)
	if call.file == standardInput {
		target = "the file"
	}
	for _, f := range v.Findings {
		if f.IsError() {
			fmt.Fprintf(e.stderr, "%s: not written: %s (%s)\n", target, f.Message, f.Code)
		}
	}
	return errNo
}

// writePolicy writes the file of a repository, or one that a person named, whole or not at all. Within the repository no symbolic link is followed: a tree must
// not choose which of a person's files is written.
func writePolicy(dir, file string, force bool, data []byte) error {
	if file != "" {
		dir = filepath.Dir(file)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is lost
	if file != "" {
		return replace(root, filepath.Base(file), force, data)
	}
	github := path.Dir(config.File)
	if err := root.Mkdir(github, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := root.Lstat(github); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a directory", shown(filepath.Join(dir, github)))
	}
	return replace(root, config.File, force, data)
}

// drawnName is what [rand.Text] draws.
var drawnName = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// replace writes a file beside its place and moves it there. Without force a link makes the last step, which fails where something stands. Nobody who
// writes the tree can be in the way: the name beside is drawn. What a run left that was killed meanwhile goes.
func replace(root *os.Root, name string, force bool, data []byte) error {
	left, _ := fs.Glob(root.FS(), path.Join(path.Dir(name), "*"))
	for _, file := range left {
		if drawn, ours := strings.CutPrefix(file, name+"."); ours && drawnName.MatchString(drawn) {
			_ = root.Remove(file)
		}
	}
	beside := name + "." + rand.Text()
	f, err := root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer root.Remove(beside) //nolint:errcheck // it is gone where all went well
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if !force {
		return root.Link(beside, name)
	}
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", shown(name))
	}
	if err == nil {
		if err := root.Chmod(beside, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return root.Rename(beside, name)
}

func (e *env) showInit(v report.Draft, call initCall) error {
	if call.json {
		if call.file != standardInput {
			v.Text = ""
		}
		return printJSON(e.stdout, v)
	}
	out, target := e.stdout, shown(v.File)
	if call.file == standardInput {
		if _, err := e.stdout.Write([]byte(v.Text)); err != nil {
			return err
		}
		out, target = e.stderr, "the file, on standard output"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: written%s\n", target, counted(len(v.Notes), "; 1 thing to review is in it as a comment",
		"; %d things to review are in it as comments"))
	if len(v.Clusters) == 0 {
		fmt.Fprintf(&b, "no cluster found: list them under `clusters`\n")
	}
	for _, c := range v.Clusters {
		fmt.Fprintf(&b, "cluster %s: %s (%s)\n", c.Name, shown(c.Path), c.Found)
	}
	for _, f := range v.Findings {
		fmt.Fprintln(&b, findingLine(v.File, f))
	}
	if v.Tree != nil && v.Tree.Files > 0 {
		fmt.Fprintln(&b)
		if err := printTree(&b, v.Tree); err != nil {
			return err
		}
	}
	fmt.Fprint(&b, initNext)
	_, err := out.Write(b.Bytes())
	return err
}

const initNext = `
Next:
  1. review the file: the hours, and what is live
  2. sluice check             whenever you changed it
  3. commit it to the default branch
  4. install the App (docs/install.md); mode: observe holds nothing, mode: enforce does
  Without a service: sluice render suspend or flux prints manifests, sluice promote moves branches from CI
`
