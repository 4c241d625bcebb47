package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/report"
	"github.com/sluicegate/sluice/window"
)

// defaultDays is how many days people see if they do not say; maxDays is how far a calendar looks.
const (
	defaultDays = 14
	maxDays     = int(window.Horizon / (24 * time.Hour))
)

// windowsCall is what somebody asks `sluice windows`.
type windowsCall struct {
	file string
	at   string
	days int
	name window.Name // "": all of them
}

// newWindowsCommand makes `sluice windows`: when each window is open.
func newWindowsCommand(e *env) *cobra.Command {
	var call windowsCall
	var asJSON bool
	var server string
	cmd := &cobra.Command{
		Use:   "windows [NAME] | --server URL OWNER/REPO [NAME]",
		Short: "show whether each window, or one, is open, until when, and the coming days",
		Args: func(cmd *cobra.Command, args []string) error {
			if server != "" {
				return cobra.RangeArgs(1, 2)(cmd, args)
			}
			return cobra.MaximumNArgs(1)(cmd, args)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return e.completeWindow(cmd, "", typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if server != "" {
				r, err := remoteOf(cmd, server, args[0])
				if err != nil {
					return err
				}
				call.name = window.Name(strings.Join(args[1:], ""))
				return e.windowsAt(cmd.Context(), r, call, asJSON)
			}
			if len(args) == 1 {
				call.name = window.Name(args[0])
			}
			q, err := e.windows(cmd.Context(), call)
			if err != nil {
				return err
			}
			if asJSON {
				v, err := report.WindowsOf(e.meter, q.calendar, q.names, q.at, q.days)
				if err != nil {
					return err
				}
				return printJSON(e.stdout, v)
			}
			drawn := drawWindows(e.meter, q, e.colour)
			if err := e.meter.Err(); err != nil {
				return err // a part was drawn
			}
			_, err = e.stdout.Write(drawn)
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&call.file, "file", "", fileUsage+", instead of "+config.File)
	flags.StringVar(&call.at, "at", "", "the instant"+atUsage)
	flags.IntVar(&call.days, "days", defaultDays, "how many days to show")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	addServer(cmd, &server)
	return e.meteredIn(aloneMemory, cmd)
}

// completeWindow gives a shell the names of the file's windows that begin with what was typed, after what stands before it.
func (e *env) completeWindow(cmd *cobra.Command, before, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	file, err := cmd.Flags().GetString("file")
	if err != nil || file == standardInput { // what is typed next must not wait for a file
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	policy, err := e.loadPolicy(cmd.Context(), ".", file)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, n := range policy.Calendar.Names() {
		if strings.HasPrefix(string(n), typed) {
			out = append(out, cobra.CompletionWithDesc(before+string(n), shown(policy.Calendar.Description(n))))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// windowsQuestion is a call, understood.
type windowsQuestion struct {
	calendar *window.Calendar
	names    []window.Name // in the file's order
	at       time.Time
	days     int
	all      bool // names are all that the file has
}

func (e *env) windows(ctx context.Context, call windowsCall) (windowsQuestion, error) {
	when, err := e.moment(call.at)
	if err != nil {
		return windowsQuestion{}, err
	}
	if call.days < 1 || call.days > maxDays {
		return windowsQuestion{}, fmt.Errorf("--days %d: want 1 to %d", call.days, maxDays)
	}
	data, file, err := e.readPolicyFile(ctx, ".", call.file)
	if err != nil {
		return windowsQuestion{}, err
	}
	policy, findings := config.Parse(data)
	if policy == nil {
		return windowsQuestion{}, invalid(file, findings)
	}
	at, err := when.in(policy)
	if err != nil {
		return windowsQuestion{}, err
	}
	q := windowsQuestion{calendar: policy.Calendar, names: policy.Calendar.Names(), at: at, days: call.days, all: call.name == ""}
	if !q.all {
		if !slices.Contains(q.names, call.name) {
			return windowsQuestion{}, unknownWindow(call.name, file, q.names)
		}
		q.names = []window.Name{call.name}
	}
	return q, nil
}

// unknownWindow is the error of a name that the file does not have.
func unknownWindow(name window.Name, file string, names []window.Name) error {
	known, has := config.Strings(names), "it has none"
	if len(known) > 0 {
		has = "it has " + strings.Join(known, ", ")
	}
	return fmt.Errorf("%s has no window %q; %s", shown(file), name, meant(string(name), known, has))
}

// invalid is the error of a broken file: each error of it on a line, with its place.
func invalid(file string, findings []config.Finding) error { return unfit(file, "is", findings) }

// unfit is the error of a file that is, or would be, invalid.
func unfit(file, is string, findings []config.Finding) error {
	var lines strings.Builder
	wrong := 0
	for _, f := range findings {
		if f.IsError() {
			wrong++
			lines.WriteString("\n" + findingLine(file, f))
		}
	}
	return fmt.Errorf("%s %s invalid: %s%s", shown(file), is, counted(wrong, "1 error", "%d errors"), lines.String())
}
