package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// surrounded is a file in which every surrounding finds something.
const surrounded = `version: 1
timezone: Europe/Berlin
windows:
  nightly: {open: "30 2 * * *", duration: 2h}
  once: {dates: [{from: 2020-01-01T00:00, until: 2020-01-02T00:00}]}
layout:
  preset: rt-rw
  window: nightly
  rules:
    - {paths: ["a/**"], release: live}
    - {paths: ["a/b/**"], release: nightly}
    - paths: ["nowhere/**"]
      release: once
    - {paths: ["b/**"], release: {branches: ["rw/*"]}}
branches:
  - {name: rw/a, from: trunk, window: once}
  - {name: Main, from: trunk, window: once}
`

// shadowed is what its rules say of themselves.
const shadowed = "11:16 warning rule-never-matches: layout.rules#2.paths#1: " +
	"rule 2: a/b/** can never match: rule 1: a/** takes all of it before\n"

// TestCheck looks at a valid file in its surroundings, one at a time: what is not known gives no findings.
func TestCheck(t *testing.T) {
	policy, findings := Parse([]byte(surrounded))
	if policy == nil {
		t.Fatalf("findings:\n%s", listing(findings))
	}
	for name, test := range map[string]struct {
		in   CheckInput
		want string
	}{
		"nothing known": {
			CheckInput{},
			shadowed,
		},
		"tree": {
			CheckInput{Paths: []string{"a/x", "a/y-rw/z", "a/b/c"}},
			"10:15 warning rule-makes-live: layout.rules#1.paths: the rule makes live what preset rt-rw would hold: a/y-rw/z\n" +
				shadowed + `12:14 warning rule-matches-nothing: layout.rules#3.paths: the rule matches no file of the tree
14:15 warning rule-matches-nothing: layout.rules#4.paths: the rule matches no file of the tree
`,
		},
		"default branch": {
			CheckInput{DefaultBranch: "main"},
			shadowed + `14:46 error branch-from-elsewhere: layout.rules#4.release.branches#1: "rw/*" matches no entry of branches that follows "main", the default branch ("rw/a" follows "trunk"): what needs it would be held there for ever
17:12 error branch-is-default: branches#2.name: branch "Main" is the default branch; a windowed branch follows it and cannot be it
`,
		},
		"a base that no branch follows": {
			CheckInput{DefaultBranch: "stable"},
			shadowed + `14:46 error branch-from-elsewhere: layout.rules#4.release.branches#1: "rw/*" matches no entry of branches that follows "stable", the default branch ("rw/a" follows "trunk"): what needs it would be held there for ever
`,
		},
		"a base that differs in case alone": {
			CheckInput{DefaultBranch: "Trunk"},
			shadowed + `14:46 error branch-from-elsewhere: layout.rules#4.release.branches#1: "rw/*" matches no entry of branches that follows "Trunk", the default branch ("rw/a" follows "trunk"): what needs it would be held there for ever
`,
		},
		"a base that branches follow": {
			CheckInput{DefaultBranch: "trunk"},
			shadowed,
		},
		"time": {
			CheckInput{At: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)},
			`4:19 warning clock-change: windows.nightly.open: the opening on Sun 28 Mar 2027 at 02:30 does not exist in Europe/Berlin: it happens as the clock jumps to 03:00 CEST
4:19 warning clock-change: windows.nightly.open: the opening on Sun 31 Oct 2027 at 02:30 occurs twice in Europe/Berlin: it opens the first time
5:17 warning dates-past: windows.once.dates: never opens again: all dates are past
` + shadowed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := listing(Check(policy, []byte(surrounded), test.in))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCheckWithoutPolicy: what Parse refused, Check has nothing to say about.
func TestCheckWithoutPolicy(t *testing.T) {
	if got := Check(nil, []byte("version: 2"), CheckInput{DefaultBranch: "main"}); got != nil {
		t.Errorf("findings:\n%s", listing(got))
	}
}
