package gate_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// What must hold whatever the world looks like, each a fuzz target of its own.

// FuzzDeterministic: (1) the same snapshot gives the same plan, whatever the order of its lists.
func FuzzDeterministic(f *testing.F) {
	fuzzed.Deterministic(f, func(s *plan.Snapshot) {
		slices.Reverse(s.Pulls)
		slices.Reverse(s.Refusals)
		slices.Reverse(s.Repairs)
		for i := range s.Pulls {
			p := &s.Pulls[i]
			slices.Reverse(p.Files)
			slices.Reverse(p.Checks)
			slices.Reverse(p.Reviews)
			slices.Reverse(p.Labels)
		}
	})
}

// FuzzConverges: (2) in a world that accepts, doing a plan and deciding again reaches no actions.
func FuzzConverges(f *testing.F) {
	fuzzed.Converges(f, func(s *plan.Snapshot) int { return 4 * (len(s.Pulls) + 2) }, accept)
}

// accept does a plan in a world that refuses nothing.
func accept(s *plan.Snapshot, actions []plan.Action) {
	s.Pulls = slices.Clone(s.Pulls)
	for _, a := range actions {
		switch a := a.(type) {
		case plan.SetStatus:
			acceptStatus(s, a)
		case plan.Merge:
			base := s.Bases[a.Base]
			base.Tip = "7" + base.Tip[:39]
			s.Bases[a.Base] = base
			s.Pulls = slices.DeleteFunc(s.Pulls, func(p plan.Pull) bool { return p.Head == a.SHA && p.Base == a.Base })
			s.Merges = append(s.Merges, plan.MergeRecord{Pull: a.Pull, Base: a.Base, At: s.At, Releases: a.Releases})
		case plan.Update:
			for i := range s.Pulls {
				if s.Pulls[i].Number == a.Pull {
					s.Pulls[i].MergeBase = s.Bases[s.Pulls[i].Base].Tip
					s.Pulls[i].Head = "u" + s.Pulls[i].Head[:39]
					s.Pulls[i].Ours = nil
				}
			}
		}
	}
}

func acceptStatus(s *plan.Snapshot, a plan.SetStatus) {
	set := plan.Status{Context: a.Context, State: a.State, Description: a.Description, By: s.Us, At: s.At}
	for i := range s.Pulls {
		if a.Context == plan.ApprovalOf(s.Pulls[i].Number) {
			s.Pulls[i].Approval = plan.Approval{On: a.SHA, Stands: a.State == plan.Success}
		}
		if s.Pulls[i].Head == a.SHA && plan.ContextFor(s.Pulls[i].Base) == a.Context {
			s.Pulls[i].Ours = []plan.Status{set}
		}
	}
	for name, base := range s.Bases {
		if plan.ContextFor(name) == a.Context && base.Tip == a.SHA {
			base.Ours = []plan.Status{set}
			s.Bases[name] = base
		}
	}
}

// FuzzClosedIsClosed: (3) nothing windowed is merged while any of its windows is closed, in its cutoff or frozen, unless branches hold
// it, or people released this head, and no merge may be done later than that; what branches hold has branches that take it, and what Flux would delete has
// them all open; (7) what is unknown never merges, nor what its text holds.
func FuzzClosedIsClosed(f *testing.F) {
	fuzzed.Fuzz(f, func(t *testing.T, s plan.Snapshot) {
		for _, a := range gate.Decide(s).Actions {
			m, ok := a.(plan.Merge)
			if !ok {
				continue
			}
			pull := pullOf(t, s, m.Pull)
			asked := asksOf(s.Bases[pull.Base].Policy, pull)
			if len(asked.windows)+len(asked.branches) == 0 {
				t.Errorf("#%d is merged and nothing released it", m.Pull)
			}
			if len(asked.branches) > 0 {
				branched(t, s, pull, asked.branches)
			}
			unknown(t, s, pull)
			windowed(t, s, pull)
			if at, unreadable := pull.NotBefore.At(s.Bases[pull.Base].Policy.Zone); pull.NotBefore != "" && (unreadable != "" || at.After(s.At)) {
				t.Errorf("#%d is merged at %s, not before %s", m.Pull, s.At, pull.NotBefore)
			}
			if !m.Before.After(overriddenUntil(s, pull)) {
				continue
			}
			open(t, m, s.Bases[pull.Base].Policy.Calendar, asked.windows, s.At)
			if len(asked.branches) > 0 {
				open(t, m, s.Bases[s.Default].Policy.Calendar, asked.back, s.At)
			}
		}
	})
}

// windowed demands that a base is no windowed branch, as far as the default branch's file ever told.
func windowed(t *testing.T, s plan.Snapshot, p plan.Pull) {
	t.Helper()
	home := s.Bases[s.Default]
	if p.Base == "release" && home.Policy == nil && (!home.Last.Known || len(home.Last.Entries) > 0) {
		t.Errorf("#%d is merged into a branch that may move only by promotion", p.Number)
	}
}

// FuzzSuccessesEnd: under enforce every success for which windows had to open says by its debt when it ends, and they are open until
// then; (3) whatever becomes of the pull request, nothing else need be known to take it back in time.
func FuzzSuccessesEnd(f *testing.F) {
	fuzzed.Fuzz(f, func(t *testing.T, s plan.Snapshot) {
		for _, a := range gate.Decide(s).Actions {
			debt := plan.Debt{}
			switch a := a.(type) {
			case plan.SetStatus:
				if debt = a.Debt; a.State != plan.Success || len(a.Pulls) == 0 {
					continue
				}
			case plan.Merge:
				debt = a.Debt
			default:
				continue
			}
			pull := pullOf(t, s, a.About()[0])
			base := s.Bases[pull.Base]
			if debt.SHA != pull.Head || debt.Context != plan.ContextFor(pull.Base) && debt.Context != plan.ApprovalOf(pull.Number) || debt.State != plan.Pending || debt.Description == "" {
				t.Fatalf("#%d is green, and owes %+v", pull.Number, debt)
			}
			if base.Policy == nil || base.Policy.Mode == config.Observe || ignoredBy(base.Policy, pull) {
				continue
			}
			asked := asksOf(base.Policy, pull)
			if len(asked.windows) > 0 && debt.Ends.IsZero() && endsSomeDay(base.Policy.Calendar, asked.windows, s.At) {
				t.Errorf("#%d is green without an end, and asks for %v", pull.Number, asked.windows)
			}
			if !debt.Ends.IsZero() {
				m := plan.Merge{Pin: plan.Pin{Before: debt.Ends}, Pull: pull.Number}
				if debt.Ends.After(overriddenUntil(s, pull)) {
					open(t, m, base.Policy.Calendar, asked.windows, s.At)
				}
			}
		}
	})
}

// FuzzApprovals: sluice approves nothing but an open head that people who may write have approved, as many as are asked for, where its file says approve; nothing of which it
// does not manage all, and nothing where it could not dismiss it. Whatever else of it stands is taken back.
func FuzzApprovals(f *testing.F) {
	fuzzed.Fuzz(f, func(t *testing.T, s plan.Snapshot) {
		p := gate.Decide(s)
		gone := map[plan.Place]bool{}
		for _, a := range p.Actions {
			set, ok := a.(plan.SetStatus)
			if !ok {
				continue
			}
			n, ok := set.Context.Approves()
			switch {
			case ok && set.State == plan.Success:
				pull := pullOf(t, s, n)
				approvable(t, s, pull)
				if set.SHA != pull.Head {
					t.Errorf("#%d is approved at %s, its head is %s", n, set.SHA, pull.Head)
				}
				if pull.Approval.Stands && !gone[plan.PlaceOf(pull.Approval.On, set.Context)] {
					t.Errorf("#%d is approved, and an approval stands", n)
				}
			case ok:
				gone[plan.PlaceOf(set.SHA, set.Context)] = true
			}
		}
		for _, pull := range s.Pulls {
			if at := plan.PlaceOf(pull.Approval.On, plan.ApprovalOf(pull.Number)); pull.Approval.Stands && !gone[at] {
				approvable(t, s, pull)
				if pull.Approval.On != pull.Head || !slices.ContainsFunc(p.Debts, func(d plan.Debt) bool { return plan.PlaceOf(d.SHA, d.Context) == at }) {
					t.Errorf("the approval of #%d stands on %s, and nobody owes it", pull.Number, pull.Approval.On)
				}
			}
		}
	})
}

// approvable demands what an approval needs.
func approvable(t *testing.T, s plan.Snapshot, p plan.Pull) {
	t.Helper()
	base := s.Bases[p.Base]
	if base.Policy == nil || base.Keeps || base.Policy.Mode != config.Enforce || !p.Complete || p.Unread.Is() || p.Draft || p.Mergeable == plan.MergeableConflict {
		t.Fatalf("#%d is approved by %+v", p.Number, base.Policy)
	}
	asked, rules := asksOf(base.Policy, p), base.Policy.PullRequests
	handling := rules.Live
	if slices.ContainsFunc(asked.windows, func(w window.Name) bool { return w != window.Live }) {
		handling = rules.Window
	}
	if handling != config.Approve {
		t.Errorf("#%d is approved where the file says %s", p.Number, handling)
	}
	people := map[plan.Login]bool{}
	for _, r := range p.Reviews {
		if r.Approved && r.CanWrite && r.On == p.Head && r.By != p.Author {
			people[r.By] = true
		}
		if !r.Approved && r.CanWrite {
			t.Errorf("#%d is approved, and %s wants changes", p.Number, r.By)
		}
	}
	if least := rules.Approvals; len(people) < least || !p.SameRepo && len(people) == 0 {
		t.Errorf("#%d is approved, and %d people did", p.Number, len(people))
	}
	for _, f := range p.Files {
		for _, name := range f.Names() {
			if class := base.Policy.Layout.Classify(name); len(class.Releases) == 0 || class.Protected || name == config.File {
				t.Errorf("#%d is approved, and %s is for people", p.Number, name)
			}
		}
	}
	if s.At.Before(overriddenUntil(s, p)) {
		return
	}
	for _, w := range asked.windows {
		if !base.Policy.Calendar.Has(w) || !base.Policy.Calendar.At(w, s.At).Releasable {
			t.Errorf("#%d is approved while %s is closed", p.Number, w)
		}
	}
}

// endsSomeDay reports whether one of some windows is known to close.
func endsSomeDay(cal *window.Calendar, windows []window.Name, now time.Time) bool {
	return slices.ContainsFunc(windows, func(w window.Name) bool { return !cal.At(w, now).Until.IsZero() })
}

// ignoredBy reports whether a file manages no path of a pull request but perhaps itself.
func ignoredBy(p *config.Policy, pull plan.Pull) bool {
	return !slices.ContainsFunc(pull.Files, func(f plan.File) bool {
		return len(p.Layout.Classify(f.Path).Releases) > 0 || (f.Old != "" && len(p.Layout.Classify(f.Old).Releases) > 0)
	})
}

// open demands that windows are open now, and at the last instant at which the merge may be done.
func open(t *testing.T, m plan.Merge, cal *window.Calendar, windows []window.Name, now time.Time) {
	t.Helper()
	for _, w := range windows {
		for _, at := range []time.Time{now, m.Before.Add(-time.Nanosecond)} {
			if !cal.Has(w) || !cal.At(w, at).Releasable {
				t.Errorf("#%d is merged at %s while %s is closed", m.Pull, at, w)
			}
		}
	}
}

// overriddenUntil is until when people released a pull request's head, as the contract has it; zero if they did not.
func overriddenUntil(s plan.Snapshot, p plan.Pull) time.Time {
	rules := s.Bases[p.Base].Policy.Override
	if rules == nil || p.FirstSeen.IsZero() {
		return time.Time{}
	}
	undone := int64(0)
	for _, c := range s.Commands {
		if c.Pull == p.Number && c.Verb == plan.ToUndo && c.Permit != plan.Forbidden {
			undone = max(undone, c.ID)
		}
	}
	last := map[string]time.Time{} // of each person
	for _, c := range s.Commands {
		if who := strings.ToLower(string(c.By)); c.Pull == p.Number && c.Verb == plan.ToRelease && c.Permit == plan.Permitted && c.Branch == "" && c.ID > undone &&
			strings.HasPrefix(string(p.Head), string(c.SHA)) && c.At.Add(s.Skew).After(p.FirstSeen) && c.At.After(last[who]) {
			last[who] = c.At
		}
	}
	ends := slices.SortedFunc(maps.Values(last), func(a, b time.Time) int { return b.Compare(a) })
	if len(ends) < rules.Approvals || !ends[rules.Approvals-1].Add(rules.Expires).After(s.At) {
		return time.Time{}
	}
	return ends[rules.Approvals-1].Add(rules.Expires)
}

// branched demands a branch for each release, by the file of the default branch.
func branched(t *testing.T, s plan.Snapshot, p plan.Pull, releases []layout.Release) {
	t.Helper()
	for _, r := range releases {
		if s.Bases[s.Default].Policy == nil || len(fuzzBranches[p.Base][r]) == 0 {
			t.Fatalf("#%d is merged into %s, and no branch takes %s", p.Number, p.Base, r)
		}
	}
}

// FuzzBranchesHold: what only branches hold is not held for a window, and its reason says
// which of them receives it.
func FuzzBranchesHold(f *testing.F) {
	fuzzed.Fuzz(f, func(t *testing.T, s plan.Snapshot) {
		for _, v := range gate.Decide(s).Verdicts {
			if v.Subject.Pull == 0 || s.Bases[v.Subject.Base].Policy == nil {
				continue
			}
			pull := pullOf(t, s, v.Subject.Pull)
			asked := asksOf(s.Bases[pull.Base].Policy, pull)
			if len(asked.branches) == 0 || len(asked.windows) > 0 || !pull.Complete || strings.Contains(v.Reason, "(as #") {
				continue // the last: another one with the same head tells
			}
			if v.Kind == plan.Held && !v.Until.IsZero() && pull.NotBefore == "" {
				t.Errorf("#%d is held until %s: %s", v.Subject.Pull, v.Until, v.Reason)
			}
			if v.Kind == plan.Release && !strings.Contains(v.Reason, " receives it") && !strings.Contains(v.Reason, " receive it") && !strings.HasPrefix(v.Reason, "due; merging after") {
				t.Errorf("#%d: nobody receives it: %s", v.Subject.Pull, v.Reason)
			}
		}
	})
}

func unknown(t *testing.T, s plan.Snapshot, p plan.Pull) {
	t.Helper()
	base := s.Bases[p.Base]
	for _, set := range base.Bypassed {
		approved := map[plan.Login]bool{}
		for _, r := range p.Reviews {
			if r.Approved && r.CanWrite && r.On == p.Head && r.By != p.Author && r.By != s.Us {
				approved[r.By] = true
			}
		}
		if len(set.Unseen) > 0 || len(approved) < set.Reviews {
			t.Errorf("#%d is merged past the ruleset %+v", p.Number, set)
		}
	}
	if p.Unread.Is() || base.Unread.Is() || !p.Complete || !p.ChecksAll || p.Mergeable != plan.MergeableYes || !base.Rules || p.Rules != nil || len(p.Moved) > 0 || p.Crossed ||
		s.Skew.Abs() > 30*time.Second || p.Draft ||
		(p.AutoMerge != "" && p.AutoMerge != base.Policy.PullRequests.Method) || (base.Strict && p.MergeBase != base.Tip) || base.Queue {
		t.Errorf("#%d is merged on what is not known or not allowed: %+v", p.Number, p)
	}
}

func pullOf(t *testing.T, s plan.Snapshot, number int) plan.Pull {
	t.Helper()
	i := slices.IndexFunc(s.Pulls, func(p plan.Pull) bool { return p.Number == number })
	if i < 0 {
		t.Fatalf("no pull request #%d", number)
	}
	return s.Pulls[i]
}

// FuzzPinned: (4) every write names the SHA it was decided on, and no two statuses stand at one place; (5) what is merged on one observation shares no file, and
// the observation is fresh, the pull request's details too.
func FuzzPinned(f *testing.F) {
	fuzzed.Fuzz(f, func(t *testing.T, s plan.Snapshot) {
		for i := range s.Pulls {
			s.Pulls[i].Read = s.At.Add(-time.Duration(i) * 4 * time.Second) // eight at most
		}
		mergedBy := map[string]int{}
		written := map[plan.Place]bool{}
		for _, a := range gate.Decide(s).Actions {
			pin := a.Pinned()
			set, isStatus := a.(plan.SetStatus)
			holds := isStatus && set.State != plan.Success
			if pin.Before.IsZero() != holds || pin.Before.Sub(s.At) > 30*time.Second || (!holds && !pin.Before.After(s.At)) {
				t.Errorf("%s is void from %s, decided at %s", a.Verb(), pin.Before, s.At)
			}
			var read time.Time
			for _, n := range a.About() {
				if p := pullOf(t, s, n); p.Read.After(read) {
					read = p.Read
				}
			}
			if !holds && !read.IsZero() && pin.Before.Sub(read) > 30*time.Second {
				t.Errorf("%s about %v is void from %s, and what it rests on is of %s", a.Verb(), a.About(), pin.Before, read)
			}
			if at := plan.PlaceOf(set.SHA, set.Context); isStatus && written[at] {
				t.Errorf("two statuses are written to %v", at)
			} else if isStatus {
				written[at] = true
			}
			if isStatus && len([]rune(set.Description)) > 140 {
				t.Errorf("description of %d characters", len([]rune(set.Description)))
			}
			if m, ok := a.(plan.Merge); ok {
				pull := pullOf(t, s, m.Pull)
				if m.SHA != pull.Head || m.Tip != s.Bases[pull.Base].Tip {
					t.Errorf("#%d is merged at %s onto %s", m.Pull, m.SHA, m.Tip)
				}
				for _, file := range pull.Files {
					touched := []string{file.Path}
					if file.Old != "" && file.Kind != plan.Copied { // the source of a copy does not change
						touched = append(touched, file.Old)
					}
					for _, path := range touched {
						if other := mergedBy[path]; other != 0 && other != m.Pull {
							t.Errorf("#%d and #%d share %s", m.Pull, other, path)
						}
						mergedBy[path] = m.Pull
					}
				}
			}
		}
	})
}

// FuzzWake: (6) no verdict changes before Wake unless the repository changes.
func FuzzWake(f *testing.F) { fuzzed.Wake(f, func(*testing.T, plan.Plan) {}) }
