package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/analysis"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/report"
)

// classifyCall is what somebody asks `sluice classify`.
type classifyCall struct {
	file       string
	base, head string
	repo       string
	at         string
	paths      []string
}

// newClassifyCommand makes `sluice classify`: where paths belong, and whether they may change.
func newClassifyCommand(e *env) *cobra.Command {
	var call classifyCall
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "classify [PATH...]",
		Short: "show what each path needs to be released, and whether all of them may be released now",
		Long: "Shows which releases each path needs and by which rule, then whether all of them may be released. A directory\n" +
			"stands for its files. Give paths, or --base and --head for what changed between two revisions, as a pull request would.\n\n" +
			"What windowed branches hold may be released; the answer says which branch takes it. The branches of the rules\n" +
			"count as if they stood on the default branch, those that follow the branch BASE, or the clone's default branch\n" +
			"if BASE is a commit or there are only paths. If that is not known either, they count whatever they follow.\n\n" +
			"Exit codes: 0 nothing holds it; 1 something is held, waits or is blocked; 2 the call, the file or the repository is unusable.",
		RunE: func(cmd *cobra.Command, args []string) error {
			call.paths = args
			v, err := e.classify(cmd.Context(), call)
			if err != nil {
				return err
			}
			if err := e.showClassify(cmd.Context(), v, asJSON); err != nil {
				return err
			}
			return answer(v.Stays())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&call.file, "file", "", fileUsage+" (default: "+config.File+" at BASE, or of the working tree for paths)")
	flags.StringVar(&call.base, "base", "", "the revision that a change goes into")
	flags.StringVar(&call.head, "head", "", "the revision that holds the change")
	flags.StringVar(&call.repo, "repo", ".", "the repository's directory")
	flags.StringVar(&call.at, "at", "", "decide as of this instant"+atUsage)
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return e.metered(cmd)
}

// classify finds the rules and the changes, and asks the gate.
func (e *env) classify(ctx context.Context, call classifyCall) (report.Classification, error) {
	when, err := e.moment(call.at)
	if err != nil {
		return report.Classification{}, err
	}
	if err := call.check(); err != nil {
		return report.Classification{}, err
	}
	change, impact, err := e.readChange(ctx, call)
	if err != nil {
		return report.Classification{}, err
	}
	at, err := when.in(impact.Policy)
	if err != nil {
		return report.Classification{}, err
	}
	change.Policy = impact.Served
	served := gate.Paths(change, at)
	change.Policy = impact.Policy
	verdict := gate.Paths(change, at)
	v, err := report.ClassificationOf(e.meter, change, verdict)
	if err != nil {
		return report.Classification{}, err
	}
	v.Findings = impact.Warnings(verdict, served)
	for _, f := range v.Findings {
		fmt.Fprintf(e.stderr, "%s: %s (%s)\n", f.Severity, shown(f.Message), f.Code)
	}
	return v, nil
}

// check refuses what cannot be meant.
func (c classifyCall) check() error {
	revisions := c.base != "" || c.head != ""
	switch {
	case revisions && len(c.paths) > 0:
		return errors.New("paths cannot be combined with --base and --head")
	case revisions && (c.base == "" || c.head == ""):
		return errors.New("--base and --head must be given together")
	case !revisions && len(c.paths) == 0:
		return errors.New("nothing to classify; give paths, or --base and --head")
	case slices.Contains(c.paths, ""):
		return errors.New("a path is empty")
	}
	return nil
}

// readChange reads a change and the rules that count for it, and what it means by the references of the trees around it.
func (e *env) readChange(ctx context.Context, c classifyCall) (change gate.Change, impact analysis.Impact, err error) {
	if c.base != "" {
		return e.readRevisions(ctx, c)
	}
	policy, err := e.loadPolicy(ctx, c.repo, c.file)
	if err != nil {
		return change, impact, err
	}
	run := e.reading(c.repo)
	change.Base = plan.Branch(run.DefaultBranch)
	if err := e.meter.Err(); err != nil {
		return change, impact, err
	}
	for _, path := range c.paths {
		files, err := filesOf(ctx, c.repo, path)
		if err != nil {
			return change, impact, err
		}
		for _, file := range files {
			change.Files = append(change.Files, plan.File{Path: file, Kind: plan.Modified})
		}
	}
	if !policy.Flux && c.file != "" { // a tree whose own the rules are not says nothing of its branches
		return change, analysis.Impact{Policy: policy, Served: policy}, nil
	}
	impact, err = run.Refer(ctx, policy, os.DirFS(c.repo), change.Files)
	return change, impact, err
}

// filesOf is a path of the repository in a directory as git has it; of a directory there, its files.
func filesOf(ctx context.Context, dir, name string) ([]string, error) {
	clean := path.Clean(filepath.ToSlash(name))
	if path.IsAbs(clean) || filepath.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../") {
		return nil, fmt.Errorf("%s is outside of the repository; paths begin at its root", shown(name))
	}
	at := filepath.Join(dir, filepath.FromSlash(clean))
	if info, err := os.Lstat(at); err != nil || !info.IsDir() {
		return []string{clean}, nil // also if it is not there yet
	}
	files, err := analysis.List(ctx, os.DirFS(at))
	for i := range files {
		files[i] = path.Join(clean, files[i])
	}
	return files, err
}

// loadPolicy reads rules from the disk.
func (e *env) loadPolicy(ctx context.Context, dir, file string) (*config.Policy, error) {
	data, file, err := e.readPolicyFile(ctx, dir, file)
	if err != nil {
		return nil, err
	}
	return e.within(parsePolicy(file, data))
}

// parsePolicy gives the rules, or the first thing that is wrong with them.
func parsePolicy(name string, data []byte) (*config.Policy, error) {
	policy, findings := config.Parse(data)
	if policy != nil {
		return policy, nil
	}
	wrong := slices.DeleteFunc(findings, func(f config.Finding) bool { return !f.IsError() })
	more := counted(len(wrong)-1, "; and 1 more error, see sluice check", "; and %d more errors, see sluice check")
	return nil, errors.New(findingLine(name, wrong[0]) + more)
}

func (e *env) showClassify(ctx context.Context, v report.Classification, asJSON bool) error {
	if asJSON {
		return printJSON(e.stdout, v)
	}
	if err := showPaths(untilEnd{ctx, e.stdout}, v.Paths); err != nil {
		return err
	}
	_, err := fmt.Fprintf(e.stdout, "\n%s\n", shown(wordVerdict(v.Verdict, v.Text)))
	return err
}

// wordVerdict is a verdict with its reason, where that does not begin with it.
func wordVerdict(kind plan.Kind, reason string) string {
	if strings.HasPrefix(reason, string(kind)) {
		return reason
	}
	return string(kind) + ": " + reason
}

// untilEnd is printed to as long as a context lasts: there may be a hundred thousand lines.
type untilEnd struct {
	ctx context.Context
	io.Writer
}

func (u untilEnd) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Writer.Write(p)
}

// showPaths prints a path a line with what it needs and the rule that says so.
func showPaths(w io.Writer, paths []report.Path) error {
	var rows table
	for _, p := range paths {
		needs := "ignored"
		if len(p.Releases) > 0 {
			needs = strings.Join(config.Strings(p.Releases), ", ")
		}
		rows.row(shown(p.Path), shown(needs), shown(p.Rule))
	}
	return rows.print(w)
}
