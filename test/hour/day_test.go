package hour

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

var day = flag.Float64("day", 0, "replay a whole day of this part of the organisation, on that part of GitHub's hour; 0: less than an hour")

// replay is how an organisation lives for a while.
type replay struct {
	repos, hour int           // repositories, and what GitHub grants them in an hour
	events      int           // an hour, on average
	lasts       time.Duration // from midnight on
	shape       []float64     // how busy each hour of the day is, beside the average; none: all alike
	openings    []time.Duration
	open        time.Duration
}

// aDay is the day of an organisation of 300 repositories, aPart a fifth of one on a fifth of what GitHub grants, for the better part of an hour.
var (
	aDay = replay{
		repos: 300, hour: 5000, events: 3000, lasts: 24 * time.Hour, open: time.Hour,
		openings: []time.Duration{8 * time.Hour, 12 * time.Hour, 16 * time.Hour, 20 * time.Hour},
		shape: []float64{
			.15, .15, .15, .15, .15, .15, .15, .9, .9, 1.9, 1.95, 1.95, 1.9, 1.9, 1.95, 1.95, 1.9, 1.85, .9, .9, .9, .9, .15, .15,
		},
	}
	aPart = replay{
		repos: 60, hour: 1000, events: 600, lasts: 45 * time.Minute, openings: []time.Duration{15 * time.Minute}, open: 20 * time.Minute,
	}
)

const (
	// ripe is how old what was pushed has to be, to have been merged.
	ripe   = 5 * time.Minute
	cutoff = 5 * time.Minute
)

// A busy organisation lives through its day, with events in bursts from one repository and across many: GitHub refuses nothing that could
// have been foreseen, nothing due is left behind, and nothing is green past its end.
func TestADayOfABusyOrganisation(t *testing.T) {
	r := aPart
	if *day > 0 {
		r = aDay
		r.repos, r.hour, r.events = int(float64(r.repos)**day), int(float64(r.hour)**day), int(float64(r.events)**day)
	}
	o := organisation{repos: r.repos, hour: r.hour, file: func(w *world, n int) string {
		var openings []time.Time
		for _, at := range r.openings {
			openings = append(openings, w.start.Add(at))
		}
		text := "windows:\n  w:\n" + datesFor(r.open, openings...) + layout
		if n%4 == 0 {
			text += "branches:\n  - {name: rw/x, from: main, window: w, checks: none}\n"
		}
		if greens(n) {
			return text + "pull_requests: {settle: 0s, window: status}\n"
		}
		return text + "pull_requests: {settle: 0s}\n"
	}}
	inBubble(t, o, func(w *world) {
		d := &dayOf{world: w, of: r, dice: rand.New(rand.NewPCG(1, 2))}
		for n := range w.repos {
			w.must(w.repos[n].Push("alice", "rw/x", w.repos[n].Tip("main")))
			d.propose(n, "a-rw")
			d.propose(n, "a-rw")
			w.must(w.repos[n].Label(1, "alice", "hold"))
		}
		stop := w.run()
		defer stop()
		d.live()
		took, still := w.waited()
		t.Logf("%d events, event to status: %s p50, %s p99, %s at most of %d, %d still wait; %d merges, %d moves", d.events, quantile(took, 0.5),
			quantile(took, 0.99), quantile(took, 1), len(took), still, d.merges(), d.moves())
		w.unlimited()
	})
}

// greens reports whether people merge in the n-th repository, and sluice says when.
func greens(n int) bool { return n%3 == 1 }

// dayOf is a world that lives.
type dayOf struct {
	*world
	of     replay
	dice   *rand.Rand
	events int
	made   int
}

// live lets events come in bursts, and looks at each opening's end.
func (d *dayOf) live() {
	ends, last := slices.Clone(d.of.openings), time.Duration(-1)
	for at := time.Since(d.start); at < d.of.lasts; at = time.Since(d.start) {
		if len(ends) > 0 && at > ends[0]+d.of.open-cutoff-time.Second {
			d.ended(d.start.Add(ends[0] + d.of.open))
			ends = ends[1:]
			continue
		}
		if testing.Verbose() && at.Truncate(d.every()) != last {
			last = at.Truncate(d.every())
			took, still := d.waited()
			d.t.Logf("%8s %5d events, %d requests, %d points and %d requests left; %s p50, %s p99, %d wait, %v; %s", at.Round(time.Second), d.events, d.requests(),
				d.github.Left("acme", graphQL), d.github.Left("acme", "core"), quantile(took, 0.5), quantile(took, 0.99), still, d.loop.Census(), d.caused())
		}
		many := d.burst()
		d.events += many
		rate := float64(d.of.events)
		if len(d.of.shape) > 0 {
			rate *= d.of.shape[int(at.Hours())%len(d.of.shape)]
		}
		pause := time.Duration(float64(time.Hour) / rate * float64(many) * 2 * d.dice.Float64())
		if len(ends) > 0 {
			pause = min(pause, time.Until(d.start.Add(ends[0]+d.of.open-cutoff-time.Second))+time.Millisecond)
		}
		time.Sleep(max(pause, time.Millisecond))
	}
}

// every is how often a verbose test says how it goes.
func (d *dayOf) every() time.Duration { return max(time.Minute, d.of.lasts/48) }

// burst does what one person, one repository's CI, or a bot across repositories does at once, and gives how much that was.
func (d *dayOf) burst() int {
	switch n := d.dice.IntN(len(d.repos)); d.dice.IntN(20) {
	case 0: // across many
		many := 1 + d.dice.IntN(len(d.repos)/4)
		for i := range many {
			d.act((n + i) % len(d.repos))
			time.Sleep(100 * time.Millisecond)
		}
		return many
	case 1, 2: // one repository
		many := 5 + d.dice.IntN(20)
		for range many {
			d.act(n)
			time.Sleep(300 * time.Millisecond)
		}
		return many
	default:
		d.act(n)
		return 1
	}
}

// act is one event in the n-th repository.
func (d *dayOf) act(n int) {
	r := d.repos[n]
	var open []standin.Pull
	for _, p := range r.Pulls() {
		if p.Open {
			open = append(open, p)
		}
	}
	kind := d.dice.IntN(1000)
	if len(open) == 0 || kind < 15 {
		d.propose(n, "a-rw")
		return
	}
	p := open[d.dice.IntN(len(open))]
	switch {
	case kind < 22:
		d.propose(n, "b-rt")
	case kind < 400:
		d.push(r, p.Number, p.Title)
	case kind < 800:
		d.report(r, p.Number, "ci")
	case kind < 978:
		d.must(r.Retitle(p.Number, "alice", p.Title))
	case kind < 980: // rarely: one is opened in its place, and GitHub takes no more than 500 merges an hour, whatever part of the day this is
		d.must(r.ClosePull(p.Number, "alice"))
		d.forget(p.HeadSHA)
	case greens(n):
		if _, err := r.MergePull(p.Number, "alice", standin.Squash); err == nil { // it is green
			d.forget(p.HeadSHA)
		}
	}
}

// propose opens one more pull request in the n-th repository, whose title is its path.
func (d *dayOf) propose(n int, dir string) {
	d.made++
	d.proposeOne(d.repos[n], fmt.Sprintf("%s/%d", dir, d.made))
}

// ended looks at what an opening left, at its cutoff and at its end.
func (d *dayOf) ended(end time.Time) {
	left, behind := 0, 0
	for n, r := range d.repos {
		for _, p := range r.Pulls() {
			due := p.Open && !greens(n) && len(p.Labels) == 0 && time.Since(p.UpdatedAt) > ripe
			if due {
				left++
				d.t.Logf("%s #%d of %s ago is left behind: %v", r, p.Number, time.Since(p.UpdatedAt).Round(time.Second), lastOf(ours(r, p.HeadSHA)))
			}
		}
		if tip := d.tipAt(r, time.Now().Add(-ripe)); n%4 == 0 && tip != "" && !r.Contains(r.Tip("rw/x"), tip) {
			behind++
		}
	}
	if left+behind > 0 {
		d.t.Errorf("%s: %d that are due are left behind, %d branches do not move", time.Since(d.start), left, behind)
	}
	time.Sleep(time.Until(end))
	if green := d.green(); green > 0 {
		d.t.Errorf("%s: %d are green past the end", time.Since(d.start), green)
	}
}

// lastOf is the newest status and how old it is, in words.
func lastOf(all []standin.Status) string {
	if len(all) == 0 {
		return "no status"
	}
	return fmt.Sprintf("%s ago: %s: %s", time.Since(all[0].At).Round(time.Second), all[0].State, all[0].Description)
}

// tipAt is where main stood; "" if it did not move before.
func (d *dayOf) tipAt(r *standin.Repo, at time.Time) (sha string) {
	for _, m := range r.Moves() {
		if m.Branch == "main" && m.At.Before(at) {
			sha = m.After
		}
	}
	return sha
}

// green counts what is open, windowed and green.
func (d *dayOf) green() (n int) {
	for _, r := range d.repos {
		for _, p := range r.Pulls() {
			if all := ours(r, p.HeadSHA); p.Open && strings.HasPrefix(p.Head, "a-rw") && len(all) > 0 && all[0].State == "success" {
				n++
			}
		}
	}
	return n
}

func (d *dayOf) merges() (n int) {
	for _, r := range d.repos {
		for _, p := range r.Pulls() {
			if p.Merged && p.MergedBy.App == app {
				n++
			}
		}
	}
	return n
}

func (d *dayOf) moves() (n int) {
	for _, r := range d.repos {
		for _, m := range r.Moves() {
			if m.Branch == "rw/x" && m.By.App == app {
				n++
			}
		}
	}
	return n
}
