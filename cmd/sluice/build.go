package main

import (
	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/flux/build"
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
