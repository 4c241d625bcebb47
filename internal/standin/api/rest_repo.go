package api

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/sluicegate/sluice/internal/standin"
)

// listRules is what binds a branch by rulesets; branch protection of old is not in it.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func listRules(c *call, r *standin.Repo) (answer, error) {
	return listed(c, rulesOn(r, c.r.PathValue("branch")), func(n *ruleNode) object {
		o := ruleJSON(n.rule)
		o["ruleset_source_type"], o["ruleset_source"], o["ruleset_id"] = "Repository", r.String(), n.from.ID
		return o
	})
}

// getRuleset is one ruleset, as its repository shows it to whoever asks: who else may bypass it is for those who may edit it.
// https://docs.github.com/en/rest/repos/rules#get-a-repository-ruleset
func getRuleset(c *call, r *standin.Repo) (answer, error) {
	for _, rules := range r.Rules() {
		if fmt.Sprint(rules.ID) != c.r.PathValue("ruleset_id") || rules.Classic {
			continue
		}
		bypass := "never"
		switch {
		case !rules.Bypasses(c.who.actor):
		case rules.PullsOnly:
			bypass = "pull_requests_only"
		default:
			bypass = "always"
		}
		return ok(object{
			"id": rules.ID, "name": rules.Pattern, "target": "branch", "source_type": "Repository", "source": r.String(), "enforcement": "active",
			"conditions":              object{"ref_name": object{"include": []string{"refs/heads/" + rules.Pattern}, "exclude": []string{}}},
			"current_user_can_bypass": bypass, "rules": each(spelled(rules), ruleJSON),
		})
	}
	return answer{}, standin.ErrNotFound
}

func ruleJSON(rule standin.Rule) object {
	o := object{"type": rule.Type}
	if rule.Parameters != nil {
		o["parameters"] = rule.Parameters
	}
	return o
}

// spelled spells the rules as the rules API does, those first that the stand-in enforces.
func spelled(rules standin.Rules) (list []standin.Rule) {
	add := func(binds bool, kind string, parameters object) {
		if binds {
			list = append(list, standin.Rule{Type: kind, Parameters: parameters})
		}
	}
	add(rules.Restrict, "update", object{"update_allows_fetch_and_merge": false})
	add(rules.NoCreate, "creation", nil)
	add(rules.NoForce, "non_fast_forward", nil)
	add(rules.NoDelete, "deletion", nil)
	add(rules.Reviews > 0, "pull_request", object{
		"required_approving_review_count": rules.Reviews, "dismiss_stale_reviews_on_push": false, "require_code_owner_review": false,
		"require_last_push_approval": false, "required_review_thread_resolution": false,
		"allowed_merge_methods": []string{"merge", "squash", "rebase"},
	})
	add(rules.Queue, "merge_queue", object{
		"check_response_timeout_minutes": 60, "grouping_strategy": map[bool]string{true: "HEADGREEN", false: "ALLGREEN"}[rules.HeadGreen],
		"max_entries_to_build": 5, "max_entries_to_merge": 5, "merge_method": "MERGE", "min_entries_to_merge": 1,
		"min_entries_to_merge_wait_minutes": 5,
	})
	checks := each(rules.Checks, func(c standin.RequiredCheck) object {
		o := object{"context": c.Context}
		if c.App != 0 {
			o["integration_id"] = c.App
		}
		return o
	})
	add(len(checks) > 0 || rules.Strict, "required_status_checks", object{
		"required_status_checks": checks, "strict_required_status_checks_policy": rules.Strict, "do_not_enforce_on_create": false,
	})
	return append(list, rules.Other...)
}

func getBranch(c *call, r *standin.Repo) (answer, error) {
	branch := c.r.PathValue("branch")
	tip, err := r.Git().Tip("refs/heads/" + branch)
	if err != nil {
		return answer{}, err
	}
	if tip == "" {
		return answer{}, standin.Refuse(http.StatusNotFound, msgNoBranch)
	}
	head, err := r.Git().Commit(tip)
	if err != nil {
		return answer{}, err
	}
	protection, protected := protectionJSON(r, branch)
	return ok(object{
		"name": branch, "commit": c.s.commitJSON(head), "protected": protected, "protection": protection,
	})
}

// protectionJSON is the branch protection of old as GET branches/{branch} gives it to everybody who may read.
func protectionJSON(r *standin.Repo, branch string) (o object, protected bool) {
	bound := r.RulesOf(branch, standin.Actor{})
	classic := slices.DeleteFunc(slices.Clone(bound), func(rules standin.Rules) bool { return !rules.Classic })
	names, checks := []string{}, []object{}
	for _, rules := range classic {
		names = append(names, contexts(&rules)...)
		for _, c := range rules.Checks {
			checks = append(checks, object{"context": c.Context, "app_id": orNil(c.App)})
		}
	}
	level := "off"
	if len(checks) > 0 {
		level = "non_admins"
	}
	return object{
		"enabled":                len(classic) > 0,
		"required_status_checks": object{"enforcement_level": level, "contexts": names, "checks": checks},
	}, len(bound) > 0
}
