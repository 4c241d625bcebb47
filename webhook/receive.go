package webhook

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluicegate/sluice/listen"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// receiver takes deliveries.
type receiver struct {
	Options
	bodies budget

	unsigned, busy, unstored listen.Tally
}

// receive answers one delivery.
func (r *receiver) receive(c *gin.Context) {
	sum, ok := claimed(c.Request.Header, githubSignature)
	if !ok {
		r.refuse(c, saysUnsigned)
		return
	}
	body, done, err := r.bodies.read(c.Request, MaxBody)
	defer done()
	if err != nil {
		r.unreceived(c, err)
		return
	}
	if !signed(r.Secret, body, sum) {
		r.refuse(c, saysUnsigned)
		return
	}
	event, guid := c.GetHeader("X-GitHub-Event"), c.GetHeader("X-GitHub-Delivery")
	isSigned(c, event)
	if event == "" || guid == "" || len(event) > MaxHeader || len(guid) > MaxHeader {
		say(c, http.StatusBadRequest, saysNoGUID)
		return
	}
	p, odd, err := parse(c.ContentType(), body)
	if err != nil {
		r.Log.Warn(logsUnread, "event", event, "guid", guid, "error", clean(err.Error(), MaxSays))
		say(c, http.StatusOK, saysUnread)
		return
	}
	if odd != nil {
		r.Log.Warn(logsOdd, "event", event, "guid", guid, "error", clean(odd.Error(), MaxSays))
	}
	r.accept(c, event, guid, p)
}

// accept notes what matters, and answers once the note is durable.
func (r *receiver) accept(c *gin.Context, event, guid string, p payload) {
	d := r.delivery(event, guid, p)
	if !matters(event, p, d.Echo) {
		say(c, http.StatusOK, saysNothing)
		return
	}
	// A sender who leaves must not take the note along: GitHub does not send again by itself.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), noteWait)
	defer cancel()
	hint := Hint{Repo: d.Repo, Named: named(event, p, r.App), Event: event, Ours: d.Echo}
	if reported(event, p) {
		hint.Event = EventFlux
	}
	fresh, err := r.Store.Note(ctx, d)
	switch {
	case err != nil:
		if n := r.unstored.Count(r.Now()); n > 0 {
			r.Log.Error(logsUnstored, "event", event, "guid", guid, "repository", d.Repo.String(), "error", err, "refused", n)
		}
		r.poke(d, hint) // GitHub does not send it again by itself: what it was about is looked at as soon as the store works
		say(c, http.StatusServiceUnavailable, saysUnstored)
	case !fresh:
		say(c, http.StatusOK, saysKnown)
	default:
		r.poke(d, hint)
		r.Log.Debug(logsAccepted, "event", event, "action", d.Action, "guid", guid, "repository", d.Repo.String(),
			"sender", d.Sender, "pull", p.Number)
		say(c, http.StatusAccepted, saysAccepted)
	}
}

// delivery is what is kept of a payload.
func (r *receiver) delivery(event, guid string, p payload) store.Delivery {
	sender, bot := p.sender()
	d := store.Delivery{
		GUID: guid, Event: event, Action: p.Action[:min(len(p.Action), MaxHeader)], Repo: p.about(), Sender: sender, At: r.Now(),
		Echo: echoes(event) && bot && sender != "" && sender == r.Self(),
	}
	switch event {
	case "merge_group":
		d.Group, d.Reason = p.group(), p.Reason[:min(len(p.Reason), MaxHeader)]
	case "installation":
		switch p.Action {
		case "created":
			d.Added = p.repos(p.Repositories)
		case "deleted":
			d.Removed = p.repos(p.Repositories)
			d.Uninstalled = max(p.Installation.ID, 0) // the list may be cut
		}
	case "installation_repositories":
		d.Added, d.Removed = p.repos(p.Added), p.repos(p.Removed)
	case "repository":
		if p.Action == "deleted" && d.Repo.Name != "" {
			d.Removed, d.Repo = []plan.Repo{d.Repo}, plan.Repo{}
		}
	}
	if p.Repositories.more || p.Added.more || p.Removed.more {
		r.Log.Warn(logsManyRepos, "most", MaxRepositories, "guid", guid)
	}
	return d
}

// poke tells of a delivery: of its repository, and of those that an installation gained. One without
// either still tells that the list of repositories may be another one.
func (r *receiver) poke(d store.Delivery, hint Hint) {
	r.Poke(hint)
	for _, repo := range d.Added {
		r.Poke(Hint{Repo: repo, Event: hint.Event, Ours: hint.Ours})
	}
}

// refuse answers a request that nobody signed who has the secret.
func (r *receiver) refuse(c *gin.Context, says string) {
	if n := r.unsigned.Count(r.Now()); n > 0 {
		r.Log.Warn(logsUnsigned, "refused", n)
	}
	say(c, http.StatusUnauthorized, says)
}

// unreceived answers a request whose body did not arrive whole. It may have been a delivery, which GitHub does not send again by itself.
func (r *receiver) unreceived(c *gin.Context, err error) {
	switch {
	case errors.Is(err, errTooLong):
		say(c, http.StatusRequestEntityTooLarge, saysTooLong)
		return
	case errors.Is(err, errBusy):
		if n := r.busy.Count(r.Now()); n > 0 {
			r.Log.Error(logsBusy, "refused", n)
		}
		say(c, http.StatusServiceUnavailable, saysBusy)
	default:
		say(c, http.StatusBadRequest, saysCut)
	}
	if r.Missed != nil {
		r.Missed()
	}
}
