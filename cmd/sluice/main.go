// Command sluice decides when a change may reach a cluster. See the README for what it is, and `sluice help` for what it does.
//
// Exit codes: 0 fine; 1 the answer is no; 2 the call, the file or the remote is unusable.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	jsonv2 "github.com/go-json-experiment/json" // which writes in pieces, as encoding/json does not
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/escape"
	"github.com/sluicegate/sluice/flux/build"
	"github.com/sluicegate/sluice/meter"
)

//go:generate go run notices_gen.go

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal asks; the second one finds the system's default, and kills
	e := &env{
		alone: true,
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, now: time.Now,
		colour: term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == "",
		cache:  buildCache(time.Now()),
	}
	if term.IsTerminal(int(os.Stderr.Fd())) && !asksJSON(os.Args[1:]) {
		e.bar = os.Stderr
	}
	code := run(ctx, e, os.Args[1:])
	e.cache.Close()
	stop()
	os.Exit(code)
}

// env is what the commands take from the process they run in.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	now            func() time.Time
	colour         bool         // stdout is a terminal and NO_COLOR is not set
	cache          *build.Cache // where builds are kept; nil: nowhere
	bar            io.Writer    // where progress is shown; nil: nowhere
	child          io.Writer    // stdout as it is: what a child process answers is no text
	meter          *meter.Meter // of the command that runs, if that reads a tree
	alone          bool         // the process does nothing else
}

// errNo is returned by a command whose answer is no: it has printed why.
var errNo = errors.New("no")

// answer is errNo where the answer is no.
func answer(no bool) error {
	if no {
		return errNo
	}
	return nil
}

// run runs one command and gives its exit code.
func run(ctx context.Context, process *env, args []string) (code int) {
	e, done := process.escaped(ctx)
	defer func() {
		if err := done(); err != nil && code == 0 {
			code = 2
		}
	}()
	root, out, errs := newRoot(e), e.stdout, e.stderr
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNo):
		return 1
	}
	if asksJSON(args) {
		_ = printUnusable(out, args, err) // stderr has it too
	}
	fmt.Fprintln(errs, "sluice: "+err.Error())
	return 2
}

// grace is how long a command that was asked to end waits for who reads its output.
const grace = 100 * time.Millisecond

// patient is a writer that waits for its reader, but not after its context is done: a pipe that nobody reads would hold up a signal for ever.
type patient struct {
	ctx  context.Context
	to   io.Writer
	gone bool // nobody reads it
}

func (w *patient) Write(p []byte) (int, error) {
	if w.gone {
		return 0, context.Cause(w.ctx)
	}
	done := make(chan error, 1)
	own := bytes.Clone(p) // nobody says when it is read
	go func() {
		_, err := w.to.Write(own)
		done <- err
	}()
	select {
	case err := <-done:
		return len(p), err
	case <-w.ctx.Done():
	}
	select {
	case err := <-done:
		return len(p), err
	case <-time.After(grace):
		w.gone = true
		return 0, context.Cause(w.ctx)
	}
}

// escaped is what a command prints through: nothing of it is obeyed by a terminal, or by a CI that keeps the log. The function that comes with it
// prints the last line where that has no end.
func (e *env) escaped(ctx context.Context) (*env, func() error) {
	var keep []string
	if e.colour {
		keep = colours()
	}
	out, errs, escaped := escape.NewWriter(&patient{ctx: ctx, to: e.stdout}, keep...), escape.NewWriter(&patient{ctx: ctx, to: e.stderr}), *e
	escaped.stdout, escaped.stderr, escaped.child = out, errs, e.stdout
	if e.bar != nil {
		now, cancel := context.WithCancel(ctx)
		cancel() // nothing waits for who looks at progress, not even before a signal
		escaped.bar = &patient{ctx: now, to: e.bar}
	}
	return &escaped, func() error { return errors.Join(out.Close(), errs.Close()) }
}

// asksJSON reports whether a call asks for JSON, whatever else is wrong with it.
func asksJSON(args []string) bool {
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:           "sluice",
		Short:         "sluice decides when a change may reach a cluster",
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(root *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q; %s", args[0], meant(args[0], names(root.Commands()), "`sluice help` lists them"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(commands(e)...)
	return root
}

// names are the names of commands.
func names(commands []*cobra.Command) []string {
	var out []string
	for _, c := range commands {
		out = append(out, c.Name())
	}
	return out
}

// flagError adds to the error of an unknown flag which one was meant.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	if args := cmd.Flags().Args(); !cmd.HasParent() && len(args) > 0 {
		return cmd.ValidateArgs(args) // the flag is one of a command that was mistyped
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) })
	// -file is read as -f -i -l -e: what was meant stands in the group.
	word := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName())
	return fmt.Errorf("%w; %s", err, meant("--"+word, flags, "`"+cmd.CommandPath()+" --help` lists them"))
}

// meant asks for the known word that was meant, or says otherwise if none is near.
func meant(word string, known []string, otherwise string) string {
	if near := config.Nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return otherwise
}

// printJSON writes v as people and programs like it: indented, with a final line break, and < and & as they are; in pieces, as there may be a hundred megabytes.
func printJSON(w io.Writer, v any) error {
	to := jsontext.NewEncoder(w, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.WithIndent("  "))
	return jsonv2.MarshalEncode(to, v)
}
