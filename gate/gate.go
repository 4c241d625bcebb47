// Package gate decides on pull requests: from what was observed of a repository at one instant to a verdict for each open
// pull request and the writes that follow from it.
//
// [Decide] is pure: it takes a [plan.Snapshot] and gives a [plan.Plan], and reads no clock, socket, file or environment. The
// same snapshot always gives the same plan, whatever the order of its lists.
//
// A pull request is decided on by a list of rules (onPulls) that are tried in its order; the first that applies gives the verdict and its
// reason (rulings.go, ready.go). What each verdict means to people stands in docs/operate.md. Then those that may be released are taken in
// the file's order and turned into merges, as far as one observation carries (turn.go). One decision gives both the status and the merge.
//
// Every doubt holds: an incomplete list of files, a name that no window has, checks or rules that could not be read,
// mergeability that GitHub does not know yet. None of them ever merges.
package gate

import (
	"cmp"
	"slices"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// Decide gives the verdict on every open pull request, broken base and merge group of s, and what to do about them.
func Decide(s plan.Snapshot) plan.Plan {
	j := newJudge(s)
	cases := j.decideAll()
	turns := j.giveTurns(cases) // may hold some over: before the verdicts are given
	line(cases)

	out := plan.Plan{At: s.At, Notes: append(j.notes(), told(cases)...)}
	for _, c := range cases {
		out.Verdicts = append(out.Verdicts, c.verdict())
	}
	var groups plan.Plan
	answers := j.decideGroups(&groups) // before the pull requests' statuses: where both are about one commit, the queue is answered
	statuses := slices.Concat(j.pullStatuses(), j.tipStatuses(&out), j.approvals(cases))
	out.Verdicts = append(out.Verdicts, groups.Verdicts...)
	j.alarm.LookAt(s.Again)
	out.Actions = inOrder(answers, statuses, turns)
	j.debts(&out)
	out.Lacks = j.lacks
	out.Wake, out.Look, out.Closes = j.alarm.Wake, j.alarm.Look, j.closes()
	return out
}

// judge is where one snapshot is decided on. It keeps what many cases ask for again.
type judge struct {
	s         plan.Snapshot
	roster    plan.Roster // which branches are windowed
	windowed  rosterNames // by it
	bases     map[plan.Branch]*plan.Base
	joints    map[string]opening // by the windows asked for
	known     map[*config.Policy]rosterNames
	receivers map[string]*receivers      // by the base and the branches asked for
	holders   map[string][]config.Branch // by the base and one pattern of branches
	fights    plan.Fights
	alarm     plan.Alarm

	shared   [][]*pullCase       // those that share a status
	decided  map[plan.Place]bool // where a status is decided on from what is open
	standing []plan.Debt         // of successes that stand and are as they should be
	room     *plan.Room
	lacks    bool // some success has no room that is within the equal share
}

func newJudge(s plan.Snapshot) *judge {
	s.Pulls = slices.Clone(s.Pulls)
	slices.SortFunc(s.Pulls, func(a, b plan.Pull) int { return cmp.Compare(a.Number, b.Number) })
	s.Groups = slices.Clone(s.Groups)
	slices.SortFunc(s.Groups, func(a, b plan.Group) int {
		return cmp.Or(cmp.Compare(a.Base, b.Base), cmp.Compare(a.Head, b.Head))
	})
	bases := make(map[plan.Branch]*plan.Base, len(s.Bases))
	for name, base := range s.Bases {
		bases[name] = &base
	}
	roster := s.Roster()
	return &judge{
		s: s, roster: roster, windowed: rosterNamesOf(roster), bases: bases, joints: map[string]opening{}, known: map[*config.Policy]rosterNames{},
		receivers: map[string]*receivers{}, holders: map[string][]config.Branch{}, fights: s.Fights(), alarm: plan.Alarm{At: s.At}, decided: map[plan.Place]bool{},
	}
}
