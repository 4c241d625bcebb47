package plan

import (
	"maps"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/window"
)

// FreezeBranch is [config.FreezeBranch].
const FreezeBranch Branch = config.FreezeBranch

// Freeze is what stands at the tip of [FreezeBranch]. The zero value says that there is none.
type Freeze struct {
	Tip    SHA
	Reason string    // the first line of the tip's message, on one line
	Until  time.Time // of its trailer `Until: TIME`; zero: until the branch is gone, also where the trailer cannot be read
	Author Login     // of the tip, as its git says: attribution, no proof; "": not known
}

// FreezeOf reads a tip and its message, which anybody may have written who may push. Of several trailers the latest end counts, and one that cannot be read is
// no end: a freeze that is not understood stays.
func FreezeOf(tip SHA, message string) Freeze {
	first, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	f := Freeze{Tip: tip, Reason: Text(Clean(first))}
	for line := range strings.Lines(message) {
		key, value, _ := strings.Cut(line, ":")
		if !strings.EqualFold(strings.TrimSpace(key), "Until") {
			continue
		}
		m, err := window.ParseMoment(strings.TrimSpace(value))
		if err != nil || !m.Exact() {
			f.Until = time.Time{}
			break
		}
		if at := m.In(time.UTC); at.After(f.Until) {
			f.Until = at
		}
	}
	return f
}

// Message is what FreezeOf reads as f.
func (f Freeze) Message() string {
	if f.Until.IsZero() {
		return f.Reason + "\n"
	}
	return f.Reason + "\n\nUntil: " + f.Until.UTC().Format(time.RFC3339) + "\n"
}

// Is reports whether there is one.
func (f Freeze) Is() bool { return f.Tip != "" }

// Stands reports whether there is one, whose end has not come.
func (f Freeze) Stands(at time.Time) bool { return f.Is() && (f.Until.IsZero() || at.Before(f.Until)) }

// Until is how long something is held that opens at an instant, in a zone; a zero one is none that is in sight.
func (s *Snapshot) Until(opens time.Time, zone *time.Location) string {
	switch {
	case !opens.IsZero():
		return " until " + Clock(opens, zone)
	case s.Frozen.Is() && s.Frozen.Until.IsZero():
		return " until that branch is deleted"
	}
	return ": no opening scheduled"
}

// By is what froze, for people.
func (f Freeze) By() string {
	if f.Reason == "" {
		return string(FreezeBranch)
	}
	return string(FreezeBranch) + ": " + f.Reason
}

// Freeze has a freeze close the windows of every base.
func (s *Snapshot) Freeze(f Freeze) {
	s.Frozen = f
	if !f.Is() {
		return
	}
	s.Bases = maps.Clone(s.Bases)
	for name, b := range s.Bases {
		if b.Policy != nil {
			b.Policy = b.Policy.Frozen(f.By(), f.Until)
		}
		s.Bases[name] = b
	}
}
