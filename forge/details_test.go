package forge

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
)

// herd is a world with so many open pull requests, all of them seen and long unchanged.
type herd struct {
	*world
	now   time.Time
	pulls []int
}

func newHerd(t *testing.T, many int) *herd {
	t.Helper()
	return newHerdOver(t, many, nil, "apps")
}

// newHerdOver is a herd whose base has files. Each pull request changes one below each of some directories.
func newHerdOver(t *testing.T, many int, files map[string]string, dirs ...string) *herd {
	t.Helper()
	h := &herd{now: time.Now().Round(0).UTC()}
	h.world = newWorldWith(t, files, api.Options{Memory: true, Now: func() time.Time { return h.now }})
	for i := range many {
		change := &standin.Change{Write: map[string]string{}}
		for _, dir := range dirs {
			change.Write[fmt.Sprintf("%s/%d.yaml", dir, i)] = fmt.Sprint("b", i, "\n")
		}
		n, err := h.r.OpenPull(standin.NewPull{Head: fmt.Sprint("b", i), By: "alice", Change: change})
		h.must(err)
		h.pulls = append(h.pulls, n)
	}
	h.pass(0)
	h.pass(time.Minute)
	return h
}

// pass looks again after a while.
func (h *herd) pass(d time.Duration) (s plan.Snapshot, requests, points int) {
	h.Helper()
	return h.ask(d, Ask{})
}

func (h *herd) ask(d time.Duration, ask Ask) (s plan.Snapshot, requests, points int) {
	h.Helper()
	h.now = h.now.Add(d)
	ask.At = h.now
	s, got := h.look(ask)
	return s, sum(got), h.forge.LookCost(h.repo)
}

func (h *herd) status(sha, context, state, by string) {
	h.Helper()
	h.must(h.r.SetStatus(standin.Status{SHA: sha, Context: context, State: state, By: standin.Actor{Login: by}}))
}

// TestPriceOfALook: a look with nothing new costs a point for each hundred pull requests, and one request for each; the details that
// grow old are read on the way.
func TestPriceOfALook(t *testing.T) {
	large := race.Or(300, 1000)
	for many, most := range map[int]int{1: 1, fewPulls - 1: 1, fewPulls: 1, 100: 2, large: 1 + large/100} {
		h := newHerd(t, many)
		first := h.now
		looks := 8
		if many > 100 {
			looks = 3
		}
		for i := range looks {
			s, requests, points := h.pass(2 * time.Minute)
			if points > most || requests != (many+maxPage-1)/maxPage || len(s.Pulls) != many {
				t.Errorf("%d pull requests, look %d: %d points, %d requests", many, i, points, requests)
			}
			if oldest := slices.MinFunc(s.Pulls, func(a, b plan.Pull) int { return a.Read.Compare(b.Read) }); i == 7 && !oldest.Read.After(first) {
				t.Errorf("%d pull requests: the details of %d are of %s, and now it is %s", many, oldest.Number, oldest.Read, h.now)
			}
		}
	}
}

// TestPriceOfAnEvent: what an event names is read with the look itself.
func TestPriceOfAnEvent(t *testing.T) {
	h := newHerd(t, 100)
	for i := range 12 {
		n := h.pulls[i]
		head := fmt.Sprint("b", i)
		ask := Ask{Full: []int{n}}
		if i%4 == 0 {
			_, err := h.r.Commit(head, standin.Change{Write: map[string]string{"apps/more.yaml": fmt.Sprint(i)}})
			h.must(err)
		} else {
			h.status(h.r.Tip(head), "ci", "success", "ci")
			ask = Ask{Heads: []plan.SHA{plan.SHA(h.r.Tip(head))}}
		}
		s, requests, points := h.ask(time.Second, ask)
		p := h.pull(s, n)
		if points > 2 || requests != 1 || !p.Read.Equal(h.now) || p.Head != plan.SHA(h.r.Tip(head)) || len(p.Files) != 1+len(p.Files)/2 || (i%4 != 0) != (len(p.Checks) == 1) {
			t.Errorf("event %d: %d points, %d requests, %+v", i, points, requests, p)
		}
	}
}

// TestPriceOfAPush: after a push to the base one comparison says which paths of all pull requests still stand, and whose details do.
func TestPriceOfAPush(t *testing.T) {
	large := race.Or(300, 1000)
	for many, dirs := range map[int][]string{100: {"apps", "infra", "more"}, large: {"apps"}} { // 300 paths were 3 points, 1,000 were 17
		files, most := map[string]string{}, 2+many/100
		if many == 100 {
			most = 2
		}
		for i := range many {
			for _, dir := range dirs {
				files[fmt.Sprintf("%s/%d.yaml", dir, i)] = "1\n"
			}
		}
		h := newHerdOver(t, many, files, dirs...)
		for i := range race.Or(1, 3) {
			_, err := h.r.Commit("main", standin.Change{Move: map[string]string{fmt.Sprintf("apps/%d.yaml", i): fmt.Sprintf("old/%d.yaml", i)}})
			h.must(err)
			s, requests, points := h.pass(time.Minute)
			if points > most || requests > (many+maxPage-1)/maxPage+2 {
				t.Errorf("%d pull requests, push %d: %d points, %d requests", many, i, points, requests)
			}
			for n, p := range s.Pulls {
				if moved := n <= i; p.Unread.Is() || (len(p.Moved) == 1) != moved {
					t.Errorf("push %d: #%d moved %q, %+v", i, p.Number, p.Moved, p.Unread)
				}
			}
		}
	}
}

// TestPathsAfterAPush: what a comparison names is looked up, and where it is not whole, or none, every path is.
func TestPathsAfterAPush(t *testing.T) {
	many := map[string]string{}
	for i := range maxCompared {
		many[fmt.Sprint("many/", i)] = "x"
	}
	for name, tt := range map[string]struct {
		push  standin.Change
		after func(w *world) // before the look
		moved string
		asked bool // some path
		all   bool // every path
	}{
		"other paths":        {push: standin.Change{Write: map[string]string{"z": "z\n"}}},
		"one of them":        {push: standin.Change{Write: map[string]string{"a/x": "z\n"}}, asked: true},
		"one is deleted":     {push: standin.Change{Delete: []string{"a/x"}}, moved: "a/x", asked: true},
		"one is moved":       {push: standin.Change{Move: map[string]string{"a/x": "z/x"}}, moved: "a/x", asked: true},
		"one is a directory": {push: standin.Change{Delete: []string{"a/x"}, Write: map[string]string{"a/x/y": "z\n"}}, moved: "a/x", asked: true},
		"a directory goes":   {push: standin.Change{Move: map[string]string{"a/x": "b/x", "a/y": "b/y"}}, moved: "a/x a/y", asked: true},
		"more than it shows": {push: standin.Change{Write: many, Delete: []string{"a/y"}}, moved: "a/y", asked: true, all: true},
		"the base went back": {after: func(w *world) { w.must(w.r.Push("acme", "main", w.r.Tip("older"))) }, asked: true, all: true},
		"no comparison": {push: standin.Change{Delete: []string{"a/y"}}, after: func(w *world) {
			w.hub.Fault(api.Fault{Path: "/repos/{owner}/{repo}/compare/{basehead}", Status: 500, Times: -1})
		}, moved: "a/y", asked: true, all: true},
		"no commit is shown": {push: standin.Change{Delete: []string{"a/y"}}, after: func(w *world) {
			w.hub.Fault(api.Fault{Path: "/repos/{owner}/{repo}/compare/{basehead}", Status: 404, Times: -1})
		}, moved: "a/y", asked: true, all: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a/x": "1\n2\n3\n", "a/y": "1\n2\n3\n4\n", "c": "1\n"})
			n, err := w.r.OpenPull(standin.NewPull{Head: "edit", Change: &standin.Change{Write: map[string]string{"a/x": "x\n", "a/y": "y\n", "c": "c\n"}}})
			w.must(err)
			push := func(c standin.Change) {
				_, err := w.r.Commit("main", c)
				w.must(err)
			}
			push(standin.Change{Write: map[string]string{"r": "0\n"}})
			w.must(w.r.Push("acme", "older", w.r.Tip("main")))
			push(standin.Change{Write: map[string]string{"r": "1\n"}})
			w.look(Ask{})
			if tt.push.Write != nil || tt.push.Delete != nil || tt.push.Move != nil {
				push(tt.push)
			}
			if tt.after != nil {
				tt.after(w)
			}
			all := 0
			w.hub.Fault(api.Fault{Path: "/graphql", Contains: `:c"`, Times: -1, Latency: 1, Met: func() { all++ }})
			for i := range 2 { // what is known of a part look's tip is known to the next
				s, got := w.look(Ask{Pulls: []int{n}})
				if p := w.pull(s, n); p.Unread.Is() || strings.Join(p.Moved, " ") != tt.moved {
					t.Errorf("look %d: %q, %+v", i, p.Moved, p.Unread)
				}
				if asked := got["POST /graphql"] - 1; asked > 1 || (asked == 1) != (tt.asked && i == 0) || (all == 1) != tt.all {
					t.Errorf("look %d: %v, all %d", i, got, all)
				}
			}
			known, _ := keptPaths.Get(w.forge.memory.Of(w.repo), "main")
			if string(known.tip) != w.r.Tip("main") || len(known.there) != 3 {
				t.Errorf("%+v", known)
			}
		})
	}
}

// TestPathsOfManyThatAreGone: what is known of paths does not grow for ever.
func TestPathsOfManyThatAreGone(t *testing.T) {
	w := newWorld(t, map[string]string{"a/x": "1\n"})
	_, err := w.r.OpenPull(standin.NewPull{Head: "edit", Change: &standin.Change{Write: map[string]string{"a/x": "x\n"}}})
	w.must(err)
	there := map[string]bool{}
	for i := range maxKnownPaths {
		there[fmt.Sprint("gone/", i)] = true
	}
	keptPaths.Put(w.forge.memory.Of(w.repo), "main", pathSet{tip: plan.SHA(w.r.Tip("main")), there: there})
	w.look(Ask{})
	for i, want := range []int{maxKnownPaths + 1, 1} {
		if known, _ := keptPaths.Get(w.forge.memory.Of(w.repo), "main"); len(known.there) != want {
			t.Errorf("push %d: %d paths, want %d", i, len(known.there), want)
		}
		_, err = w.r.Commit("main", standin.Change{Write: map[string]string{"r": fmt.Sprint(i)}})
		w.must(err)
		w.look(Ask{})
	}
}

// TestPathsOfAnOlderList: the base goes back to before a file was there. A list that was read when it was there says nothing of the tip.
func TestPathsOfAnOlderList(t *testing.T) {
	h := newHerd(t, fewPulls)
	old := h.r.Tip("main")
	n := h.open("both", "apps/other")
	_, err := h.r.Commit("main", standin.Change{Write: map[string]string{"apps/x": "1\n"}})
	h.must(err)
	h.must(h.forge.Update(context.Background(), h.repo, plan.Update{Pin: plan.Pin{SHA: plan.SHA(h.r.Tip("both"))}, Pull: n}))
	_, err = h.r.Commit("both", standin.Change{Write: map[string]string{"apps/x": "both\n"}})
	h.must(err)
	h.open("late", "apps/x")
	for _, head := range []string{"both", "late"} {
		h.must(h.forge.SetStatus(context.Background(), h.repo, plan.SHA(h.r.Tip(head)), pending))
	}
	h.pass(time.Minute)
	h.pass(time.Minute)
	h.must(h.r.Push("acme", "main", old))
	s, _, _ := h.pass(time.Minute)
	both, late := s.Pulls[fewPulls], s.Pulls[fewPulls+1]
	if both.Read.Equal(h.now) || both.MergeBase != plan.SHA(old) || !slices.ContainsFunc(both.Files, func(f plan.File) bool { return f.Path == "apps/x" && f.Kind == plan.Modified }) {
		t.Errorf("no older list: %+v", both)
	}
	if !slices.Equal(late.Moved, []string{"apps/x"}) {
		t.Errorf("%+v", late)
	}
}

// TestPriceOfABurst: what the events of a burst name is read with one request, in a repository that had none of it at the look before.
func TestPriceOfABurst(t *testing.T) {
	h := newHerd(t, 0)
	h.pass(time.Second)
	var all []int
	for i := range 40 {
		n, err := h.r.OpenPull(standin.NewPull{Head: fmt.Sprint("new", i), By: "alice", Change: &standin.Change{Write: map[string]string{fmt.Sprint("new", i): "x"}}})
		h.must(err)
		all = append(all, n)
	}
	s, requests, points := h.ask(time.Second, Ask{Full: all})
	if requests != 1 || points > 9 || len(s.Pulls) != len(all) {
		t.Errorf("%d pull requests in %d requests, %d points", len(s.Pulls), requests, points)
	}
	for _, p := range s.Pulls {
		if !p.Complete || !p.Read.Equal(h.now) {
			t.Errorf("%+v", p)
		}
	}
}

// TestPriceOfAStart: of a repository that is not known a small page is read, in full.
func TestPriceOfAStart(t *testing.T) {
	w := newWorldWith(t, nil, api.Options{Memory: true})
	points, many := 0, 20
	for i := range many {
		r, err := w.hub.CreateRepo("acme", fmt.Sprint("r", i), map[string]string{config.File: policyText})
		w.must(err)
		for n := range 2 {
			_, err := r.OpenPull(standin.NewPull{Head: fmt.Sprint("b", n), By: "alice", Change: &standin.Change{Write: map[string]string{"x": fmt.Sprint(n)}}})
			w.must(err)
		}
		repo, err := w.forge.Repository(context.Background(), "acme", fmt.Sprint("r", i))
		w.must(err)
		s, err := w.forge.Observe(context.Background(), repo, Ask{})
		w.must(err)
		points += w.forge.LookCost(repo)
		if len(s.Pulls) != 2 || !s.Pulls[1].Complete || !s.Pulls[1].ChecksAll {
			t.Errorf("%+v", s.Pulls)
		}
	}
	if points*4 > many*5 {
		t.Errorf("%d points for %d repositories", points, many)
	}
}

// TestWhatChangesIsReadAnew: whatever can be seen of a change makes the details be read anew, and what cannot be seen is there as soon as it
// is asked for. Until then the details say how old they are.
func TestWhatChangesIsReadAnew(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(h *herd, n int, head string)
		hidden bool
		ask    func(h *herd, n int) Ask
		want   func(p plan.Pull) bool
	}{
		"a push": {change: func(h *herd, n int, head string) {
			_, err := h.r.Commit(head, standin.Change{Write: map[string]string{"more": "x"}})
			h.must(err)
		}, want: func(p plan.Pull) bool { return len(p.Files) == 2 }},
		"a review": {
			change: func(h *herd, n int, _ string) { h.must(h.r.Review(n, "acme", standin.ChangesRequested)) },
			want:   func(p plan.Pull) bool { return len(p.Reviews) == 1 },
		},
		"a label": {
			change: func(h *herd, n int, _ string) { h.must(h.r.Label(n, "acme", "hold")) },
			want:   func(p plan.Pull) bool { return len(p.Labels) == 1 },
		},
		"another base": {change: func(h *herd, n int, _ string) {
			h.must(h.r.Push("acme", "release", h.r.Tip("main")))
			h.must(h.r.Retarget(n, "alice", "release"))
		}, want: func(p plan.Pull) bool { return p.Base == "release" }},
		"a red check": {
			change: func(h *herd, _ int, head string) { h.status(h.r.Tip(head), "ci", "failure", "ci") },
			want:   func(p plan.Pull) bool { return len(p.Checks) == 1 && p.Checks[0].State == plan.CheckRed },
		},
		"a green check behind our pending": {
			change: func(h *herd, _ int, head string) { h.status(h.r.Tip(head), "ci", "success", "ci") }, hidden: true,
			ask:  func(_ *herd, n int) Ask { return Ask{Full: []int{n}} },
			want: func(p plan.Pull) bool { return len(p.Checks) == 1 },
		},
		"the same by its head": {
			change: func(h *herd, _ int, head string) { h.status(h.r.Tip(head), "ci", "success", "ci") }, hidden: true,
			ask:  func(h *herd, _ int) Ask { return Ask{Heads: []plan.SHA{plan.SHA(h.r.Tip("b7"))}} },
			want: func(p plan.Pull) bool { return len(p.Checks) == 1 },
		},
		"a forged success": {
			change: func(h *herd, _ int, head string) { h.status(h.r.Tip(head), "sluice/main", "success", "mallory") },
			want:   func(p plan.Pull) bool { return len(p.Ours) == 1 && p.Ours[0].By == "mallory" },
		},
		"a forged success in capitals": {
			change: func(h *herd, _ int, head string) { h.status(h.r.Tip(head), "SLUICE/main", "success", "mallory") },
			want:   func(p plan.Pull) bool { return len(p.Ours) > 0 && p.Ours[0].By == "mallory" },
		},
		"our own status": {change: func(h *herd, _ int, head string) {
			h.must(h.forge.SetStatus(context.Background(), h.repo, plan.SHA(h.r.Tip(head)), plan.Status{Context: "sluice/main", State: plan.Failure}))
		}, want: func(p plan.Pull) bool { return p.Ours[0].State == plan.Failure }},
		"the base takes a commit of it": {change: func(h *herd, _ int, head string) {
			own := h.r.Tip(head)
			_, err := h.r.Commit(head, standin.Change{Write: map[string]string{"apps/7.yaml": "again\n"}})
			h.must(err)
			h.pass(10 * time.Second)
			h.pass(10 * time.Second)
			h.must(h.r.Push("acme", "main", own))
		}, want: func(p plan.Pull) bool { return p.Files[0].Kind == plan.Modified }},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHerd(t, 9)
			n := h.pulls[7]
			for i := range 9 {
				h.must(h.forge.SetStatus(context.Background(), h.repo, plan.SHA(h.r.Tip(fmt.Sprint("b", i))), pending))
			}
			before, _, _ := h.pass(time.Minute)
			tt.change(h, n, "b7")
			s, _, _ := h.pass(10 * time.Second)
			if p := h.pull(s, n); tt.hidden && (tt.want(p) || !p.Read.Equal(h.pull(before, n).Read)) || !tt.hidden && !tt.want(p) {
				t.Errorf("%+v", p)
			}
			if tt.ask != nil {
				s, requests, _ := h.ask(time.Second, tt.ask(h, n))
				if p := h.pull(s, n); !tt.want(p) || !p.Read.Equal(h.now) || requests != 1 {
					t.Errorf("asked for in %d requests: %+v", requests, p)
				}
			}
			for _, p := range s.Pulls {
				if len(p.Ours) == 0 && p.Number != n || p.Unread.Is() || !p.Complete {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

// crowd are thin pull requests of a lab, and their details by number.
func crowd(l *lab, thin func(n int) obj, full func(n int) obj) {
	l.say = func(r *http.Request, body string) answerOf {
		switch operation(body) {
		case "look":
			var all []obj
			repo := obj{}
			for name, v := range variables(body) {
				var n int
				if _, err := fmt.Sscan(fmt.Sprint(v), &n); err == nil && name[0] == 'p' {
					repo[name] = full(n)
				}
			}
			for n := 1; n <= fewPulls; n++ {
				all = append(all, thin(n))
			}
			maps.Copy(repo, repoPart(all...))
			return repoAnswer(repo)
		case "pulls":
			return sayNumbers(body, full)
		case "heads":
			repo := obj{}
			for name, v := range variables(body) {
				repo[name] = obj{"oid": v, "status": nil}
			}
			return repoAnswer(repo)
		}
		return answerOf{}
	}
}

// TestDetailsOfAnotherHead: a push comes between the page and the details that come with it. They belong to another head, so the pull
// request is read anew, as it is by then.
func TestDetailsOfAnotherHead(t *testing.T) {
	pushed := false
	l := newLab(t, nil)
	crowd(l, pullPart, func(n int) obj {
		p := pullPart(n)
		if pushed && n == 2 {
			p["headRefOid"], p["commits"] = sha(77), commitsPart(77, tipSHA)
			p["files"] = obj{"nodes": []any{obj{"path": "evil", "changeType": "ADDED"}}}
		}
		return p
	})
	l.look(Ask{})
	pushed, l.now = true, l.now.Add(time.Minute)
	s := l.look(Ask{Full: []int{2}})
	if p := s.Pulls[1]; p.Head != plan.SHA(sha(77)) || p.Files[0].Path != "evil" || p.Unread.Is() || !p.Read.Equal(l.now) {
		t.Errorf("%+v", p)
	}
	if n := l.askedFor("pulls"); n != 1 {
		t.Errorf("%d queries by number", n)
	}
}

// TestDetailsThatCannotBeRead: what looks different and cannot be read is unknown, whatever is kept of it.
func TestDetailsThatCannotBeRead(t *testing.T) {
	l := newLab(t, nil)
	date, broken := "2026-11-20T11:00:00Z", false
	crowd(l, func(n int) obj {
		p := pullPart(n)
		if n == 3 {
			p["updatedAt"] = date
		}
		return p
	}, func(n int) obj {
		if broken && n == 3 {
			return nil
		}
		return pullPart(n)
	})
	l.look(Ask{})
	date, broken, l.now = "2026-11-21T12:00:30Z", true, l.now.Add(time.Minute)
	for _, p := range l.look(Ask{}).Pulls {
		if p.Unread.Is() != (p.Number == 3) || p.Complete == (p.Number == 3) {
			t.Errorf("%+v", p)
		}
	}
}

// TestDetailsThatWereAskedFor: what somebody asked for and could not be read is unknown until it was read, though it looks as before.
func TestDetailsThatWereAskedFor(t *testing.T) {
	broken := false
	l := newLab(t, nil)
	crowd(l, pullPart, func(n int) obj {
		if broken && n == 3 {
			return nil
		}
		return pullPart(n)
	})
	l.look(Ask{})
	broken, l.now = true, l.now.Add(time.Minute)
	s := l.look(Ask{Full: []int{3}})
	l.now = s.Again
	if s = l.look(Ask{}); !s.Pulls[2].Unread.Is() {
		t.Errorf("%+v", s.Pulls[2])
	}
	broken, l.now = false, s.Again
	if p := l.look(Ask{}).Pulls[2]; p.Unread.Is() || !p.Read.Equal(l.now) {
		t.Errorf("%+v", p)
	}
}

// TestDetailsAndTheClock: of details that seem to come from the future nobody knows how old they are, and those of the second of a pull
// request's date may be from before a change of that second.
func TestDetailsAndTheClock(t *testing.T) {
	date := "2026-11-20T11:00:00Z"
	l := newLab(t, nil)
	dated := func(n int) obj {
		p := pullPart(n)
		p["updatedAt"] = date
		return p
	}
	crowd(l, dated, dated)
	l.look(Ask{})
	l.now = l.now.Add(-time.Minute)
	if s := l.look(Ask{}); l.askedFor("pulls") != 1 || !s.Pulls[0].Read.Equal(l.now) {
		t.Errorf("set back: %+v", s.Pulls[0])
	}
	date, l.now = "2026-11-21T12:10:00Z", time.Date(2026, 11, 21, 12, 10, 1, 0, time.UTC)
	l.look(Ask{})
	l.took()
	for i, d := range []time.Duration{stableAfter, time.Second} {
		l.now = l.now.Add(d)
		if s := l.look(Ask{}); s.Pulls[0].Read.Equal(l.now) != (i == 0) || len(l.took()) != 1 {
			t.Errorf("look %d: %+v", i, s.Pulls[0])
		}
	}
}

// TestAHoleInAThinPageIsNoAbsence: what GitHub does not show of a pull request, its statuses or its labels, is not known to be none.
func TestAHoleInAThinPageIsNoAbsence(t *testing.T) {
	green := statusPart("sluice/main", "SUCCESS", "Bot", "sluice")
	green["__typename"] = "StatusContext"
	rolled := func(n int) obj {
		p := pullPart(n)
		p["labels"] = obj{"nodes": []any{obj{"name": "hold"}}, "pageInfo": obj{"hasNextPage": false}}
		p["statusCheckRollup"] = obj{
			"state": "SUCCESS", "commit": obj{"oid": sha(n), "status": obj{"s0": green}},
			"contexts": obj{"nodes": []any{green}, "pageInfo": obj{"hasNextPage": false}},
		}
		return p
	}
	l := newLab(t, nil)
	crowd(l, rolled, rolled)
	l.look(Ask{})
	answer := l.say
	l.say = func(r *http.Request, body string) answerOf {
		if operation(body) != "look" {
			return answer(r, body)
		}
		crowd(l, func(n int) obj {
			p := rolled(n)
			if n == 4 {
				p["statusCheckRollup"], p["labels"] = nil, nil
			}
			return p
		}, rolled)
		a := l.say(r, body)
		a.body = strings.TrimSuffix(a.body, "}") + `,"errors":[{"type":"FORBIDDEN","path":["repository","pullRequests","nodes",3,"statusCheckRollup"],"message":"x"}]}`
		return a
	}
	l.now = l.now.Add(time.Minute)
	for _, p := range l.look(Ask{}).Pulls {
		if len(p.Ours) != 1 || len(p.Labels) != 1 || !p.ChecksAll {
			t.Errorf("%+v", p)
		}
	}
}

// TestLabelsThatCannotBeShown: GitHub fails wherever labels are asked for. Each pull request is unknown, and the repository is not.
func TestLabelsThatCannotBeShown(t *testing.T) {
	l := newLab(t, nil)
	crowd(l, pullPart, pullPart)
	answer := l.say
	for i := range 2 {
		l.say = func(r *http.Request, body string) answerOf {
			if strings.Contains(body, "labels(") {
				return answerOf{code: 502}
			}
			return answer(r, body)
		}
		for _, ask := range []Ask{{}, {Pulls: []int{1, 2}}} {
			s := l.look(ask)
			if len(s.Pulls) == 0 || s.Bases["main"].Unread.Is() {
				t.Fatalf("look %d: %+v", i, s)
			}
			for _, p := range s.Pulls {
				if !p.Unread.Is() || p.ChecksAll {
					t.Errorf("look %d: %+v", i, p)
				}
			}
		}
	}
	l.say, l.now = answer, l.now.Add(leastTTL)
	for _, p := range l.look(Ask{}).Pulls {
		if p.Unread.Is() || !p.ChecksAll {
			t.Errorf("%+v", p)
		}
	}
}

// TestABaseThatIsRewritten: where a base's move cannot be read, what is green is read anew, and what is not need not be.
func TestABaseThatIsRewritten(t *testing.T) {
	tip, state := tipSHA, map[int]string{1: "SUCCESS", 2: "PENDING"}
	part := func(n int) obj {
		p := pullPart(n)
		p["baseRef"] = obj{"target": obj{"oid": sha(tip)}}
		if state[n] != "" {
			ours := statusPart("sluice/main", state[n], "Bot", "sluice")
			ours["__typename"] = "StatusContext"
			p["statusCheckRollup"] = obj{
				"state": state[n], "commit": obj{"oid": sha(n), "status": obj{"s0": ours}},
				"contexts": obj{"nodes": []any{ours}, "pageInfo": obj{"hasNextPage": false}},
			}
		}
		return p
	}
	l := newLab(t, nil)
	crowd(l, part, part)
	answer := l.say
	l.say = func(r *http.Request, body string) answerOf {
		if strings.Contains(r.URL.Path, "/compare/") {
			return answerOf{code: 200, body: `{"status":"diverged","total_commits":0,"commits":[],"merge_base_commit":{"sha":"` + sha(900) + `"}}`}
		}
		if operation(body) == "objects" {
			return sayTrees(body)
		}
		a := answer(r, body)
		a.body = strings.ReplaceAll(a.body, `"oid":"`+sha(tipSHA)+`","status":null`, `"oid":"`+sha(tip)+`","status":null`)
		return a
	}
	l.look(Ask{})
	tip, l.now = tipSHA+1, l.now.Add(time.Minute)
	for _, p := range l.look(Ask{}).Pulls {
		if p.Read.Equal(l.now) != (p.Number == 1) {
			t.Errorf("%+v", p)
		}
	}
}

// TestDetailsAreAsOldAsTheyAre: the wall's clock was set back after details were read. By it they look young, and are not trusted.
func TestDetailsAreAsOldAsTheyAre(t *testing.T) {
	now, wall := time.Now(), at
	lab := &lab{fake: &fake{t: t}}
	lab.f = lab.forge(func(o *Options) { o.Now = func() time.Time { return now } })
	crowd(lab, pullPart, pullPart)
	lab.look(Ask{At: wall})
	now, wall = now.Add(50*time.Second), wall.Add(50*time.Second)
	if p := lab.look(Ask{At: wall}).Pulls[0]; !p.Read.Equal(at) {
		t.Fatalf("read anew: %+v", p)
	}
	wall = wall.Add(-40 * time.Second)
	if p := lab.look(Ask{At: wall}).Pulls[0]; !p.Read.Equal(wall) {
		t.Errorf("details of 50 seconds ago look as if they were of %s ago", wall.Sub(p.Read))
	}
}

// TestAMinuteOfTrouble: a page that fails once is taken for too heavy for a minute, and for twice as long each time that it fails again. After that it is asked for whole, as if
// nothing had been.
func TestAMinuteOfTrouble(t *testing.T) {
	l := newLab(t, nil)
	crowd(l, pullPart, pullPart)
	answer, asked, fails := l.say, 0, false
	l.say = func(r *http.Request, body string) answerOf {
		if asked++; fails && asked == 1 {
			return answerOf{code: 502}
		}
		return answer(r, body)
	}
	l.look(Ask{Full: []int{1}})
	l.look(Ask{Full: []int{1}})
	asked = 0
	l.look(Ask{Full: []int{1}})
	quiet := asked
	for _, tt := range []struct {
		after       time.Duration
		fails, dear bool
	}{
		{time.Second, true, true}, {30 * time.Second, false, true}, {31 * time.Second, false, false}, {time.Second, true, true},
		{90 * time.Second, false, true}, {31 * time.Second, false, false},
	} {
		l.now, asked, fails = l.now.Add(tt.after), 0, tt.fails
		if l.look(Ask{Full: []int{1}}); asked > quiet != tt.dear {
			t.Errorf("after %s: %d requests, %d when all is quiet", tt.after, asked, quiet)
		}
	}
}
