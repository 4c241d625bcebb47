package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/report"
)

// newVersionCommand makes `sluice version`: what to name when something is wrong.
func newVersionCommand(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "print the version, the commit that it was built from, and the version of Go",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := built(debug.ReadBuildInfo())
			if asJSON {
				return printJSON(e.stdout, v)
			}
			commit := "unknown"
			if v.Commit != nil {
				commit = *v.Commit
			}
			_, err := fmt.Fprintf(e.stdout, "version  %s\ncommit   %s\ngo       %s\n", v.Version, commit, v.Go)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// built is what the build knows of itself.
func built(info *debug.BuildInfo, ok bool) report.Version {
	if !ok {
		return report.Version{Version: "unknown", Go: runtime.Version()}
	}
	v := report.Version{Version: cmp.Or(info.Main.Version, "unknown"), Go: info.GoVersion}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Commit = &s.Value
		}
	}
	return v
}

// version is the build on one line, for --version and the metrics.
func version() string {
	v := built(debug.ReadBuildInfo())
	out := []string{v.Version}
	if v.Commit != nil {
		out = append(out, *v.Commit)
	}
	return strings.Join(append(out, v.Go), " ")
}
