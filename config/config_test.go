package config

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/window"
)

func exampleFile(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestExample reads the file that documents every key.
func TestExample(t *testing.T) {
	p, findings := Parse(exampleFile(t))
	if p == nil {
		t.Fatalf("findings:\n%s", listing(findings))
	}
	want := PullRequests{
		Live: Merge, Window: Merge, Method: Squash, Checks: ChecksAll, ChecksIgnore: []string{}, Settle: 2 * time.Minute,
		HoldLabels: []string{"hold", "do-not-merge"}, RequireLabels: []string{}, OldestFirst: true, UpdateWhenDue: true,
	}
	if diff := cmp.Diff(want, p.PullRequests); diff != "" {
		t.Errorf("pull_requests (-want +got):\n%s", diff)
	}
	branches := []Branch{{Name: "rw/cluster-1", From: "main", Window: "no-deploy-friday", Checks: ChecksRequired}}
	if diff := cmp.Diff(branches, p.Branches); diff != "" {
		t.Errorf("branches (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]window.Name{"no-deploy-friday", "patch-tuesday", "migration"}, p.Calendar.Names()); diff != "" {
		t.Errorf("windows (-want +got):\n%s", diff)
	}
	for path, want := range map[string][]layout.Release{
		"clusters/c1/infra/x.yaml":                      {"live"},
		"clusters/no-deploy-friday/apps/apps-rw/x.yaml": {"no-deploy-friday"},
		"clusters/c1/shared-rw/x.yaml":                  {"no-deploy-friday", "patch-tuesday"},
		"apps/nginx/nginx-rw/x.yaml":                    {"branch:rw/*"},
		"nginx-rw/deployment.yaml":                      {"no-deploy-friday"},
		"nginx-rt/deployment.yaml":                      {"live"},
		"README.md":                                     nil,
		".github/sluice.yaml":                           nil,
	} {
		if diff := cmp.Diff(want, p.Layout.Classify(path).Releases); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if got := p.Calendar.Cutoff("no-deploy-friday"); got != 10*time.Minute {
		t.Errorf("cutoff of no-deploy-friday is %s, want 10m", got)
	}
	if got := p.Calendar.Cutoff("patch-tuesday"); got != window.DefaultCutoff {
		t.Errorf("cutoff of patch-tuesday is %s, want the default", got)
	}
	if diff := cmp.Diff(branches, p.Matching("branch:rw/*")); diff != "" {
		t.Errorf("matching branches (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(branches, p.MatchingFrom("branch:rw/*", "main")); diff != "" {
		t.Errorf("matching branches of main (-want +got):\n%s", diff)
	}
	for _, base := range []string{"Main", "release", ""} {
		if got := p.MatchingFrom("branch:rw/*", base); len(got) != 0 {
			t.Errorf("branches of %q are %v, want none: they follow main", base, got)
		}
	}
	for _, release := range []layout.Release{"live", "rw/cluster-1", "branch:"} {
		if got := p.Matching(release); len(got) != 0 {
			t.Errorf("%q matches %v, want nothing", release, got)
		}
	}
}

// TestDefaults reads the shortest file.
func TestDefaults(t *testing.T) {
	p, findings := Parse([]byte("version: 1\n"))
	if p == nil || len(findings) != 0 {
		t.Fatalf("findings:\n%s", listing(findings))
	}
	want := PullRequests{
		Live: Merge, Window: Merge, Method: MergeCommit, Checks: ChecksAll, Settle: 2 * time.Minute,
		HoldLabels: []string{"hold", "do-not-merge"}, OldestFirst: true, UpdateWhenDue: true,
	}
	if diff := cmp.Diff(want, p.PullRequests); diff != "" {
		t.Errorf("pull_requests (-want +got):\n%s", diff)
	}
	if p.Mode != Enforce || len(p.Branches) != 0 || p.Calendar == nil || p.Layout == nil {
		t.Errorf("policy is %+v", p)
	}
	if got := p.Layout.Classify("any/path").Releases; len(got) != 0 {
		t.Errorf("a path without rules needs %v, want nothing: it is ignored", got)
	}
}

// TestDigests tells which windows a change of the file changes.
func TestDigests(t *testing.T) {
	base := "version: 1\ntimezone: UTC\nwindows:\n  a: {open: '0 8 * * *', duration: 1h}\n  b: {open: '0 9 * * *', duration: 1h}\n"
	old, _ := Parse([]byte(base))
	for change, want := range map[string][]window.Name{
		base + "mode: observe\n": nil,
		"version: 1\ntimezone: UTC\nwindows:\n  b: {duration: 60m, open: '0 9 * * *', description: the same}\n  a: {open: '0 8 * * *', duration: 1h, timezone: UTC}\n": nil,
		"version: 1\ntimezone: Asia/Tokyo\nwindows:\n  a: {open: '0 8 * * *', duration: 1h, timezone: UTC}\n  b: {open: '0 9 * * *', duration: 1h}\n":                  {"b"},
		base + "freezes: [{name: f, from: 2026-01-01T00:00, until: 2026-01-02T00:00, windows: [a]}]\n":                                                                 {"a"},
		base + "freezes: [{name: f, from: 2026-01-01T00:00, until: 2026-01-02T00:00}]\n":                                                                               {"a", "b"},
		base + "freezes: [{name: f, from: 2026-01-01T00:00, until: 2026-01-02T00:00, windows: [live]}]\n":                                                              {"live"},
	} {
		changed, findings := Parse([]byte(change))
		if changed == nil {
			t.Fatalf("%s\n%s", change, listing(findings))
		}
		var got []window.Name
		for _, name := range []window.Name{"a", "b", "live"} {
			if old.Windows[name] != changed.Windows[name] {
				got = append(got, name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s(-want +got):\n%s", change, diff)
		}
	}
}
