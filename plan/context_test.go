package plan_test

import (
	"strings"
	"testing"

	"github.com/sluicegate/sluice/plan"
)

// TestContextFor: an ordinary name stands as it is, and what GitHub would fold is spelt.
func TestContextFor(t *testing.T) {
	for base, want := range map[plan.Branch]plan.Context{
		"main":                 "sluice/main",
		"release/1.2_x-y":      "sluice/release/1.2_x-y",
		"Main":                 "sluice/^main",
		"feature/JIRA-1":       "sluice/feature/^j^i^r^a-1",
		"größe":                "sluice/gr~c3~b6~c3~9fe",
		"GRÖßE":                "sluice/^g^r~c3~96~c3~9f^e",
		"\u212a":               "sluice/~e2~84~aa", // the sign of Kelvin, which some fold to a k
		"bad\xff":              "sluice/bad~ff",
		"promote":              "sluice/:promote",
		"Promote":              "sluice/:^promote",
		"promote/rw/a":         "sluice/:promote/rw/a",
		"PROMOTE/rw/a":         "sluice/:^p^r^o^m^o^t^e/rw/a",
		"promoted":             "sluice/promoted",
		"promote-2":            "sluice/promote-2",
		"x/promote/a":          "sluice/x/promote/a",
		":^~ no name of a ref": "sluice/~3a~5e~7e~20no~20name~20of~20a~20ref",
	} {
		if got := plan.ContextFor(base); got != want {
			t.Errorf("%q: %s, want %s", base, got, want)
		}
	}
	for branch, want := range map[plan.Branch]plan.Context{
		"rw/cluster-1": "sluice/promote/rw/cluster-1",
		"RW/a":         "sluice/promote/^r^w/a",
		"promote/a":    "sluice/promote/promote/a",
		"é":            "sluice/promote/~c3~a9",
	} {
		if got := plan.PromoteContextFor(branch); got != want {
			t.Errorf("%q: %s, want %s", branch, got, want)
		}
	}
}

// FuzzContexts: GitHub folds contexts, so that a success for one branch must never be one for another: distinct bases have distinct
// folded contexts, so have distinct windowed branches, and no base has the context of a windowed branch or of their summary.
func FuzzContexts(f *testing.F) {
	for _, pair := range [][2]string{
		{"main", "Main"}, {"promote", "main"}, {"promote/rw/a", "rw/a"}, {"Promote/rw/a", "rw/a"}, {"^main", "Main"}, {":promote", "promote"},
		{"~c3", "\xc3"}, {"k", "\u212a"}, {"s", "\u017f"}, {"ä", "Ä"}, {"ß", "ẞ"}, {"İ", "i\u0307"}, {"a ", "a"}, {"a/", "a"}, {"", "promote"}, {"a\xff", "a\xfe"},
	} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		a, b := plan.Branch(one), plan.Branch(other)
		alike := func(x, y plan.Context) bool { // whichever way GitHub folds
			for _, fold := range []func(string) string{strings.ToLower, strings.ToUpper, strings.ToTitle} {
				if fold(string(x)) == fold(string(y)) {
					return true
				}
			}
			return strings.EqualFold(string(x), string(y))
		}
		if a != b && alike(plan.ContextFor(a), plan.ContextFor(b)) {
			t.Errorf("the bases %q and %q share %s", a, b, plan.ContextFor(a))
		}
		if a != b && alike(plan.PromoteContextFor(a), plan.PromoteContextFor(b)) {
			t.Errorf("the branches %q and %q share %s", a, b, plan.PromoteContextFor(a))
		}
		for _, base := range []plan.Branch{a, b} {
			for _, branch := range []plan.Branch{a, b} {
				if alike(plan.ContextFor(base), plan.PromoteContextFor(branch)) {
					t.Errorf("the base %q has the lock of the branch %q", base, branch)
				}
			}
			if alike(plan.ContextFor(base), plan.PromoteContext) || alike(plan.PromoteContextFor(base), plan.PromoteContext) {
				t.Errorf("the branch %q has the context of the summary", base)
			}
			for _, c := range []plan.Context{plan.ContextFor(base), plan.PromoteContextFor(base)} {
				if strings.ToLower(string(c)) != string(c) || strings.ContainsFunc(string(c), func(r rune) bool { return r <= ' ' || r > '~' }) {
					t.Errorf("%q: %s is not as GitHub folds it", base, c)
				}
			}
		}
	})
}
