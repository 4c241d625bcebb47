package hour

import (
	"slices"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// people counts how long those wait who did something that the service has to answer with a status.
type people struct {
	waits map[string][]time.Time // since when, by head
	took  []time.Duration
}

// answered ends the waits on a head.
func (p *people) answered(head string) {
	for _, since := range p.waits[head] {
		p.took = append(p.took, time.Since(since))
	}
	delete(p.waits, head)
}

// push puts a commit on a pull request's branch. Whoever waited for a word on the head before waits on.
func (w *world) push(r *standin.Repo, n int, path string) {
	w.t.Helper()
	p, err := r.Pull(n)
	w.must(err)
	at := time.Now()
	head, err := r.Commit(p.Head, standin.Change{By: "alice", Message: "more", Write: map[string]string{path: at.String()}})
	w.must(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.people.waits[head] = slices.Concat(w.people.waits[p.HeadSHA], []time.Time{at})
	delete(w.people.waits, p.HeadSHA)
}

// report lets CI say something about a pull request's head: an event that changes no status of ours.
func (w *world) report(r *standin.Repo, n int, context string) {
	w.t.Helper()
	p, err := r.Pull(n)
	w.must(err)
	w.must(r.SetStatus(standin.Status{SHA: p.HeadSHA, Context: context, State: "success", By: standin.Actor{Login: "ci"}}))
}

// forget ends the waits on a head that nobody waits for any more.
func (w *world) forget(head string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.people.waits, head)
}

// waited gives how long people waited by now, whoever still waits included.
func (w *world) waited() (took []time.Duration, still int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	took = slices.Clone(w.people.took)
	for _, since := range w.people.waits {
		for _, at := range since {
			took = append(took, time.Since(at))
			still++
		}
	}
	slices.Sort(took)
	return took, still
}

// quantile of what is sorted.
func quantile(of []time.Duration, q float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	return of[min(len(of)-1, int(q*float64(len(of))))].Round(10 * time.Millisecond)
}
