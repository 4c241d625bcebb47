package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
)

const factsFile = "version: 1\ntimezone: UTC\nmode: enforce\nwindows:\n  night: {open: \"0 22 * * *\", duration: 4h}\n"

func policyOf(t testing.TB, text string) *config.Policy {
	t.Helper()
	p, findings := config.Parse([]byte(text))
	if p == nil {
		t.Fatal(findings)
	}
	return p
}

// What others did is among what a look finds, each with who, what and where; what nobody did, and what nobody could read, is not.
func TestFacts(t *testing.T) {
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	policy := policyOf(t, factsFile)
	ours := []RequiredCheck{{Context: "sluice/main", App: 7}}
	s := Snapshot{At: at, App: 7, Default: "main", Frozen: Freeze{Tip: "f1", Reason: "down", Author: "alice"},
		Commands: []Command{
			{ID: 5, Pull: 7, By: "bob", At: at.Add(-time.Minute), Permit: Permitted, Order: Order{Verb: ToRelease, SHA: "3f2a9c1", Reason: "the shop is down"}},
			{ID: 6, Pull: 7, By: "mallory", At: at, Permit: Forbidden, Order: Order{Verb: ToUndo}},
		},
		Bases: map[Branch]Base{
			"main": {Tip: "t", File: "b1", Policy: policy, Rules: true, Required: ours, Landings: []Landing{
				{SHA: "c1", By: "eve\u202e", At: at.Add(-time.Hour)}, {SHA: "c2", Name: "alice", At: at.Add(-2 * time.Hour)}}},
			"stacked": {Tip: "s", File: "b2", Policy: policy, Rules: true},
			"unread":  {Unread: Unread{Reason: "x"}, File: "b3"},
			"unruled": {Tip: "u", File: "b1", Policy: policy},
			"watched": {Tip: "w", File: "b4", Policy: policyOf(t, strings.Replace(factsFile, "enforce", "observe", 1)), Rules: true},
		}}
	p := Plan{
		Notes: []Note{{Code: NoteOutside, About: "main", Says: "c1 reached main outside sluice", SHA: "c1"}, {Code: NoteNotEnforced, About: "stacked", Says: "not enforced"}},
		Branches: []BranchVerdict{{Name: "rw/a", Kind: Failed, Old: "o1", Reason: "does not build"}, {Name: "rw/b", Kind: Applied, Old: "o1", Reason: "applied"},
			{Name: "rw/c", Kind: Held, Old: "o1"}},
	}
	got := map[string]Fact{}
	for _, f := range Facts(s, p) {
		about := f.About
		f.About, f.Reason = "", ""
		got[about] = f
	}
	want := map[string]Fact{
		"freeze":            {State: "f1", Verb: DidFreeze, By: "@alice", Branch: FreezeBranch, SHA: "f1"},
		"comment 5":         {State: "release", Verb: "release", By: "@bob", At: at.Add(-time.Minute), Pull: 7, SHA: "3f2a9c1"},
		"rules main":        {State: "b1", Verb: DidChangeRules, Branch: "main"},
		"enforced main":     {Verb: DidEnforce, Branch: "main"},
		"enforced stacked":  {State: "not enforced", Verb: DidNotEnforce, Branch: "stacked"},
		"commit c1 on main": {State: DidMergeOutside, Verb: DidMergeOutside, By: ByLogin("eve\u202e"), At: at.Add(-time.Hour), Branch: "main", SHA: "c1"},
		"commit c2 on main": {State: DidMerge, Verb: DidMerge, At: at.Add(-2 * time.Hour), Branch: "main", SHA: "c2"},
		"flux rw/a":         {State: "failed o1", Verb: "failed", By: ByFlux, Branch: "rw/a", SHA: "o1"},
		"flux rw/b":         {State: "applied o1", Verb: "applied", By: ByFlux, Branch: "rw/b", SHA: "o1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if by := string(want["commit c1 on main"].By); strings.ContainsRune(by, '\u202e') {
		t.Errorf("a name that turns the text around it: %q", by)
	}
	for _, f := range Facts(Snapshot{Default: "main", Bases: map[Branch]Base{"main": {Tip: "t"}}}, Plan{}) {
		if f.State != "" {
			t.Errorf("where nobody did anything: %+v", f)
		}
	}
}

// A change of the rules says what it opened and closed by then, by whom, and with which pull request.
func TestWhatTheRulesChanged(t *testing.T) {
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	const opened = factsFile + "  day: {dates: [{from: 2026-11-28T00:00, until: 2026-11-29T00:00}]}\n"
	all := strings.Replace(factsFile, "4h", "23h", 1)
	for name, c := range map[string]struct {
		was, is string
		state   string
		frozen  Freeze
		from    RulesOrigin
		want    string
	}{
		"the first file":      {is: factsFile, state: "b", from: RulesOrigin{SHA: "c", By: "bob", Pull: 9}, want: "mode enforce"},
		"a window opened":     {was: factsFile, is: opened, state: "b", from: RulesOrigin{SHA: "c", Pull: 9}, want: "opened day until Sun 29 Nov 2026 00:00 UTC"},
		"while all is frozen": {was: factsFile, is: opened, state: "b", frozen: Freeze{Tip: "f"}, from: RulesOrigin{SHA: "c", Pull: 9}, want: "changed day"},
		"a window removed":    {was: opened, is: factsFile, state: "b", from: RulesOrigin{SHA: "c", Pull: 9}, want: "removed day"},
		"one opened by its schedule": {was: factsFile, is: all, state: "b", from: RulesOrigin{SHA: "c", Pull: 9},
			want: "opened night until Sat 28 Nov 2026 21:00 UTC"},
		"one closed":   {was: all, is: factsFile, state: "b", from: RulesOrigin{SHA: "c", Pull: 9}, want: "closed night until Sat 28 Nov 2026 22:00 UTC"},
		"another hour": {was: factsFile, is: strings.Replace(factsFile, "4h", "3h", 1), state: "b", from: RulesOrigin{SHA: "c", Pull: 9}, want: "changed night"},
		"the mode, pushed": {was: factsFile, is: strings.Replace(factsFile, "enforce", "observe", 1), state: "b", from: RulesOrigin{SHA: "c", By: "bob"},
			want: "mode observe; pushed without a pull request, by whom its commit says"},
		"nothing of the windows": {was: factsFile, is: factsFile + "# more\n", state: "b", from: RulesOrigin{SHA: "c", Pull: 9}, want: "no window changes"},
		"invalid":                {was: factsFile, state: "b", from: RulesOrigin{SHA: "c", Pull: 9}, want: ".github/sluice.yaml is invalid: nothing is merged or moved"},
		"gone":                   {was: factsFile, from: RulesOrigin{SHA: "c", Pull: 9}, want: ".github/sluice.yaml is gone"},
		"by nobody known":        {is: factsFile, state: "b", want: "mode enforce; who did it could not be found out"},
	} {
		var is *config.Policy
		if c.is != "" {
			if is = policyOf(t, c.is); c.frozen.Is() {
				is = is.Frozen(c.frozen.By(), c.frozen.Until)
			}
		}
		if c.was != "" {
			c.from.Was = policyOf(t, c.was)
		}
		got := Fact{State: c.state}.From(c.from, is, c.frozen, at)
		if got.Reason != c.want || got.By != ByLogin(c.from.By) || got.Pull != c.from.Pull || got.SHA != c.from.SHA {
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
	}
}
