package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluicegate/sluice/login"
	"github.com/sluicegate/sluice/plan"
)

// person is who is logged in; nil: nobody.
func (s *site) person(c *gin.Context) *login.Person {
	if s.Door == nil {
		return nil
	}
	return s.Door.Person(c.Request)
}

// admit lets in who is logged in, and shows them what GitHub lets them read. Who is not is sent to log in.
func (s *site) admit(c *gin.Context, f frame) (frame, func(plan.Repo) bool) {
	if s.Door == nil {
		c.String(http.StatusForbidden, saysNoLogin)
		return f, nil
	}
	person := s.Door.Person(c.Request)
	if person == nil {
		if c.Request.URL.Path == "/events" { // no browser shows where it is sent to
			c.String(http.StatusForbidden, saysLogIn)
			return f, nil
		}
		f.Wrong, f.Title, f.Troubles, f.Lags, f.Reload = saysLogIn, "sluice", nil, nil, 0
		body, err := s.drawn("login", struct {
			frame
			To string
		}{f, c.Request.URL.RequestURI()})
		s.replyAs(c, http.StatusUnauthorized, body, err)
		return f, nil
	}
	f.Person = plain(person.Login)
	var may func(plan.Repo) bool
	err := s.inTurn(c.Request.Context(), func(ctx context.Context) error {
		all, err := s.Source.Repos(ctx)
		if err != nil {
			return err
		}
		repos := make([]plan.Repo, len(all))
		for i := range all {
			repos[i] = all[i].Repo
		}
		may, err = person.Reads(ctx, repos)
		return err
	})
	switch {
	case errors.Is(err, login.ErrOver):
		s.Door.Leave(c.Writer, c.Request)
		c.Header("Location", c.Request.URL.RequestURI())
		c.Status(http.StatusSeeOther)
		return f, nil
	case err != nil:
		s.Log.Warn(logsNotAsked, "error", err)
		f.Wrong = saysNotAsked
		body, err := s.drawn("login", struct {
			frame
			To string
		}{f, ""})
		s.replyAs(c, http.StatusServiceUnavailable, body, err)
		return f, nil
	}
	return f, may
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
	if err := s.Door.Arrive(c.Writer, c.Request); err != nil {
		s.Log.Warn(logsNoLogin, "error", err)
		c.String(http.StatusForbidden, saysRefused)
	}
}

// leave ends a session.
func (s *site) leave(c *gin.Context) {
	if s.Door != nil {
		s.Door.Leave(c.Writer, c.Request)
	}
	c.Header("Location", "./")
	c.Status(http.StatusSeeOther)
}
