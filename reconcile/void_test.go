package reconcile

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/health"
	"github.com/sluicegate/sluice/plan"
)

// TestWhatAnEventVoids: an event voids the writes that rest on what it names, and no other.
func TestWhatAnEventVoids(t *testing.T) {
	const x, y, z, tip, group plan.SHA = "x", "y", "z", "t", "g"
	s := plan.Snapshot{
		Default: "main",
		Bases:   map[plan.Branch]plan.Base{"main": {Tip: tip}, "release": {}},
		Pulls: []plan.Pull{
			{Number: 1, Base: "release", Head: x, HeadRef: "fix"},
			{Number: 2, Base: "release", Head: y},
			{Number: 3, Base: "main", Head: y}, // shares 2's head
		},
	}
	release, home := plan.ContextFor("release"), plan.ContextFor("main")
	status := func(sha plan.SHA, c plan.Context) plan.Action {
		return plan.SetStatus{Pin: plan.Pin{SHA: sha}, Context: c, State: plan.Pending}
	}
	acts := map[string]plan.Action{
		"merge 1":   plan.Merge{Pin: plan.Pin{SHA: x}, Pull: 1, Base: "release", Context: release, DeleteBranch: "fix"},
		"status 1":  status(x, release),
		"update 1":  plan.Update{Pin: plan.Pin{SHA: x}, Pull: 1},
		"status 2":  status(y, release),
		"status 3":  status(y, home),
		"tip":       status(tip, home),
		"group":     status(group, release),
		"promote":   status(tip, plan.PromoteContext),
		"unlock":    status(tip, plan.PromoteContextFor("rw/a")),
		"move":      plan.MoveBranches{Moves: []plan.Move{{Branch: "rw/a", New: tip}}},
		"no base":   status(x, plan.ContextFor("gone")),
		"no pull":   plan.Update{Pin: plan.Pin{SHA: z}, Pull: 9},
		"no action": nil,
	}
	unknown := []string{"no base", "no pull", "no action"} // void with every event
	ours := []string{"promote", "unlock", "move"}          // rest on branches and commits
	of1 := []string{"merge 1", "status 1", "update 1"}
	of2, of3 := []string{"status 2"}, []string{"status 3"}
	join := func(all ...[]string) (out []string) {
		for _, some := range append(all, unknown) {
			out = append(out, some...)
		}
		return out
	}
	every := join(of1, of2, of3, ours, []string{"tip", "group"})
	for _, c := range []struct {
		why   string
		named plan.Mention
		want  []string
	}{
		{"the whole", plan.Mention{}, every},
		{"a pull request", plan.Mention{Pull: 1, SHA: x, Target: "release"}, join(of1)},
		{"one that left its head", plan.Mention{Pull: 1, SHA: z, Target: "release"}, join(of1)},
		{"one that shares its head", plan.Mention{Pull: 2, SHA: y, Target: "release"}, join(of2, of3)},
		{"one that nobody saw, with a head that somebody did", plan.Mention{Pull: 7, SHA: x, Target: "main"}, join(of1)},
		{"one that nobody saw", plan.Mention{Pull: 7, SHA: z, Target: "main"}, join()},
		{"one that needs the branch of another", plan.Mention{Pull: 7, SHA: z, Target: "fix"}, join([]string{"merge 1"})},
		{"one that was merged", plan.Mention{Pull: 7, SHA: z, Target: "release", Branch: "release"}, join(of1, of2, of3, []string{"group"}, ours)},
		{"a check", plan.Mention{SHA: y}, join(of2, of3, ours)},
		{"a check of a group", plan.Mention{SHA: group}, join([]string{"group"}, ours)},
		{"a check of a tip", plan.Mention{SHA: tip}, join([]string{"tip"}, ours)},
		{"a push to a base", plan.Mention{Branch: "release"}, join(of1, of2, of3, []string{"group"}, ours)},
		{"a push to the default branch, whose file counts everywhere", plan.Mention{Branch: "main"}, every},
		{"a push to a head", plan.Mention{Branch: "fix"}, join(of1, ours)},
		{"a push to a branch of nobody", plan.Mention{Branch: "other"}, join(ours)},
	} {
		t.Run(c.why, func(t *testing.T) {
			q := newQueue(1, at(0))
			e := q.addNew(t, 1, 1)
			l := &Loop{queue: q}
			e.events.Add(plan.Mention{}) // before the look: it is answered
			q.begin(e, at(1))
			k := &look{reading: reading{loop: l, entry: e, repo: e.repo, seen: e.events.Count}}
			k.sight = event.SightOf(s)
			for name, a := range acts {
				if k.void(event.ScopeOf(a)) {
					t.Errorf("%s is void before any event", name)
				}
			}
			q.note(e, c.named, 2)
			void := map[string]bool{}
			for _, name := range c.want {
				void[name] = true
			}
			for name, a := range acts {
				if got := k.void(event.ScopeOf(a)); got != void[name] {
					t.Errorf("%s: void %v, want %v", name, got, void[name])
				}
			}
			if k.seen = e.events.Count; k.void(event.ScopeOf(acts["merge 1"])) { // it was observed again
				t.Error("an event voids what was observed after it")
			}
		})
	}
}

// TestALookAnswersNames: what events named before a look is forgotten once it has seen the repository.
func TestALookAnswersNames(t *testing.T) {
	l := New(Options{Forge: still{}, Store: still{}, Decide: func(plan.Snapshot) plan.Plan { return plan.Plan{} }})
	l.adoptList([]plan.Repo{repository(1, 1)})
	e := l.queue.repos[plan.RepoKey{ID: 1}]
	for n := range 6000 {
		l.Poke(e.repo, event.Changed, plan.Mention{Pull: n + 1})
		if n%100 != 0 {
			continue
		}
		now := l.now()
		now.Tick += time.Hour
		l.mu.Lock()
		l.queue.advance(now)
		k := l.newLook(l.queue.next(now, nobodyWrites), now)
		l.mu.Unlock()
		_ = k.run(t.Context())
	}
	if e.events.Whole > 0 {
		t.Error("names gathered although looks answered them")
	}
}

// TestAnArrivalThatWasSeen: an event that says no more than that a pull request is open, with a head and a base, is no news to an
// observation that shows it: it voids nothing and makes no look. Whatever else it says, or comes before the observation ends, counts.
func TestAnArrivalThatWasSeen(t *testing.T) {
	const x, y plan.SHA = "x", "y"
	s := plan.Snapshot{Default: "main", Pulls: []plan.Pull{
		{Number: 1, Base: "main", Head: x}, {Number: 2, Base: "main", Head: y, Unread: plan.Unread{Reason: "timed out"}},
	}}
	seen := plan.Mention{Pull: 1, SHA: x, Target: "main", Arrival: true}
	status := event.ScopeOf(plan.SetStatus{Pin: plan.Pin{SHA: x}, Context: plan.ContextFor("main"), State: plan.Pending})
	change := func(f func(*plan.Mention)) plan.Mention {
		n := seen
		f(&n)
		return n
	}
	for _, c := range []struct {
		why    string
		during []plan.Mention // while it is observed
		after  []plan.Mention
		void   bool
		look   bool
	}{
		{why: "it came while it was observed", during: []plan.Mention{seen}},
		{why: "it came after", after: []plan.Mention{seen, seen}},
		{why: "it has another head", during: []plan.Mention{change(func(n *plan.Mention) { n.SHA = y })}, void: true, look: true},
		{why: "it has another head, after", after: []plan.Mention{change(func(n *plan.Mention) { n.SHA = y })}, void: true, look: true},
		{why: "it has another base", after: []plan.Mention{change(func(n *plan.Mention) { n.Target = "next" })}, void: true, look: true},
		{why: "it says more", after: []plan.Mention{change(func(n *plan.Mention) { n.Arrival = false })}, void: true, look: true},
		{why: "something else was said of it too", during: []plan.Mention{{SHA: x}, seen}, void: true, look: true},
		{why: "something else was said of another", during: []plan.Mention{seen, {Pull: 7}}, look: true},
		{why: "the pull request could not be read", after: []plan.Mention{{Pull: 2, SHA: y, Target: "main", Arrival: true}}, look: true},
		{why: "it left that head and came back", during: []plan.Mention{change(func(n *plan.Mention) { n.SHA = y }), seen}, void: true, look: true},
	} {
		t.Run(c.why, func(t *testing.T) {
			q := newQueue(2, at(0))
			e := q.addNew(t, 1, 1)
			l := &Loop{queue: q, forge: still{}, health: health.New(nil)}
			e.open = s.Proposals() // by the look before
			q.begin(e, at(1))
			k := &look{reading: reading{loop: l, entry: e, repo: e.repo, seen: e.events.Count}, line: e.line}
			for _, n := range c.during {
				q.note(e, n, 2)
			}
			k.sight = event.SightOf(s)
			k.observed(s)
			for _, n := range c.after {
				q.note(e, n, 3)
			}
			if got := k.void(status); got != c.void {
				t.Errorf("void: %v", got)
			}
			if got := e.burstEnd != never; got != c.look {
				t.Errorf("another look: %v", got)
			}
		})
	}
}

// TestAnArrivalAtWhatWasReadAgain: what is read again within a look may be another head than the observation before it showed. Then an
// event that names the older one says that the pull request left what was read again, and is news.
func TestAnArrivalAtWhatWasReadAgain(t *testing.T) {
	const x, y plan.SHA = "x", "y"
	shows := func(head plan.SHA) plan.Snapshot {
		return plan.Snapshot{Default: "main", Pulls: []plan.Pull{{Number: 1, Base: "main", Head: head}}}
	}
	arrives := func(head plan.SHA) plan.Mention {
		return plan.Mention{Pull: 1, SHA: head, Target: "main", Arrival: true}
	}
	l := New(Options{Forge: still{}, Store: still{}, Decide: func(plan.Snapshot) plan.Plan { return plan.Plan{} }})
	l.adoptList([]plan.Repo{repository(1, 1)})
	e := l.queue.repos[plan.RepoKey{ID: 1}]
	now := l.now()
	now.Tick += time.Hour
	l.mu.Lock()
	l.queue.advance(now)
	k := l.newLook(l.queue.next(now, nobodyWrites), now)
	l.mu.Unlock()
	k.sight = event.SightOf(shows(x))
	k.observed(shows(x))
	l.Poke(e.repo, event.Changed, arrives(y))
	k.seen, k.part = e.events.Count, []int{1}
	if _, _, err := k.readPart(t.Context(), shows(x), nil); err != nil {
		t.Fatal(err)
	}
	k.sight = event.SightOf(shows(y))
	write := event.ScopeOf(plan.SetStatus{Pin: plan.Pin{SHA: y}, Context: plan.ContextFor("main"), State: plan.Success})
	if k.void(write) {
		t.Error("void although nothing happened since it was read again")
	}
	l.Poke(e.repo, event.Changed, arrives(x))
	if !k.void(write) {
		t.Error("a success goes on although the pull request has another head since")
	}
}
