package attack

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"time"
)

// spec is one version of the repository's file, as the test means it. The oracle reads it; the service reads text.
type spec struct {
	text         string
	observe      bool
	windows      map[string][]span
	freezes      map[string]span
	cutoff       map[string]time.Duration // by window
	live, window string                   // pull_requests
	approvals    int                      // by people, where sluice approves
	method       string
	branchChecks string
	branches     bool // rw/a is a windowed branch, by window v
	override     bool // alice may release what is closed, for overrideFor
}

// span is [from, until).
type span struct{ from, until time.Time }

// life is how a world's time runs: the windows open and close every few minutes, and stay open for good at the end.
const (
	lastOpening = 32 * time.Minute
	lastClose   = 6 * time.Hour
)

// overrideFor is how long an override stands.
const overrideFor = 3 * time.Minute

// drawWindow draws the openings of one window.
func drawWindow(dice *rand.Rand, start time.Time) []span {
	var list []span
	at := start.Add(time.Duration(dice.IntN(8)-3) * time.Minute)
	for {
		long := time.Duration(3+dice.IntN(5)) * time.Minute
		if at.Add(long).After(start.Add(lastOpening - 3*time.Minute)) {
			break
		}
		list = append(list, span{at, at.Add(long)})
		at = at.Add(long + time.Duration(2+dice.IntN(4))*time.Minute)
	}
	return append(list, span{start.Add(lastOpening), start.Add(lastClose)})
}

// drawSpec draws a file that is valid.
func drawSpec(dice *rand.Rand, start time.Time) *spec {
	s := &spec{
		live:   pick(dice, "merge", "merge", "status", "approve"),
		window: pick(dice, "merge", "status", "approve"), approvals: dice.IntN(2), observe: dice.IntN(16) == 0, branches: dice.IntN(8) != 0,
		branchChecks: pick(dice, "none", "required", "required"),
		windows:      map[string][]span{"w": drawWindow(dice, start), "v": drawWindow(dice, start)}, freezes: map[string]span{}, cutoff: map[string]time.Duration{},
	}
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\nmode: %s\ntimezone: UTC\nwindows:\n", map[bool]string{true: "observe", false: "enforce"}[s.observe])
	for _, name := range []string{"v", "w"} {
		s.cutoff[name] = time.Duration(1+dice.IntN(2)) * time.Minute
		fmt.Fprintf(&b, "  %s:\n    cutoff: %s\n    dates:\n", name, s.cutoff[name])
		for _, one := range s.windows[name] {
			fmt.Fprintf(&b, "      - {from: %s, until: %s}\n", local(one.from), local(one.until))
		}
	}
	if dice.IntN(4) == 0 {
		s.freeze(&b, dice, start)
	}
	b.WriteString("layout:\n  preset: rt-rw\n  window: w\n  rules:\n    - paths: [\"infra/**\"]\n      release: w\n")
	if s.branches {
		b.WriteString("    - paths: [\"br/**\"]\n      release: {branches: [\"rw/*\"]}\n")
	}
	s.method = pick(dice, "merge", "squash", "rebase")
	fmt.Fprintf(&b, "pull_requests:\n  live: %s\n  window: %s\n  method: %s\n  checks: %s\n  settle: 0s\n  delete_branch: %v\n",
		s.live, s.window, s.method, pick(dice, "all", "required"), dice.IntN(4) == 0)
	if s.live == "approve" || s.window == "approve" {
		fmt.Fprintf(&b, "  approvals: %d\n", s.approvals)
	} else {
		s.approvals = 0
	}
	if s.branches {
		fmt.Fprintf(&b, "branches:\n  - {name: rw/a, from: main, window: v, checks: %s}\n", s.branchChecks)
	}
	if s.override = dice.IntN(3) != 0; s.override {
		fmt.Fprintf(&b, "override:\n  by: [\"user:alice\"]\n  expires: %s\n", overrideFor)
	}
	s.text = b.String()
	return s
}

// freeze closes both windows for some minutes.
func (s *spec) freeze(b *strings.Builder, dice *rand.Rand, start time.Time) {
	f := span{from: start.Add(time.Duration(dice.IntN(25)) * time.Minute)}
	f.until = f.from.Add(time.Duration(1+dice.IntN(8)) * time.Minute)
	fmt.Fprintf(b, "freezes:\n  - {name: f, from: %s, until: %s}\n", local(f.from), local(f.until))
	s.freezes["f"] = f
}

// open is when a window is open, without the freezes.
func (s *spec) open(window string) []span {
	list := s.windows[window]
	for _, f := range s.freezes {
		var left []span
		for _, one := range list {
			for _, part := range []span{{one.from, earliest(one.until, f.from)}, {latest(one.from, f.until), one.until}} {
				if part.from.Before(part.until) {
					left = append(left, part)
				}
			}
		}
		list = left
	}
	return list
}

// clone is another one, whose windows and freezes may change.
func (s *spec) clone() *spec {
	c := *s
	c.windows, c.freezes, c.cutoff = maps.Clone(s.windows), maps.Clone(s.freezes), maps.Clone(s.cutoff)
	return &c
}

func local(t time.Time) string { return t.Format("2006-01-02T15:04:05") }

// isOpen reports whether a window is open.
func (s *spec) isOpen(window string, at time.Time) bool {
	for _, one := range s.open(window) {
		if !at.Before(one.from) && at.Before(one.until) {
			return true
		}
	}
	return false
}

// shutSince tells since when a window releases nothing, its cutoff included; zero while it does. What never opened before is closed since
// long.
func (s *spec) shutSince(window string, at time.Time) time.Time {
	since := time.Unix(1, 0)
	for _, one := range s.open(window) {
		end := one.until.Add(-s.cutoff[window])
		if !at.Before(one.from) && at.Before(end) {
			return time.Time{}
		}
		if !end.After(at) {
			since = latest(since, end)
		}
	}
	return since
}

// edges are the instants at which something opens or closes.
func (s *spec) edges() []time.Time {
	var list []time.Time
	for window := range s.windows {
		for _, one := range s.open(window) {
			list = append(list, one.from, one.until.Add(-s.cutoff[window]), one.until)
		}
	}
	return list
}

func latest(list ...time.Time) time.Time {
	var out time.Time
	for _, t := range list {
		if t.After(out) {
			out = t
		}
	}
	return out
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// pick draws one of a list.
func pick[T any](dice *rand.Rand, list ...T) T { return list[dice.IntN(len(list))] }

// windowed reports whether a path may reach main only while window w is open: by the preset, or by the rule of infra. What the branches
// hold, what is live and what no rule names may go at any time.
func windowed(path string) bool {
	if strings.HasPrefix(path, "infra/") {
		return true
	}
	if strings.HasPrefix(path, "br/") || strings.HasPrefix(path, ".github/") {
		return false
	}
	parts := strings.Split(path, "/")
	for _, dir := range parts[:len(parts)-1] {
		if strings.HasSuffix(dir, "-rw") {
			return true
		}
	}
	return false
}
