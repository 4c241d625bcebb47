package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/window"
)

// foreseenWeeks is for how long a change of the rules is looked at: about 90 days.
const foreseenWeeks = 13

// Foreseen is the time for which a change of a policy's rules is looked at. It begins with the week, on Monday in the file's zone (nil: no policy, UTC), so
// that what a status says of it stands for a week.
func Foreseen(at time.Time, base *config.Policy) window.Interval {
	zone := time.UTC
	if base != nil && base.Zone != nil {
		zone = base.Zone
	}
	y, m, d := at.In(zone).Date()
	monday := d - (int(at.In(zone).Weekday())+6)%7
	return window.Interval{From: time.Date(y, m, monday, 0, 0, 0, 0, zone), Until: time.Date(y, m, monday+7*foreseenWeeks, 0, 0, 0, 0, zone)}
}

// Shift says how many openings are others: "3 openings come, 1 goes until Mon 1 Feb 2027".
func Shift(d window.Difference, zone *time.Location) string {
	var says []string
	for _, c := range []struct {
		n         int
		one, many string
	}{{d.Comes, "comes", "come"}, {d.Goes, "goes", "go"}, {d.Moves, "moves", "move"}} {
		noun := ""
		if len(says) == 0 {
			noun = " opening"
			if c.n > 1 {
				noun = " openings"
			}
		}
		switch {
		case c.n == 1:
			says = append(says, "1"+noun+" "+c.one)
		case c.n > 1:
			says = append(says, fmt.Sprintf("%d%s %s", c.n, noun, c.many))
		}
	}
	if len(says) == 0 {
		says = append(says, "no opening changes")
	}
	return strings.Join(says, ", ") + " until " + day(d.During.Until, zone)
}

// day is the date of an instant; with the time of day, where that is not its beginning.
func day(t time.Time, zone *time.Location) string {
	if zone == nil {
		zone = time.UTC
	}
	if t = t.In(zone); t.Hour() != 0 || t.Minute() != 0 {
		return Clock(t, zone)
	}
	return t.Format("Mon 2 Jan 2006")
}

// Steps is each change of an opening that has not ended, for people.
func Steps(d window.Difference, zone func(window.Name) *time.Location, at time.Time) (steps []Step) {
	for _, c := range d.Changes {
		if !c.Ended(at) {
			steps = append(steps, Step{About: string(c.Window), Says: changed(c, zone(c.Window))})
		}
	}
	if more := d.Comes + d.Goes + d.Moves - len(d.Changes); more > 0 {
		steps = append(steps, Step{About: "…", Says: fmt.Sprintf("%d more openings change until %s", more, day(d.During.Until, zone(window.Live)))})
	}
	return steps
}

func changed(c window.Change, zone *time.Location) string {
	switch {
	case c.Was.All == 0:
		return "comes: " + openings(c.Is, zone)
	case c.Is.All == 0:
		return "goes: " + openings(c.Was, zone)
	}
	return "moves: " + openings(c.Was, zone) + " becomes " + openings(c.Is, zone)
}

func openings(all window.Openings, zone *time.Location) string {
	var out []string
	for _, o := range all.First {
		out = append(out, opening(o, zone))
	}
	text := strings.Join(out, ", ")
	if more := all.All - len(out); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// opening is an opening as people read it, with until when it releases: "Mon 23 Nov 2026 08:00 until Thu 26 Nov 2026 17:00 CET (releases until 16:50)".
func opening(o window.Opening, zone *time.Location) string {
	switch {
	case o.From.IsZero() && o.Until.IsZero():
		return "always"
	case o.Until.IsZero():
		return Clock(o.From, zone) + " without an end in sight"
	case o.From.IsZero():
		return "until " + Clock(o.Until, zone)
	}
	from, releases := Clock(o.From, zone), "releases until "+o.Releases.In(zone).Format("15:04:05")
	until := strings.TrimPrefix(Clock(o.Until, zone), o.From.In(zone).Format("Mon 2 Jan 2006 "))
	if name, _ := o.From.In(zone).Zone(); strings.HasSuffix(until, " "+name) {
		from = strings.TrimSuffix(from, " "+name)
	}
	switch {
	case !o.Releases.After(o.From):
		releases = "releases nothing"
	case o.Releases.In(zone).Format(time.DateOnly) != o.Until.In(zone).Format(time.DateOnly):
		releases = "releases until " + Clock(o.Releases, zone)
	}
	return from + " until " + until + " (" + strings.TrimSuffix(releases, ":00") + ")"
}

// ZoneOf is the zone of a window as the first of two files has it, else the second; of one that neither has the first file's.
func ZoneOf(n window.Name, is, was *config.Policy) *time.Location {
	switch {
	case n != window.Live && is.Calendar.Has(n):
		return is.Calendar.Zone(n)
	case n != window.Live && was.Calendar.Has(n):
		return was.Calendar.Zone(n)
	case is.Zone != nil:
		return is.Zone
	}
	return time.UTC
}

// Foresee adds to the verdicts on pull requests that change the rules which openings are others then, and what of all that is held would be released now.
func Foresee(s Snapshot, p Plan) Plan {
	given, released := p.Verdicts, map[string]string{}
	for i, v := range given {
		base, change := s.Bases[v.Subject.Base], s.rulesOf(v.Subject.Pull)
		if base.Policy == nil || change == nil || change.Outline == nil || !change.Outline.Openings.Any() {
			continue
		}
		zone := func(n window.Name) *time.Location { return ZoneOf(n, base.Policy, base.Policy) }
		v.Why = slices.Clip(v.Why)
		if opens := opensNow(base.Policy, change.Outline, s.At); len(opens) > 0 && !s.Frozen.Stands(s.At) {
			key := fmt.Sprintf("%s %v", v.Subject.Base, opens) // many change the rules alike
			if released[key] == "" {
				released[key] = s.releasedBy(p, v.Subject.Base, opens)
			}
			v.Why = append(v.Why, Step{About: "once it is merged", Says: "releases at once: " + released[key]})
		}
		v.Why = append(v.Why, Steps(change.Outline.Openings, zone, s.At)...)
		if &p.Verdicts[0] == &given[0] {
			p.Verdicts = slices.Clone(given)
		}
		p.Verdicts[i] = v
	}
	return p
}

// rulesOf is what a pull request makes of the rules file; nil: nothing that is known.
func (s Snapshot) rulesOf(number int) *RulesChange {
	if i, ok := slices.BinarySearchFunc(s.Pulls, number, func(p Pull, n int) int { return p.Number - n }); ok {
		return s.Pulls[i].Rules
	}
	return nil
}

// opensNow is the windows that release nothing at an instant, and would by a change.
func opensNow(base *config.Policy, o *config.Outline, at time.Time) (names []window.Name) {
	for _, c := range o.Openings.Changes {
		if c.Is.Releasable(at) && !base.Calendar.At(c.Window, at).Releasable {
			names = append(names, c.Window)
		}
	}
	return names
}

// mostNamed is how many things a step names.
const mostNamed = 10

// releasedBy is what some windows of a base alone hold. What changes the rules itself people merge.
func (s Snapshot) releasedBy(p Plan, base Branch, opens []window.Name) string {
	var names []string
	all := 0
	name := func(what func() string) {
		if all++; all <= mostNamed {
			names = append(names, what())
		}
	}
	shut := func(n window.Name) bool { return !slices.Contains(opens, n) }
	for _, v := range p.Verdicts {
		if v.Subject.Base == base && v.Subject.Pull > 0 && len(v.Closed) > 0 && !slices.ContainsFunc(v.Closed, shut) && s.rulesOf(v.Subject.Pull) == nil {
			name(func() string { return fmt.Sprintf("#%d", v.Subject.Pull) })
		}
	}
	if base == s.Default {
		opened := map[Branch]bool{}
		for _, e := range s.Bases[base].Policy.Branches {
			opened[Branch(e.Name)] = slices.Contains(opens, e.Window)
		}
		for _, v := range p.Branches {
			if opened[v.Name] && v.Kind == Held && v.Waiting > 0 {
				name(func() string { return Clean(string(v.Name)) + " (" + commits(v.Waiting) + ")" })
			}
		}
	}
	switch text := strings.Join(names, ", "); {
	case all == 0:
		return "nothing that waits now"
	case all > mostNamed:
		return Text(fmt.Sprintf("%s and %d more", text, all-mostNamed))
	default:
		return Text(text)
	}
}

func commits(n int) string {
	if n == 1 {
		return "1 commit"
	}
	return fmt.Sprintf("%d commits", n)
}
