package main

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/service"
)

// newServeCommand makes `sluice serve`: the service, until it is told to stop.
func newServeCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "run the service",
		Long:  "Runs the service. Settings are flags, SLUICE_… in the environment, or --settings FILE; see docs/install.md.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := readSettings(cmd.Flags(), "github.app_id", "github.private_key_file|github.private_key",
				"github.webhook_secret_file|github.webhook_secret")
			if err != nil {
				return err
			}
			return e.serve(cmd.Context(), s)
		},
	}
	addSettingFlags(cmd.Flags())
	return cmd
}

// garbagePercent is how much the heap may grow, in percent of what is in use, before garbage is collected; GOGC in the environment goes
// first. Less than Go's 100 keeps the peak of 5,000 events at once below 80 MiB, for some more CPU time.
const garbagePercent = 30

// memoryTimes is how many times what is remembered the process may have before garbage is collected without pause; GOMEMLIMIT in the
// environment goes first. The rest is for what looks read: 400 MiB stays below the 512 MiB of deploy/kubernetes/sluice.yaml.
const memoryTimes = 2

func (e *env) serve(ctx context.Context, s service.Settings) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(memoryTimes * s.Memory))
	}
	log := s.Logger(e.stderr)
	slog.SetDefault(log) // for libraries
	for _, w := range s.Warnings {
		log.Warn(w)
	}
	v, err := service.New(ctx, s, log)
	if err != nil {
		return err
	}
	if w := exposedFile(s.Database); w != "" { // the store has mended what it could
		log.Warn("setting database: " + w)
	}
	return v.Run(ctx)
}
