package standin

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Comment is one on a pull request.
type Comment struct {
	ID        int64
	Pull      int
	By        Actor
	Via       int64 // the App that wrote it for that person; 0: none did
	Body      string
	CreatedAt time.Time // whole seconds, as all of GitHub's times
	UpdatedAt time.Time
	Edited    time.Time // zero: it was not

	asOf time.Time // since when it has been so
	gone bool      // it was deleted then
}

// Comments are those of the repository as reads showed them at an instant, zero: now, oldest first.
func (r *Repo) Comments(t time.Time) (shown []Comment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.comments {
		i := slices.IndexFunc(shown, func(o Comment) bool { return o.ID == c.ID })
		switch {
		case !t.IsZero() && c.asOf.After(t):
		case i < 0:
			shown = append(shown, c)
		default:
			shown[i] = c
		}
	}
	return slices.DeleteFunc(shown, func(c Comment) bool { return c.gone })
}

// Comment writes a comment on a pull request.
func (r *Repo) Comment(n int, by Actor, body string) (Comment, error) {
	return r.CommentVia(n, by, 0, body)
}

// CommentVia is Comment by an App that a person has let write in their name.
func (r *Repo) CommentVia(n int, by Actor, app int64, body string) (Comment, error) {
	return r.comment(Comment{ID: r.g.nextID(), Pull: n, By: by, Via: app, Body: body, CreatedAt: r.g.Now().Truncate(time.Second)}, "created", nil)
}

// EditComment changes a comment.
func (r *Repo) EditComment(c Comment, body string) error {
	was := c.Body
	c.Body, c.Edited = body, r.g.Now()
	_, err := r.comment(c, "edited", object{"changes": object{"body": object{"from": was}}})
	return err
}

// DeleteComment deletes a comment.
func (r *Repo) DeleteComment(c Comment) error {
	c.gone = true
	_, err := r.comment(c, "deleted", nil)
	return err
}

// comment keeps how a comment is now, and sends the event.
func (r *Repo) comment(c Comment, action string, extra object) (Comment, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.pull(c.Pull)
	if err != nil {
		return Comment{}, err
	}
	c.asOf = r.g.Now()
	c.UpdatedAt = c.asOf.Truncate(time.Second)
	r.comments = append(r.comments, c)
	p.UpdatedAt = c.asOf
	r.remember(p)
	r.notify(Event{Name: "issue_comment", Action: action, By: c.By, Pull: p, Comment: &c, Extra: extra})
	return c, nil
}

// Permission is what a person may do here: Read if nobody said otherwise, as everything is public.
func (r *Repo) Permission(login string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.permissions[strings.ToLower(login)]; p != "" {
		return p
	}
	return Read
}

// SetTeam sets who is an active member of a team of an account, OWNER/TEAM, and who was invited only.
func (g *GitHub) SetTeam(team string, active, pending []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	states := map[string]string{}
	for _, login := range active {
		states[strings.ToLower(login)] = "active"
	}
	for _, login := range pending {
		states[strings.ToLower(login)] = "pending"
	}
	g.teams[strings.ToLower(team)] = states
}

// Membership is the state of somebody's membership of a team.
func (g *GitHub) Membership(team, login string) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	state := g.teams[strings.ToLower(team)][strings.ToLower(login)]
	if state == "" {
		return "", fmt.Errorf("%s in %s: %w", login, team, ErrNotFound)
	}
	return state, nil
}
