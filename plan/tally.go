package plan

import (
	"iter"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/window"
)

// Tally is what a plan came to, counted.
type Tally struct {
	Pulls, Branches map[Kind]int     // verdicts on pull requests and windowed branches
	Notes           map[string]int   // by code
	calendar        *window.Calendar // of the default branch's file; nil: there is none
	needs           map[window.Name]map[Kind]int
}

// TallyOf counts what a plan came to.
func TallyOf(p Plan, policy *config.Policy) Tally {
	t := Tally{Pulls: map[Kind]int{}, Branches: map[Kind]int{}, Notes: map[string]int{}, needs: map[window.Name]map[Kind]int{}}
	need := func(w window.Name, kind Kind) {
		if t.needs[w] == nil {
			t.needs[w] = map[Kind]int{}
		}
		t.needs[w][kind]++
	}
	for _, v := range p.Verdicts {
		if v.Subject.Pull == 0 {
			continue
		}
		t.Pulls[v.Kind]++
		for _, r := range v.Releases {
			need(window.Name(r), v.Kind)
		}
	}
	windows := map[Branch]window.Name{}
	if policy != nil {
		t.calendar = policy.Calendar
		for _, b := range policy.Branches {
			windows[Branch(b.Name)] = b.Window
		}
	}
	for _, v := range p.Branches {
		t.Branches[v.Kind]++
		need(windows[v.Name], v.Kind)
	}
	for _, n := range p.Notes {
		t.Notes[n.Code]++
	}
	return t
}

// Sum is what several plans came to, but for when their windows are open.
func Sum(tallies iter.Seq[Tally]) Tally {
	sum := TallyOf(Plan{}, nil)
	for t := range tallies {
		for kind, n := range t.Pulls {
			sum.Pulls[kind] += n
		}
		for kind, n := range t.Branches {
			sum.Branches[kind] += n
		}
		for code, n := range t.Notes {
			sum.Notes[code] += n
		}
	}
	return sum
}

// Of is how many verdicts there are of a kind.
func (t Tally) Of(kind Kind) int { return t.Pulls[kind] + t.Branches[kind] }

// Windows are those of the file, as they are at an instant.
func (t Tally) Windows(at time.Time) (all []WindowCount) {
	if t.calendar == nil {
		return nil
	}
	for _, name := range t.calendar.Names() {
		all = append(all, WindowCount{
			Name: name, Open: t.calendar.At(name, at).Open, Held: t.needs[name][Held], Waiting: t.needs[name][Waiting],
		})
	}
	return all
}

// Calendar is that of the default branch's file; nil: there is none.
func (t Tally) Calendar() *window.Calendar { return t.calendar }

// WindowCount is a window at one instant.
type WindowCount struct {
	Name          window.Name
	Open          bool
	Held, Waiting int // pull requests and windowed branches that need it, by their verdict at the last look
}
