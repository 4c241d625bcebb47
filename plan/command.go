package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
)

// Command is a comment on a pull request whose first line tells sluice to do something. Comments that were edited, and those of Apps, are none.
type Command struct {
	ID     int64 // GitHub's: that of a later comment is larger
	Pull   int
	By     Login
	At     time.Time // by GitHub's clock, whose seconds are whole
	Permit Permit
	Order
}

// Earlier orders commands as they were written.
func (c Command) Earlier(other Command) int { return cmp.Compare(c.ID, other.ID) }

// Order is what the first line of a comment says.
type Order struct {
	Verb   Verb
	SHA    SHA    // of a release: the first digits of a commit, at least 7
	Branch Branch // of a release of what a windowed branch holds; else ""
	Reason string // of a release, one line made fit to be read
}

// Verb is what a comment tells sluice to do.
type Verb string

// The verbs.
const (
	ToRelease Verb = "release" // one commit, although a window is closed
	ToUndo    Verb = "undo"    // what was released on the same pull request before
	ToRecheck Verb = "recheck" // try again what GitHub refused
)

// Permit says whether somebody may do what a comment of theirs says, as GitHub and the file have it now.
type Permit int

// The words on who may.
const (
	PermitUnknown Permit = iota // it could not be found out
	Permitted
	Forbidden
)

// AnyReason stands in a line that is to be written, in the place of the reason.
const AnyReason = "REASON"

// OrderPrefix begins each comment that says something to sluice.
const OrderPrefix = "/sluice "

const (
	minDigits = 7
	maxReason = 200 // characters of somebody's reason that are kept
)

// OrderOf reads a comment; false if its first line says nothing to sluice. What is quoted or fenced does not begin with the word.
func OrderOf(body string) (Order, bool) {
	line, _, _ := strings.Cut(body[:min(len(body), maxHostile)], "\n")
	rest, ok := strings.CutPrefix(line, OrderPrefix)
	if !ok {
		return Order{}, false
	}
	words := strings.Fields(rest)
	switch {
	case len(words) == 1 && Verb(words[0]) == ToUndo, len(words) == 1 && Verb(words[0]) == ToRecheck:
		return Order{Verb: Verb(words[0])}, true
	case len(words) < 3 || Verb(words[0]) != ToRelease || !isDigits(words[1]):
		return Order{}, false
	}
	o := Order{Verb: ToRelease, SHA: SHA(strings.ToLower(words[1]))}
	words = words[2:]
	if words[0] == "--branch" {
		if len(words) < 3 || Clean(words[1]) != words[1] {
			return Order{}, false
		}
		o.Branch, words = Branch(words[1]), words[2:]
	}
	o.Reason = cut(Clean(strings.Join(words, " ")), maxReason)
	return o, true
}

// Grantees names whom a file lets release something.
func Grantees(o *config.Override) string {
	names := make([]string, len(o.By))
	for i, g := range o.By {
		if names[i] = g.Name; g.By != config.ByUser {
			names[i] = string(g.By) + " " + g.Name
		}
	}
	says := Few(names)
	if o.Approvals > 1 {
		says += fmt.Sprintf(" (%d of them)", o.Approvals)
	}
	return says
}

// isDigits reports whether a word is the beginning of the name of a commit, of which two are rarely the same.
func isDigits(word string) bool {
	return len(word) >= minDigits && len(word) <= 64 && strings.Trim(word, "0123456789abcdefABCDEF") == ""
}

// Line is the comment that OrderOf reads as o.
func (o Order) Line() string {
	line := OrderPrefix + string(o.Verb)
	if o.Verb != ToRelease {
		return line
	}
	if line += " " + string(o.SHA); o.Branch != "" {
		line += " --branch " + string(o.Branch)
	}
	return line + " " + o.Reason
}

// Override is the permission of people to release one commit now, although a window is closed.
type Override struct {
	By     []Login   // whoever wrote last is the first
	Reason string    // of that one
	Until  time.Time // of what is no override yet, when a part of it ends
	Lacks  string    // of that alone: what it takes still
}

// Is reports whether there is one.
func (o Override) Is() bool { return len(o.By) > 0 }

// Names are the people, for other people.
func (o Override) Names() string {
	names := make([]string, len(o.By))
	for i, by := range o.By {
		names[i] = string(by)
	}
	return Few(names)
}

// Overridable reports whether some file lets somebody give an override.
func (s *Snapshot) Overridable() bool {
	for _, b := range s.Bases {
		if b.Policy != nil && b.Policy.Override != nil {
			return true
		}
	}
	return false
}

// Seen is how pull requests stand that could be read, with what was taken back on any. Of others on which something was said it has no head.
func (s *Snapshot) Seen() map[int]Seen {
	all := map[int]Seen{}
	for n, is := range s.Proposals() {
		all[n] = Seen{Proposal: is}
	}
	for _, c := range s.Commands {
		one := all[c.Pull]
		if c.Verb == ToUndo && c.Permit == Permitted {
			one.Undone = max(one.Undone, c.ID)
		}
		all[c.Pull] = one
	}
	return all
}

// Remember adds to a snapshot what is remembered of its pull requests.
func (s *Snapshot) Remember(all map[int]Seen) {
	s.Undone = map[int]int64{}
	for n, one := range all {
		s.Undone[n] = one.Undone
	}
	for i := range s.Pulls {
		s.Pulls[i].FirstSeen = all[s.Pulls[i].Number].Since
	}
}

// toldMost is how many comments that do not count are told of: anybody may write them.
const toldMost = 3

// Override is what commands that are about one commit amount to, and what is to be said of those that do not. lines is how many of them it
// takes at least, by as many people as the rules ask for.
func (s *Snapshot) Override(rules *config.Override, lines int, about func(Command) (why string, is bool)) (found Override, told []Step) {
	if rules == nil {
		return Override{}, nil
	}
	tell := func(c Command, why string) {
		if len(told) < toldMost {
			told = append(told, Step{About: OrderPrefix + string(c.Verb) + " " + string(c.SHA), Says: "by " + Clean(string(c.By)) + ": " + why})
		}
	}
	people, count := map[string]bool{}, 0
	all := slices.CompactFunc(slices.SortedFunc(slices.Values(s.Commands), Command.Earlier), func(a, b Command) bool { return a.ID == b.ID })
	for _, c := range slices.Backward(all) {
		why, is := about(c)
		ends := c.At.Add(rules.Expires)
		switch {
		case !is, c.ID <= s.Undone[c.Pull]:
			continue
		case c.Verb == ToUndo && c.Permit != Forbidden:
			return Override{}, told
		case c.Verb != ToRelease:
			continue
		case why != "":
		case c.Permit == Forbidden:
			why = "override.by in " + config.File + " does not name them, or it was edited"
		case c.Permit == PermitUnknown:
			why = "it could not be found out whether they may"
		case !s.At.Before(ends):
			continue
		}
		if why != "" {
			tell(c, why)
			continue
		}
		if count++; count == 1 {
			found.Reason = c.Reason
		}
		if who := strings.ToLower(string(c.By)); !people[who] {
			people[who], found.By = true, append(found.By, c.By)
		}
		if found.Until = Soonest(found.Until, ends); len(people) >= rules.Approvals && count >= lines {
			return found, told
		}
	}
	if count > 0 {
		found.Lacks = sayLacks(found.Names(), rules.Approvals-len(people))
	}
	return Override{Until: found.Until, Lacks: found.Lacks}, told
}

// sayLacks is what has to be written still.
func sayLacks(names string, people int) string {
	if people > 0 {
		return names + " asked to release it: another of override.by has to write the same line"
	}
	return names + " asked to release it: write the same line again"
}
