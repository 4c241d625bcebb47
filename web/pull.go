package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/window"
)

// pullActs is how many acts the page of a pull request has.
const pullActs = 20

// pullPage is a pull request on a page of its own: why it waits, until when, and what was done.
type pullPage struct {
	Now        moment
	Repo, Link string
	Pull       int
	Looked     *moment
	verdict
	Windows []windowRow // those that it needs
	Others  []string    // what it needs that is no window
	At      string      // as it was asked for
	Then    string      // what its windows say at that instant
	Acts    []act
	Wrong   string // why nothing of this is known
}

// pull answers with the page of a pull request.
func (s *site) pull(c *gin.Context) {
	now := s.Now()
	in := plan.Repo{Owner: c.Param("owner"), Name: c.Param("repo")}
	p := pullPage{Now: momentOf(now, now), Repo: plain(in.String()), At: c.Query("at")}
	code := http.StatusOK
	var err error
	if p.Pull, err = strconv.Atoi(c.Param("number")); err != nil || p.Pull <= 0 {
		code, p.Wrong = http.StatusNotFound, saysNoPull
	} else if err := s.inTurn(c.Request.Context(), func(ctx context.Context) error { return s.explain(ctx, &p, in, now) }); err != nil {
		code, p.Wrong = http.StatusServiceUnavailable, s.unread(err)
	} else if p.Wrong != "" {
		code = http.StatusNotFound
	}
	s.answer(c, code, "pull", p)
}

// answer draws a page that has a form.
func (s *site) answer(c *gin.Context, code int, name string, page any) {
	var out bytes.Buffer
	if err := s.page.ExecuteTemplate(&out, name, page); err != nil {
		s.Log.Error(logsUndrawn, "error", err)
		c.String(http.StatusInternalServerError, saysUndrawn)
		return
	}
	c.Header("Content-Security-Policy", formPolicy)
	c.Data(code, "text/html; charset=utf-8", out.Bytes())
}

// unread is what people read where the store cannot be read.
func (s *site) unread(err error) string {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) { // many ask, or who asked left
		return saysBusy
	}
	s.Log.Error(logsUnread, "error", err)
	return saysUnread
}

// explain reads what is known of a pull request.
func (s *site) explain(ctx context.Context, p *pullPage, in plan.Repo, now time.Time) error {
	page, err := s.Source.Page(ctx, in.Owner, in.Name)
	if errors.Is(err, store.ErrUnknown) {
		p.Wrong = saysNoPull
		return nil
	}
	if err != nil {
		return err
	}
	p.Repo, p.Link, p.Looked = plain(page.Repo.String()), s.link(page.Repo), optional(page.Looked, now)
	i := slices.IndexFunc(page.Verdicts, func(v plan.Verdict) bool { return v.Subject.Pull == p.Pull })
	if i < 0 {
		p.Wrong = saysNoPull
		p.verdict = verdict{Link: s.link(page.Repo, "pull", strconv.Itoa(p.Pull))}
	} else {
		p.verdict = s.verdict(page.Repo, page.Verdicts[i], now)
		s.needs(p, page, page.Verdicts[i].Releases, now)
	}
	acts, err := s.Source.History(ctx, store.Asked{Owner: page.Repo.Owner, Name: page.Repo.Name, Pull: p.Pull, Statuses: true, Newest: true, Most: pullActs})
	if errors.Is(err, store.ErrUnknown) {
		err = nil
	}
	for _, a := range acts {
		p.Acts = append(p.Acts, s.act(page.Repo, a, now))
	}
	return err
}

// needs shows the windows that a pull request needs, and what they say at the instant that was asked for.
func (s *site) needs(p *pullPage, in store.Page, releases []layout.Release, now time.Time) {
	var c *window.Calendar
	if s.Calendar != nil {
		c = s.Calendar(in.Repo)
	}
	names, steps := []window.Name{}, pageSteps
	for _, r := range releases {
		if c == nil || !c.Has(window.Name(r)) {
			p.Others = append(p.Others, plain(string(r)))
			continue
		}
		names = append(names, window.Name(r))
		p.Windows = append(p.Windows, windowOf(c, window.Name(r), now, &steps))
	}
	if p.At == "" {
		return
	}
	zone := time.UTC
	if len(names) > 0 {
		zone = c.Zone(names[0])
	}
	at, err := time.ParseInLocation("2006-01-02T15:04", p.At, zone)
	if err != nil {
		at, err = time.Parse(time.RFC3339, p.At)
	}
	switch {
	case err != nil:
		p.Then = fmt.Sprintf(saysNoInstant, plain(p.At))
	case c == nil:
		p.Then = saysNoCalendar
	default:
		p.Then = thenOf(c, names, at, zone)
	}
}

// thenOf is what windows say at an instant.
func thenOf(c *window.Calendar, names []window.Name, at time.Time, zone *time.Location) string {
	j := c.Joint(names, at)
	says := plan.Clock(at, zone) + ": its windows would release it"
	if !j.Releasable {
		says = plan.Clock(at, zone) + ": it would be held by " + plain(strings.Join(config.Strings(j.Closed), ", "))
	}
	if !j.Until.IsZero() {
		says += " until " + plan.Clock(j.Until, zone)
	}
	return says
}

// PlaceOf is the page of a pull request, from the page of all; "": it has none.
func PlaceOf(in plan.Repo, pull int) string {
	if pull == 0 {
		return ""
	}
	return url.PathEscape(in.Owner) + "/" + url.PathEscape(in.Name) + "/pull/" + strconv.Itoa(pull)
}
