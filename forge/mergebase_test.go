package forge

import (
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/plan"
)

// People push to a pull request of many commits: its own commits are listed once, and known from then on.
func TestAPushOnManyCommitsIsNotListedAgain(t *testing.T) {
	w := newWorld(t, nil)
	n := w.open("topic", "a")
	push := func(many int) {
		for i := range many {
			_, err := w.r.Commit("topic", standin.Change{By: "alice", Message: "more", Write: map[string]string{"a": fmt.Sprint(many, i)}})
			w.must(err)
		}
	}
	fork := plan.SHA(w.r.Tip("main"))
	look := func(what string, lists int) {
		t.Helper()
		s, sent := w.look(Ask{Full: []int{n}})
		if got := sent["GET /repos/{owner}/{repo}/pulls/{pull_number}/commits"]; got != lists || sent["GET /repos/{owner}/{repo}/compare/{basehead}"] > 1 {
			t.Errorf("%s: %v", what, sent)
		}
		if p := w.pull(s, n); p.MergeBase != fork || p.Crossed || p.Unread.Is() {
			t.Errorf("%s: merge base %s, want %s; crossed %t, %+v", what, p.MergeBase, fork, p.Crossed, p.Unread)
		}
	}
	look("one commit", 0)
	push(maxCommits)
	look("one more than a page shows", 0)
	_, err := w.r.Commit("main", standin.Change{By: "bob", Message: "on", Write: map[string]string{"b": "b"}})
	w.must(err)
	look("the base moved on", 0)
	push(3)
	look("pushed to behind its base", 0)
	push(2 * maxCommits)
	look("more at once than a page shows", 1)
	push(1)
	look("pushed to once more", 0)
}

// A rebase makes what a merge makes of one commit, of any number upon the base's tip, and of no merge.
func TestReplays(t *testing.T) {
	one, two := lineage{"one", []plan.SHA{"tip"}, true}, lineage{"two", []plan.SHA{"one"}, true}
	for name, c := range map[string]struct {
		tip     plan.SHA
		commits []lineage
		whole   bool
		want    bool
	}{
		"two upon the tip":      {"tip", []lineage{one, two}, true, true},
		"two behind":            {"moved", []lineage{one, two}, true, false},
		"one behind":            {"moved", []lineage{{"two", []plan.SHA{"tip"}, true}}, true, true},
		"not all are known":     {"tip", []lineage{one, two}, false, false},
		"a merge":               {"tip", []lineage{one, {"two", []plan.SHA{"one", "tip"}, true}}, true, false},
		"of unknown parents":    {"tip", []lineage{one, {"two", []plan.SHA{"one"}, false}}, true, false},
		"without a base at all": {"tip", []lineage{{"two", nil, true}}, true, false},
	} {
		if got := newHistory("two", c.commits, c.whole).replays(c.tip); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Own commits are those of one base: where a pull request is retargeted, there may be as many others.
func TestOwnCommitsOfAnotherBase(t *testing.T) {
	w := newWorld(t, nil)
	l := w.forge.newObservation(w.repo, Ask{}, slog.New(slog.DiscardHandler))
	raw, head := &rawPull{}, plan.SHA(sha(9))
	raw.Number, raw.HeadRefOid, raw.BaseRefName, raw.Commits.TotalCount = 1, string(head), "main", 2
	older := newHistory(head, []lineage{{head, []plan.SHA{"a", "b"}, true}, {"b", []plan.SHA{"c"}, true}}, true)
	keptHistories.Put(l.Memory, ownKey{1, "main"}, older)
	if h := l.history(raw); !h.complete {
		t.Error("what is known for its base is not")
	}
	if raw.BaseRefName = "side"; l.history(raw).complete {
		t.Error("what was known for another base is taken for this one's")
	}
}

// As many commits as GitHub lists are listed once.
func TestAsManyCommitsAsAreListed(t *testing.T) {
	p := pullPart(1)
	p["commits"] = obj{"totalCount": maxOwnListed, "nodes": []any{}}
	hub := &fake{t: t}
	hub.say = func(r *http.Request, body string) answerOf {
		switch {
		case operation(body) == "objects":
			return repoAnswer(obj{"o0": obj{"__typename": "Blob"}})
		case r.URL.Path != "/repos/acme/fleet/pulls/1/commits":
			return sayRepo(repoPart(p))(r, body)
		}
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		list := []string{}
		for n := (page-1)*client.PerPage + 1; n <= min(page*client.PerPage, maxOwnListed); n++ { // the last leaves to 251
			list = append(list, fmt.Sprintf(`{"sha":%q,"parents":[{"sha":%q}]}`, sha(n), sha(n+1)))
		}
		a := answerOf{code: 200, body: "[" + strings.Join(list, ",") + "]"}
		if page < maxCommitPages {
			a.header = map[string]string{"Link": fmt.Sprintf(`<https://api.github.com/x?page=%d>; rel="next"`, page+1)}
		}
		return a
	}
	f := hub.forge(nil)
	for look, want := range []int{maxCommitPages, 0} {
		hub.took()
		s := observe(t, f, Ask{})
		if base := s.Pulls[0].MergeBase; base != plan.SHA(sha(maxOwnListed+1)) {
			t.Errorf("look %d: merge base %q, %+v", look, base, s.Pulls[0].Unread)
		}
		if n := len(slices.DeleteFunc(hub.took(), func(sent string) bool { return !strings.Contains(sent, "commits") })); n != want {
			t.Errorf("look %d: listed by %d requests", look, n)
		}
	}
}

// Whatever people push, merge and rewrite: what completes a head's own commits by older ones is what git has.
func TestOwnCommitsByOlderOnes(t *testing.T) {
	completed := 0
	for seed := range uint64(300) {
		g := &graph{parents: map[plan.SHA][]plan.SHA{}, dice: rand.New(rand.NewPCG(seed, 1))}
		main := g.commit()
		head, older := g.commit(main), history{}
		for step := range 40 {
			switch g.dice.IntN(8) {
			case 0:
				main = g.commit(main)
			case 1:
				head = g.commit(head, main)
			case 2:
				if back := g.parents[head]; len(back) > 0 {
					head = g.commit(back[0])
				}
			case 3:
				if own := g.own(head, main); len(own) > 2 {
					main = g.commit(main, own[len(own)/2]) // a part of it is merged
				}
			default:
				for range 1 + g.dice.IntN(4) {
					head = g.commit(head)
				}
			}
			own := g.own(head, main)
			want := newHistory(head, g.lineages(own), len(own) > 0)
			page := newHistory(head, g.lineages(own[:min(len(own), 5)]), len(own) <= 5)
			got, ok := page.on(older, len(own))
			if ok {
				completed++
				if d := cmp.Diff(slices.Sorted(maps.Keys(want.own)), slices.Sorted(maps.Keys(got.own))); d != "" || !slices.Equal(want.boundary, got.boundary) || got.head != head {
					t.Fatalf("seed %d, step %d: %s boundary %v, want %v", seed, step, d, got.boundary, want.boundary)
				}
			}
			if g.dice.IntN(3) > 0 && want.complete {
				older = want
			}
		}
	}
	if completed < 1000 {
		t.Errorf("only %d were completed", completed)
	}
}

// graph is commits with their parents.
type graph struct {
	parents map[plan.SHA][]plan.SHA
	dice    *rand.Rand
}

func (g *graph) commit(parents ...plan.SHA) plan.SHA {
	sha := plan.SHA(sha(len(g.parents) + 1))
	g.parents[sha] = parents
	return sha
}

// own are the commits of a head that a base has not, the newest first.
func (g *graph) own(head, base plan.SHA) []plan.SHA {
	in := g.ancestors(base)
	own := slices.DeleteFunc(slices.Collect(maps.Keys(g.ancestors(head))), func(c plan.SHA) bool { return in[c] })
	slices.Sort(own) // later ones have higher numbers
	slices.Reverse(own)
	return own
}

func (g *graph) ancestors(of plan.SHA) map[plan.SHA]bool {
	all := map[plan.SHA]bool{}
	for next := []plan.SHA{of}; len(next) > 0; {
		at := next[0]
		next = next[1:]
		if !all[at] {
			all[at] = true
			next = append(next, g.parents[at]...)
		}
	}
	return all
}

func (g *graph) lineages(some []plan.SHA) []lineage {
	list := make([]lineage, len(some))
	for i, c := range some {
		list[i] = lineage{c, g.parents[c], true}
	}
	return list
}
