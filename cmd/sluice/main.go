// Command sluice decides when a change may reach a cluster. See the README for what it is, and `sluice help` for what it does.
//
// Exit codes: 0 fine; 1 the answer is no; 2 the call, the file or the remote is unusable.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

//go:generate go run notices_gen.go

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal asks; the second one finds the system's default, and kills
	e := &env{
		stdout: os.Stdout, stderr: os.Stderr, now: time.Now,
		colour: term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == "",
	}
	code := run(ctx, e, os.Args[1:])
	stop()
	os.Exit(code)
}

// env is what the commands take from the process they run in.
type env struct {
	stdout, stderr io.Writer
	now            func() time.Time
	colour         bool // stdout is a terminal and NO_COLOR is not set
}

// errNo is returned by a command whose answer is no: it has printed why.
var errNo = errors.New("no")

// run runs one command and gives its exit code.
func run(ctx context.Context, e *env, args []string) int {
	root := newRoot(e)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNo):
		return 1
	}
	if slices.Contains(args, "--json") || slices.Contains(args, "--json=true") {
		_ = printJSON(e.stdout, unusable(args, err)) // stderr has it too
	}
	fmt.Fprintln(e.stderr, "sluice: "+err.Error())
	return 2
}

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:           "sluice",
		Short:         "sluice decides when a change may reach a cluster",
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q; `sluice help` lists them", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(commands(e)...)
	return root
}

// version is what the build knows of itself.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	out := []string{info.Main.Version}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			out = append(out, s.Value)
		}
	}
	return strings.Join(append(out, info.GoVersion), " ")
}

// printJSON writes v as people and programs like it: indented, with a final line break, and < and & as they are.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// instant reads --at, RFC 3339 with an offset; "" is now.
func (e *env) instant(at string) (time.Time, error) {
	if at == "" {
		return e.now().UTC(), nil
	}
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return time.Time{}, fmt.Errorf("--at %q: want RFC 3339 with an offset, like 2026-11-23T08:00:00+01:00", at)
	}
	return t.UTC(), nil
}

// jsonTime is an instant in JSON: RFC 3339 in UTC, null if there is none.
type jsonTime struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t jsonTime) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(t.UTC().Format(time.RFC3339))
}
