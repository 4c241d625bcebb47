package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

var seed = flag.Uint64("seed", 0, "of GitHub's faults; 0: another one each time")

const (
	// latency is GitHub's, where many things happen at once.
	latency = 80 * time.Millisecond
	// plenty is an hour of GitHub that does not end.
	plenty = 1_000_000

	graphQL = "graphql"
	// noPace and noResync make a service that does what it hears of, at once.
	noPace, noResync = "SLUICE_GITHUB_PACE=off", "SLUICE_RESYNC=1h"
)

// org is a GitHub in memory with many repositories.
type org struct {
	*world
	repos []*standin.Repo
}

// newOrg makes that GitHub. All repositories have the same window.
func newOrg(t *testing.T, repos int, window string, o api.Options) *org {
	t.Helper()
	o.Memory = true
	if o.RateLimit == 0 {
		o.RateLimit = plenty
	}
	s := &org{world: newGitHub(t, o)}
	for i := range repos {
		s.repos = append(s.repos, s.create("acme", fmt.Sprintf("fleet-%d", i), map[string]string{".github/sluice.yaml": rules(window), "apps/a-rw/x": "0\n"}))
	}
	s.repo = s.repos[0]
	return s
}

// notice is the webhook of one new pull request.
type notice struct {
	repo       *standin.Repo
	pull       int
	head, guid string
	body       []byte
}

// propose opens the i-th windowed pull request, in one repository after the other.
func (s *org) propose(i int) (notice, error) {
	r := s.repos[i%len(s.repos)]
	n, err := r.OpenPull(standin.NewPull{By: "alice", Head: fmt.Sprintf("n-%d", i), Change: &standin.Change{
		Message: fmt.Sprintf("%s-%d", r, i), Write: map[string]string{fmt.Sprintf("apps/n%d-rw/x", i): "1\n"},
	}})
	if err != nil {
		return notice{}, err
	}
	p, err := r.Pull(n)
	return notice{repo: r, pull: n, head: p.HeadSHA}, err
}

// openMany opens pull requests, and keeps their webhooks back.
func (s *org) openMany(many int) []notice {
	s.t.Helper()
	var mu sync.Mutex
	kept := map[string]notice{} // by head
	defer s.divert(func(head string, n notice) {
		mu.Lock()
		defer mu.Unlock()
		kept[head] = n
	})()
	var all []notice
	for i := range many {
		n, err := s.propose(i)
		s.must(err)
		all = append(all, n)
	}
	s.must(s.github.Settle(s.t.Context()))
	mu.Lock()
	defer mu.Unlock()
	for i := range all {
		of := kept[all[i].head]
		all[i].guid, all[i].body = of.guid, of.body
	}
	return all
}

// divert gives the webhooks of pull requests to a function, and leaves out all others, until end is called.
func (s *org) divert(to func(head string, n notice)) (end func()) {
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var p struct {
			PullRequest struct{ Head struct{ SHA string } } `json:"pull_request"`
		}
		body, err := io.ReadAll(r.Body)
		if err == nil && r.Header.Get("X-GitHub-Event") == "pull_request" && json.Unmarshal(body, &p) == nil {
			to(p.PullRequest.Head.SHA, notice{guid: r.Header.Get("X-GitHub-Delivery"), body: body})
		}
	}))
	s.github.SetWebhookURL(sink.URL)
	return func() {
		s.github.SetWebhookURL("")
		sink.Close()
	}
}

// stream opens pull requests, so many a second.
func (s *org) stream(many, rate int) {
	s.t.Helper()
	began := time.Now()
	for i := range many {
		time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		if _, err := s.propose(i); err != nil {
			s.t.Error(err)
		}
	}
}

// send posts a notice and gives how long its answer took, and whether it was acknowledged.
func (n notice) send(client *http.Client, hook string) (took time.Duration, ok bool) {
	req, err := http.NewRequest(http.MethodPost, hook, bytes.NewReader(n.body))
	if err != nil {
		return 0, false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", "pull_request")
	req.Header.Set("X-GitHub-Delivery", n.guid)
	req.Header.Set("X-Hub-Signature-256", api.Signature(secret, n.body))
	began := time.Now()
	answer, err := client.Do(req)
	if err != nil {
		return 0, false
	}
	_, err = io.Copy(io.Discard, answer.Body) // what is not read to its end loses the connection
	_ = answer.Body.Close()
	return time.Since(began), err == nil && answer.StatusCode/100 == 2
}

// newClient keeps as many connections as notices are sent over at once.
func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
}

// senders is how many connections notices are sent over at once.
const senders = 32

// sendAll sends notices, all at once, and calls sent for each.
func (s *org) sendAll(all []notice, hook string, sent func(n notice, at time.Time, took time.Duration, ok bool)) {
	client, work := newClient(), make(chan notice)
	var wait sync.WaitGroup
	for range senders {
		wait.Go(func() {
			for n := range work {
				at := time.Now()
				took, ok := n.send(client, hook)
				sent(n, at, took, ok)
			}
		})
	}
	for _, n := range all {
		work <- n
	}
	close(work)
	wait.Wait()
}

// written gives when GitHub took the first status of each head.
func (s *org) written() map[string]time.Time {
	at := map[string]time.Time{}
	for _, r := range s.repos {
		for _, p := range r.Pulls() {
			if all := r.Statuses(p.HeadSHA); len(all) > 0 {
				at[p.HeadSHA] = all[len(all)-1].At
			}
		}
	}
	return at
}

// decided reports whether so many pull requests have a status. It is cheap for as long as they have none.
func (s *org) decided(many int) bool {
	return s.github.Requests()["POST "+statusRoute] >= many && len(s.written()) >= many
}

// merges counts what is merged, and gives when the last was.
func (s *org) merges() (n int, last time.Time) {
	for _, r := range s.repos {
		for _, p := range r.Pulls() {
			if p.Merged {
				n++
			}
			if p.Merged && p.ClosedAt.After(last) {
				last = p.ClosedAt
			}
		}
	}
	return n, last
}

// remains is what is not as it has to be.
type remains struct {
	lost  int // neither merged nor held as it must be
	green int // heads that were not merged and have a success of ours
}

// remains counts it. Where an opening has come all must be merged, elsewhere held.
func (s *org) remains(open func(*standin.Repo) bool) (n remains) {
	for _, r := range s.repos {
		for _, p := range r.Pulls() {
			if p.Merged {
				continue
			}
			state := ""
			for _, one := range r.Statuses(p.HeadSHA) {
				if one.Context == "sluice/main" {
					state = one.State + ": " + one.Description
					break
				}
			}
			if open(r) || !strings.HasPrefix(state, "pending: held by w until Tue 1 Jan 2030") {
				n.lost++
			}
			if strings.HasPrefix(state, "success") {
				n.green++
			}
		}
	}
	return n
}

func everywhere(*standin.Repo) bool { return true }
func nowhere(*standin.Repo) bool    { return false }

// settled waits until all is as it has to be, and gives what is not.
func (s *org) settled(open func(*standin.Repo) bool) (n remains) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * patience); time.Now().Before(end); <-tick.C {
		if n = s.remains(open); n == (remains{}) {
			break
		}
	}
	return n
}

// badDay makes GitHub fail until end is called: of all requests 1 % with 502, 0.5 % with 502 after it did what it was asked for, 0.5 %
// with a secondary limit of two seconds; of 1 % the connection breaks off, in every other of them before anything was done.
func (s *org) badDay() (end func()) {
	limit := api.SecondaryLimit(http.StatusForbidden, 2*time.Second)
	return s.fails(
		chance{0.01, unicorn}, chance{0.005, api.Fault{Status: unicorn.Status, Body: unicorn.Body, Done: true}}, chance{0.005, limit},
		chance{0.005, api.Fault{Cut: 20}}, chance{0.005, api.Fault{Cut: -1}},
	)
}

// unicorn is GitHub's page for what took too long.
var unicorn = api.Fault{Status: http.StatusBadGateway, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>Unicorn!</html>"}

// chance is a fault of a part of all requests.
type chance struct {
	part  float64
	fault api.Fault
}

// fails makes requests fail by chance until end is called.
func (s *org) fails(chances ...chance) (end func()) {
	from := *seed
	if from == 0 {
		from = rand.Uint64()
	}
	s.t.Logf("faults by -seed %d", from)
	dice := rand.New(rand.NewPCG(from, 0)) // GitHub rolls them one at a time
	var ends []func()
	for _, c := range chances {
		c.fault.Times, c.fault.Chance = -1, func() bool { return dice.Float64() < c.part }
		ends = append(ends, s.github.Fault(c.fault))
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

// kill ends the service with kill -9 as soon as something holds.
func (s *org) kill(p *process, when string, holds func() bool) {
	s.t.Helper()
	s.eventually(when, holds)
	p.stop(syscall.SIGKILL)
	merged, _ := s.merges()
	s.t.Logf("killed with %d decided and %d merged", len(s.written()), merged)
}

// crowdOf opens so many windowed pull requests in one repository, all but so many of them held by a label as well.
func (s *org) crowdOf(many, due int) {
	s.t.Helper()
	for i := range many {
		n, err := s.propose(i)
		s.must(err)
		if i >= due {
			s.must(n.repo.Label(n.pull, "alice", "hold"))
		}
	}
}

// event is the i-th of a busy repository: one in four is a push to a pull request, the others are reports of checks. None is about what
// is due.
func (s *org) event(i int) (head string) {
	s.t.Helper()
	pulls := s.repo.Pulls()
	p := pulls[len(pulls)-1-i%50]
	if i%4 > 0 {
		s.must(s.repo.SetStatus(standin.Status{SHA: p.HeadSHA, Context: "ci", State: "success", By: ci}))
		return p.HeadSHA
	}
	head, err := s.repo.Commit(p.Head, standin.Change{By: "alice", Message: "more", Write: map[string]string{fmt.Sprintf("apps/n%d-rw/y", p.Number): fmt.Sprint(i)}})
	s.must(err)
	return head
}
