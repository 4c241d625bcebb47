package webhook

import (
	"github.com/gin-gonic/gin"

	"github.com/sluicegate/sluice/listen"
)

// The names under which deliveries are counted whose event is not one of GitHub's that we know.
const (
	eventOther    = "other"
	eventUnsigned = "unsigned"
)

// counts are the events that are counted under their own names.
var counts = map[string]bool{
	"push": true, "status": true, "pull_request": true, "pull_request_review": true, "check_suite": true, "check_run": true,
	"merge_group": true, "installation": true, "installation_repositories": true, "repository": true, "ping": true, EventFlux: true,
}

// eventKey is where a request keeps the event that it was signed for.
const eventKey = "event"

// isSigned notes that whoever has the secret sent a request: its connection gives way to nobody and, where there is
// room, stays for the next one.
func isSigned(c *gin.Context, event string) {
	if listen.Known(c.Request.Context()) {
		c.Header("Connection", "")
	}
	c.Set(eventKey, event)
}

// counted says what became of a delivery, once it is answered.
func (r *receiver) counted(c *gin.Context) {
	c.Next()
	if r.Answered == nil {
		return
	}
	event, signed := c.Get(eventKey)
	name, _ := event.(string)
	switch {
	case !signed:
		name = eventUnsigned
	case !counts[name]:
		name = eventOther
	}
	r.Answered(name, c.Writer.Status())
}
