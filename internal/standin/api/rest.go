package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing/iotest"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

const (
	contentType = "application/json; charset=utf-8"
	docsURL     = "https://docs.github.com/rest"
	maxBody     = 32 << 20 // of a request; GitHub's own largest is a file of 25 MB
)

// Pages of lists: https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
const (
	defaultPerPage = 30
	maxPerPage     = 100
)

// object is a JSON object.
type object = map[string]any

// call is one request of REST on its way through a route.
type call struct {
	s   *Server
	r   *http.Request
	who caller
}

// answer is a route's answer: a body for JSON, and the Link header. One that comes with an error is not sent.
type answer struct {
	status int
	body   any
	link   string
}

func ok(body any) (answer, error) { return answer{status: http.StatusOK, body: body}, nil }

// endpoint is a function of the API, repoEndpoint one of a repository that the caller sees.
type (
	endpoint     func(c *call) (answer, error)
	repoEndpoint func(c *call, r *standin.Repo) (answer, error)
)

// endpoints are all of REST, by patterns of http.ServeMux.
func (s *Server) endpoints() map[string]endpoint {
	return map[string]endpoint{
		"GET /app":                       asApp(s.getApp),
		"GET /app/installations":         asApp(s.listInstallations),
		"GET /apps/{app_slug}":           s.getAppBySlug,
		"GET /installation/repositories": s.listInstalled,
		"POST /app/installations/{installation_id}/access_tokens":                      asApp(s.createToken),
		"GET /repos/{owner}/{repo}/installation":                                       asApp(s.repoInstallation),
		"GET /repos/{owner}/{repo}/branches/{branch...}":                               inRepo(getBranch),
		"GET /repos/{owner}/{repo}/commits/{ref}/statuses":                             inRepo(listStatuses),
		"GET /repos/{owner}/{repo}/compare/{basehead...}":                              inRepo(compare),
		"GET /repos/{owner}/{repo}/git/ref/{ref...}":                                   inRepo(getRef),
		"DELETE /repos/{owner}/{repo}/git/refs/{ref...}":                               inRepo(writing(deleteRef)),
		"GET /repos/{owner}/{repo}/git/trees/{tree_sha}":                               inRepo(getTree),
		"POST /repos/{owner}/{repo}/git/trees":                                         inRepo(writing(asked(createTree))),
		"POST /repos/{owner}/{repo}/git/commits":                                       inRepo(writing(asked(createCommit))),
		"POST /repos/{owner}/{repo}/git/refs":                                          inRepo(writing(asked(createRef))),
		"PATCH /repos/{owner}/{repo}/git/refs/{ref...}":                                inRepo(writing(asked(updateRef))),
		"GET /repos/{owner}/{repo}/collaborators/{username}/permission":                inRepo(getPermission),
		"GET /repos/{owner}/{repo}/issues/comments":                                    inRepo(listComments),
		"POST /repos/{owner}/{repo}/issues/{issue_number}/comments":                    inRepo(asked(createComment)),
		"GET /orgs/{org}/teams/{team_slug}/memberships/{username}":                     s.getMembership,
		"GET /repos/{owner}/{repo}/pulls":                                              inRepo(listPulls),
		"POST /repos/{owner}/{repo}/pulls":                                             inRepo(asked(createPull)),
		"GET /repos/{owner}/{repo}/pulls/{pull_number}":                                inRepo(onPull(getPull)),
		"GET /repos/{owner}/{repo}/pulls/{pull_number}/commits":                        inRepo(onPull(listPullCommits)),
		"GET /repos/{owner}/{repo}/pulls/{pull_number}/files":                          inRepo(onPull(listFiles)),
		"PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge":                          inRepo(writing(asked(putMerge))),
		"PUT /repos/{owner}/{repo}/pulls/{pull_number}/update-branch":                  inRepo(asked(putUpdateBranch)),
		"GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews":                        inRepo(listReviews),
		"POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews":                       inRepo(asked(createReview)),
		"PUT /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/dismissals": inRepo(writing(asked(dismissReview))),
		"GET /repos/{owner}/{repo}/rules/branches/{branch...}":                         inRepo(listRules),
		"GET /repos/{owner}/{repo}/rulesets/{ruleset_id}":                              inRepo(getRuleset),
		"POST /repos/{owner}/{repo}/statuses/{sha}":                                    inRepo(writing(asked(createStatus))),
	}
}

// routes builds the handler of everything that the stand-in serves.
func (s *Server) routes() http.Handler {
	s.mux = http.NewServeMux()
	for pattern, serve := range s.endpoints() {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, serve) })
	}
	s.mux.HandleFunc("POST /graphql", s.serveGraphQL)
	outer := http.NewServeMux()
	outer.HandleFunc("GET /{owner}/{repo}/info/refs", func(w http.ResponseWriter, r *http.Request) {
		s.serveGit(w, r, r.URL.Query().Get("service"), advertise)
	})
	for _, service := range []string{"git-upload-pack", "git-receive-pack"} {
		outer.HandleFunc("POST /{owner}/{repo}/"+service, func(w http.ResponseWriter, r *http.Request) { s.serveGit(w, r, service, exchange) })
	}
	outer.HandleFunc("GET /login/oauth/authorize", s.authorize)
	outer.HandleFunc("POST /login/oauth/access_token", s.exchangeCode)
	outer.HandleFunc("/", s.serveAPI)
	return outer
}

// serveAPI stands before all routes of REST and GraphQL: it logs, delays and harms.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		fail(w, standin.Refuse(http.StatusRequestEntityTooLarge, msgTooLarge))
		return
	}
	r = r.Clone(r.Context())
	r.URL.Path, r.URL.RawPath = trimAPI(r.URL.Path), trimAPI(r.URL.RawPath)
	r.Body = io.NopCloser(bytes.NewReader(body))
	_, pattern := s.mux.Handler(r)
	name := routeName(pattern)
	rec := &recorder{ResponseWriter: w}
	entry := Request{At: s.Now(), Method: r.Method, Route: name, Path: r.URL.Path, Query: queryText(name, body)}
	defer func() {
		entry.Status = rec.status
		s.log.add(entry)
	}()
	rec.Header()["Date"] = []string{s.Now().Format(http.TimeFormat)}
	rec.Header().Set("X-GitHub-Request-Id", newGUID())
	s.serveOrHarm(rec, r, name, body)
}

// serveOrHarm serves a request as usual, or as a fault has it.
func (s *Server) serveOrHarm(w *recorder, r *http.Request, name string, body []byte) {
	leave, ok := s.limits.enter(r.Header.Get("Authorization"))
	if !ok {
		tooMany(w)
		return
	}
	defer leave()
	f := s.faults.next(r, name, body)
	if f.Met != nil {
		f.Met()
	}
	if wait := time.Duration(s.latency.Load()) + f.Latency; wait > 0 && !sleep(r.Context(), wait) {
		panic(http.ErrAbortHandler) // the client has gone
	}
	if name == "" {
		fail(w, standin.ErrNotFound)
		return
	}
	if f.harm(w, r, s.mux) {
		return
	}
	if f.Cut < 0 {
		panic(http.ErrAbortHandler) // net/http's way to break off
	}
	if f.Cut > 0 {
		w.ResponseWriter = &cutter{ResponseWriter: w.ResponseWriter, left: f.Cut}
	}
	s.mux.ServeHTTP(w, r)
}

// recorder records the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// routeName is a pattern in OpenAPI's spelling, without the method; "" for no route.
func routeName(pattern string) string {
	_, name, _ := strings.Cut(pattern, " ")
	return strings.ReplaceAll(name, "...}", "}")
}

func queryText(name string, body []byte) string {
	var q struct {
		Query string `json:"query"`
	}
	if name != "/graphql" || json.Unmarshal(body, &q) != nil {
		return ""
	}
	return q.Query
}

// serve runs one endpoint of REST.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, serve endpoint) {
	who, err := s.who(r)
	if err != nil { // GitHub serves some of this to anybody; nothing of sluice should rely on it
		fail(w, err)
		return
	}
	if who.installation != 0 {
		switch s.limits.charge(w.Header(), limitKey{who.installation, "core"}, priceOf(r), s.Now()) {
		case "":
		case limitHour:
			fail(w, standin.Refuse(http.StatusForbidden, msgPrimaryLimit, who.installation))
			return
		default:
			tooMany(w)
			return
		}
	}
	a, err := serve(&call{s, r, who})
	if err != nil {
		fail(w, err)
		return
	}
	a.write(w)
}

func (a answer) write(w http.ResponseWriter) {
	if a.link != "" {
		w.Header().Set("Link", a.link)
	}
	if a.status == http.StatusNoContent {
		w.WriteHeader(a.status)
		return
	}
	body, _ := json.Marshal(a.body) // maps of plain values: cannot fail
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // fails only if the client went away
}

// refusal is the answer to an error: GitHub's refusals as they are, what is not there is 404, anything else 500.
func refusal(err error) *standin.Refusal {
	var no *standin.Refusal
	switch {
	case errors.As(err, &no):
		return no
	case errors.Is(err, standin.ErrNotFound):
		return standin.Refuse(http.StatusNotFound, msgNotFound)
	}
	return standin.Refuse(http.StatusInternalServerError, "%v", err)
}

// fail answers with an error.
func fail(w http.ResponseWriter, err error) {
	no := refusal(err)
	body := object{"message": no.Message, "documentation_url": docsURL, "status": strconv.Itoa(no.Status)}
	if no.Errors != nil {
		body["errors"] = no.Errors
	}
	answer{status: no.Status, body: body}.write(w)
}

// page cuts a list to the page that was asked for, and gives the Link header for it.
func page[T any](c *call, list []T) (some []T, link string) {
	q := c.r.URL.Query()
	per, n := intOf(q.Get("per_page")), max(1, intOf(q.Get("page")))
	if per < 1 {
		per = defaultPerPage
	}
	per = min(per, maxPerPage)
	from := min(len(list), min(len(list), n-1)*per) // whatever number was asked for
	to := min(len(list), from+per)
	if to < len(list) {
		q.Set("page", strconv.Itoa(n+1))
		link = "<" + c.s.api() + c.r.URL.EscapedPath() + "?" + q.Encode() + `>; rel="next"`
	}
	return list[from:to], link
}

// listed answers with the page of a list that was asked for, each as show has it.
func listed[T any](c *call, list []T, show func(T) object) (answer, error) {
	some, link := page(c, list)
	return answer{status: http.StatusOK, body: each(some, show), link: link}, nil
}

// each is a list as show has it; never null in JSON.
func each[T, V any](list []T, show func(T) V) []V {
	out := make([]V, len(list))
	for i, one := range list {
		out[i] = show(one)
	}
	return out
}

// intOf is the number that a text holds; 0 if it holds none, which is nobody's number.
func intOf(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// inRepo finds the repository, if the caller sees it.
func inRepo(serve repoEndpoint) endpoint {
	return func(c *call) (answer, error) {
		r := c.s.Repo(c.r.PathValue("owner"), c.r.PathValue("repo"))
		if r == nil || !c.s.sees(c.who, r) {
			return answer{}, standin.ErrNotFound
		}
		return serve(c, r)
	}
}

// writing runs serve for those who may write.
func writing(serve repoEndpoint) repoEndpoint {
	return func(c *call, r *standin.Repo) (answer, error) {
		if err := mayWrite(c.who, r); err != nil {
			return answer{}, err
		}
		return serve(c, r)
	}
}

// asked reads what a request asks for; an empty body is an empty object.
func asked[T any](serve func(c *call, r *standin.Repo, ask T) (answer, error)) repoEndpoint {
	return func(c *call, r *standin.Repo) (answer, error) {
		var ask T
		body, err := io.ReadAll(c.r.Body)
		if err == nil && len(bytes.TrimSpace(body)) > 0 {
			err = json.Unmarshal(body, &ask)
		}
		if err != nil {
			return answer{}, standin.Refuse(http.StatusBadRequest, msgBadJSON)
		}
		return serve(c, r, ask)
	}
}

// onPull finds the pull request that the path names, as a query sees it.
func onPull(serve func(c *call, p *pullRequest) (answer, error)) repoEndpoint {
	return func(c *call, r *standin.Repo) (answer, error) {
		p := (&repository{newView(c.s, c.who, cost{}), r, r.ID()}).pullNumbered(c.number())
		if p == nil {
			return answer{}, standin.ErrNotFound
		}
		return serve(c, p)
	}
}

// number is that of the pull request that the path names.
func (c *call) number() int { return intOf(c.r.PathValue("pull_number")) }

// Transport carries requests to the stand-in without a network, for tests that must not open sockets.
func (s *Server) Transport() http.RoundTripper { return inMemory{s.handler} }

type inMemory struct{ h http.Handler }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r = r.Clone(r.Context())
		r.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	w := &recorder{ResponseWriter: rec}
	broken := m.breaksOff(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if broken && w.status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	answer := rec.Result()
	answer.Request, answer.ContentLength = r, -1
	if broken {
		answer.Body = io.NopCloser(io.MultiReader(answer.Body, iotest.ErrReader(io.ErrUnexpectedEOF)))
	}
	return answer, nil
}

// breaksOff runs the handler, and reports whether it broke off.
func (m inMemory) breaksOff(w http.ResponseWriter, r *http.Request) (broken bool) {
	defer func() {
		v := recover()
		broken = v == http.ErrAbortHandler //nolint:errorlint // a panic's value, compared as net/http does
		if v != nil && !broken {
			panic(v)
		}
	}()
	m.h.ServeHTTP(w, r)
	return false
}
