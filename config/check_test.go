package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/layout"
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
	"rule 2: a/b/** can never match: rule 1: a/** already matches all of it\n"

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
			shadowed + `14:46 error branch-from-elsewhere: layout.rules#4.release.branches#1: "rw/*" matches no entry of branches that follows "main", the default branch ("rw/a" follows "trunk"): what needs it would be held there forever
17:12 error branch-is-default: branches#2.name: branch "Main" is the default branch; a windowed branch follows it and cannot be it
`,
		},
		"a base that no branch follows": {
			CheckInput{DefaultBranch: "stable"},
			shadowed + `14:46 error branch-from-elsewhere: layout.rules#4.release.branches#1: "rw/*" matches no entry of branches that follows "stable", the default branch ("rw/a" follows "trunk"): what needs it would be held there forever
`,
		},
		"a base that differs in case alone": {
			CheckInput{DefaultBranch: "Trunk"},
			shadowed + `14:46 error branch-from-elsewhere: layout.rules#4.release.branches#1: "rw/*" matches no entry of branches that follows "Trunk", the default branch ("rw/a" follows "trunk"): what needs it would be held there forever
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

// TestCheckBesideErrors: what is read without an error is looked at in its surroundings, whatever else is wrong with the file.
func TestCheckBesideErrors(t *testing.T) {
	src := strings.Replace(surrounded, "nightly: {open: \"30 2 * * *\", duration: 2h}", "nightly: {open: \"30 2 * * *\", duration: 2}", 1)
	policy, findings := Parse([]byte(src))
	if policy != nil || len(findings) != 1 {
		t.Fatalf("the file is valid, or has another error:\n%s", listing(findings))
	}
	in := CheckInput{Paths: []string{"a/x", "b/x"}, DefaultBranch: "main", At: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}
	want := shadowed + `12:14 warning rule-matches-nothing: layout.rules#3.paths: the rule matches no file of the tree
14:46 error branch-from-elsewhere: layout.rules#4.release.branches#1: "rw/*" matches no entry of branches that follows "main", the default branch ("rw/a" follows "trunk"): what needs it would be held there forever
17:12 error branch-is-default: branches#2.name: branch "Main" is the default branch; a windowed branch follows it and cannot be it
`
	if diff := cmp.Diff(want, listing(Check(policy, []byte(src), in))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	// Of entries that were not read nothing is said, nor of patterns that may be about them.
	src = strings.Replace(surrounded, "{name: rw/a, from", "{nam: rw/a, from", 1)
	if got := listing(Check(nil, []byte(src), in)); strings.Contains(got, "branch-") || !strings.Contains(got, "rule-matches-nothing") {
		t.Errorf("findings:\n%s", got)
	}
}

// TestShares sums up what a tree gets: files by what they need, with an example of each; and those that are never releasable, with the reason.
func TestShares(t *testing.T) {
	policy, findings := Parse([]byte(`version: 1
timezone: UTC
windows:
  monday: {open: "0 8 * * MON", duration: 4h}
  tuesday: {open: "0 8 * * TUE", duration: 4h}
  week: {open: "0 8 * * MON", duration: 96h}
layout:
  rules:
    - {paths: ["live/**"], release: live}
    - {paths: ["both/**"], release: [monday, week, live]}
    - {paths: ["held/**"], release: {branches: ["rw/*"]}}
    - {paths: ["**/{day}/x/**"], release: "{day}"}
    - {paths: ["ign/**"], release: ignore}
  unmatched: week
branches:
  - {name: rw/a, from: main, window: week}
`))
	if policy == nil {
		t.Fatalf("findings:\n%s", listing(findings))
	}
	got := policy.Shares([]string{
		"live/a", "live/b", "both/a", "held/a", "monday/x/a", "tuesday/x/b", "tuesday/x/monday/x/b", "other/x/a", "other/x/b", "third/x/a", "ign/a",
		"README.md", File, "live/\n", ".github/y",
	})
	want := []Share{
		{ShareLive, []layout.Release{"live"}, 2, "live/a", ""},
		{ShareWindow, []layout.Release{"monday"}, 1, "monday/x/a", ""},
		{ShareWindow, []layout.Release{"monday", "week"}, 1, "both/a", ""},
		{ShareWindow, []layout.Release{"tuesday"}, 1, "tuesday/x/b", ""},
		{ShareWindow, []layout.Release{"week"}, 1, "README.md", ""},
		{ShareBranches, []layout.Release{"branch:rw/*"}, 1, "held/a", ""},
		{ShareIgnored, []layout.Release{}, 2, "ign/a", ""},
		{ShareNever, []layout.Release{"monday", "tuesday"}, 1, "tuesday/x/monday/x/b", "monday and tuesday are never open at the same time"},
		{ShareNever, []layout.Release{"{day}=other"}, 4, "other/x/a", "capture {day}=other names no window"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shares (-want +got):\n%s", diff)
	}
}

// TestSharesAreBounded: a tree that asks for more different things than MaxShares is summed up all the same.
func TestSharesAreBounded(t *testing.T) {
	var src strings.Builder
	src.WriteString("version: 1\ntimezone: UTC\nwindows:\n")
	for i := range 30 {
		fmt.Fprintf(&src, "  w%d: {open: '0 8 * * *', duration: 4h}\n", i)
	}
	src.WriteString("layout: {rules: [{paths: ['{a}/{b}/**'], release: ['{a}', '{b}']}]}\n")
	policy, findings := Parse([]byte(src.String()))
	if policy == nil {
		t.Fatalf("findings:\n%s", listing(findings))
	}
	var paths []string
	for i := range 30 * 30 {
		paths = append(paths, fmt.Sprintf("w%d/w%d/x", i/30, i%30))
	}
	got, files := policy.Shares(paths), 0
	for _, s := range got {
		files += s.Files
	}
	if last := got[len(got)-1]; len(got) != MaxShares+1 || files != len(paths) || last.Kind != ShareOther {
		t.Errorf("%d shares of %d files, at the end %+v", len(got), files, last)
	}
}

// TestClusterOutsideTree: a cluster's path that the tree does not have is a warning, however it is written; others are none.
func TestClusterOutsideTree(t *testing.T) {
	src := []byte(`version: 1
clusters:
  - {name: a, path: ./clusters/a/}
  - {name: b, path: .}
  - {name: c, path: clusters/c}
`)
	p, findings := Parse(src)
	if p == nil || len(p.Clusters) != 3 {
		t.Fatal(findings)
	}
	for _, f := range Check(p, src, CheckInput{Paths: []string{"clusters/a/x/y.yaml"}}) {
		if f.Code == codeNoSuchRoot && (f.Line != 5 || f.Severity != Warning) {
			t.Error(f)
		}
		findings = append(findings, f)
	}
	if len(findings) != 1 {
		t.Error(findings)
	}
	if more := Check(p, src, CheckInput{}); len(more) != 0 {
		t.Error("without a tree:", more)
	}
}

// TestCheckOfPartOfATree: of a tree that was not listed whole nothing is said but that.
func TestCheckOfPartOfATree(t *testing.T) {
	src := []byte("version: 1\ntimezone: UTC\nwindows: {w: {open: \"0 22 * * *\", duration: 4h}}\nlayout: {rules: [{paths: [\"apps/**\"], release: w}]}\n")
	p, findings := Parse(src)
	if p == nil {
		t.Fatal(findings)
	}
	in := CheckInput{Paths: []string{"README.md"}}
	if got := Check(p, src, in); len(got) != 1 || got[0].Code == codeNoTree {
		t.Fatalf("the rule matches something: %+v", got)
	}
	in.Missed = errors.New("too many")
	if got := Check(p, src, in); len(got) != 1 || got[0].Code != codeNoTree {
		t.Errorf("%+v", got)
	}
}
