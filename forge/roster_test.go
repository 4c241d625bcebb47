package forge

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/plan"
)

// rulesOnMain commits the file to the default branch; "" deletes it.
func (w *world) rulesOnMain(text string) string {
	w.Helper()
	c := standin.Change{Write: map[string]string{config.File: text}}
	if text == "" {
		c = standin.Change{Delete: []string{config.File}}
	}
	sha, err := w.r.Commit("main", c)
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

// While main's file is missing or invalid, what the store last saw says which branches are windowed, if the history has no newer version that may
// be readable: one request for each new tip. Without a store it is not known. While the file can be read nothing more is asked.
func TestRosterOfAnOlderFile(t *testing.T) {
	w := newWindowed(t, "none", "rw/gone")
	w.rulesOnMain(windowedText("none", "rw/a", "rw/b"))
	w.put("rw/a", w.r.Tip("main"))
	w.into("rw/a", "change")
	w.look(Ask{})
	s, got := w.look(Ask{})
	if sum(got) != 1 || rosterNames(s) != "rw/a rw/b" {
		t.Errorf("a quiet look: %v, %s", got, rosterNames(s))
	}
	seen := s.Roster()
	w.put("old", w.r.Tip("main"))
	for name, damage := range map[string]func(){
		"invalid":       func() { w.rulesOnMain("version: 7\n") },
		"invalid again": func() { w.rulesOnMain("version: 8\n") },
		"deleted":       func() { w.rulesOnMain("") },
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
		s, got = w.look(Ask{Roster: seen})
		if rosterNames(s) != "rw/a rw/b" || s.Bases["main"].Policy != nil || s.Roster().Entries[0].From != "main" {
			t.Errorf("%s: %q", name, rosterNames(s))
		}
		if n := got["POST /graphql"]; n != 2 {
			t.Errorf("%s: %v", name, got)
		}
		if s, got = w.look(Ask{}); sum(got) != 1 || rosterNames(s) != "?" {
			t.Errorf("%s: a quiet look without a store: %v, %s", name, got, rosterNames(s))
		}
	}
}

// The store is older than the newest readable version, after an outage or from a backup: that names a windowed branch which the store does not, so it is not known which
// there are.
func TestRosterOfAnOlderStore(t *testing.T) {
	w := newWindowed(t, "none", "rw/gone")
	older := w.r.Tip("main")
	s, _ := w.look(Ask{})
	stored := s.Roster()
	w.rulesOnMain(windowedText("none", "rw/gone", "rw/a"))
	w.rulesOnMain("version: 7\n") // before anybody looked
	w.put("rw/a", older)
	w.into("rw/a", "change")
	if s, _ = w.look(Ask{Roster: stored}); rosterNames(s) != "?" {
		t.Errorf("%q", rosterNames(s))
	}
}

// Where no base but the default branch has a file, nobody asks which branches are windowed.
func TestRosterIsNotAskedForInVain(t *testing.T) {
	w := newWindowed(t, "none", "rw/a")
	first := w.r.Tip("main")
	w.rulesOnMain("")
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
	if s, _ := w.look(Ask{Roster: seenBefore}); rosterNames(s) != "?" { // of a version that the history does not have
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

// A merged branch brings versions of the file that never stood on main: it may have had one all the same.
func TestRosterWhereABranchBroughtTheFile(t *testing.T) {
	w := newOnDisk(t, "none", "rw/a")
	w.put("gitops", w.r.Tip("main"))
	bare := strings.TrimSpace(w.git("", "commit-tree", "-m", "bare", strings.TrimSpace(w.git("", "mktree"))))
	w.put("main", strings.TrimSpace(w.git("", "commit-tree", "-m", "ours", "-p", bare, "-p", w.r.Tip("gitops"), bare+"^{tree}")))
	w.into("gitops", "change")
	if s, _ := w.look(Ask{}); s.Bases["main"].File != "" || rosterNames(s) != "?" {
		t.Errorf("%q", rosterNames(s))
	}
}

// seenBefore is what the store remembers.
var seenBefore = plan.Roster{Known: true, File: "01d", Entries: []plan.Entry{{Name: "rw/stored", From: "main"}}}

// What cannot be found out is not known, spoils nothing else, and is asked again. What the store remembers counts if the history has it, with nothing newer that may be
// readable, or has no version at all.
func TestRosterThatCannotBeFound(t *testing.T) {
	pastPart := func(n int, line, changes any) answerOf {
		return repoAnswer(obj{"object": obj{"oid": sha(n), "line": line, "changes": changes}})
	}
	without := connectionPart(false, obj{"file": nil})
	for name, tt := range map[string]struct {
		past  answerOf
		want  string
		tries int // queries of two looks
	}{
		"fault":               {answerOf{code: 500}, "?", 2},
		"not found":           {answerOf{code: 404, body: `{"message":"Not Found"}`}, "?", 2},
		"too heavy":           {answerOf{code: 502}, "?", 2},
		"null":                {repoAnswer(obj{"object": nil}), "?", 2},
		"other commit":        {pastPart(9, without, connectionPart(false)), "?", 2},
		"no line":             {pastPart(tipSHA, nil, connectionPart(false)), "?", 2},
		"an empty line":       {pastPart(tipSHA, connectionPart(false), connectionPart(false)), "?", 2},
		"no log":              {pastPart(tipSHA, without, nil), "?", 2},
		"a log without nodes": {pastPart(tipSHA, without, obj{"nodes": nil}), "?", 2},
		"in the log":          {pastPart(tipSHA, without, connectionPart(true, obj{"file": obj{"oid": sha(1)}})), "?", 1},
		"stored":              {pastPart(tipSHA, without, connectionPart(true, obj{"file": nil}, obj{"file": obj{"oid": "01d"}})), "?", 1},
		"newer than stored":   {pastPart(tipSHA, without, connectionPart(true, obj{"file": obj{"oid": sha(1)}}, obj{"file": obj{"oid": "01d"}})), "?", 1},
		"among the newest":    {pastPart(tipSHA, connectionPart(true, obj{"file": nil}, obj{"file": obj{"oid": sha(5)}}), connectionPart(false)), "?", 1},
		"never":               {pastPart(tipSHA, without, connectionPart(false)), "", 1},
	} {
		p := pullPart(1)
		p["baseRefName"] = "rw/a"
		repo := repoPart(p)
		repo["defaultBranchRef"] = basePart("main", "")
		repo["b0"] = basePart("rw/a", windowedText("none", "rw/a"))
		for _, stored := range []bool{false, true} {
			tries := 0
			hub := &fake{t: t}
			hub.say = func(r *http.Request, body string) answerOf {
				switch operation(body) {
				case "past":
					tries++
					return tt.past
				case "look", "bases":
					return repoAnswer(repo)
				}
				return answerOf{}
			}
			f := hub.forge(nil)
			ask, want := Ask{}, tt.want
			if stored {
				ask.Roster = seenBefore
				if name == "stored" || name == "never" {
					want = "rw/stored"
				}
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
	repo["defaultBranchRef"], repo["b0"] = basePart("main", ""), basePart("rw/a", policyText)
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
	if _, err := hub.forge(nil).Observe(t.Context(), testRepo, Ask{}); kindOf(err) != client.Limited {
		t.Error(err)
	}
}
