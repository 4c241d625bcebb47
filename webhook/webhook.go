package webhook

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluicegate/sluice/listen"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// Noter keeps deliveries durably. It gives false for one that it keeps already. *store.Store is one.
type Noter interface {
	Note(ctx context.Context, d store.Delivery) (fresh bool, err error)
	// NoteReport keeps what Flux reported, gives the repository as it is known, and reports whether it was news. An unknown
	// repository is store.ErrUnknown.
	NoteReport(ctx context.Context, repo plan.Repo, r plan.Report, at time.Time) (known plan.Repo, news bool, err error)
}

// Hint is what a delivery says to whoever looks at repositories.
type Hint struct {
	Repo  plan.Repo    // without a name: about no one repository
	Named plan.Mention // of the repository
	Event string       // in GitHub's words, or EventFlux
	Ours  bool         // our own App is its sender
}

// Options is what the handler needs. Secret, Store and Poke are required.
type Options struct {
	Secret     []byte            // the App's webhook secret. Empty: every delivery is refused
	FluxSecret []byte            // for Flux's generic-hmac providers, each repository's token follows from it; empty: there is no POST /flux/OWNER/REPO
	Store      Noter             //
	Poke       func(Hint)        // called after the note is durable, or could not be kept; must not block
	Missed     func()            // called when a request was refused unread that may have been a delivery; must not block; nil: nobody wants to know
	Self       func() plan.Login // our App's bot, without "[bot]"; "" while it is not known: then nothing is taken for our own doing
	App        int64             // our App's number
	Ready      func() []string   // why the service cannot work, for /readyz; nil: it always can
	Lags       func() []string   // what it cannot do for some although it works, one line each; nil: nothing
	Now        func() time.Time  // nil: time.Now
	Log        *slog.Logger      // nil: nothing is logged
	// Answered is called after each delivery with its event and our answer's code: an event that counts for us, EventFlux, "other", or
	// "unsigned" for whatever nobody signed. nil: no one asks.
	Answered func(event string, code int)
}

// New makes the handler of POST /webhook, GET /healthz and GET /readyz, and of POST /flux/OWNER/REPO if it has a secret.
func New(o Options) http.Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if len(o.Secret) == 0 {
		o.Log.Error(logsNoSecret)
	}
	r := &receiver{Options: o, bodies: budget{left: MaxReading}}
	gin.SetMode(gin.ReleaseMode) // else gin prints to standard output
	e := gin.New()
	e.HandleMethodNotAllowed = true
	e.RedirectTrailingSlash = false
	e.Use(gin.CustomRecoveryWithWriter(nil, func(c *gin.Context, fault any) {
		o.Log.Error(logsPanic, "fault", fault, "stack", string(debug.Stack()))
		say(c, http.StatusInternalServerError, saysBug)
	}), oneEach)
	e.NoRoute(func(c *gin.Context) { say(c, http.StatusNotFound, saysNotFound) })
	e.NoMethod(func(c *gin.Context) { say(c, http.StatusMethodNotAllowed, saysNoMethod) })
	e.POST("/webhook", r.counted, r.receive)
	if len(o.FluxSecret) > 0 {
		e.POST("/flux/:owner/:repo", r.counted, r.receiveFlux)
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		e.Handle(method, "/healthz", func(c *gin.Context) { say(c, http.StatusOK, saysAlive) })
		e.Handle(method, "/readyz", r.ready)
	}
	return e
}

// NewServer makes a server with bounds against slow or long-winded senders, whose connections wait that long for another request. It logs
// nothing: what strangers do to a connection is none of the operator's business.
func NewServer(h http.Handler, idle time.Duration) *http.Server {
	return &http.Server{
		Handler: h, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		ReadHeaderTimeout: headerWait, ReadTimeout: bodyWait, WriteTimeout: answerWait, IdleTimeout: idle,
		MaxHeaderBytes: maxHeaders, ConnContext: listen.Context, ConnState: listen.State,
	}
}

// oneEach ends a connection with its first answer, or strangers would keep it for nothing. Who shows that he has the secret may send more over
// it ([isSigned]).
func oneEach(c *gin.Context) { c.Header("Connection", "close") }

// ready reports whether the service can do its work, and if not, why. What it cannot do for some is told beside, and is no reason to
// take its address away from all.
func (r *receiver) ready(c *gin.Context) {
	if r.Ready != nil {
		if reasons := r.Ready(); len(reasons) > 0 {
			say(c, http.StatusServiceUnavailable, wordsOfReasons(reasons))
			return
		}
	}
	text := saysReady
	if r.Lags != nil {
		text = wordsOfLags(r.Lags())
	}
	say(c, http.StatusOK, text)
}

// say answers in plain text.
func say(c *gin.Context, code int, text string) {
	c.Header("Content-Type", "text/plain; charset=utf-8")
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("Cache-Control", "no-store")
	c.Status(code)
	_, _ = io.WriteString(c.Writer, text+"\n") // a sender who left does not read it
	c.Abort()
}
