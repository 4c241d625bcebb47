package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v4"

	"github.com/sluicegate/sluice/internal/standin/api"
)

// minimal is the minimal program: a status for each notice, at once, over at most 64 connections. It acknowledges what it would lose if it
// were killed; with a journal, only what is on the disk. It is a process of its own, as the service is, and the test's binary.
type minimal struct {
	api, token string
	client     *http.Client
	journal    *journal
}

// The minimal program's settings, in its environment.
const (
	minimalAPI     = "MINIMAL_API" // set: this is the minimal program
	minimalToken   = "MINIMAL_TOKEN"
	minimalJournal = "MINIMAL_JOURNAL" // a path; none: it keeps nothing
)

// yardstick starts the minimal program, and gives where it hears of events.
func (s *org) yardstick(journal string) (p *process) {
	s.t.Helper()
	return s.serveAs(exec.Command(os.Args[0]), minimalAPI+"="+s.url+"/api/v3", minimalToken+"="+s.token(newMinimalClient()), minimalJournal+"="+journal)
}

func newMinimalClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, MaxConnsPerHost: 64}}
}

// runMinimal is the minimal program until it is killed.
func runMinimal() error {
	m := minimal{api: os.Getenv(minimalAPI), token: os.Getenv(minimalToken), client: newMinimalClient()}
	if path := os.Getenv(minimalJournal); path != "" {
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		m.journal = &journal{file: file}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	slog.New(slog.NewJSONHandler(os.Stderr, nil)).Info("serving", "webhook", "http://"+listener.Addr().String())
	return http.Serve(listener, m)
}

// ServeHTTP takes one notice.
func (m minimal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var p struct {
		Repository struct {
			FullName string `json:"full_name"`
		}
		PullRequest struct {
			Head struct{ SHA string }
		} `json:"pull_request"`
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &p) != nil || r.Header.Get("X-Hub-Signature-256") != api.Signature(secret, body) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if err := m.journal.add(r.Header.Get("X-GitHub-Delivery")); err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	go func() {
		path := "/repos/" + p.Repository.FullName + "/statuses/" + p.PullRequest.Head.SHA
		if _, err := call(m.client, m.api, m.token, http.MethodPost, path, `{"state":"pending","context":"sluice/main"}`); err != nil {
			slog.Error("no status", "error", err)
		}
	}()
}

// journal is a file with a line for each notice. Lines that come while others are being written share the next sync; nil keeps nothing.
type journal struct {
	syncing sync.Mutex // held while the file is written
	file    *os.File

	mu   sync.Mutex
	next *lines
}

// lines go to the disk together.
type lines struct {
	text []byte
	done chan struct{}
	err  error // once it is done
}

// add returns when a line is on the disk.
func (j *journal) add(line string) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	all := j.next
	if all == nil {
		all = &lines{done: make(chan struct{})}
		j.next = all
		go j.write()
	}
	all.text = append(append(all.text, line...), '\n')
	j.mu.Unlock()
	<-all.done
	return all.err
}

// write writes all lines that wait.
func (j *journal) write() {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	j.mu.Lock()
	all := j.next
	j.next = nil
	j.mu.Unlock()
	if _, all.err = j.file.Write(all.text); all.err == nil {
		all.err = j.file.Sync()
	}
	close(all.done)
}

// token is one of the installation's, for the minimal program.
func (s *org) token(client *http.Client) string {
	s.t.Helper()
	claims := jwt.RegisteredClaims{Issuer: fmt.Sprint(app), IssuedAt: jwt.NewNumericDate(time.Now()), ExpiresAt: jwt.NewNumericDate(time.Now().Add(5 * time.Minute))}
	signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(appKey())
	if err != nil {
		s.t.Fatal(err)
	}
	var installations []struct{ ID int64 }
	s.call(client, signed, http.MethodGet, "/app/installations", "", &installations)
	if len(installations) == 0 {
		s.t.Fatal("no installation")
	}
	var answer struct{ Token string }
	s.call(client, signed, http.MethodPost, fmt.Sprintf("/app/installations/%d/access_tokens", installations[0].ID), "{}", &answer)
	return answer.Token
}

// call is one request of the minimal program.
func (s *org) call(client *http.Client, token, method, path, body string, into any) {
	text, err := call(client, s.url+"/api/v3", token, method, path, body)
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		s.t.Error(err)
	}
}

func call(client *http.Client, api, token, method, path, body string) ([]byte, error) {
	req, err := http.NewRequest(method, api+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %d %s", method, path, answer.StatusCode, text)
	}
	return text, err
}

// mergeAll is the minimal program at an opening: one repository beside the other, a success and a merge for each pull request. It gives
// how long that took.
func (s *org) mergeAll(all []notice) time.Duration {
	s.t.Helper()
	s.github.SetLatency(latency)
	client := newMinimalClient()
	token := s.token(client)
	began := time.Now()
	var wait sync.WaitGroup
	for _, r := range s.repos {
		wait.Go(func() {
			for _, n := range all {
				if n.repo == r {
					s.call(client, token, http.MethodPost, "/repos/"+r.String()+"/statuses/"+n.head, `{"state":"success","context":"sluice/main"}`, nil)
					s.call(client, token, http.MethodPut, fmt.Sprintf("/repos/%s/pulls/%d/merge", r, n.pull), `{"sha":"`+n.head+`"}`, nil)
				}
			}
		})
	}
	wait.Wait()
	return time.Since(began)
}
