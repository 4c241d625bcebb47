package branches

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// A ruleset has a list of those whom all of its rules let pass, and says to each App whether it is on it. GitHub holds no merge of ours back by a ruleset
// that lets us pass, also not one of a pull request that was retargeted meanwhile (docs/adr/0023). So it is told, and what it demands of a
// merge is kept by who decides.
//
// GitHub says it of one ruleset at a time, so it is asked seldom: at the first resync, and of those that bind us twelve resyncs later. One that could not be read is taken
// to stand as it was known to; one that never was, to bind us, and then GitHub refuses what it demands.

// ruleset is what one ruleset demands of a merge into a branch.
type ruleset struct {
	id      int64
	demands plan.Ruleset
}

// bypass is what a ruleset says of our App.
type bypass struct {
	name  string
	open  bool // our App's merges pass it
	until time.Time
}

// demandsNoMerge is rules about something else: pushes, branches, suggestions.
var demandsNoMerge = []string{"creation", "deletion", "non_fast_forward", "update", "branch_name_pattern", "copilot_code_review", "merge_queue"}

// ruleset is the one of an id, to be added to.
func (r *rules) ruleset(id int64) *ruleset {
	i := slices.IndexFunc(r.sets, func(s ruleset) bool { return s.id == id })
	if i < 0 {
		i, r.sets = len(r.sets), append(r.sets, ruleset{id: id})
	}
	return &r.sets[i]
}

// demand notes what is demanded, and whether it can be seen whether that is met.
func (s *ruleset) demand(what string, seen bool) {
	d := &s.demands
	if !slices.Contains(d.Demands, what) {
		d.Demands = append(d.Demands, what)
	}
	if !seen && !slices.Contains(d.Unseen, what) {
		d.Unseen = append(d.Unseen, what)
	}
}

// checks notes what a rule that requires checks demands.
func (s *ruleset) checks(p checkRule) {
	if p.Strict {
		s.demand("heads that are up to date", true)
	}
	for _, c := range p.Checks {
		if plan.Context(c.Context).Ours() {
			s.demand(client.OneLine(c.Context), true)
		} else {
			s.demand("other checks", true)
		}
	}
}

// reviews notes what a rule about pull requests demands.
func (s *ruleset) reviews(p reviewRule) {
	if p.Count > 0 {
		s.demand("reviews", true)
		s.demands.Reviews = max(s.demands.Reviews, p.Count)
	}
	for what, demanded := range map[string]bool{
		"reviews by code owners": p.Owners, "a review of the last push": p.LastPush, "resolved conversations": p.Threads,
		"reviews by teams": len(p.By) > 0, "some merge methods": len(p.Methods) > 0 && len(p.Methods) < mergeMethods,
	} {
		if demanded {
			s.demand(what, false)
		}
	}
}

// others notes a rule that is not looked into.
func (s *ruleset) others(kind string) {
	if !slices.Contains(demandsNoMerge, kind) {
		s.demand(strings.ReplaceAll(client.OneLine(kind), "_", " "), false)
	}
}

// mergeMethods is how many ways to merge there are.
const mergeMethods = 3

// addBypasses adds what the rulesets of some bases, as they were read just now, say of our App. They are asked where the caller wants it.
func (l *Reader) addBypasses(ctx context.Context, names []plan.Branch, known []rules, read []int) error {
	var unknown []int64
	for _, i := range read {
		if !l.Rulesets {
			break
		}
		for _, s := range known[i].sets {
			b, ok := keptBypasses.Get(l.Memory, s.id)
			fresh := ok && !b.open && l.Now().Before(b.until) // of one that lets us pass it is to be seen soon that it no longer does
			if s.id != 0 && len(s.demands.Demands) > 0 && !fresh {
				unknown = append(unknown, s.id)
			}
		}
	}
	slices.Sort(unknown)
	err := look.Each(ctx, slices.Compact(unknown), l.readBypass)
	for _, i := range read {
		known[i].bypassed = nil
		for _, s := range known[i].sets {
			b, _ := keptBypasses.Get(l.Memory, s.id)
			if !b.open || len(s.demands.Demands) == 0 {
				continue
			}
			set := s.demands
			set.Name = b.name
			slices.Sort(set.Demands)
			slices.Sort(set.Unseen)
			known[i].bypassed = append(known[i].bypassed, set)
		}
		if known[i].known {
			keptRules.Put(l.Memory, names[i], known[i])
		}
	}
	return err
}

// readBypass reads what a ruleset says of our App. Where it does not say that, our App does not pass.
func (l *Reader) readBypass(ctx context.Context, id int64) error {
	var set struct {
		ID     int64
		Name   string
		Bypass string `json:"current_user_can_bypass"`
	}
	err := l.Client.Get(ctx, fmt.Sprintf("%s/rulesets/%d", look.PathOf(l.Repo), id), &set)
	if err == nil && set.ID != id {
		err = client.Empty()
	}
	if err != nil {
		if look.EndsLook(ctx, err) {
			return fmt.Errorf("read ruleset %d: %w", id, err)
		}
		l.Log.Warn("a ruleset could not be read", "ruleset", id, "error", err)
		return nil
	}
	keptBypasses.Put(l.Memory, id, bypass{
		name: client.OneLine(set.Name), until: l.Now().Add(l.RulesTTL),
		open: slices.Contains([]string{"always", "pull_requests_only", "exempt"}, set.Bypass),
	})
	return nil
}
