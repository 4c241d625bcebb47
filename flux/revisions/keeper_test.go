package revisions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/build"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// TestMain makes this test's binary the child process, the one that builds for it, and one that dies.
func TestMain(m *testing.M) {
	askMost = time.Hour // no test fails because the machine is busy
	if len(os.Args) != 2 {
		os.Exit(m.Run())
	}
	var err error
	switch os.Args[1] {
	case "references":
		run := meter.New(context.Background(), meter.Limits{meter.Time: -1})
		err = Child(run.Context(), run, os.Stdin, os.Stdout, func(ctx context.Context, j build.Job) ([]build.Result, error) {
			j.Command = []string{os.Args[0], "build"}
			return j.Run(ctx)
		})
	case "build":
		err = build.Child(os.Stdin, os.Stdout)
	case "dies":
		os.Exit(3)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

const rules = `version: 1
timezone: UTC
windows:
  weekend: {open: "0 8 * * SAT", duration: 8h}
layout:
  flux: true
  unmatched: live
  entrypoints:
    - {where: "**/*-rw", release: weekend}
`

// repository is one on this machine's disk, as a remote, with a cluster of that many entry points of so many files.
type origin struct {
	t   testing.TB
	dir string
}

func newOrigin(t testing.TB, points, files int) *origin {
	t.Helper()
	o := &origin{t, filepath.Join(t.TempDir(), "fleet.git")}
	o.git("", "init", "-q", "-b", "main", o.dir)
	o.git("", "-C", o.dir, "config", "uploadpack.allowAnySHA1InWant", "true")
	tree := map[string]string{
		config.File: rules,
		"clusters/one/flux-system/gotk-sync.yaml": `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: "file://` + strings.TrimSuffix(o.dir, ".git") + `", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {path: ./clusters/one, sourceRef: {kind: GitRepository, name: flux-system}}
`,
		"apps/base/kustomization.yaml": "resources: [b.yaml]\n", "apps/base/b.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: base}\n",
	}
	for p := range points {
		name := fmt.Sprintf("app%03d%s", p, []string{"", "-rw"}[p%2])
		tree["clusters/one/"+name+".yaml"] = fmt.Sprintf("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: %s, namespace: flux-system}\n"+
			"spec: {path: ./apps/%s, sourceRef: {kind: GitRepository, name: flux-system}}\n", name, name)
		list := "resources: [../base"
		for f := range files {
			list += fmt.Sprintf(", o%02d.yaml", f)
			tree[fmt.Sprintf("apps/%s/o%02d.yaml", name, f)] = object(name, f, strings.Repeat("x", 300))
		}
		tree["apps/"+name+"/kustomization.yaml"] = list + "]\n"
	}
	o.commit("main", "", tree)
	return o
}

func object(namespace string, n int, text string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d, namespace: %s}\ndata: {a: \"%s\"}\n", n, namespace, text)
}

// deployment is an object of which the graph knows nothing but that it is there.
func deployment(namespace, name, image string) string {
	return fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, namespace: %s}\nspec: {template: {spec: {containers: [{name: a, image: %q}]}}}\n", name, namespace, image)
}

func (o *origin) git(in string, args ...string) string {
	o.t.Helper()
	cmd := exec.CommandContext(o.t.Context(), "git", args...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	if err != nil {
		o.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit puts files upon a commit, as a branch.
func (o *origin) commit(branch, from string, files map[string]string) plan.SHA {
	o.t.Helper()
	var in strings.Builder
	fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter a <a@example.com> 1767225600 +0000\ndata 0\n", branch)
	if from != "" {
		fmt.Fprintf(&in, "from %s\n", from)
	}
	for name, text := range files {
		fmt.Fprintf(&in, "M 644 inline %s\ndata %d\n%s\n", name, len(text), text)
	}
	o.git(in.String(), "-C", o.dir, "fast-import", "--quiet", "--force")
	return plan.SHA(o.git("", "-C", o.dir, "rev-parse", branch))
}

// keeper keeps answers about repositories that stand on this machine's disk, by their numbers.
func keeper(t testing.TB, command string, origins map[int64]*origin) *Keeper {
	return NewKeeper(Options{
		Dir: filepath.Join(t.TempDir(), "trees"), Most: 1 << 30, All: 1 << 30, Command: []string{os.Args[0], command}, Log: slog.New(slog.DiscardHandler),
		Remote: func(_ context.Context, repo plan.Repo) (Remote, error) {
			o := origins[repo.ID]
			if o == nil {
				return Remote{}, errors.New("GitHub is away")
			}
			return Remote{URL: "file://" + strings.TrimSuffix(o.dir, ".git")}, nil
		},
		Found: func(plan.Repo, []plan.Mention) {},
	})
}

// observed is a repository with a pull request for each of some heads that change a file.
func observed(t testing.TB, id int64, tip, before plan.SHA, heads map[plan.SHA]string) plan.Snapshot {
	t.Helper()
	policy, findings := config.Parse([]byte(rules))
	if policy == nil {
		t.Fatal(findings)
	}
	s := plan.Snapshot{
		Repo: plan.Repo{Owner: "acme", Name: "fleet", ID: id}, Default: "main", Bases: map[plan.Branch]plan.Base{"main": {Tip: tip, File: "f11e", Policy: policy}},
	}
	for head, path := range heads {
		s.Pulls = append(s.Pulls, plan.Pull{
			Number: len(s.Pulls) + 1, Base: "main", Head: head, MergeBase: before, Complete: true, Files: []plan.File{{Path: path, Kind: plan.Modified}},
		})
	}
	return s
}

// heads is so many, each of which changes a file.
func heads(n int) map[plan.SHA]string {
	out := map[plan.SHA]string{}
	for i := range n {
		out[plan.SHA(fmt.Sprint("a", i))] = "x"
	}
	return out
}

// releases is what the first file of the first pull request needs, by what was found.
func releases(s plan.Snapshot) string {
	p := &s.Pulls[0]
	base := s.Bases[p.Base]
	if p.Unread.Is() {
		return "unread: " + p.Unread.Reason
	}
	policy, found := base.Found(p.References, p.Asked(&base))
	return found.Broken + strings.Join(config.Strings(policy.Layout.Classify(p.Files[0].Path).Releases), " ")
}

// TestAnswers: what refers to a file, at the states of its pull request, and for these alone.
func TestAnswers(t *testing.T) {
	o := newOrigin(t, 4, 2)
	tip := plan.SHA(o.git("", "-C", o.dir, "rev-parse", "main"))
	k := keeper(t, "references", map[int64]*origin{1: o})
	for path, want := range map[string]string{
		"apps/app000/o01.yaml": "live", "apps/app001-rw/o01.yaml": "weekend", "apps/base/b.yaml": "weekend", "docs/x.md": "live", "clusters/one/app001-rw.yaml": "weekend",
	} {
		text := object("changed", 1, "y")
		if strings.HasPrefix(path, "clusters") {
			text = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: app001-rw, namespace: flux-system}\n" +
				"spec: {path: ./apps/app000, sourceRef: {kind: GitRepository, name: flux-system}}\n"
		}
		head := o.commit("topic", "main", map[string]string{path: text})
		s := k.Answered(t.Context(), observed(t, 1, tip, tip, map[plan.SHA]string{head: path}), time.Now())
		if got := releases(s); !strings.Contains(got, want) || want == "live" && got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		s.Pulls[0].Head = tip
		if got := releases(s); want == "weekend" && got != string(layout.Unread) {
			t.Errorf("%s at another head: %s", path, got)
		}
	}
}

// TestWarningsAreTold: what a check finds that only warns is told of the change that brings it, and of no other; it blocks nothing.
func TestWarningsAreTold(t *testing.T) {
	o := newOrigin(t, 2, 2)
	base := o.commit("main", "main", map[string]string{config.File: rules + "consistency: {duplicates: warn, builds: warn, layers: \"off\"}\n"})
	tip := o.commit("main", "main", map[string]string{"apps/app000/kustomization.yaml": "resources: [../base, o00.yaml, o01.yaml, gone.yaml]\n"})
	k := keeper(t, "references", map[int64]*origin{1: o})
	for name, c := range map[string]struct {
		tip, want string
		files     map[string]string
	}{
		"an object twice": {string(base), "duplicates: ConfigMap app001-rw/c0", map[string]string{"apps/app000/o00.yaml": object("app001-rw", 0, "y")}},
		"no build":        {string(base), "builds: flux-system/app000 of one cannot be built", map[string]string{"apps/app000/kustomization.yaml": "resources: [gone.yaml]\n"}},
		"no build before": {string(tip), "", map[string]string{"apps/app000/o00.yaml": object("app000", 0, "y")}},
		"nothing":         {string(base), "", map[string]string{"apps/app000/o00.yaml": object("app000", 0, "y")}},
	} {
		head := o.commit("topic", c.tip, c.files)
		s := observed(t, 1, plan.SHA(c.tip), plan.SHA(c.tip), map[plan.SHA]string{head: slices.Collect(maps.Keys(c.files))[0]})
		s = k.Answered(t.Context(), s, time.Now())
		found := s.Pulls[0].References
		if found == nil || found.Broken != "" {
			t.Errorf("%s: %+v, %v", name, found, s.Pulls[0].Unread)
			continue
		}
		var got string
		for _, n := range found.Told {
			got += n.Code + ": " + n.Says
		}
		if !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: told %q, want %q", name, got, c.want)
		}
	}
}

// TestMadeLive: a change by which a windowed entry point reads what a rule makes live is blocked, whichever of its files leads there; one that finds it so
// is not, nor one of what a live entry point reads.
func TestMadeLive(t *testing.T) {
	o := newOrigin(t, 2, 1)
	tip := o.commit("main", "main", map[string]string{
		config.File: rules + "  rules: [{paths: [\"docs/**\", \"apps/plain-rw/live/**\", \"apps/app001-rw/o00.yaml\"], release: live}]\n",
		"clusters/one/plain-rw.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: plain-rw, namespace: flux-system}\n" +
			"spec: {path: ./apps/plain-rw, sourceRef: {kind: GitRepository, name: flux-system}}\n",
		"apps/plain-rw/r.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: flux-system}\n" +
			"spec: {chart: {spec: {chart: ./docs, sourceRef: {kind: GitRepository, name: charts}}}}\n",
		"clusters/one/charts.yaml": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: charts, namespace: flux-system}\nspec: {url: https://example.com/a/b, ref: {branch: main}}\n",
		"docs/Chart.yaml":          "name: docs\nversion: 1.0.0\n",
		"apps/plain-rw/a.yaml":     object("plain", 0, "x"), "docs/kustomization.yaml": "resources: [a.yaml]\n", "docs/a.yaml": object("docs", 0, "x"),
	})
	k := keeper(t, "references", map[int64]*origin{1: o})
	for _, c := range []struct{ name, path, text, broken string }{
		{"its own list", "apps/app001-rw/kustomization.yaml", "resources: [../base, o00.yaml, ../../docs]\n", "docs/a.yaml"},
		{"a list of what it reads", "apps/base/kustomization.yaml", "resources: [b.yaml, ../../docs]\n", "docs/a.yaml ← apps/base/kustomization.yaml ← apps/app001-rw"},
		{"a file that no list names", "apps/plain-rw/live/b.yaml", object("plain", 1, "x"), "apps/plain-rw/live/b.yaml ← "},
		{"its definition", "clusters/one/plain-rw.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: plain-rw, namespace: flux-system}\n" +
			"spec: {path: ./docs, sourceRef: {kind: GitRepository, name: flux-system}}\n", "docs/a.yaml ← "},
		{"the source of its chart", "clusters/one/charts.yaml", "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: charts, namespace: flux-system}\n" +
			"spec: {url: \"file://" + strings.TrimSuffix(o.dir, ".git") + "\", ref: {branch: main}}\n", "docs/Chart.yaml ← apps/plain-rw/r.yaml"},
		{"a list that gives it another chart than is read", "apps/plain-rw/kustomization.yaml", "resources: [r.yaml, a.yaml]\npatches: [{target: {kind: HelmRelease}, patch: '[{\"op\": \"replace\", \"path\": \"\", \"value\": " +
			"{\"apiVersion\": \"helm.toolkit.fluxcd.io/v2\", \"kind\": \"HelmRelease\", \"metadata\": {\"name\": \"web\", \"namespace\": \"flux-system\"}, \"spec\": {\"chart\": {\"spec\": {\"chart\": \"./other\", \"sourceRef\": " +
			"{\"kind\": \"GitRepository\", \"name\": \"charts\"}}}}}}]'}]\n", "kustomize gives HelmRelease.helm.toolkit.fluxcd.io flux-system/web the path other, but the graph has read docs"},
		{"it was so", "apps/app001-rw/o00.yaml", object("app001-rw", 0, "y"), ""},
		{"the list of a live one", "apps/app000/kustomization.yaml", "resources: [../base, o00.yaml, ../../docs]\n", ""},
	} {
		s := observed(t, 1, tip, tip, map[plan.SHA]string{o.commit("topic", "main", map[string]string{c.path: c.text}): c.path})
		s = k.Answered(t.Context(), s, time.Now())
		found := s.Pulls[0].References
		if found == nil || (found.Broken == "") != (c.broken == "") || !strings.Contains(found.Broken, c.broken) {
			t.Errorf("%s: %+v, %v", c.name, found, s.Pulls[0].Unread)
		}
	}
}

// TestAwait: where a success stands the answer is waited for, a moment; where none does, or nobody answers, it is not.
func TestAwait(t *testing.T) {
	o := newOrigin(t, 2, 1)
	tip := plan.SHA(o.git("", "-C", o.dir, "rev-parse", "main"))
	head := o.commit("topic", "main", map[string]string{"docs/x.md": "x"})
	k := keeper(t, "references", map[int64]*origin{1: o})
	s := observed(t, 1, tip, tip, map[plan.SHA]string{head: "docs/x.md"})
	ctx, cancel := context.WithCancel(t.Context())
	k.Await(ctx, s, time.Now()) // nobody runs it yet
	s.Pulls[0].Ours = []plan.Status{{State: plan.Success}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.Run(ctx)
	}()
	began := time.Now()
	k.Await(ctx, s, began)
	k.Fill(&s, time.Now())
	if s.Pulls[0].Unread.Is() && time.Since(began) < await {
		t.Errorf("after %v: %v", time.Since(began), s.Pulls[0].Unread)
	}
	cancel()
	<-done
	s = observed(t, 1, tip, tip, map[plan.SHA]string{tip: "docs/x.md"})
	s.Pulls[0].Ours = []plan.Status{{State: plan.Success}}
	k.Await(ctx, s, time.Now()) // it ends with its context
}

// TestAwaitsForItself: who has no success is not waited for.
func TestAwaitsForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := observed(t, 1, "t1p", "t1p", map[plan.SHA]string{"a1": "docs/x.md", "a2": config.File})
		for i, p := range s.Pulls {
			if p.Head == "a2" {
				s.Pulls[i].Ours = []plan.Status{{State: plan.Success}}
			}
		}
		began := time.Now()
		keeper(t, "references", nil).Await(t.Context(), s, began)
		if took := time.Since(began); took != 0 {
			t.Errorf("it waits for %v", took)
		}
	})
}

// TestUnanswered: what could not be read is unread, says why, and is tried again, ever less often. An answer that takes long is shown.
func TestUnanswered(t *testing.T) {
	o := newOrigin(t, 2, 1)
	tip := plan.SHA(o.git("", "-C", o.dir, "rev-parse", "main"))
	head := o.commit("topic", "main", map[string]string{"apps/app000/o00.yaml": "changed"})
	for name, test := range map[string]struct {
		command string
		origins map[int64]*origin
		says    string
	}{
		"GitHub is away":  {"references", nil, "GitHub is away"},
		"the child dies":  {"dies", map[int64]*origin{1: o}, "the process that reads it"},
		"no such program": {"dies", map[int64]*origin{1: o}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			k := keeper(t, test.command, test.origins)
			if name == "no such program" {
				k.o.Command = []string{"/nowhere/sluice"}
			}
			ask := func() plan.Snapshot {
				return observed(t, 1, tip, tip, map[plan.SHA]string{head: "apps/app000/o00.yaml"})
			}
			now := time.Now()
			s := ask()
			if k.Fill(&s, now); !s.Pulls[0].Unread.Passing || !s.Again.Equal(now.Add(soon)) {
				t.Errorf("at first: %+v, again at %v", s.Pulls[0].Unread, s.Again)
			}
			if k.Fill(&s, now.Add(soon)); s.Pulls[0].Unread.Passing {
				s = ask()
				if k.Fill(&s, now.Add(soon)); s.Pulls[0].Unread.Passing {
					t.Errorf("after %s: %+v", soon, s.Pulls[0].Unread)
				}
			}
			for wait := retry; wait < 4*retry; wait *= 2 {
				s = k.Answered(t.Context(), ask(), now)
				if u := s.Pulls[0].Unread; !strings.Contains(u.Reason, test.says) || u.Passing || !s.Again.Equal(now.Add(wait)) {
					t.Errorf("%+v, again after %s, want %s", u, s.Again.Sub(now), wait)
				}
				if r, a := k.next(now); a != nil {
					t.Errorf("asked too early of %v", r.repo)
				}
				now = now.Add(wait)
			}
		})
	}
}

// TestGroupsWait: a merge group that is being read is not answered, however long that takes: a failure would take it out of its queue. One that cannot be read is.
func TestGroupsWait(t *testing.T) {
	k := keeper(t, "references", nil)
	now := time.Now()
	ask := func() plan.Snapshot {
		s := observed(t, 1, "tip", "tip", nil)
		s.Groups = []plan.Group{{Base: "main", BaseSHA: "tip", Head: "head", Files: []plan.File{{Path: "x"}}, Complete: true}}
		return s
	}
	for _, wait := range []time.Duration{0, soon, 10 * time.Minute} {
		s := ask()
		if k.Fill(&s, now.Add(wait)); !s.Groups[0].Unread.Passing {
			t.Errorf("after %s: %+v", wait, s.Groups[0].Unread)
		}
	}
	if s := k.Answered(t.Context(), ask(), now); !s.Groups[0].Unread.Is() || s.Groups[0].Unread.Passing {
		t.Errorf("GitHub is away: %+v", s.Groups[0].Unread)
	}
}

// TestRulesAlone: nothing is asked of a pull request of the rules file, which may be what lets a tree be read again.
func TestRulesAlone(t *testing.T) {
	k := keeper(t, "references", nil)
	s := observed(t, 1, "tip", "tip", map[plan.SHA]string{"head": config.File})
	if k.Fill(&s, time.Now()); s.Pulls[0].Unread.Is() || len(k.turns) > 0 {
		t.Errorf("%+v, %d wait", s.Pulls[0].Unread, len(k.turns))
	}
}

// TestInTurn: however much one repository asks, another one waits for its turn of some seconds alone.
func TestInTurn(t *testing.T) {
	k := keeper(t, "references", nil)
	now := time.Now()
	for id := range int64(3) {
		s := observed(t, id+1, "tip", "tip", heads(50))
		k.Fill(&s, now)
	}
	var turns []int64
	for range 60 {
		turns = append(turns, takes(k, &now, map[int64]time.Duration{1: time.Second, 2: time.Second, 3: time.Second}))
	}
	for i, id := range turns { // a turn ends with the answer that its seconds pass in
		if want := turns[0] + int64(i/3)%3; id != (want-1)%3+1 {
			t.Fatalf("turns: %v", turns)
		}
	}
}

// TestCostlyQuestions: a repository whose questions take minutes keeps another one waiting for one of them, and not for one in each turn.
func TestCostlyQuestions(t *testing.T) {
	k := keeper(t, "references", nil)
	now := time.Now()
	for id := range int64(2) {
		s := observed(t, id+1, "tip", "tip", heads(100))
		k.Fill(&s, now)
	}
	began := now
	for left := 100; left > 0; {
		if takes(k, &now, map[int64]time.Duration{1: 2 * time.Minute, 2: time.Second / 2}) == 2 {
			left--
		}
	}
	if waited := now.Sub(began); waited > 4*time.Minute {
		t.Errorf("a hundred answers of half a second were there after %s", waited)
	}
}

// TestSlowOnesLast: a pull request whose last answer took long is asked about when no other one of its repository waits. A stranger may have any number of them.
func TestSlowOnesLast(t *testing.T) {
	k := keeper(t, "references", nil)
	now := time.Now()
	s := observed(t, 1, "tip", "tip", heads(10))
	k.Fill(&s, now)
	for range 10 {
		r, a := k.next(now)
		if a.about[0].Pull != 10 {
			now = now.Add(time.Minute)
		}
		k.done(r, a, nil, errSlow, now)
	}
	moved := observed(t, 1, "moved", "tip", heads(10))
	k.Fill(&moved, now)
	var order []int
	for range 10 {
		r, a := k.next(now)
		order = append(order, a.about[0].Pull)
		k.done(r, a, &reply{}, nil, now)
	}
	if order[0] != 10 || !slices.IsSorted(order[1:]) {
		t.Error(order)
	}
	again := observed(t, 1, "again", "tip", heads(10))
	k.Fill(&again, now)
	if _, a := k.next(now); a.about[0].Pull != 1 {
		t.Errorf("first #%d, though none was slow", a.about[0].Pull)
	}
}

// takes has a keeper take the next question as answered, after as long as those of its repository take, and gives whose it was.
func takes(k *Keeper, now *time.Time, costs map[int64]time.Duration) int64 {
	r, a := k.next(*now)
	*now = now.Add(costs[r.repo.ID])
	k.done(r, a, &reply{}, nil, *now)
	return r.repo.ID
}

// answered has a keeper take the next question as answered.
func answered(k *Keeper, now time.Time, rule string) (told []plan.Mention) {
	r, a := k.next(now)
	found := &reply{Answers: layout.Answers{}}
	for _, f := range a.Files {
		found.Answers[f.Path] = layout.Answer{Reads: &layout.Class{Releases: []layout.Release{layout.Live}, Rule: rule}}
	}
	return k.done(r, a, found, nil, now)
}

// TestChildStays: a change that cannot be merged is an answer like any other: the child that says so goes on, with the tree that it has read.
func TestChildStays(t *testing.T) {
	o := newOrigin(t, 2, 1)
	before := plan.SHA(o.git("", "-C", o.dir, "rev-parse", "main"))
	live := o.commit("live", "main", map[string]string{"docs/x.md": "x"})
	both := o.commit("both", "main", map[string]string{"apps/app000/o00.yaml": object("app000", 0, "head")})
	tip := o.commit("main", "main", map[string]string{"apps/app000/o00.yaml": object("app000", 0, "tip")})
	k := keeper(t, "references", map[int64]*origin{1: o})
	defer k.rest()
	var first *child
	for i, head := range []plan.SHA{live, both, both} {
		s := observed(t, 1, tip, before, map[plan.SHA]string{head: "x"})
		k.Fill(&s, time.Now().Add(time.Duration(i)*retryMost))
		r, a := k.next(time.Now())
		found, err := k.look(t.Context(), r, a)
		k.done(r, a, found, err, time.Now())
		if first == nil {
			first = k.child
		}
		if k.child != first || (err == nil) != (head == live) {
			t.Errorf("%d: another child, or %v", i, err)
		}
	}
}

// TestLargeFiles: a file that is too large to be read is a problem of its own, as it is in `classify`; what does not read it is answered.
func TestLargeFiles(t *testing.T) {
	o := newOrigin(t, 4, 2)
	tip := o.commit("main", "main", map[string]string{"apps/app002/large.yaml": object("app002", 9, strings.Repeat("x", 5<<20)), "apps/app002/kustomization.yaml": "resources: [large.yaml]\n"})
	k := keeper(t, "references", map[int64]*origin{1: o})
	head := o.commit("topic", "main", map[string]string{"apps/app000/o01.yaml": object("app000", 1, "y")})
	s := k.Answered(t.Context(), observed(t, 1, tip, tip, map[plan.SHA]string{head: "apps/app000/o01.yaml"}), time.Now())
	if got := releases(s); got != "live" {
		t.Error(got)
	}
}

// TestRenewedOnce: a mirror that cannot be read is fetched anew, once an hour.
func TestRenewedOnce(t *testing.T) {
	o := newOrigin(t, 2, 1)
	tip := plan.SHA(o.git("", "-C", o.dir, "rev-parse", "main"))
	k := keeper(t, "references", map[int64]*origin{1: o})
	for i, want := range []string{"live", "live", "unread: cannot read what refers to its files: its mirror lacks an object"} {
		head := o.commit("topic", "main", map[string]string{"apps/app000/o00.yaml": object("app000", 0, fmt.Sprint(i))})
		ask := func() plan.Snapshot {
			return observed(t, 1, tip, tip, map[plan.SHA]string{head: "apps/app000/o00.yaml"})
		}
		s := ask()
		if i > 0 { // the commits are there, and their objects are not
			s := ask()
			if err := k.fetch(t.Context(), Remote{URL: "file://" + strings.TrimSuffix(o.dir, ".git")}, k.mirror(s.Repo), []plan.SHA{tip, head}); err != nil {
				t.Fatal(err)
			}
			packs, err := filepath.Glob(filepath.Join(k.mirror(s.Repo), "objects", "pack", "*"))
			if err != nil || len(packs) == 0 {
				t.Fatal(packs, err)
			}
			for _, name := range packs {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
		}
		s = k.Answered(t.Context(), s, time.Now())
		if got := releases(s); !strings.HasPrefix(got, want) {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}

// TestSuperseded: a change that is in another state by now is asked about as it is, and not as it was.
func TestSuperseded(t *testing.T) {
	k := keeper(t, "references", nil)
	now := time.Now()
	for i := range 100 {
		s := observed(t, 1, plan.SHA(fmt.Sprint("tip", i)), "before", map[plan.SHA]string{"head": "x"})
		k.Fill(&s, now)
	}
	s := observed(t, 1, "tip99", "before", map[plan.SHA]string{"head": "x"})
	if k.Fill(&s, now); len(k.repos[s.Repo.Key()].waiting) != 1 || len(k.repos[s.Repo.Key()].answers) != 1 {
		t.Errorf("%d wait, %d are known", len(k.repos[s.Repo.Key()].waiting), len(k.repos[s.Repo.Key()].answers))
	}
	answered(k, now, "x")
	if k.Fill(&s, now); releases(s) != "unread: what refers to its files is being read" { // it stands in the snapshot already
		t.Error(releases(s))
	}
	s = observed(t, 1, "tip99", "before", map[plan.SHA]string{"head": "x"})
	if k.Fill(&s, now); releases(s) != "live" {
		t.Error(releases(s))
	}
	if r, a := k.next(now); a != nil {
		t.Errorf("another question of %v", r.repo)
	}
	s = observed(t, 1, "tip99", "before", map[plan.SHA]string{"head": "x"})
	s.Repo.Name = "renamed"
	if k.Fill(&s, now); !s.Pulls[0].Unread.Is() {
		t.Error("an answer about a repository of another name")
	}
}

// TestTold: the first news of a repository is told at once, and what follows within a second together, at the latest with the last.
func TestTold(t *testing.T) {
	k := keeper(t, "references", nil)
	now := time.Now()
	many := heads(25)
	s := observed(t, 1, "tip", "tip", many)
	k.Fill(&s, now)
	var told []int
	for range 25 {
		if news := answered(k, now, "x"); len(news) > 0 {
			told = append(told, len(news))
		}
		now = now.Add(100 * time.Millisecond)
	}
	if want := "[1 10 10 4]"; fmt.Sprint(told) != want {
		t.Errorf("told of %v, want %s", told, want)
	}
}

// TestBytes: however long the answers are, those of a repository take no more than they may.
func TestBytes(t *testing.T) {
	k := keeper(t, "references", nil)
	now := time.Now()
	many := heads(40)
	s := observed(t, 1, "tip", "tip", many)
	k.Fill(&s, now)
	for range many {
		answered(k, now, strings.Repeat("x", 1<<20))
	}
	r := k.repos[s.Repo.Key()]
	if total := r.bytes; total > maxBytes || total < maxBytes/2 || len(r.answers) > 16 {
		t.Errorf("%d bytes of %d answers", total, len(r.answers))
	}
}

// TestBytesOfFailures: what cannot be read counts as well, and keeps no list of files, which may be long.
func TestBytesOfFailures(t *testing.T) {
	k := keeper(t, "references", nil)
	now := time.Now()
	s := observed(t, 1, "tip", "tip", heads(40))
	k.Fill(&s, now)
	for range 40 {
		r, a := k.next(now)
		k.done(r, a, nil, errors.New(strings.Repeat("x", 1<<20)), now)
	}
	r := k.repos[s.Repo.Key()]
	if len(r.answers) > 16 || r.bytes > maxBytes {
		t.Errorf("%d bytes of %d answers", r.bytes, len(r.answers))
	}
	for _, a := range r.answers {
		if a.Files != nil {
			t.Fatal("the files of a change that cannot be read are kept")
		}
	}
}

// TestRoom: all mirrors together take no more than they may; what was not used for longest goes.
func TestRoom(t *testing.T) {
	k := keeper(t, "references", nil)
	now := time.Now()
	for i, name := range []string{"1.git", "2.git", "3.git", "builds"} {
		dir := filepath.Join(k.o.Dir, name)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "x"), make([]byte, 1000), 0o600)); err != nil {
			t.Fatal(err)
		}
		if k.o.All = 1 << 20; name != "builds" {
			if err := k.makeRoom(dir, now.Add(time.Duration(i)*time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
	}
	k.o.All = 2000
	if err := k.makeRoom(filepath.Join(k.o.Dir, "1.git"), now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(k.o.Dir, "*"))
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	if want := "[1.git 3.git builds]"; err != nil || fmt.Sprint(left) != want {
		t.Errorf("%v, %v; want %s", left, err, want)
	}
}

// TestForgotten: what nobody asks for any more is forgotten, and the mirror goes with its repository.
func TestForgotten(t *testing.T) {
	o := newOrigin(t, 2, 1)
	tip := plan.SHA(o.git("", "-C", o.dir, "rev-parse", "main"))
	head := o.commit("topic", "main", map[string]string{"apps/app000/o00.yaml": object("app000", 0, "y")})
	k := keeper(t, "references", map[int64]*origin{1: o})
	now := time.Now()
	s := k.Answered(t.Context(), observed(t, 1, tip, tip, map[plan.SHA]string{head: "apps/app000/o00.yaml"}), now)
	if got := releases(s); got != "live" {
		t.Fatal(got)
	}
	none := observed(t, 1, tip, tip, nil)
	if k.Fill(&none, now.Add(unused+1)); len(k.repos[s.Repo.Key()].answers) != 0 {
		t.Error("an answer is kept that nobody asked for")
	}
	if _, err := os.Stat(k.mirror(s.Repo)); err != nil {
		t.Fatal(err)
	}
	if err := k.Forget(s.Repo); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(k.mirror(s.Repo)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the mirror of a repository that is gone: %v", err)
	}
	s = observed(t, 1, tip, tip, map[plan.SHA]string{head: "apps/app000/o00.yaml"})
	k.Fill(&s, now)
	r, a := k.next(now)
	if err := k.Forget(s.Repo); err != nil {
		t.Fatal(err)
	}
	found, err := k.look(t.Context(), r, a)
	k.done(r, a, found, err, now)
	k.rest()
	if _, err := os.Stat(k.mirror(s.Repo)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the mirror of a repository that went while it was read: %v", err)
	}
}

// BenchmarkAnswer is an answer about a change of a file among 20,000 files and 500 entry points: with nothing kept, about a further pull request, and about one
// after a merge.
func BenchmarkAnswer(b *testing.B) {
	o := newOrigin(b, 500, 38)
	tip := plan.SHA(o.git("", "-C", o.dir, "rev-parse", "main"))
	n := 0
	changed := func(from string) plan.SHA {
		n++
		return o.commit("topic", from, map[string]string{"apps/app000/o00.yaml": object("app000", 0, fmt.Sprint(n))})
	}
	answer := func(b *testing.B, k *Keeper, before, head plan.SHA) {
		b.Helper()
		s := observed(b, 1, tip, before, map[plan.SHA]string{head: "apps/app000/o00.yaml"})
		k.Fill(&s, time.Now())
		r, a := k.next(time.Now())
		found, err := k.look(b.Context(), r, a)
		if k.done(r, a, found, err, time.Now()); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			k := keeper(b, "references", map[int64]*origin{1: o})
			answer(b, k, tip, changed("main"))
			k.rest()
		}
	})
	k := keeper(b, "references", map[int64]*origin{1: o})
	defer k.rest()
	answer(b, k, tip, changed("main"))
	b.Run("warm", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			head := changed("main")
			b.StartTimer()
			answer(b, k, tip, head)
		}
	})
	b.Run("from-disk", func(b *testing.B) { // after the child process has looked at another repository, or has ended
		for b.Loop() {
			b.StopTimer()
			k.rest()
			head := changed("main")
			b.StartTimer()
			answer(b, k, tip, head)
		}
	})
	o.git("", "-C", o.dir, "symbolic-ref", "HEAD", "refs/heads/none")
	tip = o.commit("main", "main", map[string]string{"apps/app000/o01.yaml": deployment("app000", "c1", "0")})
	answer(b, k, tip, changed("main"))  // the tip is read
	b.Run("image", func(b *testing.B) { // of a Deployment, of which the graph knows no more than that it is there
		for b.Loop() {
			b.StopTimer()
			n++
			head := o.commit("topic", "main", map[string]string{"apps/app000/o01.yaml": deployment("app000", "c1", fmt.Sprint(n))})
			b.StartTimer()
			answer(b, k, tip, head)
		}
	})
	before, head := tip, changed("main")
	b.Run("merged", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			n++
			o.git("", "-C", o.dir, "symbolic-ref", "HEAD", "refs/heads/none")
			tip = o.commit("main", "main", map[string]string{"apps/app001-rw/o00.yaml": deployment("app001-rw", "c0", fmt.Sprint(n))})
			b.StartTimer()
			answer(b, k, tip, changed("main"))
		}
	})
	b.Run("kept", func(b *testing.B) { // what the base took is elsewhere
		for b.Loop() {
			b.StopTimer()
			n++
			tip = o.commit("main", "main", map[string]string{"apps/app001-rw/o00.yaml": deployment("app001-rw", "c0", fmt.Sprint(n))})
			answer(b, k, tip, changed("main"))
			b.StartTimer()
			answer(b, k, before, head)
		}
	})
}

// TestCommitsAreBuiltOnce: the commits to which a branch may go are asked about, twenty back at most, and where one stands. What is known of them stays known
// while the base moves, and is not written into what others have of the source.
func TestCommitsAreBuiltOnce(t *testing.T) {
	policy, findings := config.Parse([]byte(rules + "branches:\n  - {name: rw/a, from: main, window: weekend}\n  - {name: rw/b, from: next, window: weekend}\n"))
	if policy == nil {
		t.Fatal(findings)
	}
	line := func(name string, n int) (out []plan.Commit) {
		for i := range n {
			out = append(out, plan.Commit{SHA: plan.SHA(fmt.Sprint(name, i))})
		}
		return out
	}
	for _, c := range []struct {
		name  string
		a, b  plan.WindowedBranch
		asked []plan.SHA
	}{
		{"behind", plan.WindowedBranch{Relation: plan.Behind, Reach: 2}, plan.WindowedBranch{Relation: plan.Diverged, Reach: 3}, []plan.SHA{"m0", "m1", "n0", "n1", "n2"}},
		{"level", plan.WindowedBranch{Relation: plan.Level}, plan.WindowedBranch{Relation: plan.RelationUnknown}, []plan.SHA{"m0"}},
		{"far", plan.WindowedBranch{Relation: plan.Behind, Reach: 25}, plan.WindowedBranch{}, nil},
		{"new", plan.WindowedBranch{Relation: plan.Absent}, plan.WindowedBranch{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.a.Name, c.b.Name = "rw/a", "rw/b"
			k, now := NewKeeper(Options{Command: []string{"x"}, Log: slog.New(slog.DiscardHandler)}), time.Now()
			seen := func(tip plan.SHA) plan.Snapshot {
				s := observed(t, 1, tip, "before", nil)
				s.Bases["main"] = plan.Base{Tip: tip, File: "f11e", Policy: policy}
				s.Branches = []plan.WindowedBranch{c.a, c.b}
				s.Sources = map[plan.Branch]plan.Source{"main": {Line: line("m", 30)}, "next": {Line: line("n", 30)}}
				return s
			}
			s := seen("tip")
			shared := s.Sources
			k.Fill(&s, now)
			if shared["main"].Builds != nil {
				t.Error("what others have was written to")
			}
			var asked []plan.SHA
			for r, a := k.next(now); a != nil; r, a = k.next(now) {
				asked = append(asked, a.Asked.Head)
				k.done(r, a, &reply{Tracked: map[plan.Branch]plan.Build{"rw/a": {Broken: string(a.Asked.Head)}}}, nil, now)
			}
			if c.asked == nil {
				for _, commit := range line("m", 20) {
					c.asked = append(c.asked, commit.SHA)
				}
			}
			if slices.Sort(asked); !slices.Equal(asked, slices.Sorted(slices.Values(c.asked))) {
				t.Errorf("asked about %v, want %v", asked, c.asked)
			}
			s = seen("moved")
			k.Fill(&s, now)
			if _, a := k.next(now); a != nil {
				t.Errorf("%s is asked about again", a.Asked.Head)
			}
			if b := s.Sources["main"].Builds["m0"]; b.Unread.Is() || b.Of["rw/a"].Broken != "m0" {
				t.Errorf("%+v", b)
			}
		})
	}
}
