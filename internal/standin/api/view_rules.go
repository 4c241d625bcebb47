package api

import (
	"slices"
	"strings"

	"github.com/sluicegate/sluice/internal/standin"
)

// What rulesets put on a ref, whoever asks and whoever may bypass them; branch protection of old is not in it, see updateRule.
// https://docs.github.com/en/graphql/reference/objects#ref

// ruleNode is GraphQL's RepositoryRule, and its parameters.
type ruleNode struct {
	rule standin.Rule
	from standin.Rules
}

// ruleParameters are the types of parameters that the schema here knows, by REST's word for the rule.
var ruleParameters = map[string]string{
	"required_status_checks": "RequiredStatusChecksParameters", "update": "UpdateParameters",
}

// parameters is null for a rule that has none, or others than the schema here knows.
func (n *ruleNode) parameters() any {
	if ruleParameters[n.rule.Type] == "" {
		return nil
	}
	return n
}

// rules lists the rules of every ruleset that matches a branch, the latest first.
func (b *branchRef) rules(a arguments) (*connection, error) {
	words := schema.Types["RepositoryRuleType"].EnumValues
	list := rulesOn(b.repo.r, b.name)
	slices.Reverse(list)
	return cutAs("rules", a, list, func(n *ruleNode) *ruleNode {
		// The rules API lists types that GraphQL has no word for. What GitHub gives in their place is not documented; here it is
		// a node that is null.
		if words.ForName(strings.ToUpper(n.rule.Type)) == nil {
			return nil
		}
		return n
	})
}

// rulesOn are the rules of every ruleset that matches a branch, the oldest first.
func rulesOn(r *standin.Repo, branch string) (list []*ruleNode) {
	for _, set := range r.RulesOf(branch, standin.Actor{}) {
		if set.Classic {
			continue
		}
		for _, rule := range spelled(set) {
			list = append(list, &ruleNode{rule: rule, from: set})
		}
	}
	return list
}
