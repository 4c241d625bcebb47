package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/config/edit"
	"github.com/sluicegate/sluice/flux/analysis"
	"github.com/sluicegate/sluice/report"
)

const editLong = `Every line of the file that is not the entry's own stays as it is, with comments, order and style. A file that would not be valid is not written. At the end stands what
changes in time: which openings of the next 90 days come, go or move.

With --file - the file is read from standard input and written to standard output, all else to standard error.

Exit codes: 0 the file is as it should be, or would be with --dry-run; 2 it is not, and nothing was written.`

// editCall is what somebody asks of the rules file.
type editCall struct {
	file         string
	dryRun, json bool
}

// newWindowCommand makes `sluice window set` and `remove`.
func newWindowCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{Use: "window", Short: "set or remove a window of " + config.File, Long: "Sets or removes a window of " + config.File + ".\n\n" + editLong}
	set := e.editCommand("set NAME", "set fields of a window, or make it", edit.Windows, func(flags *pflag.FlagSet, src []byte, entry edit.Entry) ([]byte, error) {
		fields, err := windowFields(flags, src, entry)
		if err != nil {
			return nil, err
		}
		return edit.Set(src, entry, fields, false)
	})
	set.Long = "Sets the fields of a window that flags name; the others stay. An empty text takes a field away: --close \"\". A window that is not there is made.\n\n" + editLong
	set.Example = `  sluice window set nights --open "0 22 * * MON-THU" --duration 4h
  sluice window set nights --add-date 2026-12-05T22:00/2026-12-06T02:00 --dry-run`
	flags := set.Flags()
	flags.String("description", "", "what it is for")
	flags.String("open", "", "when it opens: five-field cron on the wall clock")
	flags.String("close", "", "when it closes: likewise")
	flags.String("duration", "", "for how long it is open, such as 4h; in place of --close")
	flags.String("nth", "", "only the month's second such weekday: 2; the first and the last: 1,-1")
	flags.StringArray("date", nil, "an opening of its own, FROM/UNTIL, such as 2026-12-05T22:00/2026-12-06T02:00; all of them, each with a flag of its own")
	flags.StringArray("add-date", nil, "one such opening more")
	flags.String("timezone", "", "IANA Area/City, where it is not the file's")
	flags.String("cutoff", "", "releases nothing in the last part of an opening, such as 10m")
	set.MarkFlagsMutuallyExclusive("date", "add-date")
	cmd.AddCommand(set, e.editCommand("remove NAME", "remove a window", edit.Windows, func(_ *pflag.FlagSet, src []byte, entry edit.Entry) ([]byte, error) { return edit.Remove(src, entry) }))
	return cmd
}

// freezeEdits makes `sluice freeze add` and `remove`.
func freezeEdits(e *env) []*cobra.Command {
	add := e.editCommand("add NAME", "add a freeze to "+config.File, edit.Freezes, func(flags *pflag.FlagSet, src []byte, entry edit.Entry) ([]byte, error) {
		if was, err := edit.Get(src, entry); err != nil || was != nil {
			return nil, errors.Join(err, fmt.Errorf("there is a freeze %q already; sluice freeze remove %[1]s takes it away", entry.Name))
		}
		fields := textFields(flags, "from", "until", "timezone", "reason")
		if flags.Changed("windows") {
			list, _ := flags.GetStringSlice("windows")
			fields["windows"] = listOf(list, func(s string) any { return s })
		}
		return edit.Set(src, entry, fields, true)
	})
	add.Example = `  sluice freeze add year-end --from 2026-12-19T00:00 --until 2027-01-04T08:00 --reason "Nobody is in the office"`
	flags := add.Flags()
	flags.String("from", "", "when it begins: 2026-12-19T00:00 in the file's zone, or with an offset")
	flags.String("until", "", "when it ends")
	flags.String("timezone", "", "IANA Area/City, where it is not the file's")
	flags.StringSlice("windows", nil, "the windows that it closes, live among them (default: every window)")
	flags.String("reason", "", "why")
	return []*cobra.Command{add, e.editCommand("remove NAME", "remove a freeze from "+config.File, edit.Freezes,
		func(_ *pflag.FlagSet, src []byte, entry edit.Entry) ([]byte, error) { return edit.Remove(src, entry) })}
}

// editCommand is a command that makes of a file another one.
func (e *env) editCommand(use, short string, section edit.Section, change func(*pflag.FlagSet, []byte, edit.Entry) ([]byte, error)) *cobra.Command {
	var call editCall
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1),
		Long: strings.ToUpper(short[:1]) + short[1:] + ".\n\n" + editLong,
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.edit(cmd.Context(), call, func(src []byte) ([]byte, error) {
				return change(cmd.Flags(), src, edit.Entry{Section: section, Name: args[0]})
			})
		},
	}
	cmd.Flags().StringVar(&call.file, "file", "", fileUsage+", instead of "+config.File)
	cmd.Flags().BoolVar(&call.dryRun, "dry-run", false, "show what would be written, and write nothing")
	cmd.Flags().BoolVar(&call.json, "json", false, "print JSON")
	return cmd
}

// edit edits the file that a call names.
func (e *env) edit(ctx context.Context, call editCall, change func([]byte) ([]byte, error)) error {
	src, name, err := e.readPolicyFile(ctx, ".", call.file)
	if err != nil {
		return err
	}
	out, err := change(src)
	var wrong *edit.Invalid
	switch {
	case errors.As(err, &wrong) && wrong.Before:
		return invalid(name, wrong.Findings)
	case errors.As(err, &wrong):
		return fmt.Errorf("nothing was written: %w", unfit(name, "would be", wrong.Findings))
	case err != nil:
		return fmt.Errorf("%s: %w", shown(name), err)
	}
	in := config.CheckInput{At: e.now().UTC()}
	if p, _ := config.Parse(out); p != nil && p.Layout.Captures() {
		in.Paths, in.Missed = analysis.List(ctx, os.DirFS("."))
	}
	v := report.EditOf(name, src, out, in)
	if slices.ContainsFunc(v.Findings, config.Finding.IsError) {
		return fmt.Errorf("nothing was written: %w", unfit(name, "would be", v.Findings))
	}
	if v.Changed && !call.dryRun && call.file != standardInput {
		if again, _, err := e.readPolicyFile(ctx, ".", call.file); err != nil || !bytes.Equal(again, src) {
			return errors.Join(err, fmt.Errorf("%s was changed meanwhile; nothing was written", shown(name)))
		}
		if err := writePolicy(".", call.file, true, out); err != nil {
			return err
		}
		v.Written = true
	}
	return e.showEdit(v, call)
}

func (e *env) showEdit(v report.Edit, call editCall) error {
	if call.json {
		return printJSON(e.stdout, v)
	}
	to := e.stdout
	if call.file == standardInput {
		if !call.dryRun {
			if _, err := e.stdout.Write([]byte(v.Text)); err != nil {
				return err
			}
		}
		to = e.stderr
	}
	var b bytes.Buffer
	switch {
	case !v.Changed:
		fmt.Fprintf(&b, "%s: nothing to change\n", shown(v.File))
	case v.Written:
		fmt.Fprintf(&b, "%s: written\n", shown(v.File))
	default:
		fmt.Fprint(&b, v.Diff)
	}
	for _, f := range v.Findings {
		fmt.Fprintln(&b, findingLine(v.File, f))
	}
	if v.Changed {
		fmt.Fprintln(&b, v.Time.Says)
		rows := table{}
		for _, s := range v.Time.Steps() {
			rows.row("  "+shown(s.About), s.Says)
		}
		if err := rows.print(&b); err != nil {
			return err
		}
	}
	_, err := to.Write(b.Bytes())
	return err
}

// textFields is the texts that flags give; an empty one takes its field away.
func textFields(flags *pflag.FlagSet, names ...string) edit.Fields {
	fields := edit.Fields{}
	for _, name := range names {
		if !flags.Changed(name) {
			continue
		}
		fields[name] = nil
		if text, _ := flags.GetString(name); text != "" {
			fields[name] = text
		}
	}
	return fields
}

// windowFields is what flags say of a window.
func windowFields(flags *pflag.FlagSet, src []byte, entry edit.Entry) (edit.Fields, error) {
	fields := textFields(flags, "description", "open", "close", "duration", "timezone", "cutoff")
	if flags.Changed("nth") {
		text, _ := flags.GetString("nth")
		fields["nth"] = nil
		if text != "" {
			fields["nth"] = listOf(strings.Split(text, ","), func(s string) any {
				if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil {
					return json.Number(strconv.Itoa(n))
				}
				return s
			})
		}
	}
	dates, _ := flags.GetStringArray("date")
	more, _ := flags.GetStringArray("add-date")
	var all []any
	if len(more) > 0 {
		was, err := edit.Get(src, entry)
		if err != nil {
			return nil, err
		}
		all, _ = was["dates"].([]any)
	}
	for _, text := range append(dates, more...) {
		from, until, ok := strings.Cut(text, "/")
		if !ok {
			return nil, fmt.Errorf("%q: want FROM/UNTIL, such as 2026-12-05T22:00/2026-12-06T02:00", text)
		}
		all = append(all, map[string]any{"from": from, "until": until})
	}
	switch {
	case len(all) > 0:
		fields["dates"] = all
	case flags.Changed("date"):
		fields["dates"] = nil
	}
	if len(fields) == 0 {
		return nil, errors.New("nothing to set: name a field, such as --open")
	}
	return fields, nil
}

func listOf(all []string, of func(string) any) []any {
	out := make([]any, 0, len(all))
	for _, s := range all {
		out = append(out, of(s))
	}
	return out
}
