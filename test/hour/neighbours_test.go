package hour

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
)

// neighbour is a repository at its worst, or what GitHub or an operator does at their worst. What it costs others is for the bounds: it is what
// its own file and pull requests are, never what the service made of them.
type neighbour struct {
	name  string
	files int                              // that each of them changes, if they are many
	pulls int                              // on all of GitHub's limits; of a part of them as large a part
	file  func(o *org, m *member) string   // nil: all is held
	ready func(o *org, m *member)          // once its pull requests are there, before the service starts; nil: nothing
	acts  func(o *org, m *member, now int) // each second while others act; nil: nothing
	looks bool                             // it wants a look at any time
	opens int                              // writes that open something and that it may want at any time
}

var neighbours = []neighbour{
	{name: "a look that never succeeds", pulls: 3, looks: true, ready: neverRead, acts: retitle(3)},
	{name: "many open pull requests", pulls: 500, looks: true, acts: retitle(5)},
	{name: "an edge every second", pulls: 4, looks: true, opens: 4, file: edges},
	{name: "foreign successes", pulls: 200, looks: true, acts: foreign},
	{name: "statuses overwritten by a bot", pulls: 40, looks: true, acts: overwritten},
	{name: "a file that rewords everything", pulls: 200, looks: true, acts: reworded},
	{name: "a cutoff of a second", pulls: 40, looks: true, opens: 40, file: hardlyAny},
	{name: "a webhook storm", pulls: 10, looks: true, acts: storm},
	{name: "pull requests of many files", pulls: 3, files: 300, looks: true, ready: manyFiles, acts: manyFilesAgain},
	{name: "stale reads", acts: stale},
	{name: "a list that lacks a repository", acts: lacking},
	{name: "a restart"}, // see org.live
}

// pull is the number of one of its pull requests, in turn.
func (m *member) pull(n int) int { return 1 + n%m.pulls }

func retitle(every int) func(*org, *member, int) {
	return func(o *org, m *member, now int) {
		if now%every == 0 {
			o.must(m.repo.Retitle(m.pull(now), "alice", fmt.Sprint("the ", now)))
		}
	}
}

// neverRead: GitHub reads all that it is asked, counts it, and its answer is lost.
func neverRead(o *org, m *member) {
	o.github.Fault(api.Fault{
		Method: http.MethodPost, Path: "/" + graphQL, Contains: fmt.Sprintf(`"name":%q`, m.name), Times: -1, Status: http.StatusBadGateway, Done: true,
	})
}

// edges opens its window every other second and closes it again.
func edges(o *org, _ *member) string {
	const local = "2006-01-02T15:04:05"
	text := &strings.Builder{}
	text.WriteString("windows:\n  w:\n    cutoff: 0s\n    dates:\n")
	for at := o.start.Add(o.from); at.Before(o.start.Add(o.to)); at = at.Add(2 * time.Second) {
		fmt.Fprintf(text, "      - {from: %s, until: %s}\n", at.Format(local), at.Add(time.Second).Format(local))
	}
	return text.String() + layout + "pull_requests: {settle: 0s, window: status}\n"
}

func hardlyAny(o *org, _ *member) string {
	text := datesFor(o.to-o.from, o.start.Add(o.from))
	return "windows:\n  w:\n" + strings.Replace(text, "cutoff: 5m", "cutoff: 1s", 1) + layout + "pull_requests: {settle: 0s, window: status}\n"
}

// foreign: every five minutes somebody gives all of it a success of our name.
func foreign(o *org, m *member, now int) {
	if now%300 == 0 {
		o.sign(m, "success", "mallory")
	}
}

func overwritten(o *org, m *member, now int) {
	if now%2 == 0 {
		o.sign(m, "failure", "bot")
	}
}

// sign sets a status of our name wherever ours is the last.
func (o *org) sign(m *member, state, by string) {
	for _, p := range m.repo.Pulls() {
		if all := m.repo.Statuses(p.HeadSHA); p.Open && len(all) > 0 && all[0].By.App == app {
			o.must(m.repo.SetStatus(standin.Status{SHA: p.HeadSHA, Context: "sluice/main", State: state, By: standin.Actor{Login: by}}))
		}
	}
}

// reworded: every two minutes all of it is held until another instant.
func reworded(o *org, m *member, now int) {
	if now%120 == 0 {
		_, err := m.repo.Commit("main", standin.Change{Message: "later", Write: map[string]string{
			".github/sluice.yaml": "version: 1\ntimezone: UTC\n" + heldFile(o.start.Add(24*time.Hour+time.Duration(now)*time.Minute)),
		}})
		o.must(err)
	}
}

func storm(o *org, m *member, now int) {
	for n := range 5 {
		o.must(m.repo.Retitle(m.pull(now+n), "alice", fmt.Sprint("the ", now)))
	}
}

// manyFiles makes each of its pull requests change hundreds of files.
func manyFiles(o *org, m *member) {
	for n := range m.pulls {
		o.rewrite(m, n)
	}
}

func manyFilesAgain(o *org, m *member, now int) {
	if now%60 == 0 {
		o.rewrite(m, now/60)
	}
}

func (o *org) rewrite(m *member, n int) {
	p, err := m.repo.Pull(m.pull(n))
	o.must(err)
	all := map[string]string{}
	for f := range m.near.files {
		all[fmt.Sprintf("a-rw/%d/of/%d", p.Number, f)] = fmt.Sprint(n, f)
	}
	_, err = m.repo.Commit(p.Head, standin.Change{By: "alice", Message: "many", Write: all})
	o.must(err)
}

func stale(o *org, _ *member, now int) {
	if now == 0 {
		o.github.SetLag(staleBy)
	}
}

// lacking: pages of a list shift, and once it lacks a repository of which something is due.
func lacking(o *org, _ *member, now int) {
	if now != 0 {
		return
	}
	o.mu.Lock()
	o.tamper = o.without(o.someDue())
	loop := o.loop
	o.mu.Unlock()
	loop.Poke(plan.Repo{}, event.Membership, plan.Mention{})
}

// without takes a repository out of the first list that names it.
func (o *org) without(name string) func(path string, body []byte) []byte {
	gone := false
	return func(path string, body []byte) []byte {
		var page struct {
			TotalCount   int              `json:"total_count"`
			Repositories []map[string]any `json:"repositories"`
		}
		if gone || !strings.HasSuffix(path, "/installation/repositories") || json.Unmarshal(body, &page) != nil {
			return body
		}
		for n, r := range page.Repositories {
			if r["name"] == name {
				gone = true
				page.Repositories = append(page.Repositories[:n:n], page.Repositories[n+1:]...)
				if body, err := json.Marshal(page); err == nil {
					return body
				}
			}
		}
		return body
	}
}

// someDue is the name of a repository that behaves.
func (o *org) someDue() string {
	for _, m := range o.members {
		if m.role != rests && m.role != disturbs {
			return m.name
		}
	}
	return ""
}
