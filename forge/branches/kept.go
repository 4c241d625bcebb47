package branches

import (
	"time"

	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// What GitHub said, under the name of what it said it of.
var (
	keptPolicies     = look.Kind[plan.SHA, rulesFile]{Name: "policies"} // of bases, by blob
	keptFirstParents = look.Kind[plan.SHA, firstParent]{Name: "first parents"}
	keptAncestries   = look.Kind[ancestryKey, look.Ancestry]{Name: "ancestries"}
	keptOldest       = look.Kind[plan.SHA, plan.SHA]{Name: "oldest"} // the oldest commit of a line that is known to descend from a tip
)

// What was made out of it, or when it was asked.
var (
	keptBranches = look.Kind[struct{}, branchMemory]{Name: "branches", Note: true}
	keptRules    = look.Kind[plan.Branch, rules]{Name: "rules", Note: true}
	keptBypasses = look.Kind[int64, bypass]{Name: "bypasses", Note: true}         // by ruleset
	KeptStrict   = look.Kind[plan.Branch, time.Time]{Name: "strict", Note: true}  // bases that GitHub showed to be strict, and until when that counts
	keptDemands  = look.Kind[plan.Branch, time.Time]{Name: "demands", Note: true} // windowed branches that GitHub showed to demand our status, and until when
	keptPast     = look.Kind[plan.SHA, past]{Name: "past", Note: true}            // of the file, by a branch's tip
	keptTips     = look.Kind[plan.Branch, tipMemory]{Name: "tips", Note: true}
	KeptMade     = look.Kind[plan.SHA, plan.SHA]{Name: "made", Note: true} // commits of our own merges, each with its first parent; "": that is not known
)
