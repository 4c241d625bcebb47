package standin

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// listRules is what binds a branch by rulesets; branch protection of old is not in it.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func listRules(c *call, r *Repo) (answer, error) {
	var list []object
	for _, rules := range r.rulesOf(c.r.PathValue("branch"), anybody) {
		if rules.Classic {
			continue
		}
		for _, rule := range rules.all() {
			o := rule.json()
			o["ruleset_source_type"], o["ruleset_source"], o["ruleset_id"] = "Repository", r.String(), rules.id
			list = append(list, o)
		}
	}
	return listed(c, list, func(o object) object { return o })
}

// getRuleset is one ruleset, as its repository shows it to whoever asks: who else may bypass it is for those who may edit it.
// https://docs.github.com/en/rest/repos/rules#get-a-repository-ruleset
func getRuleset(c *call, r *Repo) (answer, error) {
	for _, p := range r.protections {
		if fmt.Sprint(p.rules.id) != c.r.PathValue("ruleset_id") || p.rules.Classic {
			continue
		}
		bypass := "never"
		switch {
		case !p.rules.lets(c.who.actor):
		case p.rules.PullsOnly:
			bypass = "pull_requests_only"
		default:
			bypass = "always"
		}
		return ok(object{
			"id": p.rules.id, "name": p.rules.name, "target": "branch", "source_type": "Repository", "source": r.String(), "enforcement": "active",
			"conditions":              object{"ref_name": object{"include": []string{"refs/heads/" + p.pattern}, "exclude": []string{}}},
			"current_user_can_bypass": bypass, "rules": objects(p.rules.all(), Rule.json),
		})
	}
	return answer{}, ErrNotFound
}

func (rule Rule) json() object {
	o := object{"type": rule.Type}
	if rule.Parameters != nil {
		o["parameters"] = rule.Parameters
	}
	return o
}

// all spells the rules as the rules API does, those first that the stand-in enforces.
func (rules Rules) all() []Rule {
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
		strategy := "ALLGREEN"
		if rules.HeadGreen {
			strategy = "HEADGREEN"
		}
		list = append(list, Rule{"merge_queue", object{
			"check_response_timeout_minutes": 60, "grouping_strategy": strategy, "max_entries_to_build": 5, "max_entries_to_merge": 5,
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
		contexts = append(contexts, rules.contexts()...)
		for _, c := range rules.Checks {
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
