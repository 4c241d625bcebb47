// Package api answers programs: what was decided of a repository, why, when its windows are open and who did what, as JSON; and it edits the windows and freezes of the rules file
// for them. It decides nothing.
//
// Who may ask is GitHub's answer: every call carries the caller's own token, with which GitHub is asked what its owner may do in that repository. Who may read
// there may read here; whatever else there is does not exist (404), as at GitHub. What is written is written with the caller's token, so that GitHub's own rules and the caller's
// name stand: an edit is a pull request, or a commit where GitHub lets the caller push. What GitHub said counts for a minute, under a hash of the token: no token is kept,
// logged or written anywhere.
//
// How it fails: closed. A token that is none of GitHub's by its looks is not sent on; of those that GitHub does not know only a few are tried in a minute, for
// GitHub locks out an address that tries many. While GitHub cannot be asked, nobody is let in.
package api

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/config/edit"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/report"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/window"
)

// Source is what was decided and done. *store.Store is one.
type Source interface {
	Page(ctx context.Context, owner, name string) (store.Page, error)
	History(ctx context.Context, q store.Asked) ([]store.Act, error)
}

// Options is what the API needs. Source and Site are required.
type Options struct {
	Source Source
	// Site is GitHub for the owner of a token: by their own rights alone is anything read for them or written.
	Site func(token string) (Site, error)
	// Calendar is that of the default branch's file at the last look; nil: there is none, or none was yet.
	Calendar func(plan.Repo) *window.Calendar
	Open     bool             // reading takes no token: only this machine reaches us
	Now      func() time.Time // nil: time.Now
	Log      *slog.Logger     // nil: nothing is logged
}

//go:embed openapi.json
var description []byte

// askMost is how long an answer may take, with what GitHub is asked for it.
const askMost = 15 * time.Second

type server struct {
	Options
	door  *door
	turn  chan struct{} // full while a file is edited
	trees chan struct{} // full while a tree is listed for that
}

// New makes the handler of what lies below /api/v1.
func New(o Options) http.Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return newServer(o).handler()
}

func newServer(o Options) *server {
	return &server{o, newDoor(o), make(chan struct{}, 1), make(chan struct{}, 1)}
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(description) // a reader who left does not read it
	})
	for section, path := range map[edit.Section]string{edit.Windows: "/windows/{name}", edit.Freezes: "/freezes/{name}"} {
		mux.HandleFunc("PUT /api/v1/repos/{owner}/{repo}"+path, s.editing(section))
		mux.HandleFunc("DELETE /api/v1/repos/{owner}/{repo}"+path, s.editing(section))
	}
	for path, answer := range map[string]func(*http.Request, store.Page) (any, error){
		"": s.repository, "/pulls/{number}": s.pull, "/windows": s.windows, "/branches": branches, "/history": s.history,
	} {
		mux.HandleFunc("GET /api/v1/repos/{owner}/{repo}"+path, s.reading(answer))
	}
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		code := http.StatusNotFound
		for _, method := range []string{http.MethodGet, http.MethodPut} {
			if _, other := mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); other != "/api/" {
				code = http.StatusMethodNotAllowed
			}
		}
		s.problem(w, problem{code: code, says: r.Method + " of this path does not exist; see /api/v1/openapi.json"})
	})
	return mux
}

// problem is an answer that is none.
type problem struct {
	code     int
	says     string
	after    time.Duration    // when it is worth to ask again; 0: not by waiting
	findings []config.Finding // of the file
}

// Error implements error.
func (p problem) Error() string { return p.says }

var errNoToken = problem{code: http.StatusUnauthorized, says: "Authorization: Bearer TOKEN is missing: a token of your own for GitHub"}

var errNone = problem{code: http.StatusNotFound, says: "not found, or this token may not see it"}

func wrong(format string, args ...any) error {
	return problem{code: http.StatusBadRequest, says: fmt.Sprintf(format, args...)}
}

// problem answers by RFC 9457.
func (s *server) problem(w http.ResponseWriter, p problem) {
	w.Header().Set("Content-Type", "application/problem+json")
	if p.code == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if p.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(p.after/time.Second)+1))
	}
	w.WriteHeader(p.code)
	_ = json.NewEncoder(w).Encode(report.Problem{Type: "about:blank", Title: http.StatusText(p.code), Status: p.code, Detail: p.says, Findings: p.findings})
}

// reading answers who may read a repository.
func (s *server) reading(answer func(*http.Request, store.Page) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.reply(w, r, func(r *http.Request) (any, error) { return s.read(r, answer) })
	}
}

// reply gives an answer, or says why there is none.
func (s *server) reply(w http.ResponseWriter, r *http.Request, answer func(*http.Request) (any, error)) {
	ctx, cancel := context.WithTimeout(r.Context(), askMost)
	defer cancel()
	v, err := answer(r.WithContext(ctx))
	var p problem
	switch {
	case err == nil:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v) // a reader who left does not read it
	case errors.As(err, &p):
		s.problem(w, p)
	case ctx.Err() != nil: // the caller left, or it took too long
		s.problem(w, problem{code: http.StatusServiceUnavailable, says: "this took too long", after: time.Second})
	default:
		s.Log.Error("the API cannot answer", "error", err)
		s.problem(w, problem{code: http.StatusServiceUnavailable, says: "what was asked for cannot be read now", after: time.Second})
	}
}

// read lets in, and gives the answer. Whether there is a repository is told to those alone who may see it.
func (s *server) read(r *http.Request, answer func(*http.Request, store.Page) (any, error)) (any, error) {
	owner, name := r.PathValue("owner"), r.PathValue("repo")
	id, err := s.door.reader(r, owner, name)
	if err != nil {
		return nil, err
	}
	p, err := s.Source.Page(r.Context(), owner, name)
	switch {
	case errors.Is(err, store.ErrUnknown), err == nil && !s.door.same(id, p.Repo.ID):
		return nil, errNone
	case err != nil:
		return nil, err
	}
	return answer(r, p)
}
