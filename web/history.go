package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// historyRows is how many acts one page of the history has.
const historyRows = 100

// history is a page of it, the newest act first.
type history struct {
	frame
	Repo, Pull, Branch, Since string // as they were asked for
	Statuses                  bool   // likewise
	Rows                      []pastRow
	Older                     string // the next page; "": this is the last one
}

// pastRow is an act of some repository.
type pastRow struct {
	act
	Repo, Place string
}

// past answers with what a request asks for of the history.
func (s *site) past(c *gin.Context) {
	f := s.frame(c, "./", "sluice · history")
	f.Reload = 0 // somebody reads it
	h := history{frame: f, Repo: c.Query("repo"), Pull: c.Query("pull"), Branch: c.Query("branch"), Since: c.Query("since"), Statuses: c.Query("statuses") != ""}
	q, err := h.asked(c.Query("after"))
	if err != nil {
		if _, ok := s.admit(c, f); !ok {
			return
		}
		h.Wrong = plain(err.Error())
		body, err := s.drawn("history", h)
		s.replyAs(c, http.StatusBadRequest, body, err)
		return
	}
	var some []plan.Repo
	if q.Name != "" {
		some = []plan.Repo{{Owner: q.Owner, Name: q.Name}}
	}
	var ok bool
	if q.Sight, ok = s.admit(c, f, some...); !ok {
		return
	}
	h.Person = s.personOf(c)
	var body []byte
	err = s.inTurn(c.Request.Context(), func(ctx context.Context) error {
		err := s.read(ctx, &h, q)
		if err == nil {
			body, err = s.drawn("history", h)
		}
		return err
	})
	s.reply(c, body, err, "history", func(wrong string) any { h.Wrong = wrong; return h })
}

// historyQuery asks for all that was done about a pull request, or a branch.
func historyQuery(repo string, pull int, branch plan.Branch) string {
	v := url.Values{"repo": {repo}, "statuses": {"on"}}
	if pull != 0 {
		v.Set("pull", strconv.Itoa(pull))
	}
	if branch != "" {
		v.Set("branch", string(branch))
	}
	return v.Encode()
}

// asked is what the fields ask for, on the page that begins after a place.
func (h *history) asked(after string) (q store.Asked, err error) {
	q = store.Asked{Branch: plan.Branch(h.Branch), Statuses: h.Statuses, Newest: true, Most: historyRows + 1}
	if h.Repo != "" {
		var ok bool
		if q.Owner, q.Name, ok = strings.Cut(h.Repo, "/"); !ok || q.Owner == "" || q.Name == "" {
			return q, fmt.Errorf("repository %q: want OWNER/NAME", h.Repo)
		}
	}
	if h.Pull != "" {
		if q.Pull, err = strconv.Atoi(strings.TrimPrefix(h.Pull, "#")); err != nil || q.Pull <= 0 {
			return q, fmt.Errorf("pull request %q: want its number", h.Pull)
		}
	}
	if h.Since != "" {
		if q.Since, err = time.Parse(time.DateOnly, h.Since); err != nil {
			return q, fmt.Errorf("since %q: want a day, such as 2026-11-23", h.Since)
		}
	}
	if after != "" {
		if q.After, err = store.ParsePlace(after); err != nil {
			return q, fmt.Errorf("page %q: there is none", after)
		}
	}
	return q, nil
}

// read reads the rows of a page.
func (s *site) read(ctx context.Context, h *history, q store.Asked) error {
	found, err := s.Source.History(ctx, q)
	if errors.Is(err, store.ErrUnknown) {
		return nil // it has no history
	}
	if len(found) > historyRows {
		found = found[:historyRows]
		asked := url.Values{"repo": {h.Repo}, "pull": {h.Pull}, "branch": {h.Branch}, "since": {h.Since}, "after": {found[historyRows-1].Place().String()}}
		if h.Statuses {
			asked.Set("statuses", "on")
		}
		h.Older = "?" + asked.Encode()
	}
	for _, a := range found {
		h.Rows = append(h.Rows, pastRow{act: s.act(a.Repo, a, s.Now()), Repo: plain(a.Repo.String()), Place: h.Root + PlaceOf(a.Repo, 0, "")})
	}
	return err
}
