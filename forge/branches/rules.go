package branches

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sluicegate/sluice/forge/look"

	json "github.com/go-json-experiment/json/v1"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

const (
	// maxRulesRead is of how many branches a look reads the rules. Of the others what was read before counts; where nothing was, they
	// are not known until it is their turn.
	maxRulesRead = 100
	// maxRulePages is how many pages of rules are read of a base.
	maxRulePages = 5
	// StrictKept is how long a base counts as strict after GitHub last showed it: classic protection does not show an App whether heads must
	// be up to date, but GitHub calls a head BEHIND, though not while a required check is pending, as our own mostly is; and it refuses to merge
	// one. A base that is strict no more costs updates that were not needed until then; one that is forgotten too early costs a refused merge.
	StrictKept = 24 * time.Hour
)

// still reports whether what GitHub showed of a branch counts.
func (l *Reader) still(shown look.Kind[plan.Branch, time.Time], branch plan.Branch) bool {
	until, ok := shown.Get(l.Memory, branch)
	return ok && l.Now().Before(until)
}

// rules are what GitHub demands of a base, remembered until a given instant.
type rules struct {
	required []plan.RequiredCheck
	strict   bool
	queue    bool
	demand   demand            // what rulesets and protection say of reviews
	reviewed plan.ReviewDemand // what that amounts to
	known    bool
	classic  bool // there was a classic protection when they were read
	sets     []ruleset
	bypassed []plan.Ruleset // as plan.Base has them
	until    time.Time
}

// AddRules fills in what GitHub demands of every base: rulesets by REST, classic protection by REST too if there is one.
// Rules are remembered by time alone, as GitHub gives them no name.
func (l *Reader) AddRules(ctx context.Context, s *plan.Snapshot) error {
	known, err := l.rulesOf(ctx, slices.Collect(maps.Keys(s.Bases)))
	if err != nil {
		return err
	}
	for name, b := range s.Bases {
		r := known[name]
		b.Required, b.Rules, b.Queue = l.required(name, r), r.known, r.queue
		if r.known {
			b.Reviews, b.Bypassed = r.reviewed, r.bypassed
		}
		b.Keeps = l.classic(name) && !l.Bases[name].RefUpdateRule.ViewerAllowedToDismissReviews
		b.Strict = r.strict || l.still(KeptStrict, name)
		s.Bases[name] = b
	}
	return nil
}

// rulesOf gives the rules of branches, read or remembered. The default branch's come first.
func (l *Reader) rulesOf(ctx context.Context, names []plan.Branch) (map[plan.Branch]rules, error) {
	slices.Sort(names)
	var read []int
	known := make([]rules, len(names))
	for i, name := range names {
		r, ok := keptRules.Get(l.Memory, name)
		known[i] = r
		fresh := ok && !l.RulesAnew && l.Now().Before(r.until) && r.classic == l.classic(name)
		if !fresh && !l.Unread[name].Is() && !l.Rests(l.Key(partRules, string(name))).Is() {
			read = append(read, i)
		}
	}
	read = look.InTurn(l.Look, partRules, read, func(i int) string { return string(names[i]) })
	slices.SortStableFunc(read, func(a, b int) int { return cmp.Compare(rank(names[a], l.Home), rank(names[b], l.Home)) })
	if len(read) > maxRulesRead {
		read = read[:maxRulesRead]
		l.AskAgain(l.Now().Add(look.PartFirst))
	}
	err := look.Each(ctx, read, func(ctx context.Context, i int) error {
		l.HasTurn(partRules, string(names[i]))
		var err error
		known[i], err = l.readRules(ctx, names[i], known[i])
		return err
	})
	if err == nil {
		err = l.addBypasses(ctx, names, known, read)
	}
	if err == nil {
		err = l.addReviewed(ctx, names, known, read)
	}
	if err != nil {
		for _, i := range read { // none of them is whole
			keptRules.Forget(l.Memory, names[i])
		}
	}
	of := make(map[plan.Branch]rules, len(names))
	for i, name := range names {
		of[name] = known[i]
	}
	return of, err
}

// rank puts one name before all others.
func rank(name, first plan.Branch) int {
	if name == first {
		return 0
	}
	return 1
}

// classic reports whether a base has a classic protection.
func (l *Reader) classic(name plan.Branch) bool {
	raw := l.Bases[name]
	return raw != nil && raw.RefUpdateRule != nil
}

// required adds what binds us by classic protection, as the look saw it, to what was read.
func (l *Reader) required(name plan.Branch, r rules) []plan.RequiredCheck {
	all := slices.Clone(r.required)
	if l.classic(name) {
		for _, context := range l.Bases[name].RefUpdateRule.RequiredStatusCheckContexts {
			if !slices.ContainsFunc(all, func(r plan.RequiredCheck) bool { return r.Context.Is(plan.Context(context)) }) {
				all = append(all, plan.RequiredCheck{Context: plan.Context(context)})
			}
		}
	}
	return all
}

// readRules reads and remembers the rules of a base. Rules that could not be read are not known, unless they were read before and
// still count: then only the new request failed.
func (l *Reader) readRules(ctx context.Context, name plan.Branch, before rules) (rules, error) {
	r := rules{known: true, classic: l.classic(name), until: l.Now().Add(l.RulesTTL), reviewed: before.reviewed}
	err := l.readRuleset(ctx, name, &r)
	if err == nil && r.classic {
		err = l.readClassic(ctx, name, &r)
	}
	if err != nil {
		if _, err := l.Failed(ctx, l.Key(partRules, string(name)), whatRules, err); err != nil {
			return before, fmt.Errorf("read rules of %s: %w", name, err)
		}
		if before.known && before.classic == r.classic && l.Now().Before(before.until) {
			return before, nil
		}
		r.known, r.until = false, time.Time{} // fail closed
	} else {
		l.WasRead(l.Key(partRules, string(name)))
	}
	keptRules.Put(l.Memory, name, r)
	return r, nil
}

// rawRule is a rule of a ruleset. Only those that sluice knows are looked into; go-github refuses a whole list for one type
// that it does not know.
type rawRule struct {
	Type       string
	Ruleset    int64 `json:"ruleset_id"`
	Parameters json.RawMessage
}

// readRuleset reads the rules that rulesets put on a base.
func (l *Reader) readRuleset(ctx context.Context, name plan.Branch, into *rules) error {
	for page := 1; page <= maxRulePages; page++ {
		var list []rawRule
		if err := l.Client.Get(ctx, l.PageURL(page, "rules/branches/%s", client.EscapePath(string(name))), &list); err != nil {
			return err
		}
		if list == nil {
			return client.Empty() // fail closed: a null is not a list without rules
		}
		for _, r := range list {
			if err := into.add(r); err != nil {
				return err
			}
		}
		if len(list) < client.PerPage {
			return nil
		}
	}
	into.known = false // fail closed: nobody has so many rules
	return nil
}

// add notes one rule, and what it demands of a merge under its ruleset.
func (r *rules) add(raw rawRule) error {
	set := r.ruleset(raw.Ruleset)
	switch raw.Type {
	case "merge_queue": // nothing is merged past a queue
		r.queue = true
	case "pull_request":
		var p reviewRule
		if len(raw.Parameters) > 0 {
			if err := json.Unmarshal(raw.Parameters, &p); err != nil {
				return client.Unreadable(err)
			}
		}
		r.demand = r.demand.and(demand{p.Count, p.Owners})
		set.reviews(p)
	case "required_status_checks":
		var p checkRule
		if err := json.Unmarshal(raw.Parameters, &p); err != nil {
			return client.Unreadable(err)
		}
		if p.Checks == nil {
			return client.Empty() // fail closed: a rule that requires checks and names none is not a list without checks
		}
		r.strict = r.strict || p.Strict
		for _, c := range p.Checks {
			r.require(c.Context, c.IntegrationID)
		}
		set.checks(p)
	default:
		set.others(raw.Type)
	}
	return nil
}

// reviewRule is the parameters of a rule about pull requests.
type reviewRule struct {
	Count    int   `json:"required_approving_review_count"`
	Owners   bool  `json:"require_code_owner_review"`
	LastPush bool  `json:"require_last_push_approval"`
	Threads  bool  `json:"required_review_thread_resolution"`
	Methods  []any `json:"allowed_merge_methods"`
	By       []any `json:"required_reviewers"`
}

// checkRule is those of a rule that requires checks.
type checkRule struct {
	Strict bool `json:"strict_required_status_checks_policy"`
	Checks []struct {
		Context       string
		IntegrationID *int64 `json:"integration_id"`
	} `json:"required_status_checks"`
}

// require notes a required check once. An App of -1 means anybody.
func (r *rules) require(context string, app *int64) {
	q := plan.RequiredCheck{Context: plan.Context(context)}
	if app != nil && *app > 0 {
		q.App = *app
	}
	if !slices.Contains(r.required, q) {
		r.required = append(r.required, q)
	}
}

// readClassic reads what a classic protection shows without administration rights: contexts with the Apps they are bound
// to, but not whether heads must be up to date.
func (l *Reader) readClassic(ctx context.Context, name plan.Branch, into *rules) error {
	var b struct {
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
	u := look.PathOf(l.Repo) + "/branches/" + client.EscapePath(string(name))
	if err := l.Client.Get(ctx, u, &b); err != nil {
		return err
	}
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
