package plan

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
)

// Actor is who did something: sluice, Flux, or an account, whose name follows "@". "": nobody knows.
type Actor string

// Those that are no accounts.
const (
	BySluice Actor = "sluice"
	ByFlux   Actor = "Flux"
)

// ByLogin is an account; none is nobody.
func ByLogin(l Login) Actor {
	if l == "" {
		return ""
	}
	return Actor("@" + Clean(string(l)))
}

// Fact is how something stands that others than sluice decide about, as a look finds it. The history has each of its changes as an act of theirs.
type Fact struct {
	About  string // what it is: "freeze", "rules main", "comment 123"
	State  string // how it stands; "" is how it stands as long as nobody has done anything
	Verb   string // what was done, if that is news
	By     Actor
	At     time.Time // zero: when it was found
	Pull   int       // 0: about none
	Branch Branch    // the base, or the windowed branch; "": about none
	SHA    SHA       // "": about none
	Reason string
}

// RulesOrigin is how a branch came by its rules file.
type RulesOrigin struct {
	SHA  SHA   // the commit that changed it last; "": it could not be found out
	By   Login // who opened the pull request with which that came, or without one whom the commit names; "": not known
	Pull int   // 0: it came without one
	Was  *config.Policy
}

// Found adds to the fact that a branch has rules that it had them when it was first seen.
func (f Fact) Found(is *config.Policy) Fact {
	f.Reason = "as it was found: " + modeOf(is)
	return f
}

func modeOf(is *config.Policy) string {
	if is == nil {
		return config.File + " is invalid: nothing is merged or moved"
	}
	return "mode " + string(is.Mode)
}

// From adds to the fact of a change of rules how it came about, and what it changed by then.
func (f Fact) From(o RulesOrigin, is *config.Policy, frozen Freeze, at time.Time) Fact {
	f.By, f.SHA, f.Pull = ByLogin(o.By), o.SHA, o.Pull
	switch {
	case f.State == "":
		f.Reason = config.File + " is gone"
	case is == nil, o.Was == nil:
		f.Reason = modeOf(is)
	default:
		if frozen.Is() { // as it is
			o.Was = o.Was.Frozen(frozen.By(), frozen.Until)
		}
		f.Reason = rulesChanged(o.Was, is, at)
	}
	switch {
	case o.SHA == "":
		f.Reason += "; who did it could not be found out"
	case o.Pull == 0:
		f.Reason += "; pushed without a pull request, by whom its commit says"
	}
	return f
}

// rulesChanged says what one file makes another one do.
func rulesChanged(was, is *config.Policy, at time.Time) string {
	var says, others []string
	if was.Mode != is.Mode {
		says = append(says, "mode "+string(is.Mode))
	}
	for _, name := range was.Changed(is) {
		before, now := was.Calendar.At(name, at), is.Calendar.At(name, at)
		switch {
		case !is.Calendar.Has(name):
			says = append(says, "removed "+string(name))
		case now.Open && !before.Open:
			says = append(says, "opened "+string(name)+until(now.Until, is.Calendar.Zone(name)))
		case before.Open && !now.Open:
			says = append(says, "closed "+string(name)+until(now.Until, is.Calendar.Zone(name)))
		default:
			others = append(others, string(name))
		}
	}
	if len(others) > 0 {
		says = append(says, "changed "+strings.Join(others, ", "))
	}
	if len(says) == 0 {
		return "no window changes"
	}
	return strings.Join(says, "; ")
}

func until(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return ""
	}
	return " until " + Clock(t, zone)
}

// The verbs of what others do, beside those of comments and the verdicts of what Flux said.
const (
	DidChangeRules  = "rules"  // the file that counts for a branch is another one
	DidFreeze       = "freeze" // by [FreezeBranch]
	DidUnfreeze     = "unfreeze"
	DidEnforce      = "enforced" // GitHub demands sluice's status, from sluice alone
	DidNotEnforce   = NoteNotEnforced
	DidMerge        = "landed"    // a commit came to a base otherwise than by sluice, and nothing of it was closed
	DidMergeOutside = NoteOutside // likewise while a window of it was closed
)

// Facts is what others have done by the instant of a snapshot, by what it is about. What could not be read is not among it.
func Facts(s Snapshot, p Plan) []Fact {
	facts := []Fact{frozen(s.Frozen)}
	for _, c := range s.Commands {
		if c.Permit == Permitted {
			facts = append(facts, Fact{About: "comment " + strconv.FormatInt(c.ID, 10), State: string(c.Verb), Verb: string(c.Verb), By: ByLogin(c.By),
				At: c.At, Pull: c.Pull, Branch: c.Branch, SHA: c.SHA, Reason: c.Reason})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Bases)) {
		if base := s.Bases[name]; !base.Unread.Is() {
			facts = append(facts, ofBase(s, p, name, base)...)
		}
	}
	for _, b := range p.Branches {
		if b.Kind == Applied || b.Kind == Failed {
			facts = append(facts, Fact{About: "flux " + string(b.Name), State: string(b.Kind) + " " + string(b.Old), Verb: string(b.Kind), By: ByFlux,
				Branch: b.Name, SHA: b.Old, Reason: b.Text()})
		}
	}
	return facts
}

// Fresh is those of some facts that are another state than was told of them, and the states of all.
func Fresh(facts []Fact, told map[string]string) (fresh []Fact, now map[string]string) {
	now = make(map[string]string, len(facts))
	for _, f := range facts {
		if state, known := told[f.About]; !known || state != f.State {
			fresh = append(fresh, f)
		}
		now[f.About] = f.State
	}
	return fresh, now
}

func frozen(f Freeze) Fact {
	if !f.Is() {
		return Fact{About: "freeze", Verb: DidUnfreeze, Branch: FreezeBranch, Reason: string(FreezeBranch) + " is gone"}
	}
	return Fact{About: "freeze", State: string(f.Tip), Verb: DidFreeze, By: ByLogin(f.Author), Branch: FreezeBranch, SHA: f.Tip, Reason: f.By()}
}

// ofBase is what others did to a branch. The file of one that GitHub does not demand our status on counts for nothing but what stands on it for days.
func ofBase(s Snapshot, p Plan, name Branch, base Base) (facts []Fact) {
	required, _ := base.Enforced(name, s.App)
	if name == s.Default || required {
		facts = append(facts, Fact{About: "rules " + string(name), State: string(base.File), Verb: DidChangeRules, Branch: name})
	}
	outside := map[SHA]string{}
	enforced := Fact{About: "enforced " + string(name), Verb: DidEnforce, Branch: name, Reason: string(ContextFor(name)) + " is a required check on " + string(name)}
	for _, n := range p.Notes {
		switch {
		case n.About != string(name):
		case n.Code == NoteOutside:
			outside[n.SHA] = n.Says
		case n.Code == NoteNotEnforced:
			enforced.State, enforced.Verb, enforced.Reason = n.Says, DidNotEnforce, n.Says
		}
	}
	if base.Rules && base.Policy != nil && base.Policy.Mode == config.Enforce {
		facts = append(facts, enforced)
	}
	for _, c := range base.Landings {
		verb := DidMerge
		if outside[c.SHA] != "" {
			verb = DidMergeOutside
		}
		facts = append(facts, Fact{About: "commit " + string(c.SHA) + " on " + string(name), State: verb, Verb: verb, By: ByLogin(c.By), At: c.At,
			Branch: name, SHA: c.SHA, Reason: cmp.Or(outside[c.SHA], "reached "+string(name)+" otherwise than by sluice")})
	}
	return facts
}
