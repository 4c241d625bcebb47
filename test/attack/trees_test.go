package attack

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/revisions"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/plan"
)

var forests = flag.Int("forests", race.Or(3, 6), "how many worlds TestForests runs")

// forest is a repository whose references decide, with a window that is closed: pull requests change its tree in every way, and git merges them.
type forest struct {
	t     *testing.T
	rules string
	dice  *rand.Rand
	dir   string
	keep  *revisions.Keeper
	heads map[int]plan.SHA // of open pull requests
	next  int
	story []string
}

const forestRules = `version: 1
timezone: UTC
windows:
  weekend: {dates: [{from: 2030-01-05T08:00:00, until: 2030-01-05T16:00:00}]}
layout:
  flux: true
  unmatched: live
  entrypoints:
    - {where: "**/*-rw", release: weekend}
pull_requests:
  settle: 0s
consistency: {builds: CHECK, duplicates: CHECK}
`

const forestSync = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: "URL", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {path: ./clusters/one, sourceRef: {kind: GitRepository, name: flux-system}}
`

// TestForests: whatever trees pull requests make of each other, one after the other, what Flux builds for a windowed entry point is after each merge
// what it was before it, as kustomize itself builds it.
func TestForests(t *testing.T) {
	for n := range *forests {
		seed := *first + uint64(n)
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			f := plant(t, rand.New(rand.NewPCG(seed, 3)))
			for range 12 {
				f.step()
			}
			if t.Failed() || *story {
				t.Log("\n" + strings.Join(f.story, "\n"))
			}
		})
	}
}

func plant(t *testing.T, dice *rand.Rand) *forest {
	root := t.TempDir()
	f := &forest{t: t, dice: dice, dir: filepath.Join(root, "fleet"), heads: map[int]plan.SHA{}}
	url := "file://" + filepath.Join(root, "served")
	f.keep = revisions.NewKeeper(revisions.Options{
		Dir: filepath.Join(root, "trees"), Most: 1 << 30, All: 1 << 30, Command: []string{os.Args[0], "references"}, Log: slog.New(slog.DiscardHandler),
		Remote: func(context.Context, plan.Repo) (revisions.Remote, error) { return revisions.Remote{URL: url}, nil },
		Found:  func(plan.Repo, []plan.Mention) {},
	})
	f.rules = strings.ReplaceAll(forestRules, "CHECK", pick(dice, "hold", "off", "off"))
	f.git("", "init", "-q", "-b", "main", f.dir)
	if err := os.Symlink(filepath.Join(f.dir, ".git"), filepath.Join(root, "served.git")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"user.name=a", "user.email=a@example.com", "uploadpack.allowAnySHA1InWant=true", "gc.auto=0", "advice.detachedHead=false"} {
		name, value, _ := strings.Cut(c, "=")
		f.at("config", name, value)
	}
	tree := map[string]string{config.File: f.rules, "clusters/one/flux-system/gotk-sync.yaml": strings.ReplaceAll(forestSync, "URL", url)}
	for _, app := range []string{"a", "b", "c-rw", "d-rw"} {
		tree["clusters/one/"+app+".yaml"] = definition(app, app)
		tree["apps/"+app+"/kustomization.yaml"] = "resources:\n- o0.yaml\n- o1.yaml\n"
		for i := range 2 {
			tree[fmt.Sprintf("apps/%s/o%d.yaml", app, i)] = manifest(fmt.Sprintf("%s-%d", app, i))
		}
	}
	tree["apps/c-rw/kustomization.yaml"] += "- ../base\n"
	tree["clusters/one/more/kustomization.yaml"], tree["clusters/one/more/m.yaml"] = "resources:\n- m.yaml\n", manifest("more")
	tree["apps/base/kustomization.yaml"], tree["apps/base/b.yaml"], tree["apps/extra/e.yaml"] = "resources:\n- b.yaml\n", manifest("base"), manifest("extra")
	f.commit("", "main", tree)
	if made, ok := windowedBuilds(tree); !ok || len(made) != 2 || made["d-rw"] == "" || made["c-rw"] == made["d-rw"] {
		t.Fatalf("what is windowed at first: %q", made)
	}
	return f
}

func definition(name, app string) string {
	return fmt.Sprintf("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: %s\n  namespace: flux-system\nspec:\n  path: ./apps/%s\n"+
		"  sourceRef:\n    kind: GitRepository\n    name: flux-system\n", name, app)
}

func manifest(name string) string {
	text := fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: %s\n  namespace: apps\nspec:\n", name)
	for i := range 6 {
		text += fmt.Sprintf("  k%d: 0\n", i)
	}
	return text
}

func (f *forest) git(in string, args ...string) string {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), "git", args...)
	cmd.Stdin = strings.NewReader(in)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

func (f *forest) at(args ...string) string {
	f.t.Helper()
	return strings.TrimSpace(f.git("", append([]string{"-C", f.dir}, args...)...))
}

// commit makes a tree a branch's.
func (f *forest) commit(from plan.SHA, branch string, tree map[string]string) plan.SHA {
	f.t.Helper()
	var in strings.Builder
	fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter a <a@example.com> 1767225600 +0000\ndata 0\n", branch)
	if from != "" {
		fmt.Fprintf(&in, "from %s\n", from)
	}
	in.WriteString("deleteall\n")
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		fmt.Fprintf(&in, "M 644 inline %s\ndata %d\n%s\n", name, len(tree[name]), tree[name])
	}
	f.git(in.String(), "-C", f.dir, "fast-import", "--quiet", "--force")
	return plan.SHA(f.at("rev-parse", branch))
}

// tree is the files of a commit.
func (f *forest) tree(of plan.SHA) map[string]string {
	out := map[string]string{}
	for name := range strings.FieldsSeq(f.at("ls-tree", "-r", "--name-only", string(of))) {
		out[name] = f.git("", "-C", f.dir, "cat-file", "blob", string(of)+":"+name)
	}
	return out
}

func (f *forest) say(format string, args ...any) {
	f.story = append(f.story, fmt.Sprintf(format, args...))
}

// step is what happens between two looks, and a look.
func (f *forest) step() {
	tip := plan.SHA(f.at("rev-parse", "main"))
	for range 2 + f.dice.IntN(4) {
		if len(f.heads) < 6 {
			f.next++
			tree := f.tree(tip)
			var done []string
			for range pick(f.dice, 1, 1, 1, 2, 3) {
				done = append(done, f.change(tree))
			}
			f.heads[f.next] = f.commit(tip, fmt.Sprint("p", f.next), tree)
			f.say("#%d upon %s: %s", f.next, tip.Short(), strings.Join(done, "; "))
		}
	}
	if f.dice.IntN(4) == 0 {
		tree := f.tree(tip)
		done := f.change(tree)
		tip = f.commit(tip, "main", tree)
		f.say("main %s, past sluice: %s", tip.Short(), done)
	}
	s := f.look(tip)
	decided := gate.Decide(f.keep.Answered(f.t.Context(), s, time.Now()))
	for _, v := range decided.Verdicts {
		f.say("  %s", v.Text())
	}
	for _, a := range decided.Actions {
		m, ok := a.(plan.Merge)
		if !ok {
			continue
		}
		f.merge(m)
	}
	for n := range f.heads {
		if f.dice.IntN(2) == 0 {
			delete(f.heads, n)
		}
	}
}

// merge is GitHub's.
func (f *forest) merge(m plan.Merge) {
	before := plan.SHA(f.at("rev-parse", "main"))
	delete(f.heads, m.Pull)
	f.at("checkout", "-q", "-f", "main")
	cmd := exec.CommandContext(f.t.Context(), "git", "-C", f.dir, "merge", "-q", "--no-edit", "--no-ff", string(m.SHA))
	if _, err := cmd.CombinedOutput(); err != nil {
		f.at("merge", "--abort")
		f.say("#%d conflicts", m.Pull)
		return
	}
	after := plan.SHA(f.at("rev-parse", "main"))
	f.say("#%d is merged: %s", m.Pull, after.Short())
	was, known := windowedBuilds(f.tree(before))
	is, stays := windowedBuilds(f.tree(after))
	if !known || !stays {
		return // of a root that cannot be built Flux leaves what it made
	}
	names := maps.Clone(was)
	maps.Copy(names, is)
	for name := range names {
		if was[name] != is[name] {
			f.t.Errorf("#%d, merged while the window is closed, changes what %s makes:\n%s\nwas\n%s", m.Pull, name, is[name], was[name])
		}
	}
}

// look is what sluice observes of it.
func (f *forest) look(tip plan.SHA) plan.Snapshot {
	policy, findings := config.Parse([]byte(f.rules))
	if policy == nil {
		f.t.Fatal(findings)
	}
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	s := plan.Snapshot{
		Repo: plan.Repo{Owner: "acme", Name: "fleet", ID: 1}, At: now, Default: "main", Us: "sluice[bot]", App: app,
		Bases: map[plan.Branch]plan.Base{"main": {Tip: tip, File: "f11e", Policy: policy, Rules: true}},
	}
	for _, n := range slices.Sorted(maps.Keys(f.heads)) {
		p := plan.Pull{
			Number: n, Author: "alice", Base: "main", Head: f.heads[n], HeadRef: plan.Branch(fmt.Sprint("p", n)), MergeBase: plan.SHA(f.at("merge-base", string(tip), string(f.heads[n]))),
			SameRepo: true, Mergeable: plan.MergeableYes, Complete: true, ChecksAll: true, CreatedAt: now.Add(-time.Hour), FirstSeen: now.Add(-time.Hour),
		}
		for line := range strings.Lines(f.at("diff", "--name-status", "-M", string(p.MergeBase), string(p.Head))) {
			fields := strings.Fields(line)
			file := plan.File{Path: fields[len(fields)-1], Kind: map[byte]plan.Change{'A': plan.Added, 'M': plan.Modified, 'D': plan.Deleted, 'R': plan.Renamed}[fields[0][0]]}
			if len(fields) == 3 {
				file.Old = fields[1]
			}
			p.Files = append(p.Files, file)
		}
		if len(p.Files) > 0 {
			s.Pulls = append(s.Pulls, p)
		}
	}
	return s
}

// change changes a tree in some way, and says how.
func (f *forest) change(tree map[string]string) string {
	often := f.dice.IntN(5) > 0 // what is windowed is held whatever else is done
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(tree)), func(n string) bool {
		return n == config.File || strings.Contains(n, "flux-system") || often && strings.Contains(n, "-rw")
	})
	dirs := []string{"apps/a", "apps/b", "apps/extra", "clusters/one/more", "clusters/one/more", "clusters/one", "apps/base", "apps/c-rw", "apps/d-rw"}
	if often {
		dirs = dirs[:6]
	}
	file, dir := names[f.dice.IntN(len(names))], dirs[f.dice.IntN(len(dirs))]
	way := f.dice.IntN(9)
	if f.dice.IntN(2) == 0 { // what one makes harmless and the other one does not
		dir, way = "clusters/one/more", pick(f.dice, 2, 2, 6)
	}
	list := dir + "/kustomization.yaml"
	switch way {
	case 0, 1:
		i := f.dice.IntN(6)
		tree[file] = strings.Replace(tree[file], fmt.Sprintf("k%d: ", i), fmt.Sprintf("k%d: 1", i), 1)
		return fmt.Sprintf("k%d of %s", i, file)
	case 2:
		name := fmt.Sprintf("n%d.yaml", f.dice.IntN(4))
		tree[dir+"/"+name] = manifest(fmt.Sprintf("new-%d", f.dice.IntN(100)))
		if strings.HasPrefix(dir, "clusters/one/more") {
			tree[dir+"/"+name] = definition(pick(f.dice, "e", "f-rw"), path.Base(pick(f.dice, dirs...)))
		}
		if tree[list] != "" && f.dice.IntN(2) == 0 {
			tree[list] += "- " + name + "\n"
		}
		return dir + "/" + name + " is new"
	case 3:
		delete(tree, file)
		if l := path.Dir(file) + "/kustomization.yaml"; f.dice.IntN(2) == 0 && tree[l] != "" {
			tree[l] = strings.Replace(tree[l], "- "+path.Base(file)+"\n", "", 1)
		}
		return file + " is gone"
	case 4:
		to := dir + "/" + path.Base(file)
		text := tree[file]
		if f.dice.IntN(2) == 0 {
			text = strings.Replace(text, "k3: ", "k3: 2", 1)
		}
		delete(tree, file)
		tree[to] = text
		return file + " becomes " + to
	case 5:
		if tree[list] == "" {
			tree[list] = "resources:\n"
		}
		to := "../../" + []string{file, path.Dir(file)}[f.dice.IntN(2)]
		tree[list] += "- " + to + "\n"
		return list + " lists " + to
	case 6:
		if tree[list] != "" {
			delete(tree, list)
			return list + " is gone"
		}
		tree[list] = "resources: []\n"
		return list + " is new and empty"
	case 7:
		name := pick(f.dice, "a", "b", "c-rw", "d-rw", "e", "f-rw")
		of := "clusters/one/" + pick(f.dice, "a", "b", "c-rw", "d-rw", "e") + ".yaml"
		tree[of] = definition(name, path.Base(dir))
		return of + " defines " + name + " of " + dir
	}
	lines := strings.SplitAfter(tree[file], "\n")
	i := f.dice.IntN(len(lines))
	tree[file] = strings.Join(slices.Delete(lines, i, i+1), "")
	return fmt.Sprintf("%s loses line %d", file, i+1)
}

// windowedBuilds is what Flux makes of each windowed entry point of a tree; ok is false where the root cannot be built.
func windowedBuilds(tree map[string]string) (out map[string]string, ok bool) {
	out = map[string]string{}
	root := kustomized(tree, "clusters/one")
	decoder := yaml.NewDecoder(strings.NewReader(root))
	for {
		var k struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string
			Metadata   struct{ Name string }
			Spec       struct{ Path string }
		}
		if decoder.Decode(&k) != nil {
			return out, root != ""
		}
		if k.Kind == "Kustomization" && strings.HasPrefix(k.APIVersion, "kustomize.toolkit.fluxcd.io/") && strings.HasSuffix(k.Metadata.Name, "-rw") {
			out[k.Metadata.Name] = k.Spec.Path + "\n" + kustomized(tree, path.Clean(k.Spec.Path))
		}
	}
}

// kustomized is what Flux builds of a directory: all YAML below it where it has no kustomization.yaml. Files that are no objects are not among them here.
func kustomized(tree map[string]string, dir string) string {
	fs := filesys.MakeFsInMemory()
	for name, text := range tree {
		if err := fs.WriteFile(name, []byte(text)); err != nil {
			return ""
		}
	}
	if tree[dir+"/kustomization.yaml"] == "" {
		var list bytes.Buffer
		list.WriteString("resources:\n")
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			below, in := strings.CutPrefix(name, dir+"/")
			if !in {
				continue
			}
			unit := ""
			for at := path.Dir(below); at != "."; at = path.Dir(at) {
				if tree[dir+"/"+at+"/kustomization.yaml"] != "" {
					unit = at
				}
			}
			switch {
			case unit == "":
				fmt.Fprintf(&list, "- %s\n", below)
			case !bytes.Contains(list.Bytes(), []byte("- "+unit+"\n")):
				fmt.Fprintf(&list, "- %s\n", unit)
			}
		}
		if err := fs.WriteFile(dir+"/kustomization.yaml", list.Bytes()); err != nil {
			return ""
		}
	}
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsNone
	made, err := krusty.MakeKustomizer(options).Run(fs, dir)
	if err != nil {
		return ""
	}
	text, err := made.AsYaml()
	if err != nil {
		return ""
	}
	return string(text)
}
