package survey

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/layout"
)

// draftOf drafts the first file of a tree, and gives the errors that the file has by itself and for the tree.
func draftOf(t *testing.T, tree fs.FS) (d Draft, errs []config.Finding) {
	t.Helper()
	read, err := graph.Read(tree)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	if err := fs.WalkDir(tree, ".", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			paths = append(paths, file)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if d, err = New(read, paths, "", false); err != nil || d.Policy == nil {
		t.Fatal(err)
	}
	in := config.CheckInput{Paths: paths, At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for _, f := range append(config.Check(d.Policy, d.File, in), d.Findings...) {
		if f.Severity == config.Error {
			errs = append(errs, f)
		}
	}
	return d, errs
}

// files is a tree with these files.
func files(texts map[string]string) fs.FS {
	tree := fstest.MapFS{}
	for name, text := range texts {
		tree[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return tree
}

// TestShapes: of every shape of repository the draft is the file that `sluice init` writes there, each time the same, and has no error.
func TestShapes(t *testing.T) {
	fluxtrees.Each(t, func(t *testing.T, name string) {
		want, err := os.ReadFile(path.Join("../../cmd/sluice/testdata/init", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if d, errs := draftOf(t, fluxtrees.Tree(t, name)); !bytes.Equal(d.File, want) || len(errs) > 0 {
				t.Fatalf("%v\n%s", errs, d.File)
			}
		}
	})
}

// TestInfluences: what changes a windowed entry point and is applied by a live one needs the window.
func TestInfluences(t *testing.T) {
	tree := fluxtrees.ReadGraph(t, "objects").Tree
	for file := range tree {
		if strings.HasPrefix(file, ".github/") {
			delete(tree, file)
		}
	}
	d, _ := draftOf(t, tree)
	for file, want := range map[string]layout.Release{"charts/bitnami.yaml": "maintenance-window", "charts/unused.yaml": layout.Live} {
		if got := d.Policy.Layout.Classify(file).Releases; !slices.Equal(got, []layout.Release{want}) {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

// TestHostile: whatever stands in a tree, the file is valid, says nothing that the tree has put into it, and no name ends its line.
func TestHostile(t *testing.T) {
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
			part := strings.NewReplacer("/", "_", "\x00", "_").Replace(name)[:min(len(name), 200)]
			if part == ".." {
				part = "..."
			}
			d, errs := draftOf(t, files(map[string]string{
				path.Join("clusters", part, "gotk-sync.yaml"): fmt.Sprintf(sync, "clusters/"+part, name, name+"2", "open-"+name, name),
				path.Join("clusters", part, "x-rw", "a.yaml"): "a: b\n",
				path.Join("clusters", part, "x-rt", "a.yaml"): "a: b\n",
				path.Join("apps", part, "kustomization.yaml"): "resources: [a.yaml]\n",
				path.Join("apps", part, "a.yaml"):             "kind: ConfigMap\n",
				part + ".yaml":                                fmt.Sprintf(sync, "clusters/other", name, name, name, "0 1 * * *"),
			}))
			missing := strings.Count(string(d.File), "cannot have the cluster")
			named := len(d.Clusters) - missing
			if strings.Contains(string(d.File), "\n# clusters:") {
				named = 0 // a guess is a comment
			}
			if d.Policy.Mode != config.Observe || len(d.Clusters) == 0 || len(d.Policy.Clusters) != named {
				t.Fatalf("%v\n%s", d.Findings, d.File)
			}
			if strings.Contains(string(d.File), "Nothing more could be made") {
				t.Errorf("the whole file was given up:\n%s", d.File)
			}
			for _, f := range errs {
				t.Errorf("%v\n%s", f, d.File)
			}
		})
	}
}

// TestMany: hundreds of clusters with windows of their own get a valid file.
func TestMany(t *testing.T) {
	in := map[string]string{"base/kustomization.yaml": "resources: [a.yaml]\n", "base/a.yaml": "a: b\n"}
	for i := range 150 {
		at := fmt.Sprintf("clusters/c-%d/", i)
		in[at+"jobs.yaml"] = fmt.Sprintf(`apiVersion: batch/v1
kind: CronJob
metadata: {name: open-window}
spec: {schedule: "%[1]d %[2]d * * *"}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: close-window}
spec: {schedule: "%[1]d %[3]d * * *"}
`, i%60, i/60, i/60+2)
		in[at+"x-rw/kustomization.yaml"] = "resources: [../../../base]\n"
		in[at+"x-rt/kustomization.yaml"] = "resources: []\n"
	}
	d, errs := draftOf(t, files(in))
	if len(errs) > 0 || len(d.Clusters) != 150 || len(d.Policy.Windows) != config.MaxWindows || strings.Contains(string(d.File), "Nothing more") {
		t.Errorf("%v\n%.2000s", errs, d.File)
	}
}

// TestWindowJobs: what CronJobs say of windows, and what they do not.
func TestWindowJobs(t *testing.T) {
	place := manifest.Place{File: "x.yaml", Line: 1}
	job := func(name, command, schedule, suspend string) *graph.CronJob {
		j := &graph.CronJob{Command: command}
		j.Name, j.Place = name, place
		j.Schedule, j.Suspend = manifest.Statement{Value: schedule, Place: place}, manifest.Statement{Value: suspend, Place: place}
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
		{"open-maintenance-window", "/scripts/open.sh", "0 8 * * 1", "", opening, "", "not understood"},
		{"open-backup", "/scripts/open.sh", "0 8 * * 1", "", nothing, "", ""},
		{"night", `kubectl patch cronjob backup -p '{"spec":{"suspend":true}}'`, "0 8 * * 1", "", nothing, "", ""},
		{"night", "flux -n apps --verbose suspend ks one two --timeout 5m", "0 8 * * 1", "", closing, "apps/one apps/two", ""},
		{"night", "flux suspend ks -n apps one", "0 8 * * 1", "", closing, "apps/one", ""},
		{"night", "kubectl -n apps patch \\\n  ks/one --type=json -p '[{\"op\":\"add\",\"path\":\"/spec/suspend\",\"value\":true}]'", "0 8 * * 1", "", closing, "apps/one", ""},
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

// TestShortWindow: a demonstration's window of a few minutes is taken with a cutoff that leaves something of it.
func TestShortWindow(t *testing.T) {
	job := func(name, schedule string) *graph.CronJob {
		j := &graph.CronJob{Command: "flux resume ks apps"}
		j.Name, j.Schedule = name, manifest.Statement{Value: schedule, Place: manifest.Place{File: "x.yaml", Line: 1}}
		return j
	}
	tree, err := graph.Read(files(nil))
	if err != nil {
		t.Fatal(err)
	}
	draws := &survey{tree: tree}
	for closing, want := range map[string]string{
		"5,15,25,35,45,55 * * * *": "1m",
		"1,11,21,31,41,51 * * * *": "0s",
		"9,19,29,39,49,59 * * * *": "",
	} {
		jobs := []*graph.CronJob{job("open-window", "0,10,20,30,40,50 * * * *"), job("close-window", closing)}
		jobs[1].Command = "flux suspend ks apps"
		windows, notes := draws.windowsOf(graph.Cluster{Objects: graph.Objects{CronJobs: jobs}})
		if len(windows) != 1 || windows[0].cutoff != want || len(notes) != 0 {
			t.Errorf("%s: %+v %v", closing, windows, notes)
		}
	}
	windows, notes := draws.windowsOf(graph.Cluster{Objects: graph.Objects{CronJobs: []*graph.CronJob{job("open-window", "* * * * *")}}})
	if len(windows) != 1 || !windows[0].placeholder || len(notes) != 1 {
		t.Error(windows, notes)
	}
}

// TestComposed: what is put together of several branches needs each of them that is windowed, in whatever order they stand.
func TestComposed(t *testing.T) {
	for _, copies := range []string{"{from: '@live/base/**', to: '@artifact/base/'}, {from: '@held/apps/**', to: '@artifact/apps/'}", "{from: '@held/apps/**', to: '@artifact/apps/'}, {from: '@live/base/**', to: '@artifact/base/'}"} {
		d, _ := draftOf(t, files(map[string]string{
			"clusters/one/gotk-sync.yaml": kustomization("flux-system", "./clusters/one", "main"),
			"clusters/one/held.yaml": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: held, namespace: flux-system}\nspec: {url: https://github.com/acme/fleet, ref: {branch: rw/one}}\n" +
				"---\napiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: g, namespace: flux-system}\n" +
				"spec: {sources: [{alias: live, kind: GitRepository, name: flux-system}, {alias: held, kind: GitRepository, name: held}], artifacts: [{name: all, copy: [" + copies + "]}]}\n" +
				"---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: all, namespace: flux-system}\nspec: {path: ./, sourceRef: {kind: ExternalArtifact, name: all}}\n",
			"apps/a.yaml": "a: b\n", "base/b.yaml": "a: b\n",
		}))
		if !slices.ContainsFunc(d.Policy.Branches, func(b config.Branch) bool { return b.Name == "rw/one" }) {
			t.Errorf("%s: no branch in\n%s", copies, d.File)
		}
		if got := fmt.Sprint(d.Policy.Layout.Classify("apps/a.yaml").Releases); got != "[branch:rw/one]" {
			t.Errorf("%s: %s in\n%s", copies, got, d.File)
		}
	}
}
