package branches

import (
	"context"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// Rulesets may demand our status as classic protection does, but only a branch's own list of rules shows them, and GitHub takes a
// point for each hundred lists. So they are asked for by the query that asks for the tips, but seldom, and remembered by time. A
// branch that is not there has no list: there GitHub's refusal tells.
//
// Whether our App may bypass a ruleset cannot be seen. To take it for bound costs a status that was not needed; to take it for free
// costs a refused move. So what cannot be read changes nothing, and takes back nothing that was read before.

const (
	// rulesPage is how many rules of a branch are read; GitHub's own bound. Who has more learns the rest by a refusal.
	rulesPage = 100
	// rulesetsApart is how few lists of rules are given up when GitHub finds them too heavy. More are asked for in halves.
	rulesetsApart = 250
)

// rulesetState is what is remembered of a branch's rulesets.
type rulesetState struct {
	demands bool      // they require our status
	open    bool      // all of them were read, and none requires it
	there   bool      // the branch was there at the last look
	until   time.Time // when they are read anew
}

// rulesetAnswer is what one answer says of a branch's rulesets.
type rulesetAnswer struct{ demands, whole bool }

// rulesAreDue reports whether the rulesets of a branch are to be read: they never were, or long ago.
func (l *Reader) rulesAreDue(name plan.Branch) bool {
	r, known := l.before.rulesets[name]
	return !known || r.there && !l.Began.Before(r.until)
}

// rulesDue are those of some branches whose rulesets are to be read and were not read by this look, as many as fit into one query.
func (l *Reader) rulesDue(names []string) []string {
	var due []string
	for _, name := range names {
		if _, read := l.seen.rulesets[plan.Branch(name)]; !read && len(due) < maxTips && l.rulesAreDue(plan.Branch(name)) {
			due = append(due, name)
		}
	}
	return due
}

// keepRulesets keeps what an answer says of a branch's rulesets. Fail closed: what it does not show may demand our status.
func (l *Reader) keepRulesets(name plan.Branch, raw *rawRulesets) {
	if raw == nil || plan.Branch(raw.Name) != name || raw.Rules == nil || raw.Rules.Nodes == nil {
		l.seen.rulesets[name] = rulesetAnswer{}
		return
	}
	state := rulesetAnswer{whole: !raw.Rules.PageInfo.HasNextPage}
	for _, r := range raw.Rules.Nodes {
		switch {
		case r == nil:
			state.whole = false
		case r.Type != typeRequiredChecks:
		case r.Parameters == nil || r.Parameters.RequiredStatusChecks == nil:
			state.whole = false
		default:
			for _, c := range r.Parameters.RequiredStatusChecks {
				state.demands = state.demands || unlocks(name, c.Context)
			}
		}
	}
	l.seen.rulesets[name] = state
}

// typeRequiredChecks is a rule that requires checks in GraphQL's words.
const typeRequiredChecks = "REQUIRED_STATUS_CHECKS"

// unlocks reports whether a context that a branch's rules require is ours. GitHub folds the case.
func unlocks(name plan.Branch, context string) bool {
	return plan.Context(context).Is(plan.PromoteContextFor(name))
}

// addRulesets puts together what is known of every branch's rulesets. What could not be read is not asked for again before the rest.
func (t *tracker) addRulesets(context.Context) error {
	t.next.rulesets = make(map[plan.Branch]rulesetState, len(t.entries))
	for _, e := range t.entries {
		name := plan.Branch(e.Name)
		r, state := t.before.rulesets[name], t.seen.rulesets[name]
		r.demands = state.demands || r.demands && !state.whole
		if state.whole {
			r.open = !state.demands
		}
		switch r.there = t.seen.tips[name] != nil; {
		case !r.there:
			r.until = time.Time{} // read as soon as it is there
		case t.rulesAreDue(name):
			r.until = t.Began.Add(t.RulesTTL)
		}
		t.next.rulesets[name] = r
	}
	return nil
}
