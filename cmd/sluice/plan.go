package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/report"
	"github.com/sluicegate/sluice/service"
)

// newPlanCommand makes `sluice plan OWNER/REPO`: what the service would do, written nowhere.
func newPlanCommand(e *env) *cobra.Command {
	var at, server string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "plan OWNER/REPO",
		Short: "show what the service would do now, or at an instant; writes nothing",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("plan needs one repository: OWNER/REPO")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if server != "" {
				if at != "" {
					return errors.New("--at: the service knows what it decided at its last look; not with --server")
				}
				r, err := remoteOf(cmd, server, args[0])
				if err != nil {
					return err
				}
				return e.planAt(cmd.Context(), r, asJSON)
			}
			s, err := readSettings(cmd.Flags(), "github.app_id", "github.private_key_file|github.private_key")
			if err != nil {
				return err
			}
			when, err := e.moment(at)
			if err != nil {
				return err
			}
			owner, name, err := repoName(args[0])
			if err != nil {
				return err
			}
			snapshot, err := s.Observe(cmd.Context(), owner, name, e.now().UTC(), when.in)
			if err != nil {
				return err
			}
			p := report.PlanOf(service.Decide(snapshot), snapshot)
			if err := e.showPlan(p, asJSON); err != nil {
				return err
			}
			return answer(p.Stays())
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "decide as of this instant"+atUsage)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	addSettingFlags(cmd.Flags())
	addServer(cmd, &server)
	return cmd
}

func (e *env) showPlan(v report.Plan, asJSON bool) error {
	if asJSON {
		return printJSON(e.stdout, v)
	}
	for _, p := range v.Pulls {
		doing := ""
		if len(p.Actions) > 0 {
			doing = " → " + strings.Join(p.Actions, ", ")
		}
		fmt.Fprintf(e.stdout, "#%-5d %-8s %s%s\n", p.Number, p.Verdict, p.Text, doing)
	}
	if len(v.Pulls) == 0 {
		fmt.Fprintln(e.stdout, "no open pull request that sluice manages")
	}
	showBranches(e.stdout, v.Branches)
	for _, s := range append(v.Groups, v.Notes...) {
		fmt.Fprintf(e.stdout, "%s: %s\n", s.About, s.Says)
	}
	return sayWake(e.stdout, v.Wake)
}

// showBranches writes a line for each windowed branch: where it is, where it goes, and why.
func showBranches(w io.Writer, branches []report.Branch) {
	for _, b := range branches {
		where := "missing"
		if b.Old != nil {
			where = plan.SHA(*b.Old).Short()
		}
		if b.New != nil {
			where += " → " + plan.SHA(*b.New).Short()
		}
		fmt.Fprintf(w, "%s (%s) %s: %s\n", b.Name, where, b.Verdict, b.Text)
	}
}

func sayWake(w io.Writer, wake report.Instant) error {
	next := wake.UTC().Format("Mon 2 Jan 2006 15:04:05 MST")
	if wake.IsZero() {
		next = "none scheduled"
	}
	_, err := fmt.Fprintf(w, "next scheduled change: %s\n", next)
	return err
}
