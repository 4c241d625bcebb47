package standin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"
	"github.com/graph-gophers/graphql-go/ast"
)

// What rulesets put on a ref, whoever asks and whoever may bypass them; branch protection of old is not in it, see refUpdateRule.
// https://docs.github.com/en/graphql/reference/objects#ref
//
// Enterprise Servers older than rulesets have no such field.

// rulesField is the field in the schema's text.
const rulesField = "  rules(after: String, before: String, first: Int, last: Int," +
	" orderBy: RepositoryRuleOrder = {field:UPDATED_AT,direction:DESC}): RepositoryRuleConnection\n"

// ruleNode is GraphQL's RepositoryRule.
type ruleNode struct {
	set  int // its ruleset, in the order in which they were made
	rule Rule
	from Rules
}

// ID and the methods below are fields of the schema.
func (n *ruleNode) ID() graphql.ID {
	return graphql.ID(nodeID("RepositoryRule", fmt.Sprint(n.set, " ", n.rule.Type)))
}

// Type is REST's word in capitals.
func (n *ruleNode) Type() string { return strings.ToUpper(n.rule.Type) }

// Parameters is null for a rule that has none, or others than the schema here knows.
func (n *ruleNode) Parameters() *ruleParameters {
	switch n.rule.Type {
	case "merge_queue", "pull_request", "required_status_checks", "update":
		return &ruleParameters{n}
	}
	return nil
}

// Rules lists the rules of every ruleset that matches a branch.
func (b *branchRef) Rules(args struct {
	window
	OrderBy *struct{ Field, Direction string }
},
) (*connection[*ruleNode], error) {
	r := b.repo.r
	r.mu.Lock()
	sets := r.rulesOf(b.Name(), anybody)
	r.mu.Unlock()
	list := []*ruleNode{}
	for i, set := range sets {
		if set.Classic || b.Prefix() != "refs/heads/" {
			continue
		}
		for _, rule := range set.list() {
			list = append(list, &ruleNode{set: i + 1, rule: rule, from: set})
		}
	}
	if o := args.OrderBy; o != nil {
		if o.Field == "TYPE" {
			slices.SortStableFunc(list, func(a, b *ruleNode) int { return strings.Compare(a.rule.Type, b.rule.Type) })
		}
		if o.Direction == "DESC" {
			slices.Reverse(list)
		}
	}
	for i, n := range list {
		// The rules API lists types that GraphQL has no word for. What GitHub gives in their place is not told anywhere; here it is
		// a node that is null.
		if !b.repo.look.g.graphql.hasWord("RepositoryRuleType", n.Type()) {
			list[i] = nil
		}
	}
	return cut("rules", args.window, list)
}

// hasWord tells whether an enum of the schema has a word.
func (s *graphqlServer) hasWord(enum, word string) bool {
	e, ok := s.schema.AST().Types[enum].(*ast.EnumTypeDefinition)
	return ok && slices.ContainsFunc(e.EnumValuesDefinition, func(v *ast.EnumValueDefinition) bool { return v.EnumValue == word })
}

// ruleParameters is GraphQL's RuleParameters: of one rule the parameters that its type has.
type ruleParameters struct{ n *ruleNode }

type requiredStatusChecksParameters struct {
	DoNotEnforceOnCreate             bool
	RequiredStatusChecks             []*statusCheckConfiguration
	StrictRequiredStatusChecksPolicy bool
}

type statusCheckConfiguration struct {
	Context       string
	IntegrationID *int32
}

// ToRequiredStatusChecksParameters and those below tell which type the parameters are.
func (p *ruleParameters) ToRequiredStatusChecksParameters() (*requiredStatusChecksParameters, bool) {
	checks := []*statusCheckConfiguration{}
	for _, c := range p.n.from.Checks {
		one := &statusCheckConfiguration{Context: c.Context}
		if c.App != 0 {
			one.IntegrationID = databaseID(c.App)
		}
		checks = append(checks, one)
	}
	return &requiredStatusChecksParameters{
		RequiredStatusChecks: checks, StrictRequiredStatusChecksPolicy: p.n.from.Strict,
	}, p.n.rule.Type == "required_status_checks"
}

type pullRequestParameters struct {
	AllowedMergeMethods                                                                                        *[]string
	DismissStaleReviewsOnPush, RequireCodeOwnerReview, RequireLastPushApproval, RequiredReviewThreadResolution bool
	RequiredApprovingReviewCount                                                                               int32
}

func (p *ruleParameters) ToPullRequestParameters() (*pullRequestParameters, bool) {
	methods := []string{"merge", "squash", "rebase"}
	return &pullRequestParameters{
		AllowedMergeMethods: &methods, RequiredApprovingReviewCount: int32(p.n.from.Reviews), // a handful
	}, p.n.rule.Type == "pull_request"
}

type mergeQueueParameters struct {
	CheckResponseTimeoutMinutes, MaxEntriesToBuild, MaxEntriesToMerge int32
	MinEntriesToMerge, MinEntriesToMergeWaitMinutes                   int32
	GroupingStrategy, MergeMethod                                     string
}

func (p *ruleParameters) ToMergeQueueParameters() (*mergeQueueParameters, bool) {
	return &mergeQueueParameters{
		CheckResponseTimeoutMinutes: 60, MaxEntriesToBuild: 5, MaxEntriesToMerge: 5, MinEntriesToMerge: 1,
		MinEntriesToMergeWaitMinutes: 5, GroupingStrategy: "ALLGREEN", MergeMethod: "MERGE",
	}, p.n.rule.Type == "merge_queue"
}

type updateParameters struct{ UpdateAllowsFetchAndMerge bool }

func (p *ruleParameters) ToUpdateParameters() (*updateParameters, bool) {
	return &updateParameters{}, p.n.rule.Type == "update"
}
