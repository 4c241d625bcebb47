package main

import (
	"fmt"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/window"
)

// atUsage is what --at takes, after what it is for.
const atUsage = ": 2026-11-23T08:00, or 2026-11-23 for its beginning, in the file's zone; or with an offset, 2026-11-23T08:00:00+01:00 (default: now)"

// moment is what --at names: an instant, or a time on the wall clock of a file that is not read yet.
type moment struct {
	text  string
	exact time.Time // zero: it is local
	local window.Moment
}

// moment reads --at; "" is now.
func (e *env) moment(text string) (moment, error) {
	if text == "" {
		return moment{exact: e.now().UTC()}, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil && !t.IsZero() {
		return moment{text: text, exact: t.UTC()}, nil
	}
	m, err := window.ParseMoment(text)
	if err != nil {
		m, err = window.ParseMoment(text + "T00:00")
	}
	switch {
	case err != nil:
		return moment{}, fmt.Errorf("--at %q: want 2026-11-23T08:00 or 2026-11-23 in the file's zone, or RFC 3339 with an offset, like 2026-11-23T08:00:00+01:00", text)
	case m.Exact():
		return moment{text: text, exact: m.In(time.UTC)}, nil
	}
	return moment{text: text, local: m}, nil
}

// in is the instant by the zone of a file; nil: there is no valid one.
func (m moment) in(policy *config.Policy) (time.Time, error) {
	switch {
	case !m.exact.IsZero():
		return m.exact, nil
	case policy == nil:
		return time.Time{}, fmt.Errorf("--at %q: there is no valid file to say in which zone; add an offset, like 2026-11-23T08:00:00+01:00", m.text)
	case policy.Zone == nil:
		return time.Time{}, fmt.Errorf("--at %q: the file has no timezone of its own; add an offset, like 2026-11-23T08:00:00+01:00", m.text)
	}
	return m.local.In(policy.Zone), nil
}
