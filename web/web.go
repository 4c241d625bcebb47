package web

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/window"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed style.css
	styleCSS []byte
)

// refreshes are the pauses in seconds at which the page may be asked to load itself again.
var refreshes = map[string]int{"10": 10, "60": 60}

// Source gives what the page shows. *store.Store and *store.Reader are one.
type Source interface {
	Pages(ctx context.Context, show func(store.Page) error) error
	Page(ctx context.Context, owner, name string) (store.Page, error)
	History(ctx context.Context, q store.Asked) ([]store.Act, error)
}

// Options is what the page needs. Source is required.
type Options struct {
	Source Source
	Hosts  []string        // under which the page is reached beside loopback names, with or without ports; "" is none
	GitHub string          // where people see repositories, such as https://github.com; "": nothing is linked
	Ready  func() []string // why the service cannot work; nil: it always can
	// Lag says since when a repository's verdicts are not up to date, and why; "", or nil: they are.
	Lag func(plan.Repo) string
	// Calendar is that of the file on a repository's default branch at the last look; nil: there is none, or none was yet. Calendar itself may be nil.
	Calendar func(plan.Repo) *window.Calendar
	// Metrics answers GET /metrics; nil: there are none.
	Metrics http.Handler
	// API answers what lies below /api/; nil: nothing does.
	API http.Handler
	Now func() time.Time // nil: time.Now
	Log *slog.Logger     // nil: nothing is logged
}

// New makes the handler of GET /, GET /history, the page of each pull request and their style sheet.
func New(o Options) http.Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &site{Options: o, page: template.Must(template.New("page").Parse(pageHTML)), hosts: map[string]bool{}, turn: make(chan struct{}, 1)}
	for _, host := range o.Hosts {
		s.hosts[hostname(host)] = true
	}
	gin.SetMode(gin.ReleaseMode) // else gin prints to standard output
	e := gin.New()
	e.HandleMethodNotAllowed = true
	e.RedirectTrailingSlash = false
	e.Use(gin.CustomRecoveryWithWriter(nil, func(c *gin.Context, fault any) {
		o.Log.Error(logsPanic, "fault", fault, "stack", string(debug.Stack()))
		c.Status(http.StatusInternalServerError)
	}), guard)
	if o.Metrics != nil { // Prometheus asks by whatever address it found, and they name nobody
		e.GET("/metrics", gin.WrapH(o.Metrics))
	}
	e.Use(s.refuseForeign)
	if o.API != nil {
		e.Any("/api/*path", gin.WrapH(o.API))
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		e.Handle(method, "/", s.index)
		e.Handle(method, "/history", s.past)
		e.Handle(method, "/:owner/:repo/pull/:number", s.pull)
		e.Handle(method, "/style.css", style)
	}
	return e
}

// policy is what a page may do: nothing but look like itself.
const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// formPolicy is that of a page with a form, which leads to itself.
var formPolicy = strings.Replace(policy, "form-action 'none'", "form-action 'self'", 1)

// guard says that to browsers.
func guard(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

func style(c *gin.Context) {
	c.Data(http.StatusOK, "text/css; charset=utf-8", styleCSS)
}

type site struct {
	Options
	page  *template.Template
	hosts map[string]bool // names of ours beside loopback
	turn  chan struct{}   // full while somebody draws
	last  *drawing        // the latest; whoever has the turn may use it
}

func (s *site) index(c *gin.Context) {
	d, err := s.drawing(c.Request.Context())
	var head bytes.Buffer
	if err == nil {
		v := d.view
		if seconds, ok := refreshes[c.Query("refresh")]; ok {
			v.Refresh = seconds
			c.Header("Refresh", strconv.Itoa(seconds))
		}
		err = s.page.ExecuteTemplate(&head, "head", v)
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		c.String(http.StatusServiceUnavailable, saysBusy)
	case err != nil:
		s.Log.Error(logsUndrawn, "error", err)
		c.String(http.StatusInternalServerError, saysUndrawn)
	default:
		// Drawn whole before anything is sent: half a page would look like all there is.
		c.Header("Content-Type", "text/html; charset=utf-8")
		c.Header("Content-Length", strconv.Itoa(head.Len()+len(d.body)))
		c.Status(d.code)
		_, _ = c.Writer.Write(head.Bytes()) // a reader who left does not read it
		_, _ = c.Writer.Write(d.body)
	}
}
