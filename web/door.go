package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluicegate/sluice/login"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// person is who is logged in; nil: nobody.
func (s *site) person(c *gin.Context) *login.Person {
	if s.Door == nil {
		return nil
	}
	return s.Door.Person(c.Request)
}

// personOf is how they are called.
func (s *site) personOf(c *gin.Context) string {
	if p := s.person(c); p != nil && !s.local(c.Request) {
		return plain(p.Login)
	}
	return ""
}

// loginPage says that somebody has to log in, or cannot be let in now.
type loginPage struct {
	frame
	To string // where they want to go; "": they are logged in
}

// admit gives what who asks may see: all of some repositories, or of all that we know. Who may see nothing gets an answer here.
func (s *site) admit(c *gin.Context, f frame, some ...plan.Repo) (sees store.Sight, ok bool) {
	if s.local(c.Request) {
		return nil, true
	}
	if s.Door == nil {
		c.String(http.StatusForbidden, saysNoLogin)
		return nil, false
	}
	person := s.Door.Person(c.Request)
	var err error
	if person != nil {
		if sees, err = s.sees(c.Request.Context(), person, some); err == nil && sees != nil {
			return sees, true
		}
	}
	f.Troubles, f.Title, f.Reload = nil, "sluice", 0
	page, code := loginPage{f, ""}, http.StatusServiceUnavailable
	switch {
	case person == nil || errors.Is(err, login.ErrOver):
		s.Door.Leave(c.Writer, c.Request)
		page.To, page.Wrong, code = c.Request.URL.RequestURI(), saysLogIn, http.StatusUnauthorized
	case c.Request.Context().Err() != nil:
		page.Wrong = saysBusy
	default:
		s.Log.Warn(logsNotAsked, "error", err)
		page.Wrong = saysNotAsked
	}
	body, err := s.drawn("login", page)
	s.replyAs(c, code, body, err)
	return nil, false
}

// sees asks GitHub what somebody may read of some repositories, or of all that we know. It is asked about what we do not know, too: how long an answer takes tells nothing.
func (s *site) sees(ctx context.Context, person *login.Person, some []plan.Repo) (store.Sight, error) {
	if len(some) == 0 {
		if err := s.inTurn(ctx, func(ctx context.Context) error {
			all, err := s.Source.Repos(ctx)
			for i := range all {
				some = append(some, all[i].Repo)
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	reads, err := person.Reads(ctx, some...)
	return store.Sight(reads), err
}

// replyAs sends a page with a status.
func (s *site) replyAs(c *gin.Context, code int, body []byte, err error) {
	if err != nil {
		s.Log.Error(logsUndrawn, "error", err)
		c.String(http.StatusInternalServerError, saysUndrawn)
		return
	}
	c.Data(code, "text/html; charset=utf-8", body)
}

// begin sends to GitHub who wants to log in.
func (s *site) begin(c *gin.Context) {
	if s.Door == nil {
		c.String(http.StatusNotFound, saysNoLogin)
		return
	}
	s.Door.Begin(c.Writer, c.Request)
}

// arrive is where GitHub sends them back to.
func (s *site) arrive(c *gin.Context) {
	if s.Door == nil {
		c.String(http.StatusNotFound, saysNoLogin)
		return
	}
	err := s.Door.Arrive(c.Writer, c.Request)
	if err == nil {
		return
	}
	s.mu.Lock()
	logs := s.Now().Sub(s.logged).Abs() >= loggedEvery
	if logs {
		s.logged = s.Now()
	}
	s.mu.Unlock()
	if logs {
		s.Log.Warn(logsNoLogin, "error", err)
	}
	c.String(http.StatusForbidden, saysRefused)
}

// leave ends a session.
func (s *site) leave(c *gin.Context) {
	if s.Door != nil {
		s.Door.Leave(c.Writer, c.Request)
	}
	c.Header("Location", "./")
	c.Status(http.StatusSeeOther)
}
