package forge

import (
	"time"

	"github.com/sluicegate/sluice/plan"
)

// What GitHub said, under the name of what it said it of.
var (
	keptPolicies     = kind[plan.SHA, rulesFile]{name: "policies"} // of bases, by blob
	keptFirstParents = kind[plan.SHA, firstParent]{name: "first parents"}
	keptAncestries   = kind[ancestryKey, ancestry]{name: "ancestries"}
	keptOldest       = kind[plan.SHA, plan.SHA]{name: "oldest"} // the oldest commit of a line that is known to descend from a tip
)

// What was made out of it, or when it was asked.
var (
	keptBranches = kind[struct{}, branchMemory]{name: "branches", note: true}
	keptRules    = kind[plan.Branch, rules]{name: "rules", note: true}
	keptBypasses = kind[int64, bypass]{name: "bypasses", note: true}         // by ruleset
	keptStrict   = kind[plan.Branch, time.Time]{name: "strict", note: true}  // bases that GitHub showed to be strict, and until when that counts
	keptDemands  = kind[plan.Branch, time.Time]{name: "demands", note: true} // windowed branches that GitHub showed to demand our status, and until when
	keptPast     = kind[plan.SHA, past]{name: "past", note: true}            // of the file, by a branch's tip
	keptTips     = kind[plan.Branch, tipMemory]{name: "tips", note: true}
	keptMade     = kind[plan.SHA, plan.SHA]{name: "made", note: true} // commits of our own merges, each with its first parent; "": that is not known
)
