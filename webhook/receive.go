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

// The headers of a delivery that say what it is about, and which one it is.
const (
	headerEvent = "X-GitHub-Event"
	headerGUID  = "X-GitHub-Delivery"
)

// receiver takes deliveries.
type receiver struct {
	Options
	bodies budget

	unsigned, busy, unstored listen.Tally
}

// receive answers one delivery: it notes what matters, and answers once the note is durable.
func (r *receiver) receive(c *gin.Context) {
	p, done, ok := r.open(c)
	defer done()
	if !ok {
		return
	}
	event, guid := c.GetHeader(headerEvent), c.GetHeader(headerGUID)
	d := r.delivery(event, guid, p)
	if !matters(event, p, d.Echo) {
		say(c, http.StatusOK, saysNothing)
		return
	}
	// A sender who leaves must not take the note along: GitHub does not send again by itself.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), noteWait)
	defer cancel()
	fresh, err := r.Store.Note(ctx, d)
	if err == nil && !fresh {
		say(c, http.StatusOK, saysKnown)
		return
	}
	for _, h := range r.hints(d, p) {
		r.Poke(h) // if it could not be kept, too: what it was about is looked at as soon as the store works
	}
	if err != nil {
		if n := r.unstored.Count(r.Now()); n > 0 {
			r.Log.Error(logsUnstored, "event", event, "guid", guid, "repository", d.Repo.String(), "error", err, "refused", n)
		}
		say(c, http.StatusServiceUnavailable, saysUnstored)
		return
	}
	r.Log.Debug(logsAccepted, "event", event, "action", d.Action, "guid", guid, "repository", d.Repo.String(),
		"sender", d.Sender, "pull", p.Number)
	say(c, http.StatusAccepted, saysAccepted)
}

// open reads a delivery whose sender knows the secret; false: it was answered. Its bytes count until it is done with.
func (r *receiver) open(c *gin.Context) (p payload, done func(), ok bool) {
	sum, ok := claimed(c.Request.Header, githubSignature)
	if !ok {
		r.refuse(c, saysUnsigned)
		return p, func() {}, false
	}
	body, done, err := r.bodies.read(c.Request, MaxBody)
	if err != nil {
		r.unreceived(c, err)
		return p, done, false
	}
	if !signed(r.Secret, body, sum) {
		r.refuse(c, saysUnsigned)
		return p, done, false
	}
	event, guid := c.GetHeader(headerEvent), c.GetHeader(headerGUID)
	isSigned(c, event)
	if event == "" || guid == "" || len(event) > MaxHeader || len(guid) > MaxHeader {
		say(c, http.StatusBadRequest, saysNoGUID)
		return p, done, false
	}
	p, odd, err := parse(c.ContentType(), body)
	if err != nil {
		r.Log.Warn(logsUnread, "event", event, "guid", guid, "error", clean(err.Error(), MaxSays))
		say(c, http.StatusOK, saysUnread)
		return p, done, false
	}
	if odd != nil {
		r.Log.Warn(logsOdd, "event", event, "guid", guid, "error", clean(odd.Error(), MaxSays))
	}
	return p, done, true
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

// hints are what a delivery says: of its repository, and of those that an installation gained. One without either still says that the list of
// repositories may be another one.
func (r *receiver) hints(d store.Delivery, p payload) []Hint {
	event := d.Event
	if reported(event, p) {
		event = EventFlux
	}
	all := []Hint{{Repo: d.Repo, Named: named(d.Event, p, r.App), Event: event, Ours: d.Echo}}
	for _, repo := range d.Added {
		all = append(all, Hint{Repo: repo, Event: event, Ours: d.Echo})
	}
	return all
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
