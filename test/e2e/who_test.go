package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
)

// The first section of docs/traps.md, as far as it is about people: who pushed, who approved, who changed the rules, who set
// a status.

// start starts the service without the waits that are no matter here: GitHub's for whether git can merge, and our own pace.
func (w *world) start() *process {
	w.t.Helper()
	w.github.SetMergeability(standin.AtOnce)
	return w.serve("SLUICE_GITHUB_PACE=off")
}

// line runs one line of the traps in a world that several share.
func (w *world) line(name string, run func(w *world)) {
	w.t.Run(name, func(t *testing.T) {
		own := *w
		own.t = t
		run(&own)
	})
}

// propose opens a pull request, by alice unless p says otherwise.
func (w *world) propose(p standin.NewPull) int {
	w.t.Helper()
	if p.By == "" {
		p.By = "alice"
	}
	n, err := w.repo.OpenPull(p)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// must ends the test if the world itself does not play along.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// commit puts a change on a branch.
func (w *world) commit(branch string, c standin.Change) string {
	w.t.Helper()
	if c.By == "" {
		c.By = "acme"
	}
	sha, err := w.repo.Commit(branch, c)
	w.must(err)
	return sha
}

// setRules puts a file on main.
func (w *world) setRules(file string) {
	w.t.Helper()
	w.commit("main", standin.Change{Message: "Rules", Write: map[string]string{".github/sluice.yaml": file}})
}

// write is a change of some files, each with content of its own.
func write(content string, paths ...string) *standin.Change {
	files := map[string]string{}
	for _, path := range paths {
		files[path] = content + "\n"
	}
	return &standin.Change{Message: content, Write: files}
}

// stays sees that pull requests are not merged by a look that could: a live pull request that is opened now, younger than
// they are, is merged on an observation that shows them as they are now.
func (w *world) stays(pulls ...int) {
	w.t.Helper()
	name := fmt.Sprintf("witness-%d", len(w.repo.Pulls()))
	w.merged(w.propose(standin.NewPull{Head: name, Change: write(name, "witness-rt/"+name)}))
	w.unmerged(pulls...)
}

func (w *world) unmerged(pulls ...int) {
	w.t.Helper()
	for _, n := range pulls {
		if p := w.pull(n); p.Merged {
			w.t.Errorf("#%d was merged; its status was %q", n, w.status(n))
		}
	}
}

// statusIn is our status under a context.
func (w *world) statusIn(context string, n int) string {
	w.t.Helper()
	for _, s := range w.repo.Statuses(w.pull(n).HeadSHA) {
		if strings.EqualFold(s.Context, context) {
			return s.State + ": " + s.Description
		}
	}
	return ""
}

func TestFork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.repo.SetPermission("rita", standin.Read)
	w.repo.SetPermission("tom", standin.Triage)
	w.start()
	fork := func(head string) standin.NewPull {
		return standin.NewPull{By: "mallory", Head: "mallory:" + head, Change: write(head, "apps/"+head+"-rt/x")}
	}

	w.line("live paths of a fork wait for a writer", func(w *world) {
		n := w.propose(fork("waits"))
		w.hasStatus(n, "pending: waiting: the head is in a fork: someone with write access must approve "+w.pull(n).HeadSHA[:7])
		w.stays(n)
		w.must(w.repo.Review(n, "alice", standin.Approved))
		w.merged(n)
	})
	w.line("approved by readers only", func(w *world) {
		n := w.propose(fork("readers"))
		for _, who := range []string{"rita", "tom", "stranger", "mallory"} {
			w.must(w.repo.Review(n, who, standin.Approved))
		}
		w.hasStatus(n, "pending: waiting: the head is in a fork")
		w.stays(n)
	})
	w.line("pushed to after the approval", func(w *world) {
		p := fork("pushed")
		p.Draft = true
		n := w.propose(p)
		w.must(w.repo.Review(n, "alice", standin.Approved))
		w.hasStatus(n, "pending: waiting: this is a draft")
		w.commit("mallory:pushed", *write("after the approval", "apps/pushed-rt/x"))
		w.must(w.repo.MarkReady(n, "mallory"))
		w.hasStatus(n, "pending: waiting: the head is in a fork: someone with write access must approve "+w.pull(n).HeadSHA[:7])
		w.stays(n)
		w.must(w.repo.Review(n, "alice", standin.Approved))
		w.merged(n)
	})
	w.line("an approval that was dismissed", func(w *world) {
		p := fork("dismissed")
		p.Draft = true
		n := w.propose(p)
		w.must(w.repo.Review(n, "alice", standin.Approved))
		w.must(w.repo.DismissReview(n, "acme", "alice"))
		w.must(w.repo.MarkReady(n, "mallory"))
		w.hasStatus(n, "pending: waiting: the head is in a fork")
		w.stays(n)
	})
}

// TestDeletedFork: the fork behind a head was deleted, and its owner's account with it. GitHub keeps the head and gives null for
// both; it is a stranger's head all the same.
func TestDeletedFork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(openForYears))
	var ghosts atomic.Int32
	w.github.SetMergeability(standin.AtOnce)
	w.serve("SLUICE_GITHUB_PACE=off", w.mirror(func(answer map[string]any) { ghosts.Add(haunt(answer)) }))
	var pulls []int
	for _, path := range []string{"apps/gone-rt/x", "apps/gone-rw/x"} {
		pulls = append(pulls, w.propose(standin.NewPull{By: "mallory", Head: fmt.Sprintf("mallory:gone-%d", len(pulls)), Change: write("gone", path)}))
	}
	for _, n := range pulls {
		w.hasStatus(n, "pending: waiting: the head is in a fork: someone with write access must approve "+w.pull(n).HeadSHA[:7])
	}
	w.stays(pulls...)
	for _, n := range pulls {
		w.must(w.repo.Review(n, "stranger", standin.Approved))
	}
	w.stays(pulls...)
	for _, n := range pulls {
		w.must(w.repo.Review(n, "alice", standin.Approved))
		w.merged(n)
	}
	if ghosts.Load() == 0 {
		t.Error("sluice was never told of a fork that is gone")
	}
}

// haunt deletes every fork from an answer, and the account of who opened a pull request from it.
func haunt(v any) (ghosts int32) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			ghosts += haunt(one)
		}
	case map[string]any:
		if v["isCrossRepository"] == true {
			v["headRepository"], v["author"] = nil, nil
			ghosts++
		}
		for _, one := range v {
			ghosts += haunt(one)
		}
	}
	return ghosts
}

// TestChangesRequested: a base without any protection does not tell GitHub to ask for reviews; a writer's word holds all the
// same.
func TestChangesRequested(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.repo.Unprotect("main")
	w.repo.SetPermission("bob", standin.Write)
	w.start()
	n := w.propose(standin.NewPull{Head: "doubtful", Draft: true, Change: write("doubtful", "apps/doubtful-rt/x")})
	w.hasStatus(n, "pending: waiting: this is a draft")
	w.must(w.repo.Review(n, "stranger", standin.ChangesRequested))
	w.must(w.repo.Review(n, "bob", standin.ChangesRequested))
	w.commit("doubtful", *write("pushed after the review", "apps/doubtful-rt/x"))
	w.must(w.repo.MarkReady(n, "alice"))
	w.hasStatus(n, "pending: waiting: bob requested changes")
	w.stays(n)
	w.must(w.repo.DismissReview(n, "acme", "bob")) // the stranger's stands: it binds nobody
	w.merged(n)
}

// TestRulesOfAPullRequest: a pull request's own version of the file is validated, never obeyed.
func TestRulesOfAPullRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.start()
	const file = ".github/sluice.yaml"
	own := func(head, text string, paths ...string) int {
		c := write(head, paths...)
		c.Write[file] = text
		return w.propose(standin.NewPull{Head: head, Change: c})
	}
	opens := own("opens", rules(openForYears), "apps/opens-rw/x")
	alone := own("alone", rules(openForYears))
	beside := own("beside", rules(openForYears), "apps/beside-rt/x")
	breaks := own("breaks", "version: 2\n", "apps/breaks-rt/x")
	gone := w.propose(standin.NewPull{Head: "gone", Change: &standin.Change{Delete: []string{file}}})
	away := w.propose(standin.NewPull{Head: "away", Change: &standin.Change{Move: map[string]string{file: "apps/away-rt/sluice.yaml"}}})
	link := w.propose(standin.NewPull{Head: "link", Change: &standin.Change{Delete: []string{file}, Link: map[string]string{file: "../apps/a-rt/x"}}})
	w.line("opens its own window", func(w *world) {
		w.hasStatus(opens, "pending: held by w until Tue 1 Jan 2030 00:00 UTC")
		w.stays(opens)
	})
	w.line("only the rules", func(w *world) {
		w.hasStatus(alone, "success: changes the rules (w): 1 opening comes until ")
		w.stays(alone)
	})
	w.line("the rules beside a live path", func(w *world) {
		w.hasStatus(beside, "success: live; changes the rules (w): 1 opening comes until ")
		w.stays(beside)
	})
	w.line("breaks the file", func(w *world) {
		w.hasStatus(breaks, "failure: .github/sluice.yaml on this pull request is invalid: line 1:10: ")
		w.stays(breaks)
	})
	w.line("deletes the file, moves it away, makes it a link", func(w *world) {
		w.hasStatus(gone, "failure: deletes .github/sluice.yaml")
		w.hasStatus(away, "failure: deletes .github/sluice.yaml")
		w.hasStatus(link, "failure: .github/sluice.yaml on this pull request is invalid")
		w.stays(gone, away, link)
	})
	w.line("takes effect once people have merged it", func(w *world) {
		_, err := w.repo.MergePull(alone, "alice", standin.Merge)
		w.must(err)
		w.hasStatus(opens, "success: open until Wed 31 Dec 2098 23:55 UTC; changes the rules; people merge it")
		w.unmerged(opens)
	})
}

// TestBrokenBase: while the base's own file is invalid nothing is merged, and what mends it is not held.
func TestBrokenBase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "version: 1\nwindows: {w: {open: never}}\n")
	w.start()
	const file = ".github/sluice.yaml"
	const broken = "failure: .github/sluice.yaml on main is invalid: line "
	live := w.open("live", "apps/a-rt/x")
	still := w.propose(standin.NewPull{Head: "still", Change: &standin.Change{Write: map[string]string{file: "version: 2\n"}}})
	mends := w.propose(standin.NewPull{Head: "mends", Change: &standin.Change{Write: map[string]string{file: rules(shutForYears)}}})
	more := w.propose(standin.NewPull{Head: "more", Change: &standin.Change{Write: map[string]string{file: rules(openForYears), "apps/b-rt/x": "1\n"}}})
	w.line("merges nothing, says why, on the tip too", func(w *world) {
		w.hasStatus(live, broken)
		w.eventually("main's own tip says so", func() bool {
			for _, s := range w.repo.Statuses(w.repo.Tip("main")) {
				if s.Context == "sluice/main" {
					return strings.HasPrefix(s.State+": "+s.Description, broken)
				}
			}
			return false
		})
	})
	w.line("another broken file", func(w *world) { w.hasStatus(still, "failure: .github/sluice.yaml on this pull request is invalid") })
	w.line("the file that mends it beside another path", func(w *world) { w.hasStatus(more, broken) })
	w.line("the file that mends it", func(w *world) {
		w.hasStatus(mends, "success: changes the rules; people merge it")
		w.unmerged(live, still, mends, more)
		_, err := w.repo.MergePull(mends, "alice", standin.Squash)
		w.must(err)
		w.merged(live)
		w.unmerged(still, more)
	})
}

// TestOtherBases: each base goes by the file on its own tip, and one that has none is not managed.
func TestOtherBases(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	file := rules(shutForYears)
	w.commit("stable", standin.Change{Write: map[string]string{".github/sluice.yaml": file}})
	w.commit("next", standin.Change{Write: map[string]string{".github/sluice.yaml": rules(openForYears)}})
	for _, base := range []string{"stable", "next"} {
		w.repo.Protect(base, standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/" + base, App: app}}})
	}
	w.start()
	into := func(base, head string, paths ...string) int {
		c := write(head, paths...)
		c.From = base
		return w.propose(standin.NewPull{Base: base, Head: head, Change: c})
	}
	none := into("main", "none", "apps/a-rt/x")
	brings := w.propose(standin.NewPull{Head: "brings", Change: &standin.Change{Write: map[string]string{".github/sluice.yaml": file}}})
	closed, open := into("stable", "closed", "apps/a-rw/x"), into("next", "open", "apps/a-rw/x")
	live := into("stable", "live", "apps/a-rt/x")
	w.line("a base with its own file", func(w *world) {
		w.merged(live)
		w.merged(open)
		w.eventually("the one into stable is held", func() bool {
			return strings.HasPrefix(w.statusIn("sluice/stable", closed), "pending: held by w until Tue 1 Jan 2030")
		})
		w.unmerged(closed)
	})
	w.line("a base without a file", func(w *world) {
		for _, n := range []int{none, brings} {
			if got := w.repo.Statuses(w.pull(n).HeadSHA); len(got) > 0 {
				w.t.Errorf("#%d has %+v", n, got)
			}
		}
		w.unmerged(none, brings)
	})
}

// TestObserve: statuses only, always green, and no merge.
func TestObserve(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "mode: observe\n"+rules(shutForYears))
	w.start()
	live, windowed := w.open("live", "apps/a-rt/x"), w.open("windowed", "apps/a-rw/x")
	w.hasStatus(live, "success: would pass: live")
	w.hasStatus(windowed, "success: would hold: held by w until Tue 1 Jan 2030")
	if n := w.github.Requests()["PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge"]; n > 0 {
		t.Errorf("asked for %d merges", n)
	}
	w.unmerged(live, windowed)
}

// TestOneHead: a status belongs to a commit, and two pull requests may have the same one.
func TestOneHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.commit("stable", standin.Change{Write: map[string]string{".github/sluice.yaml": rules(openForYears)}})
	w.repo.Protect("stable", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/stable", App: app}}})
	w.start()
	twin := func(head, sha, base string) int {
		if w.repo.Tip(head) == "" {
			w.must(w.repo.Push("alice", head, sha))
		}
		return w.propose(standin.NewPull{Head: head, Base: base})
	}
	w.line("into one base", func(w *world) {
		first := w.propose(standin.NewPull{Head: "first", Draft: true, Change: write("one", "apps/one-rt/x")})
		second := w.propose(standin.NewPull{Head: "first-too", Draft: true, Change: &standin.Change{From: w.repo.Tip("first"), Message: "more"}})
		w.must(w.repo.Push("alice", "first-too", w.pull(first).HeadSHA))
		w.must(w.repo.Label(second, "alice", "hold"))
		w.must(w.repo.MarkReady(first, "alice"))
		w.hasStatus(first, "pending: held by the label hold")
		w.stays(first, second)
		w.must(w.repo.Unlabel(second, "alice", "hold"))
		w.hasStatus(first, "pending: waiting: this is a draft")
		w.stays(first, second)
		w.must(w.repo.MarkReady(second, "alice"))
		w.merged(first)
		w.merged(second)
	})
	w.line("into two bases", func(w *world) {
		held := w.propose(standin.NewPull{Head: "two", Change: write("two", "apps/two-rw/x")})
		w.hasStatus(held, "pending: held by w until Tue 1 Jan 2030")
		due := twin("two-too", w.pull(held).HeadSHA, "stable")
		w.merged(due)
		w.stays(held)
		w.hasStatus(held, "pending: held by w until Tue 1 Jan 2030")
	})
	// GitHub folds the case of contexts, not that of branches.
	w.line("into two bases that differ in case", func(w *world) {
		w.commit("Stable", standin.Change{From: "main"})
		held := w.propose(standin.NewPull{Head: "case", Base: "Stable", Change: write("case", "apps/case-rw/x")})
		w.eventually("it is held", func() bool { return strings.HasPrefix(w.statusIn("sluice/^stable", held), "pending: held") })
		due := twin("case-too", w.pull(held).HeadSHA, "stable")
		w.merged(due)
		w.stays(held)
		if got := w.statusIn("sluice/^stable", held); !strings.HasPrefix(got, "pending: held") {
			w.t.Errorf("it is %s", got)
		}
	})
}

// TestGreenForAnotherBranch: GitHub folds contexts, and whoever may write may push any commit to any branch. Our success on a pull
// request into a branch that a writer made, whose own file holds nothing, opens neither main nor a windowed branch.
func TestGreenForAnotherBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, following(shutForYears, "rw/a"))
	w.plant(w.tip("main"), "rw/a")
	w.lock("rw/a", standin.Rules{})
	w.start()
	for _, c := range []struct{ base, context, to, lock string }{
		{"Main", "sluice/^main", "main", "sluice/main"},
		{"promote/rw/a", "sluice/:promote/rw/a", "rw/a", lockOf("rw/a")},
	} {
		w.line(c.base, func(w *world) {
			w.commit(c.base, standin.Change{From: "main", Write: map[string]string{".github/sluice.yaml": "version: 1\nmode: observe\n"}})
			n := w.propose(standin.NewPull{Head: "into-" + c.base, Base: c.base, Change: write("sneak into "+c.base, "apps/sneak-rw/x")})
			w.eventually("it is green", func() bool {
				return slices.ContainsFunc(w.repo.Statuses(w.pull(n).HeadSHA), func(s standin.Status) bool { return s.State == "success" })
			})
			if err := w.repo.TryPush("alice", c.to, w.pull(n).HeadSHA); err == nil || !strings.Contains(err.Error(), c.lock) {
				w.t.Errorf("alice pushes to %s: %v", c.to, err)
			}
			if got := w.statusIn(c.context, n); !strings.HasPrefix(got, "success: ") {
				w.t.Errorf("%s: %s", c.context, got)
			}
		})
	}
	// Its context would have 307 characters. Cut to GitHub's 255 it would be that of other branches too.
	w.line("a name too long for a status", func(w *world) {
		long := strings.Repeat("A", 150)
		w.repo.Protect(long, standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/" + strings.Repeat("^a", 150), App: app}}})
		w.commit(long, standin.Change{From: "main"})
		n := w.propose(standin.NewPull{Head: "into-long", Base: long, Change: write("long", "apps/long-rt/x")})
		w.stays(n)
		if s := w.repo.Statuses(w.pull(n).HeadSHA); len(s) > 0 {
			w.t.Errorf("it has the status %s: %s", s[0].Context, s[0].State)
		}
	})
}

// TestForeignStatus: somebody else sets our status.
func TestForeignStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.repo.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main"}}}) // bound to nobody
	p := w.start()
	forge := func(w *world, n int) {
		w.must(w.repo.SetStatus(standin.Status{
			SHA: w.pull(n).HeadSHA, Context: "sluice/main", State: "success", Description: "trust me", By: standin.Actor{Login: "other-sluice", App: 99},
		}))
	}
	ours := func(w *world, n int) bool {
		s := w.repo.Statuses(w.pull(n).HeadSHA)
		return len(s) > 0 && s[0].By.App == app && s[0].State == "pending"
	}
	w.line("put right, logged, never merged on its strength", func(w *world) {
		n := w.open("forged", "apps/forged-rw/x")
		w.hasStatus(n, "pending: held by w")
		forge(w, n)
		w.eventually("it is put right", func() bool { return ours(w, n) })
		w.eventually("it is logged", func() bool {
			return strings.Contains(p.text(), "restoring a sluice status") && strings.Contains(p.text(), "other-sluice")
		})
		w.eventually("the history has who did it", func() bool {
			says, _, _ := w.run("history", "acme/fleet", "--statuses")
			return strings.Contains(says, "; in place of a status that @other-sluice had set\n")
		})
		w.stays(n)
		if times := strings.Count(p.text(), "restoring a sluice status"); times != 1 {
			w.t.Errorf("put right %d times", times)
		}
	})
	w.line("set before sluice ever saw the head", func(w *world) {
		hook := p.hook
		w.github.SetWebhookURL("")
		n := w.open("early", "apps/early-rw/x")
		forge(w, n)
		w.github.SetWebhookURL(hook)
		w.stays(n)
		w.hasStatus(n, "pending: held by w")
	})
	w.line("a second sluice for ever", func(w *world) {
		n := w.open("fought", "apps/fought-rw/x")
		w.hasStatus(n, "pending: held by w")
		for range 5 {
			forge(w, n)
			w.eventually("it is put right", func() bool { return ours(w, n) })
		}
		forge(w, n)
		w.eventually("it says who", func() bool {
			_, body := get(w.t, p.page)
			return strings.Contains(body, "other-sluice keeps overwriting the status sluice/main")
		})
		w.stays(n)
		if ours(w, n) {
			w.t.Error("it goes on for ever")
		}
	})
}

// TestReady: what a file may ask for besides an open window.
func TestReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(openForYears)+"  approvals: 2\n  require_labels: [reviewed]\n")
	for _, who := range []string{"bob", "carol"} {
		w.repo.SetPermission(who, standin.Write)
	}
	w.start()
	ready := func(head string, draft bool, labels ...string) int {
		return w.propose(standin.NewPull{Head: head, Draft: draft, Labels: labels, Change: write(head, "apps/"+head+"-rw/x")})
	}
	approve := func(w *world, n int, by ...string) {
		for _, who := range by {
			w.must(w.repo.Review(n, who, standin.Approved))
		}
	}
	// The witness of these lines needs what all need.
	stays := func(w *world, n int) {
		witness := ready(fmt.Sprintf("witness-%d", len(w.repo.Pulls())), false, "reviewed")
		approve(w, witness, "bob", "carol")
		w.merged(witness)
		w.unmerged(n)
	}
	w.line("draft", func(w *world) {
		n := ready("draft", true, "reviewed")
		approve(w, n, "bob", "carol")
		w.hasStatus(n, "pending: waiting: this is a draft")
		stays(w, n)
		w.must(w.repo.MarkReady(n, "alice"))
		w.merged(n)
	})
	w.line("required label", func(w *world) {
		n := ready("label", false)
		approve(w, n, "bob", "carol")
		w.hasStatus(n, "pending: waiting for the label reviewed")
		stays(w, n)
		w.must(w.repo.Label(n, "bob", "Reviewed")) // GitHub's labels have no case
		w.merged(n)
	})
	w.line("hold label", func(w *world) {
		n := ready("hold", false, "reviewed", "Do-Not-Merge")
		approve(w, n, "bob", "carol")
		w.hasStatus(n, "pending: held by the label do-not-merge until it is removed")
		stays(w, n)
		w.must(w.repo.Unlabel(n, "bob", "Do-Not-Merge"))
		w.merged(n)
	})
	w.line("approvals", func(w *world) {
		n := ready("approvals", false, "reviewed")
		approve(w, n, "alice", "bob", "stranger", "bob") // her own, one writer twice, and nobody
		w.hasStatus(n, "pending: waiting: 1 of 2 approvals from people with write access on "+w.pull(n).HeadSHA[:7])
		stays(w, n)
		w.commit("approvals", *write("again", "apps/approvals-rw/x"))
		approve(w, n, "carol")
		w.hasStatus(n, "pending: waiting: 1 of 2 approvals from people with write access on "+w.pull(n).HeadSHA[:7])
		stays(w, n)
		approve(w, n, "bob")
		w.merged(n)
	})
}

// TestOrder: which of two goes first, when an opening takes only one.
func TestOrder(t *testing.T) {
	t.Parallel()
	for order, first := range map[string]string{"oldest": "elder", "ready": "younger"} {
		t.Run(order+" first, as many as an opening takes", func(t *testing.T) {
			t.Parallel()
			limits := "  max_merges_per_opening: 1\n  order: " + order + "\n"
			w := newWorld(t, rules(shutForYears)+limits)
			w.start()
			n := map[string]int{}
			for _, head := range []string{"elder", "younger"} {
				n[head] = w.open(head, "apps/"+head+"-rw/x")
				w.hasStatus(n[head], "pending: held by w")
			}
			w.commit("elder", *write("pushed again", "apps/elder-rw/x"))
			w.hasStatus(n["elder"], "pending: held by w")
			w.setRules(rules(openForYears) + limits)
			w.merged(n[first])
			delete(n, first)
			for _, left := range n {
				w.hasStatus(left, "pending: held by w: no opening scheduled: limit of 1 merge per opening")
				w.stays(left)
			}
		})
	}
}

// TestRequiredInOtherCase: GitHub folds the case of contexts, so a rule that spells ours in another way is met by it.
func TestRequiredInOtherCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.repo.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "Sluice/Main", App: app}}})
	w.start()
	held := w.open("held", "apps/a-rw/x")
	w.merged(w.open("live", "apps/a-rt/x"))
	w.eventually("it is held, and enforced", func() bool { return w.status(held) == heldByW })
}
