package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/api"
	"github.com/sluicegate/sluice/person"
	"github.com/sluicegate/sluice/reconcile"
	"github.com/sluicegate/sluice/report"
	"github.com/sluicegate/sluice/store"
)

// programs is the API of a service, wired as `sluice serve` wires it.
func (s *service) programs(from *store.Store, loop *reconcile.Loop) http.Handler {
	return api.New(api.Options{
		Source: from,
		Site: func(token string) (api.Site, error) {
			return person.NewSite("http://github.invalid/api/v3", "", token, s)
		},
		Calendar: loop.Calendar,
	})
}

// edit is a change of the rules file that somebody asks for.
type edit struct {
	method, path string
	fields       map[string]any
	does         func(*spec) // to the file that it is made of
}

// drawEdit draws one. What uses a window is not asked to lose it, but for the window that everything uses: that is refused.
func (w *world) drawEdit() edit {
	now := time.Now().UTC().Truncate(time.Second)
	dates := func(list []span) []any {
		var all []any
		for _, one := range list {
			all = append(all, map[string]any{"from": local(one.from), "until": local(one.until)})
		}
		return all
	}
	switch w.dice.IntN(6) {
	case 0:
		name := pick(w.dice, "f", "incident")
		return edit{http.MethodDelete, "/freezes/" + name, nil, func(s *spec) { delete(s.freezes, name) }}
	case 1:
		return edit{http.MethodDelete, "/windows/w", nil, func(s *spec) { delete(s.windows, "w") }}
	case 2, 3:
		name, list, cutoff := pick(w.dice, "v", "w"), drawWindow(w.dice, w.start), time.Duration(1+w.dice.IntN(2))*time.Minute
		return edit{http.MethodPut, "/windows/" + name, map[string]any{"cutoff": cutoff.String(), "dates": dates(list)}, func(s *spec) {
			s.windows[name], s.cutoff[name] = list, cutoff
		}}
	default:
		f := span{from: now.Add(time.Duration(w.dice.IntN(6)-2) * time.Minute)}
		f.until = f.from.Add(time.Duration(1+w.dice.IntN(8)) * time.Minute)
		return edit{http.MethodPut, "/freezes/incident", map[string]any{"from": local(f.from), "until": local(f.until)}, func(s *spec) { s.freezes["incident"] = f }}
	}
}

// callers are who asks: root passes the rules of main, alice and eve may write, bob may read, stranger sees nothing, and "" has no token.
var callers = []string{"root", "alice", "alice", "eve", "bob", "stranger", ""}

// writers are those of them who may write.
var writers = []string{"root", "alice", "eve"}

// call has somebody ask the API, sometimes without waiting for the answer.
func (w *world) call() {
	w.mu.Lock()
	s := w.service
	w.mu.Unlock()
	if s == nil {
		return
	}
	by := pick(w.dice, callers...)
	if w.dice.IntN(4) == 0 {
		w.read(s, by)
		return
	}
	e := w.drawEdit()
	atOnce, dryRun, stale := w.dice.IntN(2) == 0, w.dice.IntN(5) == 0, w.dice.IntN(6) == 0
	body := map[string]any{"commit": atOnce}
	maps.Copy(body, e.fields)
	text, err := json.Marshal(body)
	w.must(err)
	r := request(e.method, fmt.Sprintf("%s?dry_run=%t", e.path, dryRun), by, string(text))
	if stale {
		r.Header.Set("If-Match", `"0123456789012345678901234567890123456789"`)
	}
	if w.dice.IntN(5) == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(w.dice.IntN(600))*time.Millisecond)
		defer cancel()
		r = r.WithContext(ctx)
	}
	before := len(w.repo.Moves())
	code, answer := w.ask(s, r)
	w.say("%s asks the API: %s %s %s, If-Match that is stale %v: %d %s", by, r.Method, r.URL, text, stale, code, answer)
	wrote := w.wrote(by, before, e)
	switch {
	case len(wrote) > 0 && (!slices.Contains(writers, by) || dryRun || stale):
		w.oracle.once("f", fmt.Sprintf("the API wrote %q for %q, dry run %v, stale %v", wrote, by, dryRun, stale))
	case slices.Contains(wrote, "main") && (!atOnce || by != "root"):
		w.oracle.once("f", fmt.Sprintf("the API pushed to main for %s, who asked for it: %v", by, atOnce))
	case !slices.Contains(writers, by) && code < 300 && (!dryRun || by != "bob"):
		w.oracle.once("f", fmt.Sprintf("%d for %q: %s", code, by, answer))
	}
	var v report.Edited
	if code < 300 && json.Unmarshal(answer, &v) == nil && v.Written != (len(wrote) > 0) {
		w.oracle.once("f", fmt.Sprintf("the API says written: %v, and wrote %q", v.Written, wrote))
	}
}

func request(method, path, by, body string) *http.Request {
	r := httptest.NewRequest(method, "http://sluice.invalid/api/v1/repos/acme/fleet"+path, strings.NewReader(body))
	if by != "" {
		r.Header.Set("Authorization", "Bearer ghp_"+by)
	}
	return r
}

// ask sends a request, and judges the kind of the answer.
func (w *world) ask(s *service, r *http.Request) (code int, body []byte) {
	rec := httptest.NewRecorder()
	s.api.ServeHTTP(rec, r)
	if rec.Code == http.StatusInternalServerError || !json.Valid(rec.Body.Bytes()) {
		w.oracle.once("f", fmt.Sprintf("the API answers %s %s with %d: %s", r.Method, r.URL, rec.Code, rec.Body))
	}
	return rec.Code, rec.Body.Bytes()
}

// read has somebody read.
func (w *world) read(s *service, by string) {
	at := time.Now().UTC().Add(time.Duration(w.dice.IntN(60)-10) * time.Minute).Format(time.RFC3339)
	path := pick(w.dice, "", "/branches", "/history", "/windows?days=1&at="+at, fmt.Sprintf("/pulls/%d?at=%s", 1+w.dice.IntN(6), at))
	code, answer := w.ask(s, request(http.MethodGet, path, by, ""))
	w.say("%s reads %s: %d", by, path, code)
	if code < 300 && (by == "" || by == "stranger") {
		w.oracle.once("f", fmt.Sprintf("%s shows %q %s", path, by, answer))
	}
}

// wrote lists the branches that moved by somebody's name since, and teaches the oracle the files that they brought.
func (w *world) wrote(by string, since int, e edit) (branches []string) {
	for _, m := range w.repo.Moves()[since:] {
		if m.After == "" && slices.Contains(branches, m.Branch) { // it was taken back
			branches = slices.DeleteFunc(branches, func(b string) bool { return b == m.Branch })
		}
		if m.By.App != 0 || m.By.Login != by || m.After == "" {
			continue
		}
		branches = append(branches, m.Branch)
		line, err := w.repo.Log(m.After)
		w.must(err)
		old, err := w.repo.Files(line[0].Parents[0])
		w.must(err)
		now, err := w.repo.Files(m.After)
		w.must(err)
		s := w.specs[old[rules]]
		for path := range both(old, now) {
			if old[path] != now[path] && path != rules {
				w.oracle.once("f", by+"'s edit changes "+path)
			}
		}
		if s == nil {
			w.oracle.once("f", by+"'s edit is made of a file that is invalid")
			continue
		}
		s = s.clone()
		if e.does(s); len(s.windows) < 2 {
			w.oracle.once("f", by+"'s edit removed a window that the file names")
		}
		s.text = now[rules]
		w.specs[s.text] = s
	}
	return branches
}
