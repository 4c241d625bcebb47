package branches

import "github.com/sluicegate/sluice/forge/look"

// RawBase is a branch as a query shows it.
type RawBase struct {
	Name          string
	RefUpdateRule *struct {
		RequiredStatusCheckContexts   []string
		RequiredApprovingReviewCount  int
		RequiresCodeOwnerReviews      bool
		ViewerAllowedToDismissReviews bool
	}
	Target *struct {
		Typename      string `json:"__typename"`
		Oid           string
		CommittedDate look.CommitDate
		File          *rawEntry
		Status        *look.RawStatus
		History       *look.Connection[rawParent]       // of a source
		Recent        *look.Connection[rawCommitChecks] // of a source, if asked for
	}
}

type rawParent struct {
	Oid             string
	CommittedDate   look.CommitDate
	MessageHeadline string
	Parents         look.Connection[struct{ Oid string }]
}

// rawRulesets is a branch with the rules that rulesets put on it. Of parameters only those of required checks are asked for.
type rawRulesets struct {
	Name  string
	Rules *look.Connection[*struct {
		Type       string
		Parameters *struct {
			RequiredStatusChecks []struct{ Context string }
		}
	}]
}

type rawHistory struct {
	Oid     string
	History *look.Connection[rawParent]
}

type rawCommitChecks struct {
	Oid                    string
	StatusCheckRollup      *rawRollup
	AssociatedPullRequests *look.Connection[rawBecame]
}

type rawRollup struct {
	Contexts struct {
		look.Connection[look.RawContext]
		CheckRunCount      int
		StatusContextCount int
	}
}

// rawBecame is a pull request that a commit is said to come from.
type rawBecame struct {
	Number            int
	Merged            bool
	BaseRefName       string
	HeadRefOid        string
	MergeCommit       *struct{ Oid string }
	StatusCheckRollup *rawRollup
}

type rawEntry struct {
	Oid    string
	Type   string
	Mode   int
	Object *look.RawObject
}
