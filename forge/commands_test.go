package forge

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
)

const overridePolicy = policyText + "override:\n  by: [\"user:alice\", \"user:left\", \"team:acme/sre\", \"team:elsewhere/sre\", \"permission:maintain\"]\n"

// overridden is a world with one pull request, and a file that lets some people release it.
func overridden(t *testing.T) (w *world, n int, line string) {
	t.Helper()
	w = newWorld(t, map[string]string{config.File: overridePolicy})
	n = w.open("a", "a.yaml")
	for login, permission := range map[string]string{"alice": standin.Write, "bob": standin.Write, "maria": "maintain", "adam": standin.Admin, "tom": standin.Triage} {
		w.r.SetPermission(login, permission)
	}
	w.hub.SetTeam("acme/sre", []string{"sam"}, []string{"penny"})
	w.hub.SetTeam("elsewhere/sre", []string{"mallory"}, nil)
	return w, n, "/sluice release " + w.r.Tip("a")[:7] + " the shop is down"
}

// TestWhoMayRelease: each door for those who may and those who may not. Whom the file names by login must be able to write: a login that was
// given up may be somebody else's now.
func TestWhoMayRelease(t *testing.T) {
	for by, want := range map[string]plan.Permit{
		"alice": plan.Permitted, "ALICE": plan.Permitted, "left": plan.Forbidden, "bob": plan.Forbidden, "maria": plan.Permitted, "adam": plan.Permitted,
		"tom": plan.Forbidden, "sam": plan.Permitted, "penny": plan.Forbidden, "mallory": plan.Forbidden,
	} {
		t.Run(by, func(t *testing.T) {
			w, n, line := overridden(t)
			c, err := w.r.Comment(n, standin.Person(by), line+"\nmore of it")
			w.must(err)
			s, _ := w.look(Ask{})
			if len(s.Commands) != 1 {
				t.Fatalf("read %+v", s.Commands)
			}
			got := s.Commands[0]
			if got.ID != c.ID || got.Pull != n || got.By != plan.Login(by) || !got.At.Equal(c.CreatedAt) || got.Verb != plan.ToRelease || got.Reason != "the shop is down" || got.Permit != want {
				t.Errorf("read %+v, want permit %d", got, want)
			}
		})
	}
}

// TestWhoMayUndo: whoever may release, and whoever may write; whoever may write may have a refusal tried again.
func TestWhoMayUndo(t *testing.T) {
	for by, want := range map[string][2]plan.Permit{
		"alice": {plan.Permitted, plan.Permitted}, "bob": {plan.Permitted, plan.Permitted}, "sam": {plan.Permitted, plan.Forbidden}, "tom": {plan.Forbidden, plan.Forbidden},
		"mallory": {plan.Forbidden, plan.Forbidden},
	} {
		w, n, _ := overridden(t)
		for _, line := range []string{"/sluice undo", "/sluice recheck"} {
			_, err := w.r.Comment(n, standin.Person(by), line)
			w.must(err)
		}
		s, _ := w.look(Ask{})
		if len(s.Commands) != 2 || s.Commands[1].Permit != want[0] || s.Commands[0].Permit != want[1] {
			t.Errorf("%s: read %+v, want %v", by, s.Commands, want)
		}
	}
}

// TestWhatSaysNothing: no App, nobody by an App, nothing that was edited, deleted, quoted or fenced, and nothing too old.
func TestWhatSaysNothing(t *testing.T) {
	w, n, line := overridden(t)
	say := func(by standin.Actor, body string) standin.Comment {
		c, err := w.r.Comment(n, by, body)
		w.must(err)
		return c
	}
	alice := standin.Person("alice")
	say(w.hub.Bot(), line)
	_, err := w.r.CommentVia(n, alice, 99, line)
	w.must(err)
	for _, body := range []string{"> " + line, "```\n" + line + "\n```", "please:\n" + line, " " + line, "\n" + line, "/sluice release", "/sluice release abc reason", "/sluice undo it", "/sluicerelease"} {
		say(alice, body)
	}
	w.must(w.r.DeleteComment(say(alice, line)))
	edited := say(alice, "hello")
	edited.CreatedAt = edited.CreatedAt.Add(-time.Minute)
	w.must(w.r.EditComment(edited, line))
	s, sent := w.look(Ask{})
	if s.Commands == nil || len(s.Commands) != 0 || sent["GET /repos/{owner}/{repo}/collaborators/{username}/permission"] != 0 {
		t.Errorf("read %+v with %v", s.Commands, sent)
	}
	_, err = w.r.CommentVia(n, alice, appID, line) // on our own pages
	w.must(err)
	if s, _ := w.look(Ask{}); len(s.Commands) != 1 || s.Commands[0].Permit != plan.Permitted {
		t.Errorf("read %+v", s.Commands)
	}
	w.forge.now = func() time.Time { return time.Now().Add(5 * time.Hour) }
	if s, _ := w.look(Ask{At: time.Now()}); len(s.Commands) != 0 {
		t.Errorf("after it ended: read %+v", s.Commands)
	}
}

// TestEditedWithinTheSecond: whoever may write may edit what others wrote, and by REST's whole seconds that looks as it was written.
func TestEditedWithinTheSecond(t *testing.T) {
	w, n, line := overridden(t)
	c, err := w.r.Comment(n, standin.Person("alice"), "looks good")
	w.must(err)
	for now := c; now.Edited.IsZero() || !now.UpdatedAt.Equal(now.CreatedAt); now = w.r.Comments(time.Time{})[0] {
		c.CreatedAt = time.Now().Truncate(time.Second)
		w.must(w.r.EditComment(c, line))
	}
	s, _ := w.look(Ask{})
	if len(s.Commands) != 1 || s.Commands[0].Permit != plan.Forbidden {
		t.Errorf("read %+v", s.Commands)
	}
}

// TestNobodyIsAskedWithout: with no override in any file nothing of this exists; with one it is a request a look, and none about people as long as nobody says anything.
func TestNobodyIsAskedWithout(t *testing.T) {
	const comments, permission = "GET /repos/{owner}/{repo}/issues/comments", "GET /repos/{owner}/{repo}/collaborators/{username}/permission"
	w := newWorld(t, nil)
	n := w.open("a", "a.yaml")
	_, err := w.r.Comment(n, standin.Person("alice"), "/sluice release "+w.r.Tip("a")+" now")
	w.must(err)
	if s, sent := w.look(Ask{}); s.Commands != nil || sent[comments]+sent[permission] != 0 {
		t.Errorf("read %+v with %v", s.Commands, sent)
	}
	w, n, line := overridden(t)
	if s, sent := w.look(Ask{}); s.Commands == nil || sent[comments] != 1 || sent[permission] != 0 {
		t.Errorf("read %+v with %v", s.Commands, sent)
	}
	_, err = w.r.Comment(n, standin.Person("mallory"), "/sluice release 0123456 another head")
	w.must(err)
	_, err = w.r.Comment(n, standin.Person("alice"), line)
	w.must(err)
	for _, asked := range []int{1, 0} {
		if _, sent := w.look(Ask{}); sent[permission] != asked {
			t.Errorf("asked %d times about people, want %d, as another head matters to nobody and an answer counts for a minute: %v", sent[permission], asked, sent)
		}
	}
}

// TestWhatIsNotKnownRefuses: where comments cannot be read nobody released anything; where a person cannot be asked about, they did not. All else
// of the look goes on, and once GitHub answers it counts.
func TestWhatIsNotKnownRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		body string
		code int
		none bool // nothing is read at all
	}{
		"comments are refused": {"/repos/{owner}/{repo}/issues/comments", `{"message": "Resource not accessible by integration"}`, http.StatusForbidden, true},
		"comments are gone":    {"/repos/{owner}/{repo}/issues/comments", `{"message": "Not Found"}`, http.StatusNotFound, true},
		"comments fail":        {"/repos/{owner}/{repo}/issues/comments", ``, http.StatusBadGateway, true},
		"comments are no list": {"/repos/{owner}/{repo}/issues/comments", `{"a": 1}`, http.StatusOK, true},
		"permission fails":     {"/repos/{owner}/{repo}/collaborators/{username}/permission", ``, http.StatusBadGateway, false},
		"permission is null":   {"/repos/{owner}/{repo}/collaborators/{username}/permission", `null`, http.StatusOK, false},
		"permission is empty":  {"/repos/{owner}/{repo}/collaborators/{username}/permission", `{}`, http.StatusOK, false},
		"membership refused":   {"/orgs/{org}/teams/{team_slug}/memberships/{username}", `{"message": "Resource not accessible by integration"}`, http.StatusForbidden, false},
		"membership is empty":  {"/orgs/{org}/teams/{team_slug}/memberships/{username}", `{}`, http.StatusOK, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, n, line := overridden(t)
			_, err := w.r.Comment(n, standin.Person("sam"), line)
			w.must(err)
			w.options.Transport = w.hub.Transport() // what conforms to no description is answered, too
			w.unlimited()
			healed := w.hub.Fault(api.Fault{Path: c.path, Status: c.code, Body: c.body, Times: -1})
			s, _ := w.look(Ask{})
			if p := w.pull(s, n); p.Unread.Is() || s.Again.IsZero() {
				t.Errorf("read %+v, again %s", p.Unread, s.Again)
			}
			if c.none != (s.Commands == nil) || !c.none && (len(s.Commands) != 1 || s.Commands[0].Permit != plan.PermitUnknown) {
				t.Errorf("read %+v", s.Commands)
			}
			healed()
			w.forge.now = func() time.Time { return time.Now().Add(20 * time.Minute) }
			if s, _ := w.look(Ask{}); len(s.Commands) != 1 || s.Commands[0].Permit != plan.Permitted {
				t.Errorf("later: read %+v", s.Commands)
			}
		})
	}
}

// TestACommentThatGraphQLDoesNotShowYet: it does not count, and is asked for again soon.
func TestACommentThatGraphQLDoesNotShowYet(t *testing.T) {
	w, n, line := overridden(t)
	_, err := w.r.Comment(n, standin.Person("alice"), line)
	w.must(err)
	healed := w.hub.Fault(api.Fault{
		Path: "/graphql", Contains: "query talk", Times: -1, Status: http.StatusOK, Body: `{"data": {"repository": {"p0": {"comments": {"nodes": []}}}, "rateLimit": {"cost": 1}}}`,
	})
	s, _ := w.look(Ask{})
	if len(s.Commands) != 1 || s.Commands[0].Permit != plan.PermitUnknown || s.Again.IsZero() || time.Until(s.Again) > 10*time.Second {
		t.Errorf("read %+v, again %s", s.Commands, s.Again)
	}
	healed()
	if s, _ := w.look(Ask{}); len(s.Commands) != 1 || s.Commands[0].Permit != plan.Permitted || !s.Again.IsZero() {
		t.Errorf("read %+v, again %s", s.Commands, s.Again)
	}
}

// TestCommentsAreBounded: a flood of comments costs so many requests, and keeps nobody from taking back what was released.
func TestCommentsAreBounded(t *testing.T) {
	w, n, line := overridden(t)
	_, err := w.r.Comment(n, standin.Person("alice"), line)
	w.must(err)
	for i := range commentsPage*maxCommentPages + 10 {
		_, err := w.r.Comment(n, standin.Person(fmt.Sprint("stranger", i)), line)
		w.must(err)
	}
	_, err = w.r.Comment(n, standin.Person("alice"), "/sluice undo")
	w.must(err)
	s, sent := w.look(Ask{})
	asked := sent["GET /repos/{owner}/{repo}/collaborators/{username}/permission"] + sent["GET /orgs/{org}/teams/{team_slug}/memberships/{username}"]
	if sent["GET /repos/{owner}/{repo}/issues/comments"] != maxCommentPages || asked > maxPermits {
		t.Errorf("%v", sent)
	}
	if len(s.Commands) != commentsPage*maxCommentPages || s.Commands[0].Verb != plan.ToUndo || s.Commands[0].Permit != plan.Permitted || s.Again.IsZero() {
		t.Errorf("read %d: %+v", len(s.Commands), s.Commands[0])
	}
}
