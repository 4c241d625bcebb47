package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/flux/revisions"
	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/report"
	"github.com/sluicegate/sluice/service"
	"github.com/sluicegate/sluice/store"
)

// newPlanCommand makes `sluice plan OWNER/REPO`: what the service would do, written nowhere.
func newPlanCommand(e *env) *cobra.Command {
	var at string
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
			s, err := readSettings(cmd.Flags(), "github.app_id", "github.private_key_file|github.private_key")
			if err != nil {
				return err
			}
			when, err := e.moment(at)
			if err != nil {
				return err
			}
			p, err := planFor(cmd.Context(), s, args[0], when, e.now().UTC())
			if err != nil {
				return err
			}
			if err := e.showPlan(p, asJSON); err != nil {
				return err
			}
			return answer(p.Stays())
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "decide as of this instant"+atUsage)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	addSettingFlags(cmd.Flags())
	return cmd
}

// planFor looks at a repository as the service would and decides. With an instant that is not now, freshness and the
// clock's skew say nothing, so the look counts as made at that instant.
func planFor(ctx context.Context, s service.Settings, name string, when moment, now time.Time) (report.Plan, error) {
	owner, repo, ok := strings.Cut(name, "/")
	if !ok || owner == "" || repo == "" || strings.Contains(repo, "/") {
		return report.Plan{}, fmt.Errorf("%q: want OWNER/REPO", name)
	}
	f, err := forge.New(s.Forge(slog.New(slog.DiscardHandler)))
	if err != nil {
		return report.Plan{}, err
	}
	if _, err := f.Self(ctx); err != nil {
		if e := (*client.Error)(nil); errors.As(err, &e) && e.Setup != "" {
			err = fmt.Errorf("%s (%w)", e.Setup, err)
		}
		return report.Plan{}, err
	}
	found, err := f.Repository(ctx, owner, repo)
	if err != nil {
		return report.Plan{}, err
	}
	r, err := store.OpenReader(ctx, s.Database)
	switch {
	case errors.Is(err, store.ErrAbsent): // there is nothing to remember, and heads count as seen for the first time
	case err != nil:
		return report.Plan{}, err
	default:
		defer func() { _ = r.Close() }() // nothing was written
	}
	snapshot, err := remembered(ctx, f, r, found, when, now)
	if err != nil {
		return report.Plan{}, err
	}
	if s.Trees, err = os.MkdirTemp("", "sluice-trees-"); err != nil {
		return report.Plan{}, err
	}
	defer func() { _ = os.RemoveAll(s.Trees) }() // nobody reads it any more
	snapshot = revisions.NewKeeper(s.References(f, slog.New(slog.DiscardHandler))).Answered(ctx, snapshot, now)
	return report.PlanOf(service.Decide(snapshot), snapshot), nil
}

// remembered is a repository as it is, with what the service remembers of it, if it is there.
func remembered(ctx context.Context, f *forge.Forge, r *store.Reader, repo plan.Repo, when moment, now time.Time) (plan.Snapshot, error) {
	recall := func(at time.Time) (store.Memory, error) {
		if r == nil {
			return store.Memory{}, nil
		}
		return r.Recall(ctx, repo, at)
	}
	asked := when.or(now)
	memory, err := recall(asked)
	if err != nil {
		return plan.Snapshot{}, err
	}
	snapshot, err := f.Observe(ctx, repo, forge.Ask{Groups: memory.Groups, Rules: true, Rulesets: true, Roster: memory.Roster})
	if err != nil {
		return plan.Snapshot{}, err
	}
	if snapshot.At, err = when.in(snapshot.Bases[snapshot.Default].Policy); err != nil {
		return plan.Snapshot{}, err
	}
	if !snapshot.At.Equal(asked) {
		if memory, err = recall(snapshot.At); err != nil {
			return plan.Snapshot{}, err
		}
	}
	memory.AddTo(&snapshot)
	if r == nil {
		return snapshot, nil
	}
	heads := make([]plan.SHA, len(snapshot.Pulls))
	for i, p := range snapshot.Pulls {
		heads[i] = p.Head
	}
	seen, err := r.FirstSeen(ctx, repo, heads)
	for i, p := range snapshot.Pulls {
		snapshot.Pulls[i].FirstSeen = seen[p.Head]
	}
	return snapshot, err
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
