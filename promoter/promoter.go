// Package promoter decides on windowed branches: from what was observed of a repository at one instant to a verdict for each
// entry of `branches` in the default branch's file, and the writes that follow from it.
//
// [Decide] is pure: it takes a [plan.Snapshot] and gives a [plan.Plan], and reads no clock, socket, file or environment. The
// same snapshot always gives the same plan, whatever the order of its lists.
//
// A branch follows another one, its source. Its goal is the newest commit of the source's first-parent line that descends from
// the branch and whose checks passed (goal.go). A list of rules says what becomes of it, and the first that applies gives the
// verdict and its reason (rulings.go). All moves that are due are one action; a status on each source's tip sums the branches
// up, and what lets a branch move to a commit is taken back where it may not move there now (status.go).
//
// A branch only ever moves forward on the line, and only while its window is releasable. The one exception is a branch that was
// deleted: it is put back where it was last seen, never further, whatever the window.
//
// Every doubt waits: a branch or source that was not observed, a comparison that failed, checks or rules that could not
// be read, a clock that is off. None of them ever moves a branch.
package promoter

import (
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// Decide gives the verdict on every windowed branch of the default branch's file in s, and what to do about them. Without a
// valid file there are none.
func Decide(s plan.Snapshot) plan.Plan {
	out := plan.Plan{At: s.At}
	policy := s.Bases[s.Default].Policy
	if policy == nil || len(policy.Branches) == 0 {
		return out
	}
	j := newJudge(s, policy)
	cases := j.decideAll()
	for _, d := range cases {
		out.Branches = append(out.Branches, d.verdict())
		if d.tracked != nil && d.tracked.Unguarded && policy.Mode == config.Enforce {
			out.Notes = append(out.Notes, plan.Note{Code: codeNotLocked, About: string(d.name), Says: sayNotLocked(d.name)})
		}
	}
	out.Actions = j.actions(cases)
	j.alarm.LookAt(s.Again)
	out.Wake, out.Look = j.alarm.Wake, j.alarm.Look
	return out
}

// judge is where one snapshot is decided on. It keeps what many branches ask for again.
type judge struct {
	s        plan.Snapshot
	policy   *config.Policy
	tracked  map[plan.Branch]*plan.WindowedBranch // nil: observed twice, so it is not known which is right
	stuck    map[position]plan.Stuck              // what was refused where a branch stands, taken together
	openings map[window.Name]*opening
	lines    map[plan.Branch]*line
	goals    map[aim]*goal
	fights   plan.Fights
	alarm    plan.Alarm
}

// position is where one branch stands.
type position struct {
	branch plan.Branch
	at     plan.SHA
}

func newJudge(s plan.Snapshot, policy *config.Policy) *judge {
	j := &judge{
		s: s, policy: policy,
		tracked:  make(map[plan.Branch]*plan.WindowedBranch, len(s.Branches)),
		stuck:    make(map[position]plan.Stuck, len(s.Stuck)),
		openings: map[window.Name]*opening{}, lines: map[plan.Branch]*line{}, goals: map[aim]*goal{},
		fights: s.Fights(), alarm: plan.Alarm{At: s.At},
	}
	for i := range s.Branches {
		t := &s.Branches[i]
		if _, twice := j.tracked[t.Name]; twice {
			t = nil // fail closed
		}
		j.tracked[s.Branches[i].Name] = t
	}
	for _, v := range s.Stuck {
		key := position{v.Branch, v.Old}
		j.stuck[key] = mergeRefusals(j.stuck[key], v)
	}
	return j
}

// mergeRefusals makes one of two refusals of a branch that did not move since, in whatever order they come: the later one, as often as
// both. Each commit on the source is another goal, and what keeps a branch from one keeps it from the next.
func mergeRefusals(a, b plan.Stuck) plan.Stuck {
	last := a
	if c := b.At.Compare(a.At); c > 0 || (c == 0 && b.Reason < a.Reason) {
		last = b
	}
	last.Count = a.Count + b.Count
	return last
}

// opening is what the calendar says of one window at the instant of the snapshot.
type opening struct {
	window.State // of one with no opening in sight Next is the next day at the latest: the words for it may differ then
	name         window.Name
	zone         *time.Location // in which its instants are shown
	says         string         // of one that is open
}

func (j *judge) opening(name window.Name) *opening {
	if o, ok := j.openings[name]; ok {
		return o
	}
	cal := j.policy.Calendar
	o := &opening{State: cal.At(name, j.s.At), name: name, zone: cal.Zone(name)}
	if all := cal.Names(); name == window.Live && len(all) > 0 {
		o.zone = cal.Zone(all[0])
	}
	o.says = sayOpen(o.ReleasableChange, o.zone)
	if !o.Releasable && o.ReleasableChange.IsZero() {
		o.Next = plan.Soonest(o.Next, plan.NextDay(j.s.At))
	}
	j.openings[name] = o
	return o
}

// releasableFrom is the first instant from t on at which the window is releasable; zero: none in sight.
func (j *judge) releasableFrom(name window.Name, t time.Time) time.Time {
	if st := j.policy.Calendar.At(name, t); !st.Releasable {
		return st.ReleasableChange
	}
	return t
}
