package forge

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
)

// TestCame: what reached a base past our own merges is named with its files: pushes, other people's merges, many at once, and a
// branch that was rewritten. A quiet look asks for nothing.
func TestCame(t *testing.T) {
	w := newWorld(t, nil)
	push := func(path string) plan.SHA {
		sha, err := w.r.Commit("main", standin.Change{By: "mallory", Write: map[string]string{path: "x\n"}})
		w.must(err)
		return plan.SHA(sha)
	}
	landings := func() []plan.Landing {
		s, _ := w.look(Ask{At: time.Now()})
		return s.Bases["main"].Landings
	}
	if got := landings(); got != nil {
		t.Errorf("the first look names %+v", got)
	}
	ours := w.open("ours", "apps/ours")
	first := push("apps/a")
	if _, err := w.merge(ours, plan.SHA(w.r.Tip("ours"))); err != nil {
		t.Fatal(err)
	}
	got := landings()
	if len(got) != 1 || got[0].SHA != first || got[0].By != "mallory" || !got[0].Complete || !slices.Equal(pathsOf(got[0].Files), []string{"apps/a"}) {
		t.Errorf("beside our merge: %+v", got)
	}
	if _, sent := w.look(Ask{At: time.Now()}); sum(sent) != 1 {
		t.Errorf("a quiet look took %v", sent)
	}

	theirs := w.open("theirs", "apps/theirs")
	merge, err := w.r.MergePull(theirs, "alice", standin.Merge)
	w.must(err)
	if got = landings(); len(got) != 2 || got[0].SHA != plan.SHA(merge) || !slices.Equal(pathsOf(got[0].Files), []string{"apps/theirs"}) {
		t.Errorf("somebody else's merge: %+v", got)
	}

	for i := range maxLandings + 3 {
		push(fmt.Sprintf("apps/many/%d", i))
	}
	if got = landings(); len(got) != maxLandings || !got[0].Complete || got[0].SHA != plan.SHA(w.r.Tip("main")) {
		t.Errorf("many: %+v", got)
	}
	if s, _ := w.look(Ask{At: time.Now().Add(landingAge + time.Minute)}); s.Bases["main"].Landings != nil {
		t.Errorf("a day later: %+v", s.Bases["main"].Landings)
	}
}

func pathsOf(files []plan.File) []string {
	var all []string
	for _, f := range files {
		all = append(all, f.Path)
	}
	return all
}

// TestCameByARewrite: a base that does not descend from where it was seen brought nobody knows what.
func TestCameByARewrite(t *testing.T) {
	w := newWorld(t, nil)
	start := w.r.Tip("main")
	_, err := w.r.Commit("main", standin.Change{Write: map[string]string{"a": "1\n"}})
	w.must(err)
	w.look(Ask{At: time.Now()})
	w.must(w.r.Push("alice", "main", start))
	s, _ := w.look(Ask{At: time.Now()})
	if got := s.Bases["main"].Landings; len(got) != 1 || got[0].Complete || got[0].SHA != plan.SHA(start) {
		t.Errorf("%+v", got)
	}
}

// TestCameLater: what GitHub does not show yet is named by a later look, as long as that is worth the request.
func TestCameLater(t *testing.T) {
	w := newWorld(t, nil)
	at := time.Now()
	look := func(pass time.Duration) []plan.Landing {
		at = at.Add(pass)
		s, _ := w.look(Ask{At: at})
		return s.Bases["main"].Landings
	}
	look(0)
	push := func() plan.SHA {
		sha, err := w.r.Commit("main", standin.Change{By: "mallory", Write: map[string]string{"apps/a": at.String()}})
		w.must(err)
		return plan.SHA(sha)
	}
	hidden := api.Fault{Path: "/repos/{owner}/{repo}/compare/{basehead}", Status: 404, Times: 1}
	first := push()
	w.hub.Fault(hidden)
	if got := look(time.Minute); got != nil {
		t.Errorf("hidden: %+v", got)
	}
	if got := look(time.Minute); len(got) != 1 || got[0].SHA != first {
		t.Errorf("shown: %+v", got)
	}
	push()
	w.hub.Fault(hidden)
	look(landingWait)
	if got := look(time.Minute); len(got) != 1 || got[0].SHA != first {
		t.Errorf("hidden for long: %+v", got)
	}
}

// What only our own merges brought is known without a comparison; what came between them is named all the same.
func TestOurOwnMergesAreNotCompared(t *testing.T) {
	for _, method := range []standin.Method{standin.Merge, standin.Squash} {
		w := newWorld(t, nil)
		pulls := []int{w.open("a", "apps/a"), w.open("b", "apps/b"), w.open("c", "apps/c"), w.open("d", "apps/d")}
		w.look(Ask{At: time.Now()})
		merge := func(numbers ...int) (plan.Snapshot, int) {
			for _, n := range numbers {
				p, err := w.r.Pull(n)
				w.must(err)
				_, err = w.forge.Merge(t.Context(), w.repo, plan.Merge{Pin: plan.Pin{SHA: plan.SHA(p.HeadSHA)}, Pull: n, Base: "main", Method: config.Method(method)})
				w.must(err)
			}
			s, sent := w.look(Ask{At: time.Now(), Merged: numbers})
			return s, sent["GET /repos/{owner}/{repo}/compare/{basehead}"]
		}
		if s, compared := merge(pulls[:2]...); len(s.Bases["main"].Landings) > 0 || compared > 0 {
			t.Errorf("%s: %+v came, by %d comparisons", method, s.Bases["main"].Landings, compared)
		}
		sha, err := w.r.Commit("main", standin.Change{By: "mallory", Write: map[string]string{"apps/e": "e"}})
		w.must(err)
		if s, _ := merge(pulls[2:]...); len(s.Bases["main"].Landings) != 1 || s.Bases["main"].Landings[0].SHA != plan.SHA(sha) {
			t.Errorf("%s: beside our merges came %+v", method, s.Bases["main"].Landings)
		}
	}
}

// A name that a commit gives is no account, as whoever made it may have given any.
func TestCameByAName(t *testing.T) {
	w := newWorld(t, nil)
	w.look(Ask{At: time.Now()})
	tip, err := w.r.Git().Commit(w.r.Tip("main"))
	w.must(err)
	next := *tip
	next.Parents, next.Author.Name, next.Author.Email = []string{tip.SHA}, "alice", "alice@example.com"
	sha, err := w.r.Git().Write(next)
	w.must(err)
	w.must(w.r.Push("mallory", "main", sha))
	s, _ := w.look(Ask{At: time.Now()})
	if got := s.Bases["main"].Landings; len(got) != 1 || got[0].By != "" || got[0].Name != "alice" {
		t.Errorf("%+v", got)
	}
}
