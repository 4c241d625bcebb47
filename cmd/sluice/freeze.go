package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/person"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/report"
	"github.com/sluicegate/sluice/window"
)

// freezeCall is the flags of `sluice freeze`.
type freezeCall struct {
	reason, until, org string
	end, json          bool
}

const freezeLong = `Freezes repositories at once: while the branch ` + config.FreezeBranch + ` is there, nothing of its repository is merged, moved or green, live changes too, and what is green
for people is withdrawn. Nothing has to be merged for it, and no rule about other branches keeps it back. The branch's message has the reason, and when it ends.

Who asks is asked of GitHub by their own token: GH_TOKEN, or what ` + "`gh auth token`" + ` gives. Who may push may freeze. Without this command:

  git commit --allow-empty -m "database is down" && git push origin HEAD:refs/heads/` + config.FreezeBranch + `
  git push origin :refs/heads/` + config.FreezeBranch + `

Exit codes: 0 fine; 1 a repository could not be frozen, or its freeze not be ended: each is named, and the others are done; 2 the call is wrong.`

// newFreezeCommand makes `sluice freeze`.
func newFreezeCommand(e *env) *cobra.Command {
	var call freezeCall
	cmd := &cobra.Command{
		Use:   "freeze --now REASON [--until T] OWNER/REPO... | --end OWNER/REPO...",
		Short: "freeze a repository at once, or end that",
		Long:  freezeLong,
		Example: `  sluice freeze --now "database is down" acme/fleet
  sluice freeze --now "change stop" --until 2026-12-01T08:00+01:00 --org acme
  sluice freeze --end acme/fleet`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := readSettings(cmd.Flags())
			if err != nil {
				return err
			}
			return e.freeze(cmd.Context(), s.GitHubURL, call, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&call.reason, "now", "", "freeze, for this reason")
	flags.StringVar(&call.until, "until", "", "when the freeze ends: an instant like 2026-12-01T08:00+01:00, or without an offset in this machine's zone; else it stays until --end")
	flags.BoolVar(&call.end, "end", false, "end the freeze")
	flags.StringVar(&call.org, "org", "", "all repositories of this organization that have "+config.File)
	flags.BoolVar(&call.json, "json", false, "print JSON")
	addSetting(flags, "github.url")
	cmd.MarkFlagsOneRequired("now", "end")
	cmd.MarkFlagsMutuallyExclusive("now", "end")
	cmd.MarkFlagsMutuallyExclusive("until", "end")
	cmd.AddCommand(freezeEdits(e)...)
	return cmd
}

func (e *env) freeze(ctx context.Context, github string, call freezeCall, args []string) error {
	wanted := plan.Freeze{Reason: strings.TrimSpace(call.reason)}
	switch {
	case !call.end && wanted.Reason == "":
		return errors.New("--now: say why: people read it on every pull request")
	case (len(args) == 0) == (call.org == ""):
		return errors.New("want repositories, OWNER/REPO, or an organization by --org")
	}
	if call.until != "" {
		var err error
		if wanted.Until, err = e.localMoment(call.until); err != nil {
			return err
		}
	}
	site, err := personalSite(ctx, github)
	if err != nil {
		return err
	}
	if call.org != "" {
		names, err := site.Managed(ctx, call.org)
		if err != nil {
			return fmt.Errorf("list the repositories of %s: %w", call.org, err)
		}
		for _, name := range names {
			args = append(args, call.org+"/"+name)
		}
	}
	site.Waits = func(d time.Duration) {
		fmt.Fprintf(e.stderr, "sluice: GitHub takes no more for now; going on in %s\n", d.Round(time.Second))
	}
	view := report.Freezes{Repositories: []report.Freeze{}}
	for _, arg := range args {
		f := freezeOne(ctx, site, arg, wanted, call.end)
		if view.Repositories = append(view.Repositories, f); !call.json {
			e.showFreeze(f, call.end) // who waits for many sees each
		}
	}
	switch {
	case call.json:
		if err := printJSON(e.stdout, view); err != nil {
			return err
		}
	case len(args) == 0:
		fmt.Fprintf(e.stdout, "no repository of %s has %s\n", call.org, config.File)
	}
	return answer(view.Failed())
}

// freezeOne freezes a repository, or ends that.
func freezeOne(ctx context.Context, site *person.Site, name string, wanted plan.Freeze, ends bool) report.Freeze {
	owner, repo, ok := strings.Cut(name, "/")
	switch was, err := false, error(nil); {
	case !ok || owner == "" || repo == "" || strings.Contains(repo, "/"):
		return report.FreezeFailed(name, fmt.Errorf("%q: want OWNER/REPO", name))
	case ends:
		if was, err = site.End(ctx, owner, repo); err != nil {
			return report.FreezeFailed(name, err)
		}
		return report.Freeze{Repository: name, Ended: was}
	default:
		if err = site.Begin(ctx, owner, repo, wanted); err != nil {
			return report.FreezeFailed(name, err)
		}
	}
	return report.Freeze{Repository: name, Frozen: true, Until: report.Instant{Time: wanted.Until}}
}

// showFreeze prints what became of a repository.
func (e *env) showFreeze(f report.Freeze, ends bool) {
	switch {
	case f.Error != nil:
		fmt.Fprintf(e.stderr, "sluice: %s: %s\n", f.Repository, *f.Error)
	case f.Ended:
		fmt.Fprintf(e.stdout, "%s: no longer frozen\n", f.Repository)
	case ends:
		fmt.Fprintf(e.stdout, "%s: was not frozen\n", f.Repository)
	case f.Until.IsZero():
		fmt.Fprintf(e.stdout, "%s: frozen until sluice freeze --end %[1]s\n", f.Repository)
	default:
		fmt.Fprintf(e.stdout, "%s: frozen until %s\n", f.Repository, f.Until.Format(time.RFC3339))
	}
}

// localMoment is an instant to come, in this machine's zone where it says none.
func (e *env) localMoment(text string) (time.Time, error) {
	m, err := window.ParseMoment(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("--until %q: want 2026-12-01T08:00 in this machine's zone, or with an offset, like 2026-12-01T08:00+01:00", text)
	}
	at := m.In(time.Local)
	if !at.After(e.now()) {
		return time.Time{}, fmt.Errorf("--until %s is over", at.UTC().Format(time.RFC3339))
	}
	return at, nil
}
