package standin

import (
	"net/http"
	"slices"
	"strings"
)

// listRules is what binds a branch by rulesets; branch protection of old is not in it.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func listRules(c *call, r *Repo) (answer, error) {
	list := []object{}
	for i, rules := range r.rulesOf(c.r.PathValue("branch"), anybody) {
		if rules.Classic {
			continue
		}
		for _, rule := range rules.list() {
			o := object{"type": rule.Type, "ruleset_source_type": "Repository", "ruleset_source": r.String(), "ruleset_id": i + 1}
			if rule.Parameters != nil {
				o["parameters"] = rule.Parameters
			}
			list = append(list, o)
		}
	}
	cut, link := page(c, list)
	return answer{status: http.StatusOK, body: cut, link: link}, nil
}

// list spells rules as the rules API does.
func (rules Rules) list() []Rule {
	var list []Rule
	if rules.Restrict {
		list = append(list, Rule{"update", object{"update_allows_fetch_and_merge": false}})
	}
	if rules.NoCreate {
		list = append(list, Rule{Type: "creation"})
	}
	if rules.NoForce {
		list = append(list, Rule{Type: "non_fast_forward"})
	}
	if rules.NoDelete {
		list = append(list, Rule{Type: "deletion"})
	}
	if rules.Reviews > 0 {
		list = append(list, Rule{"pull_request", object{
			"required_approving_review_count": rules.Reviews, "dismiss_stale_reviews_on_push": false, "require_code_owner_review": false,
			"require_last_push_approval": false, "required_review_thread_resolution": false,
			"allowed_merge_methods": []string{"merge", "squash", "rebase"},
		}})
	}
	if rules.Queue {
		list = append(list, Rule{"merge_queue", object{
			"check_response_timeout_minutes": 60, "grouping_strategy": "ALLGREEN", "max_entries_to_build": 5, "max_entries_to_merge": 5,
			"merge_method": "MERGE", "min_entries_to_merge": 1, "min_entries_to_merge_wait_minutes": 5,
		}})
	}
	if len(rules.Checks) > 0 || rules.Strict {
		checks := []object{}
		for _, c := range rules.Checks {
			o := object{"context": c.Context}
			if c.App != 0 {
				o["integration_id"] = c.App
			}
			checks = append(checks, o)
		}
		list = append(list, Rule{"required_status_checks", object{
			"required_status_checks": checks, "strict_required_status_checks_policy": rules.Strict, "do_not_enforce_on_create": false,
		}})
	}
	return append(list, rules.Other...)
}

func getBranch(c *call, r *Repo) (answer, error) {
	branch := c.r.PathValue("branch")
	tip, err := r.git.tip("refs/heads/" + branch)
	if err != nil {
		return answer{}, err
	}
	if tip == "" {
		return answer{}, refuse(http.StatusNotFound, msgNoBranch)
	}
	head, err := r.git.commit(tip)
	if err != nil {
		return answer{}, err
	}
	protection, protected := r.protectionJSON(branch)
	return ok(object{
		"name": branch, "commit": commitJSON(head), "protected": protected, "protection": protection,
	})
}

// protectionJSON is the branch protection of old as GET branches/{branch} gives it to everybody who may read.
func (r *Repo) protectionJSON(branch string) (o object, protected bool) {
	contexts, checks := []string{}, []object{}
	classic := false
	for _, rules := range r.rulesOf(branch, anybody) {
		protected = true
		if !rules.Classic {
			continue
		}
		classic = true
		for _, c := range rules.Checks {
			contexts = append(contexts, c.Context)
			check := object{"context": c.Context, "app_id": nil}
			if c.App != 0 {
				check["app_id"] = c.App
			}
			checks = append(checks, check)
		}
	}
	level := "off"
	if len(checks) > 0 {
		level = "non_admins"
	}
	return object{
		"enabled":                classic,
		"required_status_checks": object{"enforcement_level": level, "contexts": contexts, "checks": checks},
	}, protected
}

// forbids gives the reason why rules keep a branch from being moved other than by a merge; nil if they do not. What GitHub says is
// known from pushes (GH013 of rulesets, GH006 of protection) and from PATCH git/refs (422): rulesets list all that is broken,
// protection of old names one.
func (r *Repo) forbids(m move) error {
	var reasons []string
	for _, rules := range r.rulesOf(m.branch, m.by) {
		broken := r.brokenByMove(rules, m)
		if rules.Classic && len(broken) > 0 {
			return refuse(http.StatusUnprocessableEntity, "%s", broken[0])
		}
		reasons = append(reasons, broken...)
	}
	if len(reasons) == 0 {
		return nil
	}
	slices.Sort(reasons)
	return refuse(http.StatusUnprocessableEntity, msgRuleViolations, strings.Join(slices.Compact(reasons), "\n"))
}

// brokenByMove lists the rules of a set that a move would break. Of rulesets "creation", "update" and "deletion" are apart;
// protection of old restricts who may push at all, and creations only if that is asked for.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets
func (r *Repo) brokenByMove(rules Rules, m move) []string {
	var reasons []string
	if m.after == "" {
		if rules.NoDelete || rules.Classic && rules.Restrict {
			reasons = append(reasons, msgNoDelete)
		}
		return reasons
	}
	if m.before == "" && rules.NoCreate {
		reasons = append(reasons, msgNoCreate)
	}
	if m.before != "" && rules.Restrict {
		reasons = append(reasons, restricted(rules))
	}
	if m.before != "" && !m.unread && rules.NoForce && !r.Contains(m.after, m.before) {
		reasons = append(reasons, msgNoForce)
	}
	if rules.Queue {
		reasons = append(reasons, msgQueue)
	}
	if rules.Reviews > 0 {
		reasons = append(reasons, msgThroughPull)
	}
	if bad := r.missing(rules.Checks, m.after); len(bad) > 0 {
		reasons = append(reasons, lackOfChecks(bad, len(rules.Checks)))
	}
	return reasons
}

// restricted is what GitHub says to those who may not move a branch.
func restricted(rules Rules) string {
	if rules.Classic {
		return msgNotAuthorized
	}
	return msgRestricted
}
