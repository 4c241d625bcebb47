package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin/api"
)

// The figures: times, memory and pace, many of them beside those of a minimal program that does the same writes in the same run. They are
// measured by `make figures`, and are no tests: a slow or busy machine fails nothing. What must hold at any speed fails here as well.

var (
	figures = flag.Bool("figures", false, "measure times, memory and pace instead of testing")
	part    = flag.Float64("part", 1, "the part of each figure's number of pull requests that is measured")
)

// figure begins a test that measures.
func figure(t *testing.T) {
	t.Helper()
	if !*figures {
		t.Skip("only with -figures")
	}
}

// some is the part of a number or of a time that is measured.
func some[N ~int | ~int64](all N) N { return max(1, N(float64(all)**part)) }

// row prints a line of the table that only we have.
func row(what, ours string) { line{what: what, ours: ours}.print() }

// header begins the table.
func header() {
	line{"what", "sluice", "minimal program", "ratio", "requests each", "points each", "lost", "green left"}.print()
	fmt.Println("|---|---|---|---|---|---|---|---|")
}

// fleets is how many repositories there are.
const fleets = 20

// measured is what came of one run of one program.
type measured struct {
	took     []time.Duration // of each
	all      time.Duration   // until the last
	requests float64         // for each
	points   float64         // for each
	ack      []time.Duration
	memory   int64 // at its peak, in KiB
	left     remains
}

func quantile(of []time.Duration, q float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	of = slices.Sorted(slices.Values(of))
	return of[min(len(of)-1, int(q*float64(len(of))))].Round(time.Millisecond)
}

// hears measures how a program that listens to a hook decides on pull requests: so many a second, or (0) all at once.
func (s *org) hears(many, rate int, hook string) measured {
	s.t.Helper()
	var all []notice
	if rate == 0 {
		all = s.openMany(many)
	}
	s.github.SetLatency(latency)
	s.github.ResetRequests()
	before := s.github.Left("acme", graphQL)
	var mu sync.Mutex
	var m measured
	sent := map[string]time.Time{}
	add := func(head string, at time.Time, took time.Duration, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		sent[head], m.ack = at, append(m.ack, took)
		if !ok {
			s.t.Error("a webhook was not acknowledged")
		}
	}
	began := time.Now()
	if rate == 0 {
		s.sendAll(all, hook, func(n notice, at time.Time, took time.Duration, ok bool) { add(n.head, at, took, ok) })
	} else {
		client := newClient()
		defer s.divert(func(head string, n notice) {
			at := time.Now()
			took, ok := n.send(client, hook)
			add(head, at, took, ok)
		})()
		s.stream(many, rate)
	}
	s.within(10*time.Minute, "all have a status", func() bool { return s.decided(many) })
	m.requests, m.points = s.requests(many), float64(before-s.github.Left("acme", graphQL))/float64(many)
	at := s.written()
	mu.Lock()
	defer mu.Unlock()
	for head, from := range sent {
		m.took = append(m.took, at[head].Sub(from))
		m.all = max(m.all, at[head].Sub(began))
	}
	m.left = s.remains(nowhere)
	return m
}

// minimal is hears of the minimal program.
func (s *org) minimal(many, rate int, journal string) measured {
	s.t.Helper()
	p := s.yardstick(journal)
	defer p.stop(syscall.SIGKILL)
	return s.hears(many, rate, p.hook)
}

// requests is how many there were for each of so many.
func (s *org) requests(many int) float64 { return float64(s.total()) / float64(many) }

// peak is the most memory that a process has had, in KiB.
func (p *process) peak() int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			return kib
		}
	}
	return 0
}

// line is one of the table. What was not measured is empty.
type line struct{ what, ours, theirs, ratio, requests, points, lost, green string }

func (r line) print() {
	fmt.Println("|", strings.Join([]string{r.what, r.ours, r.theirs, r.ratio, r.requests, r.points, r.lost, r.green}, " | "), "|")
}

// beside is a row of two times.
func beside(what string, ours, theirs time.Duration) line {
	return line{what: what, ours: ours.Round(time.Millisecond).String(), theirs: theirs.Round(time.Millisecond).String(), ratio: fmt.Sprintf("%.1f", float64(ours)/float64(theirs))}
}

// each fills in what each pull request or event cost.
func (r line) each(requests, points float64) line {
	r.requests, r.points = fmt.Sprintf("%.2f", requests), fmt.Sprintf("%.2f", points)
	return r
}

// leaves fills in what is not as it has to be.
func (r line) leaves(n remains) line {
	r.lost, r.green = fmt.Sprint(n.lost), fmt.Sprint(n.green)
	return r
}

// TestFigures measures.
func TestFigures(t *testing.T) {
	figure(t)
	t.Run("stream", func(t *testing.T) {
		figureEvents(t, "first events, 20 a second over 20 repositories", some(400), perSecond, (*org).quietDay)
	})
	t.Run("bad", func(t *testing.T) {
		figureEvents(t, "the same with 1 % 502, 0.5 % 502 after acting, 0.5 % secondary limit, 1 % cut connections", some(400), perSecond, (*org).badDay)
	})
	t.Run("once1000", func(t *testing.T) { figureEvents(t, "1,000 at once", some(1000), 0, (*org).quietDay) })
	t.Run("once5000", func(t *testing.T) { figureEvents(t, "5,000 at once", some(5000), 0, (*org).quietDay) })
	t.Run("due300", func(t *testing.T) { figureDue(t, some(300)) })
	t.Run("due500", func(t *testing.T) { figureDue(t, some(500)) })
	t.Run("busy", func(t *testing.T) { figureBusy(t, some(60)) })
}

// TestFiguresKilled counts what kill -9 leaves behind amid as much as there may be.
func TestFiguresKilled(t *testing.T) {
	figure(t)
	for _, c := range amids {
		many := some(c.many)
		line{what: fmt.Sprintf("kill -9 amid %s: %d pull requests", c.name, many)}.leaves(c.kill(t, fleets, many)).print()
	}
}

// figureEvents measures first events, on a good day beside the minimal program, which tries nothing again.
func figureEvents(t *testing.T, name string, many, rate int, day func(*org) (end func())) {
	t.Helper()
	s := newOrg(t, fleets, shutForYears, api.Options{})
	p := s.serve(noPace, noResync)
	s.within(patience, "it has started", func() bool { return s.looks() >= fleets })
	end := day(s)
	ours := s.hears(many, rate, p.hook)
	end()
	ours.memory = p.peak()
	p.stop(syscall.SIGTERM)
	cpu := p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime() // steadier than any time on a machine that others share
	s = newOrg(t, fleets, shutForYears, api.Options{})
	theirs := s.minimal(many, rate, "")
	if rate > 0 {
		beside(name+": p50 to the status", quantile(ours.took, .5), quantile(theirs.took, .5)).each(ours.requests, ours.points).leaves(ours.left).print()
		beside(name+": p99", quantile(ours.took, .99), quantile(theirs.took, .99)).print()
	} else {
		beside(name+": all decided", ours.all, theirs.all).each(ours.requests, ours.points).leaves(ours.left).print()
		beside(name+": p99 acknowledged", quantile(ours.ack, .99), quantile(theirs.ack, .99)).print()
		s = newOrg(t, fleets, shutForYears, api.Options{})
		synced := s.minimal(many, rate, filepath.Join(t.TempDir(), "journal"))
		beside(name+": p99 acknowledged, beside the minimal program with each notice on the disk first", quantile(ours.ack, .99), quantile(synced.ack, .99)).print()
	}
	row(name+": peak memory", fmt.Sprintf("%d MiB", ours.memory>>10))
	row(name+": CPU time of the service", cpu.Round(10*time.Millisecond).String())
}

// figureDue measures how long after an opening all that is due is merged.
func figureDue(t *testing.T, many int) {
	t.Helper()
	s := newOrg(t, fleets, openForYears, api.Options{})
	theirs := s.mergeAll(s.openMany(many))

	opening := time.Now().Add(20*time.Second + time.Duration(many)*20*time.Millisecond).Truncate(time.Second)
	s = newOrg(t, fleets, opensAt(opening), api.Options{})
	p := s.hold(many)
	s.github.SetWebhookURL("")
	what := fmt.Sprintf("%d due in 20 repositories: all merged", many)
	if time.Now().After(opening) {
		row(what, "not measured: it opened before all were held")
		return
	}
	s.github.ResetRequests()
	before := s.github.Left("acme", graphQL)
	s.within(10*time.Minute, "all are merged", func() bool { n, _ := s.merges(); return n >= many })
	_, last := s.merges()
	points := float64(before-s.github.Left("acme", graphQL)) / float64(many)
	beside(what, last.Sub(opening), theirs).
		each(s.requests(many), points).leaves(s.remains(everywhere)).print()
	p.stop(syscall.SIGTERM)
}

// figureBusy measures an opening amid an event a second in one repository of 100 pull requests, at the default pace.
func figureBusy(t *testing.T, many int) {
	t.Helper()
	s := newOrg(t, 1, shutForYears, api.Options{})
	const all, due = 100, 10
	s.crowdOf(all, due)
	p := s.serve()
	s.within(patience, "all are held", func() bool { return s.decided(all) })
	s.within(patience, "nothing is new any more", func() bool { _, points := s.priceOf(1); return points == 1 })
	s.github.SetLatency(latency)
	opening := time.Now().Add(time.Duration(many/2) * time.Second).Truncate(time.Second)
	s.setWindow(opensAt(opening), everywhere)
	before, began := s.github.Left("acme", graphQL), time.Now()
	for i := range many {
		time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second)))
		s.event(i)
	}
	s.within(10*time.Minute, "all that is due is merged", func() bool { n, _ := s.merges(); return n >= due })
	_, last := s.merges()
	r := line{what: "an event a second in one repository of 100, one in four a push: 10 due merged", ours: last.Sub(opening).Round(time.Millisecond).String()}
	r.points = fmt.Sprintf("%.2f", float64(before-s.github.Left("acme", graphQL))/float64(many))
	r.print()
	p.stop(syscall.SIGTERM)
}
