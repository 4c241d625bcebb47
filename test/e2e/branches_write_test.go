package e2e

import (
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// Traps of windowed branches: what happens between the look and the move, what GitHub refuses, and the second lock.

// lockOf is the status that lets a branch move to a commit where its rules require it.
func lockOf(branch string) string { return summary + "/" + branch }

// lock makes a branch require that status of our App's.
func (w *world) lock(branch string, rules standin.Rules) {
	rules.Checks = []standin.RequiredCheck{{Context: lockOf(branch), App: app}}
	w.repo.Protect(branch, rules)
}

// locked waits until a status that let a branch move to a commit is taken back.
func (w *world) locked(sha, branch string) {
	w.t.Helper()
	w.eventually("the lock of "+branch+" is closed", func() bool { return strings.HasPrefix(w.statusOn(sha, lockOf(branch)), "pending: ") })
}

// refusedPush sees that a person cannot move a branch to a commit, for the lack of our status.
func (w *world) refusedPush(branch, sha string) {
	w.t.Helper()
	if err := w.repo.TryPush("alice", branch, sha); err == nil || !strings.Contains(err.Error(), lockOf(branch)) {
		w.t.Errorf("alice pushes to %s: %v", branch, err)
	}
}

// TestBranchMovedBetweenReadAndWrite: somebody else moves, diverges or deletes a branch just before our write arrives, and no webhook
// tells of it. The write names the old value, so nothing of theirs is lost; the other branches move all the same.
func TestBranchMovedBetweenReadAndWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(w *world, between string)
		ends   func(w *world, base, between, tip string)
	}{
		{
			"forward",
			func(w *world, between string) { w.plant(between, "rw/a") },
			func(w *world, _, between, tip string) {
				w.reach(tip, "rw/a")
				w.went("rw/a", between, tip)
			},
		},
		{
			"aside",
			func(w *world, _ string) { w.commit("rw/a", *write("by hand", "apps/a-rw/z")) },
			func(w *world, base, _, tip string) {
				w.summed(tip, "failure: rw/a: diverged from main: rw/a has commits that main lacks")
				w.went("rw/a", "")
				if parent := w.git("rev-parse", "rw/a^"); parent != base {
					w.t.Errorf("rw/a stands on %s", parent)
				}
			},
		},
		{
			"deleted",
			func(w *world, _ string) { w.plant("", "rw/a") },
			func(w *world, base, _, tip string) {
				w.reach(tip, "rw/a")
				w.went("rw/a", "", base, tip)
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, following(shutForYears, "rw/a", "rw/b", "rw/c"))
			base := w.tip("main")
			w.plant(base, "rw/a", "rw/b", "rw/c")
			s := newTurnstile(w)
			w.serve(s.env())
			between := w.push("main", "apps/a-rw/x")
			w.summed(between, "pending: 3 branches wait")
			w.told()
			one := s.arm(moveStop(w))
			tip := w.setFile(following(openForYears, "rw/a", "rw/b", "rw/c"))
			one.wait()
			w.told()
			w.github.Deliver(api.Fate{Drop: true})
			c.change(w, between)
			one.letGo()
			w.reach(tip, "rw/b", "rw/c")
			c.ends(w, base, between, tip)
			w.went("rw/b", base, tip)
			if strings.Contains(w.statusOn(tip, summary), "GitHub refused") {
				t.Errorf("a lost race is told as a refusal: %q", w.statusOn(tip, summary))
			}
		})
	}
}

// TestWindowClosesBeforeTheMove: what was decided while the window was open is void once it is too close to its end: after the look,
// between the status that unlocks a branch and its move, and between a request that is refused and its parts.
func TestWindowClosesBeforeTheMove(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(w *world)
		path    string // of the request that is stopped
		body    string // part of it
	}{
		{"look", func(*world) {}, "/graphql", "query look"},
		{"unlocked", func(w *world) { w.lock("rw/a", standin.Rules{Classic: true}) }, "/statuses/", lockOf("rw/a")},
		{"refused", func(w *world) { w.repo.Protect("rw/b", standin.Rules{Restrict: true}) }, "/graphql", "updateRefs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// A machine that is too slow for one lead has another try, with a longer one.
			for lead := 8 * time.Second; ; lead *= 2 {
				one := &stop{t: t, method: http.MethodPost, path: c.path, body: c.body, answered: c.name == "look"}
				if closesBeforeTheMove(t, lead, one, c.prepare) {
					break
				}
				if lead > patience {
					t.Fatal("the machine is too slow for this test")
				}
			}
		})
	}
}

// closesBeforeTheMove gives false if the branches were not due in the time before the close.
func closesBeforeTheMove(t *testing.T, lead time.Duration, one *stop, prepare func(w *world)) bool {
	t.Helper()
	const cutoff = 2 * time.Second
	w := newWorld(t, checked(shutForYears, "rw/a", "rw/b"))
	w.requireCI()
	prepare(w)
	base := w.tip("main")
	w.plant(base, "rw/a", "rw/b")
	s := newTurnstile(w)
	w.serve(s.env())
	until := time.Now().Add(lead).Truncate(time.Second)
	next := opening{until.Add(time.Hour), until.Add(2 * time.Hour)}
	tip := w.setFile(checked(dates(cutoff, opening{until.Add(-time.Hour), until}, next), "rw/a", "rw/b"))
	w.report(tip, "ci", "")
	for !strings.HasPrefix(w.statusOn(tip, summary), "pending: 2 branches wait; first") {
		if time.Now().After(until) {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	w.told()
	s.arm(one)
	w.report(tip, "ci", "success")
	select {
	case <-one.reached:
	case <-time.After(time.Until(until.Add(-cutoff))):
		return false
	}
	w.after(until.Add(-cutoff))
	one.letGo()
	w.summed(tip, "pending: ")
	w.eventually("the summary names the next opening", func() bool {
		return strings.Contains(w.statusOn(tip, summary), next.from.UTC().Format("Mon 2 Jan 2006 15:04"))
	})
	w.stand(base, "rw/a")
	w.went("rw/a", base)
	if now := w.statusOn(tip, lockOf("rw/a")); strings.HasPrefix(now, "success") {
		t.Errorf("rw/a is left unlocked: %q", now)
	}
	for _, m := range w.pushed()["rw/b"] {
		if m.by == bot && !m.at.Before(until) {
			t.Errorf("rw/b moved at %s, the window closed at %s", m.at, until)
		}
	}
	return true
}

// TestBranchProtectedAgainstUs: GitHub refuses the whole request for one branch's sake. That one is found, blocked and told of; the
// others move at once. It moves when it may, and stands elsewhere or a minute has passed.
func TestBranchProtectedAgainstUs(t *testing.T) {
	t.Parallel()
	names := []string{"rw/a", "rw/b", "rw/c", "rw/d", "rw/e"}
	w := newWorld(t, following(shutForYears, names...))
	base := w.tip("main")
	w.plant(base, "rw/a", "rw/b", "rw/c", "rw/d")
	w.repo.Protect("rw/b", standin.Rules{Restrict: true})
	w.repo.Protect("rw/d", standin.Rules{Restrict: true, Classic: true})
	w.repo.Protect("rw/e", standin.Rules{NoCreate: true})
	w.serve()
	mid := w.push("main", "apps/a-rw/x")
	w.summed(mid, "pending: 5 branches wait; next: rw/a on "+openDay)
	tip := w.setFile(following(openForYears, names...))
	w.reach(tip, "rw/a", "rw/c")
	w.summed(tip, "failure: several are blocked, first rw/b: GitHub refused the move: ")
	if said := w.planned(1)["rw/b"].Reason; !strings.Contains(said, "Cannot update this protected ref") || !strings.Contains(said, "; allow sluice's App to push to it; retry at ") {
		t.Errorf("the reason is %q", said)
	}
	w.stand(base, "rw/b", "rw/d")
	w.stand("", "rw/e")
	w.told()
	for _, name := range []string{"rw/b", "rw/d", "rw/e"} {
		w.repo.Unprotect(name)
		w.plant(mid, name) // it stands elsewhere: what was refused is another move, and needs no minute's wait
	}
	w.reach(tip, names...)
	w.summed(tip, "success: all 5 branches are at this commit")
	w.went("rw/b", mid, tip)
	w.went("rw/e", mid, tip)
}

// TestSecondLock: where a branch's rules require our status, sluice sets it just before the move and nowhere else, and nobody else can
// push there. Rules are seen beforehand; one that came since is learned of by GitHub's refusal.
func TestSecondLock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		classic, late bool
	}{{name: "classic", classic: true}, {name: "ruleset"}, {name: "ruleset of late", late: true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, following(shutForYears, "rw/a", "rw/b"))
			base := w.tip("main")
			w.plant(base, "rw/a", "rw/b")
			lock := standin.Rules{Classic: c.classic}
			if !c.late {
				w.lock("rw/a", lock)
			}
			w.serve()
			waits := w.push("main", "apps/a-rw/x")
			w.summed(waits, "pending: 2 branches wait")
			w.told()
			w.lock("rw/a", lock)
			w.refusedPush("rw/a", waits)
			w.must(w.repo.SetStatus(standin.Status{SHA: waits, Context: lockOf("rw/a"), State: "success", By: standin.Actor{Login: "alice"}}))
			w.refusedPush("rw/a", waits)
			if !c.late {
				w.locked(waits, "rw/a")
			}

			tip := w.setFile(following(openForYears, "rw/a", "rw/b"))
			w.reach(tip, "rw/b")
			from := base
			if c.late {
				w.summed(tip, "failure: rw/a: GitHub refused the move: ")
				w.stand(base, "rw/a")
				from = waits
				w.plant(from, "rw/a") // it stands elsewhere: what was refused is another move, and needs no minute's wait
			}
			w.reach(tip, "rw/a")
			w.unlockedOnce("rw/a", tip, w.went("rw/a", from, tip))
			for _, sha := range []string{base, waits} {
				if green := w.greens("rw/a", sha); len(green) > 0 && green[0].By.App == app {
					t.Errorf("%s was unlocked", sha)
				}
			}
			if len(w.greens("rw/b", tip)) > 0 {
				t.Error("a status was set that nothing requires")
			}

			closed := w.setFile(following(shutForYears, "rw/a", "rw/b"))
			w.summed(closed, "pending: 2 branches wait")
			w.refusedPush("rw/a", closed)
		})
	}
}

// unlockedOnce sees that our status let a branch make its one move, and came before it.
func (w *world) unlockedOnce(branch, sha string, moves []moved) {
	w.t.Helper()
	green := w.greens(branch, sha)
	if len(moves) != 1 || len(green) != 1 || green[0].By.App != app || green[0].At.After(moves[0].at) {
		w.t.Errorf("%s went %+v, unlocked by %+v", branch, moves, green)
	}
}

// greens are the successes that let a branch move to a commit.
func (w *world) greens(branch, sha string) []standin.Status {
	return slices.DeleteFunc(w.repo.Statuses(sha), func(s standin.Status) bool { return s.Context != lockOf(branch) || s.State != "success" })
}

// TestUnlockedAndRefused: the status is set and GitHub refuses the move all the same. It is taken back at once, or whoever may push
// could go where sluice could not.
func TestUnlockedAndRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, following(shutForYears, "rw/a", "rw/b"))
	base := w.tip("main")
	w.plant(base, "rw/a", "rw/b")
	w.lock("rw/a", standin.Rules{Classic: true, Restrict: true})
	w.serve()
	w.summed(base, "success: all 2 branches are at this commit")
	tip := w.setFile(following(openForYears, "rw/a", "rw/b"))
	w.reach(tip, "rw/b")
	w.summed(tip, "failure: rw/a: GitHub refused the move: You're not authorized to push to this branch; allow sluice's App to push to it")
	if now := w.statusOn(tip, lockOf("rw/a")); !strings.HasPrefix(now, "pending: GitHub refused the move: ") { // by that look, not the next
		t.Errorf("what unlocked it has become %q", now)
	}
	if len(w.greens("rw/a", tip)) != 1 {
		t.Errorf("it was never unlocked: %+v", w.repo.Statuses(tip))
	}
	w.stand(base, "rw/a")
	w.lock("rw/a", standin.Rules{Classic: true})
	w.refusedPush("rw/a", tip)
}

// TestKilledAroundTheMove: kill -9 between the status that unlocks a branch and its move, and between the move and its record. The next
// start puts it right: the branch moves if it still may, once; else what unlocks it is taken back.
func TestKilledAroundTheMove(t *testing.T) {
	t.Parallel()
	put := onMoves(api.Fault{Status: 502, Body: "<html>"})
	before, after := put, put
	before.Latency = time.Minute
	after.Done, after.Linger = true, time.Minute
	for _, c := range []struct {
		name  string
		fault api.Fault
		next  string // the window of the next start
	}{
		{"before the move, still open", before, openForYears},
		{"before the move, closed meanwhile", before, shutForYears},
		{"between move and record", after, shutForYears},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, following(openForYears, "rw/cluster-1"))
			base := w.tip("main")
			w.plant(base, "rw/cluster-1")
			w.lock("rw/cluster-1", standin.Rules{Classic: true})
			p := w.serve()
			w.summed(base, "success: rw/cluster-1 is at this commit")
			w.github.Fault(c.fault)
			tip := w.push("main", "apps/a-rw/x")
			w.eventually("it is unlocked", func() bool { return len(w.greens("rw/cluster-1", tip)) > 0 })
			if c.fault.Done {
				w.reach(tip, "rw/cluster-1")
			}
			p.stop(syscall.SIGKILL)
			next := w.setFile(following(c.next, "rw/cluster-1"))
			w.serve()
			switch {
			case c.next == openForYears:
				w.reach(next, "rw/cluster-1")
				w.went("rw/cluster-1", base, next)
			case c.fault.Done:
				w.summed(next, "pending: 1 branch waits; next: rw/cluster-1 on "+openDay)
				w.went("rw/cluster-1", base, tip)
			default:
				w.summed(next, "pending: 1 branch waits; next: rw/cluster-1 on "+openDay)
				w.locked(tip, "rw/cluster-1")
				w.refusedPush("rw/cluster-1", tip)
				w.went("rw/cluster-1", base)
			}
			w.refusedPush("rw/cluster-1", w.push("main", "apps/a-rw/x"))
		})
	}
}

// TestOldServer: what an Enterprise Server lacks that is too old to be supported is named in /readyz and in one line of the log, and no
// branch is moved.
func TestOldServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, following(openForYears, "rw/a"))
	w.github.Fault(api.Fault{Path: "/graphql", Contains: "UpdateRefsInput", Times: -1, Errors: []api.GraphQLError{{
		Message: "Field 'updateRefs' doesn't exist on type 'Mutation'", Path: []string{"mutation move", "updateRefs"},
		Extensions: map[string]any{"code": "undefinedField", "typeName": "Mutation", "fieldName": "updateRefs"},
	}}})
	base := w.tip("main")
	w.plant(base, "rw/a")
	p := w.serve()
	tip := w.push("main", "apps/a-rw/x")
	const says = "sluice needs Enterprise Server 3.16"
	w.eventually("/readyz names what is missing", func() bool {
		code, body := get(t, p.base()+"/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(body, "GitHub lacks ") && strings.Contains(body, says)
	})
	w.stand(base, "rw/a")
	w.summed(tip, "failure: rw/a: GitHub refused the move: GitHub lacks Mutation.updateRefs: "+says)
	if said := w.planned(1)["rw/a"].Reason; !strings.Contains(said, "GitHub lacks Mutation.updateRefs: "+says+"; retry at ") {
		t.Errorf("%q", said)
	}
	const lacks = `"msg":"GitHub lacks `
	p.logs(lacks) // it is read after /readyz
	if n := strings.Count(p.text(), lacks); n != 1 {
		t.Errorf("%d lines of the log say it", n)
	}
}
