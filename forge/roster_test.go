package forge

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/standin"
)

// rulesOn commits the file to a branch; "" deletes it.
func (w *world) rulesOn(branch, text string) string {
	w.Helper()
	c := standin.Change{Write: map[string]string{config.File: text}}
	if text == "" {
		c = standin.Change{Delete: []string{config.File}}
	}
	sha, err := w.r.Commit(branch, c)
	w.must(err)
	return sha
}

// into opens a pull request into a branch.
func (w *world) into(base, head string) int {
	w.Helper()
	n, err := w.r.OpenPull(standin.NewPull{Head: head, Base: base, Change: &standin.Change{From: base, Write: map[string]string{head: "x\n"}}})
	w.must(err)
	return n
}

// rosterNames are the windowed branches that a snapshot knows; "?" if it is not known which there are.
func rosterNames(s plan.Snapshot) string {
	r := s.Roster()
	if !r.Known {
		return "?"
	}
	var out []string
	for _, e := range r.Entries {
		out = append(out, string(e.Name))
	}
	return strings.Join(out, " ")
}

// While main's file is missing or invalid, its newest readable version says which branches are windowed, at the price of one request for
// each new tip; while the file can be read nothing more is asked.
func TestRosterOfAnOlderFile(t *testing.T) {
	w := newWindowed(t, "none", "rw/gone")
	w.rulesOn("main", windowedText("none", "rw/a", "rw/b"))
	w.put("rw/a", w.r.Tip("main"))
	w.into("rw/a", "change")
	w.look(Ask{})
	s, got := w.look(Ask{})
	if sum(got) != 1 || rosterNames(s) != "rw/a rw/b" {
		t.Errorf("a quiet look: %v, %s", got, rosterNames(s))
	}
	w.put("old", w.r.Tip("main"))
	for name, damage := range map[string]func(){
		"invalid":       func() { w.rulesOn("main", "version: 7\n") },
		"invalid again": func() { w.rulesOn("main", "version: 8\n") },
		"deleted":       func() { w.rulesOn("main", "") },
		"a symbolic link": func() {
			_, err := w.r.Commit("main", standin.Change{Link: map[string]string{config.File: "README.md"}})
			w.must(err)
		},
	} {
		w.put("main", w.r.Tip("old"))
		damage()
		w.push("main", "more of "+name)
		w.look(Ask{}) // what came to main
		w.push("main", "even more of "+name)
		s, got = w.look(Ask{})
		if rosterNames(s) != "rw/a rw/b" || s.Bases["main"].Policy != nil || s.Roster().Entries[0].From != "main" {
			t.Errorf("%s: %q", name, rosterNames(s))
		}
		if n := got["POST /graphql"]; n != 2 {
			t.Errorf("%s: %v", name, got)
		}
		if s, got = w.look(Ask{}); sum(got) != 1 || rosterNames(s) != "rw/a rw/b" {
			t.Errorf("%s: a quiet look: %v, %s", name, got, rosterNames(s))
		}
	}
	w.rulesOn("main", policyText)
	w.rulesOn("main", "")
	if s, _ = w.look(Ask{}); rosterNames(s) != "" {
		t.Errorf("the newest version names none, and yet %q", rosterNames(s))
	}
}

// Where no base but the default branch has a file, nobody asks which branches are windowed.
func TestRosterIsNotAskedForInVain(t *testing.T) {
	w := newWindowed(t, "none", "rw/a")
	first := w.r.Tip("main")
	w.rulesOn("main", "")
	w.put("bare", w.r.Tip("main"))
	w.into("bare", "change")
	w.open("other", "x")
	w.look(Ask{})
	w.push("main", "more")
	if _, got := w.look(Ask{}); got["POST /graphql"] != 1 {
		t.Errorf("%v", got)
	}
	w.put("filed", first)
	w.into("filed", "third")
	if s, _ := w.look(Ask{}); rosterNames(s) != "rw/a" {
		t.Errorf("%q", rosterNames(s))
	}
}

// A default branch that never had a file names no branch, however many others have one.
func TestRosterOfABranchThatNeverHadAFile(t *testing.T) {
	w := newOnDisk(t, "none", "rw/a")
	w.put("gitops", w.r.Tip("main"))
	bare := w.git("", "commit-tree", "-m", "bare", strings.TrimSpace(w.git("", "mktree")))
	w.put("main", strings.TrimSpace(bare))
	w.into("gitops", "change")
	s, got := w.look(Ask{})
	if r := s.Roster(); !r.Known || r.File != "" || len(r.Entries) != 0 || got["POST /graphql"] != 3 { // the page, the base, the past
		t.Errorf("%+v after %v", r, got)
	}
}

// A merged branch brings versions of the file that never stood on main. The newest of them names nothing, and is none of main's.
func TestRosterStoodOnTheBranchItself(t *testing.T) {
	w := newWindowed(t, "none", "rw/a")
	w.put("rw/a", w.r.Tip("main"))
	w.into("rw/a", "change")
	w.push("main", "m")
	n, err := w.r.OpenPull(standin.NewPull{Head: "evil", Change: &standin.Change{Write: map[string]string{config.File: policyText}}})
	w.must(err)
	w.rulesOn("evil", "version: 7\n")
	_, err = w.forge.Merge(context.Background(), w.repo, plan.Merge{Pin: plan.Pin{SHA: plan.SHA(w.r.Tip("evil"))}, Pull: n, Base: "main", Method: config.MergeCommit})
	w.must(err)
	if s, _ := w.look(Ask{}); s.Bases["main"].Policy != nil || rosterNames(s) != "rw/a" {
		t.Errorf("%q", rosterNames(s))
	}
}

// seenBefore is what the store remembers.
var seenBefore = plan.Roster{Known: true, File: "01d", Entries: []plan.Entry{{Name: "rw/stored", From: "main"}}}

// versionPart is a commit of a past; a parent below 0 is none; text "" is no file, and "?" one whose text is not shown.
func versionPart(n, parent int, text string, shown bool) obj {
	part := obj{"oid": sha(n), "parents": linkPart(n, parent, "")["parents"], "file": nil}
	if text != "" {
		part["file"] = obj{"oid": sha(len(text)), "type": "blob", "mode": 0o100644, "object": nil}
		if shown {
			part["file"].(obj)["object"] = blobPart(text)
		}
	}
	return part
}

// What cannot be found out is not known, spoils nothing else, and is asked again; a store's memory is better than a log of what may never
// have stood on the branch, and worse than what did.
func TestRosterThatCannotBeFound(t *testing.T) {
	bad, good := "version: 7\n", windowedText("none", "rw/a")
	side := windowedText("none", "rw/some-other-side")
	pastPart := func(n int, line, changes obj) obj {
		return obj{"object": obj{"oid": sha(n), "line": line, "changes": changes}}
	}
	tipBad := versionPart(tipSHA, 1, bad, false)
	for name, tt := range map[string]struct {
		past   func(tries int) answerOf
		want   string // without a store
		stored string // with one
		tries  int    // queries of two looks
	}{
		"fault":     {func(int) answerOf { return answerOf{code: 500} }, "?", "rw/stored", 2},
		"not found": {func(int) answerOf { return answerOf{code: 404, body: `{"message":"Not Found"}`} }, "?", "rw/stored", 2},
		"too heavy": {func(int) answerOf { return answerOf{code: 502} }, "?", "rw/stored", 2},
		"null":      {func(int) answerOf { return repoAnswer(obj{"object": nil}) }, "?", "rw/stored", 2},
		"other commit": {func(int) answerOf {
			return repoAnswer(pastPart(9, connectionPart(false), connectionPart(false)))
		}, "?", "rw/stored", 2},
		"nobody brought it": {func(int) answerOf {
			return repoAnswer(pastPart(tipSHA, connectionPart(false, versionPart(tipSHA, -1, bad, false)), connectionPart(false)))
		}, "?", "rw/stored", 2},
		"text not shown": {func(int) answerOf {
			return repoAnswer(pastPart(tipSHA, connectionPart(false, tipBad, versionPart(1, -1, good, false)),
				connectionPart(false, versionPart(tipSHA, 1, bad, true), versionPart(1, -1, good, false))))
		}, "?", "rw/stored", 2},
		"parent not shown": {func(int) answerOf {
			hiddenParent := versionPart(tipSHA, 1, bad, false)
			hiddenParent["parents"].(obj)["nodes"] = []any{}
			return repoAnswer(pastPart(tipSHA, connectionPart(false, hiddenParent), connectionPart(false, versionPart(tipSHA, 1, bad, true))))
		}, "?", "rw/stored", 2},
		"on the line": {func(int) answerOf {
			return repoAnswer(pastPart(tipSHA, connectionPart(true, tipBad, versionPart(1, 2, good, false)),
				connectionPart(true, versionPart(tipSHA, 1, bad, true), versionPart(5, 6, side, true), versionPart(1, 2, good, true))))
		}, "rw/a", "rw/a", 1},
		"never readable": {func(int) answerOf {
			return repoAnswer(pastPart(tipSHA, connectionPart(false, versionPart(tipSHA, -1, bad, false)), connectionPart(false, versionPart(tipSHA, -1, bad, true))))
		}, "", "rw/stored", 1},
		"deep, in the log": {func(i int) answerOf {
			n := tipSHA + i
			return repoAnswer(pastPart(n, connectionPart(true, versionPart(n, n+1, bad, false)),
				connectionPart(true, versionPart(n, n+1, bad, true), versionPart(3, 4, "", false), versionPart(5, 6, good, true))))
		}, "rw/a", "rw/stored", maxPasts},
		"deep, and too many versions": {func(i int) answerOf {
			n := tipSHA + i
			return repoAnswer(pastPart(n, connectionPart(true, versionPart(n, n+1, bad, false)), connectionPart(true, versionPart(n, n+1, bad, true))))
		}, "?", "rw/stored", 2 * maxPasts},
		"deep, and no version": {func(i int) answerOf {
			return repoAnswer(pastPart(tipSHA, connectionPart(true, versionPart(tipSHA, 1, "", false)), connectionPart(false)))
		}, "", "rw/stored", 1},
	} {
		p := pullPart(1)
		p["baseRefName"] = "rw/a"
		repo := repoPart(p)
		repo["defaultBranchRef"] = basePart("main", bad)
		repo["b0"] = basePart("rw/a", good)
		for _, stored := range []bool{false, true} {
			tries := 0
			hub := &fake{t: t}
			hub.say = func(r *http.Request, body string) answerOf {
				switch operation(body) {
				case "past":
					tries++
					return tt.past((tries - 1) % maxPasts)
				case "look", "bases":
					return repoAnswer(repo)
				}
				return answerOf{}
			}
			f := hub.forge(nil)
			ask, want := Ask{}, tt.want
			if stored {
				ask.Roster, want = seenBefore, tt.stored
			}
			for range 2 {
				if s := observe(t, f, ask); rosterNames(s) != want || len(s.Pulls) != 1 {
					t.Errorf("%s (stored %v): %q, want %q", name, stored, rosterNames(s), want)
				}
			}
			if tries != tt.tries {
				t.Errorf("%s (stored %v): asked %d times", name, stored, tries)
			}
		}
	}
}

// A limit ends the look as any other: nothing is decided on half of it.
func TestRosterUnderALimit(t *testing.T) {
	p := pullPart(1)
	p["baseRefName"] = "rw/a"
	repo := repoPart(p)
	repo["defaultBranchRef"], repo["b0"] = basePart("main", "version: 7\n"), basePart("rw/a", policyText)
	hub := &fake{t: t}
	hub.say = func(r *http.Request, body string) answerOf {
		switch operation(body) {
		case "past":
			return answerOf{code: 403, header: map[string]string{"Retry-After": "60"}, body: `{"message":"You have exceeded a secondary rate limit"}`}
		case "look", "bases":
			return repoAnswer(repo)
		}
		return answerOf{}
	}
	if _, err := hub.forge(nil).Observe(t.Context(), testRepo, Ask{}); kindOf(err) != Limited {
		t.Error(err)
	}
}
