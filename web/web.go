package web

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluicegate/sluice/login"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/window"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed style.css
	styleCSS []byte
	//go:embed page.js
	pageJS []byte
)

// Source gives what the pages show. *store.Store is one.
type Source interface {
	Repos(ctx context.Context) ([]store.Due, error)
	Pages(ctx context.Context, of store.Sight, show func(store.Page) error) error
	Page(ctx context.Context, owner, name string) (store.Page, error)
	History(ctx context.Context, q store.Asked) ([]store.Act, error)
	// News counts the changes of what the pages show.
	News(of store.Sight) uint64
}

// Options is what the pages need. Source is required.
type Options struct {
	Source Source
	Hosts  []string // under which the pages are reached beside loopback names, with or without ports; "" is none
	// Door lets people in by GitHub's word, and each sees what GitHub lets them read; nil: nobody is let in, but who needs no log-in.
	Door *login.Door
	// Local: requests from this machine for a loopback name need no log-in. Behind a proxy everybody is this machine.
	Local  bool
	GitHub string          // where people see repositories, such as https://github.com; "": nothing is linked
	Ready  func() []string // why the service cannot work; nil: it always can
	Lags   func() []string // what is not as it should be although it works, naming no repository; nil: nothing ever
	// Lag says since when a repository's verdicts are not up to date, and why; "", or nil: they are.
	Lag func(plan.Repo) string
	// Calendar is that of the file on a repository's default branch at the last look; nil: there is none, or none was yet. Calendar itself may be nil.
	Calendar func(plan.Repo) *window.Calendar
	// Metrics answers GET /metrics; nil: there are none.
	Metrics http.Handler
	// API answers what lies below /api/; nil: nothing does.
	API   http.Handler
	Ended <-chan struct{}  // closed once the service ends; nil: it never does
	Now   func() time.Time // nil: time.Now
	Log   *slog.Logger     // nil: nothing is logged
}

// New makes the handler of the pages, and of what they are made of.
func New(o Options) http.Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &site{
		Options: o, page: template.Must(template.New("page").Parse(pageHTML)), hosts: map[string]bool{}, turn: make(chan struct{}, 1), streamsOf: map[*login.Person]int{},
	}
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
	e.Use(sameOrigin, bounded)
	for path, answer := range map[string]gin.HandlerFunc{
		"/": s.index, "/history": s.past, "/events": s.events, "/:owner/:repo": s.repository, "/:owner/:repo/pull/:number": s.pull, "/:owner/:repo/branch/*name": s.branch,
		"/style.css": file("text/css; charset=utf-8", styleCSS), "/page.js": file("text/javascript; charset=utf-8", pageJS),
		"/login": s.begin, "/login/callback": s.arrive,
	} {
		e.GET(path, answer)
		e.HEAD(path, answer)
	}
	e.POST("/logout", s.leave)
	e.POST("/:owner/:repo/release", s.release)
	return e
}

// policy is what a page may do: look like itself, run our own script, which asks for the page again, and send its forms to us.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// guard says that to browsers.
func guard(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// sameOrigin refuses what another page sends in somebody's name.
func sameOrigin(c *gin.Context) {
	if err := http.NewCrossOriginProtection().Check(c.Request); err != nil {
		c.String(http.StatusForbidden, saysCrossOrigin)
		c.Abort()
	}
}

// formBytes is the longest form that is read.
const formBytes = 4 << 10

// bounded keeps what is sent to us short.
func bounded(c *gin.Context) {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, formBytes)
}

func file(kind string, body []byte) gin.HandlerFunc {
	return func(c *gin.Context) { c.Data(http.StatusOK, kind, body) }
}

type site struct {
	Options
	page   *template.Template
	hosts  map[string]bool // names of ours beside loopback
	turn   chan struct{}   // full while somebody draws
	last   []byte          // the latest page of all, and when it was drawn; whoever has the turn may use them
	lastAt time.Time
	logged time.Time // when a log-in that failed was logged last

	mu        sync.Mutex
	streams   int
	streamsOf map[*login.Person]int
}

// frame is what every page has.
func (s *site) frame(c *gin.Context, root, title string) frame {
	now := s.Now()
	f := frame{Title: title, Root: root, Now: momentOf(now, now, time.UTC), Reload: reloadAfter}
	s.tell(&f.Troubles, s.Ready)
	if s.local(c.Request) { // they tell of all installations
		s.tell(&f.Late, s.Lags)
	}
	return f
}

// tell adds what is to be said of the service itself.
func (s *site) tell(to *[]string, lines func() []string) {
	if lines == nil {
		return
	}
	for _, line := range lines() {
		if len(*to) < maxTroubles {
			*to = append(*to, plain(line))
		}
	}
}

// drawn draws a page whole, before anything of it is sent: half a page would look like all there is.
func (s *site) drawn(name string, page any) ([]byte, error) {
	var out bytes.Buffer
	if err := s.page.ExecuteTemplate(&out, name, page); err != nil {
		return nil, fmt.Errorf("%w: %w", errUndrawn, err)
	}
	return bytes.Clone(out.Bytes()), nil
}

var errUndrawn = errors.New("cannot render the page")

// reply sends a page, or one that says why there is none.
func (s *site) reply(c *gin.Context, body []byte, err error, name string, without func(wrong string) any) {
	code, wrong := http.StatusOK, ""
	switch {
	case err == nil, errors.Is(err, errUndrawn):
	case errors.Is(err, store.ErrUnknown):
		code, wrong = http.StatusNotFound, saysUnknown
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded): // many ask, or who asked left
		code, wrong = http.StatusServiceUnavailable, saysBusy
	default:
		s.Log.Error(logsUnread, "error", err)
		code, wrong = http.StatusServiceUnavailable, saysUnread
	}
	if wrong != "" {
		body, err = s.drawn(name, without(wrong))
	}
	s.replyAs(c, code, body, err)
}

// inTurn calls f once nobody else reads the store.
func (s *site) inTurn(ctx context.Context, f func(context.Context) error) error {
	waiting, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-waiting.Done():
		return waiting.Err()
	}
	return f(ctx)
}

// events tells a browser whenever there is something new to ask for, of what it may show.
func (s *site) events(c *gin.Context) {
	sees, ok := s.admit(c, s.frame(c, "./", ""))
	if !ok {
		return
	}
	person := s.person(c)
	if !s.stream(person, 1) {
		c.String(http.StatusServiceUnavailable, saysBusy) // they ask by the clock
		return
	}
	defer s.stream(person, -1)
	ctx, cancel := context.WithTimeout(c.Request.Context(), streamFor)
	defer cancel()
	c.Header("Content-Type", "text/event-stream")
	out := http.NewResponseController(c.Writer)
	tick := time.NewTicker(streamEvery)
	defer tick.Stop()
	var wrote time.Time
	for told := uint64(0); ; {
		says := ":\n\n" // nothing, so that nobody between us takes it for dead
		if now := s.Source.News(sees) + 1; now != told {
			told, says = now, "data:\n\n"
		}
		if says != ":\n\n" || time.Since(wrote) >= streamIdle {
			wrote = time.Now()
			_ = out.SetWriteDeadline(wrote.Add(turnWait)) // the server's own is for one answer
			if _, err := c.Writer.WriteString(says); err != nil || out.Flush() != nil {
				return
			}
		}
		select {
		case <-tick.C:
		case <-s.Ended:
			return
		case <-ctx.Done():
			return
		}
		if person != nil && s.person(c) != person { // they left, or their time is over
			return
		}
	}
}

// stream counts the streams of all and of one person; false: there are as many as may be.
func (s *site) stream(of *login.Person, n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > 0 && (s.streams >= maxStreams || of != nil && s.streamsOf[of] >= maxStreamsOfOne) {
		return false
	}
	s.streams += n
	if s.streamsOf[of] += n; s.streamsOf[of] == 0 {
		delete(s.streamsOf, of)
	}
	return true
}

// local reports whether a request needs no log-in.
func (s *site) local(r *http.Request) bool {
	return s.Local && isLoopback(r.RemoteAddr) && (hostname(r.Host) == "localhost" || isLoopback(r.Host))
}

func isLoopback(host string) bool {
	a, err := netip.ParseAddr(hostname(host))
	return err == nil && a.IsLoopback()
}
