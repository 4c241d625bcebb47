package plan_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sluicegate/sluice/plan"
)

func TestClean(t *testing.T) {
	for hostile, want := range map[string]string{
		"two\nlines\tand  spaces\u00a0": "two lines and spaces",
		"\u202egnp.exe":                 "\uFFFDgnp.exe",
		"\x1b[31mred":                   "\uFFFD[31mred",
		"a\xffb":                        "a\uFFFDb",
		"":                              "",
	} {
		if got := plan.Clean(hostile); got != want {
			t.Errorf("%q: %q, want %q", hostile, got, want)
		}
	}
}

// TestFitEndsInNoSpace: GitHub has no space at a description's end: what is wanted must equal what was written, or it is written for ever.
func TestFitEndsInNoSpace(t *testing.T) {
	for _, s := range []string{"GitHub refused the merge: ", strings.Repeat("x", plan.MaxReason-2) + "    ", strings.Repeat("x", plan.MaxReason) + " "} {
		if got := plan.Fit(s); got != strings.TrimSpace(s) {
			t.Errorf("%q: %q", s, got)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("held by\u202e no-deploy-friday\n", 12)
	f.Fuzz(func(t *testing.T, s string, n int) {
		clean := plan.Clean(s)
		if strings.ContainsFunc(clean, func(r rune) bool { return !unicode.IsPrint(r) && r != ' ' && r != '\uFFFD' }) || !utf8.ValidString(clean) {
			t.Errorf("%q is not fit to be read", clean)
		}
		if again := plan.Clean(clean); again != clean {
			t.Errorf("%q is cleaned to %q", clean, again)
		}
		if got := plan.Fit(clean); utf8.RuneCountInString(got) > plan.MaxReason {
			t.Errorf("%q is longer than a status takes", got)
		}
		if got := plan.Middle(clean, n); utf8.RuneCountInString(got) > max(n, 8) {
			t.Errorf("%q is longer than %d", got, n)
		}
	})
}

func TestClock(t *testing.T) {
	berlin := time.FixedZone("CET", 3600)
	for at, want := range map[string]string{
		"2026-11-23T07:00:00Z":           "Mon 23 Nov 2026 08:00 CET",
		"2026-11-23T07:00:01Z":           "Mon 23 Nov 2026 08:00:01 CET",
		"2026-11-23T06:59:59.000000001Z": "Mon 23 Nov 2026 08:00 CET",
	} {
		when, err := time.Parse(time.RFC3339Nano, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Clock(when, berlin); got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for count, want := range map[int]time.Duration{
		1: time.Minute, 2: 2 * time.Minute, 6: 32 * time.Minute, 7: time.Hour, 39: time.Hour, 40: 6 * time.Hour, 1 << 30: 24 * time.Hour,
	} {
		if got := plan.RetryAfter(count); got != want {
			t.Errorf("after %d refusals: %s, want %s", count, got, want)
		}
	}
}

// TestJoin: what takes green back goes first, then moves, then the rest in the order given.
func TestJoin(t *testing.T) {
	at := time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC)
	back := plan.SetStatus{Context: "back", Withdraws: true}
	status := plan.SetStatus{Context: "told"}
	moves := plan.MoveBranches{Moves: []plan.Move{{Branch: "rw/a", New: "a"}}}
	p := plan.Join(
		plan.Plan{At: at, Actions: []plan.Action{plan.Merge{Pull: 1}, status}, Wake: at.Add(time.Hour)},
		plan.Plan{At: at, Actions: []plan.Action{moves, back}, Wake: at.Add(time.Minute), Look: at},
	)
	var order []string
	for _, a := range p.Actions {
		name := a.Verb()
		if s, ok := a.(plan.SetStatus); ok {
			name = string(s.Context)
		}
		order = append(order, name)
	}
	if got := strings.Join(order, " "); got != "back move merge told" {
		t.Errorf("actions %s", got)
	}
	if !p.Wake.Equal(at.Add(time.Minute)) || !p.Look.Equal(at) || !p.At.Equal(at) {
		t.Errorf("at %s, wake %s, look %s", p.At, p.Wake, p.Look)
	}
}

// TestLatest: the order in which statuses are listed says nothing.
func TestLatest(t *testing.T) {
	at := time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC)
	a, b := plan.Status{By: "a", At: at, State: plan.Success}, plan.Status{By: "b", At: at, State: plan.Pending}
	old := plan.Status{By: "c", At: at.Add(-time.Second)}
	for _, all := range [][]plan.Status{{a, b, old}, {old, b, a}, {b, old, a}} {
		if got, ok := plan.Latest(all); !ok || got != b {
			t.Errorf("%v: %v", all, got)
		}
	}
	if _, ok := plan.Latest(nil); ok {
		t.Error("there is none")
	}
}

// TestPinned: a move of many is void when the first of them is; one that is put back has no end.
func TestPinned(t *testing.T) {
	at := time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC)
	p := plan.MoveBranches{Moves: []plan.Move{{New: "a"}, {New: "b", Before: at.Add(time.Hour)}, {New: "c", Before: at}}}.Pinned()
	if p.SHA != "a" || !p.Before.Equal(at) {
		t.Errorf("pinned to %s before %s", p.SHA, p.Before)
	}
}
