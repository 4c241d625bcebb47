package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/suspend"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/report"
)

const (
	// minEvery and maxEvery bound --every: more often is a burden on the API server, less often is no repair.
	minEvery = time.Second
	maxEvery = time.Hour
	// maxTargets bounds the Kustomizations of one call: a pass asks for each of them.
	maxTargets = 1000
)

const suspendHelp = `Sets spec.suspend of Flux Kustomizations to what their windows say now: for a cluster that holds its windows itself, without a service and
without GitHub. Once, or with --every again and again, and then also at the instant at which a window changes.

SuspendEvent means not releasable: the window is closed or frozen, or within its cutoff before the close. Several windows, WINDOW,WINDOW,
must all be releasable. The file is read anew at each pass. A file that cannot be read or is invalid, a window that it does not have, and
a clock more than 30 s off the API server's release nothing: what is named is suspended until they are fixed. With "mode: observe"
nothing is written.

The API server is that of the cluster in which this runs, else the one that KUBECONFIG names. It takes get and patch on kustomizations of
kustomize.toolkit.fluxcd.io; ` + "`sluice render suspend`" + ` writes the manifests. Where a manifest in Git sets suspend, Flux restores
that: remove it there.

Exit codes: 0 fine, or a signal ended --every; 1 a Kustomization is missing, forbidden or in conflict (the others are set); 2 the call,
the file, the clock or the API server is unusable.`

// suspendCall is what somebody asks `sluice suspend`.
type suspendCall struct {
	file, cluster string
	targets       []string
	every         time.Duration
	json          bool
}

// newSuspendCommand makes `sluice suspend`: windows that a cluster holds itself.
func newSuspendCommand(e *env) *cobra.Command {
	call := suspendCall{}
	cmd := &cobra.Command{
		Use:   "suspend --file F --cluster NAME --kustomization NAMESPACE/NAME=WINDOW...",
		Short: "in a cluster: suspend Flux Kustomizations while their windows are closed",
		Long:  suspendHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			targets, err := call.check(cmd.Flags().Changed("every"))
			if err != nil {
				return err
			}
			return e.suspend(cmd.Context(), call, targets)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&call.file, "file", "", "the file with the windows")
	flags.StringVar(&call.cluster, "cluster", "", "the cluster's name, which begins every line of output")
	flags.StringArrayVar(&call.targets, "kustomization", nil, "NAMESPACE/NAME=WINDOW: a Flux Kustomization and what holds it; repeatable")
	flags.DurationVar(&call.every, "every", 0, "repeat at least this often (default: run once)")
	flags.BoolVar(&call.json, "json", false, "print JSON, an object for each line")
	for _, name := range []string{"file", "cluster", "kustomization"} {
		_ = cmd.MarkFlagRequired(name) // the flag exists
	}
	_ = cmd.RegisterFlagCompletionFunc("kustomization", e.completeTarget) // likewise
	return cmd
}

// completeTarget gives a shell the names of the file's windows, after the equals sign.
func (e *env) completeTarget(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	object, begun, ok := strings.Cut(typed, "=")
	if !ok {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return e.completeWindow(cmd, object+"=", begun)
}

// check refuses what cannot be meant, before anything is asked or written.
func (c suspendCall) check(again bool) ([]suspend.Target, error) {
	switch {
	case c.file == "":
		return nil, errors.New("--file is empty")
	case c.file == standardInput && again:
		return nil, errors.New("--file -: with --every the file is read at every pass: give the name of a file")
	case c.cluster == "" || plan.Clean(c.cluster) != c.cluster:
		return nil, fmt.Errorf("--cluster %q is not a name", c.cluster)
	case again && (c.every < minEvery || c.every > maxEvery):
		return nil, fmt.Errorf("--every %s: want %s to %s", c.every, minEvery, maxEvery)
	case len(c.targets) > maxTargets:
		return nil, fmt.Errorf("--kustomization: given %d times; at most %d are allowed", len(c.targets), maxTargets)
	}
	var out []suspend.Target
	for _, text := range c.targets {
		t, err := suspend.ParseTarget(text)
		if err != nil {
			return nil, fmt.Errorf("--kustomization %w", err)
		}
		if slices.ContainsFunc(out, func(o suspend.Target) bool { return o.String() == t.String() }) {
			return nil, fmt.Errorf("--kustomization %s is given twice; several windows of one are %s=WINDOW,WINDOW", t, t)
		}
		out = append(out, t)
	}
	return out, nil
}

// errSuspend is the error of a pass that could not know or do what it should; the lines before it say what.
var errSuspend = errors.New("the file, the clock or the API server is unusable: see above")

// suspend passes once, or until the context ends.
func (e *env) suspend(ctx context.Context, call suspendCall, targets []suspend.Target) error {
	reach, err := suspend.InCluster()
	if err != nil {
		return err
	}
	api, err := suspend.Dial(reach)
	if err != nil {
		return err
	}
	loop := e.suspendLoop(call, targets, api)
	if call.every > 0 {
		loop.Run(ctx, call.every)
		return nil
	}
	switch out := loop.Pass(ctx); {
	case ctx.Err() != nil:
		return ctx.Err()
	case out.Unusable:
		return errSuspend
	case out.Refused:
		return errNo
	}
	return nil
}

// suspendLoop is a call as package suspend has it.
func (e *env) suspendLoop(call suspendCall, targets []suspend.Target, api suspend.API) *suspend.Loop {
	return &suspend.Loop{
		Cluster: call.cluster, Targets: targets, API: api, Now: e.now,
		Read: func(ctx context.Context) ([]byte, error) {
			data, _, err := e.readPolicyFile(ctx, ".", call.file)
			return data, err
		},
		Parse: func(data []byte) (*config.Policy, error) { return parsePolicy(call.file, data) },
		Say:   func(event suspend.Event) { e.saySuspend(event, call.json) },
	}
}

// saySuspend prints what became of one Kustomization; what could not be done goes to standard error.
func (e *env) saySuspend(event suspend.Event, asJSON bool) {
	switch {
	case asJSON:
		_ = json.NewEncoder(e.stdout).Encode(report.SuspendEvent{ // a pipe that is gone cannot be told
			At: report.Instant{Time: event.At}, Cluster: event.Cluster, Kustomization: event.Kustomization, Suspend: event.Suspend,
			Changed: event.Changed, Observed: event.Observed, Reason: event.Reason, Until: report.Instant{Time: event.Until}, Problem: string(event.Problem),
		})
	case event.Problem != "":
		fmt.Fprintln(e.stderr, event)
	default:
		fmt.Fprintln(e.stdout, event)
	}
}
