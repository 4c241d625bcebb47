package standin

import (
	"net/http"
	"path"
	"slices"
	"strings"
)

// Rules are what a branch demands.
type Rules struct {
	Checks  []RequiredCheck
	Strict  bool // a head must contain the base's tip
	Reviews int  // approving reviews by writers
	// AppReviews: approvals of Apps count, too, of which GitHub says neither yes nor no. KeepReviews: only Bypass may dismiss reviews.
	AppReviews, KeepReviews bool
	Queue                   bool // merges only through the merge queue
	// HeadGreen: what the queue merges at once needs to be green at its last commit alone; else each entry does, as by GitHub's default.
	HeadGreen bool
	Restrict  bool     // only Bypass may move the branch
	NoCreate  bool     // only Bypass may make a branch of that name
	NoForce   bool     // no move to a commit that does not descend from the old one
	NoDelete  bool     // the branch must not be deleted
	Bypass    []string // logins and App slugs that no rule binds
	PullsOnly bool     // Bypass is for merging pull requests alone
	Other     []Rule   // that sluice does not know; listed, not enforced
	Classic   bool     // branch protection of old, not a ruleset: not in the rules API, other words

	ID      int64  // set by Protect
	Pattern string // likewise: which branches, as a glob
}

// RequiredCheck is a check that must be green before a merge.
type RequiredCheck struct {
	Context string
	App     int64 // that must report it; 0: anybody may
}

// Rule is a rule by GitHub's own name, with its parameters.
type Rule struct {
	Type       string
	Parameters map[string]any
}

// Rules lists all that Protect has set.
func (r *Repo) Rules() []Rules {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.protections)
}

// RulesOf lists what binds by on a branch, in whatever but the merge of a pull request. An Actor without a name is bound by all.
func (r *Repo) RulesOf(branch string, by Actor) []Rules {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.binding(branch, by, false)
}

// binding lists what binds by on a branch, as a pull request is merged or otherwise; the caller holds r.mu.
func (r *Repo) binding(branch string, by Actor, merging bool) []Rules {
	return slices.DeleteFunc(slices.Clone(r.protections), func(rules Rules) bool {
		ok, err := path.Match(rules.Pattern, branch)
		return err != nil || !ok || rules.Bypasses(by) && (merging || !rules.PullsOnly)
	})
}

// Bypasses reports whether somebody is on the bypass list.
func (rules Rules) Bypasses(by Actor) bool {
	return by.Login != "" && slices.ContainsFunc(rules.Bypass, func(b string) bool { return strings.EqualFold(b, by.Login) })
}

// forbids gives the reason why rules keep a branch from being moved other than by a merge; nil if they do not. What GitHub says is
// known from pushes (GH013 of rulesets, GH006 of protection) and from PATCH git/refs (422): rulesets list all that is broken,
// protection of old names one.
func (r *Repo) forbids(m move) error {
	var reasons []string
	for _, rules := range r.binding(m.branch, m.by, false) {
		broken := r.brokenByMove(rules, m)
		if rules.Classic && len(broken) > 0 {
			return Refuse(http.StatusUnprocessableEntity, "%s", broken[0])
		}
		reasons = append(reasons, broken...)
	}
	if len(reasons) == 0 {
		return nil
	}
	slices.Sort(reasons)
	return Refuse(http.StatusUnprocessableEntity, msgRuleViolations, strings.Join(slices.Compact(reasons), "\n"))
}

// brokenByMove lists the rules of a set that a move would break. Of rulesets "creation", "update" and "deletion" are apart;
// protection of old restricts who may push at all, and creations only if that is asked for.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets
func (r *Repo) brokenByMove(rules Rules, m move) []string {
	if m.after == "" {
		if rules.NoDelete || rules.Classic && rules.Restrict {
			return []string{msgNoDelete}
		}
		return nil
	}
	lack := ""
	if rules.Reviews > 0 {
		lack = msgThroughPull
	}
	reasons := r.unmet(rules, m.after, m.before != "", lack)
	if m.before == "" && rules.NoCreate {
		reasons = append(reasons, msgNoCreate)
	}
	if m.before != "" && !m.unread && rules.NoForce && !r.Contains(m.after, m.before) {
		reasons = append(reasons, msgNoForce)
	}
	return reasons
}
