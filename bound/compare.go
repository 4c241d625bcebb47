package bound

import (
	"slices"

	"github.com/sluicegate/sluice/plan"
)

// older is why a read says nothing of what was announced.
type older struct {
	mention plan.Mention
	missing bool // it does not show the pull request
}

// compare gives of what was announced before a read began that than which it is older, and changes nothing but who is hidden. Of each pull request, branch and
// check one announcement counts: the latest. What the read is not about, or could not read, is left out.
func (b *Book) compare(r Read) map[*entry]older {
	found := map[*entry]older{}
	if len(b.pulls) > 0 {
		b.comparePulls(found, r)
	}
	for branch, all := range b.pushes {
		all = r.knew(all)
		tips := tipsOf(r.Snapshot, branch)
		if len(all) == 0 || len(tips) == 0 {
			continue
		}
		if last := lastOf(all); slices.ContainsFunc(tips, func(tip plan.SHA) bool { return old(tip, last.Push.After, all) }) {
			found[last] = older{mention: plan.Mention{Branch: branch}}
		}
	}
	if len(b.checks) > 0 {
		b.compareChecks(found, r)
	}
	for id, e := range b.says {
		shown := slices.ContainsFunc(r.Snapshot.Commands, func(c plan.Command) bool { return c.ID == id })
		if r.Snapshot.Commands != nil && e.number <= r.Known && shown != e.Comment.Says {
			found[e] = older{mention: plan.Mention{Pull: e.Comment.Pull, Bound: &e.Bound}}
		}
	}
	return found
}

// knew is what of a list was announced before the read began: its beginning, as it stands in that order.
func (r Read) knew(all []*entry) []*entry {
	n := 0
	for n < len(all) && all[n].number <= r.Known {
		n++
	}
	return all[:n]
}

// comparePulls compares pull requests.
func (b *Book) comparePulls(found map[*entry]older, r Read) {
	shown := make(map[int]plan.Pull, len(r.Snapshot.Pulls))
	for _, p := range r.Snapshot.Pulls {
		shown[p.Number] = p
	}
	for n, all := range b.pulls {
		var e *entry // the latest, and of those of one second the one that came last
		for _, x := range r.knew(all) {
			if e == nil || !x.Pull.UpdatedAt.Before(e.Pull.UpdatedAt) {
				e = x
			}
		}
		p, is := shown[n]
		met := false
		switch {
		case e == nil, !is && r.Pulls != nil && !slices.Contains(r.Pulls, n), is && (p.Unread.Is() || p.UpdatedAt.IsZero()):
			continue // nothing is decided on what is unknown
		case !is:
			met = !e.Pull.Open || e.hidden
		default:
			e.hidden = false
			met = e.Pull.MetBy(e.stateOf(p))
		}
		if !met {
			found[e] = older{plan.Mention{Pull: n, SHA: e.Pull.Head, Target: e.Pull.Base}, !is}
		}
	}
}

// stateOf is how a read shows a pull request. Labels that it could not show whole count as those that were announced: nothing is opened on
// such a read. So does the time of what REST confirmed: then it is the rest that matters.
func (e *entry) stateOf(p plan.Pull) plan.PullState {
	s := plan.PullState{
		Number: p.Number, UpdatedAt: p.UpdatedAt, Head: p.Head, Base: p.Base, Open: true, Draft: p.Draft, Labels: e.Pull.Labels,
	}
	if p.ChecksAll {
		s.Labels = plan.LabelSetOf(p.Labels, p.NotBefore)
	}
	if e.holds && s.UpdatedAt.Before(e.Pull.UpdatedAt) {
		s.UpdatedAt = e.Pull.UpdatedAt
	}
	return s
}

// lastOf is the last of the pushes of a branch: that from whose end no other goes on, as they may have come out of order. Where others go on
// from all of them, since somebody pushed back, it is the one that came last.
func lastOf(pushes []*entry) *entry {
	for _, e := range slices.Backward(pushes) {
		if !slices.ContainsFunc(pushes, func(o *entry) bool { return o.Push.Before == e.Push.After }) {
			return e
		}
	}
	return pushes[len(pushes)-1]
}

// old reports whether pushes name a tip, and led on from it.
func old(tip, last plan.SHA, pushes []*entry) bool {
	return tip != last && slices.ContainsFunc(pushes, func(e *entry) bool { return e.Push.Before == tip || e.Push.After == tip })
}

// tipsOf is where a read saw a branch; nothing if it did not look.
func tipsOf(s plan.Snapshot, branch plan.Branch) (tips []plan.SHA) {
	if b, ok := s.Bases[branch]; ok && !b.Unread.Is() {
		tips = append(tips, b.Tip)
	}
	if f, ok := s.Sources[branch]; ok {
		tips = append(tips, f.Tip)
	}
	if branch == plan.FreezeBranch {
		tips = append(tips, s.Frozen.Tip)
	}
	for _, w := range s.Branches {
		if w.Name == branch && !w.Unread.Is() {
			tips = append(tips, w.Tip)
		}
	}
	return tips
}

// compareChecks compares what was reported on heads, and on the commits of sources.
func (b *Book) compareChecks(found map[*entry]older, r Read) {
	wanted := map[plan.SHA][]*entry{}
	for _, e := range b.checks {
		if e.number <= r.Known {
			wanted[e.Check.SHA] = append(wanted[e.Check.SHA], e)
		}
	}
	missed := func(on plan.SHA, shown []plan.Check, m plan.Mention) {
		for _, e := range wanted[on] {
			if !slices.ContainsFunc(shown, e.reportedBy) {
				found[e] = older{mention: m}
			}
		}
	}
	for _, p := range r.Snapshot.Pulls {
		if len(wanted[p.Head]) > 0 && !p.Unread.Is() && p.ChecksAll {
			missed(p.Head, slices.Concat(p.Checks, checksOf(p.Ours)), plan.Mention{Pull: p.Number, SHA: p.Head})
		}
	}
	for _, source := range r.Snapshot.Sources {
		for _, c := range source.Line {
			if len(wanted[c.SHA]) > 0 && c.Read && c.ChecksAll {
				missed(c.SHA, slices.Concat(c.Checks, checksOf(c.Ours)), plan.Mention{SHA: c.SHA})
			}
		}
	}
}

// checksOf are statuses under names of ours, which others may set, too.
func checksOf(all []plan.Status) []plan.Check {
	var out []plan.Check
	for _, s := range all {
		state := plan.CheckRed
		switch s.State {
		case plan.Success:
			state = plan.CheckGreen
		case plan.Pending:
			state = plan.CheckPending
		}
		out = append(out, plan.Check{Context: s.Context, State: state, At: s.At})
	}
	return out
}

// reportedBy reports whether a report that a read shows is the one that was announced, or a later one of the same name. Within a second
// pending comes before whatever else is said.
func (e *entry) reportedBy(c plan.Check) bool {
	if !c.Context.Is(e.Check.Context) {
		return false
	}
	later := c.At.Compare(e.Check.At)
	return later > 0 || later == 0 && (c.State == e.Check.State || e.Check.State == plan.CheckPending)
}
