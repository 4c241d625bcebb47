package e2e

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// neighbour makes beta/other, another account's repository with the same rules, in an installation of its own.
func (w *world) neighbour() *standin.Repo {
	w.t.Helper()
	return w.create("beta", "other", map[string]string{"apps/a-rt/x": "0\n", ".github/sluice.yaml": rules(shutForYears)})
}

func openIn(t *testing.T, r *standin.Repo, head, path string) int {
	t.Helper()
	n, err := r.OpenPull(standin.NewPull{By: "alice", Head: head, Change: &standin.Change{Message: head, Write: map[string]string{path: head + "\n"}}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func pullIn(t *testing.T, r *standin.Repo, n int) standin.Pull {
	t.Helper()
	p, err := r.Pull(n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// push writes new content to a path of a branch without a pull request.
func (w *world) push(branch, path string) string {
	w.t.Helper()
	sha, err := w.repo.Commit(branch, standin.Change{By: "acme", Message: "push", Write: map[string]string{path: time.Now().String()}})
	if err != nil {
		w.t.Fatal(err)
	}
	return sha
}

// rewrite puts a file with another window onto main.
func (w *world) rewrite(window string) {
	w.t.Helper()
	if _, err := w.repo.Commit("main", standin.Change{By: "acme", Message: "rules", Write: map[string]string{".github/sluice.yaml": rules(window)}}); err != nil {
		w.t.Fatal(err)
	}
}

// within is eventually with a patience of its own.
func (w *world) within(most time.Duration, what string, holds func() bool) {
	w.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(most); !holds(); <-tick.C {
		if time.Now().After(end) {
			w.t.Fatalf("not within %s: %s", most, what)
		}
	}
}

// lookedAgain waits until so many more looks were taken.
func (w *world) lookedAgain(more int) {
	w.t.Helper()
	before := w.looks()
	w.eventually("there are more looks", func() bool { return w.looks() >= before+more })
}

func (w *world) looks() int {
	n := 0
	for _, r := range w.github.RequestLog() {
		if strings.HasPrefix(r.Query, "query look") {
			n++
		}
	}
	return n
}

// once sees that main has exactly one commit that brought a head's content.
func (w *world) once(r *standin.Repo, head string) {
	w.t.Helper()
	log, err := r.Log("main")
	if err != nil {
		w.t.Fatal(err)
	}
	merges := 0
	for _, e := range log {
		if strings.Contains(e.Message, "Merge pull request") && strings.Contains(e.Message, "/"+head) {
			merges++
		}
	}
	if merges != 1 {
		w.t.Errorf("%s was merged %d times: %+v", head, merges, log)
	}
}

// noRepeats sees that no status was written that stood already.
func (w *world) noRepeats(n int) {
	w.t.Helper()
	all := w.repo.Statuses(w.pull(n).HeadSHA)
	for i := 1; i < len(all); i++ {
		if all[i].State == all[i-1].State && all[i].Description == all[i-1].Description && all[i].Context == all[i-1].Context {
			w.t.Errorf("%q was written twice in a row", all[i].Description)
		}
	}
}

// delivery is the body of a webhook about a repository, as GitHub sends it for a push by alice.
func (w *world) delivery(r *standin.Repo) []byte {
	w.t.Helper()
	var installation int64
	for _, d := range w.github.Deliveries() {
		if d.Repository == r.ID() && d.Installation != 0 {
			installation = d.Installation
		}
	}
	return fmt.Appendf(nil, `{"ref":"refs/heads/main","repository":{"id":%d,"name":"fleet","full_name":%q,"owner":{"login":"acme"}},"installation":{"id":%d},"sender":{"login":"alice"}}`,
		r.ID(), r.String(), installation)
}

// post sends a webhook as GitHub does, and gives the answer's code; 0: there was none.
func (p *process) post(event, guid string, body []byte) int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer, err := http.DefaultClient.Do(p.signedPost(event, guid, body).WithContext(ctx))
	if err != nil {
		return 0
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// signedPost is a webhook as GitHub sends it.
func (p *process) signedPost(event, guid string, body []byte) *http.Request {
	req := httptest.NewRequest(http.MethodPost, p.hook, bytes.NewReader(body))
	req.RequestURI = "" // a client's request has none
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", event)
	req.Header.Set("X-GitHub-Delivery", guid)
	req.Header.Set("X-Hub-Signature-256", api.Signature(secret, body))
	return req
}

// database is another process's connection to the service's database.
func (w *world) database() *sql.DB {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.dir, "sluice.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		w.t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	w.t.Cleanup(func() { _ = db.Close() })
	return db
}

func (w *world) exec(db *sql.DB, statements ...string) {
	w.t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(w.t.Context(), s); err != nil {
			w.t.Fatalf("%s: %v", s, err)
		}
	}
}

func (p *process) logs(what string) {
	p.w.t.Helper()
	p.w.eventually(fmt.Sprintf("the log has %q", what), func() bool { return strings.Contains(p.text(), what) })
}
