package forge

type rawBase struct {
	Name          string
	RefUpdateRule *struct {
		RequiredStatusCheckContexts  []string
		RequiredApprovingReviewCount int
		RequiresCodeOwnerReviews     bool
	}
	Target *struct {
		Typename      string `json:"__typename"`
		Oid           string
		CommittedDate commitDate
		File          *rawEntry
		Status        *rawStatus
		History       *connection[rawParent]       // of a source
		Recent        *connection[rawCommitChecks] // of a source, if asked for
	}
}

type rawParent struct {
	Oid             string
	CommittedDate   commitDate
	MessageHeadline string
	Parents         connection[struct{ Oid string }]
}

// rawRulesets is a branch with the rules that rulesets put on it. Of parameters only those of required checks are asked for.
type rawRulesets struct {
	Name  string
	Rules *connection[*struct {
		Type       string
		Parameters *struct {
			RequiredStatusChecks []struct{ Context string }
		}
	}]
}

type rawHistory struct {
	Oid     string
	History *connection[rawParent]
}

type rawCommitChecks struct {
	Oid                    string
	StatusCheckRollup      *rawRollup
	AssociatedPullRequests *connection[rawBecame]
}

type rawRollup struct {
	Contexts struct {
		connection[rawContext]
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
	Object *rawObject
}
