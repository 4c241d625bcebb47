package window

import "time"

// Frozen is the calendar with all of its windows frozen, Live too, before an instant; a zero one: without an end in sight. Of freezes that cover an instant this
// one gives its name.
func (c *Calendar) Frozen(by string, until time.Time) *Calendar {
	stretch := frost{span{beginning, end}, by}
	if !until.IsZero() {
		stretch.until = instantOf(until)
	}
	out := &Calendar{names: c.names, windows: make(map[Name]*compiledWindow, len(c.windows)), freezes: c.freezes}
	for n, w := range c.windows {
		out.windows[n] = &compiledWindow{
			spec: w.spec, always: w.always, schedule: w.schedule, dates: w.dates, cutoff: w.cutoff, frosts: frosts(append([]frost{stretch}, w.frosts...)),
		}
	}
	return out
}
