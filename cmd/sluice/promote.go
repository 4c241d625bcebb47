package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/gitremote"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/promoter"
	"github.com/sluicegate/sluice/report"
)

const (
	// promoteFor bounds one pass: a server that says nothing more must not hold a job up for ever. What is read has a time of its own: see runTime.
	promoteFor = 10 * time.Minute
	// gitToken is the environment's name for the token that goes to a remote over https and http.
	gitToken = "SLUICE_GIT_TOKEN"
)

const promoteHelp = `One pass over the windowed branches of a repository, with git alone: for forges without an App, and for cron.

The rules are read from ` + config.File + ` at the tip of the default branch. Every branch whose window is open moves forward to the
newest commit of the branch that it follows; never backward, never by force, and only if it has not moved in the meantime. git alone
cannot read checks: a branch that requires them is blocked unless --ignore-checks is given.

--repo moves the branches of that repository itself, but none that is checked out in it or in a linked worktree.
--remote accepts https, http, ssh and file URLs, user@host:path, and directories. Credentials: ` + gitToken + ` in the environment, the
URL's own, or git's credential helpers; over ssh the agent's keys, for hosts in known_hosts. There are no prompts. git runs
outside the working directory, without SLUICE_* and GIT_* except GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM and GIT_CONFIG_NOSYSTEM. A directory
or file URL given to --remote runs the hooks of the repository there, as a push does; --repo runs git, but nothing of the
repository.
--timeout is for what is read; time in which a server or git is waited for does not count, but a pass ends after 10 minutes in all.
--at decides as of that instant. A branch moves only if its window is open both then and now.

Exit codes: 0 fine; 1 a branch is blocked (the others moved); 2 the call, the file or the repository is unusable.`

// promoteCall is what somebody asks `sluice promote`.
type promoteCall struct {
	repo, remote, at           string
	dryRun, ignoreChecks, json bool
}

// newPromoteCommand makes `sluice promote`: windowed branches with git alone.
func newPromoteCommand(e *env) *cobra.Command {
	call := promoteCall{}
	cmd := &cobra.Command{
		Use:   "promote",
		Short: "move windowed branches once, with git alone",
		Long:  promoteHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := call.check(cmd.Flags()); err != nil {
				return err
			}
			verdicts, err := e.promote(cmd.Context(), call)
			if err != nil {
				return err
			}
			return e.showPromoted(verdicts, call)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&call.repo, "repo", ".", "the repository whose branches are moved")
	flags.StringVar(&call.remote, "remote", "", "a remote whose branches are moved instead")
	flags.StringVar(&call.at, "at", "", "decide as of this instant"+atUsage+"; what is closed now stays where it is")
	flags.BoolVar(&call.dryRun, "dry-run", false, "move nothing")
	flags.BoolVar(&call.ignoreChecks, "ignore-checks", false, "treat every branch as if it required no checks")
	flags.BoolVar(&call.json, "json", false, "print JSON")
	return e.meteredIn(aloneMemory, cmd)
}

// check refuses what cannot be meant. An empty name is most likely a variable that was not set: the repository in the working
// directory is not what somebody wanted to move then.
func (c promoteCall) check(flags *pflag.FlagSet) error {
	switch {
	case flags.Changed("repo") && flags.Changed("remote"):
		return errors.New("--repo and --remote cannot be used together")
	case c.repo == "":
		return errors.New("--repo is empty")
	case c.remote == "" && flags.Changed("remote"):
		return errors.New("--remote is empty")
	}
	return nil
}

// gitSite is a repository as git alone shows it.
type gitSite interface {
	Overview(ctx context.Context, file string) (gitremote.Overview, error)
	Track(ctx context.Context, wanted []gitremote.Follower) ([]plan.WindowedBranch, map[plan.Branch]plan.Source, error)
	Move(ctx context.Context, p gitremote.Push) (map[plan.Branch]string, error)
	Close() error
}

// site opens what the call names.
func (c promoteCall) site(m *meter.Meter) (gitSite, error) {
	if c.remote == "" {
		return gitremote.OpenClone(m, c.repo)
	}
	token := os.Getenv(gitToken)
	if err := forgetEnvironment(); err != nil {
		return nil, err
	}
	return gitremote.Dial(gitremote.Options{URL: c.remote, Token: token, Meter: m})
}

// forgetEnvironment keeps of this process's environment what git may have: for a file URL go-git starts git's own programs
// with it, and they start hooks.
func forgetEnvironment() error {
	keep := gitremote.Environ()
	for _, entry := range os.Environ() {
		if slices.Contains(keep, entry) {
			continue
		}
		name, _, _ := strings.Cut(entry, "=")
		if err := os.Unsetenv(name); err != nil {
			return fmt.Errorf("unset %s: %w", name, err)
		}
	}
	return nil
}

// promote observes, decides, and moves what is due.
func (e *env) promote(ctx context.Context, call promoteCall) (verdicts []plan.BranchVerdict, err error) {
	when, err := e.moment(call.at)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, promoteFor)
	defer cancel()
	site, err := call.site(e.meter)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, site.Close()) }()
	now := e.now().UTC() // just before the first read
	s, err := observeGit(ctx, site, call)
	if err != nil {
		return nil, err
	}
	if s.At, err = when.in(s.Bases[s.Default].Policy); err != nil {
		return nil, err
	}
	wanted := promoter.Decide(s)
	if call.dryRun {
		return wanted.Branches, nil
	}
	s.At = now
	allowed := promoter.Decide(s)
	verdicts, moves := promoter.Both(wanted, allowed)
	resume := e.meter.Pause() // git, or a server, moves them
	if err := e.meter.Err(); err != nil {
		return nil, err
	}
	refused, err := site.Move(ctx, gitremote.Push{Moves: moves, Now: func() time.Time { return e.now().UTC() }})
	resume()
	if err != nil {
		return nil, err
	}
	return promoter.After(verdicts, moves, refused), nil
}

// observeGit reads the rules and how the branches that they name stand.
func observeGit(ctx context.Context, site gitSite, call promoteCall) (plan.Snapshot, error) {
	look, err := site.Overview(ctx, config.File)
	if err != nil {
		return plan.Snapshot{}, err
	}
	if look.File == "" {
		return plan.Snapshot{}, fmt.Errorf("%s has no %s: not managed by sluice", shown(string(look.Default)), config.File)
	}
	policy, err := parsePolicy(shown(string(look.Default))+":"+config.File, look.Data)
	if err != nil {
		return plan.Snapshot{}, err
	}
	if call.ignoreChecks {
		policy = promoter.WithoutChecks(policy)
	}
	wanted := make([]gitremote.Follower, 0, len(policy.Branches))
	for _, b := range policy.Branches {
		wanted = append(wanted, gitremote.Follower{Name: plan.Branch(b.Name), From: plan.Branch(b.From)})
	}
	branches, sources, err := site.Track(ctx, wanted)
	if err != nil {
		return plan.Snapshot{}, err
	}
	base := plan.Base{Tip: look.Tip, TipAt: look.TipAt, File: look.File, Policy: policy}
	s := plan.Snapshot{Default: look.Default, Bases: map[plan.Branch]plan.Base{look.Default: base}, Branches: branches, Sources: sources}
	s.Freeze(look.Frozen)
	return s, nil
}

// showPromoted prints the verdicts; the answer is no if a branch is blocked.
func (e *env) showPromoted(verdicts []plan.BranchVerdict, call promoteCall) error {
	v := report.Branches{Branches: report.BranchesOf(verdicts)}
	switch {
	case call.json:
		if err := printJSON(e.stdout, v); err != nil {
			return err
		}
	case len(v.Branches) == 0:
		fmt.Fprintln(e.stdout, config.File+" names no windowed branches")
	default:
		showBranches(e.stdout, v.Branches)
	}
	return answer(slices.ContainsFunc(v.Branches, func(b report.Branch) bool { return b.Verdict == plan.Blocked }))
}
