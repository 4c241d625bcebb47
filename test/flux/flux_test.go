package flux

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
	deploy "github.com/sluicegate/sluice/deploy/flux"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/reach"
	"github.com/sluicegate/sluice/layout"
)

// cluster is the sample's Flux objects by kind and name.
func cluster(t *testing.T) map[string]object {
	t.Helper()
	out := map[string]object{}
	for file, objects := range manifests(t) {
		if !strings.HasPrefix(file, "sample/") {
			continue
		}
		for _, o := range objects {
			if _, twice := out[o.name()]; twice {
				t.Errorf("%s stands twice", o.name())
			}
			out[o.name()] = o
		}
	}
	return out
}

// policy is the sample's file, compiled, without a finding but that its root is a guess before bootstrap.
func policy(t *testing.T) *config.Policy {
	t.Helper()
	src, err := fs.ReadFile(deploy.Sample(), config.File)
	if err != nil {
		t.Fatal(err)
	}
	p, findings := config.Parse(src)
	if p == nil {
		t.Fatal(findings)
	}
	for _, f := range append(findings, config.Check(p, src, surroundings(t, p))...) {
		if f.Code != "root-guessed" {
			t.Errorf("%s: %+v", config.File, f)
		}
	}
	return p
}

// surroundings is what `sluice check` looks at beside the sample's file.
func surroundings(t *testing.T, p *config.Policy) config.CheckInput {
	t.Helper()
	read, err := graph.Read(deploy.Sample())
	if err != nil || len(read.Problems) != 0 {
		t.Fatal(read, err)
	}
	all := paths(t, deploy.Sample())
	return config.CheckInput{
		Paths: all, DefaultBranch: "main", At: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
		Notes: reach.New(p, read.Clusters(nil)).Check(nil, all),
	}
}

// TestReferences: what a Flux object names is there.
func TestReferences(t *testing.T) {
	all := cluster(t)
	demand := func(from object, kind string, name any) {
		text, _ := name.(string)
		if _, ok := all[kind+"/"+text]; !ok {
			t.Errorf("%s names %s/%v, which is not there", from.name(), kind, name)
		}
	}
	for _, o := range all {
		switch o.text("kind") {
		case "Kustomization":
			demand(o, o.text("spec", "sourceRef", "kind"), o.at("spec", "sourceRef", "name"))
			for _, d := range list(o, "spec", "dependsOn") {
				demand(o, "Kustomization", d.at("name"))
			}
		case "Receiver":
			for _, r := range list(o, "spec", "resources") {
				demand(o, r.text("kind"), r.at("name"))
			}
		case "Alert":
			demand(o, "Provider", o.at("spec", "providerRef", "name"))
			for _, s := range list(o, "spec", "eventSources") {
				demand(o, s.text("kind"), s.at("name"))
			}
		}
	}
	for _, name := range []string{"GitRepository/fleet", "GitRepository/fleet-rw", "Kustomization/infra", "Kustomization/apps-rt", "Kustomization/apps-rw"} {
		if _, ok := all[name]; !ok {
			t.Errorf("no %s", name)
		}
	}
}

// list is a list of objects at a path of keys.
func list(o object, keys ...string) []object {
	var out []object
	items, _ := o.at(keys...).([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// TestWindowedSourceTracksTheBranch: the one windowed branch of the file is what apps-rw is made of, and its `from` is what
// the live Kustomizations are made of.
func TestWindowedSourceTracksTheBranch(t *testing.T) {
	all, branches := cluster(t), policy(t).Branches
	if len(branches) != 1 {
		t.Fatal(branches)
	}
	for name, want := range map[string]string{"apps-rw": branches[0].Name, "apps-rt": branches[0].From, "infra": branches[0].From} {
		source := all["GitRepository/"+all["Kustomization/"+name].text("spec", "sourceRef", "name")]
		ref, _ := source.at("spec", "ref").(map[string]any)
		if len(ref) != 1 || ref["branch"] != want {
			t.Errorf("%s is made of %v, want the branch %s alone", name, ref, want)
		}
	}
	for _, name := range []string{"fleet", "fleet-rw"} {
		if !slices.ContainsFunc(list(all["Receiver/github-push"], "spec", "resources"), func(r object) bool { return r.text("name") == name }) {
			t.Errorf("a push does not reach %s", name)
		}
	}
}

// TestDependencies: nothing live that fails or is busy keeps the windowed side from its window, and no commit of the live side waits until
// Flux asks again whether infra is at it: that is half a minute.
func TestDependencies(t *testing.T) {
	all := cluster(t)
	rw := all["Kustomization/apps-rw"]
	for _, d := range list(rw, "spec", "dependsOn") {
		dep := all["Kustomization/"+d.text("name")]
		if dep.text("spec", "sourceRef", "name") == rw.text("spec", "sourceRef", "name") {
			t.Errorf("apps-rw and %s share a source: Flux would wait for one revision", d.text("name"))
		}
		if d.text("name") == "apps-rt" {
			t.Error("apps-rw waits for apps-rt")
		}
	}
	for _, name := range []string{"infra", "apps-rt", "apps-rw"} {
		for _, d := range list(all["Kustomization/"+name], "spec", "dependsOn") {
			if d.text("readyExpr") != "has(dep.status.lastAppliedRevision)" {
				t.Errorf("%s waits for %s to be ready", name, d.text("name"))
			}
		}
	}
	for _, name := range []string{"infra", "apps-rt", "apps-rw"} {
		k := all["Kustomization/"+name]
		if k.at("spec", "prune") != true || k.at("spec", "wait") != true || k.at("spec", "suspend") != nil {
			t.Errorf("%s: prune, wait, or suspend", name)
		}
	}
}

// TestCutoffCoversFlux: what moves in the last moment before the cutoff is applied before the window closes, also if a health check of what
// came before it hangs: it runs to its end.
func TestCutoffCoversFlux(t *testing.T) {
	all, p := cluster(t), policy(t)
	var most time.Duration
	timeout := all["Kustomization/apps-rw"].text("spec", "timeout")
	for _, text := range []string{
		all["GitRepository/fleet-rw"].text("spec", "interval"), all["GitRepository/fleet-rw"].text("spec", "timeout"), timeout, timeout,
	} {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		most += d
	}
	if cutoff := p.Calendar.Cutoff(p.Branches[0].Window); cutoff < most {
		t.Errorf("the cutoff is %s, Flux may take %s", cutoff, most)
	}
}

// TestSidesShareNothing: no object is in two Kustomizations of the cluster, where they would take turns at it. And what each
// reads is released as its name says.
func TestSidesShareNothing(t *testing.T) {
	all, p, f := cluster(t), policy(t), newTree(t, deploy.Sample())
	want := map[string]layout.Release{"infra": layout.Live, "apps-rt": layout.Live, "apps-rw": layout.BranchRelease("rw/*")}
	owner := map[string]string{}
	for name, release := range want {
		objects, err := f.build(all["Kustomization/"+name].text("spec", "path"))
		if err != nil || len(objects) == 0 {
			t.Fatalf("%s: %d objects, %v", name, len(objects), err)
		}
		for _, o := range objects {
			if other, ok := owner[o.id()]; ok {
				t.Errorf("%s is of %s and of %s", o.id(), name, other)
			}
			owner[o.id()] = name
		}
		if len(f.read) < 2 {
			t.Errorf("%s reads %q", name, f.read)
		}
		for _, path := range f.read {
			if got := p.Layout.Classify(path).Releases; !slices.Equal(got, []layout.Release{release}) {
				t.Errorf("%s reads %s, which needs %q, not %q", name, path, got, release)
			}
		}
	}
	if len(owner) != 4 {
		t.Errorf("%d objects, want 4: %q", len(owner), slices.Sorted(maps.Keys(owner)))
	}
}

// TestBootstrapLoadsNoApps: `flux bootstrap --path=clusters/cluster-1/flux` makes a Kustomization over that directory. It has
// the Flux objects and nothing else: one over clusters/cluster-1 would apply the windowed side from main.
func TestBootstrapLoadsNoApps(t *testing.T) {
	const dir = "clusters/cluster-1/flux"
	all, f := cluster(t), newTree(t, deploy.Sample())
	objects, err := f.build(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if _, ok := all[o.name()]; !ok {
			t.Errorf("%s is no Flux object of the cluster", o.id())
		}
	}
	if len(objects) != len(all) {
		t.Errorf("%d objects are loaded, there are %d", len(objects), len(all))
	}
	for name, o := range all {
		if o.text("kind") == "Kustomization" && within(dir, o.text("spec", "path")) {
			t.Errorf("%s lies where bootstrap's Kustomization loads everything", name)
		}
	}
}

// TestWhatNamesABranchIsWindowed: the source of the windowed side and its Kustomization are read from main at once. A change of them, of
// the source's `ref` for one, would reach the cluster past every window if it were live, ignored, or held by the branch.
func TestWhatNamesABranchIsWindowed(t *testing.T) {
	p, seen := policy(t), 0
	for _, file := range append(paths(t, deploy.Sample()), "clusters/cluster-1/flux/flux-system/gotk-sync.yaml", "clusters/cluster-2/flux/sources.yaml") {
		if !within("clusters/cluster-1/flux", file) && !within("clusters/cluster-2/flux", file) {
			continue
		}
		seen++
		if got := p.Layout.Classify(file).Releases; !slices.Equal(got, []layout.Release{layout.Release(p.Branches[0].Window)}) {
			t.Errorf("%s needs %q, want the window of %s", file, got, p.Branches[0].Name)
		}
	}
	if seen < 5 {
		t.Errorf("%d files", seen)
	}
	src, err := fs.ReadFile(deploy.Sample(), config.File)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ release, state string }{{"live", "live"}, {"ignore", "ignored"}, {`{branches: ["rw/*"]}`, "held by branches alone"}} {
		file := []byte(strings.Replace(string(src), "      release: no-deploy-friday\n", "      release: "+c.release+"\n", 1))
		loose, findings := config.Parse(file)
		if loose == nil || len(findings) != 0 {
			t.Fatal(c.release, findings)
		}
		var warned []string
		for _, f := range config.Check(loose, file, surroundings(t, loose)) {
			if f.Code == "branch-definition-open" {
				warned = append(warned, f.Message)
			}
		}
		want := []string{
			"clusters/cluster-1/flux/kustomizations.yaml:38: Kustomization flux-system/apps-rw is made of it",
			"clusters/cluster-1/flux/sources.yaml:18: GitRepository flux-system/fleet-rw tracks it",
		}
		for i := range want {
			want[i] = "branches#1.name: " + want[i] + ", and the file is " + c.state + ": a change there reaches the cluster at once, whatever the window; add a rule with release: no-deploy-friday"
		}
		if diff := cmp.Diff(want, warned); diff != "" {
			t.Errorf("%s: -want +got: %s", c.release, diff)
		}
	}
}

// within reports whether a path is a directory or lies in it.
func within(dir, p string) bool {
	p = path.Clean(p)
	return p == dir || strings.HasPrefix(p, dir+"/")
}

// TestReportNamesTheBranch: the context that Flux reports under is kustomization/BRANCH/NAME.
func TestReportNamesTheBranch(t *testing.T) {
	const want = "'kustomization/' + event.metadata.revision.split('@sha1:')[0] + '/' + event.involvedObject.name"
	if got := cluster(t)["Provider/github-status"].text("spec", "commitStatusExpr"); got != want {
		t.Errorf("the context is %s", got)
	}
	for _, o := range manifests(t)["report-to-sluice.yaml"] {
		if o.text("kind") == "Provider" && !strings.HasSuffix(o.text("spec", "address"), "/flux/acme/fleet") {
			t.Errorf("events go to %s", o.text("spec", "address"))
		}
	}
}

// TestOneCommitOfBothSides: the commit of the walk-through. What it changes of the live side and of the windowed side is in
// what the one and the other Kustomization build, and nowhere else.
func TestOneCommitOfBothSides(t *testing.T) {
	const apps = "clusters/cluster-1/apps/"
	all, before, after := cluster(t), newTree(t, deploy.Sample()), newTree(t, deploy.Sample())
	for file, change := range map[string][2]string{"nginx-rt/pages.yaml": {"Good morning", "Good evening"}, "nginx-rw/deployment.yaml": {"replicas: 2", "replicas: 3"}} {
		data, err := after.ReadFile("/" + apps + file)
		if err != nil || strings.Count(string(data), change[0]) != 1 {
			t.Fatalf("%s: %q is not in it once: %v", file, change[0], err)
		}
		if err := after.WriteFile("/"+apps+file, []byte(strings.Replace(string(data), change[0], change[1], 1))); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"infra": "", "apps-rt": "v1 ConfigMap nginx nginx-pages", "apps-rw": "apps/v1 Deployment nginx nginx"} {
		dir := all["Kustomization/"+name].text("spec", "path")
		a, errA := before.build(dir)
		b, errB := after.build(dir)
		if errA != nil || errB != nil || len(a) != len(b) {
			t.Fatal(name, errA, errB)
		}
		var changed []string
		for i := range a {
			if !cmp.Equal(a[i], b[i]) {
				changed = append(changed, b[i].id())
			}
		}
		if strings.Join(changed, ",") != want {
			t.Errorf("%s changes %q, want %q", name, changed, want)
		}
	}
}
