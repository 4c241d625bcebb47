package standin

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// What rulesets put on a ref, whoever asks and whoever may bypass them; branch protection of old is not in it, see updateRule.
// https://docs.github.com/en/graphql/reference/objects#ref
// ruleNode is GraphQL's RepositoryRule, and its parameters.
type ruleNode struct {
	rule Rule
	from Rules
}

// ruleParameters are the types of parameters that the schema here knows, by REST's word for the rule.
var ruleParameters = map[string]string{
	"merge_queue": "MergeQueueParameters", "pull_request": "PullRequestParameters",
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
	r := b.repo.r
	branch, isBranch := b.branch()
	r.mu.Lock()
	sets := r.rulesOf(branch, anybody)
	r.mu.Unlock()
	list := []*ruleNode{}
	for _, set := range sets {
		if set.Classic || !isBranch {
			continue
		}
		for _, rule := range set.list() {
			list = append(list, &ruleNode{rule: rule, from: set})
		}
	}
	slices.Reverse(list)
	for i, n := range list {
		// The rules API lists types that GraphQL has no word for. What GitHub gives in their place is not documented; here it is
		// a node that is null.
		if !b.repo.view.g.graphql.hasWord("RepositoryRuleType", strings.ToUpper(n.rule.Type)) {
			list[i] = nil
		}
	}
	return cut("rules", a, list)
}

// hasWord reports whether an enum of the schema has a word.
func (s *graphqlServer) hasWord(enum, word string) bool {
	return slices.ContainsFunc(s.schema.Types[enum].EnumValues, func(v *ast.EnumValueDefinition) bool { return v.Name == word })
}
