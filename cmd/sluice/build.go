package main

import (
	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/flux/build"
	"github.com/sluicegate/sluice/flux/revisions"
	"github.com/sluicegate/sluice/meter"
)

// newBuildCommand makes `sluice build`: the child process in which others build. Nobody calls it by hand.
func newBuildCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:    "build",
		Short:  "build what is sent on standard input; other commands start it",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return build.Child(e.stdin, e.child) },
	}
}

// newReferencesCommand makes `sluice references`: the child process in which the service has trees read. Who asks it bounds its time.
func newReferencesCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:    "references",
		Short:  "answer what is asked on standard input; the service starts it",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			frugal(runMemory)
			e.meter = meter.New(cmd.Context(), meter.Limits{meter.Time: -1})
			defer e.meter.Close()
			e.watch(runMemory)
			return revisions.Child(e.meter.Context(), e.meter, e.stdin, e.child, e.build)
		},
	}
}
