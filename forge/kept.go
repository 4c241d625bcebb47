package forge

import "github.com/sluicegate/sluice/plan"

// What GitHub said, under the name of what it said it of.
var (
	keptChanges   = kind[plan.SHA, proposed]{name: "changes"} // by head
	keptDetails   = kind[int, *rawPull]{name: "details"}
	keptLists     = kind[listKey, fileList]{name: "lists"} // of files, with the old names of renames
	keptPaths     = kind[plan.Branch, pathSet]{name: "paths"}
	keptForks     = kind[forkKey, fork]{name: "forks"}
	keptHistories = kind[ownKey, history]{name: "histories"} // of own commits, where a page does not show them all
)

// What was made out of it, or when it was asked.
var (
	keptLook    = kind[struct{}, lastLook]{name: "look", note: true}
	keptBots    = kind[plan.Login, bot]{name: "bots", note: true} // of all repositories alike
	keptUnknown = kind[int, unknown]{name: "unknown", note: true}
	keptOver    = kind[int, closureMemory]{name: "over", note: true}
)
