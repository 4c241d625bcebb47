package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/report"
)

// overrideCall is the flags of `sluice override`.
type overrideCall struct {
	branch string
	json   bool
}

const overrideLong = `Releases one pull request now although a window of it is closed, by writing the comment /sluice release SHA REASON on it, as anybody may by hand. It counts where
override in ` + config.File + ` names whoever writes it, for the head that SHA names and the time that the file gives; checks, reviews and conflicts stand.
With --branch it lets a windowed branch move to the commit SHA: written twice, as all commits up to it go along; the page lists them after the first.

Who asks is asked of GitHub by their own token: GH_TOKEN, or what ` + "`gh auth token`" + ` gives. The comment /sluice undo takes it back.

Exit codes: 0 the comment is written, and the service decides; 2 it is not.`

// newOverrideCommand makes `sluice override`.
func newOverrideCommand(e *env) *cobra.Command {
	var call overrideCall
	cmd := &cobra.Command{
		Use:   "override OWNER/REPO#N SHA REASON...",
		Short: "release one pull request, or move a branch, although its window is closed",
		Long:  overrideLong,
		Example: `  sluice override acme/fleet#468 3f2a9c1 "the shop is down, incident 4711"
  sluice override acme/fleet#468 8d01b7e --branch rw/cluster-1 "the shop is down"`,
		Args: cobra.MinimumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := readSettings(cmd.Flags())
			if err != nil {
				return err
			}
			return e.override(cmd.Context(), s.GitHubURL, call, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&call.branch, "branch", "", "the windowed branch that is to move to the commit")
	flags.BoolVar(&call.json, "json", false, "print JSON")
	addSetting(flags, "github.url")
	return cmd
}

// pullName is a pull request as people write it.
var pullName = regexp.MustCompile(`^([^/#\s]+)/([^/#\s]+)#([0-9]{1,9})$`)

func (e *env) override(ctx context.Context, github string, call overrideCall, args []string) error {
	m := pullName.FindStringSubmatch(args[0])
	if m == nil {
		return fmt.Errorf("%q: want OWNER/REPO#NUMBER", args[0])
	}
	order := plan.Order{Verb: plan.ToRelease, SHA: plan.SHA(strings.ToLower(args[1])), Branch: plan.Branch(call.branch), Reason: strings.Join(args[2:], " ")}
	switch read, is := plan.OrderOf(order.Line()); {
	case !is:
		return errors.New("want at least 7 digits of the commit, and a reason")
	case read != order:
		return fmt.Errorf("the reason would be read as %q: use one line, as it is to be shown", read.Reason)
	}
	site, err := personalSite(ctx, github)
	if err != nil {
		return err
	}
	pull, _ := strconv.Atoi(m[3]) // nine digits
	at, err := site.Comment(ctx, m[1], m[2], pull, order.Line())
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if call.json {
		return printJSON(e.stdout, report.Comment{PullRequest: pull, URL: at})
	}
	fmt.Fprintf(e.stdout, "written: %s\n", at)
	return nil
}
