package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/sluicegate/sluice/plan"
)

const (
	// rulesAgain is how long rules that could not be read are left alone.
	rulesAgain = 5 * time.Minute
	// maxRulePages is how many pages of rules are read of a base.
	maxRulePages = 5
)

// baseKey names a base whose rules are remembered.
type baseKey struct {
	repo repoKey
	base plan.Branch
}

// rules are what GitHub demands of a base, remembered until a given instant.
type rules struct {
	required  []plan.Required
	strict    bool
	queue     bool
	known     bool
	protected bool
	classic   bool // there was a classic protection when they were read
	until     time.Time
}

// addRules fills in what GitHub demands of every base: rulesets by REST, classic protection by REST too if there is one.
// Rules are remembered by time alone, as GitHub gives them no name.
func (l *look) addRules(ctx context.Context, s *plan.Snapshot) error {
	known, err := l.rulesOf(ctx, slices.Collect(maps.Keys(s.Bases)))
	if err != nil {
		return err
	}
	for name, b := range s.Bases {
		r := known[name]
		b.Required, b.Rules, b.Queue = l.required(name, r), r.known, r.queue
		b.Strict = r.strict || l.f.provedStrict(l.repo, name)
		b.Protected = b.Protected || r.protected
		s.Bases[name] = b
	}
	return nil
}

// rulesOf gives the rules of branches, read or remembered.
func (l *look) rulesOf(ctx context.Context, names []plan.Branch) (map[plan.Branch]rules, error) {
	var read []plan.Branch
	for _, name := range names {
		r, ok := l.f.rules.get(baseKey{keyOf(l.repo), name})
		if !ok || l.ask.Rules || !l.f.now().Before(r.until) || r.classic != l.classic(name) {
			read = append(read, name)
		}
	}
	slices.Sort(read)
	if err := each(ctx, read, l.readRules); err != nil {
		return nil, err
	}
	known := make(map[plan.Branch]rules, len(names))
	for _, name := range names {
		known[name], _ = l.f.rules.get(baseKey{keyOf(l.repo), name})
	}
	return known, nil
}

// classic tells whether a base has a classic protection.
func (l *look) classic(name plan.Branch) bool {
	raw := l.bases[name]
	return raw != nil && raw.RefUpdateRule != nil
}

// required adds what binds us by classic protection, as the look saw it, to what was read.
func (l *look) required(name plan.Branch, r rules) []plan.Required {
	all := slices.Clone(r.required)
	if l.classic(name) {
		for _, context := range l.bases[name].RefUpdateRule.RequiredStatusCheckContexts {
			if !slices.ContainsFunc(all, func(r plan.Required) bool { return r.Context.Is(plan.Context(context)) }) {
				all = append(all, plan.Required{Context: plan.Context(context)})
			}
		}
	}
	return all
}

// readRules reads and remembers the rules of a base. Rules that GitHub does not tell us are not known, which is an answer;
// a limit or a fault is none.
func (l *look) readRules(ctx context.Context, name plan.Branch) error {
	r := rules{known: true, classic: l.classic(name), until: l.f.now().Add(l.f.rulesTTL)}
	err := l.readRuleset(ctx, name, &r)
	if err == nil && r.classic {
		err = l.readClassic(ctx, name, &r)
	}
	var e *Error
	if errors.As(err, &e) && (e.Kind == Gone || e.Kind == Refused) {
		l.f.log.Warn("rules were not read", "repo", l.repo.String(), "base", string(name), "err", err)
		r.known, r.until = false, l.f.now().Add(min(rulesAgain, l.f.rulesTTL)) // fail closed
		err = nil
	}
	if err != nil {
		return fmt.Errorf("rules of %s: %w", name, err)
	}
	l.f.rules.put(baseKey{keyOf(l.repo), name}, r)
	return nil
}

// rawRule is a rule of a ruleset. Only those that sluice knows are looked into; go-github refuses a whole list for one type
// that it does not know.
type rawRule struct {
	Type       string
	Parameters json.RawMessage
}

// readRuleset reads the rules that rulesets put on a base.
func (l *look) readRuleset(ctx context.Context, name plan.Branch, into *rules) error {
	for page := 1; page <= maxRulePages; page++ {
		var list []rawRule
		u := fmt.Sprintf("repos/%s/%s/rules/branches/%s?per_page=%d&page=%d",
			l.repo.Owner, l.repo.Name, escapePath(string(name)), perPage, page)
		if err := l.c.get(ctx, u, &list); err != nil {
			return err
		}
		if list == nil {
			return transient(wordEmpty, nil) // fail closed: a null is not a list without rules
		}
		for _, r := range list {
			if err := into.take(r); err != nil {
				return err
			}
		}
		if len(list) < perPage {
			return nil
		}
	}
	into.known = false // fail closed: nobody has so many rules
	return nil
}

// get reads a REST resource into v. An empty answer is none; go-github would take it for an empty list.
func (c *client) get(ctx context.Context, u string, v any) error {
	req, err := c.rest.NewRequest(http.MethodGet, u, nil)
	if err != nil {
		return fmt.Errorf("get: %w", err)
	}
	var body bytes.Buffer
	if _, err = c.rest.Do(ctx, req, &body); err != nil {
		return wrap(ctx, "get", err)
	}
	if err := json.Unmarshal(body.Bytes(), v); err != nil {
		return wrap(ctx, "get", transient(wordUnreadable, err))
	}
	return nil
}

// take notes one rule.
func (r *rules) take(raw rawRule) error {
	r.protected = true
	switch raw.Type {
	case "merge_queue":
		r.queue = true
	case "required_status_checks":
		var p struct {
			Strict bool `json:"strict_required_status_checks_policy"`
			Checks []struct {
				Context       string
				IntegrationID *int64 `json:"integration_id"`
			} `json:"required_status_checks"`
		}
		if err := json.Unmarshal(raw.Parameters, &p); err != nil {
			return transient(wordUnreadable, err)
		}
		r.strict = r.strict || p.Strict
		for _, c := range p.Checks {
			r.require(c.Context, c.IntegrationID)
		}
	}
	return nil
}

// require notes a required check once. An App of -1 means anybody.
func (r *rules) require(context string, app *int64) {
	q := plan.Required{Context: plan.Context(context)}
	if app != nil && *app > 0 {
		q.App = *app
	}
	if !slices.Contains(r.required, q) {
		r.required = append(r.required, q)
	}
}

// readClassic reads what a classic protection tells without administration rights: contexts with the Apps they are bound
// to, but not whether heads must be up to date.
func (l *look) readClassic(ctx context.Context, name plan.Branch, into *rules) error {
	var b struct {
		Protected  bool
		Protection struct {
			Checks struct {
				Contexts []string
				Checks   []struct {
					Context string
					AppID   *int64 `json:"app_id"`
				}
			} `json:"required_status_checks"`
		}
	}
	u := fmt.Sprintf("repos/%s/%s/branches/%s", l.repo.Owner, l.repo.Name, escapePath(string(name)))
	if err := l.c.get(ctx, u, &b); err != nil {
		return err
	}
	into.protected = into.protected || b.Protected
	named := map[string]bool{}
	for _, c := range b.Protection.Checks.Checks {
		into.require(c.Context, c.AppID)
		named[c.Context] = true
	}
	for _, c := range b.Protection.Checks.Contexts {
		if !named[c] {
			into.require(c, nil)
		}
	}
	return nil
}
