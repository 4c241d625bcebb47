package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/internal/golden"
)

// TestInitShapes: for every shape of repository init writes the file of testdata/init, says what it found, and check has nothing to say
// against it.
func TestInitShapes(t *testing.T) {
	here, err := filepath.Abs("testdata/init")
	if err != nil {
		t.Fatal(err)
	}
	fluxtrees.Each(t, func(t *testing.T, name string) {
		t.Chdir(fluxtrees.Dir(t, name))
		stdout, stderr, code := sluice("init")
		if code != 0 || stderr != "" {
			t.Fatal(code, stderr)
		}
		text, err := os.ReadFile(config.File)
		if err != nil {
			t.Fatal(err)
		}
		golden.File(t, filepath.Join(here, name+".yaml"), text)
		golden.File(t, filepath.Join(here, name+".txt"), []byte(stdout))
		if stdout, stderr, code := sluice("check"); code != 0 || stderr != "" || !strings.HasPrefix(stdout, config.File+": ok\n") {
			t.Error("check says:", code, stdout, stderr)
		}
	})
}

// TestInitHostile: whatever stands in a tree, the file is valid, says nothing that the tree has put into it, and no name ends its line.
func TestInitHostile(t *testing.T) {
	const sync = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: "https://github.com/acme/fleet", ref: {branch: %[2]q}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: rw, namespace: flux-system}
spec: {url: "https://github.com/acme/fleet", ref: {branch: %[3]q}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {path: %[1]q, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: "apps", sourceRef: {kind: GitRepository, name: rw}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: %[4]q}
spec:
  schedule: %[5]q
  jobTemplate: {spec: {template: {spec: {containers: [{args: ["flux resume ks apps"]}]}}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: stop-window}
spec:
  schedule: "0 4 * * *"
  jobTemplate: {spec: {template: {spec: {containers: [{args: ["flux suspend ks apps"]}]}}}}
`
	names := []string{
		"plain", "a: b", "a #b", "- x", "'q'", `"q"`, "{a}", "[a]", "*", "!x", "a\nmode: enforce", "é ü", "true", "null", "1e3", "~", "live", "ALL",
		"\u202etxt", strings.Repeat("x", 300), "a\\b", "%s", "${X}", "--", "&a", "a\tb", "\x7f", "..", "refs/heads/x", "0x10", "rw/*", "$(id)",
	}
	for _, name := range names {
		t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			dir := t.TempDir()
			part := strings.NewReplacer("/", "_", "\x00", "_").Replace(name)[:min(len(name), 200)]
			if part == ".." {
				part = "..."
			}
			for file, text := range map[string]string{
				filepath.Join("clusters", part, "gotk-sync.yaml"): fmt.Sprintf(sync, "clusters/"+part, name, name+"2", "open-"+name, name),
				filepath.Join("clusters", part, "x-rw", "a.yaml"): "a: b\n",
				filepath.Join("clusters", part, "x-rt", "a.yaml"): "a: b\n",
				filepath.Join("apps", part, "kustomization.yaml"): "resources: [a.yaml]\n",
				filepath.Join("apps", part, "a.yaml"):             "kind: ConfigMap\n",
				part + ".yaml":                                    fmt.Sprintf(sync, "clusters/other", name, name, name, "0 1 * * *"),
			} {
				put(t, filepath.Join(dir, file), text)
			}
			stdout, stderr, code := sluice("init", dir, "--json")
			var v initView
			if err := json.Unmarshal([]byte(stdout), &v); code != 0 || err != nil || len(v.Clusters) == 0 {
				t.Fatal(code, stderr, err, stdout)
			}
			data, err := os.ReadFile(filepath.Join(dir, config.File))
			if err != nil {
				t.Fatal(err)
			}
			p, findings := config.Parse(data)
			if p == nil || p.Mode != config.Observe || len(p.Clusters)+strings.Count(string(data), "cannot have the cluster") != len(v.Clusters) {
				t.Fatalf("%v\n%s", findings, data)
			}
			if strings.Contains(string(data), "Nothing more could be made") {
				t.Errorf("the whole file was given up:\n%s", data)
			}
			for _, f := range v.Findings {
				if isError(f) {
					t.Errorf("%v\n%s", f, data)
				}
			}
		})
	}
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestInitMany: hundreds of clusters with windows of their own get a valid file.
func TestInitMany(t *testing.T) {
	dir := t.TempDir()
	for i := range 150 {
		at := filepath.Join(dir, "clusters", fmt.Sprintf("c-%d", i))
		put(t, filepath.Join(at, "jobs.yaml"), fmt.Sprintf(`apiVersion: batch/v1
kind: CronJob
metadata: {name: open-window}
spec: {schedule: "%[1]d %[2]d * * *"}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: close-window}
spec: {schedule: "%[1]d %[3]d * * *"}
`, i%60, i/60, i/60+2))
		put(t, filepath.Join(at, "x-rw", "kustomization.yaml"), "resources: [../../../base]\n")
		put(t, filepath.Join(at, "x-rt", "kustomization.yaml"), "resources: []\n")
	}
	put(t, filepath.Join(dir, "base", "kustomization.yaml"), "resources: [a.yaml]\n")
	put(t, filepath.Join(dir, "base", "a.yaml"), "a: b\n")
	if stdout, stderr, code := sluice("init", dir); code != 0 || strings.Contains(stdout, ": error: ") {
		t.Fatal(code, stderr, stdout)
	}
	data, err := os.ReadFile(filepath.Join(dir, config.File))
	if err != nil {
		t.Fatal(err)
	}
	if p, findings := config.Parse(data); p == nil || len(p.Clusters) != 150 || len(p.Windows) != config.MaxWindows || strings.Contains(string(data), "Nothing more") {
		t.Errorf("%v\n%.2000s", findings, data)
	}
}

// TestInitNothing: a tree without anything of Flux gets a valid file, too, which says where to begin.
func TestInitNothing(t *testing.T) {
	dir := t.TempDir()
	stdout, stderr, code := sluice("init", dir)
	if code != 0 || stderr != "" || !strings.Contains(stdout, "no cluster was found") {
		t.Error(code, stdout, stderr)
	}
	if stdout, _, code := sluice("check", dir); code != 0 || !strings.Contains(stdout, ": ok") {
		t.Error(code, stdout)
	}
}

// TestInitWrites: nothing that is there is overwritten unasked, nothing out of the directory is written through a link, and a file is there whole
// or not at all.
func TestInitWrites(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	put(t, outside, "precious")
	file := filepath.Join(dir, config.File)
	refused := func(what string, args ...string) {
		t.Helper()
		if _, stderr, code := sluice(append([]string{"init", dir}, args...)...); code != 2 || stderr == "" {
			t.Errorf("%s: %d %s", what, code, stderr)
		}
		if data, err := os.ReadFile(outside); err != nil || string(data) != "precious" {
			t.Errorf("%s: what lies outside was changed: %q, %v", what, data, err)
		}
	}
	link := func(to, at string) {
		t.Helper()
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	link(filepath.Dir(outside), filepath.Join(dir, ".github"))
	refused("the directory is a link")
	refused("the directory is a link", "--force")
	if entries, _ := os.ReadDir(filepath.Dir(outside)); len(entries) != 1 {
		t.Error("something was written through the link:", entries)
	}
	if err := os.Remove(filepath.Join(dir, ".github")); err != nil {
		t.Fatal(err)
	}
	put(t, file, "mine")
	refused("the file is there")
	if data, _ := os.ReadFile(file); string(data) != "mine" {
		t.Errorf("overwritten: %s", data)
	}
	if _, stderr, code := sluice("init", dir, "--force"); code != 0 {
		t.Error(code, stderr)
	}
	if data, _ := os.ReadFile(file); !strings.Contains(string(data), "mode: observe") {
		t.Errorf("not overwritten: %s", data)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	link(outside, file)
	refused("the file is a link")
	refused("the file is a link", "--force")
	link(filepath.Join(dir, "nowhere"), filepath.Join(dir, "dangling"))
	refused("a link that leads nowhere", "--file", filepath.Join(dir, "dangling"))
	if entries, _ := os.ReadDir(filepath.Dir(file)); len(entries) != 1 {
		t.Error("something was left behind:", entries)
	}
	refused("no directory", "--file", filepath.Join(dir, "missing", "x.yaml"))
}

// TestInitElsewhere: the file goes to another place, or to standard output with what is said about it on the other one.
func TestInitElsewhere(t *testing.T) {
	dir := fluxtrees.Dir(t, "two-clusters")
	stdout, stderr, code := sluice("init", dir, "--file", "-")
	if p, findings := config.Parse([]byte(stdout)); code != 0 || p == nil || !strings.Contains(stderr, "cluster production: ") {
		t.Error(code, findings, stderr)
	}
	other := filepath.Join(t.TempDir(), "other.yaml")
	if _, stderr, code := sluice("init", dir, "--file", other); code != 0 {
		t.Error(code, stderr)
	}
	if data, err := os.ReadFile(other); err != nil || string(data) != stdout {
		t.Error(err, string(data))
	}
	if _, err := os.Stat(filepath.Join(dir, config.File)); err == nil {
		t.Error("the file was written as well")
	}
	for _, args := range [][]string{{"init", other}, {"init", filepath.Join(dir, "nowhere")}, {"init", dir, dir}} {
		if _, stderr, code := sluice(args...); code != 2 || stderr == "" {
			t.Error(args, code, stderr)
		}
	}
	stdout, _, code = sluice("init", dir, "--json", "--file", "-")
	var v initView
	if err := json.Unmarshal([]byte(stdout), &v); code != 0 || err != nil || v.Text == "" || len(v.Clusters) != 2 || v.Tree == nil {
		t.Error(code, err, stdout)
	}
}

// TestWindowJobs: what CronJobs say of windows, and what they do not.
func TestWindowJobs(t *testing.T) {
	place := graph.Place{File: "x.yaml", Line: 1}
	job := func(name, command, schedule, suspend string) *graph.CronJob {
		j := &graph.CronJob{Command: command}
		j.Name, j.Place = name, place
		j.Schedule, j.Suspend = graph.Statement{Value: schedule, Place: place}, graph.Statement{Value: suspend, Place: place}
		return j
	}
	for _, c := range []struct {
		name, command, schedule, suspend string
		verb                             verb
		targets, problem                 string
	}{
		{"open-reconciliation-window", "flux resume kustomization infra -n flux-system && flux resume kustomization apps-rw -n flux-system;", "0 8 * * 1", "",
			opening, "flux-system/apps-rw flux-system/infra", ""},
		{"stop", "/bin/sh -c flux suspend ks apps", "0 8 * * 1", "false", closing, "apps", ""},
		{"resume-job", `kubectl patch kustomizations.kustomize.toolkit.fluxcd.io  mw-poc -n flux-system --patch '{"spec":{"suspend":false}}' --type merge;`, "0 8 * * 1", "",
			opening, "flux-system/mw-poc", ""},
		{"resume-job", `kubectl patch kustomizations.kustomize.toolkit.fluxcd.io  mw-poc -n flux-system --patch '{"spec":{"suspend":true}}' --type merge;`, "0 8 * * 1", "",
			opening, "flux-system/mw-poc", "its name counts"},
		{"open-maintenance-window", "", "0 8 * * 1", "", opening, "", ""},
		{"open-maintenance-window", "", "0 8 * * 1", "true", nothing, "", "is suspended"},
		{"open-maintenance-window", "echo hello", "0 8 * * 1", "", nothing, "", ""},
		{"start-backup", "restic backup", "0 8 * * 1", "", nothing, "", ""},
		{"backup", "flux get all", "0 8 * * 1", "", nothing, "", ""},
		{"open-window", "flux resume hr podinfo", "${CRON}", "", nothing, "", "variable"},
		{"open-window", "flux resume hr podinfo", "0 8 * * *", "", opening, "", ""},
	} {
		got, problem := readWindowJob(job(c.name, c.command, c.schedule, c.suspend))
		if problem == "" && c.problem != "" || !strings.Contains(problem, c.problem) || (c.problem == "" || c.verb != nothing) && (got.verb != c.verb || strings.Join(got.targets, " ") != c.targets) {
			t.Errorf("%s %s: %v %v %q", c.name, c.command, got.verb, got.targets, problem)
		}
	}
}

// TestStartGuide: what docs/start.md shows is what init prints, and a shell completes directories after it.
func TestStartGuide(t *testing.T) {
	page, err := os.ReadFile("../../docs/start.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(fluxtrees.Dir(t, "two-clusters"))
	stdout, _, _ := sluice("init")
	shown, _, _ := strings.Cut(stdout, "\nNext:")
	if !strings.Contains(string(page), "\n```\n"+shown+"```\n") {
		t.Errorf("the page shows something else than:\n%s", shown)
	}
	if stdout, _, code := sluice("__complete", "init", ""); code != 0 || stdout != ":16\n" {
		t.Errorf("completes %q", stdout)
	}
}

// TestShortWindow: a demonstration's window of a few minutes is taken with a cutoff that leaves something of it.
func TestShortWindow(t *testing.T) {
	job := func(name, schedule string) *graph.CronJob {
		j := &graph.CronJob{Command: "flux resume ks apps"}
		j.Name, j.Schedule = name, graph.Statement{Value: schedule, Place: graph.Place{File: "x.yaml", Line: 1}}
		return j
	}
	for closing, want := range map[string]string{
		"5,15,25,35,45,55 * * * *": "1m",
		"1,11,21,31,41,51 * * * *": "0s",
		"9,19,29,39,49,59 * * * *": "",
	} {
		jobs := []*graph.CronJob{job("open-window", "0,10,20,30,40,50 * * * *"), job("close-window", closing)}
		jobs[1].Command = "flux suspend ks apps"
		windows, notes := windowsOf(graph.Cluster{Objects: graph.Objects{CronJobs: jobs}})
		if len(windows) != 1 || windows[0].cutoff != want || len(notes) != 0 {
			t.Errorf("%s: %+v %v", closing, windows, notes)
		}
	}
	windows, notes := windowsOf(graph.Cluster{Objects: graph.Objects{CronJobs: []*graph.CronJob{job("open-window", "* * * * *")}}})
	if len(windows) != 0 || len(notes) != 1 {
		t.Error(windows, notes)
	}
}
