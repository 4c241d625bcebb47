package main

import "github.com/spf13/cobra"

// commands lists every command, in the order in which help shows them to somebody who begins.
func commands(e *env) []*cobra.Command {
	return []*cobra.Command{
		newInitCommand(e),
		newWindowsCommand(e),
		newCheckCommand(e),
		newClassifyCommand(e),
		newGraphCommand(e),
		newPlanCommand(e),
		newHistoryCommand(e),
		newPromoteCommand(e),
		newOverrideCommand(e),
		newFreezeCommand(e),
		newWindowCommand(e),
		newSuspendCommand(e),
		newRenderCommand(e),
		newServeCommand(e),
		newBuildCommand(e),
		newReferencesCommand(e),
		newVersionCommand(e),
	}
}
