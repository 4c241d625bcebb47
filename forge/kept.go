package forge

import (
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// What GitHub said, under the name of what it said it of.
var (
	keptChanges   = look.Kind[changeKey, proposed]{Name: "changes"}
	keptDetails   = look.Kind[int, *rawPull]{Name: "details"}
	keptLists     = look.Kind[listKey, fileList]{Name: "lists"} // of files, with the old names of renames
	keptPaths     = look.Kind[plan.Branch, pathSet]{Name: "paths"}
	keptForks     = look.Kind[forkKey, fork]{Name: "forks"}
	keptHistories = look.Kind[ownKey, history]{Name: "histories"} // of own commits, where a page does not show them all
)

// What was made out of it, or when it was asked.
var (
	keptLook    = look.Kind[struct{}, lastLook]{Name: "look", Note: true}
	keptBots    = look.Kind[plan.Login, bot]{Name: "bots", Note: true} // of all repositories alike
	keptUnknown = look.Kind[int, unknown]{Name: "unknown", Note: true}
	keptPermits = look.Kind[permitKey, permit]{Name: "permits", Note: true}
	keptOver    = look.Kind[int, closureMemory]{Name: "over", Note: true}
)
