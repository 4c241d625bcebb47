// Package scenario is what the tests of gate and promoter share: archives in testdata/scenarios that read as a specification, worlds
// that a fuzzer draws, and what must hold in each of them. Only tests import it.
package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sluicegate/sluice/internal/golden"
	"github.com/sluicegate/sluice/plan"
)

// Us and App are who sluice is in every scenario.
const (
	Us  plan.Login = "sluice"
	App int64      = 4711
)

// Run reads testdata/scenarios, at least so many: what was observed, and the plan that follows. The comment above each says why.
func Run(t *testing.T, least int, snapshot func(*testing.T, *golden.Archive) plan.Snapshot, decide func(plan.Snapshot) plan.Plan, render func(plan.Plan) string) {
	t.Helper()
	golden.Archives(t, "testdata/scenarios/*.txtar", least, func(t *testing.T, a *golden.Archive) {
		t.Parallel()
		a.Put("plan", render(decide(snapshot(t, a))))
	})
}

// Now is the instant of a scenario.
func Now(t *testing.T, a *golden.Archive) time.Time {
	t.Helper()
	now, err := time.Parse(time.RFC3339, strings.TrimSpace(string(a.Section("now"))))
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// Strict reads a section of YAML, which may be missing; every key in it must be known.
func Strict(t *testing.T, data []byte, into any) {
	t.Helper()
	if len(data) == 0 {
		return
	}
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// Named reads CONTEXT or CONTEXT@APP.
func Named(text string) (context plan.Context, by int64) {
	name, id, ok := strings.Cut(text, "@")
	if ok {
		if _, err := fmt.Sscan(id, &by); err != nil {
			panic(err)
		}
	}
	return plan.Context(name), by
}

// CheckStates are the words for the states of checks.
func CheckStates() map[string]plan.CheckState {
	return map[string]plan.CheckState{"green": plan.CheckGreen, "red": plan.CheckRed, "running": plan.CheckPending}
}

// Checks reads CONTEXT or CONTEXT@APP → green, red, running; nil is one green check.
func Checks(in map[string]string) []plan.Check {
	if in == nil {
		in = map[string]string{"ci/build": "green"}
	}
	var out []plan.Check
	for _, name := range slices.Sorted(maps.Keys(in)) {
		context, by := Named(name)
		out = append(out, plan.Check{Context: context, App: by, By: "ci", State: CheckStates()[in[name]]})
	}
	return out
}

// Ours reads a status that was set a minute ago: "pending: text", "success by mallory: text", or none.
func Ours(text string, context plan.Context, now time.Time) []plan.Status {
	if text == "" {
		return nil
	}
	state, description, _ := strings.Cut(text, ": ")
	state, by, _ := strings.Cut(state, " by ")
	return []plan.Status{{Context: context, State: plan.StatusState(state), Description: description, By: plan.Login(cmp.Or(by, string(Us))), At: now.Add(-time.Minute)}}
}

// SHA pads a nickname to a full SHA: "c7" is c700…; none is none.
func SHA(nick string) plan.SHA {
	if nick == "" {
		return ""
	}
	return plan.SHA(nick + strings.Repeat("0", 40-len(nick)))
}

// Nick is the nickname of a SHA, "-" of none.
func Nick(s plan.SHA) string { return cmp.Or(strings.TrimRight(string(s), "0"), "-") }

// Instant writes an instant after some words; nothing if there is none.
func Instant(before string, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return before + t.UTC().Format(time.RFC3339)
}

// Comment is one that somebody wrote on a pull request; the oldest comes first. Permit is "forbidden" or "unknown"; else they may.
type Comment struct {
	Pull     int
	By, Says string
	Ago      time.Duration
	Permit   string
}

// Commands are what comments say to sluice; nil if they were not read.
func Commands(t *testing.T, all []Comment, now time.Time) (out []plan.Command) {
	t.Helper()
	if all != nil {
		out = []plan.Command{}
	}
	for i, c := range all {
		order, is := plan.OrderOf(c.Says)
		if !is {
			t.Fatalf("%q says nothing to sluice", c.Says)
		}
		permit, known := map[string]plan.Permit{"": plan.Permitted, "forbidden": plan.Forbidden, "unknown": plan.PermitUnknown}[c.Permit]
		if !known {
			t.Fatalf("there is no permit %q", c.Permit)
		}
		out = append(out, plan.Command{ID: int64(i + 1), Pull: c.Pull, By: plan.Login(cmp.Or(c.By, "alice")), At: now.Add(-c.Ago), Permit: permit, Order: order})
	}
	return out
}
