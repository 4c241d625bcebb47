package web

import (
	"bytes"
	"context"
	_ "embed"
	"html/template"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
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
	Pages(ctx context.Context) ([]store.Page, error)
}

// Options is what the page needs. Source is required.
type Options struct {
	Source Source
	GitHub string          // where people see repositories, such as https://github.com; "": nothing is linked
	Ready  func() []string // why the service cannot work; nil: it always can
	// Lag says since when a repository's verdicts are not up to date, and why; "", or nil: they are.
	Lag func(plan.Repo) string
	// Metrics answers GET /metrics; nil: there are none.
	Metrics http.Handler
	Now     func() time.Time // nil: time.Now
	Log     *slog.Logger     // nil: nothing is logged
}

// New makes the handler of GET / and its style sheet.
func New(o Options) http.Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &site{Options: o, page: template.Must(template.New("page").Parse(pageHTML))}
	gin.SetMode(gin.ReleaseMode) // else gin prints to standard output
	e := gin.New()
	e.HandleMethodNotAllowed = true
	e.RedirectTrailingSlash = false
	e.Use(gin.CustomRecoveryWithWriter(nil, func(c *gin.Context, fault any) {
		o.Log.Error(logsPanic, "fault", fault, "stack", string(debug.Stack()))
		c.Status(http.StatusInternalServerError)
	}), guard)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		e.Handle(method, "/", s.index)
		e.Handle(method, "/style.css", style)
		if o.Metrics != nil {
			e.Handle(method, "/metrics", gin.WrapH(o.Metrics))
		}
	}
	return e
}

// guard says to browsers what the page may do: nothing but look like itself.
func guard(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
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
	page *template.Template
}

func (s *site) index(c *gin.Context) {
	now := s.Now()
	code := http.StatusOK
	pages, err := s.Source.Pages(c.Request.Context())
	v := s.view(pages, now)
	if err != nil {
		s.Log.Error(logsUnread, "error", err)
		code, v.Troubles = http.StatusServiceUnavailable, append(v.Troubles, saysUnread)
	}
	if seconds, ok := refreshes[c.Query("refresh")]; ok {
		v.Refresh = seconds
		c.Header("Refresh", strconv.Itoa(seconds))
	}
	// Drawn whole before anything is sent: half a page would look like all there is.
	var out bytes.Buffer
	if err := s.page.Execute(&out, v); err != nil {
		s.Log.Error(logsUndrawn, "error", err)
		c.String(http.StatusInternalServerError, saysUndrawn)
		return
	}
	c.Data(code, "text/html; charset=utf-8", out.Bytes())
}
