package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/analysis"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/report"
)

// codeUnusable is the code of the finding that a call cannot be done. docs/spec lists it with those of other packages.
const codeUnusable = "unusable"

// newCheckCommand makes `sluice check [DIR]`: what is wrong with a repository's file.
func newCheckCommand(e *env) *cobra.Command {
	var file string
	var asJSON, verbose bool
	cmd := &cobra.Command{
		Use:   "check [DIR]",
		Short: "validate " + config.File + " against the tree of DIR (default: the current directory)",
		Long: "Says what is wrong with " + config.File + ", and with flux: true with what Flux reads, then how many files get which release.\n\n" +
			"Exit codes: 0 there are no errors; 1 there are; 2 the call, the file or DIR is unusable.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := dirOf(args)
			data, file, err := e.readPolicyFile(cmd.Context(), dir, file)
			if err != nil {
				return err
			}
			policy, findings := config.Parse(data)
			seen, err := e.inspect(cmd.Context(), dir, policy, data)
			if err != nil {
				return err
			}
			v := report.CheckOf(findings, seen)
			if err := e.showCheck(v, file, asJSON); err != nil {
				return err
			}
			if verbose {
				for _, r := range e.meter.Readings() {
					fmt.Fprintln(e.stderr, "took "+r.String())
				}
			}
			return answer(!v.OK)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", fileUsage+", instead of DIR/"+config.File)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "say on stderr how near the tree is to each bound")
	return e.metered(cmd)
}

// inspect looks at what a file means for a directory at this time; policy is nil where it is not valid. A bound that is met is a finding; a caller who gave up gets none.
func (e *env) inspect(ctx context.Context, dir string, policy *config.Policy, data []byte) (analysis.Inspection, error) {
	if policy != nil {
		policy, _ = e.within(policy, nil)
	}
	seen := e.reading(dir).Inspect(ctx, analysis.Surroundings{
		Policy: policy, Data: data, Tree: os.DirFS(dir), At: e.now().UTC(),
		Proposed: func(ctx context.Context) (analysis.Impact, error) { return e.proposed(ctx, dir, policy) },
	})
	var bound *meter.Error
	if err := context.Cause(ctx); err != nil && !errors.As(err, &bound) {
		return analysis.Inspection{}, err
	}
	return seen, nil
}

func (e *env) showCheck(v report.Check, file string, asJSON bool) error {
	if asJSON {
		return printJSON(e.stdout, v)
	}
	for _, f := range v.Findings {
		fmt.Fprintln(e.stdout, findingLine(file, f))
	}
	if v.OK {
		fmt.Fprintf(e.stdout, "%s: ok%s\n", shown(file), counted(len(v.Findings), ", 1 warning", ", %d warnings"))
	}
	if v.Tree == nil || v.Tree.Files == 0 {
		return nil
	}
	if v.Tree.Graph != nil {
		printCoverage(e.stdout, v.Tree.Graph)
	}
	return printTree(e.stdout, v.Tree)
}

// printTree shows what the tree gets: a line for each release, with the number of files and one of them.
func printTree(w io.Writer, t *report.Tree) error {
	rows := table{{" files", "release", "for example"}}
	for _, s := range t.Shares {
		example := shown(s.Example)
		if s.Reason != "" {
			example += ": " + s.Reason
		}
		rows.row(fmt.Sprintf("%6d", s.Files), s.String(), example)
	}
	return rows.print(w)
}

// printCoverage shows how the clusters were found, and where the graph ends.
func printCoverage(w io.Writer, v *report.Coverage) {
	if len(v.Clusters)+v.Unreached > 0 {
		fmt.Fprintln(w)
	}
	for _, c := range v.Clusters {
		branch := ""
		if c.Branch != "" {
			branch = " at " + shown(c.Branch)
		}
		fmt.Fprintf(w, "cluster %s: %s%s (%s)\n", shown(c.Name), shown(c.Path), branch, shown(c.Found))
	}
	if v.Unreached > 0 {
		fmt.Fprintf(w, "nothing reads %s%s: preset and unmatched decide\n", shown(v.Example), counted(v.Unreached-1, " and 1 more file", " and %d more files"))
	}
	for i, leaf := range v.Leaves {
		if i == maxLeaves {
			fmt.Fprintf(w, "and %d more that are not in this tree\n", len(v.Leaves)-i)
			break
		}
		fmt.Fprintf(w, "not in this tree: %s\n", shown(leaf))
	}
}

// maxLeaves is how many ends of the graph are shown to people.
const maxLeaves = 20

// counted puts a number into words; nothing for none.
func counted(n int, one, many string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return one
	}
	return fmt.Sprintf(many, n)
}

// findingLine is a finding as compilers print one, so that editors can jump to it.
func findingLine(file string, f config.Finding) string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s: %s (%s)", shown(file), f.Severity, f.Message, f.Code)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s (%s)", shown(file), f.Line, f.Column, f.Severity, f.Message, f.Code)
}

// printUnusable prints the JSON of a call that exits with 2. check always prints its findings, whatever is wrong.
func printUnusable(w io.Writer, args []string, err error) error {
	if len(args) == 0 || args[0] != "check" {
		return printJSON(w, report.Failure{Error: err.Error()})
	}
	code := codeUnusable
	if errors.Is(err, fs.ErrNotExist) {
		code = config.CodeMissingFile
	}
	return printJSON(w, report.Check{Findings: []config.Finding{{Severity: config.Error, Code: code, Message: err.Error()}}})
}

// standardInput is what --file takes for it, and wordStandardInput what findings call it.
const (
	standardInput     = "-"
	wordStandardInput = "standard input"
	fileUsage         = "another file, or - for standard input"
)

// dirOf is the directory that a command is given; none: the current one.
func dirOf(args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	return "."
}

// completeDir gives a shell directories.
func completeDir(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// readPolicyFile reads the file of a repository's directory, or another one if it is named, no further than Parse needs to
// see that it is too large. It gives the name of what it read.
func (e *env) readPolicyFile(ctx context.Context, dir, file string) ([]byte, string, error) {
	if err := isDirectory(dir); err != nil {
		return nil, file, err
	}
	named := file != ""
	switch file {
	case standardInput:
		data, err := readUnlessDone(ctx, e.stdin, wordStandardInput)
		return data, wordStandardInput, err
	case "":
		file = filepath.Join(dir, filepath.FromSlash(config.File))
		// Of a link git keeps the link: on GitHub there is nothing else to read.
		if above, err := os.Lstat(filepath.Dir(file)); err == nil && !above.IsDir() {
			return nil, file, fmt.Errorf("%s is not a directory", filepath.Dir(file))
		}
		if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
			return nil, file, fmt.Errorf("%s is not a regular file", file)
		}
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil, file, fmt.Errorf("%w; %w", err, cmp.Or(belowRoot(dir), errNoFile))
	}
	if err != nil {
		return nil, file, err
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := readPolicy(f, file)
	return data, file, err
}

// isDirectory is nil for a directory.
func isDirectory(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", dir)
	}
	return err
}

var errNoFile = errors.New("`sluice init` writes a first one")

// errBelowRoot says that a directory lies in a repository and is not its root. What is read and written counts at the root alone.
var errBelowRoot = errors.New("is not the root of its repository")

// belowRoot is errBelowRoot with the root, or nil.
func belowRoot(dir string) error {
	own, _ := filepath.Abs(dir) // without a working directory nothing is above it
	for at := own; ; at = filepath.Dir(at) {
		_, err := os.Lstat(filepath.Join(at, ".git"))
		switch {
		case at == own && err == nil, err != nil && at == filepath.Dir(at):
			return nil
		case err == nil:
			return fmt.Errorf("%s %w, which is %s", shown(dir), errBelowRoot, shown(at))
		}
	}
}

// readUnlessDone is readPolicy of what may have nobody at its other end. What still reads when the context ends goes with the process.
func readUnlessDone(ctx context.Context, r io.Reader, name string) ([]byte, error) {
	read := make(chan struct{})
	var got []byte
	var failed error
	go func() {
		defer close(read)
		got, failed = readPolicy(r, name)
	}()
	select {
	case <-read:
		return got, failed
	case <-ctx.Done():
		return nil, fmt.Errorf("read %s: %w", name, ctx.Err())
	}
}

func readPolicy(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, config.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}

// shown is a path as a terminal may see it: whoever names files in a repository must not move the cursor of who looks at it.
func shown(path string) string {
	odd := func(c rune) bool { return c != ' ' && !unicode.IsPrint(c) }
	if utf8.ValidString(path) && !strings.ContainsFunc(path, odd) {
		return path
	}
	return strconv.Quote(path)
}
