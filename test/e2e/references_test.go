package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// What refers to a path decides, in the service: a cluster of two Flux Kustomizations over shared files, of which one is windowed by its name.
const (
	byReferences = `version: 1
timezone: UTC
windows:
  weekend: WINDOW
layout:
  flux: true
  entrypoints:
    - {where: flux-system/slow, release: weekend}
  unmatched: live
pull_requests:
  settle: 0s
`
	syncOf = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: URL, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, path: ./clusters/one, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
`
	kustomizationOf = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: NAME, namespace: flux-system}
spec: {interval: 1m, path: ./apps/NAME, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
`
)

// resources is a kustomization.yaml.
func resources(names ...string) string { return "resources: [" + strings.Join(names, ", ") + "]\n" }

// object is a ConfigMap.
func object(name, value string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: apps}\ndata: {value: \"" + value + "\"}\n"
}

// newCluster makes a repository that Flux reads, with a window that is closed.
func newCluster(t *testing.T) *world {
	t.Helper()
	w := newGitHub(t, api.Options{Now: time.Now})
	w.repo = w.create("acme", "fleet", map[string]string{
		".github/sluice.yaml": strings.ReplaceAll(byReferences, "WINDOW", shutForYears),
		"README.md":           "fleet\n",
		"clusters/one/flux-system/gotk-sync.yaml": strings.ReplaceAll(syncOf, "URL", w.url+"/acme/fleet"),
		"clusters/one/slow.yaml":                  strings.ReplaceAll(kustomizationOf, "NAME", "slow"),
		"clusters/one/fast.yaml":                  strings.ReplaceAll(kustomizationOf, "NAME", "fast"),
		"apps/slow/kustomization.yaml":            resources("../base", "own.yaml"),
		"apps/slow/own.yaml":                      object("slow", "0"),
		"apps/fast/kustomization.yaml":            resources("own.yaml"),
		"apps/fast/own.yaml":                      object("fast", "0"),
		"apps/base/kustomization.yaml":            resources("shared.yaml"),
		"apps/base/shared.yaml":                   object("shared", "0"),
	})
	return w
}

// change opens a pull request that writes files.
func (w *world) change(head string, files map[string]string) int {
	w.t.Helper()
	n, err := w.repo.OpenPull(standin.NewPull{By: "alice", Head: head, Change: &standin.Change{Message: head, Write: files}})
	w.must(err)
	return n
}

// TestReferencesDecide: what a windowed Kustomization reads is held, whatever its path, with the chain that leads to it; so is what it reads by the
// change itself. What only others read is merged. Once the window opens, what was held goes.
func TestReferencesDecide(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	w.serve()
	live := w.change("live", map[string]string{"apps/fast/own.yaml": object("fast", "1")})
	shared := w.change("shared", map[string]string{"apps/base/shared.yaml": object("shared", "1")})
	added := w.change("added", map[string]string{
		"apps/slow/kustomization.yaml": resources("../base", "own.yaml", "../../extra/new.yaml"), "extra/new.yaml": object("new", "1"),
	})
	defined := w.change("defined", map[string]string{"clusters/one/slow.yaml": strings.ReplaceAll(kustomizationOf, "NAME", "slow") + "  # moved\n"})
	w.merged(live)
	for _, n := range []int{shared, added, defined} {
		w.hasStatus(n, "pending: held by weekend until ")
	}
	if out, errs, code := w.run("plan", "acme/fleet"); code != 1 || strings.Count(out, "held by weekend until ") != 3 {
		t.Errorf("plan: exit %d\n%s%s", code, out, errs)
	}
	w.setFile(strings.ReplaceAll(byReferences, "WINDOW", openForYears))
	for _, n := range []int{shared, added, defined} {
		w.merged(n)
	}
}

// TestReferencesAreObserved: with mode: observe the statuses say what the references would hold, green, and nothing is merged or held.
func TestReferencesAreObserved(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	w.setFile("mode: observe\n" + strings.ReplaceAll(byReferences, "WINDOW", shutForYears))
	w.serve()
	live := w.change("live", map[string]string{"apps/fast/own.yaml": object("fast", "1")})
	shared := w.change("shared", map[string]string{"apps/base/shared.yaml": object("shared", "1")})
	w.hasStatus(shared, "success: would hold: held by weekend until ")
	w.hasStatus(live, "success: would pass: live")
	if n := w.github.Requests()["PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge"]; n > 0 {
		t.Errorf("asked for %d merges", n)
	}
	w.unmerged(live, shared)
}

// TestReferencesOfAMergeCount: a base that moves may change who reads a file. What was found before is no answer for it.
func TestReferencesOfAMergeCount(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	w.serve()
	const path = "apps/late/late.yaml"
	draft, err := w.repo.OpenPull(standin.NewPull{By: "alice", Head: "late", Draft: true, Change: &standin.Change{Message: "late", Write: map[string]string{path: object("late", "1")}}})
	w.must(err)
	w.eventually("it is seen", func() bool { return w.status(draft) != "" })
	_, err = w.repo.Commit("main", standin.Change{By: "acme", Message: "slow reads it", Write: map[string]string{
		"apps/slow/kustomization.yaml": resources("../base", "own.yaml", "../late"), "apps/late/kustomization.yaml": resources("late.yaml"),
	}})
	w.must(err)
	w.must(w.repo.MarkReady(draft, "alice"))
	w.hasStatus(draft, "pending: held by weekend until ")
	w.unmerged(draft)
}

// TestReferencesSurviveTheirMirror: a mirror that is lost or broken is fetched again.
func TestReferencesSurviveTheirMirror(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	p := w.serve()
	w.merged(w.change("first", map[string]string{"apps/fast/own.yaml": object("fast", "1")}))
	trees := filepath.Join(w.dir, "sluice.db.trees")
	w.must(os.RemoveAll(trees))
	w.merged(w.change("second", map[string]string{"apps/fast/own.yaml": object("fast", "2")}))
	p.stop(syscall.SIGKILL)
	packs, err := filepath.Glob(filepath.Join(trees, "*.git", "objects", "pack", "*"))
	w.must(err)
	if len(packs) == 0 {
		t.Fatal("there is no mirror")
	}
	for _, name := range packs {
		w.must(os.Truncate(name, 10))
	}
	w.serve()
	w.merged(w.change("third", map[string]string{"apps/fast/own.yaml": object("fast", "3")}))
	w.hasStatus(w.change("held", map[string]string{"apps/base/shared.yaml": object("shared", "1")}), "pending: held by weekend until ")
}

// TestReferencesSurviveDownloads: while trees cannot be fetched, or come half, what references decide is held, and says why. Then it is answered.
func TestReferencesSurviveDownloads(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	w.serve()
	var pulls []int
	for i, answers := range []int32{http.StatusServiceUnavailable, half} {
		w.gitAnswers.Store(answers)
		n := w.change(fmt.Sprint("live", i), map[string]string{fmt.Sprintf("apps/fast/%d.yaml", i): object("fast", "1")})
		w.eventually("it is held, and says why", func() bool {
			return strings.HasPrefix(w.status(n), "pending: held: cannot read what refers to its files: ")
		})
		t.Log(w.status(n))
		pulls = append(pulls, n)
	}
	for _, n := range pulls {
		w.unmerged(n)
	}
	w.gitAnswers.Store(0)
	for _, n := range pulls {
		w.merged(n)
	}
}

// TestReferencesOfAHostileTree: a stranger's tree costs its own repository time. Others are answered meanwhile, and what is in it is held.
func TestReferencesOfAHostileTree(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	fleet := w.repo
	other := w.create("acme", "other", map[string]string{".github/sluice.yaml": rules(openForYears), "apps/a-rt/x": "0\n"})
	w.serve()
	overlays := map[string]string{"apps/fast/kustomization.yaml": resources("own.yaml", "../../deep/0")}
	for i := range 40 { // each reads the next one twice, which makes 2^40 of the last
		next := fmt.Sprintf("../%d", i+1)
		overlays[fmt.Sprintf("deep/%d/kustomization.yaml", i)] = resources("a", "b")
		overlays[fmt.Sprintf("deep/%d/a/kustomization.yaml", i)] = "namePrefix: a-\nresources: [../" + next + "]\n"
		overlays[fmt.Sprintf("deep/%d/b/kustomization.yaml", i)] = "namePrefix: b-\nresources: [../" + next + "]\n"
	}
	overlays["deep/40/kustomization.yaml"] = resources("own.yaml")
	overlays["deep/40/own.yaml"] = object("deep", "0")
	hostile := w.change("hostile", overlays)
	w.repo = other
	w.merged(w.open("live", "apps/a-rt/x"))
	w.repo = fleet
	w.eventually("it is held, and says by what", func() bool {
		return strings.HasPrefix(w.status(hostile), "pending: held: cannot read what refers to its files: ")
	})
	t.Log(w.status(hostile))
	w.merged(w.change("honest", map[string]string{"apps/fast/own.yaml": object("fast", "1")}))
	w.unmerged(hostile)
}

// TestReferencesInAQueue: a merge group is answered by what refers to its files.
func TestReferencesInAQueue(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	w.repo.Protect("main", standin.Rules{Queue: true, Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}})
	w.serve()
	windowed := w.change("shared", map[string]string{"apps/base/shared.yaml": object("shared", "1")})
	live := w.change("live", map[string]string{"apps/fast/own.yaml": object("fast", "1")})
	for _, n := range []int{windowed, live} {
		w.hasStatus(n, "failure: main requires its merge queue")
	}
	queue := w.enqueued(live, windowed)
	w.eventually("the live entry is green", func() bool { return w.isGreen(queue[0].Head) })
	w.eventually("the windowed entry is held", func() bool {
		return strings.HasPrefix(w.statusOn(queue[1].Head, "sluice/main"), "failure: held by weekend until ")
	})
}

// TestReferencesMustBuild: what a change keeps from being built is blocked, with kustomize's message, until it is mended; what could not be built before is not.
func TestReferencesMustBuild(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	w.serve()
	n := w.change("breaks", map[string]string{"apps/fast/kustomization.yaml": resources("own.yaml", "gone.yaml")})
	w.hasStatus(n, "failure: flux-system/fast of one cannot be built: ")
	if status := w.status(n); !strings.Contains(status, "gone.yaml") {
		t.Error(status)
	}
	_, err := w.repo.Commit("breaks", standin.Change{By: "alice", Message: "mended", Write: map[string]string{"apps/fast/gone.yaml": object("gone", "1")}})
	w.must(err)
	w.merged(n)
	_, err = w.repo.Commit("main", standin.Change{By: "acme", Message: "broken by hand", Write: map[string]string{"apps/fast/kustomization.yaml": resources("own.yaml", "nowhere.yaml")}})
	w.must(err)
	w.merged(w.change("after", map[string]string{"apps/fast/own.yaml": object("fast", "1")}))
}

// TestReferencesWarn: what a check finds that only warns is told on the page, while the pull request is open and of no other, and keeps it from nothing.
func TestReferencesWarn(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	w.setFile(strings.ReplaceAll(byReferences, "WINDOW", shutForYears) + "consistency: {builds: warn, moves: warn}\n")
	p := w.serve()
	n, err := w.repo.OpenPull(standin.NewPull{By: "alice", Head: "breaks", Draft: true, Change: &standin.Change{
		Message: "breaks", Write: map[string]string{"apps/fast/kustomization.yaml": resources("own.yaml", "gone.yaml")},
	}})
	w.must(err)
	w.merged(w.change("fine", map[string]string{"README.md": "fine\n"}))
	told := fmt.Sprintf("#%d: flux-system/fast of one cannot be built: ", n)
	w.eventually("it is told", func() bool {
		_, body := get(w.t, p.page)
		return strings.Count(body, "cannot be built: ") == 1 && strings.Contains(body, told)
	})
	w.must(w.repo.MarkReady(n, "alice"))
	w.merged(n)
}

// TestReferencesStale: what is held is told what changed live since and belongs to it; with `stale: hold` it waits until it is up to date.
func TestReferencesStale(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	p := w.serve()
	web := strings.Replace(object("web", "0"), "v1\nkind: ConfigMap", "apps/v1\nkind: Deployment", 1) + "spec: {template: {spec: {volumes: [{name: v, configMap: {name: fast}}]}}}\n"
	held := w.change("web", map[string]string{"apps/slow/own.yaml": object("slow", "0") + "---\n" + web})
	other := w.change("shared", map[string]string{"apps/base/shared.yaml": object("shared", "1")})
	w.hasStatus(held, "pending: held by weekend until ")
	w.hasStatus(other, "pending: held by weekend until ")
	w.merged(w.change("live", map[string]string{"apps/fast/own.yaml": object("fast", "1")}))
	told := fmt.Sprintf("#%d: changed live since this began: ConfigMap apps/fast in apps/fast/own.yaml, to which Deployment apps/web refers; bring the branch up to date", held)
	w.eventually("it is told", func() bool {
		_, body := get(w.t, p.page)
		return strings.Contains(body, told) && strings.Count(body, "changed live since this began") == 1
	})
	w.setFile(strings.ReplaceAll(byReferences, "WINDOW", openForYears) + "consistency: {stale: hold}\n")
	w.merged(other)
	w.hasStatus(held, "failure: changed live since this began: ConfigMap apps/fast ")
	w.must(w.repo.UpdateBranch(held, standin.Actor{Login: "alice"}, ""))
	w.merged(held)
}

// TestReferencesEnforced: a pull request that windows a Flux Kustomization, where nothing holds what is merged, is blocked, or told so. One that windows none is not.
func TestReferencesEnforced(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	file := strings.NewReplacer("WINDOW", shutForYears, "flux-system/slow,", "\"flux-system/slow*\",", "settle: 0s", "settle: 0s\n  window: status").Replace(byReferences)
	w.setFile(file + "consistency: {enforced: hold}\n")
	p := w.serve()
	adds := func(name string) int {
		return w.change(name, map[string]string{
			"clusters/one/" + name + ".yaml":       strings.ReplaceAll(kustomizationOf, "NAME", name),
			"apps/" + name + "/kustomization.yaml": resources("own.yaml"), "apps/" + name + "/own.yaml": object(name, "0"),
		})
	}
	slower := adds("slower")
	w.merged(adds("faster"))
	w.hasStatus(slower, "failure: windowed here, but what is merged to main arrives at once, because ")
	if status := w.status(slower); !strings.HasSuffix(status, ": flux-system/slower of one") {
		t.Error(status)
	}
	w.setFile(file)
	w.hasStatus(slower, "pending: held by weekend until ")
	w.eventually("it is told", func() bool {
		_, body := get(t, p.page)
		return strings.Contains(body, fmt.Sprintf("#%d: windowed here, but what is merged to main arrives at once, ", slower))
	})
}

// TestReferencesOfABranch: a windowed branch passes over a commit at which what tracks it cannot be built, and goes on once that is mended. What another branch
// tracks does not keep it.
func TestReferencesOfABranch(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	file := strings.Replace(strings.ReplaceAll(byReferences, "WINDOW", openForYears), "  entrypoints:\n    - {where: flux-system/slow, release: weekend}\n", "", 1) + `branches:
  - {name: rw/slow, from: main, window: weekend}
  - {name: rw/fast, from: main, window: weekend}
`
	files := map[string]string{".github/sluice.yaml": file}
	for _, name := range []string{"slow", "fast"} {
		files["clusters/one/"+name+".yaml"] = strings.ReplaceAll(kustomizationOf, "NAME", name) // of which the source is the branch
		files["clusters/one/"+name+".yaml"] = strings.Replace(files["clusters/one/"+name+".yaml"], "name: flux-system}}", "name: rw-"+name+"}}", 1)
		files["clusters/one/"+name+"-source.yaml"] = strings.NewReplacer("URL", w.url+"/acme/fleet", "NAME", name).Replace(`apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: rw-NAME, namespace: flux-system}
spec: {interval: 1m, url: URL, ref: {branch: rw/NAME}}
`)
	}
	write := func(message string, files map[string]string) string {
		return w.commit("main", standin.Change{By: "acme", Message: message, Write: files})
	}
	begun := write("windowed branches", files)
	w.plant(begun, "rw/slow", "rw/fast")
	w.serve()
	w.stand(begun, "rw/slow", "rw/fast")
	broken := write("slow breaks", map[string]string{"apps/slow/kustomization.yaml": resources("../base", "own.yaml", "gone.yaml")})
	w.reach(broken, "rw/fast")
	w.eventually("it is said why", func() bool {
		out, _, _ := w.run("plan", "acme/fleet")
		return strings.Contains(out, "waiting: at "+broken[:7]+" flux-system/slow of one cannot be built: ") && strings.Contains(out, "gone.yaml")
	})
	w.stand(begun, "rw/slow")
	mended := write("slow is mended", map[string]string{"apps/slow/gone.yaml": object("gone", "1")})
	w.reach(mended, "rw/slow", "rw/fast")
	for _, m := range w.pushed()["rw/slow"] {
		if m.to == broken {
			t.Errorf("rw/slow was at %s", broken)
		}
	}
}

// TestReferencesAgainstARule: a change by which a windowed Kustomization reads what a rule makes live is blocked. One that finds it so is not, nor is one of what
// nobody windowed reads.
func TestReferencesAgainstARule(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	w.setFile(strings.Replace(strings.ReplaceAll(byReferences, "WINDOW", shutForYears), "  unmatched:", "  rules:\n    - {paths: [\"apps/base/**\", \"docs/**\"], release: live}\n  unmatched:", 1))
	w.serve()
	newly := w.change("newly", map[string]string{"apps/slow/kustomization.yaml": resources("../base", "own.yaml", "../../docs"), "docs/kustomization.yaml": resources("a.yaml"), "docs/a.yaml": object("a", "0")})
	w.eventually("it is blocked", func() bool {
		return strings.HasPrefix(w.status(newly), "failure: ") && strings.Contains(w.status(newly), "makes live what a windowed Flux Kustomization reads: docs/")
	})
	w.merged(w.change("before", map[string]string{"apps/base/shared.yaml": object("shared", "1")}))
	w.merged(w.change("docs", map[string]string{"docs/b.yaml": object("b", "0")}))
}

// TestReferencesMakeOnce: a change after which two Kustomizations with different windows make one object, and did not before, is blocked. One that takes it
// from the one to the other is not, nor is one that finds it so.
func TestReferencesMakeOnce(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	w.serve()
	windowed := w.change("windowed", map[string]string{"apps/slow/own.yaml": object("slow", "0") + "---\n" + object("fast", "1")})
	live := w.change("live", map[string]string{"apps/fast/own.yaml": object("fast", "0") + "---\n" + object("shared", "1")})
	moves := w.change("moves", map[string]string{"apps/fast/own.yaml": object("faster", "0"), "apps/slow/own.yaml": object("slow", "0") + "---\n" + object("fast", "1")})
	w.hasStatus(windowed, "failure: ConfigMap apps/fast: made by ")
	w.hasStatus(live, "failure: ConfigMap apps/shared: made by ")
	w.hasStatus(moves, "pending: held by weekend until ")
	_, err := w.repo.Commit("main", standin.Change{By: "acme", Message: "twice, by hand", Write: map[string]string{
		"apps/fast/twice.yaml": object("twice", "0"), "apps/slow/twice.yaml": object("twice", "0"),
		"apps/fast/kustomization.yaml": resources("own.yaml", "twice.yaml"), "apps/slow/kustomization.yaml": resources("../base", "own.yaml", "twice.yaml"),
	}})
	w.must(err)
	w.merged(w.change("after", map[string]string{"apps/fast/twice.yaml": object("twice", "1")}))
}

// TestReferencesWithoutADirectory: where trees cannot be kept the service works, holds what references decide, and says why without a path of its machine.
func TestReferencesWithoutADirectory(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	trees := filepath.Join(w.dir, "a-file")
	w.must(os.WriteFile(trees, nil, 0o600))
	w.serve("SLUICE_TREES_DIRECTORY=" + trees)
	n := w.change("live", map[string]string{"apps/fast/own.yaml": object("fast", "1")})
	w.hasStatus(n, "pending: held: cannot read what refers to its files: ")
	if status := w.status(n); strings.Contains(status, w.dir) || !strings.Contains(status, "trees.directory") {
		t.Error(status)
	}
	rules := strings.ReplaceAll(byReferences, "WINDOW", openForYears)
	w.hasStatus(w.change("rules", map[string]string{".github/sluice.yaml": rules}), "success: ")
	w.unmerged(n)
}

// TestReferencesOfTwoMerges: what was found for two pull requests is true of the tip that both were asked about, not of what the first one makes of it. Here
// one removes a list of resources, so that Flux reads all of its directory, and the other one adds a windowed Kustomization there.
func TestReferencesOfTwoMerges(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	_, err := w.repo.Commit("main", standin.Change{By: "acme", Message: "a list", Write: map[string]string{
		"clusters/one/more/kustomization.yaml": resources("own.yaml"), "clusters/one/more/own.yaml": object("more", "0"),
		".github/sluice.yaml": strings.NewReplacer("WINDOW", shutForYears, "/slow,", "/slow*,").Replace(byReferences),
	}})
	w.must(err)
	first, err := w.repo.OpenPull(standin.NewPull{By: "alice", Head: "list", Change: &standin.Change{Message: "list", Delete: []string{"clusters/one/more/kustomization.yaml"}}})
	w.must(err)
	second := w.change("defined", map[string]string{
		"clusters/one/more/slow.yaml": strings.ReplaceAll(kustomizationOf, "NAME", "slower"), "apps/slower/own.yaml": object("slower", "0"),
	})
	w.serve()
	w.eventually("one is merged", func() bool { return w.pull(first).Merged || w.pull(second).Merged })
	other := first
	if w.pull(first).Merged {
		other = second
	}
	w.hasStatus(other, "pending: held by weekend until ")
	w.unmerged(other)
}

// TestReferencesOfAQueueThatMoves: once the entry below it is merged, a green one is asked about anew. Until that is answered nothing is held against it: a
// failure would take it out of the queue.
func TestReferencesOfAQueueThatMoves(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	w.repo.Protect("main", standin.Rules{Queue: true, Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}})
	w.serve()
	first := w.change("first", map[string]string{"apps/fast/first.yaml": object("first", "1")})
	second := w.change("second", map[string]string{"apps/fast/second.yaml": object("second", "1")})
	for _, n := range []int{first, second} {
		w.hasStatus(n, "failure: main requires its merge queue")
	}
	queue := w.enqueued(first, second)
	w.eventually("both are green", func() bool { return w.isGreen(queue[0].Head) && w.isGreen(queue[1].Head) })
	w.must(w.repo.Dequeue(queue[0], "merged"))
	later := w.change("later", map[string]string{"apps/fast/later.yaml": object("later", "1")})
	w.hasStatus(later, "failure: main requires its merge queue")
	for _, s := range w.repo.Statuses(queue[1].Head) {
		if s.State != "success" {
			t.Errorf("the second entry: %s: %s", s.State, s.Description)
		}
	}
	if !w.isGreen(queue[1].Head) {
		t.Error("the second entry is no longer green")
	}
}

// TestReferencesOfAClosedPull: a success is true of a base's tip, also one that a closed pull request left behind. Once the base has moved it is withdrawn: else
// whoever may push brings the head there, whatever reads it by then.
func TestReferencesOfAClosedPull(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	w.setFile(strings.NewReplacer("WINDOW", shutForYears, "settle: 0s", "settle: 0s\n  live: status").Replace(byReferences))
	w.serve()
	n := w.change("late", map[string]string{"apps/late/late.yaml": object("late", "1")})
	w.hasStatus(n, "success: ")
	w.must(w.repo.ClosePull(n, "alice"))
	_, err := w.repo.Commit("main", standin.Change{By: "acme", Message: "slow reads it", Write: map[string]string{
		"apps/slow/kustomization.yaml": resources("../base", "own.yaml", "../late"), "apps/late/kustomization.yaml": resources("late.yaml"),
	}})
	w.must(err)
	other := w.change("other", map[string]string{"apps/fast/own.yaml": object("fast", "1")})
	w.hasStatus(other, "success: ")
	w.within(30*time.Second, "the success is withdrawn", func() bool { return !w.isGreen(w.pull(n).HeadSHA) })
}

// TestReferencesOfARebase: commits that undo each other are in no list of files. Put upon a base that took the first of them, the second undoes that.
func TestReferencesOfARebase(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	w.setFile(strings.NewReplacer("WINDOW", shutForYears, "settle: 0s", "settle: 0s\n  method: rebase").Replace(byReferences))
	const windowed, live = "apps/slow/own.yaml", "apps/fast/own.yaml"
	n := w.change("undone", map[string]string{windowed: object("slow", "1")})
	_, err := w.repo.Commit("undone", standin.Change{By: "alice", Message: "back", Write: map[string]string{windowed: object("slow", "0"), live: object("fast", "1")}})
	w.must(err)
	_, err = w.repo.Commit("main", standin.Change{By: "acme", Message: "in the window", Write: map[string]string{windowed: object("slow", "1")}})
	w.must(err)
	w.serve()
	w.eventually("it is decided on", func() bool { return w.pull(n).Merged || strings.HasPrefix(w.status(n), "failure: ") })
	if got := w.onMain(windowed); got != object("slow", "1") {
		t.Errorf("%s on main is %q; its status was %q", windowed, got, w.status(n))
	}
}
